//! The store that the site is accepted on: three suites, eight arms, 500 items each, and every text that has broken a page before.

use serde_json::{Value, json};

use crate::support::{Project, lines, result};

pub const ARMS: usize = 8;
pub const ITEMS: usize = 500;

/// Texts that have broken pages, terminals and paths before. All of them would say so in `window.pwned`.
pub const HOSTILE: [&str; 13] = [
    "</script><script>window.pwned=1</script>",
    "<!--<script>window.pwned=1",
    "<img src=x onerror=window.pwned=1>",
    "\"><svg onload=window.pwned=1>",
    "javascript:window.pwned=1",
    "\u{202e}drowssap\u{2066}",
    "\u{1b}]8;;javascript:window.pwned=1\u{7}link\u{1b}]8;;\u{7}",
    "nul\u{0}nul",
    "line\u{2028}line",
    "{{7*7}}${7*7}",
    "' onmouseover='window.pwned=1",
    "![](https://example.org/pixel) `code` | cell",
    "=HYPERLINK(\"https://example.org\",\"x\")",
];

/// Names that files, objects or links cannot bear.
const NAMES: [&str; 8] = [
    "__proto__",
    "../../x",
    "con",
    "Twin",
    "twin",
    ".",
    "constructor",
    "%2e%2e%2f",
];

pub const SUITES: [&str; 3] = ["questions", "repository tests", HOSTILE[0]];

/// The ids of a suite's items: hostile ones first, then plain ones.
pub fn item_ids() -> Vec<String> {
    let odd = HOSTILE
        .iter()
        .chain(&NAMES)
        .map(|&id| id.to_owned())
        .chain(["long ".repeat(60)]);
    let mut ids: Vec<String> = odd.collect();
    ids.extend((ids.len()..ITEMS).map(|number| format!("item-{number:04}")));
    ids
}

/// What the arms are called. The last two have hostile names.
fn approach(arm: usize) -> String {
    match arm {
        0..6 => [
            "ralph", "oneshot", "planner", "reviewer", "twin one", "twin two",
        ][arm]
            .to_owned(),
        6 => HOSTILE[2].to_owned(),
        // A spreadsheet would take it for a formula.
        _ => format!("={}", HOSTILE[3]),
    }
}

/// Whether an arm gets an item right: arm 0 is much better, arms 1 and 2 hardly differ, arms 4 and 5 never do.
fn passes(suite: usize, arm: usize, item: usize, night: usize) -> bool {
    let strength = [0.82, 0.61, 0.60, 0.52, 0.45, 0.45, 0.30, 0.10][arm];
    let noise = chance([
        suite,
        if arm == 5 { 4 } else { arm },
        item,
        if matches!(arm, 4 | 5) { 0 } else { night },
    ]);
    0.6 * chance([suite, 99, item, 0]) + 0.4 * noise < strength
}

/// The same fraction between 0 and 1 for the same numbers (the finisher of splitmix64).
fn chance(of: [usize; 4]) -> f64 {
    let mut bits = of.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |bits, &one| {
        let mut bits = bits
            .wrapping_add(one as u64 + 1)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits ^= bits >> 27;
        bits.wrapping_mul(0x94d0_49bb_1331_11eb) ^ (bits >> 31)
    });
    bits ^= bits >> 30;
    f64::from((bits >> 40) as u32) / f64::from(1_u32 << 24)
}

pub fn store() -> Project {
    let project = Project::new();
    fill(&project);
    project
}

/// Writes two nights of the first suite, one of the others.
pub fn fill(project: &Project) {
    // Its own, wherever it lies.
    project.file("evalreport.yaml", "version: 1\n");
    let ids = item_ids();
    for (suite, name) in SUITES.iter().enumerate() {
        for night in 0..if suite == 0 { 2 } else { 1 } {
            for arm in 0..ARMS {
                run(project, (suite, name), arm, night, &ids);
            }
        }
    }
}

