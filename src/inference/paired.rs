//! Two arms on shared items: their differences by item, and the evidence.

use crate::stats::{
    Interval, ItemsByRuns, McNemar, Pairs, SummedArm, TwoWay, Undefined, clustered_mean,
    effective_paired_difference, mcnemar, mean_t, sign_flip, summary, tango, two_way,
    two_way_summed,
};

use super::comparison::{Difference, Levels, Record, Scale, Sizes, Test, Variation};
use super::detail::{CrossCheck, Parts};
use super::finding::{Finding, Plan, Precision};
use super::item_scores::ItemScores;
use super::labelled::{self, JudgeFigure, Seen};
use super::policy::{Design, MAX_MISSING, MIN_ITEMS, MIN_PAIRED_T, Policy, SAME, natural_design};
use super::sample::{ByRun, Items, Outcomes, OverRuns, mean_of};
use super::seed::resampling;
use super::tables::Tested;
use super::verdict::{Incomparable, Missing, Obstacle, Support};

/// One arm's data on the items of a suite: shares passed, or values with the range over all arms.
#[derive(Clone, Copy)]
pub(super) enum Measured<'a> {
    Passes(&'a Outcomes),
    Values(&'a ItemScores, Interval),
}

impl Measured<'_> {
    fn mean(self, column: usize) -> Option<f64> {
        match self {
            Self::Passes(outcomes) => outcomes.mean(column),
            Self::Values(values, _) => values.means[column],
        }
    }

    /// Returns whether there is exactly one passed or failed outcome.
    fn is_single(self, column: usize) -> bool {
        match self {
            Self::Passes(outcomes) => outcomes.cells.of(column).1 == 1,
            Self::Values(..) => false,
        }
    }

    fn is_missing(self, column: usize) -> bool {
        match self {
            Self::Passes(outcomes) => outcomes.missing.has(column),
            Self::Values(values, _) => values.missing[column],
        }
    }

    /// Returns the number of items with a value, and of items whose value is missing.
    fn counts(self) -> (u64, u64) {
        match self {
            Self::Passes(outcomes) => (outcomes.counted, outcomes.lost),
            Self::Values(values, _) => (values.counted, values.lost),
        }
    }

    /// Returns the range of a missing value.
    fn range(self) -> (f64, f64) {
        match self {
            Self::Passes(_) => (0.0, 1.0),
            Self::Values(_, range) => (range.low, range.high),
        }
    }

    /// Returns the means over each run's attempts. There are none for a single run.
    fn runs(&self) -> ByRun<'_> {
        match self {
            Self::Passes(outcomes) => ByRun::Shares(&outcomes.runs),
            Self::Values(values, _) => ByRun::Values(&values.runs),
        }
    }

    fn over_runs(&self) -> &OverRuns {
        match self {
            Self::Passes(outcomes) => &outcomes.over_runs,
            Self::Values(values, _) => &values.over_runs,
        }
    }
}

/// Two arms' values on shared items. An item with several evaluators is one item: their values are averaged first.
pub(super) struct Shared<'a> {
    one: Measured<'a>,
    other: Measured<'a>,
    items: &'a Items,
    scale: Scale,
    /// Number of shared items.
    n: usize,
    /// Indices of the shared items. Empty if the table says all that is asked.
    units: Vec<u32>,
    /// By shared item: the first arm's value minus the second's. Empty like `units`.
    differences: Vec<f64>,
    /// The arms' means over the shared items.
    levels: Levels,
    record: Record,
    /// The table, if both arms tried every item exactly once.
    pairs: Option<Pairs>,
    /// Its test, if it is known.
    test: Option<McNemar>,
    /// Whether both arms have values in exactly the same columns.
    is_same: bool,
    /// The cluster of each shared item, if clusters are used.
    codes: Option<Vec<u32>>,
    clusters: usize,
}

