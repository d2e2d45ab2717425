//! Completions in real shells: what a shell makes of a line when Tab is pressed, and what it offers.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::programs::Start as _;
use crate::support::{BINARY, Project};
use crate::terminal::AT_A_TERMINAL;

/// A project with two suites, a task, and approaches and agents of its own.
fn project() -> Project {
    let project = Project::new();
    project.file(
        "evalreport.yaml",
        "version: 1\nagents:\n\
         \x20 - {id: careful, type: command, command: [cat], model: tortoise}\n\
         \x20 - {id: hasty, type: command, command: [cat], model: hare}\n\
         approaches:\n  - {id: planned, command: [sh, -c, 'exit 0']}\n  - {id: sketched, command: [sh, -c, 'exit 0']}\n\
         tasks:\n  - {id: warmup, type: question_eval, questions_file: q.yaml}\n",
    );
    project.file("q.yaml", "version: 1\nquestions:\n  - {id: q1, question: One?, answers: [a, b], correct_answers: [a]}\n");
    project.file(
        "suites/greeting/suite.yaml",
        "name: greeting\ndescription: A greeting\nquestions: questions.yaml\n",
    );
    project.file("suites/greeting/questions.yaml", project.read("q.yaml"));
    project
}

fn path() -> String {
    let own = Path::new(BINARY)
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    format!("{own}:{}", std::env::var("PATH").expect("a path"))
}

/// Gathers what is written until it holds the text.
fn wait_for(written: &Receiver<Vec<u8>>, all: &mut String, text: &str) {
    let started = Instant::now();
    while !all.contains(text) {
        let left = Duration::from_secs(30).saturating_sub(started.elapsed());
        let Ok(bytes) = written.recv_timeout(left) else {
            panic!("no {text}: {all}")
        };
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
}

/// Types a line at the prompt of a shell, presses Tab, and returns the line that is there then.
fn completed(project: &Project, shell: &[&str], setup: &str, line: &str) -> String {
    let mut command = Command::new("python3");
    command
        .args(["-c", AT_A_TERMINAL])
        .args(shell)
        .current_dir(project.path(""));
    command.envs([
        ("HOME", "/nonexistent"),
        ("TERM", "xterm"),
        ("PATH", &path()),
    ]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.start();
    let (send, written) = channel();
    let mut output = child.stdout.take().expect("piped");
    thread::spawn(move || {
        let mut block = [0; 4096];
        while let Ok(read @ 1..) = output.read(&mut block) {
            if send.send(block[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut keys = child.stdin.take().expect("piped");
    let mut all = String::new();
    let mut press = |text: &str| {
        keys.write_all(text.as_bytes())
            .and_then(|()| keys.flush())
            .expect("the shell reads");
    };
    // The marks are told from their echo.
    press(&format!("{setup}; echo REA''DY\n"));
    wait_for(&written, &mut all, "READY");
    // The line becomes the arguments of `echo`: Control-A goes to its beginning.
    press(&format!("{line}\t\u{1}echo DO''NE \n"));
    wait_for(&written, &mut all, "DONE ");
    wait_for(&written, &mut all, "\n");
    press("exit\n");
    child.wait();
    let line = all
        .rsplit("DONE ")
        .next()
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default();
    line.trim_end().to_owned()
}

/// Each line before Tab, and after it.
const LINES: [(&str, &str); 5] = [
    ("evalreport run gree", "evalreport run greeting"),
    ("evalreport run warm", "evalreport run warmup"),
    (
        "evalreport run greeting --approach planned,sk",
        "evalreport run greeting --approach planned,sketched",
    ),
    (
        "evalreport run --model tort",
        "evalreport run --model tortoise",
    ),
    (
        "evalreport eval q.yaml --agent has",
        "evalreport eval q.yaml --agent hasty",
    ),
];

#[test]
fn bash_completes_what_can_be_run() {
    needs!("python3");
    let project = project();
    for (before, after) in LINES {
        let shell = ["bash", "--norc", "--noprofile", "-i"];
        assert_eq!(
            completed(
                &project,
                &shell,
                "source <(evalreport completions bash)",
                before
            ),
            after
        );
    }
}

#[test]
fn zsh_completes_what_can_be_run() {
    needs!("zsh", "python3");
    let project = project();
    let setup = "autoload -U compinit; compinit -u -D; source <(evalreport completions zsh)";
    for (before, after) in LINES {
        assert_eq!(
            completed(&project, &["zsh", "-f", "-i"], setup, before),
            after
        );
    }
}

#[test]
fn fish_offers_what_can_be_run() {
    needs!("fish");
    let project = project();
    let offered = |line: &str| {
        let script = format!("evalreport completions fish | source; complete -C '{line}'");
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "-c", &script])
            .env("PATH", path())
            .env("HOME", project.path(""));
        project.output(&mut fish).stdout
    };
    for (before, after) in LINES {
        let word = after.rsplit(' ').next().expect("a word");
        assert!(
            offered(before)
                .lines()
                .any(|line| line.split('\t').next() == Some(word)),
            "{before}: {}",
            offered(before)
        );
    }
    assert!(
        offered("evalreport run gree").contains("greeting\tA greeting"),
        "what is told of a suite"
    );
    // A configuration that cannot be read offers nothing, and says nothing.
    project.file("evalreport.yaml", "version: [");
    assert_eq!(offered("evalreport run --approach pla"), "");
}
