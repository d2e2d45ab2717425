//! A command that can confirm part of a goal.

use std::time::Duration;

/// What a check confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// All tests pass.
    Test,
    /// The tests of the concerned files pass.
    Targeted,
    /// The program starts.
    Smoke,
    Build,
    Lint,
    /// The compiler or interpreter can parse the code.
    Syntax,
}

impl CheckKind {
    pub const ALL: [Self; 6] = [
        Self::Test,
        Self::Targeted,
        Self::Smoke,
        Self::Build,
        Self::Lint,
        Self::Syntax,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Targeted => "targeted",
            Self::Smoke => "smoke",
            Self::Build => "build",
            Self::Lint => "lint",
            Self::Syntax => "syntax",
        }
    }
}

/// Signs that a program which does not end by itself has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Regular expression that a line of the output matches once the program has started. Without it, staying alive for `seconds` is
    /// enough.
    pub line: Option<String>,
    /// Maximum time to get ready, in seconds.
    pub seconds: u64,
    /// Whether ending with status 0 before also counts as ready. True for a script that may not be a server at all; false for a dev server.
    pub may_end: bool,
}

/// A command to run, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCheck {
    /// The kind, followed by the folder if it is not the root: `test`, `test:frontend`. Unique within a selection.
    pub id: String,
    pub kind: CheckKind,
    /// Shell line for `sh -c`.
    pub command: String,
    /// Working folder relative to the root. Empty for the root itself.
    pub folder: String,
    pub reason: String,
    /// Only for checks that start a program which may stay up. The program is stopped once it is ready.
    pub readiness: Option<Readiness>,
    pub timeout: Duration,
}
