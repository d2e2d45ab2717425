//! A site that is built again: only what changed is made, and it equals, to the byte, a site that is made anew.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Project, lines, result};

const RUNS: [(&str, &str, &str); 8] = [
    ("a1", "alpha", "oneshot"),
    ("a2", "alpha", "ralph"),
    ("a3", "alpha", "planner"),
    // Its arm has a history of two nights.
    ("a4", "alpha", "oneshot"),
    ("o1", "omega", "oneshot"),
    ("o2", "omega", "ralph"),
    ("z1", "zeta", "oneshot"),
    ("z2", "zeta", "ralph"),
];

fn item(name: &str, status: &str, reply: &str) -> Value {
    let category = if name.ends_with(['0', '1', '2']) {
        "low"
    } else {
        "high"
    };
    json!({"item": name, "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 0, "status": status,
        "category": category, "details": {"reason": "because", "reply": reply, "answer": "b", "expected": ["b"]}})
}

fn said(item: &str, text: &str) -> Value {
    json!({"item": item, "entry": {"role": "assistant", "content": text}})
}

/// A run, on the night that its id ends in, with items, answers, transcripts of which two are the same in all suites, and something that looks like a secret.
fn add(project: &Project, id: &str, suite: &str, approach: &str) {
    let seed = id.bytes().map(usize::from).sum::<usize>();
    let status = |index: usize| {
        if (index * 7 + seed).is_multiple_of(3) {
            "fail"
        } else {
            "pass"
        }
    };
    let items: Vec<Value> = (0..12)
        .map(|index| {
            item(
                &format!("q{index}"),
                status(index),
                &format!("{id} thinks of /home/casey{index}/x"),
            )
        })
        .collect();
    let same = "the same words ".repeat(400);
    let transcript = [
        said("q0", &same),
        said("q1", &same),
        said("q2", &format!("{id} says hello")),
    ];
    project.result(&result(
        id,
        suite,
        approach,
        json!({"timestamp": format!("2026-01-0{}T03:04:05Z", &id[1..])}),
    ));
    project.items(id, &items);
    project.file(&format!("results/{id}/transcript.jsonl"), lines(transcript));
}

fn store() -> Project {
    let project = Project::new();
    for (id, suite, approach) in RUNS {
        add(&project, id, suite, approach);
    }
    project
}

fn files(project: &Project, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let read = |path: String| {
        let bytes = fs::read(project.path(&path)).expect("readable");
        (
            path.split_once('/').expect("below the folder").1.to_owned(),
            bytes,
        )
    };
    project.files(folder).into_iter().map(read).collect()
}

/// Builds the site again, and another one with nothing to build on; holds the two to each other, in their files and in what is said.
/// Returns how many files were written.
fn rebuild(project: &Project, options: &[&str]) -> u64 {
    let again = project.run(["build"].into_iter().chain(options.iter().copied()));
    assert_eq!(again.code, 0, "{}", again.stderr);
    for folder in ["clean", "clean-cache"] {
        if project.path(folder).exists() {
            fs::remove_dir_all(project.path(folder)).expect("removable");
        }
    }
    let anew = project.run(
        ["build", "--out", "clean", "--cache", "clean-cache"]
            .into_iter()
            .chain(options.iter().copied()),
    );
    let (grown, clean) = (files(project, "site"), files(project, "clean"));
    assert_eq!(
        grown.keys().collect::<Vec<_>>(),
        clean.keys().collect::<Vec<_>>()
    );
    for (path, bytes) in &clean {
        assert!(grown[path] == *bytes, "{path} differs with {options:?}");
    }
    let words = |text: &str| -> Vec<String> {
        let is_about_files = |line: &&str| !line.contains("written") && !line.starts_with("open ");
        text.lines()
            .filter(is_about_files)
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(words(&again.stderr), words(&anew.stderr));
    let count = again
        .stderr
        .lines()
        .find(|line| line.contains(" written, "))
        .and_then(|line| line.split_whitespace().nth(1));
    count
        .and_then(|count| count.replace(',', "").parse().ok())
        .expect("it says how many files were written")
}

#[test]
fn what_is_as_it_was_is_not_written_again() {
    let project = store();
    let all = rebuild(&project, &[]);
    assert!(all > 60, "{all}");
    assert_eq!(rebuild(&project, &[]), 0);
    add(&project, "o3", "omega", "planner");
    let some = rebuild(&project, &[]);
    assert!(some > 0 && some < all * 2 / 3, "{some} of {all}");
    assert!(project.path("site/suites/alpha/history.html").exists());
    assert_eq!(rebuild(&project, &[]), 0);
}

/// A random change of a store: a run on another night, another status, another category, or a run less.
fn change(project: &Project, runs: &mut Vec<String>, (kind, pick): (u8, usize)) {
    let suites = ["alpha", "omega", "zeta"];
    let approaches = ["oneshot", "ralph", "planner"];
    let place = pick % runs.len();
    let path = format!("results/{}/items.jsonl", runs[place]);
    let replace = |from: &str, to: &str| {
        let text = project.read(&path);
        project.file(&path, text.replacen(from, to, 1));
    };
    match kind % 4 {
        0 => {
            let id = format!("{}{}", ["x", "y"][pick / 9 % 2], 1 + pick % 9);
            if !runs.contains(&id) {
                add(project, &id, suites[pick % 3], approaches[pick / 3 % 3]);
                runs.push(id);
            }
        }
        1 => replace("\"pass\"", "\"fail\""),
        2 => replace("\"category\":\"high\"", "\"category\":\"middle\""),
        _ if runs.len() > 2 => {
            let id = runs.remove(place);
            let _ = fs::remove_file(project.path(&format!("results/{id}.json")));
            fs::remove_dir_all(project.path(&format!("results/{id}"))).expect("removable");
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 4, failure_persistence: None, ..ProptestConfig::default() })]

    /// `rebuild` holds every step to a site that is made anew.
    #[test]
    fn any_sequence_of_builds_ends_in_the_bytes_of_a_cold_one(
        steps in prop::collection::vec((any::<u8>(), any::<u16>()), 3),
    ) {
        let project = store();
        let mut runs: Vec<String> = RUNS.iter().map(|(id, _, _)| (*id).to_owned()).collect();
        rebuild(&project, &[]);
        prop_assert!(project.read("site/arms/oneshot-m1.html").contains("Weakest categories"));
        for (kind, pick) in steps {
            change(&project, &mut runs, (kind, usize::from(pick)));
            rebuild(&project, &[]);
        }
        prop_assert_eq!(rebuild(&project, &[]), 0);
    }
}

