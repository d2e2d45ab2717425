//! Tests with reports of real tools (`tests/fixtures/test_reports`; Go's are written after its documentation), read through the public
//! functions.

use std::path::Path;

use proptest::prelude::*;

use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!(
            "../../../../../tests/fixtures/test_reports/",
            $name
        ))
        .as_slice()
    };
}

const NONE: FinishedCommand = FinishedCommand {
    ending: CommandExit::Code(1),
    stdout: b"",
    stderr: b"",
    report: None,
    is_cut: false,
    roots: &["/project"],
};

fn report(command: &str, finished: &FinishedCommand) -> TestReport {
    read_outcomes(
        &plan_command(command, Path::new("/tmp/report"), None),
        finished,
    )
}

/// Formats outcomes as `status id`, one per line, then the counts.
fn shown(report: &TestReport) -> String {
    let mut text = String::new();
    for outcome in &report.outcomes {
        text.push_str(&format!("{} {}\n", outcome.status, outcome.id));
    }
    text + &format!(
        "{}+{}+{} of {}, {} skipped, {:?}",
        report.passed,
        report.failed,
        report.errors,
        report.rated_count(),
        report.skipped,
        report.source
    )
}

fn check(report: &TestReport, expected: &str) {
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(shown(report).lines().collect::<Vec<_>>(), expected);
}

fn message<'a>(report: &'a TestReport, id: &str) -> Option<&'a str> {
    let found = report
        .outcomes
        .iter()
        .find(|outcome| outcome.id == id)
        .unwrap_or_else(|| panic!("no outcome {id}"));
    found.message.as_deref()
}

const PYTEST: &str = r"
    error tests/test_broken.py
    pass test_top.py::test_top
    pass tests/test_tasks.py::TestCreate::test_made
    pass tests/test_tasks.py::TestCreate::TestNested::test_deep
    pass tests/test_tasks.py::test_values[a b]
    fail tests/test_tasks.py::test_values[x.y]
    pass tests/test_tasks.py::test_values[<&>]
    pass tests/test_tasks.py::test_values[\xe9\x00]
    error tests/test_tasks.py::test_setup
    error tests/test_tasks.py::test_teardown
    error tests/test_tasks.py::test_fails_and_breaks
    skipped tests/test_tasks.py::test_later
    skipped tests/test_tasks.py::test_known
    fail tests/test_tasks.py::test_fixed
    pass tests/test_tasks.py::test_fixed_lenient
    7+2+4 of 13, 2 skipped, Tests(JunitXml)";

#[test]
fn pytest_by_its_xml_of_either_family() {
    for bytes in [fixture!("pytest_xunit1.xml"), fixture!("pytest_xunit2.xml")] {
        let report = report(
            "pytest",
            &FinishedCommand {
                report: Some(bytes),
                stdout: fixture!("pytest_verbose.txt"),
                ..NONE
            },
        );
        check(&report, PYTEST);
        let failure = "AssertionError: assert 'x.y' != 'x.y'";
        assert_eq!(
            message(&report, "tests/test_tasks.py::test_values[x.y]"),
            Some(failure)
        );
        let twice = "assert False; failed on teardown with \"RuntimeError: left over\"";
        assert_eq!(
            message(&report, "tests/test_tasks.py::test_fails_and_breaks"),
            Some(twice)
        );
        assert!(report.outcomes[1].duration_seconds.is_some());
    }
}

#[test]
fn pytest_by_its_text_has_the_same_tests() {
    let from_text = report(
        "make test",
        &FinishedCommand {
            stdout: fixture!("pytest_verbose.txt"),
            ..NONE
        },
    );
    let sorted = |report: &TestReport| {
        let mut lines: Vec<String> = report
            .outcomes
            .iter()
            .map(|one| format!("{} {}", one.status, one.id))
            .collect();
        lines.sort();
        lines
    };
    let from_xml = report(
        "pytest",
        &FinishedCommand {
            report: Some(fixture!("pytest_xunit1.xml")),
            ..NONE
        },
    );
    assert_eq!(sorted(&from_text), sorted(&from_xml));
    assert_eq!(
        from_text.source,
        OutcomeSource::Tests(ReportFormat::PytestText)
    );
    let workers = report(
        "make test",
        &FinishedCommand {
            stdout: fixture!("pytest_xdist_verbose.txt"),
            ..NONE
        },
    );
    assert_eq!(
        (
            workers.passed,
            workers.failed,
            workers.errors,
            workers.skipped
        ),
        (7, 2, 3, 2)
    );
    // A list of failures alone is not a list of all tests.
    let quiet = report(
        "make test",
        &FinishedCommand {
            stdout: fixture!("pytest_color.txt"),
            ..NONE
        },
    );
    assert_eq!(
        (
            quiet.passed,
            quiet.failed,
            quiet.errors,
            quiet.skipped,
            quiet.source
        ),
        (8, 3, 3, 2, OutcomeSource::Counts)
    );
}

