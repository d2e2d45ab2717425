//! Foreseeing the verdicts of all items of several arms from some of them: which items to ask next, and when to stop.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::distribution::{FairCoin, normal_two_sided};
use super::exact::{Resampling, mcnemar_test, sign_flip};

/// Probability at which a verdict counts as foreseen. Simulations give the errors of the whole rule (`docs/measured/simulations.md`).
const FORESEEN_PROBABILITY: f64 = 0.9;
/// Earlier outcomes that a group's expectation is worth: as many differing items as in all groups, won as often as lost.
const PRIOR_OUTCOMES: f64 = 4.0;
/// Correlation within a unit before anything is known, and the number of pairs of items that this is worth.
const PRIOR_CORRELATION: (f64, f64) = (0.1, 20.0);
/// Share of alpha that may be spent on naming winners before all items are asked.
const EARLY_ALPHA_SHARE: f64 = 0.5;
/// Largest number of differing items for which leads are computed. Beyond it, no winner is named early.
const MAX_LEAD_ITEMS: usize = 4096;
/// Smaller tails are too rare for a boundary.
const MIN_TAIL: f64 = 1e-7;
/// Largest number of clusters or tasks whose flips are all counted at every look.
const MAX_ENUMERATED_UNITS: usize = 16;
/// Sums of flips that differ by less than this are ties.
const TIE_TOLERANCE: f64 = 1e-9;
/// Random flips of more units, when their test is foreseen.
const DRAWN_FLIPS: usize = 2_046;
/// Random sign flips of a test of many clusters. The comparison of the full run draws its own.
const FLIP_RESAMPLING: Resampling = Resampling {
    seed: 35,
    draws: 9_999,
};

/// What two arms have shown of one unit: of an item, a cluster of items, or a task with several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairUnit {
    /// Units of a group are alike before they are asked, such as items that earlier arms found equally hard.
    pub group: usize,
    /// Items that both arms were asked.
    pub asked: u64,
    /// Items not asked yet.
    pub left: u64,
    /// Sum over the asked items of the first arm's value minus the second's.
    pub lead: f64,
    /// Sum over the asked items of the squared difference: for passes and fails, the number of items that differ.
    pub squares: f64,
}

impl PairUnit {
    /// Adds an item's difference.
    pub fn add_difference(&mut self, difference: f64) {
        self.asked += 1;
        self.lead += difference;
        self.squares += difference * difference;
    }

    fn item_count(&self) -> u64 {
        self.asked + self.left
    }
}

/// The units of a full run's test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Units {
    /// Single items: McNemar's exact test.
    Items,
    /// Clusters of items: the signs of whole clusters are flipped.
    Clusters,
    /// Tasks whose runs have rates: the signs of whole tasks are flipped.
    Tasks,
}

impl Units {
    /// Returns the fewest units whose test can name a winner in each of several pairs of arms.
    pub fn fewest_deciding(self, pairs: usize, alpha: f64) -> usize {
        // All units favour one arm: 2 of the 2ⁿ ways to flip the signs.
        (1..64)
            .find(|units| 0.5f64.powi(*units - 1) * pairs.max(1) as f64 <= alpha)
            .and_then(|units| usize::try_from(units).ok())
            .unwrap_or(64)
    }

    /// Returns the squared difference of an item that differs typically.
    fn typical_square(self) -> f64 {
        match self {
            Self::Items | Self::Clusters => 1.0,
            // 10 percentage points.
            Self::Tasks => 0.01,
        }
    }
}

/// A verdict about all items that is known before all are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Foreseen {
    FirstWins,
    SecondWins,
    /// The test of all items will name no winner.
    NoWinner,
}

impl Foreseen {
    /// Returns the verdict with the arms exchanged.
    #[must_use]
    pub fn swap_arms(self) -> Self {
        match self {
            Self::FirstWins => Self::SecondWins,
            Self::SecondWins => Self::FirstWins,
            Self::NoWinner => Self::NoWinner,
        }
    }
}

/// The rule that foresees the tests of a full run of several arms, adjusted over all pairs by Holm at a level.
///
/// A winner needs two things. Its test of all items must be expected to name it with probability 0.9 (predictive probability, Spiegelhalter,
/// Freedman and Blackburn 1986: the groups' rates have a Dirichlet posterior, the units' means shrink to that of their group, and the sum over
/// the items left is taken as normal). And the lead so far must be one that a fair coin reaches with a share of alpha / 2 at most at *any*
/// number of tosses (a repeated significance test of constant nominal level, Pocock 1977, computed exactly for looks after every toss).
/// Equal arms differ by fair coins whichever items are asked, so looking often costs nothing. In clusters the coins are the clusters: their
/// sums at different looks are more alike than those of single items, so the same level is reached less often (Slepian 1962).
#[derive(Debug)]
pub struct AdaptiveStopping {
    units: Units,
    alpha: f64,
    /// By number of differing items: McNemar's p by rising lead.
    tails: Vec<Vec<f64>>,
    /// The nominal level of an early winner, by the number of pairs that Holm still counts, less one.
    nominal: Vec<OnceLock<f64>>,
}

/// The sign flips of few units, over all looks: which of them would have named a winner.
///
/// A fair coin of few tosses reaches no lead that is rare at any number of tosses. But the same few units are looked at again and again, so the
/// chance that any look names a winner is little above that of one look. It is counted over all flips, and spent in proportion to the items asked
/// (Lan and DeMets 1983).
#[derive(Clone, Debug, Default)]
struct CrossedFlips {
    /// By number of pairs that Holm still counts, less one, and by flip: whether its lead was large enough at some look. The first flip is what
    /// was seen.
    crossed: Vec<Vec<bool>>,
}

