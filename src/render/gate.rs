//! A gate's report: the table, and a sentence for each check.

use crate::domain::{MetricKind, Unit};
use crate::views::{Ask, Basis, Cell, GateCheck, GateReport, Ruling};

use super::table::Table;
use super::{comparability, format, verdicts, words};

/// A pull request's comment starts with this line, so that the next one can take its place.
pub const MARKER: &str = "<!-- evalreport:gate -->";

/// Lays out the checks, one a row; below, what is no plain pass in a sentence. `notes` come last.
pub fn table(report: &GateReport, against: Option<&str>, notes: &[String]) -> Table {
    let title = against.map_or_else(String::new, |against| format!(" against {against}"));
    let mut table = Table::new(format!("Gate{title}: {}", ruling(report.ruling)));
    table.left("Result", 0);
    table.left("Suite", 0);
    table.left("Arm", 0);
    table.left("Rule", 0);
    table.left("Head", 2);
    table.left("Baseline", 2);
    table.left(&format!("Change [{}% CI]", format::fixed(report.confidence * 100.0, 0)), 1);
    for check in &report.checks {
        table.rows.push(vec![
            ruling(check.ruling).to_owned(),
            check.suite.clone(),
            arm(check),
            rule(check),
            head(check),
            cell(check, check.baseline.as_ref()),
            change(check),
        ]);
    }
    let is_told = |check: &&GateCheck| check.ruling != Ruling::Pass || matches!(check.basis, Basis::Deterministic | Basis::Identical);
    table.notes.extend(report.checks.iter().filter(is_told).map(|check| format!("{}.", sentence(check, report.confidence))));
    table.notes.extend(comparability::gate_notes(report).iter().map(|note| format!("{note}.")));
    for absent in &report.absent {
        table.notes.push(format!("{} on {} is in the baseline and not in the head.", words::arm_name(&absent.arm), absent.suite));
    }
    if report.ruling == Ruling::Regression && report.by_interval > 1 {
        table.notes.push(format!(
            "{} checks by interval, each at {}%: if every change were just what is allowed, one or more would still be called a regression \
             with a chance of at most {}%.",
            format::integer(report.by_interval),
            format::fixed(report.confidence * 100.0, 0),
            format::fixed(report.false_regression * 100.0, 1)
        ));
    }
    table.notes.extend_from_slice(notes);
    table
}

/// The arm, and the other one that it is held against where that is not its own.
fn arm(check: &GateCheck) -> String {
    match &check.against {
        Some(against) if *against != check.arm => format!("{} vs {}", words::arm_name(&check.arm), words::arm_name(against)),
        _ => words::arm_name(&check.arm),
    }
}

/// The word of a ruling.
pub fn ruling(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Pass => "pass",
        Ruling::Inconclusive => "inconclusive",
        Ruling::Regression => "regression",
    }
}

/// What was asked: `Questions: at most 2.0 pp lower`.
pub fn rule(check: &GateCheck) -> String {
    let named = |metric: &str| check.metric.as_ref().map_or_else(|| metric.to_owned(), |metric| metric.label.clone());
    match &check.rule {
        Ask::MaxDrop { metric, allowed } => format!("{}: at most {} lower", named(metric), allowance(check, *allowed)),
        Ask::MaxRise { metric, allowed } => format!("{}: at most {} higher", named(metric), allowance(check, *allowed)),
        Ask::MustPass { item } => format!("must pass {item}"),
    }
}

fn allowance(check: &GateCheck, allowed: f64) -> String {
    // As many decimals as the bound has, up to four.
    let short = |value: f64| {
        let decimals = (0..4).find(|decimals| format!("{value:.decimals$}").parse::<f64>().is_ok_and(|shown| (shown - value).abs() < 1e-9));
        format::fixed(value, decimals.unwrap_or(4))
    };
    match check.metric.as_ref() {
        Some(metric) if metric.kind == MetricKind::Amount => format!("{}%", short(allowed * 100.0)),
        Some(metric) if metric.unit == Unit::Fraction => format!("{} pp", short(allowed * 100.0)),
        Some(metric) if metric.unit == Unit::Points => format!("{} points", short(allowed)),
        Some(_) | None => short(allowed),
    }
}

