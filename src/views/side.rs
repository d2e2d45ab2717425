//! Answers of two arms to the items on which they differ: gathered while a site's runs are read, paired at the end.

use std::collections::BTreeMap;

use crate::domain::{ItemKind, ItemStatus, Redacted};

use super::cohorts::FailureCohorts;
use super::compare::Comparison;
use super::differing_answers::{MAX_SIDES, Side, SideBySide};
use super::failures::{RecordedAttempt, SuiteFailures};
use super::flips::ListedItem;
use super::judged::criterion_flips_between;
use super::run::{ItemPage, RunPage};
use super::site::Overview;
use super::transcript::RunTranscripts;
use crate::inference::Arm;

/// An item whose outcome a page wants to show, for one arm.
#[derive(Clone, Debug)]
struct WantedOutcome {
    passed: bool,
    found: Option<(Side, Vec<String>)>,
}

/// Wanted items of one arm on one suite.
type WantedOfArm = BTreeMap<ListedItem, WantedOutcome>;

/// Gathers the details of single items for the pages of pairs, one run at a time.
#[derive(Clone, Debug, Default)]
pub struct AnswerGatherer {
    arms: BTreeMap<(usize, Arm), WantedOfArm>,
    /// By run: the suite's index in the overview, and the arm.
    runs: BTreeMap<String, (usize, Arm)>,
    /// By the suite's index in the overview.
    failures: BTreeMap<usize, GatheredFailures>,
}

/// Why the arms of a suite failed the items on which its pairs differ.
#[derive(Clone, Debug)]
struct GatheredFailures {
    arms: BTreeMap<Arm, usize>,
    /// By run: its arm's number.
    runs: BTreeMap<String, usize>,
    of: SuiteFailures,
}

impl AnswerGatherer {
    /// Notes the items that the pairs of a site want to show.
    pub fn from_overview(overview: &Overview) -> Self {
        let mut sides = Self::default();
        for (place, suite) in (0..).zip(&overview.suites) {
            for pair in &suite.pairs {
                sides.want_failures(place, pair);
                let wanted = wanted_items(pair);
                for (number, arm) in pair.arms.iter().enumerate().filter(|_| !wanted.is_empty()) {
                    let of_arm = sides.arms.entry((place, arm.arm.clone())).or_default();
                    for (item, is_first) in &wanted {
                        of_arm.entry((*item).clone()).or_insert(WantedOutcome {
                            passed: *is_first == (number == 0),
                            found: None,
                        });
                    }
                    sides.runs.extend(
                        arm.run_ids
                            .iter()
                            .map(|run| (run.clone(), (place, arm.arm.clone()))),
                    );
                }
            }
        }
        sides
    }

    fn want_failures(&mut self, suite: usize, pair: &Comparison) {
        let Some(differing) = &pair.differing else {
            return;
        };
        let own = self
            .failures
            .entry(suite)
            .or_insert_with(|| GatheredFailures {
                arms: BTreeMap::new(),
                runs: BTreeMap::new(),
                of: SuiteFailures::new(&differing.names),
            });
        own.of.want(differing);
        for arm in &pair.arms {
            let next = own.arms.len();
            let number = *own.arms.entry(arm.arm.clone()).or_insert(next);
            own.runs
                .extend(arm.run_ids.iter().map(|run| (run.clone(), number)));
        }
    }