#[test]
fn several_sessions_of_pytest_are_not_taken_for_the_last() {
    let stdout =
        [fixture!("pytest_verbose.txt"), b"==== test session starts ====\nother.py::test_more PASSED [100%]\n==== 1 passed in 0.1s ====\n"]
            .concat();
    let both = report(
        "make test",
        &FinishedCommand {
            stdout: &stdout,
            report: Some(fixture!("pytest_no_tests.xml")),
            ..NONE
        },
    );
    assert_eq!(
        (both.passed, both.source),
        (8, OutcomeSource::Tests(ReportFormat::PytestText))
    );
}

#[test]
fn pytest_exits_without_tests_say_why() {
    for (code, words) in [
        (2, "interrupted"),
        (3, "internal error"),
        (4, "not called correctly"),
        (5, "found no tests"),
        (1, "exit 1"),
        (0, "no test"),
    ] {
        let finished = FinishedCommand {
            ending: CommandExit::Code(code),
            report: Some(fixture!("pytest_no_tests.xml")),
            ..NONE
        };
        let report = report("python -m pytest x", &finished);
        check(
            &report,
            "error python -m pytest x\n0+0+1 of 1, 0 skipped, NoTests",
        );
        assert!(
            message(&report, "python -m pytest x").is_some_and(|message| message.contains(words)),
            "{code}: {report:?}"
        );
    }
    // A collection error already explains the interruption.
    let interrupted = FinishedCommand {
        ending: CommandExit::Code(2),
        report: Some(fixture!("pytest_xunit1.xml")),
        ..NONE
    };
    check(&report("pytest", &interrupted), PYTEST);
    let internal = FinishedCommand {
        ending: CommandExit::Code(3),
        report: Some(b"a.py::test_a PASSED\n"),
        stderr: b"INTERNALERROR> x",
        ..NONE
    };
    check(
        &report("pytest", &internal),
        "pass a.py::test_a\nerror pytest\n1+0+1 of 2, 0 skipped, Tests(PytestLines)",
    );
}

#[test]
fn what_is_printed_around_pytest_names_no_test() {
    let stdout = b"a.py::test_a PASSED [100%]\n===== 1 passed in 0.1s =====\n";
    for ending in [
        CommandExit::Code(0),
        CommandExit::Code(1),
        CommandExit::Signal(9),
        CommandExit::TimedOut,
    ] {
        let finished = FinishedCommand {
            ending,
            stdout,
            ..NONE
        };
        assert_eq!(report("pytest -v", &finished).passed, 0, "{ending:?}");
        // Nor does a second session make the report that of another.
        let sessions = [&stdout[..], stdout].concat();
        let finished = FinishedCommand {
            stdout: &sessions,
            report: Some(
                b"<testsuites><testcase classname='a' name='b'><failure/></testcase></testsuites>",
            ),
            ..finished
        };
        assert_eq!(report("pytest -v", &finished).passed, 0, "{ending:?}");
    }
}

#[test]
fn a_time_out_keeps_what_was_known() {
    let report = report(
        "pytest",
        &FinishedCommand {
            ending: CommandExit::TimedOut,
            report: Some(b"a.py::test_a PASSED\na.py::test_b FAILED\n"),
            ..NONE
        },
    );
    check(
        &report,
        "pass a.py::test_a\nfail a.py::test_b\nlimit pytest\n1+1+1 of 3, 0 skipped, Tests(PytestLines)",
    );
    let nothing = FinishedCommand {
        ending: CommandExit::TimedOut,
        ..NONE
    };
    check(
        &super::read_outcomes(&plan_command("pytest", Path::new("/r"), None), &nothing),
        "limit pytest\n0+0+1 of 1, 0 skipped, NoTests",
    );
}

