//! Rates against the counts and totals of their rows, and against the total that a column has in common.

use std::collections::BTreeSet;

use crate::stats::{
    PrintedRate, RecoveredTotal, Rounding, possible_share, recover_total, upper_tail,
};

use super::claim_table::{FigureColumn, FigureTable, format_rate};
use super::column_roles::ColumnRole;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};

/// The counts that a column of rates follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountRelation {
    /// Places in [`FigureTable::series`].
    pub rate: usize,
    pub count: usize,
    pub total: usize,
    /// The count is of items that failed.
    pub is_inverse: bool,
    pub rounding: Rounding,
}

/// The total behind each rate of a column.
#[derive(Clone, Debug)]
pub(super) struct RateTotals {
    /// By row.
    pub items: Vec<Option<u64>>,
    pub rounding: Rounding,
    pub is_stated: bool,
    /// The figures are means of several counts: of runs, or of half points for draws.
    pub are_means: bool,
}

/// Share of the rows that must agree before the others are wrong.
const MIN_AGREE: f64 = 0.75;
const MIN_AGREE_NAMED: f64 = 0.5;
const MIN_AGREE_UNNAMED: f64 = 0.9;
/// Chance of as many fits with arbitrary digits, for a column that the title names, and for any other.
const MAX_CHANCE_NAMED: f64 = 0.05;
const MAX_CHANCE: f64 = 0.000_1;
/// A total that allows more of the printable rates cannot refuse one.
const MAX_SHARE: f64 = 0.9;

/// What agreed and disagreed in the rows of a relation.
#[derive(Default)]
pub(super) struct RelationFit {
    pub rows: Vec<usize>,
    misfits: Vec<usize>,
    /// Rows whose count is neither nothing nor everything, and those of them that agree.
    partial: usize,
    partial_agree: usize,
    /// Different rates that agree and are neither nothing nor everything.
    pub telling: BTreeSet<PrintedRate>,
    /// Sum of the totals.
    items: u64,
}

impl RelationFit {
    pub fn agree_count(&self) -> usize {
        self.rows.len() - self.misfits.len()
    }
}

pub(super) fn fit_relation(sheet: &FigureTable<'_>, relation: CountRelation) -> RelationFit {
    let mut fit = RelationFit::default();
    let [rate, count, total] =
        [relation.rate, relation.count, relation.total].map(|place| &sheet.series[place]);
    for row in &sheet.rows {
        let (Some(rate), Some(count), Some(total)) = (
            FigureTable::printed_rate(rate, *row),
            FigureTable::whole_count(count, *row),
            FigureTable::whole_count(total, *row),
        ) else {
            continue;
        };
        if total == 0 || count > total {
            continue;
        }
        fit.rows.push(*row);
        fit.items = fit.items.saturating_add(total);
        let is_partial = count > 0 && count < total;
        fit.partial += usize::from(is_partial);
        let count = if relation.is_inverse {
            total - count
        } else {
            count
        };
        if rate
            .possible_counts(total, relation.rounding)
            .is_some_and(|(least, most)| (least..=most).contains(&count))
        {
            fit.partial_agree += usize::from(is_partial);
            if !rate.is_trivial() {
                fit.telling.insert(rate);
            }
        } else {
            fit.misfits.push(*row);
        }
    }
    fit
}

