//! Statuses of a row's items, packed: a billion outcomes that passed or failed are 125 MB.

use std::fmt;
use std::sync::Arc;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::ItemStatus;

/// One status per item: a bit each if all passed or failed, else four bits. Clones share the bits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statuses {
    length: usize,
    form: StatusEncoding,
    /// The first item is in the lowest bits of the first byte. Bits after the last item are 0.
    packed: PackedBytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum StatusEncoding {
    /// Whether the item passed.
    Bits,
    /// See [`status_code`].
    Codes,
}

/// Bytes that are serialized as one block, not number by number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PackedBytes(Arc<[u8]>);

impl StatusEncoding {
    fn per_byte(self) -> usize {
        match self {
            Self::Bits => 8,
            Self::Codes => 2,
        }
    }
}

impl Statuses {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the status of the item at an index, which must be below the length.
    pub fn get(&self, place: usize) -> ItemStatus {
        debug_assert!(place < self.length);
        match self.form {
            StatusEncoding::Bits if self.packed.0[place / 8] >> (place % 8) & 1 == 1 => {
                ItemStatus::Pass
            }
            StatusEncoding::Bits => ItemStatus::Fail,
            StatusEncoding::Codes => {
                status_from_code(self.code_at(place)).unwrap_or(ItemStatus::NotEvaluated)
            }
        }
    }

    fn code_at(&self, place: usize) -> u8 {
        self.packed.0[place / 2] >> (place % 2 * 4) & 0xf
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = ItemStatus> + '_ {
        (0..self.length).map(|place| self.get(place))
    }

    /// Returns the statuses at some indices, in that order.
    #[must_use]
    pub fn select(&self, places: impl Iterator<Item = usize>) -> Self {
        places.map(|place| self.get(place)).collect()
    }

    /// Returns whether this was made by [`FromIterator`] and not by a writer's mistake.
    pub(super) fn is_consistent(&self) -> bool {
        let per_byte = self.form.per_byte();
        let spare = self.length % per_byte;
        let unused = self
            .packed
            .0
            .last()
            .filter(|_| spare > 0)
            .map_or(0, |last| last >> (spare * 8 / per_byte));
        self.packed.0.len() == self.length.div_ceil(per_byte)
            && unused == 0
            && (self.form == StatusEncoding::Bits
                || (0..self.length).all(|place| status_from_code(self.code_at(place)).is_some()))
    }
}

impl FromIterator<ItemStatus> for Statuses {
    fn from_iter<I: IntoIterator<Item = ItemStatus>>(statuses: I) -> Self {
        let codes: Vec<u8> = statuses.into_iter().map(status_code).collect();
        let [pass, fail] = [ItemStatus::Pass, ItemStatus::Fail].map(status_code);
        let form = if codes.iter().all(|code| *code == pass || *code == fail) {
            StatusEncoding::Bits
        } else {
            StatusEncoding::Codes
        };
        let packed = codes.chunks(form.per_byte()).map(|items| match form {
            StatusEncoding::Bits => items
                .iter()
                .rev()
                .fold(0, |byte, code| byte << 1 | u8::from(*code == pass)),
            StatusEncoding::Codes => items.iter().rev().fold(0, |byte, code| byte << 4 | code),
        });
        Self {
            length: codes.len(),
            form,
            packed: PackedBytes(packed.collect()),
        }
    }
}

impl fmt::Debug for Statuses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

/// Returns the stored code of a status: from 1 to 7.
pub(super) fn status_code(status: ItemStatus) -> u8 {
    match status {
        ItemStatus::Pass => 1,
        ItemStatus::Fail => 2,
        ItemStatus::Error => 3,
        ItemStatus::Limit => 4,
        ItemStatus::Infra => 5,
        ItemStatus::Skipped => 6,
        ItemStatus::NotEvaluated => 7,
    }
}

pub(super) fn status_from_code(code: u8) -> Option<ItemStatus> {
    Some(match code {
        1 => ItemStatus::Pass,
        2 => ItemStatus::Fail,
        3 => ItemStatus::Error,
        4 => ItemStatus::Limit,
        5 => ItemStatus::Infra,
        6 => ItemStatus::Skipped,
        7 => ItemStatus::NotEvaluated,
        _ => return None,
    })
}

impl Serialize for PackedBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for PackedBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Block;
        impl Visitor<'_> for Block {
            type Value = PackedBytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PackedBytes, E> {
                Ok(PackedBytes(bytes.into()))
            }
        }
        deserializer.deserialize_bytes(Block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_status_has_a_code_of_its_own() {
        for status in ItemStatus::ALL {
            assert_eq!(status_from_code(status_code(status)), Some(status));
        }
        assert_eq!([0, 8, 15].map(status_from_code), [None; 3]);
    }

    #[test]
    fn passed_and_failed_take_a_bit_each() {
        let of = |statuses: &[ItemStatus]| statuses.iter().copied().collect::<Statuses>();
        let plain = of(&[[ItemStatus::Pass; 500], [ItemStatus::Fail; 500]].concat());
        assert_eq!((plain.len(), plain.packed.0.len()), (1000, 125));
        let mixed = of(&[[ItemStatus::Pass; 999].as_slice(), &[ItemStatus::Infra]].concat());
        assert_eq!((mixed.len(), mixed.packed.0.len()), (1000, 500));
        assert!(of(&[]).is_empty() && of(&[]).is_consistent());
    }

    #[test]
    fn a_writers_mistake_is_found() {
        let of = |length: usize, form: StatusEncoding, bytes: &[u8]| Statuses {
            length,
            form,
            packed: PackedBytes(bytes.into()),
        };
        assert!(
            of(9, StatusEncoding::Bits, &[0xff, 0x01]).is_consistent()
                && of(3, StatusEncoding::Codes, &[0x71, 0x02]).is_consistent()
        );
        for wrong in [
            of(9, StatusEncoding::Bits, &[0xff]),
            of(8, StatusEncoding::Bits, &[0xff, 0x00]),
            of(9, StatusEncoding::Bits, &[0xff, 0x02]),
            of(3, StatusEncoding::Codes, &[0x71, 0x12]),
            of(2, StatusEncoding::Codes, &[0x01]),
            of(1, StatusEncoding::Codes, &[0x08]),
        ] {
            assert!(
                !wrong.is_consistent(),
                "{} {:?} {:?}",
                wrong.length,
                wrong.form,
                wrong.packed
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_is_read_back(codes in prop::collection::vec(1_u8..=7, 0..40), most in 2_u8..=7) {
            let statuses: Vec<ItemStatus> = codes.iter().filter_map(|code| status_from_code(1 + (code - 1) % most)).collect();
            let packed: Statuses = statuses.iter().copied().collect();
            prop_assert!(packed.is_consistent());
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), statuses.clone());
            prop_assert_eq!(statuses.iter().copied().collect::<Statuses>(), packed.clone());
            let bytes = postcard::to_stdvec(&packed).expect("writable");
            prop_assert_eq!(postcard::from_bytes::<Statuses>(&bytes).expect("just written"), packed.clone());
        }
    }
}
