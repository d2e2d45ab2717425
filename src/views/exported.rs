//! Totals of one run's outcomes, for export formats that state totals beside the items.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{ItemKind, ItemOutcome, ItemStatus};

/// Evaluators whose items never make the pass rate, because not every arm of a suite has them.
const OWN_TEST_EVALUATORS: [&str; 2] = ["own_tests", "functional_tests"];

/// Counts of outcomes by status.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusTally {
    by_status: BTreeMap<ItemStatus, u64>,
    /// Total over the outcomes that have a duration.
    pub seconds: Option<f64>,
    /// Whether the outcomes are dependent: items in clusters, or several attempts at an item.
    is_dependent: bool,
}

impl StatusTally {
    pub fn add(&mut self, outcome: &ItemOutcome) {
        *self.by_status.entry(outcome.status).or_default() += 1;
        if let Some(seconds) = outcome.duration_seconds {
            self.seconds = Some(self.seconds.unwrap_or(0.0) + seconds);
        }
        self.is_dependent |= outcome.cluster.is_some() || outcome.attempt > 1;
    }

    fn merge(&mut self, other: &Self) {
        for (status, count) in &other.by_status {
            *self.by_status.entry(*status).or_default() += count;
        }
        self.seconds = other
            .seconds
            .map(|seconds| self.seconds.unwrap_or(0.0) + seconds)
            .or(self.seconds);
        self.is_dependent |= other.is_dependent;
    }

    pub fn count(&self, status: ItemStatus) -> u64 {
        self.by_status.get(&status).copied().unwrap_or(0)
    }

    pub fn total(&self) -> u64 {
        self.by_status.values().sum()
    }

    /// Returns the denominator of the pass rate.
    pub fn counted_total(&self) -> u64 {
        self.by_status
            .iter()
            .filter(|(status, _)| status.is_counted())
            .map(|(_, count)| count)
            .sum()
    }

    pub fn missing_total(&self) -> u64 {
        self.by_status
            .iter()
            .filter(|(status, _)| status.is_missing())
            .map(|(_, count)| count)
            .sum()
    }

    pub fn pass_share(&self) -> Option<Share> {
        Share::new(
            self.count(ItemStatus::Pass),
            self.counted_total(),
            !self.is_dependent,
        )
    }
}

/// The share of outcomes that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    pub value: f64,
    pub n: u64,
    /// Standard error of a mean of independent 0/1 samples. `None` if they are dependent or too few.
    pub standard_error: Option<f64>,
}

impl Share {
    /// Returns `None` if `n` is 0.
    pub fn new(passed: u64, n: u64, is_independent: bool) -> Option<Self> {
        if n == 0 {
            return None;
        }
        let value = passed as f64 / n as f64;
        let standard_error =
            (n > 1 && is_independent).then(|| (value * (1.0 - value) / (n - 1) as f64).sqrt());
        Some(Self {
            value,
            n,
            standard_error,
        })
    }
}

/// Outcomes of a run that are counted together, by kind and evaluator.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeGroup {
    pub kind: ItemKind,
    /// The evaluators that decided them.
    pub evaluators: BTreeSet<String>,
    pub tally: StatusTally,
    /// Whether these outcomes make up the run's pass rate.
    pub is_headline: bool,
}

impl OutcomeGroup {
    pub fn contains_outcome(&self, outcome: &ItemOutcome) -> bool {
        outcome.kind == self.kind && self.evaluators.contains(&outcome.evaluator)
    }
}

/// Counts of all outcomes of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunTally {
    groups: BTreeMap<(ItemKind, String), StatusTally>,
    most_attempts: u32,
}

impl RunTally {
    pub fn add(&mut self, outcome: &ItemOutcome) {
        match self
            .groups
            .get_mut(&(outcome.kind, outcome.evaluator.clone()))
        {
            Some(tally) => tally.add(outcome),
            None => self
                .groups
                .entry((outcome.kind, outcome.evaluator.clone()))
                .or_default()
                .add(outcome),
        }
        self.most_attempts = self.most_attempts.max(outcome.attempt);
    }

    pub fn sum_groups(&self) -> StatusTally {
        let mut all = StatusTally::default();
        self.groups.values().for_each(|tally| all.merge(tally));
        all
    }

