//! Runs of code with real programs, servers and test commands: every way to fail has its status and its reason, what was measured until
//! then is kept, and neither a process nor a port nor a folder remains.

mod approaches;
mod escapes;
mod fakes;
mod home;
mod keys;
mod modes;
mod programs;
mod seed;
mod servers;
mod tampering;
mod tools;
mod workspaces;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::programs::Start as _;
use super::support::{Output, Project, lasting_folder};

/// Serves any path but `/die`, which ends it.
const SERVER: &str = r#"
import http.server, os, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/die":
            os._exit(7)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"fine")

    def log_message(self, *words):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

/// Asks the server for the path it is given.
const ASK: &str = "import os, sys, urllib.request\nurllib.request.urlopen(os.environ['EVAL_BASE_URL'] + sys.argv[1], timeout=5).read()\n";

/// One suite `s` with one approach `a`, and a folder for workspaces outside of the project.
struct Code {
    project: Project,
    scratch: tempfile::TempDir,
}

/// Whether the program gives those that it starts namespaces of their own.
fn has_spaces(project: &Project) -> bool {
    project
        .run(["doctor", "--system", "--format", "json"])
        .json()["system"]["processes"]
        == true
}

impl Code {
    /// `suite` is what the suite says beside its name and requirements; the approach is a script of shell, started in the workspace.
    fn new(suite: &str, approach: &str) -> Self {
        let project = Project::new();
        project
            .file("suites/s/suite.yaml", format!("name: s\nrequirements: suites/s/order.md\n{suite}"))
            .file("suites/s/order.md", "Make it.\n")
            .file("suites/s/server.py", SERVER)
            .file("suites/s/ask.py", ASK)
            .file("a.sh", approach)
            .file(
                "evalreport.yaml",
                "version: 1\napproaches:\n  - {id: a, command: [sh, \"{root}/a.sh\", \"{requirements}\", \"{output_dir}\"]}\n",
            );
        Self {
            project,
            scratch: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// Lets the programs of all suites change a folder outside, for what a test wants to see of them.
    fn sharing(self, folder: &Path) -> Self {
        for path in self.project.files("suites") {
            if path.ends_with("/suite.yaml") {
                let suite = self.project.read(&path);
                let folder = folder.display();
                self.project
                    .file(&path, format!("{suite}writes: [\"{folder}\"]\n"));
            }
        }
        self
    }

    /// Moves the project to a folder that is not there yet.
    fn at(mut self, folder: PathBuf) -> Self {
        fs::create_dir_all(folder.parent().expect("above")).expect("ours");
        let copied = std::process::Command::new("cp")
            .arg("-R")
            .args([&self.project.path(""), &folder])
            .succeeds();
        assert!(copied);
        self.project = Project::at(folder);
        self
    }

    fn config(self, approach: &str) -> Self {
        self.project.file(
            "evalreport.yaml",
            format!("version: 1\napproaches:\n  - {approach}\n"),
        );
        self
    }

    fn command(&self, more: &[&str], environment: &[(&str, &str)]) -> Output {
        self.started(&["s", "--approach", "a"], more, environment)
    }

    #[track_caller]
    fn started(&self, what: &[&str], more: &[&str], environment: &[(&str, &str)]) -> Output {
        let scratch = self.scratch.path().display().to_string();
        let place = ["--scratch", &scratch];
        let arguments = ["run"]
            .iter()
            .chain(what)
            .chain(&place)
            .chain(more)
            .copied();
        let output = self.project.run_in(arguments, environment);
        // 3: nothing was measured of the approach.
        assert!([0, 3].contains(&output.code), "{}", output.stderr);
        self.nothing_remains();
        output
    }

    /// Runs it once.
    #[track_caller]
    fn run(&self) -> Ran {
        self.run_with(&[], &[])
    }

    #[track_caller]
    fn run_with(&self, more: &[&str], environment: &[(&str, &str)]) -> Ran {
        self.command(more, environment);
        let mut ran = self.all();
        assert_eq!(ran.len(), 1);
        ran.remove(0)
    }

    /// Everything the store holds, in the order of the ids.
    fn all(&self) -> Vec<Ran> {
        let is_header = |path: &String| {
            Path::new(path).extension().is_some_and(|end| end == "json")
                && path.matches('/').count() == 1
        };
        let headers = self.project.files("results").into_iter().filter(is_header);
        headers
            .map(|path| {
                let header: Value =
                    serde_json::from_str(&self.project.read(&path)).expect("a header is JSON");
                let folder = self.project.path(path.trim_end_matches(".json"));
                let lines = |name: &str| {
                    let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
                    text.lines()
                        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
                        .collect()
                };
                let kept = self
                    .project
                    .files(&format!("{}/output", path.trim_end_matches(".json")));
                let output = kept.iter().map(|file| {
                    (
                        file.split_once("/output/").expect("below it").1.to_owned(),
                        self.project.read(file),
                    )
                });
                Ran {
                    items: lines("items.jsonl"),
                    scores: lines("scores.jsonl"),
                    transcript: lines("transcript.jsonl"),
                    header,
                    output: output.collect(),
                }
            })
            .collect()
    }

    /// Workspaces are gone, and so is every process that ran in one or knew of one.
    #[track_caller]
    fn nothing_remains(&self) {
        let left: Vec<PathBuf> = fs::read_dir(self.scratch.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(left.is_empty(), "{left:?}");
        let scratch = self.scratch.path().display().to_string();
        let alive: Vec<PathBuf> = processes()
            .filter(|process| knows(process, &scratch))
            .collect();
        assert!(alive.is_empty(), "{alive:?}");
    }
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok())
    })
}

