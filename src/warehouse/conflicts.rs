//! Runs of one suite version that disagree about an item.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::{Problem, Run, visible};

use super::facts::{FIELDS, Facts, NOTHING};
use super::open::Warehouse;
use super::snapshot::{NOTHING_KNOWN, StoredRow};

/// Maximum number of runs that a line names. Further runs are counted.
const MAX_RUNS: usize = 3;

/// Runs with the same items and the same facts, by the numbers of their item set and fact column.
type Alike<'a> = BTreeMap<(u32, u32), Vec<Speaker<'a>>>;

/// A run, and the file of its outcomes.
type Speaker<'a> = (&'a Run, &'a str);

/// By item and by stated fact: the runs that state it.
type Sayings<'a> = BTreeMap<u32, BTreeMap<&'a str, Vec<Speaker<'a>>>>;

impl Warehouse {
    /// Returns contradictions between runs of one suite version about an item: one line for each suite version and fact, about the first
    /// such item, with the number of others. [`Warehouse::matrix`] decides which fact counts.
    pub fn conflicts(&self) -> Vec<Problem> {
        if self.snapshot.fact_columns.len() <= 2 {
            // No run states a fact, or all agree.
            return Vec::new();
        }
        let mut rows: HashMap<(u32, u32), Vec<&StoredRow>> = HashMap::new();
        for (unit, number) in self.snapshot.items.iter().zip(0..) {
            for row in unit.rows.iter().filter(|row| row.facts != NOTHING_KNOWN) {
                rows.entry((number, row.run)).or_default().push(row);
            }
        }
        let mut suites: BTreeMap<(&str, Option<&str>), Alike<'_>> = BTreeMap::new();
        for row in &self.runs {
            let run: &Run = &row.run;
            let Some((unit, number)) = self.place_of(&run.id) else {
                continue;
            };
            let alike = suites
                .entry((&run.suite, run.suite_version.as_deref()))
                .or_default();
            for row in rows.get(&(unit, number)).into_iter().flatten() {
                alike
                    .entry((row.items, row.facts))
                    .or_default()
                    .push((run, &self.snapshot.items[unit as usize].path));
            }
        }
        let mut seen = vec![NOTHING; self.snapshot.keys.len()];
        let of_suite = |((suite, version), alike): ((&str, Option<&str>), Alike<'_>)| {
            let place = match version {
                Some(version) => {
                    format!("suite `{}`, version `{}`", visible(suite), visible(version))
                }
                None => format!("suite `{}`", visible(suite)),
            };
            self.contradictions(&place, &alike, &mut seen)
        };
        suites.into_iter().flat_map(of_suite).collect()
    }

    fn contradictions(&self, suite: &str, alike: &Alike<'_>, seen: &mut [u32]) -> Vec<Problem> {
        if alike.len() < 2 {
            return Vec::new();
        }
        let said = |(set, column): (u32, u32)| {
            let keys = self.snapshot.item_sets[set as usize].iter().copied();
            keys.zip(self.snapshot.fact_columns[column as usize].iter().copied())
                .filter(|(_, facts)| *facts != NOTHING)
        };
        let mut contested = BTreeSet::new();
        for (key, facts) in alike.keys().copied().flat_map(said) {
            let first = &mut seen[key as usize];
            if *first == NOTHING {
                *first = facts;
            } else if *first != facts {
                contested.insert(key);
            }
        }
        for (key, _) in alike.keys().copied().flat_map(said) {
            seen[key as usize] = NOTHING;
        }
        if contested.is_empty() {
            return Vec::new();
        }
        // One map per fact.
        let mut told: Vec<Sayings<'_>> = vec![BTreeMap::new(); FIELDS.len()];
        for (pair, runs) in alike {
            for (key, facts) in said(*pair).filter(|(key, _)| contested.contains(key)) {
                let known: &Facts<String> = &self.snapshot.facts[facts as usize];
                for ((_, field), told) in FIELDS.iter().zip(&mut told) {
                    if let Some(text) = field(known) {
                        told.entry(key)
                            .or_default()
                            .entry(text)
                            .or_default()
                            .extend(runs);
                    }
                }
            }
        }
        let line = |((name, _), told): (&(&str, _), Sayings<'_>)| {
            let mut items: Vec<_> = told
                .into_iter()
                .filter(|(_, said)| said.len() > 1)
                .collect();
            items.sort_by_key(|(key, _)| &self.snapshot.keys[*key as usize]);
            let others = items.len().checked_sub(1)?;
            let (key, said) = items.swap_remove(0);
            let file = said
                .values()
                .flatten()
                .map(|(_, file)| *file)
                .min()
                .unwrap_or_default();
            let item = &self.snapshot.keys[key as usize].item;
            let item = self.names().item(item);
            let said: Vec<String> = said
                .into_iter()
                .map(|(text, runs)| format!("`{}` ({})", visible(text), runs_of(&runs)))
                .collect();
            let others = match others {
                0 => String::new(),
                1 => "; so is another item's".to_owned(),
                others => format!("; so are those of {others} more items"),
            };
            let message = format!(
                "{suite}: the {name} of `{}` is {} at once{others}",
                visible(item),
                said.join(" and ")
            );
            Some(
                Problem::in_file(visible(file), message)
                    .with_hint("what most runs say counts; store or import the runs again, alike"),
            )
        };
        FIELDS.iter().zip(told).filter_map(line).collect()
    }
}

/// Names a few runs and counts the others.
fn runs_of(runs: &[Speaker<'_>]) -> String {
    let ids: BTreeSet<&str> = runs.iter().map(|(run, _)| run.id.as_str()).collect();
    let mut names: Vec<String> = ids
        .iter()
        .take(MAX_RUNS)
        .map(|id| (*id).to_owned())
        .collect();
    if ids.len() > MAX_RUNS {
        names.push(format!("{} more", ids.len() - MAX_RUNS));
    }
    names.join(", ")
}
