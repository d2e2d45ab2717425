//! `init`: what it writes runs as it is, what it prints works, and nothing of anybody's is replaced.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::support::{BINARY, Output, Project};

/// Takes the commands out of what was printed.
fn commands(printed: &str) -> Vec<&str> {
    printed
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .collect()
}

/// Runs commands in one shell, in which any failure is the end.
fn follow(project: &Project, commands: &[&str]) -> Output {
    let programs = Path::new(BINARY)
        .parent()
        .expect("a program is in a folder")
        .to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&others)));
    let mut shell = Command::new("sh");
    shell
        .args(["-euc", &commands.join("\n")])
        .env("PATH", path.expect("folders without colons"))
        .env("HOME", "/nonexistent");
    project.output(&mut shell)
}

#[test]
fn the_printed_commands_work_in_an_empty_folder() {
    let project = Project::new();
    let printed = project.run(["init"]);
    let commands = commands(printed.answer());
    assert!(commands.len() >= 4, "{commands:?}");
    let followed = follow(&project, &commands);
    assert_eq!(followed.code, 0, "{}{}", followed.stdout, followed.stderr);
    assert!(
        !followed.stderr.contains("warning") && !followed.stderr.contains("trouble"),
        "{}",
        followed.stderr
    );
    // Tests of a script that never varies, and questions of which half can be had by counting letters.
    assert!(
        followed.stdout.contains("The result is fixed."),
        "{}",
        followed.stdout
    );
    let board = |suite| project.run(["leaderboard", suite, "--format", "csv"]);
    assert_eq!(board("hello").passed(), ["15/15", "9/15"]);
    assert_eq!(
        board("warmup").passed().first().map(String::as_str),
        Some("25/50")
    );
    assert!(project.read("site/index.html").contains("hello"));
    assert_eq!(project.run(["doctor"]).code, 0);
}

#[test]
fn another_folder_is_made_and_may_have_any_name() {
    let project = Project::new();
    let printed = project.run(["init", "new/it's mine"]);
    assert!(
        printed.answer().contains("  cd 'new/it'\\''s mine'\n"),
        "{}",
        printed.stdout
    );
    let few: Vec<&str> = commands(printed.answer())
        .into_iter()
        .filter(|line| line.starts_with("cd ") || line.contains("hello"))
        .collect();
    let followed = follow(&project, &few);
    assert_eq!(followed.code, 0, "{}{}", followed.stdout, followed.stderr);
    assert!(
        project
            .files("")
            .iter()
            .all(|file| file.starts_with("new/it's mine/")),
        "everything stays in its folder"
    );
}

#[test]
fn nothing_is_replaced_and_what_is_in_the_way_is_named() {
    let project = Project::new();
    project
        .file("evalreport.yml", "version: 1\n")
        .file("suites/hello/suite.yaml", "mine\n")
        .file("baselines", "a file\n");
    let before = project.files("");
    insta::assert_snapshot!(project.run(["init"]).refusal(), @"
    baselines is already there
    evalreport.yml is already there
    suites/hello/suite.yaml is already there
    error: nothing was written: init replaces no file
      hint: choose an empty folder: evalreport init DIR
    ");
    assert_eq!(project.files(""), before);
    assert_eq!(project.read("suites/hello/suite.yaml"), "mine\n");
    // Twice is once too often.
    assert_eq!(project.run(["init", "other"]).code, 0);
    assert!(
        project
            .run(["init", "other"])
            .refusal()
            .contains("other/evalreport.yaml is already there")
    );
    // What was killed in between is completed, and still replaces nothing.
    std::fs::remove_file(project.path("other/questions/warmup.yaml")).expect("it was written");
    assert_eq!(project.run(["init", "other"]).code, 0);
    assert!(project.path("other/questions/warmup.yaml").is_file());
    std::fs::remove_file(project.path("other/questions/warmup.yaml")).expect("it was written");
    project.file("other/evalreport.yaml", "mine\n");
    assert!(
        project
            .run(["init", "other"])
            .refusal()
            .contains("other/evalreport.yaml is already there")
    );
}

/// Each option is taken by the targets that it is for, and one that is for none of them is refused.
#[test]
fn questions_and_code_stand_in_one_command() {
    let project = Project::new();
    assert_eq!(project.run(["init"]).code, 0);
    let run = |words: &str| {
        project.run(
            ["run", "--dry-run", "--format", "csv"]
                .into_iter()
                .chain(words.split(' ')),
        )
    };
    let arms = |words: &str| -> Vec<String> {
        run(words)
            .rows()
            .iter()
            .map(|row| format!("{}/{}", row["suite"], row["approach"]))
            .collect()
    };
    let both = ["warmup/longest-choice", "hello/complete"];
    assert_eq!(
        arms("warmup hello --agent longest-choice --approach complete"),
        both
    );
    assert_eq!(
        arms("warmup@longest-choice hello --approach complete"),
        both
    );
    assert_eq!(
        arms("warmup hello --approach longest-choice,complete"),
        both
    );
    assert_eq!(
        arms("hello warmup --approach complete"),
        ["hello/complete", "warmup/random-choice"],
        "the default agent"
    );
    let several = "warmup hello --agent random-choice,longest-choice --approach complete,sketch";
    assert_eq!(
        arms(several),
        [
            "warmup/random-choice",
            "warmup/longest-choice",
            "hello/complete",
            "hello/sketch"
        ]
    );
    for (words, why) in [
        (
            "hello --agent longest-choice --approach complete",
            "--agent applies to questions and to approaches that ask an agent",
        ),
        (
            "warmup@random-choice hello --agent longest-choice --approach complete",
            "--agent applies to questions",
        ),
        ("warmup hello --agent longest-choice", "no approach given"),
        (
            "warmup hello --approach nobody",
            "there is no approach `nobody`",
        ),
        (
            "warmup hello --agent nobody --approach complete",
            "there is no agent `nobody`",
        ),
    ] {
        let output = run(words);
        assert!(output.refusal().contains(why), "{words}: {}", output.stderr);
    }
}
