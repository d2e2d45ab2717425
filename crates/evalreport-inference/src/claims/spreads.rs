//! Standard errors, half widths and intervals against rate and total.

use crate::stats::{SpreadFormula, TRIED_LEVELS, standard_deviation, standard_error};

use super::claim_table::{FigureColumn, FigureTable};
use super::column_roles::ColumnRole;
use super::counts::RateTotals;
use super::figure::PrintedFigure;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};

/// Share of the rows that must follow one formula before the others are wrong, and their least number.
const MIN_AGREE: f64 = 0.6;
const MIN_ROWS: usize = 3;

/// What a spread is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SpreadMeasure {
    /// The standard deviation of single outcomes: for 0 and 1, rate and total give it (DEBIT).
    Deviation,
    Error,
    /// An interval of this level.
    Level(f64),
}

/// A formula with what it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SpreadRecipe {
    formula: SpreadFormula,
    measure: SpreadMeasure,
    /// The spread is printed on the scale from 0 to 1 though the rate is in percent, or the reverse.
    by: f64,
}

/// The figures of a row on the scale from 0 to 1.
struct SpreadCase {
    row: usize,
    rate: f64,
    /// Half a unit of the rate's last digit.
    rate_rounding: f64,
    /// The count, if the rate and the total tell it.
    counts: (u64, u64),
    total: u64,
}

/// Checks the spreads beside each rate. `totals` are the known totals by series.
pub(super) fn check_spreads(
    sheet: &FigureTable<'_>,
    totals: &[Option<RateTotals>],
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    for (place, spread) in sheet.series.iter().enumerate() {
        let role = spread.role;
        if !matches!(
            role,
            ColumnRole::StandardError
                | ColumnRole::HalfWidth
                | ColumnRole::Deviation
                | ColumnRole::Low
        ) {
            continue;
        }
        let high = if role == ColumnRole::Low {
            upper_end_column(sheet, place)
        } else {
            None
        };
        if role == ColumnRole::Low && high.is_none() {
            continue;
        }
        let Some(rate) = rate_of_spread(sheet, spread) else {
            continue;
        };
        let series = &sheet.series[rate];
        if let Some(high) = high {
            report_outside(sheet, series, spread, high, findings);
        }
        let Some(known) = totals[rate].as_ref().filter(|known| !known.are_means) else {
            continue;
        };
        check_formula(sheet, series, known, spread, high, findings, checked);
    }
}

/// Returns the column that a spread belongs to: the one it is a part of, the one whose title it has, or the last rate before it.
pub(super) fn rate_of_spread(sheet: &FigureTable<'_>, spread: &FigureColumn) -> Option<usize> {
    let is_rate = |series: &FigureColumn| {
        series.whole.is_some()
            && matches!(
                series.role,
                ColumnRole::Rate | ColumnRole::Unknown | ColumnRole::OneRun | ColumnRole::Group
            )
    };
    let found = |check: &dyn Fn(&FigureColumn) -> bool| {
        sheet
            .series
            .iter()
            .position(|series| is_rate(series) && check(series))
    };
    if let Some(place) = spread.part_of
        && let Some(own) = found(&|series| series.place == place)
    {
        return Some(own);
    }
    let stem = &spread.title.stem;
    let named = || {
        found(&|series| {
            !stem.is_empty() && stem.iter().all(|word| series.title.words.contains(word))
        })
    };
    let words = || {
        let own: Vec<&String> = spread.title.words.iter().collect();
        found(&|series| series.title.words.iter().all(|word| own.contains(&word)))
    };
    let before = || {
        (0..sheet.series.len()).rev().find(|place| {
            sheet.series[*place].place < spread.place && is_rate(&sheet.series[*place])
        })
    };
    words()
        .or_else(named)
        .or_else(before)
        .or_else(|| found(&|_| true))
}

fn upper_end_column<'s>(sheet: &'s FigureTable<'_>, low: usize) -> Option<&'s FigureColumn> {
    let own = &sheet.series[low];
    let highs = || {
        sheet
            .series
            .iter()
            .filter(|series| series.role == ColumnRole::High)
    };
    if own.part_of.is_some() {
        return highs().find(|series| series.place == own.place);
    }
    let is_near = |series: &&FigureColumn| series.place.abs_diff(own.place) <= 2;
    highs()
        .find(|series| series.title.stem == own.title.stem && is_near(series))
        .or_else(|| highs().find(|series| series.title.stem == own.title.stem))
}

