//! Runs and outcomes that stand, wherever they are kept, as units of a snapshot: those that a store's files would give.
//!
//! A lake or an engine keeps many revisions of a run and decides which one stands. What stands is given to [`ExternalJoin`], which knows nothing of
//! where it comes from, so that everything behind a snapshot gives the same figures for a store and for its copy elsewhere.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::domain::{ItemKind, ItemStatus, Problem, Run, escape_invisible};
use crate::results::ScoreLine;

use super::hidden::HiddenBy;
use super::ingest::{ParsedItemFile, SnapshotBuilder};
use super::item_file::{ExternalLines, ItemFile};
use super::items::{LineDictionary, OutcomeBlock};
use super::row_check::mix_bits;
use super::short_digest::short_digest;
use super::snapshot::{CachedLake, HeaderUnit, ItemUnit, Snapshot};
use super::source_stamp::FileStamp;
use super::statuses::status_code;
use super::totals::ItemTotals;

/// The standing revision of a run.
pub(super) struct ExternalRun {
    /// The run as it is stored, under its stored names.
    pub run: Arc<Run>,
    /// `None` if the run has no item lines. Given, not summed here: sums of numbers depend on their order.
    pub totals: Option<ItemTotals>,
    /// Why the run does not count, if it does not.
    pub hidden: Option<(HiddenBy, String)>,
    /// What the outcomes must be, if the source says so and they are to be read.
    pub seal: Option<OutcomeChecksum>,
    /// What evaluators said of the run beside its scores.
    pub score_lines: Vec<ScoreLine>,
}

/// The number of a run's standing outcomes, and a sum over them in any order, so that no part of them can be lost or changed unseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OutcomeChecksum {
    pub outcomes: u64,
    pub check: u64,
}

impl OutcomeChecksum {
    /// Returns the number of an item and its cluster for [`OutcomeChecksum::add_outcome`].
    pub fn item_checksum(
        kind: ItemKind,
        evaluator: &str,
        item: &str,
        cluster: Option<&str>,
    ) -> u64 {
        short_digest(&format!(
            "{}\n{evaluator}\n{item}\n{}",
            kind.name(),
            cluster.unwrap_or_default()
        ))
    }

    pub fn add_outcome(&mut self, item: u64, attempt: u32, status: ItemStatus, score: Option<f64>) {
        let score = score
            .filter(|score| score.is_finite())
            .map_or(0, |score| mix_bits(score.to_bits() ^ 1));
        self.outcomes += 1;
        self.check = self.check.wrapping_add(mix_bits(
            item ^ mix_bits(u64::from(attempt) << 8 | u64::from(status_code(status))) ^ score,
        ));
    }
}

/// Standing outcomes of whole runs, in compact form: names are numbered once, and an outcome is a few numbers. Parts are filled in parallel.
#[derive(Default)]
pub(super) struct ExternalPart {
    dictionary: LineDictionary,
    block: OutcomeBlock,
    /// By run.
    seals: Vec<OutcomeChecksum>,
    /// By item with its cluster: its number for [`OutcomeChecksum::add_outcome`].
    items: Vec<u64>,
}

impl ExternalPart {
    /// Numbers a run of this part.
    pub fn intern_run(&mut self, id: &str) -> u32 {
        let run = self.dictionary.runs.intern(id);
        if self.seals.len() <= run as usize {
            self.seals.push(OutcomeChecksum::default());
        }
        run
    }

    /// Numbers an item of this part together with its cluster. If a later revision states no cluster, give the one in force.
    pub fn intern_item(
        &mut self,
        kind: ItemKind,
        evaluator: &str,
        item: &str,
        cluster: Option<&str>,
    ) -> u32 {
        let told = self.dictionary.intern_item(kind, evaluator, item, cluster);
        if self.items.len() <= told as usize {
            self.items.push(OutcomeChecksum::item_checksum(
                kind, evaluator, item, cluster,
            ));
        }
        told
    }

    /// Adds the standing outcome of one attempt of a run at an item. Attempts count from 1.
    pub fn push_outcome(
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
        self.seals[run as usize].add_outcome(self.items[item as usize], attempt, status, score);
    }

