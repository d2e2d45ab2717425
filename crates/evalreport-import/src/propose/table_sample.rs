//! A table while it is examined: its columns, its rows, and the user's hints.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::domain::split_shell_words;

use super::super::notation::DecimalMark;
use super::super::sample::TableSample;
use super::polarity::BetterEnd;
use super::summary::{ColumnSummary, TableSummary, ValueKind, summarise_table};
use super::verdict::is_empty_word;
use super::words::{SuggestedRole, is_only_total, is_total};

/// Hints about a table from the command line. Columns are named as in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableHints {
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
    /// Better end of the score's scale.
    pub direction: Option<BetterEnd>,
    /// Kind of the columns that are side by side.
    pub wide: Option<WideKind>,
    pub decimal_comma: Option<bool>,
    /// Words of the source, each with its status.
    pub values: BTreeMap<String, String>,
    /// Fields of the run that the command line sets.
    pub set: BTreeMap<String, String>,
}

/// Kinds of columns side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideKind {
    Approaches,
    Items,
    Suites,
    /// Repeats of one approach.
    Attempts,
}

impl TableHints {
    /// Returns the hints together with the option of a question. `None` if it is none of them, such as `--map`.
    pub(in super::super) fn with_option(&self, option: &str) -> Option<Self> {
        let mut hints = self.clone();
        let mut words = split_shell_words(option)?.into_iter();
        while let Some(name) = words.next() {
            let value = words.next()?;
            let slot = match name.as_str() {
                "--approach" => &mut hints.approach,
                "--model" => &mut hints.model,
                "--suite" => &mut hints.suite,
                "--item" => &mut hints.item,
                "--passed" => &mut hints.passed,
                "--score" => &mut hints.score,
                "--attempt" => &mut hints.attempt,
                "--evaluator" => &mut hints.evaluator,
                "--sheet" => &mut hints.sheet,
                "--list" => &mut hints.list,
                "--value" => {
                    let (word, status) = value.rsplit_once('=')?;
                    hints.values.insert(word.to_owned(), status.to_owned());
                    continue;
                }
                "--direction" => {
                    hints.direction = match value.as_str() {
                        "up" => Some(BetterEnd::High),
                        "down" => Some(BetterEnd::Low),
                        _ => return None,
                    };
                    continue;
                }
                "--decimal" => {
                    hints.decimal_comma = Some(value == "comma");
                    continue;
                }
                "--wide" => {
                    hints.wide = Some(match value.as_str() {
                        "approaches" => WideKind::Approaches,
                        "items" => WideKind::Items,
                        "suites" => WideKind::Suites,
                        "attempts" => WideKind::Attempts,
                        _ => return None,
                    });
                    continue;
                }
                _ => return None,
            };
            *slot = Some(value);
        }
        Some(hints)
    }

    /// Returns whether there are hints other than fields of the run.
    pub fn has_hints(&self) -> bool {
        *self
            != Self {
                set: self.set.clone(),
                ..Self::default()
            }
    }
}

const NO_ROWS: &str = "the table has no rows";

/// A decision that a table leaves open, with the option that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingQuestion {
    pub text: String,
    /// The option, perhaps with an explanation or with alternatives in brackets. Empty if no option decides.
    pub option: String,
    /// Whether the option was tried on the files, and they are read with it, or leave another question.
    pub works: bool,
}

impl MappingQuestion {
    /// Returns the option as it can be given, without what is in brackets after it.
    pub fn given_option(&self) -> &str {
        self.option
            .split_once(" (")
            .map_or(&self.option, |(option, _)| option)
    }
}

impl MappingQuestion {
    /// Returns the question about a table with nothing but a header, which no option answers.
    pub(super) fn of_no_rows() -> Self {
        Self::new(NO_ROWS, "")
    }

    pub fn is_of_no_rows(&self) -> bool {
        self.text == NO_ROWS
    }

