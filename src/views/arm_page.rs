//! One arm over all suites of a site: where it stands on each, what it takes, and where it is weakest.

use std::collections::BTreeMap;

use crate::inference::{Arm, PairEvidence};
use crate::stats::RankRange;

use super::compare::Comparison;
use super::history::ArmHistory;
use super::leaderboard::Entry;
use super::run::RunLine;
use super::site::{Overview, OverviewSuite};

/// Clusters of items listed of a suite.
const MOST_WEAK: usize = 5;

/// One arm over all suites of a site.
#[derive(Clone, Debug)]
pub struct ArmPage<'a> {
    pub arm: &'a Arm,
    /// In the order of the overview.
    pub suites: Vec<ArmOnSuite<'a>>,
    /// All its runs, the newest first.
    pub runs: Vec<&'a RunLine>,
    /// What its counted runs cost, as far as that is known, and whether a part is not.
    pub spent: Option<(f64, bool)>,
}

/// Where an arm stands on a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lead {
    /// It is better than every other arm.
    Wins,
    /// It stands first, and some other arm may be as good.
    Leads,
    Behind,
    /// No other arm can be compared with it.
    Alone,
}

/// One arm on one suite.
#[derive(Clone, Debug)]
pub struct ArmOnSuite<'a> {
    /// The suite's place in the overview.
    pub place: usize,
    pub suite: &'a OverviewSuite,
    pub entry: &'a Entry,
    pub lead: Lead,
    /// Against the best other arm that it has a page with.
    pub against: Option<Rival<'a>>,
    /// Over the nights, where it ran on two or more.
    pub history: Option<&'a ArmHistory>,
    /// The clusters of items that it passes least often, lowest first.
    pub weakest: Vec<WeakCluster<'a>>,
}

/// An arm's pair with another.
#[derive(Clone, Debug)]
pub struct Rival<'a> {
    pub pair: &'a Comparison,
    pub other: &'a Arm,
    /// On the primary metric, seen from the arm.
    pub evidence: Option<PairEvidence>,
    /// Says that the arm is the better one of the two, beyond chance or in every run; or the other.
    pub better: Option<bool>,
}

/// A cluster of items, and the arm's outcomes on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakCluster<'a> {
    pub cluster: &'a str,
    pub passed: u64,
    pub counted: u64,
}

impl Overview {
    /// Gathers what is known of every arm, by name.
    pub fn arm_pages(&self) -> Vec<ArmPage<'_>> {
        let mut pages = BTreeMap::<&Arm, ArmPage<'_>>::new();
        for (place, suite) in self.suites.iter().enumerate() {
            for (rank, entry) in suite.board.entries.iter().enumerate() {
                let page = page_of(&mut pages, &entry.arm);
                page.suites.push(ArmOnSuite::of(place, suite, rank));
                if let Some(money) = &entry.cost {
                    let (usd, is_less) = page.spent.unwrap_or_default();
                    page.spent = Some((usd + money.usd, is_less || money.is_lower_bound));
                }
            }
            for run in &suite.runs {
                page_of(&mut pages, &run.arm).runs.push(run);
            }
        }
        let mut pages: Vec<ArmPage<'_>> = pages.into_values().collect();
        for page in &mut pages {
            page.runs.sort_by(|left, right| right.timestamp.cmp(&left.timestamp).then_with(|| left.id.cmp(&right.id)));
            let is_known = page.suites.iter().all(|on| on.entry.runs == 0 || on.entry.cost.is_some());
            page.spent = page.spent.map(|(usd, is_less)| (usd, is_less || !is_known));
        }
        pages
    }
}

fn page_of<'a, 'b>(pages: &'b mut BTreeMap<&'a Arm, ArmPage<'a>>, arm: &'a Arm) -> &'b mut ArmPage<'a> {
    pages.entry(arm).or_insert_with(|| ArmPage { arm, suites: Vec::new(), runs: Vec::new(), spent: None })
}

