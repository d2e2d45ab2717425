//! One run of questions: each is asked once and written to the journal when decided.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Failure, Measured, Outlook, Prompt, Served};
use crate::domain::{ItemDetails, ItemKind, ItemOutcome, ItemStatus, Repeated, Run, RunStatus, Unit};
use crate::evaluate::{AnswerOutcome, parse_answer, score};
use crate::results::{Batch, Journal, PlannedArm, PlannedRun, StoreError};
use crate::stats;
use crate::suite::{Question, normalized, question_prompt, shuffled};

use super::record;
use super::{Context, Ended, Event, QuestionWork, item_seed};

/// Evaluator name of the outcomes.
const EVALUATOR: &str = "answers";
/// Maximum time until a decided outcome is safe from a power cut.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Number of characters kept from the end of a reply, which holds the answer.
const REPLY_CHARACTERS: usize = 600;

/// The result for one question.
struct Decided {
    place: usize,
    /// `None` if the run was stopped meanwhile.
    outcome: Option<Answered>,
}

struct Answered {
    outcome: ItemOutcome,
    details: ItemDetails,
    transcript: Vec<Value>,
    served: Served,
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
    /// Why it is not asked any more.
    refusal: OnceLock<String>,
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

/// Asks the questions that the journal does not hold yet.
pub fn run(batch: &Batch, run: &PlannedRun, arm: &PlannedArm, work: &QuestionWork, context: &Context<'_>) -> Result<Ended, StoreError> {
    let mut asking = Asking::begin(batch, run, arm, work, context)?;
    let all: Vec<usize> = (0..work.spec.questions.len()).collect();
    match asking.ask(&all)? {
        Some(ended) => Ok(ended),
        None => asking.finish(None),
    }
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
        let journal = context.store.journal(&run.id)?;
        let decided = journal.decided()?;
        let has_answered = decided.iter().any(|(outcome, _)| matches!(outcome.status, ItemStatus::Pass | ItemStatus::Fail));
        if !decided.is_empty() {
            (context.events)(&Event::Resumed { run, items: decided.len() });
        }
        let reachable = Reachable { has_answered: AtomicBool::new(has_answered), ..Reachable::default() };
        let mut asking = Self { batch, run, arm, work, context, journal, reachable, served: Served::default() };
        let known = decided.into_iter().map(|(outcome, _)| outcome.item).collect();
        asking.journal.keep_transcript_of(&known)?;
        Ok(asking)
    }

    /// Asks those of the questions at these places that are not decided yet. Returns how the run ended if some stay undecided.
    pub fn ask(&mut self, places: &[usize]) -> Result<Option<Ended>, StoreError> {
        let questions = &self.work.spec.questions;
        let known: BTreeSet<String> = self.decided()?.into_iter().map(|(outcome, _)| outcome.item).collect();
        let open: Vec<usize> = places.iter().copied().filter(|place| !known.contains(&questions[*place].id)).collect();
        let shuffle = self.batch.shuffle.then_some(self.run.seed);
        let asked = ask_all(&mut self.journal, &open, self.run, self.work, shuffle, &self.reachable, self.context)?;
        let Some(Served { version, provider, region }) = asked else {
            self.journal.sync()?;
            return Ok(Some(self.reachable.refusal.get().map_or(Ended::Stopped, |reason| Ended::Refused(reason.clone()))));
        };
        let first = std::mem::take(&mut self.served);
        self.served = Served { version: first.version.or(version), provider: first.provider.or(provider), region: first.region.or(region) };
        Ok(None)
    }

    /// Returns the outcomes so far.
    pub fn decided(&self) -> Result<Vec<(ItemOutcome, ItemDetails)>, StoreError> {
        self.journal.decided()
    }

