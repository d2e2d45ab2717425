//! A series of nights as a row of bars in a table's cell.

use std::fmt::Write;

use crate::render::format;
use crate::render::sparkline::{HIGHEST, MOST_POINTS, heights};
use crate::views::Estimate;

/// Scale shared by all bars of a table, so that its rows are comparable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Pass rates of the lowest and the highest bar.
    pub ends: (f64, f64),
    /// Width of one bar, in pixels.
    pub width: usize,
}

/// Maximum width of a row in pixels, so that the table fits on a page.
const MOST_WIDTH: usize = 120;
/// Height of a step, in pixels.
const STEP: usize = 2;

impl Scale {
    /// Chooses the bars' width so that `nights` bars fit into a row.
    pub fn new(ends: (f64, f64), nights: usize) -> Self {
        Self {
            ends,
            width: (MOST_WIDTH / nights.clamp(1, MOST_POINTS)).min(6),
        }
    }
}

/// Outline of adjacent bars, with a description.
#[derive(Clone, Debug)]
pub(super) struct Bars {
    pub title: String,
    pub width: usize,
    pub height: usize,
    pub path: String,
}

impl Bars {
    /// Draws the newest pass rates. Returns `None` without any.
    pub fn of(rates: &[&Estimate], scale: Scale) -> Option<Self> {
        let values: Vec<f64> = rates.iter().map(|rate| rate.value).collect();
        let heights = heights(&values, scale.ends.0, scale.ends.1);
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
        let (width, height) = (heights.len() * scale.width, HIGHEST * STEP);
        let mut path = format!("M0 {height}");
        let mut before = 0;
        for (place, bar) in (0..).zip(&heights) {
            if *bar != before {
                let _ = write!(path, "H{}V{}", place * scale.width, height - bar * STEP);
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
