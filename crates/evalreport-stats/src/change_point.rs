//! Change points in a series of days.

use super::distribution::ln_choose;
use super::known_noise::Wander;
use super::{
    Undefined, known_noise, median_absolute_deviation, normal_quantile, normal_two_sided, quantile,
    t_two_sided, wander,
};

/// The rule for change points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRule {
    /// Minimum number of days before and after a change, so that one new day is never a change.
    pub min_nights: usize,
    /// Maximum chance that a family of steady series shows any change.
    pub alpha: f64,
    /// The smallest reported change, as a share of the level before.
    pub min_relative: f64,
    /// Number of tests in the family, counted by [`change_tests`] over all its series; at least one.
    pub tests: usize,
}

impl Default for ChangeRule {
    /// Five days on each side, alpha 5%, at least 5% of the level, and a family of one.
    fn default() -> Self {
        Self {
            min_nights: 5,
            alpha: 0.05,
            min_relative: 0.05,
            tests: 1,
        }
    }
}

/// A change between two levels.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ChangePoint {
    /// The index of the first day of the new level.
    pub at: usize,
    /// Mean level since the previous change; then until the next one.
    pub before: f64,
    pub after: f64,
    pub nights_before: usize,
    pub nights_after: usize,
    /// The p-value of the largest difference among all tried splits, allowing for correlated days.
    pub p: f64,
    /// Adjusted for the tests of the family (Bonferroni).
    pub p_adjusted: f64,
}

/// Returns the number of tests that a series adds to its family: its stretches between cuts that are long enough for a change and not
/// constant.
pub fn change_tests(series: &[f64], breaks: &[usize], rule: ChangeRule) -> usize {
    let varies = |values: &[f64]| {
        values
            .windows(2)
            .any(|pair| pair[0].total_cmp(&pair[1]).is_ne())
    };
    let is_tested = |&(from, to): &(usize, usize)| {
        to - from >= 2 * rule.min_nights && varies(&series[from..to])
    };
    split_at_breaks(series.len(), breaks)
        .iter()
        .filter(|ends| is_tested(ends))
        .count()
}

/// Returns the change points of a series, oldest first. Changes that are not significant over the family are not included.
///
/// Search: the split with the largest difference is sought in the whole stretch and in shorter windows inside it (halves, quarters and so
/// on, each overlapping the next by half; Kovács et al. 2023). Both sides of a change are then searched in turn.
///
/// Test: Student's t on normal scores (van der Waerden 1952), which neither skewed amounts nor single outlying days can dominate. Its
/// p-value is that of the largest of all splits (James, James and Siegmund 1987). The whole stretch gets half of the error, the halves
/// together a quarter, and so on.
///
/// Correlation: days are assumed to be as correlated as they appear after the split, corrected for bias, plus 1.1 standard errors
/// (first-order autoregression: variance of means times (1 + r)/(1 − r)). If this finds a change, a second search uses a second estimate,
/// which detects a slow wander below the noise of single days: the autocorrelations up to lag 5 between the changes found, extrapolated.
/// The larger variance counts. Steps of three daily deviations are kept, because no wander makes them.
///
/// Few and lopsided scores make t too certain: p is at least the hypergeometric one of the threshold that best separates the sides.
///
/// `breaks` are indices at which something else changed, such as the suite or the model. The series is cut there, nothing is compared
/// across a cut, and a cut is never a change.
pub fn change_points(
    series: &[f64],
    breaks: &[usize],
    rule: ChangeRule,
) -> Result<Vec<ChangePoint>, Undefined> {
    change_points_of_shares(series, &[], breaks, rule)
}

/// Returns the change points of shares whose noise is known, as [`change_points`] does. `noise` is the variance of each day by the chance
/// of its items, see [`super::noise_of_neighbours`]; `None` if it is unknown. A stretch with an unknown one is searched as if all were.
///
/// Search and test are of the shares themselves: the noise says how far days differ by chance, and how much of the difference may wander
/// (see `known_noise`). If that is too much, or the outcomes are too few, the test on normal scores must agree.
pub fn change_points_of_shares(
    series: &[f64],
    noise: &[Option<f64>],
    breaks: &[usize],
    rule: ChangeRule,
) -> Result<Vec<ChangePoint>, Undefined> {
    let is_size = rule.min_relative >= 0.0 && rule.min_relative.is_finite();
    if rule.min_nights < 2 || rule.tests < 1 || !(rule.alpha > 0.0 && rule.alpha < 1.0) || !is_size
    {
        return Err(Undefined::OutOfRange);
    }
    if series.iter().any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let stretches = split_at_breaks(series.len(), breaks);
    let within = |(from, to): (usize, usize)| {
        let days = DaySeries {
            values: &series[from..to],
            // The first day of a stretch has no neighbour in it.
            noise: mean_noise(noise.get(from + 1..to).unwrap_or_default()),
        };
        changes_within(days, from, rule)
    };
    Ok(stretches.into_iter().flat_map(within).collect())
}

/// Returns the ends of the stretches between cuts.
fn split_at_breaks(nights: usize, breaks: &[usize]) -> Vec<(usize, usize)> {
    let mut cuts: Vec<usize> = breaks
        .iter()
        .copied()
        .filter(|&cut| cut < nights)
        .chain([0, nights])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|ends| (ends[0], ends[1])).collect()
}

