//! The effort of the work: tokens per turn, turns, and failed tool calls. Less is better.
//!
//! An unmeasured part takes no points off, and the details list it: an agent that does not report its effort is not penalised by a guess.
//! If no part was measured, there is no score.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::evaluated::{Effort, EvaluatorResult, Workpiece, clamp_score};
use super::layer::{SettingsLayer, read_amount, read_divisor};
use crate::domain::{Evaluator, Problem, Usage};

/// Every constant of the formula.
#[derive(Clone, Debug, PartialEq)]
pub struct EfficiencySettings {
    /// Tokens per turn that take no points off. Tokens written to and read from a cache count.
    ///
    /// zelda's formula allows 500 and takes a point per 50 more, without the cache. With the cache every real agent loses all 30 points:
    ///
    /// - tool calls without code (tau-bench, airline, gpt-4o, 200 runs; characters / 4), first to last decile: 1,900 to 3,800 tokens per turn,
    ///   which lose 28 to 30 points by 500/50 and none by 20,000/2,000;
    /// - coding agents (six runs of wiggum's *Ralph vs Oneshot*, 1.0 to 7.8 million tokens in 298 to 1,546 s; assuming 8 s a turn): about
    ///   27,000 to 57,000, which lose 30 and 3 to 18;
    /// - one reply of a coding agent late in its session (2 + 6,843 + 91,983 input tokens): 98,828, which loses 30 and 30.
    pub free_tokens_per_turn: f64,
    /// Number of further tokens per turn that take one point off.
    pub tokens_per_point: f64,
    /// Maximum number of points that tokens can take off.
    pub most_for_tokens: f64,
    pub free_turns: f64,
    pub points_per_turn: f64,
    pub most_for_turns: f64,
    pub points_per_error: f64,
    pub most_for_errors: f64,
}

impl Default for EfficiencySettings {
    fn default() -> Self {
        Self {
            free_tokens_per_turn: 20_000.0,
            tokens_per_point: 2_000.0,
            most_for_tokens: 30.0,
            free_turns: 20.0,
            points_per_turn: 2.0,
            most_for_turns: 20.0,
            points_per_error: 10.0,
            most_for_errors: 100.0,
        }
    }
}

impl EfficiencySettings {
    pub fn from_layers(layers: &[SettingsLayer], problems: &mut Vec<Problem>) -> Self {
        let mut settings = Self::default();
        SettingsLayer::read_all(layers, problems, |fields| {
            read_amount(
                fields,
                "free_tokens_per_turn",
                &mut settings.free_tokens_per_turn,
            );
            read_divisor(fields, "tokens_per_point", &mut settings.tokens_per_point);
            read_amount(fields, "most_for_tokens", &mut settings.most_for_tokens);
            read_amount(fields, "free_turns", &mut settings.free_turns);
            read_amount(fields, "points_per_turn", &mut settings.points_per_turn);
            read_amount(fields, "most_for_turns", &mut settings.most_for_turns);
            read_amount(fields, "points_per_error", &mut settings.points_per_error);
            read_amount(fields, "most_for_errors", &mut settings.most_for_errors);
        });
        settings
    }
}

pub fn evaluate_efficiency(piece: &Workpiece, settings: &EfficiencySettings) -> EvaluatorResult {
    let effort = &piece.effort;
    let tokens = total_tokens(&effort.usage);
    let turns = effort.turns.filter(|turns| *turns > 0);
    let errors = count_tool_errors(piece.transcript, effort);
    let tokens_per_turn = tokens
        .zip(turns)
        .map(|(tokens, turns)| tokens as f64 / turns as f64);

    let for_tokens = tokens_per_turn.map(|tokens| {
        let over = ((tokens - settings.free_tokens_per_turn) / settings.tokens_per_point).floor();
        over.clamp(0.0, settings.most_for_tokens)
    });
    let for_turns = turns.map(|turns| {
        ((turns as f64 - settings.free_turns) * settings.points_per_turn)
            .clamp(0.0, settings.most_for_turns)
    });
    let for_errors = errors
        .map(|errors| (errors as f64 * settings.points_per_error).min(settings.most_for_errors));

    let parts = [
        ("tokens_per_turn", for_tokens),
        ("turns", for_turns),
        ("errors", for_errors),
    ];
    let unmeasured: Vec<&str> = parts
        .iter()
        .filter(|(_, off)| off.is_none())
        .map(|(name, _)| *name)
        .collect();
    let taken_off: Map<String, Value> = parts
        .iter()
        .filter_map(|(name, off)| Some(((*name).to_owned(), json!((*off)?))))
        .collect();
    let score = if taken_off.is_empty() {
        Err("neither turns nor failed calls of tools were measured".to_owned())
    } else {
        Ok(clamp_score(
            100.0 - parts.iter().filter_map(|(_, off)| *off).sum::<f64>(),
        ))
    };
    let measured = [
        ("tokens", tokens.map(Value::from)),
        (
            "tokens_per_turn",
            tokens_per_turn.map(|tokens| json!(tokens.round())),
        ),
        ("turns", turns.map(Value::from)),
        ("errors", errors.map(Value::from)),
        ("cost_usd", effort.cost_usd.map(Value::from)),
        (
            "duration_seconds",
            effort
                .duration
                .map(|duration| json!(duration.as_secs_f64())),
        ),
        ("tools", effort.tools.as_ref().map(|tools| json!(tools))),
    ];
    let mut details: Map<String, Value> = measured
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    details.insert("taken_off".to_owned(), Value::Object(taken_off));
    details.insert("unmeasured".to_owned(), json!(unmeasured));
    EvaluatorResult {
        evaluator: Evaluator::Efficiency,
        score,
        details: Value::Object(details),
        reasoning: None,
        items: Vec::new(),
        judged: None,
    }
}

