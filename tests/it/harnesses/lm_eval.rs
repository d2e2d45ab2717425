//! lm-evaluation-harness: results and samples of one time stamp, of every age.

use serde_json::{Value, json};

use super::{imported, project, quirks, stored};

const STAMP: &str = "2026-02-03T10-20-30.125000";

#[test]
fn a_task_is_a_run_with_its_samples() {
    let project = project("lm_eval", "plain");
    let (source, runs) = imported(&project, "lm-eval");
    assert_eq!(
        [
            &source["items"],
            &source["stated_checked"],
            &source["stated_agree"]
        ],
        [&json!(4), &json!(2), &json!(2)],
        "{source}"
    );
    assert_eq!(
        (&source["foreign"]["version"], &source["foreign"]["files"]),
        (&json!("lm_eval 0.4.9"), &json!(2))
    );
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&json!({"run": runs[0], "first": stored(&project)[0]}))
            .expect("JSON")
    );
    // The monotonic clock of `start_time` and `end_time` is no time: the run ended 60.5 s after its date.
    assert_eq!(runs[0]["timestamp"], "2026-02-03T10:21:30.625Z");
    let again = project
        .run([
            "import",
            &format!("out/org__tiny/results_{STAMP}.json"),
            "--format",
            "json",
        ])
        .json();
    assert_eq!(
        again["sources"][0]["outcome"], "nothing_new",
        "the results alone are the same run"
    );
}

#[test]
fn the_first_filter_decides_and_the_others_are_scores() {
    let project = project("lm_eval", "filters");
    let (source, runs) = imported(&project, "lm-eval");
    assert_eq!(
        [
            &source["items"],
            &source["stated_checked"],
            &source["stated_agree"]
        ],
        [&json!(4), &json!(4), &json!(4)],
        "{source}"
    );
    let run = &runs[0];
    assert_eq!(
        (&run["approach"], &run["passed"], &run["total"]),
        (&json!("8-shot chat"), &json!(2), &json!(4)),
        "{run}"
    );
    let scores = run["scores"].as_array().expect("scores");
    assert_eq!(scores.len(), 1);
    assert_eq!(
        (&scores[0]["metric"], &scores[0]["value"], &scores[0]["n"]),
        (
            &json!("exact_match,flexible-extract"),
            &json!(0.75),
            &json!(4)
        )
    );
    let item = &stored(&project)[3];
    assert_eq!(
        (&item["item"], &item["status"]),
        (&json!("3"), &json!("fail")),
        "{item}"
    );
    assert_eq!(
        (&item["evaluator"], &item["scores"]),
        (
            &json!("exact_match,strict-match"),
            &json!({"exact_match,flexible-extract": 1.0})
        )
    );
    assert_eq!(
        (&item["answer"], &item["reply"]),
        (&json!("[invalid]"), &json!("It is 4. #### 4")),
        "{item}"
    );
}

#[test]
fn metrics_over_a_corpus_give_samples_no_score() {
    let (source, runs) = imported(&project("lm_eval", "corpus-metrics"), "lm-eval");
    let run = &runs[0];
    assert_eq!(run["statuses"], json!({"skipped": 3}), "{run}");
    let said = quirks(&source);
    assert!(
        said.contains("such as `N/A` are read as not measured")
            && said.contains("outside of the pass rate"),
        "{said}"
    );
    let stated: Vec<_> = run["stated"]
        .as_array()
        .expect("figures")
        .iter()
        .map(|one| (one["name"].clone(), one.get("recomputed").cloned()))
        .collect();
    let expected = [
        ("bleu,none", None),
        ("rougeL,none", Some(json!(0.5))),
        ("rougeL_stderr,none", Some(json!(0.25_f64 / 3.0_f64.sqrt()))),
    ];
    assert_eq!(
        stated.len(),
        3,
        "an error that is `N/A` is no figure: {stated:?}"
    );
    for ((name, recomputed), (expected_name, expected)) in stated.iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert_eq!(recomputed.is_some(), expected.is_some(), "{name}");
    }
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(2), &json!(1)),
        "the stated error of rougeL is wrong"
    );
    let units: Vec<_> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|one| (one["metric"].clone(), one["unit"].clone()))
        .collect();
    assert_eq!(
        units,
        [
            (json!("bleu"), json!("number")),
            (json!("rougeL"), json!("fraction"))
        ]
    );
}

#[test]
fn fewer_samples_than_were_asked_leave_the_stated_figure() {
    let (source, runs) = imported(&project("lm_eval", "truncated"), "lm-eval");
    assert_eq!(
        (&source["items"], &source["stated_checked"]),
        (&json!(0), &json!(0)),
        "{source}"
    );
    assert!(
        quirks(&source).contains("`big` has 2 of 5000 samples in its file"),
        "{source}"
    );
    assert_eq!(
        (&runs[0]["passed"], &runs[0]["total"]),
        (&json!(2), &json!(5000)),
        "0.04 % of 5000, with the error that grades have"
    );
    assert_eq!(
        runs[0]["tags"]["truncated"],
        "2 of 5000 samples in the file"
    );
}

