//! Parses one line of a summary, as test runners and people's own scripts print it: `3 passed, 1 failed`, `Failed: 1, Passed: 3`,
//! `3 of 4 tests passed` and similar lines.
//!
//! The whole line must be understood: a sentence that happens to contain a number is not a summary. Counts of files, steps or assertions
//! are not counts of tests.

use super::collect::TestCounts;

/// Content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryLine {
    /// All counts of a run.
    Whole(TestCounts),
    /// All counts of one test program. Counts of several programs are added up.
    Part(TestCounts),
    /// One count of a summary that has a line per count, with the word that identifies the count.
    Single(String, SummaryCounts),
}

/// The counts that a line gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryCounts {
    passed: Option<u64>,
    failed: Option<u64>,
    errors: Option<u64>,
    /// Errors outside any test, so that they are not in the total.
    outside: u64,
    skipped: Option<u64>,
    total: Option<u64>,
    /// Whether checks inside tests were counted, too. A summary with that count also names failed tests, if there were any.
    has_assertions: bool,
}

/// Kind of count that a word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountKind {
    Passed,
    Failed,
    Errors,
    Outside,
    Skipped,
    Total,
    Assertions,
    /// A known word that does not count tests.
    Nothing,
}

/// Words for the outcome of a test. Phrases of several words are joined by hyphens before the look-up.
const STATUS_WORDS: &[(&[&str], CountKind)] = &[
    (
        &[
            "passed",
            "pass",
            "passes",
            "passing",
            "ok",
            "succeeded",
            "success",
            "successes",
            "successful",
            "xpassed",
            "flaky",
        ],
        CountKind::Passed,
    ),
    (
        &[
            "failed",
            "fail",
            "fails",
            "failing",
            "failure",
            "failures",
            "xpass",
            "unexpected-successes",
        ],
        CountKind::Failed,
    ),
    (
        &[
            "error",
            "errors",
            "errored",
            "crashed",
            "broken",
            "timed-out",
            "interrupted",
            "cancelled",
            "undefined",
            "ambiguous",
            "invalid",
        ],
        CountKind::Errors,
    ),
    (
        &[
            "error-occurred-outside-of",
            "errors-occurred-outside-of",
            "error-was-not-a-part-of-any",
            "errors-were-not-a-part-of-any",
            "uncaught-exception",
            "uncaught-exceptions",
            "unhandled-rejection",
            "unhandled-rejections",
            "unhandled-error",
            "unhandled-errors",
        ],
        CountKind::Outside,
    ),
    (
        &[
            "skipped",
            "skip",
            "skips",
            "pending",
            "pendings",
            "todo",
            "todos",
            "ignored",
            "xfailed",
            "xfail",
            "disabled",
            "excluded",
            "omitted",
            "omissions",
            "incomplete",
            "inconclusive",
            "did-not-run",
            "not-run",
            "expected-failures",
            "failed-as-expected",
        ],
        CountKind::Skipped,
    ),
    (
        &["total", "completed", "executed", "run", "ran"],
        CountKind::Total,
    ),
    (
        &["assertions", "assertion", "asserts", "expect-calls"],
        CountKind::Assertions,
    ),
    (
        &[
            "warning",
            "warnings",
            "deselected",
            "measured",
            "filtered-out",
            "rerun",
            "reruns",
            "retried",
            "notifications",
            "deprecations",
            "phpunit-deprecations",
            "notices",
            "risky",
            "subtests-passed",
            "flakes",
        ],
        CountKind::Nothing,
    ),
];

/// Nouns for tests.
const TEST_NOUNS: &[&str] = &[
    "test",
    "tests",
    "case",
    "cases",
    "check",
    "checks",
    "spec",
    "specs",
    "example",
    "examples",
    "scenario",
    "scenarios",
    "run",
    "runs",
    "doctest",
    "doctests",
    "property",
    "properties",
];

