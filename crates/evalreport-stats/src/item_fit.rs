//! Whether answers look as an item-response fit says.

use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::adjust::{benjamini_hochberg, holm_adjustment};
use super::distribution::normal_two_sided;
use super::item_response::{ItemResponse, QuadratureNodes};
use super::logistic::{logistic, softplus};
use super::mean::compensated_sum;
use super::rank_sets::random_uniform;
use super::{ResponseModel, Seed, Undefined};

/// What checks of a fit found.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemFit {
    /// By item: the chance under the model that better arms fail it this often while worse ones pass. `None` for items that all or none of
    /// the fitted arms passed, and for scores that are neither 0 nor 1.
    pub items: Vec<Option<f64>>,
    /// By item: whether it is reversed. Of the items so marked, at most a share of 5% is expected to be marked wrongly.
    pub reversed: Vec<bool>,
    /// By pair of fitted arms with enough common items.
    pub pairs: Vec<PairFit>,
}

/// How often two arms differ on an item, and how often the model says that they do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFit {
    pub first: usize,
    pub second: usize,
    /// Items that both were asked.
    pub items: u64,
    /// Mean chance that exactly one of the two passes.
    pub observed: f64,
    pub expected: f64,
    /// Whether the two differ beyond chance, for all pairs at once (Holm).
    pub is_off: bool,
}

/// Share of wrongly marked items, and the chance of a wrongly marked pair.
const FIT_TEST_LEVEL: f64 = 0.05;
/// Draws for one item, and how many of them must be as extreme for an early end (Besag and Clifford 1991).
const MAX_ITEM_DRAWS: u32 = 20_000;
const ENOUGH_EXTREME_DRAWS: u32 = 20;
/// Common items that a pair needs for a test.
const MIN_COMMON: usize = 10;

/// Checks a fit of the same scores.
///
/// Items: given how many of its arms passed, an item's difficulty says nothing about which ones did. Drawn patterns of as many passes, with
/// discriminations by their chances given that number, show how small the sum of the passing arms' abilities can be by chance. p-values are
/// sequential Monte Carlo (Besag and Clifford 1991), adjusted after Benjamini and Hochberg.
///
/// Pairs: the number of items on which exactly one of two arms passes is compared with its expectation, by the normal distribution with a
/// correction for continuity and after Holm. The expectation is that of independent items drawn from their set, before their answers are
/// known.
pub fn item_fit(
    scores: &[Vec<Option<f64>>],
    found: &ItemResponse,
    seed: Seed,
) -> Result<ItemFit, Undefined> {
    let items = scores.first().ok_or(Undefined::NoData)?.len();
    if items != found.items.len() {
        return Err(Undefined::Unequal);
    }
    let nodes = QuadratureNodes::new(
        found.fitted.arms.len(),
        found.model == ResponseModel::TwoParameter,
    );
    let p: Vec<Option<f64>> = (0..items)
        .into_par_iter()
        .map(|item| item_p_value(scores, found, &nodes, item, seed))
        .collect();
    let known: Vec<f64> = p.iter().flatten().copied().collect();
    let mut adjusted = benjamini_hochberg(&known)?.into_iter();
    let reversed = p
        .iter()
        .map(|p| p.is_some() && adjusted.next().is_some_and(|p| p < FIT_TEST_LEVEL))
        .collect();
    Ok(ItemFit {
        items: p,
        reversed,
        pairs: pair_fits(scores, found, &nodes)?,
    })
}

/// Returns the p-value of an item.
fn item_p_value(
    scores: &[Vec<Option<f64>>],
    found: &ItemResponse,
    nodes: &QuadratureNodes,
    item: usize,
    seed: Seed,
) -> Option<f64> {
    let fitted = &found.fitted;
    let mean = fitted.means[fitted.sets[item]?];
    let (mut abilities, mut passed) = (Vec::new(), Vec::new());
    for (arm, ability) in fitted.arms.iter().zip(&fitted.abilities) {
        let Some(score) = scores[*arm][item] else {
            continue;
        };
        if score > 0.0 && score < 1.0 {
            return None;
        }
        abilities.push(*ability);
        passed.push(score > 0.5);
    }
    let count = passed.iter().filter(|passed| **passed).count();
    if count == 0 || count == passed.len() {
        return None;
    }
    let slopes = DiscriminationGrid::new(&abilities, count, found, mean, nodes);
    let sum = |passed: &[bool]| {
        compensated_sum(
            abilities
                .iter()
                .zip(passed)
                .filter(|(_, passed)| **passed)
                .map(|(ability, _)| *ability),
        )
    };
    let own = sum(&passed);
    let mut random = seed.replicate_stream(item as u64);
    let (mut drawn, mut extreme) = (vec![false; passed.len()], 0);
    for draw in 1..=MAX_ITEM_DRAWS {
        slopes.draw_passes(&mut random, count, &mut drawn);
        extreme += u32::from(sum(&drawn) <= own + 1e-9);
        if extreme == ENOUGH_EXTREME_DRAWS {
            return Some(f64::from(extreme) / f64::from(draw));
        }
    }
    Some(f64::from(extreme + 1) / f64::from(MAX_ITEM_DRAWS + 1))
}

