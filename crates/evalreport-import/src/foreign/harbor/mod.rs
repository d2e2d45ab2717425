//! Harbor: jobs of the framework that runs Terminal-Bench 2.
//!
//! A job is a folder with one folder per trial. An agent with a model on a dataset is a run, a task is an item, and its trials are attempts
//! in the order in which they began. Trials are read twice, because their order is known only after all were seen. The job's own times have
//! no zone, so a run takes the times of its trials.

mod entry;
mod job;
mod trial;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{ItemKind, Problem};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_text};
use super::json_reader::{read_object, read_value};
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::{ForeignFile, ForeignFileGroup};
use entry::{TrialEntry, TrialPosition};
use job::JobRuns;
use trial::{JobRunKey, TrialSupplements};
use wire::{HarborJob, HarborTrial, JOB_KEYS};

const RESULT_FILE: &str = "result.json";
const CONFIG_FILE: &str = "config.json";
const LOCK_FILE: &str = "lock.json";

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "harbor",
        title: "Harbor",
        kind: ItemKind::Task,
        reads_names: false,
        version: 6,
    },
    claim_file,
    read_source,
)
.with_companions(is_companion);

/// Claims a file for the folder of its job, several levels above the file.
fn claim_file(peek: &Peek) -> Option<Claim> {
    let name = peek.name.as_str();
    if peek.content != ContentKind::Json && name != RESULT_FILE {
        return None;
    }
    let levels = match name {
        _ if is_trial(peek) => 2,
        _ if is_job(peek) => 1,
        RESULT_FILE if is_cut_trial(peek) => 2,
        RESULT_FILE if is_cut_job(peek) => 1,
        "trajectory.json"
            if peek
                .text("schema_version")
                .is_some_and(|version| version.starts_with("ATIF")) =>
        {
            levels_below_job(peek)
        }
        // `ctrf.json` resembles CTRF, whose importer would claim it.
        "ctrf.json" | "reward.json"
            if peek.folder_name(0) == Some("verifier") && is_in_trial(peek) =>
        {
            levels_below_job(peek)
        }
        CONFIG_FILE if peek.has_all(&["job_name", "agents"]) => 1,
        CONFIG_FILE if peek.has_all(&["trial_name", "agent", "task"]) => 2,
        LOCK_FILE if peek.has_all(&["harbor", "trials"]) || peek.has("harbor.version") => 1,
        LOCK_FILE if peek.has_all(&["schema_version", "task", "agent"]) => 2,
        _ => return None,
    };
    Some(match peek.path.ancestors().nth(levels) {
        Some(folder) if folder.as_os_str().is_empty() => Claim::PartOf(".".into()),
        Some(folder) => Claim::PartOf(folder.to_owned()),
        None => Claim::Alone,
    })
}

fn is_trial(peek: &Peek) -> bool {
    peek.has_all(&["task_name", "trial_name"])
        && (peek.has("agent_info") || peek.has("verifier_result"))
}

fn is_job(peek: &Peek) -> bool {
    peek.has_all(&["n_total_trials", "stats"])
}

/// Returns how many levels the job is above a file of an agent or a verifier. A trial of several steps has a folder for each step.
fn levels_below_job(peek: &Peek) -> usize {
    if peek.folder_name(2) == Some("steps") {
        5
    } else {
        3
    }
}

/// Returns whether the folder above the verifier's, or above the steps, is a trial's.
fn is_in_trial(peek: &Peek) -> bool {
    let Some(trial) = peek.path.ancestors().nth(levels_below_job(peek) - 1) else {
        return false;
    };
    Peek::from_path(&trial.join(RESULT_FILE))
        .is_ok_and(|peek| is_trial(&peek) || is_cut_trial(&peek))
}