#[test]
fn other_junit_files() {
    let xml = br#"<testsuites><testsuite name="app.OrderTest">
        <testcase classname="app.OrderTest" name="adds" time="1,000.5"/>
        <testcase classname="app.OrderTest" name="adds"/>
        <testcase classname="app.OrderTest" name="breaks"><system-out>x</system-out><failure><![CDATA[
            expected <1>]]> &amp; &nope; &#65;</failure></testcase>
        <testcase name="off" status="notrun"/>
        <testcase classname="app.OrderTest" name="flaky"><flakyFailure message="once"/></testcase>
    </testsuite></testsuites>"#;
    let mut tests = OutcomeCollector::new(&[]);
    junit::read_tests(xml, false, &mut tests);
    let report = tests.into_report(OutcomeSource::Tests(ReportFormat::JunitXml));
    check(
        &report,
        "pass app.OrderTest::adds
        pass app.OrderTest::adds#2
        fail app.OrderTest::breaks
        skipped app.OrderTest > off
        pass app.OrderTest::flaky
        3+1+0 of 4, 1 skipped, Tests(JunitXml)",
    );
    assert_eq!(report.outcomes[0].duration_seconds, Some(1000.5));
    assert_eq!(
        message(&report, "app.OrderTest::breaks"),
        Some("expected <1> & &nope; A")
    );
    let mut tests = OutcomeCollector::new(&["/project"]);
    junit::read_tests(fixture!("node_junit.xml"), false, &mut tests);
    let report = tests.into_report(OutcomeSource::Tests(ReportFormat::JunitXml));
    assert_eq!(report.outcomes[4].id, "math > deep > nested");
    assert_eq!((report.passed, report.failed, report.skipped), (4, 3, 3));
}

#[test]
fn hostile_xml_is_refused_or_kept_as_far_as_it_goes() {
    let bomb = br#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites><testcase name="&b;"/></testsuites>"#;
    let report = report(
        "pytest",
        &FinishedCommand {
            report: Some(bomb),
            ..NONE
        },
    );
    check(
        &report,
        "error (report)\n0+0+1 of 1, 0 skipped, Tests(JunitXml)",
    );
    assert!(message(&report, "(report)").is_some_and(|message| message.contains("document type")));
    let deep = "<testsuite>".repeat(1000);
    for (xml, words) in [
        (
            "<testsuites><testcase classname='a.test_b' name='c'/><testcase",
            "is damaged",
        ),
        (
            "<testsuites><testcase classname='a.test_b' name='c'/>",
            "is cut off",
        ),
        (deep.as_str(), "nests deeper"),
        ("<a></b>", "is no JUnit report"),
    ] {
        let report = super::read_outcomes(
            &plan_command("pytest", Path::new("/r"), None),
            &FinishedCommand {
                report: Some(xml.as_bytes()),
                ..NONE
            },
        );
        let last = report
            .outcomes
            .last()
            .and_then(|outcome| outcome.message.clone())
            .unwrap_or_default();
        assert!(last.contains(words), "{xml}: {report:?}");
        assert_eq!(
            report.passed,
            u64::from(xml.contains("name='c'/>")),
            "{xml}"
        );
    }
}

#[test]
fn cargo_names_targets_and_is_not_fooled_by_what_tests_print() {
    let finished = FinishedCommand {
        stdout: fixture!("cargo_test.stdout.txt"),
        stderr: fixture!("cargo_test.stderr.txt"),
        ..NONE
    };
    let read = report("cargo test --no-fail-fast", &finished);
    let expected = "
        skipped tiny/src/lib.rs::tests::later
        fail tiny/src/lib.rs::tests::fails
        pass tiny/src/lib.rs::tests::panics
        pass tiny/src/lib.rs::tests::prints
        fail tiny/src/lib.rs::tests::should_panic_but_not
        pass tiny/src/lib.rs::tests::works
        fail tests/http.rs::gone
        pass tests/http.rs::works
        skipped src/lib.rs - add (line 6)
        pass src/lib.rs - add (line 3)
        5+3+0 of 8, 2 skipped, Tests(CargoText)";
    check(&read, expected);
    assert_eq!(
        message(&read, "tests/http.rs::gone"),
        Some("Error: \"closed\"")
    );
    assert_eq!(
        message(&read, "tiny/src/lib.rs::tests::fails"),
        Some("assertion `left == right` failed: sum")
    );
    check(&report("make", &finished), expected);
    let shown = report(
        "cargo test -- --nocapture",
        &FinishedCommand {
            stdout: fixture!("cargo_nocapture.stdout.txt"),
            ..NONE
        },
    );
    assert_eq!(
        (shown.passed, shown.failed, shown.errors, shown.skipped),
        (5, 3, 0, 2)
    );
}

