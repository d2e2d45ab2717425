//! How much of a board's order is established, and what it rests on.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::{
    InvarianceDrift, Multiplier, PartialOrder, RankRange, RankSets, ScoreMatrix, Seed, Separation,
    Splitting, Undefined, count_splits, deciding_minority, group_rank_ranges, invariance_drift,
    mean_discordance, median_kappa, order_bits, order_core, pair_separation, quantile, rank_sets,
    smallest_reweighting,
};

use super::labelled::JudgedBy;
use super::ordered_scores::{ScoreOrderedMatrix, order_draws};
use super::policy::CONFIDENCE;
use super::provenance::RecordedFact;

/// A board to audit: systems by items.
pub struct AuditedBoard {
    /// A suite, or the name of a file.
    pub name: String,
    pub systems: Vec<String>,
    pub items: Vec<String>,
    /// By system and item. A system without a score on each item is not audited.
    pub scores: Vec<Vec<Option<f64>>>,
    /// By item: the code of its cluster, if items come in clusters.
    pub clusters: Option<Vec<u32>>,
    /// Whether each score is the share of an item's attempts that passed.
    pub are_rates: bool,
    pub provenance: Vec<RecordedFact>,
    /// Who judged the scores, if a judge did.
    pub judged_by: Option<JudgedBy>,
    /// SHA-256 of the file that it was read from, in hex.
    pub sha256: Option<String>,
}

/// What a board establishes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Audit {
    pub board: String,
    pub systems: u64,
    pub items: u64,
    /// Units that were resampled together, if items come in clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    pub data: AuditedData,
    /// Who judged the scores, if a judge did. People's labels do not correct them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_by: Option<JudgedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Systems that lack a score, and are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// By rank sets that hold: sign flips of whole items, or of clusters, for all pairs at once. Absent if no two systems differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub established: Option<Order>,
    /// By falling mean.
    pub places: Vec<AuditedPlace>,
    /// The fewest items without which another system leads. Absent if nothing makes another lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minority: Option<DecidingItems>,
    /// What the clusters say. Absent without clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<AuditedGroups>,
    /// R9: what is recorded of how the scores came about.
    pub provenance: Vec<RecordedFact>,
    pub standard: StandardCard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditedData {
    /// Each score is 0 or 1.
    Passes,
    /// Each score is the share of an item's attempts that passed.
    Rates,
    Scores,
}

/// One system's place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditedPlace {
    pub system: String,
    pub mean: f64,
    /// Places that the scores cannot rule out. All systems' hold at once, with the confidence of [`Order`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<RankRange>,
    /// 1 for systems that none is established to beat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<u64>,
    /// Whether the system is established to be better than the next. Absent for the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beats_next: Option<bool>,
    /// The set of the Leaderboard Reporting Standard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_rank: Option<RankRange>,
}

/// What a relation between systems establishes about their order.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Order {
    pub confidence: f64,
    /// Value that a pair's statistic must exceed, in the first step and in the last. Absent if no value suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_last: Option<f64>,
    pub steps: u64,
    pub draws: u64,
    /// Established pairs, and all pairs.
    pub established_pairs: u64,
    pub pairs: u64,
    /// Established pairs over ordered pairs: at most 0.5.
    pub established_share: f64,
    /// Neighbours in the printed order that are established, of all.
    pub established_neighbours: u64,
    pub could_be_first: u64,
    pub could_be_last: u64,
    /// Median over systems of worst minus best rank.
    pub median_width: f64,
    /// Whether each system's place lies within its set.
    pub places_inside: bool,
    /// Cases in which a beats b, b beats c, and a is not established to beat c.
    pub violations: u64,
    /// log₂ of the number of orders that agree with the established pairs.
    pub entropy_bits: f64,
    /// The same if nothing were established.
    pub ceiling_bits: f64,
    /// Of the first places only.
    pub top: u64,
    pub top_entropy_bits: f64,
    pub top_ceiling_bits: f64,
    /// Longest chain of established pairs.
    pub tiers: u64,
    /// Largest group in which nothing is established.
    pub largest_open_group: u64,
}

/// The fewest items that decide the first place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecidingItems {
    pub leader: String,
    /// Who leads without these items.
    pub rival: String,
    pub items: Vec<String>,
    pub share: f64,
    /// Mean of the leader minus mean of the rival on these items, and on the others.
    pub difference_on_them: f64,
    pub difference_elsewhere: f64,
}

