use std::collections::BTreeSet;

use super::super::{HeaderFile, ScoreLine, SealedPair, SealedWriter, Store, scan_store};
use super::*;
use crate::domain::{
    Direction, Evaluator, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, ScoreRecord,
    Secrets, Unit,
};

fn id(text: &str) -> RunId {
    RunId::parse(text).expect("a valid id")
}

fn outcome(run: &str, item: &str) -> ItemOutcome {
    ItemOutcome {
        run: id(run),
        kind: ItemKind::Test,
        item: item.to_owned(),
        cluster: None,
        category: None,
        attempt: 1,
        status: ItemStatus::Pass,
        score: Some(0.5),
        evaluator: "shared_tests".to_owned(),
        revision: 0,
        duration_seconds: None,
        cost_usd: None,
        input_tokens: None,
        output_tokens: None,
    }
}

const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A store with a run of its own that has all kinds of records, one that has none, and a sealed pair with alternating runs.
fn store(folder: &Path) -> Store {
    let store = Store::new(folder);
    let details = ItemDetails {
        question: Some("why?".to_owned()),
        expected: vec!["so".to_owned()],
        ..ItemDetails::default()
    };
    let mut journal = store.open_journal(&id("own")).expect("a journal");
    journal
        .append_outcome(&outcome("own", "x"), &details)
        .and_then(|()| journal.append_outcome(&outcome("own", "y"), &details))
        .expect("writable");
    journal
        .append_transcript(
            Some("x"),
            &[serde_json::json!({"z": 1, "role": "user", "a": 2})],
        )
        .expect("writable");
    drop(journal);
    std::fs::write(
        store.scores_path(&id("own")),
        "{\"metric\":\"m\",\"value\":1.5,\"unit\":\"number\",\"direction\":\"up\",\"revision\":3,\"details\":{\"z\":1,\"a\":2},\"raw\":[\"x\"]}\n",
    )
    .expect("writable");
    let output = store.run_dir(&id("own")).join("output/src");
    std::fs::create_dir_all(&output).expect("writable");
    std::fs::write(output.join("a.py"), "print('naïve')\n").expect("writable");
    std::fs::write(output.join("b.bin"), [0xff, 0x00]).expect("writable");
    store
        .save_run(&Run::new(id("own"), "s", "a", "m"))
        .expect("writable");
    store
        .save_run(&Run::new(id("bare"), "s", "a", "m"))
        .expect("writable");
    let mut writer = SealedWriter::create(&store, KEY).expect("writable");
    for (run, item) in [("q", "x"), ("p", "x"), ("q", "y"), ("p", "y")] {
        writer
            .write_item_with_details(&outcome(run, item), &details)
            .expect("writable");
    }
    writer
        .commit(&[
            Run::new(id("q"), "s", "a", "m"),
            Run::new(id("p"), "s", "b", "m"),
        ])
        .expect("writable");
    store
}

/// Packs these runs of a store.
fn pack(store: &Store, path: &Path, ids: &[&str], extent: BundleExtent) -> u64 {
    let ids: BTreeSet<RunId> = ids.iter().map(|text| id(text)).collect();
    let contents = scan_store(store);
    let secrets = Secrets::default();
    let mut writer = BundleWriter::create(
        path,
        BundleParts {
            runs: ids.len(),
            with_judged: !contents.headless.is_empty(),
            with_decisions: false,
        },
        extent,
        &secrets,
        None,
    )
    .expect("writable");
    for HeaderFile { path, .. } in contents.headers {
        if ids.contains(
            &store
                .load_run(&id(path
                    .file_stem()
                    .and_then(|stem| stem.to_str())
                    .expect("a name")))
                .expect("a run")
                .id,
        ) {
            writer.write_own_run(&path).expect("readable");
        }
    }
    for pair in contents.sealed {
        if super::super::SealedReader::read_runs(&pair.runs)
            .0
            .iter()
            .any(|run| ids.contains(&run.id))
        {
            writer
                .write_imported_runs(
                    &SealedPair {
                        runs: pair.runs,
                        items: pair.items,
                    },
                    &ids,
                )
                .expect("readable");
            for judged in contents
                .headless
                .iter()
                .filter(|one| ids.contains(&id(one.run_id())))
            {
                writer
                    .write_judgements(&id(judged.run_id()), &judged.folder)
                    .expect("readable");
            }
        }
    }
    writer.commit().expect("writable").0
}

