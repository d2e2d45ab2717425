//! Item lines as columns of numbers, parsed block by block.

use std::borrow::Cow;

use crate::domain::{ItemKind, ItemStatus, RunId};
use crate::results::{ItemLine, ItemMeasurements, MAX_LINE_BYTES};

use super::facts::{ItemFactIds, ItemFacts};
use super::intern::{ItemKeyInterner, TextInterner};
use super::line_templates::LineTemplates;
use super::totals::ItemTotals;

/// One outcome, as numbers of its dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutcomeCell {
    pub run: u32,
    /// The item and the line's facts about it: an index into the pairs of [`ItemFactIds`].
    pub told: u32,
    pub attempt: u32,
    pub revision: u32,
    pub status: ItemStatus,
    pub score: ScoreKind,
}

/// Kind of score of a line. Nearly all scores only repeat the status and need no more than this byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScoreKind {
    Absent,
    /// The score is 1 for passed or 0 for not passed.
    Image,
    /// The score is in [`OutcomeBlock::scores`].
    Own,
}

/// A score that contains more than the status of its line, with the line's key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OwnScore {
    pub run: u32,
    pub key: u32,
    pub attempt: u32,
    pub revision: u32,
    pub value: f64,
}

impl ScoreKind {
    fn from_score(score: Option<f64>, status: ItemStatus) -> Self {
        match score.filter(|score| score.is_finite()) {
            None => Self::Absent,
            Some(score) => {
                let image = if status == ItemStatus::Pass { 1.0 } else { 0.0 };
                if score.total_cmp(&image).is_eq() {
                    Self::Image
                } else {
                    Self::Own
                }
            }
        }
    }
}

/// The names seen so far. One dictionary serves many blocks, because the files of a suite repeat the same items.
#[derive(Default)]
pub(super) struct LineDictionary {
    pub runs: TextInterner,
    pub keys: ItemKeyInterner,
    pub told: ItemFactIds,
    refrains: LineTemplates,
}

/// The outcomes of a block of whole lines.
#[derive(Default)]
pub(super) struct OutcomeBlock {
    pub cells: Vec<OutcomeCell>,
    /// In line order.
    pub scores: Vec<OwnScore>,
    /// By run of the dictionary, in line order; a run may occur several times.
    pub totals: Vec<(u32, ItemTotals)>,
    /// Number of lines, including blank ones.
    pub lines: usize,
    /// Line within the block (from 0), and its problem.
    pub problems: Vec<(usize, String)>,
}

/// Maximum number of reported problems. A damaged file may have millions.
const MAX_BLOCK_PROBLEMS: usize = 1000;

impl LineDictionary {
    /// Parses whole lines and adds them to a block. `journal_of` is the run of lines that name none.
    pub fn parse_lines(
        &mut self,
        bytes: &[u8],
        journal_of: Option<&RunId>,
        block: &mut OutcomeBlock,
    ) {
        let own_run = journal_of.map(|run| self.runs.intern(run.as_str()));
        // The text of the last run's id: consecutive lines mostly have the same run.
        let mut last_run: Option<(&str, u32)> = None;
        // How a line begins that names no other run.
        let mut lead = b"{".to_vec();
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Some(run) = own_run.or(last_run.map(|(_, run)| run))
                && let Some((told, measured, after)) = self.refrains.match_next_line(rest, &lead)
            {
                let (key, _) = self.told.pairs[told as usize];
                block.lines += 1;
                block.add_measured(run, key, told, &measured);
                rest = after;
                continue;
            }
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
                block.add_problem(
                    index,
                    format!("line is longer than the {MAX_LINE_BYTES} bytes that are read of one"),
                );
                continue;
            }
            let item = match ItemLine::parse(line) {
                Ok(item) => item,
                Err(error) => {
                    block.add_problem(index, error.0);
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
                        lead = format!("{{\"run\":\"{text}\",").into_bytes();
                        run
                    }
                },
                (None, Some(Cow::Owned(text))) => self.runs.intern(text),
                (None, None) => {
                    block.add_problem(index, "names no run".to_owned());
                    continue;
                }
            };
            let told = self.intern_item(
                item.kind,
                &item.evaluator,
                &item.item,
                item.cluster.as_deref(),
            );
            let (key, _) = self.told.pairs[told as usize];
            self.refrains.learn_line(told, line, &lead);
            block.add_measured(run, key, told, &item.measurements());
        }
    }

    /// Numbers an item together with what a line states about it.
    pub fn intern_item(
        &mut self,
        kind: ItemKind,
        evaluator: &str,
        item: &str,
        cluster: Option<&str>,
    ) -> u32 {
        let key = self.keys.intern(kind, evaluator, item);
        self.told.intern_pair(key, ItemFacts { cluster })
    }
}

