//! Codex, Gemini and OpenCode: sessions of the real programs, recorded with a service that stands in for each, printed by a program that
//! stands in for the real one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evalreport::agent::AgentFailureKind::{Error, Infra, Limit};
use evalreport::domain::{CostSource, Usage};

use super::*;

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agents/coding.sh");
const SESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agents/sessions");
const OTHERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sessions");
const TYPES: [&str; 3] = ["codex", "gemini", "opencode"];

fn of(kind: &str, folder: &Path, act: &str, more: &str) -> Agent {
    let session = format!("{SESSIONS}/{kind}.jsonl");
    agent(
        &format!("type: {kind}, command: [sh, {FAKE}, {act}, {session}]{more}"),
        &environment(folder, &[("X_API_KEY", KEY)]),
    )
}

fn usage(input: u64, cache_write: Option<u64>, cache_read: u64, output: u64) -> Usage {
    Usage {
        input: Some(input),
        cache_write,
        cache_read: Some(cache_read),
        output: Some(output),
    }
}

#[test]
fn each_answers_with_everything_that_it_tells() {
    let expected = [
        (
            "codex",
            usage(1311, None, 1716, 84),
            Some(2),
            "command_execution",
            None,
            "exec\n--json\n--skip-git-repo-check\n--model\nm\n",
        ),
        (
            "gemini",
            usage(1311, None, 1716, 84),
            Some(2),
            "write_file",
            Some("gemini-2.5-pro"),
            "--output-format\nstream-json\n--model\nm\n",
        ),
        (
            "opencode",
            usage(1311, Some(0), 1716, 84),
            Some(2),
            "write",
            None,
            "run\n--format\njson\n--title\nevalreport\n--print-logs\n--log-level\nERROR\n--model\nm\n",
        ),
    ];
    for (kind, usage, steps, tool, model, arguments) in expected {
        let folder = tempfile::tempdir().expect("a folder");
        for act in ["whole", "noise"] {
            let reply = ask(&of(kind, folder.path(), act, ", model: m"), 20.0).expect("it answers");
            let measured = &reply.measured;
            assert_eq!(reply.text, "I am done. <answer>Blue</answer>", "{kind}");
            assert_eq!(
                (measured.usage, measured.steps, measured.model.as_deref()),
                (usage, steps, model),
                "{kind}"
            );
            assert_eq!(
                measured.tools,
                Some(BTreeMap::from([(tool.to_owned(), 1)])),
                "{kind}"
            );
            let lines = fs::read_to_string(format!("{SESSIONS}/{kind}.jsonl"))
                .expect("it is there")
                .lines()
                .count();
            assert_eq!(
                (measured.transcript.len(), &measured.note),
                (lines, &None),
                "{kind}"
            );
            let seen =
                fs::read_to_string(folder.path().join("arguments.seen")).expect("it was asked");
            assert_eq!(seen, format!("{act}\n{SESSIONS}/{kind}.jsonl\n{arguments}"));
            assert_eq!(
                fs::read_to_string(folder.path().join("prompt.seen")).expect("it was asked"),
                "Which colour?"
            );
            let asked = AgentPrompt {
                system: Some("Be brief."),
                ..prompt(20.0)
            };
            of(kind, folder.path(), act, "")
                .answer_prompt(&asked, &StopSignal::new())
                .expect("it answers");
            let told = fs::read_to_string(folder.path().join("prompt.seen")).expect("it was asked");
            assert_eq!(
                told, "Be brief.\n\nWhich colour?",
                "none of them takes a system prompt apart"
            );
        }
    }
}

#[test]
fn the_cost_is_reported_or_priced() {
    let folder = tempfile::tempdir().expect("a folder");
    let cost = |kind: &str| {
        ask(&of(kind, folder.path(), "whole", ", model: m"), 20.0)
            .expect("it answers")
            .measured
            .cost
    };
    assert_eq!(
        (cost("opencode").usd, cost("opencode").source),
        (Some(0.002_337), CostSource::Reported)
    );
    // 1311 of input, 1716 of the cache and 84 of output, at 1, 0.5 and 2 dollars a million.
    let priced = cost("codex").usd.expect("m has a price");
    assert!(
        (priced - (1311.0 + 1716.0 * 0.5 + 84.0 * 2.0) / 1e6).abs() < 1e-12,
        "{priced}"
    );
    assert_eq!(cost("codex").source, CostSource::Priced);
}

