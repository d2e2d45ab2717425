//! Whether two arms were asked the same texts, and their outcomes on items with equal texts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::ItemsDigest;
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

use super::arm::{ArmRuns, SuiteGroup};
use super::item_scores::ItemScores;
use super::sample::{ArmRates, SuiteItems};

/// The known texts of one arm.
pub enum ArmTexts {
    /// A run has no hashes, or runs have hashes of different tools.
    Unknown,
    /// Every run is our own and of the group's suite version, which is a digest of all texts.
    OfVersion,
    Hashed {
        /// The tool behind the hashes. Hashes of different tools cannot be compared.
        importer: String,
        /// One digest for each set of texts among the runs.
        digests: Vec<ItemsDigest>,
        /// By matrix item: a number for its text, 0 if unknown. Read only if digests differ.
        items: Arc<[u64]>,
    },
}

impl ArmTexts {
    /// Returns the known texts of each arm of a group.
    pub fn from_group(
        warehouse: &Warehouse,
        group: &SuiteGroup<'_>,
        matrix: &OutcomeMatrix,
    ) -> Vec<Self> {
        let runs: Vec<&[&RunRow]> = group
            .arms
            .iter()
            .map(|arm| arm.counted.as_slice())
            .collect();
        Self::from_runs(warehouse, &runs, group.suite_version.is_some(), matrix)
    }

    /// Returns the known texts of each set of runs. Item lines are read only if there are different digests of one tool, and then of one
    /// run per digest.
    pub fn from_runs(
        warehouse: &Warehouse,
        runs: &[&[&RunRow]],
        has_version: bool,
        matrix: &OutcomeMatrix,
    ) -> Vec<Self> {
        let mut all: Vec<Self> = runs
            .iter()
            .map(|runs| Self::from_digests(runs, has_version))
            .collect();
        let mut known = BTreeMap::<String, BTreeSet<String>>::new();
        for texts in &all {
            if let Self::Hashed {
                importer, digests, ..
            } = texts
            {
                known
                    .entry(importer.clone())
                    .or_default()
                    .extend(digests.iter().map(|digest| digest.sha256.clone()));
            }
        }
        let mut open: Vec<(&mut Arc<[u64]>, Vec<_>)> = Vec::new();
        for (texts, runs) in all.iter_mut().zip(runs) {
            if let Self::Hashed {
                importer, items, ..
            } = texts
                && known[importer].len() > 1
            {
                open.push((items, runs.iter().map(|row| &row.run).collect()));
            }
        }
        if !open.is_empty() {
            let (items, runs): (Vec<&mut Arc<[u64]>>, Vec<Vec<_>>) = open.into_iter().unzip();
            items
                .into_iter()
                .zip(warehouse.item_text_ids(&runs, &matrix.items))
                .for_each(|(items, read)| *items = read);
        }
        all
    }

    fn from_digests(runs: &[&RunRow], has_version: bool) -> Self {
        let importers: BTreeSet<Option<&str>> = runs
            .iter()
            .map(|row| {
                row.run
                    .provenance
                    .as_ref()
                    .map(|from| from.importer.as_str())
            })
            .collect();
        let digests: Option<BTreeMap<&str, &ItemsDigest>> = runs
            .iter()
            .map(|row| {
                row.run
                    .items_digest
                    .as_ref()
                    .map(|digest| (digest.sha256.as_str(), digest))
            })
            .collect();
        match (importers.first().filter(|_| importers.len() == 1), digests) {
            (Some(None), _) if has_version => Self::OfVersion,
            (Some(Some(importer)), Some(digests)) => Self::Hashed {
                importer: (*importer).to_owned(),
                digests: digests.into_values().cloned().collect(),
                items: Arc::default(),
            },
            (Some(None | Some(_)) | None, _) => Self::Unknown,
        }
    }

    /// Marks the matrix items that two arms were asked in different texts. Empty if there are none.
    pub fn changed_items(&self, other: &Self) -> Vec<bool> {
        let Some((own, others)) = self
            .paired_hashes(other)
            .filter(|(own, others)| !std::ptr::eq(*own, *others))
        else {
            return Vec::new();
        };
        let changed: Vec<bool> = own
            .iter()
            .zip(others)
            .map(|(own, other)| *own != 0 && *other != 0 && own != other)
            .collect();
        if changed.contains(&true) {
            changed
        } else {
            Vec::new()
        }
    }

    /// Returns whether an item of this arm had a different text than an item of the other arm.
    pub fn has_other_text(&self, other: &Self, item: usize, same: usize) -> bool {
        self.paired_hashes(other).is_some_and(|(own, others)| {
            own[item] != 0 && others[same] != 0 && own[item] != others[same]
        })
    }

