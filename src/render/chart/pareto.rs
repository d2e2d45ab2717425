//! Pass rate over cost per run, with the Pareto front and its uncertainty.

use plotters_backend::text_anchor::{HPos, VPos};

use crate::domain::Unit;
use crate::render::table::Table;
use crate::render::{format, words};
use crate::views::{Arm, Front, Pareto, ParetoPoint};

use super::Chart;
use super::axis::Axis;
use super::backend::{About, Sheet};
use super::frame::{Frame, Names, Point};
use super::ink::Ink;
use super::size::UNIT;
use super::widths::brief;

/// Number of points with a title and whiskers. Further ones are bare dots.
const FULL: usize = 80;
/// Maximum number of points drawn.
const MOST: usize = 500;
/// Maximum number of names beside points.
const NAMED: usize = 16;
/// Maximum number of front arms that the finding names.
const SAID: usize = 6;

/// Draws the front. `name` returns an arm's name on its page, `link` the address of two arms' comparison.
pub fn pareto(
    pareto: &Pareto,
    id: &str,
    name: &dyn Fn(&Arm) -> String,
    link: &dyn Fn(&Arm, &Arm) -> Option<String>,
) -> Chart {
    let drawn = &pareto.points[..pareto.points.len().min(MOST)];
    let rates = drawn.iter().flat_map(|point| {
        let ends = point
            .pass_rate
            .interval
            .map(|interval| [interval.low, interval.high]);
        ends.into_iter().flatten().chain([point.pass_rate.value])
    });
    let costs = drawn.iter().flat_map(|point| {
        let ends = point.interval.map(|interval| [interval.low, interval.high]);
        ends.into_iter()
            .flatten()
            .filter(|end| *end > 0.0)
            .chain([point.usd_per_run])
    });
    let (x, y) = (
        Axis::amounts("Cost per run", Unit::Usd, costs),
        Axis::shares("Pass rate", rates),
    );
    let mut notes = vec![
        "Crosses are 95% intervals; overlapping ones do not mean equal. Filled: on the front, which the line follows. Hollow: another arm is at \
         least as good and as cheap, and better on one."
            .to_owned(),
    ];
    if x.is_log() {
        notes.push(
            "The cost is on a logarithmic scale: equal distances are equal factors.".to_owned(),
        );
    }
    if y.is_cut() {
        notes.push(format!(
            "The scale of the pass rate starts at {}, not at 0%.",
            y.ticks.first().map_or("", |(_, text)| text)
        ));
    }
    let title = "Pass rate over cost per run".to_owned();
    let finding = finding(pareto, name);
    let sheet = Sheet::new(760, 400);
    let frame = Frame::new(&sheet, x, y);
    let mut names = Names::within(&frame);
    names.avoid_line(&line(&frame, drawn));
    for (index, point) in drawn.iter().enumerate() {
        if index >= FULL || !sheet.has_room() {
            let kind = if is_on_front(point) {
                Ink::StrongDots
            } else {
                Ink::WeakDots
            };
            frame.dot(kind, frame.at(point.usd_per_run, point.pass_rate.value));
            continue;
        }
        let by = match &point.front {
            Some(Front::Dominated { by }) => link(by, &point.arm),
            Some(Front::OnFront) | None => None,
        };
        sheet.group(&about(point, name), by.as_deref(), || mark(&frame, point));
    }
    for point in drawn {
        names.avoid(frame.at(point.usd_per_run, point.pass_rate.value), 5 * UNIT);
        for line in cross(&frame, point) {
            names.avoid_line(&line);
        }
    }
    // If there are many points, name only those on the front.
    let on_front = drawn.iter().filter(|point| is_on_front(point)).take(NAMED);
    let others = drawn
        .iter()
        .filter(|point| !is_on_front(point) && drawn.len() <= NAMED);
    let write = |point: &ParetoPoint| {
        names.write(
            &frame,
            Ink::Name,
            &name(&point.arm),
            frame.at(point.usd_per_run, point.pass_rate.value),
        )
    };
    let written = on_front
        .chain(others)
        .map(write)
        .filter(|is_written| *is_written)
        .count();
    drop(frame);
    let many = |number: usize| format::integer(number as u64);
    if written < drawn.len() {
        notes.push(format!(
            "{} of {} points carry their name; the table has all.",
            many(written),
            many(drawn.len())
        ));
    }
    if pareto.points.len() > drawn.len() {
        notes.push(format!(
            "Showing the {} arms with the best pass rate, of {}.",
            many(drawn.len()),
            many(pareto.points.len())
        ));
    }
    if !pareto.unplaced.is_empty() {
        let count = pareto.unplaced.len();
        let word = if count == 1 { "arm has" } else { "arms have" };
        notes.push(format!(
            "{} {word} no known cost or no pass rate, and no place here.",
            many(count)
        ));
    }
    let svg = sheet.finish(About {
        id,
        title: &title,
        finding: &finding,
    });
    Chart {
        id: id.to_owned(),
        svg,
        key: Vec::new(),
        notes,
        table: table(pareto, name),
        title,
        finding,
    }
}

