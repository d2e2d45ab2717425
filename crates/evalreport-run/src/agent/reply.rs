//! Prompts to agents, and their replies or failures.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::config::QuestionBudget;
use crate::domain::{CostSource, ItemStatus, Repeated, Usage, escape_invisible, is_refusal};
use crate::transcript::ModelRequest;

/// Maximum bytes of raw text kept.
pub const MAX_RAW_BYTES: usize = 256 * 1024;
/// Maximum length of a failure's reason.
const MAX_REASON_CHARACTERS: usize = 2000;

/// One prompt to an agent.
#[derive(Clone, Debug)]
pub struct AgentPrompt<'a> {
    pub text: &'a str,
    pub system: Option<&'a str>,
    /// The item's id, for answers recorded by item.
    pub item: Option<&'a str>,
    /// Passed to programs as `EVAL_SEED`. Also determines the jitter of retries.
    pub seed: u64,
    pub limits: QuestionBudget,
    /// Where a program starts, if not in the project's folder.
    pub folder: Option<&'a Path>,
}

/// An answer within its limits.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The agent's last message, unchanged except for removed secrets.
    pub text: String,
    pub measured: ReplyMeasurements,
}

/// The measurements of one prompt. Absent means not measured.
#[derive(Clone, Debug, Default)]
pub struct ReplyMeasurements {
    pub usage: Usage,
    /// The tokens by model, if the agent reports more than one model.
    pub by_model: BTreeMap<String, Usage>,
    /// The requests whose tokens are all of `usage`, if each can be priced on its own.
    pub requests: Vec<ModelRequest>,
    pub cost: Cost,
    /// Number of agent calls, if there was more than one or the program reports it.
    pub calls: Option<u64>,
    /// Turns of the agent.
    pub steps: Option<u64>,
    /// Tool calls by name: absent if the agent does not report them, empty if it made none.
    pub tools: Option<BTreeMap<String, u64>>,
    pub duration: Duration,
    /// Messages and tool calls in order, in the agent's own form.
    pub transcript: Vec<Value>,
    /// The agent's raw output, with the middle cut out if it is long.
    pub raw: String,
    /// The answering model, as the agent names it.
    pub model: Option<String>,
    pub served: ServedBy,
    /// Repeated requests; absent if not reported.
    pub repeated: Option<Repeated>,
    /// A remark about something unusual that did not affect the result.
    pub note: Option<String>,
}

/// What produced an answer, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedBy {
    /// The version that the agent's program reports.
    pub version: Option<String>,
    /// The model's provider: from the configuration, or else the API's host.
    pub provider: Option<String>,
    /// The region, from the API's address or its responses.
    pub region: Option<String>,
}

/// A cost and its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    pub usd: Option<f64>,
    pub source: CostSource,
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            usd: None,
            source: CostSource::Unknown,
        }
    }
}

impl Cost {
    pub fn from_report(usd: f64) -> Self {
        Self {
            usd: Some(usd),
            source: CostSource::Reported,
        }
    }

    /// A cost from a price table; unknown if the table has no price.
    pub fn from_price_table(usd: Option<f64>) -> Self {
        usd.map_or_else(Self::default, |usd| Self {
            usd: Some(usd),
            source: CostSource::Priced,
        })
    }
}

/// A failure to answer, or to answer within the limits.
#[derive(Clone, Debug)]
pub struct AgentFailure {
    pub kind: AgentFailureKind,
    pub outlook: FailureOutlook,
    /// Starts in lower case, has no final period and no secrets, and is short and safe to show.
    pub reason: String,
    /// The measurements up to the failure.
    pub measured: Box<ReplyMeasurements>,
}

/// Whose fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentFailureKind {
    /// The agent crashed.
    Error,
    /// Time or budget ran out.
    Limit,
    /// A service outage, a usage limit or a fault of this harness. It tells nothing about the agent.
    Infra,
    /// The user stopped it. Nothing is recorded.
    Stopped,
}

