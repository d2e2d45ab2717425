//! Agreement of raters, beyond that expected by chance.

use std::collections::BTreeMap;

use super::Undefined;

/// Agreement of two raters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Agreement {
    pub n: u64,
    /// Share of items labelled alike.
    pub percent: f64,
    /// Share expected from how often each rater uses each label.
    pub expected: f64,
    /// `None` if both raters used only one label: then chance explains the whole agreement.
    pub kappa: Option<f64>,
}

/// Cohen's kappa for two raters of the same items (Cohen 1960).
///
/// Read it beside [`label_shares`]: if one label is rare, raters can agree on 95% and have a kappa of 0.
pub fn cohen_kappa<T: Ord>(a: &[T], b: &[T]) -> Result<Agreement, Undefined> {
    if a.len() != b.len() {
        return Err(Undefined::Unequal);
    }
    if a.is_empty() {
        return Err(Undefined::NoData);
    }
    let alike = a.iter().zip(b).filter(|(a, b)| a == b).count() as u128;
    let (in_a, in_b) = (count_labels(a), count_labels(b));
    let chance: u128 = in_a
        .iter()
        .map(|(label, count)| count * in_b.get(label).copied().unwrap_or(0))
        .sum();
    let n = a.len() as u128;
    // Whole numbers, so that agreement fully explained by chance is detected exactly.
    let kappa =
        (chance < n * n).then(|| ((alike * n) as f64 - chance as f64) / (n * n - chance) as f64);
    Ok(Agreement {
        n: a.len() as u64,
        percent: alike as f64 / n as f64,
        expected: chance as f64 / (n * n) as f64,
        kappa,
    })
}

/// Krippendorff's alpha for nominal labels, any number of raters and missing ratings (Krippendorff 2004). Rows are raters, columns items.
///
/// Items with fewer than two ratings are skipped. Undefined if no item remains or all labels are equal.
pub fn krippendorff_alpha_nominal<T: Ord>(
    ratings: &[impl AsRef<[Option<T>]>],
) -> Result<f64, Undefined> {
    let items = ratings.first().ok_or(Undefined::NoData)?.as_ref().len();
    if ratings.iter().any(|row| row.as_ref().len() != items) {
        return Err(Undefined::Unequal);
    }
    let mut totals: BTreeMap<&T, u128> = BTreeMap::new();
    let mut disagreement = 0.0;
    for item in 0..items {
        let labels = count_labels(ratings.iter().filter_map(|row| row.as_ref()[item].as_ref()));
        let raters: u128 = labels.values().sum();
        if raters < 2 {
            continue;
        }
        let alike: u128 = labels.values().map(|count| count * count).sum();
        disagreement += (raters * raters - alike) as f64 / (raters - 1) as f64;
        for (label, count) in labels {
            *totals.entry(label).or_default() += count;
        }
    }
    let n: u128 = totals.values().sum();
    if n < 2 {
        return Err(Undefined::TooFew);
    }
    if totals.len() < 2 {
        return Err(Undefined::NoVariation);
    }
    let alike: u128 = totals.values().map(|count| count * count).sum();
    Ok(1.0 - disagreement * (n - 1) as f64 / (n * n - alike) as f64)
}

/// Returns the share of each label.
pub fn label_shares<'a, T: Ord>(labels: impl IntoIterator<Item = &'a T>) -> BTreeMap<&'a T, f64> {
    let counts = count_labels(labels);
    let n: u128 = counts.values().sum();
    counts
        .into_iter()
        .map(|(label, count)| (label, count as f64 / n as f64))
        .collect()
}

fn count_labels<'a, T: Ord>(labels: impl IntoIterator<Item = &'a T>) -> BTreeMap<&'a T, u128> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_raters_by_hand() {
        // 20 both yes, 15 differing, 15 both no: agreement 0.7, expected 0.5.
        let a: Vec<bool> = [[true; 25].as_slice(), &[false; 25]].concat();
        let b: Vec<bool> = [
            [true; 20].as_slice(),
            &[false; 5],
            &[true; 10],
            &[false; 15],
        ]
        .concat();
        let agreement = cohen_kappa(&a, &b).expect("items");
        assert!(
            (agreement.percent - 0.7).abs() < 1e-15 && (agreement.expected - 0.5).abs() < 1e-15
        );
        assert!((agreement.kappa.expect("two labels") - 0.4).abs() < 1e-15);
        assert!((label_shares(a.iter().chain(&b))[&true] - 0.55).abs() < 1e-15);
    }

    #[test]
    fn one_label_has_no_kappa_and_a_rare_one_none_to_speak_of() {
        let all = cohen_kappa(&["pass"; 6], &["pass"; 6]).expect("items");
        assert_eq!((all.percent, all.expected, all.kappa), (1.0, 1.0, None));
        let rare = cohen_kappa(
            &["pass"; 6],
            &["pass", "pass", "pass", "pass", "pass", "fail"],
        )
        .expect("items");
        assert_eq!(rare.kappa, Some(0.0));
        assert_eq!(cohen_kappa::<u8>(&[], &[]), Err(Undefined::NoData));
        assert_eq!(cohen_kappa(&[1], &[1, 2]), Err(Undefined::Unequal));
        assert!(label_shares::<u8>(&[]).is_empty());
    }

    #[test]
    fn the_published_alpha() {
        // Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units, alpha 0.743.
        let table: [[u8; 12]; 4] = [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ];
        let ratings: Vec<Vec<Option<u8>>> = table
            .iter()
            .map(|row| {
                row.iter()
                    .map(|&label| (label > 0).then_some(label))
                    .collect()
            })
            .collect();
        let alpha = krippendorff_alpha_nominal(&ratings).expect("two labels");
        assert!((alpha - 0.743).abs() < 5e-4, "{alpha}");
    }

    #[test]
    fn alpha_needs_pairs_and_two_labels() {
        assert_eq!(
            krippendorff_alpha_nominal(&[[Some(1), Some(1)], [Some(1), None]]),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            krippendorff_alpha_nominal(&[[Some(1), None], [None, Some(2)]]),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            krippendorff_alpha_nominal::<u8>(&[[]; 0]),
            Err(Undefined::NoData)
        );
        assert_eq!(
            krippendorff_alpha_nominal(&[vec![Some(1)], vec![]]),
            Err(Undefined::Unequal)
        );
    }

    proptest::proptest! {
        #[test]
        fn raters_are_equals(labels in proptest::collection::vec((0u8..3, 0u8..3), 1..30)) {
            let (a, b): (Vec<u8>, Vec<u8>) = labels.into_iter().unzip();
            proptest::prop_assert_eq!(cohen_kappa(&a, &b), cohen_kappa(&b, &a));
            if let Some(kappa) = cohen_kappa(&a, &b).expect("items").kappa {
                proptest::prop_assert!((-1.0..=1.0).contains(&kappa));
            }
        }
    }
}
