//! When repeats may end: if two arms are decided, or if each rate is precise enough. The rules allow looking after every round.

use crate::stats;

use super::decision::Decision;
use super::policy::CONFIDENCE;
use super::verdict::{DataSupport, PairVerdict, VerdictInputs, decide_verdict};

/// Runs of each arm before the required number is planned.
pub const PILOT_RUNS: u32 = 5;

/// Rounds won and lost by the first of two arms, with evidence that is valid at any round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundDuels {
    pub won: u64,
    pub lost: u64,
    /// Evidence against "each wins as often as the other", see [`stats::mcnemar_e_value`].
    pub e_value: f64,
    /// The evidence at which a winner is named: 1 / alpha.
    pub enough: f64,
    /// About this suite, run again.
    pub verdict: PairVerdict,
}

/// The verdict of a comparison of the same runs. Its first arm is the first arm of the duels.
#[derive(Clone, Debug, PartialEq)]
pub struct RunComparison {
    pub verdict: PairVerdict,
    pub decision: Option<Decision>,
}

impl RoundDuels {
    /// Pairs two arms' rates by round. Rounds without a rate of both arms are skipped, and ties do not count.
    pub fn from_rates(first: &[Option<f64>], second: &[Option<f64>], alpha: f64) -> Self {
        let pairs = || {
            first
                .iter()
                .zip(second)
                .filter_map(|(one, other)| Some(((*one)?, (*other)?)))
        };
        let won = pairs().filter(|(one, other)| one > other).count() as u64;
        let lost = pairs().filter(|(one, other)| one < other).count() as u64;
        let e_value = stats::mcnemar_e_value(won, lost);
        // 1 / e-value is a p-value that is valid at any round (Markov's inequality; Ramdas et al. 2023).
        let p = (1.0 / e_value).min(1.0);
        let difference =
            (won > 0 || lost > 0).then(|| (won as f64 - lost as f64) / (won + lost) as f64);
        let looked = VerdictInputs {
            difference,
            interval: None,
            bounds: None,
            margin: None,
            higher_is_better: true,
        };
        Self {
            won,
            lost,
            e_value,
            enough: 1.0 / alpha,
            verdict: decide_verdict(
                DataSupport::Tested { p, doubt: None },
                &looked,
                Some(p),
                alpha,
            ),
        }
    }

    /// Returns whether one arm could still win if it won the next `left` rounds.
    pub fn is_reachable(&self, left: u64) -> bool {
        stats::mcnemar_e_value(self.won.max(self.lost) + left, self.won.min(self.lost))
            >= self.enough
    }

    /// Returns whether more repeats are useless: the duels have a winner, and the comparison of the same runs names the same one, or at
    /// least names no other and needs no more runs. `compare` is called only if the duels have a winner. If it returns `None`, the duels
    /// decide alone.
    pub fn is_settled(&self, compare: impl FnOnce() -> Option<RunComparison>) -> bool {
        let Some(winner) = self.verdict.winning_place() else {
            return false;
        };
        let Some(compared) = compare() else {
            return true;
        };
        match compared.verdict.better_place() {
            Some(better) => better == winner,
            None => {
                !matches!(&compared.decision, Some(Decision::Measure { more, .. }) if more.of == "runs")
            }
        }
    }
}

/// Returns the fewest pairs of runs that can name a winner: one arm wins all of them.
pub fn fewest_pairs(alpha: f64) -> u64 {
    (1..1000)
        .find(|pairs| stats::mcnemar_e_value(*pairs, 0) >= 1.0 / alpha)
        .unwrap_or(1000)
}

