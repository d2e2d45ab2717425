//! What says how the items of a table came out.

use super::draft::quoted;
use super::look::{Look, Question, shell, text};
use super::summary::{Column, Kind};
use super::verdict::{is_plain, status_name, verdict};
use super::words::Role;

/// A longer answer is judged by more than its being the same.
const LONGEST_ANSWER: usize = 40;

/// How an item is known to have passed.
pub(super) enum Judged<'l> {
    By(&'l Column),
    Equal(&'l Column, &'l Column),
    Score(&'l Column),
}

/// Finds what says how items came out.
pub(super) fn judged<'l>(look: &'l Look<'_>) -> Result<Option<Judged<'l>>, Question> {
    let hint = |name: &Option<String>, option: &str| match name {
        None => Ok(None),
        Some(name) => look.named(name).map(Some).ok_or_else(|| Question::new(format!("there is no column `{name}`"), option.to_owned())),
    };
    if let Some(column) = hint(&look.hints.passed, "--passed COLUMN")? {
        return Ok(Some(Judged::By(column)));
    }
    if let Some(column) = hint(&look.hints.score, "--score COLUMN")? {
        return Ok(Some(Judged::Score(column)));
    }
    let may_judge = |column: &Column| column.is_outcomes() || is_nearly_outcomes(column, look);
    let clear = look.best(Role::Passed, 2, may_judge);
    let found = if clear.is_empty() { look.best(Role::Passed, 1, Column::is_outcomes) } else { clear };
    if let Some(column) = one_of(look, &found)? {
        return Ok(Some(Judged::By(column)));
    }
    if let Some((expected, given)) = compared(look) {
        let is_same = |row: &&&Vec<Option<String>>| text(row, expected).is_some() && text(row, expected) == text(row, given);
        let same = look.rows.iter().filter(is_same).count();
        if same > 0 && expected.longest.max(given.longest) <= LONGEST_ANSWER {
            return Ok(Some(Judged::Equal(expected, given)));
        }
    }
    let plain: Vec<&Column> =
        look.summary.columns.iter().filter(|column| column.is_outcomes() && column.values.keys().any(|text| is_plain(text))).collect();
    if plain.len() == 1 {
        return Ok(Some(Judged::By(plain[0])));
    }
    let scores = look.best(Role::Score, 1, |column| column.numbers().is_some());
    Ok(scores.first().map(|column| Judged::Score(column)))
}

/// Says whether the column is clearly about outcomes, and has words beside those that are known.
fn is_nearly_outcomes(column: &Column, look: &Look<'_>) -> bool {
    const MOST_WORDS: usize = 12;
    let is_known = |text: &&String| verdict(text).is_some() || look.hints.values.contains_key(*text);
    let known: usize = column.values.iter().filter(|(text, _)| is_known(text)).map(|(_, count)| count).sum();
    column.kind == Kind::Text && column.values.len() <= MOST_WORDS && known * 2 > column.filled
}

/// Several columns that say the same are as good as one.
fn one_of<'l>(look: &Look<'_>, found: &[&'l Column]) -> Result<Option<&'l Column>, Question> {
    let [first, rest @ ..] = found else { return Ok(None) };
    for other in rest {
        let says = |row: &Vec<Option<String>>, column: &Column| {
            row[column.place].as_deref().and_then(verdict).and_then(status_name) == Some("pass")
        };
        if look.rows.iter().any(|row| says(row, first) != says(row, other)) {
            let names: Vec<String> = found.iter().map(|column| format!("`{}`", column.name)).collect();
            let text = format!("{} could each be the outcome, and they differ", names.join(" and "));
            return Err(Question::new(text, format!("--passed {}", shell(&first.name))));
        }
    }
    Ok(Some(first))
}

/// The right answer, and the one that was given.
pub(super) fn compared<'l>(look: &'l Look<'_>) -> Option<(&'l Column, &'l Column)> {
    let may = |column: &Column| column.may_name() || column.numbers().is_some();
    let expected = look.best(Role::Expected, 2, |column| may(column) && column.clarity(Role::Answer) == 0);
    let given = look.best(Role::Answer, 2, |column| may(column) && column.clarity(Role::Expected) == 0);
    let either = look.best(Role::Answer, 2, |column| may(column) && column.clarity(Role::Expected) > 0);
    match (expected.first(), given.first(), either.first()) {
        (Some(expected), Some(given), _) | (Some(expected), None, Some(given)) | (None, Some(given), Some(expected)) => {
            Some((expected, given))
        }
        _ => None,
    }
}

/// Writes what each word of the column stands for.
pub(super) fn status(look: &Look<'_>, column: &Column) -> Result<String, Question> {
    let mut values = Vec::new();
    let mut unknown = Vec::new();
    for (text, count) in &column.values {
        match (look.hints.values.get(text), verdict(text)) {
            (Some(given), _) => values.push(format!("{}: {}", quoted(text), quoted(given))),
            (None, Some(found)) => values.push(format!("{}: {}", quoted(text), status_name(found).unwrap_or("null"))),
            (None, None) => unknown.push((text, count)),
        }
    }
    if let Some((text, count)) = unknown.first() {
        let question =
            format!("`{}` has `{text}` in {count} of {} rows, which is neither passed nor failed by itself", column.name, column.filled);
        return Err(Question::new(
            question,
            format!("--value {}=fail (or pass, error, limit, infra, skipped, not_evaluated)", shell(text)),
        ));
    }
    Ok(format!("{{column: {}, values: {{{}}}}}", quoted(&column.name), values.join(", ")))
}
