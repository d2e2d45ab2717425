//! Inspect AI's logs: every shape and quirk, and real logs by the numbers they state.
//!
//! The logs here are the project's own. Folders of real ones can be named by `EVALREPORT_INSPECT`, with `:` between them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::support::Project;

fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import/inspect")
        .join(format!("{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the fixture is in the repository"))
        .expect("JSON")
}

fn with(names: &[&str]) -> Project {
    let project = Project::new();
    for name in names {
        project.fixture(
            &format!("import/inspect/{name}.json"),
            &format!("logs/{name}.json"),
        );
    }
    project
}

fn zipped(members: &[(String, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer
            .start_file(
                name.as_str(),
                SimpleFileOptions::default().compression_method(method),
            )
            .expect("memory");
        writer.write_all(bytes).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

fn member(name: impl Into<String>, value: &Value) -> (String, Vec<u8>) {
    (name.into(), value.to_string().into_bytes())
}

/// The members that the log has as an archive.
fn members(log: &Value) -> Vec<(String, Vec<u8>)> {
    let mut header = log.clone();
    let samples = header
        .as_object_mut()
        .and_then(|header| header.remove("samples"))
        .unwrap_or(json!([]));
    let mut members = vec![member(
        "_journal/start.json",
        &json!({"version": 2, "eval": log["eval"], "plan": log["plan"]}),
    )];
    let named = |(place, sample): (usize, &Value)| {
        member(
            format!("samples/{place}_epoch_{}.json", sample["epoch"]),
            sample,
        )
    };
    members.extend(
        samples
            .as_array()
            .expect("a list")
            .iter()
            .enumerate()
            .map(named),
    );
    members.push(member("summaries.json", &samples));
    members.push(member("header.json", &header));
    members
}

/// The one source of an import, and the project it went into.
#[track_caller]
fn imported(name: &str) -> (Value, Project) {
    let project = with(&[name]);
    let answer = project.run(["import", "logs", "--format", "json"]);
    let source = answer.json()["sources"][0].clone();
    assert_eq!(project.run(["doctor"]).code, 0, "{name}");
    (source, project)
}

/// The runs of the store, as stored.
fn runs(project: &Project) -> Vec<Value> {
    let files = project.files("results/imports");
    let runs = files
        .iter()
        .filter(|file| file.ends_with(".runs.jsonl"))
        .map(|file| project.read(file));
    runs.flat_map(|text| {
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect::<Vec<Value>>()
    })
    .collect()
}

fn items(project: &Project) -> Vec<Value> {
    let files = project.files("results/imports");
    let packed = files
        .iter()
        .filter(|file| file.strip_suffix(".zst").is_some())
        .map(|file| std::fs::read(project.path(file)).expect("readable"));
    let texts = packed.map(|bytes| {
        String::from_utf8(zstd::decode_all(bytes.as_slice()).expect("zstd")).expect("UTF-8")
    });
    texts
        .flat_map(|text| {
            text.lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect::<Vec<Value>>()
        })
        .collect()
}

fn statuses(project: &Project) -> Vec<(String, u64, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    items(project)
        .iter()
        .map(|item| {
            (
                word(&item["item"]),
                item["attempt"].as_u64().unwrap_or(0),
                word(&item["status"]),
            )
        })
        .collect()
}

fn said(source: &Value, quirk: &str) -> bool {
    let quirks = source["foreign"]["quirks"].as_array().expect("quirks");
    quirks.iter().any(|one| {
        one["quirk"]
            .as_str()
            .is_some_and(|text| text.contains(quirk))
    })
}

#[test]
fn a_log_becomes_a_run_with_everything_it_says() {
    let (source, project) = imported("plain");
    assert_eq!(
        (
            &source["outcome"],
            &source["items"],
            &source["stated_checked"],
            &source["stated_agree"]
        ),
        (&json!("imported"), &json!(4), &json!(3), &json!(3))
    );
    assert_eq!(source["foreign"]["version"], "inspect_ai 0.3.285");
    let run = &runs(&project)[0];
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (
            &json!("pkg/capitals"),
            &json!("system_message+generate"),
            &json!("openai/gpt-x")
        )
    );
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(3), &json!(4))
    );
    // The log's input leaves the cache out; ours holds it.
    assert_eq!(
        (
            &run["input_tokens"],
            &run["output_tokens"],
            &run["total_tokens"]
        ),
        (&json!(80), &json!(12), &json!(92))
    );
    assert_eq!(
        run["usage"],
        json!({"input": 40, "cache_write": 8, "cache_read": 32, "output": 12})
    );
    assert_eq!(
        (&run["cost_usd"], &run["cost_source"]),
        (&json!(0.04), &json!("reported"))
    );
    assert_eq!(
        (&run["timestamp"], &run["duration_seconds"]),
        (&json!("2026-03-01T09:00:31Z"), &json!(30.0))
    );
    assert_eq!(run["batch_id"], "runPlain");
    assert_eq!(run["git"], json!({"rev": "abc123", "dirty": true}));
    assert!(
        run["suite_version"]
            .as_str()
            .is_some_and(|version| version.starts_with("3+")),
        "{run}"
    );
    let tags = &run["tags"];
    assert_eq!(
        (&tags["tags"], &tags["epochs"], &tags["message_limit"]),
        (&json!("nightly, new"), &json!("2"), &json!("20"))
    );
    assert_eq!(
        (&run["provenance"]["importer"], &run["provenance"]["file"]),
        (&json!("inspect"), &json!("plain.json"))
    );
    let names: Vec<(String, u64, String)> = [
        ("1", 1, "pass"),
        ("1", 2, "pass"),
        ("b/2", 1, "pass"),
        ("b/2", 2, "fail"),
    ]
    .map(|(id, epoch, status)| (id.to_owned(), epoch, status.to_owned()))
    .into();
    assert_eq!(statuses(&project), names);
    let first = &items(&project)[0];
    assert_eq!(
        (
            &first["input_tokens"],
            &first["cost_usd"],
            &first["duration_seconds"],
            &first["evaluator"]
        ),
        (&json!(20), &json!(0.01), &json!(1.5), &json!("match"))
    );
    let details = &first["details"];
    assert_eq!(
        (
            &details["question"],
            &details["expected"],
            &details["answer"],
            &details["reply"]
        ),
        (
            &json!("What is the capital of France?"),
            &json!(["Paris"]),
            &json!("Paris"),
            &json!("It is Paris.")
        )
    );
    assert_eq!(details["item_hash"].as_str().map(str::len), Some(32));
}

