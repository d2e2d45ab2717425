//! The verdicts of a full run of several arms, foreseen from a part of it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Run;
use crate::inference::Arm;
use crate::stats::{Foreseen, PairRecord, Units};

/// What a part of a full run says about all of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForeseenVerdict {
    /// The suite of the questions, or the tasks.
    pub suites: Vec<String>,
    /// The units of the full run's test.
    pub units: Units,
    /// Number of units.
    pub unit_count: u64,
    /// Questions, or runs of all tasks together, that each arm would have in the full run.
    pub items: u64,
    /// Level of the tests of the full run, adjusted over the pairs by Holm, whose verdicts these are.
    pub alpha: f64,
    /// The arm that beats every other, as an index of `arms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// The arms: those that beat most others first.
    pub arms: Vec<ForeseenArm>,
    /// The pairs of arms, the first before the second in `arms`.
    pub pairs: Vec<ForeseenPair>,
    /// What the items not asked would have cost at the same price. Absent if a cost is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_usd: Option<f64>,
}

/// One of the arms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForeseenArm {
    #[serde(flatten)]
    pub arm: Arm,
    pub runs: Vec<String>,
    /// Questions asked, or runs made.
    pub asked: u64,
    /// Other arms that it beats.
    pub beats: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Two of the arms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForeseenPair {
    /// Index in `arms`.
    pub first: usize,
    pub second: usize,
    pub verdict: Foreseen,
    /// Questions that both arms answered, or pairs of their runs.
    pub compared: u64,
    /// Questions that only the first arm passed, or pairs of runs in which it has the higher rate.
    pub won: u64,
    /// The same for the second arm.
    pub lost: u64,
}

/// An arm of a plan: its name, its items asked, and its runs.
pub struct PlannedRuns<'a> {
    pub arm: Arm,
    pub asked: u64,
    pub runs: Vec<&'a Run>,
}

impl ForeseenVerdict {
    /// Describes the verdicts on the pairs of some arms. `pairs` are in the order of [`crate::stats::AdaptiveInquiry::arm_pairs`].
    pub fn new(
        suites: Vec<String>,
        (units, unit_count, items): (Units, u64, u64),
        alpha: f64,
        arms: &[PlannedRuns<'_>],
        pairs: &[(Foreseen, PairRecord)],
    ) -> Self {
        let named = || crate::stats::AdaptiveInquiry::arm_pairs(arms.len()).zip(pairs);
        let mut beats = vec![0; arms.len()];
        let mut lead = vec![0i64; arms.len()];
        for ((first, second), (verdict, record)) in named() {
            let difference = i64::try_from(record.won).unwrap_or(i64::MAX)
                - i64::try_from(record.lost).unwrap_or(i64::MAX);
            lead[first] += difference;
            lead[second] -= difference;
            match verdict {
                Foreseen::FirstWins => beats[first] += 1,
                Foreseen::SecondWins => beats[second] += 1,
                Foreseen::NoWinner => {}
            }
        }
        let mut order: Vec<usize> = (0..arms.len()).collect();
        order.sort_by_key(|arm| std::cmp::Reverse((beats[*arm], lead[*arm])));
        let place = |arm: usize| order.iter().position(|known| *known == arm).unwrap_or(arm);
        let mut shown: Vec<ForeseenPair> = named()
            .map(|((first, second), (verdict, record))| {
                let (first, second, compared) = (place(first), place(second), record.asked);
                if first < second {
                    return ForeseenPair {
                        first,
                        second,
                        verdict: *verdict,
                        compared,
                        won: record.won,
                        lost: record.lost,
                    };
                }
                ForeseenPair {
                    first: second,
                    second: first,
                    verdict: verdict.swap_arms(),
                    compared,
                    won: record.lost,
                    lost: record.won,
                }
            })
            .collect();
        shown.sort_by_key(|pair| (pair.first, pair.second));
        let arm = |place: &usize| {
            let PlannedRuns { arm, asked, runs } = &arms[*place];
            let cost_usd = runs.iter().map(|run| run.cost_usd).sum();
            let runs = runs.iter().map(|run| run.id.to_string()).collect();
            ForeseenArm {
                arm: arm.clone(),
                runs,
                asked: *asked,
                beats: beats[*place],
                cost_usd,
            }
        };
        let arms: Vec<ForeseenArm> = order.iter().map(arm).collect();
        let saved = |arm: &ForeseenArm| {
            let left = items.saturating_sub(arm.asked) as f64;
            arm.cost_usd
                .filter(|_| arm.asked > 0)
                .map(|spent| spent / arm.asked as f64 * left)
        };
        Self {
            suites,
            units,
            unit_count,
            items,
            alpha,
            winner: arms
                .first()
                .filter(|first| first.beats + 1 == arms.len() as u64)
                .map(|_| 0),
            saved_usd: arms.iter().map(saved).sum(),
            arms,
            pairs: shown,
        }
    }
}
