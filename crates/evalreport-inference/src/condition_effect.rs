//! Conditions that move an arm's rate: runs of one arm that differ in resources or limits, compared with each other.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::{AttemptCounts, Interval, ItemsByRuns, holm_adjustment, two_way, welch_test};
use crate::warehouse::Warehouse;

use super::arm::{Arm, ArmRuns, SinceBecause, SuiteGroup};
use super::cached_runs::set_cached_runs_aside;
use super::comparability::{Comparability, sort_mismatches};
use super::estimate::values_by_item_and_run;
use super::exclusions::exclude_items;
use super::mismatch::{MismatchKind, worst_grade};
use super::policy::{CONFIDENCE, Design, MIN_RUNS, Policy};
use super::run_conditions::run_conditions;
use super::sample::{ArmRates, RunValueMatrix, SuiteItems};

/// Level of the tests of a suite's conditions. The test over items and runs flags up to 6.2% at 5% if runs vary by 2 pp; at this level it
/// flags up to 5.1 ± 0.3% (`benches/simulations/noise.rs`).
const CONDITION_TEST_LEVEL: f64 = 0.03;

/// One arm's runs under two conditions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConditionEffect {
    #[serde(flatten)]
    pub arm: Arm,
    /// The settings that differ. Several if the same runs differ in all of them: their effects cannot be told apart.
    pub settings: Vec<ConditionSetting>,
    /// Runs under the first and the second condition.
    pub runs: [u64; 2],
    /// Items with a result under both.
    pub items: u64,
    /// Pass rate under the second condition minus that under the first.
    pub difference: f64,
    pub interval: Interval,
    /// Two-sided, over items and runs, or over runs if tests share one artefact; then adjusted over the conditions of the suite (Holm).
    pub p: f64,
    pub p_adjusted: f64,
    /// Whether the condition changes the pass rate beyond chance: `p_adjusted` is below 3%.
    pub changes_rate: bool,
}

/// A setting with its value under two conditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConditionSetting {
    pub what: String,
    pub first: String,
    pub second: String,
}

