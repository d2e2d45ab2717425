//! Other tools' results: every shape and quirk from files of our own, and real samples by what is known of them.
//!
//! Folders of samples can be named by `EVALREPORT_FORMATS`, one folder a tool in it.

mod agent_skills;
mod aider;
mod boards;
mod evalperf;
mod harbor;
mod javascript;
mod observed;
mod own_files;
mod promptfoo;
mod resources;
mod runners;
mod sessions;
mod swe_bench;
mod terminal_bench;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Project;

/// A project into which something was imported.
pub struct Imported {
    pub project: Project,
    report: Value,
}

impl Imported {
    /// Imports what lies under `tests/fixtures/import`.
    #[track_caller]
    pub fn fixture(name: &str) -> Self {
        Self::path(
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/fixtures/import")
                .join(name),
        )
    }

    #[track_caller]
    pub fn path(path: &Path) -> Self {
        let project = Project::new();
        let path = path.display().to_string();
        let dry = project
            .run(["import", path.as_str(), "--dry-run", "--format", "json"])
            .json();
        assert!(
            !project.path("results").exists(),
            "a dry run writes nothing"
        );
        let report = project
            .run(["import", path.as_str(), "--format", "json"])
            .json();
        assert_eq!(dry["sources"][0]["items"], report["sources"][0]["items"]);
        assert_eq!(project.run(["doctor"]).code, 0);
        let again = project
            .run(["import", path.as_str(), "--format", "json"])
            .json();
        let outcomes: Vec<&Value> = again["sources"]
            .as_array()
            .expect("sources")
            .iter()
            .map(|source| &source["outcome"])
            .collect();
        assert!(
            outcomes
                .iter()
                .all(|outcome| *outcome == "already_imported" || *outcome == "nothing_new"),
            "{outcomes:?}"
        );
        Self { project, report }
    }

    /// The one source.
    #[track_caller]
    pub fn source(&self) -> &Value {
        let sources = self.report["sources"].as_array().expect("sources");
        assert_eq!(sources.len(), 1, "{sources:?}");
        &sources[0]
    }

    /// The stated figures that were checked and those that agree, and how many cannot be.
    #[track_caller]
    pub fn stated(&self) -> (u64, u64, usize) {
        let sources = self.report["sources"].as_array().expect("sources");
        let count = |key: &str| {
            sources
                .iter()
                .map(|source| source[key].as_u64().expect("a count"))
                .sum()
        };
        let figures = sources
            .iter()
            .flat_map(|source| source["foreign"]["stated"].as_array().into_iter().flatten());
        (
            count("stated_checked"),
            count("stated_agree"),
            figures
                .filter(|figure| figure["recomputed"].is_null())
                .count(),
        )
    }

    pub fn has_quirk(&self, beginning: &str) -> bool {
        self.report["sources"].to_string().contains(beginning)
    }

