//! The outcomes of one suite as plain slices, by run, attempt and item.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::{ItemKey, ItemStatus, RunId};

use super::statuses::Statuses;

/// One item of a suite.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatrixItem {
    pub key: ItemKey,
    pub cluster: Option<String>,
}

/// One attempt of one run at all items that have an outcome.
#[derive(Clone, Debug)]
pub struct MatrixRow {
    pub run: RunId,
    /// Counts from 1.
    pub attempt: u32,
    /// Indices into [`OutcomeMatrix::items`], ascending. Rows with the same items share them.
    pub items: Arc<[u32]>,
    /// One status per index, in the same order.
    pub statuses: Statuses,
    pub scores: RowScores,
}

/// The scores beside one attempt's statuses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RowScores {
    /// No passed or failed outcome has a score.
    Absent,
    /// Scores repeat the statuses: 1 for passed, 0 for failed.
    Images,
    /// One per status, in the same order. `None` if the source gives none.
    Own(Vec<Option<f64>>),
}

impl RowScores {
    /// Returns the number of listed scores, or `None` if they are not listed.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Own(scores) => Some(scores.len()),
            Self::Absent | Self::Images => None,
        }
    }

    /// Returns the scores at some indices, in that order.
    #[must_use]
    pub fn select(&self, places: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::Own(scores) => Self::Own(places.map(|place| scores[place]).collect()),
            Self::Absent => Self::Absent,
            Self::Images => Self::Images,
        }
    }
}

/// A suite's items and outcomes. Items are sorted by kind, evaluator and name; rows by run id and attempt.
#[derive(Clone, Debug, Default)]
pub struct OutcomeMatrix {
    pub items: Vec<MatrixItem>,
    pub rows: Vec<MatrixRow>,
}

impl MatrixRow {
    /// Returns the outcome at one item, or `None` if there is none.
    pub fn status_of(&self, item: u32) -> Option<ItemStatus> {
        self.items
            .binary_search(&item)
            .ok()
            .map(|place| self.statuses.get(place))
    }

    /// Returns the items with their outcomes, in order.
    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = (u32, ItemStatus)> + '_ {
        self.items.iter().copied().zip(self.statuses.iter())
    }
}

impl OutcomeMatrix {
    /// Returns the rows of one run, by attempt.
    pub fn rows_of_run(&self, run: &RunId) -> &[MatrixRow] {
        let start = self.rows.partition_point(|row| row.run < *run);
        let length = self.rows[start..].partition_point(|row| row.run == *run);
        &self.rows[start..start + length]
    }
}
