//! Turns a session of a coding agent into a run without outcomes: its usage, duration and cost.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde_json::Value;

use crate::domain::{CostSource, MessageKeys, RunId, RunStatus, Unit, Usage, format_count};
use crate::transcript::{ModelRequest, RequestBill, price_requests};

use super::super::session_figures::{MAX_TAG_CHARS, SESSION_ID_TAG, SessionFigures};
use super::super::source::digest_parts;
use super::sink::{ImportSink, RunHandle, clip_text};
use super::times::{TimeSpan, read_time};

/// Suite of sessions whose folder is unknown.
const NO_PROJECT: &str = "sessions";

/// Facts from a session's files.
#[derive(Default)]
pub(super) struct AgentSession {
    /// Its own id, or a replacement for it.
    pub id: String,
    /// The agent's program.
    pub agent: &'static str,
    pub version: Option<String>,
    /// The folder in which the agent worked.
    pub folder: Option<String>,
    pub said: Vec<SessionMessage>,
    pub span: TimeSpan,
    /// Number of unreadable lines.
    pub damaged: u64,
}

/// A message of a person or the model, with the tool calls in it. Each counts once, in one session.
#[derive(Default)]
pub(super) struct SessionMessage {
    /// Key of the message in all sessions. `None` if nothing identifies it.
    pub key: Option<u64>,
    pub time: Option<String>,
    pub request: Option<ModelRequest>,
    /// Published cost of the request.
    pub usd: Option<f64>,
    pub tools: BTreeMap<String, u64>,
    /// Number of prompts by people.
    pub prompts: u64,
}

/// Returns the key of a message that these parts identify in all sessions.
pub(super) fn message_key(parts: &[&str]) -> u64 {
    MessageKeys::key_of_digest(&digest_parts(
        &parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>(),
        true,
    ))
}

/// Returns an id if it can be part of a path. A file's content is never used as a path unchecked.
pub(super) fn safe_file_name(id: &str) -> Option<&str> {
    let is_plain = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && !id.starts_with('.');
    (is_plain && !id.is_empty() && id.len() <= 200).then_some(id)
}

/// Returns the last part of a folder's path, of any operating system.
fn folder_name(folder: &str) -> Option<&str> {
    folder
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .filter(|part| !part.is_empty())
}

impl AgentSession {
    /// Passes the run to the sink. Returns `None` if the store has it, or if other sessions count all of its messages.
    pub fn add_run(mut self, sink: &mut ImportSink<'_>) -> Option<RunHandle> {
        let suite = self
            .folder
            .as_deref()
            .and_then(folder_name)
            .unwrap_or(NO_PROJECT)
            .to_owned();
        let others = self.drop_repeats(sink);
        if let Some(other) = others.filter(|_| self.said.is_empty()) {
            sink.keep_session_run(other, &self.id, [&suite, self.agent, ""]);
            return None;
        }
        let mut keys: MessageKeys = self.said.iter().filter_map(|said| said.key).collect();
        let stored = sink.stored_session(&self.id);
        let grown = stored.filter(|stored| {
            let known = stored
                .provenance
                .as_ref()
                .and_then(|provenance| provenance.messages.as_ref());
            let Some(known) = known.filter(|known| known.iter().any(|key| !keys.contains(key)))
            else {
                return false;
            };
            let is_known = |said: &SessionMessage| said.key.is_some_and(|key| known.contains(key));
            let (shares, adds) = (
                self.said.iter().any(is_known),
                keys.iter().any(|key| !known.contains(key)),
            );
            if adds {
                // What has no key may be among the stored messages if others are.
                self.said.retain(|said| {
                    if said.key.is_some() {
                        !is_known(said)
                    } else {
                        !shares
                    }
                });
                if shares {
                    self.span = self.message_span();
                }
                keys.extend(known.iter());
            }
            adds
        });
        let published: Vec<Option<f64>> = self
            .said
            .iter()
            .filter(|said| said.request.is_some())
            .map(|said| said.usd)
            .collect();
        let published = if published.is_empty() {
            None
        } else {
            published.into_iter().sum::<Option<f64>>()
        };
        let mut figures = self.sum_figures(sink);
        let priced = figures.usd.map(|(usd, _)| usd);
        figures.usd = published
            .map(|usd| (usd, CostSource::Reported))
            .or(figures.usd);
        if let Some(stored) = grown {
            figures = figures.plus(SessionFigures::from_run(stored));
        }
        let model = figures.main_model().to_owned();
        sink.note_naming_run(&self.id);
        let run = sink.begin_run(&[&self.id], [&suite, self.agent, &model])?;
        self.said
            .iter()
            .filter(|said| said.request.is_some())
            .for_each(|_| sink.count_run_record());
        let record = sink.run_mut(run);
        figures.fill_run(record);
        self.span.mark_missing_zone(record);
        if let Some(stored) = grown {
            (record.status, record.error) = (stored.status, stored.error.clone());
        }
        if self.damaged > 0 {
            record.status = RunStatus::Failed;
            record.error = Some(format!(
                "{} of the session cannot be read",
                format_count(self.damaged, "line")
            ));
        }
        record.tags.insert(
            SESSION_ID_TAG.to_owned(),
            clip_text(&self.id, MAX_TAG_CHARS).into_owned(),
        );
        record.provenance.get_or_insert_default().messages =
            Some(keys).filter(|keys| !keys.is_empty());
        if let Some(usd) = published {
            sink.add_published_figure(run, "cost_usd", usd, Unit::Usd, priced, None);
        }
        Some(run)
    }

