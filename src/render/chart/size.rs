//! Sizes that all drawings share.

/// Grid units per pixel.
pub(super) const UNITS_PER_PIXEL: i32 = 100;

/// Size of all text, in pixels.
pub(super) const TEXT_PIXELS: u32 = 12;
