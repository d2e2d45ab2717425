//! A store that can prove itself: whatever is edited after it was written is found, and what is no edit is not taken for one.

use std::fs;
use std::path::Path;

use evalreport::domain::{
    Direction, Evaluator, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId, ScoreRecord,
    Unit,
};
use evalreport::results::{ScoreLine, SealedWriter, Store};
use serde_json::{Value, json};

use crate::support::{Output, Project, lines, result};

/// A store with two runs of a batch of questions, one run of code that keeps its output, and an imported pair of two runs.
struct Sealed {
    project: Project,
    /// Of the questions, in the order of their place in the batch.
    quiz: [String; 2],
    code: String,
}

const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn sealed() -> Sealed {
    let project = Project::new();
    let answer = |number: u32| json!({"item": format!("q{number}"), "answer": "<answer>two</answer>", "cost_usd": 0.25});
    project
        .file(
            "questions.yaml",
            "version: 1\nquestions:\n\
             \x20 - {id: q1, question: What is 1?, answers: [one, two], correct_answers: [two]}\n\
             \x20 - {id: q2, question: What is 2?, answers: [one, two], correct_answers: [one]}\n",
        )
        .file("good.jsonl", lines([answer(1), answer(2)]))
        .file("suites/made/requirements.md", "Make it.\n")
        .file(
            "suites/made/suite.yaml",
            "name: made\nrequirements: suites/made/requirements.md\ntests:\n  shared: [sh suites/made/check.sh]\n",
        )
        .file("suites/made/check.sh", "echo 1..1\necho 'ok 1 - made'\n")
        .file(
            "evalreport.yaml",
            "version: 1\n\
             agents:\n\
             \x20 - {id: good, type: replay, file: good.jsonl, model: m1}\n\
             approaches:\n\
             \x20 - {id: writer, command: [sh, -c, 'echo made > made.txt; echo more > more.txt']}\n\
             tasks:\n\
             \x20 - {id: quiz, type: question_eval, questions_file: questions.yaml}\n",
        );
    for arguments in [
        &[
            "run", "quiz", "--agent", "good", "--runs", "2", "--seed", "1",
        ][..],
        &["run", "made", "--approach", "writer"],
    ] {
        let output = project.run(arguments.iter().copied());
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
    let store = Store::new(project.path("results"));
    let mut writer = SealedWriter::create(&store, KEY).expect("room");
    for (run, item) in [
        ("imported-1", "x"),
        ("imported-2", "x"),
        ("imported-1", "y"),
    ] {
        writer
            .write_item(&outcome(
                run,
                item,
                ItemKind::Question,
                "import",
                0,
                ItemStatus::Fail,
            ))
            .expect("room");
    }
    writer
        .commit(&["imported-1", "imported-2"].map(|run| Run::new(id(run), "s", "a", "m")))
        .expect("room");

    let (mut quiz, mut code) = (Vec::new(), Vec::new());
    for file in project
        .files("results")
        .into_iter()
        .filter(|file| file.matches('/').count() == 1 && is_kind(file, "json"))
    {
        let header: Value = serde_json::from_str(&project.read(&file)).expect("JSON");
        let of = if header["suite"] == "made" {
            &mut code
        } else {
            &mut quiz
        };
        of.push((
            header["run_index"].as_u64(),
            header["id"].as_str().expect("an id").to_owned(),
        ));
    }
    quiz.sort();
    let [first, second] = quiz.try_into().expect("two runs");
    let [(_, code)] = code.try_into().expect("one run");
    Sealed {
        project,
        quiz: [first.1, second.1],
        code,
    }
}

fn id(text: &str) -> RunId {
    RunId::parse(text).expect("an id")
}

fn outcome(
    run: &str,
    item: &str,
    kind: ItemKind,
    evaluator: &str,
    revision: u32,
    status: ItemStatus,
) -> ItemOutcome {
    ItemOutcome {
        run: id(run),
        kind,
        item: item.to_owned(),
        cluster: None,
        category: None,
        attempt: 1,
        status,
        score: None,
        evaluator: evaluator.to_owned(),
        revision,
        duration_seconds: None,
        cost_usd: None,
        input_tokens: None,
        output_tokens: None,
    }
}

/// Judges a stored run once more.
fn judge_again(store: &Store, run: &str, revision: u32, status: ItemStatus) {
    let evaluator = Evaluator::RequirementFulfillment.name();
    let items = [(
        outcome(
            run,
            "is there",
            ItemKind::Criterion,
            evaluator,
            revision,
            status,
        ),
        ItemDetails::default(),
    )];
    let said = ScoreRecord {
        metric: evaluator.to_owned(),
        value: Some(50.0),
        unit: Unit::Points,
        direction: Direction::Up,
        range: None,
        standard_error: None,
        n: None,
        evaluator: Some("judge #0".to_owned()),
        revision,
    };
    store
        .append_judgement(&id(run), &items, &ScoreLine::from_score(said))
        .expect("room");
}

fn copy(from: &Path, to: &Path, backwards: bool) {
    fs::create_dir_all(to).expect("room");
    let mut entries: Vec<_> = fs::read_dir(from)
        .expect("readable")
        .map(|entry| entry.expect("readable").path())
        .collect();
    entries.sort();
    if backwards {
        entries.reverse();
    }
    for entry in entries {
        let there = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &there, backwards);
        } else {
            assert!(fs::copy(&entry, &there).is_ok());
        }
    }
}

