//! Session files of Claude Code and Codex.

use serde_json::{Value, json};

use super::{Imported, copy};
use crate::support::{Project, result};

const SESSION: &str = "5f0c2c1e-0000-4000-8000-00000000a001";
const PRICES: &str = "version: 1
prices:
  - {model: claude-sonnet-4-5-20250929, usd_per_million: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}}
  - {model: claude-haiku-4-5-20251001, usd_per_million: {input: 1, output: 5, cache_read: 0.1, cache_write: 1.25}}
  - {model: gpt-5.2-codex, usd_per_million: {input: 1.25, output: 10, cache_read: 0.125}}
";

/// The runs as stored, also those that were replaced.
fn stored(project: &Project) -> Vec<Value> {
    let files = project.files("results/imports");
    let texts = files.iter().filter(|file| file.ends_with(".runs.jsonl")).map(|file| project.read(file));
    texts.flat_map(|text| text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<Value>>()).collect()
}

fn only(imported: &Imported) -> Value {
    let [run] = imported.runs().try_into().expect("one run");
    run
}

#[test]
fn each_message_counts_once_however_often_it_is_repeated() {
    let run = only(&Imported::fixture("claude-code/projects"));
    // Blocks of msg_01 repeat its tokens, the first line before all were there; the side chain repeats msg_02 under another request.
    assert_eq!(run["usage"], json!({"input": 30, "cache_write": 3050, "cache_read": 38200, "output": 248}));
    assert_eq!((&run["input_tokens"], &run["total_tokens"], &run["turns"]), (&json!(41280), &json!(41528), &json!(6)));
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (&json!("shop"), &json!("Claude Code"), &json!("claude-sonnet-4-5-20250929"))
    );
    assert_eq!(run["reported_model"], "claude-haiku-4-5-20251001 + claude-sonnet-4-5-20250929");
    assert_eq!((&run["total_calls"], &run["duration_seconds"]), (&json!(2), &json!(330.0)), "two prompts from 9:00:00 to 9:05:30");
    assert_eq!(run["tags"]["tools"], "Bash 1, Edit 1, Grep 1, Read 1, Task 1");
    assert_eq!((&run["agent"], &run["tags"]["session_id"]), (&json!("Claude Code 2.0.14"), &json!(SESSION)));
    assert!(run["cost_usd"].is_null() && run["shared_tests_total"].is_null());
    assert!(!run.to_string().contains("cart"), "nothing that was said is kept");
}

#[test]
fn tokens_cost_what_the_table_says() {
    let project = copy("claude-code");
    project.file("evalreport.yaml", PRICES);
    let report = project.run(["import", "runs/projects", "--format", "json"]);
    assert_eq!(report.code, 0, "{}", report.stderr);
    // Sonnet: 15 in, 2550 written, 37700 read, 206 out; Haiku: 15, 500, 500, 42.
    let usd = (15.0 * 3.0 + 2550.0 * 3.75 + 37700.0 * 0.3 + 206.0 * 15.0 + 15.0 + 500.0 * 1.25 + 500.0 * 0.1 + 42.0 * 5.0) / 1e6;
    let run = &stored(&project)[0];
    assert!((run["cost_usd"].as_f64().expect("a cost") - usd).abs() < 1e-9 && run["cost_source"] == "priced", "{run}, not {usd}");
}

#[test]
fn a_model_without_a_price_has_no_cost() {
    let project = copy("claude-code");
    project.file("evalreport.yaml", PRICES.replace("claude-haiku", "another"));
    let report = project.run(["import", "runs/projects", "--format", "json"]).json();
    assert!(report.to_string().contains("does not price these requests, so that there is no cost: claude-haiku-4-5-20251001"));
    assert!(stored(&project)[0]["cost_usd"].is_null());
}

#[test]
fn older_files_say_what_they_cost() {
    let run = only(&Imported::fixture("claude-code/old-1.jsonl"));
    assert_eq!((&run["cost_source"], &run["usage"]["input"]), (&json!("reported"), &json!(300)));
    assert!((run["cost_usd"].as_f64().expect("a cost") - 0.46).abs() < 1e-12);
    let nameless = only(&Imported::fixture("claude-code/nameless.jsonl"));
    assert_eq!(
        (&nameless["usage"]["input"], &nameless["model"], &nameless["suite"]),
        (&json!(3000), &json!("unknown (nameless.jsonl)"), &json!("sessions"))
    );
}

