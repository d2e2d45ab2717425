//! `gate`, `export bundle` and `--baseline`: what a build server is told, and what it is told by.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Output, Project, lines, question, result, test};

/// Puts a run of questions into a store: those with numbers below `passed` pass.
fn quiz(project: &Project, store: &str, id: &str, passed: usize, fields: Value) {
    quiz_of(project, store, id, 200, &|number| number < passed, fields);
}

fn quiz_of(
    project: &Project,
    store: &str,
    id: &str,
    questions: usize,
    passes: &dyn Fn(usize) -> bool,
    fields: Value,
) {
    let items: Vec<Value> = (0..questions)
        .map(|number| {
            question(
                &format!("q{number:03}"),
                1,
                if passes(number) { "pass" } else { "fail" },
            )
        })
        .collect();
    project.file(
        &format!("{store}/{id}.json"),
        result(id, "quiz", "oneshot", fields).to_string(),
    );
    project.file(&format!("{store}/{id}/items.jsonl"), lines(items));
}

/// 160 of 200 in the baseline's store, `passed` of 200 in the head's.
fn against(passed: usize) -> Project {
    let project = Project::new();
    quiz(
        &project,
        "main",
        "base-1",
        160,
        json!({"timestamp": "2026-03-01T00:00:00Z", "cost_usd": 1.0}),
    );
    quiz(
        &project,
        "results",
        "head-1",
        passed,
        json!({"timestamp": "2026-03-02T00:00:00Z", "cost_usd": 1.0}),
    );
    project
}

const DROP: [&str; 5] = ["gate", "--baseline", "main", "--max-drop", "2pp"];

fn with<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    first.iter().chain(more).copied().collect()
}

#[track_caller]
fn report(output: &Output, code: i32) -> Value {
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (code, ""),
        "{}",
        output.stdout
    );
    serde_json::from_str(&output.stdout).expect("the answer is JSON")
}

#[track_caller]
fn rulings(project: &Project, arguments: &[&str], code: i32) -> Vec<(String, String)> {
    let report = report(&project.run(with(arguments, &["--format", "json"])), code);
    let text = |check: &Value, key: &str| check[key].as_str().expect("text").to_owned();
    report["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|check| (text(check, "ruling"), text(check, "basis")))
        .collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(ruling, basis)| ((*ruling).to_owned(), (*basis).to_owned()))
        .collect()
}

#[test]
fn a_clear_drop_is_a_regression() {
    let project = against(130);
    let output = project.run(DROP);
    assert_eq!(output.code, 1, "{}", output.stderr);
    insta::assert_snapshot!("regression", output.snapshot());
    assert_eq!(
        rulings(&project, &DROP, 1),
        pairs(&[("regression", "interval")])
    );
}

/// Where every item falls by the same there is no spread to make an interval of, and least of all a reason to wait.
#[test]
fn a_collapse_of_all_items_is_a_regression() {
    let collapse = |questions: usize, head: &dyn Fn(usize) -> bool| {
        let project = Project::new();
        for number in 1..=3 {
            quiz_of(
                &project,
                "main",
                &format!("base-{number}"),
                questions,
                &|_| true,
                json!({}),
            );
            quiz_of(
                &project,
                "results",
                &format!("head-{number}"),
                questions,
                head,
                json!({}),
            );
        }
        project
    };
    for questions in [8, 40] {
        assert_eq!(
            rulings(&collapse(questions, &|_| false), &DROP, 1),
            pairs(&[("regression", "uniform")]),
            "{questions}"
        );
    }
    let rise = [
        "gate",
        "--baseline",
        "main",
        "--metric",
        "pass_rate",
        "--max-rise",
        "2pp",
    ];
    assert_eq!(
        rulings(&collapse(8, &|_| false), &rise, 0),
        pairs(&[("pass", "uniform")])
    );
    // Five flips of a coin are no evidence.
    assert_eq!(
        rulings(&collapse(5, &|_| false), &DROP, 3),
        pairs(&[("inconclusive", "too_few")])
    );
}

#[test]
fn no_drop_beyond_what_is_allowed_passes() {
    let project = against(161);
    assert_eq!(
        rulings(
            &project,
            &["gate", "--baseline", "main", "--max-drop", "3pp"],
            0
        ),
        pairs(&[("pass", "interval")])
    );
    let output = project.run(["gate", "--baseline", "main", "--max-drop", "3pp"]);
    insta::assert_snapshot!("pass", output.snapshot());
}

