//! Item lines as Parquet.
use sha2::{Digest, Sha256};
/// Returns the SHA-256 of `bytes` in lower-case hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
