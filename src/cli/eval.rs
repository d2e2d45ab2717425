//! `eval`: asks agents the questions of a file.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config::QuestionBudget;

use super::arms::{ArmFactory, ArmOptions};
use super::command::{Command, Example, Invocation, ResultsUse};
use super::compare::CompareArguments;
use super::execute_plan::{self, RunFolders};
use super::failure::CommandFailure;
use super::leaderboard::LeaderboardArguments;
use super::list::ListArguments;
use super::options::{Carrying, EXIT_CODES};
use super::run::RunArguments;
use super::settings::Settings;
use super::{build, clock, exit_code, preflight, subset, until, versions};

/// Ask agents the questions of a file
#[derive(Args)]
#[command(after_help = EXIT_CODES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct EvalArguments {
    /// Questions: YAML or JSON
    #[arg(value_name = "QUESTIONS", required = true)]
    pub questions: Option<PathBuf>,
    /// Configured agent; commas separate several arms [default: the configuration's]
    #[arg(
        long,
        value_name = "ID",
        value_delimiter = ',',
        help_heading = "What to run"
    )]
    pub agent: Vec<String>,
    /// Suite of the results [default: the file's name]
    #[arg(long, value_name = "NAME", help_heading = "What to run")]
    pub suite: Option<String>,
    #[command(flatten)]
    pub carrying: Carrying,
    #[command(subcommand)]
    pub of_ralph: Option<EvalAlias>,
}

impl Command for EvalArguments {
    const NAME: &'static str = "eval";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport eval questions/warmup.yaml --agent longest-choice",
            "one file of questions",
        ),
        (
            "evalreport eval questions/warmup.yaml --fail-under 10",
            "exit code 1 below 10%",
        ),
    ];
    const UNREAD: &'static [&'static str] = &["output_dir"];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Add, |settings| run_command(settings, self))
    }
}

/// The words of `ralph eval`, each of them a command here.
#[derive(Subcommand)]
#[command(disable_help_subcommand = true)]
pub(super) enum EvalAlias {
    /// Run suites or configured tasks, as `evalreport run`
    #[command(hide = true)]
    Run(Box<RunArguments>),
    /// Compare arms on a suite, as `evalreport compare`
    #[command(hide = true)]
    Compare(Box<CompareArguments>),
    /// List results, as `evalreport list`
    #[command(hide = true)]
    List(Box<ListArguments>),
    /// Rank arms on each suite, as `evalreport leaderboard`
    #[command(hide = true)]
    Leaderboard(Box<LeaderboardArguments>),
}

fn run_command(settings: &Settings, arguments: &EvalArguments) -> Result<u8, CommandFailure> {
    let carrying = &arguments.carrying;
    carrying
        .fail_under
        .map_or(Ok(()), execute_plan::check_percent)?;
    let settings = &settings.with_other_results(carrying.results_folder());
    let report = carrying.report_folder();
    let place = RunFolders {
        site: report.clone(),
        ..RunFolders::new(settings, None)?
    };
    let now = clock::now();
    let maker = ArmFactory {
        config: &settings.config,
        root: &place.root,
        environment: &place.environment,
        now,
    };
    let wanted = ArmOptions {
        approaches: Vec::new(),
        agents: arguments.agent.clone(),
        models: carrying.model.clone(),
    };
    let file = arguments
        .questions
        .as_ref()
        .ok_or_else(|| CommandFailure::new("which file of questions?"))?;
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let suite = arguments.suite.as_deref().or(stem).unwrap_or("questions");
    // The path is absolute, so that the batch can be resumed from any folder.
    let questions = std::path::absolute(file).unwrap_or_else(|_| file.clone());
    let mut arms = maker.arms_of_file(&questions, suite, &wanted, &QuestionBudget::default())?;
    subset::narrow_arms(&mut arms, &until::asked_subset(carrying))?;
    versions::settle_versions(settings, &mut arms);
    let batch = until::plan_runs(settings, &arms, carrying, false, now)?;
    preflight::check_programs(&arms, false, &place.environment, &place.root)?;
    if carrying.dry_run {
        execute_plan::describe_plan(settings, &batch)?;
        return Ok(exit_code::DONE);
    }
    let store = settings.store();
    let _lock = execute_plan::lock_store(&store, false)?;
    batch.save(&store)?;
    // At once: a killed batch has a plan, too.
    settings.append_chain_entry("eval");
    let carried = execute_plan::execute_batch(settings, batch, &arms, carrying, &place)?;
    let code = execute_plan::print_conclusion(settings, &carried, carrying)?.code;
    if code != exit_code::INTERRUPTED
        && let Some(report) = report
    {
        build::write_site(settings, report)?;
    }
    Ok(code)
}
