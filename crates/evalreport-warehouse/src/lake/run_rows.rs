//! The rows of the table `runs`, as they are written.

use std::sync::Arc;

use polars::prelude::*;

use crate::export::{signed_integers, utc_times};
use crate::results::to_json;
use crate::row_check::CheckedRunFields;
use crate::run_row::RunRow;
use crate::sql_error::SqlError;
use crate::tables;

use super::standing::{LAKE_RUN_COLUMNS, LakeRunRow, month_of};

/// Returns the rows as a frame. `sequence` is the version of the commit that adds them, and `all_runs` the number of
/// runs that the table has then.
pub(super) fn build_run_frame(
    facts: &[LakeRunRow],
    sequence: u64,
    all_runs: usize,
) -> PolarsResult<DataFrame> {
    let rows: Vec<RunRow> = facts
        .iter()
        .map(|fact| RunRow {
            run: Arc::clone(&fact.run),
            items: fact.totals,
            settings: Vec::new(),
        })
        .collect();
    let failed = |error: SqlError| PolarsError::ComputeError(error.to_string().into());
    let (runs, usage) = (
        tables::runs_table(&rows).map_err(failed)?,
        tables::usage_table(&rows).map_err(failed)?,
    );
    let sequence = i64::try_from(sequence).unwrap_or(i64::MAX);
    let outcomes = |fact: &LakeRunRow| i64::try_from(fact.seal.outcomes).unwrap_or(i64::MAX);
    let totals = |fact: &LakeRunRow| {
        fact.totals.map(|totals| {
            serde_json::to_string(&totals).expect("totals are JSON: all fields are numbers")
        })
    };
    // Whoever cannot see the file that a commit adds knows by it whether all of its rows are there.
    let commit_rows = i64::try_from(facts.len()).unwrap_or(i64::MAX);
    let all_runs = i64::try_from(all_runs).unwrap_or(i64::MAX);
    let row_check = |fact: &LakeRunRow| {
        let (totals, record) = (totals(fact), to_json(&fact.run));
        let fields = CheckedRunFields {
            run_id: fact.run.id.as_str(),
            publish_id: &fact.publish,
            sequence,
            deleted: fact.hidden.is_some(),
            deleted_by: fact.hidden.as_ref().map(|(by, _)| by.name()),
            deleted_reason: fact.hidden.as_ref().map(|(_, reason)| reason.as_str()),
            outcomes: outcomes(fact),
            outcomes_check: fact.seal.check.cast_signed(),
            lines_check: fact.lines.cast_signed(),
            commit_rows,
            all_runs,
            totals: totals.as_deref(),
            record: &record,
        };
        fields.checksum()
    };
    let own = |name: &'static str| -> Column {
        let texts = |text: &dyn Fn(&LakeRunRow) -> Option<String>| {
            Column::new(name.into(), facts.iter().map(text).collect::<Vec<_>>())
        };
        let numbers = |number: &dyn Fn(&LakeRunRow) -> i64| {
            Column::new(name.into(), facts.iter().map(number).collect::<Vec<_>>())
        };
        match name {
            "publish_id" => texts(&|fact| Some(fact.publish.clone())),
            "sequence" => numbers(&|_| sequence),
            "deleted" => Column::new(
                name.into(),
                facts
                    .iter()
                    .map(|fact| fact.hidden.is_some())
                    .collect::<Vec<_>>(),
            ),
            "deleted_by" => texts(&|fact| fact.hidden.as_ref().map(|(by, _)| by.name().to_owned())),
            "deleted_reason" => {
                texts(&|fact| fact.hidden.as_ref().map(|(_, reason)| reason.clone()))
            }
            "month" => texts(&|fact| Some(month_of(&fact.run))),
            "outcomes" => numbers(&outcomes),
            "outcomes_check" => numbers(&|fact| fact.seal.check.cast_signed()),
            "lines_check" => numbers(&|fact| fact.lines.cast_signed()),
            "commit_rows" => numbers(&|_| commit_rows),
            "all_runs" => numbers(&|_| all_runs),
            "row_check" => numbers(&row_check),
            "content" => texts(&|fact| Some(fact.content.clone())),
            "totals" => texts(&totals),
            "score_lines" => texts(&|fact| {
                let lines = &fact.score_lines;
                (!lines.is_empty()).then(|| {
                    serde_json::to_string(lines).expect("scores are JSON: their keys are text")
                })
            }),
            _ => texts(&|fact| Some(to_json(&fact.run))),
        }
    };
    let mut columns: Vec<Column> = runs.into_columns();
    columns.extend(
        usage
            .into_columns()
            .into_iter()
            .filter(|column| column.name() != "run_id"),
    );
    columns.extend(LAKE_RUN_COLUMNS.map(own));
    DataFrame::new(facts.len(), columns)?
        .lazy()
        .with_columns([signed_integers(), utc_times()])
        .collect()
}
