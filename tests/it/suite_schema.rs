//! The JSON Schemas of `suite.yaml` and of question specs take what the program takes, and refuse what it refuses for its form.

use std::fs;
use std::path::Path;

use evalreport::suite;
use evalreport::verify::Overrides;
use serde_json::{Value, json};

use crate::configuration_schema::{agrees_everywhere, parsed, read};
use crate::schema::validate;
use crate::support::Project;

/// Every key of a suite of code, except `questions` and `type`.
fn suite_of_code() -> Value {
    json!({
        "name": "s",
        "description": "A suite",
        "requirements": "r.md",
        "workspace": "start",
        "language": "python",
        "timeout": "30m",
        "setup": ["make"],
        "server": {"command": "serve {port}", "health_check": "http://localhost:{port}/", "startup_timeout": "30s"},
        "tests": {"shared": ["pytest"], "functional": ["curl x"], "own": ["make test"]},
        "metrics": ["lines_of_code", "complexity"],
        "acceptance_criteria": ["logs in", {"criterion": "adds tasks", "weight": 2, "children": ["by name", {"criterion": "by day"}]}],
        "evaluators": {"efficiency": true, "code_quality": {"limit": 3}},
        "build_command": "make",
        "test_command": "make test",
        "coverage_threshold": 80,
        "static_analysis": ["ruff check ."],
        "goal": "add a page",
        "profile": "smoke",
        "files": ["a.py"],
        "verification": {"lint": false},
        "wrap": ["sandbox"],
        "network": ["setup"],
        "tags": {"team": "search"},
    })
}

/// Returns the program's complaints about `suites/s/suite.yaml` in a folder with the files that it names.
fn refusals(project: &Project, suite: &Value) -> Vec<String> {
    project.file("suites/s/suite.yaml", suite.to_string());
    let mut problems = Vec::new();
    match suite::load_suite(&project.path(""), &project.path("suites/s")) {
        Ok(suite) => {
            // Another reader checks this map.
            if let Some(node) = &suite.verification {
                Overrides::from_node("suite.yaml", "verification", node, &mut problems);
            }
        }
        Err(found) => problems = found,
    }
    problems.iter().map(ToString::to_string).collect()
}

fn project() -> Project {
    let project = Project::new();
    project
        .file("r.md", "Build it.")
        .file("start/x", "")
        .file("q.yaml", "version: 1");
    project
}

#[test]
fn the_program_prints_the_schemas() {
    let project = Project::new();
    for name in ["suite", "questions"] {
        let schema = read(&format!("docs/schemas/{name}.json"));
        assert_eq!(
            project.run(["help", &format!("schemas/{name}")]).answer(),
            schema,
            "{name}"
        );
        let schema: Value = serde_json::from_str(&schema).expect("JSON");
        assert!(
            schema["$id"]
                .as_str()
                .is_some_and(|id| id.ends_with(&format!("/docs/schemas/{name}.json"))),
            "{}",
            schema["$id"]
        );
    }
}

#[test]
fn suites_and_questions_here_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for folder in ["suites", "src/cli/init", "tests/fixtures"] {
        for entry in walkdir::WalkDir::new(root.join(folder))
            .into_iter()
            .filter_map(Result::ok)
        {
            let Ok(text) = fs::read_to_string(entry.path()) else {
                continue;
            };
            let is_yaml = entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "yaml");
            let name = match entry.file_name().to_str() {
                Some("suite.yaml") => "suite",
                Some(file) if is_yaml && suite::parse_questions(file, &text).is_ok() => "questions",
                _ => continue,
            };
            count += 1;
            assert_eq!(
                validate(name, &parsed(&text)),
                Ok(()),
                "{}",
                entry.path().display()
            );
        }
    }
    assert!(count >= 6, "{count}");
}

#[test]
fn schema_and_program_agree_about_every_place_of_a_suite() {
    let project = project();
    let (taken, refused) = agrees_everywhere("suite", &suite_of_code(), &|suite| {
        refusals(&project, suite)
    });
    assert!(taken > 60 && refused > 300, "{taken} {refused}");
    let of_questions = json!({"name": "s", "questions": "q.yaml", "tags": {"a": "b"}});
    agrees_everywhere("suite", &of_questions, &|suite| refusals(&project, suite));
    let of_ralph = json!({"name": "s", "requirements": "r.md", "type": "web"});
    agrees_everywhere("suite", &of_ralph, &|suite| refusals(&project, suite));
    let named = json!({"name": "s", "requirements": "r.md", "tests": {"shared": ["x"]}, "metrics": {"file_count": true, "complexity": {}}});
    agrees_everywhere("suite", &named, &|suite| refusals(&project, suite));
}

#[test]
fn schema_and_program_agree_about_every_place_of_a_question_spec() {
    let whole = json!({"version": 1, "questions": [
        {"id": "q1", "question": "One?", "answers": ["x", "y"], "correct_answers": ["x"], "category": "c", "cluster": "d"},
        {"question": "Two?", "answers": ["x", "y"], "correct_answers": ["x", "y"]},
    ]});
    agrees_everywhere("questions", &whole, &|spec| match suite::parse_questions(
        "q.json",
        &spec.to_string(),
    ) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    });
}
