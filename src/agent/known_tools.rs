//! Which type of agent is which program.

use crate::config::AgentKind;

use super::tool::Tool;
use super::{claude, codex, gemini, opencode};

/// Returns the coding agent of this type, or `None` if the type has no command line program of its own.
pub fn tool_of(kind: AgentKind) -> Option<&'static Tool> {
    match kind {
        AgentKind::Claude => Some(&claude::TOOL),
        AgentKind::Codex => Some(&codex::TOOL),
        AgentKind::Gemini => Some(&gemini::TOOL),
        AgentKind::Opencode => Some(&opencode::TOOL),
        AgentKind::Command | AgentKind::Anthropic | AgentKind::Openai | AgentKind::Replay => None,
    }
}
