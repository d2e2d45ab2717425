//! Foreseeing the verdict of all items of two arms from some of them: which items to ask next, and when to stop.

use super::distribution::FairCoin;
use super::exact::mcnemar;

/// Probability at which a verdict counts as foreseen. Simulations give the errors of the whole rule (`docs/simulations.md`).
const SURE: f64 = 0.9;
/// Earlier outcomes that a group's expectation is worth: as many differing pairs as in all groups, won as often as lost.
const PRIOR: f64 = 4.0;
/// Share of alpha that may be spent on naming a winner before all items are asked.
const EARLY: f64 = 0.5;
/// Largest number of differing pairs for which leads are computed. Beyond it, no winner is named early.
const HORIZON: usize = 4096;
/// Smaller tails are too rare for a boundary.
const RAREST: f64 = 1e-7;

/// Items that are alike before they are asked, such as items that other arms found equally hard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemGroup {
    /// Items that only the first arm passed.
    pub won: u64,
    /// Items that only the second arm passed.
    pub lost: u64,
    /// Items that both passed or neither.
    pub same: u64,
    /// Items not asked yet.
    pub left: u64,
}

/// A verdict about all items that is known before all are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Foreseen {
    FirstWins,
    SecondWins,
    /// McNemar's test of all items will name no winner.
    NoWinner,
}

/// The rule that foresees McNemar's exact test of all items at a level.
///
/// A winner needs two things. All items must be expected to name it with probability 0.9 (predictive probability, Spiegelhalter, Freedman
/// and Blackburn 1986: the groups' rates have a Dirichlet posterior, and the sum over the items left is taken as normal). And its lead among
/// the differing pairs must be one that a fair coin reaches with probability alpha / 2 at most at *any* number of pairs (a repeated
/// significance test of constant nominal level, Pocock 1977, computed exactly for looks after every pair). Equal arms differ by fair coins
/// whichever items are asked, so looking often costs nothing.
#[derive(Clone, Debug)]
pub struct Foresight {
    alpha: f64,
    /// By number of differing pairs: the smallest lead that may be named early. `None` if no lead is enough.
    early: Vec<Option<u64>>,
}

impl Foresight {
    /// Prepares the rule for `items` items, tested at level `alpha` in (0, 1).
    pub fn new(items: u64, alpha: f64) -> Self {
        let horizon = usize::try_from(items).unwrap_or(HORIZON).min(HORIZON);
        let tails: Vec<Vec<f64>> = (0..=horizon as u64).map(tails).collect();
        // Crossing is monotone in the nominal level, and 30 halvings of its logarithm leave a ratio of 1 + 1e-8.
        let (mut low, mut high) = (RAREST.ln(), alpha.ln());
        for _ in 0..30 {
            let middle = low.midpoint(high);
            if crossing(&tails, middle.exp()) <= EARLY * alpha { low = middle } else { high = middle }
        }
        let nominal = low.exp();
        Self { alpha, early: tails.iter().enumerate().map(|(pairs, tails)| lead(pairs, tails, nominal)).collect() }
    }

    /// Returns the verdict of all items if it is foreseen. With no items left, it is the test itself.
    pub fn verdict(&self, groups: &[ItemGroup]) -> Option<Foreseen> {
        let (won, lost) = groups.iter().fold((0, 0), |sum, group| (sum.0 + group.won, sum.1 + group.lost));
        let winner = if won > lost { Foreseen::FirstWins } else { Foreseen::SecondWins };
        if groups.iter().all(|group| group.left == 0) {
            return Some(if mcnemar(won, lost).exact <= self.alpha { winner } else { Foreseen::NoWinner });
        }
        let (first, second) = self.chances(groups)?;
        let has_lead =
            usize::try_from(won + lost).ok().and_then(|pairs| *self.early.get(pairs)?).is_some_and(|needed| won.abs_diff(lost) >= needed);
        let chance = if winner == Foreseen::FirstWins { first } else { second };
        if has_lead && chance >= SURE { Some(winner) } else { (1.0 - first - second >= SURE).then_some(Foreseen::NoWinner) }
    }

