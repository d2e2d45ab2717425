//! Turns the rows of a table into the rows that a map reads: skips totals, fills down, adds names from the path, and makes wide rows long.

use super::cell::{CellKind, MAX_TRIES, RowCell, same_value};
use super::path_part::PathPart;
use super::rows::SourceRow;

/// A map's facts about the shape of its table.
#[derive(Clone, Debug, Default)]
pub(super) struct TableShape {
    pub skip: Option<RowSkip>,
    pub wide: Option<WideColumns>,
    /// Slots of columns whose empty cells have the value of the row above.
    pub fill: Vec<usize>,
    /// Slot of a column with all attempts at an item in one cell, such as `2/3` or `[true, false, true]`.
    pub tries: Option<usize>,
    /// Slots of columns that the path of the file fills.
    pub path: Vec<(usize, PathPart)>,
}

/// Skips rows that have one of the values in a column, such as totals or notes. The empty value is a blank cell.
#[derive(Clone, Debug)]
pub(super) struct RowSkip {
    pub slot: usize,
    pub values: Vec<String>,
}

/// Columns side by side that are turned into rows.
#[derive(Clone, Debug)]
pub(super) struct WideColumns {
    /// Slot of the cell for the group's name.
    pub name: usize,
    pub groups: Vec<WideGroup>,
}

#[derive(Clone, Debug)]
pub(super) struct WideGroup {
    pub name: String,
    /// Pairs of source slot and target slot.
    pub cells: Vec<(usize, usize)>,
}

impl TableShape {
    pub fn is_skipped(&self, row: &SourceRow<'_>) -> bool {
        let (Some(skip), Ok(cells)) = (&self.skip, &row.cells) else {
            return false;
        };
        let cell = &cells[skip.slot];
        let text = match cell.kind {
            CellKind::Text => cell.text.trim(),
            CellKind::Absent | CellKind::Null => "",
            _ => return false,
        };
        skip.values.iter().any(|value| same_value(value, text))
    }

    /// Returns the slots that are filled here, so that the source need not have them.
    pub fn derived_slots(&self) -> impl Iterator<Item = usize> {
        let wide = self.wide.iter().flat_map(|wide| {
            wide.groups
                .iter()
                .flat_map(|group| group.cells.iter().map(|(_, to)| *to))
                .chain([wide.name])
        });
        wide.chain(self.path.iter().map(|(slot, _)| *slot))
    }

