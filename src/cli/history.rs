//! `history`: shows a suite day by day.

use crate::render::json::HistoryAnswer;
use crate::render::{nights, tables};
use crate::views::{history, retracted};

use super::arguments::{Format, History};
use super::failure::Failure;
use super::settings::Settings;
use super::{engine, exit_code, output, policy, selection};

pub(super) fn run(settings: &Settings, arguments: &History) -> Result<u8, Failure> {
    let settings = &engine::with_engine(settings, &arguments.engine, &[&arguments.suites, &arguments.selection.suite])?;
    let mut filter = arguments.selection.filter()?;
    filter.suites.extend(arguments.suites.iter().cloned());
    policy::refuse_margins(&arguments.judging)?;
    let policy = policy::policy(settings, &arguments.judging)?;
    let mut warehouse = settings.open_of(&filter.suites)?;
    let filter = selection::with_model_names(&warehouse, filter);
    selection::check(&warehouse, &filter)?;
    let histories = history(&warehouse, &filter, &policy);
    let retracted = retracted(&warehouse, &filter);
    let of_suite = |history| {
        let nights = nights::table(history, arguments.nights);
        // A spreadsheet takes one table, so CSV has the one with every number.
        if settings.format == Format::Csv { vec![nights] } else { vec![nights::levels(history), nights] }
    };
    let tables = tables::scoped(histories.iter().flat_map(of_suite).collect(), retracted, !warehouse.aliases().is_empty());
    engine::refuse_incomplete(settings, &warehouse)?;
    output::answer(settings, "history", &tables, || HistoryAnswer { histories, retracted })?;
    settings.keep(&mut warehouse)?;
    Ok(exit_code::DONE)
}
