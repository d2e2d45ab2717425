//! What a verification comes to.

use serde::{Deserialize, Serialize};

use super::{CheckResult, Classification, Selection, Task};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalStatus {
    DoneSuccess,
    /// The goal is met; what still fails is not the change's business.
    DonePartial,
    NotDone,
    /// A person has to step in: the checks could not be run, or nobody can say whose the failures are.
    Blocked,
    /// Nothing was checked.
    Unverified,
}

impl TerminalStatus {
    pub const ALL: [Self; 5] = [Self::DoneSuccess, Self::DonePartial, Self::NotDone, Self::Blocked, Self::Unverified];

    pub fn name(self) -> &'static str {
        match self {
            Self::DoneSuccess => "done_success",
            Self::DonePartial => "done_partial",
            Self::NotDone => "not_done",
            Self::Blocked => "blocked",
            Self::Unverified => "unverified",
        }
    }

    /// What whoever asked does next.
    pub fn next(self) -> &'static str {
        match self {
            Self::DoneSuccess => "stop",
            Self::DonePartial => "accept_partial",
            Self::NotDone => "continue",
            Self::Blocked | Self::Unverified => "escalate",
        }
    }

    pub fn exit_code(self) -> u8 {
        match self {
            Self::DoneSuccess | Self::DonePartial => 0,
            Self::NotDone | Self::Blocked => 1,
            Self::Unverified => 3,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub status: TerminalStatus,
    pub reason: String,
}

pub fn conclude(_task: &Task, _selection: &Selection, _head: &[CheckResult], _classification: &Classification) -> Verdict {
    Verdict { status: TerminalStatus::Unverified, reason: "nothing was checked".to_owned() }
}
