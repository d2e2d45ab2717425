//! `gate`: odds told beforehand, evidence over nights, identical nights, new failures, patterns, other tools' files, and the decision.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::schema::validate;
use crate::support::{Output, Project, lines, question, result, test};

/// A run of a suite of questions on a day of March.
fn night(project: &Project, store: &str, day: u32, passes: impl Fn(usize) -> bool) {
    let id = format!("{store}-{day:02}");
    let fields = json!({"batch_id": id, "timestamp": format!("2026-03-{day:02}T00:00:00Z")});
    let items = (0..100).map(|number| {
        question(
            &format!("q{number:03}"),
            1,
            if passes(number) { "pass" } else { "fail" },
        )
    });
    project.file(
        &format!("{store}/{id}.json"),
        result(&id, "quiz", "a", fields).to_string(),
    );
    project.file(&format!("{store}/{id}/items.jsonl"), lines(items));
}

/// A run that only counts.
fn counts(project: &Project, store: &str, day: u32, passed: u64) {
    let fields = json!({"batch_id": format!("{store}-{day}"), "timestamp": format!("2026-03-{day:02}T00:00:00Z"),
        "shared_tests_passed": passed, "shared_tests_total": 20});
    let id = format!("{store}-{day:02}");
    project.file(
        &format!("{store}/{id}.json"),
        result(&id, "app", "a", fields).to_string(),
    );
}

/// A run of a suite of tests: each with its status, and with why.
fn tests_of(project: &Project, store: &str, number: usize, outcomes: &[(&str, &str)]) {
    let id = format!("{store}-{number}");
    project.file(
        &format!("{store}/{id}.json"),
        result(&id, "app", "a", json!({"batch_id": store})).to_string(),
    );
    let line = |(item, status): &(&str, &str)| {
        let mut line = test(item, status);
        if *status == "fail" {
            line["details"] = json!({"reason": format!("expected 200, got 500 in {item}")});
        }
        line
    };
    project.file(
        &format!("{store}/{id}/items.jsonl"),
        lines(outcomes.iter().map(line)),
    );
}

#[track_caller]
fn answered(output: &Output, code: i32, schema: &str) -> Value {
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (code, ""),
        "{}",
        output.stdout
    );
    let answer: Value = serde_json::from_str(&output.stdout).expect("the answer is JSON");
    assert_eq!(validate(schema, &answer), Ok(()));
    answer
}

#[track_caller]
fn checks(project: &Project, arguments: &[&str], code: i32) -> Value {
    answered(
        &project.run([arguments, &["--format", "json"]].concat()),
        code,
        "gate",
    )["checks"]
        .clone()
}

/// Some of what never passes or fails for good, by a number without a pattern to see.
fn noise(day: u32, number: usize) -> bool {
    (day as usize * 7919 + number * 104_729) % 97 % 10 < 5
}

#[test]
fn an_arm_with_runs_of_another_version_only_is_not_left_out_in_silence() {
    let project = Project::new();
    for (store, approach, version, day) in [
        ("main", "a", "new", 1),
        ("main", "b", "old", 1),
        ("results", "a", "new", 2),
        ("results", "b", "old", 2),
        ("results", "b", "older", 1),
    ] {
        let id = format!("{store}-{approach}-{version}");
        let fields = json!({"suite_version": version, "timestamp": format!("2026-03-0{day}T0{}:00:00Z", usize::from(approach == "a")),
            "batch_id": store});
        project.file(
            &format!("{store}/{id}.json"),
            result(&id, "quiz", approach, fields).to_string(),
        );
        project.file(
            &format!("{store}/{id}/items.jsonl"),
            lines((0..30).map(|number| question(&format!("q{number}"), 1, "pass"))),
        );
    }
    let expected = json!([{"suite": "quiz", "approach": "b", "model": "m1", "suite_versions": ["old", "older"], "judged_version": "new"}]);
    let line = "b · m1 on quiz was not checked: it has runs of version old, older only, but the gate uses version new.";
    let gate = ["gate", "--baseline", "main", "--max-drop", "2pp"];
    for (arguments, schema, code) in [
        (gate.to_vec(), "gate", 0),
        ([&gate[..3], &["--decide"]].concat(), "gate-decide", 3),
        ([&gate[..], &["--plan"]].concat(), "gate-plan", 0),
    ] {
        let answer = answered(
            &project.run([&arguments[..], &["--format", "json"]].concat()),
            code,
            schema,
        );
        assert_eq!(answer["outdated"], expected, "{schema}");
        let output = project.run_in(arguments.iter().copied(), &[("COLUMNS", "200")]);
        assert!(output.stdout.contains(line), "{}", output.stdout);
        if schema != "gate-plan" {
            let refused = project.run([&arguments[..], &["--strict"]].concat());
            assert!(
                refused.refusal().contains("--strict refuses that")
                    && refused.stderr.contains("b · m1 on quiz"),
                "{}",
                refused.stderr
            );
        }
    }
    let one = project.run(gate.into_iter().chain(["--approach", "a", "--strict"]));
    assert_eq!(
        (one.code, one.stdout.contains("was not judged")),
        (0, false),
        "{}{}",
        one.stdout,
        one.stderr
    );
}

