//! Parses the output of `go test -json`, and of `go test` without it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::domain::ItemStatus;

use super::collect::OutcomeCollector;
use super::output::OutputText;

/// Maximum amount of a test's output that is kept while reading, in bytes.
const MAX_TEXT: usize = 2048;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WireEvent {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    import_path: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    elapsed: Option<f64>,
    #[serde(default)]
    output: String,
    #[serde(default)]
    failed_build: String,
}

#[derive(Default)]
struct GoPackage {
    /// Test names in the order they started. A test without `end` has not ended.
    order: Vec<String>,
    tests: BTreeMap<String, GoTest>,
    output: String,
    end: Option<ItemStatus>,
    failed_build: String,
}

#[derive(Default)]
struct GoTest {
    end: Option<ItemStatus>,
    elapsed: Option<f64>,
    output: String,
}

/// Adds the tests of a stream of events, as `package::Test/subtest`. Returns false if there is no event. A package that failed outside its
/// tests, such as one that does not build, is added as a row.
pub fn read_json(stdout: &OutputText, stderr: &OutputText, tests: &mut OutcomeCollector) -> bool {
    let mut packages: BTreeMap<String, GoPackage> = BTreeMap::new();
    let mut builds: BTreeMap<String, String> = BTreeMap::new();
    let mut plain_failures = Vec::new();
    for line in stdout.lines() {
        if !line.starts_with('{') {
            // Before Go 1.24, a build failure is not an event.
            if let Some(package) = parse_failed_package(line) {
                plain_failures.push(package);
            }
            continue;
        }
        let Ok(event) = serde_json::from_str::<WireEvent>(line) else {
            continue;
        };
        if event.action.starts_with("build-") {
            append_bounded(builds.entry(event.import_path).or_default(), &event.output);
            continue;
        }
        if event.package.is_empty() {
            continue;
        }
        packages
            .entry(event.package.clone())
            .or_default()
            .add_event(event);
    }
    if packages.is_empty() {
        return false;
    }
    for (name, package) in packages {
        let build = builds.get(&package.failed_build).map(String::as_str);
        plain_failures.retain(|failed| *failed != name);
        package.report_tests(&name, build, stderr, tests);
    }
    for package in plain_failures {
        tests.push(
            package,
            ItemStatus::Error,
            None,
            Some("the package did not build"),
        );
    }
    true
}

impl GoPackage {
    fn add_event(&mut self, event: WireEvent) {
        let end = match event.action.as_str() {
            "pass" => Some(ItemStatus::Pass),
            "fail" => Some(ItemStatus::Fail),
            "skip" => Some(ItemStatus::Skipped),
            _ => None,
        };
        if event.test.is_empty() {
            if event.action == "output" {
                append_bounded(&mut self.output, &event.output);
            }
            self.end = end.or(self.end);
            if !event.failed_build.is_empty() {
                self.failed_build = event.failed_build;
            }
            return;
        }
        if !self.tests.contains_key(&event.test) {
            self.order.push(event.test.clone());
        }
        let test = self.tests.entry(event.test).or_default();
        if event.action == "output" {
            append_bounded(&mut test.output, &event.output);
        }
        if end.is_some() {
            test.end = end;
            test.elapsed = event.elapsed;
        }
    }

    fn report_tests(
        self,
        name: &str,
        build: Option<&str>,
        stderr: &OutputText,
        tests: &mut OutcomeCollector,
    ) {
        let ended: Vec<EndedTest> = self
            .order
            .iter()
            .map(|id| {
                let test = &self.tests[id];
                let message = message_of(&test.output);
                match test.end {
                    Some(status) => EndedTest {
                        name: id,
                        status,
                        seconds: test.elapsed,
                        message: message.filter(|_| status != ItemStatus::Pass),
                    },
                    None => EndedTest {
                        name: id,
                        status: ItemStatus::Error,
                        seconds: None,
                        message: Some(unended_message(message)),
                    },
                }
            })
            .collect();
        let has_failure = push_leaves(name, &ended, tests);
        if self.end == Some(ItemStatus::Fail) && !has_failure {
            let message = build
                .and_then(message_of)
                .or_else(|| message_of(&self.output))
                .or_else(|| stderr.last_line().map(str::to_owned));
            tests.push(name, ItemStatus::Error, None, message.as_deref());
        }
    }
}

struct EndedTest<'a> {
    name: &'a str,
    status: ItemStatus,
    seconds: Option<f64>,
    message: Option<String>,
}

