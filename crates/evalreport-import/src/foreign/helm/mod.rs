//! HELM: the folder of one run, with its specification, its requests, and statistics per instance and for the whole run.
//!
//! Instances are questions, and trials with other examples are attempts. The first metric of the specification whose values are all 0 or 1
//! decides what passes. As in HELM, the headline is over the split `test` without perturbations. So perturbed copies are checks that
//! cluster with their instance, and other splits are not counted. Every mean that HELM publishes over unperturbed instances is recomputed.

mod instances;
mod names;
mod wire;

use std::collections::BTreeSet;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{
    Direction, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Problem, ScoreRecord, Unit,
    escape_invisible,
};

use super::super::cell::Refused;
use super::super::counts::count_from_float;
use super::super::rows::ReadStop;
use super::super::source::hex_digest;
use super::super::stored::RunMoment;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{to_number, to_text};
use super::json_reader::{read_list, read_object, read_value};
use super::peek::Peek;
use super::sink::{ImportSink, RunHandle, clip_text};
use super::source::{ForeignFile, ForeignFileGroup};
use super::times::time_from_unix_seconds;
use instances::{InstanceKey, InstanceTable, MetricName};
use names::run_names;
use wire::{HelmStat, InstanceStats, RequestState, RunSpec, input_text, perturbation_name};

const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of metrics read. Specifications name a handful.
const MAX_LISTED: usize = 256;
/// Prefixes of metrics that describe the run's execution, not its quality.
const EXECUTION_METRICS: [&str; 8] = [
    "num_",
    "finish_reason",
    "training_",
    "inference_",
    "batch_size",
    "prompt_truncated",
    "max_prob",
    "logprob",
];
/// Parts of the names of metrics for which more is better.
const HIGHER_IS_BETTER: [&str; 8] = [
    "match", "acc", "correct", "f1", "rouge", "bleu", "pass", "ndcg",
];

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "helm",
        title: "HELM",
        kind: ItemKind::Question,
        reads_names: false,
        version: 3,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_part = match peek.name.strip_suffix(".gz").unwrap_or(&peek.name) {
        "run_spec.json" => peek.has_all(&["name", "scenario_spec", "adapter_spec"]),
        "scenario.json" => {
            peek.has_all(&["name", "description"])
                && (peek.has("definition_path") || peek.has("tags"))
        }
        "scenario_state.json" => peek.has("adapter_spec"),
        "stats.json" => peek.has("[].name.name"),
        "per_instance_stats.json" => peek.has_all(&["[].instance_id", "[].stats"]),
        _ => false,
    };
    is_part.then(|| Claim::PartOf(peek.path.parent().unwrap_or(Path::new("")).to_owned()))
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let file = |name: &str| {
        source
            .find_file(name)
            .or_else(|| source.find_file(&format!("{name}.gz")))
    };
    let Some(spec_file) = file("run_spec.json") else {
        return Err(Problem::in_file(
            &source.shown,
            "is no run of HELM: `run_spec.json` is missing",
        )
        .into());
    };
    let spec: RunSpec = read_value(
        spec_file.read_bytes(MAX_BYTES)?.as_slice(),
        &spec_file.shown,
    )?;
    let mut stats: Vec<HelmStat> = Vec::new();
    let mut content = None;
    if let Some(file) = file("stats.json") {
        let bytes = file.read_bytes(MAX_BYTES)?;
        content = Some(hex_digest(&[&bytes], false)[..16].to_owned());
        read_list(bytes.as_slice(), &file.shown, &mut |stat: HelmStat| {
            stats.push(stat);
            Ok(())
        })?;
    }
    let name = to_text(&spec.name).unwrap_or_default();
    // Runs of one specification share a name. Their statistics tell them apart, wherever they lie.
    let Some(run) = sink.begin_unnamed_run(
        &[&name, content.as_deref().unwrap_or("no stats")],
        run_names(&spec).each_ref().map(String::as_str),
        RunMoment::Unread,
    ) else {
        return Ok(());
    };
    fill_run(&spec, run, sink);

    let mut instances = InstanceTable::default();
    if let Some(file) = file("per_instance_stats.json") {
        let mut place = 0;
        read_list(file.open()?, &file.shown, &mut |stats: InstanceStats| {
            place += 1;
            if !instances.add_stats(&stats) {
                sink.refuse_part(
                    &format!("{}, instance {place}", file.name),
                    Refused::new("the instance has no id"),
                );
            }
            Ok(())
        })?;
    } else {
        sink.note_quirk("`per_instance_stats.json` is missing: nothing tells what passed");
    }
    let reading = InstanceReader::new(&spec, &instances);
    let mut latest = None;
    let mut emitted = BTreeSet::new();
    if let Some(file) = file("scenario_state.json") {
        read_requests(file, &reading, run, &mut latest, &mut emitted, sink)?;
    }
    for key in instances.keys().filter(|key| !emitted.contains(*key)) {
        sink.note_quirk("instances without a request: only their statistics are kept");
        let (outcome, details) = reading.instance_outcome(key, run, sink);
        sink.add_outcome(
            run,
            &format!("instance {}", escape_invisible(&key.id)),
            outcome,
            details,
        )?;
    }
    sink.run_mut(run).timestamp = latest;
    reading.add_scores(&stats, run, sink);
    Ok(())
}

