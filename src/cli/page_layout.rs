//! A page of the documentation on a terminal: paragraphs wrapped to its width, tables drawn.

use unicode_width::UnicodeWidthStr;

use crate::render::table::ReportTable;
use crate::render::terminal::{Style, draw_table};

/// Lays out a page in Markdown. Code and headings stay as they are.
pub(super) fn lay_out_page(page: &str, style: Style) -> String {
    let mut laid_out = PageLayout {
        style,
        text: String::with_capacity(page.len()),
        paragraph: None,
        rows: Vec::new(),
    };
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            laid_out.add_line(line);
        } else if is_code || line.starts_with(['#', '\u{1b}', '>']) || line.starts_with("    ") {
            laid_out.add_line(line);
        } else if line.trim().is_empty() {
            laid_out.add_line("");
        } else if line.starts_with('|') {
            laid_out.add_row(line);
        } else {
            laid_out.add_words(line);
        }
    }
    laid_out.end_block();
    laid_out.text
}

struct PageLayout {
    style: Style,
    text: String,
    paragraph: Option<Paragraph>,
    /// Cells of the table that is being read.
    rows: Vec<Vec<String>>,
}

/// Words that are wrapped together.
struct Paragraph {
    /// What stands before the first line, such as `- `; the other lines have as much space.
    mark: String,
    words: Vec<String>,
}

impl PageLayout {
    fn add_line(&mut self, line: &str) {
        self.end_block();
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn add_row(&mut self, line: &str) {
        self.end_paragraph();
        self.rows.push(cells_of(line));
    }

    fn add_words(&mut self, line: &str) {
        self.end_table();
        let mark = list_mark(line);
        if let Some(mark) = mark {
            self.end_paragraph();
            self.paragraph = Some(Paragraph {
                mark: mark.to_owned(),
                words: words_of(&line[mark.len()..]),
            });
        } else {
            let paragraph = self.paragraph.get_or_insert_with(|| Paragraph {
                mark: line
                    .chars()
                    .take_while(|character| *character == ' ')
                    .collect(),
                words: Vec::new(),
            });
            paragraph.words.extend(words_of(line));
        }
    }

    fn end_block(&mut self) {
        self.end_paragraph();
        self.end_table();
    }

    fn end_paragraph(&mut self) {
        let Some(Paragraph { mark, words }) = self.paragraph.take() else {
            return;
        };
        let indent = " ".repeat(mark.width());
        let mut line = mark;
        let mut is_first = true;
        for word in words {
            if !is_first && line.width() + 1 + word.width() > self.style.width {
                self.text.push_str(&line);
                self.text.push('\n');
                line.clone_from(&indent);
                is_first = true;
            }
            if !is_first {
                line.push(' ');
            }
            line.push_str(&word);
            is_first = false;
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn end_table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let Some((header, rows)) = rows.split_first() else {
            return;
        };
        let mut table = ReportTable::default();
        for title in header {
            table.add_text_column(title, 0);
        }
        let is_rule = |row: &[String]| {
            row.iter()
                .all(|cell| cell.chars().all(|character| matches!(character, '-' | ':')))
        };
        for row in rows.iter().filter(|row| !is_rule(row)) {
            let cells = (0..header.len()).map(|at| row.get(at).cloned().unwrap_or_default());
            table.add_row(cells);
        }
        self.text.push_str(&draw_table(&table, self.style));
    }
}

/// Returns the beginning of a list's item: `- `, `1. `, with the spaces before it.
fn list_mark(line: &str) -> Option<&str> {
    let start = line.len() - line.trim_start().len();
    let rest = &line[start..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length = match rest.get(digits..) {
        Some(after) if digits > 0 && after.starts_with(". ") => digits + 2,
        _ if rest.starts_with("- ") || rest.starts_with("* ") => 2,
        _ => return None,
    };
    Some(&line[..start + length])
}

fn words_of(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Returns the cells of a row. A bar after a backslash is text.
fn cells_of(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|');
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for character in inner.chars() {
        match (character, is_escaped) {
            ('\\', false) => is_escaped = true,
            ('|', false) => cells.push(String::new()),
            (character, _) => {
                if is_escaped && character != '|' {
                    cells.last_mut().expect("never empty").push('\\');
                }
                cells.last_mut().expect("never empty").push(character);
                is_escaped = false;
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_tables_are_drawn() {
        let page = "# Title\n\nOne long\nparagraph of words.\n\n- an item that is long\n  and goes on\n\n| a | b |\n| --- | --- |\n| 1 | x \\| y |\n\n```sh\nnot   wrapped at all, whatever its length\n```\n";
        let style = Style {
            width: 20,
            color: false,
        };
        assert_eq!(
            lay_out_page(page, style),
            "# Title\n\nOne long paragraph\nof words.\n\n- an item that is\n  long and goes on\n\n┌───┬───────┐\n│ a │ b     │\n├───┼───────┤\n│ 1 │ x | y │\n└───┴───────┘\n\n```sh\nnot   wrapped at all, whatever its length\n```\n"
        );
    }
}
