//! Failures of `cargo test` and nextest, and diagnostics of rustc and clippy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::parsed_failure::ParsedFailure;
use super::pattern::{LinePattern, line_pattern};

static FAILED_TEST: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("FAILED", r"^test (.+?)(?: - should panic)? \.\.\. FAILED$"));
static NEXTEST_FAILURE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "] ",
        r"^\s+(?:FAIL|TIMEOUT|ABORT|SIG[A-Z]+) \[[^\]]*\] (?:\([^)]*\) )?(\S+ \S.*)$",
    )
});
static OUTPUT_HEADER: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("---- ", r"^---- (.+) stdout ----$"));
static PANIC_MESSAGE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "panicked at",
        r"^thread '.*?' (?:\(\d+\) )?panicked at (?:'(.*)', )?([^:]+\.rs):\d+(?::\d+)?:?$",
    )
});
static ERROR_LINE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(" ", r"^(?:error(?:\[\w+\])?: .+|[A-Z]{1,4}\d{3,4} .+)$"));
static ARROW_LINE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("-->", r"^\s*--> ([^:]+\.\w+):\d+:\d+"));
/// Maximum number of lines between a diagnostic and the line with its place.
const FARTHEST_ARROW: usize = 6;

pub(super) fn parse_tests(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut said: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current: Option<&str> = None;
    for line in lines {
        if let Some(captures) = OUTPUT_HEADER.captures(line) {
            current = captures.get(1).map(|name| name.as_str());
        } else if *line == "failures:" || line.starts_with("test result:") {
            current = None;
        } else if let Some(name) = current {
            said.entry(name).or_default().push(line);
        }
    }
    let names = lines.iter().filter_map(|line| {
        FAILED_TEST
            .captures(line)
            .or_else(|| NEXTEST_FAILURE.captures(line))
    });
    let names: BTreeSet<&str> = names
        .filter_map(|captures| captures.get(1))
        .map(|name| name.as_str())
        .collect();
    names
        .into_iter()
        .map(|name| failed_test(name, said.get(name).map_or(&[], Vec::as_slice)))
        .collect()
}

fn failed_test(name: &str, said: &[&str]) -> ParsedFailure {
    let mut one = ParsedFailure {
        tool: "cargo test",
        test: Some(name.to_owned()),
        text: said.join("\n"),
        ..ParsedFailure::default()
    };
    if let Some((place, captures)) = said
        .iter()
        .enumerate()
        .find_map(|(place, line)| Some((place, PANIC_MESSAGE.captures(line)?)))
    {
        one.files.insert(captures[2].to_owned());
        let inside = captures.get(1).map(|message| message.as_str());
        let below = || {
            said[place + 1..]
                .iter()
                .find(|line| !line.trim().is_empty())
                .copied()
        };
        inside
            .or_else(below)
            .unwrap_or_default()
            .clone_into(&mut one.message);
    } else if let Some(line) = said.iter().find(|line| line.starts_with("Error: ")) {
        (*line).clone_into(&mut one.message);
    }
    if one.text.is_empty() {
        one.text = format!("test {name} failed");
    }
    // Documentation tests are named after their file.
    if let Some((file, _)) = name
        .split_once(" - ")
        .filter(|(file, _)| super::super::detect::has_extension(file, &["rs"]))
    {
        one.files.insert(file.to_owned());
    }
    one
}

/// Reads errors with an arrow to their place. ruff uses this form, too.
pub(super) fn parse_diagnostics(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    for (place, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.starts_with([' ', '\t']) && ERROR_LINE.is_match(line))
    {
        let below = &lines[place + 1..(place + 1 + FARTHEST_ARROW).min(lines.len())];
        let until = below
            .iter()
            .position(|line| ERROR_LINE.is_match(line))
            .unwrap_or(below.len());
        let Some(file) = below[..until]
            .iter()
            .find_map(|line| Some(ARROW_LINE.captures(line)?[1].to_owned()))
        else {
            continue;
        };
        let rest = lines[place..]
            .iter()
            .take(20)
            .take_while(|line| !line.trim().is_empty());
        found.push(ParsedFailure {
            tool: "diagnostic",
            test: None,
            files: BTreeSet::from([file]),
            message: (*line).to_owned(),
            text: rest.copied().collect::<Vec<_>>().join("\n"),
        });
    }
    found
}
