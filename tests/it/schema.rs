//! The committed JSON Schemas are those of the code, and real answers keep to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Project, question, result};
use evalreport::suite;

fn committed(command: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/schemas")
        .join(format!("{command}.json"))
}

/// `EVALREPORT_UPDATE_SCHEMAS=1 cargo test schemas` writes them anew.
#[test]
fn committed_schemas_are_up_to_date() {
    let update = std::env::var_os("EVALREPORT_UPDATE_SCHEMAS").is_some();
    let schemas = evalreport::cli::answer_schemas();
    let answers = schemas
        .into_iter()
        .chain([("records", evalreport::results::records_schema())]);
    let (repository, verification) = (
        include_str!("../../packaging/repository"),
        evalreport::verify::Overrides::form,
    );
    let files = [
        (
            evalreport::config::SCHEMA_NAME,
            evalreport::config::json_schema(verification(), repository),
        ),
        (
            suite::SCHEMA_NAME,
            suite::suite_schema(verification(), repository),
        ),
        (suite::QUESTIONS_SCHEMA, suite::questions_schema(repository)),
    ];
    let answers = answers.map(|(name, schema)| (name, serde_json::to_string_pretty(&schema)));
    let mut known = BTreeSet::new();
    for (command, schema) in
        answers.chain(files.map(|(name, schema)| (name, serde_json::to_string_pretty(&schema))))
    {
        let text = schema.expect("a schema is JSON") + "\n";
        let path = committed(command);
        known.insert(path.clone());
        if update {
            fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
            fs::write(&path, &text).expect("the schema can be written");
        }
        assert_eq!(
            fs::read_to_string(&path).unwrap_or_default(),
            text,
            "{} is outdated",
            path.display()
        );
    }
    for entry in fs::read_dir(committed("any").with_file_name("")).expect("the folder") {
        let path = entry.expect("an entry").path();
        assert!(known.contains(&path), "{} has no code", path.display());
    }
}

/// Holds an answer against the committed schema.
pub fn validate(command: &str, answer: &Value) -> Result<(), String> {
    let schema: Value = serde_json::from_str(
        &fs::read_to_string(committed(command)).expect("the schema is committed"),
    )
    .expect("JSON");
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler
        .add_resource("answer.json", schema)
        .expect("a resource");
    let index = compiler
        .compile("answer.json", &mut schemas)
        .expect("a schema");
    schemas
        .validate(answer, index)
        .map_err(|error| error.to_string())
}

/// A store with something of everything: repeats, failures, outages, items with attempts, scores, stated figures, an import.
fn everything() -> Project {
    let project = Project::new();
    project
        .fixture("golden/ralph.json", "results/ralph.json")
        .fixture("golden/oneshot.json", "results/oneshot.json");
    project.result(&result(
        "failed-1",
        "tasktracker",
        "zero",
        json!({"error": "boom", "tags": {"k": "v"}, "batch_id": "b1"}),
    ));
    project.result(&result(
        "infra-1",
        "tasktracker",
        "zero",
        json!({"status": "infra", "batch_id": "b1"}),
    ));
    let scores = json!([{"metric": "quality", "value": 71.5, "unit": "points", "direction": "up", "n": 12, "standard_error": 1.5,
        "evaluator": "judge", "revision": 0}]);
    let stated = json!([{"name": "pass_rate", "value": 0.6, "unit": "fraction", "recomputed": 0.5, "rounding": 0.0005}]);
    project.result(&result(
        "quiz-1",
        "quiz",
        "a",
        json!({"scores": scores, "stated": stated, "cost_usd": 0.25}),
    ));
    project.result(&result(
        "quiz-2",
        "quiz",
        "b",
        json!({"seed": 7, "suite_version": null, "git": {"rev": "abc", "dirty": true}}),
    ));
    for run in ["quiz-1", "quiz-2"] {
        project.items(
            run,
            &[
                question("q1", 1, "pass"),
                question("q1", 2, "fail"),
                question("q2", 1, "infra"),
                question("q3", 1, "error"),
            ],
        );
    }
    project.file("table.csv", "id,ok\nt1,yes\nt2,no\n").file(
        "map.yaml",
        "format: evalreport/map/1\nname: t\nrows: item\nrun: {suite: {constant: imported}, approach: {constant: x}, model: {constant: y}}\n\
         item: {id: id, kind: {constant: test}, status: {column: ok, values: {yes: pass, no: fail}}}\n",
    );
    assert_eq!(
        project
            .run(["import", "table.csv", "--map", "map.yaml"])
            .code,
        0
    );
    project
}

