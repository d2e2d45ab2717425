//! Which items a person labels next, so that the intervals of judged figures shrink most.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::domain::Run;

use super::answer::SuiteAnswer;
use super::sample::{Outcomes, Rates};

/// The items of a board to label next, and what that would do.
pub(crate) struct Wish<'a> {
    /// The item, the arm's index, and the run to label it in.
    pub runs: Vec<(String, usize, &'a Arc<Run>)>,
    /// Items that are labelled for every arm, then those that would be, and all.
    pub labels: u64,
    pub labels_then: u64,
    pub items: u64,
    /// About half the length of an arm's 95% interval, now and then.
    pub reach: Option<f64>,
    pub reach_then: Option<f64>,
    pub is_by_verdict: bool,
}

/// Items of a board among which labels are drawn at random.
struct Drawing {
    board: usize,
    /// Its share of the board's items.
    share: f64,
    /// Variance of the labels around the judge's verdicts.
    variance: f64,
    labels: u64,
    /// Items without a label, in the order of drawing, the next one last.
    open: Vec<u32>,
    chosen: Vec<u32>,
    /// Labels for each item: one per arm.
    cost: u64,
}

impl Drawing {
    /// Returns by how much the next label would lower the variance of the board's figures.
    fn gain(&self) -> f64 {
        let n = self.count() as f64;
        self.share * self.share * self.variance / ((n + 1.0) * (n + 2.0)) / self.cost as f64
    }

    fn count(&self) -> u64 {
        self.labels + self.chosen.len() as u64
    }
}

/// Assumed share of wrong verdicts before anybody labelled any.
const ASSUMED_ERRORS: f64 = 0.2;

/// Chooses about `count` labels on several boards: each goes where it lowers the variance of an arm's figure most. Items of a board are
/// drawn in a fixed random order, the same for all its arms; for a single arm in a random order for each verdict (Neyman 1934).
pub(crate) fn wishes<'a>(boards: &[&SuiteAnswer<'a>], count: u64) -> Vec<Wish<'a>> {
    let mut drawings: Vec<Drawing> = boards.iter().enumerate().flat_map(|(board, answer)| drawings(board, answer)).collect();
    let mut left = count;
    loop {
        let open = drawings.iter_mut().filter(|drawing| !drawing.open.is_empty() && drawing.cost <= left);
        let Some(best) = open.max_by(|one, other| one.gain().total_cmp(&other.gain())) else { break };
        left -= best.cost;
        best.chosen.extend(best.open.pop());
    }
    let of_board = |board: usize, answer: &SuiteAnswer<'a>| {
        let own: Vec<&Drawing> = drawings.iter().filter(|drawing| drawing.board == board).collect();
        let items: u64 = own.iter().map(|drawing| drawing.count() + drawing.open.len() as u64).sum();
        let reach = |labels: &dyn Fn(&Drawing) -> u64| {
            let variance: f64 = own.iter().map(|drawing| drawing.share * drawing.share * drawing.variance / labels(drawing) as f64).sum();
            let rates = answer.rates.iter().filter_map(|rates| rates.run_rates().first().copied());
            let between = rates.map(|rate| rate * (1.0 - rate)).fold(0.0, f64::max) / items as f64;
            Some(1.96 * (variance + between).sqrt()).filter(|reach| reach.is_finite())
        };
        let runs = own.iter().flat_map(|drawing| drawing.chosen.iter()).flat_map(|unit| {
            let name = answer.items.columns(*unit).first().map(|column| answer.matrix.items[*column as usize].key.item.clone());
            let arms = answer.group.arms.iter().enumerate().filter_map(|(arm, runs)| Some((arm, &runs.counted.first()?.run)));
            let unlabelled = arms.filter(|(arm, _)| outcomes(answer, *arm).is_some_and(|one| !has_label(one, *unit)));
            unlabelled.filter_map(move |(arm, run)| Some((name.clone()?, arm, run))).collect::<Vec<_>>()
        });
        Wish {
            runs: runs.collect(),
            labels: own.iter().map(|drawing| drawing.labels).sum(),
            labels_then: own.iter().map(|drawing| drawing.count()).sum(),
            items,
            reach: reach(&|drawing| drawing.labels),
            reach_then: reach(&|drawing| drawing.count()),
            is_by_verdict: own.len() > 1,
        }
    };
    boards.iter().enumerate().map(|(board, answer)| of_board(board, answer)).collect()
}

fn outcomes<'s>(answer: &'s SuiteAnswer<'_>, arm: usize) -> Option<&'s Outcomes> {
    match &answer.rates[arm] {
        Rates::Outcomes(outcomes) => Some(outcomes),
        Rates::Counts(_) | Rates::Unknown => None,
    }
}

fn has_label(outcomes: &Outcomes, item: u32) -> bool {
    outcomes.labels.get(item as usize).is_some_and(|label| label.n > 0)
}

/// Returns the parts of a board among which labels are drawn: the verdicts of a single arm, or the items that all arms have.
fn drawings(board: usize, answer: &SuiteAnswer<'_>) -> Vec<Drawing> {
    let arms: Vec<&Outcomes> = (0..answer.rates.len()).filter_map(|arm| outcomes(answer, arm)).collect();
    let means: Vec<BTreeMap<u32, f64>> =
        arms.iter().map(|one| answer.items.means(|column| one.mean(column)).into_iter().collect()).collect();
    let Some((first, others)) = means.split_first() else { return Vec::new() };
    let shared = first.keys().copied().filter(|item| others.iter().all(|other| other.contains_key(item)));
    let mut parts = BTreeMap::<bool, Vec<u32>>::new();
    for item in shared {
        parts.entry(others.is_empty() && first[&item] > 0.5).or_default().push(item);
    }
    let size: usize = parts.values().map(Vec::len).sum();
    let drawing = |items: Vec<u32>| {
        let (labelled, mut open): (Vec<u32>, Vec<u32>) =
            items.iter().copied().partition(|item| arms.iter().all(|one| has_label(one, *item)));
        open.sort_by_cached_key(|item| std::cmp::Reverse(drawn_at(answer, *item)));
        let wrong = labelled.iter().flat_map(|item| arms.iter().filter_map(|one| one.labels[*item as usize].means()));
        let wrong: f64 = wrong.map(|(label, judged)| (label - judged).abs()).sum::<f64>() / arms.len() as f64;
        // As if two further labels had the assumed errors.
        let share = (wrong + 2.0 * ASSUMED_ERRORS) / (labelled.len() as f64 + 2.0);
        Drawing {
            board,
            share: items.len() as f64 / size as f64,
            variance: share * (1.0 - share),
            labels: labelled.len() as u64,
            open,
            chosen: Vec::new(),
            cost: arms.len() as u64,
        }
    };
    parts.into_values().map(drawing).collect()
}

/// Returns an item's place in the random order of drawing, which depends on nothing but the names of suite and item.
fn drawn_at(answer: &SuiteAnswer<'_>, item: u32) -> [u8; 32] {
    let name = answer.items.columns(item).first().map_or("", |column| answer.matrix.items[*column as usize].key.item.as_str());
    Sha256::digest(format!("{}\0{name}", answer.group.suite)).into()
}
