//! Runs and outcomes that stand, wherever they are kept, as units of a snapshot: those that a store's files would give.
//!
//! A lake or an engine keeps many revisions of a run and decides which one stands. What stands is given to [`Joining`], which knows nothing of
//! where it comes from, so that everything behind a snapshot gives the same figures for a store and for its copy elsewhere.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::domain::{ItemKind, ItemStatus, Problem, Run, visible};
use crate::results::ScoreLine;

use super::hidden::HiddenBy;
use super::ingest::{Merge, Parsed};
use super::item_file::{ItemFile, StandingLines};
use super::items::{Block, Dictionary};
use super::row_check::mixed;
use super::short_digest::short_digest;
use super::snapshot::{HeaderUnit, ItemUnit, KeptLake, Snapshot};
use super::statuses::status_code;
use super::totals::ItemTotals;
use super::unit::Stamp;

/// The standing revision of a run.
pub(super) struct StandingRun {
    /// The run as it is stored, under its stored names.
    pub run: Arc<Run>,
    /// `None` if the run has no item lines. Given, not summed here: sums of numbers depend on their order.
    pub totals: Option<ItemTotals>,
    /// Why the run does not count, if it does not.
    pub hidden: Option<(HiddenBy, String)>,
    /// What the outcomes must be, if the source says so and they are to be read.
    pub seal: Option<Seal>,
    /// What evaluators said of the run beside its scores.
    pub score_lines: Vec<ScoreLine>,
}

/// The number of a run's standing outcomes, and a sum over them in any order, so that no part of them can be lost or changed unseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seal {
    pub outcomes: u64,
    pub check: u64,
}

impl Seal {
    /// Returns the number of an item and its cluster for [`Seal::add`].
    pub fn item(kind: ItemKind, evaluator: &str, item: &str, cluster: Option<&str>) -> u64 {
        short_digest(&format!(
            "{}\n{evaluator}\n{item}\n{}",
            kind.name(),
            cluster.unwrap_or_default()
        ))
    }

    pub fn add(&mut self, item: u64, attempt: u32, status: ItemStatus, score: Option<f64>) {
        let score = score
            .filter(|score| score.is_finite())
            .map_or(0, |score| mixed(score.to_bits() ^ 1));
        self.outcomes += 1;
        self.check = self.check.wrapping_add(mixed(
            item ^ mixed(u64::from(attempt) << 8 | u64::from(status_code(status))) ^ score,
        ));
    }
}

/// Standing outcomes of whole runs, in compact form: names are numbered once, and an outcome is a few numbers. Parts are filled in parallel.
#[derive(Default)]
pub(super) struct StandingPart {
    dictionary: Dictionary,
    block: Block,
    /// By run.
    seals: Vec<Seal>,
    /// By item with its cluster: its number for [`Seal::add`].
    items: Vec<u64>,
}

impl StandingPart {
    /// Numbers a run of this part.
    pub fn run(&mut self, id: &str) -> u32 {
        let run = self.dictionary.runs.intern(id);
        if self.seals.len() <= run as usize {
            self.seals.push(Seal::default());
        }
        run
    }

    /// Numbers an item of this part together with its cluster. If a later revision states no cluster, give the one in force.
    pub fn item(
        &mut self,
        kind: ItemKind,
        evaluator: &str,
        item: &str,
        cluster: Option<&str>,
    ) -> u32 {
        let told = self.dictionary.told(kind, evaluator, item, cluster);
        if self.items.len() <= told as usize {
            self.items.push(Seal::item(kind, evaluator, item, cluster));
        }
        told
    }

    /// Adds the standing outcome of one attempt of a run at an item. Attempts count from 1.
    pub fn push(
        &mut self,
        run: u32,
        item: u32,
        attempt: u32,
        status: ItemStatus,
        score: Option<f64>,
    ) {
        let (key, _) = self.dictionary.told.pairs[item as usize];
        self.block
            .push((run, key, item), (attempt, 0), status, score);
        self.seals[run as usize].add(self.items[item as usize], attempt, status, score);
    }

