//! The state of a suite: what its evidence comes to, and whether an arm's level has moved of late.

use chrono::Days;
use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::{Arm, Verdict};

use super::compare::Comparison;
use super::history::{LevelChange, Series};
use super::site::{Overview, OverviewSuite};

/// A change of level is news for so many days of the suite's newest night.
const RECENT_DAYS: u64 = 14;

/// In the order in which an overview lists suites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuiteState {
    /// The level of an arm's pass rate has moved of late, whatever the verdict.
    Changed,
    Wins,
    /// Equal, within the margin or exactly.
    Same,
    /// One arm is ahead of all others in every run.
    FixedOrder,
    Open,
    NothingToCompare,
}

impl SuiteState {
    pub const ALL: [Self; 6] = [Self::Changed, Self::Wins, Self::Same, Self::FixedOrder, Self::Open, Self::NothingToCompare];

    pub fn of(suite: &OverviewSuite) -> Self {
        if suite.newest_change().is_some() { Self::Changed } else { Self::settled(suite) }
    }

    /// What the evidence of all nights comes to: of two arms their pair's, of more the whole board's.
    pub fn settled(suite: &OverviewSuite) -> Self {
        match (&suite.board.evidence, &suite.top) {
            (Some(evidence), _) if evidence.arms > 2 => {
                let is_fixed = evidence.deterministic == evidence.pairs;
                match &evidence.winner {
                    Some(_) if is_fixed => Self::FixedOrder,
                    Some(_) => Self::Wins,
                    None if evidence.deterministic + evidence.equal == evidence.pairs => Self::Same,
                    None if evidence.comparable > 0 => Self::Open,
                    None => Self::NothingToCompare,
                }
            }
            (_, Some(top)) => Self::of_pair(top),
            (_, None) => Self::NothingToCompare,
        }
    }

    /// The state of a comparison of two arms.
    pub fn of_pair(comparison: &Comparison) -> Self {
        let evidence = comparison.primary().map(|row| &row.evidence);
        match evidence.and_then(|evidence| evidence.pairs.first()).map(|pair| pair.verdict) {
            Some(Verdict::AWins | Verdict::BWins) => Self::Wins,
            Some(Verdict::DeterministicDifference { .. }) => Self::FixedOrder,
            Some(Verdict::Tie | Verdict::Equivalent) => Self::Same,
            Some(Verdict::NotEnoughEvidence { .. }) => Self::Open,
            Some(Verdict::NotComparable { .. } | Verdict::NoData { .. }) | None => Self::NothingToCompare,
        }
    }
}

impl OverviewSuite {
    /// The newest change of the level of a pass rate, as long as it is recent.
    pub fn newest_change(&self) -> Option<(&Arm, &LevelChange)> {
        let history = self.history.as_ref()?;
        let newest = history.arms.iter().flat_map(|arm| &arm.nights).map(|night| night.date).max()?;
        let first = newest.checked_sub_days(Days::new(RECENT_DAYS))?;
        let changes = history.arms.iter().flat_map(|arm| arm.changes.iter().map(|change| (&arm.arm, change)));
        changes
            .filter(|(_, change)| change.series == Series::PassRate && change.date > first)
            .max_by(|(one, first), (other, second)| first.date.cmp(&second.date).then_with(|| other.cmp(one)))
    }
}

impl Overview {
    /// The places of the suites by their states; those of one state in their own order.
    pub fn by_state(&self) -> Vec<(SuiteState, usize)> {
        let mut order: Vec<(SuiteState, usize)> = (0..).zip(&self.suites).map(|(place, suite)| (SuiteState::of(suite), place)).collect();
        order.sort_unstable();
        order
    }

    /// What changed of late, the newest first, each with the place of its suite.
    pub fn changes(&self) -> Vec<(usize, &Arm, &LevelChange)> {
        let changes = |(place, suite)| OverviewSuite::newest_change(suite).map(|(arm, change)| (place, arm, change));
        let mut found: Vec<(usize, &Arm, &LevelChange)> = self.suites.iter().enumerate().filter_map(changes).collect();
        found.sort_by_key(|(place, _, change)| (std::cmp::Reverse(change.date), *place));
        found
    }
}
