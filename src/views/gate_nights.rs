//! A gate with a moving baseline from night to night: which nights are good, and which regressions are open, repaired or accepted.
//!
//! Nothing is remembered. Each gate judges the arm's nights again, oldest first and by its own rules, so the same store gives the same
//! answer whether or not a gate was run on every night.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, Utc};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Acceptance, PASS_RATE};
use crate::inference::{Cell, Held, NightKey, Policy, Rates, SuiteAnswer, is_about, night_of};
use crate::stats::{ItemWalk, JudgedNights, LevelWalk, NightJudge, NightState};
use crate::warehouse::{RunRow, Warehouse};

use super::gate_items::{Changes, changes};
use super::gate_rules::{Ask, GateRule};

/// A regression that is still there.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OpenRegression {
    /// The day (UTC) on which it began. Absent if the runs have no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<NaiveDate>,
    /// The batches of its nights, oldest first.
    pub batches: Vec<String>,
    /// The number of its nights, with the newest.
    pub nights: u64,
    /// The value of the newest night alone, if the rule has a metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<Cell>,
    /// The times of its first and last run.
    #[serde(skip)]
    pub began: Option<DateTime<Utc>>,
    #[serde(skip)]
    pub last: Option<DateTime<Utc>>,
}

/// A regression that the newest night ended.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RepairedRegression {
    /// The day (UTC) on which it began. Absent if the runs have no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<NaiveDate>,
    /// The day of the newest night.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<NaiveDate>,
    /// The number of its nights.
    pub nights: u64,
}

/// What one rule says of some nights, for the walk from night to night.
pub(super) struct Weighed {
    pub nights: JudgedNights,
    /// Whether the rule can tell which items are broken; if so, `broken` has them.
    pub is_told: bool,
    pub broken: BTreeSet<String>,
}

/// Applies a rule to the first arm and baseline.
pub(super) type Weigh<'f> =
    &'f (dyn Fn(&Held<'_>, &GateRule, &SuiteAnswer<'_>, Option<&Changes>) -> Weighed + Sync);

/// The course of one rule about one arm, up to its newest night.
pub(super) struct RuleCourse<'a> {
    /// The nights that the newest one is held against.
    pub baseline: Vec<usize>,
    pub state: NightState,
    /// The acceptance with which the baseline begins.
    pub accepted: Option<&'a Acceptance>,
}

/// The courses of an arm, by the rule's place. Rules without a baseline have none.
pub(super) type ArmCourses<'a> = BTreeMap<usize, RuleCourse<'a>>;

/// A rule's course while it is followed.
enum Followed {
    Level(LevelWalk),
    Items(ItemWalk),
}

/// Follows the rules about each new arm over its nights. Returns an empty map for each arm if the baseline is fixed.
pub(super) fn courses<'w>(
    warehouse: &'w Warehouse,
    held: &Held<'_>,
    rules: &[&GateRule],
    policy: &Policy,
    weigh: Weigh<'_>,
) -> Vec<ArmCourses<'w>> {
    let Some(last) = held.last else {
        return held.head.iter().map(|_| ArmCourses::new()).collect();
    };
    (0..held.head.len())
        .into_par_iter()
        .map(|head| of_arm(warehouse, held, (head, last), rules, policy, weigh))
        .collect()
}

