//! Runs of one configuration: their graded expectations, and the figures that the workspace publishes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::{ItemDetails, ItemKind, ItemStatus, RunStatus, StatedFigure, Unit};

use super::super::super::cell::Refused;
use super::super::super::rows::Stop;
use super::super::super::source::hex_digest;
use super::super::json::{amount, count, filled, number};
use super::super::measured::MOST_TOOLS;
use super::super::moments::Moments;
use super::super::sink::{Handle, Moment, Sink};
use super::super::times::{Span, moment};
use super::wire::{Benchmark, BenchmarkRun, Expectation, Grading, Metadata, Timing};

/// Evaluators: of a single expectation, and of all expectations of an eval.
const GRADER: &str = "grader";
const EVALS: &str = "evals";
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
    span: Span,
    graded: Figures,
    benchmarked: Figures,
}

/// Published figures of one run of an eval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    passed: Option<u64>,
    total: Option<u64>,
    rate: Option<f64>,
    tokens: Option<u64>,
}

impl Figures {
    fn of(value: &Value) -> Self {
        let of = |key: &str| value.get(key).and_then(count);
        Self {
            passed: of("passed"),
            total: of("total"),
            rate: value.get("pass_rate").and_then(number),
            tokens: of("tokens"),
        }
    }

    fn counts(&self) -> (Option<u64>, Option<u64>) {
        (self.passed, self.total)
    }
}

impl EvalRun {
    pub fn graded(
        eval: String,
        number: u32,
        prompt: Option<String>,
        grading: &Grading,
        timing: Option<Timing>,
        benchmarked: Option<&BenchmarkRun>,
    ) -> Self {
        let timing = timing.unwrap_or_default();
        let mut span = Span::default();
        span.take(&timing.executor_start, &timing.executor_end);
        let calls = grading.execution_metrics["tool_calls"]
            .as_object()
            .into_iter()
            .flatten();
        let calls = calls.filter_map(|(name, calls)| {
            Some((name.clone(), count(calls).filter(|calls| *calls > 0)?))
        });
        Self {
            eval,
            number,
            prompt,
            expectations: grading.all().into_iter().cloned().collect(),
            seconds: timing
                .executor_seconds()
                .or_else(|| grading.executor_seconds())
                .or_else(|| grading.total_seconds()),
            total_seconds: grading.total_seconds().or_else(|| timing.seconds()),
            tokens: count(&timing.total_tokens).filter(|tokens| *tokens > 0),
            characters: grading.output_chars(),
            steps: count(&grading.execution_metrics["total_steps"]),
            tools: calls.take(MOST_TOOLS).collect(),
            span,
            graded: Figures::of(&grading.summary),
            benchmarked: benchmarked
                .map(|run| Figures::of(&run.result))
                .unwrap_or_default(),
        }
    }