    /// Takes the wanted items of a run. They are passed in, because the run's page does not have them.
    pub fn add_run(
        &mut self,
        page: &Redacted<RunPage>,
        items: &Redacted<Vec<ItemPage>>,
        transcripts: &RunTranscripts,
    ) {
        for own in self.failures.values_mut() {
            own.add_run(page, items);
        }
        let Some(wanted) = self
            .runs
            .get(&page.line.id)
            .and_then(|key| self.arms.get_mut(key))
        else {
            return;
        };
        for row in items
            .iter()
            .flat_map(|page| &page.rows)
            .chain(&page.criteria)
        {
            let Some(kind) = ItemKind::from_name(&row.kind) else {
                continue;
            };
            let key = ListedItem {
                kind,
                item: row.item.clone(),
                evaluator: row.evaluator.clone(),
            };
            let Some(wanted) = wanted.get_mut(&key) else {
                continue;
            };
            let Some(status) =
                ItemStatus::from_name(&row.status).filter(|status| status.is_counted())
            else {
                continue;
            };
            let is_better = wanted
                .found
                .as_ref()
                .is_none_or(|(side, _)| !side.has_words());
            if is_better && (status == ItemStatus::Pass) == wanted.passed {
                let side = Side::from_row(page, row, transcripts);
                if wanted.found.is_none() || side.has_words() {
                    wanted.found = Some((side, row.expected.clone()));
                }
            }
        }
    }

    /// Gives each pair its gathered items, and its criteria from the suite's tables.
    pub fn fill_pairs(&self, overview: &mut Overview) {
        for (place, suite) in (0..).zip(&mut overview.suites) {
            for pair in &mut suite.pairs {
                let [first, second] = pair.arms.as_slice() else {
                    continue;
                };
                pair.criteria = criterion_flips_between(&suite.criteria, &first.arm, &second.arm);
                pair.sides = self.differing_answers(place, pair);
                pair.why = self.failures.get(&place).and_then(|own| own.cohorts(pair));
            }
        }
    }

    fn differing_answers(&self, suite: usize, pair: &Comparison) -> Vec<SideBySide> {
        let found = |arm: usize, item: &ListedItem| {
            self.arms
                .get(&(suite, pair.arms[arm].arm.clone()))?
                .get(item)?
                .found
                .clone()
        };
        let side_by_side = |(item, _): (&ListedItem, bool)| {
            let ((first, expected), (second, _)) = found(0, item).zip(found(1, item))?;
            (first.has_words() || second.has_words()).then(|| SideBySide {
                item: item.clone(),
                expected,
                first,
                second,
            })
        };
        wanted_items(pair)
            .into_iter()
            .filter_map(side_by_side)
            .collect()
    }
}

impl GatheredFailures {
    fn add_run(&mut self, page: &Redacted<RunPage>, items: &Redacted<Vec<ItemPage>>) {
        let Some(arm) = self.runs.get(&page.line.id) else {
            return;
        };
        for row in items
            .iter()
            .flat_map(|page| &page.rows)
            .chain(&page.criteria)
        {
            let Some((kind, status)) =
                ItemKind::from_name(&row.kind).zip(ItemStatus::from_name(&row.status))
            else {
                continue;
            };
            self.of.add_attempt(
                *arm,
                RecordedAttempt {
                    kind,
                    item: &row.item,
                    evaluator: &row.evaluator,
                    status,
                    reason: row.reason.as_deref(),
                    category: row.category.as_deref(),
                    tools: &row.tools,
                },
            );
        }
    }

    fn cohorts(&self, pair: &Comparison) -> Option<FailureCohorts> {
        let [first, second] = pair.arms.as_slice() else {
            return None;
        };
        let number = |arm: &Arm| self.arms.get(arm).copied();
        let arms = (number(&first.arm)?, Some(number(&second.arm)?));
        FailureCohorts::new(pair.differing.as_ref()?, &self.of, arms)
    }
}

/// Returns items that only one arm passed, equally many of either arm if there are enough, each with whether the first arm passed.
fn wanted_items(pair: &Comparison) -> Vec<(&ListedItem, bool)> {
    let Some(listed) = pair.flips.as_ref().and_then(|flips| flips.listed.as_ref()) else {
        return Vec::new();
    };
    let (first, second) = (&listed.only_first, &listed.only_second);
    let half = MAX_SIDES / 2;
    let of_first = first.len().min(MAX_SIDES - second.len().min(half));
    let of_second = second.len().min(MAX_SIDES - of_first);
    first
        .iter()
        .take(of_first)
        .map(|item| (item, true))
        .chain(second.iter().take(of_second).map(|item| (item, false)))
        .collect()
}
