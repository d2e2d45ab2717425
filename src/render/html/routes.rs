//! Addresses of all pages, decided once for the whole site, so that links and files agree.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::render::phrases;
use crate::views::{Arm, ArmColours, Comparison, Overview, OverviewSuite, RunOrdinal, SuiteBoard};

use super::arm_routes::ArmRoutes;
use super::assets::SiteAssets;
use super::item_places::ItemRoutes;
use super::site_file::ANY_PAIR_FILE;
use super::slug::unique_segments;
use super::tab_group::TabGroup;

/// Maximum length of a segment. A pair's file name has two arms.
const MAX_SEGMENT_LENGTH: usize = 120;
const MAX_ARM: usize = 56;

/// The addresses of a site.
#[derive(Clone, Debug)]
pub struct SiteRoutes {
    pub(super) assets: SiteAssets,
    /// One place per suite of the overview, in its order.
    pub(super) suites: Vec<SuiteRoutes>,
    pub(super) arms: ArmRoutes,
    colours: ArmColours,
    /// Places by run id.
    pub(super) runs: BTreeMap<String, RunRoutes>,
}

/// Returns the pages that a suite has, for its bar.
pub(super) type SuiteTabList = fn(&OverviewSuite, &SuiteRoutes) -> Vec<SuiteTab>;

/// A page in the bar of a suite.
pub(super) struct SuiteTab {
    pub word: &'static str,
    pub group: TabGroup,
    pub path: String,
}

/// Addresses of a suite's pages.
#[derive(Clone, Debug)]
pub(super) struct SuiteRoutes {
    pub segment: String,
    /// The suite's name, with the version if there is a newer one.
    pub label: String,
    /// Asked page by page: some data of a suite is read after its addresses are decided.
    pub tabs: SuiteTabList,
    arms: BTreeMap<Arm, String>,
    /// Only arms that have a colour.
    colours: BTreeMap<Arm, u8>,
    pub items: ItemRoutes,
    pub criteria: ItemRoutes,
}

/// Addresses of a run's pages.
#[derive(Clone, Debug)]
pub(super) struct RunRoutes {
    pub segment: String,
    /// Index in the overview's suites.
    pub suite: usize,
    /// Its night, and its number among the suite's runs.
    pub turn: RunOrdinal,
}

impl SiteRoutes {
    pub(super) fn new(overview: &Overview, tabs: SuiteTabList) -> Self {
        let labels: Vec<String> = suite_labels(
            &overview
                .suites
                .iter()
                .map(|suite| &suite.board)
                .collect::<Vec<_>>(),
        );
        let suite_segments = unique_segments(labels.iter().map(String::as_str), MAX_SEGMENT_LENGTH);
        let colours = ArmColours::from_suites(&overview.suites);
        let suites = overview
            .suites
            .iter()
            .zip(&labels)
            .map(|(suite, label)| {
                let paired = suite
                    .pairs
                    .iter()
                    .chain(&suite.top)
                    .flat_map(|pair| pair.arms.iter().map(|arm| &arm.arm));
                let arms: Vec<Arm> = suite
                    .board
                    .entries
                    .iter()
                    .map(|entry| &entry.arm)
                    .chain(paired)
                    .cloned()
                    .collect();
                let own = arms
                    .iter()
                    .filter_map(|arm| Some((arm.clone(), colours.get(arm)?)))
                    .collect();
                let names: Vec<String> = arms.iter().map(phrases::arm_key).collect();
                let given = unique_segments(names.iter().map(String::as_str), MAX_ARM);
                let arms = arms
                    .into_iter()
                    .zip(&names)
                    .map(|(arm, name)| (arm, given[name.as_str()].clone()))
                    .collect();
                let (items, criteria) = (
                    ItemRoutes::from_items(&suite.items),
                    ItemRoutes::from_criteria(&suite.criterion_keys),
                );
                SuiteRoutes {
                    segment: suite_segments[label.as_str()].clone(),
                    label: label.clone(),
                    tabs,
                    arms,
                    colours: own,
                    items,
                    criteria,
                }
            })
            .collect();
        let of_suite = |(index, suite): (usize, &OverviewSuite)| {
            let turns = suite.run_ordinals();
            suite
                .runs
                .iter()
                .zip(turns)
                .map(|(run, turn)| (run.id.clone(), index, turn))
                .collect::<Vec<_>>()
        };
        let ids: Vec<(String, usize, RunOrdinal)> =
            (0..).zip(&overview.suites).flat_map(of_suite).collect();
        let run_segments =
            unique_segments(ids.iter().map(|(id, _, _)| id.as_str()), MAX_SEGMENT_LENGTH);
        let place = |(id, suite, turn): (String, usize, RunOrdinal)| {
            let segment = run_segments[id.as_str()].clone();
            (
                id,
                RunRoutes {
                    segment,
                    suite,
                    turn,
                },
            )
        };
        let runs = ids.iter().cloned().map(place).collect();
        let on_boards = overview
            .suites
            .iter()
            .flat_map(|suite| suite.board.entries.iter().map(|entry| &entry.arm));
        let of_runs = overview
            .suites
            .iter()
            .flat_map(|suite| suite.runs.iter().map(|run| &run.arm));
        Self {
            assets: SiteAssets::new(),
            suites,
            arms: ArmRoutes::new(on_boards.chain(of_runs)),
            colours,
            runs,
        }
    }

