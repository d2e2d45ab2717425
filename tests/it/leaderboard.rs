//! `leaderboard`: order, intervals, money, tokens, time, and means over suites, against numbers worked out by hand.

use serde_json::{Value, json};

use crate::support::{Project, question, result, test};

fn counts(id: &str, suite: &str, approach: &str, passed: u64, total: u64, fields: Value) -> Value {
    let mut run = result(id, suite, approach, json!({"shared_tests_passed": passed, "shared_tests_total": total}));
    let Value::Object(fields) = fields else { unreachable!("the fields are an object") };
    run.as_object_mut().expect("an object").extend(fields);
    run
}

#[track_caller]
fn entries(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let json = project.run(["leaderboard"].iter().chain(arguments).copied().chain(["--format", "json"])).json();
    json["suites"][0]["entries"].as_array().expect("entries").clone()
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} is not {expected}");
}

fn approaches(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["approach"].as_str().expect("a name")).collect()
}

/// Three arms: `a` is best and dear, `b` is cheap and fast, of `c` nothing but the counts is known.
fn arms() -> Project {
    Project::with(&[
        counts("a-1", "s", "a", 9, 10, json!({"model": "m2", "cost_usd": 3.0, "total_tokens": 900, "duration_seconds": 30})),
        counts("b-1", "s", "b", 5, 10, json!({"model": "m1", "cost_usd": 0.5, "total_tokens": 100, "duration_seconds": 20})),
        counts("c-1", "s", "c", 7, 10, json!({"model": "m3"})),
    ])
}

#[test]
fn the_table() {
    insta::assert_snapshot!(arms().run_in(["leaderboard"], &[("COLUMNS", "140")]).snapshot());
}

#[test]
fn every_order_puts_the_best_first_and_the_unknown_last() {
    let project = arms();
    for (key, order) in [
        ("pass-rate", ["a", "c", "b"]),
        ("cost", ["b", "a", "c"]),
        // 0.5 / 5 = 0.10 and 3 / 9 = 0.33.
        ("cost-per-solved", ["b", "a", "c"]),
        ("tokens", ["b", "a", "c"]),
        ("duration", ["b", "a", "c"]),
        ("approach", ["a", "b", "c"]),
        ("model", ["b", "a", "c"]),
    ] {
        assert_eq!(approaches(&entries(&project, &["--sort", key])), order, "{key}");
    }
    let entries = entries(&project, &[]);
    near(&entries[0]["cost_per_solved_usd"], 3.0 / 9.0);
    assert!(entries[1].get("cost").is_none() && entries[1].get("tokens").is_none(), "unknown is absent: {}", entries[1]);
    assert_eq!(project.run(["leaderboard", "--format", "csv"]).column("Cost"), ["$3.00", "unknown", "$0.50"]);
}

#[test]
fn equal_arms_stand_by_name() {
    let project = Project::with(&[
        counts("1", "s", "z", 1, 2, json!({})),
        counts("2", "s", "a", 2, 4, json!({})),
        counts("3", "s", "k", 1, 2, json!({})),
    ]);
    assert_eq!(approaches(&entries(&project, &[])), ["a", "k", "z"]);
}

#[test]
fn cost_that_is_known_in_part_is_a_lower_bound() {
    let project = Project::with(&[
        counts("a-1", "s", "a", 1, 2, json!({"cost_usd": 1.25})),
        counts("a-2", "s", "a", 1, 2, json!({})),
        counts("b-1", "s", "b", 1, 2, json!({"cost_usd": 0})),
    ]);
    let rows = project.run(["leaderboard", "--format", "csv", "--sort", "approach"]).rows();
    assert_eq!((rows[0]["Cost"].as_str(), rows[1]["Cost"].as_str()), ("≥ $1.25", "$0"));
    assert_eq!((rows[0]["Cost/solved"].as_str(), rows[1]["Cost/solved"].as_str()), ("", "$0"), "a bound has no price per solved item");
    let entries = entries(&project, &["--sort", "approach"]);
    assert_eq!(entries[0]["cost"]["coverage"], json!({"known": 1, "runs": 2}));
}

