//! Differences that plans promise to show with 80 % power, and how often the deciding test finds them.

use evalreport::stats::{
    self, Aim, ArmRunsSummary, ClusterVariance, Detectable, PairedTable, Resampling,
};

use super::Table;
use super::rule::{ALPHA, CONFIDENCE};
use super::world::{World, shares};

const AIM: Aim = Aim {
    alpha: ALPHA,
    power: 0.8,
};
const WORLDS: u32 = 4_000;
const DRAWS: Resampling = Resampling {
    seed: 1,
    draws: 400,
};

pub fn promises() -> Table {
    let mut table = Table::new(
        "Differences that are to be found with 80 % power: found, with the right sign",
        &[
            "test",
            "design",
            "difference",
            "found",
            "by the normal formula's difference",
        ],
    );
    for (items, discordant) in [
        (20, 0.5_f64),
        (50, 0.1),
        (50, 0.3),
        (200, 0.1),
        (200, 0.3),
        (1_000, 0.05),
        (1_000, 0.2),
        (20_000, 0.2),
    ] {
        let find = |world: &mut World, delta: f64| {
            let discordant = discordant.max(delta);
            let differ = world.passed(items, discordant);
            let won = world.passed(differ, 0.5 + 0.5 * delta / discordant);
            let pairs = PairedTable {
                only_a: won,
                only_b: differ - won,
                both: items - differ,
                neither: 0,
            };
            let clear =
                stats::tango_interval(pairs, CONFIDENCE).is_ok_and(|interval| interval.low > 0.0);
            clear && stats::mcnemar_test(pairs.only_a, pairs.only_b).exact < ALPHA
        };
        let planned = stats::detectable_mcnemar(items, discordant, AIM);
        let formula = stats::mde_paired(discordant.sqrt(), items, AIM)
            .unwrap_or(1.0)
            .min(1.0);
        add(
            &mut table,
            "McNemar, exact",
            format!("{items} items, {:.0} % differ", 100.0 * discordant),
            planned,
            formula,
            find,
        );
    }
    for units in [5_u32, 10, 30] {
        let find = |world: &mut World, delta: f64| {
            let values: Vec<f64> = (0..units).map(|_| delta + world.normal()).collect();
            stats::mean_interval(&values, CONFIDENCE).is_ok_and(|interval| interval.low > 0.0)
        };
        let planned =
            stats::detectable_t(1.0 / f64::from(units).sqrt(), f64::from(units) - 1.0, AIM);
        let formula = stats::mde_paired(1.0, u64::from(units), AIM).unwrap_or(f64::NAN);
        add(
            &mut table,
            "paired t",
            format!("{units} items, deviation 1"),
            planned,
            formula,
            find,
        );
    }
    for [one, other] in [[3, 3], [5, 5], [3, 10]] {
        let find = |world: &mut World, delta: f64| {
            let first: Vec<f64> = (0..one).map(|_| delta + world.normal()).collect();
            let second: Vec<f64> = (0..other).map(|_| world.normal()).collect();
            stats::welch_test(&first, &second, CONFIDENCE).is_ok_and(|test| test.interval.low > 0.0)
        };
        let (a, b) = (
            ArmRunsSummary { sd: 1.0, n: one },
            ArmRunsSummary { sd: 1.0, n: other },
        );
        let formula = 2.801_585 * (1.0 / one as f64 + 1.0 / other as f64).sqrt();
        add(
            &mut table,
            "Welch",
            format!("{one} and {other} runs, deviation 1"),
            stats::detectable_welch(a, b, AIM),
            formula,
            find,
        );
    }
    for (rate, tasks) in [(0.5, 20), (0.3, 50), (0.8, 200), (0.5, 1_000), (0.5, 3_000)] {
        let towards = if rate > 0.5 { -1.0 } else { 1.0 };
        let find = |world: &mut World, delta: f64| {
            let (first, second) = (
                world.passed(tasks, rate),
                world.passed(tasks, (rate + towards * delta).clamp(0.0, 1.0)),
            );
            let (low, high) = if towards > 0.0 {
                (first, second)
            } else {
                (second, first)
            };
            let clear = stats::newcombe_interval(high, tasks, low, tasks, CONFIDENCE)
                .is_ok_and(|interval| interval.low > 0.0);
            clear && stats::fisher_exact(high, tasks, low, tasks).is_ok_and(|p| p < ALPHA)
        };
        let planned = stats::detectable_proportions(rate, tasks, tasks, AIM);
        let formula = stats::mde_two_proportions(rate, tasks, tasks, AIM).unwrap_or(f64::NAN);
        add(
            &mut table,
            "Fisher",
            format!("{tasks} tasks a side, {:.0} %", 100.0 * rate),
            planned,
            formula,
            find,
        );
    }
    let spread = ClusterVariance {
        within: 0.2,
        between: 0.01,
    };
    let repositories = super::families::REPOSITORIES.map(|size| size as u64);
    for sizes in [
        vec![20; 5],
        vec![20; 6],
        vec![20; 8],
        vec![20; 12],
        repositories.to_vec(),
        vec![20; 25],
    ] {
        let total: u64 = sizes.iter().sum();
        let spreads: Vec<f64> = sizes
            .iter()
            .map(|size| *size as f64)
            .map(|size| (size * spread.within + size * size * spread.between).sqrt())
            .collect();
        let find = |world: &mut World, delta: f64| {
            let sums: Vec<f64> = sizes
                .iter()
                .zip(&spreads)
                .map(|(size, spread)| *size as f64 * delta + spread * world.normal())
                .collect();
            sums.iter().sum::<f64>() > 0.0
                && stats::sign_flip(&sums, DRAWS).is_ok_and(|test| test.p < ALPHA)
        };
        let error = spreads
            .iter()
            .map(|spread| spread * spread)
            .sum::<f64>()
            .sqrt()
            / total as f64;
        let planned = stats::detectable_flips(&sizes, spread, AIM, DRAWS);
        let largest = sizes.iter().max().copied().unwrap_or_default();
        add(
            &mut table,
            "signs flipped",
            format!("{} clusters, the largest {largest}", sizes.len()),
            planned,
            2.801_585 * error,
            find,
        );
    }
    table
}

