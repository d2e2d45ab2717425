//! Whether a failure is the change's business.

use serde::{Deserialize, Serialize};

use super::{CheckResult, Failure, Task};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Blocking,
    OutOfScope,
    Unknown,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::Blocking, Self::OutOfScope, Self::Unknown];

    pub fn name(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::OutOfScope => "out_of_scope",
            Self::Unknown => "unknown",
        }
    }
}

/// A failure of a check at the head, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The check's id.
    pub check: String,
    pub failure: Failure,
    pub scope: Scope,
    pub reason: String,
    /// Whether it stood before the change; absent where that check was not, or could not be, run on the baseline.
    pub at_baseline: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classification {
    pub failures: Vec<Classified>,
    /// By check id: what stood at the baseline and is gone now.
    pub fixed: Vec<(String, Failure)>,
}

/// Says of each failure at the head whether the change is to blame. `base` are the results of the same checks on the untouched tree.
pub fn classify(_task: &Task, _head: &[CheckResult], _base: Option<&[CheckResult]>) -> Classification {
    Classification::default()
}
