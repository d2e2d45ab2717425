//! A table while it is examined: its columns, its rows, and the user's hints.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::notation::Decimal;
use super::super::sample::Sample;
use super::summary::{Column, Kind, Summary, summarise};
use super::verdict::is_nothing;
use super::words::{Role, is_total};

/// Hints about a table from the command line. Columns are named as in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    pub approach: Option<String>,
    pub model: Option<String>,
    pub item: Option<String>,
    pub passed: Option<String>,
    pub score: Option<String>,
    pub attempt: Option<String>,
    pub suite: Option<String>,
    pub evaluator: Option<String>,
    pub sheet: Option<String>,
    pub list: Option<String>,
    /// Kind of the columns that are side by side.
    pub wide: Option<WideAre>,
    pub decimal_comma: Option<bool>,
    /// Words of the source, each with its status.
    pub values: BTreeMap<String, String>,
    /// Fields of the run that the command line sets.
    pub set: BTreeMap<String, String>,
}

/// Kinds of columns side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideAre {
    Approaches,
    Items,
    Suites,
}

impl Hints {
    /// Returns whether there are hints other than fields of the run.
    pub fn are_given(&self) -> bool {
        *self != Self { set: self.set.clone(), ..Self::default() }
    }
}

/// A decision that a table leaves open, with the option that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    /// The option, perhaps with an explanation or with alternatives in brackets. Empty if no option decides.
    pub option: String,
}

impl Question {
    /// Returns the option as it can be given, without what is in brackets after it.
    pub fn given(&self) -> &str {
        self.option.split_once(" (").map_or(&self.option, |(option, _)| option)
    }
}

impl Question {
    pub(super) fn new(text: impl Into<String>, option: impl Into<String>) -> Self {
        Self { text: text.into(), option: option.into() }
    }
}

/// Names columns in a sentence.
pub(super) fn names(columns: &[&Column]) -> String {
    columns.iter().map(|column| format!("`{}`", column.name)).collect::<Vec<_>>().join(" and ")
}

pub(super) struct Look<'a> {
    pub sample: &'a Sample,
    pub hints: &'a Hints,
    /// The rows without totals.
    pub rows: Vec<&'a Vec<Option<String>>>,
    pub summary: Summary,
    /// The column and the values that mark rows of totals.
    pub skip: Option<(String, Vec<String>)>,
    pub notes: Vec<String>,
}

impl<'a> Look<'a> {
    pub fn new(sample: &'a Sample, hints: &'a Hints) -> Self {
        let given = hints.decimal_comma.map(|is_comma| if is_comma { Decimal::Comma } else { Decimal::Point });
        let all: Vec<&Vec<Option<String>>> = sample.rows.iter().collect();
        let whole = summarise(sample, &all, given);
        for place in 0..sample.columns.len().min(4) {
            let is_sum = |row: &&Vec<Option<String>>| row[place].as_deref().is_some_and(is_total);
            let (sums, rows): (Vec<_>, Vec<_>) = all.iter().copied().partition(is_sum);
            if sums.is_empty() || rows.is_empty() || sums.len() * 4 > all.len() {
                continue;
            }
            let summary = summarise(sample, &rows, given);
            let is_clearer = |(with, without): (&Column, &Column)| with.kind != Kind::Outcomes && without.kind == Kind::Outcomes;
            let adds_up = |column: &Column| adds_up(column, &rows, &sums, summary.decimal.as_ref().ok().copied().flatten());
            let are_totals = whole.columns.iter().zip(&summary.columns).any(is_clearer) || summary.columns.iter().any(adds_up);
            if are_totals {
                let values: BTreeSet<String> = sums.iter().filter_map(|row| row[place].clone()).collect();
                let values: Vec<String> = values.into_iter().collect();
                let notes = vec![format!("rows named {} add up others and are passed over", values.join(", "))];
                return Self { sample, hints, rows, summary, skip: Some((sample.columns[place].clone(), values)), notes };
            }
        }
        Self { sample, hints, rows: all, summary: whole, skip: None, notes: Vec::new() }
    }

    pub fn named(&self, name: &str) -> Option<&Column> {
        self.summary.columns.iter().find(|column| column.name == name)
    }

