//! Cohorts of failures: why one arm lost items that another passed, as a table and as sentences.

use crate::domain::ItemStatus;
use crate::views::{Cohort, CohortCounts, Comparison, FailureCohorts, SharedBy};

use super::cell::{Datum, TableCell};
use super::reasons::reason_with_meaning;
use super::table::{ReportTable, TableColumn};
use super::{format, phrases};

/// Characters of a reason in a table or a sentence. Longer ones lose their middle.
const MAX_OF_A_REASON: usize = 110;

/// Characters of an item's name beside a cohort.
const MAX_OF_A_NAME: usize = 60;

/// One line of the table.
struct CohortRow<'a> {
    what: RowKind<'a>,
    counts: CohortCounts,
}

/// A cohort, or items that share nothing.
#[derive(Clone, Copy)]
enum RowKind<'a> {
    Cohort(&'a Cohort),
    /// The number of further cohorts.
    Smaller(u64),
    Alone,
    WithoutReason,
}

impl<'a> CohortRow<'a> {
    fn cohort(&self) -> Option<&'a Cohort> {
        match self.what {
            RowKind::Cohort(cohort) => Some(cohort),
            RowKind::Smaller(_) | RowKind::Alone | RowKind::WithoutReason => None,
        }
    }

    /// Says what the items share.
    fn shared(&self) -> String {
        match self.what {
            RowKind::Cohort(cohort) => shared_text(cohort),
            RowKind::Smaller(1) => "1 smaller group".to_owned(),
            RowKind::Smaller(groups) => {
                format!("{} smaller groups", format::format_integer(groups))
            }
            RowKind::Alone if self.counts.item_count() == 1 => {
                "1 other, with a reason of its own".to_owned()
            }
            RowKind::Alone => format!(
                "{} others, each with a reason of its own",
                format::format_integer(self.counts.item_count())
            ),
            RowKind::WithoutReason => format!(
                "{} without a recorded reason",
                format::format_integer(self.counts.item_count())
            ),
        }
    }

    /// Returns the name of what is shared, for programs.
    fn key(&self) -> &'static str {
        match self.what {
            RowKind::Cohort(cohort) => match cohort.by {
                SharedBy::Reason => "reason",
                SharedBy::Outcome => "outcome",
                SharedBy::Evaluator => "evaluator",
                SharedBy::Tool => "tool",
                SharedBy::Category => "category",
            },
            RowKind::Smaller(_) => "smaller_groups",
            RowKind::Alone => "alone",
            RowKind::WithoutReason => "without_reason",
        }
    }
}

/// Lays out what failed attempts share. `None` if the comparison does not say it.
pub fn cohort_table(comparison: &Comparison) -> Option<ReportTable> {
    let why = comparison.why.as_ref()?;
    let all = phrases::comparison_labels(comparison);
    let named = why.arms.iter().filter_map(|arm| all.get(*arm).cloned());
    let labels: Vec<String> = named.collect();
    let mut table = match labels.as_slice() {
        [arm] => {
            let all = phrases::count_with_noun(why.all.lost, why.of);
            ReportTable::for_rows("cohorts")
                .with_title(format!("{}: why {arm} failed {all}", comparison.suite))
        }
        _ => {
            let all = phrases::count_with_noun(why.all.item_count(), why.of);
            ReportTable::for_rows("cohorts").with_title(format!(
                "{}: why {} differ on {all}",
                comparison.suite,
                labels.join(" and ")
            ))
        }
    };
    table.lead.extend(lead_sentence(why, &labels));
    let rows = cohort_rows(why);
    add_columns_for_people(&mut table, why, &labels, &rows);
    table.notes.extend(descriptive_note(why));
    table.sheet = Some(Box::new(sheet(comparison, why, &rows)));
    Some(table)
}

/// Says which cohort is the largest: `9 of 14 questions that short lost: no answer tag.` `None` if there is no cohort.
pub fn lead_sentence(why: &FailureCohorts, labels: &[String]) -> Option<String> {
    why.cohorts
        .first()
        .map(|cohort| format!("{}.", cohort_sentence(why, cohort, labels)))
}

/// Describes a cohort by the items of the arm that lost more of them: `9 of 14 questions that short lost: no answer tag`. `labels` has a
/// name for each arm.
fn cohort_sentence(why: &FailureCohorts, cohort: &Cohort, labels: &[String]) -> String {
    let (lost, of, loser) = if cohort.counts.lost >= cohort.counts.won {
        (cohort.counts.lost, why.all.lost, labels.first())
    } else {
        (cohort.counts.won, why.all.won, labels.get(1))
    };
    let verb = if labels.len() == 1 { "failed" } else { "lost" };
    let items = phrases::singular_or_plural(of, why.of);
    let loser = loser.map_or("an arm", String::as_str);
    format!(
        "{} of {} {items} that {loser} {verb}: {}",
        format::format_integer(lost),
        format::format_integer(of),
        shared_text(cohort)
    )
}

