//! A suite's criteria over all its runs: how often each arm met them, and the verdicts on each.

use std::collections::BTreeSet;

use askama::Template;

use crate::domain::{ItemStatus, beginning};
use crate::render::judged::outcome_word;
use crate::render::{format, judged, words};
use crate::views::{
    CriteriaTable, CriterionCell, CriterionKey, CriterionRow, CriterionVerdict, OverviewSuite,
    SiteContext,
};

use super::SiteFile;
use super::board::rate;
use super::charts::pair_link;
use super::cut::cut;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::items::{CRITERIA_PER_BUCKET, bucket_name, criterion_href, in_turns};
use super::link::Link;
use super::plan::{Plan, SuitePlace};
use super::runs::Pager;
use super::shell::{Here, Shell, Text, escaped_length};
use super::suite_tabs::{Tab, bar};
use super::whisker::Whisker;

/// Maximum criteria of one table of the index, and its maximum cells.
const MOST_CRITERIA: usize = 200;
const MOST_CELLS: usize = 1_200;
/// Maximum number of criteria on which arms differ that the suite's page links to.
const MOST_PARTING: usize = 6;
/// Maximum arms of one criterion, and maximum pairs of arms that differ on it.
const MOST_ARMS: usize = 20;
const MOST_PAIRS: usize = 12;
/// Maximum bytes of the pairs, and bytes of one pair without its texts.
const PAIRS_BYTES: usize = 2_500;
const PAIR_BYTES: usize = 60;
/// Target bytes of a page with all its criteria, then bytes of an arm's drawn rate and of a verdict, both without their texts.
const PAGE_BYTES: usize = 54_000;
const ARM_BYTES: usize = 420;
const VERDICT_BYTES: usize = 240;
/// Bytes that the verdicts on a criterion may take in any case, however large the page.
const LEAST_TOLD: usize = 2_500;
/// Maximum characters of a criterion in its heading.
const LONGEST: usize = 400;

#[derive(Template)]
#[template(path = "criteria.html")]
struct Index {
    shell: Shell,
    suite: Text,
    tables: Vec<Judged>,
}

/// The criteria according to one judge.
struct Judged {
    id: String,
    heading: Text,
    grid: Grid,
    more: Option<String>,
}

#[derive(Template)]
#[template(path = "criterion.html")]
struct Details {
    shell: Shell,
    suite: Text,
    heading: String,
    criteria: Vec<Criterion>,
    pager: Option<Pager>,
}

/// One criterion.
struct Criterion {
    anchor: String,
    name: Text,
    parts: Vec<Part>,
}

/// One criterion according to one judge.
struct Part {
    heading: Text,
    sentences: Vec<Text>,
    rates: Grid,
    /// Links to the pages of pairs of which one arm meets the criterion and the other does not.
    pairs: Vec<Link>,
    pairs_said: String,
    verdicts: Option<Grid>,
    untold: Option<String>,
}

/// Context shared by all criteria of a page.
struct Page<'a> {
    plan: &'a Plan,
    suite: &'a OverviewSuite,
    place: &'a SuitePlace,
    root: &'a str,
    /// Target bytes of one criterion.
    bytes: usize,
}

/// Makes the list of a suite's criteria, or returns `None` if the suite has none.
pub(super) fn index(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    if suite.criterion_keys.is_empty() {
        return None;
    }
    let path = place.criteria_path();
    let title = format!("{}: criteria · {}", place.label, context.title);
    let description = format!("How often each arm met each criterion of {}.", place.label);
    let shell = Shell::new(
        context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        description,
    )
    .downloads(&place.data("criteria"));
    let bar = bar(suite, place, &shell.root, Tab::Criteria);
    let shell = shell.of_suite(bar);
    let tables = (1..)
        .zip(&suite.criteria)
        .map(|(number, table)| judged(number, table, place, &shell.root))
        .collect();
    Some(SiteFile::page(
        path,
        &Index {
            suite: Text::new(&place.label),
            tables,
            shell,
        },
    ))
}

fn heading(table: &CriteriaTable) -> Text {
    Text::from(match &table.judge {
        Some(judge) => format!("{}, judged by {judge}", table.evaluator),
        None => table.evaluator.clone(),
    })
}

