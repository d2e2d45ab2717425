//! Two or more arms side by side on one suite.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, ItemKind, Metric, MetricKind, RunStatus, Unit, score_label};
use crate::stats::Interval;
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

use super::arm::{Arm, ArmRuns, SuiteGroup};
use super::comparability::{self, Comparability};
use super::estimate::{Estimate, counts, pass_rate};
use super::evidence::{self, Design, Evidence, Policy, Reason};
use super::exclusions::{ExcludedItem, without_excluded};
use super::figures::{Figure, cost, duration, figure, tokens};
use super::item_scores::{ItemScores, SuiteScores};
use super::judged::{CriterionFlips, verified};
use super::leaderboard::{evaluators_of, group_matrix, newest_score, score_columns};
use super::repeats::possibly_cached;
use super::sample::{Items, Rates};
use super::side::SideBySide;
use super::texts::{ArmTexts, Pairing};

/// One arm's figure for one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// In the metric's unit: the run's value, or the mean over runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Passed and total over the runs, for rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Mean, standard deviation, smallest and largest over the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
    /// The pass rate with its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

/// What a difference is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaUnit {
    /// Relative to the loser.
    Percent,
    PercentagePoints,
    Points,
}

/// How far the leader is from the arm behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Delta {
    pub value: f64,
    pub unit: DeltaUnit,
}

/// Who leads on the numbers shown. Says nothing about evidence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Winner {
    /// `arm` is an index into [`Comparison::arms`]; `over` is the arm it is compared with: the only other one, or the second.
    Leads {
        arm: usize,
        over: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<Delta>,
    },
    /// The best shown value is that of several arms, by their indices.
    Tie { arms: Vec<usize> },
    /// A value is missing, the leading arm has no run that completed, or the metric has no better side.
    NotAvailable,
}

/// One metric across the arms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonRow {
    pub metric: Metric,
    pub cells: Vec<Cell>,
    pub winner: Winner,
    pub evidence: Evidence,
}

/// One arm of the table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedArm {
    #[serde(flatten)]
    pub arm: Arm,
    pub run_ids: Vec<String>,
    /// Counted runs by how they ended, completed ones left out.
    pub not_completed: BTreeMap<String, u64>,
    /// Runs that an outage or an interrupt ended: left out of every figure.
    pub excluded_runs: u64,
    /// Runs of earlier batches, which are not in this table.
    pub earlier_runs: u64,
    pub can_win: bool,
    /// Runs that agree with an earlier one of the arm in every outcome, and in every figure of time, tokens and cost.
    pub possibly_cached: u64,
    /// Counted runs by what their verification came to, as far as they have one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verification: BTreeMap<String, u64>,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub arms: Vec<ComparedArm>,
    pub rows: Vec<ComparisonRow>,
    /// Metrics that no arm has a value for.
    pub not_measured: Vec<String>,
    /// Confidence of every interval.
    pub confidence: f64,
    /// Whether the arms were measured alike, by pair; of pairs of which each has results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comparability: Vec<Comparability>,
    /// Items on which the arms' outcomes can be laid side by side, and how they fell; two arms with outcomes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips: Option<Flips>,
    /// The same on judged criteria, where the caller asked; see [`super::criterion_flips`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<CriterionFlips>,
    /// What both arms said on some of the items that they ended differently, where the caller collected it; see [`super::Sides`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<SideBySide>,
    /// Items that `exclusions.yaml` takes out of every figure of this table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_items: Vec<ExcludedItem>,
    /// The headline rate as it would be with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_excluded: Option<ComparisonRow>,
}

/// How two arms' outcomes fell on shared items. An arm passes an item when it passed more than half of its attempts at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Flips {
    pub shared: u64,
    pub both_passed: u64,
    pub only_first: u64,
    pub only_second: u64,
    pub neither: u64,
    /// The items by name, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<FlippedItems>,
    /// The first items of each of the four outcomes; on the pages of a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<ListedItems>,
}

