//! A suite's criteria over all its runs: how often each arm met them, and the verdicts on each.

use std::collections::BTreeSet;

use askama::Template;

use crate::domain::{ItemStatus, shorten_to};
use crate::render::judged::outcome_word;
use crate::render::{format, judged, phrases};
use crate::views::{
    CriteriaTable, CriterionCell, CriterionKey, CriterionRow, CriterionVerdict, OverviewSuite,
};

use super::SiteFile;
use super::board::rate_cell;
use super::charts::pair_href;
use super::criteria_data::criteria_files;
use super::cut::truncate_text;
use super::grid::{ColumnLook, Grid, GridCell, GridCellKind, GridColumn, SortOrder};
use super::items::{CRITERIA_PER_BUCKET, bucket_name, criterion_href, round_robin};
use super::link::PageLink;
use super::routes::{SiteRoutes, SuiteRoutes};
use super::runs::Pager;
use super::shell::{NavigationEntry, PageShell, Text, escaped_length};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};
use super::whisker::Whisker;

/// Maximum criteria of one table of the index, and its maximum cells.
const MAX_CRITERIA: usize = 200;
const MAX_CELLS: usize = 1_200;
/// Maximum number of criteria on which arms differ that the suite's page links to.
const MAX_PARTING: usize = 6;
/// Maximum arms of one criterion, and maximum pairs of arms that differ on it.
const MAX_ARMS: usize = 20;
const MAX_PAIRS: usize = 12;
/// Maximum bytes of the pairs, and bytes of one pair without its texts.
const MAX_PAIR_LIST_BYTES: usize = 2_500;
const PAIR_BYTES: usize = 60;
/// Target bytes of a page with all its criteria, then bytes of an arm's drawn rate and of a verdict, both without their texts.
const PAGE_BYTES: usize = 54_000;
const ARM_BYTES: usize = 420;
const VERDICT_BYTES: usize = 240;
/// Bytes that the verdicts on a criterion may take in any case, however large the page.
const MIN_TOLD: usize = 2_500;
/// Maximum characters of a criterion in its heading.
const MAX_HEADING_LENGTH: usize = 400;

/// Criteria by arm, and each criterion.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Criteria",
    group: TabGroup::Items,
    path: SuiteRoutes::criteria_path,
    has_data: has_criteria,
    pages: |inputs| Box::new(render_index(inputs).into_iter().chain(render_pages(inputs))),
    data: criteria_files,
};

#[derive(Template)]
#[template(path = "criteria.html")]
struct CriteriaIndexPage {
    shell: PageShell,
    suite: Text,
    tables: Vec<JudgedCriteria>,
}

/// The criteria according to one judge.
struct JudgedCriteria {
    id: String,
    heading: Text,
    grid: Grid,
    more: Option<String>,
}

#[derive(Template)]
#[template(path = "criterion.html")]
struct CriterionPage {
    shell: PageShell,
    suite: Text,
    heading: String,
    criteria: Vec<CriterionSection>,
    pager: Option<Pager>,
}

/// One criterion.
struct CriterionSection {
    anchor: String,
    name: Text,
    parts: Vec<CriterionByJudge>,
}

/// One criterion according to one judge.
struct CriterionByJudge {
    heading: Text,
    sentences: Vec<Text>,
    rates: Grid,
    /// Links to the pages of pairs of which one arm meets the criterion and the other does not.
    pairs: Vec<PageLink>,
    pairs_said: String,
    verdicts: Option<Grid>,
    untold: Option<String>,
}

/// Context shared by all criteria of a page.
struct CriterionContext<'a> {
    plan: &'a SiteRoutes,
    suite: &'a OverviewSuite,
    place: &'a SuiteRoutes,
    root: &'a str,
    /// Target bytes of one criterion.
    bytes: usize,
}

/// Says whether the suite has data for the page.
pub(super) fn has_criteria(suite: &OverviewSuite) -> bool {
    !suite.criterion_keys.is_empty()
}