fn judged(number: usize, table: &CriteriaTable, place: &SuitePlace, root: &str) -> Judged {
    let labels = words::arm_labels(&place.label, &table.arms);
    let most = MOST_CRITERIA.min(MOST_CELLS / (labels.len() + 1)).max(1);
    let rows = &table.rows[..table.rows.len().min(most)];
    let mut grid = Grid::new(format!("criteria-{number}"), "Runs that met each criterion");
    let name = |row: &CriterionRow| {
        Cell::head(cut(&row.criterion)).link(criterion_href(
            place,
            root,
            &row.criterion,
            &table.evaluator,
        ))
    };
    grid.column(
        Column::new("Criterion", Look::Key, Sort::Ascending),
        rows.iter().map(name),
    );
    for (arm, label) in labels.iter().enumerate() {
        let cells = rows
            .iter()
            .filter_map(|row| row.cells.get(arm))
            .map(counted);
        grid.column(
            Column::new(label.as_str(), Look::Number, Sort::Descending),
            cells,
        );
    }
    let more = (rows.len() < table.rows.len()).then(|| {
        format!(
            "{} of {} criteria are listed here; each has its place on the pages of criteria, and the data have them all.",
            format::integer(rows.len() as u64),
            format::integer(table.rows.len() as u64)
        )
    });
    Judged {
        id: format!("judge-{number}"),
        heading: heading(table),
        grid: grid.filtered(""),
        more,
    }
}

/// Returns a cell with how many of an arm's outcomes met a criterion.
fn counted(cell: &CriterionCell) -> Cell {
    let (met, missing) = judged::met(cell);
    if cell.total == 0 {
        Cell::unknown(&met)
    } else {
        Cell::number(met, cell.passed as f64 / cell.total as f64).sub(missing)
    }
}

/// Says on how many criteria arms differ, with links to the first of them.
pub(super) fn finding(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> (Text, Vec<Link>) {
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
        format::integer(all),
        format::integer(some)
    );
    let link = |(criterion, evaluator): &(&str, &str)| {
        Some(Link {
            href: criterion_href(place, root, criterion, evaluator)?,
            label: Text::from(cut(criterion)),
        })
    };
    (
        Text::from(said),
        parting.iter().filter_map(link).take(MOST_PARTING).collect(),
    )
}

/// Makes the pages with the details of each criterion.
pub(super) fn pages<'a>(
    context: &'a SiteContext,
    plan: &'a Plan,
    suite: &'a OverviewSuite,
    place: &'a SuitePlace,
) -> impl Iterator<Item = SiteFile> + 'a {
    let chunks = suite.criterion_keys.chunks(CRITERIA_PER_BUCKET);
    let (count, all) = (chunks.len(), suite.criterion_keys.len());
    chunks.enumerate().map(move |(bucket, chunk)| {
        let path = format!(
            "suites/{}/criteria/{}",
            place.segment,
            bucket_name(bucket + 1)
        );
        let first = bucket * CRITERIA_PER_BUCKET;
        let integer = |number: usize| format::integer(number as u64);
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
        let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about)
            .downloads(&place.data("criteria"));
        let bar = bar(suite, place, &shell.root, Tab::Criteria);
        let shell = shell.of_suite(bar);
        let page = Page {
            plan,
            suite,
            place,
            root: &shell.root,
            bytes: PAGE_BYTES / chunk.len(),
        };
        let criteria = (first..)
            .zip(chunk)
            .map(|(index, key)| criterion(&page, index, key))
            .collect();
        let pager = Pager::new(bucket as u64 + 1, count as u64, |number| {
            bucket_name(usize::try_from(number).unwrap_or(usize::MAX))
        });
        SiteFile::page(
            path,
            &Details {
                suite: Text::new(&place.label),
                heading,
                criteria,
                pager,
                shell,
            },
        )
    })
}

fn criterion(page: &Page<'_>, index: usize, key: &CriterionKey) -> Criterion {
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
        Text::from(beginning(&key.criterion, LONGEST))
    };
    // A name is in the list at the top, in its own heading, and in the heading for each judge.
    let own = (2 + rows.len()) * name.escaped_length()
        + rows
            .iter()
            .map(|(table, _)| arms_length(&page.place.label, table))
            .sum::<usize>();
    let told = page.bytes.saturating_sub(own).max(LEAST_TOLD) / rows.len().max(1);
    let part = |(judge, (table, row)): (usize, &(&CriteriaTable, &CriterionRow))| {
        let id = format!("{}-{judge}", index + 1);
        // Captions must be unique per table.
        let judge = if rows.len() > 1 {
            format!(" (judge {judge})")
        } else {
            String::new()
        };
        part(
            page,
            table,
            row,
            &id,
            &format!("criterion {}{judge}", format::integer(index as u64 + 1)),
            told,
        )
    };
    let parts = (1..).zip(&rows).map(part);
    Criterion {
        anchor: page.place.criteria.anchor(index),
        parts: parts.collect(),
        name,
    }
}

/// Estimates the bytes of the table of rates. An arm's name is in it, and in the sentences above.
fn arms_length(suite: &str, table: &CriteriaTable) -> usize {
    let labels = words::arm_labels(suite, &table.arms);
    labels
        .iter()
        .take(MOST_ARMS)
        .map(|label| ARM_BYTES + 2 * escaped_length(label))
        .sum()
}

