//! Runs of questions: each question is asked once and written to the journal when decided.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Failure, Measured, Outlook, Prompt, Served};
use crate::domain::{
    FAILED_STARTS, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Repeated, Run, RunStatus, Unit,
};
use crate::evaluate::{AnswerOutcome, parse_answer, score};
use crate::results::{Again, Batch, How, Journal, PlannedArm, PlannedRun, StoreError};
use crate::stats;
use crate::suite::{Question, normalized, question_prompt, shuffled};

use super::purse::Purse;
use super::record;
use super::turns::{Turn, Turns};
use super::{Context, Ended, Event, QuestionWork, item_seed};

/// Said once if `--max-cost` cannot do what it promises.
pub const UNPRICED: &str = "the agent told no cost, so --max-cost does not count it; `prices` in the configuration compute one from tokens";
/// Evaluator name of the outcomes.
const EVALUATOR: &str = "answers";
/// Maximum time until a decided outcome is safe from a power cut.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Number of characters kept from the end of a reply, which holds the answer.
const REPLY_CHARACTERS: usize = 600;

/// The result for one question of one of the runs that are asked in turns.
struct Decided {
    turn: Turn,
    /// `None` if the run was stopped meanwhile.
    outcome: Option<Answered>,
}

struct Answered {
    outcome: ItemOutcome,
    details: ItemDetails,
    transcript: Vec<Value>,
    served: Served,
    /// Whether the agent's program did not start.
    is_unstarted: bool,
}

/// The result of asking one question.
enum Asked {
    Decided(Box<Answered>),
    Stopped,
    Refused(String),
}

/// Whether the agent of a run can be used at all.
#[derive(Default)]
struct Reachable {
    /// Whether it has ever answered.
    has_answered: AtomicBool,
    /// Number of its starts that failed, in a row.
    failed_starts: AtomicU32,
    /// Why it is not asked any more.
    refusal: OnceLock<String>,
}

impl Reachable {
    fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }
}

/// A run of questions in progress.
pub struct Asking<'a> {
    batch: &'a Batch,
    run: &'a PlannedRun,
    arm: &'a PlannedArm,
    work: &'a QuestionWork,
    context: &'a Context<'a>,
    journal: Journal,
    reachable: Reachable,
    /// What produced the answers, according to the first answers of this process.
    served: Served,
}

/// Why a run holds only some of its suite's questions, in words.
pub struct Portion(pub String);

/// Copies the answers of the run whose place a run takes, with their messages, unless they are there. What ended in an outage is left out: it is
/// asked again, and stays on record in the first run.
fn take_over(
    journal: &mut Journal,
    batch: &Batch,
    run: &PlannedRun,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let Some(Again { of, .. }) = batch.again(&run.id).filter(|again| again.how == How::Items)
    else {
        return Ok(());
    };
    let there: BTreeSet<String> = journal
        .decided()?
        .into_iter()
        .map(|(outcome, _)| outcome.item)
        .collect();
    let messages = context.store.transcript(of)?;
    let is_taken = |outcome: &ItemOutcome| {
        outcome.evaluator == EVALUATOR
            && outcome.status != ItemStatus::Infra
            && !there.contains(&outcome.item)
    };
    for (outcome, details) in context
        .store
        .items_so_far(of)?
        .into_iter()
        .filter(|(outcome, _)| is_taken(outcome))
    {
        let own: Vec<Value> = messages
            .iter()
            .filter(|line| line.item.as_ref() == Some(&outcome.item))
            .map(|line| line.entry.clone())
            .collect();
        journal.append_transcript(Some(&outcome.item), &own)?;
        journal.append(
            &ItemOutcome {
                run: run.id.clone(),
                ..outcome
            },
            &details,
        )?;
    }
    journal.sync()
}

/// Why some questions stayed undecided.
pub enum Interrupted {
    Stopped,
    /// The purse is empty.
    Spent,
    /// The agent of the run at this place cannot be used, for this reason.
    Refused(usize, String),
}

