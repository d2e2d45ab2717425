//! What a project says about its own verification.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{CheckKind, Readiness};
use crate::document::Node;
use crate::domain::{Problem, Profile};

/// What a project wants for one kind of check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// It is not run.
    Off,
    /// This line, at the root, in place of whatever was detected. In that of [`CheckKind::Targeted`], `{files}` stands for the files.
    Line(String),
}

/// Settings that win over what would be detected and chosen. What is absent is left to the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Nothing is verified.
    pub is_off: Option<bool>,
    pub profile: Option<Profile>,
    pub commands: BTreeMap<CheckKind, Command>,
    pub timeouts: BTreeMap<CheckKind, Duration>,
    /// Of the smoke test.
    pub readiness: Option<Readiness>,
    /// The folder that tickets about what is left are written to, relative to the file that names it.
    pub tickets: Option<String>,
}

impl Overrides {
    /// Reads the map at `path` of `file`.
    pub fn read(_file: &str, _path: &str, _node: &Node, _problems: &mut Vec<Problem>) -> Self {
        Self::default()
    }

    /// Returns these settings with what they leave open taken from `lower`.
    #[must_use]
    pub fn over(self, lower: Self) -> Self {
        let mut commands = lower.commands;
        commands.extend(self.commands);
        let mut timeouts = lower.timeouts;
        timeouts.extend(self.timeouts);
        Self {
            is_off: self.is_off.or(lower.is_off),
            profile: self.profile.or(lower.profile),
            commands,
            timeouts,
            readiness: self.readiness.or(lower.readiness),
            tickets: self.tickets.or(lower.tickets),
        }
    }
}
