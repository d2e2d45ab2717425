//! Abilities of arms and difficulties of items, for arms that were asked different items.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::adjust::holm_adjustment;
use super::bradley_terry::{Effect, Strength};
use super::distribution::t_two_sided;
use super::item_design::{ArmPart, AskedItem, ItemDesign, MIN_COMMON_ITEMS};
use super::logistic::{logistic, softplus};
use super::mean::{compensated_sum, t_interval};
use super::proportion::effective_interval;
use super::ranking::{RankRange, rank_ranges};
use super::symmetric::Cholesky;
use super::{Interval, Undefined};

/// Why answers have no fit.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Unfitted {
    /// Arms that neither passed nor failed everything, and share items with each other.
    #[error(
        "a fit needs {MIN_ARMS} arms that share {MIN_COMMON_ITEMS} items with another and passed some items, not all; there are {linked}"
    )]
    TooFewArms { linked: usize },
    #[error("a fit of {linked} arms needs {needed} items; {asked} were asked")]
    TooFewItems {
        asked: usize,
        linked: usize,
        needed: usize,
    },
    /// Items that depend on each other beyond the arm's ability.
    #[error(
        "the items of a run are tests of one artefact, which pass and fail together; `evalreport compare` compares over runs"
    )]
    OneArtefact,
    #[error("no finite abilities fit: it may be that better arms pass whatever worse arms pass")]
    Unbounded,
    #[error(transparent)]
    Undefined(#[from] Undefined),
}

/// How the chance to pass depends on an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseModel {
    /// All items discriminate alike (Rasch 1960).
    OneParameter,
    /// Each item has a discrimination of its own (Birnbaum 1968).
    TwoParameter,
}

/// An item's parameters given all answers: posterior means and standard deviations.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ItemParameters {
    /// Ability of an arm that passes the item half of the time.
    pub difficulty: f64,
    pub difficulty_error: f64,
    /// Factor on the log odds. Its logarithm has the mean 0 over items. Absent if all items discriminate alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discrimination: Option<Discrimination>,
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Discrimination {
    /// Exponential of the mean logarithm.
    pub value: f64,
    /// Standard deviation of the logarithm.
    pub log_error: f64,
}

/// An arm's mean score on all items: its own answers where it was asked, and the model's expectation elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ExpectedRate {
    pub value: f64,
    pub standard_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// A fit and what it establishes.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemResponse {
    pub model: ResponseModel,
    /// Twice the gain in log likelihood from discriminations of the items' own, 0 if the fit runs away. Absent if arms are too few, or none
    /// is established to differ.
    pub gain: Option<f64>,
    pub log_likelihood: f64,
    /// By arm: log odds on an item of the usual discrimination, against the mean of all arms with a finite ability.
    pub abilities: Vec<Strength>,
    /// By arm. `None` for an arm without a finite ability.
    pub rates: Vec<Option<ExpectedRate>>,
    /// By item. `None` if no fitted arm was asked.
    pub items: Vec<Option<ItemParameters>>,
    /// Standard deviation of difficulties within a set of items, and of the logarithm of discriminations.
    pub difficulty_spread: f64,
    pub discrimination_spread: f64,
    /// Sets of items asked of the same arms, each with a mean difficulty of its own; and items in no such set.
    pub sets: u64,
    pub scattered: u64,
    /// Items, or clusters of items, which the errors count as independent.
    pub units: u64,
    /// `beats[i][j]`: arm `i` is established to be better than `j`.
    pub beats: Vec<Vec<bool>>,
    /// Places that the answers cannot rule out, of all arms. All hold at once.
    pub ranks: Vec<RankRange>,
    pub(super) fitted: FitCheckInputs,
}

/// What the checks of fit need.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FitCheckInputs {
    /// By column of a fitted arm: its place in the input and its ability.
    pub arms: Vec<usize>,
    pub abilities: Vec<f64>,
    /// By set: mean difficulty.
    pub means: Vec<f64>,
    /// By item of the input: its set.
    pub sets: Vec<Option<usize>>,
}

/// Fewer arms than this have no fit.
pub const MIN_ARMS: usize = 3;
/// Fewer arms than this cannot show that discriminations differ.
pub const MIN_ARMS_OF_TWO: usize = 5;
/// Fewer items than this have no fit, or fewer for each parameter.
pub const MIN_ITEMS: usize = 30;
const ITEMS_PER_PARAMETER: usize = 2;
const MIN_UNITS: usize = 6;
/// The likelihood ratio that a spread of 0 exceeds in one of twenty cases: the spread lies at its bound (Self and Liang 1987).
const MIN_LIKELIHOOD_GAIN: f64 = 2.705_543_454_095_404;
/// Difficulties have at least this spread. If passes per item vary less than chance, the likelihood would rise for ever towards 0.
const MIN_SPREAD: f64 = 0.05;
/// A spread of log discriminations below this is none, and one above is a fit that runs away.
const DISCRIMINATION_SPREADS: std::ops::RangeInclusive<f64> = 0.05..=1.5;
const MAX_NEWTON_STEPS: usize = 200;
/// Abilities beyond this are infinite.
const MAX_ABILITY: f64 = 50.0;
/// Fewer arms than this cannot tell a discrimination from one 1 standard deviation away.
const FEWER_LEVELS_BELOW: usize = 20;
/// Nodes below this share of an item's posterior say nothing.
const NEGLIGIBLE_NODE_SHARE: f64 = 1e-12;

