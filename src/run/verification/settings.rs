//! What a suite wants verified.

use std::path::Path;

use super::Tickets;
use crate::config::Config;
use crate::domain::{Problem, Profile};
use crate::suite::Suite;
use crate::verify::Overrides;

/// What a suite wants verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationSettings {
    pub goal: String,
    pub profile: Profile,
    pub files: Vec<String>,
    pub overrides: Overrides,
    pub tickets: Option<Tickets>,
}

impl VerificationSettings {
    /// Reads what suite and configuration say, the suite's own word first. None for a suite that has neither goal nor `verification`,
    /// and where it is switched off.
    pub fn of(suite: &Suite, config: &Config, root: &Path) -> Result<Option<Self>, Vec<Problem>> {
        if suite.goal.is_none() && suite.verification.is_none() {
            return Ok(None);
        }
        let mut problems = Vec::new();
        let mut read = |file: &str, node| Overrides::read(file, "verification", node, &mut problems);
        let own = suite.verification.as_ref().map(|node| read(&suite.file, node)).unwrap_or_default();
        let general = config.verification.as_ref().map(|node| read(&config.file, node)).unwrap_or_default();
        // Each file's folder of tickets starts where that file's other paths do.
        let tickets = Tickets::of(&own, &suite.folder, root).or_else(|| Tickets::of(&general, root, root));
        let overrides = own.over(general);
        if !problems.is_empty() {
            return Err(problems);
        }
        let settings = (overrides.is_off != Some(true)).then(|| Self {
            goal: suite.goal.clone().unwrap_or_else(|| suite.name.clone()),
            profile: suite.profile.or(overrides.profile).unwrap_or(Profile::Strict),
            files: suite.files.clone(),
            overrides,
            tickets,
        });
        Ok(settings)
    }
}
