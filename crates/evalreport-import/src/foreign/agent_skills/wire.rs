//! Fields of skill workspaces that are read. Every field is optional, and any value may have an unexpected type.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::{Lenient, ObjectList, to_amount, to_count, to_text};

/// `benchmark.json`: figures of the whole workspace.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Benchmark {
    pub metadata: Lenient<BenchmarkMetadata>,
    pub runs: ObjectList<BenchmarkRun>,
    /// By configuration, with an extra entry `delta`.
    pub run_summary: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct BenchmarkMetadata {
    pub skill_name: Value,
    pub executor_model: Value,
    pub timestamp: Value,
    pub evals_run: Value,
    pub runs_per_configuration: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct BenchmarkRun {
    pub eval_id: Value,
    pub configuration: Value,
    pub run_number: Value,
    pub result: Value,
    pub expectations: ObjectList<Expectation>,
}

/// The grader's findings for one run of an eval.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SkillGrading {
    pub expectations: ObjectList<Expectation>,
    /// The list's name in other workspaces.
    pub assertion_results: ObjectList<Expectation>,
    pub summary: Value,
    pub execution_metrics: Value,
    pub timing: Value,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Expectation {
    pub text: Value,
    pub passed: Value,
    pub evidence: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Timing {
    pub total_tokens: Value,
    duration_ms: Value,
    total_duration_seconds: Value,
    executor_duration_seconds: Value,
    pub executor_start: Value,
    pub executor_end: Value,
}

/// The evals of a skill.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SkillEvals {
    pub skill_name: Value,
    pub evals: ObjectList<SkillEval>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SkillEval {
    pub id: Value,
    pub prompt: Value,
}

/// `eval_metadata.json`: one eval.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct EvalMetadata {
    pub eval_id: Value,
    pub prompt: Value,
}

impl Timing {
    /// Returns the agent's seconds without the grader, or the file's total if they are unknown.
    pub fn executor_seconds(&self) -> Option<f64> {
        to_amount(&self.executor_duration_seconds).or_else(|| self.total_seconds())
    }

    /// Returns the seconds that the file calls the total.
    pub fn total_seconds(&self) -> Option<f64> {
        to_amount(&self.total_duration_seconds)
            .or_else(|| to_amount(&self.duration_ms).map(|milliseconds| milliseconds / 1000.0))
    }
}

impl SkillGrading {
    pub fn all_expectations(&self) -> Vec<&Expectation> {
        let all: Vec<&Expectation> = self.expectations.iter().collect();
        if all.is_empty() {
            self.assertion_results.iter().collect()
        } else {
            all
        }
    }

    pub fn executor_seconds(&self) -> Option<f64> {
        to_amount(&self.timing["executor_duration_seconds"])
    }

    /// Returns the seconds of agent and grader together. Zero means not measured.
    pub fn total_seconds(&self) -> Option<f64> {
        to_amount(&self.timing["total_duration_seconds"]).filter(|seconds| *seconds > 0.0)
    }

    pub fn output_chars(&self) -> Option<u64> {
        to_count(&self.execution_metrics["output_chars"])
    }
}

impl BenchmarkMetadata {
    /// Returns the model, unless it is a placeholder.
    pub fn model(&self) -> Option<String> {
        to_text(&self.executor_model)
            .filter(|model| !model.trim().is_empty() && !is_placeholder(model))
    }

    pub fn has_placeholder(&self) -> bool {
        to_text(&self.executor_model).is_some_and(|model| is_placeholder(&model))
    }
}

/// Returns whether the model is the placeholder of a workspace template, `<model-name>`.
fn is_placeholder(model: &str) -> bool {
    let model = model.trim();
    model.starts_with('<') && model.ends_with('>')
}