    /// Returns the runs with what their outcomes here add up to.
    pub fn seals(&self) -> impl Iterator<Item = (&str, Seal)> {
        self.dictionary
            .runs
            .names
            .iter()
            .map(String::as_str)
            .zip(self.seals.iter().copied())
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
    /// By run: what evaluators said of it.
    pub score_lines: HashMap<String, Vec<ScoreLine>>,
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
    /// By run whose outcomes are still to come.
    seals: HashMap<String, Seal>,
    finished: HashMap<String, Standing>,
    /// Lakes as an earlier command read them.
    kept: Vec<KeptLake>,
    lakes: Vec<JoinedLake>,
    notes: Vec<Problem>,
}

/// A lake among the units of a snapshot.
pub(super) struct JoinedLake {
    /// Without the units that are among those of the snapshot.
    pub kept: KeptLake,
    /// The number of those.
    pub units: usize,
    /// Whether it is not as an earlier command kept it.
    pub changed: bool,
}

/// A snapshot with everything that was joined to it.
pub(super) struct Joined {
    pub snapshot: Snapshot,
    /// In the order of the snapshot's item units.
    pub files: Vec<ItemFile>,
    /// By name of source, which is the path of its header unit.
    pub standing: HashMap<String, Standing>,
    /// In the order of their units, which come after those of stores.
    pub lakes: Vec<JoinedLake>,
    /// Hints of what may be wrong.
    pub notes: Vec<Problem>,
}

impl Joining {
    /// Begins with the units of the stores' files.
    pub fn over(mut snapshot: Snapshot, files: Vec<ItemFile>) -> Self {
        let (headers, items) = (
            std::mem::take(&mut snapshot.headers),
            std::mem::take(&mut snapshot.items),
        );
        let kept = std::mem::take(&mut snapshot.lakes);
        Self {
            headers,
            items,
            files,
            merge: Merge::over(snapshot),
            source: String::new(),
            standing: Standing::default(),
            totals: HashMap::new(),
            seals: HashMap::new(),
            finished: HashMap::new(),
            kept,
            lakes: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a hint of something that may be wrong with a source that can be read.
    pub fn note(&mut self, note: Problem) {
        self.notes.push(note);
    }

    /// Takes a lake as an earlier command read it.
    pub fn take_kept(&mut self, name: &str) -> Option<KeptLake> {
        let place = self.kept.iter().position(|lake| lake.name == name)?;
        Some(self.kept.swap_remove(place))
    }

    /// Ends a lake, whose units are those from `first` on, with what the next command shall know of it.
    pub fn end_lake(&mut self, kept: KeptLake, first: usize, changed: bool) -> Result<(), String> {
        self.end_source()?;
        self.lakes.push(JoinedLake {
            kept,
            units: self.items.len() - first,
            changed,
        });
        Ok(())
    }

    /// Returns the number of units of outcomes so far.
    pub fn units(&self) -> usize {
        self.items.len()
    }

    /// Begins a source with its runs, each of which is given once. `name` is shown in messages. Fails if the source before is not whole.
    pub fn begin(&mut self, name: &str, runs: Vec<StandingRun>) -> Result<(), String> {
        self.end_source()?;
        name.clone_into(&mut self.source);
        let mut stored = Vec::with_capacity(runs.len());
        for StandingRun {
            run,
            totals,
            hidden,
            seal,
            score_lines,
        } in runs
        {
            let id = run.id.as_str().to_owned();
            if let Some(totals) = totals {
                self.totals.insert(id.clone(), totals);
            }
            if let Some(seal) = seal.filter(|seal| seal.outcomes > 0) {
                self.seals.insert(id.clone(), seal);
            }
            if !score_lines.is_empty() {
                self.standing.score_lines.insert(id.clone(), score_lines);
            }
            if let Some(hidden) = hidden {
                self.standing.hidden.insert(id, hidden);
            }
            stored.push(run);
        }
        self.headers.push(HeaderUnit {
            path: name.to_owned(),
            stamp: Stamp::default(),
            scores_stamp: None,
            judged: Vec::new(),
            runs: stored,
            problems: Vec::new(),
        });
        Ok(())
    }

    /// Adds outcomes of the current source. `lines` reads the same outcomes again with money, time and texts, and names where they are.
    ///
    /// Fails if an earlier part has outcomes of the same run, or if they are not those that the run's seal is of: a wrong run would be shown.
    pub fn part(
        &mut self,
        part: StandingPart,
        lines: Arc<dyn StandingLines>,
    ) -> Result<(), String> {
        if part.len() == 0 {
            return Ok(());
        }
        let unit = super::intern::number(self.items.len());
        for (run, found) in part.dictionary.runs.names.iter().zip(&part.seals) {
            if self.standing.unit_of.insert(run.clone(), unit).is_some() {
                return Err(format!(
                    "the outcomes of run `{}` are in two places",
                    visible(run)
                ));
            }
            match self.seals.remove(run) {
                Some(seal) if seal.outcomes != found.outcomes => {
                    return Err(too_few(run, seal.outcomes, found.outcomes));
                }
                Some(seal) if seal != *found => {
                    return Err(format!(
                        "the outcomes of run `{}` are not those that were published",
                        visible(run)
                    ));
                }
                Some(_) | None => {}
            }
        }
        let state = lines.state();
        let file = ItemFile::elsewhere(lines);
        let numbers = [self.merge.numbers(&part.dictionary)];
        let stamp = Stamp::of_state(&state);
        let gathered = self.merge.gathered(
            &file,
            Parsed {
                blocks: vec![(0, part.block)],
                failure: None,
            },
            &numbers,
        );
        let mut unit = self.merge.unit(&file, stamp, gathered);
        let totals = part
            .dictionary
            .runs
            .names
            .iter()
            .filter_map(|run| Some((self.merge.run(run), self.totals.remove(run)?)));
        unit.totals = totals.collect();
        unit.totals.sort_by_key(|(run, _)| *run);
        self.items.push(unit);
        self.files.push(file);
        Ok(())
    }

    /// Adds outcomes of the current source that an earlier command read and checked.
    pub fn kept_part(
        &mut self,
        mut unit: ItemUnit,
        lines: Arc<dyn StandingLines>,
    ) -> Result<(), String> {
        let place = super::intern::number(self.items.len());
        let runs: BTreeSet<u32> = unit.rows.iter().map(|row| row.run).collect();
        unit.totals = Vec::with_capacity(runs.len());
        for number in runs {
            let run = self.merge.run_id(number);
            if self
                .standing
                .unit_of
                .insert(run.to_owned(), place)
                .is_some()
            {
                return Err(format!(
                    "the outcomes of run `{}` are in two places",
                    visible(run)
                ));
            }
            self.seals.remove(run);
            unit.totals
                .extend(self.totals.remove(run).map(|totals| (number, totals)));
        }
        self.items.push(unit);
        self.files.push(ItemFile::elsewhere(lines));
        Ok(())
    }

    /// Ends the current source. Runs whose lines were not given, or of which no line counts, keep their totals.
    fn end_source(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Ok(());
        }
        if let Some((run, seal)) = self.seals.iter().min_by_key(|(run, _)| run.as_str()) {
            return Err(too_few(run, seal.outcomes, 0));
        }
        let unit = super::intern::number(self.items.len());
        let mut totals: Vec<(u32, ItemTotals)> = Vec::with_capacity(self.totals.len());
        for (run, of_run) in self.totals.drain() {
            totals.push((self.merge.run(&run), of_run));
            self.standing.unit_of.insert(run, unit);
        }
        if !totals.is_empty() {
            totals.sort_by_key(|(run, _)| *run);
            let (stamp, standing, rows, problems) =
                (Stamp::default(), Vec::new(), Vec::new(), Vec::new());
            self.items.push(ItemUnit {
                path: self.source.clone(),
                stamp,
                standing,
                rows,
                totals,
                problems,
            });
            self.files
                .push(ItemFile::elsewhere(Arc::new(NoLines(self.source.clone()))));
        }
        let (source, standing) = (
            std::mem::take(&mut self.source),
            std::mem::take(&mut self.standing),
        );
        self.finished.insert(source, standing);
        Ok(())
    }

    /// Fails if the last source is not whole.
    pub fn finish(mut self) -> Result<Joined, String> {
        self.end_source()?;
        let snapshot = Snapshot {
            headers: self.headers,
            items: self.items,
            ..self.merge.finish()
        };
        Ok(Joined {
            snapshot,
            files: self.files,
            standing: self.finished,
            lakes: self.lakes,
            notes: self.notes,
        })
    }
}

fn too_few(run: &str, wanted: u64, found: u64) -> String {
    format!(
        "run `{}` has {wanted} outcomes, and {found} were found",
        visible(run)
    )
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

    fn each(&self, _: &dyn Fn(&str) -> bool, _: &mut dyn FnMut(&[u8])) -> std::io::Result<()> {
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
        let (mut dictionary, mut block) = (Dictionary::default(), Block::default());
        dictionary.parse(lines.join("\n").as_bytes(), None, &mut block);
        let mut merge = Merge::over(Snapshot::default());
        let numbers = [merge.numbers(&dictionary)];
        let sealed = ItemFile {
            path: "f".into(),
            journal_of: None,
            is_of_judges: false,
            standing: Vec::new(),
            elsewhere: None,
        };
        let gathered = merge.gathered(
            &sealed,
            Parsed {
                blocks: vec![(0, block)],
                failure: None,
            },
            &numbers,
        );
        let of_lines = merge.unit(&sealed, Stamp::default(), gathered);
        let of_lines = Snapshot {
            items: vec![of_lines],
            ..merge.finish()
        };

        let runs = ["r1", "r2"].map(|id| StandingRun {
            run: Arc::new(Run::new(
                crate::domain::RunId::parse(id).expect("a valid id"),
                "s",
                "a",
                "m",
            )),
            totals: Some(ItemTotals {
                lines: 3,
                ..ItemTotals::default()
            }),
            hidden: (id == "r2").then(|| (HiddenBy::Tombstone, "why".to_owned())),
            seal: (id == "r2").then(|| {
                let mut seal = Seal::default();
                seal.add(
                    Seal::item(ItemKind::Question, "e", "b", None),
                    1,
                    ItemStatus::Pass,
                    None,
                );
                seal
            }),
            score_lines: Vec::new(),
        });
        let mut joining = Joining::over(Snapshot::default(), Vec::new());
        joining
            .begin("lake", runs.into())
            .expect("the first source");
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
        joining
            .part(part, Arc::new(NoLines("part".to_owned())))
            .expect("each run once");
        let mut again = StandingPart::default();
        let run = again.run("r1");
        let item = again.item(ItemKind::Question, "e", "a", None);
        again.push(run, item, 1, ItemStatus::Fail, None);
        assert!(
            joining
                .part(again, Arc::new(NoLines("other".to_owned())))
                .expect_err("twice")
                .contains("two places")
        );

        let Joined {
            snapshot,
            files,
            standing,
            ..
        } = joining.finish().expect("whole");
        assert_eq!(
            (
                snapshot.headers[0].path.as_str(),
                snapshot.headers[0].runs.len(),
                files.len()
            ),
            ("lake", 2, 1)
        );
        assert_eq!(
            snapshot.items[0]
                .totals
                .iter()
                .map(|(_, totals)| totals.lines)
                .collect::<Vec<_>>(),
            [3, 3]
        );
        assert_eq!(standing["lake"].hidden["r2"].1, "why");
        assert_eq!(told_of(&snapshot), told_of(&of_lines));
    }

    #[test]
    fn a_source_with_other_outcomes_than_its_runs_say_is_refused() {
        let item = Seal::item(ItemKind::Question, "e", "a", None);
        let joined = |outcomes: &[(u32, ItemStatus, Option<f64>)]| {
            let mut seal = Seal::default();
            seal.add(item, 1, ItemStatus::Pass, Some(0.5));
            seal.add(item, 2, ItemStatus::Fail, None);
            let run = Arc::new(Run::new(
                crate::domain::RunId::parse("r").expect("a valid id"),
                "s",
                "a",
                "m",
            ));
            let mut joining = Joining::over(Snapshot::default(), Vec::new());
            joining.begin(
                "lake",
                vec![StandingRun {
                    run,
                    totals: None,
                    hidden: None,
                    seal: Some(seal),
                    score_lines: Vec::new(),
                }],
            )?;
            let mut part = StandingPart::default();
            for (attempt, status, score) in outcomes {
                let (run, item) = (part.run("r"), part.item(ItemKind::Question, "e", "a", None));
                part.push(run, item, *attempt, *status, *score);
            }
            joining.part(part, Arc::new(NoLines("part".to_owned())))?;
            joining.finish().map(|_| ())
        };
        let (pass, fail) = (
            (1, ItemStatus::Pass, Some(0.5)),
            (2, ItemStatus::Fail, None),
        );
        assert_eq!(joined(&[pass, fail]), Ok(()));
        assert_eq!(joined(&[fail, pass]), Ok(()));
        for other in [
            &[pass][..],
            &[],
            &[pass, fail, fail],
            &[pass, (2, ItemStatus::Pass, None)],
            &[(1, ItemStatus::Pass, None), fail],
        ] {
            assert!(joined(other).is_err(), "{other:?}");
        }
    }

    /// All outcomes by name, because numbers depend on the order of reading.
    fn told_of(snapshot: &Snapshot) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for row in snapshot.items.iter().flat_map(|unit| &unit.rows) {
            for (place, key) in snapshot.item_sets[row.items as usize].iter().enumerate() {
                let column = &snapshot.fact_columns[row.facts as usize];
                let facts = column
                    .get(place)
                    .map(|facts| &snapshot.facts[*facts as usize]);
                let score = row.scores.at(std::iter::once(place));
                let (run, key) = (
                    &snapshot.run_ids[row.run as usize],
                    &snapshot.keys[*key as usize],
                );
                told.push(format!(
                    "{run} {} {key:?} {} {score:?} {:?}",
                    row.attempt,
                    status_code(row.statuses.get(place)),
                    facts.and_then(|facts| facts.cluster.as_deref())
                ));
            }
        }
        told.sort();
        told
    }
}
