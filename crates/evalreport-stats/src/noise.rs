//! Where the noise of one run's mean comes from: the answers, the choice of items, and what all items of a run share.
//!
//! The model has crossed random effects: value = mean + cluster + item + run + answer. Each component follows from pairs of values: half
//! the mean squared difference of a pair estimates the sum of the components in which the two differ (U-statistics, Hoeffding 1948). So
//!
//! - pairs of an item in different runs give S = answer + run,
//! - pairs of a run in different clusters give B = answer + item + cluster, and within a cluster W = answer + item,
//! - pairs in different clusters and runs give A = answer + item + cluster + run.
//!
//! Hence run = A − B, answer = S − run, cluster = B − W, and item is the rest. No component is biased, whatever values are missing. For
//! complete data without clusters these are the estimates of the two-way analysis of variance (Henderson 1953, method 1); if runs share
//! nothing, S is the prediction noise and `item` the data noise of Wang 2025 (arXiv 2512.21326, with its correction for few answers). An
//! estimate can be below zero, if the true component is small.

use std::collections::{BTreeMap, BTreeSet};

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::cluster::clustered_error;
use super::distribution::upper_level;
use super::mean::summarise_sample;
use super::{Interval, ItemsByRuns, Undefined};

/// Components of the variance of one value, in squared units of the values, and the sizes they are based on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseComponents {
    /// Items with a value.
    pub items: u64,
    /// Columns with a value.
    pub repeats: u64,
    pub values: u64,
    /// Mean over items of the item's mean.
    pub mean: f64,
    /// Variance between answers to one item and between items of one cluster, together. Without clusters, of all items.
    pub answers_and_items: f64,
    /// Variance between clusters, 0 without clusters.
    pub clusters: f64,
    /// Sum over clusters of the squared share of items: 1 / items without clusters.
    pub concentration: f64,
    /// `None` if no item was repeated.
    pub repeated: Option<RepeatNoise>,
}

/// What repeats of items tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepeatNoise {
    /// Items with at least two values in different runs.
    pub items: u64,
    /// Variance between answers to one item that the run does not explain.
    pub answers: f64,
    /// Variance between runs that all items share.
    pub runs: f64,
    /// Intraclass correlation ICC(1) of a single value: 1 − S over the half mean squared difference of different items (Shrout and Fleiss
    /// 1979). `None` if nothing varies.
    pub icc: Option<f64>,
    /// Share of repeated items whose values are not all equal.
    pub flips: f64,
    /// Of two runs: the chance that an item's value differs. Exact for passes; for scores twice the variance.
    pub changes: f64,
    pub of_runs: RunMeans,
}

/// How the means of runs vary, of which what runs share is the part that answers do not explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunMeans {
    /// Runs less one; summed over arms.
    pub degrees: f64,
    /// Degrees of freedom of the variance of answers.
    pub answers_degrees: f64,
    /// Variance of the mean of one run over the same items.
    pub variance: f64,
    /// The part of it that answers explain.
    pub explained: f64,
}

impl RunMeans {
    /// Pools arms by their degrees of freedom: runs of all arms are taken to share alike. `None` without arms.
    pub fn pool(arms: &[Self]) -> Option<Self> {
        let degrees: f64 = arms.iter().map(|arm| arm.degrees).sum();
        let mean = |of: fn(&Self) -> f64| {
            arms.iter().map(|arm| arm.degrees * of(arm)).sum::<f64>() / degrees
        };
        (degrees > 0.0).then(|| Self {
            degrees,
            answers_degrees: arms.iter().map(|arm| arm.answers_degrees).sum(),
            variance: mean(|arm| arm.variance),
            explained: mean(|arm| arm.explained),
        })
    }

    /// Returns the variance that all items of a run share. It is below zero if runs differ less than answers explain.
    pub fn shared(&self) -> f64 {
        self.variance - self.explained
    }

