//! The static site: pages, assets and data files as bytes. Other modules write them.
//!
//! Every page is complete without its script, requests nothing from other servers, and has relative links only. So a folder of pages opens
//! from anywhere. Foreign text reaches a template only as `shell::Text`, and every template escapes.

mod all_pairs;
mod any_pair;
mod areas;
mod arm;
mod arm_links;
mod arm_list;
mod arm_name;
mod arm_places;
mod arms;
mod assets;
mod audit;
mod bars;
mod beside;
mod board;
mod categories;
mod chart_data;
mod charts;
mod compare;
mod cost;
mod crawlers;
mod criteria;
mod cut;
mod data;
mod diff;
mod embed;
mod figure;
mod fit;
mod forest;
mod frontier;
mod gap;
mod glossary;
mod grid;
mod heat;
mod hero;
mod history;
mod item;
mod item_order;
mod item_places;
mod items;
mod judged;
mod leaderboard;
mod leading;
mod link;
mod mark;
mod matrix;
mod method;
mod metrics;
mod overall;
mod overview;
mod pairs;
mod panes;
mod plan;
mod publish;
mod published;
mod run;
mod runs;
mod said;
mod score_details;
mod search;
mod shard;
mod shell;
mod sides;
mod single;
mod site_file;
pub(super) mod slug;
mod state;
mod stated;
mod steps;
mod strip;
mod suite;
mod suite_runs;
mod suite_tabs;
#[cfg(test)]
mod tests;
mod transcript;
mod whisker;

use serde::Serialize;

use crate::domain::Published;
use crate::views::{ItemPage, Overview, RunPage, RunTranscripts, SiteContext};

use plan::SuitePlace;

pub use beside::MOST_BESIDE;
pub use crawlers::crawler_files;
pub use plan::Plan;
pub use publish::published_files;
pub use single::{shows_runs, single_file};
pub use site_file::{SiteFile, SitePart};

/// Maximum outcomes on one page of a run, and maximum criteria on its first page.
pub const ITEMS_PER_PAGE: usize = 200;

/// Makes all files except the pages of single runs, one at a time.
pub fn site_files<'a>(
    overview: &'a Published<Overview>,
    plan: &'a Plan,
) -> impl Iterator<Item = SiteFile> + 'a {
    let suites = (0..overview.suites.len()).flat_map(|place| suite_parts(overview, plan, place));
    common_parts(overview, plan)
        .into_iter()
        .chain(suites)
        .flatten()
}

/// Makes the files about all suites, in parts that can be made in parallel.
pub fn common_parts<'a>(overview: &'a Published<Overview>, plan: &'a Plan) -> Vec<SitePart<'a>> {
    vec![
        part(|| search::pages(overview, plan)),
        part(|| runs::pages(overview, plan)),
        part(|| arm_list::pages(overview, plan)),
        part(|| arm::pages(overview, plan)),
        part(|| {
            [
                overview::page(overview, plan),
                method::page(overview, plan),
                glossary::page(overview, plan),
                cost::page(overview, plan),
            ]
        }),
        part(|| {
            overall::page(overview, plan)
                .into_iter()
                .chain(data::overall(overview))
        }),
        part(|| {
            data::boards(overview)
                .into_iter()
                .chain(data::cost(overview))
        }),
        part(|| plan.assets.files()),
    ]
}

