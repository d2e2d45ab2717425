//! Diagnostics with file and line, in the form that most compilers and linters use: tsc, eslint, mypy, flake8, ruff, gcc, javac.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::parsed_failure::ParsedFailure;
use super::pattern::{LinePattern, line_pattern};

static TSC_ERROR: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "error TS",
        r"^(\S[^():]*\.\w+)(?:\(\d+,\d+\): | ?:\d+:\d+ - )error (TS\d+: .+)$",
    )
});
static PLAIN_DIAGNOSTIC: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        ":",
        r"^(?:ERROR: )?([^\s:()]+\.\w+):\d+(?::\d+)?:? (?:fatal )?(error(?:\[[\w-]+\])?: .+|[A-Z]{1,4}\d{2,5}:? .+)$",
    )
});
static ESLINT_ERROR: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(" error ", r"^\s+\d+:\d+\s+error\s+(.+?)\s*$"));
static ESLINT_FILE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(".", r"^([^\s:][^:]*\.\w+)$"));

pub(super) fn parse_diagnostics(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    let mut file: Option<String> = None;
    for line in lines {
        if let Some(captures) = TSC_ERROR
            .captures(line)
            .or_else(|| PLAIN_DIAGNOSTIC.captures(line))
        {
            found.push(diagnostic_failure(
                "diagnostic",
                &captures[1],
                &captures[2],
                line,
            ));
        } else if let Some(captures) = ESLINT_FILE.captures(line) {
            file = Some(captures[1].to_owned());
        } else if let (Some(captures), Some(file)) = (ESLINT_ERROR.captures(line), &file) {
            // The rule's name is in its own column, whose position depends on the longest message.
            let message = captures[1].split_whitespace().collect::<Vec<_>>().join(" ");
            found.push(diagnostic_failure("eslint", file, &message, line));
        }
    }
    found
}

fn diagnostic_failure(tool: &'static str, file: &str, message: &str, line: &str) -> ParsedFailure {
    let text = if line.contains(file) {
        line.to_owned()
    } else {
        format!("{file}: {}", line.trim())
    };
    ParsedFailure {
        tool,
        test: None,
        files: BTreeSet::from([file.to_owned()]),
        message: message.to_owned(),
        text,
    }
}
