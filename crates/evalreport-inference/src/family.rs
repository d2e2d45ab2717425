//! All pairs of arms on one metric together: p-values adjusted for the family, verdicts, and the leading group.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Metric, MetricKind};
use crate::stats::{self, Aim, Interval, RankRange, benjamini_hochberg, max_t};

use super::better::probability_first_better;
use super::comparison::{Beyond, Difference, PairEvidence, Scale};
use super::joint_order::Dependence;
use super::pair_test::PairFinding;
use super::policy::Policy;
use super::secondary_effects::Detail;
use super::seed::sign_flip_resampling;
use super::verdict::{
    DataSupport, Incomparable, Obstacle, PairVerdict, VerdictInputs, decide_verdict,
};

/// The evidence about all arms on one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    pub pairs: Vec<PairEvidence>,
    /// The arm that beats every other, for all pairs at once, as in [`Evidence::ranks`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// The arm with the best value and all arms that are not significantly worse. Empty if the metric has no better direction or no values.
    pub leading: Vec<usize>,
    /// Arms with a rate over so many fewer items than another's that the rate is of other items. None of them can be the best arm of the
    /// leading group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<usize>,
    /// Possible ranks, by arm. They hold for all arms at once: the chance that any is wrong is at most alpha. A pair may differ without being
    /// ordered here, because among the pairs that differ some are wrong.
    pub ranks: Vec<RankRange>,
    /// Letters by arm, of up to 15 arms. Arms with a common letter are not ordered for all pairs at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub letters: Vec<String>,
    pub alpha: f64,
    /// How p-values are adjusted.
    pub adjustment: Adjustment,
    /// Number of p-values in the adjusted family. On a page of two arms it is the whole suite's.
    pub tested: u64,
    /// Smallest detectable difference of the typical pair. Absent if no pair is tested or the data show no spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

/// The adjustment of a family's p-values. One metric of a suite is primary and decides; the others are secondary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Adjustment {
    /// Benjamini and Hochberg 1995, over the pairs of the primary metric: on average at most a share alpha of the winners that they name is
    /// false. Ranks hold for all pairs at once.
    BenjaminiHochbergOfPairs,
    /// The largest statistic under joint sign flips (Westfall and Young 1993), over the same pairs: the chance of any false winner is at most
    /// alpha. Used if so few units are flipped that a single pair could never win.
    MaxT,
    /// Benjamini and Hochberg 1995, over all pairs of all secondary metrics: on average at most a share alpha of the named winners is
    /// false.
    BenjaminiHochberg,
}

/// The smallest difference that a typical pair detects with 80% power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Resolution {
    /// For the pair with the median precision, on the scale of the difference (a ratio above 1).
    pub difference: f64,
    pub scale: Scale,
    /// The level that one more winner has to meet: alpha times the share of the tested pairs that would then have one.
    pub level: f64,
    /// Pairs tested.
    pub pairs: u64,
}

impl Evidence {
    /// Returns the evidence about two arms, in either order.
    pub fn find_pair(&self, one: usize, other: usize) -> Option<&PairEvidence> {
        self.pair_index(one, other).map(|place| &self.pairs[place])
    }

    /// Returns the index of a pair, in either order. Every table lists its pairs ascending, the first arm below the second.
    pub(super) fn pair_index(&self, one: usize, other: usize) -> Option<usize> {
        self.pairs
            .binary_search_by_key(&(one.min(other), one.max(other)), |pair| {
                (pair.first, pair.second)
            })
            .ok()
    }

    /// Returns the arm that is better than each other arm it is compared with, pair by pair. `None` if no arm is. Unlike the winner, it need
    /// not be first if all ranks are to hold at once.
    pub fn better_than_each(&self) -> Option<usize> {
        (0..self.ranks.len()).find(|arm| {
            let mut own = self.pairs.iter().filter(|pair| {
                (pair.first == *arm || pair.second == *arm)
                    && !matches!(pair.verdict, PairVerdict::NoData { .. })
            });
            let mut others = 0;
            own.all(|pair| {
                others += 1;
                pair.better_arm() == Some(*arm)
            }) && others > 0
        })
    }

