//! Usage and cost of all questions to a judge, separate from those of the agent under judgement.

use super::Judge;
use crate::agent::{Cost, Measured, shorten};
use crate::domain::{CostSource, Usage};
use crate::evaluate::Judged;

/// Maximum size of a kept reply, in bytes. Longer replies are shortened.
const MOST_RAW_BYTES: usize = 16 << 10;
/// Maximum number of kept replies.
const MOST_RAW: usize = 64;

#[derive(Debug, Default)]
pub struct Tally {
    /// One entry per question with a reply or a measurement.
    usages: Vec<Usage>,
    costs: Vec<Cost>,
    model: Option<String>,
    raw: Vec<String>,
}

impl Tally {
    /// Adds a question. A failure without any measurement, such as a refused connection, is not added, so it does not make the sum unknown.
    pub fn add(&mut self, measured: &Measured, reply: Option<&str>) {
        if reply.is_some() || measured.usage != Usage::default() || measured.cost.usd.is_some() {
            self.usages.push(measured.usage);
            self.costs.push(measured.cost);
        }
        if self.model.is_none() {
            self.model.clone_from(&measured.model);
        }
        let said = reply.unwrap_or(&measured.raw);
        if !said.is_empty() && self.raw.len() < MOST_RAW {
            self.raw.push(shorten(said, MOST_RAW_BYTES));
        }
    }

    pub fn judged(
        self,
        judge: &Judge,
        prompt_sha256: String,
        votes: u64,
        agreement: Option<f64>,
    ) -> Judged {
        Judged {
            agent: judge.agent.id.clone(),
            model: judge.agent.model.clone().or(self.model),
            prompt_sha256,
            votes,
            agreement,
            usage: total(&self.usages),
            cost: total_cost(&self.costs),
            raw: self.raw,
        }
    }
}

/// Sums up tokens. Input and output are known only if they are known for every question. Cache tokens may be absent, because a service
/// without a cache does not report them.
fn total(usages: &[Usage]) -> Usage {
    let whole = |part: fn(&Usage) -> Option<u64>| {
        let sum = usages
            .iter()
            .map(part)
            .try_fold(0_u64, |sum, tokens| Some(sum.saturating_add(tokens?)));
        sum.filter(|_| !usages.is_empty())
    };
    let known = |part: fn(&Usage) -> Option<u64>| {
        usages.iter().filter_map(part).reduce(u64::saturating_add)
    };
    Usage {
        input: whole(|usage| usage.input),
        cache_write: known(|usage| usage.cache_write),
        cache_read: known(|usage| usage.cache_read),
        output: whole(|usage| usage.output),
    }
}

/// Sums up costs. The sum is unknown if the cost of any question is unknown.
fn total_cost(costs: &[Cost]) -> Cost {
    let Some(usd) = costs
        .iter()
        .map(|cost| cost.usd)
        .sum::<Option<f64>>()
        .filter(|_| !costs.is_empty())
    else {
        return Cost::default();
    };
    let is_priced = costs.iter().any(|cost| cost.source == CostSource::Priced);
    Cost {
        usd: Some(usd),
        source: if is_priced {
            CostSource::Priced
        } else {
            CostSource::Reported
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_any_question_leaves_unknown_is_unknown() {
        let used = |input, output| Usage {
            input,
            output,
            ..Usage::default()
        };
        assert_eq!(total(&[]), Usage::default());
        assert_eq!(
            total(&[used(Some(1), Some(2)), used(Some(3), None)]),
            used(Some(4), None)
        );
        let cached = Usage {
            cache_read: Some(5),
            ..used(Some(1), Some(1))
        };
        assert_eq!(
            total(&[cached, used(Some(1), Some(1))]),
            Usage {
                cache_read: Some(5),
                ..used(Some(2), Some(2))
            }
        );
        let priced = Cost {
            usd: Some(0.5),
            source: CostSource::Priced,
        };
        assert_eq!(
            total_cost(&[Cost::reported(1.0), priced]),
            Cost {
                usd: Some(1.5),
                source: CostSource::Priced
            }
        );
        assert_eq!(
            total_cost(&[Cost::reported(1.0), Cost::default()]),
            Cost::default()
        );
        assert_eq!(
            total_cost(&[Cost::reported(1.0)]).source,
            CostSource::Reported
        );
        assert_eq!(total_cost(&[]), Cost::default());
    }

    #[test]
    fn replies_are_kept_within_bounds_and_a_silent_failure_adds_nothing() {
        let mut tally = Tally::default();
        tally.add(&Measured::default(), None);
        assert!(tally.usages.is_empty() && tally.raw.is_empty());
        for _ in 0..100 {
            tally.add(&Measured::default(), Some(&"x".repeat(100_000)));
        }
        assert_eq!((tally.usages.len(), tally.raw.len()), (100, MOST_RAW));
        assert!(tally.raw.iter().all(|raw| raw.len() < MOST_RAW_BYTES + 100));
    }
}
