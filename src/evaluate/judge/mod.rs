//! The judge: an agent that is asked whether statements about a piece of work hold.
//!
//! What it is shown was written by the agent under judgement, and what it replies is foreign text, too: the one goes into its prompt
//! behind a [`fence::Fence`], the other through [`reply::parse_reply`], which takes nothing for a pass but a plain `true` beside a statement's own name.

use std::time::Duration;

use crate::agent::Agent;

mod fence;
mod opinion;
mod question;
mod reply;
mod tally;

pub(super) use opinion::{Decision, Opinion};
pub(super) use question::{Question, grouped, prompt_sha256};

/// An agent with the say over criteria, and how it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    pub agent: &'a Agent,
    /// How often each question is asked; the majority decides. 0 counts as 1.
    pub votes: u64,
    /// Whether a reply that cannot be read fails everything it was to decide, instead of leaving it unevaluated.
    pub is_strict: bool,
    /// Bounds each question, its repetitions after outages included.
    pub timeout: Option<Duration>,
}

/// In which order criteria are put to the judge. One that is not swayed by it decides the same either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// That of the suite.
    #[default]
    Given,
    Reversed,
}
