//! Joins runs with the sessions in which they were made: one run has the outcomes of the one and the usage of the other.
//!
//! A joined run is derived. Its parts stay in the store and are retracted for it; importing a part again compares with the part. If a part
//! is replaced, a new joined run replaces the old one.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{JoinedPart, Provenance, Run, RunId, escape_invisible, format_count};
use crate::results::{SealedWriter, Store, StoreError};

use super::run_content::StoredRecords;
use super::run_visibility::RunVisibility;
use super::session_figures::{SESSION_ID_TAG, SessionFigures, named_sessions};
use super::source::hex_digest;

/// What joining has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionJoins {
    /// Runs to retract, each with the reason.
    pub retracted: Vec<(RunId, String)>,
    /// Parts of such runs that are in no other joined run, and count again.
    pub restored: Vec<RunId>,
    /// Why sessions were not joined.
    pub notes: Vec<String>,
}

/// Returns the parts of a joined run, or nothing if the run is not joined.
fn joined_parts(run: &Run) -> &[JoinedPart] {
    run.provenance
        .as_ref()
        .map_or(&[], |from| from.joined.as_slice())
}

/// Returns the session that the run is, if it counts messages. Other runs may have the same tag.
fn session_id_of(run: &Run) -> Option<&str> {
    run.provenance.as_ref()?.messages.as_ref()?;
    run.tags.get(SESSION_ID_TAG).map(String::as_str)
}

/// Returns the parts of joined runs that no tombstone names, each with the joined run's standing. They are retracted only for the joined run.
pub(super) fn parts_with_visibility<'r>(
    runs: impl Iterator<Item = (&'r Run, &'r RunVisibility)>,
) -> BTreeMap<RunId, RunVisibility> {
    let kept = runs.filter(|(_, standing)| !matches!(standing, RunVisibility::Retracted(_)));
    let mut kept: Vec<(&Run, &RunVisibility)> = kept
        .filter(|(run, _)| !joined_parts(run).is_empty())
        .collect();
    // If a part is in several joined runs, the one that counts decides.
    kept.sort_by_key(|(_, standing)| **standing == RunVisibility::Counts);
    kept.iter()
        .flat_map(|(run, standing)| {
            joined_parts(run)
                .iter()
                .map(|part| (part.run.clone(), (*standing).clone()))
        })
        .collect()
}

/// Joins each run that names sessions with those, if all of them are stored and no other run names them. `runs` are all runs of the store,
/// each with whether it counts.
pub fn join_sessions(
    store: &Store,
    runs: &[(&Run, RunVisibility)],
) -> Result<SessionJoins, StoreError> {
    let kept = parts_with_visibility(runs.iter().map(|(run, standing)| (*run, standing)));
    let is_current = |(run, standing): &&(&Run, RunVisibility)| {
        joined_parts(run).is_empty()
            && *kept.get(&run.id).unwrap_or(standing) == RunVisibility::Counts
    };
    let current: Vec<&Run> = runs
        .iter()
        .filter(is_current)
        .map(|(run, _)| *run)
        .collect();
    let replaced: BTreeSet<&RunId> = current
        .iter()
        .filter_map(|run| run.replaced_run())
        .collect();
    let mut sessions: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    let mut bases: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in current
        .iter()
        .copied()
        .filter(|run| !replaced.contains(&run.id))
    {
        if let Some(session) = session_id_of(run) {
            sessions.entry(session).or_default().push(run);
            continue;
        }
        for session in named_sessions(run).collect::<BTreeSet<_>>() {
            bases.entry(session).or_default().push(run);
        }
    }
    let current_ids: BTreeSet<&RunId> = current
        .iter()
        .map(|run| &run.id)
        .filter(|id| !replaced.contains(id))
        .collect();
    let states: BTreeMap<&RunId, bool> = runs
        .iter()
        .map(|(run, standing)| (&run.id, *standing == RunVisibility::Counts))
        .collect();
    let (mut joined, mut records) = (SessionJoins::default(), StoredRecords::default());
    let (mut wanted, mut done, mut used) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for base in bases
        .values()
        .flatten()
        .filter(|base| done.insert(&base.id))
    {
        let named: BTreeSet<&str> = named_sessions(base).collect();
        let found: Vec<&Run> = named
            .iter()
            .filter_map(|session| sessions.get(session))
            .flatten()
            .copied()
            .collect();
        if found.is_empty() {
            continue;
        }
        if let Some(why) = join_obstacle(&named, &sessions, &bases) {
            joined.notes.push(format!(
                "run `{}` is not joined with its session: {why}",
                base.id
            ));
            continue;
        }
        let all: Vec<&Run> = [*base].into_iter().chain(found).collect();
        let is_of = |part: &JoinedPart| {
            all.iter()
                .any(|run| run.id == part.run || run.replaced_run() == Some(&part.run))
        };
        let before = runs.iter().find(|(run, standing)| {
            *standing == RunVisibility::Counts && joined_parts(run).iter().any(is_of)
        });
        join_run(
            (store, &mut records),
            &states,
            &all,
            before.map(|(run, _)| &run.id),
            &mut wanted,
            &mut joined,
        )?;
        used.extend(all.iter().map(|run| &run.id));
    }
    for (run, _) in runs.iter().filter(|(run, standing)| {
        *standing == RunVisibility::Counts
            && !joined_parts(run).is_empty()
            && !wanted.contains(&run.id)
    }) {
        joined.retracted.push((
            run.id.clone(),
            "its parts have changed, or belong together no longer".to_owned(),
        ));
        let lost = joined_parts(run)
            .iter()
            .map(|part| &part.run)
            .filter(|part| current_ids.contains(part) && !used.contains(part));
        joined.restored.extend(
            lost.filter(|part| states.get(part) == Some(&false))
                .cloned(),
        );
    }
    Ok(joined)
}