    /// Returns the distinct numbers of units of the pairs, ascending.
    pub fn unit_counts(&self) -> Vec<u64> {
        self.pairs
            .iter()
            .map(PairEvidence::unit_count)
            .collect::<BTreeSet<u64>>()
            .into_iter()
            .collect()
    }

    /// Returns the evidence about two of the arms, as first and second. The family stays that of the whole table.
    #[must_use]
    pub fn evidence_between(&self, one: usize, other: usize) -> Self {
        let pair = self.find_pair(one, other).map(|pair| {
            if pair.first == one {
                pair.clone()
            } else {
                pair.swap_arms()
            }
        });
        let pair = pair.map(|pair| PairEvidence {
            first: 0,
            second: 1,
            ..pair
        });
        let winner = pair.as_ref().and_then(PairEvidence::better_arm);
        let leading = match winner {
            Some(winner) => vec![winner],
            None if self.leading.is_empty() => Vec::new(),
            None => vec![0, 1],
        };
        let place = |arm| match winner {
            Some(winner) if winner == arm => RankRange { best: 1, worst: 1 },
            Some(_) => RankRange { best: 2, worst: 2 },
            None => RankRange { best: 1, worst: 2 },
        };
        let ranks = vec![place(0), place(1)];
        Self {
            pairs: pair.into_iter().collect(),
            winner,
            leading,
            partial: [one, other]
                .iter()
                .zip(0..)
                .filter(|(arm, _)| self.partial.contains(arm))
                .map(|(_, place)| place)
                .collect(),
            ranks,
            letters: Vec::new(),
            alpha: self.alpha,
            adjustment: self.adjustment,
            tested: self.tested,
            resolution: self.resolution,
        }
    }
}

/// One metric of a suite, before adjustment.
pub(super) struct UnadjustedEvidence {
    pub metric: Metric,
    /// By arm.
    pub values: Vec<Option<f64>>,
    pub partial: Vec<usize>,
    /// By arm: whether it has a figure, even a published one, and so a rank.
    pub ranked: Vec<bool>,
    /// By pair of arms.
    pub findings: Vec<(usize, usize, PairFinding)>,
}

impl UnadjustedEvidence {
    pub fn new(
        metric: &Metric,
        values: Vec<Option<f64>>,
        partial: Vec<usize>,
        findings: Vec<(usize, usize, PairFinding)>,
    ) -> Self {
        let findings = findings.into_iter().map(|(first, second, mut finding)| {
            let is_measured = !matches!(
                finding.support,
                DataSupport::NotComparable(_) | DataSupport::NoData(_)
            );
            if metric.direction == Direction::None && is_measured {
                finding = PairFinding::not_comparable(
                    finding.design,
                    Incomparable::DirectionUnknown,
                    finding.sizes,
                );
            }
            finding.difference = finding.difference.map(Difference::snap_to_equality);
            (first, second, finding)
        });
        let ranked = values.iter().map(Option::is_some).collect();
        Self {
            metric: metric.clone(),
            values,
            partial,
            ranked,
            findings: findings.collect(),
        }
    }

    /// Returns by finding the mark of each counted one; the others have none.
    fn mark_findings(&self, marks: impl Iterator<Item = bool>) -> Vec<bool> {
        let mut marks = marks;
        self.findings
            .iter()
            .map(|(_, _, finding)| {
                finding.family_p_value().is_some() && marks.next().unwrap_or_default()
            })
            .collect()
    }

    fn counted_findings(&self) -> impl Iterator<Item = &PairFinding> {
        self.findings
            .iter()
            .map(|(_, _, finding)| finding)
            .filter(|finding| finding.family_p_value().is_some())
    }
}

