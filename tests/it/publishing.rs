//! Sites that go out: what is taken out of their texts, which transcripts they show, and whether their numbers can be checked.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Project, lines, question, result};

/// Made up, and shaped like the real ones.
const SECRETS: [&str; 7] = [
    "sk-test-0123456789abcdefghij",
    "ghp_0123456789abcdefghijABCDEFGHIJ456789",
    "hunter2-and-more",
    "jdoe",
    "jane.roe@corp.io",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN",
    "Project Blue",
];

/// Two arms that disagree about items, with secrets in every kind of text.
fn leaky() -> Project {
    let project = Project::new();
    for (id, approach, failed) in [("r1", "by jane.roe@corp.io", "q1"), ("r2", "plain", "q2")] {
        let more = json!({
            "shared_tests_passed": 39, "shared_tests_total": 40, "batch_id": "b", "status": "completed",
            "error": "key sk-test-0123456789abcdefghij of jdoe", "tags": {"where": "/home/jdoe/work", "purpose": "t"},
            "agent": "ghp_0123456789abcdefghijABCDEFGHIJ456789", "git": {"rev": "a1", "branch": "jdoe/main"},
        });
        project.result(&result(id, "s", approach, more));
        let items: Vec<Value> = (1..=40)
            .map(|number| {
                let name = if number == 7 { "/home/jdoe/q7".to_owned() } else { format!("q{number}") };
                let mut item = question(&name, 1, if name == failed { "fail" } else { "pass" });
                item["details"] = json!({"reason": "password=hunter2-and-more", "reply": "for Project Blue by jdoe"});
                item
            })
            .collect();
        project.items(id, &items);
        let say = |item: &Value| json!({"item": item["item"], "entry": {"role": "user", "content": "mail jane.roe@corp.io </pre><script>x</script>"}});
        let call = json!({"item": "q1", "entry": {"role": "assistant", "content": [
            {"type": "tool_use", "name": "Bash", "input": {"command": "curl -H 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN'"}}]}});
        project.file(&format!("results/{id}/transcript.jsonl"), lines(items.iter().map(say).chain([call])));
    }
    project.file("evalreport.yaml", "version: 1\nsite:\n  redact:\n    - {name: project, pattern: 'Project \\w+'}\n");
    project
}

fn all_files(project: &Project, folder: &str) -> Vec<(String, String)> {
    let read = |path: String| {
        let text = String::from_utf8_lossy(&fs::read(project.path(&path)).expect("just listed")).into_owned();
        (path, text)
    };
    project.files(folder).into_iter().map(read).collect()
}

