//! Rate over cost per solved item beside a table. Arms on the Pareto front are named; the others show their names on hover or focus.

use crate::domain::Unit;
use crate::render::{format, phrases};
use crate::views::{OverviewSuite, ParetoPoint};

use super::arm_name::arm_namer;
use super::arms::{AxisTick, rate_axis};
use super::interval_bar::{self, LinearAxis, LogAxis};
use super::routes::SuiteRoutes;
use super::shell::Text;

/// Number of arms below which all are named.
const NAME_ALL_BELOW: usize = 12;
/// Size of the drawing for placing names, in pixels. It may be displayed wider.
const WIDTH: f64 = 236.0;
const HEIGHT: f64 = 300.0;
/// Approximate width of a letter, and height of a line, in pixels.
const LETTER_WIDTH: f64 = 6.6;
const LINE_HEIGHT: f64 = 14.0;
/// Letters of a name, and of its shorter forms if there is no room for it.
const LABEL_LENGTHS: [usize; 4] = [28, 20, 16, 13];
/// Rank of the arms that are named last.
const LAST_LABEL_RANK: usize = 3;
/// Maximum number of points besides those on the front, so that a page keeps its size budget.
const MAX_POINTS: usize = 100;

pub(super) struct CostFrontier {
    pub about: Text,
    pub x_ticks: Vec<AxisTick>,
    pub y_ticks: Vec<AxisTick>,
    /// Start and end of each line, in percent.
    pub steps: Vec<[String; 4]>,
    pub points: Vec<FrontierPoint>,
    /// Arms that are not drawn. Empty if all are.
    pub left_out: Text,
}

pub(super) struct FrontierPoint {
    /// The arm's index on the board.
    pub place: usize,
    pub about: Text,
    pub tone: &'static str,
    pub x: String,
    pub y: String,
    /// The interval of the rate.
    pub ends: Option<(String, String)>,
    pub is_on: bool,
    pub name: PointLabel,
}

/// A name beside its point, shortened if there is no room, and whether it is always shown.
pub(super) struct PointLabel {
    pub text: Text,
    pub anchor: &'static str,
    pub dx: i32,
    pub dy: i32,
    pub is_shown: bool,
}

/// An arm with both figures.
struct PricedArm<'a> {
    point: &'a ParetoPoint,
    /// Cost per solved item, as in the table beside the drawing.
    usd: f64,
    /// Whether no arm has a higher rate at a lower cost.
    is_on: bool,
}

/// Draws the arms that have both figures. Returns `None` with fewer than two.
pub(super) fn draw_frontier(suite: &OverviewSuite, place: &SuiteRoutes) -> Option<CostFrontier> {
    let all = list_priced_arms(suite)?;
    let leader = suite.best_arm();
    let points: Vec<&PricedArm<'_>> = all
        .iter()
        .enumerate()
        .filter(|(at, priced)| {
            *at < MAX_POINTS || priced.is_on || Some(&priced.point.arm) == leader
        })
        .map(|(_, priced)| priced)
        .collect();
    if points.len() < 2 {
        return None;
    }
    let y = rate_axis(points.iter().map(|priced| &priced.point.pass_rate), true)?;
    let x = LogAxis::from_amounts(&points.iter().map(|priced| priced.usd).collect::<Vec<f64>>())?;
    let name = arm_namer(&suite.board, place);
    let plain = phrases::arm_namer(&suite.board);
    let place_of = |priced: &PricedArm<'_>| {
        [
            x.position(priced.usd) * WIDTH,
            (1.0 - y.position(priced.point.pass_rate.value)) * HEIGHT,
        ]
    };
    // Names are placed by rank: the leader, the front, the baseline, then all others.
    let rank = |priced: &PricedArm<'_>| {
        if Some(&priced.point.arm) == leader {
            0
        } else if priced.is_on {
            1
        } else if suite.baseline.as_ref() == Some(&priced.point.arm.approach) {
            2
        } else {
            LAST_LABEL_RANK
        }
    };
    let dots: Vec<[f64; 4]> = points
        .iter()
        .map(|priced| place_of(priced))
        .map(|[left, top]| [left - 5.0, top - 5.0, left + 5.0, top + 5.0])
        .collect();
    let mut taken = Vec::new();
    let mut names: Vec<Option<PointLabel>> = points.iter().map(|_| None).collect();
    for turn in 0..=LAST_LABEL_RANK {
        for (priced, name) in points
            .iter()
            .zip(&mut names)
            .filter(|(priced, _)| rank(priced) == turn)
        {
            let wanted = if turn < LAST_LABEL_RANK {
                LabelVisibility::Always
            } else if points.len() < NAME_ALL_BELOW {
                LabelVisibility::IfThereIsRoom
            } else {
                LabelVisibility::No
            };
            *name = Some(place_label(
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
            let ends = |share: f64| interval_bar::width_percent(1.0 - y.position(share));
            FrontierPoint {
                place: suite
                    .board
                    .entries
                    .iter()
                    .position(|entry| entry.arm == point.arm)
                    .unwrap_or_default(),
                about: Text::from(describe_point(priced, &plain(&point.arm))),
                tone: name(&point.arm).tone,
                x: interval_bar::width_percent(x.position(priced.usd)),
                y: ends(point.pass_rate.value),
                ends: point
                    .pass_rate
                    .interval
                    .map(|interval| (ends(interval.low), ends(interval.high))),
                is_on: priced.is_on,
                name: label,
            }
        });
    Some(CostFrontier {
        points: drawn.collect(),
        about: Text::from(describe_frontier(&points, &plain)),
        x_ticks: x
            .ticks()
            .into_iter()
            .map(|tick| AxisTick {
                x: interval_bar::width_percent(x.position(tick)),
                label: format_dollars(tick),
                anchor: "middle",
            })
            .collect(),
        y_ticks: y
            .ticks()
            .into_iter()
            .map(|tick| AxisTick {
                x: interval_bar::width_percent(1.0 - y.position(tick)),
                label: format_share(tick),
                anchor: "end",
            })
            .collect(),
        steps: draw_steps(&points, x, y),
        left_out: Text::from(undrawn_note(
            suite.board.entries.len(),
            all.len(),
            points.len(),
        )),
    })
}

/// Returns the arms whose rate and cost per solved item are known, best rate first. A cost known in part dominates nothing.
fn list_priced_arms(suite: &OverviewSuite) -> Option<Vec<PricedArm<'_>>> {
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
            .map(|(point, usd)| PricedArm {
                point,
                usd: *usd,
                is_on: is_on(point, *usd),
            })
            .collect(),
    )
}

