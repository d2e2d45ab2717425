//! One suite over its nights: rates, change points, day-by-day comparisons, broken and flaky items.

use askama::Template;

use crate::render::{chart, courses, csv, format, history, json, phrases, tables, verdicts};
use crate::views::{
    Arm, ArmHistory, Estimate, History, ItemChange, NoisyItem, OverviewSuite, Series,
};

use super::arm_links::{link_arm_rows, link_arms};
use super::charts::pair_href;
use super::figure::ChartFigure;
use super::grid::{ColumnLook, Grid, GridCell, GridCellKind, GridColumn, SortOrder};
use super::items::item_href;
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::small_multiples::{self, SmallMultiples};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};
use super::trend_line::{TrendLine, TrendScale};
use super::{SiteFile, data};

/// Maximum number of arms with a chart.
const MAX_ARMS: usize = 12;
/// Maximum number of arms with a small drawing, side by side.
const MAX_PANES: usize = 6;
/// Maximum number of nights of all charts together, so that the page keeps its size budget.
const MAX_NIGHTS: usize = 240;
/// Maximum number of arms in the table.
const MAX_LEVELS: usize = 100;
/// Maximum number of nights in one chart.
const MAX_OF_ARM: usize = 90;
const MAX_DUELS: usize = 66;
const MAX_ITEMS: usize = 14;
/// Maximum number of broken and repaired items in the table.
const MAX_CHANGED: usize = 8;

/// Days and nights.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "History",
    group: TabGroup::History,
    path: SuiteRoutes::history_path,
    has_data: |suite| suite.history.is_some(),
    pages: |inputs| Box::new(render_page(inputs).into_iter()),
    data: history_files,
};

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    shell: PageShell,
    suite: Text,
    sentences: Vec<Text>,
    notes: Vec<Text>,
    panes: Option<SmallMultiples>,
    levels: Grid,
    arms: Vec<ArmHistorySection>,
    duels: Option<Grid>,
    changed: Option<Grid>,
    flaky: Option<Grid>,
}

struct ArmHistorySection {
    figure: ChartFigure,
    notes: Vec<Text>,
}

/// Makes the page, or returns `None` for a suite without a history.
fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    let history = suite.history.as_ref()?;
    let path = place.history_path();
    let labels = history::arm_names(history);
    let followed: Vec<(&ArmHistory, &String)> = history
        .arms
        .iter()
        .zip(&labels)
        .filter(|(arm, _)| count_rated_nights(arm) > 1)
        .collect();
    let accepted = history::accepted_regression_notes(history, &labels);
    let sentences: Vec<String> = describe_changes(history, &labels, followed.len())
        .into_iter()
        .chain(accepted)
        .collect();
    let title = format!("History of {} · {}", place.label, context.title);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        sentences.join(" "),
    );
    let bar = suite_bar(suite, place, &shell.root, &place.history_path());
    let shell = shell
        .with_suite_bar(bar)
        .with_downloads(&place.data_stem("history"));
    let drawn = &followed[..followed.len().min(MAX_ARMS)];
    let most = (MAX_NIGHTS / drawn.len().max(1)).min(MAX_OF_ARM);
    let scale: Vec<f64> = drawn
        .iter()
        .flat_map(|(arm, _)| chart::trend_shares(arm, most))
        .collect();
    let page = HistoryPage {
        suite: Text::new(&place.label),
        sentences: sentences.into_iter().map(Text::from).collect(),
        notes: list_notes(history, followed.len(), drawn.len())
            .into_iter()
            .chain(history::rate_range(history).map(|ends| history::scale_note(history, ends)))
            .map(Text::from)
            .collect(),
        panes: small_multiples::draw_nights(suite, place, MAX_PANES, plan, &shell.root, true),
        levels: level_grid(history, &labels, (suite, place), plan, &shell.root),
        arms: (1..)
            .zip(drawn)
            .filter_map(|(number, (arm, label))| {
                let part = build_section(number, arm, label, most, &scale)?;
                Some(ArmHistorySection {
                    figure: part.figure.for_arm(&arm.arm, plan, &shell.root),
                    ..part
                })
            })
            .collect(),
        duels: duel_grid(history, &labels, (suite, place), &shell.root),
        changed: changed_item_grid(history, &labels, place, plan, &shell.root),
        flaky: flaky_item_grid(history, &labels, place, plan, &shell.root),
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}