/// Adjusts the primary metric's p-values over its pairs, and sets the verdicts and the ranks.
pub(super) fn settle_primary(
    open: UnadjustedEvidence,
    dependence: &Dependence,
    policy: &Policy,
) -> Evidence {
    let (adjustment, adjusted) = adjust_p_values(open.counted_findings(), policy);
    let beyond: Vec<&PairFinding> = open
        .findings
        .iter()
        .filter_map(|(_, _, finding)| finding.beyond.as_deref())
        .collect();
    let (_, beyond) = self::adjust_p_values(beyond.into_iter(), policy);
    // One test needs no adjustment, so that its verdict is the order.
    let ordered = (adjusted.len() > 1).then(|| match adjustment {
        Adjustment::MaxT => open.mark_findings(adjusted.iter().map(|p| *p < policy.alpha)),
        Adjustment::BenjaminiHochbergOfPairs | Adjustment::BenjaminiHochberg => {
            dependence.ordered_pairs(&open.findings, policy)
        }
    });
    let family = AdjustedFamily {
        adjustment,
        adjusted: &adjusted,
        beyond: &beyond,
        ordered: ordered.as_deref(),
    };
    settle_evidence(open, &family, policy)
}

/// Adjusts the p-values of all secondary metrics together, and sets the verdicts.
pub(super) fn settle_secondary(open: Vec<UnadjustedEvidence>, policy: &Policy) -> Vec<Evidence> {
    let p: Vec<f64> = open
        .iter()
        .flat_map(UnadjustedEvidence::counted_findings)
        .filter_map(PairFinding::family_p_value)
        .collect();
    let adjusted = benjamini_hochberg(&p).unwrap_or_default();
    let mut rest = adjusted.as_slice();
    open.into_iter()
        .map(|open| {
            let own = open.counted_findings().count();
            let (first, others) = rest.split_at(own);
            rest = others;
            let family = AdjustedFamily {
                adjustment: Adjustment::BenjaminiHochberg,
                adjusted: first,
                beyond: &[],
                ordered: None,
            };
            let evidence = settle_evidence(open, &family, policy);
            Evidence {
                tested: adjusted.len() as u64,
                ..evidence
            }
        })
        .collect()
}

/// The adjusted p-values of a metric's pairs.
struct AdjustedFamily<'f> {
    adjustment: Adjustment,
    /// By counted finding.
    adjusted: &'f [f64],
    /// By counted finding about other clusters.
    beyond: &'f [f64],
    /// By finding: whether its order holds together with that of all others. `None` if its verdict alone says it.
    ordered: Option<&'f [bool]>,
}

impl AdjustedFamily<'_> {
    /// Returns the level that one more winner among the pairs has to meet.
    fn next_level(&self, alpha: f64) -> f64 {
        let tested = self.adjusted.len().max(1);
        let found = self.adjusted.iter().filter(|p| **p < alpha).count();
        alpha * (found + 1).min(tested) as f64 / tested as f64
    }
}

/// Adjusts for all pairs of one metric: by the share of false winners, unless so few units could be flipped that no single pair can win.
fn adjust_p_values<'f>(
    findings: impl Iterator<Item = &'f PairFinding>,
    policy: &Policy,
) -> (Adjustment, Vec<f64>) {
    let findings: Vec<&PairFinding> = findings
        .filter(|finding| finding.family_p_value().is_some())
        .collect();
    let p: Vec<f64> = findings
        .iter()
        .filter_map(|finding| finding.family_p_value())
        .collect();
    let is_out_of_reach = |finding: &&PairFinding| {
        finding
            .smallest_flip_p()
            .is_some_and(|floor| floor * p.len() as f64 > policy.alpha)
    };
    let has_sums = |finding: &&PairFinding| {
        !finding.sums.is_empty() && finding.sums.len() == findings[0].sums.len()
    };
    if p.len() > 1
        && findings
            .iter()
            .all(|finding| is_out_of_reach(finding) && has_sums(finding))
    {
        let sums: Vec<Vec<f64>> = findings
            .iter()
            .map(|finding| finding.sums.clone())
            .collect();
        if let Ok(found) = max_t(&sums, sign_flip_resampling(sums.iter().flatten().copied())) {
            return (Adjustment::MaxT, found.adjusted);
        }
    }
    (
        Adjustment::BenjaminiHochbergOfPairs,
        benjamini_hochberg(&p).unwrap_or_default(),
    )
}

