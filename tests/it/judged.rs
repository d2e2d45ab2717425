//! What was required of a run and what was said of it: criteria, evaluators and verification on every surface.

use serde_json::{Value, json};

use crate::support::{Project, lines, result, test};

const HOSTILE: &str = "</td><script>alert(1)</script>\u{1b}[31m\u{202e}";

fn criterion(item: &str, revision: u32, status: &str, reason: &str) -> Value {
    json!({"item": item, "kind": "criterion", "evaluator": "requirementFulfillment", "attempt": 1, "revision": revision,
        "status": status, "details": {"reason": reason}})
}

fn judge(model: &str) -> Value {
    json!({"agent": "claude", "model": model, "prompt_sha256": "0123456789abcdef", "votes": 3, "agreement": 0.75,
        "usage": {"input": 1200, "output": 34}, "cost_usd": 0.02, "cost_source": "reported"})
}

fn fulfilment(revision: u32, value: Option<f64>, model: &str) -> Value {
    json!({"metric": "requirementFulfillment", "value": value, "unit": "points", "direction": "up", "revision": revision,
        "evaluator": format!("claude:{model} #01234567"), "judge": judge(model),
        "details": {"criteria": [], "passedCount": 1, "totalCount": 3}, "raw": ["[]"]})
}

fn verification() -> Value {
    json!({"stack": "python", "primaryTest": "pytest", "goal": "fix the parser", "taskKind": "fix_error", "profile": "fast",
        "checks": [
            {"id": "test", "kind": "test", "command": "pytest -q", "folder": "", "reason": "the tests of the stack", "outcome": "failed",
                "seconds": 2.5, "baseline": "failed"},
            {"id": "lint", "kind": "lint", "command": "ruff check", "folder": "", "reason": "cheap", "outcome": "not_runnable",
                "message": "command not found"}],
        "failures": [{"check": "test", "scope": "out_of_scope", "reason": "stood at the baseline in an untouched file",
            "signature": "a", "text": "AssertionError: 1 != 2", "files": ["tests/test_old.py"], "test": "test_old"}],
        "fixed": [{"check": "test", "signature": "b", "text": "ValueError", "test": "test_parser"}],
        "baseline": {"name": "HEAD~1"}, "reasons": ["pyproject.toml is there"],
        "terminalStatus": "done_partial", "next": "accept_partial", "reason": "only out-of-scope failures are left"})
}

/// One run with tests, judged twice, with a verification.
fn judged() -> Project {
    let project = Project::with(&[result(
        "r-1",
        "s",
        "a",
        json!({"verification": verification(), "cost_usd": 1.5}),
    )]);
    project.items(
        "r-1",
        &[
            test("t1", "pass"),
            criterion("Saves notes", 0, "fail", "not found at first"),
            criterion("Lists notes", 0, "pass", "the list is there"),
            criterion(
                "Deletes notes",
                0,
                "not_evaluated",
                "the judge could not be reached",
            ),
            criterion("Saves notes", 1, "pass", "save_note writes the file"),
            criterion("Lists notes", 1, "fail", "list is empty"),
            criterion(
                "Deletes notes",
                1,
                "not_evaluated",
                "not evaluated by the judge",
            ),
        ],
    );
    let efficiency = json!({"metric": "efficiency", "value": 87.5, "unit": "points", "direction": "up", "evaluator": "efficiency",
        "details": {"turns": 12}});
    let missing = json!({"metric": "code_quality", "unit": "points", "direction": "up", "evaluator": "code_quality",
        "not_evaluated": "no linter is there"});
    project.file(
        "results/r-1/scores.jsonl",
        lines([
            fulfilment(0, Some(50.0), "opus"),
            efficiency,
            missing,
            fulfilment(1, Some(50.0), "opus"),
        ]),
    );
    project
}

