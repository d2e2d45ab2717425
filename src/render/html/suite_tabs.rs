//! The pages of a suite, and the bar that links them.

use crate::views::{OverviewSuite, SuiteState};

use super::routes::SuiteRoutes;
use super::shell::{self, SuiteBar, Text};
use super::state::state_sign;

/// A page of a suite, or a kind of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuiteTab {
    Verdict,
    Leaderboard,
    Audit,
    Abilities,
    Horizons,
    Published,
    Cost,
    Categories,
    Items,
    Criteria,
    Pairs,
    History,
    Runs,
}

impl SuiteTab {
    const ALL: [Self; 13] = [
        Self::Verdict,
        Self::Leaderboard,
        Self::Audit,
        Self::Abilities,
        Self::Horizons,
        Self::Published,
        Self::Cost,
        Self::Categories,
        Self::Items,
        Self::Criteria,
        Self::Pairs,
        Self::History,
        Self::Runs,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Verdict => "Verdict",
            Self::Leaderboard => "Leaderboard",
            Self::Audit => "Audit",
            Self::Abilities => "Abilities",
            Self::Horizons => "Horizons",
            Self::Published => "Published",
            Self::Cost => "Cost",
            Self::Categories => "Categories",
            Self::Items => "Items",
            Self::Criteria => "Criteria",
            Self::Pairs => "Pairs",
            Self::History => "History",
            Self::Runs => "Runs",
        }
    }

    fn page_path(self, place: &SuiteRoutes) -> String {
        match self {
            Self::Verdict => place.path(),
            Self::Leaderboard => place.leaderboard_path(),
            Self::Audit => place.audit_path(),
            Self::Abilities => place.abilities_path(),
            Self::Horizons => place.horizons_path(),
            Self::Published => place.published_figures_path(),
            Self::Cost => place.cost_path(),
            Self::Categories => place.categories_path(),
            Self::Items => place.items_path(),
            Self::Criteria => place.criteria_path(),
            Self::Pairs => place.pairs_path(),
            Self::History => place.history_path(),
            Self::Runs => place.runs_path(),
        }
    }

    /// Says whether the suite has data for the page.
    pub fn has_data(self, suite: &OverviewSuite) -> bool {
        let charts = &suite.charts;
        match self {
            Self::Verdict | Self::Leaderboard | Self::Runs => true,
            Self::Audit => suite.audit.is_some(),
            Self::Abilities => suite.abilities.is_some(),
            Self::Horizons => suite.horizons.is_some(),
            Self::Published => suite.claims.is_some(),
            Self::Cost => {
                let is_spread = [&charts.cost, &charts.duration]
                    .into_iter()
                    .flatten()
                    .any(crate::views::Distribution::can_be_drawn);
                charts.spent.is_some() || charts.pareto.is_some() || is_spread
            }
            Self::Categories => suite.has_categories(),
            Self::Items => !suite.items.items.is_empty(),
            Self::Criteria => !suite.criterion_keys.is_empty(),
            Self::Pairs => !suite.pairs.is_empty(),
            Self::History => suite.history.is_some(),
        }
    }
}

/// Makes the bar that links a suite's pages. `root` is the relative path to the site's root.
pub(super) fn suite_bar(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    root: &str,
    here: SuiteTab,
) -> SuiteBar {
    let (state, settled) = (
        SuiteState::from_suite(suite),
        SuiteState::from_evidence(suite),
    );
    let tab = |tab: SuiteTab| shell::SuiteBarTab {
        word: tab.label(),
        href: format!("{root}{}", tab.page_path(place)),
        is_here: tab == here,
    };
    SuiteBar {
        label: Text::new(&place.label),
        href: format!("{root}{}", place.path()),
        signs: if state == settled {
            vec![state_sign(state)]
        } else {
            vec![state_sign(state), state_sign(settled)]
        },
        tabs: SuiteTab::ALL
            .into_iter()
            .filter(|tab| tab.has_data(suite))
            .map(tab)
            .collect(),
    }
}
