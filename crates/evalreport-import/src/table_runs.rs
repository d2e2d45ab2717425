//! Reads rows as a map says, and tells the ledger the runs and outcomes in them. Memory grows with runs and distinct items, not with rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::{
    Direction, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId, ScoreRecord, Unit,
};
use crate::results::{Store, StoreError};

use super::cell::Refused;
use super::field::RowView;
use super::foreign::running_mean::RunningMean;
use super::ledger::{AttemptNumbering, Ledger, RunHandle};
use super::map::{AttemptField, ItemFieldMap, TableMap};
use super::record::{self, RowRunNames};
use super::report::SourceRun;
use super::rows::SourceRow;
use super::stored::UnnamedRun;

/// Part of a source that rows come from.
pub(super) struct RowSource<'a> {
    /// Name of the part in messages.
    pub label: &'a str,
    /// The source's file name.
    pub file: &'a str,
    pub member: Option<&'a str>,
}

pub(super) struct TableRuns<'m, 'a> {
    map: &'m TableMap,
    pub ledger: Ledger<'a>,
    has_run_figures: bool,
    by_names: HashMap<String, RunHandle>,
    /// By the ids that their names make.
    by_id: HashMap<RunId, RunHandle>,
    /// Run of the previous row. Rows of one run mostly follow each other.
    last: Option<RunHandle>,
    names: RowRunNames,
    last_names: RowRunNames,
    key: String,
    outcome: ItemOutcome,
    details: ItemDetails,
    /// Means of the further scores of items, by run and name.
    means: BTreeMap<(RunHandle, String), RunningMean>,
    /// Names of the further scores that have a value outside of 0 to 1.
    not_shares: BTreeSet<String>,
    /// Rows that the map skips, such as totals and notes.
    pub rows_skipped: u64,
}

impl<'m, 'a> TableRuns<'m, 'a> {
    pub fn new(map: &'m TableMap, ledger: Ledger<'a>) -> Self {
        let nobody = RowRunNames::default();
        Self {
            map,
            ledger,
            has_run_figures: record::has_run_figures(map),
            by_names: HashMap::new(),
            by_id: HashMap::new(),
            last: None,
            names: nobody.clone(),
            last_names: nobody.clone(),
            key: String::new(),
            outcome: blank_outcome(map),
            details: ItemDetails::default(),
            means: BTreeMap::new(),
            not_shares: BTreeSet::new(),
            rows_skipped: 0,
        }
    }

    /// Takes one row. Returns its outcome, if it has one that was not refused.
    pub fn take_row(
        &mut self,
        row: &SourceRow<'_>,
        place: &RowSource<'_>,
    ) -> Result<Option<&ItemOutcome>, StoreError> {
        self.ledger.rows_read += 1;
        let understood = match &row.cells {
            Ok(cells) => {
                let notation = &self.map.notation;
                let view = RowView {
                    cells,
                    notation,
                    number: row.number,
                    file: place.file,
                    member: place.member,
                };
                match &self.map.item {
                    Some(fields) => self.take_item(fields, &view, row, place).map(Some),
                    None => self.take_run(&view, row, place).map(|()| None),
                }
            }
            Err(refused) => Err(refused.clone()),
        };
        match understood {
            Ok(Some((run, item))) => {
                self.ledger
                    .add_outcome(run, item, &mut self.outcome, &self.details)?;
                for (name, value) in &self.details.scores {
                    let mean = self.means.entry((run, name.clone())).or_default();
                    mean.add(*value);
                    if !(0.0..=1.0).contains(value) {
                        self.not_shares.insert(name.clone());
                    }
                }
                return Ok(Some(&self.outcome));
            }
            Ok(None) => self.ledger.rows_accepted += 1,
            Err(refused) => {
                let line = row.line.and_then(|line| usize::try_from(line).ok());
                self.ledger.note_refused(
                    refused,
                    place.label,
                    &format!("row {}", row.number),
                    line,
                );
            }
        }
        Ok(None)
    }

    fn take_run(
        &mut self,
        view: &RowView<'_>,
        row: &SourceRow<'_>,
        place: &RowSource<'_>,
    ) -> Result<(), Refused> {
        record::read_run_names(self.map, view, &mut self.names)?;
        let run = record::read_run(self.map, view, &self.names)?;
        if let Some(&first) = self.by_id.get(&run.id) {
            let first = self.ledger.source_of(first);
            let line = first
                .line
                .map(|line| format!(", line {line}"))
                .unwrap_or_default();
            return Err(Refused::with_detail(
                "the run is there twice",
                format!("first in {}{line}", first.file),
            ));
        }
        self.add_run(run, row, place);
        Ok(())
    }

