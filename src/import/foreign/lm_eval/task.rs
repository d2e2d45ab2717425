//! Turns one task into one run, and reads the figures of a group of tasks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::domain::{Git, ItemStatus, RunStatus, ScoreRecord, visible};

use super::super::super::cell::Refused;
use super::super::super::rows::Stop;
use super::super::json::{number, text};
use super::super::json_reader::CUT_OFF;
use super::super::moments::passed_of;
use super::super::sink::{Handle, Moment, Sink, clip};
use super::super::source::ForeignFile;
use super::super::times::unix_moment;
use super::metric::{MetricKey, Stated, Tally, direction, is_mean, may_grade, stated, unit, worth};
use super::sample::{self, each_sample};
use super::wire::Results;

/// Maximum number of metrics. Tasks have a handful.
const MOST_METRICS: usize = 256;

/// A task of the results. Its samples are read twice: first to find the metric that grades, then to be stored.
pub(super) struct Task<'r> {
    results: &'r Results,
    name: &'r str,
    stated: Vec<Stated>,
    /// Metrics in the order of the task's list.
    metrics: Vec<String>,
    filters: Vec<String>,
}

/// Findings of the first reading of the samples.
#[derive(Default)]
struct Seen {
    tallies: BTreeMap<MetricKey, Tally>,
    /// Number of lines by filter.
    lines: BTreeMap<String, u64>,
    /// Filter of the lines that are stored.
    filter: String,
    /// Values under other filters, by document.
    others: BTreeMap<String, BTreeMap<String, f64>>,
    /// Number of the last line, if it is cut off.
    cut: Option<usize>,
}

