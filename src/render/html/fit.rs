//! Models of a suite's outcomes on pages of their own, as the `fit` command says them: abilities of arms that were asked different items, and
//! time horizons.

use askama::Template;

use crate::render::table::ReportTable;
use crate::render::{abilities, horizons, json};
use crate::views::{Arm, ArmHorizon, Horizons, OverviewSuite, system_name};

use super::arm_links::link_arm_rows;
use super::arm_name::linked_arm_namer;
use super::grid::{ColumnLook, Grid, GridCellKind, SortOrder};
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::small_multiples::{SeriesPoint, SmallMultiple, SmallMultiples, side_percent, svg_path};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};
use super::{SiteFile, data};

/// Maximum number of drawn curves, those of the longest horizons.
const MAX_DRAWN: usize = 12;

/// Abilities of arms.
pub(super) const ABILITIES_PAGE: SuitePage = SuitePage {
    tab: "Abilities",
    group: TabGroup::Verdict,
    path: SuiteRoutes::abilities_path,
    has_data: |suite| suite.abilities.is_some(),
    pages: |inputs| Box::new(render_abilities_page(inputs).into_iter()),
    data: ability_files,
};

/// Time horizons of arms.
pub(super) const HORIZONS_PAGE: SuitePage = SuitePage {
    tab: "Horizons",
    group: TabGroup::Verdict,
    path: SuiteRoutes::horizons_path,
    has_data: |suite| suite.horizons.is_some(),
    pages: |inputs| Box::new(render_horizons_page(inputs).into_iter()),
    data: horizon_files,
};

#[derive(Template)]
#[template(path = "fit.html")]
struct FitPage {
    shell: PageShell,
    heading: &'static str,
    label: Text,
    lead: Option<Text>,
    panes: Option<SmallMultiples>,
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
pub(super) fn page_links(suite: &OverviewSuite, place: &SuiteRoutes, root: &str) -> Vec<FitLink> {
    let to = |said: String, path: String, word| FitLink {
        said: Text::from(said),
        href: format!("{root}{path}"),
        word,
    };
    let apart = suite.abilities.as_ref().map(|apart| {
        to(
            abilities::explain_incomparable_rates(apart),
            place.abilities_path(),
            "Abilities",
        )
    });
    let longest = suite.horizons.as_ref().and_then(horizons::longest_horizon);
    apart
        .into_iter()
        .chain(longest.map(|said| to(said, place.horizons_path(), "Time horizons")))
        .collect()
}

/// Makes the page of abilities, or `None` if the suite needs none.
fn render_abilities_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    let apart = suite.abilities.as_ref()?;
    let path = place.abilities_path();
    let title = format!("{}: abilities · {}", place.label, context.title);
    let why = abilities::explain_incomparable_rates(apart);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        why.clone(),
    )
    .with_downloads(&place.data_stem("abilities"));
    let bar = suite_bar(suite, place, &shell.root, &place.abilities_path());
    let shell = shell.with_suite_bar(bar);
    let mut table = abilities::arms_table(&apart.found);
    // A row is named after its arm.
    table.columns.swap(0, 1);
    table.rows.iter_mut().for_each(|row| row.swap(0, 1));
    let mut grid = Grid::from_table(&table, "abilities", "Arms by ability");
    let arms: Vec<&Arm> = apart
        .found
        .places
        .iter()
        .filter_map(|place| find_arm(suite, &place.arm))
        .collect();
    if arms.len() == apart.found.places.len() {
        link_arm_rows(
            &mut grid,
            arms.into_iter(),
            (suite, place),
            plan,
            &shell.root,
        );
    }
    let mut items = abilities::difficulty_table(&apart.found);
    items.rows.truncate(MAX_ITEMS);
    let caption = if apart.found.asked.len() > MAX_ITEMS {
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
        notes: note_texts(&table),
        more: Some((
            Text::new("Difficulty of the items"),
            Grid::from_table(&items, "items", caption).with_filter(""),
            note_texts(&items),
        )),
        table: grid.with_filter(""),
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}

/// Maximum number of items in a table.
const MAX_ITEMS: usize = 200;

