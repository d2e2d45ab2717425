//! Terminal-Bench before version 2.

use serde_json::json;

use super::{Imported, copy, cut};

#[test]
fn resolved_is_what_passes() {
    let imported = Imported::fixture("terminal-bench/resolved-and-timed-out");
    // One trial is in the run's results only; its attempt is in its name.
    assert_eq!(
        imported.statuses(),
        [
            "build 1 fail",
            "build 2 limit",
            "hello 1 pass",
            "hello 2 fail"
        ]
    );
    assert!(imported.has_quirk("resolved trials with a failure"));
    // Accuracy, n_resolved, pass@1 and pass@2, with a trial that was not judged as not resolved.
    assert_eq!(imported.stated(), (4, 4, 0));
}

#[test]
fn zero_tokens_are_not_counted_and_people_are_left_out() {
    let imported = Imported::fixture("terminal-bench/resolved-and-timed-out");
    let tokens = imported.sql(
        "select item, attempt, input_tokens, duration_seconds from items order by item, attempt",
    );
    assert_eq!(
        tokens,
        [
            "build 1  60",
            "build 2  60",
            "hello 1  60",
            "hello 2 120 60"
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["suite_version"], &run["model"]),
        (
            &json!("terminal-bench-core"),
            &json!("0.1.1"),
            &json!("unknown (resolved-and-timed-out)")
        )
    );
    assert!(!run.to_string().contains("someone"));
    let hello = imported
        .items()
        .into_iter()
        .find(|item| item["item"] == "hello" && item["attempt"] == 2)
        .expect("hello")
        .to_string();
    assert!(
        hello.contains("1 of 2 tests failed: test_b") && hello.contains("\"tests_passed\":0.5"),
        "{hello}"
    );
}

#[test]
fn old_trials_without_times_and_run() {
    let imported = Imported::fixture("terminal-bench/old-trials-only");
    assert_eq!(imported.statuses(), ["hello 1 pass"]);
    assert!(imported.has_quirk("`run_metadata.json` is missing"));
}

const RUN: &str = "terminal-bench/resolved-and-timed-out";
const HELLO: &str = "runs/hello/hello.1-of-2.2025-06-05__12-00-00/results.json";

#[test]
fn a_run_with_a_part_of_its_trials_stands_by_what_it_states() {
    let project = copy(RUN);
    // Its counts say of how many.
    let mut results: serde_json::Value =
        serde_json::from_str(&project.read("runs/results.json")).expect("JSON");
    results["results"] = json!([]);
    project.file("runs/results.json", results.to_string());
    let imported = Imported::path(&project.path("runs"));
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(1), &json!(4))
    );
    assert_eq!(
        (&run["tags"]["truncated"], imported.items().len()),
        (&json!("3 of 4 trials in the folder"), 0)
    );
    assert_eq!(imported.stated(), (0, 0, 4));
    // Without the run's results the names of the trials say that there are more.
    std::fs::remove_file(project.path("runs/results.json")).expect("a file");
    let mut metadata: serde_json::Value =
        serde_json::from_str(&project.read("runs/run_metadata.json")).expect("JSON");
    (metadata["accuracy"], metadata["end_time"]) = (json!(0.25), json!("2025-06-05T13:00:00"));
    project.file("runs/run_metadata.json", metadata.to_string());
    let imported = Imported::path(&project.path("runs"));
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["scores"][0]["metric"], &run["scores"][0]["value"]),
        (&json!("accuracy"), &json!(0.25))
    );
    assert_eq!(
        (&run["shared_tests_total"], imported.items().len()),
        (&serde_json::Value::Null, 0)
    );
}

