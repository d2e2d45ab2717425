//! Suites: reads `suites/NAME/suite.yaml` and question specs into typed values, and writes the prompts of questions.
//!
//! A suite is checked as a whole, like the configuration: all problems are reported at once with line, column and key, including those of
//! the files it names. Otherwise a typo could fail a run after an hour. This module runs no program: it keeps commands as written, for the
//! layers that run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::document::{self, Fields, Form, Node, Setting, Value, duration, quote};
use crate::domain::{Evaluator, Problem, Profile, visible};

mod criteria;
mod discovery;
mod evaluators;
mod files;
mod network;
mod prompt;
mod questions;
mod ralph;
mod server;
mod text;
mod version;

pub use criteria::Criterion;
pub use discovery::{Found, all_folders, discover, find};
pub use evaluators::CodeMetric;
pub use files::resolve;
pub use network::Phase;
pub use prompt::{question_prompt, shuffled};
pub use questions::{
    QUESTIONS_SCHEMA, Question, QuestionSpec, load_questions, normalized, parse_questions,
    questions_schema,
};
pub use server::{DEFAULT_STARTUP_TIMEOUT, Server};
pub use version::{Contents, parts, suite_contents, suite_version, tested_by};

use text::{commands, nonblank};

/// The file name that marks a folder as a suite.
pub const SUITE_FILE: &str = "suite.yaml";
/// Time limit of an approach and everything after it, if the suite has none.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_hours(2);
/// Name of the file's JSON Schema.
pub const SCHEMA: &str = "suite";
/// Far more than a person writes. A larger file is probably no suite.
const MOST_BYTES: u64 = 4 << 20;
const NEEDED: &str =
    "a suite needs `requirements` with `tests.shared`, or `questions`, or `acceptance_criteria`";

/// What to ask, and how to evaluate the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// The file's name in messages.
    pub file: String,
    /// The folder that holds the file.
    pub folder: PathBuf,
    /// One word, equal to the folder's name.
    pub name: String,
    pub description: Option<String>,
    /// The text of the task. Absent for suites of questions, and if only criteria judge stored results.
    pub requirements: Option<PathBuf>,
    /// The files that a workspace starts with. `None` starts empty.
    pub workspace: Option<PathBuf>,
    /// A question spec, instead of requirements and tests.
    pub questions: Option<PathBuf>,
    pub language: Option<String>,
    /// Time limit of the whole run.
    pub timeout: Option<Duration>,
    /// Shell commands for the workspace, run after the approach and before the tests.
    pub setup: Vec<String>,
    pub server: Option<Server>,
    pub tests: Tests,
    /// Metrics of the finished workspace.
    pub metrics: BTreeMap<CodeMetric, Setting>,
    /// The leaves' texts are unique, so that a judge's reply can be matched to them.
    pub acceptance_criteria: Vec<Criterion>,
    pub evaluators: BTreeMap<Evaluator, Setting>,
    pub build_command: Option<String>,
    pub test_command: Option<String>,
    /// In percent, 0 to 100.
    pub coverage_threshold: Option<f64>,
    /// Shell commands whose summaries count errors and warnings.
    pub static_analysis: Vec<String>,
    /// What verification must confirm, in one sentence.
    pub goal: Option<String>,
    pub profile: Option<Profile>,
    /// The files that the goal is about.
    pub files: Vec<String>,
    /// Overrides of verification's choices, as written.
    pub verification: Option<Node>,
    /// The program and arguments that start agent and tests in the user's own sandbox. Empty for none.
    pub wrap: Vec<String>,
    /// The phases with network access. `None` allows all.
    pub network: Option<Vec<Phase>>,
    /// Added to each run's tags.
    pub tags: BTreeMap<String, String>,
}

impl Suite {
    /// Returns whether this phase of a run may access the network beyond the suite's own server.
    pub fn grants(&self, phase: Phase) -> bool {
        self.network
            .as_ref()
            .is_none_or(|granted| granted.contains(&phase))
    }
}

