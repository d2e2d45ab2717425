//! `record`: the runs of somebody else's harness, whole, cut short, and gone on with.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::programs::{Program, Start as _};
use crate::support::{BINARY, Output, Project};

/// A harness that writes lines and waits for the answer to each.
struct Harness {
    child: Program,
    input: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Harness {
    fn start(project: &Project, arguments: &[&str]) -> (Self, Value) {
        let mut child = Command::new(BINARY)
            .arg("record")
            .args(arguments)
            .current_dir(project.path(""))
            .env("MY_API_KEY", "hunter2hunter2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .start();
        let input = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        let mut harness = Self {
            child,
            input,
            answers,
        };
        let introduction = harness.answer();
        (harness, introduction)
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("readable");
        serde_json::from_str(&line).expect("an answer is JSON")
    }

    fn say(&mut self, line: &Value) -> Value {
        writeln!(self.input.as_mut().expect("open"), "{line}").expect("the program reads");
        self.answer()
    }

    /// Ends the input, and returns the exit code with what was said on stderr.
    fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        let output = self.child.finish();
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }
}

const ARM: [&str; 6] = ["--suite", "quiz", "--approach", "mine", "--model", "sonnet"];

fn item(name: &str, passed: bool) -> Value {
    json!({"item": {"item": name, "passed": passed, "cost_usd": 0.25, "duration_seconds": 1.5}})
}

fn contains(output: &Output, text: &str) {
    assert!(
        output.stdout.contains(text),
        "{text}: {}{}",
        output.stdout,
        output.stderr
    );
}

#[test]
fn a_recorded_run_is_one_of_ours() {
    let project = Project::new();
    let (mut harness, begun) = Harness::start(
        &project,
        &[&ARM[..], &["--batch", "b1", "--tag", "k=v", "--seed", "7"]].concat(),
    );
    assert_eq!(
        (
            begun["suite"].as_str(),
            begun["decided"].as_array().map(Vec::len)
        ),
        (Some("quiz"), Some(0))
    );
    let id = begun["run"].as_str().expect("an id").to_owned();
    assert_eq!(
        harness.say(
            &json!({"messages": {"item": "q1", "entries": [{"role": "user", "content": "Why?"}]}})
        ),
        json!({"stored": true})
    );
    let told = json!({"n": "x", "item": {"item": "q1", "passed": true, "cost_usd": 0.25, "duration_seconds": 1.5, "input_tokens": 3,
        "output_tokens": 4, "category": "c", "details": {"answer": "it is hunter2hunter2", "expected": ["42"]}}});
    assert_eq!(harness.say(&told), json!({"stored": true, "n": "x"}));
    assert_eq!(harness.say(&item("q2", false)), json!({"stored": true}));
    assert_eq!(harness.say(&json!({"score": {"metric": "calm", "value": 0.5, "unit": "fraction", "direction": "up"}}))["stored"], true);
    let end = harness.say(&json!({"end": {"input_tokens": 30, "output_tokens": 40}}));
    assert_eq!(
        (&end["status"], &end["passed"], &end["total"]),
        (&json!("completed"), &json!(1), &json!(2))
    );
    assert_eq!(harness.end(), (0, String::new()));

    let doctor = project.run(["doctor", "--verify"]);
    assert!(
        doctor.answer().contains("no damage found") && doctor.stdout.contains("1 run sealed\n"),
        "{}",
        doctor.stdout
    );
    let header: Value =
        serde_json::from_str(&project.read(&format!("results/{id}.json"))).expect("JSON");
    let expected = json!({"suite": "quiz", "approach": "mine", "model": "sonnet", "batch_id": "b1", "seed": 7, "tags": {"k": "v"},
        "status": "completed", "cost_usd": 0.5, "cost_source": "reported", "duration_seconds": 3.0, "shared_tests_passed": 1,
        "shared_tests_total": 2, "input_tokens": 30, "output_tokens": 40, "total_tokens": 70});
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&header[key], value, "{key}");
    }
    assert!(
        !project
            .files("results")
            .iter()
            .any(|file| project.read(file).contains("hunter2")),
        "a secret was written"
    );
    let shown = project.run(["show", &id, "--format", "json"]).json();
    assert_eq!(shown["runs"][0]["items"][0]["item"], "q1");
    assert_eq!(
        project
            .run(["list", "--runs", "--batch", "b1", "--format", "csv"])
            .column("suite"),
        ["quiz"]
    );
}

