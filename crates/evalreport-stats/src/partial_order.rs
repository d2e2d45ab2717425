//! Figures of a partial order: what a relation "is better than" leaves open.

use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::bootstrap::random_below;
use super::{Seed, Undefined};

/// A relation on systems, `beats[i][j]` for "i is better than j".
#[derive(Clone, Debug)]
pub struct PartialOrder {
    /// Per system: the systems that it beats, as bits.
    beats: Vec<Vec<u64>>,
    /// Per system: the number of systems that beat it.
    beaten_by: Vec<usize>,
    pairs: usize,
}

const BITS: usize = 64;

impl PartialOrder {
    /// Undefined without systems, for a relation that is not square, and for systems that beat each other or themselves in a circle.
    pub fn new(beats: &[impl AsRef<[bool]>]) -> Result<Self, Undefined> {
        let systems = beats.len();
        if systems == 0 {
            return Err(Undefined::NoData);
        }
        if beats.iter().any(|row| row.as_ref().len() != systems) {
            return Err(Undefined::Unequal);
        }
        let mut order = Self {
            beats: vec![vec![0; systems.div_ceil(BITS)]; systems],
            beaten_by: vec![0; systems],
            pairs: 0,
        };
        for (winner, row) in beats.iter().enumerate() {
            for (loser, _) in row.as_ref().iter().enumerate().filter(|(_, beats)| **beats) {
                order.beats[winner][loser / BITS] |= 1 << (loser % BITS);
                order.beaten_by[loser] += 1;
                order.pairs += 1;
            }
        }
        // Only a relation without circles has a longest chain.
        order
            .chain_levels()
            .map(|_| order)
            .ok_or(Undefined::OutOfRange)
    }

    fn system_count(&self) -> usize {
        self.beats.len()
    }

    /// Number of pairs in the relation.
    pub fn pair_count(&self) -> usize {
        self.pairs
    }

    fn losers_to(&self, winner: usize) -> impl Iterator<Item = usize> {
        self.beats[winner]
            .iter()
            .enumerate()
            .flat_map(|(at, word)| one_bits(*word).map(move |bit| at * BITS + bit))
    }

    fn has_pair(&self, winner: usize, loser: usize) -> bool {
        self.beats[winner][loser / BITS] >> (loser % BITS) & 1 == 1
    }

    /// Returns in how many cases i beats j, j beats k, and i is not known to beat k. Rank sets of a relation with such cases contradict
    /// each other.
    pub fn violation_count(&self) -> usize {
        let missing = |first: usize, second: usize| -> usize {
            self.beats[second]
                .iter()
                .zip(&self.beats[first])
                .map(|(second, first)| (second & !first).count_ones() as usize)
                .sum()
        };
        (0..self.system_count())
            .map(|first| {
                self.losers_to(first)
                    .map(|second| missing(first, second))
                    .sum::<usize>()
            })
            .sum()
    }

    /// Returns by system the length of the longest chain above it. `None` if there is a circle.
    fn chain_levels(&self) -> Option<Vec<usize>> {
        let mut waiting = self.beaten_by.clone();
        let mut ready: Vec<usize> = (0..self.system_count())
            .filter(|system| waiting[*system] == 0)
            .collect();
        let (mut level, mut done) = (vec![0; self.system_count()], 0);
        while let Some(winner) = ready.pop() {
            done += 1;
            for loser in self.losers_to(winner) {
                level[loser] = level[loser].max(level[winner] + 1);
                waiting[loser] -= 1;
                if waiting[loser] == 0 {
                    ready.push(loser);
                }
            }
        }
        (done == self.system_count()).then_some(level)
    }

    /// Returns the number of tiers: the length of the longest chain, and the number of groups without a known order inside (Mirsky 1971).
    pub fn tier_count(&self) -> usize {
        self.system_tiers().iter().max().map_or(0, |tier| tier + 1)
    }

    /// Returns by system its tier, 0 for those that none is known to beat.
    pub fn system_tiers(&self) -> Vec<usize> {
        self.chain_levels().unwrap_or_default()
    }