#[test]
fn real_answers_keep_to_the_schemas() {
    let project = everything();
    let cases: [(&str, &[&str]); 10] = [
        ("compare", &["compare", "tasktracker"]),
        ("compare", &["compare", "quiz", "imported"]),
        ("history", &["history"]),
        ("leaderboard", &["leaderboard"]),
        ("leaderboard", &["leaderboard", "--overall", "macro"]),
        (
            "leaderboard",
            &["leaderboard", "--overall", "micro", "--sort", "cost"],
        ),
        ("list", &["list"]),
        ("list", &["list", "--runs"]),
        ("show", &["show", "quiz-1", "ralph-1", "failed-1"]),
        ("show", &["show", "--suite", "imported"]),
    ];
    for (command, arguments) in cases {
        let answer = project
            .run(arguments.iter().copied().chain(["--format", "json"]))
            .json();
        let version = if matches!(command, "compare" | "leaderboard") {
            2
        } else {
            1
        };
        assert_eq!(answer["schema"], format!("evalreport/{command}/{version}"));
        if let Err(error) = validate(command, &answer) {
            panic!("{arguments:?}: {error}");
        }
    }
}

#[test]
fn gates_of_every_outcome_keep_to_the_schema() {
    let project = everything();
    for (arguments, code) in [
        (
            ["gate", "--baseline", "ralph-1", "--max-drop", "2pp"].as_slice(),
            3,
        ),
        (
            ["gate", "--baseline", "last:1", "--max-cost", "+10%"].as_slice(),
            3,
        ),
        (
            [
                "gate",
                "quiz",
                "--baseline",
                "quiz-1",
                "--must-pass",
                "q2",
                "--must-pass",
                "q3",
                "--max-drop",
                "2pp",
            ]
            .as_slice(),
            1,
        ),
        (["gate", "imported", "--must-pass", "t1"].as_slice(), 0),
    ] {
        let output = project.run(arguments.iter().copied().chain(["--format", "json"]));
        assert_eq!(
            output.code, code,
            "{arguments:?}: {}{}",
            output.stderr, output.stdout
        );
        let mut answer: Value = serde_json::from_str(&output.stdout).expect("the answer is JSON");
        if let Err(error) = validate("gate", &answer) {
            panic!("{arguments:?}: {error}");
        }
        answer["ruling"] = json!("perhaps");
        assert!(validate("gate", &answer).is_err());
    }
}

#[test]
fn imports_keep_to_the_schema() {
    let project = everything();
    project
        .fixture("import/inspect/disagreeing.json", "logs/a.json")
        .file("logs/b.json", "{}");
    for (arguments, code) in [
        (["import", "table.csv", "--map", "map.yaml"].as_slice(), 0),
        (["import", "logs", "--dry-run"].as_slice(), 0),
        (["import", "logs", "table.csv"].as_slice(), 2),
    ] {
        let output = project.run(arguments.iter().copied().chain(["--format", "json"]));
        assert_eq!(
            output.code, code,
            "{arguments:?}: {}{}",
            output.stderr, output.stdout
        );
        let mut answer: Value = serde_json::from_str(&output.stdout).expect("the answer is JSON");
        if let Err(error) = validate("import", &answer) {
            panic!("{arguments:?}: {error}");
        }
        answer["sources"][0]["items"] = json!("some");
        assert!(validate("import", &answer).is_err());
    }
}

#[test]
fn mutilated_answers_do_not() {
    let project = everything();
    let cases: [(&str, &[&str], &str, Value); 8] = [
        (
            "compare",
            &["compare", "tasktracker"],
            "/comparisons",
            Value::Null,
        ),
        (
            "compare",
            &["compare", "tasktracker"],
            "/comparisons/0/suite",
            json!(3),
        ),
        (
            "compare",
            &["compare", "tasktracker"],
            "/comparisons/0/rows/0/leader/kind",
            json!("perhaps"),
        ),
        (
            "leaderboard",
            &["leaderboard"],
            "/suites/0/entries/0/runs",
            json!("many"),
        ),
        ("leaderboard", &["leaderboard"], "/sorted_by", json!("luck")),
        ("list", &["list"], "/runs", json!(-1)),
        ("show", &["show", "quiz-1"], "/runs/0", json!({})),
        ("show", &["show", "quiz-1"], "/schema", json!(1)),
    ];
    for (command, arguments, place, value) in cases {
        let mut answer = project
            .run(arguments.iter().copied().chain(["--format", "json"]))
            .json();
        *answer
            .pointer_mut(place)
            .expect("the place is in the answer") = value;
        assert!(validate(command, &answer).is_err(), "{command}: {place}");
    }
}
