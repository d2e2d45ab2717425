//! Errors of queries.

use std::io;
use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;
use thiserror::Error;

use crate::domain::escape_invisible;

/// Why a query has no result. In lower case, without a final full stop.
#[derive(Debug, Error)]
pub enum SqlError {
    #[error("the query is not SQL: {0}")]
    Syntax(String),
    #[error("{0}")]
    Refused(String),
    #[error("the query failed: {0}")]
    Failed(String),
    #[error("cannot use {}: {message}", path.display())]
    Cache { path: PathBuf, message: String },
    #[error("cannot read {}: {message}", path.display())]
    Unread { path: PathBuf, message: String },
}

impl SqlError {
    pub(super) fn from_cache_error(path: &Path, error: &io::Error) -> Self {
        Self::Cache {
            path: path.to_owned(),
            message: error.to_string(),
        }
    }

    pub(super) fn from_read_error(path: &Path, error: &io::Error) -> Self {
        Self::Unread {
            path: path.to_owned(),
            message: error.to_string(),
        }
    }
}

impl From<PolarsError> for SqlError {
    fn from(error: PolarsError) -> Self {
        Self::Failed(escape_invisible(&error.to_string()))
    }
}