/// Discriminations that an item can have given how many arms passed it, with the chances that they give.
struct DiscriminationGrid {
    /// Chances of the discriminations, which add up to 1.
    weights: Vec<f64>,
    tables: Vec<PassChances>,
}

/// At a difficulty that makes the observed number of passes likely.
struct PassChances {
    /// By arm: its chance to pass.
    chances: Vec<f64>,
    /// By arm and number: the chance that so many of it and the arms after it pass.
    tails: Vec<Vec<f64>>,
}

impl DiscriminationGrid {
    fn new(
        abilities: &[f64],
        count: usize,
        found: &ItemResponse,
        mean: f64,
        nodes: &QuadratureNodes,
    ) -> Self {
        let (mut logs, mut tables) = (Vec::new(), Vec::new());
        for start in (0..nodes.len())
            .filter(|node| *node == 0 || !nodes.has_same_discrimination(*node, node - 1))
        {
            let slope = (found.discrimination_spread * nodes.discrimination[start]).exp();
            let place = difficulty_for_passes(abilities, slope, count);
            let table = PassChances::new(abilities, slope, place, count);
            let base = table.tails[0][count].ln()
                + compensated_sum(
                    abilities
                        .iter()
                        .map(|ability| softplus(slope * (ability - place))),
                );
            let of_node = |node: usize| {
                let difficulty = mean + found.difficulty_spread * nodes.difficulty[node];
                let softs = compensated_sum(
                    abilities
                        .iter()
                        .map(|ability| softplus(slope * (ability - difficulty))),
                );
                nodes.log_weight[node] + base - count as f64 * slope * (difficulty - place) - softs
            };
            let same =
                (start..nodes.len()).take_while(|node| nodes.has_same_discrimination(*node, start));
            logs.push(same.map(of_node).fold(f64::NEG_INFINITY, |sum, log| {
                sum.max(log) + (-(sum - log).abs()).exp().ln_1p()
            }));
            tables.push(table);
        }
        let largest = logs
            .iter()
            .fold(f64::NEG_INFINITY, |largest, log| largest.max(*log));
        let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let whole = compensated_sum(weights.iter().copied());
        Self {
            weights: weights.iter().map(|weight| weight / whole).collect(),
            tables,
        }
    }

    /// Draws which arms pass.
    fn draw_passes(&self, random: &mut ChaCha8Rng, count: usize, passed: &mut [bool]) {
        let (mut left, mut chosen) = (random_uniform(random), self.tables.len() - 1);
        for (place, weight) in self.weights.iter().enumerate() {
            if left < *weight {
                chosen = place;
                break;
            }
            left -= weight;
        }
        let PassChances { chances, tails } = &self.tables[chosen];
        let mut missing = count;
        for (arm, passed) in passed.iter_mut().enumerate() {
            *passed = missing > 0
                && random_uniform(random) * tails[arm][missing]
                    < chances[arm] * tails[arm + 1][missing - 1];
            missing -= usize::from(*passed);
        }
    }
}

impl PassChances {
    fn new(abilities: &[f64], slope: f64, place: f64, count: usize) -> Self {
        let chances: Vec<f64> = abilities
            .iter()
            .map(|ability| logistic(slope * (ability - place)))
            .collect();
        let mut tails = vec![vec![0.0; count + 1]; abilities.len() + 1];
        tails[abilities.len()][0] = 1.0;
        for arm in (0..abilities.len()).rev() {
            for number in 0..=count {
                let passed = if number > 0 {
                    chances[arm] * tails[arm + 1][number - 1]
                } else {
                    0.0
                };
                tails[arm][number] = passed + (1.0 - chances[arm]) * tails[arm + 1][number];
            }
        }
        Self { chances, tails }
    }
}

