//! HELM: the folder of a run.

use serde_json::{Value, json};

use super::{imported, one, project, quirks, stored, told};

fn score<'r>(run: &'r Value, metric: &str) -> Option<&'r Value> {
    run["scores"]
        .as_array()?
        .iter()
        .find(|one| one["metric"] == metric)
}

#[test]
fn the_headline_is_over_the_test_split() {
    let project = project("helm", "splits");
    let (source, runs) = imported(&project, "helm");
    let run = &runs[0];
    assert_eq!(
        [&run["suite"], &run["approach"], &run["model"]],
        [
            &json!("colors:kind=plain"),
            &json!("multiple_choice_joint"),
            &json!("org/tiny")
        ]
    );
    assert_eq!(
        (&run["passed"], &run["total"], &run["timestamp"]),
        (&json!(1), &json!(2), &json!("2026-02-03T10:20:30Z")),
        "{run}"
    );
    assert_eq!(
        told(&project),
        [
            one("id1", 1, "pass"),
            one("id2", 1, "fail"),
            one("id3", 1, "skipped")
        ]
    );
    let first = &stored(&project)[0];
    assert_eq!(
        (&first["answer"], &first["expected"], &first["question"]),
        (&json!("red"), &json!(["red"]), &json!("Question id1")),
        "{first}"
    );
    assert_eq!(
        (
            &first["input_tokens"],
            &first["output_tokens"],
            &first["duration_seconds"]
        ),
        (&json!(100), &json!(2), &json!(0.5))
    );
    // What was counted no times is no figure; the worst copy of what was not changed is itself.
    let names: Vec<_> = run["stated"]
        .as_array()
        .expect("figures")
        .iter()
        .map(|one| one["name"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        names,
        [
            "exact_match (test)",
            "f1_score (test)",
            "exact_match (valid)",
            "num_prompt_tokens (test)",
            "inference_runtime (test)",
            "num_instances (test)"
        ]
    );
    assert_eq!(
        [&source["stated_checked"], &source["stated_agree"]],
        [&json!(5), &json!(5)],
        "nothing counts the instances: {source}"
    );
    let f1 = score(run, "f1_score").expect("a score beside what passed");
    assert_eq!(
        (&f1["value"], &f1["n"], &f1["unit"]),
        (&json!(0.75), &json!(2), &json!("fraction"))
    );
    assert!(quirks(&source).contains("the headline covers the split `test`"));
}

#[test]
fn perturbed_copies_are_checks_that_cluster_with_their_instance() {
    let project = project("helm", "perturbations");
    let (_, runs) = imported(&project, "helm");
    let run = &runs[0];
    assert_eq!(
        (&run["passed"], &run["total"], &run["approach"]),
        (&json!(2), &json!(2), &json!("multiple_choice_joint+Typos")),
        "{run}"
    );
    let kept: Vec<_> = stored(&project)
        .iter()
        .map(|one| {
            (
                one["item"].clone(),
                one["kind"].clone(),
                one["cluster"].clone(),
            )
        })
        .collect();
    assert_eq!(
        kept[1],
        (json!("id1 [typos prob=0.1]"), json!("check"), json!("id1")),
        "{kept:?}"
    );
    assert_eq!(
        score(run, "exact_match (robustness, worst)").map(|one| one["value"].clone()),
        Some(json!(0.5)),
        "{run}"
    );
}

#[test]
fn trials_are_attempts() {
    let project = project("helm", "trials");
    let (source, runs) = imported(&project, "helm");
    assert_eq!(
        (&runs[0]["passed"], &runs[0]["total"]),
        (&json!(3), &json!(4))
    );
    assert_eq!(
        told(&project),
        [
            one("id1", 1, "pass"),
            one("id2", 1, "fail"),
            one("id1", 2, "pass"),
            one("id2", 2, "pass")
        ]
    );
    assert_eq!(
        [&source["stated_checked"], &source["stated_agree"]],
        [&json!(2), &json!(2)],
        "the mean of the trials' means"
    );
}

#[test]
fn requests_that_failed_are_missing() {
    let project = project("helm", "failed-request");
    let (source, runs) = imported(&project, "helm");
    assert_eq!(runs[0]["statuses"], json!({"pass": 1, "infra": 1}));
    assert_eq!(stored(&project)[1]["reason"], "server overloaded");
    assert_eq!(
        [&source["stated_checked"], &source["stated_agree"]],
        [&json!(2), &json!(2)],
        "HELM counts it as wrong, and says so"
    );
}

#[test]
fn a_request_for_each_reference_is_one_outcome() {
    let project = project("helm", "request-per-reference");
    let (source, _) = imported(&project, "helm");
    assert_eq!(told(&project), [one("id1", 1, "pass")]);
    assert!(quirks(&source).contains("one per reference"), "{source}");
    assert_eq!(stored(&project)[0].get("answer"), None);
}

#[test]
fn a_stated_mean_that_does_not_follow_is_named() {
    let project = project("helm", "stated-otherwise");
    let said = project.run(["import", "out", "--dry-run"]);
    insta::assert_snapshot!(said.answer());
}

#[test]
fn the_same_run_elsewhere_is_the_same_run() {
    let project = project("helm", "trials");
    imported(&project, "helm");
    for file in project.files("out") {
        let copy = file.replace("out/", "copy/other/");
        let text = project.read(&file);
        project.file(&copy, text);
    }
    project.file(
        "copy/other/run/scenario.json",
        "{\"name\": \"colors\", \"description\": \"other\", \"tags\": []}",
    );
    let again = project.run(["import", "copy", "--format", "json"]).json();
    assert_eq!(again["sources"][0]["outcome"], "nothing_new", "{again}");
}

#[test]
fn data_sets_that_the_name_tells_apart_are_suites() {
    let project = project("helm", "trials");
    let spec = project.read("out/run/run_spec.json");
    let mut spec: Value = serde_json::from_str(&spec).expect("JSON");
    spec["scenario_spec"]["args"] = json!({});
    spec["name"] = json!("colors:dataset=warm,method=multiple_choice_joint,model=org_tiny");
    project.file("out/run/run_spec.json", spec.to_string());
    let (_, runs) = imported(&project, "helm");
    assert_eq!(runs[0]["suite"], "colors:dataset=warm");
}
