//! The store through the library, as the binary sees it: commit, journals, batches, sealed pairs, tombstones.

use std::fs;

use chrono::{DateTime, TimeZone, Utc};
use evalreport::domain::{Filter, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId};
use evalreport::results::{
    Batch, PlannedArm, PlannedRun, Retraction, Retractions, SealedWriter, Store, StoreError,
};
use serde_json::json;

use crate::support::{Project, passed, result};

fn store(project: &Project) -> Store {
    Store::new(project.path("results"))
}

fn id(text: &str) -> RunId {
    RunId::parse(text).expect("a valid id")
}

fn outcome(run: &RunId, item: &str, status: ItemStatus) -> ItemOutcome {
    ItemOutcome {
        run: run.clone(),
        kind: ItemKind::Question,
        item: item.to_owned(),
        cluster: None,
        category: None,
        attempt: 1,
        status,
        score: Some(0.1 + 0.2),
        evaluator: "answers".to_owned(),
        revision: 0,
        duration_seconds: None,
        cost_usd: None,
        input_tokens: None,
        output_tokens: None,
    }
}

#[test]
fn a_run_is_saved_whole_and_once() {
    let project = Project::new();
    let store = store(&project);
    let mut run = Run::new(id("run-1"), "s", "a\u{1b}", "m");
    run.cost_usd = Some(0.1 + 0.2);
    run.timestamp = Some(
        Utc.with_ymd_and_hms(2026, 3, 4, 5, 6, 7)
            .single()
            .expect("a time"),
    );
    run.tags.insert("host".to_owned(), "x".to_owned());
    let path = store.save_run(&run).expect("the first save");
    assert_eq!(path, project.path("results/run-1.json"));
    assert_eq!(store.load_run(&run.id).expect("saved"), run);

    let before = project.read("results/run-1.json");
    run.cost_usd = None;
    assert!(matches!(
        store.save_run(&run),
        Err(StoreError::Exists { .. })
    ));
    assert_eq!(
        project.read("results/run-1.json"),
        before,
        "a committed record is never rewritten"
    );
    assert_eq!(
        project.files("results"),
        ["results/run-1.json"],
        "nothing half-written stays"
    );
    assert_eq!(
        project.run(["show", "run-1", "--format", "json"]).json()["runs"][0]["cost_usd"],
        0.1 + 0.2
    );
}

#[test]
fn saving_races_have_one_winner() {
    let project = Project::new();
    let store = store(&project);
    let saved = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|number| {
                let store = &store;
                scope.spawn(move || {
                    let mut run = Run::new(id("run-1"), "s", "a", "m");
                    run.seed = Some(number);
                    store.save_run(&run).is_ok()
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("no panic"))
            .filter(|saved| *saved)
            .count()
    });
    assert_eq!(saved, 1);
    assert!(store.load_run(&id("run-1")).is_ok());
    assert_eq!(project.files("results").len(), 1);
}

#[test]
fn a_plan_is_written_before_its_runs_and_never_changed() {
    let project = Project::with(&[
        result("run-1", "s", "a", json!({"batch_id": "b1"})),
        result("run-2", "s", "a", json!({})),
    ]);
    let store = store(&project);
    let arm = PlannedArm {
        suite: "s".into(),
        suite_version: Some("abc".into()),
        approach: "a".into(),
        model: "m".into(),
        ..PlannedArm::default()
    };
    let run = PlannedRun {
        id: id("planned-1"),
        arm: 0,
        index: 1,
        seed: 7,
    };
    let mut batch = Batch {
        id: "b1".into(),
        created: "2026-01-01T00:00:00Z".into(),
        arms: vec![arm],
        runs: vec![run],
        seed: Some(7),
        ..Batch::default()
    };
    batch.tags = [("night".to_owned(), "12".to_owned())].into();
    batch.save(&store).expect("the first save");
    let path = store.batches_dir().join("b1.json");
    assert_eq!(Batch::load(&path).expect("saved"), batch);
    let before = fs::read(&path).expect("it is there");
    batch.runs.clear();
    assert!(batch.save(&store).is_err());
    assert_eq!(fs::read(&path).expect("it is there"), before);
    assert!(project.run(["doctor"]).answer().contains("1 batch,"));
    assert_eq!(
        project
            .run(["list", "--runs", "--batch", "b1", "--format", "csv"])
            .column("run"),
        ["run-1"]
    );
}