/// Returns the difficulty at which the expected number of passes is `count`.
fn difficulty_for_passes(abilities: &[f64], slope: f64, count: usize) -> f64 {
    let (mut low, mut high) = (-100.0, 100.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let expected = compensated_sum(
            abilities
                .iter()
                .map(|ability| logistic(slope * (ability - middle))),
        );
        if expected > count as f64 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

fn pair_fits(
    scores: &[Vec<Option<f64>>],
    found: &ItemResponse,
    nodes: &QuadratureNodes,
) -> Result<Vec<PairFit>, Undefined> {
    let fitted = &found.fitted;
    let weights: Vec<f64> = nodes.log_weight.iter().map(|log| log.exp()).collect();
    // By set, arm and node.
    let chances: Vec<Vec<Vec<f64>>> = fitted
        .means
        .iter()
        .map(|mean| {
            let at = |ability: f64, node: usize| {
                let slope = (found.discrimination_spread * nodes.discrimination[node]).exp();
                logistic(
                    slope * (ability - mean - found.difficulty_spread * nodes.difficulty[node]),
                )
            };
            fitted
                .abilities
                .iter()
                .map(|ability| (0..nodes.len()).map(|node| at(*ability, node)).collect())
                .collect()
        })
        .collect();
    let differ = |one: f64, other: f64| one + other - 2.0 * one * other;
    let (mut pairs, mut p) = (Vec::new(), Vec::new());
    for first in 0..fitted.arms.len() {
        for second in first + 1..fitted.arms.len() {
            let mut expected_of = vec![None; fitted.means.len()];
            let (mut observed, mut expected) = (Vec::new(), Vec::new());
            for (item, set) in fitted.sets.iter().enumerate() {
                let both = scores[fitted.arms[first]][item].zip(scores[fitted.arms[second]][item]);
                let (Some((one, other)), Some(set)) = (both, *set) else {
                    continue;
                };
                observed.push(differ(one, other));
                expected.push(*expected_of[set].get_or_insert_with(|| {
                    let (one, other) = (&chances[set][first], &chances[set][second]);
                    compensated_sum(
                        weights
                            .iter()
                            .zip(one.iter().zip(other))
                            .map(|(weight, (one, other))| weight * differ(*one, *other)),
                    )
                }));
            }
            if observed.len() < MIN_COMMON {
                continue;
            }
            let count = observed.len() as f64;
            let mean = |values: &[f64]| compensated_sum(values.iter().copied()) / count;
            let (seen, wanted) = (mean(&observed), mean(&expected));
            // The model's spread, or what is seen if that is larger: few items can look steadier than they are.
            let by_model = compensated_sum(expected.iter().map(|chance| chance * (1.0 - chance)));
            let seen_squares = compensated_sum(
                observed
                    .iter()
                    .zip(&expected)
                    .map(|(one, other)| (one - other - seen + wanted).powi(2)),
            );
            let error = by_model.max(seen_squares * count / (count - 1.0)).sqrt();
            // A count moves in steps of 1.
            let distance = (((seen - wanted) * count).abs() - 0.5).max(0.0);
            p.push(if error > 0.0 {
                normal_two_sided(distance / error)
            } else {
                1.0
            });
            let pair = PairFit {
                first: fitted.arms[first],
                second: fitted.arms[second],
                items: observed.len() as u64,
                observed: seen,
                expected: wanted,
                is_off: false,
            };
            pairs.push(pair);
        }
    }
    for (pair, p) in pairs.iter_mut().zip(holm_adjustment(&p)?) {
        pair.is_off = p < FIT_TEST_LEVEL;
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::super::item_response::item_response;
    use super::*;

    /// Twelve arms, one abler than the other, on 120 items, one harder than the other, with some luck. The last item is passed by the worst
    /// half; the last two arms pass and fail together.
    fn made() -> Vec<Vec<Option<f64>>> {
        let mut random = Seed(3).replicate_stream(0);
        let mut rows: Vec<Vec<Option<f64>>> = (0..12)
            .map(|arm| {
                let mut of = |item: i32| {
                    let odds = (f64::from(arm) - 5.5) / 2.0 - (f64::from(item % 40) - 20.0) / 10.0;
                    Some(f64::from(u8::from(
                        random_uniform(&mut random) < logistic(odds),
                    )))
                };
                (0..120).map(&mut of).collect()
            })
            .collect();
        rows[11] = rows[10].clone();
        for (arm, row) in rows.iter_mut().enumerate() {
            row[119] = Some(f64::from(u8::from(arm < 6)));
        }
        rows
    }

    #[test]
    fn a_reversed_item_and_a_copied_arm_are_found() {
        let rows = made();
        let found = item_response(&rows, None, 0.95).expect("a fit");
        let checked = item_fit(&rows, &found, Seed(1)).expect("checks");
        let reversed: Vec<usize> = (0..120).filter(|item| checked.reversed[*item]).collect();
        assert_eq!(reversed, [119]);
        let off: Vec<(usize, usize)> = checked
            .pairs
            .iter()
            .filter(|pair| pair.is_off)
            .map(|pair| (pair.first, pair.second))
            .collect();
        assert_eq!(off, [(10, 11)]);
        assert_eq!(
            checked,
            item_fit(&rows, &found, Seed(1)).expect("the same from the same seed")
        );
        assert_eq!(
            item_fit(&rows[..0], &found, Seed(1)),
            Err(Undefined::NoData)
        );
    }

    #[test]
    fn chances_of_patterns_by_hand() {
        // Two arms with odds of e and 1/e at difficulty 0: given one pass, the better one passed with odds e² to 1.
        let table = PassChances::new(&[1.0, -1.0], 1.0, 0.0, 1);
        let better = table.chances[0] * table.tails[1][0] / table.tails[0][1];
        assert!((better / (1.0 - better) - 2.0_f64.exp()).abs() < 1e-12);
        assert!((difficulty_for_passes(&[1.0, -1.0], 1.0, 1)).abs() < 1e-9);
    }
}
