//! The sums by which the answers of several queries are held against each other, as `queries/rows.sql` defines them.

use sha2::{Digest, Sha256};

use crate::domain::ItemKey;

const LONG: i64 = 2_147_483_629;
const SHORT: i64 = 65_521;

/// Returns the id of an item in a lake: the first 8 bytes of the digest of its names.
pub(super) fn item_id(key: &ItemKey) -> i64 {
    first_bytes(format!("{}\n{}\n{}", key.kind.name(), key.evaluator, key.item).as_bytes())
}

/// Returns the id of a cluster in a lake.
pub(super) fn cluster_id(cluster: &str) -> i64 {
    first_bytes(cluster.as_bytes())
}

fn first_bytes(text: &[u8]) -> i64 {
    let digest = Sha256::digest(text);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(bytes)
}

/// Returns an item's number, by which its cells are weighed.
pub(super) fn item_number(item_id: i64) -> i64 {
    item_id.rem_euclid(LONG)
}

/// The sums of a set of items. Rows with equal sums have the same items with the same clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SetSums {
    pub cells: i64,
    pub items_sum: i64,
    pub items_squares: i64,
    pub clusters_sum: i64,
}

impl SetSums {
    pub fn add(&mut self, item_id: i64, cluster: Option<&str>) {
        let short = item_id.rem_euclid(SHORT);
        self.cells += 1;
        self.items_sum = self.items_sum.wrapping_add(item_number(item_id));
        self.items_squares = self.items_squares.wrapping_add(short * short);
        let cluster = cluster.map_or(0, |cluster| cluster_id(cluster).rem_euclid(SHORT) + 1);
        self.clusters_sum = self.clusters_sum.wrapping_add(short * cluster);
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::ItemKind;

    use super::*;

    /// Computed by Python's hashlib, and the sums by DuckDB over two rows with `queries/rows.sql`.
    #[test]
    fn ids_and_sums_are_those_of_other_implementations() {
        let key = |item: &str| ItemKey { kind: ItemKind::Question, evaluator: "answers".to_owned(), item: item.to_owned() };
        let ids = [item_id(&key("q000")), item_id(&key("q001"))];
        assert_eq!((ids, cluster_id("c0")), ([2_426_611_660_736_073_911, 2_773_745_944_932_655_010], 1_309_519_931_439_399_819));
        let mut sums = SetSums::default();
        sums.add(ids[0], Some("c0"));
        sums.add(ids[1], None);
        assert_eq!(sums, SetSums { cells: 2, items_sum: 3_310_563_848, items_squares: 771_745_988, clusters_sum: 347_774_392 });
        // Statuses: a pass without a score, and a fail with a score of its own.
        assert_eq!(item_number(ids[0]) + item_number(ids[1]) * 18, 32_870_721_244);
    }
}
