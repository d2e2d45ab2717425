//! promptfoo: every version's JSON, and JSON lines.

use serde_json::{Value, json};

use super::{Imported, cut, samples};
use crate::support::Project;

/// Outcomes as `model item-without-its-hash attempt status`, sorted.
fn outcomes(imported: &Imported) -> Vec<String> {
    let rows = imported.sql("select model, item, attempt, items.status from items join runs using (run_id) order by model, item, attempt");
    rows.iter()
        .map(|row| {
            row.split(' ')
                .filter(|word| !word.starts_with('#'))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

const TWICE: [&str; 10] = [
    "openai:m-1 boom 1 error",
    "openai:m-1 q=capital of France 1 fail",
    "openai:m-1 q=capital of France 2 fail",
    "openai:m-1 sum 1 pass",
    "openai:m-1 sum 2 pass",
    "openai:m-2 boom 1 pass",
    "openai:m-2 q=capital of France 1 fail",
    "openai:m-2 q=capital of France 2 fail",
    "openai:m-2 sum 1 pass",
    "openai:m-2 sum 2 fail",
];

#[test]
fn repeats_are_told_apart_by_their_places() {
    let imported = Imported::fixture("promptfoo/repeat-two.json");
    assert_eq!(outcomes(&imported), TWICE);
    let runs = imported.runs();
    assert_eq!(
        (runs.len(), &runs[0]["suite"], &runs[0]["approach"]),
        (2, &json!("sums"), &json!("Say: {{q}}"))
    );
    assert_eq!(
        (
            &runs[1]["tags"]["provider_label"],
            &runs[0]["tags"]["judge"]
        ),
        (&json!("cheap"), &json!("openai:judge"))
    );
    assert_eq!(
        imported.source()["foreign"]["version"],
        "promptfoo 0.121.20"
    );
    let (checked, agree, unchecked) = imported.stated();
    assert!(
        checked == agree && unchecked == 0 && checked == 20,
        "{checked} {agree} {unchecked}"
    );
    assert!(!imported.has_quirk("statistics count another number of rows"));
}

#[test]
fn what_was_not_measured_is_not_zero() {
    let imported = Imported::fixture("promptfoo/repeat-two.json");
    let row = |model: &str, item: &str| {
        let query = format!(
            "select items.input_tokens, items.output_tokens, items.cost_usd, items.duration_seconds from items join runs using (run_id) \
             where model = '{model}' and item like '{item}%' and attempt = 1"
        );
        imported.sql(&query)[0].clone()
    };
    assert_eq!(row("openai:m-1", "sum"), "100 10 0.001 0.5");
    // An answer from promptfoo's cache took no time and no tokens of its own; an error none that are known.
    assert_eq!(row("openai:m-2", "boom"), "   ");
    assert_eq!(row("openai:m-1", "boom"), "   0.5");
    let sum = imported
        .items()
        .into_iter()
        .find(|item| {
            item["item"]
                .as_str()
                .is_some_and(|name| name.starts_with("sum"))
        })
        .expect("sum");
    let text = sum.to_string();
    assert!(
        text.contains("\"cache_read\":40")
            && text.contains("\"input\":60")
            && text.contains("Say: 2+2"),
        "{text}"
    );
}

fn evaluation() -> Value {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/import/promptfoo/repeat-two.json"
    ));
    serde_json::from_str(&text.expect("readable")).expect("JSON")
}

fn rows(file: &mut Value) -> &mut Vec<Value> {
    file["results"]["results"].as_array_mut().expect("rows")
}

/// Returns the disagreeing figures, and the names of those that nothing can check.
fn doubts(imported: &Imported) -> (u64, Vec<String>) {
    let (checked, agree, _) = imported.stated();
    let stated = imported.source()["foreign"]["stated"].clone();
    let unchecked = stated
        .as_array()
        .expect("figures")
        .iter()
        .filter(|figure| figure["recomputed"].is_null())
        .map(|figure| figure["figure"].as_str().expect("a name").to_owned());
    (checked - agree, unchecked.collect())
}

#[test]
fn tokens_are_those_of_the_answers_wherever_a_row_has_them() {
    let project = Project::new();
    let mut file = evaluation();
    for row in rows(&mut file) {
        let tokens = row["tokenUsage"].take();
        if row["response"].is_object() {
            row["response"]["tokenUsage"] = tokens;
        }
    }
    project.file("moved.json", file.to_string());
    let moved = Imported::path(&project.path("moved.json"));
    assert_eq!(doubts(&moved), (0, vec![]));
    let tokens = "select sum(input_tokens), sum(output_tokens) from items";
    assert_eq!(
        moved.sql(tokens),
        Imported::fixture("promptfoo/repeat-two.json").sql(tokens)
    );
    // Without any, the published sums are neither confirmed nor accused.
    for row in rows(&mut file) {
        row["response"]["tokenUsage"] = Value::Null;
        (row["cost"], row["latencyMs"]) = (Value::Null, Value::Null);
    }
    project.file("bare.json", file.to_string());
    let (disagree, unchecked) = doubts(&Imported::path(&project.path("bare.json")));
    assert_eq!(disagree, 0);
    assert_eq!(
        unchecked[..5],
        [
            "totalLatency",
            "cost",
            "tokens/prompt",
            "tokens/completion",
            "tokens/total"
        ]
    );
}

#[test]
fn single_assertions_are_criteria_of_the_test() {
    let project = Project::new();
    let mut file = evaluation();
    let result = |pass: bool, kind: &str, more: Value| {
        let mut result = json!({"pass": pass, "score": f64::from(u8::from(pass)), "reason": "because",
            "assertion": {"type": kind, "value": "Paris"}});
        result
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        result
    };
    for row in rows(&mut file) {
        let is_sum = row["testCase"]["description"] == "sum";
        let is_first = row["promptIdx"] == 0 && row["testIdx"] == 2;
        let broken = json!({"metadata": {"graderError": true}});
        row["gradingResult"]["componentResults"] = if is_sum {
            let named = json!({"assertion": {"type": "equals", "metric": "right"}});
            json!([result(row["success"] == true, "equals", named)])
        } else if is_first {
            json!([
                result(true, "contains", json!({})),
                result(true, "contains", json!({})),
                result(false, "llm-rubric", broken)
            ])
        } else {
            Value::Null
        };
    }
    for prompt in file["results"]["prompts"].as_array_mut().expect("columns") {
        prompt["metrics"]["assertPassCount"] = json!(4);
        prompt["metrics"]["assertFailCount"] = json!(1);
    }
    project.file("asserted.json", file.to_string());
    let imported = Imported::path(&project.path("asserted.json"));
    let criteria = "select evaluator, items.status, count(*) from items join runs using (run_id) where items.kind = 'criterion' \
        and model = 'openai:m-1' group by evaluator, items.status order by evaluator";
    assert_eq!(
        imported.sql(criteria),
        [
            "contains pass 1",
            "contains (2) pass 1",
            "llm-rubric not_evaluated 1",
            "right pass 2"
        ]
    );
    assert!(
        outcomes(&imported).contains(&"openai:m-1 q=capital of France 1 not_evaluated".to_owned()),
        "a grader that failed says nothing about the answer: {:?}",
        outcomes(&imported)
    );
    for run in imported.runs() {
        let digest = &run["items_digest"];
        assert_eq!(
            digest["items"], digest["hashed"],
            "texts stay comparable: {run}"
        );
    }
    let (disagree, unchecked) = doubts(&imported);
    assert_eq!(
        (disagree, unchecked.len()),
        (1, 0),
        "one of the two sums of the second column passed, and the published count is the first column's"
    );
}

#[test]
fn rows_without_a_head_are_the_same_run() {
    let imported = Imported::fixture("promptfoo/repeat-two-rows.jsonl");
    assert_eq!(outcomes(&imported), TWICE);
    assert_eq!(imported.runs()[0]["suite"], "repeat-two-rows");
    // The same evaluation in both forms is imported once.
    let project = Project::new();
    project
        .fixture("import/promptfoo/repeat-two.json", "out/eval.json")
        .fixture("import/promptfoo/repeat-two-rows.jsonl", "out/eval.jsonl");
    let report = project.run(["import", "out", "--format", "json"]).json();
    let new: Vec<usize> = report["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .filter_map(|source| Some(source["runs_new"].as_array()?.len()))
        .collect();
    assert_eq!(new, [2, 0]);
}

const JUNIT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites errors="1" failures="5" name="promptfoo" skipped="0" tests="10" time="0.1">
  <testsuite errors="1" failures="2" name="[m-1] prompt 1" skipped="0" tests="5" time="0.1" timestamp="TIME">
    <testcase classname="[m-1] prompt 1" name="test 1: sum" time="0.1"></testcase>
  </testsuite>
</testsuites>
"#;

#[test]
fn the_json_of_an_evaluation_is_preferred_to_its_other_exports() {
    let project = Project::new();
    project
        .fixture("import/promptfoo/repeat-two.json", "out/z.json")
        .fixture("import/promptfoo/repeat-two-rows.jsonl", "out/a.jsonl");
    let head: Value = serde_json::from_str(&project.read("out/z.json")).expect("JSON");
    let (results, stats) = (&head["results"], &head["results"]["stats"]);
    let count = |key: &str| stats[key].as_u64().expect("a count");
    assert_eq!(
        [count("successes"), count("failures"), count("errors")],
        [4, 5, 1],
        "as the report has them"
    );
    let time = results["timestamp"].as_str().expect("a time");
    project.file("out/b.xml", JUNIT.replace("TIME", time));
    project.file(
        "out/c.xml",
        JUNIT.replace("TIME", "2020-01-01T00:00:00.000Z"),
    );
    let dry = project.run(["import", "out", "--dry-run"]).stdout;
    assert!(dry.contains("out/a.jsonl: every run of it is in the store or in an earlier file already; nothing to do"), "{dry}");
    let report = project.run(["import", "out", "--format", "json"]).json();
    let by_file = |name: &str| {
        let sources = report["sources"].as_array().expect("sources");
        sources
            .iter()
            .find(|source| source["file"] == name)
            .unwrap_or_else(|| panic!("{name}: {report}"))
    };
    let new = |name: &str| by_file(name)["runs_new"].as_array().expect("runs").len();
    assert_eq!(
        ["out/z.json", "out/a.jsonl", "out/b.xml", "out/c.xml"].map(new),
        [2, 0, 0, 1],
        "{report}"
    );
    assert!(
        by_file("out/b.xml")
            .to_string()
            .contains("the JUnit export of the evaluation in out/z.json")
    );
    let suites = project
        .run([
            "sql",
            "select distinct suite from runs order by suite",
            "--format",
            "csv",
        ])
        .stdout;
    assert_eq!(
        suites.lines().skip(1).collect::<Vec<_>>(),
        ["promptfoo", "sums"],
        "the other report is of another evaluation"
    );
}

#[test]
fn a_line_that_is_cut_off_is_refused_and_the_others_are_kept() {
    let project = Project::new();
    project.fixture("import/promptfoo/repeat-two-rows.jsonl", "rows.jsonl");
    cut(&project, "rows.jsonl", usize::MAX);
    let imported = Imported::path(&project.path("rows.jsonl"));
    assert_eq!(imported.source()["items"], 9);
    assert!(
        imported
            .source()
            .to_string()
            .contains("line 10: is cut off in the middle of the JSON"),
        "{}",
        imported.source()
    );
    for run in imported.runs() {
        let error = "line 10 of the file is cut off, and what came after is lost";
        assert_eq!(
            (&run["status"], &run["error"]),
            (&json!("failed"), &json!(error))
        );
    }
    let strict = project.run(["import", "rows.jsonl", "--strict"]);
    assert_eq!((strict.code, project.path("results").exists()), (2, false));
}

#[test]
fn a_repeat_index_stands_and_missing_rows_are_said() {
    let imported = Imported::fixture("promptfoo/repeat-index-and-rows-missing.json");
    assert_eq!(
        outcomes(&imported),
        ["openai:m-1 sum 1 pass", "openai:m-1 sum 2 pass"]
    );
    assert!(imported.has_quirk("2 of 5 rows of a column are in the file"));
    let (checked, _, unchecked) = imported.stated();
    assert_eq!((checked, unchecked), (0, 4), "what the head states stands");
    assert_eq!(
        imported.runs()[0]["suite"],
        "repeat-index-and-rows-missing",
        "without a description, the file's name"
    );
}

#[test]
fn metrics_without_rows_are_counts() {
    let imported = Imported::fixture("promptfoo/metrics-only.json");
    let counts: Vec<(Value, Value)> = imported
        .runs()
        .iter()
        .map(|run| {
            (
                run["shared_tests_passed"].clone(),
                run["shared_tests_total"].clone(),
            )
        })
        .collect();
    assert_eq!(counts, [(json!(2), json!(5)), (json!(2), json!(5))]);
}

#[test]
fn tables_of_version_2() {
    let imported = Imported::fixture("promptfoo/table-version-2.json");
    let expected = [
        "openai:m-1 q=2+2 1 pass",
        "openai:m-1 q=capital 1 fail",
        "openai:m-2 q=2+2 1 pass",
        "openai:m-2 q=capital 1 error",
    ];
    assert_eq!(outcomes(&imported), expected);
    assert_eq!(imported.stated(), (3, 3, 0));
}

#[test]
fn tables_of_version_1() {
    let imported = Imported::fixture("promptfoo/table-version-1.json");
    assert_eq!(
        outcomes(&imported),
        ["openai:m-1 q=2+2 1 pass", "openai:m-1 q=capital 1 fail"]
    );
    assert_eq!(imported.runs()[0]["suite"], "table-version-1");
}

#[test]
fn a_test_that_was_never_run_has_no_outputs_and_costs_no_other() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/import/promptfoo/table-version-2.json"
    ));
    let mut table: Value = serde_json::from_str(&text.expect("readable")).expect("JSON");
    let body = table["results"]["table"]["body"]
        .as_array_mut()
        .expect("rows");
    body.extend([
        json!({"outputs": null, "vars": ["3+3"]}),
        json!({"outputs": [null], "vars": ["4+4"]}),
        json!({"vars": ["5+5"]}),
    ]);
    let project = Project::new();
    project.file("table.json", table.to_string());
    let report = project
        .run(["import", "table.json", "--format", "json"])
        .json();
    assert_eq!(
        (
            &report["sources"][0]["outcome"],
            &report["sources"][0]["items"]
        ),
        (&json!("imported"), &json!(4))
    );
}