impl CrossedFlips {
    /// Counts which leads are large enough at a look. `spent` has the probability with which all looks so far may name a winner, by number of
    /// pairs.
    ///
    /// Every look is counted, so that all flips meet the same limits.
    fn record_look(&mut self, units: &[PairUnit], spent: impl Iterator<Item = f64>) {
        let sums = flipped_sums(&unit_leads(units));
        for (place, spent) in spent.enumerate() {
            if place == self.crossed.len() {
                self.crossed.push(vec![false; sums.len()]);
            }
            let crossed = &mut self.crossed[place];
            let mut fresh: Vec<f64> = sums
                .iter()
                .zip(&*crossed)
                .filter(|(_, crossed)| !**crossed)
                .map(|(sum, _)| *sum)
                .collect();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a part of the flips"
            )]
            let budget = ((spent * sums.len() as f64).floor() as usize)
                .saturating_sub(sums.len() - fresh.len());
            if budget < fresh.len() {
                // Equal leads cross together or not at all.
                let (_, limit, _) =
                    fresh.select_nth_unstable_by(budget, |one, other| other.total_cmp(one));
                let limit = *limit * (1.0 + TIE_TOLERANCE) + TIE_TOLERANCE;
                for (sum, crossed) in sums.iter().zip(crossed) {
                    *crossed |= *sum > limit;
                }
            }
        }
    }

    /// Returns whether what was seen was large enough at some look.
    fn has_crossed(&self, left: usize) -> bool {
        left.checked_sub(1)
            .and_then(|place| self.crossed.get(place))
            .is_some_and(|crossed| crossed[0])
    }
}

/// The p-value that the full run's test of a pair will have.
#[derive(Clone, Copy)]
struct PValueForecast {
    ahead: Foreseen,
    /// With probability 0.9, the test names the arm ahead at most at this p-value.
    at_most: f64,
    /// With probability 0.9, the p-value is larger, whoever is ahead.
    more_than: f64,
}

impl AdaptiveStopping {
    /// Prepares the rule for all pairs of `arms` arms with `items` items each, tested at level `alpha` in (0, 1).
    pub fn new(units: Units, items: u64, arms: usize, alpha: f64) -> Self {
        let horizon = usize::try_from(items)
            .unwrap_or(MAX_LEAD_ITEMS)
            .min(MAX_LEAD_ITEMS);
        let tails = (0..=horizon as u64).map(mcnemar_tails).collect();
        Self {
            units,
            alpha,
            tails,
            nominal: vec![OnceLock::new(); count_of_pairs(arms).max(1)],
        }
    }

    /// Returns the nominal level of an early winner if Holm still counts `left` pairs.
    fn nominal_level(&self, left: usize) -> f64 {
        let place = left.clamp(1, self.nominal.len()) - 1;
        *self.nominal[place].get_or_init(|| {
            let spent = EARLY_ALPHA_SHARE * self.alpha / (place + 1) as f64;
            // Crossing is monotone in the nominal level, and 30 halvings of its logarithm leave a ratio of 1 + 1e-8.
            let (mut low, mut high) = (MIN_TAIL.ln(), self.alpha.ln());
            for _ in 0..30 {
                let middle = low.midpoint(high);
                if crossing_probability(&self.tails, middle.exp()) <= spent {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low.exp()
        })
    }

    /// Returns whether a winner may be named: all items are asked, so that the test itself decides, or chance rarely gives such a lead at any
    /// number of items.
    fn has_sufficient_lead(&self, units: &[PairUnit], flips: &CrossedFlips, left: usize) -> bool {
        if units.iter().all(|unit| unit.left == 0) {
            return true;
        }
        if self.is_enumerable(units) {
            return flips.has_crossed(left);
        }
        let (lead, squares) = self.lead_and_squares(units);
        let differing: f64 = units.iter().map(|unit| unit.squares).sum();
        if self.units != Units::Tasks && differing >= self.tails.len() as f64 {
            return false;
        }
        let p = match self.units {
            Units::Items => mcnemar_p_value(lead.abs(), squares),
            Units::Clusters | Units::Tasks => {
                flip_p_value(lead.abs(), squares, &flipped_sums(&unit_leads(units)))
            }
        };
        p <= self.nominal_level(left)
    }

    /// Says whether all flips of the units are counted.
    fn is_enumerable(&self, units: &[PairUnit]) -> bool {
        self.units != Units::Items && units.len() <= MAX_ENUMERATED_UNITS
    }

    /// Counts a look at a pair.
    fn record_look(&self, units: &[PairUnit], flips: &mut CrossedFlips) {
        if self.is_enumerable(units) {
            let (asked, left) = units
                .iter()
                .fold((0, 0), |sum, unit| (sum.0 + unit.asked, sum.1 + unit.left));
            let spent =
                EARLY_ALPHA_SHARE * self.alpha * asked as f64 / (asked + left).max(1) as f64;
            flips.record_look(
                units,
                (1..=self.nominal.len()).map(|pairs| spent / pairs as f64),
            );
        }
    }

    /// Returns the lead, and the sum of the units' squared leads.
    fn lead_and_squares(&self, units: &[PairUnit]) -> (f64, f64) {
        let square = |unit: &PairUnit| {
            if self.units == Units::Items {
                unit.squares
            } else {
                unit.lead * unit.lead
            }
        };
        units.iter().fold((0.0, 0.0), |sum, unit| {
            (sum.0 + unit.lead, sum.1 + square(unit))
        })
    }

    /// Returns the p-value that the test of all items will have. `None` if nothing was asked.
    fn forecast_p_value(&self, units: &[PairUnit]) -> Option<PValueForecast> {
        let (lead, squares) = self.lead_and_squares(units);
        let ahead = if lead > 0.0 {
            Foreseen::FirstWins
        } else {
            Foreseen::SecondWins
        };
        if units.iter().all(|unit| unit.left == 0) {
            let p = self.full_run_p_value(units, lead, squares);
            return Some(PValueForecast {
                ahead,
                at_most: p,
                more_than: p,
            });
        }
        let expected = ExpectedLead::from_units(units, self.units)?;
        let all = expected.expected_totals(units);
        let sd = all.variance.sqrt();
        let sign = if ahead == Foreseen::FirstWins {
            1.0
        } else {
            -1.0
        };
        let least = sign * all.lead - normal_quantile_or_zero(FORESEEN_PROBABILITY) * sd;
        let most = largest_lead(all.lead.abs(), sd);
        let [at_most, more_than] = match self.units {
            // A half of the lattice's step of two.
            Units::Items => [least, most].map(|lead| mcnemar_p_value(lead + 1.0, all.squares)),
            Units::Clusters | Units::Tasks => {
                let sums = flipped_sums(&all.leads);
                [least, most].map(|lead| flip_p_value(lead, all.squares, &sums))
            }
        };
        Some(PValueForecast {
            ahead,
            at_most,
            more_than,
        })
    }

    /// Returns the p-value of the test of all items.
    fn full_run_p_value(&self, units: &[PairUnit], lead: f64, squares: f64) -> f64 {
        match self.units {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "counts of items"
            )]
            Units::Items => {
                mcnemar_test(
                    squares.midpoint(lead).round() as u64,
                    squares.midpoint(-lead).round() as u64,
                )
                .exact
            }
            Units::Clusters | Units::Tasks => {
                let leads: Vec<f64> = unit_leads(units)
                    .into_iter()
                    .filter(|lead| *lead != 0.0)
                    .collect();
                sign_flip(&leads, FLIP_RESAMPLING).map_or(1.0, |test| test.p)
            }
        }
    }
}

