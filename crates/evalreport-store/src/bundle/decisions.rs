//! What people decided about runs of a bundle: accepted regressions and tombstones. Without them a gate over the bundle would answer otherwise
//! than at home.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::super::{
    Retraction, Retractions, Store, StoreError, acceptance, append_acceptances, load_acceptances,
    retraction,
};
use crate::domain::{Acceptance, Filter, Run};

/// Accepted regressions of the bundle's runs, and tombstones that name runs by their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BundleDecisions {
    pub accepted: Vec<Acceptance>,
    pub retracted: Vec<Retraction>,
}

impl BundleDecisions {
    pub fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.retracted.is_empty()
    }

    /// Keeps what the store does not know yet. A run that somebody there showed again is not retracted once more.
    pub(super) fn without_known(&self, store: &Store) -> Result<Self, StoreError> {
        let known = load_acceptances(store).map_err(StoreError::Invalid)?;
        let there = Retractions::load(store).map_err(StoreError::Invalid)?;
        let told: BTreeSet<&String> = there
            .standing
            .iter()
            .flat_map(|one| &one.selector.ids)
            .chain(&there.undone)
            .collect();
        let retracted = self.retracted.iter().filter_map(|one| {
            let ids: Vec<String> = one
                .selector
                .ids
                .iter()
                .filter(|id| !told.contains(id))
                .cloned()
                .collect();
            let selector = Filter {
                ids,
                ..Filter::default()
            };
            (!selector.ids.is_empty()).then(|| Retraction {
                selector,
                ..one.clone()
            })
        });
        let accepted = self
            .accepted
            .iter()
            .filter(|one| !known.contains(one))
            .cloned();
        Ok(Self {
            accepted: accepted.collect(),
            retracted: retracted.collect(),
        })
    }

    pub(super) fn append_to(&self, store: &Store) -> Result<(), StoreError> {
        if !self.accepted.is_empty() {
            append_acceptances(store, &self.accepted)?;
        }
        self.retracted
            .iter()
            .try_for_each(|one| one.append_to(store))
    }
}

/// The nights of the arms of a bundle: by suite, version, approach and model, the batches and times of their runs.
#[derive(Default)]
pub(super) struct BundleNights(BTreeMap<[String; 4], BatchesAndTimes>);

type BatchesAndTimes = (BTreeSet<String>, Vec<DateTime<Utc>>);

fn arm_of(suite: &str, version: Option<&str>, approach: &str, model: &str) -> [String; 4] {
    [suite, version.unwrap_or_default(), approach, model].map(str::to_owned)
}

impl BundleNights {
    pub fn add_run(&mut self, run: &Run) {
        let (batches, times) = self
            .0
            .entry(arm_of(
                &run.suite,
                run.suite_version.as_deref(),
                &run.approach,
                &run.model,
            ))
            .or_default();
        batches.insert(run.batch_name().to_owned());
        times.extend(run.timestamp);
    }

    /// Reads an accepted regression. It may be about nights of this bundle only: a stranger's bundle accepts nothing of others.
    pub fn parse_acceptance(&self, record: &[u8]) -> Result<Acceptance, String> {
        let one = acceptance::parse_acceptance(record)?;
        let own = self.0.get(&arm_of(
            &one.suite,
            one.suite_version.as_deref(),
            &one.approach,
            &one.model,
        ));
        let is_within = |time: Option<DateTime<Utc>>| {
            time.is_none_or(|time| {
                own.is_some_and(|(_, times)| {
                    times.iter().min() <= Some(&time) && Some(&time) <= times.iter().max()
                })
            })
        };
        let has_batches =
            own.is_some_and(|(batches, _)| one.batches.iter().all(|batch| batches.contains(batch)));
        if !has_batches || !is_within(one.since) || !is_within(one.through) {
            return Err("accepts a regression on nights of which the bundle has no run".to_owned());
        }
        Ok(one)
    }
}

/// Reads a tombstone. It must name its runs: one of a whole suite would hide runs that the bundle's maker never saw.
pub(super) fn parse_tombstone(record: &[u8]) -> Result<Retraction, String> {
    let one = retraction::parse_retraction(record)?;
    let by_ids = Filter {
        ids: one.selector.ids.clone(),
        ..Filter::default()
    };
    if one.undo || one.selector != by_ids {
        return Err("is a tombstone that does not name its runs".to_owned());
    }
    Ok(one)
}
