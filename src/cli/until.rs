//! When to stop repeating: once two arms are decided, or once each rate is known well enough.

use std::collections::BTreeMap;

use crate::domain::{Run, parse_amount, visible};
use crate::render::format;
use crate::results::{Batch, PlannedRun};
use crate::run::Arm;
use crate::stats;

use super::failure::Failure;

/// Evidence of twenty to one holds at 5 %, whenever it is looked at.
const ENOUGH: f64 = 20.0;
/// Runs of each arm from which the number that is needed is planned.
const PILOT: u32 = 5;
const CONFIDENCE: f64 = 0.95;

/// A rule by which repeats end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Until {
    /// Two arms: pairs of runs won and lost.
    Decided,
    /// Each arm's pass rate is known to within this much, by a number of runs that is planned once.
    Precise(f64),
}

impl Until {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        if text == "decided" {
            return Ok(Self::Decided);
        }
        let width = text.strip_prefix("ci:").and_then(parse_amount).filter(|width| *width > 0.0 && *width < 1.0);
        width.map(Self::Precise).ok_or_else(|| {
            Failure::new(format!("--until `{}` is no rule", visible(text))).with_hint("write decided, or a half-width such as ci:5pp")
        })
    }

    /// Refuses plans that the rule does not fit.
    pub fn check(self, arms: &[Arm]) -> Result<(), Failure> {
        match (self, arms) {
            (Self::Precise(_), _) => Ok(()),
            (Self::Decided, [one, other]) if one.planned.suite == other.planned.suite => Ok(()),
            (Self::Decided, _) => {
                Err(Failure::new(format!("--until decided is about two arms of one suite, and there are {} arms", arms.len()))
                    .with_hint("choose one suite with two approaches or two models"))
            }
        }
    }

    /// Says in words why the repeats may end after round `round`; none while they have to go on. `records` are the plan's committed runs;
    /// those of later rounds do not count, so that a plan that is resumed ends where it would have ended.
    pub fn reason(self, batch: &Batch, records: &[Run], round: u32) -> Option<String> {
        let by_run: BTreeMap<&str, &Run> = records.iter().map(|run| (run.id.as_str(), run)).collect();
        let rate = |planned: &PlannedRun| rate_of(planned, &by_run, round);
        match self {
            Self::Decided => {
                let (won, lost) = duels(batch, &rate);
                let e_value = stats::mcnemar_e_value(won, lost);
                (e_value >= ENOUGH).then(|| {
                    let leader = &batch.arms[usize::from(won < lost)];
                    let (more, less) = (won.max(lost), won.min(lost));
                    format!(
                        "decided after {round} runs of each arm: {} won {more} and lost {less} of the pairs that differ (e = {}); this is about \
                         this suite, run again",
                        visible(&format!("{}/{}", leader.approach, leader.model)),
                        format::plain(e_value)
                    )
                })
            }
            Self::Precise(width) => {
                let planned = planned_runs(batch, &rate, width)?;
                (u64::from(round) >= planned).then(|| {
                    format!(
                        "{round} runs of each arm, as planned after the first {PILOT} for an interval of ± {} percentage points",
                        format::plain(width * 100.0)
                    )
                })
            }
        }
    }

    /// Says in words that the plan is at its end and the rule is not met.
    pub fn open(self, batch: &Batch, records: &[Run]) -> String {
        let by_run: BTreeMap<&str, &Run> = records.iter().map(|run| (run.id.as_str(), run)).collect();
        let rate = |planned: &PlannedRun| rate_of(planned, &by_run, u32::MAX);
        let most = batch.runs.iter().map(|run| run.index).max().unwrap_or(0);
        match self {
            Self::Decided => {
                let (won, lost) = duels(batch, &rate);
                let e_value = format::plain(stats::mcnemar_e_value(won, lost));
                format!(
                    "not decided after {most} runs of each arm, the most that were allowed: {won} pairs to {lost} (e = {e_value}, and {} decides)",
                    format::plain(ENOUGH)
                )
            }
            Self::Precise(half) => {
                let width = format::plain(half * 100.0);
                let needed = planned_runs(batch, &rate, half).map_or_else(String::new, |needed| format!("; it takes about {needed}"));
                format!(
                    "{most} runs of each arm, the most that were allowed, are too few for an interval of ± {width} percentage points{needed}"
                )
            }
        }
    }
}

/// The share that passed in a run of the plan up to `round`, where it counts.
fn rate_of(planned: &PlannedRun, by_run: &BTreeMap<&str, &Run>, round: u32) -> Option<f64> {
    if planned.index > round {
        return None;
    }
    let run = by_run.get(planned.id.as_str()).filter(|run| run.status.is_counted())?;
    let (passed, total) = run.shared_tests_passed.zip(run.shared_tests_total)?;
    (total > 0).then(|| passed as f64 / total as f64)
}