/// Asks the questions at these places that are not decided yet, one after the other, each of all runs in turns: see [`Turns`]. So what the
/// machine or a service does meanwhile concerns all arms alike.
pub fn ask_in_turns(
    asking: &mut [&mut Asking<'_>],
    places: &[usize],
    context: &Context<'_>,
) -> Result<Option<Interrupted>, StoreError> {
    let mut open: Vec<BTreeSet<usize>> = Vec::with_capacity(asking.len());
    for asking in asking.iter() {
        let known: BTreeSet<String> = asking
            .decided()?
            .into_iter()
            .map(|(outcome, _)| outcome.item)
            .collect();
        open.push(
            places
                .iter()
                .copied()
                .filter(|place| !known.contains(&asking.work.spec.questions[*place].id))
                .collect(),
        );
    }
    let first = asking
        .first()
        .map_or(0, |asking| asking.run.index.saturating_sub(1) as usize);
    // The task's number is the default if the command gives none, and otherwise the maximum.
    let wanted = asking
        .iter()
        .map(|asking| asking.work.concurrency.unwrap_or(1))
        .max();
    let jobs = context.jobs.or(wanted).unwrap_or(1);
    let most = asking
        .iter()
        .map(|asking| {
            asking
                .work
                .concurrency
                .map_or(jobs, |most| most.min(jobs))
                .max(1)
        })
        .collect();
    let turns = Turns::new(places, &open, first, most);
    let whole = ask_all(asking, &turns, jobs.clamp(1, turns.len().max(1)), context)?;
    let refused = |(place, asking): (usize, &&mut Asking<'_>)| {
        Some((place, asking.reachable.refusal.get()?.clone()))
    };
    if whole {
        return Ok(None);
    }
    for asking in asking.iter() {
        asking.journal.sync()?;
    }
    let refused = asking.iter().enumerate().find_map(refused);
    let is_spent = context.purse.is_some_and(Purse::is_empty) && !context.stop.is_stopped();
    let without = if is_spent {
        Interrupted::Spent
    } else {
        Interrupted::Stopped
    };
    Ok(Some(refused.map_or(without, |(place, reason)| {
        Interrupted::Refused(place, reason)
    })))
}

impl<'a> Asking<'a> {
    /// Opens the run's journal, which may hold outcomes of an interrupted process.
    pub fn begin(
        batch: &'a Batch,
        run: &'a PlannedRun,
        arm: &'a PlannedArm,
        work: &'a QuestionWork,
        context: &'a Context<'a>,
    ) -> Result<Self, StoreError> {
        let mut journal = context.store.journal(&run.id)?;
        take_over(&mut journal, batch, run, context)?;
        let decided = journal.decided()?;
        let has_answered = decided
            .iter()
            .any(|(outcome, _)| matches!(outcome.status, ItemStatus::Pass | ItemStatus::Fail));
        if !decided.is_empty() {
            (context.events)(&Event::Resumed {
                run,
                items: decided.len(),
            });
        }
        let reachable = Reachable {
            has_answered: AtomicBool::new(has_answered),
            ..Reachable::default()
        };
        let mut asking = Self {
            batch,
            run,
            arm,
            work,
            context,
            journal,
            reachable,
            served: Served::default(),
        };
        let known = decided
            .into_iter()
            .map(|(outcome, _)| outcome.item)
            .collect();
        asking.journal.keep_transcript_of(&known)?;
        Ok(asking)
    }

    /// Returns the outcomes so far.
    pub fn decided(&self) -> Result<Vec<(ItemOutcome, ItemDetails)>, StoreError> {
        self.journal.decided()
    }

    /// Commits the run. With a portion, it holds only some questions, and so has no rate.
    pub fn finish(mut self, portion: Option<&Portion>) -> Result<Ended, StoreError> {
        let questions = &self.work.spec.questions;
        let places: BTreeMap<&str, usize> = questions
            .iter()
            .enumerate()
            .map(|(place, question)| (question.id.as_str(), place))
            .collect();
        self.journal.sort_by_key(|outcome| {
            places
                .get(outcome.item.as_str())
                .copied()
                .unwrap_or(usize::MAX)
        })?;
        self.journal.sync()?;
        let decided = self.decided()?;
        let begun = record::begun(self.batch, self.run, self.arm, self.context);
        let mut record = match portion {
            None => summed(begun, &decided, questions),
            Some(Portion(why)) => {
                let mut record = begun;
                record::add_items(&mut record, &decided);
                (record.status, record.error) = (RunStatus::Partial, Some(why.clone()));
                record
            }
        };
        let reported: BTreeSet<&str> = decided
            .iter()
            .filter_map(|(_, details)| details.model.as_deref())
            .collect();
        record::set_model(&mut record, self.work.agent.model.as_deref(), &reported);
        let repeated = decided
            .iter()
            .filter_map(|(_, details)| details.repeated)
            .reduce(|sum, part| sum.plus(&part));
        let none = || {
            self.work.agent.tells_repeats().then(|| Repeated {
                waited_seconds: Some(0.0),
                ..Repeated::default()
            })
        };
        record::add_told(&mut record, self.served, repeated.or_else(none));
        if let Some(resources) = &mut record.resources {
            resources.time_limit = self
                .work
                .agent
                .time_limit(&self.work.budget)
                .map(|limit| limit.as_secs_f64());
        }
        self.context.store.commit(&record, &self.journal)?;
        Ok(Ended::Whole(Box::new(record)))
    }
}

/// What the workers know of one run.
struct Lane<'a> {
    run: &'a PlannedRun,
    work: &'a QuestionWork,
    shuffle: Option<u64>,
    reachable: &'a Reachable,
}