    /// Returns limits of the variance that all items of a run share (Tukey 1951, Williams 1962): with s² the variance of runs' means, a the part
    /// that answers explain and ν degrees of freedom, ν(s² − F·a)/χ² with the upper and the lower quantiles of F and χ².
    ///
    /// Chance may make s² so small that the upper limit says less than the runs can. So it is never below that of s² = a, which is what runs
    /// that share nothing have on average (Cowan et al. 2011: power-constrained limits). Limits below zero are zero.
    ///
    /// Undefined without degrees of freedom.
    pub fn shared_limits(&self, confidence: f64) -> Result<Interval, Undefined> {
        let upper = upper_level(confidence)?;
        let squares = ChiSquared::new(self.degrees).map_err(|_| Undefined::TooFew)?;
        let ratios = FisherSnedecor::new(self.degrees, self.answers_degrees)
            .map_err(|_| Undefined::TooFew)?;
        let limit = |variance: f64, level: f64| {
            let explained = ratios.inverse_cdf(level) * self.explained.max(0.0);
            self.degrees * (variance - explained) / squares.inverse_cdf(level)
        };
        let low = limit(self.variance, upper);
        let high = limit(self.variance.max(self.explained), 1.0 - upper);
        Interval::new(low.max(0.0), high.max(0.0)).ok_or(Undefined::NotFinite)
    }
}

impl NoiseComponents {
    /// Returns the variance of a mean over `items` and `runs`, each item once in each run, for items in clusters like these. A component
    /// below zero counts as zero. `None` if no item was repeated and `runs` is not 1.
    pub fn variance_of_mean(&self, items: f64, runs: f64) -> Option<f64> {
        let of_items = self.concentration * self.items as f64 / items * self.clusters.max(0.0);
        match self.repeated {
            Some(repeats) => {
                let own = (self.answers_and_items - repeats.answers).max(0.0);
                Some(
                    own / items
                        + of_items
                        + repeats.answers.max(0.0) / (items * runs)
                        + repeats.runs.max(0.0) / runs,
                )
            }
            None => (runs <= 1.0).then_some(self.answers_and_items / items + of_items),
        }
    }

    /// Returns the variance of one run's mean from the choice of items. Undefined without repeats, and below zero if they say so.
    pub fn item_choice_variance(&self) -> Option<f64> {
        let own = self.answers_and_items - self.repeated?.answers;
        Some(own / self.items as f64 + self.clusters * self.concentration)
    }
}

