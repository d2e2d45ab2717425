//! `show`: shows everything about runs.

use std::str::FromStr;

use clap::Args;

use crate::domain::{Filter, UnfinishedRun};
use crate::publish::{has_details, read_evaluator_scores};
use crate::render::item_table::TextLength;
use crate::render::json::{AnswerSchema, ShowAnswer, show_schema};
use crate::render::{item_table, judged, reasons, tables};
use crate::views::{ItemChoice, ShownRun, criterion_rows, run_page, shown_run};
use crate::warehouse::{RunRow, Warehouse};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::{Format, Selection};
use super::settings::Settings;
use super::{ad_hoc_import, exit_code, output, selection};

/// Show everything about runs
#[derive(Args)]
pub(super) struct ShowArguments {
    /// Run ids, or at least their first four characters; `last` is the newest run; or paths such as ./logs to other tools' results
    #[arg(value_name = "ID|PATH")]
    pub ids: Vec<String>,
    /// Items to show: all, failed, or a number (failures first) [default: 20; all as JSON and CSV]
    #[arg(long, value_name = "all|failed|N")]
    pub items: Option<ItemChoice>,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for ShowArguments {
    const NAME: &'static str = "show";
    const EXAMPLES: [Example; 2] = [
        ("evalreport show last", "the newest run"),
        (
            "evalreport show --suite hello --approach sketch --items failed",
            "the failures of an approach",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("show", show_schema)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

/// Maximum number of runs. For more runs, `list` is the right command.
const MAX_RUNS: usize = 50;
/// Number of items that fit on a screen.
const ITEMS_ON_A_SCREEN: usize = 20;

fn run_command(settings: &Settings, arguments: &ShowArguments) -> Result<u8, CommandFailure> {
    let (ids, paths) = ad_hoc_import::split_names_and_paths(settings, &arguments.ids)?;
    let (settings, of_paths) = &ad_hoc_import::with_runs(settings, &paths)?;
    let mut warehouse = settings.open_warehouse()?;
    let mut filter = selection::with_model_names(&warehouse, arguments.selection.to_filter()?);
    filter.ids = [ids, of_paths.clone()].concat();
    if filter.is_empty() {
        return Err(CommandFailure::new("show needs a run id or a selection")
            .with_hint("`evalreport list --runs` shows the ids"));
    }
    let unfinished = take_unfinished(&warehouse, &mut filter);
    if unfinished.is_empty() || !filter.is_empty() {
        filter.ids = selection::complete_ids(&warehouse, &filter.ids)?;
        selection::check_filter(&warehouse, &filter)?;
    }
    let rows: Vec<_> = if filter.is_empty() {
        Vec::new()
    } else {
        warehouse.select_runs(&filter).collect()
    };
    if rows.len() > MAX_RUNS {
        return Err(CommandFailure::new(format!(
            "{} match; show prints at most {MAX_RUNS}",
            output::format_count(rows.len(), "run")
        ))
        .with_hint("narrow the selection, or use `evalreport list --runs`"));
    }
    let (choice, texts) = match settings.format {
        Format::Table | Format::Markdown => {
            (ItemChoice::First(ITEMS_ON_A_SCREEN), TextLength::Short)
        }
        Format::Json | Format::Full | Format::Csv | Format::Junit => {
            (ItemChoice::All, TextLength::Whole)
        }
    };
    let choice = arguments.items.unwrap_or(choice);
    let runs = rows
        .into_iter()
        .map(|row| load_shown_run(settings, &warehouse, row, choice))
        .collect::<Result<Vec<_>, CommandFailure>>()?;
    let of_run = |run: &ShownRun| {
        let mut tables = vec![tables::run_table(run)];
        tables.extend(judged::criteria_table(run, texts));
        tables.extend(judged::evaluators_table(run, texts));
        tables.extend(judged::verification_tables(run, texts));
        if texts == TextLength::Short {
            tables.extend(reasons::failure_table(run));
        }
        tables.extend(item_table::items_table(run, texts));
        tables
    };
    let of_unfinished =
        (!unfinished.is_empty()).then(|| tables::unfinished_runs_table(&unfinished));
    let tables: Vec<_> = of_unfinished
        .into_iter()
        .chain(runs.iter().flat_map(of_run))
        .collect();
    output::print_answer(settings, "show", &tables, || ShowAnswer {
        runs,
        unfinished,
    })?;
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

/// Takes the ids of runs without a header out of the filter, and returns these runs.
fn take_unfinished(warehouse: &Warehouse, filter: &mut Filter) -> Vec<UnfinishedRun> {
    if filter.ids.is_empty() || warehouse.unfinished_count() == 0 {
        return Vec::new();
    }
    let is_stored = |id: &str| {
        !selection::match_ids(id, warehouse.runs().iter().map(|row| &row.run.id)).is_empty()
    };
    let mut unfinished = warehouse.unfinished_runs();
    let (ids, other): (Vec<String>, Vec<String>) =
        std::mem::take(&mut filter.ids).into_iter().partition(|id| {
            !is_stored(id)
                && selection::match_ids(id, unfinished.iter().map(|run| &run.id)).len() == 1
        });
    filter.ids = other;
    unfinished.retain(|run| ids.iter().any(|id| run.id.as_str().starts_with(id)));
    unfinished
}

fn load_shown_run(
    settings: &Settings,
    warehouse: &Warehouse,
    row: &RunRow,
    choice: ItemChoice,
) -> Result<ShownRun, CommandFailure> {
    let id = &row.run.id;
    let stores = settings.stores();
    let store = stores.score_store_of(warehouse, id)?;
    let journalled = match &store {
        Some(store) => stores.read_journal(store, id)?,
        None => None,
    };
    let items = match journalled {
        Some(items) => items,
        None if has_details(warehouse, row) && choice != ItemChoice::First(0) => {
            stores.read_detailed_imports(warehouse, std::slice::from_ref(&row.run))?
        }
        // Outcomes of imported tables are stored among those of other runs, without details.
        None if row.items.is_some() && choice != ItemChoice::First(0) => {
            stores.read_imported_outcomes(warehouse, &[id])?
        }
        None => stores.read_import_judgements(warehouse, id)?,
    };
    let place = |path: Option<std::path::PathBuf>| path.map(|path| display_path(&path));
    let transcript = place(
        store
            .as_ref()
            .map(|store| store.transcript_path(id))
            .transpose()?
            .flatten(),
    );
    let output = place(
        store
            .as_ref()
            .map(|store| store.output_path(id))
            .transpose()?
            .flatten(),
    );
    let mut page = run_page(warehouse, row);
    page.add_judgements(
        read_evaluator_scores(store.as_ref(), warehouse, id),
        criterion_rows(&items),
    );
    Ok(shown_run(page, &items, choice, transcript, output))
}

impl FromStr for ItemChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "failed" => Ok(Self::Failed),
            number => number
                .parse()
                .map(Self::First)
                .map_err(|_| "write all, failed, or a number".to_owned()),
        }
    }
}
