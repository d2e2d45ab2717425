//! The header of a run of our own: what the plan says, and sums over what was decided.

use crate::domain::{CostSource, Direction, ItemDetails, ItemOutcome, Run, ScoreRecord, Unit, Usage};
use crate::results::{Batch, PlannedArm, PlannedRun};

use super::Context;

/// Returns the record of a run that has just ended, with nothing measured yet.
pub fn begun(batch: &Batch, run: &PlannedRun, arm: &PlannedArm, context: &Context<'_>) -> Run {
    let mut record = Run::new(run.id.clone(), &arm.suite, &arm.approach, &arm.model);
    record.timestamp = Some(chrono::Utc::now());
    record.agent.clone_from(&arm.agent);
    record.batch_id = Some(batch.id.clone());
    record.run_index = Some(run.index);
    record.seed = Some(run.seed);
    record.tags.clone_from(&context.tags);
    record.suite_version.clone_from(&arm.suite_version);
    record.host.clone_from(&context.host);
    record.tool_version = Some(context.tool_version.to_owned());
    record.git.clone_from(&context.git);
    record
}

/// Adds up tokens, money and time of items. A sum is only known where every part of it is.
pub fn add_items(record: &mut Run, decided: &[(ItemOutcome, ItemDetails)]) {
    // An outage is not paid for and has no tokens; it must not make the sum of the others unknown.
    let asked: Vec<&(ItemOutcome, ItemDetails)> = decided.iter().filter(|(outcome, _)| outcome.status.is_counted()).collect();
    record.total_calls = Some(decided.len() as u64);
    record.duration_seconds = decided.iter().map(|(outcome, _)| outcome.duration_seconds).sum();
    if asked.is_empty() {
        return;
    }
    let part = |of: fn(&Usage) -> Option<u64>| asked.iter().map(|(_, details)| details.usage.as_ref().and_then(of)).sum::<Option<u64>>();
    let some_part = |of: fn(&Usage) -> Option<u64>| {
        let known: Vec<u64> = asked.iter().filter_map(|(_, details)| details.usage.as_ref().and_then(of)).collect();
        (!known.is_empty()).then(|| known.into_iter().sum::<u64>())
    };
    let usage = Usage {
        input: part(|usage| usage.input),
        cache_write: some_part(|usage| usage.cache_write),
        cache_read: some_part(|usage| usage.cache_read),
        output: part(|usage| usage.output),
    };
    set_usage(record, usage);
    record.cost_usd = asked.iter().map(|(outcome, _)| outcome.cost_usd).sum();
    let is_priced = asked.iter().any(|(_, details)| details.cost_source == Some(CostSource::Priced));
    record.cost_source = match record.cost_usd {
        None => CostSource::Unknown,
        Some(_) if is_priced => CostSource::Priced,
        Some(_) => CostSource::Reported,
    };
}

/// Sets the parts of what was used, and the cache-inclusive totals.
pub fn set_usage(record: &mut Run, usage: Usage) {
    record.input_tokens = usage.input.map(|input| input + usage.cache_write.unwrap_or(0) + usage.cache_read.unwrap_or(0));
    record.output_tokens = usage.output;
    record.total_tokens = record.input_tokens.zip(record.output_tokens).map(|(input, output)| input + output);
    record.usage = Some(usage).filter(|usage| *usage != Usage::default());
}

/// A number that an evaluator gave.
pub fn score(metric: &str, value: Option<f64>, unit: Unit, n: u64, evaluator: &str) -> ScoreRecord {
    ScoreRecord {
        metric: metric.to_owned(),
        value,
        unit,
        direction: Direction::Up,
        standard_error: None,
        n: Some(n),
        evaluator: Some(evaluator.to_owned()),
        revision: 0,
    }
}
