//! Differences of two arms drawn around "no difference": one panel per scale, one row per metric, the margin as a band.

use std::collections::BTreeMap;

use crate::render::{format, verdicts};
use crate::views::{Comparison, Difference, Interval, PairEvidence, Scale};

use super::metrics::method_href;
use super::shell::Text;

/// Centre and half width of the drawing, which is 240 units wide, with room for half a dot at each end.
const CENTRE_X: f64 = 120.0;
const HALF_WIDTH: f64 = 112.0;
/// Factor by which the range exceeds the outermost value.
const RANGE_FACTOR: f64 = 1.08;

/// One panel of rows that share a scale.
pub(super) struct ForestPanel {
    pub id: String,
    pub caption: Text,
    /// Labels to the left and to the right of the middle.
    pub ends: [Text; 2],
    pub ticks: Vec<ForestTick>,
    /// Path of the lines at the ticks.
    pub grid: String,
    pub rows: Vec<ForestRow>,
}

pub(super) struct ForestTick {
    pub x: String,
    pub label: String,
}

/// One metric.
pub(super) struct ForestRow {
    pub metric: Text,
    /// Address of the metric's method.
    pub href: String,
    /// The difference with its interval.
    pub difference: Text,
    pub evidence: Text,
    pub margin: Option<Text>,
    pub x: String,
    pub whisker: Option<[String; 2]>,
    /// Left edge and width of the margin.
    pub band: Option<[String; 2]>,
}

/// Panels group rows with the same scale. Rates come first because they decide the verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PanelScale {
    Points,
    Ratios,
    /// A metric in a unit of its own, by its row's index.
    Own(usize),
}

/// Draws the differences of a pair. Empty if no metric has one.
pub(super) fn draw_panels(pair: &Comparison, labels: &[String], root: &str) -> Vec<ForestPanel> {
    let [first, second] = labels else {
        return Vec::new();
    };
    let mut found = BTreeMap::<PanelScale, Vec<usize>>::new();
    for (number, row) in pair.rows.iter().enumerate() {
        let Some(difference) = row
            .evidence
            .pairs
            .first()
            .and_then(|pair| pair.difference)
            .filter(is_drawable)
        else {
            continue;
        };
        let panel = match difference.scale {
            Scale::Share => PanelScale::Points,
            Scale::Ratio => PanelScale::Ratios,
            Scale::Unit => PanelScale::Own(number),
        };
        found.entry(panel).or_default().push(number);
    }
    let panel = |(number, (panel, rows)): (usize, (PanelScale, Vec<usize>))| {
        let reach = rows
            .iter()
            .filter_map(|row| largest_distance(pair.rows[*row].evidence.pairs.first()?))
            .fold(0.0, f64::max)
            * RANGE_FACTOR;
        let reach = if reach > 0.0 { reach } else { 1.0 };
        let ticks = place_ticks(panel, reach);
        let caption = match panel {
            PanelScale::Points => format!("{first} less {second}, in percentage points (pp)"),
            PanelScale::Ratios => format!("{first} over {second}: 1× is no difference"),
            PanelScale::Own(row) => {
                format!("{}: {first} less {second}", pair.rows[row].metric.label)
            }
        };
        ForestPanel {
            id: format!("differences-{number}"),
            caption: Text::from(caption),
            ends: [
                Text::from(format!("higher for {second}")),
                Text::from(format!("higher for {first}")),
            ],
            grid: ticks
                .iter()
                .flat_map(|tick| ["M", tick.x.as_str(), " 1v18"])
                .collect(),
            ticks,
            rows: rows
                .iter()
                .filter_map(|row| draw_row(pair, *row, reach, root))
                .collect(),
        }
    };
    (1..).zip(found).map(panel).collect()
}

/// Says whether a difference is on a finite scale: the logarithm of a ratio to or from zero is not.
fn is_drawable(difference: &Difference) -> bool {
    to_distance(difference, difference.value).is_finite()
}

/// Converts a value of a difference's scale to a distance from "no difference".
fn to_distance(difference: &Difference, value: f64) -> f64 {
    match difference.scale {
        Scale::Share | Scale::Unit => value,
        Scale::Ratio => value.ln(),
    }
}

/// Returns the margin as a distance from "no difference". A relative margin is a ratio above 1.
fn margin_distance(pair: &PairEvidence, difference: &Difference) -> Option<f64> {
    let margin = pair.margin?;
    Some(match difference.scale {
        Scale::Share | Scale::Unit => margin,
        Scale::Ratio => (1.0 + margin).ln(),
    })
}

