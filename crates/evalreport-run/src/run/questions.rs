//! Runs of questions: each question is asked once and written to the journal when decided.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{AgentFailure, AgentPrompt, FailureOutlook, ReplyMeasurements, ServedBy};
use crate::domain::{
    ItemDetails, ItemKind, ItemOutcome, ItemStatus, MAX_FAILED_STARTS, MAX_REFUSALS, Repeated, Run,
    RunStatus, Unit,
};
use crate::evaluate::{AnswerOutcome, parse_answer, score_answer};
use crate::grade::{GradeError, Grader, ReplyGrade};
use crate::results::{
    Batch, PlannedArm, PlannedRun, ReplacementRun, RerunScope, RunJournal, StoreError,
};
use crate::stats;
use crate::suite::{ChoiceQuestion, question_prompt, shuffle_choices};

use super::purse::BatchBudget;
use super::record;
use super::turns::{QuestionTurn, Turns};
use super::{PlanContext, QuestionWork, RunEnd, RunEvent, item_seed};

/// Said once if `--max-cost` cannot do what it promises.
pub const UNPRICED_WARNING: &str = "the agent told no cost, so --max-cost does not count it; `prices` in the configuration compute one from tokens";
/// Evaluator name of the outcomes.
const EVALUATOR_NAME: &str = "answers";
/// Reason of a free answer that was read and is wrong.
const WRONG_ANSWER: &str = "wrong_answer";
/// Maximum time until a decided outcome is safe from a power cut.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Number of characters kept from the end of a reply, which holds the answer.
const REPLY_CHARACTERS: usize = 600;

/// The result for one question of one of the runs that are asked in turns.
struct DecidedTurn {
    turn: QuestionTurn,
    /// `None` if the run was stopped meanwhile.
    outcome: Option<AnsweredQuestion>,
}

struct AnsweredQuestion {
    outcome: ItemOutcome,
    details: ItemDetails,
    transcript: Vec<Value>,
    served: ServedBy,
    /// Whether the agent's program did not start.
    is_unstarted: bool,
    /// Whether the service refused the key or the model, although it had answered before.
    is_refused: bool,
}

/// The result of asking one question.
enum AskResult {
    Decided(Box<AnsweredQuestion>),
    Stopped,
    Refused(String),
}

/// Whether the agent of a run can be used at all.
#[derive(Default)]
struct AgentReachability {
    /// Whether it has ever answered.
    has_answered: AtomicBool,
    /// Number of its starts that failed, in a row.
    failed_starts: AtomicU32,
    /// Number of its prompts that were refused, in a row.
    refusals: AtomicU32,
    /// Why it is not asked any more.
    refusal: OnceLock<String>,
}

impl AgentReachability {
    fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }
}

/// Counts one more of a kind in a row, or begins anew.
fn count_in_a_row(counter: &AtomicU32, is_another: bool) -> u32 {
    if is_another {
        counter.fetch_add(1, Ordering::Relaxed) + 1
    } else {
        counter.store(0, Ordering::Relaxed);
        0
    }
}

/// A run of questions in progress.
pub struct QuestionRun<'a> {
    batch: &'a Batch,
    run: &'a PlannedRun,
    arm: &'a PlannedArm,
    work: &'a QuestionWork,
    context: &'a PlanContext<'a>,
    journal: RunJournal,
    reachable: AgentReachability,
    /// What produced the answers, according to the first answers of this process.
    served: ServedBy,
}

/// Why a run holds only some of its suite's questions, in words.
pub struct PartialReason(pub String);

