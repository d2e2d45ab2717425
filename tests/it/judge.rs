//! Judges, over real sockets and real programs: what they say is kept with who said it, a judge that is away costs no run anything, judging
//! again appends and never rewrites, and how far a judge can be trusted is told in numbers.

mod again;
mod agreement;
mod imported;
mod jobs;
mod people;
mod runs;

use std::fs;

use serde_json::{Value, json};

use crate::support::{Output, Project, lines};

/// Judges what it reads on its input, in a way of its own: `words` passes a criterion whose last word stands in the files or the transcript
/// that it is shown, `first` passes whatever stands first in its list, `none` nothing,
/// `order` everything if the list begins with a certain criterion.
const JUDGE: &str = r##"
exec awk -v mode="$1" '
{ line[NR] = $0; if ($0 == "# Criteria") last = NR }
function quoted(text) { gsub(/["\\]/, "\\\\&", text); return "\"" text "\"" }
function passes(number,    words) {
    if (mode == "words") return index(made, words[split(criteria[number], words)]) > 0
    if (mode == "first") return number == 1
    if (mode == "order") return criteria[1] ~ /France$/
    return 0
}
END {
    for (number = 1; number < last; number++) {
        if (is_made) made = made line[number] "\n"
        if (line[number] == "# What was made") is_made = 1
    }
    for (number = last + 1; number <= NR && line[number] != "# Your reply"; number++)
        if (line[number] ~ /^[0-9]+\. ./) { text = line[number]; sub(/^[0-9]+\. /, "", text); criteria[++count] = text }
    for (number = 1; number <= count; number++) {
        text = quoted(criteria[number])
        asked = asked (number > 1 ? ", " : "") text
        reply = reply (number > 1 ? ", " : "") "{\"criterion\": " text ", \"passed\": " (passes(number) ? "true" : "false") ", \"reasoning\": \"" mode " says so\"}"
    }
    print "[" asked "]" >> "asked.log"
    print "[" reply "]"
}'
"##;

/// A suite `s` with two criteria and no tests, an approach `a` that prints what its file `answer` says, and some judges.
struct Judged {
    project: Project,
    scratch: tempfile::TempDir,
}

impl Judged {
    /// `judge` is the `judge:` of the configuration, without the key; empty for none. `agents` are lines of more agents.
    fn new(judge: &str, agents: &str) -> Self {
        let project = Project::new();
        let judge = if judge.is_empty() {
            String::new()
        } else {
            format!("judge: {judge}\n")
        };
        let program = |mode: &str| {
            format!("  - {{id: {mode}, type: command, command: [sh, judge.sh, {mode}]}}\n")
        };
        let agents: String = ["words", "first", "none"]
            .into_iter()
            .map(program)
            .chain([agents.to_owned()])
            .collect();
        project
            .file("judge.sh", JUDGE)
            .file("suites/s/order.md", "Make it.\n")
            .file("a.sh", "echo 'it says hello' > \"$1/made.txt\"\n")
            .file(
                "evalreport.yaml",
                format!(
                    "version: 1\nagents:\n{agents}approaches:\n  - {{id: a, command: [sh, \"{{root}}/a.sh\", \"{{output_dir}}\"]}}\n{judge}"
                ),
            );
        let judged = Self {
            project,
            scratch: tempfile::tempdir().expect("a temporary folder"),
        };
        judged.suite(&["it says hello", "it says goodbye"], "");
        judged
    }

    fn suite(&self, criteria: &[&str], more: &str) {
        let criteria = criteria
            .iter()
            .map(|criterion| format!("  - {criterion}"))
            .collect::<Vec<_>>()
            .join("\n")
            + "\n";
        self.project.file(
            "suites/s/suite.yaml",
            format!(
                "name: s\nrequirements: suites/s/order.md\nacceptance_criteria:\n{criteria}{more}"
            ),
        );
    }

    #[track_caller]
    fn run(&self) -> String {
        self.run_with(&[])
    }

    /// Runs the suite once and returns the run's id.
    #[track_caller]
    fn run_with(&self, environment: &[(&str, &str)]) -> String {
        let before = self.ids();
        let scratch = self.scratch.path().display().to_string();
        let output = self.project.run_in(
            ["run", "s", "--approach", "a", "--scratch", &scratch],
            environment,
        );
        // 3: something was not judged.
        assert!([0, 3].contains(&output.code), "{}", output.stderr);
        let mut new: Vec<String> = self
            .ids()
            .into_iter()
            .filter(|id| !before.contains(id))
            .collect();
        assert_eq!(new.len(), 1);
        new.remove(0)
    }

    fn ids(&self) -> Vec<String> {
        let headers = self
            .project
            .files("results")
            .into_iter()
            .filter(|path| path.matches('/').count() == 1);
        headers
            .filter_map(|path| {
                Some(
                    path.strip_prefix("results/")?
                        .strip_suffix(".json")?
                        .to_owned(),
                )
            })
            .collect()
    }

    fn judge(&self, arguments: &[&str]) -> Output {
        self.project.run(["judge"].iter().chain(arguments).copied())
    }

    /// The answer as JSON, whatever the exit code.
    #[track_caller]
    fn judged(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.judge(&[arguments, &["--format", "json"]].concat());
        assert_eq!(output.code, code, "{}{}", output.stderr, output.stdout);
        let answer: Value = serde_json::from_str(&output.stdout).expect("the answer is JSON");
        let command = if arguments.contains(&"--probe") {
            "probe"
        } else {
            "judge"
        };
        crate::schema::validate(command, &answer)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        answer
    }

    fn lines(&self, id: &str, file: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.project.path(&format!("results/{id}/{file}")))
            .unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line is JSON"))
            .collect()
    }

    fn scores(&self, id: &str) -> Vec<Value> {
        self.lines(id, "scores.jsonl")
            .into_iter()
            .filter(|line| line["metric"] == "requirementFulfillment")
            .collect()
    }

    /// Criterion, status and revision of every line.
    fn criteria(&self, id: &str) -> Vec<(String, String, u64)> {
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let of = |line: &Value| {
            (
                text(&line["item"]),
                text(&line["status"]),
                line["revision"].as_u64().expect("a number"),
            )
        };
        self.lines(id, "items.jsonl")
            .iter()
            .filter(|line| line["kind"] == "criterion")
            .map(of)
            .collect()
    }

    /// What `show` says of the criteria: those that stand.
    #[track_caller]
    fn shown(&self, id: &str) -> Vec<(String, String)> {
        let answer = self.project.run(["show", id, "--format", "json"]).json();
        let items = answer["runs"][0]["criteria"]
            .as_array()
            .expect("a list")
            .clone();
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        items
            .iter()
            .map(|item| (text(&item["item"]), text(&item["status"])))
            .collect()
    }

    /// What each question to a program was about.
    fn asked(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.project.path("asked.log")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

/// A run in the store that was judged by `judge` as `passed` says, criterion by criterion.
fn stored(project: &Project, id: &str, judgements: &[(&str, &[(&str, bool)])]) {
    project.result(&crate::support::result(
        id,
        "s",
        "a",
        json!({"suite_version": "v"}),
    ));
    let mut items = Vec::new();
    let mut scores = Vec::new();
    for (revision, (judge, passed)) in judgements.iter().enumerate() {
        items.extend(passed.iter().map(|(item, passed)| {
            json!({"item": item, "kind": "criterion", "evaluator": "requirementFulfillment", "attempt": 1, "revision": revision,
                "status": if *passed { "pass" } else { "fail" }})
        }));
        let value = 100.0 * passed.iter().filter(|(_, passed)| *passed).count() as f64
            / passed.len() as f64;
        let hash = "0123456789abcdef";
        scores.push(json!({"metric": "requirementFulfillment", "value": value, "unit": "points", "direction": "up", "revision": revision,
            "evaluator": format!("{judge} #01234567"), "judge": {"agent": judge, "prompt_sha256": hash, "votes": 1}}));
    }
    project
        .items(id, &items)
        .file(&format!("results/{id}/scores.jsonl"), lines(&scores));
}
