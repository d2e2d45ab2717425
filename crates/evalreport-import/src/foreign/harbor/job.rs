//! Runs of a job: sums over their trials, compared with the job's published figures.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{Direction, ItemStatus, Resources, RunStatus, ScoreRecord, Unit};

use super::super::super::cell::Refused;
use super::super::super::rows::ReadStop;
use super::super::attempts::AttemptValues;
use super::super::json::{Lenient, to_amount, to_count, to_filled_text, to_number, to_text};
use super::super::sink::{ImportSink, RunHandle, clip_text};
use super::super::times::TimeSpan;
use super::entry::TrialEntry;
use super::trial::{
    JobRunKey, Rewards, TrialSupplements, collect_usage, exception_type, trial_status,
};
use super::wire::{HarborJob, HarborTrial, JobFigures, TrialEnvironment};

const EVALUATOR: &str = "verifier";

/// The runs of a job while its trials are read.
pub(super) struct JobRuns<'a> {
    job: Option<&'a HarborJob>,
    is_unfinished: bool,
    /// Runs with fewer trials than the job says, each with both numbers.
    parts: BTreeMap<JobRunKey, (u64, u64)>,
    /// Number of unreadable results, of trials or of the job.
    damaged: u64,
    trials: u64,
    tallies: BTreeMap<JobRunKey, TrialTally>,
}

/// Sums over the trials of one run.
struct TrialTally {
    /// `None` if the run is stored already.
    run: Option<RunHandle>,
    span: TimeSpan,
    rewarded: u64,
    /// Trials with a reward of 1.
    passed: u64,
    errors: u64,
    /// A trial without a reward counts as 0, as in Harbor.
    graded: AttemptValues,
    /// Every trial has at most one reward. Harbor averages and counts only such runs.
    is_single: bool,
    rewards: AttemptValues,
    others: BTreeMap<String, AttemptValues>,
    version: Option<String>,
    agent_version: Option<String>,
}

impl<'a> JobRuns<'a> {
    /// Creates the runs of a job from its trials. `job` is its result, if it has one; `damaged` is the number of unreadable results.
    pub fn from_entries(job: Option<&'a HarborJob>, entries: &[TrialEntry], damaged: u64) -> Self {
        let is_unfinished = job.is_some_and(|job| to_text(&job.finished_at).is_none());
        let trials = entries.len() as u64;
        Self {
            job,
            is_unfinished,
            parts: incomplete_runs(job, entries, damaged),
            damaged,
            trials,
            tallies: BTreeMap::new(),
        }
    }

    /// Takes one trial; `place` names it.
    pub fn add_trial(
        &mut self,
        trial: &HarborTrial,
        attempt: u32,
        place: &str,
        beside: &TrialSupplements<'_>,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let task = to_text(&trial.task_name).unwrap_or_default();
        if task.trim().is_empty() {
            sink.refuse_part(place, Refused::new("the trial names no task"));
            return Ok(());
        }
        let key = JobRunKey::from_trial(trial);
        let is_new = !self.tallies.contains_key(&key);
        if is_new {
            let begun = self.begin_run(&key, trial, sink);
            self.tallies.insert(key.clone(), begun);
        }
        let Some(tally) = self.tallies.get_mut(&key) else {
            return Ok(());
        };
        let rewards = Rewards::from_trial(trial);
        tally.count_trial(trial, &task, rewards.as_ref());
        let Some(run) = tally.run.filter(|_| !self.parts.contains_key(&key)) else {
            return Ok(());
        };

        let status = trial_status(trial, rewards.as_ref(), sink);
        let reward = rewards.as_ref().and_then(|rewards| rewards.reward);
        let known = collect_usage(trial, beside, rewards, sink)?;
        let mut outcome = sink.new_outcome(run, &task, status);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.score = reward;
        outcome.duration_seconds = known.seconds;
        outcome.cost_usd = known.cost;
        outcome.input_tokens = known.usage.and_then(|usage| usage.input_total());
        outcome.output_tokens = known.usage.and_then(|usage| usage.output);
        let mut details = known.details;
        if status == ItemStatus::Pass && exception_type(trial).is_none() {
            details.reason = None;
        }
        sink.add_outcome(run, place, outcome, details)
    }

