//! Turns one task into one run, and reads the figures of a group of tasks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::domain::{
    Direction, Git, ItemStatus, MODEL_SETTING_PREFIX, RunStatus, ScoreRecord, escape_invisible,
};

use super::super::super::cell::Refused;
use super::super::super::rows::ReadStop;
use super::super::json::{to_number, to_text};
use super::super::json_reader::CUT_OFF;
use super::super::running_mean::passed_from_share;
use super::super::sink::{ImportSink, RunHandle, RunMoment, clip_text};
use super::super::source::ForeignFile;
use super::super::system_settings::setting_tags;
use super::super::times::time_from_unix_seconds;
use super::metric::{
    MetricKey, MetricTally, PublishedTaskFigure, grade_value, is_mean, may_grade, metric_direction,
    metric_unit, published_figures,
};
use super::sample::{self, read_samples};
use super::wire::LmEvalResults;

/// Maximum number of metrics. Tasks have a handful.
const MAX_METRICS: usize = 256;

/// A task of the results. Its samples are read twice: first to find the metric that grades, then to be stored.
pub(super) struct TaskImporter<'r> {
    results: &'r LmEvalResults,
    name: &'r str,
    stated: Vec<PublishedTaskFigure>,
    /// Metrics in the order of the task's list.
    metrics: Vec<String>,
    filters: Vec<String>,
}

/// Findings of the first reading of the samples.
#[derive(Default)]
struct SampleSurvey {
    tallies: BTreeMap<MetricKey, MetricTally>,
    /// Number of lines by filter.
    lines: BTreeMap<String, u64>,
    /// Filter of the lines that are stored.
    filter: String,
    /// Values under other filters, by document.
    others: BTreeMap<String, BTreeMap<String, f64>>,
    /// Number of the last line, if it is cut off.
    cut: Option<usize>,
}

impl<'r> TaskImporter<'r> {
    pub fn new(results: &'r LmEvalResults, name: &'r str) -> Self {
        let nothing = Map::new();
        let stated = published_figures(
            results
                .figures
                .get(name)
                .and_then(Value::as_object)
                .unwrap_or(&nothing),
        );
        let config = results.configs.get(name);
        let names = |list: &str, key: &str| -> Vec<String> {
            let list = config.and_then(|config| config.get(list)?.as_array());
            list.into_iter()
                .flatten()
                .filter_map(|one| to_text(one.get(key)?))
                .collect()
        };
        let mut metrics = names("metric_list", "metric");
        metrics.extend(stated.iter().map(|one| one.metric.clone()));
        metrics.truncate(MAX_METRICS);
        let mut filters = names("filter_list", "name");
        filters.extend(stated.iter().map(|one| one.filter.clone()));
        Self {
            results,
            name,
            stated,
            metrics,
            filters,
        }
    }

    pub fn import_run(
        &self,
        samples: Option<&ForeignFile>,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(run) = begin_run(self.results, self.name, sink) else {
            return Ok(());
        };
        if self.stated.iter().any(|one| one.lacks_error) {
            sink.note_quirk("standard errors such as `N/A` are read as not measured");
        }
        let (samples, seen) = match samples.map(|file| (file, self.survey_samples(file))) {
            Some((file, Ok(seen))) => (Some(file), seen),
            // The published figures are imported without the samples.
            Some((file, Err(ReadStop::Unreadable(problems)))) if !self.stated.is_empty() => {
                let why = problems
                    .first()
                    .map(|problem| problem.message.clone())
                    .unwrap_or_default();
                sink.refuse_part(
                    &file.name,
                    Refused::with_detail("the samples cannot be read", why),
                );
                (None, SampleSurvey::default())
            }
            Some((_, Err(stop))) => return Err(stop),
            None => (None, SampleSurvey::default()),
        };
        let lines = seen.lines.get(&seen.filter).copied().unwrap_or(0);
        let total = self.results.sample_count(self.name);
        let is_truncated = samples.is_some() && total.is_some_and(|total| total > lines);
        if let Some(total) = total.filter(|_| is_truncated) {
            sink.note_quirk(&format!(
                "`{}` has {lines} of {total} samples in its file: the published figures count, and cannot be recomputed",
                escape_invisible(&clip_text(self.name, 100))
            ));
            sink.run_mut(run).tags.insert(
                "truncated".to_owned(),
                format!("{lines} of {total} samples in the file"),
            );
        }
        if let Some((file, line)) = samples.zip(seen.cut) {
            if is_truncated {
                // The lines are not stored, so storing does not report this one as refused.
                sink.refuse_part(
                    &format!("{} line {line}", file.name),
                    Refused::new(CUT_OFF.0),
                );
            } else {
                let record = sink.run_mut(run);
                record.status = RunStatus::Failed;
                record.error = Some(format!(
                    "line {line} of the samples is cut off, and what came after is lost"
                ));
            }
        }
        let deciding = self.deciding_metric(&seen);
        if let Some(file) = samples.filter(|_| !is_truncated) {
            self.store_samples(file, run, &seen, deciding.as_ref(), sink)?;
        }
        self.add_scores(
            run,
            &seen,
            deciding.as_ref(),
            samples.is_some() && !is_truncated,
            total,
            sink,
        );
        Ok(())
    }

