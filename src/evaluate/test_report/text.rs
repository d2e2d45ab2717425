//! Counts from the summary that a runner prints for people, for where nothing better is known.
//!
//! The last summary counts: what stands above it may be an earlier attempt. Linters' and compilers' `Found 3 errors` counts only if no
//! test runner spoke.

use super::collect::Counts;
use super::output::Output;
use super::pytest;

/// Returns the last summary of the standard output, else that of the standard error; none if it counts nothing.
pub fn last_summary(stdout: &Output, stderr: &Output) -> Option<Counts> {
    [stdout, stderr]
        .iter()
        .find_map(|output| of_runner(output).filter(|counts| *counts != Counts::default()))
        .or_else(|| [stdout, stderr].iter().find_map(|output| output.lines().filter_map(found_errors).last()))
}

fn of_runner(output: &Output) -> Option<Counts> {
    let mut last = None;
    let mut unittest_total = None;
    // mocha's counts stand on lines of their own, cargo's are one line per test program.
    let mut mocha: Option<Counts> = None;
    let mut cargo: Option<Counts> = None;
    for line in output.lines().map(str::trim) {
        if let Some(counts) = cargo_result(line) {
            let sum = cargo.get_or_insert_default();
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            sum.skipped += counts.skipped;
            last = Some(*sum);
        } else if let Some((count, word)) = mocha_line(line) {
            match (word, &mut mocha) {
                ("passing", _) => mocha = Some(Counts { passed: count, ..Counts::default() }),
                ("pending", Some(counts)) => counts.skipped = count,
                ("failing", Some(counts)) => counts.failed = count,
                _ => continue,
            }
            last = mocha;
        } else if let Some(total) = line.strip_prefix("Ran ").and_then(|rest| number(rest.split(" test").next()?)) {
            unittest_total = Some(total);
        } else if let Some(counts) = unittest_total.and_then(|total| unittest(line, total)) {
            unittest_total = None;
            last = Some(counts);
        } else {
            let counts =
                pytest::summary(line).or_else(|| jest(line)).or_else(|| vitest(line)).or_else(|| examples(line)).or_else(|| labelled(line));
            let counts = counts.or_else(|| share(line));
            last = counts.or(last);
        }
    }
    last
}

/// `test result: FAILED. 3 passed; 2 failed; 1 ignored; …`
fn cargo_result(line: &str) -> Option<Counts> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut parts = rest.split("; ");
    let mut next = |word: &str| number(parts.next()?.strip_suffix(word)?);
    Some(Counts { passed: next(" passed")?, failed: next(" failed")?, errors: 0, skipped: next(" ignored")? })
}

/// `1 passing (16ms)`, `2 pending`, `1 failing`
fn mocha_line(line: &str) -> Option<(u64, &str)> {
    let (count, rest) = line.split_once(' ')?;
    let (word, time) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_summary = matches!(word, "passing" | "pending" | "failing") && (time.is_empty() || time.starts_with('('));
    Some((number(count)?, word)).filter(|_| is_summary)
}

/// `OK (skipped=1)` or `FAILED (failures=1, errors=1)` after `Ran 5 tests in 0.001s`
fn unittest(line: &str, total: u64) -> Option<Counts> {
    let rest = line.strip_prefix("OK").or_else(|| line.strip_prefix("FAILED")).or_else(|| line.strip_prefix("NO TESTS RAN"))?;
    let mut counts = Counts::default();
    if !rest.is_empty() {
        for part in rest.strip_prefix(" (")?.strip_suffix(')')?.split(", ") {
            let (word, count) = part.split_once('=')?;
            let count = number(count)?;
            match word {
                "failures" | "unexpected successes" => counts.failed += count,
                "errors" => counts.errors += count,
                "skipped" | "expected failures" => counts.skipped += count,
                _ => return None,
            }
        }
    }
    counts.passed = total.saturating_sub(counts.failed + counts.errors + counts.skipped);
    Some(counts)
}

/// `Tests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total`
fn jest(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("Tests:")?.trim();
    rest.ends_with(" total").then_some(())?;
    counted(rest.split(", "))
}

/// `Tests  1 failed | 3 passed (4)`; the line of `Test Files` before it counts files.
fn vitest(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("Tests ")?.trim();
    counted(rest.rsplit_once(" (").map_or(rest, |(counts, _)| counts).split(" | "))
}

fn counted<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Counts> {
    let mut counts = Counts::default();
    for part in parts {
        let (count, word) = part.trim().split_once(' ')?;
        let count = number(count)?;
        match word {
            "passed" => counts.passed += count,
            "failed" => counts.failed += count,
            "skipped" | "todo" | "pending" => counts.skipped += count,
            "total" => {}
            _ => return None,
        }
    }
    Some(counts)
}

/// rspec's `3 examples, 1 failure, 1 pending` and minitest's `5 runs, 6 assertions, 1 failures, 1 errors, 1 skips`
fn examples(line: &str) -> Option<Counts> {
    let mut parts = line.split(", ");
    let (total, word) = parts.next()?.split_once(' ')?;
    let total = number(total)?;
    if !matches!(word, "example" | "examples" | "runs" | "tests") {
        return None;
    }
    let (mut counts, mut outside, mut has_failures) = (Counts::default(), 0, false);
    for part in parts {
        let (count, word) = part.split_once(' ')?;
        let count = number(count)?;
        match word {
            "failure" | "failures" => {
                has_failures = true;
                counts.failed += count;
            }
            "errors" => counts.errors += count,
            "pending" | "skips" => counts.skipped += count,
            "assertions" => {}
            word if word.starts_with("error") && word.ends_with("outside of examples") => outside += count,
            _ => return None,
        }
    }
    has_failures.then_some(())?;
    counts.passed = total.saturating_sub(counts.failed + counts.errors + counts.skipped);
    counts.errors += outside;
    Some(counts)
}