#[test]
fn cargo_that_does_not_compile_or_aborts() {
    let broken = FinishedCommand {
        stderr: fixture!("cargo_compile_error.stderr.txt"),
        ending: CommandExit::Code(101),
        ..NONE
    };
    let read = report("cargo test", &broken);
    check(
        &read,
        "error could not compile `tiny`\n0+0+1 of 1, 0 skipped, Tests(CargoText)",
    );
    assert_eq!(
        message(&read, "could not compile `tiny`"),
        Some("error: this file contains an unclosed delimiter")
    );
    let aborted = FinishedCommand {
        stdout: fixture!("cargo_abort.stdout.txt"),
        stderr: fixture!("cargo_abort.stderr.txt"),
        ..NONE
    };
    check(
        &report("cargo test", &aborted),
        "fail tests/http.rs::gone
        pass tests/http.rs::works
        error tests/http.rs::zz_aborts
        1+1+1 of 3, 0 skipped, Tests(CargoText)",
    );
    let none = FinishedCommand {
        stdout: b"\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        ending: CommandExit::Code(0),
        ..NONE
    };
    check(
        &report("cargo test", &none),
        "error cargo test\n0+0+1 of 1, 0 skipped, NoTests",
    );
}

#[test]
fn nextest() {
    let report = report(
        "cargo nextest run",
        &FinishedCommand {
            stderr: fixture!("nextest.stderr.txt"),
            ending: CommandExit::Code(100),
            ..NONE
        },
    );
    check(
        &report,
        "pass tiny tests::panics
        pass tiny tests::prints
        fail tiny tests::fails
        fail tiny tests::should_panic_but_not
        fail tiny::http gone
        pass tiny tests::works
        pass tiny::http works
        4+3+0 of 7, 1 skipped, Tests(NextestText)",
    );
    assert_eq!(report.outcomes[0].duration_seconds, Some(0.116));
}

const NODE: &str = "
    pass math > adds
    fail math > fails # here
    skipped math > later
    skipped math > some day
    pass math > deep > nested
    pass parent > child
    fail parent > bad child
    pass plain
    skipped with reason
    fail b.test.mjs";

#[test]
fn node_as_tap_and_as_text() {
    let tap = report(
        "node --test",
        &FinishedCommand {
            stdout: fixture!("node_test.tap"),
            ..NONE
        },
    );
    check(&tap, &format!("{NODE}\n4+3+0 of 7, 3 skipped, Tests(Tap)"));
    assert_eq!(message(&tap, "math > fails # here"), Some("1 == 2"));
    assert_eq!(tap.outcomes[0].duration_seconds, Some(0.001_278_502));
    let text = report(
        "node --test",
        &FinishedCommand {
            stdout: fixture!("node_spec.txt"),
            ..NONE
        },
    );
    check(
        &text,
        &format!("{NODE}\n4+3+0 of 7, 3 skipped, Tests(NodeText)"),
    );
    check(
        &report(
            "npm test",
            &FinishedCommand {
                stdout: fixture!("node_spec.txt"),
                ..NONE
            },
        ),
        &shown(&text),
    );
}

#[test]
fn tap_of_both_versions() {
    let stdout = b"TAP version 14\n1..5\n# Subtest: a.tap\n    1..2\n    ok 1 - one # time=12.5ms\n    not ok 2 - two\n      ---\n      message: |-\n        went wrong\n      ...\nnot ok 1 - a.tap\nok 2\nok 3 - \\# not a comment # skip on this platform\nnot ok - later # TODO\n";
    let read = report("prove", &FinishedCommand { stdout, ..NONE });
    check(
        &read,
        "pass a.tap > one
        fail a.tap > two
        pass test 2
        skipped # not a comment
        skipped later
        error (plan)
        2+1+1 of 4, 2 skipped, Tests(Tap)",
    );
    assert_eq!(read.outcomes[0].duration_seconds, Some(0.0125));
    assert_eq!(message(&read, "a.tap > two"), Some("went wrong"));
    assert_eq!(
        message(&read, "(plan)"),
        Some("5 tests were planned, 4 reported")
    );
    let bail = report(
        "./t",
        &FinishedCommand {
            stdout: b"1..9\nok 1 - a\nBail out! no database\n",
            ..NONE
        },
    );
    assert_eq!((bail.passed, bail.errors), (1, 2));
    let mocha = report(
        "npm test",
        &FinishedCommand {
            stdout: fixture!("mocha.tap"),
            ..NONE
        },
    );
    assert_eq!(
        (mocha.passed, mocha.failed, mocha.skipped, mocha.source),
        (1, 1, 2, OutcomeSource::Tests(ReportFormat::Tap))
    );
    let prose = report(
        "./check.sh",
        &FinishedCommand {
            stdout: b"ok\nok 1\nnot ok\n",
            ending: CommandExit::Code(0),
            ..NONE
        },
    );
    check(&prose, "pass ./check.sh\n1+0+0 of 1, 0 skipped, Exit");
}

