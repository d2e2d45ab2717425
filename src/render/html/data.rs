//! The pages' numbers for programs, spreadsheets and people: JSON with everything, CSV in full precision, and for useful tables the
//! Markdown that the command of the same name prints.

use serde::Serialize;

use crate::render::table::ReportTable;
use crate::render::{
    abilities, audit as audits, board, claims as published_figures, comparison, csv, history,
    horizons, items, json, judged, markdown, overall as over_suites, tables,
};
use crate::views::{
    Arm, Board, Comparison, CriteriaTable, CriterionCell, CriterionRow, CriterionVerdict,
    Distribution, Entry, Estimate, Front, ItemMatrix, ItemPage, ItemRow, Money, Overview,
    OverviewSuite, Pareto, PriceInterval, RunLine, RunPage, RunStated, SiteContext, SortKey,
    SuiteBoard,
};

use super::SiteFile;
use super::routes::{RunRoutes, SuiteRoutes};

/// A suite's data without its pairs, which have files of their own.
#[derive(Serialize)]
struct SuiteDataAnswer<'a> {
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
    vec![
        json_file("data/leaderboard", "leaderboard", answer),
        csv_file("data/leaderboard", csv::write_tables(&shown)),
        markdown_file("data/leaderboard", &shown),
        csv_file(
            "data/runs",
            csv::write_table(&tables::runs_table(overview.runs_by_name())),
        ),
    ]
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
    vec![
        json_file("data/overall", "leaderboard", answer),
        csv_file("data/overall", csv::write_tables(&shown)),
        markdown_file("data/overall", &shown),
    ]
}

/// Makes the data of one suite: leaderboard, newest batches and runs.
pub(super) fn suite_files(
    context: &SiteContext,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
) -> Vec<SiteFile> {
    let charts = &suite.charts;
    let answer = SuiteDataAnswer {
        board: &suite.board,
        tables: &suite.tables,
        criteria: &suite.criteria,
        runs: &suite.runs,
        stated: &suite.stated,
        pareto: charts.pareto.as_ref(),
        cost: charts.cost.as_ref(),
        duration: charts.duration.as_ref(),
    };
    let stem = place.data_stem("suites");
    let shown = tables::with_scope_notes(
        vec![board::annotated_table(&suite.board)],
        suite.retracted,
        context.aliased,
    );
    let mut files = vec![
        json_file(&stem, "suite", answer),
        csv_file(&stem, csv::write_tables(&shown)),
        markdown_file(&stem, &shown),
    ];
    if let Some(disagreements) = &charts.disagreements {
        files.push(json_file(
            &format!("{}/index", place.data_stem("compare")),
            "disagreements",
            disagreements,
        ));
    }
    files
}

/// Makes the data of one suite's audit: the answer of the command of that name.
pub(super) fn audit_files(suite: &OverviewSuite, place: &SuiteRoutes) -> Vec<SiteFile> {
    let Some(audit) = &suite.audit else {
        return Vec::new();
    };
    let shown = audits::place_and_standard_tables(audit);
    let stem = place.data_stem("audit");
    let answer = json::AuditAnswer {
        audits: vec![audit.clone()],
        without: Vec::new(),
        claims: None,
    };
    vec![
        json_file(&stem, "audit", answer),
        csv_file(&stem, csv::write_tables(&shown)),
        markdown_file(&stem, &shown),
    ]
}

/// Makes the data of one suite's abilities and time horizons: the answers of the commands.
pub(super) fn fit_files(suite: &OverviewSuite, place: &SuiteRoutes) -> Vec<SiteFile> {
    let mut files = Vec::new();
    if let Some(apart) = &suite.abilities {
        let shown = [
            abilities::arms_table(&apart.found),
            abilities::difficulty_table(&apart.found),
        ];
        let stem = place.data_stem("abilities");
        let answer = json::AbilitiesAnswer {
            boards: vec![apart.found.clone()],
            without: Vec::new(),
        };
        files.extend([
            json_file(&stem, "fit-abilities", answer),
            csv_file(&stem, csv::write_tables(&shown)),
            markdown_file(&stem, &shown),
        ]);
    }
    if let Some(found) = &suite.horizons {
        let shown = [horizons::arms_table(found)];
        let stem = place.data_stem("horizons");
        let answer = json::HorizonsAnswer {
            suites: vec![found.clone()],
        };
        files.extend([
            json_file(&stem, "fit-horizons", answer),
            csv_file(&stem, csv::write_tables(&shown)),
            markdown_file(&stem, &shown),
        ]);
    }
    files
}

