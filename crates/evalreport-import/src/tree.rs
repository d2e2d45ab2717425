//! A small document as a tree, from JSON or YAML. Numbers are kept as text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::document::{Node, ScalarKind, Value};

use super::cell::{CellKind, RowCell};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum DocumentTree {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Self>),
    /// In the order of the file.
    Map(Vec<(String, Self)>),
}

impl DocumentTree {
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries
                .iter()
                .find(|(found, _)| found == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the value at a path of keys. A key that itself contains dots is found too.
    pub fn get_path(&self, path: &str) -> Option<&Self> {
        self.get(path)
            .or_else(|| path.split('.').try_fold(self, |value, key| value.get(key)))
    }

    /// Returns the rows of a table that is written without a name at each value: as an object whose values are lists, or objects with the
    /// same keys, of single values; as a list of lists below the list of the names; or with `columns` and `data`, as pandas splits it.
    pub fn to_rows(&self) -> Option<Self> {
        let columns = match self {
            Self::Map(columns) => match (self.get("columns"), self.get("data")) {
                (Some(Self::List(names)), Some(Self::List(rows)))
                    if rows.iter().all(|row| matches!(row, Self::List(_))) =>
                {
                    return name_cells(names, rows);
                }
                _ => columns,
            },
            Self::List(rows) => {
                let (Self::List(names), rows) = rows.split_first()? else {
                    return None;
                };
                return name_cells(names, rows);
            }
            _ => return None,
        };
        let cells = |column: &Self| -> Option<Vec<(String, Self)>> {
            let cells: Vec<(String, Self)> = match column {
                Self::List(items) => items
                    .iter()
                    .enumerate()
                    .map(|(place, item)| (place.to_string(), item.clone()))
                    .collect(),
                Self::Map(entries) => entries.clone(),
                _ => return None,
            };
            cells
                .iter()
                .all(|(_, cell)| !cell.is_compound())
                .then_some(cells)
        };
        let columns: Vec<(&String, Vec<(String, Self)>)> = columns
            .iter()
            .map(|(name, column)| Some((name, cells(column)?)))
            .collect::<Option<_>>()?;
        let (_, first) = columns.first().filter(|_| columns.len() > 1)?;
        let is_same = |cells: &[(String, Self)]| {
            cells.len() == first.len()
                && cells
                    .iter()
                    .zip(first)
                    .all(|((key, _), (other, _))| key == other)
        };
        if !columns.iter().all(|(_, cells)| is_same(cells)) {
            return None;
        }
        let row = |place: usize| {
            Self::Map(
                columns
                    .iter()
                    .map(|(name, cells)| ((*name).clone(), cells[place].1.clone()))
                    .collect(),
            )
        };
        Some(Self::List((0..first.len()).map(row).collect()))
    }

    pub fn is_compound(&self) -> bool {
        matches!(self, Self::List(_) | Self::Map(_))
    }

    /// Returns a key that an object below has twice, with different values.
    pub fn duplicate_key(&self) -> Option<&str> {
        match self {
            Self::List(items) => items.iter().find_map(Self::duplicate_key),
            Self::Map(entries) => {
                let mut known = std::collections::HashMap::new();
                for (key, value) in entries {
                    if known
                        .insert(key, value)
                        .is_some_and(|before| before != value)
                    {
                        return Some(key);
                    }
                }
                entries.iter().find_map(|(_, value)| value.duplicate_key())
            }
            _ => None,
        }
    }

    /// Returns the text of a single value.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Bool(value) => Some(if *value { "true" } else { "false" }),
            Self::Number(text) | Self::Text(text) => Some(text),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    pub fn noun(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }

    pub fn write_to_cell(&self, cell: &mut RowCell) {
        if let Self::List(items) = self {
            return cell.set_list(items.iter().map(|item| {
                if let Self::Bool(flag) = item {
                    Some(*flag)
                } else {
                    None
                }
            }));
        }
        let kind = match self {
            Self::Null => CellKind::Null,
            Self::Bool(_) => CellKind::Boolean,
            Self::Number(_) => CellKind::Number,
            Self::Text(_) => CellKind::Text,
            Self::List(_) | Self::Map(_) => CellKind::Compound,
        };
        cell.set(kind, self.as_text().unwrap_or_default());
    }

    /// Calls `on_leaf` with every value below that is not an object, and its path of keys. Lists are not entered.
    pub fn for_each_leaf<'t>(&'t self, path: &str, on_leaf: &mut dyn FnMut(&str, &'t Self)) {
        match self {
            Self::Map(entries) => {
                for (key, value) in entries {
                    let path = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path}.{key}")
                    };
                    value.for_each_leaf(&path, on_leaf);
                }
            }
            _ => on_leaf(path, self),
        }
    }
}

/// Returns rows of single values as objects with the names.
fn name_cells(names: &[DocumentTree], rows: &[DocumentTree]) -> Option<DocumentTree> {
    let texts: Vec<&String> = names
        .iter()
        .map(|name| {
            if let DocumentTree::Text(text) = name {
                Some(text)
            } else {
                None
            }
        })
        .collect::<Option<_>>()?;
    let are_distinct = texts
        .iter()
        .collect::<std::collections::BTreeSet<_>>()
        .len()
        == texts.len();
    let row = |row: &DocumentTree| match row {
        DocumentTree::List(cells) if cells.len() <= texts.len() => Some(DocumentTree::Map(
            texts
                .iter()
                .zip(cells)
                .map(|(name, cell)| ((*name).clone(), cell.clone()))
                .collect(),
        )),
        _ => None,
    };
    if texts.len() < 2 || rows.is_empty() || !are_distinct {
        return None;
    }
    rows.iter()
        .map(row)
        .collect::<Option<_>>()
        .map(DocumentTree::List)
}

impl From<&Node> for DocumentTree {
    fn from(node: &Node) -> Self {
        match &node.value {
            Value::List(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Map(entries) => Self::Map(
                entries
                    .iter()
                    .map(|(key, value)| (key.text.clone(), Self::from(value)))
                    .collect(),
            ),
            Value::Scalar(scalar) => match scalar.kind {
                ScalarKind::Text => Self::Text(scalar.text.clone()),
                ScalarKind::Null => Self::Null,
                ScalarKind::Bool(value) => Self::Bool(value),
                ScalarKind::Integer(_) | ScalarKind::Float(_) => Self::Number(scalar.text.clone()),
            },
        }
    }
}

impl<'de> Deserialize<'de> for DocumentTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = DocumentTree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<DocumentTree, E> {
        Ok(DocumentTree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<DocumentTree, E> {
        Ok(DocumentTree::Number(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<DocumentTree, E> {
        Ok(DocumentTree::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<DocumentTree, E> {
        Ok(DocumentTree::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<DocumentTree, E> {
        Ok(DocumentTree::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<DocumentTree, E> {
        Ok(DocumentTree::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<DocumentTree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(DocumentTree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DocumentTree, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(DocumentTree::Map(entries))
    }
}
