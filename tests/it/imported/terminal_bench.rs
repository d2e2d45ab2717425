//! Terminal-Bench before version 2.

use serde_json::json;

use super::Imported;

#[test]
fn resolved_is_what_passes() {
    let imported = Imported::fixture("terminal-bench/resolved-and-timed-out");
    // One trial is in the run's results only; its attempt is in its name.
    assert_eq!(imported.statuses(), ["build 1 not_evaluated", "build 2 limit", "hello 1 pass", "hello 2 fail"]);
    assert!(imported.has_quirk("resolved trials with a failure"));
    // Accuracy, n_resolved, pass@1 and pass@2, with a trial that was not judged as not resolved.
    assert_eq!(imported.stated(), (4, 4, 0));
}

#[test]
fn zero_tokens_are_not_counted_and_people_are_left_out() {
    let imported = Imported::fixture("terminal-bench/resolved-and-timed-out");
    let tokens = imported.sql("select item, attempt, input_tokens, duration_seconds from items order by item, attempt");
    assert_eq!(tokens, ["build 1  60", "build 2  60", "hello 1  60", "hello 2 120 60"]);
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!((&run["suite"], &run["suite_version"], &run["model"]), (&json!("terminal-bench-core"), &json!("0.1.1"), &json!("unknown")));
    assert!(!run.to_string().contains("someone"));
    let hello = imported.items().into_iter().find(|item| item["item"] == "hello" && item["attempt"] == 2).expect("hello").to_string();
    assert!(hello.contains("1 of 2 tests failed: test_b") && hello.contains("\"tests_passed\":0.5"), "{hello}");
}

#[test]
fn old_trials_without_times_and_run() {
    let imported = Imported::fixture("terminal-bench/old-trials-only");
    assert_eq!(imported.statuses(), ["hello 1 pass"]);
    assert!(imported.has_quirk("without run_metadata.json"));
}