/// Returns whether every question of the turns was decided.
fn ask_all(
    asking: &mut [&mut Asking<'_>],
    turns: &Turns,
    jobs: usize,
    context: &Context<'_>,
) -> Result<bool, StoreError> {
    let (mut lanes, mut writers) = (Vec::new(), Vec::new());
    for asking in asking.iter_mut() {
        let Asking {
            batch,
            run,
            work,
            journal,
            reachable,
            served,
            ..
        } = &mut **asking;
        lanes.push(Lane {
            run,
            work,
            shuffle: batch.shuffle.then_some(run.seed),
            reachable,
        });
        writers.push(Writer {
            journal,
            served,
            run,
            work,
            reachable,
            held: Vec::new(),
            is_started: reachable.has_answered(),
        });
    }
    let lanes = lanes.as_slice();
    let failed = AtomicBool::new(false);
    let is_over = || {
        context.stop.is_stopped()
            || failed.load(Ordering::Relaxed)
            || lanes
                .iter()
                .any(|lane| lane.reachable.refusal.get().is_some())
    };
    let (sender, receiver) = mpsc::channel::<Decided>();
    std::thread::scope(|scope| {
        for job in 0..jobs {
            let sender = sender.clone();
            let started = std::thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(turn) = turns.take(&is_over, context.purse) {
                    let lane = &lanes[turn.run];
                    let asked = ask(&lane.work.spec.questions[turn.place], lane, context);
                    settle(&asked, lane.run, context);
                    turns.end(turn);
                    let outcome = match asked {
                        Asked::Decided(decided) => Some(*decided),
                        Asked::Stopped => None,
                        Asked::Refused(reason) => {
                            // Only the first refusal is reported.
                            let _ = lane.reachable.refusal.set(reason);
                            break;
                        }
                    };
                    if sender.send(Decided { turn, outcome }).is_err() {
                        break;
                    }
                }
            });
            match started {
                Err(source) if job == 0 => {
                    let path = lanes
                        .first()
                        .map(|lane| context.store.run_dir(&lane.run.id))
                        .unwrap_or_default();
                    return Err(StoreError::Io {
                        action: "cannot start a thread for",
                        path,
                        source,
                    });
                }
                // Fewer workers than wanted are enough.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        drop(sender);
        let written = write_all(&mut writers, &receiver, context);
        if written.is_err() {
            // The store cannot be written, so current questions are stopped and no more are asked.
            failed.store(true, Ordering::Relaxed);
            context.stop.stop();
        }
        let mut count = written?;
        // Without a refusal, a program that failed to start once or twice was asked everything.
        if count
            + writers
                .iter()
                .map(|writer| writer.held.len())
                .sum::<usize>()
            == turns.len()
        {
            for writer in &mut writers {
                count += writer.release(ItemStatus::Infra, context)?;
                writer.journal.sync()?;
            }
        }
        Ok(count == turns.len())
    })
}

/// Takes the cost of an attempt from the purse.
fn settle(asked: &Asked, run: &PlannedRun, context: &Context<'_>) {
    let Some(purse) = context.purse else { return };
    match asked {
        // An outage costs nothing, unless it says so.
        Asked::Decided(answered)
            if answered.outcome.cost_usd.is_some() || answered.outcome.status.is_counted() =>
        {
            if purse.settle(answered.outcome.cost_usd) {
                (context.events)(&Event::Warning {
                    run,
                    what: UNPRICED,
                });
            }
        }
        Asked::Decided(_) | Asked::Stopped | Asked::Refused(_) => purse.give_back(),
    }
}

/// What the writing thread holds of one run.
struct Writer<'a> {
    journal: &'a mut Journal,
    served: &'a mut Served,
    run: &'a PlannedRun,
    work: &'a QuestionWork,
    reachable: &'a Reachable,
    /// Failed starts before the first answer. Only an answer, or the end of the questions, tells what they were.
    held: Vec<(usize, Answered)>,
    is_started: bool,
}

