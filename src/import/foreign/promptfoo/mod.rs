//! promptfoo: evaluations as JSON of every version, and as JSON lines.
//!
//! A column (a prompt with a provider) is a run, and a test is a question. With `--repeat`, only their order tells the rows of a test
//! apart, and tests have no stable names. So files are read twice: first to find the rows of each test, then to import them.

mod columns;
mod exports;
mod row;
mod shape;
mod wire;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::domain::{Direction, ItemKind, ItemStatus, Problem, RunStatus, Unit};

use super::super::cell::Refused;
use super::super::rows::Stop;
use super::attempts::Attempted;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{Lenient, amount, count, filled, number, text};
use super::json_reader::{read_lines_to_cut, read_object};
use super::peek::{Content, Peek};
use super::sink::{Handle, Sink};
use super::source::{ForeignFile, ForeignSource};
use super::times::moment;
use columns::{Columns, MOST_COLUMNS, listed, prompts};
use exports::prefer_json;
use row::{Test, Used, category, details, named_scores, status};
use shape::{Shape, is_lines, look};
use wire::{Head, Metrics, Row, TableRow};

const EVALUATOR: &str = "assertions";

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "promptfoo",
        title: "promptfoo",
        kind: ItemKind::Question,
        reads_names: true,
        version: 4,
    },
    claim,
    read,
)
.with_arrangement(prefer_json);

fn claim(peek: &Peek) -> Option<Claim> {
    let is_results = peek.has("results.version")
        && ["results.prompts", "results.results", "results.table"]
            .iter()
            .any(|key| peek.has(key));
    let is_rows = peek.has_all(&["promptIdx", "testIdx"]);
    (peek.content == Content::Json && (is_results || is_rows)).then_some(Claim::Alone)
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one evaluation").into());
    };
    let peek = Peek::at(file)?;
    let (mut shape, mut head) = (Shape::Lines, Head::default());
    if !is_lines(&peek) {
        (shape, head) = look(file)?;
    }
    if listed(&head).len() > MOST_COLUMNS {
        return Err(file.problem(format!(
            "has more than {MOST_COLUMNS} columns of prompts and providers"
        )));
    }
    let names = head
        .results
        .0
        .as_ref()
        .and_then(|results| Some(results.table.0.as_ref()?.head.0.as_ref()?.vars.clone()))
        .unwrap_or_default();

    let mut columns = Columns::of(&head);
    let cut = each_row(file, shape, &names, &mut |number, row| {
        if let Ok(row) = row {
            let place = columns.place(row, number);
            columns.see(row, place);
        }
        Ok(())
    })?;
    columns.saw_all();
    let mut eval = Eval::begin(&head, shape, file, &columns, sink);
    each_row(file, shape, &names, &mut |number, row| {
        let label = if shape == Shape::Lines {
            format!("line {number}")
        } else {
            format!("row {number}")
        };
        match row {
            Ok(row) => eval.take(row, number, &mut columns, &label, sink),
            Err(refused) => {
                sink.refuse(&label, refused);
                Ok(())
            }
        }
    })?;
    eval.end(&head, sink);
    if let Some(line) = cut {
        // It is unknown which columns the lost rows belonged to.
        for run in eval.runs.values().copied().flatten() {
            let record = sink.run(run);
            record.status = RunStatus::Failed;
            record.error = Some(format!(
                "line {line} of the file is cut off, and what came after is lost"
            ));
        }
    }
    Ok(())
}

type EachRow<'a> = dyn FnMut(u64, Result<&Row, Refused>) -> Result<(), Stop> + 'a;

