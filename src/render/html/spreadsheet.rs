//! The pages' numbers as spreadsheets: a record for each arm, metric, item or run, in full precision.

use serde::Serialize;

use crate::render::{csv, format, words};
use crate::views::{
    Arm, Comparison, ComparisonRow, CriteriaTable, CriterionCell, CriterionRow, Entry, Front, Interval, ItemLine, ItemMatrix, RunLine,
    SuiteBoard,
};

/// Writes boards as one table, a record for each arm.
pub(super) fn boards<'a>(boards: impl IntoIterator<Item = &'a SuiteBoard>) -> String {
    let header = [
        "suite",
        "suite_version",
        "position",
        "rank_best",
        "rank_worst",
        "is_leading",
        "letters",
        "first_in_resamples",
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
    let of_board = |board: &'a SuiteBoard| (1..).zip(&board.entries).map(move |(position, entry)| on_board(board, position, entry));
    sheet(&header, boards.into_iter().flat_map(of_board))
}

fn on_board(board: &SuiteBoard, position: u64, entry: &Entry) -> Vec<String> {
    let rate = entry.pass_rate.as_ref();
    let standing = entry.standing.as_ref();
    let [low, high] = ends(rate.and_then(|rate| rate.interval));
    let [approach, model] = arm(&entry.arm);
    vec![
        csv::text(&board.suite),
        csv::text(board.suite_version.as_deref().unwrap_or_default()),
        position.to_string(),
        known(standing.map(|standing| standing.rank.best)),
        known(standing.map(|standing| standing.rank.worst)),
        known(standing.map(|standing| standing.is_leading)),
        standing.and_then(|standing| standing.letters.clone()).unwrap_or_default(),
        known(standing.and_then(|standing| standing.first_in_resamples)),
        approach,
        model,
        entry.runs.to_string(),
        entry.failed_runs.to_string(),
        entry.excluded_runs.to_string(),
        known(rate.map(|rate| rate.value)),
        low,
        high,
        rate.map(|rate| name(rate.method)).unwrap_or_default(),
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

/// Writes what each arm of each suite cost.
pub(super) fn costs<'a>(boards: impl IntoIterator<Item = &'a SuiteBoard>) -> String {
    let header = [
        "suite",
        "suite_version",
        "approach",
        "model",
        "cost_usd",
        "cost_is_lower_bound",
        "runs_with_cost",
        "runs",
        "cost_per_solved_usd",
        "cost_per_solved_ci95_low",
        "cost_per_solved_ci95_high",
        "pass_rate",
        "pass_rate_ci95_low",
        "pass_rate_ci95_high",
        "cost_front",
    ];
    let record = |board: &SuiteBoard, entry: &Entry| {
        let (rate, cost) = (entry.pass_rate.as_ref(), entry.cost.as_ref());
        let mut record = vec![csv::text(&board.suite), csv::text(board.suite_version.as_deref().unwrap_or_default())];
        record.extend(arm(&entry.arm));
        record.extend([
            known(cost.map(|cost| cost.usd)),
            known(cost.map(|cost| cost.is_lower_bound)),
            known(cost.map(|cost| cost.coverage.known)),
            known(cost.map(|cost| cost.coverage.runs)),
            known(entry.cost_per_solved_usd),
        ]);
        record.extend(ends(entry.cost_per_solved_interval.as_ref().map(|price| price.interval)));
        record.push(known(rate.map(|rate| rate.value)));
        record.extend(ends(rate.and_then(|rate| rate.interval)));
        record.push(front(entry.cost_front.as_ref()));
        record
    };
    sheet(&header, boards.into_iter().flat_map(|board| board.entries.iter().map(move |entry| record(board, entry))))
}

/// Writes two arms side by side, a record for each metric. The difference is the first arm less the second, or their ratio.
pub(super) fn pair(pair: &Comparison) -> String {
    let header = [
        "suite",
        "suite_version",
        "metric",
        "unit",
        "direction",
        "approach_1",
        "model_1",
        "value_1",
        "ci95_low_1",
        "ci95_high_1",
        "passed_1",
        "total_1",
        "n_1",
        "approach_2",
        "model_2",
        "value_2",
        "ci95_low_2",
        "ci95_high_2",
        "passed_2",
        "total_2",
        "n_2",
        "difference",
        "scale",
        "difference_low",
        "difference_high",
        "alpha",
        "design",
        "test",
        "p",
        "p_adjusted",
        "verdict",
        "reason",
    ];
    sheet(&header, pair.rows.iter().map(|row| metric(pair, row)))
}

fn metric(pair: &Comparison, row: &ComparisonRow) -> Vec<String> {
    let mut record = vec![
        csv::text(&pair.suite),
        csv::text(pair.suite_version.as_deref().unwrap_or_default()),
        csv::text(&row.metric.name),
        row.metric.unit.name().to_owned(),
        row.metric.direction.name().to_owned(),
    ];
    for (compared, cell) in pair.arms.iter().zip(&row.cells) {
        let interval = cell.estimate.as_ref().and_then(|rate| rate.interval).or(cell.figure.as_ref().and_then(|figure| figure.interval));
        let n = cell.estimate.as_ref().map(|rate| rate.n).or(cell.figure.as_ref().map(|figure| figure.summary.n));
        record.extend(arm(&compared.arm));
        record.push(known(cell.value));
        record.extend(ends(interval));
        record.extend([cell.passed, cell.total, n].map(known));
    }
    let Some(evidence) = row.evidence.pairs.first() else {
        record.extend(std::iter::repeat_n(String::new(), 11));
        return record;
    };
    let difference = evidence.difference.as_ref();
    let verdict = serde_json::to_value(evidence.verdict).unwrap_or_default();
    let verdict = |key: &str| verdict[key].as_str().unwrap_or_default().to_owned();
    record.extend([known(difference.map(|found| found.value)), difference.map(|found| name(found.scale)).unwrap_or_default()]);
    record.extend(ends(difference.and_then(|found| found.interval)));
    record.extend([
        row.evidence.alpha.to_string(),
        name(evidence.design),
        evidence.test.map(name).unwrap_or_default(),
        known(evidence.p),
        known(evidence.p_adjusted),
        verdict("verdict"),
        verdict("reason"),
    ]);
    record
}

/// Writes items with what each arm made of them.
pub(super) fn items(matrix: &ItemMatrix) -> String {
    let names = ["item", "kind", "evaluator", "cluster", "passed", "counted", "missing", "rate", "solved_by", "tried_by"];
    let names = names.into_iter().chain(["discrimination", "discrimination_runs", "signs"]).map(str::to_owned);
    let of_arms =
        matrix.arms.iter().flat_map(|arm| ["passed", "counted"].map(|what| csv::text(&format!("{} {what}", words::arm_name(&arm.arm)))));
    let header = names.chain(of_arms).collect();
    csv::records(std::iter::once(header).chain(matrix.items.iter().map(item)))
}

fn item(item: &ItemLine) -> Vec<String> {
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
        known(item.discrimination.map(|found| found.n)),
        signs.join("; "),
    ];
    record.extend(item.cells.iter().flat_map(|cell| [cell.passed.to_string(), cell.counted.to_string()]));
    record
}

/// Writes how often each arm met each criterion.
pub(super) fn criteria(tables: &[CriteriaTable]) -> String {
    let header = [
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
    let of_row = |table: &CriteriaTable, row: &CriterionRow| {
        table.arms.iter().zip(&row.cells).map(|(of, cell)| criterion(table, row, of, cell)).collect::<Vec<_>>()
    };
    sheet(&header, tables.iter().flat_map(|table| table.rows.iter().flat_map(move |row| of_row(table, row))))
}

fn criterion(table: &CriteriaTable, row: &CriterionRow, of: &Arm, cell: &CriterionCell) -> Vec<String> {
    let rate = cell.rate.as_ref();
    let [approach, model] = arm(of);
    let [low, high] = ends(rate.and_then(|rate| rate.interval));
    vec![
        csv::text(&row.criterion),
        csv::text(&table.evaluator),
        csv::text(table.judge.as_deref().unwrap_or_default()),
        approach,
        model,
        cell.passed.to_string(),
        cell.total.to_string(),
        cell.missing.to_string(),
        known(rate.map(|rate| rate.value)),
        low,
        high,
        known(rate.map(|rate| rate.n)),
        rate.map_or_else(String::new, |rate| rate.n_of.to_owned()),
    ]
}

/// Writes runs without their items.
pub(super) fn runs(lines: &[&RunLine]) -> String {
    let header = [
        "run",
        "suite",
        "approach",
        "model",
        "status",
        "ended",
        "passed",
        "total",
        "ci95_low",
        "ci95_high",
        "cost_usd",
        "cost_is_lower_bound",
        "tokens",
        "duration_seconds",
        "batch",
        "source",
    ];
    sheet(&header, lines.iter().map(|line| run(line)))
}

fn run(line: &RunLine) -> Vec<String> {
    let [approach, model] = arm(&line.arm);
    let [low, high] = ends(line.interval);
    vec![
        csv::text(&line.id),
        csv::text(&line.suite),
        approach,
        model,
        csv::text(&line.status),
        line.timestamp.as_ref().map_or_else(String::new, format::timestamp),
        known(line.passed),
        known(line.total),
        low,
        high,
        known(line.cost.as_ref().map(|cost| cost.usd)),
        known(line.cost.as_ref().map(|cost| cost.is_lower_bound)),
        known(line.tokens),
        known(line.duration_seconds),
        csv::text(line.batch.as_deref().unwrap_or_default()),
        csv::text(line.source.as_deref().unwrap_or_default()),
    ]
}

fn sheet(header: &[&str], records: impl IntoIterator<Item = Vec<String>>) -> String {
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    csv::records(std::iter::once(header).chain(records))
}

fn arm(arm: &Arm) -> [String; 2] {
    [csv::text(&arm.approach), csv::text(&arm.model)]
}

/// A value, or an empty cell for what was not measured.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn ends(interval: Option<Interval>) -> [String; 2] {
    [known(interval.map(|interval| interval.low)), known(interval.map(|interval| interval.high))]
}

fn front(front: Option<&Front>) -> String {
    csv::text(&front.map_or_else(String::new, |front| words::front(front, words::arm_name)))
}

/// The name that the JSON has for a method, a verdict and the like.
fn name(value: impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
