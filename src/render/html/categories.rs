//! Arms against categories of items, as a table of shaded cells.

use askama::Template;

use crate::render::{format, phrases};
use crate::views::{Categories, CategoryCell, OverviewSuite};

use super::SiteFile;
use super::any_pair;
use super::arm_name::{ArmName, linked_arm_namer};
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};

/// Maximum number of arms in the table. The data files have all.
const MAX_ARMS: usize = 60;

/// Pass rates by category.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Categories",
    group: TabGroup::Items,
    path: SuiteRoutes::categories_path,
    has_data: OverviewSuite::has_categories,
    pages: |inputs| Box::new(render_page(inputs).into_iter()),
    data: |_| Vec::new(),
};

#[derive(Template)]
#[template(path = "categories.html")]
struct CategoriesPage {
    shell: PageShell,
    label: Text,
    heat: CategoryHeatmap,
    notes: Vec<String>,
}

pub(super) struct CategoryHeatmap {
    /// What the figures are called.
    pub rate: &'static str,
    /// Name and number of items.
    pub columns: Vec<(Text, String)>,
    pub rows: Vec<(ArmName, Vec<CategoryShade>)>,
    /// Address of the page that compares any two arms.
    pub any_pair: Option<String>,
}

/// A cell. The darker it is, the higher the pass rate.
pub(super) struct CategoryShade {
    pub class: &'static str,
    pub key: String,
    pub text: String,
    pub interval: String,
    pub about: String,
}

fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    let categories = Some(suite)
        .filter(|suite| suite.has_categories())?
        .category_table()?;
    let path = place.categories_path();
    let title = format!("Categories of {} · {}", place.label, context.title);
    let about = format!(
        "How the arms of {} do on each category of items.",
        place.label
    );
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        about,
    );
    let bar = suite_bar(suite, place, &shell.root, &place.categories_path());
    let shell = shell
        .with_suite_bar(bar)
        .with_download(&format!("{}.json", place.data_stem("items")), "JSON");
    let mut notes = Vec::new();
    if categories.left_out > 0 {
        notes.push(format!(
            "{} with fewer items not shown.",
            phrases::count_with_noun(categories.left_out as u64, "categories")
        ));
    }
    if categories.without > 0 {
        notes.push(format!(
            "{} without a category.",
            phrases::count_with_noun(categories.without as u64, "items")
        ));
    }
    if categories.arms.len() > MAX_ARMS {
        notes.push(format!(
            "The first {MAX_ARMS} of {} arms.",
            format::format_integer(categories.arms.len() as u64)
        ));
    }
    let heat = lay_out_heatmap(&categories, suite, place, MAX_ARMS, plan, &shell.root);
    let page = CategoriesPage {
        label: Text::new(&place.label),
        heat,
        notes,
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}

/// Lays out the first `most` arms.
pub(super) fn lay_out_heatmap(
    categories: &Categories,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    most: usize,
    plan: &SiteRoutes,
    root: &str,
) -> CategoryHeatmap {
    let name = linked_arm_namer(&suite.board, place, plan, root);
    let row = |(at, arm): (usize, &crate::views::Arm)| {
        (
            name(arm),
            categories
                .columns
                .iter()
                .map(|column| shade_cell(column.cells.get(at).and_then(Option::as_ref)))
                .collect(),
        )
    };
    CategoryHeatmap {
        rate: phrases::rate_word(categories.word),
        columns: categories
            .columns
            .iter()
            .map(|column| {
                (
                    Text::new(&column.name),
                    phrases::count_with_noun(column.items as u64, "items"),
                )
            })
            .collect(),
        rows: categories
            .arms
            .iter()
            .enumerate()
            .take(most)
            .map(row)
            .collect(),
        any_pair: any_pair::page_href(suite, place, root),
    }
}

fn shade_cell(cell: Option<&CategoryCell>) -> CategoryShade {
    let Some(cell) = cell else {
        let unknown = String::new();
        return CategoryShade {
            class: "hn",
            key: String::new(),
            text: "–".to_owned(),
            interval: unknown,
            about: "no outcome".to_owned(),
        };
    };
    let step = (1..7)
        .filter(|step| cell.rate * 7.0 >= f64::from(*step))
        .count();
    let whole = |share: f64| format::fixed_decimals(share * 100.0, 0);
    CategoryShade {
        class: ["h0", "h1", "h2", "h3", "h4", "h5", "h6"][step],
        key: cell.rate.to_string(),
        text: whole(cell.rate),
        interval: cell.interval.map_or_else(String::new, |ends| {
            format!("{}–{}", whole(ends.low), whole(ends.high))
        }),
        about: format!(
            "{}, {}",
            phrases::count_with_noun(cell.items, "items"),
            phrases::count_with_noun(cell.outcomes, "outcomes")
        ),
    }
}
