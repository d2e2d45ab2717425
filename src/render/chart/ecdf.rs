//! Cumulative distribution: the share of an arm's runs at or below each amount.

use crate::domain::Unit;
use crate::render::format;
use crate::render::table::Table;
use crate::views::{Arm, ArmSpread, Distribution};

use super::axis::Axis;
use super::backend::{About, Sheet};
use super::frame::{Frame, Names, Point};
use super::ink::{Ink, Place};
use super::size::UNIT;
use super::widths::brief;
use super::{Chart, Key};

/// Maximum number of arms drawn: those with a colour of their own, and some in grey.
const MOST: usize = 12;
/// Maximum number of arms that the finding names.
const SAID: usize = 4;

/// Draws a distribution. `what` is the axis label of the amount; `colour` returns the number of an arm's colour, if it has one.
pub fn ecdf(
    distribution: &Distribution,
    id: &str,
    what: &str,
    name: &dyn Fn(&Arm) -> String,
    colour: &dyn Fn(&Arm) -> Option<u8>,
) -> Chart {
    let place =
        |arm: &ArmSpread| colour(&arm.arm).and_then(|colour| Place::new(usize::from(colour)));
    let unit = distribution.unit;
    let drawn = &distribution.arms[..distribution.arms.len().min(MOST)];
    let ends = drawn.iter().flat_map(|arm| [arm.smallest, arm.largest]);
    let (x, y) = (
        Axis::amounts(what, unit, ends),
        Axis::shares("Share of runs", [0.0, 1.0]),
    );
    let mut notes = vec!["A line further left is better; a steep line means similar runs. The sign marks the median.".to_owned()];
    if x.is_log() {
        notes.push(
            "The amount is on a logarithmic scale: equal distances are equal factors.".to_owned(),
        );
    }
    let many = |number: u64| format::integer(number);
    if distribution.arms.len() > drawn.len() {
        notes.push(format!(
            "Showing the first {} of {} arms; the table has all.",
            many(drawn.len() as u64),
            many(distribution.arms.len() as u64)
        ));
    }
    if drawn.iter().any(|arm| arm.values > arm.steps.len() as u64) {
        notes.push("Of arms with very many runs the line passes through some of their values, at even distances by rank.".to_owned());
    }
    match distribution.left_out {
        0 => {}
        1 => notes.push("1 arm has fewer than two runs with a known value and no line.".to_owned()),
        more => notes.push(format!(
            "{} arms have fewer than two runs with a known value and no line.",
            many(more)
        )),
    }
    let title = format!("{what}: share of runs at or below");
    let finding = finding(distribution, name);
    let sheet = Sheet::new(760, 320);
    let frame = Frame::new(&sheet, x, y);
    // Draw the first arms last, so that they are on top.
    let mut names = Names::within(&frame);
    for arm in drawn.iter().rev() {
        let line = steps(&frame, arm);
        names.avoid_line(&line);
        sheet.group(&about(arm, distribution, name), None, || {
            frame.line(Ink::series(colour(&arm.arm)), line)
        });
    }
    let middles: Vec<(&ArmSpread, Point)> = drawn
        .iter()
        .map(|arm| (arm, frame.at(arm.median, 0.5)))
        .collect();
    for (_, at) in &middles {
        names.avoid(*at, 6 * UNIT);
    }
    for (arm, at) in middles {
        if let Some(place) = place(arm) {
            sign(&frame, place, at);
            names.write(&frame, Ink::Name, &name(&arm.arm), at);
        }
    }
    drop(frame);
    let key = |arm: &ArmSpread| {
        let place = place(arm);
        Key {
            sign: place.map_or("—", Place::sign),
            class: place.map_or("c-grest", Place::sign_class),
            name: name(&arm.arm),
        }
    };
    let key = drawn.iter().map(key).collect();
    let svg = sheet.finish(About {
        id,
        title: &title,
        finding: &finding,
    });
    Chart {
        id: id.to_owned(),
        svg,
        key,
        notes,
        table: table(distribution, name),
        title,
        finding,
    }
}

/// Writes an arm's sign, which identifies it without colour.
fn sign(frame: &Frame<'_>, place: Place, at: Point) {
    use plotters_backend::text_anchor::{HPos, VPos};
    frame.text(
        Ink::SeriesSign(place),
        place.sign(),
        at,
        HPos::Center,
        VPos::Center,
    );
}

/// Returns the points of an arm's line, from the bottom of its first value to the right edge.
fn steps(frame: &Frame<'_>, arm: &ArmSpread) -> Vec<Point> {
    let mut points = vec![frame.at(arm.smallest, 0.0)];
    for step in &arm.steps {
        let (x, y) = frame.at(step.value, step.share);
        if let Some((_, before)) = points.last().copied() {
            points.push((x, before));
        }
        points.push((x, y));
    }
    points
}

fn runs(arm: &ArmSpread) -> String {
    match arm.coverage.known {
        known if known == arm.coverage.runs => format::integer(known),
        known => format!(
            "{} of {}",
            format::integer(known),
            format::integer(arm.coverage.runs)
        ),
    }
}

fn about(arm: &ArmSpread, distribution: &Distribution, name: &dyn Fn(&Arm) -> String) -> String {
    let value = |number: f64| format::value(number, distribution.unit, arm.coverage.known);
    format!(
        "{}: {} runs, half at most {}, nine in ten at most {}, all at most {}",
        brief(&name(&arm.arm)),
        runs(arm),
        value(arm.median),
        value(arm.p90),
        value(arm.largest)
    )
}

fn finding(distribution: &Distribution, name: &dyn Fn(&Arm) -> String) -> String {
    let value =
        |number: f64, arm: &ArmSpread| format::value(number, distribution.unit, arm.coverage.known);
    let said: Vec<String> = distribution
        .arms
        .iter()
        .take(SAID)
        .map(|arm| {
            format!(
                "{} {} (from {} to {})",
                brief(&name(&arm.arm)),
                value(arm.median, arm),
                value(arm.smallest, arm),
                value(arm.largest, arm)
            )
        })
        .collect();
    let more = match distribution.arms.len().saturating_sub(SAID) {
        0 => String::new(),
        more => format!(" and {} more arms", format::integer(more as u64)),
    };
    let verb = if distribution.unit == Unit::Usd {
        "cost"
    } else {
        "took"
    };
    format!(
        "Half of the runs {verb} at most: {}{more}.",
        said.join(", ")
    )
}

fn table(distribution: &Distribution, name: &dyn Fn(&Arm) -> String) -> Table {
    let mut table = Table::new("Spread over runs");
    table.left("Arm", 0);
    for column in ["Runs", "Smallest", "Median", "90th percentile", "Largest"] {
        table.right(column, 0);
    }
    for arm in &distribution.arms {
        let value = |number: f64| format::value(number, distribution.unit, arm.coverage.known);
        table.row([
            name(&arm.arm),
            runs(arm),
            value(arm.smallest),
            value(arm.median),
            value(arm.p90),
            value(arm.largest),
        ]);
    }
    table
}
