//! Means over items and runs together: both items and runs are samples.
//!
//! A run shifts all of its items together (a busy provider, another model behind the same name, a crash half-way), so that more items do
//! not average this out. The variance of a mean over n items with R runs each therefore has a part for items and one for runs:
//!
//! V = V(items) + σ²(run) · Σ W², where W is the share of a run in its arm's mean (1/R if every item was tried in every run).
//!
//! V(items) is s²/n of the items' differences, or CR2 over clusters. It does not include the shifts of runs, because these move all items
//! alike. σ²(run) is the variance between runs beyond what independent items explain: with r(ij) the deviation of item i in run j from the
//! item's mean, weighted as in the arm's mean, and Q = Σ(j) (Σ(i) r(ij))², B = Σ(ij) r(ij)², it is (Q − B) / (k(Q) − k(B)), where k is the
//! contribution of a run effect of variance 1 to each. For balanced data this is the two-way analysis of variance: (s²(run means) −
//! s²(residual) / n). It is the crossed random effects model by moments (Henderson 1953; for clusters in two directions Cameron, Gelbach
//! and Miller 2011, V(items) + V(runs) − V(both)), with Satterthwaite's (1946) degrees of freedom.
//!
//! For two to five runs the runs' part is uncertain: no test can hold 7% false winners whatever runs do, and keep 90% of the power of a
//! test over items if runs add nothing. The most possible is 64% with two runs per arm and 83% with three, if all of the items' noise is
//! that of single attempts (`benches/simulations/runs_vary.rs` computes the bound). This test subtracts the variance explained by items
//! [`subtraction_factor`] times, calibrated there to hold 7%. If any variance between runs is added, the degrees of freedom are those of all variance
//! measured between runs.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::cluster::Cr2;
use super::distribution::t_two_sided;
use super::mean::{compensated_sum, t_interval};
use super::{Interval, Undefined};

/// The level of the test whether runs vary more than their items explain.
const RUNS_VARY_LEVEL: f64 = 0.05;

/// One arm's values by item and run.
#[derive(Clone, Copy, Debug)]
pub struct ItemsByRuns<'a> {
    /// Number of runs, at least one.
    pub runs: usize,
    /// The runs of the first item, then those of the second, and so on; `None` for a missing run. The length is a multiple of the number of
    /// runs.
    pub values: &'a [Option<f64>],
}

/// A mean over items and runs, or a difference a − b of two, with its t interval and its test against zero, in the values' unit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct TwoWay {
    /// Items with a value in every arm.
    pub n: u64,
    /// Independent units among the items: clusters if there are any, else items.
    pub units: u64,
    /// The mean over items of the item's mean over runs; for two arms the difference of both.
    pub estimate: f64,
    pub standard_error: f64,
    /// Satterthwaite's, at least 1.
    pub degrees: f64,
    pub t: f64,
    /// Two-sided.
    pub p: f64,
    pub interval: Interval,
    /// The items' part of the squared standard error, with all noise that a run does not share.
    pub var_items: f64,
    /// The runs' part of the squared standard error, over all arms. 0 if runs vary no more than their items explain, or if an arm has one
    /// run.
    pub var_runs: f64,
    /// Whether every arm has at least two runs. If not, an arm with one run is assumed not to vary.
    pub runs_measured: bool,
    /// The probability of runs that differ at least this much if only items varied (F test). `None` if no arm has two runs.
    pub runs_p: Option<f64>,
    /// Whether runs vary more than their items explain: `runs_p` is below 5%.
    pub runs_vary: bool,
}

/// Compares two arms over the same items, each tried in the arm's own runs, which are not paired with those of the other.
///
/// `a` and `b` have the same items in the same order; an item without a value in one arm is skipped. `clusters` gives the cluster of each
/// item. Values are passes (0 and 1), scores, or logarithms of amounts. With one run per arm and no clusters this is the paired t test.
/// Undefined if the arms have different items, with fewer than two units, or if nothing varies.
pub fn two_way(
    a: ItemsByRuns,
    b: ItemsByRuns,
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    two_way_on_board(a, b, clusters, [None; 2], confidence)
}

/// Compares two arms by the method of [`two_way`], with what the runs of a board add. `noise` is that of each arm; an arm without it is
/// judged by its own runs.
pub fn two_way_on_board(
    a: ItemsByRuns,
    b: ItemsByRuns,
    clusters: Option<&[u32]>,
    noise: [Option<RunNoise>; 2],
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    estimate_arms(&[a, b], clusters, &noise, confidence)
}

/// Estimates the mean of one arm over items and runs, by the method of [`two_way`]. The interval is not clipped to any range.
pub fn one_way(
    arm: ItemsByRuns,
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    estimate_arms(&[arm], clusters, &[None], confidence)
}

/// One arm's values, summed up once for comparisons with many arms.
#[derive(Debug)]
pub struct SummedArm {
    /// By item: the mean over its runs.
    means: Vec<f64>,
    units: UnitSpans,
    /// The largest absolute value.
    largest: f64,
    part: Option<RunsPart>,
}