fn head(check: &GateCheck) -> String {
    match (check.passed, check.attempts) {
        (Some(passed), Some(attempts)) => format!("{}/{}", format::integer(passed), format::integer(attempts)),
        _ => cell(check, check.head.as_ref()),
    }
}

fn cell(check: &GateCheck, cell: Option<&Cell>) -> String {
    check.metric.as_ref().zip(cell).map_or_else(String::new, |(metric, cell)| words::cell(metric, cell))
}

/// `−1.2 pp [−4.0, +1.6]`, `1.08× [0.95, 1.23]`.
fn change(check: &GateCheck) -> String {
    let found = check.metric.as_ref().zip(check.evidence.as_ref());
    found.and_then(|(metric, pair)| verdicts::change_of(metric, pair)).unwrap_or_default()
}

/// One check in a sentence, without its full stop.
pub fn sentence(check: &GateCheck, confidence: f64) -> String {
    let who = format!("{} on {}", words::arm_name(&check.arm), check.suite);
    let against = match &check.against {
        Some(against) if *against != check.arm => format!(" ({} in the baseline)", words::arm_name(against)),
        _ => String::new(),
    };
    let mut text = format!("{who}{against}: {}", rule(check));
    let found = found(check, confidence);
    if !found.is_empty() {
        text.push_str(&format!("; {found}"));
    }
    text.push_str(&format!(": {}", ruling(check.ruling)));
    let why = why(check);
    if !why.is_empty() {
        text.push_str(&format!(", {why}"));
    }
    if let Some(further) = check.further {
        let each = if further.of == "runs" { " of each arm" } else { "" };
        let about = if check.basis == Basis::TooFew { "at least" } else { "about" };
        text.push_str(&format!(
            "; {about} {} more {}{each} would be needed",
            format::integer(further.n),
            words::one_or_many(further.n, further.of)
        ));
    }
    text
}

/// What the data show: values, change, and what it was counted over.
fn found(check: &GateCheck, confidence: f64) -> String {
    if let (Some(passed), Some(attempts)) = (check.passed, check.attempts) {
        return format!("passed {} of {} {}", format::integer(passed), format::integer(attempts), words::one_or_many(attempts, "attempts"));
    }
    let Some((metric, pair)) = check.metric.as_ref().zip(check.evidence.as_ref()) else { return String::new() };
    let Some(difference) = &pair.difference else { return String::new() };
    let level =
        if difference.interval.is_some() { format!(" at {}% confidence", format::fixed(confidence * 100.0, 0)) } else { String::new() };
    format!(
        "{} against {}, {}{level}, {}",
        cell(check, check.head.as_ref()),
        cell(check, check.baseline.as_ref()),
        verdicts::change(metric, difference),
        verdicts::units(pair)
    )
}

fn why(check: &GateCheck) -> String {
    let reason = || check.evidence.as_ref().and_then(|pair| verdicts::reason(pair.verdict));
    match check.basis {
        Basis::Attempts if check.ruling == Ruling::Regression => "it takes more than half of the attempts".to_owned(),
        Basis::Interval | Basis::Attempts => String::new(),
        Basis::Deterministic => "every run of each arm has the same outcomes, so the difference itself decides".to_owned(),
        Basis::Identical => "every item fared as in the baseline".to_owned(),
        Basis::TooWide => "the bound lies within the interval".to_owned(),
        Basis::TooFew | Basis::NotComparable => reason().unwrap_or_else(|| "the two cannot be compared".to_owned()),
        Basis::NoInterval => reason().unwrap_or_else(|| "these data allow no interval".to_owned()),
        Basis::MissingOutcomes => "the missing outcomes could make it otherwise".to_owned(),
        Basis::NoBaseline => "there is no baseline for it".to_owned(),
        Basis::OtherVersion => "the baseline's runs are of another version of the suite".to_owned(),
        Basis::NotMeasured => "it is not measured on both sides".to_owned(),
        Basis::NoRatio => "a bound in percent needs a share, or amounts above zero".to_owned(),
        Basis::ItemAbsent => "the head has no outcome of this item".to_owned(),
    }
}
