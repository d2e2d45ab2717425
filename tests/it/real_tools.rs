//! Other tools evaluate something afresh, and what they wrote is imported without loss: the numbers here are those that the tools state.
//!
//! `EVALREPORT_INSPECT_PYTHON` names a Python that has `inspect_ai`, and `EVALREPORT_PROMPTFOO` the program. Neither is given a model, a key
//! or a network.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::imported::Imported;
use crate::needs;
use crate::programs::Start as _;
use crate::support::Project;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tools");

/// The program that a variable names, which is to keep what it makes below the project.
fn tool(variable: &str, project: &Project) -> Command {
    let mut command = Command::new(needs::named(variable));
    command.current_dir(project.path("")).envs([
        ("HOME", project.path("home")),
        ("XDG_DATA_HOME", project.path("home/data")),
    ]);
    command
}

/// Runs the tool and returns what it printed; `codes` are those of its ends that are no mishaps.
#[track_caller]
fn carry_out(mut command: Command, codes: &[i32]) -> String {
    let output = command.finish();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output
            .status
            .code()
            .is_some_and(|code| codes.contains(&code)),
        "{stdout}\n{stderr}"
    );
    stdout.into_owned()
}

#[track_caller]
fn close(given: &Value, expected: f64, what: &str) {
    assert!(
        given
            .as_f64()
            .is_some_and(|given| (given - expected).abs() < 1e-9),
        "{what}: {given}, not {expected}"
    );
}

/// What Inspect says of a sample, beside what became of it.
#[track_caller]
fn same_sample(said: &Value, item: &Value) {
    let what = format!("{said}\n{item}");
    let passes = said["values"]["match"] == "C";
    let status = match (&said["error"], &said["limit"], &said["values"]["match"]) {
        (Value::String(_), _, _) => "error",
        (_, _, _) if passes => "pass",
        (_, Value::String(_), _) => "limit",
        (_, _, Value::Null) => "not_evaluated",
        _ => "fail",
    };
    assert_eq!(item["status"], status, "{what}");
    let details = &item["details"];
    if status == "error" {
        assert_eq!(details["reason"], said["error"], "{what}");
        assert!(
            item["score"].is_null() && item["input_tokens"].is_null(),
            "nothing was measured: {what}"
        );
    } else {
        assert_eq!(item["score"], json!(f64::from(u8::from(passes))), "{what}");
        assert_eq!(
            details["scores"]
                .as_object()
                .map_or(0, serde_json::Map::len),
            2,
            "{what}"
        );
        for (name, value) in said["values"]["graded"]
            .as_object()
            .expect("values by name")
        {
            close(
                &details["scores"][name],
                value.as_f64().expect("a number"),
                &what,
            );
        }
        let (all, output) = (
            said["tokens"][0].as_u64().expect("a count"),
            said["tokens"][1].as_u64().expect("a count"),
        );
        assert_eq!(
            (
                item["input_tokens"].as_u64(),
                item["output_tokens"].as_u64()
            ),
            (Some(all - output), Some(output)),
            "{what}"
        );
        assert_eq!(details["answer"], said["answer"], "{what}");
    }
    if said["limit"].is_string() {
        assert_eq!(
            details["reason"],
            format!("limit: {}", said["limit"].as_str().unwrap_or_default()),
            "{what}"
        );
    }
    assert_eq!(details["question"], said["question"], "{what}");
    close(
        &item["duration_seconds"],
        said["seconds"].as_f64().expect("a number"),
        &what,
    );
}

