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
use super::super::rows::ReadStop;
use super::attempts::AttemptValues;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_amount, to_count, to_filled_text, to_number, to_text};
use super::json_reader::{read_lines_to_cut, read_object};
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle};
use super::source::{ForeignFile, ForeignFileGroup};
use super::times::read_time;
use columns::{MAX_COLUMNS, PromptColumns, listed_columns, read_prompts};
use exports::prefer_json;
use row::{
    PromptfooTest, RowUsage, add_assertions, answer_tokens, assertion_results, named_scores,
    row_category, row_details, row_status,
};
use shape::{RowLocation, is_lines, locate_rows};
use wire::{PromptfooHead, PromptfooMetrics, PromptfooRow, TableRow};

const EVALUATOR: &str = "assertions";

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "promptfoo",
        title: "promptfoo",
        kind: ItemKind::Question,
        reads_names: true,
        version: 6,
    },
    claim_file,
    read_source,
)
.with_arrangement(prefer_json);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_results = peek.has("results.version")
        && ["results.prompts", "results.results", "results.table"]
            .iter()
            .any(|key| peek.has(key));
    let is_rows = peek.has_all(&["promptIdx", "testIdx"]);
    (peek.content == ContentKind::Json && (is_results || is_rows)).then_some(Claim::Alone)
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one evaluation").into());
    };
    let peek = Peek::from_source_file(file)?;
    let (mut shape, mut head) = (RowLocation::Lines, PromptfooHead::default());
    if !is_lines(&peek) {
        (shape, head) = locate_rows(file)?;
    }
    if listed_columns(&head).len() > MAX_COLUMNS {
        return Err(file.problem(format!(
            "has more than {MAX_COLUMNS} columns of prompts and providers"
        )));
    }
    let names = head
        .results
        .0
        .as_ref()
        .and_then(|results| Some(results.table.0.as_ref()?.head.0.as_ref()?.vars.clone()))
        .unwrap_or_default();

    let mut columns = PromptColumns::from_head(&head);
    let cut = read_rows(file, shape, &names, &mut |number, row| {
        if let Ok(row) = row {
            let place = columns.locate_row(row, number);
            columns.add_row(row, place);
        }
        Ok(())
    })?;
    columns.finish_rows();
    let mut eval = EvaluationImporter::begin_runs(&head, shape, file, &columns, sink);
    read_rows(file, shape, &names, &mut |number, row| {
        let label = if shape == RowLocation::Lines {
            format!("line {number}")
        } else {
            format!("row {number}")
        };
        match row {
            Ok(row) => eval.add_row(row, number, &mut columns, &label, sink),
            Err(refused) => {
                sink.refuse_part(&label, refused);
                Ok(())
            }
        }
    })?;
    eval.finish_runs(&head, sink);
    if let Some(line) = cut {
        // It is unknown which columns the lost rows belonged to.
        for run in eval.runs.values().copied().flatten() {
            let record = sink.run_mut(run);
            record.status = RunStatus::Failed;
            record.error = Some(format!(
                "line {line} of the file is cut off, and what came after is lost"
            ));
        }
    }
    Ok(())
}

type OnPromptfooRow<'a> =
    dyn FnMut(u64, Result<&PromptfooRow, Refused>) -> Result<(), ReadStop> + 'a;

/// Calls `each` with every row and its number, from 1. Returns the number of the last line if it is cut off.
fn read_rows(
    file: &ForeignFile,
    shape: RowLocation,
    names: &Value,
    each: &mut OnPromptfooRow<'_>,
) -> Result<Option<usize>, ReadStop> {
    let mut number = 0;
    match shape {
        RowLocation::Rows => read_rows_at(file, "results.results", &mut |row: Lenient<
            PromptfooRow,
        >| {
            number += 1;
            row.0.map_or(Ok(()), |row| each(number, Ok(&row)))
        })
        .map(|()| None),
        RowLocation::Table => {
            read_rows_at(file, "results.table.body", &mut |row: Lenient<TableRow>| {
                number += 1;
                let Some(row) = row.0 else { return Ok(()) };
                row.into_rows(number, names)
                    .try_for_each(|row| each(number, Ok(&row)))
            })
            .map(|()| None)
        }
        RowLocation::Lines => read_lines_to_cut(file.open()?, &file.shown, &mut |line,
                                                                                 row: Result<
            PromptfooRow,
            _,
        >| match row
        {
            Ok(row) => each(line as u64, Ok(&row)),
            Err(refused) => each(line as u64, Err(refused)),
        }),
    }
}

fn read_rows_at<T: DeserializeOwned>(
    file: &ForeignFile,
    path: &str,
    each: &mut dyn FnMut(T) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    read_object::<IgnoredAny, T>(file.open()?, &file.shown, &[], path, each).map(|_| ())
}

