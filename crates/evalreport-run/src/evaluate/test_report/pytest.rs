//! Parses pytest's text: the lines of a report that was not finished, and the output of commands that have no report of their own.

use crate::domain::ItemStatus;

use super::collect::{OutcomeCollector, TestCounts};
use super::output::OutputText;

/// Returns the number of sessions in the output.
pub fn count_sessions(stdout: &OutputText) -> usize {
    let starts = stdout
        .lines()
        .filter(|line| line.starts_with('=') && line.contains(" test session starts "))
        .count();
    let ends = stdout
        .lines()
        .filter(|line| parse_summary(line).is_some())
        .count();
    starts.max(ends)
}

/// Adds the tests of a verbose run. Returns false, and adds nothing, if not all passed tests are named.
pub fn read_tests(stdout: &OutputText, tests: &mut OutcomeCollector) -> bool {
    let mut events: Vec<(&str, ItemStatus, Option<&str>)> = Vec::new();
    let mut in_summary = false;
    let mut named = false;
    let mut passed = 0;
    // A test whose own output (with `-s`) is between its name and its status.
    let mut open: Option<&str> = None;
    for line in stdout.lines() {
        if line.starts_with('=') {
            in_summary = line.contains(" short test summary info ");
            passed += parse_summary(line).map_or(0, |counts| counts.passed);
            open = None;
            continue;
        }
        if in_summary {
            events.extend(parse_short_line(line));
        } else if let Some((id, status)) = parse_verbose_line(line) {
            named = true;
            open = None;
            events.push((id, status, None));
        } else if let Some(id) = open
            && let Some((word, _)) = parse_status_word(line)
        {
            events.push((id, word, None));
            open = None;
        } else if is_test_id(line.trim_end()) {
            open = Some(line.trim_end());
        }
        if !line.starts_with('=') {
            passed += parse_summary(line).map_or(0, |counts| counts.passed);
        }
    }
    let told = events
        .iter()
        .filter(|(_, status, _)| *status == ItemStatus::Pass)
        .count();
    // At low verbosity, pytest names only tests that did not pass.
    if events.is_empty() || (!named && told == 0) || (told as u64) < passed {
        return false;
    }
    for (id, status, message) in events {
        tests.push_or_worsen(id, status, None, message);
    }
    true
}

/// Reads `=== 3 failed, 7 passed in 0.10s ===`, with or without the equals signs.
pub fn parse_summary(line: &str) -> Option<TestCounts> {
    let inner = line.trim_matches(['=', ' ']);
    let (counts, time) = inner.rsplit_once(" in ")?;
    if !time.starts_with(|first: char| first.is_ascii_digit()) || !time.contains('s') {
        return None;
    }
    let mut sum = TestCounts::default();
    for part in counts.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let number = u64::from(number.parse::<u32>().ok()?);
        match word {
            "passed" | "xpassed" => sum.passed += number,
            "failed" => sum.failed += number,
            "error" | "errors" => sum.errors += number,
            "skipped" | "xfailed" => sum.skipped += number,
            "deselected" | "warning" | "warnings" | "rerun" | "subtests passed" => {}
            _ => return None,
        }
    }
    Some(sum)
}

/// Reads `file.py::test PASSED [ 50%]` and, with workers, `[gw0] [ 50%] PASSED file.py::test`.
fn parse_verbose_line(line: &str) -> Option<(&str, ItemStatus)> {
    if let Some(rest) = line.strip_prefix("[gw") {
        let (_, rest) = rest.split_once("%] ")?;
        let (status, id) = parse_status_word(rest)?;
        return is_test_id(id.trim()).then_some((id.trim(), status));
    }
    let line = line.trim_end();
    let line = line
        .strip_suffix("%]")
        .and_then(|rest| rest.rsplit_once('['))
        .map_or(line, |(rest, _)| rest)
        .trim_end();
    // The reason of a skipped test follows its status.
    [
        " PASSED", " FAILED", " ERROR", " SKIPPED", " XFAIL", " XPASS",
    ]
    .iter()
    .find_map(|word| {
        let (id, rest) = line.rsplit_once(word)?;
        let ends = rest.is_empty() || (rest.starts_with(" (") && rest.ends_with(['.', ')']));
        let (status, _) = parse_status_word(word.trim_start())?;
        (ends && is_test_id(id)).then_some((id, status))
    })
}

/// Reads `FAILED file.py::test - reason`, and lines about files that could not be collected.
fn parse_short_line(line: &str) -> Option<(&str, ItemStatus, Option<&str>)> {
    let (status, rest) = parse_status_word(line)?;
    let (id, reason) = rest
        .split_once(" - ")
        .map_or((rest, None), |(id, reason)| (id, Some(reason)));
    let is_file =
        status == ItemStatus::Error && id.strip_suffix(".py").is_some() && !id.contains(' ');
    (is_test_id(id) || is_file).then_some((
        id,
        status,
        reason.filter(|_| status != ItemStatus::Pass),
    ))
}

fn parse_status_word(line: &str) -> Option<(ItemStatus, &str)> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let status = match word {
        "PASSED" | "XPASS" => ItemStatus::Pass,
        "FAILED" => ItemStatus::Fail,
        "ERROR" => ItemStatus::Error,
        "SKIPPED" | "XFAIL" => ItemStatus::Skipped,
        _ => return None,
    };
    Some((status, rest))
}

fn is_test_id(text: &str) -> bool {
    text.split_once("::")
        .is_some_and(|(file, _)| !file.is_empty() && !file.contains(' '))
}
