//! The figures behind tables, for programs: CSV and SQL.

use super::cell::Datum;
use super::table::ReportTable;

/// Rows of figures under their keys. Every row has one figure per key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureSheet {
    pub keys: Vec<String>,
    pub rows: Vec<Vec<Datum>>,
}

impl FigureSheet {
    /// Merges tables of the same kind of rows. The sheet has the keys of all tables; a key that is new comes after its predecessor in its
    /// own table.
    pub fn from_tables(tables: &[&ReportTable]) -> Self {
        let mut keys: Vec<String> = Vec::new();
        for table in tables {
            let mut place = 0;
            for key in own_keys(table) {
                place = match keys.iter().position(|known| known == key) {
                    Some(known) => known + 1,
                    None => {
                        keys.insert(place, key.to_owned());
                        place + 1
                    }
                };
            }
        }
        let mut rows = Vec::new();
        for table in tables {
            let places: Vec<usize> = own_keys(table)
                .filter_map(|key| keys.iter().position(|known| known == key))
                .collect();
            for cells in &table.rows {
                let figures =
                    table.columns.iter().zip(cells).flat_map(|(column, cell)| {
                        (0..column.keys.len()).map(|at| cell.data.get(at))
                    });
                let mut row = vec![Datum::Absent; keys.len()];
                for (place, figure) in places.iter().zip(figures) {
                    row[*place] = figure.cloned().unwrap_or(Datum::Absent);
                }
                rows.push(row);
            }
        }
        Self { keys, rows }
    }
}

fn own_keys(table: &ReportTable) -> impl Iterator<Item = &str> {
    table
        .columns
        .iter()
        .flat_map(|column| &column.keys)
        .map(AsRef::as_ref)
}
