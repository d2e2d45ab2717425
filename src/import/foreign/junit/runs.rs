//! Assigns the suites of a report to runs.
//!
//! A report is usually one run. In our own reports each top-level suite is a run. In other reports suites are separate runs if each names
//! an approach or a model and the names differ.

use std::collections::BTreeMap;

use crate::junit::Told;

use super::super::measured::Names;
use super::own;

/// The top-level suites of a report, with the names in each suite's properties.
#[derive(Default)]
pub(super) struct Suites {
    is_own: bool,
    named: Vec<(Names, Option<String>)>,
}

/// The run's index for each top-level suite, in order.
pub(super) struct Runs {
    of_suite: Vec<usize>,
    pub count: usize,
}

impl Suites {
    pub fn take(&mut self, told: &Told<'_>) {
        match told {
            Told::Suite {
                start,
                is_whole: true,
                ..
            } => self.is_own = own::is_root(start),
            Told::Suite { depth: 0, .. } => self.named.push(Default::default()),
            Told::Property { name, value } => {
                if let Some((names, run)) = self.named.last_mut() {
                    names.take(name, value);
                    if *name == "run" && run.is_none() {
                        *run = Some((*value).to_owned());
                    }
                }
            }
            Told::Suite { .. } | Told::Case(_) => {}
        }
    }

    pub fn runs(self) -> Runs {
        let is_named = |(names, _): &(Names, Option<String>)| {
            names.approach.is_some() || names.model.is_some()
        };
        if self.is_own {
            return Runs {
                count: self.named.len(),
                of_suite: (0..self.named.len()).collect(),
            };
        }
        if !self.named.iter().all(is_named) {
            return Runs {
                count: 1,
                of_suite: vec![0; self.named.len()],
            };
        }
        let mut numbers = BTreeMap::new();
        let of_suite = self.named.into_iter().map(|(names, run)| {
            let next = numbers.len();
            *numbers
                .entry([names.suite, names.approach, names.model, run])
                .or_insert(next)
        });
        let of_suite = of_suite.collect();
        Runs {
            of_suite,
            count: numbers.len(),
        }
    }
}

impl Runs {
    /// Returns the run of a top-level suite. Parts before all suites belong to the first run.
    pub fn of(&self, suite: Option<usize>) -> usize {
        suite
            .and_then(|suite| self.of_suite.get(suite))
            .copied()
            .unwrap_or(0)
    }
}
