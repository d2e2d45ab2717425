//! Runs and outcomes that stand, wherever they are kept, as units of a snapshot: those that a store's files would give.
//!
//! A lake or an engine keeps many revisions of a run and decides which one stands. What stands is given to [`Joining`], which knows nothing of
//! where it comes from, so that everything behind a snapshot gives the same figures for a store and for its copy elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{ItemKind, ItemStatus, Run};

use super::hidden::HiddenBy;
use super::ingest::{Merge, Parsed};
use super::item_file::{ItemFile, StandingLines};
use super::items::{Block, Dictionary};
use super::snapshot::{HeaderUnit, ItemUnit, Snapshot};
use super::totals::ItemTotals;
use super::unit::Stamp;

/// The standing revision of a run.
pub(super) struct StandingRun {
    /// The run as it is stored, under its stored names.
    pub run: Run,
    /// `None` if the run has no item lines. Given, not summed here: sums of numbers depend on their order.
    pub totals: Option<ItemTotals>,
    /// Why the run does not count, if it does not.
    pub hidden: Option<(HiddenBy, String)>,
}

/// Standing outcomes of whole runs, in compact form: names are numbered once, and an outcome is a few numbers. Parts are filled in parallel.
#[derive(Default)]
pub(super) struct StandingPart {
    dictionary: Dictionary,
    block: Block,
}

impl StandingPart {
    /// Numbers a run of this part.
    pub fn run(&mut self, id: &str) -> u32 {
        self.dictionary.runs.intern(id)
    }

    /// Numbers an item of this part together with its cluster. If a later revision states no cluster, give the one in force.
    pub fn item(&mut self, kind: ItemKind, evaluator: &str, item: &str, cluster: Option<&str>) -> u32 {
        self.dictionary.told(kind, evaluator, item, cluster)
    }

    /// Adds the standing outcome of one attempt of a run at an item. Attempts count from 1.
    pub fn push(&mut self, run: u32, item: u32, attempt: u32, status: ItemStatus, score: Option<f64>) {
        self.dictionary.push(&mut self.block, (run, item), (attempt, 0), status, score);
    }

    /// Returns the number of outcomes.
    pub fn len(&self) -> usize {
        self.block.cells.len()
    }
}

/// What stands in one source beside the files of stores.
#[derive(Default)]
pub(super) struct Standing {
    /// By run: the item unit of its outcomes.
    pub unit_of: HashMap<String, u32>,
    /// By run that does not count: what hides it, and why.
    pub hidden: HashMap<String, (HiddenBy, String)>,
}

/// A snapshot to which further sources are joined, part by part.
pub(super) struct Joining {
    headers: Vec<HeaderUnit>,
    items: Vec<ItemUnit>,
    files: Vec<ItemFile>,
    merge: Merge,
    /// The name of the current source, and what stands in it.
    source: String,
    standing: Standing,
    totals: HashMap<String, ItemTotals>,
    finished: HashMap<String, Standing>,
}

/// A snapshot with everything that was joined to it.
pub(super) struct Joined {
    pub snapshot: Snapshot,
    /// In the order of the snapshot's item units.
    pub files: Vec<ItemFile>,
    /// By name of source, which is the path of its header unit.
    pub standing: HashMap<String, Standing>,
}

impl Joining {
    /// Begins with the units of the stores' files.
    pub fn over(mut snapshot: Snapshot, files: Vec<ItemFile>) -> Self {
        let (headers, items) = (std::mem::take(&mut snapshot.headers), std::mem::take(&mut snapshot.items));
        Self {
            headers,
            items,
            files,
            merge: Merge::over(snapshot),
            source: String::new(),
            standing: Standing::default(),
            totals: HashMap::new(),
            finished: HashMap::new(),
        }
    }

