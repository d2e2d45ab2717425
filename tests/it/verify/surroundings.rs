//! What a verification meets: servers that stay, names that would be commands, secrets, a folder within a repository, a stop.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Checkout, is_running};
use crate::programs::Start as _;
use crate::support::BINARY;

/// Says that it is ready as Vite does, and stays.
const SERVER: &str = "setTimeout(() => console.log('\\n  \\x1b[32mVITE\\x1b[39m v5.0.0  ready in 120 ms\\n\\n  ➜  Local:   http://localhost:5173/\\n'), 100);\n\
                      setInterval(() => {}, 1000);\n";

fn frontend(server: &str) -> Checkout {
    Checkout::new(&[
        (
            "package.json",
            "{\"name\": \"app\", \"version\": \"0.0.0\", \"scripts\": {\"dev\": \"node server.js\"}, \"devDependencies\": {\"vite\": \"^5.0.0\"}}\n",
        ),
        ("vite.config.js", "export default {};\n"),
        ("server.js", server),
        ("src/main.js", "export const a = 1;\n"),
    ])
}

#[test]
fn a_server_that_is_ready_has_passed_and_is_stopped() {
    needs!("node", "npm");
    let checkout = frontend(SERVER);
    checkout.write("src/main.js", "export const a = 2;\n");
    let begin = Instant::now();
    let verified = checkout.verify("Show the other number on the page", "smoke");
    verified.ended(0, "done_success", "stop");
    assert_eq!(
        (verified.text("stack"), verified.text("smokeTest")),
        ("vite_frontend", "npm run dev")
    );
    assert_eq!(
        (verified.commands(), verified.outcomes()),
        (vec!["npm run dev"], vec!["passed"])
    );
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
    let app = checkout.project.path("").display().to_string();
    assert!(!is_running(&app), "the server is stopped");
}

#[test]
fn a_server_that_ends_with_an_error_has_failed() {
    needs!("node", "npm");
    let checkout = frontend(
        "throw new Error('Failed to resolve import \"./gone.js\" from \"src/main.js\"');\n",
    );
    checkout.write("src/main.js", "import './gone.js';\n");
    let verified = checkout.verify("Fix Vite import errors", "smoke");
    assert_eq!(
        (verified.code, verified.outcomes()[0]),
        (1, "failed"),
        "{:#}",
        verified.answer
    );
}

#[test]
fn a_dev_server_that_ends_well_without_having_been_ready_has_failed() {
    needs!("node", "npm");
    let checkout = frontend(SERVER);
    // A mistake in the project, said in passing.
    checkout.write("server.js", "console.log('no pages found, bye');\n");
    let verified = checkout.verify("Show the other number on the page", "smoke");
    verified.ended(1, "not_done", "continue");
    assert_eq!(
        (verified.commands(), verified.outcomes()),
        (vec!["npm run dev"], vec!["failed"])
    );
    assert_eq!(
        verified.scopes(),
        [("blocking", "ended before it was ready: npm run dev")]
    );
    assert_eq!(verified.answer["checks"][0]["baseline"], "passed");
}

/// The last line that a program says before it ends counts, however soon it ends.
#[test]
fn a_line_that_is_declared_has_to_come() {
    for (script, ready, outcome) in [
        ("echo bye", "{line: listening, seconds: 20}", "failed"),
        ("echo listening", "{line: listening, seconds: 20}", "passed"),
        ("echo bye", "{seconds: 20}", "passed"),
        ("echo listening; exit 1", "{seconds: 20}", "failed"),
    ] {
        let checkout = Checkout::new(&[("a.txt", "a\n")])
            .config(&format!("{{smoke_test: {script}, ready: {ready}}}"));
        checkout.write("a.txt", "b\n");
        let verified = checkout.verify("Let it listen", "smoke");
        assert_eq!(
            verified.outcomes(),
            [outcome],
            "{script} {ready}: {:#}",
            verified.answer
        );
    }
}