/// Returns the sum of all tokens, including cached ones; `None` if no kind of token was measured.
fn total_tokens(usage: &Usage) -> Option<u64> {
    let parts = [
        usage.input,
        usage.cache_write,
        usage.cache_read,
        usage.output,
    ];
    parts.into_iter().flatten().reduce(u64::saturating_add)
}

/// Counts the tool calls that failed.
///
/// `None` if the transcript shows no tool results, unless the agent reports that it called no tool.
fn count_tool_errors(transcript: &[Value], effort: &Effort) -> Option<u64> {
    let mut seen = BTreeSet::new();
    let mut errors = 0_u64;
    let mut shows_results = false;
    for result in transcript.iter().flat_map(tool_results) {
        shows_results = true;
        // A call may appear twice, in a stream and in its summary; count it once.
        let id = [
            "tool_use_id",
            "tool_call_id",
            "call_id",
            "callID",
            "tool_id",
            "id",
        ]
        .iter()
        .find_map(|name| result.get(*name)?.as_str());
        if is_error_result(result) && id.is_none_or(|id| seen.insert(id)) {
            errors = errors.saturating_add(1);
        }
    }
    let called_none = || {
        effort
            .tools
            .as_ref()
            .is_some_and(|tools| tools.values().all(|count| *count == 0))
    };
    (shows_results || called_none()).then_some(errors)
}

/// Returns the tool results in a message: the message itself, or blocks in it.
fn tool_results(message: &Value) -> impl Iterator<Item = &Value> {
    let content = message
        .pointer("/message/content")
        .or_else(|| message.get("content"))
        .and_then(Value::as_array);
    let blocks = content
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .chain(message.get("item"))
        .chain(message.get("part"));
    std::iter::once(message)
        .chain(blocks)
        .filter(|value| is_tool_result(value))
}

fn is_tool_result(value: &Value) -> bool {
    let is = |name: &str, wanted: &dyn Fn(&str) -> bool| {
        value.get(name).and_then(Value::as_str).is_some_and(wanted)
    };
    is("role", &|role| matches!(role, "tool" | "function"))
        || is("type", &|kind| kind.ends_with("tool_result") || matches!(kind, "function_call_output"))
        // These events hold both the call and its result. While the call is in progress, there is no result yet.
        || (is("type", &|kind| matches!(kind, "command_execution" | "mcp_tool_call"))
            && is("status", &|status| status != "in_progress"))
        || (is("type", &|kind| kind == "tool") && value.pointer("/state/status").is_some())
}

