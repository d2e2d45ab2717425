//! cogni: one file per run, with the tasks of a repository. Each task is a list of questions that agents answered.
//!
//! The writer drops zeros, so a missing count next to a total is zero. Tasks do not name their agent: if a run has several agents, approach
//! and model are unknown.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{Git, ItemDetails, ItemKind, ItemStatus, Unit};

use super::super::cell::Refused;
use super::super::rows::Stop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{Lenient, List, amount, count, filled, number, text};
use super::json_reader::read_object;
use super::peek::{Content, Peek};
use super::sink::{Handle, Sink};
use super::source::ForeignSource;
use super::times::Span;

const QUESTIONS: &str = "answers";
const TASKS: &str = "tasks";

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "cogni",
        title: "cogni",
        kind: ItemKind::Question,
        reads_names: false,
        version: 4,
    },
    claim,
    read,
);

fn claim(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has_all(&["run_id", "agents", "tasks"])
        && (peek.has("tasks[].task_id") || peek.has("summary.tasks_total"));
    (peek.content == Content::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    run_id: Value,
    repo: Value,
    agents: List<Agent>,
    started_at: Value,
    finished_at: Value,
    summary: Value,
}

const WANTED: [&str; 6] = [
    "run_id",
    "repo",
    "agents",
    "started_at",
    "finished_at",
    "summary",
];

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Agent {
    id: Value,
    provider: Value,
    model: Value,
    temperature: Value,
    max_steps: Value,
    tooling_version: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Task {
    #[serde(rename = "task_id")]
    id: Value,
    status: Value,
    failure_reason: Value,
    question_eval: Lenient<QuestionEval>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct QuestionEval {
    questions: List<Question>,
    summary: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Question {
    id: Value,
    #[serde(rename = "question")]
    asked: Value,
    correct_answers: Value,
    agent_answer: Value,
    correct: Value,
    parse_error: Value,
    run_error: Value,
    wall_time_seconds: Value,
    agent_steps: Value,
    tool_calls: Value,
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let Some(file) = source.files.first() else {
        return Ok(());
    };
    // The run's header may follow its tasks.
    let head: Head = read_object(
        file.open()?,
        &file.shown,
        &WANTED,
        "tasks",
        &mut |_: IgnoredAny| Ok(()),
    )?;
    let Some(run) = begin(&head, sink) else {
        return Ok(());
    };
    let mut counted = Counted::default();
    let mut place = 0;
    let _: BTreeMap<String, Value> = read_object(
        file.open()?,
        &file.shown,
        &[],
        "tasks",
        &mut |task: Lenient<Task>| {
            place += 1;
            match task.0 {
                Some(task) => counted.take(run, &format!("task {place}"), &task, sink),
                None => {
                    sink.refuse(
                        &format!("task {place}"),
                        Refused::because("the task is no object"),
                    );
                    Ok(())
                }
            }
        },
    )?;
    counted.end(run, &head.summary, sink);
    Ok(())
}

fn begin(head: &Head, sink: &mut Sink<'_>) -> Option<Handle> {
    let agents: Vec<&Agent> = head.agents.iter().collect();
    let agent = match agents.as_slice() {
        [agent] => Some(*agent),
        _ => {
            sink.quirk("tasks do not name which of several agents answered: approach and model are unknown; name them with --set");
            None
        }
    };
    let of_repository = |key: &str| head.repo.get(key).and_then(filled);
    let of_agent = |of: fn(&Agent) -> &Value| agent.and_then(|agent| filled(of(agent)));
    let suite = of_repository("name").unwrap_or_else(|| "cogni".to_owned());
    let (id, model) = (
        of_agent(|agent| &agent.id).unwrap_or_default(),
        of_agent(|agent| &agent.model).unwrap_or_default(),
    );
    let run = sink.begin_run_with(text(&head.run_id).as_deref(), &[], [&suite, &id, &model])?;
    let record = sink.run(run);
    let mut span = Span::default();
    span.take(&head.started_at, &head.finished_at);
    span.tell(record);
    record.git = of_repository("commit").map(|rev| Git {
        rev,
        branch: of_repository("branch"),
        dirty: head
            .repo
            .get("dirty")
            .and_then(Value::as_bool)
            .unwrap_or_default(),
    });
    record.agent = of_agent(|agent| &agent.id);
    let settings = [
        ("provider", of_agent(|agent| &agent.provider)),
        ("temperature", of_agent(|agent| &agent.temperature)),
        ("max_steps", of_agent(|agent| &agent.max_steps)),
        ("tooling_version", of_agent(|agent| &agent.tooling_version)),
    ];
    record.tags.extend(
        settings
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?))),
    );
    if let Some(tokens) = head
        .summary
        .get("tokens_total")
        .and_then(count)
        .filter(|tokens| *tokens > 0)
    {
        record.total_tokens = Some(tokens);
        record
            .tags
            .insert("tokens".to_owned(), "estimated".to_owned());
        sink.quirk("tokens are estimated from characters");
    }
    Some(run)
}

/// Totals of the tasks read so far.
#[derive(Default)]
struct Counted {
    tasks: u64,
    passed: u64,
    questions: u64,
    correct: u64,
}

impl Counted {
    fn take(
        &mut self,
        run: Handle,
        place: &str,
        task: &Task,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stop> {
        let id = text(&task.id).unwrap_or_default();
        let status = match text(&task.status).as_deref() {
            Some("pass") => ItemStatus::Pass,
            Some("fail") => ItemStatus::Fail,
            Some("error") => ItemStatus::Error,
            Some(_) | None => ItemStatus::NotEvaluated,
        };
        self.tasks += 1;
        self.passed += u64::from(status == ItemStatus::Pass);
        let evaluated = task.question_eval.0.as_ref();
        let questions: Vec<&Question> = evaluated
            .into_iter()
            .flat_map(|evaluated| evaluated.questions.iter())
            .collect();
        let correct = questions
            .iter()
            .filter(|question| question.correct == Value::Bool(true))
            .count() as u64;
        if let Some(evaluated) = evaluated {
            state_task(
                run,
                &id,
                &evaluated.summary,
                correct,
                questions.len() as u64,
                sink,
            );
        }
        self.questions += questions.len() as u64;
        self.correct += correct;
        let mut outcome = sink.outcome(run, &id, status);
        TASKS.clone_into(&mut outcome.evaluator);
        // If a task has questions, they are the items and the task only sums them up.
        outcome.kind = if questions.is_empty() {
            ItemKind::Question
        } else {
            ItemKind::Check
        };
        let reason = filled(&task.failure_reason);
        sink.item(
            run,
            place,
            outcome,
            ItemDetails {
                reason,
                ..ItemDetails::default()
            },
        )?;
        for (index, question) in questions.into_iter().enumerate() {
            take_question(run, &id, index + 1, question, sink)?;
        }
        Ok(())
    }

    fn end(&self, run: Handle, summary: &Value, sink: &mut Sink<'_>) {
        let stated = |key: &str| summary.get(key).and_then(number);
        // The writer drops zeros.
        let or_zero = |key: &str, of: &str| {
            stated(key).or_else(|| stated(of).filter(|of| *of > 0.0).map(|_| 0.0))
        };
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let figures = [
            (
                "tasks_total",
                stated("tasks_total"),
                Unit::Count,
                Some(self.tasks as f64),
            ),
            (
                "tasks_passed",
                or_zero("tasks_passed", "tasks_total"),
                Unit::Count,
                Some(self.passed as f64),
            ),
            (
                "pass_rate",
                or_zero("pass_rate", "tasks_total"),
                Unit::Fraction,
                share(self.passed, self.tasks),
            ),
            (
                "question_accuracy",
                stated("question_accuracy"),
                Unit::Fraction,
                share(self.correct, self.questions),
            ),
        ];
        for (name, value, unit, recomputed) in figures {
            if let Some(value) = value {
                sink.stated(run, name, value, unit, recomputed, None);
            }
        }
    }
}

/// Checks a task's published accuracy. If it is missing next to a number of questions, it is zero.
fn state_task(
    run: Handle,
    task: &str,
    summary: &Value,
    correct: u64,
    questions: u64,
    sink: &mut Sink<'_>,
) {
    let total = summary
        .get("questions_total")
        .and_then(count)
        .filter(|total| *total > 0);
    let stated = summary.get("accuracy").and_then(number);
    if stated.is_none() && total.is_some() {
        sink.quirk("a missing accuracy is read as 0");
    }
    if let Some(stated) = stated.or(total.map(|_| 0.0)) {
        let recomputed = (questions > 0).then(|| correct as f64 / questions as f64);
        sink.stated(
            run,
            &format!("accuracy/{task}"),
            stated,
            Unit::Fraction,
            recomputed,
            None,
        );
    }
}

fn take_question(
    run: Handle,
    task: &str,
    number: usize,
    question: &Question,
    sink: &mut Sink<'_>,
) -> Result<(), Stop> {
    let id = filled(&question.id).unwrap_or_else(|| format!("question {number}"));
    let (run_error, parse_error) = (filled(&question.run_error), filled(&question.parse_error));
    let status = if question.correct == Value::Bool(true) {
        ItemStatus::Pass
    } else if run_error.is_some() {
        ItemStatus::Error
    } else {
        // An answer that cannot be parsed is wrong.
        ItemStatus::Fail
    };
    let item = format!("{task}/{id}");
    let mut outcome = sink.outcome(run, &item, status);
    QUESTIONS.clone_into(&mut outcome.evaluator);
    outcome.category = Some(task.to_owned());
    outcome.duration_seconds = amount(&question.wall_time_seconds);
    let asked = filled(&question.asked);
    let details = ItemDetails {
        reason: run_error.or(parse_error),
        answer: filled(&question.agent_answer),
        expected: answers(&question.correct_answers),
        steps: count(&question.agent_steps),
        tools: question
            .tool_calls
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, n)| Some((name.clone(), count(n)?)))
            .collect(),
        item_hash: asked
            .as_deref()
            .map(|asked| hex_digest(&[asked.trim().as_bytes()], false)[..32].to_owned()),
        question: asked,
        ..ItemDetails::default()
    };
    sink.item(run, &item, outcome, details)
}

fn answers(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().filter_map(text).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            text(value).into_iter().collect()
        }
    }
}
