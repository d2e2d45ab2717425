//! `judge`: stored runs judged again, and judges held against people, against each other and against themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::Utc;

use crate::domain::{Evaluator, Filter, ItemStatus, Problem, Run, RunId, visible};
use crate::process::Stop;
use crate::render::json::{AgreementAnswer, JudgeAnswer, ProbeAnswer};
use crate::render::judging;
use crate::render::table::Table;
use crate::results::{Judgements, Store};
use crate::run::Evaluation;
use crate::run::judge::{Bench, Judgement, Kept, Standing};
use crate::suite::{Suite, normalized};
use crate::views::{JudgeReport, JudgedRun, ProbedRun, Rater, SkippedRun, agreement, decided_otherwise, probe_report};
use crate::warehouse::Warehouse;

use super::arguments::{Format, Judge};
use super::arms::{Jurors, Maker};
use super::carry::{self, Place};
use super::failure::Failure;
use super::labels::{self, Label};
use super::progress::Bar;
use super::settings::Settings;
use super::{exit_code, output, selection, show};

pub(super) fn run(settings: &Settings, arguments: &Judge) -> Result<u8, Failure> {
    let warehouse = settings.open()?;
    let mut filter = arguments.selection.filter()?;
    let labels = arguments.agreement.as_deref().map(labels::read).transpose()?;
    filter.ids.clone_from(&arguments.ids);
    let has_own_selection = labels.is_some() || arguments.against.is_some() || arguments.retry;
    if filter.is_empty() && !has_own_selection {
        return Err(Failure::new("judge needs a run id or a selection")
            .with_hint("`evalreport list --runs` shows the ids; --retry looks for runs with criteria that nobody has decided"));
    }
    filter.ids = selection::complete_ids(&warehouse, &filter.ids)?;
    selection::check(&warehouse, &filter)?;
    let runs = warehouse.stored_runs(&filter);
    match (labels, arguments.agreement.as_deref(), &arguments.against) {
        (Some(labels), Some(path), _) => against_people(settings, arguments, path, &labels, &runs),
        (_, _, Some(other)) => against_judge(settings, arguments, other, &runs),
        (_, _, None) => ask(settings, arguments, warehouse, &filter, &runs),
    }
}

/// What is needed to judge the runs of one suite.
type Prepared = Result<(Suite, Evaluation), String>;

/// Asks a judge: again, or in two orders.
fn ask(settings: &Settings, arguments: &Judge, mut warehouse: Warehouse, filter: &Filter, runs: &[Arc<Run>]) -> Result<u8, Failure> {
    let place = Place::new(settings, None)?;
    let maker = Maker { config: &settings.config, root: &place.root, environment: &place.environment, now: Utc::now() };
    let jurors = Jurors {
        agent: arguments.agent.clone(),
        model: arguments.model_of_agent.clone(),
        votes: arguments.votes,
        is_strict: arguments.is_strict,
    };
    if jurors.agent.is_none() && settings.config.judge.is_none() {
        return Err(
            Failure::new("no judge is named").with_hint("name an agent with --judge, or as `judge: {agent: ID}` in evalreport.yaml")
        );
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
    let mut asked = Asked { settings, arguments, stop: &stop, report: JudgeReport::default(), probed: Vec::new() };
    asked.report.is_dry = arguments.dry_run;
    let done = Bar::new(settings.interactive).watch(|progress| {
        (progress.begin)("judging", runs.len() as u64);
        let done = runs.iter().try_for_each(|run| {
            let done = asked.one(run, &suites[&run.suite]);
            (progress.advance)(1);
            done
        });
        (progress.end)();
        done
    });
    over.store(true, Ordering::SeqCst);
    done?;
    let Asked { mut report, probed, .. } = asked;
    let code = if stop.is_stopped() {
        output::say(settings, "stopped; what was judged is kept");
        exit_code::INTERRUPTED
    } else if report.runs.iter().any(|run| run.not_evaluated.is_some()) && !report.is_dry
        || probed.iter().any(|run| run.not_evaluated.is_some())
    {
        exit_code::NEGATIVE
    } else {
        exit_code::DONE
    };
    if arguments.probe {
        let report = probe_report(probed, report.skipped);
        answer(settings, "probe", judging::probe(&report), || ProbeAnswer { report })?;
        return Ok(code);
    }
    // Who looks for what is left to do need not hear of every run that is none of it.
    if arguments.retry && filter.ids.is_empty() {
        report.skipped.retain(|skipped| {
            suites.get(&skipped.suite).is_some_and(Result::is_ok) && ![DECIDED, FOREIGN].contains(&skipped.reason.as_str())
        });
    }
    answer(settings, "judge", judging::report(&report), || JudgeAnswer { report })?;
    settings.keep(&mut warehouse);
    Ok(code)
}

const DECIDED: &str = "everything is decided";
const FOREIGN: &str = "it was imported, or lies in a store that is only read";

/// Loads a suite and what is judged about its runs. What is wrong with the judge is everybody's; what a suite lacks is its own.
fn prepare(maker: &Maker<'_>, name: &str, jurors: &Jurors) -> Result<Prepared, Failure> {
    let suite = match maker.suite(name) {
        Ok(suite) => suite,
        // The suite may be gone, or of another project; one that is there but wrong is to be put right.
        Err(failure) if failure.details.is_empty() => return Ok(Err(failure.message)),
        Err(failure) => return Err(failure),
    };
    let evaluation = maker.evaluation(&suite, jurors)?.judged_only();
    if evaluation.is_empty() {
        return Ok(Err("its suite has nothing that a judge decides".to_owned()));
    }
    Ok(Ok((suite, evaluation)))
}

/// Runs that are judged one after the other.
struct Asked<'a> {
    settings: &'a Settings,
    arguments: &'a Judge,
    stop: &'a Stop,
    report: JudgeReport,
    probed: Vec<ProbedRun>,
}

