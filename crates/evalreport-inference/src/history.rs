//! A suite over days: change points, comparisons that stay valid however often one looks, and flaky items.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, Utc};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Filter, ItemKey, ItemKind, ItemStatus, latest_of_each};
use crate::stats::{
    Buy, ChangeRule, CourseKind, Interval, NightOutcomes, bernoulli_confidence_sequence,
    change_points_of_shares, change_tests, mcnemar_e_value, noise_of_neighbours, probability_flaky,
    summarise_sample, variance_split,
};
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

use super::accepted::{AcceptedRegression, is_acceptance_of};
use super::arm::{Arm, BatchSelection, SuiteGroup};
use super::change_cause::{ChangeCause, ItemShift};
use super::estimate::{Estimate, pass_rate, run_counts};
use super::exclusions::exclude_items;
use super::figures::{run_cost, run_duration, summarise_sets};
use super::grouping::suite_groups;
use super::item_course::{CoursePoint, ItemCourse, started_together};
use super::metrics::suite_design;
use super::night_key::Nights;
use super::policy::{Design, EQUAL_SHARE_TOLERANCE, Policy};
use super::sample::{ArmOutcomes, ArmRates, SuiteItems, is_column_marked, label_columns};
use super::texts::{ArmTexts, FirstTexts};

/// One arm on one day.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Night {
    /// The date, in UTC; of a commit, that of its first run.
    pub date: NaiveDate,
    /// The commit, in a history by commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<Estimate>,
    /// Mean over the day's runs that report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    /// Changes of suite, texts or judge since the previous day. Nothing is compared across a break.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Break>,
}

/// What else can change from one day to the next, beside the arm itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Break {
    /// The version of the suite.
    Suite,
    /// The text of an item.
    Texts,
    Judge,
}

/// The figure that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    PassRate,
    Cost,
    Duration,
}

/// A change point of an arm. Over all series of the suite, the chance of any false change point is at most `alpha`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LevelChange {
    pub series: Series,
    /// The first day of the new level.
    pub date: NaiveDate,
    /// The first commit of the new level, in a history by commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Mean over the days before; then over the days after, in the series' unit.
    pub before: f64,
    pub after: f64,
    pub nights_before: u64,
    pub nights_after: u64,
    /// p-value of the largest difference among all splits that were tried.
    pub p: f64,
    /// `p` times the number of series of the suite that could show a change (Bonferroni). At most the history's `alpha`.
    pub p_adjusted: f64,
    /// What explains a change of the pass rate. Absent without outcomes of items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<ChangeCause>,
    /// The items on both sides of a change of the pass rate.
    #[serde(skip)]
    pub shifts: Vec<ItemShift>,
}

/// An item that changed between passing and failing, and whose outcomes did not change back.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ItemChange {
    pub item: String,
    #[serde(flatten)]
    pub course: ItemCourse,
}

/// An item that passes and fails within a night, or more often in turn than one change explains.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NoisyItem {
    pub item: String,
    pub passed: u64,
    pub counted: u64,
    /// The probability that its pass rate is neither near 0 nor near 1.
    pub flaky: f64,
    /// Its share of the variance that flaky items make in the arm's rate between runs.
    pub noise: f64,
}

/// How to make the mean over items more precise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Precision {
    pub items: u64,
    /// Outcomes of each item that the split of the variance uses.
    pub runs: u64,
    /// Variance between items; then within an item, between runs.
    pub between: f64,
    pub within: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icc: Option<f64>,
    /// What to add: `items` or `runs`.
    pub buy: &'static str,
    /// Runs of each item beyond which more runs add little precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enough_runs: Option<f64>,
}

/// One arm over days.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmHistory {
    #[serde(flatten)]
    pub arm: Arm,
    /// What was evaluated, if all of it is of one kind.
    #[serde(skip)]
    pub items: Option<ItemKind>,
    pub nights: Vec<Night>,
    pub changes: Vec<LevelChange>,
    /// Regressions that somebody accepted, in order of acceptance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedRegression>,
    /// Items whose outcomes differ since the last break. The lists of flaky items have the first of them.
    pub varying: u64,
    /// Items that broke or were repaired since the last break, or may have, which is told apart from flaky items by the order of outcomes.
    pub changed_count: u64,
    /// All of them: broken before repaired ones, newest first.
    pub changed_items: Vec<ItemChange>,
    /// Items that are flaky since the last break, most certain first.
    pub flaky: Vec<NoisyItem>,
    /// The flaky items with the largest share of the variance since the last break.
    pub noisiest: Vec<NoisyItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
}

/// Two arms on the days on which both ran. Valid however often one looks, if days are independent of their neighbours.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NightlyDuel {
    /// Indices into the arms.
    pub first: usize,
    pub second: usize,
    /// Days on which each arm had the better rate on the items that both have with the same text. Ties do not count.
    pub won: u64,
    pub lost: u64,
    pub same: u64,
    /// Evidence against "neither is better": 20 is as strong as p = 0.05, but may be checked every day.
    pub e_value: f64,
    /// The probability that the first arm is better on a day without a tie. The interval holds on all days at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The better arm, if the evidence suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<usize>,
}

