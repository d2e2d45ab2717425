//! Whether two arms were measured alike: the same items in the same texts, under the same conditions. Differences are named and graded.

use std::collections::BTreeMap;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::ItemKind;
use crate::warehouse::{MatrixItem, OutcomeMatrix};

use super::arm::ArmRuns;
use super::item_overlap::ItemOverlap;
use super::mismatch::{Grade, Mismatch, MismatchKind, SharedItems, worst_grade};
use super::run_conditions::{RunConditions, SCORES_DETAIL};
use super::sample::{ArmRates, number_item_names};
use super::texts::ArmTexts;
use super::verdict::Incomparable;

/// The share of a suite's items below which the shared items do not represent it.
const MAX_OF_THEM: f64 = 0.9;

/// An item's full key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedItem {
    pub kind: ItemKind,
    pub evaluator: String,
    pub item: String,
}

/// Whether two arms of a table were measured alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Comparability {
    /// Indices into the arms.
    pub first: usize,
    pub second: usize,
    pub grade: Grade,
    /// Absent if an arm has only counts or scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<SharedItems>,
    /// The differences between the arms, worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
    /// The first items that are not compared because their texts differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_items: Vec<ChangedItem>,
}

/// The best grade that a strict comparison refuses.
const BEST_REFUSED_GRADE: Grade = Grade::C;
/// Maximum number of listed changed items.
const MAX_CHANGED: usize = 200;

impl Comparability {
    /// Returns a pair's comparability with `one` and `other` as the first and second arm of a table of two, or `None` if it is about other
    /// arms.
    pub fn for_table_of_two(&self, one: usize, other: usize) -> Option<Self> {
        let turned = match (self.first == one, self.second == other) {
            (true, true) => self.clone(),
            _ if (self.first, self.second) == (other, one) => Self {
                mismatches: self.mismatches.iter().map(Mismatch::swap_arms).collect(),
                ..self.clone()
            },
            _ => return None,
        };
        Some(Self {
            first: 0,
            second: 1,
            ..turned
        })
    }

    /// Creates the comparability of two arms of different suite versions, which share no table.
    pub fn from_versions(first: String, second: String) -> Self {
        let mismatch = Mismatch::with_values(MismatchKind::SuiteVersion, "", first, second);
        Self {
            first: 0,
            second: 1,
            grade: mismatch.grade,
            items: None,
            mismatches: vec![mismatch],
            changed_items: Vec::new(),
        }
    }

    /// Returns whether a strict comparison refuses the pair, because of a difference or because too little is known.
    pub fn is_refused(&self) -> bool {
        self.grade >= BEST_REFUSED_GRADE
    }
}

/// Pairs of a board that a strict comparison refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnlikePairs {
    pub pairs: u64,
    /// Pairs that were graded.
    pub of: u64,
    pub worst: Grade,
    /// The differences: for each kind and setting the first one found.
    pub mismatches: Vec<Mismatch>,
}

impl UnlikePairs {
    pub fn from_comparabilities(all: &[Comparability]) -> Option<Self> {
        let unlike: Vec<&Comparability> = all.iter().filter(|pair| pair.is_refused()).collect();
        let worst = unlike.iter().map(|pair| pair.grade).max()?;
        let mut mismatches: Vec<Mismatch> = Vec::new();
        for mismatch in unlike
            .iter()
            .flat_map(|pair| &pair.mismatches)
            .filter(|mismatch| mismatch.grade >= BEST_REFUSED_GRADE)
        {
            if !mismatches
                .iter()
                .any(|known| (known.kind, &known.what) == (mismatch.kind, &mismatch.what))
            {
                mismatches.push(mismatch.clone());
            }
        }
        sort_mismatches(&mut mismatches);
        Some(Self {
            pairs: unlike.len() as u64,
            of: all.len() as u64,
            worst,
            mismatches,
        })
    }
}

/// Sorts by grade, worst first, then by kind.
pub(super) fn sort_mismatches(mismatches: &mut [Mismatch]) {
    mismatches.sort_by(|left, right| right.grade.cmp(&left.grade).then_with(|| left.cmp(right)));
}

