//! Usage and cost of all questions to a judge, separate from those of the agent under judgement.

use super::JudgeAgent;
use crate::agent::{Cost, ReplyMeasurements, shorten_middle};
use crate::domain::{CostSource, Usage};
use crate::evaluate::JudgeRecord;

/// Maximum size of a kept reply, in bytes. Longer replies are shortened.
const MAX_RAW_BYTES: usize = 16 << 10;
/// Maximum number of kept replies.
const MAX_RAW: usize = 64;

#[derive(Debug, Default)]
pub struct JudgeUsageTally {
    /// One entry per question with a reply or a measurement.
    usages: Vec<Usage>,
    costs: Vec<Cost>,
    model: Option<String>,
    raw: Vec<String>,
}

impl JudgeUsageTally {
    /// Adds a question. A failure without any measurement, such as a refused connection, is not added, so it does not make the sum unknown.
    pub fn add_question(&mut self, measured: &ReplyMeasurements, reply: Option<&str>) {
        if reply.is_some() || measured.usage != Usage::default() || measured.cost.usd.is_some() {
            self.usages.push(measured.usage);
            self.costs.push(measured.cost);
        }
        if self.model.is_none() {
            self.model.clone_from(&measured.model);
        }
        let said = reply.unwrap_or(&measured.raw);
        if !said.is_empty() && self.raw.len() < MAX_RAW {
            self.raw.push(shorten_middle(said, MAX_RAW_BYTES));
        }
    }

    pub fn into_record(
        self,
        judge: &JudgeAgent,
        prompt_sha256: String,
        votes: u64,
        agreement: Option<f64>,
    ) -> JudgeRecord {
        JudgeRecord {
            agent: judge.agent.id.clone(),
            model: judge.agent.model.clone().or(self.model),
            prompt_sha256,
            votes,
            agreement,
            usage: total_usage(&self.usages),
            cost: total_cost(&self.costs),
            raw: self.raw,
        }
    }
}

/// Sums up tokens. Input and output are known only if they are known for every question. Cache tokens may be absent, because a service
/// without a cache does not report them.
fn total_usage(usages: &[Usage]) -> Usage {
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
        assert_eq!(total_usage(&[]), Usage::default());
        assert_eq!(
            total_usage(&[used(Some(1), Some(2)), used(Some(3), None)]),
            used(Some(4), None)
        );
        let cached = Usage {
            cache_read: Some(5),
            ..used(Some(1), Some(1))
        };
        assert_eq!(
            total_usage(&[cached, used(Some(1), Some(1))]),
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
            total_cost(&[Cost::from_report(1.0), priced]),
            Cost {
                usd: Some(1.5),
                source: CostSource::Priced
            }
        );
        assert_eq!(
            total_cost(&[Cost::from_report(1.0), Cost::default()]),
            Cost::default()
        );
        assert_eq!(
            total_cost(&[Cost::from_report(1.0)]).source,
            CostSource::Reported
        );
        assert_eq!(total_cost(&[]), Cost::default());
    }

    #[test]
    fn replies_are_kept_within_bounds_and_a_silent_failure_adds_nothing() {
        let mut tally = JudgeUsageTally::default();
        tally.add_question(&ReplyMeasurements::default(), None);
        assert!(tally.usages.is_empty() && tally.raw.is_empty());
        for _ in 0..100 {
            tally.add_question(&ReplyMeasurements::default(), Some(&"x".repeat(100_000)));
        }
        assert_eq!((tally.usages.len(), tally.raw.len()), (100, MAX_RAW));
        assert!(tally.raw.iter().all(|raw| raw.len() < MAX_RAW_BYTES + 100));
    }
}
