//! The location of the store and the names of its files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::domain::{Run, RunId, Secrets};

use super::added::AddedRecords;
use super::commits::CommitLine;
use super::header::StoredHeader;
use super::seal::{self, Seal};
use super::{RunJournal, StoreError, durable, header, presence};

/// A results folder. Opening does not access the disk.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Redacted from everything that is written.
    secrets: Arc<Secrets>,
    /// What was written, for the chain.
    added: AddedRecords,
}

impl Store {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            secrets: Arc::default(),
            added: AddedRecords::default(),
        }
    }

    /// Returns the store with these secrets, whose values it replaces by their names in everything it writes.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self {
            secrets: Arc::new(secrets),
            ..self
        }
    }

    /// Returns the store with this note of what is added.
    #[must_use]
    pub fn with_added_records(self, added: AddedRecords) -> Self {
        Self { added, ..self }
    }

    pub(super) fn added_records(&self) -> &AddedRecords {
        &self.added
    }

    pub(super) fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn header_path(&self, id: &RunId) -> PathBuf {
        self.root.join(format!("{id}.json"))
    }

    /// Returns the folder of the run's journals and output.
    pub fn run_dir(&self, id: &RunId) -> PathBuf {
        self.root.join(id.as_str())
    }

    /// Returns the path of the run's scores file, which need not exist.
    pub fn scores_path(&self, id: &RunId) -> PathBuf {
        self.run_dir(id).join("scores.jsonl")
    }

    pub fn batches_dir(&self) -> PathBuf {
        self.root.join("batches")
    }

    pub fn imports_dir(&self) -> PathBuf {
        self.root.join("imports")
    }

    pub fn retractions_path(&self) -> PathBuf {
        self.root.join("retractions.jsonl")
    }

    pub fn acceptances_path(&self) -> PathBuf {
        self.root.join("acceptances.jsonl")
    }

    /// Commits a run: writes the header to a temporary file, syncs it, and links it into place only if the name is free.
    ///
    /// After an error there is either the whole header or none. The header seals the files in the run's folder.
    pub fn save_run(&self, run: &Run) -> Result<PathBuf, StoreError> {
        let folder = self.run_dir(&run.id);
        let seal = Seal::from_folder(&folder).map_err(StoreError::io("cannot read", &folder))?;
        self.write_noted_header(&run.id, &self.seal_header(run, &seal))
    }

    /// Commits a run whose journal is open, and records the commit in its batch's list.
    pub fn commit_run(&self, run: &Run, journal: &RunJournal) -> Result<PathBuf, StoreError> {
        let text = self.seal_header(run, &journal.seal_files()?);
        let path = self.write_header(&run.id, &text)?;
        // After the header: a run without this line is still valid, but a line without its header reveals a deletion.
        let line = match &run.batch_id {
            Some(batch) => CommitLine::record_commit(
                &self.batches_dir(),
                batch,
                &run.id,
                &seal::sha256_hex(text.as_bytes()),
            )?,
            None => None,
        };
        match line {
            // The line has the digest of the header.
            Some((list, line)) => self
                .added
                .note_last_line(&self.root, &list, line.as_bytes()),
            None => self
                .added
                .note_file(&self.root, &path, format!("{text}\n").as_bytes()),
        }
        Ok(path)
    }

    /// Commits a run of another store, with its original sealed header if it has one.
    pub(super) fn save_stored_header(&self, written: &StoredHeader) -> Result<PathBuf, StoreError> {
        self.write_noted_header(
            &written.run.id,
            &seal::with_carried(&written.header_text(), written.run.carried.as_ref()),
        )
    }

    fn seal_header(&self, run: &Run, seal: &Seal) -> String {
        seal::with_carried(
            &seal.seal_record(&self.secrets.hide(&header::to_sealable(run))),
            run.carried.as_ref(),
        )
    }

    fn write_noted_header(&self, id: &RunId, text: &str) -> Result<PathBuf, StoreError> {
        let path = self.write_header(id, text)?;
        self.added
            .note_file(&self.root, &path, format!("{text}\n").as_bytes());
        Ok(path)
    }

    fn write_header(&self, id: &RunId, text: &str) -> Result<PathBuf, StoreError> {
        let path = self.header_path(id);
        let json = format!("{text}\n");
        // If the run has a folder, use it: whoever resumes the run then finds what a crash left.
        let folder = self.run_dir(id);
        let created =
            if presence::is_folder(&folder).map_err(StoreError::io("cannot look for", &folder))? {
                durable::create_new_via(&folder, &path, json.as_bytes())
            } else {
                durable::create_new(&path, json.as_bytes())
            };
        created.map_err(|source| {
            if source.kind() == io::ErrorKind::AlreadyExists {
                StoreError::Exists {
                    id: id.to_string(),
                    path: path.clone(),
                }
            } else {
                StoreError::Io {
                    action: "cannot write",
                    path: path.clone(),
                    source,
                }
            }
        })?;
        Ok(path)
    }

    /// Returns whether the run is committed.
    pub fn has_run(&self, id: &RunId) -> Result<bool, StoreError> {
        let path = self.header_path(id);
        presence::is_file(&path).map_err(StoreError::io("cannot look for", &path))
    }

    /// Reads one committed run.
    pub fn load_run(&self, id: &RunId) -> Result<Run, StoreError> {
        header::read_header(&self.header_path(id)).map_err(StoreError::Invalid)
    }

    /// Opens and locks the journals of a run for appending.
    pub fn open_journal(&self, id: &RunId) -> Result<RunJournal, StoreError> {
        RunJournal::open(
            &self.run_dir(id),
            &self.header_path(id),
            id,
            Arc::clone(&self.secrets),
        )
    }

    /// Returns a new id for an own run. Later ids sort later.
    pub fn new_run_id(now: DateTime<Utc>) -> RunId {
        let seconds = u64::try_from(now.timestamp()).unwrap_or(0);
        let time =
            uuid::Timestamp::from_unix(uuid::NoContext, seconds, now.timestamp_subsec_nanos());
        RunId::from_uuid(Uuid::new_v7(time))
    }

    /// Returns the id of an imported run. Equal format and identity always give the same id, so importing twice adds nothing.
    pub fn imported_run_id(format: &str, identity: &[&str]) -> RunId {
        // A fixed namespace of this tool: the UUIDv5 of the DNS namespace and the word "evalreport".
        let namespace = Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"evalreport");
        // Lengths make the parts unambiguous: ["ab", "c"] and ["a", "bc"] are different runs.
        let mut name = format!("{}:{format}", format.len());
        for part in identity {
            name.push_str(&format!("|{}:{part}", part.len()));
        }
        RunId::from_uuid(Uuid::new_v5(&namespace, name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_ids_are_stable_and_unambiguous() {
        let id = Store::imported_run_id("table", &["s", "a", "m"]);
        assert_eq!(id, Store::imported_run_id("table", &["s", "a", "m"]));
        assert_ne!(
            Store::imported_run_id("table", &["ab", "c"]),
            Store::imported_run_id("table", &["a", "bc"])
        );
    }

    #[test]
    fn saving_twice_keeps_the_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(folder.path());
        let mut run = Run::new(RunId::parse("r1").expect("a valid id"), "s", "a", "m");
        store.save_run(&run).expect("the first save");
        run.cost_usd = Some(1.0);
        assert!(matches!(
            store.save_run(&run),
            Err(StoreError::Exists { .. })
        ));
        assert_eq!(
            store.load_run(&run.id).expect("the saved run").cost_usd,
            None
        );
        assert_eq!(
            std::fs::read_dir(folder.path())
                .expect("the folder")
                .count(),
            1,
            "no temporary file stays behind"
        );
    }
}
