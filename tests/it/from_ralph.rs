//! What users of `ralph eval` bring along: its words, its suites, and its results with zeros for what was not measured.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::support::{Output, Project};

/// The suites of its repository, which name no tests.
const WEB: &str = "name: flask\ndescription: Simple Flask web server\nrequirements: examples/flask_requirements.md\nlanguage: python\n\
                   type: web\ntimeout: 45m\n\nsetup:\n  - mkdir venv && echo 'SEEN=sourced' > venv/activate\n\
                   \x20 - source venv/activate && echo \"$SEEN\" > sourced\n";
const CLI: &str = "name: logagg\ndescription: Log aggregator\nrequirements: examples/flask_requirements.md\nlanguage: go\ntype: cli\n\
                   timeout: 45m\n";

/// Stands in for the program: it tests what another made, from the repository's root.
const RALPH: &str = r#"#!/bin/sh
test "$1 $2 $4" = "eval run --test-only" && test -f "evals/suites/$3/suite.yaml" && test -f "$5/main.py" || exit 9
# The setup has run where there is one, whatever shell it was written for.
test "$3" != flask || grep -q sourced "$5/sourced" || exit 9
echo "  health... ✅ PASS"
echo "  Results: 2 passed, 1 failed out of 3"
printf '\nTests: 2/3 passed\n'
"#;

/// A repository with both suites and a command that makes something.
fn repository() -> Project {
    let project = Project::new();
    project
        .file("evals/suites/flask/suite.yaml", WEB)
        .file("evals/suites/logagg/suite.yaml", CLI)
        .file("examples/flask_requirements.md", "Make it.\n")
        .file("make.sh", "echo made by \"$EVAL_MODEL\" > main.py\n")
        .file("bin/ralph", RALPH)
        .file(
            "evalreport.yaml",
            "version: 1\napproaches:\n  - {id: mine, command: [sh, \"{root}/make.sh\"]}\n",
        );
    let program = project.path("bin/ralph");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))
        .expect("the program can be made one");
    project
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    let path = format!(
        "{}:{}",
        project.path("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let home = tempfile::tempdir().expect("a temporary folder");
    let home = home.path().display().to_string();
    let cache = format!("{home}/.cache");
    project.run_in(
        arguments.iter().copied(),
        &[("PATH", &path), ("HOME", &home), ("XDG_CACHE_HOME", &cache)],
    )
}

#[test]
fn its_suites_load_and_are_tested_by_it() {
    needs!("python3");
    let project = repository();
    for suite in ["flask", "logagg"] {
        let output = run(
            &project,
            &[
                "eval",
                "run",
                suite,
                "--approach",
                "mine",
                "--model",
                "sonnet",
            ],
        );
        assert_eq!(output.code, 0, "{}\n{}", output.stdout, output.stderr);
    }
    let board = run(&project, &["leaderboard", "--format", "csv"]);
    assert_eq!(board.passed(), ["2/3", "2/3"], "{}", board.stdout);

    project.file("evals/suites/logagg/suite.yaml", CLI.replace("cli", "clo"));
    let refused = run(&project, &["eval", "run", "logagg", "--approach", "mine"]);
    assert!(
        refused
            .refusal()
            .contains("`type` must be one of `web`, `cli`, not `clo`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn its_words_are_commands_here() {
    let project = repository();
    for approach in ["ralph", "oneshot"] {
        project.file(
            &format!("results/{approach}.json"),
            result(approach, 18).to_string(),
        );
    }
    let files = ["results/ralph.json,results/oneshot.json"];
    // The tests of its suites are run by its program, which is not there: `--dry-run` says so.
    for (code, typed, meant) in [
        (0, vec!["eval", "list"], vec!["list"]),
        (
            0,
            vec!["eval", "compare", "tasktracker"],
            vec!["compare", "tasktracker"],
        ),
        (
            0,
            vec!["--format", "json", "eval", "compare", "--files", files[0]],
            vec!["--format", "json", "compare", "--files", files[0]],
        ),
        (
            0,
            vec!["eval", "leaderboard", "--format", "csv"],
            vec!["leaderboard", "--format", "csv"],
        ),
        (
            2,
            vec![
                "eval",
                "run",
                "flask",
                "--approach",
                "mine",
                "--runs",
                "3",
                "--dry-run",
            ],
            vec![
                "run",
                "flask",
                "--approach",
                "mine",
                "--runs",
                "3",
                "--dry-run",
            ],
        ),
    ] {
        let (typed, meant) = (project.run(typed), project.run(meant));
        assert_eq!(
            (typed.code, &typed.stdout, &typed.stderr),
            (code, &meant.stdout, &meant.stderr)
        );
    }
    // A file of questions may have any name, and there must be one.
    assert!(project.run(["eval", "./run"]).refusal().contains("run"));
    assert!(project.run(["eval"]).refusal().contains("<QUESTIONS>"));
}

/// As its writer does it: every field, with zeros where nothing was measured.
fn result(approach: &str, passed: u32) -> Value {
    json!({
        "id": format!("0b7e-{approach}"), "suite": "tasktracker", "approach": approach, "model": "sonnet",
        "timestamp": "0001-01-01T00:00:00Z", "duration_seconds": 754.5, "total_calls": 0, "input_tokens": 0, "output_tokens": 0,
        "total_tokens": 0, "cost_usd": 0, "shared_tests_passed": passed, "shared_tests_total": 20, "own_tests_passed": 0,
        "own_tests_total": 0, "files_generated": 12, "lines_generated": 900, "output_dir": "out",
    })
}

const FIGURES: &str = "select u.total_calls, u.input_tokens, u.output_tokens, u.total_tokens, u.cost_usd, r.shared_tests_passed, \
                       r.shared_tests_total, r.own_tests_passed, r.own_tests_total, r.files_generated, r.timestamp \
                       from runs r join usage u on r.run_id = u.run_id";

#[test]
fn its_zeros_are_unknown_however_its_files_are_read() {
    let project = Project::new();
    project.file("evals/results/a.json", result("ralph", 18).to_string());
    let figures = |store: &str| {
        project
            .run(["--results", store, "sql", FIGURES, "--format", "csv"])
            .rows()
    };
    let read = figures("evals/results");
    assert_eq!(
        project
            .run([
                "--results",
                "imported",
                "import",
                "evals/results",
                "--quiet"
            ])
            .code,
        0
    );
    assert_eq!(read, figures("imported"), "read where they lie as imported");
    let known: Vec<(&str, &str)> = read[0]
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    assert_eq!(
        known,
        [
            ("files_generated", "12"),
            ("own_tests_passed", "0"),
            ("own_tests_total", "0"),
            ("shared_tests_passed", "18"),
            ("shared_tests_total", "20"),
        ]
    );

    // A zero that somebody chose to write is one: the other fields are not there.
    project.file(
        "chosen/a.json",
        json!({"id": "a1", "suite": "s", "approach": "a", "model": "m", "cost_usd": 0}).to_string(),
    );
    assert_eq!(
        project
            .run([
                "--results",
                "chosen",
                "sql",
                "select cost_usd from usage",
                "--format",
                "csv"
            ])
            .column("cost_usd"),
        ["0"]
    );
    // More passed than there were is no word for unknown.
    let mut wrong = result("ralph", 18);
    wrong["shared_tests_total"] = json!(0);
    project.file("wrong/a.json", wrong.to_string());
    assert!(
        project
            .run(["--results", "wrong", "doctor"])
            .stdout
            .contains("18 passed of 0")
    );
}
