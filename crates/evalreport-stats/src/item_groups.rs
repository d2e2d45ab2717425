//! What groups of items say about the order of systems.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::bootstrap::random_below;
use super::ranking::rank_ranges;
use super::{PartialOrder, RankRange, ScoreMatrix, Seed, Undefined, quantile};

/// Sets of ranks from drawing whole groups. C7 of the Leaderboard Reporting Standard, draft 0.2: one step, and standard errors from the
/// draws.
///
/// Undefined for fewer than two groups or two draws, and if no two systems differ.
pub fn group_rank_ranges(
    matrix: &ScoreMatrix,
    groups: &[u32],
    confidence: f64,
    draws: usize,
    seed: Seed,
) -> Result<Vec<RankRange>, Undefined> {
    let sums = matrix.group_sums(groups)?;
    let sizes = ScoreMatrix::new(&[vec![1.0; matrix.item_count()]])?
        .group_sums(groups)?
        .system_scores(0);
    let (systems, count) = (matrix.system_count(), sums.item_count());
    let bound = u32::try_from(count).map_err(|_| Undefined::OutOfRange)?;
    if count < 2 || draws < 2 {
        return Err(Undefined::TooFew);
    }
    let rows: Vec<&[f64]> = sums.by_item().collect();
    let means: Vec<Vec<f64>> = (0..draws)
        .into_par_iter()
        .map(|draw| {
            let mut random = seed.replicate_stream(draw as u64);
            let (mut own, mut items) = (vec![0.0; systems], 0.0);
            for _ in 0..count {
                let group = random_below(&mut random, bound) as usize;
                items += sizes[group];
                for (sum, score) in own.iter_mut().zip(rows[group]) {
                    *sum += score;
                }
            }
            own.iter().map(|sum| sum / items).collect()
        })
        .collect();
    let observed = matrix.system_means();
    let pairs: Vec<(usize, usize)> = (0..systems)
        .flat_map(|first| (first + 1..systems).map(move |second| (first, second)))
        .collect();
    let errors: Vec<f64> = pairs
        .iter()
        .map(|(first, second)| {
            let mean = means
                .iter()
                .map(|means| means[*first] - means[*second])
                .sum::<f64>()
                / draws as f64;
            let squares: f64 = means
                .iter()
                .map(|means| (means[*first] - means[*second] - mean).powi(2))
                .sum();
            (squares / (draws - 1) as f64).sqrt()
        })
        .collect();
    let moving: Vec<(usize, usize, f64)> = pairs
        .iter()
        .zip(&errors)
        .filter(|(_, error)| **error > 1e-12)
        .map(|((first, second), error)| (*first, *second, *error))
        .collect();
    if moving.is_empty() {
        return Err(Undefined::NoVariation);
    }
    let statistic = |means: &[f64], (first, second, error): (usize, usize, f64)| {
        (means[first] - means[second] - observed[first] + observed[second]).abs() / error
    };
    let largest: Vec<f64> = means
        .iter()
        .map(|means| {
            moving
                .iter()
                .map(|pair| statistic(means, *pair))
                .fold(0.0, f64::max)
        })
        .collect();
    let critical = quantile(&largest, confidence)?;
    let mut beats = vec![vec![false; systems]; systems];
    for (first, second, error) in moving {
        let difference = observed[first] - observed[second];
        if difference.abs() / error > critical {
            let (winner, loser) = if difference > 0.0 {
                (first, second)
            } else {
                (second, first)
            };
            beats[winner][loser] = true;
        }
    }
    rank_ranges(&beats)
}

/// Returns the pairs whose order is the same in every group: the order's core. C4 of the Leaderboard Reporting Standard.
pub fn order_core(matrix: &ScoreMatrix, groups: &[u32]) -> Result<PartialOrder, Undefined> {
    let sums = matrix.group_sums(groups)?;
    let beats: Vec<Vec<bool>> = (0..matrix.system_count())
        .map(|first| {
            (0..matrix.system_count())
                .map(|second| sums.by_item().all(|own| own[first] > own[second] + 1e-9))
                .collect()
        })
        .collect();
    PartialOrder::new(&beats)
}

/// A change of the groups' weights after which another system leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reweighting {
    pub rival: usize,
    /// Share of the whole weight that moves from groups to others.
    pub moved: f64,
}

