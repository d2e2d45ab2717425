//! The difference of two arms in one drawing: value, interval, zero and the declared margin.

use crate::render::verdicts;
use crate::views::{ComparisonRow, PairEvidence, PairVerdict, Scale};

use super::arms::AxisTick;
use super::interval_bar::{self, IntervalMark, LinearAxis};
use super::shell::Text;

/// The difference on an axis with zero.
pub(super) struct DifferencePlot {
    /// The metric, both arms and the numbers, for readers who cannot see the drawing.
    pub about: Text,
    pub value: PlotLabel,
    /// The ends of the interval.
    pub ends: Option<[PlotLabel; 2]>,
    pub mark: IntervalMark,
    pub zero: String,
    pub zero_anchor: &'static str,
    /// Round differences along the axis. The last has the unit.
    pub ticks: Vec<AxisTick>,
    /// Left edge, width and label of the margin.
    pub band: Option<(String, String, Text)>,
    /// Whether the interval excludes zero, or no run varies.
    pub is_clear: bool,
    /// Labels to the left and right of zero: the better arm there.
    pub sides: [Text; 2],
}

/// Text at a position, kept within the drawing.
pub(super) struct PlotLabel {
    pub x: String,
    pub anchor: &'static str,
    pub text: Text,
}

impl DifferencePlot {
    /// Draws the difference of two arms. Returns `None` for a ratio or without a difference.
    pub fn from_evidence(
        row: &ComparisonRow,
        pair: &PairEvidence,
        names: [&str; 2],
    ) -> Option<Self> {
        let found = pair
            .difference
            .filter(|found| found.scale != Scale::Ratio)?;
        let margin = pair.margin.filter(|margin| *margin > 0.0);
        let ends = found
            .interval
            .into_iter()
            .flat_map(|ends| [ends.low, ends.high]);
        let band = margin.into_iter().flat_map(|margin| [-margin, margin]);
        let axis = LinearAxis::from_values(
            &[0.0, found.value]
                .into_iter()
                .chain(ends)
                .chain(band)
                .collect::<Vec<f64>>(),
            None,
        )?;
        let unit = if found.scale == Scale::Share {
            " pp"
        } else {
            ""
        };
        let number = |value: f64| {
            if found.scale == Scale::Share {
                value * 100.0
            } else {
                value
            }
        };
        let end = |value: f64| {
            let sign = match value {
                value if value > 1e-9 => "+",
                value if value < -1e-9 => "\u{2212}",
                _ => "",
            };
            format!(
                "{sign}{}",
                interval_bar::format_axis_end(number(value).abs())
            )
        };
        let said = verdicts::pair_change(&row.metric, pair).unwrap_or_default();
        let (value, inner) = said.split_once(" [").unwrap_or((&said, ""));
        let inner: Vec<&str> = inner.trim_end_matches(']').split(", ").collect();
        let is_lower_better = row.metric.direction == crate::domain::Direction::Down;
        let better = |place: usize| Text::from(format!("{} is better", names[place]));
        Some(Self {
            about: Text::from(format!(
                "{}: {} minus {}: {said}",
                row.metric.label, names[0], names[1]
            )),
            value: PlotLabel::new(&axis, found.value, value),
            ends: found.interval.zip(inner.get(1)).map(|(ends, high)| {
                [
                    PlotLabel::new(&axis, ends.low, inner[0]),
                    PlotLabel::new(&axis, ends.high, high),
                ]
            }),
            mark: axis.mark_interval(found.value, found.interval),
            zero: axis.percent_at(0.0),
            zero_anchor: PlotLabel::new(&axis, 0.0, "").anchor,
            ticks: {
                let ticks = axis.ticks();
                let last = ticks.len().saturating_sub(1);
                let label = |(at, tick): (usize, f64)| AxisTick {
                    x: axis.percent_at(tick),
                    label: format!("{}{}", end(tick), if at == last { unit } else { "" }),
                    anchor: PlotLabel::new(&axis, tick, "").anchor,
                };
                ticks.into_iter().enumerate().map(label).collect()
            },
            band: margin.map(|margin| {
                let width =
                    interval_bar::width_percent(axis.position(margin) - axis.position(-margin));
                (
                    axis.percent_at(-margin),
                    width,
                    Text::from(format!(
                        "margin ±{}",
                        verdicts::margin_text(&row.metric, pair)
                    )),
                )
            }),
            is_clear: pair.verdict.winning_place().is_some()
                || matches!(pair.verdict, PairVerdict::DeterministicDifference { .. }),
            sides: if is_lower_better {
                [better(0), better(1)]
            } else {
                [better(1), better(0)]
            },
        })
    }
}

impl PlotLabel {
    fn new(axis: &LinearAxis, value: f64, text: &str) -> Self {
        let anchor = match axis.position(value) {
            share if share < 0.08 => "start",
            share if share > 0.92 => "end",
            _ => "middle",
        };
        Self {
            x: axis.percent_at(value),
            anchor,
            text: Text::new(text),
        }
    }
}
