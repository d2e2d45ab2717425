//! Views laid out as tables.

use std::collections::BTreeSet;

use crate::domain::{Direction, score_label};
use crate::views::{
    Arm, Board, Comparison, ComparisonRow, Entry, Front, Leader, Money, Overall, Pooling, RunLine, ShownRun, SuiteBoard, SuiteLine,
};

use super::table::Table;
use super::{comparability, details, format, summary, verdicts, words};

/// With more arms than this, arms stand in rows and metrics in columns.
const MAX_ARM_COLUMNS: usize = 6;

/// Lays out a comparison: the decision, then metrics in rows and arms in columns, then at most five lines; all that explains them is more.
pub fn comparison(comparison: &Comparison) -> Table {
    let labels = words::labels(comparison);
    let mut table = Table::new(comparison_title(comparison, &labels));
    table.lead = summary::decision(comparison, &labels).into_iter().collect();
    if labels.len() > MAX_ARM_COLUMNS {
        wide(comparison, &labels, &mut table);
    } else {
        table.left("Metric", 0);
        for label in &labels {
            table.left(label, 0);
        }
        let is_pair = labels.len() == 2;
        if is_pair {
            table.left("Difference", 1);
        }
        table.left("Verdict", 0);
        for row in &comparison.rows {
            let mut cells = vec![metric_label(row)];
            cells.extend(row.cells.iter().map(|cell| words::cell(&row.metric, cell)));
            if is_pair {
                cells.push(verdicts::difference(row));
            }
            cells.push(verdicts::short(comparison, row));
            table.rows.push(cells);
        }
    }
    let mut first = vec![summary::headline(comparison, &labels)];
    first.extend(beyond(comparison, &labels));
    first.extend(verdicts::exclusion_notes(comparison, &labels));
    first.extend(summary::run_notes(comparison, &labels));
    first.extend(comparability::note(comparison, &labels));
    table.more = explained(comparison, &labels);
    // What does not fit into the first lines is explained with the rest.
    table.more.splice(0..0, first.split_off(first.len().min(MAX_NOTES)));
    table.notes = first;
    table
}

/// Lines below a comparison's table.
const MAX_NOTES: usize = 4;

/// The suite, the arms, and what they were measured over: `repo-fixes: planner vs baseline (200 shared items, 1 run each)`.
fn comparison_title(comparison: &Comparison, labels: &[String]) -> String {
    let name = group_name(&comparison.suite, comparison.suite_version.as_deref(), comparison.source.as_deref());
    let runs: Vec<u64> = comparison.arms.iter().map(|arm| arm.run_ids.len() as u64).collect();
    let shared = comparison
        .flips
        .as_ref()
        .map(|flips| format!("{} shared {}, ", format::integer(flips.shared), words::one_or_many(flips.shared, "items")));
    match (labels, runs.as_slice()) {
        ([first, second], [one, other]) => {
            format!("{name}: {first} vs {second} ({}{})", shared.unwrap_or_default(), words::each(*one, *other, "runs"))
        }
        (_, runs) => format!("{name}: {}, {}", words::count_of(labels.len() as u64, "arms"), words::count_of(runs.iter().sum(), "runs")),
    }
}

/// A metric's label with what its figures are over.
pub(super) fn metric_label(row: &ComparisonRow) -> String {
    match row.metric.unit {
        _ if row.metric.name == "cost_per_solved_usd" => row.metric.label.clone(),
        crate::domain::Unit::Usd | crate::domain::Unit::Tokens => format!("{}, mean per run", row.metric.label),
        crate::domain::Unit::Seconds => format!("{}, median", row.metric.label),
        _ => row.metric.label.clone(),
    }
}

/// The other question that the same outcomes answer: would it hold on other clusters?
fn beyond(comparison: &Comparison, labels: &[String]) -> Option<String> {
    let row = comparison.primary()?;
    let [pair] = row.evidence.pairs.as_slice() else { return None };
    let other = pair.beyond.as_ref()?;
    let items = pair.winner().map_or_else(|| "open".to_owned(), |winner| format!("{} wins", labels[winner]));
    let winner = other.verdict.winner().map(|place| pair.at(place));
    let clusters = winner.map_or_else(|| "open".to_owned(), |winner| format!("{} wins", labels[winner]));
    Some(format!(
        "These {}: {items} ({}). Other clusters like these {}: {clusters} ({}).",
        pair.sizes.of,
        verdicts::p_value(pair.p_adjusted),
        format::integer(other.clusters),
        verdicts::p_value(other.p_adjusted)
    ))
}

