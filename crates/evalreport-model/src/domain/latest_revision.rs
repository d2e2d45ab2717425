//! Selects the current statement of several about the same thing. Stored statements are never rewritten: a later revision replaces an
//! earlier one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{ScoreRecord, can_judge_again};

/// Returns whether a statement replaces one that was read before it. A higher or equal revision does.
pub fn replaces_revision(revision: u32, before: u32) -> bool {
    revision >= before
}

/// Returns the current one of several statements about the same thing, given in reading order.
pub fn latest_revision<T>(
    said: impl IntoIterator<Item = T>,
    revision: impl Fn(&T) -> u32,
) -> Option<T> {
    said.into_iter().reduce(|before, next| {
        if replaces_revision(revision(&next), revision(&before)) {
            next
        } else {
            before
        }
    })
}

/// Returns the current statement about each thing, in order of first appearance.
pub fn latest_of_each<T, K: Ord>(
    said: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
    revision: impl Fn(&T) -> u32,
) -> Vec<T> {
    let mut places = BTreeMap::<K, usize>::new();
    let mut standing: Vec<T> = Vec::new();
    for next in said {
        match places.entry(key(&next)) {
            Entry::Vacant(place) => {
                place.insert(standing.len());
                standing.push(next);
            }
            Entry::Occupied(place) => {
                let before = &mut standing[*place.get()];
                if replaces_revision(revision(&next), revision(before)) {
                    *before = next;
                }
            }
        }
    }
    standing
}

/// Returns the current score of a metric.
pub fn latest_score<'a>(scores: &'a [ScoreRecord], metric: &str) -> Option<&'a ScoreRecord> {
    latest_revision(
        scores.iter().filter(|score| score.metric == metric),
        |score| score.revision,
    )
}

/// Returns the revision whose outcomes are current for a judged evaluator: the revision of the current score, or 0 without a score. Returns
/// `None` for other evaluators, whose outcomes are selected one by one.
pub fn latest_outcome_revision(evaluator: &str, scores: &[ScoreRecord]) -> Option<u32> {
    can_judge_again(evaluator)
        .then(|| latest_score(scores, evaluator).map_or(0, |score| score.revision))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Direction, Unit};
    use super::*;

    fn score(metric: &str, revision: u32) -> ScoreRecord {
        ScoreRecord {
            metric: metric.to_owned(),
            value: Some(f64::from(revision)),
            unit: Unit::Points,
            direction: Direction::Up,
            range: None,
            standard_error: None,
            n: None,
            evaluator: None,
            revision,
        }
    }

    #[test]
    fn of_equal_revisions_the_later_line_stands() {
        assert_eq!(
            latest_revision([(1, "a"), (0, "b"), (1, "c"), (0, "d")], |said| said.0),
            Some((1, "c"))
        );
        assert_eq!(latest_revision([(0, "a"); 0], |said| said.0), None);
    }

    #[test]
    fn each_stands_where_it_was_first_named() {
        let said = [("b", 0, 1), ("a", 2, 2), ("a", 1, 3), ("b", 0, 4)];
        assert_eq!(
            latest_of_each(said, |said| said.0, |said| said.1),
            [("b", 0, 4), ("a", 2, 2)]
        );
    }

    #[test]
    fn only_judges_are_asked_again() {
        let scores = [score("tool_use", 2), score("efficiency", 1)];
        assert_eq!(latest_outcome_revision("tool_use", &scores), Some(2));
        assert_eq!(
            latest_outcome_revision("requirementFulfillment", &scores),
            Some(0)
        );
        assert_eq!(latest_outcome_revision("efficiency", &scores), None);
        assert_eq!(latest_outcome_revision("answers", &scores), None);
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_decides_nothing_between_revisions(
            said in prop::collection::btree_set((0u8..4, 0u32..6), 1..20).prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle()
        ) {
            let (of, revision) = (|said: &(u8, u32)| said.0, |said: &(u8, u32)| said.1);
            let mut sorted = said.clone();
            sorted.sort_unstable();
            let mut standing: Vec<(u8, u32)> = latest_of_each(said.clone(), of, revision);
            standing.sort_unstable();
            prop_assert_eq!(&standing, &latest_of_each(sorted, of, revision));
            for (thing, highest) in standing {
                let alone = said.iter().copied().filter(|said| said.0 == thing);
                prop_assert_eq!(super::latest_revision(alone, revision), Some((thing, highest)));
                let scores: Vec<ScoreRecord> = said.iter().filter(|said| said.0 == thing).map(|said| score("tool_use", said.1)).collect();
                prop_assert_eq!(latest_outcome_revision("tool_use", &scores), Some(highest));
            }
        }
    }
}
