//! Where a series of nights changed its level.

use super::{Undefined, welch};

/// The split of a series that separates its two sides most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The first value after the change.
    pub tau: usize,
    /// The end of the stretch after the change that differs most; what follows it may belong to a further change.
    pub kappa: usize,
    /// The scaled energy distance of both sides.
    pub q: f64,
}

/// The best split of E-divisive (Matteson and James 2014, exponent 1): `X = series[..tau]` and `Y = series[tau..kappa]` with the largest
/// mn / (m + n) · (2 mean|x − y| − mean|x − x′| − mean|y − y′|), each side of at least `min_size` values, which is two or more. Of equal
/// splits, the first in the order of (tau, kappa).
///
/// Takes time of n² and memory of n: a thousand nights in milliseconds. A search only: every series has a best split.
pub fn e_divisive_best_split(series: &[f64], min_size: usize) -> Result<Split, Undefined> {
    if min_size < 2 {
        return Err(Undefined::OutOfRange);
    }
    if series.iter().any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let n = series.len();
    if n < 2 * min_size {
        return Err(Undefined::TooFew);
    }
    let apart = |i: usize, j: usize| (series[i] - series[j]).abs();
    // Sums that rounding alone makes differ must not move the choice away from the first.
    let range = series.iter().copied().fold(f64::NEG_INFINITY, f64::max) - series.iter().copied().fold(f64::INFINITY, f64::min);
    let tie = 1e-12 * range * n as f64;
    // From a value to all values before it, and to those of them before `tau`.
    let to_earlier: Vec<f64> = (0..n).map(|at| (0..at).map(|before| apart(before, at)).sum()).collect();
    let mut to_left = vec![0.0; n];
    let mut within_left = 0.0;
    let mut best: Option<Split> = None;
    for tau in 1..=n - min_size {
        within_left += to_earlier[tau - 1];
        for (at, sum) in to_left.iter_mut().enumerate().skip(tau) {
            *sum += apart(tau - 1, at);
        }
        if tau < min_size {
            continue;
        }
        let (mut across, mut within_right) = (0.0, 0.0);
        for at in tau..n {
            across += to_left[at];
            within_right += to_earlier[at] - to_left[at];
            let kappa = at + 1;
            if kappa - tau < min_size {
                continue;
            }
            let (left, right) = (tau as f64, (kappa - tau) as f64);
            let distance = 2.0 * across / (left * right) - within_left / pairs(left) - within_right / pairs(right);
            let q = left * right / (left + right) * distance;
            if best.is_none_or(|best| q > best.q + tie) {
                best = Some(Split { tau, kappa, q });
            }
        }
    }
    best.ok_or(Undefined::TooFew)
}

fn pairs(n: f64) -> f64 {
    n * (n - 1.0) / 2.0
}

/// What counts as a change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRule {
    /// Nights that each side must have; one new night is never a change.
    pub min_nights: usize,
    /// The p value below which two neighbouring levels differ.
    pub alpha: f64,
    /// The smallest change worth a report, as a share of the level before.
    pub min_relative: f64,
}

impl Default for ChangeRule {
    /// Five nights a side, 0.001, and five percent.
    fn default() -> Self {
        Self { min_nights: 5, alpha: 0.001, min_relative: 0.05 }
    }
}

/// A change of level between two stretches of nights.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ChangePoint {
    /// The index of the first night of the new level.
    pub at: usize,
    /// Mean level of the nights since the change before, and until the next one.
    pub before: f64,
    pub after: f64,
    pub nights_before: usize,
    pub nights_after: usize,
    pub p: f64,
}

