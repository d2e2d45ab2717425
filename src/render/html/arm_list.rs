//! The list of all arms.

use askama::Template;

use crate::render::{format, words};
use crate::views::{ArmPage, Lead, Overview};

use super::SiteFile;
use super::arm_links::link_arms;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::plan::Plan;
use super::runs::Pager;
use super::shell::{Here, Shell};

/// Arms per page.
const PER_PAGE: usize = 300;

#[derive(Template)]
#[template(path = "arms.html")]
struct ArmsPage {
    shell: Shell,
    heading: String,
    about: String,
    grid: Grid,
    pager: Option<Pager>,
}

pub(super) fn pages(overview: &Overview, plan: &Plan) -> Vec<SiteFile> {
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
        arms.chunks(PER_PAGE).collect()
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
        let shell = Shell::new(
            &overview.context,
            &plan.assets,
            &path,
            Here::Arms,
            title,
            about,
        )
        .foot(&overview.context);
        let mut grid = Grid::new("arms-table", "Arms by name");
        let counts = |of: &dyn Fn(&ArmPage<'_>) -> usize| {
            chunk
                .iter()
                .map(|arm| Cell::count(of(arm) as u64))
                .collect::<Vec<Cell>>()
        };
        let led =
            |arm: &ArmPage<'_>, lead: Lead| arm.suites.iter().filter(|on| on.lead == lead).count();
        grid.column(
            Column::new("Arm", Look::Key, Sort::Ascending),
            chunk
                .iter()
                .map(|arm| Cell::head(words::arm_over(&arm.suite_names(), arm.arm))),
        );
        grid.column(
            Column::new("Suites", Look::Number, Sort::Descending),
            counts(&|arm| arm.suites.len()),
        );
        grid.column(
            Column::new("Wins", Look::Number, Sort::Descending).sub("suites"),
            counts(&|arm| led(arm, Lead::Wins) - arm.fixed()),
        );
        if arms.iter().any(|arm| arm.fixed() > 0) {
            let ahead =
                Column::new("Ahead in every run", Look::Number, Sort::Descending).sub("suites");
            grid.column(ahead, counts(&|arm| arm.fixed()));
        }
        grid.column(
            Column::new("Leads", Look::Number, Sort::Descending).sub("suites, no winner yet"),
            counts(&|arm| led(arm, Lead::Leads)),
        );
        grid.column(
            Column::new("Runs", Look::Number, Sort::Descending),
            counts(&|arm| arm.runs.len()),
        );
        let spent = chunk.iter().map(|arm| {
            Cell::maybe(
                arm.spent
                    .map(|(usd, is_less)| (spent_words(usd, is_less), usd)),
            )
        });
        grid.column(
            Column::new("Cost", Look::Number, Sort::Descending).sub("all runs"),
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
            about: format!("{}.", words::count_of(arms.len() as u64, "arms")),
            grid: grid.filtered(if count > 1 { "on this page" } else { "" }),
            pager: Pager::new(page, count, name),
            heading,
            shell,
        };
        SiteFile::page(path, &html)
    };
    (1..).zip(chunks).map(page).collect()
}

/// Formats a sum of costs, as a lower bound if a part is unknown.
pub(super) fn spent_words(usd: f64, is_less: bool) -> String {
    if is_less {
        format!("≥ {}", format::money(usd))
    } else {
        format::money(usd)
    }
}
