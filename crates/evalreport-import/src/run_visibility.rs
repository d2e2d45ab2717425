//! Whether a stored run counts.

/// Whether a stored run counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunVisibility {
    Counts,
    /// A tombstone names the run, for this reason.
    Retracted(String),
    /// A tombstone of a suite, an arm or another selection hides the run, for this reason.
    Covered(String),
}
