//! The rows of the table `runs`, as they are written.

use std::sync::Arc;

use polars::prelude::*;

use crate::results::to_json;
use crate::warehouse::export::{plain_numbers, plain_times};
use crate::warehouse::run_row::RunRow;
use crate::warehouse::sql_error::SqlError;
use crate::warehouse::tables;

use super::standing::{OWN, RunFact, month};

/// Returns the rows as a frame. `sequence` is the version of the commit that adds them.
pub(super) fn frame(facts: &[RunFact], sequence: u64) -> PolarsResult<DataFrame> {
    let rows: Vec<RunRow> = facts.iter().map(|fact| RunRow { run: Arc::clone(&fact.run), items: fact.totals }).collect();
    let failed = |error: SqlError| PolarsError::ComputeError(error.to_string().into());
    let (runs, usage) = (tables::runs(&rows).map_err(failed)?, tables::usage(&rows).map_err(failed)?);
    let own = |name: &'static str| -> Column {
        let texts = |text: &dyn Fn(&RunFact) -> Option<String>| Column::new(name.into(), facts.iter().map(text).collect::<Vec<_>>());
        let numbers = |number: &dyn Fn(&RunFact) -> i64| Column::new(name.into(), facts.iter().map(number).collect::<Vec<_>>());
        match name {
            "publish_id" => texts(&|fact| Some(fact.publish.clone())),
            "sequence" => numbers(&|_| i64::try_from(sequence).unwrap_or(i64::MAX)),
            "deleted" => Column::new(name.into(), facts.iter().map(|fact| fact.hidden.is_some()).collect::<Vec<_>>()),
            "deleted_by" => texts(&|fact| fact.hidden.as_ref().map(|(by, _)| by.name().to_owned())),
            "deleted_reason" => texts(&|fact| fact.hidden.as_ref().map(|(_, reason)| reason.clone())),
            "month" => texts(&|fact| Some(month(&fact.run))),
            "outcomes" => numbers(&|fact| i64::try_from(fact.seal.outcomes).unwrap_or(i64::MAX)),
            "outcomes_check" => numbers(&|fact| fact.seal.check.cast_signed()),
            "content" => texts(&|fact| Some(fact.content.clone())),
            "totals" => {
                texts(&|fact| fact.totals.map(|totals| serde_json::to_string(&totals).expect("totals are JSON: all fields are numbers")))
            }
            "score_lines" => texts(&|fact| {
                let lines = &fact.score_lines;
                (!lines.is_empty()).then(|| serde_json::to_string(lines).expect("scores are JSON: their keys are text"))
            }),
            _ => texts(&|fact| Some(to_json(&fact.run))),
        }
    };
    let mut columns: Vec<Column> = runs.into_columns();
    columns.extend(usage.into_columns().into_iter().filter(|column| column.name() != "run_id"));
    columns.extend(OWN.map(own));
    DataFrame::new(facts.len(), columns)?.lazy().with_columns([plain_numbers(), plain_times()]).collect()
}
