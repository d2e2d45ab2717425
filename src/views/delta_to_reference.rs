//! How an arm differs from its suite's reference arm: the baseline if the suite has one, else the leader.

use crate::inference::{Arm, PairEvidence};

use super::compare::{Comparison, ComparisonRow};
use super::site::OverviewSuite;

/// One arm compared with the suite's reference arm.
pub enum ReferenceComparison<'a> {
    /// The arm is the reference.
    Itself,
    /// The deciding metric and its evidence, oriented to the arm.
    Other(&'a ComparisonRow, Box<PairEvidence>),
    /// No comparison of the two arms exists.
    Unknown,
}

impl OverviewSuite {
    /// Returns the best arm that has a primary figure.
    pub fn best_arm(&self) -> Option<&Arm> {
        self.board
            .entries
            .iter()
            .find(|entry| entry.primary.is_some())
            .map(|entry| &entry.arm)
    }

    /// Returns how an arm differs from the baseline, or from the leader if there is no baseline.
    pub fn compare_with_reference(&self, arm: &Arm) -> ReferenceComparison<'_> {
        let is_reference = |known: &Arm| match &self.baseline {
            Some(baseline) => known.approach == *baseline,
            None => Some(known) == self.best_arm(),
        };
        if is_reference(arm) {
            return ReferenceComparison::Itself;
        }
        let place = |pair: &Comparison| match pair.arms.as_slice() {
            [first, second] if first.arm == *arm && is_reference(&second.arm) => Some(0),
            [first, second] if second.arm == *arm && is_reference(&first.arm) => Some(1),
            _ => None,
        };
        let found = self.pairs.iter().find_map(|pair| {
            let row = pair.primary_row()?;
            Some((row, row.evidence.pairs.first()?.seen_from(place(pair)?)))
        });
        found.map_or(ReferenceComparison::Unknown, |(row, pair)| {
            ReferenceComparison::Other(row, Box::new(pair))
        })
    }
}
