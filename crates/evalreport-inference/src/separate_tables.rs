//! Arms of a suite that share no table, because their runs are of different suite versions or sources.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::arm::{Arm, SuiteGroup};
use super::baseline::UNKNOWN_VERSION;
use super::mismatch::{Grade, Mismatch, MismatchKind, worst_grade};

/// Arms of one table that share no table with arms of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Apart {
    pub suite: String,
    pub first: Vec<Arm>,
    pub second: Vec<Arm>,
    pub grade: Grade,
    pub mismatches: Vec<Mismatch>,
}

/// The tables of one suite, and which arms share one of them.
struct SharedTables<'a> {
    groups: &'a [SuiteGroup<'a>],
    meet: BTreeSet<(&'a Arm, &'a Arm)>,
}

impl<'a> SharedTables<'a> {
    fn from_groups(groups: &'a [SuiteGroup<'a>]) -> Self {
        let mut meet = BTreeSet::new();
        // With a single table all arms share it.
        if groups.len() > 1 {
            for group in groups {
                meet.extend(
                    group
                        .arms
                        .iter()
                        .flat_map(|one| group.arms.iter().map(move |other| (&one.arm, &other.arm))),
                );
            }
        }
        Self { groups, meet }
    }

    /// Returns the arms of two tables that share no table.
    fn separate_arms(&self, one: usize, other: usize) -> Option<Apart> {
        let (one, other) = (&self.groups[one], &self.groups[other]);
        let lonely = |own: &SuiteGroup<'_>, others: &SuiteGroup<'_>| -> Vec<Arm> {
            let misses = |arm: &&Arm| {
                others
                    .arms
                    .iter()
                    .any(|other| !self.meet.contains(&(*arm, &other.arm)))
            };
            own.arms
                .iter()
                .map(|arm| &arm.arm)
                .filter(misses)
                .cloned()
                .collect()
        };
        let (first, second) = (lonely(one, other), lonely(other, one));
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let mut mismatches = Vec::new();
        for (kind, own, others, lacking) in [
            (
                MismatchKind::SuiteVersion,
                &one.suite_version,
                &other.suite_version,
                UNKNOWN_VERSION,
            ),
            (MismatchKind::Source, &one.source, &other.source, "own runs"),
        ] {
            let said = |text: &Option<String>| text.clone().unwrap_or_else(|| lacking.to_owned());
            if own != others {
                mismatches.push(Mismatch::with_values(kind, "", said(own), said(others)));
            }
        }
        if mismatches.is_empty() {
            // Two files with the same name.
            mismatches.push(Mismatch::from_kind(MismatchKind::Source));
        }
        Some(Apart {
            suite: one.suite.clone(),
            first,
            second,
            grade: worst_grade(&mismatches),
            mismatches,
        })
    }
}

/// Finds the arms of each suite that share no table.
pub fn find_separate_arms(groups: &[SuiteGroup<'_>]) -> Vec<Apart> {
    let of_suite = |groups| {
        let tables = SharedTables::from_groups(groups);
        let pairs = (0..tables.groups.len())
            .flat_map(|one| (one + 1..tables.groups.len()).map(move |other| (one, other)));
        pairs
            .filter_map(|(one, other)| tables.separate_arms(one, other))
            .collect::<Vec<_>>()
    };
    groups
        .chunk_by(|one, other| one.suite == other.suite)
        .flat_map(of_suite)
        .collect()
}

/// Returns, by group, its arms that share no table with those of the suite's newest group; for the newest group, its arms against each
/// other group's.
pub fn find_separate_from_newest(groups: &[SuiteGroup<'_>]) -> Vec<Vec<Apart>> {
    let of_suite = |groups| {
        let tables = SharedTables::from_groups(groups);
        let mut found = vec![Vec::new(); tables.groups.len()];
        for other in 1..tables.groups.len() {
            if let Some(apart) = tables.separate_arms(0, other) {
                found[other].push(apart.clone());
                found[0].push(apart);
            }
        }
        found
    };
    groups
        .chunk_by(|one, other| one.suite == other.suite)
        .flat_map(of_suite)
        .collect()
}