fn count_rated_nights(arm: &ArmHistory) -> usize {
    arm.nights
        .iter()
        .filter(|night| night.pass_rate.is_some())
        .count()
}

fn build_section(
    number: usize,
    arm: &ArmHistory,
    label: &str,
    most: usize,
    scale: &[f64],
) -> Option<ArmHistorySection> {
    let chart = chart::draw_trend(arm, &format!("arm-{number}-chart"), label, most, scale)?;
    let notes = history::precision_note(arm, label)
        .into_iter()
        .map(Text::from)
        .collect();
    Some(ArmHistorySection {
        figure: ChartFigure::with_max_rows(&format!("arm-{number}"), label, chart, most),
        notes,
    })
}

/// Describes change points, those of pass rates first, or says that there are none.
fn describe_changes(history: &History, labels: &[String], followed: usize) -> Vec<String> {
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
                own.map(move |change| history::change_sentence(arm, change, label))
            })
    };
    let changes: Vec<String> = of(true).chain(of(false)).collect();
    if !changes.is_empty() {
        return changes;
    }
    let arms = format!(
        "{} {}",
        format::format_integer(followed as u64),
        if followed == 1 { "arm" } else { "arms" }
    );
    let nights = history.arms.iter().map(|arm| arm.nights.len());
    let longest = nights.max().unwrap_or_default();
    vec![format!(
        "No change point in {arms} with at least two nights. {}",
        history::why_no_change(longest, "nights")
    )]
}

fn list_notes(history: &History, followed: usize, drawn: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if drawn < followed {
        let (some, all) = (
            format::format_integer(drawn as u64),
            format::format_integer(followed as u64),
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
            format::format_integer(single as u64)
        ));
    }
    if history.undated > 0 {
        notes.push(format!(
            "{} of unknown time not shown.",
            phrases::count_runs(history.undated)
        ));
    }
    notes
}

/// Lays out each arm's first and newest pass rate, with a drawn trend.
fn level_grid(
    history: &History,
    labels: &[String],
    of: (&OverviewSuite, &SuiteRoutes),
    plan: &SiteRoutes,
    root: &str,
) -> Grid {
    let arms = &history.arms[..history.arms.len().min(MAX_LEVELS)];
    let rates: Vec<Vec<&Estimate>> = arms.iter().map(history::nightly_rates).collect();
    let longest = rates.iter().map(Vec::len).max().unwrap_or_default();
    let scale = history::rate_range(history).map(|ends| TrendScale::new(ends, longest));
    let rate = |rate: Option<&&Estimate>| {
        GridCell::number_or_unknown(
            rate.map(|rate| (format::estimate_with_interval(rate), rate.value)),
        )
    };
    let mut grid = Grid::new("levels-table", "Arms by night").fit_to_content();
    grid.add_column(
        GridColumn::new("Arm", ColumnLook::Key, SortOrder::Ascending),
        labels
            .iter()
            .take(arms.len())
            .map(|label| GridCell::head(label.as_str())),
    );
    link_arm_rows(&mut grid, arms.iter().map(|arm| &arm.arm), of, plan, root);
    grid.add_column(
        GridColumn::new("Nights", ColumnLook::Number, SortOrder::Descending),
        arms.iter()
            .map(|arm| GridCell::count(arm.nights.len() as u64)),
    );
    let ends = |name: &str| {
        GridColumn::new(name, ColumnLook::Number, SortOrder::Descending)
            .with_subtext("95% interval")
            .with_shares()
    };
    grid.add_column(
        ends("First rate, %"),
        rates.iter().map(|rates| rate(rates.first())),
    );
    grid.add_column(
        ends("Newest rate, %"),
        rates.iter().map(|rates| rate(rates.last())),
    );
    let basis = rates.iter().map(|rates| {
        GridCell::words(
            rates
                .last()
                .map_or_else(String::new, |rate| phrases::sample_size(rate)),
        )
    });
    grid.add_column(
        GridColumn::new("n", ColumnLook::Words, SortOrder::None).with_subtext("newest"),
        basis,
    );
    let trends = arms.iter().zip(&rates).map(|(arm, rates)| {
        let tone = of.1.arm_tone(&arm.arm);
        GridCell::from_trend(scale.and_then(|scale| TrendLine::from_rates(rates, scale, tone)))
    });
    grid.add_column(
        GridColumn::new("Trend", ColumnLook::Words, SortOrder::None),
        trends,
    );
    let changes = arms
        .iter()
        .map(|arm| GridCell::count(arm.changes.len() as u64));
    grid.add_column(
        GridColumn::new("Changes", ColumnLook::Number, SortOrder::Descending)
            .with_subtext("of level"),
        changes,
    );
    grid
}

