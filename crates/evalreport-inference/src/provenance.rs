//! What the runs behind a board record of how they came about.

use std::iter;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Run;

/// A fact that somebody who repeats or doubts a board asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    Date,
    /// The model as its service names it: `gpt-5` alone changes over the years.
    ModelVersion,
    /// The program that asked: an agent, or another evaluation tool.
    Harness,
    HarnessVersion,
    SuiteVersion,
    CodeRevision,
    Seed,
    /// Whether the model may have seen the items: a run's tag `contamination`.
    Contamination,
}

/// Tag of a run that states whether the model may have seen the items.
const CONTAMINATION_TAG: &str = "contamination";

impl Fact {
    pub const ALL: [Self; 8] = [
        Self::Date,
        Self::ModelVersion,
        Self::Harness,
        Self::HarnessVersion,
        Self::SuiteVersion,
        Self::CodeRevision,
        Self::Seed,
        Self::Contamination,
    ];

    fn is_recorded(self, run: &Run) -> bool {
        let is_tool = run
            .provenance
            .as_ref()
            .is_some_and(|source| source.importer != "table");
        match self {
            Self::Date => run.timestamp.is_some(),
            Self::ModelVersion => run.reported_model.is_some(),
            Self::Harness => run.agent.is_some() || run.tool_version.is_some() || is_tool,
            Self::HarnessVersion => run.tool_version.is_some(),
            Self::SuiteVersion => run.suite_version.is_some(),
            Self::CodeRevision => run.git.is_some(),
            Self::Seed => run.seed.is_some(),
            Self::Contamination => run
                .tags
                .get(CONTAMINATION_TAG)
                .is_some_and(|said| !said.trim().is_empty()),
        }
    }
}

/// How many runs record a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordedFact {
    pub fact: Fact,
    pub recorded: u64,
    /// Runs, or the systems of a table of scores.
    pub of: u64,
}

impl RecordedFact {
    pub fn is_missing(&self) -> bool {
        self.recorded < self.of
    }
}

/// Counts by fact the runs that record it.
#[expect(
    clippy::needless_pass_by_value,
    reason = "iterators are passed by value"
)]
pub fn recorded_facts<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Vec<RecordedFact> {
    let of = runs.clone().count() as u64;
    let count = |fact: Fact| runs.clone().filter(|run| fact.is_recorded(run)).count() as u64;
    Fact::ALL
        .into_iter()
        .map(|fact| RecordedFact {
            fact,
            recorded: count(fact),
            of,
        })
        .collect()
}

/// Returns the facts of a table that has names and scores only.
pub fn facts_of_scores(systems: u64) -> Vec<RecordedFact> {
    recorded_facts(iter::empty())
        .into_iter()
        .map(|fact| RecordedFact {
            of: systems,
            ..fact
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Provenance, RunId};

    #[test]
    fn facts_are_counted_by_run() {
        let run = |id: &str| Run::new(RunId::parse(id).expect("an id"), "s", "a", "m");
        let told = Run {
            seed: Some(0),
            reported_model: Some("m-2026-01-02".to_owned()),
            tags: [(
                CONTAMINATION_TAG.to_owned(),
                "items are newer than the model".to_owned(),
            )]
            .into(),
            provenance: Some(Provenance {
                importer: "inspect".to_owned(),
                ..Provenance::default()
            }),
            ..run("told")
        };
        let blank = Run {
            tags: [(CONTAMINATION_TAG.to_owned(), " ".to_owned())].into(),
            ..run("blank")
        };
        let of_table = Run {
            provenance: Some(Provenance {
                importer: "table".to_owned(),
                ..Provenance::default()
            }),
            ..run("table")
        };
        let found = recorded_facts([&told, &blank, &of_table].into_iter());
        assert!(found.iter().all(|fact| fact.of == 3));
        assert_eq!(
            found.iter().map(|fact| fact.recorded).collect::<Vec<_>>(),
            [0, 1, 1, 0, 0, 0, 1, 1]
        );
        assert!(
            facts_of_scores(4)
                .iter()
                .all(|fact| fact.is_missing() && fact.of == 4)
        );
    }
}
