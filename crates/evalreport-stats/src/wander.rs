//! How much neighbouring days resemble each other, as the variance of their mean relative to that of independent days.

/// Assumed share of a wander that persists to the next day: half of it is gone after three days.
pub(super) const PERSISTENCE: f64 = 0.8;
/// Lags beyond which its correlation is mostly noise.
const MAX_LAGS: usize = 5;

/// Returns the inflation of the variance if a part c of the variance of days wanders and the rest is noise of single days:
/// 1 + 2 Σ c·0.8ʰ = 1 + 8c (an ARMA(1,1), Box and Jenkins 1970). Their lag-one correlation alone would make such days look far less
/// dependent than they are.
///
/// `rest` are the days' scores less the mean of their level, of which there are `levels`. c is fitted by least squares to the first five
/// autocorrelations. The levels follow the wander and so hide a part of it: with m days for two levels, ĉ has the mean
/// c/(1 + 64/m) − 7/(m + 20) and, for independent days, the deviation 0.7/√m (simulated with 30 to 240 days split once at their best index,
/// each c from 0 to 1). `margin` of these deviations are added.
pub(super) fn inflation_by_wander(rest: &[f64], levels: usize, margin: f64) -> f64 {
    1.0 + 2.0 * PERSISTENCE / (1.0 - PERSISTENCE) * wander_share(rest, levels, margin)
}

/// Returns c of [`inflation_by_wander`], from 0 to 1.
pub(super) fn wander_share(rest: &[f64], levels: usize, margin: f64) -> f64 {
    let n = rest.len() as f64;
    let within = sum_of_squares(rest);
    if within <= 1e-9 * n {
        return 0.0;
    }
    let (mut fitted, mut weights) = (0.0, 0.0);
    let mut kept = 1.0;
    for lag in 1..=MAX_LAGS.min(rest.len().saturating_sub(2)) {
        kept *= PERSISTENCE;
        fitted += kept * lagged_products(rest, lag) / within * n / (n - lag as f64);
        weights += kept * kept;
    }
    if weights <= 0.0 {
        return 0.0;
    }
    let m = 2.0 * n / levels as f64;
    let unhidden = 1.0 + 64.0 / m;
    let c = (fitted / weights + 7.0 / (m + 20.0) + margin * 0.7 / m.sqrt()) * unhidden;
    c.clamp(0.0, 1.0)
}

/// Returns the inflation of the variance if days are a first-order autoregression around two known levels: (1 + r)/(1 − r), with r corrected
/// for the two means by (1 + 4r)/n and `margin` standard errors added.
pub(super) fn inflation_by_correlation(rest: &[f64], margin: f64) -> f64 {
    let n = rest.len() as f64;
    let within = sum_of_squares(rest);
    if within <= 1e-9 * n {
        return 1.0;
    }
    let lagged = lagged_products(rest, 1) / within;
    let r = (lagged + (1.0 + 4.0 * lagged) / n).clamp(-0.95, 0.95);
    let r = (r + margin * ((1.0 - r * r) / n).sqrt()).clamp(0.0, 0.95);
    (1.0 + r) / (1.0 - r)
}

fn sum_of_squares(rest: &[f64]) -> f64 {
    rest.iter().map(|score| score * score).sum()
}

fn lagged_products(rest: &[f64], lag: usize) -> f64 {
    rest.iter()
        .zip(rest.iter().skip(lag))
        .map(|(one, other)| one * other)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_resemble_their_neighbours_inflate_the_variance() {
        // Runs of ten equal days, and days that alternate.
        let long: Vec<f64> = (0..80)
            .map(|day| if day / 10 % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        let turning: Vec<f64> = (0..80)
            .map(|day| if day % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        assert!(inflation_by_correlation(&long, 0.0) > 7.0);
        assert!(inflation_by_wander(&long, 2, 0.0) > 4.0);
        for one in [
            inflation_by_correlation(&turning, 1.0),
            inflation_by_wander(&turning, 2, 0.0),
            inflation_by_correlation(&[0.0; 20], 1.0),
            inflation_by_wander(&[0.0; 20], 2, 0.0),
            inflation_by_wander(&[1.0, -1.0], 2, 0.0),
        ] {
            assert!((one - 1.0).abs() < 1e-12, "{one}");
        }
        assert!(inflation_by_correlation(&long, 1.0) > inflation_by_correlation(&long, 0.0));
    }
}