/// Returns the mean noise of days, or `None` if that of a day is unknown, or if no outcome ever differs.
fn mean_noise(noise: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = noise.iter().copied().collect::<Option<_>>()?;
    (!known.is_empty())
        .then(|| series_mean(&known))
        .filter(|mean| *mean > 0.0)
}

/// The days of a stretch, or a part of them.
#[derive(Clone, Copy)]
struct DaySeries<'a> {
    values: &'a [f64],
    /// Mean variance of a day by the chance of its items.
    noise: Option<f64>,
}

impl DaySeries<'_> {
    fn part(self, days: std::ops::Range<usize>) -> Self {
        Self {
            values: &self.values[days],
            ..self
        }
    }

    /// Returns the centred values whose means are compared: shares with known noise as they are, others as normal scores.
    fn scores(self) -> Vec<f64> {
        if self.noise.is_none() {
            return normal_scores(self.values);
        }
        let mean = series_mean(self.values);
        self.values.iter().map(|value| value - mean).collect()
    }

    /// Returns how much days resemble their neighbours between the levels found, at most: the smallest [`Persistence`] of a second look.
    fn persistence_between(self, found: &[FoundChange]) -> Persistence {
        let scores = normal_scores(self.values);
        let ends: Vec<usize> = found.iter().map(|found| found.at).collect();
        Persistence {
            inflation: inflation_between_levels(&scores, found),
            wander: self.noise.map_or(0.0, |noise| {
                known_noise::share_between_levels(self.values, &ends, noise)
            }),
        }
    }
}

/// How much neighbouring days resemble each other, at least.
#[derive(Clone, Copy)]
struct Persistence {
    /// Variance of means of normal scores, relative to that of independent days.
    inflation: f64,
    /// Share of the variance of shares with known noise that wanders.
    wander: f64,
}

impl Persistence {
    const NONE: Self = Self {
        inflation: 1.0,
        wander: 0.0,
    };
}

/// An index at which the series changed, and the p-value of the search that found it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FoundChange {
    at: usize,
    p: f64,
    /// Whether the test on normal scores finds it too.
    is_by_scores: bool,
}

/// Returns the changes inside a stretch without a cut that starts at `start`.
fn changes_within(days: DaySeries<'_>, start: usize, rule: ChangeRule) -> Vec<ChangePoint> {
    let series = days.values;
    let mut found = Vec::new();
    divide_series(days, 0, rule, Persistence::NONE, &mut found);
    if found.is_empty() {
        // A larger variance would not find more.
        return Vec::new();
    }
    refine_changes(days, rule.min_nights, &mut found);
    let least = days.persistence_between(&found);
    let clear: Vec<FoundChange> = (0..found.len())
        // What only the known noise tells is looked at again: it says too what may wander.
        .filter(|&place| found[place].is_by_scores && is_beyond_wander(series, &found, place))
        .map(|place| found[place])
        .collect();
    found.clear();
    let mut from = 0;
    for next in clear.iter().map(Some).chain([None]) {
        let to = next.map_or(series.len(), |next| next.at);
        divide_series(days.part(from..to), from, rule, least, &mut found);
        found.extend(next);
        from = to;
    }
    refine_changes(days, rule.min_nights, &mut found);
    loop {
        let changes: Vec<ChangePoint> = (0..found.len())
            .map(|place| describe_change(series, &found, place, rule.tests))
            .collect();
        let weakest = (0..changes.len())
            .filter(|&place| !is_worth_a_report(series, &changes[place], rule))
            .max_by(|&one, &other| {
                // Of equal changes, the later one is dropped.
                changes[one].p.total_cmp(&changes[other].p)
            });
        let Some(weakest) = weakest else {
            return changes
                .into_iter()
                .map(|change| ChangePoint {
                    at: change.at + start,
                    ..change
                })
                .collect();
        };
        found.remove(weakest);
    }
}

/// Adds the indices, ascending, at which the series changed. Days resemble their neighbours at least so much.
fn divide_series(
    days: DaySeries<'_>,
    offset: usize,
    rule: ChangeRule,
    least: Persistence,
    found: &mut Vec<FoundChange>,
) {
    let Some(surest) = surest_change(days, rule.min_nights, rule.alpha / rule.tests as f64, least)
    else {
        return;
    };
    divide_series(days.part(0..surest.at), offset, rule, least, found);
    found.push(FoundChange {
        at: offset + surest.at,
        ..surest
    });
    let right = days.part(surest.at..days.values.len());
    divide_series(right, offset + surest.at, rule, least, found);
}

/// Moves every index to the best split between its neighbours, because it was found in a window that may have ended elsewhere.
fn refine_changes(days: DaySeries<'_>, min_nights: usize, found: &mut [FoundChange]) {
    for place in 0..found.len() {
        let [from, to] = neighbouring_changes(days.values, found, place);
        if let Some(split) = best_split(&days.part(from..to).scores(), min_nights) {
            found[place].at = from + split.at;
        }
    }
}

