//! Versioned JSON for programs.

use chrono::{DateTime, Utc};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::domain::UnfinishedRun;
use crate::views::{
    Abilities, AgreementReport, Apart, Audit, Board, ClaimsAudit, Comparison, DecideReport,
    GateReport, History, Horizons, JudgeReport, LabelReport, NextReport, NoiseLedger, OpenArm,
    Overall, PlanReport, Preferences, ProbeReport, RunLine, Runnable, ShownRun, SuiteLine,
    UnauditedBoard, UnfittedBoard, VersionChange,
};

use super::table::TableColumn;
use super::{board, item_table, tables};

/// A command's answer with the name and version of its schema.
#[derive(Serialize, JsonSchema)]
pub struct Versioned<T> {
    /// `evalreport/<command>/<version>`. The version changes if a field is removed or changes its meaning.
    pub schema: String,
    #[serde(flatten)]
    pub answer: T,
}

/// Answer of `audit`.
#[derive(Serialize, JsonSchema)]
pub struct AuditAnswer {
    pub audits: Vec<Audit>,
    /// Boards without an order to audit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<UnauditedBoard>,
    /// Of `--claims`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<ClaimsAudit>,
}

/// Answer of `fit abilities`.
#[derive(Serialize, JsonSchema)]
pub struct AbilitiesAnswer {
    pub boards: Vec<Abilities>,
    /// Boards without a fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<UnfittedBoard>,
}

/// Answer of `fit preferences`.
#[derive(Serialize, JsonSchema)]
pub struct PreferencesAnswer {
    pub boards: Vec<Preferences>,
}

/// Answer of `fit horizons`.
#[derive(Serialize, JsonSchema)]
pub struct HorizonsAnswer {
    pub suites: Vec<Horizons>,
}

/// Answer of `compare`.
#[derive(Serialize, JsonSchema)]
pub struct CompareAnswer {
    pub comparisons: Vec<Comparison>,
    /// Arms of one suite that are in no common table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<Apart>,
    /// Which commit and runs are the baseline, if it is the name of a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
    /// Number of selected runs that are retracted.
    pub retracted: u64,
}

/// Answer of `leaderboard`.
#[derive(Serialize, JsonSchema)]
pub struct LeaderboardAnswer {
    #[serde(flatten)]
    pub board: Board,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<Overall>,
}

/// Answer of `noise`.
#[derive(Serialize, JsonSchema)]
pub struct NoiseAnswer {
    pub suites: Vec<NoiseLedger>,
}

/// Answer of `gate`.
#[derive(Serialize, JsonSchema)]
pub struct GateAnswer {
    /// The baseline as requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Why there is no baseline: the attempts to find one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Which commit and runs are the baseline, if it is the name of a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
    /// What the gate looked at in words, in the order of `looked_at`.
    pub looked_at_sentences: Vec<String>,
    #[serde(flatten)]
    pub report: GateReport,
    /// Number of selected runs that are retracted.
    pub retracted: u64,
}

/// Answer of `gate --plan`.
#[derive(Serialize, JsonSchema)]
pub struct GatePlanAnswer {
    /// The baseline as requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    #[serde(flatten)]
    pub report: PlanReport,
}

/// Answer of `gate --accept`.
#[derive(Serialize, JsonSchema)]
pub struct GateAcceptAnswer {
    pub reason: String,
    /// Who accepted, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    pub time: DateTime<Utc>,
    /// The arms with their regressions. Gates with a moving baseline begin it anew with the first of these nights.
    pub accepted: Vec<OpenArm>,
}

/// Answer of `gate --decide`.
#[derive(Serialize, JsonSchema)]
pub struct GateDecideAnswer {
    /// The baseline as requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Why there is no baseline: the attempts to find one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The decisions in words, in their order.
    pub sentences: Vec<String>,
    #[serde(flatten)]
    pub report: DecideReport,
}

/// Answer of `history`.
#[derive(Serialize, JsonSchema)]
pub struct HistoryAnswer {
    pub histories: Vec<History>,
    /// Number of selected runs that are retracted.
    pub retracted: u64,
}

