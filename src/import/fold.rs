//! Folds rows into runs while a source streams by. Memory grows with runs and distinct items, not with rows.

use std::collections::HashMap;

use crate::document::quote;
use crate::domain::{ItemDetails, ItemKind, ItemOutcome, ItemStatus, Provenance, Run, RunId, ScoreRecord};
use crate::results::StoreError;

use super::cell::Refused;
use super::field::View;
use super::held::{Held, Sums};
use super::map::{Attempt, ItemFields, Map};
use super::record::{self, RunNames};
use super::report::{ImportedRun, Refusals, StatedReport};
use super::rows::Row;
use super::seen::{Attempts, Dictionary};
use super::spent::{Spent, Sum};

/// Evaluator whose tests are the run's own, as in the store's examination.
const OWN_TESTS: &str = "own_tests";
const FUNCTIONAL_TESTS: &str = "functional_tests";

/// Part of a source that rows come from.
pub(super) struct Place<'a> {
    /// Name of the part in messages.
    pub label: &'a str,
    /// The source's file name.
    pub file: &'a str,
    pub member: Option<&'a str>,
}

/// A run's first id, and whether the store, or an earlier file of the command, has the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Not(RunId),
    /// The run is summed up for comparison.
    Stored(RunId),
    /// To be stored again under the second id.
    Again(RunId, RunId),
}

pub(super) struct Fold<'a> {
    map: &'a Map,
    known: &'a dyn Fn(&Run) -> Known,
    has_run_figures: bool,
    runs: Vec<RunState>,
    by_names: HashMap<String, usize>,
    /// By the ids that their names make.
    by_id: HashMap<RunId, usize>,
    items: Dictionary,
    /// Run of the previous row. Rows of one run mostly follow each other.
    last: Option<usize>,
    names: RunNames,
    last_names: RunNames,
    key: String,
    outcome: ItemOutcome,
    details: ItemDetails,
    pub rows_read: u64,
    /// Rows that the map skips, such as totals and notes.
    pub rows_skipped: u64,
    pub rows_accepted: u64,
    pub items_written: u64,
    pub refusals: Refusals,
}

struct RunState {
    run: Run,
    source: ImportedRun,
    is_repeated: bool,
    /// Sums of the run's content, if it is to be compared with the store.
    sums: Option<Sums>,
    /// The id made of the run's names, if the run is stored under another id.
    first: Option<RunId>,
    attempts: Attempts,
    shared: Counted,
    own: Counted,
    score: Sum,
    spent: Spent,
}

#[derive(Default)]
struct Counted {
    passed: u64,
    total: u64,
}

/// Everything read from a source, in an order that does not depend on the order of its rows.
#[derive(Default)]
pub(super) struct Folded {
    pub runs: Vec<Run>,
    pub new: Vec<ImportedRun>,
    pub repeated: Vec<ImportedRun>,
    /// Repeated runs that the store has, with their content in this source.
    pub held: Vec<(Run, Held)>,
    pub stated: StatedReport,
}

impl<'a> Fold<'a> {
    pub fn new(map: &'a Map, known: &'a dyn Fn(&Run) -> Known) -> Self {
        let nobody = RunNames::default();
        Self {
            map,
            known,
            has_run_figures: record::has_run_figures(map),
            runs: Vec::new(),
            by_names: HashMap::new(),
            by_id: HashMap::new(),
            items: Dictionary::default(),
            last: None,
            names: nobody.clone(),
            last_names: nobody.clone(),
            key: String::new(),
            outcome: ItemOutcome {
                run: record::run_id(map, &nobody),
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
            },
            details: ItemDetails::default(),
            rows_read: 0,
            rows_skipped: 0,
            rows_accepted: 0,
            items_written: 0,
            refusals: Refusals::default(),
        }
    }

    /// Takes one row. If it is an outcome of a new run, passes it to `write`.
    pub fn take(
        &mut self,
        row: &Row<'_>,
        place: &Place<'_>,
        write: &mut dyn FnMut(&ItemOutcome, &ItemDetails) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.rows_read += 1;
        let understood = match &row.cells {
            Ok(cells) => {
                let notation = &self.map.notation;
                let view = View { cells, notation, number: row.number, file: place.file, member: place.member };
                match &self.map.item {
                    Some(fields) => self.take_item(fields, &view, row, place).map(Some),
                    None => self.take_run(&view, row, place).map(|()| None),
                }
            }
            Err(refused) => Err(refused.clone()),
        };
        match understood {
            Ok(state) => {
                self.rows_accepted += 1;
                if let Some(state) = state.map(|state| &mut self.runs[state]) {
                    if let Some(sums) = &mut state.sums {
                        sums.add(&self.outcome, &self.details);
                    }
                    if !state.is_repeated {
                        write(&self.outcome, &self.details)?;
                        self.items_written += 1;
                    }
                }
            }
            Err(refused) => self.refusals.add(refused, place.label, row),
        }
        Ok(())
    }

