//! Everything that can be run here, with its problems. The caller that reads configuration, suites and environment fills it in.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Problem;

/// Suites, configured tasks, agents and approaches, valid or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Runnable {
    pub suites: Vec<RunnableSuite>,
    pub tasks: Vec<RunnableTask>,
    pub agents: Vec<RunnableAgent>,
    /// The configured approaches, then the built-in ones that are not configured.
    pub approaches: Vec<RunnableApproach>,
    /// Problems of no single entry: settings for every suite, or a suite folder that cannot be listed.
    pub problems: Vec<ProblemLine>,
    /// Commands that would run now.
    pub commands: Vec<String>,
}

/// A problem, its place, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProblemLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The content of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuiteKind {
    /// Requirements, and tests of the code that an approach makes.
    Code,
    /// Questions that an agent answers.
    Questions,
    /// Only criteria: stored results are judged by them, and nothing is run.
    Criteria,
}

/// A folder with a `suite.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableSuite {
    pub suite: String,
    pub file: String,
    /// Absent if the suite is too broken to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<SuiteKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Number of questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<u64>,
    /// Runs of the suite in the store.
    pub runs: u64,
    pub problems: Vec<ProblemLine>,
}

/// A configured task.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableTask {
    pub task: String,
    /// The suite that its results are stored under.
    pub suite: String,
    pub questions_file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<u64>,
    /// The default agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub problems: Vec<ProblemLine>,
}

/// A configured agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableAgent {
    pub agent: String,
    /// How the agent is reached.
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub is_default: bool,
    /// The agent has no model of its own: `--model` must name one.
    pub needs_model: bool,
    pub problems: Vec<ProblemLine>,
}

/// An approach to code suites.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableApproach {
    pub approach: String,
    /// The display name on pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `oneshot`, `ralph` or `command`.
    pub kind: String,
    /// The configuration does not mention the approach.
    pub is_built_in: bool,
    /// The agent that `oneshot` asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The command contains `{model}`: `--model` must name one.
    pub needs_model: bool,
    pub problems: Vec<ProblemLine>,
}

impl Runnable {
    /// Returns whether no entry was found, apart from the built-in approaches, which always exist.
    pub fn is_empty(&self) -> bool {
        self.suites.is_empty()
            && self.tasks.is_empty()
            && self.agents.is_empty()
            && self.problems.is_empty()
            && self.approaches.iter().all(|approach| approach.is_built_in)
    }

    /// Returns whether there is anything that uses approaches.
    pub fn has_code(&self) -> bool {
        self.suites
            .iter()
            .any(|suite| suite.kind == Some(SuiteKind::Code))
            || self.approaches.iter().any(|approach| !approach.is_built_in)
    }
}

impl ProblemLine {
    /// Creates a problem without a file.
    pub fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            file: None,
            line: None,
            column: None,
            message: message.into(),
            hint,
        }
    }

    /// Formats `file:line:column: message`, as far as the parts are known.
    pub fn message_with_place(&self) -> String {
        let place = [
            self.file.clone(),
            self.line.map(|line| line.to_string()),
            self.column.map(|column| column.to_string()),
        ];
        place
            .into_iter()
            .flatten()
            .chain([format!(" {}", self.message)])
            .collect::<Vec<_>>()
            .join(":")
            .trim_start()
            .to_owned()
    }
}

impl From<Problem> for ProblemLine {
    fn from(problem: Problem) -> Self {
        let Problem {
            file,
            line,
            column,
            message,
            hint,
            is_unread: _,
        } = problem;
        Self {
            file: Some(file),
            line,
            column,
            message,
            hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_place_as_far_as_it_is_known() {
        assert_eq!(
            ProblemLine::from(Problem::at_position("a.yaml", 3, 1, "is wrong"))
                .message_with_place(),
            "a.yaml:3:1: is wrong"
        );
        assert_eq!(
            ProblemLine::from(Problem::in_file("a.yaml", "is wrong")).message_with_place(),
            "a.yaml: is wrong"
        );
        assert_eq!(
            ProblemLine::new("is wrong", None).message_with_place(),
            "is wrong"
        );
    }
}
