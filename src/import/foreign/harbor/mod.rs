//! Harbor: the jobs of the framework that Terminal-Bench 2 runs on.
//!
//! A job is a folder with a folder for each trial; one agent with one model at one dataset is a run, a task is a question, and its trials
//! are the attempts, in the order in which they began. Trials are read twice, because their order is only known once all were seen. The
//! job's own times have no zone, so a run's are those of its trials.

mod job;
mod trial;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::Problem;

use super::super::rows::Stop;
use super::Claim;
use super::json::{Lenient, read_object, read_value, text};
use super::peek::{Content, Peek};
use super::sink::Sink;
use super::source::{ForeignFile, ForeignSource};
use super::times::moment;
use job::Runs;
use trial::{Beside, RunKey};
use wire::{JOB, Job, Trial};

const RESULT: &str = "result.json";

/// A file belongs to the job whose folder is so many levels above it.
pub(super) fn claim(peek: &Peek) -> Option<Claim> {
    if peek.content != Content::Json {
        return None;
    }
    let levels = match peek.name.as_str() {
        _ if is_trial(peek) => 2,
        _ if is_job(peek) => 1,
        "trajectory.json" if peek.text("schema_version").is_some_and(|version| version.starts_with("ATIF")) => match peek.folder_name(2) {
            Some("steps") => 5,
            Some(_) | None => 3,
        },
        // The first is close to CTRF, which would take it.
        "ctrf.json" | "reward.json" if peek.folder_name(0) == Some("verifier") && is_in_trial(peek) => 3,
        "config.json" if peek.has_all(&["job_name", "agents"]) => 1,
        "config.json" if peek.has_all(&["trial_name", "agent", "task"]) => 2,
        "lock.json" if peek.has_all(&["harbor", "trials"]) || peek.has("harbor.version") => 1,
        "lock.json" if peek.has_all(&["schema_version", "task", "agent"]) => 2,
        _ => return None,
    };
    Some(match peek.path.ancestors().nth(levels) {
        Some(folder) if folder.as_os_str().is_empty() => Claim::PartOf(".".into()),
        Some(folder) => Claim::PartOf(folder.to_owned()),
        None => Claim::Alone,
    })
}

fn is_trial(peek: &Peek) -> bool {
    peek.has_all(&["task_name", "trial_name"]) && (peek.has("agent_info") || peek.has("verifier_result"))
}

fn is_job(peek: &Peek) -> bool {
    peek.has_all(&["n_total_trials", "stats"])
}

/// The folder above the file's has a trial's result.
fn is_in_trial(peek: &Peek) -> bool {
    let trial = peek.path.parent().and_then(Path::parent).map(|folder| folder.join(RESULT));
    trial.is_some_and(|file| Peek::of(&file).is_ok_and(|peek| is_trial(&peek)))
}

/// Where a trial lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// By its number among the source's files.
    File(usize),
    /// By its number in the job's result.
    Inline(usize),
}

/// What a trial's place in its run depends on.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    run: RunKey,
    task: String,
    started: Option<DateTime<Utc>>,
    name: String,
    place: Place,
}

impl Entry {
    fn of(trial: &Trial, place: Place) -> Self {
        Self {
            run: RunKey::of(trial),
            task: text(&trial.task_name).unwrap_or_default(),
            started: moment(&trial.started_at),
            name: text(&trial.trial_name).unwrap_or_default(),
            place,
        }
    }
}

