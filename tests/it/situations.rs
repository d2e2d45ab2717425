//! Situations of users: what was there, the commands they typed, and what the program must answer.
//!
//! Each folder of `tests/it/situations` is one situation: its files are put into an empty folder, and `situation.yaml` says the rest.
//!
//! ```yaml
//! about: One sentence about who is where, and what the right answer is.
//! needs: [python3]         # what must be there besides a shell and git, as for `needs!`
//! steps:
//!   - run: evalreport …    # in a shell, in that folder, 200 columns wide
//!     exit: 1              # 0 if it is left out
//!     says: [TEXT]         # each is on stdout; any white space is one space, `…` is any text
//!     silent: [TEXT]       # none of these is on stdout or stderr
//!     warns: [TEXT]        # each is on stderr
//!     json: {/checks/0/ruling: regression, /absent: null}   # places in stdout, which is JSON; `null` is nothing
//!     within: {/pairs/0/p: [0.04, 0.06]}                    # numbers in stdout, with their least and most
//! ```
//!
//! `SITUATION=NAME cargo test situation -- --nocapture` runs those whose name contains NAME and prints what each command answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use evalreport::document::{Node, ScalarKind, Value as Content, parse};
use rayon::prelude::*;
use serde_json::{Map, Value};

use crate::needs;
use crate::support::{BINARY, Output, Project};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/situations");
const ANSWER: &str = "situation.yaml";
/// Scripts that make stores for several situations, found as `$MAKERS`. This folder is no situation.
const MAKERS: &str = "makers";

/// One command and its answer.
#[derive(Default)]
struct Step {
    run: String,
    exit: i32,
    says: Vec<String>,
    silent: Vec<String>,
    warns: Vec<String>,
    json: Map<String, Value>,
    within: Map<String, Value>,
}

#[test]
fn every_situation_has_its_answer() {
    let wanted = std::env::var("SITUATION").ok();
    let mut folders: Vec<PathBuf> = fs::read_dir(FOLDER)
        .expect("the bench is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.is_dir() && !path.ends_with(MAKERS))
        .collect();
    folders.retain(|folder| {
        wanted
            .as_ref()
            .is_none_or(|part| name(folder).contains(part.as_str()))
    });
    folders.sort();
    assert!(!folders.is_empty(), "no situation has this name");
    let faults: Vec<String> = folders
        .par_iter()
        .flat_map_iter(|folder| faults(folder, wanted.is_some()))
        .collect();
    assert!(
        faults.is_empty(),
        "{} faults in {} situations\n\n{}",
        faults.len(),
        folders.len(),
        faults.join("\n\n")
    );
}

fn name(folder: &Path) -> String {
    folder
        .file_name()
        .expect("a folder has a name")
        .to_string_lossy()
        .into_owned()
}

/// Plays a situation and returns where the program's answers are other ones.
fn faults(folder: &Path, is_shown: bool) -> Vec<String> {
    let name = name(folder);
    let (needs, steps) = match read(folder) {
        Ok(found) => found,
        Err(why) => return vec![format!("{name}: {why}")],
    };
    let missing = needs::missing(needs.iter().map(String::as_str));
    if !missing.is_empty() {
        needs::record(&format!("situations::{name}"), &missing);
        return Vec::new();
    }
    let project = Project::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let path = entry.expect("a situation can be read").into_path();
        let below = path.strip_prefix(folder).expect("below its folder");
        if path.is_file() && below != Path::new(ANSWER) {
            project.bytes(
                &below.to_string_lossy(),
                &fs::read(&path).expect("a file can be read"),
            );
        }
    }
    let mut faults = Vec::new();
    for step in &steps {
        let output = shell(&project, &step.run);
        if is_shown {
            eprintln!("{name}: $ {}\n{}", step.run, output.snapshot());
        }
        let wrong = differences(step, &output);
        if !wrong.is_empty() {
            faults.push(format!(
                "{name}: $ {}\n  {}\n{}",
                step.run,
                wrong.join("\n  "),
                output.snapshot()
            ));
            // What follows builds on it.
            break;
        }
    }
    faults
}

