//! Versions of a suite that are one content: releases hashed it in other ways, and a store has runs under several of these hashes.
//!
//! Plans say so: each lists the versions that its content has or had. A version that no plan names stays apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::{DateTime, Utc};

use crate::domain::{GivenRunNames, NamesByRun};
use crate::results::{Batch, Store, list_plans};
use crate::warehouse::Warehouse;

/// Gives runs of one content one version: that of the newest of them. Nothing is given where each suite has one version.
pub(super) fn join_versions(stores: &[PathBuf], warehouse: &Warehouse) -> NamesByRun {
    let mut names = NamesByRun::default();
    let mut newest = BTreeMap::<&str, BTreeMap<&str, Option<DateTime<Utc>>>>::new();
    for row in warehouse.runs() {
        if let Some(version) = &row.run.suite_version {
            let time = newest
                .entry(&row.run.suite)
                .or_default()
                .entry(version)
                .or_default();
            *time = (*time).max(row.run.timestamp);
        }
    }
    newest.retain(|_, versions| versions.len() > 1);
    if newest.is_empty() {
        return names;
    }
    // By suite and version: the version that stands for it.
    let mut joined = BTreeMap::<(&str, &str), &str>::new();
    for (suite, version) in newest
        .iter()
        .flat_map(|(suite, versions)| versions.keys().map(move |version| (*suite, *version)))
    {
        joined.insert((suite, version), version);
    }
    let paths = stores
        .iter()
        .map(Store::new)
        .flat_map(|store| list_plans(&store, &mut Vec::new()));
    for arm in paths
        .filter_map(|path| Batch::load(&path).ok())
        .flat_map(|batch| batch.arms)
    {
        let (Some(content), Some(versions)) = (&arm.content, newest.get(arm.suite.as_str())) else {
            continue;
        };
        let is_own = |version: &str| {
            content.has_version(version) || arm.suite_version.as_deref() == Some(version)
        };
        let of_content = joined
            .iter()
            .filter(|((suite, version), _)| *suite == arm.suite && is_own(version));
        let same: BTreeSet<&str> = of_content.map(|(_, stands)| *stands).collect();
        let Some(stands) = same
            .iter()
            .copied()
            .max_by_key(|version| (versions[version], *version))
        else {
            continue;
        };
        for ((suite, _), other) in &mut joined {
            if *suite == arm.suite && same.contains(*other) {
                *other = stands;
            }
        }
    }
    for row in warehouse.runs() {
        let Some(version) = row.run.suite_version.as_deref() else {
            continue;
        };
        if let Some(stands) = joined
            .get(&(row.run.suite.as_str(), version))
            .filter(|stands| **stands != version)
        {
            names.set_names(
                row.run.id.clone(),
                GivenRunNames {
                    suite_version: Some((*stands).to_owned()),
                    ..GivenRunNames::default()
                },
            );
        }
    }
    names
}
