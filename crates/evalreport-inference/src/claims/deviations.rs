//! Means and standard deviations of whole scores, such as ratings from 1 to 5, against the number of items: GRIM and GRIMMER.

use std::collections::BTreeSet;

use crate::stats::{PrintedNumber, Rounding, VarianceDivisor, upper_tail};

use super::claim_table::{FigureColumn, FigureTable};
use super::column_roles::ColumnRole;
use super::counts::RateTotals;
use super::figure::PrintedFigure;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};
use super::spreads::rate_of_spread;

/// Share of the rows that must be possible before the others are wrong, and their least number.
const MIN_AGREE: f64 = 0.75;
const MIN_ROWS: usize = 4;
/// Chance that as many arbitrary figures are possible.
const MAX_CHANCE: f64 = 0.001;
/// Figures of which more are possible cannot be refused.
const MAX_SHARE: f64 = 0.9;

/// A row with a mean and the number of scores behind it.
struct MeanRow {
    row: usize,
    mean: PrintedNumber,
    items: u64,
}

/// Returns the columns that are means of whole scores, with a deviation beside them.
pub(super) fn whole_means(sheet: &FigureTable<'_>) -> BTreeSet<usize> {
    let Some(total) = only_total(sheet) else {
        return BTreeSet::new();
    };
    let found = deviation_columns(sheet).filter_map(|spread| rate_of_spread(sheet, spread));
    found
        .filter(|mean| {
            TRIED_ROUNDINGS.iter().any(|rounding| {
                split_possible_means(sheet, &sheet.series[*mean], total, *rounding).is_some()
            })
        })
        .collect()
}

const TRIED_ROUNDINGS: [Rounding; 2] = [Rounding::Nearest, Rounding::Down];

fn deviation_columns<'s>(sheet: &'s FigureTable<'_>) -> impl Iterator<Item = &'s FigureColumn> {
    sheet
        .series
        .iter()
        .filter(|series| matches!(series.role, ColumnRole::Deviation | ColumnRole::HalfWidth))
}

/// Returns the only column of numbers of items.
fn only_total<'s>(sheet: &'s FigureTable<'_>) -> Option<&'s FigureColumn> {
    let mut stated = sheet.series.iter().filter(|series| {
        series.role == ColumnRole::Total && series.are_whole && series.part_of.is_none()
    });
    stated.next().filter(|_| stated.next().is_none())
}

/// Checks each column of means with a deviation beside it. Rates, whose `totals` are known, are checked with their spreads.
pub(super) fn check_means_and_deviations(
    sheet: &FigureTable<'_>,
    totals: &[Option<RateTotals>],
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    let Some(total) = only_total(sheet) else {
        return;
    };
    let mut told = BTreeSet::new();
    for spread in deviation_columns(sheet) {
        let Some(mean) = rate_of_spread(sheet, spread)
            .filter(|mean| totals[*mean].as_ref().is_none_or(|known| !known.is_stated))
        else {
            continue;
        };
        let series = &sheet.series[mean];
        for rounding in TRIED_ROUNDINGS {
            let Some((scored, wrong)) = split_possible_means(sheet, series, total, rounding) else {
                continue;
            };
            if told.insert(mean) {
                note_checked(
                    sheet,
                    series,
                    format!("a mean of `{}` whole scores", total.name),
                    (scored.len() + wrong.len(), scored.len()),
                    checked,
                );
                for other in wrong {
                    findings.extend(report_impossible_mean(sheet, series, &other));
                }
            }
            report_deviations(sheet, series, spread, &scored, rounding, findings, checked);
            break;
        }
    }
}

fn printed_number(printed: PrintedFigure) -> PrintedNumber {
    PrintedNumber {
        units: printed.units,
        scale: printed.units_per_one(),
    }
}

fn note_checked(
    sheet: &FigureTable<'_>,
    series: &FigureColumn,
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
fn split_possible_means(
    sheet: &FigureTable<'_>,
    series: &FigureColumn,
    total: &FigureColumn,
    rounding: Rounding,
) -> Option<(Vec<MeanRow>, Vec<MeanRow>)> {
    let (mut possible, mut wrong, mut shares, mut telling) =
        (Vec::new(), Vec::new(), 0.0, BTreeSet::new());
    for row in &sheet.rows {
        let Some((printed, items)) = series.values[*row]
            .zip(FigureTable::whole_count(total, *row))
            .filter(|(_, items)| *items > 1)
        else {
            continue;
        };
        let mean = printed_number(printed);
        let share = (items as f64 / mean.scale as f64).min(1.0);
        if share > MAX_SHARE {
            continue;
        }
        shares += share;
        let scored = MeanRow {
            row: *row,
            mean,
            items,
        };
        if mean.possible_sums(items, rounding).is_some() {
            telling.insert((mean, items));
            possible.push(scored);
        } else {
            wrong.push(scored);
        }
    }
    let all = possible.len() + wrong.len();
    let is_enough = telling.len() >= MIN_ROWS && possible.len() as f64 >= MIN_AGREE * all as f64;
    let chance = upper_tail(
        telling.len() as u64,
        (telling.len() + wrong.len()) as u64,
        shares / all.max(1) as f64,
    );
    (is_enough && chance <= MAX_CHANCE).then_some((possible, wrong))
}

fn report_impossible_mean(
    sheet: &FigureTable<'_>,
    series: &FigureColumn,
    scored: &MeanRow,
) -> Option<ClaimFinding> {
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
    Some(sheet.finding_at(
        ClaimKind::ImpossibleMean,
        Severity::Contradictory,
        &[scored.row],
        series.place,
        near,
        text,
    ))
}

/// Reports deviations that no whole scores of the row's number and mean have.
fn report_deviations(
    sheet: &FigureTable<'_>,
    mean: &FigureColumn,
    spread: &FigureColumn,
    scored: &[MeanRow],
    rounding: Rounding,
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    let judged = |divisor: VarianceDivisor| {
        let (mut agree, mut wrong, mut shares) = (0_usize, Vec::new(), 0.0);
        for row in scored {
            let Some(printed) = spread.values[row.row] else {
                continue;
            };
            let deviation = printed_number(printed);
            let share = row
                .mean
                .possible_deviations(deviation, row.items, divisor, rounding);
            if share > MAX_SHARE {
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
        let is_enough =
            agree >= MIN_ROWS && agree as f64 >= MIN_AGREE * all as f64 && chance <= MAX_CHANCE;
        is_enough.then_some((all, agree, wrong))
    };
    let found = [VarianceDivisor::Sample, VarianceDivisor::Population]
        .map(judged)
        .into_iter()
        .flatten();
    let Some((all, agree, wrong)) = found.min_by_key(|(.., wrong)| wrong.len()) else {
        return;
    };
    note_checked(
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
        findings.push(sheet.finding_at(
            ClaimKind::ImpossibleDeviation,
            Severity::Contradictory,
            &[row.row],
            spread.place,
            Vec::new(),
            text,
        ));
    }
}