impl ArmPage<'_> {
    /// Suites on which the arm is better than every other, and those on which it stands first beside others that may be as good.
    pub fn leads(&self) -> (usize, usize) {
        let count = |lead: Lead| self.suites.iter().filter(|on| on.lead == lead).count();
        (count(Lead::Wins), count(Lead::Leads))
    }

    /// Where it ranks best: the first of the suites with its best rank.
    pub fn best(&self) -> Option<(&ArmOnSuite<'_>, RankRange)> {
        let ranks = self.suites.iter().filter_map(|on| Some((on, on.entry.standing.as_ref()?.rank)));
        ranks.reduce(|best, next| if next.1.best < best.1.best { next } else { best })
    }

    /// Suites on which it can be compared with another arm.
    pub fn compared(&self) -> usize {
        self.suites.iter().filter(|on| on.lead != Lead::Alone).count()
    }
}

impl<'a> ArmOnSuite<'a> {
    fn of(place: usize, suite: &'a OverviewSuite, rank: usize) -> Self {
        let entry = &suite.board.entries[rank];
        let winner = suite.board.evidence.as_ref().and_then(|evidence| evidence.winner.as_ref());
        let lead = match (&suite.board.evidence, &entry.standing) {
            (None, _) | (_, None) => Lead::Alone,
            (Some(_), Some(_)) if winner == Some(&entry.arm) => Lead::Wins,
            (Some(_), Some(standing)) if winner.is_none() && rank == 0 && standing.is_leading => Lead::Leads,
            (Some(_), Some(_)) => Lead::Behind,
        };
        let history = suite.history.iter().flat_map(|history| &history.arms).find(|arm| arm.arm == entry.arm);
        Self {
            place,
            suite,
            entry,
            lead,
            against: against(suite, &entry.arm),
            history: history.filter(|arm| arm.nights.len() > 1),
            weakest: weakest(suite, &entry.arm),
        }
    }
}

fn against<'a>(suite: &'a OverviewSuite, arm: &Arm) -> Option<Rival<'a>> {
    let rank = |arm: &Arm| suite.board.entries.iter().position(|entry| entry.arm == *arm).unwrap_or(usize::MAX);
    let with = |pair: &'a Comparison| match pair.arms.as_slice() {
        [first, second] if first.arm == *arm => Some((pair, 0, &second.arm)),
        [first, second] if second.arm == *arm => Some((pair, 1, &first.arm)),
        _ => None,
    };
    let (pair, own, other) = suite.pairs.iter().filter_map(with).min_by_key(|(_, _, other)| rank(other))?;
    let evidence = pair.primary().and_then(|row| row.evidence.pairs.first()).map(|known| known.seen_from(own));
    let better = evidence.as_ref().and_then(PairEvidence::better).map(|better| better == own);
    Some(Rival { pair, other, evidence, better })
}

fn weakest<'a>(suite: &'a OverviewSuite, arm: &Arm) -> Vec<WeakCluster<'a>> {
    let Some(place) = suite.items.arms.iter().position(|known| known.arm == *arm) else { return Vec::new() };
    let mut clusters = BTreeMap::<&str, (u64, u64)>::new();
    let mut items = 0;
    for line in &suite.items.items {
        let (Some(cluster), cell) = (&line.cluster, line.cells[place]) else { continue };
        items += usize::from(cell.counted > 0);
        let sum = clusters.entry(cluster).or_default();
        *sum = (sum.0 + u64::from(cell.passed), sum.1 + u64::from(cell.counted));
    }
    clusters.retain(|_, (_, counted)| *counted > 0);
    // As many clusters as items are no clusters.
    if clusters.len() < 2 || clusters.len() >= items {
        return Vec::new();
    }
    let mut weak: Vec<WeakCluster<'a>> =
        clusters.into_iter().map(|(cluster, (passed, counted))| WeakCluster { cluster, passed, counted }).collect();
    let share = |of: &WeakCluster<'_>| of.passed as f64 / of.counted as f64;
    weak.sort_by(|left, right| share(left).total_cmp(&share(right)).then_with(|| left.cluster.cmp(right.cluster)));
    weak.truncate(MOST_WEAK);
    weak
}
