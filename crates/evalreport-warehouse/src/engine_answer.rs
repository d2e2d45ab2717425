//! What an engine answered: the runs of a lake and their outcomes, to be joined to a snapshot.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use crate::domain::{ItemDetails, ItemKey, ItemOutcome, ItemStatus, Run, RunId};
use crate::results::write_import_line;

use super::external_rows::{ExternalJoin, ExternalPart, ExternalRun, OutcomeChecksum};
use super::hidden::HiddenBy;
use super::item_file::ExternalLines;
use super::row_check::{OutcomeMetadata, line_checksum};
use super::statuses::{status_code, status_from_code};
use super::totals::ItemTotals;

/// Outcomes that are joined at once; a part ends with a whole run.
const PART_CELLS: usize = 4 << 20;

/// What an engine answered.
#[derive(Debug)]
pub struct EngineAnswer {
    /// The engine, for messages.
    pub name: String,
    pub runs: Vec<EngineRun>,
    /// Items that rows share, each set in the order of its cells.
    pub sets: Vec<Vec<EngineItem>>,
    pub rows: Vec<EngineRow>,
    /// Reads outcomes again, with time and money. `None` if the source has neither.
    pub lines: Option<Arc<dyn EngineLines>>,
}

/// The last revision of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineRun {
    pub run: Run,
    pub totals: Option<ItemTotals>,
    /// What hides the run, and why.
    pub hidden: Option<(HiddenBy, String)>,
    /// What the run's outcomes must be. `None` if the source does not say it, or they are not read.
    pub published: Option<ExpectedOutcomes>,
}

/// What a lake says of the outcomes of a run, apart from these themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedOutcomes {
    pub outcomes: u64,
    /// A sum over them in any order.
    pub check: u64,
    /// A sum over them with their categories, times, money and tokens.
    pub lines_check: u64,
}

/// An item with its cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EngineItem {
    pub key: ItemKey,
    pub cluster: Option<String>,
}

/// One attempt of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineRow {
    pub run: RunId,
    /// Counts from 1.
    pub attempt: u32,
    /// Index into [`EngineAnswer::sets`].
    pub set: usize,
    /// One per item of the set.
    pub cells: Vec<EngineCell>,
    /// The scores of the cells that have one of their own, in order.
    pub scores: Vec<f64>,
}

/// The outcome of one attempt at one item, in a byte: see `queries/cells.sql`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineCell(u8);

/// Reads outcomes of an engine again.
pub trait EngineLines: fmt::Debug + Send + Sync {
    /// Calls `each` with every outcome of the runs. Fails if there are more than `most`.
    fn for_each_outcome(
        &self,
        runs: &[RunId],
        most: usize,
        each: &mut dyn FnMut(&ItemOutcome),
    ) -> io::Result<()>;
}

impl EngineCell {
    const STATUS_SCORE: u8 = 8;
    const OWN_SCORE: u8 = 16;

    /// Returns `None` if no outcome has this code.
    pub fn parse(code: i8) -> Option<Self> {
        let code = u8::try_from(code)
            .ok()
            .filter(|code| *code < Self::OWN_SCORE + Self::STATUS_SCORE)?;
        status_from_code(code % Self::STATUS_SCORE).map(|_| Self(code))
    }

    /// Returns the code of an outcome without a score.
    pub(super) fn from_status(status: ItemStatus) -> Self {
        Self(status_code(status))
    }

    #[cfg(test)]
    pub(super) fn code(self) -> u8 {
        self.0
    }

    fn status(self) -> ItemStatus {
        status_from_code(self.0 % Self::STATUS_SCORE).unwrap_or(ItemStatus::NotEvaluated)
    }

    /// Returns whether the outcome has a score that is not just its status as a number.
    pub fn has_own_score(self) -> bool {
        self.0 >= Self::OWN_SCORE
    }

    fn has_status_score(self) -> bool {
        (Self::STATUS_SCORE..Self::OWN_SCORE).contains(&self.0)
    }
}