#[test]
fn a_server_that_is_never_ready_is_not_waited_for_for_ever() {
    let checkout = Checkout::new(&[("Makefile", "all:\n"), ("a.txt", "a\n")])
        .config("{smoke_test: sleep 600, ready: {line: listening, seconds: 1}}");
    checkout.write("a.txt", "b\n");
    let begin = Instant::now();
    let verified = checkout.verify("Let it listen", "strict");
    assert_eq!(
        (verified.code, verified.outcomes()[0]),
        (1, "timed_out"),
        "{:#}",
        verified.answer
    );
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn names_of_files_are_neither_commands_nor_markup() {
    needs!("make");
    let names = [
        "tests/test_$(touch pwned).py",
        "tests/test_'; touch pwned; '.py",
        "tests/test_\u{1b}[31m.py",
        "tests/test_a\ntouch pwned.py",
    ];
    let checkout = Checkout::new(&[
        (
            "pyproject.toml",
            "[project]\nname = \"app\"\nversion = \"0\"\n\n[tool.pytest.ini_options]\n",
        ),
        ("tests/test_a.py", "def test_a():\n    pass\n"),
    ]);
    for name in names {
        checkout.write(name, "def test_b():\n    pass\n");
    }
    for profile in ["fast", "strict"] {
        let verified = checkout.verify("Add a new test", profile);
        assert!(
            verified.text("terminalStatus").starts_with("done_"),
            "{:#}",
            verified.answer
        );
        for name in names {
            assert!(
                verified.answer["changed"]
                    .as_array()
                    .expect("a list")
                    .contains(&name.into()),
                "{name:?}"
            );
        }
    }
    for format in ["table", "markdown", "csv"] {
        let output = checkout.run(
            &[
                "--goal",
                "Add a new test \u{1b}[2J",
                "--profile",
                "fast",
                "--format",
                format,
            ],
            &[],
        );
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
    }
    let files = checkout.project.files("");
    assert!(
        !files.iter().any(|file| file.ends_with("pwned")),
        "{files:?}"
    );
}

#[test]
fn a_plan_runs_nothing() {
    needs!("make");
    let checkout = Checkout::new(&[("Makefile", "test:\n\ttouch ran\n"), ("a.txt", "a\n")]);
    checkout.write("a.txt", "b\n");
    let plan = checkout.verify_with(&[
        "--goal",
        "Change the letter",
        "--profile",
        "strict",
        "--dry-run",
    ]);
    assert_eq!(
        (plan.code, plan.text("terminalStatus"), plan.outcomes()),
        (0, "", vec![""]),
        "{:#}",
        plan.answer
    );
    assert_eq!(plan.commands(), ["make test"]);
    assert!(!checkout.app().join("ran").exists());
    checkout
        .verify("Change the letter", "strict")
        .ended(0, "done_success", "stop");
    assert!(checkout.app().join("ran").exists());
}

/// Its settings name programs that git would start to compare files, to show them and to fetch what is missing.
#[test]
fn a_plan_runs_nothing_that_the_checkout_names() {
    let checkout = Checkout::new(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/lib.rs", ""),
        (".gitattributes", "* filter=x diff=x\n"),
    ]);
    let mark = checkout.project.path("ran");
    for setting in [
        "filter.x.clean",
        "filter.x.process",
        "diff.x.textconv",
        "diff.x.command",
        "diff.external",
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
    ] {
        checkout.git(&[
            "config",
            setting,
            &format!("echo {setting} >> '{}'; cat", mark.display()),
        ]);
    }
    checkout.write("src/lib.rs", "pub fn a() {}\n");
    let plan = checkout.verify_with(&[
        "--goal",
        "Add a function",
        "--profile",
        "strict",
        "--dry-run",
    ]);
    assert_eq!(plan.code, 0, "{}", plan.answer);
    assert!(
        !mark.exists(),
        "{}",
        std::fs::read_to_string(&mark).unwrap_or_default()
    );
}

#[test]
fn secrets_and_hooks_do_not_reach_the_checks() {
    needs!("make");
    let script = "test -z \"$MY_API_KEY\" && test -z \"$GIT_DIR\" && test \"$CI\" = true\n";
    let checkout = Checkout::new(&[
        ("Makefile", "test:\n\t@sh check.sh\n"),
        ("check.sh", script),
        ("a.txt", "a\n"),
    ]);
    checkout.write("a.txt", "b\n");
    // As from a hook of another repository.
    let environment = [
        ("MY_API_KEY", "secret"),
        ("GIT_DIR", "/nonexistent"),
        ("GIT_INDEX_FILE", "/nonexistent/index"),
    ];
    let output = checkout.run(
        &["--goal", "g", "--profile", "strict", "--format", "json"],
        &environment,
    );
    assert_eq!(output.json()["terminalStatus"], "done_success");
    let hook = checkout.app().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    let hooked = checkout.project.path("hooked");
    fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", hooked.display())).expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))
        .expect("it can be made executable");
    checkout
        .verify("g", "strict")
        .ended(0, "done_success", "stop");
    assert!(!hooked.exists());
}

