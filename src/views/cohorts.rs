//! Cohorts of failures: items that an arm lost or won, grouped by what their failed attempts share.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::ItemStatus;
use crate::inference::{CONFIDENCE, SuiteComparison};
use crate::stats::{Interval, effective_interval, effective_paired_difference};
use crate::warehouse::Warehouse;

use super::differing_items::{DifferingItem, DifferingItems, SuiteItemNames};
use super::failures::{ItemFailures, SuiteFailures};

/// Maximum number of cohorts shown. The others are counted.
pub const MAX_COHORTS: usize = 5;
/// Minimum number of items of a cohort.
const MIN_MEMBERS: usize = 2;
/// Maximum number of a cohort's items that are named.
const MAX_NAMED: usize = 3;
/// How much more frequent a category or evaluator must be among a cohort's candidates than among all items, to be what they share.
const MIN_LIFT: f64 = 2.0;

/// What the failed attempts of a cohort share, the most telling first: a cohort of the next kind has only items that no cohort before it
/// has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SharedBy {
    /// The recorded reason, apart from numbers, quotations, paths and ids.
    Reason,
    /// The outcome, which is no plain fail: `error` or `limit`.
    Outcome,
    /// The evaluator that did not pass them.
    Evaluator,
    /// A tool that only the failed attempts called.
    Tool,
    /// The category of the items.
    Category,
}

/// Items, counted, with their part of the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CohortCounts {
    /// Items that the first arm failed and the second passed; with several outcomes, items on which the first has the lower rate.
    pub lost: u64,
    /// Items that the second arm failed and the first passed.
    pub won: u64,
    /// Their part of the difference of the pass rates, first arm minus second, as a fraction: the sum of their differences over all compared
    /// items.
    pub share: f64,
}

/// Items whose failed attempts share something.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cohort {
    pub by: SharedBy,
    /// What they share: for a reason, the shortest of their messages, cut to a bounded length; else a name.
    pub shared: String,
    /// For a reason, the messages' common form, by which they were grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(flatten)]
    pub counts: CohortCounts,
    /// The interval of `share`, as a fraction, over items or clusters of items. Absent if there are too few, or if the items are tests of
    /// one artefact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The first items by name, at most three.
    pub items: Vec<String>,
}

/// Why one arm passed items that another failed. Of a single arm: why it failed items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailureCohorts {
    /// The first and the second arm, as places in the table's arms; a single arm has no second one. In a gate, the new runs are the first.
    pub arms: Vec<usize>,
    /// What the items are: `questions`, `tests`, `tasks`.
    pub of: &'static str,
    /// Number of compared items.
    pub items: u64,
    /// All items on which the arms differ. Each of them is counted once below.
    pub all: CohortCounts,
    /// Confidence level of each interval on its own: none is adjusted for the number of cohorts.
    pub confidence: f64,
    /// Most items first, at most five.
    pub cohorts: Vec<Cohort>,
    /// Number of cohorts beyond these, and their items.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_cohorts: u64,
    #[serde(skip_serializing_if = "has_no_items")]
    pub in_more_cohorts: CohortCounts,
    /// Items with a reason that no other item has.
    #[serde(skip_serializing_if = "has_no_items")]
    pub alone: CohortCounts,
    /// Items without a recorded reason that share nothing else.
    #[serde(skip_serializing_if = "has_no_items")]
    pub without_reason: CohortCounts,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn has_no_items(counts: &CohortCounts) -> bool {
    counts.item_count() == 0
}

impl CohortCounts {
    pub fn item_count(&self) -> u64 {
        self.lost + self.won
    }
}

/// One item on which the arms differ, with all that it may share with others.
#[derive(Clone, Debug)]
struct DifferingFailure<'a> {
    name: &'a str,
    difference: f64,
    /// The kind of its reason and an example.
    reason: Option<(&'a str, &'a str)>,
    outcome: Option<ItemStatus>,
    evaluators: Vec<&'a str>,
    tools: Vec<&'a str>,
    category: Option<&'a str>,
}

/// All compared items, and how frequent categories and evaluators are among them.
struct ComparedItems<'a> {
    count: u64,
    word: &'static str,
    /// The effective number of independent items, if there are enough for an interval.
    independent: Option<f64>,
    /// Whether there is a second arm. Without one, no item can be won.
    has_opponent: bool,
    categories: BTreeMap<&'a str, u64>,
    evaluators: BTreeMap<&'a str, u64>,
}

