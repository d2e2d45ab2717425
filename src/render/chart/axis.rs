//! Axes: range, scale and ticks.

use std::ops::Range;

use chrono::{Days, NaiveDate};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::domain::Unit;
use crate::render::format;

/// Maximum number of ticks on an axis.
const MAX_TICKS: usize = 7;
/// Ratio of largest to smallest amount from which on the scale is logarithmic.
const MIN_LOG_RATIO: f64 = 20.0;
/// Possible steps between ticks of a time, in seconds.
const TIME_STEPS: [f64; 26] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0,
    120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 18_000.0, 36_000.0, 86_400.0,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AxisScale {
    Linear,
    Log,
}

/// One axis. [`ChartAxis::value_position`] maps values to positions on it.
#[derive(Clone, Debug)]
pub(super) struct ChartAxis {
    pub name: String,
    scale: AxisScale,
    /// Ends of the range, as positions.
    pub low: f64,
    pub high: f64,
    /// Positions with their labels.
    pub ticks: Vec<(f64, String)>,
}

impl ChartAxis {
    /// Creates an axis for shares. Its range holds all values and ends at ticks.
    pub fn for_shares(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = finite_range(values).unwrap_or((0.0, 1.0));
        let steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25];
        let fits =
            |step: &&f64| ((high / **step).ceil() - (low / **step).floor()) < MAX_TICKS as f64;
        let step = steps.iter().find(fits).copied().unwrap_or(0.25);
        // Shares are between 0% and 100%, and the ends of a range differ.
        let first = (low / step + 1e-9).floor().max(0.0);
        let last = (high / step - 1e-9)
            .ceil()
            .max(first + 1.0)
            .min((1.0 / step).round());
        let first = first.min(last - 1.0);
        Self::linear(name, Unit::Fraction, first * step, last * step, step)
    }

    /// Creates an axis for amounts. It starts at zero, or is logarithmic if the amounts differ by [`MIN_LOG_RATIO`] times or more.
    pub fn for_amounts(name: &str, unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let (smallest, largest) = finite_range(values).unwrap_or((0.0, 1.0));
        if smallest > 0.0 && largest / smallest >= MIN_LOG_RATIO {
            return Self::log(name, unit, smallest, largest);
        }
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let step = tick_step(unit, largest);
        Self::linear(
            name,
            unit,
            0.0,
            (largest / step - 1e-9).ceil().max(1.0) * step,
            step,
        )
    }

    /// Creates an axis for days.
    pub fn for_days(name: &str, first: NaiveDate, last: NaiveDate) -> Self {
        let span = u64::try_from((last - first).num_days()).unwrap_or(0).max(1);
        let steps = [1, 2, 7, 14, 28, 91, 182, 364];
        let step = steps
            .into_iter()
            .find(|step| span / step < MAX_TICKS as u64)
            .unwrap_or(span.div_ceil(6));
        let dates =
            (0..=span / step).filter_map(|index| first.checked_add_days(Days::new(index * step)));
        let ticks = dates
            .map(|date| (Self::day_value(first, date), date.to_string()))
            .collect();
        // Room for half a mark at each end.
        let margin = span as f64 / 40.0;
        Self {
            name: name.to_owned(),
            scale: AxisScale::Linear,
            low: -margin,
            high: span as f64 + margin,
            ticks,
        }
    }

    /// Returns a date as a value on an axis of days.
    pub fn day_value(first: NaiveDate, date: NaiveDate) -> f64 {
        (date - first).num_days() as f64
    }

    /// Returns a value's position on the axis.
    pub fn value_position(&self, value: f64) -> f64 {
        let place = match self.scale {
            AxisScale::Linear => value,
            AxisScale::Log if value > 0.0 => value.log10(),
            AxisScale::Log => self.low,
        };
        place.clamp(self.low, self.high)
    }

    pub fn is_log(&self) -> bool {
        self.scale == AxisScale::Log
    }

    /// Says whether the range excludes zero.
    pub fn is_cut(&self) -> bool {
        self.scale == AxisScale::Linear && self.low > 0.0
    }

    fn linear(name: &str, unit: Unit, low: f64, high: f64, step: f64) -> Self {
        let mut ticks = Vec::new();
        let mut number = (low / step).round();
        while number * step <= high + step * 1e-6 {
            ticks.push((number * step, format::tick_label(number * step, unit, step)));
            number += 1.0;
        }
        Self {
            name: name.to_owned(),
            scale: AxisScale::Linear,
            low,
            high,
            ticks,
        }
    }

    fn log(name: &str, unit: Unit, smallest: f64, largest: f64) -> Self {
        let (low, high) = (smallest.log10(), largest.log10());
        let margin = (high - low) / 25.0;
        let (low, high) = (low - margin, high + margin);
        let within = |value: &f64| (low..=high).contains(&value.log10());
        let all: Vec<f64> = if unit == Unit::Seconds && high < 5.0 && low > -3.0 {
            TIME_STEPS.into_iter().filter(within).collect()
        } else {
            powers_of_ten(low, high)
                .flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * decade))
                .filter(within)
                .collect()
        };
        let whole: Vec<f64> = powers_of_ten(low, high).filter(within).collect();
        let chosen = if all.len() <= MAX_TICKS {
            all
        } else if whole.len() > 2 && unit != Unit::Seconds {
            every_nth(&whole, MAX_TICKS)
        } else {
            every_nth(&all, MAX_TICKS)
        };
        let ticks = chosen
            .into_iter()
            .map(|value| (value.log10(), format::tick_label(value, unit, value)))
            .collect();
        Self {
            name: name.to_owned(),
            scale: AxisScale::Log,
            low,
            high,
            ticks,
        }
    }
}

