//! Terminal-Bench before version 2 (`tb`): a folder a run, with a folder for each trial in it.
//!
//! A run is one agent with one model at one dataset, a task is a question, and its trials are the attempts, which their names number. The
//! trials' own files are read before the run's, which has them all once more but may be missing.

mod run;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::Problem;

use super::super::cell::Refused;
use super::super::rows::Stop;
use super::Claim;
use super::json::{Lenient, count, number, read_object, read_value, text};
use super::peek::{Content, Peek};
use super::sink::Sink;
use super::source::{ForeignFile, ForeignSource};
use run::{Opened, Opening, of_attempts};
use wire::{Metadata, RESULTS, Results, Trial};

const METADATA: &str = "run_metadata.json";
const RESULTS_FILE: &str = "results.json";

pub(super) fn claim(peek: &Peek) -> Option<Claim> {
    let is_cut = is_cut_trial(peek);
    if peek.content != Content::Json && !is_cut {
        return None;
    }
    let levels = if is_trial(peek) || is_cut {
        // `<run>/<task>/<trial>/results.json`; a file that was moved is a run with what lies beside it.
        if peek.folder_name(0).is_some_and(|folder| folder.contains("-of-")) { 3 } else { 1 }
    } else if is_results(peek) || (peek.name == METADATA && peek.has_all(&["run_id", "agent_name"])) {
        1
    } else {
        return None;
    };
    let folder = peek.path.ancestors().nth(levels)?;
    Some(Claim::PartOf(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }))
}

fn is_trial(peek: &Peek) -> bool {
    peek.has_all(&["trial_name", "task_id", "is_resolved"])
}

/// A trial's results that end before they show what they are: the folders tell, `<task>/<task>.1-of-3.<run>`.
fn is_cut_trial(peek: &Peek) -> bool {
    let in_trial = || Some(run::numbered(peek.folder_name(0)?, peek.folder_name(1)?).is_some());
    peek.name == RESULTS_FILE && !is_results(peek) && in_trial() == Some(true)
}

/// Says whether a file that is not read, below a run's folder, is one that `tb` and its agents leave there.
pub(super) fn is_companion(below: &Path) -> bool {
    let parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    matches!(parts.as_slice(), [METADATA] | [_, _, "agent-logs" | "sessions" | "panes", ..])
}

fn is_results(peek: &Peek) -> bool {
    peek.has_all(&["results[].trial_name", "results[].task_id"]) || peek.has_all(&["results", "n_resolved", "accuracy"])
}

pub(super) fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let metadata: Option<Metadata> = match source.file(METADATA) {
        Some(file) => Some(read_value(file.open()?, &file.shown)?),
        None => None,
    };
    let (mut trials, mut results): (Vec<&ForeignFile>, Option<&ForeignFile>) = (Vec::new(), None);
    for file in source.files.iter().filter(|file| !file.name.ends_with(METADATA)) {
        let peek = Peek::of(&file.path).map_err(|error| file.problem(format!("cannot be read: {error}")))?;
        if is_trial(&peek) || is_cut_trial(&peek) {
            trials.push(file);
        } else if is_results(&peek) {
            results = Some(file);
        }
    }
    if trials.is_empty() && results.is_none() {
        return Err(Problem::in_file(&source.shown, "holds no results of a run").into());
    }
    let lacks_results = results.is_none();
    let mut found = Found::default();
    trials.retain(|file| found.look_at(file));
    let mut stated = Results::default();
    if let Some(file) = results {
        match look_at_results(file, &mut found) {
            Ok(head) => stated = head,
            Err(Stop::Store(error)) => return Err(Stop::Store(error)),
            Err(Stop::Unreadable(problems)) => {
                found.damaged.push((file, problems));
                results = None;
            }
        }
    }
    if trials.is_empty() && results.is_none() {
        return Err(Stop::Unreadable(found.damaged.into_iter().flat_map(|(_, problems)| problems).collect()));
    }
    let damaged = found.refuse(sink);
    let holdings = Holdings::of(metadata.as_ref(), &stated, &found, damaged);

    let mut run = Opening { metadata: metadata.as_ref(), lacks_results, holdings, source, run: Opened::NotYet };
    for file in trials {
        let trial: Trial = read_value(file.open()?, &file.shown)?;
        let Some(run) = run.open(Some(&trial), sink) else { return Ok(()) };
        run.take(&trial, &file.name, sink)?;
    }
    if let Some(file) = results {
        let mut place = 0;
        each_result(file, &mut |trial| {
            place += 1;
            match run.open(Some(trial), sink) {
                Some(run) if !run.has_seen(trial) => run.take(trial, &format!("trial {place}"), sink),
                Some(_) | None => Ok(()),
            }
        })?;
        run.open(None, sink);
    }
    if let Opened::Now(run) = run.run {
        run.end(metadata.as_ref(), &stated, sink);
    }
    Ok(())
}

