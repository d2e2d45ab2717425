//! `sql` answers one SELECT over four tables and nothing else; `export` writes the tables.

use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use crate::support::{Project, question, result};

fn project() -> Project {
    let scores = json!([{"metric": "quality", "value": 71.5, "unit": "points", "direction": "up", "evaluator": "judge", "revision": 0}]);
    let project = Project::with(&[
        result(
            "run-1",
            "quiz",
            "a",
            json!({"cost_usd": 0.5, "total_tokens": 100, "scores": scores, "timestamp": "2026-03-01T10:00:00Z"}),
        ),
        result(
            "run-2",
            "quiz",
            "=b",
            json!({"error": "bo\"om, \n", "tags": {"k": "v"}}),
        ),
        result(
            "run-3",
            "other",
            "c",
            json!({"shared_tests_passed": 1, "shared_tests_total": 3}),
        ),
    ]);
    project.items(
        "run-1",
        &[question("q1", 1, "pass"), question("q2", 1, "fail")],
    );
    project.items("run-2", &[question("q1", 1, "infra")]);
    project
}

#[test]
fn the_four_tables_answer() {
    let project = project();
    for (query, columns, rows) in [
        (
            "select run_id, suite from runs order by run_id",
            json!(["run_id", "suite"]),
            json!([["run-1", "quiz"], ["run-2", "quiz"], ["run-3", "other"]]),
        ),
        (
            "SELECT status, count(*) AS n FROM items GROUP BY status ORDER BY status",
            json!(["status", "n"]),
            json!([["fail", 1], ["infra", 1], ["pass", 1]]),
        ),
        (
            "select metric, value, unit from scores",
            json!(["metric", "value", "unit"]),
            json!([["quality", 71.5, "points"]]),
        ),
        (
            "select cost_usd, total_tokens from usage order by run_id",
            json!(["cost_usd", "total_tokens"]),
            json!([[0.5, 100], [null, null], [null, null]]),
        ),
        ("select count(*) as n from runs", json!(["n"]), json!([[3]])),
        (
            "select r.approach, count(*) as n from items i join runs r on r.run_id = i.run_id group by r.approach order by n",
            json!(["approach", "n"]),
            json!([["=b", 1], ["a", 2]]),
        ),
        (
            "with passed as (select * from items where status = 'pass') select run_id from passed",
            json!(["run_id"]),
            json!([["run-1"]]),
        ),
        (
            "select run_id from runs where cost_usd is null limit 1",
            json!(null),
            json!(null),
        ),
    ] {
        let output = project.run(["sql", query, "--format", "json"]);
        if columns.is_null() {
            assert_eq!(output.code, 2, "runs has no such column: {}", output.stdout);
            continue;
        }
        let answer = output.json();
        assert_eq!(
            (&answer["columns"], &answer["rows"]),
            (&columns, &rows),
            "{query}"
        );
        assert_eq!(answer["schema"], "evalreport/sql/1");
    }
}

#[test]
fn of_several_revisions_one_stands() {
    let project = project();
    let all = |query: &str| project.run(["sql", query, "--format", "json"]).json()["rows"].clone();
    assert_eq!(
        all("select count(*) as n from items where standing"),
        json!([[3]]),
        "what was evaluated once stands"
    );
    let again = |status: &str, revision: u64| {
        let mut line = question("q1", 1, status);
        line["revision"] = json!(revision);
        line
    };
    // Whatever the order of the lines, and of each outcome by itself.
    project.items(
        "run-1",
        &[
            again("fail", 2),
            again("pass", 0),
            question("q2", 1, "fail"),
            again("pass", 1),
        ],
    );
    assert_eq!(
        all(
            "select run_id, item, revision, status from items where standing order by run_id, item"
        ),
        json!([
            ["run-1", "q1", 2, "fail"],
            ["run-1", "q2", 0, "fail"],
            ["run-2", "q1", 0, "infra"]
        ])
    );
    assert_eq!(all("select count(*) as n from items"), json!([[5]]));
    assert_eq!(
        all("select count(*) as n from items where not standing"),
        json!([[2]])
    );
    assert_eq!(all("select standing from scores"), json!([[true]]));
    assert_eq!(
        project.run(["export", "csv", "out", "--quiet"]).answer(),
        ""
    );
    let rows = csv_rows(&project, "out/items.csv");
    assert_eq!(
        rows.iter().filter(|row| row["standing"] == "true").count(),
        3,
        "{rows:?}"
    );
}

#[test]
fn answers_in_every_format() {
    let project = project();
    let query = "select approach, error from runs where suite = 'quiz' order by run_id";
    insta::assert_snapshot!("sql_table", project.run(["sql", query]).snapshot());
    assert_eq!(
        project.run(["sql", query, "--format", "csv"]).answer(),
        "approach,error\na,\n'=b,\"bo\"\"om, ␊\"\n"
    );
    assert!(
        project
            .run(["sql", query, "--format", "markdown"])
            .answer()
            .starts_with("| approach | error |\n")
    );
}

