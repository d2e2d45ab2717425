//! Reports of test runners in Python: pytest-json-report and DeepEval.

use serde_json::json;

use super::Imported;

#[test]
fn pytest_reports_say_how_each_test_ended() {
    let imported = Imported::fixture("pytest-json-report/report.json");
    assert_eq!(
        imported.statuses(),
        [
            "tests/test_cart.py::test_add 1 pass",
            "tests/test_cart.py::test_remove[2] 1 fail",
            "tests/test_db.py::test_known 1 skipped",
            "tests/test_db.py::test_mended 1 pass",
            "tests/test_db.py::test_open 1 error",
            "tests/test_db.py::test_slow 1 skipped",
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (&json!("shop"), &json!("ralph"), &json!("big-1"))
    );
    assert_eq!(
        (
            &run["shared_tests_passed"],
            &run["shared_tests_total"],
            &run["duration_seconds"]
        ),
        (&json!(2), &json!(4), &json!(3.5))
    );
    assert!(
        run["timestamp"]
            .as_str()
            .is_some_and(|time| time.starts_with("2026-02-03T10:20:30.125")),
        "{run}"
    );
    assert_eq!(imported.stated(), (7, 7, 0));
    let items = imported.items();
    let failed = items
        .iter()
        .find(|item| item["status"] == "fail")
        .expect("a failure");
    assert!(
        failed.to_string().contains("assert 2 == 3")
            && (failed["duration_seconds"].as_f64().expect("seconds") - 0.7).abs() < 1e-9
    );
    assert!(items.iter().any(|item| item["cost_usd"] == 0.02));
}

#[test]
fn a_summary_that_is_wrong_is_said_to_be() {
    let imported = Imported::fixture("pytest-json-report/wrong-summary.json");
    assert_eq!(imported.stated(), (7, 6, 0));
}

#[test]
fn deepeval_cases_are_questions_and_metrics_are_checks() {
    let imported = Imported::fixture("deepeval/test_run.json");
    let cases = "select item, status from items where kind = 'question' order by item";
    assert_eq!(
        imported.sql(cases),
        [
            "complaint pass",
            "hours fail",
            "judge-down not_evaluated",
            "refund pass"
        ]
    );
    let metrics =
        "select evaluator, item, status from items where kind = 'check' order by evaluator, item";
    assert_eq!(
        imported.sql(metrics),
        [
            "Correctness hours fail",
            "Correctness judge-down not_evaluated",
            "Correctness refund pass",
            "Relevancy hours pass",
            "Relevancy refund pass",
            "Role complaint pass",
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["model"], &run["tags"]["identifier"]),
        (&json!("test_shop.py"), &json!("big-1"), &json!("nightly"))
    );
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(2), &json!(3)),
        "the judge's failure is missing"
    );
    assert!(
        imported
            .items()
            .iter()
            .any(|item| item["details"]["tools"] == json!({"read": 1, "search": 2}))
    );
    assert!(
        run["cost_usd"].is_null(),
        "what the judge cost is no cost of what was judged"
    );
    assert_eq!(imported.stated(), (11, 11, 0));
    let digest = &run["items_digest"];
    assert_eq!(digest["items"], digest["hashed"], "{run}");
}