    /// Begins a source with its runs, each of which is given once. `name` is shown in messages.
    pub fn begin(&mut self, name: &str, runs: Vec<StandingRun>) {
        self.end_source();
        name.clone_into(&mut self.source);
        let mut stored = Vec::with_capacity(runs.len());
        for StandingRun { run, totals, hidden } in runs {
            let id = run.id.as_str().to_owned();
            if let Some(totals) = totals {
                self.totals.insert(id.clone(), totals);
            }
            if let Some(hidden) = hidden {
                self.standing.hidden.insert(id, hidden);
            }
            stored.push(Arc::new(run));
        }
        self.headers.push(HeaderUnit {
            path: name.to_owned(),
            stamp: Stamp::default(),
            scores_stamp: None,
            judged: Vec::new(),
            runs: stored,
            problems: Vec::new(),
        });
    }

    /// Adds outcomes of the current source. `lines` reads the same outcomes again with money, time and texts, and names where they are.
    ///
    /// Fails with the id of a run that an earlier part of this source has outcomes of: half a run would be shown.
    pub fn part(&mut self, part: StandingPart, lines: Arc<dyn StandingLines>) -> Result<(), String> {
        if part.len() == 0 {
            return Ok(());
        }
        let unit = super::intern::number(self.items.len());
        for run in &part.dictionary.runs.names {
            if self.standing.unit_of.insert(run.clone(), unit).is_some() {
                return Err(run.clone());
            }
        }
        let state = lines.state();
        let file = ItemFile::elsewhere(lines);
        let numbers = [self.merge.numbers(&part.dictionary)];
        let stamp = Stamp::of_state(&state);
        let mut unit = self.merge.unit(&file, stamp, Parsed { blocks: vec![(0, part.block)], failure: None }, &numbers);
        let totals = part.dictionary.runs.names.iter().filter_map(|run| Some((self.merge.run(run), self.totals.remove(run)?)));
        unit.totals = totals.collect();
        unit.totals.sort_by_key(|(run, _)| *run);
        self.items.push(unit);
        self.files.push(file);
        Ok(())
    }

    /// Ends the current source. Runs whose lines were not given, or of which no line counts, keep their totals.
    fn end_source(&mut self) {
        if self.source.is_empty() {
            return;
        }
        let unit = super::intern::number(self.items.len());
        let mut totals: Vec<(u32, ItemTotals)> = Vec::with_capacity(self.totals.len());
        for (run, of_run) in self.totals.drain() {
            totals.push((self.merge.run(&run), of_run));
            self.standing.unit_of.insert(run, unit);
        }
        if !totals.is_empty() {
            totals.sort_by_key(|(run, _)| *run);
            let (stamp, standing, rows, problems) = (Stamp::default(), Vec::new(), Vec::new(), Vec::new());
            self.items.push(ItemUnit { path: self.source.clone(), stamp, standing, rows, totals, problems });
            self.files.push(ItemFile::elsewhere(Arc::new(NoLines(self.source.clone()))));
        }
        let (source, standing) = (std::mem::take(&mut self.source), std::mem::take(&mut self.standing));
        self.finished.insert(source, standing);
    }

    pub fn finish(mut self) -> Joined {
        self.end_source();
        let snapshot = Snapshot { headers: self.headers, items: self.items, ..self.merge.finish() };
        Joined { snapshot, files: self.files, standing: self.finished }
    }
}

/// The lines of runs that have none that count.
#[derive(Debug)]
struct NoLines(String);

impl StandingLines for NoLines {
    fn place(&self) -> &str {
        &self.0
    }

    fn state(&self) -> String {
        String::new()
    }