fn of_arm<'w>(
    warehouse: &'w Warehouse,
    held: &Held<'_>,
    (head, last): (usize, usize),
    rules: &[&GateRule],
    policy: &Policy,
    weigh: Weigh<'_>,
) -> ArmCourses<'w> {
    let own = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| rule.is_about_arm(held, head));
    let mut followed: BTreeMap<usize, Followed> = own
        .filter_map(|(place, rule)| match rule.ask {
            Ask::MaxDrop { .. } | Ask::MaxRise { .. } => {
                Some((place, Followed::Level(LevelWalk::new(last))))
            }
            Ask::NoNewFailures => Some((place, Followed::Items(ItemWalk::new(last)))),
            Ask::MustPass { .. } => None,
        })
        .collect();
    let accepted: Vec<&Acceptance> = warehouse
        .accepted()
        .iter()
        .filter(|one| is_of(one, warehouse, held, head))
        .collect();
    let is_of_rates = |place: &usize| match &rules[*place].ask {
        Ask::MaxDrop { metric, .. } | Ask::MaxRise { metric, .. } => metric == PASS_RATE,
        Ask::MustPass { .. } | Ask::NoNewFailures => true,
    };
    let is_primary = policy
        .primary(&held.suite)
        .is_none_or(|primary| primary == PASS_RATE)
        && followed.keys().all(is_of_rates);
    let mut answers = Answers {
        warehouse,
        held,
        head,
        policy,
        is_primary,
        known: Vec::new(),
    };
    for night in 0..held.night_count(head) {
        // Answers are shared by the rules of one night.
        answers.known.clear();
        let acceptance = acceptance_of(&accepted, &held.night(head, night));
        for (place, course) in &mut followed {
            let mut rule = RuleOnNights {
                answers: &mut answers,
                rule: rules[*place],
                weigh,
            };
            match course {
                Followed::Level(course) => course.add(night, acceptance, &mut rule),
                Followed::Items(course) => {
                    course.add(night, acceptance, |baseline| rule.broken(night, baseline))
                }
            }
        }
    }
    let course = |followed: Followed| {
        let (baseline, state, begun) = match followed {
            Followed::Level(course) => (
                course.baseline().to_vec(),
                course.state().clone(),
                course.accepted(),
            ),
            Followed::Items(course) => (
                course.baseline().to_vec(),
                course.state().clone(),
                course.accepted(),
            ),
        };
        RuleCourse {
            baseline,
            state,
            accepted: begun.map(|number| accepted[number]),
        }
    };
    followed
        .into_iter()
        .map(|(place, followed)| (place, course(followed)))
        .collect()
}

/// Returns whether an acceptance is about an arm on the suite's version.
fn is_of(accepted: &Acceptance, warehouse: &Warehouse, held: &Held<'_>, head: usize) -> bool {
    accepted.suite_version == held.suite_version
        && is_about(accepted, warehouse, &held.suite, &held.head[head].arm)
}

/// Returns the number of the newest acceptance that has a night: its batch, or for nights of an imported file their time.
fn acceptance_of(accepted: &[&Acceptance], night: &[&RunRow]) -> Option<usize> {
    let newest = night.iter().filter_map(|row| row.run.timestamp).max();
    let has = |one: &&Acceptance| match (newest, one.since, one.through) {
        (Some(time), Some(since), Some(through)) => since <= time && time <= through,
        _ => night.iter().any(|row| {
            one.batches
                .iter()
                .any(|batch| batch == night_of(&row.run).batch)
        }),
    };
    accepted.iter().rposition(has)
}

/// The answers about an arm's nights.
struct Answers<'a, 'b, 'h> {
    warehouse: &'a Warehouse,
    held: &'h Held<'b>,
    head: usize,
    policy: &'a Policy,
    /// Whether all rules are about pass rates, and these decide.
    is_primary: bool,
    /// Those about the night that is being judged.
    known: Vec<(Vec<usize>, Vec<usize>, Answer<'b>)>,
}

/// Some nights of an arm held against others.
struct Answer<'b> {
    held: Held<'b>,
    of_suite: Option<SuiteAnswer<'b>>,
    changes: Option<Changes>,
}

impl<'b> Answers<'_, 'b, '_> {
    fn of(&mut self, nights: &[usize], baseline: &[usize]) -> &Answer<'b> {
        let place = self
            .known
            .iter()
            .position(|(new, old, _)| new == nights && old == baseline)
            .unwrap_or_else(|| {
                let held = self.held.on_nights(self.head, nights, baseline);
                let answer = match held.pairs.first() {
                    Some((new, Some(old))) => {
                        let pair = held.pair(*new, *old);
                        let ask = if self.is_primary {
                            SuiteAnswer::of_primary
                        } else {
                            SuiteAnswer::of
                        };
                        Some(ask(self.warehouse, &pair, self.policy))
                    }
                    Some((_, None)) | None => None,
                };
                let changes = answer
                    .as_ref()
                    .and_then(|answer| changes(answer, &held, (0, 0)));
                self.known.push((
                    nights.to_vec(),
                    baseline.to_vec(),
                    Answer {
                        held,
                        of_suite: answer,
                        changes,
                    },
                ));
                self.known.len() - 1
            });
        &self.known[place].2
    }
}

