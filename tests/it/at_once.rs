//! Commands that write at the same time: whatever two of them do, the store ends as if one had run after the other.
//!
//! `EVALREPORT_AT_ONCE=full` tries all pairs, several times; otherwise those that decide by what the store has, and a few of the others.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use evalreport::warehouse::{Progress, Warehouse, WarehouseOptions};
use serde_json::{Value, json};

use crate::programs::{Program, Start as _};
use crate::support::{BINARY, MAP, Project, in_parallel, inspect_log, lines, question, result};

/// Commands by name. `$EV` is the program.
const COMMANDS: [(&str, &str); 14] = [
    ("table", "$EV import new.csv --map map.yaml"),
    ("same table", "$EV import known.csv --map map.yaml"),
    ("bundle", "$EV import all.bundle"),
    ("log", "$EV import logs/short.json"),
    ("longer log", "$EV import logs/long.json"),
    ("labels", "$EV import first.csv"),
    ("more labels", "$EV import second.csv"),
    (
        "record",
        "printf '%s\\n' '{\"item\": {\"item\": \"q1\", \"passed\": true}}' '{\"end\": {}}' | $EV record --suite quiz --approach mine --model m1",
    ),
    ("eval", "$EV eval questions.yaml --agent echo"),
    ("retract", "$EV retract own --reason wrong"),
    (
        "accept",
        "$EV gate --suite nights --baseline last:1 --max-drop 2pp --accept known",
    ),
    ("build", "$EV build --out site"),
    ("lake", "$EV export lake lake"),
    ("cache", "$EV cache clear; $EV doctor --tidy"),
];

/// Those that look at the store before they add to it.
const DECIDING: [&str; 7] = [
    "table",
    "same table",
    "bundle",
    "log",
    "longer log",
    "labels",
    "more labels",
];

fn table(approach: &str) -> String {
    let rows = (0..8).map(|number| {
        format!(
            "q{number},{approach},{}\n",
            if number < 3 { "wrong" } else { "ok" }
        )
    });
    format!("task,approach,result\n{}", rows.collect::<String>())
}

/// A store with an imported table and a run of its own, and files for every command. `all.bundle` has two imported sources and an own run.
fn begun() -> Project {
    let other = Project::new();
    other
        .file("map.yaml", MAP)
        .file("a.csv", table("bundled"))
        .file("b.csv", table("other"));
    other
        .result(&result("carried", "quiz", "carried", json!({})))
        .items("carried", &[question("q1", 1, "pass")]);
    for command in [
        &["import", "a.csv", "--map", "map.yaml"][..],
        &["import", "b.csv", "--map", "map.yaml"],
        &["export", "bundle", "all.bundle"],
    ] {
        assert_eq!(other.run(command.iter().copied()).code, 0);
    }
    let project = Project::new();
    project.bytes(
        "all.bundle",
        &fs::read(other.path("all.bundle")).expect("written"),
    );
    project
        .file("map.yaml", MAP)
        .file("known.csv", table("known"))
        .file("new.csv", table("new"));
    project
        .file("logs/short.json", inspect_log(&[(1, "C"), (2, "C")]))
        .file(
            "logs/long.json",
            inspect_log(&[(1, "C"), (2, "C"), (3, "C")]),
        );
    project.file(
        "evalreport.yaml",
        "version: 1\nagents:\n- {id: echo, type: command, command: [cat]}\n",
    );
    project.file("questions.yaml", "version: 1\nquestions:\n- {id: sum, question: What?, answers: ['3', '4'], correct_answers: ['4']}\n");
    for (person, file) in [("ann", "first.csv"), ("ann", "second.csv")] {
        let item = if file == "first.csv" { "q1" } else { "q2" };
        project.file(
            file,
            format!("run,item,rater,label\nown,{item},{person},pass\n"),
        );
    }
    let of_run = |id: &str, suite: &str, failing: u32, time: &str| {
        let items: Vec<Value> = (0..30)
            .map(|number| {
                question(
                    &format!("q{number}"),
                    1,
                    if number < failing { "fail" } else { "pass" },
                )
            })
            .collect();
        project
            .result(&result(id, suite, "a", json!({"timestamp": time})))
            .file(&format!("results/{id}/items.jsonl"), lines(&items));
    };
    of_run("own", "quiz", 3, "2026-01-05T03:04:05Z");
    of_run("night-1", "nights", 0, "2026-01-05T03:04:05Z");
    of_run("night-2", "nights", 25, "2026-01-06T03:04:05Z");
    assert_eq!(
        project
            .run(["import", "known.csv", "--map", "map.yaml"])
            .code,
        0
    );
    project
}

fn copied(from: &Project) -> Project {
    let project = Project::new();
    for file in from.files("") {
        project.bytes(&file, &fs::read(from.path(&file)).expect("readable"));
    }
    project
}

fn start(project: &Project, command: &str) -> Program {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(project.path(""))
        .env("EV", BINARY)
        .env("HOME", "/nonexistent");
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .start()
}