fn unit_leads(units: &[PairUnit]) -> Vec<f64> {
    units.iter().map(|unit| unit.lead).collect()
}

/// Returns the sizes of the sums of some leads under flips of their signs: all flips of few leads, without flips first, or random ones.
fn flipped_sums(leads: &[f64]) -> Vec<f64> {
    let mut sums = vec![leads.iter().sum::<f64>()];
    if leads.len() <= MAX_ENUMERATED_UNITS {
        // The first unit keeps its sign: flipping all signs mirrors the sum.
        for lead in leads.iter().skip(1) {
            let more: Vec<f64> = sums.iter().map(|sum| sum - 2.0 * lead).collect();
            sums.extend(more);
        }
    } else {
        let mut random = ChaCha8Rng::seed_from_u64(FLIP_RESAMPLING.seed);
        for _ in 0..DRAWN_FLIPS {
            let mut sum = 0.0;
            for chunk in leads.chunks(64) {
                let word = random.next_u64();
                sum += chunk
                    .iter()
                    .enumerate()
                    .map(|(place, lead)| if word >> place & 1 == 1 { -lead } else { *lead })
                    .sum::<f64>();
            }
            sums.push(sum);
        }
    }
    sums.into_iter().map(f64::abs).collect()
}

/// Returns McNemar's exact p-value of a lead over differing items, whose number may be expected.
fn mcnemar_p_value(lead: f64, differing: f64) -> f64 {
    if lead <= 0.0 || differing < 0.5 {
        return 1.0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of items"
    )]
    let pairs = differing.round() as u64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of items"
    )]
    let fewer = ((pairs as f64 - lead).max(0.0) / 2.0).ceil() as u64;
    (2.0 * FairCoin::new(pairs).at_most(fewer.min(pairs / 2))).min(1.0)
}

/// Returns the p-value of a lead by the sums of flips.
fn flip_p_value(lead: f64, squares: f64, sums: &[f64]) -> f64 {
    if lead <= 0.0 || squares <= 0.0 {
        return 1.0;
    }
    let count = sums
        .iter()
        .filter(|sum| **sum >= lead * (1.0 - TIE_TOLERANCE))
        .count();
    let share = count.max(1) as f64 / sums.len() as f64;
    // Few of random flips are too rough a count. Sums of random signs have lighter tails than the normal distribution.
    if sums.len() == DRAWN_FLIPS + 1 && count < 10 {
        share.min(normal_two_sided(lead / squares.sqrt()))
    } else {
        share
    }
}

/// The units of a group with items left, by the part of their items that one more item would be; the first of equal ones comes first.
type UnitQueue = BinaryHeap<(u64, Reverse<usize>)>;

/// Returns the units to ask next, one item each, `size` in all if so many are left. Each is of the group where it shrinks the uncertainty
/// about all items of the open pairs most, and of its unit with the smallest share asked.
///
/// At first, before anything is asked, it is the groups' shares of all items. The choice does not depend on who leads in which unit, so
/// that equal arms stay equal whatever is asked. All pairs have the same units; the caller has put them in random order.
pub fn next_units(pairs: &[&[PairUnit]], of: Units, size: u64) -> Vec<usize> {
    let Some(units) = pairs.first() else {
        return Vec::new();
    };
    let groups = units.iter().map(|unit| unit.group + 1).max().unwrap_or(0);
    let mut waiting: Vec<UnitQueue> = vec![BinaryHeap::new(); groups];
    // Shares asked, as D'Hondt gives out seats.
    let turn = |unit: &PairUnit| (unit.item_count() << 20) / (unit.asked + 1);
    let mut taken: Vec<PairUnit> = units.to_vec();
    for (place, unit) in units.iter().enumerate().filter(|(_, unit)| unit.left > 0) {
        waiting[unit.group].push((turn(unit), Reverse(place)));
    }
    let mut next = Vec::new();
    let mut take = |group: usize, waiting: &mut [UnitQueue]| {
        let (_, Reverse(place)) = waiting[group].pop()?;
        let before = taken[place];
        taken[place] = PairUnit {
            asked: before.asked + 1,
            left: before.left - 1,
            ..before
        };
        if taken[place].left > 0 {
            waiting[group].push((turn(&taken[place]), Reverse(place)));
        }
        next.push(place);
        Some(place)
    };
    let expected: Option<Vec<ExpectedLead>> = pairs
        .iter()
        .map(|units| ExpectedLead::from_units(units, of))
        .collect();
    let Some(mut expected) = expected else {
        for (group, count) in split_by_shares(units, groups, size).into_iter().enumerate() {
            for _ in 0..count {
                take(group, &mut waiting);
            }
        }
        return next;
    };
    // What the pairs know of each unit, as far as more items change it.
    let mut known: Vec<Vec<PairUnit>> = pairs.iter().map(|units| units.to_vec()).collect();
    for _ in 0..size {
        let gain = |group: usize| -> f64 {
            let Some((_, Reverse(place))) = waiting[group].peek() else {
                return f64::NEG_INFINITY;
            };
            expected
                .iter()
                .zip(&known)
                .map(|(expected, units)| expected.variance_reduction(&units[*place]))
                .sum()
        };
        let best = (0..groups)
            .map(|group| (gain(group), group))
            .filter(|(gain, _)| gain.is_finite())
            .max_by(|one, other| one.0.total_cmp(&other.0));
        let Some(place) = best.and_then(|(_, group)| take(group, &mut waiting)) else {
            break;
        };
        for (expected, units) in expected.iter_mut().zip(&mut known) {
            expected.count_asked(&units[place]);
            units[place] = PairUnit {
                asked: units[place].asked + 1,
                left: units[place].left.saturating_sub(1),
                ..units[place]
            };
        }
    }
    next
}

