//! One axis for a column of differences, so that their sizes can be compared down the column.

use crate::views::{Difference, Scale};

use super::arms::AxisTick;
use super::interval_bar::{self, IntervalMark, LinearAxis};

/// Largest difference that the axis shows. What is longer is cut, with an arrow.
const MAX_REACH: f64 = 0.6;
/// Maximum number of labelled ticks.
const MAX_TICKS: usize = 5;

/// The axis of all differences of rates in a table.
pub(super) struct DifferenceAxis {
    axis: LinearAxis,
}

/// A difference on the common axis.
pub(super) struct DrawnDifference {
    pub mark: IntervalMark,
    /// Whether the interval goes on beyond the left and the right end.
    pub is_cut: [bool; 2],
}

impl DifferenceAxis {
    /// Returns an axis that holds zero and all differences of rates with their intervals, or `None` without any.
    pub fn from_differences(all: impl Iterator<Item = Difference>) -> Option<Self> {
        let mut numbers: Vec<f64> = all
            .filter(|found| found.scale == Scale::Share)
            .flat_map(|found| {
                let ends = found
                    .interval
                    .map_or([found.value; 2], |ends| [ends.low, ends.high]);
                [found.value, ends[0], ends[1]]
            })
            .map(|number| number.clamp(-MAX_REACH, MAX_REACH))
            .collect();
        if numbers.is_empty() {
            return None;
        }
        numbers.push(0.0);
        Some(Self {
            axis: LinearAxis::from_values(&numbers, None)?,
        })
    }

    pub fn zero(&self) -> String {
        self.axis.percent_at(0.0)
    }

    /// Returns round numbers with zero among them, at most [`MAX_TICKS`].
    pub fn ticks(&self) -> Vec<AxisTick> {
        let (low, high) = (self.axis.low * 100.0, self.axis.high * 100.0);
        let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
            .into_iter()
            .find(|step| (high / step).floor() - (low / step).ceil() < MAX_TICKS as f64)
            .unwrap_or(100.0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the numbers of a few ticks"
        )]
        let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
        (first..=last)
            .map(|number| {
                let points = number as f64 * step;
                let share = self.axis.position(points / 100.0);
                AxisTick {
                    x: interval_bar::width_percent(share),
                    label: crate::render::format::signed_number(points, 0),
                    anchor: match share {
                        share if share < 0.06 => "start",
                        share if share > 0.94 => "end",
                        _ => "middle",
                    },
                }
            })
            .collect()
    }

    /// Places a difference of rates. Returns `None` for other differences.
    pub fn place(&self, found: Difference) -> Option<DrawnDifference> {
        (found.scale == Scale::Share).then(|| DrawnDifference {
            mark: self.axis.mark_interval(found.value, found.interval),
            is_cut: found.interval.map_or([false; 2], |ends| {
                [ends.low < self.axis.low, ends.high > self.axis.high]
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::Interval;

    fn found(value: f64, low: f64, high: f64) -> Difference {
        Difference {
            value,
            scale: Scale::Share,
            interval: Interval::new(low, high),
        }
    }

    #[test]
    fn a_larger_difference_is_drawn_further_from_zero() {
        let all = [
            found(0.05, 0.01, 0.09),
            found(0.3, 0.1, 0.5),
            found(-0.02, -0.2, 0.1),
        ];
        let axis = DifferenceAxis::from_differences(all.into_iter()).expect("differences");
        let x = |of: Difference| {
            axis.place(of)
                .and_then(|drawn| drawn.mark.x.parse::<f64>().ok())
                .expect("a place")
        };
        assert!(x(all[2]) < x(all[0]) && x(all[0]) < x(all[1]));
        let zero: f64 = axis.zero().parse().expect("a number");
        // Equal distances on the axis are equal differences.
        assert!(((x(all[1]) - zero) / (x(all[0]) - zero) - 6.0).abs() < 0.01);
        assert!(axis.ticks().iter().any(|tick| tick.label == "0"));
    }

    #[test]
    fn an_interval_beyond_the_axis_is_cut() {
        let wide = found(0.4, -0.1, 0.9);
        let axis = DifferenceAxis::from_differences([wide].into_iter()).expect("a difference");
        assert_eq!(
            axis.place(wide).map(|drawn| drawn.is_cut),
            Some([false, true])
        );
        let ratio = Difference {
            scale: Scale::Ratio,
            ..wide
        };
        assert!(axis.place(ratio).is_none());
        assert!(DifferenceAxis::from_differences([ratio].into_iter()).is_none());
    }
}
