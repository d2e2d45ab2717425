//! The built-in approaches, with programs that stand in for Claude's and for `ralph`.

use super::*;

const SUITE: &str = "name: flask\nrequirements: suites/flask/order.md\ntimeout: 5m\n\
    server: {command: 'exec python3 app.py {port}', health_check: 'http://127.0.0.1:{port}/health'}\n\
    tests:\n  shared: [sh suites/flask/shared.sh]\n  functional: [python3 suites/flask/ask.py /]\n\
  \x20 own: ['if [ -f own.sh ]; then sh own.sh; else echo 1..0; fi']\n";

/// Each of twenty features is a line of `features.txt`.
const SHARED: &str = "echo TAP version 13; echo 1..20\nfor n in $(seq 20); do\n  \
    grep -qx \"feature $n\" \"$EVAL_WORKSPACE/features.txt\" && echo \"ok $n - feature $n\" || echo \"not ok $n - feature $n\"\ndone\n";

/// Asked on its standard input, answers as a stream of JSON and writes files where it stands.
const CLAUDE: &str = r#"#!/bin/sh
[ "$1" != --version ] || { echo '9.8.7 (a stand-in)'; exit; }
echo "$*" > "$SEEN/claude.arguments"; cat > "$SEEN/claude.prompt"; pwd > "$SEEN/claude.folder"
cp "$SEEN/server.py" app.py
seq -f 'feature %g' 14 > features.txt
for n in 1 2 3 4 5 6; do echo x > part$n.py; done
echo '{"type":"system","subtype":"init","model":"claude-sonnet-9-20260101"}'
echo '{"type":"assistant","message":{"id":"1","content":[{"type":"tool_use","id":"t","name":"Write","input":{}}],"usage":{"input_tokens":1,"output_tokens":1}}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":6,"result":"Done.","total_cost_usd":0.18,"usage":{"input_tokens":1000,"cache_creation_input_tokens":7000,"cache_read_input_tokens":77000,"output_tokens":4000}}'
"#;

const RALPH: &str = r#"#!/bin/sh
echo "$* model=$EVAL_MODEL" >> "$SEEN/ralph.arguments"
case "$1" in
init) mkdir .ralph && cp "$2" .ralph/order.md ;;
run)
  test -f .ralph/order.md || exit 8
  cp "$SEEN/server.py" app.py
  seq -f 'feature %g' 18 > features.txt
  for n in 1 2 3 4 5 6 7 8 9; do echo x > part$n.py; done
  { echo 'echo 1..25'; echo 'for n in $(seq 25); do echo "ok $n - own $n"; done'; } > own.sh
  echo '{"total_claude_calls": 9, "total_turns": 31, "usage": {"input_tokens": 40000, "cache_read_input_tokens": 200000, "output_tokens": 5000}, "total_cost_usd": 0.52}' > .ralph/run_metrics.json
  sleep 0.5 ;;
esac
"#;

/// The project, `PATH` with its programs, and a folder outside that these may write to.
fn flask() -> (Code, String, tempfile::TempDir) {
    let code = Code::new("tests: {shared: ['true']}\n", "");
    let project = &code.project;
    project.file("suites/flask/suite.yaml", SUITE).file(
        "suites/flask/order.md",
        "# Make it\n\nWith twenty features.\n",
    );
    project
        .file("suites/flask/shared.sh", SHARED)
        .file("suites/flask/ask.py", ASK);
    let seen = tempfile::tempdir().expect("a folder");
    fs::write(seen.path().join("server.py"), SERVER).expect("room");
    project.file("evalreport.yaml", "version: 1\n");
    program(project, "claude", CLAUDE);
    let path = program(project, "ralph", RALPH);
    (code.sharing(seen.path()), path, seen)
}

