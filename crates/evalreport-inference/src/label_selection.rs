//! Which items a person labels next, so that the intervals of judged figures shrink most.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::domain::Run;

use super::answer::SuiteComparison;
use super::policy::MIN_RUNS;
use super::sample::{ArmOutcomes, ArmRates, ItemLabels};

/// The items of a board to label next, and what that would do.
pub struct LabelSelection<'a> {
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
    /// Whether outcomes of runs with one artefact each are counted, of all arms.
    pub is_over_runs: bool,
}

/// An item to label in one run of each arm that has no label of it.
#[derive(Clone)]
struct LabelDraw {
    item: u32,
    /// Arm and run.
    cells: Vec<(usize, usize)>,
}

/// Items of a board among which labels are drawn at random.
struct LabelPool {
    board: usize,
    /// The arm, if its labels are drawn apart from those of other arms.
    arm: Option<usize>,
    /// Its share of the board's items.
    share: f64,
    /// Variance of the labels around the judge's verdicts.
    variance: f64,
    labels: u64,
    /// Items without a label, in the order of drawing, the next one last.
    open: Vec<LabelDraw>,
    chosen: Vec<LabelDraw>,
    /// Labels for each item: one per arm.
    cost: u64,
}

impl LabelPool {
    /// Returns by how much the next label would lower the variance of the board's figures.
    fn variance_reduction(&self) -> f64 {
        let n = self.label_count() as f64;
        self.share * self.share * self.variance / ((n + 1.0) * (n + 2.0)) / self.cost as f64
    }

    fn label_count(&self) -> u64 {
        self.labels + self.chosen.len() as u64
    }

    fn item_count(&self) -> u64 {
        self.label_count() + self.open.len() as u64
    }
}

/// Assumed share of wrong verdicts before anybody labelled any.
const ASSUMED_ERRORS: f64 = 0.2;

/// Chooses about `count` labels on several boards: each goes where it lowers the variance of an arm's figure most. Items of a board are
/// drawn in a fixed random order, the same for all its arms, each in one of its runs at random; for a single arm in a random order for each
/// verdict (Neyman 1934). If the outcomes of a run share one artefact, those of each arm are drawn apart.
pub fn select_labels<'a>(boards: &[&SuiteComparison<'a>], count: u64) -> Vec<LabelSelection<'a>> {
    let mut drawings: Vec<LabelPool> = boards
        .iter()
        .enumerate()
        .flat_map(|(board, answer)| label_pools(board, answer))
        .collect();
    let mut left = count;
    loop {
        let open = drawings
            .iter_mut()
            .filter(|drawing| !drawing.open.is_empty() && drawing.cost <= left);
        let Some(best) = open.max_by(|one, other| {
            one.variance_reduction()
                .total_cmp(&other.variance_reduction())
        }) else {
            break;
        };
        left -= best.cost;
        best.chosen.extend(best.open.pop());
    }
    let of_board = |board: usize, answer: &SuiteComparison<'a>| {
        let own: Vec<&LabelPool> = drawings
            .iter()
            .filter(|drawing| drawing.board == board)
            .collect();
        let items: u64 = own.iter().map(|drawing| drawing.item_count()).sum();
        let reach = |labels: &dyn Fn(&LabelPool) -> u64| {
            let mut by_arm = BTreeMap::<Option<usize>, f64>::new();
            for drawing in &own {
                *by_arm.entry(drawing.arm).or_default() +=
                    drawing.share * drawing.share * drawing.variance / labels(drawing) as f64;
            }
            let variance = by_arm.into_values().fold(0.0, f64::max);
            let rates = answer
                .rates
                .iter()
                .filter_map(|rates| rates.run_rates().first().copied());
            let most = own
                .iter()
                .filter(|drawing| drawing.arm == own[0].arm)
                .map(|drawing| drawing.item_count())
                .sum::<u64>();
            let between = rates.map(|rate| rate * (1.0 - rate)).fold(0.0, f64::max) / most as f64;
            Some(1.96 * (variance + between).sqrt()).filter(|reach| reach.is_finite())
        };
        let runs = own
            .iter()
            .flat_map(|drawing| &drawing.chosen)
            .flat_map(|draw| {
                let name = answer
                    .items
                    .columns_of(draw.item)
                    .first()
                    .map(|column| &answer.matrix.items[*column as usize].key.item);
                let run = |arm: usize, run: usize| {
                    answer.group.arms[arm].counted.get(run).map(|row| &row.run)
                };
                draw.cells
                    .iter()
                    .filter_map(move |(arm, of)| Some((name?.clone(), *arm, run(*arm, *of)?)))
            });
        LabelSelection {
            runs: runs.collect(),
            labels: own.iter().map(|drawing| drawing.labels).sum(),
            labels_then: own.iter().map(|drawing| drawing.label_count()).sum(),
            items,
            reach: reach(&|drawing| drawing.labels),
            reach_then: reach(&|drawing| drawing.label_count()),
            is_by_verdict: own.len() > 1 && own[0].arm.is_none(),
            is_over_runs: !answer.unit.is_over_items(),
        }
    };
    boards
        .iter()
        .enumerate()
        .map(|(board, answer)| of_board(board, answer))
        .collect()
}