/// Everything that explains a comparison: intervals, methods, plans, second looks, flips and what was not measured.
fn explained(comparison: &Comparison, labels: &[String]) -> Vec<String> {
    let mut more = Vec::new();
    for row in &comparison.rows {
        let intervals: Vec<String> = labels
            .iter()
            .zip(&row.cells)
            .filter_map(|(label, cell)| {
                let parts: Vec<String> = [words::spread(&row.metric, cell), words::interval(&row.metric, cell, comparison.confidence)]
                    .into_iter()
                    .flatten()
                    .collect();
                (!parts.is_empty()).then(|| format!("{label} {}", parts.join(", ")))
            })
            .collect();
        if !intervals.is_empty() {
            more.push(format!("{}: {}.", row.metric.label, intervals.join("; ")));
        }
        if let Some(estimate) = row.cells.iter().find_map(|cell| cell.estimate.as_ref()) {
            more.push(format!("{}: {}.", row.metric.label, words::method(estimate.method)));
        }
        if let [pair] = row.evidence.pairs.as_slice() {
            if pair.p_adjusted.is_some() {
                let adjusted = verdicts::adjustment(&row.evidence).map_or_else(String::new, |how| format!("; adjusted by {how}"));
                more.push(format!("{}: verdict {}{adjusted}.", row.metric.label, verdicts::method(pair)));
            }
            if row.role == crate::views::Role::Secondary && pair.difference.is_some() {
                more.extend(verdicts::sentences(row, labels));
            }
            more.extend(verdicts::planning(&row.metric, pair));
        }
    }
    more.extend(details::second_looks(comparison));
    if let Some(flips) = &comparison.flips {
        more.push(format!(
            "On {}: both passed {}, only {} {}, only {} {}, neither {}.",
            words::count_of(flips.shared, "items"),
            format::integer(flips.both_passed),
            labels[0],
            format::integer(flips.only_first),
            labels[1],
            format::integer(flips.only_second),
            format::integer(flips.neither),
        ));
        for (label, items) in flips.items.iter().flat_map(|items| [(&labels[0], &items.only_first), (&labels[1], &items.only_second)]) {
            if !items.is_empty() {
                more.push(format!("Only {label}: {}.", items.join(", ")));
            }
        }
    }
    more.extend(words::judged_notes(comparison, labels));
    if !comparison.not_measured.is_empty() {
        more.push(format!("Not measured: {}.", comparison.not_measured.join(", ")));
    }
    more
}

/// Many arms: one row each, ordered as the views have them.
fn wide(comparison: &Comparison, labels: &[String], table: &mut Table) {
    table.left("Arm", 0);
    for (rank, row) in (0u8..).zip(&comparison.rows) {
        table.right(&metric_label(row), rank.min(9));
    }
    for (arm, label) in labels.iter().enumerate() {
        let mut cells = vec![label.clone()];
        cells.extend(comparison.rows.iter().map(|row| {
            let leads = matches!(row.leader, Leader::Leads { arm: leader, .. } if leader == arm);
            let text = words::cell(&row.metric, &row.cells[arm]);
            if leads { format!("▸ {text}") } else { text }
        }));
        table.rows.push(cells);
    }
    for row in &comparison.rows {
        if row.metric.direction != Direction::None {
            table.more.push(format!("{}: {}.", row.metric.label, verdicts::short(comparison, row)));
        }
    }
}

/// Names a group of runs: the suite, and what tells it from another group of the suite.
pub(super) fn group_name(suite: &str, version: Option<&str>, source: Option<&str>) -> String {
    let mut name = suite.to_owned();
    if let Some(version) = version {
        name.push_str(&format!(" (version {})", version.chars().take(12).collect::<String>()));
    }
    if let Some(source) = source {
        name.push_str(&format!(" (from {source})"));
    }
    name
}

const COST_FRONT: &str = "Pass rate and cost";
const DURATION_FRONT: &str = "Pass rate and duration";

