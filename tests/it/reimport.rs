//! Importing again: copies are recognised, and what grew or was changed since replaces what the store has of it.

use serde_json::{Value, json};

use crate::support::{Project, inspect_log as log, lines};

/// Writes the log, imports it, and returns what it says with the rate that the board has then.
#[track_caller]
fn import(project: &Project, content: &str) -> (String, [u64; 3]) {
    project.file("logs/log.json", content);
    let imported = project.run(["import", "logs"]);
    assert_eq!(imported.code, 0, "{}{}", imported.stdout, imported.stderr);
    assert_eq!(project.run(["doctor"]).code, 0);
    let board = project.run(["leaderboard", "--format", "json"]).json();
    let entry = &board["suites"][0]["entries"][0];
    let count = |value: &Value| value.as_u64().expect("a count");
    let of = |key: &str| count(&entry["pass_rate"][key]);
    (
        imported.stdout + &imported.stderr,
        [of("passed"), of("total"), count(&entry["runs"])],
    )
}

#[test]
fn a_log_that_grew_or_was_scored_again_replaces_what_is_stored() {
    let project = Project::new();
    let first = [(1, "C"), (2, "I")];
    assert_eq!(import(&project, &log(&first)).1, [1, 2, 1]);
    let (said, grown) = import(&project, &log(&[(1, "C"), (2, "I"), (3, "C")]));
    assert_eq!(grown, [2, 3, 1], "{said}");
    assert!(
        said.contains("3 outcomes, 2 before") && said.contains("is retracted: replaced by"),
        "{said}"
    );
    // As many right as before, and other ones.
    let (said, scored) = import(&project, &log(&[(1, "I"), (2, "C"), (3, "C")]));
    assert_eq!(scored, [2, 3, 1], "{said}");
    let query = "select items.item, items.status from items join runs on items.run_id = runs.run_id order by items.item";
    let items = project.run(["sql", query, "--format", "csv"]);
    assert_eq!(
        items.stdout, "item,status\n1,fail\n2,pass\n3,pass\n",
        "{}",
        items.stderr
    );
    let (said, older) = import(&project, &log(&first));
    assert!(
        said.contains("the store has more outcomes of the run"),
        "{said}"
    );
    assert_eq!(older, [2, 3, 1]);
}

#[test]
fn a_copy_with_fewer_outcomes_does_not_replace_the_whole() {
    let project = Project::new();
    import(&project, &log(&[(1, "C"), (2, "I"), (3, "C")]));
    let (said, counted) = import(&project, &log(&[(1, "C"), (2, "I")]));
    assert!(said.contains("more outcomes of the run unnamed · m/one than the file (3, here 2): it is kept as it is"), "{said}");
    assert_eq!(counted, [2, 3, 1]);
}

#[test]
fn both_in_one_folder_are_the_larger_one() {
    for names in [["a.json", "b.json"], ["b.json", "a.json"]] {
        let project = Project::new();
        project.file(&format!("logs/{}", names[0]), log(&[(1, "C"), (2, "I")]));
        project.file(
            &format!("logs/{}", names[1]),
            log(&[(1, "C"), (2, "I"), (3, "C")]),
        );
        let imported = project.run(["import", "logs"]);
        assert_eq!(imported.code, 0, "{}", imported.stderr);
        let board = project.run(["leaderboard", "--format", "json"]).json();
        assert_eq!(
            board["suites"][0]["entries"][0]["pass_rate"]["total"], 3,
            "{names:?}"
        );
    }
}

#[test]
fn of_two_files_with_as_many_and_other_outcomes_the_first_stands_every_time() {
    let project = Project::new();
    project.file("logs/a.json", log(&[(1, "C"), (2, "I")]));
    project.file("logs/b.json", log(&[(1, "C"), (2, "C")]));
    for _ in 0..2 {
        let said = project.run(["import", "logs"]).stdout;
        assert!(
            said.contains("`a.json` has the same run with other results and is kept"),
            "{said}"
        );
        let board = project.run(["leaderboard", "--format", "json"]).json();
        let rate = &board["suites"][0]["entries"][0]["pass_rate"];
        assert_eq!((&rate["passed"], &rate["total"]), (&json!(1), &json!(2)));
    }
}

