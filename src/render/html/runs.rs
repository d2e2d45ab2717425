//! The list of all runs.

use askama::Template;

use crate::render::run_title::{run_title, short_id};
use crate::render::{format, tables};
use crate::views::{Overview, RunLine};

use super::SiteFile;
use super::grid::{ColumnLook, Grid, GridCell, GridCellKind, SortOrder};
use super::routes::SiteRoutes;
use super::shell::{NavigationEntry, PageShell};

/// Runs per page.
const RUNS_PER_PAGE: usize = 180;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    shell: PageShell,
    heading: String,
    about: String,
    grid: Grid,
    pager: Option<Pager>,
}

/// Links to the previous and the next page.
#[derive(Clone, Debug)]
pub(super) struct Pager {
    pub previous: Option<String>,
    pub next: Option<String>,
    pub place: String,
}

impl Pager {
    /// Creates the links, or returns `None` for a single page. `name` returns a page's address by its number.
    pub fn new(page: u64, pages: u64, name: impl Fn(u64) -> String) -> Option<Self> {
        (pages > 1).then(|| Self {
            previous: (page > 1).then(|| name(page - 1)),
            next: (page < pages).then(|| name(page + 1)),
            place: format!(
                "Page {} of {}",
                format::format_integer(page),
                format::format_integer(pages)
            ),
        })
    }
}

pub(super) fn render_pages(overview: &Overview, plan: &SiteRoutes) -> Vec<SiteFile> {
    let runs = overview.runs_newest_first();
    let name = |page: u64| {
        if page == 1 {
            "index.html".to_owned()
        } else {
            format!("p{page:04}.html")
        }
    };
    let chunks: Vec<&[&RunLine]> = if runs.is_empty() {
        vec![&[]]
    } else {
        runs.chunks(RUNS_PER_PAGE).collect()
    };
    let count = chunks.len() as u64;
    (1..)
        .zip(chunks)
        .map(|(page, chunk)| {
            let path = format!("runs/{}", name(page));
            let heading = if page == 1 {
                "All runs".to_owned()
            } else {
                format!("All runs, page {page}")
            };
            let title = format!("{heading} · {}", overview.context.title);
            let shell = PageShell::new(
                &overview.context,
                &plan.assets,
                &path,
                NavigationEntry::Runs,
                title,
                "Every run, newest first.",
            )
            .with_download("data/runs.csv", "CSV")
            .with_download("data/runs.md", "Markdown")
            .with_footer(&overview.context);
            let grid = run_grid(
                "runs-table",
                "Runs, newest first",
                chunk,
                plan,
                &shell.root,
                RunListScope::AllSuites,
            );
            let within = if count > 1 { "on this page" } else { "" };
            let page = RunsPage {
                about: format!("{} runs.", format::format_integer(runs.len() as u64)),
                grid: grid.with_filter(within),
                pager: Pager::new(page, count, name),
                heading,
                shell,
            };
            SiteFile::from_template(path, &page)
        })
        .collect()
}

/// Scope of a list of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunListScope {
    OneSuite,
    /// Each row names its suite.
    AllSuites,
    /// Each row names its suite, and not the arm.
    OneArm,
}

/// Lists runs with links to their pages and their suites' pages.
pub(super) fn run_grid(
    id: &str,
    caption: &str,
    runs: &[&RunLine],
    plan: &SiteRoutes,
    root: &str,
    of: RunListScope,
) -> Grid {
    let mut table = tables::runs_table(runs.iter().copied());
    if of == RunListScope::OneSuite {
        let suite: Vec<usize> = table
            .columns
            .iter()
            .position(|column| column.keys == ["suite"])
            .into_iter()
            .collect();
        table.drop_columns(&suite);
    }
    let arm = usize::from(of != RunListScope::OneSuite) + 1;
    if of == RunListScope::OneArm {
        table.drop_columns(&[arm]);
    }
    let mut grid = Grid::from_table(&table, id, caption);
    for (row, run) in grid.rows.iter_mut().zip(runs) {
        if let Some(head) = row.first_mut() {
            let link = plan.run_path(&run.id).map(|path| format!("{root}{path}"));
            *head = match plan.run_turn(&run.id) {
                // A suite's own page may list hundreds of runs and has no room for ids.
                Some(turn) if of == RunListScope::OneSuite => {
                    GridCell::head(run_title(&run.arm, turn)).with_link(link)
                }
                Some(turn) => GridCell::head(run_title(&run.arm, turn))
                    .with_subtext(short_id(&run.id))
                    .with_link(link),
                None => GridCell::head(run.id.as_str()).with_link(link),
            };
        }
        if let (RunListScope::AllSuites | RunListScope::OneArm, Some(suite)) = (of, row.get_mut(1))
        {
            let place = plan
                .runs
                .get(&run.id)
                .map(|place| &plan.suites[place.suite]);
            let label = place.map_or(run.suite.as_str(), |place| place.label.as_str());
            *suite = GridCell::name(label)
                .with_link(place.map(|place| format!("{root}{}", place.path())));
        }
        if of != RunListScope::OneArm
            && let Some(arm) = row.get_mut(arm)
        {
            arm.kind = GridCellKind::Name;
            arm.href = plan.arm_href(root, &run.arm);
            arm.tone = plan.arm_tone(&run.arm);
        }
    }
    grid
}
