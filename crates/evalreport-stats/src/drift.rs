//! Whether systems keep their abilities from hard items to easy ones.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::bootstrap::random_below;
use super::mean::compensated_sum;
use super::{ScoreMatrix, Seed, Undefined, quantile};

/// How much abilities move between two halves of the items, as shares of their spread.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Drift {
    /// Movement of the abilities.
    pub metric: f64,
    /// Movement that no rescaling can explain, however it bends the scale: the order itself moves.
    pub ordinal: f64,
}

/// Between hard and easy items, and as it would be between random halves.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct InvarianceDrift {
    pub drift: Drift,
    /// Mean over random halves.
    pub floor: Drift,
}

impl InvarianceDrift {
    /// Drift above this multiple of the floor exceeds it, by the Leaderboard Reporting Standard.
    pub const MAX_DRIFT_RATIO: f64 = 1.5;
}

/// A mean is kept this far from 0 and 1, where no ability is finite.
const MEAN_MARGIN: f64 = 1e-3;

/// Splits the items at the median of their means, estimates the abilities on the hard half and on the rest with the Rasch model
/// (Rasch 1960), and compares them; then the same for `halves` random halves. R7 of the Leaderboard Reporting Standard, draft 0.2.
///
/// Undefined for fewer than two systems, if either half is empty, without random halves, and if the abilities do not differ.
pub fn invariance_drift(
    matrix: &ScoreMatrix,
    halves: usize,
    seed: Seed,
) -> Result<InvarianceDrift, Undefined> {
    if matrix.system_count() < 2 || matrix.item_count() < 2 {
        return Err(Undefined::TooFew);
    }
    if halves == 0 {
        return Err(Undefined::NoData);
    }
    let means = matrix.item_means();
    let median = quantile(&means, 0.5)?;
    let (hard, easy): (Vec<usize>, Vec<usize>) =
        (0..matrix.item_count()).partition(|item| means[*item] <= median);
    let random = |half: usize| {
        let mut random = seed.replicate_stream(half as u64);
        let mut items: Vec<usize> = (0..matrix.item_count()).collect();
        for last in (1..items.len()).rev() {
            let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
            items.swap(last, random_below(&mut random, bound) as usize);
        }
        let rest = items.split_off(matrix.item_count() / 2);
        drift_between(matrix, &items, &rest, IterationMethod::Newton)
    };
    let (drift, floors) = rayon::join(
        || drift_between(matrix, &hard, &easy, IterationMethod::Fixed),
        // A half in which no system differs from another has no drift.
        || {
            (0..halves)
                .into_par_iter()
                .filter_map(|half| random(half).ok())
                .collect::<Vec<Drift>>()
        },
    );
    if floors.is_empty() {
        return Err(Undefined::NoVariation);
    }
    let mean = |of: fn(&Drift) -> f64| compensated_sum(floors.iter().map(of)) / floors.len() as f64;
    Ok(InvarianceDrift {
        drift: drift?,
        floor: Drift {
            metric: mean(|drift| drift.metric),
            ordinal: mean(|drift| drift.ordinal),
        },
    })
}

fn drift_between(
    matrix: &ScoreMatrix,
    one: &[usize],
    other: &[usize],
    approach: IterationMethod,
) -> Result<Drift, Undefined> {
    if one.is_empty() || other.is_empty() {
        return Err(Undefined::NoVariation);
    }
    let (first, second) = (
        rasch_abilities(&matrix.select_items(one), approach),
        rasch_abilities(&matrix.select_items(other), approach),
    );
    let spread = population_deviation(first.iter().chain(&second).copied());
    if spread <= 1e-12 {
        return Err(Undefined::NoVariation);
    }
    let bent = isotonic_regression(&first, &second);
    let apart = |from: &[f64]| {
        population_deviation(second.iter().zip(from).map(|(second, from)| second - from)) / spread
    };
    Ok(Drift {
        metric: apart(&first),
        ordinal: apart(&bent),
    })
}