fn knows(process: &Path, folder: &str) -> bool {
    let is_there = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    is_there
        || fs::read(process.join("environ")).is_ok_and(|environment| {
            memchr::memmem::find(&environment, folder.as_bytes()).is_some()
        })
}

/// What one run left in the store.
struct Ran {
    header: Value,
    items: Vec<Value>,
    scores: Vec<Value>,
    transcript: Vec<Value>,
    /// What was kept of the workspace.
    output: BTreeMap<String, String>,
}

impl Ran {
    fn status(&self) -> &str {
        self.header["status"].as_str().unwrap_or_default()
    }

    fn error(&self) -> &str {
        self.header["error"].as_str().unwrap_or_default()
    }

    fn counts(&self, family: &str) -> [Option<u64>; 2] {
        ["passed", "total"].map(|part| self.header[format!("{family}_tests_{part}")].as_u64())
    }

    /// Items of an evaluator with their status.
    fn items(&self, evaluator: &str) -> Vec<(&str, &str)> {
        let of = |item: &&Value| item["evaluator"] == evaluator;
        self.items
            .iter()
            .filter(of)
            .map(|item| {
                (
                    item["item"].as_str().expect("a name"),
                    item["status"].as_str().expect("a status"),
                )
            })
            .collect()
    }

    #[track_caller]
    fn ended(&self, status: &str, said: &str) {
        assert_eq!(self.status(), status, "{}", self.error());
        assert!(
            if said.is_empty() {
                self.error().is_empty()
            } else {
                self.error().contains(said)
            },
            "{}",
            self.error()
        );
    }

    #[track_caller]
    fn shared(&self, passed: u64, total: u64) {
        assert_eq!(
            self.counts("shared"),
            [Some(passed), Some(total)],
            "{:?}",
            self.items
        );
    }

    #[track_caller]
    fn is_untested(&self) {
        assert_eq!(
            (self.counts("shared"), self.counts("own"), self.items.len()),
            ([None, None], [None, None], 0)
        );
    }

    /// What an evaluator gave.
    fn score(&self, evaluator: &str) -> Option<f64> {
        self.scores
            .iter()
            .find(|score| score["metric"] == evaluator)?["value"]
            .as_f64()
    }

    fn kept(&self, file: &str) -> Option<&str> {
        self.output.get(file).map(String::as_str)
    }
}

/// Puts a program into the project's `bin`, and returns a `PATH` that begins there.
fn program(project: &Project, name: &str, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    project.file(&format!("bin/{name}"), script);
    let path = project.path("bin").join(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .expect("it can be made executable");
    format!(
        "{}:{}",
        project.path("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    )
}

/// A script of shell that reports these lines in the Test Anything Protocol.
fn tap(lines: &[&str]) -> String {
    let numbered: Vec<String> = lines
        .iter()
        .map(|line| format!("echo '{line}'\n"))
        .collect();
    format!(
        "echo TAP version 13\necho 1..{}\n{}",
        lines.len(),
        numbered.concat()
    )
}
