//! `leaderboard`: ranks arms, per suite or over all suites.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::domain::{Problems, escape_invisible};
use crate::import::read_matrix;
use crate::render::json::{AnswerSchema, LeaderboardAnswer, leaderboard_schema};
use crate::render::{comparability, overall, tables};
use crate::views::{
    Board, Overall, Pooling, SortKey, build_boards, combine_suites as over_suites,
    overall_from_table,
};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::{self, CommandFailure};
use super::options::{Engine, Judging, SuiteOptions};
use super::query::{QueriedRuns, RunQuery};
use super::settings::Settings;
use super::{engine, exit_code, output, policy, selection, unstarted};

/// Rank arms on each suite
#[derive(Args)]
pub(super) struct LeaderboardArguments {
    /// Order of arms, best first
    #[arg(long, value_enum, default_value_t = Sort::Primary)]
    pub sort: Sort,
    /// One board over all suites: the mean of suite rates (macro), or all items together (micro)
    #[arg(long, value_enum, value_name = "MEAN")]
    pub overall: Option<Mean>,
    /// Weight of a suite in the macro mean, 1 unless given; repeatable
    #[arg(long, value_name = "SUITE=WEIGHT", requires = "overall", value_parser = parse_weight)]
    pub weight: Vec<(String, f64)>,
    /// With --overall macro: a table of scores instead of suites, with a row for each system and a column for each suite
    #[arg(
        long,
        value_name = "FILE",
        requires = "overall",
        conflicts_with = "suites"
    )]
    pub matrix: Option<PathBuf>,
    /// Take only each arm's newest batch [default: all its runs since the newest change point of a pass rate]
    #[arg(long, conflicts_with = "matrix")]
    pub newest_batch: bool,
    /// Take all nights, also those before a change point: rates are then means of several levels
    #[arg(long, conflicts_with = "newest_batch")]
    pub all_nights: bool,
    /// Show how often each arm ranks first in bootstrap samples of the items; decides nothing
    #[arg(long, alias = "p-best", help_heading = "Evidence")]
    pub resample: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub about: SuiteOptions,
}

impl Command for LeaderboardArguments {
    const NAME: &'static str = "leaderboard";
    const EXAMPLES: [Example; 2] = [
        ("evalreport leaderboard", "a board for each suite"),
        (
            "evalreport leaderboard answers.csv",
            "a board of a table, without importing it",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("leaderboard", leaderboard_schema)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    /// The primary metric: the pass rate, unless the suite has another
    Primary,
    PassRate,
    Cost,
    CostPerSolved,
    Tokens,
    Duration,
    Approach,
    Model,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Mean {
    Macro,
    Micro,
}

/// Parses `suite=2`.
fn parse_weight(text: &str) -> Result<(String, f64), String> {
    let (suite, weight) = text
        .rsplit_once('=')
        .ok_or("write SUITE=WEIGHT, for example basics=2")?;
    let weight: f64 = weight
        .trim()
        .parse()
        .map_err(|_| format!("`{weight}` is no number"))?;
    if weight > 0.0 && weight.is_finite() {
        Ok((suite.to_owned(), weight))
    } else {
        Err("a weight is above 0".to_owned())
    }
}

fn run_command(
    settings: &Settings,
    arguments: &LeaderboardArguments,
) -> Result<u8, CommandFailure> {
    let weights: BTreeMap<String, f64> = arguments.weight.iter().cloned().collect();
    if arguments.overall == Some(Mean::Micro) && (!weights.is_empty() || arguments.matrix.is_some())
    {
        return Err(CommandFailure::new(
            "a micro mean weighs items, so it has no weights of suites and no table of scores",
        )
        .with_hint("use --overall macro"));
    }
    if let Some(path) = &arguments.matrix {
        return rank_table(settings, path, arguments, &weights);
    }
    policy::check_only_pass_rate(&arguments.judging)?;
    let query = RunQuery {
        engine: Some(&arguments.engine),
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
    policy::check_primaries(settings, &warehouse)?;
    let grouping = selection::batch_selection(arguments.newest_batch, arguments.all_nights);
    let board = build_boards(
        &warehouse,
        &filter,
        grouping,
        to_sort_key(arguments.sort),
        &policy,
        arguments.resample,
    );
    if settings.strict {
        failure::refuse_incomparable(&comparability::board_refusals(&board))?;
    }
    unstarted::print_note(settings, &warehouse, &filter);
    policy::warn_primaries(
        settings,
        board
            .suites
            .iter()
            .map(|board| (board.suite.as_str(), board.primary_not_measured.as_ref())),
    );
    let pooling = |mean| {
        if mean == Mean::Macro {
            Pooling::Macro
        } else {
            Pooling::Micro
        }
    };
    let pooled = arguments.overall.map(|mean| {
        over_suites(
            &warehouse,
            &filter,
            &policy,
            (&board, grouping),
            pooling(mean),
            &weights,
        )
    });
    if let Some(overall) = &pooled {
        check_weights(&weights, overall)?;
    }
    let tables = match &pooled {
        Some(overall) => tables::with_scope_notes(
            vec![overall::suite_means_table(overall)],
            board.retracted,
            board.aliased,
        ),
        None => tables::board_tables(&board),
    };
    engine::refuse_incomplete(settings, &warehouse)?;
    output::print_answer(settings, "leaderboard", &tables, || LeaderboardAnswer {
        board,
        overall: pooled,
    })?;
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

fn rank_table(
    settings: &Settings,
    path: &Path,
    arguments: &LeaderboardArguments,
    weights: &BTreeMap<String, f64>,
) -> Result<u8, CommandFailure> {
    let matrix = read_matrix(path).map_err(|problems| CommandFailure::from(Problems(problems)))?;
    let pooled = overall_from_table(&super::audit::board_of(path, matrix), weights);
    check_weights(weights, &pooled)?;
    let board = Board {
        suites: Vec::new(),
        retracted: 0,
        aliased: false,
        sorted_by: to_sort_key(arguments.sort),
    };
    let table = overall::suite_means_table(&pooled);
    output::print_answer(settings, "leaderboard", &[table], || LeaderboardAnswer {
        board,
        overall: Some(pooled),
    })?;
    Ok(exit_code::DONE)
}

/// Refuses weights of suites that are not on the board.
fn check_weights(weights: &BTreeMap<String, f64>, overall: &Overall) -> Result<(), CommandFailure> {
    match weights.keys().find(|suite| !overall.suites.contains(suite)) {
        Some(suite) => Err(CommandFailure::new(format!(
            "--weight: the board has no suite `{}`",
            escape_invisible(suite)
        ))
        .with_hint("`evalreport list` shows the suites")),
        None => Ok(()),
    }
}

fn to_sort_key(sort: Sort) -> SortKey {
    match sort {
        Sort::Primary => SortKey::Primary,
        Sort::PassRate => SortKey::PassRate,
        Sort::Cost => SortKey::Cost,
        Sort::CostPerSolved => SortKey::CostPerSolved,
        Sort::Tokens => SortKey::Tokens,
        Sort::Duration => SortKey::Duration,
        Sort::Approach => SortKey::Approach,
        Sort::Model => SortKey::Model,
    }
}
