//! The values of a suite's charts in full precision, one file per chart.

use crate::render::cell::{Cell, Datum};
use crate::render::table::{Column, Table};
use crate::render::{csv, words};
use crate::views::{Arm, Disagreements, Distribution, OverviewSuite, Pareto};

use super::SiteFile;
use super::plan::SuitePlace;

/// A chart of a suite.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChartOf {
    Pareto,
    Cost,
    Duration,
    Pairs,
}

impl ChartOf {
    /// Returns the path of the chart's values.
    pub fn path(self, place: &SuitePlace) -> String {
        let name = match self {
            Self::Pareto => "pareto",
            Self::Cost => "cost",
            Self::Duration => "duration",
            Self::Pairs => "pairs",
        };
        format!("data/charts/{}/{name}.csv", place.segment)
    }
}

/// Makes a file for each chart that the suite has.
pub(super) fn files(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let charts = &suite.charts;
    let known = [
        (
            ChartOf::Pareto,
            charts
                .pareto
                .as_ref()
                .map(|of| pareto(&suite.board.suite, of)),
        ),
        (ChartOf::Cost, charts.cost.as_ref().map(steps)),
        (ChartOf::Duration, charts.duration.as_ref().map(steps)),
        (ChartOf::Pairs, charts.disagreements.as_ref().map(pairs)),
    ];
    let file = |(chart, values): (ChartOf, Option<Table>)| {
        Some(SiteFile {
            path: chart.path(place),
            bytes: csv::table(&values?).into_bytes(),
        })
    };
    known.into_iter().filter_map(file).collect()
}

/// Adds figures under their keys, one row for each of `rows`.
fn add<R, const N: usize>(
    table: &mut Table,
    keys: [&'static str; N],
    rows: &[R],
    figures: impl Fn(&R) -> [Datum; N],
) {
    table.column(
        Column::data(keys),
        rows.iter()
            .map(|row| Cell::figures(figures(row)))
            .collect::<Vec<Cell>>(),
    );
}

fn named(arm: &Arm) -> [Datum; 2] {
    [arm.approach.as_str().into(), arm.model.as_str().into()]
}

fn pareto(suite: &str, of: &Pareto) -> Table {
    let (mut table, points) = (Table::of("points"), &of.points);
    add(&mut table, ["approach", "model"], points, |point| {
        named(&point.arm)
    });
    add(&mut table, ["pass_rate"], points, |point| {
        [point.pass_rate.value.into()]
    });
    add(&mut table, ["ci95_low", "ci95_high"], points, |point| {
        Datum::ends(point.pass_rate.interval)
    });
    add(&mut table, ["usd_per_run"], points, |point| {
        [point.usd_per_run.into()]
    });
    add(
        &mut table,
        ["usd_ci95_low", "usd_ci95_high"],
        points,
        |point| Datum::ends(point.interval),
    );
    add(&mut table, ["is_lower_bound"], points, |point| {
        [point.is_lower_bound.into()]
    });
    add(&mut table, ["runs_with_cost", "runs"], points, |point| {
        [point.coverage.known.into(), point.coverage.runs.into()]
    });
    add(&mut table, ["front"], points, |point| {
        [point
            .front
            .as_ref()
            .map(|front| words::front(front, |arm| words::arm_name(suite, arm)))
            .into()]
    });
    table
}

/// Returns the share of each arm's runs at or below each value.
fn steps(of: &Distribution) -> Table {
    let steps: Vec<_> = of
        .arms
        .iter()
        .flat_map(|arm| arm.steps.iter().map(move |step| (&arm.arm, step)))
        .collect();
    let mut table = Table::of("steps");
    add(&mut table, ["approach", "model"], &steps, |(arm, _)| {
        named(arm)
    });
    add(&mut table, ["value", "share"], &steps, |(_, step)| {
        [step.value.into(), step.share.into()]
    });
    table
}

fn pairs(of: &Disagreements) -> Table {
    let (mut table, pairs) = (Table::of("pairs"), &of.pairs);
    add(&mut table, ["approach", "model"], pairs, |pair| {
        named(&of.arms[pair.first])
    });
    add(
        &mut table,
        ["other_approach", "other_model"],
        pairs,
        |pair| named(&of.arms[pair.second]),
    );
    add(
        &mut table,
        ["shared", "only_first", "only_second"],
        pairs,
        |pair| {
            [
                pair.shared.into(),
                pair.only_first.into(),
                pair.only_second.into(),
            ]
        },
    );
    add(&mut table, ["p", "p_adjusted", "verdict"], pairs, |pair| {
        [
            pair.p.into(),
            pair.p_adjusted.into(),
            Datum::name(pair.verdict),
        ]
    });
    table
}
