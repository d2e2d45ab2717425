//! One suite over its nights: rates, change points, day-by-day comparisons, broken and flaky items.

use askama::Template;

use crate::render::{chart, courses, format, nights, verdicts, words};
use crate::views::{
    Arm, ArmHistory, Estimate, History, ItemChange, NoisyItem, OverviewSuite, Series, SiteContext,
};

use super::SiteFile;
use super::arm_links::{arm_rows, link_arms};
use super::bars::{Bars, Scale};
use super::charts::pair_link;
use super::figure::Figure;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::items::item_href;
use super::panes::{self, Panes};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};

/// Maximum number of arms with a chart.
const MOST_ARMS: usize = 12;
/// Maximum number of arms with a small drawing, side by side.
const MOST_PANES: usize = 6;
/// Maximum number of nights of all charts together, so that the page keeps its size budget.
const MOST_NIGHTS: usize = 240;
/// Maximum number of arms in the table.
const MOST_LEVELS: usize = 100;
/// Maximum number of nights in one chart.
const MOST_OF_ARM: usize = 90;
const MOST_DUELS: usize = 66;
const MOST_ITEMS: usize = 14;
/// Maximum number of broken and repaired items in the table.
const MOST_CHANGED: usize = 8;

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    shell: Shell,
    suite: Text,
    sentences: Vec<Text>,
    notes: Vec<Text>,
    panes: Option<Panes>,
    levels: Grid,
    arms: Vec<ArmPart>,
    duels: Option<Grid>,
    changed: Option<Grid>,
    flaky: Option<Grid>,
}

struct ArmPart {
    figure: Figure,
    notes: Vec<Text>,
}

/// Makes the page, or returns `None` for a suite without a history.
pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    let history = suite.history.as_ref()?;
    let path = place.history_path();
    let labels = nights::labels(history);
    let followed: Vec<(&ArmHistory, &String)> = history
        .arms
        .iter()
        .zip(&labels)
        .filter(|(arm, _)| rated(arm) > 1)
        .collect();
    let accepted = nights::accepted(history, &labels);
    let sentences: Vec<String> = sentences(history, &labels, followed.len())
        .into_iter()
        .chain(accepted)
        .collect();
    let title = format!("History of {} · {}", place.label, context.title);
    let shell = Shell::new(
        context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        sentences.join(" "),
    );
    let bar = bar(suite, place, &shell.root, Tab::History);
    let shell = shell.of_suite(bar).downloads(&place.data("history"));
    let drawn = &followed[..followed.len().min(MOST_ARMS)];
    let most = (MOST_NIGHTS / drawn.len().max(1)).min(MOST_OF_ARM);
    let scale: Vec<f64> = drawn
        .iter()
        .flat_map(|(arm, _)| chart::trend_shares(arm, most))
        .collect();
    let page = HistoryPage {
        suite: Text::new(&place.label),
        sentences: sentences.into_iter().map(Text::from).collect(),
        notes: notes(history, followed.len(), drawn.len())
            .into_iter()
            .chain(nights::scale(history).map(|ends| nights::scale_note(ends, "nights")))
            .map(Text::from)
            .collect(),
        panes: panes::nights(suite, place, MOST_PANES, plan, &shell.root, true),
        levels: levels(history, &labels, (suite, place), plan, &shell.root),
        arms: (1..)
            .zip(drawn)
            .filter_map(|(number, (arm, label))| {
                let part = part(number, arm, label, most, &scale)?;
                Some(ArmPart {
                    figure: part.figure.of_arm(&arm.arm, plan, &shell.root),
                    ..part
                })
            })
            .collect(),
        duels: duels(history, &labels, (suite, place), &shell.root),
        changed: changed(history, &labels, place, plan, &shell.root),
        flaky: flaky(history, &labels, place, plan, &shell.root),
        shell,
    };
    Some(SiteFile::page(path, &page))
}

fn rated(arm: &ArmHistory) -> usize {
    arm.nights
        .iter()
        .filter(|night| night.pass_rate.is_some())
        .count()
}

fn part(
    number: usize,
    arm: &ArmHistory,
    label: &str,
    most: usize,
    scale: &[f64],
) -> Option<ArmPart> {
    let chart = chart::trend(arm, &format!("arm-{number}-chart"), label, most, scale)?;
    let notes = nights::precision_note(arm, label)
        .into_iter()
        .map(Text::from)
        .collect();
    Some(ArmPart {
        figure: Figure::of_rows(&format!("arm-{number}"), label, chart, most),
        notes,
    })
}

