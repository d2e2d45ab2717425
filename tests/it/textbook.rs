//! Numbers that textbooks and papers print, from the inputs that they print.
//!
//! Out of scope, because no page uses them: Friedman's test with Iman and Davenport's F and Nemenyi's critical difference (Demšar 2006),
//! Cochran's Q, Fleiss' kappa, McNemar's chi-squared with or without correction, Bonferroni's correction, the correlation of Efron's law
//! schools (used here, to test the resampling), and the intervals of Wald, of Agresti and Coull, of mid-p, and of Wilson with continuity
//! correction.

use evalreport::stats::{self, Interval, Replicates, Seed, Undefined};

/// The ends of an interval as a source prints them, and half a unit of their last digit.
struct Printed {
    source: &'static str,
    got: Result<Interval, Undefined>,
    ends: [f64; 2],
    within: f64,
}

#[test]
fn intervals() {
    let single = "Newcombe 1998, Statistics in Medicine 17:857, table I";
    let two = "Newcombe 1998, Statistics in Medicine 17:873, table II, method 10";
    let r = "R package binom, binom.confint";
    let row = |source, got, ends, within| Printed {
        source,
        got,
        ends,
        within,
    };
    let rows = [
        row(
            single,
            stats::wilson_score_interval(81, 263, 0.95),
            [0.2553, 0.3662],
            5e-5,
        ),
        row(
            single,
            stats::clopper_pearson(81, 263, 0.95),
            [0.2527, 0.3676],
            5e-5,
        ),
        row(
            single,
            stats::wilson_score_interval(0, 20, 0.95),
            [0.0, 0.1611],
            5e-5,
        ),
        row(
            single,
            stats::clopper_pearson(0, 20, 0.95),
            [0.0, 0.1684],
            5e-5,
        ),
        row(
            r,
            stats::wilson_score_interval(18, 20, 0.95),
            [0.698_966_354_771_512_8, 0.972_133_518_786_232],
            1e-12,
        ),
        row(
            r,
            stats::clopper_pearson(18, 20, 0.95),
            [0.683_017_285_980_917_6, 0.987_651_472_829_705_2],
            1e-12,
        ),
        row(
            r,
            stats::wilson_score_interval(4, 20, 0.95),
            [0.080_657_662_579_798_1, 0.416_017_432_251_893_5],
            1e-12,
        ),
        row(
            r,
            stats::clopper_pearson(4, 20, 0.95),
            [0.057_333_997_050_032_84, 0.436_614_002_996_668],
            1e-12,
        ),
        row(
            r,
            stats::wilson_score_interval(4, 200, 0.95),
            [0.007_804_426_416_349_47, 0.050_287_086_905_826_43],
            1e-12,
        ),
        row(
            r,
            stats::clopper_pearson(4, 200, 0.95),
            [0.005_475_565_879_556_443, 0.050_413_609_089_896_34],
            1e-12,
        ),
        row(
            two,
            stats::newcombe_interval(56, 70, 48, 80, 0.95),
            [0.0524, 0.3339],
            5e-5,
        ),
        row(
            two,
            stats::newcombe_interval(6, 7, 2, 7, 0.95),
            [0.0582, 0.8062],
            5.1e-5,
        ),
        row(
            two,
            stats::newcombe_interval(0, 10, 0, 20, 0.95),
            [-0.1611, 0.2775],
            5e-5,
        ),
        row(
            two,
            stats::newcombe_interval(10, 10, 0, 20, 0.95),
            [0.6791, 1.0],
            5e-5,
        ),
    ];
    for row in rows {
        let got = row.got.expect("an interval");
        let off = (got.low - row.ends[0])
            .abs()
            .max((got.high - row.ends[1]).abs());
        assert!(
            off <= row.within,
            "{}: {:?} instead of {got:?}",
            row.source,
            row.ends
        );
    }
}

/// Vassar College's online computation, as recorded with statsmodels' tests.
#[test]
fn mcnemar_exact() {
    for (won, lost, printed, within) in [
        (121, 59, 4e-6, 5e-7),
        (80, 59, 0.089_452, 5e-7),
        (10, 30, 0.002_221, 5e-7),
    ] {
        for got in [
            stats::mcnemar_test(won, lost).exact,
            stats::mcnemar_test(lost, won).exact,
        ] {
            assert!(
                (got - printed).abs() <= within,
                "{won} against {lost}: {printed} instead of {got}"
            );
        }
    }
}

