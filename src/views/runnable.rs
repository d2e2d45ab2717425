//! What can be run here, with what is wrong beside it. Whoever reads configuration, suites and environment fills it in.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Problem;

/// Suites, tasks, agents and approaches, right or wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Runnable {
    pub suites: Vec<RunnableSuite>,
    pub tasks: Vec<RunnableTask>,
    pub agents: Vec<RunnableAgent>,
    /// The configuration's, then the built-in ones that it does not mention.
    pub approaches: Vec<RunnableApproach>,
    /// Wrong with none of these alone: settings for every suite, a folder of suites that cannot be listed.
    pub problems: Vec<ProblemLine>,
    /// Commands that would run some of it now.
    pub commands: Vec<String>,
}

/// One thing wrong, where, and what to do about it.
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

/// What a suite is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuiteKind {
    /// Requirements, and tests of what was made of them: an approach makes it.
    Code,
    /// Questions: an agent answers them.
    Questions,
    /// Criteria only: stored results are judged by them, and nothing is run.
    Criteria,
}

/// A folder with a `suite.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableSuite {
    pub suite: String,
    pub file: String,
    /// Absent where the suite is too wrong to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<SuiteKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How many questions it asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<u64>,
    /// Runs of the suite in the store.
    pub runs: u64,
    pub problems: Vec<ProblemLine>,
}

/// A task of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableTask {
    pub task: String,
    /// The suite that its results are filed under.
    pub suite: String,
    pub questions_file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<u64>,
    /// Who is asked where nobody else is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub problems: Vec<ProblemLine>,
}

/// An agent of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableAgent {
    pub agent: String,
    /// How it is reached.
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub is_default: bool,
    /// It has no model of its own: `--model` names one.
    pub needs_model: bool,
    pub problems: Vec<ProblemLine>,
}

/// An approach to suites of code.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnableApproach {
    pub approach: String,
    /// The words pages show instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `oneshot`, `ralph` or `command`.
    pub kind: String,
    /// The configuration does not mention it.
    pub is_built_in: bool,
    /// Whom `oneshot` asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its command holds `{model}`: `--model` names one.
    pub needs_model: bool,
    pub problems: Vec<ProblemLine>,
}

impl Runnable {
    /// Says whether nothing was found: the built-in approaches are always there.
    pub fn is_empty(&self) -> bool {
        self.suites.is_empty()
            && self.tasks.is_empty()
            && self.agents.is_empty()
            && self.problems.is_empty()
            && self.approaches.iter().all(|approach| approach.is_built_in)
    }

    /// Says whether approaches are of any use here.
    pub fn has_code(&self) -> bool {
        self.suites.iter().any(|suite| suite.kind == Some(SuiteKind::Code)) || self.approaches.iter().any(|approach| !approach.is_built_in)
    }
}

impl ProblemLine {
    /// A problem that is in no file.
    pub fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { file: None, line: None, column: None, message: message.into(), hint }
    }

    /// `file:line:column: message`, as far as they are known.
    pub fn words(&self) -> String {
        let place = [self.file.clone(), self.line.map(|line| line.to_string()), self.column.map(|column| column.to_string())];
        place.into_iter().flatten().chain([format!(" {}", self.message)]).collect::<Vec<_>>().join(":").trim_start().to_owned()
    }
}

impl From<Problem> for ProblemLine {
    fn from(problem: Problem) -> Self {
        let Problem { file, line, column, message, hint, is_unread: _ } = problem;
        Self { file: Some(file), line, column, message, hint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_place_as_far_as_it_is_known() {
        assert_eq!(ProblemLine::from(Problem::at("a.yaml", 3, 1, "is wrong")).words(), "a.yaml:3:1: is wrong");
        assert_eq!(ProblemLine::from(Problem::in_file("a.yaml", "is wrong")).words(), "a.yaml: is wrong");
        assert_eq!(ProblemLine::new("is wrong", None).words(), "is wrong");
    }
}