/// What groups of items say about the order.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditedGroups {
    pub groups: u64,
    /// Median width of the sets from drawing whole groups, by the standard. Absent for fewer than two groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_be_first: Option<u64>,
    /// Pairs with the same order in every group, and the longest chain of them.
    pub core_pairs: u64,
    pub core_tiers: u64,
    /// The smallest share of the weight that makes another system equal to the leader, if it moves between groups, and who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
}

/// The fields of the Leaderboard Reporting Standard, draft 0.2, as it defines them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StandardCard {
    pub draft: &'static str,
    /// R9: the version of the program and the seed of what it draws.
    pub program: &'static str,
    pub seed: u64,
    /// First 12 hex digits of the file's SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256_12: Option<String>,
    /// R2 to R6. Absent if no two systems differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// R7. Absent if a half of the items cannot tell systems apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<InvarianceDrift>,
    /// R8: over all systems, and over the first ones.
    pub discordance: f64,
    pub discordance_top: f64,
    pub discordance_top_systems: u64,
    /// R10 and R11: the first against the second.
    pub first_against_second: Separation,
    /// R10: over all pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_kappa: Option<f64>,
    /// C1, for passes: over all systems, and over those that could be first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub splitting: Option<Splitting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub splitting_of_first: Option<Splitting>,
    /// C5, for passes: items that only the first solves, and only the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_first: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_second: Option<u64>,
    /// C5: outcomes of the first that must be wrong until the second has as many passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regrades: Option<u64>,
    /// Systems over items. Above 1 the standard's own sets are too narrow.
    pub systems_per_item: f64,
}

/// Draws of the standard, and the seed that its published cards name.
const STANDARD_DRAWS: usize = 800;
const STANDARD_SEED: u64 = 20_260_823;
const ENTROPY_SAMPLES: usize = 800;
/// More than the 40 of the standard's cards, whose mean varies by a quarter from seed to seed.
const SPLIT_HALVES: usize = 100;
const GROUP_DRAWS: usize = 1500;
const TOP_SYSTEMS: usize = 10;