    /// Counts the shared items whose texts may differ. Each is given by its index in this arm and in the other.
    pub fn count_unknown(&self, other: &Self, shared: impl Iterator<Item = (usize, usize)>) -> u64 {
        match self
            .paired_hashes(other)
            .filter(|_| !self.has_same_digest(other))
        {
            Some((own, others)) => shared
                .filter(|(item, same)| own[*item] == 0 || others[*same] == 0)
                .count() as u64,
            None => self.count_unknown_without_lines(other, shared.count() as u64),
        }
    }

    /// The same for a number of shared items, if the texts are not known item by item.
    fn count_unknown_without_lines(&self, other: &Self, shared: u64) -> u64 {
        match (self, other) {
            (Self::OfVersion, Self::OfVersion) => 0,
            (
                Self::Hashed { digests: own, .. },
                Self::Hashed {
                    digests: others, ..
                },
            ) if self.has_same_digest(other) => {
                let lacking = own
                    .iter()
                    .chain(others)
                    .map(|digest| digest.items - digest.hashed.min(digest.items))
                    .max()
                    .unwrap_or(0);
                lacking.min(shared)
            }
            (
                Self::Unknown | Self::OfVersion | Self::Hashed { .. },
                Self::Unknown | Self::OfVersion | Self::Hashed { .. },
            ) => shared,
        }
    }

    /// The same for a number of shared items without their indices. `None` if the texts are known item by item.
    pub fn count_unknown_unless_hashed(&self, other: &Self, shared: u64) -> Option<u64> {
        self.paired_hashes(other)
            .is_none()
            .then(|| self.count_unknown_without_lines(other, shared))
    }

    /// Returns whether both arms' runs are our own, of the suite version that they share.
    pub fn are_of_one_version(&self, other: &Self) -> bool {
        matches!((self, other), (Self::OfVersion, Self::OfVersion))
    }

    /// Returns the tool behind the hashes.
    fn hashing_tool(&self) -> Option<&str> {
        match self {
            Self::Hashed { importer, .. } => Some(importer),
            Self::Unknown | Self::OfVersion => None,
        }
    }

    /// Returns whether all runs of both arms have one digest.
    fn has_same_digest(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Hashed {
                    importer, digests, ..
                },
                Self::Hashed {
                    importer: other,
                    digests: others,
                    ..
                },
            ) => importer == other && digests.len() == 1 && digests == others,
            (
                Self::Unknown | Self::OfVersion | Self::Hashed { .. },
                Self::Unknown | Self::OfVersion | Self::Hashed { .. },
            ) => false,
        }
    }

    /// Returns the texts by item of both arms, if they are hashed by one tool.
    fn paired_hashes<'a>(&'a self, other: &'a Self) -> Option<(&'a [u64], &'a [u64])> {
        match (self, other) {
            (
                Self::Hashed {
                    importer, items, ..
                },
                Self::Hashed {
                    importer: other,
                    items: others,
                    ..
                },
            ) => (importer == other && !items.is_empty() && !others.is_empty())
                .then_some((items, others)),
            (
                Self::Unknown | Self::OfVersion | Self::Hashed { .. },
                Self::Unknown | Self::OfVersion | Self::Hashed { .. },
            ) => None,
        }
    }
}

/// The first known text of each item.
#[derive(Default)]
pub struct FirstTexts {
    importer: Option<String>,
    items: Vec<u64>,
}

impl FirstTexts {
    pub fn from_texts(texts: &ArmTexts) -> Self {
        let mut first = Self::default();
        first.visit_changed_texts(texts, |_| {});
        first
    }

    /// Calls `other` with each item whose text differs from its first one, and stores the texts of new items. Hashes of another tool cannot
    /// be compared with earlier ones, so the record starts anew.
    pub fn visit_changed_texts(&mut self, texts: &ArmTexts, mut other: impl FnMut(usize)) {
        let ArmTexts::Hashed {
            importer, items, ..
        } = texts
        else {
            return;
        };
        if self.importer.as_ref() != Some(importer) {
            *self = Self {
                importer: Some(importer.clone()),
                items: vec![0; items.len()],
            };
        }
        for (item, (first, text)) in self.items.iter_mut().zip(items.iter()).enumerate() {
            if *first == 0 {
                *first = *text;
            } else if *text != 0 && text != first {
                other(item);
            }
        }
    }
}

/// Arms of a group, with the data to restrict outcomes to items that had the same text for two arms.
pub struct TextPairing<'a> {
    arms: Vec<(&'a ArmRuns<'a>, &'a ArmTexts)>,
    matrix: &'a OutcomeMatrix,
}