/// Adds the tests without subtests, and the parents that failed on their own. Says whether any test failed.
fn push_leaves(package: &str, ended: &[EndedTest], tests: &mut OutcomeCollector) -> bool {
    let is_bad = |one: &EndedTest| matches!(one.status, ItemStatus::Fail | ItemStatus::Error);
    let parents: BTreeSet<&str> = ended
        .iter()
        .flat_map(|one| test_ancestors(one.name))
        .collect();
    let explained: BTreeSet<&str> = ended
        .iter()
        .filter(|one| is_bad(one))
        .flat_map(|one| test_ancestors(one.name))
        .collect();
    for one in ended {
        if !parents.contains(one.name) || (is_bad(one) && !explained.contains(one.name)) {
            tests.push(
                &format!("{package}::{}", one.name),
                one.status,
                one.seconds,
                one.message.as_deref(),
            );
        }
    }
    ended.iter().any(is_bad)
}

/// Adds the tests of `go test -v`, or the packages if the tests are not named. Returns false if there are neither.
pub fn read_text(stdout: &OutputText, stderr: &OutputText, tests: &mut OutcomeCollector) -> bool {
    let mut ended: Vec<EndedTest> = Vec::new();
    let mut started: BTreeSet<&str> = BTreeSet::new();
    let mut found = false;
    for line in stdout.lines().chain(stderr.lines()) {
        let trimmed = line.trim_start();
        if let Some(name) = trimmed.strip_prefix("=== RUN ") {
            started.insert(name.trim());
        } else if let Some(test) = parse_ended_test(trimmed) {
            ended.push(test);
        } else if let Some((package, status, seconds)) = parse_ended_package(line) {
            found = true;
            let (mut ended, mut open) = (std::mem::take(&mut ended), std::mem::take(&mut started));
            // Without `-v`, go names only failed tests, so the packages count as tests.
            if open.is_empty() {
                tests.push(package, status, seconds, None);
                continue;
            }
            for one in &ended {
                open.remove(one.name);
            }
            ended.extend(open.into_iter().map(|name| EndedTest {
                name,
                status: ItemStatus::Error,
                seconds: None,
                message: Some(unended_message(None)),
            }));
            let has_failure = push_leaves(package, &ended, tests);
            if status != ItemStatus::Pass && !has_failure {
                tests.push(package, ItemStatus::Error, seconds, None);
            }
        }
    }
    found
}

fn unended_message(message: Option<String>) -> String {
    message.map_or_else(
        || "did not end".to_owned(),
        |text| format!("did not end: {text}"),
    )
}

fn parse_ended_test(line: &str) -> Option<EndedTest<'_>> {
    let rest = line.strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": ")?;
    let status = match word {
        "PASS" => ItemStatus::Pass,
        "FAIL" => ItemStatus::Fail,
        "SKIP" => ItemStatus::Skipped,
        _ => return None,
    };
    let (name, time) = rest.rsplit_once(" (").unwrap_or((rest, ""));
    Some(EndedTest {
        name: name.trim(),
        status,
        seconds: time.trim_end_matches("s)").parse().ok(),
        message: None,
    })
}

/// Reads `ok  <tab>package<tab>0.1s` and similar lines.
fn parse_ended_package(line: &str) -> Option<(&str, ItemStatus, Option<f64>)> {
    let mut cells = line.split('\t').map(str::trim);
    let (word, package, rest) = (
        cells.next()?,
        cells.next()?,
        cells.next().unwrap_or_default(),
    );
    let seconds = rest
        .strip_suffix('s')
        .and_then(|seconds| seconds.parse().ok());
    match word {
        "ok" if !package.is_empty() => Some((package, ItemStatus::Pass, seconds)),
        "FAIL" => {
            let (name, note) = package.split_once(' ').unwrap_or((package, ""));
            let status = if note.is_empty() {
                ItemStatus::Fail
            } else {
                ItemStatus::Error
            };
            (!name.is_empty()).then_some((name, status, seconds))
        }
        _ => None,
    }
}

fn parse_failed_package(line: &str) -> Option<&str> {
    let (package, note) = line.strip_prefix("FAIL\t")?.split_once(' ')?;
    matches!(note.trim(), "[build failed]" | "[setup failed]").then_some(package)
}

/// Returns `a` and `a/b` for `a/b/c`, up to 32 levels.
fn test_ancestors(test: &str) -> impl Iterator<Item = &str> {
    test.match_indices('/')
        .take(32)
        .map(|(index, _)| &test[..index])
}

fn append_bounded(text: &mut String, more: &str) {
    let room = MAX_TEXT.saturating_sub(text.len());
    text.extend(more.chars().take(room));
}

/// Returns the output without the runner's own lines; `None` if nothing is left.
fn message_of(output: &str) -> Option<String> {
    let own = |line: &str| {
        line.is_empty()
            || line.starts_with("=== ")
            || line.starts_with("--- ")
            || line.starts_with("# ")
    };
    let lines: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| !own(line))
        .collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}
