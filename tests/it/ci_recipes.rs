//! The recipes of `docs/do/gate-pull-requests.md` do what they say: their commands run, and their keys exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use evalreport::document::{self, Node, Value};

use crate::support::{BINARY, Output, Project};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .expect("the file is in the repository")
}

/// The blocks of a language below a heading of `docs/do/gate-pull-requests.md`, up to the next heading of its level.
fn blocks(heading: &str, language: &str) -> Vec<String> {
    let text = read("docs/do/gate-pull-requests.md");
    let below = text
        .split(&format!("\n## {heading}\n"))
        .nth(1)
        .expect("the heading is there");
    let section = below.split("\n## ").next().unwrap_or_default();
    let fence = format!("\n```{language}\n");
    section
        .split(&fence)
        .skip(1)
        .map(|block| block.split("\n```").next().unwrap_or_default().to_owned())
        .collect()
}

fn parsed(yaml: &str) -> Node {
    document::parse("recipe.yaml", yaml).unwrap_or_else(|problems| panic!("{problems:?}\n{yaml}"))
}

fn texts(node: Option<&Node>) -> Vec<String> {
    match node.map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().flat_map(|item| texts(Some(item))).collect(),
        Some(Value::Scalar(scalar)) => vec![scalar.text.clone()],
        Some(Value::Map(_)) | None => Vec::new(),
    }
}

/// A checkout with the reports of a job, and with the bundle of the main branch. `fails` of 40 tests fail now.
fn checkout(fails: usize) -> Project {
    let project = Project::new();
    let junit = |path: &str, day: usize, fails: usize| {
        let case = |number: usize| {
            let failure = if number < fails {
                "<failure message=\"expected 200, got 500\"/>"
            } else {
                ""
            };
            format!("<testcase classname=\"api\" name=\"t{number:02}\">{failure}</testcase>")
        };
        let cases: String = (0..40).map(case).collect();
        project.file(
            path,
            format!(
                "<testsuite name=\"s\" timestamp=\"2026-03-{day:02}T00:00:00\">{cases}</testsuite>"
            ),
        );
    };
    for run in 1..=3 {
        junit(&format!("main/{run}.xml"), run, 0);
        junit(&format!("reports/{run}.xml"), run + 10, fails);
    }
    assert_eq!(
        project
            .run([
                "--results",
                "store",
                "import",
                "main",
                "--set",
                "model=unknown"
            ])
            .code,
        0
    );
    assert_eq!(
        project
            .run(["--results", "store", "export", "bundle", "baseline.bundle"])
            .code,
        0
    );
    // What the package manager would install, by the name under which the recipes call it.
    let bin = project.path("bin");
    fs::create_dir_all(&bin).expect("a folder");
    for (name, before) in [
        ("evalreport", ""),
        ("npx", "[ \"$1\" = evalreport ] || exit 9; shift; "),
    ] {
        let path = bin.join(name);
        fs::write(
            &path,
            format!("#!/bin/sh\n{before}exec '{BINARY}' \"$@\"\n"),
        )
        .expect("a script");
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("a program");
    }
    project
}

