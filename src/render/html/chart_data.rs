//! The values of a suite's charts in full precision, one file per chart.

use crate::render::cell::{Datum, TableCell};
use crate::render::table::{ReportTable, TableColumn};
use crate::render::{csv, phrases};
use crate::views::{Arm, Disagreements, Distribution, OverviewSuite, Pareto};

use super::SiteFile;
use super::routes::SuiteRoutes;

/// A chart of a suite.
#[derive(Clone, Copy, Debug)]
pub(super) enum SuiteChart {
    Pareto,
    Cost,
    Duration,
    Pairs,
}

impl SuiteChart {
    /// Returns the path of the chart's values.
    pub fn data_path(self, place: &SuiteRoutes) -> String {
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
pub(super) fn csv_files(suite: &OverviewSuite, place: &SuiteRoutes) -> Vec<SiteFile> {
    let charts = &suite.charts;
    let known = [
        (
            SuiteChart::Pareto,
            charts
                .pareto
                .as_ref()
                .map(|of| pareto_table(&suite.board.suite, of)),
        ),
        (
            SuiteChart::Cost,
            charts.cost.as_ref().map(distribution_table),
        ),
        (
            SuiteChart::Duration,
            charts.duration.as_ref().map(distribution_table),
        ),
        (
            SuiteChart::Pairs,
            charts.disagreements.as_ref().map(pair_table),
        ),
    ];
    let file = |(chart, values): (SuiteChart, Option<ReportTable>)| {
        Some(SiteFile {
            path: chart.data_path(place),
            bytes: csv::write_table(&values?).into_bytes(),
        })
    };
    known.into_iter().filter_map(file).collect()
}

/// Adds figures under their keys, one row for each of `rows`.
fn add_column<R, const N: usize>(
    table: &mut ReportTable,
    keys: [&'static str; N],
    rows: &[R],
    figures: impl Fn(&R) -> [Datum; N],
) {
    table.add_filled_column(
        TableColumn::for_programs(keys),
        rows.iter()
            .map(|row| TableCell::for_programs(figures(row)))
            .collect::<Vec<TableCell>>(),
    );
}

fn arm_data(arm: &Arm) -> [Datum; 2] {
    [arm.approach.as_str().into(), arm.model.as_str().into()]
}

fn pareto_table(suite: &str, of: &Pareto) -> ReportTable {
    let (mut table, points) = (ReportTable::for_rows("points"), &of.points);
    add_column(&mut table, ["approach", "model"], points, |point| {
        arm_data(&point.arm)
    });
    add_column(&mut table, ["pass_rate"], points, |point| {
        [point.pass_rate.value.into()]
    });
    add_column(&mut table, ["ci95_low", "ci95_high"], points, |point| {
        Datum::interval_ends(point.pass_rate.interval)
    });
    add_column(&mut table, ["usd_per_run"], points, |point| {
        [point.usd_per_run.into()]
    });
    add_column(
        &mut table,
        ["usd_ci95_low", "usd_ci95_high"],
        points,
        |point| Datum::interval_ends(point.interval),
    );
    add_column(&mut table, ["is_lower_bound"], points, |point| {
        [point.is_lower_bound.into()]
    });
    add_column(&mut table, ["runs_with_cost", "runs"], points, |point| {
        [point.coverage.known.into(), point.coverage.runs.into()]
    });
    add_column(&mut table, ["front"], points, |point| {
        [point
            .front
            .as_ref()
            .map(|front| phrases::front_position(front, |arm| phrases::arm_name(suite, arm)))
            .into()]
    });
    table
}

/// Returns the share of each arm's runs at or below each value.
fn distribution_table(of: &Distribution) -> ReportTable {
    let steps: Vec<_> = of
        .arms
        .iter()
        .flat_map(|arm| arm.steps.iter().map(move |step| (&arm.arm, step)))
        .collect();
    let mut table = ReportTable::for_rows("steps");
    add_column(&mut table, ["approach", "model"], &steps, |(arm, _)| {
        arm_data(arm)
    });
    add_column(&mut table, ["value", "share"], &steps, |(_, step)| {
        [step.value.into(), step.share.into()]
    });
    table
}

fn pair_table(of: &Disagreements) -> ReportTable {
    let (mut table, pairs) = (ReportTable::for_rows("pairs"), &of.pairs);
    add_column(&mut table, ["approach", "model"], pairs, |pair| {
        arm_data(&of.arms[pair.first])
    });
    add_column(
        &mut table,
        ["other_approach", "other_model"],
        pairs,
        |pair| arm_data(&of.arms[pair.second]),
    );
    add_column(
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
    add_column(&mut table, ["p", "p_adjusted", "verdict"], pairs, |pair| {
        [
            pair.p.into(),
            pair.p_adjusted.into(),
            Datum::json_name(pair.verdict),
        ]
    });
    table
}
