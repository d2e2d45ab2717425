//! Who leads on a suite, and over suites.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Filter, ScoreRecord, Unit};
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

use super::apart::{Apart, apart_from_newest};
use super::arm::{Arm, ArmRuns, Grouping, SuiteGroup, suite_groups};
use super::comparability::{self, UnlikePairs};
use super::compare::headline;
use super::estimate::{Estimate, Method, counts, pass_rate};
use super::evidence::{Policy, unit_of};
use super::exclusions::{ExcludedItem, without_excluded};
use super::figures::{Coverage, Figure, Money, Range, Spread, duration, figure, money, spread, tokens};
use super::item_scores::SuiteScores;
use super::judged::verified;
use super::price::{PriceInterval, price_interval};
use super::reliability::{Reliability, reliability};
use super::repeats::possibly_cached;
use super::sample::{Items, Rates};
use super::standing::{BoardEvidence, Chances, Front, Standing, Trade, fronts, standings};
use super::texts::{ArmTexts, Pairing};

/// What a board is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortKey {
    PassRate,
    Cost,
    CostPerSolved,
    Tokens,
    Duration,
    Approach,
    Model,
}

/// A named figure that the runs of a suite carry beside the pass rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoreColumn {
    pub metric: String,
    pub unit: Unit,
    pub direction: Direction,
    /// Runs give it in different units or directions: nothing can be said about differences.
    pub is_mixed: bool,
}

/// One arm's line.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    #[serde(flatten)]
    pub arm: Arm,
    pub runs: u64,
    /// Runs that an outage or an interrupt ended: left out of every figure.
    pub excluded_runs: u64,
    /// Counted runs that did not complete.
    pub failed_runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<Estimate>,
    /// The rate as it would be with the excluded items, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate_with_excluded: Option<Estimate>,
    /// Over k attempts at an item, where items were tried more than once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<Reliability>,
    /// Where the evidence on the pass rate puts the arm; absent without a pass rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Total cost over solved items; absent where nothing was solved or a part of the cost is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_solved_usd: Option<f64>,
    /// Absent where the cost is not known unit by unit, or there are too few units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_solved_interval: Option<PriceInterval>,
    /// Pass rate against cost per run; absent where either is unknown, no run completed, or no other arm has both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_front: Option<Front>,
    /// Pass rate against the median duration of runs, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_front: Option<Front>,
    /// Per run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Figure>,
    /// Per run, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Spread>,
    /// The mean over items of what they scored, in the score's own unit; absent where scores say no more than whether items passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_score: Option<Estimate>,
    /// By [`ScoreColumn::metric`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, Figure>,
    /// Runs that agree with an earlier one of the arm in every outcome, and in every figure of time, tokens and cost.
    pub possibly_cached: u64,
    /// Runs whose published figures disagree with their own counts beyond rounding.
    pub disagreeing_runs: u64,
    /// Runs by what their verification came to, as far as they have one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verification: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<DateTime<Utc>>,
}

/// One suite's board.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SuiteBoard {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    /// The files that imported runs came from; several are pooled here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Distinct items with outcomes; 0 where the runs hold only counts.
    pub items: u64,
    /// Attempts at each item in the run with most of them.
    pub attempts: u32,
    pub score_columns: Vec<ScoreColumn>,
    /// What the pass rates support; absent where fewer than two arms have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<BoardEvidence>,
    /// Pairs of arms that were not compared under like conditions: grade C or worse; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlike: Option<UnlikePairs>,
    /// Arms here and on another board of the suite that stand on no board together: of the suite's newest board and each other one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<Apart>,
    /// Items that `exclusions.yaml` takes out of every figure of this board.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_items: Vec<ExcludedItem>,
    /// In the order asked for, which says nothing about evidence: [`Entry::standing`] does.
    pub entries: Vec<Entry>,
}

/// Every selected suite's board.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Board {
    pub suites: Vec<SuiteBoard>,
    /// Selected runs that tombstones hide.
    pub retracted: u64,
    /// Names were mapped by the configuration.
    pub aliased: bool,
    pub sorted_by: SortKey,
}