/// Returns whether labels can correct a board's judge: of runs with one artefact each, there are enough.
pub fn can_be_corrected(answer: &SuiteComparison<'_>) -> bool {
    answer.unit.is_over_items()
        || answer
            .rates
            .iter()
            .all(|rates| rates.counts_by_run().len() >= MIN_RUNS)
}

fn outcomes_of_arm<'s>(answer: &'s SuiteComparison<'_>, arm: usize) -> Option<&'s ArmOutcomes> {
    match &answer.rates[arm] {
        ArmRates::Outcomes(outcomes) => Some(outcomes),
        ArmRates::Counts(_) | ArmRates::Unknown => None,
    }
}

fn has_label(outcomes: &ArmOutcomes, item: u32) -> bool {
    outcomes.labels_of(item).iter().any(|label| label.n > 0)
}

/// Returns the parts of a board among which labels are drawn: the verdicts of a single arm, or the items that all arms have; of runs with one
/// artefact each, the outcomes of each arm.
fn label_pools(board: usize, answer: &SuiteComparison<'_>) -> Vec<LabelPool> {
    let arms: Vec<(usize, &ArmOutcomes)> = (0..answer.rates.len())
        .filter_map(|arm| Some((arm, outcomes_of_arm(answer, arm)?)))
        .collect();
    if !answer.unit.is_over_items() {
        return arms
            .iter()
            .map(|(arm, outcomes)| pool_of_artefacts(board, *arm, outcomes, answer))
            .collect();
    }
    let judged = |(_, outcomes): &(usize, &ArmOutcomes), item: u32| -> Vec<Option<f64>> {
        outcomes
            .judged_values(answer.items.columns_of(item), |column| {
                outcomes.cells.counts_of(column).1 > 0
            })
            .collect()
    };
    // The runs of an item are drawn apart for each arm, so that no run of one arm always meets the same run of the other.
    let drawn = |arm: &(usize, &ArmOutcomes), item: u32| -> Option<(usize, f64)> {
        let known = judged(arm, item)
            .into_iter()
            .enumerate()
            .filter_map(|(run, value)| Some((run, value?)));
        known.min_by_key(|(run, _)| draw_order_key(answer, item, Some((arm.0, *run))))
    };
    let mut parts = BTreeMap::<bool, (Vec<u32>, Vec<LabelDraw>)>::new();
    for item in (0..).take(answer.items.unit_count()) {
        let Some(cells) = arms
            .iter()
            .map(|arm| drawn(arm, item))
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let Some((_, said)) = cells.first() else {
            continue;
        };
        let labels = arms[0]
            .1
            .labels_of(item)
            .iter()
            .find_map(ItemLabels::mean_label_and_judge);
        let said = labels.map_or(*said, |(_, judged)| judged);
        let part = parts.entry(arms.len() == 1 && said > 0.5).or_default();
        if arms.iter().all(|(_, one)| has_label(one, item)) {
            part.0.push(item);
            continue;
        }
        let cells = arms
            .iter()
            .zip(cells)
            .filter(|((_, one), _)| !has_label(one, item))
            .map(|((arm, _), (run, _))| (*arm, run));
        part.1.push(LabelDraw {
            item,
            cells: cells.collect(),
        });
    }
    let size: usize = parts
        .values()
        .map(|(labelled, open)| labelled.len() + open.len())
        .sum();
    let drawing = |(labelled, mut open): (Vec<u32>, Vec<LabelDraw>)| {
        open.sort_by_cached_key(|draw| std::cmp::Reverse(draw_order_key(answer, draw.item, None)));
        let labels = || {
            labelled
                .iter()
                .flat_map(|item| arms.iter().flat_map(move |(_, one)| one.labels_of(*item)))
        };
        LabelPool {
            board,
            arm: None,
            share: (labelled.len() + open.len()) as f64 / size as f64,
            variance: label_variance(labels(), arms.len()),
            labels: labelled.len() as u64,
            open,
            chosen: Vec::new(),
            cost: arms.len() as u64,
        }
    };
    parts.into_values().map(drawing).collect()
}

