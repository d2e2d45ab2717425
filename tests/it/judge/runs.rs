//! Evaluators as a part of `run`.

use serde_json::json;

use super::Judged;
use crate::agents::service::{Act, Service};

fn reply(text: &str) -> Act {
    let body = json!({"model": "judge-1", "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    Act::Answer(200, "", body.to_string().into_bytes())
}

fn at(service: &Service) -> String {
    format!(
        "  - {{id: http, type: openai, model: judge-1, base_url: \"{}\"}}\n",
        service.url("/v1")
    )
}

#[test]
fn a_suite_of_criteria_is_run_and_judged_over_http() {
    let array = json!([
        {"criterion": "it says goodbye", "passed": false, "reasoning": "made.txt has \u{1b}[31mno <b>goodbye</b>"},
        {"criterion": "IT SAYS HELLO ", "passed": true, "reasoning": "it does"},
    ]);
    let service = Service::start(vec![reply(&format!(
        "Here you are:\n```json\n{array}\n```\n"
    ))]);
    let judged = Judged::new("{agent: http}", &at(&service));
    let id = judged.run();

    assert_eq!(
        judged.criteria(&id),
        [
            ("it says hello".to_owned(), "pass".to_owned(), 0),
            ("it says goodbye".to_owned(), "fail".to_owned(), 0)
        ]
    );
    let scores = judged.scores(&id);
    let [score] = scores.as_slice() else {
        panic!("one score: {scores:?}")
    };
    assert_eq!(
        (
            &score["value"],
            &score["unit"],
            &score["n"],
            &score["revision"]
        ),
        (&json!(50.0), &json!("points"), &json!(2), &json!(0))
    );
    let judge = &score["judge"];
    assert_eq!(
        (&judge["agent"], &judge["model"], &judge["usage"]["output"]),
        (&json!("http"), &json!("judge-1"), &json!(100))
    );
    let hash = judge["prompt_sha256"].as_str().expect("a hash");
    assert_eq!(score["evaluator"], format!("http:judge-1 #{}", &hash[..8]));
    assert_eq!(
        (
            &score["details"]["passedCount"],
            &score["details"]["totalCount"]
        ),
        (&json!(1), &json!(2))
    );
    assert!(
        score["raw"][0]
            .as_str()
            .expect("kept")
            .contains("Here you are"),
        "{score}"
    );

    let requests = service.requests();
    assert_eq!(requests.len(), 1);
    assert!(
        requests[0].contains("it says hello")
            && requests[0].contains("made.txt")
            && requests[0].contains("<<<UNTRUSTED"),
        "{}",
        requests[0]
    );
    let header: serde_json::Value =
        serde_json::from_str(&judged.project.read(&format!("results/{id}.json"))).expect("JSON");
    assert_eq!(
        (
            &header["status"],
            header.get("total_tokens").unwrap_or(&json!(null))
        ),
        (&json!("completed"), &json!(null)),
        "the judge's tokens are not the agent's"
    );
    assert_eq!(judged.project.run(["doctor"]).code, 0);
    let shown = judged.project.run(["show", &id, "--items", "all"]);
    assert!(
        shown.stdout.contains("goodbye") && !shown.stdout.contains('\u{1b}'),
        "{}",
        shown.stdout
    );
}

#[test]
fn a_judge_that_is_away_costs_no_run_anything_and_is_asked_again_later() {
    let refusal = Act::Answer(
        400,
        "",
        b"{\"error\": {\"message\": \"no such judge\"}}".to_vec(),
    );
    let array = json!([{"criterion": "it says hello", "passed": true, "reasoning": ""}, {"criterion": "it says goodbye", "passed": true, "reasoning": ""}]);
    let service = Service::start(vec![refusal.clone(), refusal, reply(&array.to_string())]);
    let judged = Judged::new("{agent: http}", &at(&service));
    judged.suite(
        &["it says hello", "it says goodbye"],
        "evaluators: {efficiency: true}\n",
    );
    let id = judged.run();
    let scores = judged.scores(&id);
    assert_eq!(scores.len(), 1);
    assert!(
        scores[0].get("value").is_none() && scores[0].get("evaluator").is_none(),
        "{scores:?}"
    );
    assert!(
        scores[0]["not_evaluated"]
            .as_str()
            .expect("a reason")
            .contains("no such judge"),
        "{scores:?}"
    );
    let metrics: Vec<_> = judged
        .lines(&id, "scores.jsonl")
        .iter()
        .map(|line| line["metric"].clone())
        .collect();
    assert_eq!(
        metrics,
        ["requirementFulfillment", "efficiency"],
        "each has its own say"
    );
    assert!(
        judged
            .project
            .read(&format!("results/{id}.json"))
            .contains("\"completed\"")
    );

    // Still away: nothing is added, and the exit code says so.
    let answer = judged.judged(&["--retry"], 1);
    assert_eq!(
        (
            answer["runs"][0]["run"].as_str(),
            answer["runs"][0].get("revision")
        ),
        (Some(id.as_str()), None)
    );
    assert_eq!(judged.scores(&id).len(), 1);

    let answer = judged.judged(&["--retry"], 0);
    let run = &answer["runs"][0];
    assert_eq!(
        (
            &run["after"],
            &run["passed"],
            &run["criteria"],
            &run["revision"]
        ),
        (&json!(100.0), &json!(2), &json!(2), &json!(1))
    );
    assert_eq!(judged.scores(&id).len(), 2);
    let nothing = judged.judged(&["--retry"], 0);
    assert_eq!(
        (&nothing["runs"], &nothing["skipped"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(service.requests().len(), 3);
}

#[test]
fn without_a_judge_criteria_are_not_evaluated_and_say_so() {
    let judged = Judged::new("", "");
    let id = judged.run();
    assert_eq!(
        judged.scores(&id)[0]["not_evaluated"],
        "no judge is configured"
    );
    assert_eq!(judged.criteria(&id), []);
    assert!(
        judged
            .judge(&["--retry"])
            .refusal()
            .contains("no judge is named")
    );
}

#[test]
fn a_silent_judge_ends_at_its_own_limit() {
    let service = Service::start(vec![Act::Stall]);
    let judged = Judged::new("{agent: http, timeout: 1s}", &at(&service));
    let id = judged.run();
    assert!(judged.scores(&id)[0].get("value").is_none());
    assert!(
        judged
            .project
            .read(&format!("results/{id}.json"))
            .contains("\"completed\"")
    );
}

#[test]
fn slips_in_the_settings_of_evaluators_stop_a_run_before_it_begins() {
    let judged = Judged::new("{agent: words}", "");
    judged.suite(
        &["it says hello"],
        "evaluators:\n  efficiency: {no_such_setting: 3}\n",
    );
    let scratch = judged.scratch.path().display().to_string();
    let output = judged
        .project
        .run(["run", "s", "--approach", "a", "--scratch", &scratch]);
    let refusal = output.refusal();
    assert!(
        refusal.contains("suite.yaml:6:") && refusal.contains("no_such_setting"),
        "{refusal}"
    );
    assert!(judged.project.files("results").is_empty());
}

#[test]
fn a_run_that_failed_is_judged_all_the_same() {
    let judged = Judged::new("{agent: words}", "");
    judged
        .project
        .file("a.sh", "echo 'it says hello' > \"$1/made.txt\"\nexit 3\n");
    let id = judged.run();
    assert!(
        judged
            .project
            .read(&format!("results/{id}.json"))
            .contains("\"failed\"")
    );
    assert_eq!(judged.scores(&id)[0]["value"], 50.0);
}
