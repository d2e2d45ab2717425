//! Plans of fresh runs, and the rules for when to stop repeating, as given on the command line. Their statistics are in [`crate::inference`].

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::domain::{Filter, Run, parse_amount, visible};
use crate::inference::{Compared, Duels, PILOT, Policy, fewest_pairs, planned_runs};
use crate::render::format;
use crate::results::{Batch, Subset};
use crate::run::{Arm, batch_id, interleaved, rate_of};
use crate::views::{Grouping, PairOrder, board_groups, compare};

use super::arguments::Carrying;
use super::chosen::{self, Way};
use super::failure::Failure;
use super::settings::Settings;
use super::{output, policy};

/// Runs per arm of a plan that may end early.
const MOST_RUNS: u32 = 50;
/// Runs of each of several tasks per arm of a plan that may end early.
const TASK_RUNS: u32 = 5;

/// A rule that ends repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Until {
    /// For two arms: enough pairs of runs are won or lost.
    Decided,
    /// Each arm's pass rate is known to within this half-width. The number of runs is planned once.
    Precise(f64),
}

impl Until {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        if text == "decided" {
            return Ok(Self::Decided);
        }
        let width = text
            .strip_prefix("ci:")
            .and_then(parse_amount)
            .filter(|width| *width > 0.0 && *width < 1.0);
        width.map(Self::Precise).ok_or_else(|| {
            Failure::new(format!("--until `{}` is no rule", visible(text)))
                .with_hint("write decided, or a half-width such as ci:5pp")
        })
    }
}

/// Makes a plan of fresh runs: as many as are asked for, or as a rule may need.
pub(super) fn plan(
    settings: &Settings,
    arms: &[Arm],
    carrying: &Carrying,
    has_gate: bool,
    now: DateTime<Utc>,
) -> Result<Batch, Failure> {
    let (question_groups, runs) = match carrying.until.as_deref().map(Until::parse).transpose()? {
        None => (None, carrying.runs),
        Some(Until::Precise(_)) => (None, carrying.max_runs.unwrap_or(MOST_RUNS)),
        Some(Until::Decided) => decided_by(settings, arms, carrying, has_gate)?,
    };
    // The batch id is random, and seeds derived from it are recorded with the runs.
    let seed = carrying.seed.unwrap_or_else(|| {
        batch_id(now).bytes().fold(0u64, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(byte.into())
        })
    });
    let planned = arms.iter().map(|arm| arm.planned.clone()).collect();
    let tags = tags(carrying)?;
    let subset = subset(carrying);
    Ok(Batch {
        until: carrying.until.clone(),
        question_groups,
        tags,
        subset,
        ..interleaved(planned, runs, seed, carrying.shuffle, now)
    })
}

/// Returns the part of each suite that is asked for.
pub(super) fn subset(carrying: &Carrying) -> Subset {
    Subset {
        limit: carrying.limit,
        items: carrying.items.clone(),
    }
}

/// Returns the groups of chosen questions, if questions are chosen, and the runs per arm and suite. Says before anything is paid why questions are
/// not chosen, and if so few runs can decide nothing.
fn decided_by(
    settings: &Settings,
    arms: &[Arm],
    carrying: &Carrying,
    has_gate: bool,
) -> Result<(Option<String>, u32), Failure> {
    // Chosen questions give no rate to hold against a limit or a baseline.
    let wants_rates = carrying.max_runs.is_some() || carrying.fail_under.is_some() || has_gate;
    let why = match chosen::way(settings, arms)? {
        Way::Questions(groups) if !wants_rates => return Ok((Some(groups), 1)),
        Way::Questions(_) if arms.len() > 2 => {
            return Err(Failure::new(format!(
                "chosen questions of {} arms give no rates",
                arms.len()
            ))
            .with_hint("leave out --max-runs, --fail-under and --gate, or compare two arms"));
        }
        Way::Tasks => return Ok((None, carrying.max_runs.unwrap_or(TASK_RUNS))),
        Way::Questions(_) => None,
        Way::Whole(why) => why,
    };
    if let Some(why) = why {
        output::say(
            settings,
            &format!(
                "note: whole runs are repeated, because the questions cannot be chosen: {why}"
            ),
        );
    }
    let runs = carrying.max_runs.unwrap_or(MOST_RUNS);
    let needed = fewest_pairs(policy::configured(settings)?.alpha);
    if u64::from(runs) < needed {
        output::say(
            settings,
            &format!(
                "note: {runs} runs of each arm decide nothing: it takes {needed} pairs of runs that one arm wins"
            ),
        );
    }
    Ok((None, runs))
}

