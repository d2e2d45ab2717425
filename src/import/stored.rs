//! Runs of the store that importers meet, and how a source's content relates to them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};

use crate::domain::{ImportedContent, MessageKeys, Run, RunId};
use crate::results::{Store, StoreError};

use super::held::{Held, Records};
use super::join::parts_of;
use super::report::ReplacedRun;
use super::session_figures::{ID_TAG, sessions_of};
use super::standing::Standing;

/// The runs of a store, including those that tombstones hide.
#[derive(Clone, Debug, Default)]
pub struct StoredRuns {
    ids: BTreeSet<RunId>,
    /// Versions of each run, by its first id.
    versions: BTreeMap<RunId, Vec<Version>>,
    /// The runs are of a store, and not of a cache: sources may move and be imported again, so it matters where they lie.
    keeps_places: bool,
    /// Read sources again that were imported before.
    is_anew: bool,
    records: RefCell<Records>,
    /// Runs by the id of a session in which they were made.
    named: BTreeMap<String, RunId>,
    /// Runs that are a session, by their first id.
    sessions: BTreeMap<RunId, Run>,
    /// First ids of the runs that count messages, by the message.
    counted: HashMap<u64, RunId>,
}

/// Time of a run without a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Not read yet, so any time fits.
    Unread,
    /// The source's own time, if it has one.
    Said(Option<DateTime<Utc>>),
}

impl Moment {
    fn fits(self, timestamp: Option<DateTime<Utc>>) -> bool {
        match self {
            Self::Unread => true,
            Self::Said(said) => said == timestamp,
        }
    }
}

/// One content that a run had when its source was read.
#[derive(Clone, Debug)]
struct Version {
    id: RunId,
    importer: String,
    /// Suite, approach and model.
    names: [String; 3],
    index: Option<u32>,
    timestamp: Option<DateTime<Utc>>,
    /// Name of the source, digest of its location, and digest of its bytes.
    file: String,
    place: Option<String>,
    /// Digest of the location that an unnamed model is called after.
    origin: Option<String>,
    sha256: String,
    /// `None` for runs that were imported before content was recorded.
    content: Option<ImportedContent>,
    /// It is not the run's first version.
    is_again: bool,
    /// The version that this one replaces.
    replaces: Option<RunId>,
    counts: Counts,
    standing: Standing,
}

/// Passed and total.
type Counts = [Option<u64>; 2];

/// The source that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    /// Name of the source, without folders.
    pub file: &'a str,
    /// Digest of the source's location.
    pub place: Option<&'a str>,
    /// Digest of the source's bytes.
    pub sha256: &'a str,
}

impl Read<'_> {
    /// Returns whether the source is the file of the version: by its place if known, else by its name.
    fn lies_where(&self, version: &Version) -> bool {
        match (self.place, &version.place) {
            (Some(here), Some(there)) => here == there,
            _ => self.file == version.file,
        }
    }
}

impl Version {
    fn stands(&self) -> bool {
        self.standing == Standing::Counts
    }

    fn outcomes(&self) -> u64 {
        self.content.as_ref().map_or(0, |content| content.outcomes)
    }
}

/// Returns the version that the others were replaced by: one that counts if there is one, else one that no tombstone names.
fn current(versions: &[Version]) -> Option<&Version> {
    newest(versions).filter(|version| !matches!(version.standing, Standing::Retracted(_)))
}

fn newest(versions: &[Version]) -> Option<&Version> {
    let is_replaced = |id: &RunId| {
        versions
            .iter()
            .any(|version| version.replaces.as_ref() == Some(id))
    };
    versions.iter().max_by_key(|version| {
        let state = match version.standing {
            Standing::Counts => 2,
            Standing::Covered(_) => 1,
            Standing::Retracted(_) => 0,
        };
        (
            state,
            !is_replaced(&version.id),
            version.outcomes(),
            version.is_again,
            version.id.clone(),
        )
    })
}

