//! A suite's leaderboard with all its columns, and the newest batches side by side.

use askama::Template;

use crate::render::{audit, summary, words};
use crate::views::{Comparison, OverviewSuite, SiteContext};

use super::arm_links::arm_rows;
use super::fit::{self, FitLink};
use super::grid::{Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};
use super::{SiteFile, board, metrics, published, stated};

#[derive(Template)]
#[template(path = "leaderboard.html")]
struct LeaderboardPage {
    shell: Shell,
    label: Text,
    board: Grid,
    /// How many arms could be first, and the address of the page that says why.
    audit: Option<(Text, String)>,
    /// What models say of the outcomes, with their pages.
    fits: Vec<FitLink>,
    /// How many published figures about the suite contradict each other, and the address of the page that lists them.
    published: Option<(Text, String)>,
    /// Since when the board counts.
    since: Option<Text>,
    notes: Vec<Text>,
    left_out: Vec<Text>,
    tables: Vec<Table>,
    /// Figures that the runs' sources published.
    stated: Option<Grid>,
}

struct Table {
    grid: Grid,
    sentences: Vec<Text>,
}

pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> SiteFile {
    let path = place.leaderboard_path();
    let title = format!("{}: leaderboard · {}", place.label, context.title);
    let about = format!("All arms of {} with all their figures.", place.label);
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about)
        .downloads(&place.data("suites"));
    let bar = bar(suite, place, &shell.root, Tab::Leaderboard);
    let shell = shell.of_suite(bar);
    let page = LeaderboardPage {
        label: Text::new(&place.label),
        board: board_grid(suite, place, plan, &shell.root),
        audit: suite.audit.as_ref().map(|audit| {
            (
                Text::from(audit::could_be_first(audit)),
                format!("{}{}", shell.root, place.audit_path()),
            )
        }),
        fits: fit::links(suite, place, &shell.root),
        published: published::link(suite, place, &shell.root),
        since: board::since(&suite.board),
        notes: board::notes(&suite.board)
            .into_iter()
            .map(Text::from)
            .collect(),
        left_out: board::left_out(&suite.board)
            .into_iter()
            .map(Text::from)
            .collect(),
        tables: (1..)
            .zip(&suite.tables)
            .map(|(number, table)| self::table(number, table, plan, &shell.root))
            .collect(),
        stated: stated::of_suite(suite, plan, &shell.root),
        shell,
    };
    SiteFile::page(path, &page)
}

/// Lays out the board. Names link to the arms' pages, and two rows can be ticked.
fn board_grid(suite: &OverviewSuite, place: &SuitePlace, plan: &Plan, root: &str) -> Grid {
    let mut grid = board::grid(&suite.board, "board", "Arms by pass rate")
        .about(board::common(&suite.board).unwrap_or_default())
        .chosen(&[
            "Rank",
            words::metric_label(&suite.board.primary),
            "n",
            "Cost per solved",
            "Duration",
        ]);
    arm_rows(
        &mut grid,
        suite.board.entries.iter().map(|entry| &entry.arm),
        (suite, place),
        plan,
        root,
    );
    grid
}

fn table(number: usize, comparison: &Comparison, plan: &Plan, root: &str) -> Table {
    let caption = match &comparison.source {
        Some(source) => format!("All arms, from {source}"),
        None => "All arms".to_owned(),
    };
    let sentences = summary::summary_sentences(comparison)
        .into_iter()
        .chain(metrics::notes(comparison));
    Table {
        grid: metrics::grid(
            comparison,
            &format!("newest-{number}"),
            &caption,
            plan,
            root,
        ),
        sentences: sentences.map(Text::from).collect(),
    }
}
