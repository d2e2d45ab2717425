//! An arm of a plan, ready to run.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::config::QuestionBudget;
use crate::results::PlannedArm;
use crate::suite::{QuestionSpec, Suite};

use super::SuiteEvaluation;
use super::approach::{ExecutableApproach, resolve_program};
use super::verification::VerificationSettings;

/// A planned arm with everything needed to run it.
pub struct RunnableArm {
    pub planned: PlannedArm,
    pub work: ArmWork,
}

impl RunnableArm {
    /// Returns the number of questions per run, or `None` for code.
    pub fn question_count(&self) -> Option<u64> {
        match &self.work {
            ArmWork::Questions(work) => Some(work.spec.questions.len() as u64),
            ArmWork::Code(_) => None,
        }
    }
}

pub enum ArmWork {
    Questions(Box<QuestionWork>),
    Code(Box<CodeWork>),
}

/// Questions for an agent.
pub struct QuestionWork {
    pub spec: QuestionSpec,
    pub agent: Agent,
    pub budget: QuestionBudget,
    /// Maximum number of concurrent questions, even if the command asks for more.
    pub concurrency: Option<usize>,
}

/// Requirements that an approach turns into a workspace.
#[derive(Clone)]
pub struct CodeWork {
    pub suite: Suite,
    /// The files that a workspace starts with. `None` starts empty.
    pub start: Option<PathBuf>,
    pub approach: ExecutableApproach,
    /// The evaluators that apply in addition to the tests.
    pub evaluation: SuiteEvaluation,
    /// Settings for suites that want a goal verified.
    pub verification: Option<VerificationSettings>,
    /// The model for the approach's command, if any.
    pub model: Option<String>,
}

impl CodeWork {
    /// Returns the sandbox for the agent: the approach's own, or else the suite's. Empty for none.
    pub fn agent_wrap(&self, root: &Path) -> Vec<String> {
        resolve_program(first_non_empty(&self.approach.wrap, &self.suite.wrap), root)
    }

    /// Returns the sandbox for setup, server and tests: the suite's, or else the approach's. If the agent is not trusted, neither is its
    /// code.
    pub fn tests_wrap(&self, root: &Path) -> Vec<String> {
        resolve_program(first_non_empty(&self.suite.wrap, &self.approach.wrap), root)
    }
}

fn first_non_empty(first: &[String], second: &[String]) -> Vec<String> {
    if first.is_empty() {
        second.to_vec()
    } else {
        first.to_vec()
    }
}
