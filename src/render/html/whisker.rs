//! Dot-and-whisker marks: positions on a scale from 0 to 100%.

use crate::render::{format, words};
use crate::views::Estimate;

/// Left end and width of the scale. The drawing is 200 units wide, with room for half a dot at each end.
const LEFT: f64 = 4.0;
const WIDTH: f64 = 192.0;

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
    pub fn of(estimate: &Estimate) -> Self {
        let n = estimate.total.unwrap_or(estimate.n).max(estimate.n);
        Self {
            title: format!(
                "{} of {} {}",
                format::percent(estimate.value, n),
                format::integer(estimate.n),
                words::one_or_many(estimate.n, estimate.n_of)
            ),
            about: match estimate.interval {
                Some(interval) => format!("95% interval {}", format::percent_interval(interval, n)),
                None => "no interval".to_owned(),
            },
            x: at(estimate.value),
            ends: estimate
                .interval
                .map(|interval| (at(interval.low), at(interval.high))),
        }
    }
}

fn at(share: f64) -> String {
    format!("{:.2}", LEFT + WIDTH * share.clamp(0.0, 1.0))
}