#[test]
fn ralph_and_oneshot_run_end_to_end_and_compare() {
    needs!("python3");
    let (code, path, folder) = flask();
    let seen = folder.path().display().to_string();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it was written");
    let environment = [("PATH", path.as_str()), ("SEEN", &seen)];
    for approach in ["ralph", "oneshot"] {
        code.started(
            &["flask", "--approach", approach, "--model", "sonnet"],
            &[],
            &environment,
        );
    }
    let prompt = read("claude.prompt");
    assert!(
        prompt.ends_with("# Make it\n\nWith twenty features.\n"),
        "{prompt}"
    );
    let arguments = read("claude.arguments");
    assert!(
        arguments.contains("-p --output-format stream-json --verbose")
            && arguments.contains("--model sonnet"),
        "{arguments}"
    );
    // In isolation it may use every tool.
    let rights = if evalreport::process::support().files {
        "--dangerously-skip-permissions"
    } else {
        "--permission-mode acceptEdits"
    };
    assert!(
        arguments.contains(rights),
        "it may write files: {arguments}"
    );
    assert!(read("claude.folder").trim().ends_with("/workspace"));
    assert_eq!(
        read("ralph.arguments"),
        "init requirements.md model=sonnet\nrun -model sonnet model=sonnet\n"
    );

    let all = code.all();
    let of = |approach: &str| {
        all.iter()
            .find(|ran| ran.header["approach"] == approach)
            .expect("it was run")
    };
    let (ralph, oneshot) = (of("ralph"), of("oneshot"));
    for (ran, passed, own, numbers) in [
        (
            ralph,
            18,
            [Some(25), Some(25)],
            [240_000, 5_000, 245_000, 9, 31, 12],
        ),
        (
            oneshot,
            14,
            [Some(0), Some(0)],
            [85_000, 4_000, 89_000, 1, 6, 8],
        ),
    ] {
        ran.ended("completed", "");
        ran.shared(passed, 20);
        assert_eq!(ran.counts("own"), own);
        let names = [
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "total_calls",
            "turns",
            "files_generated",
        ];
        assert_eq!(
            names.map(|name| ran.header[name].as_u64()),
            numbers.map(Some)
        );
        assert_eq!(
            (&ran.header["model"], &ran.header["cost_source"]),
            (&"sonnet".into(), &"reported".into())
        );
        assert_eq!(ran.items("functional_tests").len(), 1);
    }
    assert!(
        oneshot
            .transcript
            .iter()
            .any(|line| line.to_string().contains("tool_use"))
    );

    let table = code
        .project
        .run_in(["compare", "flask", "--explain"], &[("COLUMNS", "160")]);
    let table = table.stdout.as_str();
    let row = |name: &str| {
        table
            .lines()
            .find(|line| line.contains(name))
            .unwrap_or_else(|| panic!("{name}: {table}"))
    };
    for (name, parts) in [
        (
            "flask (version",
            &["ralph vs oneshot (20 shared items, 1 run each)"][..],
        ),
        ("Metric", &["Ralph", "Oneshot", "Difference", "Verdict"]),
        ("Duration, typical run", &[]),
        ("Tokens, typical run", &["245,000", "89,000", "2.8 times"]),
        ("Cost, typical run", &["$0.52", "$0.18", "2.9 times"]),
        (
            "Pass rate",
            &["18/20 (90%)", "14/20 (70%)", "+20.0 pp", "open: 1 run each"],
        ),
        ("Own tests", &["25/25", "0/0", "not comparable"]),
        ("Files", &["12", "8"]),
        ("Agent calls", &["9", "1"]),
        ("Turns", &["31", "6"]),
    ] {
        let row = row(name).to_lowercase();
        assert!(
            parts.iter().all(|part| row.contains(&part.to_lowercase())),
            "{parts:?}: {table}"
        );
    }
}

#[test]
fn what_ralph_used_is_known_when_it_fails_too() {
    needs!("python3");
    let (code, _, folder) = flask();
    let failing = RALPH.replace("sleep 0.5 ;;", "echo 'gave up' >&2; exit 2 ;;");
    let path = program(&code.project, "ralph", &failing);
    let seen = folder.path().display().to_string();
    code.started(
        &["flask", "--approach", "ralph"],
        &[],
        &[("PATH", path.as_str()), ("SEEN", &seen)],
    );
    let ran = &code.all()[0];
    ran.ended("failed", "gave up");
    ran.shared(18, 20);
    assert_eq!(
        (&ran.header["total_tokens"], &ran.header["cost_usd"]),
        (&245_000.into(), &0.52.into())
    );
}

