//! Rate over cost per solved item beside a table. Arms on the Pareto front are named; the others show their names on hover or focus.

use crate::domain::Unit;
use crate::render::{format, words};
use crate::views::{OverviewSuite, ParetoPoint};

use super::arm_name::of_board;
use super::arms::{Tick, axis};
use super::plan::SuitePlace;
use super::shell::Text;
use super::strip::{self, Axis, LogAxis};

/// Number of arms below which all are named.
const NAME_ALL: usize = 12;
/// Size of the drawing for placing names, in pixels. It may be displayed wider.
const WIDTH: f64 = 236.0;
const HEIGHT: f64 = 300.0;
/// Approximate width of a letter, and height of a line, in pixels.
const LETTER: f64 = 6.6;
const LINE: f64 = 14.0;
/// Letters of a name, and of its shorter forms if there is no room for it.
const LENGTHS: [usize; 4] = [28, 20, 16, 13];
/// Rank of the arms that are named last.
const OTHERS: usize = 3;
/// Maximum number of points besides those on the front, so that a page keeps its size budget.
const MOST: usize = 100;

pub(super) struct Frontier {
    pub about: Text,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    /// Start and end of each line, in percent.
    pub steps: Vec<[String; 4]>,
    pub points: Vec<Point>,
    /// Arms that are not drawn. Empty if all are.
    pub left_out: Text,
}

pub(super) struct Point {
    /// The arm's index on the board.
    pub place: usize,
    pub about: Text,
    pub tone: &'static str,
    pub x: String,
    pub y: String,
    /// The interval of the rate.
    pub ends: Option<(String, String)>,
    pub is_on: bool,
    pub name: Name,
}

/// A name beside its point, shortened if there is no room, and whether it is always shown.
pub(super) struct Name {
    pub text: Text,
    pub anchor: &'static str,
    pub dx: i32,
    pub dy: i32,
    pub is_shown: bool,
}

/// An arm with both figures.
struct Priced<'a> {
    point: &'a ParetoPoint,
    /// Cost per solved item, as in the table beside the drawing.
    usd: f64,
    /// Whether no arm has a higher rate at a lower cost.
    is_on: bool,
}

/// Draws the arms that have both figures. Returns `None` with fewer than two.
pub(super) fn of_suite(suite: &OverviewSuite, place: &SuitePlace) -> Option<Frontier> {
    let all = priced(suite)?;
    let leader = suite.leader();
    let points: Vec<&Priced<'_>> = all
        .iter()
        .enumerate()
        .filter(|(at, priced)| *at < MOST || priced.is_on || Some(&priced.point.arm) == leader)
        .map(|(_, priced)| priced)
        .collect();
    if points.len() < 2 {
        return None;
    }
    let y = axis(points.iter().map(|priced| &priced.point.pass_rate), true)?;
    let x = LogAxis::around(&points.iter().map(|priced| priced.usd).collect::<Vec<f64>>())?;
    let name = of_board(&suite.board, place);
    let plain = words::names_on(&suite.board);
    let place_of = |priced: &Priced<'_>| {
        [
            x.share(priced.usd) * WIDTH,
            (1.0 - y.share(priced.point.pass_rate.value)) * HEIGHT,
        ]
    };
    // Names are placed by rank: the leader, the front, the baseline, then all others.
    let rank = |priced: &Priced<'_>| {
        if Some(&priced.point.arm) == leader {
            0
        } else if priced.is_on {
            1
        } else if suite.baseline.as_ref() == Some(&priced.point.arm.approach) {
            2
        } else {
            OTHERS
        }
    };
    let dots: Vec<[f64; 4]> = points
        .iter()
        .map(|priced| place_of(priced))
        .map(|[left, top]| [left - 5.0, top - 5.0, left + 5.0, top + 5.0])
        .collect();
    let mut taken = Vec::new();
    let mut names: Vec<Option<Name>> = points.iter().map(|_| None).collect();
    for turn in 0..=OTHERS {
        for (priced, name) in points
            .iter()
            .zip(&mut names)
            .filter(|(priced, _)| rank(priced) == turn)
        {
            let wanted = if turn < OTHERS {
                Wanted::Always
            } else if points.len() < NAME_ALL {
                Wanted::IfThereIsRoom
            } else {
                Wanted::No
            };
            *name = Some(beside(
                place_of(priced),
                &plain(&priced.point.arm),
                wanted,
                &dots,
                &mut taken,
            ));
        }
    }
    let drawn = points
        .iter()
        .zip(names)
        .filter_map(|(priced, name)| Some((priced, name?)))
        .map(|(priced, label)| {
            let point = priced.point;
            let ends = |share: f64| strip::percent(1.0 - y.share(share));
            Point {
                place: suite
                    .board
                    .entries
                    .iter()
                    .position(|entry| entry.arm == point.arm)
                    .unwrap_or_default(),
                about: Text::from(about(priced, &plain(&point.arm))),
                tone: name(&point.arm).tone,
                x: strip::percent(x.share(priced.usd)),
                y: ends(point.pass_rate.value),
                ends: point
                    .pass_rate
                    .interval
                    .map(|interval| (ends(interval.low), ends(interval.high))),
                is_on: priced.is_on,
                name: label,
            }
        });
    Some(Frontier {
        points: drawn.collect(),
        about: Text::from(said(&points, &plain)),
        x_ticks: x
            .ticks()
            .into_iter()
            .map(|tick| Tick {
                x: strip::percent(x.share(tick)),
                label: dollars(tick),
                anchor: "middle",
            })
            .collect(),
        y_ticks: y
            .ticks()
            .into_iter()
            .map(|tick| Tick {
                x: strip::percent(1.0 - y.share(tick)),
                label: share(tick),
                anchor: "end",
            })
            .collect(),
        steps: steps(&points, x, y),
        left_out: Text::from(left_out(suite.board.entries.len(), all.len(), points.len())),
    })
}