/// Lays out one suite's board.
pub fn suite_board(board: &SuiteBoard) -> Table {
    let mut table =
        Table::new(format!("Leaderboard: {}", group_name(&board.suite, board.suite_version.as_deref(), board.source.as_deref())));
    table.right("Rank", 0);
    table.left("Approach", 0);
    table.left("Model", 0);
    table.right(&primary_header(&board.primary), 0);
    table.right("First in resamples", 8);
    table.left("Letters", 7);
    table.right("Passed", 3);
    table.left("n", 0);
    table.right("Runs", 2);
    table.right("Cost, all runs", 1);
    table.right("Cost per solved", 3);
    table.right("Tokens, mean", 4);
    table.right("Duration, median", 2);
    table.right("Duration, p90", 5);
    for column in &board.score_columns {
        table.right(score_label(&column.metric), 6);
    }
    table.left("Verification", 4);
    table.left(COST_FRONT, 8);
    table.left(DURATION_FRONT, 8);
    table.left("Not counted", 1);
    let name = words::names_on(board);
    for entry in &board.entries {
        table.rows.push(entry_cells(entry, board, &name));
    }
    table.drop_empty_columns();
    table.notes = board_notes(board);
    table.instead = front_notes(board);
    table
}

fn entry_cells(entry: &Entry, board: &SuiteBoard, name: &dyn Fn(&Arm) -> String) -> Vec<String> {
    let rate = entry.primary.as_ref();
    let standing = entry.standing.as_ref();
    let mut cells = vec![
        standing.map_or_else(|| "–".to_owned(), |standing| words::rank(standing.rank)),
        entry.arm.approach.clone(),
        entry.arm.model.clone(),
        rate.map_or_else(
            || "n/a".to_owned(),
            |rate| {
                let shown = words::figure_with_interval(&board.primary, rate);
                if rate.is_stated() { format!("{shown} published") } else { shown }
            },
        ),
        standing.and_then(|standing| standing.first_in_resamples).map_or_else(String::new, words::chance),
        standing.and_then(|standing| standing.letters.clone()).unwrap_or_default(),
        rate.and_then(|rate| Some(format!("{}/{}", format::integer(rate.passed?), format::integer(rate.total?)))).unwrap_or_default(),
        rate.map_or_else(String::new, words::basis),
        format::integer(entry.runs),
        entry.cost.as_ref().map_or_else(|| "unknown".to_owned(), words::money),
        words::cost_per_solved(entry).unwrap_or_default(),
        entry.tokens.as_ref().map_or_else(String::new, |tokens| format::fixed(tokens.summary.mean.round(), 0)),
        entry.duration.as_ref().map_or_else(String::new, words::median),
        entry.duration.as_ref().and_then(|spread| spread.p90).map_or_else(String::new, format::seconds),
    ];
    for column in &board.score_columns {
        let score = entry.scores.get(&column.metric);
        cells.push(score.map_or_else(String::new, |figure| format::value(figure.summary.mean, column.unit, figure.summary.n)));
    }
    cells.push(words::verification(&entry.verification));
    let front = |front: Option<&Front>| front.map_or_else(String::new, |front| words::front(front, name));
    cells.push(front(entry.cost_front.as_ref()));
    cells.push(front(entry.duration_front.as_ref()));
    cells.push(words::exclusions(entry).unwrap_or_default());
    cells
}

/// The header of the figure that decides: what it is, its unit, and that an interval stands beside it.
pub fn primary_header(metric: &crate::domain::Metric) -> String {
    let unit = if metric.unit == crate::domain::Unit::Fraction { " %" } else { "" };
    let label = if words::is_pass_rate(metric) { "Pass rate" } else { &metric.label };
    format!("{label}{unit} [95% CI]")
}

/// Says what the board's numbers rest on.
pub fn board_notes(board: &SuiteBoard) -> Vec<String> {
    let mut notes: Vec<String> = verdicts::board_sentence(board).into_iter().collect();
    if board.items > 0 {
        let attempts = if board.attempts > 1 { format!(", up to {} attempts at each", board.attempts) } else { String::new() };
        notes.push(format!("{} {}{attempts}.", format::integer(board.items), words::one_or_many(board.items, "items")));
    }
    let methods: BTreeSet<&str> =
        board.entries.iter().filter_map(|entry| entry.primary.as_ref()).map(|rate| words::method(rate.method)).collect();
    if !methods.is_empty() {
        notes.push(format!("Intervals: {}.", methods.into_iter().collect::<Vec<_>>().join("; ")));
    }
    match board.sources.as_slice() {
        [] => {}
        [one] => notes.push(format!("From {one}.")),
        several => notes.push(format!("Runs from {} sources are pooled: {}.", several.len(), listed(several))),
    }
    notes.extend(verdicts::board_notes(board));
    notes.extend(details::entry_notes(board));
    notes
}

