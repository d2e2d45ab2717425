//! The layer table, read from the documentation of `src/lib.rs`.

use std::collections::{BTreeMap, BTreeSet};

/// What one module may use of its own crate.
pub enum Allowed {
    Everything,
    Only(BTreeSet<String>),
}

/// Module name → what its row allows.
pub struct LayerTable {
    pub rows: BTreeMap<String, Allowed>,
}

impl LayerTable {
    /// Reads the table: rows of four cells in the module documentation whose second cell is a module link.
    pub fn parse(lib_text: &str) -> Result<Self, String> {
        let mut rows = BTreeMap::new();
        let mut layers = BTreeMap::new();
        for line in lib_text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("//!"))
        {
            let Some(inner) = line
                .trim()
                .strip_prefix('|')
                .and_then(|line| line.strip_suffix('|'))
            else {
                continue;
            };
            let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
            let [layer, module, _, may_use] = cells[..] else {
                continue;
            };
            if module == "module" || layer.starts_with('-') {
                continue;
            }
            let name = module
                .strip_prefix("[`")
                .and_then(|name| name.strip_suffix("`]"))
                .ok_or(format!(
                    "row `{module}` does not link its module as [`name`]"
                ))?;
            let allowed = match may_use {
                "everything" => Allowed::Everything,
                "nothing of ours" => Allowed::Only(BTreeSet::new()),
                names => Allowed::Only(
                    names
                        .split(',')
                        .map(|name| name.trim().to_owned())
                        .collect(),
                ),
            };
            if rows.insert(name.to_owned(), allowed).is_some() {
                return Err(format!("module `{name}` has two rows"));
            }
            layers.insert(name.to_owned(), layer.to_owned());
        }
        if rows.is_empty() {
            return Err("the module documentation holds no layer table".to_owned());
        }
        for (name, allowed) in &rows {
            let Allowed::Only(names) = allowed else {
                continue;
            };
            for used in names {
                let Some(lower) = layers.get(used) else {
                    return Err(format!("row `{name}` may use `{used}`, which has no row"));
                };
                if *lower >= layers[name] {
                    return Err(format!(
                        "row `{name}` (layer {}) may use `{used}` (layer {lower}), which is not lower",
                        layers[name]
                    ));
                }
            }
        }
        Ok(Self { rows })
    }

    /// Says whether `module` may name `target`. A module may always name itself; the binary is glue over the whole library.
    pub fn allows(&self, module: &str, target: &str) -> bool {
        module == target
            || module == "main"
            || self.rows.get(module).is_some_and(|allowed| match allowed {
                Allowed::Everything => true,
                Allowed::Only(names) => names.contains(target),
            })
    }
}