/// Makes the page of time horizons, or `None` if no item has a human time.
fn render_horizons_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    let found = suite.horizons.as_ref()?;
    let path = place.horizons_path();
    let title = format!("{}: time horizons · {}", place.label, context.title);
    let lead = horizons::longest_horizon(found);
    let about = lead.clone().unwrap_or_else(|| {
        format!(
            "How long the tasks of {} may be for its arms to do them.",
            place.label
        )
    });
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        about,
    )
    .with_downloads(&place.data_stem("horizons"));
    let bar = suite_bar(suite, place, &shell.root, &place.horizons_path());
    let shell = shell.with_suite_bar(bar);
    let table = horizons::arms_table(found);
    let mut grid = Grid::from_table(
        &table,
        "horizons",
        "Arms by time horizon, the longest first",
    );
    link_arm_rows(
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
        panes: draw_curves(found, suite, place, plan, &shell.root),
        panes_said: "Success in % over the length of tasks, on a logarithmic axis. Line: the fitted curve. Dots: tasks of similar length.",
        notes: note_texts(&table),
        more: None,
        table: grid.with_filter(""),
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}

fn draw_curves(
    found: &Horizons,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    root: &str,
) -> Option<SmallMultiples> {
    let name = linked_arm_namer(&suite.board, place, plan, root);
    let pane = |arm: &ArmHorizon| {
        let (curve, observed) = found.chart_points(arm);
        let point = |((x, y), group): (&(f64, f64), &crate::views::LengthGroup)| {
            let lengths = format!(
                "{} to {}",
                horizons::format_minutes(group.from_minutes),
                horizons::format_minutes(group.to_minutes)
            );
            SeriesPoint {
                x: side_percent(*x),
                y: side_percent(1.0 - y),
                about: Text::from(format!("{lengths}: {}%", side_percent(*y))),
                href: String::new(),
            }
        };
        SmallMultiple {
            arm: name(&arm.arm),
            about: Text::from(format!(
                "success by length of tasks, {}",
                horizons::half_time_horizon(arm)
            )),
            last: horizons::half_time_horizon(arm),
            change: None,
            line: svg_path(&curve),
            dashes: String::new(),
            band: String::new(),
            shaded: None,
            points: observed.iter().zip(&arm.lengths).map(point).collect(),
        }
    };
    let panes: Vec<SmallMultiple> = found.arms.iter().take(MAX_DRAWN).map(pane).collect();
    let (low, high) = found.task_length_range();
    (!panes.is_empty()).then(|| SmallMultiples {
        panes,
        ends: [low, high].map(horizons::format_minutes),
    })
}

fn find_arm<'a>(suite: &'a OverviewSuite, system: &str) -> Option<&'a Arm> {
    suite
        .board
        .entries
        .iter()
        .map(|entry| &entry.arm)
        .find(|arm| system_name(&suite.board.suite, arm) == system)
}

fn note_texts(table: &ReportTable) -> Vec<Text> {
    table.notes.iter().map(|note| Text::new(note)).collect()
}

/// Makes the data of the abilities: the answer of `fit abilities`.
fn ability_files(SuitePageInputs { suite, place, .. }: SuitePageInputs<'_>) -> Vec<SiteFile> {
    let Some(apart) = &suite.abilities else {
        return Vec::new();
    };
    let shown = [
        abilities::arms_table(&apart.found),
        abilities::difficulty_table(&apart.found),
    ];
    let answer = json::AbilitiesAnswer {
        boards: vec![apart.found.clone()],
        without: Vec::new(),
    };
    data::answer_files(
        &place.data_stem("abilities"),
        "fit-abilities",
        answer,
        &shown,
    )
}

/// Makes the data of the time horizons: the answer of `fit horizons`.
fn horizon_files(SuitePageInputs { suite, place, .. }: SuitePageInputs<'_>) -> Vec<SiteFile> {
    let Some(found) = &suite.horizons else {
        return Vec::new();
    };
    let shown = [horizons::arms_table(found)];
    let answer = json::HorizonsAnswer {
        suites: vec![found.clone()],
    };
    data::answer_files(&place.data_stem("horizons"), "fit-horizons", answer, &shown)
}
