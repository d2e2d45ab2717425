//! `doctor`: every kind of damage is named with its place, and what is no damage is not.

use std::fs::File;

use evalreport::domain::{ItemKind, ItemOutcome, ItemStatus, Run, RunId};
use evalreport::results::{SealedWriter, Store};
use serde_json::json;

use crate::support::{Project, question, result, test};

#[track_caller]
fn check(project: &Project, damage: &str) {
    let output = project.run(["doctor"]);
    assert!(output.stdout.starts_with(damage), "{}", output.stdout);
    assert_eq!((output.code, output.stderr.as_str()), (1, ""));
    assert!(
        output.stdout.contains("1 problem found"),
        "{}",
        output.stdout
    );
}

fn quiz(fields: serde_json::Value) -> Project {
    Project::with(&[result("quiz-1", "quiz", "a", fields)])
}

#[test]
fn a_clean_store() {
    let project = quiz(json!({"shared_tests_passed": 1, "shared_tests_total": 2}));
    project.items(
        "quiz-1",
        &[
            question("q1", 1, "pass"),
            question("q2", 1, "fail"),
            question("q3", 1, "infra"),
        ],
    );
    let doctor = project.run(["doctor"]);
    assert_eq!(
        doctor.answer(),
        "results: 1 run, 3 item lines, 0 batches, 0 tombstones; no damage found\n"
    );
    let json = project.run(["doctor", "--format", "json"]).json();
    assert_eq!(json["schema"], "evalreport/doctor/1");
    assert_eq!(json["stores"][0]["damage"], json!([]));
    assert_eq!(json["stores"][0]["items"], 3);
}

#[test]
fn truncated_and_unreadable() {
    let project = quiz(json!({}));
    project.file(
        "results/quiz-1/items.jsonl",
        format!("{}\n{{\"item\":\"q2\",\"ki", question("q1", 1, "pass")),
    );
    check(
        &project,
        "results/quiz-1/items.jsonl:2: is cut off in the middle\n",
    );
    let project = quiz(json!({}));
    project.file(
        "results/quiz-1/scores.jsonl",
        "{\"metric\":\"x\",\"unit\":\"number\",\"direction\":\"up\"}\nnope\n",
    );
    check(
        &project,
        "results/quiz-1/scores.jsonl:2: is not a score line: ",
    );
    let project = quiz(json!({}));
    project.file("results/batches/b.json", "{\"id\":\"b\"}");
    check(
        &project,
        "results/batches/b.json: is not a batch plan: missing field `created`",
    );
    let project = quiz(json!({}));
    project.file(
        "results/retractions.jsonl",
        "{\"selector\":{},\"reason\":\"all\",\"time\":\"2026-01-01T00:00:00Z\"}\n",
    );
    check(
        &project,
        "results/retractions.jsonl:1: is a tombstone that selects every run\n",
    );
}

#[test]
fn counts_that_contradict_the_items() {
    let project = quiz(
        json!({"shared_tests_passed": 2, "shared_tests_total": 2, "own_tests_passed": 1, "own_tests_total": 1}),
    );
    let own = json!({"item": "t", "kind": "test", "evaluator": "own_tests", "attempt": 1, "revision": 0, "status": "pass"});
    project.items(
        "quiz-1",
        &[
            test("t1", "pass"),
            test("t2", "error"),
            test("t3", "skipped"),
            own.clone(),
        ],
    );
    let message = "results/quiz-1/items.jsonl: run `quiz-1`: header says shared_tests 2 of 2, its items of revision 0 say 1 of 2\n";
    check(&project, message);
    // A later revision is another opinion, not a contradiction.
    let mut judged = test("t2", "pass");
    judged["revision"] = json!(1);
    project.items(
        "quiz-1",
        &[test("t1", "pass"), test("t2", "pass"), own, judged],
    );
    assert_eq!(project.run(["doctor"]).code, 0);
}

#[test]
fn an_item_that_is_there_twice() {
    let project = quiz(json!({}));
    project.items(
        "quiz-1",
        &[
            question("q1", 1, "pass"),
            question("q1", 2, "pass"),
            question("q1", 1, "fail"),
        ],
    );
    check(
        &project,
        "results/quiz-1/items.jsonl:3: item `q1`, attempt 1, revision 0 is there twice\n",
    );
}

#[test]
fn duplicate_ids_and_items_beside_the_wrong_name() {
    let project = quiz(json!({}));
    project.file(
        "results/copy.json",
        r#"{"id":"quiz-1","suite":"quiz","approach":"a"}"#,
    );
    check(
        &project,
        "results/quiz-1.json: duplicate id `quiz-1`, also in results/copy.json\n",
    );
    let project = quiz(json!({}));
    project.file(
        "results/other.json",
        r#"{"id":"mine","suite":"quiz","approach":"a"}"#,
    );
    project.items("other", &[question("q1", 1, "pass")]);
    check(
        &project,
        "results/other.json: has id `mine`, but its items lie in `other`\n",
    );
}

