//! The board over all suites.

use askama::Template;

use crate::render::overall::{leader_headline, suite_means_table};
use crate::render::table::ColumnVisibility;
use crate::views::{Arm, Overview, SuiteWeight};

use super::SiteFile;
use super::arm_links::link_arms;
use super::grid::{ColumnLook, Grid, GridCell, GridCellKind, GridColumn, SortOrder};
use super::routes::SiteRoutes;
use super::shell::{NavigationEntry, PageShell, Text};

pub(super) const PAGE_PATH: &str = "overall.html";

#[derive(Template)]
#[template(path = "overall.html")]
struct OverallPage {
    shell: PageShell,
    said: Text,
    board: Grid,
    notes: Vec<Text>,
    weights: Grid,
}

/// Makes the page, or `None` if no two arms share two suites.
pub(super) fn render_page(overview: &Overview, plan: &SiteRoutes) -> Option<SiteFile> {
    let overall = overview.overall.as_ref()?;
    let context = &overview.context;
    let said = leader_headline(overall)?;
    let title = format!("Board over suites · {}", context.title);
    let shell = PageShell::new(
        context,
        &plan.assets,
        PAGE_PATH,
        NavigationEntry::Below,
        title,
        format!("{said}."),
    )
    .with_downloads("data/overall")
    .with_footer(context);
    let board = suite_means_table(overall);
    let mut grid = Grid::from_all_columns(
        &board.seen_as(ColumnVisibility::Pages),
        "overall",
        "Arms by their mean over suites",
    );
    let arms: Vec<&Arm> = overall.entries.iter().map(|entry| &entry.arm).collect();
    link_arms(&mut grid, 0, arms, plan, &shell.root);
    let suites = &overall.weights;
    let mut weights = Grid::new("weights", "Suites of the mean").fit_to_content();
    let place = |suite: &SuiteWeight| {
        let place = overview
            .suites
            .iter()
            .position(|own| own.board.suite == suite.suite);
        GridCell::head(suite.suite.as_str()).with_link(place.map(|place| plan.suites[place].path()))
    };
    weights.add_column(
        GridColumn::new("Suite", ColumnLook::Key, SortOrder::Ascending),
        suites.iter().map(place),
    );
    let share = |suite: &SuiteWeight| {
        GridCell::number(
            crate::render::format::percent(suite.weight, 1_000),
            suite.weight,
        )
    };
    weights.add_column(
        GridColumn::new("Weight", ColumnLook::Number, SortOrder::Descending),
        suites.iter().map(share),
    );
    let page = OverallPage {
        said: Text::from(said),
        board: grid.with_filter(""),
        notes: board.notes.iter().map(|note| Text::new(note)).collect(),
        weights,
        shell,
    };
    Some(SiteFile::from_template(PAGE_PATH.to_owned(), &page))
}
