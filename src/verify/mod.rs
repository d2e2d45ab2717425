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

pub use check::{Check, CheckKind, Readiness};
pub use classify::{Classification, Classified, Scope, classify};
pub use detect::{Detected, Part, detect};
pub use failure::{Failure, failures};
pub use listing::{Listing, MOST_MANIFEST_BYTES, is_foreign_folder, is_manifest};
pub use overrides::{Command, Overrides};
pub use policy::policy_table;
pub use record::{concluded, planned};
pub use result::{CheckResult, Ending, Exit};
pub use select::{Selection, select};
pub use stack::Stack;
pub use task::{Task, TaskKind};
pub use verdict::{TerminalStatus, Verdict, conclude};

/// Shorthands for tests.
#[cfg(test)]
mod testing {
    use std::time::Duration;

    use super::{Check, CheckKind, Failure, Listing, Task, is_manifest};
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

    pub fn task(goal: &str, profile: Profile) -> Task {
        Task {
            goal: goal.to_owned(),
            profile,
            files: Vec::new(),
            changed: Vec::new(),
        }
    }

    pub fn check(kind: CheckKind, command: &str) -> Check {
        Check {
            id: kind.name().to_owned(),
            kind,
            command: command.to_owned(),
            folder: String::new(),
            reason: String::new(),
            readiness: None,
            timeout: Duration::from_mins(1),
        }
    }

    pub fn failure(signature: &str, files: &[&str], test: Option<&str>) -> Failure {
        Failure {
            signature: signature.to_owned(),
            text: signature.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            test: test.map(str::to_owned),
        }
    }
}
