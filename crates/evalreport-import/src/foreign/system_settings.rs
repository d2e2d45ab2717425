//! Settings that a source states of its model or agent, as tags of the run.

use serde_json::Value;

use crate::domain::{is_secret, setting_tag};

use super::super::source::hex_digest;
use super::json::to_text;

/// Maximum number of settings that are kept of one source.
const MAX_SETTINGS: usize = 64;
/// Maximum length in characters of a setting's value. Of a longer one the beginning is kept, with a digest of all.
const MAX_VALUE: usize = 120;

/// Returns the settings of an object, or of a text such as `revision=step1000,dtype=float16`, as tags. Settings that are in no table of the
/// domain get `prefix` before their name. What is null or empty is unset, and secrets are left out.
pub(super) fn setting_tags(prefix: &str, settings: &Value) -> Vec<(String, String)> {
    let pairs: Vec<(String, String)> = match settings {
        Value::Object(fields) => fields
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value_text(value)?)))
            .take(MAX_SETTINGS)
            .collect(),
        Value::String(list) => list
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .take(MAX_SETTINGS)
            .collect(),
        _ => Vec::new(),
    };
    pairs
        .into_iter()
        .filter(|(name, value)| !name.is_empty() && !value.is_empty() && !is_secret(name, value))
        .map(|(name, value)| {
            let name = name.to_lowercase().replace('-', "_");
            (setting_tag(prefix, &name), shorten_value(value))
        })
        .collect()
}

/// Returns a value as text. `None` if it is null or has nothing in it.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(values) if values.is_empty() => None,
        Value::Object(fields) if fields.is_empty() => None,
        Value::Array(_) | Value::Object(_) => Some(value.to_string()),
        _ => to_text(value),
    }
}

fn shorten_value(value: String) -> String {
    if value.chars().count() <= MAX_VALUE {
        return value;
    }
    let digest = hex_digest(&[value.as_bytes()], false);
    let first: String = value.chars().take(MAX_VALUE / 2).collect();
    format!("{first}… ({})", &digest[..12])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{AGENT_SETTING_PREFIX, MODEL_SETTING_PREFIX};

    fn tags(prefix: &str, settings: &Value) -> Vec<String> {
        setting_tags(prefix, settings)
            .into_iter()
            .map(|(tag, value)| format!("{tag}={value}"))
            .collect()
    }

    #[test]
    fn setting_tags_reads_objects_and_lists_of_pairs() {
        assert_eq!(
            tags(
                MODEL_SETTING_PREFIX,
                &json!("pretrained=org/m, revision=step1000,load_in_4bit=True,rope=linear")
            ),
            [
                "pretrained=org/m",
                "revision=step1000",
                "load_in_4bit=True",
                "model.rope=linear"
            ]
        );
        let settings = json!({"effort": "low", "planner": {"depth": 2}, "none": null, "empty": [], "Max-Turns": 9});
        let mut read = tags(AGENT_SETTING_PREFIX, &settings);
        read.sort_unstable();
        assert_eq!(
            read,
            [
                "agent.max_turns=9",
                r#"agent.planner={"depth":2}"#,
                "effort=low"
            ]
        );
        assert!(tags(AGENT_SETTING_PREFIX, &json!(7)).is_empty());
    }

    #[test]
    fn setting_tags_keeps_no_secret() {
        let settings = json!({"api_key": "sk-abcdefghijklmnopqrstuvwxyz123456", "effort": "high"});
        assert_eq!(tags(AGENT_SETTING_PREFIX, &settings), ["effort=high"]);
    }

    #[test]
    fn setting_tags_tells_long_values_apart() {
        let long = |last: &str| json!({ "prompt_template": "x".repeat(500) + last });
        let [one, other] = ["a", "b"].map(|last| tags(MODEL_SETTING_PREFIX, &long(last)));
        assert_ne!(one, other);
        assert!(one[0].chars().count() < 120);
    }
}
