//! Reports what a batch did not measure or reach: the reasons in words, and the exit code.

use crate::domain::{Evaluator, ItemStatus, Run, RunStatus, escape_invisible};
use crate::render::{format, reasons as words};
use crate::results::{Batch, PlannedArm, ScoreLine, Store};
use crate::views::{OutcomeReason, Reason, count_reasons};

use super::settings::Settings;
use super::{exit_code, output};

/// Maximum number of failure reasons printed after the runs. The page of a run has more.
const MAX_REASONS: usize = 3;
/// Maximum length of a message in a printed line, in characters.
const MAX_REASON_CHARACTERS: usize = 400;

/// One arm of a batch, with its runs.
struct BatchArm<'a> {
    planned: &'a PlannedArm,
    /// Number of questions per run; `None` for code.
    questions: Option<u64>,
    records: Vec<&'a Run>,
}

/// Prints why items did not pass, what was not measured, and which rates are too low. Returns the exit code.
///
/// `records` are the committed runs of the batch; `questions` is the number of questions per run, by arm.
pub(super) fn report_batch(
    settings: &Settings,
    batch: &Batch,
    records: &[Run],
    questions: &[Option<u64>],
    fail_under: Option<f64>,
) -> u8 {
    let store = settings.store();
    let mut code = exit_code::DONE;
    let arms: Vec<BatchArm<'_>> = group_by_arm(batch, records, questions);
    for arm in &arms {
        arm.print_reasons(settings, &store);
    }
    for arm in arms.iter().filter(|arm| {
        !arm.records.is_empty() && !arm.records.iter().any(|run| arm.is_measured(run, &store))
    }) {
        output::write_stderr(&format!(
            "nothing was measured of {}: see why above",
            arm.name()
        ));
        code = exit_code::INCONCLUSIVE;
    }
    for arm in &arms {
        if let Some(reason) = arm.undecided_reason(&store) {
            output::write_stderr(&format!(
                "not all was judged of {}: {reason}; `evalreport judge --retry` asks again",
                arm.name()
            ));
            code = exit_code::INCONCLUSIVE;
        }
    }
    if let Some(least) = fail_under {
        for arm in &arms {
            if let Some(why) = arm.result_below(least, &store) {
                output::write_stderr(&format!(
                    "{} {why}, less than --fail-under {least}",
                    arm.name()
                ));
                code = exit_code::NEGATIVE;
            }
        }
    }
    code
}

fn group_by_arm<'a>(
    batch: &'a Batch,
    records: &'a [Run],
    questions: &[Option<u64>],
) -> Vec<BatchArm<'a>> {
    let of = |(place, planned): (usize, &'a PlannedArm)| {
        let runs = batch.runs.iter().filter(|run| run.arm == place);
        let records = runs
            .filter_map(|run| records.iter().find(|record| record.id == run.id))
            .collect();
        BatchArm {
            planned,
            questions: questions.get(place).copied().flatten(),
            records,
        }
    };
    batch.arms.iter().enumerate().map(of).collect()
}

