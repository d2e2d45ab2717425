//! Terminal-Bench before version 2.

use serde_json::json;

use super::{Imported, copy, cut};

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

const RUN: &str = "terminal-bench/resolved-and-timed-out";
const HELLO: &str = "runs/hello/hello.1-of-2.2025-06-05__12-00-00/results.json";

#[test]
fn a_run_with_a_part_of_its_trials_stands_by_what_it_states() {
    let project = copy(RUN);
    // Its counts say of how many.
    let mut results: serde_json::Value = serde_json::from_str(&project.read("runs/results.json")).expect("JSON");
    results["results"] = json!([]);
    project.file("runs/results.json", results.to_string());
    let imported = Imported::path(&project.path("runs"));
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!((&run["shared_tests_passed"], &run["shared_tests_total"]), (&json!(1), &json!(4)));
    assert_eq!((&run["tags"]["truncated"], imported.items().len()), (&json!("3 of 4 trials in the folder"), 0));
    assert_eq!(imported.stated(), (0, 0, 4));
    // Without the run's results the names of the trials say that there are more.
    std::fs::remove_file(project.path("runs/results.json")).expect("a file");
    let mut metadata: serde_json::Value = serde_json::from_str(&project.read("runs/run_metadata.json")).expect("JSON");
    (metadata["accuracy"], metadata["end_time"]) = (json!(0.25), json!("2025-06-05T13:00:00"));
    project.file("runs/run_metadata.json", metadata.to_string());
    let imported = Imported::path(&project.path("runs"));
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!((&run["scores"][0]["metric"], &run["scores"][0]["value"]), (&json!("accuracy"), &json!(0.25)));
    assert_eq!((&run["shared_tests_total"], imported.items().len()), (&serde_json::Value::Null, 0));
}

#[test]
fn a_damaged_trial_is_read_from_the_run_or_refused_by_name() {
    for left in [usize::MAX, 10, 0] {
        let project = copy(RUN);
        cut(&project, HELLO, left);
        let imported = Imported::path(&project.path("runs"));
        assert_eq!((imported.statuses().len(), imported.stated()), (4, (4, 4, 0)), "{left}: the run's results have it");
        assert!(imported.has_quirk("trials whose own results are damaged are read from the run's"));
        std::fs::remove_file(project.path("runs/results.json")).expect("a file");
        let mut metadata: serde_json::Value = serde_json::from_str(&project.read("runs/run_metadata.json")).expect("JSON");
        metadata["accuracy"] = json!(null);
        project.file("runs/run_metadata.json", metadata.to_string());
        let imported = Imported::path(&project.path("runs"));
        assert_eq!(imported.statuses(), ["build 1 not_evaluated", "hello 2 fail"], "{left}");
        assert!(imported.source().to_string().contains("hello.1-of-2.2025-06-05__12-00-00/results.json: the results cannot be read"));
        let strict = project.run(["import", "runs", "--strict"]);
        assert_eq!((strict.code, project.path("results").exists()), (2, false), "{left}");
    }
}

#[test]
fn a_trial_may_have_both_names_of_its_id() {
    let project = copy("terminal-bench/old-trials-only");
    let file = "runs/hello/hello.1-of-1/results.json";
    let mut trial: serde_json::Value = serde_json::from_str(&project.read(file)).expect("JSON");
    (trial["id"], trial["uuid"]) = (json!("a"), json!("b"));
    project.file(file, trial.to_string());
    assert_eq!(Imported::path(&project.path("runs")).statuses(), ["hello 1 pass"]);
}

#[test]
fn nothing_in_the_results_leaves_what_the_metadata_state() {
    let project = copy(RUN);
    let mut results: serde_json::Value = serde_json::from_str(&project.read("runs/results.json")).expect("JSON");
    let pass_at = std::mem::replace(&mut results["pass_at_k"], json!({}));
    project.file("runs/results.json", results.to_string());
    let mut metadata: serde_json::Value = serde_json::from_str(&project.read("runs/run_metadata.json")).expect("JSON");
    metadata["pass_at_k"] = pass_at;
    project.file("runs/run_metadata.json", metadata.to_string());
    assert_eq!(Imported::path(&project.path("runs")).stated(), (4, 4, 0));
}