#[test]
fn the_archive_of_a_log_gives_what_the_log_gives() {
    let log = fixture("plain");
    let (_, plain) = imported("plain");
    for method in [
        CompressionMethod::Stored,
        CompressionMethod::Deflated,
        CompressionMethod::Zstd,
    ] {
        let project = Project::new();
        project.bytes("log.eval", &zipped(&members(&log), method));
        assert_eq!(project.run(["import", "log.eval"]).code, 0);
        assert_eq!(items(&project), items(&plain), "{method}");
        let bare = |project: &Project| {
            let mut run = runs(project).remove(0);
            run["provenance"] = Value::Null;
            // Where it came from is sealed, too.
            run["seal"]["sha256"] = Value::Null;
            run
        };
        assert_eq!(bare(&project), bare(&plain), "{method}");
    }
    // Summaries of before 2025 have no tokens: the samples are opened.
    let old: Vec<(String, Vec<u8>)> = members(&log)
        .into_iter()
        .map(|(name, bytes)| {
            if name == "summaries.json" {
                (
                    name,
                    String::from_utf8(bytes)
                        .expect("UTF-8")
                        .replace("model_usage", "x")
                        .into_bytes(),
                )
            } else {
                (name, bytes)
            }
        })
        .collect();
    let project = Project::new();
    project.bytes("log.eval", &zipped(&old, CompressionMethod::Deflated));
    assert_eq!(project.run(["import", "log.eval"]).code, 0);
    assert_eq!(items(&project), items(&plain));
}