impl BatchArm<'_> {
    fn name(&self) -> String {
        escape_invisible(&format!(
            "{} {}/{}",
            self.planned.suite, self.planned.approach, self.planned.model
        ))
    }

    /// Prints why items of the arm did not pass, and which errors its runs had.
    fn print_reasons(&self, settings: &Settings, store: &Store) {
        let mut rows = Vec::new();
        for record in &self.records {
            rows.extend(
                store
                    .read_detailed_items(&record.id)
                    .ok()
                    .flatten()
                    .unwrap_or_default(),
            );
        }
        let is_question = self.questions.is_some();
        let all = rows.len();
        let endings = rows.iter().map(|(outcome, details)| OutcomeReason {
            kind: outcome.kind.name(),
            item: &outcome.item,
            status: outcome.status.name(),
            reason: details.reason.as_deref(),
        });
        let found: Vec<Reason> = count_reasons(endings);
        // A wrong answer needs no explanation, and reasons of failed tests are on the run's page.
        let told: Vec<&Reason> = found
            .iter()
            .filter(|reason| {
                is_question && !matches!(reason.reason.as_str(), "wrong_choice" | "wrong_answer")
            })
            .collect();
        if let Some(first) = told.first() {
            let parts: Vec<String> = told
                .iter()
                .take(MAX_REASONS)
                .map(|reason| cut_reason(&words::counted_reason(reason)))
                .collect();
            let more = if told.len() > MAX_REASONS {
                "; and others"
            } else {
                ""
            };
            output::print_message(
                settings,
                &format!(
                    "note: {}, {}: {}{more} (such as {})",
                    self.name(),
                    output::format_count(all, "outcome"),
                    parts.join("; "),
                    escape_invisible(&first.example)
                ),
            );
        }
        let endings = self
            .records
            .iter()
            .filter(|_| !is_question)
            .map(|record| OutcomeReason {
                kind: "run",
                item: record.id.as_str(),
                status: if record.status == RunStatus::Completed {
                    "trouble"
                } else {
                    record.status.name()
                },
                reason: record.error.as_deref(),
            });
        for reason in count_reasons(endings).iter().take(MAX_REASONS) {
            let runs = format!(
                "{} of {} runs",
                format::format_integer(reason.count),
                format::format_integer(self.records.len() as u64)
            );
            let status = &reason.status;
            output::print_message(
                settings,
                &format!(
                    "note: {}, {runs}, {status}: {} (`evalreport show {}`)",
                    self.name(),
                    cut_reason(&reason.reason),
                    reason.example
                ),
            );
        }
    }

    /// Says whether a run measured anything about its arm.
    fn is_measured(&self, record: &Run, store: &Store) -> bool {
        if record.status == RunStatus::Partial {
            return true;
        }
        if !record.status.is_counted() || record.measured_nothing(None) {
            return false;
        }
        if self.questions.is_some() {
            return true;
        }
        let is_scored = || {
            read_scores(record, store)
                .iter()
                .any(|line| line.score.value.is_some())
        };
        let items = || {
            store
                .read_detailed_items(&record.id)
                .ok()
                .flatten()
                .unwrap_or_default()
        };
        let is_tested = record.shared_tests_total.is_some_and(|total| total > 0);
        // Of several criteria, the judge may have decided some.
        is_tested
            || is_scored()
            || items()
                .iter()
                .any(|(outcome, _)| matches!(outcome.status, ItemStatus::Pass | ItemStatus::Fail))
    }

    /// Returns why a requested judge left something undecided in a finished run.
    fn undecided_reason(&self, store: &Store) -> Option<String> {
        let counted = self
            .records
            .iter()
            .filter(|record| record.status.is_counted());
        counted
            .flat_map(|record| {
                Evaluator::ALL
                    .into_iter()
                    .map(move |evaluator| (record, evaluator))
            })
            .find_map(|(record, evaluator)| {
                let judgements = evaluator
                    .is_judged()
                    .then(|| store.read_judgements(&record.id, evaluator.name()).ok())??;
                let newest = judgements
                    .latest_score()
                    .filter(|line| line.score.value.is_none())?;
                Some(cut_reason(
                    newest
                        .not_evaluated
                        .as_deref()
                        .unwrap_or("it gave no reason"),
                ))
            })
    }

    /// Returns the arm's result if its mean pass rate over the runs is below `least`, in percent.
    fn result_below(&self, least: f64, store: &Store) -> Option<String> {
        if self.records.is_empty() {
            return Some("has no run".to_owned());
        }
        let rates: Vec<f64> = self
            .records
            .iter()
            .map(|record| self.passed_share(record, store))
            .collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64 * 100.0;
        let runs = output::format_count(rates.len(), "run");
        (mean < least).then(|| match self.records.as_slice() {
            [only] => match only.shared_tests_passed.zip(only.shared_tests_total) {
                Some((passed, total)) if total > 0 => {
                    let asked = self
                        .questions
                        .map_or(total, |questions| questions.max(total));
                    format!(
                        "passed {}% ({passed} of {asked})",
                        format::fixed_decimals(mean, 1)
                    )
                }
                Some(_) | None => format!("passed {}% in {runs}", format::fixed_decimals(mean, 1)),
            },
            _ => format!(
                "passed {}% in the mean of {runs}",
                format::fixed_decimals(mean, 1)
            ),
        })
    }

    /// Returns the share that passed, from 0 to 1.
    fn passed_share(&self, record: &Run, store: &Store) -> f64 {
        // If nothing was tested, use the judge's score for the criteria.
        let judged = || {
            Some(
                store
                    .read_judgements(&record.id, Evaluator::RequirementFulfillment.name())
                    .ok()?
                    .latest_score()?
                    .score
                    .value?
                    / 100.0,
            )
        };
        let counts = record.shared_tests_passed.zip(record.shared_tests_total);
        if let (None, Some(share)) = (counts, judged()) {
            return share;
        }
        let (passed, total) = counts.unwrap_or((0, 0));
        // Unanswered questions count as not passed. If nothing was asked, the share is 0.
        let asked = total.max(self.questions.unwrap_or(1)).max(1);
        passed as f64 / asked as f64
    }
}

fn read_scores(record: &Run, store: &Store) -> Vec<ScoreLine> {
    ScoreLine::read_all(&store.scores_path(&record.id), &mut Vec::new())
}

fn cut_reason(text: &str) -> String {
    let text = escape_invisible(text);
    match text.char_indices().nth(MAX_REASON_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
