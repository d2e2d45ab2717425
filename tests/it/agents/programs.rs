//! Programs: any command, and Claude's.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use evalreport::agent::AgentFailureKind::{Error, Infra, Limit, Stopped};
use evalreport::domain::{CostSource, Usage};

use super::*;

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agents/claude.sh");

fn claude(folder: &Path, act: &str, more: &str) -> Agent {
    agent(
        &format!("type: claude, command: [sh, {FAKE}, {act}]{more}"),
        &environment(folder, &[]),
    )
}

fn command(folder: &Path, script: &str) -> Agent {
    let script = serde_json::to_string(script).expect("text is JSON");
    agent(
        &format!(
            "type: command, model: m, command: [sh, -c, {script}, sh, \"{{model}}\", \"{{prompt_file}}\"]"
        ),
        &environment(folder, &[("X_API_KEY", KEY)]),
    )
}

#[test]
fn claude_answers_with_everything_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let reply = ask(
        &claude(folder.path(), "answer", ", model: m, max_steps: 9"),
        20.0,
    )
    .expect("it answers");
    let measured = &reply.measured;
    assert_eq!(reply.text, "<answer>Blue</answer>");
    assert_eq!(
        measured.usage,
        Usage {
            input: Some(2),
            cache_write: Some(6843),
            cache_read: Some(91983),
            output: Some(400)
        }
    );
    assert_eq!(
        (measured.cost.usd, measured.cost.source, measured.steps),
        (Some(0.25), CostSource::Reported, Some(3))
    );
    assert_eq!(
        measured.tools.as_ref().and_then(|tools| tools.get("Bash")),
        Some(&1)
    );
    assert_eq!(
        (
            measured.transcript.len(),
            measured.model.as_deref(),
            &measured.note
        ),
        (2, Some("claude-x"), &None)
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("prompt.seen")).expect("it was asked"),
        "Which colour?"
    );
    let arguments = fs::read_to_string(folder.path().join("arguments.seen")).expect("it was asked");
    assert_eq!(
        arguments,
        "answer\n-p\n--output-format\nstream-json\n--verbose\n--model\nm\n--max-turns\n9\n"
    );
    assert_eq!(
        ask(&claude(folder.path(), "json", ""), 20.0)
            .expect("it answers")
            .measured
            .tools,
        None
    );
    let failure = fails(
        ask(&claude(folder.path(), "json", ", max_steps: 2"), 20.0),
        Limit,
        "used 3 steps, more than 2",
    );
    assert_eq!(failure.measured.cost.usd, Some(0.25));
}

#[test]
fn claude_fails_in_every_way_with_the_documented_status() {
    let folder = tempfile::tempdir().expect("a folder");
    for (act, kind, said) in [
        ("half", Error, "gave no result; it ended with exit status 0"),
        ("limit", Infra, "usage limit reached"),
        ("limit-text", Infra, "You've hit your limit"),
        ("limit-as-success", Infra, "usage limit reached"),
        ("turns", Limit, "error_max_turns"),
        ("broken", Error, "reported error_during_execution: it broke"),
        (
            "crash",
            Error,
            "gave no result; it ended with exit status 3: first␊Traceback: boom",
        ),
        ("silent", Error, "gave no result"),
        ("latin", Error, "not UTF-8"),
    ] {
        fails(ask(&claude(folder.path(), act, ""), 20.0), kind, said);
    }
    let missing = agent(
        "type: claude, command: no-such-program-here",
        &environment(folder.path(), &[]),
    );
    fails(
        ask(&missing, 20.0),
        Infra,
        "program `no-such-program-here` not found",
    );
}

#[test]
fn a_success_counts_whatever_happens_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    let reply = ask(&claude(folder.path(), "exit-after-success", ""), 20.0)
        .expect("the result was a success");
    assert_eq!(reply.text, "<answer>Blue</answer>");
    let note = reply.measured.note.expect("it is noted");
    assert!(note.contains("exit status 1: late trouble"), "{note}");
    let started = Instant::now();
    let reply = ask(&claude(folder.path(), "grandchild", ""), 20.0)
        .expect("the grandchild does not matter");
    assert!(
        reply.text.contains("Blue") && started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_flood_is_bounded_and_its_end_is_still_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let reply =
        ask(&claude(folder.path(), "flood", ""), 60.0).expect("the result stands at the end");
    assert_eq!(
        (reply.text.as_str(), reply.measured.steps),
        ("<answer>Blue</answer>", Some(3))
    );
    assert!(
        reply.measured.raw.len() < 300_000,
        "{}",
        reply.measured.raw.len()
    );
    let flood = command(folder.path(), "head -c 100000000 /dev/zero | tr '\\0' 'x'");
    let failure = fails(ask(&flood, 60.0), Error, "printed more than 16 MiB");
    assert!(failure.measured.raw.len() < 300_000);
}