impl Sealed {
    /// A copy of the store, to be edited.
    fn copy(&self, name: &str) -> Store {
        copy(
            &self.project.path("results"),
            &self.project.path(name),
            false,
        );
        Store::new(self.project.path(name))
    }

    fn verify(&self, store: &str) -> Output {
        self.project.run(["doctor", "--verify", "--results", store])
    }
}

fn is_kind(file: &str, extension: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|found| found == extension)
}

/// Replaces text in a file; it must be there.
fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("text");
    assert!(
        text.contains(from),
        "{} has no {from}: {text}",
        path.display()
    );
    fs::write(path, text.replacen(from, to, 1)).expect("writable");
}

#[test]
fn what_was_not_touched_is_clean() {
    let sealed = sealed();
    let doctor = sealed.verify("results");
    assert!(
        doctor
            .answer()
            .ends_with("no damage found\nresults: 5 runs sealed\n"),
        "{}",
        doctor.stdout
    );
    let json = sealed
        .project
        .run(["doctor", "--verify", "--format", "json"])
        .json();
    assert_eq!(
        (&json["stores"][0]["sealed"], &json["stores"][0]["unsealed"]),
        (&json!(5), &json!(0))
    );

    // Neither a tombstone nor a judgement nor an import of the same is an edit.
    assert_eq!(
        sealed
            .project
            .run(["retract", &sealed.quiz[0], "--reason", "wrong key"])
            .code,
        0
    );
    let store = Store::new(sealed.project.path("results"));
    for revision in 1..3 {
        judge_again(&store, &sealed.code, revision, ItemStatus::Pass);
    }
    assert_eq!(
        sealed
            .project
            .run(["export", "bundle", "all.bundle", "-q"])
            .code,
        0
    );
    assert_eq!(sealed.project.run(["import", "all.bundle"]).code, 0);
    assert_eq!(sealed.verify("results").code, 0);

    // Whatever the order in which files are listed.
    copy(
        &sealed.project.path("results"),
        &sealed.project.path("backwards"),
        true,
    );
    assert_eq!(
        sealed
            .verify("backwards")
            .answer()
            .replace("backwards", "results"),
        sealed.verify("results").answer()
    );

    // A judgement that was killed before its score counts for nothing, and is no edit; the next one covers it.
    let scores = store.scores_path(&id(&sealed.code));
    let before = fs::read(&scores).expect("judged");
    judge_again(&store, &sealed.code, 3, ItemStatus::Pass);
    for left in ["", "{\"metr"] {
        fs::write(&scores, [&before, left.as_bytes()].concat()).expect("writable");
        let doctor = sealed.verify("results");
        assert!(
            !doctor.stdout.contains("after the run was sealed"),
            "{}",
            doctor.stdout
        );
    }
    judge_again(&store, &sealed.code, 4, ItemStatus::Fail);
    assert_eq!(sealed.verify("results").code, 0);
}

