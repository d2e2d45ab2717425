//! What items scored, where that says more than whether they passed.

use crate::domain::{Direction, ItemStatus, Metric, MetricKind, Unit};
use crate::stats::{Interval, clustered_mean, mean_interval, summary};
use crate::warehouse::{MatrixRow, OutcomeMatrix, RowScores, RunRow};

use super::arm::SuiteGroup;
use super::estimate::{CONFIDENCE, ClusterSpread, Estimate, Method, standard_error};
use super::evidence::{Design, Policy};
use super::leaderboard::{newest_score, score_columns};
use super::sample::{Items, is_marked};

/// An arm's scores on the items of a suite.
pub(super) struct ItemScores {
    /// By item of the matrix: the mean over the arm's attempts that have a score.
    pub means: Vec<Option<f64>>,
    /// Items with a score.
    pub counted: u64,
    /// By item: something was asked, and there is no score.
    pub missing: Vec<bool>,
    pub lost: u64,
    /// The mean score of each run with one, in the order of the runs.
    pub run_means: Vec<f64>,
}

/// All arms' scores, and what they are measured in.
pub(super) struct SuiteScores {
    pub metric: Metric,
    pub arms: Vec<ItemScores>,
    /// The lowest and the highest score of any arm.
    pub range: Interval,
}

impl SuiteScores {
    /// Returns the scores of a group's arms; nothing where all of them say just what the statuses say.
    pub fn of(group: &SuiteGroup<'_>, matrix: &OutcomeMatrix, policy: &Policy) -> Option<Self> {
        // Suites that only pass or fail cost no more than this look.
        if !matrix.rows.iter().any(|row| matches!(row.scores, RowScores::Own(_))) {
            return None;
        }
        let mut seen = Seen::default();
        for row in &matrix.rows {
            for (status, score) in scored(row) {
                seen.add(status, score);
            }
        }
        let range = seen.range.filter(|_| seen.says_more)?;
        let (unit, direction) = meaning(group, matrix, policy);
        let metric = Metric { name: "item_score".to_owned(), label: "Item Score".to_owned(), unit, direction, kind: MetricKind::Score };
        Some(Self {
            metric: policy.described(metric),
            arms: group.arms.iter().map(|arm| ItemScores::of(&[], &arm.counted, matrix)).collect(),
            range: Interval::new(range.0, range.1)?,
        })
    }
}

/// Whether scores say more than statuses do: one score for all that passed and one for all that failed say no more, on whatever scale.
#[derive(Default)]
struct Seen {
    passed: Option<f64>,
    failed: Option<f64>,
    says_more: bool,
    range: Option<(f64, f64)>,
}

impl Seen {
    fn add(&mut self, status: ItemStatus, score: f64) {
        let known = if status == ItemStatus::Pass { &mut self.passed } else { &mut self.failed };
        let first = *known.get_or_insert(score);
        self.says_more |= first.total_cmp(&score).is_ne();
        let (low, high) = self.range.unwrap_or((score, score));
        self.range = Some((low.min(score), high.max(score)));
    }
}

/// The outcomes of a row that have a score.
fn scored(row: &MatrixRow) -> impl Iterator<Item = (ItemStatus, f64)> {
    (0..row.statuses.len()).filter_map(|place| Some((row.statuses[place], score_at(row, place)?)))
}

/// The score at a place of a row. An agent that broke down or ran out of time has scored nothing, which is 0.
fn score_at(row: &MatrixRow, place: usize) -> Option<f64> {
    let status = row.statuses[place];
    let own = match &row.scores {
        RowScores::Own(scores) => scores[place],
        RowScores::Images => matches!(status, ItemStatus::Pass | ItemStatus::Fail).then(|| f64::from(u8::from(status == ItemStatus::Pass))),
        // Nobody scored this attempt.
        RowScores::Absent => return None,
    };
    match status {
        // Outside of pass rates stand answers with a score that neither passes nor fails.
        ItemStatus::Pass | ItemStatus::Fail | ItemStatus::Skipped => own,
        ItemStatus::Error | ItemStatus::Limit => own.or(Some(0.0)),
        ItemStatus::Infra | ItemStatus::NotEvaluated => None,
    }
}

