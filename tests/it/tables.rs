//! `import` without a map: tables as people have them, each with what is true of it.
//!
//! `tables/EXPECTED.json` says for each table what its arms have: passed and counted, the mean of a score, or a published rate; nothing for
//! tables that must not be read without a decision. `tables/MEANING.json` holds small tables whose columns are easily taken for something
//! else, each with its board or with the option that decides. `tables/same` holds the same 300 outcomes in nine layouts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use evalreport::import::{
    ImportMode, StoredRuns, TableHints, TableMap, import_table, propose_tables,
};
use evalreport::results::Store;
use serde_json::Value;

use crate::support::{Output, Project};

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tables")
}

fn import(project: &Project, table: &str, more: &[&str]) -> Output {
    let path = tables().join(table).display().to_string();
    project.run(
        ["import", path.as_str()]
            .into_iter()
            .chain(more.iter().copied()),
    )
}

/// The runs of the store, by what tells them apart: the approach, the model, or both, and with `@` also the suite.
fn runs(project: &Project) -> BTreeMap<String, Vec<Value>> {
    let mut runs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for file in project
        .files("results")
        .iter()
        .filter(|file| file.ends_with("runs.jsonl"))
    {
        for line in project.read(file).lines() {
            let run: Value = serde_json::from_str(line).expect("a run");
            let name = |key: &str| run[key].as_str().expect("a name").to_owned();
            let arm = match (name("approach").as_str(), name("model").as_str()) {
                (approach, "unknown") => approach.to_owned(),
                ("unnamed", model) => model.to_owned(),
                (approach, model) => format!("{approach}/{model}"),
            };
            runs.entry(format!("{arm}@{}", name("suite")))
                .or_default()
                .push(run.clone());
            runs.entry(arm).or_default().push(run);
        }
    }
    runs
}

fn sum(runs: &[Value], key: &str) -> u64 {
    runs.iter().filter_map(|run| run[key].as_u64()).sum()
}

/// What is not as it should be; nothing where all is.
fn wrong(table: &str, expected: &Value) -> Option<String> {
    let project = Project::new();
    let said = import(&project, table, &["--yes"]);
    let Some(arms) = expected["arms"].as_object() else {
        return (said.code != 2).then(|| format!("{table} was read: {}", said.stderr));
    };
    if said.code != 0 {
        return Some(format!("{table} was not read: {}", said.stderr));
    }
    let runs = runs(&project);
    let names: Vec<&String> = runs.keys().filter(|name| !name.contains('@')).collect();
    let are_of_suites = arms.keys().all(|arm| arm.contains('@'));
    if !are_of_suites && names.iter().copied().collect::<BTreeSet<_>>() != arms.keys().collect() {
        return Some(format!("{table} has the arms {names:?}"));
    }
    arms.iter().find_map(|(arm, expected)| {
        let Some(runs) = runs.get(arm) else {
            return Some(format!("{table} has no {arm}"));
        };
        let found = (
            sum(runs, "shared_tests_passed"),
            sum(runs, "shared_tests_total"),
        );
        let counted = expected["passed"]
            .as_u64()
            .zip(expected["counted"].as_u64());
        if counted.is_some_and(|counted| counted != found) {
            return Some(format!("{table}, {arm}: {found:?}, not {counted:?}"));
        }
        let figure = expected["mean"].as_f64().or(expected["rate"].as_f64())?;
        let mut scores = runs
            .iter()
            .filter_map(|run| run["scores"][0]["value"].as_f64());
        let has_figure = scores.any(|score| (score - figure).abs() < 1e-9);
        (!has_figure).then(|| format!("{table}, {arm}: no score of {figure}"))
    })
}

