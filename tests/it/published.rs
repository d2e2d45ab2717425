//! The shipped results give the numbers that their sources published.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::programs::Start as _;

fn answer(arguments: &[&str]) -> Value {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_evalreport"))
        .args(arguments)
        .args(["--format", "json", "--cache"])
        .arg(cache.path())
        .arg("--results")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("results"))
        .finish();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn rows<'a>(comparison: &'a Value, metric: &str) -> &'a Value {
    let rows = comparison["rows"].as_array().expect("rows");
    rows.iter()
        .find(|row| row["metric"]["name"] == metric)
        .expect("the metric")
}

/// Published: 26/28 against 23/28, 1546 s against 298 s, 7.83 M against 1.01 M tokens, $4.18 against $0.72.
#[test]
fn tasktracker_of_the_ralph_study() {
    // Our own suite of that name has tables of its own.
    let answer = answer(&["compare", "tasktracker", "--approach", "ralph,oneshot"]);
    let comparison = &answer["comparisons"][0];
    let arms: Vec<&str> = comparison["arms"]
        .as_array()
        .expect("arms")
        .iter()
        .map(|arm| arm["approach"].as_str().expect("a name"))
        .collect();
    assert_eq!(arms, ["ralph", "oneshot"], "the arm ahead stands first");
    let tests = rows(comparison, "shared_tests");
    assert_eq!(
        (&tests["cells"][0]["passed"], &tests["cells"][1]["passed"]),
        (&26.into(), &23.into())
    );
    let delta = tests["leader"]["delta"]["value"]
        .as_f64()
        .expect("a difference");
    assert!(
        (delta - 10.714).abs() < 0.001,
        "published as 13 % relative, which is 10.7 points: {delta}"
    );
    let cost = rows(comparison, "cost_usd");
    let ratio = cost["cells"][0]["value"].as_f64().expect("a cost")
        / cost["cells"][1]["value"].as_f64().expect("a cost");
    assert!(
        (ratio - 5.806).abs() < 0.001,
        "published as 480 % more: {ratio}"
    );
    let duration = rows(comparison, "duration_seconds");
    assert_eq!(
        (
            duration["leader"]["arm"].as_u64(),
            duration["leader"]["delta"]["value"]
                .as_f64()
                .map(f64::round)
        ),
        (Some(1), Some(-81.0))
    );
    // One run a side is no evidence, whatever the headline said.
    for row in comparison["rows"].as_array().expect("rows") {
        let pair = &row["evidence"]["pairs"][0];
        assert_eq!(
            (pair["verdict"].as_str(), pair["reason"].as_str()),
            (Some("not_enough_evidence"), Some("few_runs")),
            "{row}"
        );
    }
    // Even if the tests were independent of each other.
    assert!((fisher_p(tests) - 0.422).abs() < 0.001);
}

fn fisher_p(row: &Value) -> f64 {
    let pair = &row["evidence"]["pairs"][0];
    assert_eq!(
        (pair["test"].as_str(), pair["design"].as_str()),
        (Some("fisher_exact"), Some("counts"))
    );
    pair["p"].as_f64().expect("a p-value")
}