#[test]
fn a_bound_within_the_interval_is_inconclusive_and_says_how_much_is_missing() {
    let project = against(155);
    let output = project.run(DROP);
    assert_eq!(output.code, 3, "{}", output.stderr);
    insta::assert_snapshot!("inconclusive", output.snapshot());
    let answer = report(&project.run(with(&DROP, &["--format", "json"])), 3);
    let further = &answer["checks"][0]["further"];
    // The estimate is 0.5 pp from the bound: far more questions than the 200 there are.
    assert!(
        further["n"].as_u64().is_some_and(|more| more > 1000),
        "{further}"
    );
    assert_eq!(further["of"], "questions");
    for (option, code) in [("fail", 1), ("pass", 0)] {
        assert_eq!(
            project
                .run(with(&DROP, &["--on-inconclusive", option]))
                .code,
            code,
            "{option}"
        );
    }
    let regression = against(130);
    assert_eq!(
        regression
            .run(with(&DROP, &["--on-inconclusive", "pass"]))
            .code,
        1,
        "a regression is no matter of taste"
    );
}

#[test]
fn more_than_the_change_of_one_question_is_needed_for_a_pass() {
    // Two questions of eight fewer: nobody can say from that.
    let project = Project::new();
    quiz_of(
        &project,
        "main",
        "base-1",
        8,
        &|number| number < 6,
        json!({}),
    );
    quiz_of(
        &project,
        "results",
        "head-1",
        8,
        &|number| number < 4,
        json!({}),
    );
    assert_eq!(
        rulings(&project, &DROP, 3),
        pairs(&[("inconclusive", "too_wide")])
    );
    let project = Project::new();
    quiz_of(&project, "main", "base-1", 4, &|_| true, json!({}));
    quiz_of(&project, "results", "head-1", 4, &|_| false, json!({}));
    assert_eq!(
        rulings(&project, &DROP, 3),
        pairs(&[("inconclusive", "too_few")])
    );
}

#[test]
fn a_baseline_that_is_not_there_is_refused_except_on_a_first_night() {
    let project = against(160);
    let output = project.run([
        "gate",
        "--baseline",
        "nightly.bundle",
        "--max-drop",
        "2pp",
        "--on-inconclusive",
        "pass",
    ]);
    insta::assert_snapshot!("no_baseline", output.snapshot());
    project.file("empty/README.md", "");
    let empty = project.run(["gate", "--baseline", "empty", "--max-drop", "2pp"]);
    assert!(
        empty.refusal().contains("no baseline: empty holds no runs"),
        "{}",
        empty.stderr
    );
    assert_eq!(
        rulings(
            &project,
            &["gate", "--baseline", "last:2", "--max-drop", "2pp"],
            3
        ),
        pairs(&[("inconclusive", "no_baseline")])
    );
}

#[test]
fn another_version_of_the_suite_is_no_baseline() {
    let project = Project::new();
    quiz(
        &project,
        "main",
        "base-1",
        160,
        json!({"suite_version": "aaaa"}),
    );
    quiz(
        &project,
        "results",
        "head-1",
        160,
        json!({"suite_version": "bbbb"}),
    );
    assert_eq!(
        rulings(&project, &DROP, 3),
        pairs(&[("inconclusive", "other_version")])
    );
}

