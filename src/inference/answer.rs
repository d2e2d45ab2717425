//! One suite's answer: its arms, their figures, and the evidence about every pair. It is computed only here; tables, boards, gates and
//! pages show it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{COST_PER_SOLVED, Direction, Metric, MetricKind, PASS_RATE, Unit, score_label};
use crate::warehouse::{ItemAmounts, OutcomeMatrix, RunRow, Warehouse};

use super::arm::{ArmRuns, SuiteGroup};
use super::cell::Cell;
use super::comparability::{self, Comparability};
use super::comparison::{PairEvidence, Sizes};
use super::condition::{ConditionEffect, condition_effects, regrade};
use super::decision::{self, Decision, Known, UnitPrice};
use super::exclusions::{ExcludedItem, without_excluded};
use super::family::{Evidence, Unsettled, settle_primary, settle_secondary};
use super::figures::{Figure, Numbers, cost, duration, figures, tokens};
use super::finding::Finding;
use super::item_scores::{ItemScores, SuiteScores};
use super::labelled::JudgedBy;
use super::metrics::{self, named, pass_rate_metric, unit_of};
use super::policy::{Design, Policy};
use super::sample::{Items, Outcomes, Rates};
use super::scores::{evaluators_of, newest_score, score_columns};
use super::spending::{self, ItemSpending, RunPrice, Spent};
use super::texts::{ArmTexts, Pairing};
use super::verdict::{Incomparable, Missing, Support};

/// The role of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Decides which arm is better. Its p-values are adjusted over the pairs.
    Primary,
    /// Shown beside the primary metric. The p-values of all secondary metrics are adjusted together.
    Secondary,
    /// Shown, never tested.
    Descriptive,
}

/// The metrics to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// Only the primary metric.
    Primary,
    Whole,
}

/// One metric of a suite over all its arms.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MetricAnswer {
    pub metric: Metric,
    pub role: Role,
    /// By arm.
    pub cells: Vec<Cell>,
    pub evidence: Evidence,
}

/// The full answer about the arms of one suite version.
pub(crate) struct SuiteAnswer<'a> {
    pub group: SuiteGroup<'a>,
    pub texts: Vec<ArmTexts>,
    pub rates: Vec<Rates>,
    pub items: Items,
    /// The unit of verdicts about the suite.
    pub unit: Design,
    /// The judges who decide the outcomes, if any do.
    pub judged_by: Option<JudgedBy>,
    /// The outcomes that count.
    pub matrix: OutcomeMatrix,
    /// In table order, the primary metric first.
    pub metrics: Vec<MetricAnswer>,
    /// By pair of arms that both have results.
    pub comparability: Vec<Comparability>,
    /// Arms with runs under several recorded conditions.
    pub condition_effects: Vec<ConditionEffect>,
    pub excluded_items: Vec<ExcludedItem>,
    /// The primary metric as it would be with the excluded items.
    pub with_excluded: Option<MetricAnswer>,
    /// The largest unimportant difference of the primary metric, for decisions.
    pub margin: Option<f64>,
    /// Key of the suite's configured primary metric, if no run here has a value of it and another metric decides.
    pub primary_not_measured: Option<String>,
    /// By pair of arms, in the order of the primary metric's pairs.
    decisions: Vec<Decision>,
}

impl<'a> SuiteAnswer<'a> {
    /// Computes the answer of a group of arms, with all metrics.
    pub fn of(warehouse: &Warehouse, group: &SuiteGroup<'a>, policy: &Policy) -> Self {
        Self::to(Depth::Whole, warehouse, group, policy)
    }

    /// Computes only the primary metric, with the same result as in the full answer.
    pub fn of_primary(warehouse: &Warehouse, group: &SuiteGroup<'a>, policy: &Policy) -> Self {
        Self::to(Depth::Primary, warehouse, group, policy)
    }

    fn to(depth: Depth, warehouse: &Warehouse, group: &SuiteGroup<'a>, policy: &Policy) -> Self {
        let whole = group.matrix(warehouse);
        if policy.exclusions.is_empty() {
            return Self::over(depth, warehouse, group, whole, policy);
        }
        let (matrix, excluded_items) = without_excluded(whole.clone(), group, &policy.exclusions);
        if excluded_items.is_empty() {
            return Self::over(depth, warehouse, group, whole, policy);
        }
        let with_excluded = Self::over(Depth::Primary, warehouse, group, whole, policy)
            .metrics
            .into_iter()
            .next();
        Self {
            excluded_items,
            with_excluded,
            ..Self::over(depth, warehouse, group, matrix, policy)
        }
    }

