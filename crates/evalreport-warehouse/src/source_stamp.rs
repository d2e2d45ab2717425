//! A file that the warehouse read, with its stamp to detect changes.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::to_nanoseconds;

/// The state of a file as the file system reports it, without reading the content.
///
/// On Unix it includes the inode and the change time: a program can set a file's modification time, but not these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    pub(super) bytes: u64,
    modified_nanos: i64,
    changed_nanos: i64,
    inode: u64,
}

impl FileStamp {
    /// Makes the stamp of content outside of files, whose state a text tells.
    pub(super) fn from_state_text(state: &str) -> Self {
        let digest = Sha256::digest(state.as_bytes());
        let number = |place: usize| {
            digest[place..place + 8]
                .iter()
                .fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        Self {
            bytes: 0,
            modified_nanos: 0,
            changed_nanos: number(0).cast_signed(),
            inode: number(8),
        }
    }

    pub fn from_path(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|metadata| Self::from_metadata(&metadata))
    }

    pub fn from_metadata(metadata: &Metadata) -> Self {
        let modified_nanos = metadata.modified().map_or(0, to_nanoseconds);
        #[cfg(unix)]
        let (changed_nanos, inode) = {
            use std::os::unix::fs::MetadataExt;
            (
                metadata
                    .ctime()
                    .wrapping_mul(1_000_000_000)
                    .wrapping_add(metadata.ctime_nsec()),
                metadata.ino(),
            )
        };
        #[cfg(not(unix))]
        let (changed_nanos, inode) = (0, 0);
        Self {
            bytes: metadata.len(),
            modified_nanos,
            changed_nanos,
            inode,
        }
    }
}
