//! The cache changes nothing but time: whatever happens to it or to the results, the answers are those without it.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{Project, lines, question, result};

/// Two arms with two attempts at five questions each.
fn project() -> Project {
    let project = Project::new();
    for (run, approach, passes) in [("quiz-1", "a", 3), ("quiz-2", "b", 2)] {
        project.result(&result(run, "quiz", approach, json!({"cost_usd": 0.5})));
        let items: Vec<_> = (0..10)
            .map(|number| {
                question(
                    &format!("q{}", number % 5),
                    number / 5 + 1,
                    if number % 5 < passes { "pass" } else { "fail" },
                )
            })
            .collect();
        project.items(run, &items);
    }
    project
}

/// Everything that reads the cache, in one text.
fn answers(project: &Project, more: &[&str]) -> String {
    let commands: [&[&str]; 6] = [
        &["list", "--format", "json"],
        &["leaderboard", "--format", "json"],
        &["compare", "quiz", "--format", "json"],
        &["show", "--suite", "quiz", "--format", "json"],
        &[
            "sql",
            "select run_id, item, attempt, status from items order by run_id, item, attempt",
            "--format",
            "json",
        ],
        &[
            "sql",
            "select * from runs order by run_id",
            "--format",
            "json",
        ],
    ];
    lines(commands.iter().map(|command| {
        let output = project.run(command.iter().chain(more).copied());
        format!(
            "{command:?} {} {}{}",
            output.code, output.stdout, output.stderr
        )
    }))
}

/// The answers of a copy of the project that never had a cache.
fn truth(project: &Project) -> String {
    let copy = Project::new();
    for file in project.files("results") {
        copy.bytes(&file, &fs::read(project.path(&file)).expect("it is there"));
    }
    answers(&copy, &[])
}

fn cache_files(project: &Project) -> Vec<PathBuf> {
    // The file that is locked is empty, and nobody reads it.
    let files = project
        .files(".evalreport/cache")
        .into_iter()
        .filter(|file| !file.ends_with(".in-use"));
    let files: Vec<PathBuf> = files.map(|file| project.path(&file)).collect();
    assert!(
        files.len() >= 3,
        "a snapshot, a segment and its digest: {files:?}"
    );
    files
}

#[test]
fn cold_warm_deleted_and_elsewhere() {
    let project = project();
    let cold = answers(&project, &[]);
    assert!(
        cold.contains("\"passed\":6") || cold.contains("\"passed\": 6"),
        "{cold}"
    );
    assert_eq!(answers(&project, &[]), cold, "warm");
    fs::remove_dir_all(project.path(".evalreport")).expect("it can be deleted at any time");
    assert_eq!(answers(&project, &[]), cold, "deleted");
    assert_eq!(answers(&project, &["--cache", "elsewhere"]), cold);
    assert!(project.path("elsewhere").is_dir());
    assert_eq!(truth(&project), cold);
}

/// What happens to a file's bytes.
type Damage = fn(&[u8]) -> Vec<u8>;

#[test]
fn damaged_files_are_made_again() {
    let project = project();
    let truth = answers(&project, &[]);
    let damages: [(&str, Damage); 5] = [
        ("emptied", |_| Vec::new()),
        ("cut in half", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("one byte short", |bytes| bytes[..bytes.len() - 1].to_vec()),
        ("flipped in the middle", |bytes| {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x55;
            bytes
        }),
        ("replaced by text", |_| b"not a cache".to_vec()),
    ];
    for (what, damage) in damages {
        for file in cache_files(&project) {
            let bytes = fs::read(&file).expect("it is there");
            fs::write(&file, damage(&bytes)).expect("ours to damage");
        }
        assert_eq!(answers(&project, &[]), truth, "{what}");
    }
    // And each file alone, so that none is saved by another's damage.
    for file in cache_files(&project) {
        fs::write(&file, "x").expect("ours to damage");
        assert_eq!(answers(&project, &[]), truth, "{}", file.display());
    }
}

#[test]
fn a_snapshot_that_is_a_folder_changes_no_answer() {
    let project = project();
    let truth = answers(&project, &[]);
    for file in cache_files(&project) {
        if file
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("snapshot-"))
        {
            fs::remove_file(&file).expect("removable");
            fs::create_dir(&file).expect("a folder");
        }
    }
    let now = answers(&project, &["--quiet"]);
    assert_eq!(now, truth);
}