    /// Returns the size of the largest group in which no system is known to beat another (Dilworth 1950): the number of systems minus the
    /// largest matching of winners with losers in the closure of the relation.
    pub fn largest_antichain(&self) -> usize {
        let closure = self.transitive_closure();
        let mut winner_of = vec![None; self.system_count()];
        let matched = (0..self.system_count())
            .filter(|winner| {
                let mut seen = vec![false; closure.system_count()];
                closure.augment_matching(*winner, &mut seen, &mut winner_of)
            })
            .count();
        self.system_count() - matched
    }

    /// Looks for a loser of this winner, moving other winners to other losers if need be (Kuhn 1955).
    fn augment_matching(
        &self,
        winner: usize,
        seen: &mut [bool],
        winner_of: &mut [Option<usize>],
    ) -> bool {
        for loser in self.losers_to(winner) {
            if !std::mem::replace(&mut seen[loser], true)
                && winner_of[loser]
                    .is_none_or(|other| self.augment_matching(other, seen, winner_of))
            {
                winner_of[loser] = Some(winner);
                return true;
            }
        }
        false
    }

    /// The relation with all pairs that follow from others.
    fn transitive_closure(&self) -> Self {
        let mut closure = self.clone();
        for via in 0..self.system_count() {
            let losers = closure.beats[via].clone();
            for winner in 0..self.system_count() {
                if closure.has_pair(winner, via) {
                    for (word, more) in closure.beats[winner].iter_mut().zip(&losers) {
                        *word |= more;
                    }
                }
            }
        }
        closure
    }

    /// Returns the entropy of the order in bits: log₂ of the number of complete orders that agree with the relation.
    ///
    /// Exact for up to 16 systems. Else it is estimated from `samples` random orders, built from the best place down by choosing evenly
    /// among the systems that none of the remaining beats: the product of the numbers of choices has the wanted number as its mean
    /// (Knuth 1975).
    pub fn entropy_bits(&self, samples: usize, seed: Seed) -> Result<f64, Undefined> {
        if self.system_count() <= MAX_COUNTED_SYSTEMS {
            return Ok(self.count_orders().log2());
        }
        if samples == 0 {
            return Err(Undefined::NoData);
        }
        let logs: Vec<f64> = (0..samples)
            .into_par_iter()
            .map(|sample| self.sample_log_orders(&mut seed.replicate_stream(sample as u64)))
            .collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = logs.iter().map(|log| (log - largest).exp()).sum::<f64>() / samples as f64;
        Ok((largest + mean.ln()) / std::f64::consts::LN_2)
    }

    /// Returns the natural logarithm of the product of the numbers of choices.
    fn sample_log_orders(&self, random: &mut ChaCha8Rng) -> f64 {
        let mut waiting = self.beaten_by.clone();
        let mut ready: Vec<usize> = (0..self.system_count())
            .filter(|system| waiting[*system] == 0)
            .collect();
        let mut log = 0.0;
        while let Ok(choices @ 1..) = u32::try_from(ready.len()) {
            log += f64::from(choices).ln();
            let winner = ready.swap_remove(random_below(random, choices) as usize);
            for loser in self.losers_to(winner) {
                waiting[loser] -= 1;
                if waiting[loser] == 0 {
                    ready.push(loser);
                }
            }
        }
        log
    }

    /// Counts the orders by the sets of systems that can stand on the first places.
    fn count_orders(&self) -> f64 {
        let systems = self.system_count();
        let mut better = vec![0_u32; systems];
        for winner in 0..systems {
            for loser in self.losers_to(winner) {
                better[loser] |= 1 << winner;
            }
        }
        let mut ways = vec![0.0; 1 << systems];
        ways[0] = 1.0;
        for set in 0..1_u32 << systems {
            let own = ways[set as usize];
            if own > 0.0 {
                for (system, better) in better.iter().enumerate() {
                    if set >> system & 1 == 0 && better & !set == 0 {
                        ways[(set | 1 << system) as usize] += own;
                    }
                }
            }
        }
        ways.last().copied().unwrap_or(1.0)
    }
}

