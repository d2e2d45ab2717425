//! SWE-bench: a run's report, those of its instances, and submissions.

use serde_json::json;

use super::{Imported, samples};

#[test]
fn schema_2_without_infra_ids() {
    let imported = Imported::fixture("swe-bench/schema-2");
    assert_eq!(
        imported.statuses(),
        [
            "a__a-1 1 pass",
            "a__a-2 1 fail",
            "b__b-3 1 fail",
            "b__b-4 1 fail",
            "c__c-5 1 error",
            "c__c-6 1 fail"
        ]
    );
    let [run] = imported.runs().try_into().expect("one run");
    // The model's name has a dot in it: the run's is the last part.
    assert_eq!(
        (&run["model"], &run["tags"]["run_id"]),
        (&json!("acme/coder-1.5"), &json!("nightly"))
    );
    assert_eq!(
        imported.sql("select distinct cluster from items order by cluster"),
        ["a__a", "b__b", "c__c"]
    );
    assert_eq!(imported.stated(), (7, 7, 0));
    let share = run["scores"][0]["value"].as_f64().expect("a share");
    assert!(
        (share - 1.0 / 6.0).abs() < 1e-12,
        "of all instances, submitted or not"
    );
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(1), &json!(6)),
        "and so is the pass rate"
    );
}

#[test]
fn what_was_not_submitted_counts_as_failed() {
    let project = crate::support::Project::new();
    let ids = |from: u32, to: u32| {
        (from..to)
            .map(|id| format!("a__a-{id}"))
            .collect::<Vec<String>>()
    };
    let report = json!({
        "total_instances": 91, "submitted_instances": 2, "completed_instances": 1, "resolved_instances": 1, "unresolved_instances": 0,
        "empty_patch_instances": 1, "error_instances": 0, "completed_ids": ids(0, 1), "resolved_ids": ids(0, 1), "unresolved_ids": [],
        "empty_patch_ids": ids(1, 2), "incomplete_ids": ids(2, 91), "error_ids": [], "submitted_ids": ids(0, 2), "schema_version": 2,
    });
    project.file("acme__coder.one.json", report.to_string());
    assert_eq!(project.run(["import", "acme__coder.one.json"]).code, 0);
    let board = project.run(["leaderboard", "--format", "json"]).json();
    let rate = &board["suites"][0]["entries"][0]["pass_rate"];
    assert_eq!(
        (&rate["passed"], &rate["total"]),
        (&json!(1), &json!(91)),
        "{board:#}"
    );
    let scores = project
        .run([
            "sql",
            "select metric, value, n from scores order by metric",
            "--format",
            "csv",
        ])
        .stdout;
    assert!(
        scores.contains("resolved_of_completed,1,1")
            || scores.contains("resolved_of_completed,1.0,1"),
        "{scores}"
    );
}

#[test]
fn schema_2_with_infra_ids_and_reports_of_instances() {
    let imported = Imported::fixture("swe-bench/schema-2-infra");
    // One source: the report beside `logs` and the reports in it.
    assert_eq!(imported.source()["foreign"]["files"], 3);
    assert_eq!(
        imported.statuses(),
        [
            "a__a-1 1 pass",
            "a__a-2 1 fail",
            "b__b-3 1 error",
            "b__b-4 1 fail",
            "c__c-5 1 error",
            "c__c-6 1 fail"
        ]
    );
    let items = imported.items();
    let of = |id: &str| {
        items
            .iter()
            .find(|item| item["item"] == id)
            .expect("the instance")
            .to_string()
    };
    assert!(of("b__b-3").contains("container_unavailable"));
    assert!(
        of("a__a-2").contains("1 tests failed: t2")
            && of("a__a-2").contains("\"FAIL_TO_PASS\":0.5"),
        "{}",
        of("a__a-2")
    );
}

