//! The verdict's rule on made-up data, and what people do instead of it.

use evalreport::stats::{
    self, Interval, MeanDifference, PairedTable, Resampling, RuleVerdict, Undefined,
    VerdictQuestion,
};

pub const ALPHA: f64 = 0.05;
pub const CONFIDENCE: f64 = 0.95;

/// What one pair of arms gives the rule.
pub struct Pair {
    pub difference: f64,
    pub interval: Option<Interval>,
    pub p: Option<f64>,
}

/// The verdicts on a family of pairs; the first arm is better where its numbers are larger.
pub fn verdicts(pairs: &[Pair]) -> Vec<RuleVerdict> {
    let tested: Vec<f64> = pairs.iter().filter_map(|pair| pair.p).collect();
    let mut adjusted = stats::holm_adjustment(&tested)
        .expect("p-values")
        .into_iter();
    let decide = |pair: &Pair| {
        stats::apply_verdict_rule(&VerdictQuestion {
            comparable: true,
            n_a: 1,
            n_b: 1,
            difference: Some(pair.difference),
            interval: pair.interval,
            p_adjusted: pair.p.and_then(|_| adjusted.next()),
            alpha: ALPHA,
            margin: None,
            higher_is_better: true,
            deterministic: false,
        })
    };
    pairs.iter().map(decide).collect()
}

/// Whether any pair of a family has a winner.
pub fn any_winner(pairs: &[Pair]) -> bool {
    verdicts(pairs)
        .iter()
        .any(|verdict| matches!(verdict, RuleVerdict::AWins | RuleVerdict::BWins))
}

pub fn first_wins(pair: Pair) -> bool {
    verdicts(&[pair]) == [RuleVerdict::AWins]
}

/// All pairs of some arms.
pub fn all_pairs<T>(arms: &[T], compare: impl Fn(&T, &T) -> Pair) -> Vec<Pair> {
    let of = |first: usize| (first + 1..arms.len()).map(move |second| (first, second));
    (0..arms.len())
        .flat_map(of)
        .map(|(first, second)| compare(&arms[first], &arms[second]))
        .collect()
}

/// One attempt at the same items on both sides.
pub fn paired_items(one: &[bool], other: &[bool]) -> Pair {
    let pairs = pairs(one, other);
    Pair {
        difference: pairs.share_difference().expect("items"),
        interval: stats::tango_interval(pairs, CONFIDENCE).ok(),
        p: Some(stats::mcnemar_test(pairs.only_a, pairs.only_b).exact),
    }
}

pub fn pairs(one: &[bool], other: &[bool]) -> PairedTable {
    let count = |a: bool, b: bool| {
        one.iter()
            .zip(other)
            .filter(|(one, other)| (**one, **other) == (a, b))
            .count() as u64
    };
    PairedTable {
        both: count(true, true),
        only_a: count(true, false),
        only_b: count(false, true),
        neither: count(false, false),
    }
}

/// Means of several attempts at the same items.
pub fn repeated_items(one: &[f64], other: &[f64]) -> Pair {
    let differences: Vec<f64> = one
        .iter()
        .zip(other)
        .map(|(one, other)| one - other)
        .collect();
    let difference = differences.iter().sum::<f64>() / differences.len() as f64;
    let tested = if differences.len() < 10 {
        Err(Undefined::TooFew)
    } else {
        stats::paired_t(one, other, CONFIDENCE)
    };
    match tested {
        Ok(tested) => Pair {
            difference,
            interval: Some(tested.interval),
            p: Some(tested.p),
        },
        Err(_) => Pair {
            difference,
            interval: None,
            p: stats::sign_flip(&differences, DRAWS)
                .ok()
                .map(|test| test.p),
        },
    }
}

/// A number per run.
pub fn runs(one: &[f64], other: &[f64]) -> Pair {
    match stats::welch_test(one, other, CONFIDENCE) {
        Ok(tested) => of_means(tested),
        Err(_) => {
            let mean = |values: &[f64]| stats::summarise_sample(values).expect("runs").mean;
            let p = stats::permutation_test(one, other, DRAWS)
                .ok()
                .map(|test| test.p);
            Pair {
                difference: mean(one) - mean(other),
                interval: None,
                p,
            }
        }
    }
}

/// An amount per run, on logarithms. The more, the better, for the sake of one rule here.
pub fn amounts(one: &[f64], other: &[f64]) -> Pair {
    of_means(
        stats::log_ratio_welch(one, other, CONFIDENCE)
            .expect("amounts above zero that vary")
            .log,
    )
}

pub fn clusters_by_t(differences: &[f64], codes: &[u32]) -> Pair {
    match stats::clustered_mean(differences, codes, CONFIDENCE) {
        Ok(got) => {
            let p = stats::t_two_sided(got.mean / got.se_cr1, got.degrees).ok();
            Pair {
                difference: got.mean,
                interval: Some(got.interval),
                p,
            }
        }
        Err(_) => Pair {
            difference: 0.0,
            interval: None,
            p: None,
        },
    }
}

/// Items in clusters: arms that are equally good may be swapped in any cluster, whatever the clusters' sizes.
pub fn clusters(differences: &[f64], codes: &[u32]) -> Pair {
    let pair = clusters_by_t(differences, codes);
    let mut sums = vec![0.0; codes.iter().max().map_or(0, |last| *last as usize + 1)];
    for (difference, code) in differences.iter().zip(codes) {
        sums[*code as usize] += difference;
    }
    Pair {
        p: pair
            .p
            .and_then(|_| stats::sign_flip(&sums, DRAWS).ok())
            .map(|test| test.p),
        ..pair
    }
}

/// Instead of the rule: the textbook's z test of two shares, as if every test were a trial of its own.
pub fn z_test(one: (u64, u64), other: (u64, u64)) -> bool {
    let pooled = (one.0 + other.0) as f64 / (one.1 + other.1) as f64;
    let error = (pooled * (1.0 - pooled) * (1.0 / one.1 as f64 + 1.0 / other.1 as f64)).sqrt();
    let difference = one.0 as f64 / one.1 as f64 - other.0 as f64 / other.1 as f64;
    error > 0.0 && stats::normal_two_sided(difference / error) < ALPHA
}

/// Instead of the rule: two intervals that do not overlap.
pub fn apart(one: (u64, u64), other: (u64, u64)) -> bool {
    let interval =
        |(passed, total)| stats::wilson_score_interval(passed, total, CONFIDENCE).expect("counts");
    disjoint(interval(one), interval(other))
}

pub fn disjoint(one: Interval, other: Interval) -> bool {
    one.low > other.high || other.low > one.high
}

fn of_means(tested: MeanDifference) -> Pair {
    Pair {
        difference: tested.difference,
        interval: Some(tested.interval),
        p: Some(tested.p),
    }
}

/// Few enough values here for every rearrangement to be tried, almost always.
const DRAWS: Resampling = Resampling {
    seed: 1,
    draws: 999,
};