    /// Returns the column named by a command line option, or `None` without the option.
    pub fn hinted(&self, name: Option<&String>, option: &str) -> Result<Option<&Column>, Question> {
        let Some(name) = name else { return Ok(None) };
        const SHOWN: usize = 20;
        let named: Vec<String> =
            self.summary.columns.iter().filter(|column| !column.name.is_empty()).map(|column| format!("`{}`", column.name)).collect();
        let more = if named.len() > SHOWN { ", …" } else { "" };
        let missing = || format!("there is no column `{name}`; the columns are {}{more}", named[..named.len().min(SHOWN)].join(", "));
        self.named(name).map(Some).ok_or_else(|| Question::new(missing(), option))
    }

    /// Returns the fitting columns whose titles are clearest for the role.
    pub fn best(&self, role: Role, least: u8, fits: impl Fn(&Column) -> bool) -> Vec<&Column> {
        let clarity = |column: &&Column| column.clarity(role);
        let fitting: Vec<&Column> =
            self.summary.columns.iter().filter(|column| column.clarity(role) >= least.max(1) && fits(column)).collect();
        let most = fitting.iter().map(clarity).max().unwrap_or(0);
        fitting.into_iter().filter(|column| column.clarity(role) == most).collect()
    }

    /// Counts the rows by their values in the columns.
    pub fn counts(&self, columns: &[&Column]) -> HashMap<Vec<&'a str>, usize> {
        let mut counts = HashMap::new();
        for row in &self.rows {
            if let Some(key) = key(row, columns) {
                *counts.entry(key).or_default() += 1;
            }
        }
        counts
    }

    /// Notes the columns that the proposal does not read.
    pub fn note_unread(&mut self, used: &[String]) {
        const SHOWN: usize = 12;
        let is_unread = |column: &&Column| !used.contains(&column.name) && column.kind != Kind::Nothing && !column.name.is_empty();
        let unread: Vec<String> = self.summary.columns.iter().filter(is_unread).map(|column| format!("`{}`", column.name)).collect();
        if !unread.is_empty() {
            let more = if unread.len() > SHOWN { ", …" } else { "" };
            self.notes.push(format!("not read: {}{more}", unread[..unread.len().min(SHOWN)].join(", ")));
        }
    }

    /// Returns whether no two rows have the same values in the columns.
    pub fn is_unique(&self, columns: &[&Column]) -> bool {
        self.counts(columns).values().all(|count| *count == 1)
    }

    /// Returns whether the first columns determine the second.
    pub fn decides(&self, first: &[&Column], second: &Column) -> bool {
        let mut known: HashMap<Vec<&str>, &str> = HashMap::new();
        self.rows.iter().all(|row| match (key(row, first), text(row, second)) {
            (Some(key), Some(text)) => *known.entry(key).or_insert(text) == text,
            _ => true,
        })
    }
}

/// Returns a row's values in the columns, or `None` if one is missing.
fn key<'r>(row: &'r [Option<String>], columns: &[&Column]) -> Option<Vec<&'r str>> {
    columns.iter().map(|column| text(row, column)).collect()
}

/// Returns the text of a cell, or `None` if nothing was measured.
pub(super) fn text<'r>(row: &'r [Option<String>], column: &Column) -> Option<&'r str> {
    row[column.place].as_deref().filter(|text| !is_nothing(text))
}

/// Returns whether the rows named as totals have the sum or the mean of the other rows.
fn adds_up(column: &Column, rows: &[&Vec<Option<String>>], sums: &[&Vec<Option<String>>], decimal: Option<Decimal>) -> bool {
    if column.numbers().is_none() {
        return false;
    }
    let value = |row: &&Vec<Option<String>>| super::summary::read_number(row[column.place].as_deref()?, decimal);
    let values: Vec<f64> = rows.iter().filter_map(value).collect();
    let sum: f64 = values.iter().sum();
    let mean = sum / values.len().max(1) as f64;
    let is_near = |total: f64, exact: f64| (total - exact).abs() <= 0.0051 * exact.abs().max(1.0);
    values.len() > 1 && sums.iter().filter_map(value).any(|total| is_near(total, sum) || is_near(total, mean))
}
