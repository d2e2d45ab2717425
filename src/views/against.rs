//! How an arm of a suite differs from the arm that all are held against: the baseline where the suite has one, else the leader.

use crate::inference::{Arm, PairEvidence};

use super::compare::{Comparison, ComparisonRow};
use super::site::OverviewSuite;

/// What a table says of an arm beside the arm that all are held against.
pub enum Against<'a> {
    /// It is that arm.
    Itself,
    /// The metric that decides and the evidence, seen from the arm.
    Other(&'a ComparisonRow, Box<PairEvidence>),
    /// The two were not compared.
    Unknown,
}

impl OverviewSuite {
    /// The best arm with a figure.
    pub fn leader(&self) -> Option<&Arm> {
        self.board.entries.iter().find(|entry| entry.primary.is_some()).map(|entry| &entry.arm)
    }

    /// Says how an arm differs from the baseline, or else from the leader.
    pub fn against(&self, arm: &Arm) -> Against<'_> {
        let is_reference = |known: &Arm| match &self.baseline {
            Some(baseline) => known.approach == *baseline,
            None => Some(known) == self.leader(),
        };
        if is_reference(arm) {
            return Against::Itself;
        }
        let place = |pair: &Comparison| match pair.arms.as_slice() {
            [first, second] if first.arm == *arm && is_reference(&second.arm) => Some(0),
            [first, second] if second.arm == *arm && is_reference(&first.arm) => Some(1),
            _ => None,
        };
        let found = self.pairs.iter().find_map(|pair| {
            let row = pair.primary()?;
            Some((row, row.evidence.pairs.first()?.seen_from(place(pair)?)))
        });
        found.map_or(Against::Unknown, |(row, pair)| Against::Other(row, Box::new(pair)))
    }
}
