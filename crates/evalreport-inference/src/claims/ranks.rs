//! Stated ranks against the figures that they follow.

use super::claim_table::{FigureColumn, FigureTable};
use super::column_roles::ColumnRole;
use super::composite_columns::CompositeColumn;
use super::finding::{CheckedColumn, ClaimFinding, ClaimKind, Severity};

const MIN_ROWS: usize = 5;
/// Two rows whose ranks were exchanged.
const EXCHANGED_ROWS: usize = 2;
/// Longer lists are not compared pair by pair.
const MAX_ROWS: usize = 2000;
/// Share of the rows that may be out of order, if more than one is.
const MAX_WRONG: f64 = 0.05;
/// Neighbours that lie closer than a pair out of order and are in order. If the ranks followed another figure that is like this one, each would
/// be in order about half of the time.
const MIN_CLOSER: usize = 10;

/// A row with its rank and the figure that may decide it, greater is better.
#[derive(Clone, Copy)]
struct RankedRow {
    row: usize,
    rank: i64,
    value: f64,
    /// The most that digits which are not printed move the figure.
    slack: f64,
}

/// Rows in the order of their ranks, and those out of it, each with the row that it is furthest from.
type OrderedRows = (Vec<RankedRow>, Vec<(RankedRow, RankedRow)>);

/// What ranks may follow.
struct RankBasis {
    name: String,
    /// By row, with the most that digits which are not printed move it.
    values: Vec<Option<(f64, f64)>>,
    /// The title of the ranks names it, or the table has no other figure.
    is_named: bool,
    /// Ranks of boards follow it often enough to accuse those that do not.
    is_usual: bool,
}

/// Checks each column of ranks. `means` are the columns that are means of others.
pub(super) fn check_ranks(
    sheet: &FigureTable<'_>,
    means: &[CompositeColumn],
    findings: &mut Vec<ClaimFinding>,
    checked: &mut Vec<CheckedColumn>,
) {
    for ranks in sheet
        .series
        .iter()
        .filter(|series| series.role == ColumnRole::Rank && series.are_whole)
    {
        let orders = rank_bases(sheet, ranks, means);
        for (group, rows) in &sheet.groups {
            let ranked = |order: &RankBasis| -> Vec<RankedRow> {
                let one = |row: &usize| {
                    let (rank, (value, slack)) = (ranks.values[*row]?.units, order.values[*row]?);
                    Some(RankedRow {
                        row: *row,
                        rank,
                        value,
                        slack,
                    })
                };
                rows.iter().filter_map(one).collect()
            };
            let mut best: Option<(&RankBasis, OrderedRows)> = None;
            for order in &orders {
                let known = ranked(order);
                if known.len() > MAX_ROWS {
                    continue;
                }
                let Some((kept, wrong)) = take_out_discordant(known) else {
                    continue;
                };
                if kept.len() + wrong.len() < MIN_ROWS {
                    continue;
                }
                let is_better = best
                    .as_ref()
                    .is_none_or(|(_, (_, known))| wrong.len() < known.len());
                if is_better && (wrong.is_empty() || is_accused(order, &kept, &wrong)) {
                    best = Some((order, (kept, wrong)));
                }
            }
            let Some((order, (kept, wrong))) = best else {
                continue;
            };
            let all = kept.len() + wrong.len();
            checked.push(CheckedColumn {
                table: sheet.table.name.clone(),
                column: if group.is_empty() {
                    ranks.name.clone()
                } else {
                    format!("{} of {group}", ranks.name)
                },
                follows: format!("the order of {}", order.name),
                rows: all as u64,
                agree: kept.len() as u64,
                recovered: None,
                chance: None,
            });
            for (row, other) in wrong {
                findings.push(rank_finding(sheet, ranks, order, row, other));
            }
        }
    }
}