/// Fits log odds that arm i passes item j = aⱼ(θᵢ − bⱼ) (Birnbaum 1968) by marginal maximum likelihood. `scores` gives, by arm and item, a
/// score from 0 to 1, or `None` if the arm was not asked.
///
/// Arms are few and items many, so the roles of Bock and Aitkin (1981) are turned: abilities are parameters, and items are integrated out,
/// with log aⱼ ~ N(0, ω²) and bⱼ ~ N(μ, τ²), on a grid of nodes (trapezoidal rule). μ, τ and ω are estimated too. So the errors of abilities
/// hold the items' uncertainty, and the number of parameters does not grow with the items. Items that were asked of the same arms form a set with a μ of its own: arms that
/// were asked harder items are not worse for it, and only common arms and items link sets. Scattered items share one μ, as if they had
/// been drawn by chance.
///
/// Discriminations are free (ω > 0) if arms are established to differ without them, a likelihood ratio test shows at 5% that discriminations
/// differ, and ω is at most 1.5; else all are 1 (Rasch 1960). A score between 0
/// and 1 counts as that share of a pass.
///
/// Errors are those of a sandwich over items, or clusters of items (Liang and Zeger 1986), with Louis's information (1982) and the factor
/// U / (U − 1): arms may fail together more often than the model says. Intervals are t intervals with U − 1 degrees of freedom. Pairs are
/// established by t tests after Holm.
///
/// There is no fit for fewer than [`MIN_ARMS`] linked arms, [`MIN_ITEMS`] items, two items for each parameter or two clusters.
pub fn item_response(
    scores: &[Vec<Option<f64>>],
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<ItemResponse, Unfitted> {
    let items = scores.first().ok_or(Undefined::NoData)?.len();
    if scores.iter().any(|row| row.len() != items)
        || clusters.is_some_and(|clusters| clusters.len() != items)
    {
        return Err(Undefined::Unequal.into());
    }
    if scores
        .iter()
        .flatten()
        .flatten()
        .any(|score| !(0.0..=1.0).contains(score))
    {
        return Err(Undefined::OutOfRange.into());
    }
    let design = ItemDesign::new(scores);
    let (linked, asked) = (design.fitted.len(), design.rows.len());
    if linked < MIN_ARMS {
        return Err(Unfitted::TooFewArms { linked });
    }
    let needed = MIN_ITEMS.max(ITEMS_PER_PARAMETER * (linked + design.sets + 1));
    if asked < needed {
        return Err(Unfitted::TooFewItems {
            asked,
            linked,
            needed,
        });
    }
    let units = IndependentUnits::new(&design.rows, clusters);
    if units.count < MIN_UNITS {
        return Err(Undefined::TooFew.into());
    }
    let (model, found, gain) = choose_model(&design, &units, confidence)?;
    let influence = ItemInfluence::new(&model, &found, &units)?;
    let degrees = units.count as f64 - 1.0;
    let arms = design.fitted.len();
    let theta = &found.values[..arms];
    // A pinned sum of abilities adds to the inverse's arms.
    let covariance = influence.inverse.inverse();
    let mut abilities: Vec<Strength> = design
        .parts
        .iter()
        .map(|part| strength_of_part(*part))
        .collect();
    for (column, arm) in design.fitted.iter().enumerate() {
        let error = units.standard_error(influence.by_unit[column].iter().copied());
        let model_error = (covariance[column][column] - (arms as f64).powi(-2))
            .max(0.0)
            .sqrt();
        let interval = t_interval(theta[column], error, degrees, confidence).ok();
        abilities[*arm] = Strength::Finite(Effect {
            value: theta[column],
            standard_error: Some(error),
            model_error,
            interval,
        });
    }
    let beats =
        influence.established_wins(scores.len(), &design.fitted, theta, &units, confidence)?;
    let predicted = model.predict_scores(&design.rows, &found);
    let mut rates = vec![None; scores.len()];
    for (column, arm) in design.fitted.iter().enumerate() {
        rates[*arm] = Some(predicted.expected_rate(column, &influence.moves, &units, confidence));
    }
    let mut of_items = vec![None; items];
    let mut sets = vec![None; items];
    for (row, parameters) in design.rows.iter().zip(&predicted.items) {
        of_items[row.item] = Some(*parameters);
        sets[row.item] = Some(row.set);
    }
    let (difficulty_spread, discrimination_spread) = model.parameter_spreads(&found.values);
    Ok(ItemResponse {
        model: if model.has_two {
            ResponseModel::TwoParameter
        } else {
            ResponseModel::OneParameter
        },
        gain,
        log_likelihood: found.sums.likelihood,
        abilities,
        rates,
        items: of_items,
        difficulty_spread,
        discrimination_spread,
        sets: design.sets as u64,
        scattered: design.scattered as u64,
        units: units.count as u64,
        ranks: rank_ranges(&beats)?,
        beats,
        fitted: FitCheckInputs {
            arms: design.fitted.clone(),
            abilities: theta.to_vec(),
            means: found.values[arms..][..design.sets].to_vec(),
            sets,
        },
    })
}

fn strength_of_part(part: ArmPart) -> Strength {
    match part {
        ArmPart::AllPassed => Strength::Above,
        ArmPart::NonePassed => Strength::Below,
        // The abilities of fitted arms replace theirs.
        ArmPart::Apart | ArmPart::Fitted => Strength::Apart,
    }
}

/// Fits the model with one parameter for each item, and the one with two if it can be told and is better.
fn choose_model(
    design: &ItemDesign,
    units: &IndependentUnits,
    confidence: f64,
) -> Result<(MarginalModel, MarginalFit, Option<f64>), Unfitted> {
    let one = MarginalModel {
        arms: design.fitted.len(),
        sets: design.sets,
        has_two: false,
    };
    let plain = one
        .maximise_likelihood(&design.rows, one.start_values(&design.rows))
        .map_err(|_| Unfitted::Unbounded)?;
    let places: Vec<usize> = (0..one.arms).collect();
    // A discrimination says how items tell better arms from worse ones: of arms that do not differ, it would say how noise is told apart.
    let differ = |beats: Vec<Vec<bool>>| beats.iter().flatten().any(|beats| *beats);
    let theta = &plain.values[..one.arms];
    if one.arms < MIN_ARMS_OF_TWO
        || !differ(
            ItemInfluence::new(&one, &plain, units)?
                .established_wins(one.arms, &places, theta, units, confidence)?,
        )
    {
        return Ok((one, plain, None));
    }
    let two = MarginalModel {
        has_two: true,
        ..one
    };
    let mut start = plain.values.clone();
    start.push(0.5_f64.ln());
    let Some(free) = two
        .maximise_likelihood(&design.rows, start)
        .ok()
        .filter(|free| free.sums.likelihood >= plain.sums.likelihood)
    else {
        return Ok((one, plain, Some(0.0)));
    };
    let gain = 2.0 * (free.sums.likelihood - plain.sums.likelihood);
    if gain > MIN_LIKELIHOOD_GAIN {
        Ok((two, free, Some(gain)))
    } else {
        Ok((one, plain, Some(gain)))
    }
}

/// How much each item moves the parameters.
struct ItemInfluence {
    inverse: Cholesky,
    /// By row and parameter.
    moves: Vec<Vec<f64>>,
    /// By arm and unit: the sums of its ability's moves.
    by_unit: Vec<Vec<f64>>,
}

impl ItemInfluence {
    fn new(
        model: &MarginalModel,
        found: &MarginalFit,
        units: &IndependentUnits,
    ) -> Result<Self, Undefined> {
        let inverse = Cholesky::new(
            &model.pin_abilities(&found.sums.information, found.is_held),
            model.parameter_count(),
        )?;
        let moves: Vec<Vec<f64>> = found
            .sums
            .scores
            .iter()
            .map(|score| inverse.solve(score))
            .collect();
        let by_unit = (0..model.arms)
            .map(|arm| units.unit_sums(moves.iter().map(|change| change[arm])))
            .collect();
        Ok(Self {
            inverse,
            moves,
            by_unit,
        })
    }

    /// Returns which of all arms are established to be better than which.
    fn established_wins(
        &self,
        arms: usize,
        fitted: &[usize],
        theta: &[f64],
        units: &IndependentUnits,
        confidence: f64,
    ) -> Result<Vec<Vec<bool>>, Undefined> {
        let pairs: Vec<(usize, usize)> = (0..fitted.len())
            .flat_map(|first| (first + 1..fitted.len()).map(move |second| (first, second)))
            .collect();
        let p_of = |(first, second): &(usize, usize)| {
            let error = units.standard_error(
                self.by_unit[*first]
                    .iter()
                    .zip(&self.by_unit[*second])
                    .map(|(one, other)| one - other),
            );
            if error > 0.0 {
                t_two_sided(
                    (theta[*first] - theta[*second]) / error,
                    units.count as f64 - 1.0,
                )
            } else {
                Ok(1.0)
            }
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
                let (better, worse) = if theta[first] > theta[second] {
                    (first, second)
                } else {
                    (second, first)
                };
                beats[fitted[better]][fitted[worse]] = true;
            }
        }
        Ok(beats)
    }
}