/// Labels that may precede the counts, with a colon.
const COUNT_LABELS: &[&str] = &[
    "test",
    "tests",
    "tests run",
    "tests total",
    "total tests",
    "test case",
    "test cases",
    "test run",
    "test result",
    "test results",
    "test summary",
    "result",
    "results",
    "summary",
    "total",
    "overall",
    "checks",
    "specs",
    "scenarios",
    "done",
    "finished",
];

/// Reads a line, given without its line end.
pub fn parse_line(line: &str) -> Option<SummaryLine> {
    let line = line.trim();
    if line.len() > 300 || !line.contains(|character: char| character.is_ascii_digit()) {
        return None;
    }
    if let Some(counts) = parse_cargo(line) {
        return Some(SummaryLine::Part(counts));
    }
    if let Some(single) = parse_google_test(line) {
        return Some(single);
    }
    let lower = line.to_lowercase();
    if let Some(count) = parse_catch2(&lower) {
        return Some(SummaryLine::Whole(TestCounts {
            passed: count,
            ..TestCounts::default()
        }));
    }
    let is_program = ["failed!", "passed!", "skipped!"]
        .iter()
        .any(|start| lower.starts_with(start))
        && lower.contains(" - ");
    if let Some(count) = parse_vitest_errors(&lower) {
        return Some(SummaryLine::Single(
            "errors-outside".to_owned(),
            SummaryCounts::from_kind(CountKind::Outside, count),
        ));
    }
    let text = strip_duration(&lower);
    let text = trim_signs(
        text.split_once("! ")
            .filter(|_| is_program)
            .map_or(text, |(_, rest)| rest),
    );
    let (tally, parts, word) = parse_counts(text)?;
    if parts == 1 && tally.total.is_none() {
        return Some(SummaryLine::Single(word, tally));
    }
    let counts = tally.to_test_counts()?;
    Some(if is_program {
        SummaryLine::Part(counts)
    } else {
        SummaryLine::Whole(counts)
    })
}

impl SummaryCounts {
    /// Returns the counts if the number of passed tests is known: printed, or the total minus all others.
    pub fn to_test_counts(&self) -> Option<TestCounts> {
        let (failed, errors, skipped) = (
            self.failed.unwrap_or(0),
            self.errors.unwrap_or(0),
            self.skipped.unwrap_or(0),
        );
        let is_told = self.failed.is_some() || self.errors.is_some() || self.has_assertions;
        let rest = || {
            self.total
                .filter(|_| is_told)
                .map(|total| total.saturating_sub(failed + errors + skipped))
        };
        let passed = self.passed.or_else(rest)?;
        Some(TestCounts {
            passed,
            failed,
            errors: errors + self.outside,
            skipped,
        })
    }

    /// Returns the number of errors outside any test if nothing else is counted.
    pub fn errors_outside_tests(&self) -> Option<u64> {
        (*self
            == Self {
                outside: self.outside,
                ..Self::default()
            })
        .then_some(self.outside)
    }

    /// Returns the counts of a summary that leaves out counts of zero: without a number of passed tests, none passed.
    pub fn counts_without_passed(&self) -> Option<TestCounts> {
        let is_told = self.failed.is_some() || self.errors.is_some() || self.outside > 0;
        is_told.then(|| {
            Self {
                passed: self.passed.or(Some(0)),
                ..self.clone()
            }
            .to_test_counts()
        })?
    }

    pub fn add(&mut self, other: &Self) {
        let sum = |mine: &mut Option<u64>, other: Option<u64>| {
            *mine = other.map(|other| mine.unwrap_or(0) + other).or(*mine);
        };
        sum(&mut self.passed, other.passed);
        sum(&mut self.failed, other.failed);
        sum(&mut self.errors, other.errors);
        sum(&mut self.skipped, other.skipped);
        sum(&mut self.total, other.total);
        self.outside += other.outside;
        self.has_assertions |= other.has_assertions;
    }

    fn from_kind(counted: CountKind, count: u64) -> Self {
        let mut tally = Self::default();
        match counted {
            CountKind::Passed => tally.passed = Some(count),
            CountKind::Failed => tally.failed = Some(count),
            CountKind::Errors => tally.errors = Some(count),
            CountKind::Outside => tally.outside = count,
            CountKind::Skipped => tally.skipped = Some(count),
            CountKind::Total => tally.total = Some(count),
            CountKind::Assertions => tally.has_assertions = true,
            CountKind::Nothing => {}
        }
        tally
    }
}