impl SummedArm {
    /// Returns `None` if an item has no value, or if the values are not what [`two_way`] accepts.
    pub fn from_arm(arm: ItemsByRuns, clusters: Option<&[u32]>) -> Option<Self> {
        let items = shared_item_count(&[arm], clusters).ok()?;
        let largest = largest_of(&arm).ok()?;
        let means: Vec<f64> = (0..items)
            .map(|item| row_mean(arm.item_row(item)))
            .collect::<Option<_>>()?;
        let kept: Vec<usize> = (0..items).collect();
        let units = UnitSpans::from_clusters(&kept, clusters);
        let part = RunsPart::from_arm(&arm, &kept, &units);
        Some(Self {
            means,
            units,
            largest,
            part,
        })
    }
}

/// Compares two arms that were summed up over the same items in the same order and the same clusters, by the method of [`two_way`] and with
/// its results to the last digit.
pub fn two_way_summed(
    a: &SummedArm,
    b: &SummedArm,
    noise: [Option<RunNoise>; 2],
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    // Beginning with zero, as sums do, gives a difference of nothing no sign.
    let differences: Vec<f64> = a
        .means
        .iter()
        .zip(&b.means)
        .map(|(a, b)| 0.0 + a - b)
        .collect();
    combine_summed(&[a, b], &differences, &a.units, &noise, confidence)
}

/// Estimates the mean of an arm that was summed up, by the method of [`one_way`] and with its results to the last digit.
pub fn one_way_summed(
    arm: &SummedArm,
    noise: Option<RunNoise>,
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    let means: Vec<f64> = arm.means.iter().map(|mean| 0.0 + mean).collect();
    combine_summed(&[arm], &means, &arm.units, &[noise], confidence)
}

fn combine_summed(
    arms: &[&SummedArm],
    differences: &[f64],
    units: &UnitSpans,
    noise: &[Option<RunNoise>],
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    let parts: Vec<Option<RunsPart>> = arms.iter().map(|arm| arm.part).collect();
    let largest = arms.iter().map(|arm| arm.largest).fold(0.0, f64::max);
    combine_parts(&parts, differences, units, largest, noise, confidence)
}

fn estimate_arms(
    arms: &[ItemsByRuns],
    clusters: Option<&[u32]>,
    noise: &[Option<RunNoise>],
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    let items = shared_item_count(arms, clusters)?;
    let (mut kept, mut differences) = (Vec::with_capacity(items), Vec::with_capacity(items));
    let mut largest = 0.0_f64;
    for arm in arms {
        largest = largest.max(largest_of(arm)?);
    }
    for item in 0..items {
        let mut difference = Some(0.0);
        for (arm, sign) in arms.iter().zip([1.0, -1.0]) {
            difference = difference
                .zip(row_mean(arm.item_row(item)))
                .map(|(sum, mean)| sum + sign * mean);
        }
        if let Some(difference) = difference {
            kept.push(item);
            differences.push(difference);
        }
    }
    let units = UnitSpans::from_clusters(&kept, clusters);
    let parts: Vec<Option<RunsPart>> = arms
        .iter()
        .map(|arm| RunsPart::from_arm(arm, &kept, &units))
        .collect();
    combine_parts(&parts, &differences, &units, largest, noise, confidence)
}

/// Returns the largest absolute value of an arm.
fn largest_of(arm: &ItemsByRuns) -> Result<f64, Undefined> {
    let mut largest = 0.0_f64;
    for value in arm.values.iter().flatten() {
        if !value.is_finite() {
            return Err(Undefined::NotFinite);
        }
        largest = largest.max(value.abs());
    }
    Ok(largest)
}

/// Estimates from the items' means or differences, and from what each arm's runs contribute.
fn combine_parts(
    arms: &[Option<RunsPart>],
    differences: &[f64],
    units: &UnitSpans,
    largest: f64,
    noise: &[Option<RunNoise>],
    confidence: f64,
) -> Result<TwoWay, Undefined> {
    if differences.is_empty() {
        return Err(Undefined::NoData);
    }
    let n = differences.len() as f64;
    let estimate = compensated_sum(differences.iter().copied()) / n;
    if !estimate.is_finite() {
        return Err(Undefined::NotFinite);
    }
    if units.ends.len() < 2 {
        return Err(Undefined::TooFew);
    }
    let (mut var_items, item_degrees) = items_variance(differences, units, estimate)?;
    // Equal values leave only a rounding error.
    if var_items.sqrt() <= 8.0 * f64::EPSILON * largest {
        var_items = 0.0;
    }
    let charged = ChargedNoise::from_arms(arms, noise);
    let variance = var_items + charged.variance;
    if variance <= 0.0 {
        return Err(Undefined::NoVariation);
    }
    // Use shares instead of squared variances, which could overflow.
    let mut reciprocal = (var_items / variance).powi(2) / item_degrees;
    if charged.variance > 0.0 {
        reciprocal += (charged.measured / variance).powi(2) / charged.degrees;
    }
    let degrees = (1.0 / reciprocal).max(1.0);
    let standard_error = variance.sqrt();
    let t = estimate / standard_error;
    if !t.is_finite() {
        return Err(Undefined::NotFinite);
    }
    let parts: Vec<RunsPart> = arms.iter().flatten().copied().collect();
    let runs_p = RunsPart::equal_runs_p_value(&parts, units.ends.len() as f64);
    Ok(TwoWay {
        n: differences.len() as u64,
        units: units.ends.len() as u64,
        estimate,
        standard_error,
        degrees,
        t,
        p: t_two_sided(t, degrees)?,
        interval: t_interval(estimate, standard_error, degrees, confidence)?,
        var_items,
        var_runs: charged.variance,
        runs_measured: charged.is_measured,
        runs_p,
        runs_vary: runs_p.is_some_and(|p| p < RUNS_VARY_LEVEL),
    })
}

