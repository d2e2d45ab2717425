//! A suite's history as a table and sentences.

use crate::views::{
    AcceptedRegression, Arm, ArmHistory, Break, CommitOrder, Estimate, History, ItemChange,
    LevelChange, Night, NightlyDuel, NoisyItem, Series,
};

use super::cell::{Cell, Datum};
use super::sparkline::{MOST_POINTS, sparkline};
use super::table::{Column, Table};
use super::{courses, format, shown, verdicts, words};

/// Maximum number of broken and repaired items of an arm that are named below the table. JSON has all.
const MAX_CHANGED: usize = 10;

/// Returns the names of the arms, in their order. An arm without a name is called as the suite.
pub fn labels(history: &History) -> Vec<String> {
    match history.arms.as_slice() {
        [only] => vec![words::arm_name(&history.suite, &only.arm)],
        arms => words::arm_labels(
            &history.suite,
            &arms.iter().map(|arm| arm.arm.clone()).collect::<Vec<Arm>>(),
        ),
    }
}

/// Names the points of a history: `nights` or `commits`.
fn points(history: &History) -> &'static str {
    if history.commits.is_some() {
        "commits"
    } else {
        "nights"
    }
}

/// Lays out the arms, one row each: first and newest pass rate, and the trend between them.
pub fn levels(history: &History) -> Table {
    let labels = labels(history);
    let mut table = Table::new(format!(
        "Trend by {}: {}",
        words::one_or_many(1, points(history)),
        history.suite
    ));
    table.head(Column::words("Arm").keys(["approach", "model"]));
    table.head(Column::number(words::capital(points(history))).keys(["nights"]));
    table.head(
        Column::number("First pass rate % [95% CI]")
            .keys(["first_pass_rate", "first_ci95_low", "first_ci95_high"])
            .rank(1),
    );
    table.head(Column::number("Newest pass rate % [95% CI]").keys([
        "newest_pass_rate",
        "newest_ci95_low",
        "newest_ci95_high",
    ]));
    table.head(Column::words("n").keys(["n", "n_of"]).rank(1));
    table.head(Column::words("Trend"));
    table.head(Column::number("Change points").keys(["changes"]).rank(2));
    let scale = scale(history);
    for (arm, label) in history.arms.iter().zip(&labels) {
        let rates = rates(arm);
        let values: Vec<f64> = rates.iter().map(|rate| rate.value).collect();
        let newest = rates.last().copied();
        table.row([
            named(arm, label),
            Cell::count(arm.nights.len() as u64),
            rated(rates.first().copied()),
            rated(newest),
            basis(newest),
            Cell::shown(
                scale.map_or_else(String::new, |(low, high)| sparkline(&values, low, high)),
            ),
            Cell::count(arm.changes.len() as u64),
        ]);
    }
    table
        .notes
        .extend(scale.map(|ends| scale_note(ends, points(history))));
    table
}

fn named(arm: &ArmHistory, label: &str) -> Cell {
    Cell::shown(label).data([
        arm.arm.approach.as_str().into(),
        arm.arm.model.as_str().into(),
    ])
}

fn rated(rate: Option<&Estimate>) -> Cell {
    let Some(rate) = rate else {
        return Cell::unknown("n/a");
    };
    let [low, high] = Datum::ends(rate.interval);
    Cell::shown(format::estimate(rate)).data([rate.value.into(), low, high])
}

fn basis(rate: Option<&Estimate>) -> Cell {
    rate.map_or_else(
        || Cell::unknown(""),
        |rate| Cell::shown(words::basis(rate)).data([rate.n.into(), rate.n_of.into()]),
    )
}

/// Returns the pass rates of an arm, night by night.
pub(super) fn rates(arm: &ArmHistory) -> Vec<&Estimate> {
    arm.nights
        .iter()
        .filter_map(|night| night.pass_rate.as_ref())
        .collect()
}

