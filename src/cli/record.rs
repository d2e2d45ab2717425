//! `record`: writes a run of somebody else's harness, which passes outcomes as lines of JSON and reads an answer to each.
//!
//! ```text
//! {"item":{"item":"q1","passed":true,"cost_usd":0.01}}     an outcome; answered when it is stored
//! {"messages":{"item":"q1","entries":[…]}}                 messages and tool calls, before their outcome
//! {"score":{"metric":"latency","value":1.8,"unit":"seconds","direction":"down"}}
//! {"end":{"status":"failed","error":"…"}}                  the header; both keys may be absent
//! ```
//!
//! Input that ends without `end` leaves a run that is not finished, because the harness may have been killed.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::time::Instant;

use chrono::SecondsFormat;
use clap::Args;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tracing::info;

use crate::domain::{
    CostSource, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId, RunStatus, Usage,
    escape_invisible,
};
use crate::results::{
    MAX_LINE_BYTES, RunJournal, RunStart, ScoreLine, Store, StoreError, scan_store,
};
use crate::run::add_items;

use super::assignments::parse_assignments;
use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::settings::Settings;
use super::{clock, exit_code, output, selection};

/// Record the outcomes of your own harness, line by line from standard input
#[derive(Args)]
pub(super) struct RecordArguments {
    /// Suite of the run
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "resume",
        help_heading = "Run"
    )]
    pub suite: Option<String>,
    /// Approach of the run
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "resume",
        help_heading = "Run"
    )]
    pub approach: Option<String>,
    /// Model of the run [default: none]
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub model: Option<String>,
    /// Id of the run [default: a new one, which sorts by time]
    #[arg(long, value_name = "ID", help_heading = "Run")]
    pub id: Option<String>,
    /// Batch of the run, shared by runs that belong together
    #[arg(long, value_name = "ID", help_heading = "Run")]
    pub batch: Option<String>,
    /// Number of the run within its arm and batch, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Run")]
    pub run_index: Option<u32>,
    /// Seed of the run
    #[arg(long, value_name = "NUMBER", help_heading = "Run")]
    pub seed: Option<u64>,
    /// Version of the suite; runs of different versions never share a table
    #[arg(long, value_name = "TEXT", help_heading = "Run")]
    pub suite_version: Option<String>,
    /// Name of the agent
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub agent: Option<String>,
    /// Tag of the run; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Run")]
    pub tag: Vec<String>,
    /// Resume an abandoned recording: its run id, or at least the first four characters
    #[arg(long, value_name = "ID", conflicts_with_all = ["suite", "approach", "model", "id", "batch", "run_index", "seed", "suite_version", "agent", "tag"], help_heading = "Run")]
    pub resume: Option<String>,
    /// Kind of items that do not name one: question, task, test, criterion or check
    #[arg(
        long,
        value_name = "KIND",
        default_value = "question",
        help_heading = "Items"
    )]
    pub kind: String,
    /// Evaluator of items that do not name one
    #[arg(
        long,
        value_name = "NAME",
        default_value = "answers",
        help_heading = "Items"
    )]
    pub evaluator: String,
}

impl Command for RecordArguments {
    const NAME: &'static str = "record";
    const EXAMPLES: [Example; 2] = [
        (
            "echo '{\"end\": {}}' | evalreport record --suite quiz --approach mine",
            "a run of your own harness, here without outcomes",
        ),
        (
            "evalreport record --suite quiz --approach mine --model opus < outcomes.jsonl",
            "a line for each outcome",
        ),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Add, |settings| run_command(settings, self))
    }
}

/// One line of input. It has one of these keys, and may have a number `n`, which the answer repeats.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputLine {
    item: Option<RecordedItem>,
    messages: Option<RecordedMessages>,
    score: Option<ScoreLine>,
    end: Option<RecordedEnd>,
}

