//! People's labels as tables. The table of the items to label is the CSV file to fill in.

use crate::views::{LabelReport, MIN_RUNS, NextReport};

use super::cell::TableCell;
use super::table::{ReportTable, TableColumn};
use super::{format, phrases};

/// Lays out the labels that a file added.
pub fn added_labels_table(report: &LabelReport) -> ReportTable {
    let mut table = ReportTable::for_rows("labels").with_title(
        if report.is_dry {
            "Labels to be stored"
        } else {
            "Labels stored"
        }
        .to_owned(),
    );
    let each = |cell: &dyn Fn(&crate::views::LabelledRun) -> TableCell| {
        report.runs.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Run").keys(["run"]),
        each(&|run| TableCell::words(run.run.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Person").keys(["rater"]),
        each(&|run| TableCell::words(run.rater.as_str())),
    );
    table.add_filled_column(
        TableColumn::number("New").keys(["added"]),
        each(&|run| TableCell::count(run.added)),
    );
    table.add_filled_column(
        TableColumn::number("Changed").keys(["changed"]),
        each(&|run| TableCell::count(run.changed)),
    );
    table.add_filled_column(
        TableColumn::number("All labels").keys(["labels"]),
        each(&|run| TableCell::count(run.labels)),
    );
    if report.blank > 0 {
        table.notes.push(format!(
            "Rows without a label, skipped: {}.",
            format::format_integer(report.blank)
        ));
    }
    table
}

/// Lays out the items to label next, ready to be filled in.
pub fn next_labels_table(report: &NextReport) -> ReportTable {
    let mut table = ReportTable::for_rows("next").with_title("Items to label next".to_owned());
    let each = |cell: &dyn Fn(&crate::views::NextLabel) -> TableCell| {
        report.labels.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Run").keys(["run"]),
        each(&|next| TableCell::words(next.run.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Item").keys(["item"]),
        each(&|next| TableCell::words(next.item.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Label").keys(["label"]),
        each(&|_| TableCell::unknown("")),
    );
    table.add_filled_column(
        TableColumn::words("Rater").keys(["rater"]).rank(3),
        each(&|_| TableCell::unknown("")),
    );
    table.add_filled_column(
        TableColumn::words("Suite").keys(["suite"]).rank(2),
        each(&|next| TableCell::words(next.suite.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Approach").keys(["approach"]).rank(1),
        each(&|next| TableCell::words(next.arm.approach.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Model").keys(["model"]).rank(1),
        each(&|next| TableCell::words(next.arm.model.as_str())),
    );
    for board in &report.boards {
        let [now, then, items] =
            [board.labels, board.labels_then, board.items].map(format::format_integer);
        let reach = |reach: f64| format!("±{} pp", format::fixed_decimals(reach * 100.0, 1));
        let width = match (board.reach, board.reach_then) {
            (Some(now), Some(then)) => format!(
                "; an arm's interval: about {} now, {} then",
                reach(now),
                reach(then)
            ),
            (None, Some(then)) => format!("; an arm's interval: about {} then", reach(then)),
            (_, None) => String::new(),
        };
        let how = match (board.is_by_verdict, board.is_over_runs) {
            (true, _) => "at random within each verdict, more where the judge errs more",
            (false, true) => "at random from all runs of each arm",
            (false, false) => "at random, for all arms",
        };
        let of = if board.is_over_runs {
            "outcomes"
        } else {
            "items"
        };
        table.notes.push(format!(
            "{}, judged by {}: {now} of {items} {of} are labelled, {then} with these{width}. Drawn {how}.",
            board.suite,
            phrases::join_list(&board.judges)
        ));
    }
    for suite in &report.too_few_runs {
        table.notes.push(format!(
            "{suite}: the outcomes of a run share one artefact, so labels correct nothing below {MIN_RUNS} runs of each arm. Run more first."
        ));
    }
    if report.boards.is_empty() && report.too_few_runs.is_empty() {
        table
            .notes
            .push("No judge decides any of the selected suites, as far as is known.".to_owned());
    } else if !report.labels.is_empty() {
        table.notes.push(
            "Write it with `--format csv > labels.csv`, fill in `label` with pass or fail, and `evalreport import labels.csv`. Label all of them: leaving out hard ones biases the correction.".to_owned(),
        );
    }
    table
}
