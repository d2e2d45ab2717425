//! Fields of a record of Every Eval Ever that are read. Every field is optional, and any value may have an unexpected type.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{Direction, ItemDetails, ItemKind, Unit, Usage};

use super::super::json::{Lenient, to_count, to_filled_text, to_number, to_text};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct EvaluationRecord {
    pub schema_version: Value,
    pub evaluation_id: Value,
    /// Seconds since 1970 as text, or a date.
    pub evaluation_timestamp: Value,
    pub source_metadata: Value,
    pub eval_library: Value,
    pub model_info: Value,
    pub evaluation_results: Vec<Lenient<ResultEntry>>,
    pub detailed_evaluation_results: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ResultEntry {
    pub evaluation_result_id: Value,
    pub evaluation_name: Value,
    pub source_data: Value,
    pub evaluation_timestamp: Value,
    pub metric_config: Lenient<MetricConfig>,
    pub score_details: Lenient<ScoreDetails>,
    pub generation_config: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MetricConfig {
    pub metric_id: Value,
    pub metric_name: Value,
    pub metric_kind: Value,
    pub metric_unit: Value,
    pub lower_is_better: Value,
    pub score_type: Value,
    pub has_unknown_level: Value,
    pub min_score: Value,
    pub max_score: Value,
    pub llm_scoring: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ScoreDetails {
    pub score: Value,
    pub uncertainty: Value,
    pub details: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordSample {
    pub evaluation_id: Value,
    pub model_id: Value,
    pub evaluation_name: Value,
    pub evaluation_result_id: Value,
    pub sample_id: Value,
    pub sample_hash: Value,
    pub input: Value,
    pub output: Value,
    /// A list. Absent if there was only one turn.
    pub messages: Value,
    pub answer_attribution: Value,
    pub evaluation: Value,
    pub token_usage: Value,
    pub performance: Value,
    pub error: Value,
    pub metadata: Value,
}

/// Metrics whose share of samples is the pass rate of a run without samples.
const HEADLINE_METRICS: [&str; 2] = ["accuracy", "pass_rate"];

impl ResultEntry {
    pub fn name(&self) -> String {
        to_text(&self.evaluation_name).unwrap_or_default()
    }

    fn metric_text(&self, of: fn(&MetricConfig) -> &Value) -> Option<String> {
        self.metric_config
            .0
            .as_ref()
            .and_then(|config| to_filled_text(of(config)))
    }

    /// Returns the metric's name. If it is a spelling of `accuracy` or `pass_rate`, returns that.
    pub fn metric_name(&self) -> String {
        let names: [fn(&MetricConfig) -> &Value; 2] =
            [|config| &config.metric_name, |config| &config.metric_id];
        let plain = |name: String| name.trim().to_lowercase().replace([' ', '-'], "_");
        let headline = names
            .into_iter()
            .filter_map(|of| self.metric_text(of).map(plain))
            .find(|name| HEADLINE_METRICS.contains(&name.as_str()));
        if let Some(headline) = headline {
            return headline;
        }
        self.metric_text(|config| &config.metric_name)
            .or_else(|| self.metric_text(|config| &config.metric_id))
            .or_else(|| self.metric_text(|config| &config.metric_kind))
            .unwrap_or_else(|| "score".to_owned())
    }

    /// Returns whether the score can only be the mean over the samples.
    pub fn is_mean(&self) -> bool {
        let kind = self
            .metric_text(|config| &config.metric_kind)
            .or_else(|| self.metric_text(|config| &config.metric_id))
            .unwrap_or_default()
            .to_lowercase();
        [
            "accuracy",
            "exact_match",
            "pass_rate",
            "mean",
            "correct",
            "win_rate",
        ]
        .contains(&kind.as_str())
            || self.metric_text(|config| &config.score_type).as_deref() == Some("binary")
    }

    fn score_bound(&self, of: fn(&MetricConfig) -> &Value) -> Option<f64> {
        self.metric_config
            .0
            .as_ref()
            .and_then(|config| to_number(of(config)))
    }

    /// Returns the kind of counted items that `export eee` writes for a run without samples.
    pub fn item_kind(&self) -> Option<ItemKind> {
        ItemKind::from_name(
            self.score_details
                .0
                .as_ref()?
                .details
                .get("kind")?
                .as_str()?,
        )
    }

    /// Returns the least and the greatest possible score.
    pub fn score_range(&self) -> Option<[f64; 2]> {
        let both = self
            .score_bound(|config| &config.min_score)
            .zip(self.score_bound(|config| &config.max_score));
        both.filter(|(least, most)| least < most)
            .map(|(least, most)| [least, most])
    }

    /// Returns the divisor that makes the score a share of samples: 100 if it is in percent or ranges from 0 to 100, else `None`.
    pub fn percent_divisor(&self, score: f64) -> Option<f64> {
        let most = self.score_bound(|config| &config.max_score);
        let is_percent = match self.metric_text(|config| &config.metric_unit).as_deref() {
            Some("percent" | "%" | "percentage") => most.is_none_or(|most| most > 1.0),
            Some("points") | None => {
                most == Some(100.0)
                    && self
                        .score_bound(|config| &config.min_score)
                        .is_none_or(|least| least == 0.0)
            }
            Some(_) => false,
        };
        (is_percent && self.is_mean() && (0.0..=100.0).contains(&score)).then_some(100.0)
    }

    /// Returns whether a score is the level `unknown`, written as -1.
    pub fn is_unknown(&self, score: f64) -> bool {
        let has_unknown = self
            .metric_config
            .0
            .as_ref()
            .is_some_and(|config| config.has_unknown_level == Value::Bool(true));
        has_unknown && (score + 1.0).abs() < 1e-12
    }

    pub fn score_unit(&self, score: f64) -> Unit {
        match self.metric_text(|config| &config.metric_unit).as_deref() {
            Some("proportion" | "fraction" | "ratio") if (0.0..=1.0).contains(&score) => {
                Unit::Fraction
            }
            Some("percent" | "%") if (0.0..=100.0).contains(&score) => Unit::Points,
            Some("tokens") => Unit::Tokens,
            Some("usd" | "USD" | "$") => Unit::Usd,
            Some("seconds" | "s") => Unit::Seconds,
            None if self.score_bound(|config| &config.min_score) == Some(0.0)
                && self.score_bound(|config| &config.max_score) == Some(1.0)
                && (0.0..=1.0).contains(&score) =>
            {
                Unit::Fraction
            }
            Some(_) | None => Unit::Number,
        }
    }

    pub fn direction(&self) -> Direction {
        match self
            .metric_config
            .0
            .as_ref()
            .map(|config| &config.lower_is_better)
        {
            Some(Value::Bool(true)) => Direction::Down,
            Some(Value::Bool(false)) => Direction::Up,
            Some(_) | None => Direction::None,
        }
    }

    pub fn score(&self) -> Option<f64> {
        to_number(&self.score_details.0.as_ref()?.score)
    }

    pub fn standard_error(&self) -> Option<f64> {
        to_number(
            self.score_details
                .0
                .as_ref()?
                .uncertainty
                .get("standard_error")?
                .get("value")?,
        )
        .filter(|error| *error >= 0.0)
    }

    pub fn sample_count(&self) -> Option<u64> {
        to_count(
            self.score_details
                .0
                .as_ref()?
                .uncertainty
                .get("num_samples")?,
        )
    }

    /// Returns the names of the judge models.
    pub fn judge_models(&self) -> Vec<String> {
        let judges = self
            .metric_config
            .0
            .as_ref()
            .and_then(|config| config.llm_scoring.get("judges")?.as_array());
        let name = |judge: &Value| -> Option<String> {
            let model = judge.get("model_info")?;
            to_text(model.get("id")?).or_else(|| to_text(model.get("name")?))
        };
        judges.into_iter().flatten().filter_map(name).collect()
    }
}

impl RecordSample {
    pub fn score(&self) -> Option<f64> {
        to_number(self.evaluation.get("score")?)
    }

    pub fn is_correct(&self) -> Option<bool> {
        self.evaluation.get("is_correct")?.as_bool()
    }

    /// Returns the item's kind, which the format has no field for and `export eee` keeps in the metadata.
    pub fn item_kind(&self) -> Option<ItemKind> {
        ItemKind::from_name(self.metadata.get("kind")?.as_str()?)
    }

    /// Returns a text that `export eee` keeps in the metadata.
    pub fn metadata_text(&self, name: &str) -> Option<String> {
        to_filled_text(self.metadata.get(name)?)
    }

    pub fn error(&self) -> Option<String> {
        to_filled_text(&self.error)
    }

    /// Returns the tokens by part. Sources disagree about the input: if all parts add up to the total, the input excludes the cache.
    pub fn to_usage(&self) -> Option<Usage> {
        let part = |name: &str| self.token_usage.get(name).and_then(to_count);
        let (input, output, total) = (
            part("input_tokens"),
            part("output_tokens"),
            part("total_tokens"),
        );
        let (cache_write, cache_read) = (
            part("input_tokens_cache_write"),
            part("input_tokens_cache_read"),
        );
        let cached = cache_write
            .unwrap_or(0)
            .saturating_add(cache_read.unwrap_or(0));
        let all = input
            .unwrap_or(0)
            .saturating_add(output.unwrap_or(0))
            .saturating_add(cached);
        let input = if total == Some(all) {
            input
        } else {
            input.map(|input| input.checked_sub(cached).unwrap_or(input))
        };
        let usage = Usage {
            input,
            cache_write,
            cache_read,
            output,
        };
        usage.total().map(|_| usage)
    }

    pub fn to_details(&self) -> ItemDetails {
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let references = match self.input.get("reference") {
            Some(Value::Array(several)) => several.iter().filter_map(to_text).collect(),
            Some(one) => to_text(one).into_iter().collect(),
            None => Vec::new(),
        };
        let messages = || self.messages.as_array().into_iter().flatten();
        let is_own = |message: &&Value| message.get("role").is_some_and(|role| role == "assistant");
        let said = || {
            messages()
                .filter(is_own)
                .filter_map(|message| to_text(message.get("content")?))
                .next_back()
        };
        let mut tools: BTreeMap<String, u64> = BTreeMap::new();
        for call in messages()
            .filter_map(|message| message.get("tool_calls")?.as_array())
            .flatten()
        {
            if let Some(name) = call.get("name").and_then(to_text) {
                *tools.entry(name).or_default() += 1;
            }
        }
        let is_final = |one: &&Value| one.get("is_terminal") == Some(&Value::Bool(true));
        let answers = self.answer_attribution.as_array();
        let answer =
            answers.and_then(|answers| answers.iter().find(is_final).or_else(|| answers.last()));
        ItemDetails {
            reason: self.error(),
            reply: filled(
                self.output
                    .get("raw")
                    .and_then(|raw| to_text(raw.get(0).unwrap_or(raw))),
            )
            .or_else(|| filled(said())),
            answer: filled(answer.and_then(|answer| to_text(answer.get("extracted_value")?))),
            expected: references,
            question: filled(self.input.get("raw").and_then(to_text)),
            item_hash: filled(to_text(&self.sample_hash)),
            usage: self.to_usage(),
            steps: self.evaluation.get("num_turns").and_then(to_count),
            tools,
            ..ItemDetails::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn input_tokens_with_and_without_the_cache() {
        let usage = |value: Value| {
            RecordSample {
                token_usage: value,
                ..RecordSample::default()
            }
            .to_usage()
        };
        let cached = |input| {
            Some(Usage {
                input: Some(input),
                cache_write: Some(0),
                cache_read: Some(40),
                output: Some(5),
            })
        };
        let of = |input, total| json!({"input_tokens": input, "output_tokens": 5, "total_tokens": total, "input_tokens_cache_write": 0, "input_tokens_cache_read": 40});
        assert_eq!(
            usage(of(10, 55)),
            cached(10),
            "left out, as everything adds up"
        );
        assert_eq!(usage(of(50, 55)), cached(10), "in it");
        assert_eq!(usage(json!(null)), None);
    }
}
