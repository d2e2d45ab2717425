//! Means over suites: intervals if the suites are a sample, and for all pairs of systems at once.

use super::{Interval, Multiplier, ScoreMatrix, Seed, Undefined, rank_sets, t_quantile};

/// Systems by suites, with the suites' weights.
#[derive(Clone, Debug)]
pub struct SuiteMeans {
    rows: Vec<Vec<f64>>,
    /// Their sum is 1.
    weights: Vec<f64>,
    /// The value up to which a pair's statistic says nothing, for all pairs at once. Infinite if no statistic is large enough.
    critical: f64,
    /// The same for one mean.
    of_one: f64,
}

impl SuiteMeans {
    /// Takes suites as a sample of suites that could have been asked.
    ///
    /// The statistic of a pair with differences d is |Σwd| / √Σw²d². Its critical value is the quantile of the largest statistic of all
    /// pairs when the signs of whole suites are flipped: the first step of [`rank_sets()`]. Signs of the differences themselves are exact for
    /// equal systems. Signs of their distances from the systems' means give intervals that hold if systems are far apart, because then the
    /// differences of many pairs are alike. The larger value counts. For one mean it is Student's quantile on the same scale. Undefined for fewer than two systems or suites, and for weights that are not above 0.
    pub fn from_sample(
        rows: Vec<Vec<f64>>,
        weights: &[f64],
        confidence: f64,
        draws: usize,
        seed: Seed,
    ) -> Result<Self, Undefined> {
        let sum: f64 = weights.iter().sum();
        if weights
            .iter()
            .any(|weight| !(*weight > 0.0 && weight.is_finite()))
        {
            return Err(Undefined::OutOfRange);
        }
        if rows.iter().any(|row| row.len() != weights.len()) {
            return Err(Undefined::Unequal);
        }
        let weights: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let n = weights.len() as f64;
        let mean = |row: &Vec<f64>| {
            row.iter()
                .zip(&weights)
                .map(|(value, weight)| value * weight)
                .sum::<f64>()
        };
        let largest = |centre: &dyn Fn(&Vec<f64>) -> f64| {
            let weighed = |row: &Vec<f64>| -> Vec<f64> {
                let centre = centre(row);
                row.iter()
                    .zip(&weights)
                    .map(|(value, weight)| (value - centre) * weight * n)
                    .collect()
            };
            let weighed: Vec<Vec<f64>> = rows.iter().map(weighed).collect();
            match rank_sets(
                &ScoreMatrix::new(&weighed)?,
                None,
                Multiplier::Sign,
                confidence,
                draws,
                seed,
            ) {
                Ok(sets) => Ok(Some(sets.critical)),
                Err(Undefined::NoVariation) => Ok(None),
                Err(other) => Err(other),
            }
        };
        // Equal systems have equal means on any suites of these values.
        let critical = match (largest(&|_| 0.0)?, largest(&mean)?) {
            (Some(own), Some(centred)) => own.max(centred),
            (own, _) => own.unwrap_or(f64::INFINITY),
        };
        let t = t_quantile(1.0 - (1.0 - confidence) / 2.0, n - 1.0)?;
        Ok(Self {
            rows,
            weights,
            critical,
            of_one: t * (n / (n - 1.0 + t * t)).sqrt(),
        })
    }

    /// Returns a system's weighted mean.
    pub fn weighted_mean(&self, system: usize) -> f64 {
        self.rows[system]
            .iter()
            .zip(&self.weights)
            .map(|(value, weight)| value * weight)
            .sum()
    }

    /// Returns the interval of a system's mean. `None` if the suites are too few for their weights.
    pub fn mean_interval(&self, system: usize) -> Option<Interval> {
        invert_t_test(&self.rows[system], &self.weights, self.of_one)
    }

    /// Returns the interval of the first system's mean minus the second's. All pairs' hold at once. `None` if any difference is possible.
    pub fn difference_interval(&self, first: usize, second: usize) -> Option<Interval> {
        let differences: Vec<f64> = self.rows[first]
            .iter()
            .zip(&self.rows[second])
            .map(|(one, other)| one - other)
            .collect();
        invert_t_test(&differences, &self.weights, self.critical)
    }
}

/// Returns all means m with |Σw(x − m)| ≤ c √Σw²(x − m)², for weights whose sum is 1. With equal weights this is Student's interval.
fn invert_t_test(values: &[f64], weights: &[f64], critical: f64) -> Option<Interval> {
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        values
            .iter()
            .zip(weights)
            .map(|(value, weight)| of(*value, *weight))
            .sum::<f64>()
    };
    let mean = sum(&|value, weight| weight * value);
    // Distances from the mean, so that no digits cancel.
    let squares = sum(&|_, weight| weight * weight);
    let mixed = sum(&|value, weight| weight * weight * (value - mean));
    let spread = sum(&|value, weight| (weight * (value - mean)).powi(2));
    let c2 = critical * critical;
    let leading = 1.0 - c2 * squares;
    if leading.is_nan() || leading <= 1e-9 {
        return None;
    }
    // (1 − c²A) e² + 2c²B e − c²C ≤ 0 for e = m − mean.
    let half = (c2 * mixed).hypot((leading * c2 * spread).sqrt());
    Interval::new(
        mean + (-c2 * mixed - half) / leading,
        mean + (-c2 * mixed + half) / leading,
    )
}

