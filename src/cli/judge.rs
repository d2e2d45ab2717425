//! `judge`: judges stored runs again, several in parallel, and compares judges with people, with each other and with themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Evaluator, Filter, Run, visible};
use crate::process::Stop;
use crate::render::json::{JudgeAnswer, NextAnswer, ProbeAnswer};
use crate::render::{judging, labelling};
use crate::results::{Store, StoreError};
use crate::run::Evaluation;
use crate::run::judge::{Bench, Judgement, Kept, Standing, Unfit};
use crate::suite::Suite;
use crate::views::{
    JudgeReport, JudgedRun, ProbedRun, SkippedRun, decided_otherwise, next_labels, probe_report,
};
use crate::warehouse::{Progress, Warehouse};

use super::arguments::Judge;
use super::arms::{Jurors, Maker};
use super::carry::{self, Place};
use super::failure::Failure;
use super::judge_imported::{Imported, suite_to_write};
use super::progress::Bar;
use super::raters::{against_judge, against_labels, against_people};
use super::settings::Settings;
use super::shown::shown;
use super::{clock, exit_code, labels, output, policy, selection};

pub(super) fn run(settings: &Settings, arguments: &Judge) -> Result<u8, Failure> {
    let warehouse = settings.open()?;
    output::refuse_unread("what is judged", warehouse.problems())?;
    let mut filter = selection::with_model_names(&warehouse, arguments.selection.filter()?);
    let path = arguments.agreement.as_ref().and_then(Option::as_deref);
    let labels = path.map(labels::read).transpose()?.map(|read| read.labels);
    filter.ids.clone_from(&arguments.ids);
    let has_own_selection = arguments.agreement.is_some()
        || arguments.next.is_some()
        || arguments.against.is_some()
        || arguments.retry;
    if filter.is_empty() && !has_own_selection {
        return Err(Failure::new("judge needs a run id or a selection")
            .with_hint("`evalreport list --runs` shows the ids; --retry finds runs with undecided criteria"));
    }
    filter.ids = selection::complete_ids(&warehouse, &filter.ids)?;
    selection::check(&warehouse, &filter)?;
    if let Some(count) = arguments.next {
        let report = next_labels(&warehouse, &filter, &policy::configured(settings)?, count);
        output::answer(settings, "next", &[labelling::next(&report)], || {
            NextAnswer { report }
        })?;
        return Ok(exit_code::DONE);
    }
    let runs = warehouse.stored_runs(&filter);
    if arguments.agreement.is_some() && path.is_none() {
        return against_labels(settings, &warehouse, &runs);
    }
    match (labels, path, &arguments.against) {
        (Some(labels), Some(path), _) => {
            against_people(settings, arguments, path, &labels, &warehouse, &runs)
        }
        (_, _, Some(other)) => against_judge(settings, arguments, other, &warehouse, &runs),
        (_, _, None) => ask(settings, arguments, warehouse, &filter, &runs),
    }
}

const IN_FLIGHT: &str = "another process is writing to it, so nothing was kept";

/// Everything needed to judge the runs of one suite.
type Prepared = Result<(Suite, Evaluation), Unprepared>;

/// Why no run of a suite can be judged.
enum Unprepared {
    NoSuite(String),
    NothingJudged,
}

impl Unprepared {
    fn reason(&self) -> &str {
        match self {
            Self::NoSuite(reason) => reason,
            Self::NothingJudged => "the suite has no criteria to judge",
        }
    }
}

