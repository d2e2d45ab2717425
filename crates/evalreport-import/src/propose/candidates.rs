//! Columns that may have the outcomes of a table in which no title or word tells.

use crate::domain::shell_word;

use super::super::list_path::ENCLOSING_PREFIX;
use super::arms::ArmColumns;
use super::polarity::{BetterEnd, better_end};
use super::runs::describe_counts;
use super::summary::{ColumnSummary, ValueKind, YesMeaning};
use super::table_sample::{ExaminedTable, MappingQuestion, join_names};
use super::verdict::parse_status_word;
use super::wide::is_arm_usage;
use super::words::{SuggestedRole, is_other_subject, names_metrics};

/// Maximum number of columns that are offered, and of values that are shown of each.
const MAX_OFFERED: usize = 5;
const MAX_WORDS: usize = 5;
/// Maximum number of values of a condition.
const MAX_SETTINGS: usize = 60;

/// Returns a question for each column that may have the outcomes, with its values and the option that chooses it.
pub(super) fn outcome_candidates(look: &ExaminedTable<'_>) -> Vec<MappingQuestion> {
    let is_free = |column: &&ColumnSummary| {
        let is_other = [
            SuggestedRole::Item,
            SuggestedRole::Model,
            SuggestedRole::Approach,
            SuggestedRole::Suite,
            SuggestedRole::Question,
            SuggestedRole::Expected,
            SuggestedRole::Seed,
            SuggestedRole::Attempt,
            SuggestedRole::Cost,
        ]
        .into_iter()
        .chain([
            SuggestedRole::Duration,
            SuggestedRole::InputTokens,
            SuggestedRole::OutputTokens,
            SuggestedRole::TotalTokens,
            SuggestedRole::Time,
        ])
        .any(|role| column.clarity(role) >= 2);
        let is_other = is_other
            || is_other_subject(&column.name)
            || is_arm_usage(&column.name)
            || names_metrics(&column.name)
            || column.clarity(SuggestedRole::Run) == 3;
        // A value or a place around the rows is that of several rows, unless it is the key above them.
        let is_around = column.name.starts_with(ENCLOSING_PREFIX) && !column.name.ends_with("{}");
        !is_other
            && !is_around
            && !column.name.is_empty()
            && (column.values.len() > 1 || column.is_outcomes())
    };
    if let Some(question) = ask_about_counts(look).or_else(|| ask_about_conditions(look)) {
        return vec![question];
    }
    let free: Vec<&ColumnSummary> = look.summary.columns.iter().filter(is_free).collect();
    let words = free.iter().filter(|column| {
        matches!(column.kind, ValueKind::Outcomes | ValueKind::Text)
            && column.values.len() <= MAX_WORDS
    });
    let numbers = free.iter().filter(|column| column.numbers().is_some());
    let lists = free.iter().filter(|column| column.kind == ValueKind::Tries);
    // Columns with words that are known to be outcomes come first.
    let has_known = |column: &ColumnSummary| {
        column
            .values
            .keys()
            .any(|text| parse_status_word(text).is_some())
    };
    let mut words: Vec<&&ColumnSummary> = words.collect();
    words.sort_by_key(|column| !has_known(column));
    let mut found: Vec<MappingQuestion> = words
        .into_iter()
        .map(|column| ask_about_words(look, column))
        .chain(numbers.map(|column| ask_about_numbers(column)))
        .chain(lists.map(|column| ask_about_lists(column)))
        .collect();
    found.truncate(MAX_OFFERED);
    let is_empty = |column: &&ColumnSummary| {
        column.filled == 0
            && column
                .clarity(SuggestedRole::Passed)
                .max(column.clarity(SuggestedRole::Score))
                >= 2
    };
    if let Some(empty) = look.summary.columns.iter().find(is_empty) {
        found.insert(
            0,
            MappingQuestion::new(format!("`{}` has no value in any row", empty.name), ""),
        );
    }
    if found.is_empty() {
        let text = "no column has outcomes: none has few words or numbers that could say which items passed";
        found.push(MappingQuestion::new(
            text,
            "--passed COLUMN (or --score COLUMN)",
        ));
    }
    if let Ok(arms) = ArmColumns::from_table(look, &[])
        && !arms.columns().is_empty()
        && look.is_unique(&arms.columns())
        && let Some(first) = found.first_mut()
    {
        first.text = format!(
            "{}; each value of {} has a single row, which may be a whole run",
            first.text,
            join_names(&arms.columns())
        );
    }
    found
}

