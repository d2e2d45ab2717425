//! How well an item separates better runs from worse ones.

use super::Undefined;

/// Returns the correlation of two measurements of the same units, from −1 to 1. Point-biserial if one of them is 0 or 1.
///
/// Undefined for fewer than three pairs, or if either measurement does not vary.
pub fn pearson_correlation(pairs: &[(f64, f64)]) -> Result<f64, Undefined> {
    if pairs.len() < 3 {
        return Err(if pairs.is_empty() {
            Undefined::NoData
        } else {
            Undefined::TooFew
        });
    }
    let varies = |of: fn(&(f64, f64)) -> f64| {
        pairs
            .iter()
            .any(|pair| of(pair).total_cmp(&of(&pairs[0])).is_ne())
    };
    if !varies(|pair| pair.0) || !varies(|pair| pair.1) {
        return Err(Undefined::NoVariation);
    }
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        pairs
            .iter()
            .map(|pair| of(pair.0 - x, pair.1 - y))
            .sum::<f64>()
    };
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    let value = xy / (xx.sqrt() * yy.sqrt());
    if value.is_finite() {
        Ok(value.clamp(-1.0, 1.0))
    } else {
        Err(Undefined::NotFinite)
    }
}

/// Returns the distance from 0 that a correlation of `n` unrelated pairs exceeds in one of twenty cases, by the normal approximation.
pub fn correlation_by_chance(n: u64) -> Option<f64> {
    (n > 2).then(|| (1.96 / ((n - 1) as f64).sqrt()).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_correlations() {
        let close = |pairs: &[(f64, f64)], wanted: f64| {
            assert!((pearson_correlation(pairs).expect("defined") - wanted).abs() < 1e-12);
        };
        close(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)], 1.0);
        close(&[(0.0, 3.0), (0.0, 3.0), (1.0, 1.0)], -1.0);
        // Passed by the runs with rates 0.6 and 0.8 elsewhere, not by those with 0.2 and 0.4: 2 / √5.
        close(
            &[(0.0, 0.2), (0.0, 0.4), (1.0, 0.6), (1.0, 0.8)],
            2.0 / 5.0_f64.sqrt(),
        );
    }

    #[test]
    fn what_does_not_vary_says_nothing() {
        assert_eq!(pearson_correlation(&[]), Err(Undefined::NoData));
        assert_eq!(
            pearson_correlation(&[(1.0, 0.0), (0.0, 1.0)]),
            Err(Undefined::TooFew)
        );
        assert!(pearson_correlation(&[(0.1, 0.0), (0.1, 1.0), (0.1, 0.0)]).is_err());
        assert_eq!(correlation_by_chance(2), None);
        assert_eq!(correlation_by_chance(3), Some(1.0));
    }
}
