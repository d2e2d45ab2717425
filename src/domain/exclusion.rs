//! An item that is known to be broken, and from when on.

use chrono::NaiveDate;
use serde::Serialize;

use super::Run;

/// Takes an item's outcomes out of every figure, with a reason that everybody can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exclusion {
    pub item: String,
    /// The suite it is in; every suite, if absent.
    pub suite: Option<String>,
    pub reason: String,
    /// Outcomes of runs before that day stay; all go, if absent.
    pub since: Option<NaiveDate>,
}

impl Exclusion {
    /// Says whether the run's outcomes of the item are out. A run of unknown time cannot claim to be an old one.
    pub fn covers(&self, run: &Run) -> bool {
        let is_old = self.since.zip(run.timestamp).is_some_and(|(since, time)| time.date_naive() < since);
        self.suite.as_ref().is_none_or(|suite| *suite == run.suite) && !is_old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;

    #[test]
    fn old_runs_and_other_suites_keep_theirs() {
        let exclusion = |suite: Option<&str>, since: Option<&str>| Exclusion {
            item: "broken".to_owned(),
            suite: suite.map(str::to_owned),
            reason: "the reference fails it".to_owned(),
            since: since.map(|day| day.parse().expect("a day")),
        };
        let mut run = Run::new(RunId::parse("r").expect("an id"), "s", "a", "m");
        assert!(exclusion(None, None).covers(&run));
        assert!(exclusion(None, Some("2026-01-02")).covers(&run), "of unknown time");
        run.timestamp = Some("2026-01-01T23:59:59Z".parse().expect("a time"));
        assert!(!exclusion(None, Some("2026-01-02")).covers(&run));
        assert!(exclusion(None, Some("2026-01-01")).covers(&run));
        assert!(exclusion(Some("s"), None).covers(&run) && !exclusion(Some("t"), None).covers(&run));
    }
}