impl FailureCohorts {
    /// Reads why two arms of an answer differ, or why a single arm failed items. Returns `None` if there are no outcomes of items.
    ///
    /// # Errors
    ///
    /// Fails if outcomes cannot be read.
    pub(super) fn read(
        warehouse: &Warehouse,
        answer: &SuiteComparison<'_>,
        arms: (usize, Option<usize>),
    ) -> io::Result<Option<Self>> {
        let names = SuiteItemNames::from_answer(answer);
        let (first, second) = arms;
        let found = match second {
            Some(second) => DifferingItems::between(answer, &names, first, second),
            None => DifferingItems::of_arm(answer, &names, first),
        };
        let Some(differing) = found.filter(|found| !found.shared.is_empty()) else {
            return Ok(None);
        };
        let mut failures = SuiteFailures::new(&names);
        failures.want(&differing);
        for arm in [Some(first), second].into_iter().flatten() {
            failures.read_arm(warehouse, arm, &answer.group.arms[arm])?;
        }
        Ok(Self::new(&differing, &failures, arms))
    }

    /// Groups the items on which two arms differ. `arms` are their numbers in `failures`; a single arm has no second one. Returns `None` if
    /// not all failures were kept.
    pub(super) fn new(
        differing: &DifferingItems,
        failures: &SuiteFailures,
        arms: (usize, Option<usize>),
    ) -> Option<Self> {
        if failures.is_full() {
            return None;
        }
        let (first, second) = arms;
        let names = &differing.names;
        let mut compared = ComparedItems {
            count: differing.shared.len() as u64,
            word: differing.word,
            independent: differing.independent,
            has_opponent: second.is_some(),
            categories: BTreeMap::new(),
            evaluators: BTreeMap::new(),
        };
        for place in &differing.shared {
            if let Some(category) = failures.category(*place) {
                *compared.categories.entry(category).or_default() += 1;
            }
            for evaluator in &names.evaluators[*place as usize] {
                *compared.evaluators.entry(evaluator).or_default() += 1;
            }
        }
        let failed_and_passed = |item: &DifferingItem| {
            let (loser, winner) = if item.difference < 0.0 {
                (Some(first), second)
            } else {
                (second, Some(first))
            };
            [loser, winner].map(|arm| failures.of_item(arm?, item.place))
        };
        let items: Vec<DifferingFailure<'_>> = differing
            .items
            .iter()
            .map(|item| {
                let [own, other] = failed_and_passed(item);
                let evaluators: Vec<&str> = match names.evaluators[item.place as usize].as_slice() {
                    [only] => vec![only.as_str()],
                    _ => item.evaluators.iter().map(String::as_str).collect(),
                };
                DifferingFailure {
                    name: &names.keys[item.place as usize].1,
                    difference: item.difference,
                    reason: own.and_then(|own| failures.main_reason(own)),
                    outcome: own.and_then(ItemFailures::main_outcome),
                    evaluators,
                    tools: own
                        .zip(other)
                        .map_or_else(Vec::new, |(own, other)| failures.tools_only_of(own, other)),
                    category: failures.category(item.place),
                }
            })
            .collect();
        Some(Self::from_failures(items, &compared))
    }