impl<'a> Shared<'a> {
    /// Pairs two arms by the outcomes of items. `known` is their table, if it was made with those of other pairs.
    pub fn of_passes(
        one: &'a Outcomes,
        other: &'a Outcomes,
        known: Option<Tested>,
        items: &'a Items,
        policy: &Policy,
    ) -> Self {
        let arms = (Measured::Passes(one), Measured::Passes(other));
        let of_two = || Some((one.single.as_ref()?.pairs(other.single.as_ref()?), None));
        let table = known
            .map(|(pairs, test)| (pairs, Some(test)))
            .or_else(of_two);
        // Clusters and joint sign flips need the differences of single items.
        let has_clusters = policy.use_clusters && items.clusters.is_some();
        match table.filter(|(pairs, _)| !has_clusters && pairs.total() > MAX_JOINT as u64) {
            Some((pairs, test)) => Self::tabled(arms, pairs, test, items),
            None => Self::of(arms, Scale::Share, true, items, policy),
        }
    }

    fn tabled(
        (one, other): (Measured<'a>, Measured<'a>),
        pairs: Pairs,
        test: Option<McNemar>,
        items: &'a Items,
    ) -> Self {
        Self {
            one,
            other,
            items,
            scale: Scale::Share,
            n: usize::try_from(pairs.total()).unwrap_or(usize::MAX),
            units: Vec::new(),
            differences: Vec::new(),
            levels: levels_of(pairs),
            record: Record {
                won: pairs.only_a,
                lost: pairs.only_b,
                same: pairs.both + pairs.neither,
            },
            pairs: Some(pairs),
            test,
            is_same: false,
            codes: None,
            clusters: 0,
        }
    }

    /// Pairs two arms by item. `more_is_better` decides who wins an item.
    pub fn of(
        (one, other): (Measured<'a>, Measured<'a>),
        scale: Scale,
        more_is_better: bool,
        items: &'a Items,
        policy: &Policy,
    ) -> Self {
        let (mut units, mut differences) = (Vec::new(), Vec::new());
        let (mut is_binary, mut is_same, mut record, mut both) = (
            true,
            true,
            Record {
                won: 0,
                lost: 0,
                same: 0,
            },
            0,
        );
        let mut levels = Levels {
            first: 0.0,
            second: 0.0,
        };
        items.each_unit(|unit, columns| {
            let (mut sums, mut n) = ((0.0, 0.0), 0u32);
            for column in columns.iter().map(|column| *column as usize) {
                let (first, second) = (one.mean(column), other.mean(column));
                is_same &= first.is_some() == second.is_some();
                if let Some((first, second)) = first.zip(second) {
                    sums = (sums.0 + first, sums.1 + second);
                    n += 1;
                    is_binary &= one.is_single(column) && other.is_single(column);
                }
            }
            if n == 0 {
                return;
            }
            is_binary &= n == 1;
            let difference = (sums.0 - sums.1) / f64::from(n);
            levels.first += sums.0 / f64::from(n);
            levels.second += sums.1 / f64::from(n);
            both += u64::from(is_binary && sums.0 > 0.5 && sums.1 > 0.5);
            let (ahead, behind) = if more_is_better {
                (difference > SAME, difference < -SAME)
            } else {
                (difference < -SAME, difference > SAME)
            };
            record.won += u64::from(ahead);
            record.lost += u64::from(behind);
            units.push(unit);
            differences.push(difference);
        });
        record.same = differences.len() as u64 - record.won - record.lost;
        let codes = items.clusters.as_deref().filter(|_| policy.use_clusters);
        let codes: Option<Vec<u32>> =
            codes.map(|codes| units.iter().map(|unit| codes[*unit as usize]).collect());
        let clusters = codes.as_ref().map_or(0, |codes| {
            let mut seen = vec![false; items.cluster_count];
            for code in codes {
                seen[*code as usize] = true;
            }
            seen.into_iter().filter(|seen| *seen).count()
        });
        let n = differences.len();
        let pairs = Pairs {
            both,
            only_a: record.won,
            only_b: record.lost,
            neither: record.same - both,
        };
        let pairs = is_binary.then_some(pairs);
        let levels = Levels {
            first: levels.first / n as f64,
            second: levels.second / n as f64,
        };
        Self {
            one,
            other,
            items,
            scale,
            n,
            units,
            differences,
            levels,
            record,
            pairs,
            test: None,
            is_same,
            codes,
            clusters,
        }
    }

