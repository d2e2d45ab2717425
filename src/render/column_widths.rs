//! Widths of a table's columns on a terminal, and text wrapped to them. A word is broken only if it is longer than any column should be.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width that each column keeps, unless all of its text is shorter.
const MIN_COLUMN: usize = 8;
/// Longest part of a word that a column has to hold unbroken.
const MAX_UNBROKEN: usize = 30;
/// Characters after which a long word may continue on the next line, as in `claude-sonnet-4` and `suites/basics`.
const BREAKS_AFTER: [char; 7] = ['-', '_', '/', '.', ':', '@', '='];

/// What a column's width depends on: its header and its cells, as they are shown.
pub(super) struct ColumnText {
    pub header: String,
    pub cells: Vec<String>,
    /// Whether it has numbers. They are broken only if nothing else helps.
    pub is_number: bool,
}

impl ColumnText {
    fn natural_width(&self) -> usize {
        self.cells_width().max(self.header.width())
    }

    fn cells_width(&self) -> usize {
        self.cells
            .iter()
            .map(|cell| cell.width())
            .max()
            .unwrap_or(0)
    }

    /// Returns the width that needs no wrapping of cells, with a header of two lines at most.
    pub fn compact_width(&self) -> usize {
        self.cells_width().max(two_line_width(&self.header))
    }

    /// Returns the least width that breaks no word; of numbers, none at all, if they are to be `whole`.
    fn least_width(&self, whole: bool) -> usize {
        let cells = if whole && self.is_number {
            self.cells_width()
        } else {
            self.cells
                .iter()
                .map(|cell| longest_part(cell))
                .max()
                .unwrap_or(0)
        };
        cells
            .max(longest_part(&self.header))
            .max(self.natural_width().min(MIN_COLUMN))
    }
}

/// Returns the width of a header in two lines, broken at the best space.
fn two_line_width(header: &str) -> usize {
    let words = words_of(header);
    (1..words.len())
        .map(|at| {
            let line =
                |words: &[&str]| words.iter().map(|word| word.width() + 1).sum::<usize>() - 1;
            line(&words[..at]).max(line(&words[at..]))
        })
        .min()
        .unwrap_or_else(|| header.width())
}

/// Splits a text at its spaces, but not within brackets: `[95% CI]` and `[−13.5, +5.5]` stay whole.
fn words_of(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|character| {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ' ' && depth == 0
    })
    .collect()
}

/// Splits a word where a long one may continue on the next line. What stands in brackets is one part.
fn parts_of(word: &str) -> Vec<&str> {
    if word.contains(' ') {
        vec![word]
    } else {
        word.split_inclusive(BREAKS_AFTER).collect()
    }
}

/// Returns the widest part of a text that is not to be broken.
fn longest_part(text: &str) -> usize {
    words_of(text)
        .into_iter()
        .flat_map(parts_of)
        .map(UnicodeWidthStr::width)
        .max()
        .unwrap_or(0)
        .min(MAX_UNBROKEN)
}

/// Shares the available width among columns, or returns `None` if they have no room side by side.
pub(super) fn fit_columns(columns: &[ColumnText], available: usize) -> Option<Vec<usize>> {
    let natural: Vec<usize> = columns.iter().map(ColumnText::natural_width).collect();
    let least = |whole: bool| -> Option<Vec<usize>> {
        let widths: Vec<usize> = columns
            .iter()
            .map(|column| column.least_width(whole))
            .collect();
        (widths.iter().sum::<usize>() <= available).then_some(widths)
    };
    let mut widths = least(true).or_else(|| least(false))?;
    let compact: Vec<usize> = columns.iter().map(ColumnText::compact_width).collect();
    // Cells come before headers.
    for wanted in [&compact, &natural] {
        widen(&mut widths, wanted, available);
    }
    Some(widths)
}

/// Widens columns as far as they want and the width allows. The narrowest column that lacks room gets more first.
fn widen(widths: &mut [usize], wanted: &[usize], available: usize) {
    let mut left = available - widths.iter().sum::<usize>();
    while left > 0 {
        let lacking = (0..widths.len())
            .filter(|column| widths[*column] < wanted[*column])
            .min_by_key(|column| widths[*column]);
        let Some(column) = lacking else {
            break;
        };
        widths[column] += 1;
        left -= 1;
    }
}

/// Wraps a text into lines of this width: at spaces, within long words after a hyphen or the like, and else anywhere.
pub(super) fn wrap_cell(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut room = width;
    for word in words_of(text) {
        let space = usize::from(room < width);
        if word.width() + space <= room {
            let line = lines.last_mut().expect("there is always a line");
            if space == 1 {
                line.push(' ');
            }
            line.push_str(word);
            room -= word.width() + space;
            continue;
        }
        if room < width {
            lines.push(String::new());
            room = width;
        }
        for part in parts_of(word) {
            if part.width() > room && room < width {
                lines.push(String::new());
                room = width;
            }
            for character in part.chars() {
                let own = character.width().unwrap_or(0);
                if own > room && room < width {
                    lines.push(String::new());
                    room = width;
                }
                lines
                    .last_mut()
                    .expect("there is always a line")
                    .push(character);
                room = room.saturating_sub(own);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(header: &str, cells: &[&str], is_number: bool) -> ColumnText {
        ColumnText {
            header: header.to_owned(),
            cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
            is_number,
        }
    }

    #[test]
    fn words_stay_whole_and_long_names_break_after_hyphens() {
        assert_eq!(
            wrap_cell("claude-sonnet-4 is ahead", 8),
            ["claude-", "sonnet-4", "is ahead"]
        );
        assert_eq!(wrap_cell("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap_cell("", 4), [""]);
        assert_eq!(
            wrap_cell("Pass rate % [95% CI]", 11),
            ["Pass rate %", "[95% CI]"]
        );
    }

    #[test]
    fn numbers_keep_their_width_and_names_give_way() {
        let columns = [
            column("Arm", &["a-very-long-name-of-an-arm", "b"], false),
            column("Pass rate % [95% CI]", &["52.0 [47.8, 56.2]"], true),
        ];
        assert_eq!(fit_columns(&columns, 30), Some(vec![13, 17]));
        assert_eq!(fit_columns(&columns, 60), Some(vec![26, 20]));
        assert_eq!(fit_columns(&columns, 14), None);
    }
}
