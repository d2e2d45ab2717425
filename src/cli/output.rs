//! Printing: answers go to stdout, everything else to stderr. Only this module writes to either.

use std::io::{self, Write};

use tracing::{debug, warn};

use crate::domain::Problem;
use crate::render::json;
use crate::render::table::Table;
use crate::render::{csv, markdown, terminal};

use super::arguments::Format;
use super::failure::Failure;
use super::settings::Settings;

/// Maximum number of warnings printed.
const MAX_WARNINGS: usize = 10;

/// Prints the answer in the requested format.
pub(super) fn answer<T: serde::Serialize>(
    settings: &Settings,
    command: &str,
    tables: &[Table],
    value: impl FnOnce() -> T,
) -> Result<(), Failure> {
    let text = match settings.format {
        Format::Json => json::document(command, value()),
        Format::Full => full(
            settings,
            tables,
            &markdown::tables(tables),
            &json::document(command, value()),
        ),
        Format::Table => in_terminal(settings, tables),
        Format::Markdown => markdown::tables(tables),
        Format::Csv => csv::tables(tables),
        Format::Junit => return Err(no_junit()),
    };
    print(&text)
}

/// Like [`answer`], but CSV gets only the first table.
pub(super) fn answer_by_first_table<T: serde::Serialize>(
    settings: &Settings,
    command: &str,
    mut tables: Vec<Table>,
    value: impl FnOnce() -> T,
) -> Result<(), Failure> {
    if settings.format == Format::Csv {
        // Two tables in one CSV file would not be readable.
        tables.truncate(1);
    }
    answer(settings, command, &tables, value)
}

/// Returns the error for JUnit XML, which holds checks: only `gate` makes any.
pub(super) fn no_junit() -> Failure {
    Failure::new("only `gate` prints JUnit XML").with_hint("use table, json, markdown or csv")
}

/// Returns the JSON answer with the same answer as a table and as Markdown.
pub(super) fn full(settings: &Settings, tables: &[Table], markdown: &str, answer: &str) -> String {
    let text = |text: &str| serde_json::to_string(text).expect("text is JSON");
    let (table, markdown) = (text(&in_terminal(settings, tables)), text(markdown));
    format!(
        "{{\"answer\":{},\"table\":{table},\"markdown\":{markdown}}}\n",
        answer.trim_end()
    )
}

fn in_terminal(settings: &Settings, tables: &[Table]) -> String {
    joined(
        tables
            .iter()
            .map(|table| terminal::table(table, settings.style)),
    )
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("\n")
}

/// Writes to stdout. Ignores a closed pipe, because its reader wants no more.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write the answer: {error}")))
        }
        _ => {
            debug!(bytes = text.len(), "answer written to stdout");
            Ok(())
        }
    }
}

/// Prints a message for the user, unless `--quiet` is set.
pub(super) fn say(settings: &Settings, text: &str) {
    if !settings.quiet {
        tell(text);
    }
}

/// Writes a line to stderr. Ignores errors.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Warns of unreadable parts. Under `--strict`, fails because of them.
pub(super) fn warnings(settings: &Settings, problems: &[Problem]) -> Result<(), Failure> {
    for problem in problems {
        warn!(%problem, "could not be read");
    }
    let parts = count(problems.len(), "part");
    let refusal = format!("{parts} of the results could not be read, which --strict refuses");
    if settings.quiet && !settings.strict {
        // `--quiet` hides news, but the answer must say that it is incomplete.
        for line in lines_of(problems.iter().filter(|problem| problem.is_unread)) {
            tell(&format!("warning: {line}"));
        }
    }
    doubts(settings, problems, refusal, |more| {
        format!("and {more} more; `evalreport doctor` lists them all")
    })
}

/// Fails if the system did not let a part of the results be read, because `what` would be written without that part and a warning would not
/// correct it. Permanent damage does not count: it only leads to a warning each time.
pub(super) fn refuse_unread(what: &str, problems: &[Problem]) -> Result<(), Failure> {
    let unread: Vec<Problem> = problems
        .iter()
        .filter(|problem| problem.is_unread)
        .cloned()
        .collect();
    refuse_incomplete(what, &unread)
}

/// Fails if a part of the results could not be read, for answers about all results. `what` names the answer that would be wrong.
pub(super) fn refuse_incomplete(what: &str, problems: &[Problem]) -> Result<(), Failure> {
    if problems.is_empty() {
        return Ok(());
    }
    let parts = count(problems.len(), "part");
    let failure = Failure {
        details: lines_of(problems),
        ..Failure::new(format!(
            "{parts} of the results could not be read: {what} would lack them"
        ))
    };
    Err(failure.with_hint("mend, move or delete the files that are named; `evalreport doctor` looks over the whole store"))
}

/// Warns of runs that contradict each other. Under `--strict`, fails because of them.
pub(super) fn conflicts(settings: &Settings, conflicts: &[Problem]) -> Result<(), Failure> {
    for conflict in conflicts {
        warn!(%conflict, "runs contradict each other");
    }
    let refusal =
        "runs contradict each other about items, and --strict refuses to choose".to_owned();
    doubts(settings, conflicts, refusal, |more| {
        format!(
            "runs of {} contradict each other too",
            count(more, "more suite version")
        )
    })
}

/// Prints the first problems of the results and the number of further ones. Under `--strict`, fails because of them all.
fn doubts(
    settings: &Settings,
    problems: &[Problem],
    refusal: String,
    rest: impl Fn(usize) -> String,
) -> Result<(), Failure> {
    let lines = lines_of(problems);
    if settings.strict && !lines.is_empty() {
        return Err(Failure {
            details: lines,
            ..Failure::new(refusal)
        });
    }
    for line in lines.iter().take(MAX_WARNINGS) {
        say(settings, &format!("warning: {line}"));
    }
    if lines.len() > MAX_WARNINGS {
        say(
            settings,
            &format!("warning: {}", rest(lines.len() - MAX_WARNINGS)),
        );
    }
    Ok(())
}

/// Returns a text for each problem, with its hint on a further line.
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

/// Formats a count: `1 run`, `2 runs`.
pub(super) fn count(number: usize, noun: &str) -> String {
    crate::render::format::count(u64::try_from(number).unwrap_or(u64::MAX), noun)
}
