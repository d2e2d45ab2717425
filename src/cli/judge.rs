//! `judge`: judges stored runs again, several in parallel, and compares judges with people, with each other and with themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;

use crate::domain::{Evaluator, Filter, Run, escape_invisible};
use crate::process::StopSignal;
use crate::render::json::{
    AgreementAnswer, AnswerSchema, JudgeAnswer, NextAnswer, ProbeAnswer, answer_schema,
};
use crate::render::{judging, labelling};
use crate::results::{Store, StoreError};
use crate::run::SuiteEvaluation;
use crate::run::judge::{JudgementContext, JudgementState, KeptWork, NewJudgement, UnfitReason};
use crate::suite::Suite;
use crate::views::{
    JudgeReport, JudgedRun, ProbedRun, SkippedRun, criterion_flips_in_run, next_labels,
    probe_report,
};
use crate::warehouse::{Progress, Warehouse};

use super::arms::{ArmFactory, JudgeOptions};
use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::execute_plan::{self, RunFolders};
use super::failure::CommandFailure;
use super::judge_agreement::{compare_judges, compare_with_labels, compare_with_people};
use super::judge_imported::{ImportedRuns, suite_to_write};
use super::options::{EXIT_CODES, Selection};
use super::progress::ProgressReporter;
use super::settings::Settings;
use super::{clock, exit_code, labels, output, policy, selection};

/// Re-judge stored runs, or measure judge agreement
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option that is given or not"
)]
#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct JudgeArguments {
    /// Run ids, or at least their first four characters; `last` is the newest run
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Configured agent that judges [default: the configuration's `judge`]; with --agreement or --against, a judge of the stored runs
    #[arg(long = "judge", value_name = "AGENT", help_heading = "Judge")]
    pub agent: Option<String>,
    /// Model of the judge [default: the configuration's]
    #[arg(long = "judge-model", value_name = "NAME", help_heading = "Judge")]
    pub model_of_agent: Option<String>,
    /// Number of votes per question; the majority decides
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=99), help_heading = "Judge")]
    pub votes: Option<u64>,
    /// Fail the criteria of an unreadable reply instead of leaving them undecided
    #[arg(long = "strict-judge", help_heading = "Judge")]
    pub is_strict: bool,
    /// Runs to judge in parallel [default: 1]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with_all = ["agreement", "against"], help_heading = "Judge")]
    pub jobs: Option<u32>,
    /// Only undecided criteria; asks again about all criteria of a run if another judge decided the rest
    #[arg(long, help_heading = "What to judge")]
    pub retry: bool,
    /// List the runs that would be judged, and ask no judge
    #[arg(long, help_heading = "What to judge")]
    pub dry_run: bool,
    /// Compare the judge with people: by their imported labels, or by a CSV file with run, item, label and, for several people, rater
    #[arg(long, value_name = "LABELS", num_args = 0..=1, conflicts_with_all = ["retry", "dry_run", "probe", "against", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    #[expect(clippy::option_option, reason = "an option whose value may be omitted")]
    pub agreement: Option<Option<PathBuf>>,
    /// List about N items to label next, drawn where labels narrow the intervals of judged figures most [default: 50]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "50", value_parser = clap::value_parser!(u64).range(1..=100_000), conflicts_with_all = ["retry", "dry_run", "probe", "agreement", "against", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    pub next: Option<u64>,
    /// Compare the newest judge of the runs with this other judge of the same runs
    #[arg(long, value_name = "JUDGE", conflicts_with_all = ["retry", "dry_run", "probe", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    pub against: Option<String>,
    /// Ask again with criteria in reverse order, and list changed decisions; stored beside the judgement, which stays
    #[arg(long, conflicts_with_all = ["retry", "dry_run"], help_heading = "Trust")]
    pub probe: bool,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for JudgeArguments {
    const NAME: &'static str = "judge";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport judge --suite hello --judge longest-choice --dry-run",
            "which runs would be judged",
        ),
        (
            "evalreport judge last --judge longest-choice --votes 3",
            "the newest run again, by three votes",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[
        ("judge", answer_schema::<JudgeAnswer>),
        ("agreement", answer_schema::<AgreementAnswer>),
        ("next", answer_schema::<NextAnswer>),
        ("probe", answer_schema::<ProbeAnswer>),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Change, |settings| run_command(settings, self))
    }
}

