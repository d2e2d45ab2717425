//! Evaluates whether the work builds, passes the suite's tests, and how much of it the tests cover.
//!
//! If a declared command could not be judged (its tool is missing, or it ran no test), there is no score: a partial score would not be
//! comparable with a full one. Coverage is included only if it is known.

use std::path::Path;

use serde_json::{Value, json};

use super::command_result::{CommandPurpose, CommandResult, CommandRunner};
use super::coverage::parse_coverage;
use super::evaluated::{EvaluatorResult, Workpiece, clamp_score};
use super::layer::{SettingsLayer, read_amount, read_divisor};
use super::test_report::{self, CommandExit, FinishedCommand, OutcomeSource, TestReport};
use crate::document::quote_text;
use crate::domain::{Evaluator, Problem};

/// Weights of the parts. The weights of the known parts are scaled to a sum of 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionalSettings {
    pub build: f64,
    pub tests: f64,
    /// Weight if coverage is known.
    pub build_with_coverage: f64,
    pub tests_with_coverage: f64,
    pub coverage: f64,
    /// Coverage in percent that earns full points, if the suite does not set a threshold.
    pub coverage_threshold: f64,
    /// A command that prints the coverage, if the suite's tests do not print it.
    pub coverage_command: Option<String>,
}

impl Default for FunctionalSettings {
    fn default() -> Self {
        Self {
            build: 40.0,
            tests: 60.0,
            build_with_coverage: 30.0,
            tests_with_coverage: 50.0,
            coverage: 20.0,
            coverage_threshold: 80.0,
            coverage_command: None,
        }
    }
}

impl FunctionalSettings {
    pub fn from_layers(layers: &[SettingsLayer], problems: &mut Vec<Problem>) -> Self {
        let mut settings = Self::default();
        SettingsLayer::read_all(layers, problems, |fields| {
            read_amount(fields, "build", &mut settings.build);
            read_amount(fields, "tests", &mut settings.tests);
            read_amount(
                fields,
                "build_with_coverage",
                &mut settings.build_with_coverage,
            );
            read_amount(
                fields,
                "tests_with_coverage",
                &mut settings.tests_with_coverage,
            );
            read_amount(fields, "coverage", &mut settings.coverage);
            read_divisor(
                fields,
                "coverage_threshold",
                &mut settings.coverage_threshold,
            );
            if let Some(command) = fields
                .text("coverage_command")
                .filter(|command| !command.trim().is_empty())
            {
                settings.coverage_command = Some(command);
            }
        });
        settings
    }
}

/// The share of one part, from 0 to 1, with its details; or the reason why it is unknown.
type FunctionalPart = Result<(f64, Value), String>;

/// Runs each of the suite's own commands once. `None` if the run was stopped meanwhile.
pub fn evaluate_functional(
    runner: &CommandRunner,
    piece: &Workpiece,
    settings: &FunctionalSettings,
) -> Option<EvaluatorResult> {
    let suite = piece.suite;
    let mut said = None;
    let build = match &suite.build_command {
        Some(command) => Some(judge_build(
            command,
            &runner(command, CommandPurpose::Build)?,
        )),
        None => None,
    };
    let tests = match &suite.test_command {
        Some(command) => {
            let result = runner(command, CommandPurpose::Tests)?;
            let part = judge_tests(command, &result);
            said = Some(result);
            Some(part)
        }
        None => None,
    };
    if let Some(command) = &settings.coverage_command {
        said = Some(runner(command, CommandPurpose::Coverage)?);
    }
    let threshold = suite
        .coverage_threshold
        .filter(|threshold| *threshold > 0.0)
        .unwrap_or(settings.coverage_threshold);
    let percent = said.and_then(|result| parse_coverage(&result.output_streams()));
    let coverage = percent.map(|percent| {
        (
            (percent / threshold).min(1.0),
            json!({"percent": percent, "threshold": threshold}),
        )
    });
    Some(combine_parts(build, tests, coverage, settings))
}

