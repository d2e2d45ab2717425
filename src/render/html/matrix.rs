//! The item matrix: every item against every arm, in several orders, each with a map.

use askama::Template;

use crate::domain::beginning;
use crate::render::table::Table;
use crate::render::{format, noise, words};
use crate::views::{ItemLine, ItemMatrix, ItemSign, NoiseLedger, OverviewSuite, SiteContext};

use super::grid::{Grid, Kind, Look, Sort};
use super::heat::{self, Heat};
use super::item::sign_word;
use super::item_order::Order;
use super::mark::{Mark, mark};
use super::plan::{Plan, SuitePlace};
use super::runs::Pager;
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};
use super::{SiteFile, SitePart};

/// Maximum number of arms with a column. The data have all.
const MOST_ARMS: usize = 16;
/// Maximum pages of each order except the order by name, which lists all items.
const MOST_PAGES: usize = 10;
/// Maximum bytes of a page's rows below a map, and approximate bytes of a cell and of the rest of a row.
const PAGE_BYTES: usize = 80_000;
/// Maximum bytes of rows and map together.
const WITH_MAP: usize = 140_000;
const CELL_BYTES: usize = 120;
const ROW_BYTES: usize = 500;
/// Number of items on a short list.
const SHORT: usize = 5;
/// Maximum characters of an item's name.
const LONGEST_NAME: usize = 120;

#[derive(Template)]
#[template(path = "matrix.html")]
struct MatrixPage {
    shell: Shell,
    suite: Text,
    /// How many items no arm passed, and how many every arm passed.
    headline: Option<String>,
    finding: Vec<Text>,
    /// Links to all orders: address, words, and whether this page has that order.
    orders: Vec<(String, String, bool)>,
    about: String,
    map: Option<Heat>,
    pager: Option<Pager>,
    caption: String,
    arms: Vec<ArmHead>,
    left_out: Option<String>,
    rows: Vec<Row>,
    within: &'static str,
    rest: Option<String>,
    /// The noise of runs, with notes below each table. On the first page by name.
    noise: Vec<(Grid, Vec<String>)>,
}

struct ArmHead {
    name: Text,
    /// Address of the arm's page, and the class of its colour.
    href: String,
    tone: &'static str,
    /// Address of the arm's run, if it has exactly one.
    run: Option<String>,
    about: String,
}

struct Row {
    href: String,
    name: Text,
    sub: Text,
    cells: Vec<Mark>,
    /// Sort key and text.
    rate: Option<(f64, String)>,
    discrimination: Option<(f64, String)>,
    notes: String,
}

/// A short list of items for the suite's page.
pub(super) struct Shortlist {
    pub word: &'static str,
    /// Address of the whole list, and its number of items.
    pub href: String,
    pub count: String,
    /// Address, name, and reason for being in the list.
    pub items: Vec<(String, Text, String)>,
}

