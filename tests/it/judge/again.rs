//! Stored runs, judged again.

use std::fs;

use serde_json::{Value, json};

use super::Judged;
use crate::support::result;

#[test]
fn another_judge_is_another_revision_and_the_old_one_stays() {
    let judged = Judged::new("{agent: words}", "");
    let (one, other) = (judged.run(), judged.run());
    let header = judged.project.read(&format!("results/{one}.json"));
    let (items, scores) = (judged.criteria(&one), judged.scores(&one));
    assert_eq!(
        judged.shown(&one),
        [
            ("it says hello".to_owned(), "pass".to_owned()),
            ("it says goodbye".to_owned(), "fail".to_owned())
        ]
    );

    // A first look at the store fills the cache; what is appended later has to be noticed.
    judged.project.run(["leaderboard"]).answer();
    let answer = judged.judged(&[&one, "--judge", "none"], 0);
    let run = &answer["runs"][0];
    assert_eq!(
        (&run["before"], &run["after"], &run["revision"]),
        (&json!(50.0), &json!(0.0), &json!(1))
    );
    let flips: Vec<_> = run["flips"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|flip| &flip["item"])
        .collect();
    assert_eq!(flips, ["it says hello"]);
    assert!(
        run["judge_before"]
            .as_str()
            .expect("judged")
            .starts_with("words #"),
        "{run}"
    );
    assert_eq!(judged.criteria(&one)[..2], items);
    assert_eq!(judged.scores(&one)[..1], scores);
    assert_eq!(judged.project.read(&format!("results/{one}.json")), header);
    assert_eq!(
        judged.shown(&one),
        [
            ("it says hello".to_owned(), "fail".to_owned()),
            ("it says goodbye".to_owned(), "fail".to_owned())
        ]
    );

    let board = judged
        .project
        .run(["leaderboard", "--format", "json"])
        .json();
    assert_eq!(
        board
            .pointer("/suites/0/entries/0/pass_rate/passed")
            .or(board.pointer("/suites/0/entries/0/passed")),
        Some(&json!(1)),
        "{board}"
    );
    let rows = judged
        .project
        .run([
            "sql",
            "select metric, revision, evaluator from scores order by run_id, revision",
            "--format",
            "csv",
        ])
        .column("revision");
    assert_eq!(
        rows.iter().filter(|revision| *revision == "1").count(),
        1,
        "{rows:?}"
    );
    judged.judged(&[&other, "--judge", "none"], 0);
    assert_eq!(judged.project.run(["doctor"]).code, 0);
}

#[test]
fn a_revision_that_was_killed_before_its_score_counts_for_nothing() {
    let judged = Judged::new("{agent: words}", "");
    let id = judged.run();
    let path = judged.project.path(&format!("results/{id}/scores.jsonl"));
    let before = fs::read(&path).expect("it was judged");
    judged.judged(&[&id, "--judge", "none"], 0);
    let whole = fs::read(&path).expect("it was judged again");

    for left in [before.len(), before.len() + 20] {
        fs::write(&path, &whole[..left]).expect("writable");
        judged.project.run(["list"]);
        assert_eq!(
            judged.shown(&id)[0],
            ("it says hello".to_owned(), "pass".to_owned()),
            "{left}"
        );
        let board = judged.project.run(["leaderboard", "--format", "csv"]);
        assert!(board.stdout.contains("50"), "{}", board.stdout);
        let doctor = judged.project.run(["doctor"]);
        assert!(
            doctor.stdout.contains("note: ")
                && doctor
                    .stdout
                    .contains("revision 1 of `requirementFulfillment` was not finished"),
            "{}",
            doctor.stdout
        );
        assert_eq!(
            doctor.code,
            i32::from(left > before.len()),
            "half a line is damage: {}",
            doctor.stdout
        );
        assert_eq!(standing(&judged, "items"), ["0", "0"], "{left}");
    }
    let answer = judged.judged(&[&id, "--judge", "first"], 0);
    assert_eq!(answer["runs"][0]["revision"], 2);
    assert_eq!(judged.shown(&id)[0].1, "pass");
    assert_eq!(
        judged
            .project
            .run(["doctor"])
            .stdout
            .matches("not finished")
            .count(),
        0
    );
    assert_eq!(
        (standing(&judged, "items"), standing(&judged, "scores")),
        (vec!["2".to_owned(); 2], vec!["2".to_owned()])
    );
    let all = judged.project.run([
        "sql",
        "select count(*) as n from items where kind = 'criterion'",
        "--format",
        "csv",
    ]);
    assert_eq!(all.column("n"), ["6"], "every revision is a row");
}

