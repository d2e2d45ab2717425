//! `evalreport.yaml` into typed settings.
//!
//! A file is read whole and judged whole: every problem comes back at once, with its line, column and key. Nothing here runs a program,
//! opens another file or looks at the environment; settings of commands to come are read and checked all the same, so that a file that
//! is accepted today means what it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use crate::document::duration::parse_duration;
use crate::document::{self, Fields, Node, Setting, duration, quote};
use crate::domain::{Aliases, CONFIGURATION_NAMES, Evaluator, MetricSettings, Price, Problem, visible};
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
mod metrics;
mod prices;
mod primaries;
mod site;
mod tasks;

pub use agents::{Agent, AgentKind};
pub use approaches::{Approach, PLACEHOLDERS};
pub use designs::SuiteDesign;
pub use exclusions::{EXCLUSIONS_FILE, load_exclusions};
pub use gates::Gate;
pub use judge::Judge;
pub use site::{Site, folder_address};
pub use tasks::{Budget, Task};

const VERSION: i64 = 1;
/// Far more than a person writes; a larger file is some other file.
const MOST_BYTES: u64 = 4 << 20;

/// The settings of a project. Without a file, everything is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The folder of the file, which relative paths in it start from; empty without a file.
    pub folder: PathBuf,
    pub agents: Vec<Agent>,
    /// The id of one of `agents`.
    pub default_agent: Option<String>,
    pub approaches: Vec<Approach>,
    pub tasks: Vec<Task>,
    pub judge: Option<Judge>,
    pub metrics: BTreeMap<String, MetricSettings>,
    /// What turns finished workspaces into scores, for every suite that does not say otherwise.
    pub evaluators: BTreeMap<Evaluator, Setting>,
    /// Overrides of what verification would choose, as written: verification reads it.
    pub verification: Option<Node>,
    /// The file as messages name it; empty without one.
    pub file: String,
    /// By suite.
    pub designs: BTreeMap<String, SuiteDesign>,
    /// By suite: the key of the metric that decides, where that is not the pass rate.
    pub primaries: BTreeMap<String, String>,
    /// Sorted by model and date.
    pub prices: Vec<Price>,
    pub gate: Vec<Gate>,
    pub site: Site,
    pub aliases: Aliases,
}

/// Walks up from the folder `start` to the nearest configuration.
pub fn find(start: &Path) -> Option<PathBuf> {
    start.ancestors().find_map(|folder| CONFIGURATION_NAMES.map(|name| folder.join(name)).into_iter().find(|path| is_there(path)))
}

/// What is no file is found too, to be refused: it was meant.
fn is_there(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir())
}

pub fn load(path: &Path) -> Result<Config, Vec<Problem>> {
    let file = visible(&path.display().to_string());
    let text = read(path).map_err(|message| vec![Problem::in_file(&file, message)])?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    Ok(Config { folder, ..parse(&file, &text)? })
}

/// Reads `text`, which came from `file`; `file` decides between YAML and JSON and names the place of each problem.
pub fn parse(file: &str, text: &str) -> Result<Config, Vec<Problem>> {
    let root = document::parse(file, text)?;
    let mut problems = Vec::new();
    let config = Fields::new(file, &root, "", &mut problems).map(read_fields);
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        Some(_) | None => {
            // In the order of the file, whatever order the keys were asked for in.
            problems.sort();
            Err(problems)
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    let size = fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?.len();
    if size > MOST_BYTES {
        return Err(format!("is no configuration: it has {size} bytes, more than {MOST_BYTES}"));
    }
    let bytes = files::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|error| format!("is not valid UTF-8 from byte {} on", error.utf8_error().valid_up_to() + 1))
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
        metrics,
        evaluators,
        verification: fields.child("verification").cloned(),
        file: fields.file().to_owned(),
        designs: designs::read(&mut fields),
        primaries: primaries::read(&mut fields),
        prices: prices::read(&mut fields),
        gate: gates::read(&mut fields),
        site: site::read(&mut fields),
        aliases: aliases::read(&mut fields),
    };
    if fields.child("adapters").is_some() {
        let hint = "describe agents under `agents` and what to ask them as tasks of `type: question_eval`";
        fields.reject("adapters", "`adapters` were replaced by question evaluation", Some(hint.to_owned()));
    }
    fields.finish();
    config
}

fn check_version(fields: &mut Fields) {
    if fields.child("version").is_none() {
        fields.reject("version", "`version` is missing", Some(format!("write version: {VERSION}")));
    } else if let Some(version) = fields.integer("version")
        && version != VERSION
    {
        let message = format!("version {} is not supported", quote(&version.to_string()));
        fields.reject("version", message, Some(format!("write version: {VERSION}")));
    }
}

#[cfg(test)]
mod tests;