#[test]
fn stores_from_before_are_unsealed_and_not_damaged() {
    let project = Project::with(&[result(
        "quiz-1",
        "quiz",
        "a",
        json!({"shared_tests_passed": 1, "shared_tests_total": 1}),
    )]);
    project.items("quiz-1", &[crate::support::question("q1", 1, "pass")]);
    let doctor = project.run(["doctor", "--verify"]);
    let words = "no damage found\nresults: 0 runs sealed; 1 run without a seal: written by hand or by an earlier version\n";
    assert!(doctor.answer().ends_with(words), "{}", doctor.stdout);
    // Judged again, it is sealed from there on.
    let store = Store::new(project.path("results"));
    judge_again(&store, "quiz-1", 1, ItemStatus::Pass);
    assert_eq!(project.run(["doctor", "--verify"]).code, 0);
    edit(
        &store.run_dir(&id("quiz-1")).join("items.jsonl"),
        "\"q1\"",
        "\"q2\"",
    );
    let doctor = project.run(["doctor", "--verify"]);
    assert!(
        doctor.code == 1
            && doctor
                .stdout
                .contains("run `quiz-1`: its outcomes were changed after its judgement"),
        "{}",
        doctor.stdout
    );

    let shipped = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("results")
        .display()
        .to_string();
    let doctor = project.run(["doctor", "--verify", "--results", &shipped]);
    assert!(
        doctor.answer().contains("no damage found"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn every_edit_is_found_and_named() {
    type Edit<'a> = (&'a str, Box<dyn Fn(&Store) + 'a>, String);
    let sealed = sealed();
    judge_again(
        &Store::new(sealed.project.path("results")),
        &sealed.code,
        1,
        ItemStatus::Fail,
    );
    let [one, two] = sealed.quiz.each_ref().map(String::as_str);
    let code = sealed.code.as_str();
    let items = |store: &Store, run: &str| store.run_dir(&id(run)).join("items.jsonl");
    let header = |store: &Store, run: &str| store.header_path(&id(run));
    let changed = |run: &str| format!("the header of run `{run}` was changed after it was sealed");
    // Packed again, so that only the digest can tell.
    let imported = |store: &Store, from: &str, to: &str| {
        let path = store.imports_dir().join(format!("{KEY}.items.jsonl.zst"));
        let text = String::from_utf8(
            zstd::decode_all(fs::File::open(&path).expect("there")).expect("whole"),
        )
        .expect("text");
        assert!(text.contains(from), "{text}");
        fs::write(
            &path,
            zstd::encode_all(text.replacen(from, to, 1).as_bytes(), 3).expect("memory"),
        )
        .expect("writable");
    };
    let plan = |store: &Store| {
        let batch: Value =
            serde_json::from_slice(&fs::read(header(store, one)).expect("there")).expect("JSON");
        store.batches_dir().join(format!(
            "{}.json",
            batch["batch_id"].as_str().expect("a batch")
        ))
    };
    let commits = |store: &Store| plan(store).with_extension("commits.jsonl");
    let edits: Vec<Edit> = vec![
        (
            "a fail that becomes a pass",
            Box::new(|store| {
                edit(
                    &items(store, one),
                    "\"status\":\"fail\"",
                    "\"status\":\"pass\"",
                );
            }),
            format!("run `{one}`: its outcomes were changed after the run was sealed"),
        ),
        (
            "a cost",
            Box::new(|store| edit(&header(store, one), "\"cost_usd\":0.5", "\"cost_usd\":0.4")),
            changed(one),
        ),
        (
            "a model",
            Box::new(|store| edit(&header(store, one), "\"model\":\"", "\"model\":\"best-")),
            changed(one),
        ),
        (
            "a header that is written anew",
            Box::new(|store| {
                let value: Value =
                    serde_json::from_slice(&fs::read(header(store, one)).expect("there"))
                        .expect("JSON");
                fs::write(header(store, one), format!("{value:#}")).expect("writable");
            }),
            changed(one),
        ),
        (
            "a header without its seal",
            Box::new(|store| {
                let text = fs::read_to_string(header(store, one)).expect("text");
                let (body, _) = text.split_once(",\"seal\"").expect("sealed");
                fs::write(header(store, one), format!("{body}}}\n")).expect("writable");
            }),
            format!("the header of run `{one}` had a seal when it was committed, and has none"),
        ),
        (
            "a header that is sealed anew",
            Box::new(|store| {
                let run = store.load_run(&id(one)).expect("a run");
                fs::remove_file(header(store, one)).expect("ours");
                store
                    .save_run(&Run {
                        cost_usd: Some(0.1),
                        ..run
                    })
                    .expect("room");
            }),
            format!("the header of run `{one}` is not the one that was committed"),
        ),
        (
            "a header that is taken away",
            Box::new(|store| {
                fs::remove_file(header(store, two)).expect("ours");
                fs::remove_dir_all(store.run_dir(&id(two))).expect("ours");
            }),
            format!("the header of run `{two}`, which was committed, is gone"),
        ),
        (
            "a line of a transcript",
            Box::new(|store| {
                edit(
                    &store.run_dir(&id(one)).join("transcript.jsonl"),
                    "What is",
                    "What was",
                );
            }),
            format!("run `{one}`: its transcript was changed after the run was sealed"),
        ),
        (
            "a transcript that is taken away",
            Box::new(|store| {
                fs::remove_file(store.run_dir(&id(one)).join("transcript.jsonl")).expect("ours");
            }),
            format!("run `{one}`: its transcript was changed after the run was sealed"),
        ),
        (
            "a file that was made",
            Box::new(|store| {
                edit(
                    &store.run_dir(&id(code)).join("output/made.txt"),
                    "made",
                    "better",
                );
            }),
            format!("run `{code}`: what it made was changed after the run was sealed"),
        ),
        (
            "a file that was not made",
            Box::new(|store| {
                fs::write(store.run_dir(&id(code)).join("output/new.txt"), "new")
                    .expect("writable");
            }),
            format!("run `{code}`: what it made has 3 of 2 that were sealed"),
        ),
        (
            "an outcome that is taken away",
            Box::new(|store| {
                let text = fs::read_to_string(items(store, one)).expect("text");
                fs::write(
                    items(store, one),
                    text.split_inclusive('\n').next().expect("a line"),
                )
                .expect("writable");
            }),
            format!("run `{one}`: some of its outcomes were taken away after the run was sealed"),
        ),
        (
            "an outcome that is added",
            Box::new(|store| {
                let text = fs::read_to_string(items(store, one)).expect("text");
                let added = text
                    .split_inclusive('\n')
                    .next()
                    .expect("a line")
                    .replace("\"q1\"", "\"q3\"");
                fs::write(items(store, one), text + added.trim_end()).expect("writable");
            }),
            format!("items.jsonl:3: run `{one}`: this outcome was added after the run was sealed"),
        ),
        (
            "outcomes that two runs swap",
            Box::new(|store| {
                // What they were asked is the same; as written, so are the lines.
                edit(&items(store, two), "}\n", " }\n");
                let (first, second) = (
                    fs::read(items(store, one)).expect("there"),
                    fs::read(items(store, two)).expect("there"),
                );
                fs::write(items(store, one), second).expect("writable");
                fs::write(items(store, two), first).expect("writable");
            }),
            format!("run `{one}`: its outcomes were changed after the run was sealed"),
        ),
        (
            "a judgement",
            Box::new(|store| {
                edit(
                    &items(store, code),
                    "\"is there\",\"kind\":\"criterion\"",
                    "\"is not there\",\"kind\":\"criterion\"",
                );
            }),
            format!(
                "run `{code}`: its outcomes were changed after its judgement was sealed (scores.jsonl:"
            ),
        ),
        (
            "what a judge said",
            Box::new(|store| {
                edit(
                    &store.scores_path(&id(code)),
                    "\"value\":50.0",
                    "\"value\":99.0",
                );
            }),
            format!("run `{code}`: this score was changed after it was sealed"),
        ),
        (
            "a score that is added",
            Box::new(|store| {
                let text = fs::read_to_string(store.scores_path(&id(code))).expect("text");
                let (body, _) = text
                    .lines()
                    .last()
                    .expect("a line")
                    .split_once(",\"seal\"")
                    .expect("sealed");
                fs::write(store.scores_path(&id(code)), format!("{text}{body}}}\n"))
                    .expect("writable");
            }),
            format!(
                "run `{code}`: this score was added after the run was sealed, and has no seal of its own"
            ),
        ),
        (
            "an outcome of an imported run",
            Box::new(|store| imported(store, "fail", "pass")),
            "run `imported-1`: its outcomes were changed after the run was sealed".to_owned(),
        ),
        (
            "an outcome that changes hands between imported runs",
            Box::new(|store| imported(store, "imported-2", "imported-1")),
            "run `imported-2`: its outcomes were changed after the run was sealed".to_owned(),
        ),
        (
            "the model of an imported run",
            Box::new(|store| {
                edit(
                    &store.imports_dir().join(format!("{KEY}.runs.jsonl")),
                    "\"model\":\"m\"",
                    "\"model\":\"n\"",
                );
            }),
            changed("imported-1"),
        ),
        (
            "the plan",
            Box::new(|store| edit(&plan(store), "\"seed\"", " \"seed\"")),
            "the plan was changed after its first run was committed".to_owned(),
        ),
        (
            "the list of commits",
            Box::new(|store| {
                let text = fs::read_to_string(commits(store)).expect("text");
                fs::write(
                    commits(store),
                    text.split_inclusive('\n').nth(1).expect("a second line"),
                )
                .expect("writable");
            }),
            "the plan was changed after its first run was committed".to_owned(),
        ),
        (
            "a run that is thrown away and tried again",
            Box::new(|store| {
                let text = fs::read_to_string(commits(store)).expect("text");
                let last = text.lines().last().expect("a line");
                let again: Value = serde_json::from_str(last).expect("JSON");
                let other = text.lines().next().expect("a line").replace(one, two);
                assert_eq!(again["run"], json!(two));
                fs::write(commits(store), format!("{text}{other}\n")).expect("writable");
            }),
            format!("run `{two}` was committed again, after its header had been taken away"),
        ),
    ];
    for (number, (what, edit, words)) in edits.into_iter().enumerate() {
        let name = format!("edited-{number}");
        edit(&sealed.copy(&name));
        let doctor = sealed.verify(&name);
        assert_eq!(doctor.code, 1, "{what}: {}", doctor.stdout);
        assert!(doctor.stdout.contains(&words), "{what}: {}", doctor.stdout);
    }
    assert_eq!(sealed.verify("results").code, 0);
}