fn part(
    page: &Page<'_>,
    table: &CriteriaTable,
    row: &CriterionRow,
    id: &str,
    about: &str,
    told: usize,
) -> Part {
    let labels = words::arm_labels(&page.place.label, &table.arms);
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
            .take(MOST_ARMS)
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
        let href = pair_link(
            page.suite,
            page.place,
            page.root,
            &table.arms[one],
            &table.arms[other],
        )?;
        Some(Link {
            href,
            label: Text::from(format!("{} vs {}", labels[one], labels[other])),
        })
    };
    let mut links: Vec<Link> = pairs.filter_map(link).collect();
    let (all, mut bytes) = (links.len(), 0);
    let fits = |link: &&Link| {
        bytes += PAIR_BYTES + link.href.len() + link.label.escaped_length();
        bytes <= PAIRS_BYTES
    };
    let fitting = links.iter().take(MOST_PAIRS).take_while(fits).count();
    links.truncate(fitting);
    let pairs_said = if all > links.len() {
        format!(
            "{} of {} pairs of arms that disagree, side by side:",
            links.len(),
            format::integer(all as u64)
        )
    } else {
        "Pairs of arms that disagree, side by side:".to_owned()
    };
    let (verdicts, untold) = verdicts(page, row, &labels, (id, about), told);
    Part {
        heading: heading(table),
        sentences: [
            named("In more than half of their runs met by", &met),
            named("Not met by", &not_met),
            named("Not decided for", &undecided),
        ]
        .into_iter()
        .flatten()
        .collect(),
        rates: rates(row, &asked, &labels, (id, about)),
        pairs: links,
        pairs_said,
        verdicts,
        untold,
    }
}

/// Lays out how often each arm met a criterion, with its interval.
fn rates(row: &CriterionRow, asked: &[usize], labels: &[String], (id, on): (&str, &str)) -> Grid {
    let shown = &asked[..asked.len().min(MOST_ARMS)];
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
    .about(about)
    .fits();
    grid.column(
        Column::new("Arm", Look::Key, Sort::Ascending),
        shown.iter().map(|arm| Cell::head(labels[*arm].as_str())),
    );
    let estimates = cells.iter().map(|cell| {
        if cell.rate.is_some() {
            rate(cell.rate.as_ref())
        } else {
            counted(cell)
        }
    });
    grid.column(
        Column::new("Met, %", Look::Number, Sort::Descending).sub("95% interval"),
        estimates,
    );
    grid.column(
        Column::new("Rate and interval, drawn", Look::Scale, Sort::None),
        cells
            .iter()
            .map(|cell| Cell::dots(cell.rate.as_ref().map(Whisker::of))),
    );
    grid.column(
        Column::new("Runs that met it", Look::Number, Sort::None),
        cells.iter().map(|cell| counted(cell)),
    );
    grid
}

/// Lists the verdicts by run as far as the page has room, and says how many are not shown.
///
/// Every arm gets a first verdict before any arm gets a second one. Verdicts on unmet criteria come first.
fn verdicts(
    page: &Page<'_>,
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
    for (arm, verdict) in in_turns(&of_arms) {
        let reason = Text::from(verdict.reason.as_deref().map_or_else(String::new, cut));
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
            format::integer(left)
        )
    });
    if shown.is_empty() {
        return (None, untold);
    }
    let mut grid = Grid::new(
        format!("verdicts-{id}"),
        format!("Judgements of {on}, run by run"),
    );
    grid.column(
        Column::new("Arm", Look::Key, Sort::Ascending),
        shown
            .iter()
            .map(|(arm, ..)| Cell::head(labels[*arm].as_str())),
    );
    let outcome = |verdict: &CriterionVerdict| {
        let cell = Cell {
            text: Text::from(outcome_word(&verdict.status)),
            ..Cell::item_status(&verdict.status)
        };
        cell.sub(if verdict.attempt > 1 {
            format!("attempt {}", verdict.attempt)
        } else {
            String::new()
        })
    };
    grid.column(
        Column::new("Outcome", Look::Words, Sort::Ascending),
        shown.iter().map(|(_, verdict, _)| outcome(verdict)),
    );
    grid.column(
        Column::new("Reasoning", Look::Words, Sort::None),
        shown.iter().map(|(.., reason)| Cell::words(reason.clone())),
    );
    let run = |verdict: &CriterionVerdict| {
        Cell::words(verdict.run.as_str()).link(
            page.plan
                .run_path(&verdict.run)
                .map(|path| format!("{}{path}", page.root)),
        )
    };
    grid.column(
        Column::new("Run", Look::Words, Sort::Ascending),
        shown.iter().map(|(_, verdict, _)| run(verdict)),
    );
    let revision = shown
        .iter()
        .map(|(_, verdict, _)| Cell::count(u64::from(verdict.revision)));
    grid.column(
        Column::new("Revision", Look::Number, Sort::Descending),
        revision,
    );
    (Some(grid), untold)
}