impl Asked<'_> {
    fn one(&mut self, run: &Run, prepared: &Prepared) -> Result<(), Failure> {
        if self.stop.is_stopped() {
            return Ok(());
        }
        let store = self.settings.store();
        let (suite, evaluation) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return self.skip(run, reason),
        };
        if !store.header_path(&run.id).is_file() {
            return self.skip(run, FOREIGN);
        }
        if !run.status.is_counted() {
            return self.skip(run, "an outage or an interrupt ended it");
        }
        let kept = match Kept::find(&store, run, suite) {
            Ok(kept) => kept,
            Err(reason) => return self.skip(run, &reason),
        };
        let bench = Bench { store: &store, suite, evaluation, stop: self.stop };
        if self.arguments.retry && !bench.is_open(&run.id)? {
            return self.skip(run, DECIDED);
        }
        if self.arguments.dry_run {
            for evaluator in evaluation.evaluators() {
                let before = Standing::newest(&store.judgements(&run.id, evaluator)?);
                self.report.runs.push(planned(run, evaluator, before, evaluation));
            }
            return Ok(());
        }
        if self.arguments.probe {
            if suite.acceptance_criteria.len() < 2 && suite.acceptance_criteria.iter().all(|criterion| criterion.children.len() < 2) {
                return self.skip(run, "its suite has no two criteria to put into another order");
            }
            if let Some((given, reversed)) = bench.probe(&run.id, &kept)? {
                self.probed.push(probed(run, &given, &reversed));
            }
            return Ok(());
        }
        for judgement in bench.judge(&run.id, &kept, self.arguments.retry)?.into_iter().flatten() {
            self.report.runs.push(judged(run, &judgement));
        }
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "a skipped run is as good as a judged one to who goes through them")]
    fn skip(&mut self, run: &Run, reason: &str) -> Result<(), Failure> {
        self.report.skipped.push(SkippedRun { run: run.id.to_string(), suite: run.suite.clone(), reason: reason.to_owned() });
        Ok(())
    }
}

fn planned(run: &Run, evaluator: Evaluator, before: Option<Standing>, evaluation: &Evaluation) -> JudgedRun {
    let jury = evaluation.jury.as_ref();
    JudgedRun {
        run: run.id.to_string(),
        suite: run.suite.clone(),
        evaluator: evaluator.name().to_owned(),
        judge: jury
            .map(|jury| jury.agent.model.as_ref().map_or_else(|| jury.agent.id.clone(), |model| format!("{}:{model}", jury.agent.id))),
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
    let met = met(after);
    let open = met.iter().filter(|(_, met)| met.is_none()).count();
    let not_evaluated = after.not_evaluated.clone().or_else(|| (open > 0).then(|| format!("{open} of {} criteria", met.len())));
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
        flips: before.map(|before| decided_otherwise(run.id.as_str(), &self::met(before), &met)).unwrap_or_default(),
    }
}