    fn from_failures(items: Vec<DifferingFailure<'_>>, compared: &ComparedItems<'_>) -> Self {
        let all = count_items(&items, compared);
        let mut open = items;
        // Sums of fractions depend on their order, and that of items on their names.
        open.sort_by(|one, other| {
            one.difference
                .total_cmp(&other.difference)
                .then_with(|| one.name.cmp(other.name))
        });
        let mut cohorts: Vec<(Cohort, CohortCounts)> = Vec::new();
        for by in [
            SharedBy::Reason,
            SharedBy::Outcome,
            SharedBy::Evaluator,
            SharedBy::Tool,
            SharedBy::Category,
        ] {
            while let Some(shared) = most_shared(&open, by, compared) {
                let (members, others): (Vec<_>, Vec<_>) = open
                    .into_iter()
                    .partition(|item| values_of(item, by).contains(&shared.as_str()));
                open = others;
                let counts = count_items(&members, compared);
                let example = members
                    .iter()
                    .filter_map(|item| item.reason)
                    .map(|(_, example)| example)
                    .next()
                    .filter(|_| by == SharedBy::Reason);
                let mut named: Vec<String> =
                    members.iter().map(|item| item.name.to_owned()).collect();
                named.sort();
                named.truncate(MAX_NAMED);
                let cohort = Cohort {
                    by,
                    shared: example.unwrap_or(&shared).to_owned(),
                    pattern: example.map(|_| shared.clone()),
                    counts,
                    interval: share_interval(&members, compared),
                    items: named,
                };
                cohorts.push((cohort, counts));
            }
        }
        cohorts.sort_by(|(one, first), (other, second)| {
            let key = |cohort: &Cohort| {
                (
                    cohort.by,
                    cohort
                        .pattern
                        .clone()
                        .unwrap_or_else(|| cohort.shared.clone()),
                )
            };
            second
                .item_count()
                .cmp(&first.item_count())
                .then_with(|| second.share.abs().total_cmp(&first.share.abs()))
                .then_with(|| key(one).cmp(&key(other)))
        });
        let rest = cohorts.split_off(cohorts.len().min(MAX_COHORTS));
        let (alone, without): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|item| item.reason.is_some());
        Self {
            arms: (0..=usize::from(compared.has_opponent)).collect(),
            of: compared.word,
            items: compared.count,
            all,
            confidence: CONFIDENCE,
            cohorts: cohorts.into_iter().map(|(cohort, _)| cohort).collect(),
            more_cohorts: rest.len() as u64,
            in_more_cohorts: CohortCounts {
                lost: rest.iter().map(|(_, counts)| counts.lost).sum(),
                won: rest.iter().map(|(_, counts)| counts.won).sum(),
                share: rest.iter().map(|(_, counts)| counts.share).sum(),
            },
            alone: count_items(&alone, compared),
            without_reason: count_items(&without, compared),
        }
    }
}

/// Returns what an item has to share.
fn values_of<'a>(item: &DifferingFailure<'a>, by: SharedBy) -> Vec<&'a str> {
    match by {
        SharedBy::Reason => item.reason.map(|(kind, _)| kind).into_iter().collect(),
        SharedBy::Outcome => item.outcome.map(ItemStatus::name).into_iter().collect(),
        SharedBy::Evaluator => item.evaluators.clone(),
        SharedBy::Tool => item.tools.clone(),
        SharedBy::Category => item.category.into_iter().collect(),
    }
}

/// Returns what most of the items share. Of equally frequent ones, the first by name. `None` if no two items share anything telling.
fn most_shared(
    open: &[DifferingFailure<'_>],
    by: SharedBy,
    compared: &ComparedItems<'_>,
) -> Option<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for item in open {
        for value in values_of(item, by) {
            *counts.entry(value).or_default() += 1;
        }
    }
    let is_telling = |value: &str, count: usize| {
        let among_all = match by {
            SharedBy::Reason | SharedBy::Outcome | SharedBy::Tool => return true,
            SharedBy::Evaluator => compared.evaluators.get(value),
            SharedBy::Category => compared.categories.get(value),
        };
        // Evaluators that all items have tell something if others of the item decided otherwise.
        let is_one_of_several = by == SharedBy::Evaluator
            && among_all.is_some_and(|all| *all >= compared.count)
            && compared.evaluators.len() > 1;
        let expected = among_all.map_or(0.0, |all| *all as f64 / compared.count as f64);
        is_one_of_several || count as f64 / open.len() as f64 >= MIN_LIFT * expected
    };
    counts
        .into_iter()
        .filter(|(value, count)| *count >= MIN_MEMBERS && is_telling(value, *count))
        .max_by(|(one, count), (other, most)| count.cmp(most).then_with(|| other.cmp(one)))
        .map(|(value, _)| value.to_owned())
}

