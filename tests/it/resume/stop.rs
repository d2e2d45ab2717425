//! Ctrl-C: once, twice, and not at all but a kill.

use std::process::Command;
use std::time::{Duration, Instant};

use super::{alive, check, count_lines, only_plan, quiz, start, undisturbed, wait_for};
use crate::programs::Program;
use crate::support::Project;

/// Starts and waits until an agent sleeps.
fn asleep(project: &Project, arguments: &[&str]) -> Program {
    let child = start(project, arguments);
    wait_for("the agent", || {
        count_lines(&project.path("asleep.pids")) > 0
    });
    // So long that the program's guard knows it.
    std::thread::sleep(Duration::from_millis(250));
    assert!(!alive(project, "asleep.pids").is_empty());
    child
}

#[test]
fn once_stops_cleanly_and_says_how_to_go_on() {
    let project = quiz(3);
    let begin = Instant::now();
    let child = asleep(
        &project,
        &[
            "run", "quiz", "--agent", "asleep", "--runs", "2", "--jobs", "2",
        ],
    );
    child.interrupt();
    let output = child.finish();
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        begin.elapsed() < Duration::from_secs(15),
        "agents are asked to end"
    );
    assert!(
        alive(&project, "asleep.pids").is_empty(),
        "{:?}",
        alive(&project, "asleep.pids")
    );
    let id = only_plan(&project, "results")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert!(
        said.ends_with(&format!(
            "stopped. Finished work is kept. Resume: evalreport run --resume {id}\n"
        )),
        "{said}"
    );
    assert!(output.stdout.is_empty());
    assert!(
        project
            .files("results")
            .iter()
            .all(|file| !file.ends_with("items.jsonl") || project.read(file).is_empty()),
        "nothing was decided"
    );
}

#[test]
fn what_it_says_goes_on() {
    let project = quiz(8);
    let arguments = [
        "run",
        "quiz",
        "--agent",
        "asked",
        "--runs",
        "2",
        "--seed",
        "3",
        "--results",
        "kept here",
        "--site",
        "page",
    ];
    let expected = undisturbed(&project, &arguments[..8]);
    std::fs::remove_file(project.path("asked")).expect("it was asked");
    let child = start(&project, &arguments);
    wait_for("questions", || count_lines(&project.path("asked")) > 4);
    child.interrupt();
    let output = child.finish();
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(130), "{said}");
    let command = said
        .lines()
        .last()
        .and_then(|line| line.split_once("Resume: evalreport "))
        .expect("it says how")
        .1;
    assert!(
        command.ends_with(" --results 'kept here' --site page"),
        "{command}"
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("'{}' {command}", crate::support::BINARY)])
        .env("PATH", std::env::var("PATH").unwrap_or_default());
    let resumed = project.output(&mut shell);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    check(&project, "kept here", &expected);
    assert!(project.path("page/index.html").is_file());
    assert!(
        count_lines(&project.path("asked")) <= 16 + 1,
        "nothing is asked twice but what was cut short"
    );
}

#[test]
fn twice_stops_at_once() {
    let project = quiz(3);
    let mut child = asleep(&project, &["run", "quiz", "--agent", "stubborn"]);
    child.interrupt();
    std::thread::sleep(Duration::from_millis(300));
    assert!(
        child.try_wait().expect("ours").is_none(),
        "the agent gets its grace"
    );
    let begin = Instant::now();
    child.interrupt();
    let output = child.finish();
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        begin.elapsed() < Duration::from_secs(4),
        "{:?}",
        begin.elapsed()
    );
    wait_for("the agent to be gone", || {
        alive(&project, "asleep.pids").is_empty()
    });
}

#[test]
fn a_kill_takes_the_agents_along() {
    let project = quiz(3);
    let mut child = asleep(
        &project,
        &["run", "quiz", "--agent", "asleep", "--jobs", "3"],
    );
    child.kill().expect("ours");
    child.wait();
    wait_for("the agents to be gone", || {
        alive(&project, "asleep.pids").is_empty()
    });
}