const ALL: [&str; 4] = ["bare", "own", "p", "q"];

/// Returns every file of a folder with its content, except locks and the like.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let name = entry
                .path()
                .strip_prefix(folder)
                .expect("below it")
                .display()
                .to_string();
            (name, std::fs::read(entry.path()).expect("readable"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_store_comes_back_file_for_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = store(&folder.path().join("first"));
    for name in ["a.jsonl", "a.bundle"] {
        let path = folder.path().join(name);
        assert_eq!(pack(&first, &path, &ALL, BundleExtent::Whole), 6);
        assert!(is_bundle(&path).expect("readable"), "{name}");
        let second = Store::new(folder.path().join(format!("{name}-store")));
        let dry = preview_bundle(&path, &second, &BTreeSet::new()).expect("whole");
        assert_eq!(
            (dry.new.len(), dry.items, second.root().exists()),
            (4, 6, false)
        );
        let unpacked = unpack_into_store(&path, &second, &BTreeSet::new(), None).expect("whole");
        assert_eq!(
            (unpacked.new.len(), unpacked.repeated.len(), unpacked.items),
            (4, 0, 6)
        );
        assert_eq!(files(first.root()), files(second.root()), "{name}");
        let again = folder.path().join(format!("again-{name}"));
        pack(&second, &again, &ALL, BundleExtent::Whole);
        assert_eq!(
            std::fs::read(&path).expect("readable"),
            std::fs::read(&again).expect("readable"),
            "{name}"
        );

        let taken: BTreeSet<RunId> = ALL.iter().map(|text| id(text)).collect();
        let nothing = unpack_into_store(&path, &second, &taken, None).expect("whole");
        assert_eq!(
            (nothing.new.len(), nothing.repeated.len(), nothing.items),
            (0, 4, 0)
        );
        assert_eq!(
            files(first.root()),
            files(second.root()),
            "what is there is left as it is"
        );
    }
}

#[test]
fn a_part_of_a_pair_is_no_pair_of_that_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = store(&folder.path().join("first"));
    let path = folder.path().join("part.jsonl");
    assert_eq!(pack(&first, &path, &["p"], BundleExtent::Whole), 2);
    let second = Store::new(folder.path().join("second"));
    unpack_into_store(&path, &second, &BTreeSet::new(), None).expect("whole");
    assert!(
        !SealedWriter::pair_exists(&second, KEY),
        "the source could still be imported"
    );
    let again = folder.path().join("again.jsonl");
    pack(&second, &again, &["p"], BundleExtent::Whole);
    assert_eq!(
        std::fs::read(&path).expect("readable"),
        std::fs::read(&again).expect("readable")
    );

    // Import the rest of the pair beside the stored part.
    let whole = folder.path().join("whole.jsonl");
    pack(&first, &whole, &ALL, BundleExtent::Whole);
    let rest = unpack_into_store(&whole, &second, &BTreeSet::from([id("p")]), None).expect("whole");
    assert_eq!((rest.new.len(), rest.repeated.len(), rest.items), (3, 1, 4));
    assert_eq!(scan_store(&second).sealed.len(), 2);
}

#[test]
fn figures_are_without_messages_and_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = store(&folder.path().join("first"));
    let (whole, slim) = (
        folder.path().join("whole.jsonl"),
        folder.path().join("slim.jsonl"),
    );
    pack(&first, &whole, &ALL, BundleExtent::Whole);
    pack(&first, &slim, &ALL, BundleExtent::Figures);
    let text = std::fs::read_to_string(&slim).expect("text");
    assert!(
        !text.contains("{\"message\"")
            && !text.contains("{\"file\"")
            && text.contains("{\"score\"")
    );
    for (number, path) in [whole, slim].iter().enumerate() {
        let store = Store::new(folder.path().join(format!("unpacked-{number}")));
        assert_eq!(unpack_figures(path, &store).expect("whole").len(), 4);
        assert!(
            store
                .transcript_path(&id("own"))
                .is_ok_and(|path| path.is_none())
        );
        assert!(
            store
                .output_path(&id("own"))
                .is_ok_and(|path| path.is_none())
        );
        assert_eq!(
            store
                .read_detailed_items(&id("own"))
                .expect("readable")
                .map(|items| items.len()),
            Some(2)
        );
    }
}