/// A check that lets the output of the program under test through prints what that program likes.
#[test]
fn tap_that_more_than_one_program_printed_is_not_believed() {
    for (stdout, reason) in [
        (
            "1..2\nok 1 - answer\nok 2 - help\nnot ok 1 - answer\nnot ok 2 - help\n",
            "test 1 is reported twice",
        ),
        (
            "1..2\nok - answer\nok - help\nnot ok - answer\nnot ok - help\n",
            "2 tests were planned, 4 reported",
        ),
        (
            "1..2\n1..9\nok 7\nok 8\nnot ok 1\nnot ok 2\n",
            "there are two plans",
        ),
        (
            "not ok 1\nnot ok 2\nok 3\n1..2\n",
            "2 tests were planned, 3 reported",
        ),
        (
            "TAP version 14\nTAP version 14\nok 1\n1..1\n",
            "there are results of two programs",
        ),
        (
            "ok 1 - early\nTAP version 13\n1..2\nok 2\n",
            "there are results of two programs",
        ),
        (
            "1..2\nok 1 - answer #not ok 1 - answer\nok 2 - help #not ok 2 - help\n",
            "a line holds two results",
        ),
    ] {
        let read = report(
            "sh check.sh",
            &FinishedCommand {
                stdout: stdout.as_bytes(),
                ending: CommandExit::Code(0),
                ..NONE
            },
        );
        check(&read, "error (report)\n0+0+1 of 1, 0 skipped, Tests(Tap)");
        assert_eq!(message(&read, "(report)"), Some(reason), "{stdout}");
    }
    // Who kills the check, or stops it, has not passed it.
    let whole = b"1..2\nok 1 - answer\nok 2 - help\n";
    let of = |ending| {
        report(
            "sh check.sh",
            &FinishedCommand {
                stdout: whole,
                ending,
                ..NONE
            },
        )
    };
    for ending in [
        CommandExit::Signal(9),
        CommandExit::Code(137),
        CommandExit::Code(1),
    ] {
        check(
            &of(ending),
            "error sh check.sh\n0+0+1 of 1, 0 skipped, NoTests",
        );
    }
    check(
        &of(CommandExit::TimedOut),
        "limit sh check.sh\n0+0+1 of 1, 0 skipped, NoTests",
    );
    check(
        &of(CommandExit::Code(0)),
        "pass answer\npass help\n2+0+0 of 2, 0 skipped, Tests(Tap)",
    );
    let cut = report(
        "sh check.sh",
        &FinishedCommand {
            stdout: whole,
            ending: CommandExit::Code(0),
            is_cut: true,
            ..NONE
        },
    );
    check(&cut, "error sh check.sh\n0+0+1 of 1, 0 skipped, NoTests");
    // Parts of a test that failed are no passes.
    let parts = b"1..1\n    ok 1 - a\n    ok 2 - b\n    1..2\nnot ok 1 - answer\n";
    let read = report(
        "sh check.sh",
        &FinishedCommand {
            stdout: parts,
            ..NONE
        },
    );
    check(&read, "fail answer\n0+1+0 of 1, 0 skipped, Tests(Tap)");
}

#[test]
fn jest_and_vitest_by_their_json() {
    let vitest = report(
        "npx vitest run",
        &FinishedCommand {
            report: Some(fixture!("vitest.json")),
            stdout: fixture!("vitest.txt"),
            ..NONE
        },
    );
    check(
        &vitest,
        "pass t/a.test.js > math > adds
        fail t/a.test.js > math > fails
        skipped t/a.test.js > math > later
        skipped t/a.test.js > math > some day
        pass t/a.test.js > plain
        error t/b.test.js
        pass t/c.test.js > ok
        3+1+1 of 5, 2 skipped, Tests(JestJson)",
    );
    assert_eq!(
        message(&vitest, "t/a.test.js > math > fails"),
        Some("AssertionError: expected 1 to be 2 // Object.is equality")
    );
    let jest = report(
        "npx jest",
        &FinishedCommand {
            report: Some(fixture!("jest.json")),
            ..NONE
        },
    );
    assert_eq!(
        (jest.passed, jest.failed, jest.errors, jest.skipped),
        (2, 1, 1, 2)
    );
    let broken = report(
        "npx jest",
        &FinishedCommand {
            report: Some(b"[1"),
            ..NONE
        },
    );
    check(
        &broken,
        "error (report)\n0+0+1 of 1, 0 skipped, Tests(JestJson)",
    );
}