/// Items, or clusters of items, that count as independent.
pub(super) struct IndependentUnits {
    /// By row of the design.
    of: Vec<usize>,
    pub count: usize,
}

impl IndependentUnits {
    pub(super) fn new(rows: &[AskedItem], clusters: Option<&[u32]>) -> Self {
        let Some(clusters) = clusters else {
            return Self {
                of: (0..rows.len()).collect(),
                count: rows.len(),
            };
        };
        let mut codes: Vec<u32> = rows.iter().map(|row| clusters[row.item]).collect();
        codes.sort_unstable();
        codes.dedup();
        let of = rows
            .iter()
            .map(|row| codes.partition_point(|code| *code < clusters[row.item]))
            .collect();
        Self {
            of,
            count: codes.len(),
        }
    }

    /// Adds up values by row.
    fn unit_sums(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for (unit, value) in self.of.iter().zip(values) {
            sums[*unit] += value;
        }
        sums
    }

    /// Returns the standard error of an estimate from its influence by unit.
    fn standard_error(&self, influence: impl Iterator<Item = f64>) -> f64 {
        let count = self.count as f64;
        (compensated_sum(influence.map(|value| value * value)) * count / (count - 1.0)).sqrt()
    }
}

/// Parameters in order: abilities, mean difficulty by set, log τ, and log ω if there are two parameters for each item.
#[derive(Clone, Copy)]
struct MarginalModel {
    arms: usize,
    sets: usize,
    has_two: bool,
}

struct MarginalFit {
    values: Vec<f64>,
    sums: LikelihoodSums,
    /// The spread of difficulties is held at its least.
    is_held: bool,
}

/// Sums over items.
struct LikelihoodSums {
    likelihood: f64,
    gradient: Vec<f64>,
    /// Negative second derivatives of the marginal log likelihood (Louis 1982), and their part that would be there if items were known.
    information: Vec<f64>,
    complete: Vec<f64>,
    /// By row: its gradient.
    scores: Vec<Vec<f64>>,
}

/// Standard normal nodes of difficulty and discrimination, with the logarithm of their weights.
pub(super) struct QuadratureNodes {
    pub difficulty: Vec<f64>,
    pub discrimination: Vec<f64>,
    pub log_weight: Vec<f64>,
}