#[test]
fn a_damaged_trial_is_read_from_the_run_or_refused_by_name() {
    for left in [usize::MAX, 10, 0] {
        let project = copy(RUN);
        cut(&project, HELLO, left);
        let imported = Imported::path(&project.path("runs"));
        assert_eq!(
            (imported.statuses().len(), imported.stated()),
            (4, (4, 4, 0)),
            "{left}: the run's results have it"
        );
        assert!(imported.has_quirk("trials with damaged results are read from the run's results"));
        std::fs::remove_file(project.path("runs/results.json")).expect("a file");
        let mut metadata: serde_json::Value =
            serde_json::from_str(&project.read("runs/run_metadata.json")).expect("JSON");
        metadata["accuracy"] = json!(null);
        project.file("runs/run_metadata.json", metadata.to_string());
        let imported = Imported::path(&project.path("runs"));
        assert_eq!(
            imported.statuses(),
            ["build 1 fail", "hello 2 fail"],
            "{left}"
        );
        assert!(imported.source().to_string().contains(
            "hello.1-of-2.2025-06-05__12-00-00/results.json: the results cannot be read"
        ));
        let strict = project.run(["import", "runs", "--strict"]);
        assert_eq!(
            (strict.code, project.path("results").exists()),
            (2, false),
            "{left}"
        );
    }
}

#[test]
fn a_trial_may_have_both_names_of_its_id() {
    let project = copy("terminal-bench/old-trials-only");
    let file = "runs/hello/hello.1-of-1/results.json";
    let mut trial: serde_json::Value = serde_json::from_str(&project.read(file)).expect("JSON");
    (trial["id"], trial["uuid"]) = (json!("a"), json!("b"));
    project.file(file, trial.to_string());
    assert_eq!(
        Imported::path(&project.path("runs")).statuses(),
        ["hello 1 pass"]
    );
}

#[test]
fn nothing_in_the_results_leaves_what_the_metadata_state() {
    let project = copy(RUN);
    let mut results: serde_json::Value =
        serde_json::from_str(&project.read("runs/results.json")).expect("JSON");
    let pass_at = std::mem::replace(&mut results["pass_at_k"], json!({}));
    project.file("runs/results.json", results.to_string());
    let mut metadata: serde_json::Value =
        serde_json::from_str(&project.read("runs/run_metadata.json")).expect("JSON");
    metadata["pass_at_k"] = pass_at;
    project.file("runs/run_metadata.json", metadata.to_string());
    assert_eq!(Imported::path(&project.path("runs")).stated(), (4, 4, 0));
}

fn results(run: &str, trials: &[(&str, serde_json::Value, &str)]) -> String {
    let trial = |(task, resolved, mode): &(&str, serde_json::Value, &str)| {
        json!({"id": format!("{task}-{run}"), "trial_name": format!("{task}.1-of-1.{run}"), "task_id": task, "instruction": format!("do {task}"),
               "is_resolved": resolved, "failure_mode": mode, "parser_results": null})
    };
    let resolved = trials
        .iter()
        .filter(|(_, resolved, _)| *resolved == json!(true))
        .count();
    json!({"id": run, "results": trials.iter().map(trial).collect::<Vec<_>>(), "pass_at_k": {}, "n_resolved": resolved,
           "n_unresolved": trials.len() - resolved, "accuracy": resolved as f64 / trials.len() as f64})
    .to_string()
}