#[test]
fn a_log_that_crashed_is_read_from_its_journal() {
    let log = fixture("plain");
    let samples = log["samples"].as_array().expect("samples");
    let crashed = [
        member(
            "_journal/start.json",
            &json!({"version": 2, "eval": log["eval"], "plan": log["plan"]}),
        ),
        member("_journal/summaries/2.json", &json!([samples[2]])),
        member("_journal/summaries/10.json", &json!([samples[3]])),
        member(
            "_journal/summaries/1.json",
            &json!([samples[0], samples[1]]),
        ),
    ];
    let project = Project::new();
    project.bytes(
        "logs/crashed.eval",
        &zipped(&crashed, CompressionMethod::Zstd),
    );
    let source = &project.run(["import", "logs", "--format", "json"]).json()["sources"][0];
    assert!(said(source, "is unfinished"), "{source}");
    assert_eq!(
        statuses(&project)
            .iter()
            .map(|(id, epoch, _)| (id.as_str(), *epoch))
            .collect::<Vec<_>>(),
        [("1", 1), ("1", 2), ("b/2", 1), ("b/2", 2)]
    );
    let run = &runs(&project)[0];
    assert_eq!(
        (&run["status"], &run["tags"]["inspect_status"]),
        (&json!("cancelled"), &json!("started"))
    );
    // The same log once it is finished is another run: it is not taken for the one that is there.
    project.bytes(
        "logs/finished.eval",
        &zipped(&members(&log), CompressionMethod::Zstd),
    );
    let report = project
        .run(["import", "logs/finished.eval", "--format", "json"])
        .json();
    assert_eq!(
        report["sources"][0]["runs_new"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn values_under_several_keys_are_several_scores_and_the_headline_decides() {
    let (source, project) = imported("dict-scores");
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(3), &json!(3)),
        "{source}"
    );
    let run = &runs(&project)[0];
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(1), &json!(2))
    );
    let scores: BTreeMap<&str, f64> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|score| {
            (
                score["metric"].as_str().expect("a name"),
                score["value"].as_f64().expect("a value"),
            )
        })
        .collect();
    assert_eq!(scores, BTreeMap::from([("a", 0.5), ("b", 0.75)]));
    let first = &items(&project)[0];
    assert_eq!(
        (
            &first["evaluator"],
            &first["score"],
            &first["details"]["scores"]
        ),
        (&json!("exact"), &json!(1.0), &json!({"a": 1.0, "b": 0.5}))
    );
}

#[test]
fn what_was_not_scored_is_missing_and_not_wrong() {
    let (source, project) = imported("nan-unscored");
    assert_eq!(
        statuses(&project)
            .into_iter()
            .map(|(_, _, status)| status)
            .collect::<Vec<_>>(),
        ["pass", "not_evaluated"]
    );
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(1), &json!(1)),
        "a metric that is no number is not stated: {source}"
    );
    assert_eq!(
        (
            &runs(&project)[0]["shared_tests_passed"],
            &runs(&project)[0]["shared_tests_total"]
        ),
        (&json!(1), &json!(1))
    );
}

#[test]
fn errors_and_limits_count_as_wrong_unless_the_score_says_otherwise() {
    let (source, project) = imported("errors-and-limits");
    let statuses = statuses(&project);
    let found: Vec<(&str, &str)> = statuses
        .iter()
        .map(|(id, _, status)| (id.as_str(), status.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("broke", "error"),
            ("limited-but-right", "pass"),
            ("limited-and-wrong", "limit"),
            ("limited-unscored", "limit"),
            ("right", "pass")
        ]
    );
    // The log leaves samples without a score out of its accuracy; it agrees with itself, and our rate says another thing.
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(1), &json!(1)),
        "{source}"
    );
    let run = &runs(&project)[0];
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(2), &json!(5))
    );
    let score = &run["scores"][0];
    assert_eq!(
        (&score["metric"], &score["value"], &score["n"]),
        (&json!("match without errors"), &json!(2.0 / 3.0), &json!(3)),
        "the log's rate stands beside ours"
    );
    assert!(
        said(&source, "at a limit and have no score count as not passed"),
        "{source}"
    );
    let reasons: Vec<Value> = items(&project)
        .iter()
        .map(|item| item["details"]["reason"].clone())
        .collect();
    assert_eq!(
        reasons[..4],
        [
            json!("boom"),
            json!("limit: message"),
            json!("limit: token"),
            json!("limit: time")
        ]
    );
}

/// With `score_on_error`, and where a scorer ended before another one failed.
#[test]
fn a_score_decides_about_a_sample_that_ended_with_an_error() {
    let project = with(&["errors-and-limits"]);
    let mut log = fixture("errors-and-limits");
    log["samples"][0]["scores"] = json!({"match": {"value": "C"}});
    log["samples"][1]["error"] = json!({"message": "also broken"});
    log["samples"][1]["scores"] = json!({"match": {"value": "I"}});
    log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = json!(0.5);
    project.file("logs/errors-and-limits.json", log.to_string());
    let source = project.run(["import", "logs", "--format", "json"]).json()["sources"][0].clone();
    let statuses: Vec<(String, String)> = statuses(&project)
        .into_iter()
        .map(|(id, _, status)| (id, status))
        .take(2)
        .collect();
    assert_eq!(
        statuses,
        [
            ("broke".to_owned(), "pass".to_owned()),
            ("limited-but-right".to_owned(), "error".to_owned())
        ]
    );
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(1), &json!(1)),
        "{source}"
    );
    assert_eq!(
        items(&project)[0]["details"]["reason"],
        "boom",
        "the error is kept"
    );
    // Inspect before 0.3.248 left such samples out of its metrics, though the log has their scores.
    log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = json!(1.0 / 3.0);
    let older = Project::new();
    older.file("logs/older.json", log.to_string());
    let source = older.run(["import", "logs", "--format", "json"]).json()["sources"][0].clone();
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(1), &json!(0)),
        "{source}"
    );
}

