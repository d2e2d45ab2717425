//! The item lines of one file of a lake, with money, times and texts, read when something needs them.

use std::io;
use std::sync::{Arc, OnceLock};

use polars::prelude::*;

use crate::domain::visible;
use crate::results::{ItemLine, write_import_line};
use crate::warehouse::item_file::StandingLines;
use crate::warehouse::outcome_columns::{NAMES, OutcomeColumns};

use super::log::DataFile;
use super::read::Wanted;
use super::rows::{COLUMNS, OF_RUN, each_outcome, text};
use super::standing::{check, scan};

/// Rows of small runs that are read together.
const TOGETHER: usize = 1 << 14;

#[derive(Debug)]
pub(super) struct LakeLines {
    name: String,
    file: DataFile,
    wanted: Arc<Wanted>,
    /// Which runs stand in the file.
    state: String,
    /// Whether the whole file is the one that was published.
    checked: OnceLock<Result<(), String>>,
}

/// The first row of some runs, and the number of rows.
type Span = (usize, usize);

impl LakeLines {
    /// `standing` is a text that differs if other runs of the file stand.
    pub fn new(file: DataFile, wanted: Arc<Wanted>, standing: &str) -> Self {
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
    fn spans(&self, is_wanted: &dyn Fn(&str) -> bool) -> PolarsResult<Vec<Span>> {
        let frame = scan(&self.file.path)?.select(OF_RUN.map(col)).collect()?;
        let (run_id, publish_id) = (text(&frame, "run_id")?, text(&frame, "publish_id")?);
        let mut spans: Vec<Span> = Vec::new();
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
                        if *first + *rows == start && *rows + row - start <= TOGETHER =>
                    {
                        *rows += row - start
                    }
                    _ => spans.push((start, row - start)),
                }
            }
            start = row;
        }
        Ok(spans)
    }

    /// Reads the columns of a span, and no others.
    fn frame(&self, (start, rows): Span, columns: &[&str]) -> PolarsResult<DataFrame> {
        scan(&self.file.path)?
            .slice(
                i64::try_from(start).unwrap_or(i64::MAX),
                u32::try_from(rows).unwrap_or(u32::MAX),
            )
            .filter(col("standing"))
            .sort(["run_id", "line"], SortMultipleOptions::default())
            .select(columns.iter().map(|name| col(*name)).collect::<Vec<Expr>>())
            .collect()
    }

    /// Calls `each` with the columns of the wanted runs, span by span. It fails with the number of a row that is no outcome.
    fn each_frame(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        columns: &[&str],
        each: &mut dyn FnMut(&DataFrame) -> PolarsResult<Result<(), usize>>,
    ) -> io::Result<()> {
        let checked = self
            .checked
            .get_or_init(|| check(&self.file).map_err(|problem| problem.message));
        checked
            .as_ref()
            .map_err(|message| io::Error::other(message.clone()))?;
        let unread = |error: PolarsError| io::Error::other(visible(&error.to_string()));
        for span in self.spans(is_wanted).map_err(unread)? {
            let read = self
                .frame(span, columns)
                .and_then(|frame| each(&frame))
                .map_err(unread)?;
            read.map_err(|row| {
                io::Error::other(format!("row {} is no outcome", span.0 + row + 1))
            })?;
        }
        Ok(())
    }
}

impl StandingLines for LakeLines {
    fn place(&self) -> &str {
        &self.name
    }

    fn state(&self) -> String {
        self.state.clone()
    }

    fn each(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut line = String::new();
        self.each_frame(is_wanted, &COLUMNS, &mut |frame| {
            each_outcome(frame, |outcome, details| {
                line.clear();
                write_import_line(outcome, details, &mut line);
                each(line.trim_end_matches('\n').as_bytes());
            })
        })
    }

    fn each_item(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&ItemLine<'_>),
    ) -> io::Result<()> {
        self.each_frame(is_wanted, &NAMES, &mut |frame| {
            let columns = OutcomeColumns::of(frame)?;
            for row in 0..frame.height() {
                let Some(line) = columns.line(row) else {
                    return Ok(Err(row));
                };
                each(&line);
            }
            Ok(Ok(()))
        })
    }
}
