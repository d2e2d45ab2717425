//! Runs in progress and abandoned ones: what each is, and how far it came.

use std::collections::HashMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::domain::{ItemStatus, RunId, UnfinishedRun, UnfinishedState, shell_word};
use crate::files;

use super::seal::ITEMS_FILE;
use super::{Batch, ItemLine, PlannedArm, RunStart, Store, for_each_line, journal, list_plans};

/// A planned run: its arm and the plan.
struct PlannedRunArm {
    arm: PlannedArm,
    batch: String,
    created: String,
}

/// Looks at the folders of runs without a header. What cannot be read stays unknown; `doctor` reports it.
pub fn unfinished_runs<'f>(folders: impl IntoIterator<Item = &'f Path>) -> Vec<UnfinishedRun> {
    let mut planned = HashMap::<PathBuf, HashMap<RunId, PlannedRunArm>>::new();
    let of_folder = |folder: &Path| {
        let id = RunId::parse(folder.file_name()?.to_str()?).ok()?;
        let mut run = count_outcomes(&id, folder);
        let is_abandoned = run.state == UnfinishedState::Abandoned;
        let command = |command: &str, id: &str| {
            is_abandoned.then(|| format!("evalreport {command} --resume {}", shell_word(id)))
        };
        if let Ok(Some(begun)) = RunStart::load(folder) {
            run.resume = command("record", id.as_str());
            run.begun = parse_time(&begun.begun);
            (run.suite, run.approach, run.model) =
                (Some(begun.suite), Some(begun.approach), Some(begun.model));
            run.batch = begun.batch_id;
        } else {
            let root = folder.parent()?;
            let plans = planned
                .entry(root.to_owned())
                .or_insert_with(|| planned_runs(&Store::new(root)));
            if let Some(PlannedRunArm {
                arm,
                batch,
                created,
            }) = plans.remove(&id)
            {
                run.resume = command("run", &batch);
                run.begun = parse_time(&created);
                (run.suite, run.approach, run.model) =
                    (Some(arm.suite), Some(arm.approach), Some(arm.model));
                run.batch = Some(batch);
            }
        }
        Some(run)
    };
    folders.into_iter().filter_map(of_folder).collect()
}

fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|time| time.to_utc())
}

/// Counts the outcomes so far. A half line is none yet.
fn count_outcomes(id: &RunId, folder: &Path) -> UnfinishedRun {
    let state = if journal::is_in_flight(folder) {
        UnfinishedState::InProgress
    } else {
        UnfinishedState::Abandoned
    };
    let (mut outcomes, mut passed, mut counted) = (0, 0, 0);
    // A file that ends early has fewer outcomes.
    let _ = files::open(folder.join(ITEMS_FILE)).and_then(|file| {
        for_each_line(BufReader::new(file), |_, line| {
            if let Some(item) = line.ok().and_then(|line| ItemLine::parse(line).ok()) {
                outcomes += 1;
                passed += u64::from(item.status == ItemStatus::Pass);
                counted += u64::from(item.status.is_counted());
            }
        })
    });
    UnfinishedRun {
        id: id.clone(),
        state,
        suite: None,
        approach: None,
        model: None,
        batch: None,
        begun: None,
        outcomes,
        passed,
        counted,
        resume: None,
    }
}

/// Returns the runs of a store's plans.
fn planned_runs(store: &Store) -> HashMap<RunId, PlannedRunArm> {
    let batches = list_plans(store, &mut Vec::new())
        .into_iter()
        .filter_map(|path| Batch::load(&path).ok());
    let of_batch = |batch: Batch| {
        let Batch {
            id,
            created,
            arms,
            runs,
            ..
        } = batch;
        let planned = move |arm: usize| {
            arms.get(arm).map(|arm| PlannedRunArm {
                arm: arm.clone(),
                batch: id.clone(),
                created: created.clone(),
            })
        };
        runs.into_iter()
            .filter_map(move |run| Some((run.id, planned(run.arm)?)))
            .collect::<Vec<_>>()
    };
    batches.flat_map(of_batch).collect()
}
