//! One line of `scores.jsonl`: one evaluator's score of a run, by revision.

use std::io::{self, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{CostSource, JudgeProbe, Problem, Run, ScoreRecord, Usage};
use crate::files;

use super::for_each_line;

/// A score with the evaluator's own details, unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreLine {
    #[serde(flatten)]
    pub score: ScoreRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_evaluated: Option<String>,
    /// The judge, if one decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeLine>,
    /// The judge's replies, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<String>,
}

/// The judge, its prompt, and the cost of judging, which is not part of the agent's cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgeLine {
    /// The id of the agent.
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// SHA-256 of the judge's prompt.
    pub prompt_sha256: String,
    #[serde(default)]
    pub votes: u64,
    /// The share of votes that agreed with the majority. Absent for a single vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_source: Option<CostSource>,
}

impl JudgeLine {
    /// Returns the judge's name. Another model or another prompt is another judge.
    pub fn name(&self) -> String {
        let model = self
            .model
            .as_ref()
            .map_or_else(String::new, |model| format!(":{model}"));
        let words = self.prompt_sha256.get(..8).unwrap_or(&self.prompt_sha256);
        format!("{}{model} #{words}", self.agent)
    }
}

/// Begins the metric of a probe's line, so that no reader takes it for a judgement of the run.
const PROBE_PREFIX: &str = "probe:";
/// Key of a probe's details: the score in the suite's order.
const GIVEN_KEY: &str = "given";

impl ScoreLine {
    /// Returns the evaluator under which probes of a judged metric are stored.
    pub fn probe_metric(metric: &str) -> String {
        format!("{PROBE_PREFIX}{metric}")
    }

    /// Turns the line of a judgement in reverse order into that of a probe. `given` is the score in the suite's order.
    #[must_use]
    pub fn into_probe(self, given: f64, revision: u32) -> Self {
        let mut details = self
            .details
            .filter(serde_json::Value::is_object)
            .unwrap_or_else(|| serde_json::json!({}));
        details[GIVEN_KEY] = given.into();
        Self {
            score: ScoreRecord {
                metric: Self::probe_metric(&self.score.metric),
                revision,
                ..self.score
            },
            details: Some(details),
            ..self
        }
    }

    /// Returns whether the line is a probe's, and no judgement.
    pub fn is_probe(&self) -> bool {
        self.score.metric.starts_with(PROBE_PREFIX)
    }

    /// Reads a probe. Returns `None` for other lines, and without both scores.
    fn to_probe(&self) -> Option<JudgeProbe> {
        let metric = self.score.metric.strip_prefix(PROBE_PREFIX)?.to_owned();
        let given = self.details.as_ref()?.get(GIVEN_KEY)?.as_f64()?;
        Some(JudgeProbe {
            metric,
            unit: self.score.unit,
            judge: self.score.evaluator.clone()?,
            given,
            reversed: self.score.value?,
        })
    }

    /// Adds the lines of a run's file to the run.
    pub fn add_to_run(lines: Vec<Self>, run: &mut Run) {
        run.probes.extend(lines.iter().filter_map(Self::to_probe));
        run.scores.extend(
            lines
                .into_iter()
                .filter(|line| !line.is_probe())
                .map(|line| line.score),
        );
    }

    /// Creates a line with only a score.
    pub fn from_score(score: ScoreRecord) -> Self {
        Self {
            score,
            details: None,
            reasoning: None,
            not_evaluated: None,
            judge: None,
            raw: Vec::new(),
        }
    }

    /// Returns the line with its line break.
    pub(super) fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("a score is JSON: its keys are text");
        line.push('\n');
        line
    }

    /// Reads the score lines of a run. A missing file has none.
    pub fn read_all(path: &Path, problems: &mut Vec<Problem>) -> Vec<Self> {
        let name = path.display().to_string();
        let mut scores = Vec::new();
        let file = match files::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return scores,
            Err(error) => {
                problems.push(Problem::unread_file(name, &error));
                return scores;
            }
        };
        let read = for_each_line(BufReader::new(file), |number, line| {
            let parsed = line.map_err(super::LineProblem::message).and_then(|line| {
                let score = serde_json::from_slice::<Self>(line).map_err(|error| {
                    format!(
                        "is not a score line: {}",
                        crate::domain::escape_invisible(&error.to_string())
                    )
                })?;
                score.score.find_problem().map_or(Ok(score), Err)
            });
            match parsed {
                Ok(score) => scores.push(score),
                Err(message) => problems.push(Problem::at_line(&name, number, message)),
            }
        });
        if let Err(error) = read {
            problems.push(Problem::unread_file(&name, &error));
        }
        scores
    }
}
