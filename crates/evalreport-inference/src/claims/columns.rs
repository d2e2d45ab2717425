//! What is wrong with a whole column: its unit, its title, its denominator, or a row in it that is the sum of the others. Said once, not for
//! each row.

use std::collections::BTreeSet;

use super::claim_table::{FigureColumn, FigureTable};
use super::column_roles::ColumnRole;
use super::counts::{CountRelation, fit_relation, names_together};
use super::figure::PrintedFigure;
use super::finding::{ClaimFinding, ClaimKind, Severity};
use crate::stats::Rounding;

/// Rows that must share an explanation before it is one of the column.
const MIN_ROWS: usize = 4;
/// Different figures that must agree with it, neither nothing nor everything.
const MIN_TELLING: usize = 4;
/// Largest share of rows that may agree with what the titles say.
const MAX_AS_TITLED: f64 = 0.25;

/// Returns whether so many rows are as good as all of them.
pub(super) fn are_nearly_all(rows: usize, all: usize) -> bool {
    rows >= MIN_ROWS && rows * 10 >= all * 9
}

/// Reads the columns on the scale that their counts confirm, and says where the titles or signs are of another one.
pub(super) fn correct_units(sheet: &mut FigureTable<'_>) -> Vec<ClaimFinding> {
    let mut findings = Vec::new();
    for rate in 0..sheet.series.len() {
        let series = &sheet.series[rate];
        let within_one = sheet
            .rows
            .iter()
            .filter_map(|row| series.values[*row])
            .all(|value| (0.0..=1.0).contains(&value.value()));
        if series.whole != Some(100)
            || !within_one
            || !matches!(series.role, ColumnRole::Rate | ColumnRole::Unknown)
        {
            continue;
        }
        let claims = titled_relations(sheet, rate);
        let agree = |sheet: &FigureTable<'_>| {
            claims
                .iter()
                .map(|claim| count_agreeing_rows(sheet, *claim))
                .max_by_key(|(agree, ..)| *agree)
        };
        let Some((as_titled, ..)) = agree(sheet) else {
            continue;
        };
        sheet.series[rate].whole = Some(1);
        sheet.series[rate].scale = Some(1);
        let found = agree(sheet).filter(|(rows, all, telling)| {
            are_nearly_all(*rows, *all)
                && *telling >= MIN_TELLING
                && (as_titled as f64) <= MAX_AS_TITLED * *all as f64
        });
        let Some((rows, all, _)) = found else {
            sheet.series[rate].whole = Some(100);
            sheet.series[rate].scale = Some(100);
            continue;
        };
        let series = &sheet.series[rate];
        let places: Vec<usize> = sheet
            .rows
            .iter()
            .copied()
            .filter(|row| series.values[*row].is_some())
            .collect();
        let text = format!(
            "`{}` says percent, but its figures are shares from 0 to 1, as the counts of {rows} of {all} rows confirm",
            series.name
        );
        findings.push(sheet.finding_at(
            ClaimKind::WrongUnit,
            Severity::Contradictory,
            &places,
            series.place,
            Vec::new(),
            text,
        ));
    }
    findings
}

/// Returns the counts that the titles say are behind a rate.
fn titled_relations(sheet: &FigureTable<'_>, rate: usize) -> Vec<CountRelation> {
    let of = |roles: &'static [ColumnRole]| {
        (0..sheet.series.len()).filter(move |place| {
            roles.contains(&sheet.series[*place].role) && sheet.series[*place].are_whole
        })
    };
    let mut found = Vec::new();
    if !FigureTable::may_be_rate(&sheet.series[rate]) {
        return found;
    }
    for count in of(&[ColumnRole::Passed, ColumnRole::Failed]) {
        for total in of(&[ColumnRole::Total]).filter(|total| *total != count) {
            for is_inverse in [false, true] {
                if names_together(sheet, rate, count, total, is_inverse) {
                    found.push(CountRelation {
                        rate,
                        count,
                        total,
                        is_inverse,
                        rounding: Rounding::Nearest,
                    });
                }
            }
        }
    }
    found
}