fn combine_parts(
    build: Option<FunctionalPart>,
    tests: Option<FunctionalPart>,
    coverage: Option<(f64, Value)>,
    settings: &FunctionalSettings,
) -> EvaluatorResult {
    let is_covered = coverage.is_some();
    let weights = if is_covered {
        [
            settings.build_with_coverage,
            settings.tests_with_coverage,
            settings.coverage,
        ]
    } else {
        [settings.build, settings.tests, 0.0]
    };
    let parts = [
        ("build", build),
        ("tests", tests),
        ("coverage", coverage.map(Ok)),
    ];
    let mut details = serde_json::Map::new();
    let (mut sum, mut whole, mut unknown) = (0.0, 0.0, Vec::new());
    for ((name, part), weight) in parts.into_iter().zip(weights) {
        match part {
            Some(Ok((share, mut found))) => {
                sum += share * weight;
                whole += weight;
                found["weight"] = json!(weight);
                details.insert(name.to_owned(), found);
            }
            Some(Err(reason)) => {
                details.insert(name.to_owned(), json!({"unknown": reason}));
                unknown.push(reason);
            }
            None => {}
        }
    }
    let score = if !unknown.is_empty() {
        Err(unknown.join("; "))
    } else if details.is_empty() {
        Err("the suite declares neither `build_command` nor `test_command`".to_owned())
    } else if whole > 0.0 {
        Ok(clamp_score(100.0 * sum / whole))
    } else {
        Err("every part that is known has a weight of 0".to_owned())
    };
    EvaluatorResult {
        score,
        details: Value::Object(details),
        ..EvaluatorResult::without_score(Evaluator::Functional, "")
    }
}

fn judge_build(command: &str, result: &CommandResult) -> FunctionalPart {
    if let Some(lacking) = result.missing_prerequisite(command) {
        return Err(lacking);
    }
    let has_passed = result.ending == CommandExit::Code(0);
    let share = if has_passed { 1.0 } else { 0.0 };
    Ok((
        share,
        json!({"command": command, "passed": has_passed, "ending": result.describe_exit()}),
    ))
}

fn judge_tests(command: &str, result: &CommandResult) -> FunctionalPart {
    if let Some(lacking) = result.missing_prerequisite(command) {
        return Err(lacking);
    }
    let read;
    let report = match &result.tests {
        Some(report) => report,
        None => {
            read = read_output_report(command, result);
            &read
        }
    };
    if report.rated_count() == 0 {
        return Err(format!("{} counted no test", quote_text(command)));
    }
    let TestReport {
        passed,
        failed,
        errors,
        skipped,
        ..
    } = *report;
    let found = json!({"command": command, "passed": passed, "failed": failed, "errors": errors, "skipped": skipped,
        "ran_none": report.source == OutcomeSource::NoTests, "ending": result.describe_exit()});
    Ok((passed as f64 / report.rated_count() as f64, found))
}