impl Writer<'_> {
    /// Takes a result. Returns the number of outcomes that it wrote.
    fn take(
        &mut self,
        place: usize,
        answered: Answered,
        context: &Context<'_>,
    ) -> Result<usize, StoreError> {
        if !self.is_started && answered.is_unstarted {
            self.held.push((place, answered));
            return Ok(0);
        }
        let mut count = 0;
        if !self.is_started && self.reachable.has_answered() && !answered.is_unstarted {
            // A program that answers can be started: it ended so by itself.
            self.is_started = true;
            count = self.release(ItemStatus::Error, context)?;
        }
        self.write(place, answered, context)?;
        Ok(count + 1)
    }

    /// Writes the failed starts with this status, and returns their number.
    fn release(&mut self, status: ItemStatus, context: &Context<'_>) -> Result<usize, StoreError> {
        let held = std::mem::take(&mut self.held);
        let count = held.len();
        for (place, mut answered) in held {
            answered.outcome.status = status;
            self.write(place, answered, context)?;
        }
        Ok(count)
    }

    fn write(
        &mut self,
        place: usize,
        answered: Answered,
        context: &Context<'_>,
    ) -> Result<(), StoreError> {
        let Answered {
            outcome,
            details,
            transcript,
            served:
                Served {
                    version,
                    provider,
                    region,
                },
            ..
        } = answered;
        let first = std::mem::take(self.served);
        *self.served = Served {
            version: first.version.or(version),
            provider: first.provider.or(provider),
            region: first.region.or(region),
        };
        self.journal
            .append_transcript(Some(&outcome.item), &transcript)?;
        self.journal.append(&outcome, &details)?;
        let item = &self.work.spec.questions[place].id;
        let reason = details.reason.as_deref();
        (context.events)(&Event::Item {
            run: self.run,
            item,
            status: outcome.status,
            reason,
            cost_usd: outcome.cost_usd,
        });
        Ok(())
    }
}