    pub(super) fn new(text: impl Into<String>, option: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            option: option.into(),
            works: false,
        }
    }
}

/// Names columns in a sentence.
pub(super) fn join_names(columns: &[&ColumnSummary]) -> String {
    columns
        .iter()
        .map(|column| format!("`{}`", column.name))
        .collect::<Vec<_>>()
        .join(" and ")
}

pub(super) struct ExaminedTable<'a> {
    pub sample: &'a TableSample,
    pub hints: &'a TableHints,
    /// The rows without totals.
    pub rows: Vec<&'a Vec<Option<String>>>,
    pub summary: TableSummary,
    /// The column and the values that mark rows of totals.
    pub skip: Option<(String, Vec<String>)>,
    /// Some rows repeat the titles, as where several tables were put together.
    pub has_repeated_titles: bool,
    /// Column that had all attempts at an item in one cell. Now each attempt is a row.
    pub attempts: Option<String>,
    pub notes: Vec<String>,
}

impl<'a> ExaminedTable<'a> {
    pub fn new(sample: &'a TableSample, hints: &'a TableHints) -> Self {
        let given = hints.decimal_comma.map(|is_comma| {
            if is_comma {
                DecimalMark::Comma
            } else {
                DecimalMark::Point
            }
        });
        let is_title = |(number, row): &(usize, &Vec<Option<String>>)| {
            repeats_titles(sample, row) || (*number == 0 && has_types(row))
        };
        let (titles, all): (Vec<_>, Vec<_>) = sample.rows.iter().enumerate().partition(is_title);
        let titles: Vec<RowCells<'_>> = titles.into_iter().map(|(_, row)| row).collect();
        let all: Vec<RowCells<'_>> = all.into_iter().map(|(_, row)| row).collect();
        let has_repeated_titles = titles.iter().any(|row| repeats_titles(sample, row));
        let marks = |rows: &[RowCells<'_>], place: usize| -> Option<BTreeSet<String>> {
            rows.iter().map(|row| row[place].clone()).collect()
        };
        let whole = summarise_table(sample, &all, given);
        for place in 0..sample.columns.len().min(4) {
            let names: BTreeSet<&str> =
                all.iter().filter_map(|row| row[place].as_deref()).collect();
            let is_sum = |row: &RowCells<'_>| {
                row[place]
                    .as_deref()
                    .is_some_and(|text| is_total(text) || is_total_of(text, &names))
            };
            let (sums, rows): (Vec<_>, Vec<_>) = all.iter().copied().partition(is_sum);
            // One skip has one column.
            let Some(title_marks) =
                marks(&titles, place).filter(|_| !sums.is_empty() && rows.len() > 1)
            else {
                continue;
            };
            let summary = summarise_table(sample, &rows, given);
            let is_clearer = |(with, without): (&ColumnSummary, &ColumnSummary)| {
                with.kind != ValueKind::Outcomes && without.kind == ValueKind::Outcomes
            };
            let decimal = summary.decimal.as_ref().ok().copied().flatten();
            let are_few = sums.len() * 4 <= all.len();
            let are_named = sums.iter().all(|row| {
                row[place]
                    .as_deref()
                    .is_some_and(|text| is_only_total(text) || is_total_of(text, &names))
            });
            // Among 1 and 0, a total may be an item with this name.
            let may_add_up = |column: &&ColumnSummary| {
                column.numbers().is_some() || (are_named && column.kind == ValueKind::Outcomes)
            };
            let figures: Vec<&ColumnSummary> = summary.columns.iter().filter(may_add_up).collect();
            let are_totals = (are_few
                && whole.columns.iter().zip(&summary.columns).any(is_clearer))
                || figures
                    .iter()
                    .any(|column| are_few && adds_up(column, &rows, &sums, decimal))
                || group_keys(&summary, place, &all)
                    .iter()
                    .any(|keys| adds_up_within(&figures, keys, &all, &is_sum, decimal))
                || (are_named
                    && figures.iter().any(|column| {
                        column.numbers().is_some()
                            && sums.iter().all(|row| cell_text(row, column).is_some())
                    }));
            if are_totals {
                let values: BTreeSet<String> =
                    sums.iter().filter_map(|row| row[place].clone()).collect();
                let shown = values.iter().cloned().collect::<Vec<_>>().join(", ");
                let notes = vec![format!(
                    "rows named {shown} add up others and are passed over"
                )];
                let skip = Some((
                    sample.columns[place].clone(),
                    values.into_iter().chain(title_marks).collect(),
                ));
                return Self {
                    sample,
                    hints,
                    rows,
                    summary,
                    skip,
                    has_repeated_titles,
                    attempts: None,
                    notes,
                };
            }
        }
        let mark_of = |place: usize| {
            let marks = marks(&titles, place)?;
            let is_other = all
                .iter()
                .all(|row| row[place].as_ref().is_none_or(|text| !marks.contains(text)));
            is_other.then(|| (sample.columns[place].clone(), marks.into_iter().collect()))
        };
        let skip = if titles.is_empty() {
            None
        } else {
            (0..sample.columns.len()).find_map(mark_of)
        };
        if titles.is_empty() || skip.is_some() {
            let notes = if titles.is_empty() {
                Vec::new()
            } else {
                vec!["rows that repeat the titles or give units are passed over".to_owned()]
            };
            return Self {
                sample,
                hints,
                rows: all,
                summary: whole,
                skip,
                has_repeated_titles,
                attempts: None,
                notes,
            };
        }
        let all: Vec<RowCells<'_>> = sample.rows.iter().collect();
        let whole = summarise_table(sample, &all, given);
        Self {
            sample,
            hints,
            rows: all,
            summary: whole,
            skip: None,
            has_repeated_titles,
            attempts: None,
            notes: Vec::new(),
        }
    }

    pub fn find_column(&self, name: &str) -> Option<&ColumnSummary> {
        self.summary
            .columns
            .iter()
            .find(|column| column.name == name)
    }

    /// Returns the column named by a command line option, or `None` without the option.
    pub fn hinted_column(
        &self,
        name: Option<&String>,
        option: &str,
    ) -> Result<Option<&ColumnSummary>, MappingQuestion> {
        const MAX_NAMED_COLUMNS: usize = 20;
        let Some(name) = name else { return Ok(None) };
        let named: Vec<String> = self
            .summary
            .columns
            .iter()
            .filter(|column| !column.name.is_empty())
            .map(|column| format!("`{}`", column.name))
            .collect();
        let more = if named.len() > MAX_NAMED_COLUMNS {
            ", …"
        } else {
            ""
        };
        let missing = || {
            format!(
                "there is no column `{name}`; the columns are {}{more}",
                named[..named.len().min(MAX_NAMED_COLUMNS)].join(", ")
            )
        };
        self.find_column(name)
            .map(Some)
            .ok_or_else(|| MappingQuestion::new(missing(), option))
    }

    /// Returns the fitting columns whose titles are clearest for the role.
    pub fn best_columns(
        &self,
        role: SuggestedRole,
        least: u8,
        fits: impl Fn(&ColumnSummary) -> bool,
    ) -> Vec<&ColumnSummary> {
        let clarity = |column: &&ColumnSummary| column.clarity(role);
        let fitting: Vec<&ColumnSummary> = self
            .summary
            .columns
            .iter()
            .filter(|column| column.clarity(role) >= least.max(1) && fits(column))
            .collect();
        let most = fitting.iter().map(clarity).max().unwrap_or(0);
        fitting
            .into_iter()
            .filter(|column| column.clarity(role) == most)
            .collect()
    }

    /// Counts the rows by their values in the columns.
    pub fn count_rows(&self, columns: &[&ColumnSummary]) -> HashMap<Vec<&'a str>, usize> {
        let mut counts = HashMap::new();
        for row in &self.rows {
            if let Some(key) = row_key(row, columns) {
                *counts.entry(key).or_default() += 1;
            }
        }
        counts
    }

    /// Notes the columns that the proposal does not read.
    pub fn note_unread(&mut self, used: &[String]) {
        const MAX_UNREAD_COLUMNS: usize = 12;
        let is_unread = |column: &&ColumnSummary| {
            !used.contains(&column.name)
                && column.kind != ValueKind::Nothing
                && !column.name.is_empty()
        };
        let unread: Vec<String> = self
            .summary
            .columns
            .iter()
            .filter(is_unread)
            .map(|column| format!("`{}`", column.name))
            .collect();
        if !unread.is_empty() {
            let more = if unread.len() > MAX_UNREAD_COLUMNS {
                ", …"
            } else {
                ""
            };
            self.notes.push(format!(
                "not read: {}{more}",
                unread[..unread.len().min(MAX_UNREAD_COLUMNS)].join(", ")
            ));
        }
    }

    /// Returns whether no two rows have the same values in the columns.
    pub fn is_unique(&self, columns: &[&ColumnSummary]) -> bool {
        self.count_rows(columns).values().all(|count| *count == 1)
    }

    /// Returns whether no two rows of a day have the same values in the columns, and the times are of several days with several rows.
    pub fn is_unique_by_day(&self, columns: &[&ColumnSummary], time: &ColumnSummary) -> bool {
        let mut seen = HashSet::new();
        let mut days = HashSet::new();
        let are_own = self.rows.iter().all(|row| {
            let day = cell_text(row, time).and_then(day_of_time);
            match (row_key(row, columns), day) {
                (Some(key), Some(day)) => {
                    days.insert(day);
                    seen.insert((key, day))
                }
                _ => false,
            }
        });
        are_own && days.len() > 1 && 2 * days.len() <= self.rows.len()
    }

    /// Returns whether the first columns determine the second.
    pub fn determines(&self, first: &[&ColumnSummary], second: &ColumnSummary) -> bool {
        let mut known: HashMap<Vec<&str>, &str> = HashMap::new();
        self.rows
            .iter()
            .all(|row| match (row_key(row, first), cell_text(row, second)) {
                (Some(key), Some(text)) => *known.entry(key).or_insert(text) == text,
                _ => true,
            })
    }
}