    /// Returns the probabilities that all items will name the first arm, and the second. `None` if nothing was asked.
    fn chances(&self, groups: &[ItemGroup]) -> Option<(f64, f64)> {
        let expected = expectations(groups)?;
        let (mut lead, mut pairs, mut variance) = (0.0, 0.0, 0.0);
        for (group, expected) in groups.iter().zip(&expected) {
            let left = group.left as f64;
            lead += group.won as f64 - group.lost as f64 + left * (expected.won - expected.lost);
            pairs += group.won as f64 + group.lost as f64 + left * (expected.won + expected.lost);
            variance += expected.variance(left);
        }
        let needed = self.decisive(pairs);
        let sd = variance.sqrt();
        // A half of the lattice's step of two.
        let above = |lead: f64| normal_below((lead - needed + 1.0) / sd);
        Some((above(lead), above(-lead)))
    }

    /// Returns the smallest lead that decides McNemar's test with this many differing pairs, or one that cannot be reached.
    fn decisive(&self, pairs: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of items")]
        let pairs = pairs.round().max(0.0) as u64;
        let coin = FairCoin::new(pairs);
        let (mut tail, mut most) = (0.0, None);
        for fewer in coin.counts() {
            tail += coin.chance(fewer);
            if 2.0 * tail > self.alpha {
                break;
            }
            most = Some(fewer);
        }
        most.map_or(pairs as f64 + 2.0, |fewer| (pairs - 2 * fewer) as f64)
    }
}

/// Returns how many items of each group to ask next, `size` in all if so many are left. Each is of the group where it shrinks the
/// uncertainty about all items most.
///
/// At first, before anything is asked, it is the groups' shares of all items.
pub fn next_items(groups: &[ItemGroup], size: u64) -> Vec<u64> {
    let mut next = vec![0; groups.len()];
    let Some(mut expected) = expectations(groups) else {
        return shares(groups, size);
    };
    let mut left: Vec<u64> = groups.iter().map(|group| group.left).collect();
    for _ in 0..size {
        let gain = |place: usize| {
            let (of, count) = (expected[place], left[place] as f64);
            of.variance(count) - Expected { weight: of.weight + 1.0, ..of }.variance(count - 1.0)
        };
        let Some(best) = (0..groups.len()).filter(|place| left[*place] > 0).max_by(|one, other| gain(*one).total_cmp(&gain(*other))) else {
            break;
        };
        left[best] -= 1;
        expected[best].weight += 1.0;
        next[best] += 1;
    }
    next
}

