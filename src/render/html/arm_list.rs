//! The list of all arms.

use askama::Template;

use crate::render::{format, phrases};
use crate::views::{ArmPage, Lead, Overview};

use super::SiteFile;
use super::arm_links::link_arms;
use super::grid::{ColumnLook, Grid, GridCell, GridCellKind, GridColumn, SortOrder};
use super::routes::SiteRoutes;
use super::runs::Pager;
use super::shell::{NavigationEntry, PageShell};

/// Arms per page.
const ARMS_PER_PAGE: usize = 300;

#[derive(Template)]
#[template(path = "arms.html")]
struct ArmsPage {
    shell: PageShell,
    heading: String,
    about: String,
    grid: Grid,
    pager: Option<Pager>,
}

pub(super) fn render_pages(overview: &Overview, plan: &SiteRoutes) -> Vec<SiteFile> {
    let arms = overview.arm_pages();
    let name = |page: u64| {
        if page == 1 {
            "index.html".to_owned()
        } else {
            format!("index-p{page:04}.html")
        }
    };
    let chunks: Vec<&[ArmPage<'_>]> = if arms.is_empty() {
        vec![&[]]
    } else {
        arms.chunks(ARMS_PER_PAGE).collect()
    };
    let count = chunks.len() as u64;
    let page = |(page, chunk): (u64, &[ArmPage<'_>])| {
        let path = format!("arms/{}", name(page));
        let heading = if page == 1 {
            "All arms".to_owned()
        } else {
            format!("All arms, page {page}")
        };
        let title = format!("{heading} · {}", overview.context.title);
        let about = "Every arm with the suites that it ran on, by name.";
        let shell = PageShell::new(
            &overview.context,
            &plan.assets,
            &path,
            NavigationEntry::Arms,
            title,
            about,
        )
        .with_footer(&overview.context);
        let mut grid = Grid::new("arms-table", "Arms by name");
        let counts = |of: &dyn Fn(&ArmPage<'_>) -> usize| {
            chunk
                .iter()
                .map(|arm| GridCell::count(of(arm) as u64))
                .collect::<Vec<GridCell>>()
        };
        let led =
            |arm: &ArmPage<'_>, lead: Lead| arm.suites.iter().filter(|on| on.lead == lead).count();
        grid.add_column(
            GridColumn::new("Arm", ColumnLook::Key, SortOrder::Ascending),
            chunk
                .iter()
                .map(|arm| GridCell::head(phrases::arm_over_suites(&arm.suite_names(), arm.arm))),
        );
        grid.add_column(
            GridColumn::new("Suites", ColumnLook::Number, SortOrder::Descending),
            counts(&|arm| arm.suites.len()),
        );
        grid.add_column(
            GridColumn::new("Wins", ColumnLook::Number, SortOrder::Descending)
                .with_subtext("suites"),
            counts(&|arm| led(arm, Lead::Wins) - arm.count_fixed_orders()),
        );
        if arms.iter().any(|arm| arm.count_fixed_orders() > 0) {
            let ahead = GridColumn::new(
                "Ahead in every run",
                ColumnLook::Number,
                SortOrder::Descending,
            )
            .with_subtext("suites");
            grid.add_column(ahead, counts(&|arm| arm.count_fixed_orders()));
        }
        grid.add_column(
            GridColumn::new("Leads", ColumnLook::Number, SortOrder::Descending)
                .with_subtext("suites, no winner yet"),
            counts(&|arm| led(arm, Lead::Leads)),
        );
        grid.add_column(
            GridColumn::new("Runs", ColumnLook::Number, SortOrder::Descending),
            counts(&|arm| arm.runs.len()),
        );
        let spent = chunk.iter().map(|arm| {
            GridCell::number_or_unknown(
                arm.spent
                    .map(|(usd, is_less)| (format_spent(usd, is_less), usd)),
            )
        });
        grid.add_column(
            GridColumn::new("Cost", ColumnLook::Number, SortOrder::Descending)
                .with_subtext("all runs"),
            spent,
        );
        link_arms(
            &mut grid,
            0,
            chunk.iter().map(|arm| arm.arm),
            plan,
            &shell.root,
        );
        let html = ArmsPage {
            about: format!("{}.", phrases::count_with_noun(arms.len() as u64, "arms")),
            grid: grid.with_filter(if count > 1 { "on this page" } else { "" }),
            pager: Pager::new(page, count, name),
            heading,
            shell,
        };
        SiteFile::from_template(path, &html)
    };
    (1..).zip(chunks).map(page).collect()
}

/// Formats a sum of costs, as a lower bound if a part is unknown.
pub(super) fn format_spent(usd: f64, is_less: bool) -> String {
    if is_less {
        format!("≥ {}", format::money(usd))
    } else {
        format::money(usd)
    }
}
