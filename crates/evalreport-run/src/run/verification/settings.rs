//! A suite's verification settings.

use std::path::Path;

use super::Tickets;
use crate::config::ProjectConfig;
use crate::domain::{Problem, Profile};
use crate::suite::Suite;
use crate::verify::Overrides;

/// A suite's verification settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationSettings {
    pub goal: String,
    pub profile: Profile,
    pub files: Vec<String>,
    pub overrides: Overrides,
    pub tickets: Option<Tickets>,
}

impl VerificationSettings {
    /// Reads the settings of suite and configuration; the suite's take precedence. Returns `None` if the suite has neither goal nor
    /// `verification`, or if verification is off.
    pub fn from_suite(
        suite: &Suite,
        config: &ProjectConfig,
        root: &Path,
    ) -> Result<Option<Self>, Vec<Problem>> {
        if suite.goal.is_none() && suite.verification.is_none() {
            return Ok(None);
        }
        let mut problems = Vec::new();
        let mut read =
            |file: &str, node| Overrides::from_node(file, "verification", node, &mut problems);
        let own = suite
            .verification
            .as_ref()
            .map(|node| read(&suite.file, node))
            .unwrap_or_default();
        let general = config
            .verification
            .as_ref()
            .map(|node| read(&config.file, node))
            .unwrap_or_default();
        // Each file's ticket folder is relative to the same folder as its other paths.
        let tickets = Tickets::from_overrides(&own, &suite.folder, root)
            .or_else(|| Tickets::from_overrides(&general, root, root));
        let overrides = own.with_fallback(general);
        if !problems.is_empty() {
            return Err(problems);
        }
        let settings = (overrides.is_off != Some(true)).then(|| Self {
            goal: suite.goal.clone().unwrap_or_else(|| suite.name.clone()),
            profile: suite
                .profile
                .or(overrides.profile)
                .unwrap_or(Profile::Strict),
            files: suite.files.clone(),
            overrides,
            tickets,
        });
        Ok(settings)
    }
}