    /// Reads the samples to find each metric's values.
    fn survey_samples(&self, file: &ForeignFile) -> Result<SampleSurvey, ReadStop> {
        let mut seen = SampleSurvey {
            filter: self.filters.first().cloned().unwrap_or_default(),
            ..SampleSurvey::default()
        };
        seen.cut = read_samples(file, &mut |_, line| {
            let Ok(line) = line else { return Ok(()) };
            let Some(document) = line.get("doc_id").and_then(to_text) else {
                return Ok(());
            };
            let filter = sample::filter_name(&line)
                .unwrap_or(&seen.filter)
                .to_owned();
            if seen.lines.is_empty() && !self.filters.contains(&filter) {
                // The results and the task's configuration do not name the filters.
                seen.filter.clone_from(&filter);
            }
            *seen.lines.entry(filter.clone()).or_default() += 1;
            for (metric, value) in sample::metric_values(&line) {
                let tally = seen
                    .tallies
                    .entry(MetricKey {
                        filter: filter.clone(),
                        metric: metric.to_owned(),
                    })
                    .or_default();
                tally.has_parts |= value.is_array() || value.is_object();
                if let Some(value) = grade_value(value) {
                    tally.values.add(value);
                    if filter != seen.filter {
                        seen.others
                            .entry(document.clone())
                            .or_default()
                            .insert(format!("{metric},{filter}"), value);
                    }
                }
            }
            Ok(())
        })?;
        if !seen.lines.contains_key(&seen.filter)
            && let Some(filter) = seen.lines.keys().next()
        {
            seen.filter.clone_from(filter);
        }
        Ok(seen)
    }

    /// Returns the metric that decides what passes: the first whose values are all grades. Of what is better the lower, a 1 is no pass.
    fn deciding_metric(&self, seen: &SampleSurvey) -> Option<MetricKey> {
        let key = |metric: &String| MetricKey {
            filter: seen.filter.clone(),
            metric: metric.clone(),
        };
        let listed = self.metrics.iter().map(key);
        let found = seen
            .tallies
            .keys()
            .filter(|key| key.filter == seen.filter)
            .cloned();
        listed.chain(found).find(|key| {
            may_grade(&key.metric)
                && metric_direction(self.results, self.name, &key.metric) != Direction::Down
                && seen
                    .tallies
                    .get(key)
                    .is_some_and(|tally| tally.values.is_graded() && !tally.has_parts)
        })
    }

    fn store_samples(
        &self,
        file: &ForeignFile,
        run: RunHandle,
        seen: &SampleSurvey,
        deciding: Option<&MetricKey>,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        if deciding.is_none() {
            sink.note_quirk("no metric marks samples as right or wrong: kept as scores, outside of the pass rate");
        }
        let mut prompts = sample::PromptDigest::default();
        read_samples(file, &mut |place, line| {
            let place = format!("{}, {place}", file.name);
            let line = match line {
                Ok(line) => line,
                Err(refused) => {
                    sink.refuse_part(&place, refused);
                    return Ok(());
                }
            };
            let Some(document) = line.get("doc_id").and_then(to_text) else {
                sink.refuse_part(&place, Refused::new("the sample has no doc_id"));
                return Ok(());
            };
            if sample::filter_name(&line).unwrap_or(&seen.filter) != seen.filter {
                return Ok(());
            }
            let mut values: BTreeMap<String, f64> = sample::metric_values(&line)
                .into_iter()
                .filter_map(|(metric, value)| Some((metric.to_owned(), grade_value(value)?)))
                .collect();
            let score = match deciding {
                Some(key) => values.remove(&key.metric),
                None => self.metrics.iter().find_map(|metric| values.remove(metric)),
            };
            let status = match (deciding, score) {
                (None, _) => ItemStatus::Skipped,
                (Some(_), None) => ItemStatus::NotEvaluated,
                (Some(_), Some(score)) if score >= 1.0 => ItemStatus::Pass,
                (Some(_), Some(_)) => ItemStatus::Fail,
            };
            let mut outcome = sink.new_outcome(run, &document, status);
            outcome.score = score;
            if let Some(key) = deciding {
                outcome.evaluator = metric_label(&key.metric, &key.filter);
            }
            prompts.add_prompt(&document, &line);
            let mut details = sample::sample_details(&line);
            values.extend(seen.others.get(&document).cloned().unwrap_or_default());
            details.scores = values;
            sink.add_outcome(run, &place, outcome, details)
        })?;
        if let Some(digest) = prompts.digest() {
            sink.run_mut(run)
                .tags
                .insert("prompt_hashes".to_owned(), digest);
        }
        Ok(())
    }