#[test]
fn everything_else_is_refused() {
    let project = project();
    project.file("secret.csv", "a,b\nhidden,1\n");
    for query in [
        "select * from read_csv('secret.csv')",
        "select * from read_parquet('secret.csv')",
        "select * from 'secret.csv'",
        "select * from nowhere",
        "select * from runs where run_id in (select a from read_csv('secret.csv'))",
        "with x as (select * from read_csv('secret.csv')) select * from x",
        "select * from runs union all select * from read_csv('secret.csv')",
        "select * from runs, lateral read_csv('secret.csv')",
        "drop table runs",
        "create table x as select * from runs",
        "insert into runs values (1)",
        "delete from runs",
        "truncate table runs",
        "update runs set suite = 'x'",
        "explain select * from runs",
        "show tables",
        "select 1; select 2",
        "select run_id into x from runs",
        "selekt",
        "",
    ] {
        let output = project.run(["sql", query]);
        assert!(
            output.refusal().starts_with("error: "),
            "{query}: {}",
            output.stderr
        );
        assert!(
            !output.stderr.contains("hidden") && !output.stderr.contains("panicked"),
            "{query}: {}",
            output.stderr
        );
    }
    assert_eq!(
        project
            .run(["sql", "select count(*) as n from runs", "--format", "csv"])
            .column("n"),
        ["3"]
    );
}

#[test]
fn an_empty_store_has_empty_tables() {
    let project = Project::new();
    for table in ["runs", "items", "scores", "usage"] {
        let query = format!("select count(*) as n from {table}");
        assert_eq!(
            project.run(["sql", &query, "--format", "csv"]).column("n"),
            ["0"],
            "{table}"
        );
    }
}

fn csv_rows(project: &Project, path: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(project.path(path))
        .expect("it is there")
        .deserialize()
        .map(|row| row.expect("CSV"))
        .collect()
}

#[test]
fn csv_export() {
    let project = project();
    let export = project.run(["export", "csv", "out/deep"]);
    assert_eq!((export.code, export.stdout.as_str()), (0, ""));
    assert_eq!(
        export.stderr,
        "out/deep/runs.csv: 3 rows\nout/deep/items.csv: 3 rows\nout/deep/scores.csv: 1 row\nout/deep/usage.csv: 3 rows\n"
    );
    assert_eq!(project.files("out").len(), 4, "no temporary file stays");
    let runs = csv_rows(&project, "out/deep/runs.csv");
    let run = runs
        .iter()
        .find(|row| row["run_id"] == "run-2")
        .expect("a row");
    assert_eq!(
        (run["approach"].as_str(), run["error"].as_str()),
        ("=b", "bo\"om, \n"),
        "data for programs is not changed"
    );
    assert_eq!(run["shared_tests_total"], "", "not measured is empty");
    let items = csv_rows(&project, "out/deep/items.csv");
    assert_eq!(
        items.iter().filter(|row| row["status"] == "pass").count(),
        1
    );
    assert_eq!(
        project
            .run(["export", "csv", "out/deep", "--quiet"])
            .answer(),
        "",
        "a second export replaces the first"
    );
    assert!(
        project
            .run(["export", "csv", "out/deep/runs.csv"])
            .refusal()
            .contains("out/deep/runs.csv")
    );
}

#[test]
fn parquet_export() {
    let project = project();
    assert_eq!(
        project
            .run(["export", "parquet", "out", "--quiet"])
            .answer(),
        ""
    );
    assert_eq!(
        project.files("out"),
        [
            "out/items.parquet",
            "out/runs.parquet",
            "out/scores.parquet",
            "out/usage.parquet"
        ]
    );
    for file in project.files("out") {
        let bytes = fs::read(project.path(&file)).expect("it is there");
        assert!(
            bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{file}"
        );
        // The footer's length stands before the last mark, and the footer fits into the file.
        let length = u32::from_le_bytes(
            bytes[bytes.len() - 8..bytes.len() - 4]
                .try_into()
                .expect("four bytes"),
        );
        assert!((length as usize) < bytes.len() - 8, "{file}");
    }
}

#[test]
fn retracted_runs_are_in_no_table() {
    let project = project();
    assert_eq!(
        project
            .run(["retract", "run-1", "--reason", "x", "--quiet"])
            .code,
        0
    );
    for (table, rows) in [
        ("runs", "2"),
        ("items", "1"),
        ("scores", "0"),
        ("usage", "2"),
    ] {
        let query = format!("select count(*) as n from {table}");
        assert_eq!(
            project.run(["sql", &query, "--format", "csv"]).column("n"),
            [rows],
            "{table}"
        );
    }
    assert_eq!(project.run(["export", "csv", "out", "--quiet"]).code, 0);
    assert!(
        csv_rows(&project, "out/items.csv")
            .iter()
            .all(|row| row["run_id"] == "run-2")
    );
}