/// Returns the lowest and the highest pass rate of all arms: the ends of the bars' common scale.
pub(super) fn scale(history: &History) -> Option<(f64, f64)> {
    let all = history.arms.iter().flat_map(rates).map(|rate| rate.value);
    all.fold(None, |ends, value| {
        ends.map_or(Some((value, value)), |(low, high): (f64, f64)| {
            Some((low.min(value), high.max(value)))
        })
    })
}

/// Says which nights the bars show, and which rates the lowest and the highest bar mean.
pub(super) fn scale_note((low, high): (f64, f64), points: &str) -> String {
    let ends = [low, high].map(|share| format!("{}%", format::fixed(share * 100.0, 1)));
    let newest = format!("the newest {MOST_POINTS} {points} with a pass rate");
    format!(
        "Trend: {newest}, from {} (lowest bar) to {} (highest) for all arms.",
        ends[0], ends[1]
    )
}

/// Says of each suite that its runs have no times, or no commits. `None` if there is no suite.
pub fn without_times(histories: &[&History]) -> Option<Table> {
    if histories.is_empty() {
        return None;
    }
    let sentence = |history: &&History| match history.without_commit.len() as u64 {
        0 => format!(
            "{}: no history, because {} no time.",
            history.suite,
            words::runs_have(history.undated)
        ),
        runs => format!(
            "{}: no history by commit, because {} no commit.",
            history.suite,
            words::runs_have(runs)
        ),
    };
    Some(Table {
        lead: histories.iter().map(sentence).collect(),
        ..Table::default()
    })
}

/// Lays out the newest `most` nights of each arm.
pub fn table(history: &History, most: usize) -> Table {
    let labels = labels(history);
    let mut table = Table::new(format!("History: {}", history.suite));
    table.of = points(history);
    table.head(Column::data(["suite"]));
    table.head(Column::words("Arm").keys(["approach", "model"]));
    table.head(Column::words("Commit").keys(["commit"]));
    table.head(Column::words("Night").keys(["night"]));
    table.head(Column::number("Pass rate % [95% CI]").keys([
        "pass_rate",
        "pass_rate_ci95_low",
        "pass_rate_ci95_high",
    ]));
    table.head(Column::words("n").keys(["n", "n_of"]).rank(1));
    table.head(Column::number("Runs").keys(["runs"]).rank(3));
    table.head(
        Column::number("Cost")
            .over("per run")
            .keys(["cost_usd"])
            .rank(2),
    );
    table.head(
        Column::number("Duration")
            .over("per run")
            .keys(["duration_seconds"])
            .rank(2),
    );
    table.head(
        Column::words(if history.commits.is_some() {
            "Since the commit before"
        } else {
            "Since the night before"
        })
        .keys(["since_the_night_before"])
        .rank(1),
    );
    let mut hidden = 0;
    for (arm, label) in history.arms.iter().zip(&labels) {
        let skipped = arm.nights.len().saturating_sub(most);
        hidden += skipped as u64;
        for night in &arm.nights[skipped..] {
            table.row(night_cells(history, arm, night, label));
        }
    }
    table.drop_empty_columns();
    table.notes.extend(notes(history, &labels));
    if hidden > 0 {
        table.notes.push(format!(
            "{} earlier {} hidden; --nights shows more.",
            format::integer(hidden),
            words::one_or_many(hidden, points(history))
        ));
    }
    table
}

fn night_cells(history: &History, arm: &ArmHistory, night: &Night, label: &str) -> [Cell; 10] {
    let rate = night.pass_rate.as_ref();
    [
        Cell::figures([history.suite.as_str().into()]),
        named(arm, label),
        night.commit.as_deref().map_or_else(
            || Cell::unknown(""),
            |commit| Cell::shown(courses::short(commit)).data([commit.into()]),
        ),
        Cell::words(night.date.to_string()),
        rated(rate),
        basis(rate),
        Cell::count(night.runs),
        Cell::known(night.cost_usd, format::money),
        Cell::known(night.duration_seconds, format::seconds),
        Cell::words(remarks(arm, night)),
    ]
}