/// An outcome, with the keys of `items.jsonl` and `passed` as a short form of `status`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedItem {
    #[serde(deserialize_with = "item_id")]
    item: String,
    kind: Option<ItemKind>,
    evaluator: Option<String>,
    attempt: Option<u32>,
    status: Option<ItemStatus>,
    #[serde(default, deserialize_with = "passed")]
    passed: Option<bool>,
    score: Option<f64>,
    cluster: Option<String>,
    category: Option<String>,
    duration_seconds: Option<f64>,
    cost_usd: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    #[serde(default)]
    details: ItemDetails,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedMessages {
    #[serde(default, deserialize_with = "some_item_id")]
    item: Option<String>,
    entries: Vec<Value>,
}

/// Reads an item's id. Whole numbers are ids, because people count their questions.
fn item_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        other => Err(D::Error::custom(format!(
            "the id of an item is a text or a whole number, not {other}"
        ))),
    }
}

fn some_item_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    item_id(deserializer).map(Some)
}

/// Reads whether an item passed. A text such as "no" is neither.
fn passed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::Bool(passed) => Ok(Some(passed)),
        Value::Number(number) if number.as_u64().is_some_and(|number| number < 2) => {
            Ok(Some(number.as_u64() == Some(1)))
        }
        other => Err(D::Error::custom(format!(
            "`passed` is true or false, not {other}"
        ))),
    }
}

/// What only the end of a run tells. Sums over the items are computed, unless they are given here.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedEnd {
    status: Option<RunStatus>,
    error: Option<String>,
    duration_seconds: Option<f64>,
    cost_usd: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    reported_model: Option<String>,
}

/// A run being recorded.
struct RunRecording {
    store: Store,
    id: RunId,
    begun: RunStart,
    journal: RunJournal,
    kind: ItemKind,
    evaluator: String,
    /// Every recorded outcome: kind, evaluator, item and attempt.
    seen: BTreeSet<(ItemKind, String, String, u32)>,
    /// When the run began. `None` if it was resumed: nobody knows how long it lay.
    start: Option<Instant>,
}

fn run_command(settings: &Settings, arguments: &RecordArguments) -> Result<u8, CommandFailure> {
    settings.check_folders()?;
    let kinds = ItemKind::ALL.map(ItemKind::name).join(", ");
    let kind = ItemKind::from_name(&arguments.kind).ok_or_else(|| {
        CommandFailure::new(format!("no kind `{}`", escape_invisible(&arguments.kind)))
            .with_hint(format!("kinds are {kinds}"))
    })?;
    let store = settings.store();
    store.sweep_leftovers();
    let mut recording = match &arguments.resume {
        Some(id) => RunRecording::resume_run(store, id, kind, arguments)?,
        None => RunRecording::begin_run(store, kind, arguments)?,
    };
    print_answer(recording.opening_answer(), None)?;
    let mut input = std::io::stdin().lock();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = read_line(&mut input, &mut bytes)
            .map_err(|error| CommandFailure::new(format!("cannot read the input: {error}")));
        if read? == 0 {
            return Err(recording.keep_unfinished());
        }
        // A harness that was killed may leave a half line.
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let (n, line) = parse_line(&bytes);
        let done = match line
            .map_err(LineRefusal::Line)
            .and_then(|line| recording.handle_line(line))
        {
            Ok(done) => Ok(done),
            Err(LineRefusal::Line(failure)) => Err(failure),
            Err(LineRefusal::Store(error)) => {
                // Without this outcome, the end of the run would be the end of another run.
                print_answer(
                    json!({"error": error.to_string(), "hint": recording.resume_hint()}),
                    n,
                )?;
                return Err(CommandFailure::from(error).with_hint(recording.resume_hint()));
            }
        };
        let has_ended = matches!(done, Ok(Some(_)));
        let told = match done {
            Ok(Some(committed)) => committed,
            Ok(None) => json!({"stored": true}),
            Err(CommandFailure { message, hint, .. }) => hint.map_or_else(
                || json!({"error": message}),
                |hint| json!({"error": message, "hint": hint}),
            ),
        };
        print_answer(told, n)?;
        if has_ended {
            return Ok(exit_code::DONE);
        }
    }
}