/// Items kept of each of the four outcomes of a pair.
pub const MOST_LISTED: usize = 200;

/// The items of the four outcomes of a pair, each list by kind, evaluator and name and of at most [`MOST_LISTED`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedItems {
    pub both_passed: Vec<ListedItem>,
    pub only_first: Vec<ListedItem>,
    pub only_second: Vec<ListedItem>,
    pub neither: Vec<ListedItem>,
}

/// One item by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ListedItem {
    pub kind: ItemKind,
    pub item: String,
    /// Tells it from another evaluator's item of the same name.
    #[serde(skip)]
    pub evaluator: String,
}

/// Items that one arm passed and the other did not, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlippedItems {
    pub only_first: Vec<String>,
    pub only_second: Vec<String>,
}

/// Puts a group's arms side by side.
pub fn compare(warehouse: &Warehouse, group: &SuiteGroup<'_>, policy: &Policy) -> Comparison {
    Compared::of(warehouse, group, group_matrix(warehouse, group), policy).table
}

/// The same with the names of the items on which two arms differ; a table of more arms has none.
pub fn compare_with_flips(warehouse: &Warehouse, group: &SuiteGroup<'_>, policy: &Policy) -> Comparison {
    let compared = Compared::of(warehouse, group, group_matrix(warehouse, group), policy);
    let mut table = compared.table.clone();
    if let ([_, _], Some(flips)) = (compared.rates.as_slice(), &mut table.flips) {
        flips.items = compared.on_same_texts(0, 1, |first, second| flipped_items(first, second, &compared.matrix));
    }
    table
}

/// A table of all arms, from which tables of two can be taken.
pub(super) struct Compared<'a> {
    pub table: Comparison,
    arms: Vec<ArmRuns<'a>>,
    texts: Vec<ArmTexts>,
    rates: Vec<Rates>,
    /// The outcomes that count.
    matrix: OutcomeMatrix,
}

impl<'a> Compared<'a> {
    /// Puts a group's arms side by side, over the group's outcomes.
    pub fn of(warehouse: &Warehouse, group: &SuiteGroup<'a>, matrix: OutcomeMatrix, policy: &Policy) -> Self {
        let whole = if policy.exclusions.is_empty() { None } else { Some(matrix.clone()) };
        let (matrix, excluded_items) = without_excluded(matrix, group, &policy.exclusions);
        let with_excluded = whole.filter(|_| !excluded_items.is_empty()).and_then(|whole| {
            let table = Self::of_matrix(warehouse, group, whole, policy).table;
            table.rows.into_iter().find(|row| row.metric.name == "shared_tests")
        });
        let mut compared = Self::of_matrix(warehouse, group, matrix, policy);
        compared.table.excluded_items = excluded_items;
        compared.table.with_excluded = with_excluded;
        compared
    }

    fn of_matrix(warehouse: &Warehouse, group: &SuiteGroup<'a>, matrix: OutcomeMatrix, policy: &Policy) -> Self {
        let texts = ArmTexts::of_group(warehouse, group, &matrix);
        let rates: Vec<Rates> = group.arms.iter().map(|arm| Rates::of(&arm.counted, &matrix)).collect();
        let arms: Vec<ComparedArm> = group.arms.iter().map(|arm| compared_arm(arm, &matrix)).collect();
        let mut table = Comparison {
            suite: group.suite.clone(),
            suite_version: group.suite_version.clone(),
            source: group.source.clone(),
            rows: Vec::new(),
            not_measured: Vec::new(),
            confidence: super::estimate::CONFIDENCE,
            comparability: comparability::of_arms(&group.arms, &rates, &texts, &matrix),
            flips: None,
            criteria: None,
            sides: Vec::new(),
            excluded_items: Vec::new(),
            with_excluded: None,
            arms,
        };
        let pairing = Pairing::of(&group.arms, &texts, &matrix);
        let apart = comparability::apart_on_items(&table.comparability);
        for (metric, cells, evidence) in metric_rows(group, &matrix, &rates, &pairing, &apart, policy) {
            table.push(metric, cells, evidence);
        }
        let mut compared = Self { table, arms: group.arms.clone(), texts, rates, matrix };
        if compared.rates.len() == 2 {
            compared.table.flips = compared.flips(0, 1);
        }
        compared
    }

