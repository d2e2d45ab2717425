//! What an arm's runs say about one metric, reduced to the units that were independently repeated.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{ItemKind, ItemStatus};
use crate::warehouse::{OutcomeMatrix, RowScores, RunRow};

/// An arm's outcomes on the items of a suite.
#[cfg_attr(test, derive(Default))]
pub(super) struct Outcomes {
    /// By item of the matrix: passed and counted outcomes over all runs and attempts.
    pub cells: Vec<(u32, u32)>,
    /// Items with a counted outcome.
    pub counted: u64,
    /// By item: an outcome was asked for and is missing, and none was counted.
    pub missing: Vec<bool>,
    /// How many of them there are.
    pub lost: u64,
    /// By item: whether an outcome is there that neither counts nor is missing.
    pub beside: Vec<Asked>,
    /// Passed and counted by run, in the order of the runs.
    pub by_run: Vec<(u64, u64)>,
    /// Goes at the suite: runs, or attempts within them.
    pub attempts: u64,
    /// Outcomes that an attempt lacks: outages, unjudged, or absent while other arms have them.
    pub unanswered: u64,
    /// At least three runs, and each passed exactly the same items.
    pub deterministic: bool,
}

/// Whether an arm was asked an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    Not,
    /// Its outcome says so, and nothing came of it.
    Skipped,
    /// Whatever came of it: an outcome, a score, or an answer that is missing.
    Answered,
}

/// Fewer equal runs than this are no sign that an arm never varies.
const DETERMINISTIC_RUNS: usize = 3;

impl Outcomes {
    /// Counts the outcomes of an arm's runs; nothing where a counted run has none.
    pub fn of(runs: &[&RunRow], matrix: &OutcomeMatrix) -> Option<Self> {
        Self::without(&[], runs, matrix)
    }

    /// The same as if the items that are marked were never asked.
    fn without(left_out: &[bool], runs: &[&RunRow], matrix: &OutcomeMatrix) -> Option<Self> {
        let is_in = |item: u32| !is_marked(left_out, item as usize);
        let asked = matrix.items.len() - left_out.iter().filter(|marked| **marked).count();
        let mut cells = vec![(0, 0); matrix.items.len()];
        let mut missing = vec![false; matrix.items.len()];
        let mut beside = vec![Asked::Not; matrix.items.len()];
        let mut by_run = Vec::with_capacity(runs.len());
        let (mut attempts, mut unanswered) = (0, 0);
        let mut first: Option<Vec<(u32, ItemStatus)>> = None;
        let mut all_equal = true;
        for run in runs {
            let rows = matrix.rows_of(&run.run.id);
            if rows.is_empty() {
                return None;
            }
            let (mut passed, mut counted) = (0u64, 0u64);
            for row in rows {
                attempts += 1;
                let held = if left_out.is_empty() { row.items.len() } else { row.items.iter().filter(|item| is_in(**item)).count() };
                unanswered += (asked - held) as u64;
                for (place, (item, status)) in row.items.iter().zip(&row.statuses).enumerate().filter(|(_, (item, _))| is_in(**item)) {
                    let cell = &mut cells[*item as usize];
                    if status.is_counted() {
                        let is_pass = *status == ItemStatus::Pass;
                        cell.0 += u32::from(is_pass);
                        cell.1 += 1;
                        passed += u64::from(is_pass);
                        counted += 1;
                    } else if status.is_missing() {
                        missing[*item as usize] = true;
                        unanswered += 1;
                    } else {
                        let has_score = matches!(&row.scores, RowScores::Own(scores) if scores[place].is_some());
                        let how = if has_score { Asked::Answered } else { Asked::Skipped };
                        beside[*item as usize] = how.max(beside[*item as usize]);
                    }
                }
            }
            by_run.push((passed, counted));
            if runs.len() >= DETERMINISTIC_RUNS && all_equal {
                let own = rows.iter().flat_map(|row| row.items.iter().copied().zip(row.statuses.iter().copied()));
                let own = own.filter(|(item, _)| is_in(*item));
                match &first {
                    None => first = Some(own.collect()),
                    Some(first) => all_equal = first.iter().copied().eq(own),
                }
            }
        }
        for (missing, cell) in missing.iter_mut().zip(&cells) {
            *missing &= cell.1 == 0;
        }
        let deterministic = runs.len() >= DETERMINISTIC_RUNS && all_equal;
        let counted = cells.iter().filter(|(_, counted)| *counted > 0).count() as u64;
        let lost = missing.iter().filter(|missing| **missing).count() as u64;
        (!runs.is_empty()).then_some(Self { cells, counted, missing, lost, beside, by_run, attempts, unanswered, deterministic })
    }

    /// Whether the arm was asked an item.
    pub fn asked(&self, item: usize) -> Asked {
        if self.cells[item].1 > 0 || self.missing[item] { Asked::Answered } else { self.beside[item] }
    }

    /// Whether no item has an outcome that passes or fails, or lacks one: all that the arm has are scores.
    pub fn is_unrated(&self) -> bool {
        self.counted == 0 && self.lost == 0
    }

    /// The share of its attempts at an item that the arm passed.
    pub fn mean(&self, item: usize) -> Option<f64> {
        let (passed, counted) = self.cells[item];
        (counted > 0).then(|| f64::from(passed) / f64::from(counted))
    }