    /// Returns the runs with what their outcomes here add up to.
    pub fn run_checksums(&self) -> impl Iterator<Item = (&str, OutcomeChecksum)> {
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
pub(super) struct ExternalSource {
    /// By run: the item unit of its outcomes.
    pub unit_of: HashMap<String, u32>,
    /// By run that does not count: what hides it, and why.
    pub hidden: HashMap<String, (HiddenBy, String)>,
    /// By run: what evaluators said of it.
    pub score_lines: HashMap<String, Vec<ScoreLine>>,
}

/// A snapshot to which further sources are joined, part by part.
pub(super) struct ExternalJoin {
    headers: Vec<HeaderUnit>,
    items: Vec<ItemUnit>,
    files: Vec<ItemFile>,
    merge: SnapshotBuilder,
    /// The name of the current source, and what stands in it.
    source: String,
    standing: ExternalSource,
    totals: HashMap<String, ItemTotals>,
    /// By run whose outcomes are still to come.
    seals: HashMap<String, OutcomeChecksum>,
    finished: HashMap<String, ExternalSource>,
    /// Lakes as an earlier command read them.
    kept: Vec<CachedLake>,
    lakes: Vec<JoinedLake>,
    notes: Vec<Problem>,
}

/// A lake among the units of a snapshot.
pub(super) struct JoinedLake {
    /// Without the units that are among those of the snapshot.
    pub kept: CachedLake,
    /// The number of those.
    pub units: usize,
    /// Whether it is not as an earlier command kept it.
    pub changed: bool,
}

/// A snapshot with everything that was joined to it.
pub(super) struct JoinedSnapshot {
    pub snapshot: Snapshot,
    /// In the order of the snapshot's item units.
    pub files: Vec<ItemFile>,
    /// By name of source, which is the path of its header unit.
    pub standing: HashMap<String, ExternalSource>,
    /// In the order of their units, which come after those of stores.
    pub lakes: Vec<JoinedLake>,
    /// Hints of what may be wrong.
    pub notes: Vec<Problem>,
}

impl ExternalJoin {
    /// Begins with the units of the stores' files.
    pub fn from_snapshot(mut snapshot: Snapshot, files: Vec<ItemFile>) -> Self {
        let (headers, items) = (
            std::mem::take(&mut snapshot.headers),
            std::mem::take(&mut snapshot.items),
        );
        let kept = std::mem::take(&mut snapshot.lakes);
        Self {
            headers,
            items,
            files,
            merge: SnapshotBuilder::from_snapshot(snapshot),
            source: String::new(),
            standing: ExternalSource::default(),
            totals: HashMap::new(),
            seals: HashMap::new(),
            finished: HashMap::new(),
            kept,
            lakes: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a hint of something that may be wrong with a source that can be read.
    pub fn add_note(&mut self, note: Problem) {
        self.notes.push(note);
    }

    /// Takes a lake as an earlier command read it.
    pub fn take_cached_lake(&mut self, name: &str) -> Option<CachedLake> {
        let place = self.kept.iter().position(|lake| lake.name == name)?;
        Some(self.kept.swap_remove(place))
    }

    /// Ends a lake, whose units are those from `first` on, with what the next command shall know of it.
    pub fn end_lake(
        &mut self,
        kept: CachedLake,
        first: usize,
        changed: bool,
    ) -> Result<(), String> {
        self.end_source()?;
        self.lakes.push(JoinedLake {
            kept,
            units: self.items.len() - first,
            changed,
        });
        Ok(())
    }

    /// Returns the number of units of outcomes so far.
    pub fn unit_count(&self) -> usize {
        self.items.len()
    }

    /// Begins a source with its runs, each of which is given once. `name` is shown in messages. Fails if the source before is not whole.
    pub fn begin_source(&mut self, name: &str, runs: Vec<ExternalRun>) -> Result<(), String> {
        self.end_source()?;
        name.clone_into(&mut self.source);
        let mut stored = Vec::with_capacity(runs.len());
        for ExternalRun {
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
            stamp: FileStamp::default(),
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
    pub fn join_part(
        &mut self,
        part: ExternalPart,
        lines: Arc<dyn ExternalLines>,
    ) -> Result<(), String> {
        if part.len() == 0 {
            return Ok(());
        }
        let unit = super::intern::id_from_len(self.items.len());
        for (run, found) in part.dictionary.runs.names.iter().zip(&part.seals) {
            if self.standing.unit_of.insert(run.clone(), unit).is_some() {
                return Err(format!(
                    "the outcomes of run `{}` are in two places",
                    escape_invisible(run)
                ));
            }
            match self.seals.remove(run) {
                Some(seal) if seal.outcomes != found.outcomes => {
                    return Err(missing_outcomes(run, seal.outcomes, found.outcomes));
                }
                Some(seal) if seal != *found => {
                    return Err(format!(
                        "the outcomes of run `{}` are not those that were published",
                        escape_invisible(run)
                    ));
                }
                Some(_) | None => {}
            }
        }
        let state = lines.content_stamp();
        let file = ItemFile::from_external(lines);
        let numbers = [self.merge.intern_dictionary(&part.dictionary)];
        let stamp = FileStamp::from_state_text(&state);
        let gathered = self.merge.gather_rows(
            &file,
            ParsedItemFile {
                blocks: vec![(0, part.block)],
                failure: None,
            },
            &numbers,
        );
        let mut unit = self.merge.build_unit(&file, stamp, gathered);
        let totals = part
            .dictionary
            .runs
            .names
            .iter()
            .filter_map(|run| Some((self.merge.intern_run(run), self.totals.remove(run)?)));
        unit.totals = totals.collect();
        unit.totals.sort_by_key(|(run, _)| *run);
        self.items.push(unit);
        self.files.push(file);
        Ok(())
    }

    /// Adds outcomes of the current source that an earlier command read and checked.
    pub fn join_cached_part(
        &mut self,
        mut unit: ItemUnit,
        lines: Arc<dyn ExternalLines>,
    ) -> Result<(), String> {
        let place = super::intern::id_from_len(self.items.len());
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
                    escape_invisible(run)
                ));
            }
            self.seals.remove(run);
            unit.totals
                .extend(self.totals.remove(run).map(|totals| (number, totals)));
        }
        self.items.push(unit);
        self.files.push(ItemFile::from_external(lines));
        Ok(())
    }

    /// Ends the current source. Runs whose lines were not given, or of which no line counts, keep their totals.
    fn end_source(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Ok(());
        }
        if let Some((run, seal)) = self.seals.iter().min_by_key(|(run, _)| run.as_str()) {
            return Err(missing_outcomes(run, seal.outcomes, 0));
        }
        let unit = super::intern::id_from_len(self.items.len());
        let mut totals: Vec<(u32, ItemTotals)> = Vec::with_capacity(self.totals.len());
        for (run, of_run) in self.totals.drain() {
            totals.push((self.merge.intern_run(&run), of_run));
            self.standing.unit_of.insert(run, unit);
        }
        if !totals.is_empty() {
            totals.sort_by_key(|(run, _)| *run);
            let (stamp, standing, rows, problems) =
                (FileStamp::default(), Vec::new(), Vec::new(), Vec::new());
            self.items.push(ItemUnit {
                path: self.source.clone(),
                stamp,
                standing,
                rows,
                totals,
                problems,
            });
            self.files.push(ItemFile::from_external(Arc::new(NoLines(
                self.source.clone(),
            ))));
        }
        let (source, standing) = (
            std::mem::take(&mut self.source),
            std::mem::take(&mut self.standing),
        );
        self.finished.insert(source, standing);
        Ok(())
    }

    /// Fails if the last source is not whole.
    pub fn finish(mut self) -> Result<JoinedSnapshot, String> {
        self.end_source()?;
        let snapshot = Snapshot {
            headers: self.headers,
            items: self.items,
            ..self.merge.finish()
        };
        Ok(JoinedSnapshot {
            snapshot,
            files: self.files,
            standing: self.finished,
            lakes: self.lakes,
            notes: self.notes,
        })
    }
}

fn missing_outcomes(run: &str, wanted: u64, found: u64) -> String {
    format!(
        "run `{}` has {wanted} outcomes, and {found} were found",
        escape_invisible(run)
    )
}

/// The lines of runs that have none that count.
#[derive(Debug)]
struct NoLines(String);

impl ExternalLines for NoLines {
    fn source_name(&self) -> &str {
        &self.0
    }