/// Audits a board. Undefined for fewer than two systems with a score on each item, and for fewer than two items.
pub fn audit_board(board: &AuditedBoard) -> Result<Audit, Undefined> {
    let left_out: Vec<String> = board
        .systems
        .iter()
        .zip(&board.scores)
        .filter(|(_, row)| row.contains(&None))
        .map(|(name, _)| name.clone())
        .collect();
    let rows: Vec<(usize, Vec<f64>)> = board
        .scores
        .iter()
        .enumerate()
        .filter_map(|(place, row)| {
            Some((place, row.iter().copied().collect::<Option<Vec<f64>>>()?))
        })
        .collect();
    let ScoreOrderedMatrix {
        places: files,
        items,
        matrix,
        seed: own_seed,
    } = ScoreOrderedMatrix::from_rows(rows)?;
    if matrix.system_count() < 2 || matrix.item_count() < 2 {
        return Err(Undefined::TooFew);
    }
    let board = &AuditedBoard {
        name: board.name.clone(),
        systems: files
            .iter()
            .map(|place| board.systems[*place].clone())
            .collect(),
        items: items
            .iter()
            .map(|item| board.items[*item].clone())
            .collect(),
        scores: Vec::new(),
        clusters: board
            .clusters
            .as_ref()
            .map(|clusters| items.iter().map(|item| clusters[*item]).collect()),
        are_rates: board.are_rates,
        provenance: board.provenance.clone(),
        judged_by: board.judged_by.clone(),
        sha256: board.sha256.clone(),
    };
    let names = &board.systems;
    let clusters = board.clusters.as_deref();
    // The standard keeps the order of the file among equal means.
    let mut order = matrix.order_by_mean();
    let means = matrix.system_means();
    order.sort_by(|one, other| {
        means[*other]
            .total_cmp(&means[*one])
            .then(files[*one].cmp(&files[*other]))
    });
    let ((held, published), drift) = rayon::join(
        || {
            rayon::join(
                || {
                    rank_sets(
                        &matrix,
                        clusters,
                        Multiplier::Sign,
                        CONFIDENCE,
                        order_draws(&matrix),
                        own_seed,
                    )
                },
                || {
                    rank_sets(
                        &matrix,
                        None,
                        Multiplier::Normal,
                        CONFIDENCE,
                        STANDARD_DRAWS,
                        Seed(STANDARD_SEED),
                    )
                },
            )
        },
        || invariance_drift(&matrix, SPLIT_HALVES, Seed(STANDARD_SEED)),
    );
    let (held, published) = (held.ok(), published.ok());
    let tiers = held
        .as_ref()
        .and_then(|sets| Some(PartialOrder::new(&sets.beats).ok()?.system_tiers()));
    let places = order
        .iter()
        .enumerate()
        .map(|(place, system)| AuditedPlace {
            system: names[*system].clone(),
            mean: means[*system],
            rank: held.as_ref().map(|sets| sets.ranges[*system]),
            tier: tiers.as_ref().map(|tiers| tiers[*system] as u64 + 1),
            beats_next: held
                .as_ref()
                .zip(order.get(place + 1))
                .map(|(sets, next)| sets.beats[*system][*next]),
            standard_rank: published.as_ref().map(|sets| sets.ranges[*system]),
        });
    let name_of = |system: usize| names[system].clone();
    let deciding = deciding_minority(&matrix, order[0])
        .map(|found| deciding_items(&matrix, board, order[0], &found, &name_of));
    let groups = clusters
        .map(|clusters| audit_groups(&matrix, clusters, order[0], &name_of))
        .transpose()?;
    Ok(Audit {
        board: board.name.clone(),
        systems: matrix.system_count() as u64,
        items: matrix.item_count() as u64,
        clusters: groups.as_ref().map(|groups| groups.groups),
        data: match matrix.is_binary() {
            true => AuditedData::Passes,
            false if board.are_rates => AuditedData::Rates,
            false => AuditedData::Scores,
        },
        judged_by: board.judged_by.clone(),
        sha256: board.sha256.clone(),
        left_out,
        established: held
            .as_ref()
            .map(|sets| summarise_order(sets, &order, own_seed))
            .transpose()?,
        places: places.collect(),
        minority: deciding,
        groups,
        provenance: board.provenance.clone(),
        standard: standard_card(&matrix, board, &order, published.as_ref(), drift.ok())?,
    })
}

fn summarise_order(sets: &RankSets, order: &[usize], seed: Seed) -> Result<Order, Undefined> {
    let relation = PartialOrder::new(&sets.beats)?;
    let (systems, top) = (order.len(), order.len().min(TOP_SYSTEMS));
    let first: Vec<Vec<bool>> = order[..top]
        .iter()
        .map(|one| {
            order[..top]
                .iter()
                .map(|other| sets.beats[*one][*other])
                .collect()
        })
        .collect();
    let widths: Vec<f64> = sets
        .ranges
        .iter()
        .map(|range| (range.worst - range.best) as f64)
        .collect();
    let count = |is_it: &dyn Fn(&RankRange) -> bool| {
        sets.ranges.iter().filter(|range| is_it(range)).count() as u64
    };
    let is_inside = |(place, system): (usize, &usize)| {
        let range = sets.ranges[*system];
        (range.best..=range.worst).contains(&(place + 1))
    };
    let finite = |value: f64| value.is_finite().then_some(value);
    Ok(Order {
        confidence: CONFIDENCE,
        critical: finite(sets.critical),
        critical_last: finite(sets.critical_last),
        steps: sets.steps as u64,
        draws: sets.draws as u64,
        established_pairs: relation.pair_count() as u64,
        pairs: (systems * (systems - 1) / 2) as u64,
        established_share: relation.pair_count() as f64 / (systems * (systems - 1)) as f64,
        established_neighbours: order
            .windows(2)
            .filter(|two| sets.beats[two[0]][two[1]])
            .count() as u64,
        could_be_first: count(&|range| range.best == 1),
        could_be_last: count(&|range| range.worst == systems),
        median_width: quantile(&widths, 0.5)?,
        places_inside: order.iter().enumerate().all(is_inside),
        violations: relation.violation_count() as u64,
        entropy_bits: relation.entropy_bits(ENTROPY_SAMPLES, seed)?,
        ceiling_bits: order_bits(systems),
        top: top as u64,
        top_entropy_bits: PartialOrder::new(&first)?.entropy_bits(ENTROPY_SAMPLES, seed)?,
        top_ceiling_bits: order_bits(top),
        tiers: relation.tier_count() as u64,
        largest_open_group: relation.largest_antichain() as u64,
    })
}