#[test]
fn results_side_by_side_are_a_run_each_and_what_was_not_judged_is_not_resolved() {
    let project = crate::support::Project::new();
    let (yes, no, unjudged) = (json!(true), json!(false), json!(null));
    let submission = "20250829_goose_some-model";
    let name = |run: &str| format!("{submission}/{run}_results.json");
    let runs = [
        "2025-08-25__12-29-38",
        "2025-08-25__13-35-43",
        "2025-08-25__14-19-07",
    ];
    for (run, passes) in runs.iter().zip([[&yes, &no], [&yes, &yes], [&no, &no]]) {
        let trials = [
            ("a", passes[0].clone(), "unset"),
            ("b", passes[1].clone(), "agent_timeout"),
            ("c", unjudged.clone(), "parse_error"),
        ];
        project.file(&name(run), results(run, &trials));
    }
    let report = project
        .run(["import", submission, "--format", "json"])
        .json();
    let sources = report["sources"].as_array().expect("sources");
    assert_eq!(sources.len(), 3, "{report:#}");
    assert!(
        sources
            .iter()
            .all(|source| source["stated_checked"] == 2 && source["stated_agree"] == 2),
        "{report:#}"
    );
    let board = project.run(["leaderboard", "--format", "json"]).json();
    let entry = &board["suites"][0]["entries"][0];
    assert_eq!(
        (
            &entry["runs"],
            &entry["pass_rate"]["passed"],
            &entry["pass_rate"]["total"]
        ),
        (&json!(3), &json!(3), &json!(9)),
        "{board:#}"
    );
    assert_eq!(entry["model"], format!("unknown ({submission})"));
    let scores = project
        .run([
            "sql",
            "select distinct metric, n from scores",
            "--format",
            "csv",
        ])
        .stdout;
    assert!(scores.contains("resolved_of_judged,2"), "{scores}");
    // One by one they are the same.
    let one_by_one = crate::support::Project::new();
    for run in runs {
        one_by_one.file(&name(run), project.read(&name(run)));
        assert_eq!(one_by_one.run(["import", &name(run)]).code, 0);
    }
    assert_eq!(
        one_by_one.run(["leaderboard", "--format", "csv"]).stdout,
        project.run(["leaderboard", "--format", "csv"]).stdout
    );
}

#[test]
fn models_without_a_name_are_told_apart_by_their_submissions() {
    let project = crate::support::Project::new();
    for (folder, run) in [
        ("one_big", "2025-09-01__11-19-06"),
        ("two_small", "2025-09-01__11-51-46"),
        ("three/nightly-1", "nightly-1"),
    ] {
        let metadata = json!({"run_id": run, "uuid": folder, "dataset_name": "core", "dataset_version": "0.1.1", "agent_name": "Architect"});
        project.file(
            &format!("sent/{folder}/run_metadata.json"),
            metadata.to_string(),
        );
        project.file(
            &format!("sent/{folder}/results.json"),
            results(run, &[("a", json!(true), "unset")]),
        );
    }
    assert_eq!(project.run(["import", "sent"]).code, 0);
    let models = project
        .run([
            "sql",
            "select distinct model from runs order by model",
            "--format",
            "csv",
        ])
        .stdout;
    assert_eq!(
        models,
        "model\nunknown (one_big)\nunknown (three)\nunknown (two_small)\n"
    );
    // Pooling is asked for.
    let pooled = crate::support::Project::new();
    for file in project.files("sent") {
        pooled.file(&file, project.read(&file));
    }
    assert_eq!(pooled.run(["import", "sent", "--set", "model=one"]).code, 0);
    let board = pooled.run(["leaderboard", "--format", "json"]).json();
    assert_eq!(board["suites"][0]["entries"][0]["runs"], 3, "{board:#}");
}

#[test]
fn the_trials_of_two_runs_in_one_folder_are_two_runs() {
    let trial = |run: &str, task: &str, resolved: bool| json!({"trial_name": format!("{task}.1-of-1.{run}"), "task_id": task, "is_resolved": resolved, "instruction": task});
    let [first, second] = ["2025-08-25__12-29-38", "2025-08-25__13-35-43"];
    // Of the same tasks, and of others.
    for other in ["same", "other"] {
        let project = crate::support::Project::new();
        for (run, task) in [(first, "same"), (second, other)] {
            for (number, resolved) in [(1, true), (2, run == second)] {
                let task = format!("{task}{number}");
                let path = format!("run/{task}/{task}.1-of-1.{run}/results.json");
                project.file(&path, trial(run, &task, resolved).to_string());
            }
        }
        let imported = Imported::path(&project.path("run"));
        assert!(imported.has_quirk("the folder has trials of 2 runs"));
        let mut rates: Vec<(u64, u64)> = imported
            .runs()
            .iter()
            .map(|run| {
                (
                    run["shared_tests_passed"].as_u64().expect("a count"),
                    run["shared_tests_total"].as_u64().expect("a count"),
                )
            })
            .collect();
        rates.sort_unstable();
        assert_eq!(rates, [(1, 2), (2, 2)], "{other}");
    }
}
