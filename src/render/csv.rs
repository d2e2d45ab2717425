//! Tables for spreadsheets and programs: figures in full precision under their JSON names, never formatted text.

use crate::domain::escape_invisible;

use super::cell::Datum;
use super::data_table::FigureSheet;
use super::format;
use super::table::ReportTable;

/// Writes tables as CSV (RFC 4180, LF). Consecutive tables with the same kind of rows become one table with one header; an empty line
/// separates others. Titles and notes are not written.
pub fn write_tables(tables: &[ReportTable]) -> String {
    let tables: Vec<&ReportTable> = tables.iter().map(ReportTable::for_programs).collect();
    let alike = |one: &&ReportTable, other: &&ReportTable| !one.of.is_empty() && one.of == other.of;
    tables
        .chunk_by(alike)
        .map(write_sheet)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Writes one table.
pub fn write_table(table: &ReportTable) -> String {
    write_sheet(&[table.for_programs()])
}

fn write_sheet(tables: &[&ReportTable]) -> String {
    let sheet = FigureSheet::from_tables(tables);
    let header = sheet.keys.iter().map(|key| text_field(key)).collect();
    write_records(
        std::iter::once(header).chain(
            sheet
                .rows
                .iter()
                .map(|row| row.iter().map(datum_field).collect()),
        ),
    )
}

fn datum_field(datum: &Datum) -> String {
    match datum {
        Datum::Absent => String::new(),
        Datum::Integer(number) => number.to_string(),
        Datum::Number(number) => number.to_string(),
        Datum::Flag(flag) => flag.to_string(),
        Datum::Text(words) => text_field(words),
        Datum::Time(time) => format::rfc3339_time(time),
    }
}

fn write_records(records: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut written = String::new();
    for record in records {
        let fields: Vec<String> = record.iter().map(|field| quote_field(field)).collect();
        written.push_str(&fields.join(","));
        written.push('\n');
    }
    written
}

/// Writes a text cell with control characters made visible. A text that a spreadsheet would take for a formula gets a leading quote.
fn text_field(cell: &str) -> String {
    let shown = escape_invisible(cell);
    if shown.starts_with(['=', '+', '-', '@', '\u{2409}', '\u{240d}']) {
        format!("'{shown}")
    } else {
        shown
    }
}

fn quote_field(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::TableCell;
    use super::super::table::TableColumn;
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        assert_eq!(text_field("=cmd()"), "'=cmd()");
        assert_eq!(text_field("-cmd"), "'-cmd");
        assert_eq!(datum_field(&Datum::Number(-0.5)), "-0.5");
        assert_eq!(datum_field(&"-0.5".into()), "'-0.5");
        assert_eq!(
            write_records([vec!["a,b".to_owned(), "say \"x\"".to_owned()]]),
            "\"a,b\",\"say \"\"x\"\"\"\n"
        );
    }

    #[test]
    fn tables_of_the_same_rows_have_one_header() {
        let mut one = ReportTable::for_rows("arms");
        one.add_filled_column(
            TableColumn::words("Arm").keys(["arm"]),
            [TableCell::words("a"), TableCell::words("b")],
        );
        one.add_filled_column(
            TableColumn::number("Cost").keys(["cost_usd"]),
            [
                TableCell::number("≥ $1,200.50", 1200.5),
                TableCell::unknown("unknown"),
            ],
        );
        let mut other = ReportTable::for_rows("arms");
        other.add_filled_column(
            TableColumn::words("Arm").keys(["arm"]),
            [TableCell::words("c")],
        );
        other.add_filled_column(
            TableColumn::number("Passed").keys(["passed", "total"]),
            [TableCell::for_people("1/2 (50%)").with_data([1_u64.into(), 2_u64.into()])],
        );
        other.add_filled_column(
            TableColumn::words("Said"),
            [TableCell::for_people("only to people")],
        );
        let mut third = ReportTable::new("Else");
        third.add_text_column("Name", 0);
        third.add_row(["x"]);
        assert_eq!(
            write_tables(&[one, other, third]),
            "arm,passed,total,cost_usd\na,,,1200.5\nb,,,\nc,1,2,\n\nName\nx\n"
        );
    }
}
