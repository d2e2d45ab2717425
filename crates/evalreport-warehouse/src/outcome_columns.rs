//! The columns of a frame that together are outcomes.

use std::borrow::Cow;

use polars::prelude::*;

use crate::domain::{ItemKind, ItemOutcome, ItemStatus, RunId};
use crate::results::ItemLine;

/// The names of the columns.
pub(super) const OUTCOME_COLUMN_NAMES: [&str; 14] = [
    "run_id",
    "item",
    "kind",
    "evaluator",
    "cluster",
    "category",
    "attempt",
    "revision",
    "status",
    "score",
    "duration_seconds",
    "cost_usd",
    "input_tokens",
    "output_tokens",
];

/// The columns of outcomes, under the names of the table `items`.
pub(super) struct OutcomeColumns {
    run_id: StringChunked,
    item: StringChunked,
    kind: StringChunked,
    evaluator: StringChunked,
    cluster: StringChunked,
    category: StringChunked,
    attempt: UInt64Chunked,
    revision: UInt64Chunked,
    status: StringChunked,
    score: Float64Chunked,
    duration_seconds: Float64Chunked,
    cost_usd: Float64Chunked,
    input_tokens: UInt64Chunked,
    output_tokens: UInt64Chunked,
}

impl OutcomeColumns {
    /// Fails if the frame lacks a column, or has one of another type.
    pub fn from_frame(frame: &DataFrame) -> PolarsResult<Self> {
        let text =
            |name: &str| -> PolarsResult<StringChunked> { Ok(frame.column(name)?.str()?.clone()) };
        let whole = |name: &str| -> PolarsResult<UInt64Chunked> {
            Ok(frame.column(name)?.cast(&DataType::UInt64)?.u64()?.clone())
        };
        let number =
            |name: &str| -> PolarsResult<Float64Chunked> { Ok(frame.column(name)?.f64()?.clone()) };
        Ok(Self {
            run_id: text("run_id")?,
            item: text("item")?,
            kind: text("kind")?,
            evaluator: text("evaluator")?,
            cluster: text("cluster")?,
            category: text("category")?,
            attempt: whole("attempt")?,
            revision: whole("revision")?,
            status: text("status")?,
            score: number("score")?,
            duration_seconds: number("duration_seconds")?,
            cost_usd: number("cost_usd")?,
            input_tokens: whole("input_tokens")?,
            output_tokens: whole("output_tokens")?,
        })
    }

    /// Returns the outcome of a row as an import's line, or `None` if it is none.
    pub fn line_at(&self, row: usize) -> Option<ItemLine<'_>> {
        Some(ItemLine {
            run: self.run_id.get(row).map(Cow::Borrowed),
            item: self.item.get(row)?.into(),
            kind: ItemKind::from_name(self.kind.get(row)?)?,
            evaluator: self.evaluator.get(row)?.into(),
            attempt: u32::try_from(self.attempt.get(row)?).ok()?,
            revision: u32::try_from(self.revision.get(row)?).ok()?,
            status: ItemStatus::from_name(self.status.get(row)?)?,
            score: self.score.get(row),
            cluster: self.cluster.get(row).map(Cow::Borrowed),
            category: self.category.get(row).map(Cow::Borrowed),
            duration_seconds: self.duration_seconds.get(row),
            cost_usd: self.cost_usd.get(row),
            input_tokens: self.input_tokens.get(row),
            output_tokens: self.output_tokens.get(row),
        })
    }

    /// Returns the outcome of a row, or `None` if it is none.
    pub fn outcome_at(&self, row: usize) -> Option<ItemOutcome> {
        let line = self.line_at(row)?;
        let run = RunId::parse(line.run.as_deref()?).ok()?;
        Some(line.into_outcome(run))
    }
}
