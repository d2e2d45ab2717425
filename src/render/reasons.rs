//! Reasons why items did not pass, with their counts, for a table and for single lines.

use crate::views::{Reason, ShownRun};

use super::cell::TableCell;
use super::format;
use super::item_table::first_line;
use super::table::{ReportTable, TableColumn};

/// Lays out why a run's items did not pass, or returns `None` if no reason occurs more than once.
pub fn failure_table(shown: &ShownRun) -> Option<ReportTable> {
    let reasons = &shown.page.reasons;
    let mut table = ReportTable::new("Why items did not pass");
    let each =
        |cell: &dyn Fn(&Reason) -> TableCell| reasons.iter().map(cell).collect::<Vec<TableCell>>();
    table.add_filled_column(
        TableColumn::number("Items").keys(["items"]),
        each(&|reason| TableCell::count(reason.count)),
    );
    table.add_filled_column(
        TableColumn::words("Outcome").keys(["status"]),
        each(&|reason| TableCell::words(reason.status.replace('_', " "))),
    );
    table.add_filled_column(
        TableColumn::words("Why").keys(["reason"]),
        each(&|reason| TableCell::words(first_line(&reason_with_meaning(&reason.reason)))),
    );
    table.add_filled_column(
        TableColumn::words("First").keys(["first"]).rank(1),
        each(&|reason| TableCell::words(reason.example.as_str())),
    );
    // An item's own row has a reason that occurs once.
    (reasons.iter().any(|reason| reason.count > 1)).then_some(table)
}

/// Formats a reason with its count, such as "10 missing: no `answer` tag; …".
pub fn counted_reason(reason: &Reason) -> String {
    match known_meaning(&reason.reason) {
        Some(meaning) => format!(
            "{} {}: {meaning}",
            format::format_integer(reason.count),
            reason.reason.replace('_', " ")
        ),
        None => format!(
            "{} {}: {}",
            format::format_integer(reason.count),
            reason.status.replace('_', " "),
            reason.reason
        ),
    }
}

/// Returns a known reason's name with its meaning, or other reasons as they are.
pub(super) fn reason_with_meaning(reason: &str) -> String {
    known_meaning(reason).map_or_else(
        || reason.to_owned(),
        |meaning| format!("{}: {meaning}", reason.replace('_', " ")),
    )
}

/// Returns what is wrong with an answer, by the kind's name in results.
fn known_meaning(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "missing" => {
            "no `<answer>` tag; the prompt asks for a reply that ends in `<answer>choice</answer>`"
        }
        "trailing_text" => {
            "there is text after `</answer>`; the prompt asks for a reply that ends in it"
        }
        "xml_error" => {
            "the text in `<answer>` is not valid XML; write `<` and `&` as `&lt;` and `&amp;`"
        }
        "wrong_tag" => "the tag is `<answers>`; the prompt asks for `<answer>choice</answer>`",
        "empty" => "there is nothing in `<answer>`",
        "invalid_choice" => "the answer is not one of the choices",
        "wrong_choice" => "another choice is right",
        "wrong_answer" => "the answer was read, and another one is right",
        "missing_answer" => "the grader found no answer in the reply",
        "unparsable_answer" => "there is an answer, but not of the grader's kind",
        "ambiguous_answer" => "the answer has several readings, and only some are right",
        "unknown_unit" => "the unit is none of the grader's, or is absent",
        _ => return None,
    })
}