/// Returns the items' part of the squared standard error, and its degrees of freedom: s²/n of single items, CR2 over clusters.
fn items_variance(
    differences: &[f64],
    units: &UnitSpans,
    estimate: f64,
) -> Result<(f64, f64), Undefined> {
    let sums = units.iter().map(|unit| {
        let sum = compensated_sum(unit.iter().map(|place| differences[*place] - estimate));
        (sum, unit.len() as f64)
    });
    let (n, count) = (differences.len() as f64, units.ends.len() as f64);
    if units.ends.len() == differences.len() {
        let squares = compensated_sum(sums.map(|(sum, _)| sum * sum));
        return Ok((count / (count - 1.0) * squares / (n * n), count - 1.0));
    }
    let sums: Vec<(f64, f64)> = sums.collect();
    let found = Cr2::from_residuals(&sums)?;
    Ok((found.variance, found.degrees))
}

impl ItemsByRuns<'_> {
    fn item_row(&self, item: usize) -> &[Option<f64>] {
        &self.values[item * self.runs..(item + 1) * self.runs]
    }
}

/// Returns the number of items, which must be the same for all arms.
fn shared_item_count(arms: &[ItemsByRuns], clusters: Option<&[u32]>) -> Result<usize, Undefined> {
    let mut items = clusters.map(<[u32]>::len);
    for arm in arms {
        if arm.runs == 0 {
            return Err(Undefined::NoData);
        }
        let rows = arm.values.len() / arm.runs;
        if !arm.values.len().is_multiple_of(arm.runs) || items.is_some_and(|items| items != rows) {
            return Err(Undefined::Unequal);
        }
        items = Some(rows);
    }
    items.ok_or(Undefined::NoData)
}

/// Returns the mean over the runs that an item has. Equal values are exactly their own mean.
fn row_mean(row: &[Option<f64>]) -> Option<f64> {
    let first = row.iter().flatten().next()?;
    if row
        .iter()
        .flatten()
        .all(|value| value.total_cmp(first).is_eq())
    {
        return Some(*first);
    }
    Some(row.iter().flatten().sum::<f64>() / row.iter().flatten().count() as f64)
}

/// Indices of the kept items, grouped by independent unit, and the end of each unit.
#[derive(Debug)]
struct UnitSpans {
    order: Vec<usize>,
    ends: Vec<usize>,
}

impl UnitSpans {
    fn from_clusters(kept: &[usize], clusters: Option<&[u32]>) -> Self {
        let mut order: Vec<usize> = (0..kept.len()).collect();
        let Some(clusters) = clusters else {
            return Self {
                order,
                ends: (1..=kept.len()).collect(),
            };
        };
        let code = |place: usize| clusters[kept[place]];
        order.sort_by_key(|place| code(*place));
        let ends = (1..=order.len())
            .filter(|end| {
                order
                    .get(*end)
                    .is_none_or(|next| code(*next) != code(order[end - 1]))
            })
            .collect();
        Self { order, ends }
    }

    fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| &self.order[start..*end])
    }
}

/// One arm's runs' contribution to the variance of its mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunsPart {
    /// The measured variance of the mean between runs, including what items explain.
    pub(super) measured: f64,
    /// The part that items explain.
    pub(super) explained: f64,
    /// The variance of the mean for runs that differ with a variance of 1: 1/R if no item lacks a run.
    pub(super) share: f64,
    /// Degrees of freedom of the measured variance: the number of runs minus one if no item lacks a run.
    pub(super) degrees: f64,
}

impl RunsPart {
    /// Returns `None` if the arm has one run, or if its runs share no item.
    fn from_arm(arm: &ItemsByRuns, kept: &[usize], units: &UnitSpans) -> Option<Self> {
        let (runs, n) = (arm.runs, kept.len() as f64);
        // By run: its share in the mean, and the sum of its deviations. The matrix maps run effects to those sums.
        let (mut shares, mut sums, mut effects) = (
            vec![0.0; runs],
            vec![0.0; runs],
            RunEffectMatrix::zero(runs),
        );
        let (mut by_units, mut k_units, mut unit_sums) = (0.0, 0.0, vec![0.0; runs]);
        for unit in units.iter() {
            let mut unit_effects = RunEffectMatrix::zero(runs);
            unit_sums.fill(0.0);
            for place in unit {
                let row = arm.item_row(kept[*place]);
                let (Some(mean), has) = (row_mean(row), row.iter().flatten().count()) else {
                    continue;
                };
                let weight = 1.0 / (n * has as f64);
                for (run, value) in row.iter().enumerate() {
                    if let Some(value) = value {
                        shares[run] += weight;
                        unit_sums[run] += weight * (value - mean);
                    }
                }
                effects.add_item(row, has, weight);
                if unit.len() > 1 {
                    unit_effects.add_item(row, has, weight);
                } else {
                    k_units += weight * weight * (has - 1) as f64;
                }
            }
            for (sum, of_unit) in sums.iter_mut().zip(&unit_sums) {
                *sum += of_unit;
            }
            by_units += unit_sums.iter().map(|sum| sum * sum).sum::<f64>();
            k_units += unit_effects.squared_entries();
        }
        let k_all = effects.squared_entries();
        if k_all - k_units <= 1e-9 * k_all {
            return None;
        }
        let share = shares.iter().map(|share| share * share).sum::<f64>();
        let squares = sums.iter().map(|sum| sum * sum).sum::<f64>();
        let measured = share * squares / k_all;
        // Missing values can leave a remainder below zero.
        let explained = (measured - share * (squares - by_units) / (k_all - k_units)).max(0.0);
        Some(Self {
            measured,
            explained,
            share,
            degrees: effects.effective_degrees(),
        })
    }