impl OutcomeBlock {
    fn add_measured(&mut self, run: u32, key: u32, told: u32, measured: &ItemMeasurements) {
        let ItemMeasurements {
            attempt,
            revision,
            status,
            ..
        } = *measured;
        if revision == 0 {
            self.totals_of(run).add(measured);
        }
        self.push(
            (run, key, told),
            (attempt, revision),
            status,
            measured.score,
        );
    }

    /// Adds one outcome, by the dictionary's numbers of its run, of its item, and of the item with its facts.
    pub fn push(
        &mut self,
        (run, key, told): (u32, u32, u32),
        (attempt, revision): (u32, u32),
        status: ItemStatus,
        score: Option<f64>,
    ) {
        let mark = ScoreKind::from_score(score, status);
        if let (ScoreKind::Own, Some(value)) = (mark, score) {
            self.scores.push(OwnScore {
                run,
                key,
                attempt,
                revision,
                value,
            });
        }
        self.cells.push(OutcomeCell {
            run,
            told,
            attempt,
            revision,
            status,
            score: mark,
        });
    }

    fn totals_of(&mut self, run: u32) -> &mut ItemTotals {
        if self.totals.last().is_none_or(|(last, _)| *last != run) {
            self.totals.push((run, ItemTotals::default()));
        }
        let last = self.totals.len() - 1;
        &mut self.totals[last].1
    }

    fn add_problem(&mut self, line: usize, message: String) {
        if self.problems.len() < MAX_BLOCK_PROBLEMS {
            self.problems.push((line, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that is read of some lines, with each run's and item's names.
    fn read(lines: &[String], journal_of: Option<&RunId>) -> String {
        let (mut dictionary, mut block) = (LineDictionary::default(), OutcomeBlock::default());
        // In two pieces, as a file is read.
        let (first, second) = lines.split_at(lines.len() / 3);
        for piece in [first, second] {
            dictionary.parse_lines(piece.concat().as_bytes(), journal_of, &mut block);
        }
        let cells: Vec<_> = block
            .cells
            .iter()
            .map(|cell| (dictionary.told.pairs[cell.told as usize], cell))
            .collect();
        let names = (
            &dictionary.runs.names,
            &dictionary.keys.entries,
            &dictionary.told.facts.known,
        );
        format!(
            "{names:?}\n{cells:?}\n{:?}\n{:?}\n{}\n{:?}",
            block.scores, block.totals, block.lines, block.problems
        )
    }

    #[test]
    fn repeated_lines_are_read_as_all_others() {
        let run = RunId::parse("own").expect("a valid id");
        for with_run in [false, true] {
            let mut lines = Vec::new();
            for round in 0..40_u32 {
                for item in 0..7 {
                    for attempt in 1..=(1 + round % 3) {
                        let status = ItemStatus::ALL
                            [(round * item + attempt) as usize % ItemStatus::ALL.len()]
                        .name();
                        let lead = if with_run {
                            format!("\"run\":\"run-{}\",", round % 4)
                        } else {
                            String::new()
                        };
                        let cluster = if item == 3 {
                            String::new()
                        } else {
                            format!(",\"cluster\":\"c{}\"", round / 20 * item)
                        };
                        let score = if round % 5 == 0 {
                            String::new()
                        } else {
                            format!(",\"score\":{}", f64::from(round % 3) / 2.0)
                        };
                        let revision = round % 2;
                        lines.push(format!(
                            "{{{lead}\"item\":\"q{item}\",\"kind\":\"test\",\"evaluator\":\"e\",\"attempt\":{attempt},\"revision\":{revision},\
                             \"status\":\"{status}\"{score}{cluster},\"duration_seconds\":{round}.25,\"cost_usd\":{}e-7,\"input_tokens\":{round}}}\n",
                            round % 4
                        ));
                    }
                }
                lines.push(
                    ["\n", "\r\n", "{\"item\":\"q0\"\n", "[1]\n"][round as usize % 4].to_owned(),
                );
            }
            let plain: Vec<String> = lines.iter().map(|line| line.replace("e-7", "")).collect();
            let journal_of = if with_run { None } else { Some(&run) };
            for lines in [lines, plain] {
                // A leading space leaves every line to the general parser.
                let others: Vec<String> = lines
                    .iter()
                    .map(|line| {
                        if line.starts_with('{') {
                            format!(" {line}")
                        } else {
                            line.clone()
                        }
                    })
                    .collect();
                assert_eq!(read(&lines, journal_of), read(&others, journal_of));
            }
        }
    }
}
