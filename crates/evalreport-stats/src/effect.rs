//! Unit-free effect sizes. They are shown beside the difference, never instead of it.

use statrs::function::gamma::ln_gamma;

use super::Undefined;
use super::mean::summarise_sample;

/// A difference of means, a − b, in standard deviations.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct StandardizedDifference {
    /// With the pooled standard deviation; too large for small samples.
    pub cohens_d: f64,
    /// The factor that removes the bias.
    pub correction: f64,
    pub hedges_g: f64,
}

/// How often a value of a is above one of b.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Dominance {
    /// The share of pairs in which a is larger minus the share in which b is.
    pub delta: f64,
    /// The probability that a random value of a is larger than one of b, counting half of the ties.
    pub superiority: f64,
}

/// Hedges' g with the exact correction (Hedges 1981).
///
/// Undefined if a sample has fewer than two values, or if neither varies.
pub fn hedges_g(a: &[f64], b: &[f64]) -> Result<StandardizedDifference, Undefined> {
    let (a, b) = (summarise_sample(a)?, summarise_sample(b)?);
    let (sd_a, sd_b) = a.sd.zip(b.sd).ok_or(Undefined::TooFew)?;
    let (of_a, of_b) = (a.n as f64 - 1.0, b.n as f64 - 1.0);
    let pooled = ((of_a * sd_a * sd_a + of_b * sd_b * sd_b) / (of_a + of_b)).sqrt();
    if pooled <= 0.0 {
        return Err(Undefined::NoVariation);
    }
    let cohens_d = (a.mean - b.mean) / pooled;
    let correction = hedges_correction(of_a + of_b);
    if cohens_d.is_finite() {
        Ok(StandardizedDifference {
            cohens_d,
            correction,
            hedges_g: cohens_d * correction,
        })
    } else {
        Err(Undefined::NotFinite)
    }
}

/// Cliff's delta (Cliff 1993) and the probability of superiority, in O(n log n).
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Result<Dominance, Undefined> {
    if a.is_empty() || b.is_empty() {
        return Err(Undefined::NoData);
    }
    if a.iter().chain(b).any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let mut sorted = b.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut above, mut below) = (0_u64, 0_u64);
    for value in a {
        above += sorted.partition_point(|other| other < value) as u64;
        below += (sorted.len() - sorted.partition_point(|other| other <= value)) as u64;
    }
    let pairs = a.len() as f64 * b.len() as f64;
    let delta = (above as f64 - below as f64) / pairs;
    Ok(Dominance {
        delta,
        superiority: f64::midpoint(delta, 1.0),
    })
}

/// Γ(m/2) / (√(m/2) Γ((m−1)/2)) for m degrees of freedom.
fn hedges_correction(degrees: f64) -> f64 {
    let half = degrees / 2.0;
    if half > 1000.0 {
        // The difference of large log-gammas loses digits; the expansion of the ratio does not.
        return 1.0
            - 3.0 / (8.0 * half)
            - 7.0 / (128.0 * half * half)
            - 9.0 / (1024.0 * half.powi(3));
    }
    (ln_gamma(half) - ln_gamma(half - 0.5)).exp() / half.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_deviations_apart() {
        // Both variances 1, means 3 apart. Four degrees: the factor is Γ(2) / (√2 Γ(3/2)) = √(2/π).
        let got = hedges_g(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).expect("they vary");
        assert!(
            (got.cohens_d - 3.0).abs() < 1e-14
                && (got.correction - (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-14
        );
        assert!((got.hedges_g - 3.0 * got.correction).abs() < 1e-15);
        assert_eq!(hedges_g(&[1.0; 3], &[1.0; 3]), Err(Undefined::NoVariation));
        assert_eq!(hedges_g(&[1.0], &[1.0, 2.0]), Err(Undefined::TooFew));
        assert!((hedges_correction(1999.9) - hedges_correction(2000.1)).abs() < 1e-7);
    }

    #[test]
    fn pairs_won() {
        let got = cliffs_delta(&[1.0, 2.0, 3.0], &[2.0, 2.0, 0.0, -0.0]).expect("both have values");
        // 1 beats two and loses to two; 2 beats two and ties twice; 3 beats all.
        assert_eq!((got.delta, got.superiority), (0.5, 0.75));
        assert_eq!(cliffs_delta(&[0.0], &[-0.0]).map(|got| got.delta), Ok(0.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), Err(Undefined::NoData));
    }

    proptest::proptest! {
        #[test]
        fn swapping_flips_the_sign(a in proptest::collection::vec(-5i8..5, 2..40), b in proptest::collection::vec(-5i8..5, 2..40)) {
            let [a, b] = [a, b].map(|values| values.into_iter().map(f64::from).collect::<Vec<_>>());
            let (there, back) = (cliffs_delta(&a, &b).expect("values"), cliffs_delta(&b, &a).expect("values"));
            proptest::prop_assert!((there.delta + back.delta).abs() < 1e-15);
            if let Ok(there) = hedges_g(&a, &b) {
                proptest::prop_assert!((there.hedges_g + hedges_g(&b, &a).expect("as before").hedges_g).abs() < 1e-12);
            }
        }
    }
}
