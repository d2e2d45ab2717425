//! Attempts at items that a run has had.

use std::collections::HashMap;

/// One bit per attempt at an item, in pages of 64 items. As small as a matrix if runs share their items, and never more than one entry per
/// row.
#[derive(Debug, Default)]
pub(super) struct SeenAttempts {
    pages: HashMap<u64, u64>,
    /// Number of rows per item, if rows number the attempts.
    occurrences: HashMap<u32, u32>,
}

impl SeenAttempts {
    pub fn insert(&mut self, item: u32, attempt: u32) {
        *self.pages.entry(page_index(item, attempt)).or_default() |= item_bit(item);
    }

    pub fn contains(&self, item: u32, attempt: u32) -> bool {
        self.pages
            .get(&page_index(item, attempt))
            .is_some_and(|page| page & item_bit(item) != 0)
    }

    /// Returns the number of the item's next attempt.
    pub fn next_attempt(&mut self, item: u32) -> u32 {
        let count = self.occurrences.entry(item).or_default();
        *count = count.saturating_add(1);
        *count
    }
}

fn page_index(item: u32, attempt: u32) -> u64 {
    u64::from(attempt) << 32 | u64::from(item / 64)
}

fn item_bit(item: u32) -> u64 {
    1 << (item % 64)
}

/// Numbers items in the order of their first row.
#[derive(Debug, Default)]
pub(super) struct ItemNumbers {
    numbers: HashMap<String, u32>,
}

impl ItemNumbers {
    /// Returns the key's number, or `None` if there are more than 2^32 keys.
    pub fn number_of(&mut self, key: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(key) {
            return Some(*number);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.numbers.insert(key.to_owned(), number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_new_once() {
        let mut attempts = SeenAttempts::default();
        for (item, attempt) in [(0, 1), (63, 1), (64, 1), (0, 2), (u32::MAX, u32::MAX)] {
            assert!(!attempts.contains(item, attempt), "{item} {attempt}");
            attempts.insert(item, attempt);
            assert!(attempts.contains(item, attempt), "{item} {attempt}");
        }
        assert_eq!(
            [
                attempts.next_attempt(5),
                attempts.next_attempt(5),
                attempts.next_attempt(6)
            ],
            [1, 2, 1]
        );
    }

    #[test]
    fn a_key_keeps_its_number() {
        let mut dictionary = ItemNumbers::default();
        assert_eq!(
            ["a", "b", "a"].map(|key| dictionary.number_of(key)),
            [Some(0), Some(1), Some(0)]
        );
    }
}
