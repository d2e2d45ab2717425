//! SQL over the four tables: one SELECT, without table functions or files.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::ControlFlow;

use polars::prelude::*;
use polars::sql::SQLContext;
use sqlparser::ast::{
    Expr, JoinOperator, ObjectName, Query, Select, SetExpr, Statement, TableFactor, TableWithJoins,
    Visit, Visitor,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::domain::{ItemOutcome, RunId, escape_invisible, latest_of_each};

use super::open::Warehouse;
use super::segment;
use super::sql_error::SqlError;
use super::tables::TABLES;
use super::threads;

/// Stack size for the deepest allowed query, even in unoptimised builds.
const QUERY_STACK_BYTES: usize = 256 << 20;
/// Maximum number of tokens that may nest: a chain of operators is as deep as it is long.
const MAX_MARKS: usize = 4000;
/// Maximum depth of an expression. The table engine recurses on threads of its own, with smaller stacks.
const MAX_DEPTH: usize = 100;
/// Maximum number of SELECTs and tables.
const MAX_PARTS: usize = 200;
/// Maximum number of rows of tables joined without a condition.
const MAX_CROSSED: u64 = 100_000_000;

/// One value of a result.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum SqlValue {
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<SqlValue>>,
}

/// A table computed from the stored ones, if a query names it.
pub struct DerivedTable<'a> {
    pub name: &'static str,
    pub make: &'a dyn Fn() -> SqlTable,
}

impl Warehouse {
    /// Runs one SELECT over `runs`, `items`, `scores`, `usage` and the derived tables.
    pub fn query_sql(
        &self,
        query: &str,
        derived: &[DerivedTable<'_>],
    ) -> Result<SqlTable, SqlError> {
        threads::check_threads()?;
        let tables: Vec<&str> = TABLES
            .into_iter()
            .chain(derived.iter().map(|table| table.name))
            .collect();
        let named = threads::run_on_thread(QUERY_STACK_BYTES, || {
            check_query(query, &tables, &|table| self.row_count(table))
        })?;
        let mut context = SQLContext::new();
        for table in derived.iter().filter(|table| named.contains(table.name)) {
            context.register(table.name, build_frame(&(table.make)())?.lazy());
        }
        for table in TABLES {
            if named.contains(table) {
                context.register(table, self.table_frame(table)?);
            }
        }
        let frame = threads::run_on_thread(QUERY_STACK_BYTES, || {
            Ok(context.execute(query)?.collect()?)
        })?;
        let columns: Vec<String> = frame
            .get_column_names()
            .iter()
            .map(ToString::to_string)
            .collect();
        let mut rows = Vec::with_capacity(frame.height());
        for row in 0..frame.height() {
            let values: PolarsResult<Vec<SqlValue>> = frame
                .columns()
                .iter()
                .map(|column| column.get(row).map(to_sql_value))
                .collect();
            rows.push(values?);
        }
        Ok(SqlTable { columns, rows })
    }

    /// Returns the number of rows of a table, as far as it is known before the table is built.
    fn row_count(&self, table: &str) -> u64 {
        match table {
            "runs" | "usage" => self.runs.len() as u64,
            "scores" => self
                .runs
                .iter()
                .map(|row| row.run.scores.len() as u64)
                .sum(),
            "items" => self
                .runs
                .iter()
                .filter_map(|row| row.items)
                .map(|items| items.lines)
                .sum(),
            _ => 1,
        }
    }

    /// Returns the current outcomes of some runs with money, time and text, in the order of run, kind, evaluator, item and attempt.
    pub fn read_outcomes(&self, runs: &[&RunId]) -> Result<Vec<ItemOutcome>, SqlError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let mut outcomes = segment::read_outcomes(self.items_table()?, runs)?;
        if outcomes.iter().any(|outcome| outcome.revision > 0) {
            outcomes.retain(|outcome| self.is_counted(outcome));
            let outcome =
                |outcome: &ItemOutcome| (outcome.run.clone(), outcome.key(), outcome.attempt);
            outcomes = latest_of_each(outcomes, outcome, |outcome| outcome.revision);
        }
        Ok(outcomes)
    }
}

