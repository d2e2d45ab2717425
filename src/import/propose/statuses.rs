//! Maps the words of a column to statuses.

use crate::domain::{ItemStatus, shell_word};

use super::draft::quoted;
use super::look::{Look, Question};
use super::summary::{Column, Yes};
use super::verdict::{is_nothing, verdict};

/// Word for an empty cell on the command line.
const BLANK: &str = "blank";
/// Maximum number of further unknown words that a question names.
const MOST_WORDS: usize = 8;

/// Writes each word of the column with its status, without the braces around the list.
pub(super) fn status(look: &Look<'_>, column: &Column) -> Result<String, Question> {
    check_meaning(look, column)?;
    let values = words_of_status(look, column, |found| {
        if found == ItemStatus::NotEvaluated {
            "null"
        } else {
            found.name()
        }
    })?;
    // A dash in the place of a word is a blank cell too.
    let is_blank = |(word, _): &(&String, &String)| *word == BLANK || is_nothing(word);
    let blank = look
        .hints
        .values
        .iter()
        .filter(|_| !column.values.contains_key(BLANK))
        .find(is_blank)
        .map(|(_, status)| status);
    let empty = look.rows.len() - column.filled;
    if let Some(given) = blank {
        // A filled cell has its word's status, a blank one the status from the command line.
        return Ok(format!(
            "constant: {}, unless: {{column: {}, values: {{{values}}}}}",
            quoted(given),
            quoted(&column.name)
        ));
    }
    let status_of = |text: &String| {
        look.hints
            .values
            .get(text)
            .and_then(|name| ItemStatus::from_name(name))
            .or_else(|| column.says(text))
    };
    if empty > 0
        && column
            .values
            .keys()
            .all(|text| status_of(text) == Some(ItemStatus::Pass))
    {
        let nothing_of =
            |row: &&Vec<Option<String>>| row[column.place].clone().filter(|text| is_nothing(text));
        let nothing = look.rows.iter().find_map(nothing_of).map_or_else(
            || "nothing".to_owned(),
            |text| format!("nothing or `{text}`"),
        );
        let text = format!(
            "`{}` has no word for a fail, and {nothing} in {empty} of {} rows: a blank cell may be a fail, or missing",
            column.name,
            look.rows.len()
        );
        return Err(Question::new(
            text,
            format!("--value {BLANK}=fail (or not_evaluated)"),
        ));
    }
    Ok(format!(
        "column: {}, values: {{{values}}}",
        quoted(&column.name)
    ))
}

/// Asks if yes in the column may be good or bad, as in `refused`.
fn check_meaning(look: &Look<'_>, column: &Column) -> Result<(), Question> {
    let is_told = column
        .values
        .keys()
        .all(|text| look.hints.values.contains_key(text));
    if is_told || column.yes() != Yes::Unclear {
        return Ok(());
    }
    let opposite = |text: &String| {
        let status = match verdict(text)? {
            ItemStatus::Pass => ItemStatus::Fail,
            ItemStatus::Fail => ItemStatus::Pass,
            _ => return None,
        };
        Some(format!("--value {}={}", shell_word(text), status.name()))
    };
    let options: Vec<String> = column.values.keys().filter_map(opposite).collect();
    let text = format!("yes in `{}` may be good or bad", column.name);
    Err(Question::new(
        text,
        format!(
            "--passed {} {} (or the other way round)",
            shell_word(&column.name),
            options.join(" ")
        ),
    ))
}

/// Writes each word of the column with its status: from the command line, or else by `name`.
pub(super) fn words_of_status(
    look: &Look<'_>,
    column: &Column,
    mut name: impl FnMut(ItemStatus) -> &'static str,
) -> Result<String, Question> {
    let mut values = Vec::new();
    let mut unknown = Vec::new();
    for (text, count) in &column.values {
        match (look.hints.values.get(text), column.says(text)) {
            (Some(given), _) => values.push(format!("{}: {}", quoted(text), quoted(given))),
            (None, Some(found)) => values.push(format!("{}: {}", quoted(text), name(found))),
            (None, None) => unknown.push((text, count)),
        }
    }
    if let Some(numbers) = column.numbers().filter(|_| !unknown.is_empty()) {
        let text = format!(
            "`{}` has numbers from {} to {}, which do not say whether an item passed: they may be scores",
            column.name, numbers.least, numbers.most
        );
        return Err(Question::new(
            text,
            format!("--score {}", shell_word(&column.name)),
        ));
    }
    if let Some((text, count)) = unknown.first() {
        let others: Vec<String> = unknown[1..]
            .iter()
            .take(MOST_WORDS)
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
        return Err(Question::new(
            question,
            format!(
                "--value {}=fail (or pass, error, limit, infra, skipped, not_evaluated)",
                shell_word(text)
            ),
        ));
    }
    Ok(values.join(", "))
}