/// Shell commands that test a finished workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// The same for every approach. Arms are compared on these.
    pub shared: Vec<String>,
    /// One outcome per command: whether it succeeds while the server runs.
    pub functional: Vec<String>,
    /// Tests that the approach wrote itself, counted separately.
    pub own: Vec<String>,
}

/// Loads the suite in `folder`. Its paths are relative to the repository's folder `root`, or else to `folder`.
pub fn load(root: &Path, folder: &Path) -> Result<Suite, Vec<Problem>> {
    let path = folder.join(SUITE_FILE);
    let file = visible(&path.display().to_string());
    let text =
        files::read(&path, MOST_BYTES).map_err(|message| vec![Problem::in_file(&file, message)])?;
    let tree = document::parse(&file, &text)?;
    let mut problems = Vec::new();
    let suite = Fields::new(&file, &tree, "", &mut problems)
        .and_then(|fields| read_fields(fields, root, folder));
    match suite {
        Some(suite) if problems.is_empty() => Ok(suite),
        Some(_) | None => {
            // In file order, not in the order in which the keys were read.
            problems.sort();
            Err(problems)
        }
    }
}

/// Returns the JSON Schema of the file, for editors: the keys that [`load`] asks for. `verification` is the form of that key's map, which
/// another module reads; `repository` has the schema's address, as `owner/name`.
///
/// It refuses unknown keys, missing ones and values of another type. Only [`load`] checks the files that keys name, the range of numbers, and
/// what keys mean together.
pub fn schema(verification: Form, repository: &str) -> serde_json::Value {
    let form = Fields::form(|mut fields| {
        fields.note("verification", || verification);
        drop(read_fields(fields, Path::new(""), Path::new("")));
    });
    let description = "suites/NAME/suite.yaml: what to ask, and how to evaluate the result. `evalreport help suites` has every key.";
    form.file_schema(SCHEMA, repository, "Suite of evalreport", description)
}

fn read_fields(mut fields: Fields, root: &Path, folder: &Path) -> Option<Suite> {
    let name = read_name(&mut fields, folder);
    let (metrics, evaluators) = evaluators::read(&mut fields);
    let is_of_ralph = ralph::read(&mut fields);
    let setup = commands(&mut fields, "setup");
    let suite = Suite {
        file: fields.file().to_owned(),
        folder: folder.to_owned(),
        name: name.clone().unwrap_or_default(),
        description: fields.text("description"),
        requirements: files::named(&mut fields, "requirements", root, folder),
        workspace: files::named_folder(&mut fields, "workspace", root, folder),
        questions: files::named(&mut fields, "questions", root, folder),
        language: nonblank(&mut fields, "language"),
        timeout: duration::read(&mut fields, "timeout"),
        setup,
        server: server::read(&mut fields),
        tests: match fields.fields("tests").map(read_tests) {
            None if is_of_ralph => Tests {
                shared: name.iter().flat_map(|name| ralph::tests(name)).collect(),
                ..Tests::default()
            },
            tests => tests.unwrap_or_default(),
        },
        metrics,
        acceptance_criteria: criteria::read(&mut fields),
        evaluators,
        build_command: nonblank(&mut fields, "build_command"),
        test_command: nonblank(&mut fields, "test_command"),
        coverage_threshold: read_percent(&mut fields, "coverage_threshold"),
        static_analysis: commands(&mut fields, "static_analysis"),
        goal: nonblank(&mut fields, "goal"),
        profile: fields.one_of(
            "profile",
            &Profile::ALL.map(|profile| (profile.name(), profile)),
        ),
        files: commands(&mut fields, "files"),
        verification: read_verification(&mut fields),
        wrap: commands(&mut fields, "wrap"),
        network: network::read(&mut fields),
        tags: fields.text_map("tags"),
    };
    check_what_is_asked(&mut fields);
    fields.finish();
    name.map(|_| suite)
}

