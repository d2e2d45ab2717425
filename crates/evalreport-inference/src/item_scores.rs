//! Item scores, if they contain more than pass or fail.

use crate::domain::{Direction, ItemStatus, Metric, MetricKind, Unit, score_label};
use crate::stats::Interval;
use crate::warehouse::{MatrixRow, OutcomeMatrix, RowScores, RunRow};

use super::arm::SuiteGroup;
use super::estimate::{Estimate, Method, mean_over_items};
use super::policy::{Design, Policy};
use super::sample::{RunSums, RunValueMatrix, SuiteItems, are_repeats, is_column_marked};
use super::scores::{ScoreColumn, newest_score_value, score_columns};

/// The key of the item score.
pub const ITEM_SCORE: &str = "item_score";

/// An arm's scores on the items of a suite.
pub struct ItemScores {
    /// By item of the matrix: the mean over the arm's attempts that have a score.
    pub means: Vec<Option<f64>>,
    /// Items with a score.
    pub counted: u64,
    /// By item: whether it was asked but has no score.
    pub missing: Vec<bool>,
    pub lost: u64,
    /// The mean score of each run that has one, in the order of the runs.
    pub run_means: Vec<f64>,
    /// By repeat and item: the mean score, NaN if none has one. Repeats are the runs, or the attempts of a single run that tried the whole
    /// suite several times. Empty without repeats.
    pub repeats: Vec<Vec<f64>>,
    pub over_runs: RunSums,
}

/// The scores of all arms, with their metric.
pub struct SuiteScores {
    pub metric: Metric,
    /// The runs' score that is the mean of these in every run, under its own name. One score has one row, so this one has no other.
    pub run_score: Option<String>,
    pub arms: Vec<ItemScores>,
    /// The lowest and the highest score of any arm.
    pub range: Interval,
    /// Whether runs give the score in different units or directions, so that the arms' scores are not comparable.
    pub is_mixed: bool,
}

impl SuiteScores {
    /// Returns the scores of a group's arms, or `None` if they only repeat the statuses.
    pub fn from_group(
        group: &SuiteGroup<'_>,
        matrix: &OutcomeMatrix,
        items: &SuiteItems,
        policy: &Policy,
    ) -> Option<Self> {
        // A quick check for suites that only pass or fail.
        if !matrix
            .rows
            .iter()
            .any(|row| matches!(row.scores, RowScores::Own(_)))
        {
            return None;
        }
        let mut seen = ScoreRange::default();
        for row in &matrix.rows {
            for (status, score) in scored_outcomes(row) {
                seen.add_score(status, score);
            }
        }
        let range = seen.range.filter(|_| seen.says_more)?;
        let RunScore {
            unit,
            direction,
            name: run_score,
            is_mixed,
        } = RunScore::find(group, matrix, items, policy);
        let label = run_score.as_deref().map_or("Item score", score_label);
        let metric = Metric {
            name: ITEM_SCORE.to_owned(),
            label: label.to_owned(),
            unit,
            direction,
            kind: MetricKind::Score,
        };
        let own = run_score
            .as_deref()
            .and_then(|run_score| policy.with_settings_of(ITEM_SCORE, run_score));
        Some(Self {
            metric: own.as_ref().unwrap_or(policy).describe_metric(metric),
            run_score,
            arms: group
                .arms
                .iter()
                .map(|arm| ItemScores::new(&[], &arm.counted, matrix, items))
                .collect(),
            range: Interval::new(range.0, range.1)?,
            is_mixed,
        })
    }
}

/// Whether scores contain more than statuses. One score for all passed and one for all failed items do not, on whatever scale.
#[derive(Default)]
struct ScoreRange {
    passed: Option<f64>,
    failed: Option<f64>,
    says_more: bool,
    range: Option<(f64, f64)>,
}

impl ScoreRange {
    fn add_score(&mut self, status: ItemStatus, score: f64) {
        match status {
            // Of an answer that is outside pass rates, its score is all that there is.
            ItemStatus::Skipped => self.says_more = true,
            ItemStatus::Pass => self.note_score_of(true, score),
            ItemStatus::Fail
            | ItemStatus::Error
            | ItemStatus::Limit
            | ItemStatus::Infra
            | ItemStatus::NotEvaluated => self.note_score_of(false, score),
        }
        let (low, high) = self.range.unwrap_or((score, score));
        self.range = Some((low.min(score), high.max(score)));
    }

    fn note_score_of(&mut self, has_passed: bool, score: f64) {
        let known = if has_passed {
            &mut self.passed
        } else {
            &mut self.failed
        };
        let first = *known.get_or_insert(score);
        self.says_more |= first.total_cmp(&score).is_ne();
    }
}

/// Returns the outcomes of a row that have a score.
fn scored_outcomes(row: &MatrixRow) -> impl Iterator<Item = (ItemStatus, f64)> {
    (0..row.statuses.len())
        .filter_map(|place| Some((row.statuses.get(place), score_at(row, place)?)))
}

