//! How much of a suite's order is established, as the `audit` command says it.

use askama::Template;

use crate::render::audit::{fact_name, place_and_standard_tables, possible_first_places};
use crate::render::json;
use crate::render::table::ColumnVisibility;
use crate::views::{Arm, Audit, OverviewSuite, system_name};

use super::arm_links::link_arm_rows;
use super::grid::{ColumnLook, Grid, GridCell, GridCellKind, GridColumn, SortOrder};
use super::routes::SuiteRoutes;
use super::shell::{NavigationEntry, PageShell, Text};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};
use super::{SiteFile, data, published};

/// How much of the order is established.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Audit",
    group: TabGroup::Verdict,
    path: SuiteRoutes::audit_path,
    has_data: |suite| suite.audit.is_some(),
    pages: |inputs| Box::new(render_page(inputs).into_iter()),
    data: audit_files,
};

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    shell: PageShell,
    label: Text,
    said: Text,
    places: Grid,
    /// How many published figures about the suite contradict each other, and the address of the page that lists them.
    published: Option<(Text, String)>,
    notes: Vec<Text>,
    card: Grid,
    warnings: Vec<Text>,
    provenance: Grid,
}

/// Makes the page, or `None` if the suite has no audit.
fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    let audit = suite.audit.as_ref()?;
    let path = place.audit_path();
    let said = possible_first_places(audit);
    let title = format!("{}: audit · {}", place.label, context.title);
    let about = format!(
        "How much of the order of {} is established: {said}.",
        place.label
    );
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        about,
    )
    .with_downloads(&place.data_stem("audit"));
    let bar = suite_bar(suite, place, &shell.root, &place.audit_path());
    let shell = shell.with_suite_bar(bar);
    let [mut places, card] = place_and_standard_tables(audit);
    // A row is named after its system.
    places.columns.swap(0, 1);
    places.rows.iter_mut().for_each(|row| row.swap(0, 1));
    let mut grid = Grid::from_all_columns(
        &places.seen_as(ColumnVisibility::Pages),
        "places",
        "Places that the scores cannot rule out",
    );
    let arms: Vec<&Arm> = audit
        .places
        .iter()
        .filter_map(|place| find_arm(suite, &place.system))
        .collect();
    if arms.len() == audit.places.len() {
        link_arm_rows(
            &mut grid,
            arms.into_iter(),
            (suite, place),
            plan,
            &shell.root,
        );
    }
    let texts = |notes: &[String]| notes.iter().map(|note| Text::new(note)).collect();
    let page = AuditPage {
        label: Text::new(&place.label),
        said: Text::from(said),
        places: grid.with_filter(""),
        published: published::contradictions_link(suite, place, &shell.root),
        notes: texts(&places.notes),
        warnings: texts(&card.notes),
        card: Grid::from_all_columns(&card, "standard", card.title.as_deref().unwrap_or_default())
            .without_sorting()
            .fit_to_content(),
        provenance: provenance_grid(audit),
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}

fn find_arm<'a>(suite: &'a OverviewSuite, system: &str) -> Option<&'a Arm> {
    suite
        .board
        .entries
        .iter()
        .map(|entry| &entry.arm)
        .find(|arm| system_name(&suite.board.suite, arm) == system)
}

fn provenance_grid(audit: &Audit) -> Grid {
    let facts = &audit.provenance;
    let mut grid = Grid::new("provenance", "What the runs record").fit_to_content();
    grid.add_column(
        GridColumn::new("Fact", ColumnLook::Key, SortOrder::None),
        facts
            .iter()
            .map(|recorded| GridCell::head(fact_name(recorded.fact))),
    );
    grid.add_column(
        GridColumn::new("Recorded by", ColumnLook::Number, SortOrder::None),
        facts
            .iter()
            .map(|recorded| GridCell::count(recorded.recorded)),
    );
    grid.add_column(
        GridColumn::new("of runs", ColumnLook::Number, SortOrder::None),
        facts.iter().map(|recorded| GridCell::count(recorded.of)),
    );
    grid
}

/// Makes the data of one suite's audit: the answer of the command of that name.
fn audit_files(SuitePageInputs { suite, place, .. }: SuitePageInputs<'_>) -> Vec<SiteFile> {
    let Some(audit) = &suite.audit else {
        return Vec::new();
    };
    let shown = place_and_standard_tables(audit);
    let stem = place.data_stem("audit");
    let answer = json::AuditAnswer {
        audits: vec![audit.clone()],
        without: Vec::new(),
        claims: None,
    };
    data::answer_files(&stem, "audit", answer, &shown)
}
