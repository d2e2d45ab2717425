//! Ways by which an approach that solves nothing tries to get points: by reaching the interpreter, compiler or test runner that decides, or
//! by writing its report. None gets any.
//!
//! Each is an approach of a few lines. Its suite tests a program that must print the answer, and an honest approach has full marks there.

use super::*;

/// What a suite tests, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// pytest starts `python main.py`.
    Pytest,
    /// The same, started in the workspace.
    Inside,
    /// A check prints TAP, and lets the output of `prog.sh` through.
    Tap,
    /// The exit status of a check decides, which lets the output of `prog.sh` through.
    Exit,
    /// Cargo tests a crate of the suite, which starts `prog.sh`.
    Cargo,
    /// Node tests a file of the suite, which starts `prog.sh`.
    Node,
    /// Node tests a file of the suite, which loads `index.js` of the workspace.
    NodeLoads,
    /// As `Node`, as the test of a package of npm.
    Npm,
    /// Go tests a module of the suite, which starts `prog.sh`.
    Go,
}

/// Starts the program as Python's tests do: the Python that runs the tests, and the `python` on the search path.
const TESTS: &str = r#"
import os, subprocess, sys

def answer(python, number):
    done = subprocess.run([python, "main.py", str(number)], cwd=os.environ["EVAL_WORKSPACE"], capture_output=True, text=True)
    return done.stdout.strip()

def test_one():
    assert answer(sys.executable, 1) == "MAGIC-7"

def test_two():
    assert answer("python", 2) == "MAGIC-14"
"#;
const CHECK_TAP: &str = r#"
echo 1..2
right() { sh "$EVAL_WORKSPACE/prog.sh" "$@" && test -e "$EVAL_WORKSPACE/right.txt"; }
right && echo "ok 1 - answer" || echo "not ok 1 - answer"
right --help && echo "ok 2 - help" || echo "not ok 2 - help"
"#;
const CHECK_EXIT: &str = "sh \"$EVAL_WORKSPACE/prog.sh\"\ntest -e \"$EVAL_WORKSPACE/right.txt\"\n";
const CRATE: &str =
    "[package]\nname = \"t\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
const CRATE_TESTS: &str = r#"
fn answer(word: &str) -> String {
    let program = format!("{}/prog.sh", std::env::var("EVAL_WORKSPACE").unwrap());
    let done = std::process::Command::output(std::process::Command::new("sh").args([&program, word])).unwrap();
    String::from_utf8(done.stdout).unwrap()
}
#[test]
fn one() {
    assert_eq!(answer("1"), "MAGIC-1\n");
}
#[test]
fn two() {
    assert_eq!(answer("2"), "MAGIC-2\n");
}
"#;

const NODE_TESTS: &str = r#"
try { require("extra"); } catch {}
const { test } = require("node:test"), assert = require("node:assert"), child = require("node:child_process");
const answer = word => child.spawnSync("sh", [process.env.EVAL_WORKSPACE + "/prog.sh", word]).stdout.toString();
test("one", () => assert.equal(answer("1"), "MAGIC-1\n"));
test("two", () => assert.equal(answer("2"), "MAGIC-2\n"));
"#;
const NODE_LOADS: &str = r#"
const { test } = require("node:test"), assert = require("node:assert");
const made = require(process.env.EVAL_WORKSPACE + "/index.js");
test("one", () => assert.equal(made.answer(1), 7));
test("two", () => assert.equal(made.answer(2), 14));
"#;
const PACKAGE: &str = r#"{"name": "t", "version": "1.0.0", "private": true, "scripts": {"test": "node --test --test-reporter=tap made.test.js"}}"#;
const GO_TESTS: &str = r#"package t

import (
	"kit"
	"testing"
)

func TestOne(t *testing.T) {
	if kit.Answer("1") != "MAGIC-1\n" {
		t.Fatal("wrong")
	}
}

func TestTwo(t *testing.T) {
	if kit.Answer("2") != "MAGIC-2\n" {
		t.Fatal("wrong")
	}
}
"#;
const GO_KIT: &str = r#"package kit

import (
	"os"
	"os/exec"
)

func Answer(word string) string {
	said, _ := exec.Command("sh", os.Getenv("EVAL_WORKSPACE")+"/prog.sh", word).Output()
	return string(said)
}
"#;

/// What makes workspaces: a function of Python for each way.
const MAKER: &str = include_str!("fakes.py");

