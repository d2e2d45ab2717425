//! Means and standard deviations of whole scores, such as ratings from 1 to 5, against the number of items: GRIM and GRIMMER.

use std::collections::BTreeSet;

use crate::stats::{Divisor, PrintedNumber, Rounding, upper_tail};

use super::counts::Totals;
use super::figure::Printed;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};
use super::sheet::{Series, Sheet};
use super::spreads::rate_of;
use super::titles::Role;

/// Share of the rows that must be possible before the others are wrong, and their least number.
const LEAST_AGREE: f64 = 0.75;
const LEAST_ROWS: usize = 4;
/// Chance that as many arbitrary figures are possible.
const MOST_CHANCE: f64 = 0.001;
/// Figures of which more are possible cannot be refused.
const MOST_SHARE: f64 = 0.9;

/// A row with a mean and the number of scores behind it.
struct Scored {
    row: usize,
    mean: PrintedNumber,
    items: u64,
}

/// Returns the columns that are means of whole scores, with a deviation beside them.
pub(super) fn whole_means(sheet: &Sheet<'_>) -> BTreeSet<usize> {
    let Some(total) = only_total(sheet) else {
        return BTreeSet::new();
    };
    let found = spreads(sheet).filter_map(|spread| rate_of(sheet, spread));
    found
        .filter(|mean| {
            ROUNDINGS
                .iter()
                .any(|rounding| means(sheet, &sheet.series[*mean], total, *rounding).is_some())
        })
        .collect()
}

const ROUNDINGS: [Rounding; 2] = [Rounding::Nearest, Rounding::Down];

fn spreads<'s>(sheet: &'s Sheet<'_>) -> impl Iterator<Item = &'s Series> {
    sheet
        .series
        .iter()
        .filter(|series| matches!(series.role, Role::Deviation | Role::HalfWidth))
}

/// Returns the only column of numbers of items.
fn only_total<'s>(sheet: &'s Sheet<'_>) -> Option<&'s Series> {
    let mut stated = sheet.series.iter().filter(|series| {
        series.role == Role::Total && series.are_whole && series.part_of.is_none()
    });
    stated.next().filter(|_| stated.next().is_none())
}

/// Checks each column of means with a deviation beside it. Rates, whose `totals` are known, are checked with their spreads.
pub(super) fn check(
    sheet: &Sheet<'_>,
    totals: &[Option<Totals>],
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    let Some(total) = only_total(sheet) else {
        return;
    };
    let mut told = BTreeSet::new();
    for spread in spreads(sheet) {
        let Some(mean) = rate_of(sheet, spread)
            .filter(|mean| totals[*mean].as_ref().is_none_or(|known| !known.is_stated))
        else {
            continue;
        };
        let series = &sheet.series[mean];
        for rounding in ROUNDINGS {
            let Some((scored, wrong)) = means(sheet, series, total, rounding) else {
                continue;
            };
            if told.insert(mean) {
                note(
                    sheet,
                    series,
                    format!("a mean of `{}` whole scores", total.name),
                    (scored.len() + wrong.len(), scored.len()),
                    checked,
                );
                for other in wrong {
                    findings.extend(impossible_mean(sheet, series, &other));
                }
            }
            deviations(sheet, series, spread, &scored, rounding, findings, checked);
            break;
        }
    }
}

fn printed_number(printed: Printed) -> PrintedNumber {
    PrintedNumber {
        units: printed.units,
        scale: printed.scale(),
    }
}

fn note(
    sheet: &Sheet<'_>,
    series: &Series,
    follows: String,
    (rows, agree): (usize, usize),
    checked: &mut Vec<CheckedColumn>,
) {
    let (table, column) = (sheet.table.name.clone(), series.name.clone());
    checked.push(CheckedColumn {
        table,
        column,
        follows,
        rows: rows as u64,
        agree: agree as u64,
        recovered: None,
        chance: None,
    });
}