fn rank_finding(
    sheet: &FigureTable<'_>,
    ranks: &FigureColumn,
    order: &RankBasis,
    row: RankedRow,
    other: RankedRow,
) -> ClaimFinding {
    let (ahead, behind) = if row.rank <= other.rank {
        (row, other)
    } else {
        (other, row)
    };
    let text = if ahead.rank == behind.rank {
        format!(
            "`{}` and `{}` share rank {}, but differ in {}",
            sheet.row_name(ahead.row),
            sheet.row_name(behind.row),
            ahead.rank,
            order.name
        )
    } else {
        format!(
            "rank {} of `{}` is before rank {} of `{}`, which is better by {}",
            ahead.rank,
            sheet.row_name(ahead.row),
            behind.rank,
            sheet.row_name(behind.row),
            order.name
        )
    };
    sheet.finding_at(
        ClaimKind::RankAgainstFigures,
        Severity::Contradictory,
        &[row.row, other.row],
        ranks.place,
        Vec::new(),
        text,
    )
}

/// Returns whether two rows are in the wrong order.
fn is_discordant(one: &RankedRow, other: &RankedRow) -> bool {
    let (lead, slack) = (
        one.value - other.value,
        one.slack + other.slack + f64::EPSILON,
    );
    match one.rank.cmp(&other.rank) {
        std::cmp::Ordering::Less => lead < -slack,
        std::cmp::Ordering::Greater => lead > slack,
        std::cmp::Ordering::Equal => lead.abs() > slack,
    }
}

/// Takes out the rows that are out of order, worst first, each with the row that it is furthest from. `None` if too many are.
fn take_out_discordant(mut rows: Vec<RankedRow>) -> Option<OrderedRows> {
    let most = most_wrong(rows.len());
    let against = |one: &RankedRow| {
        rows.iter()
            .filter(|other| is_discordant(one, other))
            .count()
    };
    let mut counts = Vec::with_capacity(rows.len());
    for row in &rows {
        counts.push(against(row));
        // A row that is out of order disagrees with each other row at most.
        if counts.iter().sum::<usize>() > 2 * most * rows.len() {
            return None;
        }
    }
    let mut wrong: Vec<(RankedRow, RankedRow)> = Vec::new();
    loop {
        let distance = |one: &RankedRow, other: &RankedRow| (one.value - other.value).abs();
        let furthest = |row: &RankedRow| {
            let others = rows.iter().filter(|other| is_discordant(row, other));
            others
                .copied()
                .max_by(|left, right| distance(row, left).total_cmp(&distance(row, right)))
        };
        let gap = |place: usize| {
            furthest(&rows[place]).map_or(0.0, |other| distance(&rows[place], &other))
        };
        let Some(count) = counts.iter().copied().max().filter(|count| *count > 0) else {
            return Some((rows, wrong));
        };
        if wrong.len() == most {
            return None;
        }
        let equal = (0..rows.len()).filter(|place| counts[*place] == count);
        let worst = equal.max_by(|left, right| gap(*left).total_cmp(&gap(*right)))?;
        let row = rows[worst];
        wrong.extend(furthest(&row).map(|other| (row, other)));
        rows.remove(worst);
        counts.remove(worst);
        rows.iter()
            .zip(&mut counts)
            .filter(|(other, _)| is_discordant(&row, other))
            .for_each(|(_, count)| *count -= 1);
    }
}

/// Returns the number of rows that may be out of order.
fn most_wrong(rows: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count"
    )]
    let share = (rows as f64 * MAX_WRONG) as usize;
    share.max(EXCHANGED_ROWS)
}

