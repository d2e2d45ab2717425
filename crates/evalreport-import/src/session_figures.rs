//! Figures of a session or of several, and the runs that hold them.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{CostSource, Run, Usage};

use super::texts::clip_text;

/// Tag with a session's id. Only runs that are a session have it.
pub(super) const SESSION_ID_TAG: &str = "session_id";
/// Tag with the sessions in which a run was made: ids separated by spaces or commas.
const NAMED_SESSIONS_TAG: &str = "session";
const TOOLS_TAG: &str = "tools";
const MODELS_TAG: &str = "models";
pub(super) const MAX_TAG_CHARS: usize = 500;

/// Returns the sessions in which a run was made.
pub(super) fn named_sessions(run: &Run) -> impl Iterator<Item = &str> {
    run.tags
        .get(NAMED_SESSIONS_TAG)
        .into_iter()
        .flat_map(|named| named.split([',', ' ']))
        .filter(|session| !session.is_empty())
}

/// Usage of one or several sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SessionFigures {
    pub usage: Usage,
    /// Each model's tokens and number of requests.
    pub by_model: BTreeMap<String, (Usage, u64)>,
    pub tools: BTreeMap<String, u64>,
    /// Number of requests to models.
    pub requests: u64,
    /// Number of prompts by people.
    pub prompts: u64,
    pub usd: Option<(f64, CostSource)>,
    /// First and last time.
    pub span: Option<(DateTime<Utc>, DateTime<Utc>)>,
    pub agent: Option<String>,
}

impl SessionFigures {
    /// Reads the figures of a stored session.
    pub fn from_run(run: &Run) -> Self {
        let usage = run.usage.unwrap_or_default();
        let requests = run.turns.unwrap_or(0);
        let listed = |tag: &str| run.tags.get(tag).map(String::as_str).unwrap_or_default();
        let tool = |part: &str| {
            part.rsplit_once(' ')
                .and_then(|(tool, calls)| Some((tool.to_owned(), calls.parse().ok()?)))
        };
        let mut by_model: BTreeMap<String, (Usage, u64)> = listed(MODELS_TAG)
            .split(", ")
            .filter_map(parse_model_usage)
            .collect();
        if let Some(model) = run.reported_model.as_ref().filter(|_| by_model.is_empty()) {
            by_model.insert(model.clone(), (usage, requests));
        }
        let before = |last: DateTime<Utc>| {
            let milliseconds = (run.duration_seconds.unwrap_or(0.0) * 1000.0).round();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the cast saturates, and a session is no age"
            )]
            last.checked_sub_signed(TimeDelta::milliseconds(milliseconds as i64))
                .unwrap_or(last)
        };
        Self {
            usage,
            by_model,
            tools: listed(TOOLS_TAG).split(", ").filter_map(tool).collect(),
            requests,
            prompts: run.total_calls.unwrap_or(0),
            usd: run.cost_usd.map(|usd| (usd, run.cost_source)),
            span: run.timestamp.map(|last| (before(last), last)),
            agent: run.agent.clone(),
        }
    }

    /// Adds the figures of other messages. The cost is unknown if one of the two is.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.usd = match (self.usd, other.usd) {
            (Some((usd, source)), Some((added, by))) => Some((usd + added, source.max(by))),
            (usd, None) if other.usage.total().is_none_or(|tokens| tokens == 0) => usd,
            (None, usd) if self.usage.total().is_none_or(|tokens| tokens == 0) => usd,
            _ => None,
        };
        self.usage = self.usage.plus(&other.usage);
        for (model, (usage, requests)) in other.by_model {
            let known = self.by_model.entry(model).or_default();
            *known = (known.0.plus(&usage), known.1 + requests);
        }
        for (tool, calls) in other.tools {
            *self.tools.entry(tool).or_default() += calls;
        }
        self.requests += other.requests;
        self.prompts += other.prompts;
        self.span = match (self.span, other.span) {
            (Some((first, last)), Some((begin, end))) => Some((first.min(begin), last.max(end))),
            (one, other) => one.or(other),
        };
        self.agent = self.agent.max(other.agent);
        self
    }

    /// Returns the model that wrote most; other models assist it.
    pub fn main_model(&self) -> &str {
        self.by_model
            .iter()
            .max_by_key(|(_, (usage, _))| usage.output)
            .map_or("", |(model, _)| model.as_str())
    }

    /// Gives the run each figure that it lacks. Tokens are one figure, of all kinds together.
    pub fn fill_run(self, run: &mut Run) {
        let some = |count: u64| Some(count).filter(|count| *count > 0);
        if run.usage.is_none()
            && [run.input_tokens, run.output_tokens, run.total_tokens]
                .iter()
                .all(Option::is_none)
        {
            run.usage = Some(self.usage).filter(|usage| *usage != Usage::default());
            (run.input_tokens, run.output_tokens) = (self.usage.input_total(), self.usage.output);
            run.total_tokens = run
                .input_tokens
                .and_then(|input| input.checked_add(run.output_tokens?));
        }
        run.turns = run.turns.or(some(self.requests));
        run.total_calls = run.total_calls.or(some(self.prompts));
        if let Some((first, last)) = self.span {
            run.timestamp = run.timestamp.or(Some(last));
            run.duration_seconds = run
                .duration_seconds
                .or(Some((last - first).as_seconds_f64()).filter(|seconds| *seconds > 0.0));
        }
        if let (None, Some((usd, source))) = (run.cost_usd, self.usd) {
            (run.cost_usd, run.cost_source) = (Some(usd), source);
        }
        run.agent = run.agent.take().or(self.agent);
        let models = self
            .by_model
            .keys()
            .cloned()
            .collect::<Vec<_>>()
            .join(" + ");
        run.reported_model = run
            .reported_model
            .take()
            .or(Some(models).filter(|models| !models.is_empty()));
        let tools = self
            .tools
            .iter()
            .map(|(tool, calls)| format!("{tool} {calls}"));
        let models = self
            .by_model
            .iter()
            .filter(|_| self.by_model.len() > 1)
            .map(|(model, (usage, requests))| format_model_usage(model, usage, *requests));
        for (tag, text) in [
            (TOOLS_TAG, join_clipped(tools)),
            (MODELS_TAG, join_clipped(models)),
        ] {
            if !text.is_empty() {
                run.tags.entry(tag.to_owned()).or_insert(text);
            }
        }
    }
}

