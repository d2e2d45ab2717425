//! Item lines in columns of numbers: what one block of text or one file gives.

use crate::domain::{ItemStatus, RunId};
use crate::results::{ItemLine, MAX_LINE_BYTES};

use super::intern::{Keys, Texts, number};
use super::open::ItemTotals;

/// One outcome: numbers into the dictionaries of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub run: u32,
    pub key: u32,
    pub attempt: u32,
    pub revision: u32,
    pub status: ItemStatus,
}

/// The outcomes of a block of whole lines.
#[derive(Default)]
pub(super) struct Block {
    pub runs: Texts,
    pub keys: Keys,
    pub cells: Vec<Cell>,
    /// By run of the block.
    pub totals: Vec<ItemTotals>,
    /// Lines seen, blank ones included.
    pub lines: usize,
    /// Line within the block (from 0) and what is wrong with it.
    pub problems: Vec<(usize, String)>,
}

/// A damaged file of millions of lines is told by its first problems and their number.
const MAX_PROBLEMS: usize = 1000;

impl Block {
    /// Parses whole lines. `journal_of` is the run of lines that name none.
    pub fn parse(bytes: &[u8], journal_of: Option<&RunId>) -> Self {
        let mut block = Self::default();
        // The text of the last run's id: lines of a run follow each other.
        let mut last_run: Option<(&str, u32)> = None;
        let own_run = journal_of.map(|run| block.run(run.as_str()));
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
                // Not parsed: its end may not have been read.
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
            let run = match (&item.run, own_run) {
                (Some(std::borrow::Cow::Borrowed(text)), None) => match last_run {
                    Some((last, id)) if last == *text => id,
                    _ => {
                        let id = block.run(text);
                        last_run = Some((*text, id));
                        id
                    }
                },
                (Some(text), None) => block.run(text),
                (_, Some(run)) => run,
                (None, None) => {
                    block.problem(index, "names no run".to_owned());
                    continue;
                }
            };
            let key = block.keys.intern(item.kind, &item.evaluator, &item.item, item.cluster.as_deref());
            if item.revision == 0 {
                block.totals[run as usize].add(&item);
            }
            block.cells.push(Cell { run, key, attempt: item.attempt, revision: item.revision, status: item.status });
        }
        block
    }

    fn run(&mut self, text: &str) -> u32 {
        let id = self.runs.intern(text);
        if id == number(self.totals.len()) {
            self.totals.push(ItemTotals::default());
        }
        id
    }

    fn problem(&mut self, line: usize, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push((line, message));
        }
    }
}