#[test]
fn a_segment_that_is_a_folder_is_an_answer_or_a_clear_message() {
    let project = project();
    let truth = answers(&project, &[]);
    for file in cache_files(&project).iter().filter(|file| {
        file.extension()
            .is_some_and(|extension| extension == "parquet")
    }) {
        fs::remove_file(file).expect("removable");
        fs::create_dir(file).expect("a folder");
    }
    let output = project.run(["sql", "select count(*) as n from items", "--format", "csv"]);
    match output.code {
        0 => assert_eq!(output.column("n"), ["20"]),
        code => assert!(
            code == 2 && output.stderr.contains(".parquet"),
            "{}",
            output.stderr
        ),
    }
    // What needs no segments is untouched.
    let board = |text: &str| {
        text.lines()
            .take_while(|line| !line.contains("\"sql\""))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(board(&answers(&project, &["--quiet"])), board(&truth));
}

#[test]
fn results_that_changed_are_read_again() {
    let project = project();
    let mut before = answers(&project, &[]);
    let mut changed = |what: &str| {
        let now = answers(&project, &[]);
        assert_ne!(now, before, "{what} must show");
        assert_eq!(now, truth(&project), "{what}");
        before = now;
    };
    let items = project.read("results/quiz-1/items.jsonl");
    project.file(
        "results/quiz-1/items.jsonl",
        format!("{items}{}\n", question("q9", 1, "pass")),
    );
    changed("an appended line");
    let rejudged = json!({"item": "q9", "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 1, "status": "fail"});
    project.file(
        "results/quiz-1/items.jsonl",
        format!("{items}{}\n{rejudged}\n", question("q9", 1, "pass")),
    );
    changed("a later revision");
    // The same length and the same second: only the content tells.
    project.file(
        "results/quiz-2/items.jsonl",
        project
            .read("results/quiz-2/items.jsonl")
            .replacen("pass", "fail", 1),
    );
    changed("a replaced line");
    project.result(&result("quiz-1", "quiz", "z", json!({"cost_usd": 0.5})));
    changed("a replaced header");
    fs::remove_file(project.path("results/quiz-1/items.jsonl")).expect("removable");
    changed("removed items");
    project.result(&result(
        "quiz-3",
        "quiz",
        "c",
        json!({"shared_tests_passed": 4, "shared_tests_total": 5}),
    ));
    changed("a new run");
    fs::remove_file(project.path("results/quiz-2.json")).expect("removable");
    fs::remove_dir_all(project.path("results/quiz-2")).expect("removable");
    changed("a removed run");
}

#[test]
fn aliases_and_tombstones_are_not_frozen_into_the_cache() {
    let project = project();
    answers(&project, &[]);
    project.file(
        "evalreport.yaml",
        "version: 1\naliases: {approach: {a: renamed}, item: {q0: zero}}\n",
    );
    assert_eq!(
        project
            .run(["leaderboard", "--format", "csv"])
            .column("approach"),
        ["renamed", "b"]
    );
    let items = project.run([
        "sql",
        "select distinct item from items order by item",
        "--format",
        "csv",
    ]);
    assert_eq!(items.column("item"), ["q1", "q2", "q3", "q4", "zero"]);
    fs::remove_file(project.path("evalreport.yaml")).expect("removable");
    assert_eq!(
        project
            .run(["leaderboard", "--format", "csv"])
            .column("approach"),
        ["a", "b"]
    );
    assert_eq!(
        project
            .run(["retract", "quiz-1", "--reason", "x", "--quiet"])
            .code,
        0
    );
    assert_eq!(
        project
            .run(["leaderboard", "--format", "csv"])
            .column("approach"),
        ["b"]
    );
    assert_eq!(
        project
            .run(["sql", "select count(*) as n from items", "--format", "csv"])
            .column("n"),
        ["10"]
    );
}

#[test]
fn stores_merge_by_id() {
    let project = project();
    let one = answers(&project, &[]);
    assert_eq!(
        answers(&project, &["--results", "results", "--results", "results"]),
        one,
        "a store given twice is one"
    );
    for file in project.files("results") {
        project.bytes(
            &file.replacen("results", "copy", 1),
            &fs::read(project.path(&file)).expect("it is there"),
        );
    }
    assert_eq!(
        answers(
            &project,
            &["--results", "results", "--results", "copy", "--strict"]
        ),
        one,
        "a copy adds nothing"
    );
    project.file(
        "copy/quiz-3.json",
        result("quiz-3", "quiz", "c", json!({})).to_string(),
    );
    project.file(
        "copy/quiz-3/items.jsonl",
        format!("{}\n", question("q0", 1, "pass")),
    );
    let both = [
        "--results",
        "results",
        "--results",
        "copy",
        "--format",
        "csv",
    ];
    assert_eq!(
        project
            .run(["list", "--runs"].into_iter().chain(both))
            .column("run"),
        ["quiz-1", "quiz-2", "quiz-3"]
    );
    assert_eq!(
        project
            .run(
                ["sql", "select count(*) as n from items"]
                    .into_iter()
                    .chain(both)
            )
            .column("n"),
        ["21"]
    );
    // The first store's version of a run stands.
    project.file(
        "copy/quiz-1.json",
        result("quiz-1", "quiz", "other", json!({})).to_string(),
    );
    let approaches = project
        .run(["leaderboard"].into_iter().chain(both))
        .column("approach");
    assert_eq!(approaches, ["c", "a", "b"]);
}

/// The names of the files below a folder of the cache that end so.
fn held(project: &Project, suffix: &str) -> Vec<String> {
    project
        .files(".evalreport/cache")
        .into_iter()
        .filter(|file| file.ends_with(suffix))
        .collect()
}

const COUNT: [&str; 2] = ["sql", "select count(*) as n from items"];

#[test]
fn superseded_segments_go_unless_another_program_uses_them() {
    let project = project();
    let more = |number: u32| {
        let items = project.read("results/quiz-1/items.jsonl");
        project.file(
            "results/quiz-1/items.jsonl",
            format!("{items}{}\n", question(&format!("new-{number}"), 1, "pass")),
        );
        assert_eq!(
            project
                .run(COUNT.into_iter().chain(["--format", "csv"]))
                .column("n"),
            [(20 + number).to_string()]
        );
    };
    project.run(COUNT);
    let first = held(&project, ".parquet");
    assert_eq!(first.len(), 1);
    more(1);
    let second = held(&project, ".parquet");
    assert_eq!((second.len(), held(&project, ".sha256").len()), (1, 1));
    assert_ne!(second, first);
    // This test is the other program.
    let lock = fs::File::open(project.path(".evalreport/cache/.in-use"))
        .expect("made with the first segment");
    lock.lock_shared().expect("a shared lock");
    more(2);
    assert_eq!(
        held(&project, ".parquet").len(),
        2,
        "the old one may be open"
    );
    let refused = project.run(["cache", "clear"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("another command uses the cache"),
        "{}",
        refused.stderr
    );
    drop(lock);
    more(3);
    assert_eq!(held(&project, ".parquet").len(), 1);
}

#[test]
fn snapshots_of_stores_that_are_gone_go() {
    let project = project();
    for file in project.files("results") {
        project.bytes(
            &file.replacen("results", "other", 1),
            &fs::read(project.path(&file)).expect("it is there"),
        );
    }
    let snapshots = || {
        project
            .files(".evalreport/cache")
            .iter()
            .filter(|file| file.contains("snapshot-"))
            .count()
    };
    project.run([
        "leaderboard",
        "--cache",
        ".evalreport/cache",
        "--results",
        "other",
    ]);
    project.run(["leaderboard"]);
    assert_eq!(snapshots(), 2, "both stores are there");
    fs::remove_dir_all(project.path("other")).expect("removable");
    fs::create_dir(project.path("none")).expect("a folder");
    assert_eq!(
        project
            .run(["leaderboard", "--results", "results", "--results", "none"])
            .code,
        0
    );
    assert_eq!(
        snapshots(),
        2,
        "that of the lost store is gone, and a new one is there"
    );
}

#[test]
fn an_imported_file_that_changed_is_kept_once() {
    let project = project();
    let table = |passes: u32| {
        let rows: Vec<String> = (0..20)
            .map(|item| format!("one,q{item},{}", u32::from(item < passes)))
            .collect();
        project.file(
            "more.csv",
            format!("model,item,score\n{}\n", rows.join("\n")),
        );
        let board = project.run(["leaderboard", "more.csv", "--format", "csv"]);
        assert_eq!(board.code, 0, "{}", board.stderr);
    };
    let sources = || held(&project, ".source");
    table(3);
    let first = sources();
    table(9);
    let second = sources();
    assert_eq!((first.len(), second.len()), (1, 1), "{second:?}");
    assert_ne!(first, second);
    let snapshots = || {
        project
            .files(".evalreport/cache")
            .iter()
            .filter(|file| file.contains("snapshot-"))
            .count()
    };
    table(11);
    let before = snapshots();
    table(14);
    assert_eq!(snapshots(), before, "that of an earlier content goes too");
}

#[test]
fn the_cache_is_listed_and_cleared() {
    let project = project();
    assert_eq!(
        project.run(["cache"]).answer(),
        "In the cache .evalreport/cache: 0 files with 0 bytes.\n"
    );
    let truth = answers(&project, &[]);
    let listed = project.run(["cache", "--format", "json"]).json();
    let parts = listed["parts"].as_array().expect("parts");
    let kinds: Vec<_> = parts
        .iter()
        .map(|part| part["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(kinds, ["snapshot", "segments"]);
    for part in parts {
        assert_eq!(part["of"], json!([project.path("results")]));
        assert!(
            part["last_used"].is_string() && part["bytes"].as_u64() > Some(100),
            "{part}"
        );
    }
    let shown = project.run(["cache"]);
    assert!(
        shown
            .answer()
            .contains("`evalreport cache clear` deletes all of it; no answer changes."),
        "{}",
        shown.stdout
    );
    assert!(
        project
            .run(["cache", "clear", "--older-than", "1h"])
            .answer()
            .contains("0 files"),
        "all is younger"
    );
    let cleared = project.run(["cache", "clear", "--format", "json"]).json();
    assert_eq!(
        (&cleared["cleared"], &cleared["bytes"]),
        (&json!(true), &listed["bytes"])
    );
    assert_eq!(
        held(&project, ""),
        [".evalreport/cache/.in-use"],
        "only the lock stays"
    );
    assert_eq!(answers(&project, &[]), truth);
}