    /// Returns the design that follows from the kind of item.
    pub fn natural_design(&self) -> Design {
        let clusters = self.codes.as_ref().map(|_| self.clusters);
        natural_design(self.items.kind, clusters, self.n)
    }

    /// Returns the number of runs of the arm with fewer.
    pub fn runs(&self) -> usize {
        self.one.runs().len().min(self.other.runs().len()).max(1)
    }

    /// Returns whether there are fewer clusters than items.
    pub fn is_clustered(&self) -> bool {
        self.codes.is_some() && self.clusters < self.n
    }

    fn sizes(&self, clusters: Option<usize>) -> Sizes {
        Sizes {
            first: self.one.counts().0,
            second: self.other.counts().0,
            pairs: Some(self.n as u64),
            of: self.items.word(),
            clusters: clusters.map(|count| count as u64),
            runs: Some(self.one.runs().len().min(self.other.runs().len()) as u64)
                .filter(|runs| *runs > 1),
        }
    }

    /// Returns a finding that explains why nothing can be paired, or `None` if something can.
    pub fn nothing(&self) -> Option<Finding> {
        if self.one.counts().0 == 0 || self.other.counts().0 == 0 {
            return Some(Finding::no_data(
                Design::Counts,
                Missing::NotMeasured,
                self.sizes(None),
            ));
        }
        if self.n > 0 {
            return None;
        }
        let has = |arm: Measured<'_>, columns: &[u32]| {
            columns
                .iter()
                .any(|column| arm.mean(*column as usize).is_some())
        };
        let mut is_alike = false;
        self.items
            .each_unit(|_, columns| is_alike |= has(self.one, columns) && has(self.other, columns));
        let reason = if is_alike {
            Incomparable::OtherEvaluator
        } else {
            Incomparable::DisjointItems
        };
        Some(Finding::not_comparable(
            Design::Items,
            reason,
            self.sizes(None),
        ))
    }

    /// Compares the two arms over a design's units, as people would see them if they labelled enough items.
    pub fn weigh(&self, design: Design, policy: &Policy) -> Finding {
        let by_judge = self.weigh_outcomes(design, policy);
        let (Measured::Passes(one), Measured::Passes(other)) = (self.one, self.other) else {
            return by_judge;
        };
        let unit = if self.codes.is_some() {
            design
        } else {
            Design::Items
        };
        let seen = labelled::difference(one, other, self.items, unit, policy.confidence());
        as_people_see(by_judge, &seen)
            .unwrap_or_else(|by_judge| self.by_known_errors(*by_judge, policy))
    }

    /// Corrects a difference by the judge's error rates, if they are known. A judge without significant skill finds no winner.
    fn by_known_errors(&self, by_judge: Finding, policy: &Policy) -> Finding {
        let found = self
            .items
            .judge_errors
            .zip(by_judge.difference)
            .and_then(|(known, by)| {
                let (value, interval, p) = known
                    .difference(by.value, by.interval?, policy.confidence())
                    .ok()?;
                Some((
                    Difference {
                        value,
                        interval: Some(interval),
                        ..by
                    },
                    JudgeFigure {
                        labels: 0,
                        value: by.value,
                        interval: by.interval,
                    },
                    p,
                ))
            });
        let Some((difference, judge, no_skill)) = found else {
            return by_judge;
        };
        let support = match by_judge.support {
            Support::Tested { p, doubt } => Support::Tested {
                p: p.max(no_skill),
                doubt,
            },
            other => other,
        };
        Finding {
            difference: Some(difference),
            levels: None,
            judge: Some(judge),
            support,
            sums: Vec::new(),
            beyond: None,
            ..by_judge
        }
    }

    /// Compares the two arms by their outcomes. Tasks in clusters also answer a second question.
    fn weigh_outcomes(&self, design: Design, policy: &Policy) -> Finding {
        if design == Design::Clusters && self.codes.is_some() {
            return Finding {
                levels: Some(self.levels),
                ..self.over_clusters(policy)
            };
        }
        // Clusters were requested but the items have none: use items.
        let mut finding = Finding {
            levels: Some(self.levels),
            ..self.over_items(policy)
        };
        if self.is_clustered() {
            finding.beyond = Some(Box::new(self.over_clusters(policy)));
        }
        finding
    }

    fn over_items(&self, policy: &Policy) -> Finding {
        let mut finding = match self.pairs {
            Some(pairs) => self.over_pairs(pairs, policy),
            None => self.over_values(policy),
        };
        if self.n <= MAX_JOINT {
            finding.sums = self.aligned(self.items.unit_count(), |place| self.units[place]);
        }
        finding.bounds = self.bounds();
        finding
    }

    /// Compares two arms with one outcome of each item. Only the counts matter.
    fn over_pairs(&self, pairs: Pairs, policy: &Policy) -> Finding {
        let sizes = self.sizes(None);
        let Ok(value) = pairs.difference() else {
            return Finding::no_data(Design::Items, Missing::NotMeasured, sizes);
        };
        let obstacle = (self.n < MIN_ITEMS).then_some(Obstacle::FewItems);
        let mut finding = Finding::new(
            Design::Items,
            Support::Thin {
                obstacle: Obstacle::FewItems,
                p: None,
            },
            sizes,
        );
        finding.record = Some(self.record);
        finding.difference = Some(Difference {
            value,
            scale: self.scale,
            interval: tango(pairs, policy.confidence()).ok(),
        });
        let test = self
            .test
            .unwrap_or_else(|| mcnemar(pairs.only_a, pairs.only_b));
        finding.tested(Test::McnemarExact, test.exact, obstacle);
        finding.detail.cross_check =
            Some(CrossCheck::of_pairs(pairs, test.mid, policy.confidence()));
        if pairs.deviation().is_ok_and(|sd| sd > 0.0) {
            let share = (self.record.won + self.record.lost) as f64 / self.n as f64;
            finding.precision = Some(Precision::Discordant {
                share,
                n: self.n as u64,
            });
            let delta = value;
            finding.plan = Some(Plan::Discordant { share, delta }).filter(|_| delta != 0.0);
        }
        finding
    }

    fn over_values(&self, policy: &Policy) -> Finding {
        let differences = &self.differences;
        let n = self.n;
        let sizes = self.sizes(None);
        let Ok(summary) = summary(differences) else {
            return Finding::no_data(Design::Items, Missing::NotMeasured, sizes);
        };
        let obstacle = (n < MIN_ITEMS).then_some(Obstacle::FewItems);
        let mut finding = Finding::new(
            Design::Items,
            Support::Thin {
                obstacle: Obstacle::FewItems,
                p: None,
            },
            sizes,
        );
        finding.record = Some(self.record);
        let at = |value: f64, interval: Option<Interval>| {
            Some(Difference {
                value,
                scale: self.scale,
                interval,
            })
        };
        // Equal differences of thirds can differ in the last digit.
        let is_spread = summary.max - summary.min > SAME;
        let flips = || {
            sign_flip(differences, resampling(differences.iter().copied()))
                .map_or(1.0, |test| test.p)
        };
        let over_runs = self.two_way(None, policy);
        if let Some(found) = over_runs {
            finding.difference = at(found.estimate, Some(possible(found.interval, self.scale)));
            finding.variation = self.variation(&found);
            // With few items the t distribution of the mean is unreliable.
            let p = if n < MIN_PAIRED_T {
                found.p.max(flips())
            } else {
                found.p
            };
            finding.tested(Test::TwoWay, p, obstacle);
        } else if let Some(test) = mean_t(&summary, policy.confidence())
            .ok()
            .filter(|_| n >= MIN_PAIRED_T && is_spread)
        {
            finding.difference = at(summary.mean, Some(possible(test.interval, self.scale)));
            finding.tested(Test::PairedT, test.p, obstacle);
            if !policy.only_rulings {
                finding.detail.cross_check = CrossCheck::of_differences(
                    differences,
                    resampling(differences.iter().copied()),
                );
            }
        } else {
            let interval = if is_spread {
                None
            } else {
                self.effective_interval(n, policy)
            };
            finding.difference = at(summary.mean, interval);
            finding.tested(Test::SignFlip, flips(), obstacle);
        }
        if let Some(sd) = summary.sd.filter(|_| is_spread) {
            finding.precision = Some(match over_runs {
                Some(found) => Precision::Error {
                    se: found.standard_error,
                    degrees: found.degrees,
                },
                None => Precision::Error {
                    se: sd / (n as f64).sqrt(),
                    degrees: n as f64 - 1.0,
                },
            });
            finding.parts = match (self.one, self.other) {
                (Measured::Passes(one), Measured::Passes(other)) if over_runs.is_none() => {
                    Parts::of(one, other, sd)
                }
                _ => None,
            };
            finding.plan = self.plan(sd, summary.mean, over_runs.as_ref());
        }
        finding
    }

    fn over_clusters(&self, policy: &Policy) -> Finding {
        let differences = &self.differences;
        let codes = self.codes.as_deref().unwrap_or_default();
        let clusters = self.clusters;
        let obstacle = (clusters < MIN_ITEMS).then_some(Obstacle::FewClusters);
        let mut finding = Finding::new(
            Design::Clusters,
            Support::Thin {
                obstacle: Obstacle::FewClusters,
                p: None,
            },
            self.sizes(Some(clusters)),
        );
        finding.record = Some(self.record);
        // Equally good arms can be swapped within any cluster, whatever its size; t(G − 1) finds false winners if sizes differ.
        finding.sums = self.aligned(self.items.cluster_count, |place| codes[place]);
        let sums: Vec<f64> = finding
            .sums
            .iter()
            .copied()
            .filter(|sum| *sum != 0.0)
            .collect();
        let flips = sign_flip(&sums, resampling(sums.iter().copied())).map_or(1.0, |test| test.p);
        let over_runs = self.two_way(Some(codes), policy);
        let clustered = clustered_mean(differences, codes, policy.confidence());
        match (over_runs, clustered) {
            (Some(found), _) => {
                finding.difference = Some(Difference {
                    value: found.estimate,
                    scale: self.scale,
                    interval: Some(possible(found.interval, self.scale)),
                });
                finding.variation = self.variation(&found);
                finding.tested(Test::TwoWay, found.p.max(flips), obstacle);
                finding.precision = Some(Precision::Error {
                    se: found.standard_error,
                    degrees: found.degrees,
                });
                finding.plan = Some(Plan::Mean {
                    sd: found.standard_error * (clusters as f64).sqrt(),
                    delta: found.estimate,
                    of: "clusters",
                })
                .filter(|_| found.estimate != 0.0 && found.var_runs <= 0.0);
            }
            (None, Ok(mean)) => {
                let interval = Some(possible(mean.interval, self.scale));
                finding.difference = Some(Difference {
                    value: mean.mean,
                    scale: self.scale,
                    interval,
                });
                finding.tested(Test::ClusterSignFlip, flips, obstacle);
                // The spread that this number of independent clusters would have for this standard error.
                let sd = mean.se_cr1 * (clusters as f64).sqrt();
                finding.precision = Some(Precision::Flips {
                    se: mean.se_cr1,
                    clusters: clusters as u64,
                });
                finding.plan = Some(Plan::Mean {
                    sd,
                    delta: mean.mean,
                    of: "clusters",
                })
                .filter(|_| mean.mean != 0.0);
            }
            (None, Err(reason)) => {
                let value = summary(differences).ok().map(|summary| summary.mean);
                let interval = if reason == Undefined::NoVariation {
                    self.effective_interval(clusters, policy)
                } else {
                    None
                };
                finding.difference = value.map(|value| Difference {
                    value,
                    scale: self.scale,
                    interval,
                });
                let obstacle = obstacle
                    .or((reason != Undefined::NoVariation).then_some(Obstacle::FewClusters));
                finding.tested(Test::ClusterSignFlip, flips, obstacle);
            }
        }
        finding.bounds = self.bounds();
        finding
    }

    /// Sums the differences by a number of each item, in the order of the numbers, so that the sums of all pairs are aligned.
    fn aligned(&self, count: usize, number: impl Fn(usize) -> u32) -> Vec<f64> {
        let mut sums = vec![0.0; count];
        for (place, difference) in self.differences.iter().enumerate() {
            sums[number(place) as usize] += difference;
        }
        sums
    }

    /// Compares over items and runs. Returns `None` if neither arm has a second run or nothing varies.
    fn two_way<'s>(&'s self, codes: Option<&[u32]>, policy: &Policy) -> Option<TwoWay> {
        if self.one.runs().len() < 2 && self.other.runs().len() < 2 {
            return None;
        }
        if self.is_same {
            // The shared items are all that each arm has.
            let summed = |arm: &'s Measured<'_>| {
                arm.over_runs().get(codes.is_some(), || {
                    SummedArm::of(self.by_run(arm).by_runs(), codes)
                })
            };
            if let Some((one, other)) = summed(&self.one).zip(summed(&self.other)) {
                return two_way_summed(one, other, policy.confidence()).ok();
            }
        }
        let (one, other) = (self.by_run(&self.one), self.by_run(&self.other));
        two_way(one.by_runs(), other.by_runs(), codes, policy.confidence()).ok()
    }

    /// Returns what more items or runs are planned from, or `None` for no difference.
    fn plan(&self, sd: f64, delta: f64, over_runs: Option<&TwoWay>) -> Option<Plan> {
        let plan = match over_runs {
            Some(found) => Plan::ItemsAndRuns {
                var_items: found.var_items,
                var_runs: found.var_runs,
                degrees: found.degrees,
                items: found.n,
                runs: self.one.runs().len().min(self.other.runs().len()).max(1) as u64,
                delta,
            },
            None => Plan::Mean {
                sd,
                delta,
                of: "items",
            },
        };
        (delta != 0.0).then_some(plan)
    }

    /// Returns the values of the shared items, run by run.
    fn by_run(&self, arm: &Measured<'_>) -> RunValues {
        let runs = arm.runs();
        let mut values = Vec::with_capacity(self.units.len() * runs.len().max(1));
        for unit in &self.units {
            let columns = || {
                self.items
                    .columns(*unit)
                    .iter()
                    .filter(|column| self.has(**column))
                    .map(|column| *column as usize)
            };
            if runs.len() == 0 {
                values.push(mean_of(columns().filter_map(|column| arm.mean(column))));
            }
            values.extend((0..runs.len()).map(|run| runs.mean(run, columns())));
        }
        RunValues {
            runs: runs.len().max(1),
            values,
        }
    }

    /// Returns whether both arms have a value in a column.
    fn has(&self, column: u32) -> bool {
        self.one.mean(column as usize).is_some() && self.other.mean(column as usize).is_some()
    }

    /// Returns the variance that runs add, if both arms have several.
    fn variation(&self, found: &TwoWay) -> Option<Variation> {
        let is_measured = self.one.runs().len() > 1 && self.other.runs().len() > 1;
        is_measured.then_some(Variation {
            items: found.var_items,
            runs: found.var_runs,
            runs_vary: found.runs_vary,
        })
    }

    /// Returns the interval of a difference of shares if nothing varied, at the effective number of units.
    fn effective_interval(&self, units: usize, policy: &Policy) -> Option<Interval> {
        let mean = summary(&self.differences)
            .ok()
            .filter(|_| self.scale == Scale::Share)?
            .mean;
        let n = units as f64;
        effective_paired_difference(
            mean.max(0.0) * n,
            (-mean).max(0.0) * n,
            n,
            policy.confidence(),
        )
        .ok()
    }

    /// Returns the range of the difference over all possible missing outcomes, or `None` if few are missing and equally many in both arms.
    pub fn bounds(&self) -> Option<Interval> {
        let ((counted, lost), (other_counted, other_lost)) =
            (self.one.counts(), self.other.counts());
        let too_many =
            |lost: u64, counted: u64| lost as f64 > MAX_MISSING * (counted + lost) as f64;
        if lost == other_lost && !too_many(lost, counted) && !too_many(other_lost, other_counted) {
            return None;
        }
        if let (
            Measured::Passes(Outcomes {
                single: Some(one), ..
            }),
            Measured::Passes(Outcomes {
                single: Some(other),
                ..
            }),
        ) = (self.one, self.other)
        {
            return one.bounds(other);
        }
        let (mut low, mut high, mut n) = (0.0, 0.0, 0.0);
        self.items.each_unit(|_, columns| {
            let ends = |arm: Measured<'_>| {
                let is_missing = || {
                    columns
                        .iter()
                        .any(|column| arm.is_missing(*column as usize))
                };
                let mean = mean_of(
                    columns
                        .iter()
                        .filter_map(|column| arm.mean(*column as usize)),
                );
                mean.map(|mean| (mean, mean))
                    .or_else(|| is_missing().then(|| arm.range()))
            };
            if let Some(((one_low, one_high), (other_low, other_high))) =
                ends(self.one).zip(ends(self.other))
            {
                low += one_low - other_high;
                high += one_high - other_low;
                n += 1.0;
            }
        });
        Interval::new(low / n, high / n)
    }
}