    /// The answer to a query, a row a line with its values joined by spaces.
    #[track_caller]
    pub fn sql(&self, query: &str) -> Vec<String> {
        let output = self.project.run(["sql", query, "--format", "csv"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        output
            .stdout
            .lines()
            .skip(1)
            .map(|line| line.replace(',', " "))
            .collect()
    }

    /// What kinds of outcomes there are, and what counts without outcomes are counts of.
    #[track_caller]
    fn kinds(&self) -> Vec<String> {
        let mut kinds = self.sql("select distinct kind from items order by kind");
        kinds.extend(
            self.sql(
                "select distinct counted from runs where counted is not null order by counted",
            ),
        );
        kinds
    }

    /// Every outcome as `item attempt status`.
    #[track_caller]
    fn statuses(&self) -> Vec<String> {
        self.sql("select item, attempt, status from items order by item, attempt")
    }

    /// The runs as stored, by approach and model.
    pub fn runs(&self) -> Vec<Value> {
        let files = self.project.files("results/imports");
        let texts = files
            .iter()
            .filter(|file| file.ends_with(".runs.jsonl"))
            .map(|file| self.project.read(file));
        let mut runs: Vec<Value> = texts
            .flat_map(|text| {
                text.lines()
                    .map(|line| serde_json::from_str(line).expect("JSON"))
                    .collect::<Vec<Value>>()
            })
            .collect();
        runs.sort_by_key(|run| {
            (
                run["suite"].to_string(),
                run["approach"].to_string(),
                run["model"].to_string(),
            )
        });
        runs
    }

    /// The outcomes with their details, as stored.
    pub fn items(&self) -> Vec<Value> {
        let files = self.project.files("results/imports");
        let packed = files
            .iter()
            .filter(|file| file.strip_suffix(".zst").is_some())
            .map(|file| std::fs::read(self.project.path(file)).expect("readable"));
        let texts = packed.map(|bytes| {
            String::from_utf8(zstd::decode_all(bytes.as_slice()).expect("zstd")).expect("UTF-8")
        });
        texts
            .flat_map(|text| {
                text.lines()
                    .map(|line| serde_json::from_str(line).expect("JSON"))
                    .collect::<Vec<Value>>()
            })
            .collect()
    }
}

/// A project with the files of a fixture below `runs`, for a test to damage.
fn copy(name: &str) -> Project {
    let project = Project::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name);
    for entry in walkdir::WalkDir::new(&root)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
    {
        let path = entry.path().strip_prefix(&root).expect("below the fixture");
        project.bytes(
            &format!("runs/{}", path.display()),
            &std::fs::read(entry.path()).expect("the fixture"),
        );
    }
    project
}

/// Leaves so many bytes of a file.
fn cut(project: &Project, file: &str, bytes: usize) {
    let whole = std::fs::read(project.path(file)).expect("readable");
    project.bytes(file, &whole[..bytes.min(whole.len() - 2)]);
}

/// The samples of a tool.
fn samples(tool: &str) -> PathBuf {
    crate::needs::named("EVALREPORT_FORMATS").join(tool)
}

#[test]
fn every_format_says_what_its_items_are() {
    for (fixture, kinds) in [
        ("aider/run", ["task"].as_slice()),
        ("aider/polyglot_small.yml", &["task"]),
        ("swe-bench/schema-2", &["task"]),
        // One submission has counts alone.
        ("swe-bench/experiments", &["task", "task"]),
        ("terminal-bench/resolved-and-timed-out", &["task"]),
        ("harbor/reward-and-exception", &["task"]),
        (
            "evalperf/acme--coder-9B_vllm_temp_1.0_evalperf_results.brief.json",
            &["task"],
        ),
        ("kotef/eval-2026-01-02T03-04-05-678Z.json", &["task"]),
        ("inspect/plain.json", &["question"]),
        ("inspect/no-samples.json", &["question"]),
        ("promptfoo/repeat-two.json", &["question"]),
        ("lm_eval/plain", &["question"]),
        ("every_eval_ever/with-samples", &["question"]),
        ("helm/splits", &["question"]),
        (
            "agent-skills/invoice-parser-workspace",
            &["check", "question"],
        ),
        ("claude-code/projects", &[]),
        ("metr/runs.jsonl", &["task"]),
        ("export", &["question"]),
        ("hal/gaia_UPLOAD.json", &["task"]),
        ("deepeval/test_run.json", &["check", "question"]),
        ("langfuse/page.json", &["check", "question"]),
        ("opentelemetry/traces", &["check", "question"]),
        ("pytest-json-report/report.json", &["test"]),
        ("junit/pytest.xml", &["test"]),
        ("ctrf/statuses.json", &["test"]),
        ("jest/jest.json", &["test"]),
        ("jest/vitest-evals.json", &["check", "test"]),
        ("mocha/mocha.json", &["test"]),
        ("playwright/report.json", &["test"]),
        ("evalite/export.json", &["check", "question"]),
        ("ralph/zeros.json", &[]),
    ] {
        assert_eq!(Imported::fixture(fixture).kinds(), kinds, "{fixture}");
    }
}

#[test]
fn samples_with_a_sandbox_are_tasks_and_languages_are_categories() {
    let project = Project::new();
    project.fixture("import/inspect/plain.json", "log.json");
    let mut log: Value = serde_json::from_str(&project.read("log.json")).expect("a log");
    log["eval"]["sandbox"] = serde_json::json!({"type": "docker", "config": "compose.yaml"});
    project.file("log.json", log.to_string());
    assert_eq!(Imported::path(&project.path("log.json")).kinds(), ["task"]);
    let aider = Imported::fixture("aider/run");
    assert_eq!(
        aider.sql("select count(*) from items where cluster is not null or category is null"),
        ["0"]
    );
    assert!(
        aider
            .sql("select distinct category from items order by category")
            .contains(&"python".to_owned())
    );
}
