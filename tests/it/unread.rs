//! What the system would not let be read: it is said, never remembered, and nothing is handed on as if it were whole.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::support::{BINARY, MAP, Output, Project, lines, question, result};

/// Three arms of ten questions each, one of them imported, with costs.
fn project() -> Project {
    let project = Project::new();
    for (run, approach, passes) in [("quiz-1", "a", 8), ("quiz-2", "b", 3)] {
        project.result(&result(run, "quiz", approach, json!({"cost_usd": 0.5})));
        let items: Vec<_> = (0..10)
            .map(|number| {
                question(
                    &format!("q{number}"),
                    1,
                    if number < passes { "pass" } else { "fail" },
                )
            })
            .collect();
        project.items(run, &items);
    }
    let rows =
        (0..10).map(|number| format!("q{number},c,{}", if number < 5 { "ok" } else { "wrong" }));
    project.file(
        "c.csv",
        lines(std::iter::once("task,approach,result".to_owned()).chain(rows)),
    );
    project.file("map.yaml", MAP);
    let imported = project.run(["import", "c.csv", "--map", "map.yaml"]);
    assert_eq!(imported.code, 0, "{}{}", imported.stdout, imported.stderr);
    project
}

const QUESTIONS: [&[&str]; 4] = [
    &["list", "--format", "json"],
    &["leaderboard", "--format", "json"],
    &["compare", "quiz", "--format", "json"],
    &[
        "sql",
        "select run_id, item, status from items order by run_id, item",
        "--format",
        "json",
    ],
];

fn answers(project: &Project) -> Vec<String> {
    QUESTIONS
        .iter()
        .map(|question| project.run(question.iter().copied()))
        .map(|output| format!("{}{}", output.stdout, output.stderr))
        .collect()
}

/// Runs a command through a shell that limits it first.
fn limited(project: &Project, limit: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limit}; exec \"$@\""), "sh", BINARY])
        .args(arguments);
    project.output(
        command
            .env("COLUMNS", "100")
            .env("HOME", "/nonexistent")
            .env("NO_COLOR", "1"),
    )
}

#[test]
fn a_passing_error_is_said_and_not_remembered() {
    let project = project();
    let truth = answers(&project);
    let mut said = 0;
    for files in 3..14 {
        for arguments in QUESTIONS {
            fs::remove_dir_all(project.path(".evalreport")).expect("it can be deleted at any time");
            let place = QUESTIONS
                .iter()
                .position(|question| *question == arguments)
                .expect("one of them");
            let quiet: Vec<&str> = arguments.iter().copied().chain(["-q"]).collect();
            let output = limited(&project, &format!("ulimit -n {files}"), &quiet);
            let is_whole = truth[place] == output.stdout;
            assert!(
                output.code != 0 || is_whole || output.stderr.contains("cannot read"),
                "{files} {arguments:?}: {}{}",
                output.stdout,
                output.stderr
            );
            said += usize::from(!is_whole && output.code == 0);
            assert_eq!(
                answers(&project),
                truth,
                "after {arguments:?} with {files} files"
            );
        }
    }
    assert!(
        said > 0,
        "some limit lets the program start and not read everything"
    );
}

#[test]
fn what_is_handed_on_is_whole_or_refused() {
    let project = project();
    let handed: [&[&str]; 4] = [
        &["export", "csv", "out", "-q"],
        &["export", "bundle", "out.bundle", "-q"],
        &["list", "--strict"],
        &["gate", "--baseline", "quiz-1", "--max-drop", "2pp", "-q"],
    ];
    let whole: Vec<Output> = handed
        .iter()
        .map(|arguments| project.run(arguments.iter().copied()))
        .collect();
    assert!(
        whole[..3].iter().all(|output| output.code == 0),
        "{}",
        whole[0].stderr
    );
    project.file("results/quiz-2/items.jsonl", "{\"item\": \"q1\", ");
    for arguments in handed {
        let output = project.run(arguments.iter().copied());
        assert_eq!(
            output.code, 2,
            "{arguments:?}: {}{}",
            output.stdout, output.stderr
        );
        assert!(
            output.stderr.contains("quiz-2/items.jsonl:1"),
            "{}",
            output.stderr
        );
    }
}