/// `test result: FAILED. 3 passed; 2 failed; 1 ignored; …`
fn parse_cargo(line: &str) -> Option<TestCounts> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut parts = rest.split("; ");
    let mut next = |word: &str| parse_number(parts.next()?.strip_suffix(word)?);
    Some(TestCounts {
        passed: next(" passed")?,
        failed: next(" failed")?,
        errors: 0,
        skipped: next(" ignored")?,
    })
}

/// GoogleTest's `[  PASSED  ] 2 tests.` and `[  FAILED  ] 1 test, listed below:`
fn parse_google_test(line: &str) -> Option<SummaryLine> {
    let (word, rest) = line.strip_prefix('[')?.split_once(']')?;
    let counted = match word.trim() {
        "PASSED" => CountKind::Passed,
        "FAILED" => CountKind::Failed,
        "SKIPPED" => CountKind::Skipped,
        _ => return None,
    };
    let rest = rest.trim().trim_end_matches(['.', ':']);
    let (count, noun) = rest
        .strip_suffix(", listed below")
        .unwrap_or(rest)
        .split_once(' ')?;
    matches!(noun, "test" | "tests").then_some(())?;
    // The same word as in `1 FAILED TEST`, which repeats the count at the end.
    Some(SummaryLine::Single(
        word.trim().to_lowercase(),
        SummaryCounts::from_kind(counted, parse_number(count)?),
    ))
}

/// Catch2's `All tests passed (3 assertions in 2 test cases)`
fn parse_catch2(lower: &str) -> Option<u64> {
    let inner = lower
        .strip_prefix("all tests passed (")?
        .strip_suffix(')')?;
    let (_, tests) = inner.split_once(" in ")?;
    let (count, noun) = tests.split_once(' ')?;
    matches!(noun, "test case" | "test cases").then(|| parse_number(count))?
}

/// vitest's `Errors  1 error`: errors outside any test.
fn parse_vitest_errors(lower: &str) -> Option<u64> {
    let (count, noun) = lower.strip_prefix("errors  ")?.trim().split_once(' ')?;
    matches!(noun, "error" | "errors").then(|| parse_number(count))?
}

/// Removes the duration of the tests.
fn strip_duration(text: &str) -> &str {
    let text = text.split(", duration:").next().unwrap_or(text);
    let text = text.split(", spent ").next().unwrap_or(text);
    // Playwright's `1 error was not a part of any test, see above for details`
    let text = text.split(", see above").next().unwrap_or(text);
    let starts_with_number =
        |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit() || first == '<');
    let before = |word: &str| {
        text.rsplit_once(word)
            .filter(|(_, rest)| starts_with_number(rest))
            .map(|(counts, _)| counts)
    };
    before(" in ").or_else(|| before(" after ")).unwrap_or(text)
}

/// Removes rules, signs and full stops at both ends.
fn trim_signs(text: &str) -> &str {
    text.trim_matches(|character: char| {
        !character.is_alphanumeric() && !matches!(character, '(' | ')' | '[' | ']')
    })
}

/// Reads counts. Also returns the number of parts and the word of the first part.
fn parse_counts(text: &str) -> Option<(SummaryCounts, usize, String)> {
    if let Some((head, inner)) = text
        .split_once('(')
        .and_then(|(head, rest)| Some((head.trim(), rest.strip_suffix(')')?)))
        && let Some(tally) = parse_enclosed_counts(head, inner)
    {
        return Some(tally);
    }
    let text = strip_brackets(text);
    let text = text.trim();
    // deno prints `FAILED | 1 passed | 1 failed`, and XCTest `Executed 3 tests, with 1 failure`.
    let text = text
        .strip_prefix("ok | ")
        .or_else(|| text.strip_prefix("failed | "))
        .unwrap_or(text);
    let text = text.strip_prefix("executed ").unwrap_or(text);
    let text = text
        .strip_prefix("tests ")
        .filter(|rest| {
            rest.trim_start()
                .starts_with(|first: char| first.is_ascii_digit())
        })
        .unwrap_or(text);
    let (total, text) = strip_label(text);
    let (mut sum, words, count) = parse_count_list(text)?;
    if let Some(total) = total {
        sum.total = Some(total);
    }
    Some((sum, count + usize::from(total.is_some()), words))
}

