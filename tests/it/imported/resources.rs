//! What other tools say of the machine and the service of their runs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Imported, copy};
use crate::support::Project;

/// Imports a fixture's file after an edit.
fn edited(fixture: &str, edit: impl Fn(&mut Value)) -> Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(fixture);
    let text = fs::read_to_string(&path).expect("the fixture");
    let lines: Vec<String> = if path.extension().is_some_and(|end| end == "jsonl") {
        text.lines().map(str::to_owned).collect()
    } else {
        vec![text]
    };
    let with = |line: &String| {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        edit(&mut value);
        value.to_string() + "\n"
    };
    let project = Project::new();
    let name = format!(
        "edited/{}",
        path.file_name()
            .and_then(|name| name.to_str())
            .expect("a name")
    );
    project.file(&name, lines.iter().map(with).collect::<String>());
    Imported::path(&project.path(&name))
}

#[test]
fn harbor_says_what_a_job_gives_its_tasks() {
    let project = copy("harbor/reward-and-exception");
    for file in project
        .files("runs")
        .into_iter()
        .filter(|file| file.ends_with("/result.json"))
    {
        let mut result: Value = serde_json::from_str(&project.read(&file)).expect("JSON");
        if result["config"].is_object() {
            result["config"]["environment"] = json!({"type": "daytona", "override_cpus": 2, "override_memory_mb": 4096, "kwargs": {}});
        }
        project.file(&file, result.to_string());
    }
    let [run] = Imported::path(&project.path("runs"))
        .runs()
        .try_into()
        .expect("one run");
    assert_eq!(
        (&run["resources"], &run["tags"]["sandbox"]),
        (
            &json!({"cpu_limit": 2, "memory_limit": 4_u64 << 30}),
            &json!("daytona")
        )
    );
    // Without overrides each task has its own.
    let [run] = Imported::fixture("harbor/reward-and-exception")
        .runs()
        .try_into()
        .expect("one run");
    assert_eq!(
        (&run["resources"], &run["tags"]["sandbox"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn every_eval_ever_says_who_served_the_model() {
    let fixture = "every_eval_ever/aggregate-only/0b6cbd3e-0000-4000-8000-000000000002.json";
    for (platform, wanted) in [
        (json!("aws"), json!({"provider": "aws"})),
        (json!("unknown"), Value::Null),
        (Value::Null, Value::Null),
    ] {
        let imported = edited(fixture, |record| {
            record["model_info"]["inference_platform"] = platform.clone();
        });
        let runs = imported.runs();
        assert!(
            !runs.is_empty() && runs.iter().all(|run| run["resources"] == wanted),
            "{platform}: {runs:?}"
        );
    }
}

#[test]
fn a_trace_says_its_machine_and_its_provider() {
    let attribute =
        |key: &str, kind: &str, value: &str| json!({"key": key, "value": {kind: value}});
    let imported = edited("opentelemetry/collector/traces.jsonl", |export| {
        for spans in export["resourceSpans"].as_array_mut().into_iter().flatten() {
            let of_resource = spans["resource"]["attributes"]
                .as_array_mut()
                .expect("attributes");
            of_resource.extend([
                attribute("os.type", "stringValue", "linux"),
                attribute("host.arch", "stringValue", "arm64"),
                attribute("faas.max_memory", "intValue", "134217728"),
            ]);
            for span in spans["scopeSpans"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .flat_map(|scope| scope["spans"].as_array_mut().into_iter().flatten())
            {
                span["attributes"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|all| {
                        all.retain(|one| one["key"] != "gen_ai.provider.name");
                        all.push(attribute(
                            "gen_ai.provider.name",
                            "stringValue",
                            "aws.bedrock",
                        ));
                    });
            }
        }
    });
    let runs = imported.runs();
    let wanted =
        json!({"system": "linux arm64", "memory_limit": 134_217_728, "provider": "aws.bedrock"});
    assert!(
        !runs.is_empty() && runs.iter().all(|run| run["resources"] == wanted),
        "{runs:?}"
    );
}