#[test]
fn a_run_that_was_taken_out_does_not_come_back() {
    let project = Project::new();
    import(&project, &log(&[(1, "C"), (2, "I")]));
    assert_eq!(
        project
            .run(["retract", "--suite", "demo", "--reason", "wrong key"])
            .code,
        0
    );
    project.file("logs/log.json", log(&[(1, "C"), (2, "I"), (3, "C")]));
    let again = project.run(["import", "logs"]);
    assert!(
        again
            .stdout
            .contains("every run of it is in the store already"),
        "{}",
        again.stdout
    );
    assert!(
        again
            .stdout
            .contains("is hidden by a tombstone of several runs (wrong key)"),
        "{}",
        again.stdout
    );
}

#[test]
fn a_dry_run_says_what_would_be_replaced_and_writes_nothing() {
    let project = Project::new();
    import(&project, &log(&[(1, "C"), (2, "I")]));
    let before = project.files("results");
    project.file("logs/log.json", log(&[(1, "C"), (2, "C")]));
    let said = project.run(["import", "logs", "--dry-run"]).stdout;
    assert!(
        said.contains("would import 1 run with 2 outcomes")
            && said.contains("2 outcomes, 2 before"),
        "{said}"
    );
    let answer = project
        .run(["import", "logs", "--dry-run", "--format", "json"])
        .json();
    assert_eq!(
        answer["sources"][0]["runs_replaced"]
            .as_object()
            .map(serde_json::Map::len),
        Some(1),
        "{answer:#}"
    );
    assert_eq!(project.files("results"), before);
}

#[test]
fn an_import_that_was_interrupted_before_the_tombstone_is_completed_by_the_next() {
    let project = Project::new();
    import(&project, &log(&[(1, "C"), (2, "I")]));
    let (_, grown) = import(&project, &log(&[(1, "C"), (2, "I"), (3, "C")]));
    std::fs::remove_file(project.path("results/retractions.jsonl")).expect("the tombstone");
    let board = project.run(["leaderboard", "--format", "json"]).json();
    assert_eq!(
        board["suites"][0]["entries"][0]["runs"], 1,
        "a replaced run does not count, with or without a tombstone"
    );
    let (said, mended) = import(&project, &log(&[(1, "C"), (2, "I"), (3, "C")]));
    assert!(said.contains("is retracted: replaced by"), "{said}");
    assert_eq!(mended, grown);
}

#[test]
fn rows_that_come_later_are_read() {
    let row = |test: u64, success: bool| {
        json!({"promptIdx": 0, "testIdx": test, "success": success, "score": u64::from(success), "failureReason": u64::from(!success),
               "provider": {"id": "echo"}, "vars": {"q": test}, "testCase": {"vars": {"q": test}}, "response": {"output": "x"},
               "prompt": {"raw": "p", "label": "p"}, "promptId": "p"})
    };
    let project = Project::new();
    project.file(
        "logs/night.jsonl",
        lines((0..3).map(|test| row(test, test > 0))),
    );
    assert_eq!(project.run(["import", "logs"]).code, 0);
    project.file(
        "logs/night.jsonl",
        lines((0..6).map(|test| row(test, test > 0))),
    );
    let again = project.run(["import", "logs"]);
    assert!(
        again.stdout.contains("6 outcomes, 3 before"),
        "{}",
        again.stdout
    );
}

/// Makes what was imported look as an earlier version left it: under another name, without what that did not know.
fn as_of_old(project: &Project, change: impl Fn(&mut Value)) {
    let files = project.files("results/imports");
    for runs in files.iter().filter(|file| file.ends_with(".runs.jsonl")) {
        let text = project.read(runs);
        let old = text.lines().map(|line| {
            let mut run: Value = serde_json::from_str(line).expect("a header");
            change(&mut run);
            run
        });
        let old = lines(old);
        let name = "0".repeat(64);
        let items = runs.replace(".runs.jsonl", ".items.jsonl.zst");
        std::fs::rename(
            project.path(&items),
            project.path(&format!("results/imports/{name}.items.jsonl.zst")),
        )
        .expect("a pair");
        std::fs::remove_file(project.path(runs)).expect("a pair");
        project.file(&format!("results/imports/{name}.runs.jsonl"), old);
    }
}

