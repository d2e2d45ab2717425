//! Short digests of the messages that a session's run counts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Hexadecimal digits of a key. Among a million messages, two have one key by chance in one of 500 stores.
const KEY_DIGITS: usize = 12;

/// The messages that a run counts, so that no other import counts them again. Written as one text, 12 hexadecimal digits per message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageKeys(BTreeSet<u64>);

impl MessageKeys {
    /// Returns the key of a message with this digest.
    pub fn key_of_digest(digest: &[u8]) -> u64 {
        digest
            .iter()
            .take(KEY_DIGITS / 2)
            .fold(0, |key, byte| key << 8 | u64::from(*byte))
    }

    pub fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<u64> for MessageKeys {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, keys: I) {
        self.0.extend(keys);
    }
}

impl FromIterator<u64> for MessageKeys {
    fn from_iter<I: IntoIterator<Item = u64>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}

impl From<MessageKeys> for String {
    fn from(keys: MessageKeys) -> Self {
        keys.iter().fold(String::new(), |mut text, key| {
            text.push_str(&format!("{key:0KEY_DIGITS$x}"));
            text
        })
    }
}

impl TryFrom<String> for MessageKeys {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let key = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits)
                .ok()
                .filter(|digits| digits.len() == KEY_DIGITS);
            digits
                .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                .ok_or_else(|| "is no list of keys of messages".to_owned())
        };
        text.as_bytes().chunks(KEY_DIGITS).map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_were_written() {
        let keys: MessageKeys = [
            MessageKeys::key_of_digest(&[1, 2, 3, 4, 5, 6, 7]),
            0xffff_ffff_ffff,
            0,
        ]
        .into_iter()
        .collect();
        let text = String::from(keys.clone());
        assert_eq!(text, "000000000000010203040506ffffffffffff");
        assert_eq!(MessageKeys::try_from(text), Ok(keys));
        assert!(
            MessageKeys::try_from("0102".to_owned()).is_err()
                && MessageKeys::try_from("01020304050g".to_owned()).is_err()
        );
    }
}
