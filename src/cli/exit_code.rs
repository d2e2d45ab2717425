//! Exit codes of commands. A panic is a bug and has its own code.

/// Done.
pub const DONE: u8 = 0;
/// Done, with a negative answer: damage found, or a regression.
pub const NEGATIVE: u8 = 1;
/// Wrong arguments, configuration or data, and every refusal by `--strict`.
pub const BAD_INPUT: u8 = 2;
/// Stopped by the user; finished work is kept.
pub const INTERRUPTED: u8 = 130;
/// Done, but inconclusive: a gate's bound lies within the interval, or there is no baseline; an arm has no measurement; or a requested
/// judge left something undecided.
pub const INCONCLUSIVE: u8 = 3;
