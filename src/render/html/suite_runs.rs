//! The runs of a suite.

use askama::Template;

use crate::render::phrases;

use super::SiteFile;
use super::grid::{ColumnLook, Grid, GridCellKind, SortOrder};
use super::routes::SuiteRoutes;
use super::runs::{RunListScope, run_grid};
use super::shell::{NavigationEntry, PageShell, Text};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};

/// Maximum number of runs here. The list of all runs has the others.
const MAX_RUNS: usize = 100;

/// The newest runs.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Runs",
    group: TabGroup::History,
    path: SuiteRoutes::runs_path,
    has_data: |_| true,
    pages: |inputs| Box::new(std::iter::once(render_page(inputs))),
    data: |_| Vec::new(),
};

#[derive(Template)]
#[template(path = "suite_runs.html")]
struct SuiteRunsPage {
    shell: PageShell,
    label: Text,
    said: String,
    has_more: bool,
    runs: Grid,
}

fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> SiteFile {
    let path = place.runs_path();
    let title = format!("Runs of {} · {}", place.label, context.title);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        format!("The runs of {}, newest first.", place.label),
    );
    let bar = suite_bar(suite, place, &shell.root, &place.runs_path());
    let shell = shell
        .with_suite_bar(bar)
        .with_download("data/runs.csv", "CSV");
    let (shown, all) = (suite.runs.len().min(MAX_RUNS), suite.runs.len());
    let page = SuiteRunsPage {
        label: Text::new(&place.label),
        said: if shown < all {
            format!("The newest {shown} of {}.", phrases::count_runs(all as u64))
        } else {
            format!("{}, newest first.", phrases::count_runs(all as u64))
        },
        has_more: shown < all,
        runs: run_grid(
            "runs-table",
            "Runs, newest first",
            &suite.runs.iter().take(shown).collect::<Vec<_>>(),
            plan,
            &shell.root,
            RunListScope::OneSuite,
        )
        .with_filter(""),
        shell,
    };
    SiteFile::from_template(path, &page)
}
