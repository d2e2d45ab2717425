//! Parses the output of `cargo test` and `cargo nextest`. Neither has a stable structured form.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::ItemStatus;

use super::collect::{OutcomeCollector, TestCounts};
use super::output::{OutputText, truncate_name};

/// Output of one test binary.
#[derive(Default)]
struct TestBinarySection<'a> {
    /// Number of tests that the binary announced.
    announced: usize,
    label: Option<String>,
    tests: Vec<(&'a str, Option<ItemStatus>)>,
    /// Names in the list of failures at the end.
    failures: BTreeSet<&'a str>,
    messages: BTreeMap<&'a str, &'a str>,
    has_result: bool,
}

/// Adds the tests of `cargo test`, as `target::test`. Returns false if there are none. A compile error is added as one row.
pub fn read_tests(stdout: &OutputText, stderr: &OutputText, tests: &mut OutcomeCollector) -> bool {
    let build_failure = compile_error(stderr).or_else(|| compile_error(stdout));
    let mut sections = split_sections(stdout);
    if build_failure.is_none()
        && !sections
            .iter()
            .any(|section| section.has_result || !section.tests.is_empty())
    {
        return false;
    }
    if sections.iter().all(|section| section.label.is_none()) {
        label_sections(&mut sections, stderr);
    }
    for section in &sections {
        section.report_tests(tests);
    }
    if let Some((id, message)) = build_failure {
        tests.push(id, ItemStatus::Error, None, Some(message));
    }
    true
}

fn split_sections(stdout: &OutputText) -> Vec<TestBinarySection<'_>> {
    let mut sections: Vec<TestBinarySection> = Vec::new();
    let mut label = None;
    // Whether the line is in a section's report of failures, which quotes the tests' output.
    let mut in_failures = false;
    let mut quoted: Option<&str> = None;
    for line in stdout.lines() {
        if let Some(target) = parse_target(line) {
            label = Some(target);
            continue;
        }
        if let Some(announced) = parse_announced_count(line) {
            sections.push(TestBinarySection {
                announced,
                label: label.take(),
                ..TestBinarySection::default()
            });
            (in_failures, quoted) = (false, None);
            continue;
        }
        let Some(section) = sections.last_mut().filter(|section| !section.has_result) else {
            continue;
        };
        if line.starts_with("test result: ") && line.contains(" passed; ") {
            section.has_result = true;
        } else if line == "failures:" {
            in_failures = true;
            quoted = None;
        } else if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            quoted = Some(name);
        } else if in_failures {
            match quoted {
                Some(name) => {
                    let is_said = line.trim().is_empty()
                        || line.starts_with("thread '")
                        || line.starts_with("stack backtrace");
                    if !is_said {
                        section.messages.entry(name).or_insert(line);
                    }
                }
                None => {
                    section.failures.extend(line.strip_prefix("    "));
                }
            }
        } else {
            section.read_line(line);
        }
    }
    sections
}

