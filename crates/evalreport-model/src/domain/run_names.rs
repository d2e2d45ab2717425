//! Names that a command gives to runs while it reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Run, RunId};

/// Names that take the place of a run's own; `None` keeps its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenRunNames {
    pub suite: Option<String>,
    pub approach: Option<String>,
    pub model: Option<String>,
    pub suite_version: Option<String>,
}

/// Names by run. Stored records keep theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesByRun(BTreeMap<RunId, GivenRunNames>);

impl NamesByRun {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names a run. Names that were given before are kept unless `names` has others.
    pub fn set_names(&mut self, run: RunId, names: GivenRunNames) {
        let known = self.0.entry(run).or_default();
        known.suite = names.suite.or(known.suite.take());
        known.approach = names.approach.or(known.approach.take());
        known.model = names.model.or(known.model.take());
        known.suite_version = names.suite_version.or(known.suite_version.take());
    }

    /// Returns the run under its given names, or the same run if it has none.
    pub fn apply_to(&self, run: &Arc<Run>) -> Arc<Run> {
        let Some(names) = self.0.get(&run.id) else {
            return Arc::clone(run);
        };
        let mut named = Run::clone(run);
        for (name, given) in [
            (&mut named.suite, &names.suite),
            (&mut named.approach, &names.approach),
            (&mut named.model, &names.model),
        ] {
            if let Some(given) = given {
                name.clone_from(given);
            }
        }
        if names.suite_version.is_some() {
            named.suite_version.clone_from(&names.suite_version);
        }
        Arc::new(named)
    }
}