/// Builds the boards of the selected runs: every batch of an arm counts.
pub fn leaderboard(warehouse: &Warehouse, filter: &Filter, sort: SortKey, policy: &Policy, chances: Chances) -> Board {
    let groups = suite_groups(warehouse, filter, Grouping::AllBatches);
    let apart = apart_from_newest(&groups);
    let board =
        |(group, apart)| SuiteBoard { apart, ..suite_board(warehouse, group, &group_matrix(warehouse, group), sort, policy, chances) };
    Board {
        suites: groups.par_iter().zip(apart).map(board).collect(),
        retracted: retracted(warehouse, filter),
        aliased: !warehouse.aliases().is_empty(),
        sorted_by: sort,
    }
}

/// Counts the selected runs that tombstones hide.
pub fn retracted(warehouse: &Warehouse, filter: &Filter) -> u64 {
    warehouse.hidden().iter().filter(|hidden| filter.matches(&hidden.run)).count() as u64
}

/// Returns the outcomes of all the group's counted runs.
pub(super) fn group_matrix(warehouse: &Warehouse, group: &SuiteGroup<'_>) -> OutcomeMatrix {
    warehouse.matrix(group.arms.iter().flat_map(|arm| &arm.counted).map(|row| &row.run.id))
}

/// Builds one suite's board over the group's outcomes.
pub(super) fn suite_board(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
    whole: &OutcomeMatrix,
    sort: SortKey,
    policy: &Policy,
    chances: Chances,
) -> SuiteBoard {
    if policy.exclusions.is_empty() {
        return board_over(warehouse, group, whole, sort, policy, chances);
    }
    let (matrix, excluded_items) = without_excluded(whole.clone(), group, &policy.exclusions);
    let mut board = board_over(warehouse, group, &matrix, sort, policy, chances);
    if !excluded_items.is_empty() {
        let items = Items::of(whole);
        let unit = unit_of(&group.suite, &items, policy);
        for entry in &mut board.entries {
            let arm = group.arms.iter().find(|arm| arm.arm == entry.arm);
            entry.pass_rate_with_excluded = arm.and_then(|arm| pass_rate(&arm.counted, &Rates::of(&arm.counted, whole), &items, unit));
        }
    }
    SuiteBoard { excluded_items, ..board }
}

fn board_over(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
    matrix: &OutcomeMatrix,
    sort: SortKey,
    policy: &Policy,
    chances: Chances,
) -> SuiteBoard {
    let items = Items::of(matrix);
    let unit = unit_of(&group.suite, &items, policy);
    let lines = group.arms.par_iter().map(|arm| {
        let rates = Rates::of(&arm.counted, matrix);
        let mut entry = entry(arm, matrix, &rates);
        entry.pass_rate = pass_rate(&arm.counted, &rates, &items, unit);
        entry.reliability = reliability(&rates, &items);
        if entry.cost_per_solved_usd.is_some() {
            entry.cost_per_solved_interval = price_interval(&arm.counted, &rates, matrix, unit);
        }
        (entry, rates)
    });
    let (mut entries, rates): (Vec<Entry>, Vec<Rates>) = lines.unzip();
    if let Some(scores) = SuiteScores::of(group, matrix, policy) {
        for (entry, scores) in entries.iter_mut().zip(&scores.arms) {
            entry.item_score = scores.estimate(&items, unit);
        }
    }
    let texts = ArmTexts::of_group(warehouse, group, matrix);
    let pairing = Pairing::of(&group.arms, &texts, matrix);
    let unlike = UnlikePairs::of(&comparability::of_arms(&group.arms, &rates, &texts, matrix));
    let evidence = weigh(&mut entries, rates, &group.suite, &items, &pairing, policy, chances);
    weigh_prices(&mut entries, &group.arms);
    order(&mut entries, sort);
    SuiteBoard {
        suite: group.suite.clone(),
        suite_version: group.suite_version.clone(),
        sources: sources(group),
        items: matrix.items.len() as u64,
        attempts: matrix.rows.iter().map(|row| row.attempt).max().unwrap_or(1),
        score_columns: score_columns(group),
        evidence,
        unlike,
        apart: Vec::new(),
        excluded_items: Vec::new(),
        entries,
    }
}

/// Says where the evidence puts each arm that has a pass rate.
fn weigh(
    entries: &mut [Entry],
    rates: Vec<Rates>,
    suite: &str,
    items: &Items,
    pairing: &Pairing<'_>,
    policy: &Policy,
    chances: Chances,
) -> Option<BoardEvidence> {
    let is_rated: Vec<bool> = entries.iter().map(|entry| entry.pass_rate.is_some()).collect();
    let pairing = pairing.only(|arm| is_rated[arm]);
    let (mut ranked, rates): (Vec<&mut Entry>, Vec<Rates>) =
        entries.iter_mut().zip(rates).filter(|(entry, _)| entry.pass_rate.is_some()).unzip();
    let (evidence, standings) = standings(suite, headline(items, policy), items, &rates, &pairing, policy, chances);
    for (entry, standing) in ranked.iter_mut().zip(standings) {
        entry.standing = Some(standing);
    }
    evidence
}

