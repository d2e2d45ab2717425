//! Reports of test runners and evaluations in JavaScript: Jest, Vitest, Mocha, Playwright and Evalite.

use serde_json::json;

use super::Imported;
use crate::support::Project;

fn reason(imported: &Imported, item: &str) -> String {
    let items = imported.items();
    let found = items
        .iter()
        .find(|one| one["item"] == item && !one["details"]["reason"].is_null());
    found.expect("an outcome with a reason")["details"]["reason"]
        .as_str()
        .expect("text")
        .to_owned()
}

#[test]
fn jest_is_read_by_test() {
    let imported = Imported::fixture("jest/jest.json");
    assert_eq!(
        imported.statuses(),
        [
            "api/cart.test.js::cart adds 1 pass",
            "before the hook 1 pass",
            "broken.test.js 1 not_evaluated",
            "cart later 1 skipped",
            "cart not yet 1 skipped",
            "cart removes 1 fail",
            "cart.test.js::cart adds 1 pass",
            "each 1 pass",
            "each 2 fail",
            "flaky 1 pass",
            "hook.test.js 1 not_evaluated",
            "known to be broken 1 skipped",
            "quiet flaky 1 pass",
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["suite"],
            &run["model"],
            &run["shared_tests_passed"],
            &run["shared_tests_total"],
            &run["duration_seconds"],
            &run["tags"]["flaky"]
        ),
        (
            &json!("tests"),
            &json!("unknown"),
            &json!(6),
            &json!(8),
            &json!(2.5),
            &json!("2")
        )
    );
    assert_eq!(imported.stated(), (6, 6, 0));
    assert_eq!(
        (
            reason(&imported, "cart removes").as_str(),
            reason(&imported, "flaky").as_str()
        ),
        (
            "Error: expect(received).toBe(2)",
            "passed on attempt 3; attempt 1: away; attempt 2: late"
        )
    );
}

#[test]
fn a_test_file_that_does_not_load_leaves_the_run_failed() {
    let imported = Imported::fixture("jest/jest.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["error"]),
        (
            &json!("failed"),
            &json!("broken.test.js and 1 more failed outside of tests")
        )
    );
    assert!(reason(&imported, "broken.test.js").starts_with("● Test suite failed to run"));
    let imported = Imported::fixture("jest/failed-outside-tests.json");
    assert_eq!(
        imported.statuses(),
        ["a 1 pass", "run 1 not_evaluated"],
        "the report says that the run failed"
    );
}

#[test]
fn vitest_lists_earlier_tries_as_failures_of_a_passed_test() {
    let imported = Imported::fixture("jest/vitest.json");
    assert_eq!(
        imported.statuses(),
        [
            "cart adds 1 pass",
            "cart flaky 1 pass",
            "cart later 1 skipped",
            "cart not yet 1 skipped",
            "cart unfinished 1 skipped",
            "reads 1 skipped",
            "setup/db.test.ts 1 not_evaluated",
            "writes 1 skipped",
        ]
    );
    assert_eq!(imported.stated(), (5, 5, 0));
    assert!(
        reason(&imported, "cart flaky").starts_with("passed on attempt 3; attempt 1: Error: away")
    );
}

#[test]
fn scores_of_vitest_evals_are_checks_outside_of_the_pass_rate() {
    let imported = Imported::fixture("jest/vitest-evals.json");
    let checks = "select evaluator, item, status, score from items where kind = 'check' order by evaluator, item";
    assert_eq!(
        imported.sql(checks),
        [
            "Factuality capitals Chad not_evaluated ",
            "Factuality capitals France skipped 1",
            "Factuality capitals Peru skipped 0.25",
            "Factuality capitals Spain skipped 0.75",
            "Style capitals Chad skipped 0.5",
            "Style capitals France skipped 0.5",
            "Style capitals Peru skipped 0",
            "Style capitals Spain skipped 0.25",
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["approach"],
            &run["model"],
            &run["shared_tests_passed"],
            &run["shared_tests_total"]
        ),
        (&json!("pi-ai"), &json!("big-1"), &json!(2), &json!(4))
    );
    let scores: Vec<_> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|score| (score["metric"].clone(), score["n"].clone()))
        .collect();
    assert_eq!(
        scores,
        [
            (json!("Factuality"), json!(3)),
            (json!("Style"), json!(4)),
            (json!("avgScore"), json!(3)),
        ],
        "a judge without a score says nothing"
    );
}

#[test]
fn counts_of_jest_are_checked() {
    let imported = Imported::fixture("jest/counts-that-do-not-add-up.json");
    assert_eq!(imported.stated(), (5, 3, 0));
    let imported = Imported::fixture("jest/summary-alone.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["shared_tests_passed"],
            &run["shared_tests_total"],
            &run["status"]
        ),
        (&json!(14), &json!(15), &json!("completed"))
    );
    assert_eq!(imported.stated(), (0, 0, 5));
}

