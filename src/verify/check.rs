//! One command that can confirm something.

use std::time::Duration;

/// What a check can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// Every test.
    Test,
    /// The tests of what was changed.
    Targeted,
    /// It starts.
    Smoke,
    Build,
    Lint,
    /// It can be read by its compiler.
    Syntax,
}

impl CheckKind {
    pub const ALL: [Self; 6] = [Self::Test, Self::Targeted, Self::Smoke, Self::Build, Self::Lint, Self::Syntax];

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

/// How a program that does not end by itself shows that it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// A regular expression that a line of its output matches once it is up; without one, being alive after `seconds` is enough.
    pub line: Option<String>,
    /// How long it may take.
    pub seconds: u64,
    /// Whether having ended with status 0 before shows it too. It does for a script that may be no server at all, not for a dev server.
    pub may_end: bool,
}

/// A command to run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The kind, followed by the folder where it is not the root: `test`, `test:frontend`. No two of a selection are alike.
    pub id: String,
    pub kind: CheckKind,
    /// A line for `sh -c`.
    pub command: String,
    /// Where it runs, below the root; empty for the root itself.
    pub folder: String,
    pub reason: String,
    /// Only for what starts something that may stay up: it is stopped once it is ready.
    pub readiness: Option<Readiness>,
    pub timeout: Duration,
}
