//! Lays views out as tables.

use crate::domain::{Direction, UnfinishedRun, Unit, score_label};
use crate::views::{Board, RunLine, ShownRun, SuiteLine, UNNAMED};

use super::cell::{Cell, Datum};
use super::table::{Column, Seen, Table};
use super::{format, words};

/// Lays out the suites of a store.
pub fn suites(lines: &[SuiteLine]) -> Table {
    let each = |cell: &dyn Fn(&SuiteLine) -> Cell| lines.iter().map(cell).collect::<Vec<Cell>>();
    let mut table = Table::of("suites");
    table.column(
        Column::words("Suite").keys(["suite"]),
        each(&|line| Cell::words(line.suite.as_str())),
    );
    table.column(
        Column::number("Runs").keys(["runs"]),
        each(&|line| Cell::count(line.runs)),
    );
    let named = |line: &SuiteLine| -> Vec<String> {
        line.approaches
            .iter()
            .filter(|name| !UNNAMED.contains(&name.as_str()))
            .cloned()
            .collect()
    };
    let approaches = |line: &SuiteLine| {
        Cell::shown(words::first_three(&named(line))).data([line.approaches.join("; ").into()])
    };
    let seen = if lines.is_empty() || lines.iter().any(|line| !named(line).is_empty()) {
        Seen::Everywhere
    } else {
        Seen::Data
    };
    table.column(
        Column::words("Approaches")
            .keys(["approaches"])
            .rank(1)
            .seen(seen),
        each(&approaches),
    );
    table.column(
        Column::number("Models").keys(["models"]).rank(1),
        each(&|line| Cell::count(line.models)),
    );
    table.column(
        Column::number("Versions").keys(["versions"]).rank(3),
        each(&|line| Cell::count(line.versions)),
    );
    table.column(
        Column::words("Newest").keys(["newest"]).rank(2),
        each(&|line| Cell::time(line.newest)),
    );
    let sources = |line: &SuiteLine| {
        let shown = match line.sources.as_slice() {
            [first, _, ..] => format!("{first} and {} more", line.sources.len() - 1),
            [first] => first.clone(),
            [] => String::new(),
        };
        Cell::shown(shown).data([line.sources.join("; ").into()])
    };
    table.column(
        Column::words("Sources").keys(["sources"]).rank(3),
        each(&sources),
    );
    table
}

/// Lays out runs, one per row.
pub fn runs<'a>(lines: impl IntoIterator<Item = &'a RunLine>) -> Table {
    let lines: Vec<&RunLine> = lines.into_iter().collect();
    let each = |cell: &dyn Fn(&RunLine) -> Cell| {
        lines.iter().map(|line| cell(line)).collect::<Vec<Cell>>()
    };
    let mut table = Table::of("runs");
    table.column(
        Column::words("Run").keys(["run"]).field("id"),
        each(&|line| Cell::words(line.id.as_str())),
    );
    table.column(
        Column::words("Suite").keys(["suite"]).field("suite"),
        each(&|line| Cell::words(line.suite.as_str())),
    );
    table.column(
        Column::words("Arm").seen(Seen::Pages),
        each(&|line| Cell::words(words::arm_name(&line.suite, &line.arm))),
    );
    // Names that no run has need no column; data has what stands for them.
    let seen = |is_known: bool| if is_known { Seen::Lines } else { Seen::Data };
    let part = |name: &str, is_known: bool| {
        Cell::shown(if is_known { name } else { "" }).data([name.into()])
    };
    table.column(
        Column::words("Approach")
            .keys(["approach"])
            .seen(seen(lines.iter().any(|line| line.arm.has_approach()))),
        each(&|line| part(&line.arm.approach, line.arm.has_approach())),
    );
    table.column(
        Column::words("Model")
            .keys(["model"])
            .seen(seen(lines.iter().any(|line| line.arm.has_model()))),
        each(&|line| part(&line.arm.model, line.arm.has_model())),
    );
    table.column(
        Column::words("Status")
            .keys(["status"])
            .field("status")
            .rank(1),
        each(&|line| Cell::words(line.status.as_str())),
    );
    let passed = |line: &RunLine| {
        let Some((passed, total)) = line.passed.zip(line.total) else {
            return Cell::unknown("unknown");
        };
        let [low, high] = Datum::ends(line.interval);
        let data = [passed.into(), total.into(), low, high];
        Cell {
            sort: Some(passed as f64 / total.max(1) as f64),
            ..Cell::shown(passed_of(passed, total)).data(data)
        }
    };
    table.column(
        Column::number("Passed")
            .keys(["passed", "total", "ci95_low", "ci95_high"])
            .field("passed")
            .unit(Unit::Count)
            .better(Direction::Up),
        each(&passed),
    );
    let cost = Column::number("Cost")
        .keys(["cost_usd", "cost_is_lower_bound"])
        .field("cost")
        .unit(Unit::Usd)
        .better(Direction::Down)
        .rank(2);
    table.column(cost, each(&|line| words::money_cell(line.cost.as_ref())));
    let tokens = |line: &RunLine| Cell::measured(line.tokens, |tokens| format::fixed(tokens, 0));
    table.column(
        Column::number("Tokens")
            .keys(["tokens"])
            .field("tokens")
            .unit(Unit::Tokens)
            .better(Direction::Down)
            .rank(4),
        each(&tokens),
    );
    let duration = |line: &RunLine| Cell::measured(line.duration_seconds, format::seconds);
    table.column(
        Column::number("Duration")
            .keys(["duration_seconds"])
            .field("duration_seconds")
            .unit(Unit::Seconds)
            .better(Direction::Down)
            .rank(2),
        each(&duration),
    );
    table.column(
        Column::words("Ended")
            .keys(["timestamp"])
            .field("timestamp")
            .better(Direction::Up)
            .rank(3),
        each(&|line| Cell::time(line.timestamp)),
    );
    table.column(
        Column::data(["batch"]),
        each(&|line| Cell::figures([line.batch.as_deref().into()])),
    );
    let source = |line: &RunLine| Cell::words(line.source.as_deref().unwrap_or_default());
    table.column(
        Column::words("Imported from")
            .keys(["source"])
            .field("source")
            .seen(Seen::Pages)
            .rank(5),
        each(&source),
    );
    table
}