    fn each(&self, _: &mut dyn FnMut(&[u8])) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_given_in_parts_are_the_rows_that_their_lines_give() {
        let lines = [
            r#"{"run":"r1","item":"a","kind":"question","evaluator":"e","attempt":1,"revision":0,"status":"pass","score":1.0,"cluster":"c"}"#,
            r#"{"run":"r1","item":"b","kind":"question","evaluator":"e","attempt":2,"revision":0,"status":"fail","score":0.25}"#,
            r#"{"run":"r1","item":"a","kind":"question","evaluator":"e","attempt":2,"revision":0,"status":"error"}"#,
            r#"{"run":"r2","item":"b","kind":"question","evaluator":"e","attempt":1,"revision":0,"status":"pass","cost_usd":0.1}"#,
        ];
        let mut dictionary = Dictionary::default();
        let block = dictionary.parse(lines.join("\n").as_bytes(), None);
        let mut merge = Merge::over(Snapshot::default());
        let numbers = [merge.numbers(&dictionary)];
        let sealed = ItemFile { path: "f".into(), journal_of: None, is_of_judges: false, standing: Vec::new(), elsewhere: None };
        let of_lines = merge.unit(&sealed, Stamp::default(), Parsed { blocks: vec![(0, block)], failure: None }, &numbers);
        let of_lines = Snapshot { items: vec![of_lines], ..merge.finish() };

        let runs = ["r1", "r2"].map(|id| StandingRun {
            run: Run::new(crate::domain::RunId::parse(id).expect("a valid id"), "s", "a", "m"),
            totals: Some(ItemTotals { lines: 3, ..ItemTotals::default() }),
            hidden: (id == "r2").then(|| (HiddenBy::Tombstone, "why".to_owned())),
        });
        let mut joining = Joining::over(Snapshot::default(), Vec::new());
        joining.begin("lake", runs.into());
        // Another order than that of the lines.
        let mut part = StandingPart::default();
        let (r2, r1) = (part.run("r2"), part.run("r1"));
        let (b, a, told) = (
            part.item(ItemKind::Question, "e", "b", None),
            part.item(ItemKind::Question, "e", "a", None),
            part.item(ItemKind::Question, "e", "a", Some("c")),
        );
        part.push(r2, b, 1, ItemStatus::Pass, None);
        part.push(r1, a, 2, ItemStatus::Error, None);
        part.push(r1, told, 1, ItemStatus::Pass, Some(1.0));
        part.push(r1, b, 2, ItemStatus::Fail, Some(0.25));
        joining.part(part, Arc::new(NoLines("part".to_owned()))).expect("each run once");
        let mut again = StandingPart::default();
        let run = again.run("r1");
        let item = again.item(ItemKind::Question, "e", "a", None);
        again.push(run, item, 1, ItemStatus::Fail, None);
        assert_eq!(joining.part(again, Arc::new(NoLines("other".to_owned()))), Err("r1".to_owned()));

        let Joined { snapshot, files, standing } = joining.finish();
        assert_eq!((snapshot.headers[0].path.as_str(), snapshot.headers[0].runs.len(), files.len()), ("lake", 2, 1));
        assert_eq!(snapshot.items[0].totals.iter().map(|(_, totals)| totals.lines).collect::<Vec<_>>(), [3, 3]);
        assert_eq!(standing["lake"].hidden["r2"].1, "why");
        assert_eq!(told_of(&snapshot), told_of(&of_lines));
    }

    /// All outcomes by name, because numbers depend on the order of reading.
    fn told_of(snapshot: &Snapshot) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for row in snapshot.items.iter().flat_map(|unit| &unit.rows) {
            for (place, key) in snapshot.item_sets[row.items as usize].iter().enumerate() {
                let column = &snapshot.fact_columns[row.facts as usize];
                let facts = column.get(place).map(|facts| &snapshot.facts[*facts as usize]);
                let score = row.scores.at(std::iter::once(place));
                let (run, key) = (&snapshot.run_ids[row.run as usize], &snapshot.keys[*key as usize]);
                told.push(format!(
                    "{run} {} {key:?} {} {score:?} {:?}",
                    row.attempt,
                    row.statuses.0[place],
                    facts.and_then(|facts| facts.cluster.as_deref())
                ));
            }
        }
        told.sort();
        told
    }
}