#[test]
fn counts_where_there_is_no_more() {
    for (bytes, counts) in [
        (fixture!("vitest.txt"), (3, 1, 0, 2)),
        (fixture!("jest.txt"), (2, 1, 0, 2)),
        (fixture!("mocha.txt"), (1, 1, 0, 2)),
    ] {
        let read = report(
            "npm test",
            &FinishedCommand {
                stderr: bytes,
                ..NONE
            },
        );
        assert_eq!(
            (read.passed, read.failed, read.errors, read.skipped),
            counts
        );
        assert_eq!(
            (read.source, read.outcomes.len()),
            (OutcomeSource::Counts, 0)
        );
    }
    for (bytes, counts) in [
        (fixture!("playwright.txt"), (3, 1, 0, 1)),
        (fixture!("cucumber.txt"), (1, 1, 1, 0)),
        (fixture!("behave.txt"), (1, 1, 1, 0)),
        (fixture!("robot.txt"), (2, 1, 0, 1)),
        (fixture!("jasmine.txt"), (3, 1, 0, 1)),
        (fixture!("prove.txt"), (4, 1, 0, 0)),
    ] {
        let read = report(
            "./check.sh",
            &FinishedCommand {
                stdout: bytes,
                ..NONE
            },
        );
        assert_eq!(
            (read.passed, read.failed, read.errors, read.skipped),
            counts,
            "{}",
            String::from_utf8_lossy(bytes)
        );
        assert_eq!(
            (read.source, read.outcomes.len()),
            (OutcomeSource::Counts, 0)
        );
    }
    let tape = report(
        "npx tape t/*.js",
        &FinishedCommand {
            stdout: fixture!("tape.tap"),
            ..NONE
        },
    );
    assert_eq!(
        (tape.passed, tape.failed, tape.source),
        (2, 1, OutcomeSource::Tests(ReportFormat::Tap))
    );
    let unittest = report(
        "python -m unittest -v",
        &FinishedCommand {
            stderr: fixture!("unittest_verbose.txt"),
            ..NONE
        },
    );
    assert_eq!(
        (
            unittest.passed,
            unittest.failed,
            unittest.errors,
            unittest.skipped
        ),
        (1, 1, 1, 2)
    );
}

#[test]
fn a_script_that_prints_counts_is_read_whatever_its_exit() {
    for ending in [CommandExit::Code(0), CommandExit::Code(1)] {
        let read = report(
            "./check.sh",
            &FinishedCommand {
                ending,
                stdout: b"checking\n3 passed, 1 failed\n",
                ..NONE
            },
        );
        check(&read, "3+1+0 of 4, 0 skipped, Counts");
    }
    let denied = report(
        "./check.sh",
        &FinishedCommand {
            stdout: b"4 passed, 0 failed\n",
            ..NONE
        },
    );
    check(&denied, "error ./check.sh\n0+0+1 of 1, 0 skipped, NoTests");
    assert_eq!(
        message(&denied, "./check.sh"),
        Some("exit 1 although no test failed: the results that it printed are not believed")
    );
}

#[test]
fn go_by_its_events() {
    let read = report(
        "go test ./...",
        &FinishedCommand {
            stdout: fixture!("go_test.jsonl"),
            ..NONE
        },
    );
    check(
        &read,
        "error example.com/app/broken
        pass example.com/app/store::TestAdd
        pass example.com/app/store::TestParse/empty
        fail example.com/app/store::TestParse/number#01
        skipped example.com/app/store::TestLater
        error example.com/app/store::TestPanics
        error example.com/app/old
        2+1+3 of 6, 1 skipped, Tests(GoJson)",
    );
    assert_eq!(
        message(&read, "example.com/app/broken"),
        Some("broken/b.go:3:9: undefined: nothing")
    );
    assert_eq!(
        message(&read, "example.com/app/store::TestParse/number#01"),
        Some("parse_test.go:20: got 1, want 2")
    );
    assert_eq!(read.outcomes[1].duration_seconds, Some(0.01));
}