/// Makes the list of a suite's criteria, or returns `None` if the suite has none.
fn render_index(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    if suite.criterion_keys.is_empty() {
        return None;
    }
    let path = place.criteria_path();
    let title = format!("{}: criteria · {}", place.label, context.title);
    let description = format!("How often each arm met each criterion of {}.", place.label);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        description,
    )
    .with_downloads(&place.data_stem("criteria"));
    let bar = suite_bar(suite, place, &shell.root, &place.criteria_path());
    let shell = shell.with_suite_bar(bar);
    let tables = (1..)
        .zip(&suite.criteria)
        .map(|(number, table)| judged_criteria(number, table, place, &shell.root))
        .collect();
    Some(SiteFile::from_template(
        path,
        &CriteriaIndexPage {
            suite: Text::new(&place.label),
            tables,
            shell,
        },
    ))
}

fn judge_heading(table: &CriteriaTable) -> Text {
    Text::from(match &table.judge {
        Some(judge) => format!("{}, judged by {judge}", table.evaluator),
        None => table.evaluator.clone(),
    })
}

fn judged_criteria(
    number: usize,
    table: &CriteriaTable,
    place: &SuiteRoutes,
    root: &str,
) -> JudgedCriteria {
    let labels = phrases::arm_labels(&place.label, &table.arms);
    let most = MAX_CRITERIA.min(MAX_CELLS / (labels.len() + 1)).max(1);
    let rows = &table.rows[..table.rows.len().min(most)];
    let mut grid = Grid::new(format!("criteria-{number}"), "Runs that met each criterion");
    let name = |row: &CriterionRow| {
        GridCell::head(truncate_text(&row.criterion)).with_link(criterion_href(
            place,
            root,
            &row.criterion,
            &table.evaluator,
        ))
    };
    grid.add_column(
        GridColumn::new("Criterion", ColumnLook::Key, SortOrder::Ascending),
        rows.iter().map(name),
    );
    for (arm, label) in labels.iter().enumerate() {
        let cells = rows
            .iter()
            .filter_map(|row| row.cells.get(arm))
            .map(met_cell);
        grid.add_column(
            GridColumn::new(label.as_str(), ColumnLook::Number, SortOrder::Descending),
            cells,
        );
    }
    let more = (rows.len() < table.rows.len()).then(|| {
        format!(
            "{} of {} criteria are listed here; each has its place on the pages of criteria, and the data have them all.",
            format::format_integer(rows.len() as u64),
            format::format_integer(table.rows.len() as u64)
        )
    });
    JudgedCriteria {
        id: format!("judge-{number}"),
        heading: judge_heading(table),
        grid: grid.with_filter(""),
        more,
    }
}

/// Returns a cell with how many of an arm's outcomes met a criterion.
fn met_cell(cell: &CriterionCell) -> GridCell {
    let (met, missing) = judged::met_and_missing(cell);
    if cell.total == 0 {
        GridCell::unknown(&met)
    } else {
        GridCell::number(met, cell.passed as f64 / cell.total as f64).with_subtext(missing)
    }
}

/// Says on how many criteria arms differ, with links to the first of them.
pub(super) fn summarise_disagreement(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    root: &str,
) -> (Text, Vec<PageLink>) {
    let parts = |row: &&CriterionRow| {
        let standings = || row.cells.iter().filter_map(CriterionCell::is_met);
        standings().any(|met| met) && standings().any(|met| !met)
    };
    let rows = suite
        .criteria
        .iter()
        .flat_map(|table| table.rows.iter().filter(parts).map(move |row| (table, row)));
    let parting: BTreeSet<(&str, &str)> = rows
        .map(|(table, row)| (row.criterion.as_str(), table.evaluator.as_str()))
        .collect();
    let (all, some) = (suite.criterion_keys.len() as u64, parting.len() as u64);
    let criteria = if all == 1 { "criterion" } else { "criteria" };
    let said = format!(
        "{} {criteria}; arms disagree on {}: some meet it in more than half of their runs, others do not.",
        format::format_integer(all),
        format::format_integer(some)
    );
    let link = |(criterion, evaluator): &(&str, &str)| {
        Some(PageLink {
            href: criterion_href(place, root, criterion, evaluator)?,
            label: Text::from(truncate_text(criterion)),
        })
    };
    (
        Text::from(said),
        parting.iter().filter_map(link).take(MAX_PARTING).collect(),
    )
}