    /// Begins a part of a source, whose path is given.
    pub fn begin_part(&self, path: &str) -> ShapedPart<'_> {
        let names = self
            .path
            .iter()
            .filter_map(|(slot, part)| Some((*slot, part.text_in(path)?)))
            .collect();
        ShapedPart {
            shape: self,
            names,
            above: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Passes on the row, or each of the rows made from it.
    fn for_each_row<E>(
        &self,
        row: &SourceRow<'_>,
        on_row: &mut dyn FnMut(&SourceRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (Some(wide), Ok(cells)) = (&self.wide, &row.cells) else {
            return self.for_each_attempt(row, on_row);
        };
        let mut long: Vec<RowCell> = cells.to_vec();
        for group in &wide.groups {
            if group
                .cells
                .iter()
                .all(|(from, _)| cells[*from].kind == CellKind::Absent)
            {
                continue;
            }
            long[wide.name].set(CellKind::Text, &group.name);
            for (from, to) in &group.cells {
                long[*to].clone_from(&cells[*from]);
            }
            self.for_each_attempt(
                &SourceRow {
                    number: row.number,
                    line: row.line,
                    cells: Ok(&long),
                },
                on_row,
            )?;
        }
        Ok(())
    }

    /// Passes on the row, or a row for each attempt that its cell counts.
    fn for_each_attempt<E>(
        &self,
        row: &SourceRow<'_>,
        on_row: &mut dyn FnMut(&SourceRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (Some(slot), Ok(cells)) = (self.tries, &row.cells) else {
            return on_row(row);
        };
        // Any other value is no name of a status, and is refused.
        let Some(outcomes) = parse_attempt_outcomes(&cells[slot].text) else {
            return on_row(row);
        };
        let mut one: Vec<RowCell> = cells.to_vec();
        for outcome in outcomes {
            one[slot].set(CellKind::Boolean, if outcome { "true" } else { "false" });
            on_row(&SourceRow {
                number: row.number,
                line: row.line,
                cells: Ok(&one),
            })?;
        }
        Ok(())
    }
}

/// Parses the outcomes of the attempts at an item: the passed and all attempts, `2/3`, or a list, `[true, false, true]`.
pub(super) fn parse_attempt_outcomes(text: &str) -> Option<Vec<bool>> {
    let Some(list) = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
    else {
        return parse_passed_of_all(text)
            .map(|(passed, all)| (0..all).map(|number| number < passed).collect());
    };
    let outcomes = list
        .split(',')
        .map(|outcome| outcome.trim().to_lowercase().parse().ok());
    outcomes
        .collect::<Option<Vec<bool>>>()
        .filter(|outcomes| outcomes.len() <= MAX_TRIES)
}

/// Returns whether the text is a list of the outcomes of attempts.
pub(super) fn is_list_of_outcomes(text: &str) -> bool {
    text.starts_with('[') && parse_attempt_outcomes(text).is_some()
}

/// Parses the passed and all attempts at an item: `2/3`.
pub(super) fn parse_passed_of_all(text: &str) -> Option<(u32, u32)> {
    let (passed, all) = text.split_once('/')?;
    let (passed, all): (u32, u32) = (passed.trim().parse().ok()?, all.trim().parse().ok()?);
    (passed <= all && (1..=MAX_TRIES).contains(&(all as usize))).then_some((passed, all))
}

/// One part of a source while its rows are read.
pub(super) struct ShapedPart<'s> {
    shape: &'s TableShape,
    /// Names from the path, by slot.
    names: Vec<(usize, String)>,
    /// The cells that are filled down, from the rows above.
    above: Vec<RowCell>,
    cells: Vec<RowCell>,
}

impl ShapedPart<'_> {
    /// Passes on the row, or each of the rows made from it.
    pub fn for_each_row<E>(
        &mut self,
        row: &SourceRow<'_>,
        on_row: &mut dyn FnMut(&SourceRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Ok(cells) = &row.cells else {
            return self.shape.for_each_row(row, on_row);
        };
        if self.names.is_empty() && self.shape.fill.is_empty() {
            return self.shape.for_each_row(row, on_row);
        }
        self.cells.clear();
        self.cells.extend_from_slice(cells);
        for (slot, name) in &self.names {
            // A column of this name is in the file.
            if self.cells[*slot].kind == CellKind::Absent {
                self.cells[*slot].set(CellKind::Text, name);
            }
        }
        self.above.resize(self.shape.fill.len(), RowCell::default());
        for (slot, above) in self.shape.fill.iter().zip(&mut self.above) {
            let cell = &mut self.cells[*slot];
            if matches!(cell.kind, CellKind::Absent | CellKind::Null)
                || (cell.kind == CellKind::Text && cell.text.trim().is_empty())
            {
                cell.clone_from(above);
            } else {
                above.clone_from(cell);
            }
        }
        self.shape.for_each_row(
            &SourceRow {
                number: row.number,
                line: row.line,
                cells: Ok(&self.cells),
            },
            on_row,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_row_becomes_long_ones() {
        let mut cells = vec![RowCell::default(); 5];
        for (slot, text) in [(0, "q1"), (1, "ja"), (2, "")] {
            cells[slot].set(CellKind::Text, text);
        }
        let group = |name: &str, from| WideGroup {
            name: name.to_owned(),
            cells: vec![(from, 4)],
        };
        let shape = TableShape {
            skip: Some(RowSkip {
                slot: 0,
                values: vec!["Summe".to_owned()],
            }),
            wide: Some(WideColumns {
                name: 3,
                groups: vec![group("a", 1), group("b", 2)],
            }),
            ..TableShape::default()
        };
        let mut found = Vec::new();
        let row = SourceRow {
            number: 7,
            line: None,
            cells: Ok(&cells),
        };
        let mut take = |row: &SourceRow<'_>| {
            let cells = row.cells.as_ref().expect("cells");
            found.push(format!(
                "{} {} {} {}",
                row.number, cells[0].text, cells[3].text, cells[4].text
            ));
            Ok::<(), ()>(())
        };
        shape.for_each_row(&row, &mut take).expect("no error");
        assert_eq!(found, ["7 q1 a ja", "7 q1 b "]);
        let tried = TableShape {
            tries: Some(1),
            ..TableShape::default()
        };
        let mut statuses = Vec::new();
        let mut cells_of = |text: &str| {
            let mut cells = cells.clone();
            cells[1].set(CellKind::Text, text);
            let row = SourceRow {
                number: 7,
                line: None,
                cells: Ok(&cells),
            };
            let mut take = |row: &SourceRow<'_>| {
                statuses.push(row.cells.as_ref().expect("cells")[1].text.clone());
                Ok::<(), ()>(())
            };
            tried.for_each_row(&row, &mut take).expect("no error");
        };
        ["2/3", "4/3", "1/2000", ""]
            .into_iter()
            .for_each(&mut cells_of);
        assert_eq!(
            statuses,
            ["true", "true", "false", "4/3", "1/2000", ""],
            "what is no count of attempts is passed on as it is"
        );
        assert!(!shape.is_skipped(&row));
        cells[0].set(CellKind::Text, " Summe ");
        assert!(shape.is_skipped(&SourceRow {
            number: 1,
            line: None,
            cells: Ok(&cells)
        }));
    }
}
