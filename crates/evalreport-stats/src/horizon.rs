//! Time horizons: how long a task takes people that an arm does with a given chance.

use super::distribution::upper_level;
use super::logistic::{logistic, softplus};
use super::{Interval, Replicates, Seed, Undefined, normal_two_sided, t_quantile};

/// One attempt at a task of known length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedAttempt {
    /// Code of the task, and of its family: tasks that resemble each other.
    pub task: u32,
    pub family: u32,
    /// Time that people need. Above 0.
    pub minutes: f64,
    /// From 0 to 1.
    pub score: f64,
}

/// The curve of success over the length of tasks: log odds = intercept + slope · log₂ minutes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct SuccessCurve {
    pub intercept: f64,
    pub slope: f64,
}

impl SuccessCurve {
    /// Returns the expected score at a length.
    pub fn expected_score(&self, minutes: f64) -> f64 {
        1.0 / (1.0 + (-self.intercept - self.slope * minutes.log2()).exp())
    }

    /// Returns the length in minutes at which the chance of success is `chance`: 2^((ln(q / (1 − q)) − intercept) / slope). `None` if success
    /// does not fall with the length.
    pub fn horizon_minutes(&self, chance: f64) -> Option<f64> {
        let minutes = (((chance / (1.0 - chance)).ln() - self.intercept) / self.slope).exp2();
        (self.slope < 0.0 && minutes.is_finite() && minutes > 0.0).then_some(minutes)
    }
}

/// The penalty of the slope in METR's headline figures.
pub const HORIZON_PENALTY: f64 = 0.1;
const MAX_NEWTON_STEPS: usize = 200;

/// Returns each attempt's weight: one over the number of attempts at its task and over the root of the number of tasks in its family, as a
/// share of all (`invsqrt_task_weight` of METR, arXiv 2503.14499).
pub fn task_weights(attempts: &[TimedAttempt]) -> Vec<f64> {
    let mut tasks = std::collections::BTreeMap::<(u32, u32), u32>::new();
    for attempt in attempts {
        *tasks.entry((attempt.family, attempt.task)).or_default() += 1;
    }
    let mut families = std::collections::BTreeMap::<u32, u32>::new();
    for (family, _) in tasks.keys() {
        *families.entry(*family).or_default() += 1;
    }
    let weight = |attempt: &TimedAttempt| {
        let (tries, tasks) = (
            tasks[&(attempt.family, attempt.task)],
            families[&attempt.family],
        );
        1.0 / (f64::from(tries) * f64::from(tasks).sqrt())
    };
    let weights: Vec<f64> = attempts.iter().map(weight).collect();
    let whole: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / whole).collect()
}