#[test]
fn claudes_usage_limit_is_an_outage() {
    needs!("python3");
    let (code, _, _seen) = flask();
    let path = program(
        &code.project,
        "claude",
        "#!/bin/sh\ncat > /dev/null\necho 'Claude AI usage limit reached|1749924000'\nexit 1\n",
    );
    code.started(
        &["flask", "--approach", "oneshot"],
        &[],
        &[("PATH", path.as_str())],
    );
    let ran = &code.all()[0];
    ran.ended("infra", "usage limit reached");
    ran.is_untested();
}

#[test]
fn without_its_program_a_built_in_approach_does_not_begin() {
    for (approach, program) in [("ralph", "ralph"), ("oneshot", "claude")] {
        let (code, _, _seen) = flask();
        let bare = code.project.path("none").display().to_string();
        let output = code
            .project
            .run_in(["run", "flask", "--approach", approach], &[("PATH", &bare)]);
        let refusal = output.refusal();
        assert!(
            refusal.contains(&format!("program `{program}` not found on PATH")),
            "{refusal}"
        );
        assert!(code.all().is_empty());
    }
}

#[test]
fn a_run_stands_under_the_model_that_the_agent_reports() {
    needs!("python3");
    let (code, path, folder) = flask();
    let seen = folder.path().display().to_string();
    let environment = [("PATH", path.as_str()), ("SEEN", &seen)];
    for model in ["sonnet", "opus"] {
        code.started(
            &["flask", "--approach", "oneshot,ralph", "--model", model],
            &[],
            &environment,
        );
    }
    code.started(&["flask", "--approach", "oneshot"], &[], &environment);
    let mut labels: Vec<[String; 4]> = code
        .all()
        .iter()
        .map(|ran| {
            ["approach", "model", "reported_model", "error"]
                .map(|key| ran.header[key].as_str().unwrap_or("-").to_owned())
        })
        .collect();
    labels.sort();
    let full = "claude-sonnet-9-20260101";
    assert_eq!(
        labels,
        [
            // It is asked for none, and for opus.
            ["oneshot", full, full, "-"],
            [
                "oneshot",
                full,
                full,
                "`opus` was asked for, and the agent reports `claude-sonnet-9-20260101`"
            ],
            ["oneshot", "sonnet", full, "-"],
            // It was given both, and says neither.
            ["ralph", "opus", "-", "-"],
            ["ralph", "sonnet", "-", "-"],
        ]
        .map(|label| label.map(str::to_owned))
    );
    let calls = fs::read_to_string(folder.path().join("ralph.arguments")).expect("it was written");
    assert_eq!(
        calls,
        "init requirements.md model=sonnet\nrun -model sonnet model=sonnet\ninit requirements.md model=opus\nrun -model opus model=opus\n"
    );
}