/// What a first look finds of the trials, which may lie in folders of their own and in the run's results.
#[derive(Default)]
struct Found<'f> {
    /// By the trials' names.
    there: BTreeSet<String>,
    inline: BTreeSet<String>,
    resolved: u64,
    /// By task, how many attempts its trials' names say that there are.
    attempts: BTreeMap<String, u64>,
    damaged: Vec<(&'f ForeignFile, Vec<Problem>)>,
}

impl<'f> Found<'f> {
    /// Takes note of a trial's file. Says whether it can be read.
    fn look_at(&mut self, file: &'f ForeignFile) -> bool {
        match file.open().and_then(|reader| read_value::<Trial>(reader, &file.shown)) {
            Ok(trial) => {
                self.see(&trial);
                true
            }
            Err(Stop::Unreadable(problems)) => {
                self.damaged.push((file, problems));
                false
            }
            // Reading it again says so.
            Err(Stop::Store(_)) => true,
        }
    }

    fn see(&mut self, trial: &Trial) {
        let name = trial.key();
        if let Some(task) = text(&trial.task_id)
            && let Some(of) = of_attempts(&name, &task)
        {
            let most = self.attempts.entry(task).or_default();
            *most = of.max(*most);
        }
        if self.there.insert(name) {
            self.resolved += u64::from(trial.is_resolved == Value::Bool(true));
        }
    }

    /// Refuses what cannot be read by its name, and returns how many trials and results these are. What the run's results have of them
    /// is not lost.
    fn refuse(&self, sink: &mut Sink<'_>) -> u64 {
        let mut refused = 0;
        for (file, problems) in &self.damaged {
            let folder = file.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
            if folder.is_some_and(|name| self.inline.contains(name.as_ref())) {
                sink.quirk("trials whose own results are damaged are read from the run's");
                continue;
            }
            let why = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
            sink.refuse(&file.name, Refused::with_detail("the results cannot be read", why));
            refused += 1;
        }
        refused
    }
}

fn look_at_results(file: &ForeignFile, found: &mut Found<'_>) -> Result<Results, Stop> {
    read_object(file.open()?, &file.shown, &RESULTS, "results", &mut |trial: Lenient<Trial>| {
        if let Some(trial) = trial.0 {
            found.see(&trial);
            found.inline.insert(trial.key());
        }
        Ok(())
    })
}

fn each_result(file: &ForeignFile, each: &mut dyn FnMut(&Trial) -> Result<(), Stop>) -> Result<(), Stop> {
    let head: Result<IgnoredAny, Stop> =
        read_object(file.open()?, &file.shown, &[], "results", &mut |trial: Lenient<Trial>| trial.0.map_or(Ok(()), |trial| each(&trial)));
    head.map(|_| ())
}

/// How many of a run's trials there are.
#[derive(Clone, Copy)]
struct Holdings {
    /// Fewer than it had: what it states stands. The second number is none where the run does not count them.
    part: Option<(u64, Option<u64>)>,
    /// Results that cannot be read.
    damaged: u64,
}

impl Holdings {
    fn of(metadata: Option<&Metadata>, stated: &Results, found: &Found<'_>, damaged: u64) -> Self {
        let there = found.there.len() as u64;
        let counted = count(&stated.n_resolved).zip(count(&stated.n_unresolved)).and_then(|(yes, no)| yes.checked_add(no));
        let accuracy = number(&stated.accuracy).or_else(|| number(&metadata?.accuracy));
        if let Some(total) = counted {
            let is_part = accuracy.is_some() && total > there + damaged;
            return Self { part: is_part.then_some((there, Some(total))), damaged };
        }
        let planned = metadata.and_then(|metadata| {
            text(&metadata.end_time)?;
            count(&metadata.dataset_size)?.checked_mul(count(&metadata.n_attempts)?)
        });
        // Trials that crashed leave nothing, and are in no figure: fewer are a part only where the figure is not theirs.
        let is_theirs = |accuracy: f64| (accuracy - found.resolved as f64 / there as f64).abs() < 1e-6;
        let is_part = planned.unwrap_or(0).max(found.attempts.values().sum()) > there + damaged;
        Self { part: (is_part && accuracy.is_some_and(|accuracy| !is_theirs(accuracy))).then_some((there, None)), damaged }
    }
}
