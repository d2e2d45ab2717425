//! Names of a run: its suite, approach and model.
//!
//! A suite is a scenario with its arguments. Some scenario classes are data sets of their own and take no arguments. Then the run's name or
//! else the class identifies the data set.

use serde_json::Value;

use super::super::json::to_text;
use super::wire::RunSpec;

/// Keys in a run's name that describe how questions were asked, not which.
const ADAPTER_KEYS: [&str; 21] = [
    "model",
    "model_deployment",
    "method",
    "data_augmentation",
    "max_train_instances",
    "max_eval_instances",
    "num_train_trials",
    "num_trials",
    "num_outputs",
    "eval_split",
    "train_split",
    "stop",
    "temperature",
    "max_tokens",
    "instructions",
    "global_prefix",
    "prompt",
    "tokenizer",
    "seed",
    "groups",
    "suffix",
];

/// Returns the names of suite, approach and model.
pub(super) fn run_names(spec: &RunSpec) -> [String; 3] {
    let word = |value: Option<&Value>| value.and_then(to_text).unwrap_or_default();
    let adapter = spec.adapter_spec.0.as_ref();
    let changes = spec
        .data_augmenter_spec
        .get("perturbation_specs")
        .and_then(Value::as_array);
    let changes: Vec<String> = changes
        .into_iter()
        .flatten()
        .filter_map(|change| {
            Some(
                to_text(change.get("class_name")?)?
                    .rsplit('.')
                    .next()?
                    .trim_end_matches("Perturbation")
                    .to_owned(),
            )
        })
        .collect();
    let method = word(adapter.map(|adapter| &adapter.method));
    let approach = if changes.is_empty() {
        method
    } else {
        format!("{method}+{}", changes.join("+"))
    };
    [
        suite_name(spec),
        approach,
        word(adapter.map(|adapter| &adapter.model)),
    ]
}

fn suite_name(spec: &RunSpec) -> String {
    let name = to_text(&spec.name).unwrap_or_default();
    let (scenario, said) = name.split_once(':').unwrap_or((&name, ""));
    let scenario = if scenario.is_empty() {
        spec.groups.get(0).and_then(to_text).unwrap_or_default()
    } else {
        scenario.to_owned()
    };
    let scenario_spec = spec.scenario_spec.0.as_ref();
    let arguments = scenario_spec
        .map(|scenario| &scenario.args)
        .and_then(Value::as_object);
    let mut arguments: Vec<(String, String)> = arguments
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), to_text(value)?)))
        .collect();
    let has_none = arguments.is_empty();
    for (key, value) in said.split(',').filter_map(|part| part.split_once('=')) {
        let is_known = arguments
            .iter()
            .any(|(known, of)| known == key || of == value);
        let is_wanted = if has_none {
            !ADAPTER_KEYS.contains(&key)
        } else {
            key == "dataset"
        };
        if is_wanted && !is_known {
            arguments.push((key.to_owned(), value.to_owned()));
        }
    }
    arguments.sort_unstable();
    if !arguments.is_empty() {
        let arguments: Vec<String> = arguments
            .into_iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        return format!("{scenario}:{}", arguments.join(","));
    }
    match scenario_spec.and_then(|scenario| to_text(&scenario.class_name)) {
        Some(class) => with_class(scenario, &class),
        None => scenario,
    }
}

/// Adds the class's name if it differs from the scenario's.
fn with_class(scenario: String, class: &str) -> String {
    let class = class
        .rsplit('.')
        .next()
        .unwrap_or(class)
        .trim_end_matches("Scenario");
    let plain = |name: &str| {
        name.chars()
            .filter(|one| one.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let (one, other) = (plain(&scenario), plain(class));
    if one.contains(&other) || other.contains(&one) {
        scenario
    } else {
        format!("{scenario}:{class}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_data_set_is_a_suite() {
        let of = |name: &str, class: &str, args: Value| {
            let class = format!("helm.benchmark.scenarios.{class}");
            let spec = json!({"name": name, "scenario_spec": {"class_name": class, "args": args}, "adapter_spec": {"method": "joint", "model": "m"}});
            suite_name(&serde_json::from_value(spec).expect("a specification"))
        };
        let common = |data: &str| format!("commonsense:dataset={data},method=joint,model=m");
        assert_eq!(
            of(
                &common("hellaswag"),
                "commonsense_scenario.HellaSwagScenario",
                json!({})
            ),
            "commonsense:dataset=hellaswag"
        );
        assert_eq!(
            of(
                &common("openbookqa"),
                "commonsense_scenario.OpenBookQA",
                json!({})
            ),
            "commonsense:dataset=openbookqa"
        );
        assert_eq!(
            of(
                "commonsense:model=m",
                "commonsense_scenario.OpenBookQA",
                json!({})
            ),
            "commonsense:OpenBookQA"
        );
        assert_eq!(
            of(
                "commonsense:dataset=a,model=m",
                "x.CommonSenseScenario",
                json!({"dataset": "a"})
            ),
            "commonsense:dataset=a"
        );
        assert_eq!(
            of(
                "code:dataset=apps,model=m",
                "x.CodeScenario",
                json!({"level": "hard"})
            ),
            "code:dataset=apps,level=hard"
        );
        // A suite that its arguments or its name already identify keeps its name.
        assert_eq!(
            of(
                "mmlu:subject=law,method=joint,model=m",
                "x.MMLUScenario",
                json!({"subject": "law"})
            ),
            "mmlu:subject=law"
        );
        assert_eq!(of("gsm:model=m", "x.GSM8KScenario", json!({})), "gsm");
        assert_eq!(
            of("narrative_qa:model=m", "x.NarrativeQAScenario", json!(null)),
            "narrative_qa"
        );
    }
}