/// Counts the items that the first arm lost and won: `14 questions lost, 3 won`.
pub fn lost_and_won(why: &FailureCohorts) -> String {
    let won = match why.all.won {
        0 => String::new(),
        won => format!(", {} won", format::format_integer(won)),
    };
    format!(
        "{} lost{won}",
        phrases::count_with_noun(why.all.lost, why.of)
    )
}

/// Lists the groups of items that the first arm lost, each with its part of the difference: `9 of 14 lost questions: no answer tag
/// (−4.5 pp [−8.2, −1.9])`. Lost items in no group are counted last.
pub fn lost_cohort_lines(why: &FailureCohorts) -> Vec<String> {
    let line = |row: CohortRow<'_>| {
        let lost = format::format_integer(row.counts.lost);
        let what = match row.what {
            RowKind::Cohort(cohort) => shared_text(cohort),
            RowKind::Smaller(_) => "in smaller groups".to_owned(),
            RowKind::Alone if row.counts.lost == 1 => "a reason of its own".to_owned(),
            RowKind::Alone => "each with a reason of its own".to_owned(),
            RowKind::WithoutReason => "without a recorded reason".to_owned(),
        };
        let won = match row.counts.won {
            0 => String::new(),
            won => format!(", {} won", format::format_integer(won)),
        };
        let share = share_cell(why, row.counts, row.cohort()).single_line();
        format!("{lost} of {}: {what} ({share}{won})", lost_of(why))
    };
    let is_lost = |row: &CohortRow<'_>| row.counts.lost > 0;
    cohort_rows(why)
        .into_iter()
        .filter(is_lost)
        .map(line)
        .collect()
}

fn lost_of(why: &FailureCohorts) -> String {
    format!(
        "{} lost {}",
        format::format_integer(why.all.lost),
        phrases::singular_or_plural(why.all.lost, why.of)
    )
}

/// Says that the intervals decide nothing, if several cohorts have one.
pub fn descriptive_note(why: &FailureCohorts) -> Option<String> {
    let intervals = why
        .cohorts
        .iter()
        .filter(|cohort| cohort.interval.is_some())
        .count();
    (intervals > 1).then(|| {
        "evalreport formed these groups from the results: each interval is of one group alone, and decides nothing."
            .to_owned()
    })
}

/// Says what a cohort's failed attempts share.
fn shared_text(cohort: &Cohort) -> String {
    let shared = cohort.shared.as_str();
    let name = without_middle(shared, MAX_OF_A_REASON);
    match cohort.by {
        SharedBy::Reason => {
            let known = reason_with_meaning(shared);
            if known != shared {
                return without_middle(&known, MAX_OF_A_REASON);
            }
            // Of messages that differ in numbers or names, one is an example.
            let is_same = cohort.pattern.as_deref() == Some(shared.to_lowercase().as_str());
            let like = if is_same { "" } else { "like " };
            format!("{like}“{}”", without_middle(shared, MAX_OF_A_REASON))
        }
        SharedBy::Outcome => match ItemStatus::from_name(shared) {
            Some(ItemStatus::Limit) => "time or budget ran out".to_owned(),
            Some(ItemStatus::Error) => "the agent crashed".to_owned(),
            _ => format!("outcome {name}"),
        },
        SharedBy::Evaluator => format!("not passed by evaluator {name}"),
        SharedBy::Tool => format!("only failed attempts called tool {name}"),
        SharedBy::Category => format!("category {name}"),
    }
}

/// Formats a part of the difference in percentage points, with its sign.
fn points(why: &FailureCohorts, share: f64) -> String {
    // An exact zero has no sign.
    let points = share * 100.0;
    let sign = if points > 0.0 {
        "+"
    } else if points < 0.0 {
        "−"
    } else {
        ""
    };
    let decimals = format::percent_decimals(why.items);
    format!("{sign}{}", format::nonzero_decimals(points.abs(), decimals))
}

fn share_cell(why: &FailureCohorts, counts: CohortCounts, cohort: Option<&Cohort>) -> TableCell {
    TableCell::for_people(format!("{} pp", points(why, counts.share)))
        .with_interval(cohort.and_then(|cohort| cohort.interval), |end| {
            points(why, end)
        })
}

/// Returns the lines of the table: the cohorts, then everything that is in none.
fn cohort_rows(why: &FailureCohorts) -> Vec<CohortRow<'_>> {
    let rests = [
        (RowKind::Smaller(why.more_cohorts), why.in_more_cohorts),
        (RowKind::Alone, why.alone),
        (RowKind::WithoutReason, why.without_reason),
    ];
    let cohorts = why
        .cohorts
        .iter()
        .map(|cohort| (RowKind::Cohort(cohort), cohort.counts));
    cohorts
        .chain(rests)
        .filter(|(_, counts)| counts.item_count() > 0)
        .map(|(what, counts)| CohortRow { what, counts })
        .collect()
}

