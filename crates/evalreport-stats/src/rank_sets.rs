//! Simultaneous sets of ranks from resampled items: with the stated confidence, all of them hold at once.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::ranking::{RankRange, rank_ranges};
use super::{ScoreMatrix, Seed, Undefined, normal_quantile, quantile};

/// What each item's scores are multiplied with in a draw, the same for all systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplier {
    /// A standard normal number times the distance from the system's mean: the wild bootstrap of the Leaderboard Reporting Standard.
    /// Its sets are too narrow where systems are many and items few.
    Normal,
    /// 1 or −1, as if two systems had swapped their results: sets that hold with few items too.
    Sign,
    /// A standard normal number, times the score itself: each pair's statistic is then standard normal, and only how pairs depend on each
    /// other comes from the scores. For tests of their own, see [`ordered_by_tests`].
    NormalOfScores,
}

/// Ranks that the scores cannot rule out.
#[derive(Clone, Debug, PartialEq)]
pub struct RankSets {
    /// `beats[i][j]`: system `i` is established to be better than `j`.
    pub beats: Vec<Vec<bool>>,
    pub ranges: Vec<RankRange>,
    /// The value that a pair's statistic had to exceed in the first step, and in the last.
    pub critical: f64,
    pub critical_last: f64,
    pub steps: usize,
    pub draws: usize,
    /// All ways of giving signs were tried.
    pub is_exact: bool,
}

/// Maximum number of units for which all signs are tried: 2¹¹ ways, because a mirrored way gives the same statistics.
const MAX_ENUMERATED_UNITS: usize = 12;
/// A difference below this share of the largest score is rounding.
const TIE_TOLERANCE: f64 = 1e-9;

/// Tests all pairs of systems at once and steps down (Romano and Wolf 2005): pairs above the critical value of the largest statistic are
/// rejected, and the critical value of the others is found again, until no more pair is rejected.
///
/// With [`Multiplier::Normal`], a pair's statistic is |difference of means| √n / σ, with σ the standard deviation of the differences with
/// divisor n. With [`Multiplier::Sign`], it is |Σd| / √Σd² over units: items, or the sums of `clusters`, given as one code per item. The
/// confidence is that no pair is ordered wrongly. Signs assume that the scores of equal systems are symmetric about each other.
///
/// Undefined for fewer than two systems or two items, without draws, and if no two systems differ.
pub fn rank_sets(
    matrix: &ScoreMatrix,
    clusters: Option<&[u32]>,
    multiplier: Multiplier,
    confidence: f64,
    draws: usize,
    seed: Seed,
) -> Result<RankSets, Undefined> {
    if !(0.0..1.0).contains(&confidence) || confidence <= 0.0 {
        return Err(Undefined::OutOfRange);
    }
    let units = match clusters {
        Some(clusters) => matrix.group_sums(clusters)?,
        None => matrix.clone(),
    };
    if units.system_count() < 2 || units.item_count() < 2 {
        return Err(Undefined::TooFew);
    }
    if draws == 0 {
        return Err(Undefined::NoData);
    }
    let family = PairStatistics::new(&units, multiplier)?;
    let is_exact =
        multiplier == Multiplier::Sign && family.units.item_count() <= MAX_ENUMERATED_UNITS;
    let sums = if is_exact {
        family.all_signs()
    } else {
        family.draw_sums(draws, seed)
    };
    family.step_down(&sums, confidence, is_exact)
}

/// The test of a pair: the two systems, and the two-sided p-value of any valid test of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairP {
    pub first: usize,
    pub second: usize,
    pub p: f64,
}

