//! The pages of a suite, and the bar that links them.

use crate::views::{OverviewSuite, SiteContext, SuiteState};

use super::routes::{SiteRoutes, SuiteRoutes, SuiteTab};
use super::shell::{self, SuiteBar, Text};
use super::site_file::{SiteFile, SitePart};
use super::state::state_sign;
pub(super) use super::tab_group::TabGroup;

/// A page of a suite, or a kind of pages, with a tab in the suite's bar.
pub(super) struct SuitePage {
    /// The word of the tab.
    pub tab: &'static str,
    /// The tab of the bar that the page belongs to.
    pub group: TabGroup,
    pub path: fn(&SuiteRoutes) -> String,
    /// Says whether the suite has data for the page. Without, it has no tab.
    pub has_data: fn(&OverviewSuite) -> bool,
    /// Makes the pages. None without data.
    pub pages: for<'a> fn(SuitePageInputs<'a>) -> SitePart<'a>,
    /// Makes the data of the pages for programs and spreadsheets.
    pub data: fn(SuitePageInputs<'_>) -> Vec<SiteFile>,
}

/// What the pages of a suite are made from.
#[derive(Clone, Copy)]
pub(super) struct SuitePageInputs<'a> {
    pub context: &'a SiteContext,
    pub plan: &'a SiteRoutes,
    pub suite: &'a OverviewSuite,
    pub place: &'a SuiteRoutes,
}

impl SuitePage {
    /// Returns the tab, or `None` if the suite has no data for the page.
    pub fn tab_of(&self, suite: &OverviewSuite, place: &SuiteRoutes) -> Option<SuiteTab> {
        (self.has_data)(suite).then(|| SuiteTab {
            word: self.tab,
            group: self.group,
            path: (self.path)(place),
        })
    }
}

/// Makes the bar that links a suite's pages. `root` is the relative path to the site's root, `here` the path of the tab's page.
pub(super) fn suite_bar(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    root: &str,
    here: &str,
) -> SuiteBar {
    let (state, settled) = (
        SuiteState::from_suite(suite),
        SuiteState::from_evidence(suite),
    );
    let all = (place.tabs)(suite, place);
    let group = |group: TabGroup| {
        let own: Vec<&SuiteTab> = all.iter().filter(|tab| tab.group == group).collect();
        let first = own.first()?;
        Some(shell::SuiteBarTab {
            word: if own.len() > 1 {
                group.word()
            } else {
                first.word
            },
            href: format!("{root}{}", first.path),
            is_here: own.iter().any(|tab| tab.path == here),
        })
    };
    let current = all.iter().find(|tab| tab.path == here).map(|tab| tab.group);
    let beside: Vec<shell::SuiteBarTab> = all
        .iter()
        .filter(|tab| Some(tab.group) == current)
        .map(|tab| shell::SuiteBarTab {
            word: tab.word,
            href: format!("{root}{}", tab.path),
            is_here: tab.path == here,
        })
        .collect();
    SuiteBar {
        label: Text::new(&place.label),
        href: format!("{root}{}", place.path()),
        signs: if state == settled {
            vec![state_sign(state)]
        } else {
            vec![state_sign(state), state_sign(settled)]
        },
        tabs: TabGroup::ALL.into_iter().filter_map(group).collect(),
        beside: if beside.len() > 1 { beside } else { Vec::new() },
    }
}