/// Returns the number of rows that agree, of rows with all figures, and of different figures that agree, with the rounding that fits best.
fn count_agreeing_rows(sheet: &FigureTable<'_>, relation: CountRelation) -> (usize, usize, usize) {
    let has_all = |row: &&usize| {
        [relation.rate, relation.count, relation.total]
            .iter()
            .all(|place| sheet.series[*place].values[**row].is_some())
    };
    let all = sheet.rows.iter().filter(has_all).count();
    let with = |rounding: Rounding| {
        let fit = fit_relation(
            sheet,
            CountRelation {
                rounding,
                ..relation
            },
        );
        (fit.agree_count(), all, fit.telling.len())
    };
    Rounding::ALL
        .into_iter()
        .map(with)
        .max()
        .unwrap_or_default()
}

/// Reports columns of rates that follow, in nearly all rows, from other counts than their titles say.
pub(super) fn check_rate_columns(
    sheet: &FigureTable<'_>,
    relations: &[CountRelation],
    findings: &mut Vec<ClaimFinding>,
) {
    let mut told: BTreeSet<usize> = BTreeSet::new();
    for rate in 0..sheet.series.len() {
        let claims: Vec<CountRelation> = titled_relations(sheet, rate)
            .into_iter()
            .filter(|claim| sheet.series[claim.count].part_of.is_none())
            .collect();
        let Some(claim) = claims.first().copied().filter(|_| !told.contains(&rate)) else {
            continue;
        };
        let is_as_titled = |claim: &CountRelation| {
            let (agree, rows, _) = count_agreeing_rows(sheet, *claim);
            agree as f64 > MAX_AS_TITLED * rows as f64 || rows < MIN_ROWS
        };
        if claims.iter().any(is_as_titled) {
            continue;
        }
        match relations.iter().find(|relation| relation.rate == rate) {
            Some(found) if is_established(sheet, *found) => told.extend(report_followed_counts(
                sheet, claim, *found, relations, findings,
            )),
            Some(_) => {}
            None => report_other_denominator(sheet, claim, findings),
        }
    }
}

fn is_established(sheet: &FigureTable<'_>, relation: CountRelation) -> bool {
    let (agree, rows, telling) = count_agreeing_rows(sheet, relation);
    are_nearly_all(agree, rows) && telling >= MIN_TELLING
}

/// Says which counts a column follows instead of those of its title. Returns the rates that the explanation covers.
fn report_followed_counts(
    sheet: &FigureTable<'_>,
    claim: CountRelation,
    found: CountRelation,
    relations: &[CountRelation],
    findings: &mut Vec<ClaimFinding>,
) -> Vec<usize> {
    let name = |place: usize| format!("`{}`", sheet.series[place].name);
    let rows = |relation: CountRelation| -> Vec<usize> { fit_relation(sheet, relation).rows };
    let mut covered = vec![found.rate];
    let is_same_count = found.count == claim.count && found.is_inverse == claim.is_inverse;
    if is_same_count {
        // `accuracy_of_attempted` says its denominator.
        if names_total(&sheet.series[found.rate], &sheet.series[found.total]) {
            return covered;
        }
        let text = format!(
            "{} is {} of {}, not of {}",
            name(found.rate),
            name(found.count),
            name(found.total),
            name(claim.total)
        );
        let place = sheet.series[found.rate].place;
        findings.push(sheet.finding_at(
            ClaimKind::OtherDenominator,
            Severity::NotEstablished,
            &rows(found),
            place,
            Vec::new(),
            text,
        ));
        return covered;
    }
    let follows = if found.is_inverse {
        format!("{} without {}", name(found.total), name(found.count))
    } else {
        format!("{} of {}", name(found.count), name(found.total))
    };
    // Two rates that follow each other's counts.
    let other = relations.iter().find(|other| {
        other.rate != found.rate
            && other.count == claim.count
            && names_together(
                sheet,
                other.rate,
                found.count,
                found.total,
                found.is_inverse,
            )
    });
    let text = if let Some(other) = other {
        covered.push(other.rate);
        format!(
            "{} and {} are swapped: {} is {follows}",
            name(found.rate),
            name(other.rate),
            name(found.rate)
        )
    } else if (found.count, found.total) == (claim.total, claim.count) {
        format!(
            "{} and {} are swapped: {} is {follows}",
            name(claim.count),
            name(claim.total),
            name(found.rate)
        )
    } else if found.count == claim.count {
        format!("{} is {follows}: the share of the others", name(found.rate))
    } else {
        format!(
            "{} is {follows}, not of {}: columns are swapped, or the title is wrong",
            name(found.rate),
            name(claim.count)
        )
    };
    let place = sheet.series[found.rate].place;
    findings.push(sheet.finding_at(
        ClaimKind::WrongColumn,
        Severity::Contradictory,
        &rows(found),
        place,
        Vec::new(),
        text,
    ));
    covered
}

