//! The static site: pages, assets and data files as bytes. Other modules write them.
//!
//! Every page is complete without its script, requests nothing from other servers, and has relative links only. So a folder of pages opens
//! from anywhere. Foreign text reaches a template only as `shell::Text`, and every template escapes.

mod all_pairs;
mod answer_index;
mod any_pair;
mod areas;
mod arm;
mod arm_links;
mod arm_list;
mod arm_name;
mod arm_routes;
mod arms;
mod assets;
mod audit;
mod board;
mod categories;
mod chart_data;
mod charts;
mod compare;
mod cost;
mod crawlers;
mod criteria;
mod criteria_data;
mod cut;
mod data;
mod diff;
mod difference_axis;
mod difference_plot;
mod dot_labels;
mod embed;
mod figure;
mod fit;
mod forest;
mod frontier;
mod glossary;
mod grid;
mod heat;
mod hero;
mod history;
mod interval_bar;
mod item;
mod item_order;
mod item_places;
mod items;
mod judged;
mod last_night;
mod leaderboard;
mod link;
mod mark;
mod matrix;
mod method;
mod metrics;
mod other_outcomes;
mod overall;
mod overview;
mod pairs;
mod publish;
mod published;
mod routes;
mod run;
mod runs;
mod score_details;
mod search;
mod shard;
mod shell;
mod sides;
mod single;
mod site_file;
pub(super) mod slug;
mod small_multiples;
mod state;
mod stated;
mod steps;
mod suite;
mod suite_runs;
mod suite_tabs;
mod tab_group;
#[cfg(test)]
mod tests;
mod top_pair;
mod transcript;
mod trend_line;
mod whisker;

use serde::Serialize;

use crate::domain::Redacted;
use crate::views::{ItemPage, Overview, RunPage, RunTranscripts, SiteContext};

use routes::SuiteRoutes;
use suite_tabs::{SuitePage, SuitePageInputs};

pub use crawlers::crawler_files;
pub use other_outcomes::MAX_BESIDE;
pub use publish::badge_and_feed_files;
pub use routes::SiteRoutes;
pub use single::{shows_runs, single_file};
pub use site_file::{SiteFile, SitePart};

/// The pages of a suite, in the order of its bar. A new page is a file here, a `mod` and a line.
const SUITE_PAGES: [&SuitePage; 13] = [
    &suite::PAGE,
    &leaderboard::PAGE,
    &audit::PAGE,
    &fit::ABILITIES_PAGE,
    &fit::HORIZONS_PAGE,
    &published::PAGE,
    &charts::PAGE,
    &matrix::PAGE,
    &categories::PAGE,
    &criteria::PAGE,
    &pairs::PAGE,
    &history::PAGE,
    &suite_runs::PAGE,
];

/// Maximum outcomes on one page of a run, and maximum criteria on its first page.
pub const ITEMS_PER_PAGE: usize = 200;

/// Decides the addresses of all pages.
pub fn plan_site(overview: &Overview) -> SiteRoutes {
    SiteRoutes::new(overview, |suite, place| {
        SUITE_PAGES
            .iter()
            .filter_map(|page| page.tab_of(suite, place))
            .collect()
    })
}

/// Makes all files except the pages of single runs, one at a time.
pub fn site_files<'a>(
    overview: &'a Redacted<Overview>,
    plan: &'a SiteRoutes,
) -> impl Iterator<Item = SiteFile> + 'a {
    let suites = (0..overview.suites.len()).flat_map(|place| suite_parts(overview, plan, place));
    common_parts(overview, plan)
        .into_iter()
        .chain(suites)
        .flatten()
}

/// Makes the files about all suites, in parts that can be made in parallel.
pub fn common_parts<'a>(
    overview: &'a Redacted<Overview>,
    plan: &'a SiteRoutes,
) -> Vec<SitePart<'a>> {
    vec![
        defer_files(|| search::render_pages(overview, plan)),
        defer_files(|| runs::render_pages(overview, plan)),
        defer_files(|| arm_list::render_pages(overview, plan)),
        defer_files(|| arm::render_pages(overview, plan)),
        defer_files(|| {
            overview::render_files(overview, plan).into_iter().chain([
                method::render_page(overview, plan),
                glossary::render_page(overview, plan),
                cost::render_page(overview, plan),
            ])
        }),
        defer_files(|| {
            overall::render_page(overview, plan)
                .into_iter()
                .chain(data::overall_files(overview))
        }),
        defer_files(|| {
            data::leaderboard_files(overview)
                .into_iter()
                .chain(data::cost_files(overview))
        }),
        defer_files(|| plan.assets.files()),
    ]
}