#[test]
fn a_run_that_was_stopped_before_its_beginning_was_stored_can_begin_again() {
    let project = Project::new();
    let arguments = [&ARM[..], &["--id", "mine-1"]].concat();
    project.file("results/mine-1/items.jsonl", String::new());
    let (mut harness, _) = Harness::start(&project, &arguments);
    assert_eq!(harness.say(&item("q1", true))["stored"], true);
    assert_eq!(harness.end().0, 2);
    // With an outcome it is a run, which is resumed.
    let again = project.run(["record"].into_iter().chain(arguments.iter().copied()));
    assert!(
        again.refusal().contains("run `mine-1` was begun before"),
        "{}",
        again.stderr
    );
    let (mut harness, resumed) = Harness::start(&project, &["--resume", "mine-1"]);
    assert_eq!(resumed["decided"].as_array().map(Vec::len), Some(1));
    assert_eq!(harness.say(&json!({"end": {}}))["outcomes"], 1);
    assert_eq!(harness.end().0, 0);
}

#[test]
fn whole_numbers_are_ids_and_an_item_may_have_a_score_alone() {
    let project = Project::new();
    let (mut harness, begun) = Harness::start(&project, &ARM);
    for line in [
        json!({"item": {"item": 3, "passed": 1}}),
        json!({"item": {"item": "4", "passed": 0}}),
        json!({"item": {"item": 5, "score": 0.7}}),
        json!({"messages": {"item": 3, "entries": [{"role": "user", "content": "Why?"}]}}),
    ] {
        assert_eq!(harness.say(&line)["stored"], true, "{line}");
    }
    assert_eq!(harness.say(&json!({"end": {}}))["outcomes"], 3);
    assert_eq!(harness.end().0, 0);
    let stored = project.read(&format!(
        "results/{}/items.jsonl",
        begun["run"].as_str().expect("an id")
    ));
    let of = |key: &str| -> Vec<Value> {
        stored
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")[key].clone())
            .collect()
    };
    assert_eq!(of("item"), ["3", "4", "5"]);
    assert_eq!(of("status"), ["pass", "fail", "skipped"]);
}

/// A run of scores alone measured something.
#[test]
fn a_run_of_scores_alone_is_completed() {
    let project = Project::new();
    let (mut harness, begun) = Harness::start(&project, &ARM);
    assert_eq!(
        harness.say(&json!({"item": {"item": "q1", "score": 0.7}}))["stored"],
        true
    );
    harness.say(&json!({"end": {}}));
    assert_eq!(harness.end().0, 0);
    let header = project.read(&format!(
        "results/{}.json",
        begun["run"].as_str().expect("an id")
    ));
    assert!(header.contains("\"completed\""), "{header}");
}