/// cucumber's `3 scenarios (1 failed, 2 passed)` and phpunit's `OK (3 tests, 5 assertions)`
fn parse_enclosed_counts(head: &str, inner: &str) -> Option<(SummaryCounts, usize, String)> {
    let (mut sum, word, count) = parse_count_list(inner)?;
    if head == "ok" {
        sum.failed.get_or_insert(0);
        return Some((sum, count + 1, word));
    }
    let total = parse_count_part(head)?.0;
    total.total?;
    sum.add(&total);
    Some((sum, count + 1, word))
}

/// Removes a label. nextest's label is also a total (`7 tests run: 4 passed`).
fn strip_label(text: &str) -> (Option<u64>, &str) {
    let Some((label, rest)) = text.split_once(':') else {
        return (None, text);
    };
    let rest = rest.trim();
    if !rest.starts_with(|first: char| first.is_ascii_digit()) {
        // This is the label of a list whose words come before the numbers: `Test summary: total: 14, failed: 4`.
        return (
            None,
            if COUNT_LABELS.contains(&label.trim()) {
                rest
            } else {
                text
            },
        );
    }
    let total = label
        .find(|character: char| character.is_ascii_digit())
        .and_then(|at| parse_count_part(&label[at..]))
        .and_then(|(tally, _)| tally.total);
    if total.is_some() {
        return (total, rest);
    }
    if !COUNT_LABELS.contains(&label.trim()) {
        return (None, text);
    }
    let end = rest
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(rest.len());
    let after = rest[end..].trim_start();
    // `Tests: 3, Assertions: 5` and `Total: 4 Passed: 3` have a bare number; `Tests: 3 passed` does not.
    let is_key = |word: &str| word.ends_with([':', '=']);
    if after.split(' ').next().is_some_and(is_key) {
        return (parse_number(&rest[..end]), after);
    }
    match (after.strip_prefix([',', ';', '|']), after.is_empty()) {
        (Some(after), _) => (parse_number(&rest[..end]), after.trim()),
        (None, true) => (None, text),
        (None, false) => (None, rest),
    }
}

/// Reads parts that are separated by commas or similar signs. All parts must be counts, with number and word in one order.
fn parse_count_list(text: &str) -> Option<(SummaryCounts, String, usize)> {
    let text = text
        .replace(", with ", ", ")
        .replace(" and ", ", ")
        .replace(" / ", ", ")
        .replace(" - ", ", ");
    let mut sum = SummaryCounts::default();
    let (mut first, mut order, mut count) = (String::new(), None, 0);
    let pieces = text
        .split([',', ';', '|', '\t', '·'])
        .map(trim_signs)
        .filter(|piece| !piece.is_empty());
    for piece in &pieces.flat_map(split_unseparated).collect::<Vec<String>>() {
        let is_number_first = piece.starts_with(|character: char| character.is_ascii_digit());
        if *order.get_or_insert(is_number_first) != is_number_first {
            return None;
        }
        let (tally, word) = parse_count_part(piece)?;
        if count == 0 {
            first = word;
        }
        sum.add(&tally);
        count += 1;
    }
    (count > 0).then_some((sum, first, count))
}