#[test]
fn what_a_foreign_recording_of_codex_states_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let agent = agent(
        &format!("type: codex, command: [sh, {FAKE}, stall, {OTHERS}/codex.jsonl]"),
        &environment(folder.path(), &[]),
    );
    // Of its three lines `stall` leaves the last out.
    let first = fails(ask(&agent, 1.0), Limit, "its limit of time").measured;
    assert_eq!(
        (first.usage, first.model.as_deref()),
        (usage(750, None, 250, 125), Some("gpt-5.2-codex"))
    );
    let agent = super::agent(
        &format!("type: codex, command: [sh, {FAKE}, whole, {OTHERS}/codex.jsonl]"),
        &environment(folder.path(), &[]),
    );
    let whole = fails(ask(&agent, 20.0), Error, "gave no result").measured;
    assert_eq!(
        (whole.usage, whole.model.as_deref()),
        (usage(2750, None, 750, 425), Some("gpt-5.3-codex"))
    );
    let by_model = [
        ("gpt-5.2-codex".to_owned(), usage(750, None, 250, 125)),
        ("gpt-5.3-codex".to_owned(), usage(2000, None, 500, 300)),
    ];
    assert_eq!(whole.by_model, BTreeMap::from(by_model));
}

#[test]
fn each_fails_in_every_way_with_the_documented_status() {
    let folder = tempfile::tempdir().expect("a folder");
    for kind in TYPES {
        for (act, failure, said) in [
            ("half", Error, "gave no result; it ended with exit status 0"),
            ("refused", Infra, "invalid api key"),
            ("crash", Error, "ended with exit status 3: boom"),
            ("silent", Error, "gave no result"),
        ] {
            fails(ask(&of(kind, folder.path(), act, ""), 20.0), failure, said);
        }
        let late =
            ask(&of(kind, folder.path(), "late", ""), 20.0).expect("the result was a success");
        assert!(
            late.measured
                .note
                .is_some_and(|note| note.contains("exit status 1: late trouble"))
        );
        let steps = fails(
            ask(&of(kind, folder.path(), "whole", ", max_steps: 1"), 20.0),
            Limit,
            "used 2 steps, more than 1",
        );
        assert_eq!(steps.measured.steps, Some(2));
        let missing = agent(
            &format!("type: {kind}, command: no-such-program-here"),
            &environment(folder.path(), &[]),
        );
        fails(
            ask(&missing, 20.0),
            Infra,
            "program `no-such-program-here` not found",
        );
    }
    for (kind, act, failure, said) in [
        ("codex", "codex-quota", Infra, "hit your usage limit"),
        (
            "gemini",
            "gemini-turns",
            Limit,
            "FatalTurnLimitedError: Reached max session turns",
        ),
        ("gemini", "gemini-auth", Infra, "set an Auth method"),
        (
            "gemini",
            "gemini-blocked",
            Error,
            "blocked due to safety settings",
        ),
        (
            "opencode",
            "opencode-overload",
            Infra,
            "APIError: Overloaded",
        ),
        (
            "opencode",
            "opencode-length",
            Limit,
            "cut at its most tokens",
        ),
    ] {
        fails(ask(&of(kind, folder.path(), act, ""), 20.0), failure, said);
    }
}

#[test]
fn a_limit_of_time_keeps_what_was_used_until_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let failure = fails(
        ask(&of("opencode", folder.path(), "stall", ""), 1.0),
        Limit,
        "its limit of time",
    );
    assert_eq!(
        (failure.measured.usage.total(), failure.measured.steps),
        (Some(1460), Some(1))
    );
    assert_eq!(
        (failure.measured.cost.usd, failure.measured.cost.source),
        (Some(0.001_359_5), CostSource::Reported)
    );
    for kind in TYPES {
        let failure = fails(
            ask(&of(kind, folder.path(), "stall", ""), 1.0),
            Limit,
            "its limit of time",
        );
        assert_eq!(
            failure.measured.tools.map(|tools| tools.len()),
            Some(1),
            "{kind}"
        );
    }
}

#[test]
fn the_place_of_a_model_is_never_filled_with_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for kind in ["claude", "codex", "gemini", "opencode", "command"] {
        let line = format!("type: {kind}, command: [program, --model, '{{model}}']");
        let error =
            build(&line, &environment(folder.path(), &[])).expect_err("nobody names a model");
        assert!(
            error
                .to_string()
                .contains("its command holds `{model}`, and no model is named"),
            "{kind}: {error}"
        );
        assert!(
            build(
                &format!("{line}, model: m"),
                &environment(folder.path(), &[])
            )
            .is_ok(),
            "{kind}"
        );
    }
}