#[test]
fn a_metric_of_deepeval_that_is_nan_is_not_evaluated() {
    let project = crate::support::Project::new();
    let case = |name: &str, score: &str, success: bool| {
        format!(
            r#"{{"name": "{name}", "input": "{name}?", "success": {success}, "metricsData": [
                {{"name": "Correctness", "threshold": 0.5, "success": true, "score": 0.75, "evaluationModel": "judge-1"}},
                {{"name": "Harm", "threshold": 0.5, "success": {success}, "score": {score}, "evaluationModel": "judge-1"}}]}}"#
        )
    };
    project.file(
        "run.json",
        format!(
            r#"{{"testCases": [{}, {}], "metricsScores": [{{"metric": "Correctness", "scores": [0.75, 0.75], "passes": 2, "fails": 0, "errors": 0}},
                {{"metric": "Harm", "scores": [0.25, NaN], "passes": 1, "fails": 1, "errors": 0}}], "testPassed": 1, "testFailed": 1, "runDuration": 9.5}}"#,
            case("measured", "0.25", true),
            case("unmeasured", "NaN", false)
        ),
    );
    let imported = Imported::path(&project.path("run.json"));
    assert_eq!(
        imported.sql("select evaluator, item, status from items order by evaluator, item"),
        [
            "Correctness measured pass",
            "Correctness unmeasured pass",
            "Harm measured pass",
            "Harm unmeasured not_evaluated",
            "test cases measured pass",
            "test cases unmeasured not_evaluated",
        ]
    );
    assert_eq!(imported.stated(), (8, 8, 0), "DeepEval counts it as failed");
    let [run] = imported.runs().try_into().expect("one run");
    let scores: Vec<_> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|score| {
            (
                &score["metric"],
                &score["value"],
                &score["n"],
                &score["direction"],
            )
        })
        .collect();
    assert_eq!(
        scores,
        [
            (&json!("Correctness"), &json!(0.75), &json!(2), &json!("up")),
            (&json!("Harm"), &json!(0.25), &json!(1), &json!("down"))
        ],
        "the mean is over what was measured"
    );
    assert!(
        run.get("duration_seconds")
            .is_none_or(serde_json::Value::is_null),
        "the time includes the judges': {run}"
    );
    assert_eq!(
        (&run["tags"]["evaluation_seconds"], &run["tags"]["judge"]),
        (&json!("9.5 with the judges"), &json!("judge-1"))
    );
}

#[test]
fn steps_within_traces_count_in_the_metrics_of_deepeval() {
    let project = crate::support::Project::new();
    let metric = json!({"name": "Correctness", "threshold": 0.5, "success": true, "score": 0.75});
    let mut run = json!({"testCases": [{"name": "a", "input": "?", "success": true, "metricsData": [metric]}],
        "metricsScores": [{"metric": "Correctness", "scores": [0.75, 1.0], "passes": 2, "fails": 0, "errors": 0}],
        "testPassed": 1, "testFailed": 0});
    project.file("run.json", run.to_string());
    assert_eq!(
        Imported::path(&project.path("run.json")).stated(),
        (5, 4, 0)
    );
    run["traceMetricsScores"] = json!({"agent": {"step": {}}});
    project.file("traced.json", run.to_string());
    assert_eq!(
        Imported::path(&project.path("traced.json")).stated(),
        (2, 2, 3)
    );
}

#[test]
fn an_uploaded_run_of_deepeval_has_no_results() {
    let project = crate::support::Project::new();
    project.file(
        ".deepeval/.latest_test_run.json",
        r#"{"testRunLink": "https://example.org/test-runs/abc"}"#,
    );
    let said = project.run(["import", ".deepeval/.latest_test_run.json"]);
    assert!(
        said.code == 2
            && said.stdout.contains("DeepEval (link to an uploaded run)")
            && said.stdout.contains(".latest_run_full.json"),
        "{}",
        said.stdout
    );
}

#[test]
fn the_latest_run_of_deepeval_is_within_another_object() {
    let (plain, wrapped) = (
        Imported::fixture("deepeval/test_run.json"),
        Imported::fixture("deepeval/latest_run.json"),
    );
    assert_eq!(plain.statuses(), wrapped.statuses());
    assert_eq!(
        (wrapped.stated(), &wrapped.runs()[0]["tags"]["identifier"]),
        ((11, 11, 0), &json!("latest"))
    );
}

#[test]
fn a_summary_alone_has_counts() {
    let imported = Imported::fixture("pytest-json-report/summary-alone.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["shared_tests_passed"],
            &run["shared_tests_total"],
            &run["status"]
        ),
        (&json!(14), &json!(15), &json!("completed"))
    );
    assert_eq!(imported.stated(), (0, 0, 3));
    let imported = Imported::fixture("pytest-json-report/could-not-start.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["error"]),
        (&json!("failed"), &json!("pytest ended with exit code 4"))
    );
    assert!(run["shared_tests_total"].is_null());
}
