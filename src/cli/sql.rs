//! `sql`: one SELECT over the stored tables, the boards and the comparisons.

use std::time::Instant;

use clap::Args;
use tracing::info;

use crate::domain::Filter;
use crate::render::cell::{Datum, TableCell};
use crate::render::data_table::FigureSheet;
use crate::render::table::ReportTable;
use crate::render::{board, comparison, format};
use crate::views::{BatchSelection, PairOrder, SortKey, board_groups, build_boards, compare_arms};
use crate::warehouse::{DerivedTable, SqlError, SqlTable, SqlValue};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::options::Format;
use super::settings::Settings;
use super::{exit_code, output, policy, query_limits};

/// Query results, boards and comparisons in SQL
#[derive(Args)]
pub(super) struct SqlArguments {
    /// A SELECT over the tables runs, items, scores, usage, arms and metrics
    #[arg(value_name = "QUERY")]
    pub query: String,
    /// Time limit of the query in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub timeout: u32,
    /// Memory limit of the query, on Linux [default: 4096, or half of the free memory]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
}

impl Command for SqlArguments {
    const NAME: &'static str = "sql";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport sql 'SELECT suite, approach, pass_rate FROM arms'",
            "the board as a table",
        ),
        (
            "evalreport sql 'SELECT item, count(*) FROM items GROUP BY item' --format csv",
            "how many outcomes each item has",
        ),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

fn run_command(settings: &Settings, arguments: &SqlArguments) -> Result<u8, CommandFailure> {
    let mut warehouse = settings.open_warehouse()?;
    let _bounds = query_limits::limit_query(arguments.timeout, arguments.memory)?;
    let start = Instant::now();
    let policy = policy::configured_policy(settings)?;
    let (filter, store) = (Filter::default(), &warehouse);
    let arms = || {
        combine_tables(
            build_boards(
                store,
                &filter,
                BatchSelection::AllBatches,
                SortKey::Primary,
                &policy,
                false,
            )
            .suites
            .iter()
            .map(board::annotated_table),
        )
    };
    let metrics = || {
        let groups = board_groups(store, &filter, BatchSelection::AllBatches, &policy);
        combine_tables(groups.iter().map(|group| {
            comparison::annotated_table(&compare_arms(store, group, &policy, PairOrder::AheadFirst))
        }))
    };
    let derived = [
        DerivedTable {
            name: "arms",
            make: &arms,
        },
        DerivedTable {
            name: "metrics",
            make: &metrics,
        },
    ];
    let answer = warehouse
        .query_sql(&arguments.query, &derived)
        .map_err(|error| {
            let failure = CommandFailure::new(crate::domain::escape_invisible(&error.to_string()));
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
        Format::Json | Format::Full => output::print_text(&crate::render::json::write_document(
            "sql",
            to_answer(&answer),
        ))?,
        Format::Table | Format::Markdown | Format::Csv => {
            output::print_answer(settings, "sql", &[to_table(&answer)], || ())?;
        }
        Format::Junit => return Err(output::no_junit_failure()),
    }
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

#[derive(serde::Serialize)]
struct SqlAnswer<'a> {
    columns: &'a [String],
    rows: &'a [Vec<SqlValue>],
}

fn to_answer(answer: &SqlTable) -> SqlAnswer<'_> {
    SqlAnswer {
        columns: &answer.columns,
        rows: &answer.rows,
    }
}

/// Combines tables with rows of the same kind into one table for queries.
fn combine_tables(tables: impl Iterator<Item = ReportTable>) -> SqlTable {
    let tables: Vec<ReportTable> = tables.collect();
    let FigureSheet { keys, rows } = FigureSheet::from_tables(
        &tables
            .iter()
            .map(ReportTable::for_programs)
            .collect::<Vec<_>>(),
    );
    let value = |datum: Datum| match datum {
        Datum::Absent => SqlValue::Null,
        Datum::Integer(number) => SqlValue::Integer(number),
        Datum::Number(number) => SqlValue::Number(number),
        Datum::Flag(flag) => SqlValue::Boolean(flag),
        Datum::Text(text) => SqlValue::Text(text),
        Datum::Time(time) => SqlValue::Text(format::rfc3339_time(&time)),
    };
    SqlTable {
        columns: keys,
        rows: rows
            .into_iter()
            .map(|row| row.into_iter().map(value).collect())
            .collect(),
    }
}

fn to_table(answer: &SqlTable) -> ReportTable {
    let mut table = ReportTable::default();
    for (index, column) in answer.columns.iter().enumerate() {
        let is_number = |row: &Vec<SqlValue>| {
            matches!(
                row[index],
                SqlValue::Integer(_) | SqlValue::Number(_) | SqlValue::Null
            )
        };
        if !answer.rows.is_empty() && answer.rows.iter().all(is_number) {
            table.add_number_column(column, 0);
        } else {
            table.add_text_column(column, 0);
        }
    }
    table.add_rows(answer.rows.iter().map(|row| row.iter().map(to_cell)));
    table
}

fn to_cell(value: &SqlValue) -> TableCell {
    match value {
        SqlValue::Null => TableCell::default(),
        SqlValue::Boolean(value) => {
            TableCell::for_people(value.to_string()).with_data([(*value).into()])
        }
        SqlValue::Integer(value) => {
            TableCell::for_people(value.to_string()).with_data([Datum::Integer(*value)])
        }
        SqlValue::Number(value) => TableCell::number(format::six_digits(*value), *value),
        SqlValue::Text(value) => TableCell::words(value.as_str()),
    }
}
