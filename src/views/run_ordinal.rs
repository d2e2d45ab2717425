//! A run's day, and its number among its arm's runs of that day.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use serde::Serialize;

use crate::inference::Arm;

use super::run::RunLine;

/// A run's place among the runs of its suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunOrdinal {
    /// The number of its day, from 1, over all arms. `None` if its time is unknown, or if no arm has runs of a second day: then days are
    /// dates of publication, not nights.
    pub night: Option<u64>,
    /// Its number, from 1, among the arm's runs of that day.
    pub number: u64,
}

/// Returns the place of each of a suite's runs, in the order of the runs. Newer runs never change the numbers of older ones.
pub(super) fn run_ordinals(runs: &[RunLine]) -> Vec<RunOrdinal> {
    let night_of = |run: &RunLine| run.timestamp.map(|time| time.date_naive());
    let nights: BTreeSet<NaiveDate> = runs.iter().filter_map(night_of).collect();
    let numbers: BTreeMap<NaiveDate, u64> = nights.into_iter().zip(1..).collect();
    let days: BTreeSet<(&Arm, NaiveDate)> = runs
        .iter()
        .filter_map(|run| Some((&run.arm, night_of(run)?)))
        .collect();
    let arms: BTreeSet<&Arm> = days.iter().map(|(arm, _)| *arm).collect();
    let is_nightly = days.len() > arms.len();
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|index| (runs[*index].timestamp, &runs[*index].id));
    let mut counted = BTreeMap::<(&Arm, Option<NaiveDate>), u64>::new();
    let mut turns = vec![
        RunOrdinal {
            night: None,
            number: 1
        };
        runs.len()
    ];
    for index in order {
        let night = night_of(&runs[index]);
        let number = counted.entry((&runs[index].arm, night)).or_default();
        *number += 1;
        let of_several = night.filter(|_| is_nightly);
        turns[index] = RunOrdinal {
            night: of_several.and_then(|night| numbers.get(&night).copied()),
            number: *number,
        };
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, approach: &str, time: Option<&str>) -> RunLine {
        RunLine {
            id: id.to_owned(),
            suite: "s".to_owned(),
            arm: Arm {
                approach: approach.to_owned(),
                model: String::new(),
            },
            status: "completed".to_owned(),
            timestamp: time.map(|time| time.parse().expect("a time")),
            passed: None,
            total: None,
            interval: None,
            cost_usd: None,
            cost: None,
            tokens: None,
            duration_seconds: None,
            batch: None,
            source: None,
        }
    }

    fn turns(runs: &[RunLine]) -> Vec<(Option<u64>, u64)> {
        run_ordinals(runs)
            .into_iter()
            .map(|turn| (turn.night, turn.number))
            .collect()
    }

    #[test]
    fn nights_are_the_suites_and_numbers_the_arms() {
        let (first, later, next) = (
            "2026-01-01T01:00:00Z",
            "2026-01-01T02:00:00Z",
            "2026-01-02T01:00:00Z",
        );
        let runs = [
            run("c", "a", Some(later)),
            run("b", "a", Some(first)),
            run("d", "b", Some(next)),
            run("e", "a", Some(next)),
            run("f", "a", None),
        ];
        assert_eq!(
            turns(&runs),
            [
                (Some(1), 2),
                (Some(1), 1),
                (Some(2), 1),
                (Some(2), 1),
                (None, 1)
            ]
        );
        // With a single day its number tells nothing, nor do days on which each arm ran once.
        assert_eq!(turns(&runs[..2]), [(None, 2), (None, 1)]);
        assert_eq!(turns(&runs[1..3]), [(None, 1), (None, 1)]);
        assert_eq!(turns(&[]), []);
    }
}