    fn over(
        depth: Depth,
        warehouse: &Warehouse,
        group: &SuiteGroup<'a>,
        matrix: OutcomeMatrix,
        policy: &Policy,
    ) -> Self {
        let mut items = Items::of(group, &matrix);
        let unit = unit_of(&group.suite, &items, policy);
        let texts = ArmTexts::of_group(warehouse, group, &matrix);
        let rates: Vec<Rates> = group
            .arms
            .iter()
            .map(|arm| Rates::of(&arm.counted, &matrix, &items))
            .collect();
        let judged_by = JudgedBy::of(group, &matrix, &items, &rates, (unit, policy));
        items.judge_errors = policy.judge_errors.filter(|_| {
            judged_by
                .as_ref()
                .is_some_and(|judged| judged.has_known_errors)
        });
        let scores = SuiteScores::of(group, &matrix, &items, policy);
        let mut comparability = comparability::of_arms(&group.arms, &rates, &texts, &matrix);
        let condition_effects = condition_effects(&group.arms, &rates, &items, unit);
        regrade(&mut comparability, &condition_effects);
        let metrics = {
            let pairing = Pairing::of(&group.arms, &texts, &matrix);
            let apart = comparability::apart_on_items(&comparability);
            let is_amount =
                |name: &str| Spent::of_metric(name).is_some() || name == COST_PER_SOLVED;
            let amounts =
                if depth == Depth::Whole || policy.primary(&group.suite).is_some_and(is_amount) {
                    warehouse.item_amounts(&matrix, &group.counted_runs())
                } else {
                    ItemAmounts::default()
                };
            let scores = scores.as_ref();
            Asked {
                group,
                items: &items,
                unit,
                matrix: &matrix,
                rates: &rates,
                scores,
                amounts,
                pairing,
                apart,
                policy,
            }
            .metrics(depth)
        };
        let margin = decision::margin(&metrics[0].metric, policy);
        let primary_not_measured = policy
            .primary(&group.suite)
            .filter(|name| *name != metrics[0].metric.name)
            .map(str::to_owned);
        let answer = Self {
            group: group.clone(),
            texts,
            rates,
            items,
            unit,
            judged_by,
            matrix,
            metrics,
            comparability,
            condition_effects,
            excluded_items: Vec::new(),
            with_excluded: None,
            margin,
            primary_not_measured,
            decisions: Vec::new(),
        };
        Self {
            decisions: answer.decide(),
            ..answer
        }
    }

    /// Returns the decision about each pair of arms.
    fn decide(&self) -> Vec<Decision> {
        let price = |name: &str, pair: &PairEvidence| {
            self.metric(name)
                .and_then(|metric| metric.evidence.pair(pair.first, pair.second))
        };
        let of_pair = |quality: &PairEvidence| {
            let (cost, time) = (
                price("cost_usd", quality),
                price("duration_seconds", quality),
            );
            let (item, run) = self.unit_prices(quality.first, quality.second);
            // Both lists are in the order of the pairs.
            let place = self
                .comparability
                .binary_search_by_key(&(quality.first, quality.second), |pair| {
                    (pair.first, pair.second)
                });
            let comparability = place.ok().map(|place| &self.comparability[place]);
            let known = Known {
                metric: &self.primary().metric,
                quality,
                cost,
                time,
                comparability,
                margin: self.margin,
                item,
                run,
            };
            Decision::of(&known)
        };
        self.primary().evidence.pairs.iter().map(of_pair).collect()
    }

    /// Returns the price of one more item, and of one more run, of two arms together, as far as it is known.
    fn unit_prices(&self, one: usize, other: usize) -> (UnitPrice, UnitPrice) {
        let sum = |name: &str| {
            let cells = &self.metric(name)?.cells;
            let mean = |arm: usize| cells[arm].figure.as_ref().map(|figure| figure.summary.mean);
            Some(mean(one)? + mean(other)?)
        };
        let run = UnitPrice {
            usd: sum("cost_usd"),
            seconds: sum("duration_seconds"),
        };
        let items = self.items.unit_count() as f64;
        let item =
            |of_run: Option<f64>| of_run.filter(|_| items > 0.0).map(|of_run| of_run / items);
        (
            UnitPrice {
                usd: item(run.usd),
                seconds: item(run.seconds),
            },
            run,
        )
    }

    /// Returns the decision about two of the arms, given by index.
    pub fn decision_between(&self, one: usize, other: usize) -> Option<Decision> {
        self.decisions
            .get(self.primary().evidence.place_of(one, other)?)
            .cloned()
    }

