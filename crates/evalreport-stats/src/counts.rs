//! Counts of passed tasks from several runs with unknown tasks.

use super::distribution::t_two_sided;
use super::mean::{MeanDifference, summarise_sample, t_interval};
use super::{Interval, Undefined};

/// Compares totals of runs, (passed, tried) each, whose items are unknown: the difference a − b of the means of the runs' shares.
///
/// The variance of an arm is p(1 − p)/n + s²(runs)/R. The first part is for tasks as a sample: the largest possible variance between tasks,
/// whatever their difficulty. The second part is for runs. n is the mean number tried, and p in the first part is (pn + 1)/(n + 2), after
/// Agresti and Caffo (2000), so that 100% has a spread. Both parts include the noise of single attempts, so the interval is too wide rather
/// than too narrow. Degrees of freedom are Satterthwaite's, infinite for the first part, and for the runs at most those of runs with equal
/// spread. With one run per arm, [`super::newcombe_interval`] and [`super::fisher_exact`] are better.
///
/// Undefined for an arm without runs and for a run without tasks.
pub fn counts_over_runs(
    a: &[(u64, u64)],
    b: &[(u64, u64)],
    confidence: f64,
) -> Result<MeanDifference, Undefined> {
    let arms = [CountedArm::from_totals(a)?, CountedArm::from_totals(b)?];
    let of_runs: f64 = arms.iter().map(|arm| arm.of_runs).sum();
    let variance = of_runs + arms.iter().map(|arm| arm.of_tasks).sum::<f64>();
    let combined = |of: fn(&CountedArm) -> f64| {
        let sum: f64 = arms.iter().filter(|arm| arm.runs > 1.0).map(of).sum();
        1.0 / arms
            .iter()
            .filter(|arm| arm.runs > 1.0)
            .map(|arm| (of(arm) / sum).powi(2) / (arm.runs - 1.0))
            .sum::<f64>()
    };
    let degrees = if of_runs > 0.0 {
        (variance / of_runs).powi(2)
            * combined(|arm| arm.of_runs).min(combined(|arm| 1.0 / arm.runs))
    } else {
        NORMAL_DEGREES
    };
    // With this many degrees Student's distribution is the normal one.
    let degrees = degrees.clamp(1.0, NORMAL_DEGREES);
    let (difference, standard_error) = (arms[0].mean - arms[1].mean, variance.sqrt());
    let t = difference / standard_error;
    let interval: Interval = t_interval(difference, standard_error, degrees, confidence)?;
    Ok(MeanDifference {
        difference,
        standard_error,
        degrees,
        t,
        p: t_two_sided(t, degrees)?,
        interval: interval.clipped_to(-1.0, 1.0),
    })
}

const NORMAL_DEGREES: f64 = 1e6;

struct CountedArm {
    runs: f64,
    mean: f64,
    of_tasks: f64,
    of_runs: f64,
}

impl CountedArm {
    fn from_totals(totals: &[(u64, u64)]) -> Result<Self, Undefined> {
        let shares: Result<Vec<f64>, Undefined> = totals
            .iter()
            .map(|(passed, tried)| super::proportion::share_passed(*passed, *tried))
            .collect();
        let summary = summarise_sample(&shares?)?;
        let runs = totals.len() as f64;
        let n = totals.iter().map(|(_, tried)| *tried as f64).sum::<f64>() / runs;
        let p = (summary.mean * n + 1.0) / (n + 2.0);
        let of_runs = summary.sd.map_or(0.0, |sd| sd * sd / runs);
        Ok(Self {
            runs,
            mean: summary.mean,
            of_tasks: p * (1.0 - p) / n,
            of_runs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Shares .5 and .7: mean .6, s²/2 = .01; p = 7/12 of 10 tasks: .0243056. The other arm: .2 twice, p = 3/12: .01875.
        let got = counts_over_runs(&[(5, 10), (7, 10)], &[(2, 10), (2, 10)], 0.95).expect("runs");
        let variance: f64 = 0.01 + 35.0 / 144.0 / 10.0 + 3.0 / 16.0 / 10.0;
        assert!(
            (got.difference - 0.4).abs() < 1e-12
                && (got.standard_error - variance.sqrt()).abs() < 1e-12
        );
        // One arm's runs vary: one degree of freedom for their part.
        assert!((got.degrees - (variance / 0.01).powi(2)).abs() < 1e-9);
        let alike = counts_over_runs(&[(10, 10), (10, 10)], &[(10, 10)], 0.95).expect("runs");
        assert!(
            alike.interval.low < 0.0 && alike.interval.high > 0.0 && (alike.p - 1.0).abs() < 1e-12
        );
        // One crashed run of three.
        let crashed = counts_over_runs(&[(80, 100); 3], &[(80, 100), (80, 100), (0, 100)], 0.95)
            .expect("runs");
        assert!(crashed.p > 0.3, "{crashed:?}");
        assert_eq!(
            counts_over_runs(&[], &[(1, 2)], 0.95),
            Err(Undefined::NoData)
        );
        assert_eq!(
            counts_over_runs(&[(0, 0)], &[(1, 2)], 0.95),
            Err(Undefined::NoData)
        );
        assert_eq!(
            counts_over_runs(&[(3, 2)], &[(1, 2)], 0.95),
            Err(Undefined::OutOfRange)
        );
    }

    proptest::proptest! {
        #[test]
        fn swapping_flips_the_sign(
            a in proptest::collection::vec(0u64..=40, 1..6), b in proptest::collection::vec(0u64..=40, 1..6),
        ) {
            let [a, b] = [a, b].map(|passed| passed.into_iter().map(|passed| (passed, 40)).collect::<Vec<_>>());
            let (there, back) = (counts_over_runs(&a, &b, 0.95).expect("runs"), counts_over_runs(&b, &a, 0.95).expect("runs"));
            proptest::prop_assert!((there.p - back.p).abs() < 1e-12 && (there.interval.low + back.interval.high).abs() < 1e-12);
            proptest::prop_assert!(there.interval.low <= there.difference && there.difference <= there.interval.high);
        }
    }
}
