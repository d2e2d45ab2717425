//! An arm's nights around a change of its level: a dot for each night, and a line for the level before and after.

use std::fmt::Write;

use crate::views::{ArmHistory, LevelChange};

/// Maximum number of nights drawn, the newest.
const MAX_NIGHTS: usize = 40;
/// Size of the part with the dots, in pixels. The levels in words are at its right.
const WIDTH: f64 = 170.0;
const TOP_MARGIN: f64 = 8.0;
const HEIGHT: f64 = 28.0;

/// A drawing of fixed size.
pub(super) struct ChangePointDrawing {
    /// Paths with a dot for each night before the change, and since.
    pub dots: [String; 2],
    /// The level before the change, and since: left end, right end, height and words.
    pub levels: [LevelLine; 2],
}

pub(super) struct LevelLine {
    pub left: String,
    pub right: String,
    pub y: String,
    pub words: String,
}

impl ChangePointDrawing {
    /// Draws the newest nights of an arm. `words` are its levels before and after.
    pub fn from_change(arm: &ArmHistory, change: &LevelChange, words: [String; 2]) -> Self {
        let rated: Vec<(bool, f64)> = arm
            .nights
            .iter()
            .filter_map(|night| Some((night.date >= change.date, night.pass_rate.as_ref()?.value)))
            .collect();
        let shown = &rated[rated.len().saturating_sub(MAX_NIGHTS)..];
        let levels = [change.before, change.after];
        let values = || shown.iter().map(|(_, value)| *value).chain(levels);
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        let y =
            |value: f64| TOP_MARGIN + HEIGHT * (high - value) / (high - low).max(f64::MIN_POSITIVE);
        let x = |number: usize| WIDTH * (number as f64 + 0.5) / shown.len().max(1) as f64;
        let mut dots = [String::new(), String::new()];
        for (number, (is_after, value)) in shown.iter().enumerate() {
            let _ = write!(
                dots[usize::from(*is_after)],
                "M{:.1} {:.1}h0",
                x(number),
                y(*value)
            );
        }
        let turn = WIDTH * shown.iter().filter(|(is_after, _)| !is_after).count() as f64
            / shown.len().max(1) as f64;
        let [before, after] = words;
        let level = |left: f64, right: f64, value: f64, words: String| LevelLine {
            left: format!("{left:.1}"),
            right: format!("{right:.1}"),
            y: format!("{:.1}", y(value)),
            words,
        };
        let [high, low] = levels;
        Self {
            dots,
            levels: [
                level(0.0, turn, high, before),
                level(turn, WIDTH, low, after),
            ],
        }
    }
}