#[test]
fn a_run_without_its_own_cost_costs_what_its_items_cost() {
    let project = Project::with(&[result("a-1", "s", "a", json!({})), result("b-1", "s", "b", json!({}))]);
    let priced = |item: &str, cost: Option<f64>| {
        let mut line = question(item, 1, "pass");
        if let Some(cost) = cost {
            line["cost_usd"] = json!(cost);
            line["input_tokens"] = json!(10);
            line["output_tokens"] = json!(5);
        }
        line
    };
    project.items("a-1", &[priced("q1", Some(0.25)), priced("q2", Some(0.5))]);
    project.items("b-1", &[priced("q1", Some(0.25)), priced("q2", None)]);
    let rows = project.run(["leaderboard", "--format", "csv", "--sort", "approach"]).rows();
    assert_eq!((rows[0]["Cost"].as_str(), rows[1]["Cost"].as_str()), ("$0.75", "≥ $0.25"));
    assert_eq!((rows[0]["Tokens"].as_str(), rows[1]["Tokens"].as_str()), ("30", ""));
}

#[test]
fn durations_have_median_and_p90() {
    let runs: Vec<Value> =
        (1..=11).map(|number| counts(&format!("a-{number}"), "s", "a", 1, 2, json!({"duration_seconds": number * 10}))).collect();
    let project = Project::with(&runs);
    let entry = &entries(&project, &[])[0];
    // Of 10, 20, …, 110 the sixth is the middle, and the tenth has nine tenths of the way behind it.
    near(&entry["duration"]["median"], 60.0);
    near(&entry["duration"]["p90"], 100.0);
    let row = &project.run(["leaderboard", "--format", "csv"]).rows()[0];
    assert_eq!((row["Duration"].as_str(), row["p90"].as_str()), ("1m 00s", "1m 40s"));
}

#[test]
fn several_runs_have_a_t_interval_over_runs() {
    let project = Project::with(&[
        counts("a-1", "s", "a", 8, 10, json!({})),
        counts("a-2", "s", "a", 9, 10, json!({})),
        counts("a-3", "s", "a", 10, 10, json!({})),
    ]);
    let rate = &entries(&project, &[])[0]["pass_rate"];
    near(&rate["value"], 0.9);
    assert_eq!((rate["n"].as_u64(), rate["n_of"].as_str(), rate["method"].as_str()), (Some(3), Some("runs"), Some("t_over_runs")));
    // t(.975, 2) = 4.302652729911275.
    near(&rate["interval"]["low"], 0.9 - 4.302_652_729_911_275 * 0.1 / 3f64.sqrt());
    assert_eq!((rate["passed"].as_u64(), rate["total"].as_u64()), (Some(27), Some(30)));
}

#[test]
fn questions_with_several_attempts_have_a_t_interval_over_questions() {
    let project = Project::with(&[result("a-1", "quiz", "a", json!({}))]);
    // Means by question: 1, 1/2, 0, 1/2; their mean is 1/2, their standard deviation sqrt(1/6).
    let statuses = [("q1", ["pass", "pass"]), ("q2", ["pass", "fail"]), ("q3", ["fail", "limit"]), ("q4", ["error", "pass"])];
    let items: Vec<Value> = statuses
        .iter()
        .flat_map(|(item, attempts)| attempts.iter().zip(1..).map(|(status, attempt)| question(item, attempt, status)))
        .collect();
    project.items("a-1", &items);
    let rate = &entries(&project, &[])[0]["pass_rate"];
    near(&rate["value"], 0.5);
    assert_eq!((rate["n"].as_u64(), rate["n_of"].as_str(), rate["method"].as_str()), (Some(4), Some("questions"), Some("t_over_items")));
    // t(.975, 3) = 3.182446305284263.
    let half = 3.182_446_305_284_263 * (1.0f64 / 6.0).sqrt() / 2.0;
    near(&rate["interval"]["low"], (0.5 - half).max(0.0));
    near(&rate["interval"]["high"], (0.5 + half).min(1.0));
    let table = project.run(["leaderboard"]);
    assert!(table.answer().contains("4 items, up to 2 attempts at each."), "{}", table.stdout);
}