/// Reports intervals that do not contain their figure.
fn report_outside(
    sheet: &FigureTable<'_>,
    rate: &FigureColumn,
    low: &FigureColumn,
    high: &FigureColumn,
    findings: &mut Vec<ClaimFinding>,
) {
    let mut known = 0;
    let mut wrong = Vec::new();
    for row in &sheet.rows {
        let (Some(value), Some(least), Some(most)) =
            (rate.values[*row], low.values[*row], high.values[*row])
        else {
            continue;
        };
        known += 1;
        let (own, least, most) = (
            value.value(),
            least.value() - least.half_unit(),
            most.value() + most.half_unit(),
        );
        if own + value.half_unit() < least || own - value.half_unit() > most {
            wrong.push(*row);
        }
    }
    // If most are outside, the interval is of another figure, or on another scale.
    if wrong.len() * 4 > known {
        report_swapped_ends(sheet, rate, low, high, findings);
        return;
    }
    for row in wrong {
        let text = |series: &FigureColumn| {
            series.values[row].map_or_else(String::new, |value| print_like(value.value(), value))
        };
        let text = format!(
            "{} is outside of its interval from {} to {}",
            text(rate),
            text(low),
            text(high)
        );
        findings.push(sheet.finding_at(
            ClaimKind::FigureOutsideInterval,
            Severity::Contradictory,
            &[row],
            rate.place,
            Vec::new(),
            text,
        ));
    }
}

/// Says that the ends of the intervals are in each other's column, if they are so in nearly all rows.
fn report_swapped_ends(
    sheet: &FigureTable<'_>,
    rate: &FigureColumn,
    low: &FigureColumn,
    high: &FigureColumn,
    findings: &mut Vec<ClaimFinding>,
) {
    if low.part_of.is_some() {
        return;
    }
    let ends = |row: &usize| {
        Some((
            high.values[*row]?.value(),
            rate.values[*row]?.value(),
            low.values[*row]?.value(),
        ))
    };
    let known: Vec<usize> = sheet
        .rows
        .iter()
        .copied()
        .filter(|row| ends(row).is_some())
        .collect();
    let is_turned = |row: &usize| {
        ends(row)
            .is_some_and(|(least, value, most)| least <= value && value <= most && least < most)
    };
    let turned: Vec<usize> = known.iter().copied().filter(is_turned).collect();
    if !super::columns::are_nearly_all(turned.len(), known.len()) {
        return;
    }
    let text = format!(
        "`{}` and `{}` are swapped in {} of {} rows",
        low.name,
        high.name,
        turned.len(),
        known.len()
    );
    findings.push(sheet.finding_at(
        ClaimKind::WrongColumn,
        Severity::Contradictory,
        &turned,
        low.place,
        Vec::new(),
        text,
    ));
}

fn print_like(value: f64, like: PrintedFigure) -> String {
    format!("{value:.*}", like.decimals as usize)
}

