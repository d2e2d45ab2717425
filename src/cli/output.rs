//! Printing: answers go to stdout, everything else to stderr. Only this module writes to either.

use std::io::{self, Write};

use tracing::{debug, warn};

use crate::domain::Problem;
use crate::render::json;
use crate::render::table::ReportTable;
use crate::render::{csv, markdown, terminal};

use super::failure::CommandFailure;
use super::options::Format;
use super::settings::Settings;

/// Maximum number of warnings printed.
const MAX_WARNINGS: usize = 10;

/// Prints the answer in the requested format.
pub(super) fn print_answer<T: serde::Serialize>(
    settings: &Settings,
    command: &str,
    tables: &[ReportTable],
    value: impl FnOnce() -> T,
) -> Result<(), CommandFailure> {
    let text = match settings.format {
        Format::Json => json::write_document(command, value()),
        Format::Full => full_json(
            settings,
            tables,
            &markdown::write_tables(tables),
            &json::write_document(command, value()),
        ),
        Format::Table => to_terminal(settings, tables),
        Format::Markdown => markdown::write_tables(tables),
        Format::Csv => csv::write_tables(tables),
        Format::Junit => return Err(no_junit_failure()),
    };
    print_text(&text)
}

/// Like [`print_answer`], but CSV gets only the first table.
pub(super) fn print_answer_by_first_table<T: serde::Serialize>(
    settings: &Settings,
    command: &str,
    mut tables: Vec<ReportTable>,
    value: impl FnOnce() -> T,
) -> Result<(), CommandFailure> {
    if settings.format == Format::Csv {
        // Two tables in one CSV file would not be readable.
        tables.truncate(1);
    }
    print_answer(settings, command, &tables, value)
}

/// Returns the error for JUnit XML, which holds checks: only `gate` makes any.
pub(super) fn no_junit_failure() -> CommandFailure {
    CommandFailure::new("only `gate` prints JUnit XML")
        .with_hint("use table, json, markdown or csv")
}

/// Returns the JSON answer with the same answer as a table and as Markdown.
pub(super) fn full_json(
    settings: &Settings,
    tables: &[ReportTable],
    markdown: &str,
    answer: &str,
) -> String {
    let text = |text: &str| serde_json::to_string(text).expect("text is JSON");
    let (table, markdown) = (text(&to_terminal(settings, tables)), text(markdown));
    format!(
        "{{\"answer\":{},\"table\":{table},\"markdown\":{markdown}}}\n",
        answer.trim_end()
    )
}

fn to_terminal(settings: &Settings, tables: &[ReportTable]) -> String {
    join_parts(
        tables
            .iter()
            .map(|table| terminal::draw_table(table, settings.style)),
    )
}

fn join_parts(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("\n")
}

/// Writes to stdout. Ignores a closed pipe, because its reader wants no more.
pub(super) fn print_text(text: &str) -> Result<(), CommandFailure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandFailure::new(
            format!("cannot write the answer: {error}"),
        )),
        _ => {
            debug!(bytes = text.len(), "answer written to stdout");
            Ok(())
        }
    }
}

/// Prints a message for the user, unless `--quiet` is set.
pub(super) fn print_message(settings: &Settings, text: &str) {
    if !settings.quiet {
        write_stderr(text);
    }
}

/// Writes a line to stderr. Ignores errors.
pub(super) fn write_stderr(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Warns of unreadable parts. Under `--strict`, fails because of them.
pub(super) fn print_warnings(
    settings: &Settings,
    problems: &[Problem],
) -> Result<(), CommandFailure> {
    for problem in problems {
        warn!(%problem, "could not be read");
    }
    let parts = format_count(problems.len(), "part");
    let refusal = format!("{parts} of the results could not be read, which --strict refuses");
    if settings.quiet && !settings.strict {
        // `--quiet` hides news, but the answer must say that it is incomplete.
        for line in problem_lines(problems.iter().filter(|problem| problem.is_unread)) {
            write_stderr(&format!("warning: {line}"));
        }
    }
    print_first_problems(settings, problems, refusal, |more| {
        format!("and {more} more; `evalreport doctor` lists them all")
    })
}

/// Fails if the system did not let a part of the results be read, because `what` would be written without that part and a warning would not
/// correct it. Permanent damage does not count: it only leads to a warning each time.
pub(super) fn refuse_unread(what: &str, problems: &[Problem]) -> Result<(), CommandFailure> {
    let unread: Vec<Problem> = problems
        .iter()
        .filter(|problem| problem.is_unread)
        .cloned()
        .collect();
    refuse_incomplete(what, &unread)
}

/// Fails if a part of the results could not be read, for answers about all results. `what` names the answer that would be wrong.
pub(super) fn refuse_incomplete(what: &str, problems: &[Problem]) -> Result<(), CommandFailure> {
    if problems.is_empty() {
        return Ok(());
    }
    let parts = format_count(problems.len(), "part");
    let failure = CommandFailure {
        details: problem_lines(problems),
        ..CommandFailure::new(format!(
            "{parts} of the results could not be read: {what} would lack them"
        ))
    };
    Err(failure.with_hint("mend, move or delete the files that are named; `evalreport doctor` looks over the whole store"))
}

/// Warns of runs that contradict each other. Under `--strict`, fails because of them.
pub(super) fn print_conflicts(
    settings: &Settings,
    conflicts: &[Problem],
) -> Result<(), CommandFailure> {
    for conflict in conflicts {
        warn!(%conflict, "runs contradict each other");
    }
    let refusal =
        "runs contradict each other about items, and --strict refuses to choose".to_owned();
    print_first_problems(settings, conflicts, refusal, |more| {
        format!(
            "runs of {} contradict each other too",
            format_count(more, "more suite version")
        )
    })
}

/// Prints the first problems of the results and the number of further ones. Under `--strict`, fails because of them all.
fn print_first_problems(
    settings: &Settings,
    problems: &[Problem],
    refusal: String,
    rest: impl Fn(usize) -> String,
) -> Result<(), CommandFailure> {
    let lines = problem_lines(problems);
    if settings.strict && !lines.is_empty() {
        return Err(CommandFailure {
            details: lines,
            ..CommandFailure::new(refusal)
        });
    }
    for line in lines.iter().take(MAX_WARNINGS) {
        print_message(settings, &format!("warning: {line}"));
    }
    if lines.len() > MAX_WARNINGS {
        print_message(
            settings,
            &format!("warning: {}", rest(lines.len() - MAX_WARNINGS)),
        );
    }
    Ok(())
}

/// Returns a text for each problem, with its hint on a further line.
fn problem_lines<'p>(problems: impl IntoIterator<Item = &'p Problem>) -> Vec<String> {
    let line = |problem: &Problem| match &problem.hint {
        Some(hint) => format!("{problem}\n  hint: {hint}"),
        None => problem.to_string(),
    };
    problems.into_iter().map(line).collect()
}

/// Prints why a command failed.
pub(super) fn print_failure(failure: &CommandFailure) {
    for detail in &failure.details {
        write_stderr(detail);
    }
    write_stderr(&format!("error: {}", failure.message));
    if let Some(hint) = &failure.hint {
        write_stderr(&format!("  hint: {hint}"));
    }
}

/// Formats a count: `1 run`, `2 runs`.
pub(super) fn format_count(number: usize, noun: &str) -> String {
    crate::render::format::format_count(u64::try_from(number).unwrap_or(u64::MAX), noun)
}