/// Builds a frame. A column has the type of all its values: whole numbers, numbers, booleans or text.
fn build_frame(table: &SqlTable) -> Result<DataFrame, SqlError> {
    let of_column = |(place, name): (usize, &String)| {
        let values = || table.rows.iter().map(|row| &row[place]);
        let are = |is: fn(&SqlValue) -> bool| {
            values().any(is) && values().all(|value| matches!(value, SqlValue::Null) || is(value))
        };
        let name = PlSmallStr::from(name.as_str());
        if are(|value| matches!(value, SqlValue::Boolean(_))) {
            Column::new(
                name,
                values()
                    .map(|value| {
                        if let SqlValue::Boolean(flag) = value {
                            Some(*flag)
                        } else {
                            None
                        }
                    })
                    .collect::<Vec<_>>(),
            )
        } else if are(|value| matches!(value, SqlValue::Integer(_))) {
            Column::new(
                name,
                values()
                    .map(|value| {
                        if let SqlValue::Integer(number) = value {
                            Some(*number)
                        } else {
                            None
                        }
                    })
                    .collect::<Vec<_>>(),
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
                values()
                    .map(|value| {
                        if let SqlValue::Text(text) = value {
                            Some(text.as_str())
                        } else {
                            None
                        }
                    })
                    .collect::<Vec<_>>(),
            )
        }
    };
    Ok(DataFrame::new(
        table.rows.len(),
        table.columns.iter().enumerate().map(of_column).collect(),
    )?)
}

fn to_sql_value(value: AnyValue<'_>) -> SqlValue {
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

/// Maps NaN and infinities to NULL.
fn number_value(number: f64) -> SqlValue {
    if number.is_finite() {
        SqlValue::Number(number)
    } else {
        SqlValue::Null
    }
}

/// Refuses everything but one SELECT over these tables. Returns the tables that it names.
fn check_query(
    query: &str,
    tables: &[&str],
    height: &dyn Fn(&str) -> u64,
) -> Result<BTreeSet<String>, SqlError> {
    let syntax = |error: &dyn Display| SqlError::Syntax(escape_invisible(&error.to_string()));
    let tokens = Tokenizer::new(&GenericDialect {}, query)
        .tokenize()
        .map_err(|error| syntax(&error))?;
    let marks = tokens.iter().filter(|token| may_nest(token)).count();
    if marks > MAX_MARKS {
        let marks = format!(
            "has {marks} operators, keywords and brackets; at most {MAX_MARKS} are answered"
        );
        return Err(SqlError::Refused(format!(
            "the query {marks}: write lists with IN, or ask several queries"
        )));
    }
    let statements = match Parser::new(&GenericDialect {})
        .with_tokens(tokens)
        .parse_statements()
    {
        Err(ParserError::RecursionLimitExceeded) => {
            return Err(SqlError::Refused(too_deep_message()));
        }
        parsed => parsed.map_err(|error| syntax(&error))?,
    };
    let [Statement::Query(_)] = statements.as_slice() else {
        return Err(SqlError::Refused(
            "only one SELECT statement is allowed".to_owned(),
        ));
    };
    let mut guard = QueryGuard {
        tables: tables.join(", "),
        height,
        relations: BTreeSet::new(),
        common: BTreeSet::new(),
        depth: 0,
        parts: 0,
    };
    if let ControlFlow::Break(refusal) = statements.visit(&mut guard) {
        return Err(SqlError::Refused(refusal));
    }
    let known = |name: &String| tables.contains(&name.as_str()) || guard.common.contains(name);
    match guard.relations.iter().find(|name| !known(name)) {
        Some(name) => Err(SqlError::Refused(format!(
            "no table `{}`; there are {}",
            escape_invisible(name),
            guard.tables
        ))),
        None => Ok(guard.relations),
    }
}

/// Collects the tables that a query names, and refuses anything but a plain SELECT.
struct QueryGuard<'a> {
    /// The names of the existing tables, for messages.
    tables: String,
    relations: BTreeSet<String>,
    /// Names given by WITH.
    common: BTreeSet<String>,
    height: &'a dyn Fn(&str) -> u64,
    /// Depth of the current expression.
    depth: usize,
    /// Number of SELECTs and tables so far.
    parts: usize,
}

impl QueryGuard<'_> {
    fn count_part(&mut self) -> ControlFlow<String> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return ControlFlow::Break(format!(
                "the query has more than {MAX_PARTS} SELECTs and tables: ask several queries"
            ));
        }
        ControlFlow::Continue(())
    }

    /// Returns the number of rows of tables joined without a condition.
    fn crossed_rows(&self, select: &Select) -> u64 {
        let rows = |factor: &TableFactor| match factor {
            TableFactor::Table { name, .. } => (self.height)(&plain_name(name)).max(1),
            _ => 1,
        };
        let of_one = |from: &TableWithJoins| {
            let crossed = from
                .joins
                .iter()
                .filter(|join| matches!(join.join_operator, JoinOperator::CrossJoin(_)));
            crossed.fold(rows(&from.relation), |product, join| {
                product.saturating_mul(rows(&join.relation))
            })
        };
        let is_crossed = |from: &TableWithJoins| {
            from.joins
                .iter()
                .any(|join| matches!(join.join_operator, JoinOperator::CrossJoin(_)))
        };
        match select.from.as_slice() {
            [one] if !is_crossed(one) => 0,
            tables => tables.iter().map(of_one).fold(1, u64::saturating_mul),
        }
    }
}

