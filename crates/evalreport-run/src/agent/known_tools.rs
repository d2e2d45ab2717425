//! Which type of agent is which program.

use crate::config::AgentKind;

use super::tool::CodingAgent;
use super::{claude, codex, gemini, opencode};

/// Returns the coding agent of this type, or `None` if the type has no command line program of its own.
pub fn coding_agent_of(kind: AgentKind) -> Option<&'static CodingAgent> {
    match kind {
        AgentKind::Claude => Some(&claude::CODING_AGENT),
        AgentKind::Codex => Some(&codex::CODING_AGENT),
        AgentKind::Gemini => Some(&gemini::CODING_AGENT),
        AgentKind::Opencode => Some(&opencode::CODING_AGENT),
        AgentKind::Command | AgentKind::Anthropic | AgentKind::Openai | AgentKind::Replay => None,
    }
}