#[test]
fn logs_of_early_2024_are_read() {
    let (source, project) = imported("old-shape");
    assert_eq!(
        (&source["items"], &source["stated_agree"]),
        (&json!(2), &json!(1)),
        "{source}"
    );
    let run = &runs(&project)[0];
    assert_eq!(
        (&run["shared_tests_passed"], &run["tags"]["zone"]),
        (&json!(1), &json!("unknown"))
    );
}

#[test]
fn a_log_without_its_samples_stands_by_what_it_states() {
    let (source, project) = imported("no-samples");
    let run = &runs(&project)[0];
    assert_eq!(
        (
            &run["shared_tests_passed"],
            &run["shared_tests_total"],
            &run["status"]
        ),
        (&json!(2), &json!(3), &json!("cancelled"))
    );
    assert_eq!(
        (&source["stated_checked"], &source["items"]),
        (&json!(0), &json!(0))
    );

    // One sample of four says nothing of the run: neither 0.65 nor a pass rate is shown.
    let (source, project) = imported("truncated");
    assert!(said(&source, "1 of 4 samples"), "{source}");
    let run = &runs(&project)[0];
    assert_eq!(
        (&run["shared_tests_total"], &run["tags"]["truncated"]),
        (&Value::Null, &json!("1 of 4 samples in the file"))
    );
    assert_eq!(
        (
            &run["scores"][0]["value"],
            &run["scores"][0]["standard_error"]
        ),
        (&json!(0.3137), &json!(0.1))
    );
    assert!(
        source["foreign"]["stated"]
            .as_array()
            .expect("stated")
            .iter()
            .all(|one| one["recomputed"].is_null())
    );
    let dry = Project::new();
    dry.fixture("import/inspect/truncated.json", "t.json");
    assert!(
        dry.run(["import", "t.json", "--dry-run"])
            .answer()
            .contains("published judge/accuracy 31.37%, not recomputable")
    );
}

#[test]
fn attached_texts_are_put_back_in_their_places() {
    let (_, project) = imported("attachments-and-refs");
    let item = &items(&project)[0];
    assert_eq!(
        (
            &item["item"],
            &item["details"]["question"],
            &item["details"]["answer"]
        ),
        (
            &json!("a/b"),
            &json!("What does the picture show?"),
            &json!("A cat.")
        )
    );
}

#[test]
fn what_the_judge_used_is_not_what_the_model_used() {
    let (source, project) = imported("judge-role");
    let run = &runs(&project)[0];
    assert_eq!(
        (
            &run["total_tokens"],
            &run["tags"]["judge"],
            &items(&project)[0]["input_tokens"]
        ),
        (&json!(7), &json!("m/judge"), &json!(5))
    );
    assert_eq!(
        run["timestamp"], "2026-03-01T10:00:00Z",
        "the log has no end: its beginning stands"
    );
    // Both models' totals are checked.
    assert_eq!(source["stated_agree"], 3);
}

#[test]
fn scores_without_a_mark_that_passes_have_no_pass_rate() {
    let (source, project) = imported("scaled-scores");
    assert!(said(&source, "no passing mark"), "{source}");
    assert!(
        statuses(&project)
            .iter()
            .all(|(_, _, status)| status == "skipped"),
        "1 is no pass where 7 is possible"
    );
    let run = &runs(&project)[0];
    assert_eq!(
        (
            &run["scores"][0]["value"],
            &run["scores"][0]["unit"],
            &run["shared_tests_total"]
        ),
        (&json!(4.0), &json!("number"), &Value::Null)
    );
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(2), &json!(2))
    );
}

#[test]
fn a_retry_replaces_what_failed() {
    let project = with(&["retry-failed", "retry-succeeded"]);
    let report = project.run(["import", "logs", "--format", "json"]).json();
    assert_eq!(report["sources"].as_array().map(Vec::len), Some(2));
    let runs = runs(&project);
    let of = |passed: u64| {
        runs.iter()
            .find(|run| run["shared_tests_passed"] == passed)
            .expect("a run")
    };
    assert_eq!(
        (&of(1)["status"], &of(1)["tags"]["superseded_by"]),
        (&json!("cancelled"), &of(2)["id"])
    );
    assert!(of(2)["tags"]["superseded_by"].is_null());
    let board = project.run(["leaderboard", "--format", "csv"]);
    assert_eq!(board.passed(), ["2/2"]);
}