/// Returns the arms whose rate and cost per solved item are known, best rate first. A cost known in part dominates nothing.
fn priced(suite: &OverviewSuite) -> Option<Vec<Priced<'_>>> {
    let of = suite.charts.pareto.as_ref()?;
    let cost = |point: &ParetoPoint| {
        let entry = suite
            .board
            .entries
            .iter()
            .find(|entry| entry.arm == point.arm)?;
        entry.cost_per_solved_usd.filter(|usd| *usd > 0.0)
    };
    let known: Vec<(&ParetoPoint, f64)> = of
        .points
        .iter()
        .filter_map(|point| Some((point, cost(point)?)))
        .collect();
    let beats = |(other, price): &(&ParetoPoint, f64), point: &ParetoPoint, usd: f64| {
        let (rate, own) = (other.pass_rate.value, point.pass_rate.value);
        !other.is_lower_bound && rate >= own && *price <= usd && (rate > own || *price < usd)
    };
    let is_on = |point: &ParetoPoint, usd: f64| {
        !point.is_lower_bound && !known.iter().any(|other| beats(other, point, usd))
    };
    Some(
        known
            .iter()
            .map(|(point, usd)| Priced {
                point,
                usd: *usd,
                is_on: is_on(point, *usd),
            })
            .collect(),
    )
}

fn left_out(arms: usize, priced: usize, drawn: usize) -> String {
    let count = |number: usize| words::count_of(number as u64, "arms");
    let unpriced =
        (priced < arms).then(|| format!("{} without a known cost", count(arms - priced)));
    let lower =
        (drawn < priced).then(|| format!("{} with the lowest rates", count(priced - drawn)));
    let parts: Vec<String> = unpriced.into_iter().chain(lower).collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("Not drawn: {}.", parts.join(" and "))
    }
}

fn share(tick: f64) -> String {
    format!("{}%", strip::end(tick * 100.0))
}

fn dollars(tick: f64) -> String {
    format::tick(tick, Unit::Usd, tick)
}

fn about(priced: &Priced<'_>, name: &str) -> String {
    let bound = if priced.point.is_lower_bound {
        "at least "
    } else {
        ""
    };
    format!(
        "{name}: {}, {bound}{} per solved item",
        words::figure_with_interval(&crate::domain::Metric::pass_rate(), &priced.point.pass_rate),
        format::money(priced.usd)
    )
}

