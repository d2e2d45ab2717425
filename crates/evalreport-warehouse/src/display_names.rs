//! The names under which a warehouse shows items, evaluators and clusters: those of the configuration, then those that hide a secret.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::{Aliases, ItemKey, ItemOutcome, Untrusted};

use super::facts::ItemFacts;

/// Shown names by stored name, for the names that differ. Two names of one kind are shown under two names, unless the configuration gives
/// them one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DisplayNames {
    pub items: BTreeMap<String, String>,
    /// Names of evaluators; criteria have the name of their metric.
    pub evaluators: BTreeMap<String, String>,
    pub clusters: BTreeMap<String, String>,
}

/// The kind of a name that outcomes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    Item,
    Evaluator,
    Cluster,
}

impl DisplayNames {
    /// Returns the names of a configuration.
    pub fn from_aliases(aliases: &Aliases) -> Self {
        Self {
            items: aliases.item.clone(),
            ..Self::default()
        }
    }

    pub fn item_name<'n>(&'n self, stored: &'n str) -> &'n str {
        display_name(&self.items, stored)
    }

    pub fn evaluator_name<'n>(&'n self, stored: &'n str) -> &'n str {
        display_name(&self.evaluators, stored)
    }

    /// Renames an outcome. Its category is no name: categories may become alike.
    pub fn rename_outcome(&self, outcome: &mut ItemOutcome) {
        let ItemOutcome {
            item,
            evaluator,
            cluster,
            run: _,
            kind: _,
            category: _,
            attempt: _,
            status: _,
            score: _,
            revision: _,
            duration_seconds: _,
            cost_usd: _,
            input_tokens: _,
            output_tokens: _,
        } = outcome;
        for (names, name) in [
            (&self.items, Some(item)),
            (&self.evaluators, Some(evaluator)),
            (&self.clusters, cluster.as_mut()),
        ] {
            if let Some(name) = name
                && let Some(shown) = names.get(name.as_str())
            {
                name.clone_from(shown);
            }
        }
    }

    /// Returns the key under which an item is shown.
    pub fn display_key(&self, stored: &ItemKey) -> ItemKey {
        let ItemKey {
            kind,
            evaluator,
            item,
        } = stored;
        ItemKey {
            kind: *kind,
            evaluator: self.evaluator_name(evaluator).to_owned(),
            item: self.item_name(item).to_owned(),
        }
    }

    pub(super) fn display_facts(&self, stored: ItemFacts<String>) -> ItemFacts<String> {
        let ItemFacts { cluster } = stored;
        ItemFacts {
            cluster: cluster.map(|cluster| display_name(&self.clusters, &cluster).to_owned()),
        }
    }

    /// Shows these names under further names.
    pub(super) fn then_rename(&mut self, further: Self) {
        let Self {
            items,
            evaluators,
            clusters,
        } = further;
        for (own, further) in [
            (&mut self.items, items),
            (&mut self.evaluators, evaluators),
            (&mut self.clusters, clusters),
        ] {
            for name in own.values_mut() {
                if let Some(shown) = further.get(name) {
                    name.clone_from(shown);
                }
            }
            for (name, shown) in further {
                own.entry(name).or_insert(shown);
            }
        }
    }
}

impl Untrusted for DisplayNames {
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            items,
            evaluators,
            clusters,
        } = self;
        for (kind, names) in [
            ("item", items),
            ("evaluator", evaluators),
            ("cluster", clusters),
        ] {
            for name in names.values_mut() {
                visit(kind, name);
            }
        }
    }
}

fn display_name<'n>(names: &'n BTreeMap<String, String>, stored: &'n str) -> &'n str {
    names.get(stored).map_or(stored, String::as_str)
}
