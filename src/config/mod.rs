//! Reads `evalreport.yaml` into typed settings.
//!
//! The whole file is read and checked: all problems are reported at once, with line, column and key. This module runs no program, opens no
//! other file and does not use the environment. Settings of future commands are checked too, so that a file accepted today keeps its
//! meaning.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use crate::document::duration::parse_duration;
use crate::document::{self, Fields, Form, Node, Setting, duration, quote};
use crate::domain::{
    Aliases, CONFIGURATION_NAMES, Evaluator, MetricSettings, Price, Problem, visible,
};
use crate::files;

mod agents;
mod aliases;
mod approaches;
mod command;
mod designs;
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

pub use agents::{Agent, AgentKind};
pub use approaches::{Approach, PLACEHOLDERS};
pub use designs::SuiteDesign;
pub use exclusions::{EXCLUSIONS_FILE, load_exclusions};
pub use gates::{Gate, OnInconclusive};
pub use judge::Judge;
pub use judge_errors::{JudgeErrors, parse_share_of};
pub use published::PublishedFile;
pub use site::{Site, folder_address};
pub use tasks::{Budget, Task};

const VERSION: i64 = 1;
/// Name of the file's JSON Schema.
pub const SCHEMA: &str = "configuration";
/// Far more than a person writes. A larger file is probably no configuration.
const MOST_BYTES: u64 = 4 << 20;

/// The settings of a project. Empty if there is no file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The folder of the file, from which its relative paths start. Empty without a file.
    pub folder: PathBuf,
    pub agents: Vec<Agent>,
    /// The id of an entry in `agents`.
    pub default_agent: Option<String>,
    pub approaches: Vec<Approach>,
    pub tasks: Vec<Task>,
    pub judge: Option<Judge>,
    /// The error rates of the judges, for suites that people did not label.
    pub judge_errors: Option<JudgeErrors>,
    pub metrics: BTreeMap<String, MetricSettings>,
    /// The evaluators of finished workspaces, unless a suite has its own settings.
    pub evaluators: BTreeMap<Evaluator, Setting>,
    /// Overrides of verification's choices, as written. Verification parses them.
    pub verification: Option<Node>,
    /// The file's name in messages. Empty without a file.
    pub file: String,
    /// Sampling units by suite.
    pub designs: BTreeMap<String, SuiteDesign>,
    /// Keys of the deciding metrics by suite, if not the pass rate.
    pub primaries: BTreeMap<String, String>,
    /// Prices sorted by model and date.
    pub prices: Vec<Price>,
    pub gate: Vec<Gate>,
    /// What an inconclusive gate means, unless the command says so.
    pub on_inconclusive: Option<OnInconclusive>,
    /// Tables of published figures that the site checks.
    pub published: Vec<PublishedFile>,
    pub site: Site,
    pub aliases: Aliases,
}

/// Finds the nearest configuration in `start` or a parent folder.
pub fn find(start: &Path) -> Option<PathBuf> {
    start.ancestors().find_map(|folder| {
        CONFIGURATION_NAMES
            .map(|name| folder.join(name))
            .into_iter()
            .find(|path| is_there(path))
    })
}

/// Returns whether the path exists and is no folder. Other special files count too: loading them reports the problem.
fn is_there(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir())
}

pub fn load(path: &Path) -> Result<Config, Vec<Problem>> {
    let file = visible(&path.display().to_string());
    let text = read(path).map_err(|message| vec![Problem::in_file(&file, message)])?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    Ok(Config {
        folder,
        ..parse(&file, &text)?
    })
}

/// Returns the JSON Schema of the file, for editors: the keys that [`parse`] asks for. `verification` is the form of that key's map, which another
/// module reads; `repository` has the schema's address, as `owner/name`.
///
/// It refuses unknown keys, missing ones and values of another type. References, and what keys mean together, only [`parse`] checks.
pub fn schema(verification: Form, repository: &str) -> serde_json::Value {
    let form = Fields::form(|mut fields| {
        fields.note("verification", || verification);
        drop(read_fields(fields));
    });
    let description = "evalreport.yaml: agents, approaches, tasks, metrics, gates and the site. `evalreport help configuration` has every key.";
    form.file_schema(
        SCHEMA,
        repository,
        "Configuration of evalreport",
        description,
    )
}

/// Parses the `text` of `file`. The name `file` decides between YAML and JSON, and appears in each problem.
pub fn parse(file: &str, text: &str) -> Result<Config, Vec<Problem>> {
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

fn read(path: &Path) -> Result<String, String> {
    let size = fs::metadata(path)
        .map_err(|error| format!("cannot be read: {error}"))?
        .len();
    if size > MOST_BYTES {
        return Err(format!(
            "is no configuration: it has {size} bytes, more than {MOST_BYTES}"
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

fn read_fields(mut fields: Fields) -> Config {
    check_version(&mut fields);
    let (agents, agent_ids) = agents::read(&mut fields);
    let (metrics, evaluators) = metrics::read(&mut fields);
    let config = Config {
        folder: PathBuf::new(),
        agents,
        default_agent: agent_ids.reference(&mut fields, "default_agent"),
        approaches: approaches::read(&mut fields, &agent_ids),
        tasks: tasks::read(&mut fields, &agent_ids),
        judge: judge::read(&mut fields, &agent_ids),
        judge_errors: judge_errors::read(&mut fields),
        metrics,
        evaluators,
        verification: fields.child("verification").cloned(),
        file: fields.file().to_owned(),
        designs: designs::read(&mut fields),
        primaries: primaries::read(&mut fields),
        prices: prices::read(&mut fields),
        gate: gates::read(&mut fields),
        on_inconclusive: gates::read_on_inconclusive(&mut fields),
        published: published::read(&mut fields),
        site: site::read(&mut fields),
        aliases: aliases::read(&mut fields),
    };
    fields.replaced(&REPLACED);
    fields.finish();
    config
}

/// Keys of cogni's configuration that this one does not have.
const REPLACED: [(&str, &str); 3] = [
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
    fields.note("version", || Form::Exactly(VERSION));
    fields.note_required("version");
    if fields.child("version").is_none() {
        fields.reject(
            "version",
            "`version` is missing",
            Some(format!("write version: {VERSION}")),
        );
    } else if let Some(version) = fields.integer("version")
        && version != VERSION
    {
        let message = format!("version {} is not supported", quote(&version.to_string()));
        fields.reject(
            "version",
            message,
            Some(format!("write version: {VERSION}")),
        );
    }
}

#[cfg(test)]
mod tests;