/// The revisions of the rows that count, as a query sees them.
fn standing(judged: &Judged, table: &str) -> Vec<String> {
    let what = if table == "items" {
        "evaluator"
    } else {
        "metric"
    };
    let query = format!(
        "select revision from {table} where standing and {what} = 'requirementFulfillment' order by revision"
    );
    judged
        .project
        .run(["sql", &query, "--format", "csv"])
        .column("revision")
}

#[test]
fn what_stood_and_what_is_asked_again_make_one_tree() {
    let judged = Judged::new("{agent: words}", "");
    let hello = "{criterion: it says hello, weight: 3}";
    judged.suite(
        &[hello, "{criterion: more, children: [it says goodbye]}"],
        "",
    );
    let id = judged.run();
    assert_eq!(judged.scores(&id)[0]["value"], 75.0);
    judged.suite(&[hello, "{criterion: more, children: [it says goodbye, {criterion: it really says hello, weight: 4}]}"], "");
    let answer = judged.judged(&["--retry"], 0);
    assert_eq!(
        (&answer["runs"][0]["after"], &answer["runs"][0]["kept"]),
        (&json!(95.0), &json!(2))
    );
    assert_eq!(judged.asked()[1..], [json!(["it really says hello"])]);
    let details = &judged.scores(&id)[1]["details"];
    assert_eq!(
        (
            &details["weighted"],
            &details["passedCount"],
            &details["totalCount"]
        ),
        (&json!(true), &json!(2), &json!(3))
    );
    assert_eq!(
        details["tree"],
        json!([
            {"criterion": "it says hello", "weight": 3.0, "score": 100.0},
            {"criterion": "more", "weight": 1.0, "score": 80.0, "children": [
                {"criterion": "it says goodbye", "weight": 1.0, "score": 0.0},
                {"criterion": "it really says hello", "weight": 4.0, "score": 100.0}
            ]}
        ])
    );
    assert_eq!(
        details["criteria"][0],
        json!({"criterion": "it says hello", "passed": true, "reasoning": "words says so"})
    );
}

#[test]
fn a_question_that_failed_is_the_only_one_that_is_asked_again() {
    let judged = Judged::new(
        "{agent: taped}",
        "  - {id: taped, type: replay, file: taped.jsonl}\n",
    );
    judged.suite(
        &["it says hello", "it says goodbye"],
        "evaluators: {requirementFulfillment: {criteria_per_question: 1}}\n",
    );
    let tape = |item: &str, text: &str| {
        json!({"item": format!("s/requirementFulfillment{item}"), "answer": text}).to_string()
            + "\n"
    };
    let passes = r#"[{"criterion": "1", "passed": true, "reasoning": "on tape"}]"#;
    judged.project.file(
        "taped.jsonl",
        tape("", passes) + &tape("#2", "I would rather not say"),
    );
    let id = judged.run();
    let score = &judged.scores(&id)[0];
    assert!(
        score.get("value").is_none()
            && score["not_evaluated"]
                .as_str()
                .expect("why")
                .starts_with("1 of 2 were not decided"),
        "{score}"
    );
    assert_eq!(
        judged.shown(&id),
        [
            ("it says hello".to_owned(), "pass".to_owned()),
            ("it says goodbye".to_owned(), "not_evaluated".to_owned())
        ]
    );

    judged
        .project
        .file("taped.jsonl", tape("", &passes.replace("true", "false")));
    let answer = judged.judged(&["--retry"], 0);
    assert_eq!(
        (&answer["runs"][0]["kept"], &answer["runs"][0]["after"]),
        (&json!(1), &json!(50.0))
    );
    assert_eq!(
        judged.shown(&id),
        [
            ("it says hello".to_owned(), "pass".to_owned()),
            ("it says goodbye".to_owned(), "fail".to_owned())
        ]
    );
}

