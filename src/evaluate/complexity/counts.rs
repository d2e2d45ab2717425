//! What one file computes.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that hold code: no blank ones, no comments, no documentation.
    pub lines: u64,
    pub constants: u64,
    pub calls: u64,
    pub conditions: u64,
    pub loops: u64,
    pub assignments: u64,
    /// The text does not keep to the grammar; what does was counted.
    pub is_broken: bool,
}