/// One suite over days.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct History {
    pub suite: String,
    pub arms: Vec<ArmHistory>,
    pub duels: Vec<NightlyDuel>,
    /// Runs of unknown time, which belong to no day.
    pub undated: u64,
    /// How the points of a history by commit are ordered. Absent if the points are days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<CommitOrder>,
    /// Ids of runs without a commit, which a history by commit does not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_commit: Vec<String>,
    /// Days on which an arm has runs of several commits, which a history by day shows as one point. Ascending.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days_of_several_commits: Vec<NaiveDate>,
    pub alpha: f64,
}

/// How commits are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum CommitOrder {
    /// As in the repository: parents before children.
    Graph,
    /// By the time of their first run, because the repository does not have `unknown` of the commits.
    Time { commits: u64, unknown: u64 },
}

/// The points of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryPoints {
    Days,
    /// By revision as recorded, the commit's place.
    Commits {
        order: CommitOrder,
        places: BTreeMap<String, usize>,
    },
}

impl HistoryPoints {
    /// Returns the place of a run's point. `Err` says what the run lacks.
    fn locate_point(&self, row: &RunRow) -> Result<(NaiveDate, usize), PointLack> {
        let date = row.run.timestamp.map(|time| time.date_naive());
        match self {
            Self::Days => date.map(|date| (date, 0)).ok_or(PointLack::Time),
            Self::Commits { places, .. } => {
                let place = row
                    .run
                    .git
                    .as_ref()
                    .and_then(|git| places.get(&git.rev))
                    .ok_or(PointLack::Commit)?;
                date.map(|_| (NaiveDate::MIN, *place))
                    .ok_or(PointLack::Time)
            }
        }
    }
}

/// What a run lacks to be a point.
enum PointLack {
    Time,
    Commit,
}

impl History {
    /// Lists the broken and repaired items of all arms, with the arm's index: broken before repaired ones, newest first.
    pub fn changed_items(&self) -> Vec<(usize, &ItemChange)> {
        self.changed_where(|_| true)
    }

    /// Lists the changes of one item, as [`Self::changed_items`] does.
    pub fn changes_of_arm(&self, item: &str) -> Vec<(usize, &ItemChange)> {
        self.changed_where(|change| change.item == item)
    }

    fn changed_where(&self, is_asked: impl Fn(&ItemChange) -> bool) -> Vec<(usize, &ItemChange)> {
        let all = self
            .arms
            .iter()
            .enumerate()
            .flat_map(|(place, arm)| arm.changed_items.iter().map(move |item| (place, item)));
        let mut items: Vec<(usize, &ItemChange)> = all.filter(|(_, item)| is_asked(item)).collect();
        items.sort_by(|(_, one), (_, other)| {
            one.course
                .kind
                .cmp(&other.course.kind)
                .then(other.course.since.cmp(&one.course.since))
        });
        items
    }

    /// Lists the flaky and the noisiest items of all arms, with the arm's index: flakiest first, equal ones in the order of arms.
    pub fn noisy_items(&self) -> Vec<(usize, &NoisyItem)> {
        let all = self
            .arms
            .iter()
            .enumerate()
            .flat_map(|(place, arm)| arm.noisy_items().map(move |item| (place, item)));
        let mut items: Vec<(usize, &NoisyItem)> = all.collect();
        items.sort_by(|(_, one), (_, other)| other.flaky.total_cmp(&one.flaky));
        items
    }
}

impl History {
    /// Says what explains each change of a pass rate. `category_of` returns an item's category.
    pub fn explain_changes<'c>(&mut self, category_of: impl Fn(&ItemShift) -> Option<&'c str>) {
        for change in self.arms.iter_mut().flat_map(|arm| &mut arm.changes) {
            change.cause = ChangeCause::find(&change.shifts, &category_of);
        }
    }
}

impl ArmHistory {
    /// Returns the newest change point of the pass rate.
    pub fn newest_rate_change(&self) -> Option<&LevelChange> {
        self.changes
            .iter()
            .rfind(|change| change.series == Series::PassRate)
    }

    /// Returns the flaky items, then those of the noisiest that are not among them.
    fn noisy_items(&self) -> impl Iterator<Item = &NoisyItem> {
        let is_new = |item: &&NoisyItem| self.flaky.iter().all(|flaky| flaky.item != item.item);
        self.flaky.iter().chain(self.noisiest.iter().filter(is_new))
    }
}

/// Flaky items are ordered by the probability that their pass rate is at least this far from 0 and from 1.
const FLAKY_MARGIN: f64 = 0.05;
/// Maximum number of listed items.
const MAX_LISTED_ITEMS: usize = 10;