/// With more pairs than this, only [`Evidence::resolution`] reports the detectable difference.
const MAX_PLANNED: usize = 100;

/// Above this p-value, more units are planned for the margin instead of for the measured difference.
const MAX_PLANNED_P: f64 = 0.5;

fn settle_evidence(
    open: UnadjustedEvidence,
    family: &AdjustedFamily<'_>,
    policy: &Policy,
) -> Evidence {
    let (adjustment, tested) = (family.adjustment, family.adjusted.len());
    // Planned for the level that one more winner has to meet.
    let aim = Aim {
        alpha: family.next_level(policy.alpha),
        ..policy.power_aim()
    };
    let resolution = if policy.only_rulings {
        None
    } else {
        family_resolution(&open, tested, aim)
    };
    let margin = policy.margin_of_metric(&open.metric);
    let quality_margin = policy.quality_margin(&open.metric);
    let (mut adjusted, mut beyond) = (
        family.adjusted.iter().copied(),
        family.beyond.iter().copied(),
    );
    let is_planned = !policy.only_rulings && open.findings.len() <= MAX_PLANNED;
    // Only the primary metric is decided on.
    let is_searched = is_planned && adjustment != Adjustment::BenjaminiHochberg;
    let metric = open.metric;
    let pairs: Vec<PairEvidence> = open
        .findings
        .into_iter()
        .map(|(first, second, mut finding)| {
            let p = finding.p_value();
            finding.difference = finding
                .difference
                .map(|difference| difference.agree_with(p, policy.alpha));
            let p_adjusted = finding.family_p_value().and_then(|_| adjusted.next());
            let beyond = finding.beyond.take().and_then(|other| {
                let p_adjusted = other.family_p_value().and_then(|_| beyond.next());
                let verdict = pair_verdict(&metric, &other, p_adjusted, margin, aim.alpha, policy);
                let (difference, test, p) = (other.difference?, other.test?, other.p_value()?);
                Some(Box::new(Beyond {
                    verdict,
                    difference,
                    test,
                    p,
                    p_adjusted,
                    clusters: other.sizes.clusters?,
                }))
            });
            let verdict = pair_verdict(&metric, &finding, p_adjusted, margin, aim.alpha, policy);
            let is_open = verdict.winning_place().is_none();
            let better = if adjustment == Adjustment::BenjaminiHochberg || policy.only_rulings {
                None
            } else {
                probability_first_better(&metric, &finding)
            };
            let is_share = finding
                .difference
                .is_some_and(|found| found.scale == Scale::Share);
            let plan = finding
                .plan
                .filter(|_| !policy.only_rulings && verdict.is_open());
            // A difference that chance alone often gives is no size to plan for.
            let is_noise = finding.family_p_value().is_some_and(|p| p > MAX_PLANNED_P);
            let planned_margin = quality_margin.filter(|_| is_noise && is_share);
            let plan = match planned_margin {
                Some(margin) => plan.map(|plan| plan.for_difference(margin)),
                None => plan,
            };
            let needed = plan.and_then(|plan| {
                if is_searched {
                    plan.needed_units(aim)
                } else {
                    plan.needed_units_by_normal(aim)
                }
            });
            let needed = needed.filter(|needed| needed.n > finding.sizes.count_of(needed.of));
            PairEvidence {
                first,
                second,
                verdict,
                design: finding.design,
                difference: finding.difference,
                levels: finding.levels.filter(|_| finding.difference.is_some()),
                test: finding.test,
                p: finding.p_value(),
                p_adjusted,
                probability_first_better: better,
                sizes: finding.sizes,
                judge: finding.judge,
                variation: finding.variation,
                record: finding.record,
                bounds: finding.bounds,
                detectable: if is_open && is_planned {
                    finding.detectable_difference(aim)
                } else {
                    None
                },
                needed,
                needed_for: planned_margin.filter(|_| needed.is_some()),
                margin,
                beyond,
                detail: Detail {
                    doubled: finding
                        .parts
                        .filter(|_| !policy.only_rulings && is_open)
                        .and_then(|parts| parts.detectable_with_doubled(aim)),
                    ..finding.detail
                },
            }
        })
        .collect();
    Evidence {
        resolution,
        adjustment,
        tested: tested as u64,
        ..rank_and_lead(
            &metric,
            (&open.values, &open.ranked),
            open.partial,
            (pairs, family.ordered),
            policy.alpha,
        )
    }
}

