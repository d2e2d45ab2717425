//! One side of a comparison, ready to be run.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::config::Budget;
use crate::results::PlannedArm;
use crate::suite::{QuestionSpec, Suite};

use super::approach::{Approach, at_root};

/// A planned arm with everything that carrying it out needs.
pub struct Arm {
    pub planned: PlannedArm,
    pub work: Work,
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
pub struct CodeWork {
    pub suite: Suite,
    /// The tree a workspace begins with; empty without.
    pub start: Option<PathBuf>,
    pub approach: Approach,
    /// The model for the command, where the approach has one.
    pub model: Option<String>,
}

impl CodeWork {
    /// The sandbox for agent and tests: the approach's own, else the suite's; empty for none.
    pub fn wrap(&self, root: &Path) -> Vec<String> {
        let wrap = if self.approach.wrap.is_empty() { &self.suite.wrap } else { &self.approach.wrap };
        at_root(wrap.clone(), root)
    }
}