/// Calls `each` with every row and its number, from 1. Returns the number of the last line if it is cut off.
fn each_row(
    file: &ForeignFile,
    shape: Shape,
    names: &Value,
    each: &mut EachRow<'_>,
) -> Result<Option<usize>, Stop> {
    let mut number = 0;
    match shape {
        Shape::Rows => list(file, "results.results", &mut |row: Lenient<Row>| {
            number += 1;
            row.0.map_or(Ok(()), |row| each(number, Ok(&row)))
        })
        .map(|()| None),
        Shape::Table => list(file, "results.table.body", &mut |row: Lenient<TableRow>| {
            number += 1;
            let Some(row) = row.0 else { return Ok(()) };
            row.into_rows(number, names)
                .try_for_each(|row| each(number, Ok(&row)))
        })
        .map(|()| None),
        Shape::Lines => read_lines_to_cut(
            file.open()?,
            &file.shown,
            &mut |line, row: Result<Row, _>| match row {
                Ok(row) => each(line as u64, Ok(&row)),
                Err(refused) => each(line as u64, Err(refused)),
            },
        ),
    }
}

fn list<T: DeserializeOwned>(
    file: &ForeignFile,
    path: &str,
    each: &mut dyn FnMut(T) -> Result<(), Stop>,
) -> Result<(), Stop> {
    read_object::<IgnoredAny, T>(file.open()?, &file.shown, &[], path, each).map(|_| ())
}

/// An evaluation while its rows are read.
struct Eval {
    /// Runs by column. `None` if a run is stored already.
    runs: BTreeMap<u64, Option<Handle>>,
    tallies: BTreeMap<u64, Tally>,
}

/// Totals of the rows of one column.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    errors: u64,
    scores: Attempted,
    named: BTreeMap<String, Attempted>,
    cost: f64,
    milliseconds: f64,
    tokens: [u64; 3],
}

impl Eval {
    fn begin(
        head: &Head,
        shape: Shape,
        file: &ForeignFile,
        columns: &Columns,
        sink: &mut Sink<'_>,
    ) -> Self {
        let results = head.results.0.as_ref();
        if let Some(version) = head.metadata.get("promptfooVersion").and_then(text) {
            sink.version(&format!("promptfoo {version}"));
        } else if let Some(version) = results.and_then(|results| text(&results.version)) {
            sink.version(&format!("results version {version}"));
        }
        match shape {
            Shape::Rows => {}
            Shape::Table => sink.quirk("rows are read from the table of versions before 3"),
            Shape::Lines => sink.quirk("the file has rows only: its name gives suite and run, and there are no published figures"),
        }
        if columns.lacks_repeats {
            sink.quirk("repeated tests in a column are attempts, in file order");
        }
        let stem = file
            .name
            .split('.')
            .next()
            .filter(|stem| !stem.is_empty())
            .unwrap_or(&file.name);
        let description = head.config.get("description").and_then(filled);
        let suite = description.unwrap_or_else(|| stem.to_owned());
        let eval_id = text(&head.eval_id).filter(|id| !id.is_empty());
        let began = results
            .and_then(|results| moment(&results.timestamp))
            .or_else(|| moment(&head.created_at));
        let lasted = results
            .and_then(|results| amount(results.stats.get("durationMs")?))
            .map(|milliseconds| milliseconds / 1000.0);
        let judge = head
            .config
            .get("defaultTest")
            .and_then(|test| test.get("options")?.get("provider"));
        let judge = judge.and_then(|judge| text(judge).or_else(|| text(judge.get("id")?)));
        let named = columns.named();
        let is_single = named.len() == 1;
        let mut runs = BTreeMap::new();
        for (number, named) in named {
            // Rows have random ids that every file of the evaluation repeats, so two exports of it are one run.
            let place = number.to_string();
            let arm = [suite.as_str(), &named.approach, &named.model];
            let run = match &eval_id {
                _ if !named.row_id.is_empty() => sink.begin_run(&[&named.row_id], arm),
                id => sink.begin_run_with(id.as_deref(), &[&place], arm),
            };
            runs.insert(number, run);
            let Some(run) = run else { continue };
            let record = sink.run(run);
            record.timestamp = began.map(|began| ended(began, lasted).unwrap_or(began));
            // Columns run in parallel: if there are several, none took the evaluation's whole time.
            record.duration_seconds = lasted.filter(|_| is_single);
            let facts = [
                ("eval_id", eval_id.clone()),
                (
                    "provider_label",
                    Some(named.column.provider_label)
                        .filter(|label| *label != named.column.provider),
                ),
                ("prompt_id", Some(named.column.prompt_id)),
                ("judge", judge.clone()),
                (
                    "repeat",
                    head.runtime_options
                        .get("repeat")
                        .and_then(text)
                        .filter(|repeat| repeat != "1"),
                ),
            ];
            let filled = |fact: Option<String>| fact.filter(|fact| !fact.trim().is_empty());
            record.tags.extend(
                facts
                    .into_iter()
                    .filter_map(|(key, fact)| Some((key.to_owned(), filled(fact)?))),
            );
        }
        Self {
            runs,
            tallies: BTreeMap::new(),
        }
    }

