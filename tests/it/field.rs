//! Results as people have them: how far the program gets with each, without an option or by the commands that it prints.
//!
//! Each folder of `tests/it/field` is a case: its `input` has the layout of public files, with nothing copied from them, and its README says whose.
//! `benches/field.py` runs the cases, holds what comes out to their `answer.json`, and documents that file. `classes.txt` has the class that each
//! case is in today.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{BINARY, Project};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// From best to worst, as the bench prints them.
const CLASSES: [&str; 5] = [
    "right",
    "right by command",
    "asked",
    "useless",
    "wrong in silence",
];

#[test]
fn every_case_of_the_field_is_in_its_class() {
    needs!("python3");
    let folder = Path::new(ROOT).join("tests/it/field");
    let project = Project::new();
    let tried = project.output(
        Command::new("python3")
            .arg(Path::new(ROOT).join("benches/field.py"))
            .args(["--binary", BINARY, "--json", "classes.json"])
            .arg(&folder)
            .env("PATH", std::env::var("PATH").unwrap_or_default()),
    );
    let found = fs::read_to_string(project.path("classes.json"))
        .unwrap_or_else(|_| panic!("{}{}", tried.stdout, tried.stderr));
    let found: BTreeMap<String, Value> =
        serde_json::from_str(&found).expect("the bench writes an object");
    let stated = fs::read_to_string(folder.join("classes.txt")).expect("the list is there");
    let mut stated: BTreeMap<&str, &str> = stated
        .lines()
        .map(|line| line.split_once(' ').expect("a name and a class"))
        .collect();
    let mut faults = Vec::new();
    for (case, now) in &found {
        let class = now["class"].as_str().expect("a class");
        let why = now["why"].as_str().expect("a reason");
        match stated.remove(case.as_str()) {
            None => faults.push(format!("add the line `{case} {class}`")),
            Some(before) if rank(class) < rank(before) => faults.push(format!(
                "{case} is better than stated: make the line `{case} {class}`"
            )),
            Some(before) if rank(class) > rank(before) => {
                faults.push(format!("{case} was {before} and is {class}: {why}"));
            }
            Some(_) => {}
        }
    }
    faults.extend(
        stated
            .keys()
            .map(|case| format!("there is no case {case}: remove its line")),
    );
    assert!(
        faults.is_empty(),
        "tests/it/field/classes.txt:\n{}",
        faults.join("\n")
    );
}

fn rank(class: &str) -> usize {
    CLASSES
        .iter()
        .position(|name| *name == class)
        .unwrap_or_else(|| panic!("`{class}` is no class"))
}
