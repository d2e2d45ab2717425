//! What an approach does, and what its suite's tests say about it.

use std::time::Instant;

use super::*;

const FILE_IS_THERE: &str = "tests: {shared: ['test -s \"$EVAL_WORKSPACE/made.txt\"']}\n";

#[test]
fn what_an_approach_makes_is_measured_tested_and_kept() {
    let suite = "setup: ['cp made.txt copied.txt']\ntests:\n  shared: [sh suites/s/shared.sh]\n  functional: ['test -f \"$EVAL_WORKSPACE/copied.txt\"', 'exit 3']\n";
    let code = Code::new(
        suite,
        "cp \"$1\" order.txt; printf 'one\\ntwo' > \"$2/made.txt\"; mkdir -p pkg node_modules; echo x | tee pkg/a.py node_modules/b.js",
    );
    code.project.file(
        "suites/s/shared.sh",
        tap(&["ok 1 - one", "not ok 2 - two", "ok 3 - three # SKIP not here", "ok 4 - four"]) + "pwd > $OUT/where.txt; ls >> $OUT/where.txt; cat ../s/order.md suites/s/order.md evalreport.yaml >> $OUT/where.txt 2>/dev/null\n",
    );
    let out = tempfile::tempdir().expect("a folder");
    let code = code.sharing(out.path());
    let ran = code.run_with(&[], &[("OUT", &out.path().display().to_string())]);
    ran.ended("completed", "");
    ran.shared(2, 3);
    assert_eq!(
        ran.items("shared_tests"),
        [
            ("one", "pass"),
            ("two", "fail"),
            ("three", "skipped"),
            ("four", "pass")
        ]
    );
    let functional = ran.items("functional_tests");
    assert_eq!(
        functional.iter().map(|item| item.1).collect::<Vec<_>>(),
        ["pass", "fail"],
        "{functional:?}"
    );
    assert!(ran.items.iter().all(|item| item["kind"]
        == if item["evaluator"] == "shared_tests" {
            "test"
        } else {
            "check"
        }));
    // Without a language nobody knows what would be a test.
    assert_eq!(ran.counts("own"), [None, None]);
    // Not what the setup made, nor dependencies.
    assert_eq!(
        (
            &ran.header["files_generated"],
            &ran.header["lines_generated"]
        ),
        (&3.into(), &4.into())
    );
    assert_eq!(
        (
            ran.kept("made.txt"),
            ran.kept("copied.txt"),
            ran.kept("node_modules/b.js")
        ),
        (Some("one\ntwo"), None, None)
    );
    let id = ran.header["id"].as_str().expect("an id");
    assert_eq!(ran.header["output_dir"], format!("results/{id}/output"));
    // Tests start in a copy that is laid out as the repository is, but for results.
    let seen = fs::read_to_string(out.path().join("where.txt")).expect("the tests ran");
    let (place, rest) = seen.split_once('\n').expect("lines");
    let scratch = code.scratch.path().canonicalize().expect("it is there");
    assert!(Path::new(place).starts_with(&scratch), "{place}");
    assert_eq!(rest, "a.sh\nevalreport.yaml\nsuites\nMake it.\n");
    assert!(
        ran.header["duration_seconds"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0)
    );
    assert_eq!(
        (&ran.header["model"], &ran.header["cost_source"]),
        (&"none".into(), &"unknown".into())
    );
    assert!(
        ran.header["seed"].is_u64()
            && ran.header["suite_version"].is_string()
            && ran.header.get("cost_usd").is_none()
    );
}

#[test]
fn output_is_not_kept_where_it_is_not_wanted() {
    let ran = Code::new(FILE_IS_THERE, "echo x > made.txt").run_with(&["--no-output"], &[]);
    ran.shared(1, 1);
    assert!(ran.kept("made.txt").is_none() && ran.header["output_dir"].is_null());
}

