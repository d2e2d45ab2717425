//! Turns one log into one run.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::{
    AGENT_SETTING_PREFIX, CostSource, Direction, Git, ItemDetails, ItemKind, ItemStatus,
    MODEL_SETTING_PREFIX, Problem, RunStatus, ScoreRecord, Unit, Usage,
};

use super::super::super::cell::{Refused, parse_date_time};
use super::super::super::counts::count_from_share;
use super::super::super::rows::ReadStop;
use super::super::super::source::hex_digest;
use super::super::json::{Lenient, to_amount, to_count, to_text};
use super::super::sink::{ImportSink, RunHandle, clip_text};
use super::super::system_settings::setting_tags;
use super::grade::{PublishedMetric, ScoreTally, grade_value, is_not_grade, score_tallies};
use super::planned::PlannedSamples;
use super::resources::eval_resources;
use super::roles::ModelRoles;
use super::wire::{InspectEval, InspectHeader, InspectSample};

/// Characters of a text that are hashed. Summaries keep slightly more, samples the whole text: a longer hash would differ between them.
const HASHED_CHARS: usize = 5000;
/// Solver that shows choices to the model. Choices of samples with other solvers are not needed.
const CHOICE_SOLVER: &str = "multiple_choice";
/// Placeholders in summaries for content that is not text.
const PLACEHOLDERS: [&str; 6] = [
    "(Image)",
    "(Audio)",
    "(Video)",
    "(Data)",
    "(Document)",
    "(Reasoning)",
];

/// A log while its samples are read.
pub(super) struct LogImporter {
    run: RunHandle,
    /// Scores. The first decides what passes.
    tallies: Vec<ScoreTally>,
    roles: ModelRoles,
    model: String,
    /// Kind of its samples.
    kind: ItemKind,
    is_failed: bool,
    /// Planned samples, if the log was not finished.
    planned: Option<PlannedSamples>,
    /// Numbers of samples in the file and in the log, if the file has fewer. Their scores then are not the log's result.
    truncated: Option<(u64, u64)>,
    /// Scores go beyond 0 to 1, so no value marks a pass.
    is_scaled: bool,
    /// Number of samples that count as not passed without the deciding score. Inspect's own metrics leave them out.
    unscored_failures: u64,
    /// Choices are part of the question.
    has_choices: bool,
    stated_tokens: BTreeMap<String, u64>,
    tokens: BTreeMap<String, u64>,
}

/// Returns whether the header counts tokens.
pub(super) fn has_usage(header: &InspectHeader) -> bool {
    header
        .stats
        .0
        .as_ref()
        .is_some_and(|stats| !stats.model_usage.is_empty())
}

/// Returns the number of samples by the header.
pub(super) fn total_samples(header: &InspectHeader) -> Option<u64> {
    header
        .results
        .0
        .as_ref()
        .and_then(|results| to_count(&results.total_samples))
}

fn status_text(status: &Value) -> String {
    to_text(status)
        .filter(|status| !status.is_empty())
        .unwrap_or_else(|| "started".to_owned())
}

/// Returns the run's status. The owner of an invalidated log withdrew it.
pub(super) fn run_status(header: &InspectHeader) -> RunStatus {
    match status_text(&header.status).as_str() {
        _ if header.invalidated == Value::Bool(true) => RunStatus::Cancelled,
        "success" => RunStatus::Completed,
        "error" => RunStatus::Failed,
        _ => RunStatus::Cancelled,
    }
}

/// Returns the identity of a log's run. Logs from before 2025 have no id of their own.
pub(super) fn run_identity(status: &Value, eval: &InspectEval) -> Vec<String> {
    let word = |value: &Value| to_text(value).unwrap_or_default();
    let own = word(&eval.eval_id);
    let mut identity = if own.is_empty() {
        vec![word(&eval.run_id), word(&eval.task_id)]
    } else {
        vec![own]
    };
    if status_text(status) == "started" {
        // The finished log of the run is a separate import.
        identity.push("started".to_owned());
    }
    identity
}