/// An evaluation while its rows are read.
struct EvaluationImporter {
    /// Runs by column. `None` if a run is stored already.
    runs: BTreeMap<u64, Option<RunHandle>>,
    tallies: BTreeMap<u64, ColumnTally>,
}

/// Totals of the rows of one column.
#[derive(Default)]
struct ColumnTally {
    passed: u64,
    failed: u64,
    errors: u64,
    scores: AttemptValues,
    named: BTreeMap<String, AttemptValues>,
    /// Numbers of assertions that passed, and that did not. As the other sums, `None` if no row tells: then a published sum cannot be checked.
    assertions: Option<[u64; 2]>,
    cost: Option<f64>,
    milliseconds: Option<f64>,
    /// Of the prompts, of the completions, and in total.
    tokens: [Option<u64>; 3],
}

impl EvaluationImporter {
    fn begin_runs(
        head: &PromptfooHead,
        shape: RowLocation,
        file: &ForeignFile,
        columns: &PromptColumns,
        sink: &mut ImportSink<'_>,
    ) -> Self {
        let results = head.results.0.as_ref();
        if let Some(version) = head.metadata.get("promptfooVersion").and_then(to_text) {
            sink.note_version(&format!("promptfoo {version}"));
        } else if let Some(version) = results.and_then(|results| to_text(&results.version)) {
            sink.note_version(&format!("results version {version}"));
        }
        match shape {
            RowLocation::Rows => {}
            RowLocation::Table => sink.note_quirk("rows are read from the table of versions before 3"),
            RowLocation::Lines => sink.note_quirk("the file has rows only: its name gives suite and run, and there are no published figures"),
        }
        if columns.lacks_repeats {
            sink.note_quirk("repeated tests in a column are attempts, in file order");
        }
        let stem = file
            .name
            .split('.')
            .next()
            .filter(|stem| !stem.is_empty())
            .unwrap_or(&file.name);
        let description = head.config.get("description").and_then(to_filled_text);
        let suite = description.unwrap_or_else(|| stem.to_owned());
        let eval_id = to_text(&head.eval_id).filter(|id| !id.is_empty());
        let began = results
            .and_then(|results| read_time(&results.timestamp))
            .or_else(|| read_time(&head.created_at));
        let lasted = results
            .and_then(|results| to_amount(results.stats.get("durationMs")?))
            .map(|milliseconds| milliseconds / 1000.0);
        let judge = head
            .config
            .get("defaultTest")
            .and_then(|test| test.get("options")?.get("provider"));
        let judge = judge.and_then(|judge| to_text(judge).or_else(|| to_text(judge.get("id")?)));
        let named = columns.name_columns();
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
            let record = sink.run_mut(run);
            record.timestamp = began.map(|began| end_time(began, lasted).unwrap_or(began));
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
                        .and_then(to_text)
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

    fn add_row(
        &mut self,
        row: &PromptfooRow,
        at: u64,
        columns: &mut PromptColumns,
        label: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let place = columns.locate_row(row, at);
        let Some(Some(run)) = self.runs.get(&place.column).copied() else {
            return Ok(());
        };
        let test = PromptfooTest::from_row(row);
        let status = row_status(row);
        let used = RowUsage::from_row(row, sink);
        let score = to_number(&row.score);
        self.tallies
            .entry(place.column)
            .or_default()
            .count_row(row, &test, status, score);
        let mut outcome = sink.new_outcome(run, &test.name, status);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = columns.attempt_number(row, place, &test);
        outcome.category = row_category(row);
        outcome.score = score;
        outcome.duration_seconds = used.seconds;
        outcome.cost_usd = used.cost;
        outcome.input_tokens = used.usage.and_then(|usage| usage.input_total());
        outcome.output_tokens = used.usage.and_then(|usage| usage.output);
        let attempt = outcome.attempt;
        let details = row_details(row, &test, status, &used);
        sink.add_outcome(run, label, outcome, details)?;
        add_assertions(run, row, (&test, attempt), label, sink)
    }

    fn finish_runs(&self, head: &PromptfooHead, sink: &mut ImportSink<'_>) {
        let prompts = read_prompts(head);
        for (number, run) in &self.runs {
            let Some(run) = *run else { continue };
            let metrics = usize::try_from(*number)
                .ok()
                .and_then(|number| prompts.get(number)?.metrics.0.clone());
            let tally = self.tallies.get(number);
            if let Some(tally) = tally {
                let record = sink.run_mut(run);
                if !tally.scores.are_grades() {
                    record
                        .scores
                        .extend(tally.scores.to_score("score", Direction::Up, EVALUATOR));
                }
                record.scores.extend(
                    tally.named.iter().filter_map(|(name, values)| {
                        values.to_score(name, Direction::Up, EVALUATOR)
                    }),
                );
            }
            if let Some(metrics) = metrics {
                add_published_figures(run, &metrics, tally, sink);
            }
        }
        let stats = head.results.0.as_ref().map(|results| &results.stats);
        let stated = |key: &str| stats.and_then(|stats| to_count(stats.get(key)?));
        let total = |of: fn(&ColumnTally) -> u64| self.tallies.values().map(of).sum::<u64>();
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
            sink.note_quirk(
                "the evaluation's statistics count another number of rows than the file has",
            );
        }
    }
}

