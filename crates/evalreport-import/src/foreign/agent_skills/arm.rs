//! Runs of one configuration: their graded expectations, and the figures that the workspace publishes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::{ItemDetails, ItemKind, ItemStatus, RunStatus, StatedFigure, Unit};

use super::super::super::cell::Refused;
use super::super::super::rows::ReadStop;
use super::super::super::source::hex_digest;
use super::super::json::{to_amount, to_count, to_filled_text, to_number};
use super::super::property_metrics::MAX_TOOLS;
use super::super::running_mean::RunningMean;
use super::super::sink::{ImportSink, RunHandle, RunMoment};
use super::super::times::{TimeSpan, read_time};
use super::wire::{Benchmark, BenchmarkMetadata, BenchmarkRun, Expectation, SkillGrading, Timing};

/// Evaluators: of a single expectation, and of all expectations of an eval.
const EXPECTATION_EVALUATOR: &str = "grader";
const EVAL_EVALUATOR: &str = "evals";
/// Decimals of the rates of single runs, which are rounded before their mean is taken.
const RATE_DECIMALS: u32 = 2;
const MEAN_DECIMALS: u32 = 4;

/// One run of one eval.
#[derive(Default)]
pub(super) struct EvalRun {
    /// Name of the eval.
    eval: String,
    number: u32,
    prompt: Option<String>,
    expectations: Vec<Expectation>,
    /// Duration without the grader.
    seconds: Option<f64>,
    /// Duration as in `benchmark.json`: with the grader, if the grading says so.
    total_seconds: Option<f64>,
    tokens: Option<u64>,
    /// Characters that the agent wrote.
    characters: Option<u64>,
    steps: Option<u64>,
    tools: BTreeMap<String, u64>,
    span: TimeSpan,
    graded: PublishedEvalFigures,
    benchmarked: PublishedEvalFigures,
}

/// Published figures of one run of an eval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PublishedEvalFigures {
    passed: Option<u64>,
    total: Option<u64>,
    rate: Option<f64>,
    tokens: Option<u64>,
}

impl PublishedEvalFigures {
    fn from_value(value: &Value) -> Self {
        let of = |key: &str| value.get(key).and_then(to_count);
        Self {
            passed: of("passed"),
            total: of("total"),
            rate: value.get("pass_rate").and_then(to_number),
            tokens: of("tokens"),
        }
    }

    fn passed_and_total(&self) -> (Option<u64>, Option<u64>) {
        (self.passed, self.total)
    }
}

impl EvalRun {
    pub fn from_grading(
        eval: String,
        number: u32,
        prompt: Option<String>,
        grading: &SkillGrading,
        timing: Option<Timing>,
        benchmarked: Option<&BenchmarkRun>,
    ) -> Self {
        let timing = timing.unwrap_or_default();
        let mut span = TimeSpan::default();
        span.add_times(&timing.executor_start, &timing.executor_end);
        let calls = grading.execution_metrics["tool_calls"]
            .as_object()
            .into_iter()
            .flatten();
        let calls = calls.filter_map(|(name, calls)| {
            Some((name.clone(), to_count(calls).filter(|calls| *calls > 0)?))
        });
        Self {
            eval,
            number,
            prompt,
            expectations: grading.all_expectations().into_iter().cloned().collect(),
            seconds: timing
                .executor_seconds()
                .or_else(|| grading.executor_seconds())
                .or_else(|| grading.total_seconds()),
            total_seconds: grading.total_seconds().or_else(|| timing.total_seconds()),
            tokens: to_count(&timing.total_tokens).filter(|tokens| *tokens > 0),
            characters: grading.output_chars(),
            steps: to_count(&grading.execution_metrics["total_steps"]),
            tools: calls.take(MAX_TOOLS).collect(),
            span,
            graded: PublishedEvalFigures::from_value(&grading.summary),
            benchmarked: benchmarked
                .map(|run| PublishedEvalFigures::from_value(&run.result))
                .unwrap_or_default(),
        }
    }

