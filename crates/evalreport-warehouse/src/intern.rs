//! Interning of names as small numbers.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::domain::{ItemKey, ItemKind};

/// Numbers distinct texts in order of first occurrence.
#[derive(Default)]
pub(super) struct TextInterner {
    pub names: Vec<String>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl TextInterner {
    pub fn intern(&mut self, text: &str) -> u32 {
        let Self {
            names,
            index,
            hasher,
        } = self;
        let hash = hasher.hash_one(text);
        let next = id_from_len(names.len());
        let found = *index
            .entry(
                hash,
                |id| names[*id as usize] == text,
                |id| hasher.hash_one(names[*id as usize].as_str()),
            )
            .or_insert(next)
            .get();
        if found == next {
            names.push(text.to_owned());
        }
        found
    }
}

/// Numbers distinct item keys in order of first occurrence.
#[derive(Default)]
pub(super) struct ItemKeyInterner {
    pub entries: Vec<ItemKey>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The key that followed each key last time. Item files repeat one order, so this guess is nearly always right and saves hashing.
    following: Vec<u32>,
    last: u32,
}

impl ItemKeyInterner {
    pub fn intern(&mut self, kind: ItemKind, evaluator: &str, item: &str) -> u32 {
        let is = |key: &ItemKey| key.item == item && key.kind == kind && key.evaluator == evaluator;
        let guess = self.following.get(self.last as usize).copied().unwrap_or(0);
        if self.entries.get(guess as usize).is_some_and(is) {
            self.last = guess;
            return guess;
        }
        let Self {
            entries,
            index,
            hasher,
            ..
        } = self;
        let hash = hasher.hash_one((kind, evaluator, item));
        let next = id_from_len(entries.len());
        let rehash = |id: &u32| {
            let key = &entries[*id as usize];
            hasher.hash_one((key.kind, key.evaluator.as_str(), key.item.as_str()))
        };
        let found = *index
            .entry(hash, |id| is(&entries[*id as usize]), rehash)
            .or_insert(next)
            .get();
        if found == next {
            self.entries.push(ItemKey {
                kind,
                evaluator: evaluator.to_owned(),
                item: item.to_owned(),
            });
            self.following.push(0);
        }
        if let Some(following) = self.following.get_mut(self.last as usize) {
            *following = found;
        }
        self.last = found;
        found
    }
}

/// Converts a length to `u32`: a dictionary of more than 4 billion names would not fit in memory.
pub(super) fn id_from_len(length: usize) -> u32 {
    u32::try_from(length)
        .expect("a dictionary of more than four billion names does not fit in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_numbers_in_any_order() {
        let mut keys = ItemKeyInterner::default();
        let names: Vec<String> = (0..500).map(|index| format!("q{index}")).collect();
        let first: Vec<u32> = names
            .iter()
            .map(|name| keys.intern(ItemKind::Question, "e", name))
            .collect();
        let again: Vec<u32> = names
            .iter()
            .map(|name| keys.intern(ItemKind::Question, "e", name))
            .collect();
        assert_eq!(first, again);
        let mut backwards: Vec<u32> = names
            .iter()
            .rev()
            .map(|name| keys.intern(ItemKind::Question, "e", name))
            .collect();
        backwards.reverse();
        assert_eq!(first, backwards);
        assert_ne!(
            keys.intern(ItemKind::Test, "e", "q1"),
            first[1],
            "another kind is another item"
        );
        assert_eq!(keys.entries.len(), 501);
    }
}
