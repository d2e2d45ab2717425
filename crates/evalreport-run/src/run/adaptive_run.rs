//! Several arms that are asked the same questions, or run the same tasks, block by block until the verdicts of the full run are foreseen.

use std::collections::BTreeMap;

use crate::domain::{ItemDetails, ItemOutcome, ItemStatus, Run};
use crate::results::{Batch, PlannedRun, StoreError};
use crate::stats::{AdaptiveInquiry, AdaptiveStopping, Foreseen, PairRecord, Units};

use super::execute::{ArmRefusal, ExecutionResult};
use super::questions::{Interruption, PartialReason, QuestionRun, ask_in_turns};
use super::{ArmWork, PlanContext, QuestionWork, RunEnd, RunEvent, RunnableArm, item_seed};

/// What the arms of a batch of chosen questions or tasks have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdaptiveResult {
    pub units: Units,
    /// Number of units.
    pub unit_count: u64,
    /// Items of the full run: questions, or runs of all tasks together.
    pub items: u64,
    /// By arm: items asked. The arms of tasks are those of [`task_arms`].
    pub asked: Vec<u64>,
    /// By pair of arms, in the order of [`AdaptiveInquiry::arm_pairs`].
    pub pairs: Vec<(Foreseen, PairRecord)>,
}

impl AdaptiveResult {
    fn from_inquiry(
        units: Units,
        shape: &[(usize, u64)],
        asked: Vec<u64>,
        inquiry: &mut AdaptiveInquiry<'_>,
    ) -> Self {
        let verdicts = inquiry.foreseen_verdicts();
        // All pairs are foreseen once nothing is left to ask.
        let verdict = |verdict: Option<Foreseen>| verdict.unwrap_or(Foreseen::NoWinner);
        Self {
            units,
            unit_count: shape.len() as u64,
            items: count_items(shape),
            asked,
            pairs: verdicts
                .into_iter()
                .map(verdict)
                .zip(inquiry.pair_records().iter().copied())
                .collect(),
        }
    }

    /// Says whether some arm was not asked everything.
    pub fn is_early(&self) -> bool {
        self.asked.iter().any(|asked| *asked < self.items)
    }
}

/// One of the runs.
enum AdaptiveRun<'a> {
    Open(Box<QuestionRun<'a>>),
    /// Committed before the process was interrupted.
    Done(Vec<(ItemOutcome, ItemDetails)>),
}

impl AdaptiveRun<'_> {
    /// Says by question whether it passed, for outcomes that count.
    fn passes_by_question(&self) -> Result<BTreeMap<String, f64>, StoreError> {
        let decided = match self {
            Self::Open(asking) => &asking.decided_items()?,
            Self::Done(decided) => decided,
        };
        let counted = decided
            .iter()
            .map(|(outcome, _)| outcome)
            .filter(|outcome| outcome.status.is_counted());
        Ok(counted
            .map(|outcome| {
                (
                    outcome.item.clone(),
                    f64::from(u8::from(outcome.status == ItemStatus::Pass)),
                )
            })
            .collect())
    }
}

