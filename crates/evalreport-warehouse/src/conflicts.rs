//! Runs of one suite version that disagree about an item.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::{Problem, Run, escape_invisible};

use super::facts::{FACT_FIELDS, ItemFacts, NO_FACTS};
use super::open::Warehouse;
use super::snapshot::{NO_FACT_COLUMN, StoredRow};

/// Maximum number of runs that a line names. Further runs are counted.
const MAX_NAMED_RUNS: usize = 3;

/// Runs with the same items and the same facts, by the numbers of their item set and fact column.
type RunsByFactColumn<'a> = BTreeMap<(u32, u32), Vec<RunAndFile<'a>>>;

/// A run, and the file of its outcomes.
type RunAndFile<'a> = (&'a Run, &'a str);

/// By item and by stated fact: the runs that state it.
type RunsByReportedFact<'a> = BTreeMap<u32, BTreeMap<&'a str, Vec<RunAndFile<'a>>>>;

impl Warehouse {
    /// Returns contradictions between runs of one suite version about an item: one line for each suite version and fact, about the first
    /// such item, with the number of others. [`Warehouse::outcome_matrix`] decides which fact counts.
    pub fn find_fact_conflicts(&self) -> Vec<Problem> {
        if self.snapshot.fact_columns.len() <= 2 {
            // No run states a fact, or all agree.
            return Vec::new();
        }
        let mut rows: HashMap<(u32, u32), Vec<&StoredRow>> = HashMap::new();
        for (unit, number) in self.snapshot.items.iter().zip(0..) {
            for row in unit.rows.iter().filter(|row| row.facts != NO_FACT_COLUMN) {
                rows.entry((number, row.run)).or_default().push(row);
            }
        }
        let mut suites: BTreeMap<(&str, Option<&str>), RunsByFactColumn<'_>> = BTreeMap::new();
        for row in &self.runs {
            let run: &Run = &row.run;
            let Some((unit, number)) = self.locate_outcomes(&run.id) else {
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
        let mut seen = vec![NO_FACTS; self.snapshot.keys.len()];
        let of_suite = |((suite, version), alike): ((&str, Option<&str>), RunsByFactColumn<'_>)| {
            let place = match version {
                Some(version) => {
                    format!(
                        "suite `{}`, version `{}`",
                        escape_invisible(suite),
                        escape_invisible(version)
                    )
                }
                None => format!("suite `{}`", escape_invisible(suite)),
            };
            self.find_suite_conflicts(&place, &alike, &mut seen)
        };
        suites.into_iter().flat_map(of_suite).collect()
    }

    fn find_suite_conflicts(
        &self,
        suite: &str,
        alike: &RunsByFactColumn<'_>,
        seen: &mut [u32],
    ) -> Vec<Problem> {
        if alike.len() < 2 {
            return Vec::new();
        }
        let said = |(set, column): (u32, u32)| {
            let keys = self.snapshot.item_sets[set as usize].iter().copied();
            keys.zip(self.snapshot.fact_columns[column as usize].iter().copied())
                .filter(|(_, facts)| *facts != NO_FACTS)
        };
        let mut contested = BTreeSet::new();
        for (key, facts) in alike.keys().copied().flat_map(said) {
            let first = &mut seen[key as usize];
            if *first == NO_FACTS {
                *first = facts;
            } else if *first != facts {
                contested.insert(key);
            }
        }
        for (key, _) in alike.keys().copied().flat_map(said) {
            seen[key as usize] = NO_FACTS;
        }
        if contested.is_empty() {
            return Vec::new();
        }
        // One map per fact.
        let mut told: Vec<RunsByReportedFact<'_>> = vec![BTreeMap::new(); FACT_FIELDS.len()];
        for (pair, runs) in alike {
            for (key, facts) in said(*pair).filter(|(key, _)| contested.contains(key)) {
                let known: &ItemFacts<String> = &self.snapshot.facts[facts as usize];
                for ((_, field), told) in FACT_FIELDS.iter().zip(&mut told) {
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
        let line = |((name, _), told): (&(&str, _), RunsByReportedFact<'_>)| {
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
            let item = self.display_names().item_name(item);
            let said: Vec<String> = said
                .into_iter()
                .map(|(text, runs)| format!("`{}` ({})", escape_invisible(text), name_runs(&runs)))
                .collect();
            let others = match others {
                0 => String::new(),
                1 => "; so is another item's".to_owned(),
                others => format!("; so are those of {others} more items"),
            };
            let message = format!(
                "{suite}: the {name} of `{}` is {} at once{others}",
                escape_invisible(item),
                said.join(" and ")
            );
            Some(
                Problem::in_file(escape_invisible(file), message)
                    .with_hint("what most runs say counts; store or import the runs again, alike"),
            )
        };
        FACT_FIELDS.iter().zip(told).filter_map(line).collect()
    }
}

/// Names a few runs and counts the others.
fn name_runs(runs: &[RunAndFile<'_>]) -> String {
    let ids: BTreeSet<&str> = runs.iter().map(|(run, _)| run.id.as_str()).collect();
    let mut names: Vec<String> = ids
        .iter()
        .take(MAX_NAMED_RUNS)
        .map(|id| (*id).to_owned())
        .collect();
    if ids.len() > MAX_NAMED_RUNS {
        names.push(format!("{} more", ids.len() - MAX_NAMED_RUNS));
    }
    names.join(", ")
}
