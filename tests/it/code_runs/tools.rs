//! What this machine or the suite owes a run is not held against the approach.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::programs::Start as _;

/// A folder with a few programs and no others.
fn bare(project: &Project, programs: &[&str]) -> String {
    for program in programs {
        let found = std::process::Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .finish();
        let found = String::from_utf8(found.stdout).expect("a path");
        // What a version manager puts there finds its programs by PATH.
        let real = if *program == "python3" {
            let said = std::process::Command::new("python3")
                .args(["-c", "import sys; print(sys.executable)"])
                .finish();
            String::from_utf8(said.stdout).expect("a path")
        } else {
            found
        };
        project.file(&format!("bare/{program}"), "");
        fs::remove_file(project.path("bare").join(program)).expect("just made");
        std::os::unix::fs::symlink(real.trim(), project.path("bare").join(program))
            .expect("a link");
    }
    project.path("bare").display().to_string()
}

#[test]
fn a_tool_that_is_missing_is_the_machines_fault() {
    needs!("python3");
    // Before anything is paid for, nobody sees what a line of several commands or a file of the suite needs.
    for (suite, cause) in [
        (
            "tests: {shared: ['pytest suites/s || exit 1']}\n",
            "`pytest` is not on this machine",
        ),
        (
            "tests: {shared: ['suites/s/plain.sh']}\n",
            "`suites/s/plain.sh` of the suite cannot be started: Permission denied",
        ),
        (
            "tests: {shared: ['suites/s/zsh.sh']}\n",
            "`suites/s/zsh.sh` of the suite cannot be started: not found",
        ),
        (
            "tests: {shared: ['sh suites/s/calls.sh']}\n",
            "`pytest` is not on this machine",
        ),
        (
            "tests: {shared: ['./suites/s/gone.sh']}\n",
            "`./suites/s/gone.sh` of the suite cannot be started: not found",
        ),
        // Only well-known tools are looked for: any other word may be made by what comes before.
        (
            "tests: {shared: ['mytool-zz --check']}\n",
            "`mytool-zz` is not on this machine",
        ),
        (
            "tests: {shared: ['cat suites/s/order.md | jqq .']}\n",
            "`jqq` is not on this machine",
        ),
        (
            "setup: ['poetryy install']\ntests: {shared: ['true']}\n",
            "`poetryy` is not on this machine",
        ),
    ] {
        let (code, path) = without_tools(suite);
        let ran = code.run_with(
            &[],
            &[("PATH", &path), ("PYTHONPATH", &no_pytest(&code.project))],
        );
        ran.ended("infra", cause);
        ran.is_untested();
        let compare = code.project.run(["compare", "s"]);
        assert!(!compare.stdout.contains("winner"), "{}", compare.stdout);
    }
}

#[test]
fn a_tool_that_is_missing_is_said_before_anything_is_started() {
    needs!("python3");
    for (suite, tool) in [
        (
            "tests: {shared: ['pytest suites/s']}\n",
            "`pytest` is not on PATH",
        ),
        (
            "tests: {shared: ['true', 'cd suites && node --test']}\n",
            "`node` is not on PATH",
        ),
        (
            "setup: ['npm ci']\ntests: {shared: ['true']}\n",
            "`npm` is not on PATH",
        ),
        (
            "server: {command: 'node app.js {port}'}\ntests: {shared: ['true']}\n",
            "`node` is not on PATH",
        ),
    ] {
        let (code, path) = without_tools(suite);
        let refused = code
            .project
            .run_in(["run", "s", "--approach", "a"], &[("PATH", path.as_str())]);
        assert!(
            refused.refusal().contains(tool),
            "{suite}: {}",
            refused.stderr
        );
        assert_eq!(
            code.project.files("results"),
            [] as [String; 0],
            "nothing was started"
        );
    }
}