/// Compares two arms over runs, as people would see them if they labelled enough outcomes in enough runs.
pub(super) fn weigh_runs(
    by_judge: Finding,
    [one, other]: [&Outcomes; 2],
    items: &Items,
    policy: &Policy,
) -> Finding {
    let seen = labelled::difference(one, other, items, Design::Runs, policy.confidence());
    as_people_see(by_judge, &seen).unwrap_or_else(|by_judge| *by_judge)
}

/// Replaces a judge's finding by that of people's labels, or returns it if labels correct nothing.
fn as_people_see(by_judge: Finding, seen: &Seen) -> Result<Finding, Box<Finding>> {
    match *seen {
        Seen::ByJudge => Err(Box::new(by_judge)),
        Seen::Apart => Ok(Finding {
            difference: None,
            record: None,
            levels: None,
            bounds: None,
            ..Finding::new(
                by_judge.design,
                Support::Thin {
                    obstacle: Obstacle::Unlabelled,
                    p: None,
                },
                by_judge.sizes,
            )
        }),
        Seen::ByPeople(found, labels) => {
            let judge = by_judge.difference.map(|by| JudgeFigure {
                labels,
                value: by.value,
                interval: by.interval,
            });
            let (obstacle, degrees) = match by_judge.support {
                Support::Thin { obstacle, .. } => (Some(obstacle), 1.0),
                _ => (None, found.degrees.min(labels as f64 - 2.0).max(1.0)),
            };
            let mut finding = Finding {
                judge,
                bounds: by_judge.bounds,
                ..Finding::new(by_judge.design, by_judge.support, by_judge.sizes)
            };
            finding.difference = Some(Difference {
                value: found.mean,
                scale: Scale::Share,
                interval: Some(found.interval),
            });
            finding.tested(Test::PredictionPowered, found.p, obstacle);
            finding.precision = (found.standard_error > 0.0).then_some(Precision::Error {
                se: found.standard_error,
                degrees,
            });
            Ok(finding)
        }
    }
}