/// What the scores are measured in: as the runs' own score or the project says of the one that is their mean, else plain numbers of which
/// more is better.
fn meaning(group: &SuiteGroup<'_>, matrix: &OutcomeMatrix, policy: &Policy) -> (Unit, Direction) {
    let mut runs = group.arms.iter().flat_map(|arm| &arm.counted);
    let first = runs.find_map(|run| Some((*run, ItemScores::of(&[], &[*run], matrix).run_means.first().copied()?)));
    let column = first.and_then(|(run, mean)| {
        let is_mean = |value: f64| (value - mean).abs() <= 1e-9 * value.abs().max(1.0);
        score_columns(group).into_iter().find(|column| !column.is_mixed && newest_score(run, &column.metric).is_some_and(is_mean))
    });
    column.map_or((Unit::Number, Direction::Up), |column| {
        let settings = policy.metrics.get(&column.metric);
        let (unit, direction) = settings.map_or((None, None), |settings| (settings.unit, settings.direction));
        (unit.unwrap_or(column.unit), direction.unwrap_or(column.direction))
    })
}

impl ItemScores {
    /// As if the items that are marked were never asked; no mark at all is none.
    pub fn of(left_out: &[bool], runs: &[&RunRow], matrix: &OutcomeMatrix) -> Self {
        let mut sums = vec![(0.0, 0u32); matrix.items.len()];
        let mut missing = vec![false; matrix.items.len()];
        let mut run_means = Vec::new();
        for run in runs {
            let (mut sum, mut count) = (0.0, 0u32);
            for row in matrix.rows_of(&run.run.id) {
                for (place, item) in row.items.iter().enumerate().filter(|(_, item)| !is_marked(left_out, **item as usize)) {
                    match score_at(row, place) {
                        Some(score) => {
                            let own = &mut sums[*item as usize];
                            *own = (own.0 + score, own.1 + 1);
                            (sum, count) = (sum + score, count + 1);
                        }
                        None => missing[*item as usize] |= row.statuses[place] != ItemStatus::Skipped,
                    }
                }
            }
            if count > 0 {
                run_means.push(sum / f64::from(count));
            }
        }
        let means: Vec<Option<f64>> = sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect();
        for (missing, mean) in missing.iter_mut().zip(&means) {
            *missing &= mean.is_none();
        }
        Self {
            counted: means.iter().flatten().count() as u64,
            lost: missing.iter().filter(|missing| **missing).count() as u64,
            means,
            missing,
            run_means,
        }
    }

    /// The mean score with its interval over what `unit` says was repeated; nothing for an arm without scores.
    pub fn estimate(&self, items: &Items, unit: Design) -> Option<Estimate> {
        let values: Vec<f64> = self.means.iter().flatten().copied().collect();
        let mean = summary(&values).ok()?.mean;
        let base = Estimate {
            value: mean,
            interval: None,
            guaranteed: None,
            n: self.counted,
            n_of: items.kind?.plural(),
            method: Method::None,
            standard_error: None,
            clusters: None,
            missing: self.lost,
            passed: None,
            total: None,
        };
        let with = |interval: Option<Interval>, method| match interval {
            Some(_) => Estimate { interval, method, ..base.clone() },
            None => base.clone(),
        };
        Some(match unit {
            Design::Items => {
                Estimate { standard_error: standard_error(&values), ..with(mean_interval(&values, CONFIDENCE).ok(), Method::TOverItems) }
            }
            Design::Clusters => {
                let codes = items.clusters.as_deref().unwrap_or_default();
                let codes: Vec<u32> = self.means.iter().zip(codes).filter(|(mean, _)| mean.is_some()).map(|(_, code)| *code).collect();
                match clustered_mean(&values, &codes, CONFIDENCE) {
                    Ok(found) => Estimate {
                        standard_error: Some(found.se_cr1),
                        clusters: Some(ClusterSpread { clusters: found.clusters, design_effect: found.design_effect }),
                        ..with(Some(found.interval), Method::TOverClusters)
                    },
                    Err(_) => base,
                }
            }
            Design::Runs | Design::Counts => {
                let value = summary(&self.run_means).ok()?.mean;
                let interval = mean_interval(&self.run_means, CONFIDENCE).ok();
                let error = standard_error(&self.run_means);
                Estimate { value, n: self.run_means.len() as u64, n_of: "runs", standard_error: error, ..with(interval, Method::TOverRuns) }
            }
        })
    }
}