#[test]
fn an_imported_run_is_judged_by_what_came_with_it() {
    let judged = Judged::new("{agent: words}", "");
    let leaf =
        |id: &str| json!({"id": id, "requirements": id, "weight": 1, "score": 1, "sub_tasks": []});
    let tree = json!({"id": "root", "requirements": "all", "weight": 1, "score": 1, "sub_tasks": [leaf("b"), leaf("c")]});
    judged.project.file("graded.json", tree.to_string());
    let names = [
        "--set",
        "suite=study",
        "--set",
        "approach=a",
        "--set",
        "model=m",
    ];
    let report = judged
        .project
        .run(
            [
                "import",
                "graded.json",
                "--as",
                "rubric",
                "--format",
                "json",
            ]
            .iter()
            .chain(&names)
            .copied(),
        )
        .json();
    let id = report["sources"][0]["runs_new"][0]
        .as_str()
        .expect("a run")
        .to_owned();
    let from = json!({"provenance": {"importer": "by hand", "file": "log.txt", "sha256": ""}});
    judged
        .project
        .result(&result("with-transcript", "s", "a", from.clone()));
    judged
        .project
        .result(&result("with-nothing", "s", "a", from));
    judged
        .project
        .file("results/with-transcript/items.jsonl", "");
    let said = json!({"entry": {"role": "assistant", "content": "it says goodbye"}}).to_string();
    judged
        .project
        .file("results/with-transcript/transcript.jsonl", said + "\n");

    let answer = judged.judged(&["--approach", "a"], 0);
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(
        (&answer["runs"][0]["run"], &answer["runs"][0]["after"]),
        (&json!("with-transcript"), &json!(50.0))
    );
    let skipped = answer["skipped"].as_array().expect("a list");
    let reason = |run: &str| {
        skipped
            .iter()
            .find(|one| one["run"] == run)
            .expect("it is named")["reason"]
            .as_str()
            .expect("text")
    };
    assert_eq!(
        reason(&id),
        "there is no suite `study` with acceptance criteria; to have its answers judged, write suites/study/suite.yaml with `name: study` and \
         `acceptance_criteria`"
    );
    assert_eq!(
        reason("with-nothing"),
        "it was imported with neither what it made nor a transcript"
    );
}

#[test]
fn a_new_criterion_is_the_only_one_that_the_same_judge_is_asked_about() {
    let judged = Judged::new("{agent: words}", "");
    let id = judged.run();
    judged.suite(
        &["it says hello", "it says goodbye", "it really says hello"],
        "",
    );
    let answer = judged.judged(&["--retry"], 0);
    let run = &answer["runs"][0];
    assert_eq!(
        (
            &run["kept"],
            &run["passed"],
            &run["criteria"],
            &run["after"]
        ),
        (&json!(2), &json!(2), &json!(3), &json!(66.7))
    );
    assert_eq!(judged.asked()[1..], [json!(["it really says hello"])]);
    assert_eq!(judged.shown(&id).len(), 3);
    // Another judge has decided nothing yet, so it is asked about everything.
    judged.suite(
        &[
            "it says hello",
            "it says goodbye",
            "it really says hello",
            "it still says hello",
        ],
        "",
    );
    judged.judged(&["--retry", "--judge", "first"], 0);
    assert_eq!(judged.asked()[2].as_array().map(Vec::len), Some(4));
}

