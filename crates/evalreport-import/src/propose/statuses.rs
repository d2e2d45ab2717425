//! Maps the words of a column to statuses.

use crate::domain::{ItemStatus, shell_word};

use super::draft::quote_yaml;
use super::summary::{ColumnSummary, YesMeaning};
use super::table_sample::{ExaminedTable, MappingQuestion};
use super::verdict::{is_empty_word, parse_status_word};
use super::words::own_title;

/// Word for an empty cell on the command line.
const BLANK_WORD: &str = "blank";
/// Maximum number of further unknown words that a question names.
const MAX_WORDS: usize = 8;

/// Writes each word of the column with its status, without the braces around the list.
pub(super) fn write_status_field(
    look: &ExaminedTable<'_>,
    column: &ColumnSummary,
) -> Result<String, MappingQuestion> {
    check_meaning(look, column)?;
    let values = write_status_words(look, column, |found| {
        if found == ItemStatus::NotEvaluated {
            "null"
        } else {
            found.name()
        }
    })?;
    // A dash in the place of a word is a blank cell too.
    let is_blank = |(word, _): &(&String, &String)| *word == BLANK_WORD || is_empty_word(word);
    let blank = look
        .hints
        .values
        .iter()
        .filter(|_| !column.values.contains_key(BLANK_WORD))
        .find(is_blank)
        .map(|(_, status)| status);
    let empty = look.rows.len() - column.filled;
    if let Some(given) = blank {
        // A filled cell has its word's status, a blank one the status from the command line.
        return Ok(format!(
            "constant: {}, unless: {{column: {}, values: {{{values}}}}}",
            quote_yaml(given),
            quote_yaml(&column.name)
        ));
    }
    let status_of = |text: &String| {
        look.hints
            .values
            .get(text)
            .and_then(|name| ItemStatus::from_name(name))
            .or_else(|| column.status_of(text))
    };
    if empty > 0
        && column
            .values
            .keys()
            .all(|text| status_of(text) == Some(ItemStatus::Pass))
    {
        let nothing_of = |row: &&Vec<Option<String>>| {
            row[column.place].clone().filter(|text| is_empty_word(text))
        };
        let nothing = look.rows.iter().find_map(nothing_of).map_or_else(
            || "nothing".to_owned(),
            |text| format!("nothing or `{text}`"),
        );
        let text = format!(
            "`{}` has no word for a fail, and {nothing} in {empty} of {} rows: a blank cell may be a fail, or missing",
            column.name,
            look.rows.len()
        );
        return Err(MappingQuestion::new(
            text,
            format!("--value {BLANK_WORD}=fail (or not_evaluated)"),
        ));
    }
    Ok(format!(
        "column: {}, values: {{{values}}}",
        quote_yaml(&column.name)
    ))
}

/// Asks if yes in the column may be good or bad, as in `refused`.
fn check_meaning(look: &ExaminedTable<'_>, column: &ColumnSummary) -> Result<(), MappingQuestion> {
    let is_told = column
        .values
        .keys()
        .all(|text| look.hints.values.contains_key(text));
    if is_told || column.yes_meaning() != YesMeaning::Unclear {
        return Ok(());
    }
    // What was found alone is what was looked for, unlike `bug_found`.
    let is_sought = matches!(own_title(&column.name).as_str(), "found" | "detected");
    let proposed = |text: &String| {
        let status = match (parse_status_word(text)?, is_sought) {
            (status @ (ItemStatus::Pass | ItemStatus::Fail), true) => status,
            (ItemStatus::Pass, false) => ItemStatus::Fail,
            (ItemStatus::Fail, false) => ItemStatus::Pass,
            _ => return None,
        };
        Some(format!("--value {}={}", shell_word(text), status.name()))
    };
    let options: Vec<String> = column.values.keys().filter_map(proposed).collect();
    let text = format!("yes in `{}` may be good or bad", column.name);
    Err(MappingQuestion::new(
        text,
        format!(
            "--passed {} {} (or the other way round)",
            shell_word(&column.name),
            options.join(" ")
        ),
    ))
}

/// Writes each word of the column with its status: from the command line, or else by `name`.
pub(super) fn write_status_words(
    look: &ExaminedTable<'_>,
    column: &ColumnSummary,
    mut name: impl FnMut(ItemStatus) -> &'static str,
) -> Result<String, MappingQuestion> {
    let mut values = Vec::new();
    let mut unknown = Vec::new();
    for (text, count) in &column.values {
        match (look.hints.values.get(text), column.status_of(text)) {
            (Some(given), _) => values.push(format!("{}: {}", quote_yaml(text), quote_yaml(given))),
            (None, Some(found)) => values.push(format!("{}: {}", quote_yaml(text), name(found))),
            (None, None) => unknown.push((text, count)),
        }
    }
    if let Some(numbers) = column.numbers().filter(|_| !unknown.is_empty()) {
        let text = format!(
            "`{}` has numbers from {} to {}, which do not say whether an item passed: they may be scores",
            column.name, numbers.least, numbers.most
        );
        return Err(MappingQuestion::new(
            text,
            format!("--score {}", shell_word(&column.name)),
        ));
    }
    if let Some((text, count)) = unknown.first() {
        let others: Vec<String> = unknown[1..]
            .iter()
            .take(MAX_WORDS)
            .map(|(text, count)| format!("`{text}` in {count}"))
            .collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!("; also unknown: {}", others.join(", "))
        };
        let question = format!(
            "`{}` has `{text}` in {count} of {} rows, which is neither passed nor failed by itself{others}",
            column.name, column.filled
        );
        return Err(MappingQuestion::new(
            question,
            format!(
                "--value {}=fail (or pass, error, limit, infra, skipped, not_evaluated)",
                shell_word(text)
            ),
        ));
    }
    Ok(values.join(", "))
}
