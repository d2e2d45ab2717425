//! Findings of static analysis in the finished workspace.

mod findings;

use serde_json::{Value, json};

use self::findings::Findings;
use super::command_result::{CommandPurpose, CommandResult, CommandRunner};
use super::evaluated::{EvaluatorResult, Workpiece, clamp_score};
use super::layer::{SettingsLayer, read_amount};
use super::test_report::CommandExit;
use crate::document::quote_text;
use crate::domain::{Evaluator, Problem};

/// Every constant of the formula, and the commands that analyse a suite without `static_analysis`.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeQualitySettings {
    pub points_per_error: f64,
    pub points_per_warning: f64,
    pub commands: Vec<String>,
}

impl Default for CodeQualitySettings {
    fn default() -> Self {
        Self {
            points_per_error: 10.0,
            points_per_warning: 2.0,
            commands: Vec::new(),
        }
    }
}

impl CodeQualitySettings {
    pub fn from_layers(layers: &[SettingsLayer], problems: &mut Vec<Problem>) -> Self {
        let mut settings = Self::default();
        SettingsLayer::read_all(layers, problems, |fields| {
            read_amount(fields, "points_per_error", &mut settings.points_per_error);
            read_amount(
                fields,
                "points_per_warning",
                &mut settings.points_per_warning,
            );
            if fields.child("commands").is_some() {
                settings.commands = fields.texts("commands");
            }
        });
        settings
    }
}

/// Runs each analysis once. `None` if the run was stopped meanwhile.
pub fn evaluate_code_quality(
    runner: &CommandRunner,
    piece: &Workpiece,
    settings: &CodeQualitySettings,
) -> Option<EvaluatorResult> {
    let declared = &piece.suite.static_analysis;
    let commands = if declared.is_empty() {
        &settings.commands
    } else {
        declared
    };
    let (mut all, mut rows, mut unknown) = (Findings::default(), Vec::new(), Vec::new());
    for command in commands {
        let result = runner(command, CommandPurpose::Analysis)?;
        let ending = result.describe_exit();
        match count_analysis_findings(command, &result) {
            Ok(found) => {
                all.add(found);
                rows.push(json!({"command": command, "errors": found.errors, "warnings": found.warnings, "ending": ending}));
            }
            Err(reason) => {
                rows.push(json!({"command": command, "unknown": reason, "ending": ending}));
                unknown.push(reason);
            }
        }
    }
    let score = if commands.is_empty() {
        Err("the suite declares no `static_analysis`".to_owned())
    } else if unknown.is_empty() {
        Ok(clamp_score(
            100.0
                - settings.points_per_error * all.errors as f64
                - settings.points_per_warning * all.warnings as f64,
        ))
    } else {
        Err(unknown.join("; "))
    };
    let details = if rows.is_empty() {
        Value::Null
    } else {
        json!({"errors": all.errors, "warnings": all.warnings, "commands": rows})
    };
    Some(EvaluatorResult {
        score,
        details,
        ..EvaluatorResult::without_score(Evaluator::CodeQuality, "")
    })
}

