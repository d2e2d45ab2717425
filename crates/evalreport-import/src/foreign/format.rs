//! Facts about a format, and the handle that the rest of the program uses for it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::domain::ItemKind;

/// Facts about a format that are known before a file is read.
#[derive(Debug)]
pub(super) struct FormatFacts {
    /// Name for `--as` and in provenance. No two formats share one.
    pub name: &'static str,
    /// The tool's name in prose.
    pub title: &'static str,
    /// Kind of the tool's items, unless a file says otherwise.
    pub kind: ItemKind,
    /// Whether a file's name is part of its content, so that the same bytes under another name are another import.
    pub reads_names: bool,
    /// Goes up by one when the importer makes other records from the same bytes. Sources imported before are then read again and replaced
    /// if they differ.
    pub version: u32,
}

/// Handle of a format. Two handles are equal if their names are.
#[derive(Clone, Copy)]
pub struct ForeignFormat(pub(super) &'static FormatFacts);

impl ForeignFormat {
    /// Returns the name for `--as` and in provenance.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the tool's name in prose.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    pub(super) fn kind(self) -> ItemKind {
        self.0.kind
    }

    pub(super) fn reads_names(self) -> bool {
        self.0.reads_names
    }

    /// Returns the importer's version, which goes up when the same bytes give other records.
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
