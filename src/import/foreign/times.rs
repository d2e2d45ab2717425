//! Points in time as other tools write them, and what lies between.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::Run;

use super::super::cell::time;
use super::json::text;

/// Reads a point in time; one without a zone is taken as UTC.
pub(super) fn moment(value: &Value) -> Option<DateTime<Utc>> {
    time("time", text(value)?.trim()).ok()
}

/// Returns the seconds from one point to another, which is not before it.
pub(super) fn seconds(from: &Value, to: &Value) -> Option<f64> {
    Some((moment(to)? - moment(from)?).as_seconds_f64()).filter(|seconds| *seconds >= 0.0)
}

/// The time that the parts of a run took together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
    lacks_zone: bool,
}

impl Span {
    pub fn take(&mut self, from: &Value, to: &Value) {
        for value in [from, to] {
            let Some(moment) = moment(value) else { continue };
            self.first = Some(self.first.map_or(moment, |first| first.min(moment)));
            self.last = Some(self.last.map_or(moment, |last| last.max(moment)));
            self.lacks_zone |= text(value).is_some_and(|text| DateTime::parse_from_rfc3339(text.trim()).is_err());
        }
    }

    /// Gives the run its end and how long it took.
    pub fn tell(self, run: &mut Run) {
        let (Some(first), Some(last)) = (self.first, self.last) else { return };
        run.timestamp = Some(last);
        run.duration_seconds = Some((last - first).as_seconds_f64()).filter(|seconds| *seconds > 0.0);
        if self.lacks_zone {
            run.tags.insert("zone".to_owned(), "unknown".to_owned());
        }
    }
}