    fn content_stamp(&self) -> String {
        String::new()
    }

    fn for_each_line(
        &self,
        _: &dyn Fn(&str) -> bool,
        _: &mut dyn FnMut(&[u8]),
    ) -> std::io::Result<()> {
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
        let (mut dictionary, mut block) = (LineDictionary::default(), OutcomeBlock::default());
        dictionary.parse_lines(lines.join("\n").as_bytes(), None, &mut block);
        let mut merge = SnapshotBuilder::from_snapshot(Snapshot::default());
        let numbers = [merge.intern_dictionary(&dictionary)];
        let sealed = ItemFile {
            path: "f".into(),
            journal_of: None,
            is_of_judges: false,
            standing: Vec::new(),
            elsewhere: None,
        };
        let gathered = merge.gather_rows(
            &sealed,
            ParsedItemFile {
                blocks: vec![(0, block)],
                failure: None,
            },
            &numbers,
        );
        let of_lines = merge.build_unit(&sealed, FileStamp::default(), gathered);
        let of_lines = Snapshot {
            items: vec![of_lines],
            ..merge.finish()
        };

        let runs = ["r1", "r2"].map(|id| ExternalRun {
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
                let mut seal = OutcomeChecksum::default();
                seal.add_outcome(
                    OutcomeChecksum::item_checksum(ItemKind::Question, "e", "b", None),
                    1,
                    ItemStatus::Pass,
                    None,
                );
                seal
            }),
            score_lines: Vec::new(),
        });
        let mut joining = ExternalJoin::from_snapshot(Snapshot::default(), Vec::new());
        joining
            .begin_source("lake", runs.into())
            .expect("the first source");
        // Another order than that of the lines.
        let mut part = ExternalPart::default();
        let (r2, r1) = (part.intern_run("r2"), part.intern_run("r1"));
        let (b, a, told) = (
            part.intern_item(ItemKind::Question, "e", "b", None),
            part.intern_item(ItemKind::Question, "e", "a", None),
            part.intern_item(ItemKind::Question, "e", "a", Some("c")),
        );
        part.push_outcome(r2, b, 1, ItemStatus::Pass, None);
        part.push_outcome(r1, a, 2, ItemStatus::Error, None);
        part.push_outcome(r1, told, 1, ItemStatus::Pass, Some(1.0));
        part.push_outcome(r1, b, 2, ItemStatus::Fail, Some(0.25));
        joining
            .join_part(part, Arc::new(NoLines("part".to_owned())))
            .expect("each run once");
        let mut again = ExternalPart::default();
        let run = again.intern_run("r1");
        let item = again.intern_item(ItemKind::Question, "e", "a", None);
        again.push_outcome(run, item, 1, ItemStatus::Fail, None);
        assert!(
            joining
                .join_part(again, Arc::new(NoLines("other".to_owned())))
                .expect_err("twice")
                .contains("two places")
        );