    fn begin_run(
        &self,
        key: &JobRunKey,
        trial: &HarborTrial,
        sink: &mut ImportSink<'_>,
    ) -> TrialTally {
        let job = self
            .job
            .and_then(|job| to_text(&job.id))
            .unwrap_or_else(|| key.job.clone());
        // A trial without a job is a run of its own.
        let alone = if job.is_empty() {
            to_text(&trial.id).unwrap_or_default()
        } else {
            job
        };
        let mut identity = vec![alone.as_str(), &key.agent, &key.model, &key.dataset];
        if self.is_unfinished {
            // The finished job is a separate import.
            identity.push("unfinished");
        }
        let settings = key
            .settings
            .iter()
            .map(|(tag, value)| format!("{tag}={value}"))
            .collect::<Vec<_>>()
            .join("\n");
        if !settings.is_empty() {
            identity.push(&settings);
        }
        let run = sink.begin_run(&identity, [&key.dataset, &key.agent, &key.model]);
        if let Some(run) = run {
            let record = sink.run_mut(run);
            record.tags.extend(key.settings.clone());
            record.tags.extend(overridden_limits(trial));
            if let Some(environment) = trial
                .config
                .0
                .as_ref()
                .and_then(|config| config.environment.0.as_ref())
            {
                record.tags.extend(
                    to_filled_text(&environment.kind)
                        .map(|kind| ("sandbox".to_owned(), clip_text(&kind, 100).into_owned())),
                );
                record.resources = overridden_resources(environment);
            }
        }
        TrialTally {
            run,
            span: TimeSpan::default(),
            rewarded: 0,
            passed: 0,
            errors: 0,
            graded: AttemptValues::default(),
            is_single: true,
            rewards: AttemptValues::default(),
            others: BTreeMap::new(),
            version: dataset_commit(trial),
            agent_version: trial
                .agent_info
                .0
                .as_ref()
                .and_then(|info| to_text(&info.version)),
        }
    }

    /// Ends the runs: their times, scores and the job's published figures.
    pub fn finish_runs(self, sink: &mut ImportSink<'_>) {
        for (key, tally) in &self.tallies {
            let Some(run) = tally.run else { continue };
            let part = self.parts.get(key);
            if let Some((there, total)) = part {
                sink.note_quirk(&format!("{there} of {total} trials are present: the job's published figures count, and cannot be recomputed"));
                sink.run_mut(run).tags.insert(
                    "truncated".to_owned(),
                    format!("{there} of {total} trials in the folder"),
                );
            }
            let record = sink.run_mut(run);
            tally.span.set_run_times(record);
            if part.is_some() {
                // The time of the run is roughly known, its duration is not.
                record.duration_seconds = None;
            }
            record.suite_version.clone_from(&tally.version);
            let version = tally
                .agent_version
                .as_ref()
                .filter(|version| !matches!(version.as_str(), "" | "unknown"));
            record.agent = Some(version.map_or_else(
                || key.agent.clone(),
                |version| format!("{} {version}", key.agent),
            ));
            if self.is_unfinished {
                record.status = RunStatus::Cancelled;
                record.error = Some("the job was not finished".to_owned());
            } else if self.damaged > 0 && part.is_none() {
                // It is unknown which run lacks these trials, so no run is known to be complete.
                record.status = RunStatus::Failed;
                let results = self.trials + self.damaged;
                record.error = Some(format!(
                    "{} of the job's {results} results cannot be read",
                    self.damaged
                ));
            }
            if part.is_none() {
                if !tally.rewards.are_grades() {
                    record.scores.extend(tally.rewards.to_score(
                        "reward",
                        Direction::Up,
                        EVALUATOR,
                    ));
                }
                // Beside the rate over all trials, the rate over those that ended with a reward.
                if (1..tally.graded.n()).contains(&tally.rewarded) {
                    record.scores.push(ScoreRecord {
                        n: Some(tally.rewarded),
                        evaluator: Some(EVALUATOR.to_owned()),
                        ..ScoreRecord::new(
                            "resolved_of_rewarded",
                            tally.passed as f64 / tally.rewarded as f64,
                            Unit::Fraction,
                            Direction::Up,
                        )
                    });
                }
                // Only the verifier knows which direction is better.
                record
                    .scores
                    .extend(tally.others.iter().filter_map(|(name, values)| {
                        values.to_score(name, Direction::None, EVALUATOR)
                    }));
            }
            if let Some(figures) = published_figures(self.job, key, self.tallies.keys()) {
                if part.is_some() {
                    fill_published_counts(run, &figures, sink);
                }
                add_published_figures(
                    run,
                    &figures,
                    Some(tally).filter(|_| part.is_none() && self.damaged == 0),
                    sink,
                );
            }
        }
    }

