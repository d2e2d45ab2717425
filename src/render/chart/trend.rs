//! One arm over its nights: rate, interval, change points, and breaks across which nothing is compared.

use plotters_backend::text_anchor::{HPos, VPos};

use crate::render::table::Table;
use crate::render::{format, nights, words};
use crate::views::{ArmHistory, Night, Series};

use super::Chart;
use super::axis::Axis;
use super::backend::{About, Sheet};
use super::frame::{Frame, Point};
use super::ink::Ink;
use super::size::UNIT;

/// Number of nights with a title of their own.
const FULL: usize = 60;

/// Draws the newest `most` nights of an arm that have a pass rate. `scale` has shares that the axis must include, so that neighbouring
/// charts share a scale. Returns `None` with fewer than two such nights.
pub fn trend(arm: &ArmHistory, id: &str, name: &str, most: usize, scale: &[f64]) -> Option<Chart> {
    let rated = rated(arm);
    let shown = newest(&rated, most);
    let (first, last) = (shown.first()?, shown.last()?);
    if shown.len() < 2 {
        return None;
    }
    let x = Axis::days("", first.date, last.date);
    let y = Axis::shares("Pass rate", shares(shown).chain(scale.iter().copied()));
    let day = |night: &Night| Axis::day(first.date, night.date);
    let mut notes = Vec::new();
    if y.is_cut() {
        notes.push(format!(
            "The scale starts at {}, not at 0%.",
            y.ticks.first().map_or("", |(_, text)| text)
        ));
    }
    if rated.len() > shown.len() {
        notes.push(format!(
            "Showing the newest {} of {} nights; the data files have all.",
            format::integer(shown.len() as u64),
            format::integer(rated.len() as u64)
        ));
    }
    let title = format!("{name}: pass rate by night");
    let finding = finding(arm, shown, name);
    let sheet = Sheet::new(760, 220);
    let frame = Frame::new(&sheet, x, y);
    let (_, top, _, bottom) = frame.edges();
    for part in unbroken(shown) {
        band(&frame, part, &day);
        let line: Vec<Point> = part
            .iter()
            .filter_map(|night| Some(frame.at(day(night), night.pass_rate.as_ref()?.value)))
            .collect();
        if line.len() > 1 {
            frame.line(Ink::Line, line);
        }
    }
    for night in shown
        .iter()
        .skip(1)
        .filter(|night| !night.breaks.is_empty())
    {
        let (x, _) = frame.at(day(night), 0.0);
        let why: Vec<&str> = night
            .breaks
            .iter()
            .map(|what| nights::broken_by(*what))
            .collect();
        sheet.group(
            &format!(
                "{}: {}, nothing is compared across",
                night.date,
                why.join(" and ")
            ),
            None,
            || {
                frame.line(Ink::Break, vec![(x, top), (x, bottom)]);
            },
        );
    }
    for change in arm
        .changes
        .iter()
        .filter(|change| change.series == Series::PassRate && change.date >= first.date)
    {
        let (x, _) = frame.at(Axis::day(first.date, change.date), 0.0);
        sheet.group(
            &format!("{}: {}", change.date, nights::change_words(change)),
            None,
            || {
                frame.line(Ink::Change, vec![(x, top), (x, bottom)]);
                let right = frame.edges().2;
                let (at, side) = if x > right - 140 * UNIT {
                    (x - 4 * UNIT, HPos::Right)
                } else {
                    (x + 4 * UNIT, HPos::Left)
                };
                frame.text(
                    Ink::Name,
                    &nights::change_words(change),
                    (at, top + 2 * UNIT),
                    side,
                    VPos::Top,
                );
            },
        );
    }
    for (index, night) in (0..).zip(shown) {
        let Some(rate) = &night.pass_rate else {
            continue;
        };
        let at = frame.at(day(night), rate.value);
        if index + FULL >= shown.len() {
            let about = format!(
                "{}: {} over {}",
                night.date,
                format::rate(rate),
                words::basis(rate)
            );
            sheet.group(&about, None, || frame.circle(Ink::Strong, at, 3 * UNIT));
        } else {
            frame.dot(Ink::StrongDots, at);
        }
    }
    drop(frame);
    let svg = sheet.finish(About {
        id,
        title: &title,
        finding: &finding,
    });
    Some(Chart {
        id: id.to_owned(),
        svg,
        key: Vec::new(),
        notes,
        table: table(arm, shown),
        title,
        finding,
    })
}