    /// Returns the decision about all arms, and the two arms of its reasons. If one arm ships against every other, these are that arm and
    /// the best of the others; else the leader and the second, with their decision. No arm's name affects the choice.
    pub fn decision(&self) -> Option<(Decision, [usize; 2])> {
        let arms = self.by_value();
        let shipped = |arm: usize| {
            let others = || arms.iter().copied().filter(|other| *other != arm);
            let own: Vec<(Decision, usize)> = others()
                .filter_map(|other| Some((self.decision_between(arm, other)?, other)))
                .collect();
            let is_own = |decision: &Decision| matches!(decision, Decision::Ship { arm: shipped, .. } if *shipped == arm);
            let is_nothing = |decision: &Decision| {
                matches!(
                    decision,
                    Decision::CannotSettle {
                        why: decision::Why::NoData
                    }
                )
            };
            let best = own.iter().find(|(decision, _)| is_own(decision)).cloned()?;
            let is_for_all = own
                .iter()
                .all(|(decision, _)| is_own(decision) || is_nothing(decision));
            is_for_all.then_some((best.0, [arm, best.1]))
        };
        if let Some(decision) = arms.iter().copied().find_map(shipped) {
            return Some(decision);
        }
        let (first, second) = self.first_two()?;
        Some((self.decision_between(first, second)?, [first, second]))
    }

    /// Returns the arms with the best and the second best value of the primary metric. Equal arms keep their order.
    pub fn first_two(&self) -> Option<(usize, usize)> {
        let has_value = |arm: &usize| self.primary().cells[*arm].value.is_some();
        let known: Vec<usize> = self.by_value().into_iter().filter(has_value).collect();
        Some((*known.first()?, *known.get(1)?))
    }

    /// Returns all arms by their value of the primary metric, best first, arms without a value last. Equal arms keep their order.
    fn by_value(&self) -> Vec<usize> {
        let primary = self.primary();
        let sign = if primary.metric.direction == Direction::Down {
            1.0
        } else {
            -1.0
        };
        let key = |arm: &usize| {
            primary.cells[*arm]
                .value
                .map_or(f64::INFINITY, |value| sign * value)
        };
        let mut arms: Vec<usize> = (0..primary.cells.len()).collect();
        arms.sort_by(|one, other| key(one).total_cmp(&key(other)));
        arms
    }

    /// Returns a metric's cells of two of the arms. They show what the difference of the two compares: the same items, the same statistic.
    pub fn cells_between(&self, answer: &MetricAnswer, one: usize, other: usize) -> [Cell; 2] {
        let own = [one, other].map(|arm| answer.cells[arm].clone());
        let Some(pair) = answer.evidence.pair(one, other).map(|pair| {
            if pair.first == one {
                pair.clone()
            } else {
                pair.reversed()
            }
        }) else {
            return own;
        };
        let Some(levels) = pair.levels else {
            return own;
        };
        let cells = self.on_shared_items(answer, &pair).unwrap_or(own);
        let [first, second] = cells;
        [first.at(levels.first), second.at(levels.second)]
    }

    /// Returns the cells of a pair's rates or item scores over the items of both, if an arm has others too.
    fn on_shared_items(&self, answer: &MetricAnswer, pair: &PairEvidence) -> Option<[Cell; 2]> {
        let shared = pair.sizes.pairs?;
        if shared >= pair.sizes.first.max(pair.sizes.second) {
            return None;
        }
        let (one, other) = (pair.first, pair.second);
        let mut left_out = self.pairing().changed(one, other);
        left_out.resize(self.matrix.items.len(), false);
        let arms = [one, other].map(|arm| &self.group.arms[arm]);
        match answer.metric.name.as_str() {
            PASS_RATE => {
                let (Rates::Outcomes(first), Rates::Outcomes(second)) =
                    (&self.rates[one], &self.rates[other])
                else {
                    return None;
                };
                for (item, is_out) in left_out.iter_mut().enumerate() {
                    *is_out |= first.mean(item).is_none() || second.mean(item).is_none();
                }
                let places = [one, other];
                Some(std::array::from_fn(|at| {
                    let (arm, place) = (arms[at], places[at]);
                    let rates = Rates::without(&left_out, &arm.counted, &self.matrix, &self.items);
                    let figure = Figure::of_rates(&rates.run_rates());
                    Cell {
                        figure,
                        ..Cell::of_rate(arm, &rates, &self.items, self.unit)
                    }
                    .of_shared(&answer.cells[place])
                }))
            }
            ITEM_SCORE => {
                let all = arms
                    .map(|arm| ItemScores::of(&left_out, &arm.counted, &self.matrix, &self.items));
                for (item, is_out) in left_out.iter_mut().enumerate() {
                    *is_out |= all.iter().any(|scores| scores.means[item].is_none());
                }
                let is_share = answer.metric.unit == Unit::Fraction;
                let places = [one, other];
                Some(std::array::from_fn(|at| {
                    let scores =
                        ItemScores::of(&left_out, &arms[at].counted, &self.matrix, &self.items);
                    Cell::of_estimate(scores.estimate(&self.items, self.unit, is_share))
                        .of_shared(&answer.cells[places[at]])
                }))
            }
            _ => None,
        }
    }