#[test]
fn a_plan_tells_the_odds_and_judges_nothing() {
    let project = Project::new();
    for day in 1..=3 {
        night(&project, "main", day, |number| {
            number < 70 || (number < 80 && noise(day, number))
        });
        let id = format!("new-{day}");
        let fields = json!({"batch_id": "new", "timestamp": format!("2026-03-04T0{day}:00:00Z")});
        let items: Vec<Value> = (0..100)
            .map(|number| question(&format!("q{number:03}"), 1, "fail"))
            .collect();
        project
            .result(&result(&id, "quiz", "a", fields))
            .items(&id, &items);
    }
    let plan = ["gate", "--baseline", "main", "--max-drop", "2pp", "--plan"];
    let answer = answered(
        &project.run([&plan[..], &["--format", "json"]].concat()),
        0,
        "gate-plan",
    );
    let found = &answer["plans"][0];
    assert_eq!(
        (
            &found["items"],
            &found["baseline_runs"],
            &found["head_runs"],
            &found["basis"]
        ),
        (&json!(100), &json!(3), &json!(3), &json!("baseline"))
    );
    let odds: Vec<(f64, f64)> = found["odds"]
        .as_array()
        .expect("odds")
        .iter()
        .map(|odds| {
            (
                odds["drop"].as_f64().expect("a drop"),
                odds["regression"].as_f64().expect("a share"),
            )
        })
        .collect();
    assert_eq!(
        odds.iter().map(|odds| odds.0).collect::<Vec<_>>(),
        [0.0, 0.02, 0.05, 0.1]
    );
    assert!(odds[0].1 <= 0.05 && odds[3].1 > 0.5, "{odds:?}");
    assert!(
        odds.windows(2).all(|pair| pair[0].1 <= pair[1].1),
        "{odds:?}"
    );
    let table = project.run_in(plan, &[("COLUMNS", "200")]);
    assert!(
        table.answer().contains("False alarm") && table.stdout.contains("Sees −10 pp"),
        "{}",
        table.stdout
    );
    // The same odds each time, and of the head alone where there is no baseline.
    assert_eq!(
        project.run_in(plan, &[("COLUMNS", "200")]).stdout,
        table.stdout
    );
    let alone = answered(
        &project.run([
            "gate",
            "--results",
            "main",
            "--max-drop",
            "2pp",
            "--plan",
            "--format",
            "json",
        ]),
        0,
        "gate-plan",
    );
    assert_eq!(
        (&alone["plans"][0]["basis"], &alone["plans"][0]["head_runs"]),
        (&json!("head"), &json!(3))
    );
    // One run of tests a side sees nothing, and the plan says so.
    let project = Project::new();
    tests_of(&project, "main", 1, &[("x", "pass"), ("y", "pass")]);
    tests_of(&project, "results", 1, &[("x", "pass"), ("y", "pass")]);
    let answer = answered(
        &project.run([
            "gate",
            "--baseline",
            "main",
            "--max-drop",
            "2pp",
            "--plan",
            "--format",
            "json",
        ]),
        0,
        "gate-plan",
    );
    let of = |place: usize| answer["plans"][0]["odds"][place]["regression"].as_f64();
    assert_eq!((of(0), of(3)), (Some(0.0), Some(0.0)));
    let refused = project.run(["gate", "--baseline", "main", "--max-cost", "5%", "--plan"]);
    assert!(
        refused.refusal().contains("odds exist only for those"),
        "{}",
        refused.stderr
    );
}

