//! Printing: answers to stdout, everything else to stderr. The only place that writes to either.

use std::io::{self, Write};

use tracing::{debug, warn};

use crate::domain::Problem;
use crate::render::json;
use crate::render::table::Table;
use crate::render::{csv, markdown, terminal};

use super::arguments::Format;
use super::failure::Failure;
use super::settings::Settings;

/// More warnings than this say less.
const MAX_WARNINGS: usize = 10;

/// Prints the answer in the format that was asked for.
pub(super) fn answer<T: serde::Serialize>(
    settings: &Settings,
    command: &str,
    tables: &[Table],
    value: impl FnOnce() -> T,
) -> Result<(), Failure> {
    let text = match settings.format {
        Format::Json => json::document(command, value()),
        Format::Table => joined(tables.iter().map(|table| terminal::table(table, settings.style))),
        Format::Markdown => markdown::tables(tables),
        Format::Csv => csv::tables(tables),
        Format::Junit => return Err(no_junit()),
    };
    print(&text)
}

/// The same where CSV holds the first table alone.
pub(super) fn answer_by_first_table<T: serde::Serialize>(
    settings: &Settings,
    command: &str,
    mut tables: Vec<Table>,
    value: impl FnOnce() -> T,
) -> Result<(), Failure> {
    if settings.format == Format::Csv {
        // Two tables in one file are none.
        tables.truncate(1);
    }
    answer(settings, command, &tables, value)
}

/// JUnit XML holds checks, and only one command makes any.
pub(super) fn no_junit() -> Failure {
    Failure::new("only `gate` prints JUnit XML").with_hint("use table, json, markdown or csv")
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("\n")
}

/// Writes to stdout. A reader that went away wanted no more.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(format!("cannot write the answer: {error}"))),
        _ => {
            debug!(bytes = text.len(), "answer written to stdout");
            Ok(())
        }
    }
}

/// Says something to the person at the terminal, unless told to be quiet.
pub(super) fn say(settings: &Settings, text: &str) {
    if !settings.quiet {
        tell(text);
    }
}

/// Writes a line to stderr. One that nobody can read is no reason to stop.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints what could not be read; under `--strict` that is a refusal.
pub(super) fn warnings(settings: &Settings, problems: &[Problem]) -> Result<(), Failure> {
    for problem in problems {
        warn!(%problem, "could not be read");
    }
    let parts = count(problems.len(), "part");
    let refusal = format!("{parts} of the results could not be read, which --strict refuses");
    if settings.quiet && !settings.strict {
        // Quiet is about news. That the answer is not about everything is part of the answer.
        for line in lines_of(problems.iter().filter(|problem| problem.is_unread)) {
            tell(&format!("warning: {line}"));
        }
    }
    doubts(settings, problems, refusal, |more| format!("and {more} more; `evalreport doctor` lists them all"))
}

/// Refuses what is written by what the results hold, where the system did not let a part of them be read. What is in it is not less wrong for
/// having been warned of: damage that stays is another matter, and is warned of each time.
pub(super) fn refuse_unread(what: &str, problems: &[Problem]) -> Result<(), Failure> {
    let unread: Vec<Problem> = problems.iter().filter(|problem| problem.is_unread).cloned().collect();
    refuse_incomplete(what, &unread)
}

/// Refuses what is said or handed on of all results, where a part of them could not be read. `what` is it that would be wrong.
pub(super) fn refuse_incomplete(what: &str, problems: &[Problem]) -> Result<(), Failure> {
    if problems.is_empty() {
        return Ok(());
    }
    let parts = count(problems.len(), "part");
    let failure = Failure {
        details: lines_of(problems),
        ..Failure::new(format!("{parts} of the results could not be read: {what} would lack them"))
    };
    Err(failure.with_hint("mend, move or delete the files that are named; `evalreport doctor` looks over the whole store"))
}

/// Prints where runs contradict each other; under `--strict` that is a refusal.
pub(super) fn conflicts(settings: &Settings, conflicts: &[Problem]) -> Result<(), Failure> {
    for conflict in conflicts {
        warn!(%conflict, "runs contradict each other");
    }
    let refusal = "runs contradict each other about items, and --strict refuses to choose".to_owned();
    doubts(settings, conflicts, refusal, |more| format!("runs of {} contradict each other too", count(more, "more suite version")))
}

/// Prints the first of what is wrong with the results and how many more there are, or refuses because of them all.
fn doubts(settings: &Settings, problems: &[Problem], refusal: String, rest: impl Fn(usize) -> String) -> Result<(), Failure> {
    let lines = lines_of(problems);
    if settings.strict && !lines.is_empty() {
        return Err(Failure { details: lines, ..Failure::new(refusal) });
    }
    for line in lines.iter().take(MAX_WARNINGS) {
        say(settings, &format!("warning: {line}"));
    }
    if lines.len() > MAX_WARNINGS {
        say(settings, &format!("warning: {}", rest(lines.len() - MAX_WARNINGS)));
    }
    Ok(())
}

/// A line for each problem, and one for its hint.
fn lines_of<'p>(problems: impl IntoIterator<Item = &'p Problem>) -> Vec<String> {
    let line = |problem: &Problem| match &problem.hint {
        Some(hint) => format!("{problem}\n  hint: {hint}"),
        None => problem.to_string(),
    };
    problems.into_iter().map(line).collect()
}

/// Prints why a command failed.
pub(super) fn failure(failure: &Failure) {
    for detail in &failure.details {
        tell(detail);
    }
    tell(&format!("error: {}", failure.message));
    if let Some(hint) = &failure.hint {
        tell(&format!("  hint: {hint}"));
    }
}

/// `1 run`, `2 runs`.
pub(super) fn count(number: usize, noun: &str) -> String {
    crate::render::format::count(u64::try_from(number).unwrap_or(u64::MAX), noun)
}