    /// Stores the runs of a job's result without trials: counts only.
    pub fn add_runs_without_trials(&self, folder: &str, sink: &mut ImportSink<'_>) {
        let Some(job) = self.job else { return };
        let evals = job
            .stats
            .0
            .as_ref()
            .and_then(|stats| stats.evals.as_object());
        let id = to_text(&job.id).unwrap_or_else(|| folder.to_owned());
        for (key, figures) in evals.into_iter().flatten() {
            let Some(figures) = Lenient::<JobFigures>::deserialize(figures)
                .ok()
                .and_then(|figures| figures.0)
            else {
                continue;
            };
            sink.note_quirk("the job's trials are missing: its runs have counts, and the names of its statistics; correct them with --set");
            let Some(run) = sink.begin_run(&[&id, key], ["", key, ""]) else {
                continue;
            };
            fill_published_counts(run, &figures, sink);
            let record = sink.run_mut(run);
            if self.is_unfinished {
                record.status = RunStatus::Cancelled;
                record.error = Some("the job was not finished".to_owned());
            }
            add_published_figures(run, &figures, None, sink);
        }
    }
}

/// Returns the job's figures of a run among its `runs`. `None` if it has none, or has them for several runs together: it does not tell
/// settings apart.
fn published_figures<'a>(
    job: Option<&HarborJob>,
    key: &JobRunKey,
    runs: impl IntoIterator<Item = &'a JobRunKey>,
) -> Option<JobFigures> {
    let is_other = |run: &JobRunKey| run != key && run.statistics_key() == key.statistics_key();
    if runs.into_iter().any(is_other) {
        return None;
    }
    let evals = &job?.stats.0.as_ref()?.evals;
    Lenient::<JobFigures>::deserialize(evals.get(key.statistics_key())?)
        .ok()?
        .0
}

/// Returns the runs with fewer trials than the job says, each with both numbers.
fn incomplete_runs(
    job: Option<&HarborJob>,
    entries: &[TrialEntry],
    damaged: u64,
) -> BTreeMap<JobRunKey, (u64, u64)> {
    /// Numbers of trials, of rewarded trials and of failed trials.
    #[derive(Clone, Copy, Default)]
    struct TrialCounts {
        trials: u64,
        rewarded: u64,
        errors: u64,
    }
    let mut by_key: BTreeMap<&JobRunKey, TrialCounts> = BTreeMap::new();
    for entry in entries {
        let there = by_key.entry(&entry.run).or_default();
        there.trials += 1;
        there.rewarded += u64::from(entry.is_rewarded);
        there.errors += u64::from(entry.is_error);
    }
    let completed = job.and_then(|job| to_count(&job.stats.0.as_ref()?.n_completed_trials));
    let is_short = completed.is_some_and(|completed| completed > entries.len() as u64 + damaged);
    let is_single = by_key.len() == 1;
    let part = |(key, there): (&&JobRunKey, &TrialCounts)| {
        let figures = published_figures(job, key, by_key.keys().copied());
        let (stated, errors) = figures.map_or((None, None), |figures| {
            (to_count(&figures.n_trials), to_count(&figures.n_errors))
        });
        let is_part = match stated {
            // Older versions count all trials here, newer versions only verified ones.
            Some(stated) => {
                let lacks = stated > there.rewarded + damaged
                    || errors.is_some_and(|errors| errors > there.errors + damaged);
                stated > there.trials + damaged
                    || (is_short && stated != there.trials && lacks)
                    || (is_short && is_single)
            }
            None => is_short,
        };
        let total = completed
            .filter(|_| is_single)
            .or(stated)
            .unwrap_or(0)
            .max(there.trials + 1);
        is_part.then(|| ((*key).clone(), (there.trials, total)))
    };
    by_key.iter().filter_map(part).collect()
}

/// Sets the run's counts from the job's published rewards.
fn fill_published_counts(run: RunHandle, figures: &JobFigures, sink: &mut ImportSink<'_>) {
    let by_reward = figures
        .reward_stats
        .get("reward")
        .and_then(Value::as_object);
    let counted = by_reward
        .into_iter()
        .flatten()
        .filter_map(|(reward, trials)| {
            Some((reward.parse::<f64>().ok()?, trials.as_array()?.len() as u64))
        });
    let (mut passed, mut total) = (0, 0);
    for (reward, trials) in counted {
        total += trials;
        passed += if reward >= 1.0 { trials } else { 0 };
    }
    if total > 0 {
        let record = sink.run_mut(run);
        (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(total));
    }
}

