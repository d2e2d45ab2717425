//! Controls: tests that cannot pass, run among a suite's own tests to detect cheating.
//!
//! pytest imports the code under test into its own process. There, that code can change the results or write the report itself. Code that
//! makes every test pass also makes the control pass, and a report without the control was not written by pytest. A control catches only
//! code that does not look for it; stopping such code would need a separate process.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::evaluate::test_report::{TestCommandPlan, pytest_arguments};
use crate::files;
use crate::process;
use crate::suite::TestCommands;

/// pytest options that neither select tests nor stop early.
const HARMLESS_OPTIONS: [&str; 17] = [
    "-v",
    "-vv",
    "-q",
    "-s",
    "-l",
    "-ra",
    "-rA",
    "-rf",
    "--verbose",
    "--quiet",
    "--tb",
    "--color",
    "--durations",
    "--no-header",
    "--no-summary",
    "--timeout",
    "--showlocals",
];
/// The files in which pytest finds settings.
const PYTEST_SETTINGS_FILES: [&str; 5] = [
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
];
/// Settings that rule out a control: they select tests, stop early, or change which names are tests.
const SELECTING_SETTINGS: [&str; 12] = [
    "python_files",
    "python_functions",
    " -k",
    " -m",
    "=-m",
    "-x",
    "--exitfirst",
    "--maxfail",
    "--deselect",
    "--lf",
    "--sw",
    "--ignore",
];

/// The text of a control, which does not reveal its purpose.
const CONTROL_TEST_TEXT: &str = "def test_total():\n    assert sum([3, 5, 8]) == 17\n";

/// The controls of a suite: one per folder named in its commands.
#[derive(Debug, Default)]
pub struct ControlTests {
    /// A random word in the name of each control, and in no other name.
    words: String,
    /// Each command's control file, relative to the folder in which tests start.
    files: BTreeMap<String, PathBuf>,
}

impl ControlTests {
    /// Writes the controls below `root`. Writes none if any command could run a control without expecting it.
    pub fn create_below(tests: &TestCommands, root: &Path) -> io::Result<Self> {
        let places: Option<Vec<PathBuf>> = tests
            .shared
            .iter()
            .map(|command| control_folder(command, root))
            .collect();
        let might_meet = |command: &String| {
            ["pytest", "make", "tox", "nox"]
                .iter()
                .any(|runner| command.contains(runner))
        };
        let Some(places) = places.filter(|_| !tests.functional.iter().any(might_meet)) else {
            return Ok(Self::default());
        };
        let mut controls = Self {
            words: process::fresh_mark().chars().take(8).collect(),
            files: BTreeMap::new(),
        };
        let mut by_place: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        for (command, place) in tests.shared.iter().zip(places) {
            let number = by_place.len();
            let file = by_place.entry(place).or_insert_with_key(|place| {
                place.join(format!("test_{}_{number}.py", controls.words))
            });
            fs::write(root.join(&*file), CONTROL_TEST_TEXT)?;
            controls.files.insert(command.clone(), file.clone());
        }
        Ok(controls)
    }

    /// Adds a command's control, if it has one, to its plan.
    pub fn add_to_plan(&self, plan: TestCommandPlan) -> TestCommandPlan {
        match self.files.get(&plan.declared) {
            Some(file) => plan.with_control(file, &self.words),
            None => plan,
        }
    }
}

/// Returns the folder for a command's control, relative to `root`, where the command starts. Returns `None` if the command cannot have one.
fn control_folder(declared: &str, root: &Path) -> Option<PathBuf> {
    let arguments = pytest_arguments(declared)?;
    let (options, targets): (Vec<&String>, Vec<&String>) = arguments
        .iter()
        .partition(|argument| argument.starts_with('-'));
    if !options
        .iter()
        .all(|option| HARMLESS_OPTIONS.contains(&option.split('=').next().unwrap_or(option)))
    {
        return None;
    }
    let target = Path::new(targets.first()?.split("::").next()?);
    let below = if root.join(target).is_dir() {
        target
    } else {
        target.parent()?
    };
    // A link may lead out of the copy, where nothing may be written.
    let leads_out = below.ancestors().any(|part| root.join(part).is_symlink());
    let is_inside = below.is_relative() && root.join(target).exists() && !leads_out;
    let chooses = |folder: &Path| {
        let texts = PYTEST_SETTINGS_FILES
            .iter()
            .filter_map(|name| files::read_to_string(root.join(folder).join(name)).ok());
        texts.into_iter().any(|text| {
            text.lines()
                .any(|line| SELECTING_SETTINGS.iter().any(|word| line.contains(word)))
        })
    };
    (is_inside && !below.ancestors().any(chooses)).then(|| below.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_stands_where_every_test_is_run() {
        let root = tempfile::tempdir().expect("a folder");
        let of = |name: &str| root.path().join(name);
        fs::create_dir_all(of("s/tests/deep"))
            .and_then(|()| fs::write(of("s/tests/test_a.py"), ""))
            .expect("room");
        let at = |command: &str| {
            control_folder(command, root.path()).map(|place| place.display().to_string())
        };
        for (command, expected) in [
            ("pytest s/tests/ -v", Some("s/tests/")),
            (
                "python -m pytest -q s/tests/test_a.py::test_b --tb=short",
                Some("s/tests"),
            ),
            ("pytest", None),
            ("pytest s/tests -x", None),
            ("pytest s/tests -k name", None),
            ("pytest s/gone", None),
            ("pytest s/tests | tail", None),
            ("cd s && pytest tests", None),
            ("make test", None),
        ] {
            assert_eq!(at(command).as_deref(), expected, "{command}");
        }
        fs::write(of("s/pytest.ini"), "[pytest]\naddopts = -m quick\n").expect("room");
        assert_eq!(at("pytest s/tests/"), None);
        fs::write(of("s/pytest.ini"), "[pytest]\n").expect("room");
        let tests = |shared: &[&str], functional: &[&str]| TestCommands {
            shared: shared.iter().map(|text| (*text).to_owned()).collect(),
            functional: functional.iter().map(|text| (*text).to_owned()).collect(),
            own: Vec::new(),
        };
        let count = |tests: &TestCommands| {
            ControlTests::create_below(tests, root.path())
                .expect("room")
                .files
                .len()
        };
        assert_eq!(
            count(&tests(
                &["pytest s/tests", "pytest s/tests/deep"],
                &["curl x"]
            )),
            2
        );
        assert_eq!(
            count(&tests(&["pytest s/tests", "make test"], &[])),
            0,
            "make may run the control and not know it"
        );
        assert_eq!(count(&tests(&["pytest s/tests"], &["make check"])), 0);
    }
}