#[test]
fn stated_counts_may_be_any_number() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/import/promptfoo/metrics-only.json"
    ));
    let mut file: Value = serde_json::from_str(&text.expect("readable")).expect("JSON");
    for prompt in file["results"]["prompts"].as_array_mut().expect("columns") {
        (
            prompt["metrics"]["testPassCount"],
            prompt["metrics"]["testFailCount"],
        ) = (json!(u64::MAX), json!(u64::MAX));
    }
    let project = Project::new();
    project.file("huge.json", file.to_string());
    assert_eq!(
        project
            .run(["import", "huge.json", "--format", "json"])
            .json()["sources"][0]["problems"],
        json!([])
    );
}

/// The same as JSON is at hand for whoever has the tool, and says more.
#[test]
fn yaml_and_csv_are_named_with_what_to_do() {
    let project = Project::new();
    project.file(
        "out.yaml",
        "evalId: eval-abc-2026-01-02T03:04:05\nresults:\n  version: 3\n  prompts: []\n",
    );
    project.file("out.csv", "question,[openai:m-1] Say: {{q}}\n2+2,\"[PASS] 4\"\ncapital,\"[FAIL] Expected output\n---\nLyon\"\n");
    for (file, tool) in [
        ("out.yaml", "promptfoo (YAML)"),
        ("out.csv", "promptfoo (CSV)"),
    ] {
        let said = project.run(["import", file]);
        assert!(
            said.code == 2
                && said
                    .stdout
                    .contains(&format!("is a result of {tool}, not supported yet")),
            "{}",
            said.stdout
        );
        assert!(
            said.stdout
                .contains("promptfoo export eval ID -o results.json"),
            "{}",
            said.stdout
        );
    }
    project.file("other.csv", "a [1] b,c\n[x],2\n");
    assert!(
        project
            .run(["import", "other.csv"])
            .refusal()
            .contains("no column has outcomes")
    );
}

#[test]
#[ignore = "reads samples of other tools: EVALREPORT_FORMATS names their folder"]
fn published_samples() {
    let folder = samples("promptfoo");
    for file in ["v3_0.121.20_out.json", "out.jsonl"] {
        let imported = Imported::path(&folder.join(file));
        let count = |query: &str| imported.sql(&format!("select count(*) from {query}"))[0].clone();
        let statuses = [
            "items where kind = 'question'",
            "items where kind = 'question' and status = 'pass'",
            "items where status = 'error'",
            "runs",
        ]
        .map(count);
        assert_eq!(statuses, ["24", "8", "4", "4"], "{file}");
        assert_eq!(
            imported.sql("select count(distinct item), max(attempt) from items"),
            ["3 2"],
            "{file}"
        );
        let (checked, agree, unchecked) = imported.stated();
        assert_eq!((agree, unchecked), (checked, 0), "{file}");
        eprintln!(
            "{file}: 24 rows, 8 passed, 4 errors, 4 columns, 3 tests twice; {checked} stated figures agree"
        );
    }
}
