//! Judges held against people and against each other.

use serde_json::{Value, json};

use super::stored;
use crate::support::Project;

fn names(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("criterion {number:02}"))
        .collect()
}

/// Five runs of ten criteria each: of the fifty, judge and people both pass 20, both fail 15, 5 only the judge passes, 10 only people.
fn fifty(project: &Project) -> String {
    let names = names(10);
    let mut labels = "run,item,label\n".to_owned();
    for run in 0..5 {
        let judged: Vec<(&str, bool)> = names
            .iter()
            .enumerate()
            .map(|(place, name)| (name.as_str(), run * 10 + place < 25))
            .collect();
        stored(project, &format!("run-{run}"), &[("words", &judged)]);
        for (place, name) in names.iter().enumerate() {
            let number = run * 10 + place;
            let met = number < 20 || (25..35).contains(&number);
            labels.push_str(&format!(
                "run-{run},{name},{}\n",
                if met { "pass" } else { "fail" }
            ));
        }
    }
    labels
}

fn near(value: &Value, expected: f64) -> bool {
    value
        .as_f64()
        .is_some_and(|value| (value - expected).abs() < 1e-9)
}

#[test]
fn the_numbers_are_those_worked_out_by_hand() {
    let project = Project::new();
    let labels = fifty(&project);
    project.file("labels.csv", labels);
    let answer = project
        .run(["judge", "--agreement", "labels.csv", "--format", "json"])
        .json();
    assert_eq!(answer["schema"], "evalreport/agreement/1");
    crate::schema::validate("agreement", &answer).expect("it keeps to its schema");
    let pair = &answer["pairs"][0];
    assert_eq!(
        (
            &pair["n"],
            &pair["alike"],
            &pair["only_one"],
            &pair["only_other"]
        ),
        (&json!(50), &json!(35), &json!(5), &json!(10))
    );
    assert!(
        near(&pair["percent"], 0.7)
            && near(&pair["expected"], 0.5)
            && near(&pair["kappa"], 0.4)
            && near(&pair["prevalence"], 0.55),
        "{pair}"
    );
    // Disagreement seen 15/50, expected 2·55·45 / (100·99).
    assert!(
        near(
            &answer["alpha"]["value"],
            1.0 - 0.3 / (2.0 * 55.0 * 45.0 / 9900.0)
        ),
        "{}",
        answer["alpha"]
    );
    // Wilson's interval of 35 of 50.
    assert!(
        (pair["percent_interval"]["low"].as_f64().expect("a number") - 0.562_5).abs() < 5e-4,
        "{pair}"
    );
    assert!(
        pair["kappa_interval"]["low"].as_f64() < Some(0.25)
            && pair["kappa_interval"]["high"].as_f64() > Some(0.55),
        "{pair}"
    );
    assert_eq!(answer["disagreements"].as_array().map(Vec::len), Some(15));
    assert_eq!(
        answer["disagreements"][0]["labels"],
        json!({"words #01234567": "pass", "labels": "fail"})
    );

    let table = project.run(["judge", "--agreement", "labels.csv"]);
    assert!(
        table.answer().contains("Krippendorff's alpha") && table.stdout.contains("0.40 ["),
        "{}",
        table.stdout
    );
    assert_eq!(
        project
            .run(["judge", "--agreement", "labels.csv", "--format", "csv"])
            .column("n"),
        ["50"]
    );
    assert!(
        project
            .run(["judge", "--agreement", "labels.csv", "--format", "markdown"])
            .answer()
            .contains(" / labels |")
    );
}

#[test]
fn several_people_are_several_raters() {
    let project = Project::new();
    stored(
        &project,
        "run-1",
        &[("words", &[("a", true), ("b", false), ("c", true)])],
    );
    project
        .file("labels.csv", "run,item,label,rater\nrun-1,A ,yes,ann\nrun-1,b,no,ann\nrun-1,c,no,ann\nrun-1,a,pass,bob\nrun-1,b,pass,bob\n");
    let answer = project
        .run(["judge", "--agreement", "labels.csv", "--format", "json"])
        .json();
    let pairs: Vec<(String, u64, u64)> = answer["pairs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|pair| {
            (
                pair["other"].as_str().expect("a name").to_owned(),
                pair["n"].as_u64().expect("n"),
                pair["alike"].as_u64().expect("n"),
            )
        })
        .collect();
    assert_eq!(
        pairs,
        [
            ("ann".to_owned(), 3, 2),
            ("bob".to_owned(), 2, 1),
            ("bob".to_owned(), 2, 1)
        ]
    );
    assert_eq!(
        (
            &answer["alpha"]["n"],
            answer["pairs"][0].get("kappa_interval")
        ),
        (&json!(3), None)
    );
}

#[test]
fn one_judge_against_another_over_the_same_runs() {
    let project = Project::new();
    stored(
        &project,
        "run-1",
        &[
            ("words", &[("a", true), ("b", false)]),
            ("first", &[("a", true), ("b", true)]),
        ],
    );
    stored(
        &project,
        "run-2",
        &[
            ("words", &[("a", false), ("b", false)]),
            ("first", &[("a", false), ("b", false)]),
        ],
    );
    stored(&project, "run-3", &[("words", &[("a", true), ("b", true)])]);
    let answer = project
        .run(["judge", "--against", "words", "--format", "json"])
        .json();
    let pair = &answer["pairs"][0];
    assert_eq!(
        (&pair["one"], &pair["other"], &pair["n"], &pair["alike"]),
        (
            &json!("first #01234567"),
            &json!("words #01234567"),
            &json!(4),
            &json!(3)
        )
    );
    assert_eq!(
        answer["disagreements"],
        json!([{"run": "run-1", "item": "b", "labels": {"first #01234567": "pass", "words #01234567": "fail"}}])
    );
    let output = project.run(["judge", "--against", "nobody"]);
    assert!(
        output
            .refusal()
            .contains("`first #01234567`, `words #01234567`"),
        "{}",
        output.stderr
    );
}

#[test]
fn slips_in_the_labels_are_all_named_with_their_lines() {
    let project = Project::new();
    stored(&project, "run-1", &[("words", &[("it says hello", true)])]);
    project.file(
        "labels.csv",
        "run,item,label\nrun-9,it says hello,pass\nrun-1,it says helo,pass\n",
    );
    let output = project.run(["judge", "--agreement", "labels.csv"]);
    let refusal = output.refusal();
    assert!(
        refusal.contains("labels.csv:2: no selected run `run-9`")
            && refusal.contains("did you mean `it says hello`?"),
        "{refusal}"
    );
    project.file(
        "labels.csv",
        "run,item,label\nrun-1,it says hello,perhaps\n",
    );
    assert!(
        project
            .run(["judge", "--agreement", "labels.csv"])
            .refusal()
            .contains("neither pass nor fail")
    );
    project.file("labels.csv", "run,item\n");
    assert!(
        project
            .run(["judge", "--agreement", "labels.csv"])
            .refusal()
            .contains("needs the columns")
    );
}
