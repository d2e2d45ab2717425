//! Results of an import.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Unit;

/// The output of `import`.
#[derive(Serialize, JsonSchema)]
pub struct ImportAnswer {
    /// Nothing was written.
    pub dry_run: bool,
    /// In the order in which they were found.
    pub sources: Vec<ImportedSource>,
    /// Files of the walked folders in no known format.
    pub unrecognised: Vec<UnrecognisedFile>,
    /// Symbolic links in the walked folders, which are not followed.
    pub links: Vec<String>,
    /// Files of the walked folders that were not opened.
    pub passed_over: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct UnrecognisedFile {
    pub file: String,
    /// The tool that wrote the file, if it is known but its format is not supported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// A file, or the files of one run or job.
#[derive(Serialize, JsonSchema)]
pub struct ImportedSource {
    pub file: String,
    /// SHA-256 of the bytes; of several files, of their names and digests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// `imported`, `already_imported`, `nothing_new`, `nothing_accepted` or `unreadable`.
    pub outcome: String,
    pub problems: Vec<String>,
    pub rows_read: u64,
    pub rows_accepted: u64,
    pub rows_refused: u64,
    pub refusals: Vec<RefusedRows>,
    /// Ids of the runs that are, or would be, stored.
    pub runs_new: Vec<String>,
    /// Ids of runs that were already stored.
    pub runs_repeated: Vec<String>,
    /// Stored runs whose sources now have other outcomes, with the new runs that replace them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub runs_replaced: BTreeMap<String, String>,
    /// Notes on runs that were not imported or that came back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Outcomes of the new runs.
    pub items: u64,
    pub columns_unused: Vec<String>,
    pub columns_lacking: Vec<String>,
    /// Figures stated by the source that could be recomputed.
    pub stated_checked: u64,
    pub stated_agree: u64,
    pub disagreements: Vec<StatedOtherwise>,
    /// Absent for tables and rubrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignSource>,
}

/// Rows refused for one reason.
#[derive(Serialize, JsonSchema)]
pub struct RefusedRows {
    pub reason: String,
    pub rows: u64,
    /// The first of the refused rows.
    pub examples: Vec<String>,
}

/// A stated figure that differs from the source's own records.
#[derive(Serialize, JsonSchema)]
pub struct StatedOtherwise {
    pub run: String,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    pub figure: String,
    pub stated: f64,
    pub recomputed: f64,
}

/// Contents and gaps of a source in a known format.
#[derive(Serialize, JsonSchema)]
pub struct ForeignSource {
    pub format: String,
    /// The version that the files name, of the tool or of the format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Number of files.
    pub files: usize,
    /// Evalreport's fields; those of outcomes begin with `item.`.
    pub fields: Vec<HeldField>,
    pub quirks: Vec<Quirk>,
    pub stated: Vec<CheckedFigure>,
}

/// Number of runs or outcomes that have a field.
#[derive(Serialize, JsonSchema)]
pub struct HeldField {
    pub field: String,
    pub held: u64,
    pub of: u64,
}

/// An oddity of the source, and how it was read.
#[derive(Serialize, JsonSchema)]
pub struct Quirk {
    pub quirk: String,
    pub times: u64,
}

/// A figure that the source states about itself.
#[derive(Serialize, JsonSchema)]
pub struct CheckedFigure {
    pub run: String,
    pub figure: String,
    pub unit: Unit,
    pub stated: f64,
    /// Absent if the source lacks the data to recompute it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recomputed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
}
