//! A verification as tables: checks, failures with their causes, and fixed failures.

use crate::domain::{Verification, VerifiedCheck, VerifiedFailure};

use super::cell::TableCell;
use super::format;
use super::table::{ReportTable, TableColumn};

/// Maximum characters of a check's message in a cell.
const MAX_MESSAGE_CHARACTERS: usize = 120;
const MAX_CHANGED: usize = 10;

/// Lays out a verification. The first table is always there, and the last ends with the next step.
pub fn check_and_failure_tables(verification: &Verification) -> Vec<ReportTable> {
    let mut tables = vec![checks_table(verification)];
    if !verification.failures.is_empty() {
        tables.push(failures_table(&verification.failures));
    }
    if !verification.fixed.is_empty() {
        tables.push(fixed_failures_table(&verification.fixed));
    }
    if let Some(last) = tables.last_mut() {
        last.notes.extend(context_notes(verification));
    }
    tables
}

fn checks_table(verification: &Verification) -> ReportTable {
    let title = match &verification.terminal_status {
        Some(status) => format!("Verification: {status}"),
        None => "Verification, planned".to_owned(),
    };
    let mut table = ReportTable::new(title);
    table.add_text_column("Check", 0);
    table.add_text_column("Command", 0);
    table.add_text_column("In", 2);
    table.add_text_column("Outcome", 1);
    table.add_text_column("Before", 1);
    table.add_column(
        TableColumn::number("Time")
            .keys(["duration_seconds"])
            .rank(3),
    );
    table.add_text_column("Why", 4);
    table.add_rows(verification.checks.iter().map(check_cells));
    // A plan has no outcomes, so this drops their column. A run keeps it.
    table.drop_empty_columns();
    table
}

fn check_cells(check: &VerifiedCheck) -> Vec<TableCell> {
    let outcome = match (&check.outcome, &check.message) {
        (Some(outcome), Some(message)) => {
            format!("{}: {}", without_underscores(outcome), first_line(message))
        }
        (Some(outcome), None) => without_underscores(outcome),
        (None, _) => String::new(),
    };
    vec![
        check.id.as_str().into(),
        check.command.as_str().into(),
        check.folder.as_deref().unwrap_or_default().into(),
        outcome.into(),
        check
            .baseline
            .as_deref()
            .map(without_underscores)
            .unwrap_or_default()
            .into(),
        TableCell::number_or_blank(check.seconds, format::duration),
        check.reason.as_deref().unwrap_or_default().into(),
    ]
}

fn failures_table(failures: &[VerifiedFailure]) -> ReportTable {
    let mut table = ReportTable::new("Failures");
    table.add_text_column("Scope", 0);
    table.add_text_column("Check", 2);
    table.add_text_column("Failure", 0);
    table.add_text_column("Files", 3);
    table.add_text_column("Why", 1);
    let row = |failure: &VerifiedFailure| {
        vec![
            failure
                .scope
                .as_deref()
                .map(without_underscores)
                .unwrap_or_default(),
            failure.check.clone(),
            failure_text(failure.test.as_ref(), &failure.text),
            failure.files.join(", "),
            failure.reason.clone().unwrap_or_default(),
        ]
    };
    table.add_rows(failures.iter().map(row));
    table.drop_empty_columns();
    table
}

fn fixed_failures_table(fixed: &[VerifiedFailure]) -> ReportTable {
    let mut table = ReportTable::new("Fixed: failed before the change");
    table.add_text_column("Check", 2);
    table.add_text_column("Failure", 0);
    table.add_text_column("Files", 3);
    table.add_rows(fixed.iter().map(|gone| {
        vec![
            gone.check.clone(),
            failure_text(gone.test.as_ref(), &gone.text),
            gone.files.join(", "),
        ]
    }));
    table.drop_empty_columns();
    table
}

/// Returns the test with the first line of its message, cut for a cell.
fn failure_text(test: Option<&String>, said: &str) -> String {
    let Some(test) = test else {
        return first_line(said);
    };
    // Some runners put the test's name above its message, or before it.
    let lines = said.lines().map(str::trim);
    let message = lines
        .map(|line| {
            let rest = line.strip_prefix(test.as_str()).unwrap_or(line);
            rest.trim_start_matches([':', ' ', '-'])
        })
        .find(|line| !line.is_empty());
    match message {
        Some(message) if message.contains(test.as_str()) => first_line(message),
        Some(message) => first_line(&format!("{test}: {message}")),
        None => test.clone(),
    }
}

fn context_notes(verification: &Verification) -> Vec<String> {
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let (kind, profile) = (
        without_underscores(&said(&verification.task_kind)),
        said(&verification.profile),
    );
    let mut notes = vec![format!(
        "Goal ({kind}, {profile}): {}",
        said(&verification.goal)
    )];
    notes.push(format!(
        "Stack: {}",
        without_underscores(&said(&verification.stack))
    ));
    if !verification.changed.is_empty() {
        let shown: Vec<&str> = verification
            .changed
            .iter()
            .take(MAX_CHANGED)
            .map(String::as_str)
            .collect();
        let more = verification.changed.len().saturating_sub(shown.len());
        let rest = if more > 0 {
            format!(", and {} more", format::format_integer(more as u64))
        } else {
            String::new()
        };
        notes.push(format!("Changed: {}{rest}", shown.join(", ")));
    }
    notes.extend(
        verification
            .baseline
            .as_ref()
            .map(|baseline| format!("Before the change: {}", baseline.name)),
    );
    notes.extend(
        verification
            .parts
            .iter()
            .filter(|_| verification.parts.len() > 1)
            .map(|part| {
                let folder = if part.folder.is_empty() {
                    "."
                } else {
                    &part.folder
                };
                format!(
                    "Part {folder}: {} – {}",
                    without_underscores(&part.stack),
                    part.reasons.join("; ")
                )
            }),
    );
    notes.extend(
        verification
            .reasons
            .iter()
            .map(|reason| format!("Because: {reason}")),
    );
    notes.extend(
        verification
            .manual
            .as_ref()
            .map(|manual| format!("For a person: {manual}")),
    );
    notes.extend(
        verification
            .ticket
            .as_ref()
            .map(|ticket| format!("Ticket: {ticket}")),
    );
    if let Some(status) = &verification.terminal_status {
        let why = verification
            .reason
            .as_ref()
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        notes.push(format!("Status: {status}{why}"));
    }
    notes.extend(next_step(verification).map(|next| format!("Next: {next}")));
    notes
}

/// Replaces underscores: `out_of_scope` becomes `out of scope`.
fn without_underscores(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns the first non-blank line, cut if it is long.
fn first_line(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let clipped: String = line.chars().take(MAX_MESSAGE_CHARACTERS).collect();
    if clipped.len() < line.len() || text.trim().lines().count() > 1 {
        format!("{clipped}…")
    } else {
        clipped
    }
}

/// Formats the outcome with the next step: `done partial, next: accept partial`.
pub fn outcome_with_next_step(verification: &Verification) -> Option<String> {
    let status = verification.terminal_status.as_deref()?.replace('_', " ");
    Some(match next_step(verification) {
        Some(next) => format!("{status}, next: {}", next.replace('_', " ")),
        None => status,
    })
}

/// Formats the next step with its alternative: `escalate, or continue`.
fn next_step(verification: &Verification) -> Option<String> {
    let next = verification.next.as_ref()?;
    Some(
        verification
            .alternative
            .as_ref()
            .map_or_else(|| next.clone(), |other| format!("{next}, or {other}")),
    )
}