/// Finds the counts behind each column of rates. A relation is accepted if most rows agree: among columns that the titles bring together
/// half of them, among others nearly all, on several rates that chance does not give.
pub(super) fn find_relations(sheet: &FigureTable<'_>) -> Vec<CountRelation> {
    const MAX_COUNTS: usize = 40;
    let of_role = |roles: &[ColumnRole]| -> Vec<usize> {
        (0..sheet.series.len())
            .filter(|place| {
                sheet.series[*place].are_whole && roles.contains(&sheet.series[*place].role)
            })
            .take(MAX_COUNTS)
            .collect()
    };
    let counts = of_role(&[
        ColumnRole::Passed,
        ColumnRole::Failed,
        ColumnRole::Unknown,
        ColumnRole::Total,
        ColumnRole::Rate,
    ]);
    let totals = of_role(&[ColumnRole::Total, ColumnRole::Unknown, ColumnRole::Passed]);
    let mut found = Vec::new();
    for (rate, series) in sheet.series.iter().enumerate() {
        let is_rate = series.whole.is_some()
            && matches!(
                series.role,
                ColumnRole::Rate | ColumnRole::Unknown | ColumnRole::Passed | ColumnRole::OneRun
            );
        if !is_rate
            || (series.are_whole && series.role == ColumnRole::Passed)
            || !FigureTable::may_be_rate(series)
        {
            continue;
        }
        let mut accepted: Vec<(CountRelation, bool, RelationFit)> = Vec::new();
        for count in counts.iter().copied().filter(|count| *count != rate) {
            for total in totals
                .iter()
                .copied()
                .filter(|total| *total != rate && *total != count)
            {
                for is_inverse in [false, true] {
                    let is_named = names_together(sheet, rate, count, total, is_inverse);
                    for rounding in Rounding::ALL {
                        let relation = CountRelation {
                            rate,
                            count,
                            total,
                            is_inverse,
                            rounding,
                        };
                        let fit = fit_relation(sheet, relation);
                        if is_accepted(&fit, is_named) {
                            accepted.push((relation, is_named, fit));
                        }
                    }
                }
            }
        }
        found.extend(best_relation(&accepted));
    }
    found
}

/// Chooses the count that agrees most, and of its totals the smallest: a rate is over the cases that were run, if the source also has those
/// that were planned.
fn best_relation(accepted: &[(CountRelation, bool, RelationFit)]) -> Option<CountRelation> {
    // A few rows that all agree tell less than many of which nearly all do.
    let score = |fit: &RelationFit| fit.agree_count() as f64 / (fit.rows.len() + 2) as f64;
    let order = |(relation, is_named, fit): &(CountRelation, bool, RelationFit)| {
        (
            *is_named,
            score(fit),
            fit.telling.len(),
            relation.rounding == Rounding::Nearest,
        )
    };
    let (best, is_named, top) = accepted.iter().max_by(|left, right| {
        let (left, right) = (order(left), order(right));
        left.0
            .cmp(&right.0)
            .then(left.1.total_cmp(&right.1))
            .then(left.2.cmp(&right.2))
            .then(left.3.cmp(&right.3))
    })?;
    if !is_named {
        return Some(*best);
    }
    let is_like = |(relation, is_named, fit): &&(CountRelation, bool, RelationFit)| {
        let is_same = (relation.count, relation.is_inverse, relation.rounding)
            == (best.count, best.is_inverse, best.rounding);
        is_same && *is_named && fit.rows.len() * 2 >= top.rows.len()
    };
    accepted
        .iter()
        .filter(is_like)
        .min_by_key(|(_, _, fit)| fit.items / fit.rows.len().max(1) as u64)
        .map(|(relation, ..)| *relation)
}

fn is_accepted(fit: &RelationFit, is_named: bool) -> bool {
    let share = |agree: usize, all: usize| agree as f64 / all.max(1) as f64;
    let agree = share(fit.agree_count(), fit.rows.len()).min(share(fit.partial_agree, fit.partial));
    if is_named {
        agree >= MIN_AGREE_NAMED && !fit.telling.is_empty()
    } else {
        agree >= MIN_AGREE && fit.telling.len() >= 3
    }
}