    /// Returns the runs' part of the variance over all arms, and its degrees of freedom (Welch 1947), at most those of runs with equal
    /// spread: two runs may look alike by chance, and the other arm's many degrees would then count for both.
    pub(super) fn pool_parts(parts: &[Self]) -> (f64, f64) {
        let combined = |of: fn(&Self) -> f64| {
            let sum: f64 = parts.iter().map(of).sum();
            (
                sum,
                1.0 / parts
                    .iter()
                    .map(|part| (of(part) / sum).powi(2) / part.degrees)
                    .sum::<f64>(),
            )
        };
        let (measured, degrees) = combined(|part| part.measured);
        if measured <= 0.0 || parts.is_empty() {
            return (0.0, 1.0);
        }
        let explained: f64 = parts.iter().map(|part| part.explained).sum();
        let fewest = parts
            .iter()
            .map(|part| part.degrees)
            .fold(f64::INFINITY, f64::min);
        (
            (measured - subtraction_factor(fewest) * explained).max(0.0),
            degrees.min(combined(|part| part.share).1),
        )
    }

    /// Returns the p-value of the F test of no differences between runs beyond what their items explain.
    fn equal_runs_p_value(parts: &[Self], units: f64) -> Option<f64> {
        let degrees: f64 = parts.iter().map(|part| part.degrees).sum();
        if parts.is_empty() {
            return None;
        }
        let ratio = |part: &Self| {
            if part.measured > 0.0 {
                part.degrees * part.measured / part.explained
            } else {
                0.0
            }
        };
        let f = parts.iter().map(ratio).sum::<f64>() / degrees;
        if f.is_infinite() {
            return Some(0.0);
        }
        FisherSnedecor::new(degrees, degrees * (units - 1.0))
            .ok()
            .map(|distribution| distribution.sf(f))
    }
}

/// What runs add to the variance of a mean or of a difference.
struct ChargedNoise {
    variance: f64,
    /// The variance that was measured between runs, with what items explain of it.
    measured: f64,
    degrees: f64,
    /// Whether every arm has several runs, or the noise of its board.
    is_measured: bool,
}

impl ChargedNoise {
    /// Adds up the arms' parts: by the noise of the board where it is known, else by the arm's own runs. An arm with one run that has neither
    /// adds nothing.
    fn from_arms(arms: &[Option<RunsPart>], noise: &[Option<RunNoise>]) -> Self {
        let own: Vec<RunsPart> = arms
            .iter()
            .zip(noise)
            .filter(|(_, noise)| noise.is_none())
            .filter_map(|(part, _)| *part)
            .collect();
        let (own_variance, own_degrees) = RunsPart::pool_parts(&own);
        let own_measured: f64 = own.iter().map(|part| part.measured).sum();
        let mut found = Self {
            variance: own_variance,
            measured: if own_variance > 0.0 {
                own_measured
            } else {
                0.0
            },
            degrees: own_degrees,
            is_measured: arms
                .iter()
                .zip(noise)
                .all(|(part, noise)| part.is_some() || noise.is_some()),
        };
        let pooled = arms.iter().zip(noise).filter_map(|(part, noise)| {
            // A single run is all of its arm's mean.
            Some((part.map_or(1.0, |part| part.share), (*noise)?))
        });
        let (mut measured, mut degrees) = (0.0, f64::INFINITY);
        for (share, noise) in pooled {
            if noise.variance() > 0.0 {
                found.variance += share * noise.variance();
                measured += share * noise.measured;
                degrees = noise.degrees;
            }
        }
        if measured > 0.0 {
            let all = found.measured + measured;
            let of_own = (found.measured / all).powi(2) / found.degrees;
            found.degrees = 1.0 / (of_own + (measured / all).powi(2) / degrees);
            found.measured = all;
        }
        found
    }
}

/// What one run adds to a mean, pooled over the arms of a board.
///
/// Two arms with two runs each have two degrees of freedom for the variance between runs, ten such arms have ten. So an arm is charged with
/// the pooled variance, if it has five or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunNoise {
    /// Variance between runs of a run's mean, with what items explain.
    measured: f64,
    /// The part of it that items explain.
    explained: f64,
    degrees: f64,
}

/// Degrees of freedom from which the variance of runs is taken from all arms. With fewer, its uncertainty would hide what every run shows.
const MIN_RUN_DEGREES: f64 = 5.0;

/// The level of the test whether an arm's runs vary more than those of the others.
const NOISY_LEVEL: f64 = 0.05;

