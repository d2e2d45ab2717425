//! Failures reported by jest, vitest, node's own runner (as text and as TAP), mocha and bundlers, and stack traces.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::parsed_failure::ParsedFailure;
use super::pattern::{LinePattern, line_pattern};

static FAIL_LINE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "FAIL",
        r"^\s*(?:FAIL|❯ FAIL)\s+(?:\|[^|]*\| )?([^\s>]+\.\w+)(?:\s+\([\d.]+ ?m?s\)|\s+\[ .* \])?(?:\s+>\s+(.*?))?\s*$",
    )
});
static BULLET_LINE: LazyLock<LinePattern> = LazyLock::new(|| line_pattern("●", r"^\s*● (.+)$"));
static STACK_FRAME: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        ":",
        r"^\s*(?:at |❯ )(?:.*[( ])?([^\s():]+\.[cm]?[jt]sx?|[^\s():]+\.vue|[^\s():]+\.svelte):\d+:\d+\)?",
    )
});
static TAP_FAILURE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("not ok", r"^\s*not ok \d+ (?:- )?(.+?)(?: # .*)?$"));
static TAP_FIELD: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(": ", r#"^\s+(error|location): ['"]?(.*?)['"]?$"#));
static CROSS_FAILURE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("✖", r"^✖ (.+?) \([\d.]+ms\)$"));
static TEST_AT: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("test at", r"^test at ([^:]+):\d+:\d+$"));
static MOCHA_COUNT: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(" failing", r"^\s+\d+ failing$"));
static MOCHA_FAILURE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(") ", r"^\s+\d+\) (.+)$"));
static UNRESOLVED_IMPORT: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "resolve",
        r#"(?i)(?:failed to resolve import|could not resolve|can't resolve) ["']([^"']+)["'](?: (?:from|in) ["']([^"']+)["'])?"#,
    )
});
static ESBUILD_ERROR: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("[ERROR]", r"^(?:✘ |X )?\[ERROR\] (.+)$"));
static ESBUILD_AT: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(":", r"^\s+([^\s:]+\.\w+):\d+:\d+:?$"));
static UNCAUGHT_ERROR: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        ": ",
        r"^\s*(?:Uncaught )?((?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$",
    )
});
/// Maximum number of lines below a headline that may belong to it.
const MAX_LINES_BELOW: usize = 40;

pub(super) fn parse_tests(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = files_and_bullets(lines);
    found.extend(parse_tap(lines));
    found.extend(parse_crosses(lines));
    found.extend(parse_mocha(lines));
    found
}

