//! The runs of a suite.

use askama::Template;

use crate::render::words;
use crate::views::{OverviewSuite, SiteContext};

use super::SiteFile;
use super::grid::{Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::runs::{Of, run_grid};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};

/// Maximum number of runs here. The list of all runs has the others.
const MOST: usize = 100;

#[derive(Template)]
#[template(path = "suite_runs.html")]
struct SuiteRuns {
    shell: Shell,
    label: Text,
    said: String,
    has_more: bool,
    runs: Grid,
}

pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> SiteFile {
    let path = place.runs_path();
    let title = format!("Runs of {} · {}", place.label, context.title);
    let shell = Shell::new(
        context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        format!("The runs of {}, newest first.", place.label),
    );
    let bar = bar(suite, place, &shell.root, Tab::Runs);
    let shell = shell.of_suite(bar).download("data/runs.csv", "CSV");
    let (shown, all) = (suite.runs.len().min(MOST), suite.runs.len());
    let page = SuiteRuns {
        label: Text::new(&place.label),
        said: if shown < all {
            format!("The newest {shown} of {}.", words::count_runs(all as u64))
        } else {
            format!("{}, newest first.", words::count_runs(all as u64))
        },
        has_more: shown < all,
        runs: run_grid(
            "runs-table",
            "Runs, newest first",
            &suite.runs.iter().take(shown).collect::<Vec<_>>(),
            plan,
            &shell.root,
            Of::OneSuite,
        )
        .filtered(""),
        shell,
    };
    SiteFile::page(path, &page)
}