fn check_formula(
    sheet: &FigureTable<'_>,
    rate: &FigureColumn,
    totals: &RateTotals,
    spread: &FigureColumn,
    high: Option<&FigureColumn>,
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    let whole = rate.whole.unwrap_or(1) as f64;
    let cases: Vec<SpreadCase> = sheet
        .rows
        .iter()
        .filter_map(|row| {
            let (printed, total) = (FigureTable::printed_rate(rate, *row)?, totals.items[*row]?);
            spread.values[*row]?;
            if let Some(high) = high {
                high.values[*row]?;
            }
            let near = printed
                .possible_counts(total, totals.rounding)
                .unwrap_or_else(|| {
                    let nearest = (printed.value() * total as f64).round();
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "between 0 and the total"
                    )]
                    let nearest = nearest as u64;
                    (nearest, nearest)
                });
            let rate_rounding = if near.0 == near.1 {
                0.0
            } else {
                0.5 / printed.whole as f64
            };
            Some(SpreadCase {
                row: *row,
                rate: printed.value(),
                rate_rounding,
                counts: near,
                total,
            })
        })
        .collect();
    let telling = |case: &&SpreadCase| case.counts.1 > 0 && case.counts.0 < case.total;
    let cases: Vec<SpreadCase> = cases.into_iter().filter(|case| telling(&case)).collect();
    if cases.len() < MIN_ROWS {
        return;
    }
    let fits =
        |recipe: SpreadRecipe, case: &SpreadCase| follows_recipe(recipe, case, spread, high, whole);
    let role = spread.role;
    let recipes = candidate_recipes(role, high.is_some());
    let agreeing = |recipe: &SpreadRecipe| cases.iter().filter(|case| fits(*recipe, case)).count();
    let mut best: Option<(SpreadRecipe, usize)> = None;
    for recipe in &recipes {
        let agree = agreeing(recipe);
        if best.is_none_or(|(_, known)| agree > known) {
            best = Some((*recipe, agree));
        }
    }
    let Some((recipe, agree)) = best else { return };
    let different = cases
        .iter()
        .filter(|case| fits(recipe, case))
        .map(|case| case.counts)
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    if different < MIN_ROWS || (agree as f64) < MIN_AGREE * cases.len() as f64 {
        return;
    }
    // A row may follow another formula than its neighbours, but hardly at another level.
    let is_alike = |other: &&SpreadRecipe| other.measure == recipe.measure;
    let wrong: Vec<&SpreadCase> = cases
        .iter()
        .filter(|case| {
            !recipes
                .iter()
                .filter(is_alike)
                .any(|recipe| fits(*recipe, case))
        })
        .collect();
    checked.push(CheckedColumn {
        table: sheet.table.name.clone(),
        column: spread.name.clone(),
        follows: format!("{} of `{}`", recipe_name(recipe), rate.name),
        rows: cases.len() as u64,
        agree: (cases.len() - wrong.len()) as u64,
        recovered: None,
        chance: None,
    });
    for case in wrong {
        let Some(value) = spread.values[case.row] else {
            continue;
        };
        let right = match expected_ends(recipe, case) {
            Some((low, up)) if high.is_some() => {
                let scale = whole * recipe.by;
                format!(
                    "{} to {}",
                    print_like(low * scale, value),
                    print_like(up * scale, value)
                )
            }
            Some((low, up)) if matches!(recipe.measure, SpreadMeasure::Level(_)) => {
                print_like((up - low) / 2.0 * whole * recipe.by, value)
            }
            Some((spread, _)) => print_like(spread * whole * recipe.by, value),
            None => continue,
        };
        let stated = match high.and_then(|high| high.values[case.row]) {
            Some(up) => format!(
                "{} to {}",
                print_like(value.value(), value),
                print_like(up.value(), up)
            ),
            None => print_like(value.value(), value),
        };
        let text = format!(
            "{} of {} of {} items is {right}, not {stated}; no usual formula of this level gives that",
            recipe_name(recipe),
            rate.values[case.row].map_or_else(String::new, |rate| print_like(rate.value(), rate)),
            case.total
        );
        findings.push(sheet.finding_at(
            ClaimKind::SpreadAgainstRate,
            Severity::Contradictory,
            &[case.row],
            spread.place,
            vec![right],
            text,
        ));
    }
    // The title promises a level that the figures do not have.
    let rows: Vec<usize> = cases.iter().map(|case| case.row).collect();
    if let (Some(stated), SpreadMeasure::Level(level)) = (spread.title.level, recipe.measure)
        && (stated - level).abs() > 0.01
    {
        let text = format!(
            "the title says {}%, but the figures are {}",
            (stated * 100.0).round(),
            recipe_name(recipe)
        );
        findings.push(sheet.finding_at(
            ClaimKind::SpreadAgainstRate,
            Severity::Contradictory,
            &rows,
            spread.place,
            Vec::new(),
            text,
        ));
    }
    if role == ColumnRole::StandardError && recipe.measure == SpreadMeasure::Deviation {
        let text = format!(
            "`{}` says a standard error, but the figures are {} of `{}`: √n times as large",
            spread.name,
            recipe_name(recipe),
            rate.name
        );
        findings.push(sheet.finding_at(
            ClaimKind::WrongColumn,
            Severity::Contradictory,
            &rows,
            spread.place,
            Vec::new(),
            text,
        ));
    }
}