#[test]
fn what_cannot_be_is_refused_and_the_run_goes_on() {
    let project = Project::new();
    let (mut harness, begun) = Harness::start(&project, &ARM);
    assert_eq!(harness.say(&item("q1", true))["stored"], true);
    for (line, message) in [
        (item("q1", true), "item `q1`, attempt 1 is recorded already"),
        (
            json!({"item": {"item": "q2"}}),
            "item `q2` has no `passed`, no `status` and no `score`",
        ),
        (
            json!({"item": {"item": "q2", "passed": "no"}}),
            "the line is not a record: `passed` is true or false, not \"no\"",
        ),
        (
            json!({"item": {"item": "q2", "passed": 2}}),
            "the line is not a record: `passed` is true or false, not 2",
        ),
        (
            json!({"item": {"item": "q2", "passed": 0.3}}),
            "the line is not a record: `passed` is true or false, not 0.3",
        ),
        (
            json!({"item": {"item": true, "passed": true}}),
            "the line is not a record: the id of an item is a text or a whole number",
        ),
        (
            json!({"item": {"item": 3.5, "passed": true}}),
            "the line is not a record: the id of an item is a text or a whole number",
        ),
        (
            json!({"item": {"item": "q2", "score": "0.7"}}),
            "the line is not a record: invalid type: string \"0.7\"",
        ),
        (
            json!({"item": {"item": "q2", "passed": true, "status": "pass"}}),
            "item `q2` has `passed` and `status`",
        ),
        (
            json!({"item": {"item": " ", "passed": true}}),
            "the item is empty",
        ),
        (
            json!({"item": {"item": "q2", "passed": true, "attempt": 0}}),
            "attempts count from 1",
        ),
        (
            json!({"item": {"item": "q2", "passed": true, "cost_usd": -1}}),
            "`cost_usd` is negative",
        ),
        (
            json!({"item": {"item": "q2", "passed": true, "cost": 1}}),
            "the line is not a record: unknown field `cost`",
        ),
        (
            json!({"item": {"item": "q2", "status": "won"}}),
            "the line is not a record: unknown variant `won`",
        ),
        (
            json!({"end": {"duration_seconds": -1}}),
            "`duration_seconds` is negative",
        ),
        (json!({}), "the line needs one key"),
        (json!([1]), "the line is not a record"),
        (
            json!({"n": 7, "itm": 1}),
            "the line is not a record: unknown field `itm`",
        ),
    ] {
        let answer = harness.say(&line);
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|error| error.starts_with(message)),
            "{line}: {answer}"
        );
    }
    // A number that comes first is repeated even if the rest is no JSON.
    writeln!(
        harness.input.as_mut().expect("open"),
        "{{\"n\":\"x\",\"item\":{{\"item\":\"\\ud800\"}}}}"
    )
    .expect("the program reads");
    let answer = harness.answer();
    assert!(
        answer["n"] == "x" && answer["error"].is_string(),
        "{answer}"
    );
    assert_eq!(
        harness.say(&json!({"item": {"item": "q1", "passed": false, "attempt": 2}}))["stored"],
        true
    );
    // Another process may not write it at the same time.
    let id = begun["run"].as_str().expect("an id");
    assert!(
        project
            .run(["record", "--resume", id])
            .refusal()
            .contains("is being written by another process")
    );
    assert_eq!(harness.say(&json!({"end": {}}))["outcomes"], 2);
    assert_eq!(harness.end().0, 0);
    assert!(
        project
            .run(["record", "--resume", id])
            .refusal()
            .starts_with(&format!("error: run `{id}` is finished\n"))
    );
    for (arguments, message) in [
        (&["record", "--suite", "s"][..], "--approach"),
        (
            &["record", "--suite", " ", "--approach", "a"],
            "the suite is empty",
        ),
        (
            &[
                "record",
                "--suite",
                "s",
                "--approach",
                "a",
                "--batch",
                "../b",
            ],
            "batch: id `../b`",
        ),
        (
            &["record", "--suite", "s", "--approach", "a", "--id", id],
            "is already in the store",
        ),
        (
            &[
                "record",
                "--suite",
                "s",
                "--approach",
                "a",
                "--kind",
                "riddle",
            ],
            "no kind `riddle`",
        ),
        (&["record", "--resume", "none"], "no abandoned run `none`"),
    ] {
        let output = project.run(arguments.iter().copied());
        assert!(
            output.refusal().contains(message),
            "{arguments:?}: {}",
            output.stderr
        );
    }
}