/// Apex2 on Terminal-Bench, its README: five runs of 80 tasks, 64.5 ± 1.77.
#[test]
fn t_interval_over_runs() {
    let got = stats::mean_interval(&[62.5, 63.75, 65.0, 66.25, 65.0], 0.95).expect("an interval");
    assert!((got.low.midpoint(got.high) - 64.5).abs() < 1e-12, "{got:?}");
    assert!(((got.high - got.low) / 2.0 - 1.77).abs() <= 5e-3, "{got:?}");
}

/// Benjamini and Hochberg 1995, JRSS B 57:289, section 4.1: fifteen hypotheses, of which their procedure rejects four. Holm's rejects
/// the three that Bonferroni's does there.
#[test]
fn rejections_in_a_family() {
    let p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262,
        0.5719, 0.6528, 0.759, 1.0,
    ];
    let rejected = |adjusted: Result<Vec<f64>, Undefined>| {
        adjusted
            .expect("adjusted")
            .iter()
            .filter(|p| **p < 0.05)
            .count()
    };
    assert_eq!(
        (
            rejected(stats::benjamini_hochberg(&p)),
            rejected(stats::holm_adjustment(&p))
        ),
        (4, 3)
    );
}

/// Efron and Tibshirani 1993, "An Introduction to the Bootstrap", table 3.1 and chapters 6 and 11: fifteen law schools, mean test score
/// and mean grade; their correlation .776, its standard error by the jackknife .1425 and by 3200 resamples .132.
#[test]
fn resampling_of_the_law_schools() {
    let score = [
        576.0, 635.0, 558.0, 578.0, 666.0, 580.0, 555.0, 661.0, 651.0, 605.0, 653.0, 575.0, 545.0,
        572.0, 594.0,
    ];
    let grade = [
        3.39, 3.30, 2.81, 3.03, 3.44, 3.07, 3.00, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96,
    ];
    let correlation = |schools: &[u32]| {
        let n = schools.len() as f64;
        let mean = |of: &[f64; 15]| {
            schools
                .iter()
                .map(|school| of[*school as usize])
                .sum::<f64>()
                / n
        };
        let (score_mean, grade_mean) = (mean(&score), mean(&grade));
        let (mut both, mut scores, mut grades) = (0.0, 0.0, 0.0);
        for school in schools {
            let (one, other) = (
                score[*school as usize] - score_mean,
                grade[*school as usize] - grade_mean,
            );
            (both, scores, grades) = (
                both + one * other,
                scores + one * one,
                grades + other * other,
            );
        }
        Some(both / f64::sqrt(scores * grades))
    };
    let all: Vec<u32> = (0..15).collect();
    let estimate = correlation(&all).expect("a correlation");
    assert!((estimate - 0.776).abs() <= 5e-4, "{estimate}");

    let left_out = stats::jackknife_values(15, correlation).expect("fifteen values");
    let mean = left_out.iter().sum::<f64>() / 15.0;
    let jackknife_error = (left_out
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        * 14.0
        / 15.0)
        .sqrt();
    assert!(
        (jackknife_error - 0.1425).abs() <= 5e-5,
        "{jackknife_error}"
    );

    let bootstrap_error = Replicates::draw_replicates(15, 3200, Seed(1), correlation)
        .and_then(|drawn| drawn.standard_error())
        .expect("replicates");
    assert!(
        (bootstrap_error - 0.132).abs() <= 0.004,
        "{bootstrap_error}"
    );
}

/// The study behind `results/`: its headlines name winners at 41/48 against 40/48 and at 26/28 against 23/28.
#[test]
fn headlines_of_the_ralph_study() {
    for (passed, total, printed) in [([41, 40], 48, 1.0), ([26, 23], 28, 0.42)] {
        let p = stats::fisher_exact(passed[0], total, passed[1], total).expect("a test");
        assert!((p - printed).abs() <= 5e-3, "{passed:?} of {total}: {p}");
        let interval = stats::newcombe_interval(passed[0], total, passed[1], total, 0.95)
            .expect("an interval");
        assert!(interval.low < 0.0 && interval.high > 0.0, "{interval:?}");
        // The kindest case for the winner: the same tests, and it lost none that the other passed.
        assert!(stats::mcnemar_test(passed[0] - passed[1], 0).exact >= 0.25);
    }
}
