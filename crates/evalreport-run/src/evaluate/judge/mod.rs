//! The judge: an agent that decides whether statements about a piece of work are true.
//!
//! The agent under judgement wrote the material that the judge sees, and the judge's reply is untrusted text, too. The material goes into
//! the prompt behind a [`fence::Fence`]. The reply goes through [`reply::parse_reply`], which accepts only a plain `true` for a named
//! statement as a pass.

use std::time::Duration;

use crate::agent::Agent;

mod fence;
mod opinion;
mod question;
mod reply;
mod tally;

pub(super) use opinion::{JudgeOpinion, StatementDecision};
pub(super) use question::{JudgeQuestion, prompt_sha256, split_into_groups};

/// An agent that decides about criteria, and how it is asked.
#[derive(Clone, Copy, Debug)]
pub struct JudgeAgent<'a> {
    pub agent: &'a Agent,
    /// How often each question is asked; the majority decides. 0 counts as 1.
    pub votes: u64,
    /// If true, a reply that cannot be read fails all statements it should have decided. If false, it leaves them unevaluated.
    pub is_strict: bool,
    /// Time limit for each question, including retries after outages.
    pub timeout: Option<Duration>,
}

/// Order in which criteria are shown to the judge. A judge without position bias decides alike in both orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CriteriaOrder {
    /// The order in the suite.
    #[default]
    Given,
    Reversed,
}
