//! `gate`: did anything get worse than was allowed? For a build server, which reads the exit code.

use std::fs;

use tracing::info;

use crate::config;
use crate::domain::{BUILT_IN, Bound, PASS_RATE, built_in, metric_key, visible};
use crate::render::json::GateAnswer;
use crate::render::{comparability, csv, gate as page, json, junit, markdown, tables, terminal};
use crate::views::{Ask, Baseline, Basis, GateReport, GateRule, Grouping, Ruling, gate, held_groups, retracted};

use super::arguments::{Format, Gate, OnInconclusive};
use super::baseline::{self, Opened};
use super::failure::{self, Failure};
use super::settings::Settings;
use super::shown::shown;
use super::{exit_code, output, policy, selection};

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
    let grouping = if arguments.newest_batch { Grouping::NewestBatch } else { Grouping::AllBatches };
    let groups = held_groups(&warehouse, &filter, &baseline, grouping);
    if groups.is_empty() {
        return Err(Failure::new("there is no run to hold against the baseline: every selected one is the baseline's own")
            .with_hint("the runs of the baseline never count as the head; --results must hold the new ones"));
    }
    let report = gate(&warehouse, &groups, &rules, &policy);
    if report.checks.is_empty() {
        return Err(Failure::new("no rule is about a selected suite and approach").with_hint("`evalreport list` shows what there is"));
    }
    check_metrics(&asked, &report)?;
    policy::check_margins(&arguments.judging, report.measured.values())?;
    if settings.strict {
        failure::refuse_unlike(&comparability::gate_notes(&report))?;
    }
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

/// Refuses to begin where the configuration has no rule, or a wrong one.
pub(super) fn check_configured(settings: &Settings) -> Result<(), Failure> {
    if settings.config.gate.is_empty() {
        return Err(Failure::new("there is no rule to hold the runs to").with_hint("write rules under `gate` in the configuration"));
    }
    settings.config.gate.iter().try_for_each(|rule| configured(rule).map(drop))
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
        return baseline::open(settings, what, settings.options(), !arguments.newest_batch);
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
    let metric = metric_key(arguments.metric.as_deref().unwrap_or(PASS_RATE));
    let bound = |option: &str, text: &Option<String>| {
        text.as_deref()
            .map(|text| {
                Bound::parse(text).ok_or_else(|| {
                    Failure::new(format!("{option} `{}` is no amount", visible(text))).with_hint("write a number, or as in 2pp or 10%")
                })
            })
            .transpose()
    };
    let (drop, rise) = (bound("--max-drop", &arguments.max_drop)?, bound("--max-rise", &arguments.max_rise)?);
    if arguments.metric.is_some() && drop.or(rise).is_none() {
        return Err(Failure::new("--metric has no bound").with_hint("say how far it may go with --max-drop or --max-rise"));
    }
    let mut rules: Vec<GateRule> = bounded(metric, drop, rise).collect();
    if let Some(text) = &arguments.max_cost {
        // Without the sign, 10 could be dollars or a tenfold.
        let cost = Bound::parse(text)
            .filter(|bound| bound.is_percent())
            .ok_or_else(|| Failure::new(format!("--max-cost `{}` is no percentage", visible(text))).with_hint("write it as in +10%"))?;
        rules.extend(bounded("cost_usd", None, Some(cost)));
    }
    rules.extend(arguments.must_pass.iter().map(|item| must_pass(item)));
    check_shares(&rules, "the command line")?;
    Ok(rules)
}

/// The rules of one entry of the configuration.
fn configured(entry: &config::Gate) -> Result<Vec<GateRule>, Failure> {
    let metric = metric_key(entry.metric.as_deref().unwrap_or(PASS_RATE));
    let asked = bounded(metric, entry.max_drop, entry.max_rise).chain(entry.must_pass.iter().map(|item| must_pass(item)));
    let rules: Vec<GateRule> =
        asked.map(|rule| GateRule { suite: entry.suite.clone(), approach: entry.approach.clone(), ..rule }).collect();
    check_shares(&rules, "`gate` in the configuration")?;
    Ok(rules)
}

fn bounded(metric: &str, drop: Option<Bound>, rise: Option<Bound>) -> impl Iterator<Item = GateRule> {
    let rule = |ask, bound: Bound| GateRule { suite: None, approach: None, ask, is_percent: bound.is_percent() };
    let drop = drop.map(|bound| rule(Ask::MaxDrop { metric: metric.to_owned(), allowed: bound.value }, bound));
    let rise = rise.map(|bound| rule(Ask::MaxRise { metric: metric.to_owned(), allowed: bound.value }, bound));
    drop.into_iter().chain(rise)
}

fn must_pass(item: &str) -> GateRule {
    GateRule { suite: None, approach: None, ask: Ask::MustPass { item: item.to_owned() }, is_percent: false }
}

/// A pass rate that may change by all of itself is a slip of the unit.
fn check_shares(rules: &[GateRule], place: &str) -> Result<(), Failure> {
    for rule in rules {
        let (Ask::MaxDrop { metric, allowed } | Ask::MaxRise { metric, allowed }) = &rule.ask else { continue };
        if metric == PASS_RATE && *allowed >= 1.0 {
            return Err(Failure::new(format!("{place} allows the pass rate to change by {} percentage points", allowed * 100.0))
                .with_hint("write 2pp or 0.02 for two percentage points"));
        }
    }
    Ok(())
}

/// Refuses metrics of the command line that nobody has heard of: a slip must not look like missing data.
fn check_metrics(rules: &[GateRule], report: &GateReport) -> Result<(), Failure> {
    for rule in rules {
        let (Ask::MaxDrop { metric, .. } | Ask::MaxRise { metric, .. }) = &rule.ask else { continue };
        if built_in(metric).is_none() && !report.measured.contains_key(metric) {
            let always = BUILT_IN.into_iter().map(|(name, _, _)| name);
            return Err(selection::unknown("metric", metric, always.chain(report.measured.keys().map(String::as_str))));
        }
    }
    Ok(())
}
