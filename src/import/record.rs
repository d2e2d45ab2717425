//! Turns one row into the record that the map describes.

use std::borrow::Cow;

use crate::domain::{
    ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId, RunStatus, ScoreRecord,
    StatedFigure, Unit,
};
use crate::results::Store;

use super::cell::{
    Range, Refused, decimals_of, number, same_value, time, time_by, time_of_days, time_of_seconds,
};
use super::field::{Field, View};
use super::map::{
    Attempt, Bounds, CountedPart, Counter, Counts, ItemFields, ItemTexts, Map, Measure,
    StatedField, StatusField, TABLE, TimeFormat,
};
use super::texts::{MOST_TEXT_CHARS, clip};

/// Names that identify the run of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunNames {
    pub suite: String,
    pub approach: String,
    pub model: String,
    pub index: Option<u32>,
    pub identity: Vec<String>,
}

/// Reads the names into `names`, reusing its buffers.
pub(super) fn run_names(map: &Map, row: &View<'_>, names: &mut RunNames) -> Result<(), Refused> {
    set(&mut names.suite, &map.run.suite.required_name(row)?);
    set(&mut names.approach, &map.run.approach.required_name(row)?);
    set(&mut names.model, &map.run.model.required_name(row)?);
    names.index = map
        .run
        .index
        .as_ref()
        .map(|counter| counted(counter, row))
        .transpose()?
        .flatten();
    names.identity.resize(map.run.identity.len(), String::new());
    for (name, field) in names.identity.iter_mut().zip(&map.run.identity) {
        set(name, &field.required_name(row)?);
    }
    Ok(())
}

pub(super) fn run_id(map: &Map, names: &RunNames) -> RunId {
    let index = names
        .index
        .map(|index| index.to_string())
        .unwrap_or_default();
    let mut parts = vec![map.name.as_str(), names.suite.as_str()];
    if names.identity.is_empty() {
        parts.extend([
            names.approach.as_str(),
            names.model.as_str(),
            index.as_str(),
        ]);
    } else {
        parts.extend(names.identity.iter().map(String::as_str));
    }
    Store::imported_run_id(TABLE, &parts)
}

