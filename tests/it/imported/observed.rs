//! What was observed of agents at work: traces of OpenTelemetry and scores of Langfuse.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Project;

use super::Imported;

fn of_model(imported: &Imported, model: &str) -> Value {
    imported
        .runs()
        .into_iter()
        .find(|run| run["model"] == model)
        .expect("the run")
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
    assert_eq!(
        imported.sql(ended),
        ["0a1b pass", "0c2d error", "0e3f pass"]
    );
    let refused = imported.source()["refusals"].to_string();
    assert!(refused.contains("a trace that is not there"), "{refused}");
}

#[test]
fn tokens_are_those_of_the_requests_and_the_cache_is_among_them() {
    let imported = Imported::fixture("opentelemetry/traces");
    let run = of_model(&imported, "gpt-5.2");
    assert_eq!(
        (&run["suite"], &run["approach"]),
        (&json!("shop-agent"), &json!("shopper"))
    );
    // The agent's own span has a sum that nobody adds to those of its requests.
    assert_eq!(
        run["usage"],
        json!({"input": 2300, "cache_read": 400, "output": 130})
    );
    assert_eq!(
        (&run["turns"], &run["total_calls"], &run["duration_seconds"]),
        (&json!(3), &json!(2), &json!(9.0))
    );
    let other = of_model(&imported, "claude-sonnet-5");
    assert_eq!(
        other["usage"],
        json!({"input": 600, "cache_read": 100, "output": 30})
    );
    assert!(
        imported
            .items()
            .iter()
            .any(|item| item["details"]["tools"] == json!({"search": 1}))
    );
}

#[test]
fn a_span_that_is_exported_again_counts_once() {
    let imported = Imported::fixture("opentelemetry/collector/traces.jsonl");
    assert!(imported.has_quirk("repeated spans and events, counted once: 1"));
    assert_eq!(of_model(&imported, "gpt-5.2")["output_tokens"], json!(130));
}

#[test]
fn exports_are_lines_of_any_length_or_a_list() {
    let fixture = Imported::fixture("opentelemetry/collector/traces.jsonl");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import/opentelemetry/collector/traces.jsonl");
    let text = std::fs::read_to_string(path).expect("the fixture");
    let mut exports: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    // Longer than what is looked at to tell what a file is.
    let prompt = json!({"key": "prompt", "value": {"stringValue": "x".repeat(400 << 10)}});
    let spans = exports[0]["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array_mut()
        .expect("spans");
    spans[0]["attributes"]
        .as_array_mut()
        .expect("attributes")
        .push(prompt);
    let lines: Vec<String> = exports.iter().map(Value::to_string).collect();
    for (name, text) in [
        ("long.jsonl", lines.join("\n") + "\n"),
        ("list.json", format!("[{}]", lines.join(","))),
        (
            "pretty.json",
            serde_json::to_string_pretty(&exports).expect("JSON"),
        ),
    ] {
        let project = Project::new();
        project.file(name, text);
        let imported = Imported::path(&project.path(name));
        assert_eq!(imported.statuses(), fixture.statuses(), "{name}");
        assert_eq!(
            of_model(&imported, "gpt-5.2")["usage"],
            of_model(&fixture, "gpt-5.2")["usage"],
            "{name}"
        );
    }
    // One line alone, and what is no export.
    let project = Project::new();
    project.file("one.json", lines[0].as_str());
    assert!(
        !Imported::path(&project.path("one.json"))
            .statuses()
            .is_empty()
    );
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
    let support = runs
        .iter()
        .find(|run| run["suite"] == "support")
        .expect("the run");
    let helpful = support["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .find(|score| score["metric"] == "helpful (eval)")
        .expect("its mean");
    assert_eq!((&helpful["value"], &helpful["n"]), (&json!(0.5), &json!(2)));
    assert_eq!(imported.stated(), (1, 1, 0));
}

#[test]
fn observations_beside_scored_traces_are_no_items_of_their_own() {
    let project = Project::new();
    let score = |id: u64, kind: &str, value: &Value, trace: &str, observation: Option<&str>| {
        json!({"id": format!("s{id}"), "name": "solved", "dataType": kind, "value": value, "source": "API",
            "traceId": trace, "observationId": observation, "traceName": "shop"})
    };
    let steps: Vec<Value> = (0..6)
        .map(|step| score(step, "BOOLEAN", &json!(1), "t1", Some(&format!("o{step}"))))
        .collect();
    let mut scores = steps.clone();
    scores.extend([
        score(10, "BOOLEAN", &json!(1), "t1", None),
        score(11, "BOOLEAN", &json!(0), "t2", None),
        score(12, "NUMERIC", &json!(3), "t2", None),
        score(13, "NUMERIC", &json!(9), "t2", Some("o9")),
    ]);
    project.file("all.json", json!(scores).to_string());
    let imported = Imported::path(&project.path("all.json"));
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(1), &json!(2)),
        "of traces"
    );
    assert_eq!(
        imported.sql("select kind, count(*) from items group by kind order by kind"),
        ["check 7", "question 3"]
    );
    let means: Vec<_> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|score| (&score["metric"], &score["value"]))
        .collect();
    assert_eq!(
        means,
        [
            (&json!("solved"), &json!(3.0)),
            (&json!("solved of observations"), &json!(9.0))
        ]
    );
    // Without scores of traces, they are the items.
    project.file("steps.json", json!(steps).to_string());
    let steps = Imported::path(&project.path("steps.json"));
    assert_eq!(steps.runs()[0]["shared_tests_total"], 6);
}