/// Step size that no wander reaches within few days, in daily deviations of the side where days deviate more. If half or all of the
/// variance wanders, up to a correlation of 0.8, fewer than one family of 100 has such a step.
const BEYOND_WANDER: f64 = 3.0;

/// Returns whether the medians of both sides are so far apart that the change needs no second look. Deviations are median absolute ones,
/// scaled for normal values, so that outlying days neither make nor hide a step. If most days are equal there is no scale, and the result
/// is false.
fn is_beyond_wander(series: &[f64], found: &[FoundChange], place: usize) -> bool {
    let [from, to] = neighbouring_changes(series, found, place);
    is_step_beyond_wander(&series[from..to], found[place].at - from)
}

fn is_step_beyond_wander(values: &[f64], at: usize) -> bool {
    let (left, right) = values.split_at(at);
    let deviation = |values: &[f64]| {
        median_absolute_deviation(values).map_or(0.0, |deviation| 1.4826 * deviation)
    };
    let largest = deviation(left).max(deviation(right));
    let median = |values: &[f64]| quantile(values, 0.5).unwrap_or(0.0);
    let step = (median(right) - median(left)).abs();
    largest > 0.0 && step >= BEYOND_WANDER * largest
}

/// Returns the start of the level before a change and the end of the level after it.
fn neighbouring_changes(series: &[f64], found: &[FoundChange], place: usize) -> [usize; 2] {
    let from = if place == 0 { 0 } else { found[place - 1].at };
    [
        from,
        found.get(place + 1).map_or(series.len(), |next| next.at),
    ]
}

fn describe_change(
    series: &[f64],
    found: &[FoundChange],
    place: usize,
    tests: usize,
) -> ChangePoint {
    let FoundChange { at, p, .. } = found[place];
    let [from, to] = neighbouring_changes(series, found, place);
    let (left, right) = (&series[from..at], &series[at..to]);
    let p_adjusted = (p * tests as f64).min(1.0);
    ChangePoint {
        at,
        before: series_mean(left),
        after: series_mean(right),
        nights_before: left.len(),
        nights_after: right.len(),
        p,
        p_adjusted,
    }
}

fn series_mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn is_worth_a_report(series: &[f64], change: &ChangePoint, rule: ChangeRule) -> bool {
    let (from, to) = (
        change.at - change.nights_before,
        change.at + change.nights_after,
    );
    let by = change.after - change.before;
    // An outlying day can reverse the difference of the means, which then do not match the change found.
    let by_scores = -normal_scores(&series[from..to])[..change.nights_before]
        .iter()
        .sum::<f64>();
    by * by_scores > 0.0 && by.abs() >= rule.min_relative * change.before.abs()
}

/// Returns the change with the smallest p-value among all windows, if it is at most `level`.
fn surest_change(
    days: DaySeries<'_>,
    min_nights: usize,
    level: f64,
    least: Persistence,
) -> Option<FoundChange> {
    let nights = days.values.len();
    let mut surest: Option<FoundChange> = None;
    let (mut windows, mut weight) = (1_usize, 0.5);
    loop {
        // The windows of a layer share its weight equally. Windows of the next layer are half as long and have half the weight together.
        let length = nights.div_ceil(windows.midpoint(1));
        if length < 2 * min_nights || (windows > 1 && length < 4 * min_nights) {
            return surest;
        }
        let part = weight / windows as f64;
        for window in 0..windows {
            let start = if windows == 1 {
                0
            } else {
                (nights - length) * window / (windows - 1)
            };
            if let Some(found) = best_split_in_window(
                days.part(start..start + length),
                min_nights,
                level * part,
                least,
            ) {
                let p = found.p / part;
                if surest.is_none_or(|surest| p < surest.p) {
                    surest = Some(FoundChange {
                        at: start + found.at,
                        p,
                        ..found
                    });
                }
            }
        }
        (windows, weight) = (2 * windows + 1, weight / 2.0);
    }
}

/// Returns the best split of a window, if the p-value of the best of all splits is at most `level`.
fn best_split_in_window(
    days: DaySeries<'_>,
    min_nights: usize,
    level: f64,
    least: Persistence,
) -> Option<FoundChange> {
    let values = days.values;
    let split = best_split(&days.scores(), min_nights)?;
    let searched = |single: f64| p_of_best_split(single, values.len(), min_nights);
    let by_scores = |at: usize| {
        let single = p_of_scores(values, at, least.inflation);
        if searched(single) > level {
            return single;
        }
        single.max(p_of_threshold(values, at))
    };
    let single = match days.noise {
        None => by_scores(split.at),
        Some(noise) => {
            let is_steady = least.wander <= known_noise::MAX_WANDER;
            let wander = if is_steady && is_step_beyond_wander(values, split.at) {
                Wander::Unlikely
            } else {
                Wander::AtLeast(least.wander)
            };
            let found = known_noise::test_levels(values, split.at, noise, wander).ok()?;
            if found.is_enough || searched(found.p) > level {
                found.p
            } else {
                found.p.max(by_scores(split.at))
            }
        }
    };
    let p = searched(single);
    (p <= level).then(|| FoundChange {
        at: split.at,
        p,
        is_by_scores: days.noise.is_none() || searched(by_scores(split.at)) <= level,
    })
}

