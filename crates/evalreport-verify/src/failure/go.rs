//! Failures reported by `go test`, the compiler and `go vet`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::parsed_failure::{MAX_TEXT, ParsedFailure};
use super::pattern::{LinePattern, line_pattern};

static FAILED_TEST: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("--- FAIL", r"^(\s*)--- FAIL: (\S+)(?: \(.*\))?$"));
static PACKAGE_RESULT: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "\t",
        r"^(?:FAIL|ok|---)\s+(\S+)\s+(?:[\d.]+s|\[.*\]|\(cached\))",
    )
});
static TEST_MESSAGE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(".go:", r"^\s+([\w.-]+\.go):\d+: (.*)$"));
static STACK_FRAME: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(".go:", r"^\t([^\s:]+\.go):\d+ \+0x"));
static GO_DIAGNOSTIC: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        ".go:",
        r"^(?:vet: )?(?:\./)?([^\s:]+\.go):\d+(?::\d+)?: (.+)$",
    )
});

/// A failing test whose package is named only in a later line.
struct OpenTest {
    found: ParsedFailure,
    /// File names without their folder.
    names: BTreeSet<String>,
}

pub(super) fn parse_tests(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    let mut open: Vec<OpenTest> = Vec::new();
    for line in lines {
        if let Some(captures) = FAILED_TEST.captures(line) {
            let one = ParsedFailure {
                tool: "go test",
                test: Some(captures[2].to_owned()),
                text: format!("{}\n", line.trim()),
                ..ParsedFailure::default()
            };
            open.push(OpenTest {
                found: one,
                names: BTreeSet::new(),
            });
        } else if let Some(captures) = PACKAGE_RESULT.captures(line) {
            found.extend(open.drain(..).map(|open| close_test(open, &captures[1])));
        } else if let Some(last) = open.last_mut() {
            if let Some(captures) = TEST_MESSAGE.captures(line) {
                last.names.insert(captures[1].to_owned());
                if last.found.message.is_empty() {
                    captures[2].clone_into(&mut last.found.message);
                }
            } else if line.starts_with("panic: ") && last.found.message.is_empty() {
                (*line).clone_into(&mut last.found.message);
            } else if let Some(captures) = STACK_FRAME.captures(line) {
                last.found.files.insert(captures[1].to_owned());
            }
            if last.found.text.len() < MAX_TEXT {
                last.found.text += line;
                last.found.text.push('\n');
            }
        }
    }
    found.extend(open.into_iter().map(|open| close_test(open, "")));
    found
}

fn close_test(open: OpenTest, package: &str) -> ParsedFailure {
    let mut one = open.found;
    one.files.extend(open.names.iter().map(|name| {
        if package.is_empty() {
            name.clone()
        } else {
            format!("{package}/{name}")
        }
    }));
    if let (Some(test), false) = (&mut one.test, package.is_empty()) {
        *test = format!("{package}.{test}");
    }
    one
}

pub(super) fn parse_diagnostics(lines: &[&str]) -> Vec<ParsedFailure> {
    let found = |captures: regex::Captures| ParsedFailure {
        tool: "go",
        test: None,
        files: BTreeSet::from([captures[1].to_owned()]),
        message: captures[2].to_owned(),
        text: captures[0].to_owned(),
    };
    lines
        .iter()
        .filter_map(|line| GO_DIAGNOSTIC.captures(line))
        .map(found)
        .collect()
}