    /// Ends the run: its scores, and the published figures beside the same figures over the samples.
    fn add_scores(
        &self,
        run: RunHandle,
        seen: &SampleSurvey,
        deciding: Option<&MetricKey>,
        is_whole: bool,
        total: Option<u64>,
        sink: &mut ImportSink<'_>,
    ) {
        let stated_keys = self.stated.iter().map(|one| (one.metric_key(), Some(one)));
        let mut done = BTreeSet::new();
        let mut is_counted = false;
        for (key, stated) in stated_keys.chain(
            seen.tallies
                .keys()
                .filter(|_| is_whole)
                .map(|key| (key.clone(), None)),
        ) {
            if !done.insert(key.clone()) {
                continue;
            }
            let tally = seen
                .tallies
                .get(&key)
                .filter(|tally| is_whole && !tally.has_parts);
            let values = tally
                .map(|tally| tally.values)
                .filter(|values| values.n() > 0 && is_mean(self.results, self.name, &key.metric));
            let (mean, error) = (
                values.and_then(|values| values.mean()),
                values.and_then(|values| values.standard_error()),
            );
            if let Some(one) = stated {
                let unit = metric_unit(&key.metric, one.value);
                let recomputed =
                    mean.or_else(|| self.results.recount_accuracy(self.name, &one.key));
                sink.add_published_figure(run, &one.key, one.value, unit, recomputed, None);
                if let Some(stated_error) = one.error {
                    sink.add_published_figure(run, &one.error_key, stated_error, unit, error, None);
                }
            }
            if deciding == Some(&key) && is_whole {
                continue;
            }
            if !is_whole
                && !is_counted
                && let Some(one) = stated.filter(|one| may_grade(&one.metric))
                && let Some((passed, total)) = self.published_counts(one, total, sink)
            {
                let record = sink.run_mut(run);
                (record.shared_tests_passed, record.shared_tests_total) =
                    (Some(passed), Some(total));
                is_counted = true;
                continue;
            }
            let Some(value) = mean.or_else(|| stated.map(|one| one.value)) else {
                continue;
            };
            sink.run_mut(run).scores.push(ScoreRecord {
                standard_error: error
                    .filter(|_| mean.is_some())
                    .or_else(|| stated.and_then(|one| one.error)),
                n: values.map(|values| values.n()).or(total),
                evaluator: Some("lm-eval".to_owned()),
                ..ScoreRecord::new(
                    metric_label(&key.metric, &key.filter),
                    value,
                    metric_unit(&key.metric, value),
                    metric_direction(self.results, self.name, &key.metric),
                )
            });
        }
    }

    /// Returns how many samples passed, of how many, if the file says so or if the figure with its standard error can only come from grades.
    fn published_counts(
        &self,
        one: &PublishedTaskFigure,
        total: Option<u64>,
        sink: &mut ImportSink<'_>,
    ) -> Option<(u64, u64)> {
        if one.key == "accuracy"
            && let Some(counts) = self.results.solved_count(self.name)
        {
            return Some(counts);
        }
        // Repeats of one question are no samples of their own.
        let total = total.filter(|_| self.results.repeat_count(self.name).is_none())?;
        let passed = passed_from_share(one.value, one.error, total)?;
        sink.note_quirk(
            "passed and total are computed from the published figure and its standard error",
        );
        Some((passed, total))
    }
}

