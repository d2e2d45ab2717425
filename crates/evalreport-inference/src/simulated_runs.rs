//! Simulated runs after the pattern of one arm, and the evidence about two sets of them, for the odds of a gate.

use crate::domain::PASS_RATE;
use crate::stats::{GateWorld, summarise_sample};

use super::answer::SuiteComparison;
use super::comparison::PairEvidence;
use super::metrics::rate_evidence;
use super::policy::{Design, Policy};
use super::sample::{ArmOutcomes, ArmRates, SuiteItems};

/// Simulated pairs of arms on the items of a real one.
pub struct RunSimulator<'a> {
    answer: &'a SuiteComparison<'a>,
    policy: &'a Policy,
    /// By item: attempts passed and counted.
    pub seen: Vec<(u64, u64)>,
    /// The standard deviation, as a share, of whole runs beyond the variation of their items.
    pub run_deviation: f64,
    /// Only counts are known, not which items passed.
    is_counted: bool,
}

/// The assumed part of an outcome's variance within an item, if it is unknown: as in [`crate::stats::gate_odds`].
const UNKNOWN_WITHIN: f64 = 0.2;
/// Maximum simulated deviation of runs.
const MAX_DEVIATION: f64 = 0.25;

impl<'a> RunSimulator<'a> {
    /// Uses an arm as the pattern. Returns `None` if its pass rate is unknown.
    pub fn from_arm(
        answer: &'a SuiteComparison<'a>,
        arm: usize,
        policy: &'a Policy,
    ) -> Option<Self> {
        let rates = &answer.rates[arm];
        let seen = match rates {
            ArmRates::Outcomes(outcomes) => attempts_by_item(outcomes, &answer.items),
            ArmRates::Counts(_) => {
                let runs = rates.counted_runs();
                let total = runs.iter().map(|run| run.1).max()?;
                let (passed, counted) = rates.total_counts();
                // The passes of one run, rounded to whole items.
                let passed = (2 * passed * total + counted) / (2 * counted);
                (0..total)
                    .map(|item| (u64::from(item < passed), 1))
                    .collect()
            }
            ArmRates::Unknown => return None,
        };
        let is_counted = matches!(rates, ArmRates::Counts(_));
        let run_deviation = run_deviation(&seen, &rates.run_rates(), is_counted);
        seen.iter().any(|item| item.1 > 0).then_some(Self {
            answer,
            policy,
            seen,
            run_deviation,
            is_counted,
        })
    }

    /// Returns whether the evidence about each pair needs resampling, which is slow.
    pub fn needs_resampling(&self) -> bool {
        self.answer.unit == Design::Clusters
    }

    /// Returns the evidence about the two arms of a world, the new one first, and their pass rates.
    pub fn simulate_evidence(&self, world: &GateWorld) -> (Option<PairEvidence>, [ArmRates; 2]) {
        let rates = [&world.head, &world.baseline].map(|runs| self.simulated_rates(runs));
        let metric = self
            .answer
            .find_metric(PASS_RATE)
            .map(|found| &found.metric);
        let evidence = metric.map(|metric| {
            rate_evidence(
                metric,
                &self.answer.group.suite,
                &self.answer.items,
                &rates,
                self.policy,
            )
        });
        (
            evidence.and_then(|evidence| evidence.pairs.into_iter().next()),
            rates,
        )
    }

    fn simulated_rates(&self, runs: &[Vec<bool>]) -> ArmRates {
        if self.is_counted {
            let passed = |run: &Vec<bool>| run.iter().filter(|passed| **passed).count() as u64;
            return ArmRates::Counts(
                runs.iter()
                    .map(|run| (passed(run), run.len() as u64))
                    .collect(),
            );
        }
        let is_tried = |unit: usize| self.seen[unit].1 > 0;
        ArmRates::Outcomes(ArmOutcomes::from_simulation(
            runs,
            &self.answer.items,
            is_tried,
        ))
    }
}

/// Returns passed and counted attempts at each item over all runs. If several evaluators judged an item, the first one counts.
fn attempts_by_item(outcomes: &ArmOutcomes, items: &SuiteItems) -> Vec<(u64, u64)> {
    let mut seen = Vec::with_capacity(items.unit_count());
    items.for_each_item(|_, columns| {
        let cell = columns
            .iter()
            .map(|column| outcomes.cells.counts_of(*column as usize))
            .find(|cell| cell.1 > 0)
            .unwrap_or_default();
        seen.push((u64::from(cell.0), u64::from(cell.1)));
    });
    seen
}

/// Returns how much more the runs' rates vary than their items explain, by the method of moments; 0 for fewer than three runs.
fn run_deviation(seen: &[(u64, u64)], rates: &[f64], is_counted: bool) -> f64 {
    let Some(sd) = summarise_sample(rates)
        .ok()
        .and_then(|summary| summary.sd)
        .filter(|_| rates.len() > 2)
    else {
        return 0.0;
    };
    let n = seen.iter().filter(|item| item.1 > 0).count() as f64;
    let within = |(passed, counted): &(u64, u64)| {
        let (passed, counted) = (*passed as f64, *counted as f64);
        passed * (counted - passed) / (counted * (counted - 1.0))
    };
    let repeated: Vec<f64> = seen.iter().filter(|item| item.1 > 1).map(within).collect();
    let noise = if is_counted || repeated.is_empty() {
        let rate = rates.iter().sum::<f64>() / rates.len() as f64;
        UNKNOWN_WITHIN * rate * (1.0 - rate)
    } else {
        repeated.iter().sum::<f64>() / repeated.len() as f64
    };
    (sd * sd - noise / n).max(0.0).sqrt().min(MAX_DEVIATION)
}
