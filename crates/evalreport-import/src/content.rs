//! Content of a run in its source, as provenance keeps it: the number of outcomes, and a sum of their digests.

use std::collections::BTreeSet;

use crate::domain::{ImportedContent, ItemOutcome, Run, to_hex};

use super::source::digest_parts;

/// Sums up the outcomes of a run, in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentSum {
    outcomes: u64,
    sum: u128,
}

impl ContentSum {
    pub fn add_outcome(&mut self, outcome: &ItemOutcome) {
        let score = outcome
            .score
            .map_or_else(String::new, |score| score.to_string());
        let attempt = outcome.attempt.to_string();
        let texts = [
            outcome.kind.name(),
            &outcome.evaluator,
            &outcome.item,
            &attempt,
            outcome.status.name(),
            &score,
        ];
        let digest = digest_parts(&texts.map(str::as_bytes), true);
        self.outcomes += 1;
        self.sum = add_digest(self.sum, &digest);
    }

    /// Returns the run's content: its outcomes, else a session's messages, else its figures, which are all that can change.
    pub fn run_content(&self, run: &Run) -> ImportedContent {
        let messages = run
            .provenance
            .as_ref()
            .and_then(|provenance| provenance.messages.as_ref())
            .filter(|_| self.outcomes == 0);
        let sum = if self.outcomes > 0 {
            format!("{:032x}", self.sum)
        } else if let Some(messages) = messages {
            to_hex(&digest_parts(&[String::from(messages.clone()).as_bytes()], true)[..16])
        } else {
            let scores = run
                .scores
                .iter()
                .map(|score| format!("{}={:?}", score.metric, score.value));
            let stated = run
                .stated
                .iter()
                .map(|figure| format!("{}={}", figure.name, figure.value));
            let counted = run.counted.map(|kind| format!("of {kind}"));
            let figures: BTreeSet<String> = scores
                .chain(stated)
                .chain([format!(
                    "{:?}",
                    [run.shared_tests_passed, run.shared_tests_total]
                )])
                .chain(counted)
                .collect();
            to_hex(
                &digest_parts(
                    &figures.iter().map(String::as_bytes).collect::<Vec<_>>(),
                    true,
                )[..16],
            )
        };
        ImportedContent {
            outcomes: messages.map_or(self.outcomes, |messages| messages.len() as u64),
            sum,
        }
    }
}

/// Adds the first half of a digest, so that the sum does not depend on the order.
pub(super) fn add_digest(sum: u128, digest: &[u8]) -> u128 {
    sum.wrapping_add(
        digest
            .iter()
            .take(16)
            .fold(0, |number, byte| number << 8 | u128::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use crate::domain::ItemKind;

    use super::*;

    #[test]
    fn without_outcomes_the_figures_are_the_content() {
        let sum = ContentSum::default();
        let id = crate::domain::RunId::parse("r").expect("an id");
        let (mut one, mut other) = (
            Run::new(id.clone(), "s", "a", "m"),
            Run::new(id, "s", "a", "m"),
        );
        assert_eq!(sum.run_content(&one), sum.run_content(&other));
        (one.shared_tests_passed, other.shared_tests_passed) = (Some(1), Some(2));
        assert_ne!(sum.run_content(&one), sum.run_content(&other));
        let before = sum.run_content(&one);
        one.counted = Some(ItemKind::Task);
        assert_ne!(
            sum.run_content(&one),
            before,
            "what was counted is one of them"
        );
    }
}