/// Makes the data of the published figures about a suite: the answer of `audit --claims`.
pub(super) fn published_figure_files(suite: &OverviewSuite, place: &SuiteRoutes) -> Vec<SiteFile> {
    let Some(claims) = &suite.claims else {
        return Vec::new();
    };
    let shown = published_figures::finding_and_check_tables(&claims.audit);
    let stem = place.data_stem("published");
    let answer = json::AuditAnswer {
        audits: Vec::new(),
        without: Vec::new(),
        claims: Some(claims.audit.clone()),
    };
    vec![
        json_file(&stem, "audit", answer),
        csv_file(&stem, csv::write_tables(&shown)),
        markdown_file(&stem, &shown),
    ]
}

/// Makes the data of one suite's items by arm.
pub(super) fn item_files(suite: &OverviewSuite, place: &SuiteRoutes) -> Vec<SiteFile> {
    let matrix = &suite.items;
    if matrix.items.is_empty() {
        return Vec::new();
    }
    let answer = ItemsAnswer {
        suite: &suite.board.suite,
        suite_version: suite.board.suite_version.as_deref(),
        matrix,
    };
    let stem = place.data_stem("items");
    vec![
        json_file(&stem, "items", answer),
        csv_file(&stem, csv::write_table(&items::matrix_table(matrix))),
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
pub(super) fn criteria_files(suite: &OverviewSuite, place: &SuiteRoutes) -> Vec<SiteFile> {
    if suite.criteria.is_empty() {
        return Vec::new();
    }
    let criteria = suite
        .criteria
        .iter()
        .flat_map(|table| table.rows.iter().map(|row| criterion_answer(table, row)))
        .collect();
    let answer = CriteriaAnswer {
        suite: &suite.board.suite,
        suite_version: suite.board.suite_version.as_deref(),
        criteria,
    };
    let shown: Vec<ReportTable> = suite
        .criteria
        .iter()
        .map(|table| judged::criteria_by_arm(&suite.board, table))
        .collect();
    let stem = place.data_stem("criteria");
    vec![
        json_file(&stem, "criteria", answer),
        csv_file(&stem, csv::write_tables(&shown)),
        markdown_file(&stem, &shown),
    ]
}

fn criterion_answer<'a>(table: &'a CriteriaTable, row: &'a CriterionRow) -> CriterionAnswer<'a> {
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
pub(super) fn history_files(
    context: &SiteContext,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
) -> Vec<SiteFile> {
    let Some(history) = &suite.history else {
        return Vec::new();
    };
    let nights = history::arm_nights_table(history, usize::MAX);
    let spreadsheet = csv::write_table(&nights);
    let shown = tables::with_scope_notes(
        vec![history::trend_table(history), nights],
        suite.retracted,
        context.aliased,
    );
    let answer = json::HistoryAnswer {
        histories: vec![history.clone()],
        retracted: suite.retracted,
    };
    let stem = place.data_stem("history");
    vec![
        json_file(&stem, "history", answer),
        csv_file(&stem, spreadsheet),
        markdown_file(&stem, &shown),
    ]
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
    vec![
        json_file("data/cost", "cost", answer),
        csv_file("data/cost", csv::write_tables(&shown)),
        markdown_file("data/cost", &shown),
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
        vec![comparison::annotated_table(pair)],
        suite.retracted,
        context.aliased,
    );
    vec![
        json_file(&stem, "compare", answer),
        csv_file(&stem, csv::write_tables(&shown)),
        markdown_file(&stem, &shown),
    ]
}

/// Makes the data of one run with all its items.
pub(super) fn run_file(place: &RunRoutes, run: &RunPage, items: &[ItemPage]) -> SiteFile {
    let answer = RunAnswer {
        run,
        items: items.iter().flat_map(|page| &page.rows).collect(),
    };
    json_file(&format!("data/runs/{}", place.segment), "run", answer)
}

fn json_file(stem: &str, kind: &str, answer: impl Serialize) -> SiteFile {
    text_file(format!("{stem}.json"), json::write_document(kind, answer))
}

fn csv_file(stem: &str, text: String) -> SiteFile {
    text_file(format!("{stem}.csv"), text)
}

fn markdown_file(stem: &str, tables: &[ReportTable]) -> SiteFile {
    text_file(format!("{stem}.md"), markdown::write_tables(tables))
}

fn text_file(path: String, text: String) -> SiteFile {
    SiteFile {
        path,
        bytes: text.into_bytes(),
    }
}
