//! Writes a proposal as the text of a map.

use std::collections::BTreeMap;

use super::super::encoding::TextEncoding;
use super::super::layout::RowLayout;
use super::super::notation::DecimalMark;

/// A map being written: one line per key, in the order in which people read them.
#[derive(Clone, Debug, Default)]
pub(super) struct MapDraft {
    pub name: String,
    pub is_items: bool,
    pub layout: RowLayout,
    pub decimal: Option<DecimalMark>,
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
pub(super) fn quote_yaml(text: &str) -> String {
    const YAML_WORDS: [&str; 10] = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan",
    ];
    let is_plain = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
        && !YAML_WORDS.contains(&text.to_lowercase().as_str());
    // JSON strings are valid YAML.
    if is_plain {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

pub(super) fn yaml_list(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let texts: Vec<String> = texts
        .into_iter()
        .map(|text| quote_yaml(text.as_ref()))
        .collect();
    format!("[{}]", texts.join(", "))
}

pub(super) fn yaml_constant(text: &str) -> String {
    format!("{{constant: {}}}", quote_yaml(text))
}

impl MapDraft {
    pub fn to_yaml(&self) -> String {
        let mut text = format!(
            "format: evalreport/map/1\nname: {}\nrows: {}\n",
            quote_yaml(&self.name),
            if self.is_items { "item" } else { "run" }
        );
        let mut line = |key: &str, value: &str| text.push_str(&format!("{key}: {value}\n"));
        let RowLayout {
            list: path,
            delimiter,
            header,
            sheet,
            encoding,
        } = &self.layout;
        if let Some(path) = path {
            line("list", &quote_yaml(path));
        }
        if let Some(delimiter) = delimiter {
            line(
                "delimiter",
                &if *delimiter == b'\t' {
                    "tab".to_owned()
                } else {
                    quote_yaml(&char::from(*delimiter).to_string())
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
            line("sheet", &quote_yaml(sheet));
        }
        if *encoding == TextEncoding::Windows1252 {
            line("encoding", "windows-1252");
        }
        match self.decimal {
            Some(DecimalMark::Comma) => line("decimal", "comma"),
            Some(DecimalMark::Point) => line("decimal", "point"),
            None => {}
        }
        if !self.missing.is_empty() {
            line("missing", &yaml_list(&self.missing));
        }
        if !self.fill.is_empty() {
            line("fill", &yaml_list(&self.fill));
        }
        if let Some((column, values)) = &self.skip {
            line(
                "skip",
                &format!(
                    "{{column: {}, values: {}}}",
                    quote_yaml(column),
                    yaml_list(values)
                ),
            );
        }
        if let Some(wide) = &self.wide {
            text.push_str(&format!("wide:\n  name: {}\n", quote_yaml(&wide.name)));
            if wide.groups.is_empty() {
                text.push_str(&format!(
                    "  value: {}\n  columns: {}\n",
                    quote_yaml(&wide.value),
                    yaml_list(&wide.columns)
                ));
            } else {
                text.push_str("  columns:\n");
                for (name, cells) in &wide.groups {
                    let cells: Vec<String> = cells
                        .iter()
                        .map(|(to, from)| format!("{}: {}", quote_yaml(to), quote_yaml(from)))
                        .collect();
                    text.push_str(&format!(
                        "    {}: {{{}}}\n",
                        quote_yaml(name),
                        cells.join(", ")
                    ));
                }
            }
        }
        if let Some(tries) = &self.tries {
            text.push_str(&format!("tries: {}\n", quote_yaml(tries)));
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
                    text.push_str(&format!("  {}: {value}\n", quote_yaml(name)));
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
            assert_eq!(quote_yaml(text), expected);
        }
    }
}