/// Returns the score at an index of a row. An agent that crashed or hit a limit scores 0.
fn score_at(row: &MatrixRow, place: usize) -> Option<f64> {
    let status = row.statuses.get(place);
    let own = match &row.scores {
        RowScores::Own(scores) => scores[place],
        RowScores::Images => matches!(status, ItemStatus::Pass | ItemStatus::Fail)
            .then(|| f64::from(u8::from(status == ItemStatus::Pass))),
        // This attempt has no score.
        RowScores::Absent => return None,
    };
    match status {
        // Answers that are outside pass rates may have a score but neither pass nor fail.
        ItemStatus::Pass | ItemStatus::Fail | ItemStatus::Skipped => own,
        ItemStatus::Error | ItemStatus::Limit => own.or(Some(0.0)),
        ItemStatus::Infra | ItemStatus::NotEvaluated => None,
    }
}

/// The runs' own score of which the item scores are the parts.
struct RunScore {
    unit: Unit,
    direction: Direction,
    /// Its name, if it is the mean of the item scores in every run that has any.
    name: Option<String>,
    is_mixed: bool,
}

impl RunScore {
    /// Finds the score that is the mean of the first run's item scores. Its unit and direction are those of the runs, or as configured; without
    /// such a score, plain numbers of which more is better.
    fn find(
        group: &SuiteGroup<'_>,
        matrix: &OutcomeMatrix,
        items: &SuiteItems,
        policy: &Policy,
    ) -> Self {
        let mut runs = group
            .arms
            .iter()
            .flat_map(|arm| &arm.counted)
            .filter_map(|run| {
                let scores = ItemScores::new(&[], &[*run], matrix, items);
                Some((*run, *scores.run_means.first()?))
            });
        let is_mean = |column: &ScoreColumn, (run, mean): (&RunRow, f64)| {
            newest_score_value(run, &column.metric)
                .is_some_and(|value| (value - mean).abs() <= 1e-9 * value.abs().max(1.0))
        };
        let (mixed, mut columns): (Vec<_>, Vec<_>) = score_columns(group)
            .into_iter()
            .partition(|column| column.is_mixed);
        // Of two scores with the same mean, the one whose better end is known is meant.
        columns.sort_by_key(|column| column.direction == Direction::None);
        let first = runs.next();
        columns.retain(|column| first.is_some_and(|first| is_mean(column, first)));
        let Some(column) = columns.first().cloned() else {
            let is_mixed =
                first.is_some_and(|first| mixed.iter().any(|column| is_mean(column, first)));
            return Self {
                unit: Unit::Number,
                direction: Direction::Up,
                name: None,
                is_mixed,
            };
        };
        for run in runs {
            columns.retain(|column| is_mean(column, run));
        }
        let (unit, direction) = policy
            .metrics
            .get(&column.metric)
            .map_or((None, None), |settings| (settings.unit, settings.direction));
        Self {
            unit: unit.unwrap_or(column.unit),
            direction: direction.unwrap_or(column.direction),
            name: columns.into_iter().next().map(|column| column.metric),
            is_mixed: false,
        }
    }
}

/// The content at an index of a row.
enum ScoreReading {
    Value(f64),
    /// The item was asked but has no value.
    Missing,
    Not,
}

impl ScoreReading {
    fn new(score: Option<f64>, status: ItemStatus) -> Self {
        match score {
            Some(score) => Self::Value(score),
            None if status == ItemStatus::Skipped => Self::Not,
            None => Self::Missing,
        }
    }
}

impl ItemScores {
    /// Gathers scores as if the marked items were never asked. `left_out` may be empty.
    pub fn new(
        left_out: &[bool],
        runs: &[&RunRow],
        matrix: &OutcomeMatrix,
        items: &SuiteItems,
    ) -> Self {
        let is_in = |row: usize, place: usize| {
            !is_column_marked(left_out, matrix.rows[row].items[place] as usize)
        };
        Self::gather_scores(runs, matrix, items, |row, place| {
            if is_in(row, place) {
                ScoreReading::new(
                    score_at(&matrix.rows[row], place),
                    matrix.rows[row].statuses.get(place),
                )
            } else {
                ScoreReading::Not
            }
        })
    }

    /// Gathers other values beside the outcomes, by matrix row and index. No value counts as missing.
    pub fn from_values(
        runs: &[&RunRow],
        matrix: &OutcomeMatrix,
        items: &SuiteItems,
        value: impl Fn(usize, usize) -> Option<f64>,
    ) -> Self {
        Self::gather_scores(runs, matrix, items, |row, place| {
            value(row, place).map_or(ScoreReading::Not, ScoreReading::Value)
        })
    }