#[test]
fn what_an_earlier_version_imported_is_replaced_by_what_this_one_reads() {
    let query = "select counted, count(*) as runs from runs group by counted order by counted";
    // With what the source held, and of before that was kept.
    for content in [json!({"outcomes": 0, "sum": "of old"}), Value::Null] {
        let project = Project::new();
        project.fixture("import/aider/polyglot_small.yml", "board.yml");
        assert_eq!(project.run(["import", "board.yml"]).code, 0);
        let new = project.run(["sql", query, "--format", "csv"]).stdout;
        assert!(new.contains("task,"), "{new}");
        as_of_old(&project, |run| {
            run.as_object_mut().expect("a header").remove("counted");
            run["provenance"]["content"] = content.clone();
        });
        assert!(
            !project
                .run(["sql", query, "--format", "csv"])
                .stdout
                .contains("task")
        );
        let again = project.run(["import", "board.yml"]);
        assert!(again.stdout.contains("is replaced by"), "{}", again.stdout);
        assert_eq!(
            project.run(["sql", query, "--format", "csv"]).stdout,
            new,
            "both do not stand"
        );
        assert_eq!(project.run(["doctor"]).code, 0);
        assert!(
            project
                .run(["import", "board.yml"])
                .stdout
                .contains("imported before")
        );
    }
}

#[test]
fn a_changed_map_replaces_what_the_old_one_gave() {
    let project = Project::new();
    let map = |group: &str, kind: &str| {
        format!(
            "format: evalreport/map/1\nname: t\nrows: item\nrun: {{suite: {{constant: s}}, approach: arm, model: {{constant: m}}}}\n\
             item: {{id: id, kind: {{constant: {kind}}}, {group}: subject, status: ok}}\n"
        )
    };
    project.file(
        "table.csv",
        "arm,id,subject,ok\na,1,law,true\na,2,maths,false\nb,1,law,true\nb,2,maths,true\n",
    );
    project.file("map.yaml", map("cluster", "question"));
    assert_eq!(
        project
            .run(["import", "table.csv", "--map", "map.yaml"])
            .code,
        0
    );
    project.file("map.yaml", map("category", "task"));
    let again = project.run(["import", "table.csv", "--map", "map.yaml"]);
    assert!(
        again.stdout.contains("is replaced by") && again.stderr.contains("is retracted"),
        "{}{}",
        again.stdout,
        again.stderr
    );
    let items = "select i.item, i.kind, i.cluster, i.category, i.status from items i join runs r on i.run_id = r.run_id \
                 where r.approach = 'a' order by i.item";
    let items = project.run(["sql", items, "--format", "csv"]);
    assert_eq!(
        items.stdout, "item,kind,cluster,category,status\n1,task,,law,pass\n2,task,,maths,fail\n",
        "{}",
        items.stderr
    );
    let board = project.run(["leaderboard", "--format", "json"]).json();
    let entries = board["suites"][0]["entries"].as_array().expect("entries");
    assert!(
        entries.len() == 2 && entries.iter().all(|entry| entry["runs"] == 1),
        "{board:#}"
    );
    assert_eq!(project.run(["doctor"]).code, 0);
    let compared = project
        .run(["compare", "--format", "json"])
        .json()
        .to_string();
    assert!(compared.contains("\"of\":\"tasks\""), "{compared}");
}

/// Writes a file, imports it, and returns what is said with how often the arm passed, of how many, in how many runs.
#[track_caller]
fn import_file(project: &Project, name: &str, content: &str, more: &[&str]) -> (String, [u64; 3]) {
    project.file(name, content);
    let imported = project.run(["import", name].into_iter().chain(more.iter().copied()));
    assert_eq!(imported.code, 0, "{}{}", imported.stdout, imported.stderr);
    assert_eq!(project.run(["doctor"]).code, 0);
    let board = project.run(["leaderboard", "--format", "json"]).json();
    let entry = &board["suites"][0]["entries"][0];
    let count = |value: &Value| value.as_u64().expect("a count");
    (
        imported.stdout + &imported.stderr,
        [
            count(&entry["pass_rate"]["passed"]),
            count(&entry["pass_rate"]["total"]),
            count(&entry["runs"]),
        ],
    )
}

fn statuses(project: &Project) -> String {
    let query = "select i.item, i.status from items i join runs r on i.run_id = r.run_id order by i.item, i.status";
    // Reports name the suite before each test.
    project
        .run(["sql", query, "--format", "csv"])
        .stdout
        .replace("s > ", "")
}