    /// Returns whether all outcomes have one kind and evaluator, so that an item's name alone identifies it.
    pub fn has_one_evaluator(&self) -> bool {
        self.groups.len() <= 1
    }

    pub fn has_several_attempts(&self) -> bool {
        self.most_attempts > 1
    }

    /// Returns the kind and the first evaluator behind the pass rate.
    pub fn headline_group(&self) -> Option<(ItemKind, &str)> {
        let mut groups = self
            .groups
            .keys()
            .map(|(kind, evaluator)| (*kind, evaluator.as_str()));
        groups
            .clone()
            .find(|(_, evaluator)| !OWN_TEST_EVALUATORS.contains(evaluator))
            .or_else(|| groups.next())
    }

    /// Returns the outcomes behind the pass rate first (questions, else shared tests, else criteria, else checks), then each other kind and
    /// evaluator separately.
    pub fn outcome_groups(&self) -> Vec<OutcomeGroup> {
        let is_own = |evaluator: &str| OWN_TEST_EVALUATORS.contains(&evaluator);
        let headline = self
            .groups
            .keys()
            .filter(|(_, evaluator)| !is_own(evaluator))
            .map(|(kind, _)| *kind)
            .min();
        let mut groups: Vec<OutcomeGroup> = Vec::new();
        for ((kind, evaluator), tally) in &self.groups {
            let is_headline = Some(*kind) == headline && !is_own(evaluator);
            match groups
                .first_mut()
                .filter(|first| is_headline && first.is_headline)
            {
                Some(first) => {
                    first.evaluators.insert(evaluator.clone());
                    first.tally.merge(tally);
                }
                None => {
                    let group = OutcomeGroup {
                        kind: *kind,
                        evaluators: BTreeSet::from([evaluator.clone()]),
                        tally: tally.clone(),
                        is_headline,
                    };
                    groups.insert(if is_headline { 0 } else { groups.len() }, group);
                }
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;

    fn outcome(kind: ItemKind, evaluator: &str, status: ItemStatus) -> ItemOutcome {
        ItemOutcome {
            run: RunId::parse("r").expect("a valid id"),
            kind,
            item: "x".to_owned(),
            cluster: None,
            category: None,
            attempt: 1,
            status,
            score: None,
            evaluator: evaluator.to_owned(),
            revision: 0,
            duration_seconds: Some(0.5),
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    #[test]
    fn the_headline_comes_first_and_own_tests_are_never_it() {
        let mut tally = RunTally::default();
        for (kind, evaluator, status) in [
            (
                ItemKind::Criterion,
                "requirementFulfillment",
                ItemStatus::Pass,
            ),
            (ItemKind::Test, "own_tests", ItemStatus::Fail),
            (ItemKind::Criterion, "rubric", ItemStatus::Limit),
            (ItemKind::Criterion, "rubric", ItemStatus::Infra),
            (ItemKind::Criterion, "rubric", ItemStatus::Skipped),
        ] {
            tally.add(&outcome(kind, evaluator, status));
        }
        let groups = tally.outcome_groups();
        assert_eq!(groups.len(), 2);
        assert!(
            groups[0].is_headline
                && groups[0].kind == ItemKind::Criterion
                && groups[0].evaluators.len() == 2
        );
        let share = groups[0].tally.pass_share().expect("two are counted");
        assert_eq!(
            (share.value, share.n, share.standard_error),
            (0.5, 2, Some(0.5))
        );
        assert_eq!(
            (groups[0].tally.missing_total(), groups[0].tally.total()),
            (1, 4)
        );
        assert!(!groups[1].is_headline && groups[1].tally.counted_total() == 1);
        assert_eq!(tally.sum_groups().seconds, Some(2.5));
    }

    #[test]
    fn no_share_of_nothing_and_no_error_of_what_depends() {
        let mut tally = StatusTally::default();
        assert_eq!((tally.pass_share(), tally.seconds), (None, None));
        for attempt in [1, 2] {
            tally.add(&ItemOutcome {
                attempt,
                ..outcome(ItemKind::Question, "e", ItemStatus::Pass)
            });
        }
        assert_eq!(
            tally.pass_share(),
            Some(Share {
                value: 1.0,
                n: 2,
                standard_error: None
            })
        );
    }
}
