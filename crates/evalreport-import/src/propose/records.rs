//! Checks the figures of a file about a whole run, such as `summary.json`, against the rows of the files beside it.

use super::super::sample::{MAX_ROWS, TableSample};
use super::summary::{ColumnSummary, TableSummary, read_number, summarise_table};
use super::words::{SuggestedRole, judged_quality, names_score, split_title, suggested_roles};
use crate::domain::ItemStatus;

/// What a figure of a record is of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordFigure {
    Passes,
    PassRate,
    Mean,
}

/// Figures of a record that the rows have too.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in super::super) struct RecordCheck {
    pub agreeing: usize,
    /// Each other figure, in words.
    pub disagreements: Vec<String>,
}

/// Compares the figures of a record with those of the rows, as far as their names say that they are the same.
pub(in super::super) fn check_record(record: &TableSample, table: &TableSample) -> RecordCheck {
    let mut check = RecordCheck::default();
    let [figures] = record.rows.as_slice() else {
        return check;
    };
    // Of a long table, the first rows alone are known here.
    if table.rows.len() as u64 >= MAX_ROWS {
        return check;
    }
    let rows: Vec<&Vec<Option<String>>> = table.rows.iter().collect();
    let summary = summarise_table(table, &rows, None);
    for (name, text) in record.columns.iter().zip(figures) {
        let found = text.as_deref().and_then(|text| {
            let (kind, quality) = parse_figure_name(name)?;
            let stated: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
            let value = figure_of_rows(kind, &quality, &summary, &rows)?;
            Some((stated, value, rounding_of(text)))
        });
        let Some((stated, value, rounding)) = found else {
            continue;
        };
        if (stated - value).abs() <= rounding {
            check.agreeing += 1;
        } else {
            check.disagreements.push(format!(
                "`{name}` is {stated} there and {} in the rows",
                round(value)
            ));
        }
    }
    check
}

/// Returns half a unit of a number's last digit, with room for the way in which halves are rounded.
fn rounding_of(text: &str) -> f64 {
    let digits = text.rsplit_once('.').map_or(0, |(_, digits)| digits.len());
    0.501 * 0.1f64.powi(i32::try_from(digits).unwrap_or(i32::MAX)) + 1e-9
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Parses what a figure of a record is, and of which quality: `gpt_relevance.pass_count` and `relevance_pass_rate`.
fn parse_figure_name(name: &str) -> Option<(RecordFigure, Vec<String>)> {
    let words = split_title(name);
    (1..words.len()).find_map(|start| {
        let (quality, figure) = words.split_at(start);
        let title = figure.join("_");
        let has = |role| suggested_roles(&title).contains(&(role, 3));
        let kind = match title.as_str() {
            "mean" | "mean_rating" | "mean_score" | "average" | "avg" | "average_score" => {
                RecordFigure::Mean
            }
            "pass_rate" | "success_rate" | "accuracy" => RecordFigure::PassRate,
            _ if has(SuggestedRole::PassedCount) => RecordFigure::Passes,
            _ => return None,
        };
        Some((kind, quality.to_vec()))
    })
}

/// Returns the figure of the rows, or `None` if no column or more than one has what it is about.
fn figure_of_rows(
    kind: RecordFigure,
    quality: &[String],
    summary: &TableSummary,
    rows: &[&Vec<Option<String>>],
) -> Option<f64> {
    let decimal = summary.decimal.as_ref().ok().copied().flatten();
    // A record may call a quality by more words than the rows: `gpt_relevance`.
    let is_meant = |words: &[String]| !words.is_empty() && quality.ends_with(words);
    let filled = |column: &ColumnSummary| -> Vec<&str> {
        rows.iter()
            .filter_map(|row| row[column.place].as_deref())
            .collect()
    };
    match kind {
        RecordFigure::Mean => {
            let is_of = |column: &&ColumnSummary| {
                let words = split_title(&column.name);
                column.numbers().is_some() && is_meant(&words)
            };
            let is_scored = |column: &&ColumnSummary| {
                let words = split_title(&column.name);
                column.numbers().is_some()
                    && words
                        .split_last()
                        .is_some_and(|(noun, stem)| names_score(noun) && is_meant(stem))
            };
            let column = summary
                .columns
                .iter()
                .find(is_of)
                .or_else(|| summary.columns.iter().find(is_scored))?;
            let values: Vec<f64> = filled(column)
                .into_iter()
                .filter_map(|text| read_number(text, decimal))
                .collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        }
        RecordFigure::Passes | RecordFigure::PassRate => {
            let column = summary.columns.iter().find(|column| {
                column.is_outcomes()
                    && judged_quality(&column.name).is_some_and(|own| is_meant(&split_title(&own)))
            })?;
            let texts = filled(column);
            let passes = texts
                .iter()
                .filter(|text| column.status_of(text) == Some(ItemStatus::Pass))
                .count() as f64;
            match kind {
                RecordFigure::Passes => Some(passes),
                _ if texts.is_empty() => None,
                _ => Some(passes / texts.len() as f64),
            }
        }
    }
}
