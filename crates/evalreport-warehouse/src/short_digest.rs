//! Digests of names as numbers, by which outcomes are joined and checked without texts.

use sha2::{Digest, Sha256};

use crate::domain::ItemKind;

/// Returns the first eight bytes of a text's SHA-256, big-endian.
pub(super) fn short_digest(text: &str) -> u64 {
    Sha256::digest(text)
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the id of an item in a lake.
pub fn item_id(kind: ItemKind, evaluator: &str, item: &str) -> i64 {
    short_digest(&format!("{}\n{evaluator}\n{item}", kind.name())).cast_signed()
}

/// Returns the id of a cluster in a lake.
pub fn cluster_id(cluster: &str) -> i64 {
    short_digest(cluster).cast_signed()
}