        let JoinedSnapshot {
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
        let item = OutcomeChecksum::item_checksum(ItemKind::Question, "e", "a", None);
        let joined = |outcomes: &[(u32, ItemStatus, Option<f64>)]| {
            let mut seal = OutcomeChecksum::default();
            seal.add_outcome(item, 1, ItemStatus::Pass, Some(0.5));
            seal.add_outcome(item, 2, ItemStatus::Fail, None);
            let run = Arc::new(Run::new(
                crate::domain::RunId::parse("r").expect("a valid id"),
                "s",
                "a",
                "m",
            ));
            let mut joining = ExternalJoin::from_snapshot(Snapshot::default(), Vec::new());
            joining.begin_source(
                "lake",
                vec![ExternalRun {
                    run,
                    totals: None,
                    hidden: None,
                    seal: Some(seal),
                    score_lines: Vec::new(),
                }],
            )?;
            let mut part = ExternalPart::default();
            for (attempt, status, score) in outcomes {
                let (run, item) = (
                    part.intern_run("r"),
                    part.intern_item(ItemKind::Question, "e", "a", None),
                );
                part.push_outcome(run, item, *attempt, *status, *score);
            }
            joining.join_part(part, Arc::new(NoLines("part".to_owned())))?;
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
                let score = row.scores.select(std::iter::once(place));
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