/// How abilities and eases approach their values, round by round.
#[derive(Clone, Copy)]
enum IterationMethod {
    /// The standard's: 300 rounds of four times what is missing. Where nearly all pass or fail it stops before it is there.
    Fixed,
    /// Newton's, for each value alone (Wright and Douglas 1977): there after a tenth of the rounds.
    Newton,
}

impl IterationMethod {
    fn round_count(self) -> usize {
        match self {
            Self::Fixed => 300,
            Self::Newton => 30,
        }
    }

    /// Returns the change of a value whose mean should be `wanted`, from the chances' sum and sum of squares.
    fn value_change(self, wanted: f64, (sum, squares): (f64, f64), count: usize) -> f64 {
        let missing = wanted - sum / count as f64;
        match self {
            Self::Fixed => 4.0 * missing,
            Self::Newton => {
                (missing / ((sum - squares) / count as f64).max(MEAN_MARGIN / 2.0)).clamp(-1.0, 1.0)
            }
        }
    }
}

/// Returns the abilities of the Rasch model, centred: the chance to pass is the logistic function of a system's ability plus an item's ease.
fn rasch_abilities(matrix: &ScoreMatrix, approach: IterationMethod) -> Vec<f64> {
    let logit = |mean: f64| (mean / (1.0 - mean)).ln();
    let clipped = |means: Vec<f64>| -> Vec<f64> {
        means
            .into_iter()
            .map(|mean| mean.clamp(MEAN_MARGIN, 1.0 - MEAN_MARGIN))
            .collect()
    };
    let (rows, columns) = (clipped(matrix.system_means()), clipped(matrix.item_means()));
    let items = columns.len();
    let columns = group_equal_means(columns);
    let mut ability: Vec<f64> = rows.iter().copied().map(logit).collect();
    let mut ease = vec![0.0_f64; columns.len()];
    // With odds as products the logistic function needs no exponential per cell.
    let mut odds: Vec<f64> = ability.iter().map(|ability| ability.exp()).collect();
    let mut chances = vec![(0.0, 0.0); ability.len()];
    for _ in 0..approach.round_count() {
        let mut largest = 0.0_f64;
        for (ease, (mean, _)) in ease.iter_mut().zip(&columns) {
            let change = approach.value_change(*mean, sum_chances(&odds, ease.exp()), odds.len());
            *ease += change;
            largest = largest.max(change.abs());
        }
        chances.fill((0.0, 0.0));
        for (ease, (_, count)) in ease.iter().zip(&columns) {
            let own = ease.exp();
            for ((sum, squares), odds) in chances.iter_mut().zip(&odds) {
                let chance = chance_from_odds(odds * own);
                *sum += count * chance;
                *squares += count * chance * chance;
            }
        }
        for ((ability, mean), sums) in ability.iter_mut().zip(&rows).zip(&chances) {
            let change = approach.value_change(*mean, *sums, items);
            *ability += change;
            largest = largest.max(change.abs());
        }
        for (odds, ability) in odds.iter_mut().zip(&ability) {
            *odds = ability.exp();
        }
        // Later rounds would change no digit that anybody sees. Fixed rounds are fixed, so that all digits are the standard's.
        if matches!(approach, IterationMethod::Newton) && largest < 1e-9 {
            break;
        }
    }
    let centre = compensated_sum(ability.iter().copied()) / ability.len() as f64;
    ability.iter().map(|ability| ability - centre).collect()
}

/// Returns the distinct means in the order of the items, each with its number of items: items with the same mean are equally easy. Of passes
/// and fails there are few.
fn group_equal_means(means: Vec<f64>) -> Vec<(f64, f64)> {
    let mut places = BTreeMap::<u64, usize>::new();
    let mut groups: Vec<(f64, f64)> = Vec::new();
    for mean in means {
        let place = *places.entry(mean.to_bits()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((mean, 0.0));
        }
        groups[place].1 += 1.0;
    }
    groups
}

fn chance_from_odds(odds: f64) -> f64 {
    odds / (1.0 + odds)
}