impl LogImporter {
    /// Begins the run of a log with `samples` samples in its file. Returns `None` if the run is stored already.
    pub fn begin_run(
        header: InspectHeader,
        samples: u64,
        file: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<Option<Self>, ReadStop> {
        let (total, planned, run_status) = (
            total_samples(&header),
            PlannedSamples::from_header(&header),
            self::run_status(&header),
        );
        let Some(eval) = header.eval.0 else {
            return Err(Problem::in_file(
                file,
                "says nothing of its evaluation: `eval` is missing",
            )
            .into());
        };
        let word = |value: &Value| to_text(value).unwrap_or_default();
        if let Some(version) = eval.packages.get("inspect_ai").and_then(to_text) {
            sink.note_version(&format!("inspect_ai {version}"));
        }
        let status = status_text(&header.status);
        let identity = run_identity(&header.status, &eval);
        let identity: Vec<&str> = identity.iter().map(String::as_str).collect();
        let approach = approach_name(&eval, header.plan.0.as_ref().map(|plan| &plan.steps));
        let model = word(&eval.model);
        let Some(run) = sink.begin_run(&identity, [&word(&eval.task), &approach, &model]) else {
            return Ok(None);
        };
        let roles = ModelRoles::new(&eval.model_roles, &eval.scorers, &model);
        let figures = header.stats.0.unwrap_or_default();
        roles.explain_usage(&figures.model_usage, &figures.role_usage, sink);

        let truncated = total
            .filter(|total| *total > samples)
            .map(|total| (samples, total));
        let results = header.results.0.unwrap_or_default();
        let tallies = score_tallies(&results, &eval);
        let is_scaled = tallies.first().is_some_and(|first| {
            let reaches_beyond =
                |metric: &PublishedMetric| metric.is_mean() && !(0.0..=1.0).contains(&metric.value);
            first.metrics.iter().any(reaches_beyond)
        });

        let record = sink.run_mut(run);
        record.status = run_status;
        record.error = header
            .error
            .0
            .as_ref()
            .and_then(|error| to_text(&error.message))
            .map(|message| clip_text(&message, 500).into_owned());
        if record.error.is_none() && status == "started" {
            record.error = Some("the log was never finished".to_owned());
        }
        let moment =
            |value: &Value| to_text(value).and_then(|text| parse_date_time("time", &text).ok());
        let (started, completed) = (moment(&figures.started_at), moment(&figures.completed_at));
        record.timestamp = completed.or_else(|| moment(&eval.created));
        record.duration_seconds = started
            .zip(completed)
            .map(|(from, to): (DateTime<Utc>, DateTime<Utc>)| (to - from).as_seconds_f64());
        let shown = if to_text(&figures.completed_at).is_some_and(|text| !text.is_empty()) {
            &figures.completed_at
        } else {
            &eval.created
        };
        if to_text(shown).is_some_and(|text| !has_zone(&text)) && record.timestamp.is_some() {
            record.tags.insert("zone".to_owned(), "unknown".to_owned());
        }
        // A task with a sandbox has a workspace of its own.
        let kind = if eval.sandbox.is_null() {
            ItemKind::Question
        } else {
            ItemKind::Task
        };
        record.counted = Some(kind);
        (record.usage, record.cost_usd) =
            roles.sum_usage(&figures.model_usage, &figures.role_usage);
        if record.cost_usd.is_some() {
            record.cost_source = CostSource::Reported;
        }
        // Batch of logs that one command started.
        record.batch_id = to_text(&eval.eval_set_id)
            .or_else(|| to_text(&eval.run_id))
            .filter(|id| !id.is_empty())
            .map(|id| clip_text(&id, 100).into_owned());
        record.suite_version = task_version(&eval);
        if let Some(revision) = &eval.revision.0
            && let Some(commit) = to_text(&revision.commit)
        {
            record.git = Some(Git {
                rev: commit,
                branch: None,
                dirty: revision.dirty == Value::Bool(true),
            });
        }
        record.resources = eval_resources(&eval);
        let steps = header.plan.0.map(|plan| plan.steps).unwrap_or_default();
        let has_choices = steps
            .as_array()
            .into_iter()
            .flatten()
            .any(|step| step.get("solver").is_some_and(|name| name == CHOICE_SOLVER));
        let settings = serde_json::json!([
            steps,
            eval.solver_args,
            eval.model_args,
            eval.model_generate_config
        ])
        .to_string();
        let tags = if header.tags.as_array().is_some_and(|tags| !tags.is_empty()) {
            &header.tags
        } else {
            &eval.tags
        };
        let tags: Vec<String> = tags
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(to_text)
            .collect();
        let facts = [
            ("inspect_status", status.clone()),
            (TASK_TAG, word(&eval.task_id)),
            ("eval_set_id", word(&eval.eval_set_id)),
            (
                "settings",
                hex_digest(&[settings.as_bytes()], false)[..12].to_owned(),
            ),
            ("judge", roles.judge_names()),
            ("tags", tags.join(", ")),
            (
                "epochs",
                eval.config
                    .get("epochs")
                    .and_then(to_text)
                    .filter(|epochs| epochs != "1")
                    .unwrap_or_default(),
            ),
            (
                "limit",
                eval.config
                    .get("limit")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
            (
                "message_limit",
                eval.config
                    .get("message_limit")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
            (
                "token_limit",
                eval.config
                    .get("token_limit")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
            (
                "time_limit",
                eval.config
                    .get("time_limit")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
            (
                "working_limit",
                eval.config
                    .get("working_limit")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
            (
                "turn_limit",
                eval.config
                    .get("turn_limit")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
            (
                "cost_limit",
                eval.config
                    .get("cost_limit")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
            (
                "max_tokens",
                eval.model_generate_config
                    .get("max_tokens")
                    .and_then(to_text)
                    .unwrap_or_default(),
            ),
        ];
        for (prefix, settings) in [
            (MODEL_SETTING_PREFIX, &eval.model_args),
            (MODEL_SETTING_PREFIX, &eval.model_generate_config),
            (AGENT_SETTING_PREFIX, &eval.solver_args),
        ] {
            record.tags.extend(setting_tags(prefix, settings));
        }
        record.tags.extend(
            facts
                .into_iter()
                .filter(|(_, fact)| !fact.is_empty())
                .map(|(key, fact)| (key.to_owned(), clip_text(&fact, 500).into_owned())),
        );
        if header.invalidated == Value::Bool(true) {
            record
                .tags
                .insert("invalidated".to_owned(), "true".to_owned());
            record
                .error
                .get_or_insert_with(|| "invalidated in the log".to_owned());
        }
        if let Some((there, total)) = truncated {
            record.tags.insert(
                "truncated".to_owned(),
                format!("{there} of {total} samples in the file"),
            );
        }
        let stated_tokens = figures
            .model_usage
            .iter()
            .filter_map(|(model, usage)| Some((model.clone(), to_count(&usage.total_tokens)?)))
            .collect();
        let is_failed = run_status == RunStatus::Failed;
        let tokens = BTreeMap::new();
        Ok(Some(Self {
            run,
            tallies,
            roles,
            model,
            kind,
            is_failed,
            planned,
            truncated,
            is_scaled,
            unscored_failures: 0,
            has_choices,
            stated_tokens,
            tokens,
        }))
    }

    /// Takes one sample, or the summary of a sample.
    pub fn add_sample(
        &mut self,
        sample: &Lenient<InspectSample>,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(sample) = &sample.0 else {
            sink.refuse_part(place, Refused::new("the sample is no object"));
            return Ok(());
        };
        let Some(id) = to_text(&sample.id).filter(|id| !id.is_empty()) else {
            sink.refuse_part(place, Refused::new("the sample has no id"));
            return Ok(());
        };
        if self.tallies.is_empty() {
            // An unfinished log publishes no results: the first scorer by name decides.
            let names = sample
                .scores
                .iter()
                .map(|(name, _)| name)
                .chain(sample.score.0.is_some().then_some(&self.model))
                .take(1);
            self.tallies.extend(
                names.map(|name| {
                    ScoreTally::new(name.clone(), name.clone(), None, None, Vec::new())
                }),
            );
        }
        let mut scores = BTreeMap::new();
        let (mut deciding, mut is_first) = (None, true);
        for tally in &mut self.tallies {
            let value = tally.value_in(sample);
            if value.is_some_and(is_not_grade) {
                sink.note_quirk("score values that are not grades count as 0, as in Inspect");
            }
            let worth = value.and_then(grade_value);
            if let Some(worth) = worth {
                tally.add_value(&id, worth, &sample.metadata);
            }
            if is_first {
                (deciding, is_first) = (worth, false);
            } else if let Some(worth) = worth.filter(|_| !tally.is_again) {
                scores.insert(tally.name.clone(), worth);
            }
        }
        for (model, usage) in sample.model_usage.iter() {
            if let Some(tokens) = to_count(&usage.total_tokens) {
                let sum = self.tokens.entry(model.clone()).or_default();
                *sum = sum.saturating_add(tokens);
            }
        }
        if self.truncated.is_some() {
            return Ok(());
        }

        let evaluator = self
            .tallies
            .first()
            .map_or("none", |tally| tally.scorer.as_str());
        let attempt = to_count(&sample.epoch)
            .and_then(|epoch| u32::try_from(epoch).ok())
            .unwrap_or(1)
            .max(1);
        if let Some(planned) = &mut self.planned {
            planned.mark_seen(&id, attempt);
        }
        let status = self.sample_status(sample, deciding, sink);
        if deciding.is_none() && matches!(status, ItemStatus::Error | ItemStatus::Limit) {
            self.unscored_failures += 1;
            sink.note_quirk("samples that ended with an error or at a limit and have no score count as not passed; the log's own figures leave them out");
        }
        let mut outcome = sink.new_outcome(self.run, &id, status);
        outcome.kind = self.kind;
        evaluator.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.score = deciding;
        outcome.cluster = self
            .tallies
            .iter()
            .find_map(ScoreTally::cluster_key)
            .and_then(|key| to_text(sample.metadata.get(key)?));
        outcome.duration_seconds = to_amount(&sample.total_time);
        let (usage, cost) = self
            .roles
            .sum_usage(&sample.model_usage, &sample.role_usage);
        outcome.cost_usd = cost;
        outcome.input_tokens = usage.and_then(|usage| usage.input_total());
        outcome.output_tokens = usage.and_then(|usage| usage.output);
        let details = sample_details(sample, evaluator, usage, cost, scores, self.has_choices);
        sink.add_outcome(self.run, place, outcome, details)
    }

    /// Returns the status of a sample. A score decides also about a sample that ended with an error, as in Inspect: a task can ask for such
    /// scores by `score_on_error`, and a scorer may have ended before another one failed.
    fn sample_status(
        &self,
        sample: &InspectSample,
        deciding: Option<f64>,
        sink: &mut ImportSink<'_>,
    ) -> ItemStatus {
        let is_said = |value: &Value| !value.is_null() && value.as_str() != Some("");
        let (is_broken, is_limited) = (is_said(&sample.error), is_said(&sample.limit));
        if is_broken && deciding.is_some() {
            sink.note_quirk(
                "samples that ended with an error and have a score count by their score",
            );
        }
        match deciding {
            Some(score) if self.is_scaled || !(0.0..=1.0).contains(&score) => {
                sink.note_quirk("scores outside 0 to 1 have no passing mark: kept as scores, outside of the pass rate");
                ItemStatus::Skipped
            }
            Some(score) if score >= 1.0 => ItemStatus::Pass,
            Some(_) | None if is_broken => ItemStatus::Error,
            Some(_) | None if is_limited => ItemStatus::Limit,
            Some(_) => ItemStatus::Fail,
            None => ItemStatus::NotEvaluated,
        }
    }

    /// Stores the samples that an error kept out of the log as missing. If the log does not name them, the run is cancelled instead.
    fn add_missing_samples(&self, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
        let Some((planned, there)) = self
            .planned
            .as_ref()
            .and_then(|planned| Some((planned, planned.count_if_incomplete()?)))
        else {
            return Ok(());
        };
        let said = format!("the log ended with {there} of {} samples", planned.total);
        sink.run_mut(self.run).tags.insert(
            "truncated".to_owned(),
            format!("{there} of {} samples in the file", planned.total),
        );
        if !self.is_failed {
            sink.note_quirk(&said);
            return Ok(());
        }
        if !planned.are_named() {
            sink.note_quirk(&format!(
                "{said} and does not name the others: the run is not counted"
            ));
            sink.run_mut(self.run).status = RunStatus::Cancelled;
            return Ok(());
        }
        sink.note_quirk(&format!("{said}: the others are missing, not wrong"));
        let evaluator = self
            .tallies
            .first()
            .map_or("none", |tally| tally.scorer.as_str());
        for (id, epoch) in planned.missing_samples() {
            let mut outcome = sink.new_outcome(self.run, id, ItemStatus::NotEvaluated);
            outcome.kind = self.kind;
            evaluator.clone_into(&mut outcome.evaluator);
            outcome.attempt = epoch;
            let details = ItemDetails {
                reason: Some("the log ended before this sample".to_owned()),
                ..ItemDetails::default()
            };
            sink.add_outcome(self.run, "sample that is missing", outcome, details)?;
        }
        Ok(())
    }

    /// Ends the run: its scores and published figures.
    pub fn finish_run(self, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
        let run = self.run;
        self.add_missing_samples(sink)?;
        let is_whole = self.truncated.is_none();
        if let Some((there, total)) = self.truncated {
            sink.note_quirk(&format!("{there} of {total} samples are in the file: the published figures count, and cannot be recomputed"));
        }
        for (place, tally) in self.tallies.iter().enumerate() {
            let is_share = tally.all_values().all(|value| (0.0..=1.0).contains(&value))
                && tally
                    .metrics
                    .iter()
                    .filter(|metric| metric.is_mean())
                    .all(|metric| (0.0..=1.0).contains(&metric.value));
            let unit = if is_share {
                Unit::Fraction
            } else {
                Unit::Number
            };
            for metric in &tally.metrics {
                let recomputed = tally.recompute_metric(metric).filter(|_| is_whole);
                sink.add_published_figure(
                    run,
                    &format!("{}/{}", tally.label, metric.name),
                    metric.value,
                    unit,
                    recomputed,
                    None,
                );
            }
            let is_graded =
                tally.metrics.iter().any(PublishedMetric::is_accuracy) || tally.metrics.is_empty();
            let stated = tally.metrics.iter().find(|metric| metric.is_mean());
            let stated_error = tally
                .metrics
                .iter()
                .find(|metric| metric.is_error())
                .map(|metric| metric.value);
            let computed = if is_whole {
                tally.mean_and_error()
            } else {
                None
            };
            if place == 0
                && computed.is_none()
                && is_graded
                && let Some(stated) = stated
            {
                self.fill_published_counts(stated, tally.scored_samples, sink);
            }
            #[expect(clippy::float_cmp, reason = "grades are exactly 0 and 1")]
            let is_pass_rate = place == 0
                && is_whole
                && tally.all_values().all(|value| value == 0.0 || value == 1.0);
            let leaves_out_failures = is_pass_rate && self.unscored_failures > 0;
            let Some((value, standard_error, n)) = computed.or_else(|| {
                stated.map(|metric| {
                    (
                        metric.value,
                        stated_error,
                        tally.scored_samples.unwrap_or(0),
                    )
                })
            }) else {
                continue;
            };
            if !is_pass_rate
                || leaves_out_failures
                || (computed.is_none() && sink.run_mut(run).shared_tests_total.is_none())
            {
                let label = if leaves_out_failures {
                    format!("{} without errors", tally.label)
                } else {
                    tally.label.clone()
                };
                // Logs do not tell which direction is better, but for grades it is known.
                let direction = if is_graded {
                    Direction::Up
                } else {
                    Direction::None
                };
                sink.run_mut(run).scores.push(ScoreRecord {
                    standard_error,
                    n: Some(n).filter(|n| *n > 0),
                    evaluator: Some(tally.scorer.clone()),
                    ..ScoreRecord::new(label, value, unit, direction)
                });
            }
        }
        for (model, stated) in &self.stated_tokens {
            let recomputed = self.tokens.get(model).copied().filter(|_| is_whole);
            let name = format!("tokens/{model}");
            sink.add_published_figure(
                run,
                &name,
                *stated as f64,
                Unit::Tokens,
                recomputed.map(|tokens| tokens as f64),
                None,
            );
        }
        Ok(())
    }

    /// For a log without samples, derives the passed count from its accuracy, if that is a whole number.
    fn fill_published_counts(
        &self,
        accuracy: &PublishedMetric,
        scored: Option<u64>,
        sink: &mut ImportSink<'_>,
    ) {
        let Some(total) = scored
            .filter(|scored| *scored > 0)
            .or_else(|| self.truncated.map(|(_, total)| total))
        else {
            return;
        };
        if let Some(passed) = count_from_share(accuracy.value, total) {
            let record = sink.run_mut(self.run);
            (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(total));
            sink.note_quirk("passed and total are computed from the published accuracy");
        }
    }
}

/// Returns the solver, or the plan's solvers joined by `+`.
fn approach_name(eval: &InspectEval, steps: Option<&Value>) -> String {
    if let Some(solver) = to_text(&eval.solver).filter(|solver| !solver.is_empty()) {
        return solver;
    }
    let steps = steps.and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> = steps
        .filter_map(|step| to_text(step.get("solver")?))
        .collect();
    if names.is_empty() {
        "unnamed".to_owned()
    } else {
        names.join("+")
    }
}

/// Returns the version of a task: its own version and a digest of its arguments.
fn task_version(eval: &InspectEval) -> Option<String> {
    let version = to_text(&eval.task_version)?;
    let has_arguments = eval
        .task_args
        .as_object()
        .is_some_and(|arguments| !arguments.is_empty());
    let arguments = eval.task_args.to_string();
    Some(if has_arguments {
        format!(
            "{version}+{}",
            &hex_digest(&[arguments.as_bytes()], false)[..12]
        )
    } else {
        version
    })
}

fn has_zone(time: &str) -> bool {
    DateTime::parse_from_rfc3339(time).is_ok()
}

fn sample_details(
    sample: &InspectSample,
    evaluator: &str,
    usage: Option<Usage>,
    cost: Option<f64>,
    scores: BTreeMap<String, f64>,
    has_choices: bool,
) -> ItemDetails {
    let score = sample.scores.get(evaluator).or(sample.score.0.as_ref());
    let resolve = |text: String| match text
        .strip_prefix("attachment://")
        .and_then(|hash| sample.attachments.0.get(hash))
    {
        Some(attached) => attached.clone(),
        None => text,
    };
    let error = to_text(&sample.error).or_else(|| to_text(sample.error.get("message")?));
    let limit = to_text(&sample.limit)
        .or_else(|| to_text(sample.limit.get("type")?))
        .map(|kind| format!("limit: {kind}"));
    let explanation = score
        .and_then(|score| to_text(&score.explanation))
        .map(resolve);
    let expected: Vec<String> = match &sample.target {
        Value::Array(targets) => targets.iter().filter_map(to_text).collect(),
        one => to_text(one).into_iter().collect(),
    };
    let question = message_text(&sample.input).map(resolve);
    let reply = sample.output.0.as_ref().and_then(|output| {
        let message = || message_text(output.choices.get(0)?.get("message")?.get("content")?);
        message_text(&output.completion)
            .or_else(message)
            .map(resolve)
    });
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let choices: Vec<String> = sample
        .choices
        .as_array()
        .into_iter()
        .flatten()
        .map(|choice| to_text(choice).unwrap_or_default())
        .collect();
    // Summaries from before choices were included hold only part of the question. Whether the rest was equal is unknown.
    let is_whole = !has_choices || !choices.is_empty();
    let item_hash = question.as_deref().filter(|_| is_whole).map(|question| {
        let target = expected.join("\n");
        let texts = [question, &target]
            .into_iter()
            .chain(choices.iter().map(String::as_str));
        let beginnings: Vec<String> = texts
            .map(|text| text.trim().chars().take(HASHED_CHARS).collect())
            .collect();
        hex_digest(
            &beginnings.iter().map(String::as_bytes).collect::<Vec<_>>(),
            true,
        )[..32]
            .to_owned()
    });
    ItemDetails {
        reason: filled(error)
            .or_else(|| filled(limit))
            .or_else(|| filled(explanation)),
        reply: filled(reply),
        answer: filled(score.and_then(|score| to_text(&score.answer)).map(resolve)),
        expected: expected
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect(),
        question: filled(question),
        usage,
        cost_source: cost.map(|_| CostSource::Reported),
        steps: to_count(&sample.message_count),
        item_hash,
        scores,
        ..ItemDetails::default()
    }
}

/// Returns the text of a message value: a text, its parts, or a list of messages, of which only the user's are kept.
fn message_text(value: &Value) -> Option<String> {
    match value {
        Value::Array(parts) => {
            let is_asked = |part: &&Value| part.get("role").is_none_or(|role| role == "user");
            let texts: Vec<String> = parts
                .iter()
                .filter(is_asked)
                .filter_map(|part| {
                    to_text(part)
                        .or_else(|| message_text(part.get("text").or_else(|| part.get("content"))?))
                })
                .filter(|text| !PLACEHOLDERS.contains(&text.as_str()))
                .collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        one => to_text(one),
    }
}

/// Tag that logs of one task share.
pub(super) const TASK_TAG: &str = "task_id";