impl<'a> TextPairing<'a> {
    pub fn new(arms: &'a [ArmRuns<'a>], texts: &'a [ArmTexts], matrix: &'a OutcomeMatrix) -> Self {
        Self {
            arms: arms.iter().zip(texts).collect(),
            matrix,
        }
    }

    /// Keeps the arms at some indices.
    #[must_use]
    pub fn restrict_to_arms(&self, is_kept: impl Fn(usize) -> bool) -> Self {
        let arms = self
            .arms
            .iter()
            .enumerate()
            .filter(|(place, _)| is_kept(*place))
            .map(|(_, arm)| *arm);
        Self {
            arms: arms.collect(),
            matrix: self.matrix,
        }
    }

    /// Marks the matrix items that two of the arms were asked in different texts. Empty if there are none.
    pub fn changed_items(&self, one: usize, other: usize) -> Vec<bool> {
        self.arms[one].1.changed_items(self.arms[other].1)
    }

    /// Marks the matrix items that any two of the arms were asked in different texts. Empty if there are none.
    pub fn items_changed_anywhere(&self) -> Vec<bool> {
        let mut changed = vec![false; self.matrix.items.len()];
        for importer in self
            .arms
            .iter()
            .filter_map(|(_, texts)| texts.hashing_tool())
            .collect::<BTreeSet<&str>>()
        {
            let mut first = FirstTexts::default();
            for texts in self
                .arms
                .iter()
                .map(|(_, texts)| *texts)
                .filter(|texts| texts.hashing_tool() == Some(importer))
            {
                first.visit_changed_texts(texts, |item| changed[item] = true);
            }
        }
        if changed.contains(&true) {
            changed
        } else {
            Vec::new()
        }
    }

    /// Returns the outcomes of two arms without the marked items.
    pub fn rates_without(
        &self,
        one: usize,
        other: usize,
        left_out: &[bool],
        items: &SuiteItems,
    ) -> [ArmRates; 2] {
        [one, other].map(|arm| {
            ArmRates::from_runs_without(left_out, &self.arms[arm].0.counted, self.matrix, items)
        })
    }

    /// Returns the scores of two arms without the marked items.
    pub fn scores_without(
        &self,
        one: usize,
        other: usize,
        left_out: &[bool],
        items: &SuiteItems,
    ) -> [ItemScores; 2] {
        [one, other]
            .map(|arm| ItemScores::new(left_out, &self.arms[arm].0.counted, self.matrix, items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(importer: &str, sha256: &str, items: &[u64]) -> ArmTexts {
        let hashed = items.iter().filter(|text| **text != 0).count() as u64;
        ArmTexts::Hashed {
            importer: importer.to_owned(),
            digests: vec![ItemsDigest {
                sha256: sha256.to_owned(),
                items: items.len() as u64,
                hashed,
            }],
            items: items.into(),
        }
    }

    #[test]
    fn texts_differ_only_where_both_are_known_from_one_tool() {
        let (one, other) = (
            hashed("lm-eval", "1", &[5, 6, 0, 8]),
            hashed("lm-eval", "2", &[5, 7, 9, 8]),
        );
        assert_eq!(one.changed_items(&other), [false, true, false, false]);
        let each = |items: std::ops::Range<usize>| items.map(|item| (item, item));
        assert_eq!(
            one.count_unknown(&other, each(0..4).filter(|(item, _)| *item != 1)),
            1
        );
        assert!(
            one.has_other_text(&other, 1, 1)
                && !one.has_other_text(&other, 3, 3)
                && !one.has_other_text(&other, 2, 1)
        );
        let foreign = hashed("inspect", "2", &[5, 7, 9, 8]);
        assert_eq!(
            (
                one.changed_items(&foreign).len(),
                one.count_unknown(&foreign, each(0..4))
            ),
            (0, 4)
        );
        assert_eq!(
            (
                one.changed_items(&ArmTexts::OfVersion).len(),
                one.count_unknown(&ArmTexts::OfVersion, each(0..4))
            ),
            (0, 4)
        );
    }

    #[test]
    fn one_digest_or_one_version_is_the_same_text_without_a_look() {
        let (one, other) = (hashed("lm-eval", "1", &[]), hashed("lm-eval", "1", &[]));
        let each = |items: std::ops::Range<usize>| items.map(|item| (item, item));
        assert_eq!(
            (
                one.changed_items(&other).len(),
                one.count_unknown(&other, each(0..4))
            ),
            (0, 0)
        );
        assert_eq!(
            ArmTexts::OfVersion.count_unknown(&ArmTexts::OfVersion, each(0..4)),
            0
        );
        assert_eq!(
            ArmTexts::Unknown.count_unknown(&ArmTexts::Unknown, each(0..4)),
            4
        );
    }
}
