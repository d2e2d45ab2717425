//! The pages' numbers for programs, spreadsheets and people: JSON with everything, CSV in full precision, and for useful tables the
//! Markdown that the command of the same name prints.

use serde::Serialize;

use crate::render::table::Table;
use crate::render::{
    abilities, audit as audits, board, claims as published_figures, comparison, csv, horizons,
    items, json, judged, markdown, nights, overall as over_suites, tables,
};
use crate::views::{
    Arm, Board, Comparison, CriteriaTable, CriterionCell, CriterionRow, CriterionVerdict,
    Distribution, Entry, Estimate, Front, ItemMatrix, ItemPage, ItemRow, Money, Overview,
    OverviewSuite, Pareto, PriceInterval, RunLine, RunPage, RunStated, SiteContext, SortKey,
    SuiteBoard,
};

use super::SiteFile;
use super::plan::{RunPlace, SuitePlace};

/// A suite's data without its pairs, which have files of their own.
#[derive(Serialize)]
struct SuiteAnswer<'a> {
    board: &'a SuiteBoard,
    tables: &'a [Comparison],
    #[serde(skip_serializing_if = "<[CriteriaTable]>::is_empty")]
    criteria: &'a [CriteriaTable],
    runs: &'a [RunLine],
    #[serde(skip_serializing_if = "<[RunStated]>::is_empty")]
    stated: &'a [RunStated],
    #[serde(skip_serializing_if = "Option::is_none")]
    pareto: Option<&'a Pareto>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<&'a Distribution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<&'a Distribution>,
}

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

/// A suite's items.
#[derive(Serialize)]
struct ItemsAnswer<'a> {
    suite: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite_version: Option<&'a str>,
    #[serde(flatten)]
    matrix: &'a ItemMatrix,
}

/// A run's data.
#[derive(Serialize)]
struct RunAnswer<'a> {
    run: &'a RunPage,
    items: Vec<&'a ItemRow>,
}

/// Makes the data of all leaderboards and all runs.
pub(super) fn boards(overview: &Overview) -> Vec<SiteFile> {
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
    let shown = tables::boards(&board);
    let answer = json::LeaderboardAnswer {
        board,
        overall: None,
    };
    vec![
        json("data/leaderboard", "leaderboard", answer),
        csv("data/leaderboard", csv::tables(&shown)),
        markdown("data/leaderboard", &shown),
        csv(
            "data/runs",
            csv::table(&tables::runs(overview.runs_by_name())),
        ),
    ]
}

/// Makes the data of the board over all suites.
pub(super) fn overall(overview: &Overview) -> Vec<SiteFile> {
    let Some(overall) = &overview.overall else {
        return Vec::new();
    };
    let board = Board {
        suites: Vec::new(),
        retracted: overview.context.retracted,
        aliased: overview.context.aliased,
        sorted_by: SortKey::PassRate,
    };
    let shown = [over_suites::table(overall)];
    let answer = json::LeaderboardAnswer {
        board,
        overall: Some(overall.clone()),
    };
    vec![
        json("data/overall", "leaderboard", answer),
        csv("data/overall", csv::tables(&shown)),
        markdown("data/overall", &shown),
    ]
}

/// Makes the data of one suite: leaderboard, newest batches and runs.
pub(super) fn suite(
    context: &SiteContext,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Vec<SiteFile> {
    let charts = &suite.charts;
    let answer = SuiteAnswer {
        board: &suite.board,
        tables: &suite.tables,
        criteria: &suite.criteria,
        runs: &suite.runs,
        stated: &suite.stated,
        pareto: charts.pareto.as_ref(),
        cost: charts.cost.as_ref(),
        duration: charts.duration.as_ref(),
    };
    let stem = place.data("suites");
    let shown = tables::scoped(
        vec![board::table(&suite.board)],
        suite.retracted,
        context.aliased,
    );
    let mut files = vec![
        json(&stem, "suite", answer),
        csv(&stem, csv::tables(&shown)),
        markdown(&stem, &shown),
    ];
    if let Some(disagreements) = &charts.disagreements {
        files.push(json(
            &format!("{}/index", place.data("compare")),
            "disagreements",
            disagreements,
        ));
    }
    files
}

/// Makes the data of one suite's audit: the answer of the command of that name.
pub(super) fn audit(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let Some(audit) = &suite.audit else {
        return Vec::new();
    };
    let shown = audits::tables(audit);
    let stem = place.data("audit");
    let answer = json::AuditAnswer {
        audits: vec![audit.clone()],
        without: Vec::new(),
        claims: None,
    };
    vec![
        json(&stem, "audit", answer),
        csv(&stem, csv::tables(&shown)),
        markdown(&stem, &shown),
    ]
}

/// Makes the data of one suite's abilities and time horizons: the answers of the commands.
pub(super) fn fits(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let mut files = Vec::new();
    if let Some(apart) = &suite.abilities {
        let shown = [
            abilities::table(&apart.found),
            abilities::items(&apart.found),
        ];
        let stem = place.data("abilities");
        let answer = json::AbilitiesAnswer {
            boards: vec![apart.found.clone()],
            without: Vec::new(),
        };
        files.extend([
            json(&stem, "fit-abilities", answer),
            csv(&stem, csv::tables(&shown)),
            markdown(&stem, &shown),
        ]);
    }
    if let Some(found) = &suite.horizons {
        let shown = [horizons::table(found)];
        let stem = place.data("horizons");
        let answer = json::HorizonsAnswer {
            suites: vec![found.clone()],
        };
        files.extend([
            json(&stem, "fit-horizons", answer),
            csv(&stem, csv::tables(&shown)),
            markdown(&stem, &shown),
        ]);
    }
    files
}

/// Makes the data of the published figures about a suite: the answer of `audit --claims`.
pub(super) fn published(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let Some(claims) = &suite.claims else {
        return Vec::new();
    };
    let shown = published_figures::tables(&claims.audit);
    let stem = place.data("published");
    let answer = json::AuditAnswer {
        audits: Vec::new(),
        without: Vec::new(),
        claims: Some(claims.audit.clone()),
    };
    vec![
        json(&stem, "audit", answer),
        csv(&stem, csv::tables(&shown)),
        markdown(&stem, &shown),
    ]
}

/// Makes the data of one suite's items by arm.
pub(super) fn items(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let matrix = &suite.items;
    if matrix.items.is_empty() {
        return Vec::new();
    }
    let answer = ItemsAnswer {
        suite: &suite.board.suite,
        suite_version: suite.board.suite_version.as_deref(),
        matrix,
    };
    let stem = place.data("items");
    vec![
        json(&stem, "items", answer),
        csv(&stem, csv::table(&items::table(matrix))),
    ]
}

/// One criterion according to one judge.
#[derive(Serialize)]
struct CriterionAnswer<'a> {
    criterion: &'a str,
    evaluator: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<&'a str>,
    arms: Vec<ArmOnCriterion<'a>>,
}