/// Creates the run that the row describes or belongs to.
pub(super) fn run_of(map: &Map, row: &View<'_>, names: &RunNames) -> Result<Run, Refused> {
    let fields = &map.run;
    let amount = |field: &Option<Field>| field.as_ref().map_or(Ok(None), |field| field.amount(row));
    let whole = |field: &Option<Field>| field.as_ref().map_or(Ok(None), |field| field.whole(row));
    let text = |field: &Option<Field>| -> Result<Option<String>, Refused> {
        field
            .as_ref()
            .map_or(Ok(None), |field| Ok(field.text(row)?.map(Cow::into_owned)))
    };
    let mut run = Run::new(
        run_id(map, names),
        &names.suite,
        &names.approach,
        &names.model,
    );
    run.run_index = names.index;
    if let Some(field) = &fields.timestamp {
        let read = |text: Cow<'_, str>| match &fields.timestamp_format {
            None => time(&field.label, &text),
            Some(TimeFormat::Unix) => time_of_seconds(&field.label, &text, 1.0),
            Some(TimeFormat::UnixMilliseconds) => time_of_seconds(&field.label, &text, 1000.0),
            Some(TimeFormat::Excel) => time_of_days(&field.label, &text),
            Some(TimeFormat::Pattern(pattern)) => time_by(&field.label, &text, pattern),
        };
        run.timestamp = field.text(row)?.map(read).transpose()?;
    }
    run.duration_seconds = amount(&fields.duration_seconds)?;
    run.total_calls = whole(&fields.total_calls)?;
    run.input_tokens = whole(&fields.input_tokens)?;
    run.output_tokens = whole(&fields.output_tokens)?;
    run.total_tokens = whole(&fields.total_tokens)?;
    run.cost_usd = amount(&fields.cost_usd)?;
    run.files_generated = whole(&fields.files_generated)?;
    run.lines_generated = whole(&fields.lines_generated)?;
    run.agent = text(&fields.agent)?;
    run.suite_version = text(&fields.suite_version)?;
    run.error = text(&fields.error)?;
    if let Some(counts) = &fields.counts
        && let Some((passed, total)) = passed_of(counts, row)?
    {
        (run.shared_tests_passed, run.shared_tests_total) = (Some(passed), Some(total));
        run.counted = fields.counted;
    }
    run.status = match &fields.status {
        Some(field) => match field.text(row)? {
            Some(name) => RunStatus::from_name(&name).ok_or_else(|| unknown_name(field, &name))?,
            None => RunStatus::Completed,
        },
        None if run.error.is_some() => RunStatus::Failed,
        None => RunStatus::Completed,
    };
    for (key, field) in &fields.tags {
        if let Some(value) = field.name(row)? {
            run.tags.insert(key.clone(), value.into_owned());
        }
    }
    for score in &map.scores {
        let is_superseded = score.unless.as_ref().map_or(Ok(false), |field| {
            field.text(row).map(|text| text.is_some())
        })?;
        if is_superseded {
            continue;
        }
        let Some(value) = measured(&score.value, score.unit, score.range, row)? else {
            continue;
        };
        run.scores.push(ScoreRecord {
            range: score.range.map(|range| range.in_unit(score.unit)),
            standard_error: amount(&score.standard_error)?.map(|error| error / score.unit.divisor),
            n: whole(&score.n)?,
            ..ScoreRecord::new(
                score.metric.clone(),
                value,
                score.unit.unit,
                score.direction,
            )
        });
    }
    for stated in &map.stated {
        let Some(text) = stated.value.numeral(row)? else {
            continue;
        };
        let StatedField {
            value: Field { label, scale, .. },
            unit,
            ..
        } = stated;
        let value = in_unit(
            label,
            scale.of(number(label, &text, Range::Any)?),
            *unit,
            &text,
        )?;
        let counts = stated
            .counts
            .as_ref()
            .map_or(Ok(None), |counts| passed_of(counts, row))?;
        let digits = stated.decimals.unwrap_or_else(|| decimals_of(&text));
        run.stated.push(StatedFigure {
            name: stated.name.clone(),
            value,
            unit: unit.unit,
            recomputed: counts
                .filter(|(_, total)| *total > 0)
                .map(|(passed, total)| passed as f64 / total as f64),
            rounding: Some(scale.of(StatedFigure::half_of_last(digits)) / unit.divisor),
        });
    }
    Ok(run)
}

/// Returns whether rows of items have facts about their run besides its names.
pub(super) fn has_run_figures(map: &Map) -> bool {
    let run = &map.run;
    let figures = [
        &run.timestamp,
        &run.duration_seconds,
        &run.total_calls,
        &run.input_tokens,
        &run.output_tokens,
        &run.total_tokens,
        &run.cost_usd,
        &run.files_generated,
        &run.lines_generated,
        &run.status,
        &run.error,
        &run.agent,
        &run.suite_version,
    ];
    figures.iter().any(|field| field.is_some())
        || !run.tags.is_empty()
        || !map.scores.is_empty()
        || !map.stated.is_empty()
}

/// Fills gaps of `known` from another row of the same run. The latest time counts; any other difference refuses the row.
pub(super) fn merge(known: &mut Run, other: Run) -> Result<(), Refused> {
    let differs =
        |name: &str| Refused::because(format!("rows of one run disagree about its {name}"));
    macro_rules! each_figure {
        ($($field:ident),*) => {
            $(if known.$field.is_some() && other.$field.is_some() && known.$field != other.$field {
                return Err(differs(stringify!($field)));
            })*
            if known.status != other.status {
                return Err(differs("status"));
            }
            if other.tags.iter().any(|(key, value)| known.tags.get(key).is_some_and(|known| known != value)) {
                return Err(differs("tags"));
            }
            if !known.scores.is_empty() && !other.scores.is_empty() && known.scores != other.scores {
                return Err(differs("scores"));
            }
            if !known.stated.is_empty() && !other.stated.is_empty() && known.stated != other.stated {
                return Err(differs("published figures"));
            }
            $(if known.$field.is_none() {
                known.$field = other.$field;
            })*
        };
    }
    each_figure!(
        duration_seconds,
        total_calls,
        input_tokens,
        output_tokens,
        total_tokens,
        cost_usd,
        files_generated,
        lines_generated,
        agent,
        suite_version,
        error
    );
    known.timestamp = known.timestamp.max(other.timestamp);
    known.tags.extend(other.tags);
    if known.scores.is_empty() {
        known.scores = other.scores;
    }
    if known.stated.is_empty() {
        known.stated = other.stated;
    }
    Ok(())
}

