//! Evidence that adds up over nights: whether an arm got worse than a fixed baseline, looked at every night.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::{gate_process, least_nights, summary};
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

use super::arm::{Arm, ArmRuns, SuiteGroup};
use super::baseline::Held;
use super::exclusions::without_excluded;
use super::policy::Policy;
use super::sample::{Items, Rates};

/// What all nights since the baseline say together. A night is a day (UTC) with runs of the arm on the items that the baseline has.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NightsEvidence {
    /// Evidence after the last night against "it fell by no more than is allowed".
    pub e_value: f64,
    /// Nights since the baseline.
    pub nights: u64,
    /// Nights of the baseline.
    pub baseline_nights: u64,
    /// The evidence reached `enough` on some night; an alarm, once raised, stands until there is another baseline.
    pub alarm: bool,
    /// How many nights had been seen by then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alarm_at: Option<u64>,
    /// One over alpha: however many nights are looked at, so much comes by chance with a probability of at most alpha.
    pub enough: f64,
    /// With so few nights in the baseline, no alarm can come before this night; absent where none could within 400 nights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earliest: Option<u64>,
    /// Nights with other items, which are left out.
    pub left_out: u64,
}

/// What one night came to.
struct Night {
    /// Which items it has an outcome of, or how many it counted.
    items: Vec<bool>,
    total: u64,
    rate: f64,
}

/// Adds up the nights of an arm of the head since its own baseline. `allowed` is by how much its pass rate may fall, as a share: the evidence
/// is about falling by more. Nothing where fewer than two nights can be laid beside the baseline's.
pub(crate) fn over_nights(
    warehouse: &Warehouse,
    gated: &Held<'_>,
    head: usize,
    baseline: usize,
    allowed: f64,
    policy: &Policy,
) -> Option<NightsEvidence> {
    let own = &gated.baseline[baseline];
    if own.arm != gated.head[head].arm || gated.since[head].len() < 2 {
        return None;
    }
    let (before, after) = (by_day(&gated.before[head]), by_day(&gated.since[head]));
    let group =
        SuiteGroup { arms: before.iter().chain(&after).map(|rows| night_arm(&own.arm, rows)).collect(), ..gated.pair(head, baseline) };
    let (matrix, _) = without_excluded(group.matrix(warehouse), &group, &policy.exclusions);
    let items = Items::of(&group, &matrix);
    let night = |rows: &Vec<&RunRow>| Night::of(rows, &matrix, &items);
    let before: Vec<Night> = before.iter().filter_map(night).collect();
    let after: Vec<Night> = after.iter().filter_map(night).collect();
    let newest = before.last()?;
    let is_alike = |night: &&Night| (&night.items, night.total) == (&newest.items, newest.total);
    let rates = |nights: &[Night], more: f64| nights.iter().filter(is_alike).map(|night| night.rate + more).collect::<Vec<f64>>();
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

/// Runs by the day they began, oldest first; runs without a time are of no night.
fn by_day<'a>(rows: &[&'a RunRow]) -> Vec<Vec<&'a RunRow>> {
    let mut days = BTreeMap::<NaiveDate, Vec<&RunRow>>::new();
    for row in rows {
        if let Some(time) = row.run.timestamp {
            days.entry(time.date_naive()).or_default().push(row);
        }
    }
    days.into_values().collect()
}

fn night_arm<'a>(arm: &Arm, rows: &[&'a RunRow]) -> ArmRuns<'a> {
    ArmRuns { arm: arm.clone(), counted: rows.to_vec(), excluded: Vec::new(), earlier: 0 }
}

impl Night {
    fn of(rows: &[&RunRow], matrix: &OutcomeMatrix, items: &Items) -> Option<Self> {
        match Rates::of(rows, matrix, items) {
            Rates::Outcomes(outcomes) => {
                let rate = summary(&outcomes.item_means(items)).ok()?.mean;
                let counted: Vec<bool> = outcomes.cells.iter().map(|cell| cell.1 > 0).collect();
                Some(Self { total: outcomes.counted, items: counted, rate })
            }
            rates @ Rates::Counts(_) => {
                let (_, total) = *rates.by_run().first()?;
                let is_same = rates.by_run().iter().all(|run| run.1 == total);
                let rate = summary(&rates.run_rates()).ok()?.mean;
                // A total of its own where the night's runs differ in what they counted.
                Some(Self { items: Vec::new(), total: if is_same { total } else { 0 }, rate })
            }
            Rates::Unknown => None,
        }
    }
}
