//! The driver: a temporary project, files in it, and the binary run in it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::programs::Start as _;

/// The program under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_evalreport");

/// What the columns of a table of another tool mean.
pub const MAP: &str = "\
format: evalreport/map/1
name: my-harness
rows: item
run:
  suite: {constant: quiz}
  approach: approach
  model: {constant: m1}
item:
  id: task
  kind: {constant: question}
  status: {column: result, values: {ok: pass, wrong: fail, timeout: limit}}
";

/// A folder of its own, deleted at the end of the test if it is temporary.
pub struct Project {
    folder: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

/// What one command did.
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    folder: PathBuf,
}

/// A folder where nobody has temporary files, as homes and repositories are.
pub fn lasting_folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build's folder can be written")
}

impl Project {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        Self {
            folder: temporary.path().to_owned(),
            _temporary: Some(temporary),
        }
    }

    /// A project where nobody has temporary files: below the system's temporary folder, programs of a run see only what was there at their
    /// start.
    pub fn lasting() -> Self {
        let temporary = lasting_folder();
        Self {
            folder: temporary.path().to_owned(),
            _temporary: Some(temporary),
        }
    }

    /// A folder that stays.
    pub fn at(folder: PathBuf) -> Self {
        Self {
            folder,
            _temporary: None,
        }
    }

    /// A project whose store holds these results, one file each.
    pub fn with(results: &[Value]) -> Self {
        let project = Self::new();
        for result in results {
            project.result(result);
        }
        project
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub fn file(&self, path: &str, text: impl AsRef<str>) -> &Self {
        self.bytes(path, text.as_ref().as_bytes())
    }

    pub fn bytes(&self, path: &str, bytes: &[u8]) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("the folder can be made");
        fs::write(path, bytes).expect("the file can be written");
        self
    }

    /// Puts a result into the store under its id.
    pub fn result(&self, result: &Value) -> &Self {
        let id = result["id"].as_str().expect("a result has an id");
        self.file(&format!("results/{id}.json"), result.to_string())
    }

    /// Puts items of a run into the store, one a line.
    pub fn items(&self, run: &str, items: &[Value]) -> &Self {
        self.file(&format!("results/{run}/items.jsonl"), lines(items))
    }

    /// Copies a file of `tests/fixtures`.
    pub fn fixture(&self, fixture: &str, path: &str) -> &Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(fixture);
        self.bytes(
            path,
            &fs::read(from).expect("the fixture is in the repository"),
        )
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("the file is there")
    }

    /// Lists every file below a folder, sorted.
    pub fn files(&self, below: &str) -> Vec<String> {
        let mut files: Vec<String> = walkdir::WalkDir::new(self.path(below))
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| {
                entry
                    .path()
                    .strip_prefix(&self.folder)
                    .expect("below the project")
                    .display()
                    .to_string()
            })
            .collect();
        files.sort();
        files
    }

    /// Lists the records of a store: every file below it but its chain, whose entries are of a time of their own.
    pub fn records(&self, store: &str) -> Vec<String> {
        let chain = format!("{store}/chain/");
        self.files(store)
            .into_iter()
            .filter(|file| !file.starts_with(&chain))
            .collect()
    }

    pub fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Output {
        self.run_in(arguments, &[])
    }

    /// Runs with more environment than the usual.
    pub fn run_in<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        environment: &[(&str, &str)],
    ) -> Output {
        let mut command = Command::new(BINARY);
        command.args(arguments).envs(Self::environment());
        self.output(command.envs(environment.iter().copied()))
    }

    pub fn environment() -> BTreeMap<&'static str, String> {
        let path = std::env::var("PATH").unwrap_or_default();
        BTreeMap::from([
            ("COLUMNS", "100".to_owned()),
            ("HOME", "/nonexistent".to_owned()),
            ("NO_COLOR", "1".to_owned()),
            ("PATH", path),
            // No folder can be made there, not even by root.
            ("XDG_CACHE_HOME", "/dev/null/cache".to_owned()),
        ])
    }

    /// Runs any command in the project.
    pub fn output(&self, command: &mut Command) -> Output {
        let kept: Vec<_> = command
            .get_envs()
            .filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())))
            .collect();
        let output = command
            .env_clear()
            .envs(kept)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .finish();
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
            folder: self.folder.clone(),
        }
    }
}

impl Output {
    /// What a command did that printed these texts.
    pub fn of(code: i32, stdout: &str, stderr: &str) -> Self {
        Self {
            code,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            folder: PathBuf::from("/nonexistent"),
        }
    }

    /// Exit code, stdout and stderr, without what differs from machine to machine.
    pub fn snapshot(&self) -> String {
        let text = format!(
            "exit {}\n----- stdout -----\n{}----- stderr -----\n{}",
            self.code, self.stdout, self.stderr
        );
        text.replace(&self.folder.display().to_string(), "[DIR]")
    }