/// Makes the files about one suite in parts that can be made in parallel. `place` is the suite's index in the overview.
pub fn suite_parts<'a>(
    overview: &'a Published<Overview>,
    plan: &'a Plan,
    place: usize,
) -> Vec<SitePart<'a>> {
    let (suite, place, context) = (
        &overview.suites[place],
        &plan.suites[place],
        &overview.context,
    );
    let mut parts: Vec<SitePart<'a>> = vec![
        part(move || item::pages(context, plan, suite, place)),
        part(move || matrix::pages(context, plan, suite, place)),
        part(move || embed::files(context, plan, suite, place)),
        part(move || said::of_suite(suite, place)),
        part(move || data::items(suite, place)),
        part(move || any_pair::files(context, plan, suite, place)),
        part(move || {
            let pages = [suite::page, leaderboard::page, suite_runs::page]
                .map(|page| page(context, plan, suite, place));
            let more = [
                pairs::page,
                audit::page,
                fit::abilities_page,
                fit::horizons_page,
                published::page,
            ];
            let more = more.map(|page| page(context, plan, suite, place));
            pages.into_iter().chain(more.into_iter().flatten())
        }),
        part(move || {
            criteria::index(context, plan, suite, place)
                .into_iter()
                .chain(data::criteria(suite, place))
        }),
        part(move || criteria::pages(context, plan, suite, place)),
        part(move || {
            charts::page(context, plan, suite, place)
                .into_iter()
                .chain(categories::page(context, plan, suite, place))
        }),
        part(move || {
            history::page(context, plan, suite, place)
                .into_iter()
                .chain(data::history(context, suite, place))
        }),
        part(move || {
            data::audit(suite, place)
                .into_iter()
                .chain(data::fits(suite, place))
                .chain(data::published(suite, place))
        }),
        part(move || {
            data::suite(context, suite, place)
                .into_iter()
                .chain(chart_data::files(suite, place))
        }),
    ];
    parts.extend(suite.pairs.iter().map(|pair| {
        part(move || {
            compare::page(context, plan, suite, place, pair)
                .into_iter()
                .chain(data::pair(context, suite, place, pair))
        })
    }));
    parts
}

/// Delays making the files until the first of them is needed.
fn part<'a, F>(make: impl FnOnce() -> F + Send + 'a) -> SitePart<'a>
where
    F: IntoIterator<Item = SiteFile, IntoIter: Send> + 'a,
{
    Box::new(std::iter::once_with(make).flatten())
}

/// Makes the pages and the data file of one run. `items` are its outcomes in pages of [`ITEMS_PER_PAGE`].
///
/// Empty if the overview lacks the run.
pub fn run_files(
    overview: &Published<Overview>,
    plan: &Plan,
    page: &Published<RunPage>,
    items: &Published<Vec<ItemPage>>,
    transcripts: &RunTranscripts,
) -> Vec<SiteFile> {
    let Some(place) = plan.runs.get(&page.line.id) else {
        return Vec::new();
    };
    let mut files = run::pages(&overview.context, plan, place, page, items, transcripts);
    files.extend(transcript::pages(
        overview,
        plan,
        place,
        page,
        items,
        transcripts,
    ));
    files.push(data::run(place, page, items));
    files
}

/// Describes as text the parts of the site, other than its runs' data, on which a suite's pages depend. Equal texts mean that only the runs
/// can change the pages. `suite` is the name, which several versions may share.
pub fn around_suite(overview: &Overview, plan: &Plan, suite: &str) -> String {
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
            (own.retracted, place.for_suite(), runs)
        })
        .collect();
    serialised(&(around(overview, plan), overview.context.aliased, places))
}

/// Describes as text what the pages of a run say of other runs: the other arms' outcomes on the items of its transcripts.
pub fn beside_run(
    overview: &Overview,
    plan: &Plan,
    page: &RunPage,
    items: &[ItemPage],
    transcripts: &RunTranscripts,
) -> String {
    let told = plan.runs.get(&page.line.id).map(|place| {
        beside::of_run(
            &overview.suites[place.suite],
            &plan.suites[place.suite],
            &page.line.arm,
            items,
            transcripts,
        )
    });
    serialised(&told)
}

/// Describes as text the parts of the site on which the pages of a suite's runs depend, but for [`beside_run`]. `place` is the suite's index
/// in the overview.
pub fn around_runs(overview: &Overview, plan: &Plan, place: usize) -> String {
    serialised(&(
        around(overview, plan),
        plan.suites.get(place).map(SuitePlace::for_runs),
    ))
}

/// Returns the parts of the site that are on every page.
fn around<'a>(overview: &'a Overview, plan: &'a Plan) -> impl Serialize + 'a {
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

fn serialised(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("places and names are JSON: their keys are text")
}