#[test]
fn evidence_adds_up_over_nights() {
    // Ten items are noise; from the first night after the baseline on, four that always passed fail.
    let project = Project::new();
    let fares = |day: u32, broken: usize| {
        move |number: usize| (broken..70).contains(&number) || (number >= 90 && noise(day, number))
    };
    for day in 1..=10 {
        night(&project, "main", day, fares(day, 0));
    }
    for day in 11..=20 {
        night(&project, "results", day, fares(day, 4));
    }
    let held = [
        "gate",
        "--baseline",
        "main",
        "--max-drop",
        "1pp",
        "--batch",
        "results-20",
    ];
    let check = checks(&project, &held, 1)[0].clone();
    let over = &check["over_nights"];
    assert_eq!(
        (
            &check["basis"],
            &over["alarm"],
            &over["nights"],
            &over["baseline_nights"]
        ),
        (&json!("nights"), &json!(true), &json!(10), &json!(10)),
        "{check}"
    );
    assert!(over["e_value"].as_f64().is_some_and(|e| e > 20.0), "{over}");
    let table = project.run_in(held, &[("COLUMNS", "400")]);
    assert!(
        table.stdout.contains("Evidence over 10 nights: e = "),
        "{}",
        table.stdout
    );
    // Whichever batches are judged, the nights are the same.
    for more in [&["--newest-batch"][..], &[]] {
        let output = project.run(
            [
                &[
                    "gate",
                    "--baseline",
                    "main",
                    "--max-drop",
                    "1pp",
                    "--format",
                    "json",
                ],
                more,
            ]
            .concat(),
        );
        let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!(answer["checks"][0]["over_nights"], *over, "{more:?}");
    }
    let early = project.run([
        "gate",
        "--baseline",
        "main",
        "--max-drop",
        "1pp",
        "--batch",
        "results-12",
        "--format",
        "json",
    ]);
    let early: Value = serde_json::from_str(&early.stdout).expect("JSON");
    let early = early["checks"][0].clone();
    let e_value = |over: &Value| over["e_value"].as_f64().expect("a number");
    assert_eq!(
        (
            &early["over_nights"]["nights"],
            &early["over_nights"]["earliest"]
        ),
        (&json!(2), &json!(2)),
        "{early}"
    );
    assert!(e_value(&early["over_nights"]) < e_value(over), "{early}");
    // What is allowed is no evidence, and a baseline that moves along has none.
    let allowed = checks(
        &project,
        &[
            "gate",
            "--baseline",
            "main",
            "--max-drop",
            "20pp",
            "--batch",
            "results-20",
        ],
        0,
    )[0]
    .clone();
    assert_eq!(allowed["over_nights"]["alarm"], false);
    let moving = project.run([
        "gate",
        "--baseline",
        "last:3",
        "--max-drop",
        "1pp",
        "--format",
        "json",
    ]);
    assert!(!moving.stdout.contains("over_nights"), "{}", moving.stdout);
}

#[test]
fn nights_of_other_items_are_left_out() {
    let project = Project::new();
    for day in 1..=4 {
        counts(&project, "main", day, 15);
    }
    for day in 5..=8 {
        counts(&project, "results", day, 15);
    }
    let fields = json!({"timestamp": "2026-03-06T00:00:00Z", "shared_tests_passed": 1, "shared_tests_total": 2});
    project.result(&result("other", "app", "a", fields));
    let check = checks(
        &project,
        &[
            "gate",
            "--baseline",
            "main",
            "--max-drop",
            "1pp",
            "--batch",
            "results-8",
        ],
        0,
    )[0]
    .clone();
    // The sixth is mixed with a run that counted something else.
    assert_eq!(
        (
            &check["over_nights"]["nights"],
            &check["over_nights"]["left_out"]
        ),
        (&json!(3), &json!(1)),
        "{check}"
    );
}

