//! The program that a site carries finds every number of the site, whatever its runs know.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Project, question, result};

#[track_caller]
fn holds(project: &Project) {
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    let path = std::env::var("PATH").unwrap_or_default();
    let verify = project.output(
        Command::new("python3")
            .arg("site/verify_site.py")
            .env("PATH", path),
    );
    assert!(
        verify.code == 0 && verify.stdout.ends_with("\n0 mismatches\n"),
        "{}{}",
        verify.stdout,
        verify.stderr
    );
}

/// Leaderboards of others often have rates and nothing else, of several runs of an arm.
#[test]
fn rates_that_are_only_stated() {
    needs!("python3");
    let run = |id: &str, approach: &str, rate: f64, n: Option<u64>| {
        let score = json!({"metric": "pass_rate", "value": rate, "unit": "fraction", "direction": "up", "n": n});
        result(id, "board", approach, json!({"scores": [score]}))
    };
    let runs = [
        run("a-1", "a", 0.825, Some(133)),
        run("a-2", "a", 0.797, Some(133)),
        run("a-3", "a", 0.850, None),
        run("b-1", "b", 0.5, None),
        run("c-1", "c", 1.0, Some(133)),
    ];
    let counted = result(
        "d-1",
        "board",
        "d",
        json!({"shared_tests_passed": 100, "shared_tests_total": 133}),
    );
    holds(&Project::with(
        &runs.into_iter().chain([counted]).collect::<Vec<_>>(),
    ));
}

/// What is independent in a run is neither an attempt nor what a judge says, but an item, or a cluster of them.
#[test]
fn intervals_of_single_runs() {
    needs!("python3");
    let judged = |item: u64, judge: &str, status: &str| json!({"item": format!("q{item}"), "kind": "question", "evaluator": judge, "status": status});
    let status = |passes: bool| if passes { "pass" } else { "fail" };
    let (several, repeated, clustered, same): (Vec<Value>, Vec<Value>, Vec<Value>, Vec<Value>) = (
        (0..20)
            .flat_map(|item| {
                [
                    judged(item, "x", status(item % 3 > 0)),
                    judged(item, "y", status(item % 4 > 0)),
                ]
            })
            .collect(),
        (0..20)
            .flat_map(|item| {
                (1..=3).map(move |attempt| {
                    question(
                        &format!("q{item}"),
                        attempt,
                        status(item % (attempt + 1) > 0),
                    )
                })
            })
            .collect(),
        (0..20)
            .map(|item| {
                let mut line = question(&format!("q{item}"), 1, status(item % 3 > 0));
                line["cluster"] = json!(format!("c{}", item / 4));
                line
            })
            .collect(),
        (0..20)
            .flat_map(|item| {
                (1..=3).map(move |attempt| question(&format!("q{item}"), attempt, "pass"))
            })
            .collect(),
    );
    for (suite, items) in [
        ("several", several),
        ("repeated", repeated),
        ("clustered", clustered),
        ("same", same),
    ] {
        let project = Project::new();
        for approach in ["a", "b"] {
            project
                .result(&result(approach, suite, approach, json!({})))
                .items(approach, &items);
        }
        holds(&project);
    }
}

/// Totals of tasks have no items to average, means of shares end at 0 and 1, and the interval of seconds is that of a median.
#[test]
fn totals_of_several_runs() {
    needs!("python3");
    let run = |suite: &str, approach: &str, number: u64, passed: u64, more: Value| {
        let mut fields = json!({"shared_tests_passed": passed, "shared_tests_total": 20});
        fields
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        result(
            &format!("{suite}-{approach}-{number}"),
            suite,
            approach,
            fields,
        )
    };
    let tasks = [("x", 11), ("x", 12), ("y", 12), ("y", 13)];
    let tests = [("x", 1), ("x", 2), ("y", 19), ("y", 20)];
    let seconds = |value: f64| json!({"scores": [{"metric": "wait", "value": value, "unit": "seconds", "direction": "down"}]});
    let mut runs: Vec<Value> = Vec::new();
    for (number, (approach, passed)) in (0..).zip(tasks) {
        runs.push(run(
            "tasks",
            approach,
            number,
            passed,
            json!({"counted": "task"}),
        ));
    }
    for (number, (approach, passed)) in (0..).zip(tests) {
        runs.push(run("tests", approach, number, passed, json!({})));
    }
    for number in 0..17 {
        runs.push(run(
            "waits",
            "x",
            number,
            10,
            seconds(14.6 + (number * number % 11) as f64),
        ));
        runs.push(run("waits", "y", number, 11, seconds(15.6)));
    }
    holds(&Project::with(&runs));
}

/// Tokens of one run each are compared item by item, which the sums of the runs cannot give.
#[test]
fn tokens_of_single_runs() {
    needs!("python3");
    let project = Project::new();
    for (approach, factor) in [("a", 10), ("b", 12)] {
        let items: Vec<Value> = (0..40)
            .map(|item| {
                let mut line = question(
                    &format!("q{item}"),
                    1,
                    if item % 3 > 0 { "pass" } else { "fail" },
                );
                line["input_tokens"] = json!(factor * (item % 7 + 1));
                line["output_tokens"] = json!(factor + item % 5);
                line
            })
            .collect();
        project
            .result(&result(approach, "tokens", approach, json!({})))
            .items(approach, &items);
    }
    holds(&project);
}
