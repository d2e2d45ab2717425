//! Seeds that come from the data, so that the same data always give the same drawn p-value.

use crate::stats::Resampling;

/// Rearrangements drawn where all would be too many.
const DRAWS: u64 = 99_999;

/// Returns a seed made of some values.
pub(crate) fn seed(values: impl IntoIterator<Item = f64>) -> u64 {
    // FNV-1a over the values' bits.
    values
        .into_iter()
        .flat_map(|value| value.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns how to rearrange some values.
pub(super) fn resampling(values: impl IntoIterator<Item = f64>) -> Resampling {
    Resampling { seed: seed(values), draws: DRAWS }
}
