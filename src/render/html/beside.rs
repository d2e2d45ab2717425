//! The other arms' outcomes on an item, beside one arm's transcript of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::render::words;
use crate::views::{Arm, ItemPage, ItemRow, OverviewSuite, RunTranscripts};

use super::mark::mark;
use super::plan::SuitePlace;
use super::shell::Text;

/// Maximum number of arms listed: those that lead the board.
pub const MOST_BESIDE: usize = 8;

/// The other arms on an item. It has no counts, so that one run more seldom changes the pages of all other runs.
#[derive(Default, Serialize)]
pub(super) struct Beside {
    pub arms: Vec<Other>,
    /// Number of further arms.
    pub more: usize,
}

/// Another arm on the item.
#[derive(Serialize)]
pub(super) struct Other {
    pub name: Text,
    pub class: &'static str,
    pub sign: &'static str,
    pub word: &'static str,
}

impl Beside {
    pub fn of(suite: &OverviewSuite, place: &SuitePlace, arm: &Arm, row: &ItemRow) -> Self {
        let Some(line) = place
            .items
            .index(&row.item, Some(("", &row.kind)))
            .and_then(|index| suite.items.items.get(index))
        else {
            return Self::default();
        };
        let name = words::names_on(&suite.board);
        let others = suite
            .items
            .arms
            .iter()
            .zip(&line.cells)
            .filter(|(other, _)| other.arm != *arm);
        let mut arms: Vec<Other> = others
            .map(|(other, cell)| {
                let mark = mark(*cell, "");
                Other {
                    name: Text::from(name(&other.arm)),
                    class: mark.class,
                    sign: mark.sign,
                    word: mark.word,
                }
            })
            .collect();
        let more = arms.len().saturating_sub(MOST_BESIDE);
        arms.truncate(MOST_BESIDE);
        Self { arms, more }
    }
}

/// Returns the outcomes of a run that its transcripts belong to, by item.
pub(super) fn rows_of(items: &[ItemPage]) -> BTreeMap<&str, &ItemRow> {
    let mut rows = BTreeMap::<&str, &ItemRow>::new();
    for row in items.iter().flat_map(|page| &page.rows) {
        rows.entry(&row.item).or_insert(row);
    }
    rows
}

/// Lists the other arms on all items with a transcript in a run.
pub(super) fn of_run(
    suite: &OverviewSuite,
    place: &SuitePlace,
    arm: &Arm,
    items: &[ItemPage],
    transcripts: &RunTranscripts,
) -> Vec<Beside> {
    let rows = rows_of(items);
    let entries = transcripts
        .pages
        .iter()
        .flatten()
        .filter_map(|entry| entry.item.as_deref());
    entries
        .filter_map(|item| rows.get(item))
        .map(|row| Beside::of(suite, place, arm, row))
        .collect()
}
