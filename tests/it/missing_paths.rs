//! Paths that are not there: every command and every option that reads a path says so in the same words, and writes nothing.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Arg, Command};
use evalreport::cli::command_line;
use rayon::prelude::*;

use crate::support::Project;

/// Paths that are written, made if they are not there, or may be of a file that a change removed.
const NOT_READ: [&str; 22] = [
    "--cache",
    "--log",
    "--results",
    "build --out",
    "build --single-file",
    "eval --output-dir",
    "eval --scratch",
    "export DIR|FILE",
    "gate --junit",
    "gate --markdown",
    "import --write-map",
    "bisect --report",
    "init DIR",
    "skill DIR",
    "run --output-dir",
    "run --scratch",
    "run --site",
    "run --summary",
    "serve --out",
    "serve --single-file",
    "verify --file",
    "verify --scratch",
];
/// What a command needs besides the path.
const BESIDE: [(&str, &[&str]); 6] = [
    ("export --sign-key", &["bundle", "out.bundle"]),
    (
        "gate SUITE|PATH",
        &["--no-new-failures", "--baseline", "answers.csv"],
    ),
    ("import --map", &["answers.csv"]),
    ("import --signed-by", &["answers.csv"]),
    ("leaderboard --matrix", &["--overall", "macro"]),
    ("verify DIR", &["--goal", "works"]),
];
const ABSENT: &str = "nowhere/at all.csv";

/// Returns every option and word of the commands below this one that takes a path, with how it is written.
fn path_arguments(command: &Command, words: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let is_own = |argument: &&Arg| {
        argument.get_action().takes_values() && (!argument.is_global_set() || words.is_empty())
    };
    for argument in command.get_arguments().filter(is_own) {
        let names = argument.get_value_names().unwrap_or_default().join(" ");
        if argument.get_value_parser().type_id() == TypeId::of::<PathBuf>()
            || (names.contains("PATH") && argument.get_id() != "list")
        {
            let name = argument
                .get_long()
                .map_or(names, |long| format!("--{long}"));
            found.push((words.to_vec(), name));
        }
    }
    for below in command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
    {
        let words: Vec<String> = words
            .iter()
            .cloned()
            .chain([below.get_name().to_owned()])
            .collect();
        path_arguments(below, &words, found);
    }
}

/// Runs a command with a path that is not there, and returns what is wrong with its answer.
fn fault(words: &[String], name: &str) -> Option<String> {
    let project = Project::new();
    project.file(
        "answers.csv",
        "question,model,passed\nq1,a,1\nq2,a,0\nq1,b,1\nq2,b,1\n",
    );
    let before = entries(&project);
    let place = place(words, name);
    let beside = BESIDE
        .iter()
        .find(|(of, _)| *of == place)
        .map_or(&[][..], |(_, beside)| beside);
    let mut command: Vec<&str> = words.iter().map(String::as_str).collect();
    let path = format!("{name}={ABSENT}");
    match (name.starts_with("--"), words.is_empty()) {
        (true, true) => command.extend([path.as_str(), "list"]),
        (true, false) => command.extend(beside.iter().copied().chain([path.as_str()])),
        (false, _) => command.extend(beside.iter().copied().chain([ABSENT])),
    }
    let output = project.run(command.iter().copied());
    let said = format!("error: no such file or folder: {ABSENT}\n");
    let hints = output.stderr.matches("hint:").count();
    let is_right = output.code == 2
        && output.stdout.is_empty()
        && output.stderr.starts_with(&said)
        && hints == 1;
    let left: Vec<String> = entries(&project).difference(&before).cloned().collect();
    let shown = || {
        format!(
            "{place}: `{}` left {left:?}\n{}",
            command.join(" "),
            output.snapshot()
        )
    };
    (!is_right || !left.is_empty()).then(shown)
}

/// Names an option of a command. `eval run` is `run`.
fn place(words: &[String], name: &str) -> String {
    let words = if words.len() > 1 && words[0] == "eval" {
        &words[1..]
    } else {
        words
    };
    format!("{} {name}", words.join(" ")).trim().to_owned()
}

fn entries(project: &Project) -> BTreeSet<String> {
    let all = walkdir::WalkDir::new(project.path(""))
        .into_iter()
        .flatten();
    all.map(|entry| entry.path().display().to_string())
        .collect()
}

#[test]
fn every_path_that_is_read_and_not_there_is_named_in_the_same_words() {
    let mut all = Vec::new();
    let mut command = command_line();
    command.build();
    path_arguments(&command, &[], &mut all);
    let is_read =
        |words: &[String], name: &str| !NOT_READ.iter().any(|other| *other == place(words, name));
    let read: Vec<_> = all
        .iter()
        .filter(|(words, name)| is_read(words, name))
        .collect();
    assert!(read.len() > 30, "{} paths", read.len());
    let faults: Vec<String> = read
        .par_iter()
        .filter_map(|(words, name)| fault(words, name))
        .collect();
    assert!(
        faults.is_empty(),
        "{} of {}\n\n{}",
        faults.len(),
        read.len(),
        faults.join("\n")
    );
}