/// Returns how many items to ask in the next block, after `asked` of `items` in `units` units: 10% at first, at least 20 and one of each unit of
/// several items; then 5%, at least 5 items or, of tasks, one run.
pub fn block_size(of: Units, asked: u64, items: u64, units: u64) -> u64 {
    match (of, asked) {
        (Units::Items, 0) => (items / 10).max(20),
        (Units::Clusters, 0) => (items / 10).max(20).max(units),
        (Units::Tasks, 0) => (items / 10).max(units),
        (Units::Items | Units::Clusters, _) => (items / 20).max(5),
        (Units::Tasks, _) => (items / 20).max(1),
    }
}

/// Number of groups by [`difficulty_group`].
pub const DIFFICULTY_GROUPS: usize = 5;

/// Returns the group of an item that `passed` of `tried` earlier runs passed: none, up to a third, less than two thirds, more, or all.
pub fn difficulty_group(passed: u64, tried: u64) -> usize {
    match passed {
        0 => 0,
        _ if passed == tried => 4,
        _ if 3 * passed <= tried => 1,
        _ if 3 * passed < 2 * tried => 2,
        _ => 3,
    }
}

/// Splits `size` items by the groups' shares, largest remainders first.
fn split_by_shares(units: &[PairUnit], groups: usize, size: u64) -> Vec<u64> {
    let mut left = vec![0; groups];
    for unit in units {
        left[unit.group] += unit.left;
    }
    let total: u64 = left.iter().sum();
    let size = size.min(total);
    let exact = |group: usize| size as f64 * left[group] as f64 / total.max(1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count"
    )]
    let mut next: Vec<u64> = (0..groups)
        .map(|group| exact(group).floor() as u64)
        .collect();
    let mut order: Vec<usize> = (0..groups).collect();
    order.sort_by(|one, other| exact(*other).fract().total_cmp(&exact(*one).fract()));
    for place in order
        .into_iter()
        .take(usize::try_from(size - next.iter().sum::<u64>()).unwrap_or(0))
    {
        next[place] += 1;
    }
    next
}

/// What is expected of the items of a pair.
struct ExpectedLead {
    of: Units,
    /// Correlation of two items of a unit.
    correlation: f64,
    groups: Vec<ExpectedGroup>,
}

/// Expected values of a group's items.
#[derive(Clone, Copy, Default)]
struct ExpectedGroup {
    /// Mean difference of an item.
    mean: f64,
    /// Mean squared difference.
    square: f64,
    /// Number of independent items that the expectation is worth.
    weight: f64,
    /// Items left whose expectation is that of the group and not of their unit.
    unknown: f64,
}

/// The expected sums over all items.
struct ExpectedTotals {
    lead: f64,
    /// Of the lead.
    variance: f64,
    /// Sum of the units' squared leads.
    squares: f64,
    /// By cluster or task: its lead.
    leads: Vec<f64>,
}

impl ExpectedLead {
    /// Returns the expectation, or `None` if nothing was asked.
    fn from_units(units: &[PairUnit], of: Units) -> Option<Self> {
        let (asked, squares) = units.iter().fold((0, 0.0), |sum, unit| {
            (sum.0 + unit.asked, sum.1 + unit.squares)
        });
        if asked == 0 {
            return None;
        }
        let typical = (squares + of.typical_square()) / (asked as f64 + 2.0);
        let count = units.iter().map(|unit| unit.group + 1).max().unwrap_or(0);
        let mut sums = vec![(0.0, 0.0, 0.0); count];
        // Correlation by products of differences within units; it does not depend on who leads in which unit.
        let (mut products, mut pairs) = (
            PRIOR_CORRELATION.0 * PRIOR_CORRELATION.1 * typical,
            PRIOR_CORRELATION.1 * typical,
        );
        for unit in units {
            let sum = &mut sums[unit.group];
            *sum = (
                sum.0 + unit.asked as f64,
                sum.1 + unit.lead,
                sum.2 + unit.squares,
            );
            if unit.asked > 1 {
                products += unit.lead * unit.lead - unit.squares;
                pairs += unit.asked as f64 * (unit.asked - 1) as f64 * typical;
            }
        }
        let correlation = (products / pairs).clamp(0.0, 0.95);
        let group = |(asked, lead, squares): (f64, f64, f64)| ExpectedGroup {
            mean: lead / (asked + PRIOR_OUTCOMES),
            square: (squares + PRIOR_OUTCOMES * typical) / (asked + PRIOR_OUTCOMES),
            weight: PRIOR_OUTCOMES,
            unknown: 0.0,
        };
        let mut expected = Self {
            of,
            correlation,
            groups: sums.into_iter().map(group).collect(),
        };
        for unit in units {
            let (worth, unknown) = (
                expected.effective_items(unit.asked),
                expected.left_expected_from_group(unit),
            );
            let group = &mut expected.groups[unit.group];
            group.weight += worth;
            group.unknown += unknown;
        }
        Some(expected)
    }