/// Returns whether the titles say that the counts are behind the rate: `pass_num_2` and `pass_rate_2`, `correct` and `accuracy`,
/// `num_with_malformed_responses` and `percent_cases_well_formed`.
pub(super) fn names_together(
    sheet: &FigureTable<'_>,
    rate: usize,
    count: usize,
    total: usize,
    is_inverse: bool,
) -> bool {
    let [rate, count, total] = [rate, count, total].map(|place| &sheet.series[place]);
    if count.part_of.is_some() || total.part_of.is_some() {
        return count.part_of == total.part_of
            && !is_inverse
            && (count.part_of == Some(rate.place) || rate.role == ColumnRole::Rate);
    }
    if total.role != ColumnRole::Total {
        return false;
    }
    if is_inverse {
        let shares_root = rate.title.words.iter().any(|word| {
            word.len() >= 5
                && count
                    .title
                    .words
                    .iter()
                    .any(|other| other.ends_with(word.as_str()) && other != word)
        });
        return count.role == ColumnRole::Failed && shares_root;
    }
    // A count of failures and a rate of failures.
    let fails = |series: &FigureColumn| {
        series.role == ColumnRole::Failed
            || series
                .title
                .words
                .iter()
                .any(|word| word == "error" || word == "failure")
    };
    (count.role == ColumnRole::Passed || (count.role == ColumnRole::Failed && fails(rate)))
        && rate.role == ColumnRole::Rate
        && rate.title.stem == count.title.stem
}

/// Reports the rates that are not those of their counts.
/// Returns the rows that have counts.
pub(super) fn check_against_counts(
    sheet: &FigureTable<'_>,
    relation: CountRelation,
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) -> Vec<usize> {
    let fit = fit_relation(sheet, relation);
    let [rate, count, total] =
        [relation.rate, relation.count, relation.total].map(|place| &sheet.series[place]);
    let follows = match relation.is_inverse {
        false if count.place == total.place => format!("`{}`", count.name),
        false => format!("`{}` of `{}`", count.name, total.name),
        true => format!("`{}` without `{}`", total.name, count.name),
    };
    checked.push(CheckedColumn {
        table: sheet.table.name.clone(),
        column: rate.name.clone(),
        follows,
        rows: fit.rows.len() as u64,
        agree: fit.agree_count() as u64,
        recovered: None,
        chance: None,
    });
    for (why, rows) in group_by_reason(sheet, relation, &fit.misfits) {
        if let Some(why) =
            why.filter(|why| rows.len() >= MIN_ALIKE || matches!(why, MisfitReason::Share))
        {
            findings.push(report_reason(sheet, relation, why, &rows));
            continue;
        }
        for row in rows {
            findings.extend(report_misfit(sheet, relation, row, why));
        }
    }
    fit.rows
}

/// Rows that are wrong in the same way are one finding from this number on.
const MIN_ALIKE: usize = 3;

/// Why a rate is not that of its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MisfitReason {
    /// It is a share from 0 to 1 among percentages.
    Share,
    /// It is of another number of items.
    Of(u64),
    /// It is the share of the other items.
    Others,
}

/// Groups the rows that disagree by what explains them.
fn group_by_reason(
    sheet: &FigureTable<'_>,
    relation: CountRelation,
    rows: &[usize],
) -> Vec<(Option<MisfitReason>, Vec<usize>)> {
    let mut found: Vec<(Option<MisfitReason>, Vec<usize>)> = Vec::new();
    for row in rows {
        let why = find_reason(sheet, relation, *row);
        match found.iter_mut().find(|(known, _)| *known == why) {
            Some((_, rows)) => rows.push(*row),
            None => found.push((why, vec![*row])),
        }
    }
    found
}

fn find_reason(
    sheet: &FigureTable<'_>,
    relation: CountRelation,
    row: usize,
) -> Option<MisfitReason> {
    let series = &sheet.series[relation.rate];
    let (stated, passed, all) = rate_and_counts(sheet, relation, row)?;
    let fits = |rate: PrintedRate, passed: u64, all: u64| {
        rate.possible_counts(all, relation.rounding)
            .is_some_and(|(least, most)| (least..=most).contains(&passed))
    };
    let as_share = PrintedRate {
        units: stated.units,
        whole: stated.whole / series.whole?,
    };
    if series.whole == Some(100)
        && as_share.units <= as_share.whole
        && !as_share.is_trivial()
        && fits(as_share, passed, all)
    {
        return Some(MisfitReason::Share);
    }
    let of = find_other_total(sheet, relation, row, stated, passed).map(MisfitReason::Of);
    of.or_else(|| {
        (2 * passed != all && fits(stated, all - passed, all)).then_some(MisfitReason::Others)
    })
}

