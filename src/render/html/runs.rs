//! The list of all runs.

use askama::Template;

use crate::render::{format, words};
use crate::views::{Overview, RunLine};

use super::SiteFile;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::plan::Plan;
use super::shell::{Here, Shell};

/// Runs on one page.
const PER_PAGE: usize = 200;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    shell: Shell,
    heading: String,
    about: String,
    grid: Grid,
    pager: Option<Pager>,
}

/// The way to the neighbouring pages.
#[derive(Clone, Debug)]
pub(super) struct Pager {
    pub previous: Option<String>,
    pub next: Option<String>,
    pub place: String,
}

impl Pager {
    /// Nothing for a single page. `name` gives a page's address by its number.
    pub fn new(page: u64, pages: u64, name: impl Fn(u64) -> String) -> Option<Self> {
        (pages > 1).then(|| Self {
            previous: (page > 1).then(|| name(page - 1)),
            next: (page < pages).then(|| name(page + 1)),
            place: format!("Page {} of {}", format::integer(page), format::integer(pages)),
        })
    }
}

pub(super) fn pages(overview: &Overview, plan: &Plan) -> Vec<SiteFile> {
    let runs = overview.runs_by_name();
    let name = |page: u64| if page == 1 { "index.html".to_owned() } else { format!("p{page:04}.html") };
    let chunks: Vec<&[&RunLine]> = if runs.is_empty() { vec![&[]] } else { runs.chunks(PER_PAGE).collect() };
    let count = chunks.len() as u64;
    (1..)
        .zip(chunks)
        .map(|(page, chunk)| {
            let path = format!("runs/{}", name(page));
            let heading = if page == 1 { "All runs".to_owned() } else { format!("All runs, page {page}") };
            let title = format!("{heading} · {}", overview.context.title);
            let shell = Shell::new(&overview.context, &plan.assets, &path, Here::Runs, title, "Every run, by suite, approach and model.")
                .download("data/runs.csv", "CSV")
                .foot(&overview.context);
            let lines: Vec<RunLine> = chunk.iter().map(|run| (*run).clone()).collect();
            let grid = run_grid("runs-table", "Runs by suite and arm", &lines, plan, &shell.root, Of::AllSuites);
            let within = if count > 1 { "on this page" } else { "" };
            let page = RunsPage {
                about: format!("{} runs.", format::integer(runs.len() as u64)),
                grid: grid.filtered(within),
                pager: Pager::new(page, count, name),
                heading,
                shell,
            };
            SiteFile::page(path, &page)
        })
        .collect()
}

/// Which runs are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    OneSuite,
    /// Each line names its suite.
    AllSuites,
}

/// Lists runs with links to their pages. Columns that no run has a value for are left out.
pub(super) fn run_grid(id: &str, caption: &str, runs: &[RunLine], plan: &Plan, root: &str, of: Of) -> Grid {
    let any = |has: &dyn Fn(&RunLine) -> bool| runs.iter().any(has);
    let each = |cell: &dyn Fn(&RunLine) -> Cell| runs.iter().map(cell).collect::<Vec<Cell>>();
    let mut grid = Grid::new(id, caption);
    let link = |run: &RunLine| Cell::head(run.id.as_str()).link(plan.run_path(&run.id).map(|path| format!("{root}{path}")));
    grid.column(Column::new("Run", Look::Key, Sort::Ascending), each(&link));
    if of == Of::AllSuites {
        let suite = |run: &RunLine| {
            let place = plan.runs.get(&run.id).map(|place| &plan.suites[place.suite]);
            let label = place.map_or(run.suite.as_str(), |place| place.label.as_str());
            Cell::name(label).link(place.map(|place| format!("{root}{}", place.path())))
        };
        grid.column(Column::new("Suite", Look::Words, Sort::Ascending), each(&suite));
    }
    grid.column(Column::new("Arm", Look::Words, Sort::Ascending), each(&|run| Cell::name(words::arm_name(&run.arm))));
    grid.column(Column::new("Status", Look::Words, Sort::Ascending), each(&|run| Cell::words(run.status.as_str())));
    let passed = |run: &RunLine| match run.passed.zip(run.total) {
        Some((passed, total)) if total > 0 => {
            let share = passed as f64 / total as f64;
            Cell::number(format!("{}/{} ({})", format::integer(passed), format::integer(total), format::percent(share, total)), share)
        }
        Some(_) | None => Cell::unknown("unknown"),
    };
    grid.column(Column::new("Passed", Look::Number, Sort::Descending), each(&passed));
    if any(&|run| run.cost.is_some()) {
        grid.column(
            Column::new("Cost", Look::Number, Sort::Ascending),
            each(&|run| Cell::maybe(run.cost.as_ref().map(|money| (words::money(money), money.usd)))),
        );
    }
    if any(&|run| run.tokens.is_some()) {
        let tokens = |run: &RunLine| Cell::maybe(run.tokens.map(|tokens| (format::fixed(tokens, 0), tokens)));
        grid.column(Column::new("Tokens", Look::Number, Sort::Ascending), each(&tokens));
    }
    if any(&|run| run.duration_seconds.is_some()) {
        let duration = |run: &RunLine| Cell::maybe(run.duration_seconds.map(|seconds| (format::seconds(seconds), seconds)));
        grid.column(Column::new("Duration", Look::Number, Sort::Ascending), each(&duration));
    }
    if any(&|run| run.timestamp.is_some()) {
        grid.column(Column::new("Ended", Look::Words, Sort::Descending), each(&|run| Cell::time(run.timestamp.as_ref())));
    }
    if any(&|run| run.source.is_some()) {
        let source = |run: &RunLine| Cell::words(run.source.as_deref().unwrap_or_default());
        grid.column(Column::new("Imported from", Look::Words, Sort::Ascending), each(&source));
    }
    grid
}
