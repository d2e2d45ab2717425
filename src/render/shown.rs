//! A run's items as a table: what happened to each, and why.

use std::collections::BTreeMap;

use crate::views::{ItemRow, ShownRun};

use super::format;
use super::table::Table;

/// What a cell of a table on a screen says of a text that may be pages long.
const SHORT: usize = 80;

impl Texts {
    /// Returns as much of the text as is shown.
    pub(super) fn of(self, text: &str) -> String {
        match self {
            Self::Short => short(text),
            Self::Whole => text.to_owned(),
        }
    }
}

/// How much of an item's texts is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// The first line, and not all of a long one.
    Short,
    Whole,
}

/// Lays out the items of a run; none where it has no outcomes of items, or none were asked for.
pub fn items(shown: &ShownRun, texts: Texts) -> Option<Table> {
    let rows = &shown.items;
    if rows.is_empty() {
        return None;
    }
    let mut table = Table::new("Items");
    table.left("Item", 0);
    table.left("Outcome", 0);
    table.left("Why", 1);
    table.left("Answer", 1);
    table.left("Expected", 1);
    table.left("Question", 3);
    table.left("Other scores", 3);
    table.right("Attempt", 2);
    table.left("Decided by", 2);
    table.left("Cluster", 7);
    table.right("Score", 3);
    table.right("Cost", 4);
    table.right("Duration", 4);
    table.right("Tokens in", 5);
    table.right("Tokens out", 5);
    table.right("Steps", 6);
    table.left("Tools", 6);
    let repeats = rows.iter().any(|row| row.attempt > 1);
    let families = rows.iter().any(|row| row.evaluator != rows[0].evaluator);
    table.rows = rows.iter().map(|row| cells(row, texts, repeats, families)).collect();
    table.drop_empty_columns();
    // Criteria have a table of their own.
    let word = shown.page.item_word.as_deref().filter(|word| *word != "criteria").unwrap_or("items");
    table.notes.extend(some_of(rows.len(), shown.items_left_out, word, "what did not pass"));
    Some(table)
}

/// Says that there are more rows than are shown, and which come first; nothing where all are there.
pub(super) fn some_of(shown: usize, left_out: u64, word: &str, first: &str) -> Option<String> {
    let (shown, all) = (format::integer(shown as u64), format::integer(shown as u64 + left_out));
    (left_out > 0).then(|| format!("{shown} of {all} {word}; {first} comes first. --items all and --items failed have the others."))
}

fn cells(row: &ItemRow, texts: Texts, repeats: bool, families: bool) -> Vec<String> {
    let shown = |text: &str| texts.of(text);
    let known = |text: Option<String>| text.unwrap_or_default();
    vec![
        row.item.clone(),
        row.status.replace('_', " "),
        known(row.reason.as_deref().map(shown)),
        known(row.answer.as_deref().map(shown)),
        shown(&row.expected.join(" or ")),
        known(row.question.as_deref().map(shown)),
        shown(&other_scores(&row.scores)),
        if repeats { row.attempt.to_string() } else { String::new() },
        if families { row.evaluator.clone() } else { String::new() },
        known(row.cluster.clone()),
        known(row.score.map(format::plain)),
        known(row.cost_usd.map(format::money)),
        known(row.duration_seconds.map(format::seconds)),
        known(row.input_tokens.map(format::integer)),
        known(row.output_tokens.map(format::integer)),
        known(row.steps.map(format::integer)),
        tools(row),
    ]
}

/// `f1 0.75, model_graded 1`: the scores beside the one that decided.
pub(super) fn other_scores(scores: &BTreeMap<String, f64>) -> String {
    scores.iter().map(|(scorer, score)| format!("{scorer} {}", format::plain(*score))).collect::<Vec<_>>().join(", ")
}

/// `Bash 3, Read 1`.
fn tools(row: &ItemRow) -> String {
    row.tools.iter().map(|(tool, calls)| format!("{tool} {}", format::integer(*calls))).collect::<Vec<_>>().join(", ")
}

/// The first line that says something, cut where it is long.
pub(super) fn short(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default();
    let cut: String = line.chars().take(SHORT).collect();
    if cut.len() < line.len() || lines.next().is_some() { format!("{cut} …") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_their_first_line() {
        assert_eq!(short("\n  one \n"), "one");
        assert_eq!(short("one\ntwo"), "one …");
        assert_eq!(short(&"é".repeat(SHORT)), "é".repeat(SHORT));
        assert_eq!(short(&"é".repeat(SHORT + 1)), format!("{} …", "é".repeat(SHORT)));
    }
}