    /// Commits the run. With a portion, it holds only some questions, and so has no rate.
    pub fn finish(mut self, portion: Option<&Portion>) -> Result<Ended, StoreError> {
        let questions = &self.work.spec.questions;
        let places: BTreeMap<&str, usize> = questions.iter().enumerate().map(|(place, question)| (question.id.as_str(), place)).collect();
        self.journal.sort_by_key(|outcome| places.get(outcome.item.as_str()).copied().unwrap_or(usize::MAX))?;
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
        let reported: BTreeSet<&str> = decided.iter().filter_map(|(_, details)| details.model.as_deref()).collect();
        record::set_model(&mut record, self.work.agent.model.as_deref(), &reported);
        let repeated = decided.iter().filter_map(|(_, details)| details.repeated).reduce(|sum, part| sum.plus(&part));
        let none = || self.work.agent.tells_repeats().then(|| Repeated { waited_seconds: Some(0.0), ..Repeated::default() });
        record::add_told(&mut record, self.served, repeated.or_else(none));
        if let Some(resources) = &mut record.resources {
            resources.time_limit = self.work.agent.time_limit(&self.work.budget).map(|limit| limit.as_secs_f64());
        }
        self.context.store.commit(&record, &self.journal)?;
        Ok(Ended::Whole(Box::new(record)))
    }
}

/// Returns what produced the answers, according to the first answers, or `None` if some questions stayed undecided.
fn ask_all(
    journal: &mut Journal,
    open: &[usize],
    run: &PlannedRun,
    work: &QuestionWork,
    shuffle: Option<u64>,
    reachable: &Reachable,
    context: &Context<'_>,
) -> Result<Option<Served>, StoreError> {
    // The task's number is the default if the command gives none, and otherwise the maximum.
    let jobs = match (context.jobs, work.concurrency) {
        (None, wanted) => wanted.unwrap_or(1),
        (Some(jobs), most) => jobs.min(most.unwrap_or(jobs)),
    };
    let jobs = jobs.clamp(1, open.len().max(1));
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel::<Decided>();
    std::thread::scope(|scope| {
        for job in 0..jobs {
            let sender = sender.clone();
            let (next, failed) = (&next, &failed);
            let started = std::thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(place) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if context.stop.is_stopped() || failed.load(Ordering::Relaxed) || reachable.refusal.get().is_some() {
                        break;
                    }
                    let outcome = match ask(&work.spec.questions[*place], run, work, shuffle, reachable, context) {
                        Asked::Decided(decided) => Some(*decided),
                        Asked::Stopped => None,
                        Asked::Refused(reason) => {
                            // Only the first refusal is reported.
                            let _ = reachable.refusal.set(reason);
                            break;
                        }
                    };
                    if sender.send(Decided { place: *place, outcome }).is_err() {
                        break;
                    }
                }
            });
            match started {
                Err(source) if job == 0 => {
                    return Err(StoreError::Io { action: "cannot start a thread for", path: context.store.run_dir(&run.id), source });
                }
                // Fewer workers than wanted are enough.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        drop(sender);
        let written = write_all(journal, &receiver, run, work, context);
        if written.is_err() {
            // The store cannot be written, so current questions are stopped and no more are asked.
            failed.store(true, Ordering::Relaxed);
            context.stop.stop();
        }
        written.map(|(count, served)| (count == open.len()).then_some(served))
    })
}

/// Writes results to the journal. Returns how many were decided, and what produced the answers.
fn write_all(
    journal: &mut Journal,
    receiver: &mpsc::Receiver<Decided>,
    run: &PlannedRun,
    work: &QuestionWork,
    context: &Context<'_>,
) -> Result<(usize, Served), StoreError> {
    let (mut count, mut unsynced) = (0, None::<Instant>);
    let mut first = Served::default();
    loop {
        let wait = unsynced.map_or(SYNC_EVERY, |since: Instant| SYNC_EVERY.saturating_sub(since.elapsed()));
        match receiver.recv_timeout(wait) {
            Ok(Decided { place, outcome: Some(Answered { outcome, details, transcript, served }) }) => {
                first = Served {
                    version: first.version.or(served.version),
                    provider: first.provider.or(served.provider),
                    region: first.region.or(served.region),
                };
                journal.append_transcript(Some(&outcome.item), &transcript)?;
                journal.append(&outcome, &details)?;
                unsynced.get_or_insert_with(Instant::now);
                count += 1;
                let item = &work.spec.questions[place].id;
                let reason = details.reason.as_deref();
                (context.events)(&Event::Item { run, item, status: outcome.status, reason, cost_usd: outcome.cost_usd });
            }
            Ok(Decided { outcome: None, .. }) | Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok((count, first)),
        }
        if unsynced.is_some_and(|since| since.elapsed() >= SYNC_EVERY) {
            journal.sync()?;
            unsynced = None;
        }
    }
}

