//! The rows of the table `outcomes`: written from item lines, and read back as such.

use polars::prelude::*;

use crate::domain::{ItemDetails, ItemOutcome};
use crate::outcome_columns::OutcomeColumns;
use crate::results::ItemLine;
use crate::short_digest::{cluster_id, item_id};

/// The columns that say which run a row is of and whether it counts.
pub(super) const RUN_COLUMNS: [&str; 3] = ["run_id", "publish_id", "standing"];
/// The columns that a board needs beside them. No money, time or text.
pub(super) const BOARD_COLUMNS: [&str; 7] = [
    "kind",
    "evaluator",
    "item",
    "cluster",
    "attempt",
    "status",
    "score",
];

/// One item line of a run, as it is published.
pub(super) struct LakeOutcomeRow<'a> {
    pub run: &'a str,
    pub publish: &'a str,
    pub suite: &'a str,
    pub month: &'a str,
    pub item: &'a ItemLine<'a>,
    /// The cluster in force for a standing outcome.
    pub cluster: Option<&'a str>,
    /// The place of the outcome's first line among the run's, from 1.
    pub line: i64,
    pub standing: bool,
    pub details: ItemDetails,
}

/// Rows under construction, for one row group.
pub(super) struct LakeOutcomeRows {
    height: usize,
    /// Bytes of texts, about.
    pub bytes: usize,
    texts: Vec<(&'static str, StringChunkedBuilder)>,
    item_id: Vec<i64>,
    cluster_id: Vec<Option<i64>>,
    attempt: Vec<i32>,
    revision: Vec<i32>,
    line: Vec<i64>,
    standing: Vec<bool>,
    score: Vec<Option<f64>>,
    duration_seconds: Vec<Option<f64>>,
    cost_usd: Vec<Option<f64>>,
    input_tokens: Vec<Option<i64>>,
    output_tokens: Vec<Option<i64>>,
}

/// Columns of text, in the order of [`LakeOutcomeRow::texts`].
const TEXT_COLUMNS: [&str; 17] = [
    "run_id",
    "publish_id",
    "suite",
    "month",
    "kind",
    "evaluator",
    "item",
    "cluster",
    "category",
    "status",
    "question",
    "answer",
    "expected",
    "reply",
    "reason",
    "item_hash",
    "details",
];

/// All columns in their order: those of a board, then those of money and time, then the texts.
pub(super) const OUTCOME_COLUMNS: [&str; 28] = [
    "run_id",
    "publish_id",
    "suite",
    "month",
    "kind",
    "evaluator",
    "item",
    "item_id",
    "cluster",
    "cluster_id",
    "category",
    "attempt",
    "revision",
    "line",
    "standing",
    "status",
    "score",
    "duration_seconds",
    "cost_usd",
    "input_tokens",
    "output_tokens",
    "question",
    "answer",
    "expected",
    "reply",
    "reason",
    "item_hash",
    "details",
];

impl LakeOutcomeRows {
    pub fn new() -> Self {
        Self {
            height: 0,
            bytes: 0,
            texts: TEXT_COLUMNS
                .into_iter()
                .map(|name| (name, StringChunkedBuilder::new(name.into(), 0)))
                .collect(),
            item_id: Vec::new(),
            cluster_id: Vec::new(),
            attempt: Vec::new(),
            revision: Vec::new(),
            line: Vec::new(),
            standing: Vec::new(),
            score: Vec::new(),
            duration_seconds: Vec::new(),
            cost_usd: Vec::new(),
            input_tokens: Vec::new(),
            output_tokens: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.height
    }

    pub fn push(&mut self, row: LakeOutcomeRow<'_>) {
        let LakeOutcomeRow {
            run,
            publish,
            suite,
            month,
            item,
            cluster,
            line,
            standing,
            details,
        } = row;
        let ItemDetails {
            question,
            answer,
            expected,
            reply,
            reason,
            item_hash,
            ..
        } = &details;
        let expected = (!expected.is_empty()).then(|| details_json(expected));
        let rest = ItemDetails {
            question: None,
            answer: None,
            expected: Vec::new(),
            reply: None,
            reason: None,
            item_hash: None,
            ..details.clone()
        };
        let rest = (rest != ItemDetails::default()).then(|| details_json(&rest));
        let texts: [Option<&str>; TEXT_COLUMNS.len()] = [
            Some(run),
            Some(publish),
            Some(suite),
            Some(month),
            Some(item.kind.name()),
            Some(&item.evaluator),
            Some(&item.item),
            cluster,
            item.category.as_deref(),
            Some(item.status.name()),
            question.as_deref(),
            answer.as_deref(),
            expected.as_deref(),
            reply.as_deref(),
            reason.as_deref(),
            item_hash.as_deref(),
            rest.as_deref(),
        ];
        for ((_, column), text) in self.texts.iter_mut().zip(texts) {
            column.append_option(text);
            self.bytes += text.map_or(0, str::len);
        }
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let small = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        self.height += 1;
        self.item_id
            .push(item_id(item.kind, &item.evaluator, &item.item));
        self.cluster_id.push(cluster.map(cluster_id));
        self.attempt.push(small(item.attempt));
        self.revision.push(small(item.revision));
        self.line.push(line);
        self.standing.push(standing);
        self.score.push(item.score);
        self.duration_seconds.push(item.duration_seconds);
        self.cost_usd.push(item.cost_usd);
        self.input_tokens.push(item.input_tokens.map(whole));
        self.output_tokens.push(item.output_tokens.map(whole));
    }

    /// Returns the rows as a frame of one chunk, which is written as one row group.
    pub fn finish(self) -> PolarsResult<DataFrame> {
        let mut columns: Vec<Column> = self
            .texts
            .into_iter()
            .map(|(_, column)| column.finish().into_series().into())
            .collect();
        columns.push(Column::new("item_id".into(), self.item_id));
        columns.push(Column::new("cluster_id".into(), self.cluster_id));
        columns.push(Column::new("attempt".into(), self.attempt));
        columns.push(Column::new("revision".into(), self.revision));
        columns.push(Column::new("line".into(), self.line));
        columns.push(Column::new("standing".into(), self.standing));
        columns.push(Column::new("score".into(), self.score));
        columns.push(Column::new(
            "duration_seconds".into(),
            self.duration_seconds,
        ));
        columns.push(Column::new("cost_usd".into(), self.cost_usd));
        columns.push(Column::new("input_tokens".into(), self.input_tokens));
        columns.push(Column::new("output_tokens".into(), self.output_tokens));
        DataFrame::new(self.height, columns)?.select(OUTCOME_COLUMNS)
    }
}

fn details_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("details are JSON: no map has keys other than strings")
}

/// Returns a column of texts.
pub(super) fn text_column(frame: &DataFrame, name: &str) -> PolarsResult<StringChunked> {
    Ok(frame.column(name)?.str()?.clone())
}

/// Returns a column of whole numbers.
pub(super) fn integer_column(frame: &DataFrame, name: &str) -> PolarsResult<Int64Chunked> {
    Ok(frame.column(name)?.cast(&DataType::Int64)?.i64()?.clone())
}

/// Reads full rows back. Calls `each` with every outcome and its details, in the order of the frame. Fails with the number of the first row
/// that is none.
pub(super) fn for_each_outcome(
    frame: &DataFrame,
    mut each: impl FnMut(&ItemOutcome, &ItemDetails),
) -> PolarsResult<Result<(), usize>> {
    let outcomes = OutcomeColumns::from_frame(frame)?;
    let (question, answer, expected) = (
        text_column(frame, "question")?,
        text_column(frame, "answer")?,
        text_column(frame, "expected")?,
    );
    let (reply, reason, item_hash, details) = (
        text_column(frame, "reply")?,
        text_column(frame, "reason")?,
        text_column(frame, "item_hash")?,
        text_column(frame, "details")?,
    );
    let outcome = |row: usize| -> Option<(ItemOutcome, ItemDetails)> {
        let owned = |column: &StringChunked| column.get(row).map(str::to_owned);
        let outcome = outcomes.outcome_at(row)?;
        let rest = match details.get(row) {
            Some(json) => serde_json::from_str(json).ok()?,
            None => ItemDetails::default(),
        };
        let details = ItemDetails {
            question: owned(&question),
            answer: owned(&answer),
            expected: match expected.get(row) {
                Some(json) => serde_json::from_str(json).ok()?,
                None => Vec::new(),
            },
            reply: owned(&reply),
            reason: owned(&reason),
            item_hash: owned(&item_hash),
            ..rest
        };
        Some((outcome, details))
    };
    for row in 0..frame.height() {
        let Some((outcome, details)) = outcome(row) else {
            return Ok(Err(row));
        };
        each(&outcome, &details);
    }
    Ok(Ok(()))
}