/// Most systems whose orders are counted one by one.
const MAX_COUNTED_SYSTEMS: usize = 16;

fn one_bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}

/// Returns log₂ of the number of orders of so many systems.
pub fn order_bits(systems: usize) -> f64 {
    (2..=systems).map(|system| (system as f64).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(systems: usize, pairs: &[(usize, usize)]) -> PartialOrder {
        let mut beats = vec![vec![false; systems]; systems];
        for (winner, loser) in pairs {
            beats[*winner][*loser] = true;
        }
        PartialOrder::new(&beats).expect("no circle")
    }

    fn chain(from: usize, to: usize) -> Vec<(usize, usize)> {
        (from..to)
            .flat_map(|first| (first + 1..to).map(move |second| (first, second)))
            .collect()
    }

    fn bits(order: &PartialOrder) -> f64 {
        order.entropy_bits(4000, Seed(3)).expect("samples")
    }

    #[test]
    fn chains_and_antichains() {
        for systems in [1, 5, 16, 17, 70] {
            let whole = order(systems, &chain(0, systems));
            assert_eq!(
                (
                    whole.tier_count(),
                    whole.largest_antichain(),
                    whole.violation_count()
                ),
                (systems, 1, 0)
            );
            assert!(bits(&whole).abs() < 1e-9);
            let none = order(systems, &[]);
            assert_eq!(
                (
                    none.tier_count(),
                    none.largest_antichain(),
                    none.pair_count()
                ),
                (1, systems, 0)
            );
            assert!(
                (bits(&none) - order_bits(systems)).abs() < 1e-9,
                "each draw has all choices"
            );
        }
    }

    #[test]
    fn two_chains_beside_each_other() {
        // (a + b) over a orders.
        let small: Vec<_> = chain(0, 5).into_iter().chain(chain(5, 12)).collect();
        assert!((bits(&order(12, &small)) - 792_f64.log2()).abs() < 1e-9);
        let large: Vec<_> = chain(0, 9).into_iter().chain(chain(9, 18)).collect();
        let found = bits(&order(18, &large));
        assert!((found - 48_620_f64.log2()).abs() < 0.15, "{found}");
        assert_eq!(
            (
                order(18, &large).tier_count(),
                order(18, &large).largest_antichain()
            ),
            (9, 2)
        );
    }

    #[test]
    fn what_follows_counts_for_groups() {
        // 0 beats 1, 1 beats 2, and nobody says that 0 beats 2.
        let open = order(3, &[(0, 1), (1, 2)]);
        assert_eq!(
            (
                open.violation_count(),
                open.tier_count(),
                open.largest_antichain()
            ),
            (1, 3, 1)
        );
        assert_eq!(open.system_tiers(), [0, 1, 2]);
        // Two tiers with all pairs between them, and an N: 0 > 2, 0 > 3, 1 > 3.
        let wide = order(4, &[(0, 2), (0, 3), (1, 2), (1, 3)]);
        assert_eq!(
            (
                wide.tier_count(),
                wide.largest_antichain(),
                bits(&wide).round()
            ),
            (2, 2, 2.0)
        );
        assert!((bits(&order(4, &[(0, 2), (0, 3), (1, 3)])) - 5_f64.log2()).abs() < 1e-12);
    }

    #[test]
    fn relations_that_are_no_order() {
        let refused = |beats: &[Vec<bool>]| PartialOrder::new(beats).err();
        assert_eq!(refused(&[]), Some(Undefined::NoData));
        assert_eq!(refused(&[vec![true]]), Some(Undefined::OutOfRange));
        assert_eq!(
            refused(&[vec![false, true], vec![true, false]]),
            Some(Undefined::OutOfRange)
        );
        assert_eq!(
            refused(&[vec![false, true], vec![]]),
            Some(Undefined::Unequal)
        );
    }
}
