//! `list`: lists suites with results and everything that can be run, or the runs.

use tracing::info;

use crate::render::json::ListAnswer;
use crate::render::table::Table;
use crate::render::{runnable as layout, tables};
use crate::views::{ProblemLine, Runnable, retracted, run_line, suite_lines};

use super::arguments::{Format, List};
use super::failure::Failure;
use super::settings::Settings;
use super::{exit_code, foreign, output, runnable, selection, versions};

pub(super) fn run(settings: &Settings, arguments: &List) -> Result<u8, Failure> {
    let (suites, paths) = foreign::split(settings, &arguments.suites)?;
    let (settings, ids) = &foreign::with_runs(settings, &paths)?;
    let mut warehouse = settings.open()?;
    let mut filter = selection::with_model_names(&warehouse, arguments.selection.filter()?);
    filter.suites.extend(suites);
    filter.ids.clone_from(ids);
    let suites = suite_lines(&warehouse, &filter);
    // A user who selects runs asks about results, not about what can be run.
    let found = if arguments.runs || !filter.is_empty() {
        None
    } else {
        Some(runnable::look(settings, &suites)?)
    };
    let found = found.inspect(log);
    let has_something = found.as_ref().is_some_and(|found| !found.is_empty());
    let unfinished: Vec<_> = warehouse
        .unfinished_runs()
        .into_iter()
        .filter(|run| run.is_selected(&filter))
        .collect();
    if !((has_something || !unfinished.is_empty()) && warehouse.select(&filter).next().is_none()) {
        selection::check(&warehouse, &filter)
            .map_err(|failure| hinted(failure, warehouse.hidden().is_empty()))?;
    }
    let retracted = retracted(&warehouse, &filter);
    let runs = warehouse.select(&filter).count();
    let run_lines: Option<Vec<_>> = arguments.runs.then(|| {
        let matrix = warehouse.matrix(warehouse.select(&filter).map(|row| &row.run.id));
        warehouse
            .select(&filter)
            .map(|row| run_line(row, &matrix))
            .collect()
    });
    let mut notes: Vec<String> = tables::retracted_note(retracted).into_iter().collect();
    // In CSV the list of runs is one table.
    let has_table = !(unfinished.is_empty() || arguments.runs && settings.format == Format::Csv);
    if warehouse.unfinished() > 0 && !has_table {
        notes.push(format!(
            "{} not finished.",
            output::count(warehouse.unfinished(), "run")
        ));
    }
    let version_changes = if run_lines.is_none() {
        versions::changes(settings)
    } else {
        Vec::new()
    };
    notes.extend(version_changes.iter().map(versions::sentence));
    let mut shown: Vec<Table> = match &run_lines {
        Some(lines) if lines.is_empty() && has_table => Vec::new(),
        Some(lines) => vec![tables::runs(lines)],
        None if suites.is_empty() => Vec::new(),
        None => vec![tables::suites(&suites)],
    };
    if suites.is_empty() && !has_table {
        notes.insert(0, "No results yet.".to_owned());
    }
    if has_something {
        for results in &mut shown {
            results.title = Some("Results".to_owned());
        }
    }
    shown.extend(has_table.then(|| tables::unfinished(&unfinished)));
    if let (Some(found), true) = (&found, has_something) {
        shown.extend(layout::tables(found));
    }
    // Notes about the store go below its table or, without that table, below the first one.
    if let Some(first) = shown.first_mut() {
        first.notes.extend(notes);
    }
    output::answer(settings, "list", &shown, || ListAnswer {
        suites,
        runnable: found,
        version_changes,
        runs: runs as u64,
        run_lines,
        retracted,
        unfinished: warehouse.unfinished() as u64,
        unfinished_runs: unfinished,
    })?;
    settings.keep(&mut warehouse)?;
    Ok(exit_code::DONE)
}

/// Adds a hint for a new project: an empty store, and nothing to run.
fn hinted(failure: Failure, is_new: bool) -> Failure {
    if is_new && failure.message == "the store holds no runs" {
        failure.with_hint(
            "`evalreport init` writes something to run; `evalreport import FILE` brings results in",
        )
    } else {
        failure
    }
}

/// Logs every problem for `--verbose` and `--log`. A table has room for the first only.
fn log(found: &Runnable) {
    let say = |what: &str, name: &str, problems: &[ProblemLine]| {
        for problem in problems {
            info!(
                what,
                name,
                problem = problem.words(),
                hint = problem.hint,
                "cannot be run"
            );
        }
    };
    found
        .suites
        .iter()
        .for_each(|suite| say("suite", &suite.suite, &suite.problems));
    found
        .tasks
        .iter()
        .for_each(|task| say("task", &task.task, &task.problems));
    found
        .agents
        .iter()
        .for_each(|agent| say("agent", &agent.agent, &agent.problems));
    found
        .approaches
        .iter()
        .for_each(|approach| say("approach", &approach.approach, &approach.problems));
    say("project", "", &found.problems);
}
