//! `leaderboard`: ranks arms, per suite or over all suites.

use crate::render::json::LeaderboardAnswer;
use crate::render::{comparability, tables};
use crate::views::{Pooling, SortKey, leaderboard, overall};

use super::arguments::{Leaderboard, Mean, Sort};
use super::failure::{self, Failure};
use super::settings::Settings;
use super::{exit_code, foreign, output, policy, selection};

pub(super) fn run(settings: &Settings, arguments: &Leaderboard) -> Result<u8, Failure> {
    let mut filter = arguments.selection.filter()?;
    let (suites, paths) = foreign::split(settings, &arguments.suites)?;
    let settings = &foreign::with_paths(settings, &paths)?;
    filter.suites.extend(suites);
    let policy = policy::policy(settings, &arguments.judging)?;
    policy::check_only_pass_rate(&arguments.judging)?;
    let mut warehouse = settings.open()?;
    let filter = selection::with_model_names(&warehouse, filter);
    selection::check(&warehouse, &filter)?;
    policy::check_primaries(settings, &warehouse)?;
    let board = leaderboard(&warehouse, &filter, sort_key(arguments.sort), &policy, arguments.resample);
    if settings.strict {
        failure::refuse_unlike(&comparability::board_refusals(&board))?;
    }
    policy::warn_primaries(settings, board.suites.iter().map(|board| (board.suite.as_str(), board.primary_not_measured.as_ref())));
    let pooled = arguments.overall.map(|mean| {
        overall(
            &board,
            match mean {
                Mean::Macro => Pooling::Macro,
                Mean::Micro => Pooling::Micro,
            },
        )
    });
    let tables = match &pooled {
        Some(overall) => tables::scoped(vec![tables::overall(overall)], board.retracted, board.aliased),
        None => tables::boards(&board),
    };
    output::answer(settings, "leaderboard", &tables, || LeaderboardAnswer { board, overall: pooled })?;
    settings.keep(&mut warehouse)?;
    Ok(exit_code::DONE)
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
