//! Item lines as columns of numbers, parsed block by block.

use std::borrow::Cow;

use crate::domain::{ItemKind, ItemStatus, RunId};
use crate::results::{ItemLine, MAX_LINE_BYTES};

use super::facts::{Facts, Told};
use super::intern::{Keys, Texts};
use super::totals::ItemTotals;

/// One outcome, as numbers of its dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub run: u32,
    /// The item and the line's facts about it: an index into the pairs of [`Told`].
    pub told: u32,
    pub attempt: u32,
    pub revision: u32,
    pub status: ItemStatus,
    pub score: Mark,
}

/// Kind of score of a line. Nearly all scores only repeat the status and need no more than this byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Absent,
    /// The score is 1 for passed or 0 for not passed.
    Image,
    /// The score is in [`Block::scores`].
    Own,
}

/// A score that contains more than the status of its line, with the line's key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub run: u32,
    pub key: u32,
    pub attempt: u32,
    pub revision: u32,
    pub value: f64,
}

impl Mark {
    fn of(score: Option<f64>, status: ItemStatus) -> Self {
        match score.filter(|score| score.is_finite()) {
            None => Self::Absent,
            Some(score) => {
                let image = if status == ItemStatus::Pass { 1.0 } else { 0.0 };
                if score.total_cmp(&image).is_eq() { Self::Image } else { Self::Own }
            }
        }
    }
}

/// The names seen so far. One dictionary serves many blocks, because the files of a suite repeat the same items.
#[derive(Default)]
pub(super) struct Dictionary {
    pub runs: Texts,
    pub keys: Keys,
    pub told: Told,
}

/// The outcomes of a block of whole lines.
#[derive(Default)]
pub(super) struct Block {
    pub cells: Vec<Cell>,
    /// In line order.
    pub scores: Vec<Score>,
    /// By run of the dictionary, in line order; a run may occur several times.
    pub totals: Vec<(u32, ItemTotals)>,
    /// Number of lines, including blank ones.
    pub lines: usize,
    /// Line within the block (from 0), and its problem.
    pub problems: Vec<(usize, String)>,
}

/// Maximum number of reported problems. A damaged file may have millions.
const MAX_PROBLEMS: usize = 1000;

impl Dictionary {
    /// Parses whole lines. `journal_of` is the run of lines that name none.
    pub fn parse(&mut self, bytes: &[u8], journal_of: Option<&RunId>) -> Block {
        let mut block = Block::default();
        let own_run = journal_of.map(|run| self.runs.intern(run.as_str()));
        // The text of the last run's id: consecutive lines mostly have the same run.
        let mut last_run: Option<(&str, u32)> = None;
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            rest = end.map_or(&[], |end| &rest[end + 1..]);
            let index = block.lines;
            block.lines += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.trim_ascii().is_empty() {
                continue;
            }
            if line.len() >= MAX_LINE_BYTES {
                // Not parsed, because its end may not have been read.
                block.problem(index, format!("line is longer than the {MAX_LINE_BYTES} bytes that are read of one"));
                continue;
            }
            let item = match ItemLine::parse(line) {
                Ok(item) => item,
                Err(error) => {
                    block.problem(index, error.0);
                    continue;
                }
            };
            let run = match (own_run, &item.run) {
                (Some(run), _) => run,
                (None, Some(Cow::Borrowed(text))) => match last_run {
                    Some((last, run)) if last == *text => run,
                    _ => {
                        let run = self.runs.intern(text);
                        last_run = Some((text, run));
                        run
                    }
                },
                (None, Some(Cow::Owned(text))) => self.runs.intern(text),
                (None, None) => {
                    block.problem(index, "names no run".to_owned());
                    continue;
                }
            };
            let told = self.told(item.kind, &item.evaluator, &item.item, item.cluster.as_deref());
            if item.revision == 0 {
                block.totals_of(run).add(&item);
            }
            self.push(&mut block, (run, told), (item.attempt, item.revision), item.status, item.score);
        }
        block
    }

    /// Numbers an item together with what a line states about it.
    pub fn told(&mut self, kind: ItemKind, evaluator: &str, item: &str, cluster: Option<&str>) -> u32 {
        let key = self.keys.intern(kind, evaluator, item);
        self.told.number(key, Facts { cluster })
    }

    /// Adds one outcome to a block, by the numbers of its run and its item.
    pub fn push(
        &self,
        block: &mut Block,
        (run, told): (u32, u32),
        (attempt, revision): (u32, u32),
        status: ItemStatus,
        score: Option<f64>,
    ) {
        let mark = Mark::of(score, status);
        if let (Mark::Own, Some(value)) = (mark, score) {
            let (key, _) = self.told.pairs[told as usize];
            block.scores.push(Score { run, key, attempt, revision, value });
        }
        block.cells.push(Cell { run, told, attempt, revision, status, score: mark });
    }
}

impl Block {
    fn totals_of(&mut self, run: u32) -> &mut ItemTotals {
        if self.totals.last().is_none_or(|(last, _)| *last != run) {
            self.totals.push((run, ItemTotals::default()));
        }
        let last = self.totals.len() - 1;
        &mut self.totals[last].1
    }

    fn problem(&mut self, line: usize, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push((line, message));
        }
    }
}