/// Prints an answer, with the number of its line.
fn print_answer(mut told: Value, n: Option<Value>) -> Result<(), CommandFailure> {
    if let Some(n) = n {
        told["n"] = n;
    }
    output::print_text(&format!("{told}\n"))
}

/// Reads one line. Of a longer one than a store holds, it reads the beginning and skips the rest.
fn read_line(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    use std::io::Read;
    let read = input
        .by_ref()
        .take(MAX_LINE_BYTES as u64)
        .read_until(b'\n', bytes)?;
    if read == MAX_LINE_BYTES && !bytes.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(read)
}

/// Parses a line, and its number. If the number comes first, it is known whatever else is wrong.
fn parse_line(bytes: &[u8]) -> (Option<Value>, Result<InputLine, CommandFailure>) {
    let bad = |error: serde_json::Error| {
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or_default();
        let hint = "one line of JSON has one outcome, at most 64 MiB long and 100 levels deep";
        CommandFailure::new(format!(
            "the line is not a record: {}",
            escape_invisible(text)
        ))
        .with_hint(hint)
    };
    match serde_json::from_slice::<Value>(bytes) {
        Ok(mut value) => {
            let n = value.as_object_mut().and_then(|fields| fields.remove("n"));
            (n, serde_json::from_value(value).map_err(bad))
        }
        Err(error) => {
            let rest = bytes.strip_prefix(b"{\"n\":");
            let n = rest.and_then(|rest| {
                serde_json::Deserializer::from_slice(rest)
                    .into_iter::<Value>()
                    .next()?
                    .ok()
            });
            (n, Err(bad(error)))
        }
    }
}

fn check_name(what: &str, text: &str) -> Result<String, CommandFailure> {
    if text.trim().is_empty() {
        Err(CommandFailure::new(format!("the {what} is empty")))
    } else {
        Ok(text.to_owned())
    }
}

fn check_measured(key: &str, value: Option<f64>) -> Result<Option<f64>, CommandFailure> {
    match value {
        Some(number) if number < 0.0 => Err(CommandFailure::new(format!("`{key}` is negative"))),
        value => Ok(value),
    }
}

impl RunRecording {
    fn begin_run(
        store: Store,
        kind: ItemKind,
        arguments: &RecordArguments,
    ) -> Result<Self, CommandFailure> {
        let now = clock::now();
        let id = match &arguments.id {
            Some(id) => RunId::parse(id).map_err(CommandFailure::new)?,
            None => Store::new_run_id(now),
        };
        // A batch may have a plan, which is a file of that name.
        let batch_id = arguments
            .batch
            .as_deref()
            .map(RunId::parse)
            .transpose()
            .map_err(|error| CommandFailure::new(format!("batch: {error}")))?;
        let begun = RunStart {
            suite: check_name("suite", arguments.suite.as_deref().unwrap_or_default())?,
            approach: check_name(
                "approach",
                arguments.approach.as_deref().unwrap_or_default(),
            )?,
            model: arguments.model.clone().unwrap_or_default(),
            begun: now.to_rfc3339_opts(SecondsFormat::Secs, true),
            agent: arguments.agent.clone(),
            batch_id: batch_id.map(|id| id.to_string()),
            run_index: arguments.run_index,
            seed: arguments.seed,
            tags: parse_assignments("--tag", &arguments.tag, "--tag KEY=VALUE")?,
            suite_version: arguments.suite_version.clone(),
        };
        let begun_before = || {
            CommandFailure::new(format!(
                "run `{id}` was begun before, at {}",
                display_path(&store.run_dir(&id))
            ))
            .with_hint(format!(
                "`evalreport record --resume {id}` resumes it; another id makes another run"
            ))
        };
        if !store.has_run(&id)? && RunStart::load(&store.run_dir(&id))?.is_some() {
            return Err(begun_before());
        }
        let mut journal = store.open_journal(&id)?;
        if !journal.read_outcomes()?.is_empty() {
            return Err(begun_before());
        }
        // A folder without outcomes is left if beginning failed. It becomes this run.
        journal.clear()?;
        begun.save(&store, &id)?;
        info!(run = %id, suite = begun.suite, approach = begun.approach, "recording begun");
        let evaluator = check_name("evaluator", &arguments.evaluator)?;
        Ok(Self {
            store,
            id,
            begun,
            journal,
            kind,
            evaluator,
            seen: BTreeSet::new(),
            start: Some(Instant::now()),
        })
    }

