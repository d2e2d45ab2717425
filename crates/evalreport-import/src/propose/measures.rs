//! Measures of an outcome or a run: scores, cost, time, tokens and texts.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{ItemStatus, shell_word};

use super::super::list_path::ENCLOSING_PREFIX;
use super::super::notation::Currency;
use super::draft::{MapDraft, quote_yaml, yaml_list};
use super::judged::{PassCriterion, find_answer_columns, quality_verdicts};
use super::polarity::{BetterEnd, better_end};
use super::summary::{
    ColumnSummary, NumberSummary, ValueKind, currency_in_name, read_number, unit_in_name,
};
use super::table_sample::{ExaminedTable, MappingQuestion, cell_text};
use super::words::{SuggestedRole, is_usage, judged_quality, own_name, split_title};

/// Writes a score with its unit and its direction. Asks if its better end or one of its values is unclear.
fn write_score<'l>(
    look: &'l ExaminedTable<'_>,
    (column, is_headline): (&'l ColumnSummary, bool),
    used: &mut Vec<&'l ColumnSummary>,
    notes: &mut Vec<String>,
) -> Result<String, MappingQuestion> {
    let metric = quote_yaml(&metric_name(column));
    let direction = score_direction(look, column, is_headline, notes)?;
    let name = quote_yaml(&column.name);
    let whole = max_points_column(look, column);
    let (source, unit) = match (&column.kind, whole) {
        (_, Some(whole)) => {
            used.push(whole);
            notes.push(format!(
                "`{}` is read as a share of `{}`",
                column.name, whole.name
            ));
            (
                format!("ratio: {}", yaml_list([&column.name, &whole.name])),
                "fraction",
            )
        }
        (ValueKind::Fractions, None) => (format!("ratio: [{name}]"), "fraction"),
        (ValueKind::Spreads(numbers), None) => (write_spread(&name), score_unit(column, numbers)),
        (ValueKind::Numbers(numbers), None) => (
            format!(
                "column: {name}{}",
                write_not_evaluated(look, column, numbers)?
            ),
            score_unit(column, numbers),
        ),
        _ => return Ok(name),
    };
    Ok(format!(
        "{{{source}, metric: {metric}, unit: {unit}, direction: {direction}}}"
    ))
}

/// Writes that a value is the number before its spread.
pub(super) fn write_spread(name: &str) -> String {
    format!(r"regex: {{column: {name}, pattern: '^(.+?)\s*(±|\+/-|\()', group: 1}}")
}

fn score_unit(column: &ColumnSummary, numbers: &NumberSummary) -> &'static str {
    let words = split_title(&own_name(&column.name));
    let is_percent = numbers.has_percent
        || column.name.contains('%')
        || words
            .iter()
            .any(|word| matches!(word.as_str(), "percent" | "pct" | "prozent"));
    // Dollars, seconds and tokens are no shares.
    if is_usage(&column.name) {
        return "number";
    }
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
pub(super) fn score_direction(
    look: &ExaminedTable<'_>,
    column: &ColumnSummary,
    is_headline: bool,
    notes: &mut Vec<String>,
) -> Result<&'static str, MappingQuestion> {
    /// No German mark is above 6, and few other marks end there.
    const MAX_MARK: f64 = 6.0;
    let by_title = match better_end(&column.name) {
        _ if is_usage(&column.name) => BetterEnd::Low,
        BetterEnd::Unclear
            if column.clarity(SuggestedRole::Score) == 3
                && column
                    .numbers()
                    .is_some_and(|numbers| numbers.most > MAX_MARK) =>
        {
            BetterEnd::High
        }
        found => found,
    };
    match look
        .hints
        .direction
        .filter(|_| is_headline)
        .unwrap_or(by_title)
    {
        BetterEnd::High => Ok("up"),
        BetterEnd::Low => {
            notes.push(format!("`{}`: lower is better", column.name));
            Ok("down")
        }
        BetterEnd::Unclear if !is_headline => Ok("none"),
        BetterEnd::Unclear => {
            let text = format!("more of `{}` may be better or worse", column.name);
            Err(MappingQuestion::new(text, "--direction up (or down)"))
        }
    }
}