/// Runs a command with one of its calls refused: call `number` of that name, on `path` if there is one.
fn refused(
    project: &Project,
    call: &str,
    number: usize,
    path: Option<&str>,
    arguments: &[&str],
) -> Output {
    let mut command = Command::new("strace");
    let inject = format!("inject={call}:error=EIO:when={number}");
    command.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        &format!("trace={call}"),
        "-e",
        &inject,
    ]);
    command
        .args(path.iter().flat_map(|path| ["-P", path]))
        .arg(BINARY)
        .args(arguments);
    command.env("PATH", std::env::var("PATH").unwrap_or_default());
    project.output(
        command
            .env("COLUMNS", "100")
            .env("HOME", "/nonexistent")
            .env("NO_COLOR", "1"),
    )
}

#[test]
fn a_length_that_cannot_be_told_is_not_zero() {
    needs!("strace");
    let project = project();
    let truth = answers(&project);
    for number in 1..4 {
        for (arguments, truth) in QUESTIONS.iter().zip(&truth) {
            fs::remove_dir_all(project.path(".evalreport")).expect("it can be deleted at any time");
            let output = refused(
                &project,
                "statx",
                number,
                Some("results/quiz-1/items.jsonl"),
                arguments,
            );
            let is_said = output.stdout == *truth
                || output.stderr.contains("cannot read")
                || output.code != 0;
            assert!(
                is_said,
                "{number} {arguments:?}: {}{}",
                output.stdout, output.stderr
            );
        }
    }
}

#[test]
fn what_is_overlooked_is_not_imported_beside_itself() {
    needs!("strace");
    let project = project();
    // The source holds something else now, so that the new run takes the place of the old one.
    project.file(
        "c.csv",
        project.read("c.csv").replace("q0,c,pass", "q0,c,fail"),
    );
    let import = ["import", "c.csv", "--map", "map.yaml"];
    let before = project.files("results");
    let output = refused(&project, "getdents64", 1, Some("results/imports"), &import);
    assert!(
        output.code == 2 && output.stderr.contains("imported already would lack them"),
        "{}{}",
        output.stdout,
        output.stderr
    );
    assert_eq!(project.files("results"), before);
    assert_eq!(project.run(import).code, 0);
    assert_eq!(project.run(["doctor"]).code, 0);
}

#[test]
fn a_stored_import_that_cannot_be_read_again_is_not_taken_for_another() {
    needs!("strace");
    let project = project();
    project.file(
        "c.csv",
        project.read("c.csv").replace("q0,c,ok", "q0,c,wrong"),
    );
    let import = ["import", "c.csv", "--map", "map.yaml"];
    let bytes = |project: &Project| {
        let files = project.files("results").into_iter();
        files
            .map(|file| {
                (
                    file.clone(),
                    fs::read(project.path(&file)).expect("it is there"),
                )
            })
            .collect::<Vec<_>>()
    };
    let before = bytes(&project);
    let mut refusals = 0;
    for (path, _) in before.iter().filter(|(path, _)| path.contains("imports/")) {
        for number in 1..5 {
            let output = refused(&project, "openat", number, Some(path), &import);
            if output.code == 0 {
                // The import opens the file less often. It replaced the run, so the next case starts from the first store again.
                assert_eq!(project.run(["doctor"]).code, 0);
                fs::remove_dir_all(project.path("results")).expect("the test's own");
                for (file, bytes) in &before {
                    project.bytes(file, bytes);
                }
                break;
            }
            assert!(
                output.code == 2 && output.stderr.contains("cannot read"),
                "{path} {number}: {}{}",
                output.stdout,
                output.stderr
            );
            assert!(bytes(&project) == before, "{path} {number}");
            refusals += 1;
        }
    }
    assert!(refusals > 1, "{refusals}");
    assert_eq!(project.run(import).code, 0);
    assert_eq!(project.run(["doctor"]).code, 0);
}

