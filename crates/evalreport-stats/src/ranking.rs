//! Ranks with ties: ranges of ranks, the leading group, and how often each entry comes first.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::bootstrap::random_below;
use super::{Interval, Seed, Undefined};

/// The possible ranks of an entry; 1 is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RankRange {
    pub best: usize,
    pub worst: usize,
}

/// Returns ranks from intervals. An entry ranks behind those whose interval is wholly better than its own, and before those whose interval
/// is wholly worse.
///
/// Coarser than [`rank_ranges`]: overlap of two intervals is no test of their difference.
pub fn rank_intervals(intervals: &[Interval], higher_is_better: bool) -> Vec<RankRange> {
    let beats = |a: &Interval, b: &Interval| {
        if higher_is_better {
            a.low > b.high
        } else {
            a.high < b.low
        }
    };
    intervals
        .iter()
        .map(|own| RankRange {
            best: 1 + intervals.iter().filter(|other| beats(other, own)).count(),
            worst: intervals.len() - intervals.iter().filter(|other| beats(own, other)).count(),
        })
        .collect()
}

/// Returns ranks from tests of all pairs. `beats[i][j]` is whether `i` is significantly better than `j`.
pub fn rank_ranges(beats: &[impl AsRef<[bool]>]) -> Result<Vec<RankRange>, Undefined> {
    check_square(beats)?;
    let range = |own: usize| RankRange {
        best: 1 + beats.iter().filter(|row| row.as_ref()[own]).count(),
        worst: beats.len() - beats[own].as_ref().iter().filter(|&&beaten| beaten).count(),
    };
    Ok((0..beats.len()).map(range).collect())
}

