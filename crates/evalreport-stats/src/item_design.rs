//! Which arms' answers to items can be compared, and which items belong together.

use std::collections::BTreeMap;

/// Arms with fewer common items than this are not linked by them.
pub const MIN_COMMON_ITEMS: usize = 10;

/// Items asked of the same arms form a set with a mean difficulty of its own if they are at least this many.
const MIN_IN_SET: usize = 10;

/// An arm's part in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArmPart {
    Fitted,
    /// It passed, or failed, all items that it was asked.
    AllPassed,
    NonePassed,
    /// No chain of arms with common items links it with the fitted ones.
    Apart,
}

/// One item, as the fitted arms answered it.
pub(super) struct AskedItem {
    /// Place in the input.
    pub item: usize,
    pub set: usize,
    /// Columns of the arms that were asked, ascending, and their scores.
    pub answers: Vec<(usize, f64)>,
}

pub(super) struct ItemDesign {
    /// By arm.
    pub parts: Vec<ArmPart>,
    /// Fitted arms: their columns are their places here.
    pub fitted: Vec<usize>,
    /// By item asked of a fitted arm, sets in order.
    pub rows: Vec<AskedItem>,
    pub sets: usize,
    /// Items outside of the sets of [`MIN_IN_SET`], which share one mean difficulty as if drawn by chance.
    pub scattered: usize,
}

impl ItemDesign {
    /// Lays out scores by arm and item.
    pub fn new(scores: &[Vec<Option<f64>>]) -> Self {
        let mut parts: Vec<ArmPart> = scores.iter().map(|row| arm_part(row)).collect();
        let open: Vec<usize> = (0..scores.len())
            .filter(|arm| parts[*arm] == ArmPart::Fitted)
            .collect();
        let fitted = largest_group(scores, &open);
        for arm in open {
            if !fitted.contains(&arm) {
                parts[arm] = ArmPart::Apart;
            }
        }
        let items = scores.first().map_or(0, Vec::len);
        let score = |arm: usize, item: usize| scores[arm][item];
        let mut by_arms: BTreeMap<Vec<usize>, Vec<AskedItem>> = BTreeMap::new();
        for item in 0..items {
            let answers: Vec<(usize, f64)> = fitted
                .iter()
                .enumerate()
                .filter_map(|(column, arm)| Some((column, score(*arm, item)?)))
                .collect();
            if !answers.is_empty() {
                let arms = answers.iter().map(|(column, _)| *column).collect();
                by_arms.entry(arms).or_default().push(AskedItem {
                    item,
                    set: 0,
                    answers,
                });
            }
        }
        let (mut sets, mut rest): (Vec<Vec<AskedItem>>, Vec<Vec<AskedItem>>) = by_arms
            .into_values()
            .partition(|items| items.len() >= MIN_IN_SET && has_varying_answers(items));
        let mut rest: Vec<AskedItem> = rest.drain(..).flatten().collect();
        let scattered = rest.len();
        if rest.len() >= MIN_IN_SET && has_varying_answers(&rest) {
            sets.push(rest);
        } else if let Some(largest) = (0..sets.len()).max_by_key(|set| sets[*set].len()) {
            sets[largest].append(&mut rest);
        } else {
            sets.push(rest);
        }
        let count = sets.len();
        for (place, set) in sets.iter_mut().enumerate() {
            for row in set {
                row.set = place;
            }
        }
        Self {
            parts,
            fitted,
            rows: sets.into_iter().flatten().collect(),
            sets: count,
            scattered,
        }
    }
}

fn arm_part(row: &[Option<f64>]) -> ArmPart {
    let all = |wanted: f64| {
        row.iter()
            .flatten()
            .all(|score| (score - wanted).abs() < f64::EPSILON)
    };
    match (row.iter().flatten().next(), all(1.0), all(0.0)) {
        (None, ..) => ArmPart::Apart,
        (_, true, _) => ArmPart::AllPassed,
        (_, _, true) => ArmPart::NonePassed,
        _ => ArmPart::Fitted,
    }
}

fn has_varying_answers(items: &[AskedItem]) -> bool {
    let mut scores = items
        .iter()
        .flat_map(|item| item.answers.iter().map(|(_, score)| *score));
    let Some(first) = scores.next() else {
        return false;
    };
    scores.any(|score| (score - first).abs() > f64::EPSILON)
}

/// Returns the largest group of arms that are linked with each other, by number of arms and then of answers.
fn largest_group(scores: &[Vec<Option<f64>>], arms: &[usize]) -> Vec<usize> {
    let is_linked = |one: usize, other: usize| {
        let common = scores[one]
            .iter()
            .zip(&scores[other])
            .filter(|(one, other)| one.is_some() && other.is_some());
        common.take(MIN_COMMON_ITEMS).count() == MIN_COMMON_ITEMS
    };
    let mut open = arms.to_vec();
    let mut best: ((usize, usize), Vec<usize>) = ((0, 0), Vec::new());
    while let Some(start) = open.pop() {
        let (mut group, mut next) = (vec![start], 0);
        while next < group.len() {
            let (linked, others) = open
                .iter()
                .partition(|other| is_linked(group[next], **other));
            let linked: Vec<usize> = linked;
            group.extend(linked);
            open = others;
            next += 1;
        }
        group.sort_unstable();
        let size = (
            group.len(),
            group
                .iter()
                .map(|arm| scores[*arm].iter().flatten().count())
                .sum(),
        );
        if size > best.0 {
            best = (size, group);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By arm: from which item to which it was asked; it passes each third.
    fn asked(spans: &[(usize, usize)], items: usize) -> Vec<Vec<Option<f64>>> {
        let of = |(from, to): &(usize, usize)| {
            (0..items)
                .map(|item| {
                    (*from <= item && item < *to).then(|| f64::from(u8::from(item % 3 == 0)))
                })
                .collect()
        };
        spans.iter().map(of).collect()
    }

    #[test]
    fn chains_of_common_items_link() {
        // The first and the third share no item, but both share ten with the second.
        let design = ItemDesign::new(&asked(
            &[(0, 20), (10, 30), (20, 40), (40, 60), (51, 60)],
            60,
        ));
        assert_eq!(design.fitted, [0, 1, 2]);
        assert_eq!(
            design.parts[3..],
            [ArmPart::Apart, ArmPart::Apart],
            "nine common items are too few"
        );
        assert_eq!(
            (design.rows.len(), design.sets, design.scattered),
            (40, 4, 0)
        );
        let set = |item: usize| {
            design
                .rows
                .iter()
                .find(|row| row.item == item)
                .expect("asked")
                .set
        };
        assert!(set(0) == set(9) && set(9) != set(10) && set(10) == set(19));
    }

    #[test]
    fn arms_without_a_bound_and_scattered_items() {
        let mut scores = asked(&[(0, 30), (0, 30), (0, 30), (0, 30)], 30);
        scores[1] = vec![Some(1.0); 30];
        scores[2] = vec![Some(0.0); 30];
        scores[3][4] = None;
        let design = ItemDesign::new(&scores);
        assert_eq!(
            design.parts,
            [
                ArmPart::Fitted,
                ArmPart::AllPassed,
                ArmPart::NonePassed,
                ArmPart::Fitted
            ]
        );
        // One item alone is no set: it joins the others.
        assert_eq!((design.sets, design.scattered), (1, 1));
    }
}