/// Returns a metric's name in our tables: with its filter, unless the filter does nothing.
fn metric_label(metric: &str, filter: &str) -> String {
    if filter.is_empty() || filter == "none" {
        metric.to_owned()
    } else {
        format!("{metric},{filter}")
    }
}

/// Begins the run of a task or a group. Returns `None` if it is stored already.
fn begin_run(results: &LmEvalResults, name: &str, sink: &mut ImportSink<'_>) -> Option<RunHandle> {
    let model = results.model();
    let (moment, approach) = (results.evaluation_id(), results.approach(name));
    let (identity, names) = (
        [moment.as_str(), &model, name],
        [name, approach.as_str(), &model],
    );
    let run = match to_text(&results.date) {
        // Models without a name may have evaluations of one time and task.
        _ if model.is_empty() => sink.begin_run_of_bytes(&identity, names, RunMoment::Unread),
        Some(_) => sink.begin_run(&identity, names),
        None => sink.begin_unnamed_run(&identity, names, RunMoment::Unread),
    }?;
    let record = sink.run_mut(run);
    let seconds = results.seconds();
    // The date is the evaluation's start in seconds since 1970; a run's time is its end.
    let ended = to_number(&results.date)
        .and_then(|began| time_from_unix_seconds(began + seconds.unwrap_or(0.0)));
    record.timestamp = ended;
    if results.figures.len() == 1 {
        record.duration_seconds = seconds;
    }
    record.suite_version = results
        .versions
        .get(name)
        .and_then(to_text)
        .filter(|version| version != "N/A");
    record.git = to_text(&results.git_hash)
        .filter(|rev| !rev.is_empty())
        .map(|rev| Git {
            rev,
            branch: None,
            dirty: false,
        });
    let config = |key: &str| {
        results.config.get(key).and_then(|value| {
            to_text(value).or_else(|| (!value.is_null()).then(|| value.to_string()))
        })
    };
    let facts = [
        ("n_shot", results.shot_count(name)),
        (
            "repeats",
            results
                .repeat_count(name)
                .map(|repeats| repeats.to_string()),
        ),
        ("backend", config("model")),
        ("limit", config("limit")),
        ("gen_kwargs", config("gen_kwargs")),
        ("dtype", config("model_dtype")),
        (
            "model_revision",
            config("model_sha").or_else(|| config("model_revision")),
        ),
        ("fewshot_seed", config("fewshot_seed")),
        ("task_hash", results.task_hashes.get(name).and_then(to_text)),
        ("chat_template_sha", to_text(&results.chat_template_sha)),
        (
            "system_instruction_sha",
            to_text(&results.system_instruction_sha),
        ),
        (
            "multiturn",
            to_text(&results.fewshot_as_multiturn).filter(|word| word == "true"),
        ),
        (
            "evaluation_seconds",
            seconds
                .filter(|_| results.figures.len() > 1)
                .map(|seconds| format!("{seconds:.1} for all tasks")),
        ),
    ];
    for arguments in ["model_args", "gen_kwargs"] {
        let arguments = results.config.get(arguments).unwrap_or(&Value::Null);
        record
            .tags
            .extend(setting_tags(MODEL_SETTING_PREFIX, arguments));
    }
    for (key, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            record
                .tags
                .insert(key.to_owned(), clip_text(&fact, 500).into_owned());
        }
    }
    Some(run)
}

