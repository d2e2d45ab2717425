//! `noise`: says where the noise of a suite's runs comes from, and what it hides.

use crate::render::json::NoiseAnswer;
use crate::render::noise::tables;
use crate::views::noise_ledgers;

use super::arguments::Noise;
use super::failure::Failure;
use super::file_arms::AskedOfFiles;
use super::settings::Settings;
use super::{exit_code, foreign, output, policy, selection};

pub(super) fn run(settings: &Settings, arguments: &Noise) -> Result<u8, Failure> {
    let mut filter = arguments.selection.filter()?;
    let (suites, paths) = foreign::split(settings, &arguments.suites)?;
    let asked =
        AskedOfFiles::take(&arguments.of_files, &mut filter, !paths.is_empty())?.comparing();
    let settings = &foreign::with_paths(settings, &paths, &asked)?;
    filter.suites.extend(suites);
    policy::refuse_margins(&arguments.judging)?;
    let policy = policy::policy(settings, &arguments.judging)?;
    let mut warehouse = settings.open()?;
    let filter = selection::with_model_names(&warehouse, filter);
    selection::check(&warehouse, &filter)?;
    let suites = noise_ledgers(&warehouse, &filter, &policy);
    settings.keep(&mut warehouse)?;
    if suites.is_empty() {
        return Err(Failure::new("noise is measured on items that passed or failed, and no run has two of them")
            .with_hint("give the table a column that says which items passed; scores alone are compared by `evalreport compare`"));
    }
    let tables: Vec<_> = suites.iter().flat_map(tables).collect();
    output::answer(settings, "noise", &tables, || NoiseAnswer { suites })?;
    Ok(exit_code::DONE)
}
