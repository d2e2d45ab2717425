//! Measures of an outcome or a run: scores, cost, time, tokens and texts.

use crate::domain::{ItemStatus, shell_word};

use super::super::notation::Currency;
use super::draft::{Draft, list, quoted};
use super::judged::{Judged, compared};
use super::look::{Look, Question};
use super::polarity::{Better, better};
use super::summary::{Column, Kind, Numbers, currency_in_name, read_number, unit_in_name};
use super::words::{Role, own_name, words_of};

/// Writes a score with its unit and its direction. Asks if its better end or one of its values is unclear.
fn score<'l>(
    look: &'l Look<'_>,
    (column, is_headline): (&'l Column, bool),
    used: &mut Vec<&'l Column>,
    notes: &mut Vec<String>,
) -> Result<String, Question> {
    let metric = quoted(&metric_of(column));
    let direction = direction(look, column, is_headline, notes)?;
    let name = quoted(&column.name);
    let whole = points_possible(look, column);
    let (source, unit) = match (&column.kind, whole) {
        (_, Some(whole)) => {
            used.push(whole);
            notes.push(format!(
                "`{}` is read as a share of `{}`",
                column.name, whole.name
            ));
            (
                format!("ratio: {}", list([&column.name, &whole.name])),
                "fraction",
            )
        }
        (Kind::Fractions, None) => (format!("ratio: [{name}]"), "fraction"),
        (Kind::Spreads(numbers), None) => (spread(&name), unit_of(column, numbers)),
        (Kind::Numbers(numbers), None) => (
            format!("column: {name}{}", not_evaluated(look, column, numbers)?),
            unit_of(column, numbers),
        ),
        _ => return Ok(name),
    };
    Ok(format!(
        "{{{source}, metric: {metric}, unit: {unit}, direction: {direction}}}"
    ))
}

/// Writes that a value is the number before its spread.
pub(super) fn spread(name: &str) -> String {
    format!(r"regex: {{column: {name}, pattern: '^(.+?)\s*(±|\+/-)', group: 1}}")
}

fn unit_of(column: &Column, numbers: &Numbers) -> &'static str {
    let words = words_of(&own_name(&column.name));
    let is_percent = numbers.has_percent
        || column.name.contains('%')
        || words
            .iter()
            .any(|word| matches!(word.as_str(), "percent" | "pct" | "prozent"));
    if is_percent && numbers.least >= 0.0 && numbers.most <= 100.0 {
        "percent"
    } else if numbers.least >= 0.0 && numbers.most <= 1.0 {
        "fraction"
    } else if numbers.least >= 0.0 && numbers.most <= 100.0 && numbers.most > 10.0 {
        "points"
    } else {
        "number"
    }
}

/// Returns the direction of a score as a map writes it: by the command line, or by the title. Asks if either end may be the better one and
/// the score is all there is.
pub(super) fn direction(
    look: &Look<'_>,
    column: &Column,
    is_headline: bool,
    notes: &mut Vec<String>,
) -> Result<&'static str, Question> {
    /// No German mark is above 6, and few other marks end there.
    const MOST_MARK: f64 = 6.0;
    let by_title = match better(&column.name) {
        Better::Unclear
            if column.clarity(Role::Score) == 3
                && column
                    .numbers()
                    .is_some_and(|numbers| numbers.most > MOST_MARK) =>
        {
            Better::High
        }
        found => found,
    };
    match look
        .hints
        .direction
        .filter(|_| is_headline)
        .unwrap_or(by_title)
    {
        Better::High => Ok("up"),
        Better::Low => {
            notes.push(format!("`{}`: lower is better", column.name));
            Ok("down")
        }
        Better::Unclear if !is_headline => Ok("none"),
        Better::Unclear => {
            let text = format!("more of `{}` may be better or worse", column.name);
            Err(Question::new(text, "--direction up (or down)"))
        }
    }
}

