//! Elo ratings: strengths that follow the votes one after the other.

use super::bradley_terry::{Vote, Voted};

/// Returns Elo ratings after all votes, in their order (Elo 1978): start 1000, at most 4 points a vote, and a difference of 400 points for
/// odds of 10 to 1. A tie is half a win.
///
/// They depend on the order of the votes, and have no interval.
pub fn elo(arms: usize, votes: &[Vote]) -> Vec<f64> {
    const STEP: f64 = 4.0;
    let mut ratings = vec![1000.0; arms];
    for vote in votes {
        let (first, second) = (ratings[vote.first], ratings[vote.second]);
        let expected = 1.0 / (1.0 + 10.0_f64.powf((second - first) / 400.0));
        let won = match vote.voted {
            Voted::First => 1.0,
            Voted::Second => 0.0,
            Voted::Tie => 0.5,
        };
        let change = STEP * (won - expected);
        ratings[vote.first] += change;
        ratings[vote.second] -= change;
    }
    ratings
}