/// Asks the arms of a batch with question groups. Returns what was foreseen, or `None` if it was stopped, refused, or another process is at
/// it.
///
/// A resumed batch chooses the same questions again, because the choice follows from the plan and the outcomes. Fails only if the store
/// cannot be written.
pub fn ask_until_foreseen(
    batch: &Batch,
    arms: &[RunnableArm],
    units: Units,
    alpha: f64,
    context: &PlanContext<'_>,
) -> Result<(ExecutionResult, Option<AdaptiveResult>), StoreError> {
    let mut executed = ExecutionResult::default();
    let groups = batch.question_groups.as_deref().unwrap_or_default();
    let Some(planned) = (0..arms.len())
        .map(|arm| planned_questions(batch, arms, arm))
        .collect::<Option<Vec<_>>>()
    else {
        return Ok((executed, None));
    };
    let Some((_, work)) = planned.first() else {
        return Ok((executed, None));
    };
    let mut sides = Vec::new();
    for (run, work) in planned.iter().copied() {
        match begin_run(batch, run, &arms[run.arm], work, context) {
            Ok(side) => sides.push(side),
            Err(StoreError::InFlight { .. } | StoreError::Exists { .. }) => {
                (context.events)(&RunEvent::Taken { run });
                executed.taken += 1;
                return Ok((executed, None));
            }
            Err(error) => return Err(error),
        }
    }
    let waiting = shuffle_units(groups, batch.seed.unwrap_or_default(), units, work);
    let shape: Vec<(usize, u64)> = waiting
        .iter()
        .map(|unit| (unit.group, unit.places.len() as u64))
        .collect();
    let rule = AdaptiveStopping::new(units, count_items(&shape), arms.len(), alpha);
    let mut inquiry = AdaptiveInquiry::new(&rule, &shape, arms.len());
    let mut taken = vec![0; waiting.len()];
    let mut asked = vec![0; arms.len()];
    while let Some(block) = inquiry.next_block(None) {
        let mut chosen = Vec::with_capacity(block.units.len());
        for unit in block.units {
            chosen.push((unit, waiting[unit].places[taken[unit]]));
            taken[unit] += 1;
        }
        let places: Vec<usize> = chosen.iter().map(|(_, place)| *place).collect();
        let is_asked = |arm: usize| block.arms.contains(&arm);
        let (open, mut asking): (Vec<usize>, Vec<&mut QuestionRun<'_>>) = sides
            .iter_mut()
            .enumerate()
            .filter_map(|(arm, side)| match side {
                AdaptiveRun::Open(asking) if is_asked(arm) => Some((arm, &mut **asking)),
                AdaptiveRun::Open(_) | AdaptiveRun::Done(_) => None,
            })
            .unzip();
        match ask_in_turns(&mut asking, &places, context)? {
            None => {}
            Some(Interruption::Refused(place, reason)) => {
                executed.refusal = Some(ArmRefusal {
                    arm: open[place],
                    reason,
                });
                return Ok((executed, None));
            }
            Some(Interruption::Spent) => {
                executed.is_spent = true;
                return Ok((executed, None));
            }
            Some(Interruption::Stopped) => {
                executed.stopped = true;
                return Ok((executed, None));
            }
        }
        let mut passed = vec![BTreeMap::new(); arms.len()];
        for arm in block.arms {
            asked[arm] += places.len() as u64;
            passed[arm] = sides[arm].passes_by_question()?;
        }
        for (unit, place) in chosen {
            let id = &work.spec.questions[place].id;
            inquiry.count_item(
                unit,
                &passed
                    .iter()
                    .map(|passed| passed.get(id).copied())
                    .collect::<Vec<_>>(),
            );
        }
    }
    let chosen = AdaptiveResult::from_inquiry(units, &shape, asked, &mut inquiry);
    for (side, (run, _)) in sides.into_iter().zip(planned) {
        let AdaptiveRun::Open(asking) = side else {
            continue;
        };
        let asked = chosen.asked[run.arm];
        let portion = (asked < chosen.items)
            .then(|| PartialReason(describe_portion(asked, chosen.items, arms.len())));
        if let RunEnd::Whole(record) = asking.commit_run(portion.as_ref())? {
            executed.finished += 1;
            (context.events)(&RunEvent::Finished {
                run,
                record: &record,
                criteria: None,
            });
        }
    }
    Ok((executed, Some(chosen)))
}

fn planned_questions<'a>(
    batch: &'a Batch,
    arms: &'a [RunnableArm],
    place: usize,
) -> Option<(&'a PlannedRun, &'a QuestionWork)> {
    let run = batch.runs.iter().find(|run| run.arm == place)?;
    match &arms.get(place)?.work {
        ArmWork::Questions(work) => Some((run, work)),
        ArmWork::Code(_) => None,
    }
}

