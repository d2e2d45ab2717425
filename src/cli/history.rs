//! `history`: shows a suite day by day, or commit by commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};

use crate::domain::Filter;
use crate::render::json::{AnswerSchema, HistoryAnswer, answer_schema};
use crate::render::table::ReportTable;
use crate::render::{history, tables};
use crate::run::commit_positions;
use crate::views::{
    CommitOrder, History, HistoryPoints, count_retracted, explain_histories, suite_histories,
};
use crate::warehouse::Warehouse;

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::options::{Engine, Format, Judging, SuiteOptions};
use super::query::{QueriedRuns, RunQuery};
use super::settings::Settings;
use super::{engine, exit_code, output, policy};

/// Show trends, change points, broken and flaky items by day or commit
#[derive(Args)]
pub(super) struct HistoryArguments {
    /// Number of newest days or commits to show for each arm [default: 7; 30 in CSV and Markdown]
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub nights: Option<usize>,
    /// Show all days or commits
    #[arg(long)]
    pub all: bool,
    /// Points of the history: days, or commits in the order of the repository here
    #[arg(long, value_enum, default_value_t = HistoryBy::Day)]
    pub by: HistoryBy,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub about: SuiteOptions,
}

impl Command for HistoryArguments {
    const NAME: &'static str = "history";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport history hello",
            "trends and flaky items of a suite",
        ),
        (
            "evalreport history --nights 7 --format json",
            "the newest seven days, for a program",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("history", answer_schema::<HistoryAnswer>)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

/// What a point of a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum HistoryBy {
    Day,
    Commit,
}

fn run_command(settings: &Settings, arguments: &HistoryArguments) -> Result<u8, CommandFailure> {
    policy::refuse_margins(&arguments.judging)?;
    let query = RunQuery {
        engine: Some(&arguments.engine),
        judging: Some(&arguments.judging),
        ..arguments.about.query()
    };
    let QueriedRuns {
        ref settings,
        mut warehouse,
        filter,
        policy,
    } = query.open(settings)?;
    let points = match arguments.by {
        HistoryBy::Day => HistoryPoints::Days,
        HistoryBy::Commit => order_commits(&warehouse, &filter),
    };
    let mut histories = suite_histories(&warehouse, &filter, &policy, &points);
    explain_histories(&warehouse, &filter, &mut histories).map_err(|error| {
        CommandFailure::new(format!("cannot read the categories of items: {error}"))
    })?;
    let retracted = count_retracted(&warehouse, &filter);
    let usual = match settings.format {
        Format::Table => 7,
        _ => 30,
    };
    let most = if arguments.all {
        usize::MAX
    } else {
        arguments.nights.unwrap_or(usual)
    };
    let of_suite = |history: &History| {
        let nights = history::arm_nights_table(history, most);
        // A spreadsheet takes one table, so CSV has the one with every number.
        if settings.format == Format::Csv {
            vec![nights]
        } else {
            vec![history::trend_table(history), nights]
        }
    };
    // Runs without times have no nights: a sentence says so in place of empty tables.
    let (dated, undated): (Vec<&History>, Vec<&History>) = histories
        .iter()
        .partition(|history| settings.format == Format::Csv || !history.arms.is_empty());
    let mut tables: Vec<ReportTable> = dated.into_iter().flat_map(of_suite).collect();
    tables.extend(history::undated_suites_table(&undated));
    let tables = tables::with_scope_notes(tables, retracted, !warehouse.aliases().is_empty());
    engine::refuse_incomplete(settings, &warehouse)?;
    output::print_answer(settings, "history", &tables, || HistoryAnswer {
        histories,
        retracted,
    })?;
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

/// Orders the commits of the selected runs as the repository here does; if it lacks one of them, all by the time of their first run.
fn order_commits(warehouse: &Warehouse, filter: &Filter) -> HistoryPoints {
    let mut first = BTreeMap::<&str, Option<DateTime<Utc>>>::new();
    for run in warehouse.select_runs(filter).map(|row| &row.run) {
        let Some(git) = &run.git else { continue };
        let known = first.entry(git.rev.as_str()).or_insert(run.timestamp);
        *known = [*known, run.timestamp].into_iter().flatten().min();
    }
    let places = commit_positions(
        Path::new("."),
        &first.keys().copied().collect::<BTreeSet<&str>>(),
    );
    let unknown = (first.len() - places.len()) as u64;
    if unknown == 0 {
        return HistoryPoints::Commits {
            order: CommitOrder::Graph,
            places,
        };
    }
    let mut by_time: Vec<(Option<DateTime<Utc>>, &str)> =
        first.iter().map(|(rev, time)| (*time, *rev)).collect();
    by_time.sort_unstable();
    let places = by_time
        .into_iter()
        .enumerate()
        .map(|(place, (_, rev))| (rev.to_owned(), place))
        .collect();
    HistoryPoints::Commits {
        order: CommitOrder::Time {
            commits: first.len() as u64,
            unknown,
        },
        places,
    }
}