    /// Reads an item's outcome. Returns its run and its item.
    fn take_item(
        &mut self,
        fields: &ItemFieldMap,
        view: &RowView<'_>,
        row: &SourceRow<'_>,
        place: &RowSource<'_>,
    ) -> Result<(RunHandle, (u32, AttemptNumbering)), Refused> {
        record::read_run_names(self.map, view, &mut self.names)?;
        record::read_outcome(fields, view, &mut self.outcome)?;
        if fields.has_details() {
            self.details = record::read_details(fields, view)?;
        }
        let known = self
            .last
            .filter(|_| self.names == self.last_names)
            .or_else(|| {
                write_names_key(&self.names, &mut self.key);
                self.by_names.get(&self.key).copied()
            });
        // Made before any state changes, so that a refused row leaves nothing behind.
        let figures = if known.is_none() || self.has_run_figures {
            Some(record::read_run(self.map, view, &self.names)?)
        } else {
            None
        };
        if known.is_none()
            && figures
                .as_ref()
                .is_some_and(|run| self.by_id.contains_key(&run.id))
        {
            return Err(Refused::new(
                "rows of one run disagree about its approach, model or index",
            ));
        }
        let numbering = match fields.attempt {
            AttemptField::Occurrence => AttemptNumbering::InOrder,
            AttemptField::Only | AttemptField::Counted(_) => AttemptNumbering::Given,
        };
        let item = self.ledger.number_item(known, &self.outcome, numbering)?;
        let run = if let Some(known) = known {
            if let Some(figures) = figures {
                record::merge_runs(self.ledger.run_mut(known), figures)?;
            }
            known
        } else {
            let run = figures.unwrap_or_else(|| {
                Run::new(record::derive_run_id(self.map, &self.names), "", "", "")
            });
            let run = self.add_run(run, row, place);
            write_names_key(&self.names, &mut self.key);
            self.by_names.insert(self.key.clone(), run);
            run
        };
        if self.last != Some(run) {
            self.last = Some(run);
            self.last_names.clone_from(&self.names);
        }
        Ok((run, (item, numbering)))
    }

    fn add_run(&mut self, run: Run, row: &SourceRow<'_>, place: &RowSource<'_>) -> RunHandle {
        let told = *self.ledger.context();
        let by_names = run.id.clone();
        // A map that names an `identity` says that the source names its runs.
        let (id, is_copy) = if self.map.run.identity.is_empty() {
            let own = Store::imported_run_id(told.importer, &[run.id.as_str(), told.read.sha256]);
            (
                self.ledger.resolve_unnamed(own, UnnamedRun::from_run(&run)),
                told.stored
                    .has_namesake(told.importer, UnnamedRun::from_run(&run)),
            )
        } else {
            (run.id.clone(), false)
        };
        let source = SourceRun {
            id,
            suite: run.suite.clone(),
            approach: run.approach.clone(),
            model: run.model.clone(),
            identity: (!self.names.identity.is_empty()).then(|| self.names.identity.join("/")),
            file: place.label.to_owned(),
            line: row.line.and_then(|line| usize::try_from(line).ok()),
        };
        let handle = self.ledger.begin_run(source, is_copy);
        let begun = self.ledger.run_mut(handle);
        *begun = Run {
            id: begun.id.clone(),
            ..run
        };
        self.by_id.insert(by_names, handle);
        handle
    }

    /// Ends the source: adds each run's mean score, if the map names the score, and the means of the further scores.
    pub fn finish(mut self) -> Ledger<'a> {
        if let Some(score) = self.map.item.as_ref().and_then(|item| item.score.as_ref()) {
            for run in self.ledger.handles() {
                let Some((mean, n)) = self.ledger.mean_score(run) else {
                    continue;
                };
                self.ledger.run_mut(run).scores.push(ScoreRecord {
                    range: score.range.map(|range| range.in_unit(score.unit)),
                    n: Some(n),
                    // No standard error: attempts at one item are not independent. Intervals come from the stored outcomes.
                    ..ScoreRecord::new(score.metric.clone(), mean, score.unit.unit, score.direction)
                });
            }
        }
        for ((run, name), mean) in self.means {
            let is_known = self
                .ledger
                .run_mut(run)
                .scores
                .iter()
                .any(|score| score.metric == name);
            let Some(value) = mean.mean().filter(|_| !is_known) else {
                continue;
            };
            let unit = if self.not_shares.contains(&name) {
                Unit::Number
            } else {
                Unit::Fraction
            };
            self.ledger.run_mut(run).scores.push(ScoreRecord {
                n: Some(mean.n()),
                ..ScoreRecord::new(name, value, unit, Direction::None)
            });
        }
        self.ledger
    }
}

/// Returns an outcome to be filled in by the first row.
pub(super) fn blank_outcome(map: &TableMap) -> ItemOutcome {
    ItemOutcome {
        run: record::derive_run_id(map, &RowRunNames::default()),
        kind: ItemKind::Question,
        item: String::new(),
        cluster: None,
        category: None,
        attempt: 1,
        status: ItemStatus::NotEvaluated,
        score: None,
        evaluator: String::new(),
        revision: 0,
        duration_seconds: None,
        cost_usd: None,
        input_tokens: None,
        output_tokens: None,
    }
}

/// Writes a key that only these names have.
fn write_names_key(names: &RowRunNames, key: &mut String) {
    key.clear();
    let index = names
        .index
        .map(|index| index.to_string())
        .unwrap_or_default();
    let fixed = [names.suite.as_str(), &names.approach, &names.model, &index];
    for name in fixed
        .into_iter()
        .chain(names.identity.iter().map(String::as_str))
        .chain(names.settings.iter().map(String::as_str))
    {
        push_framed(key, name);
    }
}

/// Appends a text with its length, so that following texts cannot be mistaken for part of it.
fn push_framed(key: &mut String, text: &str) {
    use std::fmt::Write;
    // Writing to a string cannot fail.
    let _ = write!(key, "|{}:{text}", text.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_different_names_differ() {
        let key = |suite: &str, approach: &str| {
            let mut key = String::new();
            write_names_key(
                &RowRunNames {
                    suite: suite.to_owned(),
                    approach: approach.to_owned(),
                    ..RowRunNames::default()
                },
                &mut key,
            );
            key
        };
        assert_ne!(key("a|1:b", "c"), key("a", "b|1:c"));
    }
}