#[test]
fn an_unfinished_run_of_that_name_keeps_everything_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = store(&folder.path().join("first"));
    let path = folder.path().join("a.jsonl");
    pack(&first, &path, &ALL, BundleExtent::Whole);
    let second = Store::new(folder.path().join("second"));
    drop(second.open_journal(&id("own")).expect("a journal"));
    let before = files(second.root());
    let problem =
        unpack_into_store(&path, &second, &BTreeSet::new(), None).expect_err("it is in the way");
    assert!(problem.to_string().contains("own"), "{problem}");
    assert_eq!(files(second.root()), before, "nothing half-taken");
}

/// Judges an imported run of the store.
fn append_judgement(store: &Store, run: &str, revision: u32) {
    let evaluator = Evaluator::RequirementFulfillment.name().to_owned();
    let item = ItemOutcome {
        kind: ItemKind::Criterion,
        evaluator: evaluator.clone(),
        revision,
        ..outcome(run, "met")
    };
    let record = ScoreRecord {
        metric: evaluator,
        value: Some(100.0),
        unit: Unit::Points,
        direction: Direction::Up,
        range: None,
        standard_error: None,
        n: Some(1),
        evaluator: None,
        revision,
    };
    store
        .append_judgement(
            &id(run),
            &[(item, ItemDetails::default())],
            &ScoreLine::from_score(record),
        )
        .expect("writable");
}

#[test]
fn what_was_said_of_imported_runs_comes_along_whatever_was_killed_before() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = store(&folder.path().join("first"));
    append_judgement(&first, "p", 1);
    append_judgement(&first, "p", 2);
    append_judgement(&first, "q", 1);
    let path = folder.path().join("a.jsonl");
    assert_eq!(pack(&first, &path, &ALL, BundleExtent::Whole), 9);
    let whole = files(first.root());

    // States: nothing was stored, only one of the folders was moved, or only the marker was left.
    let states: [&dyn Fn(&Store); 3] = [
        &|_| {},
        &|store| {
            let half = store.run_dir(&id("p"));
            std::fs::create_dir_all(&half).expect("writable");
            std::fs::write(half.join(".importing"), "")
                .and_then(|()| std::fs::write(half.join("items.jsonl"), "x"))
                .expect("writable");
            assert!(
                crate::examine_store(store).damage[0]
                    .to_string()
                    .contains("half of a run")
            );
        },
        &|store| {
            unpack_into_store(&path, store, &BTreeSet::new(), None).expect("whole");
            std::fs::write(store.run_dir(&id("q")).join(".importing"), "").expect("writable");
        },
    ];
    for (number, begin) in states.iter().enumerate() {
        let second = Store::new(folder.path().join(format!("second-{number}")));
        begin(&second);
        let taken = scan_store(&second).headers.len() + scan_store(&second).sealed.len();
        let taken = if taken > 0 {
            ALL.map(id).into()
        } else {
            BTreeSet::new()
        };
        let unpacked = unpack_into_store(&path, &second, &taken, None).expect("whole");
        assert_eq!(unpacked.new.len() + unpacked.repeated.len(), 4);
        assert_eq!(files(second.root()), whole, "{number}");
        assert!(crate::verify_store(&second, None).changes.is_empty());
        assert!(crate::examine_store(&second).damage.is_empty());
    }

    let figures = Store::new(folder.path().join("figures"));
    unpack_figures(&path, &figures).expect("whole");
    assert_eq!(
        figures
            .read_judgements(&id("p"), Evaluator::RequirementFulfillment.name())
            .expect("readable")
            .scores
            .len(),
        2
    );

    // Existing files are not overwritten.
    let other = Store::new(folder.path().join("other"));
    drop(other.open_journal(&id("p")).expect("a journal"));
    let before = files(other.root());
    assert!(
        unpack_into_store(&path, &other, &BTreeSet::new(), None)
            .expect_err("it is in the way")
            .to_string()
            .contains('p')
    );
    assert_eq!(files(other.root()), before, "nothing half-taken");
}

