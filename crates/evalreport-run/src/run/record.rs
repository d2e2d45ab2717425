//! The header of our own runs: data of the plan, and sums over the outcomes.

use std::collections::BTreeSet;

use crate::domain::{
    CostSource, Direction, ItemDetails, ItemOutcome, Repeated, Resources, Run, ScoreRecord, Unit,
    Usage, date_of, escape_invisible, is_same_model,
};
use crate::results::{Batch, PlannedArm, PlannedRun, ReplacementRun, RerunScope};

use crate::agent::ServedBy;

use super::{PlanContext, machine};

/// Returns the record of a run that has just ended, without measurements.
pub fn new_record(
    batch: &Batch,
    run: &PlannedRun,
    arm: &PlannedArm,
    context: &PlanContext<'_>,
) -> Run {
    let mut record = Run::new(run.id.clone(), &arm.suite, &arm.approach, &arm.model);
    record.timestamp = Some(date_of(std::time::SystemTime::now()));
    record.agent.clone_from(&arm.agent);
    record.batch_id = Some(batch.id.clone());
    record.run_index = Some(run.index);
    record.seed = Some(run.seed);
    // The command's tags override the suite's.
    record.tags = arm.tags.clone();
    record.tags.extend(batch.tags.clone());
    if let Some(ReplacementRun { of, how, .. }) = batch.replacement_for(&run.id) {
        let tag = if *how == RerunScope::Tests {
            "retest_of"
        } else {
            "retry_of"
        };
        record.tags.insert(tag.to_owned(), of.to_string());
    }
    record.suite_version.clone_from(&arm.suite_version);
    record.host.clone_from(&context.host);
    record.tool_version = Some(context.tool_version.to_owned());
    record.git.clone_from(&context.git);
    let jobs = context.jobs.map(|jobs| jobs as u64);
    record.resources = Some(Resources {
        jobs,
        ..machine::read_resources()
    });
    record
}

/// Adds what an agent reported about itself and its service.
pub fn add_reported(record: &mut Run, served: ServedBy, repeated: Option<Repeated>) {
    let ServedBy {
        version,
        provider,
        region,
    } = served;
    let told = record.resources.take().unwrap_or_default();
    record.resources = Some(Resources {
        agent_version: version,
        provider,
        region,
        repeated,
        ..told
    });
}

/// Sums tokens, cost and time over the items. A sum with an unknown part is unknown.
pub fn add_items(record: &mut Run, decided: &[(ItemOutcome, ItemDetails)]) {
    // An outage without tokens and cost used none, and must not make the sums unknown.
    let asked: Vec<&(ItemOutcome, ItemDetails)> = decided
        .iter()
        .filter(|(outcome, details)| {
            outcome.status.is_counted() || outcome.cost_usd.is_some() || details.usage.is_some()
        })
        .collect();
    record.total_calls = Some(asked.len() as u64);
    // Waiting for an unavailable service is not the agent's time.
    let counted: Vec<&ItemOutcome> = decided
        .iter()
        .map(|(outcome, _)| outcome)
        .filter(|outcome| outcome.status.is_counted())
        .collect();
    record.duration_seconds = if counted.is_empty() {
        None
    } else {
        counted.iter().map(|outcome| outcome.duration_seconds).sum()
    };
    if asked.is_empty() {
        return;
    }
    // Agents report the counts and may write any number. An overflowing sum is unknown.
    let part = |of: fn(&Usage) -> Option<u64>| {
        asked
            .iter()
            .map(|(_, details)| details.usage.as_ref().and_then(of))
            .try_fold(0u64, |sum, count| sum.checked_add(count?))
    };
    let some_part = |of: fn(&Usage) -> Option<u64>| {
        let known: Vec<u64> = asked
            .iter()
            .filter_map(|(_, details)| details.usage.as_ref().and_then(of))
            .collect();
        if known.is_empty() {
            None
        } else {
            known.into_iter().try_fold(0u64, u64::checked_add)
        }
    };
    record.turns = asked
        .iter()
        .map(|(_, details)| details.steps)
        .try_fold(0u64, |sum, steps| sum.checked_add(steps?));
    let usage = Usage {
        input: part(|usage| usage.input),
        cache_write: some_part(|usage| usage.cache_write),
        cache_read: some_part(|usage| usage.cache_read),
        output: part(|usage| usage.output),
    };
    set_usage(record, usage);
    record.cost_usd = asked.iter().map(|(outcome, _)| outcome.cost_usd).sum();
    let is_priced = asked
        .iter()
        .any(|(_, details)| details.cost_source == Some(CostSource::Priced));
    record.cost_source = match record.cost_usd {
        None => CostSource::Unknown,
        Some(_) if is_priced => CostSource::Priced,
        Some(_) => CostSource::Reported,
    };
}

/// Records the model that the agent reports, and files the run under it if none was requested. Also if another was, with a note.
pub fn set_model(record: &mut Run, asked: Option<&str>, reported: &BTreeSet<&str>) {
    if reported.is_empty() {
        return;
    }
    let all = reported.iter().copied().collect::<Vec<_>>().join(" + ");
    match asked {
        Some(asked) if reported.iter().all(|name| is_same_model(asked, name)) => {}
        Some(asked) => {
            append_error(
                record,
                &format!(
                    "`{}` was asked for, and the agent reports `{}`",
                    escape_invisible(asked),
                    escape_invisible(&all)
                ),
            );
            record.model.clone_from(&all);
        }
        None => record.model.clone_from(&all),
    }
    record.reported_model = Some(all);
}

/// Appends to the run's errors.
pub fn append_error(record: &mut Run, trouble: &str) {
    if !trouble.is_empty() {
        let text = record
            .error
            .take()
            .map_or_else(|| trouble.to_owned(), |error| format!("{error}; {trouble}"));
        record.error = Some(text);
    }
}

/// Sets the usage, and the totals including cached tokens.
pub fn set_usage(record: &mut Run, usage: Usage) {
    record.input_tokens = usage.input_total();
    record.output_tokens = usage.output;
    record.total_tokens = record
        .input_tokens
        .and(record.output_tokens)
        .and_then(|_| usage.total());
    record.usage = Some(usage).filter(|usage| *usage != Usage::default());
}

/// Returns a score from an evaluator.
pub fn score_record(
    metric: &str,
    value: Option<f64>,
    unit: Unit,
    n: u64,
    evaluator: &str,
) -> ScoreRecord {
    ScoreRecord {
        metric: metric.to_owned(),
        value,
        unit,
        direction: Direction::Up,
        range: None,
        standard_error: None,
        n: Some(n),
        evaluator: Some(evaluator.to_owned()),
        revision: 0,
    }
}