    fn take_run(&mut self, view: &View<'_>, row: &Row<'_>, place: &Place<'_>) -> Result<(), Refused> {
        record::run_names(self.map, view, &mut self.names)?;
        let run = record::run_of(self.map, view, &self.names)?;
        if let Some(&first) = self.by_id.get(&run.id) {
            let first = &self.runs[first].source;
            let line = first.line.map(|line| format!(", line {line}")).unwrap_or_default();
            return Err(Refused::with_detail("the run is there twice", format!("first in {}{line}", first.file)));
        }
        self.add_run(run, row, place);
        Ok(())
    }

    /// Takes an item's outcome and returns the index of its run.
    fn take_item(&mut self, fields: &ItemFields, view: &View<'_>, row: &Row<'_>, place: &Place<'_>) -> Result<usize, Refused> {
        record::run_names(self.map, view, &mut self.names)?;
        record::outcome_of(fields, view, &mut self.outcome)?;
        if fields.has_details() {
            self.details = record::details_of(fields, view)?;
        }
        let known = self.last.filter(|_| self.names == self.last_names).or_else(|| {
            names_key(&self.names, &mut self.key);
            self.by_names.get(&self.key).copied()
        });
        // Made before any state changes, so that a refused row leaves nothing behind.
        let figures = if known.is_none() || self.has_run_figures { Some(record::run_of(self.map, view, &self.names)?) } else { None };
        if known.is_none() && figures.as_ref().is_some_and(|run| self.by_id.contains_key(&run.id)) {
            return Err(Refused::because("rows of one run disagree about its approach, model or index"));
        }

        let outcome = &mut self.outcome;
        item_key(outcome, &mut self.key);
        let item = self.items.number(&self.key).ok_or_else(|| Refused::because("more different items than can be told apart"))?;
        let state = if let Some(state) = known {
            let known = &mut self.runs[state];
            if is_there(&known.attempts, fields, item, outcome) {
                let detail = format!("item {}, attempt {}", quote(&outcome.item), outcome.attempt);
                return Err(Refused::with_detail("the attempt at the item is there twice", detail));
            }
            if let Some(figures) = figures {
                record::merge(&mut known.run, figures)?;
            }
            state
        } else {
            let run = figures.unwrap_or_else(|| Run::new(record::run_id(self.map, &self.names), "", "", ""));
            let state = self.add_run(run, row, place);
            names_key(&self.names, &mut self.key);
            self.by_names.insert(self.key.clone(), state);
            state
        };
        note_attempt(&mut self.runs[state].attempts, fields, item, &mut self.outcome);
        if self.last != Some(state) {
            self.last = Some(state);
            self.last_names.clone_from(&self.names);
            self.outcome.run.clone_from(&self.runs[state].run.id);
        }
        self.runs[state].count(&self.outcome);
        Ok(state)
    }

    fn add_run(&mut self, mut run: Run, row: &Row<'_>, place: &Place<'_>) -> usize {
        self.by_id.insert(run.id.clone(), self.runs.len());
        let known = (self.known)(&run);
        let is_repeated = matches!(known, Known::Stored(_));
        let sums = is_repeated.then(Sums::default);
        let first = match known {
            Known::Again(first, id) => {
                run.id = id;
                Some(first)
            }
            Known::Not(first) | Known::Stored(first) => {
                run.id = first;
                None
            }
        };
        let source = ImportedRun {
            id: run.id.clone(),
            suite: run.suite.clone(),
            approach: run.approach.clone(),
            model: run.model.clone(),
            identity: (!self.names.identity.is_empty()).then(|| self.names.identity.join("/")),
            file: place.label.to_owned(),
            line: row.line.and_then(|line| usize::try_from(line).ok()),
        };
        self.runs.push(RunState {
            run,
            source,
            is_repeated,
            sums,
            first,
            attempts: Attempts::default(),
            shared: Counted::default(),
            own: Counted::default(),
            score: Sum::default(),
            spent: Spent::default(),
        });
        self.runs.len() - 1
    }