impl QuadratureNodes {
    /// Lays nodes evenly. For smooth functions that vanish at the ends, the trapezoidal rule is exact to rounding once its step is below their
    /// width: more arms know an item better, and chances are steeper in difficulty the larger the discrimination is.
    pub(super) fn new(arms: usize, has_two: bool) -> Self {
        let even = |end: f64, step: f64| {
            let half = (end / step).ceil();
            std::iter::successors(Some(-half), move |place| {
                (*place < half).then_some(place + 1.0)
            })
            .map(move |place| place * step)
        };
        let log_density = |value: f64| -0.5 * value * value;
        let width = (0.8 / (arms as f64).sqrt()).clamp(0.05, 0.25);
        let levels: Vec<f64> = if has_two {
            even(4.0, if arms < FEWER_LEVELS_BELOW { 1.0 } else { 0.5 }).collect()
        } else {
            vec![0.0]
        };
        let mut nodes = Self {
            difficulty: Vec::new(),
            discrimination: Vec::new(),
            log_weight: Vec::new(),
        };
        for level in levels {
            // For spreads of 0.7 in log discriminations and 1.5 in difficulties.
            let step = width.min((-0.7 * level).exp());
            for difficulty in even(6.0, step) {
                nodes.difficulty.push(difficulty);
                nodes.discrimination.push(level);
                nodes
                    .log_weight
                    .push(log_density(difficulty) + log_density(level) + step.ln());
            }
        }
        let whole = compensated_sum(nodes.log_weight.iter().map(|log| log.exp())).ln();
        nodes.log_weight.iter_mut().for_each(|log| *log -= whole);
        nodes
    }

    /// Returns whether two nodes have the same discrimination.
    pub(super) fn has_same_discrimination(&self, one: usize, other: usize) -> bool {
        self.discrimination[one]
            .total_cmp(&self.discrimination[other])
            .is_eq()
    }

    pub(super) fn len(&self) -> usize {
        self.log_weight.len()
    }
}

/// A set's chances at each node.
struct NodeChances {
    /// Spread of difficulties and of log discriminations.
    spreads: (f64, f64),
    /// By node: discrimination and difficulty.
    slope: Vec<f64>,
    place: Vec<f64>,
    /// By arm and node: log odds, log(1 + odds), and the chance to pass.
    odds: Vec<Vec<f64>>,
    soft: Vec<Vec<f64>>,
    chance: Vec<Vec<f64>>,
}

impl NodeChances {
    /// Returns the slopes of an arm's log odds at a node by the item's parameters.
    fn log_odds_slopes(
        &self,
        nodes: &QuadratureNodes,
        arm: usize,
        node: usize,
    ) -> [f64; ITEM_PARAMETERS] {
        let ((spread, of_slopes), slope) = (self.spreads, self.slope[node]);
        [
            -slope,
            -slope * spread * nodes.difficulty[node],
            of_slopes * nodes.discrimination[node] * self.odds[arm][node],
        ]
    }
}

/// Slopes of the log odds by the parameters of items: mean difficulty, log τ, log ω.
const ITEM_PARAMETERS: usize = 3;

impl MarginalModel {
    fn parameter_count(&self) -> usize {
        self.arms + self.sets + self.item_parameter_count() - 1
    }

    /// Returns the number of an item's parameters: two, or three with a discrimination.
    fn item_parameter_count(&self) -> usize {
        if self.has_two {
            ITEM_PARAMETERS
        } else {
            ITEM_PARAMETERS - 1
        }
    }

    /// Returns the spread of difficulties and that of log discriminations.
    fn parameter_spreads(&self, values: &[f64]) -> (f64, f64) {
        let at = self.arms + self.sets;
        (
            values[at].exp(),
            if self.has_two {
                values[at + 1].exp()
            } else {
                0.0
            },
        )
    }

    /// Returns where a row's parameters are among all: its arms, then those of the item.
    fn parameter_places(&self, row: &AskedItem) -> Vec<usize> {
        let mut places: Vec<usize> = row.answers.iter().map(|(column, _)| *column).collect();
        places.push(self.arms + row.set);
        places.extend(self.arms + self.sets..self.parameter_count());
        places
    }

    fn start_values(&self, rows: &[AskedItem]) -> Vec<f64> {
        let logit = |sum: f64, count: f64| ((sum + 0.5) / (count - sum + 0.5)).ln();
        let (mut by_arm, mut by_set) = (vec![(0.0, 0.0); self.arms], vec![(0.0, 0.0); self.sets]);
        for row in rows {
            for (column, score) in &row.answers {
                for sums in [&mut by_arm[*column], &mut by_set[row.set]] {
                    sums.0 += score;
                    sums.1 += 1.0;
                }
            }
        }
        let mut values: Vec<f64> = by_arm
            .iter()
            .map(|(sum, count)| logit(*sum, *count))
            .collect();
        self.centre_abilities(&mut values);
        values.extend(by_set.iter().map(|(sum, count)| -logit(*sum, *count)));
        values.push(1.5_f64.ln());
        values
    }

    /// Moves abilities to the mean 0, and difficulties with them.
    fn centre_abilities(&self, values: &mut [f64]) {
        let mean = compensated_sum(values[..self.arms].iter().copied()) / self.arms as f64;
        let end = values.len().min(self.arms + self.sets);
        values[..end].iter_mut().for_each(|value| *value -= mean);
    }

    /// Pins the sum of abilities, which the likelihood leaves free: a matrix of full rank with the same contrasts. A held spread is no
    /// parameter.
    fn pin_abilities(&self, information: &[f64], is_held: bool) -> Vec<f64> {
        let (size, mut pinned) = (self.parameter_count(), information.to_vec());
        if is_held {
            let spread = self.arms + self.sets;
            for other in 0..size {
                pinned[spread * size + other] = f64::from(u8::from(other == spread));
                pinned[other * size + spread] = f64::from(u8::from(other == spread));
            }
        }
        for one in 0..self.arms {
            pinned[one * size..][..self.arms]
                .iter_mut()
                .for_each(|value| *value += 1.0);
        }
        pinned
    }

    fn node_chances(&self, nodes: &QuadratureNodes, values: &[f64], set: usize) -> NodeChances {
        let (spread, of_slopes) = self.parameter_spreads(values);
        let slope: Vec<f64> = nodes
            .discrimination
            .iter()
            .map(|node| (of_slopes * node).exp())
            .collect();
        let place: Vec<f64> = nodes
            .difficulty
            .iter()
            .map(|node| values[self.arms + set] + spread * node)
            .collect();
        let by_node = |ability: &f64| {
            slope
                .iter()
                .zip(&place)
                .map(|(slope, place)| slope * (ability - place))
                .collect::<Vec<f64>>()
        };
        let odds: Vec<Vec<f64>> = values[..self.arms].iter().map(by_node).collect();
        let each = |of: fn(f64) -> f64| {
            odds.iter()
                .map(|odds| odds.iter().map(|odds| of(*odds)).collect())
                .collect()
        };
        let (soft, chance) = (each(softplus), each(logistic));
        NodeChances {
            spreads: (spread, of_slopes),
            slope,
            place,
            odds,
            soft,
            chance,
        }
    }

