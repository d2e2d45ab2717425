//! Reads the YAML lists behind aider's leaderboards: one row is one run, without outcomes of its cases.

use std::collections::BTreeSet;

use crate::document::{self, Node};
use crate::domain::{Direction, Problem, StatedFigure, Unit, escape_invisible};

use super::super::super::cell::{NumberRange, Refused, parse_count, parse_number};
use super::super::super::rows::ReadStop;
use super::super::sink::ImportSink;
use super::super::source::ForeignFile;
use super::run::{new_score, parse_git, push_rate, set_start_time};

const MAX_BYTES: u64 = 16 << 20;
/// Half of the last digit: rates are printed in percent with one decimal.
const RATE_ROUNDING: f64 = 0.000_5;
/// Numbers of cases of the two smaller benchmarks. A list with more cases is of a larger benchmark.
const MAX_REFACTOR: u64 = 89;
const MAX_EDIT: u64 = 134;

pub(super) fn is_leaderboard(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let starts = head.lines().any(|line| {
        line.strip_prefix('-')
            .is_some_and(|rest| rest.trim_start().starts_with("dirname:"))
    });
    let has = |key: &str| head.lines().any(|line| line.trim_start().starts_with(key));
    starts && has("pass_rate_1:") && has("edit_format:")
}

pub(super) fn read_leaderboard(
    file: &ForeignFile,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let bytes = file.read_bytes(MAX_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| file.problem("is not UTF-8"))?;
    let list = document::parse_table(&file.shown, &text).map_err(ReadStop::Unreadable)?;
    let document::Value::List(rows) = &list.value else {
        return Err(Problem::in_file(
            &file.shown,
            format!("must be a list of runs, not {}", list.kind_noun()),
        )
        .into());
    };
    let suite = detect_suite(&file.name, rows, sink);
    let mut seen = BTreeSet::new();
    for row in rows {
        let place = format!("line {}", row.line);
        match read_text(row, "dirname") {
            None => sink.refuse_part(&place, Refused::new("the run has no dirname")),
            Some(dirname) if !seen.insert(dirname.clone()) => {
                sink.refuse_part(
                    &place,
                    Refused::with_detail(
                        "the run is there twice",
                        format!("dirname `{}`", escape_invisible(&dirname)),
                    ),
                );
            }
            Some(dirname) => add_row(&dirname, suite, row, sink),
        }
    }
    Ok(())
}

/// Returns the file's benchmark, by the file's name or else by the number of cases.
fn detect_suite(file: &str, rows: &[Node], sink: &mut ImportSink<'_>) -> &'static str {
    let file = file.to_lowercase();
    let named = [
        ("polyglot", "aider-polyglot"),
        ("refactor", "aider-refactor"),
        ("edit_leaderboard", "aider-edit"),
    ];
    if let Some((_, suite)) = named.into_iter().find(|(name, _)| file.contains(name)) {
        return suite;
    }
    sink.note_quirk("the number of cases decides which benchmark it is");
    let most = rows
        .iter()
        .filter_map(|row| read_count(row, "test_cases"))
        .max()
        .unwrap_or_default();
    if most > MAX_EDIT {
        "aider-polyglot"
    } else if most > MAX_REFACTOR {
        "aider-edit"
    } else {
        "aider-refactor"
    }
}

fn add_row(dirname: &str, suite: &str, row: &Node, sink: &mut ImportSink<'_>) {
    let own = |key: &str| read_text(row, key).unwrap_or_default();
    sink.count_run_record();
    let Some(run) = sink.begin_run(&[dirname], [suite, &own("edit_format"), &own("model")]) else {
        // Lists repeat each other's rows, sometimes with other figures.
        sink.check_repeated_figures(published_rates(row));
        return;
    };
    if has_repeated_keys(row) {
        sink.note_quirk("repeated keys: the first counts");
    }
    let cases = read_count(row, "test_cases").filter(|cases| *cases > 0);
    if cases
        .zip(read_count(row, "total_tests"))
        .is_some_and(|(cases, total)| cases < total)
    {
        sink.note_quirk("fewer cases than the benchmark has: rates are over the completed cases");
    }
    let cost = read_amount(row, "total_cost");
    if cost == Some(0.0) {
        sink.note_quirk("a total_cost of 0 is read as unknown");
    }
    let record = sink.run_mut(run);
    set_start_time(record, &own("date"));
    record.git = parse_git(&own("commit_hash"));
    record.cost_usd = cost.filter(|cost| *cost > 0.0);
    let tokens = |key: &str| read_count(row, key).filter(|tokens| *tokens > 0);
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
            .filter_map(|(tag, key)| Some((tag.to_owned(), read_text(row, key)?))),
    );
    let solved = read_count(row, "pass_num_2")
        .zip(cases)
        .filter(|(solved, cases)| solved <= cases);
    (record.shared_tests_passed, record.shared_tests_total) = solved.unzip();
    // Without counts, keep the published rate.
    if let Some(rate) = read_share(row, "pass_rate_2").filter(|_| solved.is_none()) {
        push_rate(record, "pass_rate", rate, cases);
    }
    for (key, metric) in [
        ("pass_rate_1", "pass_rate_1"),
        ("percent_cases_well_formed", "well_formed"),
    ] {
        if let Some(rate) = read_share(row, key) {
            push_rate(record, metric, rate, cases);
        }
    }
    if let Some(seconds) = read_amount(row, "seconds_per_case") {
        record.scores.push(new_score(
            "seconds_per_case",
            seconds,
            Unit::Seconds,
            Direction::Down,
            cases,
        ));
    }
    sink.run_mut(run).stated = published_rates(row);
}

/// Returns the rates that a row publishes, each with the rate recomputed from the row's counts.
fn published_rates(row: &Node) -> Vec<StatedFigure> {
    let cases = read_count(row, "test_cases").filter(|cases| *cases > 0);
    let figure = |(key, count, is_failed): (&str, &str, bool)| {
        let recomputed = read_count(row, count)
            .zip(cases)
            .map(|(count, cases)| count as f64 / cases as f64);
        let recomputed = recomputed.map(|share| if is_failed { 1.0 - share } else { share });
        Some(StatedFigure {
            name: key.to_owned(),
            value: read_share(row, key)?,
            unit: Unit::Fraction,
            recomputed,
            rounding: Some(RATE_ROUNDING),
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

fn read_share(row: &Node, key: &str) -> Option<f64> {
    read_amount(row, key)
        .filter(|percent| *percent <= 100.0)
        .map(|percent| percent / 100.0)
}

fn read_amount(row: &Node, key: &str) -> Option<f64> {
    parse_number(key, &read_text(row, key)?, NumberRange::NotNegative).ok()
}

fn read_count(row: &Node, key: &str) -> Option<u64> {
    parse_count(key, &read_text(row, key)?).ok()
}

fn read_text(row: &Node, key: &str) -> Option<String> {
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
