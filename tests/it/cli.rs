//! The command line itself: help, versions, completions, wrong arguments.

use crate::programs::Start as _;
use crate::support::{BINARY, Project};

/// Returns the names of all commands.
fn commands() -> Vec<String> {
    evalreport::cli::command_line()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect()
}

#[test]
fn every_command_has_help() {
    let project = Project::new();
    let all = project.run(["--help"]);
    let commands = commands();
    for command in &commands {
        let help = project.run([command.as_str(), "--help"]);
        assert!(
            help.answer()
                .contains(&format!("Usage: evalreport {command}")),
            "{command}: {}",
            help.stdout
        );
        for global in [
            "--config",
            "--results",
            "--cache",
            "--format",
            "--color",
            "--quiet",
            "--verbose",
            "--log",
            "--strict",
        ] {
            assert!(
                help.stdout.contains(global),
                "{command} does not explain {global}"
            );
        }
        assert!(
            all.answer()
                .lines()
                .any(|line| line.trim_start().starts_with(command.as_str())),
            "--help does not list {command}"
        );
    }
    let listed = all
        .stdout
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .count();
    assert_eq!(listed, commands.len());
    assert!(project.files("").is_empty(), "help writes nothing");
}

#[test]
fn the_version_is_that_of_the_package() {
    let project = Project::new();
    assert_eq!(
        project.run(["--version"]).answer(),
        format!("evalreport {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_read() {
    let project = Project::new();
    project.file("results/bad.json", "");
    let cases: [(&[&str], &str); 14] = [
        (&[], "Usage: evalreport"),
        (&["nothing"], "unrecognized subcommand 'nothing'"),
        (&["leaderbord"], "leaderboard"),
        (&["--bogus"], "unexpected argument '--bogus'"),
        (&["list", "--bogus"], "unexpected argument '--bogus'"),
        (
            &["list", "--format", "xml"],
            "invalid value 'xml' for '--format <FORMAT>'",
        ),
        (
            &["list", "--color", "sometimes"],
            "invalid value 'sometimes' for '--color <COLOR>'",
        ),
        (
            &["leaderboard", "--sort", "luck"],
            "invalid value 'luck' for '--sort <SORT>'",
        ),
        (
            &["leaderboard", "--overall", "mean"],
            "invalid value 'mean' for '--overall <MEAN>'",
        ),
        (
            &["compare", "--files", "a.json", "s"],
            "'--files <FILE,FILE>' cannot be used with",
        ),
        (
            &["export", "xml", "out"],
            "invalid value 'xml' for '<FORMAT>'",
        ),
        (&["import", "--map", "m.yaml"], "<PATH>..."),
        (&["sql"], "<QUERY>"),
        (
            &["completions", "tcsh"],
            "invalid value 'tcsh' for '<SHELL>'",
        ),
    ];
    for (arguments, message) in cases {
        let output = project.run(arguments.iter().copied());
        assert!(
            output.refusal().contains(message),
            "{arguments:?}: {}",
            output.stderr
        );
        assert!(
            !output.stderr.contains("bad.json"),
            "{arguments:?}: {}",
            output.stderr
        );
    }
}

#[test]
fn selections_that_are_malformed() {
    let project = Project::new();
    project.file("results/r.json", r#"{"suite":"s","approach":"a"}"#);
    for (argument, value, message) in [
        (
            "--since",
            "yesterday",
            "error: --since `yesterday` is not a time\n  hint: write a day like 2026-01-31",
        ),
        (
            "--since",
            "2026-02-30",
            "error: --since `2026-02-30` is not a time\n",
        ),
        (
            "--tag",
            "novalue",
            "error: --tag `novalue` has no `=`\n  hint: write --tag KEY=VALUE",
        ),
    ] {
        let output = project.run(["list", argument, value]);
        assert!(output.refusal().starts_with(message), "{}", output.stderr);
    }
}

/// A project in which every example of the help can be followed.
fn project_of_examples() -> Project {
    let project = Project::new();
    for arguments in [
        &["init"][..],
        &[
            "run",
            "hello",
            "--approach",
            "complete,sketch",
            "--runs",
            "2",
            "-q",
        ],
    ] {
        let output = project.run(arguments.iter().copied());
        assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    }
    assert_eq!(project.run(["export", "bundle", "main.bundle"]).code, 0);
    project.file(
        "answers.csv",
        "model,task,passed\nnova,a,yes\nnova,b,no\nlyra,a,yes\nlyra,b,yes\n",
    );
    project.file(
        "leaderboard.csv",
        "model,passed,total,rate\nnova,9,12,75.0\nlyra,6,12,50.0\n",
    );
    project.file(
        "board.csv",
        "name,a,b,c\nnova,0.5,0.25,1\nlyra,0.5,0.75,0\n",
    );
    project
        .fixture("votes/votes.csv", "votes.csv")
        .fixture("abilities/scores.csv", "scores.csv")
        .fixture("import/metr/runs.jsonl", "runs.jsonl");
    project.file(
        "outcomes.jsonl",
        "{\"item\": {\"item\": \"q1\", \"passed\": true}}\n{\"end\": {}}\n",
    );
    project.file(
        "logs/junit.xml",
        "<testsuite name='unit'><testcase classname='c' name='works'/></testsuite>",
    );
    project.file(
        "checkout/package.json",
        r#"{"name": "greet", "scripts": {"test": "node --test"}}"#,
    );
    // Two commits to search among.
    let mut repository = std::process::Command::new("sh");
    let commit = "git -c user.name=a -c user.email=a@example.org commit --quiet --allow-empty -m";
    repository.args([
        "-c",
        &format!("git init --quiet repository && cd repository && {commit} one && {commit} two"),
    ]);
    assert_eq!(project.output(&mut repository).code, 0);
    project
}

#[test]
fn the_examples_of_every_command_work() {
    let project = project_of_examples();
    // The bundle holds the runs before these.
    assert_eq!(
        project
            .run(["run", "hello", "--approach", "complete,sketch", "-q"])
            .code,
        0
    );
    let tools = std::path::Path::new(BINARY)
        .parent()
        .expect("the program is in a folder")
        .display()
        .to_string();
    let path = format!("{tools}:{}", std::env::var("PATH").unwrap_or_default());
    let mut followed = 0;
    // Commands that add or hide runs come last.
    let commands = commands();
    let (adding, reading): (Vec<&str>, Vec<&str>) = commands
        .iter()
        .map(String::as_str)
        .partition(|name| ["run", "eval", "judge", "import", "retract", "record"].contains(name));
    for command in reading.into_iter().chain(adding) {
        let help = project.run([command, "--help"]);
        let examples = help
            .answer()
            .lines()
            .skip_while(|line| *line != "Examples:")
            .skip(1)
            .take_while(|line| line.starts_with("  "));
        for example in examples
            .map(str::trim)
            .filter(|line| !line.starts_with('#'))
        {
            let line = match command {
                // The server ends when it is told to.
                "serve" => format!("timeout 3 {example}"),
                "bisect" => format!("cd repository && {example}"),
                _ => example.to_owned(),
            };
            let mut shell = std::process::Command::new("sh");
            shell
                .args(["-c", &line])
                .env("PATH", &path)
                .env("HOME", "/nonexistent")
                .env("NO_COLOR", "1")
                .env("COLUMNS", "100");
            let output = project.output(&mut shell);
            // Some answers are negative, or need more runs than this project has.
            let is_answer = [0, 1, 3].contains(&output.code)
                || (command == "serve" && [124, 130, 143].contains(&output.code));
            assert!(
                is_answer,
                "{example}: {}\n{}{}",
                output.code, output.stdout, output.stderr
            );
            followed += 1;
        }
    }
    assert_eq!(followed, 2 * commands.len());
}

#[test]
fn documentation_travels_with_the_program() {
    let project = Project::new();
    let all = project.run(["help"]);
    for word in ["Commands:", "Topics", "import/inspect", "method"] {
        assert!(all.answer().contains(word), "{word}");
    }
    let page = project.run(["help", "suites"]);
    assert!(page.answer().starts_with("# "), "{}", page.stdout);
    assert_eq!(
        project.run(["help", "docs/look-up/suite-yaml.md"]).stdout,
        page.stdout
    );
    assert!(
        project
            .run(["help", "gate"])
            .answer()
            .contains("Usage: evalreport gate")
    );
    assert!(
        project
            .run(["help", "queries/counts.sql"])
            .answer()
            .contains("\nselect\n")
    );
    for (topic, hint) in [
        ("suite", "`evalreport help suites`"),
        ("inspect", "`evalreport help import/inspect`"),
    ] {
        let output = project.run(["help", topic]);
        assert!(output.refusal().contains(hint), "{}", output.stderr);
    }
}

#[test]
fn the_newest_run_and_batch_have_a_name() {
    let project = project_of_examples();
    let shown = project.run(["show", "last", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(shown.answer()).expect("JSON");
    assert_eq!(shown["runs"].as_array().map(Vec::len), Some(1));
    let compared = project.run(["compare", "last", "--format", "json"]);
    let named = project.run(["compare", "hello", "--format", "json"]);
    assert_eq!(compared.answer(), named.answer());
    assert_eq!(
        project
            .run(["run", "hello", "--approach", "sketch", "-q"])
            .code,
        0
    );
    let alone = project.run(["compare", "last"]);
    assert!(
        alone.refusal().contains("evalreport compare SUITE"),
        "{}",
        alone.stderr
    );
}

#[test]
fn completions_and_man_page() {
    let project = Project::new();
    for (shell, sign) in [
        ("bash", "complete -o"),
        ("elvish", "set edit:completion:arg-completer[evalreport]"),
        (
            "fish",
            "complete --keep-order --exclusive --command evalreport",
        ),
        ("powershell", "Register-ArgumentCompleter"),
        ("zsh", "#compdef evalreport"),
        ("man", ".TH evalreport 1"),
    ] {
        let output = project.run(["completions", shell]);
        assert!(output.answer().contains(sign), "{shell}: {}", output.stdout);
    }
    assert!(project.files("").is_empty());
}

#[test]
fn a_shell_is_told_the_names_of_the_results() {
    let project = Project::new();
    for (id, approach) in [("run-a-1", "ralph"), ("run-b-1", "one shot")] {
        project.file(
            &format!("results/{id}.json"),
            format!(r#"{{"suite":"quiz","approach":"{approach}","model":"sonnet"}}"#),
        );
    }
    for (words, expected) in [
        (&["lea"][..], "leaderboard"),
        (&["compare", "q"], "quiz"),
        (&["show", "run-"], "run-a-1"),
        (&["gate", "--baseline", "run-b"], "run-b-1"),
        (&["help", "schemas/conf"], "schemas/configuration"),
        (&["list", "--approach", "o"], "one shot"),
        (&["help", "import/i"], "import/inspect"),
    ] {
        let mut command = std::process::Command::new(BINARY);
        let last = words.len().to_string();
        command
            .args(["--", "evalreport"])
            .args(words)
            .env("COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", last);
        let output = project.output(
            command
                .env("_CLAP_IFS", "\n")
                .env("_CLAP_COMPLETE_COMP_TYPE", "9"),
        );
        assert!(
            output.stdout.lines().any(|line| line.contains(expected)),
            "{words:?}: {}{}",
            output.stdout,
            output.stderr
        );
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn a_project_is_found_from_a_folder_below() {
    let project = Project::new();
    project.file(
        "evalreport.yaml",
        "version: 1\naliases: {suite: {s: found}}\n",
    );
    project
        .file("results/r.json", r#"{"suite":"s","approach":"a"}"#)
        .file("deep/er/x", "");
    let mut command = std::process::Command::new(BINARY);
    let output = command
        .args(["list", "--format", "csv"])
        .current_dir(project.path("deep/er"))
        .finish();
    assert!(output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("\nfound,1,"),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert_eq!(
        project.files("deep"),
        ["deep/er/x"],
        "the cache is beside the results"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let project = Project::new();
    for number in 0..200 {
        project.file(
            &format!("results/r{number}.json"),
            r#"{"suite":"s","approach":"a"}"#,
        );
    }
    let script = format!("'{BINARY}' list --runs --format json; echo $? >&2");
    let output = project
        .output(std::process::Command::new("sh").args(["-c", &format!("({script}) | true")]));
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
}