/// Returns the two rates of a table.
fn levels_of(pairs: Pairs) -> Levels {
    let n = pairs.total() as f64;
    Levels {
        first: (pairs.both + pairs.only_a) as f64 / n,
        second: (pairs.both + pairs.only_b) as f64 / n,
    }
}

/// Values by item and run.
struct RunValues {
    runs: usize,
    values: Vec<Option<f64>>,
}

impl RunValues {
    fn by_runs(&self) -> ItemsByRuns<'_> {
        ItemsByRuns {
            runs: self.runs,
            values: &self.values,
        }
    }
}

/// Maximum number of items in joint sign flips. With more, Holm's smallest p-value is no obstacle.
const MAX_JOINT: usize = 40;

/// Cuts a difference of shares to possible values.
pub(super) fn possible(interval: Interval, scale: Scale) -> Interval {
    match scale {
        Scale::Share => interval.clipped(-1.0, 1.0),
        Scale::Unit | Scale::Ratio => interval,
    }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use crate::domain::{ItemKind, Metric};

    use super::super::family::{Unsettled, settle_primary};
    use super::super::tables::Tables;
    use super::*;

    /// An arm with one outcome of each item: failed, passed, missing, or never asked.
    fn arm(row: &[u8]) -> Outcomes {
        let cells = row
            .iter()
            .map(|outcome| (u32::from(*outcome == 1), u32::from(*outcome < 2)))
            .collect();
        let count = |wanted: &dyn Fn(u8) -> bool| {
            row.iter().filter(|outcome| wanted(**outcome)).count() as u64
        };
        Outcomes {
            cells,
            counted: count(&|outcome| outcome < 2),
            missing: row.iter().map(|outcome| *outcome == 2).collect(),
            lost: count(&|outcome| outcome == 2),
            beside: Vec::new(),
            by_run: vec![(
                count(&|outcome| outcome == 1),
                count(&|outcome| outcome < 2),
            )],
            attempts: 1,
            ..Outcomes::default()
        }
    }

    proptest::proptest! {
        // Each case settles whole boards three times.
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
        #[test]
        fn planes_give_the_evidence_that_items_give(
            rows in (30_usize..120).prop_flat_map(|items| {
                let outcome = proptest::prop_oneof![8 => 0_u8..1, 10 => 1_u8..2, 1 => 2_u8..3, 1 => 3_u8..4];
                let full = proptest::collection::vec(0_u8..2, items);
                let ragged = proptest::collection::vec(outcome, items);
                proptest::collection::vec(proptest::prop_oneof![full, ragged], 2..6)
            }),
        ) {
            let (policy, metric) = (Policy::default(), Metric::pass_rate());
            let items = Items::plain(ItemKind::Question, u32::try_from(rows[0].len()).expect("few"));
            let plain: Vec<Outcomes> = rows.iter().map(|row| arm(row)).collect();
            let single: Vec<Outcomes> = rows.iter().map(|row| arm(row).with_bits(&items)).collect();
            let tables = Tables::of(single.iter().map(|arm| arm.single.as_deref()));
            let settled = |shared: &dyn Fn(usize, usize) -> Finding| {
                let pairs = (0..rows.len()).flat_map(|first| (first + 1..rows.len()).map(move |second| (first, second)));
                let findings = pairs.map(|(first, second)| (first, second, shared(first, second))).collect();
                let values = plain.iter().map(|arm| (arm.counted > 0).then(|| arm.by_run[0].0 as f64 / arm.counted as f64)).collect();
                settle_primary(Unsettled::new(&metric, values, Vec::new(), findings), &policy)
            };
            let weighed = |shared: Shared<'_>| shared.nothing().unwrap_or_else(|| shared.weigh(Design::Items, &policy));
            let of_items = settled(&|first, second| {
                let arms = (Measured::Passes(&plain[first]), Measured::Passes(&plain[second]));
                weighed(Shared::of(arms, Scale::Share, true, &items, &policy))
            });
            let of_planes = settled(&|first, second| {
                weighed(Shared::of_passes(&single[first], &single[second], tables.get(first, second), &items, &policy))
            });
            let of_two = settled(&|first, second| weighed(Shared::of_passes(&single[first], &single[second], None, &items, &policy)));
            proptest::prop_assert_eq!(&of_items, &of_planes);
            proptest::prop_assert_eq!(&of_items, &of_two);
        }
    }
}
