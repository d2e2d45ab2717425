//! `gate`: did anything get worse than was allowed? For a build server, which reads the exit code.

use std::fs;

use tracing::info;

use crate::config;
use crate::domain::{metric_key, parse_amount, visible};
use crate::render::json::GateAnswer;
use crate::render::{csv, gate as page, json, junit, markdown, tables, terminal};
use crate::views::{Ask, Baseline, Basis, GateReport, GateRule, Grouping, Ruling, gate, held_groups, retracted};

use super::arguments::{Format, Gate, OnInconclusive};
use super::baseline::{self, Opened};
use super::failure::Failure;
use super::settings::{Settings, shown};
use super::{exit_code, output, policy, selection};

/// The pass rate's key; no share of passes can change by more than all of it.
const PASS_RATE: &str = "shared_tests";
/// Metrics that every comparison asks for, measured or not.
const ALWAYS: [&str; 8] =
    ["duration_seconds", "total_tokens", "cost_usd", PASS_RATE, "own_tests", "files_generated", "lines_generated", "total_calls"];

pub(super) fn run(settings: &Settings, arguments: &Gate) -> Result<u8, Failure> {
    let mut filter = arguments.selection.filter()?;
    filter.suites.extend(arguments.suites.iter().cloned());
    let policy = policy::policy(settings, &arguments.judging)?;
    let asked = rules_of(arguments)?;
    let mut rules = asked.clone();
    for rule in &settings.config.gate {
        rules.extend(configured(rule)?);
    }
    if rules.is_empty() {
        return Err(Failure::new("there is no rule to hold the runs to")
            .with_hint("as in --max-drop 2pp, --max-cost +10% or --must-pass ITEM, or `gate` in the configuration"));
    }
    let Opened { mut warehouse, baseline, missing, lasts } = open(settings, arguments, &rules)?;
    selection::check(&warehouse, &filter)?;
    let grouping = if arguments.all_batches { Grouping::AllBatches } else { Grouping::NewestBatch };
    let groups = held_groups(&warehouse, &filter, &baseline, grouping);
    if groups.is_empty() {
        return Err(Failure::new("no run is left to hold against the baseline: every selected one is the baseline's own")
            .with_hint("the runs of the baseline never count as the head"));
    }
    let report = gate(&warehouse, &groups, &rules, &policy);
    if report.checks.is_empty() {
        return Err(Failure::new("no rule is about a selected suite and approach").with_hint("`evalreport list` shows what there is"));
    }
    check_metrics(&asked, &report)?;
    let retracted = retracted(&warehouse, &filter);
    let mut notes = Vec::new();
    if missing.is_some() || report.checks.iter().any(|check| matches!(check.basis, Basis::NoBaseline | Basis::OtherVersion)) {
        notes.extend(missing.iter().map(|tried| format!("There is {tried}.")));
        notes.push("To make a baseline, run `evalreport export bundle FILE` where its results are, and give --baseline FILE.".to_owned());
    }
    notes.extend(tables::scope_notes(retracted, !warehouse.aliases().is_empty()));
    let fail_inconclusive = arguments.on_inconclusive == Some(OnInconclusive::Fail);
    if let Some(path) = &arguments.junit {
        fs::write(path, junit::junit(&report, fail_inconclusive))
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", shown(path))))?;
        info!(file = %path.display(), "file written");
    }
    let code = code(report.ruling, arguments.on_inconclusive);
    let table = page::table(&report, arguments.baseline.as_deref(), &notes);
    output::print(&match settings.format {
        Format::Table => terminal::table(&table, settings.style),
        Format::Csv => csv::table(&table),
        Format::Markdown => format!("{}\n{}", page::MARKER, markdown::table(&table)),
        Format::Junit => junit::junit(&report, fail_inconclusive),
        Format::Json => json::document("gate", GateAnswer { against: arguments.baseline.clone(), missing, report, retracted }),
    })?;
    if lasts {
        settings.keep(&mut warehouse);
    }
    Ok(code)
}

fn code(ruling: Ruling, on_inconclusive: Option<OnInconclusive>) -> u8 {
    match (ruling, on_inconclusive) {
        (Ruling::Pass, _) | (Ruling::Inconclusive, Some(OnInconclusive::Pass)) => exit_code::DONE,
        (Ruling::Regression, _) | (Ruling::Inconclusive, Some(OnInconclusive::Fail)) => exit_code::NEGATIVE,
        (Ruling::Inconclusive, None) => exit_code::INCONCLUSIVE,
    }
}

