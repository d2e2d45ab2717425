//! `gate --markdown FILE`: the comment of a pull request.

use serde_json::{Value, json};

use crate::schema::validate;
use crate::support::{Output, Project, lines, question, result, test};

/// Puts a run of tests into a store, with the reasons of those that fail.
fn run_of(
    project: &Project,
    store: &str,
    id: &str,
    suite: &str,
    outcomes: &[(String, &str)],
    fields: Value,
) {
    project.file(
        &format!("{store}/{id}.json"),
        result(id, suite, "oneshot", fields).to_string(),
    );
    let line = |(item, status): &(String, &str)| {
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

/// Three runs a side of 40 tests: `fails` fail in the new runs, and `passes` failed in the baseline.
fn compared(fails: &[usize], passes: &[usize]) -> Project {
    let project = Project::new();
    let outcomes = |failing: &[usize]| -> Vec<(String, &str)> {
        (0..40)
            .map(|number| {
                (
                    format!("tests/test_api.py::test_{number:02}"),
                    if failing.contains(&number) {
                        "fail"
                    } else {
                        "pass"
                    },
                )
            })
            .collect()
    };
    for run in 0..3 {
        let cost = |usd: f64| json!({"cost_usd": usd + f64::from(run) / 100.0});
        run_of(
            &project,
            "main",
            &format!("base-{run}"),
            "api",
            &outcomes(passes),
            cost(1.0),
        );
        run_of(
            &project,
            "results",
            &format!("head-{run}"),
            "api",
            &outcomes(fails),
            cost(1.2),
        );
    }
    project
}

/// What a build server sees: exit code, answer and file.
fn seen(project: &Project, output: &Output) -> String {
    format!(
        "{}----- gate.md -----\n{}",
        output.snapshot(),
        project.read("gate.md")
    )
}

const HELD: [&str; 8] = [
    "gate",
    "--baseline",
    "main",
    "--max-drop",
    "2pp",
    "--no-new-failures",
    "--markdown",
    "gate.md",
];

#[test]
fn a_regression_names_what_changed() {
    let fails: Vec<usize> = (0..30).collect();
    let project = compared(&fails, &[38, 39]);
    let output = project.run(HELD);
    assert_eq!(output.code, 1, "{}", output.stderr);
    insta::assert_snapshot!("comment_regression", seen(&project, &output));
}

#[test]
fn a_pass_is_short() {
    let project = compared(&[], &[7]);
    let output = project.run(HELD);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    insta::assert_snapshot!("comment_pass", seen(&project, &output));
}

#[test]
fn on_a_first_night_the_comment_says_that_these_runs_become_the_baseline() {
    let project = compared(&[1], &[]);
    for run in [1, 2] {
        std::fs::remove_file(project.path(&format!("results/head-{run}.json")))
            .expect("the run is there");
    }
    let output = project.run([
        "gate",
        "--baseline",
        "last:7",
        "--max-drop",
        "2pp",
        "--must-pass",
        "*_00",
        "--markdown",
        "gate.md",
    ]);
    assert_eq!(output.code, 3, "{}", output.stderr);
    insta::assert_snapshot!("comment_no_baseline", seen(&project, &output));
}

/// The file, the answer in Markdown and the JSON are one report.
#[test]
fn every_form_says_the_same() {
    let project = compared(&[1, 2], &[38, 39]);
    let output =
        project.run([&HELD[..], &["--format", "markdown", "--junit", "gate.xml"]].concat());
    assert_eq!((output.code, output.stderr.as_str()), (1, ""));
    assert_eq!(output.stdout, project.read("gate.md"));
    assert!(project.read("gate.xml").starts_with("<?xml"));
    let answer = project.run([&HELD[..6], &["--format", "json"]].concat());
    let answer: Value = serde_json::from_str(&answer.stdout).expect("the answer is JSON");
    assert_eq!(validate("gate", &answer), Ok(()));
    let passes = &answer["new_passes"][0];
    assert_eq!(
        (&passes["count"], &passes["items"][0]["item"]),
        (&json!(2), &json!("tests/test_api.py::test_38"))
    );
    assert_eq!(
        passes["items"][0]["reason"],
        "expected 200, got 500 in tests/test_api.py::test_38"
    );
    assert_eq!(
        (
            &passes["items"][0]["passed"],
            &passes["items"][0]["baseline_passed"]
        ),
        (&json!(3), &json!(0))
    );
    let cost = &answer["costs"][0];
    // Geometric means of 1.20, 1.21 and 1.22, and of 1.00, 1.01 and 1.02.
    let is_near = |place: &str, value: f64| {
        cost[place]["value"]
            .as_f64()
            .is_some_and(|found| (found - value).abs() < 1e-6)
    };
    assert!(
        is_near("head", 1.209_972) && is_near("baseline", 1.009_967),
        "{cost}"
    );
    assert_eq!(
        answer["checks"]
            [usize::try_from(answer["deciding"].as_u64().expect("a place")).expect("a place")]["ruling"],
        answer["ruling"]
    );
    // A rule about the cost has its own row.
    let ruled = project.run([&HELD[..], &["--max-cost", "+50%", "--format", "markdown"]].concat());
    assert_eq!(
        ruled.stdout.matches("| Cost").count(),
        1,
        "{}",
        ruled.stdout
    );
}

#[test]
fn an_item_that_sometimes_passed_is_no_new_pass() {
    let project = Project::new();
    let item = |status| [("a".to_owned(), status), ("b".to_owned(), "pass")];
    for (run, status) in ["fail", "pass", "fail"].into_iter().enumerate() {
        run_of(
            &project,
            "main",
            &format!("base-{run}"),
            "api",
            &item(status),
            json!({}),
        );
        run_of(
            &project,
            "results",
            &format!("head-{run}"),
            "api",
            &item("pass"),
            json!({}),
        );
    }
    let answer = project
        .run([
            "gate",
            "--baseline",
            "main",
            "--no-new-failures",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(answer.get("new_passes"), None);
    // Half of the attempts is not more than half.
    for (run, status) in ["fail", "fail", "fail"].into_iter().enumerate() {
        run_of(
            &project,
            "main",
            &format!("base-{run}"),
            "api",
            &item(status),
            json!({}),
        );
    }
    for (run, status) in ["fail", "pass", "infra"].into_iter().enumerate() {
        run_of(
            &project,
            "results",
            &format!("head-{run}"),
            "api",
            &item(status),
            json!({}),
        );
    }
    let count = |project: &Project| {
        let answer = project
            .run([
                "gate",
                "--baseline",
                "main",
                "--no-new-failures",
                "--format",
                "json",
            ])
            .json();
        answer["new_passes"][0]["count"].clone()
    };
    assert_eq!(count(&project), Value::Null);
    run_of(
        &project,
        "results",
        "head-2",
        "api",
        &item("pass"),
        json!({}),
    );
    assert_eq!(count(&project), json!(1));
}

/// Markdown with what GitHub and GitLab would act upon.
const HOSTILE: &str = "a|b `c` ```\n# x </details><img src=x onerror=y> <!-- @team #12 o/r#34 GH-5 ![i](http://e/i) [l](javascript:x) www.e.org \u{202e}txt $x$ **b**";

#[test]
fn foreign_text_is_text() {
    let project = Project::new();
    for (store, status) in [("main", "pass"), ("results", "fail")] {
        let line = |number: usize| {
            let mut line = question(&format!("{HOSTILE}{number}"), 1, status);
            line["details"] = json!({"reason": HOSTILE});
            line
        };
        let fields = json!({"model": HOSTILE, "cost_usd": 1.0});
        project.file(
            &format!("{store}/{store}-1.json"),
            result(&format!("{store}-1"), HOSTILE, HOSTILE, fields).to_string(),
        );
        project.file(
            &format!("{store}/{store}-1/items.jsonl"),
            lines((0..8).map(line)),
        );
    }
    let odd = format!("kind={HOSTILE}");
    let tagged = json!({"model": HOSTILE, "cost_usd": 1.0, "tags": {"kind": HOSTILE}});
    project.file(
        "results/tagged.json",
        result("tagged", HOSTILE, HOSTILE, tagged).to_string(),
    );
    project.file(
        "results/tagged/items.jsonl",
        project.read("main/main-1/items.jsonl"),
    );
    let must = format!("{HOSTILE}0");
    let held = [
        "gate",
        "--max-drop",
        "2pp",
        "--no-new-failures",
        "--must-pass",
        &must,
        "--markdown",
        "gate.md",
        "--baseline",
    ];
    for baseline in [&odd, "main"] {
        let output = project.run([&held[..], &[baseline]].concat());
        assert_eq!(
            (output.code, output.stderr.as_str()),
            (1, ""),
            "{}",
            output.stdout
        );
        let text = project.read("gate.md");
        inert(&text);
        let _ = std::fs::remove_file(project.path("results/tagged.json"));
    }
    insta::assert_snapshot!("comment_hostile", project.read("gate.md"));
}

/// Checks that a comment has only its own markup: what stands outside of code neither links nor mentions.
fn inert(text: &str) {
    let tags: Vec<&str> = text
        .lines()
        .flat_map(outside_of_code)
        .flat_map(|part| part.split('<').skip(1))
        .collect();
    let own = [
        "!-- evalreport:gate -->",
        "details>",
        "summary>",
        "/summary>",
        "/details>",
    ];
    let strange: Vec<_> = tags
        .iter()
        .filter(|tag| !own.iter().any(|own| tag.starts_with(own)))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert_eq!(
        text.matches("\n</details>\n").count(),
        text.matches("<details>").count(),
        "{text}"
    );
    for line in text.lines() {
        let cells = line.replace("\\|", "").matches('|').count();
        assert!(!line.starts_with('|') || cells == 9, "{cells}: {line}");
        assert!(!line.contains('\u{202e}'), "{line}");
        for part in outside_of_code(line) {
            let after = |mark: char, is_it: fn(char) -> bool| {
                part.match_indices(mark).any(|(at, _)| {
                    part[at + mark.len_utf8()..]
                        .chars()
                        .next()
                        .is_some_and(is_it)
                })
            };
            assert!(
                !after('@', char::is_alphanumeric) && !after('#', |next| next.is_ascii_digit()),
                "{part}"
            );
            assert!(
                !part.contains("://") && !part.contains("www.") && !part.contains("GH-"),
                "{part}"
            );
        }
    }
}

/// Splits a line at its code.
fn outside_of_code(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some(start) = rest
        .match_indices('`')
        .map(|(at, _)| at)
        .find(|at| *at == 0 || !rest[..*at].ends_with('\\'))
    {
        let fence = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let begin = start + fence;
        let mark = "`".repeat(fence);
        let end = rest[begin..]
            .match_indices(&mark)
            .map(|(at, _)| begin + at)
            .find(|at| !rest[..*at].ends_with('`') && !rest[at + fence..].starts_with('`'));
        let Some(end) = end else { break };
        parts.push(&rest[..start]);
        rest = &rest[end + fence..];
    }
    parts.push(rest);
    parts
}

/// Many arms, many items and long names: the comment stays below GitHub's limit and counts what it leaves out.
#[test]
fn a_comment_has_a_limit() {
    let project = Project::new();
    let long = "very_long_name_of_a_test_with_*_and_<_".repeat(12);
    for arm in 0..60 {
        for (store, status) in [("main", "pass"), ("results", "fail")] {
            let outcomes: Vec<(String, &str)> = (0..25)
                .map(|number| (format!("{number:02}{long}"), status))
                .collect();
            let fields = json!({"approach": format!("{arm:02}{long}"), "cost_usd": 1.0});
            run_of(
                &project,
                store,
                &format!("{store}-{arm}"),
                &"suite_#1_".repeat(40),
                &outcomes,
                fields,
            );
        }
    }
    let output = project.run(HELD);
    assert_eq!((output.code, output.stderr.as_str()), (1, ""));
    let text = project.read("gate.md");
    let characters = text.chars().count();
    assert!((40_000..=60_000).contains(&characters), "{characters}");
    assert!(text.len() < 1 << 20);
    inert(&text);
    assert!(
        text.contains("108 more checks are below."),
        "{}",
        &text[..3000]
    );
    let last = text.lines().last().expect("a line");
    assert!(
        last.starts_with("Not shown: ") && last.contains(" checks") && last.contains(" costs"),
        "{last}"
    );
}

#[test]
fn the_file_is_for_rulings_only() {
    let project = compared(&[], &[]);
    for instead in ["--plan", "--decide"] {
        let refused = project.run([
            "gate",
            "--baseline",
            "main",
            "--max-drop",
            "2pp",
            instead,
            "--markdown",
            "gate.md",
        ]);
        assert!(
            refused.refusal().contains("cannot be used with"),
            "{}",
            refused.stderr
        );
    }
    let nowhere = project.run([
        "gate",
        "--baseline",
        "main",
        "--max-drop",
        "2pp",
        "--markdown",
        "main/base-0.json/gate.md",
    ]);
    assert!(nowhere.refusal().contains("gate.md"), "{}", nowhere.stderr);
}
