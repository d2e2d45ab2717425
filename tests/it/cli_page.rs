//! `docs/look-up/cli.md` is what the program prints for every command.

use std::fs;
use std::path::Path;

use crate::links::read;
use crate::support::Project;

const PAGE: &str = "docs/look-up/cli.md";
/// Blocks of code do not scroll sideways at this width.
const COLUMNS: (&str, &str) = ("COLUMNS", "96");

/// Returns the help of a command, without what is the same for all commands.
fn own_help(project: &Project, command: &[String]) -> (String, Vec<String>) {
    let arguments: Vec<&str> = command
        .iter()
        .map(String::as_str)
        .chain(["--help"])
        .collect();
    let help = project.run_in(arguments, &[COLUMNS]).stdout;
    let subcommands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    (help, subcommands)
}

/// Returns the sections of a help, each with the line that begins it.
fn without_shared_sections(help: &str) -> String {
    let mut kept = String::new();
    let mut is_shared = false;
    for line in help.lines() {
        if line.starts_with(|first: char| first.is_ascii_uppercase()) {
            is_shared = line == "Global options:" || line.starts_with("Exit codes:");
        }
        let is_own = !["-h, --help", "Print help", "-V, --version", "Print version"]
            .iter()
            .any(|shared| line.trim_start().starts_with(shared));
        if !is_shared && is_own && !(line.is_empty() && kept.ends_with("\n\n")) {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
    }
    kept.trim_end().to_owned()
}

fn describe(project: &Project, command: &[String], page: &mut String) {
    let (help, subcommands) = own_help(project, command);
    page.push_str(&format!(
        "\n## `{}`\n\n```text\n{}\n```\n",
        command.join(" "),
        without_shared_sections(&help)
    ));
    for subcommand in subcommands {
        let names: Vec<String> = command.iter().cloned().chain([subcommand]).collect();
        describe(project, &names, page);
    }
}

#[test]
fn cli_page_is_what_the_program_prints() {
    let project = Project::new();
    let (help, commands) = own_help(&project, &[]);
    let mut shared: Vec<&str> = help
        .lines()
        .map(str::trim_end)
        .skip_while(|line| *line != "Global options:")
        .collect();
    while shared.last().is_some_and(|line| line.is_empty()) {
        shared.pop();
    }
    let mut page = format!(
        "# Command line\n\nThe options of every command, as `--help` prints them. [Commands](commands.md) explains what they do.\n\n## All commands\n\n\
         ```text\n{}\n```\n",
        shared.join("\n")
    );
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        describe(&project, &[command], &mut page);
    }
    if std::env::var("EVALREPORT_DOCS").is_ok_and(|wish| wish == "write") {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE), &page)
            .expect("the page can be written");
    }
    assert!(
        read(PAGE) == page,
        "EVALREPORT_DOCS=write cargo test cli_page writes {PAGE}"
    );
}
