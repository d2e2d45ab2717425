//! `run --retry` and `run --retest`: another attempt at what told nothing about an arm, without paying again for what did.
//!
//! | of the batch | asked again |
//! | --- | --- |
//! | questions that ended in `infra` | these questions, in a new run that takes over the other answers. Wrong answers, crashes and limits stay what they are: whoever asks until an answer is right measures patience |
//! | runs that are `infra`, or failed before anything was measured | the whole run |
//! | code whose tests could not be run | only the tests, of the kept output |
//!
//! Nothing is overwritten. The first run stays on record; if it counted and its successor does, a tombstone hides it, so that one run is not
//! counted twice.

use std::collections::BTreeSet;

use chrono::SecondsFormat;

use crate::domain::{Filter, ItemStatus, Run, RunId, RunStatus, visible};
use crate::results::{Again, Batch, How, PlannedRun, Retraction, Retractions, Store, plans};
use crate::run::{Arm, Work, batch_id};

use super::arms::{Maker, Wanted, named_model};
use super::clock;
use super::failure::Failure;
use super::output;
use super::settings::Settings;
use super::shown::shown;

/// How the error of a run begins whose approach worked and whose tests could not be run.
const NOT_TESTED: &str = "not tested: ";

/// Plans another attempt at what a batch left without an outcome: the batch of this id, or the newest.
pub(super) fn retry(
    settings: &Settings,
    maker: &Maker<'_>,
    which: &str,
) -> Result<(Batch, Vec<Arm>), Failure> {
    let store = settings.store();
    let earlier = earlier_batch(&store, which)?;
    let open = earlier.open_runs(&store)?.len();
    if open > 0 && earlier.until.is_none() {
        return Err(Failure::new(format!(
            "batch `{}` is not finished: {} left",
            visible(&earlier.id),
            output::count(open, "run")
        ))
        .with_hint(format!(
            "resume it first: evalreport run --resume {}",
            visible(&earlier.id)
        )));
    }
    let standing = Retractions::load(&store)?;
    let mut chosen = Vec::new();
    for run in &earlier.runs {
        if !store.has(&run.id)? {
            continue;
        }
        let record = store.load(&run.id)?;
        if let Some(how) = how(&store, &record, run)?.filter(|_| standing.hiding(&record).is_none())
        {
            chosen.push((run, how));
        }
    }
    if chosen.is_empty() {
        return Err(Failure::new(format!(
            "nothing to ask again in batch `{}`: every item has an outcome",
            visible(&earlier.id)
        ))
        .with_hint("only outages and failed starts are asked again; another run asks everything"));
    }
    let used: BTreeSet<usize> = chosen.iter().map(|(run, _)| run.arm).collect();
    let arms: Vec<usize> = used.into_iter().collect();
    let mut batch = Batch {
        arms: arms.iter().map(|arm| earlier.arms[*arm].clone()).collect(),
        seed: earlier.seed,
        shuffle: earlier.shuffle,
        without_output: earlier.without_output,
        without_isolation: earlier.without_isolation,
        subset: earlier.subset.clone(),
        tags: earlier.tags.clone(),
        ..begun(maker)
    };
    for (run, how) in chosen {
        let arm = arms
            .iter()
            .position(|arm| *arm == run.arm)
            .unwrap_or_default();
        plan(&mut batch, maker, &PlannedRun { arm, ..run.clone() }, how);
    }
    let arms = maker.resumed(&batch)?;
    Ok((batch, arms))
}

/// Plans tests of the kept output of runs.
pub(super) fn retest(
    settings: &Settings,
    maker: &Maker<'_>,
    ids: &[String],
) -> Result<(Batch, Vec<Arm>), Failure> {
    let store = settings.store();
    let all = every_batch(&store);
    let (mut batch, mut arms) = (begun(maker), Vec::new());
    for text in ids {
        let found: Vec<(&Batch, &PlannedRun)> = all
            .iter()
            .flat_map(|batch| batch.runs.iter().map(move |run| (batch, run)))
            .filter(|(_, run)| run.id.as_str().starts_with(text.as_str()))
            .collect();
        let (earlier, run) = match found.as_slice() {
            [one] => *one,
            [] => {
                return Err(Failure::new(format!(
                    "no run `{}` of `evalreport run` in {}",
                    visible(text),
                    shown(store.root())
                ))
                .with_hint("`evalreport list --runs` shows the ids"));
            }
            several => {
                return Err(Failure::new(format!(
                    "`{}` is the beginning of {} run ids",
                    visible(text),
                    several.len()
                ))
                .with_hint("give more of the id"));
            }
        };
        if !store.has(&run.id)? {
            return Err(Failure::new(format!("run `{}` is not finished", run.id))
                .with_hint(format!("resume it: evalreport run --resume {}", earlier.id)));
        }
        let record = store.load(&run.id)?;
        if !has_output(&store, &run.id) {
            return Err(Failure::new(format!("run `{}` has no kept output to test", run.id)).with_hint(
                "runs of code keep it unless they are started with --no-output; `evalreport run --retry` asks everything again",
            ));
        }
        if record.status == RunStatus::Infra && !is_untested(&record) {
            let why = record.error.as_deref().unwrap_or("an outage");
            return Err(Failure::new(format!(
                "the approach of run `{}` did not do its work: {}",
                run.id,
                visible(why)
            ))
            .with_hint(format!(
                "`evalreport run --retry {}` starts it again",
                earlier.id
            )));
        }
        let planned = &earlier.arms[run.arm];
        let wanted = Wanted {
            approaches: vec![planned.approach.clone()],
            agents: planned.agent.iter().cloned().collect(),
            models: named_model(&planned.model),
        };
        let arm = maker
            .target(&planned.suite, &wanted)?
            .into_iter()
            .find(|arm| {
                arm.planned.approach == planned.approach && arm.planned.model == planned.model
            });
        let mut arm = arm.ok_or_else(|| {
            Failure::new(format!(
                "the arm `{}` of `{}` no longer exists",
                visible(&planned.approach),
                visible(&planned.suite)
            ))
        })?;
        // The tests may have been mended since, and the approach is not started.
        arm.planned.setup = None;
        let place = batch
            .arms
            .iter()
            .position(|known| *known == arm.planned)
            .unwrap_or_else(|| {
                batch.arms.push(arm.planned.clone());
                arms.push(arm);
                batch.arms.len() - 1
            });
        plan(
            &mut batch,
            maker,
            &PlannedRun {
                arm: place,
                ..run.clone()
            },
            How::Tests,
        );
    }
    Ok((batch, arms))
}

