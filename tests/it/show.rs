//! `show`: a run with what happened to each of its items.

use serde_json::{Value, json};

use crate::eval::asked;
use crate::support::{Project, lines, question, result};

fn evaluated() -> (Project, String) {
    let project = asked();
    assert_eq!(
        project
            .run(["eval", "questions.yaml", "--agent", "knows", "--quiet"])
            .code,
        0
    );
    let id = project
        .run(["list", "--runs", "--format", "csv"])
        .column("run")
        .remove(0);
    (project, id)
}

#[test]
fn a_run_of_questions_says_what_was_answered_and_why_it_failed() {
    let (project, id) = evaluated();
    let output = project.run_in(["show", &id], &[("COLUMNS", "220")]);
    for text in [
        "Accuracy",
        "1/4 (25%, 95% CI [5, 70])",
        "Chance-adjusted accuracy",
        "Items",
        "wrong_choice",
        "Blue or White",
        "Bash 2, Read 1",
        "ended with exit status 3: the moon is down",
    ] {
        assert!(output.answer().contains(text), "{text}: {}", output.stdout);
    }
    assert!(
        output
            .stdout
            .contains(&format!("results/{id}/transcript.jsonl")),
        "{}",
        output.stdout
    );
    // What did not pass comes first, and the share that passed is said once.
    let place = |word: &str| {
        output
            .stdout
            .find(&format!("│ {word} "))
            .unwrap_or_else(|| panic!("{word}: {}", output.stdout))
    };
    assert!(place("moon") < place("france") && place("sky") < place("france"));
    assert!(!output.stdout.contains("│ accuracy"), "{}", output.stdout);
}

#[test]
fn json_has_everything_in_the_order_of_the_questions() {
    let (project, id) = evaluated();
    let shown = project.run(["show", &id, "--format", "json"]).json();
    let run = &shown["runs"][0];
    let items = run["items"].as_array().expect("a list");
    assert_eq!(
        items
            .iter()
            .filter_map(|item| item["item"].as_str())
            .collect::<Vec<_>>(),
        ["france", "sky", "sum", "moon"]
    );
    let first = [
        "answer",
        "steps",
        "cost_usd",
        "input_tokens",
        "cache_read_tokens",
        "cost_source",
        "cluster",
    ]
    .map(|key| items[0][key].clone());
    assert_eq!(
        first,
        [
            json!("Paris"),
            json!(2),
            json!(0.25),
            json!(40),
            json!(30),
            json!("reported"),
            json!("europe")
        ]
    );
    assert_eq!(
        (&items[0]["tools"], &items[1]["reply"]),
        (
            &json!({"Bash": 2, "Read": 1}),
            &json!("It is <answer>Green</answer>")
        )
    );
    assert_eq!(
        (&run["items_left_out"], &run["transcript"]),
        (&json!(0), &json!(format!("results/{id}/transcript.jsonl")))
    );
    let of = |choice: &str| {
        project
            .run(["show", &id, "--format", "json", "--items", choice])
            .json()["runs"][0]
            .clone()
    };
    let counts = |run: Value| {
        (
            run["items"].as_array().map_or(0, Vec::len),
            run["items_left_out"].as_u64(),
        )
    };
    assert_eq!(
        (
            counts(of("failed")),
            counts(of("2")),
            counts(of("0")),
            counts(of("all"))
        ),
        ((3, Some(1)), (2, Some(2)), (0, Some(4)), (4, Some(0)))
    );
    assert!(
        project
            .run(["show", &id, "--items", "some"])
            .refusal()
            .contains("write all, failed, or a number")
    );
}

