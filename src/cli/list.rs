//! `list`: lists suites with results and everything that can be run, or the runs.

use clap::Args;
use tracing::info;

use crate::render::json::{AnswerSchema, ListAnswer, list_schema};
use crate::render::table::ReportTable;
use crate::render::{runnable as layout, tables};
use crate::views::{ProblemLine, Runnable, count_retracted, run_line, suite_lines};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::options::{Format, Selection};
use super::settings::Settings;
use super::{ad_hoc_import, exit_code, output, runnable, selection, versions};

/// List results, suites, agents and approaches
#[derive(Args)]
pub(super) struct ListArguments {
    /// Suites, or paths such as ./logs to other tools' results, of which only the runs there are listed [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// List runs instead of suites
    #[arg(long)]
    pub runs: bool,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for ListArguments {
    const NAME: &'static str = "list";
    const EXAMPLES: [Example; 2] = [
        ("evalreport list", "suites, agents and approaches"),
        (
            "evalreport list --runs --suite hello",
            "the runs of a suite, with their ids",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("list", list_schema)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

fn run_command(settings: &Settings, arguments: &ListArguments) -> Result<u8, CommandFailure> {
    let (suites, paths) = ad_hoc_import::split_names_and_paths(settings, &arguments.suites)?;
    let (settings, ids) = &ad_hoc_import::with_runs(settings, &paths)?;
    let mut warehouse = settings.open_warehouse()?;
    let mut filter = selection::with_model_names(&warehouse, arguments.selection.to_filter()?);
    filter.suites.extend(suites);
    filter.ids.clone_from(ids);
    let suites = suite_lines(&warehouse, &filter);
    // A user who selects runs asks about results, not about what can be run.
    let found = if arguments.runs || !filter.is_empty() {
        None
    } else {
        Some(runnable::find_runnable(settings, &suites)?)
    };
    let found = found.inspect(log_problems);
    let has_something = found.as_ref().is_some_and(|found| !found.is_empty());
    let unfinished: Vec<_> = warehouse
        .unfinished_runs()
        .into_iter()
        .filter(|run| run.is_selected(&filter))
        .collect();
    if !((has_something || !unfinished.is_empty())
        && warehouse.select_runs(&filter).next().is_none())
    {
        selection::check_filter(&warehouse, &filter)
            .map_err(|failure| add_new_project_hint(failure, warehouse.hidden_runs().is_empty()))?;
    }
    let retracted = count_retracted(&warehouse, &filter);
    let runs = warehouse.select_runs(&filter).count();
    let run_lines: Option<Vec<_>> = arguments.runs.then(|| {
        let matrix =
            warehouse.outcome_matrix(warehouse.select_runs(&filter).map(|row| &row.run.id));
        warehouse
            .select_runs(&filter)
            .map(|row| run_line(row, &matrix))
            .collect()
    });
    let mut notes: Vec<String> = tables::retracted_note(retracted).into_iter().collect();
    // In CSV the list of runs is one table.
    let has_table = !(unfinished.is_empty() || arguments.runs && settings.format == Format::Csv);
    if warehouse.unfinished_count() > 0 && !has_table {
        notes.push(format!(
            "{} not finished.",
            output::format_count(warehouse.unfinished_count(), "run")
        ));
    }
    let version_changes = if run_lines.is_none() {
        versions::version_changes(settings)
    } else {
        Vec::new()
    };
    notes.extend(version_changes.iter().map(versions::describe_change));
    let mut shown: Vec<ReportTable> = match &run_lines {
        Some(lines) if lines.is_empty() && has_table => Vec::new(),
        Some(lines) => vec![tables::runs_table(lines)],
        None if suites.is_empty() => Vec::new(),
        None => vec![tables::suites_table(&suites)],
    };
    if suites.is_empty() && !has_table {
        notes.insert(0, "No results yet.".to_owned());
    }
    if has_something {
        for results in &mut shown {
            results.title = Some("Results".to_owned());
        }
    }
    shown.extend(has_table.then(|| tables::unfinished_runs_table(&unfinished)));
    if let (Some(found), true) = (&found, has_something) {
        shown.extend(layout::tables_by_kind(found));
    }
    // Notes about the store go below its table or, without that table, below the first one.
    if let Some(first) = shown.first_mut() {
        first.notes.extend(notes);
    }
    output::print_answer(settings, "list", &shown, || ListAnswer {
        suites,
        runnable: found,
        version_changes,
        runs: runs as u64,
        run_lines,
        retracted,
        unfinished: warehouse.unfinished_count() as u64,
        unfinished_runs: unfinished,
    })?;
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

/// Adds a hint for a new project: an empty store, and nothing to run.
fn add_new_project_hint(failure: CommandFailure, is_new: bool) -> CommandFailure {
    if is_new && failure.message == "the store holds no runs" {
        failure.with_hint(
            "`evalreport init` writes something to run; `evalreport import FILE` brings results in",
        )
    } else {
        failure
    }
}

/// Logs every problem for `--verbose` and `--log`. A table has room for the first only.
fn log_problems(found: &Runnable) {
    let say = |what: &str, name: &str, problems: &[ProblemLine]| {
        for problem in problems {
            info!(
                what,
                name,
                problem = problem.message_with_place(),
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