fn deciding_items(
    matrix: &ScoreMatrix,
    board: &AuditedBoard,
    leader: usize,
    found: &crate::stats::DecidingMinority,
    name_of: &dyn Fn(usize) -> String,
) -> DecidingItems {
    let differences: Vec<f64> = matrix
        .by_item()
        .map(|scores| scores[leader] - scores[found.rival])
        .collect();
    let on_them: f64 = found.items.iter().map(|item| differences[*item]).sum();
    let count = found.items.len() as f64;
    let elsewhere = differences.iter().sum::<f64>() - on_them;
    DecidingItems {
        leader: name_of(leader),
        rival: name_of(found.rival),
        items: found
            .items
            .iter()
            .map(|item| board.items[*item].clone())
            .collect(),
        share: count / matrix.item_count() as f64,
        difference_on_them: on_them / count,
        difference_elsewhere: elsewhere / (matrix.item_count() as f64 - count),
    }
}

fn audit_groups(
    matrix: &ScoreMatrix,
    clusters: &[u32],
    leader: usize,
    name_of: &dyn Fn(usize) -> String,
) -> Result<AuditedGroups, Undefined> {
    let ranges = group_rank_ranges(
        matrix,
        clusters,
        CONFIDENCE,
        GROUP_DRAWS,
        Seed(STANDARD_SEED),
    )
    .ok();
    let core = order_core(matrix, clusters)?;
    let moved = smallest_reweighting(matrix, clusters, leader)?;
    let widths: Option<Vec<f64>> = ranges.as_ref().map(|ranges| {
        ranges
            .iter()
            .map(|range| (range.worst - range.best) as f64)
            .collect()
    });
    Ok(AuditedGroups {
        groups: clusters
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len() as u64,
        median_width: widths.and_then(|widths| quantile(&widths, 0.5).ok()),
        could_be_first: ranges
            .map(|ranges| ranges.iter().filter(|range| range.best == 1).count() as u64),
        core_pairs: core.pair_count() as u64,
        core_tiers: core.tier_count() as u64,
        moved_weight: moved.map(|moved| moved.moved),
        moved_to: moved.map(|moved| name_of(moved.rival)),
    })
}

fn standard_card(
    matrix: &ScoreMatrix,
    board: &AuditedBoard,
    order: &[usize],
    sets: Option<&RankSets>,
    drift: Option<InvarianceDrift>,
) -> Result<StandardCard, Undefined> {
    let top = 2.max(matrix.system_count() / 10);
    let first_group: Option<Vec<usize>> = sets.map(|sets| {
        (0..sets.ranges.len())
            .filter(|system| sets.ranges[*system].best == 1)
            .collect()
    });
    let is_binary = matrix.is_binary();
    let only = |one: usize, other: usize| {
        is_binary.then(|| {
            matrix
                .by_item()
                .filter(|scores| scores[order[one]] > scores[order[other]])
                .count() as u64
        })
    };
    let (only_first, only_second) = (only(0, 1), only(1, 0));
    Ok(StandardCard {
        draft: "0.2",
        program: concat!("evalreport ", env!("CARGO_PKG_VERSION")),
        seed: STANDARD_SEED,
        sha256_12: board
            .sha256
            .as_ref()
            .and_then(|digest| digest.get(..12))
            .map(str::to_owned),
        order: sets
            .map(|sets| summarise_order(sets, order, Seed(STANDARD_SEED)))
            .transpose()?,
        drift,
        discordance: mean_discordance(matrix, order)?,
        discordance_top: mean_discordance(matrix, &order[..top])?,
        discordance_top_systems: top as u64,
        first_against_second: pair_separation(matrix, order[0], order[1])?,
        median_kappa: median_kappa(matrix).ok(),
        splitting: count_splits(matrix, order).ok(),
        splitting_of_first: first_group.and_then(|group| count_splits(matrix, &group).ok()),
        only_first,
        only_second,
        regrades: only_first
            .zip(only_second)
            .map(|(first, second)| first.saturating_sub(second)),
        systems_per_item: matrix.system_count() as f64 / matrix.item_count() as f64,
    })
}