/// Published: 41/48 and 40/48 with either model; opus costs 13.4 % and 13.7 % more than sonnet.
#[test]
fn workflow_of_the_ralph_study() {
    let answer = answer(&["compare", "workflow"]);
    let comparison = &answer["comparisons"][0];
    let tests = rows(comparison, "shared_tests");
    let passed: Vec<u64> = tests["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .filter_map(|cell| cell["passed"].as_u64())
        .collect();
    assert_eq!(passed, [40, 40, 41, 41]);
    assert_eq!(tests["leader"]["kind"], "tie");
    assert_eq!(tests["leader"]["arms"], serde_json::json!([2, 3]));
    let cost: Vec<f64> = rows(comparison, "cost_usd")["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .filter_map(|cell| cell["value"].as_f64())
        .collect();
    let pair = self::answer(&["compare", "workflow", "--model", "opus"]);
    let tests = rows(&pair["comparisons"][0], "shared_tests");
    assert_eq!(
        tests["evidence"]["pairs"][0]["verdict"],
        "not_enough_evidence"
    );
    assert!((fisher_p(tests) - 1.0).abs() < 1e-12);
    let [oneshot_opus, oneshot_sonnet, ralph_opus, ralph_sonnet] = cost.as_slice() else {
        panic!("four costs: {cost:?}")
    };
    assert!(
        (ralph_opus / ralph_sonnet - 1.134).abs() < 0.001
            && (oneshot_opus / oneshot_sonnet - 1.137).abs() < 0.001
    );
}

/// Published: 69 rows; gpt-5 (high) solves 88.0 %; five rates do not follow from their own counts.
#[test]
fn aider_polyglot_leaderboard() {
    let answer = answer(&["leaderboard", "aider-polyglot"]);
    let entries = answer["suites"][0]["entries"].as_array().expect("entries");
    assert_eq!(
        entries
            .iter()
            .map(|entry| entry["runs"].as_u64().expect("runs"))
            .sum::<u64>(),
        69
    );
    let first = &entries[0];
    assert_eq!(
        (
            first["model"].as_str(),
            first["pass_rate"]["passed"].as_u64(),
            first["pass_rate"]["total"].as_u64()
        ),
        (Some("gpt-5 (high)"), Some(198), Some(225))
    );
    assert!((first["cost"]["usd"].as_f64().expect("a cost") - 29.0829).abs() < 1e-9);
    assert!(
        (first["scores"]["seconds_per_case"]["mean"]
            .as_f64()
            .expect("seconds")
            - 194.0)
            .abs()
            < 1e-9
    );
    let disagreeing: u64 = entries
        .iter()
        .map(|entry| entry["disagreeing_runs"].as_u64().expect("a count"))
        .sum();
    assert_eq!(disagreeing, 5);
    let o1 = entries
        .iter()
        .find(|entry| entry["model"] == "o1-2024-12-17 (high)")
        .expect("a row with 224 cases");
    assert_eq!(o1["disagreeing_runs"], 1);
    let rate = o1["pass_rate"]["value"].as_f64().expect("a rate");
    assert!(
        (rate - 139.0 / 224.0).abs() < 1e-12,
        "published as 61.7 %, 139 of 224 is 62.05 %: {rate}"
    );
    // A published cost of 0 is unknown, never free.
    let gemini = entries
        .iter()
        .find(|entry| entry["model"] == "Gemini 2.0 Pro exp-02-05")
        .expect("a row with cost 0");
    assert!(gemini["cost"].is_null() && gemini["cost_per_solved_usd"].is_null());
}

/// The entries of a suite's board: model, passed and n.
fn counts(suite: &str) -> Vec<(String, Option<u64>, Option<u64>)> {
    let answer = answer(&["leaderboard", suite]);
    let entries = answer["suites"][0]["entries"]
        .as_array()
        .expect("entries")
        .iter();
    let count = |entry: &Value, key: &str| entry["pass_rate"][key].as_u64();
    entries
        .map(|entry| {
            (
                entry["model"].as_str().expect("a model").to_owned(),
                count(entry, "passed"),
                count(entry, "total"),
            )
        })
        .collect()
}

/// Counted from the published answers by another program.
#[test]
fn mmlu_pro_subjects() {
    let counted = [
        ("mmlu-pro-business", "gemini-1.5-flash-002", 563, 788),
        ("mmlu-pro-history", "Meta-Llama-3_1-70B-Instruct", 252, 381),
        (
            "mmlu-pro-computer-science",
            "Meta-Llama-3_1-70B-Instruct",
            272,
            410,
        ),
        ("mmlu-pro-psychology", "Meta-Llama-3-70B", 570, 798),
    ];
    for (suite, model, passed, total) in counted {
        assert_eq!(
            counts(suite)[0],
            (model.to_owned(), Some(passed), Some(total)),
            "{suite}"
        );
    }
    let winner = |suite: &str| {
        let answer = answer(&["leaderboard", suite]);
        answer["suites"][0]["evidence"]["winner"].clone()
    };
    assert!(!winner("mmlu-pro-business").is_null() && !winner("mmlu-pro-history").is_null());
    assert!(winner("mmlu-pro-computer-science").is_null());
}

/// Published: pass^1 to pass^4 of 0.420, 0.273, 0.220 and 0.200.
#[test]
fn tau_bench_airline() {
    let answer = answer(&["leaderboard", "tau-bench-airline"]);
    let chances = answer["suites"][0]["entries"][0]["reliability"]
        .as_array()
        .expect("chances")
        .clone();
    let all_pass: Vec<f64> = chances
        .iter()
        .map(|chance| (chance["all_pass"].as_f64().expect("a share") * 1000.0).round() / 1000.0)
        .collect();
    assert_eq!(all_pass, [0.42, 0.273, 0.22, 0.2]);
}

/// The made nights are what their program writes now.
#[test]
fn made_nights_are_made_again() {
    needs!("python3");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = Command::new("python3")
        .arg(root.join("suites/baselines/nights.py"))
        .finish();
    std::fs::write(folder.path().join("nights.csv"), &table.stdout).expect("a writable folder");
    let imported = Command::new(env!("CARGO_BIN_EXE_evalreport"))
        .args(["import", "nights.csv", "--map"])
        .arg(root.join("suites/baselines/nights.yaml"))
        .current_dir(folder.path())
        .finish();
    assert!(
        imported.status.success(),
        "{}",
        String::from_utf8_lossy(&imported.stderr)
    );
    let mut compared = 0;
    for entry in std::fs::read_dir(folder.path().join("results/imports")).expect("a store") {
        let made = entry.expect("readable").path();
        // The headers say which folder the table lay in.
        if !made.to_string_lossy().ends_with(".items.jsonl.zst") {
            continue;
        }
        // Its name depends on the importer's version.
        let bytes = std::fs::read(&made).expect("readable");
        let mut shipped = std::fs::read_dir(root.join("results/imports")).expect("a store");
        let is_shipped = shipped.any(|entry| {
            std::fs::read(entry.expect("readable").path()).is_ok_and(|shipped| shipped == bytes)
        });
        assert!(is_shipped, "{} is not as shipped", made.display());
        compared += 1;
    }
    assert!(compared > 0, "no outcomes were imported");
}
