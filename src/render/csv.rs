//! Tables for spreadsheets and programs: figures in full precision under their JSON names, never formatted text.

use crate::domain::visible;

use super::cell::Datum;
use super::format;
use super::sheet::Sheet;
use super::table::Table;

/// Writes tables as CSV (RFC 4180, LF). Consecutive tables with the same kind of rows become one table with one header; an empty line
/// separates others. Titles and notes are not written.
pub fn tables(tables: &[Table]) -> String {
    let tables: Vec<&Table> = tables.iter().map(Table::for_programs).collect();
    let alike = |one: &&Table, other: &&Table| !one.of.is_empty() && one.of == other.of;
    tables
        .chunk_by(alike)
        .map(sheet)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Writes one table.
pub fn table(table: &Table) -> String {
    sheet(&[table.for_programs()])
}

fn sheet(tables: &[&Table]) -> String {
    let sheet = Sheet::of(tables);
    let header = sheet.keys.iter().map(|key| text(key)).collect();
    records(
        std::iter::once(header).chain(sheet.rows.iter().map(|row| row.iter().map(field).collect())),
    )
}

fn field(datum: &Datum) -> String {
    match datum {
        Datum::Absent => String::new(),
        Datum::Integer(number) => number.to_string(),
        Datum::Number(number) => number.to_string(),
        Datum::Flag(flag) => flag.to_string(),
        Datum::Text(words) => text(words),
        Datum::Time(time) => format::timestamp(time),
    }
}

fn records(records: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut written = String::new();
    for record in records {
        let fields: Vec<String> = record.iter().map(|field| quote(field)).collect();
        written.push_str(&fields.join(","));
        written.push('\n');
    }
    written
}

/// Writes a text cell with control characters made visible. A text that a spreadsheet would take for a formula gets a leading quote.
fn text(cell: &str) -> String {
    let shown = visible(cell);
    if shown.starts_with(['=', '+', '-', '@', '\u{2409}', '\u{240d}']) {
        format!("'{shown}")
    } else {
        shown
    }
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::Cell;
    use super::super::table::Column;
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        assert_eq!(text("=cmd()"), "'=cmd()");
        assert_eq!(text("-cmd"), "'-cmd");
        assert_eq!(field(&Datum::Number(-0.5)), "-0.5");
        assert_eq!(field(&"-0.5".into()), "'-0.5");
        assert_eq!(
            records([vec!["a,b".to_owned(), "say \"x\"".to_owned()]]),
            "\"a,b\",\"say \"\"x\"\"\"\n"
        );
    }

    #[test]
    fn tables_of_the_same_rows_have_one_header() {
        let mut one = Table::of("arms");
        one.column(
            Column::words("Arm").keys(["arm"]),
            [Cell::words("a"), Cell::words("b")],
        );
        one.column(
            Column::number("Cost").keys(["cost_usd"]),
            [
                Cell::number("≥ $1,200.50", 1200.5),
                Cell::unknown("unknown"),
            ],
        );
        let mut other = Table::of("arms");
        other.column(Column::words("Arm").keys(["arm"]), [Cell::words("c")]);
        other.column(
            Column::number("Passed").keys(["passed", "total"]),
            [Cell::shown("1/2 (50%)").data([1_u64.into(), 2_u64.into()])],
        );
        other.column(Column::words("Said"), [Cell::shown("only to people")]);
        let mut third = Table::new("Else");
        third.left("Name", 0);
        third.row(["x"]);
        assert_eq!(
            tables(&[one, other, third]),
            "arm,passed,total,cost_usd\na,,,1200.5\nb,,,\nc,1,2,\n\nName\nx\n"
        );
    }
}
