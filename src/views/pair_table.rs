//! Data for comparing any two arms of a suite in the browser: every arm's outcomes, and the method for each pair.

use std::collections::BTreeMap;

use crate::domain::PASS_RATE;
use crate::inference::{
    Arm, ArmRates, ArmTexts, AskedState, CONFIDENCE, Design, Incomparable, Obstacle, PairEvidence,
    PairVerdict, SuiteComparison, Test,
};
use crate::stats::normal_quantile;

use super::leaderboard::SuiteBoard;

/// Every arm's outcomes on the items of a suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairTable {
    /// In board order.
    pub arms: Vec<Arm>,
    /// Number of columns in the item matrix.
    pub columns: usize,
    /// By item: its columns in the item matrix. Empty if each column is its own item.
    pub items: Vec<Vec<u32>>,
    /// By arm: passed and counted outcomes over its runs, if the runs have only counts. There are no columns then.
    pub totals: Vec<(u64, u64)>,
    /// By arm and column.
    pub cells: Vec<Vec<PairCell>>,
    /// Columns that arms were asked in different texts, with a text number per arm; 0 if unknown.
    pub texts: Vec<(u32, Vec<u32>)>,
    /// By arm: the number of the tool that hashed its texts. Hashes of different tools cannot be compared.
    pub tools: Vec<u32>,
    /// The program's own evidence about each pair: the first arm with the second, the third and so on, then the second with the third.
    pub pairs: Vec<KnownPair>,
    /// The declared largest unimportant difference of the pass rate.
    pub margin: Option<f64>,
    /// The standard normal quantile of the intervals.
    pub z: f64,
    /// The level of the tests.
    pub alpha: f64,
}

/// One arm's outcomes at one column, over its runs and attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCell {
    pub passed: u32,
    pub counted: u32,
    /// Whether the column has only outcomes that do not count.
    pub is_uncounted: bool,
}

/// The program's evidence about two arms' pass rates.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownPair {
    pub way: PairMethod,
    /// Oriented to the first arm. `None` if no run of an arm has a rate.
    pub evidence: Option<PairEvidence>,
}

/// The method by which the program compares two arms' pass rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairMethod {
    /// McNemar's exact test and Tango's interval, which need only the counts of the four outcomes.
    Mcnemar,
    /// Fisher's exact test and Newcombe's interval, which need only the passed and counted outcomes of each arm's one run.
    Fisher,
    /// A method over runs, clusters or several attempts, whose figures are the program's.
    Other,
    NotComparable(Incomparable),
}

impl PairTable {
    /// Builds the table of a board's arms: those with outcomes, or, if these are fewer than three, all with counts. Returns `None` for
    /// fewer than three arms, because the pair's page shows everything about two.
    pub(super) fn from_answer(answer: &SuiteComparison<'_>, board: &SuiteBoard) -> Option<Self> {
        let all = board.entries.iter().filter_map(|entry| {
            answer
                .group
                .arms
                .iter()
                .position(|arm| arm.arm == entry.arm)
        });
        let (with_outcomes, all): (Vec<usize>, Vec<usize>) = (
            all.clone()
                .filter(|place| matches!(answer.rates[*place], ArmRates::Outcomes(_)))
                .collect(),
            all.filter(|place| !answer.rates[*place].counted_runs().is_empty())
                .collect(),
        );
        let z = normal_quantile(0.5 + CONFIDENCE / 2.0).unwrap_or(f64::NAN);
        let arms = |places: &[usize]| {
            places
                .iter()
                .map(|place| answer.group.arms[*place].arm.clone())
                .collect()
        };
        let columns = answer.matrix.items.len();
        if with_outcomes.len() < 3 || columns == 0 {
            return (all.len() > 2).then(|| Self {
                arms: arms(&all),
                totals: all
                    .iter()
                    .map(|place| answer.rates[*place].total_counts())
                    .collect(),
                tools: vec![0; all.len()],
                pairs: known_pairs(answer, &all),
                margin: rate_margin(answer),
                z,
                alpha: 1.0 - CONFIDENCE,
                ..Self::default()
            });
        }
        let places = with_outcomes;
        let mut items = Vec::new();
        answer
            .items
            .for_each_item(|_, columns| items.push(columns.to_vec()));
        // One column per item, in order, is the default.
        if items
            .iter()
            .enumerate()
            .all(|(place, own)| matches!(own.as_slice(), [column] if *column as usize == place))
        {
            items.clear();
        }
        Some(Self {
            arms: arms(&places),
            columns,
            totals: Vec::new(),
            items,
            cells: places
                .iter()
                .map(|place| outcome_cells(&answer.rates[*place], columns))
                .collect(),
            texts: text_numbers(answer, &places),
            tools: tool_numbers(answer, &places),
            pairs: known_pairs(answer, &places),
            margin: rate_margin(answer),
            z,
            alpha: 1.0 - CONFIDENCE,
        })
    }
}