fn said(points: &[&Priced<'_>], name: &impl Fn(&crate::views::Arm) -> String) -> String {
    let names: Vec<String> = points
        .iter()
        .filter(|priced| priced.is_on)
        .map(|priced| name(&priced.point.arm))
        .collect();
    if names.is_empty() {
        "Pass rate over cost per solved item.".to_owned()
    } else {
        format!("On the frontier: {}.", words::listed_some(&names))
    }
}

/// Returns lines from each arm on the front to the next cheaper one: horizontal at its rate, then down.
fn steps(points: &[&Priced<'_>], x: LogAxis, y: Axis) -> Vec<[String; 4]> {
    let on: Vec<(f64, f64)> = points
        .iter()
        .filter(|priced| priced.is_on)
        .map(|priced| {
            (
                x.share(priced.usd),
                1.0 - y.share(priced.point.pass_rate.value),
            )
        })
        .collect();
    let line = |from: (f64, f64), to: (f64, f64)| [from.0, from.1, to.0, to.1].map(strip::percent);
    on.windows(2)
        .flat_map(|pair| {
            let ((dear, high), (cheap, low)) = (pair[0], pair[1]);
            [
                line((cheap, low), (dear, low)),
                line((dear, low), (dear, high)),
            ]
        })
        .chain(
            on.first()
                .map(|(dear, high)| line((*dear, *high), (1.0, *high))),
        )
        .collect()
}

/// Whether an arm has its name beside its point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Always,
    IfThereIsRoom,
    No,
}

/// Finds a place for a name that overlaps no other name, and no dot if that is possible. A long name is shortened rather than dropped.
fn beside(
    [left, top]: [f64; 2],
    label: &str,
    wanted: Wanted,
    dots: &[[f64; 4]],
    taken: &mut Vec<[f64; 4]>,
) -> Name {
    let is_right = left < WIDTH / 2.0;
    let sides = if is_right {
        [("start", 8), ("end", -8)]
    } else {
        [("end", -8), ("start", 8)]
    };
    let first = Name {
        text: Text::from(cut(label, LENGTHS[0])),
        anchor: sides[0].0,
        dx: sides[0].1,
        dy: -7,
        is_shown: false,
    };
    let is_clear = |own: &[f64; 4], others: &[[f64; 4]]| {
        others.iter().all(|other| {
            own[2] < other[0] || own[0] > other[2] || own[3] < other[1] || own[1] > other[3]
        })
    };
    // Close to the point and clear of all, then further away, then over dots.
    let (close, far): (&[i32], &[i32]) = (&[-7, 15, 4], &[-7, 15, 4, -20, 28, -33, 41]);
    let tries: &[(&[i32], bool, &[usize])] = match wanted {
        Wanted::Always => &[
            (close, true, &LENGTHS),
            (far, true, &LENGTHS[1..3]),
            (close, false, &LENGTHS[2..]),
            (far, false, &LENGTHS[3..]),
        ],
        Wanted::IfThereIsRoom => &[(close, true, &LENGTHS[..3])],
        Wanted::No => &[],
    };
    for (distances, avoids_dots, lengths) in tries {
        for length in *lengths {
            let text = cut(label, *length);
            let width = LETTER * text.chars().count() as f64;
            for (anchor, dx) in sides {
                for dy in *distances {
                    let begin = if anchor == "start" {
                        left + f64::from(dx)
                    } else {
                        left + f64::from(dx) - width
                    };
                    let low = top + f64::from(*dy);
                    let own = [begin, low - LINE + 3.0, begin + width, low + 3.0];
                    let is_within =
                        own[0] > -34.0 && own[2] < WIDTH + 8.0 && own[1] > -8.0 && own[3] < HEIGHT;
                    if is_within && is_clear(&own, taken) && (!avoids_dots || is_clear(&own, dots))
                    {
                        taken.push(own);
                        return Name {
                            text: Text::from(text),
                            anchor,
                            dx,
                            dy: *dy,
                            is_shown: true,
                        };
                    }
                }
            }
        }
    }
    first
}

/// Shortens a name to a number of letters.
fn cut(label: &str, most: usize) -> String {
    if label.chars().count() <= most {
        return label.to_owned();
    }
    label.chars().take(most - 1).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_rather_than_dropped() {
        let mut taken = Vec::new();
        let dots = [[95.0, 95.0, 105.0, 105.0]];
        let named = |taken: &mut Vec<[f64; 4]>| {
            beside(
                [100.0, 100.0],
                "a name of forty letters that is very long",
                Wanted::Always,
                &dots,
                taken,
            )
        };
        let name = named(&mut taken);
        assert!(
            name.is_shown && name.text.to_string().ends_with('\u{2026}'),
            "{}",
            name.text
        );
        let below = named(&mut taken);
        assert!(below.is_shown && below.dy != name.dy);
        assert!(!beside([100.0, 100.0], "a", Wanted::No, &dots, &mut taken).is_shown);
    }
}