#[test]
fn a_journal_counts_when_its_run_is_committed() {
    let project = Project::with(&[result("other", "s", "b", json!({}))]);
    let store = store(&project);
    let run = id("run-1");
    let mut journal = store.open_journal(&run).expect("a new journal");
    journal
        .append_outcome(
            &outcome(&run, "q\"1\n", ItemStatus::Pass),
            &ItemDetails::default(),
        )
        .expect("room");
    journal.sync().expect("a disk");
    assert!(
        project
            .run(["list"])
            .answer()
            .contains("│ run-1 │ unknown │ unknown  │ unknown │ in progress │        1 │")
    );
    assert!(
        project
            .run(["doctor"])
            .answer()
            .contains("results/run-1: in flight")
    );
    journal
        .append_outcome(
            &outcome(&run, "q2", ItemStatus::Fail),
            &ItemDetails::default(),
        )
        .expect("room");
    drop(journal);
    // Resuming appends to what is there.
    store
        .open_journal(&run)
        .expect("the same journal")
        .append_outcome(
            &outcome(&run, "q3", ItemStatus::Infra),
            &ItemDetails::default(),
        )
        .expect("room");
    store
        .save_run(&Run::new(run, "s", "a", "m"))
        .expect("the commit");

    let board = project.run(["leaderboard", "--format", "csv"]);
    let row = &board.rows()[0];
    assert_eq!(
        (
            passed(row).as_str(),
            row["n"].as_str(),
            row["missing"].as_str()
        ),
        ("1/2", "2", "1")
    );
    let items = project
        .run([
            "sql",
            "select item, status, score from items order by item",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(items["rows"][0], json!(["q\"1\n", "pass", 0.1 + 0.2]));
    assert_eq!(project.run(["doctor"]).code, 0);
}

#[test]
fn a_sealed_pair_appears_whole_or_not_at_all() {
    let project = Project::with(&[result("other", "s", "b", json!({}))]);
    let store = store(&project);
    let run = Run::new(id("imported-1"), "s", "a", "m");
    let mut given_up = SealedWriter::create(&store, "aaaa").expect("a new pair");
    given_up
        .write_item(&outcome(&run.id, "q1", ItemStatus::Pass))
        .expect("room");
    drop(given_up);
    assert_eq!(project.files("results"), ["results/other.json"]);
    let mut writer = SealedWriter::create(&store, "aaaa").expect("a new pair");
    writer
        .write_item(&outcome(&run.id, "q1", ItemStatus::Pass))
        .expect("room");
    assert!(!SealedWriter::pair_exists(&store, "aaaa"));
    writer.commit(std::slice::from_ref(&run)).expect("room");
    assert!(SealedWriter::pair_exists(&store, "aaaa"));
    assert_eq!(
        project.run(["leaderboard", "--format", "csv"]).passed(),
        ["1/1", "/"]
    );
    let again = SealedWriter::create(&store, "aaaa").expect("a new pair");
    assert!(
        again.commit(&[]).is_err(),
        "a sealed pair is never replaced"
    );
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run")
            .len(),
        2
    );
}

fn tasks() -> Project {
    let run = |id: &str, approach: &str, seconds: u64| {
        let fields = json!({"duration_seconds": seconds, "shared_tests_passed": 1, "shared_tests_total": 2, "tags": {"who": id}});
        result(id, "s", approach, fields)
    };
    Project::with(&[
        run("run-1", "a", 10),
        run("run-10", "b", 20),
        run("run-3", "c", 30),
    ])
}

#[test]
fn retracted_runs_are_left_out_and_counted_everywhere() {
    let project = tasks();
    let header = project.read("results/run-1.json");
    let retract = project.run(["retract", "run-1", "--reason", "wrong server"]);
    assert_eq!(
        (
            retract.code,
            retract.stdout.as_str(),
            retract.stderr.as_str()
        ),
        (0, "", "1 run retracted\n")
    );
    assert_eq!(
        project.read("results/run-1.json"),
        header,
        "the record stays as it is"
    );
    let list = project.run(["list", "--runs", "--format", "csv"]);
    assert_eq!(
        list.column("run"),
        ["run-10", "run-3"],
        "an id that begins like it is another run"
    );
    for command in [
        vec!["list"],
        vec!["list", "--runs"],
        vec!["compare", "s"],
        vec!["leaderboard"],
    ] {
        let output = project.run(command.iter().copied());
        assert!(
            output.answer().contains("1 run retracted."),
            "{command:?}: {}",
            output.stdout
        );
        assert!(
            !output.stdout.contains("run-1 "),
            "{command:?}: {}",
            output.stdout
        );
    }
    for (command, place) in [
        (vec!["list"], "/retracted"),
        (vec!["compare", "s"], "/retracted"),
        (vec!["leaderboard"], "/retracted"),
    ] {
        let json = project
            .run(command.into_iter().chain(["--format", "json"]))
            .json();
        assert_eq!(json.pointer(place), Some(&json!(1)));
    }
    assert_eq!(
        project
            .run(["sql", "select count(*) as n from runs", "--format", "csv"])
            .column("n"),
        ["2"]
    );
    assert!(
        project
            .run(["show", "run-1"])
            .refusal()
            .contains("run `run-1` is retracted: wrong server")
    );
    assert!(project.run(["doctor"]).answer().contains("1 tombstone;"));

    let undo = project.run(["retract", "run-1", "--undo"]);
    assert_eq!((undo.code, undo.stderr.as_str()), (0, "runs shown again\n"));
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run")
            .len(),
        3
    );
    assert_eq!(
        project.read("results/retractions.jsonl").lines().count(),
        2,
        "taking back appends"
    );
}

