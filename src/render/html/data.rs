//! The pages' numbers in full precision, for programs and spreadsheets.

use serde::Serialize;

use crate::render::{csv, format, json, nights, words};
use crate::views::{
    Arm, Board, Comparison, CriteriaTable, CriterionCell, CriterionRow, CriterionVerdict, Distribution, Entry, Estimate, Front, ItemLine,
    ItemMatrix, ItemPage, ItemRow, Money, Overview, OverviewSuite, Pareto, PriceInterval, RunLine, RunPage, RunStated, SiteContext,
    SortKey, SuiteBoard,
};

use super::SiteFile;
use super::plan::{RunPlace, SuitePlace};

/// What the site says about a suite, without its pairs, which have files of their own.
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

/// What the site says about money.
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

/// What the site says about a suite's items.
#[derive(Serialize)]
struct ItemsAnswer<'a> {
    suite: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite_version: Option<&'a str>,
    #[serde(flatten)]
    matrix: &'a ItemMatrix,
}

/// What the site says about a run.
#[derive(Serialize)]
struct RunAnswer<'a> {
    run: &'a RunPage,
    items: Vec<&'a ItemRow>,
}

/// All leaderboards.
pub(super) fn boards(overview: &Overview) -> Vec<SiteFile> {
    let board = Board {
        suites: overview.suites.iter().map(|suite| suite.board.clone()).collect(),
        retracted: overview.context.retracted,
        aliased: overview.context.aliased,
        sorted_by: SortKey::PassRate,
    };
    let spreadsheet = table(overview.suites.iter().map(|suite| &suite.board));
    vec![
        file("data/leaderboard.json".to_owned(), json::document("leaderboard", json::LeaderboardAnswer { board, overall: None })),
        file("data/leaderboard.csv".to_owned(), spreadsheet),
    ]
}

/// One suite's leaderboard, newest batches and runs.
pub(super) fn suite(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
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
    let mut files = vec![
        file(format!("data/suites/{}.json", place.segment), json::document("suite", answer)),
        file(format!("data/suites/{}.csv", place.segment), table([&suite.board])),
    ];
    if let Some(disagreements) = &charts.disagreements {
        files.push(file(format!("data/compare/{}/index.json", place.segment), json::document("disagreements", disagreements)));
    }
    files
}

/// One suite's items by arm.
pub(super) fn items(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let matrix = &suite.items;
    if matrix.items.is_empty() {
        return Vec::new();
    }
    let answer = ItemsAnswer { suite: &suite.board.suite, suite_version: suite.board.suite_version.as_deref(), matrix };
    let names = ["item", "kind", "evaluator", "cluster", "passed", "counted", "missing", "rate", "solved_by", "tried_by"];
    let names = names.into_iter().chain(["discrimination", "discrimination_runs", "signs"]).map(str::to_owned);
    let of_arms =
        matrix.arms.iter().flat_map(|arm| ["passed", "counted"].map(|what| csv::text(&format!("{} {what}", words::arm_name(&arm.arm)))));
    let header = names.chain(of_arms).collect();
    let records = std::iter::once(header).chain(matrix.items.iter().map(item_record));
    vec![
        file(format!("data/items/{}.json", place.segment), json::document("items", answer)),
        file(format!("data/items/{}.csv", place.segment), csv::records(records)),
    ]
}

fn item_record(item: &ItemLine) -> Vec<String> {
    let known = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let signs: Vec<&str> = item.signs.iter().map(|sign| super::item::sign_word(*sign)).collect();
    let mut record = vec![
        csv::text(&item.item),
        csv::text(&item.kind),
        csv::text(&item.evaluator),
        csv::text(item.cluster.as_deref().unwrap_or_default()),
        item.passed.to_string(),
        item.counted.to_string(),
        item.missing.to_string(),
        known(item.rate),
        item.solved_by.to_string(),
        item.tried_by.to_string(),
        known(item.discrimination.map(|found| found.value)),
        item.discrimination.map_or_else(String::new, |found| found.n.to_string()),
        signs.join("; "),
    ];
    record.extend(item.cells.iter().flat_map(|cell| [cell.passed.to_string(), cell.counted.to_string()]));
    record
}

/// What the site says about one criterion, as one judge saw it.
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

/// What the site says about a suite's criteria.
#[derive(Serialize)]
struct CriteriaAnswer<'a> {
    suite: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite_version: Option<&'a str>,
    criteria: Vec<CriterionAnswer<'a>>,
}