/// Steps down as [`rank_sets`] does, with p-values of other tests: each p-value is compared with the smallest one of the family, whose
/// distribution follows from how the pairs depend on each other (Westfall and Young 1993). The dependence is that of differences of scores.
/// Returns by test whether it establishes an order.
///
/// Undefined for fewer than two systems, without draws or scores that differ, and if a p-value is none or is about one system.
pub fn ordered_by_tests(
    matrix: &ScoreMatrix,
    clusters: Option<&[u32]>,
    tests: &[PairP],
    confidence: f64,
    draws: usize,
    seed: Seed,
) -> Result<Vec<bool>, Undefined> {
    let systems = matrix.system_count();
    let is_fit = |test: &PairP| {
        (0.0..=1.0).contains(&test.p) && test.first < test.second && test.second < systems
    };
    if !(0.0..1.0).contains(&confidence) || confidence <= 0.0 || !tests.iter().all(is_fit) {
        return Err(Undefined::OutOfRange);
    }
    if systems < 2 {
        return Err(Undefined::TooFew);
    }
    if draws == 0 || tests.is_empty() {
        return Err(Undefined::NoData);
    }
    let units = match clusters {
        Some(clusters) => matrix.group_sums(clusters)?,
        None => matrix.clone(),
    };
    let mut family = PairStatistics::new(&units, Multiplier::NormalOfScores)?;
    let place = |test: &PairP| {
        test.first * (2 * systems - test.first - 1) / 2 + test.second - test.first - 1
    };
    let mut observed = vec![0.0; family.observed.len()];
    let mut is_tested = vec![false; observed.len()];
    for test in tests {
        let level = 1.0 - test.p.max(f64::MIN_POSITIVE) / 2.0;
        observed[place(test)] = normal_quantile(level).unwrap_or(f64::INFINITY);
        is_tested[place(test)] = true;
    }
    family.observed = observed;
    for (scale, is_tested) in family.scales.iter_mut().zip(is_tested) {
        *scale *= f64::from(u8::from(is_tested));
    }
    if family.scales.iter().all(|scale| *scale == 0.0) {
        return Err(Undefined::NoVariation);
    }
    let sums = family.draw_sums(draws, seed);
    let found = family.step_down(&sums, confidence, false)?;
    let is_ordered =
        |test: &PairP| found.beats[test.first][test.second] || found.beats[test.second][test.first];
    Ok(tests.iter().map(is_ordered).collect())
}

/// All pairs of a matrix with their statistics.
struct PairStatistics {
    /// What is multiplied: the scores, for [`Multiplier::Normal`] without their system's mean.
    units: ScoreMatrix,
    multiplier: Multiplier,
    /// Per pair, row by row: one over the length of the differences. 0 for pairs that do not differ.
    scales: Vec<f64>,
    /// Per pair: the statistic of the data.
    observed: Vec<f64>,
    /// Per system: the sum of its scores.
    totals: Vec<f64>,
}

impl PairStatistics {
    fn new(units: &ScoreMatrix, multiplier: Multiplier) -> Result<Self, Undefined> {
        let (systems, items) = (units.system_count(), units.item_count());
        let means = units.system_means();
        let centre: Vec<f64> = if multiplier == Multiplier::Normal {
            means.clone()
        } else {
            vec![0.0; systems]
        };
        let rows: Vec<Vec<f64>> = (0..systems)
            .map(|system| {
                units
                    .system_scores(system)
                    .iter()
                    .map(|score| score - centre[system])
                    .collect()
            })
            .collect();
        let largest = rows
            .iter()
            .flatten()
            .fold(0.0_f64, |largest, score| largest.max(score.abs()));
        let units = ScoreMatrix::new(&rows)?;
        let scales: Vec<f64> = system_pairs(systems)
            .collect::<Vec<(usize, usize)>>()
            .into_par_iter()
            .map(|(first, second)| {
                let squares: f64 = rows[first]
                    .iter()
                    .zip(&rows[second])
                    .map(|(one, other)| (one - other).powi(2))
                    .sum();
                let length = squares.sqrt();
                if length > TIE_TOLERANCE * largest * (items as f64).sqrt() {
                    length.recip()
                } else {
                    0.0
                }
            })
            .collect();
        if scales.iter().all(|scale| *scale == 0.0) {
            return Err(Undefined::NoVariation);
        }
        let totals: Vec<f64> = means.iter().map(|mean| mean * items as f64).collect();
        let observed = system_pairs(systems)
            .zip(&scales)
            .map(|((first, second), scale)| (totals[first] - totals[second]).abs() * scale)
            .collect();
        Ok(Self {
            units,
            multiplier,
            scales,
            observed,
            totals,
        })
    }

    /// Returns each draw's sums over the units, system by system.
    fn draw_sums(&self, draws: usize, seed: Seed) -> Vec<f64> {
        let systems = self.units.system_count();
        (0..draws)
            .into_par_iter()
            .flat_map_iter(|draw| {
                let mut random = seed.replicate_stream(draw as u64);
                let mut sums = vec![0.0; systems];
                let mut weights = MultiplierStream::new(self.multiplier);
                for scores in self.units.by_item() {
                    add_weighted(&mut sums, scores, weights.next_multiplier(&mut random));
                }
                sums
            })
            .collect()
    }