#[test]
fn missing_outcomes_are_counted_and_wrong_ones_are_wrong() {
    let project = Project::with(&[result("a-1", "quiz", "a", json!({})), result("b-1", "quiz", "b", json!({}))]);
    let statuses = ["pass", "fail", "error", "limit", "infra", "not_evaluated", "skipped"];
    let items: Vec<Value> = statuses.iter().enumerate().map(|(number, status)| question(&format!("q{number}"), 1, status)).collect();
    project.items("a-1", &items);
    // `b` was never asked five of the seven.
    project.items("b-1", &[question("q0", 1, "pass"), question("q1", 1, "pass")]);
    let rows = project.run(["leaderboard", "--format", "csv", "--sort", "approach"]).rows();
    assert_eq!((rows[0]["Passed"].as_str(), rows[0]["n"].as_str()), ("1/4", "4 questions, 2 missing"));
    assert_eq!((rows[1]["Passed"].as_str(), rows[1]["n"].as_str()), ("2/2", "2 questions, 5 missing"));
}

#[test]
fn own_tests_and_functional_tests_are_not_the_pass_rate() {
    let project = Project::with(&[result("a-1", "s", "a", json!({}))]);
    let by = |evaluator: &str, item: &str| {
        let mut line = test(item, "pass");
        line["evaluator"] = json!(evaluator);
        line
    };
    project.items(
        "a-1",
        &[test("t1", "fail"), test("t2", "pass"), by("own_tests", "o1"), by("own_tests", "o2"), by("functional_tests", "f1")],
    );
    assert_eq!(project.run(["leaderboard", "--format", "csv"]).column("Passed"), ["1/2"]);
}

#[test]
fn failed_runs_count_and_outages_do_not() {
    let project = Project::with(&[
        counts("a-1", "s", "a", 4, 10, json!({})),
        counts("a-2", "s", "a", 0, 10, json!({"error": "crashed"})),
        counts("a-3", "s", "a", 0, 10, json!({"status": "infra"})),
        counts("a-4", "s", "a", 0, 10, json!({"status": "cancelled"})),
    ]);
    let row = &project.run(["leaderboard", "--format", "csv"]).rows()[0];
    assert_eq!((row["Passed"].as_str(), row["Runs"].as_str()), ("4/20", "2"));
    assert_eq!(row["Left out"], "1 run not completed, 2 runs left out");
}

/// `big`: a 90 of 100, b 50 of 100. `small`: a 1 of 10, b 9 of 10. `only`: c 10 of 10.
fn suites() -> Project {
    Project::with(&[
        counts("1", "big", "a", 90, 100, json!({"cost_usd": 1.0})),
        counts("2", "big", "b", 50, 100, json!({"cost_usd": 2.0})),
        counts("3", "small", "a", 1, 10, json!({"cost_usd": 0.5})),
        counts("4", "small", "b", 9, 10, json!({})),
        counts("5", "only", "c", 10, 10, json!({"cost_usd": 0.25})),
    ])
}

#[test]
fn macro_and_micro_means_differ() {
    let project = suites();
    // Macro: a (0.9 + 0.1) / 2 = 50 %, b (0.5 + 0.9) / 2 = 70 %. Micro: a 91 of 110 = 82.7 %, b 59 of 110 = 53.6 %.
    for (mean, order, rates) in [("macro", ["b", "a", "c"], [0.7, 0.5, 1.0]), ("micro", ["a", "b", "c"], [91.0 / 110.0, 59.0 / 110.0, 1.0])]
    {
        let json = project.run(["leaderboard", "--overall", mean, "--format", "json"]).json();
        let entries = json["overall"]["entries"].as_array().expect("entries").clone();
        assert_eq!(approaches(&entries), order, "{mean}: fewer suites stand last");
        for (entry, rate) in entries.iter().zip(rates) {
            near(&entry["rate"], rate);
        }
        assert_eq!(json["overall"]["pooling"], mean);
    }
    insta::assert_snapshot!("overall_macro", project.run(["leaderboard", "--overall", "macro"]).snapshot());
    insta::assert_snapshot!("overall_micro", project.run(["leaderboard", "--overall", "micro"]).snapshot());
}

#[test]
fn suites_have_a_board_each() {
    let project = suites();
    let all = project.run(["leaderboard", "--format", "json"]).json();
    let names: Vec<&Value> = all["suites"].as_array().expect("suites").iter().map(|suite| &suite["suite"]).collect();
    assert_eq!(names, ["big", "only", "small"]);
    let one = project.run(["leaderboard", "small", "--format", "json"]).json();
    assert_eq!(one["suites"].as_array().map(Vec::len), Some(1));
    assert_eq!(approaches(one["suites"][0]["entries"].as_array().expect("entries")), ["b", "a"]);
}