/// Largest number of units that a plan may ask for here.
const CAP: u64 = 100_000;

/// Units that "measure N more" asks for, and how often the deciding test then finds a difference as large as the measured one.
pub fn asked_for() -> Table {
    let mut table = Table::new(
        "Units that are asked for to find the measured difference with 80 % power: found, with the right sign",
        &[
            "test",
            "measured",
            "units",
            "found",
            "by the normal formula",
            "found by these",
        ],
    );
    for (items, won, lost) in [
        (4, 3, 0),
        (5, 3, 0),
        (6, 3, 0),
        (8, 3, 0),
        (8, 4, 0),
        (10, 4, 0),
        (10, 5, 0),
        (12, 5, 1),
        (20, 5, 1),
        (20, 6, 2),
        (30, 8, 3),
        (100, 20, 9),
    ] {
        let (share, delta) = (
            f64::from(won + lost) / f64::from(items),
            f64::from(won - lost) / f64::from(items),
        );
        let find = |world: &mut World, n: u64| {
            let differ = world.passed(n, share);
            let only_a = world.passed(differ, 0.5 + 0.5 * delta / share);
            let pairs = PairedTable {
                only_a,
                only_b: differ - only_a,
                both: n - differ,
                neither: 0,
            };
            let clear =
                stats::tango_interval(pairs, CONFIDENCE).is_ok_and(|interval| interval.low > 0.0);
            clear && stats::mcnemar_test(pairs.only_a, pairs.only_b).exact < ALPHA
        };
        let sd = (share - delta * delta).sqrt();
        let formula = stats::n_paired(sd, delta, AIM).unwrap_or(6).max(6);
        let asked = stats::pairs_needed(share, delta, AIM, CAP);
        ask(
            &mut table,
            "McNemar, exact",
            format!("{items} items, {won} won, {lost} lost"),
            asked,
            formula,
            find,
        );
    }
    for (sd, delta) in [(1.0, 1.5), (1.0, 0.8), (1.0, 0.4)] {
        let find = |world: &mut World, n: u64| {
            let values: Vec<f64> = (0..n).map(|_| delta + sd * world.normal()).collect();
            stats::mean_interval(&values, CONFIDENCE).is_ok_and(|interval| interval.low > 0.0)
        };
        let formula = stats::n_paired(sd, delta, AIM).unwrap_or(6).max(2);
        ask(
            &mut table,
            "paired t",
            format!("{delta} of {sd} deviation"),
            stats::units_needed(sd, delta, AIM, CAP),
            formula,
            find,
        );
    }
    for (one, other, delta) in [(1.0, 1.0, 3.0), (1.0, 0.2, 2.0), (1.0, 1.0, 1.0)] {
        let find = |world: &mut World, n: u64| {
            let first: Vec<f64> = (0..n).map(|_| delta + one * world.normal()).collect();
            let second: Vec<f64> = (0..n).map(|_| other * world.normal()).collect();
            stats::welch_test(&first, &second, CONFIDENCE).is_ok_and(|test| test.interval.low > 0.0)
        };
        let formula = stats::n_welch(one, other, delta, AIM).unwrap_or(3).max(2);
        ask(
            &mut table,
            "Welch",
            format!("{delta}, deviations {one} and {other}"),
            stats::runs_needed([one, other], delta, AIM, CAP),
            formula,
            find,
        );
    }
    for (low, high) in [(0.417, 0.75), (0.5, 0.9), (0.8, 0.9)] {
        let find = |world: &mut World, n: u64| {
            let (first, second) = (world.passed(n, low), world.passed(n, high));
            let clear = stats::newcombe_interval(second, n, first, n, CONFIDENCE)
                .is_ok_and(|interval| interval.low > 0.0);
            clear && stats::fisher_exact(second, n, first, n).is_ok_and(|p| p < ALPHA)
        };
        let formula = stats::n_two_proportions(low, high, AIM).unwrap_or(6);
        ask(
            &mut table,
            "Fisher",
            format!("{low} and {high}"),
            stats::items_needed(low, high, AIM, CAP),
            formula,
            find,
        );
    }
    table
}