/// Returns the hardest, the most discriminating and the suspect items. `root` is the relative path to the site's root.
pub(super) fn shortlists(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> Vec<Shortlist> {
    let matrix = &suite.items;
    let list = |(order, said): (Order, fn(&ItemLine) -> String)| {
        let items = order.items(suite);
        let entry = |index: &usize| {
            let line = &matrix.items[*index];
            (
                format!("{root}{}", place.item_path(*index)),
                name(line),
                said(line),
            )
        };
        Shortlist {
            word: order.word(),
            href: format!("{root}suites/{}/items/{}", place.segment, order.name(1)),
            count: format::integer(items.len() as u64),
            items: items.iter().take(SHORT).map(entry).collect(),
        }
    };
    let lists: [(Order, Note); 3] = [
        (Order::Hardest, |line| format!("passed {}", passed(line))),
        (Order::Discriminating, tells_apart),
        (Order::Suspect, notes),
    ];
    lists
        .into_iter()
        .map(list)
        .filter(|list| !list.items.is_empty())
        .collect()
}

fn passed(item: &ItemLine) -> String {
    format!(
        "{} of {}",
        format::integer(item.passed.into()),
        format::integer(item.counted.into())
    )
}

fn tells_apart(item: &ItemLine) -> String {
    item.discrimination.map_or_else(String::new, |found| {
        format!(
            "{} over {} runs",
            format::signed(found.value, 2),
            format::integer(found.n)
        )
    })
}

/// Makes the pages of a suite's matrix. Empty if no run has outcomes of items.
pub(super) fn pages<'a>(
    context: &'a SiteContext,
    plan: &'a Plan,
    suite: &'a OverviewSuite,
    place: &'a SuitePlace,
) -> SitePart<'a> {
    let matrix = &suite.items;
    if matrix.items.is_empty() {
        return Box::new(std::iter::empty());
    }
    let per_page = rows_per_page(matrix.arms.len(), heat::bytes(suite));
    let lists: Vec<(Order, Vec<usize>)> = Order::ALL
        .into_iter()
        .map(|order| (order, order.items(suite)))
        .collect();
    let links: Vec<(Order, usize)> = lists
        .iter()
        .map(|(order, items)| (*order, items.len()))
        .filter(|(order, count)| *order != Order::Category || *count > 0)
        .collect();
    let pages = lists
        .into_iter()
        .filter(|(order, items)| *order != Order::Category || !items.is_empty())
        .flat_map(move |(order, items)| {
            let map_order = if order == Order::Name {
                suite.items.easiest()
            } else {
                items.clone()
            };
            let all = items.len();
            let most = if order == Order::Name {
                usize::MAX
            } else {
                MOST_PAGES * per_page
            };
            let items: Vec<usize> = items.into_iter().take(most).collect();
            let count = items.len().div_ceil(per_page).max(1) as u64;
            let links = links.clone();
            (1..=count)
                .zip((0..).step_by(per_page))
                .map(move |(number, start): (u64, usize)| {
                    let chunk = &items[start.min(items.len())..items.len().min(start + per_page)];
                    let of = Part {
                        order,
                        number,
                        count,
                        first: start + 1,
                        all,
                        listed: items.len(),
                        links: &links,
                    };
                    let map = if number == 1 {
                        map_order.as_slice()
                    } else {
                        &[]
                    };
                    page(context, plan, suite, place, &of, chunk, map)
                })
        });
    Box::new(pages)
}

fn rows_per_page(arms: usize, map: usize) -> usize {
    let fitting = WITH_MAP.saturating_sub(map).min(PAGE_BYTES)
        / (ROW_BYTES + CELL_BYTES * arms.min(MOST_ARMS));
    (fitting / 10 * 10).clamp(10, 200)
}

/// Describes why an item is on a list.
type Note = fn(&ItemLine) -> String;

/// The part of an order that a page shows.
struct Part<'a> {
    order: Order,
    number: u64,
    count: u64,
    /// Number of its first item.
    first: usize,
    /// Number of items of the order, and of those that its pages list.
    all: usize,
    listed: usize,
    /// All orders that have pages, with their numbers of items.
    links: &'a [(Order, usize)],
}

