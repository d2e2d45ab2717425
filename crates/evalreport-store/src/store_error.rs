//! Errors of writing to the store or opening it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::domain::{Problems, escape_invisible};

/// An error of writing to the store or opening it.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{action} {}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("run `{id}` is already in the store at {}", path.display())]
    Exists { id: String, path: PathBuf },
    #[error("run `{id}` is being written by another process at {}", path.display())]
    InFlight { id: String, path: PathBuf },
    #[error("{0}")]
    Invalid(Problems),
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// Returns the message with its cause, on one line.
    pub fn full_message(&self) -> String {
        let source = std::error::Error::source(self)
            .map_or_else(String::new, |source| format!(": {source}"));
        escape_invisible(&format!("{self}{source}"))
    }
}
