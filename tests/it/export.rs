//! `export` in every format, and what comes of reading it again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::needs;
use crate::programs::Start as _;
use crate::schema;
use crate::suites::environment;
use crate::support::{Project, lines, question, result, test};

/// Two arms with repeats, every status, attempts, texts that are not harmless, judgements made again, an import and counts alone.
fn project() -> Project {
    let project = Project::new();
    let time = |hour: u32| format!("2026-03-01T{hour:02}:00:00Z");
    let git = json!({"rev": "abc123", "branch": "main"});
    project.result(&result(
        "quiz-1",
        "quiz",
        "one<shot>",
        json!({"timestamp": time(10), "duration_seconds": 90.5, "cost_usd": 0.5, "git": git, "seed": 7, "model": "acme/fast \"1\""}),
    ));
    let details = json!({"reason": "wrong\u{1} <b>\nsecond & line", "reply": "It is <answer>Green</answer>", "answer": "green", "expected": ["Blue"],
        "question": "What colour?", "usage": {"input": 10, "cache_read": 40, "output": 5}});
    let detailed = |mut line: Value, fields: Value| {
        line.as_object_mut()
            .expect("an object")
            .extend(fields.as_object().expect("an object").clone());
        line
    };
    project.items(
        "quiz-1",
        &[
            detailed(
                question("sky/1", 1, "pass"),
                json!({"duration_seconds": 1.25, "cost_usd": 0.25, "input_tokens": 50, "output_tokens": 5}),
            ),
            detailed(question("sea", 1, "fail"), json!({"details": details, "duration_seconds": 2.0})),
            detailed(question("war", 1, "error"), json!({"details": {"reason": "crashed"}})),
            question("ice", 1, "limit"),
            detailed(question("gas", 1, "infra"), json!({"details": {"reason": "outage"}})),
            question("fog", 1, "not_evaluated"),
            question("dew", 1, "skipped"),
        ],
    );
    project.result(&result(
        "quiz-2",
        "quiz",
        "two",
        json!({"timestamp": time(11), "cost_usd": 0.75}),
    ));
    project.items(
        "quiz-2",
        &[
            question("sky/1", 1, "pass"),
            question("sky/1", 2, "fail"),
            question("sea", 1, "pass"),
            question("sea", 2, "pass"),
        ],
    );
    let quality = json!([{"metric": "quality", "value": 71.5, "unit": "points", "direction": "up", "n": 12, "standard_error": 1.5, "revision": 0},
        {"metric": "mood", "value": 1.0, "unit": "number", "direction": "none"}]);
    project.result(&result(
        "counts-1",
        "tasks",
        "two",
        json!({"shared_tests_passed": 3, "shared_tests_total": 4, "counted": "task", "scores": quality}),
    ));
    project.result(&result("empty-1", "tasks", "one", json!({"error": "boom"})));
    let judged = |item: &str, status: &str, revision: u32| json!({"item": item, "kind": "criterion", "evaluator": "requirementFulfillment", "revision": revision, "status": status});
    project.result(&result(
        "judged-1",
        "tasks",
        "one",
        json!({"timestamp": time(12), "batch_id": "b1"}),
    ));
    project.items(
        "judged-1",
        &[
            test("t1", "pass"),
            test("t2", "fail"),
            judged("c1", "pass", 0),
            judged("c2", "pass", 0),
            judged("c1", "fail", 1),
            judged("c2", "pass", 1),
        ],
    );
    let score = |revision: u32, value: f64| {
        json!({"metric": "requirementFulfillment", "value": value, "unit": "points", "direction": "up", "revision": revision,
            "evaluator": "j:m #1", "judge": {"agent": "j", "prompt_sha256": "1", "votes": 1}, "raw": ["{}"], "details": {"z": 1, "a": 2}})
    };
    project
        .file(
            "results/judged-1/scores.jsonl",
            lines([score(0, 100.0), score(1, 50.0)]),
        )
        .file(
            "results/judged-1/transcript.jsonl",
            "{\"entry\":{\"role\":\"user\",\"content\":\"do it\"}}\n",
        )
        .file("results/judged-1/output/src/a.py", "print(1)\n")
        .bytes("results/judged-1/output/logo.png", &[0x89, 0, 255]);
    project.file("table.csv", "run,item,ok,why\nr2,t1,yes,\nr1,t1,no,bad\nr2,t2,no,worse\nr1,t2,yes,\n").file(
        "map.yaml",
        "format: evalreport/map/1\nname: t\nrows: item\n\
         run: {suite: {constant: imported}, approach: run, model: {constant: y}}\n\
         item: {id: item, kind: {constant: test}, status: {column: ok, values: {yes: pass, no: fail}}}\n",
    );
    let imported = project.run(["import", "table.csv", "--map", "map.yaml", "--quiet"]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    project.fixture("import/inspect/disagreeing.json", "logs/a.json");
    assert_eq!(project.run(["import", "logs", "--quiet"]).code, 0);
    project
}

/// Everything that figures are made from, and what is known of each run.
fn figures(project: &Project, store: &str) -> Vec<String> {
    let run = |arguments: &[&str]| {
        let output = project.run(["--results", store].iter().chain(arguments).copied());
        assert_eq!(output.code, 0, "{arguments:?}: {}", output.stderr);
        output.stdout.replace(&format!("{store}/"), "")
    };
    vec![
        run(&["leaderboard", "--format", "json"]),
        run(&["list", "--runs", "--format", "json"]),
        run(&[
            "show", "--suite", "quiz", "--items", "all", "--format", "json",
        ]),
        run(&[
            "show", "--suite", "tasks", "--items", "all", "--format", "json",
        ]),
        run(&[
            "show", "--suite", "imported", "--items", "all", "--format", "json",
        ]),
        run(&[
            "sql",
            "select run_id, item, attempt, revision, status, standing from items order by run_id, item, attempt, revision",
            "--format",
            "csv",
        ]),
        run(&["doctor"]).replace(store, "store"),
    ]
}

/// How many outcomes ended how, in the store of a project.
fn counts(project: &Project, store: &str) -> BTreeMap<String, u64> {
    let answer = project.run([
        "--results",
        store,
        "sql",
        "select status, count(*) as n from items where standing group by status",
        "--format",
        "csv",
    ]);
    answer
        .rows()
        .into_iter()
        .map(|row| (row["status"].clone(), row["n"].parse().expect("a number")))
        .collect()
}

#[test]
fn a_bundle_brings_everything_along() {
    let project = project();
    for name in ["all.bundle", "all.jsonl"] {
        let exported = project.run(["export", "bundle", name]);
        assert_eq!(
            (
                exported.code,
                exported.stderr.starts_with(&format!("{name}: "))
            ),
            (0, true),
            "{}",
            exported.stderr
        );
        let store = format!("store-of-{name}");
        let imported = project.run(["--results", &store, "import", name]);
        assert_eq!(imported.code, 0, "{}", imported.stderr);
        assert_eq!(figures(&project, &store), figures(&project, "results"));
        let again = format!("again-{name}");
        assert_eq!(
            project
                .run(["--results", &store, "export", "bundle", &again, "--quiet"])
                .answer(),
            ""
        );
        assert!(
            fs::read(project.path(name)).expect("there")
                == fs::read(project.path(&again)).expect("there"),
            "{name}: other bytes"
        );
        // What has come may be judged, and shown, as at home.
        assert_eq!(
            project.read(&format!("{store}/judged-1/output/src/a.py")),
            "print(1)\n"
        );
        assert_eq!(
            project.read(&format!("{store}/judged-1/transcript.jsonl")),
            project.read("results/judged-1/transcript.jsonl")
        );
        let scores = |store: &str| -> Vec<Value> {
            project
                .read(&format!("{store}/judged-1/scores.jsonl"))
                .lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect()
        };
        assert_eq!(scores(&store), scores("results"));
        let twice = project.run(["--results", &store, "import", name, "--strict"]);
        assert!(
            twice
                .stdout
                .contains("every run of it is in the store already"),
            "{}",
            twice.stdout
        );
    }
    assert!(
        project
            .files("store-of-all.jsonl")
            .iter()
            .all(|file| !file.contains(".importing")),
        "nothing stays"
    );
}

#[test]
fn a_part_of_a_store_travels_as_well() {
    let project = project();
    assert_eq!(
        project
            .run([
                "export",
                "bundle",
                "part.bundle",
                "--suite",
                "imported",
                "--approach",
                "r1",
                "--quiet"
            ])
            .code,
        0
    );
    assert_eq!(
        project
            .run(["--results", "part", "import", "part.bundle", "--quiet"])
            .code,
        0
    );
    assert_eq!(
        project
            .run([
                "--results",
                "part",
                "export",
                "bundle",
                "again.bundle",
                "--quiet"
            ])
            .code,
        0
    );
    assert!(
        fs::read(project.path("part.bundle")).expect("there")
            == fs::read(project.path("again.bundle")).expect("there")
    );
    // The table is not taken for imported because a part of it is there.
    let table = project.run([
        "--results",
        "part",
        "import",
        "table.csv",
        "--map",
        "map.yaml",
    ]);
    assert!(
        table.stdout.contains("imported 1 run with 2 outcomes"),
        "{}",
        table.stdout
    );
    assert_eq!(
        counts(&project, "part"),
        BTreeMap::from([("fail".to_owned(), 2), ("pass".to_owned(), 2)])
    );
}

/// Commands that read take a bundle as they take other tools' files: with all that is in it, and the store stays as it is.
#[test]
fn a_bundle_is_read_without_being_imported() {
    let project = project();
    let away = Project::new();
    assert_eq!(project.run(["export", "bundle", "all.bundle"]).code, 0);
    std::fs::create_dir_all(away.path("nightly/deep")).expect("a writable folder");
    std::fs::copy(
        project.path("all.bundle"),
        away.path("nightly/deep/all.bundle"),
    )
    .expect("a copy");
    for arguments in [
        &["leaderboard", "--format", "json"][..],
        &["compare", "tasks", "--format", "json"],
    ] {
        let read = away.run(arguments.iter().chain(&["./nightly"]).copied());
        let at_home = project.run(arguments.iter().copied());
        assert_eq!(
            (read.code, read.json()),
            (at_home.code, at_home.json()),
            "{}",
            read.stderr
        );
    }
    assert!(!away.path("results").exists());
    // The second time it is there already; a run that the store has too counts once.
    let cached = |project: &Project| {
        project
            .files(".evalreport/cache")
            .into_iter()
            .filter(|file| file.contains("foreign"))
            .collect::<Vec<_>>()
    };
    let before = cached(&away);
    assert!(
        before
            .iter()
            .any(|file| file.ends_with("judged-1/output/src/a.py")),
        "{before:?}"
    );
    assert!(
        !before.iter().any(|file| file.contains(".importing")),
        "{before:?}"
    );
    let both = project.run(["leaderboard", "--format", "json", "./all.bundle"]);
    assert_eq!(
        both.json(),
        project.run(["leaderboard", "--format", "json"]).json()
    );
    let built = away.run(["build", "nightly/deep/all.bundle"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    assert_eq!(cached(&away), before);
    // What was said on the way is shown as at home.
    assert_eq!(project.run(["build"]).code, 0);
    let pages = |project: &Project| {
        project
            .files("site")
            .into_iter()
            .filter(|file| file.contains("/runs/"))
            .collect::<Vec<_>>()
    };
    assert_eq!(pages(&away), pages(&project));
    assert!(
        pages(&away).iter().any(|page| page.contains("/t/")),
        "{:?}",
        pages(&away)
    );
    // One that is cut off is said, and leaves nothing.
    assert_eq!(
        project
            .run(["export", "bundle", "plain.jsonl", "--quiet"])
            .code,
        0
    );
    let plain = project.read("plain.jsonl");
    away.file("half/plain.jsonl", &plain[..plain.len() / 2]);
    insta::assert_snapshot!(
        "export_bundle_half",
        away.run(["leaderboard", "./half"]).snapshot()
    );
    assert_eq!(cached(&away), before);
}

#[test]
fn bundles_are_found_in_folders() {
    let project = project();
    assert_eq!(
        project
            .run([
                "export",
                "bundle",
                "nightly/one.bundle",
                "--suite",
                "tasks",
                "--quiet"
            ])
            .code,
        0
    );
    assert_eq!(
        project
            .run([
                "export",
                "bundle",
                "nightly/two.jsonl",
                "--suite",
                "quiz",
                "--quiet"
            ])
            .code,
        0
    );
    project.fixture("import/inspect/plain.json", "nightly/plain.json");
    project.file("nightly/readme.bundle", "no bundle");
    let found = project.run(["--results", "new", "import", "nightly"]);
    insta::assert_snapshot!("export_bundle_folder", found.snapshot());
    let renamed = project.run([
        "--results",
        "other",
        "import",
        "nightly",
        "--set",
        "suite=x",
    ]);
    assert!(
        renamed.code == 2
            && renamed
                .stdout
                .contains("is a bundle, whose runs keep their names"),
        "{}",
        renamed.stdout
    );
    assert!(
        project
            .files("other")
            .iter()
            .all(|file| file.contains("/imports/") || file.contains("/chain/")),
        "{:?}",
        project.files("other")
    );
    let suites = |arguments: &[&str]| {
        let list = project.run(arguments.iter().copied()).json();
        list["suites"]
            .as_array()
            .expect("suites")
            .iter()
            .map(|suite| suite["suite"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        suites(&["--results", "new", "list", "--format", "json"]).len(),
        3
    );
}

#[test]
fn bundles_say_what_they_are() {
    let project = project();
    assert_eq!(
        project
            .run(["export", "bundle", "b.jsonl", "--suite", "tasks", "--quiet"])
            .code,
        0
    );
    insta::assert_snapshot!("export_bundle", project.read("b.jsonl"));
    assert_eq!(
        project
            .run([
                "export",
                "bundle",
                "slim.jsonl",
                "--suite",
                "tasks",
                "--slim",
                "--quiet"
            ])
            .code,
        0
    );
    let slim = project.read("slim.jsonl");
    assert!(
        !slim.contains("{\"message\"") && !slim.contains("{\"file\""),
        "{slim}"
    );
    let dry = project.run(["--results", "new", "import", "b.jsonl", "--dry-run"]);
    insta::assert_snapshot!("export_bundle_import", dry.snapshot());
    assert!(!project.path("new").exists());
    assert!(
        project
            .run(["import", "b.jsonl", "--set", "suite=x"])
            .refusal()
            .contains("keep their names")
    );
    assert!(
        project
            .run(["export", "junit", "x.xml", "--slim"])
            .refusal()
            .contains("--slim is for bundles")
    );
    project.file("half.jsonl", &slim[..slim.len() / 2]);
    let half = project.run(["--results", "new", "import", "half.jsonl"]);
    assert_eq!(half.code, 2, "{}", half.stdout);
    assert!(half.stdout.contains("half.jsonl"), "{}", half.stdout);
    assert!(
        project.files("new").is_empty(),
        "nothing of a damaged bundle is stored"
    );
}

#[test]
fn tables_bring_runs_items_scores_and_usage_back() {
    let project = project();
    for format in ["csv", "parquet"] {
        let (tables, store) = (format!("tables-{format}"), format!("store-of-{format}"));
        assert_eq!(project.run(["export", format, &tables, "--quiet"]).code, 0);
        let imported = project.run(["--results", &store, "import", &tables]);
        assert!(
            imported.code == 0 && imported.stdout.contains(" 0 refused"),
            "{}{}",
            imported.stdout,
            imported.stderr
        );
        let table = |store: &str, query: &str| {
            project
                .run(["--results", store, "sql", query, "--format", "csv"])
                .stdout
        };
        for query in [
            "select run_id, suite, approach, model, reported_model, timestamp, status, error, duration_seconds, shared_tests_passed, shared_tests_total, \
             own_tests_passed, own_tests_total, counted, batch_id, run_index, suite_version, tags from runs order by run_id",
            "select * from items where standing order by run_id, evaluator, item, attempt",
            "select * from scores where standing order by run_id, metric",
            "select * from usage order by run_id",
        ] {
            assert_eq!(
                table(&store, query),
                table("results", query),
                "{format}: {query}"
            );
        }
        // An export of the same store adds nothing, imported or read where it lies.
        let here = project.run(["import", &tables]);
        assert!(
            here.code == 0
                && here
                    .stdout
                    .contains("every run of it is in the store already"),
            "{}",
            here.stdout
        );
        let both = project.run(["leaderboard", "--format", "json", &format!("./{tables}")]);
        assert_eq!(
            both.json(),
            project.run(["leaderboard", "--format", "json"]).json()
        );
    }
    let alone = project.run(["--results", "new", "import", "tables-csv/items.csv"]);
    assert!(
        alone.code == 2 && alone.stdout.contains("lacks `runs`"),
        "{}{}",
        alone.stdout,
        alone.stderr
    );
}

#[test]
fn a_selection_of_every_format() {
    let project = project();
    for format in ["csv", "parquet"] {
        let out = format!("out-{format}");
        let exported = project.run([
            "export",
            format,
            &out,
            "--suite",
            "quiz",
            "--approach",
            "two",
        ]);
        let expected = format!(
            "{out}/runs.{format}: 1 row\n{out}/items.{format}: 4 rows\n{out}/scores.{format}: 0 rows\n{out}/usage.{format}: 1 row\n"
        );
        assert_eq!((exported.code, exported.stderr), (0, expected));
    }
    for format in ["csv", "parquet", "json", "junit", "ctrf", "eee", "bundle"] {
        let refused = project.run(["export", format, "nowhere", "--suite", "quizz"]);
        assert!(
            refused.refusal().contains("no suite `quizz`"),
            "{format}: {}",
            refused.stderr
        );
        assert!(!project.path("nowhere").exists(), "{format}");
    }
}

#[test]
fn json_export() {
    let project = project();
    assert_eq!(
        project.run(["export", "json", "out/all.json"]).stderr,
        "out/all.json: 8 runs, 21 outcomes\n"
    );
    let text = project.read("out/all.json");
    let all: Value = serde_json::from_str(&text).expect("it is JSON");
    schema::validate("records", &all).expect("it keeps to its schema");
    assert_eq!(
        (all["schema"].as_str(), all["runs"].as_array().map(Vec::len)),
        (Some("evalreport/records/1"), Some(8))
    );
    let judged = all["items"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|item| item["evaluator"] == "requirementFulfillment");
    let judged: Vec<_> = judged
        .map(|item| {
            (
                item["item"].as_str(),
                item["revision"].as_u64(),
                item["status"].as_str(),
            )
        })
        .collect();
    assert_eq!(
        judged,
        [
            (Some("c1"), Some(1), Some("fail")),
            (Some("c2"), Some(1), Some("pass"))
        ],
        "what counts, and nothing else"
    );
    assert_eq!(
        project
            .run(["export", "json", "quiz.json", "--suite", "quiz", "--quiet"])
            .answer(),
        ""
    );
    insta::assert_snapshot!("export_json", project.read("quiz.json"));
    assert_eq!(
        project.files("out"),
        ["out/all.json"],
        "no temporary file stays"
    );
}

#[test]
#[cfg(unix)]
fn links_and_pipes_are_written_to() {
    use std::os::unix::fs::symlink;

    let project = project();
    assert_eq!(
        project
            .run(["export", "json", "plain.json", "--quiet"])
            .code,
        0
    );
    project.file("real.json", "old").file("real.bundle", "");
    symlink("real.json", project.path("link.json")).expect("a link");
    symlink("real.bundle", project.path("link.bundle")).expect("a link");
    assert_eq!(
        project.run(["export", "json", "link.json", "--quiet"]).code,
        0
    );
    assert_eq!(project.read("real.json"), project.read("plain.json"));
    assert_eq!(
        project
            .run(["export", "bundle", "link.bundle", "--quiet"])
            .code,
        0
    );
    assert!(project.path("link.json").is_symlink() && project.path("link.bundle").is_symlink());
    assert!(
        fs::metadata(project.path("real.bundle"))
            .expect("there")
            .len()
            > 0
    );
    // A pipe is read while it is written to.
    assert!(
        Command::new("mkfifo")
            .arg(project.path("pipe"))
            .finish()
            .status
            .success()
    );
    let reader = std::thread::spawn({
        let pipe = project.path("pipe");
        move || fs::read_to_string(pipe)
    });
    assert_eq!(project.run(["export", "json", "pipe", "--quiet"]).code, 0);
    assert_eq!(
        reader.join().expect("a thread").expect("read"),
        project.read("plain.json")
    );
    assert!(
        !fs::symlink_metadata(project.path("pipe"))
            .expect("there")
            .is_file()
    );
}

#[test]
fn junit_export() {
    let project = project();
    assert_eq!(
        project.run(["export", "junit", "all.xml"]).stderr,
        "all.xml: 8 runs, 21 outcomes\nnote: 2 runs have no outcomes and no tests here; of 4 outcomes there are counts, which are properties\n"
    );
    assert_eq!(
        project
            .run(["export", "junit", "quiz.xml", "--suite", "quiz", "--quiet"])
            .answer(),
        ""
    );
    insta::assert_snapshot!("export_junit", project.read("quiz.xml"));
    let text = project.read("all.xml");
    assert!(!text.contains('\u{1}') && !text.contains("<b>"));
    let imported = project.run(["--results", "again", "import", "all.xml"]);
    assert_eq!(imported.code, 0, "{}{}", imported.stdout, imported.stderr);
    // What is missing is skipped, and what ran out of time is an error: the passed and the counted stay.
    let before = counts(&project, "results");
    let of = |name: &str| before.get(name).copied().unwrap_or(0);
    let expected = BTreeMap::from([
        ("pass".to_owned(), of("pass")),
        ("fail".to_owned(), of("fail")),
        ("error".to_owned(), of("error") + of("limit")),
        (
            "skipped".to_owned(),
            of("skipped") + of("infra") + of("not_evaluated"),
        ),
    ]);
    assert_eq!(counts(&project, "again"), expected);
    assert!(
        imported.stdout.contains("imported 8 runs")
            && imported.stdout.contains("32 agree, 0 do not"),
        "{}",
        imported.stdout
    );
    assert_eq!(
        project
            .run([
                "export",
                "junit",
                "one.xml",
                "--approach",
                "one<shot>",
                "--quiet"
            ])
            .code,
        0
    );
    assert_eq!(
        project
            .run(["--results", "one", "import", "one.xml", "--quiet"])
            .code,
        0
    );
    let names = project.run([
        "--results",
        "one",
        "sql",
        "select suite, approach, model from runs",
        "--format",
        "csv",
    ]);
    assert_eq!(
        names.answer(),
        "suite,approach,model\nquiz,one<shot>,\"acme/fast \"\"1\"\"\"\n",
        "a report of one run brings its names back"
    );
}

#[test]
fn ctrf_export() {
    let project = project();
    assert!(
        project
            .run(["export", "ctrf", "out"])
            .stderr
            .starts_with("out: 8 runs, 21 outcomes\nnote: 2 runs have no outcomes")
    );
    assert_eq!(project.files("out").len(), 8);
    insta::assert_snapshot!("export_ctrf", project.read("out/quiz-1.json"));
    let refused = project.run(["export", "ctrf", "all.json"]);
    assert!(
        refused
            .refusal()
            .contains("a CTRF report is of one run, and 8 runs are selected"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        project
            .run([
                "export",
                "ctrf",
                "one.json",
                "--approach",
                "one<shot>",
                "--quiet"
            ])
            .answer(),
        ""
    );
    assert_eq!(project.read("one.json"), project.read("out/quiz-1.json"));
    let imported = project.run(["--results", "again", "import", "out"]);
    assert_eq!(imported.code, 0, "{}{}", imported.stdout, imported.stderr);
    assert_eq!(counts(&project, "again"), counts(&project, "results"));
    assert!(
        !imported.stdout.contains("they do not agree"),
        "{}",
        imported.stdout
    );
    let costs = |store: &str| {
        project
            .run([
                "--results",
                store,
                "sql",
                "select sum(cost_usd) as c, sum(duration_seconds) as d, count(duration_seconds) as n from items",
                "--format",
                "csv",
            ])
            .stdout
    };
    assert_eq!(costs("again"), costs("results"));
    let rates = |store: &str| rates(&project, store);
    assert_eq!(
        rates("again"),
        rates("results")
            .into_iter()
            .filter(|(arm, _)| !arm.contains("counts"))
            .collect::<BTreeMap<_, _>>()
    );
}

#[test]
fn kinds_attempts_and_counts_come_back() {
    let project = project();
    let of = |store: &str| {
        let by = |query: &str| {
            project
                .run(["--results", store, "sql", query, "--format", "csv"])
                .stdout
        };
        let kinds = by(
            "select r.suite, r.approach, i.kind, i.evaluator, i.attempt, count(*) as n from items i join runs r on i.run_id = r.run_id \
             where i.standing group by r.suite, r.approach, i.kind, i.evaluator, i.attempt order by 1, 2, 3, 4, 5",
        );
        let times = by(
            "select suite, approach, timestamp from runs where timestamp is not null order by suite, approach",
        );
        kinds
            + &times
            + &by(
                "select shared_tests_passed, shared_tests_total, counted from runs where suite = 'tasks' and approach = 'two'",
            )
    };
    assert_eq!(project.run(["export", "ctrf", "all", "--quiet"]).code, 0);
    assert_eq!(
        project
            .run(["--results", "by-ctrf", "import", "all", "--quiet"])
            .code,
        0
    );
    assert_eq!(of("by-ctrf"), of("results"));
    // A report of one run brings its names back.
    for (suite, approach) in [("quiz", "one<shot>"), ("quiz", "two"), ("tasks", "two")] {
        assert_eq!(
            project
                .run([
                    "export",
                    "junit",
                    "one.xml",
                    "--suite",
                    suite,
                    "--approach",
                    approach,
                    "--quiet"
                ])
                .code,
            0
        );
        assert_eq!(
            project
                .run(["--results", "by-junit", "import", "one.xml", "--quiet"])
                .code,
            0
        );
    }
    let kinds = "select distinct kind, evaluator, attempt from items i join runs r on i.run_id = r.run_id where r.suite = 'quiz' order by 1, 2, 3";
    let of = |store: &str| {
        project
            .run(["--results", store, "sql", kinds, "--format", "csv"])
            .stdout
    };
    assert_eq!(of("by-junit"), of("results"));
    // And one of several runs brings back each.
    assert_eq!(
        project.run(["export", "junit", "all.xml", "--quiet"]).code,
        0
    );
    assert_eq!(
        project
            .run(["--results", "all-by-junit", "import", "all.xml", "--quiet"])
            .code,
        0
    );
    let runs = |store: &str| {
        let query =
            "select suite, approach, model, counted, timestamp from runs order by 1, 2, 3, 5";
        project
            .run(["--results", store, "sql", query, "--format", "csv"])
            .stdout
    };
    assert_eq!(runs("all-by-junit"), runs("results"));
    assert_eq!(rates(&project, "all-by-junit"), rates(&project, "results"));
    let again = project
        .run(["--results", "all-by-junit", "import", "all.xml"])
        .stdout;
    assert!(again.contains("imported before"), "twice is once: {again}");
    let counts = "select shared_tests_passed, shared_tests_total, counted from runs where suite = 'tasks' and approach = 'two'";
    let counted = &project
        .run(["--results", "by-junit", "sql", counts, "--format", "csv"])
        .rows()[0];
    assert_eq!(
        (
            counted["shared_tests_total"].as_str(),
            counted["counted"].as_str()
        ),
        ("4", "task")
    );
}

/// Passed and counted by suite and arm, of runs with items.
fn rates(project: &Project, store: &str) -> BTreeMap<String, (u64, u64)> {
    let query = "select r.suite, r.approach, r.model, i.kind, i.status, count(*) as n from items i join runs r on i.run_id = r.run_id \
                 where i.standing group by r.suite, r.approach, r.model, i.kind, i.status";
    let mut rates: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in project
        .run(["--results", store, "sql", query, "--format", "csv"])
        .rows()
    {
        let n: u64 = row["n"].parse().expect("a number");
        let rate = rates
            .entry(format!(
                "{} {} {}",
                row["suite"], row["approach"], row["model"]
            ))
            .or_default();
        rate.0 += if row["status"] == "pass" { n } else { 0 };
        rate.1 += if ["pass", "fail", "error", "limit"].contains(&row["status"].as_str()) {
            n
        } else {
            0
        };
    }
    rates
}

#[test]
fn eee_export() {
    let project = project();
    let exported = project.run(["export", "eee", "out"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    assert!(
        exported
            .stderr
            .contains("note: 1 run without any figure: there is no record of them"),
        "{}",
        exported.stderr
    );
    let files = project.files("out");
    let (samples, records): (Vec<&String>, Vec<&String>) = files
        .iter()
        .partition(|file| file.ends_with("_samples.jsonl"));
    assert_eq!((records.len(), samples.len()), (7, 6), "{files:?}");
    let quiz = records
        .iter()
        .find(|file| file.starts_with("out/data/quiz/acme/fast-1/"))
        .expect("suite, developer and model are folders");
    insta::assert_snapshot!("export_eee_record", project.read(quiz));
    insta::assert_snapshot!(
        "export_eee_samples",
        project.read(&quiz.replace(".json", "_samples.jsonl"))
    );
    for file in &records {
        let record: Value = serde_json::from_str(&project.read(file)).expect("JSON");
        if let Some(samples) = record.get("detailed_evaluation_results") {
            let path = samples["file_path"].as_str().expect("a path");
            let lines = project.read(&format!("out/{path}")).lines().count();
            assert_eq!(samples["total_rows"], json!(lines));
        }
    }
    let imported = project.run(["--results", "again", "import", "out"]);
    assert_eq!(imported.code, 0, "{}{}", imported.stdout, imported.stderr);
    assert!(
        !imported.stdout.contains("they do not agree"),
        "{}",
        imported.stdout
    );
    let query = "select suite, approach, model, shared_tests_passed, shared_tests_total from runs order by suite, approach, model";
    let again = project
        .run(["--results", "again", "sql", query, "--format", "csv"])
        .stdout;
    insta::assert_snapshot!("export_eee_again", again);
}

/// Holds a document against a schema of its format's own.
fn valid(schema: &Path, document: &Value) {
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(schema).expect("the schema is there"))
            .expect("JSON");
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler
        .add_resource("schema.json", schema)
        .expect("a resource");
    let index = compiler
        .compile("schema.json", &mut schemas)
        .expect("a schema");
    if let Err(error) = schemas.validate(document, index) {
        panic!("{error:#}\n{document:#}");
    }
}

#[test]
fn ctrf_exports_are_valid() {
    needs!("the schema of CTRF");
    let schema = needs::variable("EVALREPORT_CTRF_SCHEMA").expect("it is named");
    let project = project();
    assert_eq!(project.run(["export", "ctrf", "out"]).code, 0);
    for file in project.files("out") {
        valid(
            &schema,
            &serde_json::from_str(&project.read(&file)).expect("JSON"),
        );
    }
}

#[test]
fn eee_exports_are_valid() {
    needs!("the schemas of Every Eval Ever");
    let schemas = needs::variable("EVALREPORT_EEE_SCHEMAS").expect("it is named");
    let project = project();
    assert_eq!(project.run(["export", "eee", "out"]).code, 0);
    let (samples, records): (Vec<String>, Vec<String>) = project
        .files("out")
        .into_iter()
        .partition(|file| file.ends_with("_samples.jsonl"));
    for file in records {
        valid(
            &schemas.join("eval.schema.json"),
            &serde_json::from_str(&project.read(&file)).expect("JSON"),
        );
    }
    for file in samples {
        for line in project.read(&file).lines() {
            valid(
                &schemas.join("instance_level_eval.schema.json"),
                &serde_json::from_str(line).expect("JSON"),
            );
        }
    }
}

/// A Python with DuckDB, made once and kept beside the build; `None` if it cannot be had.
pub fn duckdb() -> Option<PathBuf> {
    environment("duckdb-venv", &["duckdb"])
}

/// What DuckDB finds in the exported tables.
const AGGREGATES: &str = r#"
import duckdb, json
def rows(query): return duckdb.sql(query).fetchall()
passed = rows("""SELECT r.suite, r.approach, r.model, count(*) FILTER (i.status = 'pass'), count(*)
  FROM 'out/items.parquet' i JOIN 'out/runs.parquet' r USING (run_id)
  WHERE i.standing AND i.status IN ('pass', 'fail', 'error', 'limit') AND i.kind <> 'criterion'
  GROUP BY ALL ORDER BY ALL""")
cost = rows("SELECT sum(cost_usd), count(cost_usd), count(*) FROM 'out/usage.parquet'")
first = rows("SELECT epoch(min(timestamp)) FROM 'out/runs.parquet'")
score = rows("SELECT value, n FROM 'out/scores.parquet' WHERE metric = 'quality'")
types = {}
for table in ["runs", "items", "scores", "usage"]:
    for name, kind, *_ in rows(f"DESCRIBE SELECT * FROM 'out/{table}.parquet'"):
        types.setdefault(kind, []).append(f"{table}.{name}")
print(json.dumps({"passed": passed, "cost": cost, "first": first, "score": score, "types": types}))
"#;

#[test]
fn duckdb_reads_the_same_from_parquet() {
    needs!("DuckDB");
    let python = duckdb().expect("the test needs it");
    let project = project();
    assert_eq!(
        project
            .run(["export", "parquet", "out", "--quiet"])
            .answer(),
        ""
    );
    project.file("aggregates.py", AGGREGATES);
    let output = Command::new(python)
        .arg("aggregates.py")
        .current_dir(project.path(""))
        .finish();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");

    let mut passed = BTreeMap::new();
    let board = project.run(["leaderboard", "--format", "json"]).json();
    for suite in board["suites"].as_array().expect("a list") {
        for entry in suite["entries"].as_array().expect("a list") {
            let rate = &entry["pass_rate"];
            if let (Some(passed_of_it), Some(total)) =
                (rate["passed"].as_u64(), rate["total"].as_u64())
            {
                let arm = (
                    suite["suite"].to_string(),
                    entry["approach"].to_string(),
                    entry["model"].to_string(),
                );
                passed.insert(arm, (passed_of_it, total));
            }
        }
    }
    // The board counts an arm where all of its runs have counts.
    let mut compared = 0;
    for row in found["passed"].as_array().expect("a list") {
        if let Some(counts) =
            passed.get(&(row[0].to_string(), row[1].to_string(), row[2].to_string()))
        {
            assert_eq!(Some(*counts), row[3].as_u64().zip(row[4].as_u64()), "{row}");
            compared += 1;
        }
    }
    assert!(compared >= 5, "{found}");
    let sql = project
        .run([
            "sql",
            "select sum(cost_usd) as cost, count(cost_usd) as known, count(*) as n from usage",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(found["cost"][0], sql["rows"][0]);
    assert_eq!(found["score"], json!([[71.5, 12]]));
    insta::assert_snapshot!(
        "export_parquet_types",
        serde_json::to_string_pretty(&found["types"]).expect("JSON")
    );
}
