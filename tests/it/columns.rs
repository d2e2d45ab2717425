//! A column is said once: CSV has its figures, unrounded and under the names of JSON; the site's files are what the commands print.

use std::collections::{BTreeMap, BTreeSet};

use evalreport::cli::answer_schemas;
use evalreport::domain::Unit;
use evalreport::render::{board, tables};
use serde_json::{Value, json};

use crate::support::{Project, lines, passed, question, result};

/// Three arms on two suites with costs, durations, tokens and a score; of one arm the cost is known in part, one has no outcomes.
fn project() -> Project {
    let project = Project::new();
    for (suite, arm, run, shift) in [
        ("quiz", "a", 0, 3),
        ("quiz", "a", 1, 3),
        ("quiz", "b", 0, 7),
        ("quiz", "b", 1, 8),
        ("zoo", "a", 0, 2),
        ("zoo", "c", 0, 5),
    ] {
        let id = format!("{suite}-{arm}-{run}");
        let cost = if (arm, run) == ("b", 1) {
            Value::Null
        } else {
            json!(1234.5 + f64::from(shift))
        };
        let time = format!("2026-03-0{}T10:00:00Z", run + 1);
        let fields = json!({"cost_usd": cost, "duration_seconds": 61.5 * f64::from(shift), "total_tokens": 12_345, "timestamp": time});
        let items: Vec<Value> = (0..1200)
            .map(|item| {
                question(
                    &format!("q{item}"),
                    1,
                    if item % 10 < shift { "pass" } else { "fail" },
                )
            })
            .collect();
        project
            .result(&result(&id, suite, arm, fields))
            .items(&id, &items);
    }
    project.result(&result("zoo-d-0", "zoo", "d", json!({})));
    project
}

/// Columns of words; all others hold figures.
const WORDS: [&str; 34] = [
    "suite",
    "suite_version",
    "source",
    "primary",
    "approach",
    "model",
    "approach_1",
    "model_1",
    "approach_2",
    "model_2",
    "approach_3",
    "model_3",
    "approach_against",
    "model_against",
    "metric",
    "unit",
    "direction",
    "pass_rate_method",
    "n_of",
    "letters",
    "cost_front",
    "duration_front",
    "scale",
    "design",
    "test",
    "verdict",
    "reason",
    "winner",
    "run",
    "status",
    "batch",
    "ruling",
    "basis",
    "rule",
];

#[test]
fn csv_has_figures_and_no_formatted_text() {
    let project = project();
    for run in 0..2 {
        let items: Vec<Value> = (0..1200)
            .map(|item| {
                question(
                    &format!("q{item}"),
                    1,
                    if item % 2 == 0 { "pass" } else { "fail" },
                )
            })
            .collect();
        let id = format!("before-{run}");
        project.file(
            &format!("before/{id}.json"),
            result(&id, "quiz", "a", json!({"cost_usd": 1.5})).to_string(),
        );
        project.file(&format!("before/{id}/items.jsonl"), lines(&items));
    }
    let commands: [&[&str]; 8] = [
        &["leaderboard"],
        &["leaderboard", "--overall", "macro"],
        &["compare", "quiz"],
        &["compare", "zoo", "--approach", "a,c,d"],
        &["list", "--runs"],
        &["list"],
        &["history", "quiz"],
        &["gate", "--baseline", "before", "--max-drop", "2pp"],
    ];
    for command in commands {
        let output = project.run(
            command
                .iter()
                .copied()
                .chain(["--format", "csv", "--quiet"]),
        );
        assert!(
            matches!(output.code, 0 | 1),
            "{command:?}: {}",
            output.stderr
        );
        // One header: its names come once, and every record has as many fields.
        let mut reader = csv::Reader::from_reader(output.stdout.as_bytes());
        let header = reader.headers().expect("a header").clone();
        assert_eq!(
            header.iter().collect::<BTreeSet<_>>().len(),
            header.len(),
            "{header:?}"
        );
        let records: Vec<csv::StringRecord> = reader
            .records()
            .map(|record| record.expect("as many fields as names"))
            .collect();
        assert!(!records.is_empty(), "{command:?}");
        for record in records {
            for (key, field) in header
                .iter()
                .zip(&record)
                .filter(|(key, _)| !WORDS.contains(key))
            {
                let is_figure =
                    field.parse::<f64>().is_ok() || matches!(field, "" | "true" | "false");
                let is_time = chrono::DateTime::parse_from_rfc3339(field).is_ok()
                    || chrono::NaiveDate::parse_from_str(field, "%Y-%m-%d").is_ok();
                let is_list = matches!(key, "approaches" | "sources" | "since_the_night_before");
                assert!(
                    is_figure || is_time || is_list,
                    "{command:?}: {key} is {field:?}"
                );
            }
        }
    }
}

