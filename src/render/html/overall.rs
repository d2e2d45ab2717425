//! The board over all suites.

use askama::Template;

use crate::render::overall::{headline, table};
use crate::render::table::Seen;
use crate::views::{Arm, Overview, SuiteWeight};

use super::SiteFile;
use super::arm_links::link_arms;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::plan::Plan;
use super::shell::{Here, Shell, Text};

pub(super) const PATH: &str = "overall.html";

#[derive(Template)]
#[template(path = "overall.html")]
struct OverallPage {
    shell: Shell,
    said: Text,
    board: Grid,
    notes: Vec<Text>,
    weights: Grid,
}

/// Makes the page, or `None` if no two arms share two suites.
pub(super) fn page(overview: &Overview, plan: &Plan) -> Option<SiteFile> {
    let overall = overview.overall.as_ref()?;
    let context = &overview.context;
    let said = headline(overall)?;
    let title = format!("Board over suites · {}", context.title);
    let shell = Shell::new(
        context,
        &plan.assets,
        PATH,
        Here::Below,
        title,
        format!("{said}."),
    )
    .downloads("data/overall")
    .foot(context);
    let board = table(overall);
    let mut grid = Grid::of_seen(
        &board.seen_as(Seen::Pages),
        "overall",
        "Arms by their mean over suites",
    );
    let arms: Vec<&Arm> = overall.entries.iter().map(|entry| &entry.arm).collect();
    link_arms(&mut grid, 0, arms, plan, &shell.root);
    let suites = &overall.weights;
    let mut weights = Grid::new("weights", "Suites of the mean").fits();
    let place = |suite: &SuiteWeight| {
        let place = overview
            .suites
            .iter()
            .position(|own| own.board.suite == suite.suite);
        Cell::head(suite.suite.as_str()).link(place.map(|place| plan.suites[place].path()))
    };
    weights.column(
        Column::new("Suite", Look::Key, Sort::Ascending),
        suites.iter().map(place),
    );
    let share = |suite: &SuiteWeight| {
        Cell::number(
            crate::render::format::percent(suite.weight, 1_000),
            suite.weight,
        )
    };
    weights.column(
        Column::new("Weight", Look::Number, Sort::Descending),
        suites.iter().map(share),
    );
    let page = OverallPage {
        said: Text::from(said),
        board: grid.filtered(""),
        notes: board.notes.iter().map(|note| Text::new(note)).collect(),
        weights,
        shell,
    };
    Some(SiteFile::page(PATH.to_owned(), &page))
}