fn tags(carrying: &Carrying) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |tag: &String| match tag.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Failure::new(format!(
            "--tag `{}` is not KEY=VALUE",
            visible(tag)
        ))),
    };
    carrying.tag.iter().map(pair).collect()
}

/// A rule with everything it needs besides the runs.
pub(super) struct Rule<'a> {
    until: Until,
    settings: &'a Settings,
    policy: Policy,
}

impl<'a> Rule<'a> {
    /// Reads everything that the rule needs, so that nothing is missing once runs have been made.
    pub fn new(until: Until, settings: &'a Settings) -> Result<Self, Failure> {
        Ok(Self {
            until,
            settings,
            policy: policy::configured(settings)?,
        })
    }

    /// Returns the reason to stop repeating after round `round`, or `None` to go on. `records` are the plan's committed runs. Later rounds
    /// do not count, so that a resumed plan ends at the same round.
    pub fn reason(&self, batch: &Batch, records: &[Run], round: u32) -> Option<String> {
        let rates = rates(batch, records, round);
        match self.until {
            Until::Decided => self.decided(batch, &rates, round),
            Until::Precise(width) => planned(batch, &rates, width).filter(|needed| u64::from(round) >= *needed).map(|_| {
                format!(
                    "{round} runs of each arm, as planned after the first {PILOT} for an interval of ± {} percentage points",
                    format::plain(width * 100.0)
                )
            }),
        }
    }

    /// Describes a plan that has ended although its rule is not met.
    pub fn open(&self, batch: &Batch, records: &[Run]) -> String {
        let most = last_round(batch);
        let rates = rates(batch, records, most);
        match self.until {
            Until::Decided => {
                let Duels {
                    won,
                    lost,
                    e_value,
                    enough,
                    verdict,
                } = duels(&rates, &self.policy);
                let (e_value, enough) = (format::plain(e_value), format::plain(enough));
                let why = if verdict.winner().is_some() {
                    "; the table does not agree yet"
                } else {
                    ""
                };
                format!(
                    "not decided after {most} runs of each arm, the most that were allowed: {won} pairs to {lost} (e = {e_value}, and {enough} \
                     decides){why}"
                )
            }
            Until::Precise(half) => {
                let width = format::plain(half * 100.0);
                let needed = planned(batch, &rates, half)
                    .map_or_else(String::new, |needed| format!("; it takes about {needed}"));
                format!(
                    "{most} runs of each arm, the most that were allowed, are too few for an interval of ± {width} percentage points{needed}"
                )
            }
        }
    }

    fn decided(&self, batch: &Batch, rates: &[Vec<Option<f64>>], round: u32) -> Option<String> {
        let duels = duels(rates, &self.policy);
        let most = last_round(batch);
        let left = u64::from(most.saturating_sub(round));
        // So few runs were asked for although they can decide nothing.
        let is_pointless = u64::from(most) < fewest_pairs(self.policy.alpha);
        if left > 0 && !is_pointless && !duels.is_reachable(left) {
            return Some(format!(
                "not decided after {round} runs of each arm: {} pairs to {}, and even {left} pairs won in a row would not decide",
                duels.won, duels.lost
            ));
        }
        let mut compared = None;
        // Opening the store takes longer than counting pairs, so it waits until the pairs have a winner.
        let is_settled = duels.is_settled(|| {
            compared = compared_after(self.settings, batch, round, &self.policy);
            compared.clone()
        });
        if !is_settled {
            return None;
        }
        let leader = &batch.arms[usize::from(duels.won < duels.lost)];
        let (more, less) = (duels.won.max(duels.lost), duels.won.min(duels.lost));
        // If items are a sample, the table is also about other items.
        let beyond = if compared.is_some_and(|table| table.verdict.is_open()) {
            "; about other items the table decides"
        } else {
            ""
        };
        Some(format!(
            "decided after {round} runs of each arm: {} won {more} and lost {less} of the pairs that differ (e = {}); this is about this \
             suite, run again{beyond}",
            visible(&format!("{}/{}", leader.approach, leader.model)),
            format::plain(duels.e_value)
        ))
    }
}

