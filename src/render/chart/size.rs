//! The sizes that everything drawn is measured by.

/// Units of the grid in one pixel.
pub(super) const UNIT: i32 = 100;

/// The size of all text, in pixels.
pub(super) const TEXT: u32 = 12;
