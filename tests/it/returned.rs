//! Sites that are read back: the results that go with a site are those that it shows.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Project, question, result};

/// Runs of the store's own beside an imported table.
fn published() -> Project {
    let project = Project::new();
    run(&project, "r1", "planner", 3);
    run(&project, "r2", "react", 21);
    project.file("table.csv", table("first", &["a", "b"]));
    let output = project.run(["import", "table.csv", "--yes"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    project
}

/// A run that failed the first questions of 40.
fn run(project: &Project, id: &str, approach: &str, failed: usize) {
    project.result(&result(
        id,
        "own",
        approach,
        json!({"status": "completed", "batch_id": "b", "cost_usd": 0.5}),
    ));
    let items: Vec<Value> = (1..=40)
        .map(|number| {
            let mut item = question(
                &format!("q{number}"),
                1,
                if number <= failed { "fail" } else { "pass" },
            );
            item["details"] = json!({"answer": "A", "expected": ["B"], "reason": "it is B"});
            item
        })
        .collect();
    project.items(id, &items);
}

fn table(suite: &str, arms: &[&str]) -> String {
    let row = |arm: &str, item: usize| {
        format!(
            "{suite},{arm},q{item},{}\n",
            if item.is_multiple_of(2 + arm.len()) {
                "fail"
            } else {
                "pass"
            }
        )
    };
    let rows: String = arms
        .iter()
        .flat_map(|arm| (1..=30).map(move |item| row(arm, item)))
        .collect();
    format!("suite,model,question,status\n{rows}")
}

fn import(project: &Project, from: &Project, path: &str) {
    let output = project.run(["import", &from.path(path).to_string_lossy()]);
    assert_eq!(output.code, 0, "{path}: {}", output.stderr);
}

fn bytes(project: &Project, path: &str) -> Vec<u8> {
    fs::read(project.path(path)).expect("it was written")
}

#[test]
fn a_site_and_a_page_come_back_as_they_were() {
    let project = published();
    assert_eq!(project.run(["build"]).code, 0);
    assert_eq!(
        project.run(["build", "--single-file", "report.html"]).code,
        0
    );
    let page = project.read("site/index.html");
    assert!(
        page.contains("4 runs and 140 outcomes: <code>evalreport import</code>"),
        "{page}"
    );
    for path in [
        "site",
        "site/index.html",
        "site/data/results.bundle",
        "report.html",
    ] {
        let reader = Project::new();
        import(&reader, &project, path);
        assert_eq!(reader.run(["build"]).code, 0);
        for file in project
            .files("site")
            .iter()
            .filter(|file| *file != "site/.evalreport-manifest.json")
        {
            assert!(
                bytes(&reader, file) == bytes(&project, file),
                "{file} after {path}"
            );
        }
        assert_eq!(reader.files("site"), project.files("site"), "{path}");
        // It is all there already.
        let again = reader.run(["import", &project.path(path).to_string_lossy()]);
        assert_eq!(again.code, 0, "{}", again.stderr);
        assert_eq!(
            reader.run(["list", "--format", "json"]).json()["runs"],
            4,
            "{path}"
        );
    }
    // The same board, without storing anything.
    let own = project.run(["leaderboard", "--format", "json"]).json();
    for path in ["site", "report.html"] {
        assert_eq!(
            Project::new()
                .run([
                    "leaderboard",
                    &project.path(path).to_string_lossy(),
                    "--format",
                    "json"
                ])
                .json(),
            own,
            "{path}"
        );
    }
}

#[test]
fn two_sites_make_one_board() {
    let reader = Project::new();
    for arms in [["a", "bb"], ["ccc", "dddd"]] {
        let project = Project::new();
        project.file("table.csv", table("shared", &arms));
        assert_eq!(project.run(["import", "table.csv", "--yes"]).code, 0);
        assert_eq!(
            project.run(["build", "--single-file", "report.html"]).code,
            0
        );
        import(&reader, &project, "report.html");
    }
    let board = reader.run(["leaderboard", "--format", "json"]).json();
    assert_eq!(board["suites"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        board["suites"][0]["entries"].as_array().map(Vec::len),
        Some(4)
    );
}

/// Of results that are read where they lie, not even the data's digest may depend on the folder.
#[test]
fn a_site_of_other_tools_results_is_the_same_in_any_folder() {
    let projects = [Project::new(), Project::new()];
    for project in &projects {
        project.fixture("import/inspect/plain.json", "logs/plain.json");
        project.file("logs/unit.xml", "<testsuite name=\"unit\" tests=\"1\"><testcase classname=\"a\" name=\"b\"/></testsuite>");
        let output = project.run(["build", "./logs"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
    let [one, other] = &projects;
    assert_eq!(one.files("site"), other.files("site"));
    for file in one.files("site") {
        assert!(
            bytes(one, &file) == bytes(other, &file),
            "{file} depends on the folder"
        );
    }
}

#[test]
fn a_site_is_a_baseline() {
    let project = published();
    assert_eq!(
        project.run(["build", "--single-file", "report.html"]).code,
        0
    );
    assert_eq!(project.run(["build"]).code, 0);
    let reader = Project::new();
    run(&reader, "r3", "planner", 33);
    for path in ["report.html", "site"] {
        let output = reader.run([
            "gate",
            "--suite",
            "own",
            "--baseline",
            &project.path(path).to_string_lossy(),
            "--max-drop",
            "2pp",
            "--format",
            "json",
        ]);
        assert_eq!(output.code, 1, "{path}: {}", output.stderr);
        assert!(
            output.stdout.contains("\"ruling\": \"regression\""),
            "{}",
            output.stdout
        );
    }
}

#[test]
fn results_stay_out_where_they_are_to() {
    let project = published();
    assert_eq!(project.run(["build", "--without-results"]).code, 0);
    assert!(!project.path("site/data/results.bundle").exists());
    assert!(!project.read("site/index.html").contains("results.bundle"));
    assert_eq!(
        project
            .run(["build", "--single-file", "report.html", "--without-results"])
            .code,
        0
    );
    let reader = Project::new();
    let output = reader.run(["import", &project.path("report.html").to_string_lossy()]);
    assert_eq!(output.code, 2, "{}", output.stdout);
    // A selection takes only its own.
    assert_eq!(project.run(["build", "--suite", "own"]).code, 0);
    import(&reader, &project, "site");
    assert_eq!(reader.run(["list", "--format", "json"]).json()["runs"], 2);
}

#[test]
fn a_secret_of_the_environment_is_not_packed() {
    let project = published();
    let output = project.run_in(
        ["export", "bundle", "all.bundle"],
        &[("API_TOKEN", "planner-react-table")],
    );
    assert_eq!(output.code, 0, "{}", output.stderr);
    let item = json!({"item": "q41", "kind": "question", "evaluator": "exact", "status": "pass", "details": {"answer": "it is s3cr3t-value-of-ours"}});
    let lines = format!("{}{item}\n", project.read("results/r1/items.jsonl"));
    project.file("results/r1/items.jsonl", lines);
    let output = project.run_in(
        ["export", "bundle", "all.bundle"],
        &[("API_TOKEN", "s3cr3t-value-of-ours")],
    );
    assert_eq!(output.code, 2, "{}", output.stdout);
    assert!(
        output.stderr.contains("would hold the value of $API_TOKEN"),
        "{}",
        output.stderr
    );
}
