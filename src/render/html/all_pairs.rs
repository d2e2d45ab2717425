//! All pairs of a suite's arms as a table: the lead of the row's arm over the column's arm. Needs no script.

use std::collections::BTreeMap;

use crate::render::{format, words};
use crate::views::{Arm, Discordance, OverviewSuite, Verdict};

use super::any_pair;
use super::plan::{Plan, SuitePlace};
use super::shell::Text;

/// Maximum number of arms with a row. The data have all.
const MOST_ARMS: usize = 48;
/// Maximum number of arms for which all pairs are linked. With more, only pairs with a rendered page are linked, so that the page keeps its
/// size budget.
const MOST_LINKED: usize = 26;
/// Difference from which on a cell has the darker of two shades.
const FAR: f64 = 0.1;
/// Maximum characters of an arm's name.
const LONGEST_NAME: usize = 60;

pub(super) struct AllPairs {
    pub rows: Vec<Row>,
    /// Numbers of the columns, from 1.
    pub heads: Vec<usize>,
    pub left_out: Option<String>,
    /// Address of the page that compares any two arms.
    pub any_pair: Option<String>,
}

pub(super) struct Row {
    pub number: usize,
    pub name: Text,
    pub href: String,
    pub segment: String,
    pub cells: Vec<Cell>,
}

/// The lead of the row's arm, in percentage points.
#[derive(Default)]
pub(super) struct Cell {
    pub class: &'static str,
    pub text: String,
    pub href: String,
    /// Names of both arms, if there is room.
    pub about: Text,
}

/// Lays the pairs out, or returns `None` with fewer than three arms or if no two arms share items.
pub(super) fn of_suite(suite: &OverviewSuite, place: &SuitePlace, plan: &Plan, root: &str) -> Option<AllPairs> {
    let of = suite.charts.disagreements.as_ref().filter(|of| of.arms.len() > 2 && !of.pairs.is_empty())?;
    let shown = of.arms.len().min(MOST_ARMS);
    let pairs: BTreeMap<(usize, usize), &Discordance> = of.pairs.iter().map(|pair| ((pair.first, pair.second), pair)).collect();
    let files: BTreeMap<(&Arm, &Arm), String> = suite
        .pairs
        .iter()
        .filter_map(|pair| match pair.arms.as_slice() {
            [first, second] => Some(((&first.arm, &second.arm), place.pair_path(pair)?)),
            _ => None,
        })
        .collect();
    let names = words::arm_labels(&of.arms);
    let any = any_pair::href(suite, place, root).filter(|_| shown <= MOST_LINKED);
    let cell = |row: usize, column: usize| {
        let Some(pair) = pairs.get(&(row.min(column), row.max(column))) else { return Cell::default() };
        let (one, other) = (&of.arms[row], &of.arms[column]);
        let file = files.get(&(one, other)).or_else(|| files.get(&(other, one))).map(|path| format!("{root}{path}"));
        let made = || any.as_ref().map(|any| format!("{any}?a={}&b={}", plan.arms.segment(one), plan.arms.segment(other)));
        let ahead = pair.difference.map(|found| if row < column { found } else { 0.0 - found });
        let (own, others) = if row < column { (pair.only_first, pair.only_second) } else { (pair.only_second, pair.only_first) };
        let about = any.as_ref().map(|_| {
            let [own, others, shared] = [own, others, pair.shared].map(format::integer);
            Text::from(format!("{} vs {}: {own} only it passed, {others} only the other, of {shared}", names[row], names[column]))
        });
        Cell {
            class: ahead.map_or("", |ahead| class(pair, ahead)),
            text: match ahead {
                None => "n/a".to_owned(),
                Some(0.0) => "0".to_owned(),
                Some(ahead) => format::signed(ahead * 100.0, usize::from(pair.shared >= 100 || ahead.abs() < 0.01)),
            },
            href: file.or_else(made).unwrap_or_default(),
            about: about.unwrap_or_default(),
        }
    };
    let row = |row: usize| Row {
        number: row + 1,
        name: Text::from(crate::domain::beginning(&names[row], LONGEST_NAME)),
        href: plan.arm_href(root, &of.arms[row]),
        segment: plan.arms.segment(&of.arms[row]),
        cells: (0..shown).map(|column| if row == column { Cell::default() } else { cell(row, column) }).collect(),
    };
    Some(AllPairs {
        rows: (0..shown).map(row).collect(),
        heads: (1..=shown).collect(),
        any_pair: any_pair::href(suite, place, root),
        left_out: (shown < of.arms.len())
            .then(|| format!("The leading {shown} of {} arms are listed; the data have all.", format::integer(of.arms.len() as u64))),
    })
}

fn class(pair: &Discordance, ahead: f64) -> &'static str {
    let is_decided = matches!(pair.verdict, Verdict::AWins | Verdict::BWins | Verdict::DeterministicDifference { .. });
    match (ahead > 0.0, ahead.abs() >= FAR, is_decided) {
        _ if ahead == 0.0 => "",
        (true, false, false) => "p1",
        (true, true, false) => "p2",
        (true, false, true) => "p1 win",
        (true, true, true) => "p2 win",
        (false, false, false) => "n1",
        (false, true, false) => "n2",
        (false, false, true) => "n1 win",
        (false, true, true) => "n2 win",
    }
}