    /// Returns the metric that decides.
    pub fn primary(&self) -> &MetricAnswer {
        &self.metrics[0]
    }

    /// Returns a metric by its key.
    pub fn metric(&self, name: &str) -> Option<&MetricAnswer> {
        self.metrics
            .iter()
            .find(|answer| answer.metric.name == name)
    }

    /// Returns the arms with the data to restrict outcomes to items that had the same text for two arms.
    pub fn pairing(&self) -> Pairing<'_> {
        Pairing::of(&self.group.arms, &self.texts, &self.matrix)
    }

    /// Calls `ask` with the outcomes of two of the arms on the items that had the same text for both.
    pub fn on_same_texts<T>(
        &self,
        one: usize,
        other: usize,
        ask: impl FnOnce(&Rates, &Rates) -> T,
    ) -> T {
        let pairing = self.pairing();
        let changed = pairing.changed(one, other);
        if changed.is_empty() {
            return ask(&self.rates[one], &self.rates[other]);
        }
        let [first, second] = pairing.rates(one, other, &changed, &self.items);
        ask(&first, &second)
    }
}

/// The inputs of a suite's metrics.
struct Asked<'a> {
    group: &'a SuiteGroup<'a>,
    items: &'a Items,
    unit: Design,
    matrix: &'a OutcomeMatrix,
    rates: &'a [Rates],
    scores: Option<&'a SuiteScores>,
    amounts: ItemAmounts,
    pairing: Pairing<'a>,
    apart: BTreeMap<(usize, usize), Incomparable>,
    policy: &'a Policy,
}

/// A metric before its p-values are adjusted.
struct Open {
    cells: Vec<Cell>,
    role: Role,
    unsettled: Unsettled,
}

/// A metric in the order of the table.
enum Column<'a> {
    Rates,
    PerSolved,
    ItemScores,
    OwnTests,
    Number(NumberColumn<'a>),
}

/// Returns a run's number.
type NumberOf<'a> = Box<dyn Fn(&RunRow) -> Option<f64> + 'a>;

/// A metric of a number per run.
struct NumberColumn<'a> {
    metric: Metric,
    value: NumberOf<'a>,
    /// By arm: who gave the numbers, if known.
    evaluators: Vec<BTreeSet<&'a str>>,
    /// Whether runs give it in different units or directions.
    is_mixed: bool,
}

