//! Stated numbers of runs against the runs that are there, and figures of more attempts against those of fewer.

use std::collections::BTreeMap;

use crate::stats::{PrintedRate, Rounding, possible_share};

use super::claim_table::{FigureTable, cell_text, is_nothing};
use super::column_roles::ColumnRole;
use super::counts::RateTotals;
use super::finding::{ClaimFinding, ClaimKind, Severity};

/// Chance below which digits of single runs are taken as such.
const MAX_CHANCE: f64 = 0.001;

pub(super) fn check_run_numbers(
    sheet: &FigureTable<'_>,
    totals: &[Option<RateTotals>],
    findings: &mut Vec<ClaimFinding>,
) {
    check_more_attempts(sheet, findings);
    if let Some(stated) = sheet
        .series
        .iter()
        .position(|series| series.role == ColumnRole::Runs && series.are_whole)
    {
        check_run_columns(sheet, stated, findings);
        check_run_rows(sheet, stated, findings);
    }
    for (rate, known) in totals.iter().enumerate() {
        if let Some(known) = known
            .as_ref()
            .filter(|_| sheet.series[rate].role != ColumnRole::OneRun)
        {
            check_single_run_counts(sheet, rate, known, findings);
        }
    }
}

/// A row states more runs than it has figures of single runs.
fn check_run_columns(sheet: &FigureTable<'_>, stated: usize, findings: &mut Vec<ClaimFinding>) {
    let columns: Vec<usize> = sheet
        .series
        .iter()
        .filter(|series| series.role == ColumnRole::OneRun)
        .map(|series| series.place)
        .collect();
    let count = |row: usize| FigureTable::whole_count(&sheet.series[stated], row);
    let there = |row: usize| {
        columns
            .iter()
            .filter(|place| {
                cell_text(sheet.table, row, **place).is_some_and(|text| !is_nothing(text))
            })
            .count() as u64
    };
    let known: Vec<usize> = sheet
        .rows
        .iter()
        .copied()
        .filter(|row| count(*row).is_some())
        .collect();
    let wrong: Vec<usize> = known
        .iter()
        .copied()
        .filter(|row| count(*row).is_some_and(|runs| runs != there(*row)))
        .collect();
    if columns.len() < 2 || wrong.len() * 2 > known.len() {
        return;
    }
    for row in wrong {
        report_missing_runs(sheet, stated, &[row], there(row), "columns", findings);
    }
}

/// A system states more runs than it has rows.
fn check_run_rows(sheet: &FigureTable<'_>, stated: usize, findings: &mut Vec<ClaimFinding>) {
    let is_run = |place: &usize| {
        sheet.titles[*place].words.iter().any(|word| {
            matches!(
                word.as_str(),
                "run" | "seed" | "trial" | "repeat" | "repetition" | "epoch"
            )
        })
    };
    let has_number = (0..sheet.table.columns.len()).any(|place| {
        is_run(&place)
            && sheet.titles[place].role != ColumnRole::Runs
            && sheet.titles[place].role != ColumnRole::OneRun
    });
    let names: Vec<usize> = sheet
        .texts
        .iter()
        .copied()
        .filter(|place| {
            matches!(
                sheet.titles[*place].role,
                ColumnRole::Name | ColumnRole::Group | ColumnRole::Unknown
            ) && !is_run(place)
        })
        .collect();
    if !has_number || names.is_empty() {
        return;
    }
    let mut systems: BTreeMap<Vec<Option<&str>>, Vec<usize>> = BTreeMap::new();
    for row in &sheet.rows {
        systems
            .entry(
                names
                    .iter()
                    .map(|place| cell_text(sheet.table, *row, *place))
                    .collect(),
            )
            .or_default()
            .push(*row);
    }
    let runs = |rows: &[usize]| FigureTable::whole_count(&sheet.series[stated], rows[0]);
    let wrong: Vec<&Vec<usize>> = systems
        .values()
        .filter(|rows| runs(rows).is_some_and(|runs| runs != rows.len() as u64))
        .collect();
    if wrong.len() * 2 > systems.len() {
        return;
    }
    for rows in wrong {
        report_missing_runs(sheet, stated, rows, rows.len() as u64, "rows", findings);
    }
}

fn report_missing_runs(
    sheet: &FigureTable<'_>,
    stated: usize,
    rows: &[usize],
    there: u64,
    of: &str,
    findings: &mut Vec<ClaimFinding>,
) {
    let series = &sheet.series[stated];
    let runs = FigureTable::whole_count(series, rows[0]).unwrap_or_default();
    let text = format!("{runs} runs are stated; {of} of single runs: {there}");
    findings.push(sheet.finding_at(
        ClaimKind::MissingRuns,
        Severity::Contradictory,
        rows,
        series.place,
        vec![there.to_string()],
        text,
    ));
}

