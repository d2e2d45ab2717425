//! Fields of an Inspect log that are read. Every field is optional, and any value may have an unexpected type.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::json::{Lenient, ObjectList, ObjectTable, others_are, values_are};

/// The keys of a log's header that are read.
pub(super) const HEADER_KEYS: [&str; 8] = [
    "status",
    "eval",
    "plan",
    "results",
    "stats",
    "error",
    "invalidated",
    "tags",
];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectHeader {
    pub status: Value,
    pub eval: Lenient<InspectEval>,
    pub plan: Lenient<SolverPlan>,
    pub results: Lenient<InspectResults>,
    pub stats: Lenient<InspectStats>,
    pub error: Lenient<LogError>,
    pub invalidated: Value,
    /// Preferred to the copy in `eval`, because it has later edits.
    pub tags: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectEval {
    pub eval_id: Value,
    pub run_id: Value,
    pub task_id: Value,
    pub eval_set_id: Value,
    pub created: Value,
    pub task: Value,
    pub task_version: Value,
    pub task_args: Value,
    pub solver: Value,
    pub solver_args: Value,
    pub model: Value,
    pub model_args: Value,
    pub model_base_url: Value,
    pub model_generate_config: Value,
    pub model_roles: Value,
    pub dataset: Value,
    pub config: Value,
    pub revision: Lenient<InspectRevision>,
    pub packages: Value,
    pub scorers: Value,
    pub sandbox: Value,
    pub tags: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectRevision {
    pub commit: Value,
    pub dirty: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SolverPlan {
    pub steps: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectResults {
    pub total_samples: Value,
    pub completed_samples: Value,
    pub scores: ObjectList<InspectScore>,
    pub headline: Lenient<Headline>,
    /// Logs of early 2024 have one scorer and its metrics here.
    pub scorer: Lenient<OldScorer>,
    pub metrics: ObjectTable<InspectMetric>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OldScorer {
    pub name: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Headline {
    pub scorer: Value,
    pub score: Value,
    pub metric: Value,
}

/// Metrics of one scorer, or of one key of its values.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectScore {
    pub name: Value,
    pub scorer: Value,
    pub reducer: Value,
    pub scored_samples: Value,
    pub metrics: ObjectTable<InspectMetric>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectMetric {
    pub name: Value,
    pub value: Value,
    pub params: Value,
    /// Earlier name of `params`.
    pub options: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectStats {
    pub started_at: Value,
    pub completed_at: Value,
    pub model_usage: ObjectTable<ModelUsage>,
    /// Usage by role. `model_usage` includes it.
    pub role_usage: ObjectTable<ModelUsage>,
}

/// Input tokens exclude the cache.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelUsage {
    pub input_tokens: Value,
    pub output_tokens: Value,
    pub total_tokens: Value,
    pub input_tokens_cache_read: Value,
    pub input_tokens_cache_write: Value,
    pub total_cost: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct LogError {
    pub message: Value,
}

/// A sample of a log, or the summary of a sample. Shared fields have the same name.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectSample {
    pub id: Value,
    pub epoch: Value,
    pub input: Value,
    pub choices: Value,
    pub target: Value,
    pub metadata: Value,
    pub output: Lenient<SampleOutput>,
    pub scores: ObjectTable<SampleScore>,
    /// Logs of early 2024 have a single score.
    pub score: Lenient<SampleScore>,
    pub model_usage: ObjectTable<ModelUsage>,
    pub role_usage: ObjectTable<ModelUsage>,
    pub total_time: Value,
    pub working_time: Value,
    /// An object in a sample, its message in a summary.
    pub error: Value,
    /// An object in a sample, its kind in a summary.
    pub limit: Value,
    pub error_retries: Value,
    pub retries: Value,
    pub message_count: Value,
    pub attachments: Attachments,
}

/// Key of a summary, and whether it has tokens.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectSampleSummary {
    pub id: Value,
    pub epoch: Value,
    pub model_usage: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SampleOutput {
    pub completion: Value,
    pub choices: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SampleScore {
    pub value: Value,
    pub answer: Value,
    pub explanation: Value,
}

/// Texts that a sample refers to as `attachment://<hash>`, each cut to the shown length: images are megabytes.
#[derive(Default)]
pub(super) struct Attachments(pub BTreeMap<String, String>);

const MAX_ATTACHED_CHARS: usize = 4096;

impl<'de> Deserialize<'de> for Attachments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AttachmentsVisitor)
    }
}

struct AttachmentsVisitor;

impl<'de> Visitor<'de> for AttachmentsVisitor {
    type Value = Attachments;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("attachments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attachments, A::Error> {
        let mut kept = BTreeMap::new();
        while let Some(hash) = map.next_key::<String>()? {
            if let Some(text) = map.next_value::<ClippedText>()?.0 {
                kept.insert(hash, text);
            }
        }
        Ok(Attachments(kept))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Attachments, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Attachments::default())
    }

    values_are!(Attachments::default());
}

/// The beginning of a text. `None` for any other value.
struct ClippedText(Option<String>);

impl<'de> Deserialize<'de> for ClippedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ClippedTextVisitor)
    }
}

struct ClippedTextVisitor;

impl<'de> Visitor<'de> for ClippedTextVisitor {
    type Value = ClippedText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<ClippedText, E> {
        Ok(ClippedText(Some(
            text.chars().take(MAX_ATTACHED_CHARS).collect(),
        )))
    }

    others_are!(ClippedText(None));

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ClippedText, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ClippedText(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ClippedText, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ClippedText(None))
    }
}