/// Returns the sum and the sum of squares of all systems' chances on an item, in lanes so that it is vectorised.
fn sum_chances(odds: &[f64], ease: f64) -> (f64, f64) {
    const LANES: usize = 4;
    let (whole, rest) = (
        odds.chunks_exact(LANES),
        odds.chunks_exact(LANES).remainder(),
    );
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    for odds in whole {
        for lane in 0..LANES {
            let chance = chance_from_odds(odds[lane] * ease);
            sums[lane] += chance;
            squares[lane] += chance * chance;
        }
    }
    let tail = rest.iter().map(|odds| chance_from_odds(odds * ease));
    (
        sums.iter().sum::<f64>() + tail.clone().sum::<f64>(),
        squares.iter().sum::<f64>() + tail.map(|chance| chance * chance).sum::<f64>(),
    )
}

/// Returns the values of the closest function of `x` that never falls (Ayer and others 1955). Values at the same `x` are averaged first.
fn isotonic_regression(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|one, other| x[*one].total_cmp(&x[*other]));
    // Blocks with one value: its sum and the number of those that share it.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for same in order.chunk_by(|one, other| x[*one].total_cmp(&x[*other]).is_eq()) {
        blocks.push((same.iter().map(|index| y[*index]).sum(), same.len()));
        while let [.., (low, few), (high, more)] = blocks[..]
            && low / few as f64 > high / more as f64
        {
            blocks.truncate(blocks.len() - 2);
            blocks.push((low + high, few + more));
        }
    }
    let mut values = vec![0.0; x.len()];
    let mut left = order.iter();
    for (sum, count) in blocks {
        for index in left.by_ref().take(count) {
            values[*index] = sum / count as f64;
        }
    }
    values
}

/// Returns the standard deviation with divisor n.
fn population_deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count() as f64;
    let mean = compensated_sum(values.clone()) / n;
    (compensated_sum(values.map(|value| (value - mean).powi(2))) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_function_that_never_falls() {
        assert_eq!(
            isotonic_regression(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 5.0]),
            [1.0, 2.5, 2.5, 5.0]
        );
        assert_eq!(
            isotonic_regression(&[4.0, 3.0, 2.0, 1.0], &[1.0, 2.0, 3.0, 4.0]),
            [2.5; 4]
        );
        // 1 and 3 at the same x are 2 first, which pools with the 0 after them: (1 + 3 + 0) / 3.
        assert_eq!(
            isotonic_regression(&[1.0, 1.0, 2.0], &[1.0, 3.0, 0.0]),
            [4.0 / 3.0; 3]
        );
        assert_eq!(
            isotonic_regression(&[0.0, 1.0, 1.0], &[5.0, 4.0, 8.0]),
            [5.0, 6.0, 6.0]
        );
    }

    #[test]
    fn halves_that_turn_the_order_drift() {
        // On hard items the first system is best, on easy ones the last.
        let rows: Vec<Vec<f64>> = (0..4)
            .map(|system| {
                (0..40)
                    .map(|item| {
                        let (is_hard, level) = (item % 2 == 0, f64::from(system) / 4.0);
                        if is_hard {
                            0.4 - 0.3 * level
                        } else {
                            0.6 + 0.2 * level
                        }
                    })
                    .collect()
            })
            .collect();
        let matrix = ScoreMatrix::new(&rows).expect("scores");
        let found = invariance_drift(&matrix, 20, Seed(1)).expect("abilities");
        assert!(
            found.drift.metric > 1.5 * found.floor.metric
                && found.drift.ordinal > 1.5 * found.floor.ordinal,
            "{found:?}"
        );
        // The ordinal part is never larger.
        assert!(
            found.drift.ordinal <= found.drift.metric && found.floor.ordinal <= found.floor.metric
        );
        assert_eq!(
            found,
            invariance_drift(&matrix, 20, Seed(1)).expect("the same numbers from the same seed")
        );
        assert_eq!(
            invariance_drift(
                &ScoreMatrix::new(&[[0.5; 4]; 3]).expect("scores"),
                9,
                Seed(1)
            ),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            invariance_drift(&matrix, 0, Seed(1)),
            Err(Undefined::NoData)
        );
    }
}
