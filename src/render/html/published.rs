//! What is wrong with published figures about a suite, as `audit --claims` says it.

use askama::Template;

use crate::render::claims::{contradictions_note, finding_and_check_tables};
use crate::render::json;
use crate::render::table::ColumnVisibility;
use crate::views::OverviewSuite;

use super::grid::{ColumnLook, Grid, GridCellKind, SortOrder};
use super::routes::SuiteRoutes;
use super::shell::{NavigationEntry, PageShell, Text};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};
use super::{SiteFile, data};

/// What is wrong with published figures.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Published",
    group: TabGroup::Verdict,
    path: SuiteRoutes::published_figures_path,
    has_data: |suite| suite.claims.is_some(),
    pages: |inputs| Box::new(render_page(inputs).into_iter()),
    data: published_figure_files,
};

#[derive(Template)]
#[template(path = "published.html")]
struct PublishedFiguresPage {
    shell: PageShell,
    label: Text,
    said: Text,
    /// Names of the files, with the address that each comes from.
    files: Vec<(Text, Option<String>)>,
    /// Absent without findings.
    findings: Option<Grid>,
    notes: Vec<Text>,
    /// Absent if no column follows from others.
    checked: Option<Grid>,
    checked_notes: Vec<Text>,
}

/// A link to the page with what it says, for pages of the suite's figures. `None` if no figure contradicts another.
pub(super) fn contradictions_link(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    root: &str,
) -> Option<(Text, String)> {
    let said = contradictions_note(&suite.claims.as_ref()?.audit)?;
    Some((
        Text::from(said),
        format!("{root}{}", place.published_figures_path()),
    ))
}

/// Makes the page, or `None` if the configuration names no published table about the suite.
fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    let claims = suite.claims.as_ref()?;
    let path = place.published_figures_path();
    let said =
        contradictions_note(&claims.audit).unwrap_or_else(|| "no contradictions found".to_owned());
    let title = format!("{}: published figures · {}", place.label, context.title);
    let about = format!(
        "Published figures about {}, checked against themselves: {said}.",
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
    .with_downloads(&place.data_stem("published"));
    let bar = suite_bar(suite, place, &shell.root, &place.published_figures_path());
    let shell = shell.with_suite_bar(bar);
    let [mut findings, mut checked] = finding_and_check_tables(&claims.audit);
    // A row is named after its system.
    if findings.columns.len() > 2 {
        findings.columns.swap(0, 2);
        findings.rows.iter_mut().for_each(|row| row.swap(0, 2));
    }
    // The last column is about recovered numbers of items.
    if claims
        .audit
        .checked
        .iter()
        .all(|column| column.chance.is_none())
    {
        checked.columns.pop();
        checked.rows.iter_mut().for_each(|row| drop(row.pop()));
    }
    let texts = |notes: &[String]| notes.iter().map(|note| Text::new(note)).collect();
    let grid = (!findings.columns.is_empty()).then(|| {
        Grid::from_all_columns(
            &findings.seen_as(ColumnVisibility::Pages),
            "findings",
            findings.title.as_deref().unwrap_or_default(),
        )
        .with_filter("")
    });
    let follows = (!checked.columns.is_empty()).then(|| {
        Grid::from_all_columns(
            &checked,
            "checked",
            checked.title.as_deref().unwrap_or_default(),
        )
        .without_sorting()
        .fit_to_content()
    });
    let page = PublishedFiguresPage {
        label: Text::new(&place.label),
        said: Text::from(said),
        files: claims
            .files
            .iter()
            .map(|file| (Text::new(&file.file), file.source.clone()))
            .collect(),
        findings: grid,
        notes: texts(&findings.notes),
        checked: follows,
        checked_notes: texts(&checked.notes),
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}

/// Makes the data of the published figures about a suite: the answer of `audit --claims`.
fn published_figure_files(
    SuitePageInputs { suite, place, .. }: SuitePageInputs<'_>,
) -> Vec<SiteFile> {
    let Some(claims) = &suite.claims else {
        return Vec::new();
    };
    let shown = finding_and_check_tables(&claims.audit);
    let stem = place.data_stem("published");
    let answer = json::AuditAnswer {
        audits: Vec::new(),
        without: Vec::new(),
        claims: Some(claims.audit.clone()),
    };
    data::answer_files(&stem, "audit", answer, &shown)
}