#[test]
fn the_terminal_shows_criteria_evaluators_and_verification() {
    let project = judged();
    let output = project.run_in(["show", "r-1"], &[("COLUMNS", "240")]);
    let text = output.answer();
    for expected in [
        "Criteria",
        "│ Saves notes   │ PASS          │ save_note writes the file",
        "│ Lists notes   │ FAIL          │ list is empty",
        "│ Deletes notes │ not evaluated │ not evaluated by the judge",
        "1 of 2 met, 1 not evaluated.",
        "Judged by claude:opus #01234567; 3 votes that agree by 75%; revision 1, earlier one is kept; judging cost $0.0200 (reported), apart from \
         the run's own cost.",
        "Evaluators",
        "no linter is there",
        "Verification",
        "done partial, next: accept partial",
        "only out-of-scope failures are left",
        "pytest -q",
        "command not found",
        "out of scope",
        "│ Fixed",
        "test_parser",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(
        !text.contains("not found at first"),
        "an older revision is not shown: {text}"
    );
    let line = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(&format!("│ {name} ")))
            .unwrap_or_else(|| panic!("{name}\n{text}"))
    };
    assert!(
        line("efficiency").contains("87.5") && line("code_quality").contains("not evaluated"),
        "{text}"
    );
    // The judge's money is not the run's.
    assert!(line("Cost").contains("$1.50"), "{text}");
    let markdown = project.run(["show", "r-1", "--format", "markdown"]);
    assert!(
        markdown
            .answer()
            .contains("| Lists notes | FAIL | list is empty |"),
        "{}",
        markdown.stdout
    );
}

