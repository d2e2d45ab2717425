//! Drawings in a table's row, as wide as their column. Positions are shares of the width, so nothing has to be measured.

use crate::render::format;
use crate::views::Interval;

/// Space beyond the outermost mark, as a share of the drawn range.
const AXIS_PADDING: f64 = 0.06;
/// Minimum ratio of the ends of a logarithmic axis. It has room for two ticks.
const MIN_RATIO: f64 = 2.2;

/// The range of numbers that a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinearAxis {
    pub low: f64,
    pub high: f64,
}

/// A value with its interval, in percent of the width.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct IntervalMark {
    pub x: String,
    pub ends: Option<(String, String)>,
}

impl LinearAxis {
    /// Returns an axis that includes all numbers with some space and ends at round numbers, limited to `within`. `None` without finite
    /// numbers.
    pub fn from_values(numbers: &[f64], within: Option<(f64, f64)>) -> Option<Self> {
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
        let span = if high > low {
            high - low
        } else {
            low.abs().max(1.0) * 0.1
        };
        let (low, high) = (low - AXIS_PADDING * span, high + AXIS_PADDING * span);
        let step = round_step((high - low) / 4.0);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Some(match within {
            Some((least, most)) => Self {
                low: low.max(least),
                high: high.min(most),
            },
            None => Self { low, high },
        })
    }

    /// Returns evenly spaced round numbers from one end to the other.
    pub fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        // The fewest steps that give round numbers.
        let is_round = |count: &u32| {
            let step = span / f64::from(*count);
            (round_step(step * (1.0 + 1e-9)) - step).abs() <= 1e-6 * step
        };
        let count = (3..=12).find(is_round).unwrap_or(4);
        (0..=count)
            .map(|number| self.low + span * f64::from(number) / f64::from(count))
            .collect()
    }

    /// Returns a number's position, as a share of the width.
    pub fn position(&self, number: f64) -> f64 {
        ((number - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Returns a number's position in percent of the width.
    pub fn percent_at(&self, number: f64) -> String {
        width_percent(self.position(number))
    }

    pub fn mark_interval(&self, value: f64, interval: Option<Interval>) -> IntervalMark {
        IntervalMark {
            x: self.percent_at(value),
            ends: interval.map(|ends| (self.percent_at(ends.low), self.percent_at(ends.high))),
        }
    }
}

/// Formats a share of the width in percent.
pub(super) fn width_percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// A range of positive amounts on a logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LogAxis {
    pub low: f64,
    pub high: f64,
}

impl LogAxis {
    /// Returns an axis that includes all positive amounts with some space, or `None` without any.
    pub fn from_amounts(amounts: &[f64]) -> Option<Self> {
        let above = || {
            amounts
                .iter()
                .copied()
                .filter(|amount| amount.is_finite() && *amount > 0.0)
        };
        let (low, high) = (above().reduce(f64::min)?, above().reduce(f64::max)?);
        let ratio = high / low;
        let air = ratio
            .powf(2.0 * AXIS_PADDING)
            .max((MIN_RATIO / ratio).sqrt());
        Some(Self {
            low: low / air,
            high: high * air,
        })
    }

    /// Returns an amount's position, as a share of the width.
    pub fn position(&self, amount: f64) -> f64 {
        ((amount / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// Returns at least two round amounts on the axis: powers of ten, or as many digits between them as there is room for.
    pub fn ticks(&self) -> Vec<f64> {
        let of = |digits: &[f64]| -> Vec<f64> {
            let all = (-9..=9)
                .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
            all.filter(|tick| (self.low..=self.high).contains(tick))
                .collect()
        };
        let finest_first: [&[f64]; 3] = [
            &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
            &[1.0, 2.0, 5.0],
            &[1.0],
        ];
        finest_first
            .into_iter()
            .map(of)
            .find(|ticks| ticks.len() <= 5)
            .unwrap_or_else(|| of(&[1.0]))
    }
}

/// Formats the end of an axis with the decimals that it needs, at most two.
pub(super) fn format_axis_end(number: f64) -> String {
    let text = format::fixed_decimals(number, 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the largest of 1, 2, 2.5 and 5 times a power of ten up to `most`.
fn round_step(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    [5.0, 2.5, 2.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step <= most * (1.0 + 1e-9))
        .unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(numbers: &[f64], within: Option<(f64, f64)>) -> [String; 2] {
        let axis = LinearAxis::from_values(numbers, within).expect("numbers");
        [axis.low, axis.high].map(|end| format!("{end:.4}"))
    }

    #[test]
    fn an_axis_fits_its_numbers_and_ends_at_round_ones() {
        assert_eq!(
            ends(&[0.831, 0.916, 0.816], Some((0.0, 1.0))),
            ["0.8000", "0.9250"]
        );
        assert_eq!(ends(&[0.639, 1.0], Some((0.0, 1.0))), ["0.6000", "1.0000"]);
        assert_eq!(ends(&[0.0, 0.135, 0.19], None), ["-0.0500", "0.2500"]);
        // A single number has an axis, too.
        let one = LinearAxis::from_values(&[0.5], Some((0.0, 1.0))).expect("a number");
        assert!(one.low < 0.5 && one.high > 0.5);
        assert_eq!(LinearAxis::from_values(&[f64::NAN], None), None);
    }

    #[test]
    fn ticks_are_round_and_reach_both_ends() {
        let ticks = |low: f64, high: f64| {
            LinearAxis { low, high }
                .ticks()
                .into_iter()
                .map(|tick| format!("{tick:.3}"))
                .collect::<Vec<String>>()
        };
        assert_eq!(
            ticks(0.0, 1.0),
            ["0.000", "0.250", "0.500", "0.750", "1.000"]
        );
        assert_eq!(
            ticks(0.3, 1.0),
            [
                "0.300", "0.400", "0.500", "0.600", "0.700", "0.800", "0.900", "1.000"
            ]
        );
        assert_eq!(ticks(0.175, 0.375).len(), 5);
        let costs = LogAxis::from_amounts(&[0.05, 0.9, 0.0]).expect("amounts");
        let round: Vec<String> = costs
            .ticks()
            .into_iter()
            .map(|tick| format!("{tick:.2}"))
            .collect();
        assert_eq!(round, ["0.05", "0.10", "0.20", "0.50", "1.00"]);
        let narrow = LogAxis::from_amounts(&[2.19]).expect("an amount");
        assert!(narrow.ticks().len() >= 2, "{:?}", narrow.ticks());
        assert!(
            costs.position(0.05) > 0.0
                && costs.position(0.9) < 1.0
                && LogAxis::from_amounts(&[0.0]).is_none()
        );
    }

    #[test]
    fn marks_stand_at_shares_of_the_width() {
        let axis = LinearAxis {
            low: 0.5,
            high: 1.0,
        };
        let mark = axis.mark_interval(0.75, Interval::new(0.6, 1.2));
        assert_eq!(
            mark,
            IntervalMark {
                x: "50.00".to_owned(),
                ends: Some(("20.00".to_owned(), "100.00".to_owned()))
            }
        );
    }
}
