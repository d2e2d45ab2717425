//! What the transcripts of coding agents say that was used: tokens by the model that used them, and tools, each counted once however often
//! the transcript repeats it.
//!
//! An agent that is run here prints its transcript, and one that somebody used leaves it in a file. Both are counted here.

mod claude;
mod codex;
mod usage;

pub use claude::{Message, Messages, speaks};
pub use codex::{Thread, Told, event, is_new_try};
pub use usage::{as_amount, as_count, find_cost, find_count, find_usage};

use crate::domain::Usage;

/// What one request to a model took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// As the agent calls it; absent where it does not say.
    pub model: Option<String>,
    pub usage: Usage,
    /// When, as the transcript writes it.
    pub time: Option<String>,
}
