//! A series of nights as a row of bars in a table's cell.

use std::fmt::Write;

use crate::render::format;
use crate::render::sparkline::{MAX_HEIGHT, MAX_POINTS, bar_heights};
use crate::views::Estimate;

/// Scale shared by all bars of a table, so that its rows are comparable.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarScale {
    /// Pass rates of the lowest and the highest bar.
    pub ends: (f64, f64),
    /// Width of one bar, in pixels.
    pub width: usize,
}

/// Maximum width of a row in pixels, so that the table fits on a page.
const MAX_WIDTH: usize = 120;
/// Height of a step, in pixels.
const STEP_HEIGHT: usize = 2;

impl BarScale {
    /// Chooses the bars' width so that `nights` bars fit into a row.
    pub fn new(ends: (f64, f64), nights: usize) -> Self {
        Self {
            ends,
            width: (MAX_WIDTH / nights.clamp(1, MAX_POINTS)).min(6),
        }
    }
}

/// Outline of adjacent bars, with a description.
#[derive(Clone, Debug)]
pub(super) struct NightBars {
    pub title: String,
    pub width: usize,
    pub height: usize,
    pub path: String,
}

impl NightBars {
    /// Draws the newest pass rates. Returns `None` without any.
    pub fn from_rates(rates: &[&Estimate], scale: BarScale) -> Option<Self> {
        let values: Vec<f64> = rates.iter().map(|rate| rate.value).collect();
        let heights = bar_heights(&values, scale.ends.0, scale.ends.1);
        let shown = &rates[rates.len() - heights.len()..];
        let first = *shown.first()?;
        let (lowest, highest) = shown.iter().fold((first, first), |(low, high), rate| {
            (
                if rate.value < low.value { rate } else { low },
                if rate.value > high.value { rate } else { high },
            )
        });
        let percent =
            |rate: &Estimate| format::percent(rate.value, rate.total.unwrap_or(rate.n).max(rate.n));
        let (width, height) = (heights.len() * scale.width, MAX_HEIGHT * STEP_HEIGHT);
        let mut path = format!("M0 {height}");
        let mut before = 0;
        for (place, bar) in (0..).zip(&heights) {
            if *bar != before {
                let _ = write!(
                    path,
                    "H{}V{}",
                    place * scale.width,
                    height - bar * STEP_HEIGHT
                );
                before = *bar;
            }
        }
        let _ = write!(path, "H{width}V{height}z");
        let title = format!(
            "{} nights, between {} and {}",
            shown.len(),
            percent(lowest),
            percent(highest)
        );
        Some(Self {
            title,
            width,
            height,
            path,
        })
    }
}
