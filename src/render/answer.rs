//! The comparison of two arms in one sentence for the top of a page: who wins and by how much, or why nobody does.

use crate::domain::Metric;
use crate::views::{Cell, ComparisonRow, Difference, PairEvidence, PairVerdict, Scale};

use super::{format, phrases, verdicts};

/// Answers for the deciding metric, without a full stop: `planner wins: 91.5% vs 75.5% (+16.0 pp)`.
pub fn pair_sentence(row: &ComparisonRow, names: &[String]) -> String {
    let Some(pair) = row.evidence.pairs.first() else {
        return "Nothing to compare".to_owned();
    };
    let metric = &row.metric;
    let seen =
        verdicts::arm_ahead(metric, pair).map_or_else(|| pair.clone(), |arm| pair.seen_from(arm));
    let (first, second) = (&names[seen.first], &names[seen.second]);
    let values = [seen.first, seen.second]
        .map(|arm| row.cells.get(arm).and_then(|cell| arm_value(metric, cell)));
    let both = match &values {
        [Some(one), Some(other)] => {
            format!(
                ": {}{one} vs {other}{}",
                metric_prefix(metric),
                difference_suffix(metric, &seen)
            )
        }
        _ => format!(" against {second}{}", difference_suffix(metric, &seen)),
    };
    let each = match &values {
        [Some(one), Some(other)] => format!("{first} {one}, {second} {other}"),
        _ => format!("{first} and {second}"),
    };
    let same = values[0].as_ref().map_or_else(
        || format!("the same {}", phrases::metric_in_sentence(metric)),
        Clone::clone,
    );
    match seen.verdict {
        PairVerdict::AWins | PairVerdict::BWins => format!("{first} wins{both}"),
        PairVerdict::DeterministicDifference { .. } => {
            format!("{first} is ahead in every run{both}")
        }
        PairVerdict::Tie => format!("Tie: {first} and {second} both have {same}"),
        PairVerdict::Equivalent => format!(
            "Equivalent within {}: {each}",
            verdicts::margin_text(metric, &seen)
        ),
        PairVerdict::NotComparable { .. } => format!("Not comparable: {first} and {second}"),
        PairVerdict::NoData { .. } => format!("Nothing to compare between {first} and {second}"),
        PairVerdict::NotEnoughEvidence { .. }
            if seen
                .difference
                .is_some_and(|found| found.signed_distance() == 0.0) =>
        {
            format!("No winner yet: {first} and {second} both have {same}")
        }
        PairVerdict::NotEnoughEvidence { .. } => {
            format!("No winner yet: {each}{}", difference_suffix(metric, &seen))
        }
    }
}

/// Formats an arm's value without its counts: `91.5%`.
fn arm_value(metric: &Metric, cell: &Cell) -> Option<String> {
    let n = cell
        .total
        .or(cell.estimate.as_ref().map(|estimate| estimate.n))
        .unwrap_or(cell.run_count());
    cell.value
        .map(|value| format::value_in_unit(value, metric.unit, n))
}

/// Names a metric that is no pass rate.
fn metric_prefix(metric: &Metric) -> String {
    if phrases::is_pass_rate(metric) {
        String::new()
    } else {
        format!("{} ", phrases::metric_in_sentence(metric))
    }
}

/// Formats the difference as ` (+16.0 pp)`. Empty without a difference or for a ratio.
fn difference_suffix(metric: &Metric, pair: &PairEvidence) -> String {
    let Some(found) = pair.difference.filter(|found| found.scale != Scale::Ratio) else {
        return String::new();
    };
    let bare = PairEvidence {
        difference: Some(Difference {
            interval: None,
            ..found
        }),
        ..pair.clone()
    };
    verdicts::pair_change(metric, &bare).map_or_else(String::new, |change| format!(" ({change})"))
}