/// Returns the p-value of the difference of the normal scores of two sides, see [`p_of_split`].
fn p_of_scores(values: &[f64], at: usize, least: f64) -> f64 {
    let scores = normal_scores(values);
    let sum: f64 = scores[..at].iter().sum();
    let split = SeriesSplit {
        at,
        between: sum * sum * difference_variance(values.len(), at),
        total: scores.iter().map(|score| score * score).sum(),
    };
    if split.total <= 0.0 {
        return 1.0;
    }
    p_of_split(&scores, split, least)
}

/// Returns the normal quantiles of the values' ranks, minus their mean. Equal values get that of their mean rank.
fn normal_scores(values: &[f64]) -> Vec<f64> {
    let mut scores = vec![0.0; values.len()];
    let mut first = 0;
    for places in ascending_order(values).chunk_by(|one, other| values[*one] >= values[*other]) {
        let middle = (2 * first + places.len()) as f64 / 2.0 / values.len() as f64;
        let score = normal_quantile(middle).unwrap_or(0.0);
        for place in places {
            scores[*place] = score;
        }
        first += places.len();
    }
    let center = series_mean(&scores);
    for score in &mut scores {
        *score -= center;
    }
    scores
}

/// Returns the indices of the values, from the smallest to the largest.
fn ascending_order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|one, other| values[*one].total_cmp(&values[*other]));
    order
}

/// A split, the sum of squares that it explains, and the total.
#[derive(Clone, Copy, Debug)]
struct SeriesSplit {
    at: usize,
    between: f64,
    total: f64,
}

/// Returns the split of centred scores that explains most; of equal splits, the first. `None` if the scores do not vary.
fn best_split(scores: &[f64], min_nights: usize) -> Option<SeriesSplit> {
    let n = scores.len();
    let total: f64 = scores.iter().map(|score| score * score).sum();
    if n < 2 * min_nights || total <= 0.0 {
        return None;
    }
    let mut best = SeriesSplit {
        at: 0,
        between: f64::NEG_INFINITY,
        total,
    };
    let mut sum = 0.0;
    for at in 1..=n - min_nights {
        sum += scores[at - 1];
        let between = sum * sum * difference_variance(n, at);
        // A rounding difference makes no split better.
        if at >= min_nights && between > best.between + 1e-12 * total {
            best = SeriesSplit { at, between, total };
        }
    }
    Some(best)
}

/// Returns n / (k (n − k)): the variance of the difference of two means, for values of variance 1.
fn difference_variance(n: usize, k: usize) -> f64 {
    n as f64 / (k as f64 * (n - k) as f64)
}

/// Standard errors added to the estimated correlation of days. With this margin, steady histories with correlations up to 0.7 keep alpha in
/// families of 3 and of 30 series.
const CORRELATION_MARGIN: f64 = 1.1;

/// Returns the p-value of a split that was not searched for, with a variance of means at least `least` times that of independent days.
///
/// An estimated variance of days with a first-order autoregression has n(1 − r²)/(1 + r²) degrees of freedom, about n/√inflation.
fn p_of_split(scores: &[f64], split: SeriesSplit, least: f64) -> f64 {
    let n = scores.len() as f64;
    let within = split.total - split.between;
    if within <= 1e-9 * split.total {
        return 0.0;
    }
    let (left, right) = scores.split_at(split.at);
    let levels = [series_mean(left), series_mean(right)];
    let rest: Vec<f64> = scores
        .iter()
        .enumerate()
        .map(|(place, score)| score - levels[usize::from(place >= split.at)])
        .collect();
    let lagged: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / within;
    // Two levels and the search for the split reduce the estimate by about (3 + 4r)/n.
    let r = ((lagged + 3.0 / n) / (1.0 - 4.0 / n)).clamp(-1.0, 1.0);
    let r = (r + CORRELATION_MARGIN * ((1.0 - r * r) / n).sqrt()).clamp(0.0, 0.95);
    let inflation = ((1.0 + r) / (1.0 - r)).max(least);
    let variance = within / (n - 2.0 * inflation).max(1.0);
    t_two_sided(
        (split.between / (variance * inflation)).sqrt(),
        (n / inflation.sqrt() - 2.0).max(1.0),
    )
    .unwrap_or(1.0)
}

/// Standard errors added to the estimated wander. With this margin, histories of half noise and half wander keep alpha from 60 days on, in
/// families of three series.
const WANDER_MARGIN: f64 = 0.4;

/// Returns how much a wander between the levels found inflates the variance of means of days: see [`wander`].
fn inflation_between_levels(scores: &[f64], found: &[FoundChange]) -> f64 {
    let ends: Vec<usize> = std::iter::once(0)
        .chain(found.iter().map(|found| found.at))
        .chain([scores.len()])
        .collect();
    let levels = ends.windows(2).map(|ends| &scores[ends[0]..ends[1]]);
    let rest: Vec<f64> = levels
        .flat_map(|level| {
            let centre = series_mean(level);
            level.iter().map(move |score| score - centre)
        })
        .collect();
    wander::inflation_by_wander(&rest, found.len() + 1, WANDER_MARGIN)
}

