//! Several runs judged at the same time.

use serde_json::{Value, json};

use super::Judged;

/// Fails where the work says so; else decides, and about slow work only after other work.
const UNEVEN: &str = r#"
text=$(cat)
case "$text" in
*"breaks the judge"*) echo "no words for this" >&2; exit 1 ;;
*"is slow"*)
    waited=0
    while [ ! -e other.done ]; do
        [ $waited -lt 3000 ] || { echo "nobody else was judged meanwhile" >&2; exit 1; }
        waited=$((waited + 1))
        sleep 0.01
    done ;;
*) : > other.done ;;
esac
echo "$text" | sed -n '/^# Criteria$/,$s/^[0-9]*\. \(.*\)$/{"criterion": "\1", "passed": true, "reasoning": ""},/p' | sed '1s/^/[/; $s/,$/]/'
"#;

#[test]
fn runs_are_judged_side_by_side_and_told_in_their_order() {
    let judged = Judged::new(
        "{agent: words}",
        "  - {id: uneven, type: command, command: [sh, uneven.sh]}\n",
    );
    judged.project.file("uneven.sh", UNEVEN);
    let mut ids = [judged.run(), judged.run(), judged.run()];
    ids.sort();
    for (id, text) in ids
        .iter()
        .zip(["it is slow", "it breaks the judge", "it says hello"])
    {
        judged
            .project
            .file(&format!("results/{id}/output/made.txt"), text);
    }
    let answer = judged.judged(&["--approach", "a", "--judge", "uneven", "--jobs", "2"], 1);
    let runs = answer["runs"].as_array().expect("a list");
    assert_eq!(
        runs.iter()
            .map(|run| run["run"].clone())
            .collect::<Vec<_>>(),
        ids.clone().map(Value::from)
    );
    let revisions: Vec<_> = runs
        .iter()
        .map(|run| run.get("revision").cloned().unwrap_or_default())
        .collect();
    assert_eq!(
        revisions,
        [json!(1), Value::Null, json!(1)],
        "what breaks on one run costs the others nothing: {answer}"
    );
    assert!(
        runs[1]["not_evaluated"]
            .as_str()
            .expect("a reason")
            .contains("no words for this"),
        "{answer}"
    );
    for id in [&ids[0], &ids[2]] {
        let criteria = judged.criteria(id);
        let revisions: Vec<u64> = criteria.iter().map(|(_, _, revision)| *revision).collect();
        assert_eq!(revisions, [0, 0, 1, 1], "{criteria:?}");
        assert_eq!(
            judged
                .shown(id)
                .iter()
                .filter(|(_, status)| status == "pass")
                .count(),
            2
        );
    }
    assert_eq!(judged.scores(&ids[1]).len(), 1);
    assert_eq!(judged.project.run(["doctor"]).code, 0);
}

#[test]
fn what_is_only_compared_has_no_jobs() {
    let judged = Judged::new("{agent: words}", "");
    for arguments in [
        ["--against", "words", "--jobs", "2"],
        ["--agreement", "labels.csv", "--jobs", "2"],
    ] {
        assert_eq!(judged.judge(&arguments).code, 2, "{arguments:?}");
    }
}
