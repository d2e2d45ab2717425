//! The comparison of two arms in one sentence for the top of a page: who wins and by how much, or why nobody does.

use crate::domain::Metric;
use crate::views::{Cell, ComparisonRow, Difference, PairEvidence, Scale, Verdict};

use super::{format, verdicts, words};

/// Answers for the deciding metric, without a full stop: `planner wins: 91.5% vs 75.5% (+16.0 pp)`.
pub fn of_pair(row: &ComparisonRow, names: &[String]) -> String {
    let Some(pair) = row.evidence.pairs.first() else {
        return "Nothing to compare".to_owned();
    };
    let metric = &row.metric;
    let seen =
        verdicts::ahead(metric, pair).map_or_else(|| pair.clone(), |arm| pair.seen_from(arm));
    let (first, second) = (&names[seen.first], &names[seen.second]);
    let values = [seen.first, seen.second]
        .map(|arm| row.cells.get(arm).and_then(|cell| value(metric, cell)));
    let both = match &values {
        [Some(one), Some(other)] => {
            format!(": {}{one} vs {other}{}", label(metric), by(metric, &seen))
        }
        _ => format!(" against {second}{}", by(metric, &seen)),
    };
    let each = match &values {
        [Some(one), Some(other)] => format!("{first} {one}, {second} {other}"),
        _ => format!("{first} and {second}"),
    };
    let same = values[0].as_ref().map_or_else(
        || format!("the same {}", words::metric(metric)),
        Clone::clone,
    );
    match seen.verdict {
        Verdict::AWins | Verdict::BWins => format!("{first} wins{both}"),
        Verdict::DeterministicDifference { .. } => format!("{first} is ahead in every run{both}"),
        Verdict::Tie => format!("Tie: {first} and {second} both have {same}"),
        Verdict::Equivalent => format!(
            "Equivalent within {}: {each}",
            verdicts::margin(metric, &seen)
        ),
        Verdict::NotComparable { .. } => format!("Not comparable: {first} and {second}"),
        Verdict::NoData { .. } => format!("Nothing to compare between {first} and {second}"),
        Verdict::NotEnoughEvidence { .. }
            if seen.difference.is_some_and(|found| found.centred() == 0.0) =>
        {
            format!("No winner yet: {first} and {second} both have {same}")
        }
        Verdict::NotEnoughEvidence { .. } => format!("No winner yet: {each}{}", by(metric, &seen)),
    }
}

/// Formats an arm's value without its counts: `91.5%`.
fn value(metric: &Metric, cell: &Cell) -> Option<String> {
    let n = cell
        .total
        .or(cell.estimate.as_ref().map(|estimate| estimate.n))
        .unwrap_or(cell.runs());
    cell.value.map(|value| format::value(value, metric.unit, n))
}

/// Names a metric that is no pass rate.
fn label(metric: &Metric) -> String {
    if words::is_pass_rate(metric) {
        String::new()
    } else {
        format!("{} ", words::metric(metric))
    }
}

/// Formats the difference as ` (+16.0 pp)`. Empty without a difference or for a ratio.
fn by(metric: &Metric, pair: &PairEvidence) -> String {
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
    verdicts::change_of(metric, &bare).map_or_else(String::new, |change| format!(" ({change})"))
}