impl<'a> TestBinarySection<'a> {
    fn read_line(&mut self, line: &'a str) {
        // With `--nocapture`, a test's own output is between its name and its status.
        if let Some((_, end @ None)) = self.tests.last_mut()
            && let Some(status) = parse_status(line)
        {
            *end = Some(status);
        } else if let Some((name, tail)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
            && self.tests.len() < self.announced
        {
            self.tests.push((
                name.strip_suffix(" - should panic").unwrap_or(name),
                parse_status(tail),
            ));
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ..."))
            && self.tests.len() < self.announced
        {
            self.tests.push((name, None));
        }
    }

    fn is_doc_tests(&self) -> bool {
        !self.tests.is_empty()
            && self
                .tests
                .iter()
                .all(|(name, _)| name.contains(" - ") && name.contains("(line "))
    }

    fn report_tests(&self, tests: &mut OutcomeCollector) {
        let id = |name: &str| match &self.label {
            Some(label) if !self.is_doc_tests() => format!("{label}::{name}"),
            Some(_) | None => name.to_owned(),
        };
        for (name, status) in &self.tests {
            let has_failed = self.failures.contains(name);
            let status = match status {
                _ if has_failed => ItemStatus::Fail,
                Some(status) => *status,
                None if self.has_result => ItemStatus::Pass,
                None => ItemStatus::Error,
            };
            let message = match status {
                ItemStatus::Error => Some("did not end"),
                ItemStatus::Pass | ItemStatus::Skipped => None,
                _ => self.messages.get(name).copied(),
            };
            tests.push(&id(name), status, None, message);
        }
        let missing = self.announced.saturating_sub(self.tests.len());
        let ended_early = !self.has_result && self.tests.iter().all(|(_, status)| status.is_some());
        if missing > 0 || ended_early {
            let message = if missing > 0 {
                format!("{missing} of {} tests were not reported", self.announced)
            } else {
                "the test program did not end by itself".to_owned()
            };
            tests.push(
                self.label.as_deref().unwrap_or("(test program)"),
                ItemStatus::Error,
                None,
                Some(&message),
            );
        }
    }
}

/// Labels the sections with the names of their targets, which cargo prints on the other stream. It does so only if they surely match: one
/// section per target, then any number of documentation tests, which always come last.
fn label_sections(sections: &mut [TestBinarySection], stderr: &OutputText) {
    let targets: Vec<String> = stderr.lines().filter_map(parse_target).collect();
    let has_documentation = stderr
        .lines()
        .any(|line| line.trim_start().starts_with("Doc-tests "));
    let (count, all) = (targets.len(), sections.len());
    let fits = count == all || (count < all && has_documentation);
    if !fits
        || sections
            .iter()
            .take(count)
            .any(TestBinarySection::is_doc_tests)
    {
        return;
    }
    for (section, target) in sections.iter_mut().zip(targets) {
        section.label = Some(target);
    }
}

/// Reads `Running unittests src/lib.rs (target/debug/deps/tiny-0123456789abcdef)`. For unit tests, the label includes the crate's name.
fn parse_target(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("Running ")?;
    let (path, program) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let (name, _hash) = program.rsplit_once('-')?;
    let (name, path) = (truncate_name(name), truncate_name(path));
    Some(match path.strip_prefix("unittests ") {
        Some(path) => format!("{name}/{path}"),
        None => path.to_owned(),
    })
}

fn parse_announced_count(line: &str) -> Option<usize> {
    let count = line.strip_prefix("running ")?;
    count
        .strip_suffix(" tests")
        .or(count.strip_suffix(" test"))?
        .parse()
        .ok()
}

fn parse_status(tail: &str) -> Option<ItemStatus> {
    let word = tail.split([' ', ',']).next().unwrap_or_default();
    let rest = &tail[word.len()..];
    match word {
        // With `--report-time`, the time follows the status.
        "ok" if rest.is_empty() || rest.starts_with(" <") => Some(ItemStatus::Pass),
        "FAILED" if rest.is_empty() || rest.starts_with(" <") || rest.starts_with(" (") => {
            Some(ItemStatus::Fail)
        }
        "ignored" if rest.is_empty() || rest.starts_with(',') => Some(ItemStatus::Skipped),
        "bench:" => Some(ItemStatus::Pass),
        _ => None,
    }
}

/// Returns the line that says which target did not compile, and the first error.
fn compile_error(output: &OutputText) -> Option<(&str, &str)> {
    let failed = output.lines().find_map(|line| {
        line.strip_prefix("error: ")
            .filter(|rest| rest.starts_with("could not compile `"))
    })?;
    let id = failed
        .match_indices('`')
        .nth(1)
        .map_or(failed, |(end, _)| &failed[..=end]);
    let first = output
        .lines()
        .find(|line| line.starts_with("error") && !line.contains("could not compile"));
    Some((id, first.unwrap_or(failed)))
}

/// Adds the tests of `cargo nextest run`, under nextest's names. Returns false if there are none.
pub fn read_nextest(
    stderr: &OutputText,
    stdout: &OutputText,
    tests: &mut OutcomeCollector,
) -> bool {
    let output = [stderr, stdout].into_iter().find(|output| {
        output
            .lines()
            .any(|line| line.trim_start().starts_with("Nextest run ID "))
    });
    let Some(output) = output else {
        let failed = compile_error(stderr).or_else(|| compile_error(stdout));
        if let Some((id, message)) = failed {
            tests.push(id, ItemStatus::Error, None, Some(message));
        }
        return failed.is_some();
    };
    for line in output.lines() {
        let line = line.trim_start();
        if let Some(summary) = line.strip_prefix("Summary [") {
            let skipped = summary
                .rsplit(", ")
                .find_map(|part| part.strip_suffix(" skipped"))
                .and_then(|count| count.parse().ok());
            tests.add_counts(&TestCounts {
                skipped: skipped.unwrap_or(0).min(u64::from(u32::MAX)),
                ..TestCounts::default()
            });
            // The failures are repeated below this line.
            break;
        }
        let Some((word, rest)) = line.split_once(" [") else {
            continue;
        };
        let (status, message) = match word.trim() {
            "PASS" | "LEAK" => (ItemStatus::Pass, None),
            "FAIL" | "LEAK-FAIL" => (ItemStatus::Fail, None),
            "TIMEOUT" => (ItemStatus::Limit, Some("timed out")),
            word if word.starts_with("FLAKY") => (ItemStatus::Pass, None),
            word if word.starts_with("SIG") || word == "ABORT" => (ItemStatus::Error, Some(word)),
            _ => continue,
        };
        let Some((time, name)) = rest.split_once("] ") else {
            continue;
        };
        // Newer versions print a counter: `(3/7) tiny tests::fails`.
        let name = name.trim_start();
        let name = name
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(") "))
            .map_or(name, |(_, name)| name.trim_start());
        tests.push(
            name,
            status,
            time.trim()
                .trim_start_matches('>')
                .trim_end_matches('s')
                .parse()
                .ok(),
            message,
        );
    }
    true
}
