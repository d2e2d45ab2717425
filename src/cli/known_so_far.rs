//! What a batch of questions told until its purse was empty: the outcomes so far, also those of runs that did not end.

use std::collections::BTreeMap;

use crate::domain::{ItemStatus, escape_invisible};
use crate::inference::CONFIDENCE;
use crate::render::format;
use crate::results::{Batch, Store, StoreError};
use crate::stats::effective_paired_difference;

/// One arm's outcomes: by question, how many attempts passed and how many count.
type OutcomesByQuestion = BTreeMap<String, (u64, u64)>;

/// Says what each arm passed so far and, of two arms, how they differ on the questions that both were asked. `None` before any outcome.
///
/// # Errors
///
/// Fails if the store cannot be read.
pub(super) fn describe_outcomes_so_far(
    store: &Store,
    batch: &Batch,
) -> Result<Option<String>, StoreError> {
    let mut arms: Vec<OutcomesByQuestion> = vec![OutcomesByQuestion::new(); batch.arms.len()];
    for run in &batch.runs {
        for (outcome, _) in store.read_items_so_far(&run.id)? {
            if outcome.status.is_counted() {
                let counts = arms[run.arm].entry(outcome.item.clone()).or_default();
                counts.0 += u64::from(outcome.status == ItemStatus::Pass);
                counts.1 += 1;
            }
        }
    }
    if arms.iter().all(BTreeMap::is_empty) {
        return Ok(None);
    }
    let names: Vec<String> = batch
        .arms
        .iter()
        .map(|arm| escape_invisible(&format!("{}/{}", arm.approach, arm.model)))
        .collect();
    let passed = arms.iter().zip(&names).map(|(arm, name)| {
        let (passed, counted) = arm
            .values()
            .fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        format!("{name} passed {passed} of {counted}")
    });
    let mut told = format!("so far {}", passed.collect::<Vec<String>>().join(", "));
    if let ([first, second], [one, other]) = (arms.as_slice(), names.as_slice())
        && let Some(words) = describe_difference(first, second)
    {
        told.push_str(&format!("; {one} against {other}, {words}"));
    }
    Ok(Some(told))
}

/// Says how two arms differ on the questions that both were asked: `+15 pp (95% CI -1 to +31) on 40 shared questions`.
fn describe_difference(first: &OutcomesByQuestion, second: &OutcomesByQuestion) -> Option<String> {
    let rate = |(passed, counted): (u64, u64)| passed as f64 / counted as f64;
    let differences: Vec<f64> = first
        .iter()
        .filter_map(|(item, own)| Some(rate(*own) - rate(*second.get(item)?)))
        .collect();
    let shared = differences.len() as f64;
    if differences.is_empty() {
        return None;
    }
    let mean = |sign: f64| {
        differences
            .iter()
            .map(|difference| (sign * difference).max(0.0))
            .sum::<f64>()
            / shared
    };
    let (better, worse) = (mean(1.0), mean(-1.0));
    let interval = effective_paired_difference(better, worse, shared, CONFIDENCE).ok()?;
    let points = |share: f64| format::signed_number(100.0 * share, 0);
    Some(format!(
        "{} pp (95% CI {} to {}) on {}",
        points(better - worse),
        points(interval.low),
        points(interval.high),
        format::format_count(differences.len() as u64, "shared question")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(passed: &[u64]) -> OutcomesByQuestion {
        (0..)
            .zip(passed)
            .map(|(place, passed)| (format!("q{place}"), (*passed, 1)))
            .collect()
    }

    #[test]
    fn a_difference_is_over_the_questions_of_both_arms() {
        let (first, second) = (outcomes(&[1, 1, 1, 0, 1]), outcomes(&[1, 0, 0, 0]));
        // Two of four shared questions are better, none worse.
        let told = describe_difference(&first, &second).expect("four shared questions");
        assert!(
            told.starts_with("+50 pp (95% CI ") && told.ends_with(" on 4 shared questions"),
            "{told}"
        );
        assert_eq!(describe_difference(&first, &outcomes(&[])), None);
    }
}
