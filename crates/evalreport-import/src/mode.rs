//! Whether an import writes.

/// Whether an import writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    Store,
    /// Everything but writing.
    DryRun,
}