/// Reads an outcome into `outcome`, reusing its buffers. The caller sets the run, and the attempt if rows number the attempts.
pub(super) fn outcome_of(
    fields: &ItemFields,
    row: &View<'_>,
    outcome: &mut ItemOutcome,
) -> Result<(), Refused> {
    set(&mut outcome.item, &fields.id.required_name(row)?);
    set(
        &mut outcome.evaluator,
        &fields.evaluator.required_name(row)?,
    );
    let kind = fields.kind.required_name(row)?;
    outcome.kind = ItemKind::from_name(&kind).ok_or_else(|| unknown_name(&fields.kind, &kind))?;
    for (field, group) in [
        (&fields.cluster, &mut outcome.cluster),
        (&fields.category, &mut outcome.category),
    ] {
        match field.as_ref().map_or(Ok(None), |field| field.name(row))? {
            Some(name) => set(group.get_or_insert_default(), &name),
            None => *group = None,
        }
    }
    outcome.attempt = match &fields.attempt {
        Attempt::Only | Attempt::Occurrence => 1,
        Attempt::Counted(counter) => counted(counter, row)?
            .ok_or_else(|| Refused::because(format!("{} is empty", counter.field.label)))?,
    };
    outcome.score = match &fields.score {
        Some(score) => measured(&score.field, score.unit, score.range, row)?,
        None => None,
    };
    outcome.status = status_of(&fields.status, outcome.score, row)?;
    let amount = |field: &Option<Field>| field.as_ref().map_or(Ok(None), |field| field.amount(row));
    let whole = |field: &Option<Field>| field.as_ref().map_or(Ok(None), |field| field.whole(row));
    outcome.duration_seconds = amount(&fields.duration_seconds)?;
    outcome.cost_usd = amount(&fields.cost_usd)?;
    outcome.input_tokens = whole(&fields.input_tokens)?;
    outcome.output_tokens = whole(&fields.output_tokens)?;
    Ok(())
}

/// Reads the outcome's details: texts for people and further scores.
pub(super) fn details_of(fields: &ItemFields, row: &View<'_>) -> Result<ItemDetails, Refused> {
    let ItemTexts {
        question,
        answer,
        expected,
        reason,
    } = &fields.texts;
    let text = |field: &Option<Field>| -> Result<Option<String>, Refused> {
        let Some(field) = field else { return Ok(None) };
        Ok(field
            .text(row)?
            .map(|text| clip(&text, MOST_TEXT_CHARS).into_owned()))
    };
    let mut details = ItemDetails {
        question: text(question)?,
        answer: text(answer)?,
        expected: text(expected)?.into_iter().collect(),
        reason: text(reason)?,
        ..ItemDetails::default()
    };
    for (name, field) in &fields.scores {
        if let Some(score) = field.number(row, Range::Any)? {
            details.scores.insert(name.clone(), score);
        }
    }
    Ok(details)
}

fn status_of(
    field: &StatusField,
    score: Option<f64>,
    row: &View<'_>,
) -> Result<ItemStatus, Refused> {
    let passes = |passed: bool| {
        if passed {
            ItemStatus::Pass
        } else {
            ItemStatus::Fail
        }
    };
    match field {
        StatusField::Named(field) => Ok(named(field, row)?.unwrap_or(ItemStatus::NotEvaluated)),
        StatusField::Unless { ended, otherwise } => match named(ended, row)? {
            Some(status) => Ok(status),
            None => status_of(otherwise, score, row),
        },
        StatusField::Equal { expected, given } => {
            // Without the expected answer, no answer can be judged. A missing given answer is wrong.
            let right = expected.text(row)?.ok_or_else(|| {
                Refused::because(format!("{}, which is expected, is empty", expected.label))
            })?;
            Ok(passes(
                given
                    .text(row)?
                    .is_some_and(|given| same_value(&right, &given)),
            ))
        }
        StatusField::AtLeast { field, bound } => Ok(field
            .number(row, Range::Any)?
            .map_or(ItemStatus::NotEvaluated, |value| passes(value >= *bound))),
        StatusField::Scored => Ok(if score.is_some() {
            ItemStatus::Skipped
        } else {
            ItemStatus::NotEvaluated
        }),
    }
}

