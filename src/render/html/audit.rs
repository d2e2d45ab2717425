//! How much of a suite's order is established, as the `audit` command says it.

use askama::Template;

use crate::render::audit::{could_be_first, fact, tables};
use crate::render::table::Seen;
use crate::views::{Arm, Audit, OverviewSuite, SiteContext, system_name};

use super::arm_links::arm_rows;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};
use super::{SiteFile, published};

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    shell: Shell,
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
pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    let audit = suite.audit.as_ref()?;
    let path = place.audit_path();
    let said = could_be_first(audit);
    let title = format!("{}: audit · {}", place.label, context.title);
    let about = format!(
        "How much of the order of {} is established: {said}.",
        place.label
    );
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about)
        .downloads(&place.data("audit"));
    let bar = bar(suite, place, &shell.root, Tab::Audit);
    let shell = shell.of_suite(bar);
    let [mut places, card] = tables(audit);
    // A row is named after its system.
    places.columns.swap(0, 1);
    places.rows.iter_mut().for_each(|row| row.swap(0, 1));
    let mut grid = Grid::of_seen(
        &places.seen_as(Seen::Pages),
        "places",
        "Places that the scores cannot rule out",
    );
    let arms: Vec<&Arm> = audit
        .places
        .iter()
        .filter_map(|place| arm_of(suite, &place.system))
        .collect();
    if arms.len() == audit.places.len() {
        arm_rows(
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
        places: grid.filtered(""),
        published: published::link(suite, place, &shell.root),
        notes: texts(&places.notes),
        warnings: texts(&card.notes),
        card: Grid::of_seen(&card, "standard", card.title.as_deref().unwrap_or_default())
            .unsorted()
            .fits(),
        provenance: provenance(audit),
        shell,
    };
    Some(SiteFile::page(path, &page))
}

fn arm_of<'a>(suite: &'a OverviewSuite, system: &str) -> Option<&'a Arm> {
    suite
        .board
        .entries
        .iter()
        .map(|entry| &entry.arm)
        .find(|arm| system_name(&suite.board.suite, arm) == system)
}

fn provenance(audit: &Audit) -> Grid {
    let facts = &audit.provenance;
    let mut grid = Grid::new("provenance", "What the runs record").fits();
    grid.column(
        Column::new("Fact", Look::Key, Sort::None),
        facts.iter().map(|recorded| Cell::head(fact(recorded.fact))),
    );
    grid.column(
        Column::new("Recorded by", Look::Number, Sort::None),
        facts.iter().map(|recorded| Cell::count(recorded.recorded)),
    );
    grid.column(
        Column::new("of runs", Look::Number, Sort::None),
        facts.iter().map(|recorded| Cell::count(recorded.of)),
    );
    grid
}
