//! Batches that are cut short, in every way, and gone on with: what is kept is what a batch without trouble would have kept.

mod batches;
pub mod disk;
mod eval;
mod kill;
mod stop;
mod together;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::programs::{Program, Start as _};
use crate::support::{BINARY, Output, Project, lines};

/// What a run left, without what differs from one go to the next: ids and times.
#[derive(Debug, PartialEq)]
struct Kept {
    header: Value,
    items: Vec<Value>,
    transcript: Vec<Value>,
}

/// Runs by approach and index.
type Batch = BTreeMap<(String, u64), Kept>;

/// A project with agents that answer so many questions from records: of several answers the item's seed chooses.
fn quiz(questions: usize) -> Project {
    let project = Project::new();
    let mut spec = "version: 1\nquestions:\n".to_owned();
    let (mut good, mut mixed) = (Vec::new(), Vec::new());
    for number in 0..questions {
        spec.push_str(&format!(
            "  - {{id: q{number:02}, question: What is {number}?, answers: [one, two, three], correct_answers: [two], category: c{}}}\n",
            number % 3
        ));
        let answer = |answer: &str| {
            let usage = json!({"input_tokens": 10 + number, "output_tokens": 3});
            json!({"item": format!("q{number:02}"), "answer": format!("<answer>{answer}</answer>"), "usage": usage, "cost_usd": 0.25})
        };
        good.push(answer("two"));
        mixed.extend(["one", "two", "three"].map(answer));
    }
    project
        .file("questions.yaml", spec)
        .file("good.jsonl", lines(good))
        .file("mixed.jsonl", lines(mixed));
    project.file(
        "bad.jsonl",
        lines((0..questions).map(
            |number| json!({"item": format!("q{number:02}"), "answer": "<answer>one</answer>"}),
        )),
    );
    project.file(
        "evalreport.yaml",
        "version: 1\n\
         agents:\n\
         \x20 - {id: good, type: replay, file: good.jsonl}\n\
         \x20 - {id: mixed, type: replay, file: mixed.jsonl}\n\
         \x20 - {id: bad, type: replay, file: bad.jsonl}\n\
         \x20 - {id: asked, command: [sh, -c, 'echo $EVAL_SEED >> asked; sleep 0.02; echo \"<answer>two</answer>\"'], type: command}\n\
         \x20 - {id: stubborn, type: command, command: [sh, -c, 'trap \"\" TERM; echo $$ >> asleep.pids; while :; do sleep 1; done']}\n\
         \x20 - {id: asleep, type: command, command: [sh, -c, 'echo $$ >> asleep.pids; sleep 600 & echo $! >> asleep.pids; wait']}\n\
         tasks:\n\
         \x20 - {id: quiz, type: question_eval, questions_file: questions.yaml}\n",
    );
    project
}

/// The same with a suite of code: an approach that writes one file from its seed, and tests that count its lines.
fn workshop() -> Project {
    let project = Project::new();
    // Where approaches say that they were started.
    project
        .file("log/.kept", "")
        .file("suites/lines/requirements.md", "Write lines.\n");
    project.file(
        "suites/lines/suite.yaml",
        "name: lines\nrequirements: suites/lines/requirements.md\ntests:\n  shared:\n    - sh suites/lines/check.sh\n",
    );
    project.file(
        "suites/lines/check.sh",
        "echo 1..3\n\
         if [ -s \"$EVAL_WORKSPACE/made.txt\" ]; then echo 'ok 1 - made'; else echo 'not ok 1 - made'; fi\n\
         if grep -q '[02468]$' \"$EVAL_WORKSPACE/made.txt\"; then echo 'ok 2 - even'; else echo 'not ok 2 - even'; fi\n\
         echo 'ok 3 - there'\n",
    );
    project.file(
        "evalreport.yaml",
        "version: 1\n\
         approaches:\n\
         \x20 - {id: writer, command: [sh, -c, 'echo once >> {root}/log/starts; echo $EVAL_SEED > made.txt'], writes: [log]}\n\
         \x20 - {id: slow, command: [sh, -c, 'echo $$ >> {root}/log/asleep.pids; echo half > made.txt; [ -e {root}/go ] || sleep 600; echo $EVAL_SEED > made.txt'], writes: [log]}\n",
    );
    project
}

