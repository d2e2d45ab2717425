//! Every pair of a suite: the number of items on which the two differ, against the lead in items.

use plotters_backend::text_anchor::{HPos, VPos};

use crate::domain::Unit;
use crate::render::table::ReportTable;
use crate::render::{format, verdicts};
use crate::views::{Disagreements, Discordance, PairVerdict};

use super::Chart;
use super::axis::ChartAxis;
use super::backend::{DrawingDescription, DrawingSheet};
use super::frame::ChartFrame;
use super::ink::Ink;
use super::size::UNITS_PER_PIXEL;
use super::widths::shorten_name;

/// Number of pairs with a title and a link. Further ones are bare dots.
const MAX_TITLED_PAIRS: usize = 70;
/// Maximum number of pairs drawn, the clearest first.
const MAX_PAIRS_DRAWN: usize = 550;

/// Draws the pairs. `names` has the arms' names in their order, `link` returns the address of two arms' page.
pub fn draw_pairs(
    disagreements: &Disagreements,
    id: &str,
    names: &[String],
    link: &dyn Fn(usize, usize) -> Option<String>,
) -> Chart {
    let drawn = &disagreements.pairs[..disagreements.pairs.len().min(MAX_PAIRS_DRAWN)];
    let discordant = drawn.iter().map(|pair| pair.discordant_count() as f64);
    let reach = disagreements
        .curve
        .first()
        .map(|point| point.discordant as f64);
    let x = ChartAxis::for_amounts(
        "Items that only one of the two passes",
        Unit::Count,
        discordant.chain(reach).chain([0.0]),
    );
    let net = drawn
        .iter()
        .map(|pair| pair.net_lead() as f64)
        .chain(disagreements.curve.first().map(|point| point.net as f64));
    let y = ChartAxis::for_amounts("Lead, in items", Unit::Count, net.chain([0.0]));
    let (widest, tallest) = (x.high, y.high);
    let title = "All pairs: differences and inconsistencies".to_owned();
    let said: Vec<String> = names.iter().map(|name| shorten_name(name)).collect();
    let finding = significance_finding(disagreements, &said);
    let sheet = DrawingSheet::new(760, 380);
    let frame = ChartFrame::new(&sheet, x, y);
    let bound = widest.min(tallest);
    frame.draw_line(
        Ink::Break,
        vec![frame.position_of(0.0, 0.0), frame.position_of(bound, bound)],
    );
    let within = |point: &&crate::views::Threshold| {
        point.discordant as f64 <= widest && point.net as f64 <= tallest
    };
    let curve: Vec<_> = disagreements
        .curve
        .iter()
        .filter(within)
        .map(|point| frame.position_of(point.discordant as f64, point.net as f64))
        .collect();
    if let [_, .., (right, height)] = curve.as_slice() {
        let at = (*right, height - 4 * UNITS_PER_PIXEL);
        frame.draw_text(
            Ink::Tick,
            &format!("p = {}", alpha_text(disagreements)),
            at,
            HPos::Right,
            VPos::Bottom,
        );
        frame.draw_line(Ink::Curve, curve);
    }
    let place = |pair: &Discordance| {
        frame.position_of(pair.discordant_count() as f64, pair.net_lead() as f64)
    };
    let mut bare: Vec<&Discordance> = Vec::new();
    for (index, pair) in drawn.iter().enumerate() {
        if index >= MAX_TITLED_PAIRS || !sheet.has_room() {
            bare.push(pair);
            continue;
        }
        let kind = if has_winner(pair) {
            Ink::Strong
        } else {
            Ink::Weak
        };
        sheet.draw_group(
            &pair_description(pair, &said),
            link(pair.first, pair.second).as_deref(),
            || frame.draw_circle(kind, place(pair), 4 * UNITS_PER_PIXEL),
        );
    }
    for is_strong in [false, true] {
        let kind = if is_strong {
            Ink::StrongDots
        } else {
            Ink::WeakDots
        };
        for pair in bare.iter().filter(|pair| has_winner(pair) == is_strong) {
            frame.draw_dot(kind, place(pair));
        }
    }
    drop(frame);
    let mut notes = vec![format!(
        "Further right: more flips. Higher: flips favour one arm; the dashed line is the maximum. Above the curve, McNemar's exact test gives \
         p ≤ {} for the pair alone. Filled: the suite's verdict, adjusted for all pairs, names a winner. With several attempts at an item, a \
         flip is an item with different pass rates. Pairs at one place cover each other.",
        alpha_text(disagreements)
    )];
    let many = |number: u64| format::format_integer(number);
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
    let svg = sheet.into_svg(DrawingDescription {
        id,
        title: &title,
        finding: &finding,
    });
    Chart {
        id: id.to_owned(),
        svg,
        key: Vec::new(),
        notes,
        table: discordance_table(disagreements, names),
        title,
        finding,
    }
}

