//! Turns a session of a coding agent into a run without outcomes: its usage, duration and cost.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use crate::domain::{CostSource, RunStatus, Unit, Usage};
use crate::transcript::Request;

use super::sink::{Handle, Sink, clip};
use super::times::{Span, moment};

/// Tag with the session's id. Only runs that are a session have it, not runs that were made in a session.
const ID_TAG: &str = "session_id";
/// Suite of sessions whose folder is unknown.
const NO_PROJECT: &str = "sessions";
const MOST_TAG_CHARS: usize = 500;

/// Facts from a session file.
#[derive(Default)]
pub(super) struct Session {
    /// Its own id, or a replacement for it.
    pub id: String,
    /// The agent's program.
    pub agent: &'static str,
    pub version: Option<String>,
    /// The folder in which the agent worked.
    pub folder: Option<String>,
    pub requests: Vec<Request>,
    pub tools: Option<BTreeMap<String, u64>>,
    /// Number of prompts by people.
    pub prompts: u64,
    pub span: Span,
    /// Number of unreadable lines.
    pub damaged: u64,
    /// Published cost of all requests.
    pub usd: Option<f64>,
    /// The requests were billed at other prices than the table's.
    pub has_other_prices: bool,
}

/// Returns the last part of a folder's path, of any operating system.
fn last_part(folder: &str) -> Option<&str> {
    folder.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().filter(|part| !part.is_empty())
}

impl Session {
    /// Passes the run to the sink. Returns `None` if the store has it, or has a run that names the session.
    pub fn tell(&self, sink: &mut Sink<'_>) -> Option<Handle> {
        let suite = self.folder.as_deref().and_then(last_part).unwrap_or(NO_PROJECT);
        let by_model = self.by_model();
        // The model that wrote most; other models assist it.
        let model = by_model.iter().max_by_key(|(_, (usage, _))| usage.output).map_or("", |(model, _)| model.as_str());
        let names = [suite, self.agent, model];
        if sink.names_session(&self.id, names) {
            return None;
        }
        let run = sink.begin_run(&[&self.id], names)?;
        self.requests.iter().for_each(|_| sink.record());
        let priced = if self.has_other_prices { None } else { price(&self.requests, sink) };
        if self.has_other_prices {
            sink.quirk("requests at other prices than those of the table have no cost unless the file says it");
        }
        let usage = self.requests.iter().fold(Usage::default(), |sum, request| sum.plus(&request.usage));
        let record = sink.run(run);
        self.span.tell(record);
        record.usage = Some(usage).filter(|usage| *usage != Usage::default());
        record.total_calls = Some(self.prompts).filter(|prompts| *prompts > 0);
        record.turns = Some(self.requests.len() as u64).filter(|turns| *turns > 0);
        record.agent = Some(self.version.as_ref().map_or_else(|| self.agent.to_owned(), |version| format!("{} {version}", self.agent)));
        record.reported_model = (!by_model.is_empty()).then(|| by_model.keys().cloned().collect::<Vec<_>>().join(" + "));
        (record.cost_usd, record.cost_source) = match (self.usd, priced) {
            (Some(usd), _) => (Some(usd), CostSource::Reported),
            (None, Some(usd)) => (Some(usd), CostSource::Priced),
            (None, None) => (None, CostSource::Unknown),
        };
        if self.damaged > 0 {
            record.status = RunStatus::Failed;
            record.error = Some(format!("{} lines of the session cannot be read", self.damaged));
        }
        record.tags.insert(ID_TAG.to_owned(), clip(&self.id, MOST_TAG_CHARS).into_owned());
        let calls =
            self.tools.as_ref().filter(|tools| !tools.is_empty()).map(|tools| listed(tools.iter().map(|(tool, n)| format!("{tool} {n}"))));
        let models = (by_model.len() > 1).then(|| listed(by_model.iter().map(|(model, (usage, requests))| part(model, usage, *requests))));
        for (tag, text) in [("tools", calls), ("models", models)] {
            record.tags.extend(text.map(|text| (tag.to_owned(), text)));
        }
        if let Some(usd) = self.usd {
            sink.stated(run, "cost_usd", usd, Unit::Usd, priced, None);
        }
        Some(run)
    }

    /// Returns each model's tokens and number of requests.
    fn by_model(&self) -> BTreeMap<String, (Usage, u64)> {
        let mut by_model: BTreeMap<String, (Usage, u64)> = BTreeMap::new();
        for request in &self.requests {
            let Some(model) = &request.model else { continue };
            let (usage, requests) = by_model.entry(model.clone()).or_default();
            (*usage, *requests) = (usage.plus(&request.usage), *requests + 1);
        }
        by_model
    }
}

/// Prices each request by the table of its day, in US dollars. If one price is unknown, so is the sum.
pub(super) fn price(requests: &[Request], sink: &mut Sink<'_>) -> Option<f64> {
    if requests.is_empty() || sink.prices().is_empty() {
        return None;
    }
    let day_of = |request: &Request| Some(moment(&request.time.clone()?.into())?.date_naive());
    let last: Option<NaiveDate> = requests.iter().filter_map(day_of).max();
    let (mut sum, mut unknown) = (Some(0.0), BTreeSet::new());
    for request in requests.iter().filter(|request| request.usage.total().is_some_and(|tokens| tokens > 0)) {
        let day = day_of(request).or(last);
        let usd = request.model.as_deref().zip(day).and_then(|(model, day)| sink.prices().usd(day, &[model], &request.usage, Some(1)));
        if usd.is_none() {
            unknown.insert(request.model.clone().unwrap_or_else(|| "unknown".to_owned()));
        }
        sum = sum.zip(usd).map(|(sum, usd)| sum + usd);
    }
    if !unknown.is_empty() {
        let unknown: Vec<String> = unknown.into_iter().collect();
        sink.quirk(&format!("the price table does not price these requests, so that there is no cost: {}", clip(&unknown.join(", "), 200)));
    }
    sum
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    clip(&parts.collect::<Vec<_>>().join(", "), MOST_TAG_CHARS).into_owned()
}

fn part(model: &str, usage: &Usage, requests: u64) -> String {
    let of = |name: &str, tokens: Option<u64>| tokens.map(|tokens| format!("{name} {tokens}"));
    let parts = [
        of("input", usage.input),
        of("cache read", usage.cache_read),
        of("cache write", usage.cache_write),
        of("output", usage.output),
        Some(format!("requests {requests}")),
    ];
    format!("{model} ({})", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_the_last_part_of_its_folder() {
        assert_eq!(last_part("/home/x/shop/"), Some("shop"));
        assert_eq!(last_part("C:\\work\\shop"), Some("shop"));
        assert_eq!((last_part("/"), last_part("")), (None, None));
    }
}
