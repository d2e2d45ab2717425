//! Every pair of a suite: the number of items on which the two differ, against the lead in items.

use plotters_backend::text_anchor::{HPos, VPos};

use crate::domain::Unit;
use crate::render::table::Table;
use crate::render::{format, verdicts};
use crate::views::{Disagreements, Discordance, Verdict};

use super::Chart;
use super::axis::Axis;
use super::backend::{About, Sheet};
use super::frame::Frame;
use super::ink::Ink;
use super::size::UNIT;
use super::widths::brief;

/// Number of pairs with a title and a link. Further ones are bare dots.
const FULL: usize = 70;
/// Maximum number of pairs drawn, the clearest first.
const MOST: usize = 550;

/// Draws the pairs. `names` has the arms' names in their order, `link` returns the address of two arms' page.
pub fn pairs(
    disagreements: &Disagreements,
    id: &str,
    names: &[String],
    link: &dyn Fn(usize, usize) -> Option<String>,
) -> Chart {
    let drawn = &disagreements.pairs[..disagreements.pairs.len().min(MOST)];
    let discordant = drawn.iter().map(|pair| pair.discordant() as f64);
    let reach = disagreements
        .curve
        .first()
        .map(|point| point.discordant as f64);
    let x = Axis::amounts(
        "Items that only one of the two passes",
        Unit::Count,
        discordant.chain(reach).chain([0.0]),
    );
    let net = drawn
        .iter()
        .map(|pair| pair.net() as f64)
        .chain(disagreements.curve.first().map(|point| point.net as f64));
    let y = Axis::amounts("Lead, in items", Unit::Count, net.chain([0.0]));
    let (widest, tallest) = (x.high, y.high);
    let title = "All pairs: differences and inconsistencies".to_owned();
    let said: Vec<String> = names.iter().map(|name| brief(name)).collect();
    let finding = finding(disagreements, &said);
    let sheet = Sheet::new(760, 380);
    let frame = Frame::new(&sheet, x, y);
    let bound = widest.min(tallest);
    frame.line(Ink::Break, vec![frame.at(0.0, 0.0), frame.at(bound, bound)]);
    let within = |point: &&crate::views::Threshold| {
        point.discordant as f64 <= widest && point.net as f64 <= tallest
    };
    let curve: Vec<_> = disagreements
        .curve
        .iter()
        .filter(within)
        .map(|point| frame.at(point.discordant as f64, point.net as f64))
        .collect();
    if let [_, .., (right, height)] = curve.as_slice() {
        let at = (*right, height - 4 * UNIT);
        frame.text(
            Ink::Tick,
            &format!("p = {}", alpha(disagreements)),
            at,
            HPos::Right,
            VPos::Bottom,
        );
        frame.line(Ink::Curve, curve);
    }
    let place = |pair: &Discordance| frame.at(pair.discordant() as f64, pair.net() as f64);
    let mut bare: Vec<&Discordance> = Vec::new();
    for (index, pair) in drawn.iter().enumerate() {
        if index >= FULL || !sheet.has_room() {
            bare.push(pair);
            continue;
        }
        let kind = if is_told(pair) {
            Ink::Strong
        } else {
            Ink::Weak
        };
        sheet.group(
            &about(pair, &said),
            link(pair.first, pair.second).as_deref(),
            || frame.circle(kind, place(pair), 4 * UNIT),
        );
    }
    for is_strong in [false, true] {
        let kind = if is_strong {
            Ink::StrongDots
        } else {
            Ink::WeakDots
        };
        for pair in bare.iter().filter(|pair| is_told(pair) == is_strong) {
            frame.dot(kind, place(pair));
        }
    }
    drop(frame);
    let mut notes = vec![format!(
        "Further right: more flips. Higher: flips favour one arm; the dashed line is the maximum. Above the curve, McNemar's exact test gives \
         p ≤ {} for the pair alone. Filled: the suite's verdict, adjusted for all pairs, names a winner. With several attempts at an item, a \
         flip is an item with different pass rates. Pairs at one place cover each other.",
        alpha(disagreements)
    )];
    let many = |number: u64| format::integer(number);
    if disagreements.pairs.len() > drawn.len() {
        notes.push(format!(
            "Showing the clearest {} of {} pairs.",
            many(drawn.len() as u64),
            many(disagreements.pairs.len() as u64)
        ));
    }
    match disagreements.left_out {
        0 => {}
        1 => notes.push("1 pair shares no item whose outcomes are known.".to_owned()),
        more => notes.push(format!(
            "{} pairs share no item whose outcomes are known.",
            many(more)
        )),
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
        table: table(disagreements, names),
        title,
        finding,
    }
}