fn undrawn_note(arms: usize, priced: usize, drawn: usize) -> String {
    let count = |number: usize| phrases::count_with_noun(number as u64, "arms");
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

fn format_share(tick: f64) -> String {
    format!("{}%", interval_bar::format_axis_end(tick * 100.0))
}

fn format_dollars(tick: f64) -> String {
    format::tick_label(tick, Unit::Usd, tick)
}

fn describe_point(priced: &PricedArm<'_>, name: &str) -> String {
    let bound = if priced.point.is_lower_bound {
        "at least "
    } else {
        ""
    };
    format!(
        "{name}: {}, {bound}{} per solved item",
        phrases::figure_with_interval(&crate::domain::Metric::pass_rate(), &priced.point.pass_rate),
        format::money(priced.usd)
    )
}

fn describe_frontier(
    points: &[&PricedArm<'_>],
    name: &impl Fn(&crate::views::Arm) -> String,
) -> String {
    let names: Vec<String> = points
        .iter()
        .filter(|priced| priced.is_on)
        .map(|priced| name(&priced.point.arm))
        .collect();
    if names.is_empty() {
        "Pass rate over cost per solved item.".to_owned()
    } else {
        format!("On the frontier: {}.", phrases::join_some(&names))
    }
}

/// Returns lines from each arm on the front to the next cheaper one: horizontal at its rate, then down.
fn draw_steps(points: &[&PricedArm<'_>], x: LogAxis, y: LinearAxis) -> Vec<[String; 4]> {
    let on: Vec<(f64, f64)> = points
        .iter()
        .filter(|priced| priced.is_on)
        .map(|priced| {
            (
                x.position(priced.usd),
                1.0 - y.position(priced.point.pass_rate.value),
            )
        })
        .collect();
    let line = |from: (f64, f64), to: (f64, f64)| {
        [from.0, from.1, to.0, to.1].map(interval_bar::width_percent)
    };
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
enum LabelVisibility {
    Always,
    IfThereIsRoom,
    No,
}

/// Finds a place for a name that overlaps no other name, and no dot if that is possible. A long name is shortened rather than dropped.
fn place_label(
    [left, top]: [f64; 2],
    label: &str,
    wanted: LabelVisibility,
    dots: &[[f64; 4]],
    taken: &mut Vec<[f64; 4]>,
) -> PointLabel {
    let is_right = left < WIDTH / 2.0;
    let sides = if is_right {
        [("start", 8), ("end", -8)]
    } else {
        [("end", -8), ("start", 8)]
    };
    let first = PointLabel {
        text: Text::from(truncate_label(label, LABEL_LENGTHS[0])),
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
        LabelVisibility::Always => &[
            (close, true, &LABEL_LENGTHS),
            (far, true, &LABEL_LENGTHS[1..3]),
            (close, false, &LABEL_LENGTHS[2..]),
            (far, false, &LABEL_LENGTHS[3..]),
        ],
        LabelVisibility::IfThereIsRoom => &[(close, true, &LABEL_LENGTHS[..3])],
        LabelVisibility::No => &[],
    };
    for (distances, avoids_dots, lengths) in tries {
        for length in *lengths {
            let text = truncate_label(label, *length);
            let width = LETTER_WIDTH * text.chars().count() as f64;
            for (anchor, dx) in sides {
                for dy in *distances {
                    let begin = if anchor == "start" {
                        left + f64::from(dx)
                    } else {
                        left + f64::from(dx) - width
                    };
                    let low = top + f64::from(*dy);
                    let own = [begin, low - LINE_HEIGHT + 3.0, begin + width, low + 3.0];
                    let is_within =
                        own[0] > -34.0 && own[2] < WIDTH + 8.0 && own[1] > -8.0 && own[3] < HEIGHT;
                    if is_within && is_clear(&own, taken) && (!avoids_dots || is_clear(&own, dots))
                    {
                        taken.push(own);
                        return PointLabel {
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
fn truncate_label(label: &str, most: usize) -> String {
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
            place_label(
                [100.0, 100.0],
                "a name of forty letters that is very long",
                LabelVisibility::Always,
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
        assert!(!place_label([100.0, 100.0], "a", LabelVisibility::No, &dots, &mut taken).is_shown);
    }
}
