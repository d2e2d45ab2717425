//! Measures of an outcome or a run: scores, cost, time, tokens and texts.

use super::super::notation::Currency;
use super::draft::{Draft, quoted};
use super::judged::{Judged, compared};
use super::look::Look;
use super::summary::{Column, Kind, currency_in_name, unit_in_name};
use super::words::{Role, own_name, words_of};

/// Writes a score with its unit and its direction.
fn score(column: &Column, metric: &str) -> String {
    const DOWN: [&str; 9] = ["loss", "perplexity", "ppl", "wer", "cer", "mae", "rmse", "error", "distance"];
    let Some(numbers) = column.numbers() else { return quoted(&column.name) };
    let words = words_of(&own_name(&column.name));
    let is_percent =
        numbers.has_percent || column.name.contains('%') || words.iter().any(|word| matches!(word.as_str(), "percent" | "pct" | "prozent"));
    let unit = if is_percent && numbers.least >= 0.0 && numbers.most <= 100.0 {
        "percent"
    } else if numbers.least >= 0.0 && numbers.most <= 1.0 {
        "fraction"
    } else if numbers.least >= 0.0 && numbers.most <= 100.0 && numbers.most > 10.0 {
        "points"
    } else {
        "number"
    };
    let direction = if words.iter().any(|word| DOWN.contains(&word.as_str())) { "down" } else { "up" };
    format!("{{column: {}, metric: {}, unit: {unit}, direction: {direction}}}", quoted(&column.name), quoted(metric))
}

pub(super) fn metric_of(column: &Column) -> String {
    let words = words_of(&own_name(&column.name));
    let words: Vec<String> =
        words.into_iter().filter(|word| !matches!(word.as_str(), "percent" | "pct" | "prozent" | "of" | "in")).collect();
    if words.is_empty() { "score".to_owned() } else { words.join("_") }
}

/// Writes scores, category, cost, time and tokens of each outcome.
pub(super) fn measures<'l>(
    look: &'l Look<'_>,
    judged: &Judged<'l>,
    used: &mut Vec<&'l Column>,
    draft: &mut Draft,
    notes: &mut Vec<String>,
) {
    let mut scores: Vec<&Column> = match judged {
        Judged::Score(column) => vec![column],
        Judged::By(_) | Judged::Equal(..) => Vec::new(),
    };
    let is_free = |used: &[&Column], column: &Column| !column.is_among(used);
    for least in [3, 2, 1] {
        let more =
            look.best(Role::Score, least, |column| is_free(used, column) && column.numbers().is_some_and(|numbers| !numbers.is_mixed));
        for column in more {
            used.push(column);
            scores.push(column);
        }
    }
    if let [first, rest @ ..] = scores.as_slice() {
        draft.item.push(("score", score(first, &metric_of(first))));
        if !rest.is_empty() {
            // Two columns of one metric keep their own names.
            let is_single = |name: &str| scores.iter().filter(|column| metric_of(column) == name).count() == 1;
            let name_of = |column: &Column| Some(metric_of(column)).filter(|name| is_single(name)).unwrap_or_else(|| column.name.clone());
            let rest: Vec<String> = rest.iter().map(|column| format!("{}: {}", quoted(&name_of(column)), quoted(&column.name))).collect();
            draft.item.push(("scores", format!("{{{}}}", rest.join(", "))));
        }
    }
    let mut item = Vec::new();
    spent(look, used, &mut item, notes);
    draft.item.extend(item);
    if let Some(column) = look
        .best(Role::Category, 2, |column| is_free(used, column) && column.may_name() && column.values.len() * 2 <= look.rows.len().max(4))
        .first()
    {
        used.push(column);
        draft.item.push(("category", quoted(&column.name)));
    } else if let Some(column) =
        look.best(Role::Category, 2, |column| draft.item[0].1.starts_with(&format!("[{}", quoted(&column.name)))).first()
    {
        draft.item.push(("category", quoted(&column.name)));
    }
    let is_time = |column: &Column| is_free(used, column) && matches!(column.kind, Kind::Times(_) | Kind::UnclearTimes);
    if let Some(column) = look.best(Role::Time, 1, is_time).first() {
        used.push(column);
        draft.run.extend(timestamp(column, notes));
    }
}

/// Writes the run's time, if the column's notation is unambiguous. Otherwise adds a note.
pub(super) fn timestamp(column: &Column, notes: &mut Vec<String>) -> Option<(&'static str, String)> {
    match &column.kind {
        Kind::Times(None) => Some(("timestamp", quoted(&column.name))),
        Kind::Times(Some(format)) => Some(("timestamp", format!("{{column: {}, format: {}}}", quoted(&column.name), quoted(format)))),
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
pub(super) fn spent<'l>(look: &'l Look<'_>, used: &mut Vec<&'l Column>, fields: &mut Vec<(&'static str, String)>, notes: &mut Vec<String>) {
    let is_amount =
        |used: &[&Column], column: &Column| !column.is_among(used) && column.numbers().is_some_and(|numbers| numbers.least >= 0.0);
    let amounts = look.best(Role::Cost, 1, |column| {
        is_amount(used, column) && !column.name.contains('/') && !words_of(&column.name).contains(&"per".to_owned())
    });
    if let Some(column) = amounts.first() {
        used.push(column);
        cost(column, fields, notes);
    }
    let is_length = |column: &Column| is_amount(used, column) || (column.kind == Kind::Lengths && !column.is_among(used));
    if let Some(column) = look.best(Role::Duration, 1, is_length).first() {
        used.push(column);
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
    for (role, key) in [(Role::InputTokens, "input_tokens"), (Role::OutputTokens, "output_tokens")] {
        if let Some(column) =
            look.best(role, 2, |column| is_amount(used, column) && column.numbers().is_some_and(|numbers| numbers.are_whole)).first()
        {
            used.push(column);
            fields.push((key, quoted(&column.name)));
        }
    }
}

fn cost(column: &Column, fields: &mut Vec<(&'static str, String)>, notes: &mut Vec<String>) {
    let currency = column.numbers().and_then(|numbers| numbers.currency).or_else(|| currency_in_name(&column.name));
    let is_english = words_of(&column.name).iter().any(|word| matches!(word.as_str(), "cost" | "costs" | "price" | "spend" | "spent"));
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
pub(super) fn texts<'l>(look: &'l Look<'_>, judged: &Judged<'l>, item: &[&Column], used: &mut Vec<&'l Column>, draft: &mut Draft) {
    let compared = match judged {
        Judged::Equal(expected, given) => Some((*expected, *given)),
        Judged::By(_) | Judged::Score(_) => compared(look),
    };
    for (role, key) in [(Role::Question, "question"), (Role::Answer, "answer"), (Role::Expected, "expected"), (Role::Reason, "reason")] {
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
