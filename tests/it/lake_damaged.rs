//! Damaged lakes: whatever happens to one file of a lake, it is refused, or the same board as before.

use std::fs;
use std::path::{Path, PathBuf};

use evalreport::warehouse::{Progress, Warehouse, WarehouseOptions};
use serde_json::{Value, json};

use crate::support::{Project, in_parallel, lines, result};

fn add(project: &Project, id: &str, suite: &str, approach: &str, failing: usize) {
    let items: Vec<Value> = (0..6)
        .map(|number| {
            json!({"item": format!("q{number}"), "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 0, "cluster": "c",
                "status": if number < failing { "fail" } else { "pass" }, "cost_usd": 0.1})
        })
        .collect();
    project
        .result(&result(
            id,
            suite,
            approach,
            json!({"timestamp": "2026-01-05T03:04:05Z"}),
        ))
        .items(id, &items);
}

/// A lake of two suites in five commits of runs: new runs, a retraction with a new run, a revision, and a retraction alone.
fn published() -> Project {
    let project = Project::new();
    let publish = || assert_eq!(project.run(["export", "lake", "lake"]).code, 0);
    for (id, suite, approach, failing) in [
        ("a1", "quiz", "alpha", 1),
        ("b1", "quiz", "beta", 4),
        ("z1", "zoo", "alpha", 2),
    ] {
        add(&project, id, suite, approach, failing);
    }
    publish();
    add(&project, "c1", "quiz", "gamma", 3);
    assert_eq!(
        project
            .run(["retract", "b1", "--reason", "wrong seed"])
            .code,
        0
    );
    publish();
    project.file(
        "results/a1/items.jsonl",
        project.read("results/a1/items.jsonl")
            + &lines(&[json!({"item": "q9", "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 0, "status": "fail"})]),
    );
    publish();
    assert_eq!(
        project
            .run(["retract", "c1", "--reason", "wrong seed"])
            .code,
        0
    );
    publish();
    project
}

/// What a board needs: the runs that count with their outcomes, and those that are hidden. `None` if the lake is refused.
fn board(lake: &Path) -> Option<(String, usize)> {
    let options = WarehouseOptions {
        lakes: vec![lake.to_owned()],
        ..WarehouseOptions::default()
    };
    let warehouse = Warehouse::open(&options, &Progress::SILENT).ok()?;
    let mut text = String::new();
    for row in warehouse.runs() {
        text.push_str(&format!("{:?} {:?}\n", row.run, row.items));
        let matrix = warehouse.outcome_matrix([&row.run.id]);
        for outcomes in &matrix.rows {
            let items = outcomes
                .outcomes()
                .map(|(item, status)| format!("{:?} {status:?}", matrix.items[item as usize]));
            text.push_str(&format!(
                "{} {:?}\n",
                outcomes.attempt,
                items.collect::<Vec<String>>()
            ));
        }
    }
    for hidden in warehouse.hidden_runs() {
        text.push_str(&format!("{} {}\n", hidden.run.id, hidden.reason));
    }
    Some((text, warehouse.source_notes().len()))
}

fn copied(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
    {
        let target = to.join(entry.path().strip_prefix(from).expect("below"));
        fs::create_dir_all(target.parent().expect("a folder")).expect("room");
        fs::copy(entry.path(), target).expect("room");
    }
}

/// Changes a file of a lake, whose other files of the kind are given.
type Damage = Box<dyn Fn(&Path, &[PathBuf]) + Send + Sync>;

fn damages(path: &Path) -> Vec<(String, Damage)> {
    let bytes = fs::read(path).expect("readable");
    let mut damages: Vec<(String, Damage)> = vec![
        (
            "removed".to_owned(),
            Box::new(|path, _| fs::remove_file(path).expect("it is there")),
        ),
        (
            "a folder".to_owned(),
            Box::new(|path, _| {
                fs::remove_file(path).expect("it is there");
                fs::create_dir(path).expect("room");
            }),
        ),
    ];
    let mut with = |name: String, bytes: Vec<u8>| {
        let damage: Damage = Box::new(move |path, _| fs::write(path, &bytes).expect("room"));
        damages.push((name, damage));
    };
    with("empty".to_owned(), Vec::new());
    with(
        "doubled".to_owned(),
        [bytes.clone(), bytes.clone()].concat(),
    );
    for length in [1, bytes.len() / 2, bytes.len() - 1] {
        with(format!("cut off after {length}"), bytes[..length].to_vec());
    }
    for place in (0..8).map(|part| bytes.len() * part / 8) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 0x15;
        with(format!("flipped at {place}"), flipped);
    }
    let is_text = path
        .extension()
        .is_some_and(|extension| extension != "parquet");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for lost in (0..lines.len()).filter(|_| is_text && lines.len() > 1) {
        let rest = lines
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != lost)
            .flat_map(|(_, line)| line.to_vec())
            .collect();
        with(format!("without line {}", lost + 1), rest);
    }
    for other in 0..2 {
        let swap: Damage = Box::new(move |path, others| {
            let Some(other) = others.get(other) else {
                return;
            };
            let (one, two) = (
                fs::read(path).expect("readable"),
                fs::read(other).expect("readable"),
            );
            fs::write(path, two).expect("room");
            fs::write(other, one).expect("room");
        });
        damages.push((format!("swapped with another {other}"), swap));
    }
    damages
}

#[test]
fn no_damage_of_one_file_makes_another_board() {
    let project = published();
    let lake = project.path("lake");
    let (truth, notes) = board(&lake).expect("a whole lake");
    assert_eq!(notes, 0);
    let files: Vec<PathBuf> = project
        .files("lake")
        .iter()
        .map(|path| PathBuf::from(path.strip_prefix("lake/").expect("below")))
        .collect();
    let is_alike = |one: &Path, other: &Path| {
        one != other
            && one.extension() == other.extension()
            && one.iter().next() == other.iter().next()
    };
    let cases: Vec<(&PathBuf, String, Damage)> = files
        .iter()
        .flat_map(|file| {
            damages(&lake.join(file))
                .into_iter()
                .map(move |(name, damage)| (file, name, damage))
        })
        .collect();
    assert!(cases.len() >= 356, "only {} damages", cases.len());
    let wrong = in_parallel(&cases, |(file, name, damage)| {
        let folder = tempfile::tempdir().expect("a folder");
        copied(&lake, folder.path());
        let others: Vec<PathBuf> = files
            .iter()
            .filter(|other| is_alike(file, other))
            .map(|other| folder.path().join(other))
            .collect();
        damage(&folder.path().join(file), &others);
        let (found, _) = board(folder.path())?;
        (found != truth).then(|| format!("{} {name}", file.display()))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(
        wrong.is_empty(),
        "{} of {} damages make another board:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Without its checksum, the last commit of `runs` is what a publisher that was killed has not made. Outcomes that no run names are a hint of it.
#[test]
fn a_last_commit_that_is_gone_without_a_trace_is_a_hint_at_most() {
    let project = published();
    let lake = project.path("lake");
    let gone = |version: u64| {
        for ending in ["json", "crc"] {
            fs::remove_file(lake.join(format!("runs/_delta_log/{version:020}.{ending}")))
                .expect("it is there");
        }
    };
    // A retraction has no outcomes.
    gone(4);
    let (_, notes) = board(&lake).expect("the lake of an hour ago");
    assert_eq!(notes, 0);
    gone(3);
    let (_, notes) = board(&lake).expect("the lake of an hour ago");
    assert_eq!(notes, 1);
    let said = project.run(["leaderboard", "--results", "lake:lake"]);
    assert_eq!(said.code, 0);
    assert!(
        said.stderr
            .contains("names no run of the last publication, of which there are 7 outcomes"),
        "{}",
        said.stderr
    );
    assert_eq!(project.run(["export", "lake", "lake"]).code, 0);
    assert_eq!(board(&lake).expect("whole again").1, 0);
}
