//! Runs and their outcomes as one JSON document, for programs: the same records as in the store, without the store.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::domain::{ItemDetails, ItemOutcome, Run};

use super::header::WireRun;
use super::{ItemLine, header, item_line};

/// Writes the pieces of a document; each run and each outcome is a line of its own.
#[derive(Default)]
pub struct RecordsWriter {
    line: String,
    is_begun: bool,
}

impl RecordsWriter {
    /// What comes after the last outcome.
    pub const END: &str = "\n]}\n";

    /// Writes everything up to the first outcome.
    pub fn begin(runs: &[&Run]) -> String {
        let runs: Vec<String> = runs.iter().map(|run| header::to_json(run)).collect();
        format!("{{\"schema\":\"evalreport/records/1\",\"runs\":[\n{}\n],\"items\":[\n", runs.join(",\n"))
    }

    /// Writes one outcome, and what separates it from the one before.
    pub fn item(&mut self, outcome: &ItemOutcome, details: &ItemDetails) -> &str {
        self.line.clear();
        if std::mem::replace(&mut self.is_begun, true) {
            self.line.push_str(",\n");
        }
        item_line::write_detailed_line(outcome, details, true, &mut self.line);
        self.line.truncate(self.line.trim_end_matches('\n').len());
        &self.line
    }
}

/// The whole, as its schema describes it; it is written in pieces.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described")]
struct Records {
    /// `evalreport/records/1`.
    schema: String,
    runs: Vec<WireRun>,
    /// The outcomes that count.
    items: Vec<DetailedLine>,
}

/// An outcome with what else is known of it.
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
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Records>()
}
