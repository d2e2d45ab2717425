//! Fields of OTLP in JSON that are read. Every field is optional, and any value may have an unexpected type.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::{Lenient, ObjectList, to_count, to_number, to_text};

/// One export, such as a line of a collector's file.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct OtlpExport {
    pub resource_spans: ObjectList<ResourceSpans>,
    pub resource_logs: ObjectList<ResourceLogs>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceSpans {
    pub resource: Lenient<OtlpResource>,
    pub scope_spans: ObjectList<ScopeSpans>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OtlpResource {
    pub attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ScopeSpans {
    pub spans: ObjectList<OtlpSpan>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct OtlpSpan {
    pub trace_id: Value,
    #[serde(rename = "spanId")]
    pub id: Value,
    pub parent_span_id: Value,
    start_time_unix_nano: Value,
    end_time_unix_nano: Value,
    pub attributes: Attributes,
    pub events: ObjectList<OtlpEvent>,
    pub status: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OtlpEvent {
    pub name: Value,
    pub attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceLogs {
    pub scope_logs: ObjectList<ScopeLogs>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ScopeLogs {
    pub log_records: ObjectList<LogRecord>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct LogRecord {
    pub trace_id: Value,
    pub span_id: Value,
    pub event_name: Value,
    pub attributes: Attributes,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct KeyValue {
    key: Value,
    value: Value,
}

/// Attributes as OTLP writes them: a list of keys, each with a value that names its type.
#[derive(Clone, Default, Deserialize)]
#[serde(default, transparent)]
pub(super) struct Attributes(ObjectList<KeyValue>);

impl Attributes {
    fn value(&self, key: &str) -> Option<&Value> {
        let of_key = self.0.iter().find(|attribute| attribute.key == key)?;
        of_key.value.as_object()?.values().next()
    }

    /// Returns the text, number or boolean under the first key that has one.
    pub fn text(&self, keys: &[&str]) -> Option<String> {
        keys.iter()
            .find_map(|key| to_text(self.value(key)?))
            .filter(|text| !text.trim().is_empty())
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        to_number(self.value(key)?)
    }

    /// Returns the count under the first key that has one. OTLP writes whole numbers as texts.
    pub fn count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| {
            let value = self.value(key)?;
            value
                .as_str()
                .and_then(|text| text.parse().ok())
                .or_else(|| to_count(value))
        })
    }
}

impl OtlpSpan {
    /// Returns start and end, in seconds since 1970.
    pub fn start_and_end(&self) -> Option<(f64, f64)> {
        let seconds = |value: &Value| {
            to_number(value)
                .filter(|nanoseconds| *nanoseconds > 0.0)
                .map(|nanoseconds| nanoseconds / 1e9)
        };
        seconds(&self.start_time_unix_nano)
            .zip(seconds(&self.end_time_unix_nano))
            .filter(|(start, end)| start <= end)
    }

    pub fn is_error(&self) -> bool {
        let code = &self.status["code"];
        code == 2 || code == "STATUS_CODE_ERROR" || code == "2"
    }
}
