//! EvalPerf: how often right, and how fast.

use serde_json::{Value, json};

use super::Imported;

fn score(run: &Value, metric: &str) -> Option<(f64, u64)> {
    let score = run["scores"]
        .as_array()?
        .iter()
        .find(|score| score["metric"] == metric)?;
    Some((score["value"].as_f64()?, score["n"].as_u64()?))
}

#[test]
fn speed_is_of_the_tasks_that_have_one() {
    let imported =
        Imported::fixture("evalperf/acme--coder-9B_vllm_temp_1.0_evalperf_results.brief.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["model"], &run["approach"], &run["tags"]["backend"]),
        (&json!("acme/coder-9B"), &json!("instruct"), &json!("vllm"))
    );
    assert_eq!(
        (score(&run, "dps"), score(&run, "dps_norm")),
        (Some((70.0, 2)), Some((65.5, 2)))
    );
    // Four samples a task: all, half and one were right.
    assert_eq!(
        (&run["shared_tests_passed"], &run["shared_tests_total"]),
        (&json!(7), &json!(12))
    );
    let passed =
        "select item, count(*) from items where status = 'pass' group by item order by item";
    assert_eq!(
        imported.sql(passed),
        ["HumanEval/9 4", "Mbpp/3 2", "Mbpp/4 1"]
    );
    assert_eq!(imported.stated(), (3, 3, 0));
}

#[test]
fn shares_of_no_whole_number_of_samples_are_a_mean() {
    let imported =
        Imported::fixture("evalperf/big-1_openai_temp_1.0-perf-instruct_evalperf_results.json");
    let [run] = imported.runs().try_into().expect("one run");
    assert_eq!(
        (&run["model"], &run["approach"]),
        (&json!("big-1"), &json!("perf-instruct"))
    );
    assert_eq!(
        (&imported.source()["items"], &run["shared_tests_total"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(score(&run, "pass@1"), Some((0.125, 1)));
    // Its summary states other figures than its tasks have.
    assert_eq!(imported.stated(), (3, 0, 0));
}

#[test]
#[ignore = "reads published data: EVALREPORT_DATA names their folder"]
fn published_results() {
    let data = crate::needs::named("EVALREPORT_DATA");
    let project = crate::support::Project::new();
    let folder = std::path::Path::new(&data)
        .join("evalperf/public")
        .display()
        .to_string();
    let report = project
        .run(["import", &folder, "--dry-run", "--format", "json"])
        .json();
    let sources = report["sources"].as_array().expect("sources");
    let sum = |key: &str| {
        sources
            .iter()
            .map(|source| source[key].as_u64().expect("a count"))
            .sum::<u64>()
    };
    assert_eq!(
        (sources.len(), sum("stated_checked"), sum("stated_agree")),
        (23, 69, 69)
    );
}