/// Relation of a run in a source to the stored run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Same,
    /// The source has fewer outcomes than the store: an older copy.
    Less {
        stored: u64,
        found: u64,
    },
    /// The source is another file with other outcomes. It is unknown which of the two is right.
    Other {
        file: String,
    },
    /// The source grew, changed or is read differently. The current run is to be replaced.
    Changed {
        stands: RunId,
        stored: Option<u64>,
        found: u64,
    },
    /// The run was retracted, and is now requested again: it replaces the retracted version.
    Restored {
        of: RunId,
    },
    /// The run stays retracted.
    Hidden {
        standing: Standing,
    },
}

impl StoredRuns {
    pub fn contains(&self, id: &RunId) -> bool {
        self.ids.contains(id)
    }

    pub fn ids(&self) -> &BTreeSet<RunId> {
        &self.ids
    }

    /// Makes imported sources be read again: different runs replace stored ones, and retracted runs are restored.
    #[must_use]
    pub fn anew(self) -> Self {
        Self {
            is_anew: true,
            ..self
        }
    }

    pub(super) fn keeps_places(&self) -> bool {
        self.keeps_places
    }

    pub(super) fn is_anew(&self) -> bool {
        self.is_anew
    }

    /// Adds a run.
    pub fn add(&mut self, run: &Run, standing: Standing) {
        self.ids.insert(run.id.clone());
        if standing == Standing::Counts {
            self.named
                .extend(sessions_of(run).map(|session| (session.to_owned(), run.id.clone())));
        }
        // Of a joined run, the parts have sources.
        if let Some(from) = run
            .provenance
            .as_ref()
            .filter(|from| from.joined.is_empty())
        {
            let first = from.first.as_ref().unwrap_or(&run.id);
            let version = Version {
                id: run.id.clone(),
                importer: from.importer.clone(),
                names: [&run.suite, &run.approach, &run.model].map(Clone::clone),
                index: run.run_index,
                timestamp: run.timestamp,
                file: from.file.clone(),
                place: from.place.clone(),
                origin: from.origin.clone(),
                sha256: from.sha256.clone(),
                content: from.content.clone(),
                is_again: from.first.is_some(),
                replaces: from.replaces.clone(),
                counts: counts(run),
                standing,
            };
            let stands = version.stands();
            self.versions
                .entry(first.clone())
                .or_default()
                .push(version);
            // Only an interrupted import leaves a version beside the one that replaces it.
            let is_replaced = self
                .sessions
                .get(first)
                .is_some_and(|known| replaces(known) == Some(&run.id));
            if stands && !is_replaced && run.tags.contains_key(ID_TAG) {
                self.counted.extend(
                    from.messages
                        .iter()
                        .flat_map(MessageKeys::iter)
                        .map(|message| (message, first.clone())),
                );
                self.sessions.insert(first.clone(), run.clone());
            }
        }
    }

    /// Returns a run that names this session as one in which it was made.
    pub(super) fn run_of_session(&self, session: &str) -> Option<&RunId> {
        self.named.get(session)
    }

    /// Returns the session that counts the message, and its run.
    pub(super) fn session_with(&self, message: u64) -> Option<(&str, &RunId)> {
        let run = self.sessions.get(self.counted.get(&message)?)?;
        Some((run.tags.get(ID_TAG)?, &run.id))
    }

    /// Returns the current run of a session by its first id.
    pub(super) fn session(&self, first: &RunId) -> Option<&Run> {
        self.sessions.get(first)
    }

    /// Returns whether there are runs that are sessions or name them.
    pub fn has_sessions(&self) -> bool {
        !self.sessions.is_empty() || !self.named.is_empty()
    }

    /// Adds the id of a run whose content is not compared.
    pub(super) fn add_id(&mut self, id: RunId) {
        self.ids.insert(id);
    }

    /// Adds the new runs of a source. Those that it replaces no longer count.
    pub(super) fn take(&mut self, runs: &[Run], replaced: &[ReplacedRun]) {
        for ReplacedRun { run, .. } in replaced {
            self.replaced(run);
        }
        for run in runs {
            self.add(run, Standing::Counts);
        }
    }

    fn replaced(&mut self, id: &RunId) {
        let versions = self
            .versions
            .values_mut()
            .flatten()
            .filter(|version| version.id == *id);
        versions.for_each(|version| version.standing = Standing::Retracted(String::new()));
    }

