//! What the store has of the runs that importers meet, and whether a source that holds one of them holds the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{ImportedContent, ItemOutcome, Run, RunId, hex};

use super::source::digest;

/// The runs of a store, those that tombstones hide among them.
#[derive(Clone, Debug, Default)]
pub struct StoredRuns {
    ids: BTreeSet<RunId>,
    /// By the id under which a run was first imported.
    versions: BTreeMap<RunId, Vec<Version>>,
}

/// One of the contents that a run had when its source was read.
#[derive(Clone, Debug)]
struct Version {
    id: RunId,
    /// The name of the source, what it was read by, and the digest of its bytes.
    file: String,
    map_sha256: Option<String>,
    sha256: String,
    /// Absent of runs that were imported before it was kept.
    content: Option<ImportedContent>,
    counts: Counts,
    /// No tombstone hides it.
    stands: bool,
}

/// Passed and counted.
type Counts = [Option<u64>; 2];

/// The source that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    /// Its name, without folders.
    pub file: &'a str,
    /// The digest of its bytes.
    pub sha256: &'a str,
}

/// How what a source holds of a run is related to what is stored of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Same,
    /// The source holds fewer outcomes than the store: an older copy.
    Less {
        stored: u64,
        found: u64,
    },
    /// The source holds as many outcomes, and others, and is another file: which of the two is right nobody knows.
    Other {
        file: String,
    },
    /// The source grew, or was changed, or is read otherwise than it was: the run that stands is to be replaced.
    Changed {
        stands: RunId,
        stored: Option<u64>,
        found: u64,
    },
}

impl StoredRuns {
    pub fn contains(&self, id: &RunId) -> bool {
        self.ids.contains(id)
    }

    pub fn ids(&self) -> &BTreeSet<RunId> {
        &self.ids
    }

    /// Adds a run; `stands` says that no tombstone hides it.
    pub fn add(&mut self, run: &Run, stands: bool) {
        self.ids.insert(run.id.clone());
        if let Some(from) = &run.provenance {
            let first = from.first.as_ref().unwrap_or(&run.id);
            let version = Version {
                id: run.id.clone(),
                file: from.file.clone(),
                map_sha256: from.map_sha256.clone(),
                sha256: from.sha256.clone(),
                content: from.content.clone(),
                counts: counts(run),
                stands,
            };
            self.versions.entry(first.clone()).or_default().push(version);
        }
    }

    /// Adds the id of a run whose content is not compared.
    pub(super) fn add_id(&mut self, id: RunId) {
        self.ids.insert(id);
    }

    /// Takes note that a run was replaced.
    pub(super) fn replaced(&mut self, id: &RunId) {
        self.versions.values_mut().flatten().filter(|version| version.id == *id).for_each(|version| version.stands = false);
    }

    /// Returns the runs that stand beside another version of themselves, which only an import that was interrupted leaves behind, each with
    /// the version that is to stand: the one with most outcomes.
    pub fn doubled(&self) -> Vec<(RunId, RunId)> {
        let mut doubled = Vec::new();
        for (first, versions) in &self.versions {
            let standing = || versions.iter().filter(|version| version.stands);
            let outcomes = |version: &Version| version.content.as_ref().map_or(0, |content| content.outcomes);
            if let Some(best) = standing().max_by_key(|version| (outcomes(version), version.id != *first, &version.id)) {
                doubled.extend(standing().filter(|version| version.id != best.id).map(|version| (version.id.clone(), best.id.clone())));
            }
        }
        doubled
    }

    /// Returns the run that stands of those first imported as `id`, if it was read of the same bytes: by another map than `map`, where it was
    /// by a map.
    pub(super) fn read_otherwise(&self, id: &RunId, sha256: &str, map: Option<&str>) -> Option<RunId> {
        let standing = self.versions.get(id)?.iter().rev().find(|version| version.stands)?;
        let is_other = map.is_none() || standing.map_sha256.as_deref() != map;
        (standing.sha256 == sha256 && is_other).then(|| standing.id.clone())
    }

