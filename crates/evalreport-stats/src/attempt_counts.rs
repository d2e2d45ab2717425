//! How many attempts at each item count, and how many of them passed, in few bytes.

use super::ItemBitset;

/// Passed and counted attempts of one arm by item: two bits for an item if none has a second attempt, two bytes if none has more than 255.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptCounts(Box<PackedCounts>);

#[derive(Clone, Debug, PartialEq)]
enum PackedCounts {
    Bits {
        passed: ItemBitset,
        counted: ItemBitset,
    },
    Bytes {
        passed: Vec<u8>,
        counted: Vec<u8>,
    },
    Wide(Vec<(u32, u32)>),
}

impl Default for AttemptCounts {
    fn default() -> Self {
        Self::without_attempts(0)
    }
}

impl FromIterator<(u32, u32)> for AttemptCounts {
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(counts: I) -> Self {
        Self(Box::new(PackedCounts::Wide(counts.into_iter().collect()))).into_packed()
    }
}

impl AttemptCounts {
    /// Begins with no attempts at a number of items.
    pub fn without_attempts(items: usize) -> Self {
        Self(Box::new(PackedCounts::Bytes {
            passed: vec![0; items],
            counted: vec![0; items],
        }))
    }

    /// Counts an attempt at an item.
    pub fn count_attempt(&mut self, item: usize, is_pass: bool) {
        match &mut *self.0 {
            PackedCounts::Bytes { passed, counted } if counted[item] < u8::MAX => {
                passed[item] += u8::from(is_pass);
                counted[item] += 1;
            }
            PackedCounts::Wide(counts) => {
                counts[item].0 += u32::from(is_pass);
                counts[item].1 += 1;
            }
            PackedCounts::Bytes { .. } | PackedCounts::Bits { .. } => {
                *self.0 = PackedCounts::Wide(self.iter().collect());
                self.count_attempt(item, is_pass);
            }
        }
    }

    /// Keeps the same counts in the fewest bytes.
    #[must_use]
    pub fn into_packed(self) -> Self {
        let most = self
            .iter()
            .map(|(passed, counted)| passed.max(counted))
            .max()
            .unwrap_or(0);
        let bytes = |of: fn((u32, u32)) -> u32| {
            self.iter()
                .map(|counts| u8::try_from(of(counts)).unwrap_or(u8::MAX))
                .collect()
        };
        Self(Box::new(match most {
            0 | 1 => PackedCounts::Bits {
                passed: self.iter().map(|(passed, _)| passed > 0).collect(),
                counted: self.iter().map(|(_, counted)| counted > 0).collect(),
            },
            2..=255 => PackedCounts::Bytes {
                passed: bytes(|(passed, _)| passed),
                counted: bytes(|(_, counted)| counted),
            },
            _ => PackedCounts::Wide(self.iter().collect()),
        }))
    }

    /// Returns passed and counted attempts at an item.
    pub fn counts_of(&self, item: usize) -> (u32, u32) {
        match &*self.0 {
            PackedCounts::Bits { passed, counted } => (
                u32::from(passed.contains(item)),
                u32::from(counted.contains(item)),
            ),
            PackedCounts::Bytes { passed, counted } => {
                (u32::from(passed[item]), u32::from(counted[item]))
            }
            PackedCounts::Wide(counts) => counts[item],
        }
    }

    /// Returns the share of counted attempts at an item that passed, or `None` if none counted.
    pub fn share_passed(&self, item: usize) -> Option<f64> {
        let (passed, counted) = self.counts_of(item);
        (counted > 0).then(|| f64::from(passed) / f64::from(counted))
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        match &*self.0 {
            PackedCounts::Bits { counted, .. } => counted.item_count(),
            PackedCounts::Bytes { counted, .. } => counted.len(),
            PackedCounts::Wide(counts) => counts.len(),
        }
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns passed and counted attempts item by item.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        (0..self.len()).map(|item| self.counts_of(item))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_counts_are_the_counts(
            most in prop::sample::select(vec![1_u32, 3, 255, 256, 70_000]),
            drawn in prop::collection::vec((any::<u32>(), any::<u32>()), 0..200),
        ) {
            let counts: Vec<(u32, u32)> = drawn.into_iter().map(|(passed, counted)| {
                let counted = counted % (most + 1);
                (passed % (counted + 1), counted)
            }).collect();
            let packed: AttemptCounts = counts.iter().copied().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), counts.clone());
            prop_assert_eq!((packed.len(), packed.is_empty()), (counts.len(), counts.is_empty()));
            for (item, (passed, counted)) in counts.into_iter().enumerate() {
                let share = (counted > 0).then(|| f64::from(passed) / f64::from(counted));
                prop_assert_eq!(packed.share_passed(item).map(f64::to_bits), share.map(f64::to_bits));
            }
        }

        #[test]
        fn counted_one_by_one(attempts in prop::collection::vec((0_usize..3, any::<bool>()), 0..1500)) {
            let (mut counts, mut plain) = (AttemptCounts::without_attempts(3), [(0, 0); 3]);
            for (item, is_pass) in attempts {
                counts.count_attempt(item, is_pass);
                plain[item] = (plain[item].0 + u32::from(is_pass), plain[item].1 + 1);
            }
            prop_assert_eq!(counts.iter().collect::<Vec<_>>(), plain.to_vec());
            let mut packed = counts.into_packed();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), plain.to_vec());
            packed.count_attempt(0, true);
            prop_assert_eq!(packed.counts_of(0), (plain[0].0 + 1, plain[0].1 + 1));
        }
    }
}
