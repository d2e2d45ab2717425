//! What a person sees at a terminal while runs go on.

use std::process::Command;

use crate::support::{BINARY, Project};

/// Starts its arguments at a terminal of their own, and ends as they do.
pub const AT_A_TERMINAL: &str =
    "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// Returns what a terminal shows of a command: every line that was ever on it, without colours and movements.
fn screen(project: &Project, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new("python3");
    command.args(["-c", AT_A_TERMINAL, BINARY]).args(arguments);
    command
        .envs([
            ("COLUMNS", "160"),
            ("HOME", "/nonexistent"),
            ("TERM", "xterm"),
        ])
        .env("PATH", std::env::var("PATH").expect("a path"));
    let movements = regex::Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").expect("a pattern");
    let output = project.output(&mut command);
    (
        output.code,
        movements
            .replace_all(&output.stdout, "\n")
            .replace('\r', "\n"),
    )
}

#[test]
fn runs_are_seen_while_they_come_with_the_reason_of_a_failure() {
    needs!("python3");
    let project = Project::new();
    project.file(
        "questions.yaml",
        "version: 1\nquestions:\n\
         \x20 - {id: q1, question: One?, answers: [one, two], correct_answers: [one]}\n\
         \x20 - {id: q2, question: Two?, answers: [one, two], correct_answers: [two]}\n",
    );
    project.file(
        "evalreport.yaml",
        "version: 1\nagents:\n\
         \x20 - {id: one, type: command, command: [echo, '<answer>one</answer>']}\n\
         \x20 - {id: crash, type: command, command: [sh, -c, 'echo boom >&2; exit 3']}\n\
         tasks:\n  - {id: quiz, type: question_eval, questions_file: questions.yaml}\n",
    );
    let (code, screen) = screen(
        &project,
        &["run", "quiz", "--agent", "one,crash", "--runs", "2"],
    );
    assert_eq!(code, 3, "{screen}");
    let lines: Vec<&str> = screen.lines().map(str::trim).collect();
    let beginning = |begin: &str| lines.iter().filter(|line| line.starts_with(begin)).count();
    assert_eq!(beginning("completed quiz one/none"), 2, "{screen}");
    assert_eq!(beginning("failed    quiz crash/none"), 2, "{screen}");
    // The reason stands where the failure does, and the line that changes counts what is done.
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("item ") && line.contains("boom")),
        "{screen}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("failed ")
            && line.contains("(2 of 4 runs")
            && line.contains("boom")),
        "{screen}"
    );
}
