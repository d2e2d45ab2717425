//! `noise`: says where the noise of a suite's runs comes from, and what it hides.

use clap::Args;

use crate::render::json::{AnswerSchema, NoiseAnswer, answer_schema};
use crate::render::noise::ledger_tables;
use crate::views::noise_ledgers;

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::options::{Judging, SuiteOptions};
use super::query::{QueriedRuns, RunQuery};
use super::settings::Settings;
use super::{exit_code, output, policy};

/// Say where the noise of a suite's runs comes from
#[derive(Args)]
pub(super) struct NoiseArguments {
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub about: SuiteOptions,
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
    policy::refuse_margins(&arguments.judging)?;
    let query = RunQuery {
        judging: Some(&arguments.judging),
        compares: true,
        ..arguments.about.query()
    };
    let QueriedRuns {
        ref settings,
        mut warehouse,
        filter,
        policy,
    } = query.open(settings)?;
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