/// Reads a status by name or boolean. Returns `None` if the field has no value.
fn named(field: &Field, row: &View<'_>) -> Result<Option<ItemStatus>, Refused> {
    let Some(name) = field.text(row)? else {
        return Ok(None);
    };
    let known = match &*name {
        name if name.eq_ignore_ascii_case("true") => Some(ItemStatus::Pass),
        name if name.eq_ignore_ascii_case("false") => Some(ItemStatus::Fail),
        name => ItemStatus::from_name(name),
    };
    known.map(Some).ok_or_else(|| unknown_name(field, &name))
}

fn unknown_name(field: &Field, name: &str) -> Refused {
    Refused::with_value(
        format!(
            "{} is not a name this field knows; a value map can translate it",
            field.label
        ),
        name,
    )
}

/// Reads a number that counts from the counter's base, and returns it counted from 1.
fn counted(counter: &Counter, row: &View<'_>) -> Result<Option<u32>, Refused> {
    let Some(value) = counter.field.whole(row)? else {
        return Ok(None);
    };
    let from_one = value
        .checked_sub(counter.base)
        .and_then(|value| u32::try_from(value).ok()?.checked_add(1));
    let explain = || {
        Refused::with_value(
            format!(
                "{} does not count from {}",
                counter.field.label, counter.base
            ),
            &value.to_string(),
        )
    };
    from_one.map(Some).ok_or_else(explain)
}

fn passed_of(counts: &Counts, row: &View<'_>) -> Result<Option<(u64, u64)>, Refused> {
    let (field, is_failed) = match &counts.part {
        CountedPart::Passed(field) => (field, false),
        CountedPart::Failed(field) => (field, true),
    };
    let (Some(part), Some(total)) = (field.whole(row)?, counts.total.whole(row)?) else {
        return Ok(None);
    };
    let rest = total.checked_sub(part).ok_or_else(|| {
        Refused::with_detail(
            format!("{} is more than {}", field.label, counts.total.label),
            format!("{part} of {total}"),
        )
    })?;
    Ok(Some((if is_failed { rest } else { part }, total)))
}

fn measured(
    field: &Field,
    unit: Measure,
    range: Option<Bounds>,
    row: &View<'_>,
) -> Result<Option<f64>, Refused> {
    let Some(text) = field.numeral(row)? else {
        return Ok(None);
    };
    let value = field.scale.of(number(&field.label, &text, Range::Any)?);
    if let Some(Bounds { least, most }) =
        range.filter(|range| !(range.least..=range.most).contains(&value))
    {
        return Err(Refused::with_value(
            format!("{} is outside {least} to {most}", field.label),
            &text,
        ));
    }
    in_unit(&field.label, value, unit, &text).map(Some)
}

/// Returns the value in our unit, or an error if it is impossible in that unit.
fn in_unit(label: &str, value: f64, unit: Measure, text: &str) -> Result<f64, Refused> {
    let value = value / unit.divisor;
    match unit.unit {
        Unit::Fraction if !(0.0..=1.0).contains(&value) => Err(Refused::with_value(
            format!("{label} is outside 0 to {}", unit.divisor),
            text,
        )),
        Unit::Seconds | Unit::Tokens | Unit::Usd | Unit::Count if value < 0.0 => {
            Err(Refused::with_value(format!("{label} is negative"), text))
        }
        Unit::Fraction
        | Unit::Points
        | Unit::Seconds
        | Unit::Tokens
        | Unit::Usd
        | Unit::Count
        | Unit::Number => Ok(value),
    }
}

fn set(buffer: &mut String, text: &str) {
    buffer.clear();
    buffer.push_str(text);
}
