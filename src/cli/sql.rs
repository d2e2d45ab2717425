//! `sql`: one SELECT over the stored tables, the boards and the comparisons.

use std::time::Instant;

use tracing::info;

use crate::domain::Filter;
use crate::render::cell::{Cell, Datum};
use crate::render::sheet::Sheet;
use crate::render::table::Table;
use crate::render::{board, comparison, format};
use crate::views::{Grouping, PairOrder, SortKey, board_groups, compare, leaderboard};
use crate::warehouse::{Derived, SqlError, SqlTable, SqlValue};

use super::arguments::{Format, Sql};
use super::failure::Failure;
use super::settings::Settings;
use super::{bounds, exit_code, output, policy};

pub(super) fn run(settings: &Settings, arguments: &Sql) -> Result<u8, Failure> {
    let mut warehouse = settings.open()?;
    let _bounds = bounds::watch(arguments.timeout, arguments.memory)?;
    let start = Instant::now();
    let policy = policy::configured(settings)?;
    let (filter, store) = (Filter::default(), &warehouse);
    let arms = || {
        sheet(
            leaderboard(
                store,
                &filter,
                Grouping::AllBatches,
                SortKey::Primary,
                &policy,
                false,
            )
            .suites
            .iter()
            .map(board::table),
        )
    };
    let metrics =
        || {
            let groups = board_groups(store, &filter, Grouping::AllBatches, &policy);
            sheet(groups.iter().map(|group| {
                comparison::table(&compare(store, group, &policy, PairOrder::AheadFirst))
            }))
        };
    let derived = [
        Derived {
            name: "arms",
            make: &arms,
        },
        Derived {
            name: "metrics",
            make: &metrics,
        },
    ];
    let answer = warehouse.sql(&arguments.query, &derived).map_err(|error| {
        let failure = Failure::new(crate::domain::visible(&error.to_string()));
        match error {
            SqlError::Failed(_) => {
                failure.with_hint("`evalreport help guide` lists the tables and their columns")
            }
            SqlError::Syntax(_)
            | SqlError::Refused(_)
            | SqlError::Cache { .. }
            | SqlError::Unread { .. } => failure,
        }
    })?;
    info!(
        rows = answer.rows.len(),
        seconds = start.elapsed().as_secs_f64(),
        "query answered"
    );
    match settings.format {
        Format::Json | Format::Full => {
            output::print(&crate::render::json::document("sql", json(&answer)))?
        }
        Format::Table | Format::Markdown | Format::Csv => {
            output::answer(settings, "sql", &[table(&answer)], || ())?
        }
        Format::Junit => return Err(output::no_junit()),
    }
    settings.keep(&mut warehouse)?;
    Ok(exit_code::DONE)
}

#[derive(serde::Serialize)]
struct Answer<'a> {
    columns: &'a [String],
    rows: &'a [Vec<SqlValue>],
}

fn json(answer: &SqlTable) -> Answer<'_> {
    Answer {
        columns: &answer.columns,
        rows: &answer.rows,
    }
}

/// Combines tables with rows of the same kind into one table for queries.
fn sheet(tables: impl Iterator<Item = Table>) -> SqlTable {
    let tables: Vec<Table> = tables.collect();
    let Sheet { keys, rows } =
        Sheet::of(&tables.iter().map(Table::for_programs).collect::<Vec<_>>());
    let value = |datum: Datum| match datum {
        Datum::Absent => SqlValue::Null,
        Datum::Integer(number) => SqlValue::Integer(number),
        Datum::Number(number) => SqlValue::Number(number),
        Datum::Flag(flag) => SqlValue::Boolean(flag),
        Datum::Text(text) => SqlValue::Text(text),
        Datum::Time(time) => SqlValue::Text(format::timestamp(&time)),
    };
    SqlTable {
        columns: keys,
        rows: rows
            .into_iter()
            .map(|row| row.into_iter().map(value).collect())
            .collect(),
    }
}

fn table(answer: &SqlTable) -> Table {
    let mut table = Table::default();
    for (index, column) in answer.columns.iter().enumerate() {
        let is_number = |row: &Vec<SqlValue>| {
            matches!(
                row[index],
                SqlValue::Integer(_) | SqlValue::Number(_) | SqlValue::Null
            )
        };
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
        SqlValue::Number(value) => Cell::number(format::significant(*value), *value),
        SqlValue::Text(value) => Cell::words(value.as_str()),
    }
}
