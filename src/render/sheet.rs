//! The figures behind tables, for programs: CSV and SQL.

use super::cell::Datum;
use super::table::Table;

/// Rows of figures under their keys. Every row has as many as there are keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    pub keys: Vec<String>,
    pub rows: Vec<Vec<Datum>>,
}

impl Sheet {
    /// Takes tables of the same rows together, under all keys that any of them has; a new key comes after the one that it follows in its
    /// table.
    pub fn of(tables: &[&Table]) -> Self {
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
            let places: Vec<usize> = own_keys(table).filter_map(|key| keys.iter().position(|known| known == key)).collect();
            for cells in &table.rows {
                let figures = table.columns.iter().zip(cells).flat_map(|(column, cell)| (0..column.keys.len()).map(|at| cell.data.get(at)));
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

fn own_keys(table: &Table) -> impl Iterator<Item = &str> {
    table.columns.iter().flat_map(|column| &column.keys).map(AsRef::as_ref)
}