/// Compares the two arms' runs up to a round, seen from the plan's first arm.
fn compared_after(
    settings: &Settings,
    batch: &Batch,
    round: u32,
    policy: &Policy,
) -> Option<Compared> {
    let planned = || batch.runs.iter().filter(|run| run.index <= round);
    // Select by id: names may be aliased, and the plan consists of exactly these runs.
    let filter = Filter {
        ids: planned().map(|run| run.id.to_string()).collect(),
        ..Filter::default()
    };
    // If the results cannot be opened, nothing is settled and the plan goes on. The command's own answer reports the error.
    let warehouse = settings.open_with(&settings.options()).ok()?;
    let groups = board_groups(&warehouse, &filter, Grouping::AllBatches, policy);
    let [group] = groups.as_slice() else {
        return None;
    };
    let comparison = compare(&warehouse, group, policy, PairOrder::AsGiven);
    let [one, _] = comparison.arms.as_slice() else {
        return None;
    };
    let pair = comparison.primary()?.evidence.pair(0, 1)?;
    let is_first =
        planned().any(|run| run.arm == 0 && one.run_ids.iter().any(|id| id == run.id.as_str()));
    Some(Compared {
        verdict: pair.seen_from(usize::from(!is_first)).verdict,
        decision: comparison.decision.clone(),
    })
}

/// Returns the pass rate by arm and round, if the run exists and counts. Ignores later rounds.
fn rates(batch: &Batch, records: &[Run], round: u32) -> Vec<Vec<Option<f64>>> {
    let by_run: BTreeMap<&str, &Run> = records.iter().map(|run| (run.id.as_str(), run)).collect();
    let mut rates = vec![BTreeMap::new(); batch.arms.len()];
    for run in batch.runs.iter().filter(|run| run.index <= round) {
        if let Some(arm) = rates.get_mut(run.arm) {
            arm.insert(run.index, rate_of(run, &by_run));
        }
    }
    rates
        .into_iter()
        .map(|arm| arm.into_values().collect())
        .collect()
}

fn duels(rates: &[Vec<Option<f64>>], policy: &Policy) -> Duels {
    match rates {
        [first, second, ..] => Duels::of(first, second, policy.alpha),
        _ => Duels::of(&[], &[], policy.alpha),
    }
}

fn planned(batch: &Batch, rates: &[Vec<Option<f64>>], width: f64) -> Option<u64> {
    planned_runs(rates, u64::from(last_round(batch)), width)
}

fn last_round(batch: &Batch) -> u32 {
    batch.runs.iter().map(|run| run.index).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;
    use crate::results::{PlannedArm, PlannedRun};

    #[test]
    fn later_rounds_and_runs_that_do_not_count_have_no_rate() {
        let run = |arm: usize, index: u32| PlannedRun {
            id: RunId::parse(&format!("r-{arm}-{index}")).expect("valid"),
            arm,
            index,
            seed: 1,
        };
        // Runs may be carried out with the rounds mixed.
        let runs = vec![
            run(1, 2),
            run(0, 1),
            run(1, 1),
            run(0, 2),
            run(0, 3),
            run(1, 3),
        ];
        let record = |(run, passed): (&PlannedRun, u64)| {
            let mut record = Run::new(run.id.clone(), "s", "a", "m");
            (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(20));
            record
        };
        let mut records: Vec<Run> = runs.iter().zip([10, 5, 15, 20, 0, 0]).map(record).collect();
        records[3].status = crate::domain::RunStatus::Infra;
        let batch = Batch {
            arms: vec![PlannedArm::default(); 2],
            runs,
            ..Batch::default()
        };
        assert_eq!(
            rates(&batch, &records, 2),
            [vec![Some(0.25), None], vec![Some(0.75), Some(0.5)]]
        );
        assert_eq!(
            rates(&batch, &records[1..2], 2),
            [vec![Some(0.25), None], vec![None, None]]
        );
    }

    #[test]
    fn rules_as_people_write_them() {
        assert_eq!(Until::parse("decided").expect("a rule"), Until::Decided);
        assert_eq!(
            Until::parse("ci:5pp").expect("a rule"),
            Until::Precise(0.05)
        );
        for wrong in ["", "ci:", "ci:0", "ci:200%", "soon"] {
            assert!(Until::parse(wrong).is_err(), "{wrong}");
        }
    }
}