/// Describes a night's breaks and change points.
pub(super) fn remarks(arm: &ArmHistory, night: &Night) -> String {
    let mut remarks: Vec<String> = night
        .breaks
        .iter()
        .map(|what| format!("{}: not compared across", broken_by(*what)))
        .collect();
    for change in arm
        .changes
        .iter()
        .filter(|change| (change.date, &change.commit) == (night.date, &night.commit))
    {
        remarks.push(format!(
            "{} {}",
            series(change.series),
            change_words(change)
        ));
    }
    remarks.join("; ")
}

pub(super) fn broken_by(what: Break) -> &'static str {
    match what {
        Break::Suite => "another suite",
        Break::Texts => "items with other texts",
        Break::Judge => "another judge",
    }
}

fn series(series: Series) -> &'static str {
    match series {
        Series::PassRate => "pass rate",
        Series::Cost => "cost",
        Series::Duration => "duration",
    }
}

/// Formats a change: `90.0% → 80.0%`, `$1.00 → $2.00`.
pub(super) fn change_words(change: &LevelChange) -> String {
    let shown = |value: f64| match change.series {
        Series::PassRate => format!("{}%", format::fixed(value * 100.0, 1)),
        Series::Cost => format::money(value),
        Series::Duration => format::seconds(value),
    };
    format!("{} → {}", shown(change.before), shown(change.after))
}

/// Returns the notes on change points, day-by-day comparisons and precision.
/// Says which regressions somebody accepted, when and why.
pub(super) fn accepted(history: &History, labels: &[String]) -> Vec<String> {
    let sentence = |one: &AcceptedRegression, label: &str| {
        let since = one.since.map_or_else(
            || "a regression".to_owned(),
            |day| format!("the regression since {day}"),
        );
        let by = one
            .who
            .as_deref()
            .map_or_else(String::new, |who| format!("{}, ", shown::short(who)));
        format!(
            "{label}: {since} is accepted ({by}{}): {}.",
            one.time.date_naive(),
            shown::short(&one.reason).trim_end_matches('.')
        )
    };
    let of_arm = |(arm, label): (&ArmHistory, &String)| {
        arm.accepted
            .iter()
            .map(|one| sentence(one, label))
            .collect::<Vec<_>>()
    };
    history.arms.iter().zip(labels).flat_map(of_arm).collect()
}

fn notes(history: &History, labels: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for (arm, label) in history.arms.iter().zip(labels) {
        notes.extend(
            arm.changes
                .iter()
                .map(|change| change_sentence(change, label)),
        );
        if arm.changes.is_empty() {
            notes.push(format!(
                "{label}: {}, no change point. Change points need five {} on each side.",
                words::count_of(arm.nights.len() as u64, points(history)),
                points(history)
            ));
        }
    }
    notes.extend(accepted(history, labels));
    notes.extend(
        history
            .duels
            .iter()
            .map(|duel| duel_sentence(duel, labels, points(history))),
    );
    for (arm, label) in history.arms.iter().zip(labels) {
        notes.extend(arm_notes(arm, label));
    }
    notes.extend(history.commits.map(|order| match order {
        CommitOrder::Graph => "Commits in the order of the repository.".to_owned(),
        CommitOrder::Time { commits, unknown } => format!(
            "Commits in the order of their first run, because the repository here does not have {} of {}.",
            format::integer(unknown),
            words::count_of(commits, "commits")
        ),
    }));
    if !history.without_commit.is_empty() {
        let runs = words::count_runs(history.without_commit.len() as u64);
        notes.push(format!(
            "{runs} without a commit not shown: {}.",
            words::first_three(&history.without_commit)
        ));
    }
    if history.undated > 0 {
        notes.push(format!(
            "{} of unknown time not shown.",
            words::count_runs(history.undated)
        ));
    }
    notes
}