#[test]
fn repeats_side_by_side_do_not_meet() {
    needs!("python3");
    let suite = "server: {command: 'python3 \"$EVAL_SUITE_DIR/server.py\" {port}', health_check: 'http://127.0.0.1:{port}/'}\n\
                 tests: {shared: [python3 suites/s/ask.py /], functional: ['python3 suites/s/ask.py /{port}']}\n";
    let code = Code::new(
        suite,
        "test ! -e made.txt && echo \"$EVAL_SEED\" > made.txt",
    );
    code.command(&["--runs", "4", "--jobs", "4", "--seed", "7"], &[]);
    let all = code.all();
    assert_eq!(all.len(), 4);
    for ran in &all {
        ran.ended("completed", "");
        ran.shared(1, 1);
        assert_eq!(
            ran.kept("made.txt").map(|seed| seed.trim().to_owned()),
            Some(ran.header["seed"].to_string())
        );
        // An item is called what the suite says, not what a run made of it.
        assert_eq!(ran.items("functional_tests").len(), 1);
    }
    let names: std::collections::BTreeSet<&str> = all
        .iter()
        .map(|ran| ran.items("functional_tests")[0].0)
        .collect();
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        ["python3 suites/s/ask.py /{port}"]
    );
}

#[test]
fn a_crash_is_a_failure_and_what_is_there_is_tested() {
    let ran = Code::new(
        FILE_IS_THERE,
        "echo half > made.txt; echo '{\"usage\": {\"input_tokens\": 5, \"output_tokens\": 1}}'; echo boom >&2; exit 9",
    )
    .run();
    ran.ended("failed", "ended with exit status 9: boom");
    ran.shared(1, 1);
    assert_eq!(
        (&ran.header["input_tokens"], &ran.header["total_tokens"]),
        (&5.into(), &6.into())
    );
    assert_eq!(ran.kept("made.txt"), Some("half\n"));
}

#[test]
fn time_ends_an_approach_with_all_it_started() {
    let begin = Instant::now();
    let approach = "echo half > made.txt; trap '' TERM; sh -c 'trap \"\" TERM; sleep 97' & (setsid sleep 98 &) ; sleep 99";
    let ran = Code::new(&format!("timeout: 1s\n{FILE_IS_THERE}"), approach).run();
    ran.ended("limit", "stopped after 1 s, its limit of time");
    ran.shared(1, 1);
    assert!(begin.elapsed().as_secs() < 30);
}

#[test]
fn an_approach_has_a_limit_of_its_own() {
    let code = Code::new(&format!("timeout: 1h\n{FILE_IS_THERE}"), "");
    let ran = code
        .config("{id: a, timeout: 1s, command: [sh, -c, 'echo x > made.txt; sleep 99']}")
        .run();
    ran.ended("limit", "stopped after 1 s");
    ran.shared(1, 1);
}

#[test]
fn tests_are_bounded_by_the_suites_time() {
    let ran = Code::new("timeout: 2s\ntests: {shared: ['sleep 96']}\n", "").run();
    ran.ended("limit", "cut short after 2 s");
    ran.shared(0, 1);
    assert_eq!(ran.items("shared_tests"), [("sleep 96", "limit")]);
}

#[test]
fn usage_is_read_with_its_parts_apart() {
    let report = r#"{"type":"result","subtype":"success","num_turns":4,"total_cost_usd":"0.25","result":{"usage":{"input_tokens":2,"cache_creation_input_tokens":6843,"cache_read_input_tokens":"91983","output_tokens":400}}}"#;
    let ran = Code::new(
        FILE_IS_THERE,
        &format!("echo x > made.txt; echo '{{\"input_tokens\": 1}}'; echo '{report}'; echo bye"),
    )
    .run();
    ran.ended("completed", "");
    let header = &ran.header;
    let numbers = ["input_tokens", "output_tokens", "total_tokens", "turns"]
        .map(|name| header[name].as_u64());
    assert_eq!(numbers, [Some(98_828), Some(400), Some(99_228), Some(4)]);
    let parts =
        ["input", "cache_write", "cache_read", "output"].map(|name| header["usage"][name].as_u64());
    assert_eq!(parts, [Some(2), Some(6843), Some(91_983), Some(400)]);
    assert_eq!(
        (header["cost_usd"].as_f64(), &header["cost_source"]),
        (Some(0.25), &"reported".into())
    );
    assert!(
        ran.transcript
            .iter()
            .any(|line| line.to_string().contains("num_turns")),
        "what it said is kept"
    );
}