    /// Creates a run that only `benchmark.json` describes.
    pub fn benchmarked(
        eval: String,
        number: u32,
        prompt: Option<String>,
        expectations: &[&Expectation],
        result: &Value,
    ) -> Self {
        let seconds = result
            .get("time_seconds")
            .and_then(amount)
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
            benchmarked: Figures::of(result),
            ..Self::default()
        }
    }

    /// Returns the numbers of passed and of graded expectations.
    fn passed(&self) -> (u64, u64) {
        let graded = self
            .expectations
            .iter()
            .filter_map(|expectation| expectation.passed.as_bool());
        graded.fold((0, 0), |(passed, total), is_passed| {
            (passed + u64::from(is_passed), total + 1)
        })
    }

    fn rate(&self) -> Option<f64> {
        let (passed, total) = self.passed();
        (total > 0).then(|| passed as f64 / total as f64)
    }

    /// Returns how far the published rate is from the recomputed one, or 0 if the difference is too large to be rounding.
    fn rounded_by(&self) -> f64 {
        let stated = self.benchmarked.rate.or(self.graded.rate);
        let distance = stated
            .zip(self.rate())
            .map_or(0.0, |(stated, rate)| (stated - rate).abs());
        if distance <= StatedFigure::half_of_last(RATE_DECIMALS) + 1e-9 {
            distance
        } else {
            0.0
        }
    }

    fn take(&self, run: Handle, attempt: u32, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let place = format!("{}, run {}", self.eval, self.number);
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for (index, expectation) in self.expectations.iter().enumerate() {
            let Some(asked) = filled(&expectation.text) else {
                sink.refuse(
                    &format!("{place}, expectation {}", index + 1),
                    Refused::because("the expectation has no text"),
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
            let mut outcome = sink.outcome(run, &format!("{}: {asked}{again}", self.eval), status);
            GRADER.clone_into(&mut outcome.evaluator);
            outcome.cluster = Some(self.eval.clone());
            outcome.attempt = attempt;
            let prompt = self.prompt.as_deref().unwrap_or_default().trim();
            let details = ItemDetails {
                reason: filled(&expectation.evidence),
                item_hash: Some(
                    hex_digest(&[prompt.as_bytes(), asked.as_bytes()], true)[..32].to_owned(),
                ),
                question: Some(asked.to_owned()),
                ..ItemDetails::default()
            };
            sink.item(run, &place, outcome, details)?;
        }
        let (passed, total) = self.passed();
        let status = match total {
            0 => ItemStatus::NotEvaluated,
            total if passed == total => ItemStatus::Pass,
            _ => ItemStatus::Fail,
        };
        let mut outcome = sink.outcome(run, &self.eval, status);
        EVALS.clone_into(&mut outcome.evaluator);
        outcome.kind = ItemKind::Check;
        outcome.cluster = Some(self.eval.clone());
        outcome.attempt = attempt;
        outcome.score = self.rate();
        outcome.duration_seconds = self.seconds;
        let details = ItemDetails {
            question: self.prompt.clone(),
            steps: self.steps,
            tools: self.tools.clone(),
            ..ItemDetails::default()
        };
        sink.item(run, &place, outcome, details)
    }
}

/// The runs of one configuration.
#[derive(Default)]
pub(super) struct Arm {
    pub runs: Vec<EvalRun>,
    /// Number of unreadable gradings without a replacement in `benchmark.json`.
    pub damaged: u64,
}

impl Arm {
    /// Passes the arm and its published figures to the sink.
    pub fn tell(
        mut self,
        skill: &str,
        iteration: &str,
        configuration: &str,
        benchmark: &Benchmark,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stop> {
        let nothing = Metadata::default();
        let metadata = benchmark.metadata.0.as_ref().unwrap_or(&nothing);
        if metadata.has_placeholder() && !sink.is_model_given() {
            sink.quirk("the model is a placeholder, so it is unknown: name it with --set");
        }
        let approach = approach(configuration, iteration);
        let model = metadata.model().unwrap_or_default();
        let Some(run) = sink.begin_run_of_bytes(
            &[skill, iteration, configuration],
            [skill, &approach, &model],
            Moment::Unread,
        ) else {
            return Ok(());
        };
        self.runs
            .sort_by(|left, right| (&left.eval, left.number).cmp(&(&right.eval, right.number)));
        let mut attempts: BTreeMap<&str, u32> = BTreeMap::new();
        for eval_run in &self.runs {
            let attempt = attempts.entry(&eval_run.eval).or_default();
            *attempt += 1;
            eval_run.take(run, *attempt, sink)?;
        }
        let most = attempts.values().copied().max().unwrap_or(0);
        let evals = attempts.len();
        self.fill(run, iteration, metadata, sink);
        self.state(run, configuration, benchmark, sink);
        let declared = count(&metadata.runs_per_configuration);
        if let Some(declared) = declared {
            if declared != u64::from(most) {
                sink.quirk(&format!(
                    "the workspace announces {} per eval and configuration, and has {most}",
                    crate::domain::count(declared, "run")
                ));
            }
            sink.stated(
                run,
                "runs_per_configuration",
                declared as f64,
                Unit::Count,
                Some(f64::from(most)),
                None,
            );
        }
        if let Some(declared) = metadata.evals_run.as_array() {
            sink.stated(
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

    fn fill(&self, run: Handle, iteration: &str, metadata: &Metadata, sink: &mut Sink<'_>) {
        let record = sink.run(run);
        let mut span = Span::default();
        for eval_run in &self.runs {
            span.join(eval_run.span);
        }
        span.tell(record);
        record.timestamp = record.timestamp.or_else(|| moment(&metadata.timestamp));
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

    fn state(&self, run: Handle, configuration: &str, benchmark: &Benchmark, sink: &mut Sink<'_>) {
        for eval_run in &self.runs {
            let (passed, total) = eval_run.passed();
            // The grading's own counts, and the benchmark's if they differ.
            let copied = eval_run.benchmarked.counts() == eval_run.graded.counts();
            let benchmarked = (!copied).then_some(("benchmark", eval_run.benchmarked));
            for (file, figures) in std::iter::once(("grading", eval_run.graded)).chain(benchmarked)
            {
                for (name, stated, counted) in [
                    ("passed", figures.passed, passed),
                    ("total", figures.total, total),
                ] {
                    if let Some(stated) = stated {
                        let name = format!("{file}/{name}/{}/{}", eval_run.eval, eval_run.number);
                        sink.stated(
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
            let Figures {
                tokens: Some(stated),
                ..
            } = eval_run.benchmarked
            else {
                continue;
            };
            if stated > 0 && eval_run.characters == Some(stated) && eval_run.tokens != Some(stated)
            {
                sink.quirk(
                    "`tokens` of benchmark.json are characters that the agent wrote, not tokens",
                );
            } else if eval_run.tokens.is_some_and(|tokens| tokens != stated) {
                sink.quirk(
                    "`tokens` differ between benchmark.json and timing.json: timing.json counts",
                );
            }
        }
        let summary = &benchmark.run_summary[configuration];
        for measure in MEASURES {
            let (mean, spread) = self.moments(measure.of);
            let is_stated = |key: &str| number(&summary[measure.name][key]);
            let slack = StatedFigure::half_of_last(MEAN_DECIMALS) + self.slack(measure);
            if let Some(stated) = is_stated("mean") {
                sink.stated(run, measure.name, stated, measure.unit, mean, Some(slack));
            }
            if let Some(stated) = is_stated("stddev") {
                let name = format!("{}/stddev", measure.name);
                sink.stated(run, &name, stated, measure.unit, spread, Some(2.0 * slack));
            }
        }
    }

    /// Returns the mean and the standard deviation over runs; of one run the deviation is 0. Both are `None` if a run has no value.
    fn moments(&self, of: fn(&EvalRun) -> Option<f64>) -> (Option<f64>, Option<f64>) {
        let mut moments = Moments::default();
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
    fn slack(&self, measure: &Measure) -> f64 {
        if measure.name != MEASURES[0].name || self.runs.is_empty() {
            return 0.0;
        }
        self.runs
            .iter()
            .map(EvalRun::rounded_by)
            .fold(0.0, f64::max)
    }
}

/// A measure that the summary has for each configuration.
struct Measure {
    name: &'static str,
    unit: Unit,
    of: fn(&EvalRun) -> Option<f64>,
}

const MEASURES: &[Measure] = &[
    Measure {
        name: "pass_rate",
        unit: Unit::Fraction,
        of: EvalRun::rate,
    },
    Measure {
        name: "time_seconds",
        unit: Unit::Seconds,
        of: |run| run.total_seconds,
    },
    Measure {
        name: "tokens",
        unit: Unit::Tokens,
        of: |run| run.tokens.map(|tokens| tokens as f64),
    },
];

/// Returns the approach's name. The skill changes between iterations, so the name includes the iteration from the second on.
fn approach(configuration: &str, iteration: &str) -> String {
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
        assert_eq!(approach("with_skill", "iteration-1"), "with_skill");
        assert_eq!(
            approach("with_skill", "iteration-3"),
            "with_skill, iteration 3"
        );
        assert_eq!(approach("with_skill", "try"), "with_skill");
    }

    #[test]
    fn a_rounded_rate_explains_so_much_and_a_wrong_one_nothing() {
        let run = |rate: f64| {
            let expectations = (0..13)
                .map(|index| json!({"text": format!("e{index}"), "passed": index > 0}))
                .collect::<Vec<_>>();
            let grading = json!({"expectations": expectations, "summary": {"pass_rate": rate}});
            let grading: Grading = serde_json::from_value(grading).expect("a grading");
            EvalRun::graded("eval-0".to_owned(), 1, None, &grading, None, None).rounded_by()
        };
        assert!((run(0.92) - (12.0_f64 / 13.0 - 0.92)).abs() < 1e-12);
        assert!(run(0.9) < 1e-12);
    }
}
