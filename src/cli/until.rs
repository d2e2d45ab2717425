//! Plans of fresh runs, and the rules for when to stop repeating, as given on the command line. Their statistics are in [`crate::inference`].

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::domain::{Filter, Run, escape_invisible, parse_amount};
use crate::inference::{PILOT_RUNS, Policy, RoundDuels, RunComparison, fewest_pairs, planned_runs};
use crate::render::format;
use crate::results::{Batch, Subset};
use crate::run::{RunnableArm, interleave_arms, new_batch_id, pass_rate};
use crate::views::{BatchSelection, PairOrder, board_groups, compare_arms};

use super::adaptive::{self, DecisionMethod};
use super::failure::CommandFailure;
use super::options::Carrying;
use super::settings::Settings;
use super::{output, policy};

/// Runs per arm of a plan that may end early.
const MAX_RUNS: u32 = 50;
/// Runs of each of several tasks per arm of a plan that may end early.
const TASK_RUNS: u32 = 5;

/// A rule that ends repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RepeatRule {
    /// For two arms: enough pairs of runs are won or lost.
    Decided,
    /// Each arm's pass rate is known to within this half-width. The number of runs is planned once.
    Precise(f64),
}

impl RepeatRule {
    pub fn parse(text: &str) -> Result<Self, CommandFailure> {
        if text == "decided" {
            return Ok(Self::Decided);
        }
        let width = text
            .strip_prefix("ci:")
            .and_then(parse_amount)
            .filter(|width| *width > 0.0 && *width < 1.0);
        width.map(Self::Precise).ok_or_else(|| {
            CommandFailure::new(format!("--until `{}` is no rule", escape_invisible(text)))
                .with_hint("write decided, or a half-width such as ci:5pp")
        })
    }
}

/// Makes a plan of fresh runs: as many as are asked for, or as a rule may need.
pub(super) fn plan_runs(
    settings: &Settings,
    arms: &[RunnableArm],
    carrying: &Carrying,
    has_gate: bool,
    now: DateTime<Utc>,
) -> Result<Batch, CommandFailure> {
    let (question_groups, runs) = match carrying
        .until
        .as_deref()
        .map(RepeatRule::parse)
        .transpose()?
    {
        None => (None, carrying.runs),
        Some(RepeatRule::Precise(_)) => (None, carrying.max_runs.unwrap_or(MAX_RUNS)),
        Some(RepeatRule::Decided) => choose_design(settings, arms, carrying, has_gate)?,
    };
    // The batch id is random, and seeds derived from it are recorded with the runs.
    let seed = carrying.seed.unwrap_or_else(|| {
        new_batch_id(now).bytes().fold(0u64, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(byte.into())
        })
    });
    let planned = arms.iter().map(|arm| arm.planned.clone()).collect();
    let tags = parse_tags(carrying)?;
    let subset = asked_subset(carrying);
    Ok(Batch {
        until: carrying.until.clone(),
        question_groups,
        tags,
        subset,
        ..interleave_arms(planned, runs, seed, carrying.shuffle, now)
    })
}

/// Returns the part of each suite that is asked for.
pub(super) fn asked_subset(carrying: &Carrying) -> Subset {
    Subset {
        limit: carrying.limit,
        items: carrying.items.clone(),
    }
}

/// Returns the groups of chosen questions, if questions are chosen, and the runs per arm and suite. Says before anything is paid why questions are
/// not chosen, and if so few runs can decide nothing.
fn choose_design(
    settings: &Settings,
    arms: &[RunnableArm],
    carrying: &Carrying,
    has_gate: bool,
) -> Result<(Option<String>, u32), CommandFailure> {
    // Chosen questions give no rate to hold against a limit or a baseline.
    let wants_rates = carrying.max_runs.is_some() || carrying.fail_under.is_some() || has_gate;
    let why = match adaptive::choose_method(settings, arms)? {
        DecisionMethod::Questions(groups) if !wants_rates => return Ok((Some(groups), 1)),
        DecisionMethod::Questions(_) if arms.len() > 2 => {
            return Err(CommandFailure::new(format!(
                "chosen questions of {} arms give no rates",
                arms.len()
            ))
            .with_hint("leave out --max-runs, --fail-under and --gate, or compare two arms"));
        }
        DecisionMethod::Tasks => return Ok((None, carrying.max_runs.unwrap_or(TASK_RUNS))),
        DecisionMethod::Questions(_) => None,
        DecisionMethod::Whole(why) => why,
    };
    if let Some(why) = why {
        output::print_message(
            settings,
            &format!(
                "note: whole runs are repeated, because the questions cannot be chosen: {why}"
            ),
        );
    }
    let runs = carrying.max_runs.unwrap_or(MAX_RUNS);
    let needed = fewest_pairs(policy::configured_policy(settings)?.alpha);
    if u64::from(runs) < needed {
        output::print_message(
            settings,
            &format!(
                "note: {runs} runs of each arm decide nothing: it takes {needed} pairs of runs that one arm wins"
            ),
        );
    }
    Ok((None, runs))
}