fn outcome_cells(rates: &ArmRates, columns: usize) -> Vec<PairCell> {
    let ArmRates::Outcomes(outcomes) = rates else {
        return vec![PairCell::default(); columns];
    };
    let cell = |(column, (passed, counted)): (usize, (u32, u32))| PairCell {
        passed,
        counted,
        is_uncounted: counted == 0 && outcomes.asked_state(column) != AskedState::Not,
    };
    outcomes.cells.iter().enumerate().map(cell).collect()
}

/// Returns the number of the tool behind each arm's hashes, from 1; 0 if it has none.
fn tool_numbers(answer: &SuiteComparison<'_>, places: &[usize]) -> Vec<u32> {
    let mut numbers = BTreeMap::<&str, u32>::new();
    let mut tool = |place: &usize| match &answer.texts[*place] {
        ArmTexts::Hashed { importer, .. } => {
            let next = to_u32(numbers.len() + 1);
            *numbers.entry(importer.as_str()).or_insert(next)
        }
        ArmTexts::Unknown | ArmTexts::OfVersion => 0,
    };
    places.iter().map(&mut tool).collect()
}

fn text_numbers(answer: &SuiteComparison<'_>, places: &[usize]) -> Vec<(u32, Vec<u32>)> {
    let changed = answer.text_pairing().items_changed_anywhere();
    let of_column = |column: usize| {
        let mut numbers = BTreeMap::<u64, u32>::new();
        let mut text = |place: &usize| match &answer.texts[*place] {
            ArmTexts::Hashed { items, .. } => {
                match items.get(column).copied().unwrap_or_default() {
                    0 => 0,
                    hash => {
                        let next = to_u32(numbers.len() + 1);
                        *numbers.entry(hash).or_insert(next)
                    }
                }
            }
            ArmTexts::Unknown | ArmTexts::OfVersion => 0,
        };
        (to_u32(column), places.iter().map(&mut text).collect())
    };
    changed
        .iter()
        .enumerate()
        .filter(|(_, changed)| **changed)
        .map(|(column, _)| of_column(column))
        .collect()
}

fn rate_margin(answer: &SuiteComparison<'_>) -> Option<f64> {
    answer
        .find_metric(PASS_RATE)?
        .evidence
        .pairs
        .first()?
        .margin
        .filter(|margin| *margin > 0.0)
}

fn known_pairs(answer: &SuiteComparison<'_>, places: &[usize]) -> Vec<KnownPair> {
    let known: BTreeMap<(usize, usize), &PairEvidence> = answer
        .find_metric(PASS_RATE)
        .iter()
        .flat_map(|metric| &metric.evidence.pairs)
        .map(|pair| {
            (
                (pair.first.min(pair.second), pair.first.max(pair.second)),
                pair,
            )
        })
        .collect();
    let of = |one: usize, other: usize| {
        let evidence = known
            .get(&(one.min(other), one.max(other)))
            .map(|pair| pair.seen_from(one));
        KnownPair {
            way: evidence.as_ref().map_or(PairMethod::Other, pair_method),
            evidence,
        }
    };
    let pairs = (0..places.len())
        .flat_map(|first| (first + 1..places.len()).map(move |second| (first, second)));
    pairs
        .map(|(first, second)| of(places[first], places[second]))
        .collect()
}

fn pair_method(pair: &PairEvidence) -> PairMethod {
    match (pair.verdict, pair.test) {
        (PairVerdict::NotComparable { reason }, _) => PairMethod::NotComparable(reason),
        // The browser has the judge's outcomes only.
        _ if pair.judge.is_some()
            || pair.verdict.missing_evidence() == Some(Obstacle::Unlabelled) =>
        {
            PairMethod::Other
        }
        (_, Some(Test::McnemarExact)) => PairMethod::Mcnemar,
        // If runs share an artefact, outcomes alone do not show how they vary.
        (_, Some(Test::FisherExact)) if pair.design == Design::Items => PairMethod::Fisher,
        _ => PairMethod::Other,
    }
}

impl PairTable {
    /// Returns the pair of two arms, given by index, and whether the first of them is also first in the evidence.
    pub fn pair_between(&self, one: usize, other: usize) -> Option<(&KnownPair, bool)> {
        let (first, second) = (one.min(other), one.max(other));
        let place =
            (first * (2 * self.arms.len() - first - 1) / 2 + second).checked_sub(first + 1)?;
        Some((self.pairs.get(place).filter(|_| one != other)?, one < other))
    }
}

/// Converts a count or index to `u32`. No suite has four thousand million items.
fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
