//! The comparison of two arms in one sentence for the top of a page: who wins and by how much, or why nobody does.

use crate::domain::Metric;
use crate::views::{ComparisonRow, PairEvidence, Scale, Verdict};

use super::{verdicts, words};

/// Answers for the deciding metric, without a full stop: `planner wins against react by 16.0 pp`.
pub fn of_pair(row: &ComparisonRow, names: &[String]) -> String {
    let Some(pair) = row.evidence.pairs.first() else { return "Nothing to compare".to_owned() };
    let seen = verdicts::ahead(&row.metric, pair).map_or_else(|| pair.clone(), |arm| pair.seen_from(arm));
    let (first, second) = (&names[seen.first], &names[seen.second]);
    let label = words::metric(&row.metric);
    match seen.verdict {
        Verdict::AWins | Verdict::BWins => format!("{first} wins against {second}{}", by(&row.metric, &seen)),
        Verdict::DeterministicDifference { .. } => format!("{first} is ahead of {second} in every run{}", by(&row.metric, &seen)),
        Verdict::Tie => format!("{first} and {second} tie: the same {label}"),
        Verdict::Equivalent => format!("{first} and {second} are equivalent within {}", verdicts::margin(&row.metric, &seen)),
        Verdict::NotComparable { .. } => format!("{first} and {second} cannot be compared"),
        Verdict::NoData { .. } => format!("Nothing to compare between {first} and {second}"),
        Verdict::NotEnoughEvidence { .. } if seen.difference.is_some_and(|found| found.centred() == 0.0) => {
            format!("No winner yet: {first} and {second} have the same {label}")
        }
        Verdict::NotEnoughEvidence { .. } => format!("No winner yet: {first} leads {second}{}", by(&row.metric, &seen)),
    }
}

/// Formats the difference as ` by 16.0 pp`. Empty without a difference or for a ratio.
fn by(metric: &Metric, pair: &PairEvidence) -> String {
    match pair.difference {
        Some(found) if found.scale != Scale::Ratio => format!(" by {}", verdicts::amount_of(metric, pair, found.value)),
        Some(_) | None => String::new(),
    }
}