    fn gather_scores(
        runs: &[&RunRow],
        matrix: &OutcomeMatrix,
        items: &SuiteItems,
        value: impl Fn(usize, usize) -> ScoreReading,
    ) -> Self {
        let mut sums = vec![(0.0, 0u32); matrix.items.len()];
        let mut missing = vec![false; matrix.items.len()];
        let mut run_means = Vec::new();
        let mut by_repeat = Vec::new();
        for run in runs {
            let (mut sum, mut count) = (0.0, 0u32);
            let first = matrix.rows.partition_point(|row| row.run < run.run.id);
            let rows = matrix.rows_of_run(&run.run.id);
            let are_attempts_repeats = runs.len() == 1 && are_repeats(rows, &|_| true);
            let mut of_repeat = RepeatSums::new(runs.len() > 1, matrix.items.len());
            for (number, row) in (first..).zip(rows) {
                if are_attempts_repeats {
                    of_repeat = RepeatSums::new(true, matrix.items.len());
                }
                for (place, item) in row.items.iter().enumerate() {
                    match value(number, place) {
                        ScoreReading::Value(score) => {
                            let own = &mut sums[*item as usize];
                            *own = (own.0 + score, own.1 + 1);
                            of_repeat.add_score(*item, score);
                            (sum, count) = (sum + score, count + 1);
                        }
                        ScoreReading::Missing => missing[*item as usize] = true,
                        ScoreReading::Not => {}
                    }
                }
                if are_attempts_repeats {
                    by_repeat.extend(of_repeat.means());
                }
            }
            if count > 0 {
                run_means.push(sum / f64::from(count));
            }
            if runs.len() > 1 {
                by_repeat.extend(of_repeat.means());
            }
        }
        let means: Vec<Option<f64>> = sums
            .into_iter()
            .map(|(sum, count)| (count > 0).then(|| sum / f64::from(count)))
            .collect();
        for (missing, mean) in missing.iter_mut().zip(&means) {
            *missing &= mean.is_none();
        }
        let (mut counted, mut lost) = (0, 0);
        items.for_each_item(|_, columns| {
            let is_counted = columns
                .iter()
                .any(|column| means[*column as usize].is_some());
            counted += u64::from(is_counted);
            lost +=
                u64::from(!is_counted && columns.iter().any(|column| missing[*column as usize]));
        });
        Self {
            counted,
            lost,
            means,
            missing,
            run_means,
            repeats: by_repeat,
            over_runs: RunSums::default(),
        }
    }

    /// Returns the scores, judged by the noise of the same arm's other items.
    #[must_use]
    pub fn with_noise_of(self, whole: &Self) -> Self {
        Self {
            over_runs: self.over_runs.with_noise_of(&whole.over_runs),
            ..self
        }
    }

    /// Returns the mean score of each item that has one, averaged over evaluators.
    pub fn item_means(&self, items: &SuiteItems) -> Vec<f64> {
        items
            .item_means(|column| self.means[column])
            .into_iter()
            .map(|(_, mean)| mean)
            .collect()
    }

    /// Returns the mean score with its interval over `unit`, or `None` for an arm without scores.
    pub fn estimate_mean(
        &self,
        items: &SuiteItems,
        unit: Design,
        is_share: bool,
    ) -> Option<Estimate> {
        let means = items.item_means(|column| self.means[column]);
        let found = match unit {
            Design::Items | Design::Clusters => mean_over_items(
                &means,
                (RunValueMatrix::Values(&self.repeats), &self.over_runs),
                items,
                unit,
                is_share,
            )?,
            Design::Runs | Design::Counts => mean_over_runs(&self.run_means, items)?,
        };
        Some(Estimate {
            missing: self.lost,
            ..found
        })
    }
}

/// The scores of one repeat by item: their sum and number. Empty if the arm has no repeats.
struct RepeatSums(Vec<(f64, u32)>);

impl RepeatSums {
    fn new(is_repeated: bool, items: usize) -> Self {
        Self(vec![(0.0, 0); if is_repeated { items } else { 0 }])
    }

    fn add_score(&mut self, item: u32, score: f64) {
        if let Some(own) = self.0.get_mut(item as usize) {
            *own = (own.0 + score, own.1 + 1);
        }
    }

    /// Returns the mean of each item, NaN without a score.
    fn means(&self) -> Option<Vec<f64>> {
        let means = self.0.iter().map(|(sum, count)| sum / f64::from(*count));
        (!self.0.is_empty()).then(|| means.collect())
    }
}

/// Estimates the mean over runs, each an independent unit.
fn mean_over_runs(means: &[f64], items: &SuiteItems) -> Option<Estimate> {
    let numbered: Vec<(u32, f64)> = (0..).zip(means.iter().copied()).collect();
    let found = mean_over_items(
        &numbered,
        (RunValueMatrix::Values(&[]), &RunSums::default()),
        items,
        Design::Items,
        false,
    )?;
    let method = if found.interval.is_some() {
        Method::TOverRuns
    } else {
        Method::None
    };
    Some(Estimate {
        n_of: "runs",
        method,
        ..found
    })
}
