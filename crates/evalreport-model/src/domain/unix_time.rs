//! Times of the system's clock as numbers, including times before 1970.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};

/// Returns the nanoseconds since 1970, negative before. Saturates after about 292 years in either direction.
pub fn to_nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds)
        }
    }
}

/// Converts a time to a date. Unlike `chrono`'s own conversion, does not panic for times before 1970.
pub fn date_of(time: SystemTime) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(to_nanoseconds(time))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn clocks_before_1970_and_far_away_give_numbers() {
        let day = Duration::from_hours(24);
        assert_eq!(
            date_of(UNIX_EPOCH - 3653 * day).to_rfc3339(),
            "1960-01-01T00:00:00+00:00"
        );
        assert_eq!(
            date_of(UNIX_EPOCH + 3653 * day).to_rfc3339(),
            "1980-01-02T00:00:00+00:00"
        );
        assert_eq!(
            (
                to_nanoseconds(UNIX_EPOCH),
                to_nanoseconds(UNIX_EPOCH - Duration::from_nanos(5))
            ),
            (0, -5)
        );
        assert_eq!(
            (
                to_nanoseconds(UNIX_EPOCH - 365 * 400 * day),
                to_nanoseconds(UNIX_EPOCH + 365 * 400 * day)
            ),
            (i64::MIN, i64::MAX)
        );
    }
}