fn run_command(settings: &Settings, arguments: &JudgeArguments) -> Result<u8, CommandFailure> {
    let warehouse = settings.open_warehouse()?;
    output::refuse_unread("what is judged", warehouse.problems())?;
    let mut filter = arguments.selection.to_filter()?;
    let path = arguments.agreement.as_ref().and_then(Option::as_deref);
    let labels = path
        .map(labels::read_file)
        .transpose()?
        .map(|read| read.labels);
    filter.ids.clone_from(&arguments.ids);
    let has_own_selection = arguments.agreement.is_some()
        || arguments.next.is_some()
        || arguments.against.is_some()
        || arguments.retry;
    if filter.is_empty() && !has_own_selection {
        return Err(CommandFailure::new("judge needs a run id or a selection")
            .with_hint("`evalreport list --runs` shows the ids; --retry finds runs with undecided criteria"));
    }
    filter.ids = selection::complete_ids(&warehouse, &filter.ids)?;
    let filter = selection::resolve_filter(&warehouse, filter)?;
    if let Some(count) = arguments.next {
        let report = next_labels(
            &warehouse,
            &filter,
            &policy::configured_policy(settings)?,
            count,
        );
        output::print_answer(
            settings,
            "next",
            &[labelling::next_labels_table(&report)],
            || NextAnswer { report },
        )?;
        return Ok(exit_code::DONE);
    }
    let runs = warehouse.stored_runs(&filter);
    if arguments.agreement.is_some() && path.is_none() {
        return compare_with_labels(settings, &warehouse, &runs);
    }
    let judge = arguments.agent.as_deref();
    match (labels, path, &arguments.against) {
        (Some(labels), Some(path), _) => {
            compare_with_people(settings, judge, path, &labels, &warehouse, &runs)
        }
        (_, _, Some(other)) => compare_judges(settings, judge, other, &warehouse, &runs),
        (_, _, None) => ask_judge(settings, arguments, warehouse, &filter, &runs),
    }
}

const IN_FLIGHT: &str = "another process is writing to it, so nothing was kept";

/// Everything needed to judge the runs of one suite.
type PreparedSuite = Result<(Suite, SuiteEvaluation), Unprepared>;

/// Why no run of a suite can be judged.
enum Unprepared {
    NoSuite(String),
    NothingJudged,
}

impl Unprepared {
    fn reason(&self) -> &str {
        match self {
            Self::NoSuite(reason) => reason,
            Self::NothingJudged => "the suite has no acceptance criteria",
        }
    }
}

/// Asks a judge to judge again, or to judge in two orders.
fn ask_judge(
    settings: &Settings,
    arguments: &JudgeArguments,
    mut warehouse: Warehouse,
    filter: &Filter,
    runs: &[Arc<Run>],
) -> Result<u8, CommandFailure> {
    let place = RunFolders::new(settings, None)?;
    let maker = ArmFactory {
        config: &settings.config,
        root: &place.root,
        environment: &place.environment,
        now: clock::now(),
    };
    let jurors = JudgeOptions {
        agent: arguments.agent.clone(),
        model: arguments.model_of_agent.clone(),
        votes: arguments.votes,
        is_strict: arguments.is_strict,
    };
    if jurors.agent.is_none() && settings.config.judge.is_none() {
        return Err(CommandFailure::new("no judge is named").with_hint(
            "name an agent with --judge, or as `judge: {agent: ID}` in evalreport.yaml",
        ));
    }
    let mut suites: BTreeMap<String, PreparedSuite> = BTreeMap::new();
    for run in runs {
        if !suites.contains_key(&run.suite) {
            suites.insert(
                run.suite.clone(),
                prepare_suite(&maker, &run.suite, &jurors)?,
            );
        }
    }
    let stop = StopSignal::new();
    let over = Arc::new(AtomicBool::new(false));
    execute_plan::listen_for_interrupt(&stop, &over)?;
    let imported = ImportedRuns::from_selection(&warehouse, filter);
    let asked = JudgingSetup {
        settings,
        arguments,
        imported: &imported,
        stop: &stop,
        is_searching: arguments.retry && filter.ids.is_empty(),
    };
    let jobs = arguments
        .jobs
        .and_then(|jobs| usize::try_from(jobs).ok())
        .unwrap_or(1);
    let came = ProgressReporter::new(settings.interactive).run_with_progress(|progress| {
        (progress.begin)("judging", runs.len() as u64);
        let came = asked.judge_all(runs, &suites, jobs, progress);
        (progress.end)();
        came
    });
    over.store(true, Ordering::SeqCst);
    let mut report = JudgeReport {
        is_dry: arguments.dry_run,
        ..JudgeReport::default()
    };
    let (mut probed, mut is_lacking) = (Vec::new(), false);
    for came in came? {
        match came {
            JudgingResult::Judged(runs) => report.runs.extend(runs),
            JudgingResult::Probed(run) => probed.push(run),
            JudgingResult::Skipped(run) => report.skipped.push(run),
            JudgingResult::Unstored(run) => {
                is_lacking = true;
                report.skipped.push(run);
            }
            JudgingResult::Nothing => {}
        }
    }
    is_lacking |= !report.is_dry && report.runs.iter().any(|run| run.not_evaluated.is_some());
    is_lacking |= probed.iter().any(|run| run.not_evaluated.is_some());
    let code = if stop.is_stopped() {
        output::print_message(settings, "stopped; finished judgements are kept");
        exit_code::INTERRUPTED
    } else if is_lacking {
        exit_code::NEGATIVE
    } else {
        exit_code::DONE
    };
    if arguments.probe {
        let report = probe_report(probed, report.skipped);
        output::print_answer_by_first_table(
            settings,
            "probe",
            judging::probe_tables(&report),
            || ProbeAnswer { report },
        )?;
        return Ok(code);
    }
    output::print_answer_by_first_table(
        settings,
        "judge",
        judging::report_tables(&report),
        || JudgeAnswer { report },
    )?;
    settings.close_warehouse(&mut warehouse)?;
    Ok(code)
}

