//! What is asked, and what comes back.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::outage::is_refusal;
use crate::config::Budget;
use crate::domain::{CostSource, ItemStatus, Repeated, Usage, visible};

/// The longest raw text that is kept.
pub const MOST_RAW_BYTES: usize = 256 * 1024;
/// The longest reason of a failure.
const MOST_REASON_CHARACTERS: usize = 2000;

/// One thing to ask an agent.
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    pub text: &'a str,
    pub system: Option<&'a str>,
    /// Which item it is, for answers recorded by item.
    pub item: Option<&'a str>,
    /// Given to programs as `EVAL_SEED`; also decides the jitter of retries.
    pub seed: u64,
    pub limits: Budget,
    /// Where a program starts, instead of in the project's folder.
    pub folder: Option<&'a Path>,
}

/// An answer within its limits.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The agent's last message, untouched but for secrets.
    pub text: String,
    pub measured: Measured,
}

/// What asking took. Absent is not measured.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub usage: Usage,
    /// The same tokens by the model that used them, where the agent tells of more than one.
    pub by_model: BTreeMap<String, Usage>,
    pub cost: Cost,
    /// How often the agent was called, where it is more than this once or its program says so.
    pub calls: Option<u64>,
    /// Turns of the agent.
    pub steps: Option<u64>,
    /// Tool calls by name; absent where the agent does not tell, empty where it used none.
    pub tools: Option<BTreeMap<String, u64>>,
    pub duration: Duration,
    /// Messages and tool calls in order, in the agent's own form.
    pub transcript: Vec<Value>,
    /// What the agent sent, shortened in the middle.
    pub raw: String,
    /// The model that answered, as the agent calls it.
    pub model: Option<String>,
    pub served: Served,
    /// What had to be repeated; absent where nobody tells.
    pub repeated: Option<Repeated>,
    /// Something odd that changed nothing.
    pub note: Option<String>,
}

/// By what an answer was made, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// The version of the agent's program, as it says.
    pub version: Option<String>,
    /// Who serves the model: as the configuration says, else the API's host.
    pub provider: Option<String>,
    /// Where, as the API's address or its answers say.
    pub region: Option<String>,
}

/// Money, and who says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    pub usd: Option<f64>,
    pub source: CostSource,
}

impl Default for Cost {
    fn default() -> Self {
        Self { usd: None, source: CostSource::Unknown }
    }
}

impl Cost {
    pub fn reported(usd: f64) -> Self {
        Self { usd: Some(usd), source: CostSource::Reported }
    }

    /// By a price table; unknown where that has no price.
    pub fn priced(usd: Option<f64>) -> Self {
        usd.map_or_else(Self::default, |usd| Self { usd: Some(usd), source: CostSource::Priced })
    }
}

/// No answer, or none within the limits.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub outlook: Outlook,
    /// Lower case, no final period, safe to show, bounded, without secrets.
    pub reason: String,
    /// What was measured until then.
    pub measured: Box<Measured>,
}

/// Whose fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The agent crashed.
    Error,
    /// Time or budget ran out.
    Limit,
    /// A service outage, a usage limit or a fault of this harness: says nothing about the agent.
    Infra,
    /// The user stopped it: there is nothing to record.
    Stopped,
}

/// What a failure lets expect of the next prompt to the same agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outlook {
    /// Nothing: it may well be answered.
    Open,
    /// The same failure, unless the agent has answered before: then it may be about this prompt.
    Doubtful,
    /// The same failure.
    Hopeless,
}

impl FailureKind {
    /// The status of an item that ended so; none where it has not ended.
    pub fn item_status(self) -> Option<ItemStatus> {
        match self {
            Self::Error => Some(ItemStatus::Error),
            Self::Limit => Some(ItemStatus::Limit),
            Self::Infra => Some(ItemStatus::Infra),
            Self::Stopped => None,
        }
    }
}

impl Failure {
    pub fn new(kind: FailureKind, reason: &str, measured: Measured) -> Self {
        let reason = shorten(&visible(reason.trim()), MOST_REASON_CHARACTERS);
        let outlook = if kind == FailureKind::Infra && is_refusal(&reason) { Outlook::Doubtful } else { Outlook::Open };
        Self { kind, outlook, reason, measured: Box::new(measured) }
    }

    #[must_use]
    pub fn with_outlook(self, outlook: Outlook) -> Self {
        Self { outlook: self.outlook.max(outlook), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for Failure {}

/// Keeps the beginning and the end of a long text, which is where errors and results stand.
///
/// A word that would be cut is left out whole, unless that were most of the text: half a key is found by nobody who looks for keys.
pub fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(most / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - most / 2)..];
    let between = |character: char| character.is_whitespace() || "\"'`,;<>(){}[]".contains(character);
    let begin = head.rfind(between).map_or(0, |place| place + 1);
    let end = tail.find(between).unwrap_or(tail.len());
    let is_cut = |character: Option<char>| !character.is_none_or(between);
    let head = if is_cut(text[head.len()..].chars().next()) && begin >= head.len() / 2 { head.get(..begin).unwrap_or(head) } else { head };
    let before = text[..text.len() - tail.len()].chars().next_back();
    let tail = if is_cut(before) && end <= tail.len() / 2 { &tail[end..] } else { tail };
    format!("{} […{} bytes left out…] {}", head, text.len() - head.len() - tail.len(), tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_both_ends_whole() {
        assert_eq!(shorten("short", 5), "short");
        let text = format!("ä{}end", "é".repeat(100));
        let short = shorten(&text, 11);
        assert!(short.starts_with("äé") && short.ends_with("éend") && short.contains("bytes left out"), "{short}");
    }

    #[test]
    fn no_key_is_cut() {
        let key = "sk-0123456789abcdef";
        for before in 0..120 {
            let text = format!("{}{key} {}{key}{}", "a b ".repeat(before), "x y ".repeat(50), "\" z,".repeat(before));
            let short = shorten(&text, 200);
            let rest = short.replace(key, "");
            assert!(!rest.contains("sk-") && !rest.contains("def"), "{before}: {short}");
        }
    }

    #[test]
    fn a_reason_is_safe_to_show_and_bounded() {
        let failure = Failure::new(FailureKind::Error, &format!("\x1b[31m{}", "x".repeat(1_000_000)), Measured::default());
        assert!(failure.reason.starts_with('␛') && failure.reason.len() < 2100, "{}", failure.reason.len());
    }
}
