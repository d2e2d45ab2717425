//! Terminal-Bench before version 2 (`tb`): one folder per run, which holds one folder per trial.
//!
//! One agent with one model on one dataset is a run, a task is a question, and its trials are attempts, numbered by their names. The
//! trials' own files are read before the run's file, which repeats them all but may be missing.

mod holdings;
mod run;
mod trial_name;
mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use crate::domain::{ItemKind, Problem};

use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_filled_text};
use super::json_reader::{read_object, read_value};
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::{ForeignFile, ForeignFileGroup};
use holdings::{FoundTrials, TrialCoverage};
use run::{TrialRunOpener, TrialRunState};
use trial_name::parse_trial_name;
use wire::{RESULTS_KEYS, RunMetadataFile, RunResultsFile, TrialRecord};

const METADATA_FILE: &str = "run_metadata.json";
const RESULTS_FILE: &str = "results.json";

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "terminal-bench",
        title: "Terminal-Bench",
        kind: ItemKind::Task,
        reads_names: true,
        version: 4,
    },
    claim_file,
    read_source,
)
.with_companions(is_companion);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_cut = is_cut_trial(peek);
    if peek.content != ContentKind::Json && !is_cut {
        return None;
    }
    // A submission may have the results of several runs in one folder, each named by its time.
    if is_results(peek)
        && !is_trial(peek)
        && peek.name != RESULTS_FILE
        && peek.name != METADATA_FILE
    {
        return Some(Claim::Alone);
    }
    let levels = if is_trial(peek) || is_cut {
        // `<run>/<task>/<trial>/results.json`. A file that was moved forms a run with the files beside it.
        if peek
            .folder_name(0)
            .is_some_and(|folder| folder.contains("-of-"))
        {
            3
        } else {
            1
        }
    } else if is_results(peek)
        || (peek.name == METADATA_FILE && peek.has_all(&["run_id", "agent_name"]))
    {
        1
    } else {
        return None;
    };
    let folder = peek.path.ancestors().nth(levels)?;
    Some(Claim::PartOf(if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder.to_owned()
    }))
}

fn is_trial(peek: &Peek) -> bool {
    peek.has_all(&["trial_name", "task_id", "is_resolved"])
}

/// Returns whether a truncated file is a trial's results. The folders tell: `<task>/<task>.1-of-3.<run>`.
fn is_cut_trial(peek: &Peek) -> bool {
    let in_trial = || Some(parse_trial_name(peek.folder_name(0)?, peek.folder_name(1)?).is_some());
    peek.name == RESULTS_FILE && !is_results(peek) && in_trial() == Some(true)
}

/// Returns whether an unread file below a run's folder is one that `tb` and its agents leave there.
fn is_companion(below: &Path) -> bool {
    let parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    matches!(
        parts.as_slice(),
        [METADATA_FILE] | [_, _, "agent-logs" | "sessions" | "panes", ..]
    )
}

