//! `noise`: says where the noise of a suite's runs comes from, and what it hides.

use clap::Args;

use crate::render::json::{AnswerSchema, NoiseAnswer, answer_schema};
use crate::render::noise::ledger_tables;
use crate::views::noise_ledgers;

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::file_arms::FileOptions;
use super::options::{Judging, OfFiles, Selection};
use super::settings::Settings;
use super::{ad_hoc_import, exit_code, output, policy, selection};

/// Say where the noise of a suite's runs comes from
#[derive(Args)]
pub(super) struct NoiseArguments {
    /// Suites, or paths such as ./logs to other tools' results [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for NoiseArguments {
    const NAME: &'static str = "noise";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport noise hello",
            "the sources of a suite's noise, and items that do not help",
        ),
        (
            "evalreport noise --format json",
            "all suites, for a program",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("noise", answer_schema::<NoiseAnswer>)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

fn run_command(settings: &Settings, arguments: &NoiseArguments) -> Result<u8, CommandFailure> {
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
