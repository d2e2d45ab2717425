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

use super::super::rows::Stop;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{Lenient, filled};
use super::json_reader::{read_object, read_value};
use super::peek::{Content, Peek};
use super::sink::Sink;
use super::source::{ForeignFile, ForeignSource};
use holdings::{Found, Holdings};
use run::{Opened, Opening};
use trial_name::numbered;
use wire::{Metadata, RESULTS, Results, Trial};

const METADATA: &str = "run_metadata.json";
const RESULTS_FILE: &str = "results.json";

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "terminal-bench",
        title: "Terminal-Bench",
        kind: ItemKind::Task,
        reads_names: true,
        version: 4,
    },
    claim,
    read,
)
.with_companions(is_companion);

fn claim(peek: &Peek) -> Option<Claim> {
    let is_cut = is_cut_trial(peek);
    if peek.content != Content::Json && !is_cut {
        return None;
    }
    // A submission may have the results of several runs in one folder, each named by its time.
    if is_results(peek) && !is_trial(peek) && peek.name != RESULTS_FILE && peek.name != METADATA {
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
    } else if is_results(peek) || (peek.name == METADATA && peek.has_all(&["run_id", "agent_name"]))
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
    let in_trial = || Some(numbered(peek.folder_name(0)?, peek.folder_name(1)?).is_some());
    peek.name == RESULTS_FILE && !is_results(peek) && in_trial() == Some(true)
}

/// Returns whether an unread file below a run's folder is one that `tb` and its agents leave there.
fn is_companion(below: &Path) -> bool {
    let parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    matches!(
        parts.as_slice(),
        [METADATA] | [_, _, "agent-logs" | "sessions" | "panes", ..]
    )
}

fn is_results(peek: &Peek) -> bool {
    peek.has_all(&["results[].trial_name", "results[].task_id"])
        || peek.has_all(&["results", "n_resolved", "accuracy"])
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let metadata: Option<Metadata> = match source.file(METADATA) {
        Some(file) => Some(read_value(file.open()?, &file.shown)?),
        None => None,
    };
    let (mut trials, mut results): (Vec<&ForeignFile>, Option<&ForeignFile>) = (Vec::new(), None);
    for file in source
        .files
        .iter()
        .filter(|file| !file.name.ends_with(METADATA))
    {
        let peek = Peek::at(file)?;
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
    let mut runs: BTreeMap<String, Found<'_>> = BTreeMap::new();
    let mut read: Vec<(&ForeignFile, String)> = Vec::new();
    for file in trials {
        let id = Found::run_of(file);
        match file
            .open()
            .and_then(|reader| read_value::<Trial>(reader, &file.shown))
        {
            Ok(trial) => {
                let id = trial.run_id();
                runs.entry(id.clone()).or_default().see(&trial);
                read.push((file, id));
            }
            Err(Stop::Unreadable(problems)) => {
                runs.entry(id).or_default().damaged.push((file, problems))
            }
            Err(Stop::Store(error)) => return Err(Stop::Store(error)),
        }
    }
    let mut stated = Results::default();
    let mut damaged_results = None;
    if let Some(file) = results {
        match look_at_results(file, &mut runs) {
            Ok(head) => stated = head,
            Err(Stop::Store(error)) => return Err(Stop::Store(error)),
            Err(Stop::Unreadable(problems)) => {
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
        return Err(Stop::Unreadable(
            damaged.flat_map(|(_, problems)| problems).collect(),
        ));
    }
    let named: Vec<String> = runs.keys().filter(|id| !id.is_empty()).cloned().collect();
    if let [only] = named.as_slice()
        && let Some(unnamed) = runs.remove("")
    {
        runs.get_mut(only).expect("just seen").join(unnamed);
        for (_, id) in &mut read {
            id.clone_from(only);
        }
    }
    if runs.is_empty() {
        runs.insert(String::new(), Found::default());
    }
    let is_only = runs.len() == 1;
    if !is_only {
        sink.quirk(&format!(
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
        .and_then(|metadata| filled(&metadata.run_id));
    for (id, mut found) in runs {
        let metadata = metadata
            .as_ref()
            .filter(|_| is_only || described.as_ref() == Some(&id));
        let is_stated = is_only || stating.as_ref() == Some(&id);
        found.damaged.extend(damaged_results.take());
        let nothing = Results::default();
        let stated = if is_stated { &stated } else { &nothing };
        let damaged = found.refuse(sink);
        let holdings = Holdings::of(metadata, stated, &found, damaged);
        let is_own = |trial: &str| is_only || trial == id;
        let mut run = Opening {
            metadata,
            lacks_results,
            holdings,
            source,
            run: Opened::NotYet,
        };
        for (file, _) in read.iter().filter(|(_, run)| is_own(run)) {
            let trial: Trial = read_value(file.open()?, &file.shown)?;
            match run.open(Some(&trial), sink) {
                Some(run) => run.take(&trial, &file.name, sink)?,
                None => break,
            }
        }
        if let Some(file) = results {
            let mut place = 0;
            each_result(file, &mut |trial| {
                place += 1;
                if !is_own(&trial.run_id()) {
                    return Ok(());
                }
                match run.open(Some(trial), sink) {
                    Some(run) if !run.has_seen(trial) => {
                        run.take(trial, &format!("trial {place}"), sink)
                    }
                    Some(_) | None => Ok(()),
                }
            })?;
            if is_only {
                run.open(None, sink);
            }
        }
        if let Opened::Now(run) = run.run {
            run.end(metadata, stated, sink);
        }
    }
    Ok(())
}

fn look_at_results(
    file: &ForeignFile,
    runs: &mut BTreeMap<String, Found<'_>>,
) -> Result<Results, Stop> {
    read_object(
        file.open()?,
        &file.shown,
        &RESULTS,
        "results",
        &mut |trial: Lenient<Trial>| {
            if let Some(trial) = trial.0 {
                let found = runs.entry(trial.run_id()).or_default();
                found.see(&trial);
                found.inline.insert(trial.key());
            }
            Ok(())
        },
    )
}

fn each_result(
    file: &ForeignFile,
    each: &mut dyn FnMut(&Trial) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let head: Result<IgnoredAny, Stop> = read_object(
        file.open()?,
        &file.shown,
        &[],
        "results",
        &mut |trial: Lenient<Trial>| trial.0.map_or(Ok(()), |trial| each(&trial)),
    );
    head.map(|_| ())
}
