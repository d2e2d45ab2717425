//! The four outcomes of two arms as areas in proportion to their numbers of items.

use crate::render::format;
use crate::views::Flips;

/// Minimum width and height of an area that shows its number, in percent.
const MIN_LABELLED_SIZE: (f64, f64) = (8.0, 14.0);

/// The areas of a pair, each in percent of the drawing.
pub(super) struct OutcomeAreas {
    pub all: Vec<OutcomeArea>,
}

pub(super) struct OutcomeArea {
    pub class: String,
    pub x: String,
    pub y: String,
    pub width: String,
    pub height: String,
    /// The number and its position, if there is room.
    pub count: Option<(String, String, String)>,
}

impl OutcomeAreas {
    /// Makes the areas. Columns are items that the first arm passed or failed; the second arm's result divides them. By rate, they are the
    /// items on which the first arm does better, on which both are equal, and on which the second does better. `tones` are the classes of
    /// the arms' colours.
    pub fn from_flips(flips: &Flips, tones: [&'static str; 2]) -> Self {
        let share = |part: u64, whole: u64| {
            if whole == 0 {
                0.0
            } else {
                100.0 * part as f64 / whole as f64
            }
        };
        let passed = flips.both_passed + flips.only_first;
        let left = share(passed, flips.shared);
        let (only_a, only_b) = (
            format!("only-a {}", tones[0]),
            format!("only-b {}", tones[1]),
        );
        let plain = str::to_owned;
        let columns = if flips.by_rate {
            let (first, equal) = (
                share(flips.only_first, flips.shared),
                share(flips.equal_count(), flips.shared),
            );
            vec![
                (
                    0.0,
                    first,
                    flips.only_first,
                    vec![(only_a, flips.only_first)],
                ),
                (
                    first,
                    equal,
                    flips.equal_count(),
                    vec![(plain("equal"), flips.equal_count())],
                ),
                (
                    first + equal,
                    100.0 - first - equal,
                    flips.only_second,
                    vec![(only_b, flips.only_second)],
                ),
            ]
        } else {
            vec![
                (
                    0.0,
                    left,
                    passed,
                    vec![
                        (plain("both"), flips.both_passed),
                        (only_a, flips.only_first),
                    ],
                ),
                (
                    left,
                    100.0 - left,
                    flips.shared - passed,
                    vec![
                        (only_b, flips.only_second),
                        (plain("neither"), flips.neither),
                    ],
                ),
            ]
        };
        let mut all = Vec::new();
        for (x, width, whole, parts) in columns {
            let mut y = 0.0;
            for (class, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
                let height = share(count, whole);
                let at = |number: f64| format!("{number:.2}");
                let has_room = width >= MIN_LABELLED_SIZE.0 && height >= MIN_LABELLED_SIZE.1;
                let text = has_room.then(|| {
                    (
                        format::format_integer(count),
                        at(x + width / 2.0),
                        at(y + height / 2.0),
                    )
                });
                all.push(OutcomeArea {
                    class: class.clone(),
                    x: at(x),
                    y: at(y),
                    width: at(width),
                    height: at(height),
                    count: text,
                });
                y += height;
            }
        }
        Self { all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fill_the_drawing_and_are_as_large_as_their_counts() {
        let flips = Flips {
            shared: 56,
            both_passed: 32,
            only_first: 13,
            only_second: 7,
            neither: 4,
            by_rate: false,
            items: None,
            listed: None,
        };
        let areas = OutcomeAreas::from_flips(&flips, ["a0", "a1"]);
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        let sizes: Vec<f64> = areas
            .all
            .iter()
            .map(|area| number(&area.width) * number(&area.height) / 10_000.0 * 56.0)
            .collect();
        for (size, count) in sizes.iter().zip([32.0, 13.0, 7.0, 4.0]) {
            assert!((size - count).abs() < 0.05, "{sizes:?}");
        }
        assert!(areas.all.iter().all(|area| area.count.is_some()));
    }

    #[test]
    fn rates_are_better_equal_and_worse_side_by_side() {
        let flips = Flips {
            shared: 60,
            both_passed: 7,
            only_first: 35,
            only_second: 14,
            neither: 4,
            by_rate: true,
            items: None,
            listed: None,
        };
        let areas = OutcomeAreas::from_flips(&flips, ["a0", "other"]);
        let told: Vec<_> = areas
            .all
            .iter()
            .map(|area| {
                (
                    area.class.as_str(),
                    area.height.as_str(),
                    area.count.as_ref().map(|count| count.0.as_str()),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("only-a a0", "100.00", Some("35")),
                ("equal", "100.00", Some("11")),
                ("only-b other", "100.00", Some("14"))
            ]
        );
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let flips = Flips {
            shared: 5,
            both_passed: 5,
            only_first: 0,
            only_second: 0,
            neither: 0,
            by_rate: false,
            items: None,
            listed: None,
        };
        assert_eq!(OutcomeAreas::from_flips(&flips, ["an", "an"]).all.len(), 1);
    }
}