#[test]
fn nothing_is_filed_under_a_model_that_no_program_was_told() {
    let code = Code::new("tests: {shared: ['true']}\n", "true\n");
    let refused = code
        .project
        .run(["run", "s", "--approach", "a", "--model", "m,n"]);
    refused.refusal();
    assert!(
        refused
            .stderr
            .contains("the approach `a` is not given the model that --model names"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("put `{model}` into its command"),
        "{}",
        refused.stderr
    );
    assert_eq!(code.project.files("results"), Vec::<String>::new());
    for (script, approach) in [
        (
            "test \"$1\" = m",
            "{id: a, command: [sh, \"{root}/a.sh\", \"{model}\"]}",
        ),
        (
            "test \"$EVAL_MODEL\" = m",
            "{id: a, command: [sh, \"{root}/a.sh\"]}",
        ),
        (
            "true",
            "{id: a, command: [sh, -c, 'test \"$EVAL_MODEL\" = m']}",
        ),
        (
            "true",
            "{id: a, command: [sh, \"{root}/a.sh\"], env: [EVAL_MODEL]}",
        ),
    ] {
        let code = Code::new("tests: {shared: ['true']}\n", script).config(approach);
        let ran = code.run_with(&["--model", "m"], &[]);
        ran.ended("completed", "");
        assert_eq!(ran.header["model"], "m", "{approach}");
    }
}

#[test]
fn a_configured_model_that_no_program_is_told_labels_nothing() {
    let own = "agents:\n  - {id: own, type: command, model: m, command: [sh, -c, 'cat > made.txt; echo \"<answer>one</answer>\"']}\n  - {id: free, type: command, command: [cat]}\n\
               \x20 - {id: tape, type: replay, file: tape.jsonl}\n\
               tasks: [{id: quiz, type: question_eval, questions_file: q.yaml, model: t}, {id: plain, type: question_eval, questions_file: q.yaml}]\n";
    let code = Code::new("tests: {shared: ['true']}\n", "")
        .config(&format!("{{id: a, agent: own}}\n{own}"));
    code.project
        .file("q.yaml", "version: 1\nquestions: [{id: q, question: One?, answers: [one, two], correct_answers: [one]}]\n")
        .file("tape.jsonl", "{\"item\": \"q\", \"answer\": \"<answer>one</answer>\"}\n");
    for (arguments, message) in [
        (
            &["run", "s", "--approach", "a"][..],
            "the approach `a` is not given the model that `model` of its agent names",
        ),
        (
            &["run", "plain", "--agent", "own"],
            "the agent `own` is not given the model that `model` of the agent names",
        ),
        (
            &["run", "quiz", "--agent", "free"],
            "the agent `free` is not given the model that `model` of the task names",
        ),
        (
            &["run", "plain", "--agent", "tape", "--model", "z"],
            "the agent `tape` is not given the model that --model names",
        ),
    ] {
        let output = code.project.run(arguments.iter().copied());
        assert!(output.refusal().contains(message), "{}", output.stderr);
    }
    assert_eq!(code.project.files("results"), Vec::<String>::new());
}

#[test]
fn a_model_that_the_words_of_an_approach_hold_has_to_be_named() {
    let own = "agents: [{id: own, type: command, command: [sh, -c, 'cat > made.txt; test \"$1\" = m', sh]}]";
    let full = "agents: [{id: own, type: command, model: m, command: [sh, -c, 'cat > made.txt; test \"$1\" = m', sh]}]";
    for approach in [
        format!("{{id: a, agent: own, args: ['{{model}}']}}\n{own}"),
        "{id: a, agent: claude, args: [--model, '{model}']}\nagents: [{id: claude, type: claude}]".to_owned(),
        "{id: a, agent: claude}\nagents: [{id: claude, type: claude, command: [claude, --model, '{model}']}]".to_owned(),
    ] {
        let code = Code::new("tests: {shared: ['test -s \"$EVAL_WORKSPACE/made.txt\"']}\n", "").config(&approach);
        let path = program(&code.project, "claude", CLAUDE);
        let refused = code.project.run_in(["run", "s", "--approach", "a"], &[("PATH", path.as_str())]);
        assert!(refused.refusal().contains("the approach `a` holds `{model}`, and no model is named"), "{approach}: {}", refused.stderr);
        assert_eq!(code.project.files("results"), Vec::<String>::new());
        let listed = code.project.run_in(["list", "--format", "json"], &[("PATH", path.as_str())]).json();
        let entry = &listed["runnable"]["approaches"][0];
        assert_eq!((&entry["needs_model"], &entry["problems"]), (&true.into(), &serde_json::json!([])), "{entry}");
    }
    let approach = |agents: &str| format!("{{id: a, agent: own, args: ['{{model}}']}}\n{agents}");
    for (agents, more) in [(own, &["--model", "m"][..]), (full, &[])] {
        let code = Code::new(
            "tests: {shared: ['test -s \"$EVAL_WORKSPACE/made.txt\"']}\n",
            "",
        )
        .config(&approach(agents));
        let ran = code.run_with(more, &[]);
        ran.ended("completed", "");
        ran.shared(1, 1);
        assert_eq!(ran.header["model"], "m");
    }
}