#[test]
fn filters_narrow_the_runs() {
    let run = |id: &str, approach: &str, model: &str, day: Option<u32>, batch: &str, tag: &str| {
        let mut fields = json!({"model": model, "batch_id": batch, "tags": {"host": tag, "all": "yes"}});
        if let Some(day) = day {
            fields["timestamp"] = json!(format!("2026-03-{day:02}T12:00:00Z"));
        }
        counts(id, "s", approach, 1, 2, fields)
    };
    let project = Project::with(&[
        run("r-1", "a", "m1", Some(1), "b1", "x"),
        run("r-2", "b", "m1", Some(2), "b1", "y"),
        run("r-3", "c", "m2", Some(3), "b2", "x"),
        run("r-4", "d", "m2", None, "b2", "y"),
    ]);
    project.result(&counts("r-5", "t", "a", 1, 2, json!({})));
    let cases: [(&[&str], &[&str]); 13] = [
        (&["--suite", "s"], &["a", "b", "c", "d"]),
        (&["--suite", "s", "--suite", "t"], &["a", "b", "c", "d"]),
        (&["s", "--approach", "a,c"], &["a", "c"]),
        (&["s", "--approach", "a", "--approach", "d"], &["a", "d"]),
        (&["--model", "m2"], &["c", "d"]),
        (&["--tag", "host=x"], &["a", "c"]),
        (&["--tag", "host=y", "--tag", "all=yes"], &["b", "d"]),
        (&["--since", "2026-03-02"], &["b", "c"]),
        (&["--since", "2026-03-02T12:00:00Z"], &["b", "c"]),
        (&["--since", "2026-03-02T12:00:01Z"], &["c"]),
        (&["--since", "2026-03-02T13:00:00+01:00"], &["b", "c"]),
        (&["--batch", "b2"], &["c", "d"]),
        (&["--batch", "b1", "--model", "m1", "--tag", "host=y"], &["b"]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(approaches(&entries(&project, arguments)), expected, "{arguments:?}");
        // `list` has the same filters, and no suites by position.
        let options = arguments.strip_prefix(&["s"]).unwrap_or(arguments);
        let listed = project.run(["list", "--runs", "--format", "csv"].iter().chain(options).copied());
        let mut names: Vec<String> =
            listed.rows().into_iter().filter(|row| row["Suite"] == "s").map(|row| row["Approach"].clone()).collect();
        names.sort();
        assert_eq!(names, expected, "list {arguments:?}");
    }
    assert!(project.run(["leaderboard", "--tag", "host=z"]).refusal().starts_with("error: no run matches the selection\n"));
}

#[test]
fn show_gives_the_cost_that_the_leaderboard_counts() {
    let project = Project::with(&[result("partly", "quiz", "a", json!({})), result("unpriced", "quiz", "b", json!({}))]);
    let priced = |item: &str, cost: Value| {
        json!({"item": item, "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 0,
        "status": "pass", "cost_usd": cost})
    };
    project.items("partly", &[priced("q1", json!(0.5)), priced("q2", json!(0.75)), priced("q3", Value::Null)]);
    project.items("unpriced", &[priced("q1", Value::Null)]);
    let board = project.run(["leaderboard", "quiz", "--format", "csv", "--sort", "approach"]);
    assert_eq!(board.column("Cost"), ["≥ $1.25", "unknown"]);
    assert!(
        project.run(["show", "partly"]).answer().contains("│ Cost     │ ≥ $1.25 (reported)"),
        "{}",
        project.run(["show", "partly"]).stdout
    );
    assert!(project.run(["show", "unpriced"]).answer().contains("│ Cost     │ unknown"));
    assert_eq!(project.run(["list", "--runs", "--format", "csv"]).column("Cost"), ["≥ $1.25", "unknown"]);
    let shown = project.run(["show", "partly", "--format", "json"]).json();
    let counted = project.run(["leaderboard", "quiz", "--format", "json"]).json();
    assert_eq!(shown["runs"][0]["cost"], counted["suites"][0]["entries"][0]["cost"]);
    assert_eq!(shown["runs"][0]["cost_usd"], Value::Null, "the run's whole cost is not known");
}
