//! Following the links of a path step by step.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// Maximum number of links followed, as in operating systems.
pub(super) const MAX_LINKS: u32 = 40;

/// The file at a path.
pub(super) enum LinkStep {
    Nothing,
    /// A link and its target.
    Link(PathBuf),
    End(Metadata),
}

/// Looks at a path without following a link.
pub(super) fn read_step(place: &Path) -> io::Result<LinkStep> {
    match files::missing_as_none(fs::symlink_metadata(place))? {
        None => Ok(LinkStep::Nothing),
        Some(metadata) if metadata.is_symlink() => {
            Ok(LinkStep::Link(folder_of(place).join(fs::read_link(place)?)))
        }
        Some(metadata) => Ok(LinkStep::End(metadata)),
    }
}

/// Returns the parent folder of a path.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
