//! Recorded answers, replayed without asking an agent.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::command::exchange_transcript;
use super::reply::{
    AgentFailure, AgentFailureKind, AgentPrompt, Cost, Reply, ReplyMeasurements, ServedBy,
};
use crate::domain::{Problem, Problems, escape_invisible, to_hex};
use crate::files;
use crate::transcript::{as_amount, as_count, find_usage};

/// Maximum file size. A larger file is probably no recording.
const MAX_BYTES: u64 = 256 << 20;

#[derive(Clone, Debug, Default)]
pub struct Replay {
    file: String,
    records: Vec<RecordedAnswer>,
    /// Positions in `records`, in file order, by the prompt's hash or by `item:` and an item's id.
    places: BTreeMap<String, Vec<usize>>,
}

#[derive(Clone, Debug)]
struct RecordedAnswer {
    answer: String,
    measured: ReplyMeasurements,
    has_transcript: bool,
}

impl Replay {
    pub fn load(path: &Path) -> Result<Self, Problems> {
        let file = escape_invisible(&path.display().to_string());
        let refuse = |message: String| Problems(vec![Problem::in_file(&file, message)]);
        let read = || {
            let size = fs::metadata(path)?.len();
            if size > MAX_BYTES {
                Ok(Err(size))
            } else {
                files::read_to_string(path).map(Ok)
            }
        };
        match read() {
            Ok(Ok(text)) => Self::parse(&file, &text),
            Ok(Err(size)) => Err(refuse(format!(
                "is no recording: it has {size} bytes, more than {MAX_BYTES}"
            ))),
            Err(error) => Err(refuse(format!("cannot be read: {}", read_error(&error)))),
        }
    }

    /// Parses a JSON list of records, or one record per line.
    fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut replay = Self {
            file: file.to_owned(),
            ..Self::default()
        };
        let is_list = text.trim_start().starts_with('[');
        let values: Vec<(usize, Result<Value, serde_json::Error>)> = if is_list {
            match serde_json::from_str::<Vec<Value>>(text) {
                Ok(values) => values
                    .into_iter()
                    .enumerate()
                    .map(|(index, value)| (index + 1, Ok(value)))
                    .collect(),
                Err(error) => vec![(error.line(), Err(error))],
            }
        } else {
            let lines = text
                .lines()
                .enumerate()
                .filter(|(_, line)| !line.trim().is_empty());
            lines
                .map(|(index, line)| (index + 1, serde_json::from_str(line)))
                .collect()
        };
        for (number, value) in values {
            let problem = match value
                .map_err(|error| format!("is not JSON: {error}"))
                .and_then(|value| replay.add_record(&value))
            {
                Ok(()) => continue,
                Err(problem) => problem,
            };
            let is_place = !is_list || problem.starts_with("is not JSON");
            problems.push(if is_place {
                Problem::at_line(file, number, problem)
            } else {
                Problem::in_file(file, format!("record {number} {problem}"))
            });
        }
        if problems.is_empty() {
            Ok(replay)
        } else {
            Err(Problems(problems))
        }
    }

    fn add_record(&mut self, value: &Value) -> Result<(), String> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let Some(answer) = text("answer") else {
            return Err("has no text `answer`".to_owned());
        };
        let keys: Vec<String> = [
            text("prompt_sha256").map(|hash| hash.trim().to_lowercase()),
            text("prompt").map(prompt_hash),
            text("item").or_else(|| text("id")).map(item_key),
        ]
        .into_iter()
        .flatten()
        .collect();
        if keys.is_empty() {
            return Err(
                "says not what it answers: it needs `prompt`, `prompt_sha256` or `item`".to_owned(),
            );
        }
        let measured = ReplyMeasurements {
            usage: value.get("usage").map(find_usage).unwrap_or_default(),
            by_model: BTreeMap::new(),
            requests: Vec::new(),
            cost: value
                .get("cost_usd")
                .and_then(as_amount)
                .map(Cost::from_report)
                .unwrap_or_default(),
            calls: None,
            steps: value.get("steps").and_then(as_count),
            tools: value.get("tools").and_then(Value::as_object).map(|tools| {
                let counts = tools
                    .iter()
                    .filter_map(|(name, count)| Some((name.clone(), as_count(count)?)));
                counts.collect()
            }),
            duration: value
                .get("duration_ms")
                .and_then(as_count)
                .map(Duration::from_millis)
                .unwrap_or_default(),
            transcript: value
                .get("transcript")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            raw: String::new(),
            model: text("model").map(str::to_owned),
            served: ServedBy::default(),
            repeated: None,
            note: None,
        };
        let has_transcript = !measured.transcript.is_empty();
        for key in keys {
            self.places.entry(key).or_default().push(self.records.len());
        }
        self.records.push(RecordedAnswer {
            answer: answer.to_owned(),
            measured,
            has_transcript,
        });
        Ok(())
    }

    /// Returns a recorded answer, looked up by the prompt's text, then by its item. If there are several, the seed selects one.
    pub fn answer_prompt(&self, prompt: &AgentPrompt) -> Result<Reply, AgentFailure> {
        let by_item = || self.places.get(&item_key(prompt.item?));
        let Some(places) = self.places.get(&prompt_hash(prompt.text)).or_else(by_item) else {
            let reason = format!(
                "`{}` has no answer to this prompt: record one with prompt_sha256 `{}`{}",
                self.file,
                prompt_hash(prompt.text),
                prompt
                    .item
                    .map(|item| format!(" or item `{item}`"))
                    .unwrap_or_default()
            );
            return Err(AgentFailure::new(
                AgentFailureKind::Infra,
                &reason,
                ReplyMeasurements::default(),
            ));
        };
        let choice = usize::try_from(prompt.seed % places.len() as u64).unwrap_or_default();
        let record = &self.records[places[choice]];
        let mut measured = record.measured.clone();
        measured.raw = super::reply::shorten_middle(&record.answer, super::reply::MAX_RAW_BYTES);
        if !record.has_transcript {
            measured.transcript = exchange_transcript(prompt, &record.answer);
        }
        Ok(Reply {
            text: record.answer.clone(),
            measured,
        })
    }
}