fn is_error_result(result: &Value) -> bool {
    let is_marked = ["is_error", "isError"]
        .iter()
        .any(|name| result.get(*name) == Some(&Value::Bool(true)));
    let has_error = result.get("error").is_some_and(|error| match error {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        Value::String(text) => !text.is_empty(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    });
    let status = result
        .get("status")
        .or_else(|| result.pointer("/state/status"));
    let has_failed = status
        .and_then(Value::as_str)
        .is_some_and(|status| matches!(status, "error" | "failed"));
    let exit = result
        .get("exit_code")
        .and_then(Value::as_i64)
        .is_some_and(|code| code != 0);
    is_marked || has_error || has_failed || exit
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::layer::tests::read_yaml_layers;
    use super::super::sample;
    use super::*;

    /// Returns the constants of the seed, which does not count cached tokens.
    fn seed() -> EfficiencySettings {
        EfficiencySettings {
            free_tokens_per_turn: 500.0,
            tokens_per_point: 50.0,
            ..EfficiencySettings::default()
        }
    }

    fn evaluated(
        effort: Effort,
        transcript: &[Value],
        settings: &EfficiencySettings,
    ) -> EvaluatorResult {
        let suite = sample::sample_suite();
        evaluate_efficiency(
            &Workpiece {
                suite: &suite,
                folder: None,
                files: &[] as &[PathBuf],
                transcript,
                effort,
            },
            settings,
        )
    }

    fn effort(tokens: u64, turns: u64) -> Effort {
        Effort {
            usage: Usage {
                input: Some(tokens),
                ..Usage::default()
            },
            turns: Some(turns),
            ..Effort::default()
        }
    }

    fn failed(count: usize) -> Vec<Value> {
        (0..count)
            .map(|_| json!({"role": "tool", "is_error": true}))
            .collect()
    }

    #[track_caller]
    fn check(tokens: u64, turns: u64, errors: usize, score: f64) {
        assert_eq!(
            evaluated(effort(tokens, turns), &failed(errors), &seed()).score,
            Ok(score),
            "{tokens} {turns} {errors}"
        );
    }

    #[test]
    fn the_formula_of_the_seed() {
        check(5_000, 10, 0, 100.0);
        check(5_490, 10, 0, 100.0);
        check(5_500, 10, 0, 99.0);
        check(10_000, 10, 0, 90.0);
        check(1_000_000, 10, 0, 70.0);
        check(0, 20, 0, 100.0);
        check(0, 21, 0, 98.0);
        check(0, 29, 0, 82.0);
        check(0, 1_000, 0, 80.0);
        check(0, 1, 1, 90.0);
        check(0, 1, 3, 70.0);
        check(1_000_000, 40, 5, 0.0);
        check(1_000_000, 40, 4, 10.0);
        check(u64::MAX, u64::MAX, 12, 0.0);
    }

    #[test]
    fn the_cache_counts() {
        let usage = Usage {
            input: Some(2),
            cache_write: Some(6_843),
            cache_read: Some(91_983),
            output: Some(1_172),
        };
        let effort = Effort {
            usage,
            turns: Some(2),
            duration: Some(Duration::from_millis(1_500)),
            ..Effort::default()
        };
        let evaluated = evaluated(effort, &[], &EfficiencySettings::default());
        // 100 000 tokens in 2 turns: 30 000 per turn above the free 20 000.
        assert_eq!(evaluated.score, Ok(85.0));
        let expected = json!({"tokens": 100_000, "tokens_per_turn": 50_000.0, "turns": 2, "duration_seconds": 1.5,
            "taken_off": {"tokens_per_turn": 15.0, "turns": 0.0}, "unmeasured": ["errors"]});
        assert_eq!(evaluated.details, expected);
    }

    #[test]
    fn what_was_not_measured_takes_nothing_off_and_nothing_measured_is_no_score() {
        let default = EfficiencySettings::default();
        let none = evaluated(
            Effort {
                cost_usd: Some(1.0),
                ..Effort::default()
            },
            &[json!({"role": "stdout"})],
            &default,
        );
        assert!(
            none.score.is_err() && none.details["cost_usd"] == json!(1.0),
            "{none:?}"
        );
        let of_no_turn = evaluated(effort(1_000_000, 0), &[], &default);
        assert!(of_no_turn.score.is_err(), "{of_no_turn:?}");
        let turns = evaluated(
            Effort {
                turns: Some(25),
                ..Effort::default()
            },
            &[],
            &default,
        );
        assert_eq!(
            (turns.score, &turns.details["unmeasured"]),
            (Ok(90.0), &json!(["tokens_per_turn", "errors"]))
        );
        let without_calls = Effort {
            tools: Some(BTreeMap::new()),
            ..Effort::default()
        };
        assert_eq!(evaluated(without_calls, &[], &default).score, Ok(100.0));
        let untold = Effort {
            tools: Some(BTreeMap::from([("Bash".to_owned(), 3)])),
            ..Effort::default()
        };
        assert!(evaluated(untold, &[], &default).score.is_err());
    }

    #[test]
    fn failed_calls_are_found_in_every_form() {
        let count = |values: &[Value]| count_tool_errors(values, &Effort::default());
        let claude = |id: &str, is_error: bool| {
            let block = json!({"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": "x"});
            json!({"type": "user", "message": {"content": [block]}})
        };
        assert_eq!(
            count(&[
                claude("a", true),
                claude("b", false),
                claude("c", true),
                claude("a", true)
            ]),
            Some(2)
        );
        assert_eq!(count(&[claude("a", false)]), Some(0));
        assert_eq!(
            count(&[json!({"role": "tool", "content": "Error: no"})]),
            Some(0)
        );
        assert_eq!(
            count(&[
                json!({"role": "tool", "error": {"type": "timeout"}}),
                json!({"role": "tool", "error": null})
            ]),
            Some(1)
        );
        assert_eq!(
            count(&[
                json!({"role": "tool", "status": "error"}),
                json!({"role": "function", "isError": true})
            ]),
            Some(2)
        );
        assert_eq!(
            count(&[
                json!({"role": "user", "content": [{"type": "mcp_tool_result", "is_error": true}]})
            ]),
            Some(1)
        );
        let command = |exit: Value, status: &str| json!({"type": "item", "item": {"id": "i", "type": "command_execution", "status": status, "exit_code": exit}});
        assert_eq!(count(&[command(Value::Null, "in_progress")]), None);
        assert_eq!(
            count(&[
                command(Value::Null, "in_progress"),
                command(json!(2), "failed")
            ]),
            Some(1)
        );
        assert_eq!(count(&[command(json!(0), "completed")]), Some(0));
        let gemini = |id: &str, status: &str| json!({"type": "tool_result", "tool_id": id, "status": status});
        assert_eq!(
            count(&[
                gemini("a", "error"),
                gemini("b", "success"),
                gemini("a", "error")
            ]),
            Some(1)
        );
        let opencode = |status: &str| json!({"type": "tool_use", "part": {"type": "tool", "tool": "read", "callID": "c", "state": {"status": status}}});
        assert_eq!(
            (count(&[opencode("error")]), count(&[opencode("completed")])),
            (Some(1), Some(0))
        );
        for other in [
            json!({"role": "assistant", "is_error": true}),
            json!(null),
            json!([1]),
            json!({"type": "result", "is_error": true}),
        ] {
            assert_eq!(count(&[other]), None);
        }
    }

    #[test]
    fn every_constant_can_be_set() {
        let (settings, problems) = read_yaml_layers(
            &[
                "free_turns: 5\nmost_for_turns: 40\n",
                "free_turns: 0\ntokens_per_point: 0\nfree_tokens: 1\n",
            ],
            EfficiencySettings::from_layers,
        );
        assert_eq!(
            settings,
            EfficiencySettings {
                free_turns: 0.0,
                most_for_turns: 40.0,
                ..EfficiencySettings::default()
            }
        );
        assert_eq!(
            problems,
            [
                "1.yaml:2:19: `evaluators.x.tokens_per_point` must be greater than 0",
                "1.yaml:3:1: unknown key `evaluators.x.free_tokens`"
            ]
        );
        let all = "{free_tokens_per_turn: 1, tokens_per_point: 2, most_for_tokens: 3, free_turns: 4, points_per_turn: 5, \
                   most_for_turns: 6, points_per_error: 7, most_for_errors: 8}";
        let (settings, problems) = read_yaml_layers(&[all], EfficiencySettings::from_layers);
        assert_eq!(problems, [""; 0]);
        let expected = EfficiencySettings {
            free_tokens_per_turn: 1.0,
            tokens_per_point: 2.0,
            most_for_tokens: 3.0,
            free_turns: 4.0,
            points_per_turn: 5.0,
            most_for_turns: 6.0,
            points_per_error: 7.0,
            most_for_errors: 8.0,
        };
        assert_eq!(settings, expected);
    }

    proptest! {
        #[test]
        fn more_effort_never_scores_higher(tokens: u64, turns in 1..u64::MAX, errors in 0..30_usize, more in 0..1_000_000_u64) {
            let score = |tokens, turns, errors| evaluated(effort(tokens, turns), &failed(errors), &EfficiencySettings::default()).score;
            let base = score(tokens, turns, errors).expect("turns were measured");
            prop_assert!((0.0..=100.0).contains(&base));
            prop_assert!(score(tokens.saturating_add(more), turns, errors).is_ok_and(|score| score <= base));
            prop_assert!(score(tokens, turns, errors + 1).is_ok_and(|score| score <= base));
        }

        #[test]
        fn no_setting_leaves_the_scale(free in 0.0..1e12, per in 1e-12..1e12, most in 0.0..1e300) {
            let settings = EfficiencySettings { free_tokens_per_turn: free, tokens_per_point: per, most_for_tokens: most, ..seed() };
            let score = evaluated(effort(1 << 40, 3), &[], &settings).score.expect("turns were measured");
            prop_assert!((0.0..=100.0).contains(&score), "{score}");
        }
    }
}