    /// Maximises the likelihood by Newton's method, from steps by the information that known items would give where the likelihood is not yet
    /// concave.
    fn maximise_likelihood(
        &self,
        rows: &[AskedItem],
        start: Vec<f64>,
    ) -> Result<MarginalFit, Undefined> {
        let (nodes, size) = (
            QuadratureNodes::new(self.arms, self.has_two),
            self.parameter_count(),
        );
        let (spread, least) = (self.arms + self.sets, MIN_SPREAD.ln());
        let mut values = start;
        let mut sums = self.sum_items(&nodes, rows, &values);
        for _ in 0..MAX_NEWTON_STEPS {
            let is_held = values[spread] <= least && sums.gradient[spread] <= 0.0;
            if is_held {
                sums.gradient[spread] = 0.0;
            }
            let factor = Cholesky::new(&self.pin_abilities(&sums.information, is_held), size)
                .or_else(|_| {
                    Cholesky::new(
                        &self.pin_abilities(&self.damp_information(&sums.complete), is_held),
                        size,
                    )
                })
                .map_err(|_| Undefined::NotFinite)?;
            let step = factor.solve(&sums.gradient);
            let largest = step
                .iter()
                .fold(0.0_f64, |largest, change| largest.max(change.abs()));
            let mut share = (2.0 / largest).min(1.0);
            let next = loop {
                let mut next: Vec<f64> = values
                    .iter()
                    .zip(&step)
                    .map(|(value, change)| value + share * change)
                    .collect();
                next[spread] = next[spread].max(least);
                // Near the top the likelihood is flat within rounding.
                if largest < 1e-4
                    || share < 1e-6
                    || self.log_likelihood(&nodes, rows, &next) >= sums.likelihood
                {
                    break next;
                }
                share /= 2.0;
            };
            values = next;
            self.centre_abilities(&mut values);
            if values
                .iter()
                .any(|value| value.is_nan() || value.abs() > MAX_ABILITY)
                || (self.has_two
                    && !DISCRIMINATION_SPREADS.contains(&self.parameter_spreads(&values).1))
            {
                return Err(Undefined::NotFinite);
            }
            sums = self.sum_items(&nodes, rows, &values);
            if largest < 1e-9 {
                if is_held {
                    sums.scores.iter_mut().for_each(|score| score[spread] = 0.0);
                }
                return Ok(MarginalFit {
                    values,
                    sums,
                    is_held,
                });
            }
        }
        Err(Undefined::NotFinite)
    }

    /// Adds to the diagonal, so that second derivatives of the log odds leave the matrix positive definite.
    fn damp_information(&self, complete: &[f64]) -> Vec<f64> {
        let size = self.parameter_count();
        let mut damped = complete.to_vec();
        (0..size).for_each(|place| {
            damped[place * size + place] = damped[place * size + place].abs() * 1.5 + 1.0;
        });
        damped
    }

    fn log_likelihood(&self, nodes: &QuadratureNodes, rows: &[AskedItem], values: &[f64]) -> f64 {
        let of_set = |set: &[AskedItem]| {
            let chances = self.node_chances(nodes, values, set[0].set);
            compensated_sum(
                set.iter()
                    .map(|row| marginal_likelihood(nodes, &chances, row).0),
            )
        };
        rows.chunk_by(|one, other| one.set == other.set)
            .map(of_set)
            .sum()
    }

    fn sum_items(
        &self,
        nodes: &QuadratureNodes,
        rows: &[AskedItem],
        values: &[f64],
    ) -> LikelihoodSums {
        let size = self.parameter_count();
        let mut sums = LikelihoodSums {
            likelihood: 0.0,
            gradient: vec![0.0; size],
            information: vec![0.0; size * size],
            complete: vec![0.0; size * size],
            scores: Vec::with_capacity(rows.len()),
        };
        for set in rows.chunk_by(|one, other| one.set == other.set) {
            let chances = self.node_chances(nodes, values, set[0].set);
            let found: Vec<ItemSums> = set
                .into_par_iter()
                .map(|row| self.sum_item(nodes, &chances, row))
                .collect();
            for (row, found) in set.iter().zip(found) {
                sums.likelihood += found.likelihood;
                let (places, mut score) = (self.parameter_places(row), vec![0.0; size]);
                for (one, place) in places.iter().enumerate() {
                    score[*place] = found.score[one];
                    sums.gradient[*place] += found.score[one];
                    for (other, beside) in places.iter().enumerate() {
                        let at = if one >= other {
                            one * places.len() + other
                        } else {
                            other * places.len() + one
                        };
                        sums.complete[place * size + beside] += found.complete[at];
                        sums.information[place * size + beside] += found.information[at];
                    }
                }
                sums.scores.push(score);
            }
        }
        sums
    }