/// Fits the curve as METR does (Kwa et al. 2025, arXiv 2503.14499): the minimum of Σ w · log loss + penalty/2 · slope², with weights that are
/// made to add up to 1 and a free intercept. A score between 0 and 1 counts as that share of a success.
///
/// Undefined without attempts, if all scores are 0 or all are 1, and for lengths that are not above 0.
pub fn success_curve(
    attempts: &[TimedAttempt],
    weights: &[f64],
    penalty: f64,
) -> Result<SuccessCurve, Undefined> {
    if attempts.len() != weights.len() {
        return Err(Undefined::Unequal);
    }
    let whole: f64 = weights.iter().sum();
    if attempts.is_empty() || whole <= 0.0 {
        return Err(Undefined::NoData);
    }
    if attempts.iter().any(|attempt| attempt.minutes <= 0.0) {
        return Err(Undefined::NotPositive);
    }
    if attempts.iter().any(|attempt| !attempt.minutes.is_finite()) || !whole.is_finite() {
        return Err(Undefined::NotFinite);
    }
    if attempts
        .iter()
        .any(|attempt| !(0.0..=1.0).contains(&attempt.score))
        || penalty.is_nan()
        || penalty < 0.0
    {
        return Err(Undefined::OutOfRange);
    }
    let points: Vec<[f64; 3]> = attempts
        .iter()
        .zip(weights)
        .map(|(attempt, weight)| [attempt.minutes.log2(), attempt.score, weight / whole])
        .collect();
    let mean: f64 = points.iter().map(|[_, score, weight]| score * weight).sum();
    // Rounding of the weights must not pass for a failure.
    if mean <= 1e-12 || mean >= 1.0 - 1e-12 {
        return Err(Undefined::NoVariation);
    }
    // Around the mean length the two parameters are nearly independent.
    let centre: f64 = points
        .iter()
        .map(|[length, _, weight]| length * weight)
        .sum();
    let loss = |intercept: f64, slope: f64| {
        let of = |[length, score, weight]: &[f64; 3]| {
            let odds = intercept + slope * (length - centre);
            weight * (softplus(odds) - score * odds)
        };
        points.iter().map(of).sum::<f64>() + penalty / 2.0 * slope * slope
    };
    let (mut intercept, mut slope) = ((mean / (1.0 - mean)).ln(), 0.0);
    let mut least = loss(intercept, slope);
    for _ in 0..MAX_NEWTON_STEPS {
        let (mut by_intercept, mut by_slope) = (0.0, penalty * slope);
        let (mut both_intercepts, mut mixed, mut both_slopes) = (0.0, 0.0, penalty);
        for [length, score, weight] in &points {
            let length = length - centre;
            let p = logistic(intercept + slope * length);
            by_intercept += weight * (p - score);
            by_slope += weight * (p - score) * length;
            let spread = weight * p * (1.0 - p);
            both_intercepts += spread;
            mixed += spread * length;
            both_slopes += spread * length * length;
        }
        let determinant = both_intercepts * both_slopes - mixed * mixed;
        // Without a penalty, lengths that do not differ have no slope.
        if determinant.is_nan() || determinant <= 1e-14 * both_intercepts * both_slopes.max(1.0) {
            return Err(Undefined::NoVariation);
        }
        let step = [
            (both_slopes * by_intercept - mixed * by_slope) / determinant,
            (both_intercepts * by_slope - mixed * by_intercept) / determinant,
        ];
        let largest = step[0].abs().max(step[1].abs());
        let mut share = 1.0;
        loop {
            let (next_intercept, next_slope) =
                (intercept - share * step[0], slope - share * step[1]);
            let found = loss(next_intercept, next_slope);
            if found <= least + 1e-12 || share < 1e-9 {
                (intercept, slope, least) = (next_intercept, next_slope, found);
                break;
            }
            share /= 2.0;
        }
        if largest < 1e-11 * (1.0 + intercept.abs().max(slope.abs())) {
            return Ok(SuccessCurve {
                intercept: intercept - slope * centre,
                slope,
            });
        }
    }
    Err(Undefined::NotFinite)
}

/// Returns the interval of each horizon, in minutes: percentiles over resamples of whole families, which keep the weights of their attempts.
///
/// Percentiles of few families are too narrow, so their level is that of a t interval with G − 1 degrees of freedom and the divisor G − 1
/// (Hesterberg 2015, the expanded percentile interval). A resample without a horizon counts as beyond either end. Undefined if such resamples fill a tail, and for fewer than
/// [`MIN_FAMILIES`] families.
pub fn horizon_intervals(
    attempts: &[TimedAttempt],
    weights: &[f64],
    penalty: f64,
    chances: &[f64],
    confidence: f64,
    draws: u32,
    seed: Seed,
) -> Vec<Result<Interval, Undefined>> {
    let mut families = std::collections::BTreeMap::<u32, Vec<usize>>::new();
    for (place, attempt) in attempts.iter().enumerate() {
        families.entry(attempt.family).or_default().push(place);
    }
    let families: Vec<Vec<usize>> = families.into_values().collect();
    let of_chance = |chance: &f64| {
        if families.len() < MIN_FAMILIES {
            return Err(Undefined::TooFew);
        }
        let replicates = Replicates::draw_replicates(families.len(), draws, seed, |drawn| {
            let mut times = vec![0.0; families.len()];
            for family in drawn {
                times[*family as usize] += 1.0;
            }
            let places = families
                .iter()
                .zip(&times)
                .filter(|(_, times)| **times > 0.0);
            let (attempts, weights): (Vec<TimedAttempt>, Vec<f64>) = places
                .flat_map(|(places, times)| {
                    places
                        .iter()
                        .map(move |place| (attempts[*place], weights[*place] * times))
                })
                .unzip();
            success_curve(&attempts, &weights, penalty)
                .ok()?
                .horizon_minutes(*chance)
                .map(f64::log2)
        })?;
        let count = families.len() as f64;
        let wide =
            t_quantile(upper_level(confidence)?, count - 1.0)? * (count / (count - 1.0)).sqrt();
        let found = replicates.percentile_interval(1.0 - normal_two_sided(wide))?;
        Interval::new(found.low.exp2(), found.high.exp2()).ok_or(Undefined::NotFinite)
    };
    chances.iter().map(of_chance).collect()
}

