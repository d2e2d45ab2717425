//! Do winners stay winners? Real outcomes of many arms on the same questions: the rule sees a random part, the rest is the judge.
//!
//! `cargo bench --bench simulations -- --store DIR --suite NAME` reads a store, such as one that MMLU-Pro was imported into.

use std::path::Path;

use evalreport::domain::ItemStatus;
use evalreport::stats::RuleVerdict;
use evalreport::warehouse::{Progress, Warehouse, WarehouseOptions};
use rayon::prelude::*;

use super::Table;
use super::rule;
use super::world::{self, Share, World};

const SIZES: [usize; 3] = [100, 200, 500];
const PARTS: u64 = 400;

/// Outcomes of every arm on the items that all of them have, and each item's cluster.
struct Outcomes {
    arms: Vec<Vec<bool>>,
    clusters: Option<Vec<u32>>,
}

/// Declared pairs, and those whose sign was the same on the rest.
#[derive(Clone, Copy, Default)]
struct Kept {
    declared: u64,
    kept: u64,
}

pub fn table(store: &Path, suite: &str) -> Table {
    let outcomes = load(store, suite);
    let mut table = Table::new(
        "Winners of a random part of the items that keep their sign on the rest",
        &[
            "items in the part",
            "way",
            "pairs called, of all",
            "kept their sign",
        ],
    );
    let pairs = (outcomes.arms.len() * (outcomes.arms.len() - 1) / 2) as u64;
    for size in SIZES {
        let parts: Vec<[Kept; WAYS.len()]> = (0..PARTS)
            .into_par_iter()
            .map(|part| one_part(&outcomes, size, &mut world::nth(part)))
            .collect();
        for (way, name) in WAYS.iter().enumerate() {
            let sum = parts.iter().fold(Kept::default(), |sum, part| Kept {
                declared: sum.declared + part[way].declared,
                kept: sum.kept + part[way].kept,
            });
            let shares = [
                Share::of(sum.declared, pairs * PARTS),
                Share::of(sum.kept, sum.declared),
            ];
            table.row(&[size.to_string(), (*name).to_owned()], &shares);
        }
    }
    table
}

const WAYS: [&str; 4] = [
    "the rule over items",
    "the rule over clusters",
    "z test of two shares, unadjusted",
    "whoever is ahead (a ranking)",
];

fn one_part(outcomes: &Outcomes, size: usize, world: &mut World) -> [Kept; WAYS.len()] {
    let items = outcomes.arms[0].len();
    // The first `size` places of a shuffle.
    let mut order: Vec<usize> = (0..items).collect();
    for place in 0..size {
        let other = place + world.below(items - place);
        order.swap(place, other);
    }
    let part = &order[..size];
    let arms: Vec<Vec<bool>> = outcomes
        .arms
        .iter()
        .map(|arm| part.iter().map(|item| arm[*item]).collect())
        .collect();
    let codes: Option<Vec<u32>> = outcomes
        .clusters
        .as_ref()
        .map(|codes| part.iter().map(|item| codes[*item]).collect());
    let by_items = rule::verdicts(&rule::all_pairs(&arms, |one, other| {
        rule::paired_items(one, other)
    }));
    let by_clusters = codes.map(|codes| {
        let pair = |one: &Vec<bool>, other: &Vec<bool>| {
            let differences: Vec<f64> = one
                .iter()
                .zip(other)
                .map(|(one, other)| f64::from(*one) - f64::from(*other))
                .collect();
            rule::clusters(&differences, &codes)
        };
        rule::verdicts(&rule::all_pairs(&arms, pair))
    });
    let mut kept = [Kept::default(); WAYS.len()];
    let mut pair = 0;
    for first in 0..arms.len() {
        for second in first + 1..arms.len() {
            let passed = |arm: &[bool]| {
                i64::try_from(arm.iter().filter(|passed| **passed).count()).unwrap_or(i64::MAX)
            };
            let seen = passed(&arms[first]) - passed(&arms[second]);
            let rest = passed(&outcomes.arms[first]) - passed(&outcomes.arms[second]) - seen;
            let won = |verdict: &RuleVerdict| match verdict {
                RuleVerdict::AWins => Some(1),
                RuleVerdict::BWins => Some(-1),
                _ => None,
            };
            let total = (size as u64, size as u64);
            let z = rule::z_test(
                (passed(&arms[first]).unsigned_abs(), total.0),
                (passed(&arms[second]).unsigned_abs(), total.1),
            );
            let called = [
                won(&by_items[pair]),
                by_clusters
                    .as_ref()
                    .and_then(|verdicts| won(&verdicts[pair])),
                z.then_some(seen.signum()),
                (seen != 0).then_some(seen.signum()),
            ];
            for (kept, sign) in kept.iter_mut().zip(called) {
                if let Some(sign) = sign {
                    kept.declared += 1;
                    kept.kept += u64::from(rest.signum() == sign);
                }
            }
            pair += 1;
        }
    }
    kept
}

fn load(store: &Path, suite: &str) -> Outcomes {
    let options = WarehouseOptions {
        stores: vec![store.to_owned()],
        ..WarehouseOptions::default()
    };
    let warehouse =
        Warehouse::open(&options, &Progress::SILENT).expect("the tombstones can be read");
    let runs: Vec<_> = warehouse
        .runs()
        .iter()
        .filter(|row| row.run.suite == suite)
        .map(|row| &row.run.id)
        .collect();
    assert!(
        runs.len() > 1,
        "{} has no two runs of `{suite}`",
        store.display()
    );
    let matrix = warehouse.outcome_matrix(runs.iter().copied());
    let status = |run, item| {
        matrix
            .rows_of_run(run)
            .first()
            .and_then(|row| row.status_of(item))
            .filter(|status| status.is_counted())
    };
    let items = u32::try_from(matrix.items.len()).expect("fewer items than numbers");
    let shared: Vec<u32> = (0..items)
        .filter(|item| runs.iter().all(|run| status(run, *item).is_some()))
        .collect();
    let arms = runs
        .iter()
        .map(|run| {
            shared
                .iter()
                .map(|item| status(run, *item) == Some(ItemStatus::Pass))
                .collect()
        })
        .collect();
    let mut names: Vec<&str> = Vec::new();
    let clusters = shared.iter().map(|item| {
        let name = matrix.items[*item as usize].cluster.as_deref()?;
        let place = names
            .iter()
            .position(|known| *known == name)
            .unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
        u32::try_from(place).ok()
    });
    Outcomes {
        clusters: clusters.collect(),
        arms,
    }
}
