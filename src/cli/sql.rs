//! `sql`: one SELECT over the four tables.

use std::time::Instant;

use tracing::info;

use crate::render::cell::{Cell, Datum};
use crate::render::table::Table;
use crate::warehouse::{SqlError, SqlTable, SqlValue};

use super::arguments::{Format, Sql};
use super::failure::Failure;
use super::settings::Settings;
use super::{exit_code, output};

pub(super) fn run(settings: &Settings, arguments: &Sql) -> Result<u8, Failure> {
    let mut warehouse = settings.open()?;
    let start = Instant::now();
    let answer = warehouse.sql(&arguments.query).map_err(|error| {
        let failure = Failure::new(crate::domain::visible(&error.to_string()));
        match error {
            SqlError::Failed(_) => failure.with_hint("docs/guide.md lists the columns of runs, items, scores and usage"),
            SqlError::Syntax(_) | SqlError::Refused(_) | SqlError::Cache { .. } => failure,
        }
    })?;
    info!(rows = answer.rows.len(), seconds = start.elapsed().as_secs_f64(), "query answered");
    match settings.format {
        Format::Json => output::print(&crate::render::json::document("sql", json(&answer)))?,
        Format::Table | Format::Markdown | Format::Csv => output::answer(settings, "sql", &[table(&answer)], || ())?,
        Format::Junit => return Err(output::no_junit()),
    }
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}

#[derive(serde::Serialize)]
struct Answer<'a> {
    columns: &'a [String],
    rows: &'a [Vec<SqlValue>],
}

fn json(answer: &SqlTable) -> Answer<'_> {
    Answer { columns: &answer.columns, rows: &answer.rows }
}

fn table(answer: &SqlTable) -> Table {
    let mut table = Table::default();
    for (index, column) in answer.columns.iter().enumerate() {
        let is_number = |row: &Vec<SqlValue>| matches!(row[index], SqlValue::Integer(_) | SqlValue::Number(_) | SqlValue::Null);
        if !answer.rows.is_empty() && answer.rows.iter().all(is_number) {
            table.right(column, 0);
        } else {
            table.left(column, 0);
        }
    }
    table.fill(answer.rows.iter().map(|row| row.iter().map(cell)));
    table
}

fn cell(value: &SqlValue) -> Cell {
    match value {
        SqlValue::Null => Cell::default(),
        SqlValue::Boolean(value) => Cell::shown(value.to_string()).data([(*value).into()]),
        SqlValue::Integer(value) => Cell::shown(value.to_string()).data([Datum::Integer(*value)]),
        SqlValue::Number(value) => Cell::number(value.to_string(), *value),
        SqlValue::Text(value) => Cell::words(value.as_str()),
    }
}