/// Returns whether a truncated result is a trial's, by its beginning or by the files around it.
fn is_cut_trial(peek: &Peek) -> bool {
    let around = |level: usize, name: &str| {
        Peek::from_path(&peek.path.ancestors().nth(level)?.join(name)).ok()
    };
    peek.has_all(&["task_name", "trial_name"])
        || around(1, CONFIG_FILE).is_some_and(|peek| peek.has_all(&["trial_name", "agent"]))
        || around(2, RESULT_FILE).is_some_and(|peek| is_job(&peek))
}

/// Returns whether a truncated result is a job's, by the configuration beside it.
fn is_cut_job(peek: &Peek) -> bool {
    let beside = peek.path.parent().map(|folder| folder.join(CONFIG_FILE));
    beside
        .and_then(|file| Peek::from_path(&file).ok())
        .is_some_and(|peek| peek.has_all(&["job_name", "agents"]))
}

/// Returns whether an unread file below a job's folder is one that Harbor and its agents leave there.
fn is_companion(below: &Path) -> bool {
    let parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        [file] | [_, file] => matches!(*file, CONFIG_FILE | LOCK_FILE),
        [_, folder, ..] => matches!(*folder, "agent" | "verifier" | "artifacts" | "steps"),
        [] => false,
    }
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut entries = Vec::new();
    let mut job: Option<(&ForeignFile, HarborJob)> = None;
    let mut inline = 0;
    // Damaged results by their trial's folder. The job's own result has the source's folder.
    let mut damaged: BTreeMap<&str, (&ForeignFile, Vec<Problem>)> = BTreeMap::new();
    for (number, file) in source.files.iter().enumerate() {
        let is_result = file.name.rsplit('/').next() == Some(RESULT_FILE);
        if !is_result && source.files.len() > 1 {
            continue;
        }
        let folder = file
            .name
            .strip_suffix(RESULT_FILE)
            .unwrap_or_default()
            .trim_end_matches('/');
        let peek = Peek::from_source_file(file)?;
        let read = if is_job(&peek) || (is_result && is_cut_job(&peek)) {
            let mut trials = 0;
            let head: Result<HarborJob, ReadStop> = read_object(
                file.open()?,
                &file.shown,
                &JOB_KEYS,
                "trial_results",
                &mut |_: IgnoredAny| {
                    trials += 1;
                    Ok(())
                },
            );
            head.map(|head| {
                inline = trials;
                job = Some((file, head));
            })
        } else if is_trial(&peek) || (is_result && is_cut_trial(&peek)) {
            read_value(file.open()?, &file.shown).map(|trial: HarborTrial| {
                entries.push(TrialEntry::from_trial(&trial, TrialPosition::File(number)));
            })
        } else {
            Ok(())
        };
        match read {
            Ok(()) => {}
            Err(ReadStop::Store(error)) => return Err(ReadStop::Store(error)),
            Err(ReadStop::Unreadable(problems)) => {
                damaged.insert(folder, (file, problems));
            }
        }
    }
    if inline > 0
        && let Some((file, _)) = &job
    {
        let in_folders: BTreeSet<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        read_inline_trials(file, &mut |number, trial| {
            let entry = TrialEntry::from_trial(trial, TrialPosition::Inline(number));
            if !in_folders.contains(&entry.name) {
                if damaged.remove(entry.name.as_str()).is_some() {
                    sink.note_quirk("trials with a damaged result are read from the job's result");
                }
                entries.push(entry);
            }
            Ok(())
        })?;
    }
    if entries.is_empty() && job.is_none() {
        let problems: Vec<Problem> = damaged
            .into_values()
            .flat_map(|(_, problems)| problems)
            .collect();
        let nothing = Problem::in_file(&source.shown, "holds neither a job's result nor a trial's")
            .with_hint("a job that is not finished has its results in the folders of its trials");
        return Err(if problems.is_empty() {
            nothing.into()
        } else {
            ReadStop::Unreadable(problems)
        });
    }
    for (file, problems) in damaged.values() {
        let why = problems
            .first()
            .map(|problem| problem.message.clone())
            .unwrap_or_default();
        sink.refuse_part(
            &file.name,
            Refused::with_detail("the result cannot be read", why),
        );
    }
    if let Some(version) = harbor_version(source) {
        sink.note_version(&version);
    }
    entries.sort();
    let job = job.as_ref();
    let mut runs = JobRuns::from_entries(job.map(|(_, head)| head), &entries, damaged.len() as u64);
    if entries.is_empty() {
        runs.add_runs_without_trials(&source.name, sink);
        return Ok(());
    }

    let beside = supplements_by_trial(source);
    let mut attempts: BTreeMap<TrialPosition, u32> = BTreeMap::new();
    let mut before: Option<(&JobRunKey, &str)> = None;
    let mut attempt = 0;
    for entry in &entries {
        let item = (&entry.run, entry.task.as_str());
        attempt = if before == Some(item) { attempt + 1 } else { 1 };
        before = Some(item);
        attempts.insert(entry.place, attempt);
    }
    for entry in &entries {
        let TrialPosition::File(number) = entry.place else {
            continue;
        };
        let file = &source.files[number];
        let trial: HarborTrial = read_value(file.open()?, &file.shown)?;
        let folder = file.name.strip_suffix(RESULT_FILE).unwrap_or_default();
        let nothing = TrialSupplements::default();
        runs.add_trial(
            &trial,
            attempts[&entry.place],
            &file.name,
            beside.get(folder).unwrap_or(&nothing),
            sink,
        )?;
    }
    if let Some((file, _)) = job
        && inline > 0
    {
        read_inline_trials(file, &mut |number, trial| match attempts
            .get(&TrialPosition::Inline(number))
        {
            Some(attempt) => runs.add_trial(
                trial,
                *attempt,
                &format!("trial {}", number + 1),
                &TrialSupplements::default(),
                sink,
            ),
            None => Ok(()),
        })?;
    }
    runs.finish_runs(sink);
    Ok(())
}

