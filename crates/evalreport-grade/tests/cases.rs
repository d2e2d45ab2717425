//! The bench of replies: each with its right grade, and the rule that says so.
//!
//! `tests/cases.jsonl` is ours. `EVALREPORT_GRADER_CASES` names a further file of the same form.

use std::time::Duration;

use evalreport_grade::{GradeError, ReplyGrade, read_grader};
use evalreport_model::document::{self, Fields};
use serde_json::Value;

/// Longest time for a reply of a megabyte. An optimised build takes less than a second; this one is compiled for tests, on busy machines.
const MAX_TIME: Duration = Duration::from_secs(20);

/// What became of one case.
struct GradedCase {
    id: String,
    expected: String,
    found: String,
    why: String,
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // A long reply is written short.
        Value::Object(parts) => {
            let part = |name: &str| parts[name].as_str().unwrap_or_default();
            let times = parts["times"]
                .as_u64()
                .and_then(|times| usize::try_from(times).ok());
            format!(
                "{}{}{}",
                part("before"),
                part("repeat").repeat(times.unwrap_or_default()),
                part("after")
            )
        }
        _ => String::new(),
    }
}

fn name_of(grade: &str, error: Option<&str>) -> String {
    error.map_or_else(|| grade.to_owned(), |error| format!("{grade} {error}"))
}

fn grade_case(line: &str) -> GradedCase {
    let case: Value = serde_json::from_str(line).expect("a case");
    let tree = document::parse("case.json", line).expect("a case");
    let mut problems = Vec::new();
    let mut fields = Fields::new("case.json", &tree, "", &mut problems).expect("a map");
    let grader = read_grader(&mut fields, "grader");
    let reply = text_of(&case["reply"]);
    let started = std::time::Instant::now();
    let found = match &grader {
        None => name_of("error", Some("bad_grader")),
        Some(grader) => match grader.grade(&reply).grade {
            ReplyGrade::Pass => name_of("pass", None),
            ReplyGrade::Fail => name_of("fail", None),
            ReplyGrade::Error(error) => name_of("error", Some(error.name())),
        },
    };
    let took = started.elapsed();
    assert!(
        took < MAX_TIME,
        "{}: {took:?} for {} bytes",
        case["id"],
        reply.len()
    );
    let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
    let told = if grader.is_none() {
        format!(" {problems:?}")
    } else {
        String::new()
    };
    GradedCase {
        id: text("id"),
        expected: name_of(&text("grade"), case["error"].as_str()),
        found,
        why: text("why") + &told,
    }
}

fn check_file(path: &std::path::Path, at_least: usize) {
    let text = std::fs::read_to_string(path).expect("the cases");
    let cases: Vec<GradedCase> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(grade_case)
        .collect();
    assert!(
        cases.len() >= at_least,
        "{} has {} cases",
        path.display(),
        cases.len()
    );
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| case.found != case.expected)
        .map(|case| {
            format!(
                "{}: {} instead of {}: {}",
                case.id, case.found, case.expected, case.why
            )
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases are graded wrongly:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn replies_get_their_right_grade() {
    check_file(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases.jsonl"),
        200,
    );
}

#[test]
fn replies_of_a_further_file_get_their_right_grade() {
    if let Some(path) = std::env::var_os("EVALREPORT_GRADER_CASES") {
        check_file(path.as_ref(), 1);
    }
}

#[test]
fn every_kind_of_error_is_named() {
    assert_eq!(
        GradeError::ALL.map(GradeError::name),
        ["missing", "unparsable", "ambiguous", "unit"]
    );
}
