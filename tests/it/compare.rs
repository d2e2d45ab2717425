//! `compare`: who leads and by how much, in every format and at every width.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::support::{Output, Project, question, result};

/// The comparison that the original report shows, as two plain files of its schema.
fn golden() -> Project {
    let project = Project::new();
    project
        .fixture("golden/ralph.json", "results/ralph.json")
        .fixture("golden/oneshot.json", "results/oneshot.json");
    project
}

#[track_caller]
fn column(output: &Output, name: &str) -> BTreeMap<String, String> {
    output
        .shown()
        .into_iter()
        .map(|row| (row["Metric"].clone(), row[name].clone()))
        .collect()
}

/// Who has the best value of a metric and how far ahead it is, as the JSON of the first table says: `a -81%`, `tie`, `n/a`.
#[track_caller]
fn leader(project: &Project, arguments: &[&str], metric: &str) -> String {
    let json = project
        .run(arguments.iter().copied().chain(["--format", "json"]))
        .json();
    let table = &json["comparisons"][0];
    let rows = table["rows"].as_array().expect("rows");
    let leader = &rows
        .iter()
        .find(|row| row["metric"]["name"] == metric)
        .expect("the metric has a row")["leader"];
    match leader["kind"].as_str() {
        Some("leads") => {
            let place = usize::try_from(leader["arm"].as_u64().expect("an arm")).expect("a place");
            let name = table["arms"][place]["approach"].as_str().expect("a name");
            let unit = match leader["delta"]["unit"].as_str() {
                None => return name.to_owned(),
                Some("percent") => "%",
                Some("percentage_points") => " pp",
                Some(other) => other,
            };
            format!(
                "{name} {:+.0}{unit}",
                leader["delta"]["value"].as_f64().expect("a number")
            )
        }
        Some("tie") => "tie".to_owned(),
        _ => "n/a".to_owned(),
    }
}

/// Compares two runs of suite `s` by arms `a` and `b` that differ in one field.
#[track_caller]
fn leader_of_two(field: &str, left: Value, right: Value, metric: &str) -> String {
    let mut runs = [
        result("run-a", "s", "a", json!({})),
        result("run-b", "s", "b", json!({})),
    ];
    for (run, value) in runs.iter_mut().zip([left, right]) {
        if !value.is_null() {
            run[field] = value;
        }
    }
    leader(&Project::with(&runs), &["compare", "s"], metric)
}

#[test]
fn the_golden_case_has_the_published_leaders() {
    let project = golden();
    for (metric, ahead) in [
        ("duration_seconds", "oneshot -82%"),
        ("total_tokens", "oneshot -64%"),
        ("cost_usd", "oneshot -65%"),
        ("shared_tests", "ralph +20 pp"),
        ("own_tests", "ralph"),
    ] {
        assert_eq!(
            leader(&project, &["compare", "tasktracker"], metric),
            ahead,
            "{metric}"
        );
    }
    let output = project.run(["compare", "tasktracker", "--format", "markdown"]);
    let verdicts = column(&output, "Verdict");
    assert_eq!(verdicts["Pass rate"], "open: 1 run each");
    assert_eq!(
        verdicts["Own tests"],
        "not comparable: each arm wrote its own tests"
    );
    let differences = column(&output, "Difference");
    for (metric, difference) in [
        ("Duration, typical run", "5.6 times"),
        ("Cost, typical run", "2.9 times"),
        ("Tokens, typical run", "2.8 times"),
    ] {
        assert_eq!(differences[metric], difference, "{metric}");
    }
}

#[test]
fn the_golden_table_at_every_width() {
    let project = golden();
    for width in ["60", "80", "120", "200"] {
        let output = project.run_in(["compare", "tasktracker"], &[("COLUMNS", width)]);
        let asked: usize = width.parse().expect("a number");
        for line in output.answer().lines() {
            assert!(
                line.width() <= asked,
                "{} columns at {width}: {line}",
                line.width()
            );
        }
        if width == "80" {
            insta::assert_snapshot!("golden_80", output.snapshot());
        }
        if width == "120" {
            insta::assert_snapshot!("golden_120", output.snapshot());
        }
    }
}