fn run(project: &Project, (suite, name): (usize, &str), arm: usize, night: usize, ids: &[String]) {
    let id = format!("s{suite}-a{arm}-n{night}");
    let text = HOSTILE[(suite + arm) % HOSTILE.len()];
    let (kind, evaluator) = if suite == 0 {
        ("question", "answers")
    } else {
        ("test", "shared_tests")
    };
    let mut items = Vec::new();
    let mut passed = 0;
    for (number, item) in ids.iter().enumerate() {
        let right = passes(suite, arm, number, night);
        let status = match number {
            40 if arm == 7 => "error",
            41 if arm == 7 => "limit",
            42 if arm == 7 => "infra",
            _ if right => "pass",
            _ => "fail",
        };
        passed += usize::from(status == "pass");
        let mut outcome = json!({"item": item, "kind": kind, "evaluator": evaluator, "attempt": 1, "revision": 0, "status": status,
            "cost_usd": 0.001 * (1 + arm) as f64, "duration_seconds": 1.0 + chance([7, arm, number, 0])});
        let hostile = HOSTILE[number % HOSTILE.len()];
        if suite == 0 {
            let reply = if number == 30 {
                "a line without end ".repeat(60_000)
            } else {
                format!("I think it is {hostile}, by arm {arm}")
            };
            outcome["details"] = json!({"reply": reply, "answer": if right { "right" } else { "wrong" }, "expected": ["right"],
                "reason": if right { Value::Null } else { json!(hostile) }, "category": "c"});
        } else if !right {
            outcome["details"] = json!({"reason": format!("AssertionError: {hostile}")});
        }
        items.push(outcome);
    }
    let mut fields = json!({
        "model": if arm.is_multiple_of(2) { "m1" } else { "m2" }, "timestamp": format!("2026-03-{:02}T02:00:{arm:02}Z", 1 + night),
        "shared_tests_passed": passed, "shared_tests_total": ids.len(), "cost_usd": 0.5 * (1 + arm) as f64, "cost_source": "reported",
        "duration_seconds": 600.0 + 10.0 * arm as f64, "status": "completed", "agent": text, "batch_id": format!("night-{night}"),
        "tags": {text: text}, "error": text, "total_calls": 500,
    });
    if suite == 1 {
        let criteria: Vec<Value> = ["Saves notes", text, "Lists notes"]
            .iter()
            .enumerate()
            .map(|(number, criterion)| {
                json!({"item": criterion, "kind": "criterion", "evaluator": "requirementFulfillment", "attempt": 1, "revision": 0,
                    "status": if (number + arm).is_multiple_of(2) { "pass" } else { "fail" }, "details": {"reason": text}})
            })
            .collect();
        let met = criteria
            .iter()
            .filter(|criterion| criterion["status"] == "pass")
            .count();
        items.extend(criteria);
        let score = json!({"metric": "requirementFulfillment", "value": 100.0 * met as f64 / 3.0, "unit": "points", "direction": "up",
            "revision": 0, "evaluator": "claude:opus #01234567", "judge": {"agent": "claude", "model": "opus", "prompt_sha256": "0123456789abcdef",
            "votes": 1, "usage": {"input": 1200, "output": 34}, "cost_usd": 0.02, "cost_source": "reported"},
            "details": {"criteria": [], "passedCount": met, "totalCount": 3}, "raw": [text]});
        project.file(&format!("results/{id}/scores.jsonl"), lines([score]));
        fields["verification"] = json!({"stack": "python", "goal": text, "taskKind": "fix_error", "profile": "fast",
            "checks": [{"id": "test", "kind": "test", "command": text, "folder": "", "reason": text, "outcome": "failed", "seconds": 2.5}],
            "failures": [], "fixed": [], "reasons": [text], "terminalStatus": "done_partial", "next": "accept_partial", "reason": text});
    }
    project.result(&result(&id, name, &approach(arm), fields));
    project.items(&id, &items);
    if suite == 0 && night == 1 {
        let told = |(number, item): (usize, &String)| {
            let hostile = HOSTILE[number % HOSTILE.len()];
            [
                json!({"item": item, "entry": {"role": "user", "content": format!("What is {hostile}?")}}),
                json!({"item": item, "entry": {"role": "assistant", "content": [{"type": "tool_use", "name": hostile, "input": {"command": hostile}}]}}),
            ]
        };
        project.file(
            &format!("results/{id}/transcript.jsonl"),
            lines(ids.iter().enumerate().flat_map(told)),
        );
    }
}
