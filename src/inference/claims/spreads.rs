//! Standard errors, half widths and intervals against rate and total.

use crate::stats::{LEVELS, SpreadFormula, standard_deviation, standard_error};

use super::counts::Totals;
use super::figure::Printed;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};
use super::sheet::{Series, Sheet};
use super::titles::Role;

/// Share of the rows that must follow one formula before the others are wrong, and their least number.
const LEAST_AGREE: f64 = 0.6;
const LEAST_ROWS: usize = 3;

/// What a spread is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    /// The standard deviation of single outcomes: for 0 and 1, rate and total give it (DEBIT).
    Deviation,
    Error,
    /// An interval of this level.
    Level(f64),
}

/// A formula with what it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Recipe {
    formula: SpreadFormula,
    measure: Measure,
    /// The spread is printed on the scale from 0 to 1 though the rate is in percent, or the reverse.
    by: f64,
}

/// The figures of a row on the scale from 0 to 1.
struct Case {
    row: usize,
    rate: f64,
    /// Half a unit of the rate's last digit.
    rate_rounding: f64,
    /// The count, if the rate and the total tell it.
    counts: (u64, u64),
    total: u64,
}

/// Checks the spreads beside each rate. `totals` are the known totals by series.
pub(super) fn check(
    sheet: &Sheet<'_>,
    totals: &[Option<Totals>],
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    for (place, spread) in sheet.series.iter().enumerate() {
        let role = spread.role;
        if !matches!(
            role,
            Role::StandardError | Role::HalfWidth | Role::Deviation | Role::Low
        ) {
            continue;
        }
        let high = if role == Role::Low {
            upper_of(sheet, place)
        } else {
            None
        };
        if role == Role::Low && high.is_none() {
            continue;
        }
        let Some(rate) = rate_of(sheet, spread) else {
            continue;
        };
        let series = &sheet.series[rate];
        if let Some(high) = high {
            outside(sheet, series, spread, high, findings);
        }
        let Some(known) = totals[rate].as_ref().filter(|known| !known.are_means) else {
            continue;
        };
        formula(sheet, series, known, spread, high, findings, checked);
    }
}

