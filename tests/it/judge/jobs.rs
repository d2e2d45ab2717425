//! Several runs judged at the same time.

use serde_json::{Value, json};

use super::Judged;

/// Fails where the work says so; else decides, and about slow work only after other work.
const UNEVEN: &str = r#"
import json, os, re, sys, time

text = sys.stdin.read()
made, asked = text.rsplit("\n# Criteria\n", 1)
if "breaks the judge" in made:
    sys.exit("no words for this")
if "is slow" in made:
    end = time.monotonic() + 30
    while not os.path.exists("other.done"):
        if time.monotonic() > end:
            sys.exit("nobody else was judged meanwhile")
        time.sleep(0.01)
else:
    open("other.done", "w").close()
criteria = re.findall(r"^\d+\. (.+)$", asked, re.M)
print(json.dumps([{"criterion": criterion, "passed": True, "reasoning": ""} for criterion in criteria]))
"#;

#[test]
fn runs_are_judged_side_by_side_and_told_in_their_order() {
    let judged = Judged::new("{agent: words}", "  - {id: uneven, type: command, command: [python3, uneven.py]}\n");
    judged.project.file("uneven.py", UNEVEN);
    let mut ids = [judged.run(), judged.run(), judged.run()];
    ids.sort();
    for (id, text) in ids.iter().zip(["it is slow", "it breaks the judge", "it says hello"]) {
        judged.project.file(&format!("results/{id}/output/made.txt"), text);
    }
    let answer = judged.judged(&["--approach", "a", "--judge", "uneven", "--jobs", "2"], 1);
    let runs = answer["runs"].as_array().expect("a list");
    assert_eq!(runs.iter().map(|run| run["run"].clone()).collect::<Vec<_>>(), ids.clone().map(Value::from));
    let revisions: Vec<_> = runs.iter().map(|run| run.get("revision").cloned().unwrap_or_default()).collect();
    assert_eq!(revisions, [json!(1), Value::Null, json!(1)], "what breaks on one run costs the others nothing: {answer}");
    assert!(runs[1]["not_evaluated"].as_str().expect("a reason").contains("no words for this"), "{answer}");
    for id in [&ids[0], &ids[2]] {
        let criteria = judged.criteria(id);
        let revisions: Vec<u64> = criteria.iter().map(|(_, _, revision)| *revision).collect();
        assert_eq!(revisions, [0, 0, 1, 1], "{criteria:?}");
        assert_eq!(judged.shown(id).iter().filter(|(_, status)| status == "pass").count(), 2);
    }
    assert_eq!(judged.scores(&ids[1]).len(), 1);
    assert_eq!(judged.project.run(["doctor"]).code, 0);
}

#[test]
fn what_is_only_compared_has_no_jobs() {
    let judged = Judged::new("{agent: words}", "");
    for arguments in [["--against", "words", "--jobs", "2"], ["--agreement", "labels.csv", "--jobs", "2"]] {
        assert_eq!(judged.judge(&arguments).code, 2, "{arguments:?}");
    }
}
