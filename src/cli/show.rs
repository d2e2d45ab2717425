//! `show`: everything about runs.

use crate::render::json::ShowAnswer;
use crate::render::tables;
use crate::views::{RunPage, run_page};

use super::arguments::Show;
use super::failure::Failure;
use super::settings::Settings;
use super::{exit_code, output, selection};

/// More runs than this are a list.
const MAX_RUNS: usize = 50;

pub(super) fn run(settings: &Settings, arguments: &Show) -> Result<u8, Failure> {
    let mut warehouse = settings.open()?;
    let mut filter = arguments.selection.filter()?;
    filter.ids.clone_from(&arguments.ids);
    if filter.is_empty() {
        return Err(Failure::new("show needs a run id or a selection").with_hint("`evalreport list --runs` shows the ids"));
    }
    filter.ids = selection::complete_ids(&warehouse, &filter.ids)?;
    selection::check(&warehouse, &filter)?;
    let rows: Vec<_> = warehouse.select(&filter).collect();
    if rows.len() > MAX_RUNS {
        return Err(Failure::new(format!("{} match; show prints at most {MAX_RUNS}", output::count(rows.len(), "run")))
            .with_hint("narrow the selection, or use `evalreport list --runs`"));
    }
    let pages: Vec<RunPage> = rows.into_iter().map(|row| run_page(&warehouse, row)).collect();
    let tables: Vec<_> = pages.iter().map(tables::run).collect();
    output::answer(settings, "show", &tables, || ShowAnswer { runs: pages })?;
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}
