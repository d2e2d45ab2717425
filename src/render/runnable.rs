//! Suites, tasks, agents and approaches that can be run here, as tables.

use crate::views::{
    ProblemLine, Runnable, RunnableAgent, RunnableApproach, RunnableSuite, RunnableTask, SuiteKind,
};

use super::cell::TableCell;
use super::table::ReportTable;

/// Lays out suites, tasks, agents and approaches, one table per kind that exists, and says how to run them.
pub fn tables_by_kind(runnable: &Runnable) -> Vec<ReportTable> {
    let mut tables: Vec<ReportTable> = Vec::new();
    if !runnable.suites.is_empty() {
        tables.push(suites_table(&runnable.suites));
    }
    if !runnable.tasks.is_empty() {
        tables.push(tasks_table(&runnable.tasks));
    }
    if !runnable.agents.is_empty() {
        tables.push(agents_table(&runnable.agents));
    }
    if runnable.has_code() {
        tables.push(approaches_table(&runnable.approaches));
    }
    let mut notes: Vec<String> = runnable
        .problems
        .iter()
        .map(ProblemLine::message_with_place)
        .collect();
    if has_problems_or_hints(runnable) {
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
fn has_problems_or_hints(runnable: &Runnable) -> bool {
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

fn suites_table(suites: &[RunnableSuite]) -> ReportTable {
    let mut table = ReportTable::new("Suites to run");
    table.add_text_column("Suite", 0);
    table.add_text_column("Kind", 1);
    table.add_number_column("Questions", 1);
    table.add_text_column("Language", 3);
    table.add_text_column("Needs", 2);
    table.add_number_column("Runs so far", 3);
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
            TableCell::count_or_blank(suite.questions),
        ];
        cells.extend([
            suite.language.as_deref().unwrap_or_default().into(),
            needs.into(),
            TableCell::count(suite.runs),
        ]);
        (cells, suite.problems.as_slice())
    });
    fill_with_problems(table, rows.collect())
}

fn tasks_table(tasks: &[RunnableTask]) -> ReportTable {
    let mut table = ReportTable::new("Tasks");
    table.add_text_column("Task", 0);
    table.add_number_column("Questions", 1);
    table.add_text_column("File", 2);
    table.add_text_column("Suite", 3);
    table.add_text_column("Agent", 1);
    table.add_text_column("Model", 2);
    let rows = tasks.iter().map(|task| {
        let mut cells = vec![
            task.task.as_str().into(),
            TableCell::count_or_blank(task.questions),
            task.questions_file.as_str().into(),
            task.suite.as_str().into(),
        ];
        cells.extend(
            [&task.agent, &task.model]
                .map(|name| TableCell::words(name.as_deref().unwrap_or_default())),
        );
        (cells, task.problems.as_slice())
    });
    fill_with_problems(table, rows.collect())
}

fn agents_table(agents: &[RunnableAgent]) -> ReportTable {
    let mut table = ReportTable::new("Agents");
    table.add_text_column("Agent", 0);
    table.add_text_column("Type", 1);
    table.add_text_column("Model", 1);
    table.add_text_column("Default", 2);
    let rows = agents.iter().map(|agent| {
        let cells = vec![
            agent.agent.as_str().into(),
            agent.kind.as_str().into(),
            model_text(agent.model.as_deref(), agent.needs_model).into(),
            TableCell::words(if agent.is_default { "yes" } else { "" }),
        ];
        (cells, agent.problems.as_slice())
    });
    fill_with_problems(table, rows.collect())
}

fn approaches_table(approaches: &[RunnableApproach]) -> ReportTable {
    let mut table = ReportTable::new("Approaches");
    table.add_text_column("Approach", 0);
    table.add_text_column("Name", 2);
    table.add_text_column("Kind", 1);
    table.add_text_column("Agent", 2);
    table.add_text_column("Model", 2);
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
            model_text(None, approach.needs_model).into(),
        ];
        (cells, approach.problems.as_slice())
    });
    fill_with_problems(table, rows.collect())
}

fn model_text(named: Option<&str>, is_needed: bool) -> String {
    let needed = if is_needed { "needs --model" } else { "" };
    named.unwrap_or(needed).to_owned()
}

/// Adds the rows, and a column of problems if there are any. Narrow screens never hide that column.
fn fill_with_problems(
    mut table: ReportTable,
    rows: Vec<(Vec<TableCell>, &[ProblemLine])>,
) -> ReportTable {
    let has_problems = rows.iter().any(|(_, problems)| !problems.is_empty());
    if has_problems {
        table.add_text_column("Problem", 0);
    }
    for (mut cells, problems) in rows {
        if has_problems {
            cells.push(match problems {
                [] => TableCell::unknown(""),
                [one] => one.message_with_place().into(),
                [first, rest @ ..] => {
                    format!("{} (and {} more)", first.message_with_place(), rest.len()).into()
                }
            });
        }
        table.add_row(cells);
    }
    table.drop_empty_columns();
    table
}
