//! Columns that a map reads, and columns that a source turned out to have.

use std::collections::BTreeSet;

use crate::document::{nearest_hint, quote_text};
use crate::domain::Problem;

use super::cell::RowCell;

/// Maximum number of column names remembered for messages. A hostile file could have a new name in every row.
const MAX_KNOWN: usize = 200;

/// The columns of one source. A column is named as in a CSV header, or by a dot path into nested objects.
pub(super) struct SourceColumns {
    wanted: Vec<String>,
    /// For each wanted column, whether any row had it.
    seen: Vec<bool>,
    known: BTreeSet<String>,
    tree: ColumnTree,
    /// Every column of the header is wanted.
    takes_all: bool,
    /// Names that the header has more than once, if every column is wanted.
    doubled: Vec<String>,
}

/// Tree of object keys that lead to the wanted columns.
#[derive(Default)]
pub(super) struct ColumnTree {
    keys: Vec<(String, Self)>,
    slot: Option<usize>,
}

impl ColumnTree {
    /// Returns the branch of a single value, which goes to the first cell.
    pub const fn leaf() -> Self {
        Self {
            keys: Vec::new(),
            slot: Some(0),
        }
    }

    fn child(&mut self, key: &str) -> &mut Self {
        let place = self
            .keys
            .iter()
            .position(|(name, _)| name == key)
            .unwrap_or_else(|| {
                self.keys.push((key.to_owned(), Self::default()));
                self.keys.len() - 1
            });
        &mut self.keys[place].1
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        self.keys
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, branch)| branch)
    }

    pub fn slot(&self) -> Option<usize> {
        self.slot
    }
}

impl SourceColumns {
    pub fn new(wanted: Vec<String>) -> Self {
        let mut tree = ColumnTree::default();
        for (slot, name) in wanted.iter().enumerate() {
            // Also find a key that itself contains dots.
            tree.child(name).slot = Some(slot);
            let mut branch = &mut tree;
            for key in name.split('.') {
                branch = branch.child(key);
            }
            branch.slot = Some(slot);
        }
        Self {
            seen: vec![false; wanted.len()],
            wanted,
            known: BTreeSet::new(),
            tree,
            takes_all: false,
            doubled: Vec::new(),
        }
    }

    /// Takes all columns of a source that has no map yet: every column of the header, or for JSON the element itself.
    pub fn for_all_columns() -> Self {
        Self {
            takes_all: true,
            ..Self::new(Vec::new())
        }
    }

    /// Returns the names that the header has more than once, if every column is wanted.
    pub fn duplicate_names(&self) -> &[String] {
        &self.doubled
    }

    pub fn takes_all(&self) -> bool {
        self.takes_all
    }

    /// Returns the columns in their order.
    pub fn names(&self) -> &[String] {
        &self.wanted
    }

    pub fn tree(&self) -> &ColumnTree {
        &self.tree
    }

    /// Returns one empty cell for each wanted column.
    pub fn empty_cells(&self) -> Vec<RowCell> {
        vec![RowCell::default(); self.wanted.len()]
    }

    pub fn name(&self, slot: usize) -> &str {
        &self.wanted[slot]
    }

    pub fn mark_seen(&mut self, slot: usize) {
        self.seen[slot] = true;
    }

    pub fn add_known(&mut self, name: &str) {
        if self.known.len() < MAX_KNOWN && !self.known.contains(name) {
            self.known.insert(name.to_owned());
        }
    }

    /// Returns for each wanted column its place in the header. An ambiguous header is an error.
    pub fn locate_in_header(&mut self, header: &[String]) -> Result<Vec<Option<usize>>, String> {
        for name in header {
            self.add_known(name);
        }
        if self.takes_all {
            // Skip a name that occurs twice: a map cannot say which column it means.
            let is_single =
                |name: &&String| header.iter().filter(|other| other == name).count() == 1;
            let (single, several): (Vec<&String>, Vec<&String>) =
                header.iter().partition(is_single);
            let doubled: BTreeSet<String> = several
                .into_iter()
                .filter(|name| !name.is_empty())
                .cloned()
                .collect();
            let doubled = doubled.into_iter().collect();
            *self = Self {
                takes_all: true,
                doubled,
                ..Self::new(single.into_iter().cloned().collect())
            };
        }
        let mut places = Vec::with_capacity(self.wanted.len());
        for (slot, wanted) in self.wanted.iter().enumerate() {
            let mut found = header
                .iter()
                .enumerate()
                .filter(|(_, name)| *name == wanted)
                .map(|(place, _)| place);
            let place = found.next();
            if found.next().is_some() {
                return Err(format!("the header has two columns {}", quote_text(wanted)));
            }
            self.seen[slot] |= place.is_some();
            places.push(place);
        }
        Ok(places)
    }

    /// Returns the wanted columns that no row had.
    pub fn missing_columns(&self) -> impl Iterator<Item = &str> {
        self.wanted
            .iter()
            .zip(&self.seen)
            .filter(|(_, seen)| !**seen)
            .map(|(name, _)| name.as_str())
    }

    /// Returns the columns that rows had but the map does not read.
    pub fn unread_columns(&self) -> Vec<String> {
        self.known
            .iter()
            .filter(|name| self.tree.get(name).is_none())
            .cloned()
            .collect()
    }

    /// Returns the hint "did you mean `…`?" for a column that was not found.
    pub fn spelling_hint(&self, name: &str) -> Option<String> {
        nearest_hint(name, self.known.iter().map(String::as_str))
    }

    /// Returns one problem that names all essential columns that no row had.
    pub fn essential_columns_problem(
        &self,
        is_essential: impl Fn(&str) -> bool,
        file: &str,
    ) -> Option<Problem> {
        let missing: Vec<&str> = self
            .missing_columns()
            .filter(|name| is_essential(name))
            .collect();
        let first = missing.first()?;
        let names: Vec<String> = missing.iter().map(|name| quote_text(name)).collect();
        let message = format!(
            "no row has the column{} {}",
            if names.len() == 1 { "" } else { "s" },
            names.join(", ")
        );
        let known: Vec<String> = self
            .known
            .iter()
            .take(20)
            .map(|name| quote_text(name))
            .collect();
        let more = if self.known.len() > known.len() {
            ", …"
        } else {
            ""
        };
        let near = self
            .spelling_hint(first)
            .map(|near| format!("{near} "))
            .unwrap_or_default();
        let problem = Problem::in_file(file, message);
        Some(match known.as_slice() {
            [] => problem.with_hint(
                "no row has a column of its own: `list` in the map says where the rows are",
            ),
            _ => problem.with_hint(format!("{near}the columns are {}{more}", known.join(", "))),
        })
    }
}