#[test]
fn whatever_changes_is_seen() {
    let project = store();
    rebuild(&project, &[]);
    let replace = |path: &str, from: &str, to: &str| {
        let text = project.read(path);
        assert!(text.contains(from), "{path}");
        project.file(path, text.replace(from, to));
    };
    // A text, and a transcript, neither of which any count depends on.
    replace("results/a2/items.jsonl", "a2 thinks", "a2 knows");
    assert!(rebuild(&project, &[]) > 0);
    replace(
        "results/z1/transcript.jsonl",
        "says hello",
        "says token ghp_0123456789abcdefghijABCDEFGHIJ012345",
    );
    assert!(rebuild(&project, &[]) > 0);
    // A status.
    replace("results/o1/items.jsonl", "\"fail\"", "\"error\"");
    assert!(rebuild(&project, &[]) > 0);
    // A run is hidden.
    assert_eq!(
        project
            .run([
                "retract",
                "--suite",
                "alpha",
                "--approach",
                "planner",
                "--reason",
                "wrong seed"
            ])
            .code,
        0
    );
    assert!(rebuild(&project, &[]) > 0);
    // Another suite wants the same address.
    add(&project, "b1", "Alpha", "oneshot");
    assert!(rebuild(&project, &[]) > 0);
    // The configuration gives another name, and other words.
    project.file(
        "evalreport.yaml",
        "version: 1\naliases: {approach: {ralph: loop}}\nsite: {title: Nightly}\n",
    );
    assert!(rebuild(&project, &[]) > 0);
    assert_eq!(rebuild(&project, &[]), 0);
}

#[test]
fn every_option_is_seen() {
    let project = store();
    let options: [&[&str]; 7] = [
        &[],
        &["--transcripts", "none"],
        &["--transcripts", "budget:20KB"],
        &["--base-url", "https://example.org/x"],
        &["--noindex"],
        &["--suite", "alpha", "--suite", "zeta"],
        &["--redact"],
    ];
    for some in options.into_iter().chain([[].as_slice()]) {
        assert!(rebuild(&project, some) > 0, "{some:?}");
    }
}

#[test]
fn what_somebody_did_to_the_site_is_undone() {
    let project = store();
    rebuild(&project, &[]);
    let page = project.read("site/suites/alpha/index.html");
    project.file(
        "site/suites/alpha/index.html",
        page.replace("oneshot", "0neshot"),
    );
    fs::remove_file(project.path("site/runs/z1/index.html")).expect("it is there");
    assert_eq!(rebuild(&project, &[]), 2);
    fs::remove_dir_all(project.path(".evalreport")).expect("the cache is there");
    assert_eq!(
        rebuild(&project, &[]),
        0,
        "without a cache pages are made, and are as they were"
    );
}
