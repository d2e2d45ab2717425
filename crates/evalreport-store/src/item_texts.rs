//! Hashes of the texts of a run's items, from the source, small enough to keep for many runs.

use std::collections::BTreeSet;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::domain::{ItemKind, ItemsDigest, to_hex};

/// Items and their texts, both as the first eight bytes of a SHA-256.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemTextDigests {
    /// An item with two texts occurs twice. The text of an item without a hash is 0.
    known: BTreeSet<(u64, u64)>,
}

impl ItemTextDigests {
    /// Returns the short digest of an item's key.
    pub fn item_key(kind: ItemKind, evaluator: &str, item: &str) -> u64 {
        digest_texts(&[kind.name(), evaluator, item])
    }

    pub fn add_item(&mut self, kind: ItemKind, evaluator: &str, item: &str, hash: Option<&str>) {
        // 0 is reserved for a missing hash.
        let text = hash.map_or(0, |hash| digest_texts(&[hash]).max(1));
        self.known
            .insert((Self::item_key(kind, evaluator, item), text));
    }

    /// Adds the texts of another run's items.
    pub fn extend(&mut self, other: &Self) {
        self.known.extend(&other.known);
    }

    /// Returns a digest of the item's text, equal for equal texts, or `None` if no hash is known.
    pub fn text_of(&self, item: u64) -> Option<u64> {
        let mut texts = self
            .known
            .range((item, 1)..=(item, u64::MAX))
            .map(|(_, text)| *text);
        let first = texts.next()?;
        // Combine several texts into one digest.
        Some(texts.fold(first, |all, text| {
            all.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ text
        }))
    }

    /// Returns the digest for a run's header, or `None` if no item has a hash.
    pub fn items_digest(&self) -> Option<ItemsDigest> {
        let mut hasher = Sha256::new();
        let (mut items, mut with_text) = (BTreeSet::new(), BTreeSet::new());
        for (item, text) in &self.known {
            items.insert(item);
            if *text != 0 {
                with_text.insert(item);
                hasher.update(item.to_le_bytes());
                hasher.update(text.to_le_bytes());
            }
        }
        let digest = ItemsDigest {
            sha256: to_hex(&hasher.finalize()),
            items: items.len() as u64,
            hashed: with_text.len() as u64,
        };
        (digest.hashed > 0).then_some(digest)
    }
}

/// Returns the first bytes of the digest of some texts, each prefixed with its length.
fn digest_texts(texts: &[&str]) -> u64 {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hasher
        .finalize()
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Reads only the item hash of one item line.
pub fn item_hash_of(line: &[u8]) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct HashedLine {
        details: HashDetails,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct HashDetails {
        item_hash: Option<String>,
    }
    serde_json::from_slice::<HashedLine>(line)
        .unwrap_or_default()
        .details
        .item_hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(items: &[(&str, Option<&str>)]) -> ItemTextDigests {
        let mut texts = ItemTextDigests::default();
        for (item, hash) in items {
            texts.add_item(ItemKind::Question, "exact", item, *hash);
        }
        texts
    }

    #[test]
    fn a_digest_is_of_names_and_hashes_in_any_order() {
        let digest = |items: &[(&str, Option<&str>)]| texts(items).items_digest();
        let all = digest(&[("a", Some("1")), ("b", Some("2"))]).expect("hashes");
        assert_eq!((all.items, all.hashed), (2, 2));
        assert_eq!(
            digest(&[("b", Some("2")), ("a", Some("1")), ("a", Some("1"))]).as_ref(),
            Some(&all)
        );
        for other in [
            &[("a", Some("1")), ("b", Some("3"))][..],
            &[("a", Some("2")), ("b", Some("1"))],
            &[("a", Some("1"))],
        ] {
            assert_ne!(
                digest(other).expect("hashes").sha256,
                all.sha256,
                "{other:?}"
            );
        }
        assert_eq!(digest(&[("a", None)]), None);
        let partly = digest(&[("a", Some("1")), ("b", None)]).expect("a hash");
        assert_eq!((partly.items, partly.hashed), (2, 1));
    }

    #[test]
    fn texts_are_told_apart_by_item() {
        let text = |texts: &ItemTextDigests, item| {
            texts.text_of(ItemTextDigests::item_key(ItemKind::Question, "exact", item))
        };
        let (one, other) = (
            texts(&[("a", Some("1")), ("b", Some("2")), ("c", None)]),
            texts(&[("a", Some("1")), ("b", Some("3"))]),
        );
        assert_eq!(text(&one, "a"), text(&other, "a"));
        assert_ne!(text(&one, "b"), text(&other, "b"));
        assert_eq!((text(&one, "c"), text(&one, "d")), (None, None));
        let mut both = one.clone();
        both.extend(&other);
        assert_eq!(text(&both, "a"), text(&one, "a"));
        assert!(text(&both, "b") != text(&one, "b") && text(&both, "b") != text(&other, "b"));
    }

    #[test]
    fn the_hash_of_a_line_is_read_whatever_else_is_in_it() {
        assert_eq!(
            item_hash_of(br#"{"item":"a","details":{"reply":"x","item_hash":"h","steps":1}}"#)
                .as_deref(),
            Some("h")
        );
        assert_eq!(
            (item_hash_of(br#"{"item":"a"}"#), item_hash_of(b"no JSON")),
            (None, None)
        );
    }
}