/// Reads failures of jest, which names the file and then each of its tests, and of vitest, which names both in one line.
fn files_and_bullets(lines: &[&str]) -> Vec<ParsedFailure> {
    let is_head = |line: &str| FAIL_LINE.is_match(line) || BULLET_LINE.is_match(line);
    let mut found = Vec::new();
    let mut file: Option<String> = None;
    for (place, line) in lines.iter().enumerate() {
        let (tool, test) = if let Some(captures) = FAIL_LINE.captures(line) {
            file = Some(captures[1].to_owned());
            match captures.get(2) {
                Some(name) => ("vitest", format!("{} > {}", &captures[1], name.as_str())),
                // jest's headline of a file is above its failed tests. A vitest headline without a test is about a file that could not be
                // loaded.
                None if lines[place + 1..]
                    .iter()
                    .take(MAX_LINES_BELOW)
                    .any(|line| BULLET_LINE.is_match(line)) =>
                {
                    continue;
                }
                None => ("vitest", captures[1].to_owned()),
            }
        } else if let (Some(captures), Some(file)) = (BULLET_LINE.captures(line), &file) {
            ("jest", format!("{file} › {}", &captures[1]))
        } else {
            continue;
        };
        let below: Vec<&str> = lines[place + 1..]
            .iter()
            .take(MAX_LINES_BELOW)
            .take_while(|line| !is_head(line))
            .copied()
            .collect();
        let mut files: BTreeSet<String> = below
            .iter()
            .filter_map(|line| STACK_FRAME.captures(line))
            .map(|captures| captures[1].to_owned())
            .collect();
        files.extend(file.clone());
        let message = below
            .iter()
            .map(|line| line.trim())
            .find(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned();
        found.push(ParsedFailure {
            tool,
            test: Some(test),
            files,
            message,
            text: format!("{}\n{}", line.trim(), below.join("\n")),
        });
    }
    found
}

fn parse_tap(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    for (place, captures) in lines
        .iter()
        .enumerate()
        .filter_map(|(place, line)| Some((place, TAP_FAILURE.captures(line)?)))
    {
        let below: Vec<&str> = lines[place + 1..]
            .iter()
            .take(MAX_LINES_BELOW)
            .take_while(|line| line.trim() != "..." && !TAP_FAILURE.is_match(line))
            .copied()
            .collect();
        let mut one = ParsedFailure {
            tool: "tap",
            test: Some(captures[1].to_owned()),
            text: format!("{}\n{}", lines[place].trim(), below.join("\n")),
            ..ParsedFailure::default()
        };
        for field in below.iter().filter_map(|line| TAP_FIELD.captures(line)) {
            if &field[1] == "error" {
                field[2].clone_into(&mut one.message);
            } else {
                one.files
                    .extend(field[2].split(':').next().map(str::to_owned));
            }
        }
        one.files.extend(
            below
                .iter()
                .filter_map(|line| STACK_FRAME.captures(line))
                .map(|captures| captures[1].to_owned()),
        );
        found.push(one);
    }
    found
}

/// Reads the list of failing tests at the end of the output of node's runner.
fn parse_crosses(lines: &[&str]) -> Vec<ParsedFailure> {
    let Some(start) = lines
        .iter()
        .position(|line| line.starts_with("✖ failing tests"))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut file: Option<String> = None;
    for (place, line) in lines.iter().enumerate().skip(start) {
        if let Some(captures) = TEST_AT.captures(line) {
            file = Some(captures[1].to_owned());
        } else if let Some(captures) = CROSS_FAILURE.captures(line) {
            let is_head = |line: &str| TEST_AT.is_match(line) || CROSS_FAILURE.is_match(line);
            let below: Vec<&str> = lines[place + 1..]
                .iter()
                .take(MAX_LINES_BELOW)
                .take_while(|line| !is_head(line))
                .copied()
                .collect();
            let mut files: BTreeSet<String> = file.take().into_iter().collect();
            files.extend(
                below
                    .iter()
                    .filter_map(|line| STACK_FRAME.captures(line))
                    .map(|captures| captures[1].to_owned()),
            );
            let message = below
                .iter()
                .map(|line| line.trim())
                .find(|line| !line.is_empty())
                .unwrap_or_default()
                .to_owned();
            found.push(ParsedFailure {
                tool: "node",
                test: Some(captures[1].to_owned()),
                files,
                message,
                text: format!("{line}\n{}", below.join("\n")),
            });
        }
    }
    found
}

fn parse_mocha(lines: &[&str]) -> Vec<ParsedFailure> {
    let Some(start) = lines.iter().position(|line| MOCHA_COUNT.is_match(line)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (place, captures) in lines
        .iter()
        .enumerate()
        .skip(start)
        .filter_map(|(place, line)| Some((place, MOCHA_FAILURE.captures(line)?)))
    {
        let below: Vec<&str> = lines[place + 1..]
            .iter()
            .take(MAX_LINES_BELOW)
            .take_while(|line| !MOCHA_FAILURE.is_match(line))
            .map(|line| line.trim())
            .collect();
        // The test's name may span several lines, up to a line that ends in a colon.
        let end = below
            .iter()
            .position(|line| line.ends_with(':'))
            .map_or(0, |end| end + 1);
        let name: Vec<&str> = std::iter::once(&captures[1])
            .chain(below[..end].iter().copied())
            .map(|part| part.trim_end_matches(':'))
            .collect();
        let message = below[end..]
            .iter()
            .find(|line| !line.is_empty())
            .copied()
            .unwrap_or_default()
            .to_owned();
        let files = below
            .iter()
            .filter_map(|line| STACK_FRAME.captures(line))
            .map(|captures| captures[1].to_owned())
            .collect();
        found.push(ParsedFailure {
            tool: "mocha",
            test: Some(name.join(" ")),
            files,
            message,
            text: below.join("\n"),
        });
    }
    found
}

/// Reads errors of Vite, rollup, esbuild and webpack about imports and syntax.
pub(super) fn parse_bundlers(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let (message, file) = if let Some(captures) = UNRESOLVED_IMPORT.captures(line) {
            (
                format!("cannot resolve {}", &captures[1]),
                captures.get(2).map(|file| file.as_str().to_owned()),
            )
        } else if let Some(captures) = ESBUILD_ERROR.captures(line) {
            if captures[1].starts_with('/')
                || captures[1].contains(".java")
                || captures[1].contains("Maven")
            {
                continue;
            }
            (captures[1].to_owned(), None)
        } else {
            continue;
        };
        let near = lines[place + 1..].iter().take(8);
        let at = || {
            near.clone()
                .find_map(|line| Some(ESBUILD_AT.captures(line)?[1].to_owned()))
        };
        let Some(file) = file.or_else(at) else {
            continue;
        };
        found.push(ParsedFailure {
            tool: "bundler",
            test: None,
            files: BTreeSet::from([file]),
            message,
            text: (*line).to_owned(),
        });
    }
    found
}

/// Reads uncaught errors.
pub(super) fn parse_traces(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    for (place, captures) in lines
        .iter()
        .enumerate()
        .filter_map(|(place, line)| Some((place, UNCAUGHT_ERROR.captures(line)?)))
    {
        let frames = lines[place + 1..]
            .iter()
            .take(MAX_LINES_BELOW)
            .take_while(|line| line.trim_start().starts_with("at "));
        let files: BTreeSet<String> = frames
            .filter_map(|line| STACK_FRAME.captures(line))
            .map(|captures| captures[1].to_owned())
            .collect();
        if !files.is_empty() {
            let text = lines[place..]
                .iter()
                .take(10)
                .copied()
                .collect::<Vec<_>>()
                .join("\n");
            found.push(ParsedFailure {
                tool: "javascript",
                test: None,
                files,
                message: captures[1].to_owned(),
                text,
            });
        }
    }
    found
}
