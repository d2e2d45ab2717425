//! Reads the YAML lists behind aider's leaderboards: one row is one run, without outcomes of its cases.

use std::collections::BTreeSet;

use crate::document::{self, Node};
use crate::domain::{Direction, Problem, StatedFigure, Unit, visible};

use super::super::super::cell::{Range, Refused, number, whole};
use super::super::super::rows::Stop;
use super::super::sink::Sink;
use super::super::source::ForeignFile;
use super::run::{git, push_rate, score, tell_time};

const MOST_BYTES: u64 = 16 << 20;
/// Half of the last digit: rates are printed in percent with one decimal.
const ROUNDING: f64 = 0.000_5;
/// Numbers of cases of the two smaller benchmarks. A list with more cases is of a larger benchmark.
const MOST_REFACTOR: u64 = 89;
const MOST_EDIT: u64 = 134;

pub(super) fn is_leaderboard(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let starts = head.lines().any(|line| {
        line.strip_prefix('-')
            .is_some_and(|rest| rest.trim_start().starts_with("dirname:"))
    });
    let has = |key: &str| head.lines().any(|line| line.trim_start().starts_with(key));
    starts && has("pass_rate_1:") && has("edit_format:")
}

pub(super) fn read(file: &ForeignFile, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let bytes = file.read(MOST_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| file.problem("is not UTF-8"))?;
    let list = document::parse_table(&file.shown, &text).map_err(Stop::Unreadable)?;
    let document::Value::List(rows) = &list.value else {
        return Err(Problem::in_file(
            &file.shown,
            format!("must be a list of runs, not {}", list.noun()),
        )
        .into());
    };
    let suite = suite(&file.name, rows, sink);
    let mut seen = BTreeSet::new();
    for row in rows {
        let place = format!("line {}", row.line);
        match word(row, "dirname") {
            None => sink.refuse(&place, Refused::because("the run has no dirname")),
            Some(dirname) if !seen.insert(dirname.clone()) => {
                sink.refuse(
                    &place,
                    Refused::with_detail(
                        "the run is there twice",
                        format!("dirname `{}`", visible(&dirname)),
                    ),
                );
            }
            Some(dirname) => take(&dirname, suite, row, sink),
        }
    }
    Ok(())
}

