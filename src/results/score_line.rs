//! One line of `scores.jsonl`: what one evaluator said about a run, by revision.

use std::io::{self, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{Problem, ScoreRecord};

use super::for_each_line;

/// A score with the evaluator's details, kept as it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreLine {
    #[serde(flatten)]
    pub score: ScoreRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl ScoreLine {
    /// Reads the score lines of a run; a missing file holds none.
    pub fn read_all(path: &Path, problems: &mut Vec<Problem>) -> Vec<Self> {
        let name = path.display().to_string();
        let mut scores = Vec::new();
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return scores,
            Err(error) => {
                problems.push(Problem::in_file(name, format!("cannot read: {error}")));
                return scores;
            }
        };
        let read = for_each_line(BufReader::new(file), |number, line| {
            let parsed = line.map_err(super::LineProblem::message).and_then(|line| {
                serde_json::from_slice::<Self>(line)
                    .map_err(|error| format!("is not a score line: {}", crate::domain::visible(&error.to_string())))
            });
            match parsed {
                Ok(score) => scores.push(score),
                Err(message) => problems.push(Problem::at_line(&name, number, message)),
            }
        });
        if let Err(error) = read {
            problems.push(Problem::in_file(&name, format!("cannot read: {error}")));
        }
        scores
    }
}