#[test]
fn inspect_evaluates_and_nothing_is_lost() {
    needs!("Inspect AI");
    let project = Project::new();
    let mut inspect = tool("EVALREPORT_INSPECT_PYTHON", &project);
    inspect
        .arg(Path::new(FIXTURES).join("inspect_logs.py"))
        .arg("logs")
        .envs([("INSPECT_DISPLAY", "none"), ("INSPECT_LOG_LEVEL", "error")]);
    let said: Value = serde_json::from_str(carry_out(inspect, &[0]).trim()).expect("JSON");

    let logs = said["fresh"].as_array().expect("two logs");
    assert_eq!(logs.len(), 2);
    for (log, folder) in logs.iter().zip(["eval", "json"]) {
        let imported = Imported::path(&project.path("logs").join(folder));
        let samples = log["samples"].as_array().expect("samples");
        let source = imported.source();
        assert_eq!(
            (&source["rows_read"], &source["rows_accepted"]),
            (&json!(8), &json!(8)),
            "four questions, two epochs: {source}"
        );
        let key = |id: &Value, epoch: &Value| {
            (
                id.as_str().expect("a name").to_owned(),
                epoch.as_u64().expect("a count"),
            )
        };
        let items: BTreeMap<(String, u64), Value> = imported
            .items()
            .into_iter()
            .map(|item| (key(&item["item"], &item["attempt"]), item))
            .collect();
        assert_eq!((samples.len(), items.len()), (8, 8));
        for sample in samples {
            same_sample(sample, &items[&key(&sample["id"], &sample["epoch"])]);
        }
        let statuses: Vec<&str> = items
            .values()
            .filter_map(|item| item["status"].as_str())
            .collect();
        assert_eq!(
            statuses,
            [
                "error", "error", "limit", "limit", "pass", "pass", "fail", "fail"
            ]
        );
        // The five metrics, and the tokens of the model.
        assert_eq!(imported.stated(), (6, 6, 0), "{source}");
        let run = &imported.runs()[0];
        let stated = |name: &str| {
            run["stated"]
                .as_array()
                .and_then(|all| all.iter().find(|one| one["name"] == name))
                .expect("stated")
        };
        for (name, value) in log["metrics"].as_object().expect("metrics") {
            close(
                &stated(name)["value"],
                value.as_f64().expect("a number"),
                name,
            );
            close(
                &stated(name)["recomputed"],
                value.as_f64().expect("a number"),
                name,
            );
        }
        assert_eq!(
            (&run["total_tokens"], &run["status"], &run["tags"]["epochs"]),
            (&log["tokens"], &json!("completed"), &json!("2"))
        );
        assert_eq!(
            (&run["suite"], &run["model"], &run["tags"]["message_limit"]),
            (&json!("fresh"), &json!("mockllm/model"), &json!("6"))
        );
        assert!(
            run["duration_seconds"].is_number() && run["timestamp"].is_string(),
            "{run}"
        );
        assert!(
            source["foreign"]["version"]
                .as_str()
                .is_some_and(|version| version.starts_with("inspect_ai ")),
            "{source}"
        );
    }

    // A retry of a task that fell over stands in its place.
    assert_eq!(
        (&said["failed"]["status"], &said["retried"]["status"]),
        (&json!("error"), &json!("success"))
    );
    let imported = Imported::path(&project.path("logs/retried"));
    let mut runs = imported.runs();
    runs.sort_by_key(|run| run["status"].to_string());
    assert_eq!(
        (&runs[0]["status"], &runs[1]["status"]),
        (&json!("cancelled"), &json!("completed"))
    );
    assert_eq!(runs[0]["tags"]["superseded_by"], runs[1]["id"]);
    assert_eq!(
        (&runs[0]["error"], &runs[1]["shared_tests_passed"]),
        (&json!("RuntimeError('the tool fell over')"), &json!(1))
    );
}