fn count_items(items: &[DifferingFailure<'_>], compared: &ComparedItems<'_>) -> CohortCounts {
    let lost = items.iter().filter(|item| item.difference < 0.0).count() as u64;
    let sum: f64 = items.iter().map(|item| item.difference).sum();
    CohortCounts {
        lost,
        won: items.len() as u64 - lost,
        share: if items.is_empty() {
            0.0
        } else {
            sum / compared.count as f64
        },
    }
}

/// Returns the interval of a cohort's share. With one outcome of each item, it is Tango's for the items that were lost and won; of a single
/// arm, Wilson's.
fn share_interval(
    members: &[DifferingFailure<'_>],
    compared: &ComparedItems<'_>,
) -> Option<Interval> {
    let part = |sign: f64| {
        let parts = members.iter().map(|item| (sign * item.difference).max(0.0));
        parts.sum::<f64>() / compared.count as f64
    };
    let count = compared.independent?;
    if compared.has_opponent {
        return effective_paired_difference(part(1.0), part(-1.0), count, CONFIDENCE).ok();
    }
    let failed = effective_interval(part(-1.0), count, CONFIDENCE).ok()?;
    Interval::new(-failed.high, -failed.low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::domain::ItemKind;

    use super::super::failures::RecordedAttempt;
    use super::*;

    /// A differing item: its name, whether the first arm lost it, the reason, the status, the category.
    type Lost<'a> = (&'a str, bool, Option<&'a str>, ItemStatus, Option<&'a str>);

    /// Groups the items that one of two arms failed, of `same` further items on which they do not differ.
    fn group(items: &[Lost<'_>], same: usize) -> FailureCohorts {
        let mut names = SuiteItemNames::default();
        let mut differing = Vec::new();
        for (place, (name, is_lost, ..)) in (0..).zip(items) {
            names.keys.push((ItemKind::Question, (*name).to_owned()));
            differing.push(DifferingItem {
                place,
                difference: if *is_lost { -1.0 } else { 1.0 },
                evaluators: Vec::new(),
            });
        }
        for place in 0..same {
            names
                .keys
                .push((ItemKind::Question, format!("same {place}")));
        }
        names.evaluators = vec![vec!["answers".to_owned()]; names.keys.len()];
        let all = names.keys.len();
        let names = std::sync::Arc::new(names);
        let differing = DifferingItems {
            names: std::sync::Arc::clone(&names),
            shared: (0..).take(all).collect(),
            items: differing,
            word: "questions",
            independent: Some(all as f64),
        };
        let mut failures = SuiteFailures::new(&names);
        failures.want(&differing);
        let tools = BTreeMap::new();
        for (name, is_lost, reason, status, category) in items {
            let attempt = RecordedAttempt {
                kind: ItemKind::Question,
                item: name,
                evaluator: "answers",
                status: *status,
                reason: *reason,
                category: *category,
                tools: &tools,
            };
            failures.add_attempt(usize::from(!is_lost), attempt);
            let passed = RecordedAttempt {
                status: ItemStatus::Pass,
                reason: Some("passed"),
                ..attempt
            };
            failures.add_attempt(usize::from(*is_lost), passed);
        }
        for place in 0..same {
            failures.add_attempt(
                0,
                RecordedAttempt {
                    kind: ItemKind::Question,
                    item: &format!("same {place}"),
                    evaluator: "answers",
                    status: ItemStatus::Fail,
                    reason: Some("of no interest"),
                    category: Some("plain"),
                    tools: &tools,
                },
            );
        }
        FailureCohorts::new(&differing, &failures, (0, Some(1))).expect("few failures")
    }

    /// Returns what is shared with the numbers of lost and won items.
    fn shown(found: &FailureCohorts) -> Vec<(SharedBy, &str, u64, u64)> {
        found
            .cohorts
            .iter()
            .map(|cohort| {
                (
                    cohort.by,
                    cohort.pattern.as_deref().unwrap_or(&cohort.shared),
                    cohort.counts.lost,
                    cohort.counts.won,
                )
            })
            .collect()
    }

    #[test]
    fn every_differing_item_is_in_one_cohort_or_counted_beside_them() {
        use ItemStatus::{Error, Fail, Limit};
        let found = group(
            &[
                (
                    "a",
                    true,
                    Some("no answer tag in 120 characters"),
                    Fail,
                    Some("physics"),
                ),
                (
                    "b",
                    true,
                    Some("no answer tag in 7 characters"),
                    Limit,
                    Some("physics"),
                ),
                (
                    "c",
                    false,
                    Some("No answer tag in 31 characters."),
                    Fail,
                    None,
                ),
                ("d", true, Some("killed by signal 9"), Limit, None),
                ("e", true, None, Limit, None),
                ("f", false, Some("Segmentation fault"), Error, None),
                ("g", true, None, Fail, Some("maths")),
                ("h", true, Some("a long story"), Fail, Some("maths")),
                ("i", true, Some("another story"), Fail, None),
                ("j", true, None, Fail, Some("plain")),
                ("k", true, Some("  "), Fail, None),
            ],
            9,
        );
        assert_eq!(
            shown(&found),
            [
                (SharedBy::Reason, "no answer tag in # characters", 2, 1),
                (SharedBy::Outcome, "limit", 2, 0),
                (SharedBy::Category, "maths", 2, 0),
            ]
        );
        assert_eq!((found.items, found.all.lost, found.all.won), (20, 9, 2));
        assert!((found.all.share + 7.0 / 20.0).abs() < 1e-12);
        assert_eq!(
            (found.alone.lost, found.alone.won, found.without_reason.lost),
            (1, 1, 2)
        );
        let first = &found.cohorts[0];
        assert_eq!(first.shared, "no answer tag in 7 characters");
        assert_eq!(first.items, ["a", "b", "c"]);
        let parts: f64 = found.cohorts.iter().map(|cohort| cohort.counts.share).sum();
        assert!(
            (parts + found.alone.share + found.without_reason.share - found.all.share).abs()
                < 1e-12
        );
    }

    #[test]
    fn a_reason_wins_over_what_else_its_items_share() {
        let of = |name: &'static str| {
            (
                name,
                true,
                Some("timed out after 9 s"),
                ItemStatus::Limit,
                Some("physics"),
            )
        };
        assert_eq!(
            shown(&group(&[of("a"), of("b")], 6)),
            [(SharedBy::Reason, "timed out after #", 2, 0)]
        );
    }

    #[test]
    fn the_interval_is_tango_s_and_absent_if_items_are_few() {
        let of = |name: &'static str| (name, true, Some("no tag"), ItemStatus::Fail, None);
        let found = group(&[of("a"), of("b"), of("c")], 17);
        let pairs = crate::stats::PairedTable {
            both: 17,
            only_a: 0,
            only_b: 3,
            neither: 0,
        };
        let tango = crate::stats::tango_interval(pairs, CONFIDENCE).expect("an interval");
        let own = found.cohorts[0].interval.expect("an interval");
        assert!((own.low - tango.low).abs() < 1e-9 && (own.high - tango.high).abs() < 1e-9);
        let few = FailureCohorts::from_failures(
            Vec::new(),
            &ComparedItems {
                count: 0,
                word: "tests",
                independent: None,
                has_opponent: true,
                categories: BTreeMap::new(),
                evaluators: BTreeMap::new(),
            },
        );
        assert_eq!((few.items, few.all), (0, CohortCounts::default()));
        assert!(few.cohorts.is_empty());
    }

    #[test]
    fn five_cohorts_are_shown_and_the_others_counted() {
        let reasons: Vec<String> = ('a'..='g')
            .map(|letter| letter.to_string().repeat(3))
            .collect();
        let names: Vec<String> = (0..15).map(|number| format!("q{number}")).collect();
        let items: Vec<Lost<'_>> = names
            .iter()
            .enumerate()
            .map(|(place, name)| {
                (
                    name.as_str(),
                    true,
                    Some(reasons[place % 7].as_str()),
                    ItemStatus::Fail,
                    None,
                )
            })
            .collect();
        let found = group(&items, 5);
        assert_eq!(
            (
                found.cohorts.len(),
                found.more_cohorts,
                found.in_more_cohorts.lost
            ),
            (MAX_COHORTS, 2, 4)
        );
        // The first of 15 items makes one reason more frequent.
        assert_eq!(
            (
                found.cohorts[0].shared.as_str(),
                found.cohorts[0].counts.lost
            ),
            ("aaa", 3)
        );
    }

    #[test]
    fn groups_of_the_shipped_results_hold_each_flip_once_and_add_up() {
        let store = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let warehouse = Warehouse::open(
            &crate::warehouse::WarehouseOptions {
                stores: vec![store],
                ..crate::warehouse::WarehouseOptions::default()
            },
            &crate::warehouse::Progress::SILENT,
        )
        .expect("a store");
        let groups = crate::inference::suite_groups(
            &warehouse,
            &crate::domain::Filter::default(),
            crate::inference::BatchSelection::AllBatches,
        );
        let (mut pairs, mut shared) = (0, 0);
        for group in &groups {
            let answer =
                SuiteComparison::new(&warehouse, group, &crate::inference::Policy::default());
            for other in 1..group.arms.len().min(3) {
                let found =
                    FailureCohorts::read(&warehouse, &answer, (0, Some(other))).expect("outcomes");
                let flips = super::super::flips::count_flips(&answer, 0, other);
                let (Some(found), Some(flips)) = (found, flips) else {
                    continue;
                };
                assert_eq!(
                    (found.all.won, found.all.lost, found.items),
                    (flips.only_first, flips.only_second, flips.shared)
                );
                let counts: Vec<CohortCounts> = found
                    .cohorts
                    .iter()
                    .map(|cohort| cohort.counts)
                    .chain([found.in_more_cohorts, found.alone, found.without_reason])
                    .collect();
                assert_eq!(
                    counts.iter().map(CohortCounts::item_count).sum::<u64>(),
                    found.all.item_count(),
                    "{}",
                    group.suite
                );
                let share: f64 = counts.iter().map(|counts| counts.share).sum();
                assert!((share - found.all.share).abs() < 1e-9, "{}", group.suite);
                for cohort in &found.cohorts {
                    let holds = |ends: Interval| {
                        ends.low <= cohort.counts.share && cohort.counts.share <= ends.high
                    };
                    assert!(cohort.interval.is_none_or(holds), "{cohort:?}");
                    shared += 1;
                }
                pairs += 1;
            }
        }
        assert!(pairs > 10 && shared > 5, "{shared} groups of {pairs} pairs");
    }

    fn reason() -> impl Strategy<Value = Option<String>> {
        prop::option::weighted(
            0.8,
            prop_oneof![
                (0_u32..2_000).prop_map(|value| format!("expected 391, got {value}")),
                (0_u32..90).prop_map(|seconds| format!("timed out after {seconds} s")),
                Just("no answer tag".to_owned()),
                "[a-f]{3}",
            ],
        )
    }

    proptest! {
        #[test]
        fn cohorts_do_not_depend_on_the_order_and_the_names_of_items(
            items in prop::collection::vec(
                (any::<bool>(), reason(), prop_oneof![4 => Just(ItemStatus::Fail), 1 => Just(ItemStatus::Limit), 1 => Just(ItemStatus::Error)],
                 prop::option::of(prop_oneof![Just("maths"), Just("physics"), Just("law")])),
                0..24,
            ),
            order in prop::collection::vec(any::<u32>(), 24),
        ) {
            let named = |prefix: &str| -> Vec<String> { (0..items.len()).map(|place| format!("{prefix}{place}")).collect() };
            let make = |names: &[String], order: &[usize]| {
                let lost: Vec<Lost<'_>> = order
                    .iter()
                    .map(|place| {
                        let (is_lost, reason, status, category) = &items[*place];
                        (names[*place].as_str(), *is_lost, reason.as_deref(), *status, *category)
                    })
                    .collect();
                let mut found = group(&lost, 6);
                for cohort in &mut found.cohorts {
                    cohort.items.clear();
                }
                found
            };
            let as_given: Vec<usize> = (0..items.len()).collect();
            let mut shuffled = as_given.clone();
            shuffled.sort_by_key(|place| order[*place]);
            let found = make(&named("q"), &as_given);
            prop_assert_eq!(&found, &make(&named("q"), &shuffled));
            prop_assert_eq!(&found, &make(&named("zz renamed "), &shuffled));
            let counted: u64 = found.cohorts.iter().map(|cohort| cohort.counts.item_count()).sum();
            let beside = [found.in_more_cohorts, found.alone, found.without_reason];
            prop_assert_eq!(
                counted + beside.iter().map(CohortCounts::item_count).sum::<u64>(),
                items.len() as u64
            );
            prop_assert!(found.cohorts.iter().all(|cohort| cohort.counts.item_count() >= 2));
            let share: f64 = found.cohorts.iter().map(|cohort| cohort.counts).chain(beside).map(|counts| counts.share).sum();
            prop_assert!((share - found.all.share).abs() < 1e-12);
        }
    }
}