/// Builds the histories of the selected suites, by day or by commit.
pub fn suite_histories(
    warehouse: &Warehouse,
    filter: &Filter,
    policy: &Policy,
    points: &HistoryPoints,
) -> Vec<History> {
    let mut by_suite = BTreeMap::<String, Vec<SuiteGroup<'_>>>::new();
    for group in suite_groups(warehouse, filter, BatchSelection::AllBatches) {
        by_suite.entry(group.suite.clone()).or_default().push(group);
    }
    let suites: Vec<(String, Vec<SuiteGroup<'_>>)> = by_suite.into_iter().collect();
    suites
        .par_iter()
        .map(|(suite, groups)| suite_history_of(warehouse, suite, groups, policy, points))
        .collect()
}

/// Says what explains the changes of pass rates, by the categories that the newest runs of a suite record.
///
/// # Errors
///
/// Fails if outcomes cannot be read.
pub fn explain_histories(
    warehouse: &Warehouse,
    filter: &Filter,
    histories: &mut [History],
) -> std::io::Result<()> {
    for history in histories {
        let changes = history.arms.iter().flat_map(|arm| &arm.changes);
        if changes.clone().all(|change| change.shifts.is_empty()) {
            continue;
        }
        let mut newest = BTreeMap::<Arm, &RunRow>::new();
        for row in warehouse.select_runs(filter) {
            let is_asked = row.run.suite == history.suite && row.items.is_some();
            let known = |arm: &Arm| newest.get(arm).and_then(|known| known.run.timestamp);
            let arm = Arm::from_run(&row.run);
            if is_asked && row.run.timestamp >= known(&arm) {
                newest.insert(arm, row);
            }
        }
        let runs: Vec<_> = newest.values().map(|row| row.run.clone()).collect();
        let categories = warehouse.item_categories(&runs)?;
        history.explain_changes(|shift| {
            let key = (shift.kind.to_owned(), shift.item.clone());
            categories.get(&key).map(String::as_str)
        });
    }
    Ok(())
}

/// The runs of one arm on one day or of one commit, the index of their suite version, and their outcomes and texts.
struct NightArmRuns<'a> {
    rows: Vec<&'a RunRow>,
    point: (NaiveDate, usize),
    version: usize,
    /// Outcomes of the runs that have any.
    outcomes: Option<ArmOutcomes>,
    texts: ArmTexts,
}