/// Writes results to the journals. Returns how many were decided.
fn write_all(
    writers: &mut [Writer<'_>],
    receiver: &mpsc::Receiver<Decided>,
    context: &Context<'_>,
) -> Result<usize, StoreError> {
    let (mut count, mut unsynced) = (0, None::<Instant>);
    loop {
        let wait = unsynced.map_or(SYNC_EVERY, |since: Instant| {
            SYNC_EVERY.saturating_sub(since.elapsed())
        });
        match receiver.recv_timeout(wait) {
            Ok(Decided {
                turn,
                outcome: Some(answered),
            }) => {
                count += writers[turn.run].take(turn.place, answered, context)?;
                unsynced.get_or_insert_with(Instant::now);
            }
            Ok(Decided { outcome: None, .. }) | Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(count),
        }
        if unsynced.is_some_and(|since| since.elapsed() >= SYNC_EVERY) {
            for writer in writers.iter() {
                writer.journal.sync()?;
            }
            unsynced = None;
        }
    }
}

fn ask(question: &Question, lane: &Lane<'_>, context: &Context<'_>) -> Asked {
    let Lane {
        run,
        work,
        shuffle,
        reachable,
    } = *lane;
    let shown = shuffled(question, shuffle);
    let text = question_prompt(&shown);
    let seed = item_seed(run.seed, &question.id);
    let prompt = Prompt {
        text: &text,
        system: None,
        item: Some(&question.id),
        seed,
        limits: work.budget.clone(),
        folder: None,
    };
    let asked = work.agent.ask(&prompt, context.stop);
    let is_unstarted = matches!(
        &asked,
        Err(Failure {
            outlook: Outlook::Unstarted,
            ..
        })
    );
    let failed_starts = if is_unstarted {
        reachable.failed_starts.fetch_add(1, Ordering::Relaxed) + 1
    } else {
        reachable.failed_starts.store(0, Ordering::Relaxed);
        0
    };
    let (status, mut details, measured) = match asked {
        Ok(reply) => {
            reachable.has_answered.store(true, Ordering::Relaxed);
            let (status, details) = judged(question, &reply.text);
            (status, details, reply.measured)
        }
        Err(Failure {
            outlook: Outlook::Hopeless,
            reason,
            ..
        }) => return Asked::Refused(reason),
        Err(Failure {
            outlook: Outlook::Doubtful,
            reason,
            ..
        }) if !reachable.has_answered() => return Asked::Refused(reason),
        Err(Failure { reason, .. })
            if failed_starts >= FAILED_STARTS && !reachable.has_answered() =>
        {
            return Asked::Refused(format!("{failed_starts} starts in a row failed: {reason}"));
        }
        Err(Failure {
            kind,
            reason,
            measured,
            ..
        }) => {
            let Some(status) = kind.item_status() else {
                return Asked::Stopped;
            };
            let status = if is_unstarted && reachable.has_answered() {
                ItemStatus::Error
            } else {
                status
            };
            (
                status,
                ItemDetails {
                    reason: Some(reason),
                    ..ItemDetails::default()
                },
                *measured,
            )
        }
    };
    let Measured {
        usage,
        cost,
        steps,
        tools,
        duration,
        transcript,
        model,
        served,
        repeated,
        ..
    } = measured;
    details.expected = question
        .correct
        .iter()
        .map(|place| question.answers[*place].clone())
        .collect();
    details.usage = Some(usage).filter(|usage| *usage != crate::domain::Usage::default());
    details.cost_source = cost.usd.map(|_| cost.source);
    details.steps = steps;
    details.model = model;
    details.tools = tools.unwrap_or_default();
    details.repeated = repeated.filter(|repeated| repeated.retries > 0 || repeated.throttled > 0);
    let outcome = ItemOutcome {
        run: run.id.clone(),
        kind: ItemKind::Question,
        item: question.id.clone(),
        cluster: question.cluster.clone(),
        category: question.category.clone(),
        attempt: 1,
        status,
        score: None,
        evaluator: EVALUATOR.to_owned(),
        revision: 0,
        duration_seconds: Some(duration.as_secs_f64()),
        cost_usd: cost.usd,
        input_tokens: usage.input_total(),
        output_tokens: usage.output,
    };
    Asked::Decided(Box::new(Answered {
        outcome,
        details,
        transcript,
        served,
        is_unstarted,
    }))
}

/// Checks a reply against the answer format and the question.
fn judged(question: &Question, text: &str) -> (ItemStatus, ItemDetails) {
    let mut details = ItemDetails {
        reply: Some(ending(text)),
        ..ItemDetails::default()
    };
    let status = match parse_answer(text) {
        Ok(answer) => {
            details.answer = Some(beginning(&normalized(&answer)));
            match score(question, &answer) {
                AnswerOutcome::Pass => ItemStatus::Pass,
                wrong @ (AnswerOutcome::WrongChoice | AnswerOutcome::InvalidChoice) => {
                    details.reason = Some(wrong.name().to_owned());
                    ItemStatus::Fail
                }
            }
        }
        Err(error) => {
            details.reason = Some(error.name().to_owned());
            ItemStatus::Fail
        }
    };
    (status, details)
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(REPLY_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn ending(text: &str) -> String {
    let text = text.trim();
    let start = text
        .char_indices()
        .rev()
        .nth(REPLY_CHARACTERS - 1)
        .map_or(0, |(start, _)| start);
    if start == 0 {
        text.to_owned()
    } else {
        format!("…{}", &text[start..])
    }
}

fn summed(mut record: Run, decided: &[(ItemOutcome, ItemDetails)], questions: &[Question]) -> Run {
    record::add_items(&mut record, decided);
    let counted: Vec<&ItemOutcome> = decided
        .iter()
        .map(|(outcome, _)| outcome)
        .filter(|outcome| outcome.status.is_counted())
        .collect();
    let passed = counted
        .iter()
        .filter(|outcome| outcome.status == ItemStatus::Pass)
        .count() as u64;
    let total = counted.len() as u64;
    if total == 0 && !decided.is_empty() {
        // No question was answered: this says something about the service, not about the agent.
        record.status = RunStatus::Infra;
        record.error = commonest(decided).map(|(reason, _)| reason.to_owned());
        return record;
    }
    if total > 0
        && counted
            .iter()
            .all(|outcome| outcome.status == ItemStatus::Error)
    {
        // An agent that fails on every question was not measured, even though each outcome counts as not passed.
        record.status = RunStatus::Failed;
        record.error = commonest(decided).map(|(reason, count)| match (count, total) {
            (_, 1) => reason.to_owned(),
            (count, total) if count == total => {
                format!("all {total} questions ended with the same error: {reason}")
            }
            (count, total) => {
                format!("all {total} questions ended with an error; {count} times: {reason}")
            }
        });
    }
    record.shared_tests_passed = Some(passed);
    record.shared_tests_total = Some(total);
    let accuracy = (total > 0).then(|| passed as f64 / total as f64);
    let asked: BTreeSet<&str> = counted
        .iter()
        .map(|outcome| outcome.item.as_str())
        .collect();
    let chances: Vec<f64> = questions
        .iter()
        .filter(|question| asked.contains(question.id.as_str()))
        .map(Question::chance_level)
        .collect();
    let chance = chances.iter().sum::<f64>() / chances.len() as f64;
    let adjusted =
        accuracy.and_then(|accuracy| stats::chance_adjusted_accuracy(accuracy, chance).ok());
    record.scores.push(record::score(
        "accuracy",
        accuracy,
        Unit::Fraction,
        total,
        EVALUATOR,
    ));
    record.scores.push(record::score(
        "chance_adjusted_accuracy",
        adjusted,
        Unit::Fraction,
        total,
        EVALUATOR,
    ));
    record
}

/// Returns the most frequent reason and its count. A tie goes to the reason found first.
fn commonest(decided: &[(ItemOutcome, ItemDetails)]) -> Option<(&str, u64)> {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for reason in decided
        .iter()
        .filter_map(|(_, details)| details.reason.as_deref())
    {
        match counts.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count)
}
