//! A suite's leaderboard as a table.

use crate::domain::{Direction, Unit, score_label};
use crate::render::{details, format, tables, verdicts, words};
use crate::views::{Arm, Entry, Estimate, Figure, Front, Interval, Standing, SuiteBoard};

use super::grid::{Cell, Column, Grid, Look, Sort};
use super::whisker::Whisker;

/// How much of a board is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The first rows and the main columns.
    Top(usize),
    Whole,
}

/// Lays a board out. Columns that no arm has a value for are left out and named in [`notes`].
pub(super) fn grid(board: &SuiteBoard, extent: Extent, id: &str, caption: &str) -> Grid {
    let labels = words::arm_labels(&arms(board));
    let shown = match extent {
        Extent::Top(rows) => rows.min(board.entries.len()),
        Extent::Whole => board.entries.len(),
    };
    let entries = &board.entries[..shown];
    let any = |has: &dyn Fn(&Entry) -> bool| board.entries.iter().any(has);
    let each = |cell: &dyn Fn(&Entry) -> Cell| entries.iter().map(cell).collect::<Vec<Cell>>();
    let is_group = is_group(board);
    let name = words::names_on(board);
    let leads = |entry: &Entry| is_group && entry.standing.as_ref().is_some_and(|standing| standing.is_leading);
    let mut grid = Grid::new(id, caption).ranked();
    let heads = labels.iter().zip(entries).map(|(label, entry)| Cell::head(label.as_str()).bold(leads(entry)));
    grid.column(Column::new("Arm", Look::Key, Sort::Ascending), heads);
    grid.column(
        Column::new("Rank", Look::Number, Sort::Ascending).sub("as a range"),
        each(&|entry| rank(entry.standing.as_ref(), leads(entry))),
    );
    grid.column(
        Column::new("Pass rate, %", Look::Number, Sort::Descending).sub("95% interval"),
        each(&|entry| rate(entry.pass_rate.as_ref()).bold(leads(entry))),
    );
    if any(&|entry| resampled(entry).is_some()) {
        let chance = |entry: &Entry| Cell::maybe(resampled(entry).map(|share| (words::chance(share), share)));
        grid.column(Column::new("P(best)", Look::Number, Sort::Descending).sub("first when drawn anew"), each(&chance));
    }
    if any(&|entry| entry.pass_rate.is_some()) {
        let dots = each(&|entry| Cell::dots(entry.pass_rate.as_ref().map(Whisker::of)));
        grid.column(Column::new("Pass rate and interval, drawn", Look::Scale, Sort::None), dots);
        let estimates: Vec<Option<&Estimate>> = entries.iter().map(|entry| entry.pass_rate.as_ref()).collect();
        samples(&mut grid, &estimates, Sort::Descending);
    }
    if extent == Extent::Whole {
        if any(&|entry| entry.pass_rate.as_ref().is_some_and(|rate| rate.missing > 0)) {
            let missing =
                |entry: &Entry| entry.pass_rate.as_ref().map_or_else(|| Cell::unknown("unknown"), |rate| Cell::count(rate.missing));
            grid.column(Column::new("Missing", Look::Number, Sort::Ascending), each(&missing));
        }
        grid.column(Column::new("Runs", Look::Number, Sort::Descending), each(&|entry| Cell::count(entry.runs)));
    }
    if extent == Extent::Whole && any(&|entry| !entry.verification.is_empty()) {
        let verified = |entry: &Entry| Cell::words(words::verification(&entry.verification));
        grid.column(Column::new("Verification", Look::Words, Sort::Ascending).sub("runs"), each(&verified));
    }
    if any(&|entry| entry.cost.is_some()) {
        let cost = |entry: &Entry| Cell::maybe(entry.cost.as_ref().map(|money| (words::money(money), money.usd)));
        grid.column(Column::new("Cost", Look::Number, Sort::Ascending).sub("all runs"), each(&cost));
        grid.column(Column::new("Cost per solved", Look::Number, Sort::Ascending).sub("item"), each(&cost_per_solved));
    }
    if extent == Extent::Whole && any(&|entry| entry.cost_front.is_some()) {
        let trade = |entry: &Entry| front(entry.cost_front.as_ref(), &name);
        grid.column(Column::new("Pass rate and cost", Look::Words, Sort::Ascending).sub("Pareto front"), each(&trade));
    }
    if extent == Extent::Whole && any(&|entry| entry.tokens.is_some()) {
        grid.column(
            Column::new("Tokens", Look::Number, Sort::Ascending).sub("mean per run"),
            each(&|entry| figure(entry.tokens.as_ref(), Unit::Tokens)),
        );
    }
    if any(&|entry| entry.duration.is_some()) {
        let median = |entry: &Entry| {
            let cell = Cell::maybe(entry.duration.as_ref().map(|spread| (format::seconds(spread.median), spread.median)));
            let interval = entry.duration.as_ref().and_then(|spread| spread.interval);
            interval.map_or(cell.clone(), |ends| cell.sub(range(ends, format::seconds)))
        };
        grid.column(Column::new("Duration", Look::Number, Sort::Ascending).sub("median of runs"), each(&median));
    }
    if extent == Extent::Whole {
        if any(&|entry| entry.duration.as_ref().is_some_and(|spread| spread.p90.is_some())) {
            let p90 = |entry: &Entry| match &entry.duration {
                Some(spread) => spread.p90.map_or_else(|| Cell::unknown("one run"), |p90| Cell::number(format::seconds(p90), p90)),
                None => Cell::unknown("unknown"),
            };
            grid.column(Column::new("Duration", Look::Number, Sort::Ascending).sub("90th percentile"), each(&p90));
        }
        if any(&|entry| entry.duration_front.is_some()) {
            let trade = |entry: &Entry| front(entry.duration_front.as_ref(), &name);
            grid.column(Column::new("Pass rate and duration", Look::Words, Sort::Ascending).sub("Pareto front"), each(&trade));
        }
        if any(&|entry| entry.standing.as_ref().is_some_and(|standing| standing.letters.is_some())) {
            let letters =
                |entry: &Entry| Cell::words(entry.standing.as_ref().and_then(|standing| standing.letters.clone()).unwrap_or_default());
            grid.column(Column::new("Letters", Look::Words, Sort::Ascending).sub("sharing one: not told apart"), each(&letters));
        }
        for column in &board.score_columns {
            let (sort, better) = match column.direction {
                Direction::Up => (Sort::Descending, "higher is better"),
                Direction::Down => (Sort::Ascending, "lower is better"),
                Direction::None => (Sort::Descending, ""),
            };
            let score = |entry: &Entry| figure(entry.scores.get(&column.metric), column.unit);
            grid.column(Column::new(score_label(&column.metric), Look::Number, sort).sub(better), each(&score));
        }
        if any(&|entry| entry.newest.is_some()) {
            grid.column(Column::new("Newest run", Look::Words, Sort::Descending), each(&|entry| Cell::time(entry.newest.as_ref())));
        }
        grid.filtered("")
    } else {
        grid
    }
}