fn alpha(disagreements: &Disagreements) -> String {
    format::tick(disagreements.alpha, Unit::Number, disagreements.alpha)
}

fn is_told(pair: &Discordance) -> bool {
    match pair.verdict {
        Verdict::AWins | Verdict::BWins => true,
        Verdict::Tie
        | Verdict::Equivalent
        | Verdict::NotEnoughEvidence { .. }
        | Verdict::NotComparable { .. }
        | Verdict::NoData { .. }
        | Verdict::DeterministicDifference { .. } => false,
    }
}

fn pair_name(pair: &Discordance, names: &[String]) -> String {
    format!("{} vs {}", names[pair.first], names[pair.second])
}

fn counts(pair: &Discordance) -> String {
    format!(
        "{} to {}",
        format::integer(pair.only_first),
        format::integer(pair.only_second)
    )
}

fn about(pair: &Discordance, names: &[String]) -> String {
    format!(
        "{}: {} of {} shared items, {}",
        pair_name(pair, names),
        counts(pair),
        format::integer(pair.shared),
        verdict(pair, names)
    )
}

fn verdict(pair: &Discordance, names: &[String]) -> String {
    match pair.verdict {
        Verdict::AWins => format!("{} wins", names[pair.first]),
        Verdict::BWins => format!("{} wins", names[pair.second]),
        Verdict::Tie => "tie".to_owned(),
        Verdict::Equivalent => "equivalent".to_owned(),
        Verdict::NotEnoughEvidence { .. } => "not enough evidence".to_owned(),
        Verdict::NotComparable { .. } => "not comparable".to_owned(),
        Verdict::NoData { .. } => "no data".to_owned(),
        Verdict::DeterministicDifference { .. } => "fixed result".to_owned(),
    }
}

fn finding(disagreements: &Disagreements, names: &[String]) -> String {
    let told = disagreements
        .pairs
        .iter()
        .filter(|pair| is_told(pair))
        .count();
    let above = disagreements
        .pairs
        .iter()
        .filter(|pair| pair.p <= disagreements.alpha)
        .count();
    let number = |count: usize| format::integer(count as u64);
    let clearest = disagreements
        .pairs
        .first()
        .filter(|pair| pair.discordant() > 0)
        .map_or_else(String::new, |pair| {
            format!(
                " Clearest: {}, {} flips.",
                pair_name(pair, names),
                counts(pair)
            )
        });
    format!(
        "In {} of {} pairs one arm wins after adjusting for all of them. {} are significant on their own.{clearest}",
        number(told),
        number(disagreements.pairs.len()),
        number(above)
    )
}

fn table(disagreements: &Disagreements, names: &[String]) -> Table {
    let mut table = Table::new("All pairs, the clearest first");
    table.left("Pair", 0);
    for column in [
        "Shared items",
        "Only the first : only the second",
        "They differ on",
        "Lead",
        "p alone",
        "p adjusted",
    ] {
        table.right(column, 0);
    }
    table.left("Verdict", 0);
    for pair in &disagreements.pairs {
        table.row([
            pair_name(pair, names),
            format::integer(pair.shared),
            counts(pair),
            format::integer(pair.discordant()),
            format::integer(pair.net()),
            verdicts::p_value(Some(pair.p)),
            pair.p_adjusted
                .map_or_else(String::new, |p| verdicts::p_value(Some(p))),
            verdict(pair, names),
        ]);
    }
    table
}