/// What a failure implies for the next prompt to the same agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureOutlook {
    /// Nothing: the next prompt may well be answered.
    Open,
    /// The program did not start: see `domain::is_failed_start`. If it never starts, the next prompts end alike.
    Unstarted,
    /// The same failure, unless the agent has answered before: then only this prompt may be at fault.
    Doubtful,
    /// The same failure.
    Hopeless,
}

impl AgentFailureKind {
    /// Returns the status of the item, or `None` if the user stopped it.
    pub fn item_status(self) -> Option<ItemStatus> {
        match self {
            Self::Error => Some(ItemStatus::Error),
            Self::Limit => Some(ItemStatus::Limit),
            Self::Infra => Some(ItemStatus::Infra),
            Self::Stopped => None,
        }
    }
}

impl AgentFailure {
    pub fn new(kind: AgentFailureKind, reason: &str, measured: ReplyMeasurements) -> Self {
        let reason = shorten_middle(&escape_invisible(reason.trim()), MAX_REASON_CHARACTERS);
        let outlook = if kind == AgentFailureKind::Infra && is_refusal(&reason) {
            FailureOutlook::Doubtful
        } else {
            FailureOutlook::Open
        };
        Self {
            kind,
            outlook,
            reason,
            measured: Box::new(measured),
        }
    }

    #[must_use]
    pub fn with_outlook(self, outlook: FailureOutlook) -> Self {
        Self {
            outlook: self.outlook.max(outlook),
            ..self
        }
    }
}

impl fmt::Display for AgentFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for AgentFailure {}

/// Shortens a long text to its beginning and its end, where errors and results are.
///
/// Drops a word at the cut, unless it is more than half of its part: filters for secrets would not find half a key.
pub fn shorten_middle(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(most / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - most / 2)..];
    let between =
        |character: char| character.is_whitespace() || "\"'`,;<>(){}[]".contains(character);
    let begin = head.rfind(between).map_or(0, |place| place + 1);
    let end = tail.find(between).unwrap_or(tail.len());
    let is_cut = |character: Option<char>| !character.is_none_or(between);
    let head = if is_cut(text[head.len()..].chars().next()) && begin >= head.len() / 2 {
        head.get(..begin).unwrap_or(head)
    } else {
        head
    };
    let before = text[..text.len() - tail.len()].chars().next_back();
    let tail = if is_cut(before) && end <= tail.len() / 2 {
        &tail[end..]
    } else {
        tail
    };
    format!(
        "{} […{} bytes left out…] {}",
        head,
        text.len() - head.len() - tail.len(),
        tail
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_both_ends_whole() {
        assert_eq!(shorten_middle("short", 5), "short");
        let text = format!("ä{}end", "é".repeat(100));
        let short = shorten_middle(&text, 11);
        assert!(
            short.starts_with("äé") && short.ends_with("éend") && short.contains("bytes left out"),
            "{short}"
        );
    }

    #[test]
    fn no_key_is_cut() {
        let key = "sk-0123456789abcdef";
        for before in 0..120 {
            let text = format!(
                "{}{key} {}{key}{}",
                "a b ".repeat(before),
                "x y ".repeat(50),
                "\" z,".repeat(before)
            );
            let short = shorten_middle(&text, 200);
            let rest = short.replace(key, "");
            assert!(
                !rest.contains("sk-") && !rest.contains("def"),
                "{before}: {short}"
            );
        }
    }

    #[test]
    fn a_reason_is_safe_to_show_and_bounded() {
        let failure = AgentFailure::new(
            AgentFailureKind::Error,
            &format!("\x1b[31m{}", "x".repeat(1_000_000)),
            ReplyMeasurements::default(),
        );
        assert!(
            failure.reason.starts_with('␛') && failure.reason.len() < 2100,
            "{}",
            failure.reason.len()
        );
    }
}