fn begin_run<'a>(
    batch: &'a Batch,
    run: &'a PlannedRun,
    arm: &'a RunnableArm,
    work: &'a QuestionWork,
    context: &'a PlanContext<'a>,
) -> Result<AdaptiveRun<'a>, StoreError> {
    if context.store.has_run(&run.id)? {
        return Ok(AdaptiveRun::Done(
            context
                .store
                .read_detailed_items(&run.id)?
                .unwrap_or_default(),
        ));
    }
    (context.events)(&RunEvent::Started {
        arm: &arm.planned,
        run,
    });
    Ok(AdaptiveRun::Open(Box::new(QuestionRun::begin_run(
        batch,
        run,
        &arm.planned,
        work,
        context,
    )?)))
}

/// The questions of a unit, in the order in which they are asked.
#[derive(Debug, PartialEq, Eq)]
struct QuestionUnit {
    group: usize,
    places: Vec<usize>,
}

/// The cluster of a unit, or the id of a question that is its own unit.
type UnitName<'a> = (Option<&'a str>, &'a str);

/// Returns the units in random order, each with the places of its questions in random order. A question whose letter is `.` is not asked.
fn shuffle_units(groups: &str, seed: u64, units: Units, work: &QuestionWork) -> Vec<QuestionUnit> {
    let questions = &work.spec.questions;
    let letters: Vec<(usize, char)> = groups
        .chars()
        .enumerate()
        .take(questions.len())
        .filter(|(_, letter)| *letter != '.')
        .collect();
    let mut found: BTreeMap<UnitName<'_>, Vec<(usize, char)>> = BTreeMap::new();
    for (place, letter) in letters {
        let question = &questions[place];
        let cluster = question
            .cluster
            .as_deref()
            .filter(|_| units == Units::Clusters);
        let own = if cluster.is_some() {
            ""
        } else {
            question.id.as_str()
        };
        found
            .entry((cluster, own))
            .or_default()
            .push((place, letter));
    }
    let mut ordered: Vec<(u64, QuestionUnit)> = Vec::with_capacity(found.len());
    for ((cluster, own), mut members) in found {
        members.sort_by_cached_key(|(place, _)| item_seed(seed, &questions[*place].id));
        let group = unit_group(members.iter().map(|(_, letter)| *letter));
        ordered.push((
            item_seed(seed, cluster.unwrap_or(own)),
            QuestionUnit {
                group,
                places: members.into_iter().map(|(place, _)| place).collect(),
            },
        ));
    }
    ordered.sort_by_key(|(order, _)| *order);
    ordered.into_iter().map(|(_, waiting)| waiting).collect()
}

/// Returns the group of a unit: the middle of its questions' letters. Unknown questions, whose letter is not among the first five, are a
/// group of their own.
fn unit_group(letters: impl Iterator<Item = char>) -> usize {
    let known: Vec<usize> = letters
        .filter_map(|letter| ('a'..='e').position(|known| known == letter))
        .collect();
    let (sum, count) = (known.iter().sum::<usize>(), known.len());
    if count == 0 {
        0
    } else {
        1 + (2 * sum + count) / (2 * count)
    }
}

/// Returns the number of items of units, given by group and size.
fn count_items(shape: &[(usize, u64)]) -> u64 {
    shape.iter().map(|(_, size)| size).sum()
}

fn describe_portion(asked: u64, items: u64, arms: usize) -> String {
    let arms = if arms == 2 {
        "two".to_owned()
    } else {
        arms.to_string()
    };
    format!("{asked} of {items} questions were asked, chosen to decide between {arms} arms")
}

/// The runs of a batch over several tasks: what to run next, or what was foreseen.
#[derive(Debug, PartialEq, Eq)]
pub enum AdaptiveStep {
    /// Runs without a record, in the order of the plan.
    Next(Vec<PlannedRun>),
    Foreseen(AdaptiveResult),
}

