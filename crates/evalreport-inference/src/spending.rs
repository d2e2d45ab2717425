//! Spending on the same items: cost, tokens and time paired item by item, and the cost per solved item.

use crate::domain::{ItemStatus, Metric, RunStatus};
use crate::stats::{Interval, mean_t, ratio_of_means_paired, summarise_sample};
use crate::warehouse::{AttemptUsage, ItemUsage, OutcomeMatrix, RunRow};

use super::comparison::{Difference, Levels, Scale, Sizes, Test};
use super::estimate::{Estimate, Method, run_counts};
use super::figures::run_cost;
use super::item_scores::ItemScores;
use super::numbers::AMOUNT_ROUNDING;
use super::pair_test::{DataPrecision, PairFinding, smallest_flip};
use super::paired::{ArmValues, SharedItemPair};
use super::policy::{Design, MIN_ITEMS, MIN_RUNS, Policy};
use super::sample::{ArmOutcomes, SuiteItems};
use super::secondary_effects::{Bill, Detail};
use super::unpaired::compare_run_means;
use super::verdict::{DataSupport, Missing, Obstacle};

/// An amount spent on an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpendingKind {
    Cost,
    Tokens,
    Seconds,
}

impl SpendingKind {
    /// Returns the amount that a metric sums up, by the metric's key.
    pub fn from_metric(name: &str) -> Option<Self> {
        match name {
            "cost_usd" => Some(Self::Cost),
            "total_tokens" => Some(Self::Tokens),
            "duration_seconds" => Some(Self::Seconds),
            _ => None,
        }
    }

    fn amount(self, amounts: AttemptUsage) -> Option<f64> {
        match self {
            Self::Cost => amounts.cost_usd,
            Self::Tokens => amounts.tokens.map(|tokens| tokens as f64),
            Self::Seconds => amounts.seconds,
        }
    }
}

/// An arm's spending on the items of a suite, in its completed runs.
pub(super) struct ItemSpending {
    /// The amounts.
    amounts: ItemScores,
    /// The logarithms of amounts above zero.
    logs: ItemScores,
    /// Outcomes that hit a limit: the time they would have taken is unknown.
    censored: u64,
}

impl ItemSpending {
    pub fn from_runs(
        spent: SpendingKind,
        runs: &[&RunRow],
        matrix: &OutcomeMatrix,
        amounts: &ItemUsage,
        items: &SuiteItems,
    ) -> Self {
        let completed: Vec<&RunRow> = runs
            .iter()
            .copied()
            .filter(|row| row.run.status == RunStatus::Completed)
            .collect();
        let value = |row: usize, place: usize| {
            spent
                .amount(amounts.for_outcome(row, place))
                .filter(|value| value.is_finite())
        };
        let log =
            |row: usize, place: usize| value(row, place).filter(|value| *value > 0.0).map(f64::ln);
        let is_time = spent == SpendingKind::Seconds;
        let limited = |run: &&RunRow| {
            let rows = matrix.rows_of_run(&run.run.id);
            rows.iter()
                .flat_map(|row| row.statuses.iter())
                .filter(|status| *status == ItemStatus::Limit)
                .count() as u64
        };
        Self {
            amounts: ItemScores::from_values(&completed, matrix, items, value),
            logs: ItemScores::from_values(&completed, matrix, items, log),
            censored: if is_time {
                completed.iter().map(limited).sum()
            } else {
                0
            },
        }
    }

    /// Returns the typical amount of an item, a geometric mean, with its interval.
    pub fn typical_amount(&self, items: &SuiteItems, unit: Design) -> Option<Estimate> {
        let unit = if unit.is_over_items() {
            unit
        } else {
            Design::Items
        };
        let found = self.logs.estimate_mean(items, unit, false)?;
        let interval = found
            .interval
            .and_then(|ends| Interval::new(ends.low.exp(), ends.high.exp()));
        Some(Estimate {
            value: found.value.exp(),
            interval,
            standard_error: None,
            method: Method::GeometricMean,
            missing: 0,
            ..found
        })
    }

    /// Returns whether every item has the same amount in all of several runs, as many as make a result fixed.
    fn is_constant(&self) -> bool {
        let runs = &self.logs.repeats;
        let is_same = |item: usize| {
            let first = self.logs.means[item].unwrap_or_default();
            runs.iter().all(|run| {
                run[item].is_nan() == self.logs.means[item].is_none()
                    && (run[item].is_nan() || (run[item] - first).abs() <= AMOUNT_ROUNDING)
            })
        };
        self.logs.run_means.len() >= MIN_RUNS && (0..self.logs.means.len()).all(is_same)
    }

