//! A file that is put into its place complete, or not at all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::hex;
use crate::results::WholeFile;

use super::super::failure::Failure;
use super::super::shown::shown;

/// A file being written. Dropping it without [`Written::commit`] leaves nothing behind.
pub(super) struct Written {
    path: PathBuf,
    writer: BufWriter<WholeFile>,
    digest: Sha256,
}

impl Written {
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Err(Failure::new(format!(
                "{} is a folder, and a file is to be written",
                shown(path)
            )));
        }
        let file = WholeFile::create(path)
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", shown(path))))?;
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::with_capacity(256 << 10, file),
            digest: Sha256::new(),
        })
    }

    pub fn push(&mut self, text: &str) -> Result<(), Failure> {
        self.digest.update(text);
        self.writer
            .write_all(text.as_bytes())
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", shown(&self.path))))
    }

    /// Puts the file into its place. Returns the SHA-256 of its bytes in lower-case hex.
    pub fn commit(self) -> Result<String, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::new(format!("cannot write {}: {error}", shown(&self.path)))
        };
        let file = self
            .writer
            .into_inner()
            .map_err(|error| cannot(error.into_error()))?;
        file.commit().map_err(cannot)?;
        Ok(hex(&self.digest.finalize()))
    }
}