    /// Asks about the outcomes of two of the arms, on the items that were one text for both.
    fn on_same_texts<T>(&self, one: usize, other: usize, ask: impl FnOnce(&Rates, &Rates) -> T) -> T {
        let pairing = Pairing::of(&self.arms, &self.texts, &self.matrix);
        let changed = pairing.changed(one, other);
        if changed.is_empty() {
            return ask(&self.rates[one], &self.rates[other]);
        }
        let [first, second] = pairing.rates(one, other, &changed);
        ask(&first, &second)
    }

    /// Says whether every run of each arm passed exactly the same items as its other runs.
    pub fn is_deterministic(&self) -> bool {
        self.rates.iter().all(Rates::is_deterministic)
    }

    /// The row that decides who leads.
    pub fn headline(&self) -> Option<&ComparisonRow> {
        self.table.rows.iter().find(|row| row.metric.name == "shared_tests")
    }

    /// How the outcomes of two of the arms fell on shared items.
    pub fn flips(&self, one: usize, other: usize) -> Option<Flips> {
        self.on_same_texts(one, other, flips)
    }

    /// The same with the first items of each of the four outcomes.
    pub fn pair_with_items(&self, one: usize, other: usize) -> Comparison {
        let mut table = self.pair(one, other);
        if let Some(flips) = &mut table.flips {
            flips.listed = self.on_same_texts(one, other, |first, second| listed_items(first, second, &self.matrix));
        }
        table
    }

    /// Takes two of the arms. What is said about them stays adjusted for all pairs of the whole table.
    pub fn pair(&self, one: usize, other: usize) -> Comparison {
        let whole = &self.table;
        let mut table = Comparison {
            arms: [one, other].map(|arm| whole.arms[arm].clone()).to_vec(),
            rows: Vec::new(),
            not_measured: whole.not_measured.clone(),
            comparability: whole.comparability.iter().filter_map(|pair| pair.between(one, other)).collect(),
            flips: self.flips(one, other),
            criteria: None,
            sides: Vec::new(),
            suite: whole.suite.clone(),
            suite_version: whole.suite_version.clone(),
            source: whole.source.clone(),
            confidence: whole.confidence,
            excluded_items: whole.excluded_items.clone(),
            with_excluded: whole.with_excluded.as_ref().map(|row| {
                let cells = [one, other].map(|arm| row.cells[arm].clone()).to_vec();
                let arms = [one, other].map(|arm| whole.arms[arm].clone());
                let winner = winner(&row.metric, &cells, &arms);
                ComparisonRow { metric: row.metric.clone(), winner, cells, evidence: row.evidence.between(one, other) }
            }),
        };
        for row in &whole.rows {
            let cells = [one, other].map(|arm| row.cells[arm].clone()).to_vec();
            table.push(row.metric.clone(), cells, row.evidence.between(one, other));
        }
        table
    }
}

impl Comparison {
    /// Adds a metric, or its name to those that nobody measured.
    fn push(&mut self, metric: Metric, cells: Vec<Cell>, evidence: Evidence) {
        if cells.iter().all(|cell| cell.value.is_none() && cell.total.is_none()) {
            self.not_measured.push(metric.label);
        } else {
            let winner = winner(&metric, &cells, &self.arms);
            self.rows.push(ComparisonRow { metric, cells, winner, evidence });
        }
    }
}