    /// Whether the arm passed more than half of its attempts at an item.
    pub fn majority(&self, item: usize) -> Option<bool> {
        let (passed, counted) = self.cells[item];
        (counted > 0).then(|| 2 * passed > counted)
    }

    /// The pass rate of each run with counted outcomes.
    pub fn run_rates(&self) -> Vec<f64> {
        self.by_run.iter().filter(|(_, counted)| *counted > 0).map(|(passed, counted)| *passed as f64 / *counted as f64).collect()
    }
}

/// What is known of an arm's pass rate.
pub(super) enum Rates {
    Outcomes(Outcomes),
    /// Passed and total of each run: no items to pair on.
    Counts(Vec<(u64, u64)>),
    Unknown,
}

impl Rates {
    pub fn of(runs: &[&RunRow], matrix: &OutcomeMatrix) -> Self {
        Self::without(&[], runs, matrix)
    }

    /// The same as if the items that are marked were never asked; no mark at all is none.
    pub fn without(left_out: &[bool], runs: &[&RunRow], matrix: &OutcomeMatrix) -> Self {
        if let Some(outcomes) = Outcomes::without(left_out, runs, matrix) {
            return Self::Outcomes(outcomes);
        }
        let of_run = |row: &&RunRow| row.run.shared_tests_passed.zip(row.run.shared_tests_total).filter(|(_, total)| *total > 0);
        let counts: Vec<(u64, u64)> = runs.iter().filter_map(of_run).collect();
        if counts.is_empty() { Self::Unknown } else { Self::Counts(counts) }
    }

    /// The pass rate of each run.
    pub fn run_rates(&self) -> Vec<f64> {
        match self {
            Self::Outcomes(outcomes) => outcomes.run_rates(),
            Self::Counts(counts) => counts.iter().map(|(passed, total)| *passed as f64 / *total as f64).collect(),
            Self::Unknown => Vec::new(),
        }
    }

    /// Passed and counted over all runs.
    pub fn totals(&self) -> (u64, u64) {
        sums(self.by_run())
    }

    /// Passed and counted of each run.
    pub fn by_run(&self) -> &[(u64, u64)] {
        match self {
            Self::Outcomes(outcomes) => &outcomes.by_run,
            Self::Counts(counts) => counts,
            Self::Unknown => &[],
        }
    }

    pub fn is_deterministic(&self) -> bool {
        match self {
            Self::Outcomes(outcomes) => outcomes.deterministic,
            Self::Counts(_) | Self::Unknown => false,
        }
    }
}

/// Whether an item is marked, in marks that may be missing altogether.
pub(super) fn is_marked(marks: &[bool], item: usize) -> bool {
    marks.get(item).copied().unwrap_or_default()
}

/// Passed and counted over all runs.
pub(super) fn sums(by_run: &[(u64, u64)]) -> (u64, u64) {
    by_run.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// The items of a suite as far as a comparison needs them.
pub(super) struct Items {
    pub kind: Option<ItemKind>,
    /// By item: the number of its cluster, counted from 0, where any item has one.
    pub clusters: Option<Vec<u32>>,
    pub cluster_count: usize,
    /// By item: a number for its name, where several evaluators may know one item.
    names: Option<Vec<u32>>,
}

impl Items {
    pub fn of(matrix: &OutcomeMatrix) -> Self {
        let mut numbers = BTreeMap::<&str, u32>::new();
        let mut next = 0;
        let codes = matrix.items.iter().map(|item| {
            let own = next;
            // An item without a cluster among others that have one is a cluster of its own.
            let code = item.cluster.as_deref().map_or(own, |cluster| *numbers.entry(cluster).or_insert(own));
            next += u32::from(code == own);
            code
        });
        let codes: Vec<u32> = codes.collect();
        let clusters = if numbers.is_empty() { None } else { Some(codes) };
        let cluster_count = clusters.as_ref().map_or(0, |_| next as usize);
        Self { kind: matrix.items.first().map(|item| item.key.kind), clusters, cluster_count, names: names(matrix) }
    }

    /// Says whether two arms without a common item, each of which says which items it has, were asked items of the same names, of which
    /// others judged.
    pub fn are_alike(&self, has: impl Fn(usize) -> bool, other_has: impl Fn(usize) -> bool) -> bool {
        let Some(names) = &self.names else { return false };
        let of = |has: &dyn Fn(usize) -> bool| -> BTreeSet<u32> {
            names.iter().enumerate().filter(|(item, _)| has(*item)).map(|(_, name)| *name).collect()
        };
        !of(&has).is_disjoint(&of(&other_has))
    }
}

/// Numbers the items' names with their kinds; nothing where one evaluator knows them all, for then names tell items apart.
pub(super) fn names(matrix: &OutcomeMatrix) -> Option<Vec<u32>> {
    let first = &matrix.items.first()?.key.evaluator;
    if matrix.items.iter().all(|item| item.key.evaluator == *first) {
        return None;
    }
    let mut numbers = BTreeMap::<(ItemKind, &str), u32>::new();
    let mut number = |name| {
        let next = numbers.len().try_into().unwrap_or(u32::MAX);
        *numbers.entry(name).or_insert(next)
    };
    Some(matrix.items.iter().map(|item| number((item.key.kind, item.key.item.as_str()))).collect())
}