fn ask(
    question: &Question,
    run: &PlannedRun,
    work: &QuestionWork,
    shuffle: Option<u64>,
    reachable: &Reachable,
    context: &Context<'_>,
) -> Asked {
    let shown = shuffled(question, shuffle);
    let text = question_prompt(&shown);
    let seed = item_seed(run.seed, &question.id);
    let prompt = Prompt { text: &text, system: None, item: Some(&question.id), seed, limits: work.budget.clone(), folder: None };
    let (status, mut details, measured) = match work.agent.ask(&prompt, context.stop) {
        Ok(reply) => {
            reachable.has_answered.store(true, Ordering::Relaxed);
            let (status, details) = judged(question, &reply.text);
            (status, details, reply.measured)
        }
        Err(Failure { outlook: Outlook::Hopeless, reason, .. }) => return Asked::Refused(reason),
        Err(Failure { outlook: Outlook::Doubtful, reason, .. }) if !reachable.has_answered.load(Ordering::Relaxed) => {
            return Asked::Refused(reason);
        }
        Err(Failure { kind, reason, measured, .. }) => {
            let Some(status) = kind.item_status() else { return Asked::Stopped };
            (status, ItemDetails { reason: Some(reason), ..ItemDetails::default() }, *measured)
        }
    };
    let Measured { usage, cost, steps, tools, duration, transcript, model, served, repeated, .. } = measured;
    details.expected = question.correct.iter().map(|place| question.answers[*place].clone()).collect();
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
    Asked::Decided(Box::new(Answered { outcome, details, transcript, served }))
}

/// Checks a reply against the answer format and the question.
fn judged(question: &Question, text: &str) -> (ItemStatus, ItemDetails) {
    let mut details = ItemDetails { reply: Some(ending(text)), ..ItemDetails::default() };
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
    let start = text.char_indices().rev().nth(REPLY_CHARACTERS - 1).map_or(0, |(start, _)| start);
    if start == 0 { text.to_owned() } else { format!("…{}", &text[start..]) }
}

fn summed(mut record: Run, decided: &[(ItemOutcome, ItemDetails)], questions: &[Question]) -> Run {
    record::add_items(&mut record, decided);
    let counted: Vec<&ItemOutcome> = decided.iter().map(|(outcome, _)| outcome).filter(|outcome| outcome.status.is_counted()).collect();
    let passed = counted.iter().filter(|outcome| outcome.status == ItemStatus::Pass).count() as u64;
    let total = counted.len() as u64;
    if total == 0 && !decided.is_empty() {
        // No question was answered: this says something about the service, not about the agent.
        record.status = RunStatus::Infra;
        record.error = commonest(decided).map(|(reason, _)| reason.to_owned());
        return record;
    }
    if total > 0 && counted.iter().all(|outcome| outcome.status == ItemStatus::Error) {
        // An agent that fails on every question was not measured, even though each outcome counts as not passed.
        record.status = RunStatus::Failed;
        record.error = commonest(decided).map(|(reason, count)| match (count, total) {
            (_, 1) => reason.to_owned(),
            (count, total) if count == total => format!("all {total} questions ended with the same error: {reason}"),
            (count, total) => format!("all {total} questions ended with an error; {count} times: {reason}"),
        });
    }
    record.shared_tests_passed = Some(passed);
    record.shared_tests_total = Some(total);
    let accuracy = (total > 0).then(|| passed as f64 / total as f64);
    let asked: BTreeSet<&str> = counted.iter().map(|outcome| outcome.item.as_str()).collect();
    let chances: Vec<f64> = questions.iter().filter(|question| asked.contains(question.id.as_str())).map(Question::chance_level).collect();
    let chance = chances.iter().sum::<f64>() / chances.len() as f64;
    let adjusted = accuracy.and_then(|accuracy| stats::chance_adjusted_accuracy(accuracy, chance).ok());
    record.scores.push(record::score("accuracy", accuracy, Unit::Fraction, total, EVALUATOR));
    record.scores.push(record::score("chance_adjusted_accuracy", adjusted, Unit::Fraction, total, EVALUATOR));
    record
}

/// Returns the most frequent reason and its count. A tie goes to the reason found first.
fn commonest(decided: &[(ItemOutcome, ItemDetails)]) -> Option<(&str, u64)> {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for reason in decided.iter().filter_map(|(_, details)| details.reason.as_deref()) {
        match counts.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count)
}