fn compared_arm(arm: &ArmRuns<'_>, matrix: &OutcomeMatrix) -> ComparedArm {
    let mut not_completed = BTreeMap::new();
    for row in arm.counted.iter().filter(|row| row.run.status != RunStatus::Completed) {
        *not_completed.entry(row.run.status.name().to_owned()).or_default() += 1;
    }
    ComparedArm {
        arm: arm.arm.clone(),
        run_ids: arm.counted.iter().map(|row| row.run.id.to_string()).collect(),
        not_completed,
        excluded_runs: arm.excluded.len() as u64,
        earlier_runs: arm.earlier as u64,
        can_win: arm.can_win(),
        possibly_cached: possibly_cached(&arm.counted, matrix),
        verification: verified(&arm.counted),
    }
}

/// Lists the metrics in the order of the table, with a cell per arm and what they support.
fn metric_rows(
    group: &SuiteGroup<'_>,
    matrix: &OutcomeMatrix,
    rates: &[Rates],
    pairing: &Pairing<'_>,
    apart: &BTreeMap<(usize, usize), Reason>,
    policy: &Policy,
) -> Vec<(Metric, Vec<Cell>, Evidence)> {
    let arms = &group.arms;
    let judged = |metric: Metric, value: &dyn Fn(&RunRow) -> Option<f64>, evaluators: &[BTreeSet<&str>]| {
        let metric = policy.described(metric);
        let cells: Vec<Cell> = arms.iter().map(|arm| number_cell(&arm.counted, value)).collect();
        let evidence = evidence::of_numbers(&metric, arms, value, evaluators, apart, policy);
        (metric, cells, evidence)
    };
    let numbers = |metric: Metric, value: &dyn Fn(&RunRow) -> Option<f64>| judged(metric, value, &[]);
    let amount = |name: &str, label: &str, unit, direction, value: &dyn Fn(&RunRow) -> Option<f64>| {
        let kind = if unit == Unit::Count { MetricKind::Count } else { MetricKind::Amount };
        let (metric, mut cells, evidence) = numbers(named(name, label, unit, direction, kind), value);
        for figure in cells.iter_mut().filter_map(|cell| cell.figure.as_mut()) {
            // Time, tokens, money and counts are never negative, whatever a t interval over few runs says.
            figure.interval = figure.interval.map(|interval| interval.clipped(0.0, f64::MAX));
        }
        (metric, cells, evidence)
    };
    let rate = |name: &str, label: &str| policy.described(named(name, label, Unit::Fraction, Direction::Up, MetricKind::Rate));
    let count = |value: Option<u64>| value.map(|number| number as f64);
    let items = Items::of(matrix);
    let unit = evidence::unit_of(&group.suite, &items, policy);
    let headline = headline(&items, policy);
    let own_tests = rate("own_tests", "Own Tests");
    let of_headline = evidence::of_rates(&headline, &group.suite, &items, rates, pairing, policy);
    let of_own_tests = evidence::of_nothing(&own_tests, arms.len(), Design::Counts, Reason::OwnDenominator, policy);
    let mut rows = vec![
        amount("duration_seconds", "Duration", Unit::Seconds, Direction::Down, &duration),
        amount("total_tokens", "Total Tokens", Unit::Tokens, Direction::Down, &tokens),
        amount("cost_usd", "Cost", Unit::Usd, Direction::Down, &cost),
        (headline, arms.iter().zip(rates).map(|(arm, rates)| rate_cell(arm, rates, matrix, &items, unit)).collect(), of_headline),
        (own_tests, arms.iter().map(|arm| own_tests_cell(&arm.counted)).collect(), of_own_tests),
        amount("files_generated", "Files Generated", Unit::Count, Direction::Up, &|row| count(row.run.files_generated)),
        amount("lines_generated", "Lines Generated", Unit::Count, Direction::None, &|row| count(row.run.lines_generated)),
        amount("total_calls", "Agent Calls", Unit::Count, Direction::Down, &|row| count(row.run.total_calls)),
    ];
    if let Some(scores) = SuiteScores::of(group, matrix, policy) {
        let evidence = evidence::of_item_scores(&group.suite, &scores, &items, pairing, policy);
        let cell = |scores: &ItemScores| {
            let estimate = scores.estimate(&items, unit);
            Cell { value: estimate.as_ref().map(|estimate| estimate.value), passed: None, total: None, figure: None, estimate }
        };
        rows.push((scores.metric.clone(), scores.arms.iter().map(cell).collect(), evidence));
    }
    for column in score_columns(group) {
        let metric = named(&column.metric, score_label(&column.metric), column.unit, column.direction, MetricKind::Score);
        let evaluators: Vec<BTreeSet<&str>> = arms.iter().map(|arm| evaluators_of(&arm.counted, &column.metric)).collect();
        let (metric, cells, mut evidence) = judged(metric, &|row| newest_score(row, &column.metric), &evaluators);
        if column.is_mixed {
            evidence = evidence::of_nothing(&metric, arms.len(), Design::Runs, Reason::OtherUnit, policy);
        }
        rows.push((metric, cells, evidence));
    }
    rows
}

