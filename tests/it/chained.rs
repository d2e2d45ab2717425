//! The chain of a store: what a command added and somebody takes away is missed, and nothing else is.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{MAP, Output, Project, lines, question, result};

/// A store made by commands alone: two imports, a batch, a recorded run, labels, a tombstone.
fn made() -> Project {
    let project = Project::new();
    project.file("map.yaml", MAP);
    project.file(
        "evalreport.yaml",
        "version: 1\nagents:\n- {id: echo, type: command, command: [cat]}\n",
    );
    project.file("questions.yaml", "version: 1\nquestions:\n- {id: sum, question: What?, answers: ['3', '4'], correct_answers: ['4']}\n");
    for name in ["a", "b"] {
        project.file(
            &format!("{name}.csv"),
            format!("task,approach,result\nq1,{name},ok\nq2,{name},wrong\n"),
        );
        done(
            &project,
            &["import", &format!("{name}.csv"), "--map", "map.yaml"],
        );
    }
    done(&project, &["eval", "questions.yaml", "--agent", "echo"]);
    let run = project.run(["list", "--runs", "--format", "json"]).json();
    let of = |suite: &str| -> Vec<&str> {
        let runs = run["run_lines"].as_array().expect("runs").iter();
        runs.filter(|run| run["suite"] == suite)
            .map(|run| run["id"].as_str().expect("an id"))
            .collect()
    };
    let imported = of("quiz");
    project.file("own.txt", of("questions")[0]);
    for (number, label) in ["pass", "fail"].iter().enumerate() {
        project.file(
            "labels.csv",
            format!(
                "run,item,rater,label\n{},sum,ann,{label}\n",
                project.read("own.txt")
            ),
        );
        done(&project, &["import", "labels.csv"]);
        done(
            &project,
            &["retract", imported[number], "--reason", "wrong seed"],
        );
    }
    project
}

#[track_caller]
fn done(project: &Project, arguments: &[&str]) -> Output {
    let output = project.run(arguments.iter().copied());
    assert_eq!(
        output.code, 0,
        "{arguments:?}: {}{}",
        output.stdout, output.stderr
    );
    output
}

fn copied(from: &Project) -> Project {
    let project = Project::new();
    for file in from.files("") {
        project.bytes(&file, &fs::read(from.path(&file)).expect("readable"));
    }
    project
}

fn one(project: &Project, below: &str, ending: &str) -> PathBuf {
    let files = project.files(below);
    project.path(
        files
            .iter()
            .find(|path| path.ends_with(ending))
            .expect("a file"),
    )
}

fn without_last_line(path: &Path) {
    let text = fs::read_to_string(path).expect("readable");
    let kept: Vec<&str> = text.lines().collect();
    fs::write(path, lines(&kept[..kept.len() - 1])).expect("room");
}

/// Takes something out of a store.
type Taking = fn(&Project);

