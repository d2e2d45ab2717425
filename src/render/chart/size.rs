//! Sizes that all drawings share.

/// Grid units per pixel.
pub(super) const UNIT: i32 = 100;

/// Size of all text, in pixels.
pub(super) const TEXT: u32 = 12;
