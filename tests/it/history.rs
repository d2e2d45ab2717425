//! `history`: a suite over nights.

use serde_json::{Value, json};

use crate::support::{Project, question, result};

/// One run a night, from the first of January on; the text has a letter per question of each night, `+` or `-`.
fn nights(project: &Project, arm: &str, version: &str, first: u32, nights: &[String]) {
    for (number, outcomes) in nights.iter().enumerate() {
        let day = first + u32::try_from(number).expect("few nights");
        let (month, day) = if day > 31 { (2, day - 31) } else { (1, day) };
        let id = format!("run-{arm}-{month:02}-{day:02}");
        let items: Vec<Value> = outcomes
            .chars()
            .enumerate()
            .map(|(number, letter)| {
                question(
                    &format!("q{number:02}"),
                    1,
                    if letter == '+' { "pass" } else { "fail" },
                )
            })
            .collect();
        let fields = json!({"timestamp": format!("2026-{month:02}-{day:02}T03:00:00Z"), "suite_version": version, "cost_usd": 1.0, "batch_id": id});
        project
            .result(&result(&id, "s", arm, fields))
            .items(&id, &items);
    }
}

/// `passed` of 20, with the question that fails moving from night to night.
fn level(passed: usize, nights: usize) -> Vec<String> {
    (0..nights)
        .map(|night| {
            (0..20)
                .map(|question| {
                    if (question + night) % 20 < passed - night % 2 {
                        '+'
                    } else {
                        '-'
                    }
                })
                .collect()
        })
        .collect()
}

#[track_caller]
fn history(project: &Project) -> Value {
    project.run(["history", "s", "--format", "json"]).json()["histories"][0].clone()
}

#[test]
fn a_drop_is_found_with_its_date_and_size() {
    let project = Project::new();
    nights(
        &project,
        "a",
        "v1",
        1,
        &[level(18, 10), level(12, 10)].concat(),
    );
    let found = history(&project);
    let changes = found["arms"][0]["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(
        (&changes[0]["series"], &changes[0]["date"]),
        (&json!("pass_rate"), &json!("2026-01-11"))
    );
    assert_eq!(
        (changes[0]["before"].as_f64(), changes[0]["after"].as_f64()),
        (Some(0.875), Some(0.575))
    );
    let table = project.run(["history", "s", "--all"]);
    assert!(
        table.answer().starts_with(
            "a · m1: accuracy changed from 87.5% to 57.5% on 2026-01-11 (10 nights before"
        ) && table.answer().contains("accuracy 87.5% → 57.5%"),
        "{}",
        table.stdout
    );
}

/// The newest night alone, however bad, is no change.
#[test]
fn one_bad_night_is_none() {
    let project = Project::new();
    nights(
        &project,
        "a",
        "v1",
        1,
        &[level(18, 10), level(2, 1)].concat(),
    );
    assert_eq!(history(&project)["arms"][0]["changes"], json!([]));
}

#[test]
fn another_suite_is_a_break_and_no_change() {
    let project = Project::new();
    nights(&project, "a", "v1", 1, &level(18, 10));
    nights(&project, "a", "v2", 11, &level(12, 10));
    let found = history(&project);
    assert_eq!(found["arms"][0]["changes"], json!([]));
    assert_eq!(found["arms"][0]["nights"][10]["breaks"], json!(["suite"]));
    assert_eq!(
        found["arms"][0]["nights"].as_array().map(Vec::len),
        Some(20)
    );
}

/// Nine nights of nine: e = 2^9 × 9! / 10! = 51.2.
#[test]
fn evidence_is_carried_over_nights() {
    let project = Project::new();
    nights(&project, "a", "v1", 1, &level(18, 9));
    nights(&project, "b", "v1", 1, &level(12, 9));
    let found = history(&project);
    let duel = &found["duels"][0];
    assert_eq!(
        (
            duel["won"].as_u64(),
            duel["lost"].as_u64(),
            duel["better"].as_u64()
        ),
        (Some(9), Some(0), Some(0))
    );
    assert!((duel["e_value"].as_f64().expect("a number") - 51.2).abs() < 1e-9);
    let four = Project::new();
    nights(&four, "a", "v1", 1, &level(18, 4));
    nights(&four, "b", "v1", 1, &level(12, 4));
    assert!(history(&four)["duels"][0].get("better").is_none());
}

#[test]
fn flaky_items_and_what_to_buy() {
    let project = Project::new();
    // The first question passes every other night, all others always or never.
    let outcomes: Vec<String> = (0..10)
        .map(|night| format!("{}{}", if night % 2 == 0 { '+' } else { '-' }, "+++++-----"))
        .collect();
    nights(&project, "a", "v1", 1, &outcomes);
    let found = history(&project);
    let arm = &found["arms"][0];
    assert_eq!(arm["flaky"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (
            &arm["flaky"][0]["item"],
            arm["flaky"][0]["passed"].as_u64(),
            arm["noisiest"][0]["noise"].as_f64()
        ),
        (&json!("q00"), Some(5), Some(1.0))
    );
    assert_eq!(
        arm["precision"]["buy"], "items",
        "items differ more than runs"
    );
    assert_eq!(
        (
            arm["precision"]["items"].as_u64(),
            arm["precision"]["runs"].as_u64()
        ),
        (Some(11), Some(10))
    );
}

#[test]
fn runs_of_unknown_time_are_counted_and_left_out() {
    let project = Project::new();
    nights(&project, "a", "v1", 1, &level(18, 2));
    project.result(&result(
        "undated",
        "s",
        "a",
        json!({"shared_tests_passed": 1, "shared_tests_total": 2, "suite_version": "v1"}),
    ));
    assert_eq!(history(&project)["undated"], 1);
    let table = project.run(["history", "s", "--nights", "1"]);
    assert!(
        table.answer().contains("1 run of unknown time")
            && table.answer().contains("1 earlier night hidden"),
        "{}",
        table.stdout
    );
}
