//! Strengths of arms from votes on pairs of them.

use std::collections::BTreeSet;

use super::adjust::holm_adjustment;
use super::distribution::t_two_sided;
use super::logistic::{logistic, softplus};
use super::mean::t_interval;
use super::ranking::{RankRange, rank_ranges};
use super::symmetric::Cholesky;
use super::{Interval, Undefined};

/// One vote on a pair of arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairVote {
    pub first: usize,
    pub second: usize,
    pub voted: VoteOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteOutcome {
    First,
    Second,
    Tie,
}

/// What a tie says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Half a win for each arm.
    #[default]
    HalfWins,
    /// An outcome of its own, the likelier the closer two arms are (Davidson 1970).
    Davidson,
}

/// An estimate with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Effect {
    /// In natural logarithms of odds.
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Standard error if the model holds and votes are independent, from the information alone. For comparison with other tools.
    pub model_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// What votes, or answers, say about an arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// Logarithm of the odds against the mean of all arms with a finite strength.
    Finite(Effect),
    /// It has no upper bound: no chain of wins and ties leads from the arms with a finite strength to this one, or it passed everything.
    Above,
    /// It has no lower bound: no such chain leads from this arm to those, or it passed nothing.
    Below,
    /// Nothing links it with those.
    Apart,
}

impl Strength {
    /// Returns the estimate, or `None` if it is not finite.
    pub fn finite_effect(self) -> Option<Effect> {
        if let Self::Finite(effect) = self {
            Some(effect)
        } else {
            None
        }
    }
}

/// Strengths, and what they establish.
#[derive(Clone, Debug, PartialEq)]
pub struct BradleyTerry {
    /// By arm.
    pub strengths: Vec<Strength>,
    /// By covariate: the change of the log odds for one unit.
    pub covariates: Vec<Effect>,
    /// Log of Davidson's ν: two equal arms tie with the odds ν to 2. Absent with half wins, and without a tie.
    pub ties: Option<Effect>,
    /// Votes between arms with a finite strength. Only they are fitted.
    pub votes: u64,
    /// By kind of unit: how many units have such a vote.
    pub units: Vec<u64>,
    /// `beats[i][j]`: arm `i` is established to be stronger than `j`.
    pub beats: Vec<Vec<bool>>,
    /// Places that the votes cannot rule out, of all arms. All hold at once.
    pub ranks: Vec<RankRange>,
}

/// How to fit.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions<'a> {
    pub ties: Ties,
    /// By covariate and vote: the first arm's value minus the second's.
    pub covariates: &'a [Vec<f64>],
    /// By kind of unit, such as voters and prompts, and by vote: the code of the unit. Without a kind, each vote is a unit.
    pub units: &'a [Vec<u32>],
    pub confidence: f64,
}

const MAX_NEWTON_STEPS: usize = 100;
/// Log odds beyond this are infinite: a covariate predicts each vote.
const MAX_LOG_ODDS: f64 = 100.0;