/// Returns the stated rate, the count of which it should be, and the total.
fn rate_and_counts(
    sheet: &FigureTable<'_>,
    relation: CountRelation,
    row: usize,
) -> Option<(PrintedRate, u64, u64)> {
    let stated = FigureTable::printed_rate(&sheet.series[relation.rate], row)?;
    let (counted, all) = (
        FigureTable::whole_count(&sheet.series[relation.count], row)?,
        FigureTable::whole_count(&sheet.series[relation.total], row)?,
    );
    let passed = if relation.is_inverse {
        all.checked_sub(counted)?
    } else {
        counted
    };
    Some((stated, passed, all))
}

/// Says once why several rows disagree.
fn report_reason(
    sheet: &FigureTable<'_>,
    relation: CountRelation,
    why: MisfitReason,
    rows: &[usize],
) -> ClaimFinding {
    let [rate, count, total] =
        [relation.rate, relation.count, relation.total].map(|place| &sheet.series[place]);
    let figures = match rows.len() {
        1 => "1 figure is".to_owned(),
        more => format!("{more} figures are"),
    };
    let (kind, text) = match why {
        MisfitReason::Share => (
            ClaimKind::WrongUnit,
            format!("{figures} a share from 0 to 1, among percentages"),
        ),
        MisfitReason::Of(other) => (
            ClaimKind::OtherDenominator,
            format!(
                "{figures} `{}` of {other}, not of the stated `{}`",
                count.name, total.name
            ),
        ),
        MisfitReason::Others => (
            ClaimKind::WrongColumn,
            format!(
                "{figures} of the other items: 1 less the share of `{}`",
                count.name
            ),
        ),
    };
    let right = rows.iter().take(3).filter_map(|row| {
        let (stated, passed, all) = rate_and_counts(sheet, relation, *row)?;
        Some(format_rate(
            PrintedRate::from_count(passed, all, stated.whole, relation.rounding),
            rate,
            rate.values[*row]?,
        ))
    });
    sheet.finding_at(
        kind,
        Severity::Contradictory,
        rows,
        rate.place,
        right.collect(),
        text,
    )
}

/// Reports a rate that is not that of its counts.
fn report_misfit(
    sheet: &FigureTable<'_>,
    relation: CountRelation,
    row: usize,
    why: Option<MisfitReason>,
) -> Option<ClaimFinding> {
    let rate = &sheet.series[relation.rate];
    let (stated, passed, all) = rate_and_counts(sheet, relation, row)?;
    let printed = rate.values[row]?;
    let right = format_rate(
        PrintedRate::from_count(passed, all, stated.whole, relation.rounding),
        rate,
        printed,
    );
    let stated_text = format_rate(stated, rate, printed);
    let is_impossible = stated.possible_counts(all, relation.rounding).is_none();
    let (kind, severity) = if is_impossible {
        (ClaimKind::ImpossibleRate, Severity::Impossible)
    } else {
        (ClaimKind::RateAgainstCounts, Severity::Contradictory)
    };
    let counts = if relation.is_inverse {
        format!("{all} without {}", all - passed)
    } else {
        format!("{passed} of {all}")
    };
    let mut text = format!("{counts} is {right}, not {stated_text}");
    if is_impossible {
        text.push_str(&format!("; no count out of {all} is"));
    }
    // The rate may be over another total that the table has.
    match why {
        Some(MisfitReason::Of(other)) => text.push_str(&format!("; it is {passed} of {other}")),
        Some(MisfitReason::Others) => text.push_str(&format!("; it is {} of {all}", all - passed)),
        Some(MisfitReason::Share) | None => {}
    }
    Some(sheet.finding_at(kind, severity, &[row], rate.place, vec![right], text))
}

