//! Runs and their outcomes as one JSON document for programs: the store's records without the store.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::domain::{ItemDetails, ItemOutcome, Run};

use super::header::WireRun;
use super::{ItemLine, header, item_line};

/// Writes a document in pieces. Each run and each outcome is one line.
#[derive(Default)]
pub struct RecordsWriter {
    line: String,
    is_begun: bool,
}

impl RecordsWriter {
    /// The text after the last outcome.
    pub const END: &str = "\n]}\n";

    /// Returns the text before the first outcome.
    pub fn opening_text(runs: &[&Run]) -> String {
        let runs: Vec<String> = runs.iter().map(|run| header::to_json(run)).collect();
        format!(
            "{{\"schema\":\"evalreport/records/1\",\"runs\":[\n{}\n],\"items\":[\n",
            runs.join(",\n")
        )
    }

    /// Returns the text of one outcome, with the separator from the previous one.
    pub fn item_text(&mut self, outcome: &ItemOutcome, details: &ItemDetails) -> &str {
        self.line.clear();
        if std::mem::replace(&mut self.is_begun, true) {
            self.line.push_str(",\n");
        }
        item_line::write_detailed_line(outcome, details, true, &mut self.line);
        self.line.truncate(self.line.trim_end_matches('\n').len());
        &self.line
    }
}

/// The whole document, for its schema; it is written in pieces.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described")]
struct Records {
    /// `evalreport/records/1`.
    schema: String,
    runs: Vec<WireRun>,
    /// The outcomes that count.
    items: Vec<DetailedLine>,
}

/// An outcome with its details.
#[derive(JsonSchema)]
#[schemars(rename = "Outcome")]
#[expect(dead_code, reason = "it is only described")]
struct DetailedLine {
    #[serde(flatten)]
    line: ItemLine<'static>,
    #[serde(default)]
    details: ItemDetails,
}

/// Returns the JSON Schema of a document.
pub fn records_schema() -> Schema {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Records>()
}
