//! A file that is put into its place complete, or not at all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::to_hex;
use crate::results::AtomicOutput;

use super::super::display_path::display_path;
use super::super::failure::CommandFailure;

/// A file being written. Dropping it without [`OutputFile::commit`] leaves nothing behind.
pub(super) struct OutputFile {
    path: PathBuf,
    writer: BufWriter<AtomicOutput>,
    digest: Sha256,
}

impl OutputFile {
    pub fn create(path: &Path) -> Result<Self, CommandFailure> {
        if path.is_dir() {
            return Err(CommandFailure::new(format!(
                "{} is a folder, and a file is to be written",
                display_path(path)
            )));
        }
        let file = AtomicOutput::create(path).map_err(|error| {
            CommandFailure::new(format!("cannot write {}: {error}", display_path(path)))
        })?;
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::with_capacity(256 << 10, file),
            digest: Sha256::new(),
        })
    }

    pub fn push(&mut self, text: &str) -> Result<(), CommandFailure> {
        self.digest.update(text);
        self.writer.write_all(text.as_bytes()).map_err(|error| {
            CommandFailure::new(format!(
                "cannot write {}: {error}",
                display_path(&self.path)
            ))
        })
    }

    /// Puts the file into its place. Returns the SHA-256 of its bytes in lower-case hex.
    pub fn commit(self) -> Result<String, CommandFailure> {
        let cannot = |error: std::io::Error| {
            CommandFailure::new(format!(
                "cannot write {}: {error}",
                display_path(&self.path)
            ))
        };
        let file = self
            .writer
            .into_inner()
            .map_err(|error| cannot(error.into_error()))?;
        file.commit().map_err(cannot)?;
        Ok(to_hex(&self.digest.finalize()))
    }
}
