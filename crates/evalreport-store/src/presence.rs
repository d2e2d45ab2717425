//! Whether a file exists.
//!
//! A missing file is an answer, but a failed check is an error. Confusing them would repeat finished work or omit existing files.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use crate::files;

/// Returns whether there is a regular file with this name, following links.
pub(super) fn is_file(path: &Path) -> io::Result<bool> {
    matches_metadata(path, Metadata::is_file)
}

/// Returns whether there is a regular file with this name that is not empty, following links.
pub(super) fn is_filled(path: &Path) -> io::Result<bool> {
    matches_metadata(path, |metadata| metadata.is_file() && metadata.len() > 0)
}

/// Returns whether there is a folder with this name, following links.
pub(super) fn is_folder(path: &Path) -> io::Result<bool> {
    matches_metadata(path, Metadata::is_dir)
}

/// Returns whether there is an entry with this name whose metadata are as wanted, following links.
pub(super) fn matches_metadata(
    path: &Path,
    wanted: impl Fn(&Metadata) -> bool,
) -> io::Result<bool> {
    match files::missing_as_none(fs::metadata(path))? {
        // A pipe or device in its place is an error too.
        Some(metadata) => files::check_regular(&metadata).map(|()| wanted(&metadata)),
        None => Ok(false),
    }
}