/// Returns a total of the same row, or the column's most frequent one, of which the count gives the rate.
fn find_other_total(
    sheet: &FigureTable<'_>,
    relation: CountRelation,
    row: usize,
    stated: PrintedRate,
    passed: u64,
) -> Option<u64> {
    let own = FigureTable::whole_count(&sheet.series[relation.total], row)?;
    let of_row = sheet
        .series
        .iter()
        .filter(|series| series.role == ColumnRole::Total)
        .filter_map(|series| FigureTable::whole_count(series, row));
    let of_column = sheet
        .rows
        .iter()
        .filter_map(|row| FigureTable::whole_count(&sheet.series[relation.total], *row));
    let fits = |total: &u64| {
        *total != own
            && stated
                .possible_counts(*total, relation.rounding)
                .is_some_and(|(least, most)| (least..=most).contains(&passed))
    };
    of_row.chain(of_column).find(fits)
}

/// Reports the rates that no count of the stated total gives. Returns the totals if the column follows from them.
/// `done` are the rows whose counts were checked.
pub(super) fn check_against_totals(
    sheet: &FigureTable<'_>,
    rate: usize,
    done: &[usize],
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) -> Option<RateTotals> {
    let series = &sheet.series[rate];
    let stated = reported_totals(sheet, series);
    let mut best: Option<TotalFit<'_>> = None;
    for total in &stated {
        // The mean of several runs is a count of as many times the items.
        for by in 1..=if total.is_named { MAX_RUNS } else { 1 } {
            let known = |row: usize| {
                total.items[row]?
                    .checked_mul(sheet.reported_runs(series, row).unwrap_or(1))?
                    .checked_mul(by)
            };
            for rounding in Rounding::ALL {
                let (mut rows, mut misfits, mut shares, mut telling) =
                    (Vec::new(), Vec::new(), 0.0, BTreeSet::new());
                for row in &sheet.rows {
                    let Some((rate, total)) =
                        FigureTable::printed_rate(series, *row).zip(known(*row))
                    else {
                        continue;
                    };
                    if rate.is_trivial() || rate.units >= rate.whole || done.contains(row) {
                        continue;
                    }
                    rows.push(*row);
                    shares += possible_share(total, rate.whole, rounding);
                    match rate.possible_counts(total, rounding) {
                        Some(_) => _ = telling.insert((rate, total)),
                        None => misfits.push(*row),
                    }
                }
                let share = shares / rows.len().max(1) as f64;
                let is_named = total.is_named;
                let most_chance = if is_named && by == 1 {
                    MAX_CHANCE_NAMED
                } else {
                    MAX_CHANCE
                };
                let agree = (rows.len() - misfits.len()) as f64 / rows.len().max(1) as f64;
                let chance = upper_tail(
                    telling.len() as u64,
                    (telling.len() + misfits.len()) as u64,
                    share,
                );
                // The mean of several runs explains a column only as a whole, and so does a total that the title does not name.
                let is_enough = agree
                    >= if by == 1 && is_named {
                        MIN_AGREE
                    } else {
                        MIN_AGREE_UNNAMED
                    };
                let is_accepted =
                    !rows.is_empty() && share <= MAX_SHARE && is_enough && chance <= most_chance;
                if is_accepted
                    && best
                        .as_ref()
                        .is_none_or(|(.., known)| misfits.len() < known.len())
                {
                    best = Some((total, by, rounding, rows, misfits));
                }
            }
            if best.is_some() {
                break;
            }
        }
    }
    let (total, by, rounding, rows, misfits) = best?;
    let of = |row: usize| {
        total.items[row].map(|total| (total, sheet.reported_runs(series, row).unwrap_or(1) * by))
    };
    checked.push(CheckedColumn {
        table: sheet.table.name.clone(),
        column: series.name.clone(),
        follows: if by == 1 {
            format!("a count of {}", total.name)
        } else {
            format!("the mean of {by} counts of {}", total.name)
        },
        rows: rows.len() as u64,
        agree: (rows.len() - misfits.len()) as u64,
        recovered: None,
        chance: None,
    });
    let severity = if total.is_named {
        Severity::Impossible
    } else {
        Severity::Contradictory
    };
    for row in misfits {
        let (Some(rate), Some(printed), Some((items, runs))) = (
            FigureTable::printed_rate(series, row),
            series.values[row],
            of(row),
        ) else {
            continue;
        };
        let near = rate
            .neighbouring_counts(items * runs, rounding)
            .map(|(_, near)| format_rate(near, series, printed));
        let stated = format_rate(rate, series, printed);
        let all = if runs > 1 {
            format!("{runs} runs of {items}")
        } else {
            items.to_string()
        };
        let mut text = format!(
            "no count out of {all} is {stated}; the nearest are {} and {}",
            near[0], near[1]
        );
        let usual = most_frequent(sheet.rows.iter().filter_map(|row| total.items[*row]));
        if let Some((usual, (count, _))) = usual
            .filter(|usual| *usual != items && runs == 1)
            .and_then(|usual| Some((usual, rate.possible_counts(usual, rounding)?)))
        {
            text.push_str(&format!(
                "; it is {count} of {usual}, which other rows have"
            ));
        }
        findings.push(sheet.finding_at(
            ClaimKind::ImpossibleRate,
            severity,
            &[row],
            series.place,
            near.to_vec(),
            text,
        ));
    }
    Some(RateTotals {
        items: total.items.clone(),
        rounding,
        is_stated: true,
        are_means: by > 1
            || sheet.rows.iter().any(|row| {
                sheet
                    .reported_runs(series, *row)
                    .is_some_and(|runs| runs > 1)
            }),
    })
}