/// A suite on a machine with few programs.
fn without_tools(suite: &str) -> (Code, String) {
    let code = Code::new(suite, "");
    let path = bare(&code.project, &["sh", "env", "cat", "python3", "sleep"]);
    code.project
        .file("suites/s/plain.sh", "true\n")
        .file("suites/s/calls.sh", "exec pytest suites/s\n")
        .file("suites/s/zsh.sh", "#!/no/such/shell\n");
    fs::set_permissions(
        code.project.path("suites/s/zsh.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .expect("ours");
    (code, path)
}

/// A folder in which pytest says that it is not there.
fn no_pytest(project: &Project) -> String {
    project.file("blocked/sitecustomize.py", "import sys\nsys.modules['pytest'] = None\nimport importlib.machinery\n\nclass Blocked:\n    def find_spec(self, name, path=None, target=None):\n        if name == 'pytest':\n            raise ModuleNotFoundError(\"No module named 'pytest'\", name='pytest')\n\nsys.modules.pop('pytest')\nsys.path = [p for p in sys.path if 'site-packages' not in p and 'dist-packages' not in p]\n");
    project.path("blocked").display().to_string()
}

#[test]
fn a_program_that_the_approach_was_to_make_is_its_own_fault() {
    for suite in [
        "tests: {shared: ['cd \"$EVAL_WORKSPACE\" && ./app --version']}\n",
        // The setup could have installed it, if it had been made.
        "setup: ['true']\ntests: {shared: ['taskcli list']}\n",
        "setup: ['true']\nserver: {command: 'uvicorn main:app --port {port}'}\ntests: {shared: ['false']}\n",
        "setup: ['./configure']\ntests: {shared: ['false']}\n",
    ] {
        let ran = Code::new(suite, "").run();
        assert_eq!(ran.header["status"], "completed", "{suite}");
        ran.shared(0, 1);
    }
}

#[test]
fn pytest_is_lent_to_an_approach_that_does_not_ask_for_it() {
    needs!(crate::needs::PYTEST);
    let suite = "language: python\ntests: {shared: ['pytest suites/s/tests'], own: ['cd \"$EVAL_WORKSPACE\" && python -m pytest']}\n";
    let approach = "printf 'def answer():\\n    return 42\\n' > app.py\nprintf 'def test_own():\\n    pass\\n' > test_own.py\n: > requirements.txt\n";
    let code = Code::new(suite, approach);
    code.project.file(
        "suites/s/tests/test_app.py",
        "import os, sys\nsys.path.insert(0, os.environ['EVAL_WORKSPACE'])\nimport app\n\ndef test_answer():\n    assert app.answer() == 42\n\n\
         def test_alone():\n    # Nothing else of this machine's Python is lent.\n    import importlib.util\n    \
         assert importlib.util.find_spec('flask') is None\n    assert 'venv' in sys.prefix\n",
    );
    // A Python with pytest and flask, first on the path.
    let python = crate::suites::python();
    let path = format!(
        "{}:{}",
        python.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let ran = code.run_with(&[], &[("PATH", &path)]);
    ran.ended("completed", "");
    ran.shared(2, 2);
    assert_eq!(ran.counts("own"), [Some(1), Some(1)]);
}

#[test]
fn the_suites_tests_run_with_the_pytest_of_the_harness() {
    needs!(crate::needs::PYTEST);
    let suite = "language: python\nsetup: ['cp -R \"$EVAL_WORKSPACE\"/pytest \"$VIRTUAL_ENV\"/lib/python3*/site-packages/ || true']\n\
                 tests: {shared: ['pytest suites/s/tests', 'python -m pytest suites/s/tests']}\n";
    // The approach installs another pytest, which does not start.
    let code = Code::new(
        suite,
        "mkdir pytest\necho 'raise SystemExit(1)' | tee pytest/__init__.py > pytest/__main__.py\n",
    );
    code.project
        .file("suites/s/tests/test_app.py", "def test_one():\n    pass\n");
    let python = crate::suites::python();
    let path = format!(
        "{}:{}",
        python.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let ran = code.run_with(&[], &[("PATH", &path)]);
    ran.ended("completed", "");
    ran.shared(2, 2);
    // Without a pytest of the harness, nothing depends on what an approach installs.
    let lone = Code::new(
        suite,
        "mkdir pytest\necho 'raise SystemExit(0)' | tee pytest/__init__.py > pytest/__main__.py\n",
    );
    let path = bare(
        &lone.project,
        &["sh", "cat", "cp", "mkdir", "tee", "python3"],
    );
    let real = fs::read_link(lone.project.path("bare/python3")).expect("a link");
    let path = program(
        &lone.project,
        "python3",
        &format!("#!/bin/sh\nexec {} -S \"$@\"\n", real.display()),
    )
    .replace(&std::env::var("PATH").expect("a path"), &path);
    let home = lone.project.path("home").display().to_string();
    let scratch = lone.scratch.path().display().to_string();
    let arguments = ["run", "s", "--approach", "a", "--scratch", &scratch];
    let ran = lone.project.run_in(
        arguments,
        &[("PATH", path.as_str()), ("HOME", home.as_str())],
    );
    assert!(
        ran.refusal().contains("has no module `pytest`"),
        "{}",
        ran.stderr
    );
}

/// The program has what setup installed, whoever starts it, and so has a test that imports it. No other test has.
#[test]
fn the_program_finds_its_packages_wherever_it_runs() {
    needs!(crate::needs::PYTEST);
    let suite = "language: python\nsetup: ['cp -R needed tool \"$VIRTUAL_ENV\"/lib/python3*/site-packages/', 'cp tool/run \"$VIRTUAL_ENV/bin/our-tool\"']\n\
                 tests: {shared: ['pytest suites/s/tests']}\n";
    let approach = "mkdir needed tool\necho 'x = 7' > needed/__init__.py\necho 'import needed; print(needed.x)' | tee main.py > needed/__main__.py\n\
                    printf '#!/bin/sh\\necho 7\\n' > tool/run\nchmod +x tool/run\n";
    let tests = r#"
import os, subprocess, sys

import pytest

WORKSPACE = os.environ["EVAL_WORKSPACE"]


@pytest.mark.parametrize("command", [
    [sys.executable, WORKSPACE + "/main.py"],
    ["python", WORKSPACE + "/main.py"],
    ["python3", "-B", WORKSPACE + "/main.py"],
    [os.environ["EVAL_PYTHON"], WORKSPACE + "/main.py"],
    [sys.executable, "-m", "needed"],
    ["sh", "-c", "cd \"$EVAL_WORKSPACE\" && python -c 'import needed; print(needed.x)'"],
    ["our-tool"],
])
def test_started(command, tmp_path):
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "7\n"


def test_imported(monkeypatch, capsys):
    with pytest.raises(ImportError):
        import needed
    monkeypatch.syspath_prepend(WORKSPACE)
    import main
    assert capsys.readouterr().out == "7\n"
"#;
    let code = Code::new(suite, approach);
    code.project.file("suites/s/tests/test_app.py", tests);
    let python = crate::suites::python();
    let path = format!(
        "{}:{}",
        python.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let ran = code.run_with(&[], &[("PATH", &path)]);
    ran.ended("completed", "");
    ran.shared(8, 8);
}

#[test]
fn a_command_that_sources_a_file_of_the_setup_finds_it() {
    let suite = "setup: ['mkdir venv && echo SEEN=sourced > venv/activate', 'source venv/activate && test \"$SEEN\" = sourced']\n\
                 tests: {shared: ['source venv/activate && test \"$SEEN\" = sourced', '[[ -n x ]]']}\n";
    let ran = Code::new(suite, "true\n").run();
    ran.ended("completed", "");
    ran.shared(2, 2);
    let ran = Code::new(
        "tests: {shared: ['source venv/activate && true']}\n",
        "true\n",
    )
    .run();
    ran.ended("infra", "`venv/activate` of the suite cannot be started");
}

#[test]
fn a_tester_that_is_not_there_is_said_before_it_costs() {
    let code = Code::new("type: web\n", "touch \"$OUT/asked\"\n");
    let out = tempfile::tempdir().expect("a folder");
    let path = bare(&code.project, &["sh", "touch"]);
    let output = code.project.run_in(
        ["run", "s", "--approach", "a"],
        &[
            ("PATH", path.as_str()),
            ("OUT", &out.path().display().to_string()),
        ],
    );
    assert!(
        output
            .refusal()
            .contains("program `ralph` not found on PATH"),
        "{}",
        output.stderr
    );
    assert!(!out.path().join("asked").exists());
}

#[test]
fn a_tester_that_finds_no_suite_says_nothing_about_the_approach() {
    for (said, code, status, error) in [
        ("Suite not found: s", 1, "infra", "found no suite"),
        ("Tests: 0/0 passed", 0, "completed", ""),
    ] {
        let ran = {
            let run = Code::new("type: cli\n", "true\n");
            let path = program(
                &run.project,
                "ralph",
                &format!("#!/bin/sh\necho '{said}'\nexit {code}\n"),
            );
            run.run_with(&[], &[("PATH", &path)])
        };
        ran.ended(status, error);
        if status == "completed" {
            // No test was found.
            ran.shared(0, 1);
            assert!(
                ran.items
                    .iter()
                    .any(|item| item.to_string().contains("no test")),
                "{:?}",
                ran.items
            );
        }
    }
}

#[test]
fn a_run_knows_which_versions_tested_it() {
    let tool = "#!/bin/sh\n[ \"$1\" = --version ] && printf '\\n  \\033[1mjest 29.7.0\\nmore\\n' && exit 0\necho '2 passed, 1 failed'\n";
    let code = Code::new("tests: {shared: ['jest suites/s', 'sh -c true']}\n", "");
    code.project.file("tools/jest", tool);
    fs::set_permissions(
        code.project.path("tools/jest"),
        fs::Permissions::from_mode(0o755),
    )
    .expect("ours");
    let path = format!(
        "{}:{}",
        code.project.path("tools").display(),
        std::env::var("PATH").expect("a path")
    );
    let ran = code.run_with(&[], &[("PATH", &path)]);
    assert_eq!(
        ran.header["resources"]["tools"],
        serde_json::json!({"jest": "jest 29.7.0"})
    );
    assert!(
        ran.header["resources"]["time_limit"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0),
        "{}",
        ran.header
    );
    let shown = code
        .project
        .run(["show", ran.header["id"].as_str().expect("an id")]);
    assert!(shown.stdout.contains("jest 29.7.0"), "{}", shown.stdout);
}

#[test]
fn asking_for_versions_takes_no_time_from_the_tests() {
    let tool =
        "#!/bin/sh\n[ \"$1\" = --version ] && sleep 4 && exit 0\necho '2 passed, 1 failed'\n";
    let code = Code::new("timeout: 3s\ntests: {shared: ['jest suites/s']}\n", "");
    let path = program(&code.project, "jest", tool);
    let ran = code.run_with(&[], &[("PATH", &path)]);
    ran.ended("completed", "");
    ran.shared(2, 3);
}

#[test]
fn the_version_of_an_agents_program_is_asked_for_once_in_a_plan_and_takes_no_time_from_the_tests() {
    let claude = "#!/bin/sh\n[ \"$1\" != --version ] || { echo asked >> \"$SEEN/versions\"; sleep 4; echo 9.8.7; exit; }\n\
        echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"result\":\"Done.\"}'\n";
    let code = Code::new("timeout: 3s\ntests: {shared: ['true']}\n", "");
    code.project.file("evalreport.yaml", "version: 1\n");
    let path = program(&code.project, "claude", claude);
    let seen = tempfile::tempdir().expect("a folder");
    let code = code.sharing(seen.path());
    let environment = [
        ("PATH", path.as_str()),
        ("SEEN", &seen.path().display().to_string()),
    ];
    code.started(
        &["s", "--approach", "oneshot"],
        &["--runs", "2"],
        &environment,
    );
    for ran in code.all() {
        ran.ended("completed", "");
        ran.shared(1, 1);
        assert_eq!(ran.header["resources"]["agent_version"], "9.8.7");
    }
    assert_eq!(
        fs::read_to_string(seen.path().join("versions")).expect("it was asked"),
        "asked\n"
    );
}
