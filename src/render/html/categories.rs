//! Arms against categories of items, as a table of shaded cells.

use askama::Template;

use crate::render::{format, words};
use crate::views::{Categories, CategoryCell, OverviewSuite, SiteContext};

use super::SiteFile;
use super::any_pair;
use super::arm_name::{ArmName, linked};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};

/// Maximum number of arms in the table. The data files have all.
const MOST_ARMS: usize = 60;

#[derive(Template)]
#[template(path = "categories.html")]
struct CategoriesPage {
    shell: Shell,
    label: Text,
    heat: Heat,
    notes: Vec<String>,
}

pub(super) struct Heat {
    /// Name and number of items.
    pub columns: Vec<(Text, String)>,
    pub rows: Vec<(ArmName, Vec<Shade>)>,
    /// Address of the page that compares any two arms.
    pub any_pair: Option<String>,
}

/// A cell. The darker it is, the higher the pass rate.
pub(super) struct Shade {
    pub class: &'static str,
    pub key: String,
    pub text: String,
    pub interval: String,
    pub about: String,
}

pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    let categories = Some(suite)
        .filter(|suite| Tab::Categories.is_there(suite))?
        .categories()?;
    let path = place.categories_path();
    let title = format!("Categories of {} · {}", place.label, context.title);
    let about = format!(
        "How the arms of {} do on each category of items.",
        place.label
    );
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about);
    let bar = bar(suite, place, &shell.root, Tab::Categories);
    let shell = shell
        .of_suite(bar)
        .download(&format!("{}.json", place.data("items")), "JSON");
    let mut notes = Vec::new();
    if categories.left_out > 0 {
        notes.push(format!(
            "{} with fewer items not shown.",
            words::count_of(categories.left_out as u64, "categories")
        ));
    }
    if categories.without > 0 {
        notes.push(format!(
            "{} without a category.",
            words::count_of(categories.without as u64, "items")
        ));
    }
    if categories.arms.len() > MOST_ARMS {
        notes.push(format!(
            "The first {MOST_ARMS} of {} arms.",
            format::integer(categories.arms.len() as u64)
        ));
    }
    let heat = heat(&categories, suite, place, MOST_ARMS, plan, &shell.root);
    let page = CategoriesPage {
        label: Text::new(&place.label),
        heat,
        notes,
        shell,
    };
    Some(SiteFile::page(path, &page))
}

/// Lays out the first `most` arms.
pub(super) fn heat(
    categories: &Categories,
    suite: &OverviewSuite,
    place: &SuitePlace,
    most: usize,
    plan: &Plan,
    root: &str,
) -> Heat {
    let name = linked(&suite.board, place, plan, root);
    let row = |(at, arm): (usize, &crate::views::Arm)| {
        (
            name(arm),
            categories
                .columns
                .iter()
                .map(|column| shade(column.cells.get(at).and_then(Option::as_ref)))
                .collect(),
        )
    };
    Heat {
        columns: categories
            .columns
            .iter()
            .map(|column| {
                (
                    Text::new(&column.name),
                    words::count_of(column.items as u64, "items"),
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
        any_pair: any_pair::href(suite, place, root),
    }
}

fn shade(cell: Option<&CategoryCell>) -> Shade {
    let Some(cell) = cell else {
        let unknown = String::new();
        return Shade {
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
    let whole = |share: f64| format::fixed(share * 100.0, 0);
    Shade {
        class: ["h0", "h1", "h2", "h3", "h4", "h5", "h6"][step],
        key: cell.rate.to_string(),
        text: whole(cell.rate),
        interval: cell.interval.map_or_else(String::new, |ends| {
            format!("{}–{}", whole(ends.low), whole(ends.high))
        }),
        about: format!(
            "{}, {}",
            words::count_of(cell.items, "items"),
            words::count_of(cell.outcomes, "outcomes")
        ),
    }
}