/// Largest number of figures of a short column that are reported for being no counts of the recovered total.
const MAX_OUTLIERS: usize = 2;

/// A total that the source states.
struct ReportedTotal {
    /// The column, or the number in the rate's title.
    name: String,
    /// By row. Never 0.
    items: Vec<Option<u64>>,
    /// Whether a title says that it is a total.
    is_named: bool,
}

/// Totals, the number of runs, the rounding, and the rows that were checked and those that misfit.
type TotalFit<'s> = (&'s ReportedTotal, u64, Rounding, Vec<usize>, Vec<usize>);

/// Returns the totals that a rate may be of: the number in its title, else the columns of totals. A column without a telling title is one only
/// if it cannot be a share.
fn reported_totals(sheet: &FigureTable<'_>, rate: &FigureColumn) -> Vec<ReportedTotal> {
    if let Some(items) = rate.title.items.filter(|_| !rate.title.is_average) {
        return vec![ReportedTotal {
            name: format!("{items} items"),
            items: vec![Some(items); sheet.table.rows.len()],
            is_named: true,
        }];
    }
    let may_be_total = |series: &&FigureColumn| {
        series.are_whole
            && (series.role == ColumnRole::Total
                || (series.role == ColumnRole::Unknown && series.whole.is_none()))
    };
    let total = |series: &FigureColumn| ReportedTotal {
        name: format!("`{}`", series.name),
        items: (0..sheet.table.rows.len())
            .map(|row| FigureTable::whole_count(series, row).filter(|total| *total > 0))
            .collect(),
        is_named: series.role == ColumnRole::Total,
    };
    sheet
        .series
        .iter()
        .filter(may_be_total)
        .map(total)
        .collect()
}

/// Largest number of runs that a table may have averaged without saying so.
const MAX_RUNS: u64 = 10;