/// The nights of a suite, arm by arm.
struct SuiteNights<'a, 'g> {
    groups: &'g [SuiteGroup<'a>],
    matrices: Vec<OutcomeMatrix>,
    items: Vec<SuiteItems>,
    units: Vec<Design>,
    arms: Vec<(Arm, Vec<(NaiveDate, NightArmRuns<'a>)>)>,
    undated: u64,
    without_commit: Vec<String>,
    by_commit: bool,
    night_keys: Nights<'a>,
}

impl<'a, 'g> SuiteNights<'a, 'g> {
    fn from_groups(
        warehouse: &Warehouse,
        suite: &str,
        groups: &'g [SuiteGroup<'a>],
        policy: &Policy,
        points: &HistoryPoints,
    ) -> Self {
        let matrices: Vec<OutcomeMatrix> = groups
            .iter()
            .map(|group| {
                exclude_items(group.outcome_matrix(warehouse), group, &policy.exclusions).0
            })
            .collect();
        let items: Vec<SuiteItems> = groups
            .iter()
            .zip(&matrices)
            .map(|(group, matrix)| SuiteItems::from_group(group, matrix))
            .collect();
        let units: Vec<Design> = items
            .iter()
            .map(|items| suite_design(suite, items, policy))
            .collect();
        let mut by_arm =
            BTreeMap::<Arm, BTreeMap<((NaiveDate, usize), usize), NightArmRuns<'a>>>::new();
        let (mut undated, mut without_commit) = (0, Vec::new());
        for (version, group) in groups.iter().enumerate() {
            for (arm, row) in group
                .arms
                .iter()
                .flat_map(|arm| arm.counted.iter().map(move |row| (&arm.arm, *row)))
            {
                let point = match points.locate_point(row) {
                    Ok(point) => point,
                    Err(PointLack::Time) => {
                        undated += 1;
                        continue;
                    }
                    Err(PointLack::Commit) => {
                        without_commit.push(row.run.id.to_string());
                        continue;
                    }
                };
                let nights = by_arm.entry(arm.clone()).or_default();
                nights
                    .entry((point, version))
                    .or_insert_with(|| NightArmRuns {
                        rows: Vec::new(),
                        point,
                        version,
                        outcomes: None,
                        texts: ArmTexts::Unknown,
                    })
                    .rows
                    .push(row);
            }
        }
        let mut arms: Vec<(Arm, Vec<(NaiveDate, NightArmRuns<'a>)>)> = by_arm
            .into_iter()
            .map(|(arm, nights)| {
                let mut nights: Vec<(NaiveDate, NightArmRuns<'a>)> = nights
                    .into_values()
                    .filter_map(|runs| Some((first_time(&runs)?.date_naive(), runs)))
                    .collect();
                nights.sort_by_key(|(_, runs)| (runs.point, first_time(runs)));
                for (_, runs) in &mut nights {
                    let matrix = &matrices[runs.version];
                    let with: Vec<&RunRow> = runs
                        .rows
                        .iter()
                        .copied()
                        .filter(|row| !matrix.rows_of_run(&row.run.id).is_empty())
                        .collect();
                    runs.outcomes = ArmOutcomes::from_runs(&with, matrix, &items[runs.version])
                        .filter(|outcomes| outcomes.counted > 0);
                }
                (arm, nights)
            })
            .collect();
        for (version, group) in groups.iter().enumerate() {
            let mut nights: Vec<&mut NightArmRuns<'_>> = arms
                .iter_mut()
                .flat_map(|(_, nights)| nights.iter_mut().map(|(_, runs)| runs))
                .filter(|runs| runs.version == version)
                .collect();
            let runs: Vec<&[&RunRow]> = nights.iter().map(|runs| runs.rows.as_slice()).collect();
            let texts = ArmTexts::from_runs(
                warehouse,
                &runs,
                group.suite_version.is_some(),
                &matrices[version],
            );
            nights
                .iter_mut()
                .zip(texts)
                .for_each(|(runs, texts)| runs.texts = texts);
        }
        without_commit.sort();
        let rows = arms.iter().flat_map(|(_, nights)| nights);
        let night_keys = Nights::new(warehouse, rows.flat_map(|(_, runs)| &runs.rows).copied());
        let by_commit = *points != HistoryPoints::Days;
        Self {
            groups,
            matrices,
            items,
            units,
            arms,
            undated,
            without_commit,
            by_commit,
            night_keys,
        }
    }

    /// Returns what pages show of each night, arm by arm.
    fn night_views(&self) -> Vec<Vec<Night>> {
        let mut spent = spent_per_run(&self.arms).into_iter();
        self.arms
            .iter()
            .map(|(_, nights)| self.arm_nights(nights, spent.by_ref().take(nights.len())))
            .collect()
    }

    fn arm_nights(
        &self,
        nights: &[(NaiveDate, NightArmRuns<'_>)],
        spent: impl Iterator<Item = NightSpending>,
    ) -> Vec<Night> {
        let mut shown: Vec<Night> = Vec::with_capacity(nights.len());
        let mut judges: Option<BTreeSet<String>> = None;
        let mut asked = FirstTexts::default();
        for ((date, runs), [cost_usd, duration_seconds]) in nights.iter().zip(spent) {
            let matrix = &self.matrices[runs.version];
            let version = &self.groups[runs.version].suite_version;
            let own_judges: BTreeSet<String> =
                runs.rows.iter().flat_map(|row| judges_of(row)).collect();
            let mut breaks = Vec::new();
            if shown
                .last()
                .is_some_and(|last| last.suite_version != *version)
            {
                breaks.push(Break::Suite);
                asked = FirstTexts::default();
            }
            let mut is_other = false;
            asked.visit_changed_texts(&runs.texts, |_| is_other = true);
            if is_other {
                breaks.push(Break::Texts);
                asked = FirstTexts::from_texts(&runs.texts);
            }
            if judges.as_ref().is_some_and(|judges| *judges != own_judges) {
                breaks.push(Break::Judge);
            }
            judges = Some(own_judges);
            shown.push(Night {
                date: *date,
                commit: self.recorded_commit(runs),
                runs: runs.rows.len() as u64,
                pass_rate: pass_rate(
                    &runs.rows,
                    &ArmRates::from_runs(&runs.rows, matrix, &self.items[runs.version]),
                    &self.items[runs.version],
                    self.units[runs.version],
                ),
                cost_usd,
                duration_seconds,
                suite_version: version.clone(),
                breaks,
            });
        }
        shown
    }

    /// Returns the noise of each night's pass rate by the chance of its items, arm by arm: from the items that it shares with the arm's night
    /// before.
    fn night_noise(&self) -> Vec<Vec<Option<f64>>> {
        let of_arm = |(_, nights): &(Arm, Vec<(NaiveDate, NightArmRuns<'a>)>)| {
            let noise = |last: Option<&NightArmRuns<'_>>, runs: &NightArmRuns<'_>| -> Option<f64> {
                let last = last.filter(|last| last.version == runs.version)?;
                let (before, own) = (last.outcomes.as_ref()?, runs.outcomes.as_ref()?);
                let shared = self.items[runs.version]
                    .paired_means(|item| before.item_mean(item), |item| own.item_mean(item));
                noise_of_neighbours(shared.into_iter().map(|(_, one, other)| (one, other)))
            };
            let mut last: Option<&NightArmRuns<'_>> = None;
            let mut found = Vec::with_capacity(nights.len());
            for (_, runs) in nights {
                found.push(noise(last, runs));
                if runs.outcomes.is_some() {
                    last = Some(runs);
                }
            }
            found
        };
        self.arms.iter().map(of_arm).collect()
    }

    /// Returns the items of an arm on both sides of a change: on the nights since the change before it, and until the next one.
    fn item_shifts(&self, arm: usize, [from, at, to]: [usize; 3]) -> Vec<ItemShift> {
        let (_, nights) = &self.arms[arm];
        let mut found = BTreeMap::<&ItemKey, ItemShift>::new();
        for (place, (_, runs)) in nights.iter().enumerate().take(to).skip(from) {
            let Some(outcomes) = &runs.outcomes else {
                continue;
            };
            let (matrix, items) = (&self.matrices[runs.version], &self.items[runs.version]);
            items.for_each_item(|_, columns| {
                let (passed, counted) = outcomes.attempts_of_item(columns);
                if counted == 0 {
                    return;
                }
                let key = &matrix.items[columns[0] as usize].key;
                let shift = found.entry(key).or_insert_with(|| ItemShift {
                    item: key.item.clone(),
                    kind: key.kind.name(),
                    before: (0, 0),
                    since: (0, 0),
                });
                let side = if place < at {
                    &mut shift.before
                } else {
                    &mut shift.since
                };
                *side = (side.0 + u64::from(passed), side.1 + u64::from(counted));
            });
        }
        found.into_values().collect()
    }

    /// Adds to the changes of an arm's pass rate how its items moved.
    fn add_shifts(&self, arm: usize, shown: &[Night], changes: &mut [LevelChange]) {
        let place = |date: NaiveDate, commit: &Option<String>| {
            shown
                .iter()
                .position(|night| night.date == date && night.commit == *commit)
        };
        let at: Vec<(usize, usize)> = changes
            .iter()
            .enumerate()
            .filter(|(_, change)| change.series == Series::PassRate)
            .filter_map(|(number, change)| Some((number, place(change.date, &change.commit)?)))
            .collect();
        for (turn, (number, here)) in at.iter().enumerate() {
            let is_break = |night: &Night| !night.breaks.is_empty();
            let cut = shown[..=*here].iter().rposition(is_break).unwrap_or(0);
            let end = shown[here + 1..]
                .iter()
                .position(is_break)
                .map_or(shown.len(), |next| here + 1 + next);
            let from = turn.checked_sub(1).map_or(cut, |last| at[last].1.max(cut));
            let to = at.get(turn + 1).map_or(end, |next| next.1.min(end));
            changes[*number].shifts = self.item_shifts(arm, [from, *here, to]);
        }
    }

    /// Returns the commit of the runs, as recorded.
    fn recorded_commit(&self, runs: &NightArmRuns<'_>) -> Option<String> {
        runs.rows
            .iter()
            .find_map(|row| row.run.git.as_ref())
            .filter(|_| self.by_commit)
            .map(|git| git.rev.clone())
    }

    /// Returns the days whose point has runs of several commits.
    fn days_of_several_commits(&self) -> Vec<NaiveDate> {
        let has_several = |runs: &NightArmRuns<'_>| {
            let revisions = runs.rows.iter().filter_map(|row| row.run.git.as_ref());
            let revisions: BTreeSet<&str> = revisions.map(|git| git.rev.as_str()).collect();
            !self.by_commit && revisions.len() > 1
        };
        let nights = self.arms.iter().flat_map(|(_, nights)| nights);
        let days: BTreeSet<NaiveDate> = nights
            .filter(|(_, runs)| has_several(runs))
            .map(|(date, _)| *date)
            .collect();
        days.into_iter().collect()
    }

    /// Finds the items whose outcomes differ, and tells changes from flakiness.
    fn varying_items(&self, nights: &[(NaiveDate, NightArmRuns<'_>)]) -> VaryingItems {
        let mut outcomes = BTreeMap::<&ItemKey, Vec<(CoursePoint, NightOutcomes)>>::new();
        for (date, runs) in nights {
            let (matrix, items) = (&self.matrices[runs.version], &self.items[runs.version]);
            // All runs of a commit are of one program, whenever they ran.
            let together = if self.by_commit {
                vec![(Some(*date), runs.rows.clone())]
            } else {
                started_together(&runs.rows, &self.night_keys)
            };
            let commit = self.recorded_commit(runs);
            for (date, rows) in together {
                let Some(found) = ArmOutcomes::from_runs(&rows, matrix, items) else {
                    continue;
                };
                items.for_each_item(|_, columns| {
                    let (passed, counted) = found.attempts_of_item(columns);
                    if counted > 0 {
                        let own = outcomes
                            .entry(&matrix.items[columns[0] as usize].key)
                            .or_default();
                        own.push((
                            CoursePoint {
                                date,
                                commit: commit.clone(),
                            },
                            (u64::from(passed), u64::from(counted)),
                        ));
                    }
                });
            }
        }
        let (mut changed, mut flaky) = (Vec::<ItemChange>::new(), Vec::<(NoisyItem, f64)>::new());
        for (key, nights) in &outcomes {
            let Some(course) = ItemCourse::from_nights(nights) else {
                continue;
            };
            match course.kind {
                CourseKind::Steady => {}
                CourseKind::Flaky => flaky.extend(noisy_item(&key.item, &course)),
                _ => changed.push(ItemChange {
                    item: key.item.clone(),
                    course,
                }),
            }
        }
        let total: f64 = flaky.iter().map(|(_, variance)| variance).sum();
        let flaky: Vec<NoisyItem> = flaky
            .into_iter()
            .map(|(item, variance)| NoisyItem {
                noise: variance / total,
                ..item
            })
            .collect();
        let top = |mut items: Vec<NoisyItem>, key: fn(&NoisyItem) -> f64| {
            items.sort_by(|left, right| {
                key(right)
                    .total_cmp(&key(left))
                    .then_with(|| left.item.cmp(&right.item))
            });
            items.truncate(MAX_LISTED_ITEMS);
            items
        };
        let changed_count = changed.len() as u64;
        changed.sort_by(|left, right| {
            let by_kind = left
                .course
                .kind
                .cmp(&right.course.kind)
                .then(right.course.since.cmp(&left.course.since));
            by_kind.then_with(|| left.item.cmp(&right.item))
        });
        VaryingItems {
            all: changed_count + flaky.len() as u64,
            changed_count,
            changed_items: changed,
            flaky: top(flaky.clone(), |item| item.flaky),
            noisiest: top(flaky, |item| item.noise),
        }
    }

    fn arm_history(&self, arm: usize, shown: Vec<Night>, changes: Vec<LevelChange>) -> ArmHistory {
        let (arm, nights) = &self.arms[arm];
        let since = shown
            .iter()
            .rposition(|night| !night.breaks.is_empty())
            .unwrap_or(0);
        let VaryingItems {
            all: varying,
            changed_count,
            changed_items,
            flaky,
            noisiest,
        } = self.varying_items(&nights[since..]);
        let precision = precision_of_mean(&outcomes_by_item(&nights[since..], &self.matrices));
        ArmHistory {
            arm: arm.clone(),
            items: self.items.last().and_then(|items| items.kind),
            nights: shown,
            changes,
            accepted: Vec::new(),
            varying,
            changed_count,
            changed_items,
            flaky,
            noisiest,
            precision,
        }
    }
}

/// Builds the history of a suite from its groups.
pub(super) fn suite_history_of(
    warehouse: &Warehouse,
    suite: &str,
    groups: &[SuiteGroup<'_>],
    policy: &Policy,
    points: &HistoryPoints,
) -> History {
    let found = SuiteNights::from_groups(warehouse, suite, groups, policy, points);
    let shown = found.night_views();
    let mut changes = find_changes(&shown, &found.night_noise(), policy.alpha);
    for (arm, (shown, changes)) in shown.iter().zip(&mut changes).enumerate() {
        found.add_shifts(arm, shown, changes);
    }
    let accepted = |arm: &Arm| -> Vec<AcceptedRegression> {
        warehouse
            .acceptances()
            .iter()
            .filter(|one| is_acceptance_of(one, warehouse, suite, arm))
            .map(AcceptedRegression::from_acceptance)
            .collect()
    };
    let arms = shown
        .into_iter()
        .zip(changes)
        .enumerate()
        .map(|(arm, (shown, changes))| {
            let own = found.arm_history(arm, shown, changes);
            ArmHistory {
                accepted: accepted(&own.arm),
                ..own
            }
        });
    let arms = arms.collect();
    let duels = nightly_duels(&found.arms, &found.matrices, policy.alpha);
    let commits = match points {
        HistoryPoints::Days => None,
        HistoryPoints::Commits { order, .. } => Some(*order),
    };
    let days_of_several_commits = found.days_of_several_commits();
    let SuiteNights {
        undated,
        without_commit,
        ..
    } = found;
    History {
        suite: suite.to_owned(),
        duels,
        arms,
        undated,
        commits,
        without_commit,
        days_of_several_commits,
        alpha: policy.alpha,
    }
}

/// Returns the change points of each arm of a suite, as its history has them.
pub(super) fn level_changes(
    warehouse: &Warehouse,
    suite: &str,
    groups: &[SuiteGroup<'_>],
    policy: &Policy,
) -> Vec<(Arm, Vec<LevelChange>)> {
    let found = SuiteNights::from_groups(warehouse, suite, groups, policy, &HistoryPoints::Days);
    let changes = find_changes(&found.night_views(), &found.night_noise(), policy.alpha);
    found
        .arms
        .into_iter()
        .map(|(arm, _)| arm)
        .zip(changes)
        .collect()
}

fn first_time(runs: &NightArmRuns<'_>) -> Option<DateTime<Utc>> {
    runs.rows.iter().filter_map(|row| row.run.timestamp).min()
}

/// Mean cost and mean duration of the runs of a night.
type NightSpending = [Option<f64>; 2];

/// Returns what the runs of each night cost and took, arm by arm.
fn spent_per_run(arms: &[(Arm, Vec<(NaiveDate, NightArmRuns<'_>)>)]) -> Vec<NightSpending> {
    let values = |runs: &NightArmRuns<'_>, value: fn(&RunRow) -> Option<f64>| -> Vec<f64> {
        runs.rows.iter().filter_map(|row| value(row)).collect()
    };
    let nights = arms.iter().flat_map(|(_, nights)| nights);
    let sets: Vec<Vec<f64>> = nights
        .flat_map(|(_, runs)| [values(runs, run_cost), values(runs, run_duration)])
        .collect();
    let means: Vec<Option<f64>> = summarise_sets(sets.iter().map(Vec::as_slice))
        .into_iter()
        .map(|found| found.map(|found| found.mean))
        .collect();
    means.chunks(2).map(|means| [means[0], means[1]]).collect()
}

/// Returns the judges of a run, because another judge is another measure. Of a metric that was judged again, only the current judge counts.
fn judges_of(row: &RunRow) -> impl Iterator<Item = String> {
    latest_of_each(
        &row.run.scores,
        |score| &score.metric,
        |score| score.revision,
    )
    .into_iter()
    .filter_map(|score| score.evaluator.clone())
}

/// The values of a series, and the days that have one. A break between two days cuts the series there.
struct NightSeries {
    series: Series,
    values: Vec<f64>,
    /// Indices into the days.
    places: Vec<usize>,
    /// Indices into the values.
    breaks: Vec<usize>,
    /// By value: its variance by the chance of items. Empty if nobody knows it of the series.
    noise: Vec<Option<f64>>,
}

impl NightSeries {
    fn all_series(nights: &[Night], noise: &[Option<f64>]) -> [Self; 3] {
        let rates = Self::from_nights(Series::PassRate, nights, |night| {
            night.pass_rate.as_ref().map(|rate| rate.value)
        });
        let noise = rates.places.iter().map(|place| noise[*place]).collect();
        [
            Self { noise, ..rates },
            Self::from_nights(Series::Cost, nights, |night| night.cost_usd),
            Self::from_nights(Series::Duration, nights, |night| night.duration_seconds),
        ]
    }

    fn from_nights(
        series: Series,
        nights: &[Night],
        value: impl Fn(&Night) -> Option<f64>,
    ) -> Self {
        let mut measured = Self {
            series,
            values: Vec::new(),
            places: Vec::new(),
            breaks: Vec::new(),
            noise: Vec::new(),
        };
        let mut is_cut = false;
        for (place, night) in nights.iter().enumerate() {
            is_cut |= !night.breaks.is_empty();
            if let Some(value) = value(night) {
                if is_cut && !measured.values.is_empty() {
                    measured.breaks.push(measured.values.len());
                }
                is_cut = false;
                measured.values.push(value);
                measured.places.push(place);
            }
        }
        measured
    }

    fn level_changes(&self, nights: &[Night], rule: ChangeRule) -> Vec<LevelChange> {
        let found = change_points_of_shares(&self.values, &self.noise, &self.breaks, rule)
            .unwrap_or_default();
        let change = |point: crate::stats::ChangePoint| LevelChange {
            series: self.series,
            date: nights[self.places[point.at]].date,
            commit: nights[self.places[point.at]].commit.clone(),
            before: point.before,
            after: point.after,
            nights_before: point.nights_before as u64,
            nights_after: point.nights_after as u64,
            p: point.p,
            p_adjusted: point.p_adjusted,
            cause: None,
            shifts: Vec::new(),
        };
        found.into_iter().map(change).collect()
    }
}

/// Finds the change points of all series of a suite, which are tested as one family.
fn find_changes(
    arms: &[Vec<Night>],
    noise: &[Vec<Option<f64>>],
    alpha: f64,
) -> Vec<Vec<LevelChange>> {
    let rule = ChangeRule {
        alpha,
        ..ChangeRule::default()
    };
    let measured: Vec<[NightSeries; 3]> = arms
        .iter()
        .zip(noise)
        .map(|(nights, noise)| NightSeries::all_series(nights, noise))
        .collect();
    let tests: usize = measured
        .iter()
        .flatten()
        .map(|measured| change_tests(&measured.values, &measured.breaks, rule))
        .sum();
    let rule = ChangeRule {
        tests: tests.max(1),
        ..rule
    };
    let of_arm = |(nights, measured): (&Vec<Night>, &[NightSeries; 3])| -> Vec<LevelChange> {
        measured
            .iter()
            .flat_map(|measured| measured.level_changes(nights, rule))
            .collect()
    };
    arms.par_iter().zip(&measured).map(of_arm).collect()
}

/// Returns by item whether it passed, outcome by outcome, in the order of the days.
fn outcomes_by_item(
    nights: &[(NaiveDate, NightArmRuns<'_>)],
    matrices: &[OutcomeMatrix],
) -> BTreeMap<String, Vec<bool>> {
    let mut outcomes = BTreeMap::<String, Vec<bool>>::new();
    for (_, runs) in nights {
        let matrix = &matrices[runs.version];
        let labels = label_columns(matrix);
        let is_outcome = |item: u32, status: ItemStatus| {
            status.is_counted() && !is_column_marked(&labels, item as usize)
        };
        for row in runs
            .rows
            .iter()
            .flat_map(|row| matrix.rows_of_run(&row.run.id))
        {
            for (item, status) in row
                .outcomes()
                .filter(|(item, status)| is_outcome(*item, *status))
            {
                let name = &matrix.items[item as usize].key.item;
                match outcomes.get_mut(name) {
                    Some(own) => own.push(status == ItemStatus::Pass),
                    None => {
                        outcomes.insert(name.clone(), vec![status == ItemStatus::Pass]);
                    }
                }
            }
        }
    }
    outcomes
}

/// The items of an arm whose outcomes differ.
struct VaryingItems {
    all: u64,
    changed_count: u64,
    changed_items: Vec<ItemChange>,
    flaky: Vec<NoisyItem>,
    noisiest: Vec<NoisyItem>,
}

/// Returns a flaky item, and the unbiased variance of one of its outcomes.
fn noisy_item(item: &str, course: &ItemCourse) -> Option<(NoisyItem, f64)> {
    let (passed, counted) = (
        course.passed_before + course.passed_since,
        course.attempts_before + course.attempts_since,
    );
    let rate = passed as f64 / counted as f64;
    let variance = rate * (1.0 - rate) * counted as f64 / (counted as f64 - 1.0);
    let flaky = probability_flaky(passed, counted, FLAKY_MARGIN).ok()?;
    Some((
        NoisyItem {
            item: item.to_owned(),
            passed,
            counted,
            flaky,
            noise: 0.0,
        },
        variance,
    ))
}

/// Splits the variance, over as many of the newest outcomes as every item has.
fn precision_of_mean(outcomes: &BTreeMap<String, Vec<bool>>) -> Option<Precision> {
    let runs = outcomes
        .values()
        .map(Vec::len)
        .min()
        .filter(|runs| *runs > 1)?;
    let newest = |outcomes: &Vec<bool>| {
        outcomes[outcomes.len() - runs..]
            .iter()
            .map(|passed| f64::from(u8::from(*passed)))
            .collect::<Vec<f64>>()
    };
    let rows: Vec<Vec<f64>> = outcomes.values().map(newest).collect();
    let split = variance_split(&rows).ok()?;
    Some(Precision {
        items: split.questions,
        runs: split.runs,
        between: split.var_between,
        within: split.var_within,
        icc: split.icc,
        buy: match split.larger_source().ok()? {
            Buy::Items => "items",
            Buy::Runs => "runs",
        },
        enough_runs: split.balanced_runs().ok(),
    })
}

/// Compares every pair of arms on the days on which both ran the same version.
fn nightly_duels(
    arms: &[(Arm, Vec<(NaiveDate, NightArmRuns<'_>)>)],
    matrices: &[OutcomeMatrix],
    alpha: f64,
) -> Vec<NightlyDuel> {
    let mut duels = Vec::new();
    for first in 0..arms.len() {
        for second in first + 1..arms.len() {
            let theirs: BTreeMap<((NaiveDate, usize), usize), &NightArmRuns<'_>> = arms[second]
                .1
                .iter()
                .map(|(_, runs)| ((runs.point, runs.version), runs))
                .collect();
            let (mut won, mut lost, mut same) = (0, 0, 0);
            for (_, runs) in &arms[first].1 {
                let difference = theirs
                    .get(&(runs.point, runs.version))
                    .and_then(|other| night_difference(runs, other, &matrices[runs.version]));
                match difference {
                    Some(difference) if difference > EQUAL_SHARE_TOLERANCE => won += 1,
                    Some(difference) if difference < -EQUAL_SHARE_TOLERANCE => lost += 1,
                    Some(_) => same += 1,
                    None => {}
                }
            }
            if won + lost + same == 0 {
                continue;
            }
            let e_value = mcnemar_e_value(won, lost);
            let interval = bernoulli_confidence_sequence(won, won + lost, alpha)
                .ok()
                .filter(|_| won + lost > 0);
            let better =
                (e_value >= 1.0 / alpha).then_some(if won > lost { first } else { second });
            duels.push(NightlyDuel {
                first,
                second,
                won,
                lost,
                same,
                e_value,
                interval,
                better,
            });
        }
    }
    duels
}

/// Returns one arm's rate minus the other's on the items that both have that day with the same text; or the difference of their whole rates
/// if there are only counts.
fn night_difference(
    one: &NightArmRuns<'_>,
    other: &NightArmRuns<'_>,
    matrix: &OutcomeMatrix,
) -> Option<f64> {
    match (&one.outcomes, &other.outcomes) {
        (None, None) => {
            let rate = |runs: &NightArmRuns<'_>| {
                let rates: Vec<f64> = runs
                    .rows
                    .iter()
                    .filter_map(|row| run_counts(row, matrix))
                    .map(|(passed, total)| passed as f64 / total as f64)
                    .collect();
                summarise_sample(&rates).ok().map(|summary| summary.mean)
            };
            Some(rate(one)? - rate(other)?)
        }
        (Some(mine), Some(theirs)) => {
            let changed = one.texts.changed_items(&other.texts);
            let shared = (0..mine.cells.len()).filter(|item| !is_column_marked(&changed, *item));
            let differences: Vec<f64> = shared
                .filter_map(|item| Some(mine.item_mean(item)? - theirs.item_mean(item)?))
                .collect();
            summarise_sample(&differences)
                .ok()
                .map(|summary| summary.mean)
        }
        (None, Some(_)) | (Some(_), None) => None,
    }
}
