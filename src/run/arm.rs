//! One side of a comparison, ready to be run.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::config::Budget;
use crate::results::PlannedArm;
use crate::suite::{QuestionSpec, Suite};

use super::Evaluation;
use super::approach::{Approach, at_root};
use super::verification::VerificationSettings;

/// A planned arm with everything that carrying it out needs.
pub struct Arm {
    pub planned: PlannedArm,
    pub work: Work,
}

impl Arm {
    /// How many questions a run of it has; none for code.
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

/// Questions put to an agent.
pub struct QuestionWork {
    pub spec: QuestionSpec,
    pub agent: Agent,
    pub budget: Budget,
    /// At most so many questions at once, whatever the command asks for.
    pub concurrency: Option<usize>,
}

/// Requirements that an approach turns into a workspace.
#[derive(Clone)]
pub struct CodeWork {
    pub suite: Suite,
    /// The tree a workspace begins with; empty without.
    pub start: Option<PathBuf>,
    pub approach: Approach,
    /// What is said about the result beside its tests.
    pub evaluation: Evaluation,
    /// For suites that want a goal verified.
    pub verification: Option<VerificationSettings>,
    /// The model for the command, where the approach has one.
    pub model: Option<String>,
}

impl CodeWork {
    /// The sandbox for the agent: the approach's own, else the suite's; empty for none.
    pub fn wrap_of_agent(&self, root: &Path) -> Vec<String> {
        at_root(first_given(&self.approach.wrap, &self.suite.wrap), root)
    }

    /// The sandbox for setup, server and tests: the suite's, else the approach's. Whoever distrusts an agent distrusts what it wrote.
    pub fn wrap_of_tests(&self, root: &Path) -> Vec<String> {
        at_root(first_given(&self.suite.wrap, &self.approach.wrap), root)
    }
}

fn first_given(first: &[String], second: &[String]) -> Vec<String> {
    if first.is_empty() { second.to_vec() } else { first.to_vec() }
}
