//! Runs test vectors, each a method's name, an input and the expected numbers, against the statistics.
//!
//! The vectors of `tests/fixtures/vectors` are the project's own. Another file of the same shape can be named by `EVALREPORT_ORACLE`; it
//! may hold methods that are not built here, which are counted and not held against it.

mod inference;
mod input;
mod models;
mod planning;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use self::input::Input;

enum Outcome {
    Passed,
    Failed(String),
    NotBuilt,
}

/// Runs one case.
fn run(case: &Value) -> Outcome {
    let (method, input) = (
        case["method"].as_str().unwrap_or_default(),
        Input(&case["input"]),
    );
    let Some(got) = inference::compute(method, &input)
        .or_else(|| planning::compute(method, &input))
        .or_else(|| models::compute(method, &input))
    else {
        return Outcome::NotBuilt;
    };
    let tolerance = |key: &str| case["tolerance"][key].as_f64().unwrap_or(0.0);
    match differs(&got, &case["expected"], tolerance("abs"), tolerance("rel")) {
        None => Outcome::Passed,
        Some(text) => Outcome::Failed(format!("{} of {}: {text}", case["method"], case["input"])),
    }
}

/// Where two values differ by more than the tolerance; an expected `null` wants no value. An expected object may be one `null` for all.
fn differs(got: &Value, expected: &Value, abs: f64, rel: f64) -> Option<String> {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            expected.iter().find_map(|(key, expected)| {
                let got = got.get(key).unwrap_or(&Value::Null);
                differs(got, expected, abs, rel).map(|text| format!("{key}: {text}"))
            })
        }
        (Value::Object(got), Value::Null) => {
            differs(&Value::Object(got.clone()), &all_null(got), abs, rel)
        }
        (Value::Array(got), Value::Array(expected)) if got.len() == expected.len() => got
            .iter()
            .zip(expected)
            .find_map(|(got, expected)| differs(got, expected, abs, rel)),
        (Value::Number(got_number), Value::Number(number)) => {
            let (one, other) = (got_number.as_f64()?, number.as_f64()?);
            ((one - other).abs() > abs + rel * other.abs())
                .then(|| format!("got {got}, expected {expected}"))
        }
        _ => (got != expected).then(|| format!("got {got}, expected {expected}")),
    }
}

fn all_null(object: &Map<String, Value>) -> Value {
    Value::Object(
        object
            .keys()
            .map(|key| (key.clone(), Value::Null))
            .collect(),
    )
}

/// What became of the cases of a file.
#[derive(Default)]
struct Report {
    passed: usize,
    failed: Vec<String>,
    not_built: BTreeMap<String, usize>,
}

fn run_file(path: &Path) -> Report {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut report = Report::default();
    for case in file["cases"].as_array().expect("a list of cases") {
        match run(case) {
            Outcome::Passed => report.passed += 1,
            Outcome::Failed(text) => report.failed.push(text),
            Outcome::NotBuilt => {
                *report
                    .not_built
                    .entry(case["method"].to_string())
                    .or_default() += 1;
            }
        }
    }
    report
}

#[test]
fn vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vectors");
    let files = std::fs::read_dir(folder).expect("the vectors are part of the package");
    let mut passed = 0;
    for file in files.map(|file| file.expect("a readable folder").path()) {
        let report = run_file(&file);
        assert!(
            report.failed.is_empty(),
            "{}:\n{}",
            file.display(),
            report.failed.join("\n")
        );
        assert!(
            report.not_built.is_empty(),
            "{}: no such method: {:?}",
            file.display(),
            report.not_built
        );
        passed += report.passed;
    }
    assert!(passed > 100, "only {passed} vectors were found");
}

#[test]
#[ignore = "computes test vectors: EVALREPORT_ORACLE names their file"]
fn oracle() {
    let path = crate::needs::named("EVALREPORT_ORACLE");
    let report = run_file(Path::new(&path));
    let not_built: usize = report.not_built.values().sum();
    let ran = report.passed + report.failed.len();
    eprintln!(
        "{ran} vectors ran, {} passed; {not_built} were of methods not built: {:?}",
        report.passed, report.not_built
    );
    assert!(
        report.failed.is_empty(),
        "{} failed:\n{}",
        report.failed.len(),
        report.failed.join("\n")
    );
    assert!(ran > 0, "the file has no vector of a method that is built");
}

#[test]
fn a_wrong_number_fails() {
    let case = |p: Value| json!({ "method": "mcnemar", "input": { "b": 1, "c": 7 }, "expected": { "p_exact": p }, "tolerance": { "abs": 1e-12 } });
    assert!(matches!(run(&case(json!(0.070_312_5))), Outcome::Passed));
    assert!(matches!(run(&case(json!(0.070_3))), Outcome::Failed(_)));
    assert!(matches!(run(&case(Value::Null)), Outcome::Failed(_)));
    assert!(matches!(
        run(&json!({ "method": "horoscope" })),
        Outcome::NotBuilt
    ));
}
