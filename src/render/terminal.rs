//! Tables on a terminal or in a pipe.

use comfy_table::{
    Cell, CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, TableStyle,
};
use unicode_width::UnicodeWidthStr;

use crate::domain::escape_invisible;

use super::column_widths::{ColumnText, fit_columns, wrap_cell};
use super::table::{Align, ColumnVisibility, ReportTable};

/// Settings for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Maximum columns of text per line.
    pub width: usize,
    pub color: bool,
}

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RESET: &str = "\u{1b}[0m";

/// Draws the table in a box with its title, and its notes below.
///
/// If it is too wide, columns of higher rank are hidden and named. If it is still too wide, its text is wrapped. If that would break words,
/// each row is written with one field per line.
pub fn draw_table(table: &ReportTable, style: Style) -> String {
    let mut table = table.seen_as(ColumnVisibility::Lines);
    let dropped = hide_columns_to_fit(&mut table, style.width);
    let mut text = wrap_sentences(
        &table.lead,
        Style {
            color: false,
            ..style
        },
    );
    match draw_lines(&table, style.width) {
        Some(lines) => text.push_str(&in_box(table.title.as_deref(), &lines, style)),
        None => text.push_str(&fields_in_lines(&table, style)),
    }
    let mut notes = table.notes.clone();
    let (said, dropped): (Vec<String>, Vec<String>) = dropped
        .into_iter()
        .partition(|name| table.instead.iter().any(|(column, _)| column == name));
    notes.extend(
        table
            .instead
            .iter()
            .filter(|(column, _)| said.contains(column))
            .map(|(_, note)| note.clone()),
    );
    if !dropped.is_empty() {
        notes.push(format!(
            "Hidden columns at this width: {}. A wider terminal or --format csv|json has them.",
            dropped.join(", ")
        ));
    }
    text.push_str(&wrap_sentences(&notes, style));
    text
}

/// Puts the title above the lines of a table, in their box.
fn in_box(title: Option<&str>, lines: &[String], style: Style) -> String {
    let inner = lines
        .first()
        .map_or(0, |line| line.width().saturating_sub(2));
    let mut text = String::new();
    if let Some(title) = title.filter(|_| inner > 2) {
        text.push_str(&format!("┌{}┐\n", "─".repeat(inner)));
        for line in wrap_cell(&escape_invisible(title), inner - 2) {
            let padding = inner.saturating_sub(line.width() + 2);
            let shown = bold(&line, style);
            text.push_str(&format!("│ {shown}{} │\n", " ".repeat(padding)));
        }
    }
    for (index, line) in lines.iter().enumerate() {
        if index == 0 && title.is_some() {
            text.push_str(&line.replacen('┌', "├", 1).replacen('┐', "┤", 1));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

fn bold(text: &str, style: Style) -> String {
    if style.color {
        format!("{BOLD}{text}{RESET}")
    } else {
        text.to_owned()
    }
}

/// Writes each row with one field per line: its label, then its value.
fn fields_in_lines(table: &ReportTable, style: Style) -> String {
    let labels: Vec<String> = table
        .columns
        .iter()
        .map(|column| escape_invisible(&column.full_label()))
        .collect();
    let width = labels
        .iter()
        .map(|label| label.width())
        .max()
        .unwrap_or(0)
        .min(style.width / 2);
    let mut text = table.title.as_deref().map_or_else(String::new, |title| {
        format!("{}\n", bold(&escape_invisible(title), style))
    });
    for (index, row) in table.rows.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        for (label, cell) in labels.iter().zip(row) {
            let value = wrap_cell(
                &escape_invisible(&cell.single_line()),
                style.width.saturating_sub(width + 2),
            );
            let mut label = label.clone();
            for line in value {
                let padding = " ".repeat(width.saturating_sub(label.width()) + 2);
                text.push_str(format!("{label}{padding}{line}").trim_end());
                text.push('\n');
                label = String::new();
            }
        }
    }
    text
}

/// Wraps sentences. Each begins on a new line.
pub fn wrap_sentences(notes: &[String], style: Style) -> String {
    let mut text = String::new();
    for note in notes {
        let wrapped = wrap_text(&escape_invisible(note), style.width);
        if style.color {
            text.push_str(DIM);
        }
        text.push_str(&wrapped);
        if style.color {
            text.push_str(RESET);
        }
        text.push('\n');
    }
    text
}

/// Hides columns of the highest rank, last ones first, until the table fits or only rank 0 is left. Returns their names.
fn hide_columns_to_fit(table: &mut ReportTable, width: usize) -> Vec<String> {
    let mut dropped = Vec::new();
    while natural_width(table) > width {
        let Some((index, _)) = table
            .columns
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, column)| column.rank > 0)
            .max_by_key(|(index, column)| (column.rank, *index))
        else {
            break;
        };
        dropped.extend(table.drop_columns(&[index]));
    }
    dropped.reverse();
    dropped
}

/// Returns the width of the table without wrapped cells. Headers may have two lines.
fn natural_width(table: &ReportTable) -> usize {
    column_texts(table)
        .iter()
        .map(|column| column.compact_width() + 3)
        .sum::<usize>()
        + 1
}

fn column_texts(table: &ReportTable) -> Vec<ColumnText> {
    let of_column = |index: usize| ColumnText {
        header: escape_invisible(&table.columns[index].full_label()),
        cells: table
            .rows
            .iter()
            .map(|row| escape_invisible(&row[index].single_line()))
            .collect(),
        is_number: table.columns[index].is_number,
    };
    (0..table.columns.len()).map(of_column).collect()
}

/// Thin lines, and no lines between rows.
const BOX_STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('┌', '─', '┬', '┐'))
    .header_lines(ContentLineStyle::new('│', '│', '│'))
    .header_separator(LineStyle::new('├', '─', '┼', '┤'))
    .content_lines(ContentLineStyle::new('│', '│', '│'))
    .bottom_border(LineStyle::new('└', '─', '┴', '┘'));

/// Draws the columns side by side, or returns `None` if words would have to be broken for that.
fn draw_lines(table: &ReportTable, width: usize) -> Option<Vec<String>> {
    if table.columns.is_empty() && table.rows.is_empty() {
        return Some(Vec::new());
    }
    let columns = column_texts(table);
    let available = width.max(20).saturating_sub(3 * columns.len() + 1);
    let widths = match fit_columns(&columns, available) {
        Some(widths) => widths,
        None if columns.len() > 2 => return None,
        // A label with its value is such a line already.
        None => vec![(available / columns.len().max(1)).max(1); columns.len()],
    };
    let wrapped = |text: &str, width: usize| Cell::new(wrap_cell(text, width).join("\n"));
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(BOX_STYLE);
    drawn.set_content_arrangement(ContentArrangement::Disabled);
    if columns.iter().any(|column| !column.header.is_empty()) {
        drawn.set_header(
            columns
                .iter()
                .zip(&widths)
                .map(|(column, width)| wrapped(&column.header, *width))
                .collect::<Vec<_>>(),
        );
    }
    for row in 0..table.rows.len() {
        drawn.add_row(
            columns
                .iter()
                .zip(&widths)
                .map(|(column, width)| wrapped(&column.cells[row], *width))
                .collect::<Vec<_>>(),
        );
    }
    for (column, drawn) in table.columns.iter().zip(drawn.column_iter_mut()) {
        drawn.set_cell_alignment(match column.align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    Some(drawn.lines().collect())
}

fn wrap_text(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.width() + 1 + word.width() > width.max(20) {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