/// Returns every share that an arm's chart shows.
pub fn trend_shares(arm: &ArmHistory, most: usize) -> Vec<f64> {
    shares(newest(&rated(arm), most)).collect()
}

fn rated(arm: &ArmHistory) -> Vec<&Night> {
    arm.nights
        .iter()
        .filter(|night| night.pass_rate.is_some())
        .collect()
}

fn newest<'a, 'b>(nights: &'a [&'b Night], most: usize) -> &'a [&'b Night] {
    &nights[nights.len().saturating_sub(most)..]
}

fn shares<'a>(shown: &'a [&Night]) -> impl Iterator<Item = f64> + 'a {
    shown
        .iter()
        .filter_map(|night| night.pass_rate.as_ref())
        .flat_map(|rate| {
            let ends = rate.interval.map(|interval| [interval.low, interval.high]);
            ends.into_iter().flatten().chain([rate.value])
        })
}

/// Returns the stretches between breaks.
fn unbroken<'a, 'b>(shown: &'a [&'b Night]) -> impl Iterator<Item = &'a [&'b Night]> {
    shown.chunk_by(|_, next| next.breaks.is_empty())
}

/// Draws the intervals of consecutive nights as one surface.
fn band(frame: &Frame<'_>, part: &[&Night], day: &dyn Fn(&Night) -> f64) {
    let ends: Vec<(Point, Point)> = part
        .iter()
        .filter_map(|night| {
            let interval = night.pass_rate.as_ref()?.interval?;
            Some((
                frame.at(day(night), interval.low),
                frame.at(day(night), interval.high),
            ))
        })
        .collect();
    match ends.as_slice() {
        [] => {}
        [(low, high)] => frame.line(Ink::StrongCross, vec![*low, *high]),
        several => frame.area(
            Ink::Band,
            several
                .iter()
                .map(|(low, _)| *low)
                .chain(several.iter().rev().map(|(_, high)| *high))
                .collect(),
        ),
    }
}

fn rate(night: &Night) -> String {
    night
        .pass_rate
        .as_ref()
        .map_or_else(String::new, format::rate)
}

fn finding(arm: &ArmHistory, shown: &[&Night], name: &str) -> String {
    let changes: Vec<String> = arm
        .changes
        .iter()
        .filter(|change| change.series == Series::PassRate)
        .map(|change| format!("{} on {}", nights::change_words(change), change.date))
        .collect();
    let ends = match (shown.first(), shown.last()) {
        (Some(first), Some(last)) => format!(
            "{} on {}, {} on {}",
            rate(first),
            first.date,
            rate(last),
            last.date
        ),
        (None, _) | (_, None) => String::new(),
    };
    let level = match changes.len() {
        0 => "no change of level was found".to_owned(),
        1 => format!("change point: {}", changes.join("")),
        _ => format!("{} change points: {}", changes.len(), changes.join(", ")),
    };
    format!(
        "{name} over {} nights: {ends}; {level}.",
        format::integer(shown.len() as u64)
    )
}

fn table(arm: &ArmHistory, shown: &[&Night]) -> Table {
    let mut table = Table::new("By night, newest first");
    table.left("Night", 0);
    table.right("Pass rate [95% CI]", 0);
    table.left("n", 0);
    table.right("Runs", 0);
    table.right("Cost", 1);
    table.right("Duration", 1);
    table.left("Since the night before", 1);
    for night in shown.iter().rev() {
        table.row([
            night.date.to_string(),
            rate(night),
            night
                .pass_rate
                .as_ref()
                .map_or_else(String::new, words::basis),
            format::integer(night.runs),
            night.cost_usd.map_or_else(String::new, format::money),
            night
                .duration_seconds
                .map_or_else(String::new, format::seconds),
            nights::remarks(arm, night),
        ]);
    }
    table.drop_empty_columns();
    table
}
