//! Failures of Maven's and Gradle's tests and compilers.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::parsed_failure::ParsedFailure;
use super::pattern::{LinePattern, line_pattern};

static SUREFIRE_FAILURE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "[ERROR]",
        r"^\[ERROR\]\s+(?:\w+\.)*(\w*Tests?\w*)\.(\w+)(?::\d+)?(?:->\S+)?\s+(.+)$",
    )
});
static GRADLE_FAILURE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(" FAILED", r"^(\S+) > (.+?) FAILED$"));
static GRADLE_AT: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(" at ", r"^\s+\S.* at (\w+\.(?:java|kt)):\d+$"));
static JAVAC_ERROR: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "[ERROR]",
        r"^\[ERROR\] (\S+\.(?:java|kt)):\[\d+,\d+\] (.+)$",
    )
});

/// Reads failing tests. Only the names of their files are known, not the folders.
pub(super) fn parse_tests(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let (test, message) = if let Some(captures) = SUREFIRE_FAILURE.captures(line) {
            if captures[3].starts_with("--") || captures[3].starts_with("Time elapsed") {
                continue;
            }
            (
                format!("{}.{}", &captures[1], &captures[2]),
                captures[3].to_owned(),
            )
        } else if let Some(captures) = GRADLE_FAILURE.captures(line) {
            let below = lines[place + 1..]
                .iter()
                .take(2)
                .find(|line| GRADLE_AT.is_match(line));
            (
                format!("{}.{}", &captures[1], &captures[2]),
                below.map(|line| line.trim().to_owned()).unwrap_or_default(),
            )
        } else {
            continue;
        };
        let class = test
            .rsplit('.')
            .nth(1)
            .and_then(|class| class.split('$').next())
            .unwrap_or_default();
        let files = BTreeSet::from([format!("{class}.java")]);
        found.push(ParsedFailure {
            tool: "junit",
            test: Some(test),
            files,
            message,
            text: (*line).to_owned(),
        });
    }
    found
}

pub(super) fn parse_diagnostics(lines: &[&str]) -> Vec<ParsedFailure> {
    let found = |captures: regex::Captures| ParsedFailure {
        tool: "javac",
        test: None,
        files: BTreeSet::from([captures[1].to_owned()]),
        message: captures[2].to_owned(),
        text: captures[0].to_owned(),
    };
    lines
        .iter()
        .filter_map(|line| JAVAC_ERROR.captures(line))
        .map(found)
        .collect()
}