impl Asked<'_> {
    /// Returns all metrics, adjusted: the primary one over its own pairs, the secondary ones together.
    fn metrics(&self, depth: Depth) -> Vec<MetricAnswer> {
        let mut open = self.open(depth);
        let primary = self.primary_of(&open);
        open[primary].role = Role::Primary;
        open[..=primary].rotate_right(1);
        let rest = open.split_off(1);
        let mut answers = Vec::new();
        for first in open {
            let metric = first.unsettled.metric.clone();
            answers.push(MetricAnswer {
                metric,
                role: first.role,
                cells: first.cells,
                evidence: settle_primary(first.unsettled, self.policy),
            });
        }
        let (shown, unsettled): (Vec<_>, Vec<Unsettled>) = rest
            .into_iter()
            .map(|open| {
                (
                    (open.cells, open.role, open.unsettled.metric.clone()),
                    open.unsettled,
                )
            })
            .unzip();
        for ((cells, role, metric), evidence) in shown
            .into_iter()
            .zip(settle_secondary(unsettled, self.policy))
        {
            answers.push(MetricAnswer {
                metric,
                role,
                cells,
                evidence,
            });
        }
        answers
    }

    /// Returns the index of the primary metric: the configured one if any arm has a value of it, else the pass rate, else the item score,
    /// else the runs' only score.
    fn primary_of(&self, open: &[Open]) -> usize {
        let place = |name: &str| {
            open.iter()
                .position(|open| open.unsettled.metric.name == name)
        };
        let has_values = |at: &usize| open[*at].cells.iter().any(|cell| cell.value.is_some());
        if let Some(named) = self
            .policy
            .primary(&self.group.suite)
            .and_then(place)
            .filter(has_values)
        {
            return named;
        }
        let rate = place(PASS_RATE).unwrap_or(0);
        let scores: Vec<usize> = (0..open.len())
            .filter(|at| open[*at].unsettled.metric.kind == MetricKind::Score)
            .filter(has_values)
            .collect();
        match (
            has_values(&rate),
            place(ITEM_SCORE).filter(has_values),
            scores.as_slice(),
        ) {
            (false, Some(score), _) => score,
            (false, None, [only]) => *only,
            (true, _, _) | (false, None, _) => rate,
        }
    }

    /// Returns the metrics in table order. At either depth, all candidates for the primary metric are included.
    fn open(&self, depth: Depth) -> Vec<Open> {
        let arms = &self.group.arms;
        let rates = self.pass_rates();
        let has_rates = rates.cells.iter().any(|cell| cell.value.is_some());
        let columns = self.columns(depth, has_rates);
        // One query for the figures of all metrics and arms.
        let asked: Vec<Numbers> = columns
            .iter()
            .flat_map(|column| arms.iter().map(|arm| self.numbers(column, arm)))
            .collect();
        let mut figures = figures(&asked).into_iter();
        let mut open: Vec<Open> = Vec::with_capacity(columns.len());
        let mut rates = Some(rates);
        for column in &columns {
            let own: Vec<Option<Figure>> = figures.by_ref().take(arms.len()).collect();
            open.extend(match column {
                Column::Rates => rates.take().map(|mut rates| {
                    rates
                        .cells
                        .iter_mut()
                        .zip(own)
                        .for_each(|(cell, figure)| cell.figure = figure);
                    rates
                }),
                Column::PerSolved => Some(self.cost_per_solved(&open[0])),
                Column::ItemScores => self.item_scores(),
                Column::OwnTests => Some(self.own_tests(own)),
                Column::Number(number) => Some(self.of_number(number, own)),
            });
        }
        open
    }

    /// Lists the metrics in table order, the pass rate first.
    fn columns(&self, depth: Depth, has_rates: bool) -> Vec<Column<'_>> {
        let may_decide = |name: &str| {
            depth == Depth::Whole || self.policy.primary(&self.group.suite) == Some(name)
        };
        let amount = |name: &str, label: &str, unit, direction, value: NumberOf<'static>| {
            let kind = if unit == Unit::Count {
                MetricKind::Count
            } else {
                MetricKind::Amount
            };
            let metric = self
                .policy
                .described(named(name, label, unit, direction, kind));
            may_decide(name).then_some(Column::Number(NumberColumn {
                metric,
                value,
                evaluators: Vec::new(),
                is_mixed: false,
            }))
        };
        let count = |value: Option<u64>| value.map(|number| number as f64);
        let mut columns = vec![Column::Rates];
        columns.extend(amount(
            "cost_usd",
            "Cost",
            Unit::Usd,
            Direction::Down,
            Box::new(cost),
        ));
        columns.extend(may_decide(COST_PER_SOLVED).then_some(Column::PerSolved));
        columns.extend(amount(
            "duration_seconds",
            "Duration",
            Unit::Seconds,
            Direction::Down,
            Box::new(duration),
        ));
        columns.extend(amount(
            "total_tokens",
            "Tokens",
            Unit::Tokens,
            Direction::Down,
            Box::new(tokens),
        ));
        columns.push(Column::ItemScores);
        for score in score_columns(self.group)
            .into_iter()
            .filter(|score| !has_rates || may_decide(&score.metric))
        {
            let metric = named(
                &score.metric,
                score_label(&score.metric),
                score.unit,
                score.direction,
                MetricKind::Score,
            );
            columns.push(Column::Number(NumberColumn {
                metric: self.policy.described(metric),
                evaluators: self
                    .group
                    .arms
                    .iter()
                    .map(|arm| evaluators_of(&arm.counted, &score.metric))
                    .collect(),
                is_mixed: score.is_mixed,
                value: Box::new(move |row: &RunRow| newest_score(row, &score.metric)),
            }));
        }
        columns.extend((depth == Depth::Whole).then_some(Column::OwnTests));
        let files = Box::new(move |row: &RunRow| count(row.run.files_generated));
        columns.extend(amount(
            "files_generated",
            "Files",
            Unit::Count,
            Direction::Up,
            files,
        ));
        let lines = Box::new(move |row: &RunRow| count(row.run.lines_generated));
        columns.extend(amount(
            "lines_generated",
            "Lines",
            Unit::Count,
            Direction::None,
            lines,
        ));
        let calls = Box::new(move |row: &RunRow| count(row.run.total_calls));
        columns.extend(amount(
            "total_calls",
            "Agent calls",
            Unit::Count,
            Direction::Down,
            calls,
        ));
        // Only agents report turns. If no run reports any, the metric is omitted instead of shown as missing.
        if self
            .group
            .arms
            .iter()
            .flat_map(|arm| &arm.counted)
            .any(|row| row.run.turns.is_some())
        {
            let turns = Box::new(move |row: &RunRow| count(row.run.turns));
            columns.extend(amount(
                "turns",
                "Turns",
                Unit::Count,
                Direction::Down,
                turns,
            ));
        }
        columns
    }

    /// Returns an arm's numbers per run of a metric, if it has any.
    fn numbers(&self, column: &Column<'_>, arm: &ArmRuns<'_>) -> Numbers {
        match column {
            Column::Rates if self.policy.only_rulings => Numbers::none(),
            Column::Rates => Cell::rates_of_runs(arm, self.matrix),
            Column::PerSolved | Column::ItemScores => Numbers::none(),
            Column::OwnTests => Cell::own_tests_of_runs(&arm.counted),
            Column::Number(number) => Cell::numbers(&number.metric, arm, &number.value),
        }
    }

    /// Opens a metric of a number per run, with the figure of each arm.
    fn of_number(&self, number: &NumberColumn<'_>, figures: Vec<Option<Figure>>) -> Open {
        let (arms, policy, metric) = (&self.group.arms, self.policy, &number.metric);
        let cell = |(arm, figure)| Cell::of_number(metric, arm, &number.value, figure);
        let mut cells: Vec<Cell> = arms.iter().zip(figures).map(cell).collect();
        if number.is_mixed {
            let unsettled =
                metrics::of_nothing(metric, arms.len(), Design::Runs, Incomparable::OtherUnit);
            return Open {
                cells,
                role: Role::Descriptive,
                unsettled,
            };
        }
        let is_weighed = metric.direction != Direction::None && metric.kind != MetricKind::Count;
        let role = if is_weighed {
            Role::Secondary
        } else {
            Role::Descriptive
        };
        let spending = Spent::of_metric(&metric.name).and_then(|spent| self.spending(spent));
        let design = policy.design(&self.group.suite);
        // What shares the machine's state is compared over runs, if these were measured.
        let is_of_runs = |arm: usize| metric.shares_state() && cells[arm].value.is_some();
        let over_items = |first: usize, second: usize| {
            let ask = |one: (&ItemSpending, &Outcomes), other: (&ItemSpending, &Outcomes)| {
                spending::over_items(metric, one, other, design, self.items, policy)
            };
            let spending = spending
                .as_deref()
                .filter(|_| !(is_of_runs(first) && is_of_runs(second)))?;
            self.spent_on_items(spending, first, second, ask)
        };
        let unsettled = metrics::of_numbers(
            metric,
            arms,
            &number.value,
            &number.evaluators,
            &self.apart,
            &over_items,
            policy,
        );
        // One statistic a row: if the items decide, an arm's value is that of its typical item.
        let found = || {
            unsettled
                .findings
                .iter()
                .filter(|(_, _, finding)| finding.difference.is_some())
        };
        let are_items = found().next().is_some()
            && found().all(|(_, _, finding)| finding.sizes.pairs.is_some());
        if let Some(spending) = spending.filter(|_| are_items) {
            for (cell, spent) in cells.iter_mut().zip(&spending) {
                *cell = Cell::of_items(spent.typical(self.items, self.unit), cell.figure.take());
            }
        }
        Open {
            cells,
            role,
            unsettled,
        }
    }

    /// Compares the pass rates. The cells have no figures over runs yet.
    fn pass_rates(&self) -> Open {
        let metric = pass_rate_metric(self.policy);
        let cell =
            |(arm, rates): (&ArmRuns<'_>, &Rates)| Cell::of_rate(arm, rates, self.items, self.unit);
        let cells: Vec<Cell> = self.group.arms.iter().zip(self.rates).map(cell).collect();
        let mut unsettled = metrics::of_rates(
            &metric,
            &self.group.suite,
            self.items,
            self.rates,
            &self.pairing,
            self.policy,
        );
        unsettled.ranked = cells.iter().map(|cell| cell.value.is_some()).collect();
        Open {
            cells,
            role: Role::Secondary,
            unsettled,
        }
    }

    fn item_scores(&self) -> Option<Open> {
        let scores = self.scores?;
        let is_share = scores.metric.unit == Unit::Fraction
            && scores.range.low >= 0.0
            && scores.range.high <= 1.0;
        let cells = scores
            .arms
            .iter()
            .map(|scores| Cell::of_estimate(scores.estimate(self.items, self.unit, is_share)))
            .collect();
        let unsettled = metrics::of_item_scores(
            &self.group.suite,
            scores,
            self.items,
            &self.pairing,
            self.policy,
        );
        Some(Open {
            cells,
            role: Role::Secondary,
            unsettled,
        })
    }

    /// Returns what each arm spent on the items, or `None` if no item reports it.
    fn spending(&self, spent: Spent) -> Option<Vec<ItemSpending>> {
        let of_arm = |arm: &ArmRuns<'_>| {
            ItemSpending::of(spent, &arm.counted, self.matrix, &self.amounts, self.items)
        };
        (!self.amounts.is_empty()).then(|| self.group.arms.iter().map(of_arm).collect())
    }

    /// Compares the spending of two arms on items that had the same text for both.
    fn spent_on_items(
        &self,
        spending: &[ItemSpending],
        first: usize,
        second: usize,
        ask: impl FnOnce((&ItemSpending, &Outcomes), (&ItemSpending, &Outcomes)) -> Option<Finding>,
    ) -> Option<Finding> {
        let (Rates::Outcomes(one), Rates::Outcomes(other)) =
            (&self.rates[first], &self.rates[second])
        else {
            return None;
        };
        if !self.pairing.changed(first, second).is_empty() {
            return None;
        }
        ask((&spending[first], one), (&spending[second], other))
    }

    /// Computes the cost per solved item: over items if they report costs, else over runs. It is comparable if the pass rates are.
    fn cost_per_solved(&self, solved: &Open) -> Open {
        let arms = &self.group.arms;
        let metric = self.policy.described(named(
            COST_PER_SOLVED,
            "Cost per solved",
            Unit::Usd,
            Direction::Down,
            MetricKind::Amount,
        ));
        let cells: Vec<Cell> = arms
            .iter()
            .zip(self.rates)
            .map(|(arm, rates)| Cell::of_price(&arm.counted, rates, self.matrix, self.unit))
            .collect();
        let spending = self.spending(Spent::Cost);
        let by_run: Vec<Option<Vec<RunPrice>>> = arms
            .iter()
            .map(|arm| RunPrice::of_runs(&arm.counted, self.matrix))
            .collect();
        let over_runs = |first: usize, second: usize| {
            Some(spending::per_solved_over_runs(
                by_run[first].as_deref()?,
                by_run[second].as_deref()?,
                self.policy,
            ))
            .filter(|_| self.pairing.changed(first, second).is_empty())
        };
        let findings = solved
            .unsettled
            .findings
            .par_iter()
            .map(|(first, second, solved)| {
                let (first, second) = (*first, *second);
                let ask = |one: (&ItemSpending, &Outcomes), other: (&ItemSpending, &Outcomes)| {
                    spending::per_solved(one, other, self.items, self.policy)
                };
                let found = spending
                    .as_deref()
                    .and_then(|spending| self.spent_on_items(spending, first, second, ask));
                let found = found.or_else(|| over_runs(first, second));
                let nothing =
                    || Finding::no_data(Design::Items, Missing::NotMeasured, Sizes::default());
                let found = match solved.support {
                    Support::NotComparable(reason) => found
                        .map(|found| Finding::not_comparable(found.design, reason, found.sizes)),
                    Support::NoData(_)
                    | Support::Fixed
                    | Support::Thin { .. }
                    | Support::Tested { .. } => found,
                };
                (first, second, found.unwrap_or_else(nothing))
            });
        let values = cells.iter().map(|cell| cell.value).collect();
        let unsettled = Unsettled::new(&metric, values, Vec::new(), findings.collect());
        Open {
            cells,
            role: Role::Secondary,
            unsettled,
        }
    }

    fn own_tests(&self, figures: Vec<Option<Figure>>) -> Open {
        let metric = self.policy.described(named(
            "own_tests",
            "Own tests",
            Unit::Fraction,
            Direction::Up,
            MetricKind::Rate,
        ));
        let cells = self
            .group
            .arms
            .iter()
            .zip(figures)
            .map(|(arm, figure)| Cell::of_own_tests(&arm.counted, figure))
            .collect();
        let unsettled = metrics::of_nothing(
            &metric,
            self.group.arms.len(),
            Design::Counts,
            Incomparable::OwnDenominator,
        );
        Open {
            cells,
            role: Role::Descriptive,
            unsettled,
        }
    }
}