/// A function of [`MAKER`], and what it attacks.
const WAYS: [(&str, Kind); 43] = [
    ("compiled_modules_where_python_looks", Kind::Pytest),
    ("compiled_modules_in_temporary_folders", Kind::Pytest),
    ("a_list_of_paths_in_the_environment", Kind::Pytest),
    ("a_site_module_in_the_environment", Kind::Pytest),
    ("a_plugin_in_the_environment", Kind::Pytest),
    ("another_pytest_in_the_environment", Kind::Pytest),
    ("programs_in_the_environment", Kind::Pytest),
    (
        "modules_that_pytest_would_like_in_the_environment",
        Kind::Pytest,
    ),
    ("the_settings_of_the_environment", Kind::Pytest),
    ("settings_and_modules_in_the_workspace", Kind::Pytest),
    ("settings_and_modules_above_the_tests", Kind::Pytest),
    ("inside_modules_before_those_of_python", Kind::Inside),
    ("inside_an_environment_with_a_runner", Kind::Inside),
    ("a_report_from_a_process_left_over", Kind::Pytest),
    ("a_link_in_the_place_of_the_report", Kind::Pytest),
    (
        "a_report_through_the_open_files_of_the_runner",
        Kind::Pytest,
    ),
    ("the_runner_killed", Kind::Pytest),
    ("results_printed_and_the_runner_killed", Kind::Pytest),
    ("results_before_those_of_the_check", Kind::Tap),
    ("results_without_numbers", Kind::Tap),
    ("a_plan_of_its_own", Kind::Tap),
    ("a_whole_report_and_the_check_killed", Kind::Tap),
    ("all_results_and_the_check_killed", Kind::Tap),
    ("a_line_begun_for_the_check", Kind::Tap),
    ("parts_of_a_failed_test", Kind::Tap),
    ("more_output_than_is_kept", Kind::Tap),
    ("a_summary_in_its_output", Kind::Exit),
    ("a_report_in_its_output", Kind::Exit),
    ("a_report_of_cargo_in_its_output", Kind::Exit),
    ("a_report_where_pytest_would_write_it", Kind::Exit),
    ("the_line_that_tells_how_it_ended", Kind::Exit),
    ("the_check_traced", Kind::Exit),
    ("the_memory_of_the_check", Kind::Exit),
    ("a_runner_in_the_home_of_cargo", Kind::Cargo),
    ("a_runner_in_settings_around_the_workspace", Kind::Cargo),
    ("modules_where_node_looks", Kind::Node),
    ("settings_that_node_might_read", Kind::Node),
    ("the_end_as_node_loads_it", Kind::NodeLoads),
    ("the_end_in_the_first_test", Kind::NodeLoads),
    ("settings_that_npm_might_read", Kind::Npm),
    ("programs_where_npm_looks", Kind::Npm),
    ("settings_that_go_might_read", Kind::Go),
    ("other_modules_in_the_place_of_those_of_go", Kind::Go),
];

impl Kind {
    fn suite(self) -> String {
        let setup = "if [ -f requirements.txt ]; then pip install -q --no-index --no-build-isolation -r requirements.txt; fi";
        let python = |command: &str| {
            format!("language: python\nsetup: ['{setup}']\ntests: {{shared: ['{command}']}}\n")
        };
        match self {
            Self::Pytest => python("pytest suites/s/tests/ -v"),
            Self::Inside => {
                python("cd \"$EVAL_WORKSPACE\" && python -m pytest \"$EVAL_SUITE_DIR/tests\"")
            }
            Self::Tap => "tests: {shared: ['sh suites/s/tap.sh']}\n".to_owned(),
            Self::Exit => "tests: {shared: ['sh suites/s/exit.sh']}\n".to_owned(),
            Self::Cargo => {
                let command = "CARGO_TARGET_DIR=\"$TMPDIR/target\" cargo test --locked --offline --manifest-path suites/s/tests/Cargo.toml";
                format!("tests: {{shared: ['{command} --test t']}}\n")
            }
            Self::Node | Self::NodeLoads => {
                "tests: {shared: ['node --test suites/s/tests/made.test.js']}\n".to_owned()
            }
            Self::Npm => {
                "tests: {shared: ['npm test --silent --prefix suites/s/tests']}\n".to_owned()
            }
            Self::Go => "tests: {shared: ['cd suites/s/tests && GOPROXY=off go test -v ./...']}\n"
                .to_owned(),
        }
    }