/// Sets the pass rates against cost and against time. An arm without a completed run has a price for nothing.
fn weigh_prices(entries: &mut [Entry], arms: &[ArmRuns<'_>]) {
    let with = |price: &dyn Fn(&Entry) -> Option<(f64, bool)>| {
        let trade = |(entry, arm)| {
            let (entry, arm): (&Entry, &ArmRuns<'_>) = (entry, arm);
            let quality = entry.pass_rate.as_ref().filter(|_| arm.can_win())?.value;
            let (price, is_lower_bound) = price(entry)?;
            Some(Trade { arm: &arm.arm, quality, price, is_lower_bound })
        };
        fronts(&entries.iter().zip(arms).map(trade).collect::<Vec<_>>())
    };
    let cost = with(&|entry| entry.cost.as_ref().map(|money| (cost_per_run(money), money.is_lower_bound)));
    let duration = with(&|entry| entry.duration.as_ref().map(|spread| (spread.median, false)));
    for (entry, (cost, duration)) in entries.iter_mut().zip(cost.into_iter().zip(duration)) {
        (entry.cost_front, entry.duration_front) = (cost, duration);
    }
}

pub(super) fn cost_per_run(money: &Money) -> f64 {
    money.usd / money.coverage.known as f64
}

fn sources(group: &SuiteGroup<'_>) -> Vec<String> {
    let rows = group.arms.iter().flat_map(|arm| &arm.counted);
    let files: BTreeSet<&str> = rows.filter_map(|row| row.run.provenance.as_ref()).map(|from| from.file.as_str()).collect();
    files.into_iter().map(str::to_owned).collect()
}

fn entry(arm: &ArmRuns<'_>, matrix: &OutcomeMatrix, rates: &Rates) -> Entry {
    let rows = &arm.counted;
    let cost_sum = money(rows);
    let solved: Option<u64> = match rates {
        Rates::Outcomes(outcomes) if outcomes.by_run.iter().all(|(_, counted)| *counted > 0) => {
            Some(outcomes.by_run.iter().map(|(passed, _)| passed).sum())
        }
        Rates::Outcomes(_) | Rates::Counts(_) | Rates::Unknown => {
            rows.iter().map(|row| counts(row, matrix).map(|(passed, _)| passed)).sum()
        }
    };
    let mut scores = BTreeMap::new();
    let metrics: BTreeSet<&str> = rows.iter().flat_map(|row| &row.run.scores).map(|score| score.metric.as_str()).collect();
    for metric in metrics {
        // Runs that give it in different units have no range in common.
        let ranges: BTreeSet<bool> =
            rows.iter().filter_map(|row| Some(Range::of(newest(row, metric)?.unit) == Range::NotNegative)).collect();
        let range = if ranges.into_iter().eq([true]) { Range::NotNegative } else { Range::Any };
        if let Some(figure) = figure(rows, range, |row| newest_score(row, metric)) {
            scores.insert(metric.to_owned(), figure);
        }
    }
    Entry {
        arm: arm.arm.clone(),
        runs: rows.len() as u64,
        excluded_runs: arm.excluded.len() as u64,
        failed_runs: rows.iter().filter(|row| row.run.status != crate::domain::RunStatus::Completed).count() as u64,
        pass_rate: None,
        pass_rate_with_excluded: None,
        reliability: Vec::new(),
        standing: None,
        cost_front: None,
        duration_front: None,
        cost_per_solved_usd: match (&cost_sum, solved) {
            (Some(money), Some(solved)) if !money.is_lower_bound && solved > 0 => Some(money.usd / solved as f64),
            _ => None,
        },
        cost_per_solved_interval: None,
        cost: cost_sum,
        tokens: figure(rows, Range::NotNegative, tokens),
        duration: spread(rows, duration),
        item_score: None,
        scores,
        possibly_cached: possibly_cached(rows, matrix),
        disagreeing_runs: rows.iter().filter(|row| row.run.stated.iter().any(|stated| stated.disagrees() == Some(true))).count() as u64,
        verification: verified(rows),
        newest: rows.iter().filter_map(|row| row.run.timestamp).max(),
    }
}

/// Returns the newest revision of a named score of a run.
pub(super) fn newest_score(row: &RunRow, metric: &str) -> Option<f64> {
    newest(row, metric)?.value
}

/// Returns the newest revision of a named score.
pub(super) fn newest<'a>(row: &'a RunRow, metric: &str) -> Option<&'a ScoreRecord> {
    row.run.scores.iter().filter(|score| score.metric == metric).max_by_key(|score| score.revision)
}