/// Names the arms that no other beats on both quality and price, and those that one does, where the columns have no room.
fn front_notes(board: &SuiteBoard) -> Vec<(String, String)> {
    let label = words::names_on(board);
    let note = |column: &str, price: &str, front: fn(&Entry) -> Option<&Front>| {
        let (mut best, mut dominated) = (Vec::new(), Vec::new());
        for entry in &board.entries {
            match front(entry) {
                Some(Front::OnFront) => best.push(label(&entry.arm)),
                Some(Front::Dominated { by }) => dominated.push(format!("{} (by {})", label(&entry.arm), label(by))),
                None => {}
            }
        }
        let rest = if dominated.is_empty() { String::new() } else { format!(" Worse and not cheaper: {}.", listed(&dominated)) };
        let note = format!("Pareto front of pass rate and {price}, on the numbers shown: {}.{rest}", best.join(", "));
        (!best.is_empty()).then(|| (column.to_owned(), note))
    };
    let cost = note(COST_FRONT, "cost per run", |entry| entry.cost_front.as_ref());
    let duration = note(DURATION_FRONT, "duration", |entry| entry.duration_front.as_ref());
    cost.into_iter().chain(duration).collect()
}

/// Lays out what a suite's arms cost, and what a solved item costs with each.
pub fn costs(board: &SuiteBoard, spent: Option<&Money>) -> Table {
    let mut table = Table::new(format!("Cost: {}", group_name(&board.suite, board.suite_version.as_deref(), None)));
    table.left("Approach", 0);
    table.left("Model", 0);
    table.right("Cost", 0);
    table.right("Runs with a cost", 1);
    table.right("Cost per solved item [95% CI]", 0);
    table.right("Pass rate % [95% CI]", 0);
    table.left(COST_FRONT, 1);
    let name = words::names_on(board);
    let cells = |entry: &Entry| {
        vec![
            entry.arm.approach.clone(),
            entry.arm.model.clone(),
            entry.cost.as_ref().map_or_else(|| "unknown".to_owned(), words::money),
            entry.cost.as_ref().map_or_else(String::new, words::runs_with_cost),
            words::cost_per_solved(entry).unwrap_or_default(),
            entry.pass_rate.as_ref().map_or_else(|| "n/a".to_owned(), format::estimate),
            entry.cost_front.as_ref().map_or_else(String::new, |front| words::front(front, &name)),
        ]
    };
    table.rows = board.entries.iter().map(cells).collect();
    table.drop_empty_columns();
    table.notes.push(match spent {
        Some(spent) => format!("All runs: {}, known of {}.", words::money(spent), words::runs_with_cost(spent)),
        None => "No run of these says what it cost.".to_owned(),
    });
    table
}

