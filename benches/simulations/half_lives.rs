//! Whether the half-life of items over nights is the one that was planted.

use evalreport::stats::{HalfLife, half_life};
use rayon::prelude::*;

use super::Table;
use super::world::{World, nth};

const WORLDS: u32 = 1_000;
/// Change of an item's chance for one deviation of its latent value. Ends of the chance are met beyond 2.5 deviations.
const LIFT: f64 = 0.2;

/// A made-up arm whose items drift.
#[derive(Clone, Copy)]
struct Planted {
    items: usize,
    nights: usize,
    /// In nights. `None` for items that never change.
    half: Option<f64>,
    /// Outcomes of each item in a night.
    attempts: u32,
    /// Items in a cluster that drifts as one; 1 for none.
    cluster: usize,
}

impl Planted {
    /// Draws shares of passed attempts by night and item. An item's chance is linear in a latent normal value, whose covariance between two
    /// nights halves in each half-life.
    fn nights(&self, world: &mut World) -> Vec<Vec<Option<f64>>> {
        let keep = self.half.map_or(1.0, |half| 0.5_f64.powf(1.0 / half));
        let fresh = (1.0 - keep * keep).sqrt();
        let clusters = self.items.div_ceil(self.cluster);
        let mut latent: Vec<f64> = (0..clusters).map(|_| world.normal()).collect();
        (0..self.nights)
            .map(|_| {
                let night = (0..self.items)
                    .map(|item| {
                        let chance = (0.5 + LIFT * latent[item / self.cluster]).clamp(0.0, 1.0);
                        let passed = (0..self.attempts).filter(|_| world.happens(chance)).count();
                        Some(passed as f64 / f64::from(self.attempts))
                    })
                    .collect();
                for value in &mut latent {
                    *value = keep * *value + fresh * world.normal();
                }
                night
            })
            .collect()
    }
}

/// What is found of planted half-lives, and how often.
pub fn recovered() -> Table {
    let mut table = Table::new(
        "Half-lives over nights: what is found of the planted one, and how often",
        &[
            "items",
            "nights",
            "attempts",
            "items in a cluster",
            "planted, nights",
            "mean rate of decline, % of planted",
            "median half-life, % of planted",
            "a decline is found",
            "interval or bound holds the planted one",
        ],
    );
    let base = Planted {
        items: 500,
        nights: 20,
        half: Some(10.0),
        attempts: 1,
        cluster: 1,
    };
    let cases = [
        base,
        Planted {
            attempts: 3,
            ..base
        },
        Planted {
            half: Some(5.0),
            ..base
        },
        Planted { nights: 40, ..base },
        Planted {
            nights: 60,
            half: Some(30.0),
            ..base
        },
        Planted {
            items: 200,
            nights: 40,
            ..base
        },
        Planted {
            items: 100,
            nights: 60,
            ..base
        },
        Planted {
            items: 1_000,
            nights: 10,
            half: Some(5.0),
            ..base
        },
        Planted {
            items: 2_000,
            nights: 40,
            cluster: 5,
            ..base
        },
        Planted { half: None, ..base },
        Planted {
            items: 100,
            nights: 30,
            half: None,
            ..base
        },
    ];
    for planted in cases {
        table.rows.push(row(planted));
    }
    table
}

fn row(planted: Planted) -> Vec<String> {
    let days: Vec<f64> = (0..planted.nights).map(|night| night as f64).collect();
    let clusters: Vec<u32> = (0..planted.items)
        .map(|item| u32::try_from(item / planted.cluster).expect("few clusters"))
        .collect();
    let clusters = (planted.cluster > 1).then_some(clusters.as_slice());
    let of_world = |number: u64| {
        let nights = planted.nights(&mut nth(number));
        let told = half_life(&nights, &days, clusters, 0.95).ok()?;
        // With no confidence at all each fall is told, so that the estimates are not only those of the steepest falls.
        let fall = half_life(&nights, &days, clusters, 1e-9).ok()?.days;
        Some((told, fall))
    };
    let found: Vec<(HalfLife, Option<f64>)> = (0..u64::from(WORLDS))
        .into_par_iter()
        .filter_map(of_world)
        .collect();
    let n = found.len() as f64;
    let share = |count: usize| {
        let share = count as f64 / n;
        format!(
            "{:.1} ± {:.1}",
            100.0 * share,
            100.0 * (share * (1.0 - share) / n).sqrt()
        )
    };
    let declines = found.iter().filter(|(told, _)| told.days.is_some()).count();
    let [rate, middle, held] = match planted.half {
        Some(half) => {
            let mut falls: Vec<f64> = found.iter().filter_map(|(_, fall)| *fall).collect();
            falls.sort_by(f64::total_cmp);
            // Rates add up over worlds, half-lives do not: that of a flat world is without end. A rise counts as no fall.
            let mean = falls.iter().map(|fall| 1.0 / fall).sum::<f64>() / n;
            let spread = falls
                .iter()
                .map(|fall| (1.0 / fall - mean).powi(2))
                .sum::<f64>()
                / (n - 1.0);
            let error = (spread / n).sqrt();
            let is_held = |told: &HalfLife| match told.interval {
                Some(ends) => ends.low <= half && half <= ends.high,
                None => told.at_least.is_none_or(|least| least <= half),
            };
            [
                format!("{:.1} ± {:.1}", 100.0 * mean * half, 100.0 * error * half),
                format!("{:.1}", 100.0 * falls[falls.len() / 2] / half),
                share(found.iter().filter(|(told, _)| is_held(told)).count()),
            ]
        }
        None => Default::default(),
    };
    vec![
        planted.items.to_string(),
        planted.nights.to_string(),
        planted.attempts.to_string(),
        planted.cluster.to_string(),
        planted
            .half
            .map_or_else(|| "none".to_owned(), |half| format!("{half:.0}")),
        rate,
        middle,
        share(declines),
        held,
    ]
}
