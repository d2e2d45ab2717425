//! How often the first bad commit is found, and with how many runs, beside bisection that runs each commit as often as the worst case needs.

use evalreport::stats::{FallSearch, PlaceTally};
use rayon::prelude::*;

use super::Table;
use super::world::{self, World};

const WORLDS: u64 = 400;
/// The number of the first world.
const FIRST: u64 = 9_500_000;
/// The posterior at which `bisect` stops.
const CERTAINTY: f64 = 0.97;
/// Most runs of one search.
const MAX_RUNS: u64 = 2_000;
/// Pass rates before and since the fall.
const RATES: [(f64, f64); 6] = [
    (1.0, 0.0),
    (0.95, 0.0),
    (0.9, 0.1),
    (1.0, 0.5),
    (0.95, 0.3),
    (0.8, 0.2),
];

/// Whether the search found the fall, and its number of runs.
fn search(places: usize, rates: (f64, f64), world: &mut World) -> (bool, u64) {
    let fall = 1 + world.below(places - 1);
    let mut trials = vec![PlaceTally::default(); places];
    let mut runs = 0;
    let mut go = |trials: &mut [PlaceTally], place: usize, world: &mut World| {
        let rate = if place < fall { rates.0 } else { rates.1 };
        if world.happens(rate) {
            trials[place].passed += 1;
        } else {
            trials[place].failed += 1;
        }
        runs += 1;
        runs
    };
    let mut done = 0;
    for place in [0, places - 1, 0, places - 1] {
        done = go(&mut trials, place, world);
    }
    loop {
        let found = FallSearch::from_trials(&trials).expect("places");
        if found.certainty() >= CERTAINTY || done >= MAX_RUNS {
            return (found.likeliest == fall, done);
        }
        let next = found.next_among(|_| true).expect("a place");
        done = go(&mut trials, next, world);
    }
}

/// Bisection with so many runs of each commit that it looks at: good if more than half of the way from the lower to the higher rate passes.
fn bisect(places: usize, rates: (f64, f64), repeats: u64, world: &mut World) -> (bool, u64) {
    let fall = 1 + world.below(places - 1);
    let (mut good, mut bad, mut runs) = (0, places - 1, 0);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        let rate = if middle < fall { rates.0 } else { rates.1 };
        let passed = world.passed(repeats, rate) as f64;
        runs += repeats;
        if passed > repeats as f64 * rates.0.midpoint(rates.1) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    (bad == fall, runs)
}

fn share_and_mean(found: &[(bool, u64)]) -> (f64, f64) {
    let n = found.len() as f64;
    (
        100.0 * found.iter().filter(|(right, _)| *right).count() as f64 / n,
        found.iter().map(|(_, runs)| *runs as f64).sum::<f64>() / n,
    )
}

/// One row a history. The repeats of bisection are the fewest odd number with which it is right in 95% at all rates of the table.
pub fn commits_found() -> Table {
    let mut table = Table::new(
        "The first bad commit, 400 histories a row: right in percent, and mean number of runs",
        &[
            "commits, pass rate before and since",
            "right",
            "runs",
            "runs of bisection with fixed repeats",
            "ratio",
        ],
    );
    for commits in [50_usize, 200, 1_000] {
        let all = |of: &(dyn Fn(&mut World) -> (bool, u64) + Sync)| {
            (FIRST..FIRST + WORLDS)
                .into_par_iter()
                .map(|number| of(&mut world::nth(number)))
                .collect::<Vec<_>>()
        };
        let fixed = |rates: (f64, f64), repeats: u64| {
            share_and_mean(&all(&move |world| {
                bisect(commits + 1, rates, repeats, world)
            }))
        };
        let repeats = (1..60)
            .step_by(2)
            .find(|repeats| RATES.iter().all(|rates| fixed(*rates, *repeats).0 >= 95.0))
            .unwrap_or(59);
        for rates in RATES {
            let (right, runs) =
                share_and_mean(&all(&move |world| search(commits + 1, rates, world)));
            let plain = fixed(rates, repeats).1;
            table.rows.push(vec![
                format!(
                    "{commits}, {:.0}% and {:.0}%",
                    100.0 * rates.0,
                    100.0 * rates.1
                ),
                format!("{right:.1}"),
                format!("{runs:.0}"),
                format!("{plain:.0} ({repeats} each)"),
                format!("{:.2}", runs / plain),
            ]);
        }
    }
    table
}
