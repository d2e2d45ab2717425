//! Assigns the suites of a report to runs.
//!
//! A report is usually one run. In our own reports each top-level suite is a run. In other reports suites are separate runs if they name
//! approaches or models that differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::junit::JunitEvent;

use super::super::property_metrics::ReportedNames;
use super::own;

/// The top-level suites of a report, with the names in each suite's properties.
#[derive(Default)]
pub(super) struct SuiteNames {
    is_own: bool,
    named: Vec<(ReportedNames, Option<String>)>,
}

/// The run's index for each top-level suite, in order.
pub(super) struct RunBySuite {
    of_suite: Vec<usize>,
    pub count: usize,
}

impl SuiteNames {
    pub fn add_event(&mut self, told: &JunitEvent<'_>) {
        match told {
            JunitEvent::Suite {
                start,
                is_whole: true,
                ..
            } => self.is_own = own::is_own_root(start),
            JunitEvent::Suite { depth: 0, .. } => self.named.push(Default::default()),
            JunitEvent::Property { name, value } => {
                if let Some((names, run)) = self.named.last_mut() {
                    names.add_property(name, value);
                    if *name == "run" && run.is_none() {
                        *run = Some((*value).to_owned());
                    }
                }
            }
            JunitEvent::Suite { .. } | JunitEvent::Case(_) => {}
        }
    }

    pub fn into_runs(self) -> RunBySuite {
        let arm = |(names, _): &(ReportedNames, Option<String>)| {
            let has_name = names.approach.is_some() || names.model.is_some();
            has_name.then(|| (names.approach.clone(), names.model.clone()))
        };
        let arms: BTreeSet<_> = self.named.iter().filter_map(arm).collect();
        if self.is_own {
            return RunBySuite {
                count: self.named.len(),
                of_suite: (0..self.named.len()).collect(),
            };
        }
        // Beside suites of two arms, one without a name is of neither.
        if arms.len() < 2 && !self.named.iter().all(|suite| arm(suite).is_some()) {
            return RunBySuite {
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
        RunBySuite {
            of_suite,
            count: numbers.len(),
        }
    }
}

impl RunBySuite {
    /// Returns the run of a top-level suite. Parts before all suites belong to the first run.
    pub fn run_index(&self, suite: Option<usize>) -> usize {
        suite
            .and_then(|suite| self.of_suite.get(suite))
            .copied()
            .unwrap_or(0)
    }
}