impl Visitor for QueryGuard<'_> {
    type Break = String;

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            ControlFlow::Break(too_deep_message())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<String> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        self.common.extend(
            query
                .with
                .iter()
                .flat_map(|with| &with.cte_tables)
                .map(|table| table.alias.name.value.clone()),
        );
        match query.body.as_ref() {
            SetExpr::Select(_)
            | SetExpr::Query(_)
            | SetExpr::SetOperation { .. }
            | SetExpr::Values(_) => ControlFlow::Continue(()),
            _ => ControlFlow::Break("only SELECT is answered".to_owned()),
        }
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        if select.into.is_some() {
            return ControlFlow::Break(
                "SELECT INTO is not answered: queries write nothing".to_owned(),
            );
        }
        let rows = self.crossed_rows(select);
        if rows > MAX_CROSSED {
            return ControlFlow::Break(format!(
                "tables joined without a condition make {rows} rows; at most {MAX_CROSSED} are answered: join with ON or USING"
            ));
        }
        self.count_part()
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<String> {
        self.relations.insert(plain_name(relation));
        self.count_part()
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<String> {
        match factor {
            TableFactor::Table { args: None, .. }
            | TableFactor::Derived { .. }
            | TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            TableFactor::Table { name, .. } => ControlFlow::Break(format!(
                "`{}` is a table function; only the tables {} are read",
                escape_invisible(&name.to_string()),
                self.tables
            )),
            _ => ControlFlow::Break(format!("only the tables {} are read", self.tables)),
        }
    }
}

fn plain_name(name: &ObjectName) -> String {
    name.0
        .iter()
        .map(|part| {
            part.as_ident()
                .map_or_else(|| part.to_string(), |ident| ident.value.clone())
        })
        .collect::<Vec<_>>()
        .join(".")
}

/// Returns whether a token may add a level of nesting: all but names, values, commas and space.
fn may_nest(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.keyword != Keyword::NoKeyword,
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::Comma
        | Token::Period
        | Token::Whitespace(_)
        | Token::EOF => false,
        _ => true,
    }
}

fn too_deep_message() -> String {
    format!(
        "the query nests deeper than is answered, which is {MAX_DEPTH} levels: write lists with IN, or ask several queries"
    )
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
            assert!(
                check_query(query, &TABLES, &|_| 10_000).is_ok(),
                "{query}: {:?}",
                check_query(query, &TABLES, &|_| 10_000)
            );
        }
    }

    #[test]
    fn what_nests_too_deep_or_makes_too_much_is_refused() {
        let of = |start: &str, part: &str, times: usize, end: &str| {
            format!("SELECT {start}{}{end} FROM runs", part.repeat(times))
        };
        for (query, why) in [
            (of("", "- ", 20_000, "1"), "operators"),
            (of("", "(", 100_000, "1"), "operators"),
            (of("1", "+1", 3000, ""), "deeper"),
            (of("", "(", 1000, "1"), "deeper"),
            (of("a", " IS NULL", 1500, ""), "deeper"),
            (of("1", " FROM runs UNION SELECT 1", 300, ""), "SELECTs"),
            (of("1", " FROM (SELECT 1", 300, ""), "deeper"),
            (
                format!("SELECT 1 FROM runs{}", ", runs".repeat(300)),
                "rows",
            ),
            (
                "SELECT * FROM items CROSS JOIN items b CROSS JOIN items c".to_owned(),
                "rows",
            ),
            (
                "SELECT * FROM (SELECT * FROM items, items b, items c)".to_owned(),
                "rows",
            ),
        ] {
            let refusal = threads::run_on_thread(QUERY_STACK_BYTES, || {
                check_query(&query, &TABLES, &|_| 10_000).map(|_| ())
            })
            .expect_err("refused")
            .to_string();
            assert!(
                refusal.contains(why),
                "{}: {refusal}",
                &query[..60.min(query.len())]
            );
        }
        for query in [
            of("1", "+1", 90, ""),
            of("1", " FROM runs UNION ALL SELECT 1", 90, ""),
            "SELECT 1 FROM items, items b".to_owned(),
        ] {
            assert!(check_query(&query, &TABLES, &|_| 10_000).is_ok(), "{query}");
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
            assert!(check_query(query, &TABLES, &|_| 10_000).is_err(), "{query}");
        }
    }
}