/// Returns the runs that each arm needs for a rate within ±`width`, a share. Planned from the first `PILOT` counted runs of each arm;
/// `None` before that. `rates` are by arm and round; `most` is the planned number of rounds.
pub fn planned_runs(rates: &[Vec<Option<f64>>], most: u64, width: f64) -> Option<u64> {
    let needs = rates.iter().map(|rates| {
        let pilot: Vec<f64> = rates
            .iter()
            .copied()
            .flatten()
            .take(PILOT_RUNS as usize)
            .collect();
        if (pilot.len() as u64) < u64::from(PILOT_RUNS).min(most) {
            return None;
        }
        let half = stats::mean_interval(&pilot, CONFIDENCE)
            .map_or(0.0, |interval| (interval.high - interval.low) / 2.0);
        let needed = if half > width {
            stats::n_half_width(pilot.len() as u64, half, width).unwrap_or(most)
        } else {
            0
        };
        Some(needed.max(u64::from(PILOT_RUNS)))
    });
    needs.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::super::comparison::Needed;
    use super::super::decision::Why;
    use super::super::verdict::{Obstacle, Place};
    use super::*;

    const ALPHA: f64 = 0.05;

    fn rates(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    fn duels(won: usize, lost: usize) -> RoundDuels {
        let first: Vec<f64> = (0..won + lost)
            .map(|round| if round < won { 0.9 } else { 0.1 })
            .collect();
        RoundDuels::from_rates(&rates(&first), &rates(&vec![0.5; won + lost]), ALPHA)
    }

    fn measure(of: &'static str) -> Decision {
        Decision::Measure {
            more: Needed { n: 4, of },
            new_only: false,
            usd: None,
            seconds: None,
        }
    }

    #[test]
    fn eight_straight_wins_name_a_winner_and_seven_do_not() {
        assert_eq!(
            (duels(8, 0).verdict, duels(0, 8).verdict),
            (PairVerdict::AWins, PairVerdict::BWins)
        );
        assert_eq!(
            duels(7, 0).verdict,
            PairVerdict::NotEnoughEvidence { reason: None }
        );
        assert_eq!(
            duels(3, 3).verdict,
            PairVerdict::NotEnoughEvidence { reason: None }
        );
        assert_eq!(
            RoundDuels::from_rates(&[], &[], ALPHA)
                .verdict
                .winning_place(),
            None
        );
    }

    #[test]
    fn a_winner_is_out_of_reach_if_straight_wins_would_not_do() {
        assert!(duels(0, 0).is_reachable(8) && !duels(0, 0).is_reachable(7));
        assert!(duels(3, 3).is_reachable(20) && !duels(3, 3).is_reachable(8));
        assert!(duels(2, 8).is_reachable(6), "the arm ahead");
    }

    #[test]
    fn fewer_pairs_than_a_straight_series_decide_nothing() {
        assert_eq!(fewest_pairs(ALPHA), 8);
        assert!(fewest_pairs(0.2) < 8 && fewest_pairs(0.001) > 8);
    }

    #[test]
    fn equal_rates_and_rounds_without_one_say_nothing() {
        let (mut first, mut second) = (rates(&[0.8; 8]), rates(&[0.4; 8]));
        let plain = RoundDuels::from_rates(&first, &second, ALPHA);
        first.extend([Some(0.5), None, Some(0.1)]);
        second.extend([Some(0.5), Some(1.0), None]);
        assert_eq!(RoundDuels::from_rates(&first, &second, ALPHA), plain);
    }

    #[test]
    fn pairs_without_a_winner_ask_for_no_comparison() {
        let asked = || unreachable!("there is nothing to hold against it");
        assert!(!duels(7, 0).is_settled(asked));
    }

    #[test]
    fn it_is_settled_where_the_comparison_agrees_or_no_run_would_help_it() {
        let open = PairVerdict::NotEnoughEvidence {
            reason: Some(Obstacle::FewRuns),
        };
        let settled = |verdict: PairVerdict, decision: &Option<Decision>| {
            duels(9, 0).is_settled(|| {
                Some(RunComparison {
                    verdict,
                    decision: decision.clone(),
                })
            })
        };
        assert!(settled(PairVerdict::AWins, &None));
        assert!(settled(
            PairVerdict::DeterministicDifference {
                ahead: Place::First
            },
            &None
        ));
        assert!(
            !settled(PairVerdict::BWins, &None),
            "the table names the other arm"
        );
        assert!(
            !settled(open, &Some(measure("runs"))),
            "more runs would settle the table too"
        );
        assert!(
            settled(open, &Some(measure("items"))),
            "it takes other items, which no repeat brings"
        );
        assert!(settled(
            open,
            &Some(Decision::CannotSettle {
                why: Why::TooFewUnits
            })
        ));
        assert!(duels(9, 0).is_settled(|| None));
    }

    #[test]
    fn precision_is_planned_once_after_a_pilot() {
        let wide = vec![rates(&[0.5, 0.6, 0.7, 0.4, 0.5]), rates(&[0.5; 5])];
        assert!(
            planned_runs(&wide, 50, 0.02).is_some_and(|needed| needed > 5),
            "the first arm varies"
        );
        assert_eq!(planned_runs(&wide, 50, 0.2), Some(5));
        let longer: Vec<Vec<Option<f64>>> = wide
            .iter()
            .map(|arm| [arm.as_slice(), &rates(&[0.0, 1.0])].concat())
            .collect();
        assert_eq!(
            planned_runs(&longer, 50, 0.02),
            planned_runs(&wide, 50, 0.02),
            "later runs do not change the plan"
        );
        assert_eq!(
            planned_runs(&[rates(&[0.5, 0.6])], 50, 0.2),
            None,
            "the pilot is not over"
        );
        assert!(
            planned_runs(&[rates(&[0.5, 0.6])], 2, 0.5).is_some(),
            "no more are planned than these"
        );
    }

    proptest::proptest! {
        #[test]
        fn exchanging_the_arms_mirrors_the_verdict(values in proptest::collection::vec((0.0f64..1.0, 0.0f64..1.0), 0..30)) {
            let (first, second): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
            let here = RoundDuels::from_rates(&rates(&first), &rates(&second), ALPHA);
            let there = RoundDuels::from_rates(&rates(&second), &rates(&first), ALPHA);
            proptest::prop_assert_eq!(here.verdict, there.verdict.swap_arms());
            proptest::prop_assert_eq!((here.won, here.lost), (there.lost, there.won));
        }
    }
}