#[test]
fn json_has_them_under_their_names() {
    let project = judged();
    let run = project.run(["show", "r-1", "--format", "json"]).json()["runs"][0].clone();
    assert_eq!(
        run["criteria_count"],
        json!({"passed": 1, "total": 2, "missing": 1})
    );
    let criteria: Vec<_> = run["criteria"]
        .as_array()
        .expect("criteria")
        .iter()
        .map(|row| (&row["item"], &row["status"]))
        .collect();
    assert_eq!(
        criteria,
        [
            (&json!("Saves notes"), &json!("pass")),
            (&json!("Lists notes"), &json!("fail")),
            (&json!("Deletes notes"), &json!("not_evaluated"))
        ]
    );
    assert_eq!(
        run["items"].as_array().map(Vec::len),
        Some(1),
        "a criterion is no item among tests"
    );
    let evaluators = run["evaluators"].as_array().expect("evaluators");
    let names: Vec<_> = evaluators
        .iter()
        .map(|score| score["evaluator"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        names,
        ["requirementFulfillment", "efficiency", "code_quality"]
    );
    assert_eq!(
        (evaluators[2].get("value"), &evaluators[2]["not_evaluated"]),
        (None, &json!("no linter is there"))
    );
    let fulfilment = &evaluators[0];
    assert_eq!(
        (
            &fulfilment["revision"],
            &fulfilment["earlier"],
            &fulfilment["judge"]["cost_usd"]
        ),
        (&json!(1), &json!(1), &json!(0.02))
    );
    let verification = &run["verification"];
    assert_eq!(
        [&verification["terminalStatus"], &verification["next"]],
        [&json!("done_partial"), &json!("accept_partial")]
    );
    assert_eq!(
        [
            &verification["failures"][0]["scope"],
            &verification["baseline"]
        ],
        [&json!("out_of_scope"), &json!("HEAD~1")]
    );
    let failed = project
        .run(["show", "r-1", "--format", "json", "--items", "failed"])
        .json()["runs"][0]
        .clone();
    assert_eq!(
        (
            failed["criteria"].as_array().map(Vec::len),
            &failed["criteria_left_out"]
        ),
        (Some(2), &json!(1))
    );
}

#[test]
fn the_site_has_them_on_the_run_and_over_the_suite() {
    let project = judged();
    project.result(&result("r-2", "s", "b", json!({"status": "completed"})));
    project.items(
        "r-2",
        &[
            criterion("Saves notes", 0, "fail", "nothing is saved"),
            criterion("Lists notes", 0, "pass", "yes"),
        ],
    );
    project.file(
        "results/r-2/scores.jsonl",
        lines([fulfilment(0, Some(50.0), "opus")]),
    );
    project.result(&result("r-3", "s", "b", json!({})));
    project.items("r-3", &[criterion("Saves notes", 0, "pass", "seen")]);
    project.file(
        "results/r-3/scores.jsonl",
        lines([fulfilment(0, Some(100.0), "haiku")]),
    );
    assert_eq!(project.run(["build", "--quiet", "--out", "site"]).code, 0);
    let page = project.read("site/runs/r-1/index.html");
    for expected in [
        "<h2 id=\"criteria\">",
        "save_note writes the file",
        "<details><summary><bdi>efficiency</bdi>: 87.5</summary>",
        "no linter is there",
        "<h2 id=\"verification\">",
        "only out-of-scope failures are left",
        "test_old",
        "../../suites/s/criteria.html",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert!(!page.contains("not found at first"));
    assert!(
        project
            .read("site/suites/s/index.html")
            .contains("suites/s/criteria.html")
    );
    let criteria = project.read("site/suites/s/criteria.html");
    for expected in [
        "requirementFulfillment, judged by claude:opus #01234567",
        "requirementFulfillment, judged by claude:haiku #01234567",
        "../../suites/s/criteria/0001.html#i-saves-notes",
        "0 of 1",
        "1 of 1",
    ] {
        assert!(criteria.contains(expected), "{expected}\n{criteria}");
    }
    let data: Value = serde_json::from_str(&project.read("site/data/suites/s.json")).expect("JSON");
    let judges: Vec<_> = data["criteria"]
        .as_array()
        .expect("tables")
        .iter()
        .map(|table| table["judge"].clone())
        .collect();
    assert_eq!(judges, ["claude:haiku #01234567", "claude:opus #01234567"]);
    assert_eq!(
        data["criteria"][1]["rows"].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(
        data["criteria"][1]["rows"][2]["cells"][0].get("verdicts"),
        None,
        "what was said has a file of its own"
    );
    assert!(
        page.contains("../../suites/s/criteria/0001.html#i-saves-notes"),
        "{page}"
    );
}

#[test]
fn every_criterion_has_its_rates_and_what_was_said_run_by_run() {
    let project = Project::new();
    let run = |id: &str, approach: &str, model: &str, saves: &str, revision: u32| {
        project.result(&result(id, "s", approach, json!({"status": "completed"})));
        project.items(
            id,
            &[
                criterion("Saves notes", revision, saves, &format!("said of {id}")),
                test("t1", "pass"),
            ],
        );
        project.file(
            &format!("results/{id}/scores.jsonl"),
            lines([fulfilment(revision, Some(50.0), model)]),
        );
    };
    for (id, approach, saves) in [
        ("a-1", "a", "pass"),
        ("a-2", "a", "pass"),
        ("a-3", "a", "fail"),
        ("b-1", "b", "fail"),
        ("b-2", "b", "not_evaluated"),
    ] {
        run(id, approach, "opus", saves, 0);
    }
    run("c-1", "a", "haiku", "pass", 1);
    assert_eq!(project.run(["build", "--quiet", "--out", "site"]).code, 0);
    let page = project.read("site/suites/s/criteria/0001.html");
    let (haiku, opus) = page
        .split_once("judged by claude:opus #01234567")
        .expect("both judges, by name");
    assert!(
        haiku.contains("judged by claude:haiku #01234567")
            && haiku.contains("said of c-1")
            && !haiku.contains("said of a-1"),
        "{haiku}"
    );
    for expected in [
        "In more than half of their runs met by a.",
        "Not met by b.",
        // Two of three, by Wilson; none of one.
        "67 [21, 94]",
        "0 [0, 79]",
        "1 not evaluated",
        "../../../runs/a-3/index.html",
        "said of b-2",
        "compare/s/",
    ] {
        assert!(opus.contains(expected), "{expected}\n{opus}");
    }
    let data: Value =
        serde_json::from_str(&project.read("site/data/criteria/s.json")).expect("JSON");
    let arms = &data["criteria"][1]["arms"];
    assert_eq!(
        (&arms[0]["passed"], &arms[0]["total"], &arms[0]["rate"]["n"]),
        (&json!(2), &json!(3), &json!(3))
    );
    assert_eq!(
        (
            &arms[1]["missing"],
            arms[1]["verdicts"].as_array().map(Vec::len)
        ),
        (&json!(1), Some(2))
    );
    assert_eq!(
        data["criteria"][0]["arms"][0]["verdicts"][0]["revision"],
        json!(1)
    );
    assert!(
        project
            .read("site/data/criteria/s.csv")
            .lines()
            .any(|line| line
                .starts_with("Saves notes,requirementFulfillment,claude:opus #01234567,a,"))
    );
    let search = project.read("site/search.html");
    assert!(
        search.contains("suites/s/criteria/0001.html#i-saves-notes"),
        "{search}"
    );
    assert!(
        project
            .read("site/suites/s/index.html")
            .contains("1 criterion; arms disagree on 1")
    );
}

#[test]
fn arms_are_compared_by_criteria_of_one_judge_and_by_outcomes() {
    let run =
        |project: &Project, id: &str, approach: &str, model: &str, saves: &str, status: &str| {
            project.result(&result(
                id,
                "s",
                approach,
                json!({"verification": {"terminalStatus": status}, "batch_id": approach}),
            ));
            project.items(
                id,
                &[
                    criterion("Saves notes", 0, saves, "so"),
                    criterion("Lists notes", 0, "pass", "so"),
                    test("t1", "pass"),
                ],
            );
            project.file(
                &format!("results/{id}/scores.jsonl"),
                lines([fulfilment(0, Some(50.0), model)]),
            );
        };
    let project = Project::new();
    run(&project, "a-1", "a", "opus", "pass", "done_success");
    run(&project, "b-1", "b", "opus", "fail", "not_done");
    run(&project, "b-2", "b", "opus", "fail", "done_partial");
    let output = project.run_in(["compare", "s", "--explain"], &[("COLUMNS", "240")]);
    let text = output.answer();
    for expected in [
        "On 2 shared criteria, judged by claude:opus #01234567: both met 1, only a 1, only b 0, neither 0.",
        "Only a met: Saves notes.",
        "Verification of the runs: a 1 done success; b 1 done partial, 1 not done.",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let compared =
        project.run(["compare", "s", "--format", "json"]).json()["comparisons"][0].clone();
    assert_eq!(compared["criteria"]["only_first"], json!(["Saves notes"]));
    assert_eq!(
        compared["arms"][1]["verification"],
        json!({"done_partial": 1, "not_done": 1})
    );
    let board = project.run_in(["leaderboard", "s"], &[("COLUMNS", "300")]);
    assert!(
        board.answer().contains("1 done partial, 1 not done"),
        "{}",
        board.stdout
    );

    run(&project, "b-2", "b", "haiku", "fail", "done_partial");
    let output = project.run_in(["compare", "s", "--explain"], &[("COLUMNS", "240")]);
    assert!(
        output.answer().contains("Criteria not compared: different judges (claude:haiku #01234567, claude:opus #01234567)."),
        "{}",
        output.stdout
    );
}

#[test]
fn a_run_without_any_of_it_says_nothing_of_it() {
    let project = Project::with(&[result("r-1", "s", "a", json!({}))]);
    project.items("r-1", &[test("t1", "pass")]);
    let output = project.run(["show", "r-1"]);
    for absent in ["Criteria", "Evaluators", "Verification"] {
        assert!(!output.answer().contains(absent), "{}", output.stdout);
    }
    let run = project.run(["show", "r-1", "--format", "json"]).json()["runs"][0].clone();
    for key in ["criteria", "criteria_count", "evaluators", "verification"] {
        assert_eq!(run.get(key), None, "{key}");
    }
    project.run(["build", "--quiet", "--out", "site"]);
    let page = project.read("site/runs/r-1/index.html");
    assert!(
        !page.contains("id=\"criteria\"")
            && !page.contains("id=\"verification\"")
            && !page.contains("<details>")
    );
    assert!(!project.path("site/suites/s/criteria.html").exists());
    assert!(
        !project
            .run(["leaderboard", "s"])
            .answer()
            .contains("Verification")
    );
}

#[test]
fn hostile_words_are_only_words() {
    let mut verification = verification();
    for key in [
        "goal",
        "reason",
        "terminalStatus",
        "next",
        "stack",
        "profile",
        "manual",
    ] {
        verification[key] = json!(HOSTILE);
    }
    for key in ["command", "reason", "outcome", "message"] {
        verification["checks"][0][key] = json!(HOSTILE);
    }
    for key in ["text", "test", "reason", "scope"] {
        verification["failures"][0][key] = json!(HOSTILE);
    }
    let project = Project::with(&[result(
        "r-1",
        "s",
        "a",
        json!({"verification": verification}),
    )]);
    project.items("r-1", &[criterion(HOSTILE, 0, "fail", HOSTILE)]);
    let mut score = fulfilment(0, None, HOSTILE);
    for key in ["not_evaluated", "reasoning"] {
        score[key] = json!(HOSTILE);
    }
    score["details"] = json!({HOSTILE: HOSTILE});
    score["judge"]["agent"] = json!(HOSTILE);
    project.file("results/r-1/scores.jsonl", lines([score]));
    for format in ["table", "markdown", "csv"] {
        for arguments in [
            vec!["show", "r-1"],
            vec!["leaderboard", "s"],
            vec!["compare", "s"],
        ] {
            let output = project.run(arguments.into_iter().chain(["--format", format]));
            assert!(
                !output.answer().contains(['\u{1b}', '\u{202e}']),
                "{format}: {}",
                output.stdout
            );
        }
    }
    assert_eq!(project.run(["build", "--quiet", "--out", "site"]).code, 0);
    for path in project
        .files("site")
        .iter()
        .filter(|path| path.strip_suffix(".html").is_some())
    {
        let path = if path.starts_with("site") {
            path.clone()
        } else {
            format!("site/{path}")
        };
        let page = project.read(&path);
        assert!(
            !page.contains("<script>alert") && !page.contains(['\u{1b}', '\u{202e}']),
            "{path}"
        );
    }
}

#[test]
fn a_verification_of_another_shape_harms_nothing() {
    for odd in [
        json!("passed"),
        json!([1, 2]),
        json!({"checks": {"a": 1}, "failures": "none", "goal": 3}),
        json!(null),
    ] {
        let project = Project::with(&[result("r-1", "s", "a", json!({"verification": odd}))]);
        assert!(
            !project
                .run(["show", "r-1"])
                .answer()
                .contains("Verification"),
            "{odd}"
        );
    }
}

/// A store in which a judge and a check spoke three times, their lines in the given orders of revisions. The judge's last revision has no
/// score: it was never finished.
fn spoken_in(items: [u32; 4], scores: [u32; 3]) -> Project {
    let statuses = |revision: u32| {
        [
            ["fail", "pass"],
            ["pass", "not_evaluated"],
            ["pass", "fail"],
            ["fail", "fail"],
        ][revision as usize]
    };
    let check = |revision: u32| {
        let status = ["fail", "fail", "pass", "pass"][revision as usize];
        json!({"item": "lint", "kind": "check", "evaluator": "checks", "attempt": 1, "revision": revision.min(2), "status": status})
    };
    let arm = |run: &str, approach: &str| {
        result(
            run,
            "s",
            approach,
            json!({"timestamp": "2026-03-01T10:00:00Z"}),
        )
    };
    let project = Project::with(&[arm("r-1", "a"), arm("r-2", "b")]);
    for run in ["r-1", "r-2"] {
        let of = |revision: u32| {
            let [saves, lists] = statuses(revision);
            [
                criterion("Saves", revision, saves, &format!("said {revision}")),
                criterion("Lists", revision, lists, "read"),
                check(revision),
            ]
        };
        // A line of a revision that came twice would be damage.
        let lines_of: Vec<Value> = items
            .into_iter()
            .flat_map(of)
            .filter(|line| !(line["kind"] == "check" && line["revision"] == 2))
            .collect();
        project.items(run, &[lines_of, vec![check(2)]].concat());
        let score = |revision: u32| {
            fulfilment(
                revision,
                Some(f64::from(revision) * 10.0 + 20.0),
                &format!("m{revision}"),
            )
        };
        project.file(
            &format!("results/{run}/scores.jsonl"),
            lines(scores.map(score)),
        );
    }
    project
}

#[test]
fn what_stands_is_the_same_on_every_surface_and_in_any_order_of_arrival() {
    let answers = |project: &Project| -> Vec<Value> {
        let shown = project.run(["show", "r-1", "--format", "json"]).json()["runs"][0].clone();
        let sql = "select run_id, kind, item, revision, status from items where standing order by 1, 2, 3";
        let criteria = shown["criteria"].as_array().expect("criteria").clone();
        for row in &criteria {
            assert_eq!(row["revision"], json!(2), "{row}");
        }
        assert_eq!(shown["evaluators"][0]["judge"]["model"], json!("m2"));
        let table = project.run(["compare", "s", "--format", "json"]).json();
        let of_metric = |name: &str| {
            let row = table["comparisons"][0]["rows"]
                .as_array()
                .expect("rows")
                .iter()
                .find(|row| row["metric"]["name"] == name);
            row.unwrap_or_else(|| panic!("{name}: {table}")).clone()
        };
        assert_eq!(
            of_metric("requirementFulfillment")["cells"][0]["value"],
            json!(40.0)
        );
        let standing = project.run(["sql", sql, "--format", "json"]).json();
        assert_eq!(
            standing["rows"].as_array().expect("rows").len(),
            6,
            "{standing}"
        );
        assert_eq!(project.run(["build", "--quiet", "--out", "site"]).code, 0);
        let pages: String = project
            .files("site")
            .iter()
            .filter(|path| path.contains("r-1") && path.strip_suffix(".html").is_some())
            .map(|path| project.read(path))
            .collect();
        assert!(pages.contains("said 2") && !pages.contains("said 1") && !pages.contains("said 3"));
        assert_eq!(
            project.run(["export", "json", "all.json", "--quiet"]).code,
            0
        );
        let exported: Value = serde_json::from_str(&project.read("all.json")).expect("JSON");
        vec![
            json!([shown["evaluators"], criteria, shown["items"]]),
            table,
            standing,
            json!(pages),
            exported["items"].clone(),
        ]
    };
    let expected = answers(&spoken_in([0, 1, 2, 3], [0, 1, 2]));
    for (items, scores) in [
        ([3, 2, 1, 0], [2, 1, 0]),
        ([1, 2, 0, 3], [2, 0, 1]),
        ([2, 3, 0, 1], [0, 2, 1]),
        ([0, 1, 2, 3], [2, 1, 0]),
    ] {
        for (one, other) in answers(&spoken_in(items, scores))
            .into_iter()
            .zip(&expected)
        {
            assert_eq!(one, *other, "{items:?} {scores:?}");
        }
    }
}