#[test]
fn selections_can_be_retracted() {
    let project = tasks();
    assert_eq!(
        project
            .run(["retract", "--tag", "who=run-3", "--reason", "x", "--quiet"])
            .answer(),
        ""
    );
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run"),
        ["run-1", "run-10"]
    );
    assert_eq!(
        project
            .run([
                "retract",
                "--suite",
                "s",
                "--reason",
                "all of it",
                "--quiet"
            ])
            .answer(),
        ""
    );
    let none = project.run(["list"]);
    assert!(
        none.refusal()
            .starts_with("error: all 3 runs of the store are retracted\n  hint: "),
        "{}",
        none.stderr
    );
    assert_eq!(
        project
            .run(["retract", "--suite", "s", "--undo", "--quiet"])
            .answer(),
        ""
    );
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run"),
        ["run-1", "run-10"],
        "the other tombstone stands"
    );
}

#[test]
fn a_beginning_of_an_id_means_the_run_it_meant_then() {
    let project = Project::with(&[
        result("0198aaaa-1", "s", "a", json!({})),
        result("other", "s", "b", json!({})),
    ]);
    assert_eq!(
        project
            .run(["retract", "0198", "--reason", "x", "--quiet"])
            .answer(),
        ""
    );
    project.result(&result("0198bbbb-2", "s", "a", json!({})));
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run"),
        ["0198bbbb-2", "other"]
    );
    assert_eq!(
        project
            .run(["retract", "0198", "--undo", "--quiet"])
            .answer(),
        ""
    );
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run")
            .len(),
        3
    );
}

#[test]
fn what_cannot_be_retracted() {
    let project = tasks();
    for (arguments, message) in [
        (
            vec!["retract", "--reason", "x"],
            "error: retract needs a run id or a selection\n",
        ),
        (
            vec!["retract", "nothing", "--reason", "x"],
            "error: no run `nothing`\n",
        ),
        (
            vec!["retract", "--suite", "t", "--reason", "x"],
            "error: no suite `t`\n",
        ),
        (
            vec!["retract", "run-", "--reason", "x"],
            "error: `run-` is the beginning of 3 run ids\n",
        ),
        (
            vec!["retract", "run-1", "--reason", "  "],
            "error: the reason is empty\n",
        ),
        (
            vec!["retract", "run-1", "--undo"],
            "error: no retraction has this selector\n",
        ),
        (
            vec!["retract", "run-1"],
            "error: the following required arguments were not provided:\n",
        ),
    ] {
        let output = project.run(arguments.iter().copied());
        assert_eq!(output.code, 2, "{arguments:?}");
        let said = output
            .stderr
            .find("error: ")
            .map(|start| &output.stderr[start..]);
        assert!(
            said.is_some_and(|said| said.starts_with(message)),
            "{arguments:?}: {}",
            output.stderr
        );
    }
    assert!(!project.path("results/retractions.jsonl").exists());
}

#[test]
fn tombstones_of_the_library_are_those_of_the_binary() {
    let project = tasks();
    let store = store(&project);
    let time: DateTime<Utc> = Utc
        .with_ymd_and_hms(2026, 1, 1, 0, 0, 0)
        .single()
        .expect("a time");
    let selector = Filter {
        approaches: vec!["b".into()],
        ..Filter::default()
    };
    Retraction {
        selector,
        reason: "r".into(),
        time,
        undo: false,
    }
    .append_to(&store)
    .expect("room");
    assert_eq!(
        Retractions::load(&store).expect("readable").standing.len(),
        1
    );
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run"),
        ["run-1", "run-3"]
    );
    assert_eq!(
        project
            .run(["retract", "--approach", "b", "--undo", "--quiet"])
            .answer(),
        ""
    );
    assert_eq!(
        Retractions::load(&store).expect("readable"),
        Retractions::default()
    );
}