    /// Returns the number of independent items that some items of one unit are worth for their group.
    fn effective_items(&self, asked: u64) -> f64 {
        if asked == 0 {
            0.0
        } else {
            asked as f64 / (1.0 + (asked - 1) as f64 * self.correlation)
        }
    }

    /// Returns a number of 1 − r for a unit without items asked, and more with each: what the unit's own items and its group are worth.
    fn own_and_group_weight(&self, unit: &PairUnit) -> f64 {
        unit.asked as f64 * self.correlation + 1.0 - self.correlation
    }

    /// Returns the part of the items left that is expected from the group.
    fn left_expected_from_group(&self, unit: &PairUnit) -> f64 {
        unit.left as f64 * (1.0 - self.correlation) / self.own_and_group_weight(unit)
    }

    /// Returns the variance of the lead over a unit's items left if the group's values were known, relative to that of an item.
    fn own_variance(&self, unit: &PairUnit) -> f64 {
        let left = unit.left as f64;
        (1.0 - self.correlation)
            * left
            * (1.0 + left * self.correlation / self.own_and_group_weight(unit))
    }

    /// Returns by how much one more item of a unit shrinks the variance of the lead over all items.
    fn variance_reduction(&self, unit: &PairUnit) -> f64 {
        if unit.left == 0 {
            return 0.0;
        }
        let after = PairUnit {
            asked: unit.asked + 1,
            left: unit.left - 1,
            ..*unit
        };
        let group = &self.groups[unit.group];
        let unknown = group.unknown - self.left_expected_from_group(unit)
            + self.left_expected_from_group(&after);
        let weight =
            group.weight - self.effective_items(unit.asked) + self.effective_items(after.asked);
        let own = self.own_variance(unit) - self.own_variance(&after);
        group.square
            * (own + group.unknown.powi(2) / (group.weight + 1.0)
                - unknown.powi(2) / (weight + 1.0))
    }

    /// Counts one more item of a unit as asked.
    fn count_asked(&mut self, unit: &PairUnit) {
        if unit.left == 0 {
            return;
        }
        let after = PairUnit {
            asked: unit.asked + 1,
            left: unit.left - 1,
            ..*unit
        };
        let (worth, unknown) = (
            self.effective_items(after.asked) - self.effective_items(unit.asked),
            self.left_expected_from_group(&after) - self.left_expected_from_group(unit),
        );
        let group = &mut self.groups[unit.group];
        group.weight += worth;
        group.unknown += unknown;
    }

    fn expected_totals(&self, units: &[PairUnit]) -> ExpectedTotals {
        let mut all = ExpectedTotals {
            lead: 0.0,
            variance: 0.0,
            squares: 0.0,
            leads: Vec::new(),
        };
        for unit in units {
            let group = &self.groups[unit.group];
            let item = (group.square - group.mean * group.mean).max(0.0);
            let mean = (unit.lead * self.correlation + (1.0 - self.correlation) * group.mean)
                / self.own_and_group_weight(unit);
            let lead = unit.lead + unit.left as f64 * mean;
            let variance = item * self.own_variance(unit);
            if self.of != Units::Items {
                // Of the expected size: the expected lead alone is too small.
                all.leads
                    .push((lead * lead + variance).sqrt().copysign(lead));
            }
            all.lead += lead;
            all.variance += variance;
            all.squares += match self.of {
                Units::Items => unit.squares + unit.left as f64 * group.square,
                Units::Clusters | Units::Tasks => lead * lead + variance,
            };
        }
        for group in &self.groups {
            all.variance += (group.square - group.mean * group.mean).max(0.0)
                * group.unknown.powi(2)
                / (group.weight + 1.0);
        }
        all
    }
}

/// What a pair of arms has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairRecord {
    /// Items with values of both arms.
    pub asked: u64,
    /// Items on which the first arm has the larger value.
    pub won: u64,
    /// Items on which the second arm has.
    pub lost: u64,
}

/// Several arms that are asked block by block until the full run's verdict on every pair is foreseen.
///
/// An arm is asked no more once all its pairs are foreseen. Their verdicts then stay, so that later blocks are those of the other arms alone.
#[derive(Debug)]
pub struct AdaptiveInquiry<'r> {
    rule: &'r AdaptiveStopping,
    arms: usize,
    /// By pair, as in [`AdaptiveInquiry::arm_pairs`]: its units.
    states: Vec<Vec<PairUnit>>,
    flips: Vec<CrossedFlips>,
    records: Vec<PairRecord>,
    /// By pair: the verdict that stays.
    settled: Vec<Option<Foreseen>>,
    asked: u64,
    items: u64,
}

/// What to ask next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemBlock {
    /// Units, one more item of each.
    pub units: Vec<usize>,
    /// Arms to ask, ascending.
    pub arms: Vec<usize>,
}

impl<'r> AdaptiveInquiry<'r> {
    /// Begins with nothing asked. `sizes` has the group and the number of items of each unit, in random order.
    pub fn new(rule: &'r AdaptiveStopping, sizes: &[(usize, u64)], arms: usize) -> Self {
        let fresh: Vec<PairUnit> = sizes
            .iter()
            .map(|(group, size)| PairUnit {
                group: *group,
                left: *size,
                ..PairUnit::default()
            })
            .collect();
        let items = sizes.iter().map(|(_, size)| size).sum();
        let pairs = count_of_pairs(arms);
        Self {
            rule,
            arms,
            states: vec![fresh; pairs],
            flips: vec![CrossedFlips::default(); pairs],
            records: vec![PairRecord::default(); pairs],
            settled: vec![None; pairs],
            asked: 0,
            items,
        }
    }