fn parse_tags(carrying: &Carrying) -> Result<BTreeMap<String, String>, CommandFailure> {
    let pair = |tag: &String| match tag.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(CommandFailure::new(format!(
            "--tag `{}` is not KEY=VALUE",
            escape_invisible(tag)
        ))),
    };
    carrying.tag.iter().map(pair).collect()
}

/// A rule with everything it needs besides the runs.
pub(super) struct StoppingRule<'a> {
    until: RepeatRule,
    settings: &'a Settings,
    policy: Policy,
}

impl<'a> StoppingRule<'a> {
    /// Reads everything that the rule needs, so that nothing is missing once runs have been made.
    pub fn new(until: RepeatRule, settings: &'a Settings) -> Result<Self, CommandFailure> {
        Ok(Self {
            until,
            settings,
            policy: policy::configured_policy(settings)?,
        })
    }

    /// Returns the reason to stop repeating after round `round`, or `None` to go on. `records` are the plan's committed runs. Later rounds
    /// do not count, so that a resumed plan ends at the same round.
    pub fn stop_reason(&self, batch: &Batch, records: &[Run], round: u32) -> Option<String> {
        let rates = pass_rates(batch, records, round);
        match self.until {
            RepeatRule::Decided => self.decided_reason(batch, &rates, round),
            RepeatRule::Precise(width) => needed_runs(batch, &rates, width).filter(|needed| u64::from(round) >= *needed).map(|_| {
                format!(
                    "{round} runs of each arm, as planned after the first {PILOT_RUNS} for an interval of ± {} percentage points",
                    format::unscaled_number(width * 100.0)
                )
            }),
        }
    }

    /// Describes a plan that has ended although its rule is not met.
    pub fn describe_unmet(&self, batch: &Batch, records: &[Run]) -> String {
        let most = last_round(batch);
        let rates = pass_rates(batch, records, most);
        match self.until {
            RepeatRule::Decided => {
                let RoundDuels {
                    won,
                    lost,
                    e_value,
                    enough,
                    verdict,
                } = build_duels(&rates, &self.policy);
                let (e_value, enough) = (
                    format::unscaled_number(e_value),
                    format::unscaled_number(enough),
                );
                let why = if verdict.winning_place().is_some() {
                    "; the table does not agree yet"
                } else {
                    ""
                };
                format!(
                    "not decided after {most} runs of each arm, the most that were allowed: {won} pairs to {lost} (e = {e_value}, and {enough} \
                     decides){why}"
                )
            }
            RepeatRule::Precise(half) => {
                let width = format::unscaled_number(half * 100.0);
                let needed = needed_runs(batch, &rates, half)
                    .map_or_else(String::new, |needed| format!("; it takes about {needed}"));
                format!(
                    "{most} runs of each arm, the most that were allowed, are too few for an interval of ± {width} percentage points{needed}"
                )
            }
        }
    }

    fn decided_reason(
        &self,
        batch: &Batch,
        rates: &[Vec<Option<f64>>],
        round: u32,
    ) -> Option<String> {
        let duels = build_duels(rates, &self.policy);
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
            escape_invisible(&format!("{}/{}", leader.approach, leader.model)),
            format::unscaled_number(duels.e_value)
        ))
    }
}

/// Compares the two arms' runs up to a round, seen from the plan's first arm.
fn compared_after(
    settings: &Settings,
    batch: &Batch,
    round: u32,
    policy: &Policy,
) -> Option<RunComparison> {
    let planned = || batch.runs.iter().filter(|run| run.index <= round);
    // Select by id: names may be aliased, and the plan consists of exactly these runs.
    let filter = Filter {
        ids: planned().map(|run| run.id.to_string()).collect(),
        ..Filter::default()
    };
    // If the results cannot be opened, nothing is settled and the plan goes on. The command's own answer reports the error.
    let warehouse = settings.open_with(&settings.source_options()).ok()?;
    let groups = board_groups(&warehouse, &filter, BatchSelection::AllBatches, policy);
    let [group] = groups.as_slice() else {
        return None;
    };
    let comparison = compare_arms(&warehouse, group, policy, PairOrder::AsGiven);
    let [one, _] = comparison.arms.as_slice() else {
        return None;
    };
    let pair = comparison.primary_row()?.evidence.find_pair(0, 1)?;
    let is_first =
        planned().any(|run| run.arm == 0 && one.run_ids.iter().any(|id| id == run.id.as_str()));
    Some(RunComparison {
        verdict: pair.seen_from(usize::from(!is_first)).verdict,
        decision: comparison.decision.clone(),
    })
}