#[test]
fn abandoned_and_in_flight() {
    let project = quiz(json!({}));
    project.items("going", &[question("q1", 1, "pass")]);
    let lock = File::open(project.path("results/going/items.jsonl")).expect("it is there");
    lock.lock().expect("nobody else has it");
    let doctor = project.run(["doctor"]);
    assert_eq!(
        doctor.code, 0,
        "a run in flight is no damage: {}",
        doctor.stdout
    );
    assert!(
        doctor
            .stdout
            .starts_with("results/going: in flight: another process is writing it (1 outcome)\n"),
        "{}",
        doctor.stdout
    );
    drop(lock);
    check(
        &project,
        "results/going: abandoned run: no header, and no process is writing it (1 outcome)\n  hint: delete the folder",
    );
    let list = project.run(["list"]);
    assert!(
        list.answer()
            .contains("│ going │ unknown │ unknown  │ unknown │ abandoned │        1 │"),
        "{}",
        list.stdout
    );
}

/// One imported run with one item, as the importer would store it.
fn import(project: &Project, key: &str) {
    let store = Store::new(project.path("results"));
    let run = Run::new(
        RunId::parse("imported-1").expect("a valid id"),
        "s",
        "a",
        "m",
    );
    let mut writer = SealedWriter::create(&store, key).expect("a new pair");
    let outcome = ItemOutcome {
        run: run.id.clone(),
        kind: ItemKind::Question,
        item: "q1".to_owned(),
        cluster: None,
        category: None,
        attempt: 1,
        status: ItemStatus::Pass,
        score: None,
        evaluator: "import".to_owned(),
        revision: 0,
        duration_seconds: None,
        cost_usd: None,
        input_tokens: None,
        output_tokens: None,
    };
    writer.write_item(&outcome).expect("room on the disk");
    writer.commit(&[run]).expect("room on the disk");
}

#[test]
fn halves_of_an_import() {
    let project = quiz(json!({}));
    import(&project, "aaaa");
    assert_eq!(project.run(["doctor"]).code, 0);
    let runs = project.path("results/imports/aaaa.runs.jsonl");
    let items = project.path("results/imports/aaaa.items.jsonl.zst");

    let kept = std::fs::read(&items).expect("it is there");
    std::fs::write(&items, &kept[..kept.len() - 6]).expect("ours to change");
    let doctor = project.run(["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(
        doctor
            .stdout
            .contains("aaaa.items.jsonl.zst: cannot be read to its end: "),
        "{}",
        doctor.stdout
    );
    let list = project.run(["list"]);
    assert!(
        list.code == 0
            && list
                .stderr
                .contains("aaaa.items.jsonl.zst: cannot be read to its end: "),
        "{}",
        list.stderr
    );

    std::fs::remove_file(&items).expect("removable");
    check(
        &project,
        "results/imports/aaaa.runs.jsonl: its items file is missing\n  hint: ",
    );

    std::fs::write(&items, kept).expect("ours to change");
    std::fs::remove_file(&runs).expect("removable");
    check(
        &project,
        "results/imports/aaaa.items.jsonl.zst: items without header: an import was interrupted",
    );
}

#[test]
fn items_of_a_run_that_is_not_there() {
    let project = quiz(json!({}));
    import(&project, "aaaa");
    project.file(
        "results/imports/aaaa.runs.jsonl",
        "{\"id\":\"someone-else\",\"suite\":\"s\",\"approach\":\"a\"}\n",
    );
    check(
        &project,
        "results/imports/aaaa.items.jsonl.zst:1: item without header: run `imported-1` is not in the store\n",
    );
    assert_eq!(
        project
            .run(["sql", "select count(*) as n from items", "--format", "csv"])
            .column("n"),
        ["0"]
    );
}

#[test]
fn every_damage_of_every_store_is_listed() {
    let project = quiz(json!({}));
    project
        .file("results/a.json", "")
        .file("results/b.json", "{")
        .file("second/c.json", "[]");
    let doctor = project.run(["doctor", "--results", "results", "--results", "second"]);
    assert_eq!(doctor.code, 1);
    insta::assert_snapshot!(doctor.snapshot());
    let json = project.run([
        "doctor",
        "--results",
        "results",
        "--results",
        "second",
        "--format",
        "json",
    ]);
    assert_eq!(json.code, 1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(
        json["stores"][1]["damage"][0],
        json!({"file": "second/c.json", "problem": "is JSON, but not an object"})
    );
}