    /// Creates a run that only `benchmark.json` describes.
    pub fn from_benchmark(
        eval: String,
        number: u32,
        prompt: Option<String>,
        expectations: &[&Expectation],
        result: &Value,
    ) -> Self {
        let seconds = result
            .get("time_seconds")
            .and_then(to_amount)
            .filter(|seconds| *seconds > 0.0);
        Self {
            eval,
            number,
            prompt,
            expectations: expectations
                .iter()
                .map(|expectation| (*expectation).clone())
                .collect(),
            seconds,
            total_seconds: seconds,
            benchmarked: PublishedEvalFigures::from_value(result),
            ..Self::default()
        }
    }

    /// Returns the numbers of passed and of graded expectations.
    fn count_passed(&self) -> (u64, u64) {
        let graded = self
            .expectations
            .iter()
            .filter_map(|expectation| expectation.passed.as_bool());
        graded.fold((0, 0), |(passed, total), is_passed| {
            (passed + u64::from(is_passed), total + 1)
        })
    }

    fn pass_rate(&self) -> Option<f64> {
        let (passed, total) = self.count_passed();
        (total > 0).then(|| passed as f64 / total as f64)
    }

    /// Returns how far the published rate is from the recomputed one, or 0 if the difference is too large to be rounding.
    fn rounding_error(&self) -> f64 {
        let stated = self.benchmarked.rate.or(self.graded.rate);
        let distance = stated
            .zip(self.pass_rate())
            .map_or(0.0, |(stated, rate)| (stated - rate).abs());
        if distance <= StatedFigure::max_rounding(RATE_DECIMALS) + 1e-9 {
            distance
        } else {
            0.0
        }
    }

    fn add_outcomes(
        &self,
        run: RunHandle,
        attempt: u32,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let place = format!("{}, run {}", self.eval, self.number);
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for (index, expectation) in self.expectations.iter().enumerate() {
            let Some(asked) = to_filled_text(&expectation.text) else {
                sink.refuse_part(
                    &format!("{place}, expectation {}", index + 1),
                    Refused::new("the expectation has no text"),
                );
                continue;
            };
            let asked = asked.trim();
            let times = seen.entry(asked.to_owned()).or_default();
            *times += 1;
            let again = if *times > 1 {
                format!(" ({times})")
            } else {
                String::new()
            };
            let status = match expectation.passed.as_bool() {
                Some(true) => ItemStatus::Pass,
                Some(false) => ItemStatus::Fail,
                None => ItemStatus::NotEvaluated,
            };
            let mut outcome =
                sink.new_outcome(run, &format!("{}: {asked}{again}", self.eval), status);
            EXPECTATION_EVALUATOR.clone_into(&mut outcome.evaluator);
            outcome.cluster = Some(self.eval.clone());
            outcome.attempt = attempt;
            let prompt = self.prompt.as_deref().unwrap_or_default().trim();
            let details = ItemDetails {
                reason: to_filled_text(&expectation.evidence),
                item_hash: Some(
                    hex_digest(&[prompt.as_bytes(), asked.as_bytes()], true)[..32].to_owned(),
                ),
                question: Some(asked.to_owned()),
                ..ItemDetails::default()
            };
            sink.add_outcome(run, &place, outcome, details)?;
        }
        let (passed, total) = self.count_passed();
        let status = match total {
            0 => ItemStatus::NotEvaluated,
            total if passed == total => ItemStatus::Pass,
            _ => ItemStatus::Fail,
        };
        let mut outcome = sink.new_outcome(run, &self.eval, status);
        EVAL_EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.kind = ItemKind::Check;
        outcome.cluster = Some(self.eval.clone());
        outcome.attempt = attempt;
        outcome.score = self.pass_rate();
        outcome.duration_seconds = self.seconds;
        let details = ItemDetails {
            question: self.prompt.clone(),
            steps: self.steps,
            tools: self.tools.clone(),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, &place, outcome, details)
    }
}

/// The runs of one configuration.
#[derive(Default)]
pub(super) struct ConfigurationRuns {
    pub runs: Vec<EvalRun>,
    /// Number of unreadable gradings without a replacement in `benchmark.json`.
    pub damaged: u64,
}