#[derive(Serialize)]
struct ArmOnCriterion<'a> {
    #[serde(flatten)]
    arm: &'a Arm,
    passed: u64,
    total: u64,
    missing: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<&'a Estimate>,
    verdicts: &'a [CriterionVerdict],
}

/// A suite's criteria.
#[derive(Serialize)]
struct CriteriaAnswer<'a> {
    suite: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite_version: Option<&'a str>,
    criteria: Vec<CriterionAnswer<'a>>,
}

/// Makes the data of one suite's criteria by arm.
pub(super) fn criteria(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    if suite.criteria.is_empty() {
        return Vec::new();
    }
    let criteria = suite
        .criteria
        .iter()
        .flat_map(|table| table.rows.iter().map(|row| of_row(table, row)))
        .collect();
    let answer = CriteriaAnswer {
        suite: &suite.board.suite,
        suite_version: suite.board.suite_version.as_deref(),
        criteria,
    };
    let shown: Vec<Table> = suite
        .criteria
        .iter()
        .map(|table| judged::criteria_by_arm(&suite.board, table))
        .collect();
    let stem = place.data("criteria");
    vec![
        json(&stem, "criteria", answer),
        csv(&stem, csv::tables(&shown)),
        markdown(&stem, &shown),
    ]
}

fn of_row<'a>(table: &'a CriteriaTable, row: &'a CriterionRow) -> CriterionAnswer<'a> {
    let arm = |(arm, cell): (&'a Arm, &'a CriterionCell)| ArmOnCriterion {
        arm,
        passed: cell.passed,
        total: cell.total,
        missing: cell.missing,
        rate: cell.rate.as_ref(),
        verdicts: &cell.verdicts,
    };
    CriterionAnswer {
        criterion: &row.criterion,
        evaluator: &table.evaluator,
        judge: table.judge.as_deref(),
        arms: table.arms.iter().zip(&row.cells).map(arm).collect(),
    }
}

/// Makes the data of one suite's nights.
pub(super) fn history(
    context: &SiteContext,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Vec<SiteFile> {
    let Some(history) = &suite.history else {
        return Vec::new();
    };
    let nights = nights::table(history, usize::MAX);
    let spreadsheet = csv::table(&nights);
    let shown = tables::scoped(
        vec![nights::levels(history), nights],
        suite.retracted,
        context.aliased,
    );
    let answer = json::HistoryAnswer {
        histories: vec![history.clone()],
        retracted: suite.retracted,
    };
    let stem = place.data("history");
    vec![
        json(&stem, "history", answer),
        csv(&stem, spreadsheet),
        markdown(&stem, &shown),
    ]
}

/// Makes the data of all costs, by suite and arm.
pub(super) fn cost(overview: &Overview) -> Vec<SiteFile> {
    let answer = CostAnswer {
        suites: overview.suites.iter().map(suite_cost).collect(),
    };
    let shown: Vec<Table> = overview
        .suites
        .iter()
        .map(|suite| {
            board::costs(
                &suite.board,
                &suite.board.entries,
                suite.charts.spent.as_ref(),
            )
        })
        .collect();
    vec![
        json("data/cost", "cost", answer),
        csv("data/cost", csv::tables(&shown)),
        markdown("data/cost", &shown),
    ]
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
pub(super) fn pair(
    context: &SiteContext,
    suite: &OverviewSuite,
    place: &SuitePlace,
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
    let shown = tables::scoped(
        vec![comparison::table(pair)],
        suite.retracted,
        context.aliased,
    );
    vec![
        json(&stem, "compare", answer),
        csv(&stem, csv::tables(&shown)),
        markdown(&stem, &shown),
    ]
}

/// Makes the data of one run with all its items.
pub(super) fn run(place: &RunPlace, run: &RunPage, items: &[ItemPage]) -> SiteFile {
    let answer = RunAnswer {
        run,
        items: items.iter().flat_map(|page| &page.rows).collect(),
    };
    json(&format!("data/runs/{}", place.segment), "run", answer)
}

fn json(stem: &str, kind: &str, answer: impl Serialize) -> SiteFile {
    file(format!("{stem}.json"), json::document(kind, answer))
}

fn csv(stem: &str, text: String) -> SiteFile {
    file(format!("{stem}.csv"), text)
}

fn markdown(stem: &str, tables: &[Table]) -> SiteFile {
    file(format!("{stem}.md"), markdown::tables(tables))
}

fn file(path: String, text: String) -> SiteFile {
    SiteFile {
        path,
        bytes: text.into_bytes(),
    }
}