/// Fits the model of Bradley and Terry (1952), log odds that i wins against j = βᵢ − βⱼ + xγ, by maximum likelihood (Newton's method, with
/// Σβ = 0).
///
/// Strengths are finite in a group of arms if each beats, or ties with, each other through a chain of votes (Ford 1957). The largest such
/// group is fitted, and the other arms are named as what they are.
///
/// Errors are those of a sandwich H⁻¹GH⁻¹ with the factor U / (U − 1) for U units (Liang and Zeger 1986), because a half win is no
/// outcome of the model and votes of a unit depend on each other. With two kinds of units it is V₁ + V₂ − V₁₂ (Cameron, Gelbach and Miller
/// 2011), or the larger of V₁ and V₂ if that is more. Intervals are t intervals with U − 1 degrees of freedom for the smaller U. A pair is
/// established if its t test is, after Holm, for all pairs at once.
///
/// Undefined without votes, if no two arms have finite strengths, and if covariates predict each vote or each other.
pub fn bradley_terry(
    arms: usize,
    votes: &[PairVote],
    fitting: &FitOptions,
) -> Result<BradleyTerry, Undefined> {
    if votes.is_empty() {
        return Err(Undefined::NoData);
    }
    let by_vote = |length: usize| length == votes.len();
    if !fitting
        .covariates
        .iter()
        .all(|values| by_vote(values.len()))
        || !fitting.units.iter().all(|codes| by_vote(codes.len()))
    {
        return Err(Undefined::Unequal);
    }
    if votes
        .iter()
        .any(|vote| vote.first >= arms || vote.second >= arms || vote.first == vote.second)
        || fitting.units.len() > 2
    {
        return Err(Undefined::OutOfRange);
    }
    let places = WinConnections::new(arms, votes);
    let fitted: Vec<usize> = (0..arms).filter(|arm| places.is_fitted(*arm)).collect();
    if fitted.len() < 2 {
        return Err(Undefined::TooFew);
    }
    let mut column = vec![None; arms];
    for (place, arm) in fitted.iter().enumerate() {
        column[*arm] = Some(place);
    }
    let rows: Vec<FittedVote> = votes
        .iter()
        .enumerate()
        .filter_map(|(at, vote)| {
            let covariates = fitting.covariates.iter().map(|values| values[at]).collect();
            Some(FittedVote {
                at,
                first: column[vote.first]?,
                second: column[vote.second]?,
                voted: vote.voted,
                covariates,
            })
        })
        .collect();
    let has_ties =
        fitting.ties == Ties::Davidson && rows.iter().any(|row| row.voted == VoteOutcome::Tie);
    if has_ties && rows.iter().all(|row| row.voted == VoteOutcome::Tie) {
        return Err(Undefined::NoVariation);
    }
    let model = VoteModel {
        arms: fitted.len(),
        covariates: fitting.covariates.len(),
        ties: fitting.ties,
        has_ties,
    };
    let found = model.maximise_likelihood(&rows)?;
    let spread = ParameterCovariance::new(&model, &rows, &found, fitting.units)?;
    let effect = |place: usize| {
        let (value, error) = (found.values[place], spread.standard_error(&[(place, 1.0)]));
        let interval = error
            .and_then(|error| t_interval(value, error, spread.degrees, fitting.confidence).ok());
        Effect {
            value,
            standard_error: error,
            model_error: spread.model_errors[place],
            interval,
        }
    };
    let mut strengths: Vec<Strength> = (0..arms).map(|arm| places.unfitted_strength(arm)).collect();
    for (place, arm) in fitted.iter().enumerate() {
        strengths[*arm] = Strength::Finite(effect(place));
    }
    let beats = established_wins(arms, &fitted, &found.values, &spread, fitting.confidence)?;
    Ok(BradleyTerry {
        strengths,
        covariates: (0..model.covariates)
            .map(|place| effect(fitted.len() + place))
            .collect(),
        ties: has_ties.then(|| effect(model.parameter_count() - 1)),
        votes: rows.len() as u64,
        units: spread.units.clone(),
        ranks: rank_ranges(&beats)?,
        beats,
    })
}

fn established_wins(
    arms: usize,
    fitted: &[usize],
    values: &[f64],
    spread: &ParameterCovariance,
    confidence: f64,
) -> Result<Vec<Vec<bool>>, Undefined> {
    let pairs: Vec<(usize, usize)> = (0..fitted.len())
        .flat_map(|first| (first + 1..fitted.len()).map(move |second| (first, second)))
        .collect();
    let p_of = |(first, second): &(usize, usize)| {
        let error = spread.standard_error(&[(*first, 1.0), (*second, -1.0)]);
        error.map_or(Ok(1.0), |error| {
            t_two_sided((values[*first] - values[*second]) / error, spread.degrees)
        })
    };
    let adjusted = holm_adjustment(
        &pairs
            .iter()
            .map(p_of)
            .collect::<Result<Vec<f64>, Undefined>>()?,
    )?;
    let mut beats = vec![vec![false; arms]; arms];
    for ((first, second), p) in pairs.into_iter().zip(adjusted) {
        if p < 1.0 - confidence {
            let (better, worse) = if values[first] > values[second] {
                (first, second)
            } else {
                (second, first)
            };
            beats[fitted[better]][fitted[worse]] = true;
        }
    }
    Ok(beats)
}

