//! The item lines of one file of a lake, with money, times and texts, read when something needs them.

use std::io;
use std::sync::{Arc, OnceLock};

use polars::prelude::*;

use crate::domain::escape_invisible;
use crate::item_file::ExternalLines;
use crate::outcome_columns::{OUTCOME_COLUMN_NAMES, OutcomeColumns};
use crate::results::{ItemLine, write_import_line};

use super::decoding::decode_file;
use super::log::DataFile;
use super::read::PublishByRun;
use super::rows::{OUTCOME_COLUMNS, RUN_COLUMNS, for_each_outcome, text_column};
use super::standing::{check_file_digest, scan_file};

/// Rows of small runs that are read together.
const MAX_SPAN_ROWS: usize = 1 << 14;

#[derive(Debug)]
pub(super) struct LakeLines {
    name: String,
    file: DataFile,
    wanted: Arc<PublishByRun>,
    /// Which runs stand in the file.
    state: String,
    /// Whether the whole file is the one that was published.
    checked: OnceLock<Result<(), String>>,
}

/// The first row of some runs, and the number of rows.
type RowSpan = (usize, usize);

impl LakeLines {
    /// `standing` is a text that differs if other runs of the file stand.
    pub fn new(file: DataFile, wanted: Arc<PublishByRun>, standing: &str) -> Self {
        let name = file.path.display().to_string();
        let state = format!("{name} {:?} {} {standing}", file.sha256, file.bytes);
        Self {
            name,
            file,
            wanted,
            state,
            checked: OnceLock::new(),
        }
    }

    /// Returns where the wanted runs that stand are, whole runs together up to a number of rows.
    fn wanted_spans(&self, is_wanted: &dyn Fn(&str) -> bool) -> PolarsResult<Vec<RowSpan>> {
        let frame = decode_file(|| {
            scan_file(&self.file.path)?
                .select(RUN_COLUMNS.map(col))
                .collect()
        })?;
        let (run_id, publish_id) = (
            text_column(&frame, "run_id")?,
            text_column(&frame, "publish_id")?,
        );
        let mut spans: Vec<RowSpan> = Vec::new();
        let mut start = 0;
        for row in 1..=frame.height() {
            let of = |row: usize| (run_id.get(row), publish_id.get(row));
            if row < frame.height() && of(row) == of(start) {
                continue;
            }
            let (run, publish) = of(start);
            let stands = |(run, publish): (&str, &str)| {
                self.wanted
                    .get(run)
                    .is_some_and(|standing| standing == publish)
                    && is_wanted(run)
            };
            if run.zip(publish).is_some_and(stands) {
                match spans.last_mut() {
                    Some((first, rows))
                        if *first + *rows == start && *rows + row - start <= MAX_SPAN_ROWS =>
                    {
                        *rows += row - start;
                    }
                    _ => spans.push((start, row - start)),
                }
            }
            start = row;
        }
        Ok(spans)
    }

    /// Reads the columns of a span, and no others.
    fn read_frame(&self, (start, rows): RowSpan, columns: &[&str]) -> PolarsResult<DataFrame> {
        decode_file(|| {
            scan_file(&self.file.path)?
                .slice(
                    i64::try_from(start).unwrap_or(i64::MAX),
                    u32::try_from(rows).unwrap_or(u32::MAX),
                )
                .filter(col("standing"))
                .sort(["run_id", "line"], SortMultipleOptions::default())
                .select(columns.iter().map(|name| col(*name)).collect::<Vec<Expr>>())
                .collect()
        })
    }

    /// Calls `each` with the columns of the wanted runs, span by span. It fails with the number of a row that is no outcome.
    fn for_each_frame(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        columns: &[&str],
        each: &mut dyn FnMut(&DataFrame) -> PolarsResult<Result<(), usize>>,
    ) -> io::Result<()> {
        let checked = self
            .checked
            .get_or_init(|| check_file_digest(&self.file).map_err(|problem| problem.message));
        checked
            .as_ref()
            .map_err(|message| io::Error::other(message.clone()))?;
        let unread = |error: PolarsError| io::Error::other(escape_invisible(&error.to_string()));
        for span in self.wanted_spans(is_wanted).map_err(unread)? {
            let read = self
                .read_frame(span, columns)
                .and_then(|frame| each(&frame))
                .map_err(unread)?;
            read.map_err(|row| {
                io::Error::other(format!("row {} is no outcome", span.0 + row + 1))
            })?;
        }
        Ok(())
    }
}

impl ExternalLines for LakeLines {
    fn source_name(&self) -> &str {
        &self.name
    }

    fn content_stamp(&self) -> String {
        self.state.clone()
    }

    fn for_each_line(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut line = String::new();
        self.for_each_frame(is_wanted, &OUTCOME_COLUMNS, &mut |frame| {
            for_each_outcome(frame, |outcome, details| {
                line.clear();
                write_import_line(outcome, details, &mut line);
                each(line.trim_end_matches('\n').as_bytes());
            })
        })
    }

    fn for_each_item(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&ItemLine<'_>),
    ) -> io::Result<()> {
        self.for_each_frame(is_wanted, &OUTCOME_COLUMN_NAMES, &mut |frame| {
            let columns = OutcomeColumns::from_frame(frame)?;
            for row in 0..frame.height() {
                let Some(line) = columns.line_at(row) else {
                    return Ok(Err(row));
                };
                each(&line);
            }
            Ok(Ok(()))
        })
    }
}