/// Returns the hash that identifies a prompt in a recording: the hexadecimal SHA-256 of its UTF-8 text, without the system prompt.
pub fn prompt_hash(text: &str) -> String {
    to_hex(&Sha256::digest(text.as_bytes()))
}

fn item_key(item: &str) -> String {
    format!("item:{item}")
}

fn read_error(error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::InvalidData {
        "it is not UTF-8".to_owned()
    } else {
        error.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::QuestionBudget;

    fn prompt<'a>(text: &'a str, item: Option<&'a str>, seed: u64) -> AgentPrompt<'a> {
        AgentPrompt {
            text,
            system: None,
            item,
            seed,
            limits: QuestionBudget::default(),
            folder: None,
        }
    }

    #[test]
    fn answers_are_found_by_prompt_hash_and_item() {
        let hash = prompt_hash("two");
        let text = format!(
            "{{\"prompt\": \"one\", \"answer\": \"1\", \"usage\": {{\"input_tokens\": 5}}, \"duration_ms\": 20}}\n\n\
             {{\"prompt_sha256\": \"{hash}\", \"answer\": \"2\"}}\n{{\"id\": \"q3\", \"answer\": \"3\"}}\n{{\"item\": \"q3\", \"answer\": \"4\"}}\n"
        );
        let list = format!(
            "[{}]",
            text.lines()
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join(",")
        );
        for text in [text, list] {
            let replay = Replay::parse("r.jsonl", &text).expect("the recording is sound");
            let answer =
                |prompt: AgentPrompt| replay.answer_prompt(&prompt).map(|reply| reply.text);
            assert_eq!(
                answer(prompt("one", Some("q3"), 0)).ok().as_deref(),
                Some("1")
            );
            assert_eq!(answer(prompt("two", None, 9)).ok().as_deref(), Some("2"));
            assert_eq!(
                answer(prompt("x", Some("q3"), 4)).ok().as_deref(),
                Some("3")
            );
            assert_eq!(
                answer(prompt("x", Some("q3"), 5)).ok().as_deref(),
                Some("4")
            );
            let measured = replay
                .answer_prompt(&prompt("one", None, 0))
                .expect("it is recorded")
                .measured;
            assert_eq!(
                (measured.usage.input, measured.duration),
                (Some(5), Duration::from_millis(20))
            );
            let failure = replay
                .answer_prompt(&prompt("x", Some("q9"), 0))
                .expect_err("it is not recorded");
            assert_eq!(failure.kind, AgentFailureKind::Infra);
            assert!(
                failure.reason.contains(&prompt_hash("x")) && failure.reason.contains("`q9`"),
                "{failure}"
            );
        }
    }

    #[test]
    fn all_problems_come_at_once() {
        let problems = Replay::parse(
            "r",
            "{\"answer\": 7, \"prompt\": \"a\"}\nnonsense\n{\"answer\": \"x\"}\n",
        )
        .expect_err("all are wrong");
        let shown = problems.to_string();
        assert!(
            shown.contains("r:1: has no text `answer`")
                && shown.contains("r:2: is not JSON")
                && shown.contains("r:3: says not"),
            "{shown}"
        );
        assert!(
            Replay::parse("r", "[1, {")
                .expect_err("no JSON")
                .to_string()
                .contains("r:1: is not JSON")
        );
        assert!(
            Replay::parse("r", "[{}]")
                .expect_err("no answer")
                .to_string()
                .contains("record 1 has no text")
        );
    }
}