/// Returns the factor by which the intervals of single pairs become wider so that they hold for all pairs at once: the critical value of
/// the largest statistic on the scale of Student's t, over the quantile of a single interval. `None` if no interval is wide enough.
pub fn widening_factor(critical: f64, units: f64, single: f64) -> Option<f64> {
    let left = units - critical * critical;
    (left > 0.0 && single > 0.0)
        .then(|| (critical * ((units - 1.0) / left).sqrt() / single).max(1.0))
}

/// Returns the number of units of one suite that measures as well as units in several suites, given as weight and number: (Σw²/n)² /
/// Σw⁴/n³ (Satterthwaite 1946, for units of equal variance). Few units with a large weight decide.
pub fn effective_units(suites: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let sum = suites
        .clone()
        .map(|(weight, units)| weight * weight / units)
        .sum::<f64>();
    sum * sum
        / suites
            .map(|(weight, units)| weight.powi(4) / units.powi(3))
            .sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} and not {wanted}");
    }

    #[test]
    fn equal_weights_give_students_interval() {
        let rows = vec![
            vec![0.5, 0.7, 0.6, 0.9, 0.4],
            vec![0.4, 0.6, 0.65, 0.7, 0.2],
        ];
        let means = SuiteMeans::from_sample(rows, &[2.0; 5], 0.95, 99, Seed(1)).expect("a sample");
        near(means.weighted_mean(0), 0.62);
        // scipy.stats.t.interval(0.95, 4, loc=mean, scale=sem) of the first row.
        let found = means.mean_interval(0).expect("an interval");
        near(found.low, 0.381_161_161_190_001_9);
        near(found.high, 0.858_838_838_809_997_9);
    }

    #[test]
    fn a_weight_counts_as_much_as_it_says() {
        let rows = vec![vec![1.0, 0.0, 0.5, 0.25, 0.75, 0.5], vec![0.0; 6]];
        let means =
            SuiteMeans::from_sample(rows, &[3.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0.95, 99, Seed(1))
                .expect("a sample");
        near(means.weighted_mean(0), 5.0 / 8.0);
        // The ends are where the statistic equals its critical value.
        let ends = means.mean_interval(0).expect("an interval");
        for end in [ends.low, ends.high] {
            let weights = [0.375, 0.125, 0.125, 0.125, 0.125, 0.125];
            let apart = || {
                [1.0, 0.0, 0.5, 0.25, 0.75, 0.5]
                    .into_iter()
                    .zip(weights)
                    .map(|(value, weight)| weight * (value - end))
            };
            let statistic =
                apart().sum::<f64>().abs() / apart().map(|part| part * part).sum::<f64>().sqrt();
            near(statistic, means.of_one);
        }
        assert!(ends.low < 0.625 && ends.high > 0.625);
    }

    #[test]
    fn few_suites_and_equal_systems_establish_nothing() {
        let few = SuiteMeans::from_sample(
            vec![vec![1.0, 0.9, 0.8], vec![0.1, 0.2, 0.0]],
            &[1.0; 3],
            0.95,
            99,
            Seed(1),
        )
        .expect("suites");
        assert_eq!(
            few.difference_interval(0, 1),
            None,
            "eight ways of signs cannot be 5% rare"
        );
        let equal = SuiteMeans::from_sample(vec![vec![0.5; 12]; 2], &[1.0; 12], 0.95, 99, Seed(1))
            .expect("suites");
        assert_eq!(equal.difference_interval(0, 1), None);
        assert!(
            SuiteMeans::from_sample(vec![vec![0.5; 3]; 2], &[1.0, 0.0, 1.0], 0.95, 99, Seed(1))
                .is_err()
        );
        assert!(
            SuiteMeans::from_sample(vec![vec![0.5; 3]; 2], &[1.0; 2], 0.95, 99, Seed(1)).is_err()
        );
    }

    #[test]
    fn intervals_widen_by_the_critical_value() {
        let normal = 1.959_963_984_540_054;
        assert!((widening_factor(normal, 1e9, normal).expect("units") - 1.0).abs() < 1e-8);
        // c = 3 of 10 units: t = 3 · √(9/1) = 9.
        near(widening_factor(3.0, 10.0, 2.0).expect("units"), 4.5);
        assert_eq!(widening_factor(3.2, 10.0, 2.0), None);
        assert_eq!(widening_factor(f64::INFINITY, 10.0, 2.0), None);
    }

    #[test]
    fn the_smallest_suite_decides_how_many_units_count() {
        near(effective_units([(1.0, 20.0); 6].into_iter()), 120.0);
        near(effective_units([(2.0, 30.0)].into_iter()), 30.0);
        // (1/30 + 1/200)² / (1/30³ + 1/200³).
        let both = effective_units([(0.5, 200.0), (0.5, 30.0)].into_iter());
        near(
            both,
            (1.0_f64 / 30.0 + 1.0 / 200.0).powi(2) / (1.0 / 27_000.0 + 1.0 / 8_000_000.0),
        );
    }
}