/// Says whether some arms with a pass rate lead and some do not: a group of all is no group.
pub(super) fn is_group(board: &SuiteBoard) -> bool {
    board.entries.iter().filter_map(|entry| entry.standing.as_ref()).any(|standing| !standing.is_leading)
}

fn resampled(entry: &Entry) -> Option<f64> {
    entry.standing.as_ref()?.first_in_resamples
}

/// The places that the evidence leaves open. The leading group is bold, and says so.
fn rank(standing: Option<&Standing>, leads: bool) -> Cell {
    let Some(standing) = standing else { return Cell::unknown("no rate") };
    // By the better end, then by the worse.
    let key = standing.rank.best as f64 + standing.rank.worst as f64 / 1e6;
    let cell = Cell::number(words::rank(standing.rank), key).bold(leads);
    if leads { cell.sub("leading group") } else { cell }
}

/// Where an arm stands between quality and price.
fn front(front: Option<&Front>, name: &dyn Fn(&Arm) -> String) -> Cell {
    Cell::words(front.map_or_else(String::new, |front| words::front(front, name)))
}

fn arms(board: &SuiteBoard) -> Vec<Arm> {
    board.entries.iter().map(|entry| entry.arm.clone()).collect()
}

/// A rate with its interval, or the word that says it is not known.
pub(super) fn rate(estimate: Option<&Estimate>) -> Cell {
    estimate.map_or_else(|| Cell::unknown("unknown"), |estimate| Cell::number(format::estimate(estimate), estimate.value))
}

/// Adds what the rates were counted over; the word stands in the head where all have the same.
pub(super) fn samples(grid: &mut Grid, estimates: &[Option<&Estimate>], sort: Sort) {
    let mut words: Vec<&str> = estimates.iter().flatten().map(|estimate| estimate.n_of).collect();
    words.dedup();
    let shared = if let [one] = words.as_slice() { *one } else { "" };
    let cell = |estimate: Option<&Estimate>| {
        let Some(estimate) = estimate else { return Cell::unknown("unknown") };
        let n = format::integer(estimate.n);
        let text = if shared.is_empty() { format!("{n} {}", words::one_or_many(estimate.n, estimate.n_of)) } else { n };
        Cell::number(text, estimate.n as f64)
    };
    grid.column(Column::new("n", Look::Number, sort).sub(shared), estimates.iter().copied().map(cell).collect::<Vec<Cell>>());
}

