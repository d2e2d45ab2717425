//! Cumulative distribution: the share of an arm's runs at or below each amount.

use crate::domain::Unit;
use crate::render::format;
use crate::render::table::ReportTable;
use crate::views::{Arm, ArmSpread, Distribution};

use super::axis::ChartAxis;
use super::backend::{DrawingDescription, DrawingSheet};
use super::frame::{ChartFrame, NamePlacement, SheetPoint};
use super::ink::{Ink, SeriesIndex};
use super::size::UNITS_PER_PIXEL;
use super::widths::shorten_name;
use super::{Chart, KeyEntry};

/// Maximum number of arms drawn: those with a colour of their own, and some in grey.
const MAX_ARMS_DRAWN: usize = 12;
/// Maximum number of arms that the finding names.
const MAX_ARMS_NAMED: usize = 4;

/// Draws a distribution. `what` is the axis label of the amount; `colour` returns the number of an arm's colour, if it has one.
pub fn draw_ecdf(
    distribution: &Distribution,
    id: &str,
    what: &str,
    name: &dyn Fn(&Arm) -> String,
    colour: &dyn Fn(&Arm) -> Option<u8>,
) -> Chart {
    let place =
        |arm: &ArmSpread| colour(&arm.arm).and_then(|colour| SeriesIndex::new(usize::from(colour)));
    let unit = distribution.unit;
    let drawn = &distribution.arms[..distribution.arms.len().min(MAX_ARMS_DRAWN)];
    let ends = drawn.iter().flat_map(|arm| [arm.smallest, arm.largest]);
    let (x, y) = (
        ChartAxis::for_amounts(what, unit, ends),
        ChartAxis::for_shares("Share of runs", [0.0, 1.0]),
    );
    let mut notes = vec!["A line further left is better; a steep line means similar runs. The sign marks the median.".to_owned()];
    if x.is_log() {
        notes.push(
            "The amount is on a logarithmic scale: equal distances are equal factors.".to_owned(),
        );
    }
    let many = |number: u64| format::format_integer(number);
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
    let finding = median_finding(distribution, name);
    let sheet = DrawingSheet::new(760, 320);
    let frame = ChartFrame::new(&sheet, x, y);
    // Draw the first arms last, so that they are on top.
    let mut names = NamePlacement::new(&frame);
    for arm in drawn.iter().rev() {
        let line = step_points(&frame, arm);
        names.avoid_line(&line);
        sheet.draw_group(&arm_description(arm, distribution, name), None, || {
            frame.draw_line(Ink::from_colour_number(colour(&arm.arm)), line);
        });
    }
    let middles: Vec<(&ArmSpread, SheetPoint)> = drawn
        .iter()
        .map(|arm| (arm, frame.position_of(arm.median, 0.5)))
        .collect();
    for (_, at) in &middles {
        names.avoid_mark(*at, 6 * UNITS_PER_PIXEL);
    }
    for (arm, at) in middles {
        if let Some(place) = place(arm) {
            draw_sign(&frame, place, at);
            names.write_name(&frame, Ink::Name, &name(&arm.arm), at);
        }
    }
    drop(frame);
    let key = |arm: &ArmSpread| {
        let place = place(arm);
        KeyEntry {
            sign: place.map_or("—", SeriesIndex::sign),
            class: place.map_or("c-grest", SeriesIndex::sign_class),
            name: name(&arm.arm),
        }
    };
    let key = drawn.iter().map(key).collect();
    let svg = sheet.into_svg(DrawingDescription {
        id,
        title: &title,
        finding: &finding,
    });
    Chart {
        id: id.to_owned(),
        svg,
        key,
        notes,
        table: spread_table(distribution, name),
        title,
        finding,
    }
}

/// Writes an arm's sign, which identifies it without colour.
fn draw_sign(frame: &ChartFrame<'_>, place: SeriesIndex, at: SheetPoint) {
    use plotters_backend::text_anchor::{HPos, VPos};
    frame.draw_text(
        Ink::SeriesSign(place),
        place.sign(),
        at,
        HPos::Center,
        VPos::Center,
    );
}

/// Returns the points of an arm's line, from the bottom of its first value to the right edge.
fn step_points(frame: &ChartFrame<'_>, arm: &ArmSpread) -> Vec<SheetPoint> {
    let mut points = vec![frame.position_of(arm.smallest, 0.0)];
    for step in &arm.steps {
        let (x, y) = frame.position_of(step.value, step.share);
        if let Some((_, before)) = points.last().copied() {
            points.push((x, before));
        }
        points.push((x, y));
    }
    points
}

fn runs_with_amount(arm: &ArmSpread) -> String {
    match arm.coverage.known {
        known if known == arm.coverage.runs => format::format_integer(known),
        known => format!(
            "{} of {}",
            format::format_integer(known),
            format::format_integer(arm.coverage.runs)
        ),
    }
}

fn arm_description(
    arm: &ArmSpread,
    distribution: &Distribution,
    name: &dyn Fn(&Arm) -> String,
) -> String {
    let value = |number: f64| format::value_in_unit(number, distribution.unit, arm.coverage.known);
    format!(
        "{}: {} runs, half at most {}, nine in ten at most {}, all at most {}",
        shorten_name(&name(&arm.arm)),
        runs_with_amount(arm),
        value(arm.median),
        value(arm.p90),
        value(arm.largest)
    )
}

fn median_finding(distribution: &Distribution, name: &dyn Fn(&Arm) -> String) -> String {
    let value = |number: f64, arm: &ArmSpread| {
        format::value_in_unit(number, distribution.unit, arm.coverage.known)
    };
    let said: Vec<String> = distribution
        .arms
        .iter()
        .take(MAX_ARMS_NAMED)
        .map(|arm| {
            format!(
                "{} {} (from {} to {})",
                shorten_name(&name(&arm.arm)),
                value(arm.median, arm),
                value(arm.smallest, arm),
                value(arm.largest, arm)
            )
        })
        .collect();
    let more = match distribution.arms.len().saturating_sub(MAX_ARMS_NAMED) {
        0 => String::new(),
        more => format!(" and {} more arms", format::format_integer(more as u64)),
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

fn spread_table(distribution: &Distribution, name: &dyn Fn(&Arm) -> String) -> ReportTable {
    let mut table = ReportTable::new("Spread over runs");
    table.add_text_column("Arm", 0);
    for column in ["Runs", "Smallest", "Median", "90th percentile", "Largest"] {
        table.add_number_column(column, 0);
    }
    for arm in &distribution.arms {
        let value =
            |number: f64| format::value_in_unit(number, distribution.unit, arm.coverage.known);
        table.add_row([
            name(&arm.arm),
            runs_with_amount(arm),
            value(arm.smallest),
            value(arm.median),
            value(arm.p90),
            value(arm.largest),
        ]);
    }
    table
}
