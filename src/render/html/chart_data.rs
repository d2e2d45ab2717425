//! The values of a suite's charts in full precision, a file for each chart.

use crate::render::{csv, words};
use crate::views::{Arm, Disagreements, Distribution, Front, OverviewSuite, Pareto};

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

/// Makes the files of the charts that a suite has.
pub(super) fn files(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let charts = &suite.charts;
    let known = [
        (ChartOf::Pareto, charts.pareto.as_ref().map(pareto)),
        (ChartOf::Cost, charts.cost.as_ref().map(steps)),
        (ChartOf::Duration, charts.duration.as_ref().map(steps)),
        (ChartOf::Pairs, charts.disagreements.as_ref().map(pairs)),
    ];
    let file = |(chart, records): (ChartOf, Option<Vec<Vec<String>>>)| {
        Some(SiteFile { path: chart.path(place), bytes: csv::records(records?).into_bytes() })
    };
    known.into_iter().filter_map(file).collect()
}

fn header<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn name(arm: &Arm) -> [String; 2] {
    [csv::text(&arm.approach), csv::text(&arm.model)]
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn pareto(of: &Pareto) -> Vec<Vec<String>> {
    let names = ["approach", "model", "pass_rate", "ci95_low", "ci95_high", "usd_per_run", "usd_ci95_low", "usd_ci95_high"];
    let names = header(names).into_iter().chain(header(["is_lower_bound", "runs_with_cost", "runs", "front"])).collect();
    let records = of.points.iter().map(|point| {
        let (rate, money) = (point.pass_rate.interval, point.interval);
        let front = |front: &Front| csv::text(&words::front(front, words::arm_name));
        let figures = [
            Some(point.pass_rate.value),
            rate.map(|ends| ends.low),
            rate.map(|ends| ends.high),
            Some(point.usd_per_run),
            money.map(|ends| ends.low),
            money.map(|ends| ends.high),
        ];
        let rest = [
            point.is_lower_bound.to_string(),
            point.coverage.known.to_string(),
            point.coverage.runs.to_string(),
            point.front.as_ref().map(front).unwrap_or_default(),
        ];
        name(&point.arm).into_iter().chain(figures.map(number)).chain(rest).collect()
    });
    std::iter::once(names).chain(records).collect()
}

/// The share of an arm's runs that took no more than a value.
fn steps(of: &Distribution) -> Vec<Vec<String>> {
    let records = of.arms.iter().flat_map(|arm| {
        arm.steps.iter().map(|step| name(&arm.arm).into_iter().chain([step.value.to_string(), step.share.to_string()]).collect())
    });
    std::iter::once(header(["approach", "model", "value", "share"])).chain(records).collect()
}

fn pairs(of: &Disagreements) -> Vec<Vec<String>> {
    let names = ["approach", "model", "other_approach", "other_model", "shared", "only_first", "only_second", "p", "p_adjusted", "verdict"];
    let records = of.pairs.iter().map(|pair| {
        let verdict = serde_json::to_value(pair.verdict).ok();
        let rest = [
            pair.shared.to_string(),
            pair.only_first.to_string(),
            pair.only_second.to_string(),
            pair.p.to_string(),
            number(pair.p_adjusted),
            verdict.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
        ];
        name(&of.arms[pair.first]).into_iter().chain(name(&of.arms[pair.second])).chain(rest).collect()
    });
    std::iter::once(header(names)).chain(records).collect()
}