#[test]
fn a_retry_that_comes_another_day_replaces_what_failed() {
    let log = |name: &str| format!("logs/{name}.json");
    for order in [
        ["retry-failed", "retry-succeeded"],
        ["retry-succeeded", "retry-failed"],
    ] {
        let project = with(&order);
        let said: String = order
            .map(|name| project.run(["import", &log(name)]).stderr)
            .concat();
        let runs = runs(&project);
        let of = |passed: u64| {
            runs.iter()
                .find(|run| run["shared_tests_passed"] == passed)
                .expect("a run")["id"]
                .as_str()
                .expect("an id")
        };
        let expected = format!(
            "note: run `{}` is retracted: superseded by `{}`, a later log of the same task",
            of(1),
            of(2)
        );
        assert!(said.contains(&expected), "{order:?}: {said}");
        assert!(
            runs.iter()
                .all(|run| run["tags"]["superseded_by"].is_null()),
            "no record is changed"
        );
        let passed = |project: &Project| project.run(["leaderboard", "--format", "csv"]).passed();
        assert_eq!(passed(&project), ["2/2"], "{order:?}");
        // Whoever wants both takes it back, and that stands.
        assert_eq!(project.run(["retract", "--undo", of(1)]).code, 0);
        assert_ne!(passed(&project), ["2/2"], "{order:?}");
        assert!(
            !project.run(["import", "logs"]).stderr.contains("retracted"),
            "{order:?}"
        );
    }
}

/// The two logs of one task, the second newer, each under its name.
fn retries(names: [&str; 2], change: impl FnOnce(&mut Value, &mut Value)) -> Project {
    let (mut first, mut second) = (fixture("retry-succeeded"), fixture("retry-succeeded"));
    second["eval"]["eval_id"] = json!("eval-later");
    second["eval"]["created"] = json!("2027-01-01T00:00:00+00:00");
    change(&mut first, &mut second);
    let project = Project::new();
    for (name, log) in names.into_iter().zip([first, second]) {
        project.bytes(&format!("logs/{name}"), log.to_string().as_bytes());
    }
    project
}