/// One rule about an arm's nights.
struct RuleOnNights<'r, 'a, 'b, 'h> {
    answers: &'r mut Answers<'a, 'b, 'h>,
    rule: &'r GateRule,
    weigh: Weigh<'r>,
}

impl RuleOnNights<'_, '_, '_, '_> {
    fn weighed(&mut self, nights: &[usize], baseline: &[usize]) -> Option<Weighed> {
        let found = self.answers.of(nights, baseline);
        Some((self.weigh)(
            &found.held,
            self.rule,
            found.of_suite.as_ref()?,
            found.changes.as_ref(),
        ))
    }

    fn broken(&mut self, night: usize, baseline: &[usize]) -> Option<BTreeSet<String>> {
        self.weighed(&[night], baseline)
            .filter(|found| found.is_told)
            .map(|found| found.broken)
    }
}

impl NightJudge for RuleOnNights<'_, '_, '_, '_> {
    fn judge(&mut self, nights: &[usize], baseline: &[usize]) -> JudgedNights {
        self.weighed(nights, baseline)
            .map_or(JudgedNights::UNMEASURED, |found| found.nights)
    }

    fn is_better(&mut self, nights: &[usize], regressed: &[usize]) -> bool {
        let (metric, sign) = match &self.rule.ask {
            Ask::MaxDrop { metric, .. } => (metric.clone(), 1.0),
            Ask::MaxRise { metric, .. } => (metric.clone(), -1.0),
            Ask::MustPass { .. } | Ask::NoNewFailures => return false,
        };
        let alpha = self.answers.policy.alpha;
        let Some(answer) = &self.answers.of(nights, regressed).of_suite else {
            return false;
        };
        let Some(pair) = answer
            .metric(&metric)
            .and_then(|found| found.evidence.pairs.first())
        else {
            return false;
        };
        if pair
            .difference
            .is_none_or(|difference| sign * difference.centred() <= 0.0)
        {
            return false;
        }
        // Regressed runs that all have the same outcomes leave nothing to chance.
        let is_fixed =
            metric == PASS_RATE && answer.rates.get(1).is_some_and(Rates::is_deterministic);
        is_fixed || pair.p_adjusted.is_some_and(|p| p < alpha)
    }
}

/// The day and the batches of some nights.
pub(super) struct Dated {
    pub since: Option<NaiveDate>,
    pub batches: Vec<String>,
    pub began: Option<DateTime<Utc>>,
    pub last: Option<DateTime<Utc>>,
}

impl Dated {
    pub fn of(held: &Held<'_>, head: usize, nights: &[usize]) -> Self {
        let rows: Vec<Vec<&RunRow>> = nights
            .iter()
            .map(|night| held.night(head, *night))
            .collect();
        let times = |rows: &[&RunRow]| rows.iter().filter_map(|row| row.run.timestamp).max();
        let keys: BTreeMap<usize, BTreeSet<NightKey<'_>>> = rows
            .iter()
            .enumerate()
            .map(|(place, rows)| (place, rows.iter().map(|row| night_of(&row.run)).collect()))
            .collect();
        let mut batches: Vec<String> = keys
            .into_values()
            .flatten()
            .map(|key| key.batch.to_owned())
            .collect();
        batches.dedup();
        let (began, last) = (
            rows.first().and_then(|rows| times(rows)),
            rows.last().and_then(|rows| times(rows)),
        );
        Self {
            since: began.map(|time| time.date_naive()),
            batches,
            began,
            last,
        }
    }
}
