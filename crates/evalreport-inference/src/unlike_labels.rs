//! Whether the items that people labelled are like the others. A judge is corrected as if they were a random part of all.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{NamePart, natural_key};
use crate::stats::{fisher_exact, normal_two_sided};
use crate::warehouse::OutcomeMatrix;

use super::sample::{ArmOutcomes, ItemLabels, SuiteItems};

/// Level of the tests, which all differences of a suite share.
const LEVEL: f64 = 0.01;
/// Fewer labels are not compared with the others.
const MIN_COMPARED: u64 = 20;

/// How the labelled items differ most from the others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UnlikeLabels {
    /// Items with a label, and others.
    pub labelled: u64,
    pub others: u64,
    pub by: LabelDifference,
    /// The mean place as a share of all places, or the share that the judge passes, of the labelled items and of the others.
    pub labelled_share: f64,
    pub others_share: f64,
    /// Adjusted for the number of differences that were looked for (Bonferroni).
    pub p: f64,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LabelDifference {
    /// The places of the items in the order of their names, numbers by value.
    Place,
    /// The judge's verdicts on an arm's items.
    Verdict,
}

impl UnlikeLabels {
    /// Compares the items that have a label of any arm with the others: by their places, and for each of several arms by the judge's verdicts.
    /// The labels of a single arm are drawn by verdict, and the correction weighs them so.
    ///
    /// Returns `None` if there is no difference beyond chance, or too few labels to correct anything.
    pub fn find(arms: &[&ArmOutcomes], items: &SuiteItems, matrix: &OutcomeMatrix) -> Option<Self> {
        let is_labelled = |arm: &ArmOutcomes, item: u32| arm.labels_of(item).iter().any(has_labels);
        let mut places: Vec<(Vec<NamePart>, bool)> = Vec::new();
        items.for_each_item(|item, columns| {
            let name = columns
                .first()
                .map(|column| matrix.items[*column as usize].key.item.as_str());
            let labelled = arms.iter().any(|arm| is_labelled(arm, item));
            places.push((natural_key(name.unwrap_or_default()), labelled));
        });
        places.sort();
        let marks: Vec<bool> = places.into_iter().map(|(_, labelled)| labelled).collect();
        let mut found: Vec<Self> = Self::from_places(&marks).into_iter().collect();
        if arms.len() > 1 {
            found.extend(
                arms.iter()
                    .filter_map(|arm| Self::from_verdicts(arm, items)),
            );
        }
        let looked_for = 1 + if arms.len() > 1 { arms.len() } else { 0 };
        found
            .into_iter()
            .min_by(|one, other| one.p.total_cmp(&other.p))
            .map(|one| Self {
                p: (one.p * looked_for as f64).min(1.0),
                ..one
            })
            .filter(|one| one.p < LEVEL)
    }

    /// Tests whether labelled items come earlier or later than chance allows: a rank sum (Wilcoxon 1945) with the variance of drawing without
    /// replacement.
    fn from_places(marks: &[bool]) -> Option<Self> {
        let (all, labelled) = (marks.len(), marks.iter().filter(|mark| **mark).count());
        if (labelled as u64) < MIN_COMPARED || labelled == all {
            return None;
        }
        let mean_place = |wanted: bool| {
            let places = marks
                .iter()
                .zip(1_u32..)
                .filter(|(mark, _)| **mark == wanted);
            let (sum, count) = places.fold((0.0, 0.0), |(sum, count), (_, place)| {
                (sum + f64::from(place), count + 1.0)
            });
            sum / count
        };
        let (n, k) = (all as f64, labelled as f64);
        let deviation = ((n + 1.0) * (n - k) / (12.0 * k)).sqrt();
        Some(Self {
            labelled: labelled as u64,
            others: (all - labelled) as u64,
            by: LabelDifference::Place,
            labelled_share: mean_place(true) / n,
            others_share: mean_place(false) / n,
            p: normal_two_sided((mean_place(true) - f64::midpoint(n, 1.0)) / deviation),
        })
    }

    /// Tests whether the judge passes more or fewer of an arm's labelled items than of its others (Fisher 1935).
    fn from_verdicts(arm: &ArmOutcomes, items: &SuiteItems) -> Option<Self> {
        // Items passed and all, of the labelled ones and of the others.
        let mut counts = [[0_u64; 2]; 2];
        items.for_each_item(|item, columns| {
            let values: Vec<f64> = arm
                .judged_values(columns, |column| arm.cells.counts_of(column).1 > 0)
                .flatten()
                .collect();
            if values.is_empty() {
                return;
            }
            let value = values.iter().sum::<f64>() / values.len() as f64;
            let labels = arm.labels_of(item);
            let side = &mut counts[usize::from(!labels.iter().any(has_labels))];
            side[0] += u64::from(value > 0.5);
            side[1] += 1;
        });
        let [[passed, labelled], [others_passed, others]] = counts;
        if labelled < MIN_COMPARED || others == 0 {
            return None;
        }
        Some(Self {
            labelled,
            others,
            by: LabelDifference::Verdict,
            labelled_share: passed as f64 / labelled as f64,
            others_share: others_passed as f64 / others as f64,
            p: fisher_exact(passed, labelled, others_passed, others).ok()?,
        })
    }
}

fn has_labels(label: &ItemLabels) -> bool {
    label.n > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_half_is_no_random_part() {
        let half: Vec<bool> = (0..120).map(|place| place < 60).collect();
        let found = UnlikeLabels::from_places(&half).expect("labels");
        assert!(found.p < 1e-9 && found.labelled_share < 0.26 && found.others_share > 0.74);
        let every_other: Vec<bool> = (0..120).map(|place| place % 2 == 0).collect();
        assert!(UnlikeLabels::from_places(&every_other).expect("labels").p > 0.5);
        let few: Vec<bool> = (0..120).map(|place| place < 19).collect();
        assert_eq!(UnlikeLabels::from_places(&few), None);
        assert_eq!(UnlikeLabels::from_places(&[true; 50]), None);
    }
}