fn probed(run: &Run, given: &Standing, reversed: &Standing) -> ProbedRun {
    let (in_order, in_reverse) = (met(given), met(reversed));
    let decided: BTreeSet<&str> = in_order.iter().filter(|(_, met)| met.is_some()).map(|(item, _)| item.as_str()).collect();
    ProbedRun {
        run: run.id.to_string(),
        suite: run.suite.clone(),
        judge: reversed.judge.clone().or_else(|| given.judge.clone()),
        given: given.score,
        reversed: reversed.score,
        not_evaluated: given.not_evaluated.clone().or_else(|| reversed.not_evaluated.clone()).map(|reason| visible(&reason)),
        n: in_reverse.iter().filter(|(item, met)| met.is_some() && decided.contains(item.as_str())).count() as u64,
        flips: decided_otherwise(run.id.as_str(), &in_order, &in_reverse),
    }
}

/// By criterion: whether it is met; none where nobody decided.
fn met(standing: &Standing) -> Vec<(String, Option<bool>)> {
    let met = |status| match status {
        ItemStatus::Pass => Some(true),
        ItemStatus::Fail => Some(false),
        ItemStatus::Error | ItemStatus::Limit | ItemStatus::Infra | ItemStatus::Skipped | ItemStatus::NotEvaluated => None,
    };
    standing.items.iter().map(|(item, status)| (item.clone(), met(*status))).collect()
}

/// Judgements of a run, in whatever store it lies.
fn stored(settings: &Settings, run: &RunId) -> Result<Judgements, Failure> {
    match show::store_of(settings, run) {
        Some(store) => Ok(Store::judgements(&store, run, Evaluator::RequirementFulfillment)?),
        None => Ok(Judgements::default()),
    }
}

/// Returns the newest judgement, of anybody or of the judge whose name begins so.
fn newest_of(judgements: &Judgements, judge: Option<&str>) -> Option<Standing> {
    let is_wanted = |name: &str| judge.is_none_or(|wanted| is_named(name, wanted));
    let lines = judgements.scores.iter().filter(|line| line.judge.as_ref().is_some_and(|judge| is_wanted(&judge.name())));
    let newest = lines.filter(|line| line.score.value.is_some() || judgements.of_revision(line.score.revision).next().is_some());
    newest.map(|line| line.score.revision).max().map(|revision| Standing::of_revision(judgements, revision))
}

/// Says whether `wanted` names a judge: its agent, its agent and model, or all of it.
fn is_named(name: &str, wanted: &str) -> bool {
    name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
}

fn answer<T: serde::Serialize>(
    settings: &Settings,
    command: &str,
    mut tables: Vec<Table>,
    value: impl FnOnce() -> T,
) -> Result<(), Failure> {
    if settings.format == Format::Csv {
        // Two tables in one file are none.
        tables.truncate(1);
    }
    output::answer(settings, command, &tables, value)
}