#[test]
fn formats_of_the_golden_case() {
    let project = golden();
    insta::assert_snapshot!(
        "golden_markdown",
        project.run(["compare", "--format", "markdown"]).answer()
    );
    insta::assert_snapshot!(
        "golden_csv",
        project.run(["compare", "--format", "csv"]).answer()
    );
    let json = project.run(["compare", "--format", "json"]).json();
    assert_eq!(json["schema"], "evalreport/compare/2");
    let rows = json["comparisons"][0]["rows"].as_array().expect("rows");
    let duration = rows
        .iter()
        .find(|row| row["metric"]["name"] == "duration_seconds")
        .expect("a duration");
    assert_eq!(duration["leader"]["kind"], "leads");
    let delta = duration["leader"]["delta"]["value"]
        .as_f64()
        .expect("a number");
    assert!(
        (delta - (135.0 - 754.0) / 754.0 * 100.0).abs() < 1e-9,
        "{delta}"
    );
}

#[test]
fn colour_only_when_asked_for() {
    let project = golden();
    let has_escapes = |arguments: &[&str], environment: &[(&str, &str)]| {
        project
            .run_in(arguments.iter().copied(), environment)
            .answer()
            .contains('\u{1b}')
    };
    assert!(
        has_escapes(&["compare", "--color", "always"], &[]),
        "--color always beats NO_COLOR"
    );
    assert!(!has_escapes(&["compare", "--color", "never"], &[]));
    assert!(!has_escapes(
        &["compare", "--no-color"],
        &[("NO_COLOR", "")]
    ));
    assert!(!has_escapes(&["compare"], &[]));
    assert!(
        !has_escapes(&["compare"], &[("NO_COLOR", "")]),
        "a pipe is no terminal"
    );
    assert!(!has_escapes(
        &["compare", "--color", "always", "--format", "markdown"],
        &[]
    ));
}

#[test]
fn the_loser_is_the_base() {
    assert_eq!(
        leader_of_two(
            "duration_seconds",
            json!(1546),
            json!(298),
            "duration_seconds"
        ),
        "b -81%"
    );
    assert_eq!(
        leader_of_two("cost_usd", json!(0.0), json!(0.5), "cost_usd"),
        "a -100%"
    );
    assert_eq!(
        leader_of_two("files_generated", json!(12), json!(8), "files_generated"),
        "a +50%"
    );
    assert_eq!(
        leader_of_two("files_generated", json!(26), json!(0), "files_generated"),
        "a",
        "nothing can be a share of zero"
    );
}

#[test]
fn equal_values_tie_and_missing_ones_have_no_leader() {
    assert_eq!(
        leader_of_two("cost_usd", json!(0), json!(0), "cost_usd"),
        "tie"
    );
    assert_eq!(
        leader_of_two("cost_usd", json!(0.5), Value::Null, "cost_usd"),
        "n/a"
    );
    let project = Project::with(&[
        result("run-a", "s", "a", json!({"cost_usd": 0.5})),
        result("run-b", "s", "b", json!({})),
    ]);
    let output = project.run(["compare", "s", "--format", "markdown"]);
    let row = output
        .shown()
        .into_iter()
        .find(|row| row["Metric"] == "Cost, typical run")
        .expect("a cost row");
    assert_eq!(
        (
            row["a"].as_str(),
            row["b"].as_str(),
            row["Verdict"].as_str()
        ),
        ("$0.50", "unknown", "not measured")
    );
}