#[test]
fn a_session_of_a_run_is_no_second_run() {
    let project = copy("claude-code");
    project.result(&result("code-1", "shop", "claude", json!({"tags": {"session": SESSION}})));
    let report = project.run(["import", "runs/projects", "--format", "json"]).json();
    assert_eq!(report["sources"][0]["outcome"], "nothing_new", "{report}");
    assert!(report.to_string().contains("run `code-1` of the store names this session: no second run is added"));
    assert_eq!(project.run(["sql", "select count(*) from runs", "--format", "csv"]).stdout.lines().nth(1), Some("1"));
}

#[test]
fn sessions_of_two_agents_may_have_one_id() {
    let project = Project::new();
    let claude = json!({"type": "assistant", "sessionId": "s1", "message": {"id": "m", "model": "a", "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let codex = json!({"type": "turn_context", "payload": {"model": "b"}});
    project.file("logs/claude.jsonl", format!("{claude}\n")).file("logs/s1.jsonl", format!("{codex}\n"));
    let report = project.run(["import", "logs", "--format", "json"]).json();
    assert_eq!((&report["sources"][0]["outcome"], &report["sources"][1]["outcome"]), (&json!("imported"), &json!("imported")), "{report}");
}

#[test]
fn a_session_that_goes_on_replaces_what_it_was() {
    let project = copy("claude-code");
    let file = format!("runs/projects/-home-dev-shop/{SESSION}.jsonl");
    let whole = project.read(&file);
    let begun: Vec<&str> = whole.lines().take(8).collect();
    project.file(&file, begun.join("\n") + "\n");
    assert_eq!(project.run(["import", "runs/projects"]).code, 0);
    project.file(&file, &whole);
    let again = project.run(["import", "runs/projects", "--format", "json"]).json();
    assert_eq!(again["sources"][0]["runs_replaced"].as_object().map(serde_json::Map::len), Some(1), "{again}");
    let standing = project.run(["sql", "select run_id from runs", "--format", "csv"]).stdout;
    let of_standing = |run: &&Value| standing.contains(run["id"].as_str().expect("an id"));
    let used: Vec<Value> = stored(&project).iter().filter(of_standing).map(|run| run["output_tokens"].clone()).collect();
    assert_eq!(used, [json!(248)]);
}

#[test]
fn a_last_line_that_is_cut_off_leaves_the_rest() {
    let project = copy("claude-code");
    let file = format!("runs/projects/-home-dev-shop/{SESSION}.jsonl");
    let whole = project.read(&file);
    project.file(&file, &whole[..whole.len() - 60]);
    assert_eq!(project.run(["import", "runs/projects"]).code, 0);
    let run = &stored(&project)[0];
    assert_eq!((&run["status"], &run["output_tokens"]), (&json!("failed"), &json!(168)), "without the last message");
}

#[test]
fn codex_counts_each_request_once_and_its_sum_is_checked() {
    let imported = Imported::fixture("codex/rollout-2026-05-13T09-00-00-0199e1a2-0000-7000-8000-00000000c001.jsonl");
    let run = only(&imported);
    assert_eq!(run["usage"], json!({"input": 3300, "cache_read": 13300, "output": 440}));
    assert_eq!((&run["model"], &run["turns"], &run["total_calls"]), (&json!("gpt-5.2-codex"), &json!(3), &json!(2)));
    assert_eq!(
        (&run["suite"], &run["agent"], &run["tags"]["tools"]),
        (&json!("shop"), &json!("Codex 0.58.0"), &json!("apply_patch 1, exec_command 1"))
    );
    assert!(
        run["tags"]["models"]
            .as_str()
            .is_some_and(|models| models.contains("gpt-5.3-codex (input 500; cache read 5500; output 150; requests 1)"))
    );
    assert_eq!(imported.stated(), (4, 4, 0));
    let added = Imported::fixture("codex/reasoning-added.jsonl");
    assert_eq!(added.stated(), (4, 3, 0), "a total to which the reasoning was added once more");
}

#[test]
fn the_files_of_a_folder_are_runs_that_cost_can_be_compared_of() {
    let project = Project::new();
    for (fixture, file) in [("claude-code/old-1.jsonl", "logs/a.jsonl"), ("codex/reasoning-added.jsonl", "logs/b.jsonl")] {
        project.fixture(&format!("import/{fixture}"), file);
    }
    let report = project.run(["import", "logs", "--format", "json"]).json();
    let formats: Vec<&Value> = report["sources"].as_array().expect("sources").iter().map(|source| &source["foreign"]["format"]).collect();
    assert_eq!(formats, ["codex", "claude-code"].iter().rev().collect::<Vec<_>>());
}