fn open(settings: &Settings, arguments: &Gate, rules: &[GateRule]) -> Result<Opened, Failure> {
    if let Some(what) = &arguments.baseline {
        return baseline::open(settings, what, settings.options(), arguments.all_batches);
    }
    // Items pass or fail by themselves; everything else is held against something.
    if rules.iter().any(|rule| !matches!(rule.ask, Ask::MustPass { .. })) {
        return Err(Failure::new("a rule is about a change, and --baseline does not say since when")
            .with_hint("give a store, a bundle, a result file, a run id, last:K, a tag KEY=VALUE or a git revision"));
    }
    let baseline = Baseline::Runs { ids: std::collections::BTreeSet::new(), grouping: Grouping::NewestBatch };
    Ok(Opened { warehouse: settings.open()?, baseline, missing: None, lasts: true })
}

/// The rules of the command line, which hold everywhere.
fn rules_of(arguments: &Gate) -> Result<Vec<GateRule>, Failure> {
    let mut asks = Vec::new();
    let metric = metric_key(arguments.metric.as_deref().unwrap_or(PASS_RATE)).to_owned();
    for (option, text) in [("--max-drop", &arguments.max_drop), ("--max-rise", &arguments.max_rise)] {
        let Some(text) = text else { continue };
        let allowed = parse_amount(text).ok_or_else(|| {
            Failure::new(format!("{option} `{}` is no amount", visible(text))).with_hint("write a number, or as in 2pp or 10%")
        })?;
        let metric = metric.clone();
        asks.push(if option == "--max-drop" { Ask::MaxDrop { metric, allowed } } else { Ask::MaxRise { metric, allowed } });
    }
    if arguments.metric.is_some() && asks.is_empty() {
        return Err(Failure::new("--metric has no bound").with_hint("say how far it may go with --max-drop or --max-rise"));
    }
    if let Some(text) = &arguments.max_cost {
        // Without the sign, 10 could be dollars or a tenfold.
        let allowed = text
            .trim()
            .strip_suffix('%')
            .and_then(|_| parse_amount(text))
            .ok_or_else(|| Failure::new(format!("--max-cost `{}` is no percentage", visible(text))).with_hint("write it as in +10%"))?;
        asks.push(Ask::MaxRise { metric: "cost_usd".to_owned(), allowed });
    }
    asks.extend(arguments.must_pass.iter().map(|item| Ask::MustPass { item: item.clone() }));
    for ask in &asks {
        check_share(ask, "the command line")?;
    }
    Ok(asks.into_iter().map(|ask| GateRule { suite: None, approach: None, ask }).collect())
}

/// The rules of one entry of the configuration.
fn configured(entry: &config::Gate) -> Result<Vec<GateRule>, Failure> {
    let metric = metric_key(entry.metric.as_deref().unwrap_or(PASS_RATE)).to_owned();
    let drop = entry.max_drop.map(|allowed| Ask::MaxDrop { metric: metric.clone(), allowed });
    let rise = entry.max_rise.map(|allowed| Ask::MaxRise { metric: metric.clone(), allowed });
    let items = entry.must_pass.iter().map(|item| Ask::MustPass { item: item.clone() });
    let asks = drop.into_iter().chain(rise).chain(items);
    asks.map(|ask| {
        check_share(&ask, "`gate` in the configuration")?;
        Ok(GateRule { suite: entry.suite.clone(), approach: entry.approach.clone(), ask })
    })
    .collect()
}

/// A pass rate that may fall by all of itself is a slip of the unit.
fn check_share(ask: &Ask, place: &str) -> Result<(), Failure> {
    match ask {
        Ask::MaxDrop { metric, allowed } | Ask::MaxRise { metric, allowed } if metric == PASS_RATE && *allowed >= 1.0 => {
            Err(Failure::new(format!("{place} allows the pass rate to change by {} percentage points", allowed * 100.0))
                .with_hint("write 2pp or 0.02 for two percentage points"))
        }
        Ask::MaxDrop { .. } | Ask::MaxRise { .. } | Ask::MustPass { .. } => Ok(()),
    }
}

/// Refuses metrics of the command line that nobody has heard of: a slip must not look like missing data.
fn check_metrics(rules: &[GateRule], report: &GateReport) -> Result<(), Failure> {
    for rule in rules {
        let (Ask::MaxDrop { metric, .. } | Ask::MaxRise { metric, .. }) = &rule.ask else { continue };
        if !ALWAYS.contains(&metric.as_str()) && !report.measured.contains(metric) {
            return Err(selection::unknown("metric", metric, ALWAYS.into_iter().chain(report.measured.iter().map(String::as_str))));
        }
    }
    Ok(())
}