/// Returns the day with which a time begins, such as `2026-03-01`.
fn day_of_time(text: &str) -> Option<&str> {
    let day = text.get(..10)?;
    let is_fit = |(place, letter): (usize, u8)| match place {
        4 | 7 => letter == b'-',
        _ => letter.is_ascii_digit(),
    };
    day.bytes().enumerate().all(is_fit).then_some(day)
}

/// Returns a row's values in the columns, or `None` if one is missing.
fn row_key<'r>(row: &'r [Option<String>], columns: &[&ColumnSummary]) -> Option<Vec<&'r str>> {
    columns
        .iter()
        .map(|column| cell_text(row, column))
        .collect()
}

/// Returns the text of a cell, or `None` if nothing was measured.
pub(super) fn cell_text<'r>(row: &'r [Option<String>], column: &ColumnSummary) -> Option<&'r str> {
    row[column.place]
        .as_deref()
        .filter(|text| !is_empty_word(text))
}

pub(super) type RowCells<'a> = &'a Vec<Option<String>>;

/// Returns whether a row has the titles of its columns again, as in files that were put together with `cat`.
fn repeats_titles(sample: &TableSample, row: &[Option<String>]) -> bool {
    let filled = row
        .iter()
        .zip(&sample.columns)
        .filter_map(|(cell, title)| Some((cell.as_ref()?, title)));
    let (same, other): (Vec<_>, Vec<_>) = filled.partition(|(cell, title)| cell == title);
    same.len() > 1 && other.is_empty()
}