impl EngineAnswer {
    /// Joins everything. Fails with the reason.
    pub(super) fn join_into(&self, joining: &mut ExternalJoin) -> Result<(), String> {
        let standing = |of: &EngineRun| ExternalRun {
            run: Arc::new(of.run.clone()),
            totals: of.totals,
            hidden: of.hidden.clone(),
            // Compared here, so that one message names all runs.
            seal: None,
            score_lines: Vec::new(),
        };
        joining.begin_source(&self.name, self.runs.iter().map(standing).collect())?;
        let published = self
            .runs
            .iter()
            .filter_map(|of| Some((of.run.id.as_str(), of.published?)));
        let mut wanted: BTreeMap<&str, ExpectedOutcomes> = published
            .filter(|(_, published)| published.outcomes > 0)
            .collect();
        let mut other: Vec<String> = Vec::new();
        // A question is mostly about one suite, so the lines of other suites are not in its parts.
        let suites: BTreeMap<&RunId, (&str, Option<&str>)> = self
            .runs
            .iter()
            .map(|of| {
                (
                    &of.run.id,
                    (of.run.suite.as_str(), of.run.suite_version.as_deref()),
                )
            })
            .collect();
        let suite_of = |row: &EngineRow| suites.get(&row.run).copied();
        let mut rows: Vec<&EngineRow> = self.rows.iter().collect();
        rows.sort_by(|left, right| {
            (suite_of(left), &left.run, left.attempt).cmp(&(
                suite_of(right),
                &right.run,
                right.attempt,
            ))
        });
        let mut number = 0;
        for suite in rows.chunk_by(|left, right| suite_of(left) == suite_of(right)) {
            let mut taken: Vec<&EngineRow> = Vec::new();
            for run in suite.chunk_by(|left, right| left.run == right.run) {
                if count_outcomes(&taken) >= PART_CELLS {
                    number += 1;
                    self.join_part(
                        joining,
                        number,
                        &std::mem::take(&mut taken),
                        &mut wanted,
                        &mut other,
                    )?;
                }
                taken.extend(run);
            }
            number += 1;
            self.join_part(joining, number, &taken, &mut wanted, &mut other)?;
        }
        other.extend(
            wanted
                .iter()
                .map(|(run, published)| format!("`{run}` (0 of {})", published.outcomes)),
        );
        if other.is_empty() {
            Ok(())
        } else {
            Err(describe_mismatches(&other))
        }
    }

    /// Joins some rows. Takes their runs out of those that are wanted, and adds those whose outcomes are not as they were published.
    fn join_part<'a>(
        &'a self,
        joining: &mut ExternalJoin,
        number: usize,
        rows: &[&'a EngineRow],
        wanted: &mut BTreeMap<&'a str, ExpectedOutcomes>,
        other: &mut Vec<String>,
    ) -> Result<(), String> {
        let part = self.build_part(rows);
        let mut checks = BTreeMap::new();
        for (run, found) in part.run_checksums() {
            let Some(ExpectedOutcomes {
                outcomes,
                check,
                lines_check,
            }) = wanted.remove(run)
            else {
                continue;
            };
            checks.insert(run.to_owned(), lines_check);
            if found.outcomes != outcomes {
                other.push(format!("`{run}` ({} of {outcomes})", found.outcomes));
            } else if found.check != check {
                other.push(format!("`{run}` ({outcomes}, changed)"));
            }
        }
        let runs = rows.chunk_by(|left, right| left.run == right.run);
        let runs = runs
            .map(|rows| {
                (
                    rows[0].run.clone(),
                    count_outcomes(rows),
                    checks.get(rows[0].run.as_str()).copied(),
                )
            })
            .collect();
        let lines = EngineRunLines {
            place: format!("{} part {number}", self.name),
            runs,
            source: self.lines.clone(),
        };
        joining.join_part(part, Arc::new(lines))
    }

    fn build_part(&self, rows: &[&EngineRow]) -> ExternalPart {
        let mut part = ExternalPart::default();
        // By set: the part's numbers of its items.
        let mut numbered: Vec<Option<Vec<u32>>> = vec![None; self.sets.len()];
        for row in rows {
            let run = part.intern_run(row.run.as_str());
            let items = numbered[row.set].get_or_insert_with(|| {
                let item = |of: &EngineItem| {
                    part.intern_item(
                        of.key.kind,
                        &of.key.evaluator,
                        &of.key.item,
                        of.cluster.as_deref(),
                    )
                };
                self.sets[row.set].iter().map(item).collect()
            });
            let mut scores = row.scores.iter().copied();
            for (item, cell) in items.iter().zip(&row.cells) {
                let status = cell.status();
                let score = if cell.has_own_score() {
                    scores.next()
                } else {
                    cell.has_status_score()
                        .then(|| f64::from(u8::from(status == ItemStatus::Pass)))
                };
                part.push_outcome(run, *item, row.attempt, status, score);
            }
        }
        part
    }
}