    fn take(
        &mut self,
        row: &Row,
        at: u64,
        columns: &mut Columns,
        label: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stop> {
        let place = columns.place(row, at);
        let Some(Some(run)) = self.runs.get(&place.column).copied() else {
            return Ok(());
        };
        let test = Test::of(row);
        let status = status(row);
        let used = Used::of(row, sink);
        let score = number(&row.score);
        self.tallies
            .entry(place.column)
            .or_default()
            .count(row, &test, status, score);
        let mut outcome = sink.outcome(run, &test.name, status);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = columns.attempt(row, place, &test);
        outcome.category = category(row);
        outcome.score = score;
        outcome.duration_seconds = used.seconds;
        outcome.cost_usd = used.cost;
        outcome.input_tokens = used.usage.and_then(|usage| usage.input_total());
        outcome.output_tokens = used.usage.and_then(|usage| usage.output);
        sink.item(run, label, outcome, details(row, &test, status, &used))
    }

    fn end(&self, head: &Head, sink: &mut Sink<'_>) {
        let prompts = prompts(head);
        for (number, run) in &self.runs {
            let Some(run) = *run else { continue };
            let metrics = usize::try_from(*number)
                .ok()
                .and_then(|number| prompts.get(number)?.metrics.0.clone());
            let tally = self.tallies.get(number);
            if let Some(tally) = tally {
                let record = sink.run(run);
                if !tally.scores.are_grades() {
                    record
                        .scores
                        .extend(tally.scores.score("score", Direction::Up, EVALUATOR));
                }
                record.scores.extend(
                    tally
                        .named
                        .iter()
                        .filter_map(|(name, values)| values.score(name, Direction::Up, EVALUATOR)),
                );
            }
            if let Some(metrics) = metrics {
                state(run, &metrics, tally, sink);
            }
        }
        let stats = head.results.0.as_ref().map(|results| &results.stats);
        let stated = |key: &str| stats.and_then(|stats| count(stats.get(key)?));
        let total = |of: fn(&Tally) -> u64| self.tallies.values().map(of).sum::<u64>();
        if self.runs.values().all(Option::is_some)
            && !self.tallies.is_empty()
            && [
                ("successes", total(|tally| tally.passed)),
                ("failures", total(|tally| tally.failed)),
                ("errors", total(|tally| tally.errors)),
            ]
            .into_iter()
            .any(|(key, counted)| stated(key).is_some_and(|stated| stated != counted))
        {
            sink.quirk(
                "the evaluation's statistics count another number of rows than the file has",
            );
        }
    }
}

fn ended(began: DateTime<Utc>, lasted: Option<f64>) -> Option<DateTime<Utc>> {
    let lasted = Duration::try_from_secs_f64(lasted?).ok()?;
    began.checked_add_signed(TimeDelta::from_std(lasted).ok()?)
}

impl Tally {
    fn count(&mut self, row: &Row, test: &Test, status: ItemStatus, score: Option<f64>) {
        match status {
            ItemStatus::Pass => self.passed += 1,
            ItemStatus::Error => self.errors += 1,
            ItemStatus::Fail
            | ItemStatus::Limit
            | ItemStatus::Infra
            | ItemStatus::Skipped
            | ItemStatus::NotEvaluated => self.failed += 1,
        }
        if let Some(score) = score {
            self.scores.take(&test.name, score);
        }
        for (name, value) in named_scores(&row.named_scores) {
            self.named.entry(name).or_default().take(&test.name, value);
        }
        self.cost += amount(&row.cost).unwrap_or(0.0);
        self.milliseconds += amount(&row.latency_ms).unwrap_or(0.0);
        if let Some(usage) = &row.token_usage.0 {
            for (sum, value) in
                self.tokens
                    .iter_mut()
                    .zip([&usage.prompt, &usage.completion, &usage.total])
            {
                *sum = sum.saturating_add(count(value).unwrap_or(0));
            }
        }
    }
}

/// Keeps a column's published figures, beside the figures recomputed from its rows if all are there.
fn state(run: Handle, metrics: &Metrics, tally: Option<&Tally>, sink: &mut Sink<'_>) {
    let counts = [
        &metrics.test_pass_count,
        &metrics.test_fail_count,
        &metrics.test_error_count,
    ]
    .map(count);
    let stated_rows = counts
        .iter()
        .flatten()
        .fold(0, |sum: u64, count| sum.saturating_add(*count));
    let tally = tally.filter(|tally| {
        let rows = tally.passed + tally.failed + tally.errors;
        if rows < stated_rows {
            sink.quirk(&format!(
                "{rows} of {stated_rows} rows of a column are in the file: the published figures count, and cannot be recomputed"
            ));
        }
        rows >= stated_rows
    });
    if tally.is_none() && sink.outcomes_of(run) == 0 && stated_rows > 0 {
        let record = sink.run(run);
        (record.shared_tests_passed, record.shared_tests_total) = (counts[0], Some(stated_rows));
    }
    let of = |of: fn(&Tally) -> f64| tally.map(of);
    let mut figures: Vec<(String, Option<f64>, Unit, Option<f64>)> = vec![
        (
            "testPassCount".to_owned(),
            counts[0].map(|n| n as f64),
            Unit::Count,
            of(|tally| tally.passed as f64),
        ),
        (
            "testFailCount".to_owned(),
            counts[1].map(|n| n as f64),
            Unit::Count,
            of(|tally| tally.failed as f64),
        ),
        (
            "testErrorCount".to_owned(),
            counts[2].map(|n| n as f64),
            Unit::Count,
            of(|tally| tally.errors as f64),
        ),
        (
            "score".to_owned(),
            number(&metrics.score),
            Unit::Number,
            of(|tally| tally.scores.sum()),
        ),
        (
            "totalLatency".to_owned(),
            amount(&metrics.total_latency_ms).map(|n| n / 1000.0),
            Unit::Seconds,
            of(|tally| tally.milliseconds / 1000.0),
        ),
    ];
    // promptfoo writes 0 if nothing was counted.
    let positive = |value: &Value| amount(value).filter(|value| *value > 0.0);
    figures.push((
        "cost".to_owned(),
        positive(&metrics.cost),
        Unit::Usd,
        of(|tally| tally.cost),
    ));
    if let Some(usage) = &metrics.token_usage.0 {
        for (place, (name, value)) in [
            ("prompt", &usage.prompt),
            ("completion", &usage.completion),
            ("total", &usage.total),
        ]
        .into_iter()
        .enumerate()
        {
            figures.push((
                format!("tokens/{name}"),
                positive(value),
                Unit::Tokens,
                tally.map(|tally| tally.tokens[place] as f64),
            ));
        }
    }
    for (name, value) in named_scores(&metrics.named_scores) {
        let recomputed = tally
            .and_then(|tally| tally.named.get(&name))
            .map(Attempted::sum);
        figures.push((
            format!("namedScores/{name}"),
            Some(value),
            Unit::Number,
            recomputed,
        ));
    }
    for (name, value, unit, recomputed) in figures {
        if let Some(value) = value {
            sink.stated(run, &name, value, unit, recomputed, None);
        }
    }
}