const MAP: &str = "format: evalreport/map/1\nname: t\nrows: item\n\
    run: {suite: {constant: s}, approach: {constant: a}, model: {constant: m}, cost_usd: cost}\n\
    item: {id: q, kind: {constant: question}, status: ok}\n";

fn table(rows: &[(&str, &str)], cost: &str) -> String {
    rows.iter()
        .fold("q,ok,cost\n".to_owned(), |text, (item, ok)| {
            text + &format!("{item},{ok},{cost}\n")
        })
}

fn report(cases: &[(&str, bool)], time: &str) -> String {
    let case = |(name, passed): &(&str, bool)| match passed {
        true => format!("<testcase name=\"{name}\"/>"),
        false => format!("<testcase name=\"{name}\"><failure/></testcase>"),
    };
    format!(
        "<testsuite name=\"s\"{time}>{}</testsuite>",
        cases.iter().map(case).collect::<String>()
    )
}

fn rubric(grades: &[(&str, u8)]) -> String {
    let leaf = |(id, grade): &(&str, u8)| json!({"id": id, "requirements": id, "weight": 1, "score": grade, "sub_tasks": []});
    json!({"id": "r", "requirements": "all", "score": 0, "sub_tasks": grades.iter().map(leaf).collect::<Vec<Value>>()}).to_string()
}

/// One state of a file, by what passed in it.
type State<'a> = Box<dyn Fn(&[(&'static str, bool)]) -> String + 'a>;