fn is_results(peek: &Peek) -> bool {
    peek.has_all(&["results[].trial_name", "results[].task_id"])
        || peek.has_all(&["results", "n_resolved", "accuracy"])
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let metadata: Option<RunMetadataFile> = match source.find_file(METADATA_FILE) {
        Some(file) => Some(read_value(file.open()?, &file.shown)?),
        None => None,
    };
    let (mut trials, mut results): (Vec<&ForeignFile>, Option<&ForeignFile>) = (Vec::new(), None);
    for file in source
        .files
        .iter()
        .filter(|file| !file.name.ends_with(METADATA_FILE))
    {
        let peek = Peek::from_source_file(file)?;
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
    // A folder may hold the trials of several runs, which their names tell apart.
    let mut runs: BTreeMap<String, FoundTrials<'_>> = BTreeMap::new();
    let mut read: Vec<(&ForeignFile, String)> = Vec::new();
    for file in trials {
        let id = FoundTrials::run_id_of(file);
        match file
            .open()
            .and_then(|reader| read_value::<TrialRecord>(reader, &file.shown))
        {
            Ok(trial) => {
                let id = trial.run_id();
                runs.entry(id.clone()).or_default().count_trial(&trial);
                read.push((file, id));
            }
            Err(ReadStop::Unreadable(problems)) => {
                runs.entry(id).or_default().damaged.push((file, problems));
            }
            Err(ReadStop::Store(error)) => return Err(ReadStop::Store(error)),
        }
    }
    let mut stated = RunResultsFile::default();
    let mut damaged_results = None;
    if let Some(file) = results {
        match scan_results(file, &mut runs) {
            Ok(head) => stated = head,
            Err(ReadStop::Store(error)) => return Err(ReadStop::Store(error)),
            Err(ReadStop::Unreadable(problems)) => {
                damaged_results = Some((file, problems));
                results = None;
            }
        }
    }
    if read.is_empty() && results.is_none() {
        let damaged = runs
            .into_values()
            .flat_map(|found| found.damaged)
            .chain(damaged_results);
        return Err(ReadStop::Unreadable(
            damaged.flat_map(|(_, problems)| problems).collect(),
        ));
    }
    let named: Vec<String> = runs.keys().filter(|id| !id.is_empty()).cloned().collect();
    if let [only] = named.as_slice()
        && let Some(unnamed) = runs.remove("")
    {
        runs.get_mut(only).expect("just seen").merge_found(unnamed);
        for (_, id) in &mut read {
            id.clone_from(only);
        }
    }
    if runs.is_empty() {
        runs.insert(String::new(), FoundTrials::default());
    }
    let is_only = runs.len() == 1;
    if !is_only {
        sink.note_quirk(&format!(
            "the folder has trials of {} runs, by their names: each becomes a run of its own",
            runs.len()
        ));
    }
    // The published figures are those of the run whose trials lie beside them.
    let inline: Vec<&String> = runs
        .iter()
        .filter(|(_, found)| !found.inline.is_empty())
        .map(|(id, _)| id)
        .collect();
    let stating = if let [one] = inline.as_slice() {
        Some((*one).clone())
    } else {
        None
    };
    let described = metadata
        .as_ref()
        .and_then(|metadata| to_filled_text(&metadata.run_id));
    for (id, mut found) in runs {
        let metadata = metadata
            .as_ref()
            .filter(|_| is_only || described.as_ref() == Some(&id));
        let is_stated = is_only || stating.as_ref() == Some(&id);
        found.damaged.extend(damaged_results.take());
        let nothing = RunResultsFile::default();
        let stated = if is_stated { &stated } else { &nothing };
        let damaged = found.refuse_damaged(sink);
        let holdings = TrialCoverage::new(metadata, stated, &found, damaged);
        let is_own = |trial: &str| is_only || trial == id;
        let mut run = TrialRunOpener {
            metadata,
            lacks_results,
            holdings,
            source,
            run: TrialRunState::NotYet,
        };
        for (file, _) in read.iter().filter(|(_, run)| is_own(run)) {
            let trial: TrialRecord = read_value(file.open()?, &file.shown)?;
            match run.get_or_begin(Some(&trial), sink) {
                Some(run) => run.add_trial(&trial, &file.name, sink)?,
                None => break,
            }
        }
        if let Some(file) = results {
            let mut place = 0;
            for_each_trial(file, &mut |trial| {
                place += 1;
                if !is_own(&trial.run_id()) {
                    return Ok(());
                }
                match run.get_or_begin(Some(trial), sink) {
                    Some(run) if !run.has_seen(trial) => {
                        run.add_trial(trial, &format!("trial {place}"), sink)
                    }
                    Some(_) | None => Ok(()),
                }
            })?;
            if is_only {
                run.get_or_begin(None, sink);
            }
        }
        if let TrialRunState::Now(run) = run.run {
            run.finish(metadata, stated, sink);
        }
    }
    Ok(())
}

fn scan_results(
    file: &ForeignFile,
    runs: &mut BTreeMap<String, FoundTrials<'_>>,
) -> Result<RunResultsFile, ReadStop> {
    read_object(
        file.open()?,
        &file.shown,
        &RESULTS_KEYS,
        "results",
        &mut |trial: Lenient<TrialRecord>| {
            if let Some(trial) = trial.0 {
                let found = runs.entry(trial.run_id()).or_default();
                found.count_trial(&trial);
                found.inline.insert(trial.key());
            }
            Ok(())
        },
    )
}

fn for_each_trial(
    file: &ForeignFile,
    each: &mut dyn FnMut(&TrialRecord) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    let head: Result<IgnoredAny, ReadStop> = read_object(
        file.open()?,
        &file.shown,
        &[],
        "results",
        &mut |trial: Lenient<TrialRecord>| trial.0.map_or(Ok(()), |trial| each(&trial)),
    );
    head.map(|_| ())
}