/// Runs a command as somebody types it.
fn shell(project: &Project, command: &str) -> Output {
    let bin = Path::new(BINARY)
        .parent()
        .expect("the program is in a folder")
        .display()
        .to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .env("MAKERS", Path::new(FOLDER).join(MAKERS))
        .envs([
            ("PATH", format!("{bin}:{path}").as_str()),
            ("HOME", "/nonexistent"),
            ("XDG_CACHE_HOME", "/dev/null/cache"),
            ("NO_COLOR", "1"),
            ("COLUMNS", "200"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ]);
    project.output(&mut shell)
}

fn differences(step: &Step, output: &Output) -> Vec<String> {
    let mut wrong = Vec::new();
    if output.code != step.exit {
        wrong.push(format!(
            "exits with {}, not with {}",
            output.code, step.exit
        ));
    }
    let (stdout, stderr) = (folded(&output.stdout), folded(&output.stderr));
    wrong.extend(
        step.says
            .iter()
            .filter(|text| !has(&stdout, text))
            .map(|text| format!("does not say `{text}`")),
    );
    wrong.extend(
        step.warns
            .iter()
            .filter(|text| !has(&stderr, text))
            .map(|text| format!("does not warn `{text}`")),
    );
    wrong.extend(
        step.silent
            .iter()
            .filter(|text| has(&stdout, text) || has(&stderr, text))
            .map(|text| format!("says `{text}`")),
    );
    if step.json.is_empty() && step.within.is_empty() {
        return wrong;
    }
    let Ok(answer) = serde_json::from_str::<Value>(&output.stdout) else {
        wrong.push("its answer is no JSON".to_owned());
        return wrong;
    };
    for (place, expected) in &step.json {
        let found = answer.pointer(place).unwrap_or(&Value::Null);
        let is_same = match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => {
                (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
            }
            _ => found == expected,
        };
        if !is_same {
            wrong.push(format!("{place} is {found}, not {expected}"));
        }
    }
    for (place, ends) in &step.within {
        let found = answer.pointer(place).unwrap_or(&Value::Null);
        let end = |number: usize| {
            ends.get(number)
                .and_then(Value::as_f64)
                .expect("two numbers")
        };
        if !found
            .as_f64()
            .is_some_and(|value| (end(0)..=end(1)).contains(&value))
        {
            wrong.push(format!("{place} is {found}, not within {ends}"));
        }
    }
    wrong
}

/// Returns the text with one space for any white space, and without the lines of tables.
fn folded(text: &str) -> String {
    text.split(|character: char| character.is_whitespace() || "│┃|".contains(character))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether the folded text contains the parts of `wanted`, which are separated by `…`, in their order.
fn has(text: &str, wanted: &str) -> bool {
    let wanted = folded(wanted);
    let mut rest = text;
    wanted
        .split('…')
        .all(|part| match rest.split_once(part.trim()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}

fn read(folder: &Path) -> Result<(Vec<String>, Vec<Step>), String> {
    let text =
        fs::read_to_string(folder.join(ANSWER)).map_err(|error| format!("{ANSWER}: {error}"))?;
    let node = parse(ANSWER, &text).map_err(|problems| format!("{problems:?}"))?;
    let Value::Object(fields) = content(&node) else {
        return Err("is no map".to_owned());
    };
    let mut fields: BTreeMap<String, Value> = fields.into_iter().collect();
    let about = fields
        .remove("about")
        .and_then(|text| text.as_str().map(str::to_owned))
        .unwrap_or_default();
    if about.split_whitespace().count() < 4 {
        return Err("`about` tells the situation in a sentence".to_owned());
    }
    let needs = texts(fields.remove("needs"))?;
    let Some(Value::Array(steps)) = fields.remove("steps") else {
        return Err("`steps` is a list".to_owned());
    };
    if let Some(key) = fields.keys().next() {
        return Err(format!("unknown key `{key}`"));
    }
    Ok((
        needs,
        steps.into_iter().map(step).collect::<Result<_, _>>()?,
    ))
}

fn step(step: Value) -> Result<Step, String> {
    let Value::Object(fields) = step else {
        return Err("a step is a map".to_owned());
    };
    let mut read = Step::default();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("run", Value::String(text)) => read.run = text,
            ("exit", value) => {
                read.exit = value
                    .as_i64()
                    .and_then(|code| i32::try_from(code).ok())
                    .ok_or("`exit` is a number")?;
            }
            ("says", value) => read.says = texts(Some(value))?,
            ("silent", value) => read.silent = texts(Some(value))?,
            ("warns", value) => read.warns = texts(Some(value))?,
            ("json", Value::Object(places)) => read.json = places,
            ("within", Value::Object(places)) => read.within = places,
            (key, _) => return Err(format!("key `{key}` of a step")),
        }
    }
    if read.run.is_empty() {
        Err("a step has `run`".to_owned())
    } else {
        Ok(read)
    }
}

fn texts(value: Option<Value>) -> Result<Vec<String>, String> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(list)) => list
            .into_iter()
            .map(|text| {
                text.as_str()
                    .map(str::to_owned)
                    .ok_or_else(|| format!("`{text}` is no text"))
            })
            .collect(),
        Some(other) => Err(format!("`{other}` is no list of texts")),
    }
}

fn content(node: &Node) -> Value {
    match &node.value {
        Content::List(nodes) => nodes.iter().map(content).collect(),
        Content::Map(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, node)| (key.text.clone(), content(node)))
                .collect(),
        ),
        Content::Scalar(scalar) => match scalar.kind {
            ScalarKind::Text => Value::String(scalar.text.clone()),
            ScalarKind::Null => Value::Null,
            ScalarKind::Bool(value) => Value::Bool(value),
            ScalarKind::Integer(value) => value.into(),
            ScalarKind::Float(value) => value.into(),
        },
    }
}

#[test]
fn answers_that_differ_are_found() {
    let output = Output::of(1, "a │ b\n  c", "");
    let step = |says: &str| Step {
        exit: 1,
        says: vec![says.to_owned()],
        ..Step::default()
    };
    assert!(
        differences(&step("a b c"), &output).is_empty()
            && differences(&step("a … c"), &output).is_empty()
    );
    assert_eq!(
        differences(&step("c … a"), &output),
        ["does not say `c … a`"]
    );
    assert_eq!(
        differences(
            &Step {
                silent: vec!["b".to_owned()],
                ..Step::default()
            },
            &output
        )
        .len(),
        2
    );
    let json = Output::of(0, r#"{"a": [{"b": 0.5}]}"#, "");
    let places = |places: Value| places.as_object().expect("a map").clone();
    let step = Step {
        json: places(serde_json::json!({"/a/0/b": 0.5, "/c": null})),
        ..Step::default()
    };
    assert!(differences(&step, &json).is_empty());
    let step = Step {
        within: places(serde_json::json!({"/a/0/b": [0.6, 1], "/c": [0, 1]})),
        ..Step::default()
    };
    assert_eq!(differences(&step, &json).len(), 2);
}