fn is_on_front(point: &ParetoPoint) -> bool {
    matches!(point.front, Some(Front::OnFront))
}

/// Draws the front as steps from cheap to expensive: each point's rate holds until the next point. Returns the line.
fn line(frame: &Frame<'_>, points: &[ParetoPoint]) -> Vec<Point> {
    let mut steps: Vec<Point> = Vec::new();
    for point in points.iter().rev().filter(|point| is_on_front(point)) {
        let (x, y) = frame.at(point.usd_per_run, point.pass_rate.value);
        if let Some((_, before)) = steps.last() {
            steps.push((x, *before));
        }
        steps.push((x, y));
    }
    let (_, _, right, _) = frame.edges();
    if let Some((_, last)) = steps.last().copied() {
        steps.push((right, last));
        frame.line(Ink::Curve, steps.clone());
    }
    steps
}

/// Returns the intervals of a point as lines.
fn cross(frame: &Frame<'_>, point: &ParetoPoint) -> Vec<Vec<Point>> {
    let (usd, rate) = (point.usd_per_run, point.pass_rate.value);
    let upright = point
        .pass_rate
        .interval
        .map(|ends| vec![frame.at(usd, ends.low), frame.at(usd, ends.high)]);
    let level = point
        .interval
        .map(|ends| vec![frame.at(ends.low, rate), frame.at(ends.high, rate)]);
    upright.into_iter().chain(level).collect()
}

fn mark(frame: &Frame<'_>, point: &ParetoPoint) {
    let (ink, cross_ink) = if is_on_front(point) {
        (Ink::Strong, Ink::StrongCross)
    } else {
        (Ink::Weak, Ink::WeakCross)
    };
    for line in cross(frame, point) {
        frame.line(cross_ink, line);
    }
    let (x, y) = frame.at(point.usd_per_run, point.pass_rate.value);
    if point.is_lower_bound {
        // The cost is a lower bound: the true point may be further right.
        frame.text(Ink::Tick, "≥", (x - 6 * UNIT, y), HPos::Right, VPos::Center);
    }
    frame.circle(ink, (x, y), 4 * UNIT);
}

/// Formats a price with its interval: `$0.42 [$0.31, $0.53]`.
fn price(point: &ParetoPoint) -> String {
    let value = format!(
        "{}{}",
        if point.is_lower_bound { "≥ " } else { "" },
        format::money(point.usd_per_run)
    );
    let ends = point.interval.map(|interval| {
        format!(
            " [{}, {}]",
            format::money(interval.low),
            format::money(interval.high)
        )
    });
    value + &ends.unwrap_or_default()
}

fn about(point: &ParetoPoint, name: &dyn Fn(&Arm) -> String) -> String {
    let standing = point.front.as_ref().map_or_else(String::new, |front| {
        format!("; {}", words::front(front, |arm| brief(&name(arm))))
    });
    format!(
        "{}: {} at {} a run{standing}",
        brief(&name(&point.arm)),
        format::rate(&point.pass_rate),
        price(point)
    )
}

fn finding(pareto: &Pareto, name: &dyn Fn(&Arm) -> String) -> String {
    let front: Vec<&ParetoPoint> = pareto
        .points
        .iter()
        .filter(|point| is_on_front(point))
        .collect();
    let placed = format::integer(pareto.points.len() as u64);
    if front.is_empty() {
        return format!(
            "No arm of {placed} is known to be on the front: costs are lower bounds, or no run completed."
        );
    }
    let said: Vec<String> = front
        .iter()
        .take(SAID)
        .map(|point| {
            format!(
                "{} ({} at {})",
                brief(&name(&point.arm)),
                format::rate(&point.pass_rate),
                price(point)
            )
        })
        .collect();
    let more = match front.len().saturating_sub(SAID) {
        0 => String::new(),
        more => format!(" and {} more", format::integer(more as u64)),
    };
    let verb = if front.len() == 1 { "is" } else { "are" };
    format!(
        "{} of {placed} arms with a known cost {verb} on the Pareto front: {}{more}.",
        format::integer(front.len() as u64),
        said.join(", ")
    )
}

fn table(pareto: &Pareto, name: &dyn Fn(&Arm) -> String) -> Table {
    let mut table = Table::new("Pass rate and cost per run");
    table.left("Arm", 0);
    table.right("Pass rate [95% CI]", 0);
    table.left("n", 0);
    table.right("Cost per run [95% CI]", 0);
    table.right("Runs with a cost", 0);
    table.left("Front", 0);
    for point in &pareto.points {
        table.row([
            name(&point.arm),
            format::rate(&point.pass_rate),
            words::basis(&point.pass_rate),
            price(point),
            format!(
                "{} of {}",
                format::integer(point.coverage.known),
                format::integer(point.coverage.runs)
            ),
            point
                .front
                .as_ref()
                .map_or_else(|| "not known".to_owned(), |front| words::front(front, name)),
        ]);
    }
    table
}
