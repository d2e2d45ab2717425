//! Simultaneous sets of ranks from resampled items: with the stated confidence, all of them hold at once.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::ranking::{RankRange, rank_ranges};
use super::{ScoreMatrix, Seed, Undefined, quantile};

/// What each item's scores are multiplied with in a draw, the same for all systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplier {
    /// A standard normal number times the distance from the system's mean: the wild bootstrap of the Leaderboard Reporting Standard.
    /// Its sets are too narrow where systems are many and items few.
    Normal,
    /// 1 or −1, as if two systems had swapped their results: sets that hold with few items too.
    Sign,
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
            Multiplier::Normal => self.spare.take().unwrap_or_else(|| {
                // Box and Muller 1958, with the first number above 0.
                let radius = (-2.0 * (1.0 - random_uniform(random)).ln()).sqrt();
                let (sine, cosine) = (std::f64::consts::TAU * random_uniform(random)).sin_cos();
                self.spare = Some(radius * sine);
                radius * cosine
            }),
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