/// Asks a judge to judge again, or to judge in two orders.
fn ask(
    settings: &Settings,
    arguments: &Judge,
    mut warehouse: Warehouse,
    filter: &Filter,
    runs: &[Arc<Run>],
) -> Result<u8, Failure> {
    let place = Place::new(settings, None)?;
    let maker = Maker {
        config: &settings.config,
        root: &place.root,
        environment: &place.environment,
        now: clock::now(),
    };
    let jurors = Jurors {
        agent: arguments.agent.clone(),
        model: arguments.model_of_agent.clone(),
        votes: arguments.votes,
        is_strict: arguments.is_strict,
    };
    if jurors.agent.is_none() && settings.config.judge.is_none() {
        return Err(Failure::new("no judge is named").with_hint(
            "name an agent with --judge, or as `judge: {agent: ID}` in evalreport.yaml",
        ));
    }
    let mut suites: BTreeMap<String, Prepared> = BTreeMap::new();
    for run in runs {
        if !suites.contains_key(&run.suite) {
            suites.insert(run.suite.clone(), prepare(&maker, &run.suite, &jurors)?);
        }
    }
    let stop = Stop::new();
    let over = Arc::new(AtomicBool::new(false));
    carry::listen(&stop, &over)?;
    let imported = Imported::of(&warehouse, filter);
    let asked = Asked {
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
    let came = Bar::new(settings.interactive).watch(|progress| {
        (progress.begin)("judging", runs.len() as u64);
        let came = asked.all(runs, &suites, jobs, progress);
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
            Came::Judged(runs) => report.runs.extend(runs),
            Came::Probed(run) => probed.push(run),
            Came::Skipped(run) => report.skipped.push(run),
            Came::Unstored(run) => {
                is_lacking = true;
                report.skipped.push(run);
            }
            Came::Nothing => {}
        }
    }
    is_lacking |= !report.is_dry && report.runs.iter().any(|run| run.not_evaluated.is_some());
    is_lacking |= probed.iter().any(|run| run.not_evaluated.is_some());
    let code = if stop.is_stopped() {
        output::say(settings, "stopped; finished judgements are kept");
        exit_code::INTERRUPTED
    } else if is_lacking {
        exit_code::NEGATIVE
    } else {
        exit_code::DONE
    };
    if arguments.probe {
        let report = probe_report(probed, report.skipped);
        output::answer_by_first_table(settings, "probe", judging::probe(&report), || {
            ProbeAnswer { report }
        })?;
        return Ok(code);
    }
    output::answer_by_first_table(settings, "judge", judging::report(&report), || {
        JudgeAnswer { report }
    })?;
    settings.keep(&mut warehouse)?;
    Ok(code)
}

/// Loads a suite and its judged evaluators. Fails if the judge or the suite's file is invalid. If the suite is missing or has nothing to
/// judge, only its own runs cannot be judged.
fn prepare(maker: &Maker<'_>, name: &str, jurors: &Jurors) -> Result<Prepared, Failure> {
    let suite = match maker.suite(name) {
        Ok(suite) => suite,
        // A missing suite may be gone or belong to another project. An invalid suite must be corrected.
        Err(failure) if failure.details.is_empty() => {
            return Ok(Err(Unprepared::NoSuite(failure.message)));
        }
        Err(failure) => return Err(failure),
    };
    let evaluation = maker.evaluation(&suite, jurors)?.judged_only();
    if evaluation.is_empty() {
        return Ok(Err(Unprepared::NothingJudged));
    }
    Ok(Ok((suite, evaluation)))
}

/// Everything that all runs share while they are judged.
struct Asked<'a> {
    settings: &'a Settings,
    arguments: &'a Judge,
    imported: &'a Imported<'a>,
    stop: &'a Stop,
    /// Whether the user searches for open work, so that runs without any are not listed.
    is_searching: bool,
}

/// Result of one run.
enum Came {
    /// One line per evaluator, with its judgement or, in a dry run, its plan.
    Judged(Vec<JudgedRun>),
    Probed(ProbedRun),
    Skipped(SkippedRun),
    /// The run was judged, but nothing was stored: another process holds the run.
    Unstored(SkippedRun),
    /// Nothing to report, or stopped.
    Nothing,
}

