//! `list`: the suites with results, or the runs.

use crate::render::json::ListAnswer;
use crate::render::tables;
use crate::views::{retracted, run_line, suite_lines};
use crate::warehouse::OutcomeMatrix;

use super::arguments::List;
use super::failure::Failure;
use super::settings::Settings;
use super::{exit_code, output, selection};

pub(super) fn run(settings: &Settings, arguments: &List) -> Result<u8, Failure> {
    let mut warehouse = settings.open()?;
    let filter = arguments.selection.filter()?;
    selection::check(&warehouse, &filter)?;
    let suites = suite_lines(&warehouse, &filter);
    let retracted = retracted(&warehouse, &filter);
    let runs = warehouse.select(&filter).count();
    // Counts come from the headers: a list needs no outcomes.
    let matrix = OutcomeMatrix::default();
    let run_lines: Option<Vec<_>> = arguments.runs.then(|| warehouse.select(&filter).map(|row| run_line(row, &matrix)).collect());
    let mut table = run_lines.as_ref().map_or_else(|| tables::suites(&suites), |lines| tables::runs(lines));
    table.notes.extend(tables::retracted_note(retracted));
    if warehouse.unfinished() > 0 {
        table.notes.push(format!("{} not finished.", output::count(warehouse.unfinished(), "run")));
    }
    output::answer(settings, "list", &[table], || ListAnswer {
        suites,
        runs: runs as u64,
        run_lines,
        retracted,
        unfinished: warehouse.unfinished() as u64,
    })?;
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}
