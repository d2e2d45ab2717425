//! What is wrong with published figures, as tables and sentences.

use crate::views::{CheckedColumn, ClaimFinding, ClaimsAudit, Severity};

use super::cell::TableCell;
use super::phrases::{self, count_with_noun};
use super::table::{ReportTable, TableColumn};

/// Rows that are named in a cell.
const MAX_PLACES: usize = 3;

/// Lays out the findings, and below them the columns that were checked.
pub fn finding_and_check_tables(audit: &ClaimsAudit) -> [ReportTable; 2] {
    [findings_table(audit), checked_columns_table(audit)]
}

fn findings_table(audit: &ClaimsAudit) -> ReportTable {
    let mut table = ReportTable::for_rows("claims").with_title(summarize_findings(audit));
    let each = |cell: &dyn Fn(&ClaimFinding) -> String| {
        audit
            .findings
            .iter()
            .map(|found| TableCell::words(cell(found)))
            .collect::<Vec<_>>()
    };
    if !audit.findings.is_empty() {
        table.add_filled_column(
            TableColumn::words("Finding").keys(["severity"]),
            each(&|found| severity_name(found.severity).to_owned()),
        );
        table.add_filled_column(
            TableColumn::words("Where").keys(["place"]),
            each(&place_of_finding),
        );
        table.add_filled_column(
            TableColumn::words("Row").keys(["row"]),
            each(&claimed_row_names),
        );
        table.add_filled_column(
            TableColumn::words("Column").keys(["column"]),
            each(&|found| found.column.clone()),
        );
        table.add_filled_column(
            TableColumn::words("Published").keys(["published"]),
            each(&|found| found.stated.clone()),
        );
        table.add_filled_column(
            TableColumn::words("Possible").keys(["possible"]).rank(1),
            each(&|found| found.possible.join(", ")),
        );
        table.add_filled_column(
            TableColumn::words("Why").keys(["why"]),
            each(&|found| found.text.clone()),
        );
    }
    table.notes = audit_notes(audit);
    table
}

/// Says how many figures cannot be right. `None` if all may be.
pub fn contradictions_note(audit: &ClaimsAudit) -> Option<String> {
    let worst = audit
        .findings
        .iter()
        .filter(|found| found.severity != Severity::NotEstablished)
        .count() as u64;
    let verb = if worst == 1 {
        "is impossible or contradicts another"
    } else {
        "are impossible or contradict each other"
    };
    (worst > 0).then(|| format!("{} {verb}", count_with_noun(worst, "published figures")))
}

/// Says in one line how many findings there are.
fn summarize_findings(audit: &ClaimsAudit) -> String {
    let of = |severity: Severity| {
        audit
            .findings
            .iter()
            .filter(|found| found.severity == severity)
            .count() as u64
    };
    let rows: u64 = audit.tables.iter().map(|table| table.rows).sum();
    format!(
        "{} impossible, {} contradictory, {} not established, in {} with {}",
        of(Severity::Impossible),
        of(Severity::Contradictory),
        of(Severity::NotEstablished),
        count_with_noun(audit.tables.len() as u64, "tables"),
        count_with_noun(rows, "rows")
    )
}

/// Names a severity for people.
fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Impossible => "impossible",
        Severity::Contradictory => "contradictory",
        Severity::NotEstablished => "not established",
    }
}

fn place_of_finding(found: &ClaimFinding) -> String {
    let rows = found.places.iter().take(MAX_PLACES).map(|place| {
        place
            .line
            .map_or_else(|| format!("row {}", place.row), |line| line.to_string())
    });
    let more = if found.places.len() > MAX_PLACES {
        ", …"
    } else {
        ""
    };
    format!(
        "{}:{}{more}",
        found.table,
        rows.collect::<Vec<_>>().join(",")
    )
}

fn claimed_row_names(found: &ClaimFinding) -> String {
    phrases::first_three(
        &found
            .places
            .iter()
            .map(|place| place.name.clone())
            .collect::<Vec<_>>(),
    )
}

fn audit_notes(audit: &ClaimsAudit) -> Vec<String> {
    let mut notes = Vec::new();
    if audit.findings.is_empty() {
        notes.push(if audit.checked.is_empty() {
            "No column follows from others, and none tells its number of items, so nothing could be checked.".to_owned()
        } else {
            "No figure contradicts the others. That does not make them right.".to_owned()
        });
    }
    if audit
        .findings
        .iter()
        .any(|found| found.severity != Severity::NotEstablished)
    {
        notes.push(
            "A finding is a question to the source: it may have another count, another rounding or another table in mind.".to_owned(),
        );
    }
    notes
}

/// The columns that follow from others. A number of items is recovered if the digits tell it.
fn checked_columns_table(audit: &ClaimsAudit) -> ReportTable {
    let mut table = ReportTable::for_rows("checked").with_title("Checked columns");
    let each = |cell: &dyn Fn(&CheckedColumn) -> TableCell| {
        audit.checked.iter().map(cell).collect::<Vec<_>>()
    };
    if audit.checked.is_empty() {
        return table;
    }
    table.add_filled_column(
        TableColumn::words("Table").keys(["table"]),
        each(&|column| TableCell::words(column.table.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Column").keys(["column"]),
        each(&|column| TableCell::words(column.column.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Follows as").keys(["follows"]),
        each(&|column| TableCell::words(column.follows.as_str())),
    );
    table.add_filled_column(
        TableColumn::number("Agree").keys(["agree"]),
        each(&|column| TableCell::count(column.agree)),
    );
    table.add_filled_column(
        TableColumn::number("Rows").keys(["rows"]),
        each(&|column| TableCell::count(column.rows)),
    );
    let chance = |column: &CheckedColumn| {
        column.chance.map_or_else(
            || TableCell::words(""),
            |chance| TableCell::number("< 0.001", chance),
        )
    };
    table.add_filled_column(
        TableColumn::number("By chance").keys(["chance"]).rank(1),
        each(&chance),
    );
    if audit
        .checked
        .iter()
        .any(|column| column.recovered.is_some())
    {
        table.notes.push(
            "A recovered number of items is the smallest of which each figure is a count; \"by chance\" bounds how often arbitrary digits give one."
                .to_owned(),
        );
    }
    table
}
