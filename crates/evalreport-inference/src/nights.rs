//! Evidence that accumulates over days: whether an arm got worse than a fixed baseline, checked every day.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::{gate_process, least_nights, summarise_sample};
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

use super::arm::{Arm, ArmRuns, SuiteGroup};
use super::baseline::BaselineComparison;
use super::exclusions::exclude_items;
use super::policy::Policy;
use super::sample::{ArmRates, SuiteItems};

/// The evidence of all days since the baseline. A day (UTC) counts if it has runs of the arm on the baseline's items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NightsEvidence {
    /// Evidence after the last day against "it fell by no more than is allowed".
    pub e_value: f64,
    /// Days since the baseline.
    pub nights: u64,
    /// Days of the baseline.
    pub baseline_nights: u64,
    /// Whether the evidence reached `enough` on any day. An alarm stays until the baseline changes.
    pub alarm: bool,
    /// Number of days until the alarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alarm_at: Option<u64>,
    /// 1 / alpha. The chance that the evidence ever reaches it without a true drop is at most alpha, for any number of days. Days that resemble
    /// their neighbours count for fewer.
    pub enough: f64,
    /// The first day on which an alarm is possible with this baseline. Absent if none is possible within 400 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earliest: Option<u64>,
    /// Days with other items, which are not counted.
    pub left_out: u64,
}

/// The result of one day.
struct NightResult {
    /// Which items have an outcome; or else, in `total`, how many were counted.
    items: Vec<bool>,
    total: u64,
    rate: f64,
}

/// Accumulates the days of a new arm since its baseline. `allowed` is the allowed drop of its pass rate, as a share: the evidence is about
/// larger drops. Returns `None` if fewer than two days can be compared with the baseline's.
pub fn sequential_evidence(
    warehouse: &Warehouse,
    gated: &BaselineComparison<'_>,
    head: usize,
    baseline: usize,
    allowed: f64,
    policy: &Policy,
) -> Option<NightsEvidence> {
    let own = &gated.baseline[baseline];
    if own.arm != gated.head[head].arm || gated.since[head].len() < 2 {
        return None;
    }
    let (before, after) = (
        group_by_day(&gated.before[head]),
        group_by_day(&gated.since[head]),
    );
    let group = SuiteGroup {
        arms: before
            .iter()
            .chain(&after)
            .map(|rows| arm_of_night(&own.arm, rows))
            .collect(),
        ..gated.pair_group(head, baseline)
    };
    let (matrix, _) = exclude_items(group.outcome_matrix(warehouse), &group, &policy.exclusions);
    let items = SuiteItems::from_group(&group, &matrix);
    let night = |rows: &Vec<&RunRow>| NightResult::from_runs(rows, &matrix, &items);
    let before: Vec<NightResult> = before.iter().filter_map(night).collect();
    let after: Vec<NightResult> = after.iter().filter_map(night).collect();
    let newest = before.last()?;
    let is_alike =
        |night: &&NightResult| (&night.items, night.total) == (&newest.items, newest.total);
    let rates = |nights: &[NightResult], more: f64| {
        nights
            .iter()
            .filter(is_alike)
            .map(|night| night.rate + more)
            .collect::<Vec<f64>>()
    };
    let (baseline, since) = (rates(&before, 0.0), rates(&after, allowed));
    if since.len() < 2 {
        return None;
    }
    let found = gate_process(&baseline, &since, policy.alpha).ok()?;
    Some(NightsEvidence {
        e_value: found.e_value,
        nights: found.nights,
        baseline_nights: found.baseline,
        alarm: found.alarm_at.is_some(),
        alarm_at: found.alarm_at,
        enough: 1.0 / policy.alpha,
        earliest: least_nights(found.baseline, policy.alpha).ok(),
        left_out: (before.len() + after.len()) as u64 - found.baseline - found.nights,
    })
}

/// Groups runs by day, oldest first. Runs without a time have no day.
fn group_by_day<'a>(rows: &[&'a RunRow]) -> Vec<Vec<&'a RunRow>> {
    let mut days = BTreeMap::<NaiveDate, Vec<&RunRow>>::new();
    for row in rows {
        if let Some(time) = row.run.timestamp {
            days.entry(time.date_naive()).or_default().push(row);
        }
    }
    days.into_values().collect()
}

fn arm_of_night<'a>(arm: &Arm, rows: &[&'a RunRow]) -> ArmRuns<'a> {
    ArmRuns {
        arm: arm.clone(),
        counted: rows.to_vec(),
        excluded: Vec::new(),
        crashed: Vec::new(),
        cached: Vec::new(),
        earlier: 0,
    }
}

impl NightResult {
    fn from_runs(rows: &[&RunRow], matrix: &OutcomeMatrix, items: &SuiteItems) -> Option<Self> {
        match ArmRates::from_runs(rows, matrix, items) {
            ArmRates::Outcomes(outcomes) => {
                let rate = summarise_sample(&outcomes.item_means(items)).ok()?.mean;
                let counted: Vec<bool> = outcomes.cells.iter().map(|cell| cell.1 > 0).collect();
                Some(Self {
                    total: outcomes.counted,
                    items: counted,
                    rate,
                })
            }
            rates @ ArmRates::Counts(_) => {
                let (_, total) = *rates.counts_by_run().first()?;
                let is_same = rates.counts_by_run().iter().all(|run| run.1 == total);
                let rate = summarise_sample(&rates.run_rates()).ok()?.mean;
                // If the day's runs counted different totals, no single total applies.
                Some(Self {
                    items: Vec::new(),
                    total: if is_same { total } else { 0 },
                    rate,
                })
            }
            ArmRates::Unknown => None,
        }
    }
}