fn duel_grid(
    history: &History,
    labels: &[String],
    (suite, place): (&OverviewSuite, &SuiteRoutes),
    root: &str,
) -> Option<Grid> {
    let duels = &history.duels[..history.duels.len().min(MAX_DUELS)];
    if duels.is_empty() {
        return None;
    }
    let mut grid = Grid::new("duels-table", "Pairs of arms by night").fit_to_content();
    let arm = |at: usize| &history.arms[at].arm;
    let pair = duels.iter().map(|duel| {
        let head = GridCell::head(format!(
            "{} against {}",
            labels[duel.first], labels[duel.second]
        ));
        head.with_link(pair_href(
            suite,
            place,
            root,
            arm(duel.first),
            arm(duel.second),
        ))
    });
    grid.add_column(
        GridColumn::new("Pair", ColumnLook::Key, SortOrder::Ascending),
        pair,
    );
    grid.add_column(
        GridColumn::new("Better", ColumnLook::Number, SortOrder::Descending).with_subtext("nights"),
        duels.iter().map(|duel| GridCell::count(duel.won)),
    );
    grid.add_column(
        GridColumn::new("Worse", ColumnLook::Number, SortOrder::Descending).with_subtext("nights"),
        duels.iter().map(|duel| GridCell::count(duel.lost)),
    );
    grid.add_column(
        GridColumn::new("Equal", ColumnLook::Number, SortOrder::Descending).with_subtext("nights"),
        duels.iter().map(|duel| GridCell::count(duel.same)),
    );
    let evidence = duels
        .iter()
        .map(|duel| GridCell::number(history::e_value(duel), duel.e_value.min(f64::MAX)));
    grid.add_column(
        GridColumn::new("e", ColumnLook::Number, SortOrder::Descending),
        evidence,
    );
    let verdict = duels
        .iter()
        .map(|duel| GridCell::words(history::duel_verdict(duel, labels)));
    grid.add_column(
        GridColumn::new("Verdict", ColumnLook::Words, SortOrder::Ascending),
        verdict,
    );
    Some(grid)
}