/// Lets plotters use an axis, by positions only.
impl Ranged for ChartAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a place within the range is a place on the sheet"
    )]
    fn map(&self, place: &f64, (start, end): (i32, i32)) -> i32 {
        let share = (place - self.low) / (self.high - self.low);
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // No light lines between the ticks.
        if hint.weight().allow_light_points() {
            Vec::new()
        } else {
            self.ticks.iter().map(|(place, _)| *place).collect()
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for ChartAxis {
    fn format_ext(&self, place: &f64) -> String {
        let tick = self
            .ticks
            .iter()
            .find(|(own, _)| own.to_bits() == place.to_bits());
        tick.map_or_else(String::new, |(_, text)| text.clone())
    }
}

fn finite_range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold(None, |range, value| {
            let (low, high) = range.unwrap_or((value, value));
            Some((f64::min(low, value), f64::max(high, value)))
        })
}

/// Returns the powers of ten around a range of exponents.
#[expect(
    clippy::cast_possible_truncation,
    reason = "exponents of finite numbers are below 309"
)]
fn powers_of_ten(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (low.floor() as i32..=high.ceil() as i32).map(|exponent| 10f64.powi(exponent))
}

/// Returns every second, third … value, so that at most `most` are left.
fn every_nth(values: &[f64], most: usize) -> Vec<f64> {
    values
        .iter()
        .step_by(values.len().div_ceil(most).max(1))
        .copied()
        .collect()
}

/// Returns the distance between ticks from zero to `largest`.
fn tick_step(unit: Unit, largest: f64) -> f64 {
    let fits = |step: &f64| largest / step <= (MAX_TICKS - 1) as f64;
    let times = TIME_STEPS.into_iter().filter(|_| unit == Unit::Seconds);
    let least = if matches!(unit, Unit::Count | Unit::Tokens) {
        1.0
    } else {
        0.0
    };
    let round = powers_of_ten(largest.log10() - 2.0, largest.log10())
        .flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * decade));
    times
        .chain(round.filter(|step| *step >= least))
        .find(fits)
        .unwrap_or(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(axis: &ChartAxis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn shares_hold_every_value_and_end_at_ticks() {
        let axis = ChartAxis::for_shares("x", [0.432, 0.871]);
        assert_eq!(words(&axis), ["40%", "50%", "60%", "70%", "80%", "90%"]);
        assert!(axis.is_cut());
        assert_eq!(
            words(&ChartAxis::for_shares("x", [0.0, 1.0])),
            ["0%", "20%", "40%", "60%", "80%", "100%"]
        );
        assert_eq!(
            words(&ChartAxis::for_shares("x", [1.0, 1.0])),
            ["99%", "100%"]
        );
        assert_eq!(words(&ChartAxis::for_shares("x", [0.0])), ["0%", "1%"]);
        assert_eq!(words(&ChartAxis::for_shares("x", [])).len(), 6);
    }

    #[test]
    fn amounts_start_at_zero_unless_they_differ_too_much() {
        assert_eq!(
            words(&ChartAxis::for_amounts("x", Unit::Usd, [0.12, 0.52])),
            [
                "$0.00", "$0.10", "$0.20", "$0.30", "$0.40", "$0.50", "$0.60"
            ]
        );
        assert_eq!(
            words(&ChartAxis::for_amounts("x", Unit::Usd, [0.34, 186.5])),
            ["$1", "$10", "$100"]
        );
        assert_eq!(
            words(&ChartAxis::for_amounts("x", Unit::Usd, [0.5, 12.0])),
            ["$0.50", "$1", "$2", "$5", "$10"]
        );
        assert_eq!(
            words(&ChartAxis::for_amounts("x", Unit::Seconds, [135.0, 754.0])),
            ["0", "5 min", "10 min", "15 min"]
        );
        assert_eq!(
            words(&ChartAxis::for_amounts("x", Unit::Count, [3.0])),
            ["0", "1", "2", "3"]
        );
        assert_eq!(
            words(&ChartAxis::for_amounts("x", Unit::Usd, [0.0])).len(),
            6
        );
        let axis = ChartAxis::for_amounts("x", Unit::Usd, [0.34, 186.5]);
        assert!(
            axis.is_log()
                && axis.value_position(-1.0) <= axis.low
                && axis.value_position(1e9) <= axis.high
        );
    }

    #[test]
    fn days_are_as_far_apart_as_they_are() {
        let day = |day| NaiveDate::from_ymd_opt(2026, 1, day).expect("a day");
        assert_eq!(
            words(&ChartAxis::for_days("x", day(1), day(3))),
            ["2026-01-01", "2026-01-02", "2026-01-03"]
        );
        assert_eq!(
            words(&ChartAxis::for_days("x", day(1), day(20))),
            ["2026-01-01", "2026-01-08", "2026-01-15"]
        );
        assert_eq!(
            words(&ChartAxis::for_days("x", day(5), day(5))),
            ["2026-01-05", "2026-01-06"]
        );
    }
}
