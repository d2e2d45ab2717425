//! Turns one row into the record that the map describes.

use std::borrow::Cow;

use crate::domain::{
    Git, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId, RunStatus, ScoreRecord,
    StatedFigure, Unit, is_system_setting,
};
use crate::results::Store;

use super::cell::{
    NumberRange, Refused, count_decimals, parse_date_time, parse_date_time_by_pattern,
    parse_number, parse_spreadsheet_time, parse_unix_time, same_value,
};
use super::field::{MappedField, RowView};
use super::map::{
    AttemptField, CountFields, CountedPart, CounterField, ItemFieldMap, ItemTextFields,
    PublishedFigureField, ScoreBounds, SourceUnit, StatusField, TABLE_IMPORTER, TableMap,
    TimeFormat,
};
use super::texts::{MAX_TEXT_CHARS, clip_text};

/// Names that identify the run of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowRunNames {
    pub suite: String,
    pub approach: String,
    pub model: String,
    pub index: Option<u32>,
    pub identity: Vec<String>,
    /// Values of the tags with settings of the system, by the order of the tags: runs with other settings are other runs.
    pub settings: Vec<String>,
}

/// Reads the names into `names`, reusing its buffers.
pub(super) fn read_run_names(
    map: &TableMap,
    row: &RowView<'_>,
    names: &mut RowRunNames,
) -> Result<(), Refused> {
    replace_text(&mut names.suite, &map.run.suite.read_required_name(row)?);
    replace_text(
        &mut names.approach,
        &map.run.approach.read_required_name(row)?,
    );
    replace_text(&mut names.model, &map.run.model.read_required_name(row)?);
    names.index = map
        .run
        .index
        .as_ref()
        .map(|counter| read_counter(counter, row))
        .transpose()?
        .flatten();
    names.identity.resize(map.run.identity.len(), String::new());
    for (name, field) in names.identity.iter_mut().zip(&map.run.identity) {
        replace_text(name, &field.read_required_name(row)?);
    }
    let tags = map.run.tags.iter();
    let settings: Vec<&MappedField> = tags
        .filter(|(tag, _)| is_system_setting(tag))
        .map(|(_, field)| field)
        .collect();
    names.settings.resize(settings.len(), String::new());
    for (name, field) in names.settings.iter_mut().zip(settings) {
        replace_text(name, &field.read_name(row)?.unwrap_or_default());
    }
    Ok(())
}

pub(super) fn derive_run_id(map: &TableMap, names: &RowRunNames) -> RunId {
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
        parts.extend(names.settings.iter().map(String::as_str));
    } else {
        parts.extend(names.identity.iter().map(String::as_str));
    }
    Store::imported_run_id(TABLE_IMPORTER, &parts)
}