/// Holds the judge against labels that people gave.
fn against_people(settings: &Settings, arguments: &Judge, path: &Path, labels: &[Label], runs: &[Arc<Run>]) -> Result<u8, Failure> {
    let file = super::settings::shown(path);
    let mut problems = Vec::new();
    let mut known: BTreeMap<RunId, Option<Standing>> = BTreeMap::new();
    let mut judges: BTreeMap<String, Rater> = BTreeMap::new();
    let mut people: BTreeMap<&str, Rater> =
        labels::raters(labels).into_iter().map(|name| (name, Rater { name: name.to_owned(), labels: BTreeMap::new() })).collect();
    let mut undecided = BTreeSet::new();
    for label in labels {
        let found = selection::named(&label.run, runs.iter().map(|run| &run.id));
        let id = match found.as_slice() {
            [one] => (*one).clone(),
            [] => {
                problems.push(Problem::at_line(
                    &file,
                    label.line,
                    format!("there is no run `{}` among those selected", visible(&label.run)),
                ));
                continue;
            }
            several => {
                let message = format!("`{}` is the beginning of {} run ids", visible(&label.run), several.len());
                problems.push(Problem::at_line(&file, label.line, message));
                continue;
            }
        };
        if !known.contains_key(&id) {
            known.insert(id.clone(), newest_of(&stored(settings, &id)?, arguments.agent.as_deref()));
        }
        let standing = known.get(&id).and_then(Option::as_ref);
        let criterion =
            standing.map(|standing| (standing, standing.items.iter().find(|(item, _)| normalized(item) == normalized(&label.item))));
        let rated = match criterion {
            None => (id.to_string(), label.item.clone()),
            Some((_, Some((item, _)))) => (id.to_string(), item.clone()),
            Some((standing, None)) => {
                let near = crate::domain::nearest(&label.item, standing.items.iter().map(|(item, _)| item.as_str()));
                let problem = Problem::at_line(&file, label.line, format!("run `{id}` has no criterion `{}`", visible(&label.item)));
                problems.push(match near {
                    Some(near) => problem.with_hint(format!("did you mean `{}`?", visible(near))),
                    None => problem,
                });
                continue;
            }
        };
        let decided =
            standing.and_then(|standing| Some((standing.judge.clone()?, met(standing).into_iter().find(|(item, _)| *item == rated.1)?.1?)));
        match decided {
            Some((judge, met)) => {
                let said = judges.entry(judge.clone()).or_insert_with(|| Rater { name: judge, labels: BTreeMap::new() });
                said.labels.insert(rated.clone(), met);
            }
            None => {
                undecided.insert(rated.clone());
            }
        }
        if let Some(person) = people.get_mut(label.rater.as_str()) {
            person.labels.insert(rated, label.met);
        }
    }
    if !problems.is_empty() {
        return Err(labels::refused(path, &problems));
    }
    if judges.is_empty() {
        return Err(Failure::new("no judge has decided about any criterion that is labelled")
            .with_hint("judge the runs first with `evalreport judge`; --judge picks one of several judges"));
    }
    // Several judges are several raters, and never one.
    let raters: Vec<Rater> = judges.into_values().chain(people.into_values()).collect();
    let report = agreement(&raters, undecided.len() as u64);
    answer(settings, "agreement", judging::agreement(&report), || AgreementAnswer { report })?;
    Ok(exit_code::DONE)
}

/// Holds one judge against another over the runs that both have judged.
fn against_judge(settings: &Settings, arguments: &Judge, other: &str, runs: &[Arc<Run>]) -> Result<u8, Failure> {
    let mut judges: [Option<Rater>; 2] = [None, None];
    let mut names = BTreeSet::new();
    for run in runs {
        let judgements = stored(settings, &run.id)?;
        names.extend(judgements.scores.iter().filter_map(|line| line.judge.as_ref()).map(crate::results::JudgeLine::name));
        let theirs = newest_of(&judgements, Some(other));
        let without = Judgements {
            scores: judgements
                .scores
                .iter()
                .filter(|line| !line.judge.as_ref().is_some_and(|judge| is_named(&judge.name(), other)))
                .cloned()
                .collect(),
            ..judgements.clone()
        };
        let ours = newest_of(&without, arguments.agent.as_deref());
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        for (rater, standing) in judges.iter_mut().zip([ours, theirs]) {
            let name = standing.judge.clone().unwrap_or_default();
            let rater = rater.get_or_insert_with(|| Rater { name: name.clone(), labels: BTreeMap::new() });
            if rater.name != name {
                return Err(Failure::new(format!(
                    "`{}` and `{}` are two judges, and only one is held against another",
                    visible(&rater.name),
                    visible(&name)
                ))
                .with_hint("name one with --judge or --against as they are listed: AGENT, AGENT:MODEL, or with its #PROMPT"));
            }
            let decided = met(&standing).into_iter().filter_map(|(item, met)| Some(((run.id.to_string(), item), met?)));
            rater.labels.extend(decided);
        }
    }
    let [Some(ours), Some(theirs)] = judges else {
        let known: Vec<String> = names.iter().map(|name| format!("`{}`", visible(name))).collect();
        let hint =
            if known.is_empty() { "none of them was judged yet".to_owned() } else { format!("judges of these runs: {}", known.join(", ")) };
        return Err(Failure::new(format!("no selected run was judged both by `{}` and by another", visible(other))).with_hint(hint));
    };
    let report = agreement(&[ours, theirs], 0);
    answer(settings, "agreement", judging::agreement(&report), || AgreementAnswer { report })?;
    Ok(exit_code::DONE)
}