fn ask(
    table: &mut Table,
    test: &str,
    measured: String,
    asked: Result<Option<u64>, evalreport::stats::Undefined>,
    formula: u64,
    find: impl Fn(&mut World, u64) -> bool + Sync,
) {
    let asked = asked.expect("a plan").expect("within the cap");
    let [found, by_formula] = shares(WORLDS, |world| {
        [Some(find(world, asked)), Some(find(world, formula))]
    });
    table.row(
        &[
            test.to_owned(),
            measured,
            asked.to_string(),
            found.with_error(),
            formula.to_string(),
            by_formula.with_error(),
        ],
        &[],
    );
}

fn add(
    table: &mut Table,
    test: &str,
    design: String,
    planned: Result<Detectable, evalreport::stats::Undefined>,
    formula: f64,
    find: impl Fn(&mut World, f64) -> bool + Sync,
) {
    let planned = match planned.expect("a plan") {
        Detectable::Difference(difference) => Ok(difference),
        Detectable::Unreachable { smallest_p } => Err(format!("never: p ≥ {smallest_p:.3}")),
    };
    let got = shares(WORLDS, |world| {
        let found = planned
            .as_ref()
            .ok()
            .map(|difference| find(world, *difference));
        [found, Some(find(world, formula))]
    });
    let difference = planned
        .as_ref()
        .map_or_else(String::clone, |difference| format!("{difference:.3}"));
    table.row(&[test.to_owned(), design, difference], &got);
}