fn fill_run(spec: &RunSpec, run: RunHandle, sink: &mut ImportSink<'_>) {
    let nothing = wire::AdapterSpec::default();
    let adapter = spec.adapter_spec.0.as_ref().unwrap_or(&nothing);
    let groups: Vec<String> = spec
        .groups
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(to_text)
        .collect();
    let facts = [
        ("helm_run", to_text(&spec.name)),
        (
            "scenario",
            spec.scenario_spec
                .0
                .as_ref()
                .and_then(|scenario| to_text(&scenario.class_name)),
        ),
        ("groups", Some(groups.join(", "))),
        ("model_deployment", to_text(&adapter.model_deployment)),
        ("n_shot", to_text(&adapter.max_train_instances)),
        ("limit", to_text(&adapter.max_eval_instances)),
        (
            "trials",
            to_text(&adapter.num_train_trials).filter(|trials| trials != "1"),
        ),
        ("temperature", to_text(&adapter.temperature)),
        ("max_tokens", to_text(&adapter.max_tokens)),
    ];
    for (key, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            sink.run_mut(run)
                .tags
                .insert(key.to_owned(), clip_text(&fact, 500).into_owned());
        }
    }
}

fn read_requests(
    file: &ForeignFile,
    reading: &InstanceReader<'_>,
    run: RunHandle,
    latest: &mut Option<DateTime<Utc>>,
    emitted: &mut BTreeSet<InstanceKey>,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let mut place = 0;
    read_object::<IgnoredAny, RequestState>(
        file.open()?,
        &file.shown,
        &[],
        "request_states",
        &mut |state| {
            place += 1;
            let place = format!("{}, request {place}", file.name);
            let result = state.result.0.as_ref();
            let asked = result
                .and_then(|result| time_from_unix_seconds(to_number(&result.request_datetime)?));
            *latest = (*latest).max(asked);
            let Some(key) = state.instance.0.as_ref().and_then(|instance| {
                InstanceKey::parse(
                    &instance.id,
                    &state.train_trial_index,
                    &instance.perturbation,
                )
            }) else {
                sink.refuse_part(&place, Refused::new("the instance has no id"));
                return Ok(());
            };
            if !emitted.insert(key.clone()) {
                if state.reference_index.is_null() {
                    sink.refuse_part(
                        &place,
                        Refused::with_detail(
                            "the attempt at the instance is there twice",
                            escape_invisible(&key.id),
                        ),
                    );
                } else {
                    sink.note_quirk(
                        "several requests for an instance, one per reference, are one outcome",
                    );
                }
                return Ok(());
            }
            let (mut outcome, mut details) = reading.instance_outcome(&key, run, sink);
            reading.add_request(&state, &key, &mut outcome, &mut details, sink);
            sink.add_outcome(run, &place, outcome, details)
        },
    )?;
    Ok(())
}

/// How to read the statistics of instances.
struct InstanceReader<'i> {
    instances: &'i InstanceTable,
    /// Split of the headline.
    headline: String,
    /// Metrics that the specification names, in its order.
    listed: Vec<String>,
    /// Metric that decides what passes.
    deciding: Option<String>,
    has_perturbations: bool,
}

