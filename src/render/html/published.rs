//! What is wrong with published figures about a suite, as `audit --claims` says it.

use askama::Template;

use crate::render::claims::{contradictions, tables};
use crate::render::table::Seen;
use crate::views::{OverviewSuite, SiteContext};

use super::SiteFile;
use super::grid::{Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};

#[derive(Template)]
#[template(path = "published.html")]
struct PublishedPage {
    shell: Shell,
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
pub(super) fn link(
    suite: &OverviewSuite,
    place: &SuitePlace,
    root: &str,
) -> Option<(Text, String)> {
    let said = contradictions(&suite.claims.as_ref()?.audit)?;
    Some((
        Text::from(said),
        format!("{root}{}", place.published_path()),
    ))
}

/// Makes the page, or `None` if the configuration names no published table about the suite.
pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    let claims = suite.claims.as_ref()?;
    let path = place.published_path();
    let said =
        contradictions(&claims.audit).unwrap_or_else(|| "no contradictions found".to_owned());
    let title = format!("{}: published figures · {}", place.label, context.title);
    let about = format!(
        "Published figures about {}, checked against themselves: {said}.",
        place.label
    );
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about)
        .downloads(&place.data("published"));
    let bar = bar(suite, place, &shell.root, Tab::Published);
    let shell = shell.of_suite(bar);
    let [mut findings, mut checked] = tables(&claims.audit);
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
        Grid::of_seen(
            &findings.seen_as(Seen::Pages),
            "findings",
            findings.title.as_deref().unwrap_or_default(),
        )
        .filtered("")
    });
    let follows = (!checked.columns.is_empty()).then(|| {
        Grid::of_seen(
            &checked,
            "checked",
            checked.title.as_deref().unwrap_or_default(),
        )
        .unsorted()
        .fits()
    });
    let page = PublishedPage {
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
    Some(SiteFile::page(path, &page))
}
