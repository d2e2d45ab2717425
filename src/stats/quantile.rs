//! Quantiles of a sample.

/// The quantile at `level` by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
///
/// Undefined for an empty sample, a value that is not finite, and a level outside [0, 1].
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the place lies between 0 and the last index")]
pub fn quantile(values: &[f64], level: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&level) || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = level * (sorted.len() - 1) as f64;
    let below = place.floor();
    let low = sorted[below as usize];
    let high = sorted[place.ceil() as usize];
    Some(low + (high - low) * (place - below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_and_on_the_values() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.9), Some(4.6));
        assert_eq!(quantile(&[7.0], 0.9), Some(7.0));
        assert_eq!((quantile(&[], 0.5), quantile(&[1.0], 1.5), quantile(&[f64::INFINITY], 0.5)), (None, None, None));
    }
}