#[test]
fn redacted_sites_have_no_secret_in_any_file() {
    let project = leaky();
    let output = project.run(["build", "--redact", "--transcripts", "all"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let files = all_files(&project, "site");
    for (path, text) in files.iter().chain([&("stderr".to_owned(), output.stderr.clone())]) {
        for secret in SECRETS {
            assert!(!text.contains(secret) && !path.contains(secret), "{path} has {secret}");
        }
    }
    let report: Value = serde_json::from_str(&project.read("site/redactions.json")).expect("JSON");
    let counts = &report["redacted"];
    assert_eq!(counts["e-mail"], json!({"names": 1, "transcripts": 80}));
    assert_eq!(counts["password"], json!({"items": 80}));
    assert_eq!(counts["project"], json!({"items": 80}));
    assert_eq!(counts["api-key"], json!({"runs": 4}));
    assert_eq!(counts["token"], json!({"transcripts": 2}));
    assert!(output.stderr.contains("password: 80 in items"), "{}", output.stderr);
    // The two arms are still two, and their items pair.
    let board: Value = serde_json::from_str(&project.read("site/data/leaderboard.json")).expect("JSON");
    assert_eq!(board["suites"][0]["entries"].as_array().map(Vec::len), Some(2));
    let pair = project.files("site/data/compare").remove(0);
    let pair: Value = serde_json::from_str(&project.read(&pair)).expect("JSON");
    assert_eq!(pair["comparisons"][0]["flips"]["shared"], 40);
}

#[test]
fn secrets_are_named_by_place_and_not_by_value() {
    let project = leaky();
    let output = project.run(["build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for place in ["r1.json: `error` holds what looks like: api-key", "r1/items.jsonl: `reason` holds", "--redact"] {
        assert!(output.stderr.contains(place), "{place}: {}", output.stderr);
    }
    for secret in SECRETS {
        assert!(!output.stderr.contains(secret), "{secret}: {}", output.stderr);
    }
    assert!(!project.path("site/redactions.json").exists());
    let quiet = Project::with(&[result("r1", "s", "a", json!({"shared_tests_passed": 1, "shared_tests_total": 2}))]).run(["build"]);
    assert!(!quiet.stderr.contains("warning"), "{}", quiet.stderr);
}

#[test]
fn transcripts_are_chosen_linked_and_inert() {
    let project = leaky();
    project.run(["build", "--out", "usual"]);
    let page = project.read("usual/runs/r1/index.html");
    // Two disagreeing ones and twenty drawn ones.
    assert!(page.contains("22 transcripts are shown. 18 transcripts are left out of this site"), "{page}");
    assert!(page.contains("<a href=\"t/0001.html#t-1\">"), "{page}");
    let transcripts = project.read("usual/runs/r1/t/0001.html");
    assert!(transcripts.contains("id=\"t-1\"") && transcripts.contains("assistant, tool call: Bash"), "{transcripts}");
    assert!(!transcripts.contains("<script>x"), "{transcripts}");
    // What both runs were told is shown once.
    assert!(project.read("usual/runs/r2/t/0001.html").contains("../../../runs/r1/t/0001.html#t-"));
    for (choice, shown) in [("all", 40), ("failing", 1), ("disagreeing", 2), ("budget:100", 2)] {
        let out = choice.replace(':', "-");
        project.run(["build", "--out", &out, "--transcripts", choice]);
        let page = project.read(&format!("{out}/runs/r1/index.html"));
        let expected = if shown == 1 { "1 transcript is shown".to_owned() } else { format!("{shown} transcripts are shown") };
        assert!(page.contains(&expected), "{choice}: {page}");
    }
    let none = project.run(["build", "--out", "none", "--transcripts", "none"]);
    assert!(none.stderr.contains("0 transcripts shown; 80 left out"), "{}", none.stderr);
    assert!(!project.path("none/runs/r1/t").exists());
    assert!(project.run(["build", "--transcripts", "few"]).code == 2);
}

#[test]
fn own_patterns_are_judged_with_the_configuration() {
    let project = Project::new();
    project.file("evalreport.yaml", "version: 1\nsite:\n  redact:\n    - {name: a, pattern: '('}\n    - {pattern: b}\n");
    let output = project.run(["build"]);
    assert_eq!(output.code, 2);
    for problem in ["site.redact[0].pattern", "site.redact[1].name"] {
        assert!(output.stderr.contains(problem), "{problem}: {}", output.stderr);
    }
}

/// Runs the site's own check of its numbers: exit code and what it said.
fn verify(site: &std::path::Path) -> (i32, String) {
    let output = std::process::Command::new("python3").arg(site.join("verify_site.py")).output().expect("python3 is installed");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_shipped_site_proves_its_numbers() {
    let project = Project::new();
    let results = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let results = results.to_str().expect("a path of text");
    let output = project.run(["build", "--results", results, "--cache", "cache"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let (code, said) = verify(&project.path("site"));
    assert!(code == 0 && said.ends_with("0 mismatches\n"), "{said}");
    for kind in ["of rate", "of difference", "of interval of a difference", "of p,", "of adjusted p", "of number on a page", "of digest"] {
        assert!(said.contains(kind), "{kind}: {said}");
    }
}

#[test]
fn one_changed_outcome_is_found_and_placed() {
    let project = leaky();
    project.run(["build", "--transcripts", "none"]);
    let (code, said) = verify(&project.path("site"));
    assert_eq!(code, 0, "{said}");
    let path = "site/data/runs/r1.json";
    let text = project.read(path);
    let place = text.find("\"status\": \"pass\"").expect("an item that passed") + "\"status\": \"".len();
    let mut bytes = text.into_bytes();
    bytes[place] = b'P';
    project.bytes(path, &bytes);
    let (code, said) = verify(&project.path("site"));
    assert_eq!(code, 1, "{said}");
    for place in ["data/runs/r1.json: its bytes are not those", "run r1, passed: count is stated as 39, and the data give 38"] {
        assert!(said.contains(place), "{place}: {said}");
    }
}