/// SQL has the same figures under the same names, beside the stored tables.
#[test]
fn boards_and_comparisons_are_tables_of_sql() {
    let project = project();
    let answers = |query: &str| {
        project
            .run(["sql", query, "--format", "csv"])
            .answer()
            .to_owned()
    };
    let board = project
        .run(["leaderboard", "--format", "csv"])
        .answer()
        .to_owned();
    assert_eq!(answers("SELECT * FROM arms"), board);
    let metrics = project
        .run(["compare", "--format", "csv"])
        .answer()
        .to_owned();
    assert_eq!(answers("SELECT * FROM metrics"), metrics);
    assert_eq!(
        answers(
            "SELECT suite, approach, pass_rate, runs FROM arms WHERE cost_is_lower_bound ORDER BY suite, position"
        ),
        "suite,approach,pass_rate,runs\nquiz,b,0.75,2\n"
    );
    assert_eq!(
        answers(
            "SELECT r.approach, count(*) AS n FROM runs AS r JOIN arms AS a ON r.suite = a.suite AND r.approach = a.approach GROUP BY r.approach ORDER BY r.approach"
        ),
        "approach,n\na,3\nb,2\nc,1\nd,1\n"
    );
    let empty = Project::new();
    assert_eq!(
        empty
            .run(["sql", "SELECT count(*) AS n FROM runs", "--format", "csv"])
            .answer(),
        "n\n0\n"
    );
    let refused = project.run(["sql", "SELECT * FROM boards"]);
    assert!(
        refused
            .refusal()
            .contains("there are runs, items, scores, usage, arms, metrics"),
        "{}",
        refused.stderr
    );
}

/// JSON Schemas say of a row's fields what tables say of their columns.
#[test]
fn schemas_have_titles_and_units_of_columns() {
    let schemas: BTreeMap<&str, Value> = answer_schemas()
        .into_iter()
        .map(|(name, schema)| (name, schema.to_value()))
        .collect();
    for (command, row, columns) in [
        ("leaderboard", "Entry", board::all_columns()),
        ("list", "RunLine", tables::runs_table([]).columns),
    ] {
        let fields = &schemas[command]["$defs"][row]["properties"];
        let described: Vec<_> = columns
            .iter()
            .filter(|column| !column.field.is_empty())
            .collect();
        assert!(described.len() > 7, "{command}");
        for column in described {
            let field = &fields[column.field];
            assert!(
                field["title"]
                    .as_str()
                    .is_some_and(|title| title.contains(&column.full_label())),
                "{command}: {}: {field}",
                column.field
            );
            assert_eq!(
                field["x-unit"].as_str(),
                column.unit.map(Unit::name),
                "{command}: {}",
                column.field
            );
        }
    }
    assert_eq!(
        schemas["leaderboard"]["$defs"]["Entry"]["properties"]["cost"]["title"],
        "Cost, all runs"
    );
    assert_eq!(
        schemas["leaderboard"]["$defs"]["Entry"]["properties"]["duration"]["title"],
        "Duration, median; Duration, p90"
    );
}

/// Names of all fields of a document, however deep.
fn fields(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                names.insert(name.clone());
                fields(value, names);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

/// What CSV calls a figure, JSON calls the same, or it is a part of the field that the key begins with.
#[test]
fn keys_of_csv_are_fields_of_json() {
    let project = project();
    for (command, own) in [
        (
            &["leaderboard"][..],
            &["position", "rank_best", "rank_worst", "pass_rate_method"][..],
        ),
        (&["compare", "quiz"], &["metric"]),
        (&["list", "--runs"], &["run"]),
    ] {
        let with =
            |format: &'static str| project.run(command.iter().copied().chain(["--format", format]));
        let mut names = BTreeSet::new();
        fields(&with("json").json(), &mut names);
        let csv = with("csv");
        let header = csv.answer().lines().next().expect("a header").to_owned();
        for key in header.split(',').filter(|key| !own.contains(key)) {
            let stem =
                key.trim_end_matches(|letter: char| letter == '_' || letter.is_ascii_digit());
            let is_part = |name: &String| {
                stem == name
                    || stem
                        .strip_prefix(name.as_str())
                        .is_some_and(|rest| rest.starts_with('_'))
            };
            let is_known = names.iter().any(is_part)
                || (names.contains("interval") && stem.starts_with("ci95"));
            let is_absent = [
                "suite_version",
                "source",
                "batch",
                "first_in_resamples",
                "letters",
                "reason",
                "winner",
                "test",
                "disagreeing",
            ]
            .contains(&key);
            assert!(
                is_known || is_absent,
                "{command:?}: no field of JSON is called {key}"
            );
        }
    }
}

/// The site's spreadsheets are what the commands print, and a board's is one table whatever number of suites it has.
#[test]
fn the_sites_spreadsheets_are_the_commands() {
    let project = project();
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let csv = |command: &[&str]| {
        project
            .run(command.iter().copied().chain(["--format", "csv"]))
            .answer()
            .to_owned()
    };
    assert_eq!(
        project.read("site/data/leaderboard.csv"),
        csv(&["leaderboard"])
    );
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(
        sorted(&project.read("site/data/runs.csv")),
        sorted(&csv(&["list", "--runs"]))
    );
    let board = project.run(["leaderboard", "--format", "csv"]).rows();
    assert_eq!(board.len(), 5);
    let row = |suite: &str, arm: &str| {
        board
            .iter()
            .find(|row| row["suite"] == suite && row["approach"] == arm)
            .expect("a row")
    };
    let b = row("quiz", "b");
    assert_eq!(
        (
            passed(b).as_str(),
            b["pass_rate"].as_str(),
            b["cost_usd"].as_str(),
            b["cost_is_lower_bound"].as_str()
        ),
        ("1800/2400", "0.75", "1241.5", "true")
    );
    let d = row("zoo", "d");
    assert_eq!(
        (
            d["pass_rate"].as_str(),
            d["cost_usd"].as_str(),
            d["duration_seconds_median"].as_str()
        ),
        ("", "", ""),
        "unknown is empty"
    );
}