/// Grades all pairs of arms with results. `rates` and `texts` are the arms', over the items of the matrix.
pub fn grade_pairs(
    arms: &[ArmRuns<'_>],
    rates: &[ArmRates],
    texts: &[ArmTexts],
    matrix: &OutcomeMatrix,
) -> Vec<Comparability> {
    let conditions: Vec<RunConditions> = arms
        .iter()
        .map(|arm| RunConditions::from_arm(arm, matrix))
        .collect();
    let has_results =
        |arm: &usize| !matches!(rates[*arm], ArmRates::Unknown) || conditions[*arm].has_scores();
    let names = number_item_names(matrix);
    let pairs: Vec<(usize, usize)> = (0..arms.len())
        .flat_map(|first| (first + 1..arms.len()).map(move |second| (first, second)))
        .filter(|(first, second)| has_results(first) && has_results(second))
        .collect();
    let graded = pairs.into_par_iter().map(|(first, second)| {
        let mut mismatches = conditions[first].mismatches_with(&conditions[second]);
        let (mut items, mut changed_items) = (None, Vec::new());
        let is_same_work = match (&rates[first], &rates[second]) {
            (ArmRates::Outcomes(one), ArmRates::Outcomes(other)) => {
                let meeting = ItemOverlap::new(
                    (one, &texts[first]),
                    (other, &texts[second]),
                    names.as_deref(),
                );
                let is_same_work = meeting.items.shared + meeting.items.changed == meeting.items.of;
                mismatches.extend(item_mismatches(&meeting.items));
                mismatches.extend(meeting.evaluator_mismatch(matrix));
                changed_items = meeting
                    .changed
                    .iter()
                    .take(MAX_CHANGED)
                    .map(|item| changed_item(&matrix.items[*item]))
                    .collect();
                items = Some(meeting.items);
                is_same_work
            }
            (one, other) => {
                let of_run = |rates: &ArmRates| {
                    rates
                        .counts_by_run()
                        .iter()
                        .map(|(_, total)| *total)
                        .filter(|total| *total > 0)
                        .collect()
                };
                let differ = conditions[first].total_mismatch(
                    &of_run(one),
                    &conditions[second],
                    &of_run(other),
                );
                let is_same_work = differ.is_none();
                let is_unknown = is_same_work && !texts[first].are_of_one_version(&texts[second]);
                let what = [one, other]
                    .iter()
                    .any(|rates| matches!(rates, ArmRates::Unknown))
                    .then(|| SCORES_DETAIL.to_owned());
                let unknown = || Mismatch {
                    what,
                    ..Mismatch::from_kind(MismatchKind::UnknownItems)
                };
                mismatches.extend(differ.or_else(|| is_unknown.then(unknown)));
                is_same_work
            }
        };
        if is_same_work {
            mismatches.extend(conditions[first].prompt_mismatch(&conditions[second]));
        }
        sort_mismatches(&mut mismatches);
        Comparability {
            first,
            second,
            grade: worst_grade(&mismatches),
            items,
            mismatches,
            changed_items,
        }
    });
    graded.collect()
}

/// Takes back what is wrong with arms of different items, for samples that are independent on purpose.
pub fn accept_other_items(graded: &mut [Comparability]) {
    for pair in graded {
        pair.mismatches.retain(|mismatch| {
            !matches!(
                mismatch.kind,
                MismatchKind::NoItems
                    | MismatchKind::FewItems
                    | MismatchKind::Items
                    | MismatchKind::Totals
                    | MismatchKind::NearTotals
                    | MismatchKind::UnknownItems
            )
        });
        pair.mismatches
            .push(Mismatch::from_kind(MismatchKind::Independent));
        sort_mismatches(&mut pair.mismatches);
        pair.grade = worst_grade(&pair.mismatches);
        // Their amounts are of draws of one population.
        pair.items = pair.items.filter(|items| items.shared > 0);
    }
}

/// Returns the pairs without a common item, with the reason for their verdicts: their amounts are for different work.
pub fn incomparable_on_items(graded: &[Comparability]) -> BTreeMap<(usize, usize), Incomparable> {
    let of_pair = |pair: &Comparability| {
        let items = pair.items.filter(|items| items.shared == 0)?;
        Some((
            (pair.first, pair.second),
            if items.changed > 0 {
                Incomparable::OtherTexts
            } else {
                Incomparable::DisjointItems
            },
        ))
    };
    graded.iter().filter_map(of_pair).collect()
}

fn item_mismatches(items: &SharedItems) -> Vec<Mismatch> {
    let mut found = Vec::new();
    if items.shared == 0 {
        found.push(MismatchKind::NoItems);
    } else if (items.shared as f64) < MAX_OF_THEM * items.of as f64 {
        found.push(MismatchKind::FewItems);
    } else if items.shared + items.changed < items.of {
        found.push(MismatchKind::Items);
    }
    if items.changed > 0 {
        found.push(MismatchKind::Texts);
    }
    if items.unknown > 0 {
        found.push(MismatchKind::UnknownTexts);
    }
    found.into_iter().map(Mismatch::from_kind).collect()
}

fn changed_item(item: &MatrixItem) -> ChangedItem {
    ChangedItem {
        kind: item.key.kind,
        evaluator: item.key.evaluator.clone(),
        item: item.key.item.clone(),
    }
}

/// The grades and their causes, as the documentation lists them.
#[cfg(test)]
fn grade_table() -> String {
    let mut table =
        "| grade | what differs | in JSON |\n| --- | --- | --- |\n| A | no known differences | |\n"
            .to_owned();
    for kind in MismatchKind::ALL {
        let name = serde_json::to_value(kind).expect("a name");
        table.push_str(&format!(
            "| {:?} | {} | `{}` |\n",
            kind.grade(),
            kind.describe(),
            name.as_str().expect("text")
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grade_is_that_of_the_worst_that_differs() {
        use MismatchKind::{Attempts, FewItems, Items, Judge, NoItems, Texts, UnknownTexts};
        let check = |kinds: &[MismatchKind], expected: Grade| {
            let found: Vec<Mismatch> = kinds
                .iter()
                .map(|kind| Mismatch::from_kind(*kind))
                .collect();
            assert_eq!(worst_grade(&found), expected, "{kinds:?}");
        };
        check(&[], Grade::A);
        check(&[UnknownTexts], Grade::B);
        check(&[UnknownTexts, Texts, Attempts], Grade::C);
        check(&[Items, Judge, UnknownTexts], Grade::D);
        check(&[FewItems, Judge], Grade::E);
        check(&[NoItems, Texts], Grade::F);
    }

    #[test]
    fn the_rules_stand_from_best_to_worst() {
        assert!(
            MismatchKind::ALL.is_sorted()
                && MismatchKind::ALL.is_sorted_by_key(|kind| kind.grade())
        );
    }

    #[test]
    fn the_share_of_the_items_decides() {
        let check = |shared, of, changed, unknown, expected: &[MismatchKind]| {
            let found: Vec<MismatchKind> = item_mismatches(&SharedItems {
                shared,
                of,
                changed,
                unknown,
            })
            .into_iter()
            .map(|mismatch| mismatch.kind)
            .collect();
            assert_eq!(
                found, expected,
                "{shared} of {of}, {changed} changed, {unknown} unknown"
            );
        };
        check(300, 300, 0, 0, &[]);
        check(298, 300, 2, 0, &[MismatchKind::Texts]);
        check(
            298,
            300,
            0,
            298,
            &[MismatchKind::Items, MismatchKind::UnknownTexts],
        );
        check(9, 10, 0, 0, &[MismatchKind::Items]);
        check(89, 100, 0, 0, &[MismatchKind::FewItems]);
        check(0, 4, 4, 0, &[MismatchKind::NoItems, MismatchKind::Texts]);
    }

    #[test]
    fn what_is_said_turns_round_with_the_arms() {
        let pair = Comparability {
            first: 2,
            second: 5,
            grade: Grade::D,
            items: None,
            mismatches: vec![Mismatch::with_values(
                MismatchKind::Shots,
                "",
                "5".to_owned(),
                "0".to_owned(),
            )],
            changed_items: Vec::new(),
        };
        let turned = pair.for_table_of_two(5, 2).expect("it is about these");
        assert_eq!(
            (
                turned.first,
                turned.second,
                turned.mismatches[0].first.as_deref()
            ),
            (0, 1, Some("0"))
        );
        assert_eq!(
            pair.for_table_of_two(2, 5)
                .and_then(|pair| pair.mismatches[0].first.clone())
                .as_deref(),
            Some("5")
        );
        assert_eq!(pair.for_table_of_two(2, 4), None);
    }

    /// The documentation's table equals the code's.
    #[test]
    fn the_documentation_has_these_grades() {
        let (begin, end) = ("<!-- grades: begin -->\n\n", "\n<!-- grades: end -->");
        let doc = include_str!("../../../docs/understand/method.md");
        let section = doc
            .split_once(begin)
            .and_then(|(_, rest)| rest.split_once(end))
            .map(|(section, _)| section);
        assert_eq!(
            section,
            Some(grade_table().as_str()),
            "replace what stands between the marks in docs/understand/method.md by the right side"
        );
    }
}