/// Returns the pass rate by arm and round, if the run exists and counts. Ignores later rounds.
fn pass_rates(batch: &Batch, records: &[Run], round: u32) -> Vec<Vec<Option<f64>>> {
    let by_run: BTreeMap<&str, &Run> = records.iter().map(|run| (run.id.as_str(), run)).collect();
    let mut rates = vec![BTreeMap::new(); batch.arms.len()];
    for run in batch.runs.iter().filter(|run| run.index <= round) {
        if let Some(arm) = rates.get_mut(run.arm) {
            arm.insert(run.index, pass_rate(run, &by_run));
        }
    }
    rates
        .into_iter()
        .map(|arm| arm.into_values().collect())
        .collect()
}

fn build_duels(rates: &[Vec<Option<f64>>], policy: &Policy) -> RoundDuels {
    match rates {
        [first, second, ..] => RoundDuels::from_rates(first, second, policy.alpha),
        _ => RoundDuels::from_rates(&[], &[], policy.alpha),
    }
}

fn needed_runs(batch: &Batch, rates: &[Vec<Option<f64>>], width: f64) -> Option<u64> {
    planned_runs(rates, u64::from(last_round(batch)), width)
}

fn last_round(batch: &Batch) -> u32 {
    batch.runs.iter().map(|run| run.index).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};

    use super::super::options::Global;
    use super::*;
    use crate::domain::RunId;
    use crate::inference::Place;
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
            pass_rates(&batch, &records, 2),
            [vec![Some(0.25), None], vec![Some(0.75), Some(0.5)]]
        );
        assert_eq!(
            pass_rates(&batch, &records[1..2], 2),
            [vec![Some(0.25), None], vec![None, None]]
        );
    }

    /// Returns a batch of two arms with one run a night, stored in a folder: `falls` passes 20 questions until the twelfth night and two from
    /// then on, `steady` always 12.
    fn store_nights(folder: &std::path::Path) -> Batch {
        let mut batch = Batch {
            arms: vec![PlannedArm::default(); 2],
            ..Batch::default()
        };
        for night in 1..=26 {
            for (arm, (name, failing)) in
                [("falls", if night <= 12 { 0 } else { 18 }), ("steady", 8)]
                    .into_iter()
                    .enumerate()
            {
                let id = format!("{name}-{night:02}");
                let header = serde_json::json!({
                    "id": id, "suite": "qa", "approach": name, "model": "m", "suite_version": "v1",
                    "timestamp": format!("2026-11-{night:02}T02:00:00Z"),
                });
                let line = |item: i32| {
                    let status = if item < failing { "fail" } else { "pass" };
                    let line = serde_json::json!({
                        "item": format!("q{item:02}"), "kind": "question", "evaluator": "answers",
                        "attempt": 1, "revision": 0, "status": status,
                    });
                    format!("{line}\n")
                };
                let lines: String = (0..20).map(line).collect();
                std::fs::create_dir_all(folder.join(&id)).expect("a folder");
                std::fs::write(folder.join(format!("{id}.json")), header.to_string())
                    .expect("a header");
                std::fs::write(folder.join(&id).join("items.jsonl"), lines).expect("its items");
                batch.runs.push(PlannedRun {
                    id: RunId::parse(&id).expect("valid"),
                    arm,
                    index: night,
                    seed: 1,
                });
            }
        }
        batch
    }

    /// A plan that was resumed over many nights is compared as the board is: since the newest change point. Over all nights neither arm wins.
    #[test]
    fn the_table_counts_since_the_newest_change_point() {
        let folder = tempfile::tempdir().expect("a folder");
        let results = folder.path().join("results");
        let batch = store_nights(&results);
        let config = folder.path().join("evalreport.yaml");
        std::fs::write(&config, "version: 1\n").expect("a configuration");
        let options = Global::augment_args(clap::Command::new("evalreport"));
        let words = [
            "evalreport".into(),
            "--quiet".into(),
            format!("--results={}", results.display()),
            format!("--config={}", config.display()),
        ];
        let matches = options.try_get_matches_from(words).expect("options");
        let global = Global::from_arg_matches(&matches).expect("options");
        let settings = Settings::new(&global).expect("settings");
        let policy = policy::configured_policy(&settings).expect("a policy");
        let compared = compared_after(&settings, &batch, 26, &policy).expect("two arms");
        assert_eq!(compared.verdict.better_place(), Some(Place::Second));
        let before = compared_after(&settings, &batch, 12, &policy).expect("two arms");
        assert_eq!(before.verdict.better_place(), Some(Place::First));
    }

    #[test]
    fn rules_as_people_write_them() {
        assert_eq!(
            RepeatRule::parse("decided").expect("a rule"),
            RepeatRule::Decided
        );
        assert_eq!(
            RepeatRule::parse("ci:5pp").expect("a rule"),
            RepeatRule::Precise(0.05)
        );
        for wrong in ["", "ci:", "ci:0", "ci:200%", "soon"] {
            assert!(RepeatRule::parse(wrong).is_err(), "{wrong}");
        }
    }
}
