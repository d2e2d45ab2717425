//! Lakes: what a store publishes there is read back to the last digit, whoever publishes, and whatever happens meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::programs::{Program, Start as _};
use crate::support::{BINARY, Project, result};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Commands that read runs, with what they answer of the shipped results.
const READERS: [&[&str]; 15] = [
    &["leaderboard"],
    &["leaderboard", "--overall", "macro"],
    &["compare"],
    &["history"],
    &["list"],
    &["list", "--runs"],
    &["noise"],
    &["audit"],
    &["leaderboard", "--suite", "basics"],
    &["compare", "--suite", "tasktracker", "--explain"],
    &["gate", "--baseline", "last:1", "--max-drop", "2pp"],
    &["show", "--suite", "tasktracker"],
    &[
        "sql",
        "SELECT suite, approach, model, count(*) AS runs, sum(cost_usd) AS cost FROM runs JOIN usage USING (run_id) GROUP BY suite, approach, model ORDER BY suite, approach, model",
    ],
    &[
        "sql",
        "SELECT run_id, kind, evaluator, status, count(*) AS n, sum(cost_usd) AS cost, avg(score) AS score FROM items GROUP BY run_id, kind, evaluator, status ORDER BY run_id, kind, evaluator, status",
    ],
    &[
        "sql",
        "SELECT * FROM scores ORDER BY run_id, metric, revision",
    ],
];

/// Runs a command on some results. `place` is taken out of what it says.
fn said(project: &Project, command: &[&str], places: &[&str]) -> (i32, String) {
    let configuration = format!("{ROOT}/evalreport.yaml");
    let mut arguments = command.to_vec();
    arguments.extend(["--format", "json", "--config", &configuration]);
    for place in places {
        arguments.extend(["--results", place]);
    }
    let output = project.run(arguments);
    assert!(
        [0, 1, 3].contains(&output.code),
        "{command:?}: {}",
        output.stderr
    );
    let stdout = places
        .iter()
        .fold(output.stdout, |text, place| text.replace(place, "RESULTS"));
    (
        output.code,
        if command[0] == "show" {
            without_files(&stdout)
        } else {
            stdout
        },
    )
}

/// Takes out where a store has a run's transcript and output, which a lake has not.
fn without_files(shown: &str) -> String {
    let names_a_file = |line: &&str| {
        ["\"transcript\": \"", "\"output\": \""]
            .iter()
            .any(|key| line.trim_start().starts_with(key))
    };
    shown
        .lines()
        .filter(|line| !names_a_file(line))
        .collect::<Vec<&str>>()
        .join("\n")
}

