//! Published figures against themselves and against the runs of the store.

use crate::domain::{Filter, PublishedFigures, PublishedTable, Redacted};
use crate::inference::{ClaimsAudit, audit_claims, reports_runs, stored_runs};
use crate::warehouse::Warehouse;

/// The audit of the published tables about a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteClaims {
    pub audit: ClaimsAudit,
    pub files: Vec<ClaimedFile>,
}

/// A file of published figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedFile {
    pub file: String,
    /// The web address that it comes from.
    pub source: Option<String>,
}

/// Audits published tables. Stated numbers of runs are compared with the selected runs of the store, if there is one.
pub fn audit_published(
    tables: &[PublishedTable],
    held: Option<(&Warehouse, &Filter)>,
) -> ClaimsAudit {
    let held = held
        .filter(|_| reports_runs(tables))
        .map(|(warehouse, filter)| stored_runs(warehouse, filter));
    audit_claims(tables, &held.unwrap_or_default())
}

/// Audits the tables about the suite that the filter names. `None` if there are none.
pub(super) fn suite_claims(
    warehouse: &Warehouse,
    only: &Filter,
    published: &[Redacted<PublishedFigures>],
) -> Option<SuiteClaims> {
    let own: Vec<&Redacted<PublishedFigures>> = published
        .iter()
        .filter(|figures| only.suites.contains(&figures.suite))
        .collect();
    if own.is_empty() {
        return None;
    }
    let tables: Vec<PublishedTable> = own
        .iter()
        .flat_map(|figures| figures.tables.iter().cloned())
        .collect();
    let files = own
        .iter()
        .map(|figures| ClaimedFile {
            file: figures.file.clone(),
            source: figures.source.clone(),
        })
        .collect();
    Some(SuiteClaims {
        audit: audit_published(&tables, Some((warehouse, only))),
        files,
    })
}
