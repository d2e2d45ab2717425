//! `import` of what harnesses and test runners write: each format by small files of our own, one for each quirk.

mod ctrf;
mod every_eval_ever;
mod helm;
mod junit;
mod lm_eval;
mod samples;

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Project;

/// A project with the files of a fixture below `out`.
fn project(format: &str, fixture: &str) -> Project {
    let project = Project::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(format);
    let from = root.join(fixture);
    for entry in walkdir::WalkDir::new(&from)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
    {
        let path = entry
            .path()
            .strip_prefix(if from.is_file() { &root } else { &from })
            .expect("below the fixture");
        project.bytes(
            &format!("out/{}", path.display()),
            &std::fs::read(entry.path()).expect("the fixture"),
        );
    }
    project
}

/// Imports the fixture: its one source, and the runs it gave by their suites.
#[track_caller]
fn imported(project: &Project, format: &str) -> (Value, Vec<Value>) {
    let report = project.run(["import", "out", "--format", "json"]).json();
    assert_eq!(
        report["sources"].as_array().map(Vec::len),
        Some(1),
        "{report}"
    );
    let source = report["sources"][0].clone();
    assert_eq!(
        (&source["outcome"], &source["foreign"]["format"]),
        (&json!("imported"), &json!(format)),
        "{source}"
    );
    let mut runs: Vec<Value> = source["runs_new"]
        .as_array()
        .expect("runs")
        .iter()
        .map(|id| {
            project
                .run(["show", id.as_str().expect("an id"), "--format", "json"])
                .json()["runs"][0]
                .clone()
        })
        .collect();
    runs.sort_by_key(|run| run["suite"].to_string());
    assert_eq!(project.run(["doctor"]).code, 0);
    (source, runs)
}

fn quirks(source: &Value) -> String {
    source["foreign"]["quirks"].to_string()
}

/// What is stored of every outcome with its details, in the order of the source.
fn stored(project: &Project) -> Vec<Value> {
    let sealed: Vec<String> = project
        .files("results/imports")
        .into_iter()
        .filter(|file| file.ends_with(".items.jsonl.zst"))
        .collect();
    let [file] = sealed.as_slice() else {
        panic!("one source is one pair: {sealed:?}")
    };
    let text =
        zstd::decode_all(std::fs::File::open(project.path(file)).expect("the file")).expect("zstd");
    let outcome = |line: &str| -> Value {
        let mut outcome: Value = serde_json::from_str(line).expect("JSON");
        if let Some(Value::Object(details)) = outcome
            .as_object_mut()
            .and_then(|outcome| outcome.remove("details"))
        {
            outcome.as_object_mut().expect("an outcome").extend(details);
        }
        outcome
    };
    String::from_utf8(text)
        .expect("text")
        .lines()
        .map(outcome)
        .collect()
}

/// The outcomes as item, attempt and status.
fn told(project: &Project) -> Vec<(String, u64, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    stored(project)
        .iter()
        .map(|one| {
            (
                text(&one["item"]),
                one["attempt"].as_u64().unwrap_or(1),
                text(&one["status"]),
            )
        })
        .collect()
}

fn one(item: &str, attempt: u64, status: &str) -> (String, u64, String) {
    (item.to_owned(), attempt, status.to_owned())
}