    fn resume_run(
        store: Store,
        text: &str,
        kind: ItemKind,
        arguments: &RecordArguments,
    ) -> Result<Self, CommandFailure> {
        let contents = scan_store(&store);
        let ids: Vec<RunId> = contents
            .headless
            .iter()
            .filter_map(|headless| RunId::parse(headless.run_id()).ok())
            .collect();
        let id = match selection::match_ids(text, ids.iter()).as_slice() {
            [one] => (*one).clone(),
            [] if RunId::parse(text).is_ok_and(|id| store.has_run(&id).unwrap_or(false)) => {
                return Err(CommandFailure::new(format!(
                    "run `{}` is finished",
                    escape_invisible(text)
                ))
                .with_hint("record another run"));
            }
            [] => {
                return Err(CommandFailure::new(format!(
                    "no abandoned run `{}`",
                    escape_invisible(text)
                ))
                .with_hint("`evalreport list --runs` names the runs that are not finished"));
            }
            several => {
                return Err(CommandFailure::new(format!(
                    "`{}` is the beginning of {} run ids",
                    escape_invisible(text),
                    several.len()
                ))
                .with_hint("give more of the id"));
            }
        };
        let mut journal = store.open_journal(&id)?;
        let Some(begun) = RunStart::load(&store.run_dir(&id))? else {
            return Err(
                CommandFailure::new(format!("run `{id}` was not begun by `record`"))
                    .with_hint("`evalreport run --resume` resumes runs of a plan"),
            );
        };
        let of_outcome = |outcome: ItemOutcome| {
            (
                outcome.kind,
                outcome.evaluator,
                outcome.item,
                outcome.attempt,
            )
        };
        let seen: BTreeSet<_> = journal
            .read_outcomes()?
            .into_iter()
            .map(|(outcome, _)| of_outcome(outcome))
            .collect();
        // The harness asks the other items again, and sends their messages again.
        journal.retain_transcript_of(&seen.iter().map(|(_, _, item, _)| item.clone()).collect())?;
        info!(run = %id, outcomes = seen.len(), "recording resumed");
        let evaluator = check_name("evaluator", &arguments.evaluator)?;
        Ok(Self {
            store,
            id,
            begun,
            journal,
            kind,
            evaluator,
            seen,
            start: None,
        })
    }

    /// The first answer: which run it is, and the outcomes that it has.
    fn opening_answer(&self) -> Value {
        let decided = self
            .seen
            .iter()
            .map(|(kind, evaluator, item, attempt)| json!({"item": item, "kind": kind.name(), "evaluator": evaluator, "attempt": attempt}));
        json!({
            "schema": "evalreport/record/1",
            "run": self.id.as_str(),
            "folder": self.store.run_dir(&self.id).display().to_string(),
            "suite": self.begun.suite,
            "approach": self.begun.approach,
            "model": self.begun.model,
            "kind": self.kind.name(),
            "evaluator": self.evaluator,
            "decided": decided.collect::<Vec<_>>(),
        })
    }

    /// Stores what a line says. Returns the last answer if the line ends the run.
    fn handle_line(&mut self, line: InputLine) -> Result<Option<Value>, LineRefusal> {
        let InputLine {
            item,
            messages,
            score,
            end,
        } = line;
        match (item, messages, score, end) {
            (Some(item), None, None, None) => self.record_item(item).map(|()| None),
            (None, Some(RecordedMessages { item, entries }), None, None) => {
                self.journal.append_transcript(item.as_deref(), &entries)?;
                Ok(None)
            }
            (None, None, Some(score), None) => {
                self.journal.append_score(&score)?;
                Ok(None)
            }
            (None, None, None, Some(end)) => self.finish_run(end).map(Some),
            _ => Err(CommandFailure::new(
                "the line needs one key of `item`, `messages`, `score` and `end`",
            )
            .into()),
        }
    }