    /// Compares what a source holds of a run, which has the id that it gets when it is first imported.
    pub(super) fn relation(&self, run: &Run, content: &ImportedContent, read: Read<'_>) -> Relation {
        let versions = self.versions.get(&run.id).map_or(&[][..], Vec::as_slice);
        let is_same = |version: &Version| match &version.content {
            Some(known) => known == content,
            // Nobody knows what an earlier version read of these very bytes.
            None => version.counts == counts(run) && version.sha256 != read.sha256,
        };
        // Of a run that somebody took out, nothing comes back by itself.
        let Some(standing) = versions.iter().rev().find(|version| version.stands) else { return Relation::Same };
        if versions.iter().any(is_same) {
            return Relation::Same;
        }
        let stored = standing.content.as_ref().map(|content| content.outcomes);
        let found = content.outcomes;
        let has_grown = stored.is_some_and(|stored| found > stored);
        let is_read_anew = standing.sha256 == read.sha256;
        match stored {
            Some(stored) if found < stored && !is_read_anew => Relation::Less { stored, found },
            _ if has_grown || is_read_anew || standing.file == read.file => {
                Relation::Changed { stands: standing.id.clone(), stored, found }
            }
            _ => Relation::Other { file: standing.file.clone() },
        }
    }
}

impl<'r> FromIterator<(&'r Run, bool)> for StoredRuns {
    fn from_iter<I: IntoIterator<Item = (&'r Run, bool)>>(runs: I) -> Self {
        let mut stored = Self::default();
        for (run, stands) in runs {
            stored.add(run, stands);
        }
        stored
    }
}

fn counts(run: &Run) -> Counts {
    [run.shared_tests_passed, run.shared_tests_total]
}

/// Sums up the outcomes of a run, in whatever order they come.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentSum {
    outcomes: u64,
    sum: u128,
}