/// Reads the tests of a command that ran without a plan.
fn read_output_report(command: &str, result: &CommandResult) -> TestReport {
    let plan = test_report::plan_command(command, Path::new(""), None);
    let finished = FinishedCommand {
        ending: result.ending,
        stdout: &result.stdout,
        stderr: &result.stderr,
        report: None,
        is_cut: result.is_cut,
        roots: &[],
    };
    test_report::read_outcomes(&plan, &finished)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::prelude::*;

    use super::super::evaluated::Effort;
    use super::super::layer::tests::read_yaml_layers;
    use super::super::sample;
    use super::*;
    use crate::suite::Suite;

    fn said(ending: CommandExit, stdout: &str) -> CommandResult {
        CommandResult {
            ending,
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
            is_cut: false,
            unstarted: None,
            tests: None,
        }
    }

    /// Evaluates a suite whose commands (`build`, `tests`, `coverage`) end as given.
    fn evaluated(
        suite: &Suite,
        settings: &FunctionalSettings,
        ends: &[(&str, CommandExit, &str)],
    ) -> (Option<EvaluatorResult>, Vec<String>) {
        let asked = RefCell::new(Vec::new());
        let runner = |command: &str, purpose: CommandPurpose| {
            asked.borrow_mut().push(format!("{purpose:?}: {command}"));
            ends.iter()
                .find(|(name, ..)| *name == command)
                .map(|(_, ending, stdout)| said(*ending, stdout))
        };
        let piece = Workpiece {
            suite,
            folder: None,
            files: &[],
            transcript: &[],
            effort: Effort::default(),
        };
        let evaluated = evaluate_functional(&runner, &piece, settings);
        (evaluated, asked.into_inner())
    }

    fn suite(build: bool, tests: bool) -> Suite {
        let command = |is_there: bool, name: &str| is_there.then(|| name.to_owned());
        Suite {
            build_command: command(build, "build"),
            test_command: command(tests, "tests"),
            ..sample::sample_suite()
        }
    }

    #[track_caller]
    fn check(build: Option<i32>, tests: Option<&str>, score: f64) {
        let suite = suite(build.is_some(), tests.is_some());
        let output = tests.unwrap_or_default();
        let code = i32::from(output.contains("failed"));
        let ends = [
            ("build", CommandExit::Code(build.unwrap_or(0)), ""),
            ("tests", CommandExit::Code(code), output),
        ];
        let (evaluated, _) = evaluated(&suite, &FunctionalSettings::default(), &ends);
        assert_eq!(
            evaluated.expect("not stopped").score,
            Ok(score),
            "{build:?} {tests:?}"
        );
    }

    #[test]
    fn pinned_cases() {
        check(Some(0), Some("== 2 failed, 8 passed in 0.1s ==\n"), 88.0);
        check(Some(0), Some("8 passed, 2 failed\n"), 88.0);
        check(Some(0), Some("Tests: 8 passed, 2 failed\n"), 88.0);
        check(Some(1), Some("== 5 passed in 0.1s ==\n"), 60.0);
        check(None, Some("== 1 failed, 3 passed in 0.1s ==\n"), 75.0);
        check(Some(0), None, 100.0);
        check(Some(2), None, 0.0);
        check(
            Some(0),
            Some("TOTAL    10   1   90%\n== 5 passed in 0.1s ==\n"),
            100.0,
        );
        check(
            Some(0),
            Some("TOTAL    10   6   40%\n== 5 passed in 0.1s ==\n"),
            90.0,
        );
        check(
            None,
            Some("TOTAL    10   6   40%\n== 1 failed, 1 passed in 0.1s ==\n"),
            50.0,
        );
    }

    #[test]
    fn the_suite_says_how_much_coverage_is_enough() {
        let suite = Suite {
            coverage_threshold: Some(50.0),
            ..suite(true, true)
        };
        let settings = FunctionalSettings {
            coverage_command: Some("coverage".to_owned()),
            ..FunctionalSettings::default()
        };
        let ends = [
            ("build", CommandExit::Code(0), ""),
            (
                "tests",
                CommandExit::Code(0),
                "TOTAL 1 1 90%\n1 passed in 1s\n",
            ),
            ("coverage", CommandExit::Code(0), "All files | 25 | 10 |\n"),
        ];
        let (evaluated, asked) = evaluated(&suite, &settings, &ends);
        let evaluated = evaluated.expect("not stopped");
        assert_eq!(evaluated.score, Ok(90.0));
        assert_eq!(
            evaluated.details["coverage"],
            json!({"percent": 25.0, "threshold": 50.0, "weight": 20.0})
        );
        assert_eq!(
            asked,
            ["Build: build", "Tests: tests", "Coverage: coverage"]
        );
    }

    #[test]
    fn what_cannot_be_judged_is_missing() {
        let default = FunctionalSettings::default();
        let score = |suite: &Suite, ends: &[(&str, CommandExit, &str)]| {
            evaluated(suite, &default, ends)
                .0
                .map(|evaluated| evaluated.score)
        };
        let reason = |suite: &Suite, ends: &[(&str, CommandExit, &str)]| {
            score(suite, ends).and_then(Result::err)
        };
        let none = "the suite declares neither `build_command` nor `test_command`";
        assert_eq!(reason(&suite(false, false), &[]).as_deref(), Some(none));
        let no_tool = ("build", CommandExit::Code(127), "sh: 1: build: not found");
        assert_eq!(
            reason(&suite(true, false), &[no_tool]).as_deref(),
            Some("`build` needs `build`, which is not here")
        );
        let passed = ("tests", CommandExit::Code(0), "3 passed in 1s");
        assert!(reason(&suite(true, true), &[no_tool, passed]).is_some());
        let skipped = ("tests", CommandExit::Code(0), "3 skipped in 1s");
        assert_eq!(
            reason(&suite(false, true), &[skipped]).as_deref(),
            Some("`tests` counted no test")
        );
        // The run was stopped.
        assert_eq!(
            score(&suite(true, true), &[("build", CommandExit::Code(0), "")]),
            None
        );
    }

    #[test]
    fn a_report_of_the_tests_goes_before_the_text_and_a_time_out_is_a_failure() {
        let suite = suite(true, true);
        let tests = TestReport {
            outcomes: Vec::new(),
            passed: 1,
            failed: 2,
            errors: 1,
            skipped: 7,
            source: OutcomeSource::Counts,
            control: None,
        };
        let runner = |_: &str, purpose: CommandPurpose| {
            let planned = CommandResult {
                tests: Some(tests.clone()),
                ..said(CommandExit::Code(1), "9 passed in 1s")
            };
            Some(if purpose == CommandPurpose::Tests {
                planned
            } else {
                said(CommandExit::TimedOut, "")
            })
        };
        let piece = Workpiece {
            suite: &suite,
            folder: None,
            files: &[],
            transcript: &[],
            effort: Effort::default(),
        };
        let evaluated = evaluate_functional(&runner, &piece, &FunctionalSettings::default())
            .expect("not stopped");
        assert_eq!(evaluated.score, Ok(15.0));
        assert_eq!(evaluated.details["build"]["ending"], "timed out");
        assert_eq!(evaluated.details["tests"]["skipped"], 7);
    }

    #[test]
    fn weights_can_be_set_and_all_of_them_be_nothing() {
        let (settings, problems) = read_yaml_layers(
            &["build: 0\ncoverage_command: make cover\n", "tests: 0\n"],
            FunctionalSettings::from_layers,
        );
        assert_eq!(problems, [""; 0]);
        let none = FunctionalSettings {
            coverage_command: None,
            ..settings.clone()
        };
        let ends = [
            ("build", CommandExit::Code(0), ""),
            ("tests", CommandExit::Code(0), "3 passed in 1s"),
        ];
        let (evaluated, _) = evaluated(&suite(true, true), &none, &ends);
        assert!(evaluated.expect("not stopped").score.is_err());
        let expected = FunctionalSettings {
            build: 0.0,
            tests: 0.0,
            coverage_command: Some("make cover".to_owned()),
            ..none
        };
        assert_eq!(settings, expected);
        let (_, problems) = read_yaml_layers(
            &["coverage_threshold: 0\nweights: {}\n"],
            FunctionalSettings::from_layers,
        );
        assert_eq!(problems.len(), 2);
    }

    proptest! {
        #[test]
        fn failures_never_raise_the_score(passed in 0..1_000_u64, failed in 0..1_000_u64, percent in 0..=100_u32, code in 0..3_i32) {
            let score = |passed: u64, failed: u64, code: i32| {
                let output = format!("TOTAL 1 1 {percent}%\n== {failed} failed, {passed} passed in 0.1s ==\n");
                let ends = [("build", CommandExit::Code(code), ""), ("tests", CommandExit::Code(i32::from(failed > 0)), output.as_str())];
                evaluated(&suite(true, true), &FunctionalSettings::default(), &ends).0.expect("not stopped").score.unwrap_or(0.0)
            };
            let base = score(passed, failed, code);
            prop_assert!((0.0..=100.0).contains(&base));
            prop_assert!(score(passed, failed + 1, code) <= base);
            prop_assert!(score(passed, failed, 1) <= base);
        }

        #[test]
        fn no_output_leaves_the_scale(output in ".{0,300}", code in -2..130_i32) {
            let ends = [("build", CommandExit::Code(code), output.as_str()), ("tests", CommandExit::Code(code), output.as_str())];
            let (evaluated, _) = evaluated(&suite(true, true), &FunctionalSettings::default(), &ends);
            if let Ok(score) = evaluated.expect("not stopped").score {
                prop_assert!((0.0..=100.0).contains(&score));
            }
        }
    }
}