/// Returns the column with the points that were possible in each row: `max_points` beside `points`.
fn max_points_column<'l>(
    look: &'l ExaminedTable<'_>,
    column: &ColumnSummary,
) -> Option<&'l ColumnSummary> {
    const POSSIBLE_POINTS_WORDS: [&str; 5] = ["max", "maximum", "possible", "maximal", "maximale"];
    let own = split_title(&own_name(&column.name));
    let is_possible = |other: &&ColumnSummary| {
        let (rest, most): (Vec<String>, Vec<String>) = split_title(&own_name(&other.name))
            .into_iter()
            .partition(|word| !POSSIBLE_POINTS_WORDS.contains(&word.as_str()));
        !most.is_empty()
            && rest == own
            && other.numbers().is_some_and(|numbers| numbers.least > 0.0)
    };
    let decimal = look.summary.decimal.as_ref().ok().copied().flatten();
    let value = |row: &Vec<Option<String>>, column: &ColumnSummary| {
        read_number(row[column.place].as_deref()?, decimal)
    };
    let fits = |other: &ColumnSummary| {
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
fn write_not_evaluated(
    look: &ExaminedTable<'_>,
    column: &ColumnSummary,
    numbers: &NumberSummary,
) -> Result<String, MappingQuestion> {
    const NOT_EVALUATED_MARKS: [f64; 4] = [-1.0, -9.0, -99.0, -999.0];
    let is_told = |text: &&String| {
        look.hints
            .values
            .get(*text)
            .is_some_and(|status| status == ItemStatus::NotEvaluated.name())
    };
    if let Some(mark) = column.values.keys().find(is_told) {
        return Ok(format!(
            ", values: {{{}: null}}, otherwise: keep",
            quote_yaml(mark)
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
        [mark]
            if NOT_EVALUATED_MARKS.contains(&numbers.least)
                && column.values.len() > 3
                && !is_scored =>
        {
            let text = format!(
                "`{}` has {mark} in {} of {} rows, which may mean not evaluated",
                column.name, column.values[*mark], column.filled
            );
            Err(MappingQuestion::new(
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

pub(super) fn metric_name(column: &ColumnSummary) -> String {
    let words = split_title(&own_name(&column.name));
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
pub(super) fn write_measures<'l>(
    look: &'l ExaminedTable<'_>,
    (judged, arms): (&PassCriterion<'l>, &[&'l ColumnSummary]),
    used: &mut Vec<&'l ColumnSummary>,
    draft: &mut MapDraft,
    notes: &mut Vec<String>,
) -> Result<(), MappingQuestion> {
    /// Maximum number of keys that are categories.
    const MAX_KEYS: usize = 60;
    let mut scores: Vec<&ColumnSummary> = match judged {
        PassCriterion::Score(column) => vec![column],
        PassCriterion::By(_) | PassCriterion::Equal(..) => Vec::new(),
    };
    let is_free = |used: &[&ColumnSummary], column: &ColumnSummary| !column.is_among(used);
    // The points that were possible are no score beside the points.
    if let Some(first) = scores.first() {
        draft
            .item
            .push(("score", write_score(look, (first, true), used, notes)?));
    }
    for least in [3, 2, 1] {
        let more = look.best_columns(SuggestedRole::Score, least, |column| {
            // A figure above the rows is the run's, and no item's.
            is_free(used, column)
                && !column.name.starts_with(ENCLOSING_PREFIX)
                && column.numbers().is_some_and(|numbers| !numbers.is_mixed)
        });
        for column in more {
            used.push(column);
            scores.push(column);
        }
    }
    if let Some(first) = scores.first()
        && !draft.item.iter().any(|(key, _)| *key == "score")
    {
        draft
            .item
            .push(("score", write_score(look, (first, false), used, notes)?));
    }
    // Two columns of one metric keep their own names.
    let name_of = |column: &ColumnSummary| {
        let name = metric_name(column);
        let same = scores.iter().filter(|column| metric_name(column) == name);
        if same.count() > 1 {
            column.name.clone()
        } else {
            name
        }
    };
    let mut rest: Vec<String> = scores
        .iter()
        .skip(1)
        .map(|column| {
            format!(
                "{}: {}",
                quote_yaml(&name_of(column)),
                quote_yaml(&column.name)
            )
        })
        .collect();
    let partial: Vec<String> = scores
        .iter()
        .skip(1)
        .filter(|column| column.filled < look.rows.len())
        .map(|column| format!("`{}` has a value in {}", column.name, column.filled))
        .collect();
    if !partial.is_empty() {
        notes.push(format!(
            "of {} rows, {}: its mean leaves out the others",
            look.rows.len(),
            partial.join(" and ")
        ));
    }
    // The verdicts on other qualities of an answer are scores beside the one that decides.
    if let PassCriterion::By(judge) = judged
        && let Some(quality) = judged_quality(&judge.name)
    {
        for column in quality_verdicts(look) {
            if is_free(used, column) && judged_quality(&column.name).as_ref() != Some(&quality) {
                used.push(column);
                rest.push(format!(
                    "{}: {}",
                    quote_yaml(&metric_name(column)),
                    write_shares(column)
                ));
            }
        }
    }
    if !rest.is_empty() {
        draft
            .item
            .push(("scores", format!("{{{}}}", rest.join(", "))));
    }
    let mut item = Vec::new();
    let of_run = |column: &ColumnSummary| is_run_total(look, column, arms);
    let amounts = write_usage(look, used, &mut item, notes);
    for (key, mut value) in item {
        if key == "cost_usd"
            && let Some((_, column)) = amounts.iter().find(|(amount, _)| *amount == key)
            && let Some(zeros) = unmeasured_zeros(look, column, arms)
        {
            notes.push(format!(
                "`{}` is 0 in all rows of one arm and in no other row: it is taken as not measured there",
                column.name
            ));
            let zeros: Vec<String> = zeros
                .iter()
                .map(|zero| format!("{}: null", quote_yaml(zero)))
                .collect();
            let form = value
                .strip_prefix('{')
                .and_then(|form| form.strip_suffix('}'))
                .map_or_else(|| format!("column: {value}"), str::to_owned);
            value = format!(
                "{{{form}, values: {{{}}}, otherwise: keep}}",
                zeros.join(", ")
            );
        }
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
        .best_columns(SuggestedRole::Category, 2, |column| {
            is_free(used, column)
                && column.may_name()
                && column.values.len() * 2 <= look.rows.len().max(4)
        })
        .first()
    {
        used.push(column);
        draft.item.push(("category", quote_yaml(&column.name)));
    } else if let Some(column) = look
        .best_columns(SuggestedRole::Category, 2, |column| {
            draft.item[0]
                .1
                .starts_with(&format!("[{}", quote_yaml(&column.name)))
        })
        .first()
    {
        draft.item.push(("category", quote_yaml(&column.name)));
    }
    // Keys above the rows part the items, if nothing else does.
    else if let Some(column) = look.summary.columns.iter().find(|column| {
        is_free(used, column)
            && column.is_outer_key()
            && (2..=MAX_KEYS).contains(&column.values.len())
    }) {
        used.push(column);
        draft.item.push(("category", quote_yaml(&column.name)));
    }
    let is_cluster = |column: &ColumnSummary| {
        is_free(used, column) && column.may_name() && column.values.len() > 1
    };
    if let Some(column) = look
        .best_columns(SuggestedRole::Cluster, 2, is_cluster)
        .first()
    {
        used.push(column);
        draft.item.push(("cluster", quote_yaml(&column.name)));
    }
    let is_time = |column: &ColumnSummary| {
        is_free(used, column)
            && matches!(column.kind, ValueKind::Times(_) | ValueKind::UnclearTimes)
    };
    if let Some(column) = look.best_columns(SuggestedRole::Time, 1, is_time).first() {
        used.push(column);
        draft.run.extend(write_timestamp(column, notes));
    }
    Ok(())
}

/// Writes a verdict as a score of 1 or 0.
fn write_shares(column: &ColumnSummary) -> String {
    let values: Vec<String> = column
        .values
        .keys()
        .map(|text| {
            let share = match column.status_of(text) {
                Some(ItemStatus::Pass) => "\"1\"",
                Some(ItemStatus::Fail) => "\"0\"",
                _ => "null",
            };
            format!("{}: {share}", quote_yaml(text))
        })
        .collect();
    format!(
        "{{column: {}, values: {{{}}}, otherwise: missing}}",
        quote_yaml(&column.name),
        values.join(", ")
    )
}

/// Returns the ways in which a column writes zero, if all rows of some arm have it and no row of another arm does.
fn unmeasured_zeros<'l>(
    look: &'l ExaminedTable<'_>,
    column: &ColumnSummary,
    arms: &[&ColumnSummary],
) -> Option<BTreeSet<&'l str>> {
    let decimal = look.summary.decimal.as_ref().ok().copied().flatten();
    let mut zeros = BTreeSet::new();
    // Whether an arm has zeros, and other amounts.
    let mut found: BTreeMap<Vec<Option<&str>>, (bool, bool)> = BTreeMap::new();
    for row in &look.rows {
        let Some(text) = cell_text(row, column) else {
            continue;
        };
        let key = arms.iter().map(|arm| cell_text(row, arm)).collect();
        let (has_zeros, has_others) = found.entry(key).or_default();
        if read_number(text, decimal) == Some(0.0) {
            zeros.insert(text);
            *has_zeros = true;
        } else {
            *has_others = true;
        }
    }
    let is_apart = found.values().all(|(zeros, others)| zeros != others);
    let has_both =
        found.values().any(|(zeros, _)| *zeros) && found.values().any(|(zeros, _)| !zeros);
    (is_apart && has_both).then_some(zeros)
}

/// Returns whether the column has totals of runs: its title says so, and it is the same in all rows of an arm.
fn is_run_total(look: &ExaminedTable<'_>, column: &ColumnSummary, arms: &[&ColumnSummary]) -> bool {
    const MIN_ROWS: usize = 3;
    let is_titled = split_title(&own_name(&column.name))
        .iter()
        .any(|word| matches!(word.as_str(), "total" | "run" | "overall" | "gesamt"));
    let rows = look.rows.len();
    let parts = look.count_rows(arms).len().max(1);
    let is_decided = || {
        let more = look
            .best_columns(SuggestedRole::Run, 2, ColumnSummary::may_name)
            .into_iter()
            .chain(look.best_columns(SuggestedRole::Seed, 2, ColumnSummary::may_name))
            .map(|one| vec![one]);
        let mut keys = std::iter::once(Vec::new())
            .chain(more)
            .map(|more| arms.iter().copied().chain(more).collect::<Vec<_>>());
        keys.any(|key| look.determines(&key, column))
    };
    is_titled && rows >= parts * MIN_ROWS && is_decided()
}

/// Writes the run's time, if the column's notation is unambiguous. Otherwise adds a note.
pub(super) fn write_timestamp(
    column: &ColumnSummary,
    notes: &mut Vec<String>,
) -> Option<(&'static str, String)> {
    match &column.kind {
        ValueKind::Times(None) => Some(("timestamp", quote_yaml(&column.name))),
        ValueKind::Times(Some(format)) => Some((
            "timestamp",
            format!(
                "{{column: {}, format: {}}}",
                quote_yaml(&column.name),
                quote_yaml(format)
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
pub(super) fn write_usage<'l>(
    look: &'l ExaminedTable<'_>,
    used: &mut Vec<&'l ColumnSummary>,
    fields: &mut Vec<(&'static str, String)>,
    notes: &mut Vec<String>,
) -> Vec<(&'static str, &'l ColumnSummary)> {
    const AVERAGE_WORDS: [&str; 4] = ["per", "avg", "mean", "average"];
    let mut found = Vec::new();
    let is_averaged = |column: &ColumnSummary| {
        split_title(&column.name)
            .iter()
            .any(|word| AVERAGE_WORDS.contains(&word.as_str()))
            || column.name.contains('/')
    };
    let is_amount = |used: &[&ColumnSummary], column: &ColumnSummary| {
        !column.is_among(used) && column.numbers().is_some_and(|numbers| numbers.least >= 0.0)
    };
    let amounts = look.best_columns(SuggestedRole::Cost, 1, |column| {
        is_amount(used, column) && !is_averaged(column)
    });
    if let Some(column) = amounts.first() {
        used.push(column);
        found.push(("cost_usd", *column));
        write_cost(column, fields, notes);
    }
    let is_length = |column: &ColumnSummary| {
        (is_amount(used, column) || (column.kind == ValueKind::Lengths && !column.is_among(used)))
            && !is_averaged(column)
    };
    if let Some(column) = look
        .best_columns(SuggestedRole::Duration, 1, is_length)
        .first()
    {
        used.push(column);
        found.push(("duration_seconds", *column));
        match (unit_in_name(&column.name), &column.kind) {
            (_, ValueKind::Lengths) => fields.push(("duration_seconds", format!("{{column: {}, unit: s}}", quote_yaml(&column.name)))),
            (Some("s"), _) => fields.push(("duration_seconds", quote_yaml(&column.name))),
            (Some(unit), _) => fields.push(("duration_seconds", format!("{{column: {}, unit: {unit}}}", quote_yaml(&column.name)))),
            (None, _) => notes.push(format!(
                "`{}` has no unit and is not read; in the map, duration_seconds: {{column: …, unit: ms}} reads it",
                column.name
            )),
        }
    }
    for (role, key) in [
        (SuggestedRole::InputTokens, "input_tokens"),
        (SuggestedRole::OutputTokens, "output_tokens"),
    ] {
        if let Some(column) = look
            .best_columns(role, 2, |column| {
                is_amount(used, column) && column.numbers().is_some_and(|numbers| numbers.are_whole)
            })
            .first()
        {
            used.push(column);
            found.push((key, *column));
            fields.push((key, quote_yaml(&column.name)));
        }
    }
    found
}

fn write_cost(
    column: &ColumnSummary,
    fields: &mut Vec<(&'static str, String)>,
    notes: &mut Vec<String>,
) {
    let currency = column
        .numbers()
        .and_then(|numbers| numbers.currency)
        .or_else(|| currency_in_name(&column.name));
    let is_english = split_title(&column.name)
        .iter()
        .any(|word| matches!(word.as_str(), "cost" | "costs" | "spend" | "spent"));
    match currency {
        Some(Currency::Dollar) => fields.push(("cost_usd", quote_yaml(&column.name))),
        Some(Currency::Cent) => fields.push(("cost_usd", format!("{{column: {}, unit: cents}}", quote_yaml(&column.name)))),
        None if is_english => {
            fields.push(("cost_usd", quote_yaml(&column.name)));
            notes.push(format!("`{}` names no currency and is taken as US dollars", column.name));
        }
        _ => notes.push(format!("`{}` is not in US dollars, or does not say so, and is not read; in the map, cost_usd: {{column: …, unit: EUR, multiply: 1.08}} reads it", column.name)),
    }
}

/// Writes the texts of an outcome that people read.
pub(super) fn write_texts<'l>(
    look: &'l ExaminedTable<'_>,
    judged: &PassCriterion<'l>,
    item: &[&ColumnSummary],
    used: &mut Vec<&'l ColumnSummary>,
    draft: &mut MapDraft,
) {
    let compared = match judged {
        PassCriterion::Equal(expected, given) => Some((*expected, *given)),
        PassCriterion::By(_) | PassCriterion::Score(_) => find_answer_columns(look),
    };
    for (role, key) in [
        (SuggestedRole::Question, "question"),
        (SuggestedRole::Answer, "answer"),
        (SuggestedRole::Expected, "expected"),
        (SuggestedRole::Reason, "reason"),
    ] {
        let is_free = |column: &ColumnSummary| {
            let is_item = column.is_among(item);
            let is_used = column.is_among(used);
            (!is_used || (is_item && role == SuggestedRole::Question && column.longest > 20))
                && matches!(
                    column.kind,
                    ValueKind::Text | ValueKind::Numbers(_) | ValueKind::Outcomes
                )
        };
        let found = match (role, compared) {
            (SuggestedRole::Answer, Some((_, given))) => Some(given),
            (SuggestedRole::Expected, Some((expected, _))) => Some(expected),
            _ => look.best_columns(role, 2, is_free).first().copied(),
        };
        if let Some(column) = found {
            used.push(column);
            draft.item.push((key, quote_yaml(&column.name)));
        }
    }
}
