//! Points in time as seconds since 1970, which may be any number.

use chrono::{DateTime, Utc};

/// The end of the year 9999: later times cannot be written in four digits.
const MOST_SECONDS: f64 = 253_402_300_799.0;

/// Returns the point in time, to the microsecond. None before 1970 and after the year 9999.
pub(super) fn moment(seconds: f64) -> Option<DateTime<Utc>> {
    if !(0.0..=MOST_SECONDS).contains(&seconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "within the range of times")]
    DateTime::from_timestamp_micros((seconds * 1e6).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_points_in_time() {
        assert_eq!(moment(1_770_114_030.125).map(|time| time.to_rfc3339()).as_deref(), Some("2026-02-03T10:20:30.125+00:00"));
        for seconds in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(moment(seconds), None, "{seconds}");
        }
    }
}
