//! What a command's exit code says. A panic is a bug and has its own.

/// Done.
pub const DONE: u8 = 0;
/// Done, and the answer is negative: damage found, or a regression.
pub const NEGATIVE: u8 = 1;
/// Bad arguments, configuration or data, and every refusal of `--strict`.
pub const BAD_INPUT: u8 = 2;
/// Stopped by the user; what was done is kept.
pub const INTERRUPTED: u8 = 130;
/// Done, and the data do not say: a gate's bound lies within the interval, or there is no baseline; nothing was measured of an arm; or a
/// judge that was wanted left something undecided.
pub const INCONCLUSIVE: u8 = 3;