    /// The same for all ways of giving signs, the data first. The last unit's sign is fixed.
    fn all_signs(&self) -> Vec<f64> {
        let free = self.units.item_count() - 1;
        let mut all = Vec::with_capacity((1 << free) * self.units.system_count());
        for way in 0..1_usize << free {
            let mut sums = vec![0.0; self.units.system_count()];
            for (at, scores) in self.units.by_item().enumerate() {
                add_weighted(
                    &mut sums,
                    scores,
                    if at < free && way >> at & 1 == 1 {
                        -1.0
                    } else {
                        1.0
                    },
                );
            }
            all.extend(sums);
        }
        all
    }

    fn step_down(
        &self,
        sums: &[f64],
        confidence: f64,
        is_exact: bool,
    ) -> Result<RankSets, Undefined> {
        let systems = self.units.system_count();
        let mut scales = self.scales.clone();
        let (mut critical, mut first, mut steps) = (f64::INFINITY, None, 0);
        loop {
            let mut largest: Vec<f64> = sums
                .par_chunks_exact(systems)
                .map(|sums| largest_statistic(sums, &scales))
                .collect();
            // Fewer pairs have no larger maximum; of a sample of quantiles that is not sure by rounding.
            critical = f64::min(
                critical,
                self.critical_value(&mut largest, confidence, is_exact)?,
            );
            first.get_or_insert(critical);
            steps += 1;
            let mut is_over = true;
            for (scale, observed) in scales.iter_mut().zip(&self.observed) {
                if *scale > 0.0 && *observed > critical + TIE_TOLERANCE {
                    (*scale, is_over) = (0.0, false);
                }
            }
            if is_over || scales.iter().all(|scale| *scale == 0.0) {
                break;
            }
        }
        let mut beats = vec![vec![false; systems]; systems];
        for ((first, second), (left, scale)) in
            system_pairs(systems).zip(scales.iter().zip(&self.scales))
        {
            if *left == 0.0 && *scale > 0.0 {
                let is_first = self.totals[first] > self.totals[second];
                beats[if is_first { first } else { second }]
                    [if is_first { second } else { first }] = true;
            }
        }
        let ranges = rank_ranges(&beats)?;
        Ok(RankSets {
            beats,
            ranges,
            critical: first.unwrap_or(critical),
            critical_last: critical,
            steps,
            draws: sums.len() / systems,
            is_exact,
        })
    }

    /// Returns the value that a statistic must exceed. Of signs, the data count as one of the draws, so that the error is at most the stated
    /// one whatever their number.
    fn critical_value(
        &self,
        largest: &mut [f64],
        confidence: f64,
        is_exact: bool,
    ) -> Result<f64, Undefined> {
        if self.multiplier == Multiplier::Normal {
            return quantile(largest, confidence);
        }
        largest.sort_unstable_by(f64::total_cmp);
        let others = if is_exact {
            largest.len()
        } else {
            largest.len() + 1
        };
        let allowed = to_count((1.0 - confidence) * others as f64 + TIE_TOLERANCE)
            - usize::from(!is_exact && others > 0);
        // A statistic is rejected if at most so many are as large.
        Ok(if allowed == 0 {
            f64::INFINITY
        } else {
            largest[largest.len() - 1 - allowed]
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of draws"
)]
fn to_count(count: f64) -> usize {
    count as usize
}

fn system_pairs(systems: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..systems).flat_map(move |first| (first + 1..systems).map(move |second| (first, second)))
}

fn add_weighted(sums: &mut [f64], scores: &[f64], weight: f64) {
    for (sum, score) in sums.iter_mut().zip(scores) {
        *sum += weight * score;
    }
}

/// Returns the largest statistic of a draw.
fn largest_statistic(sums: &[f64], scales: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (mut lanes, mut rest) = ([0.0_f64; LANES], scales);
    for (first, own) in sums.iter().enumerate() {
        let others = &sums[first + 1..];
        let (scales, later) = rest.split_at(others.len());
        rest = later;
        let (whole, tail) = (
            others.chunks_exact(LANES),
            others.chunks_exact(LANES).remainder(),
        );
        let (scale, scale_tail) = (
            scales.chunks_exact(LANES),
            scales.chunks_exact(LANES).remainder(),
        );
        for (others, scales) in whole.zip(scale) {
            for lane in 0..LANES {
                let statistic = (own - others[lane]).abs() * scales[lane];
                lanes[lane] = if statistic > lanes[lane] {
                    statistic
                } else {
                    lanes[lane]
                };
            }
        }
        for (other, scale) in tail.iter().zip(scale_tail) {
            lanes[0] = lanes[0].max((own - other).abs() * scale);
        }
    }
    lanes.iter().fold(0.0, |largest, lane| largest.max(*lane))
}

/// A stream of multipliers.
struct MultiplierStream {
    multiplier: Multiplier,
    /// The other normal number of a pair.
    spare: Option<f64>,
    bits: u64,
    left: u32,
}

impl MultiplierStream {
    fn new(multiplier: Multiplier) -> Self {
        Self {
            multiplier,
            spare: None,
            bits: 0,
            left: 0,
        }
    }