/// Returns the largest distance from the middle in a row. An interval without a finite end is drawn to the edge.
fn largest_distance(pair: &PairEvidence) -> Option<f64> {
    let difference = pair.difference.as_ref()?;
    let ends = difference
        .interval
        .map_or([0.0; 2], |Interval { low, high }| {
            [low, high].map(|end| to_distance(difference, end))
        });
    let all = [
        to_distance(difference, difference.value),
        ends[0],
        ends[1],
        margin_distance(pair, difference).unwrap_or(0.0),
    ];
    Some(
        all.into_iter()
            .map(f64::abs)
            .filter(|distance| distance.is_finite())
            .fold(0.0, f64::max),
    )
}

fn draw_row(pair: &Comparison, number: usize, reach: f64, root: &str) -> Option<ForestRow> {
    let row = &pair.rows[number];
    let evidence = row.evidence.pairs.first()?;
    let difference = evidence.difference.as_ref()?;
    let at = |value: f64| {
        CENTRE_X + HALF_WIDTH * (to_distance(difference, value) / reach).clamp(-1.0, 1.0)
    };
    let coordinate = |x: f64| format!("{x:.2}");
    Some(ForestRow {
        metric: Text::new(&row.metric.label),
        href: method_href(&row.metric, root),
        difference: Text::from(verdicts::pair_change(&row.metric, evidence).unwrap_or_default()),
        evidence: Text::from(verdicts::verdict_cell(pair, row)),
        margin: evidence.margin.map(|_| {
            Text::from(format!(
                "margin {}",
                verdicts::margin_text(&row.metric, evidence)
            ))
        }),
        x: coordinate(at(difference.value)),
        whisker: difference
            .interval
            .map(|ends| [coordinate(at(ends.low)), coordinate(at(ends.high))]),
        band: margin_distance(evidence, difference).map(|margin| {
            let half = HALF_WIDTH * (margin / reach).min(1.0);
            [coordinate(CENTRE_X - half), coordinate(2.0 * half)]
        }),
    })
}

/// Returns three ticks: the middle, and a round number on each side.
fn place_ticks(panel: PanelScale, reach: f64) -> Vec<ForestTick> {
    let tick = |distance: f64, label: String| ForestTick {
        x: format!("{:.2}", CENTRE_X + HALF_WIDTH * distance / reach),
        label,
    };
    match panel {
        PanelScale::Ratios => {
            const FACTORS: [f64; 12] = [
                1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1_000.0,
            ];
            let factor = FACTORS
                .into_iter()
                .rfind(|factor| factor.ln() <= reach)
                .unwrap_or(FACTORS[0]);
            vec![
                tick(-factor.ln(), format!("1/{factor}×")),
                tick(0.0, "1×".to_owned()),
                tick(factor.ln(), format!("{factor}×")),
            ]
        }
        PanelScale::Points | PanelScale::Own(_) => {
            let scale = if panel == PanelScale::Points {
                100.0
            } else {
                1.0
            };
            let step = largest_round_step(reach * scale);
            let decimals = usize::from(step < 1.0) + usize::from(step < 0.1);
            let label = |value: f64| {
                if value == 0.0 {
                    "0".to_owned()
                } else {
                    format::signed_number(value, decimals)
                }
            };
            [-step, 0.0, step]
                .into_iter()
                .map(|value| tick(value / scale, label(value)))
                .collect()
        }
    }
}

/// Returns the largest of 1, 2 and 5 times a power of ten up to `most`.
fn largest_round_step(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    [5.0, 2.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step <= most)
        .unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_numbers_that_are_easy_to_read() {
        for (most, expected) in [
            (0.9, 0.5),
            (1.0, 1.0),
            (19.0, 10.0),
            (23.0, 20.0),
            (77.0, 50.0),
            (0.03, 0.02),
        ] {
            assert!(
                (largest_round_step(most) - expected).abs() < 1e-12,
                "{most}: {}",
                largest_round_step(most)
            );
        }
        let labels = |panel, reach| {
            place_ticks(panel, reach)
                .into_iter()
                .map(|tick| tick.label)
                .collect::<Vec<String>>()
        };
        assert_eq!(labels(PanelScale::Points, 0.12), ["−10", "0", "+10"]);
        assert_eq!(labels(PanelScale::Ratios, 0.8), ["1/2×", "1×", "2×"]);
        let middle = &place_ticks(PanelScale::Ratios, 0.8)[1];
        assert_eq!(middle.x, "120.00");
    }
}
