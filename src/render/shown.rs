//! A run's items as a table: outcome and reason of each.

use std::collections::BTreeMap;

use crate::domain::{Direction, Unit};
use crate::views::{ItemRow, ShownRun};

use super::cell::Cell;
use super::format;
use super::table::{Column, Table};

/// Maximum characters of a text in a table's cell on a screen. The whole text may be pages long.
const SHORT: usize = 80;

impl Texts {
    /// Returns the shown part of the text.
    pub(super) fn of(self, text: &str) -> String {
        match self {
            Self::Short => short(text),
            Self::Whole => text.to_owned(),
        }
    }
}

/// Length of an item's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// The first line, cut if it is long.
    Short,
    Whole,
}

/// Lays out the items of a run, or returns `None` if it has no outcomes of items or none were requested.
pub fn items(shown: &ShownRun, texts: Texts) -> Option<Table> {
    let rows = &shown.items;
    if rows.is_empty() {
        return None;
    }
    let each: Vec<&ItemRow> = rows.iter().collect();
    let mut table = of_items(&shown.page.line.id, &each, &|text| texts.of(text));
    // Criteria have a table of their own.
    let word = shown
        .page
        .item_word
        .as_deref()
        .filter(|word| *word != "criteria")
        .unwrap_or("items");
    table.notes.extend(some_of(
        rows.len(),
        shown.items_left_out,
        word,
        "what did not pass",
    ));
    Some(table)
}

/// Lays out these items of a run, with their texts shortened by `text`.
pub(super) fn of_items(run: &str, rows: &[&ItemRow], text: &dyn Fn(&str) -> String) -> Table {
    let is_repeated = rows.iter().any(|row| row.attempt > 1);
    let has_families = rows.iter().any(|row| row.evaluator != rows[0].evaluator);
    let each =
        |cell: &dyn Fn(&ItemRow) -> Cell| rows.iter().map(|row| cell(row)).collect::<Vec<Cell>>();
    let said = |of: &dyn Fn(&ItemRow) -> Option<&str>| {
        each(&|row| Cell::words(of(row).map(text).unwrap_or_default()))
    };
    let mut table = Table::new("Items");
    table.column(
        Column::data(["run"]),
        each(&|_| Cell::figures([run.into()])),
    );
    table.column(
        Column::words("Item").keys(["item"]).field("item"),
        each(&|row| Cell::words(row.item.as_str())),
    );
    let status = |row: &ItemRow| {
        Cell::shown(row.status.replace('_', " ")).data([row.status.as_str().into()])
    };
    table.column(
        Column::words("Outcome").keys(["status"]).field("status"),
        each(&status),
    );
    table.column(
        Column::words("Why")
            .keys(["reason"])
            .field("reason")
            .rank(1),
        said(&|row| row.reason.as_deref()),
    );
    table.column(
        Column::words("Answer")
            .keys(["answer"])
            .field("answer")
            .rank(1),
        said(&|row| row.answer.as_deref()),
    );
    let expected = |row: &ItemRow| Cell::words(text(&row.expected.join(" or ")));
    table.column(
        Column::words("Expected")
            .keys(["expected"])
            .field("expected")
            .rank(1),
        each(&expected),
    );
    table.column(
        Column::words("Question")
            .keys(["question"])
            .field("question")
            .rank(3),
        said(&|row| row.question.as_deref()),
    );
    let scores = |row: &ItemRow| Cell::words(text(&other_scores(&row.scores)));
    table.column(
        Column::words("Other scores")
            .keys(["scores"])
            .field("scores")
            .rank(3),
        each(&scores),
    );
    let attempt = |row: &ItemRow| {
        let shown = if is_repeated {
            row.attempt.to_string()
        } else {
            String::new()
        };
        Cell {
            is_unknown: !is_repeated,
            ..Cell::shown(shown).data([row.attempt.into()])
        }
    };
    table.column(
        Column::number("Attempt")
            .keys(["attempt"])
            .field("attempt")
            .rank(2),
        each(&attempt),
    );
    let evaluator = |row: &ItemRow| {
        let shown = if has_families {
            row.evaluator.as_str()
        } else {
            ""
        };
        Cell {
            is_unknown: !has_families,
            ..Cell::shown(shown).data([row.evaluator.as_str().into()])
        }
    };
    table.column(
        Column::words("Decided by")
            .keys(["evaluator"])
            .field("evaluator")
            .rank(2),
        each(&evaluator),
    );
    table.column(
        Column::words("Cluster")
            .keys(["cluster"])
            .field("cluster")
            .rank(7),
        said(&|row| row.cluster.as_deref()),
    );
    table.column(
        Column::number("Score")
            .keys(["score"])
            .field("score")
            .rank(3),
        each(&|row| Cell::known(row.score, format::plain)),
    );
    table.column(
        Column::number("Cost")
            .keys(["cost_usd"])
            .field("cost_usd")
            .unit(Unit::Usd)
            .better(Direction::Down)
            .rank(4),
        each(&|row| Cell::known(row.cost_usd, format::money)),
    );
    let duration = |row: &ItemRow| Cell::known(row.duration_seconds, format::seconds);
    table.column(
        Column::number("Duration")
            .keys(["duration_seconds"])
            .field("duration_seconds")
            .unit(Unit::Seconds)
            .better(Direction::Down)
            .rank(4),
        each(&duration),
    );
    table.column(
        Column::number("Tokens in")
            .keys(["input_tokens"])
            .field("input_tokens")
            .unit(Unit::Tokens)
            .better(Direction::Down)
            .rank(5),
        each(&|row| Cell::counted(row.input_tokens)),
    );
    table.column(
        Column::number("Tokens out")
            .keys(["output_tokens"])
            .field("output_tokens")
            .unit(Unit::Tokens)
            .better(Direction::Down)
            .rank(5),
        each(&|row| Cell::counted(row.output_tokens)),
    );
    table.column(
        Column::number("Steps")
            .keys(["steps"])
            .field("steps")
            .rank(6),
        each(&|row| Cell::counted(row.steps)),
    );
    table.column(
        Column::words("Tools")
            .keys(["tools"])
            .field("tools")
            .rank(6),
        each(&|row| Cell::words(tools(row))),
    );
    table
}