#[test]
fn a_failed_hook_of_mocha_is_an_error() {
    let imported = Imported::fixture("mocha/mocha.json");
    assert_eq!(
        imported.statuses(),
        [
            "a.js::cart adds 1 pass",
            "b.js::cart adds 1 pass",
            "\"cart deep \"\"before all\"\" hook for \"\"x\"\"\" 1 error",
            "cart flaky 1 pass",
            "cart later 1 skipped",
            "cart removes 1 fail",
            "cart waits 1 limit",
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["shared_tests_passed"],
            &run["shared_tests_total"],
            &run["tags"]["flaky"]
        ),
        (&json!(3), &json!(6), &json!("1"))
    );
    assert_eq!(imported.stated(), (4, 4, 0));
}

#[test]
fn mochawesome_lists_the_tests_that_a_hook_kept_from_running() {
    let imported = Imported::fixture("mocha/mochawesome.json");
    assert_eq!(
        imported.statuses(),
        [
            "cart adds 1 pass",
            "\"cart deep \"\"before all\"\" hook for \"\"x\"\"\" 1 error",
            "cart deep x 1 not_evaluated",
            "cart later 1 skipped",
            "cart removes 1 fail",
            "cart waits 1 limit",
        ]
    );
    assert_eq!(imported.stated(), (4, 4, 0));
}

#[test]
fn playwright_tests_end_as_their_tries_do() {
    let imported = Imported::fixture("playwright/report.json");
    assert_eq!(
        imported.statuses(),
        [
            "b.spec.ts::cart > adds [chromium] 1 pass",
            "cart > adds [firefox] 1 fail",
            "cart > deep > adds [chromium] 1 pass",
            "cart > flaky [chromium] 1 pass",
            "cart > known to be broken [chromium] 1 skipped",
            "cart > later [chromium] 1 skipped",
            "cart > mended [chromium] 1 fail",
            "cart > removes [chromium] 1 fail",
            "cart > waits [chromium] 1 limit",
            "cart.spec.ts::cart > adds [chromium] 1 pass",
            "serial > one [chromium] 1 fail",
            "serial > three [chromium] 1 not_evaluated",
            "serial > two [chromium] 1 not_evaluated",
            "top [chromium] 1 pass",
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["suite"],
            &run["model"],
            &run["git"]["rev"],
            &run["tags"]["flaky"]
        ),
        (
            &json!("shop"),
            &json!("big-1"),
            &json!("abc1234"),
            &json!("1")
        )
    );
    assert_eq!(imported.stated(), (4, 4, 0));
    assert_eq!(
        reason(&imported, "cart > removes [chromium]"),
        "second (attempt 2); attempt 1: first"
    );
}

#[test]
fn a_gate_fails_or_stays_open_if_a_test_of_playwright_failed_or_did_not_run() {
    let gate = |fixture: &str| {
        let path = format!(
            "{}/tests/fixtures/import/playwright/{fixture}",
            env!("CARGO_MANIFEST_DIR")
        );
        Project::new()
            .run(["gate", path.as_str(), "--must-pass", "*"])
            .code
    };
    assert_eq!(
        (gate("report.json"), gate("load-error.json")),
        (1, 3),
        "a regression, and inconclusive"
    );
}

#[test]
fn errors_of_playwright_outside_of_tests_leave_the_run_failed() {
    let imported = Imported::fixture("playwright/load-error.json");
    assert_eq!(
        imported.statuses(),
        ["broken.spec.ts 1 not_evaluated", "top 1 pass"]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["error"]),
        (
            &json!("failed"),
            &json!("broken.spec.ts failed outside of tests")
        )
    );
    let imported = Imported::fixture("playwright/no-tests.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["error"]),
        (&json!("failed"), &json!("Error: No tests found"))
    );
    assert!(run["shared_tests_total"].is_null());
}

#[test]
fn evalite_grades_are_passes_and_other_scores_are_not() {
    let imported = Imported::fixture("evalite/export.json");
    assert_eq!(
        imported.sql("select item, attempt, status, score from items where kind = 'question' order by item, attempt"),
        [
            "Chad 1 error ",
            "France 1 pass 1",
            "Peru 1 fail 0",
            "\"{\"\"topic\"\":\"\"sea\"\"}\" 1 skipped 0.5",
            "\"{\"\"topic\"\":\"\"sea\"\"}\" 2 skipped 0.75",
        ]
    );
    let runs = imported.runs();
    let arms: Vec<_> = runs
        .iter()
        .map(|run| (&run["suite"], &run["approach"], &run["shared_tests_total"]))
        .collect();
    assert!(
        arms.contains(&(&json!("Capitals"), &json!("terse"), &json!(3))),
        "{arms:?}"
    );
    assert_eq!(imported.stated(), (2, 2, 0));
}
