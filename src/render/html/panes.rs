//! Small drawings of one kind side by side, one per arm, on one axis from 0 to 100%: nights, repeated attempts, and curves of success.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::render::{format, nights};
use crate::views::{ArmHistory, Entry, LevelChange, Night, OverviewSuite, Series};

use super::arm_name::{ArmName, linked};
use super::plan::{Plan, SuitePlace};
use super::shell::Text;

/// Maximum number of nights in a pane, the newest.
const MOST_NIGHTS: usize = 60;
/// Maximum number of arms in a row of panes.
pub(super) const MOST_ARMS: usize = 5;

/// A row of panes.
pub(super) struct Panes {
    pub panes: Vec<Pane>,
    /// Labels below the left and the right end of each pane.
    pub ends: [String; 2],
}

/// One arm's drawing. Paths are in a square of 100 units.
pub(super) struct Pane {
    pub arm: ArmName,
    /// Description of the drawing.
    pub about: Text,
    /// The newest value, or the last point's.
    pub last: String,
    /// The change at the last change point, `76 → 53`, if there is one.
    pub change: Option<Text>,
    pub line: String,
    pub dashes: String,
    pub band: String,
    /// The stretch since the last change point: left end and width.
    pub shaded: Option<(String, String)>,
    pub points: Vec<Point>,
}

/// A night with its run, or an observed share without an address.
pub(super) struct Point {
    pub x: String,
    pub y: String,
    pub about: Text,
    pub href: String,
}

/// Formats a share as a percentage of a drawing's side.
pub(super) fn percent_of(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Writes an SVG path through points of the unit square.
pub(super) fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (number, (x, y)) in points.iter().enumerate() {
        let _ = write!(
            path,
            "{}{} {}",
            if number == 0 { 'M' } else { 'L' },
            percent_of(*x),
            percent_of(1.0 - y)
        );
    }
    path
}

/// Returns the newest nights with a pass rate.
fn rated(arm: &ArmHistory) -> Vec<&Night> {
    let rated: Vec<&Night> = arm
        .nights
        .iter()
        .filter(|night| night.pass_rate.is_some())
        .collect();
    rated[rated.len().saturating_sub(MOST_NIGHTS)..].to_vec()
}

/// Draws the nights of the first `most` arms of the board that have two or more. With `has_points`, each night links to its run.
pub(super) fn nights(
    suite: &OverviewSuite,
    place: &SuitePlace,
    most: usize,
    plan: &Plan,
    root: &str,
    has_points: bool,
) -> Option<Panes> {
    let history = suite.history.as_ref()?;
    let name = linked(&suite.board, place, plan, root);
    let arms = suite
        .board
        .entries
        .iter()
        .filter_map(|entry| history.arms.iter().find(|arm| arm.arm == entry.arm));
    let arms: Vec<&ArmHistory> = arms
        .filter(|arm| nights::rates(arm).len() > 1)
        .take(most)
        .collect();
    let dates = || {
        arms.iter()
            .flat_map(|arm| rated(arm))
            .map(|night| night.date)
    };
    let (first, last) = (dates().min()?, dates().max()?);
    let days = (last - first).num_days().max(1) as f64;
    let x = |night: chrono::NaiveDate| ((night - first).num_days() as f64 / days).clamp(0.0, 1.0);
    let mut runs = BTreeMap::<(&crate::views::Arm, chrono::NaiveDate), Vec<&str>>::new();
    for run in suite.runs.iter().filter(|_| has_points) {
        if let Some(time) = run.timestamp {
            runs.entry((&run.arm, time.date_naive()))
                .or_default()
                .push(&run.id);
        }
    }
    let pane = |arm: &ArmHistory| {
        let shown = rated(arm);
        let curve: Vec<(f64, f64)> = shown
            .iter()
            .filter_map(|night| Some((x(night.date), night.pass_rate.as_ref()?.value)))
            .collect();
        let ends: Vec<(f64, f64, f64)> = shown
            .iter()
            .filter_map(|night| {
                night
                    .pass_rate
                    .as_ref()?
                    .interval
                    .map(|ends| (x(night.date), ends.low, ends.high))
            })
            .collect();
        let around: Vec<(f64, f64)> = ends
            .iter()
            .map(|(x, _, high)| (*x, *high))
            .chain(ends.iter().rev().map(|(x, low, _)| (*x, *low)))
            .collect();
        let change: Option<&LevelChange> = arm
            .changes
            .iter()
            .rfind(|change| change.series == Series::PassRate && change.date >= first);
        let percent = |share: f64| format::fixed(share * 100.0, 0);
        let point = |night: &&Night| {
            let rate = night.pass_rate.as_ref().filter(|_| has_points)?;
            let [run] = runs.get(&(&arm.arm, night.date))?.as_slice() else {
                return None;
            };
            Some(Point {
                x: percent_of(x(night.date)),
                y: percent_of(1.0 - rate.value),
                about: Text::from(format!("{}: {}", night.date, format::estimate(rate))),
                href: format!("{root}{}", plan.run_path(run)?),
            })
        };
        let from_to = shown
            .first()
            .zip(shown.last())
            .and_then(|(first, last)| Some((first.pass_rate.as_ref()?, last.pass_rate.as_ref()?)));
        Pane {
            arm: name(&arm.arm),
            about: Text::from(from_to.map_or_else(String::new, |(first, last)| {
                format!(
                    "{} nights, from {} to {}",
                    shown.len(),
                    format::estimate(first),
                    format::estimate(last)
                )
            })),
            last: from_to.map_or_else(String::new, |(_, last)| format!("{}%", percent(last.value))),
            change: change.map(|change| {
                Text::from(format!(
                    "{} → {}",
                    percent(change.before),
                    percent(change.after)
                ))
            }),
            line: path(&curve),
            dashes: String::new(),
            band: if around.len() > 2 {
                format!("{}Z", path(&around))
            } else {
                String::new()
            },
            shaded: change
                .map(|change| (percent_of(x(change.date)), percent_of(1.0 - x(change.date)))),
            points: shown.iter().filter_map(point).collect(),
        }
    };
    let panes: Vec<Pane> = arms.iter().map(|arm| pane(arm)).collect();
    (!panes.is_empty()).then(|| Panes {
        panes,
        ends: [first, last].map(|date| date.to_string()),
    })
}