    /// Returns the current runs that have another current version, each with the version to keep. Only an interrupted import, or a tombstone
    /// that was taken back, leaves such runs. The version that no other replaces is kept; if there are several, the one with most outcomes.
    pub fn doubled(&self) -> Vec<(RunId, RunId)> {
        let mut doubled = Vec::new();
        for versions in self.versions.values() {
            let Some(best) = current(versions).filter(|best| best.stands()) else {
                continue;
            };
            let others = versions
                .iter()
                .filter(|version| version.stands() && version.id != best.id);
            doubled.extend(others.map(|version| (version.id.clone(), best.id.clone())));
        }
        doubled
    }

    /// Returns the first id of a run that nothing in its source names; `own` is the id made of the source's content.
    ///
    /// This is the only rule of identity for such runs. Equal content is the same run, wherever its file lies. Otherwise the source is known
    /// by its place or its bytes: the run that it gave before under these names, and of this time, is the same run. Any other run is new.
    pub(super) fn unnamed(
        &self,
        own: RunId,
        importer: &str,
        read: Read<'_>,
        run: Unnamed<'_>,
    ) -> RunId {
        if self.contains(&own) {
            return own;
        }
        let is_known = |version: &Version| {
            version.importer == importer
                && (version.sha256 == read.sha256 || read.lies_where(version))
                && version.names == run.names
                && version.index == run.index
                && run.moment.fits(version.timestamp)
        };
        let known = || {
            self.versions.iter().filter_map(|(first, versions)| {
                Some((first, newest(versions).filter(|newest| is_known(newest))?))
            })
        };
        let mut standing = known().filter(|(_, version)| version.stands());
        // If several fit, nobody knows which.
        let only = match (standing.next(), standing.next()) {
            (Some((first, _)), None) => Some(first),
            (Some(_), Some(_)) => None,
            (None, _) => {
                let mut hidden = known();
                hidden
                    .next()
                    .filter(|_| hidden.next().is_none())
                    .map(|(first, _)| first)
            }
        };
        only.cloned().unwrap_or(own)
    }

    /// Returns whether a run under these names counts, which another source gave: its content may be the same.
    pub(super) fn has_namesake(&self, importer: &str, run: Unnamed<'_>) -> bool {
        self.namesakes(importer, run).next().is_some()
    }

    /// Returns whether another run under these names has the same content in every field: then the source is a copy in another notation.
    pub(super) fn has_same(
        &self,
        store: &Store,
        importer: &str,
        run: (&Run, Unnamed<'_>),
        held: &Held,
    ) -> Result<bool, StoreError> {
        let (run, names) = run;
        let alike = || {
            self.namesakes(importer, names)
                .filter(|(_, version)| version.counts == counts(run))
        };
        let records = self.records(store, alike().map(|(first, _)| first))?;
        Ok(alike().any(|(_, version)| {
            records
                .get(&version.id)
                .is_some_and(|stored| stored.is_same(held))
        }))
    }

    fn namesakes<'s>(
        &'s self,
        importer: &'s str,
        run: Unnamed<'s>,
    ) -> impl Iterator<Item = (&'s RunId, &'s Version)> {
        let is_one = move |version: &&Version| {
            version.importer == importer && version.names == run.names && version.index == run.index
        };
        self.versions
            .iter()
            .filter_map(move |(first, versions)| Some((first, current(versions).filter(is_one)?)))
    }

    /// Returns whether the source at this place, which gave these runs, gave another version of one of them since.
    pub(super) fn is_outdated(&self, runs: &[Run], read: Read<'_>) -> bool {
        runs.iter().any(|run| {
            let current = self.versions_of(run).and_then(current);
            current.is_some_and(|current| current.id != run.id && read.lies_where(current))
        })
    }

    /// Returns why the run does not count, if no version of it does.
    pub(super) fn hidden(&self, run: &Run) -> Option<&Standing> {
        self.versions_of(run)
            .and_then(newest)
            .map(|newest| &newest.standing)
            .filter(|standing| **standing != Standing::Counts)
    }

    fn versions_of(&self, run: &Run) -> Option<&[Version]> {
        let first = run
            .provenance
            .as_ref()
            .and_then(|provenance| provenance.first.as_ref())
            .unwrap_or(&run.id);
        self.versions.get(first).map(Vec::as_slice)
    }

