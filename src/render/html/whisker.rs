//! Dot-and-whisker marks: positions on a scale from 0 to 100%.

use crate::render::{format, phrases};
use crate::views::Estimate;

/// Left end and width of the scale. The drawing is 200 units wide, with room for half a dot at each end.
const SCALE_LEFT: f64 = 4.0;
const SCALE_WIDTH: f64 = 192.0;

/// A rate and its interval as coordinates and words.
#[derive(Clone, Debug)]
pub(super) struct Whisker {
    pub title: String,
    pub about: String,
    pub x: String,
    /// The ends of the interval. `None` for a rate without an interval.
    pub ends: Option<(String, String)>,
}

impl Whisker {
    pub fn from_estimate(estimate: &Estimate) -> Self {
        let n = estimate.total.unwrap_or(estimate.n).max(estimate.n);
        Self {
            title: format!(
                "{} of {} {}",
                format::percent(estimate.value, n),
                format::format_integer(estimate.n),
                phrases::singular_or_plural(estimate.n, estimate.n_of)
            ),
            about: match estimate.interval {
                Some(interval) => format!("95% interval {}", format::percent_interval(interval, n)),
                None => "no interval".to_owned(),
            },
            x: format_x(estimate.value),
            ends: estimate
                .interval
                .map(|interval| (format_x(interval.low), format_x(interval.high))),
        }
    }
}

fn format_x(share: f64) -> String {
    format!("{:.2}", SCALE_LEFT + SCALE_WIDTH * share.clamp(0.0, 1.0))
}