fn join_clipped(parts: impl Iterator<Item = String>) -> String {
    clip_text(&parts.collect::<Vec<_>>().join(", "), MAX_TAG_CHARS).into_owned()
}

const TOKEN_KINDS: [&str; 4] = ["input", "cache read", "cache write", "output"];

fn format_model_usage(model: &str, usage: &Usage, requests: u64) -> String {
    let of = |(name, tokens): (&str, Option<u64>)| tokens.map(|tokens| format!("{name} {tokens}"));
    let tokens = TOKEN_KINDS.into_iter().zip([
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
    ]);
    let parts = tokens
        .filter_map(of)
        .chain([format!("requests {requests}")]);
    format!("{model} ({})", parts.collect::<Vec<_>>().join("; "))
}

/// Reads what [`format_model_usage`] wrote. Returns `None` if the text was cut.
fn parse_model_usage(part: &str) -> Option<(String, (Usage, u64))> {
    let (model, parts) = part.strip_suffix(')')?.rsplit_once(" (")?;
    let parts: BTreeMap<&str, u64> = parts
        .split("; ")
        .map(|part| {
            part.rsplit_once(' ')
                .and_then(|(name, n)| Some((name, n.parse().ok()?)))
        })
        .collect::<Option<_>>()?;
    let [input, cache_read, cache_write, output] = TOKEN_KINDS.map(|kind| parts.get(kind).copied());
    Some((
        model.to_owned(),
        (
            Usage {
                input,
                cache_write,
                cache_read,
                output,
            },
            *parts.get("requests")?,
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;

    #[test]
    fn a_run_holds_the_figures_of_its_sessions() {
        let usage = |input, output| Usage {
            input: Some(input),
            output: Some(output),
            cache_read: Some(3),
            cache_write: None,
        };
        let moment = |seconds| DateTime::from_timestamp(seconds, 0).expect("a time");
        let figures = |model: &str, start: i64| SessionFigures {
            usage: usage(10, 2),
            by_model: BTreeMap::from([(model.to_owned(), (usage(10, 2), 4))]),
            tools: BTreeMap::from([("Bash".to_owned(), 2)]),
            requests: 4,
            prompts: 1,
            usd: Some((0.5, CostSource::Priced)),
            span: Some((moment(start), moment(start + 60))),
            agent: Some("Claude Code 2.0".to_owned()),
        };
        for sum in [
            figures("one", 100),
            figures("one", 100).plus(figures("two", 400)),
        ] {
            let mut run = Run::new(RunId::parse("r").expect("an id"), "s", "a", "m");
            sum.clone().fill_run(&mut run);
            assert_eq!(SessionFigures::from_run(&run), sum);
        }
        let mut run = Run::new(RunId::parse("r").expect("an id"), "s", "a", "m");
        (run.output_tokens, run.duration_seconds) = (Some(7), Some(1.0));
        figures("one", 100).fill_run(&mut run);
        assert_eq!(
            (run.output_tokens, run.usage, run.duration_seconds),
            (Some(7), None, Some(1.0)),
            "its own figures stay"
        );
        assert_eq!(
            (run.cost_usd, run.cost_source),
            (Some(0.5), CostSource::Priced)
        );
        let unpriced = SessionFigures {
            usd: None,
            ..figures("one", 100)
        };
        assert_eq!(figures("one", 100).plus(unpriced).usd, None);
    }
}