#[test]
fn items_that_must_pass() {
    let project = against(155);
    let asked = |items: &[&'static str]| -> Vec<&str> {
        with(
            &["gate"],
            &items
                .iter()
                .flat_map(|item| ["--must-pass", item])
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        rulings(&project, &asked(&["q000", "q154"]), 0),
        pairs(&[("pass", "attempts"), ("pass", "attempts")])
    );
    assert_eq!(
        rulings(&project, &asked(&["q000", "q155"]), 1),
        pairs(&[("pass", "attempts"), ("regression", "attempts")])
    );
    let unknown = project.run(asked(&["q000", "q999"]));
    assert!(
        unknown
            .refusal()
            .contains("no item `q999` in a selected suite"),
        "{}",
        unknown.stderr
    );
    let output = project.run(asked(&["q155"]));
    assert!(
        output
            .stdout
            .contains("must pass q155; passed 0 of 1 attempt. More than half"),
        "{}",
        output.stdout
    );
    let half = Project::with(&[result("h", "s", "a", json!({}))]);
    half.items(
        "h",
        &[
            question("x", 1, "pass"),
            question("x", 2, "fail"),
            question("y", 1, "pass"),
            question("y", 2, "infra"),
        ],
    );
    assert_eq!(
        rulings(&half, &["gate", "--must-pass", "x"], 1),
        pairs(&[("regression", "attempts")]),
        "half is no majority"
    );
    assert_eq!(
        rulings(&half, &["gate", "--must-pass", "y"], 0),
        pairs(&[("pass", "attempts")]),
        "what is missing is no failure"
    );
}

/// Five runs a side that cost about one dollar, and about `cost` dollars.
fn costs(cost: f64) -> Project {
    let project = Project::new();
    for (store, batch, dollars) in [("main", "old", 1.0), ("results", "new", cost)] {
        for (number, noise) in [0.98, 0.99, 1.0, 1.01, 1.02].into_iter().enumerate() {
            let id = format!("{batch}-run-{number}");
            let fields = json!({"cost_usd": dollars * noise, "batch_id": batch, "shared_tests_passed": 5, "shared_tests_total": 10});
            project.file(
                &format!("{store}/{id}.json"),
                result(&id, "s", "a", fields).to_string(),
            );
        }
    }
    project
}

#[test]
fn costs_are_held_as_a_ratio() {
    let arguments = ["gate", "--baseline", "main", "--max-cost", "+10%"];
    assert_eq!(
        rulings(&costs(1.02), &arguments, 0),
        pairs(&[("pass", "interval")])
    );
    assert_eq!(
        rulings(&costs(1.3), &arguments, 1),
        pairs(&[("regression", "interval")])
    );
    assert_eq!(
        rulings(&costs(1.1), &arguments, 3),
        pairs(&[("inconclusive", "too_wide")])
    );
    let free = costs(0.0);
    assert_eq!(
        rulings(&free, &arguments, 3),
        pairs(&[("inconclusive", "no_ratio")])
    );
    // The same by name, and the worst of several rules.
    let project = costs(1.3);
    assert_eq!(
        rulings(
            &project,
            &[
                "gate",
                "--baseline",
                "main",
                "--metric",
                "cost",
                "--max-rise",
                "50%"
            ],
            0
        ),
        pairs(&[("pass", "interval")])
    );
    let several = [
        "gate",
        "--baseline",
        "main",
        "--max-cost",
        "10%",
        "--max-drop",
        "2pp",
    ];
    assert_eq!(
        rulings(&project, &several, 1),
        pairs(&[("pass", "steady"), ("regression", "interval")])
    );
    let table = project.run(several);
    assert!(
        table.stdout.contains("Cost: at most 10% higher"),
        "{}",
        table.stdout
    );
}

/// Runs of a suite of tests, whose outcomes never vary within a side.
fn suites_of_tests(project: &Project, store: &str, runs: usize, passed: usize) {
    for run in 0..runs {
        let id = format!("{store}-{run}");
        project.file(
            &format!("{store}/{id}.json"),
            result(&id, "app", "a", json!({"batch_id": store})).to_string(),
        );
        let items: Vec<Value> = (0..20)
            .map(|number| {
                test(
                    &format!("t{number}"),
                    if number < passed { "pass" } else { "fail" },
                )
            })
            .collect();
        project.file(&format!("{store}/{id}/items.jsonl"), lines(items));
    }
}

#[test]
fn what_never_varies_is_decided_by_the_point() {
    for (passed, ruling, basis, why, code) in [
        (
            18,
            "pass",
            "identical",
            "Every item has the outcomes of the baseline",
            0,
        ),
        (
            15,
            "regression",
            "deterministic",
            "Every run of each arm has the same outcomes",
            1,
        ),
    ] {
        let project = Project::new();
        suites_of_tests(&project, "main", 3, 18);
        suites_of_tests(&project, "results", 3, passed);
        assert_eq!(rulings(&project, &DROP, code), pairs(&[(ruling, basis)]));
        let output = project.run_in(DROP, &[("COLUMNS", "400")]);
        assert!(output.stdout.contains(why), "{}", output.stdout);
    }
}

#[test]
fn one_run_of_tests_says_nothing_unless_tests_are_questions() {
    let project = Project::new();
    suites_of_tests(&project, "main", 1, 20);
    suites_of_tests(&project, "results", 1, 2);
    assert_eq!(
        rulings(&project, &DROP, 3),
        pairs(&[("inconclusive", "too_few")])
    );
    let output = project.run_in(DROP, &[("COLUMNS", "400")]);
    assert!(
        output
            .stdout
            .contains("At least 2 more runs per arm are needed"),
        "{}",
        output.stdout
    );
    assert_eq!(
        rulings(&project, &with(&DROP, &["--design", "items"]), 1),
        pairs(&[("regression", "interval")])
    );
}

#[test]
fn scores_have_bounds_in_their_own_unit() {
    let project = Project::new();
    for (store, seconds) in [("main", 10.0), ("results", 10.4)] {
        for (number, noise) in [-0.1, 0.0, 0.1].into_iter().enumerate() {
            let id = format!("{store}-{number}");
            let scores = json!([{"metric": "latency", "value": seconds + noise, "unit": "seconds", "direction": "down"}]);
            project.file(
                &format!("{store}/{id}.json"),
                result(&id, "s", "a", json!({"batch_id": store, "scores": scores})).to_string(),
            );
        }
    }
    let held = |bound, code| {
        rulings(
            &project,
            &[
                "gate",
                "--baseline",
                "main",
                "--metric",
                "latency",
                "--max-rise",
                bound,
            ],
            code,
        )
    };
    assert_eq!(held("1", 0), pairs(&[("pass", "interval")]));
    assert_eq!(held("0.1", 1), pairs(&[("regression", "interval")]));
    assert_eq!(
        held("10%", 3),
        pairs(&[("inconclusive", "no_ratio")]),
        "a tenth of a second, or of ten of them?"
    );
}

#[test]
fn rules_come_from_the_configuration_too() {
    let project = against(130);
    project.file(
        "evalreport.yaml",
        "version: 1\ngate:\n  - {metric: accuracy, max_drop: 50pp}\n",
    );
    assert_eq!(
        rulings(&project, &["gate", "--baseline", "main"], 0),
        pairs(&[("pass", "interval")])
    );
    let both = rulings(&project, &DROP, 1);
    assert_eq!(
        both,
        pairs(&[("regression", "interval"), ("pass", "interval")]),
        "options add to it"
    );
    project.file(
        "evalreport.yaml",
        "version: 1\ngate:\n  - {suite: other, must_pass: [q000]}\n",
    );
    let refused = project.run(["gate"]);
    for part in [
        "no rule is about a selected suite",
        "note: no run is of the suite `other`",
    ] {
        assert!(refused.refusal().contains(part), "{}", refused.stderr);
    }
    project.file(
        "evalreport.yaml",
        "version: 1\ngate:\n  - {metric: accuracy, max_drop: much}\n",
    );
    assert!(
        project
            .run(["gate"])
            .refusal()
            .contains("`gate[0].max_drop` must be an amount, not `much`")
    );
}

#[test]
fn arms_are_held_against_their_own() {
    let project = Project::new();
    for (store, approach, passed) in [
        ("main", "a", 160),
        ("main", "b", 100),
        ("results", "b", 100),
        ("results", "c", 90),
    ] {
        quiz(
            &project,
            store,
            &format!("{store}-{approach}"),
            passed,
            json!({"approach": approach}),
        );
    }
    let arguments = [
        "gate",
        "--baseline",
        "main",
        "--max-drop",
        "3pp",
        "--format",
        "json",
    ];
    let answer = report(&project.run(arguments), 3);
    let arms: Vec<&str> = answer["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|check| check["arm"]["approach"].as_str())
        .collect();
    // The arm that only the baseline has is checked too: what is not there does not pass.
    assert_eq!(arms, ["b", "c", "a"]);
    assert_eq!(
        (
            &answer["checks"][0]["ruling"],
            &answer["checks"][1]["basis"]
        ),
        (&json!("pass"), &json!("no_baseline"))
    );
    assert_eq!(answer["absent"][0]["approach"], "a");
    // An approach that is new altogether is held against what there is.
    let fallback = report(&project.run(with(&arguments, &["--approach", "c"])), 1);
    let against: Vec<&str> = fallback["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|check| check["against"]["approach"].as_str())
        .collect();
    assert_eq!(against, ["a", "b"]);
    let table = project.run([
        "gate",
        "--baseline",
        "main",
        "--max-drop",
        "90pp",
        "--approach",
        "c",
        "--format",
        "markdown",
    ]);
    assert_eq!(
        table.shown_column("Arm"),
        ["c · m1 vs a · m1", "c · m1 vs b · m1"]
    );
}

#[test]
fn a_bundle_is_as_good_as_the_store() {
    for passed in [130, 155, 161] {
        let project = against(passed);
        quiz(
            &project,
            "main",
            "base-0",
            10,
            json!({"timestamp": "2026-02-01T00:00:00Z"}),
        );
        quiz(
            &project,
            "main",
            "wrong",
            0,
            json!({"timestamp": "2026-03-05T00:00:00Z"}),
        );
        assert_eq!(
            project
                .run(["--results", "main", "retract", "wrong", "--reason", "no"])
                .code,
            0
        );
        let of_store = project.run(with(&DROP, &["--format", "json"]));
        for name in ["base.bundle", "base.jsonl"] {
            let exported = project.run(["--results", "main", "export", "bundle", name]);
            assert_eq!(
                (exported.code, exported.stderr.as_str()),
                (0, format!("{name}: 2 runs, 400 outcomes\n").as_str())
            );
            let of_bundle = project.run([
                "gate",
                "--baseline",
                name,
                "--max-drop",
                "2pp",
                "--format",
                "json",
            ]);
            assert_eq!(of_bundle.code, of_store.code, "{}", of_bundle.stderr);
            // The retracted run stays with the store; its tombstone comes along.
            assert_eq!(
                of_bundle.stdout.replace(name, "main"),
                of_store
                    .stdout
                    .replace("\"retracted\": 1", "\"retracted\": 0")
            );
        }
        assert!(
            !project.read("base.jsonl").contains("\"id\":\"wrong\""),
            "what is retracted stays at home"
        );
        assert!(
            project.read("base.jsonl").contains("\"id\":[\"wrong\"]"),
            "its tombstone does not"
        );
    }
}

#[test]
fn the_same_runs_are_the_same_bytes() {
    let project = against(150);
    quiz(
        &project,
        "main",
        "base-0",
        10,
        json!({"tags": {"k": "v"}, "scores": [{"metric": "x", "value": 1.5, "unit": "number", "direction": "up"}]}),
    );
    project
        .file("main/base-0/scores.jsonl", "{\"metric\":\"late\",\"value\":1.0,\"unit\":\"number\",\"direction\":\"up\",\"revision\":0}\n");
    let export = |store: &str, name: &str| {
        assert_eq!(
            project
                .run(["--results", store, "--quiet", "export", "bundle", name])
                .answer(),
            ""
        );
    };
    export("main", "one.bundle");
    export("main", "two.bundle");
    let bytes = |name: &str| fs::read(project.path(name)).expect("the bundle is there");
    assert_eq!(bytes("one.bundle"), bytes("two.bundle"));
    let selected = project.run([
        "--results",
        "main",
        "export",
        "bundle",
        "five.jsonl",
        "--tag",
        "k=v",
    ]);
    assert_eq!(selected.stderr, "five.jsonl: 1 run, 200 outcomes\n");
    assert!(
        project.read("five.jsonl").contains("\"late\""),
        "later scores travel along"
    );
}

#[test]
fn bundles_that_are_refused() {
    let project = against(150);
    assert_eq!(
        project
            .run(["--results", "main", "export", "bundle", "b.jsonl"])
            .code,
        0
    );
    let text = project.read("b.jsonl");
    let cases = [
        (
            "cut",
            text[..text.len() - 30].to_owned(),
            "cut:203: is cut off in the middle",
        ),
        (
            "ended",
            text.lines().take(9).collect::<Vec<_>>().join("\n"),
            "is cut off: its last line is missing",
        ),
        (
            "newer",
            text.replace("bundle/2", "bundle/7"),
            "`evalreport/bundle/7` was written by a newer evalreport than this one",
        ),
        (
            "stranger",
            text.replacen("\"item\":\"q000\"", "\"run\":\"else\",\"item\":\"q000\"", 1),
            "is of another run than the lines before it",
        ),
        (
            "escape",
            text.replacen(
                "\"item\":\"q000\"",
                "\"run\":\"\\u001b[31m\",\"item\":\"q000\"",
                1,
            ),
            "id `␛[31m` has characters",
        ),
    ];
    for (name, text, message) in cases {
        project.file(name, text);
        for command in ["gate", "compare"] {
            let mut arguments = vec![command, "--baseline", name];
            arguments.extend(if command == "gate" {
                vec!["--max-drop", "2pp"]
            } else {
                vec![]
            });
            let output = project.run(arguments);
            assert!(
                output.refusal().contains(message),
                "{name}: {}",
                output.stderr
            );
            assert_eq!(
                output
                    .stderr
                    .lines()
                    .filter(|line| line.starts_with("error:"))
                    .count(),
                1,
                "{}",
                output.stderr
            );
        }
    }
    let bytes = fs::read(project.path("b.jsonl")).expect("the bundle is there");
    let packed = zstd::encode_all(bytes.as_slice(), 3).expect("memory");
    project.bytes("half", &packed[..packed.len() / 2]);
    assert!(
        project
            .run(["gate", "--baseline", "half", "--max-drop", "2pp"])
            .code
            == 2
    );
    project
        .bytes("noise", &[0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4, 5])
        .file("prose", "dear diary");
    for name in ["noise", "prose"] {
        assert_eq!(
            project
                .run(["gate", "--baseline", name, "--max-drop", "2pp"])
                .code,
            2,
            "{name}"
        );
    }
    let kept = project.run(["export", "bundle", "prose"]);
    assert!(
        kept.refusal().contains("prose is there and is no bundle"),
        "{}",
        kept.stderr
    );
    assert_eq!(project.read("prose"), "dear diary");
}

/// Three batches of one arm in one store, a night each; the last is the head.
fn nights() -> Project {
    let project = Project::new();
    for (night, passed, rev) in [
        (1, 100, "aaaa1111"),
        (2, 160, "aaaa2222"),
        (3, 130, "bbbb3333"),
    ] {
        let fields = json!({"batch_id": format!("night-{night}"), "timestamp": format!("2026-03-0{night}T00:00:00Z"),
            "git": {"rev": rev}, "tags": {"night": night.to_string()}});
        quiz(
            &project,
            "results",
            &format!("run-of-night-{night}"),
            passed,
            fields,
        );
    }
    project
}

#[test]
fn every_kind_of_baseline() {
    let project = nights();
    let file = project
        .path("results/run-of-night-2.json")
        .display()
        .to_string();
    // The newest night is the head, and not the mean of all that are no baseline.
    for (what, value) in [
        ("last:1", -0.15),
        ("last:2", 0.0),
        ("run-of-night-1", 0.15),
        ("night=2", -0.15),
        ("aaaa1", 0.15),
        ("aaaa2222", -0.15),
        (file.as_str(), -0.15),
    ] {
        let output = project.run([
            "gate",
            "--baseline",
            what,
            "--max-drop",
            "50pp",
            "--format",
            "json",
        ]);
        // Two nights 30 points apart do not say within what the next one lies.
        let is_wide = what == "last:2";
        assert_eq!(
            output.code,
            if is_wide { 3 } else { 0 },
            "{what}: {}",
            output.stdout
        );
        let gated: Value = serde_json::from_str(&output.stdout).expect("JSON");
        let change = gated["checks"][0]["evidence"]["difference"]["value"]
            .as_f64()
            .expect("a number");
        assert!((change - value).abs() < 1e-9, "{what}: {change}");
    }
    for (what, message) in [
        ("last:0", "has no number of batches above 0"),
        ("last:x", "has no number of batches above 0"),
        (
            "run-of",
            "is the beginning of 3 run ids and 0 git revisions",
        ),
        ("aaaa", "is the beginning of 0 run ids and 2 git revisions"),
    ] {
        let output = project.run(["gate", "--baseline", what, "--max-drop", "2pp"]);
        assert!(
            output.refusal().contains(message),
            "{what}: {}",
            output.stderr
        );
    }
    let all = project.run(["gate", "--baseline", "results", "--max-drop", "2pp"]);
    assert!(
        all.refusal()
            .contains("all selected runs belong to the baseline"),
        "{}",
        all.stderr
    );
    // The head is what is selected, whatever the baseline is.
    let second = project.run([
        "gate",
        "--baseline",
        "last:1",
        "--batch",
        "night-2",
        "--max-drop",
        "50pp",
        "--format",
        "json",
    ]);
    let change = report(&second, 0)["checks"][0]["evidence"]["difference"]["value"]
        .as_f64()
        .expect("a number");
    assert!((change - 0.3).abs() < 1e-9, "{change}");
}

#[test]
fn a_store_stands_for_all_its_batches() {
    let project = nights();
    quiz(&project, "pr", "of-the-pr", 130, json!({}));
    let change = |more: &[&str]| {
        let arguments = with(
            &[
                "--results",
                "pr",
                "gate",
                "--baseline",
                "results",
                "--max-drop",
                "50pp",
                "--format",
                "json",
            ],
            more,
        );
        report(&project.run(arguments), 0)["checks"][0]["evidence"]["difference"]["value"]
            .as_f64()
            .expect("a number")
    };
    assert!(
        change(&[]).abs() < 1e-9,
        "130 against the mean of 100, 160 and 130"
    );
}

#[test]
fn an_id_of_two_runs_is_refused() {
    let project = against(150);
    quiz(&project, "results", "base-1", 3, json!({}));
    let output = project.run(DROP);
    assert!(
        output
            .refusal()
            .contains("the run `base-1` of the baseline main is another in the results"),
        "{}",
        output.stderr
    );
    // The same run in both stores is the baseline's.
    let project = against(150);
    quiz(
        &project,
        "results",
        "base-1",
        160,
        json!({"timestamp": "2026-03-01T00:00:00Z", "cost_usd": 1.0}),
    );
    assert_eq!(
        rulings(
            &project,
            &["gate", "--baseline", "main", "--max-drop", "50pp"],
            0
        ),
        pairs(&[("pass", "interval")])
    );
}

#[test]
fn compare_takes_a_baseline() {
    let project = against(130);
    let table = project.run(["compare", "--baseline", "main", "--format", "markdown"]);
    let rows = table.shown();
    let row = rows
        .iter()
        .find(|row| row["Metric"] == "Accuracy")
        .expect("a row");
    assert_eq!(
        (row["oneshot"].as_str(), row["oneshot (baseline)"].as_str()),
        ("130/200 (65.0%)", "160/200 (80.0%)")
    );
    assert!(
        row["Verdict"].starts_with("oneshot (baseline) wins"),
        "{row:?}"
    );
    // Arms that are in one of them only stand beside all of the other.
    quiz(
        &project,
        "results",
        "head-2",
        100,
        json!({"approach": "other"}),
    );
    let header = |arguments: &[&str]| {
        project
            .run(with(arguments, &["--format", "markdown"]))
            .answer()
            .lines()
            .find(|line| line.starts_with('|'))
            .expect("a line")
            .to_owned()
    };
    assert_eq!(
        header(&["compare", "--baseline", "main"]),
        "| Arm | Accuracy % \\[95% CI\\] | To the leader, pp \\[95% CI\\] | Adjusted p | Cost, typical run (ratio) | Cost per solved (ratio) | Passed |"
    );
    assert_eq!(
        header(&["compare", "--baseline", "main", "--approach", "other"]),
        "| Metric | other | oneshot (baseline) | Difference | Verdict |"
    );
    assert_eq!(
        header(&[
            "compare",
            "--files",
            "results/head-1.json",
            "--baseline",
            "main/base-1.json"
        ]),
        "| Metric | oneshot | oneshot (baseline) | Difference | Verdict |"
    );
    let unknown = project.run(["compare", "--baseline", "nowhere"]);
    assert!(
        unknown
            .refusal()
            .contains("no baseline `nowhere`: no folder or file has that name"),
        "{}",
        unknown.stderr
    );
    quiz(&project, "far", "far-1", 5, json!({"suite": "elsewhere"}));
    assert!(
        project
            .run(["compare", "--baseline", "far"])
            .refusal()
            .contains("the baseline has no other run of a selected suite")
    );
}

#[test]
fn markdown_starts_with_the_marker() {
    let project = against(130);
    let output = project.run(with(&DROP, &["--format", "markdown"]));
    assert_eq!((output.code, output.stderr.as_str()), (1, ""));
    assert!(
        output
            .stdout
            .starts_with("<!-- evalreport:gate -->\n### Gate against main: regression\n"),
        "{}",
        output.stdout
    );
    insta::assert_snapshot!("markdown", output.stdout);
}

/// Checks that every `&` begins one of XML's own entities.
fn has_known_entities(text: &str) {
    for (place, _) in text.match_indices('&') {
        let entity = text[place..].split(';').next().expect("an entity");
        assert!(
            ["&lt", "&gt", "&amp", "&quot", "&apos"].contains(&entity),
            "{entity}"
        );
    }
}

/// Checks that every tag is closed in its order, and every attribute quoted and without bare markup; returns the names of the tags.
fn well_formed(xml: &str) -> Vec<String> {
    let mut rest = xml
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        .expect("a declaration");
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    while let Some(start) = rest.find('<') {
        let text = rest[..start].trim();
        assert!(
            text.is_empty() || open.last().is_some_and(|name| name == "system-out"),
            "text between tags: {text}"
        );
        has_known_entities(text);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().expect("a name").to_owned();
        let attributes = tag[name.len()..].trim_end_matches('/');
        assert!(
            attributes.matches('"').count().is_multiple_of(2) && !attributes.contains('<'),
            "{tag}"
        );
        has_known_entities(attributes);
        if !tag.ends_with('/') {
            open.push(name.clone());
        }
        seen.push(name);
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    seen
}

#[test]
fn junit_has_a_case_for_each_rule() {
    let project = against(155);
    project.file(
        "results/evil.json",
        result(
            "evil",
            "quiz",
            "<b a=\"1\">&\u{1b}[31m]]>",
            json!({"shared_tests_passed": 1, "shared_tests_total": 2}),
        )
        .to_string(),
    );
    let arguments = with(
        &DROP,
        &[
            "--must-pass",
            "q000",
            "--must-pass",
            "q001",
            "--junit",
            "gate.xml",
        ],
    );
    let output = project.run(with(&arguments, &["--format", "junit"]));
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (3, ""),
        "{}",
        output.stdout
    );
    assert_eq!(project.read("gate.xml"), output.stdout);
    let tags = well_formed(&output.stdout);
    let count = |tags: &[String], name: &str| tags.iter().filter(|tag| *tag == name).count();
    assert_eq!(
        (
            count(&tags, "testcase"),
            count(&tags, "skipped"),
            count(&tags, "failure")
        ),
        (6, 4, 0)
    );
    assert!(
        output
            .stdout
            .contains("tests=\"6\" failures=\"0\" errors=\"0\" skipped=\"4\""),
        "{}",
        output.stdout
    );
    let failed = project.run(with(
        &arguments,
        &["--format", "junit", "--on-inconclusive", "fail"],
    ));
    let tags = well_formed(&failed.stdout);
    assert_eq!(
        (
            failed.code,
            count(&tags, "skipped"),
            count(&tags, "failure")
        ),
        (1, 0, 4)
    );
    let other = project.run(["list", "--format", "junit"]);
    assert!(
        other.refusal().contains("only `gate` prints JUnit XML"),
        "{}",
        other.stderr
    );
    let nowhere = project.run(with(&DROP, &["--junit", "gate.xml/within.xml"]));
    assert!(
        nowhere
            .refusal()
            .contains("cannot write gate.xml/within.xml"),
        "{}",
        nowhere.stderr
    );
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let project = against(150);
    let cases: [(&[&str], &str); 9] = [
        (&["gate"], "no gate rule given"),
        (&["gate", "--max-drop", "2pp"], "a rule needs a baseline"),
        (
            &["gate", "--baseline", "main", "--metric", "cost"],
            "--metric has no bound",
        ),
        (
            &["gate", "--baseline", "main", "--max-drop", "lots"],
            "--max-drop `lots` is no amount",
        ),
        (
            &["gate", "--baseline", "main", "--max-drop", "2"],
            "allows the pass rate to change by 200 percentage points",
        ),
        (
            &["gate", "--baseline", "main", "--max-cost", "10"],
            "--max-cost `10` is no percentage",
        ),
        (
            &[
                "gate",
                "--baseline",
                "main",
                "--metric",
                "latencey",
                "--max-rise",
                "5",
            ],
            "no metric `latencey`",
        ),
        (
            &["gate", "nosuite", "--baseline", "main", "--max-drop", "2pp"],
            "no suite `nosuite`",
        ),
        (
            &[
                "gate",
                "--baseline",
                "main",
                "--max-drop",
                "2pp",
                "--approach",
                "nobody",
            ],
            "no approach `nobody`",
        ),
    ];
    for (arguments, message) in cases {
        let output = project.run(arguments.iter().copied());
        assert!(
            output.refusal().contains(message),
            "{arguments:?}: {}",
            output.stderr
        );
    }
    assert!(
        !Path::new(&project.path("results/imports")).exists(),
        "a gate writes nothing into the store"
    );
}