#[test]
fn a_report_of_failure_is_a_failure_whatever_the_exit_says() {
    let report = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":9}"#;
    let ran = Code::new(FILE_IS_THERE, &format!("echo '{report}'")).run();
    ran.ended("failed", "error_max_turns");
    assert_eq!(ran.header["turns"], 9);
    ran.shared(0, 1);
}

#[test]
fn a_usage_limit_says_nothing_about_the_approach() {
    let ran = Code::new(
        FILE_IS_THERE,
        "echo x > made.txt; echo 'Claude AI usage limit reached|1749924000'; exit 1",
    )
    .run();
    ran.ended("infra", "usage limit reached");
    ran.is_untested();
}

#[test]
fn a_missing_program_ends_the_batch_before_it_begins() {
    let code = Code::new(FILE_IS_THERE, "").config("{id: a, command: [no-such-program-here]}");
    let output = code.project.run(["run", "s", "--approach", "a"]);
    let refusal = output.refusal();
    assert!(
        refusal.contains("a needs it for `s`: program `no-such-program-here` not found on PATH"),
        "{refusal}"
    );
    assert!(!code.project.path("results").exists());
}

#[test]
fn a_refused_key_ends_the_batch_and_is_no_result() {
    let code = Code::new(
        FILE_IS_THERE,
        "echo 'Invalid API key · Please run /login' >&2; exit 1",
    );
    let output = code
        .project
        .run(["run", "s", "--approach", "a", "--runs", "3"]);
    let refusal = output.refusal();
    assert!(
        refusal.contains("s a/none cannot be run: ended with exit status 1: Invalid API key"),
        "{refusal}"
    );
    assert!(refusal.contains("run --resume"), "{refusal}");
    assert!(code.all().is_empty());
    // Once it is put right, the plan goes on.
    code.project.file("a.sh", "echo x > made.txt");
    let output = code.project.run(["run", "--resume"]);
    assert_eq!((output.code, code.all().len()), (0, 3), "{}", output.stderr);
}

#[test]
fn own_tests_are_counted_apart() {
    let suite =
        format!("{FILE_IS_THERE}  # its own\n").replace("tests: {", "tests: {own: [sh own.sh], ");
    let own = tap(&["ok 1 - a", "ok 2 - b", "not ok 3 - c"]).replace('\'', "\"");
    let ran = Code::new(
        &suite,
        &format!("echo x > made.txt; cat > own.sh <<'END'\n{own}END\n"),
    )
    .run();
    ran.shared(1, 1);
    assert_eq!(ran.counts("own"), [Some(2), Some(3)]);
    assert_eq!(
        ran.items("own_tests"),
        [("a", "pass"), ("b", "pass"), ("c", "fail")]
    );
}