/// Finds the smallest change of the groups' weights, today proportional to their sizes, that makes another system equal to the leader. The
/// weight moves from the group where the leader is furthest ahead to the group where the rival is. `None` if the leader is ahead of each
/// rival in every group.
pub fn smallest_reweighting(
    matrix: &ScoreMatrix,
    groups: &[u32],
    leader: usize,
) -> Result<Option<Reweighting>, Undefined> {
    let sums = matrix.group_sums(groups)?;
    let sizes = ScoreMatrix::new(&[vec![1.0; matrix.item_count()]])?
        .group_sums(groups)?
        .system_scores(0);
    let against = |rival: usize| {
        let mut groups: Vec<(f64, f64)> = sums
            .by_item()
            .zip(&sizes)
            .map(|(own, size)| {
                (
                    (own[leader] - own[rival]) / size,
                    size / matrix.item_count() as f64,
                )
            })
            .collect();
        groups.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut ahead: f64 = groups
            .iter()
            .map(|(difference, weight)| difference * weight)
            .sum();
        let worst = groups.last().map_or(0.0, |group| group.0);
        let mut moved = 0.0;
        for (difference, weight) in groups {
            if ahead <= 0.0 || difference <= worst {
                break;
            }
            let share = weight.min(ahead / (difference - worst));
            moved += share;
            ahead -= share * (difference - worst);
        }
        (ahead <= 1e-12).then_some(Reweighting { rival, moved })
    };
    let rivals = matrix
        .order_by_mean()
        .into_iter()
        .filter(|rival| *rival != leader)
        .filter_map(against);
    Ok(rivals.min_by(|one, other| one.moved.total_cmp(&other.moved)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[[f64; 6]]) -> ScoreMatrix {
        ScoreMatrix::new(rows).expect("scores")
    }

    const GROUPS: [u32; 6] = [1, 1, 1, 1, 2, 2];

    #[test]
    fn weights_that_change_the_leader() {
        // The first leads by 0.5 in a group of weight 2/3 and trails by 0.5 in the other: ahead by 1/6. Each share moved costs 1.
        let scores = matrix(&[
            [1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
            [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
        ]);
        let found = smallest_reweighting(&scores, &GROUPS, 0)
            .expect("groups")
            .expect("a rival");
        assert!(
            found.rival == 1 && (found.moved - 1.0 / 6.0).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(
            smallest_reweighting(&matrix(&[[1.0; 6], [0.0; 6]]), &GROUPS, 0),
            Ok(None)
        );
        assert_eq!(
            smallest_reweighting(&scores, &GROUPS[..5], 0),
            Err(Undefined::Unequal)
        );
    }

    #[test]
    fn the_core_is_ordered_in_each_group() {
        let scores = matrix(&[
            [0.9; 6],
            [0.5, 0.5, 0.5, 0.5, 0.6, 0.6],
            [0.5, 0.4, 0.4, 0.4, 0.7, 0.7],
        ]);
        let core = order_core(&scores, &GROUPS).expect("groups");
        assert_eq!(
            (
                core.pair_count(),
                core.tier_count(),
                core.largest_antichain()
            ),
            (2, 2, 2)
        );
    }

    #[test]
    fn groups_are_drawn_whole() {
        // Thirty items that say the same in two groups: the items alone separate the systems, two groups cannot.
        let ahead: Vec<f64> = (0..60)
            .map(|item| f64::from(u8::from(item % 4 != 0)))
            .collect();
        let behind: Vec<f64> = (0..60)
            .map(|item| f64::from(u8::from(item % 4 == 1 || item >= 54)))
            .collect();
        let scores = ScoreMatrix::new(&[ahead, behind]).expect("scores");
        let single: Vec<u32> = (0..60).collect();
        let alone = group_rank_ranges(&scores, &single, 0.95, 400, Seed(1)).expect("groups");
        assert_eq!(
            alone,
            [
                RankRange { best: 1, worst: 1 },
                RankRange { best: 2, worst: 2 }
            ]
        );
        assert_eq!(
            group_rank_ranges(&scores, &[1; 60], 0.95, 400, Seed(1)),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            group_rank_ranges(
                &ScoreMatrix::new(&[[1.0; 60]; 2]).expect("scores"),
                &single,
                0.95,
                400,
                Seed(1)
            ),
            Err(Undefined::NoVariation)
        );
    }
}
