//! SQL over the four tables, and nothing else: one SELECT, no table functions, no files.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use polars::prelude::*;
use polars::sql::SQLContext;
use sqlparser::ast::{ObjectName, Query, Select, SetExpr, Statement, TableFactor, Visit, Visitor};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use crate::domain::{ItemOutcome, RunId, standing_of_each, visible};

use super::open::Warehouse;
use super::segment;
use super::sql_error::SqlError;
use super::tables::TABLES;

/// One value of an answer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum SqlValue {
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

/// A query's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<SqlValue>>,
}

/// A table that is worked out from the stored ones, where a query names it.
pub struct Derived<'a> {
    pub name: &'static str,
    pub make: &'a dyn Fn() -> SqlTable,
}

impl Warehouse {
    /// Answers one SELECT over `runs`, `items`, `scores`, `usage` and the tables that are derived from them.
    pub fn sql(&self, query: &str, derived: &[Derived<'_>]) -> Result<SqlTable, SqlError> {
        let tables: Vec<&str> = TABLES.into_iter().chain(derived.iter().map(|table| table.name)).collect();
        let named = check(query, &tables)?;
        let mut context = SQLContext::new();
        for table in derived.iter().filter(|table| named.contains(table.name)) {
            context.register(table.name, frame(&(table.make)())?.lazy());
        }
        for table in TABLES {
            if named.contains(table) {
                context.register(table, self.table(table)?);
            }
        }
        let frame = context.execute(query)?.collect()?;
        let columns: Vec<String> = frame.get_column_names().iter().map(ToString::to_string).collect();
        let mut rows = Vec::with_capacity(frame.height());
        for row in 0..frame.height() {
            let values: PolarsResult<Vec<SqlValue>> = frame.columns().iter().map(|column| column.get(row).map(value)).collect();
            rows.push(values?);
        }
        Ok(SqlTable { columns, rows })
    }

    /// Returns the outcomes of some runs with money, time and text, in the order of run, kind, evaluator, item and attempt: those
    /// that stand.
    pub fn outcomes(&self, runs: &[&RunId]) -> Result<Vec<ItemOutcome>, SqlError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let mut outcomes = segment::outcomes(self.items_table()?, runs)?;
        if outcomes.iter().any(|outcome| outcome.revision > 0) {
            outcomes.retain(|outcome| self.stands(outcome));
            let outcome = |outcome: &ItemOutcome| (outcome.run.clone(), outcome.key(), outcome.attempt);
            outcomes = standing_of_each(outcomes, outcome, |outcome| outcome.revision);
        }
        Ok(outcomes)
    }
}

/// A column holds whole numbers, numbers, truths or text, whichever all of its values are.
fn frame(table: &SqlTable) -> Result<DataFrame, SqlError> {
    let of_column = |(place, name): (usize, &String)| {
        let values = || table.rows.iter().map(|row| &row[place]);
        let are = |is: fn(&SqlValue) -> bool| values().any(is) && values().all(|value| matches!(value, SqlValue::Null) || is(value));
        let name = PlSmallStr::from(name.as_str());
        if are(|value| matches!(value, SqlValue::Boolean(_))) {
            Column::new(
                name,
                values().map(|value| if let SqlValue::Boolean(flag) = value { Some(*flag) } else { None }).collect::<Vec<_>>(),
            )
        } else if are(|value| matches!(value, SqlValue::Integer(_))) {
            Column::new(
                name,
                values().map(|value| if let SqlValue::Integer(number) = value { Some(*number) } else { None }).collect::<Vec<_>>(),
            )
        } else if are(|value| matches!(value, SqlValue::Integer(_) | SqlValue::Number(_))) {
            let number = |value: &SqlValue| match value {
                SqlValue::Integer(number) => Some(*number as f64),
                SqlValue::Number(number) => Some(*number),
                SqlValue::Null | SqlValue::Boolean(_) | SqlValue::Text(_) => None,
            };
            Column::new(name, values().map(number).collect::<Vec<_>>())
        } else {
            Column::new(
                name,
                values().map(|value| if let SqlValue::Text(text) = value { Some(text.as_str()) } else { None }).collect::<Vec<_>>(),
            )
        }
    };
    Ok(DataFrame::new(table.rows.len(), table.columns.iter().enumerate().map(of_column).collect())?)
}

