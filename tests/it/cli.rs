//! The command line itself: help, versions, completions, wrong arguments.

use crate::support::Project;

const COMMANDS: [&str; 20] = [
    "init",
    "run",
    "eval",
    "verify",
    "list",
    "show",
    "compare",
    "leaderboard",
    "history",
    "gate",
    "judge",
    "build",
    "serve",
    "import",
    "record",
    "retract",
    "sql",
    "export",
    "doctor",
    "completions",
];

#[test]
fn every_command_has_help() {
    let project = Project::new();
    let all = project.run(["--help"]);
    for command in COMMANDS {
        let help = project.run([command, "--help"]);
        assert!(help.answer().contains(&format!("Usage: evalreport {command}")), "{command}: {}", help.stdout);
        for global in ["--config", "--results", "--cache", "--format", "--color", "--quiet", "--verbose", "--log", "--strict"] {
            assert!(help.stdout.contains(global), "{command} does not explain {global}");
        }
        assert!(all.answer().lines().any(|line| line.trim_start().starts_with(command)), "--help does not list {command}");
    }
    let listed = all.stdout.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty()).count();
    assert_eq!(listed, COMMANDS.len() + 1, "every listed command (and help) is in this test");
    assert!(project.files("").is_empty(), "help writes nothing");
}

#[test]
fn the_version_is_that_of_the_package() {
    let project = Project::new();
    assert_eq!(project.run(["--version"]).answer(), format!("evalreport {}\n", env!("CARGO_PKG_VERSION")));
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
        (&["list", "--format", "xml"], "invalid value 'xml' for '--format <FORMAT>'"),
        (&["list", "--color", "sometimes"], "invalid value 'sometimes' for '--color <COLOR>'"),
        (&["leaderboard", "--sort", "luck"], "invalid value 'luck' for '--sort <SORT>'"),
        (&["leaderboard", "--overall", "mean"], "invalid value 'mean' for '--overall <MEAN>'"),
        (&["compare", "--files", "a.json", "s"], "'--files <FILE,FILE>' cannot be used with"),
        (&["export", "xml", "out"], "invalid value 'xml' for '<FORMAT>'"),
        (&["import", "--map", "m.yaml"], "<PATH>..."),
        (&["sql"], "<QUERY>"),
        (&["completions", "tcsh"], "invalid value 'tcsh' for '<SHELL>'"),
    ];
    for (arguments, message) in cases {
        let output = project.run(arguments.iter().copied());
        assert!(output.refusal().contains(message), "{arguments:?}: {}", output.stderr);
        assert!(!output.stderr.contains("bad.json"), "{arguments:?}: {}", output.stderr);
    }
}

#[test]
fn selections_that_are_malformed() {
    let project = Project::new();
    project.file("results/r.json", r#"{"suite":"s","approach":"a"}"#);
    for (argument, value, message) in [
        ("--since", "yesterday", "error: --since `yesterday` is not a time\n  hint: write a day like 2026-01-31"),
        ("--since", "2026-02-30", "error: --since `2026-02-30` is not a time\n"),
        ("--tag", "novalue", "error: --tag `novalue` has no `=`\n  hint: write --tag KEY=VALUE"),
    ] {
        let output = project.run(["list", argument, value]);
        assert!(output.refusal().starts_with(message), "{}", output.stderr);
    }
}

#[test]
fn completions_and_man_page() {
    let project = Project::new();
    for (shell, sign) in [
        ("bash", "complete -F _evalreport"),
        ("elvish", "set edit:completion:arg-completer[evalreport]"),
        ("fish", "complete -c evalreport"),
        ("powershell", "Register-ArgumentCompleter"),
        ("zsh", "#compdef evalreport"),
        ("man", ".TH evalreport 1"),
    ] {
        let output = project.run(["completions", shell]);
        assert!(output.answer().contains(sign), "{shell}");
        for command in ["leaderboard", "compare", "import"] {
            assert!(output.stdout.contains(command), "{shell} does not know {command}");
        }
    }
    assert!(project.files("").is_empty());
}

#[test]
fn a_project_is_found_from_a_folder_below() {
    let project = Project::new();
    project.file("evalreport.yaml", "version: 1\naliases: {suite: {s: found}}\n");
    project.file("results/r.json", r#"{"suite":"s","approach":"a"}"#).file("deep/er/x", "");
    let mut command = std::process::Command::new(crate::support::BINARY);
    let output = command.args(["list", "--format", "csv"]).current_dir(project.path("deep/er")).output().expect("the program starts");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\nfound,1,"), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(project.files("deep"), ["deep/er/x"], "the cache is beside the results");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let project = Project::new();
    for number in 0..200 {
        project.file(&format!("results/r{number}.json"), r#"{"suite":"s","approach":"a"}"#);
    }
    let script = format!("'{}' list --runs --format json; echo $? >&2", crate::support::BINARY);
    let output = project.output(std::process::Command::new("sh").args(["-c", &format!("({script}) | true")]));
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
}
