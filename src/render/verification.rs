//! A verification as tables: checks, failures with their causes, and fixed failures.

use crate::domain::{Verification, VerifiedCheck, VerifiedFailure};

use super::cell::Cell;
use super::format;
use super::table::{Column, Table};

/// Maximum characters of a check's message in a cell.
const SHORT: usize = 120;
const MOST_CHANGED: usize = 10;

/// Lays out a verification. The first table is always there, and the last ends with the next step.
pub fn tables(verification: &Verification) -> Vec<Table> {
    let mut tables = vec![checks(verification)];
    if !verification.failures.is_empty() {
        tables.push(failures(&verification.failures));
    }
    if !verification.fixed.is_empty() {
        tables.push(fixed(&verification.fixed));
    }
    if let Some(last) = tables.last_mut() {
        last.notes.extend(notes(verification));
    }
    tables
}

fn checks(verification: &Verification) -> Table {
    let title = match &verification.terminal_status {
        Some(status) => format!("Verification: {status}"),
        None => "Verification, planned".to_owned(),
    };
    let mut table = Table::new(title);
    table.left("Check", 0);
    table.left("Command", 0);
    table.left("In", 2);
    table.left("Outcome", 1);
    table.left("Before", 1);
    table.head(Column::number("Time").keys(["duration_seconds"]).rank(3));
    table.left("Why", 4);
    table.fill(verification.checks.iter().map(cells));
    // A plan has no outcomes, so this drops their column. A run keeps it.
    table.drop_empty_columns();
    table
}

fn cells(check: &VerifiedCheck) -> Vec<Cell> {
    let outcome = match (&check.outcome, &check.message) {
        (Some(outcome), Some(message)) => format!("{}: {}", words(outcome), short(message)),
        (Some(outcome), None) => words(outcome),
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
            .map(words)
            .unwrap_or_default()
            .into(),
        Cell::known(check.seconds, format::seconds),
        check.reason.as_deref().unwrap_or_default().into(),
    ]
}

fn failures(failures: &[VerifiedFailure]) -> Table {
    let mut table = Table::new("Failures");
    table.left("Scope", 0);
    table.left("Check", 2);
    table.left("Failure", 0);
    table.left("Files", 3);
    table.left("Why", 1);
    let row = |failure: &VerifiedFailure| {
        vec![
            failure.scope.as_deref().map(words).unwrap_or_default(),
            failure.check.clone(),
            what(failure.test.as_ref(), &failure.text),
            failure.files.join(", "),
            failure.reason.clone().unwrap_or_default(),
        ]
    };
    table.fill(failures.iter().map(row));
    table.drop_empty_columns();
    table
}

fn fixed(fixed: &[VerifiedFailure]) -> Table {
    let mut table = Table::new("Fixed: failed before the change");
    table.left("Check", 2);
    table.left("Failure", 0);
    table.left("Files", 3);
    table.fill(fixed.iter().map(|gone| {
        vec![
            gone.check.clone(),
            what(gone.test.as_ref(), &gone.text),
            gone.files.join(", "),
        ]
    }));
    table.drop_empty_columns();
    table
}

/// Returns the test with its message, cut for a cell.
fn what(test: Option<&String>, said: &str) -> String {
    match test {
        Some(test) if !said.contains(test.as_str()) => short(&format!("{test}: {said}")),
        Some(_) | None => short(said),
    }
}

fn notes(verification: &Verification) -> Vec<String> {
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let (kind, profile) = (
        words(&said(&verification.task_kind)),
        said(&verification.profile),
    );
    let mut notes = vec![format!(
        "Goal ({kind}, {profile}): {}",
        said(&verification.goal)
    )];
    notes.push(format!("Stack: {}", words(&said(&verification.stack))));
    if !verification.changed.is_empty() {
        let shown: Vec<&str> = verification
            .changed
            .iter()
            .take(MOST_CHANGED)
            .map(String::as_str)
            .collect();
        let more = verification.changed.len().saturating_sub(shown.len());
        let rest = if more > 0 {
            format!(", and {} more", format::integer(more as u64))
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
                    words(&part.stack),
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
    notes.extend(next_of(verification).map(|next| format!("Next: {next}")));
    notes
}

/// Replaces underscores: `out_of_scope` becomes `out of scope`.
fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns the first non-blank line, cut if it is long.
fn short(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let clipped: String = line.chars().take(SHORT).collect();
    if clipped.len() < line.len() || text.trim().lines().count() > 1 {
        format!("{clipped}…")
    } else {
        clipped
    }
}

/// Formats the outcome with the next step: `done partial, next: accept partial`.
pub fn outcome(verification: &Verification) -> Option<String> {
    let status = verification.terminal_status.as_deref()?.replace('_', " ");
    Some(match next_of(verification) {
        Some(next) => format!("{status}, next: {}", next.replace('_', " ")),
        None => status,
    })
}

/// Formats the next step with its alternative: `escalate, or continue`.
fn next_of(verification: &Verification) -> Option<String> {
    let next = verification.next.as_ref()?;
    Some(
        verification
            .alternative
            .as_ref()
            .map_or_else(|| next.clone(), |other| format!("{next}, or {other}")),
    )
}