/// Makes the pages with the details of each criterion.
fn render_pages(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> impl Iterator<Item = SiteFile> + '_ {
    let chunks = suite.criterion_keys.chunks(CRITERIA_PER_BUCKET);
    let (count, all) = (chunks.len(), suite.criterion_keys.len());
    chunks.enumerate().map(move |(bucket, chunk)| {
        let path = format!(
            "suites/{}/criteria/{}",
            place.segment,
            bucket_name(bucket + 1)
        );
        let first = bucket * CRITERIA_PER_BUCKET;
        let integer = |number: usize| format::format_integer(number as u64);
        let heading = match chunk.len() {
            1 => format!("Criterion {} of {}", integer(first + 1), integer(all)),
            several => format!(
                "Criteria {} to {} of {}",
                integer(first + 1),
                integer(first + several),
                integer(all)
            ),
        };
        let title = format!("{heading} · {} · {}", place.label, context.title);
        let about = format!(
            "Single criteria of {} by arm, with the judge's reasoning.",
            place.label
        );
        let shell = PageShell::new(
            context,
            &plan.assets,
            &path,
            NavigationEntry::Below,
            title,
            about,
        )
        .with_downloads(&place.data_stem("criteria"));
        let bar = suite_bar(suite, place, &shell.root, &place.criteria_path());
        let shell = shell.with_suite_bar(bar);
        let page = CriterionContext {
            plan,
            suite,
            place,
            root: &shell.root,
            bytes: PAGE_BYTES / chunk.len(),
        };
        let criteria = (first..)
            .zip(chunk)
            .map(|(index, key)| build_section(&page, index, key))
            .collect();
        let pager = Pager::new(bucket as u64 + 1, count as u64, |number| {
            bucket_name(usize::try_from(number).unwrap_or(usize::MAX))
        });
        SiteFile::from_template(
            path,
            &CriterionPage {
                suite: Text::new(&place.label),
                heading,
                criteria,
                pager,
                shell,
            },
        )
    })
}

fn build_section(
    page: &CriterionContext<'_>,
    index: usize,
    key: &CriterionKey,
) -> CriterionSection {
    let tables = page
        .suite
        .criteria
        .iter()
        .filter(|table| table.evaluator == key.evaluator);
    let rows: Vec<(&CriteriaTable, &CriterionRow)> = tables
        .filter_map(|table| {
            Some((
                table,
                table
                    .rows
                    .iter()
                    .find(|row| row.criterion == key.criterion)?,
            ))
        })
        .collect();
    let name = if key.criterion.trim().is_empty() {
        Text::new("(no name)")
    } else {
        Text::from(shorten_to(&key.criterion, MAX_HEADING_LENGTH))
    };
    // A name is in the list at the top, in its own heading, and in the heading for each judge.
    let own = (2 + rows.len()) * name.escaped_length()
        + rows
            .iter()
            .map(|(table, _)| estimate_rate_bytes(&page.place.label, table))
            .sum::<usize>();
    let told = page.bytes.saturating_sub(own).max(MIN_TOLD) / rows.len().max(1);
    let part = |(judge, (table, row)): (usize, &(&CriteriaTable, &CriterionRow))| {
        let id = format!("{}-{judge}", index + 1);
        // Captions must be unique per table.
        let judge = if rows.len() > 1 {
            format!(" (judge {judge})")
        } else {
            String::new()
        };
        build_judge_part(
            page,
            table,
            row,
            &id,
            &format!(
                "criterion {}{judge}",
                format::format_integer(index as u64 + 1)
            ),
            told,
        )
    };
    let parts = (1..).zip(&rows).map(part);
    CriterionSection {
        anchor: page.place.criteria.anchor(index),
        parts: parts.collect(),
        name,
    }
}

/// Estimates the bytes of the table of rates. An arm's name is in it, and in the sentences above.
fn estimate_rate_bytes(suite: &str, table: &CriteriaTable) -> usize {
    let labels = phrases::arm_labels(suite, &table.arms);
    labels
        .iter()
        .take(MAX_ARMS)
        .map(|label| ARM_BYTES + 2 * escaped_length(label))
        .sum()
}