#[test]
fn one_page_of_several_is_said_to_be_one() {
    let imported = Imported::fixture("langfuse/first-page.json");
    assert_eq!(imported.stated(), (1, 0, 0));
    assert!(imported.has_quirk("the file has 3 of 7 scores"));
    assert_eq!(imported.runs()[0]["tags"]["truncated"], "3 of 7 scores");
}

#[test]
fn lists_and_lines_hold_the_same_scores() {
    let (list, lines) = (
        Imported::fixture("langfuse/export.json"),
        Imported::fixture("langfuse/export.jsonl"),
    );
    assert_eq!(list.statuses(), lines.statuses());
    assert_eq!(
        (&list.runs()[0]["suite"], &lines.runs()[0]["suite"]),
        (&json!("search"), &json!("lines"))
    );
}

/// A score of version 3 of the API.
fn score_3(id: u64, data_type: &str, value: &Value, subject: &Value) -> Value {
    json!({"id": format!("s{id}"), "projectId": "p", "name": "solved", "value": value, "dataType": data_type, "source": "API",
        "timestamp": "2026-03-01T10:00:00Z", "environment": "default", "createdAt": "2026-03-01T10:00:00Z",
        "updatedAt": "2026-03-01T10:00:00Z", "subject": subject})
}

#[test]
fn pages_of_scores_are_one_source_and_a_repeated_score_is_one() {
    let project = Project::new();
    let trace = |number: u64| json!({"kind": "trace", "id": format!("t{number}")});
    let page = |from: u64, to: u64| {
        let scores: Vec<Value> = (from..to)
            .map(|number| score_3(number, "BOOLEAN", &json!(number % 3 == 0), &trace(number)))
            .collect();
        json!({"data": scores, "meta": {"limit": 100, "cursor": "c"}}).to_string()
    };
    // The second page begins with the last score of the first.
    project
        .file("pages/1.json", page(0, 100))
        .file("pages/2.json", page(99, 150));
    let imported = Imported::path(&project.path("pages"));
    assert_eq!(
        imported
            .sql("select count(*), sum(case when status = 'pass' then 1 else 0 end) from items"),
        ["150 50"]
    );
    assert!(imported.has_quirk("a repeated score counts once"));
    // Without the field group `subject`, nobody can say what was scored.
    let mut bare = score_3(1, "BOOLEAN", &json!(true), &Value::Null);
    bare.as_object_mut().expect("an object").remove("subject");
    project.file(
        "bare/1.json",
        json!({"data": [bare], "meta": {"limit": 100}}).to_string(),
    );
    let output = project.run(["import", "bare"]);
    assert!(
        format!("{}{}", output.stdout, output.stderr).contains("fields=subject,details"),
        "{}{}",
        output.stdout,
        output.stderr
    );
}

#[test]
fn texts_and_codes_of_categories_are_no_numbers() {
    let project = Project::new();
    let named = |id: u64, name: &str, data_type: &str, value: Value, text: Value| json!({"id": format!("s{id}"), "name": name, "value": value, "stringValue": text, "dataType": data_type, "source": "API", "traceId": "t"});
    let scores = [
        named(1, "note", "TEXT", json!(0), json!("good")),
        named(2, "fix", "CORRECTION", json!(0), json!("better")),
        named(3, "tone", "CATEGORICAL", json!(2), json!("warm")),
        named(4, "grade", "NUMERIC", json!(0.5), Value::Null),
    ];
    project.file("scores.json", json!(scores).to_string());
    let imported = Imported::path(&project.path("scores.json"));
    let scores = imported.runs()[0]["scores"].clone();
    assert_eq!(scores.as_array().map(Vec::len), Some(1), "{scores}");
    assert_eq!(scores[0]["metric"], "grade");
}