/// Makes the files about one suite in parts that can be made in parallel. `place` is the suite's index in the overview.
pub fn suite_parts<'a>(
    overview: &'a Redacted<Overview>,
    plan: &'a SiteRoutes,
    place: usize,
) -> Vec<SitePart<'a>> {
    let (suite, place, context) = (
        &overview.suites[place],
        &plan.suites[place],
        &overview.context,
    );
    let inputs = SuitePageInputs {
        context,
        plan,
        suite,
        place,
    };
    let mut parts: Vec<SitePart<'a>> = vec![
        defer_files(move || item::render_pages(context, plan, suite, place)),
        defer_files(move || embed::render_files(context, plan, suite, place)),
        defer_files(move || answer_index::suite_file(suite, place)),
        defer_files(move || any_pair::render_files(context, plan, suite, place)),
    ];
    parts.extend(
        SUITE_PAGES
            .iter()
            .map(|page| defer_files(move || (page.pages)(inputs).chain((page.data)(inputs)))),
    );
    parts.extend(suite.pairs.iter().map(|pair| {
        defer_files(move || {
            compare::render_page(context, plan, suite, place, pair)
                .into_iter()
                .chain(data::pair_files(context, suite, place, pair))
        })
    }));
    parts
}

/// Delays making the files until the first of them is needed.
fn defer_files<'a, F>(make: impl FnOnce() -> F + Send + 'a) -> SitePart<'a>
where
    F: IntoIterator<Item = SiteFile, IntoIter: Send> + 'a,
{
    Box::new(std::iter::once_with(make).flatten())
}

/// Makes the pages and the data file of one run. `items` are its outcomes in pages of [`ITEMS_PER_PAGE`].
///
/// Empty if the overview lacks the run.
pub fn run_files(
    overview: &Redacted<Overview>,
    plan: &SiteRoutes,
    page: &Redacted<RunPage>,
    items: &Redacted<Vec<ItemPage>>,
    transcripts: &RunTranscripts,
) -> Vec<SiteFile> {
    let Some(place) = plan.runs.get(&page.line.id) else {
        return Vec::new();
    };
    let mut files = run::render_pages(&overview.context, plan, place, page, items, transcripts);
    files.extend(transcript::render_pages(
        overview,
        plan,
        place,
        page,
        items,
        transcripts,
    ));
    files.push(data::run_file(place, page, items));
    files
}

/// Describes as text the parts of the site, other than its runs' data, on which a suite's pages depend. Equal texts mean that only the runs
/// can change the pages. `suite` is the name, which several versions may share.
pub fn suite_dependencies(overview: &Overview, plan: &SiteRoutes, suite: &str) -> String {
    let versions = overview
        .suites
        .iter()
        .zip(&plan.suites)
        .filter(|(own, _)| own.board.suite == suite);
    let places: Vec<_> = versions
        .map(|(own, place)| {
            let runs: Vec<Option<&str>> = own
                .runs
                .iter()
                .map(|run| plan.run_segment(&run.id))
                .collect();
            (own.retracted, place.suite_dependencies(), runs)
        })
        .collect();
    to_json_text(&(
        site_dependencies(overview, plan),
        overview.context.aliased,
        places,
    ))
}

/// Describes as text what the pages of a run say of other runs: the other arms' outcomes on the items of its transcripts.
pub fn other_outcome_dependencies(
    overview: &Overview,
    plan: &SiteRoutes,
    page: &RunPage,
    items: &[ItemPage],
    transcripts: &RunTranscripts,
) -> String {
    let told = plan.runs.get(&page.line.id).map(|place| {
        other_outcomes::other_outcomes_for_run(
            &overview.suites[place.suite],
            &plan.suites[place.suite],
            &page.line.arm,
            items,
            transcripts,
        )
    });
    to_json_text(&told)
}

/// Describes as text the parts of the site on which the pages of a suite's runs depend, but for [`other_outcome_dependencies`]. `place` is the suite's index
/// in the overview.
pub fn run_dependencies(overview: &Overview, plan: &SiteRoutes, place: usize) -> String {
    to_json_text(&(
        site_dependencies(overview, plan),
        plan.suites.get(place).map(SuiteRoutes::run_dependencies),
    ))
}

/// Returns the parts of the site that are on every page.
fn site_dependencies<'a>(overview: &'a Overview, plan: &'a SiteRoutes) -> impl Serialize + 'a {
    // The ignored fields are only on pages about all suites, see `shell::Foot`, or in a suite's data.
    let SiteContext {
        title,
        base_url,
        noindex,
        version,
        data_digest: _,
        newest: _,
        retracted: _,
        aliased: _,
        problems: _,
        results: _,
    } = &overview.context;
    (title, base_url, noindex, version, &plan.assets, &plan.arms)
}

fn to_json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("places and names are JSON: their keys are text")
}
