//! Means and sums against the columns they are of.

use crate::stats::{WeightedMean, WeightedRow, weighted_mean};

use super::claim_table::{FigureColumn, FigureTable};
use super::column_roles::ColumnRole;
use super::figure::PrintedFigure;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};

/// Share of the complete rows that must agree before the others are wrong, and their least number.
const MIN_AGREE: f64 = 0.8;
const MIN_ROWS: usize = 4;
const MAX_COLUMNS_WITH_GAPS: usize = 16;

/// How a column follows from others.
#[derive(Clone, Debug, PartialEq)]
enum Combination {
    Sum,
    Mean,
    Weighted(WeightedMean),
}

/// A column that is the mean or the sum of others.
pub(super) struct CompositeColumn {
    /// Places of the series.
    pub place: usize,
    pub parts: Vec<usize>,
}

/// Finds the columns that are the mean, weighted or not, or the sum of others, and reports the rows where they are not.
pub(super) fn find_composite_columns(
    sheet: &FigureTable<'_>,
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) -> Vec<CompositeColumn> {
    let mut found = Vec::new();
    for (place, series) in sheet.series.iter().enumerate() {
        let is_mean = series.title.is_average
            && series.scale.is_some()
            && matches!(series.role, ColumnRole::Rate | ColumnRole::Unknown);
        let is_sum = series.are_whole
            && matches!(
                series.role,
                ColumnRole::Total | ColumnRole::Passed | ColumnRole::Failed
            );
        let best = if is_mean {
            let candidates = mean_parts(sheet, place);
            let best =
                best_parts(sheet, place, &candidates, true).map(|best| (Combination::Mean, best));
            best.or_else(|| find_weighted_mean(sheet, place))
        } else if is_sum {
            best_parts(sheet, place, &sum_parts(sheet, place), false)
                .map(|best| (Combination::Sum, best))
        } else {
            None
        };
        let Some((combination, (parts, rows, misfits))) = best else {
            continue;
        };
        let said = describe_combination(sheet, &combination, &parts);
        checked.push(CheckedColumn {
            table: sheet.table.name.clone(),
            column: series.name.clone(),
            follows: said.clone(),
            rows: rows.len() as u64,
            agree: (rows.len() - misfits.len()) as u64,
            recovered: None,
            chance: None,
        });
        for row in misfits {
            let Some(printed) = series.values[row] else {
                continue;
            };
            let Some(values) = part_values(sheet, &parts, row) else {
                continue;
            };
            let right = match &combination {
                Combination::Sum => values.iter().sum(),
                Combination::Mean => values.iter().sum::<f64>() / values.len() as f64,
                Combination::Weighted(mean) => mean.mean_of_parts(&values),
            };
            let right = format!("{right:.*}", printed.decimals as usize);
            let stated = format!("{:.*}", printed.decimals as usize, printed.value());
            let text = format!("{said} is {right}, not {stated}");
            findings.push(sheet.finding_at(
                ClaimKind::TotalAgainstParts,
                Severity::Contradictory,
                &[row],
                series.place,
                vec![right],
                text,
            ));
        }
        found.push(CompositeColumn { place, parts });
    }
    found
}

fn describe_combination(
    sheet: &FigureTable<'_>,
    combination: &Combination,
    parts: &[usize],
) -> String {
    let names: Vec<String> = parts
        .iter()
        .map(|part| format!("`{}`", sheet.series[*part].name))
        .collect();
    let of = if names.len() > 4 {
        format!(
            "{} columns from {} to {}",
            names.len(),
            names[0],
            names[names.len() - 1]
        )
    } else {
        names.join(", ")
    };
    match combination {
        Combination::Sum => format!("the sum of {of}"),
        Combination::Mean => format!("the mean of {of}"),
        Combination::Weighted(mean) => {
            let weights: Vec<String> = match &mean.whole {
                Some(whole) => whole.iter().map(u64::to_string).collect(),
                None => mean
                    .weights
                    .iter()
                    .map(|weight| format!("{weight:.3}"))
                    .collect(),
            };
            format!("the mean of {of} with the weights {}", weights.join(" : "))
        }
    }
}

/// Returns the figures of a row's parts. `None` if one is missing.
fn part_values(sheet: &FigureTable<'_>, parts: &[usize], row: usize) -> Option<Vec<f64>> {
    parts
        .iter()
        .map(|part| sheet.series[*part].values[row].map(PrintedFigure::value))
        .collect()
}