fn value(value: AnyValue<'_>) -> SqlValue {
    match value {
        AnyValue::Null => SqlValue::Null,
        AnyValue::Boolean(value) => SqlValue::Boolean(value),
        AnyValue::Float32(number) => number_value(f64::from(number)),
        AnyValue::Float64(number) => number_value(number),
        AnyValue::String(text) => SqlValue::Text(text.to_owned()),
        AnyValue::StringOwned(text) => SqlValue::Text(text.to_string()),
        other => match other.extract::<i64>() {
            Some(number) if other.is_primitive_numeric() => SqlValue::Integer(number),
            _ => SqlValue::Text(other.to_string()),
        },
    }
}

/// A number without a value is no number.
fn number_value(number: f64) -> SqlValue {
    if number.is_finite() { SqlValue::Number(number) } else { SqlValue::Null }
}

/// Refuses everything but one SELECT over these tables; returns which of them it names.
fn check(query: &str, tables: &[&str]) -> Result<BTreeSet<String>, SqlError> {
    let statements = Parser::parse_sql(&GenericDialect {}, query).map_err(|error| SqlError::Syntax(visible(&error.to_string())))?;
    let [Statement::Query(_)] = statements.as_slice() else {
        return Err(SqlError::Refused("only a single SELECT is answered".to_owned()));
    };
    let mut guard = Guard { tables: tables.join(", "), ..Guard::default() };
    if let ControlFlow::Break(refusal) = statements.visit(&mut guard) {
        return Err(SqlError::Refused(refusal));
    }
    let known = |name: &String| tables.contains(&name.as_str()) || guard.common.contains(name);
    match guard.relations.iter().find(|name| !known(name)) {
        Some(name) => Err(SqlError::Refused(format!("no table `{}`; there are {}", visible(name), guard.tables))),
        None => Ok(guard.relations),
    }
}

/// Collects the tables a query names, and stops at what is not a plain SELECT.
#[derive(Default)]
struct Guard {
    /// The names of those that there are, for messages.
    tables: String,
    relations: BTreeSet<String>,
    /// Names given by WITH.
    common: BTreeSet<String>,
}

impl Visitor for Guard {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        self.common.extend(query.with.iter().flat_map(|with| &with.cte_tables).map(|table| table.alias.name.value.clone()));
        match query.body.as_ref() {
            SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::SetOperation { .. } | SetExpr::Values(_) => ControlFlow::Continue(()),
            _ => ControlFlow::Break("only SELECT is answered".to_owned()),
        }
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        if select.into.is_some() {
            ControlFlow::Break("SELECT INTO is not answered: queries write nothing".to_owned())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<String> {
        let name =
            relation.0.iter().map(|part| part.as_ident().map_or_else(|| part.to_string(), |ident| ident.value.clone())).collect::<Vec<_>>();
        self.relations.insert(name.join("."));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<String> {
        match factor {
            TableFactor::Table { args: None, .. } | TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } => {
                ControlFlow::Continue(())
            }
            TableFactor::Table { name, .. } => ControlFlow::Break(format!(
                "`{}` is a table function; only the tables {} are read",
                visible(&name.to_string()),
                self.tables
            )),
            _ => ControlFlow::Break(format!("only the tables {} are read", self.tables)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_over_our_tables_pass() {
        for query in [
            "SELECT suite, count(*) FROM runs GROUP BY suite",
            "WITH solved AS (SELECT run_id FROM items WHERE status = 'pass') SELECT count(*) FROM solved JOIN runs USING (run_id)",
            "SELECT * FROM (SELECT * FROM usage) AS u UNION ALL SELECT * FROM usage",
            "SELECT 1",
        ] {
            assert!(check(query, &TABLES).is_ok(), "{query}: {:?}", check(query, &TABLES));
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for query in [
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELECT * FROM read_parquet('x.parquet')",
            "SELECT * FROM (SELECT * FROM read_json('x'))",
            "SELECT * FROM runs WHERE run_id IN (SELECT a FROM read_csv('x'))",
            "WITH x AS (SELECT * FROM read_csv('x')) SELECT * FROM x",
            "DROP TABLE runs",
            "INSERT INTO runs VALUES (1)",
            "DELETE FROM runs",
            "TRUNCATE TABLE runs",
            "CREATE TABLE t AS SELECT * FROM runs",
            "EXPLAIN SELECT * FROM runs",
            "SELECT * INTO t FROM runs",
            "SELECT 1; SELECT 2",
            "SELECT * FROM 'x.csv'",
            "SELECT * FROM secrets",
            "SELECT * FROM UNNEST([1,2])",
            "",
        ] {
            assert!(check(query, &TABLES).is_err(), "{query}");
        }
    }
}
