//! The page on methods.

use askama::Template;

use crate::domain::{ItemStatus, RunStatus};
use crate::render::phrases;
use crate::views::{GradeCauses, Overview, grade_causes};

use super::SiteFile;
use super::glossary::{GlossaryTerm, find_term};
use super::routes::SiteRoutes;
use super::shell::{NavigationEntry, PageShell};

#[derive(Template)]
#[template(path = "method.html")]
struct MethodPage {
    shell: PageShell,
    verdicts: Vec<&'static GlossaryTerm>,
    statuses: Vec<StatusRow>,
    /// Names of the run statuses that count, and of those that do not.
    counted_runs: String,
    uncounted_runs: String,
    grades: Vec<GradeCauses>,
}

/// Glossary anchors of the verdicts, in the order of the table.
const VERDICTS: [&str; 6] = [
    "winner",
    "deterministic",
    "equivalent",
    "tie",
    "not-enough-evidence",
    "not-comparable",
];

struct StatusRow {
    name: String,
    meaning: &'static str,
    counts: &'static str,
}

/// Returns each item status with its meaning in the glossary and its part in the pass rate.
fn status_rows() -> Vec<StatusRow> {
    ItemStatus::ALL
        .iter()
        .filter_map(|status| {
            let name = status.name().replace('_', " ");
            let meaning = find_term(&status.name().replace('_', "-"))?.meaning;
            let counts = match status {
                ItemStatus::Pass => "counted, as passed",
                status if status.is_counted() => "counted, as not passed",
                status if status.is_missing() => "missing; reported beside the rate",
                _ => "not part of it",
            };
            Some(StatusRow {
                name,
                meaning,
                counts,
            })
        })
        .collect()
}

/// Returns the names of the run statuses that are counted, or not.
fn run_statuses(is_counted: bool) -> String {
    let names: Vec<String> = RunStatus::ALL
        .iter()
        .filter(|status| status.is_counted() == is_counted)
        .map(|status| status.name().to_owned())
        .collect();
    phrases::join_list(&names)
}

pub(super) fn render_page(overview: &Overview, plan: &SiteRoutes) -> SiteFile {
    let path = "method.html";
    let title = format!("What the numbers mean · {}", overview.context.title);
    let shell = PageShell::new(
        &overview.context,
        &plan.assets,
        path,
        NavigationEntry::Method,
        title,
        "How each figure is computed, which runs it counts, and what it does not show.",
    )
    .with_footer(&overview.context);
    let page = MethodPage {
        shell,
        verdicts: VERDICTS.iter().filter_map(|one| find_term(one)).collect(),
        statuses: status_rows(),
        counted_runs: run_statuses(true),
        uncounted_runs: run_statuses(false),
        grades: grade_causes(),
    };
    SiteFile::from_template(path.to_owned(), &page)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables are made of what the program decides by, so none of it is missing.
    #[test]
    fn tables_of_the_method_page_are_complete() {
        assert!(VERDICTS.iter().all(|verdict| find_term(verdict).is_some()));
        assert_eq!(status_rows().len(), ItemStatus::ALL.len());
        let runs = format!("{} {}", run_statuses(true), run_statuses(false));
        assert!(
            RunStatus::ALL
                .iter()
                .all(|status| runs.contains(status.name())),
            "{runs}"
        );
    }
}
