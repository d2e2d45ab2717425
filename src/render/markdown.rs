//! Tables for pull requests and documents.

use crate::domain::visible;

use super::table::{Align, Seen, Table};

/// Writes tables one below the other.
pub fn tables(tables: &[Table]) -> String {
    tables.iter().map(table).collect::<Vec<String>>().join("\n")
}

/// Writes the table as GitHub-flavoured Markdown. Foreign text adds no markup.
pub fn table(table: &Table) -> String {
    let table = &table.seen_as(Seen::Lines);
    let mut text = String::new();
    if let Some(title) = &table.title {
        text.push_str(&format!("### {}\n\n", escape(title)));
    }
    for sentence in &table.lead {
        text.push_str(&format!("{}\n\n", escape(sentence)));
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&row(table.columns.iter().map(|column| escape(&column.title())).collect()));
    let rule = |align: Align| match align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    };
    text.push_str(&row(table.columns.iter().map(|column| rule(column.align)).collect()));
    for cells in &table.rows {
        text.push_str(&row(cells.iter().map(|cell| escape(&cell.line())).collect()));
    }
    if !table.notes.is_empty() {
        text.push('\n');
    }
    for note in &table.notes {
        text.push_str(&escape(note));
        text.push_str("  \n");
    }
    text
}

/// Escapes every special character, so that data cannot create links, images, mentions, tags or cell borders.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '@' => escaped.push_str("&#64;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '!' | '#' | '~' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    // A bare address would become a link.
    escaped.replace("://", ":\u{200b}//").replace("www.", "www\u{200b}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_makes_no_markup() {
        assert_eq!(escape("![x](http://e/?a|b) <img> @me `c`"), "\\!\\[x\\](http:\u{200b}//e/?a\\|b) &lt;img&gt; &#64;me \\`c\\`");
        assert_eq!(escape("a\nb"), "a␊b");
    }
}
