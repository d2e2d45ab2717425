//! Many arms over few clusters of unequal sizes, where Holm's factor takes a discrete test beyond what it can reach.

use evalreport::stats::{self, Resampling};

use super::Table;
use super::rule::ALPHA;
use super::world::{World, shares};

/// Issues by repository, about as many as SWE-bench Verified and its like have.
pub const REPOSITORIES: [usize; 12] = [231, 114, 87, 75, 44, 34, 32, 22, 19, 8, 6, 1];
const DRAWS: Resampling = Resampling {
    seed: 1,
    draws: 999,
};

/// By arm: how many of each cluster's items it passed.
fn passed(world: &mut World, sizes: &[usize], rates: &[f64], correlation: f64) -> Vec<Vec<f64>> {
    let of = |world: &mut World, rate: f64| -> Vec<f64> {
        sizes
            .iter()
            .map(|size| {
                let chance = world.chance(rate, correlation);
                world.passed(*size as u64, chance) as f64
            })
            .collect()
    };
    rates.iter().map(|rate| of(world, *rate)).collect()
}

/// By pair the adjusted p of both ways.
fn adjusted(arms: &[Vec<f64>]) -> [Vec<f64>; 2] {
    let apart = |one: &Vec<f64>, other: &Vec<f64>| {
        one.iter()
            .zip(other)
            .map(|(one, other)| one - other)
            .collect::<Vec<f64>>()
    };
    let of = |first: usize| (first + 1..arms.len()).map(move |second| (first, second));
    let pairs: Vec<Vec<f64>> = (0..arms.len())
        .flat_map(of)
        .map(|(first, second)| apart(&arms[first], &arms[second]))
        .collect();
    let together =
        stats::max_t(&pairs, DRAWS).map_or_else(|_| vec![1.0; pairs.len()], |got| got.adjusted);
    let alone: Vec<f64> = pairs
        .iter()
        .map(|pair| stats::sign_flip(pair, DRAWS).map_or(1.0, |test| test.p))
        .collect();
    [together, stats::holm_adjustment(&alone).expect("p-values")]
}

pub fn clusters() -> Table {
    let mut table = Table::new(
        "All pairs of some arms over clusters: a false winner anywhere, and the last arm, 20 pp better, found against the first",
        &[
            "arms",
            "clusters",
            "correlation in a cluster",
            "max-T: false",
            "Holm: false",
            "max-T: found",
            "Holm: found",
        ],
    );
    for arms in [2, 6, 15] {
        for (name, sizes) in [
            ("12 of 1 to 231", REPOSITORIES.to_vec()),
            ("12 of 20", vec![20; 12]),
            ("9 of 20", vec![20; 9]),
        ] {
            for correlation in [0.02, 0.1] {
                let got = shares(1_000, |world| {
                    let mut rates = vec![0.5; arms];
                    let [together, holm] = adjusted(&passed(world, &sizes, &rates, correlation));
                    let any = |adjusted: &[f64]| Some(adjusted.iter().any(|p| *p < ALPHA));
                    rates[arms - 1] = 0.7;
                    let [better, better_holm] =
                        adjusted(&passed(world, &sizes, &rates, correlation));
                    // The first arm's pairs come first; the last of them is with the last arm.
                    let found = |adjusted: &[f64]| Some(adjusted[arms - 2] < ALPHA);
                    [
                        any(&together),
                        any(&holm),
                        found(&better),
                        found(&better_holm),
                    ]
                });
                table.row(
                    &[arms.to_string(), name.to_owned(), correlation.to_string()],
                    &got,
                );
            }
        }
    }
    table
}
