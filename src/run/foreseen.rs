//! Two runs of the same questions, asked block by block until the verdict of all questions is foreseen.

use std::collections::BTreeMap;

use crate::domain::{ItemDetails, ItemOutcome, ItemStatus};
use crate::results::{Batch, PlannedRun, StoreError};
use crate::stats::{Foreseen, Foresight, ItemGroup, block_size, next_items};

use super::execute::{Executed, Refusal};
use super::questions::{Asking, Portion};
use super::{Arm, Context, Ended, Event, QuestionWork, Work, item_seed};

/// The state of two runs of chosen questions. The first arm is the first of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub verdict: Foreseen,
    /// Questions asked of each arm, and questions that could have been.
    pub asked: u64,
    pub of: u64,
    /// Questions that only the first arm passed, and only the second.
    pub won: u64,
    pub lost: u64,
}

/// One of the two runs.
enum Side<'a> {
    Open(Box<Asking<'a>>),
    /// Committed before the process was interrupted.
    Done(Vec<(ItemOutcome, ItemDetails)>),
}

impl Side<'_> {
    /// Says by question whether it passed, for outcomes that count.
    fn passed(&self) -> Result<BTreeMap<String, bool>, StoreError> {
        let decided = match self {
            Self::Open(asking) => &asking.decided()?,
            Self::Done(decided) => decided,
        };
        let counted = decided.iter().map(|(outcome, _)| outcome).filter(|outcome| outcome.status.is_counted());
        Ok(counted.map(|outcome| (outcome.item.clone(), outcome.status == ItemStatus::Pass)).collect())
    }
}

/// Asks the two arms of a batch with question groups. Returns what was foreseen, or `None` if it was stopped, refused, or another process
/// is at it.
///
/// A resumed batch chooses the same questions again, because the choice follows from the plan and the outcomes. Fails only if the store
/// cannot be written.
pub fn ask_until_foreseen(
    batch: &Batch,
    arms: &[Arm],
    alpha: f64,
    context: &Context<'_>,
) -> Result<(Executed, Option<Chosen>), StoreError> {
    let mut executed = Executed::default();
    let groups = batch.question_groups.as_deref().unwrap_or_default();
    let [Some(first), Some(second)] = [0, 1].map(|arm| planned(batch, arms, arm)) else { return Ok((executed, None)) };
    let mut sides = Vec::new();
    for (run, work) in [first, second] {
        match begin(batch, run, &arms[run.arm], work, context) {
            Ok(side) => sides.push(side),
            Err(StoreError::InFlight { .. } | StoreError::Exists { .. }) => {
                (context.events)(&Event::Taken { run });
                executed.taken += 1;
                return Ok((executed, None));
            }
            Err(error) => return Err(error),
        }
    }
    let waiting = waiting(groups, batch.seed.unwrap_or_default(), first.1);
    let of: u64 = waiting.iter().map(|group| group.len() as u64).sum();
    let rule = Foresight::new(of, alpha);
    let mut taken = vec![0usize; waiting.len()];
    let chosen = loop {
        let state = state(&waiting, &taken, first.1, &sides)?;
        let asked: u64 = taken.iter().map(|count| *count as u64).sum();
        if let Some(verdict) = rule.verdict(&state) {
            let (won, lost) = state.iter().fold((0, 0), |sum, group| (sum.0 + group.won, sum.1 + group.lost));
            break Chosen { verdict, asked, of, won, lost };
        }
        let mut block = Vec::new();
        for (place, count) in next_items(&state, block_size(asked, of)).into_iter().enumerate() {
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(waiting[place].len() - taken[place]);
            block.extend_from_slice(&waiting[place][taken[place]..taken[place] + count]);
            taken[place] += count;
        }
        for (side, (run, _)) in sides.iter_mut().zip([first, second]) {
            let Side::Open(asking) = side else { continue };
            match asking.ask(&block)? {
                None => {}
                Some(Ended::Refused(reason)) => {
                    executed.refusal = Some(Refusal { arm: run.arm, reason });
                    return Ok((executed, None));
                }
                Some(_) => {
                    executed.stopped = true;
                    return Ok((executed, None));
                }
            }
        }
    };
    for (side, (run, _)) in sides.into_iter().zip([first, second]) {
        let Side::Open(asking) = side else { continue };
        let portion = (chosen.asked < chosen.of).then(|| Portion(portion(&chosen)));
        if let Ended::Whole(record) = asking.finish(portion.as_ref())? {
            executed.finished += 1;
            (context.events)(&Event::Finished { run, record: &record, criteria: None });
        }
    }
    Ok((executed, Some(chosen)))
}

fn planned<'a>(batch: &'a Batch, arms: &'a [Arm], place: usize) -> Option<(&'a PlannedRun, &'a QuestionWork)> {
    let run = batch.runs.iter().find(|run| run.arm == place)?;
    match &arms.get(place)?.work {
        Work::Questions(work) => Some((run, work)),
        Work::Code(_) => None,
    }
}

fn begin<'a>(
    batch: &'a Batch,
    run: &'a PlannedRun,
    arm: &'a Arm,
    work: &'a QuestionWork,
    context: &'a Context<'a>,
) -> Result<Side<'a>, StoreError> {
    if context.store.has(&run.id)? {
        return Ok(Side::Done(context.store.detailed_items(&run.id)?.unwrap_or_default()));
    }
    (context.events)(&Event::Started { arm: &arm.planned, run });
    Ok(Side::Open(Box::new(Asking::begin(batch, run, &arm.planned, work, context)?)))
}

/// Returns the places of the questions of each group, in the random order in which they are asked. The groups are in the order of their
/// letters; a question whose letter is `.` is not asked.
fn waiting(groups: &str, seed: u64, work: &QuestionWork) -> Vec<Vec<usize>> {
    let mut found: BTreeMap<char, Vec<usize>> = BTreeMap::new();
    for (place, letter) in groups.chars().enumerate().take(work.spec.questions.len()).filter(|(_, letter)| *letter != '.') {
        found.entry(letter).or_default().push(place);
    }
    for places in found.values_mut() {
        places.sort_by_cached_key(|place| item_seed(seed, &work.spec.questions[*place].id));
    }
    found.into_values().collect()
}

/// Counts the asked questions of each group. A question without a counted outcome of both arms is in no count.
fn state(waiting: &[Vec<usize>], taken: &[usize], work: &QuestionWork, sides: &[Side<'_>]) -> Result<Vec<ItemGroup>, StoreError> {
    let [first, second] = [sides[0].passed()?, sides[1].passed()?];
    let mut state = Vec::with_capacity(waiting.len());
    for (places, taken) in waiting.iter().zip(taken) {
        let mut group = ItemGroup { left: (places.len() - taken) as u64, ..ItemGroup::default() };
        for place in &places[..*taken] {
            let id = &work.spec.questions[*place].id;
            match (first.get(id), second.get(id)) {
                (Some(true), Some(false)) => group.won += 1,
                (Some(false), Some(true)) => group.lost += 1,
                (Some(_), Some(_)) => group.same += 1,
                _ => {}
            }
        }
        state.push(group);
    }
    Ok(state)
}

fn portion(chosen: &Chosen) -> String {
    format!("{} of {} questions were asked, chosen to decide between two arms", chosen.asked, chosen.of)
}
