//! Runs of the store that importers meet, and how a source's content relates to them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};

use crate::domain::{ImportedContent, MessageKeys, Run, RunId};
use crate::results::{Store, StoreError};

use super::held::{Held, Records};
use super::join::parts_of;
use super::session_figures::{ID_TAG, sessions_of};

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
    timestamp: Option<DateTime<Utc>>,
    /// Name of the source, digest of its location, and digest of its bytes.
    file: String,
    place: Option<String>,
    sha256: String,
    /// `None` for runs that were imported before content was recorded.
    content: Option<ImportedContent>,
    /// The version that this one replaces.
    replaces: Option<RunId>,
    counts: Counts,
    /// No tombstone hides this version.
    stands: bool,
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
    /// Its runs have names of their own, which identify them in any file. The runs of a table only have the map's names.
    pub names_runs: bool,
}

impl Read<'_> {
    /// Returns whether the source is the file of the version: by its place if known, else by its name.
    fn lies_where(&self, version: &Version) -> bool {
        match (self.place, &version.place) {
            (Some(here), Some(there)) => here == there,
            _ => self.file == version.file,
        }
    }

    /// Returns whether the source counts as the version's file. If runs have names of their own, the file's name decides. Otherwise the
    /// place does, because tables in two folders often share a name.
    fn is_called(&self, version: &Version) -> bool {
        if self.names_runs { self.file == version.file } else { self.lies_where(version) }
    }
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
    /// The run was retracted, and is now requested again.
    Restored,
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
        Self { is_anew: true, ..self }
    }

    pub(super) fn keeps_places(&self) -> bool {
        self.keeps_places
    }

    pub(super) fn is_anew(&self) -> bool {
        self.is_anew
    }

    /// Adds a run. `stands` means that no tombstone hides it.
    pub fn add(&mut self, run: &Run, stands: bool) {
        self.ids.insert(run.id.clone());
        if stands {
            self.named.extend(sessions_of(run).map(|session| (session.to_owned(), run.id.clone())));
        }
        // Of a joined run, the parts have sources.
        if let Some(from) = run.provenance.as_ref().filter(|from| from.joined.is_empty()) {
            let first = from.first.as_ref().unwrap_or(&run.id);
            let version = Version {
                id: run.id.clone(),
                importer: from.importer.clone(),
                names: [&run.suite, &run.approach, &run.model].map(Clone::clone),
                timestamp: run.timestamp,
                file: from.file.clone(),
                place: from.place.clone(),
                sha256: from.sha256.clone(),
                content: from.content.clone(),
                replaces: from.replaces.clone(),
                counts: counts(run),
                stands,
            };
            self.versions.entry(first.clone()).or_default().push(version);
            if stands && run.tags.contains_key(ID_TAG) {
                self.counted.extend(from.messages.iter().flat_map(MessageKeys::iter).map(|message| (message, first.clone())));
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

    /// Notes that a run was replaced.
    pub(super) fn replaced(&mut self, id: &RunId) {
        self.versions.values_mut().flatten().filter(|version| version.id == *id).for_each(|version| version.stands = false);
    }

    /// Returns the current runs that have another current version, each with the version to keep. Only an interrupted import leaves such
    /// runs. The version that no other replaces is kept; if there are several, the one with most outcomes.
    pub fn doubled(&self) -> Vec<(RunId, RunId)> {
        let mut doubled = Vec::new();
        for (first, versions) in &self.versions {
            let standing = || versions.iter().filter(|version| version.stands);
            let is_replaced = |id: &RunId| standing().any(|version| version.replaces.as_ref() == Some(id));
            let outcomes = |version: &Version| version.content.as_ref().map_or(0, |content| content.outcomes);
            let rank = |version: &&Version| (!is_replaced(&version.id), outcomes(version), version.id != *first, version.id.clone());
            if let Some(best) = standing().max_by_key(rank) {
                doubled.extend(standing().filter(|version| version.id != best.id).map(|version| (version.id.clone(), best.id.clone())));
            }
        }
        doubled
    }

    /// Finds the stored run of a source whose runs have no names of their own. Returns the first id of the only current run with this
    /// importer, place, names and time, or `None` if there is not exactly one.
    pub(super) fn alike(&self, importer: &str, place: &str, names: [&str; 3], moment: Moment) -> Option<&RunId> {
        let is_alike = |version: &Version| {
            version.stands
                && version.importer == importer
                && version.place.as_deref() == Some(place)
                && version.names == names
                && moment.fits(version.timestamp)
        };
        let mut alike = self.versions.iter().filter(|(_, versions)| versions.iter().any(is_alike)).map(|(first, _)| first);
        alike.next().filter(|_| alike.next().is_none())
    }

    /// Reads the store's records of every version of the runs with these first ids.
    pub(super) fn records<'r>(&self, store: &Store, firsts: impl Iterator<Item = &'r RunId>) -> Result<BTreeMap<RunId, Held>, StoreError> {
        let versions = firsts.filter_map(|first| self.versions.get(first)).flatten();
        self.records.borrow_mut().of(store, &versions.map(|version| version.id.clone()).collect())
    }

    /// Compares a run in a source, under its first id, with the store's records.
    ///
    /// This is the only rule for importing again. An equal run changes nothing. A run that grew or changed replaces the stored one. If it
    /// shrank, or another file disagrees, the stored run is kept and the report says so. A retracted run is not restored unless requested.
    pub(super) fn relation(&self, run: &Run, found: &Held, records: &BTreeMap<RunId, Held>, read: Read<'_>) -> Relation {
        let versions = self.versions.get(&run.id).map_or(&[][..], Vec::as_slice);
        let Some(standing) = versions.iter().rev().find(|version| version.stands) else {
            return if self.is_anew && !versions.is_empty() { Relation::Restored } else { Relation::Same };
        };
        let content_of = |version: &Version| records.get(&version.id).map(|held| held.content.clone()).or_else(|| version.content.clone());
        let is_read_anew = standing.sha256 == read.sha256;
        let is_same = match (records.get(&standing.id), &standing.content) {
            (Some(held), _) => held.is_same(found),
            (None, Some(known)) => *known == found.content,
            // It is unknown what an earlier program version read from the same bytes.
            (None, None) => standing.counts == counts(run) && !is_read_anew,
        };
        if is_same {
            return Relation::Same;
        }
        let stored = content_of(standing).map(|content| content.outcomes);
        let changed = || Relation::Changed { stands: standing.id.clone(), stored, found: found.content.outcomes };
        if is_read_anew || self.is_anew {
            return changed();
        }
        // If other bytes have equal outcomes, they are a copy or an older state. Other figures are updated only from the file itself.
        let is_judged_alike = |version: &Version| content_of(version).is_some_and(|content| content == found.content);
        if versions.iter().any(is_judged_alike) {
            let is_changed = is_judged_alike(standing) && read.lies_where(standing) && records.contains_key(&standing.id);
            return if is_changed { changed() } else { Relation::Same };
        }
        match stored {
            Some(stored) if found.content.outcomes < stored => Relation::Less { stored, found: found.content.outcomes },
            Some(stored) if found.content.outcomes > stored && read.names_runs => changed(),
            _ if read.is_called(standing) => changed(),
            _ => Relation::Other { file: standing.file.clone() },
        }
    }
}

impl<'r> FromIterator<(&'r Run, bool)> for StoredRuns {
    fn from_iter<I: IntoIterator<Item = (&'r Run, bool)>>(runs: I) -> Self {
        let mut stored = Self { keeps_places: true, ..Self::default() };
        let runs: Vec<(&Run, bool)> = runs.into_iter().collect();
        let parts = parts_of(runs.iter().copied());
        for (run, stands) in runs {
            stored.add(run, stands || parts.contains(&run.id));
        }
        stored
    }
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
        run.provenance = Some(Provenance { importer: "x".to_owned(), file: "f".to_owned(), content, first, ..Provenance::default() });
        run
    }

    const NAMED: Read<'_> = Read { file: "f", place: None, sha256: "other", names_runs: true };

    #[test]
    fn a_source_that_grew_or_changed_replaces_and_an_older_copy_does_not() {
        use ItemStatus::{Fail, Pass};
        let [two, three] = [held(&[("1", Pass), ("2", Fail)]), held(&[("1", Pass), ("2", Fail), ("3", Pass)])];
        assert!(two.is_same(&held(&[("2", Fail), ("1", Pass)])), "in whatever order");
        let other = held(&[("1", Fail), ("2", Pass)]);
        let id = |id: &str| RunId::parse(id).expect("an id");
        // Compare both with the content in provenance and with the store's own records.
        for is_recorded in [false, true] {
            let (found, stored) = (run("r", None, None), run("r", None, Some(two.content.clone()).filter(|_| !is_recorded)));
            let mut records = BTreeMap::new();
            if is_recorded {
                records.insert(id("r"), two.clone());
            }
            let mut runs: StoredRuns = [(&stored, true)].into_iter().collect();
            let copy = Read { file: "copy", ..NAMED };
            assert_eq!(runs.relation(&found, &two, &records, NAMED), Relation::Same);
            for changed in [&three, &other] {
                let expected = Relation::Changed { stands: id("r"), stored: Some(2), found: changed.content.outcomes };
                assert_eq!(runs.relation(&found, changed, &records, NAMED), expected);
            }
            assert!(matches!(runs.relation(&found, &three, &records, copy), Relation::Changed { .. }), "it grew");
            let table = Read { names_runs: false, ..copy };
            assert!(matches!(runs.relation(&found, &three, &records, table), Relation::Other { .. }), "another table may be another part");
            assert_eq!(runs.relation(&found, &other, &records, copy), Relation::Other { file: "f".to_owned() });
            runs.replaced(&id("r"));
            runs.add(&run("r-2", Some("r"), Some(three.content.clone()).filter(|_| !is_recorded)), true);
            if is_recorded {
                records.insert(id("r-2"), three.clone());
            }
            assert_eq!(runs.relation(&found, &two, &records, NAMED), Relation::Same, "what it held before is known too");
            assert_eq!(runs.relation(&found, &other, &records, NAMED), Relation::Less { stored: 3, found: 2 });
            let changed = Relation::Changed { stands: id("r-2"), stored: Some(3), found: 2 };
            assert_eq!(runs.clone().anew().relation(&found, &other, &records, NAMED), changed, "it is asked for");
            runs.replaced(&id("r-2"));
            assert_eq!(runs.relation(&found, &other, &records, NAMED), Relation::Same, "nothing comes back by itself");
            assert_eq!(runs.anew().relation(&found, &other, &records, NAMED), Relation::Restored);
        }
    }

    #[test]
    fn the_same_bytes_read_otherwise_replace_what_they_gave() {
        use ItemStatus::{Fail, Pass};
        let [two, three] = [held(&[("1", Pass), ("2", Fail)]), held(&[("1", Pass), ("2", Fail), ("3", Pass)])];
        let (found, first) = (run("r", None, None), RunId::parse("r").expect("an id"));
        let same = Read { file: "renamed", place: None, sha256: "", names_runs: false };
        for (stored, outcomes) in [(Some(three.content), Some(3)), (None, None)] {
            let runs: StoredRuns = [(&run("r", None, stored), true)].into_iter().collect();
            let changed = Relation::Changed { stands: first.clone(), stored: outcomes, found: 2 };
            assert_eq!(
                runs.relation(&found, &two, &BTreeMap::new(), same),
                changed,
                "whatever the file is called, and though it gives less"
            );
        }
        let runs: StoredRuns = [(&run("r", None, None), true)].into_iter().collect();
        assert_eq!(runs.relation(&found, &two, &BTreeMap::from([(first, two.clone())]), same), Relation::Same, "nothing differs");
    }

    #[test]
    fn of_versions_that_stand_together_the_one_that_replaces_stays() {
        let version = |id: &str, replaces: Option<&str>| {
            let mut run = run(id, Some("r").filter(|first| *first != id), None);
            run.provenance.as_mut().expect("set").replaces = replaces.map(|id| RunId::parse(id).expect("an id"));
            run
        };
        // By their ids alone, `z` would be last.
        let (first, second, third) = (version("r", None), version("z", Some("r")), version("b", Some("z")));
        let runs: StoredRuns = [(&first, true), (&second, true), (&third, true)].into_iter().collect();
        let doubled: Vec<(String, String)> = runs.doubled().into_iter().map(|(run, by)| (run.to_string(), by.to_string())).collect();
        assert_eq!(doubled, [("r", "b"), ("z", "b")].map(|(run, by)| (run.to_owned(), by.to_owned())));
    }

    #[test]
    fn a_run_without_a_name_is_known_by_its_place() {
        let stored = |id: &str, place: &str| {
            let mut run = run(id, None, Some(content(&[])));
            run.provenance.as_mut().expect("set").place = Some(place.to_owned());
            run
        };
        let (one, other) = (stored("r", "here"), stored("q", "there"));
        let mut runs: StoredRuns = [(&one, true), (&other, true)].into_iter().collect();
        assert_eq!(runs.alike("x", "here", ["s", "a", "m"], Moment::Said(None)), Some(&one.id));
        for (importer, place, model) in [("y", "here", "m"), ("x", "elsewhere", "m"), ("x", "here", "n")] {
            assert_eq!(runs.alike(importer, place, ["s", "a", model], Moment::Unread), None);
        }
        assert_eq!(runs.alike("x", "here", ["s", "a", "m"], Moment::Said(Some(DateTime::UNIX_EPOCH))), None, "of another time");
        runs.add(&stored("p", "here"), true);
        assert_eq!(runs.alike("x", "here", ["s", "a", "m"], Moment::Said(None)), None, "nobody knows which");
    }
}