fn build_judge_part(
    page: &CriterionContext<'_>,
    table: &CriteriaTable,
    row: &CriterionRow,
    id: &str,
    about: &str,
    told: usize,
) -> CriterionByJudge {
    let labels = phrases::arm_labels(&page.place.label, &table.arms);
    // The other arms were only asked about other criteria.
    let asked: Vec<usize> = (0..labels.len())
        .filter(|arm| row.cells[*arm].is_asked())
        .collect();
    let by_standing = |standing: Option<bool>| -> Vec<usize> {
        asked
            .iter()
            .copied()
            .filter(|arm| row.cells[*arm].is_met() == standing)
            .collect()
    };
    let (met, not_met, undecided) = (
        by_standing(Some(true)),
        by_standing(Some(false)),
        by_standing(None),
    );
    let named = |word: &str, arms: &[usize]| {
        let names: Vec<&str> = arms
            .iter()
            .take(MAX_ARMS)
            .map(|arm| labels[*arm].as_str())
            .collect();
        let more = arms.len() - names.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        (!arms.is_empty()).then(|| Text::from(format!("{word} {}{more}.", names.join(", "))))
    };
    let pairs = met
        .iter()
        .flat_map(|one| not_met.iter().map(move |other| (*one, *other)));
    let link = |(one, other): (usize, usize)| {
        let href = pair_href(
            page.suite,
            page.place,
            page.root,
            &table.arms[one],
            &table.arms[other],
        )?;
        Some(PageLink {
            href,
            label: Text::from(format!("{} vs {}", labels[one], labels[other])),
        })
    };
    let mut links: Vec<PageLink> = pairs.filter_map(link).collect();
    let (all, mut bytes) = (links.len(), 0);
    let fits = |link: &&PageLink| {
        bytes += PAIR_BYTES + link.href.len() + link.label.escaped_length();
        bytes <= MAX_PAIR_LIST_BYTES
    };
    let fitting = links.iter().take(MAX_PAIRS).take_while(fits).count();
    links.truncate(fitting);
    let pairs_said = if all > links.len() {
        format!(
            "{} of {} pairs of arms that disagree, side by side:",
            links.len(),
            format::format_integer(all as u64)
        )
    } else {
        "Pairs of arms that disagree, side by side:".to_owned()
    };
    let (verdicts, untold) = verdict_grid(page, row, &labels, (id, about), told);
    CriterionByJudge {
        heading: judge_heading(table),
        sentences: [
            named("In more than half of their runs met by", &met),
            named("Not met by", &not_met),
            named("Not decided for", &undecided),
        ]
        .into_iter()
        .flatten()
        .collect(),
        rates: rate_grid(row, &asked, &labels, (id, about)),
        pairs: links,
        pairs_said,
        verdicts,
        untold,
    }
}

/// Lays out how often each arm met a criterion, with its interval.
fn rate_grid(
    row: &CriterionRow,
    asked: &[usize],
    labels: &[String],
    (id, on): (&str, &str),
) -> Grid {
    let shown = &asked[..asked.len().min(MAX_ARMS)];
    let cells: Vec<&CriterionCell> = shown.iter().map(|arm| &row.cells[*arm]).collect();
    let about = if shown.len() < asked.len() {
        format!(
            "the first {} of {} arms; the data have all",
            shown.len(),
            asked.len()
        )
    } else {
        String::new()
    };
    let mut grid = Grid::new(
        format!("rates-{id}"),
        format!("How often each arm met {on}"),
    )
    .with_about(about)
    .fit_to_content();
    grid.add_column(
        GridColumn::new("Arm", ColumnLook::Key, SortOrder::Ascending),
        shown
            .iter()
            .map(|arm| GridCell::head(labels[*arm].as_str())),
    );
    let estimates = cells.iter().map(|cell| {
        if cell.rate.is_some() {
            rate_cell(cell.rate.as_ref())
        } else {
            met_cell(cell)
        }
    });
    grid.add_column(
        GridColumn::new("Met, %", ColumnLook::Number, SortOrder::Descending)
            .with_subtext("95% interval"),
        estimates,
    );
    grid.add_column(
        GridColumn::new(
            "Rate and interval, drawn",
            ColumnLook::Scale,
            SortOrder::None,
        ),
        cells
            .iter()
            .map(|cell| GridCell::from_whisker(cell.rate.as_ref().map(Whisker::from_estimate))),
    );
    grid.add_column(
        GridColumn::new("Runs that met it", ColumnLook::Number, SortOrder::None),
        cells.iter().map(|cell| met_cell(cell)),
    );
    grid
}