#[test]
fn a_screen_has_twenty_items_and_says_so() {
    let project = Project::with(&[result("quiz-1", "quiz", "a", json!({}))]);
    let items: Vec<Value> = (0..30)
        .map(|number| {
            question(
                &format!("q{number:02}"),
                1,
                if number < 25 { "pass" } else { "fail" },
            )
        })
        .collect();
    project.items("quiz-1", &items);
    let output = project.run(["show", "quiz-1"]);
    assert!(
        output.answer().contains("20 of 30 questions") && output.stdout.contains("--items all"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("│ q29 ")
            && output.stdout.contains("│ q14 ")
            && !output.stdout.contains("│ q15 "),
        "{}",
        output.stdout
    );
    let all = project.run(["show", "quiz-1", "--items", "all"]);
    assert!(
        !all.answer().contains("of 30")
            && all.stdout.contains("│ q15 ")
            && !all.stdout.contains("--items all"),
        "{}",
        all.stdout
    );
}

#[test]
fn revisions_aliases_and_imports() {
    let project = Project::with(&[result("quiz-1", "quiz", "a", json!({}))]);
    let mut again = question("q1", 1, "pass");
    (again["revision"], again["details"]) = (json!(1), json!({"answer": "blue"}));
    let mut first = question("q1", 1, "fail");
    first["details"] = json!({"reason": "wrong_choice"});
    project.file(
        "results/quiz-1/items.jsonl",
        lines([first, question("q2", 1, "fail"), again]),
    );
    project.file(
        "evalreport.yaml",
        "version: 1\naliases: {item: {q1: colour}}\n",
    );
    let items = |run: &str| {
        project.run(["show", run, "--format", "json"]).json()["runs"][0]["items"].clone()
    };
    let shown = items("quiz-1");
    assert_eq!(
        (&shown[0]["item"], &shown[0]["status"], &shown[0]["answer"]),
        (&json!("colour"), &json!("pass"), &json!("blue"))
    );
    assert_eq!(
        (shown[0].get("reason"), shown.as_array().map(Vec::len)),
        (None, Some(2))
    );

    project.file("table.csv", "id,ok\nt1,yes\nt2,no\n").file(
        "map.yaml",
        "format: evalreport/map/1\nname: t\nrows: item\nrun: {suite: {constant: imported}, approach: {constant: x}, model: {constant: y}}\n\
         item: {id: id, kind: {constant: test}, status: {column: ok, values: {yes: pass, no: fail}}}\n",
    );
    assert_eq!(
        project
            .run(["import", "table.csv", "--map", "map.yaml"])
            .code,
        0
    );
    let imported = project
        .run(["show", "--suite", "imported", "--format", "json"])
        .json();
    assert_eq!(
        imported["runs"][0]["items"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(imported["runs"][0].get("transcript"), None);
}

#[test]
fn what_an_agent_said_cannot_move_the_cursor() {
    let project = Project::with(&[result("quiz-1", "quiz", "a", json!({}))]);
    let mut item = question("q1\u{1b}[2J", 1, "fail");
    item["details"] = json!({"reason": "\u{1b}[31mred\u{202e}", "answer": "a\u{9b}b", "expected": ["\u{1b}]0;x\u{7}"], "tools": {"\u{1b}[1m": 1}});
    project.items("quiz-1", &[item]);
    for format in ["table", "markdown", "csv"] {
        let output = project.run(["show", "quiz-1", "--format", format]);
        assert!(
            !output
                .answer()
                .contains(['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}']),
            "{format}: {}",
            output.stdout
        );
    }
    project.run(["build", "--quiet", "--out", "site"]);
    let page = project.read("site/runs/quiz-1/index.html");
    assert!(
        page.contains("␛[31mred") && !page.contains('\u{1b}'),
        "{page}"
    );
}

#[test]
fn a_run_has_the_interval_of_a_board_with_nothing_else() {
    let (project, id) = evaluated();
    let run = project.run(["show", &id, "--format", "json"]).json()["runs"][0]["interval"].clone();
    let board = project.run(["leaderboard", "--format", "json"]).json();
    assert_eq!(
        run,
        board["suites"][0]["entries"][0]["pass_rate"]["interval"]
    );
}