    /// Returns whether the amounts of most items with outcomes are known.
    fn covers_most_items(&self, outcomes: &ArmOutcomes) -> bool {
        self.logs.counted >= MIN_ITEMS as u64
            && self.logs.counted as f64 >= MIN_KNOWN_SHARE * outcomes.counted as f64
    }
}

/// Minimum share of items with known amounts.
const MIN_KNOWN_SHARE: f64 = 0.9;

/// Compares two arms' spending on shared items: the typical ratio decides, if the sum points in the same direction. Returns `None` if too
/// few items have amounts. Of a metric that shares the machine's state, fewer runs than a verdict needs only describe.
pub(super) fn compare_over_items(
    metric: &Metric,
    (one, outcomes): (&ItemSpending, &ArmOutcomes),
    (other, other_outcomes): (&ItemSpending, &ArmOutcomes),
    design: Option<Design>,
    items: &SuiteItems,
    policy: &Policy,
) -> Option<PairFinding> {
    if !one.covers_most_items(outcomes) || !other.covers_most_items(other_outcomes) {
        return None;
    }
    let any = Interval::new(f64::MIN, f64::MAX)?;
    let arms = (
        ArmValues::Values(&one.logs, any),
        ArmValues::Values(&other.logs, any),
    );
    let shared = SharedItemPair::from_values(arms, Scale::Unit, false, items, policy);
    let design = design.unwrap_or_else(|| shared.natural_design());
    if shared.unpairable_finding().is_some() || !design.is_over_items() {
        return None;
    }
    let mut finding = shared.compare_units(design, policy);
    finding.difference = finding.difference.map(Difference::to_ratio);
    finding.levels = finding.levels.map(Levels::to_geometric_means);
    // Missing amounts have no bounds.
    (finding.bounds, finding.beyond, finding.parts) = (None, None, None);
    let (own, others): (Vec<f64>, Vec<f64>) = items
        .paired_means(
            |column| one.amounts.means[column],
            |column| other.amounts.means[column],
        )
        .into_iter()
        .map(|(_, own, others)| (own, others))
        .unzip();
    if let Ok(found) = ratio_of_means_paired(&own, &others, policy.confidence()) {
        let degrees = own.len() as f64 - 1.0;
        finding.detail.bill = found
            .student_interval(degrees, policy.confidence())
            .ok()
            .map(|interval| Bill {
                ratio: found.ratio,
                interval,
            });
    }
    settle_equal_ratios(&mut finding, &own, &others);
    super::numbers::doubt_if_totals_disagree(&mut finding, &own, &others);
    if one.censored + other.censored > 0 {
        finding.mark_censored();
    }
    if one.is_constant() && other.is_constant() {
        finding.set_fixed();
    }
    if metric.shares_state() && shared.fewest_runs() < MIN_RUNS {
        finding.set_descriptive(Obstacle::FewRuns);
    }
    Some(finding)
}

/// Gives a finding an interval and a p-value if the two arms' amounts have the same ratio on every item: a spread of nothing is no lack of data.
fn settle_equal_ratios(finding: &mut PairFinding, own: &[f64], others: &[f64]) {
    let Some(found) = finding.difference.filter(|found| {
        found.interval.is_none()
            && found.scale == Scale::Ratio
            && finding.design == Design::Items
            && own.len() >= MIN_ITEMS
    }) else {
        return;
    };
    let is_same = |(own, other): (&f64, &f64)| {
        (own / other / found.value - 1.0).abs() <= EQUAL_RATIO_TOLERANCE
    };
    if !own.iter().zip(others).all(is_same) {
        return;
    }
    finding.difference = Some(Difference {
        interval: Interval::new(found.value, found.value),
        ..found
    });
    let is_one = (found.value - 1.0).abs() <= EQUAL_RATIO_TOLERANCE;
    let p = if is_one {
        1.0
    } else {
        smallest_flip(own.len() as u64)
    };
    finding.set_p_value(Test::SignFlip, p, None);
}

/// Relative tolerance of ratios that are equal but for rounding.
const EQUAL_RATIO_TOLERANCE: f64 = 1e-9;

