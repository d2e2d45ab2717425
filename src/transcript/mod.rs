//! Usage reported in the transcripts of coding agents: tokens by model, and tools. Each is counted once, even if the transcript repeats it.
//!
//! Transcripts come from agents run here, which print them, and from sessions of users, which are stored in files.

mod claude;
mod codex;
mod usage;

pub use claude::{Message, Messages, speaks};
pub use codex::{Thread, Told, event, is_new_try};
pub use usage::{as_amount, as_count, find_cost, find_count, find_usage};

use crate::domain::Usage;

/// The usage of one request to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The model's name as the agent reports it, if at all.
    pub model: Option<String>,
    pub usage: Usage,
    /// Of the tokens written to the cache, those that it keeps for an hour.
    pub long_writes: u64,
    /// The time as written in the transcript.
    pub time: Option<String>,
}