/// Where arms stand to the largest group in which all strengths are finite.
struct WinConnections {
    /// By arm: a chain of wins and ties leads from the group to it, and from it to the group.
    reached: Vec<bool>,
    reaching: Vec<bool>,
}

impl WinConnections {
    fn new(arms: usize, votes: &[PairVote]) -> Self {
        let (mut won, mut lost) = (vec![Vec::new(); arms], vec![Vec::new(); arms]);
        let mut seen = BTreeSet::new();
        let mut add = |winner: usize, loser: usize| {
            if seen.insert((winner, loser)) {
                won[winner].push(loser);
                lost[loser].push(winner);
            }
        };
        for vote in votes {
            if vote.voted != VoteOutcome::Second {
                add(vote.first, vote.second);
            }
            if vote.voted != VoteOutcome::First {
                add(vote.second, vote.first);
            }
        }
        let mut counts = vec![0_usize; arms];
        for vote in votes {
            counts[vote.first] += 1;
            counts[vote.second] += 1;
        }
        let mut is_placed = vec![false; arms];
        let mut best: Option<((usize, usize), Self)> = None;
        for arm in 0..arms {
            if is_placed[arm] {
                continue;
            }
            let found = Self {
                reached: reachable_nodes(&won, arm),
                reaching: reachable_nodes(&lost, arm),
            };
            let group: Vec<usize> = (0..arms).filter(|other| found.is_fitted(*other)).collect();
            for arm in &group {
                is_placed[*arm] = true;
            }
            let size = (group.len(), group.iter().map(|arm| counts[*arm]).sum());
            if best.as_ref().is_none_or(|(largest, _)| size > *largest) {
                best = Some((size, found));
            }
        }
        best.map_or_else(
            || Self {
                reached: Vec::new(),
                reaching: Vec::new(),
            },
            |(_, found)| found,
        )
    }

    fn is_fitted(&self, arm: usize) -> bool {
        self.reached[arm] && self.reaching[arm]
    }

    fn unfitted_strength(&self, arm: usize) -> Strength {
        match (self.reached[arm], self.reaching[arm]) {
            (false, true) => Strength::Above,
            (true, false) => Strength::Below,
            _ => Strength::Apart,
        }
    }
}

/// Returns which nodes can be reached from a start.
fn reachable_nodes(edges: &[Vec<usize>], start: usize) -> Vec<bool> {
    let (mut is_reached, mut open) = (vec![false; edges.len()], vec![start]);
    is_reached[start] = true;
    while let Some(node) = open.pop() {
        for next in &edges[node] {
            if !is_reached[*next] {
                is_reached[*next] = true;
                open.push(*next);
            }
        }
    }
    is_reached
}

/// A vote between fitted arms.
struct FittedVote {
    at: usize,
    first: usize,
    second: usize,
    voted: VoteOutcome,
    covariates: Vec<f64>,
}

/// The parameters: strengths, covariates, and the log of ν if there are ties.
struct VoteModel {
    arms: usize,
    covariates: usize,
    ties: Ties,
    has_ties: bool,
}

/// Derivatives of a vote's log likelihood by its log odds and by log ν.
struct VoteDerivatives {
    log_likelihood: f64,
    odds: f64,
    ties: f64,
    /// Negative second derivatives.
    odds_odds: f64,
    odds_ties: f64,
    ties_ties: f64,
}

struct VoteFit {
    values: Vec<f64>,
    /// Negative second derivatives, plus 1 in the arms' block: a matrix of full rank with the same contrasts.
    information: Vec<f64>,
}

impl VoteModel {
    fn parameter_count(&self) -> usize {
        self.arms + self.covariates + usize::from(self.has_ties)
    }