    /// Returns the pairs of arms in the order of the verdicts: the first arm with each later one, the second, and so on.
    pub fn arm_pairs(arms: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        (0..arms).flat_map(move |first| (first + 1..arms).map(move |second| (first, second)))
    }

    /// Returns the verdicts of the full run, by pair, as far as they are foreseen.
    pub fn foreseen_verdicts(&mut self) -> Vec<Option<Foreseen>> {
        for ((units, flips), settled) in self.states.iter().zip(&mut self.flips).zip(&self.settled)
        {
            if settled.is_none() {
                self.rule.record_look(units, flips);
            }
        }
        let mut found = self.settled.clone();
        let is_open = |found: &Option<Foreseen>| found.is_none();
        let forecasts: Vec<Option<PValueForecast>> = self
            .states
            .iter()
            .zip(&found)
            .map(|(units, found)| {
                if is_open(found) {
                    self.rule.forecast_p_value(units)
                } else {
                    None
                }
            })
            .collect();
        // Holm's steps over the p-values that are reached almost surely.
        let mut left = found
            .iter()
            .filter(|found| found.is_none_or(|verdict| verdict == Foreseen::NoWinner))
            .count();
        loop {
            let sure = (0..found.len()).find(|place| {
                let is_sure =
                    |of: &PValueForecast| of.at_most <= self.rule.alpha / left.max(1) as f64;
                is_open(&found[*place])
                    && forecasts[*place].as_ref().is_some_and(is_sure)
                    && self.rule.has_sufficient_lead(
                        &self.states[*place],
                        &self.flips[*place],
                        left,
                    )
            });
            let Some(place) = sure else { break };
            found[place] = forecasts[place].map(|of| of.ahead);
            left -= 1;
        }
        // And over those that are perhaps reached: what is not rejected here is not rejected by the full run either.
        let mut rest: Vec<usize> = (0..found.len())
            .filter(|place| is_open(&found[*place]))
            .collect();
        let may_win = |place: usize, left: usize| {
            forecasts[place].is_none_or(|of| of.more_than <= self.rule.alpha / left.max(1) as f64)
        };
        while let Some(at) = rest.iter().position(|place| may_win(*place, left)) {
            rest.remove(at);
            left -= 1;
        }
        for place in rest {
            found[place] = Some(Foreseen::NoWinner);
        }
        found
    }

    /// Returns the next block, of the usual size or of `size` items, or `None` if every verdict is foreseen.
    pub fn next_block(&mut self, size: Option<u64>) -> Option<ItemBlock> {
        let found = self.foreseen_verdicts();
        let is_open = |arm: usize| {
            Self::arm_pairs(self.arms)
                .zip(&found)
                .any(|((first, second), found)| found.is_none() && (first == arm || second == arm))
        };
        let arms: Vec<usize> = (0..self.arms).filter(|arm| is_open(*arm)).collect();
        for ((first, second), (settled, found)) in
            Self::arm_pairs(self.arms).zip(self.settled.iter_mut().zip(&found))
        {
            if !(arms.contains(&first) && arms.contains(&second)) {
                *settled = *found;
            }
        }
        let open: Vec<&[PairUnit]> = self
            .states
            .iter()
            .zip(&found)
            .filter(|(_, found)| found.is_none())
            .map(|(units, _)| units.as_slice())
            .collect();
        let units = self.states.first().map_or(0, Vec::len) as u64;
        let size =
            size.unwrap_or_else(|| block_size(self.rule.units, self.asked, self.items, units));
        let units = next_units(&open, self.rule.units, size);
        self.asked += units.len() as u64;
        (!units.is_empty()).then_some(ItemBlock { units, arms })
    }

    /// Counts the values of one item of a unit, by arm. A pair without both values loses the item.
    pub fn count_item(&mut self, unit: usize, values: &[Option<f64>]) {
        for (place, (first, second)) in Self::arm_pairs(self.arms).enumerate() {
            if self.settled[place].is_some() {
                continue;
            }
            let unit = &mut self.states[place][unit];
            unit.left = unit.left.saturating_sub(1);
            if let (Some(Some(one)), Some(Some(other))) = (values.get(first), values.get(second)) {
                unit.add_difference(one - other);
                let record = &mut self.records[place];
                record.asked += 1;
                record.won += u64::from(one > other);
                record.lost += u64::from(one < other);
            }
        }
    }

    /// Returns what each pair has shown.
    pub fn pair_records(&self) -> &[PairRecord] {
        &self.records
    }
}

fn count_of_pairs(arms: usize) -> usize {
    arms * arms.saturating_sub(1) / 2
}

fn normal_below(z: f64) -> f64 {
    0.5 * statrs::function::erf::erfc(-z / std::f64::consts::SQRT_2)
}

fn normal_quantile_or_zero(level: f64) -> f64 {
    super::distribution::normal_quantile(level).unwrap_or(0.0)
}

