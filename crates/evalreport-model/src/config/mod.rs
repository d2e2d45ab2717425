//! Reads `evalreport.yaml` into typed settings.
//!
//! The whole file is read and checked: all problems are reported at once, with line, column and key. This module runs no program, opens no
//! other file and does not use the environment. Settings of future commands are checked too, so that a file accepted today keeps its
//! meaning.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use crate::document::duration::parse_duration;
use crate::document::{self, Fields, Node, SwitchSetting, ValueForm, duration, quote_text};
use crate::domain::{
    Aliases, CONFIGURATION_NAMES, Evaluator, MetricSettings, ModelPrice, Problem, escape_invisible,
};
use crate::files;

mod agents;
mod aliases;
mod approaches;
mod command;
mod designs;
mod exchange;
mod exclusions;
mod gates;
mod ids;
mod judge;
mod judge_errors;
mod metrics;
mod prices;
mod primaries;
mod published;
mod site;
mod tasks;

pub use agents::{AgentConfig, AgentKind, InstructionText, QUESTION_PLACE, RateLimit};
pub use approaches::{ApproachConfig, PLACEHOLDERS};
pub use designs::SuiteDesign;
pub use exclusions::{EXCLUSIONS_FILE, load_exclusions};
pub use gates::{GateConfig, InconclusiveMeaning};
pub use judge::JudgeConfig;
pub use judge_errors::{JudgeErrors, parse_share_of};
pub use published::PublishedFile;
pub use site::{SiteConfig, folder_address};
pub use tasks::{ConfiguredTask, QuestionBudget};

const FORMAT_VERSION: i64 = 1;
/// Name of the file's JSON Schema.
pub const SCHEMA_NAME: &str = "configuration";
/// Far more than a person writes. A larger file is probably no configuration.
const MAX_BYTES: u64 = 4 << 20;

/// The settings of a project. Empty if there is no file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectConfig {
    /// The folder of the file, from which its relative paths start. Empty without a file.
    pub folder: PathBuf,
    pub agents: Vec<AgentConfig>,
    /// The id of an entry in `agents`.
    pub default_agent: Option<String>,
    pub approaches: Vec<ApproachConfig>,
    pub tasks: Vec<ConfiguredTask>,
    pub judge: Option<JudgeConfig>,
    /// The error rates of the judges, for suites that people did not label.
    pub judge_errors: Option<JudgeErrors>,
    pub metrics: BTreeMap<String, MetricSettings>,
    /// The evaluators of finished workspaces, unless a suite has its own settings.
    pub evaluators: BTreeMap<Evaluator, SwitchSetting>,
    /// Overrides of verification's choices, as written. Verification parses them.
    pub verification: Option<Node>,
    /// The file's name in messages. Empty without a file.
    pub file: String,
    /// Sampling units by suite.
    pub designs: BTreeMap<String, SuiteDesign>,
    /// Keys of the deciding metrics by suite, if not the pass rate.
    pub primaries: BTreeMap<String, String>,
    /// What 100 percentage points of the deciding rate are worth for each item, in dollars.
    pub usd_per_unit: Option<f64>,
    /// Prices sorted by model and date.
    pub prices: Vec<ModelPrice>,
    pub gate: Vec<GateConfig>,
    /// What an inconclusive gate means, unless the command says so.
    pub on_inconclusive: Option<InconclusiveMeaning>,
    /// Tables of published figures that the site checks.
    pub published: Vec<PublishedFile>,
    pub site: SiteConfig,
    pub aliases: Aliases,
}

/// Finds the nearest configuration in `start` or a parent folder.
pub fn find_file(start: &Path) -> Option<PathBuf> {
    start.ancestors().find_map(|folder| {
        CONFIGURATION_NAMES
            .map(|name| folder.join(name))
            .into_iter()
            .find(|path| is_present_file(path))
    })
}

/// Returns whether the path exists and is no folder. Other special files count too: loading them reports the problem.
fn is_present_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir())
}

pub fn load(path: &Path) -> Result<ProjectConfig, Vec<Problem>> {
    let file = escape_invisible(&path.display().to_string());
    let text = read_text(path).map_err(|message| vec![Problem::in_file(&file, message)])?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    Ok(ProjectConfig {
        folder,
        ..parse(&file, &text)?
    })
}