/// Counts the findings of one analysis, or returns the reason why they are unknown.
fn count_analysis_findings(command: &str, result: &CommandResult) -> Result<Findings, String> {
    if let Some(lacking) = result.missing_prerequisite(command) {
        return Err(lacking);
    }
    let counted = findings::count_findings(&result.output_streams());
    match result.ending {
        CommandExit::Code(0) => Ok(counted.unwrap_or_default()),
        // By convention, an analysis exits with 1 if it has findings, and with a higher code if it failed to run.
        CommandExit::Code(1) => Ok(counted
            .filter(|found| *found != Findings::default())
            .unwrap_or(Findings {
                errors: 1,
                warnings: 0,
            })),
        CommandExit::Code(_) => {
            let found = counted.filter(|found| *found != Findings::default());
            found.ok_or_else(|| {
                format!(
                    "{} ended with {} and named nothing that counts",
                    quote_text(command),
                    result.describe_exit()
                )
            })
        }
        CommandExit::Signal(_) | CommandExit::TimedOut => Err(format!(
            "{} did not come to an end: {}",
            quote_text(command),
            result.describe_exit()
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::evaluated::Effort;
    use super::super::layer::tests::read_yaml_layers;
    use super::super::sample;
    use super::*;
    use crate::suite::Suite;

    fn evaluated(
        commands: &[&str],
        settings: &CodeQualitySettings,
        ending: CommandExit,
        stdout: &str,
        stderr: &str,
    ) -> EvaluatorResult {
        let suite = Suite {
            static_analysis: commands
                .iter()
                .map(|command| (*command).to_owned())
                .collect(),
            ..sample::sample_suite()
        };
        let runner = |_: &str, _: CommandPurpose| {
            Some(CommandResult {
                ending,
                stdout: stdout.as_bytes().to_vec(),
                stderr: stderr.as_bytes().to_vec(),
                is_cut: false,
                unstarted: None,
                tests: None,
            })
        };
        let piece = Workpiece {
            suite: &suite,
            folder: None,
            files: &[],
            transcript: &[],
            effort: Effort::default(),
        };
        evaluate_code_quality(&runner, &piece, settings).expect("not stopped")
    }

    #[track_caller]
    fn check(ending: CommandExit, stdout: &str, score: f64) {
        assert_eq!(
            evaluated(
                &["lint"],
                &CodeQualitySettings::default(),
                ending,
                stdout,
                ""
            )
            .score,
            Ok(score),
            "{stdout}"
        );
    }

    #[test]
    fn pinned_cases() {
        check(
            CommandExit::Code(1),
            "✖ 5 problems (2 errors, 3 warnings)\n",
            74.0,
        );
        check(
            CommandExit::Code(1),
            "✖ 15 problems (15 errors, 0 warnings)\n",
            0.0,
        );
        check(CommandExit::Code(0), "All checks passed!\n", 100.0);
        check(CommandExit::Code(0), "", 100.0);
        check(CommandExit::Code(0), "[WARNING] a\n[WARNING] b\n", 96.0);
        check(
            CommandExit::Code(101),
            "error: could not compile `x` (bin \"x\") due to 1 previous error\n",
            90.0,
        );
    }

    #[test]
    fn an_analysis_that_could_not_be_done_is_missing() {
        let default = CodeQualitySettings::default();
        let reason = |ending, stderr| {
            evaluated(&["ruff check ."], &default, ending, "", stderr)
                .score
                .err()
        };
        let none = "`ruff check .` needs `ruff`, which is not here";
        assert_eq!(
            reason(CommandExit::Code(127), "sh: 1: ruff: not found").as_deref(),
            Some(none)
        );
        let usage = "`ruff check .` ended with exit 2 and named nothing that counts";
        assert_eq!(
            reason(CommandExit::Code(2), "unknown option").as_deref(),
            Some(usage)
        );
        assert!(
            reason(CommandExit::TimedOut, "Found 3 errors.").is_some()
                && reason(CommandExit::Signal(9), "").is_some()
        );
        // The analysis has findings that cannot be counted.
        assert_eq!(reason(CommandExit::Code(1), "would reformat a.py"), None);
        check(CommandExit::Code(1), "would reformat a.py\n", 90.0);
        let of_none = evaluated(&[], &default, CommandExit::Code(0), "", "");
        assert_eq!(
            (of_none.score.err().as_deref(), of_none.details),
            (Some("the suite declares no `static_analysis`"), Value::Null)
        );
    }

    #[test]
    fn several_commands_add_up_and_the_suite_goes_before_the_settings() {
        let settings = CodeQualitySettings {
            commands: vec!["other".to_owned()],
            ..CodeQualitySettings::default()
        };
        let two = evaluated(
            &["a", "b"],
            &settings,
            CommandExit::Code(1),
            "",
            "Found 2 errors.\n",
        );
        assert_eq!(two.score, Ok(60.0));
        assert_eq!(
            two.details["commands"][1],
            json!({"command": "b", "errors": 2, "warnings": 0, "ending": "exit 1"})
        );
        let one = evaluated(
            &[],
            &settings,
            CommandExit::Code(1),
            "Found 2 errors.\n",
            "",
        );
        assert_eq!(
            (one.score, &one.details["commands"][0]["command"]),
            (Ok(80.0), &json!("other"))
        );
    }

    #[test]
    fn a_stopped_run_has_no_score() {
        let suite = Suite {
            static_analysis: vec!["a".to_owned()],
            ..sample::sample_suite()
        };
        let piece = Workpiece {
            suite: &suite,
            folder: None,
            files: &[],
            transcript: &[],
            effort: Effort::default(),
        };
        assert_eq!(
            evaluate_code_quality(&|_, _| None, &piece, &CodeQualitySettings::default()),
            None
        );
    }

    #[test]
    fn settings_are_read() {
        let (settings, problems) = read_yaml_layers(
            &[
                "points_per_error: 5\ncommands: [a, b]\n",
                "points_per_warning: 0\ncommands: [c]\n",
            ],
            CodeQualitySettings::from_layers,
        );
        assert_eq!(problems, [""; 0]);
        assert_eq!(
            settings,
            CodeQualitySettings {
                points_per_error: 5.0,
                points_per_warning: 0.0,
                commands: vec!["c".to_owned()]
            }
        );
        assert_eq!(
            read_yaml_layers(&["point: 1\n"], CodeQualitySettings::from_layers).1,
            ["0.yaml:1:1: unknown key `evaluators.x.point`"]
        );
    }

    proptest! {
        #[test]
        fn more_findings_never_raise_the_score(errors in 0..u64::MAX, warnings in 0..u64::MAX, more in 0..100_u64) {
            let score = |errors: u64, warnings: u64| {
                let stdout = format!("{errors} errors and {warnings} warnings\n");
                evaluated(&["lint"], &CodeQualitySettings::default(), CommandExit::Code(0), &stdout, "").score.expect("it was counted")
            };
            let base = score(errors, warnings);
            prop_assert!((0.0..=100.0).contains(&base));
            prop_assert!(score(errors.saturating_add(more), warnings) <= base);
            prop_assert!(score(errors, warnings.saturating_add(more)) <= base);
        }

        #[test]
        fn no_output_leaves_the_scale(stdout in "(\\PC|\n){0,300}", code in 0..3_i32) {
            let score = evaluated(&["lint"], &CodeQualitySettings::default(), CommandExit::Code(code), &stdout, "").score;
            prop_assert!(score.is_err() || score.is_ok_and(|score| (0.0..=100.0).contains(&score)));
        }
    }
}