/// Returns whether the ranks follow this order closely enough to accuse the rows that do not.
fn is_accused(order: &RankBasis, kept: &[RankedRow], wrong: &[(RankedRow, RankedRow)]) -> bool {
    if kept.len() < MIN_ROWS {
        return false;
    }
    if order.is_named {
        return true;
    }
    let mut sorted = kept.to_vec();
    sorted.sort_by_key(|row| row.rank);
    let gaps: Vec<f64> = sorted
        .windows(2)
        .map(|pair| (pair[0].value - pair[1].value).abs())
        .filter(|gap| *gap > 0.0)
        .collect();
    let is_shown = |(row, other): &(RankedRow, RankedRow)| {
        let gap = (row.value - other.value).abs();
        gaps.iter().filter(|closer| **closer < gap).count() >= MIN_CLOSER
    };
    order.is_usual && wrong.iter().all(is_shown)
}

fn rank_bases(
    sheet: &FigureTable<'_>,
    ranks: &FigureColumn,
    means: &[CompositeColumn],
) -> Vec<RankBasis> {
    let is_borda = ranks.title.words.iter().any(|word| word == "borda");
    let about: Vec<&String> = ranks
        .title
        .words
        .iter()
        .filter(|word| !matches!(word.as_str(), "rank" | "ranking" | "#" | "by"))
        .collect();
    let is_figure = |series: &&FigureColumn| {
        !matches!(
            series.role,
            ColumnRole::Rank | ColumnRole::Low | ColumnRole::High | ColumnRole::HalfWidth
        ) && series.part_of.is_none()
    };
    let figures: Vec<&FigureColumn> = sheet.series.iter().filter(is_figure).collect();
    let results = figures
        .iter()
        .filter(|series| {
            matches!(
                series.role,
                ColumnRole::Rate | ColumnRole::Unknown | ColumnRole::Passed
            )
        })
        .count();
    let mut found = Vec::new();
    for mean in means {
        let name = format!("the Borda count of {} columns", mean.parts.len());
        let values = borda_counts(sheet, &mean.parts);
        found.push(RankBasis {
            name,
            values,
            is_named: false,
            is_usual: is_borda,
        });
    }
    for series in figures {
        let is_result = matches!(
            series.role,
            ColumnRole::Rate | ColumnRole::Unknown | ColumnRole::Passed
        );
        let names_it =
            !about.is_empty() && about.iter().all(|word| series.title.words.contains(word));
        for is_lower_better in [false, true] {
            let sign = if is_lower_better { -1.0 } else { 1.0 };
            let is_its_way = is_lower_better == series.title.is_lower_better;
            found.push(RankBasis {
                name: format!("`{}`", series.name),
                values: series
                    .values
                    .iter()
                    .map(|value| value.map(|value| (sign * value.value(), 0.0)))
                    .collect(),
                is_named: is_its_way
                    && is_result
                    && (names_it || (results == 1 && about.is_empty())),
                is_usual: is_its_way
                    && is_result
                    && !is_borda
                    && about.is_empty()
                    && (series.title.is_average || series.title.names_rate),
            });
        }
    }
    found
}

/// Returns the Borda counts of the rows: by column, the number of rows that a row is better than. Rows that are printed alike are half better,
/// give or take a half.
fn borda_counts(sheet: &FigureTable<'_>, parts: &[usize]) -> Vec<Option<(f64, f64)>> {
    let mut counts: Vec<Option<(f64, f64)>> = vec![None; sheet.table.rows.len()];
    for part in parts {
        let values = &sheet.series[*part].values;
        let mut sorted: Vec<f64> = sheet
            .rows
            .iter()
            .filter_map(|row| values[*row])
            .map(super::figure::PrintedFigure::value)
            .collect();
        sorted.sort_by(f64::total_cmp);
        for row in &sheet.rows {
            let Some(own) = values[*row].map(super::figure::PrintedFigure::value) else {
                continue;
            };
            let (below, up_to) = (
                sorted.partition_point(|value| *value < own),
                sorted.partition_point(|value| *value <= own),
            );
            let half = (up_to - below - 1) as f64 / 2.0;
            let (count, slack) = counts[*row].get_or_insert((0.0, 0.0));
            (*count, *slack) = (*count + below as f64 + half, *slack + half);
        }
    }
    counts
}