    /// Returns the slopes of a vote. Half wins: P(first) = 1 / (1 + e⁻ᵈ). Davidson: P(first) : P(second) : P(tie) = e^(d/2) : e^(−d/2) : ν.
    fn vote_derivatives(&self, row: &FittedVote, values: &[f64]) -> VoteDerivatives {
        let covariates = row
            .covariates
            .iter()
            .zip(&values[self.arms..])
            .map(|(value, effect)| value * effect)
            .sum::<f64>();
        let odds = values[row.first] - values[row.second] + covariates;
        if self.ties == Ties::HalfWins || !self.has_ties {
            let won = match row.voted {
                VoteOutcome::First => 1.0,
                VoteOutcome::Second => 0.0,
                VoteOutcome::Tie => 0.5,
            };
            let p = logistic(odds);
            return VoteDerivatives {
                log_likelihood: won * odds - softplus(odds),
                odds: won - p,
                ties: 0.0,
                odds_odds: p * (1.0 - p),
                odds_ties: 0.0,
                ties_ties: 0.0,
            };
        }
        let tie = values[self.parameter_count() - 1];
        let logs = [odds / 2.0, -odds / 2.0, tie];
        let largest = logs
            .iter()
            .fold(f64::NEG_INFINITY, |largest, log| largest.max(*log));
        let whole = logs.iter().map(|log| (log - largest).exp()).sum::<f64>();
        let [first, second, tied] = logs.map(|log| (log - largest).exp() / whole);
        let (won, is_tie, own) = match row.voted {
            VoteOutcome::First => (1.0, 0.0, logs[0]),
            VoteOutcome::Second => (-1.0, 0.0, logs[1]),
            VoteOutcome::Tie => (0.0, 1.0, logs[2]),
        };
        VoteDerivatives {
            log_likelihood: own - largest - whole.ln(),
            odds: 0.5 * (won - first + second),
            ties: is_tie - tied,
            odds_odds: (first + second - (first - second).powi(2)) / 4.0,
            odds_ties: -(first - second) * tied / 2.0,
            ties_ties: tied * (1.0 - tied),
        }
    }

    /// Calls for each parameter of the vote's log odds, with its weight.
    fn visit_odds_weights(&self, row: &FittedVote, mut visit: impl FnMut(usize, f64)) {
        visit(row.first, 1.0);
        visit(row.second, -1.0);
        for (place, value) in row.covariates.iter().enumerate() {
            visit(self.arms + place, *value);
        }
    }

    fn maximise_likelihood(&self, rows: &[FittedVote]) -> Result<VoteFit, Undefined> {
        let size = self.parameter_count();
        let mut values = vec![0.0; size];
        let mut likelihood = self.log_likelihood(rows, &values);
        for round in 0..MAX_NEWTON_STEPS {
            let (gradient, information) = self.gradient_and_information(rows, &values);
            // At the start, only covariates that explain each other leave no information; later it fades because log odds grow without end.
            let factor = Cholesky::new(&information, size).map_err(|why| {
                if round == 0 {
                    why
                } else {
                    Undefined::NotFinite
                }
            })?;
            let step = factor.solve(&gradient);
            let largest = step
                .iter()
                .fold(0.0_f64, |largest, change| largest.max(change.abs()));
            let mut share = 1.0;
            let next = loop {
                let next: Vec<f64> = values
                    .iter()
                    .zip(&step)
                    .map(|(value, change)| value + share * change)
                    .collect();
                let found = self.log_likelihood(rows, &next);
                // Near the top the likelihood is flat within rounding.
                if found
                    >= likelihood - 1e-9 * likelihood.abs() * f64::from(u8::from(largest < 1e-3))
                    || share < 1e-9
                {
                    likelihood = found;
                    break next;
                }
                share /= 2.0;
            };
            values = next;
            let mean = values[..self.arms].iter().sum::<f64>() / self.arms as f64;
            values[..self.arms]
                .iter_mut()
                .for_each(|value| *value -= mean);
            if values
                .iter()
                .any(|value| value.is_nan() || value.abs() > MAX_LOG_ODDS)
            {
                return Err(Undefined::NotFinite);
            }
            if largest
                < 1e-12
                    * values
                        .iter()
                        .fold(1.0_f64, |largest, value| largest.max(value.abs()))
            {
                let (_, information) = self.gradient_and_information(rows, &values);
                return Ok(VoteFit {
                    values,
                    information,
                });
            }
        }
        Err(Undefined::NotFinite)
    }

    fn log_likelihood(&self, rows: &[FittedVote], values: &[f64]) -> f64 {
        super::mean::compensated_sum(
            rows.iter()
                .map(|row| self.vote_derivatives(row, values).log_likelihood),
        )
    }