/// Finds weights for a mean: those in the titles, such as `Retrieval (15 datasets)`, else those that the rows tell.
fn find_weighted_mean(sheet: &FigureTable<'_>, place: usize) -> Option<(Combination, BestParts)> {
    let series = &sheet.series[place];
    let row_of = |parts: &[usize], row: usize| {
        let (own, known) = (series.values[row]?, part_values(sheet, parts, row)?);
        let halves = parts
            .iter()
            .filter_map(|part| sheet.series[*part].values[row])
            .map(PrintedFigure::half_unit);
        // The last digits of the parts, and of the mean, which may be cut off.
        let rounding = halves.fold(0.0, f64::max) + 2.0 * own.half_unit();
        Some(WeightedRow {
            parts: known,
            mean: own.value(),
            rounding,
        })
    };
    let figures_of = |parts: &[usize]| -> (Vec<usize>, Vec<WeightedRow>) {
        sheet
            .rows
            .iter()
            .filter_map(|row| Some((*row, row_of(parts, *row)?)))
            .unzip()
    };
    let titled: Vec<usize> = (0..sheet.series.len())
        .filter(|other| {
            may_be_part(sheet, place, *other) && sheet.series[*other].title.items.is_some()
        })
        .collect();
    let weights: Vec<u64> = titled
        .iter()
        .filter_map(|other| sheet.series[*other].title.items)
        .collect();
    let sum: u64 = weights.iter().sum();
    if titled.len() >= 2 && series.title.items.is_none_or(|items| items == sum) {
        let exact = weights
            .iter()
            .map(|weight| *weight as f64 / sum as f64)
            .collect();
        let mean = WeightedMean {
            weights: exact,
            whole: Some(weights),
            misfits: Vec::new(),
        };
        let (rows, figures) = figures_of(&titled);
        let is_off = |figures: &WeightedRow| {
            (figures.mean - mean.mean_of_parts(&figures.parts)).abs() > figures.rounding
        };
        let misfits: Vec<usize> = rows
            .iter()
            .zip(&figures)
            .filter(|(_, figures)| is_off(figures))
            .map(|(row, _)| *row)
            .collect();
        let agree = rows.len() - misfits.len();
        if agree >= MIN_ROWS && agree as f64 >= MIN_AGREE * rows.len() as f64 {
            return Some((Combination::Weighted(mean), (titled, rows, misfits)));
        }
    }
    let is_plain =
        |other: &usize| may_be_part(sheet, place, *other) && !sheet.series[*other].title.is_average;
    let all: Vec<usize> = (0..sheet.series.len()).filter(is_plain).collect();
    let right: Vec<usize> = (place + 1..sheet.series.len())
        .skip_while(|other| !is_plain(other))
        .take_while(is_plain)
        .collect();
    let left: Vec<usize> = (0..place)
        .rev()
        .skip_while(|other| !is_plain(other))
        .take_while(is_plain)
        .collect();
    let fitted = |mut parts: Vec<usize>| {
        parts.sort_unstable();
        let (rows, figures) = figures_of(&parts);
        let mean = weighted_mean(&figures)?;
        let misfits = mean.misfits.iter().map(|misfit| rows[*misfit]).collect();
        Some((Combination::Weighted(mean), (parts, rows, misfits)))
    };
    let found = [right, left, all]
        .into_iter()
        .filter(|parts| (2..=MAX_WEIGHTED).contains(&parts.len()))
        .filter_map(fitted);
    // A column without a weight may lack figures of some rows.
    found.max_by_key(|(_, (parts, rows, _))| (rows.len(), std::cmp::Reverse(parts.len())))
}

/// Largest number of columns whose weights are recovered.
const MAX_WEIGHTED: usize = 80;

/// Returns whether a column may be a part of a mean: a figure of its own, between -1 and 1 or -100 and 100.
fn may_be_part(sheet: &FigureTable<'_>, mean: usize, other: usize) -> bool {
    let series = &sheet.series[other];
    other != mean
        && series.scale.is_some()
        && series.part_of.is_none()
        && matches!(
            series.role,
            ColumnRole::Rate | ColumnRole::Unknown | ColumnRole::OneRun | ColumnRole::Group
        )
}

/// Returns the mean or the sum of a row, with the most that rounding of the parts adds. `None` if a part is missing.
fn combine_parts(
    sheet: &FigureTable<'_>,
    parts: &[usize],
    row: usize,
    is_mean: bool,
) -> Option<(f64, f64)> {
    let values: Vec<PrintedFigure> = parts
        .iter()
        .map(|part| sheet.series[*part].values[row])
        .collect::<Option<_>>()?;
    let by = if is_mean { values.len() as f64 } else { 1.0 };
    let sum: f64 = values.iter().map(|value| value.value()).sum();
    let rounding: f64 = if is_mean {
        values.iter().map(|value| value.half_unit()).sum()
    } else {
        0.0
    };
    Some((sum / by, rounding / by))
}

