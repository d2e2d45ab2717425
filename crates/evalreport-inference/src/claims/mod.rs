//! Audits published figures: which no count can give, and which contradict others of the same source.
//!
//! Titles only suggest what belongs together. A relation between columns counts if most of the rows agree with it, on figures that chance
//! does not give; the rows that then disagree are reported. A column that follows nothing known is left alone.

mod claim_table;
mod column_roles;
mod columns;
mod composite_columns;
mod counts;
mod deviations;
mod figure;
mod finding;
mod ranks;
mod repeats;
mod runs;
mod spreads;
mod stored_runs;
mod winners;

use crate::domain::PublishedTable;

pub use finding::{
    AuditedTable, CheckedColumn, ClaimFinding, ClaimKind, ClaimPlace, ClaimsAudit, Severity,
};
pub use stored_runs::{RunsInStore, stored_runs};

use claim_table::FigureTable;
use counts::{CountRelation, RateTotals};

/// Returns whether a table states how many runs are behind its figures.
pub fn reports_runs(tables: &[PublishedTable]) -> bool {
    tables
        .iter()
        .map(FigureTable::from_table)
        .any(|sheet| stored_runs::has_reported_runs(&sheet))
}

/// Audits the tables of one or several files. Rows with the same id in several tables are compared, and stated runs with those that are `held`.
pub fn audit_claims(tables: &[PublishedTable], held: &[RunsInStore]) -> ClaimsAudit {
    let mut audit = ClaimsAudit::default();
    let mut sheets: Vec<FigureTable<'_>> = tables.iter().map(FigureTable::from_table).collect();
    for sheet in &mut sheets {
        audit.findings.extend(columns::exclude_total_rows(sheet));
        audit.findings.extend(columns::correct_units(sheet));
    }
    let known: Vec<Vec<CountRelation>> = sheets.iter().map(counts::find_relations).collect();
    for (place, sheet) in sheets.iter().enumerate() {
        let (rows, columns) = (
            sheet.table.rows.len() as u64,
            sheet.table.columns.len() as u64,
        );
        audit.tables.push(AuditedTable {
            name: sheet.table.name.clone(),
            rows,
            columns,
        });
        let relations = with_relations_of_others(&sheets, &known, place);
        audit_table(sheet, &relations, &mut audit);
        stored_runs::check_stored_runs(sheet, held, &mut audit.findings);
    }
    repeats::check_across_tables(&sheets, &mut audit.findings);
    audit.findings.sort_by(|left, right| {
        let key = |finding: &ClaimFinding| {
            (
                finding.severity,
                finding.kind,
                finding.table.clone(),
                finding.places.first().map(|place| place.row),
            )
        };
        key(left).cmp(&key(right))
    });
    audit
}

fn audit_table(sheet: &FigureTable<'_>, relations: &[CountRelation], audit: &mut ClaimsAudit) {
    let (findings, checked) = (&mut audit.findings, &mut audit.checked);
    let means = composite_columns::find_composite_columns(sheet, findings, checked);
    let mut totals: Vec<Option<RateTotals>> = sheet.series.iter().map(|_| None).collect();
    columns::check_rate_columns(sheet, relations, findings);
    let mut done: Vec<Vec<usize>> = sheet.series.iter().map(|_| Vec::new()).collect();
    for relation in relations {
        done[relation.rate] = counts::check_against_counts(sheet, *relation, findings, checked);
        let of = |row: usize| FigureTable::whole_count(&sheet.series[relation.total], row);
        let known = (0..sheet.table.rows.len()).map(of).collect();
        totals[relation.rate] = Some(RateTotals {
            items: known,
            rounding: relation.rounding,
            is_stated: true,
            are_means: false,
        });
    }
    let rates: Vec<usize> = (0..sheet.series.len())
        .filter(|place| FigureTable::may_be_rate(&sheet.series[*place]))
        .collect();
    let whole_means = deviations::whole_means(sheet);
    for rate in rates {
        if means.iter().any(|mean| mean.place == rate) {
            continue;
        }
        // Rows without counts may have a total.
        let stated = counts::check_against_totals(sheet, rate, &done[rate], findings, checked);
        if totals[rate].is_none() {
            let recovered =
                |rate: usize| counts::check_against_column(sheet, rate, findings, checked);
            totals[rate] = stated.or_else(|| {
                Some(rate)
                    .filter(|rate| !whole_means.contains(rate))
                    .and_then(recovered)
            });
        }
    }
    counts::report_different_totals(sheet, findings);
    spreads::check_spreads(sheet, &with_titled_total(sheet, &totals), findings, checked);
    deviations::check_means_and_deviations(sheet, &totals, findings, checked);
    ranks::check_ranks(sheet, &means, findings, checked);
    repeats::check_repeated_rows(sheet, findings);
    runs::check_run_numbers(sheet, &totals, findings);
    winners::check_winners(sheet, &totals, findings);
}

/// Returns the totals, and for a column without one that of the only column that the title calls so. That does for spreads: if a formula
/// gives them, the total is confirmed.
fn with_titled_total(
    sheet: &FigureTable<'_>,
    totals: &[Option<RateTotals>],
) -> Vec<Option<RateTotals>> {
    let mut titled = sheet
        .series
        .iter()
        .filter(|series| series.role == column_roles::ColumnRole::Total && series.are_whole);
    let only = titled.next().filter(|_| titled.next().is_none());
    let stated = only.map(|series| RateTotals {
        items: (0..sheet.table.rows.len())
            .map(|row| FigureTable::whole_count(series, row).filter(|total| *total > 0))
            .collect(),
        rounding: crate::stats::Rounding::Nearest,
        is_stated: true,
        are_means: false,
    });
    totals
        .iter()
        .map(|known| known.clone().or_else(|| stated.clone()))
        .collect()
}

/// Returns a table's relations, with those that other tables have between columns of the same names: a short list is of the same source as
/// a long one.
fn with_relations_of_others(
    sheets: &[FigureTable<'_>],
    known: &[Vec<CountRelation>],
    place: usize,
) -> Vec<CountRelation> {
    let own = &sheets[place];
    let mut found = known[place].clone();
    for (sheet, relations) in sheets.iter().zip(known) {
        for relation in relations {
            let named = |of: usize| {
                let series = &sheet.series[of];
                own.series.iter().position(|other| {
                    other.name == series.name
                        && other.role == series.role
                        && (other.part_of.is_some() == series.part_of.is_some())
                })
            };
            let (Some(rate), Some(count), Some(total)) = (
                named(relation.rate),
                named(relation.count),
                named(relation.total),
            ) else {
                continue;
            };
            if !found.iter().any(|known| known.rate == rate)
                && own.series[rate].whole == sheet.series[relation.rate].whole
            {
                found.push(CountRelation {
                    rate,
                    count,
                    total,
                    ..*relation
                });
            }
        }
    }
    found
}