#[test]
fn the_rule_of_importing_again_is_one_for_tables_rubrics_and_reports() {
    let kinds: [(&str, &[&str], State<'_>); 4] = [
        (
            "t.csv",
            &["--map", "map.yaml"],
            Box::new(|cases| {
                table(
                    &cases
                        .iter()
                        .map(|(item, passed)| (*item, if *passed { "pass" } else { "fail" }))
                        .collect::<Vec<_>>(),
                    "1",
                )
            }),
        ),
        (
            "r.json",
            &[
                "--as",
                "rubric",
                "--set",
                "suite=s",
                "--set",
                "approach=a",
                "--set",
                "model=m",
            ],
            Box::new(|cases| {
                rubric(
                    &cases
                        .iter()
                        .map(|(item, passed)| (*item, u8::from(*passed)))
                        .collect::<Vec<_>>(),
                )
            }),
        ),
        ("j.xml", &[], Box::new(|cases| report(cases, ""))),
        (
            "timed.xml",
            &[],
            Box::new(|cases| report(cases, " timestamp=\"2026-02-03T10:00:00Z\"")),
        ),
    ];
    for (name, more, state) in &kinds {
        let project = Project::new();
        project.file("map.yaml", MAP);
        let first = state(&[("1", true), ("2", false)]);
        assert_eq!(
            import_file(&project, name, &first, more).1,
            [1, 2, 1],
            "{name}"
        );
        let before = project.files("results");
        assert!(
            import_file(&project, name, &first, more)
                .0
                .contains("imported before"),
            "{name}"
        );
        assert_eq!(
            project.files("results"),
            before,
            "{name}: the same is nothing to do"
        );
        // As many, and the other way round.
        let (said, reversed) =
            import_file(&project, name, &state(&[("1", false), ("2", true)]), more);
        assert_eq!(reversed, [1, 2, 1], "{name}: {said}");
        assert!(
            said.contains("2 outcomes, 2 before") && said.contains("is retracted: replaced by"),
            "{name}: {said}"
        );
        assert_eq!(
            statuses(&project),
            "item,status\n1,fail\n2,pass\n",
            "{name}"
        );
        let (said, grown) = import_file(
            &project,
            name,
            &state(&[("1", false), ("2", true), ("3", true)]),
            more,
        );
        assert_eq!(grown, [2, 3, 1], "{name}: {said}");
        assert!(said.contains("3 outcomes, 2 before"), "{name}: {said}");
        let (said, shrunk) = import_file(&project, name, &state(&[("1", true), ("2", true)]), more);
        assert_eq!(shrunk, [2, 3, 1], "{name}: {said}");
        assert!(
            said.contains("the store has more outcomes of the run") && said.contains("(3, here 2)"),
            "{name}: {said}"
        );
        // What is asked for is done, and an older state can come back.
        let again: Vec<&str> = more.iter().copied().chain(["--again"]).collect();
        let (said, asked) =
            import_file(&project, name, &state(&[("1", true), ("2", true)]), &again);
        assert_eq!(asked, [2, 2, 1], "{name}: {said}");
        let (said, back) = import_file(&project, name, &first, &again);
        assert_eq!(back, [1, 2, 1], "{name}: {said}");
        let (said, same) = import_file(&project, name, &first, &again);
        assert_eq!(same, [1, 2, 1], "{name}: {said}");
        assert!(
            !said.contains("is replaced"),
            "{name}: nothing differs: {said}"
        );
    }
}

#[test]
fn what_was_retracted_is_read_anew_when_asked_for() {
    let project = Project::new();
    project.file("map.yaml", MAP);
    let rows = table(&[("1", "pass"), ("2", "fail")], "1");
    import_file(&project, "t.csv", &rows, &["--map", "map.yaml"]);
    let id = project
        .run(["sql", "select run_id from runs", "--format", "csv"])
        .stdout
        .lines()
        .nth(1)
        .expect("a run")
        .to_owned();
    assert_eq!(
        project.run(["retract", &id, "--reason", "wrong key"]).code,
        0
    );
    let plain = project.run(["import", "t.csv", "--map", "map.yaml"]);
    assert!(plain.stdout.contains("imported before"), "{}", plain.stdout);
    assert!(
        plain
            .stdout
            .contains("the run a · m is retracted (wrong key): --again imports it again"),
        "{}",
        plain.stdout
    );
    let (said, back) = import_file(&project, "t.csv", &rows, &["--map", "map.yaml", "--again"]);
    assert_eq!(back, [1, 2, 1], "{said}");
    assert!(
        said.contains("was retracted and is imported again"),
        "{said}"
    );
    // The retracted run stays replaced, whatever becomes of its tombstone.
    assert_eq!(project.run(["retract", &id, "--undo"]).code, 0);
    let counted = |project: &Project| {
        let board = project.run(["leaderboard", "--format", "json"]).json();
        let entry = &board["suites"][0]["entries"][0];
        (entry["pass_rate"]["total"].clone(), entry["runs"].clone())
    };
    assert_eq!(counted(&project), (json!(2), json!(1)));
    let (said, same) = import_file(&project, "t.csv", &rows, &["--map", "map.yaml", "--again"]);
    assert_eq!(same, [1, 2, 1], "{said}");
    assert_eq!(counted(&project), (json!(2), json!(1)));
}

#[test]
fn a_tombstone_of_a_suite_hides_what_is_read_anew() {
    let project = Project::new();
    project
        .file("map.yaml", MAP)
        .file("t.csv", table(&[("1", "pass"), ("2", "fail")], "1"));
    let import = || project.run(["import", "t.csv", "--map", "map.yaml", "--again"]);
    assert_eq!(import().code, 0);
    assert_eq!(
        project
            .run(["retract", "--suite", "s", "--reason", "wrong key"])
            .code,
        0
    );
    let before = project.files("results");
    for _ in 0..2 {
        let said = import();
        assert!(
            said.stdout
                .contains("is hidden by a tombstone of several runs (wrong key)"),
            "{}",
            said.stdout
        );
        assert!(
            !said.stdout.contains("is imported again"),
            "{}",
            said.stdout
        );
        assert_eq!(project.files("results"), before, "no further copy");
    }
}

#[test]
fn a_file_that_was_changed_back_is_taken() {
    let passes = |items: [bool; 2]| -> Vec<(&'static str, bool)> {
        ["1", "2"].into_iter().zip(items).collect()
    };
    let kinds: [(&str, &[&str], State<'_>); 3] = [
        (
            "t.csv",
            &["--map", "map.yaml"],
            Box::new(|cases| {
                table(
                    &cases
                        .iter()
                        .map(|(item, passed)| (*item, if *passed { "pass" } else { "fail" }))
                        .collect::<Vec<_>>(),
                    "1",
                )
            }),
        ),
        ("j.xml", &[], Box::new(|cases| report(cases, ""))),
        (
            "log.json",
            &[],
            Box::new(|cases| {
                let samples = cases.iter().map(|(item, passed)| {
                    (
                        item.parse().expect("a number"),
                        if *passed { "C" } else { "I" },
                    )
                });
                log(&samples.collect::<Vec<_>>())
            }),
        ),
    ];
    for (name, more, state) in &kinds {
        let project = Project::new();
        project.file("map.yaml", MAP);
        for _ in 0..2 {
            for (items, expected) in [
                ([true, false], "1,pass\n2,fail"),
                ([false, true], "1,fail\n2,pass"),
            ] {
                let (said, counted) = import_file(&project, name, &state(&passes(items)), more);
                assert_eq!(counted, [1, 2, 1], "{name}: {said}");
                assert_eq!(
                    statuses(&project),
                    format!("item,status\n{expected}\n"),
                    "{name}: {said}"
                );
                let (said, _) = import_file(&project, name, &state(&passes(items)), more);
                assert!(said.contains("imported before"), "{name}: {said}");
            }
        }
    }
}

#[test]
fn a_map_that_was_changed_back_is_taken() {
    let project = Project::new();
    let rows = table(&[("1", "pass"), ("2", "fail")], "1");
    for _ in 0..2 {
        for kind in ["question", "task"] {
            project.file(
                "map.yaml",
                MAP.replace("constant: question", &format!("constant: {kind}")),
            );
            import_file(&project, "t.csv", &rows, &["--map", "map.yaml"]);
            let kinds = "select distinct i.kind from items i join runs r on i.run_id = r.run_id";
            assert_eq!(
                project.run(["sql", kinds, "--format", "csv"]).stdout,
                format!("kind\n{kind}\n")
            );
        }
    }
}

/// Passed, counted and runs of the only arm.
fn counted(project: &Project) -> [u64; 3] {
    let board = project.run(["leaderboard", "--format", "json"]).json();
    let entries = board["suites"][0]["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 1, "{board:#}");
    let count = |value: &Value| value.as_u64().expect("a count");
    [
        count(&entries[0]["pass_rate"]["passed"]),
        count(&entries[0]["pass_rate"]["total"]),
        count(&entries[0]["runs"]),
    ]
}

/// A file in which so many items pass.
type Content<'a> = &'a dyn Fn(u64) -> String;

#[test]
fn files_of_one_name_in_several_folders_are_runs_of_the_arm() {
    let metr = |passed: u64| {
        lines((0..4).map(|task| json!({"task_id": format!("t/{task}"), "alias": "agent", "model": "m", "score_binarized": u64::from(task < passed), "task_source": "HCAST", "human_minutes": 5})))
    };
    let deepeval = |passed: u64| {
        let case = |task: u64| json!({"name": format!("q{task}"), "input": format!("i{task}"), "actualOutput": "x", "success": task < passed, "metricsData": [{"name": "correct", "score": 1.0, "success": task < passed, "threshold": 0.5}]});
        json!({"testCases": (0..4).map(case).collect::<Vec<_>>(), "conversationalTestCases": [], "metricsScores": [], "testPassed": passed, "testFailed": 4 - passed, "runDuration": 1.0, "hyperparameters": {"approach": "a", "model": "m"}}).to_string()
    };
    let csv = |passed: u64| {
        (0..4).fold("q,ok,cost\n".to_owned(), |text, item| {
            text + &format!("{item},{},1\n", if item < passed { "pass" } else { "fail" })
        })
    };
    let cases: [(&str, &[&str], Content<'_>); 3] = [
        ("t.csv", &["--map", "map.yaml"], &csv),
        ("runs.jsonl", &[], &metr),
        (".latest_test_run.json", &["--as", "deepeval"], &deepeval),
    ];
    for (name, more, content) in cases {
        // In one command, in two, and in the other order.
        for order in [&[&["x", "y"][..]][..], &[&["x"], &["y"]], &[&["y"], &["x"]]] {
            let project = Project::new();
            project
                .file("map.yaml", MAP)
                .file(&format!("x/{name}"), content(1))
                .file(&format!("y/{name}"), content(2));
            for folders in order {
                let paths: Vec<String> = folders
                    .iter()
                    .map(|folder| format!("{folder}/{name}"))
                    .collect();
                let said = project.run(
                    ["import"]
                        .into_iter()
                        .chain(paths.iter().map(String::as_str))
                        .chain(more.iter().copied()),
                );
                assert_eq!(said.code, 0, "{name}: {}{}", said.stdout, said.stderr);
            }
            assert_eq!(counted(&project), [3, 8, 2], "{name} {order:?}");
            // The place is known again, and a copy elsewhere is the same run.
            project
                .file(&format!("x/{name}"), content(3))
                .file(&format!("z/{name}"), content(2));
            for folder in ["x", "z"] {
                let path = format!("{folder}/{name}");
                assert_eq!(
                    project
                        .run(["import", &path].into_iter().chain(more.iter().copied()))
                        .code,
                    0
                );
            }
            assert_eq!(counted(&project), [5, 8, 2], "{name} {order:?}");
        }
    }
}

#[test]
fn a_run_that_the_source_names_is_one_run_wherever_it_lies() {
    let project = Project::new();
    project.file("map.yaml", MAP.replace("run: {", "run: {identity: [run], "));
    let rows = |ok: &str| format!("run,q,ok,cost\nr1,1,pass,1\nr1,2,{ok},1\n");
    project
        .file("x/t.csv", rows("pass"))
        .file("y/t.csv", rows("fail"));
    let said = project.run(["import", "x/t.csv", "y/t.csv", "--map", "map.yaml"]);
    assert!(
        said.stdout
            .contains("has the same run with other results and is kept"),
        "{}",
        said.stdout
    );
    assert_eq!(counted(&project), [2, 2, 1]);
}

#[test]
fn reports_of_tests_are_runs_of_one_arm_under_any_name() {
    let arms = |words: &[&str], project: &Project| -> Vec<(String, u64)> {
        let board = project
            .run([&["leaderboard", "--format", "json"], words].concat())
            .json();
        let entries = board["suites"][0]["entries"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let arm = |entry: &Value| {
            (
                entry["model"].as_str().expect("a model").to_owned(),
                entry["runs"].as_u64().expect("a number"),
            )
        };
        entries.iter().map(arm).collect()
    };
    let project = Project::new();
    for (folder, cases) in [
        ("a", [("1", true), ("2", false)]),
        ("b", [("1", false), ("2", false)]),
        ("c", [("1", true), ("2", true)]),
    ] {
        project.file(&format!("nights/{folder}/report.xml"), report(&cases, ""));
        project.file(&format!("named/{folder}.xml"), report(&cases, ""));
    }
    let one = [("none".to_owned(), 3)];
    for folder in ["nights", "named"] {
        assert_eq!(project.run(["import", folder]).code, 0);
        assert_eq!(arms(&[], &project), one, "{folder}");
        assert_eq!(project.run(["import", folder, "--again"]).code, 0);
        assert_eq!(arms(&[], &project), one, "{folder}, again");
        std::fs::remove_dir_all(project.path("results")).expect("the store");
        // Without a store too.
        assert_eq!(
            arms(&[&format!("./{folder}")], &project),
            one,
            "{folder}, without a store"
        );
    }
}

#[test]
fn figures_beside_the_outcomes_change_too() {
    let project = Project::new();
    project.file("map.yaml", MAP);
    let rows = [("1", "pass"), ("2", "fail")];
    import_file(
        &project,
        "t.csv",
        &table(&rows, "1"),
        &["--map", "map.yaml"],
    );
    let (said, _) = import_file(
        &project,
        "t.csv",
        &table(&rows, "2"),
        &["--map", "map.yaml"],
    );
    assert!(said.contains("2 outcomes, 2 before"), "{said}");
    assert_eq!(
        project
            .run(["sql", "select cost_usd from usage", "--format", "csv"])
            .stdout,
        "cost_usd\n2\n"
    );
}

#[test]
fn another_table_of_the_arm_is_another_run() {
    let project = Project::new();
    project.file("map.yaml", MAP);
    import_file(
        &project,
        "one/t.csv",
        &table(&[("1", "pass"), ("2", "fail")], "1"),
        &["--map", "map.yaml"],
    );
    let (said, kept) = import_file(
        &project,
        "two/t.csv",
        &table(&[("3", "pass"), ("4", "pass"), ("5", "pass")], "1"),
        &["--map", "map.yaml"],
    );
    assert_eq!(kept, [4, 5, 2], "{said}");
}

#[test]
fn reports_of_two_nights_are_two_runs() {
    let project = Project::new();
    import_file(
        &project,
        "j.xml",
        &report(&[("1", true)], " timestamp=\"2026-02-03T10:00:00Z\""),
        &[],
    );
    let (said, nights) = import_file(
        &project,
        "j.xml",
        &report(&[("1", false)], " timestamp=\"2026-02-04T10:00:00Z\""),
        &[],
    );
    assert_eq!(nights, [1, 2, 2], "{said}");
}