    /// Returns the CSS class of an arm's colour, which is the same on all pages of the site.
    pub(super) fn arm_tone(&self, arm: &Arm) -> &'static str {
        tone_class(self.colours.get(arm))
    }

    /// Returns a run's part of addresses.
    pub fn run_segment(&self, id: &str) -> Option<&str> {
        self.runs.get(id).map(|place| place.segment.as_str())
    }

    /// Returns a run's night and its number, for its page's title.
    pub fn run_turn(&self, id: &str) -> Option<RunOrdinal> {
        self.runs.get(id).map(|place| place.turn)
    }

    /// Returns the index in the overview of a run's suite.
    pub fn suite_of_run(&self, id: &str) -> Option<usize> {
        self.runs.get(id).map(|place| place.suite)
    }

    /// Returns the address of an arm's page, to which every name of the arm links. `root` is the relative path to the site's root.
    pub fn arm_href(&self, root: &str, arm: &Arm) -> String {
        format!("{root}{}", self.arms.path(arm))
    }

    /// Returns the path of a run's page.
    pub fn run_path(&self, id: &str) -> Option<String> {
        Some(format!("runs/{}/index.html", self.runs.get(id)?.segment))
    }
}

impl SuiteRoutes {
    /// Returns the path, without extension, of one kind of the suite's data.
    pub fn data_stem(&self, kind: &str) -> String {
        format!("data/{kind}/{}", self.segment)
    }

    pub fn path(&self) -> String {
        format!("suites/{}/index.html", self.segment)
    }

    /// Returns the addresses on which pages of the suite's runs depend. They link to the suite and its items, but not to pairs of arms.
    pub fn run_dependencies(&self) -> impl Serialize + '_ {
        let Self {
            segment,
            label,
            tabs: _,
            arms: _,
            colours: _,
            items,
            criteria,
        } = self;
        (segment, label, items, criteria)
    }

    /// Returns the addresses on which all pages of the suite depend.
    pub fn suite_dependencies(&self) -> impl Serialize + '_ {
        (
            self.run_dependencies(),
            self.arms.iter().collect::<Vec<_>>(),
            self.colours.values().collect::<Vec<_>>(),
        )
    }

    /// Returns the CSS class of an arm's colour.
    pub fn arm_tone(&self, arm: &Arm) -> &'static str {
        tone_class(self.arm_colour(arm))
    }

    /// Returns the number of an arm's colour, which is the same on all pages of the site.
    pub fn arm_colour(&self, arm: &Arm) -> Option<u8> {
        self.colours.get(arm).copied()
    }

    pub fn criteria_path(&self) -> String {
        format!("suites/{}/criteria.html", self.segment)
    }

    pub fn leaderboard_path(&self) -> String {
        format!("suites/{}/leaderboard.html", self.segment)
    }

    pub fn audit_path(&self) -> String {
        format!("suites/{}/audit.html", self.segment)
    }

    pub fn abilities_path(&self) -> String {
        format!("suites/{}/abilities.html", self.segment)
    }

    pub fn horizons_path(&self) -> String {
        format!("suites/{}/horizons.html", self.segment)
    }

    pub fn published_figures_path(&self) -> String {
        format!("suites/{}/published.html", self.segment)
    }

    pub fn cost_path(&self) -> String {
        format!("suites/{}/cost.html", self.segment)
    }

    pub fn categories_path(&self) -> String {
        format!("suites/{}/categories.html", self.segment)
    }

    pub fn items_path(&self) -> String {
        format!("suites/{}/items/index.html", self.segment)
    }

    pub fn runs_path(&self) -> String {
        format!("suites/{}/runs.html", self.segment)
    }

    pub fn history_path(&self) -> String {
        format!("suites/{}/history.html", self.segment)
    }

    pub fn pairs_path(&self) -> String {
        format!("compare/{}/index.html", self.segment)
    }

    /// Returns the path of the page that compares any two arms in the browser.
    pub fn any_pair_path(&self) -> String {
        format!("compare/{}/{}", self.segment, ANY_PAIR_FILE)
    }

    /// Returns the path, without extension, of a pair's files.
    pub fn pair_stem(&self, pair: &Comparison) -> Option<String> {
        let [first, second] = pair.arms.as_slice() else {
            return None;
        };
        Some(format!(
            "compare/{}/{}--{}",
            self.segment,
            self.arms.get(&first.arm)?,
            self.arms.get(&second.arm)?
        ))
    }

    pub fn pair_path(&self, pair: &Comparison) -> Option<String> {
        self.pair_stem(pair).map(|stem| format!("{stem}.html"))
    }
}

/// Names the boards. The newest version of a suite has the suite's name alone, so that its address stays; older versions add their version.
fn suite_labels(boards: &[&SuiteBoard]) -> Vec<String> {
    let mut labels = Vec::<String>::new();
    for (index, board) in boards.iter().enumerate() {
        let is_newest = boards[..index]
            .iter()
            .all(|earlier| earlier.suite != board.suite);
        let name = if board.suite.trim().is_empty() {
            "(no name)"
        } else {
            board.suite.as_str()
        };
        let mut label = match (&board.suite_version, is_newest) {
            (_, true) => name.to_owned(),
            (_, false) if board.source.is_some() => format!(
                "{name} (from {})",
                board.source.as_deref().unwrap_or_default()
            ),
            (Some(version), false) => {
                format!("{name} (version {})", phrases::short_version(version))
            }
            (None, false) => format!("{name} (version unknown)"),
        };
        // Another suite may have exactly this name.
        while labels.contains(&label) {
            label.push('+');
        }
        labels.push(label);
    }
    labels
}

/// Returns the CSS class of a colour, or the neutral class for `None`.
pub(super) fn tone_class(colour: Option<u8>) -> &'static str {
    colour
        .and_then(|colour| {
            ["a0", "a1", "a2", "a3", "a4", "a5"]
                .get(usize::from(colour))
                .copied()
        })
        .unwrap_or("an")
}
