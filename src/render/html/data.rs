//! The pages' numbers for programs, spreadsheets and people: JSON with everything, CSV in full precision, and for useful tables the
//! Markdown that the command of the same name prints.

use serde::Serialize;

use crate::render::table::ReportTable;
use crate::render::{board, comparison, csv, json, markdown, overall as over_suites, tables};
use crate::views::{
    Arm, Board, Comparison, Entry, Estimate, Front, ItemPage, ItemRow, Money, Overview,
    OverviewSuite, Pareto, PriceInterval, RunPage, SiteContext, SortKey,
};

use super::SiteFile;
use super::routes::{RunRoutes, SuiteRoutes};
use super::shard;

/// Costs of all suites.
#[derive(Serialize)]
struct CostAnswer<'a> {
    suites: Vec<SuiteCost<'a>>,
}

#[derive(Serialize)]
struct SuiteCost<'a> {
    suite: &'a str,
    spent: Option<&'a Money>,
    arms: Vec<ArmCost<'a>>,
    pareto: Option<&'a Pareto>,
}

#[derive(Serialize)]
struct ArmCost<'a> {
    #[serde(flatten)]
    arm: &'a Arm,
    cost: Option<&'a Money>,
    cost_per_solved_usd: Option<f64>,
    cost_per_solved_interval: Option<&'a PriceInterval>,
    pass_rate: Option<&'a Estimate>,
    cost_front: Option<&'a Front>,
}

/// A run's data.
#[derive(Serialize)]
struct RunAnswer<'a> {
    run: &'a RunPage,
    items: Vec<&'a ItemRow>,
}

/// Makes the data of all leaderboards and all runs.
pub(super) fn leaderboard_files(overview: &Overview) -> Vec<SiteFile> {
    let board = Board {
        suites: overview
            .suites
            .iter()
            .map(|suite| suite.board.clone())
            .collect(),
        retracted: overview.context.retracted,
        aliased: overview.context.aliased,
        sorted_by: SortKey::PassRate,
    };
    let shown = tables::board_tables(&board);
    let answer = json::LeaderboardAnswer {
        board,
        overall: None,
    };
    let runs = tables::runs_table(overview.runs_by_name());
    vec![json_file("data/leaderboard", "leaderboard", answer)]
        .into_iter()
        .chain(table_files(
            "data/leaderboard",
            csv::write_tables(&shown),
            &shown,
        ))
        .chain(table_files("data/runs", csv::write_table(&runs), &[runs]))
        .collect()
}

/// Makes the data of the board over all suites.
pub(super) fn overall_files(overview: &Overview) -> Vec<SiteFile> {
    let Some(overall) = &overview.overall else {
        return Vec::new();
    };
    let board = Board {
        suites: Vec::new(),
        retracted: overview.context.retracted,
        aliased: overview.context.aliased,
        sorted_by: SortKey::PassRate,
    };
    let shown = [over_suites::suite_means_table(overall)];
    let answer = json::LeaderboardAnswer {
        board,
        overall: Some(overall.clone()),
    };
    answer_files("data/overall", "leaderboard", answer, &shown)
}

/// Makes the data of all costs, by suite and arm.
pub(super) fn cost_files(overview: &Overview) -> Vec<SiteFile> {
    let answer = CostAnswer {
        suites: overview.suites.iter().map(suite_cost).collect(),
    };
    let shown: Vec<ReportTable> = overview
        .suites
        .iter()
        .map(|suite| {
            board::costs_table(
                &suite.board,
                &suite.board.entries,
                suite.charts.spent.as_ref(),
            )
        })
        .collect();
    answer_files("data/cost", "cost", answer, &shown)
}

fn suite_cost(suite: &OverviewSuite) -> SuiteCost<'_> {
    SuiteCost {
        suite: &suite.board.suite,
        spent: suite.charts.spent.as_ref(),
        arms: suite.board.entries.iter().map(arm_cost).collect(),
        pareto: suite.charts.pareto.as_ref(),
    }
}

fn arm_cost(entry: &Entry) -> ArmCost<'_> {
    ArmCost {
        arm: &entry.arm,
        cost: entry.cost.as_ref(),
        cost_per_solved_usd: entry.cost_per_solved_usd,
        cost_per_solved_interval: entry.cost_per_solved_interval.as_ref(),
        pass_rate: entry.pass_rate.as_ref(),
        cost_front: entry.cost_front.as_ref(),
    }
}

/// Makes the data of one pair. Empty unless the comparison has two arms.
pub(super) fn pair_files(
    context: &SiteContext,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    pair: &Comparison,
) -> Vec<SiteFile> {
    let Some(stem) = place.pair_stem(pair).map(|stem| format!("data/{stem}")) else {
        return Vec::new();
    };
    let answer = json::CompareAnswer {
        comparisons: vec![pair.clone()],
        apart: Vec::new(),
        taken: None,
        retracted: suite.retracted,
    };
    let shown = tables::with_scope_notes(
        vec![comparison::annotated_table(pair).with_all_rows()],
        suite.retracted,
        context.aliased,
    );
    answer_files(&stem, "compare", answer, &shown)
}

/// Makes the data of one run with all its items.
pub(super) fn run_file(place: &RunRoutes, run: &RunPage, items: &[ItemPage]) -> SiteFile {
    let answer = RunAnswer {
        run,
        items: items.iter().flat_map(|page| &page.rows).collect(),
    };
    json_file(&format!("data/runs/{}", place.segment), "run", answer)
}

/// Makes the files of an answer and of its tables, as the command of the answer writes them.
pub(super) fn answer_files(
    stem: &str,
    kind: &str,
    answer: impl Serialize,
    shown: &[ReportTable],
) -> Vec<SiteFile> {
    std::iter::once(json_file(stem, kind, answer))
        .chain(table_files(stem, csv::write_tables(shown), shown))
        .collect()
}

/// Makes tables as CSV and Markdown, and as a script that hands both texts to the page: a page opened from disk can read no other file.
pub(super) fn table_files(stem: &str, csv: String, shown: &[ReportTable]) -> [SiteFile; 3] {
    let markdown = markdown::write_tables(shown);
    let copied = shard::tables_script(stem, &csv, &markdown);
    [
        csv_file(stem, csv),
        text_file(format!("{stem}.md"), markdown),
        copied,
    ]
}

pub(super) fn json_file(stem: &str, kind: &str, answer: impl Serialize) -> SiteFile {
    text_file(format!("{stem}.json"), json::write_document(kind, answer))
}

pub(super) fn csv_file(stem: &str, text: String) -> SiteFile {
    text_file(format!("{stem}.csv"), text)
}

fn text_file(path: String, text: String) -> SiteFile {
    SiteFile {
        path,
        bytes: text.into_bytes(),
    }
}
