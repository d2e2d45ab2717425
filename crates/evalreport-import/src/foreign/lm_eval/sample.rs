//! One line of samples: a document under a filter, with its question, answer and expected answer.

use serde_json::Value;

use crate::domain::ItemDetails;

use super::super::super::cell::Refused;
use super::super::super::rows::ReadStop;
use super::super::super::source::hex_digest;
use super::super::json::{to_number, to_text};
use super::super::json_reader::{read_lines_to_cut, read_list};
use super::super::peek::Peek;
use super::super::source::ForeignFile;

/// Keys of a line that are not metrics, for lines that do not list their metrics.
const KEYS_WITHOUT_METRICS: [&str; 13] = [
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
    "doc_to_text",
    "doc_to_target",
];
/// Characters kept from a prompt's end, which has the question. Examples come before it.
const MAX_PROMPT_CHARS: usize = 1999;

/// An order-independent digest over all prompts of a task. Unknown if one of the prompts is.
#[derive(Default)]
pub(super) struct PromptDigest {
    sum: u128,
    is_unknown: bool,
}

impl PromptDigest {
    pub fn add_prompt(&mut self, document: &str, sample: &Value) {
        let one = read_hash(sample, "prompt_hash")
            .and_then(|prompt| u128::from_str_radix(&digest_pair(document, &prompt), 16).ok());
        self.is_unknown |= one.is_none();
        self.sum = self.sum.wrapping_add(one.unwrap_or(0));
    }

    pub fn digest(&self) -> Option<String> {
        (!self.is_unknown && self.sum != 0).then(|| format!("{:032x}", self.sum))
    }
}

fn read_hash(sample: &Value, key: &str) -> Option<String> {
    sample
        .get(key)
        .and_then(to_text)
        .filter(|hash| !hash.is_empty())
}

fn digest_pair(one: &str, other: &str) -> String {
    hex_digest(&[one.as_bytes(), other.as_bytes()], true)[..32].to_owned()
}

pub(super) fn filter_name(sample: &Value) -> Option<&str> {
    sample.get("filter")?.as_str()
}

/// Returns the names and values of a line's metrics.
pub(super) fn metric_values(sample: &Value) -> Vec<(&str, &Value)> {
    match sample.get("metrics").and_then(Value::as_array) {
        Some(names) => names
            .iter()
            .filter_map(|name| Some((name.as_str()?, sample.get(name.as_str()?)?)))
            .collect(),
        None => {
            let all = sample.as_object().into_iter().flatten();
            all.filter(|(key, _)| !KEYS_WITHOUT_METRICS.contains(&key.as_str()))
                .map(|(key, value)| (key.as_str(), value))
                .collect()
        }
    }
}

/// Returns the question, the answer and the expected answers.
pub(super) fn sample_details(sample: &Value) -> ItemDetails {
    let prompt = request_argument(sample, 0, 0).and_then(to_text);
    let choices = likeliest_choice(sample);
    let target = sample.get("target");
    let expected: Vec<String> = match target {
        Some(Value::Array(several)) => several.iter().filter_map(to_text).collect(),
        Some(one) => one
            .as_u64()
            .filter(|_| choices.is_some())
            .and_then(|index| choice_text(sample, usize::try_from(index).ok()?))
            .or_else(|| to_text(one))
            .into_iter()
            .collect(),
        None => Vec::new(),
    };
    let first = |key: &str| sample.get(key)?.get(0);
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let answer = match choices {
        Some(best) => choice_text(sample, best).or_else(|| Some(best.to_string())),
        None => first("filtered_resps")
            .and_then(Value::as_str)
            .map(|answer| answer.trim().to_owned()),
    };
    let reply = first("resps").and_then(|of_request| match of_request {
        Value::Array(repeats) => repeats.first()?.as_str(),
        other => other.as_str(),
    });
    let item_hash = match (
        read_hash(sample, "doc_hash"),
        read_hash(sample, "target_hash"),
        prompt.as_deref(),
    ) {
        (Some(document), Some(target), _) => Some(digest_pair(&document, &target)),
        (Some(document), None, _) => Some(document),
        (None, _, Some(prompt)) => Some(digest_pair(prompt, &expected.join("\n"))),
        (None, _, None) => None,
    };
    ItemDetails {
        reply: filled(reply.map(str::to_owned)),
        answer: filled(answer),
        question: filled(prompt.map(|prompt| prompt_end(&prompt))),
        expected: expected
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect(),
        item_hash,
        ..ItemDetails::default()
    }
}

/// Returns an argument of a request. Since 0.4.3 `arguments` is an object with names, before a list of lists.
fn request_argument(sample: &Value, request: usize, place: usize) -> Option<&Value> {
    match sample.get("arguments")? {
        Value::Array(requests) => requests.get(request)?.get(place),
        named => named
            .get(format!("gen_args_{request}"))?
            .get(format!("arg_{place}")),
    }
}

fn choice_text(sample: &Value, choice: usize) -> Option<String> {
    request_argument(sample, choice, 1)
        .and_then(Value::as_str)
        .map(|text| text.trim().to_owned())
}