impl RunNoise {
    /// Returns for each arm the noise to judge its runs by, pooled over the arms. `None` for all arms if they have too few runs together, and
    /// for an arm whose runs vary more than those of the others (F test at 5%): it keeps its own variance and takes no part in the pool,
    /// because it would borrow a calm that it does not have.
    pub fn by_arm(arms: &[Option<&SummedArm>]) -> Vec<Option<Self>> {
        let parts: Vec<Option<RunsPart>> = arms
            .iter()
            .map(|arm| arm.and_then(|arm| arm.part))
            .collect();
        let is_noisy: Vec<bool> = (0..parts.len())
            .map(|arm| {
                let others = Self::pool(parts.iter().enumerate().filter(|one| one.0 != arm));
                parts[arm]
                    .zip(others)
                    .is_some_and(|(part, others)| others.is_exceeded_by(part))
            })
            .collect();
        let pooled = Self::pool(parts.iter().enumerate().filter(|(arm, _)| !is_noisy[*arm]))
            .filter(|pooled| pooled.degrees >= MIN_RUN_DEGREES);
        is_noisy
            .into_iter()
            .map(|is_noisy| pooled.filter(|_| !is_noisy))
            .collect()
    }

    fn pool<'p>(parts: impl Iterator<Item = (usize, &'p Option<RunsPart>)>) -> Option<Self> {
        let mut sums = (0.0, 0.0, 0.0);
        for part in parts.filter_map(|(_, part)| *part) {
            sums.0 += part.degrees * part.measured / part.share;
            sums.1 += part.degrees * part.explained / part.share;
            sums.2 += part.degrees;
        }
        (sums.2 > 0.0).then(|| Self {
            measured: sums.0 / sums.2,
            explained: sums.1 / sums.2,
            degrees: sums.2,
        })
    }

    /// Returns whether an arm's runs vary more than this: the F test, with what the arm's own items explain.
    fn is_exceeded_by(&self, part: RunsPart) -> bool {
        let explained = part.explained / part.share;
        let expected = explained + (self.measured - self.explained).max(0.0);
        let ratio = part.measured / part.share / expected;
        FisherSnedecor::new(part.degrees, self.degrees)
            .is_ok_and(|distribution| ratio > 0.0 && distribution.sf(ratio) < NOISY_LEVEL)
    }

    /// Returns the variance between runs that items do not explain, 0 if they explain all of it.
    pub fn variance(&self) -> f64 {
        let added = self.measured - self.explained;
        // What is left of equal parts is a rounding error.
        if added > 1e-9 * self.measured {
            added
        } else {
            0.0
        }
    }
}

/// Returns how many times the variance explained by items is subtracted from the measured variance between runs; 1 would be unbiased before
/// it is cut at zero.
///
/// It is the smaller of 1.75 − 0.8/ν and 1 + 2.2/ν, for the degrees of freedom ν of the arm with fewer runs: 0.95 for two runs, 1.35 for
/// three, 1.55 for five, 1.12 for twenty. It is the largest value that keeps false winners at 7% for every spread of the runs, and so gives
/// the most power.
fn subtraction_factor(degrees: f64) -> f64 {
    (1.75 - 0.8 / degrees).min(1.0 + 2.2 / degrees)
}

/// The effect of runs on the sums of weighted deviations by run: a symmetric matrix, a sum over items of w (1 − 1/R) on the diagonal and
/// −w/R off it. Items that have all runs share one form and are kept as a sum of weights.
struct RunEffectMatrix {
    runs: usize,
    full: f64,
    matrix: Vec<f64>,
}

impl RunEffectMatrix {
    fn zero(runs: usize) -> Self {
        Self {
            runs,
            full: 0.0,
            matrix: Vec::new(),
        }
    }

    fn add_item(&mut self, row: &[Option<f64>], has: usize, weight: f64) {
        if has == self.runs {
            self.full += weight;
            return;
        }
        self.matrix.resize(self.runs * self.runs, 0.0);
        for (run, _) in row.iter().enumerate().filter(|(_, value)| value.is_some()) {
            self.matrix[run * self.runs + run] += weight;
            for (other, _) in row.iter().enumerate().filter(|(_, value)| value.is_some()) {
                self.matrix[run * self.runs + other] -= weight / has as f64;
            }
        }
    }

    fn entry(&self, run: usize, other: usize) -> f64 {
        let of_full = self.full * (f64::from(u8::from(run == other)) - 1.0 / self.runs as f64);
        of_full
            + self
                .matrix
                .get(run * self.runs + other)
                .copied()
                .unwrap_or(0.0)
    }

    /// Returns the sum of the squared entries.
    fn squared_entries(&self) -> f64 {
        if self.runs == 0 {
            return 0.0;
        }
        if self.matrix.is_empty() {
            return self.full * self.full * (self.runs - 1) as f64;
        }
        (0..self.runs)
            .flat_map(|run| (0..self.runs).map(move |other| (run, other)))
            .map(|(run, other)| self.entry(run, other).powi(2))
            .sum()
    }

