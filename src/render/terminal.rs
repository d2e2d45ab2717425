//! Tables on a terminal or in a pipe.

use comfy_table::{
    Cell, CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, TableStyle,
};
use unicode_width::UnicodeWidthStr;

use crate::domain::escape_invisible;

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
/// If it is too wide, columns of higher rank are hidden and named. If it is still too wide, its text is wrapped.
pub fn draw_table(table: &ReportTable, style: Style) -> String {
    let mut table = table.seen_as(ColumnVisibility::Lines);
    let dropped = hide_columns_to_fit(&mut table, style.width);
    let lines = draw_lines(&table, style.width);
    let mut text = wrap_sentences(
        &table.lead,
        Style {
            color: false,
            ..style
        },
    );
    let inner = lines
        .first()
        .map_or(0, |line| line.width().saturating_sub(2));
    if let Some(title) = &table.title {
        let title = escape_invisible(title);
        let title = clip_text(&title, inner.saturating_sub(2));
        let padding = inner.saturating_sub(title.width() + 2);
        text.push_str(&format!("┌{}┐\n", "─".repeat(inner)));
        let shown = if style.color {
            format!("{BOLD}{title}{RESET}")
        } else {
            title
        };
        text.push_str(&format!("│ {shown}{} │\n", " ".repeat(padding)));
    }
    for (index, line) in lines.iter().enumerate() {
        if index == 0 && table.title.is_some() {
            text.push_str(&line.replacen('┌', "├", 1).replacen('┐', "┤", 1));
        } else {
            text.push_str(line);
        }
        text.push('\n');
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

fn natural_width(table: &ReportTable) -> usize {
    let columns = table.columns.iter().enumerate().map(|(index, column)| {
        let cells = table
            .rows
            .iter()
            .map(|row| escape_invisible(&row[index].single_line()).width());
        cells
            .chain([escape_invisible(&column.full_label()).width()])
            .max()
            .unwrap_or(0)
            + 3
    });
    columns.sum::<usize>() + 1
}

/// Thin lines, and no lines between rows.
const BOX_STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('┌', '─', '┬', '┐'))
    .header_lines(ContentLineStyle::new('│', '│', '│'))
    .header_separator(LineStyle::new('├', '─', '┼', '┤'))
    .content_lines(ContentLineStyle::new('│', '│', '│'))
    .bottom_border(LineStyle::new('└', '─', '┴', '┘'));

fn draw_lines(table: &ReportTable, width: usize) -> Vec<String> {
    if table.columns.is_empty() && table.rows.is_empty() {
        return Vec::new();
    }
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(BOX_STYLE);
    drawn.set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(u16::try_from(width.max(20)).unwrap_or(u16::MAX));
    if table
        .columns
        .iter()
        .any(|column| !column.full_label().is_empty())
    {
        drawn.set_header(
            table
                .columns
                .iter()
                .map(|column| Cell::new(escape_invisible(&column.full_label())))
                .collect::<Vec<_>>(),
        );
    }
    for row in &table.rows {
        drawn.add_row(
            row.iter()
                .map(|cell| Cell::new(escape_invisible(&cell.single_line())))
                .collect::<Vec<_>>(),
        );
    }
    for (column, drawn) in table.columns.iter().zip(drawn.column_iter_mut()) {
        drawn.set_cell_alignment(match column.align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    drawn.lines().collect()
}

fn clip_text(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut clipped = String::new();
    for character in text.chars() {
        if clipped.width() + 2 > width {
            break;
        }
        clipped.push(character);
    }
    clipped.push('…');
    clipped
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