#[test]
fn every_cut_is_noticed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = store(&folder.path().join("first"));
    append_judgement(&first, "q", 1);
    for name in ["a.jsonl", "a.bundle"] {
        let path = folder.path().join(name);
        pack(&first, &path, &ALL, BundleExtent::Whole);
        let whole = std::fs::read(&path).expect("readable");
        let damaged = folder.path().join(format!("damaged-{name}"));
        // Without its last line break a plain file is still complete.
        let end = if name == "a.jsonl" {
            whole.len() - 1
        } else {
            whole.len()
        };
        // Every length would take too long. Steps of five reach every kind of line at varying positions.
        for length in (0..end).step_by(5) {
            std::fs::write(&damaged, &whole[..length]).expect("writable");
            let store = Store::new(folder.path().join("store"));
            assert!(
                preview_bundle(&damaged, &store, &BTreeSet::new()).is_err(),
                "{name} cut to {length}"
            );
        }
        for line in 0..whole.split(|byte| *byte == b'\n').count() {
            if name == "a.jsonl" {
                let kept: Vec<&[u8]> = whole
                    .split(|byte| *byte == b'\n')
                    .enumerate()
                    .filter(|(at, _)| *at != line)
                    .map(|(_, line)| line)
                    .collect();
                std::fs::write(&damaged, kept.join(&b'\n')).expect("writable");
                let read = preview_bundle(
                    &damaged,
                    &Store::new(folder.path().join("store")),
                    &BTreeSet::new(),
                );
                assert_eq!(
                    read.is_err(),
                    line + 1 < whole.split(|byte| *byte == b'\n').count(),
                    "without line {line}"
                );
            }
        }
    }
}

#[test]
fn version_1_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("old.jsonl");
    let run = |id: &str| {
        format!(
            r#"{{"id":"{id}","suite":"s","approach":"a","scores":[{{"metric":"m","value":1.0,"unit":"number","direction":"up"}}]}}"#
        )
    };
    let item = |run: &str| {
        format!(r#"{{"run":"{run}","item":"x","kind":"test","evaluator":"e","status":"pass"}}"#)
    };
    let lines = [
        r#"{"format":"evalreport/bundle/1","runs":2}"#.to_owned(),
        run("b"),
        run("a"),
        item("a"),
        item("b"),
        r#"{"end":{"items":2}}"#.to_owned(),
    ];
    std::fs::write(&path, lines.join("\n")).expect("writable");
    let store = Store::new(folder.path().join("store"));
    let unpacked = unpack_into_store(&path, &store, &BTreeSet::new(), None).expect("whole");
    assert_eq!((unpacked.new.len(), unpacked.items), (2, 2));
    let [pair] = scan_store(&store).sealed.try_into().expect("one pair");
    assert_eq!(
        super::super::SealedReader::read_runs(&pair.runs).0[0]
            .scores
            .len(),
        1
    );
    // From now on it is of this version and does not change.
    let (one, two) = (
        folder.path().join("one.jsonl"),
        folder.path().join("two.jsonl"),
    );
    pack(&store, &one, &["a", "b"], BundleExtent::Whole);
    let again = Store::new(folder.path().join("again"));
    unpack_into_store(&one, &again, &BTreeSet::new(), None).expect("whole");
    pack(&again, &two, &["a", "b"], BundleExtent::Whole);
    assert_eq!(
        std::fs::read(one).expect("readable"),
        std::fs::read(two).expect("readable")
    );
}