/// Says when a value changed, with the evidence.
pub(super) fn change_sentence(change: &LevelChange, label: &str) -> String {
    format!(
        "{label}: {} changed from {} on {} ({} {} before, {} after, {} after adjustment).",
        series(change.series),
        change_words(change),
        courses::point(Some(change.date), change.commit.as_deref()).unwrap_or_default(),
        format::integer(change.nights_before),
        if change.commit.is_some() {
            "commits"
        } else {
            "nights"
        },
        format::integer(change.nights_after),
        verdicts::p_value(Some(change.p_adjusted)),
    )
}

fn duel_sentence(duel: &NightlyDuel, labels: &[String], points: &str) -> String {
    let (first, second) = (&labels[duel.first], &labels[duel.second]);
    format!(
        "{first} vs {second} by {}: {} better, {} worse, {} equal, e = {}: {}.",
        words::one_or_many(1, points),
        format::integer(duel.won),
        format::integer(duel.lost),
        format::integer(duel.same),
        e_value(duel),
        duel_verdict(duel, labels),
    )
}

pub(super) fn e_value(duel: &NightlyDuel) -> String {
    format::fixed(duel.e_value.min(1e6), usize::from(duel.e_value < 10.0))
}

pub(super) fn duel_verdict(duel: &NightlyDuel, labels: &[String]) -> String {
    match duel.better {
        Some(better) => format!("{} is better (valid under repeated looks)", labels[better]),
        None => "not enough evidence".to_owned(),
    }
}

fn arm_notes(arm: &ArmHistory, label: &str) -> Vec<String> {
    let mut notes = Vec::new();
    let named = |item: &NoisyItem, share: String| {
        format!("{} ({}/{}{share})", item.item, item.passed, item.counted)
    };
    notes.extend(
        arm.changed_items
            .iter()
            .take(MAX_CHANGED)
            .map(|item| format!("{label}: {}.", item_change(item))),
    );
    let more = arm.changed_count.saturating_sub(MAX_CHANGED as u64);
    if more > 0 {
        notes.push(format!(
            "{label}: {} more broke or were repaired.",
            words::count_of(more, "items")
        ));
    }
    if !arm.flaky.is_empty() {
        let items: Vec<String> = arm
            .flaky
            .iter()
            .map(|item| named(item, String::new()))
            .collect();
        notes.push(format!(
            "{label}: flaky, in turn passing and failing: {}.",
            items.join(", ")
        ));
    }
    if !arm.noisiest.is_empty() {
        let share = |item: &NoisyItem| format!(", {}%", format::fixed(item.noise * 100.0, 0));
        let items: Vec<String> = arm
            .noisiest
            .iter()
            .map(|item| named(item, share(item)))
            .collect();
        notes.push(format!(
            "{label}: flaky items that make most of the noise between runs: {}.",
            items.join(", ")
        ));
    }
    notes.extend(precision_note(arm, label));
    notes
}

/// Says since when an item fails or passes: `t4 is broken since 2026-11-08 (failed 7 of 7 since, passed 7 of 7 before)`.
pub(super) fn item_change(item: &ItemChange) -> String {
    format!("{} is {}", item.item, courses::course(&item.course))
}

/// Says what would make an arm's rate more precise.
pub(super) fn precision_note(arm: &ArmHistory, label: &str) -> Option<String> {
    let precision = arm.precision.as_ref()?;
    let enough = match precision.enough_runs {
        Some(runs) if runs > 0.0 => {
            format!(
                "; beyond about {} of each item more runs buy little",
                format::fixed(runs.max(1.0).ceil(), 0)
            )
        }
        _ => String::new(),
    };
    Some(format!(
        "{label}: for a more precise rate add {}{enough} ({} items with {} outcomes each).",
        precision.buy,
        format::integer(precision.items),
        format::integer(precision.runs)
    ))
}