/// Describes change points, those of pass rates first, or says that there are none.
fn sentences(history: &History, labels: &[String], followed: usize) -> Vec<String> {
    let of = |is_rate: bool| {
        history
            .arms
            .iter()
            .zip(labels)
            .flat_map(move |(arm, label)| {
                let own = arm
                    .changes
                    .iter()
                    .filter(move |change| (change.series == Series::PassRate) == is_rate);
                own.map(move |change| nights::change_sentence(change, label))
            })
    };
    let changes: Vec<String> = of(true).chain(of(false)).collect();
    if !changes.is_empty() {
        return changes;
    }
    let arms = format!(
        "{} {}",
        format::integer(followed as u64),
        if followed == 1 { "arm" } else { "arms" }
    );
    vec![format!(
        "No change point in {arms} with at least two nights. Change points need five nights on each side."
    )]
}

fn notes(history: &History, followed: usize, drawn: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if drawn < followed {
        let (some, all) = (
            format::integer(drawn as u64),
            format::integer(followed as u64),
        );
        notes.push(format!(
            "Showing {some} of {all} arms with at least two nights; the data files have all."
        ));
    }
    let single = history.arms.len() - followed;
    if single > 0 {
        let word = if single == 1 { "arm has" } else { "arms have" };
        notes.push(format!(
            "{} {word} fewer than two nights with a pass rate.",
            format::integer(single as u64)
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

/// Lays out each arm's first and newest pass rate, with a drawn trend.
fn levels(
    history: &History,
    labels: &[String],
    of: (&OverviewSuite, &SuitePlace),
    plan: &Plan,
    root: &str,
) -> Grid {
    let arms = &history.arms[..history.arms.len().min(MOST_LEVELS)];
    let rates: Vec<Vec<&Estimate>> = arms.iter().map(nights::rates).collect();
    let longest = rates.iter().map(Vec::len).max().unwrap_or_default();
    let scale = nights::scale(history).map(|ends| Scale::new(ends, longest));
    let rate = |rate: Option<&&Estimate>| {
        Cell::maybe(rate.map(|rate| (format::estimate(rate), rate.value)))
    };
    let mut grid = Grid::new("levels-table", "Arms by night").fits();
    grid.column(
        Column::new("Arm", Look::Key, Sort::Ascending),
        labels
            .iter()
            .take(arms.len())
            .map(|label| Cell::head(label.as_str())),
    );
    arm_rows(&mut grid, arms.iter().map(|arm| &arm.arm), of, plan, root);
    grid.column(
        Column::new("Nights", Look::Number, Sort::Descending),
        arms.iter().map(|arm| Cell::count(arm.nights.len() as u64)),
    );
    let ends = |name: &str| Column::new(name, Look::Number, Sort::Descending).sub("95% interval");
    grid.column(
        ends("First rate, %"),
        rates.iter().map(|rates| rate(rates.first())),
    );
    grid.column(
        ends("Newest rate, %"),
        rates.iter().map(|rates| rate(rates.last())),
    );
    let basis = rates.iter().map(|rates| {
        Cell::words(
            rates
                .last()
                .map_or_else(String::new, |rate| words::basis(rate)),
        )
    });
    grid.column(
        Column::new("n", Look::Words, Sort::None).sub("newest"),
        basis,
    );
    let bars = rates
        .iter()
        .map(|rates| Cell::bars(scale.and_then(|scale| Bars::of(rates, scale))));
    grid.column(Column::new("Trend", Look::Words, Sort::None), bars);
    let changes = arms.iter().map(|arm| Cell::count(arm.changes.len() as u64));
    grid.column(
        Column::new("Changes", Look::Number, Sort::Descending).sub("of level"),
        changes,
    );
    grid
}

fn duels(
    history: &History,
    labels: &[String],
    (suite, place): (&OverviewSuite, &SuitePlace),
    root: &str,
) -> Option<Grid> {
    let duels = &history.duels[..history.duels.len().min(MOST_DUELS)];
    if duels.is_empty() {
        return None;
    }
    let mut grid = Grid::new("duels-table", "Pairs of arms by night").fits();
    let arm = |at: usize| &history.arms[at].arm;
    let pair = duels.iter().map(|duel| {
        let head = Cell::head(format!(
            "{} against {}",
            labels[duel.first], labels[duel.second]
        ));
        head.link(pair_link(
            suite,
            place,
            root,
            arm(duel.first),
            arm(duel.second),
        ))
    });
    grid.column(Column::new("Pair", Look::Key, Sort::Ascending), pair);
    grid.column(
        Column::new("Better", Look::Number, Sort::Descending).sub("nights"),
        duels.iter().map(|duel| Cell::count(duel.won)),
    );
    grid.column(
        Column::new("Worse", Look::Number, Sort::Descending).sub("nights"),
        duels.iter().map(|duel| Cell::count(duel.lost)),
    );
    grid.column(
        Column::new("Equal", Look::Number, Sort::Descending).sub("nights"),
        duels.iter().map(|duel| Cell::count(duel.same)),
    );
    let evidence = duels
        .iter()
        .map(|duel| Cell::number(nights::e_value(duel), duel.e_value.min(f64::MAX)));
    grid.column(Column::new("e", Look::Number, Sort::Descending), evidence);
    let verdict = duels
        .iter()
        .map(|duel| Cell::words(nights::duel_verdict(duel, labels)));
    grid.column(
        Column::new("Verdict", Look::Words, Sort::Ascending),
        verdict,
    );
    Some(grid)
}

/// Lays out the items that broke or were repaired.
fn changed<'h>(
    history: &'h History,
    labels: &'h [String],
    place: &SuitePlace,
    plan: &Plan,
    root: &str,
) -> Option<Grid> {
    let named = |(arm, item): (usize, &'h ItemChange)| {
        Some((&history.arms[arm].arm, labels.get(arm)?, item))
    };
    let items: Vec<(&Arm, &String, &ItemChange)> = history
        .changed()
        .into_iter()
        .take(MOST_CHANGED)
        .filter_map(named)
        .collect();
    if items.is_empty() {
        return None;
    }
    let all = history
        .arms
        .iter()
        .map(|arm| arm.changed_count)
        .sum::<u64>();
    let mut grid = Grid::new(
        "changed-table",
        "Items since the last break, newest change first",
    )
    .fits();
    if all > items.len() as u64 {
        grid = grid.about(format!(
            "{} of {}, over all arms",
            items.len(),
            words::count_of(all, "items")
        ));
    }
    grid.column(
        Column::new("Item", Look::Key, Sort::Ascending),
        items.iter().map(|(_, _, item)| {
            Cell::head(item.item.as_str()).link(item_href(place, root, &item.item, None))
        }),
    );
    grid.column(
        Column::new("Arm", Look::Words, Sort::Ascending),
        items
            .iter()
            .map(|(_, label, _)| Cell::words(label.as_str())),
    );
    link_arms(
        &mut grid,
        1,
        items.iter().map(|(arm, _, _)| *arm),
        plan,
        root,
    );
    let state = items
        .iter()
        .map(|(_, _, item)| Cell::words(courses::state(&item.course)));
    grid.column(Column::new("Now", Look::Words, Sort::Ascending), state);
    grid.column(
        Column::new("Outcomes", Look::Words, Sort::None),
        items
            .iter()
            .map(|(_, _, item)| Cell::words(courses::counts(&item.course))),
    );
    let p = items
        .iter()
        .map(|(_, _, item)| Cell::maybe(item.course.p.map(|p| (verdicts::p_value(Some(p)), p))));
    grid.column(
        Column::new("p", Look::Number, Sort::Ascending).sub("if flaky"),
        p,
    );
    Some(grid)
}

fn flaky<'h>(
    history: &'h History,
    labels: &[String],
    place: &SuitePlace,
    plan: &Plan,
    root: &str,
) -> Option<Grid> {
    let named = |(arm, item): (usize, &'h NoisyItem)| {
        Some((&history.arms[arm].arm, labels.get(arm)?, item))
    };
    let items: Vec<(&Arm, &String, &NoisyItem)> = history
        .noisy()
        .into_iter()
        .take(MOST_ITEMS)
        .filter_map(named)
        .collect();
    if items.is_empty() {
        return None;
    }
    let varying = history
        .arms
        .iter()
        .map(|arm| arm.varying - arm.changed_count)
        .sum::<u64>();
    let percent = |share: f64| Cell::number(words::chance(share), share);
    let mut grid = Grid::new("flaky-table", "Items since the last break, flakiest first").fits();
    if varying > items.len() as u64 {
        grid = grid.about(format!(
            "{} of {} that vary, over all arms",
            items.len(),
            words::count_of(varying, "items")
        ));
    }
    grid.column(
        Column::new("Item", Look::Key, Sort::Ascending),
        items.iter().map(|(_, _, item)| {
            Cell::head(item.item.as_str()).link(item_href(place, root, &item.item, None))
        }),
    );
    grid.column(
        Column::new("Arm", Look::Words, Sort::Ascending),
        items
            .iter()
            .map(|(_, label, _)| Cell::words(label.as_str())),
    );
    link_arms(
        &mut grid,
        1,
        items.iter().map(|(arm, _, _)| *arm),
        plan,
        root,
    );
    let passed = items.iter().map(|(_, _, item)| {
        let text = format!(
            "{}/{}",
            format::integer(item.passed),
            format::integer(item.counted)
        );
        Cell::number(text, item.passed as f64 / item.counted.max(1) as f64)
    });
    grid.column(
        Column::new("Passed", Look::Number, Sort::Descending),
        passed,
    );
    grid.column(
        Column::new("Flaky", Look::Number, Sort::Descending).sub("chance of it"),
        items.iter().map(|(_, _, item)| percent(item.flaky)),
    );
    grid.column(
        Column::new("Noise", Look::Number, Sort::Descending).sub("of the arm's"),
        items.iter().map(|(_, _, item)| percent(item.noise)),
    );
    Some(grid.filtered(""))
}
