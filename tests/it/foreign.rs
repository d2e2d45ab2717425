//! Other tools' results in general: found in folders, told apart, imported once, and shown without being imported.

use serde_json::{Value, json};

use crate::support::Project;

fn project() -> Project {
    let project = Project::new();
    project
        .fixture("import/inspect/plain.json", "logs/a/plain.json")
        .fixture("import/inspect/dict-scores.json", "logs/b/dict.json")
        .file("logs/b/readme.md", "not looked into")
        .file("logs/b/other.json", "{\"some\": \"thing\"}")
        .file("logs/simple.json", "{\"htmls\": [], \"convos\": []}");
    project
}

fn outcomes(report: &Value) -> Vec<&str> {
    report["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .filter_map(|source| source["outcome"].as_str())
        .collect()
}

#[test]
fn a_folder_is_walked_and_what_is_no_result_is_counted() {
    let project = project();
    let dry = project.run(["import", "logs", "--dry-run"]);
    assert!(
        dry.answer()
            .contains("1 file of simple-evals, not supported yet: read its rows"),
        "{}",
        dry.stdout
    );
    assert!(
        dry.stdout
            .contains("1 file of no format that is recognised"),
        "{}",
        dry.stdout
    );
    assert!(
        dry.stdout.contains("simple.json (simple-evals)") && dry.stdout.contains("other.json"),
        "{}",
        dry.stdout
    );
    assert!(!project.path("results").exists());
    let report = project.run(["import", "logs", "--format", "json"]).json();
    assert_eq!(outcomes(&report), ["imported", "imported"]);
    assert_eq!(
        (
            &report["passed_over"],
            report["unrecognised"].as_array().map(Vec::len)
        ),
        (&json!(1), Some(2))
    );
    let again = project.run(["import", "logs", "--format", "json"]).json();
    assert_eq!(outcomes(&again), ["already_imported", "already_imported"]);
}

#[test]
fn a_named_file_that_is_no_result_is_refused_with_what_can_be_done() {
    let project = project();
    let said = project.run(["import", "logs/b/other.json"]);
    assert!(
        said.code == 2 && said.stdout.contains("has an unknown format"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    let said = project.run(["import", "logs/b/other.json", "--as", "table"]);
    assert!(
        said.refusal().contains("the files hold no table"),
        "{}",
        said.stderr
    );
    let said = project.run(["import", "logs/simple.json"]);
    assert!(
        said.code == 2
            && said
                .stdout
                .contains("is a result of simple-evals, not supported yet"),
        "{}",
        said.stdout
    );
    let said = project.run(["import", "nowhere"]);
    assert!(
        said.refusal().contains("no such file or folder: nowhere\n"),
        "{}",
        said.stderr
    );
    let said = project.run(["import", "logs", "--as", "inpsect"]);
    assert!(
        said.code == 2 && said.stderr.contains("inspect"),
        "{}",
        said.stderr
    );
    let said = project.run(["import", "logs/a/plain.json", "--set", "siute=x"]);
    assert!(
        said.refusal().contains("`siute` cannot be set"),
        "{}",
        said.stderr
    );
}

#[test]
fn names_that_are_given_win_and_make_another_run() {
    let project = project();
    let ids = |arguments: &[&str]| {
        let all = [
            &["import", "logs/a/plain.json", "--format", "json"],
            arguments,
        ]
        .concat();
        project.run(all).json()["sources"][0]["runs_new"].clone()
    };
    let first = ids(&[]);
    let renamed = ids(&["--set", "suite=capitals", "--set", "approach=mine"]);
    assert_ne!(first, renamed);
    let names: Vec<(String, String)> = project
        .run(["list", "--runs", "--format", "csv"])
        .rows()
        .into_iter()
        .map(|row| (row["suite"].clone(), row["approach"].clone()))
        .collect();
    assert!(
        names.contains(&("capitals".to_owned(), "mine".to_owned())),
        "{names:?}"
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_of_the_folder_are_not_followed() {
    let project = project();
    project
        .fixture("import/inspect/old-shape.json", "outside/old.json")
        .file("walked/.hidden/x.json", "{}");
    std::os::unix::fs::symlink(project.path("outside"), project.path("walked/link"))
        .expect("a link");
    std::os::unix::fs::symlink(
        project.path("outside/old.json"),
        project.path("walked/old.json"),
    )
    .expect("a link");
    let report = project.run(["import", "walked", "--format", "json"]);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(
        (&report["sources"], &report["links"]),
        (&json!([]), &json!(["walked/link", "walked/old.json"]))
    );
    let said = project.run(["import", "walked"]).stdout;
    assert!(
        said.contains("2 symbolic links not followed: walked/link, walked/old.json"),
        "{said}"
    );
    // A link that is named is what it leads to.
    let report = project
        .run(["import", "walked/old.json", "--format", "json"])
        .json();
    assert_eq!(outcomes(&report), ["imported"]);
}

#[test]
fn from_logs_to_a_page_in_one_step() {
    let project = project();
    let board = project.run(["leaderboard", "./logs", "--format", "csv"]);
    assert_eq!(board.passed(), ["1/2", "3/4"], "{}", board.stderr);
    // A suite's name and a path beside each other.
    assert_eq!(
        project
            .run(["leaderboard", "dict-scores", "./logs", "--format", "csv"])
            .passed(),
        ["1/2"]
    );
    let built = project.run(["build", "logs", "--out", "site"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    assert!(project.path("site/index.html").is_file());
    assert!(
        !project.path("results").exists(),
        "the store is left as it is"
    );
    // Again, from the cache; and the same without it.
    let again = project.run(["leaderboard", "./logs", "--format", "csv"]);
    assert_eq!(again.stdout, board.stdout);
    std::fs::remove_dir_all(project.path(".evalreport")).expect("the cache");
    assert_eq!(
        project
            .run(["leaderboard", "./logs", "--format", "csv"])
            .stdout,
        board.stdout
    );
    // What is gone from the folder is gone from the board.
    std::fs::remove_file(project.path("logs/b/dict.json")).expect("a file");
    assert_eq!(
        project
            .run(["leaderboard", "./logs", "--format", "csv"])
            .passed(),
        ["3/4"]
    );

    let said = project.run(["leaderboard", "./logs/b"]);
    assert!(
        said.refusal()
            .contains("no results of a known format were found in ./logs/b"),
        "{}",
        said.stderr
    );
}

#[test]
fn two_arms_of_foreign_logs_are_compared() {
    let project = Project::new();
    let log = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/import/inspect/plain.json"
    ))
    .expect("the fixture");
    project.file("logs/one.json", &log);
    project.file(
        "logs/two.json",
        log.replace("evalPlain", "evalOther")
            .replace("gpt-x", "gpt-y")
            .replace("taskPlain", "taskOther"),
    );
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    assert_eq!(
        answer["comparisons"][0]["arms"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn a_word_is_a_folder_unless_a_run_goes_by_it() {
    let project = project();
    assert_eq!(
        project
            .run(["leaderboard", "logs", "--format", "csv"])
            .passed(),
        ["1/2", "3/4"]
    );
    let [named, dotted] =
        ["logs/a", "./logs/a"].map(|path| project.run(["leaderboard", path, "--format", "json"]));
    assert_eq!(
        (named.code, &named.stdout),
        (0, &dotted.stdout),
        "{}",
        named.stderr
    );
    // Once a suite has the name of the folder, the suite is meant.
    assert_eq!(
        project
            .run(["import", "logs/a/plain.json", "--set", "suite=logs"])
            .code,
        0
    );
    assert_eq!(
        project
            .run(["leaderboard", "logs", "--format", "csv"])
            .passed(),
        ["3/4"]
    );
    let said = project.run(["leaderboard", "nowhere"]);
    assert!(
        said.refusal().contains("no suite `nowhere`"),
        "{}",
        said.stderr
    );
    for arguments in [
        ["import", "s3://bucket/a.csv"],
        ["leaderboard", "s3://bucket/a"],
    ] {
        let said = project.run(arguments);
        assert!(
            said.code == 2
                && format!("{}{}", said.stdout, said.stderr).contains("mount the object store"),
            "{}{}",
            said.stdout,
            said.stderr
        );
    }
}

#[test]
fn hostile_text_is_shown_and_never_obeyed() {
    let project = Project::new();
    let evil = "\u{1b}[2J<script>alert(1)</script>\u{202e}";
    let log = json!({"version": 2, "status": "success", "eval": {"eval_id": evil, "run_id": evil, "task": evil, "task_id": "t", "model": evil, "solver": evil,
        "packages": {"inspect_ai": evil}},
        "results": {"total_samples": 1, "scores": [{"name": evil, "scorer": evil, "metrics": {"accuracy": {"value": 0.5}}}]},
        "samples": [{"id": evil, "epoch": 1, "input": evil, "target": evil, "scores": {evil: {"value": "C", "answer": evil, "explanation": evil}}}]});
    project.file("logs/evil.json", log.to_string());
    for arguments in [
        vec!["import", "logs", "--dry-run"],
        vec!["import", "logs"],
        vec!["leaderboard"],
        vec!["list"],
        vec!["list", "--runs"],
    ] {
        let said = project.run(arguments.clone());
        assert_eq!(said.code, 0, "{arguments:?} {}", said.stderr);
        assert!(
            !said.stdout.contains(['\u{1b}', '\u{202e}'])
                && !said.stderr.contains(['\u{1b}', '\u{202e}']),
            "{arguments:?}"
        );
    }
    assert_eq!(project.run(["build"]).code, 0);
    for file in project
        .files("site")
        .into_iter()
        .filter(|file| file.strip_suffix(".html").is_some())
    {
        assert!(!project.read(&file).contains("<script>alert"), "{file}");
    }
}