/// `map` has the items of the drawing above the rows. Empty without one.
fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
    part: &Part<'_>,
    items: &[usize],
    map: &[usize],
) -> SiteFile {
    let matrix = &suite.items;
    let path = format!(
        "suites/{}/items/{}",
        place.segment,
        part.order.name(part.number)
    );
    let of = if part.number > 1 {
        format!(", page {}", part.number)
    } else {
        String::new()
    };
    let title = format!(
        "Items of {}: {}{of} · {}",
        place.label,
        part.order.word(),
        context.title
    );
    let about = format!(
        "Which arm passes which item of {}: {}.",
        place.label,
        part.order.word()
    );
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about)
        .download(&format!("{}.json", place.data("items")), "JSON")
        .download(&format!("{}.csv", place.data("items")), "CSV");
    let bar = bar(suite, place, &shell.root, Tab::Items);
    let shell = shell.of_suite(bar);
    let map = heat::of(suite, place, plan, &shell.root, map, part.order.across());
    let shell = if map.is_some() {
        shell.with(plan.assets.map.clone())
    } else {
        shell
    };
    let labels = words::arm_labels(
        &suite.board.suite,
        &matrix
            .arms
            .iter()
            .take(MOST_ARMS)
            .map(|arm| arm.arm.clone())
            .collect::<Vec<_>>(),
    );
    let runs: Vec<Option<String>> = matrix
        .arms
        .iter()
        .map(|arm| match arm.runs.as_slice() {
            [run] => plan
                .run_path(run)
                .map(|path| format!("{}{path}", shell.root)),
            _ => None,
        })
        .collect();
    let arms = labels
        .iter()
        .zip(&matrix.arms)
        .zip(&runs)
        .map(|((label, arm), run)| ArmHead {
            name: Text::new(label),
            href: plan.arm_href(&shell.root, &arm.arm),
            tone: plan.tone(&arm.arm),
            run: run.clone(),
            about: words::count_runs(arm.runs.len() as u64),
        });
    let integer = |number: usize| format::integer(number as u64);
    let last = part.first + items.len().saturating_sub(1);
    let page = MatrixPage {
        suite: Text::new(&place.label),
        finding: if part.number == 1 { finding(suite).into_iter().map(Text::from).collect() } else { Vec::new() },
        headline: headline(matrix).filter(|_| part.number == 1),
        orders: orders(part),
        about: part.order.about().to_owned(),
        map,
        pager: Pager::new(part.number, part.count, |number| part.order.name(number)),
        caption: match items.len() {
            0 => "No items".to_owned(),
            _ if part.count == 1 => format!("{} items", integer(items.len())),
            _ => format!("Items {} to {} of {}", integer(part.first), integer(last), integer(part.listed)),
        },
        arms: arms.collect(),
        left_out: (matrix.arms.len() > MOST_ARMS).then(|| {
            format!("Columns are the leading {MOST_ARMS} of {} arms; the item pages and the data have more.", integer(matrix.arms.len()))
        }),
        rows: items.iter().map(|index| row(matrix, place, *index, &runs)).collect(),
        within: if part.count > 1 { "on this page" } else { "" },
        rest: (part.listed < part.all)
            .then(|| format!("Listed are the first {} of {}; the pages by name have all items.", integer(part.listed), integer(part.all))),
        noise: suite.noise.as_ref().filter(|_| part.number == 1 && part.order == Order::Name).map_or_else(Vec::new, noise_grids),
        shell,
    };
    SiteFile::page(path, &page)
}

fn noise_grids(ledger: &NoiseLedger) -> Vec<(Grid, Vec<String>)> {
    let grid = |(number, table): (usize, Table)| {
        (
            Grid::of(
                &table,
                format!("noise-{number}"),
                table.title.clone().unwrap_or_default(),
            )
            .fits()
            .unsorted(),
            table.notes.clone(),
        )
    };
    noise::for_pages(ledger)
        .into_iter()
        .enumerate()
        .map(grid)
        .collect()
}

fn orders(part: &Part<'_>) -> Vec<(String, String, bool)> {
    let of = |(order, count): &(Order, usize)| {
        (
            order.name(1),
            format!("{} ({})", order.word(), format::integer(*count as u64)),
            *order == part.order,
        )
    };
    part.links.iter().map(of).collect()
}