/// Loads a suite and its judged evaluators. Fails if the judge or the suite's file is invalid. If the suite is missing or has nothing to
/// judge, only its own runs cannot be judged.
fn prepare_suite(
    maker: &ArmFactory<'_>,
    name: &str,
    jurors: &JudgeOptions,
) -> Result<PreparedSuite, CommandFailure> {
    let suite = match maker.find_suite(name) {
        Ok(suite) => suite,
        // A missing suite may be gone or belong to another project. An invalid suite must be corrected.
        Err(failure) if failure.details.is_empty() => {
            let name = escape_invisible(name);
            let reason = format!("there is no suite `{name}` with acceptance criteria");
            return Ok(Err(Unprepared::NoSuite(reason)));
        }
        Err(failure) => return Err(failure),
    };
    let evaluation = maker.plan_evaluation(&suite, jurors)?.only_judged();
    if evaluation.is_empty() {
        return Ok(Err(Unprepared::NothingJudged));
    }
    Ok(Ok((suite, evaluation)))
}

/// Everything that all runs share while they are judged.
struct JudgingSetup<'a> {
    settings: &'a Settings,
    arguments: &'a JudgeArguments,
    imported: &'a ImportedRuns<'a>,
    stop: &'a StopSignal,
    /// Whether the user searches for open work, so that runs without any are not listed.
    is_searching: bool,
}

/// Result of one run.
enum JudgingResult {
    /// One line per evaluator, with its judgement or, in a dry run, its plan.
    Judged(Vec<JudgedRun>),
    Probed(ProbedRun),
    Skipped(SkippedRun),
    /// The run was judged, but nothing was stored: another process holds the run.
    Unstored(SkippedRun),
    /// Nothing to report, or stopped.
    Nothing,
}

