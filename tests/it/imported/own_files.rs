//! The files of ralph eval, cogni, zelda and kotef.

use serde_json::json;

use super::Imported;

#[test]
fn ralph_zeros_are_not_measured() {
    let imported = Imported::fixture("ralph/zeros.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (&json!("tasktracker"), &json!("ralph"), &json!("sonnet"))
    );
    assert_eq!(
        (
            &run["shared_tests_passed"],
            &run["shared_tests_total"],
            &run["total_calls"]
        ),
        (&json!(18), &json!(20), &json!(9))
    );
    for key in ["cost_usd", "total_tokens", "output_dir"] {
        assert!(run[key].is_null(), "{key}");
    }
    assert_eq!(
        run["own_tests_total"], 0,
        "an approach that wrote no tests has none"
    );
    assert_eq!(run["files_generated"], 12);
}

#[test]
fn ralph_later_schema_without_id() {
    let imported = Imported::fixture("ralph/later-schema.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["duration_seconds"],
            &run["tags"]["total_turns"],
            &run["cost_usd"]
        ),
        (&json!(300.0), &json!("14"), &json!(0.5))
    );
    assert!(run["own_tests_total"].is_null());
}

#[test]
fn ralph_runs_with_an_error_failed() {
    let imported = Imported::fixture("ralph/failed.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["error"]),
        (&json!("failed"), &json!("no code"))
    );
}

#[test]
fn cogni_zero_accuracy_is_left_out_of_the_file() {
    let imported = Imported::fixture("cogni/zero-accuracy.json");
    assert_eq!(
        imported.sql("select kind, item, status from items order by kind, item"),
        [
            "check auth fail",
            "check build pass",
            "question auth/q1 fail",
            "question auth/q3 error",
            "question auth/question 2 fail",
            "question build/q1 pass",
            "question deploy error"
        ]
    );
    assert!(imported.has_quirk("a missing accuracy is read as 0"));
    assert_eq!(imported.stated(), (6, 6, 0));
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (&json!("acme-shop"), &json!("default"), &json!("big-1"))
    );
    assert_eq!(
        (
            &run["git"]["dirty"],
            &run["total_tokens"],
            &run["tags"]["tokens"]
        ),
        (&json!(true), &json!(400), &json!("estimated"))
    );
}

#[test]
fn cogni_rounded_figures_agree() {
    let imported = Imported::fixture("cogni/rounded.json");
    assert_eq!(
        imported.stated(),
        (5, 4, 0),
        "0.333 and 0.6667 are rounded, a question_accuracy of 0.75 is not"
    );
}

#[test]
fn cogni_tasks_of_several_agents_are_of_no_known_arm() {
    let imported = Imported::fixture("cogni/several-agents.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["approach"], &run["model"]),
        (&json!("unnamed"), &json!("unknown (several-agents.json)"))
    );
    assert!(imported.has_quirk("tasks do not name which of several agents"));
}

#[test]
fn kotef_dry_runs_are_left_out() {
    let imported = Imported::fixture("kotef/eval-2026-01-02T03-04-05-678Z.json");
    assert_eq!(
        imported.statuses(),
        [
            "add-endpoint 1 pass",
            "add-endpoint 2 fail",
            "big-refactor 1 limit",
            "crash 1 error",
            "loop 1 fail"
        ]
    );
    let quirks = imported.source()["foreign"]["quirks"].to_string();
    assert!(
        quirks.contains("dry runs are skipped") && quirks.contains('2'),
        "{quirks}"
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert!(
        run["timestamp"]
            .as_str()
            .is_some_and(|time| time.starts_with("2026-01-02T03:04:05.678")),
        "{run}"
    );
    let items = imported.items();
    let second = items
        .iter()
        .find(|item| item["attempt"] == 2)
        .expect("the second attempt")
        .to_string();
    assert!(
        second.contains("violations: edited a test") && !second.contains("someone"),
        "{second}"
    );
}

#[test]
fn zelda_criteria_are_outcomes_and_scores_are_points() {
    let imported = Imported::fixture("zelda/scored");
    assert_eq!(imported.source()["foreign"]["files"], 2);
    let criteria = "select kind, evaluator, item, status from items order by item";
    assert_eq!(
        imported.sql(criteria),
        ["1 pass", "2 fail", "3 pass"]
            .map(|criterion| format!("criterion requirementFulfillment criterion {criterion}"))
    );
    assert_eq!(imported.stated(), (1, 1, 0));
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["approach"], &run["duration_seconds"]),
        (&json!("todo-app"), &json!("container"), &json!(61.5))
    );
    // Those of the cache are missing from the tokens that went in.
    assert_eq!(
        (&run["input_tokens"], &run["output_tokens"]),
        (&json!(null), &json!(300))
    );
    assert_eq!(
        (&run["cost_usd"], &run["tags"]["uncached_input_tokens"]),
        (&json!(0.25), &json!("900"))
    );
    assert!(!run.to_string().contains("someone"));
}

#[test]
fn zelda_folders_without_a_result_are_crashed_runs() {
    let imported = Imported::fixture("zelda/crashed");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["cost_usd"]),
        (&json!("failed"), &json!(0.25))
    );
    assert!(imported.has_quirk("a folder without a valid result.json"));
}