fn alpha_text(disagreements: &Disagreements) -> String {
    format::tick_label(disagreements.alpha, Unit::Number, disagreements.alpha)
}

fn has_winner(pair: &Discordance) -> bool {
    match pair.verdict {
        PairVerdict::AWins | PairVerdict::BWins => true,
        PairVerdict::Tie
        | PairVerdict::Equivalent
        | PairVerdict::NotEnoughEvidence { .. }
        | PairVerdict::NotComparable { .. }
        | PairVerdict::NoData { .. }
        | PairVerdict::DeterministicDifference { .. } => false,
    }
}

fn pair_name(pair: &Discordance, names: &[String]) -> String {
    format!("{} vs {}", names[pair.first], names[pair.second])
}

fn discordant_counts(pair: &Discordance) -> String {
    format!(
        "{} to {}",
        format::format_integer(pair.only_first),
        format::format_integer(pair.only_second)
    )
}

fn pair_description(pair: &Discordance, names: &[String]) -> String {
    format!(
        "{}: {} of {} shared items, {}",
        pair_name(pair, names),
        discordant_counts(pair),
        format::format_integer(pair.shared),
        verdict_words(pair, names)
    )
}

fn verdict_words(pair: &Discordance, names: &[String]) -> String {
    match pair.verdict {
        PairVerdict::AWins => format!("{} wins", names[pair.first]),
        PairVerdict::BWins => format!("{} wins", names[pair.second]),
        PairVerdict::Tie => "tie".to_owned(),
        PairVerdict::Equivalent => "equivalent".to_owned(),
        PairVerdict::NotEnoughEvidence { .. } => "not enough evidence".to_owned(),
        PairVerdict::NotComparable { .. } => "not comparable".to_owned(),
        PairVerdict::NoData { .. } => "no data".to_owned(),
        PairVerdict::DeterministicDifference { .. } => "fixed result".to_owned(),
    }
}

fn significance_finding(disagreements: &Disagreements, names: &[String]) -> String {
    let told = disagreements
        .pairs
        .iter()
        .filter(|pair| has_winner(pair))
        .count();
    let above = disagreements
        .pairs
        .iter()
        .filter(|pair| pair.p <= disagreements.alpha)
        .count();
    let number = |count: usize| format::format_integer(count as u64);
    let clearest = disagreements
        .pairs
        .first()
        .filter(|pair| pair.discordant_count() > 0)
        .map_or_else(String::new, |pair| {
            format!(
                " Clearest: {}, {} flips.",
                pair_name(pair, names),
                discordant_counts(pair)
            )
        });
    format!(
        "In {} of {} pairs one arm wins after adjusting for all of them. {} are significant on their own.{clearest}",
        number(told),
        number(disagreements.pairs.len()),
        number(above)
    )
}

fn discordance_table(disagreements: &Disagreements, names: &[String]) -> ReportTable {
    let mut table = ReportTable::new("All pairs, the clearest first");
    table.add_text_column("Pair", 0);
    for column in [
        "Shared items",
        "Only the first : only the second",
        "They differ on",
        "Lead",
        "p alone",
        "p adjusted",
    ] {
        table.add_number_column(column, 0);
    }
    table.add_text_column("Verdict", 0);
    for pair in &disagreements.pairs {
        table.add_row([
            pair_name(pair, names),
            format::format_integer(pair.shared),
            discordant_counts(pair),
            format::format_integer(pair.discordant_count()),
            format::format_integer(pair.net_lead()),
            verdicts::p_value(Some(pair.p)),
            pair.p_adjusted
                .map_or_else(String::new, |p| verdicts::p_value(Some(p))),
            verdict_words(pair, names),
        ]);
    }
    table
}
