//! The judge: the agent that decides whether criteria are met.

use std::time::Duration;

use super::duration;
use super::ids::Ids;
use crate::document::Fields;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeConfig {
    /// The id of a declared agent.
    pub agent: String,
    /// Overrides the agent's own model.
    pub model: Option<String>,
    /// Number of votes per criterion; the majority decides. At least 1.
    pub votes: Option<u64>,
    /// Whether an unreadable reply fails the criteria. Otherwise they stay unevaluated.
    pub strict: bool,
    pub timeout: Option<Duration>,
}

pub(super) fn read_section(fields: &mut Fields, agents: &Ids) -> Option<JudgeConfig> {
    let mut fields = fields.fields("judge")?;
    if fields.child("agent").is_none() {
        fields.reject_missing("agent");
    }
    let agent = agents.read_reference(&mut fields, "agent");
    let model = fields.text("model");
    let votes = fields.positive("votes");
    let strict = fields.boolean("strict").unwrap_or_default();
    let timeout = duration::read_duration(&mut fields, "timeout");
    fields.finish();
    Some(JudgeConfig {
        agent: agent?,
        model,
        votes,
        strict,
        timeout,
    })
}