/// The changes of level in a series, oldest first.
///
/// Searches splits recursively and then drops, least certain first, every one whose neighbouring stretches are too short, too alike, or
/// not significantly different by Welch's test (Fleming et al. 2023, "Hunter", on Matteson and James 2014). Where neither side varies,
/// the exact permutation test decides.
///
/// The p values are those of splits that were looked for and therefore too small; alpha is strict to make up for it. Of steady series
/// of normal values, about 6 in 100 of 60 nights and 10 in 100 of 120 nights show a change somewhere, before the smallest size is asked.
///
/// `breaks` are indices at which something else changed, such as the suite or the model: the series is cut there, nothing is compared
/// across a cut, and a cut is never a change.
pub fn change_points(series: &[f64], breaks: &[usize], rule: ChangeRule) -> Result<Vec<ChangePoint>, Undefined> {
    if rule.min_nights < 2 || !(rule.alpha > 0.0 && rule.alpha < 1.0) || !(rule.min_relative >= 0.0 && rule.min_relative.is_finite()) {
        return Err(Undefined::OutOfRange);
    }
    if series.iter().any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let mut cuts: Vec<usize> = breaks.iter().copied().filter(|&cut| cut < series.len()).chain([0, series.len()]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    Ok(cuts.windows(2).flat_map(|ends| within(&series[ends[0]..ends[1]], ends[0], rule)).collect())
}

/// The changes inside a stretch without a cut that starts at `start`.
fn within(series: &[f64], start: usize, rule: ChangeRule) -> Vec<ChangePoint> {
    let mut edges = vec![0];
    candidates(series, 0, rule, &mut edges);
    edges.push(series.len());
    loop {
        let changes: Vec<ChangePoint> = edges.windows(3).map(|edges| change(series, [edges[0], edges[1], edges[2]])).collect();
        let weakest = (0..changes.len()).filter(|&place| !holds(&changes[place], rule)).max_by(|&one, &other| {
            // Of equal ones the later goes.
            changes[one].p.total_cmp(&changes[other].p)
        });
        let Some(weakest) = weakest else {
            return changes.into_iter().map(|change| ChangePoint { at: change.at + start, ..change }).collect();
        };
        edges.remove(weakest + 1);
    }
}

/// Adds the places, ascending, at which the series might have changed.
fn candidates(series: &[f64], offset: usize, rule: ChangeRule, found: &mut Vec<usize>) {
    let Ok(split) = e_divisive_best_split(series, 2) else { return };
    let (left, right) = series.split_at(split.tau);
    if p_value(left, &series[split.tau..split.kappa]) >= rule.alpha {
        return;
    }
    candidates(left, offset, rule, found);
    found.push(offset + split.tau);
    candidates(right, offset + split.tau, rule, found);
}

fn change(series: &[f64], [from, at, to]: [usize; 3]) -> ChangePoint {
    let (left, right) = (&series[from..at], &series[at..to]);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    ChangePoint {
        at,
        before: mean(left),
        after: mean(right),
        nights_before: left.len(),
        nights_after: right.len(),
        p: p_value(left, right),
    }
}

fn holds(change: &ChangePoint, rule: ChangeRule) -> bool {
    let size = (change.after - change.before).abs();
    change.nights_before.min(change.nights_after) >= rule.min_nights
        && change.p < rule.alpha
        && size > 0.0
        && size >= rule.min_relative * change.before.abs()
}

/// Welch's p value, or that of all ways to divide the values where neither side varies; 1 where nothing can be said.
fn p_value(left: &[f64], right: &[f64]) -> f64 {
    match welch(left, right, 0.95) {
        Ok(comparison) => comparison.p,
        Err(Undefined::NoVariation) => constant_sides(left, right),
        Err(_) => 1.0,
    }
}

/// The exact permutation test of two sides of which neither varies: only the division at hand is as extreme, and its mirror where the
/// sides have equal sizes. So 1 / C(m + n, m), or twice that.
fn constant_sides(left: &[f64], right: &[f64]) -> f64 {
    let (Some(one), Some(other)) = (left.first(), right.first()) else { return 1.0 };
    if one.total_cmp(other).is_eq() {
        return 1.0;
    }
    let (few, many) = (left.len().min(right.len()), left.len().max(right.len()));
    let divisions: f64 = (1..=few).map(|i| (many + i) as f64 / i as f64).product();
    let as_extreme = if few == many { 2.0 } else { 1.0 };
    as_extreme / divisions
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::RngCore;

    use super::*;
    use crate::stats::Seed;

    /// The definition, term by term.
    fn slow(series: &[f64], min_size: usize) -> Split {
        let mut best = Split { tau: 0, kappa: 0, q: f64::NEG_INFINITY };
        for tau in min_size..=series.len() - min_size {
            for kappa in tau + min_size..=series.len() {
                let (x, y) = (&series[..tau], &series[tau..kappa]);
                let sum = |a: &[f64], b: &[f64]| a.iter().flat_map(|a| b.iter().map(move |b| (a - b).abs())).sum::<f64>();
                let (left, right) = (x.len() as f64, y.len() as f64);
                let distance = 2.0 * sum(x, y) / (left * right) - sum(x, x) / (left * (left - 1.0)) - sum(y, y) / (right * (right - 1.0));
                let q = left * right / (left + right) * distance;
                if q > best.q + 1e-9 {
                    best = Split { tau, kappa, q };
                }
            }
        }
        best
    }

    #[test]
    fn the_best_split_of_a_step() {
        // Two against two: 1 · (2 · 10 − 0 − 0).
        let split = e_divisive_best_split(&[0.0, 0.0, 10.0, 10.0], 2).expect("four values");
        assert_eq!((split.tau, split.kappa), (2, 4));
        assert!((split.q - 20.0).abs() < 1e-12);
        // All splits of a constant series are equal: the first.
        assert_eq!(e_divisive_best_split(&[0.3; 9], 2).map(|split| (split.tau, split.kappa)), Ok((2, 4)));
        assert_eq!(e_divisive_best_split(&[1.0, 2.0, 3.0], 2), Err(Undefined::TooFew));
        assert_eq!(e_divisive_best_split(&[1.0; 9], 1), Err(Undefined::OutOfRange));
        assert_eq!(e_divisive_best_split(&[1.0, 2.0, 3.0, f64::NAN], 2), Err(Undefined::NotFinite));
    }

    fn noise(nights: usize, stream: u64) -> Vec<f64> {
        let mut random = Seed(11).stream(stream);
        // Sums of twelve uniform values: near enough to normal, mean 0, deviation 1.
        (0..nights).map(|_| (0..12).map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0).collect()
    }

    fn levels(parts: &[(usize, f64)], stream: u64) -> Vec<f64> {
        let steps = parts.iter().flat_map(|&(nights, level)| std::iter::repeat_n(level, nights));
        let nights = parts.iter().map(|part| part.0).sum();
        steps.zip(noise(nights, stream)).map(|(level, noise)| level + noise).collect()
    }

    const NONE: [usize; 0] = [];

    fn places(series: &[f64], breaks: &[usize]) -> Vec<usize> {
        change_points(series, breaks, ChangeRule::default()).expect("finite").iter().map(|change| change.at).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let found = change_points(&levels(&[(15, 50.0), (12, 58.0), (20, 50.0)], 1), &[], ChangeRule::default()).expect("finite");
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [15, 27]);
        assert_eq!((found[0].nights_before, found[0].nights_after), (15, 12));
        assert!((found[0].before - 50.0).abs() < 1.0 && (found[0].after - 58.0).abs() < 1.0 && found[0].p < 1e-6);
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
        let rule = ChangeRule { min_relative: 0.01, ..ChangeRule::default() };
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
        // 2 / C(10, 5) = 0.008 is not enough, 2 / C(14, 7) = 0.0006 is.
        assert_eq!(places(&series(5, 5), &[]), NONE);
        assert_eq!(places(&series(7, 7), &[]), [7]);
        assert_eq!(places(&series(20, 5), &[]), [20]);
        assert_eq!(places(&[0.4; 40], &[]), NONE);
        assert_eq!(places(&[], &[]), NONE);
        assert!((constant_sides(&[1.0; 3], &[2.0; 4]) - 1.0 / 35.0).abs() < 1e-15);
    }

    #[test]
    fn noise_alone_rarely_looks_like_a_change() {
        let rule = ChangeRule { min_relative: 0.0, ..ChangeRule::default() };
        let alarms = (0..200).filter(|&stream| !change_points(&noise(60, 100 + stream), &[], rule).expect("finite").is_empty()).count();
        assert!(alarms <= 10, "{alarms} of 200 series");
    }

    #[test]
    fn rules_and_series_that_make_no_sense() {
        let rule = ChangeRule::default();
        assert_eq!(change_points(&[1.0], &[], ChangeRule { min_nights: 1, ..rule }), Err(Undefined::OutOfRange));
        assert_eq!(change_points(&[1.0], &[], ChangeRule { alpha: 0.0, ..rule }), Err(Undefined::OutOfRange));
        assert_eq!(change_points(&[1.0], &[], ChangeRule { min_relative: f64::NAN, ..rule }), Err(Undefined::OutOfRange));
        assert_eq!(change_points(&[f64::INFINITY], &[], rule), Err(Undefined::NotFinite));
    }

    proptest::proptest! {
        #[test]
        fn the_fast_search_is_the_definition(series in proptest::collection::vec(-50i16..50, 4..24)) {
            let series: Vec<f64> = series.into_iter().map(|value| f64::from(value) / 10.0).collect();
            let (fast, slow) = (e_divisive_best_split(&series, 2).expect("four values"), slow(&series, 2));
            proptest::prop_assert_eq!((fast.tau, fast.kappa), (slow.tau, slow.kappa));
            proptest::prop_assert!((fast.q - slow.q).abs() < 1e-9);
        }
    }
}
