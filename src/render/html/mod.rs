//! The static site: pages, assets and data files as bytes. Writing them is not done here.
//!
//! Every page is complete without its script, calls nobody, and is linked by relative addresses only, so that a folder of them opens from
//! anywhere. Foreign text reaches a template only as `shell::Text`, and every template escapes.

mod assets;
mod board;
mod chart_data;
mod charts;
mod compare;
mod cost;
mod crawlers;
mod criteria;
mod data;
mod diff;
mod figure;
mod forest;
mod glossary;
mod grid;
mod history;
mod item;
mod items;
mod judged;
mod matrix;
mod method;
mod metrics;
mod overview;
mod picture;
mod plan;
mod publish;
mod run;
mod runs;
mod search;
mod shell;
mod sides;
mod single;
mod slug;
mod stated;
mod suite;
#[cfg(test)]
mod tests;
mod transcript;
mod whisker;

use askama::Template;

use crate::views::{ItemPage, Overview, RunPage, RunTranscripts};

pub use crawlers::crawler_files;
pub use plan::Plan;
pub use publish::published_files;
pub use single::single_file;

/// One file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Relative to the site's root, with `/` between its parts.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl SiteFile {
    fn page(path: String, template: &impl Template) -> Self {
        let text = template.render().expect("a template of text and numbers writes into memory");
        Self { path, bytes: text.into_bytes() }
    }
}

/// How the names of pages end.
const PAGE_ENDING: &str = ".html";

/// Outcomes on one page of a run, and criteria on its first.
pub const ITEMS_PER_PAGE: usize = 200;

/// Makes everything but the pages of single runs, one file at a time.
pub fn site_files<'a>(overview: &'a Overview, plan: &'a Plan) -> impl Iterator<Item = SiteFile> + 'a {
    let suites = overview.suites.iter().zip(&plan.suites);
    let pages = std::iter::once_with(|| overview::page(overview, plan))
        .chain(std::iter::once_with(|| method::page(overview, plan)))
        .chain(std::iter::once_with(|| glossary::page(overview, plan)))
        .chain(std::iter::once_with(|| cost::page(overview, plan)))
        .chain(std::iter::once_with(|| data::cost(overview)));
    let of_suites = suites.flat_map(move |(suite, place)| {
        let pairs = suite.pairs.iter().flat_map(move |pair| {
            [compare::page(&overview.context, plan, suite, place, pair), data::pair(&overview.context, place, pair)].into_iter().flatten()
        });
        std::iter::once_with(move || suite::page(&overview.context, plan, suite, place))
            .chain(suite::pairs(&overview.context, plan, suite, place))
            .chain(criteria::index(&overview.context, plan, suite, place))
            .chain(criteria::pages(&overview.context, plan, suite, place))
            .chain(data::criteria(suite, place))
            .chain(charts::page(&overview.context, plan, suite, place))
            .chain(history::page(&overview.context, plan, suite, place))
            .chain(data::history(&overview.context, suite, place))
            .chain(matrix::pages(&overview.context, plan, suite, place))
            .chain(item::pages(&overview.context, plan, suite, place))
            .chain(data::items(suite, place))
            .chain(data::suite(suite, place))
            .chain(chart_data::files(suite, place))
            .chain(pairs)
    });
    pages
        .chain(of_suites)
        .chain(runs::pages(overview, plan))
        .chain(search::pages(overview, plan))
        .chain(data::boards(overview))
        .chain(plan.assets.files())
}

/// Makes the pages and the data file of one run. `items` are its outcomes in pages of [`ITEMS_PER_PAGE`].
///
/// Nothing for a run that is not among the overview's.
pub fn run_files(overview: &Overview, plan: &Plan, page: &RunPage, items: &[ItemPage], transcripts: &RunTranscripts) -> Vec<SiteFile> {
    let Some(place) = plan.runs.get(&page.line.id) else { return Vec::new() };
    let mut files = run::pages(&overview.context, plan, place, page, items, transcripts);
    files.extend(transcript::pages(&overview.context, plan, place, page, transcripts));
    files.push(data::run(place, page, items));
    files
}
