//! Lays views out as tables.

use crate::domain::{Direction, UnfinishedRun, Unit, score_label};
use crate::views::{Board, RunLine, ShownRun, SuiteLine, UNNAMED_APPROACHES};

use super::cell::{Datum, TableCell};
use super::table::{ColumnVisibility, ReportTable, TableColumn};
use super::{format, phrases};

/// Lays out the suites of a store.
pub fn suites_table(lines: &[SuiteLine]) -> ReportTable {
    let each =
        |cell: &dyn Fn(&SuiteLine) -> TableCell| lines.iter().map(cell).collect::<Vec<TableCell>>();
    let mut table = ReportTable::for_rows("suites");
    table.add_filled_column(
        TableColumn::words("Suite").keys(["suite"]),
        each(&|line| TableCell::words(line.suite.as_str())),
    );
    table.add_filled_column(
        TableColumn::number("Runs").keys(["runs"]),
        each(&|line| TableCell::count(line.runs)),
    );
    let named = |line: &SuiteLine| -> Vec<String> {
        line.approaches
            .iter()
            .filter(|name| !UNNAMED_APPROACHES.contains(&name.as_str()))
            .cloned()
            .collect()
    };
    let approaches = |line: &SuiteLine| {
        TableCell::for_people(phrases::first_three(&named(line)))
            .with_data([line.approaches.join("; ").into()])
    };
    let seen_if = |is_any: bool| {
        if lines.is_empty() || is_any {
            ColumnVisibility::Everywhere
        } else {
            ColumnVisibility::Data
        }
    };
    let has_approaches = lines.iter().any(|line| !named(line).is_empty());
    table.add_filled_column(
        TableColumn::words("Approaches")
            .keys(["approaches"])
            .rank(1)
            .visible_in(seen_if(has_approaches)),
        each(&approaches),
    );
    table.add_filled_column(
        TableColumn::number("Models")
            .keys(["models"])
            .rank(1)
            .visible_in(seen_if(lines.iter().any(|line| line.models > 0))),
        each(&|line| TableCell::count(line.models)),
    );
    table.add_filled_column(
        TableColumn::number("Versions").keys(["versions"]).rank(3),
        each(&|line| TableCell::count(line.versions)),
    );
    table.add_filled_column(
        TableColumn::words("Newest").keys(["newest"]).rank(2),
        each(&|line| TableCell::time_or_unknown(line.newest)),
    );
    let sources = |line: &SuiteLine| {
        let shown = match line.sources.as_slice() {
            [first, _, ..] => format!("{first} and {} more", line.sources.len() - 1),
            [first] => first.clone(),
            [] => String::new(),
        };
        TableCell::for_people(shown).with_data([line.sources.join("; ").into()])
    };
    table.add_filled_column(
        TableColumn::words("Sources").keys(["sources"]).rank(3),
        each(&sources),
    );
    table
}

