//! Boards of votes on pairs of arms.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::{
    Effect, FitOptions, PairVote, RankRange, Strength, Ties, Undefined, VoteOutcome, bradley_terry,
    elo_ratings,
};

/// Votes on pairs of arms.
pub struct VotesOnPairs {
    /// Name of the file.
    pub name: String,
    pub sha256: String,
    pub arms: Vec<String>,
    pub votes: Vec<PairVote>,
    /// By vote: the code of the voter and of the prompt, if they are known.
    pub voters: Option<Vec<u32>>,
    pub prompts: Option<Vec<u32>>,
    /// By style: its name, and by vote the values of the two answers.
    pub styles: Vec<(String, Vec<[f64; 2]>)>,
    pub unvoted: u64,
    pub on_itself: u64,
}

/// What votes establish.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Preferences {
    pub votes_of: String,
    pub sha256: String,
    pub votes: u64,
    pub ties: u64,
    pub ties_are: Ties,
    /// Rows without a vote, and rows that compare an arm with itself. They are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub unvoted: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub on_itself: u64,
    /// Votes between arms with a finite strength.
    pub fitted_votes: u64,
    pub units: Vec<VoteUnits>,
    /// Strongest first: arms without an upper bound, arms with a finite strength, others.
    pub places: Vec<PreferredArm>,
    /// Pairs of which one arm is established to be stronger, and all pairs.
    pub established_pairs: u64,
    pub pairs: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub styles: Vec<StyleEffect>,
    /// Log of Davidson's ν: two equal arms tie with the odds ν to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie_effect: Option<Effect>,
    pub confidence: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Votes that depend on each other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VoteUnits {
    pub kind: VoteUnit,
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VoteUnit {
    /// Neither voters nor prompts are known.
    Vote,
    Voter,
    Prompt,
}

/// An arm's place by votes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PreferredArm {
    pub arm: String,
    pub votes: u64,
    pub won: u64,
    pub tied: u64,
    pub lost: u64,
    /// Won votes and half of the ties, of all its votes.
    pub win_rate: f64,
    pub bound: Bound,
    /// Log odds against the mean of the arms with a finite strength. Absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Effect>,
    /// The same in points: 400 points are odds of 10 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Points>,
    /// Share of the strengths' exponentials, which add up to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Elo rating after all votes in the file's order.
    pub elo: f64,
    /// Places that the votes cannot rule out. All arms' hold at once.
    pub rank: RankRange,
    /// Whether the arm is established to be stronger than the next. Absent for the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beats_next: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// No arm with a finite strength won against it or tied with it, not even through others; or it passed all its items.
    NoUpper,
    Finite,
    /// It neither won nor tied against an arm with a finite strength, not even through others; or it passed none of its items.
    NoLower,
    /// No votes, or no common items, connect it with the arms with a finite strength.
    Unconnected,
}