    fn gradient_and_information(
        &self,
        rows: &[FittedVote],
        values: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let size = self.parameter_count();
        let (mut gradient, mut information) = (vec![0.0; size], vec![0.0; size * size]);
        for row in rows {
            let slopes = self.vote_derivatives(row, values);
            self.visit_odds_weights(row, |one, weight| {
                gradient[one] += weight * slopes.odds;
                self.visit_odds_weights(row, |other, by| {
                    information[one * size + other] += weight * by * slopes.odds_odds;
                });
                if self.has_ties {
                    information[(size - 1) * size + one] += weight * slopes.odds_ties;
                }
            });
            if self.has_ties {
                gradient[size - 1] += slopes.ties;
                information[size * size - 1] += slopes.ties_ties;
            }
        }
        for one in 0..self.arms {
            for other in 0..self.arms {
                information[one * size + other] += 1.0;
            }
        }
        (gradient, information)
    }
}

/// The covariance of the parameters, by kind of unit.
struct ParameterCovariance {
    /// Of each kind of unit, and of both together if there are two.
    covariances: Vec<Vec<f64>>,
    size: usize,
    /// By parameter: the root of the diagonal of the information's pseudo-inverse.
    model_errors: Vec<f64>,
    /// Number of units by kind.
    units: Vec<u64>,
    degrees: f64,
}

impl ParameterCovariance {
    fn new(
        model: &VoteModel,
        rows: &[FittedVote],
        found: &VoteFit,
        kinds: &[Vec<u32>],
    ) -> Result<Self, Undefined> {
        let size = model.parameter_count();
        let inverse = Cholesky::new(&found.information, size)?.inverse();
        let of_kind = |codes: &Vec<u32>| rows.iter().map(|row| codes[row.at]).collect::<Vec<u32>>();
        let mut units: Vec<u64> = kinds
            .iter()
            .map(|codes| of_kind(codes).iter().collect::<BTreeSet<_>>().len() as u64)
            .collect();
        let several: Vec<Vec<u32>> = kinds
            .iter()
            .zip(&units)
            .filter(|(_, count)| **count > 1)
            .map(|(codes, _)| of_kind(codes))
            .collect();
        let mut groupings: Vec<Vec<(u32, u32)>> = several
            .iter()
            .map(|codes| codes.iter().map(|code| (*code, 0)).collect())
            .collect();
        if let [one, other] = &several[..] {
            groupings.push(one.iter().copied().zip(other.iter().copied()).collect());
        }
        if groupings.is_empty() {
            groupings.push((0..).take(rows.len()).map(|code| (code, 0)).collect());
        }
        let (mut covariances, mut counts) = (Vec::new(), Vec::new());
        for grouping in &groupings {
            let (meat, count) = sandwich_meat(model, rows, &found.values, grouping);
            let factor = count as f64 / (count - 1) as f64;
            covariances.push(
                sandwich_covariance(&inverse, &meat, size)
                    .into_iter()
                    .map(|value| value * factor)
                    .collect(),
            );
            counts.push(count);
        }
        if kinds.is_empty() {
            units.push(rows.len() as u64);
        }
        let degrees = counts
            .into_iter()
            .min()
            .map_or(1.0, |least| (least - 1) as f64);
        // The arms' block of ones is inverted along with the information.
        let ones = (model.arms as f64).powi(-2);
        let model_error = |place: usize| {
            (inverse[place][place] - if place < model.arms { ones } else { 0.0 }).sqrt()
        };
        Ok(Self {
            covariances,
            size,
            model_errors: (0..size).map(model_error).collect(),
            units,
            degrees,
        })
    }

    /// Returns the standard error of a sum of parameters, each with its weight. `None` if it has none.
    fn standard_error(&self, weights: &[(usize, f64)]) -> Option<f64> {
        let of = |covariance: &[f64]| {
            weights
                .iter()
                .flat_map(|(one, weight)| {
                    weights
                        .iter()
                        .map(move |(other, by)| weight * by * covariance[one * self.size + other])
                })
                .sum::<f64>()
        };
        let found: Vec<f64> = self
            .covariances
            .iter()
            .map(|covariance| of(covariance))
            .collect();
        let variance = match found[..] {
            [one, other, both] => (one + other - both).max(one).max(other),
            _ => found[0],
        };
        (variance > 0.0).then(|| variance.sqrt())
    }
}

