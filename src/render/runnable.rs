//! Suites, tasks, agents and approaches that can be run here, as tables.

use crate::views::{
    ProblemLine, Runnable, RunnableAgent, RunnableApproach, RunnableSuite, RunnableTask, SuiteKind,
};

use super::cell::Cell;
use super::table::Table;

/// Lays out suites, tasks, agents and approaches, one table per kind that exists, and says how to run them.
pub fn tables(runnable: &Runnable) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    if !runnable.suites.is_empty() {
        tables.push(suites(&runnable.suites));
    }
    if !runnable.tasks.is_empty() {
        tables.push(tasks(&runnable.tasks));
    }
    if !runnable.agents.is_empty() {
        tables.push(agents(&runnable.agents));
    }
    if runnable.has_code() {
        tables.push(approaches(&runnable.approaches));
    }
    let mut notes: Vec<String> = runnable.problems.iter().map(ProblemLine::words).collect();
    if has_more(runnable) {
        notes.push("All problems with hints: --format json, or --verbose.".to_owned());
    }
    notes.extend(
        runnable
            .commands
            .iter()
            .map(|command| format!("Try: {command}")),
    );
    if let Some(last) = tables.last_mut() {
        last.notes.extend(notes);
    }
    tables
}

/// Says whether there are problems or hints for which the tables have no room.
fn has_more(runnable: &Runnable) -> bool {
    let problems = runnable
        .suites
        .iter()
        .map(|suite| &suite.problems)
        .chain(runnable.tasks.iter().map(|task| &task.problems));
    let problems = problems.chain(runnable.agents.iter().map(|agent| &agent.problems));
    let approaches = runnable
        .approaches
        .iter()
        .filter(|_| runnable.has_code())
        .map(|approach| &approach.problems);
    problems
        .chain(approaches)
        .any(|problems| problems.len() > 1 || problems.iter().any(|problem| problem.hint.is_some()))
}

fn suites(suites: &[RunnableSuite]) -> Table {
    let mut table = Table::new("Suites to run");
    table.left("Suite", 0);
    table.left("Kind", 1);
    table.right("Questions", 1);
    table.left("Language", 3);
    table.left("Needs", 2);
    table.right("Runs so far", 3);
    let rows = suites.iter().map(|suite| {
        let (kind, needs) = match suite.kind {
            Some(SuiteKind::Code) => ("code", "an approach"),
            Some(SuiteKind::Questions) => ("questions", "an agent"),
            Some(SuiteKind::Criteria) => ("criteria", ""),
            None => ("", ""),
        };
        let mut cells = vec![
            suite.suite.as_str().into(),
            kind.into(),
            Cell::counted(suite.questions),
        ];
        cells.extend([
            suite.language.as_deref().unwrap_or_default().into(),
            needs.into(),
            Cell::count(suite.runs),
        ]);
        (cells, suite.problems.as_slice())
    });
    filled(table, rows.collect())
}

fn tasks(tasks: &[RunnableTask]) -> Table {
    let mut table = Table::new("Tasks");
    table.left("Task", 0);
    table.right("Questions", 1);
    table.left("File", 2);
    table.left("Suite", 3);
    table.left("Agent", 1);
    table.left("Model", 2);
    let rows = tasks.iter().map(|task| {
        let mut cells = vec![
            task.task.as_str().into(),
            Cell::counted(task.questions),
            task.questions_file.as_str().into(),
            task.suite.as_str().into(),
        ];
        cells.extend(
            [&task.agent, &task.model].map(|name| Cell::words(name.as_deref().unwrap_or_default())),
        );
        (cells, task.problems.as_slice())
    });
    filled(table, rows.collect())
}

fn agents(agents: &[RunnableAgent]) -> Table {
    let mut table = Table::new("Agents");
    table.left("Agent", 0);
    table.left("Type", 1);
    table.left("Model", 1);
    table.left("Default", 2);
    let rows = agents.iter().map(|agent| {
        let cells = vec![
            agent.agent.as_str().into(),
            agent.kind.as_str().into(),
            model(agent.model.as_deref(), agent.needs_model).into(),
            Cell::words(if agent.is_default { "yes" } else { "" }),
        ];
        (cells, agent.problems.as_slice())
    });
    filled(table, rows.collect())
}

fn approaches(approaches: &[RunnableApproach]) -> Table {
    let mut table = Table::new("Approaches");
    table.left("Approach", 0);
    table.left("Name", 2);
    table.left("Kind", 1);
    table.left("Agent", 2);
    table.left("Model", 2);
    let rows = approaches.iter().map(|approach| {
        let kind = if approach.is_built_in {
            "built in".to_owned()
        } else {
            approach.kind.clone()
        };
        let cells = vec![
            approach.approach.as_str().into(),
            approach.name.as_deref().unwrap_or_default().into(),
            kind.into(),
            approach.agent.as_deref().unwrap_or_default().into(),
            model(None, approach.needs_model).into(),
        ];
        (cells, approach.problems.as_slice())
    });
    filled(table, rows.collect())
}

fn model(named: Option<&str>, is_needed: bool) -> String {
    let needed = if is_needed { "needs --model" } else { "" };
    named.unwrap_or(needed).to_owned()
}

/// Adds the rows, and a column of problems if there are any. Narrow screens never hide that column.
fn filled(mut table: Table, rows: Vec<(Vec<Cell>, &[ProblemLine])>) -> Table {
    let has_problems = rows.iter().any(|(_, problems)| !problems.is_empty());
    if has_problems {
        table.left("Problem", 0);
    }
    for (mut cells, problems) in rows {
        if has_problems {
            cells.push(match problems {
                [] => Cell::unknown(""),
                [one] => one.words().into(),
                [first, rest @ ..] => format!("{} (and {} more)", first.words(), rest.len()).into(),
            });
        }
        table.row(cells);
    }
    table.drop_empty_columns();
    table
}