    /// The answer, which must have come without a word on stderr.
    #[track_caller]
    pub fn answer(&self) -> &str {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (0, ""),
            "{}",
            self.stdout
        );
        &self.stdout
    }

    /// The message of a command that was refused with exit code 2 and no answer.
    #[track_caller]
    pub fn refusal(&self) -> &str {
        assert_eq!(
            (self.code, self.stdout.as_str()),
            (2, ""),
            "{}",
            self.stderr
        );
        &self.stderr
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).expect("the answer is JSON")
    }

    /// The rows of a CSV answer, by the names of its columns.
    #[track_caller]
    pub fn rows(&self) -> Vec<BTreeMap<String, String>> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        csv::Reader::from_reader(self.stdout.as_bytes())
            .deserialize()
            .map(|row| row.expect("the answer is CSV"))
            .collect()
    }

    /// The rows of a Markdown answer as people read them, by the titles of its columns.
    #[track_caller]
    pub fn shown(&self) -> Vec<BTreeMap<String, String>> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        let cells = |line: &str| -> Vec<String> {
            let inner = line
                .trim_start_matches("| ")
                .trim_end_matches(" |")
                .replace("\\|", "\u{0}")
                .replace('\\', "");
            inner
                .split(" | ")
                .map(|cell| {
                    cell.replace('\u{0}', "|")
                        .replace("&lt;", "<")
                        .replace("&gt;", ">")
                        .replace("&amp;", "&")
                })
                .collect()
        };
        let tables = self.stdout.lines().collect::<Vec<_>>();
        let tables = tables
            .chunk_by(|one, other| one.starts_with('|') == other.starts_with('|'))
            .filter(|lines| lines[0].starts_with('|'));
        let rows = tables.flat_map(|lines| {
            let titles = cells(lines[0]);
            lines[2..]
                .iter()
                .map(move |line| titles.iter().cloned().zip(cells(line)).collect())
                .collect::<Vec<_>>()
        });
        rows.collect()
    }

    /// One column of a Markdown answer.
    #[track_caller]
    pub fn shown_column(&self, title: &str) -> Vec<String> {
        self.shown()
            .into_iter()
            .map(|row| row[title].clone())
            .collect()
    }

    /// What passed, record by record of a CSV answer.
    #[track_caller]
    pub fn passed(&self) -> Vec<String> {
        self.rows().iter().map(passed).collect()
    }

    /// One column of a CSV answer.
    #[track_caller]
    pub fn column(&self, name: &str) -> Vec<String> {
        self.rows()
            .into_iter()
            .map(|row| row[name].clone())
            .collect()
    }
}

/// `3/4`: what a record of CSV says that passed.
pub fn passed(record: &BTreeMap<String, String>) -> String {
    format!("{}/{}", record["passed"], record["total"])
}

/// A result of the original schema with these fields more or other.
pub fn result(id: &str, suite: &str, approach: &str, fields: Value) -> Value {
    let mut result = json!({"id": id, "suite": suite, "approach": approach, "model": "m1"});
    let Value::Object(fields) = fields else {
        unreachable!("the fields are an object")
    };
    result
        .as_object_mut()
        .expect("a result is an object")
        .extend(fields);
    result
}

/// An outcome of a question.
pub fn question(item: &str, attempt: u32, status: &str) -> Value {
    json!({"item": item, "kind": "question", "evaluator": "answers", "attempt": attempt, "revision": 0, "status": status})
}

/// An outcome of a shared test.
pub fn test(item: &str, status: &str) -> Value {
    json!({"item": item, "kind": "test", "evaluator": "shared_tests", "attempt": 1, "revision": 0, "status": status})
}

/// Does something with each value, four at once, in threads of their own: what is done may itself use the program's pool.
pub fn in_parallel<T: Sync, R: Send>(values: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(value) = values.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            done.push(each(value));
        }
        done
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("no panic"))
            .collect()
    })
}

/// Returns a log of Inspect with samples by number and the value of their only score.
pub fn inspect_log(samples: &[(u64, &str)]) -> String {
    let sample = |(id, value): &(u64, &str)| json!({"id": id, "epoch": 1, "input": format!("question {id}"), "target": "x", "scores": {"match": {"value": value}}});
    json!({
        "version": 2, "status": "success",
        "eval": {"eval_id": "e1", "run_id": "r1", "task_id": "t1", "created": "2026-02-03T10:00:00+00:00", "task": "demo", "model": "m/one"},
        "stats": {"started_at": "2026-02-03T10:00:00+00:00", "completed_at": "2026-02-03T10:01:00+00:00"},
        "samples": samples.iter().map(sample).collect::<Vec<Value>>(),
    })
    .to_string()
}

/// One value a line.
pub fn lines(values: impl IntoIterator<Item = impl Display>) -> String {
    values
        .into_iter()
        .flat_map(|value| [value.to_string(), "\n".to_owned()])
        .collect()
}