impl ConfigurationRuns {
    /// Passes the arm and its published figures to the sink.
    pub fn add_run(
        mut self,
        skill: &str,
        iteration: &str,
        configuration: &str,
        benchmark: &Benchmark,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let nothing = BenchmarkMetadata::default();
        let metadata = benchmark.metadata.0.as_ref().unwrap_or(&nothing);
        if metadata.has_placeholder() && !sink.is_model_given() {
            sink.note_quirk("the model is a placeholder, so it is unknown: name it with --set");
        }
        let approach = approach_name(configuration, iteration);
        let model = metadata.model().unwrap_or_default();
        let Some(run) = sink.begin_run_of_bytes(
            &[skill, iteration, configuration],
            [skill, &approach, &model],
            RunMoment::Unread,
        ) else {
            return Ok(());
        };
        self.runs
            .sort_by(|left, right| (&left.eval, left.number).cmp(&(&right.eval, right.number)));
        let mut attempts: BTreeMap<&str, u32> = BTreeMap::new();
        for eval_run in &self.runs {
            let attempt = attempts.entry(&eval_run.eval).or_default();
            *attempt += 1;
            eval_run.add_outcomes(run, *attempt, sink)?;
        }
        let most = attempts.values().copied().max().unwrap_or(0);
        let evals = attempts.len();
        self.fill_run(run, iteration, metadata, sink);
        self.add_published_figures(run, configuration, benchmark, sink);
        let declared = to_count(&metadata.runs_per_configuration);
        if let Some(declared) = declared {
            if declared != u64::from(most) {
                sink.note_quirk(&format!(
                    "the workspace announces {} per eval and configuration, and has {most}",
                    crate::domain::format_count(declared, "run")
                ));
            }
            sink.add_published_figure(
                run,
                "runs_per_configuration",
                declared as f64,
                Unit::Count,
                Some(f64::from(most)),
                None,
            );
        }
        if let Some(declared) = metadata.evals_run.as_array() {
            sink.add_published_figure(
                run,
                "evals_run",
                declared.len() as f64,
                Unit::Count,
                Some(evals as f64),
                None,
            );
        }
        Ok(())
    }

    fn fill_run(
        &self,
        run: RunHandle,
        iteration: &str,
        metadata: &BenchmarkMetadata,
        sink: &mut ImportSink<'_>,
    ) {
        let record = sink.run_mut(run);
        let mut span = TimeSpan::default();
        for eval_run in &self.runs {
            span.extend_by(eval_run.span);
        }
        span.set_run_times(record);
        record.timestamp = record.timestamp.or_else(|| read_time(&metadata.timestamp));
        // Runs may overlap in time, so the duration is the sum of the agent's working times.
        record.duration_seconds = self.runs.iter().map(|eval_run| eval_run.seconds).sum();
        record.total_calls = Some(self.runs.len() as u64);
        let tokens = self.runs.iter().map(|eval_run| eval_run.tokens);
        record.total_tokens = tokens.reduce(|sum, one| sum?.checked_add(one?)).flatten();
        record
            .tags
            .insert("iteration".to_owned(), iteration.to_owned());
        if self.damaged > 0 {
            record.status = RunStatus::Failed;
            record.error = Some(format!(
                "{} of {} gradings cannot be read",
                self.damaged,
                self.damaged + self.runs.len() as u64
            ));
        }
    }

    fn add_published_figures(
        &self,
        run: RunHandle,
        configuration: &str,
        benchmark: &Benchmark,
        sink: &mut ImportSink<'_>,
    ) {
        for eval_run in &self.runs {
            let (passed, total) = eval_run.count_passed();
            // The grading's own counts, and the benchmark's if they differ.
            let copied =
                eval_run.benchmarked.passed_and_total() == eval_run.graded.passed_and_total();
            let benchmarked = (!copied).then_some(("benchmark", eval_run.benchmarked));
            for (file, figures) in std::iter::once(("grading", eval_run.graded)).chain(benchmarked)
            {
                for (name, stated, counted) in [
                    ("passed", figures.passed, passed),
                    ("total", figures.total, total),
                ] {
                    if let Some(stated) = stated {
                        let name = format!("{file}/{name}/{}/{}", eval_run.eval, eval_run.number);
                        sink.add_published_figure(
                            run,
                            &name,
                            stated as f64,
                            Unit::Count,
                            Some(counted as f64),
                            None,
                        );
                    }
                }
            }
            let PublishedEvalFigures {
                tokens: Some(stated),
                ..
            } = eval_run.benchmarked
            else {
                continue;
            };
            if stated > 0 && eval_run.characters == Some(stated) && eval_run.tokens != Some(stated)
            {
                sink.note_quirk(
                    "`tokens` of benchmark.json are characters that the agent wrote, not tokens",
                );
            } else if eval_run.tokens.is_some_and(|tokens| tokens != stated) {
                sink.note_quirk(
                    "`tokens` differ between benchmark.json and timing.json: timing.json counts",
                );
            }
        }
        let summary = &benchmark.run_summary[configuration];
        for measure in SUMMARY_MEASURES {
            let (mean, spread) = self.mean_and_deviation(measure.of);
            let is_stated = |key: &str| to_number(&summary[measure.name][key]);
            let slack = StatedFigure::max_rounding(MEAN_DECIMALS) + self.rounding_slack(measure);
            if let Some(stated) = is_stated("mean") {
                sink.add_published_figure(
                    run,
                    measure.name,
                    stated,
                    measure.unit,
                    mean,
                    Some(slack),
                );
            }
            if let Some(stated) = is_stated("stddev") {
                let name = format!("{}/stddev", measure.name);
                sink.add_published_figure(
                    run,
                    &name,
                    stated,
                    measure.unit,
                    spread,
                    Some(2.0 * slack),
                );
            }
        }
    }