#[test]
fn nobody_having_a_value_is_said_once() {
    let project = Project::with(&[
        result("run-a", "s", "a", json!({"duration_seconds": 1})),
        result("run-b", "s", "b", json!({"duration_seconds": 2})),
    ]);
    let output = project.run(["compare", "s", "--explain"]);
    assert!(!output.answer().contains("│ Cost"), "{}", output.stdout);
    assert!(
        output
            .stdout
            .contains("Not measured: Pass rate, Cost, Cost per solved, Tokens"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_failed_run_wins_nothing() {
    let project = Project::with(&[
        result(
            "run-a",
            "s",
            "a",
            json!({"duration_seconds": 10, "cost_usd": 0.1, "error": "boom", "shared_tests_passed": 1, "shared_tests_total": 4}),
        ),
        result(
            "run-b",
            "s",
            "b",
            json!({"duration_seconds": 90, "cost_usd": 0.9, "shared_tests_passed": 1, "shared_tests_total": 4}),
        ),
    ]);
    assert_eq!(
        leader(&project, &["compare", "s"], "duration_seconds"),
        "n/a"
    );
    let table = project.run(["compare", "s"]);
    assert!(
        table
            .answer()
            .contains("a: 1 failed; it has no completed run and cannot win."),
        "{}",
        table.stdout
    );
}

#[test]
fn cancelled_and_infra_runs_are_left_out_and_counted() {
    let batch = |id: &str, approach: &str, seconds: u64, status: &str| {
        result(
            id,
            "s",
            approach,
            json!({"duration_seconds": seconds, "status": status, "batch_id": format!("batch-{approach}")}),
        )
    };
    let project = Project::with(&[
        batch("run-a1", "a", 10, "completed"),
        batch("run-a2", "a", 9999, "cancelled"),
        batch("run-a3", "a", 9999, "infra"),
        batch("run-b1", "b", 20, "completed"),
    ]);
    let output = project.run(["compare", "s", "--format", "markdown"]);
    assert_eq!(column(&output, "a")["Duration, typical run"], "10.0 s");
    let table = project.run(["compare", "s"]);
    assert!(
        table
            .answer()
            .contains("a: 2 runs not counted (outage, interrupted, or only some items tried)."),
        "{}",
        table.stdout
    );
    assert_eq!(
        project.run(["compare", "s", "--format", "json"]).json()["comparisons"][0]["arms"][0]["excluded_runs"],
        2
    );
}

/// Three repeats each: durations 10, 12, 14 against 20, 20, 26; tests 8, 9, 10 of 10 against 5 of 10 thrice.
fn repeats() -> Project {
    let run = |id: &str, approach: &str, seconds: u64, passed: u64| {
        let fields = json!({"duration_seconds": seconds, "shared_tests_passed": passed, "shared_tests_total": 10,
            "batch_id": format!("batch-{approach}")});
        result(id, "s", approach, fields)
    };
    Project::with(&[
        run("run-a1", "a", 10, 8),
        run("run-a2", "a", 12, 9),
        run("run-a3", "a", 14, 10),
        run("run-b1", "b", 20, 5),
        run("run-b2", "b", 20, 5),
        run("run-b3", "b", 26, 5),
    ])
}

#[test]
fn repeats_have_mean_spread_and_t_interval() {
    let project = repeats();
    let json = project.run(["compare", "s", "--format", "json"]).json();
    let cell = |metric: &str, arm: usize| {
        let rows = json["comparisons"][0]["rows"].as_array().expect("rows");
        rows.iter()
            .find(|row| row["metric"]["name"] == metric)
            .expect("the metric has a row")["cells"][arm]
            .clone()
    };
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 5e-5, "{value} is not {expected}");
    };
    let duration = cell("duration_seconds", 0)["figure"].clone();
    assert_eq!(duration["n"], 3);
    for (key, expected) in [("mean", 12.0), ("sd", 2.0), ("min", 10.0), ("max", 14.0)] {
        near(&duration[key], expected);
    }
    // Student's t with two degrees of freedom.
    let rate = cell("shared_tests", 0)["estimate"].clone();
    assert_eq!(
        (rate["n"].as_u64(), rate["method"].as_str()),
        (Some(3), Some("t_over_runs"))
    );
    near(&rate["value"], 0.9);
    near(
        &rate["interval"]["low"],
        0.9 - 4.302_653 * 0.1 / 3f64.sqrt(),
    );
    near(&rate["interval"]["high"], 1.0);
    let steady = cell("shared_tests", 1)["estimate"].clone();
    // Runs that never vary are one run of ten tests.
    assert_eq!(steady["method"], "wilson_effective");
    near(&steady["interval"]["low"], 0.236_593);
    near(&steady["interval"]["high"], 0.763_407);
    insta::assert_snapshot!(project.run(["compare", "s", "--explain"]).snapshot());
}

#[test]
fn one_run_has_a_wilson_interval() {
    let json = golden().run(["compare", "--format", "json"]).json();
    let rows = json["comparisons"][0]["rows"].as_array().expect("rows");
    let rate = &rows
        .iter()
        .find(|row| row["metric"]["name"] == "shared_tests")
        .expect("tests")["cells"][0]["estimate"];
    // Wilson's 95 % interval of 18 of 20, from its closed form.
    let (n, p, z) = (20.0, 0.9, 1.959_963_984_540_054_f64);
    let centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    assert!((rate["interval"]["low"].as_f64().expect("a number") - (centre - half)).abs() < 1e-9);
    assert!((rate["interval"]["high"].as_f64().expect("a number") - (centre + half)).abs() < 1e-9);
}

#[test]
fn files_and_ids_can_be_named() {
    let project = Project::new();
    project
        .fixture("golden/ralph.json", "a.json")
        .fixture("golden/oneshot.json", "else/b.json");
    let by_files = project.run([
        "compare",
        "--files",
        "a.json,else/b.json",
        "--format",
        "markdown",
    ]);
    assert_eq!(
        column(&by_files, "Difference")["Duration, typical run"],
        "5.6 times"
    );
    assert!(
        !project.path("results").exists() && !project.path(".evalreport").exists(),
        "--files touches no store"
    );

    let project = golden();
    let by_ids = project.run(["compare", "ralph-1", "ones", "--format", "markdown"]);
    assert_eq!(by_ids.answer(), by_files.answer());
    let missing = project.run(["compare", "--files", "nowhere.json,results/ralph.json"]);
    assert!(
        missing.refusal().contains("nowhere.json"),
        "{}",
        missing.stderr
    );
}

#[test]
fn an_id_that_begins_another_id_is_only_itself() {
    let run = |id: &str, approach: &str, seconds: u64| {
        result(id, "s", approach, json!({"duration_seconds": seconds}))
    };
    let project = Project::with(&[
        run("run-1", "a", 10),
        run("run-10", "a", 90),
        run("other", "b", 20),
    ]);
    let output = project.run(["compare", "run-1", "other", "--format", "markdown"]);
    assert_eq!(column(&output, "a")["Duration, typical run"], "10.0 s");
}

#[test]
fn all_batches_count_unless_only_the_newest_is_asked_for() {
    let run = |id: &str, approach: &str, seconds: u64, batch: &str, day: u32| {
        let fields = json!({"duration_seconds": seconds, "batch_id": batch, "timestamp": format!("2026-03-{day:02}T00:00:00Z")});
        result(id, "s", approach, fields)
    };
    let project = Project::with(&[
        run("run-a1", "a", 100, "old", 1),
        run("run-a2", "a", 10, "new", 2),
        run("run-a3", "a", 20, "new", 2),
        run("run-b1", "b", 50, "old", 1),
    ]);
    let pooled = project.run(["compare", "s", "--format", "markdown"]);
    assert_eq!(column(&pooled, "a")["Duration, typical run"], "27.1 s");
    let newest = project.run(["compare", "s", "--newest-batch", "--format", "markdown"]);
    assert_eq!(column(&newest, "a")["Duration, typical run"], "14.1 s");
    let old = project.run(["compare", "s", "--batch", "old", "--format", "markdown"]);
    assert_eq!(column(&old, "a")["Duration, typical run"], "1m 40s");
}

#[test]
fn versions_of_a_suite_have_a_table_each() {
    let run = |id: &str, approach: &str, version: &str, day: u32| {
        let fields = json!({"duration_seconds": 5, "suite_version": version, "timestamp": format!("2026-03-{day:02}T00:00:00Z")});
        result(id, "s", approach, fields)
    };
    let project = Project::with(&[
        run("run-a1", "a", "aaaa", 1),
        run("run-b1", "b", "aaaa", 1),
        run("run-a2", "a", "bbbb", 2),
        run("run-b2", "b", "bbbb", 2),
    ]);
    let json = project.run(["compare", "s", "--format", "json"]).json();
    let versions: Vec<&Value> = json["comparisons"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|table| &table["suite_version"])
        .collect();
    assert_eq!(versions, ["bbbb", "aaaa"], "newest first");
    let table = project.run(["compare", "s"]);
    assert_eq!(table.answer().matches("│ s (version ").count(), 2);
}

fn arms(count: usize) -> Project {
    let runs: Vec<Value> = (1..=count)
        .map(|number| {
            let fields = json!({"duration_seconds": 10 * number, "shared_tests_passed": number, "shared_tests_total": 10, "cost_usd": 0.5});
            result(&format!("run-{number}"), "s", &format!("arm{number}"), fields)
        })
        .collect();
    Project::with(&runs)
}

#[test]
fn three_arms_are_rows_with_the_leader_first() {
    let project = arms(3);
    assert_eq!(
        leader(&project, &["compare", "s"], "duration_seconds"),
        "arm1 -50%",
        "over the second, not the last"
    );
    assert_eq!(leader(&project, &["compare", "s"], "cost_usd"), "tie");
    assert_eq!(
        leader(&project, &["compare", "s"], "shared_tests"),
        "arm3 +10 pp"
    );
    let output = project.run(["compare", "s", "--format", "markdown"]);
    let named: Vec<String> = output
        .shown()
        .into_iter()
        .map(|row| row["Arm"].clone())
        .collect();
    assert_eq!(named, ["arm3", "arm2", "arm1"]);
}

#[test]
fn many_arms_fit_every_width() {
    let project = arms(8);
    for width in ["60", "80", "120", "200"] {
        let output = project.run_in(["compare", "s"], &[("COLUMNS", width)]);
        let asked: usize = width.parse().expect("a number");
        assert!(
            output.answer().lines().all(|line| line.width() <= asked),
            "{width}: {}",
            output.stdout
        );
    }
    let rows = project
        .run(["compare", "s", "--format", "markdown"])
        .shown();
    assert_eq!(rows.len(), 8);
    assert_eq!(
        (
            rows[7]["Arm"].as_str(),
            rows[7]["Duration, typical run (ratio)"].as_str()
        ),
        ("arm1", "10.0 s (88% less)")
    );
    assert_eq!(rows[0]["Passed"], "8/10");
}

#[test]
fn outcomes_on_shared_items_are_laid_side_by_side() {
    let project = Project::with(&[
        result("run-a", "s", "a", json!({})),
        result("run-b", "s", "b", json!({})),
    ]);
    let outcomes = |statuses: [&str; 5]| -> Vec<Value> {
        statuses
            .iter()
            .enumerate()
            .map(|(number, status)| question(&format!("q{number}"), 1, status))
            .collect()
    };
    project.items("run-a", &outcomes(["pass", "pass", "fail", "fail", "pass"]));
    project.items(
        "run-b",
        &outcomes(["pass", "fail", "pass", "fail", "infra"]),
    );
    let flips =
        project.run(["compare", "s", "--format", "json"]).json()["comparisons"][0]["flips"].clone();
    assert_eq!(
        flips,
        json!({"shared": 4, "both_passed": 1, "only_first": 1, "only_second": 1, "neither": 1})
    );
}

#[test]
fn aliases_rename_and_merge() {
    let project = golden();
    project.file(
        "evalreport.yaml",
        "version: 1\naliases:\n  approach: {ralph: loop}\n  suite: {tasktracker: todo}\n",
    );
    assert_eq!(
        leader(&project, &["compare", "todo"], "shared_tests"),
        "loop +20 pp"
    );
    let table = project.run(["compare", "todo"]);
    assert!(
        table
            .answer()
            .contains("Names are mapped by the configuration's aliases."),
        "{}",
        table.stdout
    );
    assert_eq!(
        project.run(["compare", "tasktracker"]).code,
        2,
        "the old name is gone"
    );
}

#[test]
fn hostile_names_are_inert() {
    let evil = "=cmd|'/c'!A0\u{1b}[31m\u{202e}x|y`<img src=x>";
    let project = Project::with(&[
        result(
            "run-a",
            "s",
            evil,
            json!({"duration_seconds": 1, "error": "\u{1b}]0;owned\u{7}"}),
        ),
        result(
            "run-b",
            "s",
            "b",
            json!({"duration_seconds": 2, "model": "m\u{9b}2"}),
        ),
    ]);
    for format in ["table", "markdown", "csv", "json"] {
        let output = project.run(["compare", "s", "--format", format]);
        let bad: Vec<char> = output
            .answer()
            .chars()
            .filter(|character| matches!(character, '\u{1b}' | '\u{7}' | '\u{9b}' | '\u{202e}'))
            .collect();
        if format == "json" {
            // A program wants the name itself; control characters travel as escapes.
            assert!(
                bad.iter()
                    .all(|character| matches!(character, '\u{202e}' | '\u{9b}')),
                "{format}: {bad:?}"
            );
        } else {
            assert!(bad.is_empty(), "{format}: {bad:?}");
        }
    }
    let table = project.run(["compare", "s"]);
    insta::assert_snapshot!("hostile_table", table.snapshot());
    insta::assert_snapshot!(
        "hostile_markdown",
        project
            .run(["compare", "s", "--format", "markdown"])
            .answer()
    );
    let csv = project.run(["compare", "s", "--format", "csv"]);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(csv.answer().as_bytes());
    for cell in reader.records().flat_map(|record| {
        record
            .expect("CSV")
            .iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    }) {
        assert!(!cell.starts_with(['=', '+', '@', '\t', '\r']), "{cell}");
    }
}

#[test]
fn nothing_to_compare_is_said() {
    let project = Project::with(&[result("run-a", "s", "a", json!({}))]);
    insta::assert_snapshot!(project.run(["compare"]).snapshot());
}