/// The metric that decides who leads: the pass rate on what all arms share.
pub(super) fn headline(items: &Items, policy: &Policy) -> Metric {
    let label = match items.kind {
        Some(ItemKind::Question) => "Questions",
        Some(ItemKind::Task) => "Tasks",
        Some(ItemKind::Criterion) => "Criteria",
        Some(ItemKind::Check) => "Checks",
        Some(ItemKind::Test) | None => "Shared Tests",
    };
    policy.described(named("shared_tests", label, Unit::Fraction, Direction::Up, MetricKind::Rate))
}

fn named(name: &str, label: &str, unit: Unit, direction: Direction, kind: MetricKind) -> Metric {
    Metric { name: name.to_owned(), label: label.to_owned(), unit, direction, kind }
}

fn number_cell(rows: &[&RunRow], value: &dyn Fn(&RunRow) -> Option<f64>) -> Cell {
    let figure = figure(rows, value);
    Cell { value: figure.as_ref().map(|figure| figure.summary.mean), passed: None, total: None, figure, estimate: None }
}

fn rate_cell(arm: &ArmRuns<'_>, rates: &Rates, matrix: &OutcomeMatrix, items: &Items, unit: Design) -> Cell {
    let estimate = pass_rate(&arm.counted, rates, items, unit);
    Cell {
        value: estimate.as_ref().map(|estimate| estimate.value),
        passed: estimate.as_ref().and_then(|estimate| estimate.passed),
        total: estimate.as_ref().and_then(|estimate| estimate.total),
        figure: figure(&arm.counted, |row| counts(row, matrix).map(|(passed, total)| passed as f64 / total as f64)),
        estimate,
    }
}

/// Own tests: counts as they are. 0 of 0 is a measurement without a rate.
fn own_tests_cell(rows: &[&RunRow]) -> Cell {
    let known: Vec<(u64, u64)> = rows.iter().filter_map(|row| row.run.own_tests_passed.zip(row.run.own_tests_total)).collect();
    let sums = (!known.is_empty()).then(|| known.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)));
    Cell {
        value: None,
        passed: sums.map(|(passed, _)| passed),
        total: sums.map(|(_, total)| total),
        figure: figure(rows, |row| {
            let (passed, total) = row.run.own_tests_passed.zip(row.run.own_tests_total)?;
            (total > 0).then(|| passed as f64 / total as f64)
        }),
        estimate: None,
    }
}