/// Lays out the board over suites.
pub fn overall(overall: &Overall) -> Table {
    let (title, note) = match overall.pooling {
        Pooling::Macro => ("macro mean over suites", "Macro mean: every suite weighs the same."),
        Pooling::Micro => {
            ("micro mean over suites", "Micro mean: every item weighs the same, however often it was repeated, so large suites weigh more.")
        }
    };
    let mut table = Table::new(format!("Leaderboard: {title}"));
    table.left("Approach", 0);
    table.left("Model", 0);
    table.right("Pass rate % [95% CI]", 0);
    table.right("Suites", 0);
    table.right("Items", 1);
    table.right("Cost", 1);
    for entry in &overall.entries {
        let n = entry.items.unwrap_or(0);
        let interval = entry.interval.map_or_else(String::new, |ends| format!(" {}", format::percent_interval(ends, n)));
        table.rows.push(vec![
            entry.arm.approach.clone(),
            entry.arm.model.clone(),
            format!("{}{interval}", format::percent_number(entry.rate, n)),
            format!("{}/{}", entry.suites.known, entry.suites.runs),
            entry.items.map_or_else(String::new, format::integer),
            entry.cost.as_ref().map_or_else(|| "unknown".to_owned(), words::money),
        ]);
    }
    table.notes.push(note.to_owned());
    table.notes.push("Ordered by the rate shown. Arms are not tested over suites, so there are no ranks here.".to_owned());
    table.notes.push(
        "Arms with rates on fewer suites answered other questions: they stand apart and are not comparable with the rest.".to_owned(),
    );
    for other in &overall.other_versions {
        let arms: Vec<String> = other.arms.iter().map(words::arm_name).collect();
        let counted = other.counted.as_deref().map_or_else(|| "runs of unknown version".to_owned(), |version| format!("version {version}"));
        table.notes.push(format!(
            "Of {} only {counted} counts here; not in it, with runs of another version only: {}.",
            other.suite,
            arms.join(", ")
        ));
    }
    table
}

/// Lays out the suites of a store.
pub fn suites(lines: &[SuiteLine]) -> Table {
    let mut table = Table { title: None, ..Table::default() };
    table.left("Suite", 0);
    table.right("Runs", 0);
    table.left("Approaches", 1);
    table.right("Models", 1);
    table.right("Versions", 3);
    table.left("Newest", 2);
    table.left("Sources", 3);
    for line in lines {
        let sources = match line.sources.as_slice() {
            [first, _, ..] => format!("{first} and {} more", line.sources.len() - 1),
            [first] => first.clone(),
            [] => String::new(),
        };
        table.rows.push(vec![
            line.suite.clone(),
            format::integer(line.runs),
            listed(&line.approaches),
            format::integer(line.models),
            format::integer(line.versions),
            line.newest.as_ref().map_or_else(|| "unknown".to_owned(), format::date),
            sources,
        ]);
    }
    table
}

/// Names, or the first three and how many more.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", names.len() - 3),
        _ => names.join(", "),
    }
}

/// Lays out runs, one a row.
pub fn runs(lines: &[RunLine]) -> Table {
    let mut table = Table { title: None, ..Table::default() };
    table.left("Run", 0);
    table.left("Suite", 0);
    table.left("Approach", 0);
    table.left("Model", 0);
    table.left("Status", 1);
    table.right("Passed", 0);
    table.right("Cost", 2);
    table.right("Duration", 2);
    table.left("Time", 3);
    for line in lines {
        table.rows.push(vec![
            line.id.clone(),
            line.suite.clone(),
            line.arm.approach.clone(),
            line.arm.model.clone(),
            line.status.clone(),
            line.passed
                .zip(line.total)
                .map_or_else(|| "n/a".to_owned(), |(passed, total)| format!("{}/{}", format::integer(passed), format::integer(total))),
            line.cost.as_ref().map_or_else(|| "unknown".to_owned(), words::money),
            line.duration_seconds.map_or_else(|| "unknown".to_owned(), format::seconds),
            line.timestamp.as_ref().map_or_else(|| "unknown".to_owned(), format::date),
        ]);
    }
    table
}