    /// Runs approaches, given by their functions, in one plan.
    fn run(self, approaches: &[&str]) -> Vec<Ran> {
        // The folder for workspaces has another one above it.
        let above = tempfile::tempdir().expect("a folder");
        let scratch = tempfile::tempdir_in(above.path()).expect("a folder");
        let code = Code {
            scratch,
            ..Code::new(&self.suite(), "")
        };
        let mut config = "version: 1\napproaches:\n".to_owned();
        let mut chosen = vec!["s".to_owned()];
        for (number, approach) in approaches.iter().enumerate() {
            config.push_str(&format!(
                "  - {{id: w{number}, command: [python3, \"{{root}}/fakes.py\", {approach}]}}\n"
            ));
            chosen.extend(["--approach".to_owned(), format!("w{number}")]);
        }
        code.project
            .file("evalreport.yaml", config)
            .file("fakes.py", MAKER);
        code.project
            .file("suites/s/tap.sh", CHECK_TAP)
            .file("suites/s/exit.sh", CHECK_EXIT);
        let files: &[(&str, &str)] = match self {
            Self::Cargo => &[
                ("Cargo.toml", CRATE),
                (
                    "Cargo.lock",
                    "version = 3\n[[package]]\nname = \"t\"\nversion = \"0.1.0\"\n",
                ),
                ("src/lib.rs", ""),
                ("tests/t.rs", CRATE_TESTS),
            ],
            Self::Node | Self::Npm => &[("package.json", PACKAGE), ("made.test.js", NODE_TESTS)],
            Self::NodeLoads => &[("made.test.js", NODE_LOADS)],
            Self::Go => &[
                (
                    "go.mod",
                    "module t\n\ngo 1.18\n\nrequire kit v1.0.0\n\nreplace kit => ./kit\n",
                ),
                ("made_test.go", GO_TESTS),
                ("kit/go.mod", "module kit\n\ngo 1.18\n"),
                ("kit/kit.go", GO_KIT),
            ],
            Self::Pytest | Self::Inside | Self::Tap | Self::Exit => &[("test_made.py", TESTS)],
        };
        for (path, text) in files {
            code.project.file(&format!("suites/s/tests/{path}"), text);
        }
        let python = crate::suites::python();
        let programs = python.parent().expect("a folder").display().to_string();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        let chosen: Vec<&str> = chosen.iter().map(String::as_str).collect();
        // The tests have a home without Rust's toolchains.
        let rustup = std::env::var("RUSTUP_HOME")
            .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.rustup")));
        let rustup = rustup.ok().filter(|folder| Path::new(folder).is_dir());
        let environment: Vec<(&str, &str)> = [("PATH", path.as_str())]
            .into_iter()
            .chain(rustup.as_deref().map(|folder| ("RUSTUP_HOME", folder)))
            .collect();
        code.started(&chosen, &["--runs", "1"], &environment);
        let mut all = code.all();
        let number = |ran: &Ran| {
            ran.header["approach"]
                .as_str()
                .and_then(|name| name[1..].parse::<usize>().ok())
        };
        all.sort_by_key(number);
        assert_eq!(all.len(), approaches.len());
        all
    }

    /// An honest approach has full marks, and no way any. A test that nobody passes would prove nothing.
    fn is_not_faked(self, least: usize, marks: u64) {
        let chosen = std::env::var("FAKE").unwrap_or_default();
        let ways: Vec<_> = WAYS
            .iter()
            .filter(|(name, kind)| *kind == self && name.contains(&chosen))
            .collect();
        assert!(ways.len() >= least || !chosen.is_empty());
        let approaches: Vec<&str> = std::iter::once("honest")
            .chain(ways.iter().map(|(name, _)| *name))
            .collect();
        let mut ran = self.run(&approaches).into_iter();
        let honest = ran.next().expect("the first");
        honest.ended("completed", "");
        honest.shared(marks, marks);
        let mut faked = Vec::new();
        for (ran, (name, _)) in ran.zip(ways) {
            let points = ran.header["shared_tests_passed"].as_u64().unwrap_or(0);
            eprintln!("{name}: {points} points, {} {}", ran.status(), ran.error());
            if points > 0 || ran.items.iter().any(|item| item["status"] == "pass") {
                faked.push(format!(
                    "{name}: {points} points, {:?}",
                    ran.items("shared_tests")
                ));
            }
        }
        assert!(faked.is_empty(), "{}", faked.join("\n"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_fakes_what_pytest_decides() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST);
    Kind::Pytest.is_not_faked(16, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_fakes_what_pytest_decides_in_the_workspace() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST);
    Kind::Inside.is_not_faked(2, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_fakes_what_a_check_prints() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST);
    Kind::Tap.is_not_faked(8, 2);
    Kind::Exit.is_not_faked(7, 1);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_fakes_what_cargo_decides() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST, "cargo");
    Kind::Cargo.is_not_faked(2, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_fakes_what_node_decides() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST, "node");
    Kind::Node.is_not_faked(2, 2);
    Kind::NodeLoads.is_not_faked(2, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_fakes_what_npm_decides() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST, "node", "npm");
    Kind::Npm.is_not_faked(2, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_fakes_what_go_decides() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST, "go");
    Kind::Go.is_not_faked(2, 2);
}