/// Returns the drawing of an arm's outcomes whose runs have one artefact each.
fn pool_of_artefacts(
    board: usize,
    arm: usize,
    outcomes: &ArmOutcomes,
    answer: &SuiteComparison<'_>,
) -> LabelPool {
    let mut open = Vec::new();
    for item in (0..).take(answer.items.unit_count()) {
        let said = outcomes.judged_values(answer.items.columns_of(item), |column| {
            outcomes.cells.counts_of(column).1 > 0
        });
        let is_labelled = |run: usize| {
            outcomes
                .labels_of(item)
                .get(run)
                .is_some_and(|label| label.n > 0)
        };
        let runs = said
            .enumerate()
            .filter(|(run, said)| said.is_some() && !is_labelled(*run));
        open.extend(runs.map(|(run, _)| LabelDraw {
            item,
            cells: vec![(arm, run)],
        }));
    }
    open.sort_by_cached_key(|draw| {
        std::cmp::Reverse(draw_order_key(
            answer,
            draw.item,
            draw.cells.first().copied(),
        ))
    });
    let labels = outcomes.labels.iter().filter(|label| label.n > 0).count() as u64;
    LabelPool {
        board,
        arm: Some(arm),
        share: 1.0,
        variance: label_variance(&outcomes.labels, 1),
        labels,
        open,
        chosen: Vec::new(),
        cost: 1,
    }
}

/// Returns the variance of the labels of some arms around verdicts, as if two further ones of each arm had the assumed errors.
fn label_variance<'l>(labels: impl IntoIterator<Item = &'l ItemLabels>, arms: usize) -> f64 {
    let means: Vec<(f64, f64)> = labels
        .into_iter()
        .filter_map(ItemLabels::mean_label_and_judge)
        .collect();
    let wrong: f64 = means
        .iter()
        .map(|(label, judged)| (label - judged).abs())
        .sum();
    let assumed = 2.0 * arms as f64;
    let share = (wrong + assumed * ASSUMED_ERRORS) / (means.len() as f64 + assumed);
    share * (1.0 - share)
}

/// Returns the place of an item, or of an item in one run of an arm, in the random order of drawing. It depends on nothing but names, so that
/// further runs leave the order as it is.
fn draw_order_key(
    answer: &SuiteComparison<'_>,
    item: u32,
    cell: Option<(usize, usize)>,
) -> [u8; 32] {
    let name = answer.items.columns_of(item).first().map_or("", |column| {
        answer.matrix.items[*column as usize].key.item.as_str()
    });
    let run = cell
        .and_then(|(arm, run)| answer.group.arms[arm].counted.get(run))
        .map(|row| format!("\0{}", row.run.id));
    Sha256::digest(format!(
        "{}\0{name}{}",
        answer.group.suite,
        run.unwrap_or_default()
    ))
    .into()
}