pub(super) fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut entries = Vec::new();
    let mut job: Option<(&ForeignFile, Job)> = None;
    let mut inline = 0;
    for (number, file) in source.files.iter().enumerate() {
        if file.name.rsplit('/').next() != Some(RESULT) && source.files.len() > 1 {
            continue;
        }
        let peek = Peek::of(&file.path).map_err(|error| file.problem(format!("cannot be read: {error}")))?;
        if is_trial(&peek) {
            let trial: Trial = read_value(file.open()?, &file.shown)?;
            entries.push(Entry::of(&trial, Place::File(number)));
        } else if is_job(&peek) {
            let head: Job = read_object(file.open()?, &file.shown, &JOB, "trial_results", &mut |_: IgnoredAny| {
                inline += 1;
                Ok(())
            })?;
            job = Some((file, head));
        }
    }
    if inline > 0
        && let Some((file, _)) = &job
    {
        let in_folders: BTreeSet<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        each_inline(file, &mut |number, trial| {
            let entry = Entry::of(trial, Place::Inline(number));
            if !in_folders.contains(&entry.name) {
                entries.push(entry);
            }
            Ok(())
        })?;
    }
    if entries.is_empty() && job.is_none() {
        return Err(Problem::in_file(&source.shown, "holds neither a job's result nor a trial's")
            .with_hint("a job that is not finished has its results in the folders of its trials")
            .into());
    }
    if let Some(version) = harbor_version(source) {
        sink.version(&version);
    }
    entries.sort();
    let job = job.as_ref();
    let mut runs = Runs::of(job.map(|(_, head)| head), entries.len());
    if entries.is_empty() {
        runs.state_alone(&source.name, sink);
        return Ok(());
    }

    let beside = beside(source);
    let mut attempts: BTreeMap<Place, u32> = BTreeMap::new();
    let mut before: Option<(&RunKey, &str)> = None;
    let mut attempt = 0;
    for entry in &entries {
        let item = (&entry.run, entry.task.as_str());
        attempt = if before == Some(item) { attempt + 1 } else { 1 };
        before = Some(item);
        attempts.insert(entry.place, attempt);
    }
    for entry in &entries {
        let Place::File(number) = entry.place else { continue };
        let file = &source.files[number];
        let trial: Trial = read_value(file.open()?, &file.shown)?;
        let folder = file.name.strip_suffix(RESULT).unwrap_or_default();
        let nothing = Beside::default();
        runs.take(&trial, attempts[&entry.place], &file.name, beside.get(folder).unwrap_or(&nothing), sink)?;
    }
    if let Some((file, _)) = job
        && inline > 0
    {
        each_inline(file, &mut |number, trial| match attempts.get(&Place::Inline(number)) {
            Some(attempt) => runs.take(trial, *attempt, &format!("trial {}", number + 1), &Beside::default(), sink),
            None => Ok(()),
        })?;
    }
    runs.end(sink);
    Ok(())
}

fn each_inline(file: &ForeignFile, each: &mut dyn FnMut(usize, &Trial) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut number = 0;
    read_object::<IgnoredAny, Lenient<Trial>>(file.open()?, &file.shown, &[], "trial_results", &mut |trial| {
        number += 1;
        trial.0.map_or(Ok(()), |trial| each(number - 1, &trial))
    })?;
    Ok(())
}

/// What lies beside the results, by the folder of the trial with a slash at its end.
fn beside(source: &ForeignSource) -> BTreeMap<&str, Beside<'_>> {
    let mut beside: BTreeMap<&str, Beside<'_>> = BTreeMap::new();
    for file in &source.files {
        let name = file.name.as_str();
        if let Some(folder) = name.strip_suffix("agent/trajectory.json") {
            let trial = match folder.strip_suffix('/').and_then(|step| step.rsplit_once('/')) {
                Some((steps, _)) => steps.strip_suffix("steps").unwrap_or(folder),
                None => folder,
            };
            beside.entry(trial).or_default().trajectories.push(file);
        } else if let Some(folder) = name.strip_suffix("verifier/ctrf.json") {
            beside.entry(folder).or_default().tests = Some(file);
        }
    }
    beside
}

fn harbor_version(source: &ForeignSource) -> Option<String> {
    let lock: Value = source.files_named("lock.json").find_map(|file| read_value(file.open().ok()?, &file.shown).ok())?;
    Some(format!("harbor {}", text(lock.get("harbor")?.get("version")?)?))
}