impl ContentSum {
    pub fn add(&mut self, outcome: &ItemOutcome) {
        let score = outcome.score.map_or_else(String::new, |score| score.to_string());
        let attempt = outcome.attempt.to_string();
        let texts = [outcome.kind.name(), &outcome.evaluator, &outcome.item, &attempt, outcome.status.name(), &score];
        let digest = digest(&texts.map(str::as_bytes), true);
        self.outcomes += 1;
        self.sum = self.sum.wrapping_add(digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte)));
    }

    /// Returns what the run's source holds. Of a run without outcomes its figures are what can change.
    pub fn of(&self, run: &Run) -> ImportedContent {
        let sum = if self.outcomes > 0 {
            format!("{:032x}", self.sum)
        } else {
            let scores = run.scores.iter().map(|score| format!("{}={:?}", score.metric, score.value));
            let stated = run.stated.iter().map(|figure| format!("{}={}", figure.name, figure.value));
            let counted = run.counted.map(|kind| format!("of {kind}"));
            let figures: BTreeSet<String> = scores.chain(stated).chain([format!("{:?}", counts(run))]).chain(counted).collect();
            hex(&digest(&figures.iter().map(String::as_bytes).collect::<Vec<_>>(), true)[..16])
        };
        ImportedContent { outcomes: self.outcomes, sum }
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::{ItemKind, ItemStatus, Provenance};

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

    fn content(outcomes: &[(&str, ItemStatus)]) -> ImportedContent {
        let mut sum = ContentSum::default();
        for (item, status) in outcomes {
            sum.add(&outcome(item, *status));
        }
        sum.of(&run("r", None, None))
    }

    fn run(id: &str, first: Option<&str>, content: Option<ImportedContent>) -> Run {
        let mut run = Run::new(RunId::parse(id).expect("an id"), "s", "a", "m");
        let first = first.map(|id| RunId::parse(id).expect("an id"));
        run.provenance = Some(Provenance {
            importer: "x".to_owned(),
            file: "f".to_owned(),
            sha256: String::new(),
            map: None,
            map_sha256: None,
            url: None,
            content,
            first,
        });
        run
    }

    #[test]
    fn a_source_that_grew_or_changed_replaces_and_an_older_copy_does_not() {
        use ItemStatus::{Fail, Pass};
        let [two, three] = [content(&[("1", Pass), ("2", Fail)]), content(&[("1", Pass), ("2", Fail), ("3", Pass)])];
        assert_eq!(two, content(&[("2", Fail), ("1", Pass)]), "in whatever order");
        let other = content(&[("1", Fail), ("2", Pass)]);
        let (found, stored) = (run("r", None, None), run("r", None, Some(two.clone())));
        let mut runs: StoredRuns = [(&stored, true)].into_iter().collect();
        let stands = |id: &str| RunId::parse(id).expect("an id");
        let of = |file| Read { file, sha256: "other" };
        assert_eq!(runs.relation(&found, &two, of("f")), Relation::Same);
        for changed in [&three, &other] {
            let expected = Relation::Changed { stands: stands("r"), stored: Some(2), found: changed.outcomes };
            assert_eq!(runs.relation(&found, changed, of("f")), expected);
        }
        assert!(matches!(runs.relation(&found, &three, of("copy")), Relation::Changed { .. }), "it grew");
        assert_eq!(runs.relation(&found, &other, of("copy")), Relation::Other { file: "f".to_owned() });
        runs.replaced(&stands("r"));
        runs.add(&run("r-2", Some("r"), Some(three.clone())), true);
        assert_eq!(runs.relation(&found, &two, of("f")), Relation::Same, "what it held before is known too");
        assert_eq!(runs.relation(&found, &other, of("f")), Relation::Less { stored: 3, found: 2 });
        runs.replaced(&stands("r-2"));
        assert_eq!(runs.relation(&found, &other, of("f")), Relation::Same, "nothing comes back by itself");
    }

    #[test]
    fn the_same_bytes_read_otherwise_replace_what_they_gave() {
        use ItemStatus::{Fail, Pass};
        let [two, three] = [content(&[("1", Pass), ("2", Fail)]), content(&[("1", Pass), ("2", Fail), ("3", Pass)])];
        let (found, first) = (run("r", None, None), RunId::parse("r").expect("an id"));
        let same = Read { file: "renamed", sha256: "" };
        for (stored, outcomes) in [(Some(three), Some(3)), (None, None)] {
            let runs: StoredRuns = [(&run("r", None, stored), true)].into_iter().collect();
            let changed = Relation::Changed { stands: first.clone(), stored: outcomes, found: 2 };
            assert_eq!(runs.relation(&found, &two, same), changed, "whatever the file is called, and though it gives less");
        }
        let runs: StoredRuns = [(&run("r", None, Some(two.clone())), true)].into_iter().collect();
        assert_eq!(runs.relation(&found, &two, same), Relation::Same);
        assert_eq!(runs.read_otherwise(&first, "", Some("another map")), Some(first.clone()));
        assert_eq!(runs.read_otherwise(&first, "other bytes", Some("another map")), None);
        let runs: StoredRuns = [(&run("r", None, Some(two)), false)].into_iter().collect();
        assert_eq!(runs.read_otherwise(&first, "", Some("another map")), None, "nothing comes back by itself");
    }

    #[test]
    fn without_outcomes_the_figures_are_the_content() {
        let sum = ContentSum::default();
        let (mut one, mut other) = (run("r", None, None), run("r", None, None));
        assert_eq!(sum.of(&one), sum.of(&other));
        (one.shared_tests_passed, other.shared_tests_passed) = (Some(1), Some(2));
        assert_ne!(sum.of(&one), sum.of(&other));
        let before = sum.of(&one);
        one.counted = Some(ItemKind::Task);
        assert_ne!(sum.of(&one), before, "what was counted is one of them");
    }
}