fn read_inline_trials(
    file: &ForeignFile,
    each: &mut dyn FnMut(usize, &HarborTrial) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    let mut number = 0;
    read_object::<IgnoredAny, Lenient<HarborTrial>>(
        file.open()?,
        &file.shown,
        &[],
        "trial_results",
        &mut |trial| {
            number += 1;
            trial.0.map_or(Ok(()), |trial| each(number - 1, &trial))
        },
    )?;
    Ok(())
}

/// Returns the files beside the results, by the trial's folder with a slash at its end.
fn supplements_by_trial(source: &ForeignFileGroup) -> BTreeMap<&str, TrialSupplements<'_>> {
    let mut beside: BTreeMap<&str, TrialSupplements<'_>> = BTreeMap::new();
    for file in &source.files {
        let name = file.name.as_str();
        if let Some(folder) = name.strip_suffix("agent/trajectory.json") {
            beside
                .entry(trial_folder(folder))
                .or_default()
                .trajectories
                .push(file);
        } else if let Some(folder) = name.strip_suffix("verifier/ctrf.json") {
            beside
                .entry(trial_folder(folder))
                .or_default()
                .tests
                .push(file);
        }
    }
    beside
}

/// Returns the trial's folder for a folder that is a trial or a step of one.
fn trial_folder(folder: &str) -> &str {
    match folder
        .strip_suffix('/')
        .and_then(|step| step.rsplit_once('/'))
    {
        Some((steps, _)) => steps.strip_suffix("steps").unwrap_or(folder),
        None => folder,
    }
}

fn harbor_version(source: &ForeignFileGroup) -> Option<String> {
    let lock: Value = source
        .files_named(LOCK_FILE)
        .find_map(|file| read_value(file.open().ok()?, &file.shown).ok())?;
    Some(format!(
        "harbor {}",
        to_text(lock.get("harbor")?.get("version")?)?
    ))
}
