//! Verification of small real projects: their own test programs run, on the tree as it was and as it is.

mod ending;
pub mod frontend;
mod projects;
mod runs;
mod surroundings;
mod tickets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::suites;
use super::support::{Output, Project};
use crate::programs::Start as _;

/// A repository `app` beside a configuration, and a folder for the trees as they were.
struct Checkout {
    project: Project,
    scratch: tempfile::TempDir,
}

/// What `verify --format json` said.
struct Verified {
    code: i32,
    answer: Value,
}

impl Checkout {
    /// Commits these files.
    fn new(files: &[(&str, &str)]) -> Self {
        let checkout = Self {
            project: Project::new(),
            scratch: tempfile::tempdir().expect("a temporary folder"),
        };
        for (path, text) in files {
            checkout.write(path, text);
        }
        checkout.git(&["init", "--quiet", "--initial-branch=main"]);
        checkout.commit();
        checkout
    }

    /// The same, where nothing is verified but by these settings.
    fn config(self, verification: &str) -> Self {
        self.project.file(
            "evalreport.yaml",
            format!("version: 1\nverification: {verification}\n"),
        );
        self
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        self.project.file(&format!("app/{path}"), text);
        self
    }

    fn app(&self) -> PathBuf {
        self.project.path("app")
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@example.org",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "state",
        ]);
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(self.app())
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        let output = command.finish();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs `verify app` with more arguments.
    #[track_caller]
    fn run(&self, more: &[&str], environment: &[(&str, &str)]) -> Output {
        let scratch = self.scratch.path().display().to_string();
        let home = self.project.path("home");
        fs::create_dir_all(&home).expect("a folder");
        let (home, path) = (home.display().to_string(), path());
        // A cargo of its own, so that no other test waits for its lock.
        let target = self.project.path("cargo-target").display().to_string();
        let mut all = vec![
            ("PATH", path.as_str()),
            ("HOME", home.as_str()),
            ("CARGO_TARGET_DIR", target.as_str()),
        ];
        all.extend([
            ("npm_config_update_notifier", "false"),
            ("CARGO_NET_OFFLINE", "true"),
        ]);
        // Go compiles its standard library once for all tests, and brings nothing from anywhere.
        let go_cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/go-cache");
        all.extend([
            ("GOCACHE", go_cache),
            ("GOFLAGS", "-mod=mod"),
            ("GOPROXY", "off"),
            ("GOTOOLCHAIN", "local"),
        ]);
        all.extend(environment);
        let arguments = ["verify", "app", "--scratch", &scratch]
            .into_iter()
            .chain(more.iter().copied());
        let output = self.project.run_in(arguments, &all);
        self.nothing_remains();
        output
    }

    #[track_caller]
    fn verify(&self, goal: &str, profile: &str) -> Verified {
        self.verify_with(&["--goal", goal, "--profile", profile])
    }

    #[track_caller]
    fn verify_with(&self, more: &[&str]) -> Verified {
        let output = self.run(&[more, &["--format", "json"]].concat(), &[]);
        assert_eq!(output.stderr, "");
        let answer: Value = serde_json::from_str(&output.stdout).expect("the answer is JSON");
        if let Err(error) = super::schema::validate("verify", &answer) {
            panic!("{error}\n{answer:#}");
        }
        Verified {
            code: output.code,
            answer,
        }
    }

    /// No tree, and none that git still knows of.
    #[track_caller]
    fn nothing_remains(&self) {
        let left: Vec<PathBuf> = fs::read_dir(self.scratch.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
    }
}

impl Verified {
    fn text(&self, key: &str) -> &str {
        self.answer[key].as_str().unwrap_or_default()
    }

    #[track_caller]
    fn ended(&self, code: i32, status: &str, next: &str) -> &Self {
        assert_eq!(
            (self.code, self.text("terminalStatus"), self.text("next")),
            (code, status, next),
            "{:#}",
            self.answer
        );
        self
    }

    /// Failures as `scope test`.
    fn scopes(&self) -> Vec<(&str, &str)> {
        let failures = self.answer["failures"].as_array().expect("failures");
        failures
            .iter()
            .map(|failure| (failure["scope"].as_str().unwrap_or_default(), name(failure)))
            .collect()
    }

    fn fixed(&self) -> Vec<&str> {
        self.answer["fixed"]
            .as_array()
            .expect("fixed")
            .iter()
            .map(name)
            .collect()
    }

    fn commands(&self) -> Vec<&str> {
        self.answer["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .map(|check| check["command"].as_str().unwrap_or_default())
            .collect()
    }

    fn outcomes(&self) -> Vec<&str> {
        self.answer["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .map(|check| check["outcome"].as_str().unwrap_or_default())
            .collect()
    }

    #[track_caller]
    fn because(&self, words: &str) -> &Self {
        let reasons = self.answer["reasons"].as_array().expect("reasons");
        assert!(
            reasons
                .iter()
                .any(|reason| reason.as_str().is_some_and(|reason| reason.contains(words))),
            "{reasons:#?}"
        );
        self
    }
}

fn name(failure: &Value) -> &str {
    failure["test"]
        .as_str()
        .unwrap_or_else(|| failure["text"].as_str().unwrap_or_default())
}

/// A `PATH` with the cargo of this build in front, and before it pytest, if that can be had.
fn path() -> String {
    let python = suites::installed();
    let cargo = Path::new(env!("CARGO"));
    let folders = [python.as_deref().and_then(Path::parent), cargo.parent()]
        .into_iter()
        .flatten()
        .map(|folder| folder.display().to_string());
    let rest = std::env::var("PATH").unwrap_or_default();
    folders.chain([rest]).collect::<Vec<_>>().join(":")
}

/// Says whether a process works in the folder.
fn is_running(folder: &str) -> bool {
    let processes = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    processes
        .map(|entry| entry.path())
        .any(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder)))
}