#[test]
fn a_limit_of_time_ends_all_and_keeps_what_was_used() {
    let folder = tempfile::tempdir().expect("a folder");
    for act in ["stall", "ignore-term"] {
        let started = Instant::now();
        let failure = fails(
            ask(&claude(folder.path(), act, ""), 1.0),
            Limit,
            "stopped after 1 s, its limit of time",
        );
        assert!(
            started.elapsed() < Duration::from_secs(8),
            "{act}: {:?}",
            started.elapsed()
        );
        assert_eq!(
            (failure.measured.usage.input, failure.measured.usage.output),
            (Some(7), Some(5)),
            "{act}"
        );
        assert_eq!(
            failure
                .measured
                .tools
                .as_ref()
                .and_then(|tools| tools.get("Bash")),
            Some(&1),
            "{act}"
        );
    }
}

#[test]
fn a_stop_ends_a_program_and_starts_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let stop = StopSignal::new();
    let later = stop.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        later.stop();
    });
    let agent = claude(folder.path(), "stall", "");
    let started = Instant::now();
    fails(
        agent.answer_prompt(&prompt(30.0), &stop),
        Stopped,
        "stopped",
    );
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    fails(
        agent.answer_prompt(&prompt(30.0), &stop),
        Stopped,
        "stopped",
    );
}

#[test]
fn a_command_gets_prompt_seed_model_and_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let script =
        "printf '%s|' \"$(cat)\" \"$1\" \"$(cat \"$2\")\" \"$EVAL_SEED\" \"$EVAL_MODEL\" \"$PWD\"";
    let reply = ask(&command(folder.path(), script), 20.0).expect("it answers");
    let root = folder.path().canonicalize().expect("it exists");
    assert_eq!(
        reply.text,
        format!("Which colour?|m|Which colour?|7|m|{}|", root.display())
    );
    let elsewhere = tempfile::tempdir().expect("a folder");
    let asked = AgentPrompt {
        folder: Some(elsewhere.path()),
        ..prompt(20.0)
    };
    let reply = command(folder.path(), "pwd")
        .answer_prompt(&asked, &StopSignal::new())
        .expect("it answers");
    assert_eq!(
        Path::new(reply.text.trim()),
        elsewhere.path().canonicalize().expect("it exists")
    );
    let script = "echo '{\"answer\": \"Blue\", \"usage\": {\"input_tokens\": 10, \"output_tokens\": 5}, \"steps\": 2, \"tools\": {\"look\": 3}}'";
    let reply = ask(&command(folder.path(), script), 20.0).expect("it answers");
    assert_eq!(
        (
            reply.text.as_str(),
            reply.measured.steps,
            reply.measured.cost.source
        ),
        ("Blue", Some(2), CostSource::Priced)
    );
    assert_eq!(reply.measured.cost.usd, Some(20.0 / 1e6));
    assert_eq!(
        reply
            .measured
            .tools
            .and_then(|tools| tools.get("look").copied()),
        Some(3)
    );
    let mut asked = prompt(20.0);
    asked.limits.max_tokens = Some(14);
    let failure = fails(
        command(folder.path(), script).answer_prompt(&asked, &StopSignal::new()),
        Limit,
        "used 15 tokens, more than 14",
    );
    assert_eq!(failure.measured.cost.usd, Some(20.0 / 1e6));
}

#[test]
fn a_command_fails_with_the_documented_status() {
    let folder = tempfile::tempdir().expect("a folder");
    for (script, kind, said) in [
        (
            "echo one >&2; echo two >&2; exit 2",
            Error,
            "ended with exit status 2: one␊two",
        ),
        ("kill -9 $$", Error, "ended by signal 9"),
        (
            "echo 'Error: rate limit exceeded' >&2; exit 1",
            Infra,
            "rate limit",
        ),
        ("printf 'caf\\351'", Error, "not UTF-8"),
        ("sleep 30", Limit, "its limit of time"),
    ] {
        fails(ask(&command(folder.path(), script), 1.0), kind, said);
    }
    let reply = ask(
        &command(folder.path(), "echo 'The rate limit is 429.'"),
        5.0,
    );
    assert!(
        reply.is_ok_and(|reply| reply.text.contains("429")),
        "an answer may speak of limits"
    );
}

#[test]
fn a_key_that_a_program_prints_is_hidden() {
    let folder = tempfile::tempdir().expect("a folder");
    let failure = fails(
        ask(
            &command(folder.path(), &format!("echo 'key: {KEY}' >&2; exit 1")),
            5.0,
        ),
        Error,
        "key: [X_API_KEY]",
    );
    assert!(!format!("{failure:?}").contains(KEY));
    let reply = ask(
        &command(
            folder.path(),
            &format!(
                "echo '{{\"answer\": \"it is {KEY}\", \"transcript\": [{{\"x\": \"{KEY}\"}}]}}'"
            ),
        ),
        5.0,
    );
    let reply = reply.expect("it answers");
    assert_eq!(reply.text, "it is [X_API_KEY]");
    assert!(!format!("{reply:?}").contains(KEY), "{reply:?}");
}