/// Lays out runs, one per row.
pub fn runs_table<'a>(lines: impl IntoIterator<Item = &'a RunLine>) -> ReportTable {
    let lines: Vec<&RunLine> = lines.into_iter().collect();
    let each = |cell: &dyn Fn(&RunLine) -> TableCell| {
        lines
            .iter()
            .map(|line| cell(line))
            .collect::<Vec<TableCell>>()
    };
    let mut table = ReportTable::for_rows("runs");
    table.add_filled_column(
        TableColumn::words("Run").keys(["run"]).field("id"),
        each(&|line| TableCell::words(line.id.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Suite").keys(["suite"]).field("suite"),
        each(&|line| TableCell::words(line.suite.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Arm").visible_in(ColumnVisibility::Pages),
        each(&|line| TableCell::words(phrases::arm_name(&line.suite, &line.arm))),
    );
    // Names that no run has need no column; data has what stands for them.
    let seen = |is_known: bool| {
        if is_known {
            ColumnVisibility::Lines
        } else {
            ColumnVisibility::Data
        }
    };
    let part = |name: &str, is_known: bool| {
        TableCell::for_people(if is_known { name } else { "" }).with_data([name.into()])
    };
    table.add_filled_column(
        TableColumn::words("Approach")
            .keys(["approach"])
            .visible_in(seen(lines.iter().any(|line| line.arm.has_approach()))),
        each(&|line| part(&line.arm.approach, line.arm.has_approach())),
    );
    table.add_filled_column(
        TableColumn::words("Model")
            .keys(["model"])
            .visible_in(seen(lines.iter().any(|line| line.arm.has_model()))),
        each(&|line| part(&line.arm.model, line.arm.has_model())),
    );
    table.add_filled_column(
        TableColumn::words("Status")
            .keys(["status"])
            .field("status")
            .rank(1),
        each(&|line| TableCell::words(line.status.as_str())),
    );
    let passed = |line: &RunLine| {
        let Some((passed, total)) = line.passed.zip(line.total) else {
            return TableCell::unknown("unknown");
        };
        let [low, high] = Datum::interval_ends(line.interval);
        let data = [passed.into(), total.into(), low, high];
        TableCell {
            sort: Some(passed as f64 / total.max(1) as f64),
            ..TableCell::for_people(passed_of_total(passed, total)).with_data(data)
        }
    };
    table.add_filled_column(
        TableColumn::number("Passed")
            .keys(["passed", "total", "ci95_low", "ci95_high"])
            .field("passed")
            .unit(Unit::Count)
            .better_direction(Direction::Up),
        each(&passed),
    );
    let cost = TableColumn::number("Cost")
        .keys(["cost_usd", "cost_is_lower_bound"])
        .field("cost")
        .unit(Unit::Usd)
        .better_direction(Direction::Down)
        .rank(2);
    table.add_filled_column(cost, each(&|line| phrases::money_cell(line.cost.as_ref())));
    let tokens = |line: &RunLine| {
        TableCell::number_or_unknown(line.tokens, |tokens| format::fixed_decimals(tokens, 0))
    };
    table.add_filled_column(
        TableColumn::number("Tokens")
            .keys(["tokens"])
            .field("tokens")
            .unit(Unit::Tokens)
            .better_direction(Direction::Down)
            .rank(4),
        each(&tokens),
    );
    let duration =
        |line: &RunLine| TableCell::number_or_unknown(line.duration_seconds, format::duration);
    table.add_filled_column(
        TableColumn::number("Duration")
            .keys(["duration_seconds"])
            .field("duration_seconds")
            .unit(Unit::Seconds)
            .better_direction(Direction::Down)
            .rank(2),
        each(&duration),
    );
    table.add_filled_column(
        TableColumn::words("Ended")
            .keys(["timestamp"])
            .field("timestamp")
            .better_direction(Direction::Up)
            .rank(3),
        each(&|line| TableCell::time_or_unknown(line.timestamp)),
    );
    table.add_filled_column(
        TableColumn::for_programs(["batch"]),
        each(&|line| TableCell::for_programs([line.batch.as_deref().into()])),
    );
    let source = |line: &RunLine| TableCell::words(line.source.as_deref().unwrap_or_default());
    table.add_filled_column(
        TableColumn::words("Imported from")
            .keys(["source"])
            .field("source")
            .visible_in(ColumnVisibility::Pages)
            .rank(5),
        each(&source),
    );
    table
}

/// Lays out runs without a header, one per row.
pub fn unfinished_runs_table(lines: &[UnfinishedRun]) -> ReportTable {
    let each = |cell: &dyn Fn(&UnfinishedRun) -> TableCell| {
        lines.iter().map(cell).collect::<Vec<TableCell>>()
    };
    let name = |name: &Option<String>| {
        name.clone()
            .map_or_else(|| TableCell::unknown("unknown"), TableCell::words)
    };
    let mut table = ReportTable::for_rows("unfinished").with_title("Not finished".to_owned());
    table.add_filled_column(
        TableColumn::words("Run").keys(["run"]),
        each(&|line| TableCell::words(line.id.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Suite").keys(["suite"]),
        each(&|line| name(&line.suite)),
    );
    table.add_filled_column(
        TableColumn::words("Approach").keys(["approach"]),
        each(&|line| name(&line.approach)),
    );
    table.add_filled_column(
        TableColumn::words("Model").keys(["model"]),
        each(&|line| name(&line.model)),
    );
    table.add_filled_column(
        TableColumn::words("State").keys(["state"]),
        each(&|line| TableCell::words(line.state.name())),
    );
    table.add_filled_column(
        TableColumn::number("Outcomes").keys(["outcomes"]),
        each(&|line| TableCell::count(line.outcomes)),
    );
    let passed = |line: &UnfinishedRun| {
        TableCell::for_people(passed_of_total(line.passed, line.counted))
            .with_data([line.passed.into(), line.counted.into()])
    };
    table.add_filled_column(
        TableColumn::number("Passed")
            .keys(["passed", "counted"])
            .rank(1),
        each(&passed),
    );
    table.add_filled_column(
        TableColumn::words("Begun").keys(["begun"]).rank(2),
        each(&|line| TableCell::time_or_unknown(line.begun)),
    );
    table.notes.extend(
        lines
            .iter()
            .filter_map(|line| line.resume.as_ref())
            .take(1)
            .map(|command| format!("To resume: {command}")),
    );
    table
}

/// Formats passed and total: `18/20 (90%)`.
fn passed_of_total(passed: u64, total: u64) -> String {
    let share = if total == 0 {
        String::new()
    } else {
        format!(
            " ({})",
            format::percent(passed as f64 / total as f64, total)
        )
    };
    format!(
        "{}/{}{share}",
        format::format_integer(passed),
        format::format_integer(total)
    )
}

/// Lays out one run, one fact per row.
pub fn run_table(shown: &ShownRun) -> ReportTable {
    let page = &shown.page;
    let line = &page.line;
    let mut table = ReportTable::new(format!("Run {}", line.id));
    table.add_text_column("", 0);
    table.add_text_column("", 0);
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.add_row([name.to_owned(), value]);
        }
    };
    fact("Suite", Some(line.suite.clone()));
    fact(
        "Approach",
        line.arm.has_approach().then(|| line.arm.approach.clone()),
    );
    fact(
        "Model",
        line.arm.has_model().then(|| line.arm.model.clone()),
    );
    fact("Status", Some(line.status.clone()));
    fact("Error", page.error.clone());
    fact(
        "Time",
        Some(
            line.timestamp
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), format::day_with_time),
        ),
    );
    fact(
        if page.item_word.as_deref() == Some("questions") {
            "Accuracy"
        } else {
            "Passed"
        },
        line.passed.zip(line.total).map(|(passed, total)| {
            let interval = line.interval.map_or_else(String::new, |interval| {
                format!(", 95% CI {}", format::percent_interval(interval, total))
            });
            format!(
                "{}/{} ({}{interval})",
                format::format_integer(passed),
                format::format_integer(total),
                format::percent(passed as f64 / total.max(1) as f64, total)
            )
        }),
    );
    fact(
        "Own tests",
        page.own_tests_passed
            .zip(page.own_tests_total)
            .map(|(passed, total)| format!("{passed}/{total}")),
    );
    fact(
        "Outcomes",
        (page.outcomes > 0).then(|| {
            page.statuses
                .iter()
                .map(|(status, count)| format!("{} {status}", format::format_integer(*count)))
                .collect::<Vec<_>>()
                .join(", ")
        }),
    );
    // Evaluators' scores have a table of their own.
    let is_told = |metric: &str| {
        page.evaluators
            .iter()
            .any(|score| score.evaluator == metric)
    };
    for score in page
        .scores
        .iter()
        .filter(|score| !score.is_pass_rate && !is_told(&score.metric))
    {
        let n = score.n.unwrap_or(0);
        fact(
            score_label(&score.metric),
            Some(score.value.map_or_else(
                || "not evaluated".to_owned(),
                |value| format::value_in_unit(value, score.unit, n),
            )),
        );
    }
    fact(
        "Cost",
        Some(line.cost.as_ref().map_or_else(
            || "unknown".to_owned(),
            |cost| format!("{} ({})", phrases::money_or_bound(cost), page.cost_source),
        )),
    );
    fact(
        "Tokens",
        line.tokens.map(|tokens| format::fixed_decimals(tokens, 0)),
    );
    fact(
        "Duration",
        Some(
            line.duration_seconds
                .map_or_else(|| "unknown".to_owned(), format::duration),
        ),
    );
    fact(
        "Verification",
        page.verification
            .as_ref()
            .and_then(|stored| super::verification::outcome_with_next_step(&stored.record)),
    );
    fact("Agent calls", page.total_calls.map(format::format_integer));
    fact("Turns", page.turns.map(format::format_integer));
    fact("Files", page.files_generated.map(format::format_integer));
    fact("Lines", page.lines_generated.map(format::format_integer));
    fact("Agent", page.agent.clone());
    fact("Model, reported", page.reported_model.clone());
    fact("Batch", line.batch.clone());
    fact("Seed", page.seed.map(|seed| seed.to_string()));
    fact("Suite version", page.suite_version.clone());
    fact("Tool version", page.tool_version.clone());
    fact("Isolation", page.isolation.clone());
    for (name, value) in page.resources.iter().flat_map(phrases::describe_resources) {
        fact(name, Some(value));
    }
    fact("Git", page.git_rev.clone());
    for (key, value) in &page.tags {
        fact(&format!("Tag {key}"), Some(value.clone()));
    }
    for stated in &page.stated {
        // Published figures have at least one decimal: show them as published.
        let shown = |number: f64| match stated.unit {
            Unit::Fraction => format!("{}%", format::fixed_decimals(number * 100.0, 2)),
            unit => format::value_in_unit(number, unit, 0),
        };
        let verdict = match (stated.recomputed, stated.disagrees) {
            // If rounding hides the difference, show all digits.
            (Some(recomputed), Some(true)) if shown(stated.stated) == shown(recomputed) => {
                format!(
                    "{} published, but its own counts give {recomputed}",
                    stated.stated
                )
            }
            (Some(recomputed), Some(true)) => format!(
                "{} published, but its own counts give {}",
                shown(stated.stated),
                shown(recomputed)
            ),
            (Some(_), _) => format!(
                "{} published, agrees with its own counts",
                shown(stated.stated)
            ),
            (None, _) => format!("{} published, no counts to check it", shown(stated.stated)),
        };
        fact(&stated.name, Some(verdict));
    }
    for (name, value) in &page.provenance {
        fact(&format!("From: {name}"), Some(value.clone()));
    }
    fact("Transcript", shown.transcript.clone());
    fact("Output", shown.output.clone());
    table.sheet = Some(Box::new(runs_table([line])));
    table
}

/// Lays out boards one below the other, with notes on aliases and retracted runs.
pub fn board_tables(board: &Board) -> Vec<ReportTable> {
    with_scope_notes(
        board
            .suites
            .iter()
            .map(super::board::annotated_table)
            .collect(),
        board.retracted,
        board.aliased,
    )
}

/// Adds notes on aliases and retracted runs to the last table.
pub fn with_scope_notes(
    mut tables: Vec<ReportTable>,
    retracted: u64,
    aliased: bool,
) -> Vec<ReportTable> {
    if let Some(last) = tables.last_mut() {
        last.notes.extend(scope_notes(retracted, aliased));
    }
    tables
}

/// Returns notes on aliases and retracted runs in the data.
pub fn scope_notes(retracted: u64, aliased: bool) -> Vec<String> {
    let mapped = aliased.then(|| "Names are mapped by the configuration's aliases.".to_owned());
    retracted_note(retracted)
        .into_iter()
        .chain(mapped)
        .collect()
}

/// Counts the retracted runs, or returns `None` if there are none.
pub fn retracted_note(retracted: u64) -> Option<String> {
    (retracted > 0).then(|| format!("{} retracted.", phrases::count_runs(retracted)))
}
