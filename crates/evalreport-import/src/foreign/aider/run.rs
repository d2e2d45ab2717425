//! Facts of a run in aider's files.

use crate::domain::{Direction, Git, Run, ScoreRecord, Unit};

use super::super::super::cell::parse_date_time;

pub(super) const EVALUATOR: &str = "tests";

pub(super) const CASE_RESULTS: &str = ".aider.results.json";

/// Reads a run's start from its name, `2026-01-02-03-04-05--name`, and returns it as a date and time.
pub(super) fn parse_start(name: &str) -> Option<String> {
    let stamp = name.split_once("--")?.0;
    let parts: Vec<&str> = stamp.split('-').collect();
    let [year, month, day, hour, minute, second] = parts.as_slice() else {
        return None;
    };
    let is_number = |part: &&str| {
        !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    parts
        .iter()
        .all(is_number)
        .then(|| format!("{year}-{month}-{day} {hour}:{minute}:{second}"))
}

/// Sets the run's time, whose zone is unknown.
pub(super) fn set_start_time(run: &mut Run, text: &str) {
    if let Ok(time) = parse_date_time("date", text.trim()) {
        run.timestamp = Some(time);
        run.tags.insert("zone".to_owned(), "unknown".to_owned());
    }
}

/// Parses the revision of aider that ran: `abc123` or `abc123-dirty`.
pub(super) fn parse_git(commit: &str) -> Option<Git> {
    let (rev, dirty) = commit
        .trim()
        .strip_suffix("-dirty")
        .map_or((commit.trim(), false), |rev| (rev, true));
    (!rev.is_empty()).then(|| Git {
        rev: rev.to_owned(),
        branch: None,
        dirty,
    })
}

/// Adds a rate to the run's scores.
pub(super) fn push_rate(run: &mut Run, metric: &str, share: f64, n: Option<u64>) {
    run.scores
        .push(new_score(metric, share, Unit::Fraction, Direction::Up, n));
}

pub(super) fn new_score(
    metric: &str,
    value: f64,
    unit: Unit,
    direction: Direction,
    n: Option<u64>,
) -> ScoreRecord {
    ScoreRecord {
        n,
        evaluator: Some(EVALUATOR.to_owned()),
        ..ScoreRecord::new(metric, value, unit, direction)
    }
}
