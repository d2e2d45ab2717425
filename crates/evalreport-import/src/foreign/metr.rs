//! METR's runs of agents and people on tasks of known length: `runs.jsonl`, with one run of one task per line.
//!
//! All lines of one agent are a run of ours, and its runs of one task are attempts. METR counts `score_binarized`, even for runs that ended
//! with a fatal error.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{
    CostSource, Direction, ItemDetails, ItemKind, ItemOutcome, ItemStatus, ScoreRecord, Unit,
};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::super::usage_totals::CompensatedSum;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{to_amount, to_count, to_filled_text, to_number};
use super::json_reader::read_lines_to_cut;
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle, RunMoment};
use super::source::ForeignFileGroup;
use super::times::time_from_unix_seconds;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "metr",
        title: "METR",
        kind: ItemKind::Task,
        reads_names: true,
        version: 3,
    },
    claim_file,
    read_source,
);

const SUITE: &str = "METR tasks";
const EVALUATOR: &str = "score_binarized";
/// Success rate by METR's weights, in which each family of tasks counts by the square root of its size.
const WEIGHTED_METRIC: &str = "success_by_task_weight";

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has_all(&["task_id", "alias"])
        && ["score_binarized", "human_minutes"]
            .iter()
            .any(|key| peek.has(key));
    (peek.content == ContentKind::Json && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MetrRow {
    run_id: Value,
    task_id: Value,
    task_family: Value,
    task_source: Value,
    task_version: Value,
    alias: Value,
    model: Value,
    score: Value,
    score_cont: Value,
    score_binarized: Value,
    fatal_error_from: Value,
    human_minutes: Value,
    generation_cost: Value,
    tokens_count: Value,
    started_at: Value,
    completed_at: Value,
    invsqrt_task_weight: Value,
}

/// Returns milliseconds since 1970. Zero means unknown.
fn to_unix_milliseconds(value: &Value) -> Option<f64> {
    to_amount(value).filter(|moment| *moment > 0.0)
}

/// Totals of one agent's lines.
#[derive(Default)]
struct MetrAgent {
    /// `None` if the run is stored already.
    run: Option<RunHandle>,
    tasks: BTreeMap<String, MetrTask>,
    tokens: Option<u64>,
    rows: u64,
    last: Option<f64>,
    /// Sum of the lines' weights, and of the passed lines' weights. Both are unknown if a line has no weight.
    weights: CompensatedSum,
    passed: CompensatedSum,
    unweighted: u64,
    version: Option<String>,
}

#[derive(Default)]
struct MetrTask {
    family: String,
    attempts: u32,
    passed: u64,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let Some(file) = source.files.first() else {
        return Ok(());
    };
    let mut agents: BTreeMap<String, MetrAgent> = BTreeMap::new();
    let mut damaged = 0_u64;
    read_lines_to_cut(file.open()?, &file.shown, &mut |number,
                                                       row: Result<
        MetrRow,
        Refused,
    >| {
        let place = format!("line {number}");
        match row {
            Ok(row) => add_row(&mut agents, &row, &place, sink),
            Err(why) => {
                damaged += 1;
                sink.refuse_part(&place, why);
                Ok(())
            }
        }
    })?;
    for agent in agents.values() {
        let Some(run) = agent.run else { continue };
        agent.fill_run(run, sink);
        if damaged > 0 {
            let record = sink.run_mut(run);
            record.tags.insert(
                "truncated".to_owned(),
                format!(
                    "{} of the file cannot be read",
                    crate::domain::format_count(damaged, "line")
                ),
            );
        } else {
            agent.add_published_success(run, sink);
        }
    }
    Ok(())
}

fn add_row(
    agents: &mut BTreeMap<String, MetrAgent>,
    row: &MetrRow,
    place: &str,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let Some(alias) = to_filled_text(&row.alias).or_else(|| to_filled_text(&row.model)) else {
        sink.refuse_part(place, Refused::new("the run names no agent"));
        return Ok(());
    };
    let Some(id) = to_filled_text(&row.task_id) else {
        sink.refuse_part(place, Refused::new("the run names no task"));
        return Ok(());
    };
    let model = to_filled_text(&row.model).unwrap_or_default();
    if !agents.contains_key(&alias) {
        let run = sink.begin_run_of_bytes(
            &[&alias, &model],
            [SUITE, &alias, &model],
            RunMoment::Unread,
        );
        agents.insert(
            alias.clone(),
            MetrAgent {
                run,
                tokens: Some(0),
                ..MetrAgent::default()
            },
        );
    }
    let Some(agent) = agents.get_mut(&alias) else {
        return Ok(());
    };
    let family = to_filled_text(&row.task_family)
        .or_else(|| id.split_once('/').map(|(family, _)| family.to_owned()));
    let status = row_status(row);
    let is_passed = status == ItemStatus::Pass;
    agent.count_row(row, &id, family.as_deref(), is_passed);
    let Some(run) = agent.run else { return Ok(()) };
    let attempt = agent.tasks.get(&id).map_or(1, |task| task.attempts);
    let mut outcome: ItemOutcome = sink.new_outcome(run, &id, status);
    EVALUATOR.clone_into(&mut outcome.evaluator);
    outcome.attempt = attempt;
    outcome.cluster = family;
    outcome.category = to_filled_text(&row.task_source);
    outcome.score = to_number(&row.score_cont).or_else(|| to_number(&row.score));
    // A generation cost of 0 means unknown.
    outcome.cost_usd = to_amount(&row.generation_cost).filter(|cost| *cost > 0.0);
    let times = to_unix_milliseconds(&row.started_at)
        .or_else(|| to_number(&row.started_at).filter(|start| *start == 0.0))
        .zip(to_unix_milliseconds(&row.completed_at));
    outcome.duration_seconds = times.map(|(start, end)| (end - start) / 1000.0);
    let kept = [
        ("human_minutes", &row.human_minutes),
        ("invsqrt_task_weight", &row.invsqrt_task_weight),
    ];
    let details = ItemDetails {
        reason: to_filled_text(&row.fatal_error_from)
            .map(|from| format!("fatal error from {from}")),
        cost_source: outcome.cost_usd.map(|_| CostSource::Reported),
        scores: kept
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), to_number(value)?)))
            .collect(),
        ..ItemDetails::default()
    };
    let named = to_filled_text(&row.run_id)
        .map_or_else(|| place.to_owned(), |id| format!("{place}, run {id}"));
    sink.add_outcome(run, &named, outcome, details)
}