    fn record_item(&mut self, item: RecordedItem) -> Result<(), LineRefusal> {
        let (outcome, details) = self.build_outcome(item)?;
        self.journal.append_outcome(&outcome, &details)?;
        self.seen.insert((
            outcome.kind,
            outcome.evaluator,
            outcome.item,
            outcome.attempt,
        ));
        Ok(())
    }

    fn build_outcome(
        &self,
        item: RecordedItem,
    ) -> Result<(ItemOutcome, ItemDetails), CommandFailure> {
        let status = match (item.status, item.passed) {
            (Some(status), None) => status,
            (None, Some(true)) => ItemStatus::Pass,
            (None, Some(false)) => ItemStatus::Fail,
            // As for tables: it is known how good it is, and nobody said whether that passes.
            (None, None) if item.score.is_some() => ItemStatus::Skipped,
            (None, None) => {
                return Err(CommandFailure::new(format!(
                    "item `{}` has no `passed`, no `status` and no `score`",
                    escape_invisible(&item.item)
                ))
                .with_hint(
                    "`status` is pass, fail, error, limit, infra, skipped or not_evaluated",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(CommandFailure::new(format!(
                    "item `{}` has `passed` and `status`",
                    escape_invisible(&item.item)
                ))
                .with_hint("give one of both"));
            }
        };
        let attempt = item.attempt.unwrap_or(1);
        if attempt == 0 {
            return Err(CommandFailure::new("attempts count from 1"));
        }
        let evaluator = item.evaluator.unwrap_or_else(|| self.evaluator.clone());
        let kind = item.kind.unwrap_or(self.kind);
        let key = (
            kind,
            check_name("evaluator", &evaluator)?,
            check_name("item", &item.item)?,
            attempt,
        );
        if self.seen.contains(&key) {
            return Err(CommandFailure::new(format!(
                "item `{}`, attempt {attempt} is recorded already",
                escape_invisible(&item.item)
            ))
            .with_hint(format!(
                "another attempt at it has `attempt` {}",
                attempt.saturating_add(1)
            )));
        }
        let mut details = item.details;
        let usage = Usage {
            input: item.input_tokens,
            output: item.output_tokens,
            ..Usage::default()
        };
        if details.usage.is_none() && usage != Usage::default() {
            details.usage = Some(usage);
        }
        let outcome = ItemOutcome {
            run: self.id.clone(),
            kind,
            item: item.item,
            cluster: item.cluster,
            category: item.category,
            attempt,
            status,
            score: item.score,
            evaluator,
            revision: 0,
            duration_seconds: check_measured("duration_seconds", item.duration_seconds)?,
            cost_usd: check_measured("cost_usd", item.cost_usd)?,
            input_tokens: item.input_tokens,
            output_tokens: item.output_tokens,
        };
        Ok((outcome, details))
    }

    /// Commits the run.
    fn finish_run(&mut self, end: RecordedEnd) -> Result<Value, LineRefusal> {
        let duration = check_measured("duration_seconds", end.duration_seconds)?;
        let cost = check_measured("cost_usd", end.cost_usd)?;
        self.journal.sync()?;
        let decided = self.journal.read_outcomes()?;
        let mut run = Run {
            timestamp: Some(clock::now()),
            ..self.begun.to_run(&self.id)
        };
        run.tool_version = Some(env!("CARGO_PKG_VERSION").to_owned());
        if !decided.is_empty() {
            add_items(&mut run, &decided);
        }
        let elapsed = self
            .start
            .map(|start| start.elapsed().as_millis() as f64 / 1000.0);
        run.duration_seconds = duration.or(run.duration_seconds).or(elapsed);
        if cost.is_some() {
            (run.cost_usd, run.cost_source) = (cost, CostSource::Reported);
        }
        if end.input_tokens.is_some() || end.output_tokens.is_some() {
            (run.input_tokens, run.output_tokens) = (end.input_tokens, end.output_tokens);
            run.total_tokens = end
                .input_tokens
                .zip(end.output_tokens)
                .and_then(|(input, output)| input.checked_add(output));
            run.usage = None;
        }
        run.reported_model = end.reported_model;
        count_outcomes(&mut run, &decided);
        run.error = end.error.filter(|error| !error.is_empty());
        match end.status {
            Some(status) => run.status = status,
            None if run.error.is_some() => run.status = RunStatus::Failed,
            None => set_status_by_items(&mut run, &decided),
        }
        let path = self.store.commit_run(&run, &self.journal)?;
        info!(run = %self.id, status = run.status.name(), file = %path.display(), "recording committed");
        Ok(json!({
            "committed": path.display().to_string(),
            "status": run.status.name(),
            "outcomes": decided.len(),
            "passed": run.shared_tests_passed,
            "total": run.shared_tests_total,
        }))
    }

    /// Keeps what was recorded, and says that it is not a finished run.
    fn keep_unfinished(&self) -> CommandFailure {
        let outcomes = output::format_count(self.seen.len(), "outcome");
        let kept = match self.journal.sync() {
            Ok(()) => format!(
                "the input ended without `end`: run `{}` has {outcomes} and is not finished",
                self.id
            ),
            Err(error) => error.full_message(),
        };
        CommandFailure::new(kept).with_hint(self.resume_hint())
    }

    fn resume_hint(&self) -> String {
        format!("`evalreport record --resume {}` resumes it", self.id)
    }
}

/// Why a line was not stored.
enum LineRefusal {
    /// The line is wrong. The recording goes on.
    Line(CommandFailure),
    /// The store cannot be written to, so nothing more can be recorded.
    Store(StoreError),
}

impl From<CommandFailure> for LineRefusal {
    fn from(failure: CommandFailure) -> Self {
        Self::Line(failure)
    }
}

impl From<StoreError> for LineRefusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Counts passed and total as readers of the header count them.
fn count_outcomes(run: &mut Run, decided: &[(ItemOutcome, ItemDetails)]) {
    let counts_of = |is_of: &dyn Fn(&str) -> bool| {
        let counted = || {
            decided
                .iter()
                .map(|(outcome, _)| outcome)
                .filter(|outcome| outcome.kind.is_counted() && is_of(&outcome.evaluator))
        };
        let total = counted()
            .filter(|outcome| outcome.status.is_counted())
            .count() as u64;
        let passed = counted()
            .filter(|outcome| outcome.status == ItemStatus::Pass)
            .count() as u64;
        counted().next().map(|_| (passed, total)).unzip()
    };
    (run.shared_tests_passed, run.shared_tests_total) =
        counts_of(&|evaluator| !matches!(evaluator, "own_tests" | "functional_tests"));
    (run.own_tests_passed, run.own_tests_total) = counts_of(&|evaluator| evaluator == "own_tests");
}

/// Sets the status of a run whose harness did not say any. An agent that was never reached was not measured.
fn set_status_by_items(run: &mut Run, decided: &[(ItemOutcome, ItemDetails)]) {
    let all = |is_so: &dyn Fn(ItemStatus) -> bool| {
        !decided.is_empty() && decided.iter().all(|(outcome, _)| is_so(outcome.status))
    };
    let is_scored = decided.iter().any(|(outcome, _)| outcome.score.is_some());
    if all(&ItemStatus::is_missing) && !is_scored {
        run.status = RunStatus::Infra;
        run.error = Some("no attempt was decided".to_owned());
    } else if all(&|status| status == ItemStatus::Error) {
        run.status = RunStatus::Failed;
        run.error = Some("every attempt ended with an error".to_owned());
    }
}
