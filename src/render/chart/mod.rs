//! Charts as SVG. Each comes with its finding in words and the table of its values.
//!
//! Plotters does layout, axes and series; the output is ours (see `backend`). A chart has at most [`MAX_BYTES`] and [`MAX_MARKS`]. If
//! there is more to draw, rules decide what is not drawn, and the chart says so.

mod axis;
mod backend;
mod ecdf;
mod frame;
mod ink;
mod pairs;
mod pareto;
mod size;
#[cfg(test)]
mod tests;
mod trend;
mod widths;

use super::table::ReportTable;

pub use backend::Svg;
pub use ecdf::draw_ecdf;
pub use pairs::draw_pairs;
pub use pareto::draw_pareto;
pub use trend::{draw_trend, trend_shares};

/// Maximum bytes of a chart in its page.
pub const MAX_BYTES: usize = 30 * 1024;
/// Maximum number of lines, shapes and texts in a chart.
pub const MAX_MARKS: usize = 2000;

/// One entry of a chart's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    pub sign: &'static str,
    /// Class that colours the sign.
    pub class: &'static str,
    pub name: String,
}

/// A drawing with its title, key, notes and values.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Unique on its page, and chosen by us: it needs no escaping.
    pub id: String,
    pub title: String,
    /// The finding in words, also used as the drawing's description.
    pub finding: String,
    pub svg: Svg,
    pub key: Vec<KeyEntry>,
    /// How to read the chart, and what is not drawn.
    pub notes: Vec<String>,
    /// The values, with one row for each mark or group of marks.
    pub table: ReportTable,
}
