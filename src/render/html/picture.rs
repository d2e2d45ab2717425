//! The whole matrix in one picture: rows are attempts at the suite, columns are items.

use crate::domain::ItemStatus;
use crate::render::png::Picture;
use crate::views::{Go, ItemMatrix};

use super::mark::shade;

/// The picture's file name beside the matrix.
pub(super) const NAME: &str = "matrix.png";

/// Maximum cells across and down. With more items or attempts, one cell covers several.
const MOST_COLUMNS: usize = 1_200;
const MOST_ROWS: usize = 400;
/// Size in pixels to which the picture of a small matrix is enlarged, and the maximum side of a cell.
const WIDTH: usize = 1_120;
const HEIGHT: usize = 320;
const LARGEST_CELL: usize = 20;
/// Pixels between two arms.
const GAP: usize = 3;

/// Colours of: absent; no outcome; error or limit; then pass rates from nothing to everything. Passed is dark and not passed is light, so
/// that the picture is readable without colours.
const COLOURS: [[u8; 3]; 10] = [
    [255, 255, 255],
    [0x9a, 0xa3, 0xae],
    [0x7a, 0x5c, 0x00],
    [0xf4, 0xb1, 0x83],
    [0xd6, 0xc2, 0xb4],
    [0xa9, 0xbf, 0xcb],
    [0x7f, 0xae, 0xc6],
    [0x52, 0x99, 0xba],
    [0x2c, 0x83, 0xaa],
    [0x0b, 0x6e, 0x99],
];
const ABSENT: u8 = 0;
const MISSING: u8 = 1;
const BROKEN: u8 = 2;
const NOTHING: u8 = 3;
const EVERYTHING: u8 = 9;

/// Totals of an arm's rows of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strip {
    pub goes: u64,
    pub passed: u64,
    pub failed: u64,
    pub broken: u64,
    pub missing: u64,
    pub skipped: u64,
}

pub(super) struct Drawn {
    pub picture: Picture,
    /// One strip per arm.
    pub strips: Vec<Strip>,
}

/// Draws a matrix with at least one item.
pub(super) fn of(matrix: &ItemMatrix) -> Drawn {
    let order = matrix.easiest();
    let across = order.len().div_ceil(MOST_COLUMNS);
    let down = matrix.goes.len().div_ceil(MOST_ROWS).max(1);
    let by_arm: Vec<Vec<&Go>> = (0..matrix.arms.len()).map(|arm| matrix.goes.iter().filter(|go| go.arm == arm).collect()).collect();
    let rows: usize = by_arm.iter().map(|goes| goes.len().div_ceil(down)).sum();
    let columns = order.len().div_ceil(across);
    let (wide, high) = ((WIDTH / columns).clamp(1, LARGEST_CELL), (HEIGHT / rows.max(1)).clamp(1, LARGEST_CELL));
    let width = columns * wide;
    let mut pixels = Vec::new();
    for goes in by_arm.iter().filter(|goes| !goes.is_empty()) {
        if !pixels.is_empty() {
            pixels.resize(pixels.len() + GAP * width, ABSENT);
        }
        for some in goes.chunks(down) {
            let colours = order.chunks(across).map(|items| colour(some, items));
            let row: Vec<u8> = colours.flat_map(|colour| std::iter::repeat_n(colour, wide)).collect();
            for _ in 0..high {
                pixels.extend(&row);
            }
        }
    }
    let width = u32::try_from(width).unwrap_or(u32::MAX);
    Drawn { picture: Picture { width, pixels, colours: COLOURS.to_vec() }, strips: by_arm.iter().map(|goes| strip(goes)).collect() }
}

/// Returns the colour of the outcomes of some attempts on some items.
fn colour(goes: &[&Go], items: &[usize]) -> u8 {
    let (mut passed, mut counted, mut broken, mut missing) = (0u32, 0u32, 0u32, 0u32);
    for status in goes.iter().flat_map(|go| items.iter().filter_map(|item| go.statuses[*item])) {
        passed += u32::from(status == ItemStatus::Pass);
        counted += u32::from(status.is_counted());
        broken += u32::from(is_broken(status));
        missing += u32::from(status.is_missing());
    }
    match counted {
        0 if missing > 0 => MISSING,
        0 => ABSENT,
        _ if 2 * broken > counted => BROKEN,
        _ => {
            let steps = u32::from(EVERYTHING - NOTHING);
            NOTHING + u8::try_from(shade(passed, counted, steps)).unwrap_or(EVERYTHING - NOTHING)
        }
    }
}

fn is_broken(status: ItemStatus) -> bool {
    matches!(status, ItemStatus::Error | ItemStatus::Limit)
}

fn strip(goes: &[&Go]) -> Strip {
    let mut strip = Strip { goes: goes.len() as u64, ..Strip::default() };
    for status in goes.iter().flat_map(|go| go.statuses.iter().flatten()) {
        match status {
            ItemStatus::Pass => strip.passed += 1,
            ItemStatus::Fail => strip.failed += 1,
            ItemStatus::Error | ItemStatus::Limit => strip.broken += 1,
            ItemStatus::Infra | ItemStatus::NotEvaluated => strip.missing += 1,
            ItemStatus::Skipped => strip.skipped += 1,
        }
    }
    strip
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(statuses: &[Option<ItemStatus>]) -> Go {
        Go { run: "r".to_owned(), arm: 0, attempt: 1, statuses: statuses.to_vec() }
    }

    #[test]
    fn colours_say_how_much_passed() {
        use ItemStatus::{Error, Fail, Infra, Pass, Skipped};
        let of = |statuses: &[Option<ItemStatus>]| {
            let goes = go(statuses);
            colour(&[&goes], &(0..statuses.len()).collect::<Vec<usize>>())
        };
        assert_eq!(of(&[Some(Pass)]), EVERYTHING);
        assert_eq!(of(&[Some(Fail)]), NOTHING);
        assert_eq!(of(&[Some(Error)]), BROKEN);
        assert_eq!(of(&[Some(Infra), Some(Skipped)]), MISSING);
        assert_eq!(of(&[None, Some(Skipped)]), ABSENT);
        assert_eq!(of(&[Some(Pass), Some(Fail)]), NOTHING + 3);
        let mut nearly = vec![Some(Pass); 99];
        nearly.push(Some(Fail));
        assert_eq!(of(&nearly), EVERYTHING - 1, "not everything");
        let mut hardly = vec![Some(Fail); 99];
        hardly.push(Some(Pass));
        assert_eq!(of(&hardly), NOTHING + 1, "not nothing");
    }
}
