//! `import --as rubric`: graded trees of requirements, each inner score computed anew.
//!
//! The trees here are the project's own. Real ones can be named by `EVALREPORT_RUBRICS`, files with `:` between them.

use std::io::Write;

use serde_json::{Value, json};

use crate::support::Project;

fn leaf(id: &str, requirements: &str, weight: f64, score: impl Into<Value>) -> Value {
    json!({"id": id, "requirements": requirements, "weight": weight, "score": score.into(), "valid_score": true,
        "task_category": "Code Development", "explanation": "seen", "judge_metadata": null, "sub_tasks": []})
}

fn branch(id: &str, requirements: &str, weight: f64, score: f64, below: &[Value]) -> Value {
    json!({"id": id, "requirements": requirements, "weight": weight, "score": score, "sub_tasks": below})
}

/// Three inner nodes and five leaves.
fn tree() -> Value {
    branch(
        "root",
        "The study is repeated",
        1.0,
        0.4,
        &[
            branch(
                "b1",
                "The data are there",
                2.0,
                0.25,
                &[
                    leaf("l1", "Downloaded", 1.0, 1),
                    leaf("l2", "Cleaned", 3.0, 0.0),
                ],
            ),
            branch(
                "b2",
                "The figures are drawn",
                2.0,
                0.5,
                &[leaf("l3", "Axes", 1.0, 0.5), leaf("l4", "Axes", 1.0, 0.5)],
            ),
            leaf("l5", "There is a README", 1.0, 0.5),
        ],
    )
}

const NAMES: [&str; 6] = [
    "--set",
    "suite=study",
    "--set",
    "approach=oneshot",
    "--set",
    "model=m1",
];

fn import<'a>(project: &Project, file: &'a str, more: &[&'a str]) -> crate::support::Output {
    project.run(
        ["import", file, "--as", "rubric"]
            .into_iter()
            .chain(NAMES)
            .chain(more.iter().copied()),
    )
}

fn source(project: &Project, tree: &Value) -> Value {
    project.file("graded.json", tree.to_string());
    import(project, "graded.json", &["--format", "json"]).json()["sources"][0].clone()
}

#[test]
fn leaves_are_criteria_and_the_root_is_the_score() {
    let project = Project::new();
    let report = source(&project, &tree());
    assert_eq!(
        [
            &report["rows_read"],
            &report["items"],
            &report["stated_checked"],
            &report["stated_agree"]
        ],
        [&json!(8), &json!(5), &json!(3), &json!(3)]
    );
    let id = report["runs_new"][0].as_str().expect("a run").to_owned();
    let shown = project.run(["show", &id, "--format", "json"]).json()["runs"][0].clone();
    assert_eq!(
        [&shown["suite"], &shown["approach"], &shown["model"]],
        [&json!("study"), &json!("oneshot"), &json!("m1")],
        "{shown}"
    );
    let score = &shown["scores"][0];
    assert_eq!(
        [&score["metric"], &score["unit"], &score["n"]],
        [&json!("rubric_score"), &json!("fraction"), &json!(5)]
    );
    assert!((score["value"].as_f64().expect("a score") - 0.4).abs() < 1e-12);
    assert_eq!(shown["stated"].as_array().map(Vec::len), Some(1));
    assert_eq!(shown["stated"][0]["disagrees"], false);
    let items: Vec<_> = shown["criteria"]
        .as_array()
        .expect("criteria")
        .iter()
        .map(|item| {
            let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            assert_eq!(
                (text("kind"), text("evaluator")),
                ("criterion".to_owned(), "rubric".to_owned())
            );
            (
                text("item"),
                text("status"),
                item["score"].as_f64().expect("a score"),
                text("category"),
            )
        })
        .collect();
    let item = |item: &str, status: &str, score: f64, branch: &str| {
        (item.to_owned(), status.to_owned(), score, branch.to_owned())
    };
    let expected = [
        item("Axes [l3]", "fail", 0.5, "The figures are drawn"),
        item("Axes [l4]", "fail", 0.5, "The figures are drawn"),
        item("Cleaned", "fail", 0.0, "The data are there"),
        item("Downloaded", "pass", 1.0, "The data are there"),
        item("There is a README", "fail", 0.5, "There is a README"),
    ];
    let mut sorted = items.clone();
    sorted.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(sorted, expected);
    assert_eq!(project.run(["doctor"]).code, 0);
}

#[test]
fn a_score_that_does_not_follow_is_named() {
    let project = Project::new();
    let mut tree = tree();
    tree["sub_tasks"][0]["score"] = json!(0.75);
    project.file("graded.json", tree.to_string());
    let said = import(&project, "graded.json", &[]);
    let text = said.answer();
    assert!(
        text.contains("3 branch scores checked against the grades below them: 2 agree, 1 does not"),
        "{text}"
    );
    assert!(
        text.contains("The data are there [b1] published 75.00%, recomputed 25.00%"),
        "{text}"
    );
    let board = project
        .run(["leaderboard", "--suite", "study", "--format", "json"])
        .json();
    assert_eq!(board["suites"][0]["entries"][0]["disagreeing_runs"], 1);
}