    /// Returns (Σλ)² / Σλ² of the eigenvalues λ of the matrix times itself.
    fn effective_degrees(&self) -> f64 {
        if self.matrix.is_empty() {
            return (self.runs - 1) as f64;
        }
        let product = |run: usize, other: usize| {
            (0..self.runs)
                .map(|by| self.entry(run, by) * self.entry(by, other))
                .sum::<f64>()
        };
        let squares: f64 = (0..self.runs)
            .flat_map(|run| (0..self.runs).map(move |other| (run, other)))
            .map(|(run, other)| product(run, other).powi(2))
            .sum();
        (self.squared_entries().powi(2) / squares).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{clustered_mean, mean_interval, paired_t};
    use super::*;

    /// An item's values in the runs of both arms, and its cluster.
    type Row = (Vec<Option<f64>>, Vec<Option<f64>>, u32);

    fn close(got: f64, expected: f64) -> bool {
        (got - expected).abs() <= 1e-12 * expected.abs().max(1.0)
    }

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    /// Runs of 40 items, of which the first `passed` pass.
    fn runs_of_forty(passed: &[usize]) -> SummedArm {
        let values: Vec<Option<f64>> = (0..40)
            .flat_map(|item| {
                passed
                    .iter()
                    .map(move |passed| Some(f64::from(u8::from(item < *passed))))
            })
            .collect();
        let arm = ItemsByRuns {
            runs: passed.len(),
            values: &values,
        };
        SummedArm::from_arm(arm, None).expect("complete")
    }

    #[test]
    fn run_noise_is_pooled_by_degrees() {
        let (one, two) = (
            runs_of_forty(&[20, 24, 28]),
            runs_of_forty(&[30, 30, 32, 34]),
        );
        let noise = RunNoise::by_arm(&[Some(&one), Some(&two), None]);
        // Variances of the run means: 16 and 11/3 over 40², with 2 and 3 degrees.
        let expected = (2.0 * 16.0 + 3.0 * 11.0 / 3.0) / 5.0 / 1600.0;
        let pooled = noise[2].expect("five degrees");
        assert!(close(pooled.measured, expected), "{pooled:?}");
        assert!(close(pooled.degrees, 5.0));
        assert_eq!(noise[0], noise[1]);
        // One arm's two degrees tell too little.
        assert_eq!(RunNoise::by_arm(&[Some(&one), None]), [None, None]);
    }

    #[test]
    fn run_noise_of_an_unsteady_arm_stays_its_own() {
        let calm = runs_of_forty(&[20, 21, 20, 21, 20, 21]);
        let wild = runs_of_forty(&[5, 38, 20]);
        let noise = RunNoise::by_arm(&[Some(&wild), Some(&calm), Some(&calm)]);
        assert_eq!(noise[0], None);
        assert!(noise[1].is_some_and(|noise| close(noise.degrees, 10.0)));
    }

    #[test]
    fn a_single_run_is_charged_with_the_noise_of_its_board() {
        let board = [
            runs_of_forty(&[10, 20, 14, 25, 12, 21, 16]),
            runs_of_forty(&[18]),
        ];
        let noise = RunNoise::by_arm(&[Some(&board[0]), Some(&board[1])]);
        let alone = two_way_summed(&board[0], &board[1], [None; 2], 0.95).expect("varies");
        let charged =
            two_way_summed(&board[0], &board[1], [noise[0], noise[1]], 0.95).expect("varies");
        let of_a_run = noise[1].expect("six degrees").variance();
        assert!(of_a_run > 0.0 && !alone.runs_measured && charged.runs_measured);
        assert!(close(charged.var_runs, of_a_run * (1.0 + 1.0 / 7.0)));
        assert!(charged.standard_error > alone.standard_error);
        assert!(close(charged.estimate, alone.estimate));
    }

    #[test]
    fn one_arm_by_hand() {
        // Items (run 1, run 2): 1 5, 2 4, 3 9. Item means 3, 3, 6: mean 4, s²/n = 3/3 = 1.
        // Run means 2 and 6: s² = 8, over 2 runs 4. Residuals of the additive table are ±(0, 1, 1), squares 4 over 2 degrees: MS 2,
        // over nR = 6: 1/3. Two runs: what items explain is taken off once.
        let values = some(&[1.0, 5.0, 2.0, 4.0, 3.0, 9.0]);
        let got = one_way(
            ItemsByRuns {
                runs: 2,
                values: &values,
            },
            None,
            0.95,
        )
        .expect("varied");
        assert!(
            close(got.estimate, 4.0)
                && close(got.var_items, 1.0)
                && close(got.var_runs, 4.0 - 0.95 / 3.0),
            "{got:?}"
        );
        // F = 4 / (1/3) = 12 with 1 and 2 degrees, whose tail is 1 - sqrt(F / (F + 2)).
        assert!(
            (got.runs_p.expect("two runs") - (1.0 - (12.0f64 / 14.0).sqrt())).abs() < 1e-9
                && !got.runs_vary
        );
        // V²/df: 1/2 of the items', 4² of the runs'.
        let degrees = (5.0f64 - 0.95 / 3.0).powi(2) / (0.5 + 16.0);
        assert!(close(got.degrees, degrees), "{got:?}");
        assert_eq!((got.n, got.units, got.runs_measured), (3, 3, true));
    }

    #[test]
    fn the_variance_of_runs_is_that_of_the_analysis_of_variance() {
        let table = [
            [0.0, 1.0, 0.5],
            [1.0, 1.0, 0.0],
            [0.0, 2.0, 1.0],
            [3.0, 1.0, 2.0],
            [0.0, 0.0, 1.0],
        ];
        let (n, r) = (5.0, 3.0);
        let grand = table.iter().flatten().sum::<f64>() / (n * r);
        let items = table.map(|row| row.iter().sum::<f64>() / r);
        let runs = [0, 1, 2].map(|run| table.iter().map(|row| row[run]).sum::<f64>() / n);
        let ms_runs = n * runs.iter().map(|mean| (mean - grand).powi(2)).sum::<f64>() / (r - 1.0);
        let left = |(item, run): (usize, usize)| {
            (table[item][run] - items[item] - runs[run] + grand).powi(2)
        };
        let ms_left = (0..5)
            .flat_map(|item| (0..3).map(move |run| (item, run)))
            .map(left)
            .sum::<f64>()
            / ((n - 1.0) * (r - 1.0));
        let values = some(table.as_flattened());
        let kept = [0, 1, 2, 3, 4];
        let part = RunsPart::from_arm(
            &ItemsByRuns {
                runs: 3,
                values: &values,
            },
            &kept,
            &UnitSpans::from_clusters(&kept, None),
        )
        .expect("three runs");
        assert!(
            close(
                part.measured - part.explained,
                (ms_runs - ms_left) / (n * r)
            ),
            "{} {}",
            part.measured,
            part.explained
        );
        assert!(close(part.degrees, 2.0));
    }

    #[test]
    fn single_runs_are_the_methods_without_runs() {
        let (a, b) = (
            [1.0, 0.0, 1.0, 1.0, 0.5, 1.0],
            [0.0, 0.0, 1.0, 0.0, 0.25, 0.5],
        );
        let (of_a, of_b) = (some(&a), some(&b));
        let (one, other) = (
            ItemsByRuns {
                runs: 1,
                values: &of_a,
            },
            ItemsByRuns {
                runs: 1,
                values: &of_b,
            },
        );
        let (got, plain) = (
            two_way(one, other, None, 0.95).expect("varied"),
            paired_t(&a, &b, 0.95).expect("varied"),
        );
        assert!(
            close(got.p, plain.p)
                && close(got.interval.low, plain.interval.low)
                && close(got.degrees, 5.0)
        );
        assert_eq!(
            (got.runs_measured, got.runs_p, got.var_runs),
            (false, None, 0.0)
        );
        let codes = [0, 0, 1, 1, 2, 2];
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let (got, plain) = (
            two_way(one, other, Some(&codes), 0.95).expect("varied"),
            clustered_mean(&differences, &codes, 0.95).expect("varied"),
        );
        assert!(
            close(got.standard_error, plain.se_cr1)
                && close(got.interval.high, plain.interval.high)
                && got.units == 3
        );
        let alone = one_way(one, None, 0.95).expect("varied");
        assert!(close(
            alone.interval.low,
            mean_interval(&a, 0.95).expect("varied").low
        ));
    }

    #[test]
    fn runs_that_are_all_alike_add_nothing() {
        let (a, b) = ([0.1, 0.7, 0.3, 0.9, 0.1], [0.2, 0.1, 0.3, 0.4, 0.3]);
        let thrice = |values: &[f64]| {
            values
                .iter()
                .flat_map(|value| [Some(*value); 3])
                .collect::<Vec<_>>()
        };
        let (of_a, of_b) = (thrice(&a), thrice(&b));
        let got = two_way(
            ItemsByRuns {
                runs: 3,
                values: &of_a,
            },
            ItemsByRuns {
                runs: 3,
                values: &of_b,
            },
            None,
            0.95,
        )
        .expect("varied");
        assert!(
            close(got.p, paired_t(&a, &b, 0.95).expect("varied").p)
                && got.var_runs == 0.0
                && !got.runs_vary
        );
        assert_eq!(got.runs_p, Some(1.0));
    }

    #[test]
    fn a_crashed_run_names_no_winner() {
        // 200 items of which both arms pass every second one in every run, except that the second arm's last run passed nothing.
        let all: Vec<Option<f64>> = (0..200)
            .flat_map(|item| [Some(f64::from(item % 2)); 3])
            .collect();
        let crashed: Vec<Option<f64>> = (0..200)
            .flat_map(|item| {
                [
                    Some(f64::from(item % 2)),
                    Some(f64::from(item % 2)),
                    Some(0.0),
                ]
            })
            .collect();
        let got = two_way(
            ItemsByRuns {
                runs: 3,
                values: &all,
            },
            ItemsByRuns {
                runs: 3,
                values: &crashed,
            },
            None,
            0.95,
        )
        .expect("varied");
        assert!(
            close(got.estimate, 1.0 / 6.0)
                && got.p > 0.3
                && got.runs_vary
                && got.interval.low < 0.0,
            "{got:?}"
        );
    }

    #[test]
    fn what_has_no_value() {
        let two = some(&[1.0, 0.0]);
        let arm = |runs, values| ItemsByRuns { runs, values };
        assert_eq!(
            two_way(arm(1, &two), arm(2, &two), None, 0.95),
            Err(Undefined::Unequal)
        );
        assert_eq!(
            two_way(arm(2, &two), arm(2, &two), None, 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            two_way(arm(1, &two), arm(1, &two), None, 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            two_way(arm(1, &[None, None]), arm(1, &two), None, 0.95),
            Err(Undefined::NoData)
        );
        assert_eq!(
            two_way(arm(0, &[]), arm(1, &two), None, 0.95),
            Err(Undefined::NoData)
        );
        assert_eq!(
            two_way(arm(1, &two), arm(1, &[None, Some(f64::NAN)]), None, 0.95),
            Err(Undefined::NotFinite)
        );
        let zeros = some(&[0.0, 0.0]);
        assert_eq!(
            two_way(arm(1, &two), arm(1, &zeros), Some(&[4, 4]), 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(one_way(arm(1, &two), None, 1.0), Err(Undefined::OutOfRange));
        // 0.3 more on each item, up to rounding.
        assert_eq!(
            two_way(
                arm(1, &some(&[0.1, 0.2, 0.7])),
                arm(1, &some(&[0.4, 0.5, 1.0])),
                None,
                0.95
            ),
            Err(Undefined::NoVariation)
        );
    }

    proptest::proptest! {
        #[test]
        fn sums_made_once_give_what_pairs_give(
            rows in proptest::collection::vec((proptest::collection::vec(proptest::option::weighted(0.9, -1.0..1.0f64), 3),
                proptest::collection::vec(proptest::option::weighted(0.9, 0.0..1.0f64), 2), 0u32..5), 1..40),
        ) {
            let rows: Vec<Row> = rows.into_iter().filter(|(a, b, _)| [a, b].iter().all(|runs| runs.iter().any(Option::is_some))).collect();
            let (a, b): (Vec<_>, Vec<_>) = (rows.iter().flat_map(|row| row.0.clone()).collect(), rows.iter().flat_map(|row| row.1.clone()).collect());
            let (a, b) = (ItemsByRuns { runs: 3, values: &a }, ItemsByRuns { runs: 2, values: &b });
            let codes: Vec<u32> = rows.iter().map(|row| row.2).collect();
            for clusters in [None, Some(&codes[..])] {
                let summed = [a, b].map(|arm| SummedArm::from_arm(arm, clusters).expect("a value of each item"));
                proptest::prop_assert_eq!(two_way_summed(&summed[0], &summed[1], [None; 2], 0.95), two_way(a, b, clusters, 0.95));
                proptest::prop_assert_eq!(one_way_summed(&summed[0], None, 0.95), one_way(a, clusters, 0.95));
            }
        }

        #[test]
        fn order_and_sides_do_not_matter(
            rows in proptest::collection::vec((proptest::collection::vec(proptest::option::weighted(0.8, 0.0..1.0f64), 3),
                proptest::collection::vec(proptest::option::weighted(0.8, 0.0..1.0f64), 2), 0u32..5), 12..40),
        ) {
            let tables = |rows: &[Row]| {
                let a: Vec<_> = rows.iter().flat_map(|row| row.0.clone()).collect();
                let b: Vec<_> = rows.iter().flat_map(|row| row.1.clone()).collect();
                (a, b, rows.iter().map(|row| row.2).collect::<Vec<_>>())
            };
            let turned: Vec<_> = rows.iter().rev().map(|(a, b, code)| {
                (a.iter().rev().copied().collect::<Vec<_>>(), b.iter().rev().copied().collect::<Vec<_>>(), 9 - code)
            }).collect();
            let ((a, b, codes), (turned_a, turned_b, turned_codes)) = (tables(&rows), tables(&turned));
            for clustered in [false, true] {
                let there = two_way(ItemsByRuns { runs: 3, values: &a }, ItemsByRuns { runs: 2, values: &b }, clustered.then_some(&codes[..]), 0.95);
                let back = two_way(
                    ItemsByRuns { runs: 2, values: &turned_b }, ItemsByRuns { runs: 3, values: &turned_a },
                    clustered.then_some(&turned_codes[..]), 0.95,
                );
                let (Ok(there), Ok(back)) = (there, back) else { continue };
                proptest::prop_assert!((there.p - back.p).abs() < 1e-9 && (there.interval.low + back.interval.high).abs() < 1e-9);
                proptest::prop_assert!((there.var_runs - back.var_runs).abs() < 1e-12 && there.runs_vary == back.runs_vary);
                proptest::prop_assert!(there.interval.low <= there.estimate && there.estimate <= there.interval.high);
                proptest::prop_assert!(there.degrees >= 1.0 && (0.0..=1.0).contains(&there.p));
            }
        }

        #[test]
        fn a_unit_does_not_matter(rows in proptest::collection::vec((0.1..1.0f64, 0.1..1.0f64, 0.1..1.0f64, 0.1..1.0f64), 5..30)) {
            let table = |scale: f64, shift: f64| {
                let a: Vec<_> = rows.iter().flat_map(|row| [Some(scale * row.0 + shift), Some(scale * row.1 + shift)]).collect();
                let b: Vec<_> = rows.iter().flat_map(|row| [Some(scale * row.2 + shift), Some(scale * row.3 + shift)]).collect();
                two_way(ItemsByRuns { runs: 2, values: &a }, ItemsByRuns { runs: 2, values: &b }, None, 0.95).expect("varied")
            };
            let (there, scaled) = (table(1.0, 0.0), table(100.0, -7.0));
            proptest::prop_assert!((there.p - scaled.p).abs() < 1e-9 && (there.degrees / scaled.degrees - 1.0).abs() < 1e-7);
        }
    }
}