#[test]
fn a_baseline_is_read_whole_or_refused() {
    needs!("strace");
    let project = project();
    assert_eq!(project.run(["export", "bundle", "all.bundle"]).code, 0);
    let gate = ["gate", "--baseline", "all.bundle", "--max-drop", "2pp"];
    let truth = project.run(gate);
    for number in 1..12 {
        let output = refused(&project, "getdents64", number, None, &gate);
        assert!(
            output.code == 2 || output.stdout == truth.stdout,
            "{number}: {}{}",
            output.stdout,
            output.stderr
        );
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_be_looked_at_is_not_taken_for_nothing() {
    use std::os::unix::fs::symlink;

    let project = project();
    project
        .file("results/quiz-1/output/a.py", "print()\n")
        .file("results/quiz-1/transcript.jsonl", "{\"entry\": {}}\n");
    let bundle = ["export", "bundle", "all.bundle"];
    assert_eq!(project.run(bundle).code, 0);
    for name in ["transcript.jsonl", "output"] {
        let path = project.path(&format!("results/quiz-1/{name}"));
        let aside = project.path("aside");
        fs::rename(&path, &aside).expect("ours");
        symlink(name, &path).expect("a link to itself");
        let output = project.run(bundle);
        assert!(
            output.code == 2 && output.stderr.contains(name),
            "{name}: {}{}",
            output.stdout,
            output.stderr
        );
        fs::remove_file(&path).expect("ours");
        fs::rename(&aside, &path).expect("ours");
    }
    fs::create_dir_all(project.path("suites")).expect("a folder");
    symlink("loop", project.path("suites/loop")).expect("a link to itself");
    let refusal = project
        .run(["run", "loop", "--approach", "a"])
        .refusal()
        .to_owned();
    assert!(!refusal.contains("there is no suite"), "{refusal}");
}

#[test]
fn half_a_tombstone_is_mended_and_a_broken_one_refuses_everything() {
    let project = project();
    let retract = |id: &str| project.run(["retract", id, "--reason", "a power cut", "-q"]);
    assert_eq!(retract("quiz-1").code, 0);
    let tombstones = project.path("results/retractions.jsonl");
    let whole = fs::read_to_string(&tombstones).expect("there");
    // A full disk took the first half of the next line, and the command failed.
    for cut in [1, 10, whole.len() / 2, whole.len() - 2] {
        fs::write(&tombstones, format!("{whole}{}", &whole[..cut])).expect("room");
        let listed = project.run(["list", "--runs", "--format", "csv"]);
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        assert!(listed.column("run").iter().all(|run| run != "quiz-1"));
        assert_eq!(retract("quiz-2").code, 0);
        let left = project.run(["list", "--runs", "--format", "csv"]);
        assert_eq!(left.column("approach"), ["c"], "{}", left.stderr);
        assert_eq!(project.run(["doctor"]).code, 0);
    }
    // A whole line that lost only its line break is a tombstone.
    fs::write(&tombstones, whole.trim_end()).expect("room");
    assert_eq!(retract("quiz-2").code, 0);
    assert_eq!(
        fs::read_to_string(&tombstones)
            .expect("there")
            .lines()
            .count(),
        2
    );

    fs::write(&tombstones, format!("nonsense\n{whole}")).expect("room");
    for arguments in [
        &["list"][..],
        &["leaderboard"],
        &["compare", "quiz"],
        &["build", "--out", "site"],
        &["export", "csv", "out"],
    ] {
        let output = project.run(arguments.iter().copied());
        assert_eq!(output.code, 2, "{arguments:?} {}", output.stdout);
        assert!(
            output
                .stderr
                .contains("retractions.jsonl:1: is not a tombstone"),
            "{}",
            output.stderr
        );
    }
    fs::remove_file(&tombstones).expect("there");
    fs::create_dir(&tombstones).expect("room");
    let output = project.run(["list"]);
    assert!(
        output.code == 2 && output.stderr.contains("retractions.jsonl: cannot read"),
        "{}",
        output.stderr
    );
}