#[test]
fn errors_of_tests_are_not_passed() {
    let suite = "tests: {shared: ['true', 'kill -9 $$', '\"$EVAL_WORKSPACE/not-made\"', 'true']}\n";
    let ran = Code::new(suite, "").run();
    ran.shared(2, 4);
    let statuses: Vec<&str> = ran
        .items("shared_tests")
        .iter()
        .map(|item| item.1)
        .collect();
    assert_eq!(statuses, ["pass", "error", "fail", "pass"]);
    let names: std::collections::BTreeSet<&str> = ran
        .items("shared_tests")
        .iter()
        .map(|item| item.0)
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn a_script_that_prints_counts_is_read_whatever_its_exit() {
    for exit in [0, 1] {
        let suite = format!(
            "evaluators: {{functional: true}}\nbuild_command: 'true'\ntest_command: 'echo 8 passed, 2 failed; exit {exit}'\n\
             tests: {{shared: ['echo 3 passed, 1 failed; exit {exit}']}}\n"
        );
        let ran = Code::new(&suite, "").run();
        ran.shared(3, 4);
        assert_eq!(ran.score("functional"), Some(88.0), "{}", ran.header);
    }
}

#[test]
fn a_broken_setup_is_noted_and_the_tests_tell_what_it_is_worth() {
    let ran = Code::new(
        &format!("setup: ['echo no such package >&2; exit 4', 'touch second']\n{FILE_IS_THERE}"),
        "echo x > made.txt",
    )
    .run();
    ran.ended(
        "completed",
        "setup `echo no such package >&2; exit 4` failed: no such package",
    );
    ran.shared(1, 1);
}

#[test]
fn a_network_that_is_away_is_nobodys_bad_result() {
    let away =
        "echo \"WARNING: Retrying after connection broken by 'NewConnectionError'\" >&2; exit 1";
    let ran = Code::new(
        &format!(
            "setup: [{}]\n{FILE_IS_THERE}",
            serde_json::to_string(away).expect("text")
        ),
        "echo x > made.txt",
    )
    .run();
    ran.ended("infra", "not tested: setup");
    ran.is_untested();
    assert_eq!(ran.header["files_generated"], 1);
}

/// A program that stands in for a coding agent.
const CODING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agents/coding.sh");
const SESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agents/sessions");

/// A configuration with one agent, and approaches that put a suite to it.
fn asking(code: &Code, kind: &str, approaches: &str) {
    let command = format!("[sh, {CODING}, build, {SESSIONS}/{kind}.jsonl]");
    code.project.file(
        "evalreport.yaml",
        format!("version: 1\nagents:\n  - {{id: coder, type: {kind}, command: {command}}}\napproaches:\n{approaches}"),
    );
}

#[test]
fn every_coding_agent_writes_for_an_approach_of_its_own() {
    for (kind, tokens) in [("codex", 3111), ("gemini", 3111), ("opencode", 3111)] {
        let code = Code::new(FILE_IS_THERE, "");
        code.project
            .file("with/AGENTS.md", "Write made.txt.\n")
            .file("ask.md", "Do this:\n");
        asking(
            &code,
            kind,
            "  - {id: a, agent: coder, files: with, prompt: ask.md, args: [--more, x y]}\n",
        );
        let ran = code.run();
        ran.ended("completed", "");
        ran.shared(1, 1);
        assert_eq!(
            (&ran.header["agent"], ran.header["total_tokens"].as_u64()),
            (&"coder".into(), Some(tokens)),
            "{kind}"
        );
        assert_eq!(ran.kept("prompt.seen"), Some("Do this:\n\nMake it.\n"));
        assert!(
            ran.kept("arguments.seen")
                .is_some_and(|seen| seen.contains("\n--more\nx y\n")),
            "{:?}",
            ran.kept("arguments.seen")
        );
        assert_eq!(
            (ran.kept("AGENTS.md"), ran.kept("made.txt")),
            (None, Some("x\n")),
            "what was laid is nobody's work"
        );
    }
}

/// In isolation programs of all makers may use every tool. Outside they may not, and the comparison names it.
#[test]
#[cfg(target_os = "linux")]
fn arms_of_different_rights_are_no_equal_comparison() {
    needs!(crate::needs::LANDLOCK);
    for (more, rights, is_named) in [
        (&[][..], ["every tool"; 2], false),
        (
            &["--no-isolation"][..],
            ["edits, and commands in its own sandbox", "edits"],
            true,
        ),
    ] {
        let code = Code::new(FILE_IS_THERE, "");
        code.project.file("with/AGENTS.md", "Write made.txt.\n");
        let agent = |id: &str, kind: &str| {
            format!(
                "  - {{id: {id}, type: {kind}, command: [sh, {CODING}, build, {SESSIONS}/{kind}.jsonl]}}\n"
            )
        };
        code.project.file(
            "evalreport.yaml",
            format!(
                "version: 1\nagents:\n{}{}approaches:\n  - {{id: one, agent: first, files: with}}\n  - {{id: two, agent: second, files: with}}\n",
                agent("first", "codex"),
                agent("second", "gemini")
            ),
        );
        let runs = [&["--runs", "2"], more].concat();
        code.started(&["s", "--approach", "one,two"], &runs, &[]);
        for ran in code.all() {
            ran.ended("completed", "");
            let of_arm = usize::from(ran.header["approach"] == "two");
            assert_eq!(ran.header["resources"]["rights"], rights[of_arm]);
        }
        let compared = code
            .project
            .run(["compare", "s", "--format", "json"])
            .json();
        let text = compared.to_string();
        assert_eq!(text.contains("rights of the agent"), is_named, "{text}");
    }
}

#[test]
fn an_approach_is_tried_with_and_without_a_folder() {
    let code = Code::new(FILE_IS_THERE, "");
    code.project.file("tips/AGENTS.md", "Write made.txt.\n");
    asking(&code, "codex", "  - {id: plain, agent: coder}\n");
    code.started(
        &["s", "--approach", "plain,plain+tips"],
        &["--runs", "2"],
        &[],
    );
    let mut passed: Vec<(String, u64)> = code
        .all()
        .iter()
        .map(|ran| {
            (
                ran.header["approach"].as_str().expect("a name").to_owned(),
                ran.header["shared_tests_passed"]
                    .as_u64()
                    .expect("it was tested"),
            )
        })
        .collect();
    passed.sort();
    let expected = [
        ("plain", 0),
        ("plain", 0),
        ("plain+tips", 1),
        ("plain+tips", 1),
    ];
    assert_eq!(
        passed,
        expected.map(|(name, passed)| (name.to_owned(), passed))
    );
    let refused = code
        .project
        .run(["run", "s", "--approach", "plain+nothing"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused
            .stderr
            .contains("the files of the approach `plain+nothing` in nothing cannot be used"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_batch_does_not_go_on_with_other_files() {
    let code = Code::new(FILE_IS_THERE, "");
    code.project.file("tips/AGENTS.md", "Write made.txt.\n");
    asking(
        &code,
        "codex",
        "  - {id: plain, agent: coder, files: tips}\n",
    );
    code.started(&["s", "--approach", "plain"], &["--runs", "2"], &[]);
    let id = code.all()[0].header["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let batch = code.all()[0].header["batch_id"]
        .as_str()
        .expect("a batch")
        .to_owned();
    fs::remove_file(code.project.path(&format!("results/{id}.json"))).expect("it is there");
    code.project.file("tips/AGENTS.md", "Something else.\n");
    let refused = code.project.run(["run", "--resume", &batch]);
    assert!(
        refused.code == 2 && refused.stderr.contains("set up in another way"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_coding_agent_needs_no_entry() {
    let code = Code::new(FILE_IS_THERE, "");
    let program = "#!/bin/sh\ncat > made.txt\nprintf '%s ' \"$@\" > arguments.txt\necho '{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"Done.\"}}'\necho '{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":10,\"cached_input_tokens\":4,\"output_tokens\":2}}'\n";
    code.project
        .file("programs/codex", program)
        .file("evalreport.yaml", "version: 1\n");
    fs::set_permissions(
        code.project.path("programs/codex"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("its own file");
    let path = format!(
        "{}:{}",
        code.project.path("programs").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    code.started(
        &[
            "s",
            "--approach",
            "oneshot",
            "--agent",
            "codex",
            "--model",
            "m",
        ],
        &[],
        &[("PATH", &path)],
    );
    let ran = code.all().remove(0);
    ran.ended("completed", "");
    ran.shared(1, 1);
    assert_eq!(
        (&ran.header["agent"], &ran.header["model"]),
        (&"codex".into(), &"m".into())
    );
    assert_eq!(
        (
            ran.header["input_tokens"].as_u64(),
            ran.header["usage"]["cache_read"].as_u64()
        ),
        (Some(10), Some(4))
    );
    // Its own sandbox cannot be made inside another one.
    let is_confined = ran.header["isolation"]
        .as_str()
        .is_some_and(|said| said.starts_with("files"));
    let sandbox = if is_confined {
        "danger-full-access"
    } else {
        "workspace-write"
    };
    let expected = format!("exec --sandbox {sandbox} --json --skip-git-repo-check --model m ");
    assert_eq!(ran.kept("arguments.txt"), Some(expected.as_str()));
    let refused = code
        .project
        .run(["run", "s", "--approach", "oneshot", "--agent", "codexx"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("codexx"),
        "{}",
        refused.stderr
    );
}