/// Returns who gave a score of these runs, as far as they say.
pub(super) fn evaluators_of<'a>(rows: &[&'a RunRow], metric: &str) -> BTreeSet<&'a str> {
    rows.iter().filter_map(|row| newest(row, metric)?.evaluator.as_deref()).collect()
}

/// Lists the named figures of a group's runs. One that means different things in two runs is listed as the first has it.
pub(super) fn score_columns(group: &SuiteGroup<'_>) -> Vec<ScoreColumn> {
    let mut columns = BTreeMap::<String, (Unit, Direction, bool)>::new();
    for score in group.arms.iter().flat_map(|arm| &arm.counted).flat_map(|row| &row.run.scores) {
        // The pass rate has its own column.
        if !matches!(score.metric.as_str(), "accuracy" | "pass_rate") {
            let meaning = columns.entry(score.metric.clone()).or_insert((score.unit, score.direction, false));
            meaning.2 |= (meaning.0, meaning.1) != (score.unit, score.direction);
        }
    }
    columns.into_iter().map(|(metric, (unit, direction, is_mixed))| ScoreColumn { metric, unit, direction, is_mixed }).collect()
}

/// Orders by the key, best first, unknown last; equal ones by name.
fn order(entries: &mut [Entry], sort: SortKey) {
    let number = |entry: &Entry| match sort {
        SortKey::PassRate => entry.pass_rate.as_ref().map(|estimate| -estimate.value),
        SortKey::Cost => entry.cost.as_ref().map(cost_per_run),
        SortKey::CostPerSolved => entry.cost_per_solved_usd,
        SortKey::Tokens => entry.tokens.as_ref().map(|figure| figure.summary.mean),
        SortKey::Duration => entry.duration.as_ref().map(|spread| spread.median),
        SortKey::Approach | SortKey::Model => None,
    };
    entries.sort_by(|left, right| {
        let by_name = match sort {
            SortKey::Model => left.arm.model.cmp(&right.arm.model),
            _ => std::cmp::Ordering::Equal,
        };
        let known_first = |entry: &Entry| number(entry).map_or((true, 0.0), |value| (false, value));
        let (left_key, right_key) = (known_first(left), known_first(right));
        by_name.then(left_key.0.cmp(&right_key.0)).then(left_key.1.total_cmp(&right_key.1)).then_with(|| left.arm.cmp(&right.arm))
    });
}

/// How suites are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The mean of the suites' rates: every suite weighs the same.
    Macro,
    /// The mean over all items, each with its mean over the arm's runs: every item weighs the same.
    Micro,
}

/// One arm over the suites it has rates for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OverallEntry {
    #[serde(flatten)]
    pub arm: Arm,
    pub rate: f64,
    /// Suites with a rate, of those on the board.
    pub suites: Coverage,
    /// Items of those suites, where all are known. What a suite weighs in a micro mean, for every arm alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// Counted outcomes over those suites, where all are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
}

/// A board over suites. Arms with rates on fewer suites are not comparable with the others and stand after them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Overall {
    pub pooling: Pooling,
    pub suites: Vec<String>,
    pub entries: Vec<OverallEntry>,
    /// Arms with a rate on a suite that is not in their line: it is of another version of the suite than the one that counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_versions: Vec<OtherVersion>,
}

/// Arms whose rates on a suite are all of versions that do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherVersion {
    pub suite: String,
    /// The version that counts: the one with the newest run, of several the one with most arms, else the first by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    pub arms: Vec<Arm>,
}