/// Compares the runs of each arm under the two most frequent values of each recorded setting, from three runs under each. Runs differ in
/// time as well, so a difference may have another cause.
pub fn condition_effects(
    arms: &[ArmRuns<'_>],
    rates: &[ArmRates],
    items: &SuiteItems,
    unit: Design,
) -> Vec<ConditionEffect> {
    let mut found: Vec<ConditionEffect> = arms
        .iter()
        .zip(rates)
        .flat_map(|(arm, rates)| effects_of_arm(arm, rates, items, unit))
        .collect();
    let adjusted = holm_adjustment(&found.iter().map(|effect| effect.p).collect::<Vec<f64>>())
        .unwrap_or_default();
    for (effect, p) in found.iter_mut().zip(adjusted) {
        effect.p_adjusted = p;
        effect.changes_rate = p < CONDITION_TEST_LEVEL;
    }
    found
}

/// Compares the conditions of all nights, if a board begins at a change point and its arms ran under other conditions before: a condition
/// that changes a rate is a change point itself, so that the board alone has runs under one condition only. Returns `None` if the board's
/// own runs tell as much.
pub fn effects_over_all_nights(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
    unit: Design,
    policy: &Policy,
) -> Option<Vec<ConditionEffect>> {
    if group.since.as_ref()?.because != SinceBecause::ChangePoint {
        return None;
    }
    let mut conditions = BTreeMap::<Arm, BTreeSet<Vec<(&str, String)>>>::new();
    for row in group
        .counted_runs()
        .into_iter()
        .chain(group.earlier.iter().copied())
    {
        let of_arm = conditions.entry(Arm::from_run(&row.run)).or_default();
        of_arm.insert(run_conditions(&row.run));
    }
    if conditions.values().all(|of| of.len() < 2) {
        return None;
    }
    let whole = group.with_earlier_runs();
    let matrix = whole.outcome_matrix(warehouse);
    let whole = set_cached_runs_aside(&whole, &matrix);
    let (matrix, _) = exclude_items(matrix, &whole, &policy.exclusions);
    let items = SuiteItems::from_group(&whole, &matrix);
    let rates: Vec<ArmRates> = whole
        .arms
        .iter()
        .map(|arm| ArmRates::from_runs(&arm.counted, &matrix, &items))
        .collect();
    Some(condition_effects(&whole.arms, &rates, &items, unit))
}

fn effects_of_arm(
    arm: &ArmRuns<'_>,
    rates: &ArmRates,
    items: &SuiteItems,
    unit: Design,
) -> Vec<ConditionEffect> {
    let ArmRates::Outcomes(outcomes) = rates else {
        return Vec::new();
    };
    // By setting and value: the places of the runs.
    let mut by_setting = BTreeMap::<&'static str, BTreeMap<String, Vec<usize>>>::new();
    for (place, row) in arm
        .counted
        .iter()
        .enumerate()
        .filter(|(place, _)| outcomes.cells_of_run(*place).is_some())
    {
        for (what, value) in run_conditions(&row.run) {
            by_setting
                .entry(what)
                .or_default()
                .entry(value)
                .or_default()
                .push(place);
        }
    }
    // Settings that split the runs alike are one condition.
    let mut splits = BTreeMap::<[Vec<usize>; 2], Vec<ConditionSetting>>::new();
    for (what, values) in by_setting {
        let mut values: Vec<(String, Vec<usize>)> = values
            .into_iter()
            .filter(|(_, places)| places.len() >= MIN_RUNS)
            .collect();
        values.sort_by(|one, other| {
            other
                .1
                .len()
                .cmp(&one.1.len())
                .then_with(|| one.1.cmp(&other.1))
        });
        values.truncate(2);
        values.sort_by(|one, other| one.1.cmp(&other.1));
        if let [(first, one), (second, other)] = values.as_slice() {
            let setting = ConditionSetting {
                what: what.to_owned(),
                first: first.clone(),
                second: second.clone(),
            };
            splits
                .entry([one.clone(), other.clone()])
                .or_default()
                .push(setting);
        }
    }
    let means = items.item_means(|column| outcomes.item_mean(column));
    let clusters: Option<Vec<u32>> = items
        .clusters
        .as_ref()
        .filter(|_| unit == Design::Clusters)
        .map(|codes| {
            means
                .iter()
                .map(|(item, _)| codes[*item as usize])
                .collect()
        });
    let effect = |(sides, settings): ([Vec<usize>; 2], Vec<ConditionSetting>)| {
        let values = sides.each_ref().map(|places| {
            let runs: Vec<AttemptCounts> = places
                .iter()
                .map(|place| outcomes.repeats[*place].clone())
                .collect();
            values_by_item_and_run(RunValueMatrix::Shares(&runs), &means, items)
        });
        let side = |at: usize| ItemsByRuns {
            runs: sides[at].len(),
            values: &values[at],
        };
        let (items, difference, interval, p) = match unit {
            Design::Items | Design::Clusters => {
                let test = two_way(side(1), side(0), clusters.as_deref(), CONFIDENCE).ok()?;
                (test.n, test.estimate, test.interval, test.p)
            }
            Design::Runs | Design::Counts => {
                let rates = sides
                    .each_ref()
                    .map(|places| run_rates(places, &outcomes.by_run));
                let test = welch_test(&rates[1], &rates[0], CONFIDENCE).ok()?;
                let has = |at: usize| {
                    values[at]
                        .chunks(sides[at].len())
                        .map(|item| item.iter().any(Option::is_some))
                };
                let shared = has(0)
                    .zip(has(1))
                    .filter(|(one, other)| *one && *other)
                    .count();
                (
                    shared as u64,
                    test.difference,
                    test.interval.clipped_to(-1.0, 1.0),
                    test.p,
                )
            }
        };
        Some(ConditionEffect {
            arm: arm.arm.clone(),
            settings,
            runs: sides.each_ref().map(|places| places.len() as u64),
            items,
            difference,
            interval,
            p,
            p_adjusted: p,
            changes_rate: false,
        })
    };
    splits.into_iter().filter_map(effect).collect()
}

/// Returns the pass rates of some runs, from their passed and counted items.
fn run_rates(places: &[usize], by_run: &[(u64, u64)]) -> Vec<f64> {
    let counted = places
        .iter()
        .map(|place| by_run[*place])
        .filter(|(_, total)| *total > 0);
    counted
        .map(|(passed, total)| passed as f64 / total as f64)
        .collect()
}

/// Lowers the grade of pairs whose resources differ as those of one arm's runs, if these have an effect.
pub fn lower_grades(pairs: &mut [Comparability], effects: &[ConditionEffect]) {
    let settings: Vec<&ConditionSetting> = effects
        .iter()
        .filter(|effect| effect.changes_rate)
        .flat_map(|effect| &effect.settings)
        .collect();
    for pair in pairs {
        for found in pair
            .mismatches
            .iter_mut()
            .filter(|found| found.kind == MismatchKind::Resources)
        {
            let values = [found.first.as_deref(), found.second.as_deref()];
            let is_known = settings.iter().any(|setting| {
                let known = [Some(setting.first.as_str()), Some(setting.second.as_str())];
                found.what.as_deref() == Some(setting.what.as_str())
                    && (values == known || values == [known[1], known[0]])
            });
            if is_known {
                found.kind = MismatchKind::EffectOfResources;
                found.grade = found.kind.grade();
            }
        }
        pair.grade = worst_grade(&pair.mismatches);
        sort_mismatches(&mut pair.mismatches);
    }
}