    /// Returns the suite, approach and model of the run with this first id, as the store has them.
    pub(super) fn names_of(&self, first: &RunId) -> Option<&[String; 3]> {
        newest(self.versions.get(first)?).map(|version| &version.names)
    }

    /// Returns the model's name that a source of this place or origin has in the store, if it begins with `unnamed`.
    pub(super) fn model_from(
        &self,
        origin: &str,
        place: Option<&str>,
        unnamed: &str,
    ) -> Option<&str> {
        let versions = || {
            self.versions
                .values()
                .flatten()
                .filter(|version| version.names[2].starts_with(unnamed))
        };
        let by_origin = versions().find(|version| version.origin.as_deref() == Some(origin));
        let by_place = || {
            versions().find(|version| {
                version.origin.is_none() && place.is_some() && version.place.as_deref() == place
            })
        };
        by_origin
            .or_else(by_place)
            .map(|version| version.names[2].as_str())
    }

    /// Returns whether a run of the store has this model.
    pub(super) fn has_model(&self, model: &str) -> bool {
        self.versions
            .values()
            .flatten()
            .any(|version| version.names[2] == model)
    }

    /// Reads the store's records of every version of the runs with these first ids.
    pub(super) fn records<'r>(
        &self,
        store: &Store,
        firsts: impl Iterator<Item = &'r RunId>,
    ) -> Result<BTreeMap<RunId, Held>, StoreError> {
        let versions = firsts
            .filter_map(|first| self.versions.get(first))
            .flatten();
        self.records
            .borrow_mut()
            .of(store, &versions.map(|version| version.id.clone()).collect())
    }

    /// Compares a run in a source, under its first id, with the store's records.
    ///
    /// This is the only rule for importing again. An equal run changes nothing. If the source grew or changed since it gave the stored run,
    /// or has more outcomes of a run that it names, its run replaces the stored one. If it shrank, or another source disagrees, the stored
    /// run is kept and the report says so. A retracted run is not restored unless requested.
    pub(super) fn relation(
        &self,
        run: &Run,
        found: &Held,
        records: &BTreeMap<RunId, Held>,
        read: Read<'_>,
    ) -> Relation {
        let versions = self.versions.get(&run.id).map_or(&[][..], Vec::as_slice);
        let Some(newest) = newest(versions) else {
            return Relation::Same;
        };
        let hidden = || Relation::Hidden {
            standing: newest.standing.clone(),
        };
        match (&newest.standing, self.is_anew) {
            (Standing::Retracted(_), true) => {
                return Relation::Restored {
                    of: newest.id.clone(),
                };
            }
            (Standing::Retracted(_) | Standing::Covered(_), false) => return hidden(),
            (Standing::Counts, _) | (Standing::Covered(_), true) => {}
        }
        let content_of = |version: &Version| {
            records
                .get(&version.id)
                .map(|held| held.content.clone())
                .or_else(|| version.content.clone())
        };
        let is_read_anew = newest.sha256 == read.sha256;
        let is_same = match (records.get(&newest.id), &newest.content) {
            (Some(held), _) => held.is_same(found),
            (None, Some(known)) => *known == found.content,
            // It is unknown what an earlier program version read from the same bytes.
            (None, None) => newest.counts == counts(run) && !is_read_anew,
        };
        if is_same {
            return if newest.stands() {
                Relation::Same
            } else {
                hidden()
            };
        }
        let stored = content_of(newest).map(|content| content.outcomes);
        let changed = || Relation::Changed {
            stands: newest.id.clone(),
            stored,
            found: found.content.outcomes,
        };
        if is_read_anew || self.is_anew {
            return changed();
        }
        // Other bytes elsewhere with outcomes that the run has or had are a copy or an older state.
        let is_judged_alike =
            |version: &Version| content_of(version).is_some_and(|content| content == found.content);
        if !read.lies_where(newest) && versions.iter().any(is_judged_alike) {
            return Relation::Same;
        }
        match stored {
            Some(stored) if found.content.outcomes < stored => Relation::Less {
                stored,
                found: found.content.outcomes,
            },
            Some(stored) if found.content.outcomes > stored => changed(),
            _ if read.lies_where(newest) => changed(),
            _ => Relation::Other {
                file: newest.file.clone(),
            },
        }
    }
}