/// Splits counts that only blanks separate: `3 passed 1 failed`, `passed: 3 failed: 1`.
fn split_unseparated(piece: &str) -> Vec<String> {
    let tokens: Vec<&str> = piece.split_whitespace().collect();
    let is_number = |token: &str| parse_number(token).is_some();
    let is_number_first = tokens.first().is_some_and(|first| is_number(first));
    let mut pieces: Vec<Vec<&str>> = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| tokens[before]);
        let begins = match before {
            None => true,
            // `3 of 4 tests passed` is one count.
            Some(before) if is_number_first => {
                is_number(token) && !is_number(before) && before != "of"
            }
            Some(before) => {
                is_number(before.rsplit([':', '=']).next().unwrap_or(before))
                    && token.contains([':', '='])
            }
        };
        if begins {
            pieces.push(Vec::new());
        }
        if let Some(last) = pieces.last_mut() {
            last.push(token);
        }
    }
    pieces.into_iter().map(|tokens| tokens.join(" ")).collect()
}

/// Reads `3 passed`, `3 tests passed`, `passed: 3`, `3/4 passed`, `3 of 4 tests passed`, `1 test failed out of 3`.
fn parse_count_part(piece: &str) -> Option<(SummaryCounts, String)> {
    let piece = piece.replace(" out of ", " of ");
    let spaced = match piece.split_once(" of ") {
        Some((start, end)) if end.starts_with(|first: char| first.is_ascii_digit()) => {
            format!("{start}/{end}")
        }
        Some(_) | None => piece,
    };
    let is_key_first = !spaced.starts_with(|character: char| character.is_ascii_digit());
    // `3: failed` is an entry of a list, and `passed 3` may be the third pass.
    if is_key_first != spaced.contains([':', '=']) {
        return None;
    }
    let mut numbers = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    let mut total = None;
    for token in spaced
        .split([' ', ':', '='])
        .filter(|token| !token.is_empty())
    {
        let (start, end) = token
            .split_once('/')
            .map_or((token, None), |(start, end)| (start, Some(end)));
        match (parse_number(start), end) {
            (Some(count), None) => numbers.push(count),
            (Some(count), Some(end)) => {
                numbers.push(count);
                total = Some(parse_number(end)?);
            }
            // This is `1 test failed/3`, made from `1 test failed out of 3`.
            (None, Some(end)) => {
                words.push(start);
                total = Some(parse_number(end)?);
            }
            (None, None) => words.push(token),
        }
    }
    // ctest's percentage of passed tests repeats the count of failed tests, so skip it.
    if let [share, "tests" | "test", "passed"] = words.as_slice()
        && numbers.is_empty()
        && share
            .strip_suffix('%')
            .is_some_and(|share| parse_number(share).is_some())
    {
        return Some((SummaryCounts::default(), "share".to_owned()));
    }
    let ([count], false) = (numbers.as_slice(), words.is_empty()) else {
        return None;
    };
    let (counted, word) = count_kind(&words)?;
    let mut tally = SummaryCounts::from_kind(counted, *count);
    if let Some(total) = total {
        // `3/4 tests` does not say whether the 3 passed or failed.
        matches!(counted, CountKind::Passed | CountKind::Failed).then_some(())?;
        tally.total = Some(total);
        if counted == CountKind::Passed {
            tally.failed = Some(total.checked_sub(*count)?);
        }
    }
    Some((tally, word))
}

/// Returns the kind of count that words stand for: one word says the outcome, and the others say that tests are meant.
fn count_kind(words: &[&str]) -> Option<(CountKind, String)> {
    let phrase = words.join("-");
    let status = |phrase: &str| {
        STATUS_WORDS
            .iter()
            .find(|(known, _)| known.contains(&phrase))
            .map(|(_, counted)| *counted)
    };
    if let Some(counted) = status(&phrase) {
        return Some((counted, phrase));
    }
    let told: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !TEST_NOUNS.contains(word))
        .collect();
    if told.is_empty() {
        return Some((CountKind::Total, phrase));
    }
    let told = told.join("-");
    status(&told).map(|counted| (counted, told))
}

/// Removes bracketed text: times, totals and names of tools.
fn strip_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::with_capacity(text.len());
    // bun prints `4 expect() calls`.
    for character in text.replace("expect() calls", "expect-calls").chars() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            character if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

/// Reads a count. Numbers beyond 32 bits are not counts.
pub fn parse_number(text: &str) -> Option<u64> {
    text.parse::<u32>().ok().map(u64::from)
}
