//! `mcp`: an agent asks by the Model Context Protocol, and reads what the commands print.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::needs;
use crate::programs::Start as _;
use crate::support::{BINARY, Project, question, result};

/// Two arms of sixty questions, one of them better.
fn asked() -> Project {
    let project = Project::new();
    for (arm, fails) in [("careful", 3), ("hasty", 30)] {
        project.result(&result(arm, "quiz", arm, json!({})));
        let items: Vec<Value> = (0..60)
            .map(|item| {
                let status = if item < fails { "fail" } else { "pass" };
                question(&format!("q{item:02}"), 1, status)
            })
            .collect();
        project.items(arm, &items);
    }
    project
}

/// Sends the messages to a server in the project, and returns its replies by id.
fn ask(project: &Project, requests: &[(&str, Value)]) -> Vec<Value> {
    let mut server = Command::new(BINARY)
        .arg("mcp")
        .current_dir(project.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .start();
    let mut input = server.stdin.take().expect("its input");
    let mut send = |message: Value| writeln!(input, "{message}").expect("it reads");
    send(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
    );
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (place, (method, params)) in requests.iter().enumerate() {
        send(json!({"jsonrpc": "2.0", "id": place + 1, "method": method, "params": params}));
    }
    let mut replies = vec![Value::Null; requests.len() + 1];
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(
        server.stdout.take().expect("its output"),
    ));
    while replies.contains(&Value::Null) {
        let line = lines.next().expect("a reply").expect("UTF-8");
        let reply: Value = serde_json::from_str(&line).expect("JSON and nothing else");
        let place = reply["id"]
            .as_u64()
            .and_then(|id| usize::try_from(id).ok())
            .expect("an id");
        replies[place] = reply;
    }
    drop(input);
    // It ends with its input.
    assert!(server.wait().success());
    replies
}

fn call(name: &str, arguments: &Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": name, "arguments": arguments}))
}

#[test]
fn each_tool_answers_what_its_command_prints_and_changes_nothing() {
    let project = asked();
    project.run(["list"]);
    let before = project.files("results");
    let replies = ask(
        &project,
        &[
            ("tools/list", json!({})),
            call("list", &json!({})),
            call("compare", &json!({"suite": "quiz"})),
            call("leaderboard", &json!({})),
            call("gate", &json!({"baseline": "careful", "suite": "quiz"})),
            call("show", &json!({"run": "hasty", "items": "failed"})),
            call("items", &json!({"suite": "quiz"})),
            call("explain", &json!({"topic": "glossary"})),
        ],
    );
    assert_eq!(replies[0]["result"]["serverInfo"]["name"], "evalreport");
    let tools = replies[1]["result"]["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), 8);
    for tool in tools {
        assert_eq!(
            (
                &tool["annotations"]["readOnlyHint"],
                &tool["inputSchema"]["type"]
            ),
            (&json!(true), &json!("object")),
            "{tool}"
        );
    }
    let text = |place: usize| {
        let content = &replies[place]["result"]["content"][0]["text"];
        content
            .as_str()
            .unwrap_or_else(|| panic!("{}", replies[place]))
            .to_owned()
    };
    let printed = |line: &[&str]| {
        let answer = project.run(line.iter().copied());
        answer.stdout.trim().to_owned()
    };
    assert_eq!(
        text(3),
        printed(&["compare", "quiz", "--format", "markdown", "--quiet"])
    );
    assert!(text(3).contains("careful wins"), "{}", text(3));
    assert_eq!(
        text(4),
        printed(&["leaderboard", "--format", "markdown", "--quiet"])
    );
    assert!(text(6).contains("q00"), "{}", text(6));
    assert!(text(7).contains("q29"), "{}", text(7));
    assert!(text(8).contains("more lines; ask for"), "{}", text(8));
    assert_eq!(before, project.files("results"));
}

#[test]
fn wrong_calls_are_told_apart_from_answers() {
    let project = asked();
    let replies = ask(
        &project,
        &[
            call("compare", &json!({"suite": "quizz"})),
            call("compare", &json!({"suit": "quiz"})),
            call("show", &json!({})),
            call("run", &json!({})),
            // An option in place of a name is a name.
            call("compare", &json!({"suite": "--help"})),
            call("list", &json!({"suites": ["--results=/"]})),
        ],
    );
    let failed = |place: usize, words: &str| {
        let told = &replies[place]["result"];
        assert!(
            told["isError"] == true && told["content"][0]["text"].to_string().contains(words),
            "{told}"
        );
    };
    failed(1, "quizz");
    failed(2, "no argument `suit`");
    failed(3, "`run` is missing");
    assert!(
        replies[4]["error"]["message"]
            .to_string()
            .contains("no tool `run`"),
        "{}",
        replies[4]
    );
    failed(5, "--help");
    failed(6, "--results=/");
}

#[test]
fn the_sdk_of_the_protocol_reads_every_tool() {
    needs!("the SDK of MCP");
    let project = asked();
    let mut client = Command::new(needs::named("EVALREPORT_MCP_PYTHON"));
    client
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/it/mcp/client.py"
        ))
        .arg(BINARY)
        .arg(project.path(""));
    client.env("HOME", project.path("home"));
    let calls =
        json!([["list", {}], ["compare", {"suite": "quiz"}], ["compare", {"suite": "none"}]]);
    client.arg(calls.to_string());
    let output = client.finish();
    let told = String::from_utf8_lossy(&output.stdout);
    let answer: Value = serde_json::from_str(&told).unwrap_or_else(|error| {
        panic!("{error}: {told}{}", String::from_utf8_lossy(&output.stderr))
    });
    assert_eq!(
        (&answer["server"], answer["tools"].as_array().map(Vec::len)),
        (&json!("evalreport"), Some(8))
    );
    let answers = answer["answers"].as_array().expect("answers");
    assert!(
        answers[1]["text"].to_string().contains("careful wins"),
        "{answer}"
    );
    let failed: Vec<bool> = answers.iter().map(|one| one["failed"] == true).collect();
    assert_eq!(failed, [false, false, true]);
}