impl Asked<'_> {
    /// Judges up to `jobs` runs in parallel. The results are in the order of the runs, however long each took.
    ///
    /// A failing judge affects only its own run. A store that cannot be written ends all runs, because nothing more could be kept.
    fn all(
        &self,
        runs: &[Arc<Run>],
        suites: &BTreeMap<String, Prepared>,
        jobs: usize,
        progress: &Progress<'_>,
    ) -> Result<Vec<Came>, Failure> {
        let next = AtomicUsize::new(0);
        let came: Mutex<BTreeMap<usize, Result<Came, Failure>>> = Mutex::default();
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(run) = runs.get(place).filter(|_| !self.stop.is_stopped()) else {
                    break;
                };
                let one = self.one(run, &suites[&run.suite]);
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

    fn one(&self, run: &Arc<Run>, prepared: &Prepared) -> Result<Came, Failure> {
        let store = self.settings.store();
        let is_imported = !store.has(&run.id)?;
        if let Some(reason) = if is_imported {
            self.elsewhere(run, &store)?
        } else {
            None
        } {
            return Ok(self.no_matter(run, &reason));
        }
        let of_answers;
        let (suite, evaluation) = match prepared {
            Ok((suite, _)) if is_imported && suite.acceptance_criteria.is_empty() => {
                return Ok(self.no_matter(
                    run,
                    "its suite has no `acceptance_criteria` for its answers to be judged by",
                ));
            }
            Ok((suite, evaluation)) if is_imported => {
                of_answers = evaluation.clone().of_answers();
                (suite, &of_answers)
            }
            Ok((suite, evaluation)) => (suite, evaluation),
            Err(Unprepared::NoSuite(reason)) if is_imported => {
                return Ok(self.no_matter(run, &format!("{reason}; {}", suite_to_write(run))));
            }
            Err(unprepared) => return Ok(self.no_matter(run, unprepared.reason())),
        };
        if evaluation.is_empty() {
            return Ok(self.no_matter(run, Unprepared::NothingJudged.reason()));
        }
        if !run.status.is_counted() {
            return Ok(skip(run, "an outage or an interrupt ended it"));
        }
        let bench = Bench {
            store: &store,
            suite,
            evaluation,
            stop: self.stop,
        };
        if self.arguments.retry && !bench.is_open(&run.id)? {
            return Ok(self.no_matter(run, "everything is decided"));
        }
        let kept = if is_imported {
            self.imported.answers(run)
        } else {
            Kept::find(&store, run, suite)
        };
        let kept = match kept {
            Ok(kept) => kept,
            Err(Unfit::Lacking(reason)) if is_imported => return Ok(self.no_matter(run, &reason)),
            Err(Unfit::Lacking(reason)) => return Ok(skip(run, &reason)),
            Err(Unfit::Unread(reason)) => return Ok(Came::Unstored(skipped(run, &reason))),
        };
        if self.arguments.dry_run {
            let plan = |evaluator| {
                Ok(planned(
                    run,
                    evaluator,
                    Standing::newest(&store.judgements(&run.id, evaluator.name())?),
                    evaluation,
                ))
            };
            return Ok(Came::Judged(
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
                return Ok(skip(
                    run,
                    "its suite has no two criteria to put into another order",
                ));
            }
            return match bench.probe(&run.id, &kept) {
                Ok(probe) => Ok(probe.map_or(Came::Nothing, |(given, reversed)| {
                    Came::Probed(probed(run, &given, &reversed))
                })),
                Err(StoreError::InFlight { .. }) => Ok(Came::Unstored(skipped(run, IN_FLIGHT))),
                Err(error) => Err(error.into()),
            };
        }
        match bench.judge(&run.id, &kept, self.arguments.retry) {
            Ok(Some(judgements)) => Ok(Came::Judged(
                judgements
                    .iter()
                    .map(|judgement| judged(run, judgement))
                    .collect(),
            )),
            Ok(None) => Ok(Came::Nothing),
            Err(StoreError::InFlight { .. }) => Ok(Came::Unstored(skipped(run, IN_FLIGHT))),
            Err(error) => Err(Failure::from(error)
                .with_hint("finished judgements are kept; `judge --retry` asks about the rest")),
        }
    }

    /// Says where a run is stored, if its record is not in the store to write to. `None` if the run's judgements can be stored here.
    fn elsewhere(&self, run: &Run, store: &Store) -> Result<Option<String>, Failure> {
        let own = self.settings.stores().of(&run.id)?;
        let only_read =
            own.map(|other| format!("it is in {}, which is read-only", shown(other.root())));
        Ok(only_read.or_else(|| self.imported.elsewhere(&run.id, store)))
    }

    fn no_matter(&self, run: &Run, reason: &str) -> Came {
        if self.is_searching {
            Came::Nothing
        } else {
            skip(run, reason)
        }
    }
}

fn skip(run: &Run, reason: &str) -> Came {
    Came::Skipped(skipped(run, reason))
}

fn skipped(run: &Run, reason: &str) -> SkippedRun {
    SkippedRun {
        run: run.id.to_string(),
        suite: run.suite.clone(),
        reason: reason.to_owned(),
    }
}

fn planned(
    run: &Run,
    evaluator: Evaluator,
    before: Option<Standing>,
    evaluation: &Evaluation,
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

fn judged(run: &Run, judgement: &Judgement) -> JudgedRun {
    let (before, after) = (judgement.before.as_ref(), &judgement.after);
    let met = after.met();
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
        not_evaluated: not_evaluated.map(|reason| visible(&reason)),
        passed: met.iter().filter(|(_, met)| *met == Some(true)).count() as u64,
        decided: (met.len() - open) as u64,
        criteria: met.len() as u64,
        kept: judgement.kept as u64,
        revision: judgement.revision,
        cost_usd: judgement.cost_usd,
        flips: before
            .map(|before| decided_otherwise(run.id.as_str(), &before.met(), &met))
            .unwrap_or_default(),
    }
}

fn probed(run: &Run, given: &Standing, reversed: &Standing) -> ProbedRun {
    let (in_order, in_reverse) = (given.met(), reversed.met());
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
            .map(|reason| visible(&reason)),
        n: in_reverse
            .iter()
            .filter(|(item, met)| met.is_some() && decided.contains(item.as_str()))
            .count() as u64,
        flips: decided_otherwise(run.id.as_str(), &in_order, &in_reverse),
    }
}
