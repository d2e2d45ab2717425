//! What is wrong with published figures, as tables and sentences.

use crate::views::{CheckedColumn, ClaimFinding, ClaimsAudit, Severity};

use super::cell::Cell;
use super::table::{Column, Table};
use super::words::{self, count_of};

/// Rows that are named in a cell.
const MOST_PLACES: usize = 3;

/// Lays out the findings, and below them the columns that were checked.
pub fn tables(audit: &ClaimsAudit) -> [Table; 2] {
    [findings(audit), checked(audit)]
}

fn findings(audit: &ClaimsAudit) -> Table {
    let mut table = Table::of("claims").titled(summary(audit));
    let each = |cell: &dyn Fn(&ClaimFinding) -> String| {
        audit
            .findings
            .iter()
            .map(|found| Cell::words(cell(found)))
            .collect::<Vec<_>>()
    };
    if !audit.findings.is_empty() {
        table.column(
            Column::words("Finding").keys(["severity"]),
            each(&|found| severity(found.severity).to_owned()),
        );
        table.column(Column::words("Where").keys(["place"]), each(&place));
        table.column(Column::words("Row").keys(["row"]), each(&names));
        table.column(
            Column::words("Column").keys(["column"]),
            each(&|found| found.column.clone()),
        );
        table.column(
            Column::words("Published").keys(["published"]),
            each(&|found| found.stated.clone()),
        );
        table.column(
            Column::words("Possible").keys(["possible"]).rank(1),
            each(&|found| found.possible.join(", ")),
        );
        table.column(
            Column::words("Why").keys(["why"]),
            each(&|found| found.text.clone()),
        );
    }
    table.notes = notes(audit);
    table
}

/// Says how many figures cannot be right. `None` if all may be.
pub fn contradictions(audit: &ClaimsAudit) -> Option<String> {
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
    (worst > 0).then(|| format!("{} {verb}", count_of(worst, "published figures")))
}

/// Says in one line how many findings there are.
fn summary(audit: &ClaimsAudit) -> String {
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
        count_of(audit.tables.len() as u64, "tables"),
        count_of(rows, "rows")
    )
}

/// Names a severity for people.
fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Impossible => "impossible",
        Severity::Contradictory => "contradictory",
        Severity::NotEstablished => "not established",
    }
}

fn place(found: &ClaimFinding) -> String {
    let rows = found.places.iter().take(MOST_PLACES).map(|place| {
        place
            .line
            .map_or_else(|| format!("row {}", place.row), |line| line.to_string())
    });
    let more = if found.places.len() > MOST_PLACES {
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

fn names(found: &ClaimFinding) -> String {
    words::first_three(
        &found
            .places
            .iter()
            .map(|place| place.name.clone())
            .collect::<Vec<_>>(),
    )
}

fn notes(audit: &ClaimsAudit) -> Vec<String> {
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
fn checked(audit: &ClaimsAudit) -> Table {
    let mut table = Table::of("checked").titled("Checked columns");
    let each =
        |cell: &dyn Fn(&CheckedColumn) -> Cell| audit.checked.iter().map(cell).collect::<Vec<_>>();
    if audit.checked.is_empty() {
        return table;
    }
    table.column(
        Column::words("Table").keys(["table"]),
        each(&|column| Cell::words(column.table.as_str())),
    );
    table.column(
        Column::words("Column").keys(["column"]),
        each(&|column| Cell::words(column.column.as_str())),
    );
    table.column(
        Column::words("Follows as").keys(["follows"]),
        each(&|column| Cell::words(column.follows.as_str())),
    );
    table.column(
        Column::number("Agree").keys(["agree"]),
        each(&|column| Cell::count(column.agree)),
    );
    table.column(
        Column::number("Rows").keys(["rows"]),
        each(&|column| Cell::count(column.rows)),
    );
    let chance = |column: &CheckedColumn| {
        column
            .chance
            .map_or_else(|| Cell::words(""), |chance| Cell::number("< 0.001", chance))
    };
    table.column(
        Column::number("By chance").keys(["chance"]).rank(1),
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
