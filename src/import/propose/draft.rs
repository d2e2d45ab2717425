//! Writes a proposal as the text of a map.

use std::collections::BTreeMap;

use super::super::encoding::Encoding;
use super::super::layout::Layout;
use super::super::notation::Decimal;

/// A map being written: one line per key, in the order in which people read them.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub name: String,
    pub is_items: bool,
    pub layout: Layout,
    pub decimal: Option<Decimal>,
    pub missing: Vec<String>,
    pub fill: Vec<String>,
    pub skip: Option<(String, Vec<String>)>,
    pub wide: Option<WideDraft>,
    /// Column whose cells count attempts.
    pub tries: Option<String>,
    /// Key and value of each field of the run and of the item.
    pub run: Vec<(&'static str, String)>,
    pub item: Vec<(&'static str, String)>,
    pub scores: Vec<(String, String)>,
    pub stated: Vec<(String, String)>,
}

/// Columns that are turned into rows.
#[derive(Clone, Debug)]
pub(super) struct WideDraft {
    pub name: String,
    pub value: String,
    /// Columns that are turned into rows, named by their titles.
    pub columns: Vec<String>,
    /// New columns with their source columns, by name. Replaces `columns`.
    pub groups: Vec<(String, BTreeMap<String, String>)>,
}

/// Quotes a text so that YAML reads it as that text.
pub(super) fn quoted(text: &str) -> String {
    const WORDS: [&str; 10] = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan",
    ];
    let is_plain = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
        && !WORDS.contains(&text.to_lowercase().as_str());
    // JSON strings are valid YAML.
    if is_plain {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

pub(super) fn list(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let texts: Vec<String> = texts
        .into_iter()
        .map(|text| quoted(text.as_ref()))
        .collect();
    format!("[{}]", texts.join(", "))
}

pub(super) fn constant(text: &str) -> String {
    format!("{{constant: {}}}", quoted(text))
}

impl Draft {
    pub fn text(&self) -> String {
        let mut text = format!(
            "format: evalreport/map/1\nname: {}\nrows: {}\n",
            quoted(&self.name),
            if self.is_items { "item" } else { "run" }
        );
        let mut line = |key: &str, value: &str| text.push_str(&format!("{key}: {value}\n"));
        let Layout {
            list: path,
            delimiter,
            header,
            sheet,
            encoding,
        } = &self.layout;
        if let Some(path) = path {
            line("list", &quoted(path));
        }
        if let Some(delimiter) = delimiter {
            line(
                "delimiter",
                &if *delimiter == b'\t' {
                    "tab".to_owned()
                } else {
                    quoted(&char::from(*delimiter).to_string())
                },
            );
        }
        if header.line > 1 {
            line("header", &header.line.to_string());
        }
        if header.lines > 1 {
            line("header_lines", &header.lines.to_string());
        }
        if let Some(sheet) = sheet {
            line("sheet", &quoted(sheet));
        }
        if *encoding == Encoding::Windows1252 {
            line("encoding", "windows-1252");
        }
        match self.decimal {
            Some(Decimal::Comma) => line("decimal", "comma"),
            Some(Decimal::Point) => line("decimal", "point"),
            None => {}
        }
        if !self.missing.is_empty() {
            line("missing", &list(&self.missing));
        }
        if !self.fill.is_empty() {
            line("fill", &list(&self.fill));
        }
        if let Some((column, values)) = &self.skip {
            line(
                "skip",
                &format!("{{column: {}, values: {}}}", quoted(column), list(values)),
            );
        }
        if let Some(wide) = &self.wide {
            text.push_str(&format!("wide:\n  name: {}\n", quoted(&wide.name)));
            if wide.groups.is_empty() {
                text.push_str(&format!(
                    "  value: {}\n  columns: {}\n",
                    quoted(&wide.value),
                    list(&wide.columns)
                ));
            } else {
                text.push_str("  columns:\n");
                for (name, cells) in &wide.groups {
                    let cells: Vec<String> = cells
                        .iter()
                        .map(|(to, from)| format!("{}: {}", quoted(to), quoted(from)))
                        .collect();
                    text.push_str(&format!("    {}: {{{}}}\n", quoted(name), cells.join(", ")));
                }
            }
        }
        if let Some(tries) = &self.tries {
            text.push_str(&format!("tries: {}\n", quoted(tries)));
        }
        for (section, fields) in [("run", &self.run), ("item", &self.item)] {
            if !fields.is_empty() {
                text.push_str(&format!("{section}:\n"));
                for (key, value) in fields {
                    text.push_str(&format!("  {key}: {value}\n"));
                }
            }
        }
        for (section, figures) in [("scores", &self.scores), ("stated", &self.stated)] {
            if !figures.is_empty() {
                text.push_str(&format!("{section}:\n"));
                for (name, value) in figures {
                    text.push_str(&format!("  {}: {value}\n", quoted(name)));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_yaml_would_read_something_else() {
        for (text, expected) in [
            ("model", "model"),
            ("no", "\"no\""),
            ("1", "\"1\""),
            ("Kosten (EUR)", "\"Kosten (EUR)\""),
            ("$.model", "\"$.model\""),
            ("é", "\"é\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