#[test]
fn what_is_taken_out_of_a_store_is_missed() {
    let whole = made();
    let said = done(&whole, &["doctor", "--verify"]).stdout;
    assert!(
        said.contains("chain of 8 entries, newest ") && !said.contains("no entry names"),
        "{said}"
    );
    let newest = whole.run(["doctor", "--verify", "--format", "json"]).json()["stores"][0]["chain"]
        ["newest"][0]
        .as_str()
        .expect("one")
        .to_owned();
    let folder =
        |project: &Project, of: &str| project.path(&format!("results/{}", project.read(of)));
    let takings: [(&str, Taking, &str); 10] = [
        (
            "the newest judgement",
            |p| {
                let folder = p.path(&format!("results/{}", p.read("own.txt")));
                without_last_line(&folder.join("scores.jsonl"));
                let items = fs::read_to_string(folder.join("items.jsonl")).expect("readable");
                let kept: Vec<&str> = items
                    .lines()
                    .filter(|line| !line.contains("\"revision\":2"))
                    .collect();
                fs::write(folder.join("items.jsonl"), lines(kept)).expect("room");
            },
            "has no longer a line that `import` added",
        ),
        (
            "an imported pair",
            |p| {
                let runs = one(p, "results/imports", ".runs.jsonl");
                fs::remove_file(
                    runs.with_file_name(
                        runs.file_name()
                            .expect("a name")
                            .to_string_lossy()
                            .replace(".runs.jsonl", ".items.jsonl.zst"),
                    ),
                )
                .expect("there");
                fs::remove_file(runs).expect("there");
            },
            "is gone",
        ),
        (
            "the list of commits",
            |p| fs::remove_file(one(p, "results/batches", ".commits.jsonl")).expect("there"),
            "has no longer a line that `eval` added",
        ),
        (
            "the list of commits and the run",
            |p| {
                fs::remove_file(one(p, "results/batches", ".commits.jsonl")).expect("there");
                let id = p.read("own.txt");
                fs::remove_file(p.path(&format!("results/{id}.json"))).expect("there");
                fs::remove_dir_all(p.path(&format!("results/{id}"))).expect("there");
            },
            "has no longer a line that `eval` added",
        ),
        (
            "a batch with its plan",
            |p| {
                fs::remove_dir_all(p.path("results/batches")).expect("there");
                let id = p.read("own.txt");
                fs::remove_file(p.path(&format!("results/{id}.json"))).expect("there");
                fs::remove_dir_all(p.path(&format!("results/{id}"))).expect("there");
            },
            "the file that `eval` added",
        ),
        (
            "the last tombstone",
            |p| without_last_line(&p.path("results/retractions.jsonl")),
            "has no longer a line that `retract` added",
        ),
        (
            "all tombstones",
            |p| fs::remove_file(p.path("results/retractions.jsonl")).expect("there"),
            "has no longer 2 lines that `retract` added",
        ),
        (
            "an old entry of the chain",
            |p| {
                let entries = p.files("results/chain");
                let is_named = |entry: &&String| {
                    let id = entry
                        .rsplit_once('-')
                        .and_then(|(_, id)| id.strip_suffix(".jsonl"))
                        .expect("a name");
                    entries
                        .iter()
                        .any(|other| other != *entry && p.read(other).contains(id))
                };
                fs::remove_file(p.path(entries.iter().find(is_named).expect("one of several")))
                    .expect("there");
            },
            "has no entry",
        ),
        (
            "the whole chain",
            |p| fs::remove_dir_all(p.path("results/chain")).expect("there"),
            "names an entry of the store's chain, which is gone",
        ),
        (
            "a changed entry",
            |p| {
                let path = p.path(&p.files("results/chain")[1]);
                let text = fs::read_to_string(&path)
                    .expect("readable")
                    .replace("import", "record");
                fs::write(path, text).expect("room");
            },
            "was changed after it was made",
        ),
    ];
    assert!(folder(&whole, "own.txt").is_dir());
    for (name, take, expected) in takings {
        let project = copied(&whole);
        take(&project);
        let checked = project.run(["doctor", "--verify"]);
        assert_eq!(checked.code, 1, "{name}: {}", checked.stdout);
        assert!(
            checked.stdout.contains(expected),
            "{name}: {}",
            checked.stdout
        );
    }
    // A store that was put back to what it was before leaves no trace: only somebody who remembers misses it.
    let before = Project::new();
    before
        .file("map.yaml", MAP)
        .bytes("a.csv", &fs::read(whole.path("a.csv")).expect("readable"));
    done(&before, &["import", "a.csv", "--map", "map.yaml"]);
    done(&before, &["doctor", "--verify"]);
    let asked = before.run(["doctor", "--verify", "--since", &newest]);
    assert!(
        asked.code == 1 && asked.stdout.contains("was put back to an earlier state"),
        "{}",
        asked.stdout
    );
    done(&whole, &["doctor", "--verify", "--since", &newest[..10]]);
}

#[test]
fn commands_add_an_entry_each_and_those_that_add_nothing_none() {
    let project = made();
    let entries = || project.files("results/chain").len();
    let count = entries();
    for command in [
        &["import", "a.csv", "--map", "map.yaml"][..],
        &["leaderboard"],
        &["doctor", "--verify"],
        &["export", "lake", "lake"],
    ] {
        done(&project, command);
        assert_eq!(entries(), count, "{command:?}");
    }
    // A second batch names the chain in its plan.
    done(&project, &["eval", "questions.yaml", "--agent", "echo"]);
    let plans: Vec<Value> = project
        .files("results/batches")
        .iter()
        .filter(|path| !path.ends_with(".commits.jsonl"))
        .map(|path| serde_json::from_str(&project.read(path)).expect("a plan"))
        .collect();
    assert!(
        plans.iter().any(|plan| plan["previous"]
            .as_array()
            .is_some_and(|previous| previous.len() == 1)),
        "{plans:?}"
    );
    done(&project, &["doctor", "--verify"]);
}

#[test]
fn a_store_from_before_the_chain_says_so_and_is_not_damaged() {
    let project = Project::with(&[result("r-1", "s", "a", json!({}))]);
    project.items("r-1", &[question("q1", 1, "pass")]);
    let said = done(&project, &["doctor", "--verify"]).stdout;
    assert!(
        said.contains(
            "no chain; no entry names 1 record: of an earlier version, or of a killed command"
        ),
        "{said}"
    );
    done(&project, &["retract", "r-1", "--reason", "wrong seed"]);
    let said = done(&project, &["doctor", "--verify"]).stdout;
    assert!(
        said.contains("chain of 1 entry, newest ") && said.contains("no entry names 1 record"),
        "{said}"
    );
    assert!(
        project
            .run(["doctor", "--since", "0"])
            .refusal()
            .contains("--verify")
    );
}