/// A run that nothing in its source names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unnamed<'a> {
    /// Suite, approach and model.
    pub names: [&'a str; 3],
    pub index: Option<u32>,
    pub moment: Moment,
}

impl<'a> Unnamed<'a> {
    /// Returns the names of a run whose time need not fit.
    pub fn of(run: &'a Run) -> Self {
        Self {
            names: [&run.suite, &run.approach, &run.model],
            index: run.run_index,
            moment: Moment::Unread,
        }
    }
}

impl<'r> FromIterator<(&'r Run, Standing)> for StoredRuns {
    fn from_iter<I: IntoIterator<Item = (&'r Run, Standing)>>(runs: I) -> Self {
        let mut stored = Self {
            keeps_places: true,
            ..Self::default()
        };
        let runs: Vec<(&Run, Standing)> = runs.into_iter().collect();
        let mut parts = parts_of(runs.iter().map(|(run, standing)| (*run, standing)));
        for (run, standing) in runs {
            stored.add(run, parts.remove(&run.id).unwrap_or(standing));
        }
        stored
    }
}

fn replaces(run: &Run) -> Option<&RunId> {
    run.provenance.as_ref()?.replaces.as_ref()
}

fn counts(run: &Run) -> Counts {
    [run.shared_tests_passed, run.shared_tests_total]
}

#[cfg(test)]
mod tests {
    use crate::domain::{ItemDetails, ItemKind, ItemOutcome, ItemStatus, Provenance};
    use crate::import::held::Sums;

    use super::*;