/// Returns the p-value of the best of all splits of `n` days with at least `min_nights` on each side, from the p-value of that split alone:
/// 2(1 − Φ(b)) + b φ(b) Σ n/(k(n − k)) ν(b √(n/(k(n − k)))), at most `single` times the number of splits.
fn p_of_best_split(single: f64, n: usize, min_nights: usize) -> f64 {
    // Quantiles are undefined below this; nothing depends on how small it is.
    let single = single.max(1e-290);
    let Some(b) = normal_quantile(single / 2.0)
        .ok()
        .map(|z| -z)
        .filter(|b| *b > 0.5)
    else {
        return 1.0;
    };
    let steps = min_nights + 1..=n - min_nights;
    let splits = n - 2 * min_nights + 1;
    let sum: f64 = steps
        .map(|k| difference_variance(n, k))
        .map(|weight| weight * overshoot_correction(b * weight.sqrt()))
        .sum();
    (single + b * normal_density(b) * sum)
        .min(single * splits as f64)
        .min(1.0)
}

fn normal_density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

/// Returns ν(x), the correction for discrete instead of continuous steps (Siegmund and Yakir 2007).
fn overshoot_correction(x: f64) -> f64 {
    let half = x / 2.0;
    let below = 1.0 - normal_two_sided(half) / 2.0;
    (below - 0.5) / half / (half * below + normal_density(half))
}

/// Returns the smallest p-value, over all thresholds, of the hypergeometric test of how many values after the split are at most the
/// threshold.
fn p_of_threshold(values: &[f64], at: usize) -> f64 {
    let (left, right) = (at as f64, (values.len() - at) as f64);
    let (mut low_left, mut low_right) = (0.0, 0.0);
    let mut smallest = 1.0_f64;
    for places in ascending_order(values).chunk_by(|one, other| values[*one] >= values[*other]) {
        let new_right = places.iter().filter(|place| **place >= at).count() as f64;
        low_right += new_right;
        low_left += places.len() as f64 - new_right;
        let side = if low_right * left >= low_left * right {
            hypergeometric_tail(low_right, low_left, right, left)
        } else {
            hypergeometric_tail(low_left, low_right, left, right)
        };
        smallest = smallest.min(2.0 * side);
    }
    smallest
}

