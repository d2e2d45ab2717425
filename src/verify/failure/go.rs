//! Failures reported by `go test`, the compiler and `go vet`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::found::{Found, LONGEST_TEXT};
use super::pattern::{Pattern, pattern};

static FAILED: LazyLock<Pattern> =
    LazyLock::new(|| pattern("--- FAIL", r"^(\s*)--- FAIL: (\S+)(?: \(.*\))?$"));
static PACKAGE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        "\t",
        r"^(?:FAIL|ok|---)\s+(\S+)\s+(?:[\d.]+s|\[.*\]|\(cached\))",
    )
});
static SAID: LazyLock<Pattern> = LazyLock::new(|| pattern(".go:", r"^\s+([\w.-]+\.go):\d+: (.*)$"));
static STACK: LazyLock<Pattern> = LazyLock::new(|| pattern(".go:", r"^\t([^\s:]+\.go):\d+ \+0x"));
static DIAGNOSTIC: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        ".go:",
        r"^(?:vet: )?(?:\./)?([^\s:]+\.go):\d+(?::\d+)?: (.+)$",
    )
});

/// A failing test whose package is named only in a later line.
struct Open {
    found: Found,
    /// File names without their folder.
    names: BTreeSet<String>,
}

pub(super) fn tests(lines: &[&str]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for line in lines {
        if let Some(captures) = FAILED.captures(line) {
            let one = Found {
                tool: "go test",
                test: Some(captures[2].to_owned()),
                text: format!("{}\n", line.trim()),
                ..Found::default()
            };
            open.push(Open {
                found: one,
                names: BTreeSet::new(),
            });
        } else if let Some(captures) = PACKAGE.captures(line) {
            found.extend(open.drain(..).map(|open| close(open, &captures[1])));
        } else if let Some(last) = open.last_mut() {
            if let Some(captures) = SAID.captures(line) {
                last.names.insert(captures[1].to_owned());
                if last.found.message.is_empty() {
                    captures[2].clone_into(&mut last.found.message);
                }
            } else if line.starts_with("panic: ") && last.found.message.is_empty() {
                (*line).clone_into(&mut last.found.message);
            } else if let Some(captures) = STACK.captures(line) {
                last.found.files.insert(captures[1].to_owned());
            }
            if last.found.text.len() < LONGEST_TEXT {
                last.found.text += line;
                last.found.text.push('\n');
            }
        }
    }
    found.extend(open.into_iter().map(|open| close(open, "")));
    found
}

fn close(open: Open, package: &str) -> Found {
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

pub(super) fn diagnostics(lines: &[&str]) -> Vec<Found> {
    let found = |captures: regex::Captures| Found {
        tool: "go",
        test: None,
        files: BTreeSet::from([captures[1].to_owned()]),
        message: captures[2].to_owned(),
        text: captures[0].to_owned(),
    };
    lines
        .iter()
        .filter_map(|line| DIAGNOSTIC.captures(line))
        .map(found)
        .collect()
}
