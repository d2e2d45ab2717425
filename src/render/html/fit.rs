//! Models of a suite's outcomes on pages of their own, as the `fit` command says them: abilities of arms that were asked different items, and
//! time horizons.

use askama::Template;

use crate::render::table::Table;
use crate::render::{abilities, horizons};
use crate::views::{Arm, ArmHorizon, Horizons, OverviewSuite, SiteContext, system_name};

use super::SiteFile;
use super::arm_links::arm_rows;
use super::arm_name::linked;
use super::grid::{Grid, Kind, Look, Sort};
use super::panes::{Pane, Panes, Point, path, percent_of};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};

/// Maximum number of drawn curves, those of the longest horizons.
const MOST_DRAWN: usize = 12;

#[derive(Template)]
#[template(path = "fit.html")]
struct FitPage {
    shell: Shell,
    heading: &'static str,
    label: Text,
    lead: Option<Text>,
    panes: Option<Panes>,
    panes_said: &'static str,
    table: Grid,
    notes: Vec<Text>,
    /// A longer table, with its notes.
    more: Option<(Text, Grid, Vec<Text>)>,
}

/// A sentence about a model, with the address and the name of its page.
pub(super) struct FitLink {
    pub said: Text,
    pub href: String,
    pub word: &'static str,
}

/// Returns what models say of a suite, for its first pages.
pub(super) fn links(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> Vec<FitLink> {
    let to = |said: String, path: String, word| FitLink {
        said: Text::from(said),
        href: format!("{root}{path}"),
        word,
    };
    let apart = suite
        .abilities
        .as_ref()
        .map(|apart| to(abilities::why(apart), place.abilities_path(), "Abilities"));
    let longest = suite.horizons.as_ref().and_then(horizons::longest);
    apart
        .into_iter()
        .chain(longest.map(|said| to(said, place.horizons_path(), "Time horizons")))
        .collect()
}

/// Makes the page of abilities, or `None` if the suite needs none.
pub(super) fn abilities_page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    let apart = suite.abilities.as_ref()?;
    let path = place.abilities_path();
    let title = format!("{}: abilities · {}", place.label, context.title);
    let why = abilities::why(apart);
    let shell = Shell::new(
        context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        why.clone(),
    )
    .downloads(&place.data("abilities"));
    let bar = bar(suite, place, &shell.root, Tab::Abilities);
    let shell = shell.of_suite(bar);
    let mut table = abilities::table(&apart.found);
    // A row is named after its arm.
    table.columns.swap(0, 1);
    table.rows.iter_mut().for_each(|row| row.swap(0, 1));
    let mut grid = Grid::of(&table, "abilities", "Arms by ability");
    let arms: Vec<&Arm> = apart
        .found
        .places
        .iter()
        .filter_map(|place| arm_of(suite, &place.arm))
        .collect();
    if arms.len() == apart.found.places.len() {
        arm_rows(
            &mut grid,
            arms.into_iter(),
            (suite, place),
            plan,
            &shell.root,
        );
    }
    let mut items = abilities::items(&apart.found);
    items.rows.truncate(MOST_ITEMS);
    let caption = if apart.found.asked.len() > MOST_ITEMS {
        "The hardest items; the data have all"
    } else {
        "Items, the hardest first"
    };
    let page = FitPage {
        heading: "Abilities on",
        label: Text::new(&place.label),
        lead: Some(Text::from(why)),
        panes: None,
        panes_said: "",
        notes: texts(&table),
        more: Some((
            Text::new("Difficulty of the items"),
            Grid::of(&items, "items", caption).filtered(""),
            texts(&items),
        )),
        table: grid.filtered(""),
        shell,
    };
    Some(SiteFile::page(path, &page))
}

/// Maximum number of items in a table.
const MOST_ITEMS: usize = 200;

/// Makes the page of time horizons, or `None` if no item has a human time.
pub(super) fn horizons_page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    let found = suite.horizons.as_ref()?;
    let path = place.horizons_path();
    let title = format!("{}: time horizons · {}", place.label, context.title);
    let lead = horizons::longest(found);
    let about = lead.clone().unwrap_or_else(|| {
        format!(
            "How long the tasks of {} may be for its arms to do them.",
            place.label
        )
    });
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about)
        .downloads(&place.data("horizons"));
    let bar = bar(suite, place, &shell.root, Tab::Horizons);
    let shell = shell.of_suite(bar);
    let table = horizons::table(found);
    let mut grid = Grid::of(
        &table,
        "horizons",
        "Arms by time horizon, the longest first",
    );
    arm_rows(
        &mut grid,
        found.arms.iter().map(|arm| &arm.arm),
        (suite, place),
        plan,
        &shell.root,
    );
    let page = FitPage {
        heading: "Time horizons on",
        label: Text::new(&place.label),
        lead: lead.map(Text::from),
        panes: curves(found, suite, place, plan, &shell.root),
        panes_said: "Success in % over the length of tasks, on a logarithmic axis. Line: the fitted curve. Dots: tasks of similar length.",
        notes: texts(&table),
        more: None,
        table: grid.filtered(""),
        shell,
    };
    Some(SiteFile::page(path, &page))
}

fn curves(
    found: &Horizons,
    suite: &OverviewSuite,
    place: &SuitePlace,
    plan: &Plan,
    root: &str,
) -> Option<Panes> {
    let name = linked(&suite.board, place, plan, root);
    let pane = |arm: &ArmHorizon| {
        let (curve, observed) = found.drawn(arm);
        let point = |((x, y), group): (&(f64, f64), &crate::views::LengthGroup)| {
            let lengths = format!(
                "{} to {}",
                horizons::length(group.from_minutes),
                horizons::length(group.to_minutes)
            );
            Point {
                x: percent_of(*x),
                y: percent_of(1.0 - y),
                about: Text::from(format!("{lengths}: {}%", percent_of(*y))),
                href: String::new(),
            }
        };
        Pane {
            arm: name(&arm.arm),
            about: Text::from(format!(
                "success by length of tasks, {}",
                horizons::half(arm)
            )),
            last: horizons::half(arm),
            change: None,
            line: path(&curve),
            dashes: String::new(),
            band: String::new(),
            shaded: None,
            points: observed.iter().zip(&arm.lengths).map(point).collect(),
        }
    };
    let panes: Vec<Pane> = found.arms.iter().take(MOST_DRAWN).map(pane).collect();
    let (low, high) = found.ends();
    (!panes.is_empty()).then(|| Panes {
        panes,
        ends: [low, high].map(horizons::length),
    })
}

fn arm_of<'a>(suite: &'a OverviewSuite, system: &str) -> Option<&'a Arm> {
    suite
        .board
        .entries
        .iter()
        .map(|entry| &entry.arm)
        .find(|arm| system_name(&suite.board.suite, arm) == system)
}

fn texts(table: &Table) -> Vec<Text> {
    table.notes.iter().map(|note| Text::new(note)).collect()
}