/// Lists the verdicts by run as far as the page has room, and says how many are not shown.
///
/// Every arm gets a first verdict before any arm gets a second one. Verdicts on unmet criteria come first.
fn verdict_grid(
    page: &CriterionContext<'_>,
    row: &CriterionRow,
    labels: &[String],
    (id, on): (&str, &str),
    most: usize,
) -> (Option<Grid>, Option<String>) {
    let of_arm = |cell: &CriterionCell| {
        let is_met = |verdict: &CriterionVerdict| verdict.status == ItemStatus::Pass.name();
        let (met, not_met): (Vec<_>, Vec<_>) = cell.verdicts.iter().cloned().partition(is_met);
        not_met
            .into_iter()
            .chain(met)
            .collect::<Vec<CriterionVerdict>>()
    };
    let of_arms: Vec<Vec<CriterionVerdict>> = row.cells.iter().map(of_arm).collect();
    let of_arms: Vec<&[CriterionVerdict]> = of_arms.iter().map(Vec::as_slice).collect();
    let mut of_shown: Vec<Vec<(usize, &CriterionVerdict, Text)>> =
        of_arms.iter().map(|_| Vec::new()).collect();
    let mut bytes = 0;
    for (arm, verdict) in round_robin(&of_arms) {
        let reason = Text::from(
            verdict
                .reason
                .as_deref()
                .map_or_else(String::new, truncate_text),
        );
        // A run's id is also in its link.
        bytes += VERDICT_BYTES
            + escaped_length(&labels[arm])
            + 2 * escaped_length(&verdict.run)
            + reason.escaped_length();
        if bytes > most {
            break;
        }
        of_shown[arm].push((arm, verdict, reason));
    }
    let shown: Vec<(usize, &CriterionVerdict, Text)> = of_shown.into_iter().flatten().collect();
    let all: u64 = row
        .cells
        .iter()
        .map(|cell| (cell.total + cell.missing).max(cell.verdicts.len() as u64))
        .sum();
    let left = all - shown.len() as u64;
    let untold = (left > 0).then(|| {
        let verdicts = if left == 1 {
            "verdict is"
        } else {
            "verdicts are"
        };
        format!(
            "{} more {verdicts} on the pages of the runs; the data have the first of each arm.",
            format::format_integer(left)
        )
    });
    if shown.is_empty() {
        return (None, untold);
    }
    let mut grid = Grid::new(
        format!("verdicts-{id}"),
        format!("Judgements of {on}, run by run"),
    );
    grid.add_column(
        GridColumn::new("Arm", ColumnLook::Key, SortOrder::Ascending),
        shown
            .iter()
            .map(|(arm, ..)| GridCell::head(labels[*arm].as_str())),
    );
    let outcome = |verdict: &CriterionVerdict| {
        let cell = GridCell {
            text: Text::from(outcome_word(&verdict.status)),
            ..GridCell::item_status(&verdict.status)
        };
        cell.with_subtext(if verdict.attempt > 1 {
            format!("attempt {}", verdict.attempt)
        } else {
            String::new()
        })
    };
    grid.add_column(
        GridColumn::new("Outcome", ColumnLook::Words, SortOrder::Ascending),
        shown.iter().map(|(_, verdict, _)| outcome(verdict)),
    );
    grid.add_column(
        GridColumn::new("Reasoning", ColumnLook::Words, SortOrder::None),
        shown
            .iter()
            .map(|(.., reason)| GridCell::words(reason.clone())),
    );
    let run = |verdict: &CriterionVerdict| {
        GridCell::words(verdict.run.as_str()).with_link(
            page.plan
                .run_path(&verdict.run)
                .map(|path| format!("{}{path}", page.root)),
        )
    };
    grid.add_column(
        GridColumn::new("Run", ColumnLook::Words, SortOrder::Ascending),
        shown.iter().map(|(_, verdict, _)| run(verdict)),
    );
    let revision = shown
        .iter()
        .map(|(_, verdict, _)| GridCell::count(u64::from(verdict.revision)));
    grid.add_column(
        GridColumn::new("Revision", ColumnLook::Number, SortOrder::Descending),
        revision,
    );
    (Some(grid), untold)
}