impl JudgingSetup<'_> {
    /// Judges up to `jobs` runs in parallel. The results are in the order of the runs, however long each took.
    ///
    /// A failing judge affects only its own run. A store that cannot be written ends all runs, because nothing more could be kept.
    fn judge_all(
        &self,
        runs: &[Arc<Run>],
        suites: &BTreeMap<String, PreparedSuite>,
        jobs: usize,
        progress: &Progress<'_>,
    ) -> Result<Vec<JudgingResult>, CommandFailure> {
        let next = AtomicUsize::new(0);
        let came: Mutex<BTreeMap<usize, Result<JudgingResult, CommandFailure>>> = Mutex::default();
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(run) = runs.get(place).filter(|_| !self.stop.is_stopped()) else {
                    break;
                };
                let one = self.judge_one(run, &suites[&run.suite]);
                if one.is_err() {
                    self.stop.stop();
                }
                came.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(place, one);
                (progress.advance)(1);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs.clamp(1, runs.len().max(1)) {
                // Fewer threads than wanted are enough.
                if std::thread::Builder::new()
                    .spawn_scoped(scope, work)
                    .is_err()
                {
                    break;
                }
            }
            work();
        });
        came.into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .into_values()
            .collect()
    }

    fn judge_one(
        &self,
        run: &Arc<Run>,
        prepared: &PreparedSuite,
    ) -> Result<JudgingResult, CommandFailure> {
        let store = self.settings.store();
        let is_imported = !store.has_run(&run.id)?;
        if let Some(reason) = if is_imported {
            self.stored_elsewhere(run, &store)?
        } else {
            None
        } {
            return Ok(self.skip_unless_searching(run, &reason));
        }
        let of_answers;
        let (suite, evaluation) = match prepared {
            Ok((suite, _)) if is_imported && suite.acceptance_criteria.is_empty() => {
                return Ok(self.skip_unless_searching(
                    run,
                    "its suite has no `acceptance_criteria` for its answers to be judged by",
                ));
            }
            Ok((suite, evaluation)) if is_imported => {
                of_answers = evaluation.clone().answers_only();
                (suite, &of_answers)
            }
            Ok((suite, evaluation)) => (suite, evaluation),
            Err(Unprepared::NoSuite(reason)) if is_imported => {
                return Ok(
                    self.skip_unless_searching(run, &format!("{reason}; {}", suite_to_write(run)))
                );
            }
            Err(unprepared) => return Ok(self.skip_unless_searching(run, unprepared.reason())),
        };
        if evaluation.is_empty() {
            return Ok(self.skip_unless_searching(run, Unprepared::NothingJudged.reason()));
        }
        if !run.status.is_counted() {
            return Ok(skip_run(run, "an outage or an interrupt ended it"));
        }
        let bench = JudgementContext {
            store: &store,
            suite,
            evaluation,
            stop: self.stop,
        };
        if self.arguments.retry && !bench.is_open(&run.id)? {
            return Ok(self.skip_unless_searching(run, "everything is decided"));
        }
        let kept = if is_imported {
            self.imported.read_answers(run)
        } else {
            KeptWork::find_results(&store, run, suite)
        };
        let kept = match kept {
            Ok(kept) => kept,
            Err(UnfitReason::Lacking(reason)) if is_imported => {
                return Ok(self.skip_unless_searching(run, &reason));
            }
            Err(UnfitReason::Lacking(reason)) => return Ok(skip_run(run, &reason)),
            Err(UnfitReason::Unread(reason)) => {
                return Ok(JudgingResult::Unstored(skipped_run(run, &reason)));
            }
        };
        if self.arguments.dry_run {
            let plan = |evaluator| {
                Ok(planned_judgement(
                    run,
                    evaluator,
                    JudgementState::from_newest(&store.read_judgements(&run.id, evaluator.name())?),
                    evaluation,
                ))
            };
            return Ok(JudgingResult::Judged(
                evaluation
                    .evaluators()
                    .map(plan)
                    .collect::<Result<_, StoreError>>()?,
            ));
        }
        if self.arguments.probe {
            if suite.acceptance_criteria.len() < 2
                && suite
                    .acceptance_criteria
                    .iter()
                    .all(|criterion| criterion.children.len() < 2)
            {
                return Ok(skip_run(
                    run,
                    "its suite has no two criteria to put into another order",
                ));
            }
            return match bench.probe_order(&run.id, &kept) {
                Ok(probe) => Ok(probe.map_or(JudgingResult::Nothing, |(given, reversed)| {
                    JudgingResult::Probed(probed_run(run, &given, &reversed))
                })),
                Err(StoreError::InFlight { .. }) => {
                    Ok(JudgingResult::Unstored(skipped_run(run, IN_FLIGHT)))
                }
                Err(error) => Err(error.into()),
            };
        }
        match bench.judge_run(&run.id, &kept, self.arguments.retry) {
            Ok(Some(judgements)) => Ok(JudgingResult::Judged(
                judgements
                    .iter()
                    .map(|judgement| judged_run(run, judgement))
                    .collect(),
            )),
            Ok(None) => Ok(JudgingResult::Nothing),
            Err(StoreError::InFlight { .. }) => {
                Ok(JudgingResult::Unstored(skipped_run(run, IN_FLIGHT)))
            }
            Err(error) => Err(CommandFailure::from(error)
                .with_hint("finished judgements are kept; `judge --retry` asks about the rest")),
        }
    }

    /// Says where a run is stored, if its record is not in the store to write to. `None` if the run's judgements can be stored here.
    fn stored_elsewhere(&self, run: &Run, store: &Store) -> Result<Option<String>, CommandFailure> {
        let own = self.settings.stores().store_of(&run.id)?;
        let only_read = own.map(|other| {
            format!(
                "it is in {}, which is read-only",
                display_path(other.root())
            )
        });
        Ok(only_read.or_else(|| self.imported.stored_elsewhere(&run.id, store)))
    }

    fn skip_unless_searching(&self, run: &Run, reason: &str) -> JudgingResult {
        if self.is_searching {
            JudgingResult::Nothing
        } else {
            skip_run(run, reason)
        }
    }
}