/// Lays out the items that broke or were repaired.
fn changed_item_grid<'h>(
    history: &'h History,
    labels: &'h [String],
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    root: &str,
) -> Option<Grid> {
    let named = |(arm, item): (usize, &'h ItemChange)| {
        Some((&history.arms[arm].arm, labels.get(arm)?, item))
    };
    let items: Vec<(&Arm, &String, &ItemChange)> = history
        .changed_items()
        .into_iter()
        .take(MAX_CHANGED)
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
    .fit_to_content();
    if all > items.len() as u64 {
        grid = grid.with_about(format!(
            "{} of {}, over all arms",
            items.len(),
            phrases::count_with_noun(all, "items")
        ));
    }
    grid.add_column(
        GridColumn::new("Item", ColumnLook::Key, SortOrder::Ascending),
        items.iter().map(|(_, _, item)| {
            GridCell::head(item.item.as_str()).with_link(item_href(place, root, &item.item, None))
        }),
    );
    grid.add_column(
        GridColumn::new("Arm", ColumnLook::Words, SortOrder::Ascending),
        items
            .iter()
            .map(|(_, label, _)| GridCell::words(label.as_str())),
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
        .map(|(_, _, item)| GridCell::words(courses::state_since(&item.course)));
    grid.add_column(
        GridColumn::new("Now", ColumnLook::Words, SortOrder::Ascending),
        state,
    );
    grid.add_column(
        GridColumn::new("Outcomes", ColumnLook::Words, SortOrder::None),
        items
            .iter()
            .map(|(_, _, item)| GridCell::words(courses::outcome_counts(&item.course))),
    );
    let p = items.iter().map(|(_, _, item)| {
        GridCell::number_or_unknown(item.course.p.map(|p| (verdicts::p_value(Some(p)), p)))
    });
    grid.add_column(
        GridColumn::new("p", ColumnLook::Number, SortOrder::Ascending).with_subtext("if flaky"),
        p,
    );
    Some(grid)
}

fn flaky_item_grid<'h>(
    history: &'h History,
    labels: &[String],
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    root: &str,
) -> Option<Grid> {
    let named = |(arm, item): (usize, &'h NoisyItem)| {
        Some((&history.arms[arm].arm, labels.get(arm)?, item))
    };
    let items: Vec<(&Arm, &String, &NoisyItem)> = history
        .noisy_items()
        .into_iter()
        .take(MAX_ITEMS)
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
    let percent = |share: f64| GridCell::number(phrases::chance_percent(share), share);
    let mut grid =
        Grid::new("flaky-table", "Items since the last break, flakiest first").fit_to_content();
    if varying > items.len() as u64 {
        grid = grid.with_about(format!(
            "{} of {} that vary, over all arms",
            items.len(),
            phrases::count_with_noun(varying, "items")
        ));
    }
    grid.add_column(
        GridColumn::new("Item", ColumnLook::Key, SortOrder::Ascending),
        items.iter().map(|(_, _, item)| {
            GridCell::head(item.item.as_str()).with_link(item_href(place, root, &item.item, None))
        }),
    );
    grid.add_column(
        GridColumn::new("Arm", ColumnLook::Words, SortOrder::Ascending),
        items
            .iter()
            .map(|(_, label, _)| GridCell::words(label.as_str())),
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
            format::format_integer(item.passed),
            format::format_integer(item.counted)
        );
        GridCell::number(text, item.passed as f64 / item.counted.max(1) as f64)
    });
    grid.add_column(
        GridColumn::new("Passed", ColumnLook::Number, SortOrder::Descending),
        passed,
    );
    grid.add_column(
        GridColumn::new("Flaky", ColumnLook::Number, SortOrder::Descending)
            .with_subtext("chance of it"),
        items.iter().map(|(_, _, item)| percent(item.flaky)),
    );
    grid.add_column(
        GridColumn::new("Noise", ColumnLook::Number, SortOrder::Descending)
            .with_subtext("of the arm's"),
        items.iter().map(|(_, _, item)| percent(item.noise)),
    );
    Some(grid.with_filter(""))
}

/// Makes the data of one suite's nights.
fn history_files(
    SuitePageInputs {
        context,
        suite,
        place,
        ..
    }: SuitePageInputs<'_>,
) -> Vec<SiteFile> {
    let Some(history) = &suite.history else {
        return Vec::new();
    };
    let nights = history::arm_nights_table(history, usize::MAX);
    let spreadsheet = csv::write_table(&nights);
    let shown = tables::with_scope_notes(
        vec![history::trend_table(history), nights],
        suite.retracted,
        context.aliased,
    );
    let answer = json::HistoryAnswer {
        histories: vec![history.clone()],
        retracted: suite.retracted,
    };
    let stem = place.data_stem("history");
    std::iter::once(data::json_file(&stem, "history", answer))
        .chain(data::table_files(&stem, spreadsheet, &shown))
        .collect()
}
