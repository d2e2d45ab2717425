//! Reads counts from the summary that a runner prints for people, if there is no better source.
//!
//! The last summary counts: earlier ones may belong to earlier attempts. `Found 3 errors` of linters and compilers counts only if there is
//! no summary of a test runner.

use std::collections::BTreeSet;

use super::collect::TestCounts;
use super::output::OutputText;
use super::pytest;
use super::summary::{self, SummaryCounts, SummaryLine, parse_number};

/// Returns the last summary of standard output, else of standard error. `None` if there is none. A summary that counts nothing is returned
/// only if there is no other: it says that no test was run.
pub fn last_summary(stdout: &OutputText, stderr: &OutputText) -> Option<TestCounts> {
    let found = [runner_summary(stdout), runner_summary(stderr)];
    found
        .into_iter()
        .flatten()
        .find(|counts| *counts != TestCounts::default())
        .or_else(|| {
            [stdout, stderr]
                .iter()
                .find_map(|output| output.lines().filter_map(parse_found_errors).last())
        })
        .or_else(|| found.into_iter().flatten().next())
}

fn runner_summary(output: &OutputText) -> Option<TestCounts> {
    let mut last = None;
    let mut unittest_total = None;
    let mut prove = ProveReader::default();
    // If every count has its own line, a repeated word begins a new summary.
    let mut singles: Option<(BTreeSet<String>, SummaryCounts)> = None;
    let mut programs: Option<TestCounts> = None;
    let mut is_of_playwright = false;
    for line in output.lines().map(str::trim) {
        if let Some(counts) = prove.read_line(line) {
            last = Some(counts);
            continue;
        }
        if let Some(total) = line
            .strip_prefix("Ran ")
            .and_then(|rest| parse_number(rest.split(" test").next()?))
        {
            unittest_total = Some(total);
            continue;
        }
        if let Some(counts) = unittest_total.and_then(|total| parse_unittest(line, total)) {
            unittest_total = None;
            last = Some(counts);
            continue;
        }
        if let Some(counts) = pytest::parse_summary(line).or_else(|| parse_share(line)) {
            singles = None;
            last = Some(counts);
            continue;
        }
        match summary::parse_line(line) {
            Some(SummaryLine::Whole(counts)) => {
                singles = None;
                last = Some(counts);
            }
            Some(SummaryLine::Part(counts)) => {
                let sum = programs.get_or_insert_default();
                sum.passed += counts.passed;
                sum.failed += counts.failed;
                sum.errors += counts.errors;
                sum.skipped += counts.skipped;
                last = Some(*sum);
            }
            Some(SummaryLine::Single(word, tally)) => {
                if let (None, Some(counts), Some(outside)) =
                    (&singles, &mut last, tally.errors_outside_tests())
                {
                    // A line of its own after the summary of tests.
                    counts.errors += outside;
                    continue;
                }
                let (words, sum) = singles.get_or_insert_default();
                if !words.insert(word.clone()) {
                    (*words, *sum) = (BTreeSet::from([word]), SummaryCounts::default());
                }
                sum.add(&tally);
                last = sum.to_test_counts().or(last);
            }
            None => is_of_playwright |= is_playwright_failure(line),
        }
    }
    let outside =
        |tally: &SummaryCounts| is_of_playwright || tally.errors_outside_tests().is_some();
    last.or_else(|| {
        singles
            .map(|(_, tally)| tally)
            .filter(outside)
            .and_then(|tally| tally.counts_without_passed())
    })
}

/// `[chromium] › a.spec.ts:3:1 › has title`, as Playwright lists failed tests. Its summary leaves out counts of zero.
fn is_playwright_failure(line: &str) -> bool {
    let is_place = |part: &str| {
        let mut parts = part.rsplitn(3, ':');
        parts.next().and_then(parse_number).is_some()
            && parts.next().and_then(parse_number).is_some()
            && parts.next().is_some()
    };
    line.contains(" › ") && line.split(" › ").any(is_place)
}

/// State of reading prove's output: failed tests are listed by file, the total comes at the end.
#[derive(Default)]
struct ProveReader {
    failed: u64,
}

