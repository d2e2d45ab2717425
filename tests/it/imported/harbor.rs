//! Harbor: the trials of a job, whatever of the job's own result there is.

use serde_json::json;

use super::{Imported, copy, cut};

#[test]
fn a_reward_passes_whatever_the_exception() {
    let imported = Imported::fixture("harbor/reward-and-exception");
    // In the order in which trials began, not in that of their names.
    assert_eq!(
        imported.statuses(),
        [
            "alpha 1 limit",
            "alpha 2 pass",
            "beta 1 pass",
            "beta 2 infra",
            "gamma 1 fail",
            "gamma 2 error"
        ]
    );
    assert!(imported.has_quirk("trials with a reward and an exception"));
    // By Harbor's own rules: what has no reward counts as 0 in its mean and in pass@2.
    assert_eq!(imported.stated(), (4, 4, 0));
}

#[test]
fn a_run_is_an_agent_with_a_model_at_a_dataset() {
    let imported = Imported::fixture("harbor/reward-and-exception");
    let [run] = imported.runs().try_into().expect("one run");
    // The dataset's name has the separator of the statistics' keys in it.
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (&json!("core__set"), &json!("coder"), &json!("acme/big-1"))
    );
    // Times of the trials in UTC; the job's have no zone.
    assert_eq!(
        (&run["timestamp"], &run["duration_seconds"]),
        (&json!("2026-03-01T10:31:00Z"), &json!(1860.0))
    );
    assert_eq!(
        (&run["agent"], &run["suite_version"]),
        (&json!("coder 2.1"), &json!("c0ffee"))
    );
    assert_eq!(imported.source()["foreign"]["version"], "harbor 0.25.0");
}

#[test]
fn tokens_leave_the_cache_out_and_costs_come_from_the_trajectory() {
    let imported = Imported::fixture("harbor/reward-and-exception");
    let tokens = imported.sql("select item, attempt, input_tokens, output_tokens, cost_usd from items order by item, attempt");
    assert_eq!(tokens[0], "alpha 1 1000 50 0.25");
    assert_eq!(tokens[4], "gamma 1 300 20 0.05", "from the trajectory");
    assert_eq!(tokens[5], "gamma 2 2000 100 0.5", "of two steps");
    let items = imported.items();
    let gamma = items
        .iter()
        .find(|item| item["item"] == "gamma" && item["attempt"] == 1)
        .expect("gamma")
        .to_string();
    for part in [
        "\"cache_read\":100",
        "\"input\":200",
        "1 of 2 tests failed: test_right",
        "make gamma work",
        "\"bash\":2",
        "sum-gamma",
    ] {
        assert!(gamma.contains(part), "{part}: {gamma}");
    }
}

#[test]
fn a_job_that_is_not_finished_is_cancelled_and_imported_again_later() {
    let imported = Imported::fixture("harbor/unfinished-job");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["error"]),
        (&json!("cancelled"), &json!("the job was not finished"))
    );
}

#[test]
fn trials_inside_of_the_jobs_result() {
    let imported = Imported::fixture("harbor/inline-trials");
    // Half a reward is none; rewards of other names and beyond 1 have no mark that passes.
    assert_eq!(
        imported.statuses(),
        [
            "alpha 1 fail",
            "alpha 2 pass",
            "beta 1 skipped",
            "delta 1 skipped"
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["model"]),
        (&json!("adhoc"), &json!("unknown (inline-trials)"))
    );
    let metrics: Vec<&str> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .filter_map(|score| score["metric"].as_str())
        .collect();
    assert_eq!(metrics, ["reward", "size", "speed", "style"]);
    // The mean is over one reward a trial, which these have not.
    assert_eq!(imported.stated(), (2, 2, 1));
}

#[test]
fn a_jobs_result_alone_has_counts() {
    let imported = Imported::fixture("harbor/job-without-trials");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(3), &json!(5))
    );
    assert_eq!(
        run["approach"], "coder__big-1__core__set",
        "which part is which cannot be told"
    );
    assert!(imported.has_quirk("the job's trials are missing"));
}

#[test]
fn a_job_with_a_part_of_its_trials_stands_by_what_it_states() {
    let project = copy("harbor/reward-and-exception");
    for trial in ["alpha__t1", "alpha__t2", "gamma__t5", "gamma__t6"] {
        std::fs::remove_dir_all(project.path(&format!("runs/{trial}"))).expect("a folder");
    }
    let imported = Imported::path(&project.path("runs"));
    // Both trials that are left got the reward, or would have without an outage; of the job two of four did.
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(run["tags"]["truncated"], "2 of 6 trials in the folder");
    assert_eq!((imported.items().len(), imported.stated()), (0, (0, 0, 4)));
    assert!(imported.has_quirk("2 of 6 trials are present: the job's published figures count"));
}

#[test]
fn a_damaged_result_is_refused_by_name_and_the_others_are_kept() {
    // Far from its beginning, and before it shows what it is.
    for left in [usize::MAX, 60, 0] {
        let project = copy("harbor/reward-and-exception");
        cut(&project, "runs/beta__t3/result.json", left);
        let imported = Imported::path(&project.path("runs"));
        let source = imported.source();
        assert_eq!(
            (&source["items"], &source["outcome"]),
            (&json!(5), &json!("imported")),
            "{left}: {source}"
        );
        let refused = source.to_string();
        assert!(
            refused.contains("beta__t3/result.json")
                && refused.contains("the result cannot be read"),
            "{left}: {source}"
        );
        let [run] = imported.runs().try_into().expect("one run");
        assert_eq!(
            (&run["status"], &run["error"]),
            (
                &json!("failed"),
                &json!("1 of the job's 6 results cannot be read")
            ),
            "{left}"
        );
        assert_eq!(
            imported.stated(),
            (0, 0, 4),
            "what the job states is of all of them"
        );
        let strict = project.run(["import", "runs", "--strict"]);
        assert_eq!(
            (strict.code, project.path("results").exists()),
            (2, false),
            "{left}"
        );
    }
}

#[test]
fn the_verifiers_tests_of_a_step_belong_to_its_trial() {
    let project = copy("harbor/reward-and-exception");
    let trial = project.path("runs/gamma__t5");
    for (step, of) in [("one", "agent"), ("two", "verifier")] {
        std::fs::create_dir_all(trial.join("steps").join(step)).expect("a folder");
        std::fs::rename(trial.join(of), trial.join("steps").join(step).join(of)).expect("a folder");
    }
    let imported = Imported::path(&project.path("runs"));
    assert_eq!(imported.source()["items"], 6, "nothing else is a source");
    let items = imported.items();
    let gamma = items
        .iter()
        .find(|item| item["item"] == "gamma" && item["attempt"] == 1)
        .expect("gamma")
        .to_string();
    assert!(
        gamma.contains("two: 1 of 2 tests failed: test_right") && gamma.contains("make gamma work"),
        "{gamma}"
    );
}

#[test]
fn what_lies_beside_the_trials_is_not_of_an_unknown_format() {
    let project = copy("harbor/reward-and-exception");
    for file in [
        "config.json",
        "lock.json",
        "alpha__t1/config.json",
        "alpha__t2/agent/settings.json",
        "beta__t3/artifacts/a/b.json",
    ] {
        project.bytes(&format!("runs/{file}"), b"{}");
    }
    project.bytes("runs/alpha__t1/other.json", b"{}");
    let said = project.run(["import", "runs", "--dry-run"]).stdout;
    assert!(
        said.contains("1 file of no format that is recognised\n  runs/alpha__t1/other.json\n"),
        "{said}"
    );
}
