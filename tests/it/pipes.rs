//! A pipe, a socket or a device in the place of a file: refused with its name, and nothing waits for it.
#![cfg(unix)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::eval;
use crate::programs::Start as _;
use crate::support::{BINARY, Output, Project, question, result};

/// Runs a command that must end by itself.
fn ended(project: &Project, arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command
        .args(["--signal=KILL", "30", BINARY])
        .args(arguments);
    command
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("NO_COLOR", "1");
    let output = project.output(&mut command);
    assert!(
        ![-1, 137].contains(&output.code),
        "{arguments:?} hung: {}{}",
        output.stdout,
        output.stderr
    );
    assert!(
        !output.stderr.contains("panicked"),
        "{arguments:?}: {}",
        output.stderr
    );
    output
}

fn pipe(project: &Project, path: &str) -> PathBuf {
    let place = project.path(path);
    fs::create_dir_all(place.parent().expect("a file has a folder")).expect("room");
    let _ = fs::remove_file(&place);
    assert!(Command::new("mkfifo").arg(&place).finish().status.success());
    place
}

const SAID: &str = "it is a pipe, not a regular file";

#[test]
fn what_a_command_is_given_is_a_file_or_refused() {
    let project = eval::asked();
    project
        .result(&result("quiz-1", "quiz", "a", json!({})))
        .items("quiz-1", &[question("q1", 1, "pass")]);
    project.file("rows.csv", "item,approach,passed\nq1,a,pass\n");
    pipe(&project, "pipe");
    let given: [&[&str]; 8] = [
        &["list", "--config", "pipe"],
        &["eval", "pipe", "--agent", "knows"],
        &["import", "pipe"],
        &["import", "rows.csv", "--map", "pipe"],
        &["gate", "--baseline", "pipe", "--max-drop", "2pp"],
        &["leaderboard", "./pipe"],
        &["judge", "--agreement", "pipe"],
        &["import", "/dev/zero"],
    ];
    for arguments in given {
        let output = ended(&project, arguments);
        assert_eq!(
            output.code, 2,
            "{arguments:?}: {}{}",
            output.stdout, output.stderr
        );
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(
            said.matches("regular file").count(),
            1,
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn what_lies_in_the_project_is_a_file_or_refused() {
    for path in ["evalreport.yaml", "suites/s/suite.yaml", "exclusions.yaml"] {
        let project = Project::new();
        project
            .file("evalreport.yaml", "version: 1\n")
            .result(&result("quiz-1", "quiz", "a", json!({})));
        pipe(&project, path);
        let output = ended(
            &project,
            if path.starts_with("suites") {
                &["run", "s"]
            } else {
                &["compare"]
            },
        );
        assert_eq!(output.code, 2, "{path}: {}{}", output.stdout, output.stderr);
        assert!(
            output.stderr.contains("regular file") || output.stderr.contains("not a file"),
            "{path}: {}",
            output.stderr
        );
    }
}

#[test]
fn what_lies_in_the_store_is_a_file_or_said_not_to_be_read() {
    for path in [
        "results/quiz-2.json",
        "results/quiz-1/items.jsonl",
        "results/quiz-1/scores.jsonl",
        "results/imports/x.runs.jsonl",
    ] {
        let project = Project::new();
        project
            .result(&result("quiz-1", "quiz", "a", json!({})))
            .items("quiz-1", &[question("q1", 1, "pass")]);
        project
            .result(&result("quiz-3", "quiz", "b", json!({})))
            .items("quiz-3", &[question("q1", 1, "fail")]);
        pipe(&project, path);
        for arguments in [
            &["list", "-q"][..],
            &["leaderboard", "-q"],
            &["build", "--out", "site", "-q"],
            &["sql", "select item from items"],
        ] {
            let output = ended(&project, arguments);
            // A site says of every run what there is to say, or nothing.
            let is_refused = arguments[0] == "build" && path.ends_with("items.jsonl");
            assert_eq!(
                output.code,
                if is_refused { 2 } else { 0 },
                "{path} {arguments:?}: {}{}",
                output.stdout,
                output.stderr
            );
            assert!(
                output.stderr.contains(SAID),
                "{path} {arguments:?}: {}",
                output.stderr
            );
        }
        let output = ended(&project, &["doctor"]);
        assert_eq!(output.code, 1, "{path}: {}{}", output.stdout, output.stderr);
        assert!(output.stdout.contains(SAID), "{path}: {}", output.stdout);
    }
    let project = Project::new();
    project.result(&result("quiz-1", "quiz", "a", json!({})));
    pipe(&project, "results/retractions.jsonl");
    for arguments in [
        &["list"][..],
        &["retract", "quiz-1", "--reason", "why", "-q"],
    ] {
        let output = ended(&project, arguments);
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.stdout);
        assert!(
            output.stderr.contains(SAID),
            "{arguments:?}: {}",
            output.stderr
        );
    }
}

#[test]
fn what_lies_in_the_cache_or_a_site_is_a_file_or_made_again() {
    let project = Project::new();
    project
        .result(&result("quiz-1", "quiz", "a", json!({})))
        .items("quiz-1", &[question("q1", 1, "pass")]);
    let commands: [&[&str]; 3] = [
        &["build", "--out", "site"],
        &["sql", "select item from items"],
        &["list"],
    ];
    let before: Vec<String> = commands
        .iter()
        .map(|arguments| ended(&project, arguments).stdout)
        .collect();
    for file in project
        .files(".evalreport")
        .into_iter()
        .chain(["site/index.html".to_owned()])
    {
        pipe(&project, &file);
        for (arguments, before) in commands.iter().zip(&before) {
            let output = ended(&project, arguments);
            assert_eq!(
                (output.code, &output.stdout),
                (0, before),
                "{file} {arguments:?}: {}",
                output.stderr
            );
        }
    }
}

#[test]
fn a_batch_that_is_a_pipe_is_not_resumed() {
    let project = eval::asked();
    assert_eq!(
        project
            .run(["eval", "questions.yaml", "--agent", "knows", "-q"])
            .code,
        0
    );
    let plan = project
        .files("results/batches")
        .into_iter()
        .find(|file| !file.contains(".commits."))
        .expect("a plan");
    pipe(&project, &plan);
    let output = ended(&project, &["run", "--resume"]);
    assert_eq!(output.code, 2, "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains(SAID), "{}", output.stderr);
}
