//! Columns that tell how an attempt ended (`completed`, `timeout`), not how good its answer was.

use crate::domain::ItemStatus;

use super::draft::quote_yaml;
use super::statuses::write_status_words;
use super::summary::{ColumnSummary, ValueKind};
use super::table_sample::{ExaminedTable, MappingQuestion};
use super::verdict::{is_ending, is_neutral_ending, parse_status_word};
use super::words::{names_metric, own_name, split_title};

/// Titles of columns with the state of a run.
#[rustfmt::skip]
const STATE_TITLES: [&str; 22] = [
    "status", "state", "outcome", "result", "exit", "ending", "termination", "completion", "ergebnis", "zustand", "stand", "statut", "etat", "resultat", "estado",
    "resultado", "stato", "esito", "stan", "状态", "状態", "статус",
];
/// Titles of yes-or-no columns for whether an attempt ended.
#[rustfmt::skip]
const ENDED_TITLES: [&str; 9] = ["completed", "complete", "finished", "done", "ended", "terminated", "abgeschlossen", "beendet", "fertig"];

/// Returns whether the column tells how attempts ended: all its words for a pass mean a good ending, and no word is a plain fail.
pub(super) fn is_end_reason_column(column: &ColumnSummary) -> bool {
    let names = split_title(&own_name(&column.name));
    let is_state = names
        .iter()
        .any(|word| STATE_TITLES.contains(&word.as_str()));
    let may_be = matches!(column.kind, ValueKind::Outcomes | ValueKind::Text);
    let passes: Vec<&String> = column
        .values
        .keys()
        .filter(|text| parse_status_word(text) == Some(ItemStatus::Pass))
        .collect();
    let never_fails = column
        .values
        .keys()
        .all(|text| parse_status_word(text) != Some(ItemStatus::Fail));
    // `relevance_status` says how a judgement ended.
    is_state
        && !names.iter().any(|word| names_metric(word))
        && may_be
        && !passes.is_empty()
        && never_fails
        && passes.iter().all(|text| is_ending(text))
}

/// Returns whether the column's words for a pass only mean an ending: `completed`, or yes in a column `finished`.
pub(super) fn says_no_more_than_ended(column: &ColumnSummary) -> bool {
    let names = split_title(&own_name(&column.name));
    let is_titled = names
        .iter()
        .any(|word| ENDED_TITLES.contains(&word.as_str()));
    let mut passes = column
        .values
        .keys()
        .filter(|text| parse_status_word(text) == Some(ItemStatus::Pass))
        .peekable();
    is_titled || (passes.peek().is_some() && passes.all(|text| is_neutral_ending(text)))
}

/// Writes the statuses of rows whose attempt did not end well, or returns `None` if all did.
pub(super) fn write_unless(
    look: &ExaminedTable<'_>,
    column: &ColumnSummary,
) -> Result<Option<String>, MappingQuestion> {
    let mut is_any = false;
    let values = write_status_words(look, column, |found| {
        is_any |= found != ItemStatus::Pass;
        if found == ItemStatus::Pass {
            "null"
        } else {
            found.name()
        }
    })?;
    Ok(is_any.then(|| {
        format!(
            "unless: {{column: {}, values: {{{values}}}}}",
            quote_yaml(&column.name)
        )
    }))
}