/// Copies the answers of the run whose place a run takes, with their messages, unless they are there. What ended in an outage is left out: it is
/// asked again, and stays on record in the first run.
fn copy_earlier_answers(
    journal: &mut RunJournal,
    batch: &Batch,
    run: &PlannedRun,
    context: &PlanContext<'_>,
) -> Result<(), StoreError> {
    let Some(ReplacementRun { of, .. }) = batch
        .replacement_for(&run.id)
        .filter(|again| again.how == RerunScope::Items)
    else {
        return Ok(());
    };
    let there: BTreeSet<String> = journal
        .read_outcomes()?
        .into_iter()
        .map(|(outcome, _)| outcome.item)
        .collect();
    let messages = context.store.read_transcript(of)?;
    let is_taken = |outcome: &ItemOutcome| {
        outcome.evaluator == EVALUATOR_NAME
            && outcome.status != ItemStatus::Infra
            && !there.contains(&outcome.item)
    };
    for (outcome, details) in context
        .store
        .read_items_so_far(of)?
        .into_iter()
        .filter(|(outcome, _)| is_taken(outcome))
    {
        let own: Vec<Value> = messages
            .iter()
            .filter(|line| line.item.as_ref() == Some(&outcome.item))
            .map(|line| line.entry.clone())
            .collect();
        journal.append_transcript(Some(&outcome.item), &own)?;
        journal.append_outcome(
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
pub enum Interruption {
    Stopped,
    /// The purse is empty.
    Spent,
    /// The agent of the run at this place cannot be used, for this reason.
    Refused(usize, String),
}

/// Asks the questions at these places that are not decided yet, one after the other, each of all runs in turns: see [`Turns`]. So what the
/// machine or a service does meanwhile concerns all arms alike.
pub fn ask_in_turns(
    asking: &mut [&mut QuestionRun<'_>],
    places: &[usize],
    context: &PlanContext<'_>,
) -> Result<Option<Interruption>, StoreError> {
    let mut open: Vec<BTreeSet<usize>> = Vec::with_capacity(asking.len());
    for asking in asking.iter() {
        let known: BTreeSet<String> = asking
            .decided_items()?
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
    let refused = |(place, asking): (usize, &&mut QuestionRun<'_>)| {
        Some((place, asking.reachable.refusal.get()?.clone()))
    };
    if whole {
        return Ok(None);
    }
    for asking in asking.iter() {
        asking.journal.sync()?;
    }
    let refused = asking.iter().enumerate().find_map(refused);
    let is_spent = context.purse.is_some_and(BatchBudget::is_empty) && !context.stop.is_stopped();
    let without = if is_spent {
        Interruption::Spent
    } else {
        Interruption::Stopped
    };
    Ok(Some(refused.map_or(without, |(place, reason)| {
        Interruption::Refused(place, reason)
    })))
}

impl<'a> QuestionRun<'a> {
    /// Opens the run's journal, which may hold outcomes of an interrupted process.
    pub fn begin_run(
        batch: &'a Batch,
        run: &'a PlannedRun,
        arm: &'a PlannedArm,
        work: &'a QuestionWork,
        context: &'a PlanContext<'a>,
    ) -> Result<Self, StoreError> {
        let mut journal = context.store.open_journal(&run.id)?;
        copy_earlier_answers(&mut journal, batch, run, context)?;
        let decided = journal.read_outcomes()?;
        let has_answered = decided
            .iter()
            .any(|(outcome, _)| matches!(outcome.status, ItemStatus::Pass | ItemStatus::Fail));
        if !decided.is_empty() {
            (context.events)(&RunEvent::Resumed {
                run,
                items: decided.len(),
            });
        }
        let reachable = AgentReachability {
            has_answered: AtomicBool::new(has_answered),
            ..AgentReachability::default()
        };
        let mut asking = Self {
            batch,
            run,
            arm,
            work,
            context,
            journal,
            reachable,
            served: ServedBy::default(),
        };
        let known = decided
            .into_iter()
            .map(|(outcome, _)| outcome.item)
            .collect();
        asking.journal.retain_transcript_of(&known)?;
        Ok(asking)
    }

    /// Returns the outcomes so far.
    pub fn decided_items(&self) -> Result<Vec<(ItemOutcome, ItemDetails)>, StoreError> {
        self.journal.read_outcomes()
    }

    /// Commits the run. With a portion, it holds only some questions, and so has no rate.
    pub fn commit_run(mut self, portion: Option<&PartialReason>) -> Result<RunEnd, StoreError> {
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
        let decided = self.decided_items()?;
        let begun = record::new_record(self.batch, self.run, self.arm, self.context);
        let mut record = match portion {
            None => add_totals(begun, &decided, questions),
            Some(PartialReason(why)) => {
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
            self.work.agent.reports_repeats().then(|| Repeated {
                waited_seconds: Some(0.0),
                ..Repeated::default()
            })
        };
        record::add_reported(&mut record, self.served, repeated.or_else(none));
        if let Some(resources) = &mut record.resources {
            resources.time_limit = self
                .work
                .agent
                .time_limit(&self.work.budget)
                .map(|limit| limit.as_secs_f64());
        }
        self.context.store.commit_run(&record, &self.journal)?;
        Ok(RunEnd::Whole(Box::new(record)))
    }
}

/// What the workers know of one run.
struct WorkerContext<'a> {
    run: &'a PlannedRun,
    work: &'a QuestionWork,
    shuffle: Option<u64>,
    reachable: &'a AgentReachability,
}

/// Returns whether every question of the turns was decided.
fn ask_all(
    asking: &mut [&mut QuestionRun<'_>],
    turns: &Turns,
    jobs: usize,
    context: &PlanContext<'_>,
) -> Result<bool, StoreError> {
    let (mut lanes, mut writers) = (Vec::new(), Vec::new());
    for asking in asking.iter_mut() {
        let QuestionRun {
            batch,
            run,
            work,
            journal,
            reachable,
            served,
            ..
        } = &mut **asking;
        lanes.push(WorkerContext {
            run,
            work,
            shuffle: batch.shuffle.then_some(run.seed),
            reachable,
        });
        writers.push(RunWriter {
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
    let (sender, receiver) = mpsc::channel::<DecidedTurn>();
    std::thread::scope(|scope| {
        for job in 0..jobs {
            let sender = sender.clone();
            let started = std::thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(turn) = turns.next_turn(&is_over, context.purse) {
                    let lane = &lanes[turn.run];
                    let asked = ask_question(&lane.work.spec.questions[turn.place], lane, context);
                    settle_cost(&asked, lane.run, context);
                    turns.finish_turn(turn);
                    let outcome = match asked {
                        AskResult::Decided(decided) => Some(*decided),
                        AskResult::Stopped => None,
                        AskResult::Refused(reason) => {
                            // Only the first refusal is reported.
                            let _ = lane.reachable.refusal.set(reason);
                            break;
                        }
                    };
                    if sender.send(DecidedTurn { turn, outcome }).is_err() {
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
        // An agent that failed to start or was refused once or twice was asked everything.
        if count
            + writers
                .iter()
                .map(|writer| writer.held.len())
                .sum::<usize>()
            == turns.len()
        {
            for writer in &mut writers {
                count += writer.release_held(ItemStatus::Infra, context)?;
                writer.journal.sync()?;
            }
        }
        Ok(count == turns.len())
    })
}

/// Takes the cost of an attempt from the purse.
fn settle_cost(asked: &AskResult, run: &PlannedRun, context: &PlanContext<'_>) {
    let Some(purse) = context.purse else { return };
    match asked {
        // An outage costs nothing, unless it says so.
        AskResult::Decided(answered)
            if answered.outcome.cost_usd.is_some() || answered.outcome.status.is_counted() =>
        {
            if purse.settle_attempt(answered.outcome.cost_usd) {
                (context.events)(&RunEvent::Warning {
                    run,
                    what: UNPRICED_WARNING,
                });
            }
        }
        AskResult::Decided(_) | AskResult::Stopped | AskResult::Refused(_) => {
            purse.release_attempt();
        }
    }
}

/// What the writing thread holds of one run.
struct RunWriter<'a> {
    journal: &'a mut RunJournal,
    served: &'a mut ServedBy,
    run: &'a PlannedRun,
    work: &'a QuestionWork,
    reachable: &'a AgentReachability,
    /// Failed starts before the first answer, and refusals. Only what comes after them tells what they were: if the agent is asked no more,
    /// none of them is an outcome.
    held: Vec<(usize, AnsweredQuestion)>,
    is_started: bool,
}

impl RunWriter<'_> {
    /// Takes a result. Returns the number of outcomes that it wrote.
    fn accept_result(
        &mut self,
        place: usize,
        answered: AnsweredQuestion,
        context: &PlanContext<'_>,
    ) -> Result<usize, StoreError> {
        if answered.is_refused || (!self.is_started && answered.is_unstarted) {
            self.held.push((place, answered));
            return Ok(0);
        }
        let mut count = 0;
        self.is_started |= self.reachable.has_answered() && !answered.is_unstarted;
        if self.is_started {
            // A program that answers can be started: it ended so by itself.
            count = self.release_held(ItemStatus::Error, context)?;
        }
        self.write_result(place, answered, context)?;
        Ok(count + 1)
    }

    /// Writes what was held, the failed starts with this status, and returns its number.
    fn release_held(
        &mut self,
        failed_start: ItemStatus,
        context: &PlanContext<'_>,
    ) -> Result<usize, StoreError> {
        let held = std::mem::take(&mut self.held);
        let count = held.len();
        for (place, mut answered) in held {
            if answered.is_unstarted {
                answered.outcome.status = failed_start;
            }
            self.write_result(place, answered, context)?;
        }
        Ok(count)
    }

    fn write_result(
        &mut self,
        place: usize,
        answered: AnsweredQuestion,
        context: &PlanContext<'_>,
    ) -> Result<(), StoreError> {
        let AnsweredQuestion {
            outcome,
            details,
            transcript,
            served:
                ServedBy {
                    version,
                    provider,
                    region,
                },
            ..
        } = answered;
        let first = std::mem::take(self.served);
        *self.served = ServedBy {
            version: first.version.or(version),
            provider: first.provider.or(provider),
            region: first.region.or(region),
        };
        self.journal
            .append_transcript(Some(&outcome.item), &transcript)?;
        self.journal.append_outcome(&outcome, &details)?;
        let item = &self.work.spec.questions[place].id;
        let reason = details.reason.as_deref();
        (context.events)(&RunEvent::Item {
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
    writers: &mut [RunWriter<'_>],
    receiver: &mpsc::Receiver<DecidedTurn>,
    context: &PlanContext<'_>,
) -> Result<usize, StoreError> {
    let (mut count, mut unsynced) = (0, None::<Instant>);
    loop {
        let wait = unsynced.map_or(SYNC_EVERY, |since: Instant| {
            SYNC_EVERY.saturating_sub(since.elapsed())
        });
        match receiver.recv_timeout(wait) {
            Ok(DecidedTurn {
                turn,
                outcome: Some(answered),
            }) => {
                count += writers[turn.run].accept_result(turn.place, answered, context)?;
                unsynced.get_or_insert_with(Instant::now);
            }
            Ok(DecidedTurn { outcome: None, .. }) | Err(mpsc::RecvTimeoutError::Timeout) => {}
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

fn ask_question(
    question: &ChoiceQuestion,
    lane: &WorkerContext<'_>,
    context: &PlanContext<'_>,
) -> AskResult {
    let WorkerContext {
        run,
        work,
        shuffle,
        reachable,
    } = *lane;
    let shown = shuffle_choices(question, shuffle);
    let instructions = work.agent.instructions();
    let text = question_prompt(&shown, instructions.prompt.as_deref());
    let seed = item_seed(run.seed, &question.id);
    let prompt = AgentPrompt {
        text: &text,
        system: instructions.system.as_deref(),
        item: Some(&question.id),
        seed,
        limits: work.budget.clone(),
        folder: None,
    };
    let asked = work.agent.answer_prompt(&prompt, context.stop);
    let outlook = asked.as_ref().err().map(|failure| failure.outlook);
    let is_unstarted = outlook == Some(FailureOutlook::Unstarted);
    let is_refused = outlook == Some(FailureOutlook::Doubtful);
    let failed_starts = count_in_a_row(&reachable.failed_starts, is_unstarted);
    let refusals = count_in_a_row(&reachable.refusals, is_refused);
    let (status, mut details, measured) = match asked {
        Ok(reply) => {
            reachable.has_answered.store(true, Ordering::Relaxed);
            let (status, details) = judge_reply(question, &reply.text);
            (status, details, reply.measured)
        }
        Err(AgentFailure {
            outlook: FailureOutlook::Hopeless,
            reason,
            ..
        }) => return AskResult::Refused(reason),
        Err(AgentFailure {
            outlook: FailureOutlook::Doubtful,
            reason,
            ..
        }) if !reachable.has_answered() => return AskResult::Refused(reason),
        Err(AgentFailure { reason, .. })
            if failed_starts >= MAX_FAILED_STARTS && !reachable.has_answered() =>
        {
            return AskResult::Refused(format!("{failed_starts} starts in a row failed: {reason}"));
        }
        Err(AgentFailure { reason, .. }) if refusals >= MAX_REFUSALS => {
            return AskResult::Refused(format!(
                "{refusals} prompts in a row were refused: {reason}"
            ));
        }
        Err(AgentFailure {
            kind,
            reason,
            measured,
            ..
        }) => {
            let Some(status) = kind.item_status() else {
                return AskResult::Stopped;
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
    let ReplyMeasurements {
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
    details.expected = question.expected();
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
        evaluator: EVALUATOR_NAME.to_owned(),
        revision: 0,
        duration_seconds: Some(duration.as_secs_f64()),
        cost_usd: cost.usd,
        input_tokens: usage.input_total(),
        output_tokens: usage.output,
    };
    AskResult::Decided(Box::new(AnsweredQuestion {
        outcome,
        details,
        transcript,
        served,
        is_unstarted,
        is_refused,
    }))
}

/// Grades a free answer. A reply that could not be read does not pass, and its reason is another one than that of a wrong answer.
fn grade_reply(grader: &Grader, text: &str) -> (ItemStatus, ItemDetails) {
    let graded = grader.grade(text);
    let reason = match graded.grade {
        ReplyGrade::Pass => None,
        ReplyGrade::Fail => Some(WRONG_ANSWER),
        ReplyGrade::Error(GradeError::Missing) => Some("missing_answer"),
        ReplyGrade::Error(GradeError::Unparsable) => Some("unparsable_answer"),
        ReplyGrade::Error(GradeError::Ambiguous) => Some("ambiguous_answer"),
        ReplyGrade::Error(GradeError::Unit) => Some("unknown_unit"),
    };
    let details = ItemDetails {
        reason: reason.map(str::to_owned),
        reply: Some(keep_ending(text)),
        answer: graded.answer.map(|answer| keep_beginning(&answer)),
        ..ItemDetails::default()
    };
    let status = if reason.is_none() {
        ItemStatus::Pass
    } else {
        ItemStatus::Fail
    };
    (status, details)
}

/// Checks a reply against the answer format and the question.
fn judge_reply(question: &ChoiceQuestion, text: &str) -> (ItemStatus, ItemDetails) {
    if let Some(grader) = &question.grader {
        return grade_reply(grader, text);
    }
    let mut details = ItemDetails {
        reply: Some(keep_ending(text)),
        ..ItemDetails::default()
    };
    let status = match parse_answer(text) {
        Ok(answer) => {
            // As the question writes it, if it is one of the choices.
            let shown = question
                .find_choice(&answer)
                .map_or(answer.as_str(), |choice| &question.answers[choice]);
            details.answer = Some(keep_beginning(shown));
            match score_answer(question, &answer) {
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

fn keep_beginning(text: &str) -> String {
    match text.char_indices().nth(REPLY_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn keep_ending(text: &str) -> String {
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

fn add_totals(
    mut record: Run,
    decided: &[(ItemOutcome, ItemDetails)],
    questions: &[ChoiceQuestion],
) -> Run {
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
        record.error = commonest_reason(decided).map(|(reason, _)| reason.to_owned());
        return record;
    }
    if total > 0
        && counted
            .iter()
            .all(|outcome| outcome.status == ItemStatus::Error)
    {
        // An agent that fails on every question was not measured, even though each outcome counts as not passed.
        record.status = RunStatus::Failed;
        record.error = commonest_reason(decided).map(|(reason, count)| match (count, total) {
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
        .map(ChoiceQuestion::chance_level)
        .collect();
    let chance = chances.iter().sum::<f64>() / chances.len() as f64;
    let adjusted =
        accuracy.and_then(|accuracy| stats::chance_adjusted_accuracy(accuracy, chance).ok());
    record.scores.push(record::score_record(
        "accuracy",
        accuracy,
        Unit::Fraction,
        total,
        EVALUATOR_NAME,
    ));
    record.scores.push(record::score_record(
        "chance_adjusted_accuracy",
        adjusted,
        Unit::Fraction,
        total,
        EVALUATOR_NAME,
    ));
    record
}

/// Returns the most frequent reason and its count. A tie goes to the reason found first.
fn commonest_reason(decided: &[(ItemOutcome, ItemDetails)]) -> Option<(&str, u64)> {
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
