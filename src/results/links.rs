//! Following the links of a path, a step at a time.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// As many as systems follow.
pub(super) const MOST_LINKS: u32 = 40;

/// What is at a path.
pub(super) enum Step {
    Nothing,
    /// A link, and where it leads.
    Link(PathBuf),
    End(Metadata),
}

/// Looks at a path without following it.
pub(super) fn step(place: &Path) -> io::Result<Step> {
    match files::if_there(fs::symlink_metadata(place))? {
        None => Ok(Step::Nothing),
        Some(metadata) if metadata.is_symlink() => Ok(Step::Link(folder_of(place).join(fs::read_link(place)?))),
        Some(metadata) => Ok(Step::End(metadata)),
    }
}

/// Returns the folder that a path lies in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
