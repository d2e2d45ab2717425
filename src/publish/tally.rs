//! Counts of transcripts shown, cut and not shown.

use serde::{Deserialize, Serialize};

/// Counts of transcripts shown, cut and not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TranscriptTally {
    pub shown: u64,
    pub cut: u64,
    pub left_out: u64,
    pub left_out_bytes: u64,
    /// Bytes of text on pages.
    pub spent: u64,
    /// Whether a wanted transcript had no room.
    pub was_short: bool,
}

impl TranscriptTally {
    pub fn add(&mut self, other: &Self) {
        self.shown += other.shown;
        self.cut += other.cut;
        self.left_out += other.left_out;
        self.left_out_bytes += other.left_out_bytes;
        self.spent += other.spent;
        self.was_short |= other.was_short;
    }
}
