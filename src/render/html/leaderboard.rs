//! A suite's leaderboard with all its columns, and the newest batches side by side.

use askama::Template;

use crate::render::{audit, board as render_board, summary};
use crate::views::{Comparison, OverviewSuite};

use super::arm_links::link_arm_rows;
use super::fit::{self, FitLink};
use super::grid::{ColumnLook, Grid, GridCellKind, SortOrder};
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};
use super::{SiteFile, board, metrics, published, stated};

/// The board with all columns.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Leaderboard",
    group: TabGroup::Verdict,
    path: SuiteRoutes::leaderboard_path,
    has_data: |_| true,
    pages: |inputs| Box::new(std::iter::once(render_page(inputs))),
    data: |_| Vec::new(),
};

#[derive(Template)]
#[template(path = "leaderboard.html")]
struct LeaderboardPage {
    shell: PageShell,
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
    tables: Vec<BatchTable>,
    /// Figures that the runs' sources published.
    stated: Option<Grid>,
}

struct BatchTable {
    grid: Grid,
    sentences: Vec<Text>,
}

fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> SiteFile {
    let path = place.leaderboard_path();
    let title = format!("{}: leaderboard · {}", place.label, context.title);
    let about = format!("All arms of {} with all their figures.", place.label);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        about,
    )
    .with_downloads(&place.data_stem("suites"));
    let bar = suite_bar(suite, place, &shell.root, &place.leaderboard_path());
    let shell = shell.with_suite_bar(bar);
    let page = LeaderboardPage {
        label: Text::new(&place.label),
        board: board_grid(suite, place, plan, &shell.root),
        audit: suite.audit.as_ref().map(|audit| {
            (
                Text::from(audit::possible_first_places(audit)),
                format!("{}{}", shell.root, place.audit_path()),
            )
        }),
        fits: fit::page_links(suite, place, &shell.root),
        published: published::contradictions_link(suite, place, &shell.root),
        since: board::since_sentence(&suite.board),
        notes: board::list_notes(&suite.board)
            .into_iter()
            .map(Text::from)
            .collect(),
        left_out: board::list_exclusions(&suite.board)
            .into_iter()
            .map(Text::from)
            .collect(),
        tables: (1..)
            .zip(&suite.tables)
            .map(|(number, table)| self::build_batch_table(number, table, plan, &shell.root))
            .collect(),
        stated: stated::published_figures_of_suite(suite, plan, &shell.root),
        shell,
    };
    SiteFile::from_template(path, &page)
}

/// Lays out the board. Names link to the arms' pages, and two rows can be ticked.
fn board_grid(suite: &OverviewSuite, place: &SuiteRoutes, plan: &SiteRoutes, root: &str) -> Grid {
    let mut grid = board::build_grid(&suite.board, "board", &render_board::caption(&suite.board))
        .with_about(board::name_shared_part(&suite.board).unwrap_or_default())
        .hide_columns_except(&[
            "Rank",
            &suite.board.primary.label,
            "n",
            "Cost per solved",
            "Duration",
        ]);
    link_arm_rows(
        &mut grid,
        suite.board.entries.iter().map(|entry| &entry.arm),
        (suite, place),
        plan,
        root,
    );
    grid
}

fn build_batch_table(
    number: usize,
    comparison: &Comparison,
    plan: &SiteRoutes,
    root: &str,
) -> BatchTable {
    let caption = match &comparison.source {
        Some(source) => format!("All arms, from {source}"),
        None => "All arms".to_owned(),
    };
    let sentences = summary::summary_sentences(comparison)
        .into_iter()
        .chain(metrics::list_notes(comparison));
    BatchTable {
        grid: metrics::build_grid(
            comparison,
            &format!("newest-{number}"),
            &caption,
            plan,
            root,
        ),
        sentences: sentences.map(Text::from).collect(),
    }
}
