//! Workspaces of agent skills.

use serde_json::{Value, json};

use super::{Imported, copy, cut, samples};

fn figure(imported: &Imported, run: &str, name: &str) -> Value {
    let runs = imported.runs();
    let run = runs
        .iter()
        .find(|one| one["approach"] == run)
        .expect("the run");
    run["stated"]
        .as_array()
        .expect("figures")
        .iter()
        .find(|figure| figure["name"] == name)
        .expect("the figure")
        .clone()
}

#[test]
fn with_and_without_are_two_approaches_of_the_same_expectations() {
    let imported = Imported::fixture("agent-skills/invoice-parser-workspace");
    let rates = "select approach, count(*), sum(case when items.status = 'pass' then 1 else 0 end), count(distinct cluster) \
                 from items join runs using (run_id) where kind = 'question' group by approach order by approach";
    assert_eq!(
        imported.sql(rates),
        ["with_skill 5 5 2", "without_skill 5 3 2"]
    );
    let paired = "select count(*) from (select item from items where kind = 'question' group by item having count(*) = 2)";
    assert_eq!(
        imported.sql(paired),
        ["5"],
        "every expectation is there in both"
    );
    let [with, without] = imported.runs().try_into().expect("two runs");
    assert_eq!(
        (&with["suite"], &with["model"], &with["tags"]["iteration"]),
        (
            &json!("invoice-parser"),
            &json!("unknown (iteration-1)"),
            &json!("iteration-1")
        )
    );
    // Of timing.json, without the grader; the benchmark's tokens are characters.
    assert_eq!(
        (&with["total_tokens"], &without["total_tokens"]),
        (&json!(37700), &json!(34900))
    );
    assert_eq!(
        (&with["duration_seconds"], &without["duration_seconds"]),
        (&json!(49.0), &json!(67.5))
    );
    assert!(with["input_tokens"].is_null() && with["cost_usd"].is_null());
    assert!(imported.has_quirk("the model is a placeholder"));
}

#[test]
fn what_the_workspace_states_is_checked() {
    let imported = Imported::fixture("agent-skills/invoice-parser-workspace");
    for run in ["with_skill", "without_skill"] {
        let [rate, tokens] = ["pass_rate", "tokens"].map(|name| figure(&imported, run, name));
        assert!(
            rate["recomputed"]
                .as_f64()
                .is_some_and(
                    |value| (value - rate["value"].as_f64().expect("a rate")).abs() < 0.005
                ),
            "{rate}"
        );
        assert_ne!(
            tokens["value"], tokens["recomputed"],
            "characters and tokens"
        );
        let declared = figure(&imported, run, "runs_per_configuration");
        assert_eq!(
            (&declared["value"], &declared["recomputed"]),
            (&json!(3.0), &json!(1.0))
        );
    }
    // Tokens and their deviation, and the number of runs, of both.
    let (checked, agree, lacking) = imported.stated();
    assert_eq!((checked - agree, lacking), (6, 0));
    assert!(imported.has_quirk("`tokens` of benchmark.json are characters"));
    assert!(imported.has_quirk("announces 3 runs per eval and configuration, and has 1"));
}

#[test]
fn a_grading_that_is_there_twice_counts_once() {
    let imported = Imported::fixture("agent-skills/invoice-parser-workspace");
    assert!(imported.has_quirk("again above it: each run counts once"));
    assert_eq!(
        imported.sql("select count(*) from items where kind = 'check'"),
        ["4"],
        "two evals, with and without"
    );
    let project = copy("agent-skills/invoice-parser-workspace");
    let file = "runs/iteration-1/eval-0/with_skill/grading.json";
    project.file(file, project.read(file).replace("true", "false"));
    let imported = Imported::path(&project.path("runs"));
    assert!(imported.has_quirk("a grading above the runs' folders differs from theirs"));
    assert_eq!(
        imported.sql("select count(*) from items where status = 'pass' and kind = 'question'"),
        ["8"],
        "5 with, 3 without"
    );
}

#[test]
fn runs_are_attempts_and_later_iterations_other_approaches() {
    let imported = Imported::fixture("agent-skills/release-notes-workspace");
    let attempts = "select approach, item, attempt, items.status from items join runs using (run_id) where kind = 'question' and \
                    approach like 'with_skill%' order by item, attempt";
    assert_eq!(
        imported.sql(attempts),
        [
            "with_skill  iteration 2 eval-changelog: Groups changes by kind 1 pass",
            "with_skill  iteration 2 eval-changelog: Groups changes by kind 2 pass",
            "with_skill  iteration 2 eval-changelog: Names the version 1 pass",
            "with_skill  iteration 2 eval-changelog: Names the version 2 fail",
            "with_skill  iteration 2 eval-links: Keeps the tone 1 not_evaluated",
            "with_skill  iteration 2 eval-links: Links each issue 1 pass",
        ]
        .map(|line| line
            .replace("with_skill  iteration", "\"with_skill  iteration")
            .replace("iteration 2 ", "iteration 2\" "))
    );
    let [with, _] = imported.runs().try_into().expect("two runs");
    assert_eq!(
        (&with["suite"], &with["total_calls"]),
        (&json!("release-notes"), &json!(3)),
        "the workspace names the skill"
    );
    assert!(
        with["total_tokens"].is_null(),
        "one of the runs does not tell"
    );
}

#[test]
fn a_benchmark_alone_stands_in_for_its_gradings() {
    let imported = Imported::fixture("agent-skills/benchmark-alone/benchmark.json");
    assert!(imported.has_quirk("are read from benchmark.json"));
    let [with, without] = imported.runs().try_into().expect("two runs");
    assert_eq!(
        (
            &with["model"],
            &without["shared_tests_passed"],
            &without["shared_tests_total"]
        ),
        (&json!("big-1"), &json!(2), &json!(3))
    );
    let whole = Imported::fixture("agent-skills/invoice-parser-workspace");
    let items = "select distinct item from items where cluster = 'eval-0' order by item";
    assert_eq!(
        imported.sql(items),
        whole.sql(items),
        "the same items as in the folder"
    );
}

#[test]
fn a_damaged_grading_is_refused_by_its_name() {
    let project = copy("agent-skills/release-notes-workspace");
    cut(
        &project,
        "runs/iteration-2/eval-changelog/with_skill/run-2/grading.json",
        90,
    );
    let report = project.run(["import", "runs", "--format", "json"]).json();
    let refused = report["sources"][0]["refusals"].to_string();
    assert!(
        refused.contains("eval-changelog/with_skill/run-2/grading.json"),
        "{refused}"
    );
    let failed = project.run([
        "sql",
        "select approach from runs where status = 'failed'",
        "--format",
        "csv",
    ]);
    assert!(
        failed.stdout.contains("with_skill, iteration 2"),
        "{}",
        failed.stdout
    );
}

#[test]
#[ignore = "reads samples of other tools: EVALREPORT_FORMATS names their folder"]
fn real_workspaces_agree_with_their_own_summaries() {
    let folder = samples("agent-skills");
    for workspace in std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("readable").path())
    {
        let imported = Imported::path(&workspace);
        for run in imported.runs() {
            for figure in run["stated"].as_array().expect("figures") {
                let (name, value) = (
                    figure["name"].as_str().expect("a name"),
                    figure["value"].as_f64().expect("a number"),
                );
                if let (false, Some(recomputed)) = (
                    name.starts_with("tokens") || name.starts_with("runs_per"),
                    figure["recomputed"].as_f64(),
                ) {
                    assert!(
                        (value - recomputed).abs() < 0.011,
                        "{}: {figure}",
                        workspace.display()
                    );
                }
            }
        }
    }
}