    fn next_multiplier(&mut self, random: &mut ChaCha8Rng) -> f64 {
        match self.multiplier {
            Multiplier::Normal | Multiplier::NormalOfScores => {
                self.spare.take().unwrap_or_else(|| {
                    // Box and Muller 1958, with the first number above 0.
                    let radius = (-2.0 * (1.0 - random_uniform(random)).ln()).sqrt();
                    let (sine, cosine) = (std::f64::consts::TAU * random_uniform(random)).sin_cos();
                    self.spare = Some(radius * sine);
                    radius * cosine
                })
            }
            Multiplier::Sign => {
                if self.left == 0 {
                    (self.bits, self.left) = (random.next_u64(), 64);
                }
                let is_flipped = self.bits & 1 == 1;
                (self.bits, self.left) = (self.bits >> 1, self.left - 1);
                if is_flipped { -1.0 } else { 1.0 }
            }
        }
    }
}

/// Returns a number from 0 to below 1.
pub(super) fn random_uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(systems: usize, items: usize) -> ScoreMatrix {
        let rows: Vec<Vec<f64>> = (0..systems)
            .map(|system| {
                (0..items)
                    .map(|item| ((item * item * 7 + system * 13 + item * system * 5) % 11) as f64)
                    .collect()
            })
            .collect();
        ScoreMatrix::new(&rows).expect("scores")
    }

    fn ordered(systems: usize, p: &[f64]) -> Vec<bool> {
        let tests: Vec<PairP> = system_pairs(systems)
            .zip(p)
            .map(|((first, second), p)| PairP {
                first,
                second,
                p: *p,
            })
            .collect();
        ordered_by_tests(&scores(systems, 80), None, &tests, 0.95, 9999, Seed(5))
            .expect("systems that differ")
    }

    #[test]
    fn one_test_is_held_to_its_own_level() {
        assert_eq!(
            (ordered(2, &[0.045]), ordered(2, &[0.055])),
            (vec![true], vec![false])
        );
    }

    #[test]
    fn several_tests_are_held_to_the_smallest_p_of_the_family() {
        // Three pairs of three systems: between no adjustment and Bonferroni's.
        assert_eq!(ordered(3, &[0.04, 0.9, 0.9]), [false; 3]);
        assert_eq!(ordered(3, &[0.015, 0.9, 0.9]), [true, false, false]);
        // Without the first pair the second is held to less.
        assert_eq!(ordered(3, &[1e-6, 0.022, 0.9]), [true, true, false]);
    }

    #[test]
    fn what_is_no_test_has_no_order() {
        let test = |first, second, p| [PairP { first, second, p }];
        let asked =
            |tests: &[PairP]| ordered_by_tests(&scores(2, 20), None, tests, 0.95, 99, Seed(1));
        assert_eq!(asked(&test(0, 0, 0.5)), Err(Undefined::OutOfRange));
        assert_eq!(asked(&test(0, 2, 0.5)), Err(Undefined::OutOfRange));
        assert_eq!(asked(&test(0, 1, 1.5)), Err(Undefined::OutOfRange));
        assert_eq!(asked(&[]), Err(Undefined::NoData));
    }
}