fn shell(project: &Project, script: &str) -> Output {
    let path = format!(
        "{}:{}",
        project.path("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let summary = project.path("summary.md");
    project.output(
        Command::new("sh")
            .args(["-e", "-c", script])
            .env("PATH", path)
            .env("GITHUB_STEP_SUMMARY", summary),
    )
}

/// Runs the commands of a recipe, which write both files whatever the decision.
#[track_caller]
fn decides(script: &str) {
    for (fails, code, decision) in [(0, 0, "pass"), (20, 1, "regression")] {
        let project = checkout(fails);
        let output = shell(&project, script);
        assert_eq!(
            (output.code, output.stderr.as_str()),
            (code, ""),
            "{script}\n{}",
            output.stdout
        );
        let comment = project.read("gate.md");
        assert!(
            comment.starts_with(&format!(
                "<!-- evalreport:gate -->\n### Gate against baseline.bundle: {decision}\n"
            )),
            "{comment}"
        );
        assert_eq!(
            comment.contains("20 items fail now and always passed"),
            fails == 20,
            "{comment}"
        );
        assert_eq!(project.read("gate.xml").contains("<failure"), fails == 20);
    }
}

/// Writes a report of 40 tests, of which these fail. If `repeats`, it has no other tests.
fn junit(project: &Project, path: &str, day: usize, fails: &[usize], repeats: Option<&[usize]>) {
    let all: Vec<usize> = (0..40).collect();
    let case = |number: &usize| {
        let failure = if fails.contains(number) {
            "<failure message=\"expected 200, got 500\"/>"
        } else {
            ""
        };
        format!("<testcase classname=\"api\" name=\"t{number:02}\">{failure}</testcase>")
    };
    let cases: String = repeats.unwrap_or(&all).iter().map(case).collect();
    project.file(
        path,
        format!(
            "<testsuite name=\"s\" timestamp=\"2026-03-{day:02}T00:00:00\">{cases}</testsuite>"
        ),
    );
}

/// Plays seven days of the main branch's job, each with a fresh checkout and the kept folder `results`, then pull requests with its bundle.
#[track_caller]
fn keeps_runs<'a>(of_main: impl Iterator<Item = &'a str>, gate: &str) {
    let of_main: Vec<&str> = of_main.collect();
    let project = checkout(0);
    for folder in ["main", "store"] {
        fs::remove_dir_all(project.path(folder)).expect("of other tests");
    }
    for day in 1..=7 {
        fs::remove_dir_all(project.path("reports")).expect("the last checkout");
        fs::remove_file(project.path("baseline.bundle")).expect("the last checkout");
        // A flaky test, which fails on two of the days.
        junit(
            &project,
            "reports/junit.xml",
            day,
            if day % 3 == 2 { &[3] } else { &[] },
            None,
        );
        for command in &of_main {
            let output = shell(&project, command);
            assert_eq!(output.code, 0, "{command}\n{}", output.stderr);
        }
    }
    let runs = project
        .run(["list", "--format", "json", "--results", "results"])
        .json();
    assert_eq!(
        (
            &runs["suites"][0]["runs"],
            runs["suites"].as_array().map(Vec::len)
        ),
        (&serde_json::json!(7), Some(1)),
        "{runs}"
    );
    // What fails at first, then again when it is repeated.
    let cases: [(&[usize], &[usize], i32); 5] = [
        (&[], &[], 0),
        (&[3], &[3], 0),
        (&[8], &[], 0),
        (&[8], &[8], 1),
        (&[10, 11, 12, 13, 14], &[10, 11, 12, 13, 14], 1),
    ];
    for (first, again, code) in cases {
        fs::remove_dir_all(project.path("reports")).expect("the last checkout");
        junit(&project, "reports/first.xml", 20, first, None);
        if !first.is_empty() {
            junit(&project, "reports/again.xml", 20, again, Some(first));
        }
        let output = shell(&project, gate);
        assert_eq!(
            output.code, code,
            "{first:?} {again:?}\n{}\n{}",
            output.stdout, output.stderr
        );
    }
}

#[test]
#[cfg(unix)]
fn the_recipe_for_any_system_runs() {
    let [recipe, of_main] = blocks("Every other system", "sh")
        .try_into()
        .expect("two recipes");
    decides(&recipe);
    keeps_runs(of_main.lines(), &recipe);
}

#[test]
#[cfg(unix)]
fn the_recipe_for_gitlab_runs() {
    let [recipe] = blocks("GitLab", "yaml").try_into().expect("one recipe");
    let job = parsed(&recipe);
    let job = job.get("gate").expect("a job");
    let script = texts(job.get("script"));
    assert_eq!(script.len(), 1, "{script:?}");
    decides(&script.concat());
    let artifacts = job.get("artifacts").expect("artefacts");
    assert_eq!(texts(artifacts.get("when")), ["always"]);
    assert_eq!(texts(artifacts.get("paths")), ["gate.md"]);
    assert_eq!(
        texts(
            artifacts
                .get("reports")
                .and_then(|reports| reports.get("junit"))
        ),
        ["gate.xml"]
    );
}

/// The commands of each step, those that run the program and those after a failure.
#[test]
#[cfg(unix)]
fn the_recipes_for_github_run() {
    let recipes = blocks("GitHub: the action", "yaml");
    let [of_action, of_main, own] = recipes.as_slice() else {
        panic!("three recipes")
    };
    let steps_of = |recipe: &str, job: &str| -> Vec<Node> {
        let workflow = parsed(recipe);
        let steps = workflow
            .get("jobs")
            .and_then(|jobs| jobs.get(job))
            .and_then(|job| job.get("steps"))
            .expect("steps");
        let Value::List(steps) = &steps.value else {
            panic!("a list")
        };
        steps.clone()
    };
    let steps = |recipe: &str| steps_of(recipe, "gate");
    let kept: Vec<String> = steps_of(of_main, "baseline")
        .iter()
        .flat_map(|step| texts(step.get("run")))
        .collect();
    let [tests, rest @ ..] = kept.as_slice() else {
        panic!("{kept:?}")
    };
    assert!(
        tests.starts_with("pytest --junitxml=reports/") && rest.len() == 2,
        "{kept:?}"
    );
    let runs: Vec<String> = steps(own)
        .iter()
        .flat_map(|step| texts(step.get("run")))
        .collect();
    let [_, gate, summary] = runs.as_slice() else {
        panic!("{runs:?}")
    };
    decides(gate);
    keeps_runs(rest.iter().map(String::as_str), gate);
    let project = checkout(20);
    assert_eq!(shell(&project, gate).code, 1);
    assert_eq!(shell(&project, summary).code, 0);
    assert_eq!(project.read("summary.md"), project.read("gate.md"));
    // Every input of the action's recipe is one that the action has.
    let keys = |node: Option<&Node>| -> BTreeSet<String> {
        match node.map(|node| &node.value) {
            Some(Value::Map(entries)) => entries.iter().map(|(key, _)| key.text.clone()).collect(),
            _ => BTreeSet::new(),
        }
    };
    let used: BTreeSet<String> = steps(of_action)
        .iter()
        .flat_map(|step| keys(step.get("with")))
        .collect();
    let known = keys(parsed(&read("action.yml")).get("inputs"));
    assert!(
        !used.is_empty() && used.is_subset(&known),
        "{used:?} {known:?}"
    );
}