/// Returns the arms of a batch over several tasks: by approach and model, the index of the plan's arm for each task.
pub fn task_arms(batch: &Batch) -> Vec<Vec<usize>> {
    let mut found: Vec<((&str, &str), Vec<usize>)> = Vec::new();
    for (place, arm) in batch.arms.iter().enumerate() {
        let name = (arm.approach.as_str(), arm.model.as_str());
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, places)) => places.push(place),
            None => found.push((name, vec![place])),
        }
    }
    found.into_iter().map(|(_, places)| places).collect()
}

/// Looks at the records of a batch over several tasks: each arm runs the same tasks, block by block. Every arm has all tasks in the same order.
///
/// Only records in the order of the blocks count, so a resumed batch ends where it would have ended.
pub fn next_step(batch: &Batch, records: &[Run], alpha: f64) -> AdaptiveStep {
    let arms = task_arms(batch);
    let tasks = arms.first().map_or(0, Vec::len);
    let mut order: Vec<usize> = (0..tasks).collect();
    order.sort_by_cached_key(|task| {
        item_seed(
            batch.seed.unwrap_or_default(),
            &batch.arms[arms[0][*task]].suite,
        )
    });
    let rounds = batch.runs.iter().map(|run| run.index).max().unwrap_or(0);
    let shape = vec![(0, u64::from(rounds)); tasks];
    let rule = AdaptiveStopping::new(Units::Tasks, count_items(&shape), arms.len(), alpha);
    let mut inquiry = AdaptiveInquiry::new(&rule, &shape, arms.len());
    let by_run: BTreeMap<&str, &Run> = records.iter().map(|run| (run.id.as_str(), run)).collect();
    let mut taken = vec![0u32; tasks];
    let mut asked = vec![0; arms.len()];
    while let Some(block) = inquiry.next_block(None) {
        let mut wanted: Vec<(usize, Vec<Option<&PlannedRun>>)> = Vec::new();
        for unit in block.units {
            taken[unit] += 1;
            let place = |arm: usize| arms[arm][order[unit]];
            let run = |arm: usize| {
                batch
                    .runs
                    .iter()
                    .find(|run| run.arm == place(arm) && run.index == taken[unit])
            };
            wanted.push((
                unit,
                (0..arms.len())
                    .map(|arm| block.arms.contains(&arm).then(|| run(arm)).flatten())
                    .collect(),
            ));
        }
        let is_open = |run: &PlannedRun| !by_run.contains_key(run.id.as_str());
        let open = |run: &&PlannedRun| {
            is_open(run)
                && wanted
                    .iter()
                    .any(|(_, runs)| runs.iter().flatten().any(|wanted| wanted.id == run.id))
        };
        let next: Vec<PlannedRun> = batch.runs.iter().filter(open).cloned().collect();
        if !next.is_empty() {
            return AdaptiveStep::Next(next);
        }
        for (unit, runs) in wanted {
            for (arm, _) in runs.iter().enumerate().filter(|(_, run)| run.is_some()) {
                asked[arm] += 1;
            }
            let rates: Vec<Option<f64>> = runs
                .into_iter()
                .map(|run| pass_rate(run?, &by_run))
                .collect();
            inquiry.count_item(unit, &rates);
        }
    }
    AdaptiveStep::Foreseen(AdaptiveResult::from_inquiry(
        Units::Tasks,
        &shape,
        asked,
        &mut inquiry,
    ))
}

/// Returns the pass rate of a planned run, if the run exists and counts.
pub fn pass_rate(planned: &PlannedRun, by_run: &BTreeMap<&str, &Run>) -> Option<f64> {
    let run = by_run
        .get(planned.id.as_str())
        .filter(|run| run.status.is_counted())?;
    let (passed, total) = run.shared_tests_passed.zip(run.shared_tests_total)?;
    (total > 0).then(|| passed as f64 / total as f64)
}