/// Returns the rows whose mean some whole scores have, and those whose mean none have. `None` if the column does not look like such means.
fn means(
    sheet: &Sheet<'_>,
    series: &Series,
    total: &Series,
    rounding: Rounding,
) -> Option<(Vec<Scored>, Vec<Scored>)> {
    let (mut possible, mut wrong, mut shares, mut telling) =
        (Vec::new(), Vec::new(), 0.0, BTreeSet::new());
    for row in &sheet.rows {
        let Some((printed, items)) = series.values[*row]
            .zip(Sheet::count(total, *row))
            .filter(|(_, items)| *items > 1)
        else {
            continue;
        };
        let mean = printed_number(printed);
        let share = (items as f64 / mean.scale as f64).min(1.0);
        if share > MOST_SHARE {
            continue;
        }
        shares += share;
        let scored = Scored {
            row: *row,
            mean,
            items,
        };
        if mean.sums(items, rounding).is_some() {
            telling.insert((mean, items));
            possible.push(scored);
        } else {
            wrong.push(scored);
        }
    }
    let all = possible.len() + wrong.len();
    let is_enough =
        telling.len() >= LEAST_ROWS && possible.len() as f64 >= LEAST_AGREE * all as f64;
    let chance = upper_tail(
        telling.len() as u64,
        (telling.len() + wrong.len()) as u64,
        shares / all.max(1) as f64,
    );
    (is_enough && chance <= MOST_CHANCE).then_some((possible, wrong))
}

fn impossible_mean(sheet: &Sheet<'_>, series: &Series, scored: &Scored) -> Option<ClaimFinding> {
    let printed = series.values[scored.row]?;
    let digits = printed.decimals as usize;
    let near = |sum: f64| format!("{:.*}", digits, sum / scored.items as f64);
    let sum = printed.value() * scored.items as f64;
    let near = vec![near(sum.floor()), near(sum.ceil())];
    let text = format!(
        "no {} whole scores have the mean {:.digits$}, as those of the other rows have; the nearest are {} and {}",
        scored.items,
        printed.value(),
        near[0],
        near[1]
    );
    Some(sheet.finding(
        ClaimKind::ImpossibleMean,
        Severity::Contradictory,
        &[scored.row],
        series.place,
        near,
        text,
    ))
}

/// Reports deviations that no whole scores of the row's number and mean have.
fn deviations(
    sheet: &Sheet<'_>,
    mean: &Series,
    spread: &Series,
    scored: &[Scored],
    rounding: Rounding,
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    let judged = |divisor: Divisor| {
        let (mut agree, mut wrong, mut shares) = (0_usize, Vec::new(), 0.0);
        for row in scored {
            let Some(printed) = spread.values[row.row] else {
                continue;
            };
            let deviation = printed_number(printed);
            let share = row
                .mean
                .possible_deviations(deviation, row.items, divisor, rounding);
            if share > MOST_SHARE {
                continue;
            }
            shares += share;
            if row
                .mean
                .has_deviation(deviation, row.items, divisor, rounding)
            {
                agree += 1;
            } else {
                wrong.push(row);
            }
        }
        let all = agree + wrong.len();
        let chance = upper_tail(agree as u64, all as u64, shares / all.max(1) as f64);
        let is_enough = agree >= LEAST_ROWS
            && agree as f64 >= LEAST_AGREE * all as f64
            && chance <= MOST_CHANCE;
        is_enough.then_some((all, agree, wrong))
    };
    let found = [Divisor::Sample, Divisor::Population]
        .map(judged)
        .into_iter()
        .flatten();
    let Some((all, agree, wrong)) = found.min_by_key(|(.., wrong)| wrong.len()) else {
        return;
    };
    note(
        sheet,
        spread,
        format!(
            "a standard deviation of whole scores with the mean `{}`",
            mean.name
        ),
        (all, agree),
        checked,
    );
    for row in wrong {
        let (Some(own), Some(printed)) = (mean.values[row.row], spread.values[row.row]) else {
            continue;
        };
        let text = format!(
            "no {} whole scores with the mean {:.*} have the standard deviation {:.*}",
            row.items,
            own.decimals as usize,
            own.value(),
            printed.decimals as usize,
            printed.value()
        );
        findings.push(sheet.finding(
            ClaimKind::ImpossibleDeviation,
            Severity::Contradictory,
            &[row.row],
            spread.place,
            Vec::new(),
            text,
        ));
    }
}
