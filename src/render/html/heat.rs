//! The map of a suite's items: one row per arm, one column per item, each cell shaded by its pass rate.
//!
//! One path per row and shade keeps the number of elements small for browsers. The table below the drawing has the links. The texts that
//! the script reads out are beside the drawing.

use crate::domain::beginning;
use crate::render::{format, words};
use crate::views::{ItemCell, ItemLine, OverviewSuite};

use super::items::item_href_at;
use super::mark::{mark, shade};
use super::plan::SuitePlace;
use super::shell::Text;

/// Maximum items and cells of a map. A larger matrix has a picture instead.
const MOST_ITEMS: usize = 300;
const MOST_CELLS: usize = 1_600;
/// Maximum number of items with lines between their cells.
const MOST_PARTED: usize = 120;
/// Maximum letters of an item's name in the read-out.
const LONGEST: usize = 60;
/// Number of shades from nothing to everything passed.
const SHADES: u32 = 6;

pub(super) struct Heat {
    pub caption: String,
    pub columns: usize,
    /// Names, addresses and pass rates of the items, in column order.
    pub names: Vec<Text>,
    pub hrefs: Vec<String>,
    pub rates: String,
    /// The pass rate over all arms: as bars in a field of 100 units, and in words.
    pub bars: String,
    pub level: String,
    /// Lines between the columns.
    pub lines: String,
    pub rows: Vec<HeatRow>,
}

/// One arm.
pub(super) struct HeatRow {
    pub name: Text,
    pub about: String,
    /// Per item `3/5` for three of five outcomes passed, or a sign.
    pub cells: String,
    /// CSS classes with the path of their cells.
    pub shades: Vec<(String, String)>,
}

/// Says whether a matrix of this size is drawn as a map.
pub(super) fn fits(items: usize, arms: usize) -> bool {
    (2..=MOST_ITEMS).contains(&items) && items * arms <= MOST_CELLS
}

/// Draws the items in this order, or returns `None` without items. `across` describes the order.
pub(super) fn of(suite: &OverviewSuite, place: &SuitePlace, order: &[usize], across: &str) -> Option<Heat> {
    let matrix = &suite.items;
    let items: Vec<&ItemLine> = order.iter().map(|index| &matrix.items[*index]).collect();
    let (first, last) = (items.first()?, items.last()?);
    let labels = words::arm_labels(&matrix.arms.iter().map(|arm| arm.arm.clone()).collect::<Vec<_>>());
    let rate = |item: &ItemLine| item.rate.map_or_else(|| "unknown".to_owned(), |rate| format::percent(rate, u64::from(item.counted)));
    let bar = |(column, item): (usize, &&ItemLine)| {
        let height = (item.rate? * 100.0).round().max(1.0);
        Some(format!("M{column} 100V{}h1V100z", format::fixed(100.0 - height, 0)))
    };
    Some(Heat {
        caption: format!("Share of passed outcomes by arm and item, {across}"),
        columns: items.len(),
        names: items.iter().map(|item| name(item)).collect(),
        hrefs: order.iter().map(|index| item_href_at(place, "../i/", *index)).collect(),
        rates: items.iter().map(|item| rate(item)).collect::<Vec<String>>().join(" "),
        bars: items.iter().enumerate().filter_map(bar).collect(),
        level: format!("{} at the left, {} at the right", rate(first), rate(last)),
        lines: lines(items.len()),
        rows: labels
            .iter()
            .enumerate()
            .map(|(arm, label)| row(label, &items.iter().map(|item| item.cells[arm]).collect::<Vec<_>>()))
            .collect(),
    })
}

fn lines(columns: usize) -> String {
    if columns > MOST_PARTED {
        return String::new();
    }
    (1..columns).map(|column| format!("M{column} 0v1")).collect::<Vec<String>>().concat()
}

fn name(item: &ItemLine) -> Text {
    let text = Text::from(beginning(&item.item, LONGEST));
    if text.is_blank() { Text::new("(no name)") } else { text }
}

fn row(label: &str, cells: &[ItemCell]) -> HeatRow {
    let sum = |of: fn(&ItemCell) -> u32| cells.iter().map(|cell| u64::from(of(cell))).sum::<u64>();
    let classes: Vec<Option<String>> = cells.iter().map(class).collect();
    let mut shades = Vec::<(String, String)>::new();
    let mut column = 0;
    for run in classes.chunk_by(|left, right| left == right) {
        if let Some(Some(class)) = run.first() {
            let path = format!("M{column} 0h{}v1h-{}z", run.len(), run.len());
            match shades.iter_mut().find(|(known, _)| known == class) {
                Some((_, paths)) => paths.push_str(&path),
                None => shades.push((class.clone(), path)),
            }
        }
        column += run.len();
    }
    HeatRow {
        name: Text::new(label),
        about: format!("{} of {} outcomes passed", format::integer(sum(|cell| cell.passed)), format::integer(sum(|cell| cell.counted))),
        cells: cells.iter().map(told).collect::<Vec<String>>().join(" "),
        shades,
    }
}

/// Returns the CSS class of a cell's shade, or `None` without a counted outcome.
fn class(cell: &ItemCell) -> Option<String> {
    (cell.counted > 0).then(|| format!("h{}", shade(cell.passed, cell.counted, SHADES)))
}

fn told(cell: &ItemCell) -> String {
    if cell.counted == 0 { mark(*cell, "").sign.to_owned() } else { format!("{}/{}", cell.passed, cell.counted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_piece_and_what_has_no_outcome_stays_empty() {
        let cell = |passed, counted| ItemCell { passed, counted, ..ItemCell::default() };
        let row = row("a", &[cell(2, 2), cell(1, 1), cell(0, 0), cell(1, 2), cell(3, 3)]);
        assert_eq!(row.cells, "2/2 1/1 – 1/2 3/3");
        let shades: Vec<(&str, &str)> = row.shades.iter().map(|(class, path)| (class.as_str(), path.as_str())).collect();
        assert_eq!(shades, [("h6", "M0 0h2v1h-2zM4 0h1v1h-1z"), ("h3", "M3 0h1v1h-1z")]);
        assert_eq!(row.about, "7 of 8 outcomes passed");
        assert!(fits(100, 16) && !fits(301, 2) && !fits(100, 17) && !fits(1, 2));
    }
}