impl TrialTally {
    fn count_trial(&mut self, trial: &HarborTrial, task: &str, rewards: Option<&Rewards>) {
        self.span.add_times(&trial.started_at, &trial.finished_at);
        self.errors += u64::from(trial.exception_info.0.is_some());
        self.rewarded += u64::from(rewards.is_some());
        self.passed += u64::from(
            rewards
                .and_then(|rewards| rewards.reward)
                .is_some_and(|reward| reward >= 1.0),
        );
        self.is_single &=
            rewards.is_none_or(|rewards| rewards.is_single && rewards.reward.is_some());
        let reward = rewards.and_then(|rewards| rewards.reward);
        self.graded.add_value(task, reward.unwrap_or(0.0));
        if let Some(reward) = reward {
            self.rewards.add_value(task, reward);
        }
        for (name, value) in rewards.into_iter().flat_map(|rewards| &rewards.others) {
            self.others
                .entry(name.clone())
                .or_default()
                .add_value(task, *value);
        }
        if self.version != dataset_commit(trial) {
            self.version = None;
        }
    }
}

/// Returns the limits by which a job overrides its tasks' limits. Default values are omitted.
fn overridden_limits(trial: &HarborTrial) -> Vec<(String, String)> {
    let config = trial.config.0.as_ref();
    let agent = config.and_then(|config| config.agent.0.as_ref());
    let known = [
        (
            "timeout_multiplier",
            config.map(|config| &config.timeout_multiplier),
            Some(1.0),
        ),
        (
            "agent_timeout_multiplier",
            config.map(|config| &config.agent_timeout_multiplier),
            Some(1.0),
        ),
        (
            "agent_timeout",
            agent.map(|agent| &agent.override_timeout_sec),
            None,
        ),
        (
            "max_agent_timeout",
            agent.map(|agent| &agent.max_timeout_sec),
            None,
        ),
    ];
    let limits = known.into_iter().filter_map(|(tag, value, usual)| {
        let limit = to_amount(value?).filter(|limit| usual != Some(*limit))?;
        Some((tag.to_owned(), limit.to_string()))
    });
    limits.collect()
}

/// Returns the processors and the memory that a job gives each of its tasks, if it overrides the tasks' own.
fn overridden_resources(environment: &TrialEnvironment) -> Option<Resources> {
    let mebibytes =
        to_count(&environment.override_memory_mb).and_then(|count| count.checked_mul(1 << 20));
    let given = Resources {
        cpu_limit: to_count(&environment.override_cpus),
        memory_limit: mebibytes,
        ..Resources::default()
    };
    (given != Resources::default()).then_some(given)
}

/// Returns the commit of the dataset's repository.
fn dataset_commit(trial: &HarborTrial) -> Option<String> {
    to_text(trial.task_id.get("git_commit_id")?)
}

/// Keeps the job's published figures of a run, beside the values recomputed from its trials if all are there.
fn add_published_figures(
    run: RunHandle,
    figures: &JobFigures,
    tally: Option<&TrialTally>,
    sink: &mut ImportSink<'_>,
) {
    // Older versions count all trials here, newer versions only verified ones.
    if let Some(trials) = to_count(&figures.n_trials) {
        let recomputed = tally.map(|tally| {
            if trials == tally.graded.n() {
                tally.graded.n()
            } else {
                tally.rewarded
            }
        });
        sink.add_published_figure(
            run,
            "n_trials",
            trials as f64,
            Unit::Count,
            recomputed.map(|n| n as f64),
            None,
        );
    }
    if let Some(errors) = to_count(&figures.n_errors) {
        sink.add_published_figure(
            run,
            "n_errors",
            errors as f64,
            Unit::Count,
            tally.map(|tally| tally.errors as f64),
            None,
        );
    }
    let metrics = figures
        .metrics
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .flatten();
    let single = tally.filter(|tally| tally.is_single);
    for (name, value) in metrics.filter_map(|(name, value)| Some((name, to_number(value)?))) {
        let recomputed = single
            .filter(|_| name == "mean")
            .and_then(|tally| tally.graded.mean());
        let unit = if (0.0..=1.0).contains(&value) {
            Unit::Fraction
        } else {
            Unit::Number
        };
        sink.add_published_figure(run, name, value, unit, recomputed, None);
    }
    for (k, value) in figures.pass_at_k.as_object().into_iter().flatten() {
        let Some(value) = to_number(value) else {
            continue;
        };
        let recomputed = single
            .filter(|tally| tally.graded.are_grades())
            .and_then(|tally| tally.graded.pass_at(k.parse().ok()?));
        sink.add_published_figure(
            run,
            &format!("pass@{k}"),
            value,
            Unit::Fraction,
            recomputed,
            None,
        );
    }
}
