//! Every Eval Ever: records with and without their samples.

use serde_json::{Value, json};

use super::{imported, one, project, quirks, stored, told};

#[test]
fn a_record_with_its_samples() {
    let project = project("every_eval_ever", "with-samples");
    let (source, runs) = imported(&project, "every-eval-ever");
    let run = &runs[0];
    assert_eq!(
        [&run["suite"], &run["approach"], &run["model"]],
        [&json!("quiz"), &json!("inspect_ai"), &json!("org/tiny")]
    );
    assert_eq!(
        (&run["passed"], &run["total"], &run["timestamp"]),
        (&json!(2), &json!(4), &json!("2026-02-03T10:20:30Z")),
        "{run}"
    );
    assert_eq!(
        told(&project),
        [
            one("q1", 1, "pass"),
            one("q2", 1, "pass"),
            one("q3", 1, "limit"),
            one("q4", 1, "fail")
        ]
    );
    let items = stored(&project);
    assert_eq!(
        (
            &items[0]["answer"],
            &items[0]["item_hash"],
            &items[0]["duration_seconds"]
        ),
        (&json!("4"), &json!("h1"), &json!(1.5))
    );
    // Everything adds up to the total, so the input left the cache out.
    assert_eq!(
        (&items[2]["input_tokens"], &items[2]["usage"]["cache_read"]),
        (&json!(50), &json!(40)),
        "{}",
        items[2]
    );
    assert_eq!(
        (&items[2]["reply"], &items[2]["tools"], &items[2]["steps"]),
        (&json!("Done."), &json!({"bash": 2}), &json!(2))
    );
    assert_eq!(
        (&source["foreign"]["version"], &source["foreign"]["files"]),
        (&json!("schema 0.3.0"), &json!(2))
    );
    assert_eq!(
        [&source["stated_checked"], &source["stated_agree"]],
        [&json!(2), &json!(2)],
        "the f1 has no samples: {source}"
    );
    assert_eq!(
        (&run["scores"][0]["metric"], &run["scores"][0]["value"]),
        (&json!("F1"), &json!(0.25))
    );
}

#[test]
fn scores_alone_keep_their_units() {
    let (source, runs) = imported(
        &project("every_eval_ever", "aggregate-only"),
        "every-eval-ever",
    );
    let suites: Vec<_> = runs.iter().map(|run| run["suite"].clone()).collect();
    assert_eq!(suites, [json!("percent"), json!("quiz"), json!("speed")]);
    assert_eq!(
        (
            &runs[0]["scores"][0]["unit"],
            &runs[0]["scores"][0]["value"]
        ),
        (&json!("fraction"), &json!(0.625))
    );
    assert_eq!(
        (&runs[1]["passed"], &runs[1]["total"]),
        (&json!(3), &json!(4)),
        "0.75 of 4 with the error that grades have"
    );
    assert_eq!(
        (&runs[2]["scores"][0]["direction"], &runs[2]["total"]),
        (&json!("down"), &Value::Null)
    );
    assert_eq!(source["items"], 0);
}

#[test]
fn fewer_samples_than_the_record_counts_leave_its_score() {
    let (source, runs) = imported(
        &project("every_eval_ever", "fewer-samples"),
        "every-eval-ever",
    );
    assert!(
        quirks(&source).contains("1 of 100 samples are in the file"),
        "{source}"
    );
    assert_eq!(
        (
            &source["items"],
            &source["stated_checked"],
            &runs[0]["scores"][0]["value"]
        ),
        (&json!(0), &json!(0), &json!(0.9))
    );
}

#[test]
fn samples_that_come_again_are_attempts_and_unknown_is_no_level() {
    let project = project("every_eval_ever", "repeats-and-unknown");
    let (source, _) = imported(&project, "every-eval-ever");
    assert_eq!(
        told(&project),
        [
            one("q1", 1, "pass"),
            one("q1", 2, "fail"),
            one("q3", 1, "not_evaluated")
        ]
    );
    assert_eq!(
        (&source["rows_refused"], &source["stated_agree"]),
        (&json!(1), &json!(1)),
        "{source}"
    );
    assert!(quirks(&source).contains("repeated samples are attempts"));
}

#[test]
fn samples_need_their_record() {
    let said = project("every_eval_ever", "samples-alone").run(["import", "out"]);
    assert!(
        said.code == 2
            && said
                .stdout
                .contains("has samples without the record that they belong to"),
        "{}",
        said.stdout
    );
}

#[test]
fn accuracies_in_percent_are_accuracies() {
    let project = project("every_eval_ever", "percent");
    let (_, runs) = imported(&project, "every-eval-ever");
    let suites: Vec<_> = runs
        .iter()
        .map(|run| run["suite"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(suites, ["alone", "counted", "f1", "points"]);
    let score = |run: usize| -> [&Value; 5] {
        ["metric", "unit", "value", "standard_error", "n"].map(|key| &runs[run]["scores"][0][key])
    };
    assert_eq!(
        score(0)[..3],
        [&json!("accuracy"), &json!("fraction"), &json!(0.55)]
    );
    assert_eq!(
        (&runs[1]["passed"], &runs[1]["total"]),
        (&json!(3), &json!(4)),
        "75 ± 25 of 4"
    );
    assert_eq!(
        score(2)[..3],
        [&json!("F1"), &json!("points"), &json!(62.5)],
        "what is no share of samples keeps its unit"
    );
    assert_eq!(
        (score(3)[0], score(3)[1], score(3)[4]),
        (&json!("accuracy"), &json!("fraction"), &json!(1000))
    );
    let near = |value: &Value, expected: f64| {
        value
            .as_f64()
            .is_some_and(|value| (value - expected).abs() < 1e-12)
    };
    assert!(
        near(score(3)[2], 0.401) && near(score(3)[3], 0.0155),
        "{}",
        runs[3]
    );
    // So they are on the board.
    let board = project.run(["leaderboard", "--suite", "alone"]);
    assert!(board.stdout.contains("55"), "{}", board.stdout);
}