fn ask_about_words(look: &ExaminedTable<'_>, column: &ColumnSummary) -> MappingQuestion {
    let mut words: Vec<String> = column
        .values
        .iter()
        .map(|(word, count)| format!("`{word}` in {count}"))
        .collect();
    words.extend(
        (look.rows.len() > column.filled)
            .then(|| format!("nothing in {}", look.rows.len() - column.filled)),
    );
    let text = format!(
        "no column is known to have outcomes; `{}` has {} of {} rows",
        column.name,
        words.join(", "),
        look.rows.len()
    );
    let as_fail = if column.is_outcomes() && column.yes_meaning() == YesMeaning::Failed {
        " (reads yes as a fail)"
    } else {
        ""
    };
    MappingQuestion::new(
        text,
        format!("--passed {}{as_fail}", shell_word(&column.name)),
    )
}

/// Asks what the rows are, if each counts passes: of attempts at an item, or of the items of an approach.
fn ask_about_counts(look: &ExaminedTable<'_>) -> Option<MappingQuestion> {
    let names = |column: &&ColumnSummary| {
        column.kind == ValueKind::Text && look.is_unique(&[*column]) && column.has_short_names()
    };
    let counted = describe_counts(look)?;
    let name = look.summary.columns.iter().find(names)?;
    Some(MappingQuestion::new(
        format!(
            "each row counts passes, {counted}, and may be an approach with its items, or an item with its attempts"
        ),
        format!(
            "--approach {} (each row is an approach; for items, a map)",
            shell_word(&name.name)
        ),
    ))
}

/// Asks which columns name the conditions, if each row has a published rate, and several rows are of one model or approach.
fn ask_about_conditions(look: &ExaminedTable<'_>) -> Option<MappingQuestion> {
    let rates = look.best_columns(SuggestedRole::Rate, 2, |column| {
        column.numbers().is_some_and(|numbers| !numbers.are_whole)
    });
    let names = ArmColumns::from_table(look, &[]).ok()?.name_columns();
    let rate = rates
        .first()
        .filter(|_| !names.is_empty() && !look.is_unique(&names))?;
    let is_setting = |column: &&ColumnSummary| {
        column.may_name()
            && !column.is_among(&names)
            && (2..=MAX_SETTINGS).contains(&column.values.len())
            && column.filled == look.rows.len()
    };
    let mut key = names.clone();
    for column in look.summary.columns.iter().filter(is_setting) {
        if !look.is_unique(&key) && !look.determines(&key, column) {
            key.push(column);
        }
    }
    let settings = &key[names.len()..];
    if settings.is_empty() || !look.is_unique(&key) {
        return None;
    }
    Some(MappingQuestion::new(
        format!(
            "each row has a published `{}`, and rows of one {} differ in {}: they are other conditions or suites, and no repeats",
            rate.name,
            join_names(&names),
            join_names(settings)
        ),
        format!(
            "--map MAP (rows: run, with the conditions in the approach, such as approach: [{}])",
            key.iter()
                .map(|column| column.name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    ))
}

fn ask_about_lists(column: &ColumnSummary) -> MappingQuestion {
    let first = column.values.keys().next().map_or("", String::as_str);
    let text = format!(
        "no column is known to have outcomes; `{}` has lists such as `{first}`, which may be the attempts at an item",
        column.name
    );
    MappingQuestion::new(text, format!("--passed {}", shell_word(&column.name)))
}

fn ask_about_numbers(column: &ColumnSummary) -> MappingQuestion {
    let range = column.numbers().map_or_else(String::new, |numbers| {
        format!(" from {} to {}", numbers.least, numbers.most)
    });
    let text = format!(
        "no column is known to have outcomes; `{}` has numbers{range}",
        column.name
    );
    let end = if better_end(&column.name) == BetterEnd::Low {
        "down"
    } else {
        "up"
    };
    MappingQuestion::new(
        text,
        format!("--score {} --direction {end}", shell_word(&column.name)),
    )
}
