//! `noise`: says where the noise of a suite's runs comes from, and what it hides.

use crate::render::json::NoiseAnswer;
use crate::render::noise::ledger_tables;
use crate::views::noise_ledgers;

use super::arguments::Noise;
use super::failure::CommandFailure;
use super::file_arms::FileOptions;
use super::settings::Settings;
use super::{ad_hoc_import, exit_code, output, policy, selection};

pub(super) fn run_command(settings: &Settings, arguments: &Noise) -> Result<u8, CommandFailure> {
    let mut filter = arguments.selection.to_filter()?;
    let (suites, paths) = ad_hoc_import::split_names_and_paths(settings, &arguments.suites)?;
    let asked = FileOptions::from_arguments(&arguments.of_files, &mut filter, !paths.is_empty())?
        .for_comparison();
    let settings = &ad_hoc_import::with_paths(settings, &paths, &asked)?;
    filter.suites.extend(suites);
    policy::refuse_margins(&arguments.judging)?;
    let policy = policy::policy_with_options(settings, &arguments.judging)?;
    let mut warehouse = settings.open_warehouse()?;
    let filter = selection::with_model_names(&warehouse, filter);
    selection::check_filter(&warehouse, &filter)?;
    let suites = noise_ledgers(&warehouse, &filter, &policy);
    settings.close_warehouse(&mut warehouse)?;
    if suites.is_empty() {
        return Err(CommandFailure::new("noise is measured on items that passed or failed, and no run has two of them")
            .with_hint("give the table a column that says which items passed; scores alone are compared by `evalreport compare`"));
    }
    let tables: Vec<_> = suites.iter().flat_map(ledger_tables).collect();
    output::print_answer(settings, "noise", &tables, || NoiseAnswer { suites })?;
    Ok(exit_code::DONE)
}