impl<'r> Task<'r> {
    pub fn new(results: &'r Results, name: &'r str) -> Self {
        let nothing = Map::new();
        let stated = stated(
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
                .filter_map(|one| text(one.get(key)?))
                .collect()
        };
        let mut metrics = names("metric_list", "metric");
        metrics.extend(stated.iter().map(|one| one.metric.clone()));
        metrics.truncate(MOST_METRICS);
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

    pub fn read(&self, samples: Option<&ForeignFile>, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let Some(run) = begin(self.results, self.name, sink) else {
            return Ok(());
        };
        if self.stated.iter().any(|one| one.lacks_error) {
            sink.quirk("standard errors such as `N/A` are read as not measured");
        }
        let (samples, seen) = match samples.map(|file| (file, self.look_at(file))) {
            Some((file, Ok(seen))) => (Some(file), seen),
            // The published figures are imported without the samples.
            Some((file, Err(Stop::Unreadable(problems)))) if !self.stated.is_empty() => {
                let why = problems
                    .first()
                    .map(|problem| problem.message.clone())
                    .unwrap_or_default();
                sink.refuse(
                    &file.name,
                    Refused::with_detail("the samples cannot be read", why),
                );
                (None, Seen::default())
            }
            Some((_, Err(stop))) => return Err(stop),
            None => (None, Seen::default()),
        };
        let lines = seen.lines.get(&seen.filter).copied().unwrap_or(0);
        let total = self.results.effective(self.name);
        let is_truncated = samples.is_some() && total.is_some_and(|total| total > lines);
        if let Some(total) = total.filter(|_| is_truncated) {
            sink.quirk(&format!(
                "`{}` has {lines} of {total} samples in its file: the published figures count, and cannot be recomputed",
                visible(&clip(self.name, 100))
            ));
            sink.run(run).tags.insert(
                "truncated".to_owned(),
                format!("{lines} of {total} samples in the file"),
            );
        }
        if let Some((file, line)) = samples.zip(seen.cut) {
            if is_truncated {
                // The lines are not stored, so storing does not report this one as refused.
                sink.refuse(
                    &format!("{} line {line}", file.name),
                    Refused::because(CUT_OFF.0),
                );
            } else {
                let record = sink.run(run);
                record.status = RunStatus::Failed;
                record.error = Some(format!(
                    "line {line} of the samples is cut off, and what came after is lost"
                ));
            }
        }
        let deciding = self.deciding(&seen);
        if let Some(file) = samples.filter(|_| !is_truncated) {
            self.store(file, run, &seen, deciding.as_ref(), sink)?;
        }
        self.end(
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
    fn look_at(&self, file: &ForeignFile) -> Result<Seen, Stop> {
        let mut seen = Seen {
            filter: self.filters.first().cloned().unwrap_or_default(),
            ..Seen::default()
        };
        seen.cut = each_sample(file, &mut |_, line| {
            let Ok(line) = line else { return Ok(()) };
            let Some(document) = line.get("doc_id").and_then(text) else {
                return Ok(());
            };
            let filter = sample::filter(&line).unwrap_or(&seen.filter).to_owned();
            if seen.lines.is_empty() && !self.filters.contains(&filter) {
                // The results and the task's configuration do not name the filters.
                seen.filter.clone_from(&filter);
            }
            *seen.lines.entry(filter.clone()).or_default() += 1;
            for (metric, value) in sample::metrics(&line) {
                let tally = seen
                    .tallies
                    .entry(MetricKey {
                        filter: filter.clone(),
                        metric: metric.to_owned(),
                    })
                    .or_default();
                tally.has_parts |= value.is_array() || value.is_object();
                if let Some(value) = worth(value) {
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

    /// Returns the metric that decides what passes: the first whose values are all grades.
    fn deciding(&self, seen: &Seen) -> Option<MetricKey> {
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
                && seen
                    .tallies
                    .get(key)
                    .is_some_and(|tally| tally.values.is_graded() && !tally.has_parts)
        })
    }

    fn store(
        &self,
        file: &ForeignFile,
        run: Handle,
        seen: &Seen,
        deciding: Option<&MetricKey>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stop> {
        if deciding.is_none() {
            sink.quirk("no metric marks samples as right or wrong: kept as scores, outside of the pass rate");
        }
        let mut prompts = sample::Prompts::default();
        each_sample(file, &mut |place, line| {
            let place = format!("{}, {place}", file.name);
            let line = match line {
                Ok(line) => line,
                Err(refused) => {
                    sink.refuse(&place, refused);
                    return Ok(());
                }
            };
            let Some(document) = line.get("doc_id").and_then(text) else {
                sink.refuse(&place, Refused::because("the sample has no doc_id"));
                return Ok(());
            };
            if sample::filter(&line).unwrap_or(&seen.filter) != seen.filter {
                return Ok(());
            }
            let mut values: BTreeMap<String, f64> = sample::metrics(&line)
                .into_iter()
                .filter_map(|(metric, value)| Some((metric.to_owned(), worth(value)?)))
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
            let mut outcome = sink.outcome(run, &document, status);
            outcome.score = score;
            if let Some(key) = deciding {
                outcome.evaluator = shown(&key.metric, &key.filter);
            }
            prompts.add(&document, &line);
            let mut details = sample::details(&line);
            values.extend(seen.others.get(&document).cloned().unwrap_or_default());
            details.scores = values;
            sink.item(run, &place, outcome, details)
        })?;
        if let Some(digest) = prompts.digest() {
            sink.run(run)
                .tags
                .insert("prompt_hashes".to_owned(), digest);
        }
        Ok(())
    }

    /// Ends the run: its scores, and the published figures beside the same figures over the samples.
    fn end(
        &self,
        run: Handle,
        seen: &Seen,
        deciding: Option<&MetricKey>,
        is_whole: bool,
        total: Option<u64>,
        sink: &mut Sink<'_>,
    ) {
        let stated_keys = self.stated.iter().map(|one| (one.key(), Some(one)));
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
                let unit = unit(&key.metric, one.value);
                sink.stated(run, &one.key, one.value, unit, mean, None);
                if let Some(stated_error) = one.error {
                    sink.stated(run, &one.error_key, stated_error, unit, error, None);
                }
            }
            if deciding == Some(&key) && is_whole {
                continue;
            }
            if !is_whole
                && !is_counted
                && let Some(one) = stated.filter(|one| may_grade(&one.metric))
                && let Some(total) = total
                && let Some(passed) = passed_of(one.value, one.error, total)
            {
                let record = sink.run(run);
                (record.shared_tests_passed, record.shared_tests_total) =
                    (Some(passed), Some(total));
                sink.quirk("passed and total are computed from the published figure and its standard error");
                is_counted = true;
                continue;
            }
            let Some(value) = mean.or_else(|| stated.map(|one| one.value)) else {
                continue;
            };
            sink.run(run).scores.push(ScoreRecord {
                standard_error: error
                    .filter(|_| mean.is_some())
                    .or_else(|| stated.and_then(|one| one.error)),
                n: values.map(|values| values.n()).or(total),
                evaluator: Some("lm-eval".to_owned()),
                ..ScoreRecord::new(
                    shown(&key.metric, &key.filter),
                    value,
                    unit(&key.metric, value),
                    direction(self.results, self.name, &key.metric),
                )
            });
        }
    }
}

/// Returns a metric's name in our tables: with its filter, unless the filter does nothing.
fn shown(metric: &str, filter: &str) -> String {
    if filter.is_empty() || filter == "none" {
        metric.to_owned()
    } else {
        format!("{metric},{filter}")
    }
}

/// Begins the run of a task or a group. Returns `None` if it is stored already.
fn begin(results: &Results, name: &str, sink: &mut Sink<'_>) -> Option<Handle> {
    let model = results.model();
    let (moment, approach) = (results.moment(), results.approach(name));
    let (identity, names) = (
        [moment.as_str(), &model, name],
        [name, approach.as_str(), &model],
    );
    let run = match text(&results.date) {
        Some(_) => sink.begin_run(&identity, names),
        None => sink.begin_unnamed_run(&identity, names, Moment::Unread),
    }?;
    let record = sink.run(run);
    let seconds = results.seconds();
    // The date is the evaluation's start in seconds since 1970; a run's time is its end.
    let ended = number(&results.date).and_then(|began| unix_moment(began + seconds.unwrap_or(0.0)));
    record.timestamp = ended;
    if results.figures.len() == 1 {
        record.duration_seconds = seconds;
    }
    record.suite_version = results
        .versions
        .get(name)
        .and_then(text)
        .filter(|version| version != "N/A");
    record.git = text(&results.git_hash)
        .filter(|rev| !rev.is_empty())
        .map(|rev| Git {
            rev,
            branch: None,
            dirty: false,
        });
    let config = |key: &str| {
        results
            .config
            .get(key)
            .and_then(|value| text(value).or_else(|| (!value.is_null()).then(|| value.to_string())))
    };
    let facts = [
        ("n_shot", results.shots(name)),
        ("backend", config("model")),
        ("limit", config("limit")),
        ("gen_kwargs", config("gen_kwargs")),
        ("dtype", config("model_dtype")),
        (
            "model_revision",
            config("model_sha").or_else(|| config("model_revision")),
        ),
        ("fewshot_seed", config("fewshot_seed")),
        ("task_hash", results.task_hashes.get(name).and_then(text)),
        ("chat_template_sha", text(&results.chat_template_sha)),
        (
            "system_instruction_sha",
            text(&results.system_instruction_sha),
        ),
        (
            "multiturn",
            text(&results.fewshot_as_multiturn).filter(|word| word == "true"),
        ),
        (
            "evaluation_seconds",
            seconds
                .filter(|_| results.figures.len() > 1)
                .map(|seconds| format!("{seconds:.1} for all tasks")),
        ),
    ];
    for (key, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            record
                .tags
                .insert(key.to_owned(), clip(&fact, 500).into_owned());
        }
    }
    Some(run)
}

/// Reads the figures of a group. They are means over its tasks, weighted by their numbers of samples unless the group does otherwise.
pub(super) fn read_group(results: &Results, name: &str, sink: &mut Sink<'_>) {
    let Some(run) = begin(results, name, sink) else {
        return;
    };
    let figures = results
        .groups
        .get(name)
        .or_else(|| results.figures.get(name))
        .and_then(Value::as_object);
    let tasks = results.tasks_of(name);
    sink.run(run)
        .tags
        .insert("group_of".to_owned(), format!("{} tasks", tasks.len()));
    for one in figures.map(stated).unwrap_or_default() {
        // The figure of each task, with its number of samples.
        let parts: Option<Vec<(f64, Option<u64>)>> = tasks
            .iter()
            .map(|task| {
                Some((
                    number(results.figures.get(task)?.get(&one.key)?)?,
                    results.effective(task),
                ))
            })
            .collect();
        let parts = parts.filter(|parts| !parts.is_empty());
        let total = parts
            .as_ref()
            .and_then(|parts| {
                parts
                    .iter()
                    .try_fold(0_u64, |sum, (_, n)| sum.checked_add((*n)?))
            })
            .filter(|total| *total > 0);
        let weighted = parts.as_ref().zip(total).map(|(parts, total)| {
            parts
                .iter()
                .map(|(value, n)| value * n.unwrap_or(0) as f64)
                .sum::<f64>()
                / total as f64
        });
        let plain = parts
            .as_ref()
            .map(|parts| parts.iter().map(|(value, _)| value).sum::<f64>() / parts.len() as f64);
        let is_near = |value: &f64| (value - one.value).abs() <= 1e-9;
        let is_plain =
            plain.as_ref().is_some_and(is_near) && !weighted.as_ref().is_some_and(is_near);
        if is_plain {
            sink.quirk("a group's figure is the unweighted mean of its tasks");
        }
        let unit = unit(&one.metric, one.value);
        sink.stated(
            run,
            &one.key,
            one.value,
            unit,
            if is_plain { plain } else { weighted.or(plain) },
            None,
        );
        if let Some(error) = one.error {
            sink.stated(run, &one.error_key, error, unit, None, None);
        }
        sink.run(run).scores.push(ScoreRecord {
            standard_error: one.error,
            n: total,
            evaluator: Some("lm-eval".to_owned()),
            ..ScoreRecord::new(
                shown(&one.metric, &one.filter),
                one.value,
                unit,
                direction(results, name, &one.metric),
            )
        });
    }
}
