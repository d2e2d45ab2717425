//! Reasons why items did not pass, with their counts, for a table and for single lines.

use crate::views::{Reason, ShownRun};

use super::cell::Cell;
use super::format;
use super::shown::short;
use super::table::{Column, Table};

/// Lays out why a run's items did not pass, or returns `None` if no reason occurs more than once.
pub fn table(shown: &ShownRun) -> Option<Table> {
    let reasons = &shown.page.reasons;
    let mut table = Table::new("Why items did not pass");
    let each = |cell: &dyn Fn(&Reason) -> Cell| reasons.iter().map(cell).collect::<Vec<Cell>>();
    table.column(
        Column::number("Items").keys(["items"]),
        each(&|reason| Cell::count(reason.count)),
    );
    table.column(
        Column::words("Outcome").keys(["status"]),
        each(&|reason| Cell::words(reason.status.replace('_', " "))),
    );
    table.column(
        Column::words("Why").keys(["reason"]),
        each(&|reason| Cell::words(short(&words(&reason.reason)))),
    );
    table.column(
        Column::words("First").keys(["first"]).rank(1),
        each(&|reason| Cell::words(reason.example.as_str())),
    );
    // An item's own row has a reason that occurs once.
    (reasons.iter().any(|reason| reason.count > 1)).then_some(table)
}

/// Formats a reason with its count, such as "10 missing: no `answer` tag; …".
pub fn line(reason: &Reason) -> String {
    match meaning(&reason.reason) {
        Some(meaning) => format!(
            "{} {}: {meaning}",
            format::integer(reason.count),
            reason.reason.replace('_', " ")
        ),
        None => format!(
            "{} {}: {}",
            format::integer(reason.count),
            reason.status.replace('_', " "),
            reason.reason
        ),
    }
}

/// Returns a known reason's name with its meaning, or other reasons as they are.
pub(super) fn words(reason: &str) -> String {
    meaning(reason).map_or_else(
        || reason.to_owned(),
        |meaning| format!("{}: {meaning}", reason.replace('_', " ")),
    )
}

/// Returns what is wrong with an answer, by the kind's name in results.
fn meaning(kind: &str) -> Option<&'static str> {
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
        _ => return None,
    })
}
