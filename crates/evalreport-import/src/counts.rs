//! Counts that are written as decimal numbers, or as shares.

/// Returns the number as a count if it is one. Above 2^53, not every whole number is a float.
pub(super) fn count_from_float(value: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative and at most 2^53"
    )]
    (value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value))
        .then_some(value as u64)
}

/// Returns how many of `total` the share is, if that is a whole number but for rounding errors.
pub(super) fn count_from_share(share: f64, total: u64) -> Option<u64> {
    let part = share * total as f64;
    ((0.0..=1.0).contains(&share) && (part - part.round()).abs() < 1e-6)
        .then(|| count_from_float(part.round()))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_are_counts() {
        assert_eq!(
            [0.0, 12.0, 9_007_199_254_740_992.0].map(count_from_float),
            [Some(0), Some(12), Some(1 << 53)]
        );
        for value in [0.5, -1.0, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(count_from_float(value), None, "{value}");
        }
    }

    #[test]
    fn a_share_is_a_count_if_it_is_a_whole_part() {
        assert_eq!(
            [
                count_from_share(0.7, 10),
                count_from_share(1.0 / 3.0, 3),
                count_from_share(1.0, 5),
                count_from_share(0.0, 5)
            ],
            [Some(7), Some(1), Some(5), Some(0)]
        );
        assert_eq!(
            [
                count_from_share(0.75, 10),
                count_from_share(1.1, 10),
                count_from_share(-0.1, 10),
                count_from_share(f64::NAN, 10)
            ],
            [None; 4]
        );
    }
}
