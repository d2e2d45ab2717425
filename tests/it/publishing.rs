//! Sites that go out: what is taken out of their texts, which transcripts they show, and whether their numbers can be checked.

use std::fs;

use serde_json::{Value, json};

use crate::kept;
use crate::programs::Start as _;
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
            {"type": "tool_use", "name": "Bash", "input": {"padding": "-".repeat(3000), "command": "curl -H 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN'"}}]}});
        project.file(
            &format!("results/{id}/transcript.jsonl"),
            lines(items.iter().map(say).chain([call])),
        );
    }
    project.file(
        "evalreport.yaml",
        "version: 1\nsite:\n  redact:\n    - {name: project, pattern: 'Project \\w+'}\n",
    );
    project
}

fn all_files(project: &Project, folder: &str) -> Vec<(String, String)> {
    let read = |path: String| {
        let text = String::from_utf8_lossy(&fs::read(project.path(&path)).expect("just listed"))
            .into_owned();
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
    for (path, text) in files
        .iter()
        .chain([&("stderr".to_owned(), output.stderr.clone())])
    {
        for secret in SECRETS {
            assert!(
                !text.contains(secret) && !path.contains(secret),
                "{path} has {secret}"
            );
        }
    }
    let report: Value = serde_json::from_str(&project.read("site/redactions.json")).expect("JSON");
    let counts = &report["redacted"];
    assert_eq!(counts["e-mail"], json!({"names": 1, "transcripts": 80}));
    assert_eq!(counts["password"], json!({"items": 80}));
    assert_eq!(counts["project"], json!({"items": 80}));
    assert_eq!(counts["api-key"], json!({"runs": 4}));
    assert_eq!(counts["token"], json!({"transcripts": 2}));
    assert!(
        output.stderr.contains("password: 80 in items"),
        "{}",
        output.stderr
    );
    // What is packed is read by nobody before it is unpacked.
    let reader = Project::new();
    assert_eq!(
        reader
            .run(["import", &project.path("site").to_string_lossy()])
            .code,
        0
    );
    assert_eq!(reader.run(["export", "bundle", "all.jsonl"]).code, 0);
    let packed = reader.read("all.jsonl");
    assert_eq!(packed.matches("[redacted project]").count(), 80);
    for secret in SECRETS {
        assert!(!packed.contains(secret), "the results have {secret}");
    }
    let own = |project: &Project| {
        project.run(["leaderboard", "--format", "json"]).json()["suites"][0]["entries"][0]["rate"]
            .clone()
    };
    assert_eq!(own(&reader), own(&project));
    // The two arms are still two, and their items pair.
    let board: Value =
        serde_json::from_str(&project.read("site/data/leaderboard.json")).expect("JSON");
    assert_eq!(
        board["suites"][0]["entries"].as_array().map(Vec::len),
        Some(2)
    );
    let files = project.files("site/data/compare");
    let pair = files
        .iter()
        .filter(|file| file.contains("--"))
        .find_map(|file| file.strip_suffix(".json"))
        .expect("a pair");
    let pair: Value = serde_json::from_str(&project.read(&format!("{pair}.json"))).expect("JSON");
    assert_eq!(pair["comparisons"][0]["flips"]["shared"], 40);
}

/// Fills every text of a record by its schema with a secret of its own. Returns the record and the number of texts.
fn filled(
    schema: &Value,
    of: &Value,
    name: &str,
    kept: &dyn Fn(&str) -> Option<Value>,
    count: &mut usize,
) -> Option<Value> {
    if let Some(value) = kept(name) {
        return Some(value);
    }
    if let Some(reference) = of["$ref"].as_str() {
        return filled(
            schema,
            schema.pointer(reference.trim_start_matches('#'))?,
            name,
            kept,
            count,
        );
    }
    if let Some(any) = of["anyOf"].as_array() {
        return any
            .iter()
            .find_map(|one| filled(schema, one, name, kept, count));
    }
    let is = |kind: &str| {
        of["type"] == kind
            || of["type"]
                .as_array()
                .is_some_and(|types| types.iter().any(|one| one == kind))
    };
    if is("string")
        && of.get("enum").is_none()
        && of.get("pattern").is_none()
        && of.get("format").is_none()
    {
        *count += 1;
        return Some(json!(format!("{name} of leaked{count}@corp.io")));
    }
    if is("array") {
        return Some(json!([filled(schema, &of["items"], name, kept, count)?]));
    }
    if is("object") {
        let own = of["properties"].as_object().into_iter().flatten();
        let mut made: serde_json::Map<String, Value> = own
            .filter_map(|(key, of)| Some((key.clone(), filled(schema, of, key, kept, count)?)))
            .collect();
        if of["additionalProperties"].is_object() && made.is_empty() {
            *count += 1;
            let value = filled(schema, &of["additionalProperties"], "value", kept, count)
                .unwrap_or(json!(1));
            made.insert(format!("key of leaked{count}@corp.io"), value);
        }
        return (!made.is_empty()).then(|| made.into());
    }
    None
}

/// The schema says which texts there are, so that a new one is planted without a change here.
#[test]
fn no_text_of_any_record_reaches_a_redacted_site() {
    let schema =
        serde_json::to_value(evalreport::results::records_schema()).expect("a schema is JSON");
    let project = Project::new();
    let mut count = 0;
    for (number, arm) in ["one", "two", "three"].into_iter().enumerate() {
        let id = format!("run-{arm}");
        // Names that the store checks, and fields that say how other ones are read.
        let of_run = |name: &str| match name {
            "id" => Some(json!(id)),
            "suite" => Some(json!("s")),
            "model" => Some(json!("m1")),
            "unit" => Some(json!("points")),
            "given" | "reversed" => Some(json!(1)),
            "suite_version" | "items_digest" | "carried" | "provenance" | "scores" | "stated"
            | "usage" | "verification" | "timestamp" | "counted" | "cost_source" | "format"
            | "status" => Some(Value::Null),
            _ => None,
        };
        let run =
            filled(&schema, &schema["$defs"]["Run"], "run", &of_run, &mut count).expect("a run");
        let mut run = run.as_object().expect("a record").clone();
        run.retain(|_, value| !value.is_null());
        let mut usual = result(&id, "s", "a", json!({}));
        usual.as_object_mut().expect("a record").extend(run);
        usual["id"] = json!(id);
        project.result(&usual);
        let items: Vec<Value> = (0..8)
            .map(|item| {
                let status = if (item + number) % 3 == 0 {
                    "pass"
                } else {
                    "fail"
                };
                let of_item = |name: &str| match name {
                    "run" | "kind" | "status" | "usage" | "cost_source" | "repeated"
                    | "item_hash" | "scores" | "tools" => Some(Value::Null),
                    "attempt" => Some(json!(1)),
                    _ => None,
                };
                let mut made = filled(
                    &schema,
                    &schema["$defs"]["Outcome"],
                    "item",
                    &of_item,
                    &mut count,
                )
                .expect("an outcome")
                .as_object()
                .expect("a record")
                .clone();
                let details = filled(
                    &schema,
                    &schema["$defs"]["ItemDetails"],
                    "details",
                    &of_item,
                    &mut count,
                )
                .expect("details");
                made.retain(|_, value| !value.is_null());
                let mut details = details.as_object().expect("a record").clone();
                details.retain(|_, value| !value.is_null());
                // Arms share items, evaluators and clusters; three of each.
                made.insert(
                    "item".into(),
                    json!(format!("item {item} of leaked-item@corp.io")),
                );
                made.insert(
                    "evaluator".into(),
                    json!(format!("judge-leaked{}@corp.io", item % 2)),
                );
                made.insert(
                    "cluster".into(),
                    json!(format!("/home/leakeduser/c{}", item % 3)),
                );
                made.insert("kind".into(), json!("question"));
                made.insert("status".into(), json!(status));
                made.insert("details".into(), details.into());
                made.into()
            })
            .collect();
        project.items(&id, &items);
    }
    assert!(count > 100, "{count} texts");
    let output = project.run(["build", "--redact", "--transcripts", "all"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for (path, text) in all_files(&project, "site") {
        for secret in ["leaked", "corp.io"] {
            let place = text.find(secret);
            assert!(
                place.is_none() && !path.contains(secret),
                "{path} has {secret}: {}",
                &text[place.unwrap_or(0).saturating_sub(80)..][..120.min(text.len())]
            );
        }
    }
    assert!(
        !project.read("site/index.html").contains("aliases replace"),
        "redaction is no configuration"
    );
    // Evaluators and clusters stay apart.
    let items: Value = serde_json::from_str(&project.read("site/data/items/s.json")).expect("JSON");
    let names = |key: &str| -> std::collections::BTreeSet<String> {
        items["items"]
            .as_array()
            .expect("items")
            .iter()
            .filter_map(|item| item[key].as_str().map(str::to_owned))
            .collect()
    };
    assert_eq!(
        (names("evaluator").len(), names("cluster").len()),
        (2, 3),
        "{items}"
    );
    // What is read back and built again is the same site.
    let reader = Project::new();
    assert_eq!(
        reader
            .run(["import", &project.path("site").to_string_lossy()])
            .code,
        0
    );
    let again = reader.run(["build", "--redact", "--transcripts", "all"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    for path in [
        "data/items/s.json",
        "data/items/s.csv",
        "data/leaderboard.csv",
        "suites/s/i/0001.html",
        "suites/s/items/index.html",
    ] {
        assert_eq!(
            reader.read(&format!("site/{path}")),
            project.read(&format!("site/{path}")),
            "{path}"
        );
    }
}

#[test]
fn questions_and_further_scores_are_shown_and_redacted() {
    let project = Project::with(&[result("r1", "s", "a", json!({"status": "completed"}))]);
    let mut item = question("q1", 1, "fail");
    let asked = format!(
        "What does <b>jane.roe@corp.io</b> want? {}",
        "So many words. ".repeat(200)
    );
    item["details"] = json!({"question": asked, "answer": "peace", "scores": {"f1": 0.5, "judged by jane.roe@corp.io": 0.25}});
    project.items("r1", &[item]);
    assert_eq!(project.run(["build"]).code, 0);
    for page in ["site/runs/r1/index.html", "site/suites/s/i/0001.html"] {
        let page = project.read(page);
        for expected in [
            "&#60;b&#62;jane.roe@corp.io&#60;/b&#62; want?",
            "f1 0.500, judged by jane.roe@corp.io 0.250",
        ] {
            assert!(page.contains(expected), "{expected}\n{page}");
        }
        assert!(page.matches("So many words.").count() < 80, "{page}");
    }
    let shown = project.run(["show", "r1", "--format", "json"]).json();
    assert_eq!(
        (
            &shown["runs"][0]["items"][0]["question"],
            &shown["runs"][0]["items"][0]["scores"]["f1"]
        ),
        (&json!(asked), &json!(0.5))
    );
    assert!(
        project
            .run_in(["show", "r1"], &[("COLUMNS", "240")])
            .answer()
            .contains("f1 0.500")
    );
    let output = project.run(["build", "--redact"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for (path, text) in all_files(&project, "site") {
        assert!(!text.contains("jane.roe"), "{path}");
    }
    let report: Value = serde_json::from_str(&project.read("site/redactions.json")).expect("JSON");
    assert_eq!(report["redacted"]["e-mail"], json!({"items": 2}));
}

#[test]
fn secrets_are_named_by_place_and_not_by_value() {
    let project = leaky();
    let output = project.run(["build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for place in [
        "r1.json: `error` holds what looks like: api-key",
        "r1/items.jsonl: `reason` holds",
        "--redact",
    ] {
        assert!(output.stderr.contains(place), "{place}: {}", output.stderr);
    }
    for secret in SECRETS {
        assert!(
            !output.stderr.contains(secret),
            "{secret}: {}",
            output.stderr
        );
    }
    assert!(!project.path("site/redactions.json").exists());
    let quiet = Project::with(&[result(
        "r1",
        "s",
        "a",
        json!({"shared_tests_passed": 1, "shared_tests_total": 2}),
    )])
    .run(["build"]);
    assert!(!quiet.stderr.contains("warning"), "{}", quiet.stderr);
}

#[test]
fn a_transcript_shows_the_other_arms_on_its_item_as_they_are_now() {
    let project = Project::with(&[
        result("r1", "quiz", "a", json!({})),
        result("r2", "quiz", "b", json!({})),
    ]);
    project
        .items(
            "r1",
            &[question("q1", 1, "pass"), question("q2", 1, "fail")],
        )
        .items(
            "r2",
            &[question("q1", 1, "fail"), question("q2", 1, "pass")],
        )
        .file(
            "results/r1/transcript.jsonl",
            json!({"item": "q1", "entry": {"role": "user", "content": "Why?"}}).to_string() + "\n",
        );
    let beside = || {
        assert_eq!(project.run(["build", "--out", "site"]).code, 0);
        let page = project.read("site/runs/r1/t/0001.html");
        let (_, list) = page
            .split_once("<ul class=\"beside\" aria-label=\"Other arms on q1\">")
            .expect("other arms");
        list.split_once("</ul>")
            .expect("an end")
            .0
            .trim()
            .to_owned()
    };
    let line = |class: &str, said: &str| {
        let href = "../../../suites/quiz/i/0001.html#i-q1";
        format!(
            "<li><a href=\"{href}\"><bdi>b</bdi></a> <span class=\"{class}\"><span aria-hidden=\"true\">{said}</span></li>"
        )
    };
    assert_eq!(beside(), line("mf", "✗</span> not passed"));
    // Another run of the other arm changes this page too, which is otherwise as it was.
    project.result(&result("r3", "quiz", "b", json!({}))).items(
        "r3",
        &[question("q1", 1, "pass"), question("q2", 1, "pass")],
    );
    assert_eq!(beside(), line("mx", "◐</span> sometimes"));
}

#[test]
fn transcripts_are_chosen_linked_and_inert() {
    let project = leaky();
    project.run(["build", "--out", "usual"]);
    let page = project.read("usual/runs/r1/index.html");
    // Two disagreeing ones and twenty drawn ones.
    assert!(
        page.contains("22 transcripts are shown. 18 transcripts are left out of this site"),
        "{page}"
    );
    assert!(page.contains("<a href=\"t/0001.html#t-1\">"), "{page}");
    let transcripts = project.read("usual/runs/r1/t/0001.html");
    assert!(
        transcripts.contains("id=\"t-1\"") && transcripts.contains("assistant, tool call: Bash"),
        "{transcripts}"
    );
    assert!(!transcripts.contains("<script>x"), "{transcripts}");
    // What both runs were told is shown once.
    assert!(
        project
            .read("usual/runs/r2/t/0001.html")
            .contains("../../../runs/r1/t/0001.html#t-")
    );
    // Within 100 bytes the longest has no room, and two of the others do.
    for (choice, shown) in [
        ("all", 40),
        ("failing", 1),
        ("disagreeing", 2),
        ("budget:100", 2),
    ] {
        let out = choice.replace(':', "-");
        project.run(["build", "--out", &out, "--transcripts", choice]);
        let page = project.read(&format!("{out}/runs/r1/index.html"));
        let expected = if shown == 1 {
            "1 transcript is shown".to_owned()
        } else {
            format!("{shown} transcripts are shown")
        };
        assert!(page.contains(&expected), "{choice}: {page}");
    }
    let none = project.run(["build", "--out", "none", "--transcripts", "none"]);
    assert!(
        none.stderr.contains("0 transcripts shown; 80 left out"),
        "{}",
        none.stderr
    );
    assert!(!project.path("none/runs/r1/t").exists());
    assert!(project.run(["build", "--transcripts", "few"]).code == 2);
}

#[test]
fn own_patterns_are_judged_with_the_configuration() {
    let project = Project::new();
    project.file(
        "evalreport.yaml",
        "version: 1\nsite:\n  redact:\n    - {name: a, pattern: '('}\n    - {pattern: b}\n",
    );
    let output = project.run(["build"]);
    assert_eq!(output.code, 2);
    for problem in ["site.redact[0].pattern", "site.redact[1].name"] {
        assert!(
            output.stderr.contains(problem),
            "{problem}: {}",
            output.stderr
        );
    }
}

/// Runs the site's own check of its numbers: exit code and what it said.
fn verify(site: &std::path::Path) -> (i32, String) {
    let output = std::process::Command::new("python3")
        .arg(site.join("verify_site.py"))
        .finish();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn the_shipped_site_proves_its_numbers() {
    needs!("python3");
    let (code, said) = verify(&kept::shipped().path("site"));
    assert!(code == 0 && said.ends_with("0 mismatches\n"), "{said}");
    for kind in [
        "of rate",
        "of difference",
        "of interval of a difference",
        "of p,",
        "of adjusted p",
        "of number on a page",
        "of digest",
    ] {
        assert!(said.contains(kind), "{kind}: {said}");
    }
}

#[test]
fn one_changed_outcome_is_found_and_placed() {
    needs!("python3");
    let project = leaky();
    project.run(["build", "--transcripts", "none"]);
    let (code, said) = verify(&project.path("site"));
    assert_eq!(code, 0, "{said}");
    let path = "site/data/runs/r1.json";
    let text = project.read(path);
    let place = text
        .find("\"status\": \"pass\"")
        .expect("an item that passed")
        + "\"status\": \"".len();
    let mut bytes = text.into_bytes();
    bytes[place] = b'P';
    project.bytes(path, &bytes);
    let (code, said) = verify(&project.path("site"));
    assert_eq!(code, 1, "{said}");
    for place in [
        "data/runs/r1.json: its bytes are not those",
        "run r1, passed: count is stated as 39, and the data give 38",
    ] {
        assert!(said.contains(place), "{place}: {said}");
    }
}

#[test]
fn other_programs_find_leader_badge_and_feed() {
    let project = leaky();
    let output = project.run([
        "build",
        "--redact",
        "--noindex",
        "--base-url",
        "https://e.org/x?y",
    ]);
    assert!(output.refusal().contains("--base-url"), "{}", output.stderr);
    project.run([
        "build",
        "--redact",
        "--noindex",
        "--base-url",
        "https://e.org/a&b/",
    ]);
    let board: Value = serde_json::from_str(&project.read("site/leaderboard.json")).expect("JSON");
    let suite = &board["suites"][0];
    assert_eq!(
        (&suite["page"], &suite["verdict"]),
        (
            &json!("https://e.org/a&b/suites/s/index.html"),
            &json!("not_enough_evidence")
        )
    );
    assert_eq!(suite["arms"][0]["pass_rate"], json!(0.975));
    let badge = project.read("site/badge/s.svg");
    assert!(
        badge.contains("<title>s: not enough evidence</title>"),
        "{badge}"
    );
    let page = project.read("site/index.html");
    for part in [
        "<meta name=\"robots\" content=\"noindex\">",
        "<link rel=\"canonical\" href=\"https://e.org/a&#38;b/index.html\">",
        "property=\"og:description\"",
        "href=\"feed.xml\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Runs that do not know when they ended are no news.
    let feed = project.read("site/feed.xml");
    assert!(
        feed.contains("<updated>1970-01-01T00:00:00Z</updated>") && !feed.contains("<entry>"),
        "{feed}"
    );
}

/// Two arms with so many items that the second can be told from the first.
fn nightly(project: &Project, night: u32, approach: &str, passed: usize) {
    let id = format!("{}-{night}", &approach[..3].trim_start_matches('<'));
    let more = json!({"timestamp": format!("2026-03-{night:02}T04:00:00Z"), "status": "completed"});
    project.result(&result(&id, "quiz", approach, more));
    let items: Vec<Value> = (0..40)
        .map(|item| {
            question(
                &format!("q{item}"),
                1,
                if item < passed { "pass" } else { "fail" },
            )
        })
        .collect();
    project.items(&id, &items);
}

#[test]
fn the_feed_tells_who_leads_since_when() {
    let project = Project::new();
    for night in 1..=8 {
        nightly(&project, night, "old", 20);
    }
    nightly(&project, 2, "<new> & better", 20);
    // One better night of two decides nothing, as runs vary; many do.
    for night in 3..=8 {
        nightly(&project, night, "<new> & better", 40);
    }
    nightly(&project, 8, "third", 1);
    let first = project.run(["build"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let feed = project.read("site/feed.xml");
    assert!(feed.contains("quiz: 2 arms, no leader"), "{feed}");
    assert!(
        feed.contains("new&gt; &amp; better") || feed.contains("new&#62; &#38; better"),
        "{feed}"
    );
    assert!(!feed.contains("<new>"), "{feed}");
    let ids = |feed: &str| feed.matches("<id>urn:uuid:").count();
    assert!(ids(&feed) >= 2, "{feed}");
    project.run(["build", "--out", "again"]);
    assert_eq!(project.read("again/feed.xml"), feed);
}

#[test]
fn an_entry_of_the_feed_stays_when_nights_go_by() {
    let project = Project::new();
    let ids = |feed: &str| -> Vec<String> {
        let entries = feed
            .split("<entry>")
            .skip(1)
            .filter_map(|entry| entry.split("<id>").nth(1));
        entries
            .map(|rest| rest.split('<').next().unwrap_or_default().to_owned())
            .collect()
    };
    // A run that was no better and five that are: runs vary, so one good night would decide nothing.
    for night in 1..=6 {
        nightly(&project, night, "old", 20);
        nightly(&project, night, "new", if night == 1 { 20 } else { 40 });
    }
    assert_eq!(project.run(["build"]).code, 0);
    let early = ids(&project.read("site/feed.xml"));
    assert_eq!(early.len(), 2, "it begins, and one takes the lead");
    for night in 7..=20 {
        nightly(&project, night, "old", 20);
        nightly(&project, night, "new", 40);
    }
    assert_eq!(project.run(["build"]).code, 0);
    let late = ids(&project.read("site/feed.xml"));
    assert!(
        early.iter().all(|id| late.contains(id)),
        "{early:?} {late:?}"
    );
}

#[test]
fn one_file_holds_overview_suites_and_comparisons() {
    let project = leaky();
    let output = project.run(["build", "--single-file", "report.html", "--redact"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let html = project.read("report.html");
    assert!(
        output
            .stderr
            .contains(&format!("report.html: {}", thousands(html.len()))),
        "{}",
        output.stderr
    );
    assert!(!project.path("site").exists());
    for secret in SECRETS {
        assert!(!html.contains(secret), "{secret}");
    }
    assert_eq!(
        (
            html.matches("<h1>").count(),
            html.matches("<style>").count(),
            html.matches("<script>").count()
        ),
        (1, 1, 1)
    );
    assert!(
        html.contains("script-src 'sha256-")
            && !html.contains("src=\"")
            && !html.contains(" style=\"")
    );
    let values = |name: &str| -> Vec<String> {
        let start = format!(" {name}=\"");
        html.match_indices(&start)
            .map(|(place, _)| {
                html[place + start.len()..]
                    .split('"')
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    };
    let ids = values("id");
    let mut distinct = ids.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "an id is there twice");
    for link in values("href") {
        let id = link
            .strip_prefix('#')
            .unwrap_or_else(|| panic!("{link} leads out of the file"));
        assert!(ids.iter().any(|known| known == id), "{link} leads nowhere");
    }
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let cut = digits.len().saturating_sub(3);
    if cut == 0 {
        digits
    } else {
        format!("{},{}", &digits[..cut], &digits[cut..])
    }
}