#[test]
fn what_cannot_be_judged_is_said_and_left_out() {
    let judged = Judged::new("{agent: words}", "");
    let id = judged.run();
    judged
        .project
        .result(&result("no-suite", "gone", "a", json!({})));
    judged
        .project
        .result(&result("no-output", "s", "a", json!({})));
    judged.project.result(&result(
        "outage-1",
        "s",
        "a",
        json!({"status": "infra", "files_generated": 0}),
    ));
    let answer = judged.judged(&["--approach", "a"], 0);
    let runs: Vec<_> = answer["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| run["run"].clone())
        .collect();
    assert_eq!(runs, [json!(id)]);
    let reason = |run: &str| {
        let skipped = answer["skipped"].as_array().expect("a list");
        skipped
            .iter()
            .find(|skipped| skipped["run"] == run)
            .expect("it is named")["reason"]
            .as_str()
            .expect("a reason")
            .to_owned()
    };
    assert!(
        reason("no-suite").contains("there is no suite"),
        "{}",
        reason("no-suite")
    );
    assert_eq!(reason("no-output"), "what it made was not kept");
    assert!(reason("outage-1").contains("outage"));
}

#[test]
fn a_dry_run_asks_nobody() {
    let judged = Judged::new("{agent: words}", "");
    let id = judged.run();
    let asked = judged.asked().len();
    let answer = judged.judged(&[&id, "--dry-run", "--judge", "none"], 0);
    assert_eq!(
        (
            &answer["is_dry"],
            &answer["runs"][0]["judge"],
            &answer["runs"][0]["before"]
        ),
        (&json!(true), &json!("none"), &json!(50.0))
    );
    assert_eq!((judged.asked().len(), judged.scores(&id).len()), (asked, 1));
    let table = judged.judge(&[&id, "--dry-run"]);
    assert!(
        table.answer().contains("To be judged") && !table.stdout.contains("After"),
        "{}",
        table.stdout
    );
}

#[test]
fn votes_are_asked_and_counted() {
    let judged = Judged::new("{agent: words}", "");
    let id = judged.run();
    judged.judged(&[&id, "--votes", "3"], 0);
    let scores = judged.scores(&id);
    assert_eq!(
        (
            &scores[1]["judge"]["votes"],
            &scores[1]["judge"]["agreement"],
            judged.asked().len()
        ),
        (&json!(3), &json!(1.0), 4)
    );
}

#[test]
fn a_recorded_judge_says_what_it_said_and_a_strict_one_fails_what_it_cannot_read() {
    let judged = Judged::new(
        "{agent: words}",
        "  - {id: taped, type: replay, file: taped.jsonl}\n",
    );
    let id = judged.run();
    let array = json!([{"criterion": "it says goodbye", "passed": true, "reasoning": "on tape"}, {"criterion": "it says hello", "passed": "false"}]);
    let tape = |text: &str| {
        format!(
            "{}\n",
            json!({"item": "s/requirementFulfillment", "answer": text})
        )
    };
    judged.project.file("taped.jsonl", tape(&array.to_string()));
    judged.judged(&[&id, "--judge", "taped"], 0);
    assert_eq!(
        judged.shown(&id),
        [
            ("it says hello".to_owned(), "fail".to_owned()),
            ("it says goodbye".to_owned(), "pass".to_owned())
        ]
    );

    judged
        .project
        .file("taped.jsonl", tape("I would rather not say"));
    let answer = judged.judged(&[&id, "--judge", "taped"], 1);
    assert!(
        answer["runs"][0].get("revision").is_none(),
        "it takes nobody's place: {answer}"
    );
    judged.judged(&[&id, "--judge", "taped", "--strict-judge"], 0);
    assert!(judged.shown(&id).iter().all(|(_, status)| status == "fail"));
}

#[test]
fn a_judge_that_is_swayed_by_the_order_is_found_out() {
    let judged = Judged::new("{agent: words}", "");
    let id = judged.run();
    let standing = (
        judged.shown(&id),
        judged
            .project
            .run(["leaderboard", "--format", "json"])
            .stdout,
    );
    let steady = judged.judged(&[&id, "--probe"], 0);
    assert_eq!(
        (
            &steady["flipped"],
            &steady["n"],
            &steady["runs"][0]["reversed"]
        ),
        (&json!(0), &json!(2), &json!(50.0))
    );
    assert_eq!(
        judged.asked().len(),
        2,
        "what the same judge said before is not asked for again"
    );
    assert_eq!(
        judged.asked()[1],
        json!(["it says goodbye", "it says hello"])
    );

    let swayed = judged.judged(&[&id, "--probe", "--judge", "first"], 0);
    assert_eq!(
        (&swayed["flipped"], &swayed["n"], &swayed["share"]),
        (&json!(2), &json!(2), &json!(1.0))
    );
    let flips: Vec<&Value> = swayed["runs"][0]["flips"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|flip| &flip["after"])
        .collect();
    assert_eq!(flips, ["fail", "pass"]);
    assert_eq!(judged.scores(&id).len(), 1);
    let after = (
        judged.shown(&id),
        judged
            .project
            .run(["leaderboard", "--format", "json"])
            .stdout,
    );
    assert_eq!(
        after, standing,
        "no judgement is replaced, and nobody compares probes"
    );
    let probes: Vec<Value> = judged
        .lines(&id, "scores.jsonl")
        .into_iter()
        .filter(|line| line["metric"] == "probe:requirementFulfillment")
        .collect();
    let told: Vec<[&Value; 3]> = probes
        .iter()
        .map(|line| [&line["details"]["given"], &line["value"], &line["revision"]])
        .collect();
    assert_eq!(
        told,
        [
            [&json!(50.0), &json!(50.0), &json!(1)],
            [&json!(50.0), &json!(50.0), &json!(2)]
        ]
    );
    assert_eq!(judged.project.run(["doctor", "--verify"]).code, 0);
}

#[test]
fn the_comparison_says_when_two_arms_had_different_judges() {
    let judged = Judged::new("{agent: words}", "");
    let config = judged.project.read("evalreport.yaml").replace(
        "  - {id: a,",
        "  - {id: b, command: [sh, \"{root}/a.sh\", \"{output_dir}\"]}\n  - {id: a,",
    );
    judged.project.file("evalreport.yaml", config);
    let scratch = judged.scratch.path().display().to_string();
    for _ in 0..2 {
        let output = judged.project.run([
            "run",
            "s",
            "--approach",
            "a,b",
            "--runs",
            "3",
            "--scratch",
            &scratch,
        ]);
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
    judged.judged(&["--approach", "b", "--judge", "none"], 0);
    let board = judged
        .project
        .run(["leaderboard", "--format", "json"])
        .stdout
        + &judged
            .project
            .run(["compare", "s", "--format", "json"])
            .stdout;
    assert!(board.contains("other_evaluator"), "{board}");
}
