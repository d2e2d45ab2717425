//! Seeds derived from the data, so that equal data always give equal sampled p-values.

use crate::stats::Resampling;

/// Number of rearrangements drawn if there are too many to try all.
const REARRANGEMENTS: u64 = 99_999;

/// Returns a seed derived from some values.
pub fn seed_from_values(values: impl IntoIterator<Item = f64>) -> u64 {
    // FNV-1a over the bits of the values.
    values
        .into_iter()
        .flat_map(|value| value.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Returns the resampling for sign flips of some values. It does not depend on their signs or order, so that no sampled p-value depends on
/// which arm comes first.
pub(super) fn sign_flip_resampling(values: impl IntoIterator<Item = f64>) -> Resampling {
    let mixed = values
        .into_iter()
        .map(|value| seed_from_values([value.abs()]))
        .fold(0_u64, u64::wrapping_add);
    Resampling {
        seed: mixed,
        draws: REARRANGEMENTS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_order_do_not_matter() {
        let of = |values: &[f64]| sign_flip_resampling(values.iter().copied()).seed;
        assert_eq!(of(&[0.5, -1.0, 0.0]), of(&[1.0, -0.0, -0.5]));
        assert_ne!(of(&[0.5, 0.5]), of(&[]));
        assert_ne!(of(&[0.5, 1.0]), of(&[0.5, 2.0]));
    }
}