/// What a store says, without what differs each time: ids of new runs and the time.
fn state(project: &Project) -> String {
    let mut text = String::new();
    let mut read = |options: WarehouseOptions| match Warehouse::open(&options, &Progress::SILENT) {
        Ok(warehouse) => {
            assert!(
                warehouse.problems().is_empty(),
                "{:?}",
                warehouse.problems()
            );
            let mut runs: Vec<String> = Vec::new();
            let of = |run: &evalreport::domain::Run, hidden: &str| {
                let matrix = warehouse.outcome_matrix([&run.id]);
                let outcomes = matrix.rows.iter().flat_map(|row| {
                    row.outcomes()
                        .map(|(item, status)| {
                            format!(
                                "{} {:?} {status:?}",
                                row.attempt, matrix.items[item as usize].key
                            )
                        })
                        .collect::<Vec<_>>()
                });
                let outcomes: BTreeSet<String> = outcomes.collect();
                format!(
                    "{} {} {}{hidden} {outcomes:?}",
                    run.suite, run.approach, run.model
                )
            };
            runs.extend(warehouse.runs().iter().map(|row| of(&row.run, "")));
            runs.extend(
                warehouse
                    .hidden_runs()
                    .iter()
                    .map(|hidden| of(&hidden.run, " hidden")),
            );
            runs.sort();
            text.push_str(&runs.join("\n"));
        }
        Err(problems) => text.push_str(&format!("unreadable: {problems}")),
    };
    read(WarehouseOptions {
        stores: vec![project.path("results")],
        ..WarehouseOptions::default()
    });
    if project.path("lake").is_dir() {
        read(WarehouseOptions {
            lakes: vec![project.path("lake")],
            ..WarehouseOptions::default()
        });
    }
    // Two tombstones or acceptances of the same are one, whenever they were written.
    let count = |path: &str| {
        let text = fs::read_to_string(project.path(path)).unwrap_or_default();
        let said = text.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            line["time"] = Value::Null;
            line.to_string()
        });
        said.collect::<BTreeSet<String>>().len()
    };
    text.push_str(&format!(
        "\n{} tombstones, {} acceptances",
        count("results/retractions.jsonl"),
        count("results/acceptances.jsonl")
    ));
    text.push_str(if project.path("site/index.html").is_file() {
        ", site\n"
    } else {
        "\n"
    });
    text
}

fn in_turn(begun: &Project, commands: &[&str]) -> String {
    let project = copied(begun);
    for command in commands {
        start(&project, command).finish();
    }
    state(&project)
}

/// Starts commands at the same time. Returns why the store is not as after some order of them, if it is not.
fn differs(begun: &Project, commands: &[(&str, &str)]) -> Option<String> {
    let project = copied(begun);
    let programs: Vec<Program> = commands
        .iter()
        .map(|(_, command)| start(&project, command))
        .collect();
    let ended: Vec<_> = programs.into_iter().map(Program::finish).collect();
    let said = || {
        ended
            .iter()
            .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
            .collect::<Vec<String>>()
            .join("\n")
    };
    let proof = project.run(["doctor", "--verify"]);
    if proof.code != 0 {
        return Some(format!("{}{}", proof.stdout, said()));
    }
    let found = state(&project);
    // A command that was refused, because another one wrote the same run, has done nothing.
    let done: Vec<&str> = commands
        .iter()
        .zip(&ended)
        .filter(|(_, output)| output.status.success())
        .map(|((_, command), _)| *command)
        .collect();
    let all: Vec<&str> = commands.iter().map(|(_, command)| *command).collect();
    for wanted in [all, done] {
        // Of the orders of three and more, those that begin anywhere: which command comes first decides.
        for first in 0..wanted.len() {
            let mut order = wanted.clone();
            order.rotate_left(first);
            if in_turn(begun, &order) == found {
                return None;
            }
        }
    }
    Some(format!(
        "{found}\nis no state after these commands in turn, the first of which gives\n{}\n{}",
        in_turn(begun, &[commands[0].1, commands[1].1]),
        said()
    ))
}

fn command(name: &str) -> (&'static str, &'static str) {
    *COMMANDS
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a command")
}

#[test]
fn commands_at_the_same_time_end_as_one_after_the_other() {
    let begun = begun();
    let is_full = std::env::var("EVALREPORT_AT_ONCE").is_ok_and(|value| value == "full");
    let mut cases: Vec<Vec<(&str, &str)>> = Vec::new();
    for (number, one) in COMMANDS.iter().enumerate() {
        for other in &COMMANDS[number..] {
            let decide = [one, other]
                .iter()
                .filter(|(name, _)| DECIDING.contains(name))
                .count();
            if is_full
                || decide == 2
                    && (one == other
                        || one.0 == "bundle"
                        || one.0.ends_with("log") && other.0.ends_with("log")
                        || one.0 == "labels")
            {
                cases.push(vec![*one, *other]);
            }
        }
    }
    cases.push(vec![command("bundle"); 4]);
    cases.push(["bundle", "eval", "retract"].map(command).into());
    cases.push(["record", "record", "accept", "lake"].map(command).into());
    if is_full {
        cases = (0..5).flat_map(|_| cases.clone()).collect();
    }
    let wrong = in_parallel(&cases, |case| {
        let names: Vec<&str> = case.iter().map(|(name, _)| *name).collect();
        differs(&begun, case).map(|why| format!("{}:\n{why}", names.join(" and ")))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(
        wrong.is_empty(),
        "{} of {} are wrong:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Every command of the table does what its name says, or the test above would hold of nothing.
#[test]
fn every_command_that_runs_at_the_same_time_as_others_changes_something() {
    let begun = begun();
    let before = state(&begun);
    let idle = in_parallel(&COMMANDS, |(name, command)| {
        (!["same table", "cache"].contains(name) && in_turn(&begun, &[command]) == before)
            .then_some(*name)
    });
    let idle: Vec<&str> = idle.into_iter().flatten().collect();
    assert!(idle.is_empty(), "{idle:?}");
}
