//! `leaderboard`: ranks arms, per suite or over all suites.

use std::collections::BTreeMap;
use std::path::Path;

use crate::domain::{Problems, visible};
use crate::import::read_matrix;
use crate::render::json::LeaderboardAnswer;
use crate::render::{comparability, overall, tables};
use crate::views::{
    Board, Grouping, Overall, Pooling, SortKey, leaderboard, overall as over_suites,
    overall_of_table,
};

use super::arguments::{Leaderboard, Mean, Sort};
use super::failure::{self, Failure};
use super::file_arms::AskedOfFiles;
use super::settings::Settings;
use super::{engine, exit_code, foreign, output, policy, selection, unstarted};

pub(super) fn run(settings: &Settings, arguments: &Leaderboard) -> Result<u8, Failure> {
    let weights: BTreeMap<String, f64> = arguments.weight.iter().cloned().collect();
    if arguments.overall == Some(Mean::Micro) && (!weights.is_empty() || arguments.matrix.is_some())
    {
        return Err(Failure::new(
            "a micro mean weighs items, so it has no weights of suites and no table of scores",
        )
        .with_hint("use --overall macro"));
    }
    if let Some(path) = &arguments.matrix {
        return of_table(settings, path, arguments, &weights);
    }
    let settings = &engine::with_engine(
        settings,
        &arguments.engine,
        &[&arguments.suites, &arguments.selection.suite],
    )?;
    let mut filter = arguments.selection.filter()?;
    let (suites, paths) = foreign::split(settings, &arguments.suites)?;
    let asked =
        AskedOfFiles::take(&arguments.of_files, &mut filter, !paths.is_empty())?.comparing();
    let settings = &foreign::with_paths(settings, &paths, &asked)?;
    filter.suites.extend(suites);
    let policy = policy::policy(settings, &arguments.judging)?;
    policy::check_only_pass_rate(&arguments.judging)?;
    let mut warehouse = settings.open_of(&filter.suites)?;
    let filter = selection::with_model_names(&warehouse, filter);
    selection::check(&warehouse, &filter)?;
    policy::check_primaries(settings, &warehouse)?;
    let grouping = if arguments.newest_batch {
        Grouping::NewestBatch
    } else {
        Grouping::AllBatches
    };
    let board = leaderboard(
        &warehouse,
        &filter,
        grouping,
        sort_key(arguments.sort),
        &policy,
        arguments.resample,
    );
    if settings.strict {
        failure::refuse_unlike(&comparability::board_refusals(&board))?;
    }
    unstarted::say(settings, &warehouse, &filter);
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
        known_suites(&weights, overall)?;
    }
    let tables = match &pooled {
        Some(overall) => tables::scoped(
            vec![overall::table(overall)],
            board.retracted,
            board.aliased,
        ),
        None => tables::boards(&board),
    };
    engine::refuse_incomplete(settings, &warehouse)?;
    output::answer(settings, "leaderboard", &tables, || LeaderboardAnswer {
        board,
        overall: pooled,
    })?;
    settings.keep(&mut warehouse)?;
    Ok(exit_code::DONE)
}

fn of_table(
    settings: &Settings,
    path: &Path,
    arguments: &Leaderboard,
    weights: &BTreeMap<String, f64>,
) -> Result<u8, Failure> {
    let matrix = read_matrix(path).map_err(|problems| Failure::from(Problems(problems)))?;
    let pooled = overall_of_table(&super::audit::board_of(path, matrix), weights);
    known_suites(weights, &pooled)?;
    let board = Board {
        suites: Vec::new(),
        retracted: 0,
        aliased: false,
        sorted_by: sort_key(arguments.sort),
    };
    let table = overall::table(&pooled);
    output::answer(settings, "leaderboard", &[table], || LeaderboardAnswer {
        board,
        overall: Some(pooled),
    })?;
    Ok(exit_code::DONE)
}

/// Refuses weights of suites that are not on the board.
fn known_suites(weights: &BTreeMap<String, f64>, overall: &Overall) -> Result<(), Failure> {
    match weights.keys().find(|suite| !overall.suites.contains(suite)) {
        Some(suite) => Err(Failure::new(format!(
            "--weight: the board has no suite `{}`",
            visible(suite)
        ))
        .with_hint("`evalreport list` shows the suites")),
        None => Ok(()),
    }
}

fn sort_key(sort: Sort) -> SortKey {
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