/// Finds the leader on the numbers shown. A missing value anywhere means no winner: the absent arm might have won.
fn winner(metric: &Metric, cells: &[Cell], arms: &[ComparedArm]) -> Winner {
    let is_own_tests = metric.name == "own_tests";
    let values: Option<Vec<f64>> =
        cells.iter().map(|cell| if is_own_tests { cell.passed.map(|passed| passed as f64) } else { cell.value }).collect();
    let sign = match metric.direction {
        Direction::Up => 1.0,
        Direction::Down => -1.0,
        Direction::None => return Winner::NotAvailable,
    };
    let Some(values) = values.filter(|values| values.len() > 1) else { return Winner::NotAvailable };
    let mut ranked: Vec<usize> = (0..values.len()).collect();
    ranked.sort_by(|left, right| (sign * values[*right]).total_cmp(&(sign * values[*left])));
    let (leader, second) = (ranked[0], ranked[1]);
    if !arms[leader].can_win {
        return Winner::NotAvailable;
    }
    if values[leader].total_cmp(&values[second]).is_eq() {
        return Winner::Tie { arms: (0..values.len()).filter(|arm| values[*arm].total_cmp(&values[leader]).is_eq()).collect() };
    }
    let (won, lost) = (values[leader], values[second]);
    let delta = match metric.unit {
        // The numbers of own tests differ in kind, not in degree.
        _ if is_own_tests => None,
        Unit::Fraction => Some(Delta { value: (won - lost) * 100.0, unit: DeltaUnit::PercentagePoints }),
        Unit::Points => Some(Delta { value: won - lost, unit: DeltaUnit::Points }),
        Unit::Seconds | Unit::Tokens | Unit::Usd | Unit::Count | Unit::Number => {
            (lost != 0.0).then(|| Delta { value: (won - lost) / lost.abs() * 100.0, unit: DeltaUnit::Percent })
        }
    };
    Winner::Leads { arm: leader, over: second, delta }
}

impl Cell {
    /// Returns the interval that belongs to the value shown.
    pub fn interval(&self) -> Option<Interval> {
        match &self.estimate {
            Some(estimate) => estimate.interval,
            None => self.figure.as_ref().and_then(|figure| figure.interval),
        }
    }
}

fn flips(first: &Rates, second: &Rates) -> Option<Flips> {
    let (Rates::Outcomes(first), Rates::Outcomes(second)) = (first, second) else { return None };
    let mut flips = Flips { shared: 0, both_passed: 0, only_first: 0, only_second: 0, neither: 0, items: None, listed: None };
    for item in 0..first.cells.len() {
        let Some(passed) = first.majority(item).zip(second.majority(item)) else { continue };
        flips.shared += 1;
        match passed {
            (true, true) => flips.both_passed += 1,
            (true, false) => flips.only_first += 1,
            (false, true) => flips.only_second += 1,
            (false, false) => flips.neither += 1,
        }
    }
    (flips.shared > 0).then_some(flips)
}

fn flipped_items(first: &Rates, second: &Rates, matrix: &OutcomeMatrix) -> Option<FlippedItems> {
    let (Rates::Outcomes(first), Rates::Outcomes(second)) = (first, second) else { return None };
    let mut items = FlippedItems { only_first: Vec::new(), only_second: Vec::new() };
    for (number, item) in matrix.items.iter().enumerate() {
        match first.majority(number).zip(second.majority(number)) {
            Some((true, false)) => items.only_first.push(item.key.item.clone()),
            Some((false, true)) => items.only_second.push(item.key.item.clone()),
            Some((true, true) | (false, false)) | None => {}
        }
    }
    Some(items)
}

fn listed_items(first: &Rates, second: &Rates, matrix: &OutcomeMatrix) -> Option<ListedItems> {
    let (Rates::Outcomes(first), Rates::Outcomes(second)) = (first, second) else { return None };
    let mut items = ListedItems::default();
    for (number, item) in matrix.items.iter().enumerate() {
        let Some(passed) = first.majority(number).zip(second.majority(number)) else { continue };
        let list = match passed {
            (true, true) => &mut items.both_passed,
            (true, false) => &mut items.only_first,
            (false, true) => &mut items.only_second,
            (false, false) => &mut items.neither,
        };
        if list.len() < MOST_LISTED {
            list.push(ListedItem { kind: item.key.kind, item: item.key.item.clone(), evaluator: item.key.evaluator.clone() });
        }
    }
    Some(items)
}