/// Returns whether a row has the types or the units of its columns.
fn has_types(row: &[Option<String>]) -> bool {
    const TYPE_WORDS: [&str; 10] = [
        "bool", "boolean", "int", "integer", "float", "double", "str", "string", "number",
        "datetime",
    ];
    const UNIT_WORDS: [&str; 14] = [
        "s", "sec", "seconds", "ms", "min", "h", "usd", "$", "eur", "€", "%", "text", "date",
        "tokens",
    ];
    let filled: Vec<String> = row
        .iter()
        .flatten()
        .map(|cell| cell.trim_matches(['[', ']', '(', ')']).to_lowercase())
        .collect();
    let has = |list: &[&str]| {
        filled
            .iter()
            .filter(|cell| list.contains(&cell.as_str()))
            .count()
    };
    let types = has(&TYPE_WORDS);
    let known = types + has(&UNIT_WORDS);
    known > 0 && known == filled.len() && (types > 0 || known > 1)
}

/// Returns whether a text is a total of a name: `Summe nova`.
fn is_total_of(text: &str, names: &BTreeSet<&str>) -> bool {
    let (first, last) = (text.split_once(' '), text.rsplit_once(' '));
    first.is_some_and(|(word, name)| is_only_total(word) && names.contains(name.trim()))
        || last.is_some_and(|(name, word)| is_only_total(word) && names.contains(name.trim()))
}