/// The parts, the rows that were checked, and those that disagree.
type BestParts = (Vec<usize>, Vec<usize>, Vec<usize>);

fn best_parts(
    sheet: &FigureTable<'_>,
    place: usize,
    candidates: &[Vec<usize>],
    is_mean: bool,
) -> Option<BestParts> {
    let series = &sheet.series[place];
    let mut best: Option<BestParts> = None;
    for parts in candidates.iter().filter(|parts| parts.len() >= 2) {
        let (mut rows, mut misfits) = (Vec::new(), Vec::new());
        let mut different = std::collections::BTreeSet::new();
        for row in &sheet.rows {
            let Some((value, (expected, rounding))) =
                series.values[*row].zip(combine_parts(sheet, parts, *row, is_mean))
            else {
                continue;
            };
            rows.push(*row);
            // A last digit that was cut off is up to a unit away.
            let own = if is_mean {
                2.0 * value.half_unit()
            } else {
                0.0
            };
            if (value.value() - expected).abs() <= own + rounding + 1e-9 {
                different.insert(value.units);
            } else {
                misfits.push(*row);
                // Most sets of columns end here.
                if misfits.len() as f64 > (1.0 - MIN_AGREE) * sheet.rows.len() as f64 {
                    break;
                }
            }
        }
        let agree = rows.len() - misfits.len();
        let is_enough =
            different.len() >= MIN_ROWS && agree as f64 >= MIN_AGREE * rows.len() as f64;
        if is_enough
            && best
                .as_ref()
                .is_none_or(|(known, known_rows, known_misfits)| {
                    (agree, parts.len()) > (known_rows.len() - known_misfits.len(), known.len())
                })
        {
            best = Some((parts.clone(), rows, misfits));
        }
    }
    best
}

/// Returns sets of columns that a mean may be of: all on its scale, those in a row beside it, and each without one.
fn mean_parts(sheet: &FigureTable<'_>, place: usize) -> Vec<Vec<usize>> {
    let own = &sheet.series[place];
    let is_part = |other: &usize| may_be_part(sheet, place, *other);
    let is_alike = |other: &usize| is_part(other) && sheet.series[*other].scale == own.scale;
    let all: Vec<usize> = (0..sheet.series.len()).filter(is_part).collect();
    let alike: Vec<usize> = (0..sheet.series.len()).filter(is_alike).collect();
    let parts: Vec<usize> = all
        .iter()
        .copied()
        .filter(|other| !sheet.series[*other].title.is_average)
        .collect();
    let runs: Vec<usize> = all
        .iter()
        .copied()
        .filter(|other| sheet.series[*other].role == ColumnRole::OneRun)
        .collect();
    let right: Vec<usize> = (place + 1..sheet.series.len())
        .take_while(is_part)
        .collect();
    let left: Vec<usize> = (0..place).rev().take_while(is_part).collect();
    let mut found = vec![all, alike, parts, runs, right.clone(), left.clone()];
    let bases = found.clone();
    for side in [&right, &left] {
        found.extend(
            (2..side.len())
                .flat_map(|length| [side[..length].to_vec(), side[length - 1..].to_vec()]),
        );
    }
    // Of a few columns, any run of them may lack one.
    let bases = if right.len().max(left.len()) <= MAX_COLUMNS_WITH_GAPS {
        found.clone()
    } else {
        bases
    };
    for base in bases {
        found.extend((0..base.len().min(40)).map(|without| {
            let mut rest = base.clone();
            rest.remove(without);
            rest
        }));
    }
    for parts in &mut found {
        parts.sort_unstable();
    }
    found.sort();
    found.dedup();
    found
}

/// Returns sets of columns that a sum of counts may be of: those in a row beside it.
fn sum_parts(sheet: &FigureTable<'_>, place: usize) -> Vec<Vec<usize>> {
    let is_part = |other: &usize| {
        let series: &FigureColumn = &sheet.series[*other];
        series.are_whole
            && series.part_of.is_none()
            && !matches!(
                series.role,
                ColumnRole::Rank | ColumnRole::Id | ColumnRole::Aside
            )
    };
    let right: Vec<usize> = (place + 1..sheet.series.len())
        .take_while(is_part)
        .collect();
    let left: Vec<usize> = (0..place).rev().take_while(is_part).collect();
    let mut found = Vec::new();
    for side in [&right, &left] {
        found.extend((2..=side.len()).map(|length| side[..length].to_vec()));
    }
    found
}
