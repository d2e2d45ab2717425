//! Exclusions of items known to be broken.

use chrono::NaiveDate;
use serde::Serialize;

use super::Run;

/// Removes an item's outcomes from all figures, with a public reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exclusion {
    pub item: String,
    /// The item's suite. `None` means every suite.
    pub suite: Option<String>,
    pub reason: String,
    /// The first day that is excluded. Outcomes of earlier runs count. `None` excludes all.
    pub since: Option<NaiveDate>,
}

impl Exclusion {
    /// Returns whether the item is excluded from this run. A run without a time does not count as earlier.
    pub fn covers(&self, run: &Run) -> bool {
        let is_old = self
            .since
            .zip(run.timestamp)
            .is_some_and(|(since, time)| time.date_naive() < since);
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
        assert!(
            exclusion(None, Some("2026-01-02")).covers(&run),
            "of unknown time"
        );
        run.timestamp = Some("2026-01-01T23:59:59Z".parse().expect("a time"));
        assert!(!exclusion(None, Some("2026-01-02")).covers(&run));
        assert!(exclusion(None, Some("2026-01-01")).covers(&run));
        assert!(
            exclusion(Some("s"), None).covers(&run) && !exclusion(Some("t"), None).covers(&run)
        );
    }
}