/// Compares two arms' cost per solved item on shared items: the ratio of total cost over solved items, by the delta method on its logarithm
/// with Student's quantile over items. Returns `None` if costs are not known by item, or if an arm solved nothing.
pub(super) fn compare_price_per_solved(
    (one, outcomes): (&ItemSpending, &ArmOutcomes),
    (other, other_outcomes): (&ItemSpending, &ArmOutcomes),
    items: &SuiteItems,
    policy: &Policy,
) -> Option<PairFinding> {
    if !one.covers_most_items(outcomes) || !other.covers_most_items(other_outcomes) {
        return None;
    }
    let costs = items.paired_means(
        |column| one.amounts.means[column],
        |column| other.amounts.means[column],
    );
    let solved = items.paired_means(
        |column| outcomes.item_mean(column),
        |column| other_outcomes.item_mean(column),
    );
    let by_item: std::collections::BTreeMap<u32, (f64, f64)> = solved
        .into_iter()
        .map(|(item, own, others)| (item, (own, others)))
        .collect();
    let rows: Vec<[f64; 4]> = costs
        .into_iter()
        .filter_map(|(item, cost, other_cost)| {
            by_item
                .get(&item)
                .map(|(solved, other_solved)| [cost, *solved, other_cost, *other_solved])
        })
        .collect();
    let n = rows.len();
    let means = [0, 1, 2, 3].map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / n as f64);
    let sizes = Sizes {
        first: n as u64,
        second: n as u64,
        pairs: Some(n as u64),
        of: items.plural_word(),
        ..Sizes::default()
    };
    if n < MIN_ITEMS || means.iter().any(|mean| mean.is_nan() || *mean <= 0.0) {
        return Some(PairFinding::without_data(
            Design::Items,
            Missing::NotMeasured,
            sizes,
        ));
    }
    let log = (means[0] / means[1]).ln() - (means[2] / means[3]).ln();
    // Each item's first-order contribution to the logarithm. Their mean is that logarithm.
    let term = |row: &[f64; 4]| {
        log + row[0] / means[0] - row[1] / means[1] - row[2] / means[2] + row[3] / means[3]
    };
    let terms: Vec<f64> = rows.iter().map(term).collect();
    let mut finding = PairFinding::new(Design::Items, DataSupport::Fixed, sizes);
    finding.levels = Some(Levels {
        first: means[0] / means[1],
        second: means[2] / means[3],
    });
    let at = |interval| {
        Some(
            Difference {
                value: log,
                scale: Scale::Ratio,
                interval,
            }
            .to_ratio(),
        )
    };
    match mean_t(&summarise_sample(&terms).ok()?, policy.confidence()) {
        Ok(found) => {
            finding.difference = at(Some(found.interval));
            finding.set_p_value(Test::DeltaOnLogs, found.p, None);
            finding.precision = Some(DataPrecision::Error {
                se: found.standard_error,
                degrees: found.degrees,
            });
        }
        Err(_) => finding.difference = at(None),
    }
    Some(finding)
}

/// One run's cost and solved items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunPrice {
    pub cost: f64,
    pub solved: f64,
}

impl RunPrice {
    /// Returns the prices of every run, including failed runs: their cost is part of the price of the solved items. Returns `None` if a
    /// run's cost is unknown.
    pub fn from_runs(runs: &[&RunRow], matrix: &OutcomeMatrix) -> Option<Vec<Self>> {
        runs.iter()
            .map(|row| {
                Some(Self {
                    cost: run_cost(row)?,
                    solved: run_counts(row, matrix)?.0 as f64,
                })
            })
            .collect()
    }
}

/// Compares two arms' cost per solved item over runs: total cost over solved items, by the delta method on the logarithm, with a separate
/// variance for each arm (Welch). The finding has no data if an arm has no cost or solved nothing.
pub(super) fn compare_price_over_runs(
    one: &[RunPrice],
    other: &[RunPrice],
    policy: &Policy,
) -> PairFinding {
    let sizes = Sizes {
        first: one.len() as u64,
        second: other.len() as u64,
        of: "runs",
        ..Sizes::default()
    };
    let Some((one, other)) = log_prices(one).zip(log_prices(other)) else {
        return PairFinding::without_data(Design::Runs, Missing::NotMeasured, sizes);
    };
    let mut finding = compare_run_means(&one, &other, Scale::Ratio, policy);
    finding.difference = finding.difference.map(Difference::to_ratio);
    finding.levels = finding.levels.map(Levels::to_geometric_means);
    finding.test = finding.test.map(|test| {
        if test == Test::Welch {
            Test::DeltaOnLogs
        } else {
            test
        }
    });
    let is_constant = |terms: &[f64]| {
        terms.len() >= MIN_RUNS
            && terms
                .iter()
                .all(|term| (term - terms[0]).abs() <= AMOUNT_ROUNDING)
    };
    if is_constant(&one) && is_constant(&other) {
        finding.set_fixed();
    }
    // A second method and an effect size would apply to the linear terms, which mean nothing by themselves.
    finding.detail = Detail::default();
    finding
}

