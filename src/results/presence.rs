//! Whether a file is there.
//!
//! "Not there" is an answer; that the system could not look is none. Taken for one, it would do finished work again, or leave out what is
//! there.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use crate::files;

/// Says whether there is a regular file of that name, following links.
pub(super) fn is_file(path: &Path) -> io::Result<bool> {
    is(path, Metadata::is_file)
}

/// The same of one with anything in it.
pub(super) fn is_filled(path: &Path) -> io::Result<bool> {
    is(path, |metadata| metadata.is_file() && metadata.len() > 0)
}

/// Says whether there is a folder of that name, following links.
pub(super) fn is_folder(path: &Path) -> io::Result<bool> {
    is(path, Metadata::is_dir)
}

/// Says whether there is something of that name that is as wanted, following links.
pub(super) fn is(path: &Path, wanted: impl Fn(&Metadata) -> bool) -> io::Result<bool> {
    match files::if_there(fs::metadata(path))? {
        // A pipe in its place is neither an answer.
        Some(metadata) => files::check(&metadata).map(|()| wanted(&metadata)),
        None => Ok(false),
    }
}