    /// Returns the mean and the standard deviation over runs; of one run the deviation is 0. Both are `None` if a run has no value.
    fn mean_and_deviation(&self, of: fn(&EvalRun) -> Option<f64>) -> (Option<f64>, Option<f64>) {
        let mut moments = RunningMean::default();
        for eval_run in &self.runs {
            let Some(value) = of(eval_run) else {
                return (None, None);
            };
            moments.add(value);
        }
        let deviation = moments
            .standard_error()
            .map(|error| error * (moments.n() as f64).sqrt());
        (
            moments.mean(),
            deviation.or_else(|| (moments.n() == 1).then_some(0.0)),
        )
    }

    /// Returns how far the mean may be off because the averaged values were rounded.
    fn rounding_slack(&self, measure: &SummaryMeasure) -> f64 {
        if measure.name != SUMMARY_MEASURES[0].name || self.runs.is_empty() {
            return 0.0;
        }
        self.runs
            .iter()
            .map(EvalRun::rounding_error)
            .fold(0.0, f64::max)
    }
}

/// A measure that the summary has for each configuration.
struct SummaryMeasure {
    name: &'static str,
    unit: Unit,
    of: fn(&EvalRun) -> Option<f64>,
}

const SUMMARY_MEASURES: &[SummaryMeasure] = &[
    SummaryMeasure {
        name: "pass_rate",
        unit: Unit::Fraction,
        of: EvalRun::pass_rate,
    },
    SummaryMeasure {
        name: "time_seconds",
        unit: Unit::Seconds,
        of: |run| run.total_seconds,
    },
    SummaryMeasure {
        name: "tokens",
        unit: Unit::Tokens,
        of: |run| run.tokens.map(|tokens| tokens as f64),
    },
];

/// Returns the approach's name. The skill changes between iterations, so the name includes the iteration from the second on.
fn approach_name(configuration: &str, iteration: &str) -> String {
    match iteration
        .strip_prefix("iteration-")
        .and_then(|number| number.parse::<u32>().ok())
    {
        Some(number) if number > 1 => format!("{configuration}, iteration {number}"),
        _ => configuration.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_iterations_are_other_approaches() {
        assert_eq!(approach_name("with_skill", "iteration-1"), "with_skill");
        assert_eq!(
            approach_name("with_skill", "iteration-3"),
            "with_skill, iteration 3"
        );
        assert_eq!(approach_name("with_skill", "try"), "with_skill");
    }

    #[test]
    fn a_rounded_rate_explains_so_much_and_a_wrong_one_nothing() {
        let run = |rate: f64| {
            let expectations = (0..13)
                .map(|index| json!({"text": format!("e{index}"), "passed": index > 0}))
                .collect::<Vec<_>>();
            let grading = json!({"expectations": expectations, "summary": {"pass_rate": rate}});
            let grading: SkillGrading = serde_json::from_value(grading).expect("a grading");
            EvalRun::from_grading("eval-0".to_owned(), 1, None, &grading, None, None)
                .rounding_error()
        };
        assert!((run(0.92) - (12.0_f64 / 13.0 - 0.92)).abs() < 1e-12);
        assert!(run(0.9) < 1e-12);
    }
}
