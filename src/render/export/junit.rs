//! JUnit XML: one test suite per run, one test case per outcome, with elements and attributes that every build server knows.
//!
//! Outcomes that count as wrong are failures or errors; missing and skipped ones are skipped. If all outcomes have one kind, the share of
//! passed cases is therefore the run's pass rate. Properties keep the kind and the evaluator, for programs that import the report again.

use chrono::{SecondsFormat, TimeDelta};

use crate::domain::{
    ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, is_model_name, shorten_to,
};
use crate::views::RunTally;

use super::super::junit::{escape_attribute, escape_lines};
use super::{nonblank_reason, run_arm_name, whole_milliseconds};

pub const DOCUMENT_BEGIN: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"evalreport\">\n";
pub const SUITE_END: &str = "  </testsuite>\n";
pub const DOCUMENT_END: &str = "</testsuites>\n";

/// Maximum characters of a message. The element's text has the whole reason.
const MAX_OF_A_MESSAGE: usize = 300;

/// Begins the suite of a run.
pub fn begin_suite(run: &Run, tally: &RunTally) -> String {
    let all = tally.sum_groups();
    let count = |statuses: &[ItemStatus]| {
        statuses
            .iter()
            .map(|status| all.count(*status))
            .sum::<u64>()
    };
    let mut text = format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        escape_attribute(&format!(
            "{} · {} · {}",
            run.suite,
            run_arm_name(run),
            run.id
        )),
        all.total(),
        count(&[ItemStatus::Fail]),
        count(&[ItemStatus::Error, ItemStatus::Limit]),
        count(&[
            ItemStatus::Infra,
            ItemStatus::NotEvaluated,
            ItemStatus::Skipped
        ]),
    );
    if let Some(seconds) = run.duration_seconds.or(all.seconds) {
        text.push_str(&format!(" time=\"{}\"", format_seconds(seconds)));
    }
    // JUnit's time is the start of the suite, a run's the end. Do not sum the outcomes' durations: they may have overlapped.
    let began = run.timestamp.and_then(|ended| {
        let took =
            TimeDelta::try_milliseconds(whole_milliseconds(run.duration_seconds.unwrap_or(0.0)))?;
        ended.checked_sub_signed(took)
    });
    if let Some(began) = began {
        text.push_str(&format!(
            " timestamp=\"{}\"",
            began.to_rfc3339_opts(SecondsFormat::AutoSi, true)
        ));
    }
    if let Some(host) = &run.host {
        text.push_str(&format!(" hostname=\"{}\"", escape_attribute(host)));
    }
    text.push_str(">\n    <properties>\n");
    let cost = run.cost_usd.map(|cost| cost.to_string());
    let headline = tally.headline_group();
    let ended = run
        .timestamp
        .map(|ended| ended.to_rfc3339_opts(SecondsFormat::AutoSi, true));
    let counts = super::counts_without_outcomes(run, tally)
        .map(|(passed, total)| (passed.to_string(), total.to_string()));
    let properties = [
        ("run", Some(run.id.as_str())),
        ("suite", Some(run.suite.as_str())),
        ("approach", Some(run.approach.as_str())),
        (
            "model",
            Some(run.model.as_str()).filter(|model| is_model_name(model)),
        ),
        ("status", Some(run.status.name())),
        ("suite_version", run.suite_version.as_deref()),
        ("cost_usd", cost.as_deref()),
        ("git_rev", run.git.as_ref().map(|git| git.rev.as_str())),
        ("ended", ended.as_deref()),
        ("kind", headline.map(|(kind, _)| kind.name())),
        ("evaluator", headline.map(|(_, evaluator)| evaluator)),
        (
            super::PASSED_KEY,
            counts.as_ref().map(|(passed, _)| passed.as_str()),
        ),
        (
            super::TOTAL_KEY,
            counts.as_ref().map(|(_, total)| total.as_str()),
        ),
        (
            super::COUNTED_KEY,
            counts.as_ref().and(run.counted).map(ItemKind::name),
        ),
    ];
    for (name, value) in properties {
        if let Some(value) = value {
            text.push_str(&format!(
                "      <property name=\"{name}\" value=\"{}\"/>\n",
                escape_attribute(value)
            ));
        }
    }
    text.push_str("    </properties>\n");
    text
}

/// Writes the case of an outcome.
pub fn write_case(
    run: &Run,
    tally: &RunTally,
    outcome: &ItemOutcome,
    details: &ItemDetails,
) -> String {
    let mut class = format!("{}.{}", run.suite, run_arm_name(run));
    if !tally.has_one_evaluator() {
        class.push_str(&format!(".{}", outcome.evaluator));
    }
    // Some readers keep only one case per name.
    let attempt = if tally.has_several_attempts() {
        format!(" (attempt {})", outcome.attempt)
    } else {
        String::new()
    };
    let mut text = format!(
        "    <testcase classname=\"{}\" name=\"{}\"",
        escape_attribute(&class),
        escape_attribute(&format!("{}{attempt}", outcome.item))
    );
    if let Some(seconds) = outcome.duration_seconds {
        text.push_str(&format!(" time=\"{}\"", format_seconds(seconds)));
    }
    let properties = case_properties(tally, outcome);
    let element = match outcome.status {
        ItemStatus::Pass if properties.is_empty() => return text + "/>\n",
        ItemStatus::Pass => return text + ">\n" + &properties + "    </testcase>\n",
        ItemStatus::Fail => "failure",
        ItemStatus::Error | ItemStatus::Limit => "error",
        ItemStatus::Infra | ItemStatus::NotEvaluated | ItemStatus::Skipped => "skipped",
    };
    let reason = nonblank_reason(details);
    let first_line = reason
        .and_then(|reason| reason.lines().next())
        .map(|line| shorten_to(line, MAX_OF_A_MESSAGE));
    let status = outcome.status.name();
    text.push_str(">\n");
    text.push_str(&properties);
    text.push_str("      ");
    match (element, first_line, reason) {
        // A skipped element has no type, and in some schemas no text.
        ("skipped", Some(line), _) => text.push_str(&format!(
            "<skipped message=\"{}\"/>",
            escape_attribute(&format!("{status}: {line}"))
        )),
        ("skipped", None, _) => text.push_str(&format!("<skipped message=\"{status}\"/>")),
        (_, Some(line), Some(reason)) => {
            text.push_str(&format!(
                "<{element} type=\"{status}\" message=\"{}\">{}</{element}>",
                escape_attribute(&line),
                escape_lines(reason)
            ));
        }
        (_, _, _) => text.push_str(&format!(
            "<{element} type=\"{status}\" message=\"{status}\"/>"
        )),
    }
    text + "\n    </testcase>\n"
}

/// Returns an outcome's kind and evaluator as properties if they differ from the run's headline.
fn case_properties(tally: &RunTally, outcome: &ItemOutcome) -> String {
    let (kind, evaluator) = tally.headline_group().unzip();
    let own = [
        ("kind", outcome.kind.name(), kind != Some(outcome.kind)),
        (
            "evaluator",
            outcome.evaluator.as_str(),
            evaluator != Some(outcome.evaluator.as_str()),
        ),
    ];
    let mut lines = String::new();
    for (name, value, _) in own.into_iter().filter(|(_, _, is_other)| *is_other) {
        lines.push_str(&format!(
            "        <property name=\"{name}\" value=\"{}\"/>\n",
            escape_attribute(value)
        ));
    }
    if lines.is_empty() {
        lines
    } else {
        format!("      <properties>\n{lines}      </properties>\n")
    }
}

/// Formats seconds for programs.
fn format_seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}