#[test]
fn promptfoo_evaluates_and_nothing_is_lost() {
    needs!("promptfoo");
    let project = Project::new();
    let mut promptfoo = tool("EVALREPORT_PROMPTFOO", &project);
    project
        .file("provider.js", std::fs::read_to_string(Path::new(FIXTURES).join("promptfoo_provider.js")).expect("in the repository"))
        .file(
            "promptfooconfig.yaml",
            "description: fresh\nprompts: ['Say: {{q}}', 'Shout: {{q}}']\n\
         providers: [{id: echo, label: quiet}, {id: 'file://provider.js', label: counted}]\ntests:\n\
         - description: there\n  vars: {q: Paris}\n  assert: [{type: contains, value: Paris, metric: place}]\n\
         - vars: {q: Lyon}\n  assert: [{type: equals, value: Paris}]\n- vars: {q: boom}\n- vars: {q: plain}\n",
        );
    promptfoo
        .args([
            "eval",
            "--repeat",
            "2",
            "--no-cache",
            "--no-table",
            "--no-progress-bar",
            "-o",
            "fresh.json",
            "-o",
            "fresh.jsonl",
        ])
        .env("PROMPTFOO_CONFIG_DIR", project.path("state"))
        .envs([
            ("PROMPTFOO_DISABLE_TELEMETRY", "1"),
            ("PROMPTFOO_DISABLE_UPDATE", "1"),
            ("PROMPTFOO_DISABLE_REMOTE_GENERATION", "true"),
        ]);
    // It ends with 100 where a test fails.
    carry_out(promptfoo, &[0, 100]);
    let log: Value = serde_json::from_str(&project.read("fresh.json")).expect("JSON");
    let rows = log["results"]["results"].as_array().expect("rows");
    assert_eq!(
        rows.len(),
        32,
        "four tests twice, two prompts, two providers"
    );

    for file in ["fresh.json", "fresh.jsonl"] {
        let imported = Imported::path(&project.path(file));
        let source = imported.source();
        // Each assertion of a row is a criterion beside the row: half of the rows have one.
        assert_eq!(
            (&source["rows_read"], &source["rows_accepted"]),
            (&json!(48), &json!(48)),
            "nothing is refused: {source}"
        );
        let (checked, agree, unchecked) = imported.stated();
        assert_eq!(
            (agree, unchecked),
            (checked, 0),
            "{file}: {}",
            source["stated"]
        );
        let stats = &log["results"]["stats"];
        let count = |kind: &str, status: &str| {
            let query =
                format!("select count(*) from items where kind = '{kind}' and status = '{status}'");
            imported.sql(&query)[0].clone()
        };
        assert_eq!(
            ["pass", "fail"].map(|status| count("criterion", status)),
            ["4", "12"]
        );
        let counted = ["pass", "fail", "error"].map(|status| count("question", status));
        assert_eq!(
            counted,
            ["successes", "failures", "errors"].map(|key| stats[key].to_string())
        );
        assert_eq!(counted, ["16", "12", "4"]);
        assert_eq!(
            imported
                .sql("select item, count(*), max(attempt) from items group by item order by item")
                .len(),
            4
        );
        assert_eq!(
            imported.sql("select distinct max(attempt) from items group by item"),
            ["2"]
        );

        // Every row's answer, error, score, tokens, cost and time are there, whatever the order.
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let used = |value: &Value| value.as_u64().unwrap_or(0);
        let mut here: Vec<_> = imported
            .items()
            .iter()
            .filter(|item| item["kind"] == "question")
            .map(|item| {
                let details = &item["details"];
                let error = if item["status"] == "error" {
                    text(&details["reason"])
                } else {
                    String::new()
                };
                let tokens = (used(&item["input_tokens"]), used(&item["output_tokens"]));
                let cost = item["cost_usd"].as_f64().unwrap_or(0.0).to_string();
                let seconds = item["duration_seconds"].as_f64().unwrap_or(0.0);
                (
                    text(&details["reply"]),
                    error,
                    item["score"].as_f64().map(f64::to_bits),
                    tokens,
                    cost,
                    seconds.to_bits(),
                )
            })
            .collect();
        let mut there: Vec<_> = rows
            .iter()
            .map(|row| {
                let error = if row["failureReason"] == 2 {
                    text(&row["error"])
                } else {
                    String::new()
                };
                let tokens = &row["response"]["tokenUsage"];
                let tokens = (used(&tokens["prompt"]), used(&tokens["completion"]));
                let cost = row["cost"].as_f64().unwrap_or(0.0).to_string();
                let seconds = row["latencyMs"].as_f64().unwrap_or(0.0) / 1000.0;
                (
                    text(&row["response"]["output"]),
                    error,
                    row["score"].as_f64().map(f64::to_bits),
                    tokens,
                    cost,
                    seconds.to_bits(),
                )
            })
            .collect();
        here.sort();
        there.sort();
        assert_eq!(here, there, "{file}");
    }
}