#[test]
fn identical_nights_pass() {
    let of_items = Project::new();
    let of_counts = Project::new();
    for day in 1..=8 {
        let store = if day == 8 { "results" } else { "main" };
        night(&of_items, store, day, |number| number < 70);
        counts(&of_counts, store, day, 15);
    }
    for bound in ["0", "2pp"] {
        let held = ["gate", "--baseline", "main", "--max-drop", bound];
        let bases =
            [&of_items, &of_counts].map(|project| checks(project, &held, 0)[0]["basis"].clone());
        assert_eq!(bases, ["identical", "steady"], "{bound}");
    }
    let table = of_counts.run_in(
        ["gate", "--baseline", "main", "--max-drop", "0"],
        &[("COLUMNS", "300")],
    );
    assert!(
        table
            .answer()
            .contains("No run differs from another, and both sides are equal"),
        "{}",
        table.stdout
    );
    // Two runs are no sign that nothing varies, and a night that differs is not identical.
    let few = Project::new();
    counts(&few, "main", 1, 15);
    counts(&few, "results", 2, 15);
    assert_eq!(
        checks(&few, &["gate", "--baseline", "main", "--max-drop", "0"], 3)[0]["basis"],
        "too_few"
    );
    counts(&of_counts, "results", 8, 14);
    assert_eq!(
        checks(
            &of_counts,
            &["gate", "--baseline", "main", "--max-drop", "0"],
            3
        )[0]["ruling"],
        "inconclusive"
    );
}

/// Three runs a side: one item always passed and fails now, one is flaky, one failed before too, one fails once of three times.
fn failing() -> Project {
    let project = Project::new();
    for run in 0..3 {
        let flaky = if run == 0 { "fail" } else { "pass" };
        tests_of(
            &project,
            "main",
            run,
            &[
                ("always", "pass"),
                ("flaky", flaky),
                ("never", "fail"),
                ("once", "pass"),
                ("well", "pass"),
            ],
        );
        let new = [
            ("always", "fail"),
            ("flaky", "fail"),
            ("never", "fail"),
            ("once", flaky),
            ("well", "pass"),
        ];
        tests_of(&project, "results", run, &new);
    }
    project
}