/// Returns how many items to ask in the next block, after `asked` of `items`: 10% and at least 20 at first, then 5% and at least 5.
pub fn block_size(asked: u64, items: u64) -> u64 {
    if asked == 0 { (items / 10).max(20) } else { (items / 20).max(5) }
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
fn shares(groups: &[ItemGroup], size: u64) -> Vec<u64> {
    let total: u64 = groups.iter().map(|group| group.left).sum();
    let size = size.min(total);
    let exact = |group: &ItemGroup| size as f64 * group.left as f64 / total.max(1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let mut next: Vec<u64> = groups.iter().map(|group| exact(group).floor() as u64).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|one, other| exact(&groups[*other]).fract().total_cmp(&exact(&groups[*one]).fract()));
    for place in order.into_iter().take(usize::try_from(size - next.iter().sum::<u64>()).unwrap_or(0)) {
        next[place] += 1;
    }
    next
}

/// Expected rates of a group's items.
#[derive(Clone, Copy)]
struct Expected {
    won: f64,
    lost: f64,
    /// Number of items that the expectation is worth.
    weight: f64,
}

impl Expected {
    /// Returns the variance of the lead over `left` more items (Dirichlet-multinomial).
    fn variance(&self, left: f64) -> f64 {
        let each = self.won + self.lost - (self.won - self.lost).powi(2);
        left * (self.weight + left) / (self.weight + 1.0) * each
    }
}

fn expectations(groups: &[ItemGroup]) -> Option<Vec<Expected>> {
    let differing: u64 = groups.iter().map(|group| group.won + group.lost).sum();
    let asked = differing + groups.iter().map(|group| group.same).sum::<u64>();
    if asked == 0 {
        return None;
    }
    let prior = PRIOR * (differing as f64 + 1.0) / (asked as f64 + 2.0) / 2.0;
    let of = |group: &ItemGroup| {
        let weight = (group.won + group.lost + group.same) as f64 + PRIOR;
        Expected { won: (group.won as f64 + prior) / weight, lost: (group.lost as f64 + prior) / weight, weight }
    };
    Some(groups.iter().map(of).collect())
}

fn normal_below(z: f64) -> f64 {
    0.5 * statrs::function::erf::erfc(-z / std::f64::consts::SQRT_2)
}

/// Returns McNemar's exact p by falling number of fewer wins, from an even result to rare ones: leads of `pairs` % 2, and 2 more each.
fn tails(pairs: u64) -> Vec<f64> {
    let coin = FairCoin::new(pairs);
    let mut tail = 0.0;
    let mut found: Vec<f64> = coin
        .counts()
        .map(|fewer| {
            tail += coin.chance(fewer);
            (2.0 * tail).min(1.0)
        })
        .skip_while(|p| *p < RAREST)
        .collect();
    found.reverse();
    found
}

/// Returns the smallest lead whose p is at most `nominal`, or `None` if even the largest lead has a larger p.
fn lead(pairs: usize, tails: &[f64], nominal: f64) -> Option<u64> {
    let step = tails.partition_point(|p| *p > nominal);
    let lead = pairs % 2 + 2 * step;
    (lead <= pairs && pairs > 0).then_some(lead as u64)
}

/// Returns the probability that a fair coin's lead is ever one with p at most `nominal`.
fn crossing(tails: &[Vec<f64>], nominal: f64) -> f64 {
    // By lead, both signs together. A lead of 0 goes to 1, any other up or down.
    let mut chances = vec![1.0];
    let mut crossed = 0.0;
    for (pairs, tails) in tails.iter().enumerate().skip(1) {
        let mut next = vec![0.0; chances.len() + 1];
        for (lead, chance) in chances.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
            if lead == 0 {
                next[1] += chance;
            } else {
                next[lead + 1] += chance / 2.0;
                next[lead - 1] += chance / 2.0;
            }
        }
        if let Some(lead) = lead(pairs, tails, nominal).and_then(|lead| usize::try_from(lead).ok()) {
            crossed += next.iter().skip(lead).sum::<f64>();
            next.truncate(lead);
        }
        chances = next;
    }
    crossed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(won: u64, lost: u64, same: u64, left: u64) -> ItemGroup {
        ItemGroup { won, lost, same, left }
    }

    #[test]
    fn a_fair_coin_reaches_a_lead_at_the_promised_rate() {
        for items in [30, 200, 1000] {
            let rule = Foresight::new(items, 0.05);
            // The walk again, with signs, by brute force over leads.
            let size = i64::try_from(items).expect("small");
            let mut chances = std::collections::BTreeMap::from([(0i64, 1.0)]);
            let mut crossed = 0.0;
            for pairs in 1..=usize::try_from(size).expect("small") {
                let mut next = std::collections::BTreeMap::new();
                for (lead, chance) in chances {
                    for step in [-1, 1] {
                        *next.entry(lead + step).or_insert(0.0) += chance / 2.0;
                    }
                }
                let needed = rule.early[pairs];
                next.retain(|lead: &i64, chance| {
                    let is_over = needed.is_some_and(|needed| lead.unsigned_abs() >= needed);
                    crossed += if is_over { *chance } else { 0.0 };
                    !is_over
                });
                chances = next;
            }
            assert!(crossed <= 0.025 && crossed > 0.015, "{items}: {crossed}");
        }
    }

    #[test]
    fn leads_by_hand() {
        // 2 / 2^10 = 0.00195: the first straight series rarer than the nominal level, which lies below 0.005.
        let rule = Foresight::new(400, 0.05);
        let straight = (1..400).find(|pairs| rule.early[*pairs].is_some()).expect("some");
        assert!((9..=11).contains(&straight), "{straight}");
        assert_eq!(rule.early[straight], Some(straight as u64));
        assert!((rule.decisive(6.0) - 6.0).abs() < 0.1, "2 / 64 = 0.031");
        assert!((rule.decisive(5.0) - 7.0).abs() < 0.1, "2 / 32 = 0.063: no lead of five pairs decides");
        assert!((rule.decisive(20.0) - 10.0).abs() < 0.1, "15 to 5: 0.041");
    }

    #[test]
    fn clear_winners_and_hopeless_pairs_are_foreseen() {
        let rule = Foresight::new(400, 0.05);
        assert_eq!(rule.verdict(&[group(0, 0, 0, 400)]), None, "nothing was asked");
        assert_eq!(rule.verdict(&[group(22, 2, 36, 340)]), Some(Foreseen::FirstWins));
        assert_eq!(rule.verdict(&[group(2, 22, 36, 340)]), Some(Foreseen::SecondWins));
        assert_eq!(rule.verdict(&[group(6, 1, 33, 360)]), None, "a lead that chance reaches");
        assert_eq!(rule.verdict(&[group(40, 41, 219, 100)]), Some(Foreseen::NoWinner));
    }

    #[test]
    fn with_no_items_left_it_is_the_test() {
        let rule = Foresight::new(60, 0.05);
        assert_eq!(rule.verdict(&[group(15, 5, 20, 0), group(0, 0, 20, 0)]), Some(Foreseen::FirstWins));
        assert_eq!(rule.verdict(&[group(14, 6, 40, 0)]), Some(Foreseen::NoWinner));
    }

    #[test]
    fn the_first_block_has_the_groups_shares_and_later_ones_ask_where_arms_differ() {
        let fresh = [group(0, 0, 0, 60), group(0, 0, 0, 30), group(0, 0, 0, 10)];
        assert_eq!(next_items(&fresh, 10), [6, 3, 1]);
        assert_eq!(next_items(&fresh, 500), [60, 30, 10]);
        let asked = [group(0, 0, 20, 40), group(6, 5, 9, 40)];
        let next = next_items(&asked, 20);
        assert_eq!(next.iter().sum::<u64>(), 20);
        assert!(next[1] > 15, "{next:?}");
        assert_eq!(next_items(&asked, 100), [40, 40]);
    }

    static RULE: std::sync::LazyLock<Foresight> = std::sync::LazyLock::new(|| Foresight::new(300, 0.05));

    proptest::proptest! {
        #[test]
        fn exchanging_the_arms_mirrors_the_verdict(counts in proptest::collection::vec((0u64..30, 0u64..30, 0u64..30, 0u64..60), 1..5)) {
            let groups: Vec<ItemGroup> = counts.iter().map(|(won, lost, same, left)| group(*won, *lost, *same, *left)).collect();
            let mirrored: Vec<ItemGroup> = counts.iter().map(|(won, lost, same, left)| group(*lost, *won, *same, *left)).collect();
            let exchanged = RULE.verdict(&mirrored).map(|verdict| match verdict {
                Foreseen::FirstWins => Foreseen::SecondWins,
                Foreseen::SecondWins => Foreseen::FirstWins,
                Foreseen::NoWinner => Foreseen::NoWinner,
            });
            proptest::prop_assert_eq!(RULE.verdict(&groups), exchanged);
            let left: u64 = groups.iter().map(|group| group.left).sum();
            proptest::prop_assert_eq!(next_items(&groups, 40).iter().sum::<u64>(), left.min(40));
        }
    }
}