fn publish(project: &Project, results: &str) -> String {
    let output = project.run(["export", "lake", "lake", "--results", results]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    output.stderr
}

fn item(name: &str, status: &str) -> Value {
    json!({"item": name, "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 0, "status": status, "cluster": "c",
        "cost_usd": 0.1, "details": {"question": format!("what of {name}?"), "reply": "so", "expected": ["b"], "steps": 3}})
}

fn add(project: &Project, store: &str, id: &str, approach: &str) {
    let seed = id.bytes().map(usize::from).sum::<usize>();
    let items: Vec<Value> = (0..30)
        .map(|index| {
            item(
                &format!("q{index}"),
                if (index * 7 + seed).is_multiple_of(3) {
                    "fail"
                } else {
                    "pass"
                },
            )
        })
        .collect();
    let header = result(
        id,
        "quiz",
        approach,
        json!({"timestamp": "2026-01-05T03:04:05Z"}),
    );
    project.file(&format!("{store}/{id}.json"), header.to_string());
    project.file(
        &format!("{store}/{id}/items.jsonl"),
        items
            .iter()
            .map(Value::to_string)
            .collect::<Vec<String>>()
            .join("\n")
            + "\n",
    );
}

fn store() -> Project {
    let project = Project::new();
    for (id, approach) in [
        ("a1", "alpha"),
        ("a2", "alpha"),
        ("b1", "beta"),
        ("b2", "beta"),
    ] {
        add(&project, "results", id, approach);
    }
    project
}

/// Holds the lake to the store that was published: whatever reads says the same.
#[track_caller]
fn assert_same(project: &Project, results: &[&str]) {
    for command in [
        &["leaderboard"][..],
        &["compare"],
        &["list", "--runs"],
        &["show", "--suite", "quiz"],
    ] {
        let (code, of_lake) = said(project, command, &["lake:lake"]);
        let (expected, of_store) = said(project, command, results);
        assert_eq!((code, of_lake), (expected, of_store), "{command:?}");
    }
}

fn commits(project: &Project, table: &str) -> usize {
    project
        .files(&format!("lake/{table}/_delta_log"))
        .into_iter()
        .filter(|file| Path::new(file).extension().is_some_and(|end| end == "json"))
        .count()
}

#[test]
fn the_shipped_results_read_from_a_lake_are_the_same_to_the_byte() {
    let project = Project::new();
    let results = format!("{ROOT}/results");
    let told = publish(&project, &results);
    assert!(told.contains("added"), "{told}");
    for command in READERS {
        let of_lake = said(&project, command, &["lake:lake"]);
        assert_eq!(of_lake, said(&project, command, &[&results]), "{command:?}");
    }
    // A folder beside a lake with the same runs changes nothing, in any order.
    for places in [[results.as_str(), "lake:lake"], ["lake:lake", &results]] {
        assert_eq!(
            said(&project, &["leaderboard"], &places)
                .1
                .replace("RESULTS", ""),
            said(&project, &["leaderboard"], &[&results])
                .1
                .replace("RESULTS", "")
        );
    }
}

#[test]
fn a_site_from_a_lake_is_that_of_the_store_but_for_what_a_lake_does_not_hold() {
    let project = store();
    publish(&project, "results");
    let build = |place: &str, out: &str| {
        let output = project.run([
            "build",
            "--without-results",
            "--out",
            out,
            "--results",
            place,
            "--cache",
            &format!("{out}-cache"),
        ]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let files = project.files(out).into_iter();
        files
            .map(|path| {
                (
                    path.split_once('/').expect("below").1.to_owned(),
                    fs::read(project.path(&path)).expect("readable"),
                )
            })
            .collect()
    };
    let (of_store, of_lake): (BTreeMap<String, Vec<u8>>, BTreeMap<String, Vec<u8>>) =
        (build("results", "a"), build("lake:lake", "b"));
    let differing: Vec<&String> = of_store
        .keys()
        .chain(of_lake.keys())
        .filter(|path| of_store.get(*path) != of_lake.get(*path))
        .collect();
    assert!(differing.is_empty(), "{differing:?}");
}

#[test]
fn only_what_is_new_is_added() {
    let project = store();
    assert!(publish(&project, "results").contains("4 runs added, 120 outcomes"));
    let before = project.files("lake");
    assert!(publish(&project, "results").contains("nothing new; 4 runs are in it already"));
    assert_eq!(project.files("lake"), before);

    add(&project, "results", "c1", "gamma");
    assert!(publish(&project, "results").contains("1 run added, 30 outcomes; 4 runs unchanged"));
    assert_eq!(
        (commits(&project, "runs"), commits(&project, "outcomes")),
        (3, 3)
    );
    assert_same(&project, &["results"]);

    // A retraction and its undo are rows of their own; the outcomes stay.
    assert_eq!(
        project
            .run(["retract", "a1", "--reason", "wrong seed"])
            .code,
        0
    );
    assert!(publish(&project, "results").contains("1 run retracted, 0 outcomes"));
    assert_same(&project, &["results"]);
    let rows = said(&project, &["list", "--runs"], &["lake:lake"]).1;
    assert!(!rows.contains("\"a1\""), "{rows}");
    assert_eq!(project.run(["retract", "a1", "--undo"]).code, 0);
    assert!(publish(&project, "results").contains("1 run no longer retracted, 0 outcomes"));
    assert_same(&project, &["results"]);
    assert_eq!(commits(&project, "outcomes"), 3);

    // A run that was judged again is published whole again, and only its last revision stands.
    let judged =
        r#"{"metric":"answers","value":1.0,"unit":"points","direction":"up","revision":0}"#;
    project.file("results/b1/scores.jsonl", format!("{judged}\n"));
    let mut items = project.read("results/b1/items.jsonl");
    let mut later = item("q0", "error");
    later["revision"] = json!(1);
    later["cluster"] = Value::Null;
    items.push_str(&format!("{later}\n"));
    project.file("results/b1/items.jsonl", items);
    assert!(publish(&project, "results").contains("1 run revised, 31 outcomes"));
    for command in [&["leaderboard"][..], &["compare"], &["list", "--runs"]] {
        assert_eq!(
            said(&project, command, &["lake:lake"]),
            said(&project, command, &["results"]),
            "{command:?}"
        );
    }
    // A lake names the cluster in force, which the judged line does not repeat.
    let shown = |place: &str| said(&project, &["show", "b1"], &[place]).1;
    assert_eq!(
        shown("lake:lake").replacen("          \"cluster\": \"c\",\n", "", 1),
        shown("results")
    );
    assert!(publish(&project, "results").contains("nothing new"));
}

#[test]
fn a_run_retracted_before_it_was_published_is_published_when_it_counts() {
    let project = store();
    assert_eq!(
        project
            .run(["retract", "a1", "--reason", "wrong seed"])
            .code,
        0
    );
    assert!(publish(&project, "results").contains("90 outcomes"));
    assert_same(&project, &["results"]);
    assert_eq!(project.run(["retract", "a1", "--undo"]).code, 0);
    assert!(publish(&project, "results").contains("30 outcomes"));
    assert_same(&project, &["results"]);
}

#[test]
fn what_is_not_committed_is_not_there() {
    for lost in [&["runs"][..], &["runs", "outcomes"]] {
        let project = store();
        publish(&project, "results");
        let before = said(&project, &["leaderboard"], &["lake:lake"]);
        add(&project, "results", "c1", "gamma");
        publish(&project, "results");
        assert_ne!(said(&project, &["leaderboard"], &["lake:lake"]), before);
        // As if the publisher had been killed before these commits: its files lie there.
        for table in lost {
            for ending in ["json", "crc"] {
                fs::remove_file(project.path(&format!(
                    "lake/{table}/_delta_log/00000000000000000002.{ending}"
                )))
                .expect("the last commit");
            }
        }
        project.file("lake/outcomes/.writing-x.tmp", "half");
        assert_eq!(said(&project, &["leaderboard"], &["lake:lake"]), before);
        assert!(publish(&project, "results").contains("1 run added"));
        assert_same(&project, &["results"]);
    }
}

fn start(project: &Project, results: &str) -> Program {
    let mut command = Command::new(BINARY);
    command.args([
        "export",
        "lake",
        "lake",
        "--results",
        results,
        "--cache",
        &format!("cache-{}", results.replace('/', "-")),
    ]);
    command
        .current_dir(project.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command.start()
}

#[test]
fn a_publisher_killed_at_any_time_leaves_a_lake_that_the_next_one_completes() {
    let project = store();
    publish(&project, "results");
    for (number, wait) in (0..12).zip([0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240]) {
        add(&project, "results", &format!("k{number}"), "killed");
        let mut publisher = start(&project, "results");
        thread::sleep(Duration::from_millis(wait));
        let _ = publisher.kill();
        publisher.wait();
        // Whatever is there is whole.
        let (code, _) = said(&project, &["leaderboard"], &["lake:lake"]);
        assert_eq!(code, 0, "after {wait} ms");
    }
    publish(&project, "results");
    assert_same(&project, &["results"]);
}

#[test]
fn publishers_at_the_same_time_lose_and_double_nothing() {
    let project = Project::new();
    let stores = ["one", "two", "three", "four"];
    for (number, store) in stores.iter().enumerate() {
        for run in 0..3 {
            add(
                &project,
                store,
                &format!("r{number}-{run}"),
                ["alpha", "beta", "gamma"][run],
            );
        }
        // A run that all of them have.
        add(&project, store, "shared", "delta");
    }
    let publishers: Vec<Program> = stores.iter().map(|store| start(&project, store)).collect();
    for publisher in publishers {
        let output = publisher.finish();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let of_lake = said(&project, &["list", "--runs"], &["lake:lake"]).1;
    assert_eq!(
        of_lake
            .matches("\"id\": \"")
            .count()
            .max(of_lake.matches("\"id\":\"").count()),
        13,
        "{of_lake}"
    );
    for command in [&["leaderboard"][..], &["compare"]] {
        let normal = |places: &[&str]| {
            said(&project, command, places)
                .1
                .replace("--results RESULTS", "")
        };
        assert_eq!(normal(&["lake:lake"]), normal(&stores), "{command:?}");
    }
    for store in stores {
        assert!(publish(&project, store).contains("nothing new"));
    }
}

#[test]
fn a_lake_that_is_not_whole_is_refused() {
    let refused = |damage: &dyn Fn(&Project), why: &str| {
        let project = store();
        publish(&project, "results");
        damage(&project);
        let output = project.run(["leaderboard", "--format", "json", "--results", "lake:lake"]);
        let refusal = output.refusal();
        assert!(refusal.contains(why), "{why}: {refusal}");
        assert_eq!(refusal.matches("error").count(), 1, "{refusal}");
    };
    let one = |project: &Project, table: &str| {
        let files = project.files(&format!("lake/{table}"));
        project.path(
            files
                .iter()
                .find(|path| path.ends_with(".parquet"))
                .expect("a file"),
        )
    };
    let flip = |path: &Path| {
        let mut bytes = fs::read(path).expect("readable");
        let place = bytes.len() / 3;
        bytes[place] ^= 0x55;
        fs::write(path, bytes).expect("writable");
    };
    refused(
        &|project| fs::remove_file(one(project, "outcomes")).expect("removable"),
        "is gone",
    );
    refused(
        &|project| fs::remove_file(one(project, "runs")).expect("removable"),
        "is gone",
    );
    refused(&|project| flip(&one(project, "runs")), "digest differs");
    refused(
        &|project| {
            let path = one(project, "outcomes");
            let bytes = fs::read(&path).expect("readable");
            fs::write(path, &bytes[..bytes.len() / 2]).expect("writable");
        },
        "bytes",
    );
    refused(
        &|project| {
            fs::remove_file(project.path("lake/outcomes/_delta_log/00000000000000000000.json"))
                .expect("removable");
        },
        "commit 0",
    );
    refused(
        &|project| {
            project.file(
                "lake/_evalreport.json",
                r#"{"format":"evalreport lake","version":3}"#,
            );
        },
        "version 3",
    );
    refused(
        &|project| fs::remove_file(project.path("lake/_evalreport.json")).expect("removable"),
        "not a lake",
    );
}

/// Any changed byte of the outcomes either changes nothing that a board shows, or is refused.
#[test]
fn a_flipped_byte_never_makes_another_board() {
    let project = store();
    publish(&project, "results");
    let files = project.files("lake/outcomes");
    let path = project.path(
        files
            .iter()
            .find(|path| path.ends_with(".parquet"))
            .expect("a file"),
    );
    let whole = fs::read(&path).expect("readable");
    let board = said(&project, &["leaderboard"], &["lake:lake"]);
    let mut refused = 0;
    for number in 0..40 {
        let mut bytes = whole.clone();
        bytes[whole.len() * number / 40] ^= 0x15;
        fs::write(&path, bytes).expect("writable");
        let output = project.run(["leaderboard", "--format", "json", "--results", "lake:lake"]);
        if output.code == 0 {
            assert_eq!(
                output.stdout.replace("lake:lake", "RESULTS"),
                board.1,
                "byte {}",
                whole.len() * number / 40
            );
        } else {
            assert_eq!(
                (output.code, output.stdout.as_str()),
                (2, ""),
                "{}",
                output.stderr
            );
            refused += 1;
        }
    }
    assert!(refused > 0, "no damage was noticed");
}

#[test]
fn what_a_lake_cannot_do_is_refused_with_a_hint() {
    let project = store();
    publish(&project, "results");
    for command in [
        &["retract", "a1", "--reason", "x"][..],
        &["import", "results"],
        &["doctor"],
    ] {
        let mut arguments = command.to_vec();
        arguments.extend(["--results", "lake:lake"]);
        let output = project.run(arguments);
        let refusal = output.refusal();
        assert!(
            refusal.contains("a lake is only read") && refusal.contains("hint"),
            "{refusal}"
        );
    }
    assert!(
        project
            .run(["export", "bundle", "x.bundle", "--results", "lake:lake"])
            .refusal()
            .contains("no records to copy")
    );
    assert!(
        project
            .run(["export", "lake", "results"])
            .refusal()
            .contains("results")
    );
    project.file("other/notes.txt", "mine");
    assert!(
        project
            .run(["export", "lake", "other"])
            .refusal()
            .contains("not a lake")
    );
    assert!(
        project
            .run(["leaderboard", "--results", "lake:other"])
            .refusal()
            .contains("not a lake")
    );
    assert!(
        project
            .run(["leaderboard", "--results", "lake:"])
            .refusal()
            .contains("names no folder")
    );
}

/// A lake is copied like any store, and is a baseline.
#[test]
fn a_lake_is_a_store_for_exports_and_baselines() {
    let project = store();
    publish(&project, "results");
    assert_eq!(
        project
            .run(["export", "lake", "copy", "--results", "lake:lake"])
            .code,
        0
    );
    let board = |place: &str| said(&project, &["leaderboard"], &[place]).1;
    assert_eq!(board("lake:copy"), board("lake:lake"));
    assert_eq!(
        project.run(["export", "lake", "copy"]).code,
        0,
        "the same runs from the store"
    );
    let gate = |baseline: &str| {
        let output = project.run(["gate", "--format", "json", "--baseline", baseline]);
        (output.code, output.stdout.replace(baseline, "BASELINE"))
    };
    let copied = project.path("older");
    fs::create_dir_all(&copied).expect("writable");
    for file in project.files("results") {
        project.bytes(
            &file.replacen("results", "older", 1),
            &fs::read(project.path(&file)).expect("readable"),
        );
    }
    assert_eq!(gate("lake:lake"), gate("older"));
}

/// What a command on the lake read: files of outcomes that were known, and that were read.
fn known_and_read(project: &Project, command: &[&str]) -> (usize, usize) {
    let output =
        project.run(
            command
                .iter()
                .copied()
                .chain(["--results", "lake:lake", "--verbose"]),
        );
    assert_eq!(output.code, 0, "{}", output.stderr);
    let line = output
        .stderr
        .lines()
        .find(|line| line.contains("lake listed"))
        .expect("it says what it read");
    let number = |name: &str| {
        let after = line.split(&format!("{name}=")).nth(1).expect("a number");
        after
            .split(|letter: char| !letter.is_ascii_digit())
            .next()
            .and_then(|digits| digits.parse().ok())
            .expect("a number")
    };
    (number("known"), number("read"))
}

#[test]
fn a_command_reads_of_a_lake_only_what_changed() {
    let project = store();
    project.file(
        "results/z1.json",
        result(
            "z1",
            "zoo",
            "alpha",
            json!({"timestamp": "2026-01-05T03:04:05Z"}),
        )
        .to_string(),
    );
    project.file(
        "results/z1/items.jsonl",
        format!("{}\n", item("q0", "pass")),
    );
    publish(&project, "results");
    let board = || said(&project, &["leaderboard"], &["lake:lake"]);
    // A command about one suite reads that alone, and forgets nothing.
    assert_eq!(
        known_and_read(&project, &["leaderboard", "--suite", "zoo"]),
        (0, 1)
    );
    assert_eq!(known_and_read(&project, &["leaderboard"]), (1, 1));
    assert_eq!(
        known_and_read(&project, &["leaderboard", "--suite", "zoo"]),
        (1, 0)
    );
    assert_eq!(known_and_read(&project, &["leaderboard"]), (2, 0));
    assert_eq!(board(), said(&project, &["leaderboard"], &["results"]));

    // A publication more is a file more.
    add(&project, "results", "c1", "gamma");
    publish(&project, "results");
    assert_eq!(known_and_read(&project, &["leaderboard"]), (2, 1));
    assert_same(&project, &["results"]);
    assert_eq!(known_and_read(&project, &["leaderboard"]), (3, 0));

    // A retraction hides a run whose outcomes stay where they are, and a revised run is read alone.
    assert_eq!(
        project
            .run(["retract", "a1", "--reason", "wrong seed"])
            .code,
        0
    );
    publish(&project, "results");
    assert_eq!(known_and_read(&project, &["leaderboard"]), (3, 0));
    assert_same(&project, &["results"]);
    let lines = project.read("results/c1/items.jsonl");
    project.file(
        "results/c1/items.jsonl",
        format!("{lines}{}\n", item("q99", "pass")),
    );
    publish(&project, "results");
    assert_eq!(known_and_read(&project, &["leaderboard"]), (2, 1));
    assert_eq!(known_and_read(&project, &["leaderboard"]), (3, 0));
    assert_same(&project, &["results"]);

    // A folder beside the lake has a part of the cache of its own, with both.
    for _ in 0..2 {
        let both = said(&project, &["list", "--runs"], &["results", "lake:lake"]).1;
        assert_eq!(
            both.replace("RESULTS", ""),
            said(&project, &["list", "--runs"], &["results"])
                .1
                .replace("RESULTS", "")
        );
    }

    // Parts of the cache are listed, and go with their lake.
    let parts = |project: &Project| {
        let listed = project.run(["cache", "--format", "json"]).json();
        listed["parts"]
            .as_array()
            .expect("parts")
            .iter()
            .filter(|part| part["kind"] == "snapshot")
            .map(|part| part["of"].clone())
            .collect::<Vec<Value>>()
    };
    let place = format!("lake:{}", project.path("lake").display());
    let of: Vec<Value> = parts(&project);
    assert!(
        of.contains(&json!([place])) && of.contains(&json!([project.path("results"), place])),
        "{of:?}"
    );
    fs::remove_dir_all(project.path("lake")).expect("removable");
    fs::remove_dir_all(project.path(".evalreport/cache/segments")).unwrap_or_default();
    fs::create_dir(project.path("none")).expect("a folder");
    assert_eq!(
        project
            .run(["leaderboard", "--results", "results", "--results", "none"])
            .code,
        0
    );
    let of: Vec<Value> = parts(&project);
    assert!(!of.contains(&json!([place])), "{of:?}");
}

/// A file that was changed after it was read once is refused as one that was changed before.
#[test]
fn a_cached_lake_is_no_excuse_for_a_damaged_one() {
    let project = store();
    publish(&project, "results");
    let board = said(&project, &["leaderboard"], &["lake:lake"]);
    for table in ["outcomes", "runs"] {
        let files = project.files(&format!("lake/{table}"));
        let path = project.path(
            files
                .iter()
                .find(|path| path.ends_with(".parquet"))
                .expect("a file"),
        );
        let whole = fs::read(&path).expect("readable");
        let mut bytes = whole.clone();
        // In the first column, which a board reads.
        bytes[20] ^= 0x55;
        fs::write(&path, &bytes).expect("writable");
        assert!(
            project
                .run(["leaderboard", "--results", "lake:lake"])
                .refusal()
                .contains("digest differs"),
            "{table}"
        );
        fs::write(&path, &bytes[..10]).expect("writable");
        project
            .run(["leaderboard", "--results", "lake:lake"])
            .refusal();
        fs::remove_file(&path).expect("removable");
        assert!(
            project
                .run(["leaderboard", "--results", "lake:lake"])
                .refusal()
                .contains("is gone"),
            "{table}"
        );
        fs::write(&path, &whole).expect("writable");
        assert_eq!(
            said(&project, &["leaderboard"], &["lake:lake"]),
            board,
            "{table}"
        );
    }
}