impl<'i> InstanceReader<'i> {
    fn new(spec: &RunSpec, instances: &'i InstanceTable) -> Self {
        let specs = spec
            .metric_specs
            .iter()
            .filter_map(|spec| spec.0.as_ref()?.args.get("names")?.as_array());
        let listed: Vec<String> = specs
            .flatten()
            .filter_map(to_text)
            .take(MAX_LISTED)
            .collect();
        let splits = instances.splits();
        let headline = if splits.contains("test") {
            "test".to_owned()
        } else {
            splits
                .first()
                .map_or_else(String::new, |split| (*split).to_owned())
        };
        let others = instances.metric_names().filter(|name| {
            ["exact_match", "accuracy", "correct", "pass"]
                .iter()
                .any(|part| name.contains(part))
        });
        let deciding = listed
            .iter()
            .map(String::as_str)
            .chain(others)
            .find(|name| instances.is_graded(name, &headline))
            .map(str::to_owned);
        let has_perturbations = instances.keys().any(|key| key.perturbation.is_some());
        Self {
            instances,
            headline,
            listed,
            deciding,
            has_perturbations,
        }
    }

    /// Returns the outcome of an instance by its statistics.
    fn instance_outcome(
        &self,
        key: &InstanceKey,
        run: RunHandle,
        sink: &mut ImportSink<'_>,
    ) -> (ItemOutcome, ItemDetails) {
        let item = match &key.perturbation {
            Some(change) => format!("{} [{change}]", key.id),
            None => key.id.clone(),
        };
        let mut outcome = sink.new_outcome(run, &item, ItemStatus::NotEvaluated);
        outcome.attempt = u32::try_from(key.trial.saturating_add(1)).unwrap_or(u32::MAX);
        outcome.cluster = self.has_perturbations.then(|| key.id.clone());
        if key.perturbation.is_some() {
            outcome.kind = ItemKind::Check;
        }
        if let Some(metric) = &self.deciding {
            outcome.evaluator.clone_from(metric);
        }
        let mut details = ItemDetails::default();
        let Some(instance) = self.instances.get(key) else {
            return (outcome, details);
        };
        let values = || {
            instance
                .values
                .iter()
                .map(|(metric, value)| (self.instances.metric_name(*metric), *value))
        };
        let value_of = |name: &str| {
            values()
                .find(|(metric, _)| *metric == name)
                .map(|(_, value)| value)
        };
        let decided = self.deciding.as_deref().and_then(value_of);
        outcome.score = decided.or_else(|| self.listed.iter().find_map(|name| value_of(name)));
        outcome.status = match (decided, &self.deciding) {
            (Some(score), Some(_)) if score >= 1.0 => ItemStatus::Pass,
            (Some(_), Some(_)) => ItemStatus::Fail,
            (None, Some(_)) => ItemStatus::NotEvaluated,
            (_, None) => {
                sink.note_quirk("no metric marks instances as right or wrong: kept as scores, outside of the pass rate");
                ItemStatus::Skipped
            }
        };
        if instance.split != self.headline && key.perturbation.is_none() {
            sink.note_quirk(&format!(
                "the headline covers the split `{}`: instances of other splits are outside of it",
                escape_invisible(&clip_text(&self.headline, 50))
            ));
            outcome.status = ItemStatus::Skipped;
        }
        outcome.duration_seconds = value_of("inference_runtime");
        outcome.input_tokens = value_of("num_prompt_tokens").and_then(count_from_float);
        outcome.output_tokens = value_of("num_output_tokens")
            .or_else(|| value_of("num_completion_tokens"))
            .and_then(count_from_float);
        details.scores = values()
            .filter(|(name, _)| is_quality(name) && self.deciding.as_deref() != Some(name))
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        (outcome, details)
    }

    /// Adds the facts of the request.
    fn add_request(
        &self,
        state: &RequestState,
        key: &InstanceKey,
        outcome: &mut ItemOutcome,
        details: &mut ItemDetails,
        sink: &mut ImportSink<'_>,
    ) {
        let Some(instance) = &state.instance.0 else {
            return;
        };
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        details.question = filled(input_text(&instance.input));
        let references = instance
            .references
            .iter()
            .filter_map(|reference| reference.0.as_ref());
        let is_correct = |tags: &Value| {
            tags.as_array()
                .is_some_and(|tags| tags.iter().any(|tag| tag == "correct"))
        };
        details.expected = references
            .filter(|one| is_correct(&one.tags))
            .filter_map(|one| input_text(&one.output))
            .collect();
        details.item_hash = details.question.as_ref().map(|question| {
            hex_digest(
                &[question.as_bytes(), details.expected.join("\n").as_bytes()],
                true,
            )[..32]
                .to_owned()
        });
        if self.instances.get(key).is_none()
            && to_text(&instance.split)
                .is_some_and(|split| !self.headline.is_empty() && split != self.headline)
        {
            outcome.status = ItemStatus::Skipped;
        }
        let Some(result) = &state.result.0 else {
            return;
        };
        if state.reference_index.is_null() {
            let completion = result
                .completions
                .first()
                .and_then(|completion| to_text(&completion.0.as_ref()?.text));
            let given = completion.as_deref().map(str::trim).unwrap_or_default();
            details.answer = filled(
                state
                    .output_mapping
                    .get(given)
                    .and_then(to_text)
                    .or_else(|| Some(given.to_owned())),
            );
            details.reply = filled(completion);
            outcome.duration_seconds = outcome.duration_seconds.or_else(|| result.seconds());
        }
        if result.success == Value::Bool(false) {
            // The service failed, and HELM scored an empty answer.
            sink.note_quirk("failed requests are missing, whatever their score");
            outcome.status = ItemStatus::Infra;
            details.reason =
                filled(to_text(&result.error)).or_else(|| Some("the request failed".to_owned()));
        }
    }