/// Returns the lead that a normal one does not exceed in size with probability 0.9.
fn largest_lead(mean: f64, sd: f64) -> f64 {
    let (mut low, mut high) = (mean, mean + 2.0 * sd);
    for _ in 0..40 {
        let middle = low.midpoint(high);
        let beyond = normal_below((mean - middle) / sd) + normal_below((-mean - middle) / sd);
        if beyond > 1.0 - FORESEEN_PROBABILITY {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns McNemar's exact p by falling number of fewer wins, from an even result to rare ones: leads of `pairs` % 2, and 2 more each.
fn mcnemar_tails(pairs: u64) -> Vec<f64> {
    let coin = FairCoin::new(pairs);
    let mut tail = 0.0;
    let mut found: Vec<f64> = coin
        .counts_with_chance()
        .map(|fewer| {
            tail += coin.chance_of(fewer);
            (2.0 * tail).min(1.0)
        })
        .skip_while(|p| *p < MIN_TAIL)
        .collect();
    found.reverse();
    found
}

/// Returns the smallest lead whose p is at most `nominal`, or `None` if even the largest lead has a larger p.
fn smallest_lead(pairs: usize, tails: &[f64], nominal: f64) -> Option<u64> {
    let step = tails.partition_point(|p| *p > nominal);
    let lead = pairs % 2 + 2 * step;
    (lead <= pairs && pairs > 0).then_some(lead as u64)
}

/// Returns the probability that a fair coin's lead is ever one with p at most `nominal`.
fn crossing_probability(tails: &[Vec<f64>], nominal: f64) -> f64 {
    // By lead, both signs together. A lead of 0 goes to 1, any other up or down.
    let mut chances = vec![1.0];
    let mut crossed = 0.0;
    for (pairs, tails) in tails.iter().enumerate().skip(1) {
        let mut next = vec![0.0; chances.len() + 1];
        for (lead, chance) in chances
            .iter()
            .enumerate()
            .filter(|(_, chance)| **chance > 0.0)
        {
            if lead == 0 {
                next[1] += chance;
            } else {
                next[lead + 1] += chance / 2.0;
                next[lead - 1] += chance / 2.0;
            }
        }
        if let Some(lead) =
            smallest_lead(pairs, tails, nominal).and_then(|lead| usize::try_from(lead).ok())
        {
            crossed += next.iter().skip(lead).sum::<f64>();
            next.truncate(lead);
        }
        chances = next;
    }
    crossed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Items won by the first arm, by the second, by neither, and not asked.
    type Counts = (usize, usize, usize, usize);

    static RULE: std::sync::LazyLock<AdaptiveStopping> =
        std::sync::LazyLock::new(|| AdaptiveStopping::new(Units::Items, 400, 2, 0.05));

    /// Two arms, and items by group.
    fn two(groups: &[Counts]) -> AdaptiveInquiry<'static> {
        let sizes: Vec<(usize, u64)> = groups
            .iter()
            .enumerate()
            .flat_map(|(group, (won, lost, same, left))| vec![(group, 1); won + lost + same + left])
            .collect();
        let mut inquiry = AdaptiveInquiry::new(&RULE, &sizes, 2);
        let mut place = 0;
        for (won, lost, same, left) in groups {
            for (count, values) in [(won, [1.0, 0.0]), (lost, [0.0, 1.0]), (same, [1.0, 1.0])] {
                for _ in 0..*count {
                    inquiry.count_item(place, &values.map(Some));
                    place += 1;
                }
            }
            place += left;
        }
        inquiry
    }

    fn verdict(groups: &[Counts]) -> Option<Foreseen> {
        two(groups).foreseen_verdicts()[0]
    }

    /// How many of the next items are of each group.
    fn next(groups: &[Counts], size: u64) -> Vec<usize> {
        let inquiry = two(groups);
        let mut counts = vec![0; groups.len()];
        for unit in next_units(&[&inquiry.states[0]], Units::Items, size) {
            counts[inquiry.states[0][unit].group] += 1;
        }
        counts
    }

    #[test]
    fn a_fair_coin_reaches_a_lead_at_the_promised_rate() {
        for (items, left) in [(30, 1), (200, 1), (200, 6), (1000, 1)] {
            let rule = AdaptiveStopping::new(Units::Items, items, 4, 0.05);
            let nominal = rule.nominal_level(left);
            // The walk again, with signs, by brute force over leads.
            let mut chances = BTreeMap::from([(0i64, 1.0)]);
            let mut crossed = 0.0;
            for pairs in 1..=items {
                let mut next = BTreeMap::new();
                for (lead, chance) in chances {
                    for step in [-1, 1] {
                        *next.entry(lead + step).or_insert(0.0) += chance / 2.0;
                    }
                }
                next.retain(|lead: &i64, chance| {
                    let is_over = mcnemar_p_value(lead.abs() as f64, pairs as f64) <= nominal;
                    crossed += if is_over { *chance } else { 0.0 };
                    !is_over
                });
                chances = next;
            }
            let spent = 0.025 / left as f64;
            assert!(
                crossed <= spent && crossed > 0.5 * spent,
                "{items}, {left}: {crossed}"
            );
        }
    }

    #[test]
    fn all_flips_of_few_units_cross_at_the_promised_rate() {
        // The leads of eight clusters at five looks: later ones have more items, and some turn.
        let looks: [[f64; 8]; 5] = [
            [1.0, 0.0, 2.0, 1.0, 1.0, 0.0, -1.0, 1.0],
            [2.0, 1.0, 2.0, 3.0, 1.0, 1.0, -1.0, 2.0],
            [2.0, 2.0, 4.0, 3.0, 2.0, 1.0, 1.0, 3.0],
            [4.0, 2.0, 5.0, 5.0, 2.0, 1.0, 2.0, 3.0],
            [5.0, 3.0, 6.0, 5.0, 4.0, 1.0, 2.0, 4.0],
        ];
        for spent in [0.025, 0.2] {
            let crossed = (0..256u32).filter(|signs| {
                let mut flips = CrossedFlips::default();
                for (look, leads) in looks.iter().enumerate() {
                    let unit = |place: usize| {
                        let sign = if signs >> place & 1 == 1 { -1.0 } else { 1.0 };
                        PairUnit {
                            lead: sign * leads[place],
                            ..PairUnit::default()
                        }
                    };
                    flips.record_look(
                        &(0..8).map(unit).collect::<Vec<PairUnit>>(),
                        [spent * (look + 1) as f64 / 5.0].into_iter(),
                    );
                }
                flips.has_crossed(1)
            });
            let share = crossed.count() as f64 / 256.0;
            assert!(share <= spent && share > 0.25 * spent, "{spent}: {share}");
        }
    }

    #[test]
    fn clear_winners_and_hopeless_pairs_are_foreseen() {
        assert_eq!(verdict(&[(0, 0, 0, 400)]), None, "nothing was asked");
        assert_eq!(verdict(&[(22, 2, 36, 340)]), Some(Foreseen::FirstWins));
        assert_eq!(verdict(&[(2, 22, 36, 340)]), Some(Foreseen::SecondWins));
        assert_eq!(
            verdict(&[(6, 1, 33, 360)]),
            None,
            "a lead that chance reaches"
        );
        assert_eq!(verdict(&[(40, 41, 219, 100)]), Some(Foreseen::NoWinner));
    }

    #[test]
    fn with_no_items_left_it_is_the_test() {
        assert_eq!(
            verdict(&[(15, 5, 20, 0), (0, 0, 20, 0)]),
            Some(Foreseen::FirstWins)
        );
        assert_eq!(verdict(&[(14, 6, 40, 0)]), Some(Foreseen::NoWinner));
    }

    #[test]
    fn the_first_block_has_the_groups_shares_and_later_ones_ask_where_arms_differ() {
        let fresh = [(0, 0, 0, 60), (0, 0, 0, 30), (0, 0, 0, 10)];
        assert_eq!(next(&fresh, 10), [6, 3, 1]);
        assert_eq!(next(&fresh, 500), [60, 30, 10]);
        let asked = [(0, 0, 20, 40), (6, 5, 9, 40)];
        let later = next(&asked, 20);
        assert!(
            later.iter().sum::<usize>() == 20 && later[1] > 15,
            "{later:?}"
        );
        assert_eq!(next(&asked, 100), [40, 40]);
    }

    /// Asks arms whose value of an item follows from its unit and its number. Returns the verdicts, and how much each arm was asked.
    fn all(
        units: Units,
        sizes: &[u64],
        arms: usize,
        value: impl Fn(usize, usize, u64) -> f64,
    ) -> (Vec<Foreseen>, Vec<u64>) {
        let sizes: Vec<(usize, u64)> = sizes.iter().map(|size| (0, *size)).collect();
        let rule =
            AdaptiveStopping::new(units, sizes.iter().map(|(_, size)| size).sum(), arms, 0.05);
        let mut inquiry = AdaptiveInquiry::new(&rule, &sizes, arms);
        let (mut taken, mut asked) = (vec![0; sizes.len()], vec![0; arms]);
        while let Some(block) = inquiry.next_block(None) {
            for unit in block.units {
                let values: Vec<Option<f64>> = (0..arms)
                    .map(|arm| {
                        block
                            .arms
                            .contains(&arm)
                            .then(|| value(arm, unit, taken[unit]))
                    })
                    .collect();
                for arm in &block.arms {
                    asked[*arm] += 1;
                }
                taken[unit] += 1;
                inquiry.count_item(unit, &values);
            }
        }
        (
            inquiry
                .foreseen_verdicts()
                .into_iter()
                .map(|verdict| verdict.expect("foreseen"))
                .collect(),
            asked,
        )
    }

    #[test]
    fn an_arm_that_is_decided_against_all_others_is_asked_no_more() {
        use Foreseen::{FirstWins, NoWinner};
        // The last arm fails. The others pass different thirds of what is left.
        let value = |arm: usize, unit: usize, _: u64| {
            f64::from(u8::from(arm < 2 && (unit * 7 + arm * 3) % 10 < 5))
        };
        let (verdicts, asked) = all(Units::Items, &[1; 400], 3, value);
        assert_eq!(verdicts, [NoWinner, FirstWins, FirstWins]);
        assert!(
            asked[2] < asked[0] && asked[0] == asked[1] && asked[0] < 400,
            "{asked:?}"
        );
    }

    #[test]
    fn whole_clusters_decide_however_many_items_they_have() {
        use Foreseen::{FirstWins, NoWinner};
        let better = |arm: usize, unit: usize, item: u64| {
            f64::from(u8::from(arm == 0 || (unit as u64 + item).is_multiple_of(3)))
        };
        let (verdicts, asked) = all(Units::Clusters, &[20; 12], 2, better);
        assert!(
            verdicts == [FirstWins] && asked[0] <= 120,
            "{verdicts:?}, {asked:?}"
        );
        // All items of three clusters of eight favour the first arm, and of five the second: nothing about other clusters.
        let mixed = |arm: usize, unit: usize, _: u64| f64::from(u8::from((arm == 0) == (unit < 3)));
        let (verdicts, asked) = all(Units::Clusters, &[30; 8], 2, mixed);
        assert!(
            verdicts == [NoWinner] && asked[0] < 120,
            "{verdicts:?}, {asked:?}"
        );
        // Two of the 2⁵ flips of five clusters are no evidence.
        assert_eq!(all(Units::Clusters, &[20; 5], 2, better).0, [NoWinner]);
        assert_eq!(
            (
                Units::Clusters.fewest_deciding(1, 0.05),
                Units::Tasks.fewest_deciding(6, 0.05)
            ),
            (6, 8)
        );
    }

    #[test]
    fn tasks_are_run_until_their_verdict_is_foreseen() {
        let rates = |arm: usize, unit: usize, run: u64| {
            0.4 + 0.2 * f64::from(u8::from(arm == 1)) + 0.03 * ((unit as u64 + run) % 5) as f64
        };
        let (verdicts, asked) = all(Units::Tasks, &[5; 12], 2, rates);
        assert!(
            verdicts == [Foreseen::SecondWins] && asked[0] < 40,
            "{asked:?}"
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn exchanging_the_arms_mirrors_the_verdict(counts in proptest::collection::vec((0usize..30, 0usize..30, 0usize..30, 0usize..60), 1..5)) {
            let mirrored: Vec<_> = counts.iter().map(|(won, lost, same, left)| (*lost, *won, *same, *left)).collect();
            proptest::prop_assert_eq!(verdict(&counts), verdict(&mirrored).map(Foreseen::swap_arms));
            let left: usize = counts.iter().map(|group| group.3).sum();
            proptest::prop_assert_eq!(next(&counts, 40).into_iter().sum::<usize>(), left.min(40));
            proptest::prop_assert_eq!(next(&counts, 40), next(&mirrored, 40), "who leads does not matter");
        }
    }
}