#[test]
fn new_failures_are_listed_with_reasons() {
    let project = failing();
    let answer = answered(
        &project.run([
            "gate",
            "--baseline",
            "main",
            "--max-drop",
            "90pp",
            "--format",
            "json",
        ]),
        0,
        "gate",
    );
    let found = &answer["new_failures"][0];
    let names = |list: &str| -> Vec<String> {
        found[list]
            .as_array()
            .expect("a list")
            .iter()
            .map(|item| item["item"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(
        (names("items"), names("flaky")),
        (
            vec!["always".to_owned()],
            vec!["flaky".to_owned(), "once".to_owned()]
        )
    );
    assert_eq!(
        found["items"][0]["reason"],
        "expected 200, got 500 in always"
    );
    assert_eq!(
        (
            &found["items"][0]["passed"],
            &found["items"][0]["baseline_passed"]
        ),
        (&json!(0), &json!(3))
    );
    let table = project.run_in(
        ["gate", "--baseline", "main", "--max-drop", "90pp"],
        &[("COLUMNS", "200")],
    );
    assert!(
        table
            .answer()
            .contains("- always (passed 0 of 3, baseline 3 of 3): expected 200, got 500 in always"),
        "{}",
        table.stdout
    );
    // Many are bounded, and in the order of their names.
    let project = Project::new();
    let many: Vec<String> = (0..30).map(|number| format!("t{number:02}")).collect();
    for (store, status) in [("main", "pass"), ("results", "fail")] {
        tests_of(
            &project,
            store,
            0,
            &many
                .iter()
                .rev()
                .map(|name| (name.as_str(), status))
                .collect::<Vec<_>>(),
        );
    }
    let answer = answered(
        &project.run([
            "gate",
            "--baseline",
            "main",
            "--no-new-failures",
            "--format",
            "json",
        ]),
        1,
        "gate",
    );
    let found = &answer["new_failures"][0];
    assert_eq!(
        (
            &found["count"],
            found["items"].as_array().map(Vec::len),
            &found["items"][0]["item"]
        ),
        (&json!(30), Some(20), &json!("t00"))
    );
}

#[test]
fn no_new_failures_is_a_rule() {
    let project = failing();
    let held = ["gate", "--baseline", "main", "--no-new-failures"];
    let check = checks(&project, &held, 1)[0].clone();
    assert_eq!(
        (
            &check["rule"]["kind"],
            &check["failing"],
            &check["not_passed"]
        ),
        (&json!("no_new_failures"), &json!(1), &json!(["always"]))
    );
    let table = project.run_in(held, &[("COLUMNS", "300")]);
    assert!(
        table
            .stdout
            .contains("no new failures; 1 item that always passed in the baseline fails: always"),
        "{}",
        table.stdout
    );
    // Flaky ones alone are no failure.
    for run in 0..3 {
        tests_of(
            &project,
            "results",
            run,
            &[
                ("always", "pass"),
                ("flaky", "fail"),
                ("never", "fail"),
                ("once", "pass"),
                ("well", "pass"),
            ],
        );
    }
    assert_eq!(checks(&project, &held, 0)[0]["ruling"], "pass");
    project.file(
        "evalreport.yaml",
        "version: 1\ngate:\n  - {suite: app, no_new_failures: true}\n",
    );
    assert_eq!(
        checks(&project, &["gate", "--baseline", "main"], 0)[0]["rule"]["kind"],
        "no_new_failures"
    );
    assert!(
        project
            .run(["gate"])
            .refusal()
            .contains("a rule needs a baseline")
    );
    let counted = Project::new();
    counts(&counted, "main", 1, 15);
    counts(&counted, "results", 2, 15);
    assert_eq!(checks(&counted, &held, 3)[0]["basis"], "no_items");
}

#[test]
fn items_that_must_pass_may_be_patterns() {
    let project = Project::new();
    let names = [
        "auth/login",
        "auth/logout",
        "test_add[1]",
        "test_add[2]",
        "test_sub",
    ];
    tests_of(
        &project,
        "results",
        0,
        &names.map(|name| {
            (
                name,
                if name == "test_add[2]" {
                    "fail"
                } else {
                    "pass"
                },
            )
        }),
    );
    let held = |pattern: &str, code: i32| {
        checks(&project, &["gate", "--must-pass", pattern], code)[0].clone()
    };
    for (pattern, matched, code) in [
        ("auth/*", 2, 0),
        ("test_sub", 1, 0),
        ("test_add", 2, 1),
        ("test_add[*]", 2, 1),
        ("test_add[1]", 1, 0),
        ("*", 5, 1),
    ] {
        assert_eq!(held(pattern, code)["matched"], matched, "{pattern}");
    }
    let table = project.run_in(["gate", "--must-pass", "test_add"], &[("COLUMNS", "300")]);
    assert!(
        table.stdout.contains(
            "must pass test_add (2 items); passed 1 of 2 attempts; not passed: test_add[2]"
        ),
        "{}",
        table.stdout
    );
    for (pattern, hint) in [
        ("test_sum", "did you mean `test_sub`?"),
        ("login", "did you mean `auth/login`?"),
        ("zzz*", "matches any text"),
    ] {
        let refused = project.run(["gate", "--must-pass", "auth/*", "--must-pass", pattern]);
        assert!(
            refused.refusal().contains(hint),
            "{pattern}: {}",
            refused.stderr
        );
    }
    // An item that another run of the suite has may be missing from this one.
    tests_of(&project, "other", 0, &[("test_new", "pass")]);
    let absent = checks(
        &project,
        &[
            "gate",
            "--results",
            "results",
            "--baseline",
            "other",
            "--must-pass",
            "test_new",
        ],
        3,
    )[0]
    .clone();
    assert_eq!(absent["basis"], "item_absent");
}

fn junit(project: &Project, path: &str, day: u32, fails: &[usize]) {
    let case = |number: usize| {
        let failure = if fails.contains(&number) {
            "<failure message=\"expected 200, got 500\">at line 3</failure>"
        } else {
            ""
        };
        format!(
            "<testcase classname=\"tests.test_auth\" name=\"test_login[{number}]\" time=\"0.{day}\">{failure}</testcase>"
        )
    };
    let cases: String = (0..20).map(case).collect();
    let day = format!("2026-03-{day:02}T00:00:00");
    project.file(path, format!("<?xml version=\"1.0\"?><testsuites><testsuite name=\"pytest\" tests=\"20\" timestamp=\"{day}\">{cases}</testsuite></testsuites>"));
}

#[test]
fn files_of_other_tools_are_runs() {
    let project = Project::new();
    for day in 1..=3 {
        junit(
            &project,
            &format!("old/{day}.xml"),
            day,
            if day == 1 { &[3] } else { &[] },
        );
        junit(
            &project,
            &format!("new/{day}.xml"),
            day + 3,
            &[4, 5, 6, 7, 8],
        );
    }
    // Runs of the store are not what was named.
    junit(&project, "else.xml", 9, &[1]);
    assert_eq!(project.run(["import", "else.xml"]).code, 0);
    let new = ["new/1.xml", "new/2.xml", "new/3.xml"];
    let held = [
        &["gate"],
        &new[..],
        &[
            "--baseline",
            "old",
            "--max-drop",
            "5pp",
            "--no-new-failures",
        ],
    ]
    .concat();
    let answer = answered(
        &project.run([&held[..], &["--format", "json"]].concat()),
        1,
        "gate",
    );
    let sizes = &answer["checks"][0]["evidence"]["sizes"];
    assert_eq!(
        (&sizes["first"], &sizes["second"]),
        (&json!(3), &json!(3)),
        "{answer}"
    );
    assert_eq!(
        (
            &answer["checks"][0]["ruling"],
            &answer["checks"][1]["failing"]
        ),
        (&json!("regression"), &json!(5))
    );
    assert_eq!(
        answer["new_failures"][0]["items"][0]["reason"]
            .as_str()
            .map(|reason| reason.contains("expected 200, got 500")),
        Some(true)
    );
    // On other surfaces too, reports of different files are runs of one arm. Named files are the selection, without those of the store.
    let board = project
        .run(["leaderboard", "./new", "--format", "json"])
        .json();
    assert_eq!(
        (
            &board["suites"][0]["entries"][0]["runs"],
            &board["suites"][0]["entries"][1]
        ),
        (&json!(3), &json!(null))
    );
    // A folder, and a single file, are as good.
    for (head, baseline) in [("./new", "./old"), ("new/1.xml", "old/2.xml")] {
        let output = project.run(["gate", head, "--baseline", baseline, "--no-new-failures"]);
        assert_eq!(
            (output.code, output.stderr.as_str()),
            (1, ""),
            "{}",
            output.stdout
        );
    }
    // The same file on both sides counts on both.
    let same = project.run([
        "gate",
        "./old",
        "--baseline",
        "old",
        "--max-drop",
        "0",
        "--format",
        "json",
    ]);
    assert_eq!(
        (same.code, &same.json()["checks"][0]["basis"]),
        (0, &json!("identical"))
    );
    assert!(
        same.stderr
            .contains("the gate compares these with themselves"),
        "{}",
        same.stderr
    );
    let ctrf = |passed: bool| {
        let status = if passed { "passed" } else { "failed" };
        json!({"results": {"tool": {"name": "jest"}, "summary": {"tests": 1, "passed": u8::from(passed), "failed": u8::from(!passed),
            "pending": 0, "skipped": 0, "other": 0, "start": 1_700_000_000_000_u64, "stop": 1_700_000_001_000_u64},
            "tests": [{"name": "adds", "status": status, "duration": 5}]}})
        .to_string()
    };
    project
        .file("ctrf-old/a.json", ctrf(true))
        .file("ctrf-new/a.json", ctrf(false));
    let ctrf = project.run([
        "gate",
        "./ctrf-new",
        "--baseline",
        "ctrf-old",
        "--no-new-failures",
    ]);
    assert_eq!(
        (ctrf.code, ctrf.stderr.as_str()),
        (1, ""),
        "{}",
        ctrf.stdout
    );
    assert_eq!(
        project
            .run(["gate", "./nowhere", "--baseline", "old", "--max-drop", "0"])
            .code,
        2
    );
}

/// A job may import its files and then gate them: what the store has of them is no baseline of theirs.
#[test]
fn files_that_the_baseline_has_too_are_new_runs() {
    let project = Project::new();
    for day in 1..=3 {
        junit(&project, &format!("old/{day}.xml"), day, &[]);
        junit(
            &project,
            &format!("new/{day}.xml"),
            day + 3,
            &[4, 5, 6, 7, 8],
        );
    }
    let held = |more: &[&str], code: i32| {
        let words = [
            &[
                "gate",
                "new/1.xml",
                "new/2.xml",
                "new/3.xml",
                "--no-new-failures",
                "--format",
                "json",
            ],
            more,
        ]
        .concat();
        let output = project.run(words);
        assert_eq!(output.code, code, "{}", output.stderr);
        serde_json::from_str::<Value>(&output.stdout).expect("JSON")
    };
    // Under the names of the files, under others, and in the store that new runs are usually read from.
    let ways = [
        ("store", [].as_slice()),
        ("named", ["--set", "model=m"].as_slice()),
        ("results", [].as_slice()),
    ];
    for (store, set) in ways {
        let imported = project.run([&["--results", store, "import", "old", "new"], set].concat());
        assert_eq!(imported.code, 0, "{}", imported.stderr);
        let answer = held(&["--baseline", store], 1);
        let check = &answer["checks"][0];
        assert_eq!(
            (&check["failing"], &check["arm"]["model"]),
            (&json!(5), &json!("none")),
            "{store}: {answer}"
        );
        let against: BTreeSet<&str> = answer["checks"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|check| check["against"]["model"].as_str())
            .collect();
        assert_eq!(
            against,
            BTreeSet::from([if store == "named" { "m" } else { "none" }]),
            "{store}"
        );
    }
    // A bundle and a tag are baselines alike.
    assert_eq!(
        project
            .run(["--results", "named", "export", "bundle", "named.bundle"])
            .code,
        0
    );
    assert_eq!(
        held(&["--baseline", "named.bundle"], 1)["checks"][0]["failing"],
        5
    );
    // A store that has nothing but the files: the same on both sides.
    assert_eq!(project.run(["--results", "same", "import", "new"]).code, 0);
    assert_eq!(
        held(&["--baseline", "same"], 0)["checks"][0]["ruling"],
        "pass"
    );
    // A report that was changed since it was imported is another run, and is held against the earlier one.
    junit(&project, "new/1.xml", 7, &[1]);
    let changed = project.run([
        "gate",
        "new/1.xml",
        "--baseline",
        "same",
        "--no-new-failures",
        "--format",
        "json",
    ]);
    assert_eq!(answered(&changed, 1, "gate")["checks"][0]["failing"], 1);
}

/// The name of a file decides nothing: the same nights and pull requests get the same answers.
#[test]
fn nights_get_the_same_answer_under_any_names() {
    type Name = fn(u32) -> String;
    let flaky = [1_u32, 4, 6];
    let requests: [(&str, &[usize]); 3] = [("quiet", &[]), ("flaky", &[0]), ("broken", &[7])];
    let names: [Name; 4] = [
        |night| format!("night-{night}.xml"),
        |night| format!("{night}/report.xml"),
        |night| format!("app_v{night}.0 é.xml"),
        |night| format!("{}.xml", "z".repeat(8 - night as usize)),
    ];
    for (number, name) in names.iter().enumerate() {
        let project = Project::new();
        for night in 1..=7 {
            junit(
                &project,
                &format!("old/{}", name(night)),
                night,
                if flaky.contains(&night) { &[0] } else { &[] },
            );
        }
        for (request, fails) in requests {
            junit(&project, &format!("new/{request}/{}", name(3)), 20, fails);
        }
        assert_eq!(project.run(["import", "old"]).code, 0);
        assert_eq!(project.run(["export", "bundle", "old.bundle"]).code, 0);
        for night in 1..=7 {
            let report = std::fs::read_to_string(project.path(&format!("old/{}", name(night))))
                .expect("a report");
            project.file("reports/junit.xml", report);
            assert_eq!(
                project
                    .run(["--results", "turns", "import", "reports/junit.xml"])
                    .code,
                0
            );
        }
        for baseline in ["old", "results", "old.bundle", "turns"] {
            for (request, fails) in requests {
                let words = [
                    "gate",
                    &format!("./new/{request}"),
                    "--baseline",
                    baseline,
                    "--no-new-failures",
                    "--format",
                    "json",
                ];
                let answer = answered(&project.run(words), i32::from(request == "broken"), "gate");
                let checks = answer["checks"].as_array().expect("a list");
                assert_eq!(
                    checks.len(),
                    1,
                    "names {number}, {baseline}, {request}: {answer}"
                );
                assert_eq!(
                    (&checks[0]["arm"]["model"], &checks[0]["suite"]),
                    (&json!("none"), &json!("pytest")),
                    "{fails:?}"
                );
                assert_eq!(
                    checks[0]["failing"].as_u64().unwrap_or(0),
                    u64::from(request == "broken"),
                    "names {number}, {baseline}"
                );
            }
        }
    }
}

#[test]
fn the_decision_is_oriented_to_the_baseline() {
    let decided = |before: usize, now: usize, code: i32| {
        let project = Project::new();
        night(&project, "main", 1, |number| number < before);
        night(&project, "results", 2, |number| number < now);
        let table = project.run_in(
            ["gate", "--baseline", "main", "--decide"],
            &[("COLUMNS", "300")],
        );
        assert_eq!(
            (table.code, table.stderr.as_str()),
            (code, ""),
            "{}",
            table.stdout
        );
        let answer = answered(
            &project.run(["gate", "--baseline", "main", "--decide", "--format", "json"]),
            code,
            "gate-decide",
        );
        let sentence = answer["sentences"][0]
            .as_str()
            .expect("a sentence")
            .to_owned();
        assert!(table.stdout.contains(&sentence), "{}", table.stdout);
        (
            answer["choice"].as_str().expect("a choice").to_owned(),
            sentence,
        )
    };
    let (choice, sentence) = decided(50, 80, 0);
    assert!(
        choice == "ship" && sentence.starts_with("Decision: ship a · m1 (accuracy +30.0 pp"),
        "{sentence}"
    );
    let (choice, sentence) = decided(80, 50, 1);
    assert!(
        choice == "keep" && sentence.starts_with("Decision: keep the baseline (accuracy +30.0 pp"),
        "{sentence}"
    );
    let (choice, sentence) = decided(80, 76, 3);
    assert!(
        choice == "measure" && sentence.contains("more items"),
        "{sentence}"
    );
    let project = Project::new();
    night(&project, "results", 2, |_| true);
    let none = answered(
        &project.run([
            "gate",
            "--baseline",
            "last:7",
            "--decide",
            "--format",
            "json",
        ]),
        3,
        "gate-decide",
    );
    assert_eq!(none["choice"], "cannot_settle");
    assert!(
        project
            .run(["gate", "--decide"])
            .refusal()
            .contains("a rule needs a baseline")
    );
    assert_eq!(project.run(["gate", "--decide", "--plan"]).code, 2);
}
