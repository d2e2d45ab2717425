//! A suite with a goal: what an approach made is verified after the tests, and the run keeps the record.

use serde_json::{Value, json};

use crate::support::{Output, Project};

const CONFIG: &str = "version: 1\napproaches:\n  - {id: a, command: [sh, \"{root}/a.sh\"]}\n";

fn project(suite: &str, approach: &str) -> Project {
    let project = Project::new();
    project
        .file("evalreport.yaml", CONFIG)
        .file("a.sh", approach)
        .file(
            "suites/s/suite.yaml",
            format!(
                "name: s\nrequirements: suites/s/order.md\ntests: {{shared: ['true']}}\n{suite}"
            ),
        )
        .file("suites/s/order.md", "Change the letter.\n")
        .file("suites/s/start/Makefile", "test:\n\t@grep b letter.txt\n")
        .file("suites/s/start/letter.txt", "a\n");
    project
}

/// Runs the suite once and returns what the header keeps.
#[track_caller]
fn verification(project: &Project) -> Value {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let place = scratch.path().display().to_string();
    let output: Output = project.run(["run", "s", "--approach", "a", "--scratch", &place]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(
        std::fs::read_dir(scratch.path())
            .expect("the folder")
            .count(),
        0,
        "nothing is left behind"
    );
    let headers: Vec<String> = project
        .files("results")
        .into_iter()
        .filter(|file| {
            std::path::Path::new(file)
                .extension()
                .is_some_and(|kind| kind == "json")
                && file.matches('/').count() == 1
        })
        .collect();
    assert_eq!(headers.len(), 1, "{headers:?}");
    let mut header: Value =
        serde_json::from_str(&project.read(&headers[0])).expect("a header is JSON");
    header["verification"].take()
}

const GOAL: &str =
    "workspace: suites/s/start\ngoal: Change the letter\nprofile: fast\nfiles: [letter.txt]\n";

#[test]
fn a_goal_that_is_met_is_recorded_with_what_it_fixed() {
    needs!("make");
    let verified = verification(&project(GOAL, "echo b > letter.txt\n"));
    assert_eq!(
        (&verified["terminalStatus"], &verified["next"]),
        (&json!("done_success"), &json!("stop")),
        "{verified:#}"
    );
    assert_eq!(
        (&verified["goal"], &verified["profile"]),
        (&json!("Change the letter"), &json!("fast"))
    );
    assert_eq!(
        (&verified["changed"], &verified["files"]),
        (&json!(["letter.txt"]), &json!(["letter.txt"]))
    );
    assert_eq!(
        (
            &verified["checks"][0]["baseline"],
            &verified["checks"][0]["outcome"]
        ),
        (&json!("failed"), &json!("passed"))
    );
    assert_eq!(
        verified["fixed"].as_array().map(Vec::len),
        Some(1),
        "{verified:#}"
    );
    let mut shown = verified;
    shown["schema"] = json!("evalreport/verify/1");
    crate::schema::validate("verify", &shown).expect("it is what `verify` would have answered");
}

#[test]
fn a_goal_that_is_missed_is_recorded() {
    needs!("make");
    let verified = verification(&project(
        &GOAL.replace("fast", "strict"),
        "echo c > letter.txt\n",
    ));
    assert_eq!(
        (&verified["terminalStatus"], &verified["next"]),
        (&json!("not_done"), &json!("continue")),
        "{verified:#}"
    );
}

#[test]
fn nothing_is_done_without_being_asked_or_against_the_suites_word() {
    assert_eq!(
        verification(&project(
            "workspace: suites/s/start\n",
            "echo b > letter.txt\n"
        )),
        Value::Null
    );
    assert_eq!(
        verification(&project(
            &format!("{GOAL}verification: {{off: true}}\n"),
            "echo b > letter.txt\n"
        )),
        Value::Null
    );
}

/// Key by key, the suite's word goes over the configuration's, and both over what is detected.
#[test]
fn suite_and_configuration_say_what_is_run() {
    let project = project(
        &format!("{GOAL}verification: {{primary_test: grep b letter.txt}}\n"),
        "echo b > letter.txt\n",
    );
    let config = format!(
        "{CONFIG}verification: {{profile: strict, primary_test: 'false', lint: test -s letter.txt}}\n"
    );
    project.file("evalreport.yaml", config);
    project.file(
        "suites/s/suite.yaml",
        project
            .read("suites/s/suite.yaml")
            .replace("profile: fast\n", ""),
    );
    let verified = verification(&project);
    let checks = verified["checks"].as_array().expect("checks");
    let commands: Vec<&str> = checks
        .iter()
        .filter_map(|check| check["command"].as_str())
        .collect();
    assert_eq!(commands, ["grep b letter.txt", "test -s letter.txt"]);
    assert_eq!(
        (&verified["profile"], &verified["terminalStatus"]),
        (&json!("strict"), &json!("done_success")),
        "{verified:#}"
    );
}

/// `show` reads whatever a header has, so a test says that it knows the words of what is written.
#[test]
fn what_is_recorded_is_what_is_shown() {
    needs!("make");
    let project = project(GOAL, "echo c > letter.txt\n");
    let stored = verification(&project);
    let id = project
        .run(["list", "--runs", "--format", "csv"])
        .column("run")
        .remove(0);
    let shown = project.run(["show", &id, "--format", "json"]).json();
    let shown = find(&shown, "verification").expect("it is shown");
    for (key, value) in shown.as_object().expect("a map") {
        match key.as_str() {
            "left_out" | "leftOut" => assert_eq!(value, &json!(0)),
            "baseline" => assert_eq!(value, &stored["baseline"]["name"]),
            "checks" | "failures" | "fixed" | "reasons" => {
                let (shown, stored) = (
                    value.as_array().expect("a list"),
                    stored[key].as_array().expect("a list"),
                );
                assert_eq!(shown.len(), stored.len(), "{key}");
                for (shown, stored) in shown.iter().zip(stored) {
                    let Some(fields) = shown.as_object() else {
                        assert_eq!(shown, stored);
                        continue;
                    };
                    assert!(
                        fields
                            .iter()
                            .all(|(field, value)| stored.get(field).unwrap_or(&json!([])) == value),
                        "{shown:#} {stored:#}"
                    );
                }
            }
            _ => assert_eq!(value, &stored[key], "{key}"),
        }
    }
    assert_eq!(shown["failures"][0]["scope"], "unknown", "it names no file");
    let page = project.run(["show", &id]);
    assert!(
        page.answer().contains("make test") && page.stdout.contains("unknown"),
        "{}",
        page.stdout
    );
}

/// Finds a key anywhere in an answer.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => fields
            .get(key)
            .or_else(|| fields.values().find_map(|value| find(value, key))),
        Value::Array(values) => values.iter().find_map(|value| find(value, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[test]
fn a_workspace_that_began_empty_has_no_baseline() {
    needs!("make");
    let verified = verification(&project(
        "goal: Write it\n",
        "printf 'test:\\n\\t@true\\n' > Makefile\n",
    ));
    assert_eq!(
        (&verified["terminalStatus"], &verified["baseline"]),
        (&json!("done_success"), &Value::Null),
        "{verified:#}"
    );
    assert!(
        verified["reasons"]
            .to_string()
            .contains("the workspace began empty"),
        "{verified:#}"
    );
}