fn names_total(rate: &FigureColumn, total: &FigureColumn) -> bool {
    rate.title
        .words
        .iter()
        .any(|word| word.len() > 2 && total.title.words.contains(word))
}

/// Finds one number of items that all rates are of, or two columns that sum to it, where no column is.
fn report_other_denominator(
    sheet: &FigureTable<'_>,
    claim: CountRelation,
    findings: &mut Vec<ClaimFinding>,
) {
    let [rate, count, total] =
        [claim.rate, claim.count, claim.total].map(|place| &sheet.series[place]);
    let counted = |row: usize| {
        let (own, all) = (
            FigureTable::whole_count(count, row)?,
            FigureTable::whole_count(total, row)?,
        );
        if claim.is_inverse {
            all.checked_sub(own)
        } else {
            Some(own)
        }
    };
    let rows: Vec<usize> = sheet
        .rows
        .iter()
        .copied()
        .filter(|row| FigureTable::printed_rate(rate, *row).is_some() && counted(*row).is_some())
        .collect();
    let agree = |of: &dyn Fn(usize) -> Option<u64>| {
        let mut telling = BTreeSet::new();
        let fits = |row: &&usize| {
            let (Some(rate), Some(counted), Some(of)) = (
                FigureTable::printed_rate(rate, **row),
                counted(**row),
                of(**row),
            ) else {
                return false;
            };
            let is_fit = counted <= of
                && Rounding::ALL.iter().any(|rounding| {
                    rate.possible_counts(of, *rounding)
                        .is_some_and(|(least, most)| (least..=most).contains(&counted))
                });
            if is_fit && !rate.is_trivial() {
                telling.insert(rate);
            }
            is_fit
        };
        let agree = rows.iter().filter(fits).count();
        (agree, telling.len())
    };
    let is_enough = |(fits, telling): (usize, usize)| {
        are_nearly_all(fits, rows.len()) && telling >= MIN_TELLING
    };
    // Candidates from the row whose figures are most exact.
    let range = |row: &usize| {
        let (rate, counted) = (FigureTable::printed_rate(rate, *row)?, counted(*row)?);
        let (own, half) = (rate.value(), 1.0 / rate.whole as f64);
        (counted > 0 && own > 2.0 * half)
            .then(|| (counted as f64 / (own + half), counted as f64 / (own - half)))
    };
    let mut ranges: Vec<(f64, f64)> = rows.iter().filter_map(range).collect();
    ranges.sort_by(|left, right| (left.1 - left.0).total_cmp(&(right.1 - right.0)));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive count of items"
    )]
    let constant = ranges
        .iter()
        .take(3)
        .flat_map(|(low, high)| (low.floor() as u64..=high.ceil() as u64).take(200))
        .find(|all| is_enough(agree(&|_| Some(*all))));
    let place = rate.place;
    let mut report = |of: String| {
        let text = format!(
            "`{}` is `{}` of {of}, not of `{}`",
            rate.name, count.name, total.name
        );
        findings.push(sheet.finding_at(
            ClaimKind::OtherDenominator,
            Severity::Contradictory,
            &rows,
            place,
            Vec::new(),
            text,
        ));
    };
    if let Some(all) = constant {
        report(format!("{all} in every row"));
        return;
    }
    let others = (0..sheet.series.len()).filter(|other| {
        let series = &sheet.series[*other];
        *other != claim.count
            && *other != claim.total
            && series.are_whole
            && !matches!(series.role, ColumnRole::Rank | ColumnRole::Id)
    });
    let sum = |other: usize| {
        move |row: usize| {
            counted(row)?.checked_add(FigureTable::whole_count(&sheet.series[other], row)?)
        }
    };
    if let Some(other) = others
        .into_iter()
        .find(|other| is_enough(agree(&sum(*other))))
    {
        report(format!(
            "`{}` and `{}` together",
            count.name, sheet.series[other].name
        ));
    }
}