#[test]
fn go_by_its_text() {
    let verbose = b"=== RUN   TestA\n=== RUN   TestA/x\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\n        a_test.go:5: no\n=== RUN   TestB\n--- PASS: TestB (1.50s)\n=== RUN   TestC\nFAIL\nFAIL\texample.com/a\t0.1s\nok  \texample.com/b\t0.2s\n?   \texample.com/c\t[no test files]\nFAIL\texample.com/d [build failed]\n";
    let read = report(
        "go test ./... | cat",
        &FinishedCommand {
            stdout: verbose,
            ..NONE
        },
    );
    check(
        &read,
        "fail example.com/a::TestA/x
        pass example.com/a::TestB
        error example.com/a::TestC
        pass example.com/b
        error example.com/d
        2+1+2 of 5, 0 skipped, Tests(GoText)",
    );
}

#[test]
fn a_command_that_is_no_runner_is_one_test() {
    for (ending, expected) in [
        (
            CommandExit::Code(0),
            "pass curl -sf URL\n1+0+0 of 1, 0 skipped, Exit",
        ),
        (
            CommandExit::Code(22),
            "fail curl -sf URL\n0+1+0 of 1, 0 skipped, Exit",
        ),
        (
            CommandExit::Signal(9),
            "error curl -sf URL\n0+0+1 of 1, 0 skipped, Exit",
        ),
        (
            CommandExit::TimedOut,
            "limit curl -sf URL\n0+0+1 of 1, 0 skipped, Exit",
        ),
    ] {
        check(
            &report("curl -sf URL", &FinishedCommand { ending, ..NONE }),
            expected,
        );
    }
    let failed = report(
        "./run\n\u{1b}[31m",
        &FinishedCommand {
            ending: CommandExit::Code(127),
            stderr: b"sh: ./run: not found\n\n",
            ..NONE
        },
    );
    assert_eq!(failed.outcomes[0].id, "./run ␛[31m");
    assert_eq!(
        failed.outcomes[0].message.as_deref(),
        Some("exit 127 (command not found): sh: ./run: not found")
    );
    let long = report(&"x".repeat(10_000), &NONE);
    assert_eq!(long.outcomes[0].id.chars().count(), 300);
}

#[test]
fn an_exit_that_the_tests_do_not_explain_is_a_row() {
    let finished = FinishedCommand {
        ending: CommandExit::Code(1),
        report: Some(b"a.py::test_a PASSED\n"),
        ..NONE
    };
    check(
        &report("pytest && npm test", &finished),
        "pass a.py::test_a\nerror pytest && npm test\n1+0+1 of 2, 0 skipped, Tests(PytestLines)",
    );
    check(
        &report(
            "pytest",
            &FinishedCommand {
                ending: CommandExit::Code(0),
                ..finished
            },
        ),
        "pass a.py::test_a\n1+0+0 of 1, 0 skipped, Tests(PytestLines)",
    );
}

#[test]
fn foreign_text_is_bounded_and_visible() {
    let xml = format!(
        "<testsuite><testcase classname='t.test_a' name='x&#10;&#x1b;[2J{}'><failure message='{}&#x202e;'/></testcase></testsuite>",
        "n".repeat(5000),
        "m ".repeat(100)
    );
    let read = report(
        "pytest",
        &FinishedCommand {
            report: Some(xml.as_bytes()),
            ..NONE
        },
    );
    let outcome = &read.outcomes[0];
    assert!(
        outcome.id.starts_with("t/test_a.py::x ␛[2Jnnn")
            && outcome.id.ends_with('…')
            && outcome.id.chars().count() == 300
    );
    assert!(
        outcome
            .message
            .as_deref()
            .is_some_and(|message| message.ends_with("m \\u{202e}")),
        "{outcome:?}"
    );
}