#[test]
fn a_run_in_progress_and_an_abandoned_one_say_what_they_are() {
    let project = Project::new();
    let (mut harness, begun) = Harness::start(&project, &ARM);
    let id = begun["run"].as_str().expect("an id").to_owned();
    for name in ["q1", "q2", "q3"] {
        assert_eq!(harness.say(&item(name, name != "q2"))["stored"], true);
    }
    contains(
        &project.run(["doctor"]),
        &format!(
            "results/{id}: in flight: another process is writing it (quiz, mine with sonnet: 3 outcomes)\n"
        ),
    );
    for arguments in [
        &["list"][..],
        &["list", "--runs"],
        &["list", "--suite", "quiz"],
        &["show", &id[..13]],
    ] {
        let shown = project
            .run(arguments.iter().copied().chain(["--format", "markdown"]))
            .shown();
        let cells = ["Suite", "Approach", "Model", "State", "Outcomes", "Passed"]
            .map(|title| shown[0][title].clone());
        assert_eq!(
            cells,
            ["quiz", "mine", "sonnet", "in progress", "3", "2/3 (67%)"],
            "{arguments:?}"
        );
    }
    // Killed: no word about the end.
    harness.child.kill().expect("ours");
    assert_ne!(harness.end().0, 0);

    let listed = project.run(["list", "--runs", "--format", "json"]).json();
    let unfinished = &listed["unfinished_runs"][0];
    assert_eq!(
        (&unfinished["state"], &unfinished["outcomes"]),
        (&json!("abandoned"), &json!(3))
    );
    let resume = format!("evalreport record --resume {id}");
    assert_eq!(unfinished["resume"], resume.as_str());
    let doctor = project.run(["doctor"]);
    assert_eq!(doctor.code, 1);
    contains(
        &doctor,
        &format!(
            "results/{id}: abandoned run: no header, and no process is writing it (quiz, mine with sonnet: 3 outcomes)\n"
        ),
    );
    contains(
        &doctor,
        &format!("  hint: `{resume}` resumes the run; or delete the folder\n"),
    );
    assert_eq!(
        project
            .run(["list", "--runs", "--suite", "quiz", "--format", "csv"])
            .rows()
            .len(),
        0,
        "it is no run yet"
    );
    assert!(
        project
            .run(["list", "--suite", "other"])
            .refusal()
            .contains("no finished run")
    );

    // Messages of an item without an outcome are those of a try that the harness makes again.
    let told = |item: &str| {
        json!({"item": item, "entry": {"role": "user", "content": "Why?"}}).to_string() + "\n"
    };
    project.file(
        &format!("results/{id}/transcript.jsonl"),
        told("q1") + &told("q4"),
    );
    // A half line of the crash is dropped, and the rest kept.
    let journal = format!("results/{id}/items.jsonl");
    project.file(
        &journal,
        format!("{}{{\"item\":\"q4\",\"ki", project.read(&journal)),
    );
    let (mut harness, resumed) = Harness::start(&project, &["--resume", &id[..13]]);
    assert_eq!(
        (
            resumed["run"].as_str(),
            resumed["decided"].as_array().map(Vec::len)
        ),
        (Some(id.as_str()), Some(3))
    );
    assert_eq!(
        project.read(&format!("results/{id}/transcript.jsonl")),
        told("q1")
    );
    assert!(
        harness.say(&item("q1", true))["error"].is_string(),
        "it is recorded already"
    );
    assert_eq!(harness.say(&item("q4", true))["stored"], true);
    let (code, said) = harness.end();
    let message = format!(
        "error: the input ended without `end`: run `{id}` has 4 outcomes and is not finished\n  hint: `{resume}` resumes it\n"
    );
    assert_eq!((code, said), (2, message));
    let (mut harness, _) = Harness::start(&project, &["--resume", &id]);
    assert_eq!(
        harness.say(&json!({"end": {"status": "failed", "error": "no more money"}}))["outcomes"],
        4
    );
    assert_eq!(harness.end().0, 0);
    let lines = project.run(["list", "--runs", "--format", "json"]).json();
    assert_eq!(
        (&lines["run_lines"][0]["status"], &lines["unfinished"]),
        (&json!("failed"), &json!(0))
    );
    assert_eq!(lines.get("unfinished_runs"), None);
    contains(&project.run(["doctor", "--verify"]), "no damage found");
}