/// Creates the run that the row describes or belongs to.
pub(super) fn read_run(
    map: &TableMap,
    row: &RowView<'_>,
    names: &RowRunNames,
) -> Result<Run, Refused> {
    let fields = &map.run;
    let amount = |field: &Option<MappedField>| {
        field
            .as_ref()
            .map_or(Ok(None), |field| field.read_amount(row))
    };
    let whole = |field: &Option<MappedField>| {
        field
            .as_ref()
            .map_or(Ok(None), |field| field.read_count(row))
    };
    let text = |field: &Option<MappedField>| -> Result<Option<String>, Refused> {
        field.as_ref().map_or(Ok(None), |field| {
            Ok(field.read_text(row)?.map(Cow::into_owned))
        })
    };
    let mut run = Run::new(
        derive_run_id(map, names),
        &names.suite,
        &names.approach,
        &names.model,
    );
    run.run_index = names.index;
    if let Some(field) = &fields.timestamp {
        let read = |text: Cow<'_, str>| match &fields.timestamp_format {
            None => parse_date_time(&field.label, &text),
            Some(TimeFormat::Unix) => parse_unix_time(&field.label, &text, 1.0),
            Some(TimeFormat::UnixMilliseconds) => parse_unix_time(&field.label, &text, 1000.0),
            Some(TimeFormat::Excel) => parse_spreadsheet_time(&field.label, &text),
            Some(TimeFormat::Pattern(pattern)) => {
                parse_date_time_by_pattern(&field.label, &text, pattern)
            }
        };
        run.timestamp = field.read_text(row)?.map(read).transpose()?;
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
    run.git = text(&fields.commit)?.map(|rev| Git {
        rev,
        branch: None,
        dirty: false,
    });
    run.error = text(&fields.error)?;
    if let Some(counts) = &fields.counts
        && let Some((passed, total)) = read_pass_counts(counts, row)?
    {
        (run.shared_tests_passed, run.shared_tests_total) = (Some(passed), Some(total));
        run.counted = fields.counted;
    }
    run.status = match &fields.status {
        Some(field) => match field.read_text(row)? {
            Some(name) => RunStatus::from_name(&name).ok_or_else(|| unknown_name(field, &name))?,
            None => RunStatus::Completed,
        },
        None if run.error.is_some() => RunStatus::Failed,
        None => RunStatus::Completed,
    };
    for (key, field) in &fields.tags {
        if let Some(value) = field.read_name(row)? {
            run.tags.insert(key.clone(), value.into_owned());
        }
    }
    for score in &map.scores {
        let is_superseded = score.unless.as_ref().map_or(Ok(false), |field| {
            field.read_text(row).map(|text| text.is_some())
        })?;
        if is_superseded {
            continue;
        }
        let Some(value) = read_figure(&score.value, score.unit, score.range, row)? else {
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
        let Some(text) = stated.value.read_numeral(row)? else {
            continue;
        };
        let PublishedFigureField {
            value: MappedField { label, scale, .. },
            unit,
            ..
        } = stated;
        let value = convert_unit(
            label,
            scale.apply(parse_number(label, &text, NumberRange::Any)?),
            *unit,
            &text,
        )?;
        let counts = stated
            .counts
            .as_ref()
            .map_or(Ok(None), |counts| read_pass_counts(counts, row))?;
        let digits = stated.decimals.unwrap_or_else(|| count_decimals(&text));
        run.stated.push(StatedFigure {
            name: stated.name.clone(),
            value,
            unit: unit.unit,
            recomputed: counts
                .filter(|(_, total)| *total > 0)
                .map(|(passed, total)| passed as f64 / total as f64),
            rounding: Some(scale.apply(StatedFigure::max_rounding(digits)) / unit.divisor),
        });
    }
    Ok(run)
}

/// Returns whether rows of items have facts about their run besides its names.
pub(super) fn has_run_figures(map: &TableMap) -> bool {
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
        &run.commit,
    ];
    figures.iter().any(|field| field.is_some())
        || !run.tags.is_empty()
        || !map.scores.is_empty()
        || !map.stated.is_empty()
}