impl ProveReader {
    fn read_line(&mut self, line: &str) -> Option<TestCounts> {
        // `t/a.t (Wstat: 256 (exited 1) Tests: 3 Failed: 1)`
        if let Some((_, rest)) = line.split_once(" (Wstat: ") {
            let failed = rest
                .rsplit_once(" Failed: ")
                .and_then(|(_, count)| parse_number(count.strip_suffix(')')?));
            self.failed += failed.unwrap_or(0);
            return None;
        }
        // `Files=2, Tests=5,  0 wallclock secs ( 0.01 usr …`
        let (_, rest) = line.strip_prefix("Files=")?.split_once(", Tests=")?;
        let failed = std::mem::take(&mut self.failed);
        let total = parse_number(rest.split(',').next()?)?;
        Some(TestCounts {
            passed: total.saturating_sub(failed),
            failed,
            ..TestCounts::default()
        })
    }
}

/// `OK (skipped=1)` or `FAILED (failures=1, errors=1)` after `Ran 5 tests in 0.001s`
fn parse_unittest(line: &str, total: u64) -> Option<TestCounts> {
    let rest = line
        .strip_prefix("OK")
        .or_else(|| line.strip_prefix("FAILED"))
        .or_else(|| line.strip_prefix("NO TESTS RAN"))?;
    let mut counts = TestCounts::default();
    if !rest.is_empty() {
        for part in rest.strip_prefix(" (")?.strip_suffix(')')?.split(", ") {
            let (word, count) = part.split_once('=')?;
            let count = parse_number(count)?;
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

/// `Tests: 26/28 passed`, as `ralph eval` prints it.
fn parse_share(line: &str) -> Option<TestCounts> {
    let (passed, total) = line
        .strip_prefix("Tests: ")?
        .strip_suffix(" passed")?
        .split_once('/')?;
    let passed = parse_number(passed)?;
    Some(TestCounts {
        passed,
        failed: parse_number(total)?.checked_sub(passed)?,
        ..TestCounts::default()
    })
}

/// `Found 3 errors.`
fn parse_found_errors(line: &str) -> Option<TestCounts> {
    let (count, rest) = line.trim().strip_prefix("Found ")?.split_once(' ')?;
    let errors = parse_number(count)?;
    (rest.starts_with("error")).then_some(TestCounts {
        errors,
        ..TestCounts::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(u64, u64, u64, u64)>) {
        let found = last_summary(
            &OutputText::new(text.as_bytes(), &[]),
            &OutputText::new(b"", &[]),
        );
        assert_eq!(
            found.map(|counts| (counts.passed, counts.failed, counts.errors, counts.skipped)),
            expected,
            "{text}"
        );
    }

    #[test]
    fn summaries_of_common_runners() {
        check(
            "=== 3 failed, 7 passed, 1 skipped, 1 xfailed, 1 xpassed, 4 errors in 0.10s ===",
            Some((8, 3, 4, 2)),
        );
        check(
            "1 passed, 2 warnings in 61.20s (0:01:01)",
            Some((1, 0, 0, 0)),
        );
        check(
            "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1, expected failures=1)",
            Some((1, 1, 1, 2)),
        );
        check("Ran 2 tests in 0.001s\n\nOK", Some((2, 0, 0, 0)));
        check(
            "Test Suites: 2 failed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total",
            Some((2, 1, 0, 2)),
        );
        check(
            " Test Files  2 failed | 1 passed (3)\n      Tests  1 failed | 3 passed | 1 skipped | 1 todo (6)",
            Some((3, 1, 0, 2)),
        );
        check(
            "  1 passing (16ms)\n  2 pending\n  1 failing\n",
            Some((1, 1, 0, 2)),
        );
        check(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured",
            Some((4, 2, 0, 1)),
        );
        check("3 examples, 1 failure, 1 pending", Some((1, 1, 0, 1)));
        check(
            "0 examples, 0 failures, 1 error occurred outside of examples",
            Some((0, 0, 1, 0)),
        );
        check(
            "5 runs, 6 assertions, 1 failures, 1 errors, 1 skips",
            Some((2, 1, 1, 1)),
        );
        check("OK (3 tests, 5 assertions)", Some((3, 0, 0, 0)));
        check(
            "FAILURES!\nTests: 3, Assertions: 5, Errors: 1, Failures: 1.",
            Some((1, 1, 1, 0)),
        );
        check(
            "  Results: 26 passed, 2 failed out of 28\n\nTests: 26/28 passed",
            Some((26, 2, 0, 0)),
        );
        check("Tests: 29/28 passed", None);
        check("Tests: 0/0 passed", Some((0, 0, 0, 0)));
        check(
            "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1",
            Some((3, 1, 0, 1)),
        );
    }

    /// Tests summaries of people's own scripts, and of runners without a machine-readable format.
    #[test]
    fn summaries_in_words() {
        for text in [
            "3 passed, 1 failed",
            "1 failed, 3 passed",
            "== 3 passed, 1 failed ==",
            "Tests: 3 passed, 1 failed",
            "Results: 3 passed, 1 failed, 4 total",
            "3 passed; 1 failed",
            "3 passed | 1 failed",
            "3 passed / 1 failed",
            "3 passed and 1 failed in 0.2 seconds",
            "3 tests passed, 1 test failed.",
            "✔ 3 passed, ✖ 1 failed",
            "PASSED: 3, FAILED: 1",
            "Passed: 3 | Failed: 1",
            "passed=3, failed=1",
            "4 tests, 3 passed, 1 failed",
            "4 tests: 3 passed, 1 failed",
            "4 tests, 1 failed",
            "3/4 passed",
            "3/4 tests passed",
            "3 of 4 tests passed",
            "Result: 3/4 passed (75%)",
            "Tests passed: 3/4",
            "3 out of 4 checks passed",
            "1 of 4 tests failed",
            "Passed: 3\nFailed: 1",
            "Total tests: 4\n     Passed: 3\n     Failed: 1",
            "3 passed 1 failed",
            "3 passed - 1 failed",
            "3 tests passed 1 test failed",
            "passed: 3 failed: 1",
            "passed=3 failed=1",
            "Total: 4 Passed: 3 Failed: 1",
            "3 passed, 1 failed after 12ms",
        ] {
            check(text, Some((3, 1, 0, 0)));
        }
        check("8 passed, 2 failed", Some((8, 2, 0, 0)));
        check("3 passed", Some((3, 0, 0, 0)));
        check("3 passed, 1 failed, 2 skipped, 1 error", Some((3, 1, 1, 2)));
        check("0 passed, 4 failed", Some((0, 4, 0, 0)));
    }

    /// Tests outputs of real projects, copied from their logs and documentation.
    #[test]
    fn summaries_of_runners_in_other_languages() {
        check(
            "80% tests passed, 7 tests failed out of 36, spent 0.242s",
            Some((29, 7, 0, 0)),
        );
        check(
            "100% tests passed, 0 tests failed out of 471",
            Some((471, 0, 0, 0)),
        );
        let dotnet = "Failed!  - Failed:     4, Passed:    30, Skipped:     0, Total:    34, Duration: 39 s - A.Tests.dll (net8.0)";
        check(dotnet, Some((30, 4, 0, 0)));
        let more = "Passed!  - Failed:     0, Passed:     2, Skipped:     1, Total:     3, Duration: < 1 ms - B.Tests.dll (net8.0)";
        check(&format!("{dotnet}\n{more}"), Some((32, 4, 0, 1)));
        check(
            "Test summary: total: 14, failed: 4, succeeded: 10, skipped: 0, duration: 2.0s",
            Some((10, 4, 0, 0)),
        );
        check("20 tests completed, 1 failed", Some((19, 1, 0, 0)));
        check("9 tests completed, 1 failed, 8 skipped", Some((0, 1, 0, 8)));
        check(
            " 1 pass\n 1 fail\n 1 skip\n 3 expect() calls\nRan 3 tests across 1 file. [2.50s]",
            Some((1, 1, 0, 1)),
        );
        check("FAILED | 1 passed | 1 failed (130ms)", Some((1, 1, 0, 0)));
        check(
            "ok | 2 passed (3 steps) | 0 failed | 1 ignored (5ms)",
            Some((2, 0, 0, 1)),
        );
        let google = "[==========] 42 tests from 8 test suites ran. (1234 ms total)\n[  PASSED  ] 41 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Merge.test_2";
        check(google, Some((41, 1, 0, 0)));
        check(
            &format!("{google}\n\n 1 FAILED TEST\n  YOU HAVE 1 DISABLED TEST\n"),
            Some((41, 1, 0, 0)),
        );
        check(
            "test cases: 4 | 2 passed | 1 failed | 1 failed as expected\nassertions: 9 | 8 passed | 1 failed",
            Some((2, 1, 0, 1)),
        );
        check(
            "test cases: 2 | 1 passed | 1 failed\nassertions: 5 | 4 passed | 1 failed",
            Some((1, 1, 0, 0)),
        );
        check(
            "[doctest] test cases:  3 |  1 passed | 1 failed | 1 skipped\n[doctest] assertions: 9 | 7 passed | 2 failed |",
            Some((1, 1, 0, 1)),
        );
        check(
            "All tests passed (3 assertions in 2 test cases)",
            Some((2, 0, 0, 0)),
        );
        check("2 doctests, 3 tests, 1 failure", Some((4, 1, 0, 0)));
        check("4 tests, 1 failure, 1 invalid", Some((2, 1, 1, 0)));
        check(
            "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Flakes: 1",
            Some((3, 1, 0, 0)),
        );
        check(
            " Test Files  2 passed (2)\n      Tests  4 passed (4)\n     Errors  1 error\n   Start at  10:00:00",
            Some((4, 0, 1, 0)),
        );
        check(
            " Test Files  2 failed (2)\n      Tests  1 failed | 3 passed (4)\n     Errors  2 errors",
            Some((3, 1, 2, 0)),
        );
        check(
            " Test Files  1 failed (1)\n      Tests  no tests\n     Errors  1 error",
            Some((0, 0, 1, 0)),
        );
        let failed = "    [chromium] › a.spec.ts:3:1 › a ─────\n    b.spec.ts:4:1 › b\n";
        check(&format!("  3 failed\n{failed}"), Some((0, 3, 0, 0)));
        check(
            &format!("  2 failed\n{failed}  3 did not run\n"),
            Some((0, 2, 0, 3)),
        );
        check(
            &format!("  1 failed\n{failed}  2 did not run\n  5 passed (1.3m)"),
            Some((5, 1, 0, 2)),
        );
        check(
            "  1 error was not a part of any test, see above for details\n  4 passed (2.0s)",
            Some((4, 0, 1, 0)),
        );
        check(
            "  1 uncaught exception\n  3 tests passed",
            Some((3, 0, 1, 0)),
        );
        check(
            "Executed 3 tests, with 1 failure (0 unexpected) in 0.001 (0.002) seconds",
            Some((2, 1, 0, 0)),
        );
        check(
            "FAILURES!\nTests: 12, Assertions: 30, Failures: 2, Errors: 1.",
            Some((9, 2, 1, 0)),
        );
        check(
            "OK, but there were issues!\nTests: 3, Assertions: 5, Warnings: 1, PHPUnit Deprecations: 1.",
            Some((3, 0, 0, 0)),
        );
        check("OK (15 tests)", Some((15, 0, 0, 0)));
        check(
            "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in a.BTest",
            None,
        );
        check(
            "5 tests, 6 assertions, 1 failures, 0 errors, 1 pendings, 0 omissions, 0 notifications",
            Some((3, 1, 0, 1)),
        );
        check(
            "     Summary [   0.230s] 7 tests run: 4 passed (1 slow), 2 failed, 1 timed out, 1 skipped",
            Some((4, 2, 1, 1)),
        );
        check("2 passed; 1 skipped; 1 failed.", Some((2, 1, 0, 1)));
        check(
            "# TOTAL: 4\n# PASS:  2\n# SKIP:  1\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0",
            Some((2, 1, 0, 1)),
        );
        check(
            "1 scenario passed, 1 failed, 1 error, 0 skipped\n1 step passed, 1 failed, 0 skipped, 1 undefined",
            Some((1, 1, 1, 0)),
        );
        check("  2 tests passed\n  1 test skipped", Some((2, 0, 0, 1)));
        // The number of passed tests is unknown.
        check("  1 test failed\n  1 test skipped", None);
    }

    #[test]
    fn files_are_no_tests_and_errors_are_errors() {
        check(
            " Test Files  1 passed (1)\n      Tests  7 passed (7)",
            Some((7, 0, 0, 0)),
        );
        check(" Test Files  1 passed (1)", None);
        check("Found 3 errors.", Some((0, 0, 3, 0)));
        check(
            "Found 1 error in 1 file (checked 2 source files)",
            Some((0, 0, 1, 0)),
        );
        check("Found 3 errors.\n2 passed in 0.1s", Some((2, 0, 0, 0)));
    }

    #[test]
    fn the_last_summary_wins_and_prose_is_none() {
        check(
            "9 passed in 1s\nrun again\n1 failed, 8 passed in 1s",
            Some((8, 1, 0, 0)),
        );
        check(
            "\u{1b}[32m\u{1b}[1m2 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m",
            Some((2, 0, 0, 0)),
        );
        for text in [
            "",
            "I passed 3 tests in 5 minutes",
            "2 files passed, 1 failed",
            "assertions: 5 | 4 passed | 1 failed",
            "3 errors, 2 warnings",
            "2 failed",
            "Pass 3",
            "4/5 steps passed",
            "Total: 3",
            "1) passes",
            "1. passed",
            "1: passed",
            "OK",
            "Tests: many",
            "99999999999999999999 passed in 1s",
            "no tests ran in 0.01s",
        ] {
            check(text, None);
        }
    }
}
