//! Failures reported by pytest and unittest, and tracebacks.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::parsed_failure::{MAX_TEXT, ParsedFailure};
use super::pattern::{LinePattern, line_pattern};

static SUMMARY_LINE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        ".py",
        r"^(?:FAILED|ERROR) (\S.*\.py(?:::.*?)?)(?: - (.*))?$",
    )
});
static SECTION_HEADER: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("___", r"^_{3,} (.+?) _{3,}$"));
static FILE_LOCATION: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(".py:", r"^([^\s:>][^:]*\.py):\d+: "));
static TRACEBACK_FILE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern("File \"", r#"^\s*File "([^"]+)", line \d+"#));
static RAISED_ERROR: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "",
        r"^\s*(?:Sorry: )?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|NotFound))(?::.*)?$",
    )
});
static UNITTEST_FAILURE: LazyLock<LinePattern> =
    LazyLock::new(|| line_pattern(": ", r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)"));

/// Maximum number of failing tests that are read: each is looked up among the others.
const MAX_TESTS: usize = 5000;

/// A failing test in the detailed part of pytest's output.
struct PytestSection<'l> {
    name: &'l str,
    files: BTreeSet<String>,
    message: Option<&'l str>,
    text: String,
    is_used: bool,
}

/// Reads the tests in pytest's short summary, with their details from the detailed part.
pub(super) fn parse_pytest(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut sections = split_sections(lines);
    let mut found = Vec::new();
    for captures in lines
        .iter()
        .filter_map(|line| SUMMARY_LINE.captures(line))
        .take(MAX_TESTS)
    {
        let id = &captures[1];
        let (file, name) = id.split_once("::").unwrap_or((id, ""));
        let name = name.replace("::", ".");
        let fits = |section: &&mut PytestSection| {
            !section.is_used
                && (section.name == name
                    || section.name.strip_prefix("ERROR at setup of ") == Some(&name)
                    || section.name.strip_prefix("ERROR at teardown of ") == Some(&name)
                    || (name.is_empty()
                        && section.name.strip_prefix("ERROR collecting ") == Some(file)))
        };
        // Tests in two files may have the same name; prefer the section that points at this test's file.
        let at = sections
            .iter_mut()
            .filter(fits)
            .max_by_key(|section| section.files.contains(file));
        let mut one = ParsedFailure {
            tool: "pytest",
            test: Some(id.to_owned()),
            files: BTreeSet::from([file.to_owned()]),
            message: captures
                .get(2)
                .map(|message| message.as_str().to_owned())
                .unwrap_or_default(),
            text: captures[0].to_owned(),
        };
        if let Some(section) = at {
            section.is_used = true;
            one.files.extend(section.files.iter().cloned());
            if let Some(message) = section.message {
                message.clone_into(&mut one.message);
            }
            section.text.clone_into(&mut one.text);
        }
        found.push(one);
    }
    // If there is no summary, only the detailed part is left.
    found.extend(
        sections
            .into_iter()
            .filter(|section| !section.is_used && section.message.is_some())
            .map(|section| ParsedFailure {
                tool: "pytest",
                test: Some(section.name.to_owned()),
                files: section.files,
                message: section.message.unwrap_or_default().to_owned(),
                text: section.text,
            }),
    );
    found
}

fn split_sections<'l>(lines: &[&'l str]) -> Vec<PytestSection<'l>> {
    let mut sections: Vec<PytestSection> = Vec::new();
    let mut is_inside = false;
    for line in lines {
        if sections.len() == MAX_TESTS {
            break;
        }
        if let Some(captures) = SECTION_HEADER.captures(line) {
            let name = captures.get(1).map_or("", |name| name.as_str());
            sections.push(PytestSection {
                name,
                files: BTreeSet::new(),
                message: None,
                text: String::new(),
                is_used: false,
            });
            is_inside = true;
        } else if line.starts_with("=====") {
            is_inside = false;
        } else if is_inside && let Some(section) = sections.last_mut() {
            if let Some(message) = line.strip_prefix("E  ") {
                section.message.get_or_insert(message.trim());
            }
            if let Some(captures) = FILE_LOCATION.captures(line) {
                section.files.insert(captures[1].to_owned());
            }
            if section.text.len() < MAX_TEXT {
                section.text += line;
                section.text.push('\n');
            }
        }
    }
    sections
}

pub(super) fn parse_unittest(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    for (place, captures) in lines
        .iter()
        .enumerate()
        .filter_map(|(place, line)| Some((place, UNITTEST_FAILURE.captures(line)?)))
    {
        let block: Vec<&str> = lines[place + 1..]
            .iter()
            .skip(1)
            .take_while(|line| !is_rule(line))
            .copied()
            .take(200)
            .collect();
        let (method, class) = (&captures[1], &captures[2]);
        let test = if class.ends_with(method) {
            class.to_owned()
        } else {
            format!("{class}.{method}")
        };
        found.push(ParsedFailure {
            tool: "unittest",
            test: Some(test),
            files: block
                .iter()
                .filter_map(|line| TRACEBACK_FILE.captures(line))
                .map(|captures| captures[1].to_owned())
                .collect(),
            message: block
                .iter()
                .find(|line| RAISED_ERROR.is_match(line))
                .unwrap_or(&"")
                .trim()
                .to_owned(),
            text: block.join("\n"),
        });
    }
    found
}

fn is_rule(line: &str) -> bool {
    line.len() > 20
        && (line.chars().all(|character| character == '=')
            || line.chars().all(|character| character == '-'))
}

/// Reads tracebacks, and the syntax errors of `compileall`.
pub(super) fn parse_tracebacks(lines: &[&str]) -> Vec<ParsedFailure> {
    let mut found = Vec::new();
    let mut files = BTreeSet::new();
    let mut text = String::new();
    for line in lines {
        if line.starts_with("Traceback (most recent call last)") {
            files.clear();
            text.clear();
        }
        if let Some(captures) = TRACEBACK_FILE.captures(line) {
            files.insert(captures[1].to_owned());
        }
        if !files.is_empty() && text.len() < super::MAX_TEXT {
            text += line;
            text.push('\n');
        }
        if !files.is_empty() && RAISED_ERROR.is_match(line) {
            found.push(ParsedFailure {
                tool: "python",
                test: None,
                files: std::mem::take(&mut files),
                message: line.trim().to_owned(),
                text: std::mem::take(&mut text),
            });
        }
    }
    found
}
