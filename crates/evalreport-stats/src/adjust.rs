//! Adjusted p-values for families of tests, in the order of the input.

use super::Undefined;

/// Holm's step-down adjustment (Holm 1979): if every result below alpha is rejected, the chance of any false rejection in the family is at
/// most alpha.
///
/// Undefined if an entry is not a probability.
pub fn holm_adjustment(p: &[f64]) -> Result<Vec<f64>, Undefined> {
    let order = ascending_order(p)?;
    let (mut adjusted, mut largest) = (vec![0.0; p.len()], 0.0_f64);
    for (rank, place) in order.iter().enumerate() {
        largest = largest.max(p[*place] * (p.len() - rank) as f64);
        adjusted[*place] = largest.min(1.0);
    }
    Ok(adjusted)
}

/// The adjustment of Benjamini and Hochberg (1995): among rejections below q, an expected share of at most q is false.
///
/// Undefined if an entry is not a probability.
pub fn benjamini_hochberg(p: &[f64]) -> Result<Vec<f64>, Undefined> {
    let order = ascending_order(p)?;
    let (mut adjusted, mut smallest) = (vec![0.0; p.len()], 1.0_f64);
    for (rank, place) in order.iter().enumerate().rev() {
        smallest = smallest.min(p[*place] * p.len() as f64 / (rank + 1) as f64);
        adjusted[*place] = smallest;
    }
    Ok(adjusted)
}

/// Returns the indices of the entries from the smallest to the largest.
fn ascending_order(p: &[f64]) -> Result<Vec<usize>, Undefined> {
    if p.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(Undefined::OutOfRange);
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|left, right| p[*left].total_cmp(&p[*right]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(got: Result<Vec<f64>, Undefined>, expected: &[f64]) -> bool {
        got.is_ok_and(|got| {
            got.len() == expected.len()
                && got
                    .iter()
                    .zip(expected)
                    .all(|(got, expected)| (got - expected).abs() < 1e-12)
        })
    }

    #[test]
    fn by_hand() {
        let p = [0.04, 0.01, 0.03, 0.005];
        assert!(same(holm_adjustment(&p), &[0.06, 0.03, 0.06, 0.02]));
        assert!(same(benjamini_hochberg(&p), &[0.04, 0.02, 0.04, 0.02]));
        assert!(same(holm_adjustment(&[0.5, 0.9, 0.9]), &[1.0, 1.0, 1.0]));
        assert!(same(benjamini_hochberg(&[0.5, 0.9, 0.9]), &[0.9, 0.9, 0.9]));
        assert!(same(holm_adjustment(&[]), &[]) && same(benjamini_hochberg(&[]), &[]));
        assert_eq!(
            holm_adjustment(&[0.1, f64::NAN]),
            Err(Undefined::OutOfRange)
        );
    }

    proptest::proptest! {
        #[test]
        fn never_smaller_and_in_order(p in proptest::collection::vec(0.0..=1.0f64, 0..30)) {
            let (holm, discovery) = (holm_adjustment(&p).expect("probabilities"), benjamini_hochberg(&p).expect("probabilities"));
            for place in 0..p.len() {
                proptest::prop_assert!(p[place] <= discovery[place] + 1e-15 && discovery[place] <= holm[place] + 1e-15 && holm[place] <= 1.0);
                for other in 0..p.len() {
                    proptest::prop_assert!(p[place] > p[other] || (holm[place] <= holm[other] && discovery[place] <= discovery[other]));
                }
            }
        }
    }
}