    fn outcome(item: &str, status: ItemStatus) -> ItemOutcome {
        ItemOutcome {
            run: RunId::parse("r").expect("an id"),
            kind: ItemKind::Question,
            item: item.to_owned(),
            cluster: None,
            category: None,
            attempt: 1,
            status,
            score: None,
            evaluator: "e".to_owned(),
            revision: 0,
            duration_seconds: None,
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    fn held(outcomes: &[(&str, ItemStatus)]) -> Held {
        let mut sums = Sums::default();
        for (item, status) in outcomes {
            sums.add(&outcome(item, *status), &ItemDetails::default());
        }
        sums.of(&run("r", None, None))
    }

    fn content(outcomes: &[(&str, ItemStatus)]) -> ImportedContent {
        held(outcomes).content
    }

    fn run(id: &str, first: Option<&str>, content: Option<ImportedContent>) -> Run {
        let mut run = Run::new(RunId::parse(id).expect("an id"), "s", "a", "m");
        let first = first.map(|id| RunId::parse(id).expect("an id"));
        run.provenance = Some(Provenance {
            importer: "x".to_owned(),
            file: "f".to_owned(),
            content,
            first,
            ..Provenance::default()
        });
        run
    }

    const NAMED: Read<'_> = Read {
        file: "f",
        place: None,
        sha256: "other",
    };
    const COUNTS: Standing = Standing::Counts;

    #[test]
    fn a_source_that_grew_or_changed_replaces_and_an_older_copy_does_not() {
        use ItemStatus::{Fail, Pass};
        let [two, three] = [
            held(&[("1", Pass), ("2", Fail)]),
            held(&[("1", Pass), ("2", Fail), ("3", Pass)]),
        ];
        assert!(
            two.is_same(&held(&[("2", Fail), ("1", Pass)])),
            "in whatever order"
        );
        let other = held(&[("1", Fail), ("2", Pass)]);
        let id = |id: &str| RunId::parse(id).expect("an id");
        // Compare both with the content in provenance and with the store's own records.
        for is_recorded in [false, true] {
            let (found, stored) = (
                run("r", None, None),
                run(
                    "r",
                    None,
                    Some(two.content.clone()).filter(|_| !is_recorded),
                ),
            );
            let mut records = BTreeMap::new();
            if is_recorded {
                records.insert(id("r"), two.clone());
            }
            let mut runs: StoredRuns = [(&stored, COUNTS)].into_iter().collect();
            let copy = Read {
                file: "copy",
                ..NAMED
            };
            assert_eq!(runs.relation(&found, &two, &records, NAMED), Relation::Same);
            for changed in [&three, &other] {
                let expected = Relation::Changed {
                    stands: id("r"),
                    stored: Some(2),
                    found: changed.content.outcomes,
                };
                assert_eq!(runs.relation(&found, changed, &records, NAMED), expected);
            }
            assert!(
                matches!(
                    runs.relation(&found, &three, &records, copy),
                    Relation::Changed { .. }
                ),
                "it grew"
            );
            assert_eq!(
                runs.relation(&found, &other, &records, copy),
                Relation::Other {
                    file: "f".to_owned()
                }
            );
            runs.replaced(&id("r"));
            runs.add(
                &run(
                    "r-2",
                    Some("r"),
                    Some(three.content.clone()).filter(|_| !is_recorded),
                ),
                COUNTS,
            );
            if is_recorded {
                records.insert(id("r-2"), three.clone());
            }
            assert_eq!(
                runs.relation(&found, &two, &records, copy),
                Relation::Same,
                "what it held before is known too"
            );
            assert_eq!(
                runs.relation(&found, &two, &records, NAMED),
                Relation::Less {
                    stored: 3,
                    found: 2
                },
                "the file itself shrank"
            );
            assert_eq!(
                runs.relation(&found, &other, &records, NAMED),
                Relation::Less {
                    stored: 3,
                    found: 2
                }
            );
            let changed = Relation::Changed {
                stands: id("r-2"),
                stored: Some(3),
                found: 2,
            };
            assert_eq!(
                runs.clone()
                    .anew()
                    .relation(&found, &other, &records, NAMED),
                changed,
                "it is asked for"
            );
            runs.replaced(&id("r-2"));
            let hidden = runs.relation(&found, &other, &records, NAMED);
            assert!(
                matches!(
                    hidden,
                    Relation::Hidden {
                        standing: Standing::Retracted(_)
                    }
                ),
                "nothing comes back by itself: {hidden:?}"
            );
            assert_eq!(
                runs.anew().relation(&found, &other, &records, NAMED),
                Relation::Restored { of: id("r-2") }
            );
        }
    }

    #[test]
    fn the_same_bytes_read_otherwise_replace_what_they_gave() {
        use ItemStatus::{Fail, Pass};
        let [two, three] = [
            held(&[("1", Pass), ("2", Fail)]),
            held(&[("1", Pass), ("2", Fail), ("3", Pass)]),
        ];
        let (found, first) = (run("r", None, None), RunId::parse("r").expect("an id"));
        let same = Read {
            file: "renamed",
            place: None,
            sha256: "",
        };
        for (stored, outcomes) in [(Some(three.content), Some(3)), (None, None)] {
            let runs: StoredRuns = [(&run("r", None, stored), COUNTS)].into_iter().collect();
            let changed = Relation::Changed {
                stands: first.clone(),
                stored: outcomes,
                found: 2,
            };
            assert_eq!(
                runs.relation(&found, &two, &BTreeMap::new(), same),
                changed,
                "whatever the file is called, and though it gives less"
            );
        }
        let runs: StoredRuns = [(&run("r", None, None), COUNTS)].into_iter().collect();
        assert_eq!(
            runs.relation(&found, &two, &BTreeMap::from([(first, two.clone())]), same),
            Relation::Same,
            "nothing differs"
        );
    }

    #[test]
    fn of_versions_that_stand_together_the_one_that_replaces_stays() {
        let version = |id: &str, replaces: Option<&str>| {
            let mut run = run(id, Some("r").filter(|first| *first != id), None);
            run.provenance.as_mut().expect("set").replaces =
                replaces.map(|id| RunId::parse(id).expect("an id"));
            run
        };
        // By their ids alone, `z` would be last.
        let (first, second, third) = (
            version("r", None),
            version("z", Some("r")),
            version("b", Some("z")),
        );
        let runs: StoredRuns = [(&first, COUNTS), (&second, COUNTS), (&third, COUNTS)]
            .into_iter()
            .collect();
        let doubled: Vec<(String, String)> = runs
            .doubled()
            .into_iter()
            .map(|(run, by)| (run.to_string(), by.to_string()))
            .collect();
        assert_eq!(
            doubled,
            [("r", "b"), ("z", "b")].map(|(run, by)| (run.to_owned(), by.to_owned()))
        );
    }

    #[test]
    fn a_file_that_was_changed_back_replaces_what_it_was_changed_to() {
        use ItemStatus::{Fail, Pass};
        let [one, other] = [
            held(&[("1", Pass), ("2", Fail)]),
            held(&[("1", Fail), ("2", Pass)]),
        ];
        let (first, second) = (
            run("r", None, Some(one.content.clone())),
            run("r-2", Some("r"), Some(other.content)),
        );
        let runs: StoredRuns = [
            (&first, Standing::Retracted("replaced".to_owned())),
            (&second, COUNTS),
        ]
        .into_iter()
        .collect();
        let changed = Relation::Changed {
            stands: second.id.clone(),
            stored: Some(2),
            found: 2,
        };
        assert_eq!(
            runs.relation(&first, &one, &BTreeMap::new(), NAMED),
            changed
        );
        let copy = Read {
            file: "copy",
            ..NAMED
        };
        assert_eq!(
            runs.relation(&first, &one, &BTreeMap::new(), copy),
            Relation::Same,
            "an old copy elsewhere"
        );
        assert!(
            runs.is_outdated(std::slice::from_ref(&first), NAMED)
                && !runs.is_outdated(std::slice::from_ref(&first), copy)
        );
    }

    #[test]
    fn a_tombstone_of_a_suite_is_not_lifted_by_another_copy() {
        let held = held(&[("1", ItemStatus::Pass)]);
        let stored = run("r", None, Some(held.content.clone()));
        let covered = Standing::Covered("wrong key".to_owned());
        let runs: StoredRuns = [(&stored, covered.clone())].into_iter().collect();
        let hidden = Relation::Hidden { standing: covered };
        assert_eq!(
            runs.relation(&stored, &held, &BTreeMap::new(), NAMED),
            hidden
        );
        assert_eq!(
            runs.anew()
                .relation(&stored, &held, &BTreeMap::new(), NAMED),
            hidden
        );
    }

    #[test]
    fn a_run_without_a_name_is_known_by_its_place() {
        let stored = |id: &str, place: &str| {
            let mut run = run(id, None, Some(content(&[])));
            run.provenance.as_mut().expect("set").place = Some(place.to_owned());
            run
        };
        let id = |id: &str| RunId::parse(id).expect("an id");
        let (one, other) = (stored("r", "here"), stored("q", "there"));
        let mut runs: StoredRuns = [(&one, COUNTS), (&other, COUNTS)].into_iter().collect();
        let first = |runs: &StoredRuns, importer: &str, place: &str, model: &str, moment| {
            let read = Read {
                place: Some(place),
                ..NAMED
            };
            runs.unnamed(
                id("new"),
                importer,
                read,
                Unnamed {
                    names: ["s", "a", model],
                    index: None,
                    moment,
                },
            )
        };
        assert_eq!(first(&runs, "x", "here", "m", Moment::Said(None)), one.id);
        for (importer, place, model) in [
            ("y", "here", "m"),
            ("x", "elsewhere", "m"),
            ("x", "here", "n"),
        ] {
            assert_eq!(
                first(&runs, importer, place, model, Moment::Unread),
                id("new")
            );
        }
        assert_eq!(
            first(
                &runs,
                "x",
                "here",
                "m",
                Moment::Said(Some(DateTime::UNIX_EPOCH))
            ),
            id("new"),
            "of another time"
        );
        let retracted: StoredRuns = [(&one, Standing::Retracted(String::new()))]
            .into_iter()
            .collect();
        assert_eq!(
            first(&retracted, "x", "here", "m", Moment::Unread),
            one.id,
            "a retracted run does not come back as another"
        );
        runs.add(&stored("p", "here"), COUNTS);
        assert_eq!(
            first(&runs, "x", "here", "m", Moment::Said(None)),
            id("new"),
            "nobody knows which"
        );
    }
}