/// Returns the indices, ascending, of the entry with the best point and of all entries that are not significantly worse.
///
/// If several share the best point, an entry is excluded only if each of them beats it.
pub fn leading_group(
    points: &[f64],
    higher_is_better: bool,
    beats: &[impl AsRef<[bool]>],
) -> Result<Vec<usize>, Undefined> {
    check_square(beats)?;
    if points.len() != beats.len() {
        return Err(Undefined::Unequal);
    }
    if points.iter().any(|point| !point.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let best = points
        .iter()
        .copied()
        .reduce(if higher_is_better { f64::max } else { f64::min })
        .ok_or(Undefined::NoData)?;
    let leaders: Vec<usize> = (0..points.len())
        .filter(|&entry| points[entry].total_cmp(&best).is_eq())
        .collect();
    Ok((0..points.len())
        .filter(|&entry| !leaders.iter().all(|&leader| beats[leader].as_ref()[entry]))
        .collect())
}

fn check_square(matrix: &[impl AsRef<[bool]>]) -> Result<(), Undefined> {
    if matrix.iter().any(|row| row.as_ref().len() != matrix.len()) {
        Err(Undefined::Unequal)
    } else {
        Ok(())
    }
}

/// Means closer than this share of the largest score are equal: sums in another order differ by less.
const TIE_TOLERANCE: f64 = 1e-12;

/// Returns how often each entry has the best mean in resamples of the items with replacement: the probability that it would lead on similar
/// questions. A tied best mean is shared evenly.
///
/// `scores[entry][item]` may be missing. An entry's mean is over its own items, and an entry without scores gets `None`. The items are
/// drawn for all entries together, so that a hard item is hard for all. If `clusters` gives each item a cluster code, whole clusters are
/// drawn.
pub fn probability_of_best(
    scores: &[impl AsRef<[Option<f64>]>],
    clusters: Option<&[u32]>,
    higher_is_better: bool,
    resamples: u32,
    seed: Seed,
) -> Result<Vec<Option<f64>>, Undefined> {
    let table = UnitScores::new(scores, clusters, higher_is_better)?;
    if resamples == 0 {
        return Err(Undefined::NoData);
    }
    let bound = u32::try_from(table.units).map_err(|_| Undefined::OutOfRange)?;
    let firsts: Vec<Vec<usize>> = (0..resamples)
        .into_par_iter()
        .map_init(
            || (vec![0u32; table.units], vec![0.0; table.columns]),
            |(times, sums), replicate| {
                let mut random = seed.replicate_stream(u64::from(replicate));
                times.fill(0);
                for _ in 0..bound {
                    times[random_below(&mut random, bound) as usize] += 1;
                }
                table.best_entries(times, sums)
            },
        )
        .collect();
    // Sum in the order of the replicates, so that the result is reproducible to the last digit.
    let mut shares = vec![0.0; table.entries];
    let mut counted = 0.0;
    for first in firsts.iter().filter(|first| !first.is_empty()) {
        counted += 1.0;
        for &entry in first {
            shares[entry] += 1.0 / first.len() as f64;
        }
    }
    if counted == 0.0 {
        return Err(Undefined::NoData);
    }
    Ok(shares
        .iter()
        .zip(&table.has_scores)
        .map(|(share, has)| has.then_some(share / counted))
        .collect())
}

/// Scores by unit, so that one pass adds up all entries at once.
struct UnitScores {
    /// Number of units drawn: items or clusters of items.
    units: usize,
    entries: usize,
    /// Per unit: the sums of the entries' scores, higher is better and 0 if missing; then, for each entry without exactly one score in
    /// every unit, its number of scores.
    cells: Vec<f64>,
    columns: usize,
    /// Per entry: the column with its number of scores; `None` for an entry with exactly one in every unit.
    counts: Vec<Option<usize>>,
    has_scores: Vec<bool>,
    /// Means closer than this are equal.
    tie: f64,
}

impl UnitScores {
    fn new(
        scores: &[impl AsRef<[Option<f64>]>],
        clusters: Option<&[u32]>,
        higher_is_better: bool,
    ) -> Result<Self, Undefined> {
        let entries = scores.len();
        let items = scores.first().ok_or(Undefined::NoData)?.as_ref().len();
        if scores.iter().any(|row| row.as_ref().len() != items)
            || clusters.is_some_and(|clusters| clusters.len() != items)
        {
            return Err(Undefined::Unequal);
        }
        if scores
            .iter()
            .flat_map(AsRef::as_ref)
            .flatten()
            .any(|score| !score.is_finite())
        {
            return Err(Undefined::NotFinite);
        }
        let unit_of = clusters.map(number_clusters);
        let units = unit_of
            .as_ref()
            .map_or(items, |of| of.iter().max().map_or(0, |last| last + 1));
        let mut columns = entries;
        let mut counts = vec![None; entries];
        for (row, count) in scores.iter().zip(&mut counts) {
            if unit_of.is_some() || row.as_ref().iter().any(Option::is_none) {
                *count = Some(columns);
                columns += 1;
            }
        }
        let sign = if higher_is_better { 1.0 } else { -1.0 };
        let mut cells = vec![0.0; units * columns];
        let mut largest = 0.0f64;
        for (entry, row) in scores.iter().enumerate() {
            for (item, score) in row.as_ref().iter().enumerate() {
                let Some(score) = score else { continue };
                largest = largest.max(score.abs());
                let unit = unit_of.as_ref().map_or(item, |of| of[item]);
                cells[unit * columns + entry] += sign * score;
                if let Some(count) = counts[entry] {
                    cells[unit * columns + count] += 1.0;
                }
            }
        }
        let has_scores: Vec<bool> = scores
            .iter()
            .map(|row| row.as_ref().iter().any(Option::is_some))
            .collect();
        if !has_scores.contains(&true) {
            return Err(Undefined::NoData);
        }
        Ok(Self {
            units,
            entries,
            cells,
            columns,
            counts,
            has_scores,
            tie: TIE_TOLERANCE * largest,
        })
    }

    /// Returns the entries with the best mean if each unit counts `times`. Empty if no entry has a score there.
    fn best_entries(&self, times: &[u32], sums: &mut [f64]) -> Vec<usize> {
        sums.fill(0.0);
        for (cells, &times) in self.cells.chunks_exact(self.columns).zip(times) {
            let times = f64::from(times);
            for (sum, cell) in sums.iter_mut().zip(cells) {
                *sum += times * cell;
            }
        }
        let mean = |entry: usize| {
            let count = self.counts[entry].map_or(self.units as f64, |column| sums[column]);
            (count > 0.0).then(|| sums[entry] / count)
        };
        let best = (0..self.entries)
            .filter_map(mean)
            .fold(f64::NEG_INFINITY, f64::max);
        (0..self.entries)
            .filter(|&entry| mean(entry).is_some_and(|mean| mean >= best - self.tie))
            .collect()
    }
}

/// Numbers the clusters from 0 in the order of their codes.
fn number_clusters(codes: &[u32]) -> Vec<usize> {
    let mut distinct = codes.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    codes
        .iter()
        .map(|code| distinct.partition_point(|known| known < code))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_from_intervals() {
        let intervals =
            [(45.0, 51.0), (69.0, 82.0), (47.0, 56.0)].map(|(low, high)| Interval { low, high });
        let range = |best, worst| RankRange { best, worst };
        assert_eq!(
            rank_intervals(&intervals, true),
            [range(2, 3), range(1, 1), range(2, 3)]
        );
        assert_eq!(
            rank_intervals(&intervals, false),
            [range(1, 2), range(3, 3), range(1, 2)]
        );
        // Touching ends are not "wholly better".
        let touching = [(0.0, 1.0), (1.0, 2.0)].map(|(low, high)| Interval { low, high });
        assert_eq!(rank_intervals(&touching, true), [range(1, 2), range(1, 2)]);
    }

    #[test]
    fn ranges_and_leaders_from_tests() {
        // 0 beats 2 and 3, 1 beats 3.
        let beats = [
            [false, false, true, true],
            [false, false, false, true],
            [false; 4],
            [false; 4],
        ];
        let ranges: Vec<(usize, usize)> = rank_ranges(&beats)
            .expect("square")
            .iter()
            .map(|range| (range.best, range.worst))
            .collect();
        assert_eq!(ranges, [(1, 2), (1, 3), (2, 4), (3, 4)]);
        assert_eq!(
            leading_group(&[0.9, 0.8, 0.7, 0.6], true, &beats),
            Ok(vec![0, 1])
        );
        // Of two equal leaders one has not beaten 2, so 2 stays.
        assert_eq!(
            leading_group(&[0.9, 0.9, 0.7, 0.6], true, &beats),
            Ok(vec![0, 1, 2])
        );
        assert_eq!(
            leading_group(&[0.9, 0.8, 0.7, 0.6], false, &beats),
            Ok(vec![0, 1, 2, 3])
        );
        assert_eq!(leading_group(&[1.0], true, &beats), Err(Undefined::Unequal));
        assert_eq!(
            leading_group(&[f64::NAN], true, &[[false]]),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            leading_group(&[], true, &[[false; 0]; 0]),
            Err(Undefined::NoData)
        );
        assert_eq!(rank_ranges(&[vec![false], vec![]]), Err(Undefined::Unequal));
    }

    fn some(scores: &[f64]) -> Vec<Option<f64>> {
        scores.iter().copied().map(Some).collect()
    }

    #[test]
    fn the_chance_to_lead() {
        let scores = [
            some(&[1.0, 0.0, 1.0, 1.0]),
            some(&[0.0, 1.0, 0.0, 0.0]),
            some(&[1.0, 0.0, 1.0, 1.0]),
            vec![None; 4],
        ];
        let shares = probability_of_best(&scores, None, true, 20_000, Seed(5)).expect("scores");
        // Twins share; entry 1 leads alone when item 1 is drawn three or four times, (4·3 + 1)/256, and ties at two, 6·9/256.
        let alone = 13.0 / 256.0 + 54.0 / 256.0 / 3.0;
        assert_eq!(shares[3], None);
        assert_eq!(shares[0], shares[2]);
        assert!(
            (shares[1].expect("scores") - alone).abs() < 0.01,
            "{shares:?}"
        );
        assert!((shares.iter().flatten().sum::<f64>() - 1.0).abs() < 1e-9);
        let lowest = probability_of_best(&scores, None, false, 20_000, Seed(5)).expect("scores");
        assert!(lowest[1] > Some(0.6));
    }

    #[test]
    fn missing_scores_are_not_zero() {
        let scores = [vec![Some(0.9), None, Some(0.9)], some(&[0.5, 0.5, 0.5])];
        let shares = probability_of_best(&scores, None, true, 2000, Seed(1)).expect("scores");
        // The first entry is missing only in a resample of the item that it lacks: 1/27.
        assert!((shares[0].expect("scores") - 26.0 / 27.0).abs() < 0.02);
        assert_eq!(
            probability_of_best(&[[None, None]], None, true, 10, Seed(1)),
            Err(Undefined::NoData)
        );
        assert_eq!(
            probability_of_best(&[[Some(f64::NAN)]], None, true, 10, Seed(1)),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            probability_of_best(&[vec![Some(1.0)], vec![]], None, true, 10, Seed(1)),
            Err(Undefined::Unequal)
        );
        assert_eq!(
            probability_of_best(&[[None; 1]; 0], None, true, 10, Seed(1)),
            Err(Undefined::NoData)
        );
    }

    #[test]
    fn means_apart_by_rounding_are_equal() {
        let scores = [some(&[0.1 + 0.2; 3]), some(&[0.3; 3])];
        assert_eq!(
            probability_of_best(&scores, None, true, 500, Seed(2)),
            Ok(vec![Some(0.5), Some(0.5)])
        );
    }

    #[test]
    fn clusters_are_drawn_whole() {
        // Within each of two clusters all items are equal: 0 leads in one, 1 by less in the other.
        let scores = [
            some(&[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
            some(&[0.0, 0.0, 0.0, 0.5, 0.5, 0.5]),
        ];
        let clusters = [9, 9, 9, 4, 4, 4];
        let shares =
            probability_of_best(&scores, Some(&clusters), true, 20_000, Seed(3)).expect("scores");
        // 1 leads only if the second cluster is drawn twice.
        assert!(
            (shares[1].expect("scores") - 0.25).abs() < 0.01,
            "{shares:?}"
        );
        let single: Vec<u32> = (0..6).collect();
        let by_item = probability_of_best(&scores, None, true, 500, Seed(3));
        assert_eq!(
            probability_of_best(&scores, Some(&single), true, 500, Seed(3)),
            by_item,
            "clusters of one are items"
        );
        assert_eq!(
            probability_of_best(&scores, Some(&[1]), true, 500, Seed(3)),
            Err(Undefined::Unequal)
        );
    }

    #[test]
    fn threads_do_not_matter() {
        let scores: Vec<Vec<Option<f64>>> = (0..5)
            .map(|entry| {
                (0..40)
                    .map(|item| Some(f64::from((entry * 7 + item * 13) % 11) / 10.0))
                    .collect()
            })
            .collect();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool of threads");
            pool.install(|| probability_of_best(&scores, None, true, 501, Seed(9)))
                .expect("scores")
        };
        assert_eq!(on(1), on(8));
    }
}