/// Everything in the store that is committed.
fn kept(project: &Project, results: &str) -> Batch {
    let mut batch = Batch::new();
    for file in project.files(results) {
        let Some(id) = file
            .strip_prefix(results)
            .and_then(|name| name.strip_prefix('/')?.strip_suffix(".json"))
        else {
            continue;
        };
        if id.contains('/') {
            continue;
        }
        let mut header: Value =
            serde_json::from_str(&project.read(&file)).expect("a header is JSON");
        let key = (
            header["approach"].as_str().expect("an approach").to_owned(),
            header["run_index"].as_u64().expect("an index"),
        );
        for varying in [
            "id",
            "timestamp",
            "batch_id",
            "duration_seconds",
            "output_dir",
            "seal",
            "resources",
        ] {
            header
                .as_object_mut()
                .expect("a header is an object")
                .remove(varying);
        }
        let read = |name: &str| -> Vec<Value> {
            let text = fs::read_to_string(project.path(&format!("{results}/{id}/{name}")))
                .unwrap_or_default();
            let mut values: Vec<Value> = text
                .lines()
                .map(|line| serde_json::from_str(line).expect("every line is JSON"))
                .collect();
            for value in &mut values {
                value
                    .as_object_mut()
                    .expect("a line is an object")
                    .remove("duration_seconds");
            }
            values
        };
        let (items, mut transcript) = (read("items.jsonl"), read("transcript.jsonl"));
        // In the order of answers, which is that of the questions only where one is asked at a time.
        transcript.sort_by_key(|line| line["item"].as_str().map(str::to_owned));
        assert!(
            batch
                .insert(
                    key.clone(),
                    Kept {
                        header,
                        items,
                        transcript
                    }
                )
                .is_none(),
            "{key:?} is there twice"
        );
    }
    batch
}

/// Expects exactly these runs in a store without damage, and nothing that a crash left.
#[track_caller]
fn check(project: &Project, results: &str, expected: &Batch) {
    let found = kept(project, results);
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    for (key, run) in expected {
        assert_eq!(&found[key], run, "{key:?}");
    }
    let doctor = project.run(["doctor", "--verify", "--results", results]);
    let count = expected.len();
    assert!(
        doctor.answer().contains(&format!(
            "{results}: {count} run{}, ",
            if count == 1 { "" } else { "s" }
        )),
        "{}",
        doctor.stdout
    );
    // No kill leaves what looks like tampering, and what was gone on with is sealed like anything else.
    let sealed = format!(
        "no damage found\n{results}: {count} run{} sealed\n",
        if count == 1 { "" } else { "s" }
    );
    assert!(doctor.stdout.ends_with(&sealed), "{}", doctor.stdout);
    let left: Vec<String> = project
        .files(results)
        .into_iter()
        .filter(|file| file.contains(".writing-"))
        .collect();
    // A plan that was never recorded, and its entry of the chain, have no run that could clean up after them.
    let may_stay = |file: &String| {
        ["batches", "chain"]
            .iter()
            .any(|folder| file.starts_with(&format!("{results}/{folder}/")))
    };
    assert!(left.iter().all(may_stay), "{left:?}");
}

/// What a batch without trouble keeps.
fn undisturbed(project: &Project, arguments: &[&str]) -> Batch {
    let output =
        project.run(
            arguments
                .iter()
                .copied()
                .chain(["--quiet", "--results", "undisturbed"]),
        );
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    kept(project, "undisturbed")
}

/// Goes on after a kill, wherever it was: with the batch where one was recorded, else with the command itself.
#[track_caller]
fn go_on(project: &Project, arguments: &[&str]) {
    let output = if plans(project, "results").is_empty() {
        project.run(arguments.iter().copied())
    } else {
        project.run(["run", "--resume", "--quiet"])
    };
    let is_done = output.code == 2 && output.stderr.starts_with("error: no unfinished batch\n");
    assert!(
        output.code == 0 || is_done,
        "exit {}: {}",
        output.code,
        output.stderr
    );
}

/// The files of recorded plans.
fn plans(project: &Project, results: &str) -> Vec<String> {
    project
        .files(&format!("{results}/batches"))
        .into_iter()
        .filter(|file| is_kind(file, "json"))
        .collect()
}

fn is_kind(file: &str, extension: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|found| found == extension)
}

/// Says on stderr what a test did or did not do, for who reads its output.
fn say(text: &str) {
    eprintln!("{text}");
}

/// The plan of the only batch.
fn only_plan(project: &Project, results: &str) -> Value {
    let plans = plans(project, results);
    assert_eq!(plans.len(), 1, "{plans:?}");
    serde_json::from_str(&project.read(&plans[0])).expect("a plan is JSON")
}

fn start(project: &Project, arguments: &[&str]) -> Program {
    let mut command = Command::new(BINARY);
    command
        .args(arguments)
        .current_dir(project.path(""))
        .env("HOME", "/nonexistent")
        .env("NO_COLOR", "1");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start()
}

/// Waits until something is so; what takes longer than this will not come.
#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed().as_secs() < 30, "waited in vain: {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The whole lines of a file that grows.
fn count_lines(path: &Path) -> usize {
    fs::read_to_string(path)
        .unwrap_or_default()
        .matches('\n')
        .count()
}

/// Programs that wrote their numbers into a file and still run.
fn alive(project: &Project, pids: &str) -> Vec<String> {
    let pids = fs::read_to_string(project.path(pids)).unwrap_or_default();
    // One that has ended and was not asked after yet is no more than a number.
    let runs = |pid: &&str| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            !stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .starts_with(" Z")
        })
    };
    pids.lines().filter(runs).map(str::to_owned).collect()
}

#[track_caller]
fn contains(output: &Output, words: &str) {
    assert!(
        output.stderr.contains(words) || output.stdout.contains(words),
        "{words}\n{}\n{}",
        output.stdout,
        output.stderr
    );
}
