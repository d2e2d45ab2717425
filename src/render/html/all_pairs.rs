//! All pairs of a suite's arms as a table: the lead of the row's arm over the column's arm. Needs no script.

use std::collections::BTreeMap;

use crate::render::{format, phrases};
use crate::views::{Arm, OverviewSuite, PairEvidence, PairMethod, PairVerdict, Scale};

use super::any_pair;
use super::routes::tone_class;
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::Text;

/// Maximum number of arms with a row. The data have all.
const MAX_ARMS: usize = 80;
/// Maximum number of arms for which all pairs are linked and titled. With more, only pairs with a rendered page are linked, so that the page
/// keeps its size budget.
const MAX_LINKED: usize = 26;
/// Maximum number of arms for which both halves of the table are drawn. With more, only that above the diagonal is: the other repeats it.
const MAX_WHOLE: usize = 48;
/// Differences from which on a cell has the next darker shade.
const SHADE_THRESHOLDS: [f64; 4] = [0.025, 0.075, 0.15, 0.3];
/// Maximum characters of an arm's name.
const MAX_NAME: usize = 60;

pub(super) struct AllPairs {
    pub rows: Vec<PairTableRow>,
    pub left_out: Option<String>,
    /// Address of the page that compares any two arms.
    pub any_pair: Option<String>,
}

pub(super) struct PairTableRow {
    /// Number of the row and of its column, from 1.
    pub number: usize,
    pub name: Text,
    pub tone: &'static str,
    pub href: String,
    pub segment: String,
    /// Number of cells below the diagonal that are not drawn.
    pub skipped: usize,
    pub cells: Vec<PairTableCell>,
}

/// The lead of the row's arm, in percentage points.
#[derive(Default)]
pub(super) struct PairTableCell {
    pub class: String,
    pub text: String,
    pub href: String,
    /// Names of both arms, if there is room.
    pub about: Text,
}

/// Lays the pairs out, or returns `None` with fewer than three arms or if no two arms can be compared.
pub(super) fn lay_out_pairs(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    root: &str,
) -> Option<AllPairs> {
    let of = suite
        .pair_table
        .as_ref()
        .filter(|of| of.pairs.iter().any(|pair| pair.evidence.is_some()))?;
    let shown = of.arms.len().min(MAX_ARMS);
    let files: BTreeMap<(&Arm, &Arm), String> = suite
        .pairs
        .iter()
        .filter_map(|pair| match pair.arms.as_slice() {
            // Pages of pairs are in the same folder.
            [first, second] => Some((
                (&first.arm, &second.arm),
                place.pair_path(pair)?.rsplit('/').next()?.to_owned(),
            )),
            _ => None,
        })
        .collect();
    let names = phrases::arm_labels(&suite.board.suite, &of.arms);
    let any = any_pair::page_href(suite, place, "")
        .and_then(|path| Some(path.rsplit('/').next()?.to_owned()));
    let made = any.as_ref().filter(|_| shown <= MAX_LINKED);
    let cell = |row: usize, column: usize| {
        let Some((pair, is_first)) = of.pair_between(row, column) else {
            return PairTableCell::default();
        };
        let (one, other) = (&of.arms[row], &of.arms[column]);
        let file = files
            .get(&(one, other))
            .or_else(|| files.get(&(other, one)))
            .cloned();
        let made = || {
            made.map(|any| {
                format!(
                    "{any}?a={}&b={}",
                    plan.arms.segment(one),
                    plan.arms.segment(other)
                )
            })
        };
        let seen = pair.evidence.as_ref().map(|evidence| {
            if is_first {
                evidence.clone()
            } else {
                evidence.swap_arms()
            }
        });
        let found = seen
            .as_ref()
            .and_then(|seen| seen.difference)
            .filter(|found| found.scale == Scale::Share);
        let ahead = found
            .map(|found| found.value)
            .filter(|_| !matches!(pair.way, PairMethod::NotComparable(_)));
        let n = seen.as_ref().map_or(0, PairEvidence::unit_count);
        PairTableCell {
            class: seen
                .as_ref()
                .zip(ahead)
                .map_or_else(String::new, |(seen, ahead)| shade_class(seen, ahead)),
            text: match ahead {
                None => "n/a".to_owned(),
                Some(0.0) => "0".to_owned(),
                Some(ahead) => format::signed_number(
                    ahead * 100.0,
                    usize::from(n >= 100 || ahead.abs() < 0.01),
                ),
            },
            href: file.or_else(made).unwrap_or_default(),
            about: if shown <= MAX_LINKED {
                Text::from(describe_pair(seen.as_ref(), &names[row], &names[column]))
            } else {
                Text::default()
            },
        }
    };
    let skipped = |row: usize| if shown > MAX_WHOLE { row } else { 0 };
    let row = |row: usize| PairTableRow {
        number: row + 1,
        name: Text::from(crate::domain::shorten_to(&names[row], MAX_NAME)),
        tone: tone_class(place.arm_colour(&of.arms[row])),
        href: plan.arm_href(root, &of.arms[row]),
        segment: plan.arms.segment(&of.arms[row]),
        skipped: skipped(row),
        cells: (skipped(row)..shown)
            .map(|column| {
                if row == column {
                    PairTableCell::default()
                } else {
                    cell(row, column)
                }
            })
            .collect(),
    };
    Some(AllPairs {
        rows: (0..shown).map(row).collect(),
        any_pair: any,
        left_out: (shown < of.arms.len()).then(|| {
            format!(
                "The leading {shown} of {} arms are listed; the data have all.",
                format::format_integer(of.arms.len() as u64)
            )
        }),
    })
}

fn describe_pair(seen: Option<&PairEvidence>, one: &str, other: &str) -> String {
    let record = seen
        .and_then(|seen| seen.record)
        .map_or_else(String::new, |record| {
            let [won, lost, all] = [
                record.won,
                record.lost,
                record.won + record.lost + record.same,
            ]
            .map(format::format_integer);
            format!(": better on {won}, worse on {lost}, of {all}")
        });
    format!("{one} vs {other}{record}")
}

/// Returns the shade: `p` if the row's arm leads, `n` if it is behind, with a number for the size. A significant difference is bold.
fn shade_class(pair: &PairEvidence, ahead: f64) -> String {
    if ahead == 0.0 {
        return String::new();
    }
    let shade = 1 + SHADE_THRESHOLDS
        .iter()
        .filter(|from| ahead.abs() >= **from)
        .count();
    let is_decided = matches!(
        pair.verdict,
        PairVerdict::AWins | PairVerdict::BWins | PairVerdict::DeterministicDifference { .. }
    );
    format!(
        "{}{shade}{}",
        if ahead > 0.0 { "p" } else { "n" },
        if is_decided { " win" } else { "" }
    )
}
