//! Marked figures against the others of their column, and first places against chance.

use crate::stats::fisher_exact;

use super::claim_table::{FigureColumn, FigureTable};
use super::column_roles::ColumnRole;
use super::counts::RateTotals;
use super::finding::{ClaimFinding, ClaimKind, Severity};

/// p above which a lead is within chance.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

pub(super) fn check_winners(
    sheet: &FigureTable<'_>,
    totals: &[Option<RateTotals>],
    findings: &mut Vec<ClaimFinding>,
) {
    for series in sheet
        .series
        .iter()
        .filter(|series| series.part_of.is_none())
    {
        check_bold_figures(sheet, series, findings);
    }
    let main = main_rate(sheet, totals);
    if let Some(place) = main
        && let Some(known) = &totals[place]
    {
        for (_, rows) in &sheet.groups {
            check_first_place(sheet, &sheet.series[place], known, rows, findings);
        }
    }
}

/// Returns the column that decides the places: a mean over others, else the one that the rows are ordered by, else the only one. Of several
/// tries it is the last.
fn main_rate(sheet: &FigureTable<'_>, totals: &[Option<RateTotals>]) -> Option<usize> {
    let is_rate = |place: &usize| {
        totals[*place].is_some()
            && matches!(
                sheet.series[*place].role,
                ColumnRole::Rate | ColumnRole::Unknown
            )
    };
    let known: Vec<usize> = (0..sheet.series.len()).filter(is_rate).collect();
    let is_ordered = |place: &&usize| {
        let values: Vec<f64> = sheet
            .rows
            .iter()
            .filter_map(|row| sheet.series[**place].values[*row])
            .map(super::figure::PrintedFigure::value)
            .collect();
        let falling = values.windows(2).filter(|pair| pair[0] >= pair[1]).count();
        values.len() > 2 && falling * 20 >= (values.len() - 1) * 19
    };
    let mean = known
        .iter()
        .find(|place| sheet.series[**place].title.is_average);
    let words = |place: usize| -> Vec<&String> {
        sheet.series[place]
            .title
            .words
            .iter()
            .filter(|word| word.parse::<u64>().is_err())
            .collect()
    };
    // Several suites without an order have a first place each.
    let only = known
        .first()
        .filter(|first| known.iter().all(|place| words(*place) == words(**first)));
    let sorted = known.iter().find(is_ordered);
    let first = *mean.or(sorted).or(only)?;
    known
        .into_iter()
        .rev()
        .find(|place| words(*place) == words(first))
        .or(Some(first))
}

/// A bold figure is the best of its column. If several are bold, one of them is.
fn check_bold_figures(
    sheet: &FigureTable<'_>,
    series: &FigureColumn,
    findings: &mut Vec<ClaimFinding>,
) {
    for (_, rows) in &sheet.groups {
        let known: Vec<(usize, f64)> = rows
            .iter()
            .filter_map(|row| Some((*row, series.values[*row]?.value())))
            .collect();
        let marked: Vec<usize> = known
            .iter()
            .map(|(row, _)| *row)
            .filter(|row| series.bold[*row])
            .collect();
        // A whole row in bold is the source's own system.
        let is_own = |row: &usize| {
            sheet
                .series
                .iter()
                .filter(|series| series.values[*row].is_some())
                .all(|series| series.bold[*row])
        };
        let marked: Vec<usize> = marked
            .into_iter()
            .filter(|row| sheet.series.len() < 2 || !is_own(row))
            .collect();
        if marked.is_empty() || marked.len() * 3 > known.len() || known.len() < 3 {
            continue;
        }
        let best = |sign: f64| {
            known
                .iter()
                .copied()
                .max_by(|left, right| (sign * left.1).total_cmp(&(sign * right.1)))
        };
        let is_best = |sign: f64| {
            best(sign).is_some_and(|(_, best)| {
                marked.iter().any(|row| {
                    series.values[*row].is_some_and(|value| value.value().total_cmp(&best).is_eq())
                })
            })
        };
        let Some((row, value)) = best(if series.title.is_lower_better {
            -1.0
        } else {
            1.0
        }) else {
            continue;
        };
        if is_best(1.0) || is_best(-1.0) {
            continue;
        }
        let place = |row: usize| sheet.row_name(row);
        let marked_value =
            series.values[marked[0]].map_or(0.0, super::figure::PrintedFigure::value);
        let text = format!(
            "{marked_value} of `{}` is bold, but {value} of `{}` is better",
            place(marked[0]),
            place(row)
        );
        findings.push(sheet.finding_at(
            ClaimKind::BoldIsNotBest,
            Severity::Contradictory,
            &[marked[0], row],
            series.place,
            vec![value.to_string()],
            text,
        ));
    }
}

/// Says if the lead of the first over the second is within what chance gives, by Fisher's test of two independent counts.
fn check_first_place(
    sheet: &FigureTable<'_>,
    series: &FigureColumn,
    totals: &RateTotals,
    rows: &[usize],
    findings: &mut Vec<ClaimFinding>,
) {
    let mut known: Vec<(usize, f64, u64, u64)> = rows
        .iter()
        .filter_map(|row| {
            let (rate, total) = (
                FigureTable::printed_rate(series, *row)?,
                totals.items[*row]?,
            );
            let (least, most) = rate.possible_counts(total, totals.rounding)?;
            Some((*row, rate.value(), u64::midpoint(least, most), total))
        })
        .collect();
    known.sort_by(|left, right| right.1.total_cmp(&left.1));
    if series.title.is_lower_better {
        known.reverse();
    }
    let [first, second, ..] = known.as_slice() else {
        return;
    };
    let Ok(p) = fisher_exact(first.2, first.3, second.2, second.3) else {
        return;
    };
    if first.1 <= second.1 || p <= SIGNIFICANCE_LEVEL {
        return;
    }
    let behind: Vec<&(usize, f64, u64, u64)> = known
        .iter()
        .skip(1)
        .take_while(|other| {
            fisher_exact(first.2, first.3, other.2, other.3).is_ok_and(|p| p > SIGNIFICANCE_LEVEL)
        })
        .collect();
    let items =
        (first.2 as f64 / first.3 as f64 - second.2 as f64 / second.3 as f64) * first.3 as f64;
    let text = format!(
        "the first place of `{}` rests on {} of {} items more than `{}` has (p = {p:.2} by Fisher's test); {} of the {} others are as near. These figures alone do not \
         establish it; outcomes of the same items might",
        sheet.row_name(first.0),
        items.round().max(1.0),
        first.3,
        sheet.row_name(second.0),
        behind.len(),
        known.len() - 1,
    );
    findings.push(sheet.finding_at(
        ClaimKind::FirstPlace,
        Severity::NotEstablished,
        &[first.0, second.0],
        series.place,
        Vec::new(),
        text,
    ));
}