/// Returns the detectable difference of the tested pairs.
fn family_resolution(open: &UnadjustedEvidence, tested: usize, aim: Aim) -> Option<Resolution> {
    let scale = open
        .counted_findings()
        .find_map(|finding| finding.difference)?
        .scale;
    let alike = open.counted_findings().filter(|finding| {
        finding
            .difference
            .is_some_and(|difference| difference.scale == scale)
    });
    // The pair of median precision represents all: inverting an exact test for each of thousands takes seconds.
    let mut pairs: Vec<(f64, &PairFinding)> = alike
        .filter_map(|finding| Some((finding.precision.as_ref()?.rough_error(), finding)))
        .collect();
    pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let difference = pairs.get(pairs.len() / 2)?.1.detectable_difference(aim)?;
    Some(Resolution {
        difference,
        scale,
        level: aim.alpha,
        pairs: tested as u64,
    })
}

/// Sets the verdict of one pair. The rule needs differences, so a ratio is passed as its logarithm.
fn pair_verdict(
    metric: &Metric,
    finding: &PairFinding,
    p_adjusted: Option<f64>,
    margin: Option<f64>,
    level: f64,
    policy: &Policy,
) -> PairVerdict {
    let log = |ends: Interval| Interval::new(ends.low.ln(), ends.high.ln());
    let is_ratio = finding
        .difference
        .is_some_and(|found| found.scale == Scale::Ratio);
    // A relative margin cannot be applied to a difference without a ratio.
    let margin = margin.filter(|_| metric.kind != MetricKind::Amount || is_ratio);
    let interval = finding.difference.and_then(|found| found.interval);
    let looked = VerdictInputs {
        difference: finding.difference.map(Difference::signed_distance),
        interval: if is_ratio {
            interval.and_then(log)
        } else {
            interval
        },
        bounds: finding.bounds,
        margin: if is_ratio {
            margin.map(|margin| (1.0 + margin).ln())
        } else {
            margin
        },
        higher_is_better: metric.direction != Direction::Down,
    };
    let verdict = decide_verdict(finding.support, &looked, p_adjusted, policy.alpha);
    let is_reachable = finding.smallest_flip_p().is_none_or(|floor| floor <= level);
    match verdict {
        PairVerdict::NotEnoughEvidence { reason: None } if !is_reachable => {
            PairVerdict::NotEnoughEvidence {
                reason: Some(Obstacle::OutOfReach),
            }
        }
        // A winner needs both.
        PairVerdict::NotEnoughEvidence { reason: None }
            if p_adjusted.is_some_and(|p| p < policy.alpha) =>
        {
            PairVerdict::NotEnoughEvidence {
                reason: Some(Obstacle::IntervalIncludesZero),
            }
        }
        verdict => verdict,
    }
}