/// Pieces that the parsers look for, so that random texts get beyond the parsers' first checks.
const PIECES: &[&str] = &[
    "running 3 tests\n",
    "test a ... ok\n",
    "test a ... ",
    "FAILED\n",
    "failures:\n",
    "---- a stdout ----\n",
    "test result: ok. 1 passed; 2 failed; 3 ignored; x",
    "TAP version 13\n",
    "1..3\n",
    "    ok 1 - x # SKIP\n",
    "not ok 2\n",
    "  ---\n",
    "  duration_ms: 1e999\n",
    "  ...\n",
    "# Subtest: é\n",
    "ok 1 - x {\n",
    "{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"T/x\"}\n",
    "{\"Action\":\"run\",\"Package\":\"p\"}\n",
    "--- FAIL: T/x (0.0s)\n",
    "=== RUN T\n",
    "FAIL\tp\t1s\n",
    "ok  \tp [x\n",
    "ℹ tests 3\n",
    "▶ a\n",
    "  ✔ b (1ms) # x\n",
    "✖ a (2ms)\n",
    "a.py::t PASSED [ 1%]\n",
    "[gw0] [ 1%] FAILED a.py::t\n",
    "=== short test summary info ===\n",
    "ERROR a.py - x\n",
    "=== 1 passed in 1s ===\n",
    "Ran 3 tests in 1s\n",
    "FAILED (errors=9)\n",
    "Tests: 1 failed, 2 total\n",
    "  Tests  1 passed (1)\n",
    "2 passing\n",
    "1 failing\n",
    "Found 3 errors.\n",
    "<testsuite name='x'>",
    "<testcase name='&amp;' time='-1'>",
    "<failure/>",
    "</testcase>",
    "&#0;",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE x>",
    "\u{1b}[",
    "\u{1b}]",
    "\r",
    "é",
    "\u{0}",
    "{\"testResults\":[{\"name\":\"f\",\"status\":\"failed\",\"assertionResults\":[{\"status\":\"x\"}]}]}",
    "Nextest run ID \n",
    "  PASS [ 1s] a b\n",
    "Summary [1s] 2 skipped\n",
    "4 examples, 9 failures\n",
    "3 passed, 1 failed\n",
    "3 of 2 tests passed\n",
    "9 pass\n",
    "[  PASSED  ] 2 tests.\n",
    "(Wstat: 1 Tests: 3 Failed: 1)\n",
    "Files=1, Tests=0, 0\n",
    "Failed!  - Failed: 4294967295, Passed: 4294967295\n",
];

const COMMANDS: &[&str] = &[
    "pytest",
    "cargo test",
    "cargo nextest run",
    "go test ./...",
    "node --test",
    "npx jest",
    "npx vitest",
    "make test",
    "pytest a; pytest b",
];

proptest! {
    #[test]
    fn no_bytes_panic_and_the_counts_are_those_of_the_outcomes(
        stdout in proptest::collection::vec(proptest::sample::select(PIECES), 0..30),
        report in proptest::collection::vec(proptest::sample::select(PIECES), 0..12),
        noise in proptest::collection::vec(any::<u8>(), 0..40),
        code in prop_oneof![Just(CommandExit::TimedOut), Just(CommandExit::Signal(9)), (0..6).prop_map(CommandExit::Code)],
        command in proptest::sample::select(COMMANDS),
    ) {
        let stdout = [stdout.concat().into_bytes(), noise.clone()].concat();
        let report = [report.concat().into_bytes(), noise.clone()].concat();
        for report in [None, Some(report.as_slice())] {
            let plan = plan_command(command, Path::new("/tmp/r"), None);
            let read = read_outcomes(&plan, &FinishedCommand { ending: code, stdout: &stdout, stderr: &noise, report, is_cut: false, roots: &["/x"] });
            let ids: std::collections::BTreeSet<&str> = read.outcomes.iter().map(|outcome| outcome.id.as_str()).collect();
            prop_assert_eq!(ids.len(), read.outcomes.len());
            let listed = read.outcomes.len() as u64;
            prop_assert!(listed <= read.rated_count() + read.skipped);
            if matches!(read.source, OutcomeSource::Exit | OutcomeSource::NoTests) {
                prop_assert_eq!(listed, 1);
            }
            prop_assert!(read.rated_count() + read.skipped > 0);
            prop_assert!(read.outcomes.iter().all(|outcome| outcome.id.chars().count() <= 310 && !outcome.id.contains(char::is_control)));
        }
    }

    #[test]
    fn no_command_panics(command in "[ a-z'\"$(){};&|<>#`=/\\\\\n-]{0,60}", head in proptest::sample::select(COMMANDS)) {
        for command in [command.clone(), format!("{command} {head}"), format!("{head} {command}")] {
            let plan = plan_command(&command, Path::new("/tmp/r"), Some("-q"));
            prop_assert!(plan.command.len() >= command.len());
        }
    }
}