/// Returns the file's benchmark, by the file's name or else by the number of cases.
fn suite(file: &str, rows: &[Node], sink: &mut Sink<'_>) -> &'static str {
    let file = file.to_lowercase();
    let named = [
        ("polyglot", "aider-polyglot"),
        ("refactor", "aider-refactor"),
        ("edit_leaderboard", "aider-edit"),
    ];
    if let Some((_, suite)) = named.into_iter().find(|(name, _)| file.contains(name)) {
        return suite;
    }
    sink.quirk("the number of cases decides which benchmark it is");
    let most = rows
        .iter()
        .filter_map(|row| counted(row, "test_cases"))
        .max()
        .unwrap_or_default();
    if most > MOST_EDIT {
        "aider-polyglot"
    } else if most > MOST_REFACTOR {
        "aider-edit"
    } else {
        "aider-refactor"
    }
}

fn take(dirname: &str, suite: &str, row: &Node, sink: &mut Sink<'_>) {
    let own = |key: &str| word(row, key).unwrap_or_default();
    sink.record();
    let Some(run) = sink.begin_run(&[dirname], [suite, &own("edit_format"), &own("model")]) else {
        // Lists repeat each other's rows, sometimes with other figures.
        sink.state_repeated(stated(row));
        return;
    };
    if has_repeated_keys(row) {
        sink.quirk("repeated keys: the first counts");
    }
    let cases = counted(row, "test_cases").filter(|cases| *cases > 0);
    if cases
        .zip(counted(row, "total_tests"))
        .is_some_and(|(cases, total)| cases < total)
    {
        sink.quirk("fewer cases than the benchmark has: rates are over the completed cases");
    }
    let cost = amount(row, "total_cost");
    if cost == Some(0.0) {
        sink.quirk("a total_cost of 0 is read as unknown");
    }
    let record = sink.run(run);
    tell_time(record, &own("date"));
    record.git = git(&own("commit_hash"));
    record.cost_usd = cost.filter(|cost| *cost > 0.0);
    let tokens = |key: &str| counted(row, key).filter(|tokens| *tokens > 0);
    (record.input_tokens, record.output_tokens) =
        (tokens("prompt_tokens"), tokens("completion_tokens"));
    let tags = [
        ("version", "versions"),
        ("edit_format", "edit_format"),
        ("reasoning_effort", "reasoning_effort"),
        ("thinking_tokens", "thinking_tokens"),
        ("editor_model", "editor_model"),
        ("editor_edit_format", "editor_edit_format"),
    ];
    record.tags.extend(
        tags.into_iter()
            .filter_map(|(tag, key)| Some((tag.to_owned(), word(row, key)?))),
    );
    let solved = counted(row, "pass_num_2")
        .zip(cases)
        .filter(|(solved, cases)| solved <= cases);
    (record.shared_tests_passed, record.shared_tests_total) = solved.unzip();
    // Without counts, keep the published rate.
    if let Some(rate) = share(row, "pass_rate_2").filter(|_| solved.is_none()) {
        push_rate(record, "pass_rate", rate, cases);
    }
    for (key, metric) in [
        ("pass_rate_1", "pass_rate_1"),
        ("percent_cases_well_formed", "well_formed"),
    ] {
        if let Some(rate) = share(row, key) {
            push_rate(record, metric, rate, cases);
        }
    }
    if let Some(seconds) = amount(row, "seconds_per_case") {
        record.scores.push(score(
            "seconds_per_case",
            seconds,
            Unit::Seconds,
            Direction::Down,
            cases,
        ));
    }
    sink.run(run).stated = stated(row);
}

/// Returns the rates that a row publishes, each with the rate recomputed from the row's counts.
fn stated(row: &Node) -> Vec<StatedFigure> {
    let cases = counted(row, "test_cases").filter(|cases| *cases > 0);
    let figure = |(key, count, is_failed): (&str, &str, bool)| {
        let recomputed = counted(row, count)
            .zip(cases)
            .map(|(count, cases)| count as f64 / cases as f64);
        let recomputed = recomputed.map(|share| if is_failed { 1.0 - share } else { share });
        Some(StatedFigure {
            name: key.to_owned(),
            value: share(row, key)?,
            unit: Unit::Fraction,
            recomputed,
            rounding: Some(ROUNDING),
        })
    };
    let rates = [
        ("pass_rate_1", "pass_num_1", false),
        ("pass_rate_2", "pass_num_2", false),
        (
            "percent_cases_well_formed",
            "num_with_malformed_responses",
            true,
        ),
    ];
    rates.into_iter().filter_map(figure).collect()
}

fn share(row: &Node, key: &str) -> Option<f64> {
    amount(row, key)
        .filter(|percent| *percent <= 100.0)
        .map(|percent| percent / 100.0)
}

fn amount(row: &Node, key: &str) -> Option<f64> {
    number(key, &word(row, key)?, Range::NotNegative).ok()
}

fn counted(row: &Node, key: &str) -> Option<u64> {
    whole(key, &word(row, key)?).ok()
}

fn word(row: &Node, key: &str) -> Option<String> {
    let node = row.get(key).filter(|node| !node.is_null())?;
    match &node.value {
        document::Value::Scalar(scalar) => {
            Some(scalar.text.trim().to_owned()).filter(|text| !text.is_empty())
        }
        document::Value::List(_) | document::Value::Map(_) => None,
    }
}

fn has_repeated_keys(row: &Node) -> bool {
    match &row.value {
        document::Value::Map(entries) => {
            let mut keys = BTreeSet::new();
            !entries.iter().all(|(key, _)| keys.insert(&key.text))
        }
        document::Value::List(_) | document::Value::Scalar(_) => false,
    }
}
