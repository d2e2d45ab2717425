//! A series as one line of bars, for any plain text.

/// From lowest to highest.
const BARS: [char; MAX_HEIGHT] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Height of a bar at the upper end of the scale.
const MAX_HEIGHT: usize = 8;
/// Maximum number of values. Longer series show their newest ones.
pub const MAX_POINTS: usize = 60;

/// Draws values on a scale from `low` to `high`, which other series may share. If both are equal, all bars have medium height.
pub fn draw_bars(values: &[f64], low: f64, high: f64) -> String {
    bar_heights(values, low, high)
        .into_iter()
        .map(|height| BARS[height - 1])
        .collect()
}

/// Returns the heights of the bars for the newest values, from 1 to [`MAX_HEIGHT`].
fn bar_heights(values: &[f64], low: f64, high: f64) -> Vec<usize> {
    let newest = &values[values.len().saturating_sub(MAX_POINTS)..];
    let steps = (MAX_HEIGHT - 1) as f64;
    let height = |value: &f64| {
        let share = if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        };
        1 + (1..MAX_HEIGHT)
            .filter(|step| share * steps >= *step as f64 - 0.5)
            .count()
    };
    newest.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_between_the_ends_of_the_scale() {
        assert_eq!(draw_bars(&[0.0, 0.5, 1.0], 0.0, 1.0), "▁▅█");
        assert_eq!(draw_bars(&[0.2, 0.2], 0.2, 0.2), "▅▅");
        assert_eq!(draw_bars(&[-1.0, 9.0], 0.0, 1.0), "▁█");
        assert_eq!(draw_bars(&[], 0.0, 1.0), "");
        let long: Vec<f64> = (0..100).map(f64::from).collect();
        let drawn = draw_bars(&long, 0.0, 99.0);
        assert_eq!(
            (drawn.chars().count(), drawn.chars().last()),
            (MAX_POINTS, Some('█'))
        );
    }
}
