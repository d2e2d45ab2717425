//! Tables for spreadsheets.

use crate::domain::visible;

use super::table::{Align, Table};

/// Writes the table's header and rows as CSV (RFC 4180, LF). Notes and title are left out.
pub fn table(table: &Table) -> String {
    let header = table.columns.iter().map(|column| text(&column.name)).collect();
    let rows = table.rows.iter().map(|row| {
        row.iter().zip(&table.columns).map(|(cell, column)| if column.align == Align::Right { number(cell) } else { text(cell) }).collect()
    });
    records(std::iter::once(header).chain(rows))
}

/// Writes records of cells that are safe already.
pub fn records(records: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut written = String::new();
    for record in records {
        let fields: Vec<String> = record.iter().map(|field| quote(field)).collect();
        written.push_str(&fields.join(","));
        written.push('\n');
    }
    written
}

/// A text cell: control characters are made visible, and a start that a spreadsheet would take for a formula gets a quote before it.
pub fn text(cell: &str) -> String {
    let shown = visible(cell);
    if shown.starts_with(['=', '+', '-', '@', '\u{2409}', '\u{240d}']) { format!("'{shown}") } else { shown }
}

/// A cell of a column of numbers, whose signs are its own.
fn number(cell: &str) -> String {
    let plain = cell.replace('\u{2212}', "-");
    if plain.parse::<f64>().is_ok() { plain } else { text(&plain) }
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        assert_eq!(text("=cmd()"), "'=cmd()");
        assert_eq!(number("−0.5"), "-0.5");
        assert_eq!(number("-cmd"), "'-cmd");
        assert_eq!(records([vec!["a,b".to_owned(), "say \"x\"".to_owned()]]), "\"a,b\",\"say \"\"x\"\"\"\n");
    }
}
