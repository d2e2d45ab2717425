//! An item is what was asked, whoever judged it: more judges make no more items, and no more evidence.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{Project, result};

const ITEMS: u64 = 60;

/// Whether an arm passes an item: drawn once for each seed, the same whoever judges.
fn passes(seed: u64, arm: u64, item: u64) -> bool {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ arm.wrapping_mul(0xd1b5_4a32_d192_ed03)
        ^ item.wrapping_mul(0x2545_f491_4f6c_dd1d);
    for _ in 0..3 {
        state ^= state >> 31;
        state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    (state >> 33) % 10 < 5 + arm
}

/// Two arms of which these judges say the same of every item; `silent` leaves one outcome of the second arm's last judge out.
fn project(seed: u64, judges: &[&str], silent: bool) -> Project {
    let project = Project::new();
    for (arm, name) in [(0, "a"), (1, "b")] {
        let mut lines = String::new();
        for item in 0..ITEMS {
            let status = if passes(seed, arm, item) {
                "pass"
            } else {
                "fail"
            };
            for judge in judges {
                if !(silent && arm == 1 && item == 0 && *judge == judges[judges.len() - 1]) {
                    let line = json!({"item": format!("q{item}"), "kind": "question", "evaluator": judge, "status": status});
                    writeln!(lines, "{line}").expect("text");
                }
            }
        }
        project
            .result(&result(name, "quiz", name, json!({})))
            .file(&format!("results/{name}/items.jsonl"), lines);
    }
    project
}

fn json_of(project: &Project, arguments: &[&str]) -> Value {
    project
        .run(arguments.iter().copied().chain(["--format", "json"]))
        .json()
}

#[test]
fn a_second_judge_who_agrees_changes_nothing() {
    for seed in 1..4 {
        let [one, two] = [&["x"][..], &["x", "y"]].map(|judges| project(seed, judges, false));
        let [alone, both] = [&one, &two]
            .map(|project| json_of(project, &["compare", "quiz"])["comparisons"][0].clone());
        assert_eq!(
            alone["comparability"][0]["items"],
            both["comparability"][0]["items"]
        );
        let [alone, both] =
            [alone, both].map(|comparison| comparison["rows"][0]["evidence"]["pairs"][0].clone());
        for field in ["sizes", "verdict", "record"] {
            assert_eq!(alone[field], both[field], "{field}");
        }
        assert_eq!(alone["difference"]["value"], both["difference"]["value"]);
        // A run's own interval is the leaderboard's, not one of twice as many outcomes.
        for project in [&one, &two] {
            let board = json_of(project, &["leaderboard", "quiz", "--approach", "a"]);
            let shown = json_of(project, &["show", "a"]);
            let (rate, run) = (
                &board["suites"][0]["entries"][0]["pass_rate"],
                &shown["runs"][0]["interval"],
            );
            for end in ["low", "high"] {
                let [rate, run] =
                    [&rate["interval"][end], &run[end]].map(|end| end.as_f64().expect("a number"));
                assert!(
                    (rate - run).abs() < 1e-12,
                    "{end}: {rate} on the board, {run} of the run"
                );
            }
        }
    }
}

#[test]
fn an_item_is_shared_where_one_judge_speaks_about_both_arms() {
    let project = project(1, &["x", "y"], true);
    let comparison = &json_of(&project, &["compare", "quiz"])["comparisons"][0];
    let items = &comparison["comparability"][0]["items"];
    assert_eq!(
        (&items["shared"], &items["of"]),
        (&json!(ITEMS), &json!(ITEMS)),
        "{items}"
    );
    let output = project.run(["compare", "quiz"]);
    assert!(
        output.stdout.contains("(60 shared items, 1 run each)"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_second_evaluator_of_every_outcome_changes_no_surface() {
    let status =
        |seed: u64, arm: u64, run: u64, item: u64| match (seed + 3 * arm + 5 * run + 7 * item) % 11
        {
            0 => "infra",
            1 => "error",
            2 => "skipped",
            _ if passes(seed + 10 * run, arm, item) => "pass",
            _ => "fail",
        };
    let made = |seed: u64, judges: &[&str]| {
        let project = Project::new();
        for (arm, name) in [(0, "a"), (1, "b"), (2, "c")] {
            for run in 0..=seed % 3 {
                let id = format!("{name}-{run}");
                let mut lines = String::new();
                // An arm lacks some items, and one has several attempts.
                for item in (0..ITEMS).filter(|item| arm != 2 || item % 9 != 0) {
                    for attempt in 1..=1 + arm % 2 {
                        for judge in judges {
                            let line = json!({"item": format!("q{item}"), "kind": "question", "evaluator": judge, "attempt": attempt,
                                "status": status(seed, arm, run + attempt, item)});
                            writeln!(lines, "{line}").expect("text");
                        }
                    }
                }
                project
                    .result(&result(&id, "quiz", name, json!({"run_index": run})))
                    .file(&format!("results/{id}/items.jsonl"), lines);
            }
        }
        project
    };
    for seed in 1..5 {
        let [one, two] = [&["x"][..], &["x", "y"]].map(|judges| made(seed, judges));
        let rates = |project: &Project| -> Vec<Value> {
            let board = json_of(project, &["leaderboard", "quiz"]);
            board["suites"][0]["entries"]
                .as_array()
                .expect("entries")
                .iter()
                .map(|entry| entry["pass_rate"].clone())
                .collect()
        };
        assert_eq!(rates(&one), rates(&two), "seed {seed}");
        let evidence = |project: &Project| -> Vec<Value> {
            let comparison = json_of(project, &["compare", "quiz"])["comparisons"][0].clone();
            let pairs = comparison["rows"][0]["evidence"]["pairs"]
                .as_array()
                .expect("pairs")
                .iter();
            pairs
                .map(|pair| json!([pair["sizes"], pair["verdict"], pair["record"]]))
                .collect()
        };
        assert_eq!(evidence(&one), evidence(&two), "seed {seed}");
        for arguments in [
            &["compare", "quiz"][..],
            &["leaderboard", "quiz"],
            &["list", "--runs"],
        ] {
            let [alone, both] =
                [&one, &two].map(|project| project.run(arguments.iter().copied()).stdout);
            assert_eq!(alone, both, "seed {seed}: {arguments:?}");
        }
        if seed > 1 {
            continue;
        }
        let [alone, both] = [&one, &two].map(|project| {
            assert_eq!(project.run(["build", "--out", "site", "--quiet"]).code, 0);
            let pages = project.files("site").into_iter().filter(|page| {
                page.ends_with("/items/index.html") || page.ends_with("quiz/index.html")
            });
            pages
                .map(|page| (page.clone(), counts_of(&project.read(&page))))
                .collect::<Vec<_>>()
        });
        assert!(
            alone.iter().any(|(_, counts)| counts
                .iter()
                .any(|count| count == &format!("{ITEMS} questions"))),
            "{alone:?}"
        );
        assert_eq!(alone, both);
    }
}

/// Every `N questions` of a page.
fn counts_of(page: &str) -> Vec<String> {
    let words: Vec<&str> = page
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(2)
        .filter(|pair| {
            pair[1] == "questions" && pair[0].chars().all(|letter| letter.is_ascii_digit())
        })
        .map(|pair| pair.join(" "))
        .collect()
}

#[test]
fn arms_that_different_judges_judged_lack_nothing() {
    let project = Project::new();
    for (arm, name, judge) in [(0, "a", "x"), (1, "b", "y")] {
        let mut lines = String::new();
        for item in (0..ITEMS).filter(|item| arm == 0 || *item > 2) {
            let status = if passes(1, arm, item) { "pass" } else { "fail" };
            let line = json!({"item": format!("q{item}"), "kind": "question", "evaluator": judge, "status": status});
            writeln!(lines, "{line}").expect("text");
        }
        project
            .result(&result(name, "quiz", name, json!({})))
            .file(&format!("results/{name}/items.jsonl"), lines);
    }
    let board = json_of(&project, &["leaderboard", "quiz"]);
    let mut missing: Vec<(String, u64)> = board["suites"][0]["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| {
            (
                entry["approach"].as_str().expect("a name").to_owned(),
                entry["pass_rate"]["missing"].as_u64().expect("a count"),
            )
        })
        .collect();
    missing.sort();
    assert_eq!(missing, [("a".to_owned(), 0), ("b".to_owned(), 3)]);
}

#[test]
fn judges_who_disagree_are_averaged() {
    let project = Project::new();
    for (name, passing) in [("a", 40), ("b", 20)] {
        let mut lines = String::new();
        for item in 0..ITEMS {
            for (judge, most) in [("x", passing), ("y", passing - 1)] {
                let status = if item < most { "pass" } else { "fail" };
                let line = json!({"item": format!("q{item}"), "kind": "question", "evaluator": judge, "status": status});
                writeln!(lines, "{line}").expect("text");
            }
        }
        project
            .result(&result(name, "quiz", name, json!({})))
            .file(&format!("results/{name}/items.jsonl"), lines);
    }
    let rate = &json_of(&project, &["leaderboard", "quiz"])["suites"][0]["entries"][0]["pass_rate"];
    assert!(
        (rate["value"].as_f64().expect("a rate") - 39.5 / 60.0).abs() < 1e-12,
        "{rate}"
    );
    assert_eq!(
        (&rate["n"], &rate["passed"], &rate["total"]),
        (&json!(60), &Value::Null, &Value::Null),
        "no number of items passed"
    );
}

#[test]
fn a_column_of_judges_is_the_evaluator_of_the_items() {
    for column in [
        "judge",
        "evaluator",
        "grader_model",
        "rater",
        "annotator",
        "scored_by",
    ] {
        let project = Project::new();
        let mut rows = format!("approach,model,item,{column},correct\n");
        for item in 0..ITEMS {
            for (arm, name) in [(0, "a"), (1, "b")] {
                for judge in ["gpt", "claude"] {
                    writeln!(
                        rows,
                        "{name},m,q{item},{judge},{}",
                        u64::from(passes(1, arm, item))
                    )
                    .expect("text");
                }
            }
        }
        project.file("t.csv", &rows);
        let said = project.run(["import", "t.csv", "--yes"]);
        assert_eq!(said.code, 0, "{column}: {}", said.stderr);
        assert!(
            said.stderr.contains(&format!("evaluator: {column}")),
            "{column}: {}",
            said.stderr
        );
        let board = json_of(&project, &["leaderboard"]);
        assert_eq!(
            board["suites"][0]["entries"][0]["pass_rate"]["total"], ITEMS,
            "{column}: {board:#}"
        );
    }
    // Another title is named by an option.
    let project = Project::new();
    project.file(
        "t.csv",
        "approach,model,item,who,correct\na,m,q1,x,1\na,m,q1,y,0\na,m,q2,x,1\na,m,q2,y,1\n",
    );
    assert_eq!(
        project
            .run(["import", "t.csv", "--evaluator", "who", "--yes"])
            .code,
        0
    );
    let board = json_of(&project, &["leaderboard"]);
    assert_eq!(
        board["suites"][0]["entries"][0]["pass_rate"]["value"], 0.75,
        "{board:#}"
    );
}
