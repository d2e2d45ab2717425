//! The suite of the document that fixed the format, unchanged: literal port, pip, uvicorn by name, pytest and curl.

use super::*;

const SUITE: &str = include_str!("../../fixtures/seed-suite.yaml");

const TESTS: &str = r#"
import os
import urllib.request

import pytest


def test_health():
    assert urllib.request.urlopen(os.environ["EVAL_BASE_URL"] + "/health", timeout=5).status == 200


@pytest.mark.parametrize("number", [1, 2])
def test_numbers(number):
    assert number == 1


@pytest.mark.skip(reason="later")
def test_later():
    pass


@pytest.fixture
def broken():
    raise RuntimeError("not set up")


def test_error(broken):
    pass
"#;

/// The workspace's own `uvicorn` spares the installation of the real one.
const APPROACH: &str = r#"
echo pytest > requirements.txt
mkdir uvicorn tests
cat "$EVAL_SERVER" > uvicorn/__main__.py
sed -i 's/sys.argv\[1\]/sys.argv[3]/; s/"\/die"/"\/docs-not"/' uvicorn/__main__.py
echo 'app = None' > main.py
printf 'def test_mine():\n    assert True\n\n\ndef test_not_mine():\n    assert False\n' > tests/test_own.py
"#;

#[test]
fn the_seeds_suite_runs_unchanged() {
    needs!(crate::needs::PYTEST);
    let code = Code::new("tests: {shared: ['true']}\n", APPROACH);
    let folder = "evals/suites/tasktracker";
    code.project
        .file(&format!("{folder}/suite.yaml"), SUITE)
        .file(
            "examples/task_tracker_requirements.md",
            "Make a task tracker.\n",
        );
    code.project
        .file(&format!("{folder}/tests/test_tasks.py"), TESTS);
    code.project.file("tools/server.py", SERVER);
    let server = code.project.path("tools/server.py").display().to_string();
    // What pip needs on this machine, whatever that is.
    let is_pips = |name: &str| {
        name.starts_with("PIP_")
            || name == "HOME"
            || name.contains("CERT")
            || name.to_lowercase().ends_with("_proxy")
    };
    let pips: Vec<(String, String)> = std::env::vars().filter(|(name, _)| is_pips(name)).collect();
    let pips = pips
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    // A Python with pytest: the suite's tests do not run with what the approach asks for.
    let python = crate::suites::python();
    let path = format!(
        "{}:{}",
        python.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let environment: Vec<(&str, &str)> = pips
        .chain([("EVAL_SERVER", server.as_str()), ("PATH", path.as_str())])
        .collect();
    code.started(&["tasktracker", "--approach", "a"], &[], &environment);
    let ran = &code.all()[0];
    ran.ended("completed", "");
    ran.shared(2, 4);
    let item = |name: &str| format!("evals/suites/tasktracker/tests/test_tasks.py::{name}");
    let found: BTreeMap<&str, &str> = ran.items("shared_tests").into_iter().collect();
    let expected = [
        ("test_health", "pass"),
        ("test_numbers[1]", "pass"),
        ("test_numbers[2]", "fail"),
        ("test_later", "skipped"),
        ("test_error", "error"),
    ]
    .map(|(name, status)| (item(name), status));
    assert_eq!(
        found,
        expected
            .iter()
            .map(|(name, status)| (name.as_str(), *status))
            .collect()
    );
    assert_eq!(ran.counts("own"), [Some(1), Some(2)]);
    let functional: Vec<&str> = ran
        .items("functional_tests")
        .iter()
        .map(|item| item.1)
        .collect();
    assert_eq!(functional, ["pass", "pass"]);
    assert!(
        code.project
            .files("evals")
            .iter()
            .all(|path| !path.contains("__pycache__"))
    );
}