fn skip_run(run: &Run, reason: &str) -> JudgingResult {
    JudgingResult::Skipped(skipped_run(run, reason))
}

fn skipped_run(run: &Run, reason: &str) -> SkippedRun {
    SkippedRun {
        run: run.id.to_string(),
        suite: run.suite.clone(),
        reason: reason.to_owned(),
    }
}

fn planned_judgement(
    run: &Run,
    evaluator: Evaluator,
    before: Option<JudgementState>,
    evaluation: &SuiteEvaluation,
) -> JudgedRun {
    let jury = evaluation.jury.as_ref();
    JudgedRun {
        run: run.id.to_string(),
        suite: run.suite.clone(),
        evaluator: evaluator.name().to_owned(),
        judge: jury.map(|jury| {
            jury.agent.model.as_ref().map_or_else(
                || jury.agent.id.clone(),
                |model| format!("{}:{model}", jury.agent.id),
            )
        }),
        judge_before: before.as_ref().and_then(|before| before.judge.clone()),
        before: before.and_then(|before| before.score),
        after: None,
        not_evaluated: None,
        passed: 0,
        decided: 0,
        criteria: 0,
        kept: 0,
        revision: None,
        cost_usd: None,
        flips: Vec::new(),
    }
}

fn judged_run(run: &Run, judgement: &NewJudgement) -> JudgedRun {
    let (before, after) = (judgement.before.as_ref(), &judgement.after);
    let met = after.criteria_met();
    let open = met.iter().filter(|(_, met)| met.is_none()).count();
    let not_evaluated = after
        .not_evaluated
        .clone()
        .or_else(|| (open > 0).then(|| format!("{open} of {} criteria", met.len())));
    JudgedRun {
        run: run.id.to_string(),
        suite: run.suite.clone(),
        evaluator: judgement.evaluator.name().to_owned(),
        judge: after.judge.clone(),
        judge_before: before.and_then(|before| before.judge.clone()),
        before: before.and_then(|before| before.score),
        after: after.score,
        not_evaluated: not_evaluated.map(|reason| escape_invisible(&reason)),
        passed: met.iter().filter(|(_, met)| *met == Some(true)).count() as u64,
        decided: (met.len() - open) as u64,
        criteria: met.len() as u64,
        kept: judgement.kept as u64,
        revision: judgement.revision,
        cost_usd: judgement.cost_usd,
        flips: before
            .map(|before| criterion_flips_in_run(run.id.as_str(), &before.criteria_met(), &met))
            .unwrap_or_default(),
    }
}

fn probed_run(run: &Run, given: &JudgementState, reversed: &JudgementState) -> ProbedRun {
    let (in_order, in_reverse) = (given.criteria_met(), reversed.criteria_met());
    let decided: BTreeSet<&str> = in_order
        .iter()
        .filter(|(_, met)| met.is_some())
        .map(|(item, _)| item.as_str())
        .collect();
    ProbedRun {
        run: run.id.to_string(),
        suite: run.suite.clone(),
        judge: reversed.judge.clone().or_else(|| given.judge.clone()),
        given: given.score,
        reversed: reversed.score,
        not_evaluated: given
            .not_evaluated
            .clone()
            .or_else(|| reversed.not_evaluated.clone())
            .map(|reason| escape_invisible(&reason)),
        n: in_reverse
            .iter()
            .filter(|(item, met)| met.is_some() && decided.contains(item.as_str()))
            .count() as u64,
        flips: criterion_flips_in_run(run.id.as_str(), &in_order, &in_reverse),
    }
}
