//! Which pairs of a board are ordered for all pairs at once: the promise of ranks, of the leading group and of who is first.

use crate::stats::{Multiplier, PairP, holm_adjustment, ordered_by_tests, rank_sets};

use super::comparison::Test;
use super::ordered_scores::{ScoreOrderedMatrix, order_draws};
use super::pair_test::PairFinding;
use super::policy::Policy;
use super::verdict::DataSupport;

/// What is known of how the pairs of a board depend on each other.
pub(super) enum Dependence {
    /// By arm and item: its mean. Items that only some arms have take part with `None` in the others. `clusters` are by item.
    Items {
        rows: Vec<Vec<Option<f64>>>,
        clusters: Option<Vec<u32>>,
    },
    /// By arm: the standard error of its figure. Arms are independent, and pairs share an arm.
    Arms(Vec<f64>),
    Unknown,
}

impl Dependence {
    /// Returns by pair whether its order holds together with that of all other pairs, with a chance of at most alpha that any is wrong.
    ///
    /// If flipping the signs of the items, or clusters, is the test of each pair, all are flipped together: this is the order that an audit
    /// of the same scores gives. Pairs with another test, such as one over items and runs, keep its p-value; only how p-values depend on each
    /// other comes from the scores. If that is unknown, Holm's adjustment assumes the worst.
    pub fn ordered_pairs(
        &self,
        findings: &[(usize, usize, PairFinding)],
        policy: &Policy,
    ) -> Vec<bool> {
        let tests: Vec<(usize, PairP)> = findings
            .iter()
            .enumerate()
            .filter_map(|(place, (first, second, finding))| {
                let p = finding.family_p_value()?;
                Some((
                    place,
                    PairP {
                        first: *first,
                        second: *second,
                        p,
                    },
                ))
            })
            .collect();
        let mut is_ordered: Vec<bool> = findings
            .iter()
            .map(|(_, _, finding)| finding.support == DataSupport::Fixed)
            .collect();
        let alone: Vec<PairP> = tests.iter().map(|(_, test)| *test).collect();
        let found = self
            .by_flips(findings, &alone, policy)
            .or_else(|| self.by_p_values(&alone, policy))
            .unwrap_or_else(|| by_holm(&alone, policy));
        for ((place, _), found) in tests.iter().zip(found) {
            is_ordered[*place] = found;
        }
        is_ordered
    }

    /// Flips all pairs together, if flips are the test of each and every arm has every item.
    fn by_flips(
        &self,
        findings: &[(usize, usize, PairFinding)],
        tests: &[PairP],
        policy: &Policy,
    ) -> Option<Vec<bool>> {
        let Self::Items { rows, clusters } = self else {
            return None;
        };
        let is_flipped = |finding: &PairFinding| {
            matches!(
                finding.test,
                Some(Test::McnemarExact | Test::PairedT | Test::SignFlip | Test::ClusterSignFlip)
            )
        };
        let counted = findings
            .iter()
            .filter(|(_, _, finding)| finding.family_p_value().is_some());
        if !counted.clone().all(|(_, _, finding)| is_flipped(finding)) {
            return None;
        }
        let whole: Vec<(usize, Vec<f64>)> = rows
            .iter()
            .enumerate()
            .filter(|(arm, _)| {
                tests
                    .iter()
                    .any(|test| test.first == *arm || test.second == *arm)
            })
            .map(|(arm, row)| Some((arm, row.iter().copied().collect::<Option<Vec<f64>>>()?)))
            .collect::<Option<_>>()?;
        let ordered = ScoreOrderedMatrix::from_rows(whole).ok()?;
        let clusters: Option<Vec<u32>> = clusters
            .as_ref()
            .map(|clusters| ordered.items.iter().map(|item| clusters[*item]).collect());
        let sets = rank_sets(
            &ordered.matrix,
            clusters.as_deref(),
            Multiplier::Sign,
            policy.confidence(),
            order_draws(&ordered.matrix),
            ordered.seed,
        )
        .ok()?;
        let mut place = vec![None; rows.len()];
        for (at, arm) in ordered.places.iter().enumerate() {
            place[*arm] = Some(at);
        }
        let is_ordered = |test: &PairP| {
            let (first, second) = (place[test.first]?, place[test.second]?);
            Some(sets.beats[first][second] || sets.beats[second][first])
        };
        tests.iter().map(is_ordered).collect()
    }

    /// Compares each p-value with the smallest of the family under the pairs' dependence.
    fn by_p_values(&self, tests: &[PairP], policy: &Policy) -> Option<Vec<bool>> {
        let (rows, clusters) = match self {
            Self::Items { rows, clusters } => (fill_gaps(rows)?, clusters.as_deref()),
            Self::Arms(errors) => (independent_rows(errors), None),
            Self::Unknown => return None,
        };
        let rows = rows.into_iter().enumerate().collect();
        let ordered = ScoreOrderedMatrix::from_rows(rows).ok()?;
        let clusters: Option<Vec<u32>> =
            clusters.map(|clusters| ordered.items.iter().map(|item| clusters[*item]).collect());
        let mut place = vec![0; ordered.places.len()];
        for (at, arm) in ordered.places.iter().enumerate() {
            place[*arm] = at;
        }
        let tests: Vec<PairP> = tests
            .iter()
            .map(|test| {
                let (one, other) = (place[test.first], place[test.second]);
                PairP {
                    first: one.min(other),
                    second: one.max(other),
                    p: test.p,
                }
            })
            .collect();
        ordered_by_tests(
            &ordered.matrix,
            clusters.as_deref(),
            &tests,
            policy.confidence(),
            order_draws(&ordered.matrix),
            ordered.seed,
        )
        .ok()
    }
}

fn by_holm(tests: &[PairP], policy: &Policy) -> Vec<bool> {
    let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
    holm_adjustment(&p)
        .unwrap_or_default()
        .into_iter()
        .map(|p| p < policy.alpha)
        .collect()
}

/// Sets an arm's missing values to the item's mean over the other arms, and drops items that no arm has: it neither adds to the dependence of
/// pairs nor takes from it. `None` without items.
fn fill_gaps(rows: &[Vec<Option<f64>>]) -> Option<Vec<Vec<f64>>> {
    let items = rows.first()?.len();
    let mean = |item: usize| {
        let known = || rows.iter().filter_map(|row| row[item]);
        let n = known().count() as f64;
        if n > 0.0 {
            known().sum::<f64>() / n
        } else {
            0.0
        }
    };
    let means: Vec<f64> = (0..items).map(mean).collect();
    let filled = |row: &Vec<Option<f64>>| {
        row.iter()
            .zip(&means)
            .map(|(value, mean)| value.unwrap_or(*mean))
            .collect()
    };
    Some(rows.iter().map(filled).collect())
}

/// Returns scores whose differences depend on each other as those of independent figures with these standard errors do.
fn independent_rows(errors: &[f64]) -> Vec<Vec<f64>> {
    let largest = errors
        .iter()
        .fold(0.0_f64, |largest, error| largest.max(*error));
    // An arm whose runs never vary has an error of its own as well: that nobody saw them vary does not make it none.
    let smallest = if largest > 0.0 { largest / 1000.0 } else { 1.0 };
    (0..errors.len())
        .map(|arm| {
            let mut row = vec![0.0; errors.len()];
            row[arm] = errors[arm].max(smallest);
            row
        })
        .collect()
}