/// Fills gaps of `known` from another row of the same run. The latest time counts; any other difference refuses the row.
pub(super) fn merge_runs(known: &mut Run, other: Run) -> Result<(), Refused> {
    let differs = |name: &str| Refused::new(format!("rows of one run disagree about its {name}"));
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
    if known.git.is_some() && other.git.is_some() && known.git != other.git {
        return Err(differs("commit"));
    }
    known.git = known.git.take().or(other.git);
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
pub(super) fn read_outcome(
    fields: &ItemFieldMap,
    row: &RowView<'_>,
    outcome: &mut ItemOutcome,
) -> Result<(), Refused> {
    replace_text(&mut outcome.item, &fields.id.read_required_name(row)?);
    replace_text(
        &mut outcome.evaluator,
        &fields.evaluator.read_required_name(row)?,
    );
    let kind = fields.kind.read_required_name(row)?;
    outcome.kind = ItemKind::from_name(&kind).ok_or_else(|| unknown_name(&fields.kind, &kind))?;
    for (field, group) in [
        (&fields.cluster, &mut outcome.cluster),
        (&fields.category, &mut outcome.category),
    ] {
        match field
            .as_ref()
            .map_or(Ok(None), |field| field.read_name(row))?
        {
            Some(name) => replace_text(group.get_or_insert_default(), &name),
            None => *group = None,
        }
    }
    outcome.attempt = match &fields.attempt {
        AttemptField::Only | AttemptField::Occurrence => 1,
        AttemptField::Counted(counter) => read_counter(counter, row)?
            .ok_or_else(|| Refused::new(format!("{} is empty", counter.field.label)))?,
    };
    outcome.score = match &fields.score {
        Some(score) => read_figure(&score.field, score.unit, score.range, row)?,
        None => None,
    };
    outcome.status = read_status(&fields.status, outcome.score, row)?;
    let amount = |field: &Option<MappedField>| {
        field
            .as_ref()
            .map_or(Ok(None), |field| field.read_amount(row))
    };
    let whole = |field: &Option<MappedField>| {
        field
            .as_ref()
            .map_or(Ok(None), |field| field.read_count(row))
    };
    outcome.duration_seconds = amount(&fields.duration_seconds)?;
    outcome.cost_usd = amount(&fields.cost_usd)?;
    outcome.input_tokens = whole(&fields.input_tokens)?;
    outcome.output_tokens = whole(&fields.output_tokens)?;
    Ok(())
}

/// Reads the outcome's details: texts for people and further scores.
pub(super) fn read_details(
    fields: &ItemFieldMap,
    row: &RowView<'_>,
) -> Result<ItemDetails, Refused> {
    let ItemTextFields {
        question,
        answer,
        expected,
        reason,
    } = &fields.texts;
    let text = |field: &Option<MappedField>| -> Result<Option<String>, Refused> {
        let Some(field) = field else { return Ok(None) };
        Ok(field
            .read_text(row)?
            .map(|text| clip_text(&text, MAX_TEXT_CHARS).into_owned()))
    };
    let mut details = ItemDetails {
        question: text(question)?,
        answer: text(answer)?,
        expected: text(expected)?.into_iter().collect(),
        reason: text(reason)?,
        ..ItemDetails::default()
    };
    for (name, field) in &fields.scores {
        if let Some(score) = field.read_number(row, NumberRange::Any)? {
            details.scores.insert(name.clone(), score);
        }
    }
    Ok(details)
}

fn read_status(
    field: &StatusField,
    score: Option<f64>,
    row: &RowView<'_>,
) -> Result<ItemStatus, Refused> {
    let passes = |passed: bool| {
        if passed {
            ItemStatus::Pass
        } else {
            ItemStatus::Fail
        }
    };
    match field {
        StatusField::Named(field) => {
            Ok(read_named_status(field, row)?.unwrap_or(ItemStatus::NotEvaluated))
        }
        StatusField::Unless { ended, otherwise } => match read_named_status(ended, row)? {
            Some(status) => Ok(status),
            None => read_status(otherwise, score, row),
        },
        StatusField::Equal { expected, given } => {
            // Without the expected answer, no answer can be judged. A missing given answer is wrong.
            let right = expected.read_text(row)?.ok_or_else(|| {
                Refused::new(format!("{}, which is expected, is empty", expected.label))
            })?;
            Ok(passes(
                given
                    .read_text(row)?
                    .is_some_and(|given| same_value(&right, &given)),
            ))
        }
        StatusField::AtLeast { field, bound } => Ok(field
            .read_number(row, NumberRange::Any)?
            .map_or(ItemStatus::NotEvaluated, |value| passes(value >= *bound))),
        StatusField::Scored => Ok(if score.is_some() {
            ItemStatus::Skipped
        } else {
            ItemStatus::NotEvaluated
        }),
    }
}

/// Reads a status by name or boolean. Returns `None` if the field has no value.
fn read_named_status(
    field: &MappedField,
    row: &RowView<'_>,
) -> Result<Option<ItemStatus>, Refused> {
    let Some(name) = field.read_text(row)? else {
        return Ok(None);
    };
    let known = match &*name {
        name if name.eq_ignore_ascii_case("true") => Some(ItemStatus::Pass),
        name if name.eq_ignore_ascii_case("false") => Some(ItemStatus::Fail),
        name => ItemStatus::from_name(name),
    };
    known.map(Some).ok_or_else(|| unknown_name(field, &name))
}

fn unknown_name(field: &MappedField, name: &str) -> Refused {
    Refused::with_value(
        format!(
            "{} is not a name this field knows; a value map can translate it",
            field.label
        ),
        name,
    )
}

/// Reads a number that counts from the counter's base, and returns it counted from 1.
fn read_counter(counter: &CounterField, row: &RowView<'_>) -> Result<Option<u32>, Refused> {
    let Some(value) = counter.field.read_count(row)? else {
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

fn read_pass_counts(
    counts: &CountFields,
    row: &RowView<'_>,
) -> Result<Option<(u64, u64)>, Refused> {
    let (field, is_failed) = match &counts.part {
        CountedPart::Passed(field) => (field, false),
        CountedPart::Failed(field) => (field, true),
    };
    let (Some(part), Some(total)) = (field.read_count(row)?, counts.total.read_count(row)?) else {
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

fn read_figure(
    field: &MappedField,
    unit: SourceUnit,
    range: Option<ScoreBounds>,
    row: &RowView<'_>,
) -> Result<Option<f64>, Refused> {
    let Some(text) = field.read_numeral(row)? else {
        return Ok(None);
    };
    let value = field
        .scale
        .apply(parse_number(&field.label, &text, NumberRange::Any)?);
    if let Some(ScoreBounds { least, most }) =
        range.filter(|range| !(range.least..=range.most).contains(&value))
    {
        return Err(Refused::with_value(
            format!("{} is outside {least} to {most}", field.label),
            &text,
        ));
    }
    convert_unit(&field.label, value, unit, &text).map(Some)
}

/// Returns the value in our unit, or an error if it is impossible in that unit.
fn convert_unit(label: &str, value: f64, unit: SourceUnit, text: &str) -> Result<f64, Refused> {
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

fn replace_text(buffer: &mut String, text: &str) {
    buffer.clear();
    buffer.push_str(text);
}
