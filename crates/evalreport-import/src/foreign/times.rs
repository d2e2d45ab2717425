//! Times as other tools write them, and the spans between them.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::Run;

use super::super::cell::parse_date_time;
pub(super) use super::super::cell::time_from_unix_seconds;
use super::json::to_text;

/// Parses a time. Without a zone it is taken as UTC.
pub(super) fn read_time(value: &Value) -> Option<DateTime<Utc>> {
    parse_date_time("time", to_text(value)?.trim()).ok()
}

/// Returns the seconds between two times, or `None` if the second is earlier.
pub(super) fn seconds_between(from: &Value, to: &Value) -> Option<f64> {
    Some((read_time(to)? - read_time(from)?).as_seconds_f64()).filter(|seconds| *seconds >= 0.0)
}

/// Span from the first to the last time of a run's parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeSpan {
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
    lacks_zone: bool,
}

impl TimeSpan {
    pub fn add_times(&mut self, from: &Value, to: &Value) {
        for value in [from, to] {
            let Some(moment) = read_time(value) else {
                continue;
            };
            self.first = Some(self.first.map_or(moment, |first| first.min(moment)));
            self.last = Some(self.last.map_or(moment, |last| last.max(moment)));
            self.lacks_zone |= to_text(value)
                .is_some_and(|text| DateTime::parse_from_rfc3339(text.trim()).is_err());
        }
    }

    /// Extends the span by another one.
    pub fn extend_by(&mut self, other: Self) {
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
        self.lacks_zone |= other.lacks_zone;
    }

    /// Returns the first and the last time.
    pub fn first_and_last(self) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        self.first.zip(self.last)
    }

    /// Sets the run's end and duration.
    pub fn set_run_times(self, run: &mut Run) {
        let Some((first, last)) = self.first_and_last() else {
            return;
        };
        run.timestamp = Some(last);
        run.duration_seconds =
            Some((last - first).as_seconds_f64()).filter(|seconds| *seconds > 0.0);
        self.mark_missing_zone(run);
    }

    /// Marks the run if its times have no zone.
    pub fn mark_missing_zone(self, run: &mut Run) {
        if self.lacks_zone {
            run.tags.insert("zone".to_owned(), "unknown".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_points_in_time() {
        assert_eq!(
            time_from_unix_seconds(1_770_114_030.125)
                .map(|time| time.to_rfc3339())
                .as_deref(),
            Some("2026-02-03T10:20:30.125+00:00")
        );
        for seconds in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(time_from_unix_seconds(seconds), None, "{seconds}");
        }
    }
}
