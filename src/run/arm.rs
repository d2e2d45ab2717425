//! An arm of a plan, ready to run.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::config::Budget;
use crate::results::PlannedArm;
use crate::suite::{QuestionSpec, Suite};

use super::Evaluation;
use super::approach::{Approach, at_root};
use super::verification::VerificationSettings;

/// A planned arm with everything needed to run it.
pub struct Arm {
    pub planned: PlannedArm,
    pub work: Work,
}

impl Arm {
    /// Returns the number of questions per run, or `None` for code.
    pub fn questions(&self) -> Option<u64> {
        match &self.work {
            Work::Questions(work) => Some(work.spec.questions.len() as u64),
            Work::Code(_) => None,
        }
    }
}

pub enum Work {
    Questions(Box<QuestionWork>),
    Code(Box<CodeWork>),
}

/// Questions for an agent.
pub struct QuestionWork {
    pub spec: QuestionSpec,
    pub agent: Agent,
    pub budget: Budget,
    /// Maximum number of concurrent questions, even if the command asks for more.
    pub concurrency: Option<usize>,
}

/// Requirements that an approach turns into a workspace.
#[derive(Clone)]
pub struct CodeWork {
    pub suite: Suite,
    /// The files that a workspace starts with. `None` starts empty.
    pub start: Option<PathBuf>,
    pub approach: Approach,
    /// The evaluators that apply in addition to the tests.
    pub evaluation: Evaluation,
    /// Settings for suites that want a goal verified.
    pub verification: Option<VerificationSettings>,
    /// The model for the approach's command, if any.
    pub model: Option<String>,
}

impl CodeWork {
    /// Returns the sandbox for the agent: the approach's own, or else the suite's. Empty for none.
    pub fn wrap_of_agent(&self, root: &Path) -> Vec<String> {
        at_root(first_given(&self.approach.wrap, &self.suite.wrap), root)
    }

    /// Returns the sandbox for setup, server and tests: the suite's, or else the approach's. If the agent is not trusted, neither is its
    /// code.
    pub fn wrap_of_tests(&self, root: &Path) -> Vec<String> {
        at_root(first_given(&self.suite.wrap, &self.approach.wrap), root)
    }
}

fn first_given(first: &[String], second: &[String]) -> Vec<String> {
    if first.is_empty() {
        second.to_vec()
    } else {
        first.to_vec()
    }
}
