//! Counts of the code elements in one file.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeElementCounts {
    /// Lines of code, without blank lines, comments and documentation.
    pub lines: u64,
    pub constants: u64,
    pub calls: u64,
    pub conditions: u64,
    pub loops: u64,
    pub assignments: u64,
    /// Whether the text has syntax errors. Its valid parts were counted.
    pub is_broken: bool,
}