/// The key of the item score.
pub const ITEM_SCORE: &str = "item_score";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::domain::Filter;
    use crate::stats::{Interval, mean_interval, summary};
    use crate::warehouse::{Options, Progress};

    use super::super::arm::Grouping;
    use super::super::estimate::counts;
    use super::super::grouping::suite_groups;
    use super::super::numbers::is_measured;
    use super::super::policy::CONFIDENCE;
    use super::*;

    /// Returns a run's value of a metric, without frames.
    fn value(name: &str, row: &RunRow, matrix: &OutcomeMatrix) -> Option<f64> {
        let count = |value: Option<u64>| value.map(|number| number as f64);
        let share = |(passed, total): (u64, u64)| (total > 0).then(|| passed as f64 / total as f64);
        match name {
            PASS_RATE => share(counts(row, matrix)?),
            "cost_usd" => cost(row),
            "duration_seconds" => duration(row),
            "total_tokens" => tokens(row),
            "own_tests" => share(row.run.own_tests_passed.zip(row.run.own_tests_total)?),
            "files_generated" => count(row.run.files_generated),
            "lines_generated" => count(row.run.lines_generated),
            "total_calls" => count(row.run.total_calls),
            "turns" => count(row.run.turns),
            score => newest_score(row, score),
        }
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-12 * expected.abs().max(f64::MIN_POSITIVE)
    }

    #[test]
    fn frames_and_slices_give_every_figure_of_the_shipped_results() {
        let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let options = Options {
            stores: vec![store],
            ..Options::default()
        };
        let warehouse = Warehouse::open(&options, &Progress::SILENT).expect("the shipped results");
        let (filter, policy) = (Filter::default(), Policy::default());
        let mut compared = 0;
        for group in suite_groups(&warehouse, &filter, Grouping::AllBatches) {
            let answer = SuiteAnswer::of(&warehouse, &group, &policy);
            for MetricAnswer { metric, cells, .. } in &answer.metrics {
                if [COST_PER_SOLVED, ITEM_SCORE].contains(&metric.name.as_str()) {
                    assert!(
                        cells.iter().all(|cell| cell.figure.is_none()),
                        "{}",
                        metric.name
                    );
                    continue;
                }
                for (arm, cell) in group.arms.iter().zip(cells) {
                    let what = format!("{} {:?} {}", group.suite, arm.arm, metric.name);
                    let rows = arm.counted.iter().filter(|row| is_measured(metric, row));
                    let values: Vec<f64> = rows
                        .clone()
                        .filter_map(|row| value(&metric.name, row, &answer.matrix))
                        .collect();
                    let (Some(figure), Ok(slices)) = (&cell.figure, summary(&values)) else {
                        assert_eq!((&cell.figure, values.len()), (&None, 0), "{what}");
                        continue;
                    };
                    compared += 1;
                    assert_eq!(
                        (figure.summary.n, figure.coverage.known),
                        (slices.n, slices.n),
                        "{what}"
                    );
                    assert_eq!(figure.coverage.runs, rows.count() as u64, "{what}");
                    assert_eq!(
                        (figure.summary.min, figure.summary.max),
                        (slices.min, slices.max),
                        "{what}"
                    );
                    assert!(
                        near(figure.summary.mean, slices.mean),
                        "{what}: {} {}",
                        figure.summary.mean,
                        slices.mean
                    );
                    assert_eq!(figure.summary.sd.is_some(), slices.sd.is_some(), "{what}");
                    assert!(
                        near(figure.summary.sd.unwrap_or(0.0), slices.sd.unwrap_or(0.0)),
                        "{what}: {figure:?} {slices:?}"
                    );
                    // The value and the interval of amounts above zero are those of the geometric mean.
                    let is_amount = metric.kind == MetricKind::Amount && slices.min > 0.0;
                    {
                        let ends = |interval: Interval| [interval.low, interval.high];
                        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
                        let whole = if is_amount {
                            mean_interval(&logs, CONFIDENCE)
                                .ok()
                                .map(|ends| [ends.low.exp(), ends.high.exp()])
                        } else {
                            mean_interval(&values, CONFIDENCE).ok().map(ends)
                        };
                        assert_eq!(figure.interval.is_some(), whole.is_some(), "{what}");
                        let (cut, whole) = (
                            figure.interval.map(ends).unwrap_or_default(),
                            whole.unwrap_or_default(),
                        );
                        // Ends beyond the possible values are cut.
                        let is_same = |(cut, whole): (&f64, &f64)| {
                            near(*cut, *whole)
                                || (*cut <= 0.0 && *whole < 0.0)
                                || (*cut >= 1.0 && *whole > 1.0)
                        };
                        assert!(
                            cut.iter().zip(&whole).all(is_same),
                            "{what}: {cut:?} {whole:?}"
                        );
                    }
                }
            }
        }
        assert!(compared > 400, "{compared} figures of the shipped results");
    }
}
