//! Two arms as two independent samples: every item is a draw of its own, as the users of an A/B test are, so nothing is paired.

use crate::stats::{summarise_sample, welch_test};

use super::comparison::{Difference, Levels, Scale, Sizes, Test};
use super::pair_test::PairFinding;
use super::policy::{Design, Policy};
use super::sample::{ArmRates, SuiteItems};
use super::unpaired::{compare_counts, few_items, thin_finding};
use super::verdict::Missing;

/// Returns the means of an arm's items, one for each that has a value: of an item with several attempts, such as a user who voted twice, the
/// attempts are one draw.
pub(super) fn item_values(items: &SuiteItems, mean: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
    items
        .item_means(mean)
        .into_iter()
        .map(|(_, value)| value)
        .collect()
}

/// Compares shares passed of two samples: by Fisher's test if each item passed or failed, else by Welch's test over the items.
pub(super) fn compare_passes(
    (first, second): (&ArmRates, &ArmRates),
    items: &SuiteItems,
    policy: &Policy,
) -> Option<PairFinding> {
    let (ArmRates::Outcomes(one), ArmRates::Outcomes(other)) = (first, second) else {
        return None;
    };
    let [one, other] = [one, other].map(|arm| item_values(items, |column| arm.item_mean(column)));
    Some(compare_samples(
        &one,
        &other,
        Scale::Share,
        items.plural_word(),
        policy,
    ))
}

/// Compares the values of two samples of items, which `word` names.
pub(super) fn compare_samples(
    one: &[f64],
    other: &[f64],
    scale: Scale,
    word: &'static str,
    policy: &Policy,
) -> PairFinding {
    let sizes = Sizes {
        first: one.len() as u64,
        second: other.len() as u64,
        of: word,
        ..Sizes::default()
    };
    let (Ok(first), Ok(second)) = (summarise_sample(one), summarise_sample(other)) else {
        return PairFinding::without_data(Design::Items, Missing::NotMeasured, sizes);
    };
    // Shares that are whole numbers: none or all of an item's attempts passed.
    let is_binary = |values: &[f64]| values.iter().all(|value| value.fract() == 0.0);
    if scale == Scale::Share && is_binary(one) && is_binary(other) {
        let [one, other] = [one, other].map(|values| {
            let passed = values.iter().filter(|value| **value > 0.5).count();
            (passed as u64, values.len() as u64)
        });
        return compare_counts(one, other, sizes, policy);
    }
    let obstacle = few_items(&sizes);
    let mut finding = thin_finding(sizes);
    finding.levels = Some(Levels {
        first: first.mean,
        second: second.mean,
    });
    let test = welch_test(one, other, policy.confidence()).ok();
    finding.difference = Some(Difference {
        value: first.mean - second.mean,
        scale,
        interval: test.as_ref().map(|test| test.interval),
    });
    if let Some(test) = test {
        finding.set_p_value(Test::Welch, test.p, obstacle);
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(passed: usize, total: usize) -> Vec<f64> {
        (0..total)
            .map(|item| f64::from(u8::from(item < passed)))
            .collect()
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 5e-4
    }

    #[test]
    fn compare_samples_asks_fisher_where_items_pass_or_fail() {
        let policy = Policy::default();
        let (one, other) = (binary(167, 221), binary(108, 178));
        let found = compare_samples(&one, &other, Scale::Share, "users", &policy);
        // R: fisher.test(matrix(c(167, 54, 108, 70), 2))$p.value is 0.001632.
        assert_eq!(found.test, Some(Test::FisherExact));
        assert!(
            near(found.p_value().expect("a test"), 0.0016),
            "{:?}",
            found.p_value()
        );
        let difference = found.difference.expect("both have items");
        assert!(near(difference.value, 167.0 / 221.0 - 108.0 / 178.0));
        let interval = difference.interval.expect("both have items");
        assert!(interval.low > 0.05 && interval.high < 0.25);
    }

    #[test]
    fn compare_samples_asks_welch_where_items_have_grades_or_several_attempts() {
        let policy = Policy::default();
        let one = [4.0, 5.0, 3.0, 5.0, 4.5, 4.0, 5.0];
        let other = [2.0, 3.0, 2.5, 3.0, 1.0, 2.0];
        let found = compare_samples(&one, &other, Scale::Unit, "questions", &policy);
        assert_eq!(found.test, Some(Test::Welch));
        let twice = [1.0, 0.5, 0.0, 1.0, 1.0, 0.5];
        let found = compare_samples(&twice, &binary(2, 9), Scale::Share, "users", &policy);
        assert_eq!(found.test, Some(Test::Welch));
    }

    #[test]
    fn compare_samples_decides_nothing_with_few_items() {
        let policy = Policy::default();
        let found = compare_samples(&binary(5, 5), &binary(0, 5), Scale::Share, "users", &policy);
        assert_eq!(found.family_p_value(), None);
        assert!(found.difference.is_some());
        let none = compare_samples(&[], &binary(0, 5), Scale::Share, "users", &policy);
        assert!(none.difference.is_none());
    }
}