/// Returns the column that a spread belongs to: the one it is a part of, the one whose title it has, or the last rate before it.
pub(super) fn rate_of(sheet: &Sheet<'_>, spread: &Series) -> Option<usize> {
    let is_rate = |series: &Series| {
        series.whole.is_some()
            && matches!(
                series.role,
                Role::Rate | Role::Unknown | Role::OneRun | Role::Group
            )
    };
    let found = |check: &dyn Fn(&Series) -> bool| {
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

fn upper_of<'s>(sheet: &'s Sheet<'_>, low: usize) -> Option<&'s Series> {
    let own = &sheet.series[low];
    let highs = || {
        sheet
            .series
            .iter()
            .filter(|series| series.role == Role::High)
    };
    if own.part_of.is_some() {
        return highs().find(|series| series.place == own.place);
    }
    let is_near = |series: &&Series| series.place.abs_diff(own.place) <= 2;
    highs()
        .find(|series| series.title.stem == own.title.stem && is_near(series))
        .or_else(|| highs().find(|series| series.title.stem == own.title.stem))
}

/// Reports intervals that do not contain their figure.
fn outside(
    sheet: &Sheet<'_>,
    rate: &Series,
    low: &Series,
    high: &Series,
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
        swapped(sheet, rate, low, high, findings);
        return;
    }
    for row in wrong {
        let text = |series: &Series| {
            series.values[row].map_or_else(String::new, |value| printed(value.value(), value))
        };
        let text = format!(
            "{} is outside of its interval from {} to {}",
            text(rate),
            text(low),
            text(high)
        );
        findings.push(sheet.finding(
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
fn swapped(
    sheet: &Sheet<'_>,
    rate: &Series,
    low: &Series,
    high: &Series,
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
    findings.push(sheet.finding(
        ClaimKind::WrongColumn,
        Severity::Contradictory,
        &turned,
        low.place,
        Vec::new(),
        text,
    ));
}

fn printed(value: f64, like: Printed) -> String {
    format!("{value:.*}", like.decimals as usize)
}

fn formula(
    sheet: &Sheet<'_>,
    rate: &Series,
    totals: &Totals,
    spread: &Series,
    high: Option<&Series>,
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    let whole = rate.whole.unwrap_or(1) as f64;
    let cases: Vec<Case> = sheet
        .rows
        .iter()
        .filter_map(|row| {
            let (printed, total) = (Sheet::rate(rate, *row)?, totals.items[*row]?);
            spread.values[*row]?;
            if let Some(high) = high {
                high.values[*row]?;
            }
            let near = printed.counts(total, totals.rounding).unwrap_or_else(|| {
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
            Some(Case {
                row: *row,
                rate: printed.value(),
                rate_rounding,
                counts: near,
                total,
            })
        })
        .collect();
    let telling = |case: &&Case| case.counts.1 > 0 && case.counts.0 < case.total;
    let cases: Vec<Case> = cases.into_iter().filter(|case| telling(&case)).collect();
    if cases.len() < LEAST_ROWS {
        return;
    }
    let fits = |recipe: Recipe, case: &Case| follows(recipe, case, spread, high, whole);
    let role = spread.role;
    let recipes = recipes(role, high.is_some());
    let agreeing = |recipe: &Recipe| cases.iter().filter(|case| fits(*recipe, case)).count();
    let mut best: Option<(Recipe, usize)> = None;
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
    if different < LEAST_ROWS || (agree as f64) < LEAST_AGREE * cases.len() as f64 {
        return;
    }
    // A row may follow another formula than its neighbours, but hardly at another level.
    let is_alike = |other: &&Recipe| other.measure == recipe.measure;
    let wrong: Vec<&Case> = cases
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
        follows: format!("{} of `{}`", named(recipe), rate.name),
        rows: cases.len() as u64,
        agree: (cases.len() - wrong.len()) as u64,
        recovered: None,
        chance: None,
    });
    for case in wrong {
        let Some(value) = spread.values[case.row] else {
            continue;
        };
        let right = match expected(recipe, case) {
            Some((low, up)) if high.is_some() => {
                let scale = whole * recipe.by;
                format!(
                    "{} to {}",
                    printed(low * scale, value),
                    printed(up * scale, value)
                )
            }
            Some((low, up)) if matches!(recipe.measure, Measure::Level(_)) => {
                printed((up - low) / 2.0 * whole * recipe.by, value)
            }
            Some((spread, _)) => printed(spread * whole * recipe.by, value),
            None => continue,
        };
        let stated = match high.and_then(|high| high.values[case.row]) {
            Some(up) => format!(
                "{} to {}",
                printed(value.value(), value),
                printed(up.value(), up)
            ),
            None => printed(value.value(), value),
        };
        let text = format!(
            "{} of {} of {} items is {right}, not {stated}; no usual formula of this level gives that",
            named(recipe),
            rate.values[case.row].map_or_else(String::new, |rate| printed(rate.value(), rate)),
            case.total
        );
        findings.push(sheet.finding(
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
    if let (Some(stated), Measure::Level(level)) = (spread.title.level, recipe.measure)
        && (stated - level).abs() > 0.01
    {
        let text = format!(
            "the title says {}%, but the figures are {}",
            (stated * 100.0).round(),
            named(recipe)
        );
        findings.push(sheet.finding(
            ClaimKind::SpreadAgainstRate,
            Severity::Contradictory,
            &rows,
            spread.place,
            Vec::new(),
            text,
        ));
    }
    if role == Role::StandardError && recipe.measure == Measure::Deviation {
        let text = format!(
            "`{}` says a standard error, but the figures are {} of `{}`: √n times as large",
            spread.name,
            named(recipe),
            rate.name
        );
        findings.push(sheet.finding(
            ClaimKind::WrongColumn,
            Severity::Contradictory,
            &rows,
            spread.place,
            Vec::new(),
            text,
        ));
    }
}

fn recipes(role: Role, is_interval: bool) -> Vec<Recipe> {
    let mut found = Vec::new();
    for by in [1.0, 0.01, 100.0] {
        let of_outcomes = |measure: Measure| {
            [SpreadFormula::Wald, SpreadFormula::WaldOfSample].map(|formula| Recipe {
                formula,
                measure,
                by,
            })
        };
        if !is_interval {
            found.extend(of_outcomes(Measure::Error));
            found.extend(of_outcomes(Measure::Deviation));
        }
        if is_interval || role == Role::HalfWidth {
            let of_level = |level: &f64| {
                SpreadFormula::ALL.map(|formula| Recipe {
                    formula,
                    measure: Measure::Level(*level),
                    by,
                })
            };
            found.extend(LEVELS.iter().flat_map(of_level));
        }
    }
    found
}

/// Returns the ends of the interval, or twice the standard error or deviation.
fn expected(recipe: Recipe, case: &Case) -> Option<(f64, f64)> {
    let count = u64::midpoint(case.counts.0, case.counts.1);
    let of_sample = recipe.formula == SpreadFormula::WaldOfSample;
    let twice = |spread: f64| (spread, spread);
    match recipe.measure {
        Measure::Error => standard_error(count, case.total, of_sample).map(twice),
        Measure::Deviation => standard_deviation(count, case.total, of_sample).map(twice),
        Measure::Level(level) => recipe
            .formula
            .interval(count, case.total, level)
            .map(|interval| (interval.low, interval.high)),
    }
}

fn follows(
    recipe: Recipe,
    case: &Case,
    spread: &Series,
    high: Option<&Series>,
    whole: f64,
) -> bool {
    let Some((low, up)) = expected(recipe, case) else {
        return false;
    };
    let scale = whole * recipe.by;
    // The last digit may be cut off, and the rate known to its printed digits alone.
    let near = |value: f64, printed: Printed, rate_rounding: f64| {
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
        None if matches!(recipe.measure, Measure::Level(_)) => {
            near((up - low) / 2.0, own, 0.1 * case.rate_rounding)
                || near(up - case.rate, own, case.rate_rounding)
                || near(case.rate - low, own, case.rate_rounding)
        }
        None => near(low, own, 0.1 * case.rate_rounding),
    }
}

fn named(recipe: Recipe) -> String {
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
        Measure::Error => format!("the binomial standard error{divisor}"),
        Measure::Deviation => format!("the standard deviation of outcomes{divisor}"),
        Measure::Level(level) => format!("{formula} {:.0}% interval", level * 100.0),
    }
}