    /// Returns the sums' parts of one item, with lower triangles of matrices over its own parameters.
    fn sum_item(
        &self,
        nodes: &QuadratureNodes,
        chances: &NodeChances,
        row: &AskedItem,
    ) -> ItemSums {
        let (likelihood, weights) = marginal_likelihood(nodes, chances, row);
        let (arms, own) = (row.answers.len(), self.item_parameter_count());
        let size = arms + own;
        let (mut score, mut square, mut complete) = (
            vec![0.0; size],
            vec![0.0; size * size],
            vec![0.0; size * size],
        );
        let mut slopes = vec![0.0; size];
        for (node, weight) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > NEGLIGIBLE_NODE_SHARE)
        {
            let slope = chances.slope[node];
            let bend = chances.spreads.1 * nodes.discrimination[node];
            slopes[arms..].fill(0.0);
            for (at, (arm, answer)) in row.answers.iter().enumerate() {
                let chance = chances.chance[*arm][node];
                let (left, spread) = (answer - chance, weight * chance * (1.0 - chance));
                let by = chances.log_odds_slopes(nodes, *arm, node);
                slopes[at] = slope * left;
                complete[at * size + at] += spread * slope * slope;
                for one in 0..own {
                    slopes[arms + one] += by[one] * left;
                    // Second derivatives of the log odds: a slope scales with log ω, a distance with log τ.
                    let second = if one == 2 { bend * slope } else { 0.0 };
                    complete[(arms + one) * size + at] +=
                        spread * by[one] * slope - weight * left * second;
                    for other in 0..=one {
                        let second = match (one, other) {
                            (1, 1) => by[1],
                            (2, 0 | 1) => bend * by[other],
                            (2, 2) => (1.0 + bend) * by[2],
                            _ => 0.0,
                        };
                        complete[(arms + one) * size + arms + other] +=
                            spread * by[one] * by[other] - weight * left * second;
                    }
                }
            }
            for one in 0..size {
                let weighted = weight * slopes[one];
                score[one] += weighted;
                square[one * size..][..=one]
                    .iter_mut()
                    .zip(&slopes)
                    .for_each(|(sum, other)| *sum += weighted * other);
            }
        }
        let mut information = complete.clone();
        for one in 0..size {
            for other in 0..=one {
                information[one * size + other] -=
                    square[one * size + other] - score[one] * score[other];
            }
        }
        ItemSums {
            likelihood,
            score,
            complete,
            information,
        }
    }

    /// Returns what the fit expects of each arm on items that it was not asked, and the items' parameters.
    fn predict_scores(&self, rows: &[AskedItem], found: &MarginalFit) -> PredictedScores {
        let (nodes, size, values) = (
            QuadratureNodes::new(self.arms, self.has_two),
            self.parameter_count(),
            &found.values,
        );
        let of_slopes = self.parameter_spreads(values).1;
        let mut predicted = PredictedScores {
            scores: Vec::new(),
            slopes: vec![vec![0.0; size]; self.arms],
            items: Vec::new(),
        };
        for set in rows.chunk_by(|one, other| one.set == other.set) {
            let chances = self.node_chances(&nodes, values, set[0].set);
            let is_asked =
                |row: &AskedItem, arm: usize| row.answers.iter().any(|(column, _)| *column == arm);
            let of_row = |row: &AskedItem| {
                let (_, weights) = marginal_likelihood(&nodes, &chances, row);
                let mean = |of: &dyn Fn(usize) -> f64| {
                    compensated_sum(
                        weights
                            .iter()
                            .enumerate()
                            .map(|(node, weight)| weight * of(node)),
                    )
                };
                let about = |of: &[f64]| {
                    let centre = mean(&|node| of[node]);
                    (centre, mean(&|node| (of[node] - centre).powi(2)).sqrt())
                };
                let (difficulty, difficulty_error) = about(&chances.place);
                let discrimination = self.has_two.then(|| {
                    let (log, error) = about(&nodes.discrimination);
                    Discrimination {
                        value: (of_slopes * log).exp(),
                        log_error: of_slopes * error,
                    }
                });
                let unasked: Vec<usize> =
                    (0..self.arms).filter(|arm| !is_asked(row, *arm)).collect();
                let parts = if unasked.is_empty() {
                    Vec::new()
                } else {
                    self.expected_scores(&nodes, &chances, row, &weights, &unasked)
                };
                (
                    ItemParameters {
                        difficulty,
                        difficulty_error,
                        discrimination,
                    },
                    parts,
                )
            };
            let parts: Vec<(ItemParameters, Vec<ExpectedAnswer>)> =
                set.into_par_iter().map(of_row).collect();
            for (row, (parameters, parts)) in set.iter().zip(parts) {
                let mut scores = vec![0.0; self.arms];
                row.answers
                    .iter()
                    .for_each(|(column, answer)| scores[*column] = *answer);
                for (arm, chance, slopes) in parts {
                    scores[arm] = chance;
                    predicted.slopes[arm]
                        .iter_mut()
                        .zip(slopes)
                        .for_each(|(sum, slope)| *sum += slope / rows.len() as f64);
                }
                predicted.scores.push(scores);
                predicted.items.push(parameters);
            }
        }
        predicted
    }

    /// Returns, by arm that was not asked the item: its chance given the others' answers, and the chance's slopes by all parameters.
    fn expected_scores(
        &self,
        nodes: &QuadratureNodes,
        chances: &NodeChances,
        row: &AskedItem,
        weights: &[f64],
        unasked: &[usize],
    ) -> Vec<ExpectedAnswer> {
        let (size, places, arms) = (
            self.parameter_count(),
            self.parameter_places(row),
            row.answers.len(),
        );
        let score = self.sum_item(nodes, chances, row).score;
        let mut found: Vec<ExpectedAnswer> = unasked
            .iter()
            .map(|arm| (*arm, 0.0, vec![0.0; size]))
            .collect();
        let mut slopes = vec![0.0; places.len()];
        for (node, weight) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > NEGLIGIBLE_NODE_SHARE)
        {
            slopes[arms..].fill(0.0);
            for (at, (arm, answer)) in row.answers.iter().enumerate() {
                let left = answer - chances.chance[*arm][node];
                slopes[at] = chances.slope[node] * left;
                let by = chances.log_odds_slopes(nodes, *arm, node);
                slopes[arms..]
                    .iter_mut()
                    .zip(by)
                    .for_each(|(sum, by)| *sum += by * left);
            }
            for (arm, mean, all) in &mut found {
                let chance = chances.chance[*arm][node];
                *mean += weight * chance;
                for ((place, slope), score) in places.iter().zip(&slopes).zip(&score) {
                    all[*place] += weight * chance * (slope - score);
                }
                let spread = weight * chance * (1.0 - chance);
                all[*arm] += spread * chances.slope[node];
                let by = chances.log_odds_slopes(nodes, *arm, node);
                places[arms..]
                    .iter()
                    .zip(by)
                    .for_each(|(place, by)| all[*place] += spread * by);
            }
        }
        found
    }
}