/// Returns the column with the points that were possible in each row: `max_points` beside `points`.
fn points_possible<'l>(look: &'l Look<'_>, column: &Column) -> Option<&'l Column> {
    const MOST: [&str; 5] = ["max", "maximum", "possible", "maximal", "maximale"];
    let own = words_of(&own_name(&column.name));
    let is_possible = |other: &&Column| {
        let (rest, most): (Vec<String>, Vec<String>) = words_of(&own_name(&other.name))
            .into_iter()
            .partition(|word| !MOST.contains(&word.as_str()));
        !most.is_empty()
            && rest == own
            && other.numbers().is_some_and(|numbers| numbers.least > 0.0)
    };
    let decimal = look.summary.decimal.as_ref().ok().copied().flatten();
    let value = |row: &Vec<Option<String>>, column: &Column| {
        read_number(row[column.place].as_deref()?, decimal)
    };
    let fits = |other: &Column| {
        look.rows
            .iter()
            .all(|row| match (value(row, column), value(row, other)) {
                (Some(part), Some(whole)) => part <= whole,
                _ => true,
            })
    };
    let found = look.summary.columns.iter().find(is_possible)?;
    (column.numbers().is_some() && fits(found)).then_some(found)
}

/// Writes which value of a score means that nobody gave one. Asks if -1 among positive scores may mean that.
fn not_evaluated(look: &Look<'_>, column: &Column, numbers: &Numbers) -> Result<String, Question> {
    const MARKS: [f64; 4] = [-1.0, -9.0, -99.0, -999.0];
    let is_told = |text: &&String| {
        look.hints
            .values
            .get(*text)
            .is_some_and(|status| status == ItemStatus::NotEvaluated.name())
    };
    if let Some(mark) = column.values.keys().find(is_told) {
        return Ok(format!(
            ", values: {{{}: null}}, otherwise: keep",
            quoted(mark)
        ));
    }
    let decimal = look.summary.decimal.as_ref().ok().copied().flatten();
    let below: Vec<&String> = column
        .values
        .keys()
        .filter(|text| read_number(text, decimal).is_some_and(|value| value < 0.0))
        .collect();
    let is_scored = look.hints.score.as_ref() == Some(&column.name);
    match below.as_slice() {
        [mark] if MARKS.contains(&numbers.least) && column.values.len() > 3 && !is_scored => {
            let text = format!(
                "`{}` has {mark} in {} of {} rows, which may mean not evaluated",
                column.name, column.values[*mark], column.filled
            );
            Err(Question::new(
                text,
                format!(
                    "--value {mark}=not_evaluated (or --score {}, which counts it)",
                    shell_word(&column.name)
                ),
            ))
        }
        _ => Ok(String::new()),
    }
}

pub(super) fn metric_of(column: &Column) -> String {
    let words = words_of(&own_name(&column.name));
    let words: Vec<String> = words
        .into_iter()
        .filter(|word| !matches!(word.as_str(), "percent" | "pct" | "prozent" | "of" | "in"))
        .collect();
    if words.is_empty() {
        "score".to_owned()
    } else {
        words.join("_")
    }
}