/// Draws the probability that all of k attempts pass, and that any passes, for the first arms of the board.
pub(super) fn attempts(
    suite: &OverviewSuite,
    place: &SuitePlace,
    plan: &Plan,
    root: &str,
) -> Option<Panes> {
    let name = linked(&suite.board, place, plan, root);
    let entries = || {
        suite
            .board
            .entries
            .iter()
            .filter(|entry| entry.reliability.len() > 1)
            .take(MOST_ARMS)
    };
    let most = entries()
        .filter_map(|entry| entry.reliability.last())
        .map(|last| last.k)
        .max()?;
    let x = |k: u64| (k.saturating_sub(1)) as f64 / (most.saturating_sub(1)).max(1) as f64;
    let pane = |entry: &Entry| {
        let curve = |value: fn(&crate::views::Reliability) -> f64| -> Vec<(f64, f64)> {
            let first = entry
                .pass_rate
                .as_ref()
                .filter(|_| entry.reliability.iter().all(|known| known.k > 1));
            let known = entry
                .reliability
                .iter()
                .map(|known| (x(known.k), value(known)));
            first
                .map(|rate| (0.0, rate.value))
                .into_iter()
                .chain(known)
                .collect()
        };
        let percent = |share: f64| format::fixed(share * 100.0, 0);
        let last = entry.reliability.last();
        let said = last.map_or_else(String::new, |last| {
            format!(
                "Of {} attempts all pass at {}% of items, any passes at {}%",
                last.k,
                percent(last.all_pass),
                percent(last.any_passes)
            )
        });
        Pane {
            arm: name(&entry.arm),
            about: Text::from(said),
            last: last.map_or_else(String::new, |last| {
                format!(
                    "all {}%, any {}%",
                    percent(last.all_pass),
                    percent(last.any_passes)
                )
            }),
            change: None,
            line: path(&curve(|known| known.all_pass)),
            dashes: path(&curve(|known| known.any_passes)),
            band: String::new(),
            shaded: None,
            points: Vec::new(),
        }
    };
    let panes: Vec<Pane> = entries().map(pane).collect();
    (!panes.is_empty()).then(|| Panes {
        panes,
        ends: ["k = 1".to_owned(), format!("k = {most}")],
    })
}