    /// Leaves out messages that other sessions count, and says so. Returns the run that counts most of them.
    fn drop_repeats(&mut self, sink: &mut ImportSink<'_>) -> Option<RunId> {
        let mut others: BTreeMap<(String, RunId), u64> = BTreeMap::new();
        self.said.retain(|said| {
            let other = said
                .key
                .and_then(|key| sink.session_with(key))
                .filter(|(session, _)| *session != self.id);
            if let Some((session, run)) = other {
                *others.entry((session.to_owned(), run.clone())).or_default() += 1;
            }
            other.is_none()
        });
        if !others.is_empty() {
            self.span = self.message_span();
        }
        for ((session, run), repeats) in &others {
            sink.note_quirk(&format!(
                "left {} to session `{session}`: counted in run `{run}`",
                format_count(*repeats, "message")
            ));
        }
        others
            .into_iter()
            .max_by_key(|(_, repeats)| *repeats)
            .map(|((_, run), _)| run)
    }

    fn message_span(&self) -> TimeSpan {
        let mut span = TimeSpan::default();
        for time in self.said.iter().filter_map(|said| said.time.clone()) {
            span.add_times(&time.into(), &Value::Null);
        }
        span
    }

    /// Returns the figures of the messages, with the cost by the price table.
    fn sum_figures(&self, sink: &mut ImportSink<'_>) -> SessionFigures {
        let requests: Vec<ModelRequest> = self
            .said
            .iter()
            .filter_map(|said| said.request.clone())
            .collect();
        let usd = cost_of_requests(&requests, sink);
        let mut by_model: BTreeMap<String, (Usage, u64)> = BTreeMap::new();
        for request in &requests {
            let Some(model) = &request.model else {
                continue;
            };
            let (usage, requests) = by_model.entry(model.clone()).or_default();
            (*usage, *requests) = (usage.plus(&request.usage), *requests + 1);
        }
        let mut tools: BTreeMap<String, u64> = BTreeMap::new();
        for (tool, calls) in self.said.iter().flat_map(|said| &said.tools) {
            *tools.entry(tool.clone()).or_default() += calls;
        }
        SessionFigures {
            usage: requests
                .iter()
                .fold(Usage::default(), |sum, request| sum.plus(&request.usage)),
            by_model,
            tools,
            requests: requests.len() as u64,
            prompts: self.said.iter().map(|said| said.prompts).sum(),
            usd: usd.map(|usd| (usd, CostSource::Priced)),
            span: self.span.first_and_last(),
            agent: Some(self.version.as_ref().map_or_else(
                || self.agent.to_owned(),
                |version| format!("{} {version}", self.agent),
            )),
        }
    }
}

/// Prices each request by the table of its day, in US dollars. If one price is unknown, so is the sum.
pub(super) fn cost_of_requests(
    requests: &[ModelRequest],
    sink: &mut ImportSink<'_>,
) -> Option<f64> {
    if requests.is_empty() || sink.prices().is_empty() {
        return None;
    }
    let day_of =
        |request: &ModelRequest| Some(read_time(&request.time.clone()?.into())?.date_naive());
    let last: Option<NaiveDate> = requests.iter().filter_map(day_of).max();
    if requests.iter().any(|request| request.has_other_price) {
        sink.note_quirk(
            "requests at other prices than the table's have no cost, unless the file gives it",
        );
    }
    let RequestBill { usd, unknown } = price_requests(
        sink.prices(),
        None,
        requests
            .iter()
            .map(|request| (request, day_of(request).or(last))),
    );
    if !unknown.is_empty() {
        let unknown: Vec<String> = unknown.into_iter().collect();
        sink.note_quirk(&format!(
            "the price table has no price for these requests, so the cost is unknown: {}",
            clip_text(&unknown.join(", "), 200)
        ));
    }
    usd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_path() {
        let names = ["73cc9f9a-2775", "../x", "a/b", ".x", ""].map(safe_file_name);
        assert_eq!(names, [Some("73cc9f9a-2775"), None, None, None, None]);
    }

    #[test]
    fn a_project_is_the_last_part_of_its_folder() {
        assert_eq!(folder_name("/home/x/shop/"), Some("shop"));
        assert_eq!(folder_name("C:\\work\\shop"), Some("shop"));
        assert_eq!((folder_name("/"), folder_name("")), (None, None));
    }
}
