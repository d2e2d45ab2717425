//! The facts of a format, and the handle by which the rest of the program speaks of it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::domain::ItemKind;

/// What is known of a format before a file of it is read.
#[derive(Debug)]
pub(super) struct Facts {
    /// The name that `--as` takes and provenance has. No two formats share one.
    pub name: &'static str,
    /// The name that the tool has in prose.
    pub title: &'static str,
    /// What the items of the tool are, where a file does not say otherwise of some.
    pub kind: ItemKind,
    /// Whether a file's name is part of what it says, so that the same bytes under another name are another import.
    pub reads_names: bool,
    /// Goes up by one when the importer gives other records for the same bytes: what was imported before is then read again, and replaced
    /// where it differs.
    pub version: u32,
}

/// A format that is read: a handle, the same as another where the names are.
#[derive(Clone, Copy)]
pub struct ForeignFormat(pub(super) &'static Facts);

impl ForeignFormat {
    /// Returns the name that `--as` takes and provenance has.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the name that the tool has in prose.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    pub(super) fn kind(self) -> ItemKind {
        self.0.kind
    }

    pub(super) fn reads_names(self) -> bool {
        self.0.reads_names
    }

    /// Returns the version of its importer, which is raised when the same bytes give other records.
    pub fn version(self) -> u32 {
        self.0.version
    }
}

impl fmt::Debug for ForeignFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl PartialEq for ForeignFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for ForeignFormat {}

impl PartialOrd for ForeignFormat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ForeignFormat {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl Hash for ForeignFormat {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