#[test]
fn reports_of_instances_alone() {
    let imported = Imported::fixture("swe-bench/instances-only");
    assert_eq!(
        imported.statuses(),
        ["a__a-1 1 pass", "b__b-3 1 error", "b__b-4 1 fail"]
    );
    assert!(imported.has_quirk("the run's report is missing"));
}

#[test]
fn submissions_of_every_age() {
    let imported = Imported::fixture("swe-bench/experiments");
    let runs = imported.runs();
    let names: Vec<String> = runs
        .iter()
        .map(|run| {
            format!("{} {} {}", run["suite"], run["approach"], run["model"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        names,
        [
            "swe-bench-bash-only mini big-1",
            "swe-bench-lite rag unknown (20231010_rag)",
            "swe-bench-verified Demo Agent big-1, small-1"
        ]
    );
    // Failures are implicit in newer results: counts of the split, and no outcomes.
    assert_eq!(
        (
            &runs[2]["shared_tests_passed"],
            &runs[2]["shared_tests_total"]
        ),
        (&json!(2), &json!(500))
    );
    // Older ones say how each ended.
    assert_eq!(
        imported.sql("select item, items.status from items join runs using (run_id) where suite = 'swe-bench-lite' order by item"),
        ["a__a-1 pass", "a__a-2 fail", "b__b-3 fail", "b__b-4 fail", "c__c-5 limit"]
    );
    // All false in the details against 69.6 % claimed.
    let (checked, agree, _) = imported.stated();
    assert_eq!((checked, agree), (2, 1));
    let costs = "select item, items.cost_usd from items join runs using (run_id) where suite = 'swe-bench-bash-only' order by item";
    assert_eq!(imported.sql(costs), ["a__a-1 0.72", "b__b-3 "]);
}

#[test]
#[ignore = "reads samples of other tools: EVALREPORT_FORMATS names their folder"]
fn published_samples() {
    let folder = samples("swe-bench");
    for (file, resolved, unresolved, total) in [
        ("agentless.lite_eval_20_no_test_patch.json", 3, 295, 300),
        ("agentless.lite_eval_20_with_test_patch.json", 4, 294, 300),
        ("model.run1.schema2.json", 1, 0, 3),
    ] {
        let imported = Imported::path(&folder.join(file));
        let count = |status: &str| {
            imported.sql(&format!(
                "select count(*) from items where status = '{status}'"
            ))[0]
                .clone()
        };
        assert_eq!(
            (count("pass"), count("fail")),
            (format!("{resolved}"), format!("{unresolved}")),
            "{file}"
        );
        assert_eq!(imported.source()["items"], total, "{file}");
        eprintln!(
            "{file}: {resolved} of {total} resolved, stated {:?}",
            imported.stated()
        );
    }
    let all = Imported::path(&folder);
    assert_eq!(
        all.report["sources"].as_array().map(Vec::len),
        Some(6),
        "{}",
        all.report
    );
}

/// `get_model_report` of 2024 returned a list for each result, which everybody wrote to a file of another name.
#[test]
fn reports_of_2024_are_known_by_their_lists() {
    let project = crate::support::Project::new();
    let report = json!({
        "no_generation": ["a__a-1", "a__a-1"], "generated": ["a__a-2", "b__b-3", "b__b-4"], "with_logs": ["a__a-2", "b__b-3", "b__b-4"],
        "install_fail": [], "reset_failed": [], "no_apply": ["b__b-4"], "applied": ["a__a-2", "b__b-3"], "test_errored": [],
        "test_timeout": [], "resolved": ["a__a-2"],
    });
    for file in [
        "evaluations/20240402_agent/report.json",
        "reports/big-1.json",
        "reports/big-2.json",
    ] {
        project.file(file, report.to_string());
    }
    for (folder, approaches) in [
        ("evaluations", ["agent"].as_slice()),
        ("reports", &["big-1", "big-2"]),
    ] {
        let imported = Imported::path(&project.path(folder));
        let runs = imported.runs();
        let found: Vec<&str> = runs
            .iter()
            .filter_map(|run| run["approach"].as_str())
            .collect();
        assert_eq!(found, approaches);
        assert_eq!(
            imported.sql("select distinct item, status from items order by item"),
            ["a__a-1 fail", "a__a-2 pass", "b__b-3 fail", "b__b-4 fail"],
            "{folder}"
        );
    }
}

#[test]
fn reports_of_instances_in_one_file_are_a_run() {
    let project = crate::support::Project::new();
    let instance = |resolved: bool| json!({"patch_is_None": false, "patch_exists": true, "patch_successfully_applied": true, "resolved": resolved});
    project.file(
        "runs/acme__coder.tuesday.json",
        json!({"a__a-1": instance(true), "b__b-3": instance(false)}).to_string(),
    );
    let imported = Imported::path(&project.path("runs"));
    assert_eq!(imported.statuses(), ["a__a-1 1 pass", "b__b-3 1 fail"]);
    assert_eq!(imported.runs()[0]["model"], "acme/coder");
}

#[test]
fn a_report_whose_name_says_nothing_has_no_model() {
    let project = crate::support::Project::new();
    let report = json!({"total_instances": 1, "submitted_instances": 1, "completed_instances": 1, "resolved_instances": 1,
        "resolved_ids": ["a__a-1"], "unresolved_ids": [], "submitted_ids": ["a__a-1"]});
    project.file("big-1/report.json", report.to_string());
    let imported = Imported::path(&project.path("big-1"));
    assert_eq!(imported.runs()[0]["model"], "unknown (report)");
}

#[test]
fn predictions_are_named_and_not_taken_for_results() {
    let project = crate::support::Project::new();
    let prediction =
        r#"{"instance_id": "a__a-1", "model_name_or_path": "acme/coder", "model_patch": "diff"}"#;
    project.file("preds.jsonl", format!("{prediction}\n{prediction}\n"));
    project.file("preds.json", format!("[{prediction}]"));
    project.file("all_preds.json", format!("{{\"a__a-1\": {prediction}}}"));
    for file in ["preds.jsonl", "preds.json", "all_preds.json"] {
        let said = project.run(["import", file]);
        assert!(
            said.code == 2 && said.stdout.contains("SWE-bench (predictions)"),
            "{file}: {}",
            said.stdout
        );
        assert!(
            said.stdout
                .contains("import the report of swebench.harness.run_evaluation"),
            "{file}: {}",
            said.stdout
        );
    }
}

#[test]
fn submissions_to_multi_swe_bench_are_reports_of_a_run() {
    let project = crate::support::Project::new();
    let report = json!({
        "total_instances": 5, "submitted_instances": 4, "completed_instances": 3, "resolved_instances": 1, "unresolved_instances": 2,
        "empty_error_patch_instances": 1, "unstopped_instances": 0, "completed_ids": ["o__r-1", "o__r-2", "o__r-3"], "incomplete_ids": [],
        "submitted_ids": ["o__r-1", "o__r-2", "o__r-3", "o__r-4"], "resolved": ["o__r-1"], "unresolved_ids": ["o__r-2", "o__r-3"],
        "empty_error_patch_ids": ["o__r-4"], "unstopped_containers": [], "unremoved_images": [],
    });
    project.file(
        "evaluation/java/verified/20250329_Agent_Model-3.7(Oct)/results/results.json",
        report.to_string(),
    );
    let imported = Imported::path(&project.path("evaluation"));
    // The benchmark's rate is over all five, and the report does not name the fifth.
    assert_eq!(imported.statuses(), [""; 0]);
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (
            &json!("multi-swe-bench-java"),
            &json!("Agent"),
            &json!("Model-3.7(Oct)")
        )
    );
    assert!(imported.has_quirk("1 of 5 instances are in no list"));
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(1), &json!(5))
    );
    assert_eq!(run["scores"][0]["value"], 0.2, "of all five");
}
