//! What was observed of agents at work: traces of OpenTelemetry and scores of Langfuse.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Project;

use super::Imported;

fn of_model(imported: &Imported, model: &str) -> Value {
    imported.runs().into_iter().find(|run| run["model"] == model).expect("the run")
}

#[test]
fn a_trace_is_an_item_and_each_evaluation_an_outcome() {
    let imported = Imported::fixture("opentelemetry/traces");
    let judged = "select evaluator, substr(item, 1, 4), status from items where kind = 'question' order by evaluator, item";
    assert_eq!(
        imported.sql(judged),
        [
            "correctness 0a1b fail",
            "correctness 0c2d pass",
            "correctness 0e3f pass",
            "relevance 0a1b skipped",
            "relevance 0c2d not_evaluated"
        ]
    );
    let ended = "select substr(item, 1, 4), status from items where kind = 'check' order by item";
    assert_eq!(imported.sql(ended), ["0a1b pass", "0c2d error", "0e3f pass"]);
    let refused = imported.source()["refusals"].to_string();
    assert!(refused.contains("a trace that is not there"), "{refused}");
}

#[test]
fn tokens_are_those_of_the_requests_and_the_cache_is_among_them() {
    let imported = Imported::fixture("opentelemetry/traces");
    let run = of_model(&imported, "gpt-5.2");
    assert_eq!((&run["suite"], &run["approach"]), (&json!("shop-agent"), &json!("shopper")));
    // The agent's own span has a sum that nobody adds to those of its requests.
    assert_eq!(run["usage"], json!({"input": 2300, "cache_read": 400, "output": 130}));
    assert_eq!((&run["turns"], &run["total_calls"], &run["duration_seconds"]), (&json!(3), &json!(2), &json!(9.0)));
    let other = of_model(&imported, "claude-sonnet-5");
    assert_eq!(other["usage"], json!({"input": 600, "cache_read": 100, "output": 30}));
    assert!(imported.items().iter().any(|item| item["details"]["tools"] == json!({"search": 1})));
}

#[test]
fn a_span_that_is_exported_again_counts_once() {
    let imported = Imported::fixture("opentelemetry/collector/traces.jsonl");
    assert!(imported.has_quirk("spans and events that repeat others, and count once: 1"));
    assert_eq!(of_model(&imported, "gpt-5.2")["output_tokens"], json!(130));
}

#[test]
fn exports_are_lines_of_any_length_or_a_list() {
    let fixture = Imported::fixture("opentelemetry/collector/traces.jsonl");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import/opentelemetry/collector/traces.jsonl");
    let text = std::fs::read_to_string(path).expect("the fixture");
    let mut exports: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // Longer than what is looked at to tell what a file is.
    let prompt = json!({"key": "prompt", "value": {"stringValue": "x".repeat(400 << 10)}});
    let spans = exports[0]["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().expect("spans");
    spans[0]["attributes"].as_array_mut().expect("attributes").push(prompt);
    let lines: Vec<String> = exports.iter().map(Value::to_string).collect();
    for (name, text) in [
        ("long.jsonl", lines.join("\n") + "\n"),
        ("list.json", format!("[{}]", lines.join(","))),
        ("pretty.json", serde_json::to_string_pretty(&exports).expect("JSON")),
    ] {
        let project = Project::new();
        project.file(name, text);
        let imported = Imported::path(&project.path(name));
        assert_eq!(imported.statuses(), fixture.statuses(), "{name}");
        assert_eq!(of_model(&imported, "gpt-5.2")["usage"], of_model(&fixture, "gpt-5.2")["usage"], "{name}");
    }
    // One line alone, and what is no export.
    let project = Project::new();
    project.file("one.json", lines[0].as_str());
    assert!(!Imported::path(&project.path("one.json")).statuses().is_empty());
    project.file("some.jsonl", format!("{}\n[7]\n", lines[0]));
    let refused = Imported::path(&project.path("some.jsonl")).source()["refusals"].to_string();
    assert!(refused.contains("the export is no object"), "{refused}");
}

#[test]
fn scores_that_say_yes_or_no_pass_and_numbers_are_means() {
    let imported = Imported::fixture("langfuse/page.json");
    let judged = "select evaluator, item, status from items order by evaluator, item";
    assert_eq!(
        imported.sql(judged),
        [
            "correct (annotation) t2/o1 pass",
            "correct (eval) t1 pass",
            "correct (eval) t2 fail",
            "helpful (eval) t1 skipped",
            "helpful (eval) t2 skipped",
            "tone (annotation) t1 skipped",
        ]
    );
    let runs = imported.runs();
    let support = runs.iter().find(|run| run["suite"] == "support").expect("the run");
    let helpful = support["scores"].as_array().expect("scores").iter().find(|score| score["metric"] == "helpful").expect("its mean");
    assert_eq!((&helpful["value"], &helpful["n"]), (&json!(0.5), &json!(2)));
    assert_eq!(imported.stated(), (1, 1, 0));
}

#[test]
fn one_page_of_several_is_said_to_be_one() {
    let imported = Imported::fixture("langfuse/first-page.json");
    assert_eq!(imported.stated(), (1, 0, 0));
    assert!(imported.has_quirk("3 of 7 scores are there"));
    assert_eq!(imported.runs()[0]["tags"]["truncated"], "3 of 7 scores in the file");
}

#[test]
fn lists_and_lines_hold_the_same_scores() {
    let (list, lines) = (Imported::fixture("langfuse/export.json"), Imported::fixture("langfuse/export.jsonl"));
    assert_eq!(list.statuses(), lines.statuses());
    assert_eq!((&list.runs()[0]["suite"], &lines.runs()[0]["suite"]), (&json!("search"), &json!("lines")));
}