/// Writes scores, category, cost, time and tokens of each outcome.
pub(super) fn measures<'l>(
    look: &'l Look<'_>,
    (judged, arms): (&Judged<'l>, &[&'l Column]),
    used: &mut Vec<&'l Column>,
    draft: &mut Draft,
    notes: &mut Vec<String>,
) -> Result<(), Question> {
    let mut scores: Vec<&Column> = match judged {
        Judged::Score(column) => vec![column],
        Judged::By(_) | Judged::Equal(..) => Vec::new(),
    };
    let is_free = |used: &[&Column], column: &Column| !column.is_among(used);
    // The points that were possible are no score beside the points.
    if let Some(first) = scores.first() {
        draft
            .item
            .push(("score", score(look, (first, true), used, notes)?));
    }
    for least in [3, 2, 1] {
        let more = look.best(Role::Score, least, |column| {
            is_free(used, column) && column.numbers().is_some_and(|numbers| !numbers.is_mixed)
        });
        for column in more {
            used.push(column);
            scores.push(column);
        }
    }
    if let [first, rest @ ..] = scores.as_slice() {
        if !draft.item.iter().any(|(key, _)| *key == "score") {
            draft
                .item
                .push(("score", score(look, (first, false), used, notes)?));
        }
        if !rest.is_empty() {
            // Two columns of one metric keep their own names.
            let is_single = |name: &str| {
                scores
                    .iter()
                    .filter(|column| metric_of(column) == name)
                    .count()
                    == 1
            };
            let name_of = |column: &Column| {
                Some(metric_of(column))
                    .filter(|name| is_single(name))
                    .unwrap_or_else(|| column.name.clone())
            };
            let rest: Vec<String> = rest
                .iter()
                .map(|column| format!("{}: {}", quoted(&name_of(column)), quoted(&column.name)))
                .collect();
            draft
                .item
                .push(("scores", format!("{{{}}}", rest.join(", "))));
        }
    }
    let mut item = Vec::new();
    let of_run = |column: &Column| is_of_run(look, column, arms);
    let amounts = spent(look, used, &mut item, notes);
    for (key, value) in item {
        // A run's total that each of its rows repeats is not a row's.
        match amounts.iter().find(|(amount, _)| *amount == key) {
            Some((_, column)) if of_run(column) => {
                notes.push(format!(
                    "`{}` is the same in all rows of a run and is read as the run's",
                    column.name
                ));
                draft.run.push((key, value));
            }
            _ => draft.item.push((key, value)),
        }
    }
    if let Some(column) = look
        .best(Role::Category, 2, |column| {
            is_free(used, column)
                && column.may_name()
                && column.values.len() * 2 <= look.rows.len().max(4)
        })
        .first()
    {
        used.push(column);
        draft.item.push(("category", quoted(&column.name)));
    } else if let Some(column) = look
        .best(Role::Category, 2, |column| {
            draft.item[0]
                .1
                .starts_with(&format!("[{}", quoted(&column.name)))
        })
        .first()
    {
        draft.item.push(("category", quoted(&column.name)));
    }
    let is_cluster =
        |column: &Column| is_free(used, column) && column.may_name() && column.values.len() > 1;
    if let Some(column) = look.best(Role::Cluster, 2, is_cluster).first() {
        used.push(column);
        draft.item.push(("cluster", quoted(&column.name)));
    }
    let is_time = |column: &Column| {
        is_free(used, column) && matches!(column.kind, Kind::Times(_) | Kind::UnclearTimes)
    };
    if let Some(column) = look.best(Role::Time, 1, is_time).first() {
        used.push(column);
        draft.run.extend(timestamp(column, notes));
    }
    Ok(())
}

/// Returns whether the column has totals of runs: its title says so, and it is the same in all rows of an arm.
fn is_of_run(look: &Look<'_>, column: &Column, arms: &[&Column]) -> bool {
    const LEAST_ROWS: usize = 3;
    let is_titled = words_of(&own_name(&column.name))
        .iter()
        .any(|word| matches!(word.as_str(), "total" | "run" | "overall" | "gesamt"));
    let rows = look.rows.len();
    let parts = look.counts(arms).len().max(1);
    let is_decided = || {
        let more = look
            .best(Role::Run, 2, Column::may_name)
            .into_iter()
            .chain(look.best(Role::Seed, 2, Column::may_name))
            .map(|one| vec![one]);
        let mut keys = std::iter::once(Vec::new())
            .chain(more)
            .map(|more| arms.iter().copied().chain(more).collect::<Vec<_>>());
        keys.any(|key| look.decides(&key, column))
    };
    is_titled && rows >= parts * LEAST_ROWS && is_decided()
}

/// Writes the run's time, if the column's notation is unambiguous. Otherwise adds a note.
pub(super) fn timestamp(
    column: &Column,
    notes: &mut Vec<String>,
) -> Option<(&'static str, String)> {
    match &column.kind {
        Kind::Times(None) => Some(("timestamp", quoted(&column.name))),
        Kind::Times(Some(format)) => Some((
            "timestamp",
            format!(
                "{{column: {}, format: {}}}",
                quoted(&column.name),
                quoted(format)
            ),
        )),
        _ => {
            notes.push(format!(
                "`{}` is not read: day and month may be either way; in the map, {{column: …, format: \"%d/%m/%Y\"}} reads it",
                column.name
            ));
            None
        }
    }
}