#[test]
fn a_log_that_cannot_be_read_replaces_none() {
    let project = retries(["1.json", "2.json"], |_, _| {});
    let later = std::fs::read(project.path("logs/2.json")).expect("readable");
    project.bytes("logs/2.json", &later[..later.len() - 20]);
    let answer = project.run(["import", "logs", "--format", "json"]);
    let report: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let outcomes: Vec<&Value> = report["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .map(|source| &source["outcome"])
        .collect();
    assert_eq!(outcomes, ["imported", "unreadable"]);
    let [run] = runs(&project).try_into().expect("one run");
    assert_eq!(
        (&run["status"], &run["tags"]["superseded_by"]),
        (&json!("completed"), &Value::Null)
    );
}

#[test]
fn an_invalidated_log_is_not_complete_whichever_comes_first() {
    for names in [["1.json", "2.json"], ["2.json", "1.json"]] {
        let project = retries(names, |_, later| later["invalidated"] = json!(true));
        let answer = project.run(["import", "logs"]);
        assert!(
            answer.stdout.contains("note: superseded by run `"),
            "{}",
            answer.stdout
        );
        let board = project.run(["leaderboard", "--format", "csv"]);
        assert_eq!(
            (board.passed(), runs(&project).len()),
            (vec!["2/2".to_owned()], 2),
            "{names:?}"
        );
        let invalid = runs(&project)
            .into_iter()
            .find(|run| run["tags"]["invalidated"] == "true")
            .expect("the invalidated");
        assert!(invalid["tags"]["superseded_by"].is_string());
    }
}

#[test]
fn scores_of_several_reducers_have_names_of_their_own() {
    let mut log = fixture("plain");
    let score = log["results"]["scores"][0].clone();
    let reduced = |reducer: &str| {
        let mut score = score.clone();
        score["reducer"] = json!(reducer);
        score
    };
    log["results"]["scores"] = json!([reduced("mean"), reduced("pass_at_2"), reduced("my_own")]);
    let project = Project::new();
    project.bytes("log.json", log.to_string().as_bytes());
    assert_eq!(project.run(["import", "log.json"]).code, 0);
    let run = &runs(&project)[0];
    let listed = |list: &Value, key: &str| -> Vec<String> {
        list.as_array()
            .expect("a list")
            .iter()
            .filter_map(|one| one[key].as_str().map(str::to_owned))
            .collect()
    };
    assert_eq!(
        listed(&run["scores"], "metric"),
        ["match (pass_at_2)", "match (my_own)"]
    );
    let stated = listed(&run["stated"], "name");
    for name in [
        "match (mean)/accuracy",
        "match (pass_at_2)/accuracy",
        "match (my_own)/accuracy",
    ] {
        assert!(stated.iter().any(|one| one == name), "{stated:?}");
    }
    assert!(
        items(&project)
            .iter()
            .all(|item| item["details"]["scores"].is_null()),
        "each has the same value in an epoch"
    );
}

#[test]
fn what_an_error_kept_a_log_from_is_missing() {
    let failed = |dataset: Value| {
        let mut log = fixture("plain");
        log["status"] = json!("error");
        log["error"] = json!({"message": "API down"});
        log["results"] = Value::Null;
        log["eval"]["dataset"] = dataset;
        let project = Project::new();
        project.bytes("log.json", log.to_string().as_bytes());
        let report = project
            .run(["import", "log.json", "--format", "json"])
            .json();
        (report["sources"][0].clone(), project)
    };
    let (source, project) = failed(json!({"samples": 50, "sample_ids": [1, "b/2", "c"]}));
    assert!(
        said(
            &source,
            "the log ended with 4 of 6 samples: the others are missing"
        ),
        "{source}"
    );
    let missing: Vec<_> = statuses(&project)
        .into_iter()
        .filter(|(_, _, status)| status == "not_evaluated")
        .collect();
    assert_eq!(
        missing,
        [1, 2].map(|epoch| ("c".to_owned(), epoch, "not_evaluated".to_owned()))
    );
    assert_eq!(runs(&project)[0]["status"], "failed");
    // Without their names they cannot be counted as missing: no rate is shown.
    let (source, project) = failed(json!({"samples": 50}));
    assert!(
        said(&source, "the log ended with 4 of 100 samples")
            && said(&source, "the run is not counted"),
        "{source}"
    );
    assert_eq!(
        (
            &runs(&project)[0]["status"],
            &runs(&project)[0]["tags"]["truncated"]
        ),
        (&json!("cancelled"), &json!("4 of 100 samples in the file"))
    );
}

#[test]
fn a_model_that_judges_itself_used_less_for_its_answers() {
    let mut log = fixture("judge-role");
    log["eval"]["model_roles"]["grader"]["model"] = json!("m/one");
    let own = json!({"m/one": {"input_tokens": 505, "output_tokens": 22, "total_tokens": 527}});
    let judging =
        json!({"grader": {"input_tokens": 500, "output_tokens": 20, "total_tokens": 520}});
    for part in ["/stats", "/samples/0"] {
        let part = log.pointer_mut(part).expect("a part");
        part["model_usage"] = own.clone();
        part["role_usage"] = judging.clone();
    }
    let imported = |log: &Value| {
        let project = Project::new();
        project.bytes("log.json", log.to_string().as_bytes());
        let report = project
            .run(["import", "log.json", "--format", "json"])
            .json();
        (
            report["sources"][0].clone(),
            runs(&project).remove(0),
            items(&project).remove(0),
        )
    };
    let (source, run, item) = imported(&log);
    assert_eq!(
        (
            &run["total_tokens"],
            &item["input_tokens"],
            &run["tags"]["judge"]
        ),
        (&json!(7), &json!(5), &json!("m/one"))
    );
    // What is stated is of both.
    assert_eq!(
        (&source["stated_agree"], said(&source, "judges itself")),
        (&json!(2), false)
    );
    for part in ["/stats", "/samples/0"] {
        log.pointer_mut(part)
            .and_then(Value::as_object_mut)
            .expect("a part")
            .remove("role_usage");
    }
    let (source, run, _) = imported(&log);
    assert_eq!(
        (
            &run["total_tokens"],
            said(&source, "the model judges itself")
        ),
        (&json!(527), true)
    );
}

#[test]
fn keys_may_come_in_any_order_and_values_may_be_of_any_type() {
    let (source, project) = imported("samples-first");
    assert_eq!(
        (&source["items"], &source["stated_agree"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(statuses(&project)[0].2, "pass");
    let (source, project) = imported("odd-values");
    assert_eq!(
        (&source["outcome"], &source["items"]),
        (&json!("imported"), &json!(2)),
        "{source}"
    );
    assert_eq!(
        statuses(&project),
        [
            ("1.5".to_owned(), 1, "pass".to_owned()),
            ("q2".to_owned(), 1, "not_evaluated".to_owned())
        ]
    );
    let (_, project) = imported("invalidated");
    assert_eq!(
        (&runs(&project)[0]["status"], &runs(&project)[0]["error"]),
        (&json!("cancelled"), &json!("invalidated in the log"))
    );
}

#[test]
fn what_cannot_be_right_is_refused_alone() {
    let (source, _) = imported("repeated-epoch");
    assert_eq!(
        (
            &source["rows_read"],
            &source["rows_accepted"],
            &source["rows_refused"]
        ),
        (&json!(5), &json!(1), &json!(4)),
        "{source}"
    );
    let reasons: Vec<&str> = source["refusals"]
        .as_array()
        .expect("refusals")
        .iter()
        .filter_map(|one| one["reason"].as_str())
        .collect();
    assert_eq!(
        reasons,
        [
            "the attempt at the item is there twice",
            "the sample has no id",
            "the sample is no object"
        ]
    );
}

#[test]
fn a_stated_figure_that_does_not_follow_is_named() {
    let (source, project) = imported("disagreeing");
    assert_eq!(
        (
            &source["disagreements"][0]["figure"],
            &source["disagreements"][0]["recomputed"]
        ),
        (&json!("match/accuracy"), &json!(0.5))
    );
    let dry = project.run(["import", "logs", "--dry-run", "--results", "elsewhere"]);
    assert!(
        dry.answer()
            .contains("published match/accuracy 90.00%, recomputed 50.00%: they do not agree"),
        "{}",
        dry.stdout
    );
}

#[test]
fn both_files_of_one_log_are_one_run() {
    let project = with(&["plain"]);
    project.bytes(
        "logs/also.eval",
        &zipped(&members(&fixture("plain")), CompressionMethod::Zstd),
    );
    let report = project.run(["import", "logs", "--format", "json"]).json();
    let outcomes: Vec<&str> = report["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .filter_map(|source| source["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, ["imported", "nothing_new"]);
    assert_eq!(runs(&project).len(), 1);
    let again = project.run(["import", "logs", "--format", "json"]).json();
    assert_eq!(
        (
            &again["sources"][0]["outcome"],
            &again["sources"][1]["outcome"]
        ),
        (&json!("already_imported"), &json!("nothing_new"))
    );
}

#[test]
fn an_archive_that_is_cut_off_is_a_damaged_log() {
    let project = Project::new();
    let whole = zipped(&members(&fixture("plain")), CompressionMethod::Deflated);
    project.bytes("logs/cut.eval", &whole[..whole.len() / 2]);
    let answer = project.run(["import", "logs"]);
    assert!(
        answer.code == 2
            && answer
                .stdout
                .contains("logs/cut.eval: is a damaged zip archive"),
        "{}",
        answer.stdout
    );
    assert!(
        answer
            .stdout
            .contains("logs/cut.eval: could not be read; nothing imported"),
        "{}",
        answer.stdout
    );
}

#[test]
fn archives_that_mean_harm_do_none() {
    let log = fixture("plain");
    let project = Project::new();
    // Nothing is unpacked here; who writes such names means harm to those who do.
    for name in [
        "../../outside.json",
        "/outside.json",
        "samples/../../outside.json",
    ] {
        let mut outside = members(&log);
        outside.push(member(name, &json!({"id": name, "epoch": 1})));
        project.bytes(
            "inner/logs/outside.eval",
            &zipped(&outside, CompressionMethod::Deflated),
        );
        let said = project.run(["import", "inner/logs"]);
        assert!(
            said.code != 0 && said.stdout.contains("leads out of the archive"),
            "{name}: {}",
            said.stdout
        );
    }
    assert!(
        project
            .files("")
            .iter()
            .all(|file| !file.contains("outside.json"))
    );

    // Half a gigabyte of spaces in a few kilobytes.
    let mut bomb = members(&log);
    bomb.retain(|(name, _)| name != "summaries.json");
    bomb.push((
        "summaries.json".to_owned(),
        [b"[".as_slice(), &vec![b' '; 160 << 20], b"]"].concat(),
    ));
    project.bytes("bomb.eval", &zipped(&bomb, CompressionMethod::Zstd));
    let said = project.run(["import", "bomb.eval"]);
    assert_eq!(said.code, 2);
    assert!(
        said.stdout
            .contains("inflates to more than 512 times its size"),
        "{}",
        said.stdout
    );

    let whole = zipped(&members(&log), CompressionMethod::Deflated);
    for length in [10, whole.len() / 2, whole.len() - 1] {
        project.bytes("cut.eval", &whole[..length]);
        let said = project.run(["import", "cut.eval"]);
        assert_eq!(said.code, 2, "{length}");
    }
    let text = log.to_string();
    project.file("cut.json", &text[..text.len() - 20]);
    let said = project.run(["import", "cut.json"]);
    assert!(
        said.code == 2 && said.stdout.contains("is cut off in the middle of the JSON"),
        "{}",
        said.stdout
    );
}

/// Every figure that real logs state is reproduced from their samples, where those are in the file.
#[test]
#[ignore = "reads logs of Inspect: EVALREPORT_INSPECT names their folders"]
fn real_logs_reproduce() {
    let folders = crate::needs::named("EVALREPORT_INSPECT");
    let (mut metrics, mut tokens, mut not_recomputable) = (0, 0, 0);
    for folder in std::env::split_paths(&folders) {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("readable").path())
            .collect();
        files.sort();
        for file in files {
            let project = Project::new();
            let path = file.display().to_string();
            // Of files that are no logs, the answer says so, and the exit code too.
            let answer = project
                .run(["import", &path, "--dry-run", "--format", "json"])
                .stdout;
            let report: Value = serde_json::from_str(&answer).expect("the answer is JSON");
            let source = &report["sources"][0];
            let is_log = source["outcome"] == "imported";
            assert_eq!(
                source["disagreements"].as_array().map(Vec::len),
                Some(0),
                "{path}"
            );
            for one in source["foreign"]["stated"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|_| is_log)
            {
                let name = one["figure"].as_str().expect("a name");
                match (one["agrees"].as_bool(), name.starts_with("tokens/")) {
                    (Some(agrees), true) => {
                        assert!(agrees, "{path} {one}");
                        tokens += 1;
                    }
                    (Some(agrees), false) => {
                        assert!(agrees, "{path} {one}");
                        metrics += 1;
                    }
                    (None, _) => not_recomputable += 1,
                }
            }
        }
    }
    eprintln!(
        "{metrics} metrics and {tokens} token totals reproduced, {not_recomputable} stated figures not recomputable"
    );
    assert!(metrics > 0);
}

/// The members as `inspect log convert-chunked` writes them: a folder for each sample, with its events, messages and calls in chunks.
fn chunked(members: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let mut parts = Vec::new();
    for (name, bytes) in members {
        let Some(folder) = name
            .strip_suffix(".json")
            .filter(|name| name.starts_with("samples/"))
        else {
            parts.push((name, bytes));
            continue;
        };
        let mut sample: Value = serde_json::from_slice(&bytes).expect("JSON");
        let sample = sample.as_object_mut().expect("a sample");
        let [messages, events, metadata] =
            ["messages", "events", "metadata"].map(|key| sample.remove(key).unwrap_or(json!([])));
        parts.push(member(format!("{folder}/sample.json"), &json!(sample)));
        parts.push(member(format!("{folder}/metadata.json"), &metadata));
        parts.push(member(
            format!("{folder}/skeleton.json"),
            &json!({"version": 1, "counts": {"events": 1}, "spans": []}),
        ));
        parts.push(member(
            format!("{folder}/events/stats.json"),
            &json!({"version": 1, "chunks": []}),
        ));
        parts.push(member(format!("{folder}/events/uuids.json"), &json!([])));
        parts.push(member(format!("{folder}/events/0.json"), &events));
        parts.push(member(format!("{folder}/messages/0.json"), &messages));
        parts.push(member(format!("{folder}/calls/0.json"), &json!([])));
    }
    parts
}

#[test]
fn a_chunked_log_is_the_same_log() {
    let log: Value = serde_json::from_str(&with(&["plain"]).read("logs/plain.json")).expect("JSON");
    for is_summed_up in [true, false] {
        let whole: Vec<_> = members(&log)
            .into_iter()
            .filter(|(name, _)| is_summed_up || name != "summaries.json")
            .collect();
        let read = |name: &str, members: &[(String, Vec<u8>)]| {
            let project = Project::new();
            project.bytes(
                &format!("logs/{name}.eval"),
                &zipped(members, CompressionMethod::Zstd),
            );
            let source =
                project.run(["import", "logs", "--format", "json"]).json()["sources"][0].clone();
            assert_eq!(
                (&source["rows_read"], &source["rows_refused"]),
                (&json!(4), &json!(0)),
                "{source:#}"
            );
            (
                statuses(&project),
                runs(&project)[0]["input_tokens"].clone(),
                source["stated_agree"].clone(),
            )
        };
        assert_eq!(
            read("chunked", &chunked(whole.clone())),
            read("plain", &whole),
            "summed up: {is_summed_up}"
        );
    }
}