/// Fewer families than this have no interval: resamples of them are too alike.
pub const MIN_FAMILIES: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(rows: &[(u32, u32, f64, f64)]) -> Vec<TimedAttempt> {
        rows.iter()
            .map(|(task, family, minutes, score)| TimedAttempt {
                task: *task,
                family: *family,
                minutes: *minutes,
                score: *score,
            })
            .collect()
    }

    #[test]
    fn weights_of_tasks_and_families() {
        // One family with two tasks, of which one was tried twice, and a task alone.
        let found = task_weights(&attempts(&[
            (0, 0, 1.0, 0.0),
            (0, 0, 1.0, 1.0),
            (1, 0, 1.0, 1.0),
            (2, 1, 1.0, 1.0),
        ]));
        let (root, whole) = (0.5_f64.sqrt(), 2.0 * 0.5_f64.sqrt() + 1.0);
        for (got, wanted) in found.iter().zip([root / 2.0, root / 2.0, root, 1.0]) {
            assert!((got - wanted / whole).abs() < 1e-15, "{found:?}");
        }
    }

    #[test]
    fn a_curve_through_two_lengths() {
        // Rates of 3/4 at 2 minutes and of 1/4 at 8 without a penalty: odds of 3 and of 1/3, so a half at 4.
        let rows: Vec<_> = [(2.0, 0.75), (8.0, 0.25)]
            .into_iter()
            .map(|(minutes, score)| (0, 0, minutes, score))
            .collect();
        let curve = success_curve(&attempts(&rows), &[1.0, 1.0], 0.0).expect("a curve");
        assert!(
            (curve.slope + 3.0_f64.ln()).abs() < 1e-9
                && (curve.horizon_minutes(0.5).expect("it falls") - 4.0).abs() < 1e-9
        );
        assert!(
            (curve.horizon_minutes(0.75).expect("it falls") - 2.0).abs() < 1e-9
                && (curve.expected_score(8.0) - 0.25).abs() < 1e-9
        );
        let rising = success_curve(
            &attempts(&[(0, 0, 2.0, 0.2), (1, 0, 8.0, 0.9)]),
            &[1.0, 1.0],
            0.1,
        )
        .expect("a curve");
        assert!(rising.slope > 0.0 && rising.horizon_minutes(0.5).is_none());
    }

    #[test]
    fn what_has_no_curve() {
        let of = |score: f64, minutes: f64| {
            success_curve(
                &attempts(&[(0, 0, minutes, score), (1, 0, 4.0, score)]),
                &[1.0, 1.0],
                0.1,
            )
        };
        assert_eq!(of(0.0, 2.0), Err(Undefined::NoVariation));
        assert_eq!(of(1.0, 2.0), Err(Undefined::NoVariation));
        assert_eq!(of(0.5, 0.0), Err(Undefined::NotPositive));
        assert_eq!(of(1.5, 2.0), Err(Undefined::OutOfRange));
        assert_eq!(success_curve(&[], &[], 0.1), Err(Undefined::NoData));
        // One length: the penalty keeps the slope at 0.
        assert!(
            of(0.5, 4.0).is_ok_and(
                |curve| curve.slope.abs() < 1e-12 && curve.horizon_minutes(0.5).is_none()
            )
        );
        assert_eq!(
            success_curve(&attempts(&[(0, 0, 4.0, 0.5)]), &[1.0], 0.0),
            Err(Undefined::NoVariation)
        );
    }

    #[test]
    fn intervals_need_families() {
        let rows: Vec<_> = (0..40_u32)
            .map(|at| {
                (
                    at,
                    at % 5,
                    f64::from(1 << (at % 8)),
                    f64::from(u8::from(at % 8 < 3 + at % 3)),
                )
            })
            .collect();
        let few = attempts(&rows);
        let interval = |attempts: &[TimedAttempt]| {
            horizon_intervals(
                attempts,
                &task_weights(attempts),
                HORIZON_PENALTY,
                &[0.5],
                0.95,
                500,
                Seed(1),
            )
            .remove(0)
        };
        assert_eq!(interval(&few), Err(Undefined::TooFew));
        let alone: Vec<TimedAttempt> = few
            .iter()
            .map(|attempt| TimedAttempt {
                family: attempt.task,
                ..*attempt
            })
            .collect();
        let half = success_curve(&alone, &task_weights(&alone), HORIZON_PENALTY)
            .expect("a curve")
            .horizon_minutes(0.5)
            .expect("it falls");
        let found = interval(&alone).expect("an interval");
        assert!(
            found.low < half && half < found.high && found.high < 3.0 * half,
            "{found:?} {half}"
        );
    }
}
