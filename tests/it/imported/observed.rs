//! What was observed of agents at work: traces of OpenTelemetry and scores of Langfuse.

use serde_json::{Value, json};

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
    assert!(imported.has_quirk("1 spans or events are there again, and count once"));
    assert_eq!(of_model(&imported, "gpt-5.2")["output_tokens"], json!(130));
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
