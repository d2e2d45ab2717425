//! Charts as SVG: every one says in words what it shows, and comes with the table of its values.
//!
//! Layout, axes and series are plotters' work; what is written is ours (see `backend`). A chart takes at most [`MOST_BYTES`] and
//! [`MOST_MARKS`]: where there is more to draw, some of it is left out by rule, and the chart says so.

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

use super::table::Table;

pub use backend::Svg;
pub use ecdf::ecdf;
pub use pairs::pairs;
pub use pareto::pareto;
pub use trend::{trend, trend_shares};

/// What a chart may weigh in its page.
pub const MOST_BYTES: usize = 30 * 1024;
/// Lines, shapes and texts in a chart.
pub const MOST_MARKS: usize = 2000;

/// One entry of a chart's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub sign: &'static str,
    /// Gives the sign its colour.
    pub class: &'static str,
    pub name: String,
}

/// A drawing with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Unique on its page, and ours.
    pub id: String,
    pub title: String,
    /// What the drawing shows, in words; its description too.
    pub finding: String,
    pub svg: Svg,
    pub key: Vec<Key>,
    /// How to read it, and what is not drawn.
    pub notes: Vec<String>,
    /// The values, one row for each mark or group of marks.
    pub table: Table,
}