#[test]
fn what_was_not_graded_has_no_score() {
    let project = Project::new();
    let mut tree = tree();
    tree["sub_tasks"][0]["sub_tasks"][1]["valid_score"] = json!(false);
    tree["sub_tasks"][2]["score"] = json!(null);
    let report = source(&project, &tree);
    assert_eq!(
        [&report["stated_checked"], &report["stated_agree"]],
        [&json!(1), &json!(1)],
        "one branch is graded whole"
    );
    let id = report["runs_new"][0].as_str().expect("a run").to_owned();
    let shown = project.run(["show", &id, "--format", "json"]).json()["runs"][0].clone();
    assert_eq!(
        shown["statuses"],
        json!({"pass": 1, "fail": 2, "not_evaluated": 2})
    );
    assert_eq!(
        (&shown["scores"][0]["value"], &shown["scores"][0]["n"]),
        (&Value::Null, &json!(3))
    );
    assert_eq!(shown["stated"][0].get("recomputed"), None);
}

#[test]
fn the_same_grades_are_the_same_run() {
    let project = Project::new();
    let first = source(&project, &tree());
    assert_eq!(first["outcome"], "imported");
    assert_eq!(source(&project, &tree())["outcome"], "already_imported");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder
        .write_all(tree().to_string().as_bytes())
        .expect("memory");
    project.bytes("other.json.gz", &encoder.finish().expect("memory"));
    let again = import(&project, "other.json.gz", &["--format", "json"]).json();
    assert_eq!(
        (
            &again["sources"][0]["outcome"],
            &again["sources"][0]["runs_repeated"]
        ),
        (&json!("nothing_new"), &first["runs_new"])
    );

    let mut other = tree();
    other["sub_tasks"][2]["score"] = json!(1);
    other["score"] = json!(0.5);
    assert_eq!(
        source(&project, &other)["outcome"],
        "imported",
        "another go at the same rubric"
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let project = Project::new();
    project.file("graded.json", tree().to_string());
    let said = import(&project, "graded.json", &["--dry-run"]);
    assert!(
        said.answer().contains("would import 1 run with 5 outcomes"),
        "{}",
        said.stdout
    );
    assert!(project.files("results").is_empty());
}

#[test]
fn names_in_the_file_do_unless_others_are_given() {
    let project = Project::new();
    let mut tree = tree();
    for (key, name) in [
        ("suite", "own-suite"),
        ("approach", "own-approach"),
        ("model", "own-model"),
    ] {
        tree[key] = json!(name);
    }
    project.file("graded.json", tree.to_string());
    project
        .run([
            "import",
            "graded.json",
            "--as",
            "rubric",
            "--set",
            "model=given",
        ])
        .answer();
    let shown = project
        .run(["show", "--suite", "own-suite", "--format", "json"])
        .json();
    assert_eq!(
        (&shown["runs"][0]["approach"], &shown["runs"][0]["model"]),
        (&json!("own-approach"), &json!("given"))
    );
}

#[test]
fn every_mistake_is_named_and_nothing_is_stored() {
    let project = Project::new();
    let text = "{\"requirements\": \"r\", \"score\": 1,\n\"sub_tasks\": [\n\
        {\"requirements\": \"a\", \"weight\": -1, \"score\": 1},\n\
        {\"requirements\": \"b\", \"score\": 2},\n\
        {\"weight\": 1, \"score\": \"1\"},\n\
        {\"requirements\": \"c\", \"weight\": 1, \"score\": 1, \"sub_tasks\": {}}]}";
    project.file("graded.json", text);
    let said = project.run(["import", "graded.json", "--as", "rubric"]);
    assert_eq!(said.code, 2);
    for expected in [
        "graded.json:1:1: does not say its suite",
        "graded.json:1:1: does not say its approach",
        "graded.json:1:1: does not say its model",
        "graded.json:3:",
        "`sub_tasks[0].weight` must not be negative",
        "graded.json:4:",
        "`sub_tasks[1].weight` is missing",
        "`sub_tasks[1].score` must be from 0 to 1, but is `2`",
        "`sub_tasks[2].requirements` is missing",
        "`sub_tasks[2].score` must be",
        "`sub_tasks[3].sub_tasks` must be a list, not a map",
    ] {
        assert!(
            said.stdout.contains(expected),
            "{expected}\n{}",
            said.stdout
        );
    }
    assert!(project.files("results").is_empty());

    let mut twins = tree();
    twins["sub_tasks"][1]["sub_tasks"][1]["id"] = json!("l3");
    project.file("twins.json", twins.to_string());
    let said = import(&project, "twins.json", &[]);
    assert!(
        said.stdout
            .contains("the requirement `Axes` is there twice, and no id tells the two apart"),
        "{}",
        said.stdout
    );
    for (name, text) in [
        ("list.json", "[1]"),
        ("cut.json", "{\"requirements\": \"r\""),
        ("table.csv", "a,b\n1,2\n"),
        ("empty.json", ""),
    ] {
        project.file(name, text);
        assert_eq!(import(&project, name, &[]).code, 2, "{name}");
    }
    let deep = "{\"requirements\":\"r\",\"weight\":1,\"sub_tasks\":[".repeat(10_000);
    project.file("deep.json", deep);
    assert_eq!(import(&project, "deep.json", &[]).code, 2);
    assert!(project.files("results").is_empty());
}

#[test]
fn hostile_requirements_are_only_text() {
    let project = Project::new();
    let mut tree = tree();
    tree["sub_tasks"][0]["sub_tasks"][0]["requirements"] =
        json!("\u{1b}[2J<script>alert(1)</script>");
    tree["sub_tasks"][0]["requirements"] = json!("\u{1b}]0;x\u{7}");
    tree["sub_tasks"][0]["score"] = json!(0.9);
    project.file("graded.json", tree.to_string());
    let said = import(&project, "graded.json", &[]);
    assert!(!said.answer().contains('\u{1b}'));
    let shown = project.run(["show", "--suite", "study"]);
    assert!(!shown.answer().contains('\u{1b}'));
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let project = Project::new();
    project
        .file("graded.json", tree().to_string())
        .file("map.yaml", "");
    for (arguments, expected) in [
        (vec!["import", "graded.json"], "--as rubric"),
        (
            vec![
                "import",
                "graded.json",
                "--as",
                "rubric",
                "--map",
                "map.yaml",
            ],
            "--map is for tables",
        ),
        (
            vec![
                "import",
                "graded.json",
                "--as",
                "rubric",
                "--set",
                "modle=x",
            ],
            "`modle` cannot be set",
        ),
        (
            vec![
                "import",
                "graded.json",
                "--as",
                "rubric",
                "--set",
                "suite= ",
            ],
            "gives no name",
        ),
    ] {
        let said = project.run(arguments);
        assert_eq!(said.code, 2);
        assert!(
            said.stderr.contains(expected) || said.stdout.contains(expected),
            "{expected}\n{}",
            said.stderr
        );
    }
}

/// Every inner node of real rubrics states what follows from its leaves.
#[test]
fn real_rubrics_reproduce() {
    let Some(paths) = std::env::var_os("EVALREPORT_RUBRICS") else {
        return;
    };
    let project = Project::new();
    let paths: Vec<String> = std::env::split_paths(&paths)
        .map(|path| path.display().to_string())
        .collect();
    for (index, path) in paths.iter().enumerate() {
        let suite = format!("suite=rubric-{index}");
        let report = project
            .run([
                "import",
                path,
                "--as",
                "rubric",
                "--set",
                &suite,
                "--set",
                "approach=a",
                "--set",
                "model=m",
                "--format",
                "json",
            ])
            .json();
        let source = &report["sources"][0];
        let count = |key: &str| source[key].as_u64().expect("a count");
        assert_eq!(source["outcome"], "imported", "{path}");
        assert!(count("stated_checked") > 0, "{path}");
        assert_eq!(
            (
                count("stated_checked"),
                source["disagreements"].as_array().map(Vec::len)
            ),
            (count("stated_agree"), Some(0)),
            "{path}"
        );
        assert_eq!(
            count("rows_read"),
            count("items") + count("stated_checked"),
            "every inner node was checked: {path}"
        );
    }
}

#[test]
fn grades_that_passed_by_a_table_or_a_sum_are_grades() {
    let project = Project::new();
    let leaf = |id: &str, score: f64, valid: Value| json!({"id": id, "requirements": id, "weight": 1.0, "score": score, "valid_score": valid, "sub_tasks": []});
    let tree = json!({"id": "r", "requirements": "all", "weight": 1.0, "score": 1.000_000_000_000_000_2, "valid_score": 1.0, "sub_tasks": [
        leaf("a", 1.0, json!(1.0)), leaf("b", 1.0, json!(true)), leaf("c", 0.0, json!(0.0)),
    ]});
    // As a judge's output has it, beside figures of its own.
    let first = source(&project, &tree);
    assert_eq!(
        (&first["outcome"], &first["rows_read"], &first["items"]),
        (&json!("imported"), &json!(4), &json!(3)),
        "{first:#}"
    );
    let whole = source(
        &project,
        &json!({"judge_type": "simple", "score": 1.0, "graded_task_tree": tree}),
    );
    assert_eq!(whole["outcome"], "nothing_new", "{whole:#}");
    let items = project
        .run([
            "sql",
            "select item, status from items order by item",
            "--format",
            "csv",
        ])
        .stdout;
    assert_eq!(
        items, "item,status\na,pass\nb,pass\nc,not_evaluated\n",
        "a grade that is not valid is none"
    );
}
