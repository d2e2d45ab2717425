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
use super::super::rows::ReadStop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, ObjectList, to_amount, to_count, to_filled_text, to_number, to_text};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle};
use super::source::ForeignFileGroup;
use super::times::TimeSpan;

const QUESTION_EVALUATOR: &str = "answers";
const TASK_EVALUATOR: &str = "tasks";

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "cogni",
        title: "cogni",
        kind: ItemKind::Question,
        reads_names: false,
        version: 4,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has_all(&["run_id", "agents", "tasks"])
        && (peek.has("tasks[].task_id") || peek.has("summary.tasks_total"));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CogniHeader {
    run_id: Value,
    repo: Value,
    agents: ObjectList<CogniAgent>,
    started_at: Value,
    finished_at: Value,
    summary: Value,
}

const HEADER_KEYS: [&str; 6] = [
    "run_id",
    "repo",
    "agents",
    "started_at",
    "finished_at",
    "summary",
];

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct CogniAgent {
    id: Value,
    provider: Value,
    model: Value,
    temperature: Value,
    max_steps: Value,
    tooling_version: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CogniTask {
    #[serde(rename = "task_id")]
    id: Value,
    status: Value,
    failure_reason: Value,
    question_eval: Lenient<QuestionEval>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct QuestionEval {
    questions: ObjectList<CogniQuestion>,
    summary: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CogniQuestion {
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

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let Some(file) = source.files.first() else {
        return Ok(());
    };
    // The run's header may follow its tasks.
    let head: CogniHeader = read_object(
        file.open()?,
        &file.shown,
        &HEADER_KEYS,
        "tasks",
        &mut |_: IgnoredAny| Ok(()),
    )?;
    let Some(run) = begin_run(&head, sink) else {
        return Ok(());
    };
    let mut counted = CogniTotals::default();
    let mut place = 0;
    let _: BTreeMap<String, Value> = read_object(
        file.open()?,
        &file.shown,
        &[],
        "tasks",
        &mut |task: Lenient<CogniTask>| {
            place += 1;
            match task.0 {
                Some(task) => counted.add_task(run, &format!("task {place}"), &task, sink),
                None => {
                    sink.refuse_part(
                        &format!("task {place}"),
                        Refused::new("the task is no object"),
                    );
                    Ok(())
                }
            }
        },
    )?;
    counted.add_published_figures(run, &head.summary, sink);
    Ok(())
}

fn begin_run(head: &CogniHeader, sink: &mut ImportSink<'_>) -> Option<RunHandle> {
    let agents: Vec<&CogniAgent> = head.agents.iter().collect();
    let agent = match agents.as_slice() {
        [agent] => Some(*agent),
        _ => {
            sink.note_quirk("tasks do not name which of several agents answered: approach and model are unknown; name them with --set");
            None
        }
    };
    let of_repository = |key: &str| head.repo.get(key).and_then(to_filled_text);
    let of_agent =
        |of: fn(&CogniAgent) -> &Value| agent.and_then(|agent| to_filled_text(of(agent)));
    let suite = of_repository("name").unwrap_or_else(|| "cogni".to_owned());
    let (id, model) = (
        of_agent(|agent| &agent.id).unwrap_or_default(),
        of_agent(|agent| &agent.model).unwrap_or_default(),
    );
    let run = sink.begin_run_with(to_text(&head.run_id).as_deref(), &[], [&suite, &id, &model])?;
    let record = sink.run_mut(run);
    let mut span = TimeSpan::default();
    span.add_times(&head.started_at, &head.finished_at);
    span.set_run_times(record);
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
        .and_then(to_count)
        .filter(|tokens| *tokens > 0)
    {
        record.total_tokens = Some(tokens);
        record
            .tags
            .insert("tokens".to_owned(), "estimated".to_owned());
        sink.note_quirk("tokens are estimated from characters");
    }
    Some(run)
}

/// Totals of the tasks read so far.
#[derive(Default)]
struct CogniTotals {
    tasks: u64,
    passed: u64,
    questions: u64,
    correct: u64,
}

impl CogniTotals {
    fn add_task(
        &mut self,
        run: RunHandle,
        place: &str,
        task: &CogniTask,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let id = to_text(&task.id).unwrap_or_default();
        let status = match to_text(&task.status).as_deref() {
            Some("pass") => ItemStatus::Pass,
            Some("fail") => ItemStatus::Fail,
            Some("error") => ItemStatus::Error,
            Some(_) | None => ItemStatus::NotEvaluated,
        };
        self.tasks += 1;
        self.passed += u64::from(status == ItemStatus::Pass);
        let evaluated = task.question_eval.0.as_ref();
        let questions: Vec<&CogniQuestion> = evaluated
            .into_iter()
            .flat_map(|evaluated| evaluated.questions.iter())
            .collect();
        let correct = questions
            .iter()
            .filter(|question| question.correct == Value::Bool(true))
            .count() as u64;
        if let Some(evaluated) = evaluated {
            add_published_accuracy(
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
        let mut outcome = sink.new_outcome(run, &id, status);
        TASK_EVALUATOR.clone_into(&mut outcome.evaluator);
        // If a task has questions, they are the items and the task only sums them up.
        outcome.kind = if questions.is_empty() {
            ItemKind::Question
        } else {
            ItemKind::Check
        };
        let reason = to_filled_text(&task.failure_reason);
        sink.add_outcome(
            run,
            place,
            outcome,
            ItemDetails {
                reason,
                ..ItemDetails::default()
            },
        )?;
        for (index, question) in questions.into_iter().enumerate() {
            add_question(run, &id, index + 1, question, sink)?;
        }
        Ok(())
    }

    fn add_published_figures(&self, run: RunHandle, summary: &Value, sink: &mut ImportSink<'_>) {
        let stated = |key: &str| summary.get(key).and_then(to_number);
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
                sink.add_published_figure(run, name, value, unit, recomputed, None);
            }
        }
    }
}

/// Checks a task's published accuracy. If it is missing next to a number of questions, it is zero.
fn add_published_accuracy(
    run: RunHandle,
    task: &str,
    summary: &Value,
    correct: u64,
    questions: u64,
    sink: &mut ImportSink<'_>,
) {
    let total = summary
        .get("questions_total")
        .and_then(to_count)
        .filter(|total| *total > 0);
    let stated = summary.get("accuracy").and_then(to_number);
    if stated.is_none() && total.is_some() {
        sink.note_quirk("a missing accuracy is read as 0");
    }
    if let Some(stated) = stated.or(total.map(|_| 0.0)) {
        let recomputed = (questions > 0).then(|| correct as f64 / questions as f64);
        sink.add_published_figure(
            run,
            &format!("accuracy/{task}"),
            stated,
            Unit::Fraction,
            recomputed,
            None,
        );
    }
}

fn add_question(
    run: RunHandle,
    task: &str,
    number: usize,
    question: &CogniQuestion,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let id = to_filled_text(&question.id).unwrap_or_else(|| format!("question {number}"));
    let (run_error, parse_error) = (
        to_filled_text(&question.run_error),
        to_filled_text(&question.parse_error),
    );
    let status = if question.correct == Value::Bool(true) {
        ItemStatus::Pass
    } else if run_error.is_some() {
        ItemStatus::Error
    } else {
        // An answer that cannot be parsed is wrong.
        ItemStatus::Fail
    };
    let item = format!("{task}/{id}");
    let mut outcome = sink.new_outcome(run, &item, status);
    QUESTION_EVALUATOR.clone_into(&mut outcome.evaluator);
    outcome.category = Some(task.to_owned());
    outcome.duration_seconds = to_amount(&question.wall_time_seconds);
    let asked = to_filled_text(&question.asked);
    let details = ItemDetails {
        reason: run_error.or(parse_error),
        answer: to_filled_text(&question.agent_answer),
        expected: expected_answers(&question.correct_answers),
        steps: to_count(&question.agent_steps),
        tools: question
            .tool_calls
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, n)| Some((name.clone(), to_count(n)?)))
            .collect(),
        item_hash: asked
            .as_deref()
            .map(|asked| hex_digest(&[asked.trim().as_bytes()], false)[..32].to_owned()),
        question: asked,
        ..ItemDetails::default()
    };
    sink.add_outcome(run, &item, outcome, details)
}

fn expected_answers(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().filter_map(to_text).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            to_text(value).into_iter().collect()
        }
    }
}