/// Returns the JSON Schema of the file, for editors: the keys that [`parse`] asks for. `verification` is the form of that key's map, which another
/// module reads; `repository` has the schema's address, as `owner/name`.
///
/// It refuses unknown keys, missing ones and values of another type. References, and what keys mean together, only [`parse`] checks.
pub fn json_schema(verification: ValueForm, repository: &str) -> serde_json::Value {
    let form = Fields::derive_form(|mut fields| {
        fields.note_form("verification", || verification);
        drop(read_fields(fields));
    });
    let description = "evalreport.yaml: agents, approaches, tasks, metrics, gates and the site. `evalreport help configuration` has every key.";
    form.to_file_schema(
        SCHEMA_NAME,
        repository,
        "Configuration of evalreport",
        description,
    )
}

/// Parses the `text` of `file`. The name `file` decides between YAML and JSON, and appears in each problem.
pub fn parse(file: &str, text: &str) -> Result<ProjectConfig, Vec<Problem>> {
    let root = document::parse(file, text)?;
    let mut problems = Vec::new();
    let config = Fields::new(file, &root, "", &mut problems).map(read_fields);
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        Some(_) | None => {
            // In file order, not in the order in which the keys were read.
            problems.sort();
            Err(problems)
        }
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let size = fs::metadata(path)
        .map_err(|error| format!("cannot be read: {error}"))?
        .len();
    if size > MAX_BYTES {
        return Err(format!(
            "is no configuration: it has {size} bytes, more than {MAX_BYTES}"
        ));
    }
    let bytes = files::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        format!(
            "is not valid UTF-8 from byte {} on",
            error.utf8_error().valid_up_to() + 1
        )
    })
}

fn read_fields(mut fields: Fields) -> ProjectConfig {
    check_version(&mut fields);
    let (agents, agent_ids) = agents::read_section(&mut fields);
    let (metrics, evaluators) = metrics::read_sections(&mut fields);
    let config = ProjectConfig {
        folder: PathBuf::new(),
        agents,
        default_agent: agent_ids.read_reference(&mut fields, "default_agent"),
        approaches: approaches::read_section(&mut fields, &agent_ids),
        tasks: tasks::read_section(&mut fields, &agent_ids),
        judge: judge::read_section(&mut fields, &agent_ids),
        judge_errors: judge_errors::read_section(&mut fields),
        metrics,
        evaluators,
        verification: fields.child("verification").cloned(),
        file: fields.file().to_owned(),
        designs: designs::read_section(&mut fields),
        primaries: primaries::read_section(&mut fields),
        usd_per_unit: exchange::read_section(&mut fields),
        prices: prices::read_section(&mut fields),
        gate: gates::read_section(&mut fields),
        on_inconclusive: gates::read_on_inconclusive(&mut fields),
        published: published::read_section(&mut fields),
        site: site::read_section(&mut fields),
        aliases: aliases::read_section(&mut fields),
    };
    fields.set_replacements(&REPLACED_KEYS);
    fields.finish();
    config
}

/// Keys of cogni's configuration that this one does not have.
const REPLACED_KEYS: [(&str, &str); 3] = [
    (
        "adapters",
        "describe agents under `agents`, and their questions as tasks of `type: question_eval`",
    ),
    (
        "rate_limiter",
        "remove it: `concurrency` of a task and --jobs limit parallel questions, and `Retry-After` is obeyed",
    ),
    (
        "repo",
        "remove it: --results DIR replaces `output_dir`; run `setup_commands` before evalreport, as a step of your build",
    ),
];

fn check_version(fields: &mut Fields) {
    fields.note_form("version", || ValueForm::Exactly(FORMAT_VERSION));
    fields.note_required("version");
    if fields.child("version").is_none() {
        fields.reject(
            "version",
            "`version` is missing",
            Some(format!("write version: {FORMAT_VERSION}")),
        );
    } else if let Some(version) = fields.integer("version")
        && version != FORMAT_VERSION
    {
        let message = format!(
            "version {} is not supported",
            quote_text(&version.to_string())
        );
        fields.reject(
            "version",
            message,
            Some(format!("write version: {FORMAT_VERSION}")),
        );
    }
}

#[cfg(test)]
mod tests;