/// Returns, for each column that may part the rows, its value in each row.
fn group_keys(summary: &TableSummary, place: usize, all: &[RowCells<'_>]) -> Vec<Vec<String>> {
    const MAX_PARTS: usize = 60;
    let by_column = summary.columns.iter().filter(|column| {
        column.place != place
            && (2..=MAX_PARTS).contains(&column.values.len())
            && column.may_name()
            && column.kind != ValueKind::Outcomes
    });
    by_column
        .map(|column| {
            all.iter()
                .map(|row| row[column.place].clone().unwrap_or_default())
                .collect()
        })
        .collect()
}

/// Returns whether in some column each total is the sum or the mean of its part of the rows.
fn adds_up_within(
    figures: &[&ColumnSummary],
    keys: &[String],
    all: &[RowCells<'_>],
    is_sum: &dyn Fn(&RowCells<'_>) -> bool,
    decimal: Option<DecimalMark>,
) -> bool {
    let parts: BTreeSet<&String> = keys.iter().collect();
    let of = |part: &String, sums: bool| -> Vec<RowCells<'_>> {
        all.iter()
            .zip(keys)
            .filter(|(row, key)| *key == part && is_sum(row) == sums)
            .map(|(row, _)| *row)
            .collect()
    };
    let split: Vec<(Vec<RowCells<'_>>, Vec<RowCells<'_>>)> = parts
        .into_iter()
        .map(|part| (of(part, false), of(part, true)))
        .collect();
    figures.iter().any(|column| {
        split.iter().any(|(_, sums)| !sums.is_empty())
            && split.iter().all(|(rows, sums)| {
                sums.is_empty()
                    || (rows.len() > 1
                        && sums
                            .iter()
                            .all(|sum| adds_up(column, rows, &[*sum], decimal)))
            })
    })
}

/// Returns whether the rows named as totals have the sum or the mean of the other rows.
fn adds_up(
    column: &ColumnSummary,
    rows: &[&Vec<Option<String>>],
    sums: &[&Vec<Option<String>>],
    decimal: Option<DecimalMark>,
) -> bool {
    let value = |row: &&Vec<Option<String>>| {
        super::summary::read_number(row[column.place].as_deref()?, decimal)
    };
    let values: Vec<f64> = rows.iter().filter_map(value).collect();
    let sum: f64 = values.iter().sum();
    let mean = sum / values.len().max(1) as f64;
    let is_near = |total: f64, exact: f64| (total - exact).abs() <= 0.0051 * exact.abs().max(1.0);
    values.len() > 1
        && sums
            .iter()
            .filter_map(value)
            .any(|total| is_near(total, sum) || is_near(total, mean))
}
