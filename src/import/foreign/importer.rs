//! The value that each format's module gives to the registry.

use std::path::Path;

use super::super::report::SourceReport;
use super::super::rows::Stop;
use super::claim::Claim;
use super::format::{Facts, ForeignFormat};
use super::peek::Peek;
use super::sink::Sink;
use super::source::ForeignSource;

/// Decides from a first look whether a file is of the format, and which files belong with it.
type Claims = fn(&Peek) -> Option<Claim>;
/// Reads a source into the sink.
type Reads = fn(&ForeignSource, &mut Sink<'_>) -> Result<(), Stop>;
/// Arranges the sources of a command before the first is read, among them those of its own format: which replace or repeat others. Returns
/// a report on each source that it removes.
type Arranges = fn(ForeignFormat, &mut Vec<ForeignSource>) -> Vec<SourceReport>;

/// A format with the functions that read it. Each format's module has one, named `FORMAT`.
pub(super) struct Format {
    pub facts: Facts,
    pub claim: Claims,
    pub read: Reads,
    /// Returns whether an unread file, by its path below a source's folder, is one that the tool leaves there.
    pub is_companion: fn(&Path) -> bool,
    pub arrange: Option<Arranges>,
    /// Tag that names the task of a run, if a later run with the same tag value replaces an earlier one.
    pub retry_tag: Option<&'static str>,
    /// The tool's files have tokens but no costs. The configuration's prices turn tokens into costs.
    pub prices_tokens: bool,
}

impl Format {
    pub const fn new(facts: Facts, claim: Claims, read: Reads) -> Self {
        Self {
            facts,
            claim,
            read,
            is_companion: |_| false,
            arrange: None,
            retry_tag: None,
            prices_tokens: false,
        }
    }

    pub const fn with_companions(self, is_companion: fn(&Path) -> bool) -> Self {
        Self {
            is_companion,
            ..self
        }
    }

    pub const fn with_arrangement(self, arrange: Arranges) -> Self {
        Self {
            arrange: Some(arrange),
            ..self
        }
    }

    pub const fn with_retries(self, tag: &'static str) -> Self {
        Self {
            retry_tag: Some(tag),
            ..self
        }
    }

    pub const fn with_prices(self) -> Self {
        Self {
            prices_tokens: true,
            ..self
        }
    }

    pub fn handle(&'static self) -> ForeignFormat {
        ForeignFormat(&self.facts)
    }
}
