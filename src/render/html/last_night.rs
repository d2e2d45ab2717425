//! The line about the newest night on the overview.

use crate::render::{format, phrases};
use crate::views::{NightExtreme, NightOfArm, Overview};

use super::routes::SiteRoutes;
use super::shell::Text;

/// Maximum number of arms in the line. The pages on nights have all.
const MAX_NIGHTLY_ARMS: usize = 4;

/// The newest night in words.
pub(super) struct LastNightLine {
    pub date: String,
    pub arms: Vec<NightlyArm>,
    /// Arms that ran and are not named.
    pub others: Option<String>,
}

pub(super) struct NightlyArm {
    /// The arm with its suite.
    pub name: Text,
    /// Address of the suite's page on nights.
    pub href: String,
    pub rate: String,
    /// `lowest of 24 nights`, or the rate of the night before.
    pub said: String,
    pub is_extreme: bool,
}

/// Describes the newest night, or returns `None` if no arm has two nights.
pub(super) fn describe(overview: &Overview, plan: &SiteRoutes) -> Option<LastNightLine> {
    let night = overview.last_night()?;
    let rest = night.arms.len().saturating_sub(MAX_NIGHTLY_ARMS) as u64;
    Some(LastNightLine {
        date: night.date.to_string(),
        arms: night
            .arms
            .iter()
            .take(MAX_NIGHTLY_ARMS)
            .map(|arm| describe_arm(overview, plan, arm))
            .collect(),
        others: (rest > 0).then(|| phrases::count_with_noun(rest, "other arms")),
    })
}

fn describe_arm(overview: &Overview, plan: &SiteRoutes, night: &NightOfArm<'_>) -> NightlyArm {
    let (suite, place) = (&overview.suites[night.suite], &plan.suites[night.suite]);
    let n = night.rate.total.unwrap_or(night.rate.n).max(night.rate.n);
    let nights = phrases::count_with_noun(night.nights as u64, "nights");
    let since = night
        .since
        .map_or_else(String::new, |date| format!(" since {date}"));
    let said = match night.extreme {
        Some(NightExtreme::Lowest) => format!("lowest of {nights}{since}"),
        Some(NightExtreme::Highest) => format!("highest of {nights}{since}"),
        None => format!("{} the night before", format::percent(night.before, n)),
    };
    NightlyArm {
        name: Text::from(format!(
            "{} on {}",
            phrases::arm_namer(&suite.board)(night.arm),
            place.label
        )),
        href: place.history_path(),
        rate: format::percent(night.rate.value, n),
        said,
        is_extreme: night.extreme.is_some(),
    }
}