    /// Ends the source: completes each run from its items and checks the published figures.
    pub fn finish(self, provenance: &Provenance) -> (Folded, Refusals) {
        let mut states = self.runs;
        let names = |state: &RunState| {
            let run = &state.run;
            (run.suite.clone(), run.approach.clone(), run.model.clone(), run.run_index, state.source.identity.clone(), run.id.clone())
        };
        states.sort_by_cached_key(names);
        let mut folded = Folded::default();
        for mut state in states {
            if let Some(item) = &self.map.item {
                state.complete(item);
            }
            record::settle(&mut state.run);
            folded.stated.check(&state.run.stated, &state.source);
            if state.is_repeated {
                folded.repeated.push(state.source);
                if let Some(sums) = state.sums {
                    let held = sums.of(&state.run);
                    folded.held.push((state.run, held));
                }
            } else {
                folded.new.push(state.source);
                state.run.provenance = Some(Provenance { first: state.first, ..provenance.clone() });
                folded.runs.push(state.run);
            }
        }
        (folded, self.refusals)
    }
}

impl RunState {
    fn count(&mut self, outcome: &ItemOutcome) {
        let is_headline = outcome.kind.is_counted() && outcome.evaluator != FUNCTIONAL_TESTS;
        if is_headline && outcome.status.is_counted() {
            let counted = if outcome.evaluator == OWN_TESTS { &mut self.own } else { &mut self.shared };
            counted.total += 1;
            counted.passed += u64::from(outcome.status == ItemStatus::Pass);
        }
        self.spent.add(outcome);
        if let Some(score) = outcome.score {
            self.score.add(score);
        }
    }

    /// Sets the run's totals from its items.
    fn complete(&mut self, item: &ItemFields) {
        let counts = |counted: &Counted| if counted.total > 0 { (Some(counted.passed), Some(counted.total)) } else { (None, None) };
        (self.run.shared_tests_passed, self.run.shared_tests_total) = counts(&self.shared);
        (self.run.own_tests_passed, self.run.own_tests_total) = counts(&self.own);
        self.run.cost_usd = self.run.cost_usd.or_else(|| self.spent.cost_usd());
        self.run.input_tokens = self.run.input_tokens.or_else(|| self.spent.input_tokens());
        self.run.output_tokens = self.run.output_tokens.or_else(|| self.spent.output_tokens());
        let mean = self.score.value() / self.score.n as f64;
        if let Some(score) = &item.score
            && self.score.n > 0
            && mean.is_finite()
        {
            self.run.scores.push(ScoreRecord {
                range: score.range.map(|range| range.in_unit(score.unit)),
                n: Some(self.score.n),
                // No standard error: attempts at one item are not independent. Intervals come from the stored outcomes.
                ..ScoreRecord::new(score.metric.clone(), mean, score.unit.unit, score.direction)
            });
        }
    }
}

fn is_there(attempts: &Attempts, fields: &ItemFields, item: u32, outcome: &ItemOutcome) -> bool {
    match fields.attempt {
        Attempt::Occurrence => false,
        Attempt::Only | Attempt::Counted(_) => attempts.contains(item, outcome.attempt),
    }
}

/// Notes the attempt. If the map says so, numbers it first.
fn note_attempt(attempts: &mut Attempts, fields: &ItemFields, item: u32, outcome: &mut ItemOutcome) {
    match fields.attempt {
        Attempt::Occurrence => outcome.attempt = attempts.next(item),
        Attempt::Only | Attempt::Counted(_) => attempts.insert(item, outcome.attempt),
    }
}

/// Writes a key that only these names have.
fn names_key(names: &RunNames, key: &mut String) {
    key.clear();
    let index = names.index.map(|index| index.to_string()).unwrap_or_default();
    let fixed = [names.suite.as_str(), &names.approach, &names.model, &index];
    for name in fixed.into_iter().chain(names.identity.iter().map(String::as_str)) {
        push_framed(key, name);
    }
}

fn item_key(outcome: &ItemOutcome, key: &mut String) {
    key.clear();
    key.push_str(outcome.kind.name());
    push_framed(key, &outcome.evaluator);
    key.push_str(&outcome.item);
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
    fn a_sum_does_not_depend_on_the_order() {
        let values: Vec<f64> = (1..=1000).map(|n| 1.0 / f64::from(n)).collect();
        let sum = |values: &mut dyn Iterator<Item = f64>| {
            let mut sum = Sum::default();
            values.for_each(|value| sum.add(value));
            sum.value()
        };
        let forward = sum(&mut values.iter().copied());
        assert_eq!(forward.to_bits(), sum(&mut values.iter().rev().copied()).to_bits());
        assert_eq!(sum(&mut [1e16, 1.0, -1e16].into_iter()).to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn keys_of_different_names_differ() {
        let key = |suite: &str, approach: &str| {
            let mut key = String::new();
            names_key(&RunNames { suite: suite.to_owned(), approach: approach.to_owned(), ..RunNames::default() }, &mut key);
            key
        };
        assert_ne!(key("a|1:b", "c"), key("a", "b|1:c"));
    }
}