/// Means of several runs would be counts of as many times the items. If every one is a count of the items alone, they look like single runs.
fn check_single_run_counts(
    sheet: &FigureTable<'_>,
    rate: usize,
    totals: &RateTotals,
    findings: &mut Vec<ClaimFinding>,
) {
    let series = &sheet.series[rate];
    let stated = sheet
        .series
        .iter()
        .find(|series| series.role == ColumnRole::Runs && series.are_whole);
    let runs_of = |row: usize| sheet.reported_runs(series, row);
    let (mut rows, mut chance) = (Vec::new(), 1.0);
    let mut different = std::collections::BTreeSet::new();
    for row in &sheet.rows {
        let (Some(printed), Some(total), Some(runs)) = (
            FigureTable::printed_rate(series, *row),
            totals.items[*row],
            runs_of(*row),
        ) else {
            continue;
        };
        let several = total.saturating_mul(runs);
        // A recovered total may be that of all runs together.
        let may_be_all = !totals.is_stated && total.is_multiple_of(runs.max(1));
        if runs < 2 || may_be_all || printed.is_trivial() || !different.insert((printed, total)) {
            continue;
        }
        if printed.possible_counts(total, Rounding::Nearest).is_none() {
            return;
        }
        chance *= chance_of_single_run(printed, total, several);
        rows.push(*row);
    }
    if rows.is_empty() || chance > MAX_CHANCE {
        return;
    }
    let runs = runs_of(rows[0]).unwrap_or_default();
    let text = format!(
        "the mean of {runs} runs is stated, but all {} figures are counts of a single run's items; of means, about one table in {} would have such figures",
        rows.len(),
        (1.0 / chance).min(1e9).round()
    );
    let place = stated.map_or(series.place, |stated| stated.place);
    findings.push(sheet.finding_at(
        ClaimKind::MissingRuns,
        Severity::Contradictory,
        &rows,
        place,
        vec!["1".to_owned()],
        text,
    ));
}

/// Returns the share of the means of several runs that are printed like counts of a single one.
fn chance_of_single_run(printed: PrintedRate, total: u64, several: u64) -> f64 {
    let (one, all) = (
        possible_share(total, printed.whole, Rounding::Nearest),
        possible_share(several, printed.whole, Rounding::Nearest),
    );
    (one / all).min(1.0)
}

/// Reports rows where pass@k is smaller than pass@j with j < k.
fn check_more_attempts(sheet: &FigureTable<'_>, findings: &mut Vec<ClaimFinding>) {
    let attempts = |place: usize| -> Option<(String, u64)> {
        let series = &sheet.series[place];
        let is_pass = series
            .title
            .words
            .first()
            .is_some_and(|word| word == "pass")
            && sheet.table.columns[series.place].contains('@');
        let number = series
            .title
            .words
            .iter()
            .find_map(|word| word.parse().ok())?;
        let rest: Vec<&str> = series
            .title
            .words
            .iter()
            .map(String::as_str)
            .filter(|word| word.parse::<u64>().is_err())
            .collect();
        (is_pass && series.whole.is_some() && series.part_of.is_none())
            .then(|| (rest.join(" "), number))
    };
    let columns: Vec<(usize, String, u64)> = (0..sheet.series.len())
        .filter_map(|place| attempts(place).map(|(stem, number)| (place, stem, number)))
        .collect();
    for (fewer, stem, least) in &columns {
        for (more, other, most) in &columns {
            if stem != other || least >= most {
                continue;
            }
            let (fewer, more) = (&sheet.series[*fewer], &sheet.series[*more]);
            let values = |row: &usize| fewer.values[*row].zip(more.values[*row]);
            let known = sheet
                .rows
                .iter()
                .filter(|row| values(row).is_some())
                .count();
            let wrong: Vec<usize> = sheet
                .rows
                .iter()
                .copied()
                .filter(|row| values(row).is_some_and(|(fewer, more)| more.value() < fewer.value()))
                .collect();
            if super::columns::are_nearly_all(wrong.len(), known) {
                let text = format!(
                    "`{}` is below `{}` in {} of {known} rows: the columns are swapped",
                    more.name,
                    fewer.name,
                    wrong.len()
                );
                findings.push(sheet.finding_at(
                    ClaimKind::WrongColumn,
                    Severity::Contradictory,
                    &wrong,
                    more.place,
                    Vec::new(),
                    text,
                ));
            }
            if wrong.len() * 4 > known {
                continue;
            }
            for row in wrong {
                let text = format!(
                    "`{}` is below `{}`, though more attempts cannot pass fewer items",
                    more.name, fewer.name
                );
                findings.push(sheet.finding_at(
                    ClaimKind::FewerWithMore,
                    Severity::Impossible,
                    &[row],
                    more.place,
                    Vec::new(),
                    text,
                ));
            }
        }
    }
}