    /// Ends the run: every published mean beside the mean over instances, and the scores of the headline.
    fn add_scores(&self, stats: &[HelmStat], run: RunHandle, sink: &mut ImportSink<'_>) {
        let is_main = |name: &str| self.deciding.as_deref() == Some(name);
        for stat in stats {
            let Some(name) = &stat.name.0 else { continue };
            let (Some(metric), Some(mean)) = (to_text(&name.name), stat.published_mean()) else {
                continue;
            };
            let split = to_text(&name.split).unwrap_or_default();
            let sub_split = to_text(&name.sub_split);
            let unit = metric_unit(&metric, mean);
            let is_headline = split == self.headline && sub_split.is_none();
            match perturbed_metric_name(&name.perturbation) {
                None => {
                    let key = MetricName {
                        metric: metric.clone(),
                        split: split.clone(),
                        sub_split: sub_split.clone(),
                    };
                    let recomputed = self.instances.mean(&key);
                    let shown = match &sub_split {
                        Some(sub_split) => format!("{metric} ({split}, {sub_split})"),
                        None => format!("{metric} ({split})"),
                    };
                    sink.add_published_figure(run, &shown, mean, unit, recomputed, None);
                    let is_passes = is_main(&metric) && self.instances.n(&key) > 0;
                    if is_headline && is_quality(&metric) && !is_passes {
                        let (error, n) =
                            (self.instances.standard_error(&key), self.instances.n(&key));
                        push_score(sink, run, metric, recomputed.unwrap_or(mean), error, n);
                    }
                }
                // If there are no perturbed copies, the worst copy is the instance itself.
                Some(change) if is_headline && self.has_perturbations && is_quality(&metric) => {
                    push_score(sink, run, format!("{metric} ({change})"), mean, None, 0);
                }
                Some(_) => {}
            }
        }
    }
}

fn push_score(
    sink: &mut ImportSink<'_>,
    run: RunHandle,
    metric: String,
    value: f64,
    standard_error: Option<f64>,
    n: u64,
) {
    let is_up = HIGHER_IS_BETTER.iter().any(|part| metric.contains(part));
    let (unit, direction) = (
        metric_unit(&metric, value),
        if is_up {
            Direction::Up
        } else {
            Direction::None
        },
    );
    sink.run_mut(run).scores.push(ScoreRecord {
        standard_error,
        n: Some(n).filter(|n| *n > 0),
        evaluator: Some("helm".to_owned()),
        ..ScoreRecord::new(metric, value, unit, direction)
    });
}

/// Returns the name of a statistic over perturbed copies, such as `robustness, worst`.
fn perturbed_metric_name(value: &Value) -> Option<String> {
    let name = perturbation_name(value)?;
    Some(match value.get("computed_on").and_then(to_text) {
        Some(on) => format!("{name}, {on}"),
        None => name,
    })
}

fn is_quality(metric: &str) -> bool {
    !EXECUTION_METRICS
        .iter()
        .any(|start| metric.starts_with(start))
}

fn metric_unit(metric: &str, value: f64) -> Unit {
    if metric == "inference_runtime" {
        Unit::Seconds
    } else if metric.starts_with("num_") && metric.ends_with("_tokens") {
        Unit::Tokens
    } else if (0.0..=1.0).contains(&value)
        && HIGHER_IS_BETTER.iter().any(|part| metric.contains(part))
    {
        Unit::Fraction
    } else {
        Unit::Number
    }
}
