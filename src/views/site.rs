//! The site's own pages: the overview, and which pages there are.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Filter;
use crate::warehouse::Warehouse;

use super::arm::{Grouping, suite_groups};
use super::compare::{Compared, Comparison, compare};
use super::evidence::Policy;
use super::leaderboard::{SortKey, SuiteBoard, group_matrix, retracted, suite_board};
use super::run::{RunLine, run_line};

/// What every page of the site shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SiteContext {
    pub title: String,
    /// The tool's version.
    pub version: String,
    /// Digest of the data the site was built from.
    pub data_digest: String,
    /// The newest run's time: the site has no clock of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<DateTime<Utc>>,
    /// Runs that tombstones hide.
    pub retracted: u64,
    /// Names were mapped by the configuration.
    pub aliased: bool,
    /// Problems met in reading the store.
    pub problems: u64,
}

/// One suite's pages.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OverviewSuite {
    pub board: SuiteBoard,
    /// The leader against the second, for the sentence of the overview; absent with fewer than two arms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<Comparison>,
    /// All arms of the newest batches in one table, one per suite version or source; left out for more than `MAX_TABLE_ARMS` arms.
    pub tables: Vec<Comparison>,
    /// Pair pages.
    pub pairs: Vec<Comparison>,
    pub runs: Vec<RunLine>,
}

/// The whole site but the pages of single runs, which are made one at a time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    pub context: SiteContext,
    pub suites: Vec<OverviewSuite>,
}

impl Overview {
    /// Lists the runs of all suites, by suite, arm and id.
    pub fn runs_by_name(&self) -> Vec<&RunLine> {
        let mut runs: Vec<&RunLine> = self.suites.iter().flat_map(|suite| &suite.runs).collect();
        runs.sort_by(|left, right| (&left.suite, &left.arm, &left.id).cmp(&(&right.suite, &right.arm, &right.id)));
        runs
    }
}

/// With more arms, pairs are limited to neighbours in rank and everyone against the leader.
const MAX_ALL_PAIRS: usize = 12;
/// A table wider than this is no table.
const MAX_TABLE_ARMS: usize = 8;

/// Builds the site's views of the selected runs.
pub fn overview(warehouse: &Warehouse, filter: &Filter, policy: &Policy, title: &str, version: &str, data_digest: &str) -> Overview {
    let groups = suite_groups(warehouse, filter, Grouping::AllBatches);
    let suites: Vec<OverviewSuite> = groups
        .iter()
        .map(|group| {
            let matrix = group_matrix(warehouse, group);
            let board = suite_board(warehouse, group, SortKey::PassRate);
            let compared = Compared::of(group, &matrix, policy);
            let arm_of = |entry: usize| group.arms.iter().position(|arm| arm.arm == board.entries[entry].arm);
            let pair = |(left, right): (usize, usize)| Some(compared.pair(arm_of(left)?, arm_of(right)?));
            let pairs: Vec<Comparison> = comparison_pairs(board.entries.len()).into_iter().filter_map(pair).collect();
            let tables = suite_groups(warehouse, &Filter { suites: vec![group.suite.clone()], ..filter.clone() }, Grouping::NewestBatch)
                .iter()
                .filter(|table| table.suite_version == group.suite_version && (2..=MAX_TABLE_ARMS).contains(&table.arms.len()))
                .map(|table| compare(warehouse, table, policy))
                .collect();
            let rows = group.arms.iter().flat_map(|arm| arm.counted.iter().chain(&arm.excluded));
            let mut runs: Vec<RunLine> = rows.map(|row| run_line(row, &matrix)).collect();
            runs.sort_by(|left, right| right.timestamp.cmp(&left.timestamp).then_with(|| left.id.cmp(&right.id)));
            OverviewSuite { top: pairs.first().cloned(), board, tables, pairs, runs }
        })
        .collect();
    let context = SiteContext {
        title: title.to_owned(),
        version: version.to_owned(),
        data_digest: data_digest.to_owned(),
        newest: warehouse.select(filter).filter_map(|row| row.run.timestamp).max(),
        retracted: retracted(warehouse, filter),
        aliased: !warehouse.aliases().is_empty(),
        problems: warehouse.problems().len() as u64,
    };
    Overview { context, suites }
}

/// Returns the pairs of ranks that get a page, the leader against the second first.
pub fn comparison_pairs(arms: usize) -> Vec<(usize, usize)> {
    let all = arms <= MAX_ALL_PAIRS;
    let wanted = |left: usize, right: usize| all || left == 0 || right == left + 1;
    (0..arms).flat_map(|left| (left + 1..arms).map(move |right| (left, right))).filter(|(left, right)| wanted(*left, *right)).collect()
}