#[test]
fn a_line_that_is_cut_off_is_refused_and_the_rest_is_kept() {
    let cut = |project: &crate::support::Project, file: &str| {
        let whole = std::fs::read(project.path(file)).expect("readable");
        project.bytes(file, &whole[..whole.len() - 3]);
    };
    let samples = "out/org__tiny/samples_trivia_2026-02-03T10-20-30.125000.jsonl";
    // The results say of how many: theirs stands.
    let whole = self::project("lm_eval", "plain");
    cut(&whole, samples);
    let (source, runs) = imported(&whole, "lm-eval");
    assert_eq!(
        (&source["items"], &runs[0]["status"]),
        (&json!(0), &json!("completed")),
        "{source}"
    );
    assert!(
        source
            .to_string()
            .contains("line 4: is cut off in the middle of the JSON"),
        "{source}"
    );
    assert!(runs[0]["tags"]["truncated"].is_string());
    // Without them nothing does.
    let alone = self::project("lm_eval", "samples-alone");
    cut(&alone, samples);
    let (source, runs) = imported(&alone, "lm-eval");
    assert_eq!(
        (&source["items"], &runs[0]["status"]),
        (&json!(1), &json!("failed")),
        "{source}"
    );
    for project in [whole, alone] {
        assert_eq!(
            project
                .run(["import", "out", "--strict", "--set", "suite=other"])
                .code,
            2
        );
    }
}

#[test]
fn a_group_is_checked_against_its_tasks() {
    let (source, runs) = imported(&project("lm_eval", "group"), "lm-eval");
    let suites: Vec<_> = runs.iter().map(|run| run["suite"].clone()).collect();
    assert_eq!(suites, [json!("all"), json!("all_one"), json!("all_two")]);
    let figure = &runs[0]["stated"][0];
    assert_eq!(
        (&figure["name"], &figure["disagrees"]),
        (&json!("acc,none"), &json!(false)),
        "0.5 of 4 and 5/6 of 6: {figure}"
    );
    assert_eq!(
        (&runs[0]["scores"][0]["n"], &runs[0]["suite_version"]),
        (&json!(10), &Value::Null)
    );
    assert_eq!(
        (&runs[2]["passed"], &runs[2]["total"]),
        (&json!(5), &json!(6)),
        "{source}"
    );
    assert_eq!(
        runs[2].get("duration_seconds").cloned().unwrap_or_default(),
        Value::Null,
        "the time of all tasks is of none of them"
    );
}

#[test]
fn results_of_before_filters_had_names() {
    let (_, runs) = imported(&project("lm_eval", "before-0.4"), "lm-eval");
    let run = &runs[0];
    assert_eq!(
        [&run["suite"], &run["approach"], &run["model"]],
        [&json!("quiz"), &json!("25-shot"), &json!("org/old")]
    );
    let scores: Vec<_> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|one| (one["metric"].clone(), one["value"].clone()))
        .collect();
    assert_eq!(
        scores,
        [(json!("acc"), json!(0.5)), (json!("acc_norm"), json!(0.6))],
        "without a count nothing passed or failed"
    );
    assert_eq!(
        run.get("timestamp").cloned().unwrap_or_default(),
        Value::Null
    );
}

#[test]
fn samples_in_one_list_with_arguments_as_lists() {
    let project = project("lm_eval", "list-of-samples");
    let (source, runs) = imported(&project, "lm-eval");
    let run = &runs[0];
    assert_eq!(
        (&run["passed"], &run["total"], &run["model"]),
        (&json!(2), &json!(3), &json!("org/tiny")),
        "{source}"
    );
    let item = &stored(&project)[1];
    assert_eq!(
        (&item["status"], &item["answer"], &item["expected"]),
        (&json!("fail"), &json!("yes"), &json!(["no"])),
        "{item}"
    );
    // `NaN` is no value: two samples have one.
    assert_eq!(
        (&run["scores"][0]["metric"], &run["scores"][0]["n"]),
        (&json!("acc_norm"), &json!(2))
    );
}

#[test]
fn samples_alone_are_named_by_their_files() {
    let (source, runs) = imported(&project("lm_eval", "samples-alone"), "lm-eval");
    let run = &runs[0];
    assert_eq!(
        [&run["suite"], &run["model"], &run["passed"], &run["total"]],
        [&json!("trivia"), &json!("org/tiny"), &json!(1), &json!(2)]
    );
    assert!(quirks(&source).contains("samples without a results file"));
}

#[test]
fn lines_that_are_no_samples_are_refused_with_reasons() {
    let project = project("lm_eval", "refused-lines");
    let said = project.run(["import", "out", "--dry-run"]);
    insta::assert_snapshot!(said.answer());
}
