//! Tables for pull requests and documents.

use crate::domain::escape_invisible;

use super::table::{Align, ColumnVisibility, ReportTable};

/// Writes tables one below the other.
pub fn write_tables(tables: &[ReportTable]) -> String {
    tables
        .iter()
        .map(write_table)
        .collect::<Vec<String>>()
        .join("\n")
}

/// Writes the table as GitHub-flavoured Markdown. Foreign text adds no markup.
pub fn write_table(table: &ReportTable) -> String {
    let table = &table.seen_as(ColumnVisibility::Lines);
    let mut text = String::new();
    if let Some(title) = &table.title {
        text.push_str(&format!("### {}\n\n", escape_text(title)));
    }
    for sentence in &table.lead {
        text.push_str(&format!("{}\n\n", escape_text(sentence)));
    }
    if table.columns.is_empty() && table.rows.is_empty() {
        return with_notes(text, table);
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&row(table
        .columns
        .iter()
        .map(|column| escape_text(&column.full_label()))
        .collect()));
    let rule = |align: Align| match align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    };
    text.push_str(&row(table
        .columns
        .iter()
        .map(|column| rule(column.align))
        .collect()));
    for cells in &table.rows {
        text.push_str(&row(cells
            .iter()
            .map(|cell| escape_text(&cell.single_line()))
            .collect()));
    }
    if !table.notes.is_empty() {
        text.push('\n');
    }
    with_notes(text, table)
}

fn with_notes(mut text: String, table: &ReportTable) -> String {
    for note in &table.notes {
        text.push_str(&escape_text(note));
        text.push_str("  \n");
    }
    text
}

/// Escapes every special character, so that data cannot create links, images, mentions, tags or cell borders.
pub fn escape_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in escape_invisible(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // Services look for mentions in the text that remains when all escapes are undone.
            '@' => escaped.push_str("@\u{200b}"),
            '#' => escaped.push_str("\\#\u{200b}"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '!' | '~' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    // A bare address or a number after `GH-` would become a link.
    [
        ("://", ":\u{200b}//"),
        ("www.", "www\u{200b}."),
        ("GH-", "GH\u{200b}-"),
        ("gh-", "gh\u{200b}-"),
    ]
    .iter()
    .fold(escaped, |text, (link, broken)| text.replace(link, broken))
}

/// Writes a text as code, in which Markdown makes no links and mentions nobody.
pub(super) fn code_span(text: &str) -> String {
    let text = escape_invisible(text);
    let fence = "`".repeat(
        text.split(|character| character != '`')
            .map(str::len)
            .max()
            .unwrap_or(0)
            + 1,
    );
    // A space keeps backticks of the text apart from the fence, and is not shown.
    let space = if fence.len() > 1 || text.trim().is_empty() {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_makes_no_markup() {
        assert_eq!(
            escape_text("![x](http://e/?a|b) <img> @me `c`"),
            "\\!\\[x\\](http:\u{200b}//e/?a\\|b) &lt;img&gt; @\u{200b}me \\`c\\`"
        );
        assert_eq!(escape_text("a\nb"), "a␊b");
        assert_eq!(escape_text("o/r#1 GH-2"), "o/r\\#\u{200b}1 GH\u{200b}-2");
    }

    #[test]
    fn code_ends_where_its_text_ends() {
        let cases = [
            ("a", "`a`"),
            ("a`b", "`` a`b ``"),
            ("``", "``` `` ```"),
            ("", "`  `"),
            ("a\nb\u{202e}", "`a␊b\\u{202e}`"),
        ];
        for (text, shown) in cases {
            assert_eq!(code_span(text), shown);
        }
    }
}