/// Lays out one run, a fact a row.
pub fn run(shown: &ShownRun) -> Table {
    let page = &shown.page;
    let line = &page.line;
    let mut table = Table::new(format!("Run {}", line.id));
    table.left("", 0);
    table.left("", 0);
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.rows.push(vec![name.to_owned(), value]);
        }
    };
    fact("Suite", Some(line.suite.clone()));
    fact("Approach", Some(line.arm.approach.clone()));
    fact("Model", Some(line.arm.model.clone()).filter(|model| !model.is_empty()));
    fact("Status", Some(line.status.clone()));
    fact("Error", page.error.clone());
    fact("Time", Some(line.timestamp.as_ref().map_or_else(|| "unknown".to_owned(), format::date)));
    fact(
        if page.item_word.as_deref() == Some("questions") { "Accuracy" } else { "Passed" },
        line.passed.zip(line.total).map(|(passed, total)| {
            let interval =
                line.interval.map_or_else(String::new, |interval| format!(", 95% CI {}", format::percent_interval(interval, total)));
            format!(
                "{}/{} ({}{interval})",
                format::integer(passed),
                format::integer(total),
                format::percent(passed as f64 / total.max(1) as f64, total)
            )
        }),
    );
    fact("Own tests", page.own_tests_passed.zip(page.own_tests_total).map(|(passed, total)| format!("{passed}/{total}")));
    fact(
        "Outcomes",
        (page.outcomes > 0).then(|| {
            page.statuses.iter().map(|(status, count)| format!("{} {status}", format::integer(*count))).collect::<Vec<_>>().join(", ")
        }),
    );
    // What evaluators said has a table of its own.
    let is_told = |metric: &str| page.evaluators.iter().any(|score| score.evaluator == metric);
    for score in page.scores.iter().filter(|score| !score.is_pass_rate && !is_told(&score.metric)) {
        let n = score.n.unwrap_or(0);
        fact(
            score_label(&score.metric),
            Some(score.value.map_or_else(|| "not evaluated".to_owned(), |value| format::value(value, score.unit, n))),
        );
    }
    fact(
        "Cost",
        Some(line.cost.as_ref().map_or_else(|| "unknown".to_owned(), |cost| format!("{} ({})", words::money(cost), page.cost_source))),
    );
    fact("Tokens", line.tokens.map(|tokens| format::fixed(tokens, 0)));
    fact("Duration", Some(line.duration_seconds.map_or_else(|| "unknown".to_owned(), format::seconds)));
    fact("Verification", page.verification.as_ref().and_then(|stored| super::verification::outcome(&stored.record)));
    fact("Calls", page.total_calls.map(format::integer));
    fact("Files", page.files_generated.map(format::integer));
    fact("Lines", page.lines_generated.map(format::integer));
    fact("Agent", page.agent.clone());
    fact("Batch", line.batch.clone());
    fact("Seed", page.seed.map(|seed| seed.to_string()));
    fact("Suite version", page.suite_version.clone());
    fact("Tool version", page.tool_version.clone());
    fact("Git", page.git_rev.clone());
    for (key, value) in &page.tags {
        fact(&format!("Tag {key}"), Some(value.clone()));
    }
    for stated in &page.stated {
        // Published figures come with one decimal or more: show them as printed.
        let shown = |number: f64| match stated.unit {
            crate::domain::Unit::Fraction => format!("{}%", format::fixed(number * 100.0, 2)),
            unit => format::value(number, unit, 0),
        };
        let verdict = match (stated.recomputed, stated.disagrees) {
            // A difference that these digits do not show needs all of them.
            (Some(recomputed), Some(true)) if shown(stated.stated) == shown(recomputed) => {
                format!("{} stated, but its own counts give {recomputed}", stated.stated)
            }
            (Some(recomputed), Some(true)) => format!("{} stated, but its own counts give {}", shown(stated.stated), shown(recomputed)),
            (Some(_), _) => format!("{} stated, agrees with its own counts", shown(stated.stated)),
            (None, _) => format!("{} stated, no counts to check it", shown(stated.stated)),
        };
        fact(&stated.name, Some(verdict));
    }
    for (name, value) in &page.provenance {
        fact(&format!("From: {name}"), Some(value.clone()));
    }
    fact("Transcript", shown.transcript.clone());
    fact("Output", shown.output.clone());
    table
}

/// Lays out boards one below the other, and says what their data were reduced by.
pub fn boards(board: &Board) -> Vec<Table> {
    scoped(board.suites.iter().map(suite_board).collect(), board.retracted, board.aliased)
}

/// Says under the last of the tables what their data were reduced by.
pub fn scoped(mut tables: Vec<Table>, retracted: u64, aliased: bool) -> Vec<Table> {
    if let Some(last) = tables.last_mut() {
        last.notes.extend(scope_notes(retracted, aliased));
    }
    tables
}

/// Says what a board's or comparison's data were reduced by.
pub fn scope_notes(retracted: u64, aliased: bool) -> Vec<String> {
    let mapped = aliased.then(|| "Names are mapped by the configuration's aliases.".to_owned());
    retracted_note(retracted).into_iter().chain(mapped).collect()
}

/// Counts the runs that tombstones hide, if any.
pub fn retracted_note(retracted: u64) -> Option<String> {
    (retracted > 0).then(|| format!("{} retracted and left out.", words::count_runs(retracted)))
}