/// Removes the rows that are the sum or the mean of all others without a name that says so, and reports them.
pub(super) fn exclude_total_rows(sheet: &mut FigureTable<'_>) -> Vec<ClaimFinding> {
    let Some((row, word, columns)) = find_total_row(sheet) else {
        return Vec::new();
    };
    let others = sheet.rows.len() - 1;
    let columns = if columns == 1 {
        "a column".to_owned()
    } else {
        format!("{columns} columns")
    };
    let text = format!(
        "`{}` is the {word} of the {others} other rows in {columns}: it is no system of its own, though it stands among them",
        sheet.row_name(row)
    );
    let place = sheet
        .series
        .iter()
        .find(|series| series.role != ColumnRole::Rank)
        .map_or(0, |series| series.place);
    let found = sheet.finding_at(
        ClaimKind::TotalRow,
        Severity::NotEstablished,
        &[row],
        place,
        Vec::new(),
        text,
    );
    sheet.exclude_row(row);
    vec![found]
}

fn find_total_row(sheet: &FigureTable<'_>) -> Option<(usize, &'static str, usize)> {
    const MIN_OTHERS: usize = 4;
    if sheet.rows.len() <= MIN_OTHERS || sheet.groups.len() > 1 {
        return None;
    }
    let is_count = |series: &&FigureColumn| {
        series.are_whole
            && matches!(
                series.role,
                ColumnRole::Passed | ColumnRole::Failed | ColumnRole::Total
            )
    };
    let is_rate = |series: &&FigureColumn| {
        let may_be = matches!(series.role, ColumnRole::Rate | ColumnRole::Unknown)
            && !series.title.is_average;
        may_be && !series.are_whole && series.scale.is_some() && series.part_of.is_none()
    };
    let counts: Vec<&FigureColumn> = sheet.series.iter().filter(is_count).collect();
    let rates: Vec<&FigureColumn> = sheet.series.iter().filter(is_rate).collect();
    sheet.rows.iter().copied().find_map(|row| {
        let is_sum = |series: &&FigureColumn| {
            compare_with_others(sheet, row, series).is_some_and(|of| of.is_sum)
        };
        let means: Vec<RowAgainstOthers> = rates
            .iter()
            .filter_map(|series| compare_with_others(sheet, row, series))
            .collect();
        let known = counts
            .iter()
            .filter(|series| series.values[row].is_some())
            .count();
        let sums = counts.iter().copied().filter(is_sum).count();
        let fitting = means.iter().filter(|of| of.is_mean).count();
        // Rates of all counts together are no mean if the totals differ.
        if sums > 0 && sums == known && sums + fitting >= 2 {
            return Some((row, "sum", sums));
        }
        // Arbitrary figures are the mean in all columns this rarely.
        let chance: f64 =
            means.iter().map(|of| of.chance).product::<f64>() * sheet.rows.len() as f64;
        (sums == 0 && means.len() >= MIN_MEANS && fitting == means.len() && chance < MAX_CHANCE)
            .then_some((row, "mean", fitting))
    })
}

/// Columns of which a row must be the mean, if it is not the sum of any, and the chance of that.
const MIN_MEANS: usize = 3;
const MAX_CHANCE: f64 = 0.000_1;

/// A row's figure against those of all others.
struct RowAgainstOthers {
    is_sum: bool,
    is_mean: bool,
    /// Share of the column's range that would be taken for the mean.
    chance: f64,
}

fn compare_with_others(
    sheet: &FigureTable<'_>,
    row: usize,
    series: &FigureColumn,
) -> Option<RowAgainstOthers> {
    let own = series.values[row]?;
    let others: Vec<f64> = sheet
        .rows
        .iter()
        .filter(|other| **other != row)
        .filter_map(|other| series.values[*other])
        .map(PrintedFigure::value)
        .collect();
    let (sum, count) = (others.iter().sum::<f64>(), others.len() as f64);
    let (least, most) = others.iter().fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(*value), most.max(*value)),
    );
    // A count that is the sum of a few others may be so by chance.
    let is_sum = others.len() >= 4 && (own.value() - sum).abs() < 1e-9 && own.value() > 2.0 * most;
    let near = 2.0 * own.half_unit();
    Some(RowAgainstOthers {
        is_sum,
        is_mean: (own.value() - sum / count).abs() <= near + 1e-9,
        chance: if most > least {
            (2.0 * near / (most - least)).min(1.0)
        } else {
            1.0
        },
    })
}