/// Writes cost, time and tokens, if their units are known.
///
/// Returns the column of each field.
pub(super) fn spent<'l>(
    look: &'l Look<'_>,
    used: &mut Vec<&'l Column>,
    fields: &mut Vec<(&'static str, String)>,
    notes: &mut Vec<String>,
) -> Vec<(&'static str, &'l Column)> {
    const AVERAGED: [&str; 4] = ["per", "avg", "mean", "average"];
    let mut found = Vec::new();
    let is_averaged = |column: &Column| {
        words_of(&column.name)
            .iter()
            .any(|word| AVERAGED.contains(&word.as_str()))
            || column.name.contains('/')
    };
    let is_amount = |used: &[&Column], column: &Column| {
        !column.is_among(used) && column.numbers().is_some_and(|numbers| numbers.least >= 0.0)
    };
    let amounts = look.best(Role::Cost, 1, |column| {
        is_amount(used, column) && !is_averaged(column)
    });
    if let Some(column) = amounts.first() {
        used.push(column);
        found.push(("cost_usd", *column));
        cost(column, fields, notes);
    }
    let is_length = |column: &Column| {
        (is_amount(used, column) || (column.kind == Kind::Lengths && !column.is_among(used)))
            && !is_averaged(column)
    };
    if let Some(column) = look.best(Role::Duration, 1, is_length).first() {
        used.push(column);
        found.push(("duration_seconds", *column));
        match (unit_in_name(&column.name), &column.kind) {
            (_, Kind::Lengths) => fields.push(("duration_seconds", format!("{{column: {}, unit: s}}", quoted(&column.name)))),
            (Some("s"), _) => fields.push(("duration_seconds", quoted(&column.name))),
            (Some(unit), _) => fields.push(("duration_seconds", format!("{{column: {}, unit: {unit}}}", quoted(&column.name)))),
            (None, _) => notes.push(format!(
                "`{}` has no unit and is not read; in the map, duration_seconds: {{column: …, unit: ms}} reads it",
                column.name
            )),
        }
    }
    for (role, key) in [
        (Role::InputTokens, "input_tokens"),
        (Role::OutputTokens, "output_tokens"),
    ] {
        if let Some(column) = look
            .best(role, 2, |column| {
                is_amount(used, column) && column.numbers().is_some_and(|numbers| numbers.are_whole)
            })
            .first()
        {
            used.push(column);
            found.push((key, *column));
            fields.push((key, quoted(&column.name)));
        }
    }
    found
}

fn cost(column: &Column, fields: &mut Vec<(&'static str, String)>, notes: &mut Vec<String>) {
    let currency = column
        .numbers()
        .and_then(|numbers| numbers.currency)
        .or_else(|| currency_in_name(&column.name));
    let is_english = words_of(&column.name)
        .iter()
        .any(|word| matches!(word.as_str(), "cost" | "costs" | "spend" | "spent"));
    match currency {
        Some(Currency::Dollar) => fields.push(("cost_usd", quoted(&column.name))),
        Some(Currency::Cent) => fields.push(("cost_usd", format!("{{column: {}, unit: cents}}", quoted(&column.name)))),
        None if is_english => {
            fields.push(("cost_usd", quoted(&column.name)));
            notes.push(format!("`{}` names no currency and is taken as US dollars", column.name));
        }
        _ => notes.push(format!("`{}` is not in US dollars, or does not say so, and is not read; in the map, cost_usd: {{column: …, unit: EUR, multiply: 1.08}} reads it", column.name)),
    }
}

/// Writes the texts of an outcome that people read.
pub(super) fn texts<'l>(
    look: &'l Look<'_>,
    judged: &Judged<'l>,
    item: &[&Column],
    used: &mut Vec<&'l Column>,
    draft: &mut Draft,
) {
    let compared = match judged {
        Judged::Equal(expected, given) => Some((*expected, *given)),
        Judged::By(_) | Judged::Score(_) => compared(look),
    };
    for (role, key) in [
        (Role::Question, "question"),
        (Role::Answer, "answer"),
        (Role::Expected, "expected"),
        (Role::Reason, "reason"),
    ] {
        let is_free = |column: &Column| {
            let is_item = column.is_among(item);
            let is_used = column.is_among(used);
            (!is_used || (is_item && role == Role::Question && column.longest > 20))
                && matches!(column.kind, Kind::Text | Kind::Numbers(_) | Kind::Outcomes)
        };
        let found = match (role, compared) {
            (Role::Answer, Some((_, given))) => Some(given),
            (Role::Expected, Some((expected, _))) => Some(expected),
            _ => look.best(role, 2, is_free).first().copied(),
        };
        if let Some(column) = found {
            used.push(column);
            draft.item.push((key, quoted(&column.name)));
        }
    }
}