/// Returns the probability that at least `own` of `own + other` values drawn from two groups come from the group of size `group`.
fn hypergeometric_tail(mut own: f64, mut other: f64, group: f64, rest: f64) -> f64 {
    let mut term = (ln_choose(group, own) + ln_choose(rest, other)
        - ln_choose(group + rest, own + other))
    .exp();
    let mut sum = 0.0;
    loop {
        sum += term;
        if own >= group || other <= 0.0 || term < 1e-12 * sum {
            return sum.min(1.0);
        }
        term *= (group - own) * other / ((own + 1.0) * (rest - other + 1.0));
        (own, other) = (own + 1.0, other - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::RngCore;

    use super::*;
    use crate::Seed;

    fn noise(nights: usize, stream: u64) -> Vec<f64> {
        let mut random = Seed(11).replicate_stream(stream);
        // Sums of twelve uniform values: near enough to normal, mean 0, deviation 1.
        (0..nights)
            .map(|_| {
                (0..12)
                    .map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX))
                    .sum::<f64>()
                    - 6.0
            })
            .collect()
    }

    fn levels(parts: &[(usize, f64)], stream: u64) -> Vec<f64> {
        let steps = parts
            .iter()
            .flat_map(|&(nights, level)| std::iter::repeat_n(level, nights));
        let nights = parts.iter().map(|part| part.0).sum();
        steps
            .zip(noise(nights, stream))
            .map(|(level, noise)| level + noise)
            .collect()
    }

    /// Rates of 60 items that each pass with the chance, and the noise of each night.
    fn rates(parts: &[(usize, f64)], stream: u64) -> (Vec<f64>, Vec<Option<f64>>) {
        let mut random = Seed(12).replicate_stream(stream);
        let nights: Vec<Vec<f64>> = parts
            .iter()
            .flat_map(|&(nights, chance)| std::iter::repeat_n(chance, nights))
            .map(|chance| {
                let draw = |_| {
                    f64::from(u8::from(
                        f64::from(random.next_u32()) < chance * f64::from(u32::MAX),
                    ))
                };
                (0..60).map(draw).collect()
            })
            .collect();
        let noise = |pair: &[Vec<f64>]| {
            crate::noise_of_neighbours(pair[0].iter().copied().zip(pair[1].iter().copied()))
        };
        let rates = nights.iter().map(|night| series_mean(night)).collect();
        let noise = std::iter::once(None).chain(nights.windows(2).map(noise));
        (rates, noise.collect())
    }

    /// With 60 questions a night differs from the next by 5 points, so that a fall of 25 cannot be one of 21 steady series.
    #[test]
    fn what_everybody_sees_is_found_in_a_few_nights() {
        let rule = ChangeRule {
            tests: 21,
            ..ChangeRule::default()
        };
        let found = (0..200).filter(|&stream| {
            let (rates, noise) = rates(&[(14, 0.70), (10, 0.45)], stream);
            change_points_of_shares(&rates, &noise, &[], rule)
                .expect("finite")
                .iter()
                .any(|change| change.at.abs_diff(14) <= 1)
        });
        // Simulated: 79% of such falls.
        let found = found.count();
        assert!(found >= 140, "{found} of 200");
        // Without the noise, the days alone do not tell it so often.
        let rule = ChangeRule {
            tests: 3,
            ..ChangeRule::default()
        };
        let counted = |with_noise: bool| {
            let found = (0..60).filter(|&stream| {
                let (rates, noise) = rates(&[(55, 0.80), (5, 0.65)], 100 + stream);
                let noise = if with_noise { noise } else { Vec::new() };
                !change_points_of_shares(&rates, &noise, &[], rule)
                    .expect("finite")
                    .is_empty()
            });
            found.count()
        };
        assert!(counted(true) >= 48 && counted(true) > counted(false));
    }

    /// One of three categories fails since night 17: the days of each side are alike, and few.
    #[test]
    fn a_category_that_breaks_is_found_among_24_nights() {
        let passed: [i32; 24] = [
            55, 57, 59, 59, 57, 58, 57, 60, 56, 54, 59, 52, 56, 56, 58, 59, 40, 38, 37, 38, 39, 40,
            38, 36,
        ];
        let rates: Vec<f64> = passed
            .iter()
            .map(|passed| f64::from(*passed) / 60.0)
            .collect();
        let noise: Vec<Option<f64>> = passed
            .windows(2)
            .map(|pair| Some(f64::from(6 + (pair[0] - pair[1]).abs() / 2) / 2.0 / 3600.0))
            .collect();
        let noise = [vec![None], noise].concat();
        let found =
            change_points_of_shares(&rates, &noise, &[], ChangeRule::default()).expect("finite");
        assert!(found.len() == 1 && found[0].at == 16, "{found:?}");
    }

    #[test]
    fn steady_rates_of_items_rarely_change() {
        let rule = ChangeRule {
            min_relative: 0.0,
            ..ChangeRule::default()
        };
        for nights in [60, 365] {
            let alarms = (0..100).filter(|&stream| {
                let (rates, noise) = rates(&[(nights, 0.8)], 500 + stream);
                !change_points_of_shares(&rates, &noise, &[], rule)
                    .expect("finite")
                    .is_empty()
            });
            assert!(alarms.count() <= 5, "{nights} nights");
        }
    }

    const NONE: [usize; 0] = [];

    fn places(series: &[f64], breaks: &[usize]) -> Vec<usize> {
        change_points(series, breaks, ChangeRule::default())
            .expect("finite")
            .iter()
            .map(|change| change.at)
            .collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let found = change_points(
            &levels(&[(15, 50.0), (12, 58.0), (20, 50.0)], 1),
            &[],
            ChangeRule::default(),
        )
        .expect("finite");
        assert_eq!(
            found.iter().map(|change| change.at).collect::<Vec<_>>(),
            [15, 27]
        );
        assert_eq!((found[0].nights_before, found[0].nights_after), (15, 12));
        assert!(
            (found[0].before - 50.0).abs() < 1.0
                && (found[0].after - 58.0).abs() < 1.0
                && found[0].p < 0.01,
            "{found:?}"
        );
    }

    #[test]
    fn short_or_small_changes_are_none() {
        // One bad night, four new nights, and a step of two percent.
        let mut spike = levels(&[(20, 50.0)], 2);
        spike[9] = 80.0;
        assert_eq!(places(&spike, &[]), NONE);
        assert_eq!(places(&levels(&[(20, 50.0), (1, 70.0)], 3), &[]), NONE);
        assert_eq!(places(&levels(&[(20, 50.0), (4, 70.0)], 3), &[]), NONE);
        assert_eq!(places(&levels(&[(20, 50.0), (5, 70.0)], 3), &[]), [20]);
        let small: Vec<f64> = levels(&[(40, 500.0), (40, 510.0)], 4);
        assert_eq!(places(&small, &[]), NONE);
        let rule = ChangeRule {
            min_relative: 0.01,
            ..ChangeRule::default()
        };
        assert_eq!(change_points(&small, &[], rule).expect("finite").len(), 1);
    }

    #[test]
    fn a_break_is_not_a_change_and_hides_what_is_too_near() {
        let series = levels(&[(15, 50.0), (15, 58.0)], 5);
        assert_eq!(places(&series, &[]), [15]);
        assert_eq!(places(&series, &[15]), NONE);
        assert_eq!(places(&series, &[12, 0, 99, 12]), NONE);
        assert_eq!(places(&series, &[5]), [15]);
    }

    #[test]
    fn levels_without_noise() {
        let series = |left, right| [vec![0.4; left], vec![0.6; right]].concat();
        // The only split of ten days with five on each side: 2 / C(10, 5), doubled because shorter stretches have half of
        // the error.
        let one = change_points(&series(5, 5), &[], ChangeRule::default()).expect("finite");
        assert!(
            one.len() == 1 && (one[0].p - 4.0 / 252.0).abs() < 1e-12,
            "{one:?}"
        );
        assert_eq!(
            change_points(
                &series(5, 5),
                &[],
                ChangeRule {
                    tests: 4,
                    ..ChangeRule::default()
                }
            ),
            Ok(Vec::new())
        );
        assert_eq!(places(&series(7, 7), &[]), [7]);
        assert_eq!(places(&series(20, 5), &[]), [20]);
        assert_eq!(places(&[0.4; 40], &[]), NONE);
        assert_eq!(places(&[], &[]), NONE);
        // Two of 120 days failed, both of the last five: 2 · C(5, 2) / C(120, 2), and not the 1e-14 of a t test.
        let mut rare = vec![1.0; 120];
        (rare[116], rare[118]) = (0.9, 0.9);
        assert!((p_of_threshold(&rare, 115) - 20.0 / 7140.0).abs() < 1e-9);
        assert_eq!(places(&rare, &[]), NONE);
    }

    #[test]
    fn nights_that_take_turns() {
        let series: Vec<f64> = (0..20)
            .map(|night| if night < 10 { [0.9, 0.85] } else { [0.6, 0.55] }[night % 2])
            .collect();
        let found = change_points(
            &series,
            &[],
            ChangeRule {
                tests: 3,
                ..ChangeRule::default()
            },
        )
        .expect("finite");
        assert!(found.len() == 1 && found[0].at == 10, "{found:?}");
    }

    #[test]
    fn the_tail_of_the_best_split() {
        // For one split it is unchanged; for many, it is between the single p-value and their sum.
        assert!((p_of_best_split(0.01, 10, 5) - 0.01).abs() < 1e-12);
        for (single, n) in [(1e-3, 60), (1e-5, 730), (0.0, 120)] {
            let best = p_of_best_split(single, n, 5);
            assert!(
                best >= single && best <= (single.max(1e-290) * (n - 9) as f64).min(1.0),
                "{single} {n}: {best}"
            );
        }
        // Simulated: of 20,000 series of 120 normal values, 4.8% have a largest |z| of at least 3.08, with five days on each side.
        assert!((p_of_best_split(normal_two_sided(3.08), 120, 5) - 0.05).abs() < 0.01);
        assert!(
            (overshoot_correction(1e-6) - 1.0).abs() < 1e-5
                && (overshoot_correction(1.0) - (-0.583_f64).exp()).abs() < 0.02
        );
    }

    #[test]
    fn noise_alone_rarely_looks_like_a_change() {
        let rule = ChangeRule {
            min_relative: 0.0,
            ..ChangeRule::default()
        };
        for nights in [60, 365] {
            let alarms = (0..200).filter(|&stream| {
                !change_points(&noise(nights, 100 + stream), &[], rule)
                    .expect("finite")
                    .is_empty()
            });
            assert!(alarms.count() <= 10, "{nights} nights");
        }
    }

    /// Days that resemble their neighbours wander; skewed amounts and outlying days look like levels to a mean.
    #[test]
    fn wandering_skewed_and_stray_nights_are_no_changes() {
        let rule = ChangeRule {
            min_relative: 0.0,
            ..ChangeRule::default()
        };
        let wandering = |noise: Vec<f64>| -> Vec<f64> {
            let next = |last: &mut f64, noise: f64| {
                *last = 0.5 * *last + noise;
                Some(*last)
            };
            noise.into_iter().scan(0.0, next).collect()
        };
        let kinds: [fn(f64) -> f64; 3] = [
            |value| value,
            |value| (1.5 * value).exp(),
            |value| if value > 2.0 { 100.0 } else { value },
        ];
        for kind in kinds {
            let alarms = (0..150).filter(|&stream| {
                let series: Vec<f64> = wandering(noise(120, 500 + stream))
                    .into_iter()
                    .map(kind)
                    .collect();
                !change_points(&series, &[], rule)
                    .expect("finite")
                    .is_empty()
            });
            assert!(alarms.count() <= 7);
        }
    }

    /// Half of the variance persists from day to day, hidden by the other half: a lag-one correlation of 0.4 looks harmless.
    #[test]
    fn a_wander_below_the_noise_of_nights_is_no_change() {
        let rule = ChangeRule {
            min_relative: 0.0,
            tests: 3,
            ..ChangeRule::default()
        };
        for nights in [60, 120, 365] {
            let alarms = (0..100).filter(|&stream| {
                let mut last = 0.0;
                let wander = noise(nights + 20, 900 + stream).into_iter().map(|noise| {
                    last = 0.8 * last + 0.6 * noise;
                    last
                });
                let series: Vec<f64> = wander
                    .skip(20)
                    .zip(noise(nights, 1900 + stream))
                    .map(|(one, other)| one + other)
                    .collect();
                !change_points(&series, &[], rule)
                    .expect("finite")
                    .is_empty()
            });
            assert!(alarms.count() <= 5, "{nights} nights");
        }
    }

    #[test]
    fn steps_that_no_wander_makes() {
        let is_clear = |series: &[f64], at| {
            is_beyond_wander(
                series,
                &[FoundChange {
                    at,
                    p: 0.0,
                    is_by_scores: true,
                }],
                0,
            )
        };
        assert!(
            is_clear(&levels(&[(20, 50.0), (20, 56.0)], 7), 20)
                && !is_clear(&levels(&[(20, 50.0), (20, 51.5)], 7), 20)
        );
        // A few outlying days make no step and hide none; a level that hardly varies has no scale.
        let mut astray = levels(&[(20, 50.0), (20, 50.0)], 7);
        astray[20..24].iter_mut().for_each(|value| *value += 100.0);
        assert!(!is_clear(&astray, 20));
        let mut hidden = levels(&[(20, 50.0), (20, 60.0)], 7);
        hidden[20..24].iter_mut().for_each(|value| *value -= 100.0);
        assert!(is_clear(&hidden, 20));
        assert!(!is_clear(&[[1.0; 20], [0.9; 20]].concat(), 20));
    }

    #[test]
    fn the_part_that_wanders() {
        let halves = |nights: usize| {
            [FoundChange {
                at: nights / 2,
                p: 0.0,
                is_by_scores: true,
            }]
        };
        let of = |scores: &[f64]| inflation_between_levels(scores, &halves(scores.len()));
        // Alternating days do not wander, nor do levels without noise; a slow wave is only wander.
        assert!((of(&[1.0, -1.0].repeat(100)) - 1.0).abs() < 1e-12);
        assert!((of(&[[1.0; 50], [-1.0; 50]].concat()) - 1.0).abs() < 1e-12);
        let wave: Vec<f64> = (0..200)
            .map(|night| (f64::from(night) / 8.0).sin())
            .collect();
        assert!((of(&wave) - 9.0).abs() < 1e-12);
        // The levels found are no wander; without them the step would count as wander.
        let step = levels(&[(100, 0.0), (100, 5.0)], 6);
        let by_one = inflation_between_levels(&step, &[]);
        assert!(of(&step) < 2.0 && by_one > 5.0, "{} {by_one}", of(&step));
    }

    #[test]
    fn a_larger_family_asks_for_more() {
        let series = levels(&[(20, 50.0), (20, 55.0)], 3);
        let rule = ChangeRule::default();
        let alone = change_points(&series, &[], rule).expect("finite");
        assert_eq!(alone.len(), 1);
        assert!(
            alone[0].p < 0.02 && alone[0].p.total_cmp(&alone[0].p_adjusted).is_eq(),
            "{alone:?}"
        );
        let of = |tests| change_points(&series, &[], ChangeRule { tests, ..rule }).expect("finite");
        let two = of(2);
        assert!((two[0].p_adjusted - 2.0 * alone[0].p).abs() < 1e-12);
        assert_eq!(of(100_000), []);
        assert_eq!(
            change_points(&series, &[], ChangeRule { tests: 0, ..rule }),
            Err(Undefined::OutOfRange)
        );
    }

    #[test]
    fn tests_are_stretches_that_could_show_a_change() {
        let rule = ChangeRule::default();
        assert_eq!(change_tests(&noise(30, 1), &[], rule), 1);
        assert_eq!(change_tests(&noise(30, 1), &[10], rule), 2);
        assert_eq!(change_tests(&noise(30, 1), &[10, 25], rule), 2);
        assert_eq!(
            change_tests(&[1.0; 30], &[], rule)
                + change_tests(&[], &[], rule)
                + change_tests(&noise(9, 1), &[], rule),
            0
        );
    }

    #[test]
    fn a_step_there_and_back_among_many_nights() {
        assert_eq!(
            places(&levels(&[(160, 50.0), (25, 56.0), (180, 50.0)], 8), &[]).len(),
            2
        );
        assert_eq!(
            places(
                &levels(
                    &[(30, 50.0), (30, 56.0), (30, 50.0), (30, 44.0), (30, 50.0)],
                    9
                ),
                &[]
            ),
            [30, 60, 90, 120]
        );
    }

    #[test]
    fn rules_and_series_that_make_no_sense() {
        let rule = ChangeRule::default();
        assert_eq!(
            change_points(
                &[1.0],
                &[],
                ChangeRule {
                    min_nights: 1,
                    ..rule
                }
            ),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            change_points(&[1.0], &[], ChangeRule { alpha: 0.0, ..rule }),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            change_points(
                &[1.0],
                &[],
                ChangeRule {
                    min_relative: f64::NAN,
                    ..rule
                }
            ),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            change_points(&[f64::INFINITY], &[], rule),
            Err(Undefined::NotFinite)
        );
    }

    proptest::proptest! {
        #[test]
        fn only_the_order_of_values_and_their_nights_decide(series in proptest::collection::vec(0i16..40, 12..60), breaks in proptest::collection::vec(0usize..60, 0..3)) {
            let rule = ChangeRule { min_relative: 0.0, alpha: 0.3, ..ChangeRule::default() };
            let of = |values: Vec<f64>, breaks: &[usize]| {
                change_points(&values, breaks, rule).expect("finite").iter().map(|change| (change.at, change.p)).collect::<Vec<_>>()
            };
            let values: Vec<f64> = series.iter().copied().map(f64::from).collect();
            let own = of(values.clone(), &breaks);
            proptest::prop_assert_eq!(&own, &of(values.iter().map(|value| 3.0 * value + 7.0).collect(), &breaks));
            proptest::prop_assert!(own.iter().all(|(at, p)| *at >= 5 && *at + 5 <= series.len() && *p <= 0.3 && !breaks.contains(at)));
            let mirrored = of(values.iter().map(|value| -value).collect(), &breaks);
            proptest::prop_assert_eq!(own.len(), mirrored.len());
        }
    }
}