/// Recovers the total of a column of rates without one, by group, and reports rates that are no count of it.
pub(super) fn check_against_column(
    sheet: &FigureTable<'_>,
    rate: usize,
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) -> Option<RateTotals> {
    let series = &sheet.series[rate];
    let mut totals = RateTotals {
        items: vec![None; sheet.table.rows.len()],
        rounding: Rounding::Nearest,
        is_stated: false,
        are_means: false,
    };
    let mut any = false;
    for (group, rows) in &sheet.groups {
        let rates: Vec<(usize, PrintedRate)> = rows
            .iter()
            .filter_map(|row| Some((*row, FigureTable::printed_rate(series, *row)?)))
            .collect();
        let Some(whole) = most_frequent(rates.iter().map(|(_, rate)| rate.whole)) else {
            continue;
        };
        let alike: Vec<PrintedRate> = rates
            .iter()
            .map(|(_, rate)| *rate)
            .filter(|rate| rate.whole == whole)
            .collect();
        let Some(found) = recover_total(&alike) else {
            continue;
        };
        // In a column of win rates, rows that tie have half a win each.
        let is_tie = |rate: &PrintedRate| {
            rates.iter().filter(|(_, other)| other == rate).count() > 1
                && rate
                    .possible_counts(2 * found.total, found.rounding)
                    .is_some()
        };
        let is_count = |rate: &PrintedRate| {
            rate.possible_counts(found.total, found.rounding).is_some()
                || rate.is_trivial()
                || is_tie(rate)
        };
        let misfits: Vec<(usize, PrintedRate)> = rates
            .iter()
            .copied()
            .filter(|(_, rate)| !is_count(rate))
            .collect();
        let agree = rates.len() - misfits.len();
        // Rows with other numbers of digits may have other totals, too.
        if (agree as f64) < MIN_AGREE * rates.len() as f64 {
            continue;
        }
        any = true;
        report_another_total(sheet, series, rows, &found, findings);
        totals.rounding = found.rounding;
        for row in rows {
            totals.items[*row] = Some(found.total);
        }
        let column = if group.is_empty() {
            series.name.clone()
        } else {
            format!("{} of {group}", series.name)
        };
        checked.push(CheckedColumn {
            table: sheet.table.name.clone(),
            column,
            follows: recovered_text(&found),
            rows: rates.len() as u64,
            agree: agree as u64,
            recovered: Some(found.total),
            chance: Some(found.chance),
        });
        // Many misfits are rows of another data set, or figures that are no counts.
        let most = MAX_OUTLIERS.max(rates.len() / 20);
        let Some((row, rate)) = misfits.first().copied().filter(|_| misfits.len() <= most) else {
            continue;
        };
        let Some(printed) = series.values[row] else {
            continue;
        };
        let near = rate
            .neighbouring_counts(found.total, found.rounding)
            .map(|(_, near)| format_rate(near, series, printed));
        let others = match misfits.len() {
            1 => String::new(),
            2 => ", nor is 1 more".to_owned(),
            more => format!(", nor are {} more", more - 1),
        };
        let text = format!(
            "{} is no count out of {}, as {agree} other figures are{others}: another number of items, or a wrong digit; the nearest are {} and {}",
            format_rate(rate, series, printed),
            found.total,
            near[0],
            near[1]
        );
        let wrong: Vec<usize> = misfits.iter().map(|(row, _)| *row).collect();
        findings.push(sheet.finding_at(
            ClaimKind::RateAgainstColumn,
            Severity::NotEstablished,
            &wrong,
            series.place,
            near.to_vec(),
            text,
        ));
    }
    any.then_some(totals)
}