/// Returns the status by METR's score. For a failed line, the fatal error's source decides which failure it is.
fn row_status(row: &MetrRow) -> ItemStatus {
    match to_number(&row.score_binarized) {
        None => ItemStatus::NotEvaluated,
        Some(score) if score >= 1.0 => ItemStatus::Pass,
        Some(_) => match to_filled_text(&row.fatal_error_from).as_deref() {
            None => ItemStatus::Fail,
            Some("usageLimits") => ItemStatus::Limit,
            Some(_) => ItemStatus::Error,
        },
    }
}

impl MetrAgent {
    fn count_row(&mut self, row: &MetrRow, id: &str, family: Option<&str>, is_passed: bool) {
        self.rows += 1;
        let task = self.tasks.entry(id.to_owned()).or_default();
        task.attempts += 1;
        task.passed += u64::from(is_passed);
        if let Some(family) = family {
            family.clone_into(&mut task.family);
        }
        self.tokens = self
            .tokens
            .zip(to_count(&row.tokens_count))
            .and_then(|(sum, tokens)| sum.checked_add(tokens));
        self.last = self
            .last
            .into_iter()
            .chain(to_unix_milliseconds(&row.completed_at))
            .reduce(f64::max);
        self.version = self
            .version
            .take()
            .or_else(|| to_filled_text(&row.task_version));
        match to_amount(&row.invsqrt_task_weight) {
            Some(weight) => {
                self.weights.add(weight);
                self.passed.add(if is_passed { weight } else { 0.0 });
            }
            None => self.unweighted += 1,
        }
    }

    fn fill_run(&self, run: RunHandle, sink: &mut ImportSink<'_>) {
        let record = sink.run_mut(run);
        record.timestamp = self
            .last
            .and_then(|moment| time_from_unix_seconds(moment / 1000.0));
        record.total_tokens = self.tokens.filter(|tokens| *tokens > 0);
        record.total_calls = Some(self.rows);
        if let Some(success) = self.weighted_success() {
            record.scores.push(ScoreRecord {
                n: Some(self.rows),
                evaluator: Some(EVALUATOR.to_owned()),
                ..ScoreRecord::new(WEIGHTED_METRIC, success, Unit::Fraction, Direction::Up)
            });
        }
    }

    /// Returns the passed share of the weights.
    fn weighted_success(&self) -> Option<f64> {
        let whole = self.weights.value();
        (self.unweighted == 0 && whole > 0.0)
            .then(|| self.passed.value() / whole)
            .filter(|share| share.is_finite())
    }

    /// Checks the weights: each run counts by one over the runs of its task, and over the square root of its family's number of tasks.
    fn add_published_success(&self, run: RunHandle, sink: &mut ImportSink<'_>) {
        let Some(stated) = self.weighted_success() else {
            return;
        };
        let mut families: BTreeMap<&str, u64> = BTreeMap::new();
        for task in self.tasks.values() {
            *families.entry(&task.family).or_default() += 1;
        }
        let (mut whole, mut passed) = (CompensatedSum::default(), CompensatedSum::default());
        for task in self.tasks.values() {
            let weight = 1.0 / (families[task.family.as_str()] as f64).sqrt();
            whole.add(weight);
            passed.add(weight * task.passed as f64 / f64::from(task.attempts));
        }
        let recomputed = passed.value() / whole.value();
        sink.add_published_figure(
            run,
            WEIGHTED_METRIC,
            stated,
            Unit::Fraction,
            Some(recomputed),
            Some(1e-6),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_metr_counts_decides() {
        let of = |value: Value| row_status(&serde_json::from_value(value).expect("a row"));
        assert_eq!(
            of(json!({"score_binarized": 1, "fatal_error_from": "usageLimits"})),
            ItemStatus::Pass
        );
        assert_eq!(
            of(json!({"score_binarized": 0, "fatal_error_from": "usageLimits"})),
            ItemStatus::Limit
        );
        assert_eq!(
            of(json!({"score_binarized": 0, "fatal_error_from": "agent"})),
            ItemStatus::Error
        );
        assert_eq!(
            of(json!({"score_binarized": 0, "fatal_error_from": null})),
            ItemStatus::Fail
        );
        assert_eq!(
            of(json!({"score_binarized": null})),
            ItemStatus::NotEvaluated
        );
    }
}
