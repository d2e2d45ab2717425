//! The files behind two leaderboards: METR's runs and HAL's uploads.

use serde_json::{Value, json};

use super::{Imported, cut};
use crate::support::Project;

fn of_approach(imported: &Imported, approach: &str) -> Value {
    imported
        .runs()
        .into_iter()
        .find(|run| run["approach"] == approach)
        .expect("the run")
}

#[test]
fn metr_counts_what_is_binarized_and_says_whose_fault_it_was() {
    let imported = Imported::fixture("metr/runs.jsonl");
    let statuses = "select approach, item, attempt, items.status from items join runs using (run_id) where approach = 'Small 1' \
                    order by item, attempt";
    assert_eq!(
        imported.sql(statuses),
        [
            "Small 1 small_tasks/click 1 error",
            "Small 1 web_server/add_route 1 pass",
            "Small 1 web_server/add_route 2 limit",
            "Small 1 web_server/fix_cache 1 fail",
        ]
    );
    let small = of_approach(&imported, "Small 1");
    assert_eq!(
        (
            &small["model"],
            &small["shared_tests_passed"],
            &small["shared_tests_total"]
        ),
        (&json!("small-1-2025-01-01"), &json!(1), &json!(4))
    );
    assert_eq!(
        (&small["cost_usd"], &small["total_tokens"]),
        (&json!(6.0), &json!(8000))
    );
    assert_eq!(
        of_approach(&imported, "human")["cost_usd"],
        json!(null),
        "people have no cost of generation"
    );
    let item = imported
        .items()
        .into_iter()
        .find(|item| item["attempt"] == 2 && item["status"] == "limit")
        .expect("the second attempt");
    assert_eq!(
        (
            &item["cluster"],
            &item["category"],
            &item["duration_seconds"]
        ),
        (&json!("web_server"), &json!("HCAST"), &json!(90.0))
    );
    assert!(
        item.to_string().contains("fatal error from usageLimits")
            && item.to_string().contains("human_minutes"),
        "{item}"
    );
}

#[test]
fn metr_weights_are_checked() {
    // Big 1: half of add_route and all of fix_cache at the root of two each, and all of click.
    let imported = Imported::fixture("metr/runs.jsonl");
    let score = &of_approach(&imported, "Big 1")["scores"][0];
    let root = 1.0 / 2.0_f64.sqrt();
    let expected = (1.5 * root + 1.0) / (2.0 * root + 1.0);
    assert!(
        (score["value"].as_f64().expect("a score") - expected).abs() < 1e-12,
        "{score}, not {expected}"
    );
    assert_eq!(imported.stated(), (3, 3, 0));
    assert_eq!(
        Imported::fixture("metr/other-weights.jsonl").stated(),
        (1, 0, 0)
    );
}

#[test]
fn a_cut_line_of_metr_is_refused_and_the_rest_is_there() {
    let project = Project::new();
    project.fixture("import/metr/runs.jsonl", "runs.jsonl");
    let bytes = project.read("runs.jsonl").len();
    cut(&project, "runs.jsonl", bytes - 40);
    let report = project
        .run(["import", "runs.jsonl", "--format", "json"])
        .json();
    assert_eq!(
        (
            &report["sources"][0]["rows_refused"],
            &report["sources"][0]["rows_accepted"]
        ),
        (&json!(1), &json!(8)),
        "{report}"
    );
}

#[test]
fn hal_names_the_tasks_that_were_solved() {
    let imported = Imported::fixture("hal/gaia_UPLOAD.json");
    assert_eq!(imported.statuses(), ["t1 1 pass", "t2 1 pass", "t3 1 fail"]);
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (
            &json!("gaia"),
            &json!("Generalist (big-1)"),
            &json!("big-1-2026-01-01")
        )
    );
    assert_eq!(
        (
            &run["cost_usd"],
            &run["input_tokens"],
            &run["output_tokens"]
        ),
        (&json!(1.25), &json!(1000), &json!(200))
    );
    assert_eq!(imported.stated(), (1, 1, 0), "0.6667 of two thirds");
    assert!(
        !run.to_string().contains("secret")
            && imported
                .items()
                .iter()
                .any(|item| item["duration_seconds"] == 60.0)
    );
    let alone = Imported::fixture("hal/accuracy-alone.json");
    let [run] = alone.runs().try_into().expect("one run");
    assert_eq!(
        (
            &run["scores"][0]["metric"],
            &run["scores"][0]["value"],
            &run["cost_usd"]
        ),
        (&json!("accuracy"), &json!(0.25), &json!(null))
    );
}

#[test]
fn an_encrypted_upload_is_the_same_run() {
    let encrypted = Imported::fixture("hal-encrypted/gaia.zip");
    let plain = Imported::fixture("hal/gaia_UPLOAD.json");
    assert_eq!(encrypted.statuses(), plain.statuses());
    assert_eq!(encrypted.runs()[0]["id"], plain.runs()[0]["id"]);
}

#[test]
fn another_password_is_said_to_be_one() {
    let project = Project::new();
    project.fixture("import/hal-encrypted/other-password.zip", "traces.zip");
    let output = project.run(["import", "traces.zip"]);
    assert_eq!(output.code, 2);
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(
        said.contains("gaia_UPLOAD.json.encrypted")
            && said.contains("another password than the published one"),
        "{said}"
    );
    assert!(!said.contains("hal1234"));
}

#[test]
fn epochs_runs_are_read_by_the_ready_map() {
    let project = Project::new();
    let rows = [
        "\u{feff}id,task,model,Best score (across scorers),Scores,log viewer,logs,job,started_at,Status,Manual evaluation,task version",
        "a1,GPQA diamond,big-1_medium,0.850,choice:0.85±0.02,,,,17 November 2025 4:28pm,Success,,1.0.1",
        "a2,GPQA diamond,big-1_low,0.702,choice:0.7±0.03,,,,17 November 2025 5:28pm,Success,,1.0.1",
        "a3,MATH level 5,big-1_low,0.89,\"exact_match:0.88±0.01,model_graded:0.89±0.01\",,,,1 June 2025 5:28am,Success,,1.0.0",
    ];
    project.file("benchmarks_runs.csv", rows.join("\n") + "\n");
    let map = format!(
        "{}/docs/look-up/import/epoch.yaml",
        env!("CARGO_MANIFEST_DIR")
    );
    let report = project
        .run([
            "import",
            "benchmarks_runs.csv",
            "--map",
            &map,
            "--format",
            "json",
        ])
        .json();
    assert_eq!(
        (
            &report["sources"][0]["rows_accepted"],
            &report["sources"][0]["rows_refused"]
        ),
        (&json!(3), &json!(0)),
        "{report}"
    );
    let board = project
        .run(["leaderboard", "GPQA diamond", "--format", "csv"])
        .stdout;
    assert!(
        board.contains("big-1_medium") && board.contains("0.85") && board.contains("0.702"),
        "{board}"
    );
}