/// Returns why the usage of the named sessions cannot be that of one run.
fn join_obstacle(
    named: &BTreeSet<&str>,
    sessions: &BTreeMap<&str, Vec<&Run>>,
    bases: &BTreeMap<&str, Vec<&Run>>,
) -> Option<String> {
    named.iter().find_map(|session| {
        let shown = escape_invisible(session);
        let runs = |runs: &BTreeMap<&str, Vec<&Run>>| runs.get(session).map_or(0, Vec::len) as u64;
        match (runs(sessions), runs(bases)) {
            (0, _) => Some(format!(
                "it also names session `{shown}`, which is not imported"
            )),
            (1, 1) => None,
            (1, bases) => Some(format!(
                "{} name session `{shown}`, and its usage cannot be split",
                format_count(bases, "run")
            )),
            (several, _) => Some(format!(
                "session `{shown}` is in the store under other names too, as {}",
                format_count(several, "run")
            )),
        }
    })
}

fn join_run(
    (store, records): (&Store, &mut StoredRecords),
    states: &BTreeMap<&RunId, bool>,
    all: &[&Run],
    before: Option<&RunId>,
    wanted: &mut BTreeSet<RunId>,
    joined: &mut SessionJoins,
) -> Result<(), StoreError> {
    let [base, sessions @ ..] = all else {
        return Ok(());
    };
    let ids: Vec<&str> = all.iter().map(|run| run.id.as_str()).collect();
    let id = Store::imported_run_id("joined", &ids);
    let stands = |id: &RunId| states.get(id).copied();
    // A joined run that was retracted by hand is not made again.
    if stands(&id) == Some(false) {
        return Ok(());
    }
    let is_made = stands(&id).is_some()
        || base.provenance.is_some()
            && write_joined_run((store, records), &id, base, sessions, before)?;
    let (hidden, reason) = if is_made {
        (
            all,
            format!(
                "joined into `{id}`, which has the outcomes of run `{}` and the usage of its session",
                base.id
            ),
        )
    } else {
        (
            sessions,
            format!(
                "run `{}` was made in this session, and keeps its own figures",
                base.id
            ),
        )
    };
    let hidden = hidden.iter().filter(|run| stands(&run.id) == Some(true));
    joined
        .retracted
        .extend(hidden.map(|run| (run.id.clone(), reason.clone())));
    wanted.insert(id);
    Ok(())
}

/// Copies the outcomes of the run and stores the joined run. Returns `false` if the record of the run cannot be copied, because it did not come from an import.
fn write_joined_run(
    (store, records): (&Store, &mut StoredRecords),
    id: &RunId,
    base: &Run,
    sessions: &[&Run],
    before: Option<&RunId>,
) -> Result<bool, StoreError> {
    // Runs in memory may have display names.
    let Some(own) = records.find_run(store, &base.id)? else {
        return Ok(false);
    };
    let key = hex_digest(&[b"joined", id.as_str().as_bytes()], true);
    let mut writer = SealedWriter::create(store, &key)?;
    records.for_each_outcome_of(store, &base.id, |mut outcome, details| {
        outcome.run = id.clone();
        writer.write_item_with_details(&outcome, &details)
    })?;
    let mut run = Run {
        id: id.clone(),
        carried: None,
        ..own
    };
    let figures = sessions
        .iter()
        .map(|session| SessionFigures::from_run(session));
    figures
        .reduce(SessionFigures::plus)
        .unwrap_or_default()
        .fill_run(&mut run);
    for figure in sessions.iter().flat_map(|session| &session.stated) {
        if run.stated.iter().all(|known| known.name != figure.name) {
            run.stated.push(figure.clone());
        }
    }
    let part = |run: &Run| {
        let Provenance {
            importer,
            file,
            sha256,
            ..
        } = run.provenance.clone().unwrap_or_default();
        JoinedPart {
            run: run.id.clone(),
            importer,
            file,
            sha256,
        }
    };
    let parts = [base]
        .into_iter()
        .chain(sessions.iter().copied())
        .map(part)
        .collect();
    let from = run.provenance.take().unwrap_or_default();
    run.provenance = Some(Provenance {
        content: None,
        first: None,
        replaces: before.cloned(),
        messages: None,
        joined: parts,
        ..from
    });
    writer.commit(&[run])?;
    Ok(true)
}