/// A 95% interval in small print.
fn range(interval: Interval, text: fn(f64) -> String) -> String {
    format!("{} to {}", text(interval.low), text(interval.high))
}

fn cost_per_solved(entry: &Entry) -> Cell {
    match (entry.cost_per_solved_usd, entry.pass_rate.as_ref().and_then(|rate| rate.passed)) {
        (Some(usd), _) => {
            let cell = Cell::number(format::money(usd), usd);
            entry.cost_per_solved_interval.map_or(cell.clone(), |price| cell.sub(range(price.interval, format::money)))
        }
        (None, Some(0)) => Cell::unknown("none solved"),
        (None, _) => Cell::unknown("unknown"),
    }
}

fn figure(figure: Option<&Figure>, unit: Unit) -> Cell {
    let Some(figure) = figure else { return Cell::unknown("unknown") };
    let mean = figure.summary.mean;
    let shown = if unit == Unit::Tokens { mean.round() } else { mean };
    let cell = Cell::number(format::value(shown, unit, figure.summary.n), mean);
    if figure.coverage.known < figure.coverage.runs {
        cell.sub(format!("{} of {} runs", format::integer(figure.coverage.known), format::integer(figure.coverage.runs)))
    } else {
        cell
    }
}

/// Says what the ranks rest on, how the intervals were made, and what nobody measured.
pub(super) fn notes(board: &SuiteBoard) -> Vec<String> {
    let labels = words::arm_labels(&arms(board));
    let mut methods: Vec<(&'static str, Vec<String>)> = Vec::new();
    for (label, estimate) in labels.iter().zip(&board.entries).filter_map(|(label, entry)| Some((label, entry.pass_rate.as_ref()?))) {
        let words = words::method(estimate.method);
        match methods.iter_mut().find(|(known, _)| *known == words) {
            Some((_, arms)) => arms.push(label.clone()),
            None => methods.push((words, vec![label.clone()])),
        }
    }
    let mut notes = verdicts::board_notes(board);
    notes.extend(details::entry_notes(board));
    if board.entries.iter().any(|entry| entry.cost_front.is_some() || entry.duration_front.is_some()) {
        let cost = "Cost is weighed per run. An arm is dominated where another is at least as good on both figures shown and better on one";
        notes.push(format!("{cost}; a cost known in part dominates nothing."));
    }
    let is_one = methods.len() == 1;
    for (words, arms) in methods {
        if is_one {
            notes.push(format!("Pass rates: {words}."));
        } else {
            notes.push(format!("Pass rates of {}: {words}.", tables::listed(&arms)));
        }
    }
    let unmeasured: Vec<&str> = [
        ("cost", board.entries.iter().all(|entry| entry.cost.is_none())),
        ("tokens", board.entries.iter().all(|entry| entry.tokens.is_none())),
        ("duration", board.entries.iter().all(|entry| entry.duration.is_none())),
    ]
    .into_iter()
    .filter_map(|(name, is_unmeasured)| is_unmeasured.then_some(name))
    .collect();
    if !unmeasured.is_empty() {
        notes.push(format!("Not measured in any run: {}.", unmeasured.join(", ")));
    }
    notes
}

/// What the arms have in common and the table therefore does not repeat.
pub(super) fn common(board: &SuiteBoard) -> Option<String> {
    let first = board.entries.first()?;
    let one_model = board.entries.iter().all(|entry| entry.arm.model == first.arm.model);
    let one_approach = board.entries.iter().all(|entry| entry.arm.approach == first.arm.approach);
    match (one_approach && board.entries.len() > 1, one_model && !first.arm.model.is_empty()) {
        (true, _) => Some(format!("All with approach {}.", first.arm.approach)),
        (false, true) => Some(format!("All with model {}.", first.arm.model)),
        (false, false) => None,
    }
}

/// Says which arms have runs that did not complete, were left out, or contradict themselves.
pub(super) fn left_out(board: &SuiteBoard) -> Vec<String> {
    let labels = words::arm_labels(&arms(board));
    labels.iter().zip(&board.entries).filter_map(|(label, entry)| Some(format!("{label}: {}.", words::exclusions(entry)?))).collect()
}