fn begun(maker: &Maker<'_>) -> Batch {
    Batch {
        id: batch_id(maker.now),
        created: maker.now.to_rfc3339_opts(SecondsFormat::Secs, true),
        ..Batch::default()
    }
}

/// Adds a run that takes the place of another.
fn plan(batch: &mut Batch, maker: &Maker<'_>, run: &PlannedRun, how: How) {
    let id = Store::new_run_id(maker.now);
    batch.again.push(Again {
        run: id.clone(),
        of: run.id.clone(),
        how,
    });
    batch.runs.push(PlannedRun { id, ..run.clone() });
}

/// Returns what is to be done again of a run, if anything.
fn how(store: &Store, record: &Run, run: &PlannedRun) -> Result<Option<How>, Failure> {
    let items = store.items_so_far(&run.id)?;
    let answered = items.iter().any(|(outcome, _)| {
        matches!(
            outcome.status,
            ItemStatus::Pass | ItemStatus::Fail | ItemStatus::Limit
        )
    });
    Ok(match record.status {
        RunStatus::Infra if is_untested(record) && has_output(store, &run.id) => Some(How::Tests),
        RunStatus::Infra => Some(How::Whole),
        RunStatus::Failed if record.measured_nothing(Some(u64::from(answered))) => Some(How::Whole),
        RunStatus::Completed
            if items.iter().any(|(outcome, _)| is_open(outcome.status))
                && record.files_generated.is_none() =>
        {
            Some(How::Items)
        }
        RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Limit
        | RunStatus::Cancelled
        | RunStatus::Partial => None,
    })
}

fn is_open(status: ItemStatus) -> bool {
    status == ItemStatus::Infra
}

fn is_untested(record: &Run) -> bool {
    record
        .error
        .as_deref()
        .is_some_and(|error| error.contains(NOT_TESTED))
}

fn has_output(store: &Store, id: &RunId) -> bool {
    store.run_dir(id).join("output").is_dir()
}

fn every_batch(store: &Store) -> Vec<Batch> {
    plans(store, &mut Vec::new())
        .into_iter()
        .filter_map(|path| Batch::load(&path).ok())
        .collect()
}

fn earlier_batch(store: &Store, which: &str) -> Result<Batch, Failure> {
    let mut found: Vec<Batch> = every_batch(store)
        .into_iter()
        .filter(|batch| batch.id.starts_with(which))
        .collect();
    found.sort_by(|left, right| left.id.cmp(&right.id));
    if found.len() > 1 && !which.is_empty() {
        let ids: Vec<String> = found.iter().map(|batch| visible(&batch.id)).collect();
        return Err(Failure::new(format!(
            "`{}` begins the ids of {} batches",
            visible(which),
            ids.len()
        ))
        .with_hint(format!("write more of one: {}", ids.join(", "))));
    }
    found.pop().ok_or_else(|| {
        let what = if which.is_empty() {
            "there is no batch".to_owned()
        } else {
            format!("there is no batch `{}`", visible(which))
        };
        Failure::new(what).with_hint(format!("plans are in {}", shown(&store.batches_dir())))
    })
}

/// Hides the runs whose successors count, and says what became of them.
pub(super) fn conclude(settings: &Settings, batch: &Batch, records: &[Run]) -> Result<(), Failure> {
    let store = settings.store();
    let standing = Retractions::load(&store)?;
    for again in &batch.again {
        let Some(record) = records.iter().find(|record| record.id == again.run) else {
            continue;
        };
        let first = store.load(&again.of)?;
        let what = match again.how {
            How::Items => {
                let open = store
                    .items_so_far(&again.of)?
                    .iter()
                    .filter(|(outcome, _)| is_open(outcome.status))
                    .count();
                format!(
                    "{} without an answer asked again",
                    output::count(open, "question")
                )
            }
            How::Whole => "run again".to_owned(),
            How::Tests => "output tested again".to_owned(),
        };
        output::say(
            settings,
            &format!(
                "note: {what}: run {} takes the place of {}, which stays on record",
                again.run, again.of
            ),
        );
        if first.status.is_counted()
            && record.status.is_counted()
            && again.how != How::Whole
            && standing.hiding(&first).is_none()
        {
            let selector = Filter {
                ids: vec![again.of.to_string()],
                ..Filter::default()
            };
            let reason = format!("{what} as run {}", again.run);
            Retraction {
                selector,
                reason,
                time: clock::now(),
                undo: false,
            }
            .append(&store)?;
        }
    }
    Ok(())
}

/// Says whether a plan starts no approach and no agent, but only tests.
pub(super) fn is_of_tests(batch: &Batch, arms: &[Arm]) -> bool {
    !batch.again.is_empty()
        && batch.again.iter().all(|again| again.how == How::Tests)
        && arms.iter().all(|arm| matches!(arm.work, Work::Code(_)))
}