/// Puts the boards of one version of each suite together. A micro mean needs counts; an arm with a suite without them has none.
pub fn overall(board: &Board, pooling: Pooling) -> Overall {
    // Boards of one suite stand together, the one that counts first, see `suite_groups`: another version is no suite of its own.
    let by_suite = || board.suites.chunk_by(|one, other| one.suite == other.suite);
    let newest: Vec<&SuiteBoard> = by_suite().map(|versions| &versions[0]).collect();
    let suites: Vec<String> = newest.iter().map(|suite| suite.suite.clone()).collect();
    let mut arms = BTreeMap::<&Arm, Vec<Rated<'_>>>::new();
    for suite in &newest {
        let items = suite.weight();
        for entry in suite.entries.iter().filter(|entry| entry.pass_rate.is_some()) {
            arms.entry(&entry.arm).or_default().push(Rated { entry, items });
        }
    }
    let mut entries: Vec<OverallEntry> = arms
        .into_iter()
        .filter_map(|(arm, rated)| {
            let rates: Vec<&Estimate> = rated.iter().filter_map(|rated| rated.entry.pass_rate.as_ref()).collect();
            let outcomes: Option<u64> = rates.iter().map(|rate| rate.total).sum();
            let items: Option<f64> = rated.iter().map(|rated| rated.items.filter(|_| outcomes.is_some())).sum();
            let rate = match pooling {
                Pooling::Macro => rates.iter().map(|rate| rate.value).sum::<f64>() / rates.len() as f64,
                // Never passed of counted over all runs: an arm whose runs on a hard suite were repeated would seem worse.
                Pooling::Micro => {
                    let all = items.filter(|items| *items > 0.0)?;
                    let weighted = rated.iter().zip(&rates).filter_map(|(rated, rate)| Some(rated.items? * rate.value));
                    weighted.sum::<f64>() / all
                }
            };
            let entries: Vec<&Entry> = rated.iter().map(|rated| rated.entry).collect();
            let costs: Vec<&Money> = entries.iter().filter_map(|entry| entry.cost.as_ref()).collect();
            let cost = (!costs.is_empty()).then(|| Money {
                usd: costs.iter().map(|money| money.usd).sum(),
                is_lower_bound: costs.len() < entries.len() || costs.iter().any(|money| money.is_lower_bound),
                coverage: Coverage {
                    known: costs.iter().map(|money| money.coverage.known).sum(),
                    runs: entries.iter().map(|entry| entry.runs).sum(),
                },
            });
            let suites = Coverage { known: rates.len() as u64, runs: suites.len() as u64 };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of items, and the cast saturates")]
            let items = items.map(|items| items.round() as u64);
            Some(OverallEntry { arm: arm.clone(), rate, suites, items, outcomes, cost })
        })
        .collect();
    entries.sort_by(|left, right| {
        right.suites.known.cmp(&left.suites.known).then(right.rate.total_cmp(&left.rate)).then_with(|| left.arm.cmp(&right.arm))
    });
    Overall { pooling, suites, entries, other_versions: by_suite().filter_map(OtherVersion::of).collect() }
}

/// An arm's line on a suite.
struct Rated<'a> {
    entry: &'a Entry,
    items: Option<f64>,
}

impl OtherVersion {
    /// Finds the arms that have a rate on some version of a suite and none on the first; nothing where there are none.
    fn of(versions: &[SuiteBoard]) -> Option<Self> {
        let rated = |board: &SuiteBoard| -> BTreeSet<Arm> {
            board.entries.iter().filter(|entry| entry.pass_rate.is_some()).map(|entry| entry.arm.clone()).collect()
        };
        let (first, others) = versions.split_first()?;
        let arms: BTreeSet<Arm> = others.iter().flat_map(rated).collect();
        let arms: Vec<Arm> = arms.difference(&rated(first)).cloned().collect();
        (!arms.is_empty()).then(|| Self { suite: first.suite.clone(), counted: first.suite_version.clone(), arms })
    }
}

impl SuiteBoard {
    /// How many items the suite weighs: those with outcomes, else as many as the runs with most counts say on average.
    fn weight(&self) -> Option<f64> {
        if self.items > 0 {
            return Some(self.items as f64);
        }
        let rates = self.entries.iter().filter_map(|entry| entry.pass_rate.as_ref());
        // Of one run n is its tests, else its runs.
        let of_arm = |rate: &Estimate| Some(rate.total? as f64 / if rate.n_of == "runs" { rate.n.max(1) as f64 } else { 1.0 });
        rates.filter_map(of_arm).max_by(f64::total_cmp)
    }
}

impl Estimate {
    /// Says whether the figure is the source's own and not counted here.
    pub fn is_stated(&self) -> bool {
        matches!(self.method, Method::Stated | Method::StatedError)
    }
}
