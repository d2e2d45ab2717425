//! The state of a suite: its verdict, and whether an arm's level changed recently.

use chrono::Days;
use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::{Arm, PairVerdict};

use super::compare::Comparison;
use super::site::{Overview, OverviewSuite};
use crate::inference::{LevelChange, Series};

/// A change point counts as recent for this number of days before the suite's newest day.
const RECENT_DAYS: u64 = 14;

/// Ordered as an overview lists suites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuiteState {
    /// The level of an arm's pass rate changed recently, whatever the verdict.
    Changed,
    Wins,
    /// Equivalent within the declared margin, or exactly equal in every run. Equal figures of runs that vary are open.
    Same,
    /// One arm leads all others in every run.
    FixedOrder,
    Open,
    NothingToCompare,
}

impl SuiteState {
    pub const ALL: [Self; 6] = [
        Self::Changed,
        Self::Wins,
        Self::Same,
        Self::FixedOrder,
        Self::Open,
        Self::NothingToCompare,
    ];

    pub fn from_suite(suite: &OverviewSuite) -> Self {
        if suite.newest_change().is_some() {
            Self::Changed
        } else {
            Self::from_evidence(suite)
        }
    }

    /// Returns the state by the evidence of all runs: the pair's verdict for two arms, the board's for more.
    pub fn from_evidence(suite: &OverviewSuite) -> Self {
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
            (_, Some(top)) => Self::from_pair(top),
            (_, None) => Self::NothingToCompare,
        }
    }

    /// Returns the state of a comparison of two arms.
    pub fn from_pair(comparison: &Comparison) -> Self {
        let evidence = comparison.primary_row().map(|row| &row.evidence);
        evidence
            .and_then(|evidence| evidence.pairs.first())
            .map_or(Self::NothingToCompare, |pair| {
                Self::from_verdict(pair.verdict)
            })
    }

    pub fn from_verdict(verdict: PairVerdict) -> Self {
        match verdict {
            PairVerdict::AWins | PairVerdict::BWins => Self::Wins,
            PairVerdict::DeterministicDifference { .. } => Self::FixedOrder,
            PairVerdict::Tie | PairVerdict::Equivalent => Self::Same,
            PairVerdict::NotEnoughEvidence { .. } => Self::Open,
            PairVerdict::NotComparable { .. } | PairVerdict::NoData { .. } => {
                Self::NothingToCompare
            }
        }
    }
}

impl OverviewSuite {
    /// Returns the newest change point of a pass rate, if it is recent.
    pub fn newest_change(&self) -> Option<(&Arm, &LevelChange)> {
        let history = self.history.as_ref()?;
        let newest = history
            .arms
            .iter()
            .flat_map(|arm| &arm.nights)
            .map(|night| night.date)
            .max()?;
        let first = newest.checked_sub_days(Days::new(RECENT_DAYS))?;
        let changes = history
            .arms
            .iter()
            .flat_map(|arm| arm.changes.iter().map(|change| (&arm.arm, change)));
        changes
            .filter(|(_, change)| change.series == Series::PassRate && change.date > first)
            .max_by(|(one, first), (other, second)| {
                first.date.cmp(&second.date).then_with(|| other.cmp(one))
            })
    }
}

impl Overview {
    /// Returns the suites' indices sorted by state. Suites of one state keep their order.
    pub fn by_state(&self) -> Vec<(SuiteState, usize)> {
        let mut order: Vec<(SuiteState, usize)> = (0..)
            .zip(&self.suites)
            .map(|(place, suite)| (SuiteState::from_suite(suite), place))
            .collect();
        order.sort_unstable();
        order
    }

    /// Returns the recent change points, newest first, each with its suite's index.
    pub fn recent_changes(&self) -> Vec<(usize, &Arm, &LevelChange)> {
        let changes = |(place, suite)| {
            OverviewSuite::newest_change(suite).map(|(arm, change)| (place, arm, change))
        };
        let mut found: Vec<(usize, &Arm, &LevelChange)> =
            self.suites.iter().enumerate().filter_map(changes).collect();
        found.sort_by_key(|(place, _, change)| (std::cmp::Reverse(change.date), *place));
        found
    }
}
