//! Elo ratings: strengths that follow the votes one after the other.

use super::bradley_terry::{PairVote, VoteOutcome};

/// Returns Elo ratings after all votes, in their order (Elo 1978): start 1000, at most 4 points a vote, and a difference of 400 points for
/// odds of 10 to 1. A tie is half a win.
///
/// They depend on the order of the votes, and have no interval.
pub fn elo_ratings(arms: usize, votes: &[PairVote]) -> Vec<f64> {
    const K_FACTOR: f64 = 4.0;
    let mut ratings = vec![1000.0; arms];
    for vote in votes {
        let (first, second) = (ratings[vote.first], ratings[vote.second]);
        let expected = 1.0 / (1.0 + 10.0_f64.powf((second - first) / 400.0));
        let won = match vote.voted {
            VoteOutcome::First => 1.0,
            VoteOutcome::Second => 0.0,
            VoteOutcome::Tie => 0.5,
        };
        let change = K_FACTOR * (won - expected);
        ratings[vote.first] += change;
        ratings[vote.second] -= change;
    }
    ratings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let vote = |first, second, voted| PairVote {
            first,
            second,
            voted,
        };
        // Equal arms: half of 4 points. Then the weaker one wins, against odds of 10^(4/400).
        let ratings = elo_ratings(
            3,
            &[
                vote(0, 1, VoteOutcome::First),
                vote(1, 0, VoteOutcome::First),
                vote(0, 2, VoteOutcome::Tie),
            ],
        );
        let second = 4.0 * (1.0 - 1.0 / (1.0 + 10.0_f64.powf(0.01)));
        let tie = 4.0 * (0.5 - 1.0 / (1.0 + 10.0_f64.powf((second - 2.0) / 400.0)));
        for (got, wanted) in
            ratings
                .iter()
                .zip([1002.0 - second + tie, 998.0 + second, 1000.0 - tie])
        {
            assert!((got - wanted).abs() < 1e-9, "{ratings:?}");
        }
    }
}