/// Returns the logarithm of the marginal chance of an item's answers, and the nodes' shares of it.
fn marginal_likelihood(
    nodes: &QuadratureNodes,
    chances: &NodeChances,
    row: &AskedItem,
) -> (f64, Vec<f64>) {
    let mut logs = nodes.log_weight.clone();
    for (arm, answer) in &row.answers {
        for ((log, odds), soft) in logs
            .iter_mut()
            .zip(&chances.odds[*arm])
            .zip(&chances.soft[*arm])
        {
            *log += answer * odds - soft;
        }
    }
    let largest = logs
        .iter()
        .fold(f64::NEG_INFINITY, |largest, log| largest.max(*log));
    for log in &mut logs {
        *log = (*log - largest).exp();
    }
    let whole: f64 = logs.iter().sum();
    for weight in &mut logs {
        *weight /= whole;
    }
    (largest + whole.ln(), logs)
}

/// An arm that was not asked an item: its chance, and the chance's slopes by all parameters.
type ExpectedAnswer = (usize, f64, Vec<f64>);

struct ItemSums {
    likelihood: f64,
    score: Vec<f64>,
    complete: Vec<f64>,
    information: Vec<f64>,
}

struct PredictedScores {
    /// By row and arm: its answer, or what is expected of it.
    scores: Vec<Vec<f64>>,
    /// By arm: the slopes of its mean score by all parameters, through items that it was not asked.
    slopes: Vec<Vec<f64>>,
    items: Vec<ItemParameters>,
}