/// Splits the variance of values by item and column. `runs` gives the run of each column, if some columns are attempts of one run: what a
/// run shares is measured between runs. `clusters` gives the cluster of each item.
///
/// Undefined if the sizes differ, for fewer than two items or clusters, and for values that are not finite.
pub fn split_noise(
    arm: ItemsByRuns,
    runs: Option<&[u32]>,
    clusters: Option<&[u32]>,
) -> Result<NoiseComponents, Undefined> {
    let columns = arm.runs;
    let items = arm
        .values
        .len()
        .checked_div(columns)
        .ok_or(Undefined::NoData)?;
    if items * columns != arm.values.len()
        || clusters.is_some_and(|clusters| clusters.len() != items)
        || runs.is_some_and(|runs| runs.len() != columns)
    {
        return Err(Undefined::Unequal);
    }
    // Attempts of a single run are all the repeats there are.
    let several = runs.filter(|runs| runs.iter().any(|run| *run != runs[0]));
    let place = |at: usize| {
        let (item, column) = (at / columns, at % columns);
        ValuePlace {
            item,
            column,
            run: several.map_or(column, |runs| runs[column] as usize),
            cluster: clusters.map_or(item, |clusters| clusters[item] as usize),
        }
    };
    let known: Vec<(ValuePlace, f64)> = arm
        .values
        .iter()
        .enumerate()
        .filter_map(|(at, value)| Some((place(at), (*value)?)))
        .collect();
    if known.is_empty() {
        return Err(Undefined::NoData);
    }
    if known.iter().any(|(_, value)| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let by_item: Vec<&[(ValuePlace, f64)]> = known
        .chunk_by(|one, other| one.0.item == other.0.item)
        .collect();
    let n = by_item.len() as f64;
    let mut sizes = BTreeMap::<usize, f64>::new();
    for own in &by_item {
        *sizes.entry(own[0].0.cluster).or_default() += 1.0;
    }
    let pairs = |key: &dyn Fn(&ValuePlace) -> [usize; 2]| ValuePairs::from_equal_keys(&known, key);
    let (all, of_item, of_item_and_run) = (
        pairs(&|_| [0; 2]),
        pairs(&|at| [at.item, 0]),
        pairs(&|at| [at.item, at.run]),
    );
    let (of_cluster, of_cluster_and_run) = (
        pairs(&|at| [at.cluster, 0]),
        pairs(&|at| [at.cluster, at.run]),
    );
    let (of_run, of_column, of_both) = (
        pairs(&|at| [at.run, 0]),
        pairs(&|at| [at.column, 0]),
        pairs(&|at| [at.cluster, at.column]),
    );
    let apart_in_run = of_column
        .minus(of_both)
        .half_mean_square()
        .ok_or(Undefined::TooFew)?;
    // Without clusters no two items share one.
    let answers_and_items = if clusters.is_some() {
        of_both.half_mean_square().unwrap_or(apart_in_run)
    } else {
        apart_in_run
    };
    let repeats = of_item.minus(of_item_and_run).half_mean_square().zip(
        all.minus(of_cluster)
            .minus(of_run)
            .plus(of_cluster_and_run)
            .half_mean_square(),
    );
    let repeated = repeats.map(|(same, apart)| {
        let runs = apart - apart_in_run;
        let rows: Vec<&&[(ValuePlace, f64)]> = by_item
            .iter()
            .filter(|own| own.iter().any(|value| value.0.run != own[0].0.run))
            .collect();
        let flipped = rows
            .iter()
            .filter(|own| own.iter().any(|value| value.1.total_cmp(&own[0].1).is_ne()))
            .count();
        let different = all
            .minus(of_item)
            .half_mean_square()
            .filter(|different| *different > 0.0);
        let answers = same - runs;
        let levels: BTreeSet<usize> = known.iter().map(|value| value.0.run).collect();
        let degrees = levels.len() as f64 - 1.0;
        let explained = answers.max(0.0) * levels.len() as f64 / known.len() as f64;
        RepeatNoise {
            of_runs: RunMeans {
                degrees,
                answers_degrees: degrees * (rows.len() as f64 - 1.0).max(1.0),
                variance: (runs + explained).max(0.0),
                explained,
            },
            items: rows.len() as u64,
            answers,
            runs,
            icc: different.map(|different| 1.0 - same / different),
            flips: flipped as f64 / rows.len() as f64,
            changes: 2.0 * same,
        }
    });
    let mean = |own: &&[(ValuePlace, f64)]| {
        own.iter().map(|value| value.1).sum::<f64>() / own.len() as f64
    };
    let mut used: Vec<usize> = known.iter().map(|value| value.0.column).collect();
    used.sort_unstable();
    used.dedup();
    Ok(NoiseComponents {
        items: by_item.len() as u64,
        repeats: used.len() as u64,
        values: known.len() as u64,
        mean: by_item.iter().map(mean).sum::<f64>() / n,
        answers_and_items,
        clusters: apart_in_run - answers_and_items,
        concentration: sizes.values().map(|size| (size / n).powi(2)).sum(),
        repeated,
    })
}

/// Where a value belongs.
struct ValuePlace {
    item: usize,
    column: usize,
    run: usize,
    cluster: usize,
}

/// A number of pairs of values, and the sum of half their squared differences.
#[derive(Clone, Copy)]
struct ValuePairs {
    sum: f64,
    count: f64,
}

impl ValuePairs {
    /// Takes all pairs of values with equal keys. Of m values with sum S and sum of squares Q the sum is (m·Q − S²) / 2.
    fn from_equal_keys<K: Ord>(
        known: &[(ValuePlace, f64)],
        key: &dyn Fn(&ValuePlace) -> K,
    ) -> Self {
        let mut groups = BTreeMap::<K, (f64, f64, f64)>::new();
        for (place, value) in known {
            let group = groups.entry(key(place)).or_default();
            *group = (group.0 + 1.0, group.1 + value, group.2 + value * value);
        }
        let mut found = Self {
            sum: 0.0,
            count: 0.0,
        };
        for (m, sum, squares) in groups.into_values() {
            found.sum += (m * squares - sum * sum) / 2.0;
            found.count += m * (m - 1.0) / 2.0;
        }
        found
    }

    fn minus(self, other: Self) -> Self {
        Self {
            sum: self.sum - other.sum,
            count: self.count - other.count,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }

    /// Returns half the mean squared difference, or `None` without a pair.
    fn half_mean_square(self) -> Option<f64> {
        (self.count > 0.5).then(|| {
            if self.sum.abs() <= 1e-12 * self.count {
                0.0
            } else {
                self.sum / self.count
            }
        })
    }
}

/// Noise of a difference of two arms over the same items, if each answers each item once: squared standard errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairNoise {
    /// Items with a value of both arms.
    pub items: u64,
    /// Independent units among the items: clusters, if there are any.
    pub units: u64,
    pub total: f64,
    /// Part of the total from the answers. `None` if an item was not repeated by both arms.
    pub prediction: Option<f64>,
}

/// Splits the noise of a difference of two arms into prediction noise and, the rest, data noise (Wang 2025, arXiv 2512.21326): the total is
/// var(D) + mean of s²(1 − 1/k) over the number of items, with D the difference of an item's means, and s² its variance over k answers. The
/// total is defined with one answer as well. What a run shares is no part of it. Rows of `a` and `b` are the same items.
///
/// Undefined for fewer than two common items or clusters.
pub fn pair_noise(
    a: ItemsByRuns,
    b: ItemsByRuns,
    clusters: Option<&[u32]>,
) -> Result<PairNoise, Undefined> {
    if a.runs == 0 || b.runs == 0 {
        return Err(Undefined::NoData);
    }
    let items = a.values.len() / a.runs;
    if b.values.len() / b.runs != items || clusters.is_some_and(|clusters| clusters.len() != items)
    {
        return Err(Undefined::Unequal);
    }
    let answers = |arm: ItemsByRuns, item: usize| {
        let own: Vec<f64> = arm.values[item * arm.runs..(item + 1) * arm.runs]
            .iter()
            .copied()
            .flatten()
            .collect();
        summarise_sample(&own)
    };
    let (mut codes, mut differences, mut spread, mut once) = (Vec::new(), Vec::new(), 0.0, 0.0);
    let mut is_repeated = true;
    for item in 0..items {
        let (Ok(own), Ok(other)) = (answers(a, item), answers(b, item)) else {
            continue;
        };
        codes.push(clusters.map_or(0, |clusters| clusters[item]));
        differences.push(own.mean - other.mean);
        for answers in [own, other] {
            let variance = answers.sd.map_or(0.0, |sd| sd * sd);
            is_repeated &= answers.sd.is_some();
            spread += variance;
            once += variance * (1.0 - 1.0 / answers.n as f64);
        }
    }
    let n = differences.len() as f64;
    let (error, units) = match clusters {
        Some(_) => {
            let units = codes.iter().collect::<BTreeSet<_>>().len();
            (
                clustered_error(&differences, &codes).ok_or(Undefined::TooFew)?,
                units,
            )
        }
        None => (
            summarise_sample(&differences)?
                .sd
                .ok_or(Undefined::TooFew)?
                / n.sqrt(),
            differences.len(),
        ),
    };
    Ok(PairNoise {
        items: differences.len() as u64,
        units: units as u64,
        total: error * error + once / (n * n),
        prediction: is_repeated.then_some(spread / (n * n)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{two_way, variance_split};
    use super::*;

    fn table(runs: usize, values: &[Option<f64>]) -> ItemsByRuns<'_> {
        ItemsByRuns { runs, values }
    }

    fn known(rows: &[&str]) -> Vec<Option<f64>> {
        let value = |letter| match letter {
            '1' => Some(1.0),
            '0' => Some(0.0),
            _ => None,
        };
        rows.iter().flat_map(|row| row.chars().map(value)).collect()
    }

    fn close(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-12, "{got} and not {wanted}");
    }

    /// Ten questions, three answers: numpy's figures by the definitions of eval-arena. Its variances of means have divisor n.
    #[test]
    fn prediction_and_data_noise_of_another_implementation() {
        let cases: [(&[&str], &[&str], [f64; 4]); 2] = [
            (
                &["01", "11", "00", "10"],
                &["11", "11", "00", "11"],
                [0.1875, 0.0625, 0.25, -0.0625],
            ),
            (
                &[
                    "010", "111", "101", "111", "000", "111", "110", "110", "000", "001",
                ],
                &[
                    "011", "111", "111", "111", "000", "111", "111", "111", "100", "000",
                ],
                [
                    0.204_444_444_444_444_37,
                    0.048_888_888_888_888_885,
                    0.233_333_333_333_333_36,
                    -0.028_888_888_888_888_895,
                ],
            ),
        ];
        for (a, b, [total, data, prediction, unbiased_data]) in cases {
            let (runs, n) = (a[0].len(), a.len() as f64);
            let (a, b) = (known(a), known(b));
            let got = pair_noise(table(runs, &a), table(runs, &b), None).expect("items");
            // From divisor n to n − 1.
            let more = data / (n - 1.0);
            close(got.total * n, total + more);
            close(got.prediction.expect("repeats") * n, prediction);
            close(
                (got.total - got.prediction.expect("repeats")) * n,
                unbiased_data + more,
            );
            let alone = |values: &[Option<f64>]| {
                split_noise(table(runs, values), None, None)
                    .expect("items")
                    .repeated
                    .expect("repeats")
            };
            // Twice the noise of an item within one arm is the chance that its outcome changes.
            close(alone(&a).changes.midpoint(alone(&b).changes), prediction);
        }
    }

    /// Values of six items in three runs.
    const COMPLETE: [[f64; 3]; 6] = [
        [0.07, -1.0, -1.29],
        [-2.27, -0.6, -0.81],
        [-1.74, -0.7, -0.69],
        [-0.3, -0.31, 0.3],
        [1.25, 0.7, 1.1],
        [0.12, 0.3, -0.67],
    ];

    #[test]
    fn complete_data_are_the_two_way_analysis_of_variance() {
        let values: Vec<Option<f64>> = COMPLETE.iter().flatten().copied().map(Some).collect();
        let got = split_noise(table(3, &values), None, None).expect("items");
        let repeats = got.repeated.expect("repeats");
        // By numpy: mean squares of items, runs and residuals.
        close(repeats.answers, 0.421_143_333_333_333_3);
        close(
            got.answers_and_items - repeats.answers,
            0.539_623_333_333_333_2,
        );
        close(repeats.runs, -0.058_865_555_555_555_55);
        close(repeats.icc.expect("varies"), 0.606_870_591_034_487_3);
        close(repeats.changes, 0.724_555_555_555_555_5);
        // The one-way split says the same.
        let split = variance_split(&COMPLETE).expect("complete");
        close(split.icc.expect("varies"), repeats.icc.expect("varies"));
        close(2.0 * split.var_within, repeats.changes);
        // Runs that share less than nothing count as sharing nothing.
        close(
            got.variance_of_mean(6.0, 1.0).expect("repeats"),
            got.answers_and_items / 6.0,
        );
        let bought = [
            got.variance_of_mean(12.0, 1.0),
            got.variance_of_mean(6.0, 2.0),
        ]
        .map(|variance| variance.expect("repeats"));
        close(bought[0], got.answers_and_items / 12.0);
        close(
            bought[1],
            0.539_623_333_333_333_2 / 6.0 + 0.421_143_333_333_333_3 / 12.0,
        );
    }

    /// By scipy: the mean squares of the table above, without shifts of runs and with 0, 1.5 and −1.
    #[test]
    fn limits_of_what_runs_share() {
        let limits = |shifts: [f64; 3]| {
            let values: Vec<Option<f64>> = COMPLETE
                .iter()
                .flat_map(|row| {
                    std::iter::zip(row, shifts).map(|(value, shift)| Some(value + shift))
                })
                .collect();
            let of_runs = split_noise(table(3, &values), None, None)
                .expect("items")
                .repeated
                .expect("repeats")
                .of_runs;
            (of_runs, of_runs.shared_limits(0.95).expect("runs"))
        };
        let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1e-9, "{got} {wanted}");
        let (still, interval) = limits([0.0; 3]);
        near(still.shared(), -0.058_865_555_555_555_55);
        near(interval.low, 0.0);
        near(interval.high, 2.702_010_293_795_791);
        let (moved, interval) = limits([0.0, 1.5, -1.0]);
        near(interval.low, 0.361_673_759_371_770_26);
        near(interval.high, 67.753_762_751_976_55);
        // Two arms narrow it.
        let both = RunMeans::pool(&[still, moved]).expect("arms");
        near(both.shared(), f64::midpoint(still.shared(), moved.shared()));
        assert!(both.shared_limits(0.95).expect("runs").high < interval.high / 5.0);
        // Runs whose answers and means never vary share nothing.
        let same = [Some(1.0), Some(1.0), Some(0.0), Some(0.0)];
        let same = split_noise(table(2, &same), None, None).expect("items");
        let fixed = same.repeated.expect("repeats").of_runs.shared_limits(0.95);
        assert_eq!(fixed.map(|ends| ends.high), Ok(0.0));
        assert_eq!(RunMeans::pool(&[]), None);
    }

    #[test]
    fn a_shift_of_a_whole_run_is_the_runs_and_not_the_answers() {
        let got = split_noise(
            table(2, &[0.0, 1.0, 2.0, 3.0, 5.0, 6.0].map(Some)),
            None,
            None,
        )
        .expect("items")
        .repeated
        .expect("repeats");
        close(got.answers, 0.0);
        close(got.runs, 0.5);
        assert_eq!((got.items, got.flips), (3, 1.0));
    }

    #[test]
    fn attempts_of_one_run_do_not_tell_what_runs_share() {
        // Two runs with two attempts each; the second run passes everything.
        let values = known(&["0011", "0111", "1011", "0011"]);
        let between = split_noise(table(4, &values), Some(&[7, 7, 9, 9]), None)
            .expect("items")
            .repeated
            .expect("repeats");
        // Pairs of an item in different runs: 4, 2, 2 and 4 of 4 differ.
        close(between.changes, 12.0 / 16.0);
        let one_run = split_noise(table(4, &values), Some(&[7; 4]), None).expect("items");
        assert_eq!(
            one_run,
            split_noise(table(4, &values), None, None).expect("items")
        );
    }

    #[test]
    fn one_run_has_a_total_and_no_parts() {
        let values = known(&["1", "0", "1", "1"]);
        let got = split_noise(table(1, &values), None, None).expect("items");
        assert_eq!(
            (
                got.repeated,
                got.item_choice_variance(),
                got.variance_of_mean(4.0, 2.0)
            ),
            (None, None, None)
        );
        close(got.variance_of_mean(4.0, 1.0).expect("one run"), 0.25 / 4.0);
        let pair = pair_noise(
            table(1, &values),
            table(1, &known(&["0", "0", "1", "-"])),
            None,
        )
        .expect("items");
        assert_eq!((pair.items, pair.prediction), (3, None));
        close(pair.total, 1.0 / 9.0);
    }

    #[test]
    fn clusters_are_a_part_of_the_choice() {
        // Two clusters of two items, equal within.
        let values = known(&["11", "11", "00", "00", "11", "11"]);
        let clusters = [4, 4, 8, 8, 6, 6];
        let got = split_noise(table(2, &values), None, Some(&clusters)).expect("clusters");
        close(got.answers_and_items, 0.0);
        close(got.concentration, 1.0 / 3.0);
        // Of clusters 1, 0 and 1: 2 of 3 pairs differ, half the square.
        close(
            got.item_choice_variance().expect("repeats"),
            1.0 / 3.0 / 3.0,
        );
        assert_eq!(
            split_noise(table(2, &values), None, Some(&[1; 6])),
            Err(Undefined::TooFew)
        );
    }

    #[test]
    fn what_has_no_noise() {
        assert_eq!(
            split_noise(table(0, &[]), None, None),
            Err(Undefined::NoData)
        );
        assert_eq!(
            split_noise(table(1, &[None, None]), None, None),
            Err(Undefined::NoData)
        );
        assert_eq!(
            split_noise(table(2, &known(&["11"])), None, None),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            split_noise(table(2, &[Some(1.0)]), None, None),
            Err(Undefined::Unequal)
        );
        assert_eq!(
            split_noise(table(1, &[Some(1.0), Some(f64::NAN)]), None, None),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            pair_noise(
                table(1, &known(&["1", "-"])),
                table(1, &known(&["-", "1"])),
                None
            ),
            Err(Undefined::NoData)
        );
        let same = split_noise(table(2, &known(&["11", "11", "11"])), None, None).expect("items");
        assert_eq!(
            same.repeated
                .map(|repeats| (repeats.answers, repeats.icc, repeats.flips)),
            Some((0.0, None, 0.0))
        );
    }

    proptest::proptest! {
        #[test]
        fn one_answer_each_is_the_paired_t_test(rows in proptest::collection::vec((0.0..1.0f64, 0.0..1.0f64), 2..40)) {
            let (a, b): (Vec<Option<f64>>, Vec<Option<f64>>) = rows.iter().map(|(a, b)| (Some(*a), Some(*b))).unzip();
            let pair = pair_noise(table(1, &a), table(1, &b), None).expect("items");
            let test = two_way(table(1, &a), table(1, &b), None, 0.95).expect("varies");
            proptest::prop_assert!((pair.total.sqrt() - test.standard_error).abs() < 1e-9);
        }

        #[test]
        fn names_of_columns_do_not_matter(rows in proptest::collection::vec(proptest::option::of(0.0..1.0f64), 12..36)) {
            let rows = &rows[..rows.len() / 3 * 3];
            let turned: Vec<Option<f64>> = rows.chunks(3).flat_map(|row| [row[2], row[0], row[1]]).collect();
            match (split_noise(table(3, rows), None, None), split_noise(table(3, &turned), None, None)) {
                (Ok(one), Ok(other)) => {
                    proptest::prop_assert!((one.answers_and_items - other.answers_and_items).abs() < 1e-9);
                    let runs = |noise: NoiseComponents| noise.repeated.map_or(0.0, |repeats| repeats.runs);
                    proptest::prop_assert!((runs(one) - runs(other)).abs() < 1e-9);
                }
                (one, other) => proptest::prop_assert_eq!(one, other),
            }
        }
    }
}