fn rank_and_lead(
    metric: &Metric,
    (values, ranked): (&[Option<f64>], &[bool]),
    partial: Vec<usize>,
    (pairs, ordered): (Vec<PairEvidence>, Option<&[bool]>),
    alpha: f64,
) -> Evidence {
    let arms = values.len();
    let mut beats = vec![vec![false; arms]; arms];
    let is_ordered = |place: usize| ordered.is_none_or(|ordered| ordered[place]);
    for (_, pair) in pairs
        .iter()
        .enumerate()
        .filter(|(place, _)| is_ordered(*place))
    {
        match pair.better_arm() {
            Some(better) if better == pair.first => beats[pair.first][pair.second] = true,
            Some(_) => beats[pair.second][pair.first] = true,
            None => {}
        }
    }
    let is_comparable =
        |pair: &PairEvidence| !matches!(pair.verdict, PairVerdict::NotComparable { .. });
    let is_compared = metric.direction != Direction::None && pairs.iter().any(is_comparable);
    // Arms without a value rank behind all others: they cannot lead.
    let worst = if metric.direction == Direction::Down {
        f64::MAX
    } else {
        f64::MIN
    };
    let points: Vec<f64> = values.iter().map(|value| value.unwrap_or(worst)).collect();
    // An arm with fewer items cannot be the best by its rate on those. It is in the group unless it is beaten.
    let leaders: Vec<f64> = (0..arms)
        .map(|arm| {
            if partial.contains(&arm) {
                worst
            } else {
                points[arm]
            }
        })
        .collect();
    let leading = stats::leading_group(&leaders, metric.direction != Direction::Down, &beats)
        .unwrap_or_default();
    let leading = if is_compared {
        leading
            .into_iter()
            .filter(|arm| values[*arm].is_some())
            .collect()
    } else {
        Vec::new()
    };
    let rivals = ranked.iter().filter(|is_ranked| **is_ranked).count();
    let winner = (0..arms).find(|arm| {
        rivals > 1 && beats[*arm].iter().filter(|beaten| **beaten).count() == rivals - 1
    });
    // An arm that beats every other is alone in the group, even if another has a better value.
    let leading = winner.map_or(leading, |winner| vec![winner]);
    Evidence {
        winner,
        leading,
        partial,
        ranks: arm_ranks(ranked, &beats),
        letters: letter_arms(&points, metric.direction != Direction::Down, &beats),
        alpha,
        adjustment: Adjustment::BenjaminiHochbergOfPairs,
        pairs,
        tested: 0,
        resolution: None,
    }
}

/// Returns the ranks by arm. Arms without a figure rank behind all others.
fn arm_ranks(ranked: &[bool], beats: &[Vec<bool>]) -> Vec<RankRange> {
    let arms: Vec<usize> = (0..ranked.len()).filter(|arm| ranked[*arm]).collect();
    let among: Vec<Vec<bool>> = arms
        .iter()
        .map(|one| arms.iter().map(|other| beats[*one][*other]).collect())
        .collect();
    let mut places = vec![
        RankRange {
            best: arms.len() + 1,
            worst: ranked.len()
        };
        ranked.len()
    ];
    for (arm, place) in arms
        .iter()
        .zip(stats::rank_ranges(&among).unwrap_or_default())
    {
        places[*arm] = place;
    }
    places
}

/// Maximum number of arms with letters. With more, nobody can read them.
const MAX_LETTERED: usize = 15;

/// Returns letters by arm, from the best arm down. Empty for fewer than three arms, for many, and if no pair is ordered.
fn letter_arms(points: &[f64], higher_is_better: bool, beats: &[Vec<bool>]) -> Vec<String> {
    if !(3..=MAX_LETTERED).contains(&points.len()) || !beats.iter().flatten().any(|beaten| *beaten)
    {
        return Vec::new();
    }
    let wins = |arm: usize| beats[arm].iter().filter(|beaten| **beaten).count();
    let mut order: Vec<usize> = (0..points.len()).collect();
    let sign = if higher_is_better { 1.0 } else { -1.0 };
    order.sort_by(|one, other| {
        wins(*other)
            .cmp(&wins(*one))
            .then((sign * points[*other]).total_cmp(&(sign * points[*one])))
    });
    let differ = |one: usize, other: usize| beats[one][other] || beats[other][one];
    let matrix: Vec<Vec<bool>> = order
        .iter()
        .map(|one| order.iter().map(|other| differ(*one, *other)).collect())
        .collect();
    let Ok(found) = stats::compact_letters(&matrix) else {
        return Vec::new();
    };
    let mut letters = vec![String::new(); points.len()];
    for (arm, own) in order.into_iter().zip(found) {
        letters[arm] = own;
    }
    letters
}
