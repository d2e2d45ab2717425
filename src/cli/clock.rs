//! The time of day.

use std::time::SystemTime;

use chrono::{DateTime, Utc};

use crate::domain::date_of;

/// Returns the time of the system's clock.
pub(super) fn now() -> DateTime<Utc> {
    date_of(SystemTime::now())
}
