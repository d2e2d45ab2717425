//! How often the arm that is ahead is truly better, beside the probability that is stated of it.

use evalreport::inference::BETTER_PRIOR_DEVIATION;
use evalreport::stats::{mcnemar_test, probability_of_sign};
use rayon::prelude::*;

use super::Table;
use super::world::{self, Share, World};

const WORLDS: u64 = 20_000;
/// The number of the first world.
const FIRST: u64 = 9_000_000;
/// The stated probabilities of a column: from the first up to the second.
const CLASSES: [(f64, f64); 4] = [(0.5, 0.7), (0.7, 0.9), (0.9, 0.975), (0.975, 1.01)];

/// What was stated of the arm ahead, and whether it is truly better. `None` if neither is ahead.
fn stated(deviation: f64, items: u64, world: &mut World) -> Option<(f64, bool)> {
    let difference = (deviation * world.normal()).clamp(-0.9, 0.9);
    let discordant = (0.1 + 0.4 * world.uniform()).max(difference.abs() + 0.02);
    let (mut won, mut lost) = (0, 0);
    for _ in 0..items {
        let draw = world.uniform();
        if draw < discordant.midpoint(difference) {
            won += 1;
        } else if draw < discordant {
            lost += 1;
        }
    }
    if won == lost {
        return None;
    }
    let estimate = (won as f64 - lost as f64) / items as f64;
    let p = mcnemar_test(won, lost).mid;
    let likely = probability_of_sign(estimate, p, BETTER_PRIOR_DEVIATION).expect("a p-value");
    Some((likely, (difference > 0.0) == (won > lost)))
}

/// One row a world: the mean of what was stated, and how often it was right.
pub fn stated_probabilities() -> Table {
    let mut table = Table::new(
        "The probability that the arm ahead is better, 20,000 pairs a row: stated, and right, in percent",
        &[
            "true differences vary by, items",
            "stated 50 to 70",
            "stated 70 to 90",
            "stated 90 to 97.5",
            "stated more",
        ],
    );
    for deviation in [0.05, 0.1, 0.2] {
        for items in [30, 100, 300] {
            let pairs: Vec<(f64, bool)> = (FIRST..FIRST + WORLDS)
                .into_par_iter()
                .filter_map(|number| stated(deviation, items, &mut world::nth(number)))
                .collect();
            let cells = CLASSES.map(|(from, to)| {
                let class: Vec<&(f64, bool)> = pairs
                    .iter()
                    .filter(|(likely, _)| (from..to).contains(likely))
                    .collect();
                if class.is_empty() {
                    return "–".to_owned();
                }
                let all = class.len() as u64;
                let mean = class.iter().map(|(likely, _)| likely).sum::<f64>() / all as f64;
                let right = class.iter().filter(|(_, is_right)| *is_right).count() as u64;
                format!(
                    "{:.1}, {}",
                    100.0 * mean,
                    Share::of(right, all).with_error()
                )
            });
            let case = format!("{:.0} pp, {items}", 100.0 * deviation);
            table
                .rows
                .push(std::iter::once(case).chain(cells).collect());
        }
    }
    table
}