#[test]
fn a_folder_within_a_repository_is_one_by_itself() {
    needs!("make");
    let script = "test -e here.txt && grep -q b letter.txt\n";
    let checkout = Checkout::new(&[
        ("service/Makefile", "test:\n\t@sh check.sh\n"),
        ("service/check.sh", script),
        ("service/here.txt", ""),
        ("service/letter.txt", "a\n"),
        ("top.txt", "a\n"),
    ]);
    checkout
        .write("service/letter.txt", "b\n")
        .write("top.txt", "b\n")
        .write("service/new.txt", "");
    let scratch = checkout.scratch.path().display().to_string();
    let arguments = [
        "verify",
        "app/service",
        "--scratch",
        &scratch,
        "--goal",
        "Write another letter",
        "--profile",
        "strict",
        "--format",
        "json",
    ];
    let verified = checkout.project.run(arguments).json();
    checkout.nothing_remains();
    assert_eq!(
        verified["changed"],
        serde_json::json!(["letter.txt", "new.txt"])
    );
    assert_eq!(
        (
            &verified["checks"][0]["baseline"],
            &verified["checks"][0]["outcome"]
        ),
        (&"failed".into(), &"passed".into())
    );
}

#[test]
fn a_stop_leaves_nothing_behind() {
    needs!("make");
    let checkout = Checkout::new(&[
        ("Makefile", "test:\n\ttouch started; sleep 600\n"),
        ("a.txt", "a\n"),
    ]);
    checkout.write("a.txt", "b\n");
    let scratch = checkout.scratch.path().display().to_string();
    let mut command = Command::new(BINARY);
    command.args([
        "verify",
        "app",
        "--scratch",
        &scratch,
        "--goal",
        "g",
        "--profile",
        "strict",
    ]);
    command
        .current_dir(checkout.project.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut verify = command.start();
    // The check runs in the tree as it was.
    let begin = Instant::now();
    while !has_started(checkout.scratch.path()) {
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "the check was not started"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    verify.interrupt();
    assert_eq!(verify.wait().code(), Some(130));
    checkout.nothing_remains();
    assert!(!is_running(
        &checkout.project.path("").display().to_string()
    ));
    assert!(!is_running(&scratch));
}

#[test]
fn wrong_arguments_are_refused() {
    let checkout = Checkout::new(&[("a.txt", "a\n")]);
    let app = checkout.app().display().to_string();
    for (arguments, message) in [
        (vec!["verify", "app"], "--goal <TEXT>"),
        (vec!["verify", "app", "--goal", " "], "the goal is empty"),
        (
            vec!["verify", "none", "--goal", "g"],
            "no such file or folder: none",
        ),
        (
            vec!["verify", "app/a.txt", "--goal", "g"],
            "app/a.txt is not a folder",
        ),
        (
            vec!["verify", "app", "--goal", "g", "--base", "no-such\u{1b}"],
            "there is no revision `no-such␛`",
        ),
        (
            vec!["verify", "app", "--goal", "g", "--base=--help"],
            "there is no revision `--help`",
        ),
        (
            vec!["verify", "app", "--goal", "g", "--profile", "slow"],
            "invalid value 'slow'",
        ),
        (
            vec!["verify", "app", "--goal", "g", "--file", "../x"],
            "../x is not below",
        ),
        (
            vec!["verify", "app", "--goal", "g", "--format", "junit"],
            "only `gate` prints JUnit XML",
        ),
        (
            vec!["verify", "app", "--goal", "g", "--scratch", &app],
            "is inside",
        ),
    ] {
        let output = checkout.project.run(arguments.iter().copied());
        assert!(
            output.refusal().contains(message),
            "{arguments:?}: {}",
            output.stderr
        );
    }
}

fn has_started(scratch: &std::path::Path) -> bool {
    walkdir::WalkDir::new(scratch)
        .into_iter()
        .filter_map(Result::ok)
        .any(|entry| entry.file_name() == "started")
}
