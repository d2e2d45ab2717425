//! Following the links of a path step by step.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// Maximum number of links followed, as in operating systems.
pub(super) const MOST_LINKS: u32 = 40;

/// The file at a path.
pub(super) enum Step {
    Nothing,
    /// A link and its target.
    Link(PathBuf),
    End(Metadata),
}

/// Looks at a path without following a link.
pub(super) fn step(place: &Path) -> io::Result<Step> {
    match files::if_there(fs::symlink_metadata(place))? {
        None => Ok(Step::Nothing),
        Some(metadata) if metadata.is_symlink() => {
            Ok(Step::Link(folder_of(place).join(fs::read_link(place)?)))
        }
        Some(metadata) => Ok(Step::End(metadata)),
    }
}

/// Returns the parent folder of a path.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