/// Says which runs have other outcomes than the lake says; each comes with the numbers found and published.
pub fn describe_mismatches(runs: &[String]) -> String {
    const MAX_SHOWN_RUNS: usize = 5;
    let more = match runs.len().saturating_sub(MAX_SHOWN_RUNS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (of, have) = if runs.len() == 1 {
        ("1 run".to_owned(), "has")
    } else {
        (format!("{} runs", runs.len()), "have")
    };
    format!(
        "{of} {have} other outcomes in `outcomes` than `runs` says: {}{more}",
        runs[..runs.len().min(MAX_SHOWN_RUNS)].join(", ")
    )
}

/// Returns the number of outcomes of some rows.
fn count_outcomes(rows: &[&EngineRow]) -> usize {
    rows.iter().map(|row| row.cells.len()).sum()
}

/// The outcomes of some runs.
#[derive(Debug)]
struct EngineRunLines {
    place: String,
    /// Each with the number of its outcomes, and the sum over their lines if it is known.
    runs: Vec<(RunId, usize, Option<u64>)>,
    source: Option<Arc<dyn EngineLines>>,
}

impl ExternalLines for EngineRunLines {
    fn source_name(&self) -> &str {
        &self.place
    }

    fn content_stamp(&self) -> String {
        // Nothing of an engine is kept for a later command.
        String::new()
    }

    fn for_each_line(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<()> {
        let Some(lines) = &self.source else {
            return Ok(());
        };
        let asked: Vec<_> = self
            .runs
            .iter()
            .filter(|(run, ..)| is_wanted(run.as_str()))
            .collect();
        if asked.is_empty() {
            return Ok(());
        }
        let runs: Vec<RunId> = asked.iter().map(|(run, ..)| run.clone()).collect();
        let mut found: BTreeMap<&RunId, (usize, u64)> =
            asked.iter().map(|(run, ..)| (run, (0, 0))).collect();
        let mut line = String::new();
        let mut foreign = None;
        let most = asked.iter().map(|(_, count, _)| *count).sum();
        lines.for_each_outcome(&runs, most, &mut |outcome| {
            let Some((count, sum)) = found.get_mut(&outcome.run) else {
                foreign.get_or_insert_with(|| outcome.run.clone());
                return;
            };
            *count += 1;
            *sum = sum.wrapping_add(outcome_checksum(outcome));
            line.clear();
            write_import_line(outcome, &ItemDetails::default(), &mut line);
            each(line.trim_end().as_bytes());
        })?;
        if let Some(run) = foreign {
            return Err(io::Error::other(format!(
                "there are outcomes of run `{run}`, which was not asked for"
            )));
        }
        let is_other = |(run, count, sum): &&&(RunId, usize, Option<u64>)| {
            let (found_count, found_sum) = found[run];
            found_count != *count || sum.is_some_and(|sum| sum != found_sum)
        };
        let other: Vec<String> = asked
            .iter()
            .filter(is_other)
            .map(|(run, count, _)| format!("`{run}` ({} of {count})", found[run].0))
            .collect();
        if other.is_empty() {
            Ok(())
        } else {
            Err(io::Error::other(format!(
                "time, money or tokens: {}",
                describe_mismatches(&other)
            )))
        }
    }
}

fn outcome_checksum(outcome: &ItemOutcome) -> u64 {
    let item = OutcomeChecksum::item_checksum(
        outcome.kind,
        &outcome.evaluator,
        &outcome.item,
        outcome.cluster.as_deref(),
    );
    let beside = OutcomeMetadata {
        category: outcome.category.as_deref(),
        duration_seconds: outcome.duration_seconds,
        cost_usd: outcome.cost_usd,
        input_tokens: outcome.input_tokens,
        output_tokens: outcome.output_tokens,
    };
    line_checksum(
        item,
        outcome.attempt,
        (outcome.status, outcome.score),
        &beside,
    )
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::Snapshot;
    use super::*;

    #[test]
    fn every_status_has_three_codes_and_other_codes_are_nothing() {
        let codes: Vec<u8> = (i8::MIN..=i8::MAX)
            .filter_map(EngineCell::parse)
            .map(EngineCell::code)
            .collect();
        let mut known: Vec<u8> = ItemStatus::ALL
            .iter()
            .flat_map(|status| [0, 8, 16].map(|mark| mark + status_code(*status)))
            .collect();
        known.sort_unstable();
        assert_eq!(codes, known);
        let pass = EngineCell::parse(17).expect("a pass with a score of its own");
        assert_eq!(
            (pass.status(), pass.has_own_score(), pass.has_status_score()),
            (ItemStatus::Pass, true, false)
        );
    }

    #[derive(Debug)]
    struct One(ItemOutcome);

    impl EngineLines for One {
        fn for_each_outcome(
            &self,
            _: &[RunId],
            _: usize,
            each: &mut dyn FnMut(&ItemOutcome),
        ) -> io::Result<()> {
            each(&self.0);
            Ok(())
        }
    }

    #[test]
    fn lines_name_their_run_and_rows_become_the_outcomes_that_they_say() {
        let id = |text: &str| RunId::parse(text).expect("an id");
        let key = |item: &str| ItemKey {
            kind: crate::domain::ItemKind::Question,
            evaluator: "e".to_owned(),
            item: item.to_owned(),
        };
        let json = br#"{"item":"q \"1\"","kind":"question","evaluator":"e","status":"pass","cost_usd":0.25}"#;
        let outcome = crate::results::ItemLine::parse(json)
            .and_then(|line| line.to_outcome(&id("r1")))
            .expect("a line");
        let one: Option<Arc<dyn EngineLines>> = Some(Arc::new(One(outcome)));
        let lines = |count| EngineRunLines {
            place: "p".to_owned(),
            runs: vec![(id("r1"), count, None)],
            source: one.clone(),
        };
        assert!(
            lines(2).for_each_line(&|_| true, &mut |_| {}).is_err(),
            "half an answer"
        );
        let mut read = Vec::new();
        lines(1)
            .for_each_line(&|_| true, &mut |line| {
                read.push(
                    crate::results::ItemLine::parse(line)
                        .expect("a line")
                        .to_outcome(&id("other"))
                        .expect("an id"),
                );
            })
            .expect("memory");
        assert_eq!(
            (
                read[0].run.as_str(),
                read[0].item.as_str(),
                read[0].cost_usd
            ),
            ("r1", "q \"1\"", Some(0.25))
        );

        let cells = |codes: &[i8]| {
            codes
                .iter()
                .map(|code| EngineCell::parse(*code).expect("a code"))
                .collect()
        };
        let row = |run: &str, attempt, codes: &[i8], scores: &[f64]| EngineRow {
            run: id(run),
            attempt,
            set: 0,
            cells: cells(codes),
            scores: scores.to_vec(),
        };
        let item = |item: &str| EngineItem {
            key: key(item),
            cluster: (item == "a").then(|| "c".to_owned()),
        };
        let answer = EngineAnswer {
            name: "engine".to_owned(),
            runs: ["r1", "r2"]
                .map(|run| EngineRun {
                    run: Run::new(id(run), "s", "a", "m"),
                    totals: None,
                    hidden: None,
                    published: None,
                })
                .into(),
            sets: vec![vec![item("b"), item("a")]],
            rows: vec![
                row("r1", 1, &[9, 18], &[0.5]),
                row("r1", 2, &[2, 3], &[]),
                row("r2", 1, &[17, 1], &[0.75]),
            ],
            lines: one,
        };
        let mut joining = ExternalJoin::from_snapshot(Snapshot::default(), Vec::new());
        answer.join_into(&mut joining).expect("whole runs");
        let snapshot = joining.finish().expect("whole runs").snapshot;
        let rows: Vec<String> = snapshot.items[0]
            .rows
            .iter()
            .map(|row| {
                format!(
                    "{} {} {:?} {:?}",
                    row.run, row.attempt, row.statuses, row.scores
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                "0 1 [Pass, Fail] Own([Some(1.0), Some(0.5)])",
                "0 2 [Fail, Error] Absent",
                "1 1 [Pass, Pass] Own([Some(0.75), None])"
            ]
        );
    }
}