/// Says that there are more rows and which come first, or returns `None` if all are shown.
pub(super) fn some_of(shown: usize, left_out: u64, word: &str, first: &str) -> Option<String> {
    let (shown, all) = (
        format::integer(shown as u64),
        format::integer(shown as u64 + left_out),
    );
    (left_out > 0).then(|| format!("{shown} of {all} {word}; {first} comes first. --items all and --items failed have the others."))
}

/// Formats the scores besides the deciding one: `f1 0.75, model_graded 1`.
pub(super) fn other_scores(scores: &BTreeMap<String, f64>) -> String {
    scores
        .iter()
        .map(|(scorer, score)| format!("{scorer} {}", format::plain(*score)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Formats the number of calls by tool: `Bash 3, Read 1`.
fn tools(row: &ItemRow) -> String {
    row.tools
        .iter()
        .map(|(tool, calls)| format!("{tool} {}", format::integer(*calls)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the first non-blank line, cut if it is long.
pub(super) fn short(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default();
    let cut: String = line.chars().take(SHORT).collect();
    if cut.len() < line.len() || lines.next().is_some() {
        format!("{cut} …")
    } else {
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_their_first_line() {
        assert_eq!(short("\n  one \n"), "one");
        assert_eq!(short("one\ntwo"), "one …");
        assert_eq!(short(&"é".repeat(SHORT)), "é".repeat(SHORT));
        assert_eq!(
            short(&"é".repeat(SHORT + 1)),
            format!("{} …", "é".repeat(SHORT))
        );
    }
}