impl Bound {
    pub(super) fn from_strength(strength: Strength) -> Self {
        match strength {
            Strength::Above => Self::NoUpper,
            Strength::Finite(_) => Self::Finite,
            Strength::Below => Self::NoLower,
            Strength::Apart => Self::Unconnected,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Points {
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// How much a style sways votes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StyleEffect {
    pub style: String,
    /// Root mean square of (a − b) / (a + b), the unit of the effect.
    pub unit: f64,
    /// Change of the log odds for one unit more.
    pub effect: Effect,
}

const CONFIDENCE: f64 = 0.95;

/// Fits strengths to votes. Undefined if no two arms have a finite strength, or if styles explain each vote or each other.
pub fn fit_preferences(given: &VotesOnPairs, rule: Ties) -> Result<Preferences, Undefined> {
    let styles: Vec<(f64, Vec<f64>)> = given
        .styles
        .iter()
        .map(|(_, values)| scale_by_root_mean_square(values))
        .collect();
    let covariates: Vec<Vec<f64>> = styles.iter().map(|(_, values)| values.clone()).collect();
    let kinds = [
        (VoteUnit::Voter, &given.voters),
        (VoteUnit::Prompt, &given.prompts),
    ];
    let (known, units): (Vec<VoteUnit>, Vec<Vec<u32>>) = kinds
        .into_iter()
        .filter_map(|(kind, codes)| Some((kind, codes.clone()?)))
        .unzip();
    let fitting = FitOptions {
        ties: rule,
        covariates: &covariates,
        units: &units,
        confidence: CONFIDENCE,
    };
    let found = bradley_terry(given.arms.len(), &given.votes, &fitting)?;
    let whole: f64 = found
        .strengths
        .iter()
        .filter_map(|strength| strength.finite_effect())
        .map(|effect| effect.value.exp())
        .sum();
    let ratings = elo_ratings(given.arms.len(), &given.votes);
    let mut tallies = vec![[0_u64; 3]; given.arms.len()];
    for vote in &given.votes {
        let (first, second) = match vote.voted {
            VoteOutcome::First => (0, 2),
            VoteOutcome::Tie => (1, 1),
            VoteOutcome::Second => (2, 0),
        };
        tallies[vote.first][first] += 1;
        tallies[vote.second][second] += 1;
    }
    let bound = |arm: usize| Bound::from_strength(found.strengths[arm]);
    let value = |arm: usize| {
        found.strengths[arm]
            .finite_effect()
            .map_or(0.0, |effect| effect.value)
    };
    let mut order: Vec<usize> = (0..given.arms.len()).collect();
    order.sort_by(|one, other| {
        let by_strength = bound(*one)
            .cmp(&bound(*other))
            .then(value(*other).total_cmp(&value(*one)));
        by_strength.then(given.arms[*one].cmp(&given.arms[*other]))
    });
    let place = |(at, arm): (usize, &usize)| {
        let arm = *arm;
        let [won, tied, lost] = tallies[arm];
        let strength = found.strengths[arm].finite_effect();
        let votes = won + tied + lost;
        PreferredArm {
            arm: given.arms[arm].clone(),
            votes,
            won,
            tied,
            lost,
            win_rate: (won as f64 + tied as f64 / 2.0) / votes as f64,
            bound: bound(arm),
            strength,
            points: strength.map(scale_to_points),
            share: strength.map(|effect| effect.value.exp() / whole),
            elo: ratings[arm],
            rank: found.ranks[arm],
            beats_next: order.get(at + 1).map(|next| found.beats[arm][*next]),
        }
    };
    let arms = given.arms.len() as u64;
    let units = if known.is_empty() {
        vec![VoteUnit::Vote]
    } else {
        known
    };
    Ok(Preferences {
        votes_of: given.name.clone(),
        sha256: given.sha256.clone(),
        votes: given.votes.len() as u64,
        ties: given
            .votes
            .iter()
            .filter(|vote| vote.voted == VoteOutcome::Tie)
            .count() as u64,
        ties_are: rule,
        unvoted: given.unvoted,
        on_itself: given.on_itself,
        fitted_votes: found.votes,
        units: units
            .into_iter()
            .zip(&found.units)
            .map(|(kind, count)| VoteUnits {
                kind,
                count: *count,
            })
            .collect(),
        places: order.iter().enumerate().map(place).collect(),
        established_pairs: found.beats.iter().flatten().filter(|beats| **beats).count() as u64,
        pairs: arms * (arms - 1) / 2,
        styles: given
            .styles
            .iter()
            .zip(styles)
            .zip(&found.covariates)
            .map(|(((style, _), (unit, _)), effect)| StyleEffect {
                style: style.clone(),
                unit,
                effect: *effect,
            })
            .collect(),
        tie_effect: found.ties,
        confidence: CONFIDENCE,
    })
}

fn scale_to_points(effect: Effect) -> Points {
    let scaled = |value: f64| value * 400.0 / std::f64::consts::LN_10;
    Points {
        value: scaled(effect.value),
        low: effect.interval.map(|ends| scaled(ends.low)),
        high: effect.interval.map(|ends| scaled(ends.high)),
    }
}

/// Returns (a − b) / (a + b) over its root mean square, and that root. It is not centred, so that the order of the two answers has no effect.
fn scale_by_root_mean_square(values: &[[f64; 2]]) -> (f64, Vec<f64>) {
    let shares: Vec<f64> = values
        .iter()
        .map(|[one, other]| {
            if one + other > 0.0 {
                (one - other) / (one + other)
            } else {
                0.0
            }
        })
        .collect();
    let unit =
        (shares.iter().map(|share| share * share).sum::<f64>() / shares.len().max(1) as f64).sqrt();
    let scaled = shares
        .iter()
        .map(|share| if unit > 0.0 { share / unit } else { 0.0 })
        .collect();
    (unit, scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(votes: &[(usize, usize, VoteOutcome)]) -> VotesOnPairs {
        VotesOnPairs {
            name: "votes.csv".to_owned(),
            sha256: String::new(),
            arms: ["v", "w", "x", "y", "z"].map(str::to_owned).to_vec(),
            votes: votes
                .iter()
                .map(|(first, second, voted)| PairVote {
                    first: *first,
                    second: *second,
                    voted: *voted,
                })
                .collect(),
            voters: None,
            prompts: None,
            styles: Vec::new(),
            unvoted: 0,
            on_itself: 0,
        }
    }

    #[test]
    fn arms_without_bounds_come_first_and_last() {
        use VoteOutcome::{First, Second, Tie};
        // x and y beat each other, v never loses, z never wins, w is known by v alone.
        let votes = [
            (2, 3, First),
            (2, 3, First),
            (2, 3, Second),
            (0, 2, First),
            (4, 3, Second),
            (0, 1, First),
            (2, 3, Tie),
        ];
        let found = fit_preferences(&given(&votes), Ties::HalfWins).expect("a board");
        let places: Vec<(&str, Bound)> = found
            .places
            .iter()
            .map(|place| (place.arm.as_str(), place.bound))
            .collect();
        let wanted = [
            ("v", Bound::NoUpper),
            ("x", Bound::Finite),
            ("y", Bound::Finite),
            ("z", Bound::NoLower),
            ("w", Bound::Unconnected),
        ];
        assert_eq!(places, wanted);
        assert_eq!(
            (
                found.fitted_votes,
                found.places[0].points,
                found.places[0].share
            ),
            (4, None, None)
        );
        // Odds 2.5 to 1.5.
        let [x, y] = [1, 2].map(|place: usize| found.places[place].strength.expect("finite").value);
        assert!((x - y - (2.5_f64 / 1.5).ln()).abs() < 1e-12);
        assert!(
            found
                .places
                .iter()
                .all(|place| (place.rank.best, place.rank.worst) == (1, 5))
        );
    }

    #[test]
    fn one_arm_has_no_strength() {
        let votes = [(0, 1, VoteOutcome::First), (0, 2, VoteOutcome::First)];
        assert_eq!(
            fit_preferences(&given(&votes), Ties::HalfWins),
            Err(Undefined::TooFew)
        );
    }

    #[test]
    fn a_style_is_a_share_of_both_answers() {
        let (unit, values) =
            scale_by_root_mean_square(&[[3.0, 1.0], [0.0, 0.0], [1.0, 3.0], [2.0, 2.0]]);
        assert!((unit - 0.125_f64.sqrt()).abs() < 1e-15);
        assert_eq!(values, [0.5 / unit, 0.0, -0.5 / unit, 0.0]);
    }
}
