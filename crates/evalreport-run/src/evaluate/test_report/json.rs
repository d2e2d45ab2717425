//! The JSON report of jest, which vitest also writes.

use serde::Deserialize;

use crate::domain::ItemStatus;

use super::collect::OutcomeCollector;
use super::output::truncate_name;

const MAX_BYTES: usize = 64 << 20;

#[derive(Deserialize)]
struct WireReport {
    #[serde(rename = "testResults")]
    files: Vec<WireFile>,
}

#[derive(Deserialize)]
struct WireFile {
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: Option<String>,
    #[serde(rename = "assertionResults", default)]
    tests: Vec<WireTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTest {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    status: String,
    /// In milliseconds.
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

/// Adds the tests of a report, as `file > group > title`.
pub fn read_tests(bytes: &[u8], tests: &mut OutcomeCollector) {
    if bytes.len() > MAX_BYTES {
        tests.push(
            "(report)",
            ItemStatus::Error,
            None,
            Some("the report is larger than 64 MiB and was not read"),
        );
        return;
    }
    let report: WireReport = match serde_json::from_slice(bytes) {
        Ok(report) => report,
        Err(error) => {
            tests.push(
                "(report)",
                ItemStatus::Error,
                None,
                Some(&format!("the report is not jest's JSON: {error}")),
            );
            return;
        }
    };
    for file in report.files {
        let mut has_failure = false;
        for test in &file.tests {
            let (status, unknown) = match test.status.as_str() {
                "passed" => (ItemStatus::Pass, None),
                "failed" => (ItemStatus::Fail, None),
                "skipped" | "pending" | "todo" | "disabled" => (ItemStatus::Skipped, None),
                other => (ItemStatus::Error, Some(format!("status `{other}`"))),
            };
            has_failure |= status == ItemStatus::Fail || status == ItemStatus::Error;
            let titles = test
                .ancestor_titles
                .iter()
                .filter(|title| !title.is_empty())
                .chain([&test.title]);
            let id = std::iter::once(truncate_name(&file.name))
                .chain(titles.map(String::as_str))
                .collect::<Vec<_>>()
                .join(" > ");
            let failure = test
                .failure_messages
                .as_ref()
                .and_then(|messages| messages.first());
            let message = unknown
                .as_deref()
                .or_else(|| failure.map(|text| text.lines().next().unwrap_or(text.as_str())));
            tests.push(
                &id,
                status,
                test.duration.map(|milliseconds| milliseconds / 1000.0),
                message,
            );
        }
        // The file did not load, or failed outside its tests.
        if file.status == "failed" && !has_failure {
            tests.push(
                &file.name,
                ItemStatus::Error,
                None,
                file.message
                    .as_deref()
                    .or(Some("the file failed outside its tests")),
            );
        }
    }
}