fn candidate_recipes(role: ColumnRole, is_interval: bool) -> Vec<SpreadRecipe> {
    let mut found = Vec::new();
    for by in [1.0, 0.01, 100.0] {
        let of_outcomes = |measure: SpreadMeasure| {
            [SpreadFormula::Wald, SpreadFormula::WaldOfSample].map(|formula| SpreadRecipe {
                formula,
                measure,
                by,
            })
        };
        if !is_interval {
            found.extend(of_outcomes(SpreadMeasure::Error));
            found.extend(of_outcomes(SpreadMeasure::Deviation));
        }
        if is_interval || role == ColumnRole::HalfWidth {
            let of_level = |level: &f64| {
                SpreadFormula::ALL.map(|formula| SpreadRecipe {
                    formula,
                    measure: SpreadMeasure::Level(*level),
                    by,
                })
            };
            found.extend(TRIED_LEVELS.iter().flat_map(of_level));
        }
    }
    found
}

/// Returns the ends of the interval, or twice the standard error or deviation.
fn expected_ends(recipe: SpreadRecipe, case: &SpreadCase) -> Option<(f64, f64)> {
    let count = u64::midpoint(case.counts.0, case.counts.1);
    let of_sample = recipe.formula == SpreadFormula::WaldOfSample;
    let twice = |spread: f64| (spread, spread);
    match recipe.measure {
        SpreadMeasure::Error => standard_error(count, case.total, of_sample).map(twice),
        SpreadMeasure::Deviation => standard_deviation(count, case.total, of_sample).map(twice),
        SpreadMeasure::Level(level) => recipe
            .formula
            .interval_at(count, case.total, level)
            .map(|interval| (interval.low, interval.high)),
    }
}

fn follows_recipe(
    recipe: SpreadRecipe,
    case: &SpreadCase,
    spread: &FigureColumn,
    high: Option<&FigureColumn>,
    whole: f64,
) -> bool {
    let Some((low, up)) = expected_ends(recipe, case) else {
        return false;
    };
    let scale = whole * recipe.by;
    // The last digit may be cut off, and the rate known to its printed digits alone.
    let near = |value: f64, printed: PrintedFigure, rate_rounding: f64| {
        (printed.value() - value * scale).abs()
            <= 2.0 * printed.half_unit()
                + rate_rounding * scale
                + 1e-9
                + 0.002 * value.abs() * scale
    };
    let Some(own) = spread.values[case.row] else {
        return false;
    };
    match high.and_then(|high| high.values[case.row]) {
        Some(end) => {
            let (clipped_low, clipped_up) = (low.max(0.0), up.min(1.0));
            (near(low, own, case.rate_rounding) || near(clipped_low, own, case.rate_rounding))
                && (near(up, end, case.rate_rounding) || near(clipped_up, end, case.rate_rounding))
        }
        None if matches!(recipe.measure, SpreadMeasure::Level(_)) => {
            near((up - low) / 2.0, own, 0.1 * case.rate_rounding)
                || near(up - case.rate, own, case.rate_rounding)
                || near(case.rate - low, own, case.rate_rounding)
        }
        None => near(low, own, 0.1 * case.rate_rounding),
    }
}

fn recipe_name(recipe: SpreadRecipe) -> String {
    let formula = match recipe.formula {
        SpreadFormula::Wald => "Wald's",
        SpreadFormula::WaldOfSample => "Wald's (n − 1)",
        SpreadFormula::Student => "Student's",
        SpreadFormula::Wilson => "Wilson's",
        SpreadFormula::ClopperPearson => "Clopper and Pearson's",
        SpreadFormula::AgrestiCoull => "Agresti and Coull's",
    };
    let divisor = if recipe.formula == SpreadFormula::Wald {
        ""
    } else {
        " (n − 1)"
    };
    match recipe.measure {
        SpreadMeasure::Error => format!("the binomial standard error{divisor}"),
        SpreadMeasure::Deviation => format!("the standard deviation of outcomes{divisor}"),
        SpreadMeasure::Level(level) => format!("{formula} {:.0}% interval", level * 100.0),
    }
}