impl PredictedScores {
    fn expected_rate(
        &self,
        arm: usize,
        moves: &[Vec<f64>],
        units: &IndependentUnits,
        confidence: f64,
    ) -> ExpectedRate {
        let count = self.scores.len() as f64;
        let value =
            (compensated_sum(self.scores.iter().map(|scores| scores[arm])) / count).clamp(0.0, 1.0);
        let influence = self.scores.iter().zip(moves).map(|(scores, change)| {
            let through: f64 = self.slopes[arm]
                .iter()
                .zip(change)
                .map(|(slope, change)| slope * change)
                .sum();
            (scores[arm] - value) / count + through
        });
        let standard_error = units.standard_error(units.unit_sums(influence).into_iter());
        let effective = value * (1.0 - value) / standard_error.powi(2);
        ExpectedRate {
            value,
            standard_error,
            interval: effective_interval(value, effective, confidence).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes and fails by arm; a dot if it was not asked.
    fn scores(rows: &[&str]) -> Vec<Vec<Option<f64>>> {
        rows.iter()
            .map(|row| {
                row.chars()
                    .map(|answer| answer.to_digit(10).map(f64::from))
                    .collect()
            })
            .collect()
    }

    const SIX: [&str; 6] = [
        "0000110010011000100110000110000000011011....................",
        "0000111011010101101110101000101110000000....................",
        "100111001101111111111111101100110101000001100100000000000000",
        "100011110110010011111010110110111111101110100000100101100101",
        "111111001110010111111111101010111111101101100101000010001001",
        "....................1111101111111111101101100001010100000001",
    ];

    const EIGHT: [&str; 8] = [
        "0011011010000000000100101100000100010100....................",
        "000100100000010001100000111001000001100001010011000000000011",
        "010101100010011011100110110001010000011010010000011100010111",
        "000100101000110001111011111111001000110101110001000111010010",
        "100001100111111100010001110111010000111001111101001111100011",
        "110101111111011011111110110011010010011011011000001101001111",
        "111101110111110010111101110111011010111101111111110111000101",
        "..............1111111101111111011010111111011100101111111111",
    ];

    /// What another implementation finds.
    struct Wanted<const N: usize> {
        log_likelihood: f64,
        difficulty_spread: f64,
        discrimination_spread: f64,
        abilities: [f64; N],
        errors: [f64; N],
        model_errors: [f64; N],
        rates: [f64; N],
        rate_errors: [f64; N],
    }

    fn close(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 5e-7, "{got} and not {wanted}");
    }

    fn hold<const N: usize>(rows: &[&str; N], wanted: &Wanted<N>) -> ItemResponse {
        let found = item_response(&scores(rows), None, 0.95).expect("a fit");
        close(found.log_likelihood, wanted.log_likelihood);
        close(found.difficulty_spread, wanted.difficulty_spread);
        close(found.discrimination_spread, wanted.discrimination_spread);
        for arm in 0..N {
            let effect = found.abilities[arm].finite_effect().expect("finite");
            let rate = found.rates[arm].expect("a rate");
            close(effect.value, wanted.abilities[arm]);
            close(effect.standard_error.expect("an error"), wanted.errors[arm]);
            close(effect.model_error, wanted.model_errors[arm]);
            close(rate.value, wanted.rates[arm]);
            close(rate.standard_error, wanted.rate_errors[arm]);
        }
        found
    }

    // Both by scipy, with errors from numerical derivatives (`benches/ability_vectors.py`).
    #[test]
    fn one_parameter_is_that_of_a_direct_maximisation() {
        let wanted = Wanted {
            log_likelihood: -174.789_762_043,
            difficulty_spread: 1.078_607_814,
            discrimination_spread: 0.0,
            abilities: [
                -1.475_165_295,
                -0.960_084_843,
                -0.062_064_017,
                0.533_252_392,
                0.845_199_043,
                1.118_862_720,
            ],
            errors: [
                0.420_185_574,
                0.306_324_942,
                0.277_785_777,
                0.349_377_677,
                0.299_973_251,
                0.320_312_612,
            ],
            model_errors: [
                0.359_635_563,
                0.341_778_699,
                0.292_324_484,
                0.300_325_967,
                0.310_410_203,
                0.384_008_592,
            ],
            rates: [
                0.254_830_824,
                0.332_950_510,
                0.483_333_333,
                0.583_333_333,
                0.633_333_333,
                0.675_120_396,
            ],
            rate_errors: [
                0.061_096_115,
                0.064_773_435,
                0.065_058_282,
                0.064_183_999,
                0.062_737_308,
                0.067_284_417,
            ],
        };
        let found = hold(&SIX, &wanted);
        let item = found.items[1].expect("asked");
        close(item.difficulty, 0.338_513_627);
        close(item.difficulty_error, 0.746_130_699);
        assert_eq!(
            (found.model, found.sets, found.scattered, found.units),
            (ResponseModel::OneParameter, 3, 0, 60)
        );
    }

    #[test]
    fn two_parameters_are_those_of_a_direct_maximisation() {
        let wanted = Wanted {
            log_likelihood: -264.327_106_026,
            difficulty_spread: 1.089_319_672,
            discrimination_spread: 0.637_773_071,
            abilities: [
                -1.313_612_313,
                -1.360_499_368,
                -0.487_479_615,
                -0.341_606_049,
                0.179_684_275,
                0.471_028_002,
                1.039_253_199,
                1.813_231_869,
            ],
            errors: [
                0.412_320_010,
                0.334_734_107,
                0.309_986_636,
                0.352_128_144,
                0.301_710_606,
                0.308_268_611,
                0.334_916_255,
                0.434_865_543,
            ],
            model_errors: [
                0.394_658_461,
                0.340_177_415,
                0.275_764_736,
                0.284_401_761,
                0.273_416_254,
                0.283_557_041,
                0.336_393_594,
                0.492_215_043,
            ],
            rates: [
                0.297_062_883,
                0.283_333_333,
                0.450_000_000,
                0.500_000_000,
                0.566_666_667,
                0.633_333_333,
                0.733_333_333,
                0.832_623_864,
            ],
            rate_errors: [
                0.071_498_936,
                0.058_665_318,
                0.064_768_165,
                0.065_094_455,
                0.064_513_243,
                0.062_737_308,
                0.057_571_703,
                0.053_466_288,
            ],
        };
        let found = hold(&EIGHT, &wanted);
        let item = found.items[0].expect("asked");
        close(item.difficulty, -0.072_271_855);
        close(item.difficulty_error, 0.599_843_973);
        let slope = item.discrimination.expect("two parameters");
        close(slope.value, 1.403_032_061);
        close(slope.log_error, 0.639_473_614);
    }

    #[test]
    fn harder_items_do_not_make_an_arm_worse() {
        // Equal arms by their common items; the second half of the arms was asked items that all pass less often.
        let rows: Vec<Vec<Option<f64>>> = (0..6)
            .map(|arm: usize| {
                let of = |item: usize| {
                    let (is_hard, is_common) = (item >= 60, (30..60).contains(&item));
                    let is_asked = is_common || (is_hard == (arm >= 3));
                    let chance = if is_hard {
                        1
                    } else if is_common {
                        3
                    } else {
                        5
                    };
                    is_asked.then(|| f64::from(u8::from((item * 5 + arm * 7) % 6 < chance)))
                };
                (0..90).map(of).collect()
            })
            .collect();
        let found = item_response(&rows, None, 0.95).expect("a fit");
        let score = |arm: usize| rows[arm].iter().flatten().sum::<f64>() / 60.0;
        assert!(score(0) - score(5) > 0.3);
        let rate = |arm: usize| found.rates[arm].expect("a rate").value;
        assert!(
            (rate(0) - rate(5)).abs() < 0.1 && !found.beats.iter().flatten().any(|beats| *beats),
            "{:?}",
            found.rates
        );
        // Clusters of items are fewer units than items.
        let clusters: Vec<u32> = (0..90).map(|item| item / 5).collect();
        assert_eq!(
            item_response(&rows, Some(&clusters), 0.95)
                .expect("a fit")
                .units,
            18
        );
    }

    #[test]
    fn what_has_no_fit() {
        let six = scores(&SIX);
        assert_eq!(
            item_response(&six[..2], None, 0.95),
            Err(Unfitted::TooFewArms { linked: 2 })
        );
        let few: Vec<Vec<Option<f64>>> = six.iter().map(|row| row[10..35].to_vec()).collect();
        assert_eq!(
            item_response(&few, None, 0.95),
            Err(Unfitted::TooFewItems {
                asked: 25,
                linked: 6,
                needed: 30
            })
        );
        assert_eq!(
            item_response(&[], None, 0.95),
            Err(Unfitted::Undefined(Undefined::NoData))
        );
        assert_eq!(
            item_response(&[vec![Some(-0.5)]], None, 0.95),
            Err(Unfitted::Undefined(Undefined::OutOfRange))
        );
        assert_eq!(
            item_response(&[vec![None], vec![]], None, 0.95),
            Err(Unfitted::Undefined(Undefined::Unequal))
        );
        // Better arms pass whatever worse arms pass.
        let nested: Vec<Vec<Option<f64>>> = (0..3)
            .map(|arm| {
                (0..40)
                    .map(|item| {
                        Some(f64::from(u8::from(
                            (item * 7 + item / 5) % 10 < 3 + 2 * arm,
                        )))
                    })
                    .collect()
            })
            .collect();
        assert_eq!(item_response(&nested, None, 0.95), Err(Unfitted::Unbounded));
        let one = vec![7; 60];
        assert_eq!(
            item_response(&six, Some(&one), 0.95),
            Err(Unfitted::Undefined(Undefined::TooFew))
        );
    }
}
