//! Rate over cost beside a table. Arms on the Pareto front are named; the others show their names on hover or focus.

use crate::domain::Unit;
use crate::render::{format, words};
use crate::views::{Front, OverviewSuite, ParetoPoint};

use super::arm_name::of_board;
use super::arms::{Tick, axis};
use super::plan::SuitePlace;
use super::shell::Text;
use super::strip::{self, Axis, LogAxis};

/// Number of arms below which all are named.
const NAME_ALL: usize = 12;
/// Size of the drawing for placing names, in pixels. It may be displayed wider.
const WIDTH: f64 = 290.0;
const HEIGHT: f64 = 300.0;
/// Approximate width of a letter, and height of a line, in pixels.
const LETTER: f64 = 6.2;
const LINE: f64 = 14.0;
/// Maximum number of points besides those on the front, so that a page keeps its size budget. The page on cost has all.
const MOST: usize = 60;

pub(super) struct Frontier {
    pub about: Text,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    /// Start and end of each line, in percent.
    pub steps: Vec<[String; 4]>,
    pub points: Vec<Point>,
}

pub(super) struct Point {
    /// The arm's index on the board.
    pub place: usize,
    pub label: Text,
    pub about: Text,
    pub tone: &'static str,
    pub x: String,
    pub y: String,
    /// The interval of the rate.
    pub ends: Option<(String, String)>,
    pub is_on: bool,
    pub name: Name,
}

/// Position of a name beside its point, and whether it is always shown.
pub(super) struct Name {
    pub anchor: &'static str,
    pub dx: i32,
    pub dy: i32,
    pub is_shown: bool,
}

/// Draws the arms that have both figures. Returns `None` with fewer than two.
pub(super) fn of_suite(suite: &OverviewSuite, place: &SuitePlace) -> Option<Frontier> {
    let of = suite.charts.pareto.as_ref()?;
    let points: Vec<&ParetoPoint> = of
        .points
        .iter()
        .enumerate()
        .filter(|(at, point)| point.usd_per_run > 0.0 && (*at < MOST || is_on(point)))
        .map(|(_, point)| point)
        .collect();
    if points.len() < 2 {
        return None;
    }
    let y = axis(points.iter().map(|point| &point.pass_rate), true)?;
    let x = LogAxis::around(&points.iter().map(|point| point.usd_per_run).collect::<Vec<f64>>())?;
    let name = of_board(&suite.board, place);
    let plain = words::names_on(&suite.board);
    let place_of = |point: &ParetoPoint| [x.share(point.usd_per_run) * WIDTH, (1.0 - y.share(point.pass_rate.value)) * HEIGHT];
    let mut taken = Vec::new();
    for point in &points {
        let [left, top] = place_of(point);
        taken.push([left - 5.0, top - 5.0, left + 5.0, top + 5.0]);
    }
    let leader = suite.leader();
    let drawn = points.iter().map(|point| {
        let named = name(&point.arm);
        let baseline = suite.baseline.as_ref() == Some(&point.arm.approach);
        let wanted = points.len() < NAME_ALL || is_on(point) || baseline || Some(&point.arm) == leader;
        let ends = |share: f64| strip::percent(1.0 - y.share(share));
        Point {
            place: suite.board.entries.iter().position(|entry| entry.arm == point.arm).unwrap_or_default(),
            about: Text::from(about(point, &plain(&point.arm))),
            tone: named.tone,
            x: strip::percent(x.share(point.usd_per_run)),
            y: ends(point.pass_rate.value),
            ends: point.pass_rate.interval.map(|interval| (ends(interval.low), ends(interval.high))),
            is_on: is_on(point),
            name: beside(place_of(point), &named.label, wanted, &mut taken),
            label: named.label,
        }
    });
    Some(Frontier {
        points: drawn.collect(),
        about: Text::from(said(&points, &plain)),
        x_ticks: x
            .ticks()
            .into_iter()
            .map(|tick| Tick { x: strip::percent(x.share(tick)), label: dollars(tick), anchor: "middle" })
            .collect(),
        y_ticks: y
            .ticks()
            .into_iter()
            .map(|tick| Tick { x: strip::percent(1.0 - y.share(tick)), label: share(tick), anchor: "end" })
            .collect(),
        steps: steps(&points, x, y),
    })
}

fn is_on(point: &ParetoPoint) -> bool {
    matches!(point.front, Some(Front::OnFront))
}

fn share(tick: f64) -> String {
    format!("{}%", strip::end(tick * 100.0))
}

fn dollars(tick: f64) -> String {
    format::tick(tick, Unit::Usd, tick)
}

fn about(point: &ParetoPoint, name: &str) -> String {
    let bound = if point.is_lower_bound { "at least " } else { "" };
    format!(
        "{name}: {}, {bound}{} a run",
        words::figure_with_interval(&crate::domain::Metric::pass_rate(), &point.pass_rate),
        format::money(point.usd_per_run)
    )
}

fn said(points: &[&ParetoPoint], name: &impl Fn(&crate::views::Arm) -> String) -> String {
    let names: Vec<String> = points.iter().filter(|point| is_on(point)).map(|point| name(&point.arm)).collect();
    if names.is_empty() { "Pass rate over cost per run.".to_owned() } else { format!("On the frontier: {}.", words::listed_some(&names)) }
}

/// Returns lines from each arm on the front to the next cheaper one: horizontal at its rate, then down.
fn steps(points: &[&ParetoPoint], x: LogAxis, y: Axis) -> Vec<[String; 4]> {
    let on: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| is_on(point))
        .map(|point| (x.share(point.usd_per_run), 1.0 - y.share(point.pass_rate.value)))
        .collect();
    let line = |from: (f64, f64), to: (f64, f64)| [from.0, from.1, to.0, to.1].map(strip::percent);
    on.windows(2)
        .flat_map(|pair| {
            let ((dear, high), (cheap, low)) = (pair[0], pair[1]);
            [line((cheap, low), (dear, low)), line((dear, low), (dear, high))]
        })
        .chain(on.first().map(|(dear, high)| line((*dear, *high), (1.0, *high))))
        .collect()
}

/// Finds a place for a name that overlaps no other name or point.
fn beside([left, top]: [f64; 2], label: &Text, wanted: bool, taken: &mut Vec<[f64; 4]>) -> Name {
    let width = LETTER * label.to_string().chars().count() as f64;
    let is_right = left < WIDTH / 2.0;
    let sides = if is_right { [("start", 8), ("end", -8)] } else { [("end", -8), ("start", 8)] };
    let first = Name { anchor: sides[0].0, dx: sides[0].1, dy: -7, is_shown: false };
    if !wanted {
        return first;
    }
    let all = sides.iter().flat_map(|(anchor, dx)| [-7, 15, 4].map(|dy| (*anchor, *dx, dy)));
    for (anchor, dx, dy) in all {
        let begin = if anchor == "start" { left + f64::from(dx) } else { left + f64::from(dx) - width };
        let low = top + f64::from(dy);
        let own = [begin, low - LINE + 3.0, begin + width, low + 3.0];
        let is_within = own[0] > -30.0 && own[2] < WIDTH + 8.0 && own[1] > -6.0 && own[3] < HEIGHT;
        let is_free = taken.iter().all(|other| own[2] < other[0] || own[0] > other[2] || own[3] < other[1] || own[1] > other[3]);
        if is_within && is_free {
            taken.push(own);
            return Name { anchor, dx, dy, is_shown: true };
        }
    }
    first
}