/// Answer of `list`.
#[derive(Serialize, JsonSchema)]
pub struct ListAnswer {
    /// Suites with results.
    pub suites: Vec<SuiteLine>,
    /// Suites, tasks, agents and approaches that can be run here, with their problems. Absent if runs were selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runnable: Option<Runnable>,
    /// Why the newest version of a suite with runs differs from the version before. Absent if runs were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub version_changes: Vec<VersionChange>,
    /// Number of selected runs.
    pub runs: u64,
    /// The runs themselves, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_lines: Option<Vec<RunLine>>,
    /// Number of selected runs that are retracted.
    pub retracted: u64,
    /// Runs with a folder but no header: in flight or abandoned.
    pub unfinished: u64,
    /// Those of them that are selected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished_runs: Vec<UnfinishedRun>,
}

/// Answer of `show`.
#[derive(Serialize, JsonSchema)]
pub struct ShowAnswer {
    pub runs: Vec<ShownRun>,
    /// Requested runs without a header: in progress or abandoned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<UnfinishedRun>,
}

/// Answer of `judge`.
#[derive(Serialize, JsonSchema)]
pub struct JudgeAnswer {
    #[serde(flatten)]
    pub report: JudgeReport,
}

/// Answer of `judge --agreement` and `judge --against`.
#[derive(Serialize, JsonSchema)]
pub struct AgreementAnswer {
    #[serde(flatten)]
    pub report: AgreementReport,
}

/// Answer of `import` of people's labels.
#[derive(Serialize, JsonSchema)]
pub struct LabelsAnswer {
    #[serde(flatten)]
    pub report: LabelReport,
}

/// Answer of `judge --next`.
#[derive(Serialize, JsonSchema)]
pub struct NextAnswer {
    #[serde(flatten)]
    pub report: NextReport,
}

/// Answer of `judge --probe`.
#[derive(Serialize, JsonSchema)]
pub struct ProbeAnswer {
    #[serde(flatten)]
    pub report: ProbeReport,
}

/// Returns the version of a command's schema. Answers with verdicts have version 2: a verdict has its reason, and the arm with the best
/// value is the leader instead of the winner.
fn schema_version(command: &str) -> u32 {
    if matches!(
        command,
        "compare" | "disagreements" | "gate" | "leaderboard" | "suite"
    ) {
        2
    } else {
        1
    }
}

/// Writes an answer as one indented document.
pub fn write_document<T: Serialize>(command: &str, answer: T) -> String {
    let versioned = Versioned {
        schema: format!("evalreport/{command}/{}", schema_version(command)),
        answer,
    };
    let mut text = serde_json::to_string_pretty(&versioned)
        .expect("views are JSON: their numbers are finite and their keys are text");
    text.push('\n');
    text
}

/// The name of an answer, and the function that makes its JSON Schema.
pub type AnswerSchema = (&'static str, fn() -> Schema);

/// Returns the schema of `leaderboard`.
pub fn leaderboard_schema() -> Schema {
    describe_fields(
        answer_schema::<LeaderboardAnswer>(),
        "Entry",
        &board::all_columns(),
    )
}

/// Returns the schema of `list`.
pub fn list_schema() -> Schema {
    describe_fields(
        answer_schema::<ListAnswer>(),
        "RunLine",
        &tables::runs_table([]).columns,
    )
}

/// Returns the schema of `show`.
pub fn show_schema() -> Schema {
    describe_fields(
        answer_schema::<ShowAnswer>(),
        "ItemRow",
        &item_table::item_rows_table("", &[], &str::to_owned).columns,
    )
}

/// Adds the columns' descriptions to the fields of a row: title in tables, unit, and better direction.
fn describe_fields(mut schema: Schema, row: &str, columns: &[TableColumn]) -> Schema {
    for column in columns.iter().filter(|column| !column.field.is_empty()) {
        let Some(field) = schema
            .pointer_mut(&format!("/$defs/{row}/properties/{}", column.field))
            .and_then(Value::as_object_mut)
        else {
            continue;
        };
        let title = match field.get("title").and_then(Value::as_str) {
            Some(before) => format!("{before}; {}", column.full_label()),
            None => column.full_label(),
        };
        field.insert("title".to_owned(), title.into());
        if let Some(unit) = column.unit {
            field.insert("x-unit".to_owned(), unit.name().into());
            field.insert("x-better".to_owned(), column.direction.name().into());
        }
    }
    schema
}

/// Returns the schema of written answers, in which fields that may be omitted are not required.
pub fn answer_schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Versioned<T>>()
}