fn add_columns_for_people(
    table: &mut ReportTable,
    why: &FailureCohorts,
    labels: &[String],
    rows: &[CohortRow<'_>],
) {
    if rows.is_empty() {
        table.notes.push(match labels {
            [arm] => format!(
                "{arm} failed none of {}.",
                phrases::count_with_noun(why.items, why.of)
            ),
            _ => format!(
                "The arms do not differ on any of {}.",
                phrases::count_with_noun(why.items, why.of)
            ),
        });
        return;
    }
    let each = |cell: &dyn Fn(&CohortRow<'_>) -> TableCell| {
        rows.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("What failed attempts share"),
        each(&|row| TableCell::words(row.shared())),
    );
    let of = |count: u64, all: u64| {
        let count_of_all = match all {
            0 => "0".to_owned(),
            all => format!(
                "{} of {}",
                format::format_integer(count),
                format::format_integer(all)
            ),
        };
        TableCell::for_people(count_of_all).with_data([Datum::from(count)])
    };
    if let [_] = labels {
        table.add_filled_column(
            TableColumn::number("Failed"),
            each(&|row| of(row.counts.lost, why.all.lost)),
        );
    } else {
        for (place, label) in labels.iter().enumerate() {
            let count = |counts: CohortCounts| if place == 0 { counts.lost } else { counts.won };
            table.add_filled_column(
                TableColumn::number(format!("Lost by {label}")),
                each(&|row| of(count(row.counts), count(why.all))),
            );
        }
    }
    let has_interval = why.cohorts.iter().any(|cohort| cohort.interval.is_some());
    let share = if labels.len() == 1 {
        "Part of pass rate"
    } else {
        "Part of difference"
    };
    let share = if has_interval {
        format!("{share} [95% CI]")
    } else {
        share.to_owned()
    };
    table.add_filled_column(
        TableColumn::number(share),
        each(&|row| {
            share_cell(why, row.counts, row.cohort()).with_data([Datum::from(row.counts.share)])
        }),
    );
    table.add_filled_column(
        TableColumn::words("Such as").rank(1),
        each(&|row| {
            let items = row.cohort().map_or(&[][..], |cohort| &cohort.items);
            let names: Vec<String> = items
                .iter()
                .map(|item| without_middle(item, MAX_OF_A_NAME))
                .collect();
            TableCell::words(names.join(", "))
        }),
    );
}

/// Returns the table for programs: a row for each cohort, then for the items in none.
fn sheet(comparison: &Comparison, why: &FailureCohorts, rows: &[CohortRow<'_>]) -> ReportTable {
    let mut table = ReportTable::for_rows("cohorts");
    let keys = [
        "suite",
        "by",
        "shared",
        "pattern",
        "lost",
        "won",
        "share",
        "ci95_low",
        "ci95_high",
        "items",
    ];
    let row = |row: &CohortRow<'_>| {
        let [low, high] = Datum::interval_ends(row.cohort().and_then(|cohort| cohort.interval));
        TableCell::for_programs([
            comparison.suite.as_str().into(),
            row.key().into(),
            row.cohort().map(|cohort| cohort.shared.as_str()).into(),
            row.cohort()
                .and_then(|cohort| cohort.pattern.as_deref())
                .into(),
            row.counts.lost.into(),
            row.counts.won.into(),
            row.counts.share.into(),
            low,
            high,
            why.items.into(),
        ])
    };
    table.add_filled_column(TableColumn::for_programs(keys), rows.iter().map(row));
    table
}

/// Cuts the middle of a text that is longer than `most` characters: both ends of a message may say what went wrong.
fn without_middle(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let head: String = characters[..half].iter().collect();
    let tail: String = characters[characters.len() - (most - half)..]
        .iter()
        .collect();
    format!("{} … {}", head.trim_end(), tail.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_like_reasons() {
        let long = "x".repeat(5_000);
        for by in [
            SharedBy::Reason,
            SharedBy::Outcome,
            SharedBy::Evaluator,
            SharedBy::Tool,
            SharedBy::Category,
        ] {
            let cohort = Cohort {
                by,
                shared: long.clone(),
                pattern: None,
                counts: CohortCounts::default(),
                interval: None,
                items: Vec::new(),
            };
            assert!(
                shared_text(&cohort).chars().count() < 2 * MAX_OF_A_REASON,
                "{by:?}"
            );
        }
    }

    #[test]
    fn long_reasons_lose_their_middle() {
        assert_eq!(without_middle("short", 10), "short");
        assert_eq!(without_middle("0123456789abcdef", 10), "01234 … bcdef");
        assert_eq!(without_middle("ééééé", 4), "éé … éé");
    }
}