/// Returns whether a name is valid for a suite.
pub fn is_name(name: &str) -> bool {
    let is_taken = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || ['@', '/', '\\', ','].contains(&character)
    };
    !name.is_empty() && !name.contains(is_taken)
}

/// Reads the name, which must match the folder's: commands select a suite by it.
fn read_name(fields: &mut Fields, folder: &Path) -> Option<String> {
    let name = fields.required_text("name")?;
    if !is_name(&name) {
        fields.reject(
            "name",
            format!(
                "`name` must be one word without `@`, `/`, `\\` and `,`, not {}",
                quote(&name)
            ),
            None,
        );
        return None;
    }
    if let Some(found) = folder
        .file_name()
        .map(|found| found.to_string_lossy().into_owned())
        && found != name
    {
        let hint = format!("rename the folder, or write name: {}", visible(&found));
        fields.reject(
            "name",
            format!(
                "`name` is {}, but the folder is {}",
                quote(&name),
                quote(&found)
            ),
            Some(hint),
        );
        return None;
    }
    Some(name)
}

fn read_tests(mut fields: Fields) -> Tests {
    let tests = Tests {
        shared: commands(&mut fields, "shared"),
        functional: commands(&mut fields, "functional"),
        own: commands(&mut fields, "own"),
    };
    fields.finish();
    tests
}

fn read_percent(fields: &mut Fields, key: &str) -> Option<f64> {
    let percent = fields.number(key)?;
    if !(0.0..=100.0).contains(&percent) {
        fields.reject(
            key,
            format!(
                "{} is in percent, from 0 to 100, not `{percent}`",
                quote(&fields.path_of(key))
            ),
            None,
        );
        return None;
    }
    Some(percent)
}

fn read_verification(fields: &mut Fields) -> Option<Node> {
    let node = fields.child("verification")?;
    // Verification checks the keys inside when it runs.
    Fields::new(fields.file(), node, "verification", fields.problems())?;
    Some(node.clone())
}

/// Checks that a suite asks something and can be evaluated, and that a suite of questions has no keys it cannot use.
fn check_what_is_asked(fields: &mut Fields) {
    /// Keys that only apply to suites that produce code.
    const OF_MADE_THINGS: [&str; 19] = [
        "requirements",
        "type",
        "workspace",
        "tests",
        "setup",
        "server",
        "acceptance_criteria",
        "metrics",
        "build_command",
        "test_command",
        "coverage_threshold",
        "static_analysis",
        "goal",
        "profile",
        "verification",
        "language",
        "timeout",
        "wrap",
        "network",
    ];
    if fields.child("questions").is_some() {
        for key in OF_MADE_THINGS {
            if fields.child(key).is_some() {
                let hint = "remove it, or make another suite of it";
                fields.reject(
                    key,
                    format!("`{key}` is not used by a suite of `questions`"),
                    Some(hint.to_owned()),
                );
            }
        }
        return;
    }
    let has_criteria = is_given(fields.child("acceptance_criteria"));
    let tests = fields.child("tests");
    let is_tested_by_ralph = tests.is_none() && is_given(fields.child("type"));
    let has_tests = is_tested_by_ralph
        || tests.is_some_and(|tests| {
            !matches!(tests.value, Value::Map(_)) || is_given(tests.get("shared"))
        });
    if !has_tests && !has_criteria {
        let place = if tests.is_some() {
            "tests"
        } else {
            "tests.shared"
        };
        fields.reject(place, "`tests.shared` is missing", Some(NEEDED.to_owned()));
    }
    if fields.child("requirements").is_none() && (has_tests || !has_criteria) {
        fields.reject(
            "requirements",
            "`requirements` is missing",
            Some(NEEDED.to_owned()),
        );
    }
}

/// Returns whether a key has any content, valid or not.
fn is_given(node: Option<&Node>) -> bool {
    node.is_some_and(|node| {
        !node.is_null() && !matches!(&node.value, Value::List(items) if items.is_empty())
    })
}

#[cfg(test)]
mod tests;