/// Reads the figures of a group. They are means over the tasks that have the figure, weighted by their numbers of samples unless the group
/// does otherwise.
pub(super) fn read_group(results: &LmEvalResults, name: &str, sink: &mut ImportSink<'_>) {
    let Some(run) = begin_run(results, name, sink) else {
        return;
    };
    let figures = results
        .groups
        .get(name)
        .or_else(|| results.figures.get(name))
        .and_then(Value::as_object);
    let tasks = results.tasks_of(name);
    sink.run_mut(run)
        .tags
        .insert("group_of".to_owned(), format!("{} tasks", tasks.len()));
    let shown = escape_invisible(&clip_text(name, 100));
    for one in figures.map(published_figures).unwrap_or_default() {
        let parts = GroupParts::from_tasks(results, &tasks, &one);
        if (1..tasks.len()).contains(&parts.values.len()) {
            sink.note_quirk(&format!(
                "`{}` of the group `{shown}` is over {} of its {} tasks: the others do not have it",
                escape_invisible(&clip_text(&one.key, 100)),
                parts.values.len(),
                tasks.len()
            ));
        }
        let (plain, weighted) = (parts.plain_mean(), parts.weighted_mean());
        let is_near = |value: &f64| (value - one.value).abs() <= 1e-9;
        let is_plain =
            plain.as_ref().is_some_and(is_near) && !weighted.as_ref().is_some_and(is_near);
        let (recomputed, error) = if is_plain {
            sink.note_quirk(&format!(
                "the figure of the group `{shown}` is the unweighted mean of its tasks"
            ));
            (plain, parts.error_of_plain_mean())
        } else {
            (weighted.or(plain), parts.pooled_error())
        };
        let unit = metric_unit(&one.metric, one.value);
        sink.add_published_figure(run, &one.key, one.value, unit, recomputed, None);
        if let Some(published) = one.error {
            sink.add_published_figure(run, &one.error_key, published, unit, error, None);
            if is_plain && error.is_some_and(|error| (published - error).abs() > 0.005 * error) {
                sink.note_quirk(&format!(
                    "the published standard error of the group `{shown}` does not belong to its unweighted mean: the one of that mean counts"
                ));
            }
        }
        sink.run_mut(run).scores.push(ScoreRecord {
            // The harness pools the errors of the tasks by size, also under a mean that is not weighted by size.
            standard_error: error.filter(|_| is_plain).or(one.error),
            n: parts.total(),
            evaluator: Some("lm-eval".to_owned()),
            ..ScoreRecord::new(
                metric_label(&one.metric, &one.filter),
                one.value,
                unit,
                metric_direction(results, name, &one.metric),
            )
        });
    }
}

/// One figure of each task of a group that has it.
struct GroupParts {
    values: Vec<f64>,
    /// `None` if a task has no standard error.
    errors: Option<Vec<f64>>,
    /// Numbers of samples. `None` if one is not known, or none was asked.
    sizes: Option<Vec<u64>>,
}

impl GroupParts {
    fn from_tasks(
        results: &LmEvalResults,
        tasks: &BTreeSet<String>,
        one: &PublishedTaskFigure,
    ) -> Self {
        let of_task = |task: &String| {
            let figures = results.figures.get(task)?;
            let number = |key: &str| to_number(figures.get(key)?);
            Some((
                number(&one.key)?,
                number(&one.error_key),
                results.sample_count(task),
            ))
        };
        let parts: Vec<(f64, Option<f64>, Option<u64>)> =
            tasks.iter().filter_map(of_task).collect();
        let sizes: Option<Vec<u64>> = parts.iter().map(|(_, _, size)| *size).collect();
        Self {
            values: parts.iter().map(|(value, _, _)| *value).collect(),
            errors: parts.iter().map(|(_, error, _)| *error).collect(),
            sizes: sizes.filter(|sizes| sizes.iter().any(|size| *size > 0)),
        }
    }

    /// Returns the number of samples of all tasks.
    fn total(&self) -> Option<u64> {
        self.sizes
            .as_ref()?
            .iter()
            .try_fold(0_u64, |sum, size| sum.checked_add(*size))
    }

    fn plain_mean(&self) -> Option<f64> {
        let sum = self.values.iter().sum::<f64>();
        (!self.values.is_empty()).then(|| sum / self.values.len() as f64)
    }

    fn weighted_mean(&self) -> Option<f64> {
        let total = self.total()? as f64;
        let sizes = self.sizes.as_ref()?;
        let products = self.values.iter().zip(sizes);
        Some(
            products
                .map(|(value, size)| value * *size as f64)
                .sum::<f64>()
                / total,
        )
    }

    /// Returns the standard error of the unweighted mean of independent tasks.
    fn error_of_plain_mean(&self) -> Option<f64> {
        let errors = self.errors.as_ref().filter(|errors| !errors.is_empty())?;
        let squares = errors.iter().map(|error| error * error).sum::<f64>();
        Some(squares.sqrt() / errors.len() as f64)
    }

    /// Returns the standard error of the mean over the samples of all tasks, from the variance within the tasks: `pooled_sample_stderr` of
    /// the harness.
    fn pooled_error(&self) -> Option<f64> {
        let (errors, sizes) = (self.errors.as_ref()?, self.sizes.as_ref()?);
        let (total, tasks) = (self.total()? as f64, sizes.len() as f64);
        let squares = errors.iter().zip(sizes).map(|(error, size)| {
            let size = *size as f64;
            (size - 1.0) * error * error * size
        });
        let variance = squares.sum::<f64>() / (total - tasks);
        (total > tasks).then(|| (variance / total).sqrt())
    }
}