/// Returns the headline: the number of items, and how many of them tell nothing about the arms.
fn headline(matrix: &ItemMatrix) -> Option<String> {
    let count = |sign: ItemSign| {
        matrix
            .items
            .iter()
            .filter(|item| item.signs.contains(&sign))
            .count()
    };
    let (never, always) = (count(ItemSign::NeverSolved), count(ItemSign::AlwaysSolved));
    let items = words::count_of(matrix.items.len() as u64, matrix.word.unwrap_or("items"));
    let [never, always] = [never, always].map(|count| format::integer(count as u64));
    (!matrix.items.is_empty())
        .then(|| format!("{items}: {never} never passed, {always} always passed"))
}

/// Summarises the matrix.
pub(super) fn finding(suite: &OverviewSuite) -> Vec<String> {
    let matrix = &suite.items;
    let integer = |number: usize| format::integer(number as u64);
    let runs: usize = matrix.arms.iter().map(|arm| arm.runs.len()).sum();
    let word = matrix.word.unwrap_or("items");
    let with = |sign: ItemSign| {
        matrix
            .items
            .iter()
            .filter(|item| item.signs.contains(&sign))
            .count()
    };
    let mut said = vec![format!(
        "{} {} in {} of {}.",
        integer(matrix.items.len()),
        words::one_or_many(matrix.items.len() as u64, word),
        words::count_runs(runs as u64),
        if matrix.arms.len() == 1 {
            "one arm".to_owned()
        } else {
            format!("{} arms", integer(matrix.arms.len()))
        },
    )];
    let differing = matrix.orders.differing.len();
    let (always, never, against) = (
        with(ItemSign::AlwaysSolved),
        with(ItemSign::NeverSolved),
        with(ItemSign::AgainstTheRest),
    );
    if matrix.arms.len() > 1 {
        said.push(match differing {
            0 => format!("On none of the {word} do some arms pass in more than half of their outcomes and others not."),
            _ => {
                format!("On {} of them the arms differ: some pass in more than half of their outcomes, others do not.", integer(differing))
            }
        });
    }
    if always + never > 0 {
        said.push(format!(
            "Always passed: {}. Never passed: {}. They do not distinguish arms.",
            integer(always),
            integer(never)
        ));
    }
    if against > 0 {
        let by_chance = format::fixed(matrix.orders.against_by_chance, 0);
        said.push(format!(
            "Against the rest: {}, where chance alone would give about {by_chance}. Runs that do worse elsewhere pass those, and better ones do not.",
            integer(against)
        ));
    }
    said
}

fn row(matrix: &ItemMatrix, place: &SuitePlace, index: usize, runs: &[Option<String>]) -> Row {
    let item = &matrix.items[index];
    let href = super::items::item_href_at(place, "../i/", index);
    let is_alone = matrix
        .items
        .first()
        .is_none_or(|first| first.evaluator == item.evaluator);
    let sub = if is_alone {
        item.cluster.clone().unwrap_or_default()
    } else {
        item.evaluator.clone()
    };
    let cells = item
        .cells
        .iter()
        .zip(runs)
        .take(MOST_ARMS)
        .map(|(cell, run)| mark(*cell, run.as_ref().unwrap_or(&href)));
    Row {
        cells: cells.collect(),
        name: name(item),
        sub: Text::from(beginning(&sub, LONGEST_NAME)),
        rate: item.rate.map(|rate| (rate, passed(item))),
        discrimination: item
            .discrimination
            .map(|found| (found.value, format::signed(found.value, 2))),
        notes: notes(item),
        href,
    }
}

/// Returns an item's name, cut for a table.
pub(super) fn name(item: &ItemLine) -> Text {
    let text = Text::from(beginning(&item.item, LONGEST_NAME));
    if text.is_blank() {
        Text::new("(no name)")
    } else {
        text
    }
}

/// Describes what is unusual about an item in a few words, which the filter finds.
pub(super) fn notes(item: &ItemLine) -> String {
    let differ = item.is_disputed().then_some("arms differ");
    item.signs
        .iter()
        .map(|sign| sign_word(*sign))
        .chain(differ)
        .collect::<Vec<&str>>()
        .join(", ")
}
