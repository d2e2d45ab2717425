//! What `run --summary` appends: a section a batch, with its date, its gate and its tables, for a page of CI or a mail.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::domain::escape_invisible;
use crate::render::gate_comment::MARKER;
use crate::render::markdown;
use crate::render::table::ReportTable;
use crate::results::Batch;

use super::display_path::display_path;
use super::failure::CommandFailure;

/// The part of a batch's answer that is known when the summary is written.
pub(super) enum SummaryPart<'a> {
    /// The comment of a gate.
    Gate(String),
    Tables(&'a [ReportTable]),
    /// Why there is no answer.
    Failure(&'a CommandFailure),
}

/// Appends the section of a batch. The date and the batch come first, so that the newest night is found without reading the others.
pub(super) fn append_section(
    path: &Path,
    batch: &Batch,
    said: &[SummaryPart<'_>],
) -> Result<(), CommandFailure> {
    let mut text = format!(
        "## {}, batch `{}`\n\n",
        format_time(batch),
        escape_invisible(&batch.id)
    );
    for part in said {
        match part {
            // By the marker, a later report replaces the comment of a pull request. A night is not replaced.
            SummaryPart::Gate(comment) => {
                text.push_str(comment.trim_start_matches(MARKER).trim_start());
            }
            SummaryPart::Tables(tables) => text.push_str(&markdown::write_tables(tables)),
            SummaryPart::Failure(failure) => text.push_str(&format_failure(failure)),
        }
        text.push('\n');
    }
    let append = || {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)?
            .write_all(text.as_bytes())
    };
    append().map_err(|error| {
        CommandFailure::new(format!("cannot write {}: {error}", display_path(path)))
    })
}

fn format_failure(failure: &CommandFailure) -> String {
    let lines = std::iter::once(&failure.message)
        .chain(&failure.details)
        .chain(&failure.hint);
    let lines: Vec<String> = lines
        .map(|line| format!("{}  \n", markdown::escape_text(line)))
        .collect();
    format!("### No answer\n\n{}", lines.concat())
}

/// Returns when the plan was made, as `2026-02-01 02:00 UTC`.
fn format_time(batch: &Batch) -> String {
    let created = chrono::DateTime::parse_from_rfc3339(&batch.created);
    created.map_or_else(
        |_| escape_invisible(&batch.created),
        |time| time.to_utc().format("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn append_puts_date_and_batch_above_the_gate_and_the_gate_above_the_tables() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("night.md");
        let batch = Batch {
            id: "b1".to_owned(),
            created: "2026-02-01T02:00:00Z".to_owned(),
            ..Batch::default()
        };
        let tables = [ReportTable::new("hello")];
        for _ in 0..2 {
            let gate = SummaryPart::Gate(format!("{MARKER}\n### Gate: pass\n"));
            append_section(&path, &batch, &[gate, SummaryPart::Tables(&tables)]).expect("writable");
        }
        append_section(
            &path,
            &batch,
            &[SummaryPart::Failure(
                &CommandFailure::new("a | b").with_hint("do"),
            )],
        )
        .expect("writable");
        let text = std::fs::read_to_string(&path).expect("written");
        let night = "## 2026-02-01 02:00 UTC, batch `b1`\n\n";
        assert!(
            text.starts_with(&format!("{night}### Gate: pass\n\n### hello\n")),
            "{text}"
        );
        assert_eq!(text.matches(night).count(), 3, "{text}");
        assert!(
            text.ends_with("### No answer\n\na \\| b  \ndo  \n\n") && !text.contains(MARKER),
            "{text}"
        );
    }
}
