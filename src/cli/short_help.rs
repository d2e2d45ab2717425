//! The short help: commands by purpose, and of each command its most common options. `--help` has everything.

use std::io::{self, Write};

use clap::error::ErrorKind;

/// Commands by purpose, those that a reader needs first in front.
const PURPOSES: [(&str, &[&str]); 5] = [
    (
        "Compare",
        &["compare", "leaderboard", "demo", "fit", "noise", "audit"],
    ),
    (
        "Collect",
        &[
            "init", "run", "eval", "import", "record", "judge", "verify", "retract",
        ],
    ),
    ("Publish", &["build", "serve", "export", "mcp", "skill"]),
    ("Automate", &["gate", "bisect", "history", "completions"]),
    (
        "Examine",
        &["list", "show", "sql", "doctor", "cache", "help"],
    ),
];

/// Longest short help, in lines.
const MAX_LINES: usize = 25;
/// Options of every command that many need.
const COMMON: [&str; 1] = ["format"];
/// Heading of the options of every command.
const GLOBAL: &str = "Global options";

/// Prints the short help of the program.
pub(super) fn print_overview(to_stderr: bool) -> io::Result<()> {
    if to_stderr {
        io::stderr().write_all(overview().as_bytes())
    } else {
        io::stdout().write_all(overview().as_bytes())
    }
}

/// The largest width of help.
pub(super) const MAX_WIDTH: usize = 120;

/// Returns the short help of the program.
fn overview() -> String {
    let mut text = String::from(
        "Compare AI agents: pass rates, costs, and whether the differences are real\n\n\
         Usage: evalreport FILE...            compare the results in files, as `compare` does\n       \
         evalreport COMMAND [OPTIONS]\n\n",
    );
    for (purpose, commands) in PURPOSES {
        text.push_str(&format!("{purpose:10}{}\n", commands.join(", ")));
    }
    text.push_str(
        "\nCommon options:\n  \
         --results DIR    Results folder [default: results beside the configuration]\n  \
         --format FORMAT  table, json, markdown or csv\n  \
         -q, --quiet      Print only the answer\n  \
         -h, --help       With a command: its options. --help alone lists all commands and options\n  \
         -V, --version    Print the version\n\n\
         Examples:\n  \
         # see a verdict on made-up answers; nothing is stored\n  \
         evalreport demo\n  \
         # write an example project with agents that need no key\n  \
         evalreport init my-evals\n\n\
         `evalreport help` lists the topics of the documentation.\n",
    );
    text
}

/// Returns the short help, if that is what the command line asks for: it names no command, and no `--help`.
pub(super) fn asked_for_overview(kind: ErrorKind, typed: &[String], commands: &[&str]) -> bool {
    let is_help = matches!(
        kind,
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    is_help
        && !typed
            .iter()
            .any(|word| word == "--help" || commands.contains(&word.as_str()))
}

/// Hides an option of every command from the short help, unless many need it.
pub(super) fn hide_rare(argument: clap::Arg) -> clap::Arg {
    let is_rare = argument.get_help_heading() == Some(GLOBAL)
        && !COMMON.contains(&argument.get_id().as_str());
    if is_rare {
        argument.hide_short_help(true)
    } else {
        argument
    }
}

/// Shortens the short help of the command that the words name, if they ask for one.
pub(super) fn fit(command: clap::Command, words: &[String]) -> clap::Command {
    if words.iter().any(|word| word == "-h") {
        fit_named(command, words)
    } else {
        command
    }
}

/// Shortens the short help of the innermost command that the words name.
fn fit_named(command: clap::Command, words: &[String]) -> clap::Command {
    let named = words.iter().enumerate().find_map(|(at, word)| {
        let found = command.find_subcommand(word)?;
        Some((found.get_name().to_owned(), at))
    });
    match named {
        Some((name, at)) => command.mut_subcommand(name, |inner| {
            fit_command(fit_named(inner, &words[at + 1..]))
        }),
        None => command,
    }
}

/// Hides options from the short help until it is short, from the last on: those with a heading first, then the command's own, and at the end
/// those that its examples use.
fn fit_command(command: clap::Command) -> clap::Command {
    let examples = command
        .get_after_help()
        .map_or_else(String::new, ToString::to_string);
    let is_used = |argument: &clap::Arg| {
        argument
            .get_long()
            .is_some_and(|long| examples.contains(&format!("--{long} ")))
    };
    // The whole program's width, which the command does not know yet.
    let mut command = command.max_term_width(MAX_WIDTH);
    // Lines of the options of every command, which the command does not know yet.
    let most = MAX_LINES - 4;
    while command.clone().render_help().to_string().lines().count() > most {
        let is_seen =
            |argument: &&clap::Arg| !argument.is_positional() && !argument.is_hide_short_help_set();
        let last = |with_heading: bool, used: bool| {
            command
                .get_arguments()
                .filter(is_seen)
                .filter(|argument| argument.get_help_heading().is_some() == with_heading)
                .filter(|argument| is_used(argument) == used)
                .last()
                .map(|argument| argument.get_id().clone())
        };
        let order = [(true, false), (false, false), (true, true), (false, true)];
        let Some(id) = order
            .into_iter()
            .find_map(|(heading, used)| last(heading, used))
        else {
            break;
        };
        command = command.mut_arg(id, |argument| argument.hide_short_help(true));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{COMMANDS, command_line};

    #[test]
    fn the_overview_names_every_command_and_is_short() {
        let mut named: Vec<&str> = PURPOSES
            .iter()
            .flat_map(|(_, commands)| commands.iter().copied())
            .collect();
        let mut known: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
        assert!(overview().lines().count() <= MAX_LINES);
    }

    #[test]
    fn the_short_help_of_every_command_is_short() {
        for definition in COMMANDS {
            let words = [definition.name, "-h"].map(str::to_owned);
            let mut all = fit(command_line(), &words);
            all.build();
            let command = all
                .find_subcommand_mut(definition.name)
                .expect("the command is there");
            let help = command.render_help().to_string();
            let lines = help.lines().count();
            assert!(
                lines <= MAX_LINES,
                "{} has {lines} lines:\n{help}",
                definition.name
            );
        }
    }
}
