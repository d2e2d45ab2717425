//! The shipped suites: each loads, the reference passes every test, and what is broken on purpose is caught by the tests that name it and
//! by no other. `tests/references/check.py SUITE --all` tries every break; here a few of each suite stand for them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use evalreport::suite;

use crate::needs;
use crate::programs::Start as _;

/// Of so many breaks one is tried here, beginning with the first.
const ONE_OF: usize = 8;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A Python with what the suites' tests and references need.
pub fn python() -> PathBuf {
    installed().expect("the test needs pytest and Flask")
}

/// The same; `None` if it cannot be had.
pub fn installed() -> Option<PathBuf> {
    environment("suites-venv", &["pytest", "flask"])
}

/// A Python with packages, made once and kept beside the build; `None` if it cannot be had.
pub fn environment(name: &str, packages: &[&str]) -> Option<PathBuf> {
    if !needs::is_met("python3") {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).expect("the build's folder");
    let (environment, done) = (folder.join(name), folder.join(format!("{name}.done")));
    let lock = File::create(folder.join(format!("{name}.lock")))
        .expect("the build's folder can be written");
    lock.lock().expect("one at a time");
    let python = environment.join("bin/python");
    if !done.exists() {
        let made = Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&environment)
            .finish();
        let filled = made.status.success().then(|| {
            Command::new(&python)
                .args(["-m", "pip", "install", "-q"])
                .args(packages)
                .finish()
        });
        let last = filled.as_ref().unwrap_or(&made);
        if !last.status.success() {
            let why = [&last.stdout, &last.stderr]
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .concat();
            eprintln!("there is no Python with {}: {why}", packages.join(" and "));
            return None;
        }
        File::create(&done).expect("the build's folder can be written");
    }
    Some(python)
}

fn breaks(suite: &str) -> Map<String, Value> {
    let text = fs::read_to_string(
        root()
            .join("tests/references")
            .join(suite)
            .join("breaks.json"),
    )
    .expect("the suite has breaks");
    serde_json::from_str(&text).expect("breaks.json is a map")
}

/// Runs the suite against its reference, broken or not.
fn check(suite: &str, broken: Option<&str>) -> Value {
    let mut command = Command::new(python());
    command
        .arg(root().join("tests/references/check.py"))
        .arg(suite);
    if let Some(broken) = broken {
        command.args(["--break", broken]);
    }
    let output = command.finish();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value
        .as_array()
        .expect("a list")
        .iter()
        .map(|name| name.as_str().expect("a name"))
        .collect();
    names.sort_unstable();
    names
}

fn reference_passes(suite: &str, least: usize) {
    let result = check(suite, None);
    assert_eq!(
        (names(&result["failed"]), names(&result["skipped"])),
        (vec![], vec![])
    );
    assert!(
        names(&result["passed"]).len() >= least,
        "{}",
        names(&result["passed"]).len()
    );
}

/// Tries some of the breaks.
fn breaks_are_caught(suite: &str) {
    let breaks = breaks(suite);
    let chosen: Vec<(&String, &Value)> = breaks.iter().step_by(ONE_OF).collect();
    for (name, entry) in chosen {
        let result = check(suite, Some(name));
        assert_eq!(
            names(&result["failed"]),
            names(&entry["caught_by"]),
            "{suite}: {name}"
        );
        assert!(!names(&entry["caught_by"]).is_empty(), "{suite}: {name}");
    }
}

#[test]
fn every_shipped_suite_loads() {
    let found = suite::discover_suites(root()).expect("the suites are found");
    let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["basics", "flask", "logagg", "tasktracker"]);
    for name in names {
        let suite =
            suite::find_suite(root(), name).unwrap_or_else(|problems| panic!("{problems:?}"));
        suite::suite_version(root(), &suite).unwrap_or_else(|problems| panic!("{problems:?}"));
        assert!(suite.description.is_some());
        if let Some(questions) = &suite.questions {
            let spec =
                suite::load_questions(questions).unwrap_or_else(|problems| panic!("{problems:?}"));
            assert!(
                spec.questions.len() >= 60,
                "{name}: {}",
                spec.questions.len()
            );
        } else {
            assert!(
                suite.timeout.is_some() && !suite.acceptance_criteria.is_empty(),
                "{name}"
            );
        }
    }
}

/// A break that no test catches, or one that is caught by a test that is not there, would prove nothing.
#[test]
fn breaks_name_tests_that_are_there() {
    for (name, least) in [("tasktracker", 8), ("flask", 8), ("logagg", 8)] {
        let breaks = breaks(name);
        assert!(breaks.len() >= least, "{name}");
        for (id, entry) in &breaks {
            for test in names(&entry["caught_by"]) {
                let (file, rest) = test.split_once("::").expect("FILE::NAME");
                let function = rest
                    .rsplit("::")
                    .next()
                    .and_then(|name| name.split('[').next())
                    .expect("a name");
                let text = fs::read_to_string(root().join("suites").join(name).join(file))
                    .expect("the file of tests");
                assert!(
                    text.contains(&format!("def {function}(")),
                    "{name}: {id}: {test}"
                );
            }
        }
    }
}

#[test]
fn the_reference_passes_tasktracker() {
    needs!(crate::needs::PYTEST);
    reference_passes("tasktracker", 28);
}

#[test]
fn the_reference_passes_flask() {
    needs!(crate::needs::PYTEST);
    reference_passes("flask", 15);
}

#[test]
fn the_reference_passes_logagg() {
    needs!(crate::needs::PYTEST);
    reference_passes("logagg", 15);
}

#[test]
fn breaks_of_tasktracker_are_caught() {
    needs!(crate::needs::PYTEST);
    breaks_are_caught("tasktracker");
}

#[test]
fn breaks_of_flask_are_caught() {
    needs!(crate::needs::PYTEST);
    breaks_are_caught("flask");
}

#[test]
fn breaks_of_logagg_are_caught() {
    needs!(crate::needs::PYTEST);
    breaks_are_caught("logagg");
}