/// Returns the index of the most likely choice, or `None` unless each choice has a log probability and a flag for greedy decoding.
fn likeliest_choice(sample: &Value) -> Option<usize> {
    let pairs = sample
        .get("filtered_resps")?
        .as_array()
        .filter(|pairs| pairs.len() > 1)?;
    let likelihood = |pair: &Value| -> Option<f64> {
        let [likelihood, is_greedy] = pair.as_array()?.as_slice() else {
            return None;
        };
        let is_word =
            is_greedy.is_boolean() || matches!(is_greedy.as_str(), Some("True" | "False"));
        to_number(likelihood).filter(|_| is_word)
    };
    let mut best: Option<(usize, f64)> = None;
    for (place, pair) in pairs.iter().enumerate() {
        let value = likelihood(pair)?;
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((place, value));
        }
    }
    best.map(|(place, _)| place)
}

fn prompt_end(prompt: &str) -> String {
    match prompt.char_indices().rev().nth(MAX_PROMPT_CHARS - 1) {
        Some((start, _)) if start > 0 => format!("…{}", &prompt[start..]),
        _ => prompt.to_owned(),
    }
}

/// Callback that takes a sample's place and the sample.
pub(super) type OnSample<'a> =
    &'a mut dyn FnMut(&str, Result<Value, Refused>) -> Result<(), ReadStop>;

/// Calls `each` with each sample of a file and its place: one value per line, or, before 0.4.3, all in one list. Returns the number of the
/// last line if it is cut off.
pub(super) fn read_samples(
    file: &ForeignFile,
    each: OnSample<'_>,
) -> Result<Option<usize>, ReadStop> {
    if Peek::from_path(&file.path).is_ok_and(|peek| peek.has("[].doc_id")) {
        let mut place = 0;
        read_list(file.open()?, &file.shown, &mut |sample: Value| {
            place += 1;
            each(&format!("sample {place}"), Ok(sample))
        })
        .map(|()| None)
    } else {
        read_lines_to_cut(file.open()?, &file.shown, &mut |line,
                                                           sample: Result<
            Value,
            Refused,
        >| {
            each(&format!("line {line}"), sample)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_most_likely_choice_is_the_answer() {
        let new = json!({"target": 1, "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " a"}, "gen_args_1": {"arg_0": "Q", "arg_1": " b"}},
            "filtered_resps": [["-3.5", "False"], ["-1.25", "True"]], "resps": [[["-3.5", "False"]], [["-1.25", "True"]]], "doc_hash": "h"});
        let old = json!({"target": 1, "arguments": [["Q", " a"], ["Q", " b"]], "filtered_resps": [[-3.5, false], [-1.25, true]], "doc_hash": "h"});
        for sample in [new, old] {
            let read = sample_details(&sample);
            assert_eq!(
                (
                    read.answer.as_deref(),
                    read.expected,
                    read.question.as_deref()
                ),
                (Some("b"), vec!["b".to_owned()], Some("Q"))
            );
            assert_eq!((read.reply, read.item_hash.as_deref()), (None, Some("h")));
        }
    }

    #[test]
    fn another_document_or_another_right_answer_is_another_item() {
        let hash = |document: &str, target: &str, prompt: &str| {
            sample_details(
                &json!({"doc_hash": document, "target_hash": target, "prompt_hash": prompt}),
            )
            .item_hash
            .expect("a hash")
        };
        assert_eq!(hash("d", "t", "p"), hash("d", "t", "other"));
        assert_ne!(hash("d", "t", "p"), hash("d", "other", "p"));
        assert_ne!(hash("d", "t", "p"), hash("other", "t", "p"));
    }

    #[test]
    fn prompts_have_one_digest_in_any_order() {
        let of = |samples: &[(&str, Value)]| {
            let mut prompts = PromptDigest::default();
            for (document, sample) in samples {
                prompts.add_prompt(document, sample);
            }
            prompts.digest()
        };
        let (one, two) = (
            ("1", json!({"prompt_hash": "a"})),
            ("2", json!({"prompt_hash": "b"})),
        );
        let both = of(&[one.clone(), two.clone()]);
        assert!(both.is_some() && both == of(&[two.clone(), one.clone()]));
        assert_ne!(both, of(&[("1", two.1), ("2", one.1.clone())]));
        assert_eq!((of(&[]), of(&[one, ("2", json!({}))])), (None, None));
    }

    #[test]
    fn long_prompts_keep_their_end() {
        let kept = prompt_end(&format!("{}é?", "x".repeat(3000)));
        assert!(
            kept.starts_with('…') && kept.ends_with("é?") && kept.chars().count() == 2000,
            "{}",
            kept.chars().count()
        );
        assert_eq!(prompt_end("é?"), "é?");
    }

    #[test]
    fn metrics_are_listed_or_what_is_left() {
        let listed = json!({"doc_id": 1, "metrics": ["acc"], "acc": 1.0, "other": 2});
        assert_eq!(metric_values(&listed), [("acc", &json!(1.0))]);
        let old = json!({"doc_id": 1, "doc": {}, "acc": 1.0, "acc_norm": 0.0});
        assert_eq!(
            metric_values(&old),
            [("acc", &json!(1.0)), ("acc_norm", &json!(0.0))]
        );
    }
}