/// phpunit's `OK (3 tests, 5 assertions)` and `Tests: 3, Assertions: 5, Errors: 1.`, maven's `Tests run: 5, Failures: 1, Errors: 0, Skipped: 1`
fn labelled(line: &str) -> Option<Counts> {
    if let Some(inner) = line.strip_prefix("OK (").and_then(|rest| rest.strip_suffix(')')) {
        let (total, word) = inner.split_once(", ")?.0.split_once(' ')?;
        let total = number(total).filter(|_| matches!(word, "test" | "tests"))?;
        return Some(Counts { passed: total, ..Counts::default() });
    }
    let line =
        line.strip_prefix("[INFO] ").or_else(|| line.strip_prefix("[ERROR] ")).or_else(|| line.strip_prefix("[WARNING] ")).unwrap_or(line);
    let mut parts = line.trim_end_matches('.').split(", ");
    let (label, total) = parts.next()?.split_once(": ")?;
    let total = number(total).filter(|_| matches!(label, "Tests" | "Tests run"))?;
    let mut counts = Counts::default();
    for part in parts {
        let (label, count) = part.split_once(": ")?;
        // A test class of maven's says how long it took; its line is not the sum.
        let count = number(count)?;
        match label {
            "Failures" => counts.failed += count,
            "Errors" => counts.errors += count,
            "Skipped" | "Incomplete" => counts.skipped += count,
            _ => {}
        }
    }
    counts.passed = total.saturating_sub(counts.failed + counts.errors + counts.skipped);
    Some(counts)
}

/// `Tests: 26/28 passed`, as `ralph eval` says it
fn share(line: &str) -> Option<Counts> {
    let (passed, total) = line.strip_prefix("Tests: ")?.strip_suffix(" passed")?.split_once('/')?;
    let passed = number(passed)?;
    Some(Counts { passed, failed: number(total)?.checked_sub(passed)?, ..Counts::default() })
}

/// `Found 3 errors.`
fn found_errors(line: &str) -> Option<Counts> {
    let (count, rest) = line.trim().strip_prefix("Found ")?.split_once(' ')?;
    let errors = number(count)?;
    (rest.starts_with("error")).then_some(Counts { errors, ..Counts::default() })
}

/// Reads a count; numbers beyond any real one are none.
fn number(text: &str) -> Option<u64> {
    text.parse::<u32>().ok().map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(u64, u64, u64, u64)>) {
        let found = last_summary(&Output::new(text.as_bytes(), &[]), &Output::new(b"", &[]));
        assert_eq!(found.map(|counts| (counts.passed, counts.failed, counts.errors, counts.skipped)), expected, "{text}");
    }

    #[test]
    fn summaries_of_common_runners() {
        check("=== 3 failed, 7 passed, 1 skipped, 1 xfailed, 1 xpassed, 4 errors in 0.10s ===", Some((8, 3, 4, 2)));
        check("1 passed, 2 warnings in 61.20s (0:01:01)", Some((1, 0, 0, 0)));
        check("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1, expected failures=1)", Some((1, 1, 1, 2)));
        check("Ran 2 tests in 0.001s\n\nOK", Some((2, 0, 0, 0)));
        check("Test Suites: 2 failed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total", Some((2, 1, 0, 2)));
        check(" Test Files  2 failed | 1 passed (3)\n      Tests  1 failed | 3 passed | 1 skipped | 1 todo (6)", Some((3, 1, 0, 2)));
        check("  1 passing (16ms)\n  2 pending\n  1 failing\n", Some((1, 1, 0, 2)));
        check(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured",
            Some((4, 2, 0, 1)),
        );
        check("3 examples, 1 failure, 1 pending", Some((1, 1, 0, 1)));
        check("0 examples, 0 failures, 1 error occurred outside of examples", Some((0, 0, 1, 0)));
        check("5 runs, 6 assertions, 1 failures, 1 errors, 1 skips", Some((2, 1, 1, 1)));
        check("OK (3 tests, 5 assertions)", Some((3, 0, 0, 0)));
        check("FAILURES!\nTests: 3, Assertions: 5, Errors: 1, Failures: 1.", Some((1, 1, 1, 0)));
        check("  Results: 26 passed, 2 failed out of 28\n\nTests: 26/28 passed", Some((26, 2, 0, 0)));
        check("Tests: 29/28 passed", None);
        check("[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1", Some((3, 1, 0, 1)));
    }

    #[test]
    fn files_are_no_tests_and_errors_are_errors() {
        check(" Test Files  1 passed (1)\n      Tests  7 passed (7)", Some((7, 0, 0, 0)));
        check(" Test Files  1 passed (1)", None);
        check("Found 3 errors.", Some((0, 0, 3, 0)));
        check("Found 1 error in 1 file (checked 2 source files)", Some((0, 0, 1, 0)));
        check("Found 3 errors.\n2 passed in 0.1s", Some((2, 0, 0, 0)));
    }

    #[test]
    fn the_last_summary_wins_and_prose_is_none() {
        check("9 passed in 1s\nrun again\n1 failed, 8 passed in 1s", Some((8, 1, 0, 0)));
        check("\u{1b}[32m\u{1b}[1m2 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m", Some((2, 0, 0, 0)));
        for text in [
            "",
            "I passed 3 tests in 5 minutes",
            "3 passed",
            "OK",
            "Tests: many",
            "99999999999999999999 passed in 1s",
            "no tests ran in 0.01s",
        ] {
            check(text, None);
        }
    }
}
