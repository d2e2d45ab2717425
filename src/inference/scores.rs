//! Named scores that runs carry beside what their items passed.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Evaluator, ScoreRecord, Unit, standing_score};
use crate::warehouse::RunRow;

use super::arm::SuiteGroup;

/// A named figure that the runs of a suite carry beside the pass rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoreColumn {
    pub metric: String,
    pub unit: Unit,
    pub direction: Direction,
    /// Runs give it in different units or directions: nothing can be said about differences.
    pub is_mixed: bool,
}

/// Returns the value of the named score of a run that stands.
pub(crate) fn newest_score(row: &RunRow, metric: &str) -> Option<f64> {
    newest(row, metric)?.value
}

/// Returns the named score of a run that stands.
pub(crate) fn newest<'a>(row: &'a RunRow, metric: &str) -> Option<&'a ScoreRecord> {
    standing_score(&row.run.scores, metric)
}

/// Returns who gave a score of these runs, as far as they say.
pub(crate) fn evaluators_of<'a>(rows: &[&'a RunRow], metric: &str) -> BTreeSet<&'a str> {
    rows.iter().filter_map(|row| newest(row, metric)?.evaluator.as_deref()).collect()
}

/// Lists the named figures of a group's runs, those of evaluators first and by their weight. One that means different things in two runs is listed as the first has it.
pub(crate) fn score_columns(group: &SuiteGroup<'_>) -> Vec<ScoreColumn> {
    let mut columns = BTreeMap::<String, (Unit, Direction, bool)>::new();
    for score in group.arms.iter().flat_map(|arm| &arm.counted).flat_map(|row| &row.run.scores) {
        // The pass rate has its own column.
        if !matches!(score.metric.as_str(), "accuracy" | "pass_rate") {
            let meaning = columns.entry(score.metric.clone()).or_insert((score.unit, score.direction, false));
            meaning.2 |= (meaning.0, meaning.1) != (score.unit, score.direction);
        }
    }
    let mut columns: Vec<ScoreColumn> =
        columns.into_iter().map(|(metric, (unit, direction, is_mixed))| ScoreColumn { metric, unit, direction, is_mixed }).collect();
    // Stable: what is nobody's here stays in the order of names, at the end.
    columns.sort_by_key(|column| Evaluator::place_by_weight(&column.metric));
    columns
}