#[test]
fn hostile_lines_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("h.jsonl");
    let old = r#"{"format":"evalreport/bundle/1","runs":1}"#;
    let head = r#"{"format":"evalreport/bundle/2","runs":1}"#;
    let header = r#"{"id":"r","suite":"s","approach":"a"}"#;
    let outcome = r#"{"run":"r","item":"x","kind":"test","evaluator":"e","status":"pass"}"#;
    let of = |kind: &str, record: &str| format!("{{\"{kind}\":{record}}}");
    let (run, item, imported) = (
        of("run", header),
        of("item", outcome),
        of("imported", header),
    );
    let source = format!(r#"{{"source":{{"key":"{KEY}","runs":1}}}}"#);
    let file = |path: &str| format!(r#"{{"file":{{"path":"{path}","text":""}}}}"#);
    let end = |items: u64, lines: u64| format!(r#"{{"end":{{"lines":{lines},"items":{items}}}}}"#);
    for (lines, message) in [
        (
            vec![r#"{"format":"evalreport/bundle/9","runs":1}"#.to_owned()],
            "h.jsonl:1: `evalreport/bundle/9` was written by a newer evalreport",
        ),
        (vec![old.to_owned()], "is cut off: its last line is missing"),
        (
            vec![old.to_owned(), "{}".to_owned()],
            "h.jsonl:2: is not the header of a run",
        ),
        (
            vec![
                old.to_owned(),
                header.to_owned(),
                outcome.replace("\"r\"", "\"../q\""),
            ],
            "h.jsonl:3: id `../q` has characters",
        ),
        (
            vec![
                old.to_owned(),
                header.to_owned(),
                outcome.replace("\"r\"", "\"q\""),
            ],
            "has no header of",
        ),
        (
            vec![
                old.to_owned(),
                header.to_owned(),
                outcome.to_owned(),
                r#"{"end":{"items":2}}"#.to_owned(),
            ],
            "says 2 outcomes, but there are 1",
        ),
        (
            vec![head.to_owned()],
            "is cut off: its last line is missing",
        ),
        (
            vec![head.to_owned(), "{}".to_owned()],
            "h.jsonl:2: is no line of a bundle",
        ),
        (
            vec![head.to_owned(), of("surprise", "1")],
            "kind `surprise`",
        ),
        (
            vec![
                head.to_owned(),
                of("run", r#"{"id":"../r","suite":"s","approach":"a"}"#),
            ],
            "key `id`",
        ),
        (vec![head.to_owned(), item.clone()], "belongs to no run"),
        (
            vec![
                head.to_owned(),
                run.clone(),
                item.replace("\"run\":\"r\"", "\"run\":\"q\""),
            ],
            "is of another run",
        ),
        (
            vec![head.to_owned(), run.clone(), run.clone()],
            "holds the run `r` again",
        ),
        (
            vec![head.to_owned(), run.clone(), item.clone(), end(2, 3)],
            "says 2 outcomes, but there are 1",
        ),
        (
            vec![head.to_owned(), run.clone(), item.clone(), end(1, 9)],
            "says 9 lines, but there are 3",
        ),
        (
            vec![head.to_owned(), end(0, 1)],
            "ends a bundle of 1 runs, but there are 0",
        ),
        (
            vec![head.to_owned(), run.clone(), end(0, 2), run.clone()],
            "comes after the last line",
        ),
        (
            vec![head.to_owned(), run.clone(), file("../../x")],
            "no path below a folder",
        ),
        (
            vec![head.to_owned(), run.clone(), file("/x")],
            "no path below a folder",
        ),
        (
            vec![head.to_owned(), run.clone(), of("score", "{}")],
            "is not what an evaluator said",
        ),
        (
            vec![head.to_owned(), run.clone(), of("message", "[]")],
            "is no message",
        ),
        (
            vec![head.to_owned(), source.replace(KEY, "../x")],
            "is no SHA-256",
        ),
        (
            vec![head.to_owned(), source.clone(), item.clone()],
            "before the last header",
        ),
        (
            vec![head.to_owned(), source.clone(), end(0, 2)],
            "before the last header",
        ),
        (
            vec![
                head.to_owned(),
                source.clone(),
                imported.clone(),
                imported.replace("\"r\"", "\"q\""),
            ],
            "one more header",
        ),
        (
            vec![head.to_owned(), source.clone(), imported, of("score", "{}")],
            "belongs to no run",
        ),
    ] {
        std::fs::write(&path, lines.join("\n")).expect("writable");
        let store = Store::new(folder.path().join("store"));
        let problem = unpack_into_store(&path, &store, &BTreeSet::new(), None).expect_err(message);
        assert!(
            problem.to_string().contains(message),
            "{message}: {problem}"
        );
        assert!(
            scan_store(&store).headers.is_empty() && scan_store(&store).sealed.is_empty(),
            "{message}"
        );
        assert_eq!(files(folder.path()).len(), 1, "{message}: nothing stays");
    }
}