/// One suite's criteria by arm.
pub(super) fn criteria(suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    if suite.criteria.is_empty() {
        return Vec::new();
    }
    let criteria: Vec<CriterionAnswer<'_>> =
        suite.criteria.iter().flat_map(|table| table.rows.iter().map(|row| of_row(table, row))).collect();
    let names = [
        "criterion",
        "evaluator",
        "judge",
        "approach",
        "model",
        "passed",
        "total",
        "missing",
        "rate",
        "ci95_low",
        "ci95_high",
        "n",
        "n_of",
    ];
    let header = names.map(str::to_owned).to_vec();
    let records = criteria.iter().flat_map(|criterion| criterion.arms.iter().map(|arm| criterion_record(criterion, arm)));
    let spreadsheet = csv::records(std::iter::once(header).chain(records));
    let answer = CriteriaAnswer { suite: &suite.board.suite, suite_version: suite.board.suite_version.as_deref(), criteria };
    vec![
        file(format!("data/criteria/{}.json", place.segment), json::document("criteria", answer)),
        file(format!("data/criteria/{}.csv", place.segment), spreadsheet),
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

fn criterion_record(criterion: &CriterionAnswer<'_>, arm: &ArmOnCriterion<'_>) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let interval = arm.rate.and_then(|rate| rate.interval);
    vec![
        csv::text(criterion.criterion),
        csv::text(criterion.evaluator),
        csv::text(criterion.judge.unwrap_or_default()),
        csv::text(&arm.arm.approach),
        csv::text(&arm.arm.model),
        arm.passed.to_string(),
        arm.total.to_string(),
        arm.missing.to_string(),
        number(arm.rate.map(|rate| rate.value)),
        number(interval.map(|interval| interval.low)),
        number(interval.map(|interval| interval.high)),
        arm.rate.map_or_else(String::new, |rate| rate.n.to_string()),
        arm.rate.map_or_else(String::new, |rate| rate.n_of.to_owned()),
    ]
}

/// One suite over its nights.
pub(super) fn history(context: &SiteContext, suite: &OverviewSuite, place: &SuitePlace) -> Vec<SiteFile> {
    let Some(history) = &suite.history else { return Vec::new() };
    let answer = json::HistoryAnswer { histories: vec![history.clone()], retracted: context.retracted };
    vec![
        file(format!("data/history/{}.json", place.segment), json::document("history", answer)),
        file(format!("data/history/{}.csv", place.segment), csv::table(&nights::table(history, usize::MAX))),
    ]
}

/// The bill of every suite and arm.
pub(super) fn cost(overview: &Overview) -> SiteFile {
    file("data/cost.json".to_owned(), json::document("cost", CostAnswer { suites: overview.suites.iter().map(suite_cost).collect() }))
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

/// One pair.
pub(super) fn pair(context: &SiteContext, place: &SuitePlace, pair: &Comparison) -> Option<SiteFile> {
    let answer = json::CompareAnswer { comparisons: vec![pair.clone()], apart: Vec::new(), retracted: context.retracted };
    Some(file(format!("data/{}.json", place.pair_stem(pair)?), json::document("compare", answer)))
}

/// One run with all its items.
pub(super) fn run(place: &RunPlace, run: &RunPage, items: &[ItemPage]) -> SiteFile {
    let answer = RunAnswer { run, items: items.iter().flat_map(|page| &page.rows).collect() };
    file(format!("data/runs/{}.json", place.segment), json::document("run", answer))
}

fn file(path: String, text: String) -> SiteFile {
    SiteFile { path, bytes: text.into_bytes() }
}

/// Writes boards as one table, a row for each arm.
fn table<'a>(boards: impl IntoIterator<Item = &'a SuiteBoard>) -> String {
    let header = [
        "suite",
        "suite_version",
        "position",
        "rank_best",
        "rank_worst",
        "is_leading",
        "letters",
        "p_best",
        "approach",
        "model",
        "runs",
        "failed_runs",
        "excluded_runs",
        "pass_rate",
        "ci95_low",
        "ci95_high",
        "method",
        "n",
        "n_of",
        "passed",
        "total",
        "missing",
        "cost_usd",
        "cost_is_lower_bound",
        "cost_per_solved_usd",
        "cost_front",
        "tokens_mean",
        "duration_seconds_median",
        "duration_seconds_p90",
        "duration_front",
        "disagreeing_runs",
        "newest",
    ];
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    let rows = boards.into_iter().flat_map(|board| (1..).zip(&board.entries).map(move |(position, entry)| record(board, position, entry)));
    csv::records(std::iter::once(header).chain(rows))
}

fn record(board: &SuiteBoard, position: u64, entry: &Entry) -> Vec<String> {
    fn known<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let rate = entry.pass_rate.as_ref();
    let standing = entry.standing.as_ref();
    let interval = rate.and_then(|rate| rate.interval);
    let front = |front: Option<&Front>| csv::text(&front.map_or_else(String::new, |front| words::front(front, words::arm_name)));
    let method = rate.and_then(|rate| serde_json::to_value(rate.method).ok());
    vec![
        csv::text(&board.suite),
        csv::text(board.suite_version.as_deref().unwrap_or_default()),
        position.to_string(),
        known(standing.map(|standing| standing.rank.best)),
        known(standing.map(|standing| standing.rank.worst)),
        known(standing.map(|standing| standing.is_leading)),
        standing.and_then(|standing| standing.letters.clone()).unwrap_or_default(),
        known(standing.and_then(|standing| standing.p_best)),
        csv::text(&entry.arm.approach),
        csv::text(&entry.arm.model),
        entry.runs.to_string(),
        entry.failed_runs.to_string(),
        entry.excluded_runs.to_string(),
        known(rate.map(|rate| rate.value)),
        known(interval.map(|interval| interval.low)),
        known(interval.map(|interval| interval.high)),
        method.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
        known(rate.map(|rate| rate.n)),
        rate.map_or_else(String::new, |rate| rate.n_of.to_owned()),
        known(rate.and_then(|rate| rate.passed)),
        known(rate.and_then(|rate| rate.total)),
        known(rate.map(|rate| rate.missing)),
        known(entry.cost.as_ref().map(|money| money.usd)),
        known(entry.cost.as_ref().map(|money| money.is_lower_bound)),
        known(entry.cost_per_solved_usd),
        front(entry.cost_front.as_ref()),
        known(entry.tokens.as_ref().map(|figure| figure.summary.mean)),
        known(entry.duration.as_ref().map(|spread| spread.median)),
        known(entry.duration.as_ref().and_then(|spread| spread.p90)),
        front(entry.duration_front.as_ref()),
        entry.disagreeing_runs.to_string(),
        entry.newest.as_ref().map_or_else(String::new, format::timestamp),
    ]
}