#[test]
fn an_outage_is_no_result_and_errors_alone_are_a_failure() {
    let project = Project::new();
    for (status, expected) in [
        ("infra", "infra"),
        ("error", "failed"),
        ("skipped", "completed"),
        ("limit", "completed"),
    ] {
        let (mut harness, begun) = Harness::start(&project, &ARM);
        assert_eq!(
            harness.say(&json!({"item": {"item": "q1", "status": status}}))["stored"],
            true
        );
        assert_eq!(
            harness.say(&json!({"end": {}}))["status"],
            expected,
            "{status}"
        );
        assert_eq!(harness.end().0, 0);
        assert!(
            project
                .read(&format!(
                    "results/{}.json",
                    begun["run"].as_str().expect("an id")
                ))
                .contains("\"seal\"")
        );
    }
    assert_eq!(project.run(["doctor", "--verify"]).code, 0);
}

#[test]
fn one_answer_has_the_table_beside_its_figures() {
    let project = Project::new();
    for passed in [true, false] {
        let approach = if passed { "good" } else { "bad" };
        let (mut harness, _) =
            Harness::start(&project, &["--suite", "quiz", "--approach", approach]);
        assert_eq!(harness.say(&item("q1", passed))["stored"], true);
        assert_eq!(harness.say(&json!({"end": {}}))["outcomes"], 1);
        assert_eq!(harness.end().0, 0);
    }
    for arguments in [
        &["compare"][..],
        &["leaderboard"],
        &["list", "--runs"],
        &["gate", "--max-drop", "2pp", "--baseline", "last:1"],
    ] {
        let of_format =
            |format: &str| project.run(arguments.iter().copied().chain(["--format", format]));
        let full: Value = serde_json::from_str(&of_format("full").stdout).expect("JSON");
        let answer: Value = serde_json::from_str(&of_format("json").stdout).expect("JSON");
        assert_eq!(full["answer"], answer, "{arguments:?}");
        let markdown = of_format("markdown").stdout;
        assert!(
            markdown.ends_with(full["markdown"].as_str().expect("text")),
            "{arguments:?}: {markdown}"
        );
        assert!(
            full["table"].as_str().expect("text").contains('┌'),
            "{full}"
        );
    }
}

#[test]
fn a_bundle_of_recorded_runs_is_a_baseline() {
    let project = Project::new();
    for (store, every) in [("results", 10), ("new", 2)] {
        let (mut harness, _) =
            Harness::start(&project, &[&ARM[..], &["--results", store]].concat());
        for number in 0..40 {
            assert_eq!(
                harness.say(&item(&format!("q{number}"), number % every > 0))["stored"],
                true
            );
        }
        assert_eq!(harness.say(&json!({"end": {}}))["outcomes"], 40);
        assert_eq!(harness.end().0, 0);
    }
    assert_eq!(
        project
            .run(["export", "bundle", "base.bundle", "--quiet"])
            .code,
        0
    );
    let gate = project.run([
        "gate",
        "--results",
        "new",
        "--baseline",
        "base.bundle",
        "--max-drop",
        "2pp",
        "--format",
        "json",
    ]);
    assert_eq!(
        (gate.code, gate.stderr.as_str()),
        (1, ""),
        "{}",
        gate.stdout
    );
    let report: Value = serde_json::from_str(&gate.stdout).expect("JSON");
    assert_eq!(report["ruling"], "regression");
}
