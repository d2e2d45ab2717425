//! A series of nights as a line in a table's cell.

use std::fmt::Write;

use crate::render::format;
use crate::render::sparkline::MAX_POINTS;
use crate::views::Estimate;

/// Scale shared by all lines of a table, so that its rows are comparable.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrendScale {
    /// Pass rates at the bottom and at the top.
    pub ends: (f64, f64),
    /// Distance of two nights, in pixels.
    pub step: f64,
}

/// Maximum distance of the first and the newest night in pixels, so that the table fits on a page.
const MAX_LENGTH: f64 = 112.0;
/// Maximum distance of two nights, in pixels.
const MAX_STEP: f64 = 6.0;
/// Height of a drawing, and its space around the outermost points, in pixels.
const HEIGHT: f64 = 20.0;
const SPACE: f64 = 4.0;

impl TrendScale {
    /// Chooses the distance so that `nights` nights fit into a row.
    pub fn new(ends: (f64, f64), nights: usize) -> Self {
        let steps = nights.clamp(2, MAX_POINTS) - 1;
        Self {
            ends,
            step: (MAX_LENGTH / steps as f64).min(MAX_STEP),
        }
    }

    fn height_of(&self, rate: f64) -> f64 {
        let (low, high) = self.ends;
        let share = if high > low {
            ((rate - low) / (high - low)).clamp(0.0, 1.0)
        } else {
            0.5
        };
        SPACE + (HEIGHT - 2.0 * SPACE) * (1.0 - share)
    }
}

/// A line through the newest nights, in the arm's colour, with a dot at the newest.
#[derive(Clone, Debug)]
pub(super) struct TrendLine {
    pub title: String,
    /// CSS class of the arm's colour.
    pub tone: &'static str,
    pub width: String,
    pub height: String,
    pub path: String,
    pub newest: [String; 2],
}

impl TrendLine {
    /// Draws the newest pass rates. Returns `None` without any.
    pub fn from_rates(rates: &[&Estimate], scale: TrendScale, tone: &'static str) -> Option<Self> {
        let shown = &rates[rates.len().saturating_sub(MAX_POINTS)..];
        let first = *shown.first()?;
        let (lowest, highest) = shown.iter().fold((first, first), |(low, high), rate| {
            (
                if rate.value < low.value { rate } else { low },
                if rate.value > high.value { rate } else { high },
            )
        });
        let percent =
            |rate: &Estimate| format::percent(rate.value, rate.total.unwrap_or(rate.n).max(rate.n));
        let pixels = |number: f64| format!("{}", (number * 10.0).round() / 10.0);
        let mut path = String::new();
        let mut newest = [0.0, 0.0];
        for (night, rate) in shown.iter().enumerate() {
            newest = [
                SPACE + scale.step * night as f64,
                scale.height_of(rate.value),
            ];
            let before = if night == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{before}{} {}", pixels(newest[0]), pixels(newest[1]));
        }
        Some(Self {
            title: format!(
                "{} nights, between {} and {}",
                shown.len(),
                percent(lowest),
                percent(highest)
            ),
            tone,
            width: pixels(newest[0] + SPACE),
            height: pixels(HEIGHT),
            path,
            newest: newest.map(pixels),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_its_nights_and_ends_at_the_newest() {
        let rates: Vec<Estimate> = [0.9, 0.5, 0.7]
            .into_iter()
            .map(|value| Estimate::from_value(value, 10, "questions"))
            .collect();
        let rates: Vec<&Estimate> = rates.iter().collect();
        let scale = TrendScale::new((0.5, 0.9), 3);
        let line = TrendLine::from_rates(&rates, scale, "a0").expect("three nights");
        assert_eq!(line.path, "M4 4L10 16L16 10");
        assert_eq!(line.newest, ["16", "10"]);
        assert!(TrendLine::from_rates(&[], scale, "a0").is_none());
    }
}