#[test]
fn tables_of_many_shapes_are_read_right_or_not_at_all() {
    let text = fs::read_to_string(tables().join("EXPECTED.json")).expect("what is expected");
    let expected: BTreeMap<String, Value> = serde_json::from_str(&text).expect("JSON");
    assert!(expected.len() >= 40);
    let wrong: Vec<String> = expected
        .iter()
        .filter_map(|(table, expected)| wrong(table, expected))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// What is not as `MEANING.json` says of a table: its arms with their figures, the sentences about it, or the option that decides.
fn wrong_meaning(table: &Value) -> Option<String> {
    let project = Project::new();
    let text = |key: &str| table[key].as_str();
    let file = text("file")?;
    project.file(file, text("content")?);
    let options = table["options"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let said = project.run(
        ["import", file, "--yes", "--write-map", "map.yaml"]
            .into_iter()
            .chain(options),
    );
    if let Some(option) = text("refused") {
        let is_right =
            said.code == 2 && said.stderr.contains(option) && !project.path("results").exists();
        return (!is_right).then(|| {
            format!(
                "{file} was not refused with {option}: {}{}",
                said.stdout, said.stderr
            )
        });
    }
    if said.code != 0 {
        return Some(format!("{file} was not read: {}", said.stderr));
    }
    let notes = format!("{}{}", said.stdout, said.stderr);
    if text("says").is_some_and(|part| !notes.contains(part)) {
        return Some(format!("{file}: {:?} is not said: {notes}", text("says")));
    }
    if text("map").is_some_and(|part| !project.read("map.yaml").contains(part)) {
        return Some(format!(
            "{file}: {:?} is not in the map: {}",
            text("map"),
            project.read("map.yaml")
        ));
    }
    if let Some(expected) = table["seconds"].as_f64() {
        let times = project.run([
            "sql",
            "select duration_seconds from items",
            "--format",
            "csv",
        ]);
        let seconds: f64 = times
            .column("duration_seconds")
            .iter()
            .filter_map(|text| text.parse::<f64>().ok())
            .sum();
        if (seconds - expected).abs() > 1e-9 {
            return Some(format!("{file} took {seconds} s, not {expected}: {notes}"));
        }
    }
    let runs = runs(&project);
    let arms = table["arms"].as_object()?;
    let names: BTreeSet<&String> = runs.keys().filter(|name| !name.contains('@')).collect();
    if !arms.keys().any(|arm| arm.contains('@')) && names != arms.keys().collect() {
        return Some(format!("{file} has the arms {names:?}"));
    }
    let suites: BTreeSet<&str> = runs
        .keys()
        .filter_map(|name| name.split_once('@'))
        .map(|(_, suite)| suite)
        .collect();
    let expected: Option<BTreeSet<&str>> = table["suites"]
        .as_array()
        .map(|suites| suites.iter().filter_map(Value::as_str).collect());
    if expected.is_some_and(|expected| expected != suites) {
        return Some(format!("{file} has the suites {suites:?}"));
    }
    arms.iter().find_map(|(arm, expected)| {
        let Some(runs) = runs.get(arm) else {
            return Some(format!("{file} has no {arm}"));
        };
        let run = &runs[0];
        expected.as_object()?.iter().find_map(|(figure, expected)| {
            let found = match figure.as_str() {
                "passed" => Value::from(sum(runs, "shared_tests_passed")),
                "counted" => Value::from(sum(runs, "shared_tests_total")),
                "score" => run["scores"][0]["value"].clone(),
                "direction" => run["scores"][0]["direction"].clone(),
                "cost" => run["cost_usd"].clone(),
                _ => run[figure].clone(),
            };
            let is_right = match (found.as_f64(), expected.as_f64()) {
                (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
                // A date alone is its first moment.
                _ => match (found.as_str(), expected.as_str()) {
                    (Some(found), Some(expected)) => found.starts_with(expected),
                    _ => found == *expected,
                },
            };
            (!is_right)
                .then(|| format!("{file}, {arm}, {figure}: {found}, not {expected}: {notes}"))
        })
    })
}

#[test]
fn columns_are_read_as_what_they_mean_or_asked_for() {
    let text = fs::read_to_string(tables().join("MEANING.json")).expect("what is expected");
    let found: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    assert!(found.len() >= 100);
    let wrong: Vec<String> = found.iter().filter_map(wrong_meaning).collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        found.len(),
        wrong.join("\n")
    );
}

#[test]
fn nine_layouts_of_the_same_outcomes_give_the_same_numbers() {
    let files = fs::read_dir(tables().join("same"))
        .expect("the tables")
        .map(|entry| entry.expect("an entry").file_name());
    let files: Vec<String> = files
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    assert_eq!(files.len(), 9);
    for file in files {
        let project = Project::new();
        let said = import(&project, &format!("same/{file}"), &["--yes"]);
        assert_eq!(said.code, 0, "{file}: {}", said.stderr);
        let runs = runs(&project);
        for (arm, passed, counted, input, mean) in [
            ("baseline", 37, 97, 502_640, 0.421_261_855_670_103_1),
            ("agent-a", 47, 100, 474_688, 0.491_773),
            ("agent-b, v2", 47, 98, 437_147, 0.479_637_755_102_040_8),
        ] {
            let run = &runs[arm];
            assert_eq!(
                (
                    sum(run, "shared_tests_passed"),
                    sum(run, "shared_tests_total")
                ),
                (passed, counted),
                "{file} {arm}"
            );
            assert!(
                run[0]["cost_usd"].is_null(),
                "{file}: the cost of some items is unknown, or is in euros"
            );
            if file.starts_with("outcomes") {
                assert_eq!(sum(run, "input_tokens"), input, "{file} {arm}");
            }
            if !file.starts_with("wide") {
                let score = run[0]["scores"][0]["value"].as_f64().expect("a mean");
                assert!((score - mean).abs() < 1e-12, "{file} {arm}: {score}");
            }
        }
    }
}

#[test]
fn without_a_terminal_nothing_is_imported_unasked() {
    let project = Project::new();
    let said = import(&project, "t02.csv", &[]);
    let refusal = said.refusal();
    for part in [
        "approach: Agent",
        "status: {column: Result, values: {fail: fail, pass: pass}}",
        "the first rows as they will be read",
        "t02.csv --yes",
    ] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    assert!(!project.path("results").exists());
    let dry = import(&project, "t02.csv", &["--dry-run"]);
    assert!(
        dry.code == 0 && dry.stdout.contains("would import 3 runs with 72 outcomes"),
        "{}",
        dry.stdout
    );
    assert!(!project.path("results").exists());
}

/// The command that a refusal tells the user to give, as its arguments.
fn suggested(said: &Output) -> Vec<String> {
    let (_, command) = said
        .refusal()
        .rsplit_once("evalreport import")
        .expect("a command");
    let words = command
        .lines()
        .next()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    ["import"]
        .into_iter()
        .chain(words)
        .map(|word| word.trim_matches('\'').to_owned())
        .collect()
}

#[test]
fn a_suggested_command_imports_as_the_one_that_was_given() {
    let project = Project::new();
    project.file("elsewhere/settings.yaml", "version: 1\n");
    // A file of a format that is recognised, and a table as well.
    project.file("known.json", r#"[{"model": "nova", "task": "q1", "passed": true}, {"model": "nova", "task": "q2", "passed": false}]"#);
    let given = [
        "import",
        "known.json",
        "--as",
        "table",
        "--again",
        "--strict",
        "--results",
        "away",
        "--config",
        "elsewhere/settings.yaml",
    ];
    let words = suggested(&project.run(given));
    let expected = [
        "--as table",
        "--again",
        "--strict",
        "--results away",
        "--config elsewhere/settings.yaml",
        "--yes",
    ];
    assert!(
        expected
            .iter()
            .all(|option| words.join(" ").contains(option)),
        "{words:?}"
    );
    let done = project.run(words.iter().map(String::as_str));
    assert!(
        done.code == 0 && done.stdout.contains("imported 1 run with 2 outcomes"),
        "{words:?}: {}{}",
        done.stdout,
        done.stderr
    );
    assert!(project.path("away").exists() && !project.path("results").exists());

    // Also the one that decides what is open.
    let open = [
        "import",
        "known.json",
        "--as",
        "table",
        "--results",
        "other",
        "--set",
        "suite=s",
        "--wide",
        "items",
    ];
    let words = suggested(&project.run(open)).join(" ");
    assert!(
        [
            "--as table",
            "--results other",
            "--set suite=s",
            "--wide items"
        ]
        .iter()
        .all(|option| words.contains(option)),
        "{words}"
    );
}

#[test]
fn options_for_tables_are_refused_where_no_table_is_read() {
    let project = Project::new();
    project
        .file("t.csv", "model,task,result\na,1,pass\na,2,fail\n")
        .file("file", "");
    for (option, value) in [
        ("--item", "task"),
        ("--write-map", "map.yaml"),
        ("--value", "pass=fail"),
        ("--approach", "model"),
        ("--model", "model"),
        ("--passed", "result"),
        ("--score", "result"),
        ("--attempt", "task"),
        ("--wide", "items"),
        ("--decimal", "comma"),
        ("--direction", "down"),
        ("--suite", "task"),
        ("--sheet", "one"),
        ("--list", "rows"),
        ("--yes", ""),
    ] {
        let words = [option, value].into_iter().filter(|word| !word.is_empty());
        for format in ["promptfoo", "rubric", "bundle"] {
            let said = project.run(
                ["import", "t.csv", "--as", format]
                    .into_iter()
                    .chain(words.clone()),
            );
            let message =
                format!("`{option}` is for tables without a map, and --as {format} reads none");
            assert!(
                said.refusal().contains(&message),
                "{option} {format}: {}",
                said.stderr
            );
        }
        for (other, reason) in [
            ("--signed-by", "--signed-by reads bundles"),
            ("--map", "--map gives one"),
        ] {
            let said = project.run(
                ["import", "t.csv", other, "file"]
                    .into_iter()
                    .chain(words.clone()),
            );
            let message = format!("`{option}` is for tables without a map, and {reason}");
            assert!(
                said.refusal().contains(&message),
                "{option} {other}: {}",
                said.stderr
            );
        }
    }
    let several = project.run([
        "import", "t.csv", "--as", "rubric", "--item", "task", "--yes",
    ]);
    assert!(
        several
            .refusal()
            .contains("`--item` and `--yes` are for tables without a map"),
        "{}",
        several.stderr
    );
    assert!(!project.path("map.yaml").exists() && !project.path("results").exists());
}

#[test]
fn a_map_that_was_written_reads_the_same() {
    let project = Project::new();
    let written = import(&project, "t04.csv", &["--write-map", "map.yaml"]);
    assert_eq!(
        (written.code, project.path("results").exists()),
        (0, false),
        "{}",
        written.stderr
    );
    let kept = import(&project, "t04.csv", &["--write-map", "map.yaml"]);
    assert!(
        kept.refusal().contains("cannot write map.yaml"),
        "{}",
        kept.stderr
    );
    assert_eq!(import(&project, "t04.csv", &["--map", "map.yaml"]).code, 0);
    let again = import(&project, "t04.csv", &["--yes"]);
    assert!(
        again
            .stdout
            .contains("imported before, with the same map; nothing to do"),
        "{}",
        again.stdout
    );
}

#[test]
fn what_may_be_read_in_two_ways_names_the_option_that_decides() {
    let project = Project::new();
    let open = import(&project, "t39.csv", &["--yes"]);
    assert!(
        open.refusal()
            .contains("`passed_public` and `passed_hidden` could each be the outcome"),
        "{}",
        open.stderr
    );
    assert!(
        open.stderr.contains("t39.csv --passed passed_public"),
        "{}",
        open.stderr
    );
    assert_eq!(
        import(&project, "t39.csv", &["--passed", "passed_hidden", "--yes"]).code,
        0
    );

    project.file(
        "partial.csv",
        "model,task,result\na,1,pass\na,2,partial\nb,1,fail\nb,2,pass\n",
    );
    let open = project.run(["import", "partial.csv", "--yes"]);
    assert!(
        open.refusal().contains("`partial` in 1 of 4 rows")
            && open.stderr.contains("--value partial=fail"),
        "{}",
        open.stderr
    );
    let told = project.run(["import", "partial.csv", "--yes", "--value", "partial=fail"]);
    assert!(
        told.stdout.contains("imported 2 runs with 4 outcomes"),
        "{}{}",
        told.stdout,
        told.stderr
    );

    project.file(
        "marks.csv",
        "model;task;score\na;1;1.234\na;2;5.678\nb;1;2.345\nb;2;3.456\n",
    );
    let open = project.run(["import", "marks.csv", "--yes"]);
    assert!(
        open.refusal().contains("may have thousands or a fraction")
            && open.stderr.contains("--decimal comma"),
        "{}",
        open.stderr
    );
    let told = project.run(["import", "marks.csv", "--yes", "--decimal", "point"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
}

/// Imports a text as a table and returns passed and counted of each arm.
fn counts_of(name: &str, text: &str, more: &[&str]) -> (Project, BTreeMap<String, (u64, u64)>) {
    let project = Project::new();
    project.file(name, text);
    let said = project.run(
        ["import", name, "--yes"]
            .into_iter()
            .chain(more.iter().copied()),
    );
    assert_eq!(said.code, 0, "{name}: {}", said.stderr);
    let count = |runs: &Vec<Value>| {
        (
            sum(runs, "shared_tests_passed"),
            sum(runs, "shared_tests_total"),
        )
    };
    let counts = runs(&project)
        .iter()
        .filter(|(arm, _)| !arm.contains('@'))
        .map(|(arm, runs)| (arm.clone(), count(runs)))
        .collect();
    (project, counts)
}

#[test]
fn the_end_of_an_attempt_is_no_pass_where_a_grade_stands_beside_it() {
    let text = "task,model,status,score\na,m1,completed,1\nb,m1,completed,0\nc,m1,error,0\nd,m1,timeout,\na,m2,completed,1\nb,m2,completed,1\n\
        c,m2,completed,0\nd,m2,infra,0\n";
    let (project, counts) = counts_of("t.csv", text, &[]);
    assert_eq!(
        counts,
        BTreeMap::from([("m1".to_owned(), (1, 4)), ("m2".to_owned(), (2, 3))])
    );
    let items = project.run([
        "sql",
        "select status from items order by status",
        "--format",
        "csv",
    ]);
    assert_eq!(
        items.column("status"),
        [
            "error", "fail", "fail", "infra", "limit", "pass", "pass", "pass"
        ]
    );

    // With the words of a verdict, and with answers to be compared.
    let graded = text
        .replace(",1\n", ",richtig\n")
        .replace(",0\n", ",falsch\n")
        .replace("score", "Urteil")
        .replace("completed", "ok");
    let (_, counts) = counts_of("u.csv", &graded, &[]);
    assert_eq!(counts["m1"], (1, 4));
    let answers =
        "task,model,status,expected,answer\na,m1,success,x,x\nb,m1,success,y,x\nc,m1,error,z,\n";
    let (_, counts) = counts_of("v.csv", answers, &[]);
    assert_eq!(counts["m1"], (1, 3));

    // A score without a bound for a pass has no pass rate, and an error must not make one of 0%.
    let scores = "task,model,status,score\na,m1,completed,0.5\nb,m1,completed,0.25\nc,m1,error,\n";
    let (project, counts) = counts_of("w.csv", scores, &[]);
    assert_eq!(counts["m1"], (0, 0));
    assert_eq!(
        runs(&project)["m1"][0]["scores"][0]["value"].as_f64(),
        Some(0.375)
    );
    // The user knows better.
    assert_eq!(
        counts_of("t.csv", text, &["--passed", "status"]).1["m1"],
        (2, 4)
    );
}

#[test]
fn a_title_names_an_item_before_the_number_of_its_row() {
    let items = |name: &str, text: &str| {
        let (project, _) = counts_of(name, text, &[]);
        let query = "select item from items order by item";
        let said = project.run(["sql", query, "--format", "csv"]);
        said.column("item")
    };
    assert_eq!(
        items(
            "t.csv",
            "index,fullName,passed\n1,cart adds,yes\n2,cart removes,no\n3,cart waits,yes\n"
        ),
        ["cart adds", "cart removes", "cart waits"]
    );
    assert_eq!(
        items(
            "t.json",
            r#"{"tests": [{"title": "adds", "passed": true}, {"title": "removes", "passed": false}, {"title": "waits", "passed": true}]}"#
        ),
        ["adds", "removes", "waits"]
    );
    assert_eq!(
        items(
            "u.csv",
            "id,title,passed\nt1,adds,yes\nt2,removes,no\nt3,waits,yes\n"
        ),
        ["t1", "t2", "t3"],
        "an id is no number of a row"
    );
}

#[test]
fn benchmarks_with_a_score_each_are_runs_however_their_jobs_ended() {
    let text = "id,task,model,Best score (across scorers),job,Status\nx1,GPQA diamond,nova,0.85,j1,Success\nx2,GPQA diamond,nova,0.75,j2,Success\n\
        x3,MATH level 5,nova,0.5,,Success\nx4,GPQA diamond,lyra,0.625,j4,Success\nx5,MATH level 5,lyra,0.25,j5,Success\n";
    let (project, counts) = counts_of("runs.csv", text, &[]);
    assert_eq!(
        counts,
        BTreeMap::from([("lyra".to_owned(), (0, 0)), ("nova".to_owned(), (0, 0))])
    );
    let runs = runs(&project);
    assert_eq!(runs["nova@GPQA diamond"].len(), 2);
    assert_eq!(
        runs["lyra@MATH level 5"][0]["scores"][0]["value"].as_f64(),
        Some(0.25)
    );
}

#[test]
fn passed_and_failed_are_the_total() {
    let (_, counts) = counts_of("t.csv", "agent,passed,failed\nx,41,19\ny,37,23\n", &[]);
    assert_eq!(
        counts,
        BTreeMap::from([("x".to_owned(), (41, 60)), ("y".to_owned(), (37, 60))])
    );
}

#[test]
fn what_may_be_no_outcome_is_asked_for() {
    let facts = r#"{"rows": 9, "systems": {"a": {"rows": 3, "passed": 1, "score_mean": 0.5}, "b": {"rows": 3, "passed": 2, "score_mean": 0.25}},
        "paired": {"a": {"b": {"won": 1, "lost": 2}}, "b": {"a": {"won": 2, "lost": 1}}}}"#;
    for (name, text, part, option) in [
        ("facts.json", facts, "", ""),
        (
            "one.json",
            r#"{"name": "s", "score": 0.5, "size": 3, "nulls": 1}"#,
            "",
            "",
        ),
        (
            "p.csv",
            "q,model,passed,score\n1,a,true,0.5\n2,a,true,0.75\n1,b,true,1\n",
            "`passed` is the same in every row",
            "--passed passed (or --score score)",
        ),
        (
            "c.csv",
            "q,model,completed,score\n1,a,yes,0.5\n2,a,no,0.75\n1,b,yes,1\n",
            "no more than that an attempt ended",
            "--score score",
        ),
        (
            "s.csv",
            "task,agent,status\n1,a,completed\n2,a,error\n1,b,completed\n",
            "no column says whether they passed",
            "--passed status",
        ),
        (
            "b.csv",
            "task,agent,solved\n1,a,yes\n2,a,\n1,b,yes\n2,b,yes\n",
            "a blank cell may be a fail, or missing",
            "--value blank=fail",
        ),
        (
            "w.csv",
            "task,agent,result\n1,a,win\n2,a,loss\n1,b,win\n2,b,win\n",
            "against another answer",
            "--passed result",
        ),
        (
            "e.csv",
            "model,score,votes\na,1301,9\nb,1290,8\n",
            "may be a whole run",
            "--item",
        ),
        (
            "l.csv",
            "epoch,train_acc,val_acc,loss\n1,0.5,0.4,1.5\n2,0.6,0.5,1.25\n",
            "the rows may be no outcomes",
            "--item",
        ),
        (
            "d.csv",
            "test,2026-10-01,2026-10-02\na,pass,fail\nb,pass,pass\n",
            "times side by side",
            "--wide",
        ),
        (
            "x.csv",
            "q,model_a,model_b,passed\n1,m,n,1\n2,m,n,0\n",
            "compares `model_a` with `model_b`",
            "--passed",
        ),
        (
            "n.csv",
            "agent,passed\nx,41\ny,37\n",
            "may be a count or a percentage",
            "--map",
        ),
    ] {
        let project = Project::new();
        project.file(name, text);
        let said = project.run(["import", name, "--yes"]);
        assert_eq!(said.code, 2, "{name}: {}", said.stdout);
        assert!(
            said.stderr.contains(part) && said.stderr.contains(option),
            "{name}: {}",
            said.stderr
        );
        assert!(!project.path("results").exists(), "{name}");
    }
    let blank = "task,agent,solved\n1,a,yes\n2,a,\n1,b,yes\n2,b,yes\n";
    assert_eq!(
        counts_of("b.csv", blank, &["--value", "blank=fail"]).1["a"],
        (1, 2)
    );
    assert_eq!(
        counts_of("b.csv", blank, &["--value", "blank=not_evaluated"]).1["a"],
        (1, 1)
    );
}

#[test]
fn a_board_from_a_table_takes_one_command_and_stores_nothing() {
    let project = Project::new();
    let path = tables().join("t02.csv").display().to_string();
    for _ in 0..2 {
        let board = project.run(["leaderboard", path.as_str(), "--format", "csv"]);
        assert_eq!(board.code, 0, "{}", board.stderr);
        assert_eq!(board.rows().len(), 3, "{}", board.stdout);
        assert!(
            board.stderr.contains("1 file read as a table"),
            "{}",
            board.stderr
        );
    }
    assert!(!project.path("results").exists());
    let path = tables().join("t39.csv").display().to_string();
    std::fs::create_dir(project.path("away")).expect("a folder");
    let open = project.run(["leaderboard", path.as_str(), "--results", "away"]);
    assert!(
        open.refusal()
            .contains("t39.csv --results away --passed passed_public"),
        "{}",
        open.stderr
    );
}

#[test]
fn fields_of_the_run_can_be_set() {
    let project = Project::new();
    let set = [
        "--yes",
        "--set",
        "suite=greetings",
        "--set",
        "suite_version=2",
        "--set",
        "tags.machine=lab",
        "--set",
        "model=nova",
    ];
    assert_eq!(import(&project, "t02.csv", &set).code, 0);
    let runs = runs(&project);
    let run = &runs["react/nova"][0];
    assert_eq!(
        (
            run["suite"].as_str(),
            run["suite_version"].as_str(),
            run["tags"]["machine"].as_str()
        ),
        (Some("greetings"), Some("2"), Some("lab"))
    );
    let unknown = import(&project, "t02.csv", &["--yes", "--set", "colour=red"]);
    assert!(
        unknown
            .refusal()
            .contains("`colour` cannot be set from outside"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn units_sums_and_differences_are_reckoned() {
    let project = Project::new();
    let map = "format: evalreport/map/1\nname: t\nrows: item\ndelimiter: ';'\ndecimal: comma\nmissing: [k.A.]\n\
        run: {suite: {constant: s}, approach: a, model: {constant: m}}\n\
        item:\n  id: q\n  kind: {constant: question}\n  status: {column: ok, values: {ja: pass, nein: fail}}\n  \
        cost_usd: {column: preis, unit: EUR, multiply: 1.1}\n  duration_seconds: {difference: [ende, start]}\n  \
        input_tokens: {sum: [in, cache]}\n  answer: antwort\n  scores: {tone: ton}\n";
    project.file("map.yaml", map).file(
        "t.csv",
        "a;q;ok;preis;start;ende;in;cache;antwort;ton\n\
        x;1;ja;1.000,50 €;2026-11-01 10:00;2026-11-01 10:01;1.000;5;Lyon;0,5\nx;2;nein;k.A.;2026-11-01 10:00;2026-11-01 10:02;7;0;Paris;0,25\n",
    );
    let said = project.run(["import", "t.csv", "--map", "map.yaml"]);
    assert!(
        said.stdout.contains("2 rows read, 2 accepted, 0 refused"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    let items = project.run([
        "sql",
        "select item, cost_usd, duration_seconds, input_tokens from items order by item",
        "--format",
        "csv",
    ]);
    let rows = items.rows();
    assert_eq!(
        (
            rows[0]["duration_seconds"].as_str(),
            rows[0]["input_tokens"].as_str()
        ),
        ("60", "1005"),
        "{}",
        items.stdout
    );
    let cost: f64 = rows[0]["cost_usd"].parse().expect("a cost");
    assert!(
        (cost - 1100.55).abs() < 1e-9 && rows[1]["cost_usd"].is_empty(),
        "{}",
        items.stdout
    );

    let foreign = map.replace(", multiply: 1.1", "");
    project.file("map.yaml", foreign);
    assert!(
        project
            .run(["import", "t.csv", "--map", "map.yaml"])
            .refusal()
            .contains("the cost is not in dollars")
    );
}

#[test]
fn files_of_one_layout_are_one_import_and_others_are_named() {
    let project = Project::new();
    project
        .file("out/a.csv", "task,ok\n1,yes\n2,no\n")
        .file("out/b.csv", "task,ok\n1,no\n2,no\n");
    let said = project.run(["import", "out", "--yes"]);
    assert!(
        said.stdout
            .contains("2 files in all: 4 rows read, 4 accepted, 0 refused; 2 runs new"),
        "{}",
        said.stdout
    );
    assert_eq!(
        runs(&project)
            .into_keys()
            .filter(|name| name.contains('@'))
            .collect::<Vec<_>>(),
        ["a@out", "b@out"]
    );
    project.file("out/c.csv", "name,weight\nx,1\n");
    assert!(
        project
            .run(["import", "out", "--yes"])
            .refusal()
            .contains("c.csv: has other columns than")
    );
}

/// Files whose insides are read by place are broken in their bytes: reading them ends, and says why.
#[test]
fn broken_workbooks_and_columnar_files_do_no_harm() {
    const FILES: [&str; 5] = [
        "outcomes.xlsx",
        "outcomes.duckdb.snappy.parquet",
        "outcomes.polars.zstd.parquet",
        "outcomes.pyarrow.zstd.parquet",
        "outcomes.arrow",
    ];
    const EACH: u64 = 150;
    let map = "format: evalreport/map/1\nname: t\nrows: item\nrun: {suite: {constant: s}, approach: system, model: {constant: m}, timestamp: started_at}\n\
        item: {id: item_id, kind: {constant: task}, category: category, cost_usd: cost_usd, score: score, status: {column: passed, values: {'1': pass, '0': fail, 'true': pass, 'false': fail}}}\n";
    let map = TableMap::parse("map.yaml", map, &BTreeMap::new()).expect("a map");
    let project = Project::new();
    let store = Store::new(project.path("results"));
    let most = std::env::var("EVALREPORT_MUTATIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(EACH);
    for file in FILES {
        let whole = if Path::new(file)
            .extension()
            .is_some_and(|ending| ending == "arrow")
        {
            arrow()
        } else {
            fs::read(tables().join("same").join(file)).expect("a fixture")
        };
        let path = project.path(file);
        let mut state = 7u64;
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from((state >> 33) % bound.max(1) as u64).expect("small")
        };
        for _ in 0..most {
            let mut bytes = whole.clone();
            for _ in 0..=below(6) {
                // The ends hold what says where the rest is.
                let place = if below(2) == 0 {
                    bytes.len() - 1 - below(bytes.len().min(1200))
                } else {
                    below(bytes.len())
                };
                bytes[place] = u8::try_from(below(256)).expect("a byte");
            }
            if below(10) == 0 {
                bytes.truncate(below(bytes.len()));
            }
            fs::write(&path, &bytes).expect("writable");
            let began = std::time::Instant::now();
            let report = import_table(
                &store,
                &[&path],
                &map,
                &StoredRuns::default(),
                ImportMode::DryRun,
                &mut |_| {},
            )
            .expect("nothing is written");
            assert_eq!(report.sources.len(), 1);
            let _ = propose_tables(std::slice::from_ref(&path), &TableHints::default());
            assert!(
                began.elapsed().as_secs() < 20,
                "{file} took {:?}",
                began.elapsed()
            );
        }
    }
}

/// The same columns as the other files, as Arrow writes them.
pub fn arrow() -> Vec<u8> {
    use arrow_array::{
        ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, StructArray,
        TimestampMillisecondArray,
    };
    use std::sync::Arc;
    let texts = |texts: [&str; 3]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let numbers = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(1.0)])) as ArrayRef;
    let usage =
        StructArray::try_from(vec![("input_tokens", Arc::clone(&numbers))]).expect("a struct");
    let batch = RecordBatch::try_from_iter([
        ("item_id", texts(["q1", "q2", "q3"])),
        ("system", texts(["a", "a", "a"])),
        ("category", texts(["x", "x", "y"])),
        (
            "passed",
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])) as ArrayRef,
        ),
        ("score", Arc::clone(&numbers)),
        ("cost_usd", numbers),
        ("usage", Arc::new(usage) as ArrayRef),
        (
            "started_at",
            Arc::new(TimestampMillisecondArray::from(vec![
                1_762_000_000_000,
                1_762_000_001_000,
                1_762_000_002_000,
            ])) as ArrayRef,
        ),
    ])
    .expect("a batch");
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("memory");
    writer.into_inner().expect("memory")
}

#[test]
fn arrow_files_are_tables() {
    let project = Project::new();
    project.bytes("out.feather", &arrow());
    let said = project.run(["import", "out.feather", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let runs = runs(&project);
    let run = &runs["a"][0];
    assert_eq!(
        (
            run["shared_tests_passed"].as_u64(),
            run["shared_tests_total"].as_u64()
        ),
        (Some(1), Some(2))
    );
    assert_eq!(
        (
            run["scores"][0]["value"].as_f64(),
            run["timestamp"].as_str()
        ),
        (Some(0.75), Some("2025-11-01T12:26:42Z"))
    );
}

/// How many outcomes the board of a table says each model lacks, and out of how many items.
fn missing(text: &str) -> BTreeMap<String, (String, String)> {
    let project = Project::new();
    project.file("uneven.csv", text);
    let board = project.run(["leaderboard", "uneven.csv", "--format", "csv"]);
    assert_eq!(board.code, 0, "{}", board.stderr);
    let lacking = board.column("missing").into_iter().zip(board.column("n"));
    board.column("model").into_iter().zip(lacking).collect()
}

#[test]
fn a_further_attempt_that_nobody_made_is_not_missing() {
    let lacks = |missing: &str, n: &str| (missing.to_owned(), n.to_owned());
    let expected = BTreeMap::from([
        ("a".to_owned(), lacks("0", "3")),
        ("b".to_owned(), lacks("1", "2")),
    ]);
    let uneven = "model,task,attempt,passed\na,t0,1,1\na,t1,1,1\na,t1,2,0\na,t2,1,1\na,t2,2,1\na,t2,3,1\nb,t0,1,1\nb,t1,1,0\n";
    assert_eq!(
        missing(uneven),
        expected,
        "an item that an arm lacks is missing, an attempt is not"
    );
    let judged = "model,task,attempt,judge,passed\na,t0,1,x,1\na,t0,1,y,1\na,t1,1,x,1\na,t1,1,y,0\na,t1,2,x,1\na,t1,2,y,1\n\
        a,t2,1,x,1\na,t2,1,y,0\nb,t0,1,x,1\nb,t0,1,y,1\nb,t1,1,x,1\nb,t1,1,y,0\n";
    assert_eq!(missing(judged), expected, "the same with two judges");
}