fn end_time(began: DateTime<Utc>, lasted: Option<f64>) -> Option<DateTime<Utc>> {
    let lasted = Duration::try_from_secs_f64(lasted?).ok()?;
    began.checked_add_signed(TimeDelta::from_std(lasted).ok()?)
}

impl ColumnTally {
    fn count_row(
        &mut self,
        row: &PromptfooRow,
        test: &PromptfooTest,
        status: ItemStatus,
        score: Option<f64>,
    ) {
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
            self.scores.add_value(&test.name, score);
        }
        for (name, value) in named_scores(&row.named_scores) {
            self.named
                .entry(name)
                .or_default()
                .add_value(&test.name, value);
        }
        for result in assertion_results(row) {
            let [passed, failed] = self.assertions.get_or_insert_default();
            *if result.pass == true { passed } else { failed } += 1;
        }
        // promptfoo writes 0 both for no cost and for an unknown price.
        if let Some(cost) = to_amount(&row.cost).filter(|cost| *cost > 0.0) {
            *self.cost.get_or_insert_default() += cost;
        }
        if let Some(milliseconds) = to_amount(&row.latency_ms) {
            *self.milliseconds.get_or_insert_default() += milliseconds;
        }
        if let Some(usage) = answer_tokens(row) {
            let counted = [&usage.prompt, &usage.completion, &usage.total].map(to_count);
            for (sum, tokens) in self.tokens.iter_mut().zip(counted) {
                if let Some(tokens) = tokens {
                    *sum = Some(sum.unwrap_or(0).saturating_add(tokens));
                }
            }
        }
    }
}

/// Keeps a column's published figures, beside the figures recomputed from its rows if all are there.
fn add_published_figures(
    run: RunHandle,
    metrics: &PromptfooMetrics,
    tally: Option<&ColumnTally>,
    sink: &mut ImportSink<'_>,
) {
    let counts = [
        &metrics.test_pass_count,
        &metrics.test_fail_count,
        &metrics.test_error_count,
    ]
    .map(to_count);
    let stated_rows = counts
        .iter()
        .flatten()
        .fold(0, |sum: u64, count| sum.saturating_add(*count));
    let tally = tally.filter(|tally| {
        let rows = tally.passed + tally.failed + tally.errors;
        if rows < stated_rows {
            sink.note_quirk(&format!(
                "{rows} of {stated_rows} rows of a column are in the file: the published figures count, and cannot be recomputed"
            ));
        }
        rows >= stated_rows
    });
    if tally.is_none() && sink.outcome_count(run) == 0 && stated_rows > 0 {
        let record = sink.run_mut(run);
        (record.shared_tests_passed, record.shared_tests_total) = (counts[0], Some(stated_rows));
    }
    let of = |of: fn(&ColumnTally) -> f64| tally.map(of);
    let known = |of: fn(&ColumnTally) -> Option<f64>| tally.and_then(of);
    let assertions =
        |place: usize| tally.and_then(|tally| Some(tally.assertions.as_ref()?[place] as f64));
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
            to_number(&metrics.score),
            Unit::Number,
            of(|tally| tally.scores.sum()),
        ),
        (
            "totalLatency".to_owned(),
            to_amount(&metrics.total_latency_ms).map(|n| n / 1000.0),
            Unit::Seconds,
            known(|tally| Some(tally.milliseconds? / 1000.0)),
        ),
        (
            "assertPassCount".to_owned(),
            to_count(&metrics.assert_pass_count).map(|n| n as f64),
            Unit::Count,
            assertions(0),
        ),
        (
            "assertFailCount".to_owned(),
            to_count(&metrics.assert_fail_count).map(|n| n as f64),
            Unit::Count,
            assertions(1),
        ),
    ];
    // promptfoo writes 0 if nothing was counted.
    let positive = |value: &Value| to_amount(value).filter(|value| *value > 0.0);
    figures.push((
        "cost".to_owned(),
        positive(&metrics.cost),
        Unit::Usd,
        known(|tally| tally.cost),
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
                tally.and_then(|tally| Some(tally.tokens[place]? as f64)),
            ));
        }
    }
    for (name, value) in named_scores(&metrics.named_scores) {
        let recomputed = tally
            .and_then(|tally| tally.named.get(&name))
            .map(AttemptValues::sum);
        figures.push((
            format!("namedScores/{name}"),
            Some(value),
            Unit::Number,
            recomputed,
        ));
    }
    for (name, value, unit, recomputed) in figures {
        if let Some(value) = value {
            sink.add_published_figure(run, &name, value, unit, recomputed, None);
        }
    }
}