/// Says that the digits tell another number of items than the only column that states one.
fn report_another_total(
    sheet: &FigureTable<'_>,
    rate: &FigureColumn,
    rows: &[usize],
    found: &RecoveredTotal,
    findings: &mut Vec<ClaimFinding>,
) {
    const MIN_ROWS: usize = 4;
    let mut stated = sheet
        .series
        .iter()
        .filter(|series| series.role == ColumnRole::Total && series.are_whole);
    let (Some(total), None) = (stated.next(), stated.next()) else {
        return;
    };
    let is_stated = |row: &usize| {
        rate.values[*row].is_some() && FigureTable::whole_count(total, *row).is_some()
    };
    let rows: Vec<usize> = rows.iter().copied().filter(is_stated).collect();
    let totals: BTreeSet<u64> = rows
        .iter()
        .filter_map(|row| FigureTable::whole_count(total, *row))
        .collect();
    let Some(all) = totals
        .first()
        .copied()
        .filter(|all| totals.len() == 1 && *all > 0)
    else {
        return;
    };
    // Means of runs, and figures of a part, are of multiples and divisors.
    let is_kin = found.total.is_multiple_of(all) || all.is_multiple_of(found.total);
    // The counts may have told it already.
    let is_told = findings.iter().any(|told| {
        told.kind == ClaimKind::OtherDenominator
            && told.table == sheet.table.name
            && told.column == rate.name
    });
    if !rate.title.names_rate || is_kin || is_told || rows.len() < MIN_ROWS {
        return;
    }
    let text = format!(
        "the digits are those of {} items, not of the {all} of `{}`",
        found.total, total.name
    );
    let possible = vec![found.total.to_string()];
    findings.push(sheet.finding_at(
        ClaimKind::OtherDenominator,
        Severity::Contradictory,
        &rows,
        rate.place,
        possible,
        text,
    ));
}

fn recovered_text(found: &RecoveredTotal) -> String {
    let cut = match found.rounding {
        Rounding::Nearest => "",
        Rounding::Down => ", rounded down",
        Rounding::Up => ", rounded up",
    };
    format!("a count of {} items or of a multiple{cut}", found.total)
}

/// Returns the most frequent value, and among equally frequent ones the greatest.
pub(super) fn most_frequent(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut counts = std::collections::BTreeMap::<u64, usize>::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
        .into_iter()
        .max_by_key(|(value, count)| (*count, *value))
        .map(|(value, _)| value)
}

/// Reports rows whose number of items is not that of most rows.
pub(super) fn report_different_totals(sheet: &FigureTable<'_>, findings: &mut Vec<ClaimFinding>) {
    const MIN_ROWS: usize = 4;
    const MIN_ALIKE: f64 = 0.6;
    // Rows of different suites or categories have their own items.
    let is_divided = sheet
        .texts
        .iter()
        .any(|place| sheet.titles[*place].role == ColumnRole::Group && !sheet.is_constant(*place));
    if is_divided && sheet.groups.len() == 1 {
        return;
    }
    for series in sheet
        .series
        .iter()
        .filter(|series| series.role == ColumnRole::Total && series.are_whole)
    {
        for (_, rows) in &sheet.groups {
            let known: Vec<(usize, u64)> = rows
                .iter()
                .filter_map(|row| Some((*row, FigureTable::whole_count(series, *row)?)))
                .collect();
            let Some(usual) = most_frequent(known.iter().map(|(_, total)| *total)) else {
                continue;
            };
            let others: BTreeSet<u64> = known
                .iter()
                .map(|(_, total)| *total)
                .filter(|total| *total != usual)
                .collect();
            let alike = known.iter().filter(|(_, total)| *total == usual).count();
            if known.len() < MIN_ROWS || (alike as f64) < MIN_ALIKE * known.len() as f64 {
                continue;
            }
            for other in others {
                let rows: Vec<usize> = known
                    .iter()
                    .filter(|(_, total)| *total == other)
                    .map(|(row, _)| *row)
                    .collect();
                let text = format!(
                    "{other} items, where {alike} other rows have {usual}: their rates are not over the same items"
                );
                findings.push(sheet.finding_at(
                    ClaimKind::DifferentTotals,
                    Severity::NotEstablished,
                    &rows,
                    series.place,
                    vec![usual.to_string()],
                    text,
                ));
            }
        }
    }
}
