//! Digests as hexadecimal text.

/// Returns the bytes in lower-case hex.
pub fn to_hex(bytes: &[u8]) -> String {
    const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(HEX_DIGITS[usize::from(digit)]))
        .collect()
}