/// Lays out runs without a header, one per row.
pub fn unfinished(lines: &[UnfinishedRun]) -> Table {
    let each =
        |cell: &dyn Fn(&UnfinishedRun) -> Cell| lines.iter().map(cell).collect::<Vec<Cell>>();
    let name = |name: &Option<String>| {
        name.clone()
            .map_or_else(|| Cell::unknown("unknown"), Cell::words)
    };
    let mut table = Table::of("unfinished").titled("Not finished".to_owned());
    table.column(
        Column::words("Run").keys(["run"]),
        each(&|line| Cell::words(line.id.as_str())),
    );
    table.column(
        Column::words("Suite").keys(["suite"]),
        each(&|line| name(&line.suite)),
    );
    table.column(
        Column::words("Approach").keys(["approach"]),
        each(&|line| name(&line.approach)),
    );
    table.column(
        Column::words("Model").keys(["model"]),
        each(&|line| name(&line.model)),
    );
    table.column(
        Column::words("State").keys(["state"]),
        each(&|line| Cell::words(line.state.name())),
    );
    table.column(
        Column::number("Outcomes").keys(["outcomes"]),
        each(&|line| Cell::count(line.outcomes)),
    );
    let passed = |line: &UnfinishedRun| {
        Cell::shown(passed_of(line.passed, line.counted))
            .data([line.passed.into(), line.counted.into()])
    };
    table.column(
        Column::number("Passed").keys(["passed", "counted"]).rank(1),
        each(&passed),
    );
    table.column(
        Column::words("Begun").keys(["begun"]).rank(2),
        each(&|line| Cell::time(line.begun)),
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
fn passed_of(passed: u64, total: u64) -> String {
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
        format::integer(passed),
        format::integer(total)
    )
}

/// Lays out one run, one fact per row.
pub fn run(shown: &ShownRun) -> Table {
    let page = &shown.page;
    let line = &page.line;
    let mut table = Table::new(format!("Run {}", line.id));
    table.left("", 0);
    table.left("", 0);
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row([name.to_owned(), value]);
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
                .map_or_else(|| "unknown".to_owned(), format::date),
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
                format::integer(passed),
                format::integer(total),
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
                .map(|(status, count)| format!("{} {status}", format::integer(*count)))
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
                |value| format::value(value, score.unit, n),
            )),
        );
    }
    fact(
        "Cost",
        Some(line.cost.as_ref().map_or_else(
            || "unknown".to_owned(),
            |cost| format!("{} ({})", words::money(cost), page.cost_source),
        )),
    );
    fact("Tokens", line.tokens.map(|tokens| format::fixed(tokens, 0)));
    fact(
        "Duration",
        Some(
            line.duration_seconds
                .map_or_else(|| "unknown".to_owned(), format::seconds),
        ),
    );
    fact(
        "Verification",
        page.verification
            .as_ref()
            .and_then(|stored| super::verification::outcome(&stored.record)),
    );
    fact("Agent calls", page.total_calls.map(format::integer));
    fact("Turns", page.turns.map(format::integer));
    fact("Files", page.files_generated.map(format::integer));
    fact("Lines", page.lines_generated.map(format::integer));
    fact("Agent", page.agent.clone());
    fact("Model, reported", page.reported_model.clone());
    fact("Batch", line.batch.clone());
    fact("Seed", page.seed.map(|seed| seed.to_string()));
    fact("Suite version", page.suite_version.clone());
    fact("Tool version", page.tool_version.clone());
    fact("Isolation", page.isolation.clone());
    for (name, value) in page.resources.iter().flat_map(words::resources) {
        fact(name, Some(value));
    }
    fact("Git", page.git_rev.clone());
    for (key, value) in &page.tags {
        fact(&format!("Tag {key}"), Some(value.clone()));
    }
    for stated in &page.stated {
        // Published figures have at least one decimal: show them as published.
        let shown = |number: f64| match stated.unit {
            Unit::Fraction => format!("{}%", format::fixed(number * 100.0, 2)),
            unit => format::value(number, unit, 0),
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
    table.sheet = Some(Box::new(runs([line])));
    table
}

/// Lays out boards one below the other, with notes on aliases and retracted runs.
pub fn boards(board: &Board) -> Vec<Table> {
    scoped(
        board.suites.iter().map(super::board::table).collect(),
        board.retracted,
        board.aliased,
    )
}

/// Adds notes on aliases and retracted runs to the last table.
pub fn scoped(mut tables: Vec<Table>, retracted: u64, aliased: bool) -> Vec<Table> {
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
    (retracted > 0).then(|| format!("{} retracted.", words::count_runs(retracted)))
}
