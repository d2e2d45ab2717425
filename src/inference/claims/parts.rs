//! Means and sums against the columns they are of.

use super::figure::Printed;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};
use super::sheet::{Series, Sheet};
use super::titles::Role;

/// Share of the complete rows that must agree before the others are wrong, and their least number.
const LEAST_AGREE: f64 = 0.8;
const LEAST_ROWS: usize = 4;

/// Finds the columns that are the mean or the sum of others, and reports the rows where they are not. Returns the places of the series.
pub(super) fn check(sheet: &Sheet<'_>, findings: &mut Vec<ClaimFinding>, checked: &mut Vec<CheckedColumn>) -> Vec<usize> {
    let mut found = Vec::new();
    for (place, series) in sheet.series.iter().enumerate() {
        let is_mean = series.title.is_average && series.whole.is_some() && matches!(series.role, Role::Rate | Role::Unknown);
        let is_sum = series.are_whole && matches!(series.role, Role::Total | Role::Passed | Role::Failed);
        let best = if is_mean {
            best_of(sheet, place, &mean_parts(sheet, place), true)
        } else if is_sum {
            best_of(sheet, place, &sum_parts(sheet, place), false)
        } else {
            None
        };
        let Some((parts, rows, misfits)) = best else { continue };
        found.push(place);
        let names: Vec<String> = parts.iter().map(|part| format!("`{}`", sheet.series[*part].name)).collect();
        let of = if names.len() > 4 {
            format!("{} columns from {} to {}", names.len(), names[0], names[names.len() - 1])
        } else {
            names.join(", ")
        };
        let word = if is_mean { "mean" } else { "sum" };
        checked.push(CheckedColumn {
            table: sheet.table.name.clone(),
            column: series.name.clone(),
            follows: format!("the {word} of {of}"),
            rows: rows.len() as u64,
            agree: (rows.len() - misfits.len()) as u64,
            recovered: None,
            chance: None,
        });
        for row in misfits {
            let Some(printed) = series.values[row] else { continue };
            let Some((right, _)) = combined(sheet, &parts, row, is_mean) else { continue };
            let right = format!("{right:.*}", printed.decimals as usize);
            let stated = format!("{:.*}", printed.decimals as usize, printed.value());
            let text = format!("the {word} of {of} is {right}, not {stated}");
            findings.push(sheet.finding(ClaimKind::TotalAgainstParts, Severity::Contradictory, &[row], series.place, vec![right], text));
        }
    }
    found
}

/// Returns the mean or the sum of a row, with the most that rounding of the parts adds. `None` if a part is missing.
fn combined(sheet: &Sheet<'_>, parts: &[usize], row: usize, is_mean: bool) -> Option<(f64, f64)> {
    let values: Vec<Printed> = parts.iter().map(|part| sheet.series[*part].values[row]).collect::<Option<_>>()?;
    let by = if is_mean { values.len() as f64 } else { 1.0 };
    let sum: f64 = values.iter().map(|value| value.value()).sum();
    let rounding: f64 = if is_mean { values.iter().map(|value| value.half_unit()).sum() } else { 0.0 };
    Some((sum / by, rounding / by))
}

type Best = (Vec<usize>, Vec<usize>, Vec<usize>);

fn best_of(sheet: &Sheet<'_>, place: usize, candidates: &[Vec<usize>], is_mean: bool) -> Option<Best> {
    let series = &sheet.series[place];
    let mut best: Option<Best> = None;
    for parts in candidates.iter().filter(|parts| parts.len() >= 2) {
        let (mut rows, mut misfits) = (Vec::new(), Vec::new());
        let mut different = std::collections::BTreeSet::new();
        for row in &sheet.rows {
            let Some((value, (expected, rounding))) = series.values[*row].zip(combined(sheet, parts, *row, is_mean)) else { continue };
            rows.push(*row);
            // A last digit that was cut off is up to a unit away.
            let own = if is_mean { 2.0 * value.half_unit() } else { 0.0 };
            if (value.value() - expected).abs() <= own + rounding + 1e-9 {
                different.insert(value.units);
            } else {
                misfits.push(*row);
            }
        }
        let agree = rows.len() - misfits.len();
        let is_enough = different.len() >= LEAST_ROWS && agree as f64 >= LEAST_AGREE * rows.len() as f64;
        if is_enough
            && best.as_ref().is_none_or(|(known, known_rows, known_misfits)| {
                (agree, parts.len()) > (known_rows.len() - known_misfits.len(), known.len())
            })
        {
            best = Some((parts.clone(), rows, misfits));
        }
    }
    best
}

/// Returns sets of columns that a mean may be of: all on its scale, those in a row beside it, and each without one.
fn mean_parts(sheet: &Sheet<'_>, place: usize) -> Vec<Vec<usize>> {
    let own = &sheet.series[place];
    let is_part = |other: &usize| {
        let series = &sheet.series[*other];
        *other != place
            && series.whole.is_some()
            && series.part_of.is_none()
            && matches!(series.role, Role::Rate | Role::Unknown | Role::OneRun | Role::Group)
    };
    let is_alike = |other: &usize| is_part(other) && sheet.series[*other].whole == own.whole;
    let all: Vec<usize> = (0..sheet.series.len()).filter(is_part).collect();
    let alike: Vec<usize> = (0..sheet.series.len()).filter(is_alike).collect();
    let parts: Vec<usize> = all.iter().copied().filter(|other| !sheet.series[*other].title.is_average).collect();
    let runs: Vec<usize> = all.iter().copied().filter(|other| sheet.series[*other].role == Role::OneRun).collect();
    let right: Vec<usize> = (place + 1..sheet.series.len()).take_while(is_part).collect();
    let left: Vec<usize> = (0..place).rev().take_while(is_part).collect();
    let mut found = vec![all, alike, parts, runs, right.clone(), left.clone()];
    for side in [&right, &left] {
        found.extend((2..side.len()).map(|length| side[..length].to_vec()));
    }
    for base in found.clone() {
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
fn sum_parts(sheet: &Sheet<'_>, place: usize) -> Vec<Vec<usize>> {
    let is_part = |other: &usize| {
        let series: &Series = &sheet.series[*other];
        series.are_whole && series.part_of.is_none() && !matches!(series.role, Role::Rank | Role::Id | Role::Aside)
    };
    let right: Vec<usize> = (place + 1..sheet.series.len()).take_while(is_part).collect();
    let left: Vec<usize> = (0..place).rev().take_while(is_part).collect();
    let mut found = Vec::new();
    for side in [&right, &left] {
        found.extend((2..=side.len()).map(|length| side[..length].to_vec()));
    }
    found
}
