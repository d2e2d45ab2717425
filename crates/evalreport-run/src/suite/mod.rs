//! Suites: reads `suites/NAME/suite.yaml` and question specs into typed values, and writes the prompts of questions.
//!
//! A suite is checked as a whole, like the configuration: all problems are reported at once with line, column and key, including those of
//! the files it names. Otherwise a typo could fail a run after an hour. This module runs no program: it keeps commands as written, for the
//! layers that run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::document::{self, Fields, Node, SwitchSetting, Value, ValueForm, duration, quote_text};
use crate::domain::{Evaluator, Problem, Profile, escape_invisible};

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

pub use criteria::AcceptanceCriterion;
pub use discovery::{FoundSuite, all_folders, discover_suites, find_suite};
pub use evaluators::CodeMetric;
pub use files::resolve_path;
pub use network::RunPhase;
pub use prompt::{question_prompt, shuffle_choices};
pub use questions::{
    ChoiceQuestion, QUESTIONS_SCHEMA, QuestionSpec, load_questions, normalize_answer,
    parse_questions, questions_schema,
};
pub use server::{DEFAULT_STARTUP_TIMEOUT, ServerSettings};
pub use version::{
    SuiteContents, paths_beside_tests, suite_contents, suite_version, tested_paths, versioned_paths,
};

use text::{read_commands, read_nonblank};

/// The file name that marks a folder as a suite.
pub const SUITE_FILE: &str = "suite.yaml";
/// Time limit of an approach and everything after it, if the suite has none.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_hours(2);
/// Name of the file's JSON Schema.
pub const SCHEMA_NAME: &str = "suite";
/// Far more than a person writes. A larger file is probably no suite.
const MAX_BYTES: u64 = 4 << 20;
const NEEDED_MESSAGE: &str =
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
    pub server: Option<ServerSettings>,
    pub tests: TestCommands,
    /// Metrics of the finished workspace.
    pub metrics: BTreeMap<CodeMetric, SwitchSetting>,
    /// The leaves' texts are unique, so that a judge's reply can be matched to them.
    pub acceptance_criteria: Vec<AcceptanceCriterion>,
    pub evaluators: BTreeMap<Evaluator, SwitchSetting>,
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
    pub network: Option<Vec<RunPhase>>,
    /// What all programs of a run may read and change outside the workspace, such as the socket of a database.
    pub writes: Vec<PathBuf>,
    /// Added to each run's tags.
    pub tags: BTreeMap<String, String>,
}

impl Suite {
    /// Returns whether this phase of a run may access the network beyond the suite's own server.
    pub fn grants_network(&self, phase: RunPhase) -> bool {
        self.network
            .as_ref()
            .is_none_or(|granted| granted.contains(&phase))
    }
}

/// Shell commands that test a finished workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestCommands {
    /// The same for every approach. Arms are compared on these.
    pub shared: Vec<String>,
    /// One outcome per command: whether it succeeds while the server runs.
    pub functional: Vec<String>,
    /// Tests that the approach wrote itself, counted separately.
    pub own: Vec<String>,
}