/// Returns the sum over units of the outer products of their summed slopes, and the number of units.
fn sandwich_meat(
    model: &VoteModel,
    rows: &[FittedVote],
    values: &[f64],
    units: &[(u32, u32)],
) -> (Vec<f64>, u64) {
    let size = model.parameter_count();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|row| units[*row]);
    let (mut meat, mut count) = (vec![0.0; size * size], 0);
    let (mut sums, mut touched) = (vec![0.0; size], Vec::new());
    for group in order.chunk_by(|one, other| units[*one] == units[*other]) {
        for row in group.iter().map(|row| &rows[*row]) {
            let slopes = model.vote_derivatives(row, values);
            model.visit_odds_weights(row, |place, weight| {
                sums[place] += weight * slopes.odds;
                touched.push(place);
            });
            if model.has_ties {
                sums[size - 1] += slopes.ties;
                touched.push(size - 1);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for one in &touched {
            for other in &touched {
                meat[one * size + other] += sums[*one] * sums[*other];
            }
        }
        for place in touched.drain(..) {
            sums[place] = 0.0;
        }
        count += 1;
    }
    (meat, count)
}

/// Returns `inverse` × `meat` × `inverse`.
fn sandwich_covariance(inverse: &[Vec<f64>], meat: &[f64], size: usize) -> Vec<f64> {
    let dot = |left: &[f64], right: &[f64]| {
        left.iter()
            .zip(right)
            .map(|(one, other)| one * other)
            .sum::<f64>()
    };
    // All three are symmetric, so rows serve as columns.
    let half: Vec<Vec<f64>> = inverse
        .iter()
        .map(|row| {
            (0..size)
                .map(|column| dot(row, &meat[column * size..][..size]))
                .collect()
        })
        .collect();
    half.iter()
        .flat_map(|row| {
            inverse
                .iter()
                .map(|column| dot(row, column))
                .collect::<Vec<f64>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(counts: &[(usize, usize, usize, usize)]) -> Vec<PairVote> {
        let of = |(first, second, won, tied): &(usize, usize, usize, usize)| {
            let vote = |voted| PairVote {
                first: *first,
                second: *second,
                voted,
            };
            std::iter::repeat_n(vote(VoteOutcome::First), *won)
                .chain(std::iter::repeat_n(vote(VoteOutcome::Tie), *tied))
                .collect::<Vec<_>>()
        };
        counts.iter().flat_map(of).collect()
    }

    fn usual<'a>() -> FitOptions<'a> {
        FitOptions {
            ties: Ties::HalfWins,
            covariates: &[],
            units: &[],
            confidence: 0.95,
        }
    }

    fn finite(strength: Strength) -> Effect {
        if let Strength::Finite(effect) = strength {
            effect
        } else {
            panic!("{strength:?} is not finite")
        }
    }

    #[test]
    fn four_players() {
        // The example of Wikipedia: A to B 2:3, A to D 1:4, B to C 5:3, C to D 1:3.
        let counts = [
            (0, 1, 2, 0),
            (1, 0, 3, 0),
            (0, 3, 1, 0),
            (3, 0, 4, 0),
            (1, 2, 5, 0),
            (2, 1, 3, 0),
            (2, 3, 1, 0),
            (3, 2, 3, 0),
        ];
        let found = bradley_terry(4, &votes(&counts), &usual()).expect("strengths");
        for (strength, wanted) in found.strengths.iter().zip([0.640, 1.043, 0.660, 2.270]) {
            assert!(
                (finite(*strength).value.exp() - wanted).abs() < 1e-3,
                "{strength:?}"
            );
        }
    }

    #[test]
    fn two_arms_by_hand() {
        // 30 to 10, and 4 ties: log odds of 32 to 12, shared by both; the sandwich is the variance of 1, ½ and 0 around the mean.
        let found =
            bradley_terry(2, &votes(&[(0, 1, 30, 4), (1, 0, 10, 0)]), &usual()).expect("strengths");
        let effect = finite(found.strengths[0]);
        let p = 32.0 / 44.0;
        let squares = 30.0 * (1.0_f64 - p).powi(2) + 10.0 * p * p + 4.0 * (0.5_f64 - p).powi(2);
        let error = (squares * 44.0 / 43.0).sqrt() / (44.0 * p * (1.0 - p)) / 2.0;
        assert!((effect.value - (p / (1.0 - p)).ln() / 2.0).abs() < 1e-12);
        assert!((effect.standard_error.expect("an error") - error).abs() < 1e-12);
        assert!(found.beats[0][1] && !found.beats[1][0]);
    }

    #[test]
    fn copies_of_a_voters_votes_add_nothing() {
        let once = votes(&[
            (0, 1, 9, 2),
            (1, 0, 6, 0),
            (1, 2, 7, 1),
            (2, 0, 5, 0),
            (0, 2, 4, 0),
        ]);
        let voters: Vec<u32> = (0..).take(once.len()).collect();
        let twice: Vec<PairVote> = once.iter().chain(&once).copied().collect();
        let codes = [voters.iter().chain(&voters).copied().collect::<Vec<u32>>()];
        let error = |votes: &[PairVote], units: &[Vec<u32>]| {
            let found =
                bradley_terry(3, votes, &FitOptions { units, ..usual() }).expect("strengths");
            finite(found.strengths[0]).standard_error.expect("an error")
        };
        assert!((error(&twice, &codes) - error(&once, &[])).abs() < 1e-12);
        assert!(error(&twice, &[]) < 0.75 * error(&once, &[]));
        // A single voter is no sample of voters.
        assert!((error(&once, &[vec![7; once.len()]]) - error(&once, &[])).abs() < 1e-15);
    }

    #[test]
    fn what_cannot_be_fitted() {
        assert_eq!(bradley_terry(2, &[], &usual()), Err(Undefined::NoData));
        assert_eq!(
            bradley_terry(2, &votes(&[(0, 1, 5, 0)]), &usual()),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            bradley_terry(1, &votes(&[(0, 1, 5, 0)]), &usual()),
            Err(Undefined::OutOfRange)
        );
        let given = votes(&[(0, 1, 3, 0), (1, 0, 2, 0)]);
        let with = |values: Vec<f64>| {
            bradley_terry(
                2,
                &given,
                &FitOptions {
                    covariates: &[values],
                    ..usual()
                },
            )
        };
        // It predicts each vote; it is that of the arms; it is missing for a vote.
        assert_eq!(
            with(vec![1.0, 2.0, 1.5, 2.0, 1.0]),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            with(vec![1.0, 1.0, 1.0, -1.0, -1.0]),
            Err(Undefined::NoVariation)
        );
        assert_eq!(with(vec![1.0]), Err(Undefined::Unequal));
    }

    proptest::proptest! {
        #[test]
        fn the_order_of_a_pair_does_not_matter(rows in proptest::collection::vec((0usize..4, 1usize..4, 0u8..3), 20..80)) {
            let voted = [VoteOutcome::First, VoteOutcome::Second, VoteOutcome::Tie];
            let turned = [VoteOutcome::Second, VoteOutcome::First, VoteOutcome::Tie];
            let vote = |(first, by, how): &(usize, usize, u8)| PairVote { first: *first, second: (first + by) % 4, voted: voted[usize::from(*how)] };
            let other = |(first, by, how): &(usize, usize, u8)| PairVote { first: (first + by) % 4, second: *first, voted: turned[usize::from(*how)] };
            let (one, other): (Vec<PairVote>, Vec<PairVote>) = rows.iter().map(|row| (vote(row), other(row))).unzip();
            for ties in [Ties::HalfWins, Ties::Davidson] {
                let fit = |votes: &[PairVote]| bradley_terry(4, votes, &FitOptions { ties, ..usual() });
                let (Ok(one), Ok(other)) = (fit(&one), fit(&other)) else { continue };
                for (one, other) in one.strengths.iter().zip(&other.strengths) {
                    if let (Strength::Finite(one), Strength::Finite(other)) = (one, other) {
                        proptest::prop_assert!((one.value - other.value).abs() < 1e-8);
                    } else {
                        proptest::prop_assert_eq!(one, other);
                    }
                }
            }
        }
    }
}