/// Returns each run's first-order contribution to the logarithm of total cost over solved items. Their mean is that logarithm, and the
/// variance of the mean is that of the delta method.
fn log_prices(runs: &[RunPrice]) -> Option<Vec<f64>> {
    let mean = |of: fn(&RunPrice) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let (cost, solved) = (mean(|run| run.cost), mean(|run| run.solved));
    let is_price = cost > 0.0 && solved > 0.0;
    is_price.then(|| {
        runs.iter()
            .map(|run| (cost / solved).ln() + run.cost / cost - run.solved / solved)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{ratio_of_means_paired, t_quantile};

    fn runs(prices: &[(f64, f64)]) -> Vec<RunPrice> {
        prices
            .iter()
            .map(|(cost, solved)| RunPrice {
                cost: *cost,
                solved: *solved,
            })
            .collect()
    }

    #[test]
    fn a_price_over_runs_is_the_ratio_of_totals_by_the_delta_method() {
        let (cheap, dear) = (
            [(1.0, 9.0), (1.5, 11.0), (1.2, 10.0), (0.9, 0.0)],
            [(4.0, 8.0), (5.5, 12.0), (4.4, 9.0), (5.0, 10.0)],
        );
        let found = compare_price_over_runs(&runs(&cheap), &runs(&dear), &Policy::default());
        let total = |prices: &[(f64, f64)]| {
            prices.iter().map(|one| one.0).sum::<f64>()
                / prices.iter().map(|one| one.1).sum::<f64>()
        };
        let difference = found.difference.expect("both have a price");
        assert!(
            (difference.value - total(&cheap) / total(&dear)).abs() < 1e-12,
            "{difference:?}"
        );
        assert_eq!(
            (found.test, found.design, difference.scale),
            (Some(Test::DeltaOnLogs), Design::Runs, Scale::Ratio)
        );
        // The standard error combines both arms' own ratios.
        let error = |prices: &[(f64, f64)]| {
            let (cost, solved): (Vec<f64>, Vec<f64>) = prices.iter().copied().unzip();
            let found = ratio_of_means_paired(&cost, &solved, 0.95).expect("it varies");
            let interval = found.student_interval(3.0, 0.95).expect("in range");
            (interval.high / interval.low).ln() / 2.0 / t_quantile(0.975, 3.0).expect("in range")
        };
        let (own, others) = (error(&cheap).powi(2), error(&dear).powi(2));
        let degrees = (own + others).powi(2) / (own.powi(2) / 3.0 + others.powi(2) / 3.0);
        let half = t_quantile(0.975, degrees).expect("in range") * (own + others).sqrt();
        let interval = difference.interval.expect("runs vary");
        assert!(
            ((interval.high / difference.value).ln() - half).abs() < 1e-9,
            "{interval:?} {half}"
        );
    }

    #[test]
    fn few_runs_say_so_and_nothing_solved_is_no_price() {
        let pair = |one: &[(f64, f64)], other: &[(f64, f64)]| {
            compare_price_over_runs(&runs(one), &runs(other), &Policy::default()).support
        };
        let few = DataSupport::Thin {
            obstacle: Obstacle::FewRuns,
            p: None,
        };
        assert_eq!(pair(&[(1.0, 3.0)], &[(2.0, 3.0)]), few);
        assert!(matches!(
            pair(&[(1.0, 3.0), (1.0, 4.0)], &[(2.0, 3.0), (2.5, 2.0)]),
            DataSupport::Thin {
                obstacle: Obstacle::FewRuns,
                ..
            }
        ));
        for nothing in [&[(1.0, 0.0), (2.0, 0.0)][..], &[(0.0, 3.0)], &[]] {
            assert_eq!(
                pair(nothing, &[(2.0, 3.0)]),
                DataSupport::NoData(Missing::NotMeasured),
                "{nothing:?}"
            );
        }
    }
}