/// Pairs of runs of one index that the first arm won, and that it lost.
fn duels(batch: &Batch, rate: &dyn Fn(&PlannedRun) -> Option<f64>) -> (u64, u64) {
    let mut pairs: BTreeMap<u32, [Option<f64>; 2]> = BTreeMap::new();
    for run in batch.runs.iter().filter(|run| run.arm < 2) {
        pairs.entry(run.index).or_default()[run.arm] = rate(run);
    }
    pairs.values().fold((0, 0), |(won, lost), pair| match pair {
        [Some(first), Some(second)] if first > second => (won + 1, lost),
        [Some(first), Some(second)] if first < second => (won, lost + 1),
        _ => (won, lost),
    })
}

/// The runs that each arm needs, judged once by the first few of each that count. None before those are there.
fn planned_runs(batch: &Batch, rate: &dyn Fn(&PlannedRun) -> Option<f64>, width: f64) -> Option<u64> {
    let most = u64::from(batch.runs.iter().map(|run| run.index).max()?);
    let needs = (0..batch.arms.len()).map(|arm| {
        let pilot: Vec<f64> = batch.runs.iter().filter(|run| run.arm == arm).filter_map(rate).take(PILOT as usize).collect();
        if (pilot.len() as u64) < u64::from(PILOT).min(most) {
            return None;
        }
        let half = stats::mean_interval(&pilot, CONFIDENCE).map_or(0.0, |interval| (interval.high - interval.low) / 2.0);
        let needed = if half > width { stats::n_half_width(pilot.len() as u64, half, width).unwrap_or(most) } else { 0 };
        Some(needed.max(u64::from(PILOT)))
    });
    needs.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;
    use crate::results::PlannedArm;

    /// A plan of two arms, and records with so many of 20 passed.
    fn plan(first: &[u64], second: &[u64]) -> (Batch, Vec<Run>) {
        let arm = |approach: &str| PlannedArm { suite: "s".into(), approach: approach.into(), model: "m".into(), ..PlannedArm::default() };
        let (mut runs, mut records) = (Vec::new(), Vec::new());
        for (arm, passed) in [(0, first), (1, second)] {
            for (place, passed) in passed.iter().enumerate() {
                let index = u32::try_from(place + 1).expect("few");
                let id = RunId::parse(&format!("r-{arm}-{index}")).expect("a valid id");
                let mut record = Run::new(id.clone(), "s", "a", "m");
                (record.shared_tests_passed, record.shared_tests_total) = (Some(*passed), Some(20));
                runs.push(PlannedRun { id, arm, index, seed: 1 });
                records.push(record);
            }
        }
        (Batch { id: "b".into(), arms: vec![arm("a"), arm("b")], runs, ..Batch::default() }, records)
    }

    #[test]
    fn eight_straight_wins_decide_and_seven_do_not() {
        let (batch, records) = plan(&[15; 8], &[10; 8]);
        assert!(Until::Decided.reason(&batch, &records, 8).is_some_and(|reason| reason.contains("a/m won 8 and lost 0")));
        let (batch, records) = plan(&[15; 7], &[10; 7]);
        assert_eq!(Until::Decided.reason(&batch, &records, 7), None);
        let (batch, records) = plan(&[15, 15, 15, 15, 15, 15, 15, 15, 10, 9], &[10, 10, 10, 10, 10, 10, 10, 10, 10, 9]);
        assert!(Until::Decided.reason(&batch, &records, 10).is_some(), "ties say nothing");
    }

    #[test]
    fn later_rounds_do_not_count() {
        let (batch, records) = plan(&[15; 9], &[10; 9]);
        assert_eq!(Until::Decided.reason(&batch, &records, 7), None);
        assert!(Until::Decided.reason(&batch, &records, 8).is_some_and(|reason| reason.contains("decided after 8 runs")));
        let (batch, records) = plan(&[10; 5], &[10; 5]);
        assert_eq!(Until::Precise(0.2).reason(&batch, &records, 4), None);
    }

    #[test]
    fn precision_is_planned_once_after_a_pilot() {
        let (batch, records) = plan(&[10, 12, 14, 8, 10], &[10, 10, 10, 10, 10]);
        assert_eq!(Until::Precise(0.02).reason(&batch, &records, 5), None, "the first arm varies too much");
        assert!(Until::Precise(0.2).reason(&batch, &records, 5).is_some());
        let (batch, records) = plan(&[10, 12], &[10, 10]);
        assert!(Until::Precise(0.2).reason(&batch, &records[..3], 2).is_none(), "the pilot is not over");
    }

    #[test]
    fn rules_as_people_write_them() {
        assert_eq!(Until::parse("decided").expect("a rule"), Until::Decided);
        assert_eq!(Until::parse("ci:5pp").expect("a rule"), Until::Precise(0.05));
        for wrong in ["", "ci:", "ci:0", "ci:200%", "soon"] {
            assert!(Until::parse(wrong).is_err(), "{wrong}");
        }
    }
}
