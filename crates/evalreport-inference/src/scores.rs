//! Named scores of runs beside their pass rate.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Evaluator, ScoreRecord, Unit, is_person, latest_score};
use crate::warehouse::RunRow;

use super::arm::SuiteGroup;

/// A named score of a suite's runs, beside the pass rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoreColumn {
    pub metric: String,
    pub unit: Unit,
    pub direction: Direction,
    /// Whether runs give it in different units or directions, so that no differences can be computed.
    pub is_mixed: bool,
}

/// Returns the value of a run's current score of this metric.
pub fn newest_score_value(row: &RunRow, metric: &str) -> Option<f64> {
    newest_record(row, metric)?.value
}

/// Returns a run's current score of this metric.
pub fn newest_record<'a>(row: &'a RunRow, metric: &str) -> Option<&'a ScoreRecord> {
    latest_score(&row.run.scores, metric)
}

/// Returns the named evaluators of a score of these runs.
pub fn evaluators_of<'a>(rows: &[&'a RunRow], metric: &str) -> BTreeSet<&'a str> {
    rows.iter()
        .filter_map(|row| newest_record(row, metric)?.evaluator.as_deref())
        .collect()
}

/// Lists the named scores of a group's runs, evaluators' scores first and by weight. If runs disagree on a score's meaning, the first run's
/// is used.
pub fn score_columns(group: &SuiteGroup<'_>) -> Vec<ScoreColumn> {
    let mut columns = BTreeMap::<String, (Unit, Direction, bool)>::new();
    for score in group
        .arms
        .iter()
        .flat_map(|arm| &arm.counted)
        .flat_map(|row| &row.run.scores)
    {
        // The pass rate has its own column, and people's labels correct it.
        if !matches!(score.metric.as_str(), "accuracy" | "pass_rate") && !is_person(&score.metric) {
            let meaning =
                columns
                    .entry(score.metric.clone())
                    .or_insert((score.unit, score.direction, false));
            meaning.2 |= (meaning.0, meaning.1) != (score.unit, score.direction);
        }
    }
    let mut columns: Vec<ScoreColumn> = columns
        .into_iter()
        .map(|(metric, (unit, direction, is_mixed))| ScoreColumn {
            metric,
            unit,
            direction,
            is_mixed,
        })
        .collect();
    // The sort is stable: other scores stay sorted by name, at the end.
    columns.sort_by_key(|column| Evaluator::importance_rank(&column.metric));
    columns
}
