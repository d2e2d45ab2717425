//! Verification: decides which checks fit a goal and a stack, and what their failures mean.
//!
//! Everything here is pure: it takes a listing of files, a goal and the outcomes of commands, and returns decisions with reasons. `run`
//! lists the files and runs the commands.
//!
//! ```text
//! Listing --detect--> Detected --+
//! goal ----------------> Task ---+--select--> Selection --(run)--> CheckResult --classify--> Classification --conclude--> Verdict
//! config, suite --> Overrides ---+                                  at head and baseline
//! ```

// Layers below, under the names that they have in this house.
use evalreport_model::{document, domain};

mod check;
mod classify;
mod detect;
mod failure;
mod listing;
mod overrides;
mod policy;
mod record;
mod result;
mod select;
mod shell;
mod stack;
mod targeted;
mod task;
mod verdict;

pub use check::{CheckKind, PlannedCheck, Readiness};
pub use classify::{Classification, ClassifiedFailure, FailureScope, classify_failures};
pub use detect::{DetectedProject, ProjectPart, detect_stacks};
pub use failure::{CheckFailure, extract_failures};
pub use listing::{Listing, MAX_MANIFEST_BYTES, is_foreign_folder, is_manifest};
pub use overrides::{CommandOverride, Overrides};
pub use policy::policy_table;
pub use record::{concluded_record, planned_record};
pub use result::{CheckExit, CheckOutcome, CheckResult};
pub use select::{CheckSelection, select_checks};
pub use stack::Stack;
pub use task::{TaskKind, VerificationTask};
pub use verdict::{TerminalStatus, VerificationVerdict, conclude_verdict};

/// Shorthands for tests.
#[cfg(test)]
mod testing {
    use std::time::Duration;

    use super::{CheckFailure, CheckKind, Listing, PlannedCheck, VerificationTask, is_manifest};
    use crate::domain::Profile;

    pub fn listing(files: &[(&str, &str)]) -> Listing {
        let contents = files.iter().filter(|(path, _)| is_manifest(path));
        Listing {
            files: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            contents: contents
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
                .collect(),
        }
    }

    pub fn task(goal: &str, profile: Profile) -> VerificationTask {
        VerificationTask {
            goal: goal.to_owned(),
            profile,
            files: Vec::new(),
            changed: Vec::new(),
        }
    }

    pub fn check(kind: CheckKind, command: &str) -> PlannedCheck {
        PlannedCheck {
            id: kind.name().to_owned(),
            kind,
            command: command.to_owned(),
            folder: String::new(),
            reason: String::new(),
            readiness: None,
            timeout: Duration::from_mins(1),
        }
    }

    pub fn failure(signature: &str, files: &[&str], test: Option<&str>) -> CheckFailure {
        CheckFailure {
            signature: signature.to_owned(),
            text: signature.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            test: test.map(str::to_owned),
        }
    }
}