/// Loads the suite in `folder`. Its paths are relative to the repository's folder `root`, or else to `folder`.
pub fn load_suite(root: &Path, folder: &Path) -> Result<Suite, Vec<Problem>> {
    let path = folder.join(SUITE_FILE);
    let file = escape_invisible(&path.display().to_string());
    let text = files::read_text(&path, MAX_BYTES)
        .map_err(|message| vec![Problem::in_file(&file, message)])?;
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

/// Returns the JSON Schema of the file, for editors: the keys that [`load_suite`] asks for. `verification` is the form of that key's map, which
/// another module reads; `repository` has the schema's address, as `owner/name`.
///
/// It refuses unknown keys, missing ones and values of another type. Only [`load_suite`] checks the files that keys name, the range of numbers, and
/// what keys mean together.
pub fn suite_schema(verification: ValueForm, repository: &str) -> serde_json::Value {
    let form = Fields::derive_form(|mut fields| {
        fields.note_form("verification", || verification);
        drop(read_fields(fields, Path::new(""), Path::new("")));
    });
    let description = "suites/NAME/suite.yaml: what to ask, and how to evaluate the result. `evalreport help suites` has every key.";
    form.to_file_schema(SCHEMA_NAME, repository, "Suite of evalreport", description)
}

fn read_fields(mut fields: Fields, root: &Path, folder: &Path) -> Option<Suite> {
    let name = read_name(&mut fields, folder);
    let (metrics, evaluators) = evaluators::read_settings(&mut fields);
    let is_of_ralph = ralph::read_type(&mut fields);
    let setup = read_commands(&mut fields, "setup");
    let suite = Suite {
        file: fields.file().to_owned(),
        folder: folder.to_owned(),
        name: name.clone().unwrap_or_default(),
        description: fields.text("description"),
        requirements: files::named_file(&mut fields, "requirements", root, folder),
        workspace: files::named_folder(&mut fields, "workspace", root, folder),
        questions: files::named_file(&mut fields, "questions", root, folder),
        language: read_nonblank(&mut fields, "language"),
        timeout: duration::read_duration(&mut fields, "timeout"),
        setup,
        server: server::read_server(&mut fields),
        tests: match fields.fields("tests").map(read_test_commands) {
            None if is_of_ralph => TestCommands {
                shared: name
                    .iter()
                    .flat_map(|name| ralph::test_commands(name))
                    .collect(),
                ..TestCommands::default()
            },
            tests => tests.unwrap_or_default(),
        },
        metrics,
        acceptance_criteria: criteria::read_criteria(&mut fields),
        evaluators,
        build_command: read_nonblank(&mut fields, "build_command"),
        test_command: read_nonblank(&mut fields, "test_command"),
        coverage_threshold: read_percent(&mut fields, "coverage_threshold"),
        static_analysis: read_commands(&mut fields, "static_analysis"),
        goal: read_nonblank(&mut fields, "goal"),
        profile: fields.one_of(
            "profile",
            &Profile::ALL.map(|profile| (profile.name(), profile)),
        ),
        files: read_commands(&mut fields, "files"),
        verification: read_verification(&mut fields),
        wrap: read_commands(&mut fields, "wrap"),
        network: network::read_network(&mut fields),
        writes: read_commands(&mut fields, "writes")
            .iter()
            .map(|path| root.join(path))
            .collect(),
        tags: fields.text_map("tags"),
    };
    check_what_is_asked(&mut fields);
    check_what_is_used(&mut fields, &suite);
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
                quote_text(&name)
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
        let hint = format!(
            "rename the folder, or write name: {}",
            escape_invisible(&found)
        );
        fields.reject(
            "name",
            format!(
                "`name` is {}, but the folder is {}",
                quote_text(&name),
                quote_text(&found)
            ),
            Some(hint),
        );
        return None;
    }
    Some(name)
}

fn read_test_commands(mut fields: Fields) -> TestCommands {
    let tests = TestCommands {
        shared: read_commands(&mut fields, "shared"),
        functional: read_commands(&mut fields, "functional"),
        own: read_commands(&mut fields, "own"),
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
                quote_text(&fields.path_of(key))
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

/// The languages whose own tests have a usual command.
pub const LANGUAGES: [&str; 5] = ["go", "javascript", "python", "rust", "typescript"];

/// Checks that a language has an effect: one that selects no tests is a mistake.
fn check_what_is_used(fields: &mut Fields, suite: &Suite) {
    if let Some(language) = &suite.language
        && !LANGUAGES.contains(&language.as_str())
        && suite.tests.own.is_empty()
    {
        fields.reject(
            "language",
            format!(
                "`language` is {}, which has no usual test command here",
                quote_text(language)
            ),
            Some(format!(
                "known: {}; for another language, name the command under `tests.own`",
                LANGUAGES.join(", ")
            )),
        );
    }
}

/// Checks that a suite asks something and can be evaluated, and that a suite of questions has no keys it cannot use.
fn check_what_is_asked(fields: &mut Fields) {
    /// Keys that only apply to suites that produce code.
    const OF_MADE_THINGS: [&str; 20] = [
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
        "writes",
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
        fields.reject(
            place,
            "`tests.shared` is missing",
            Some(NEEDED_MESSAGE.to_owned()),
        );
    }
    if fields.child("requirements").is_none() && (has_tests || !has_criteria) {
        fields.reject(
            "requirements",
            "`requirements` is missing",
            Some(NEEDED_MESSAGE.to_owned()),
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
